//! Many rows in one statement.
//!
//! Rows of either database, and the values that are read from them.
//!
//! sqlx's derive would read rows as well, but its macros are built with both drivers, SQLite, TLS and tokio:
//! a build would compile all of these twice.
//!
//! Values of columns that are known only at run time, in either database.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;

use sha2::{Digest as _, Sha256};
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{ColumnIndex, Row as _};

use super::columns::{FromColumn, unsound};
use super::{MatchRow, Result, StoreError};
use crate::game::Seat;

/// A row of either database.
#[derive(Clone, Copy)]
pub enum Row<'r> {
    Sqlite(&'r SqliteRow),
    Postgres(&'r PgRow),
}

impl Row<'_> {
    /// Reads the column with this name or number.
    pub fn get<T: FromColumn>(self, column: impl ColumnIndex<SqliteRow> + ColumnIndex<PgRow>) -> Result<T> {
        T::from_column(match self {
            Row::Sqlite(row) => row.try_get(column)?,
            Row::Postgres(row) => row.try_get(column)?,
        })
    }
}

/// A value that a row holds: a tuple reads the columns in their order, and a struct by their names.
pub trait Record: Sized + Send {
    fn from_row(row: Row<'_>) -> Result<Self>;
}

/// Declares a struct that is a [`Record`]. A field is read from the column of its name, or by the function in
/// `#[read_with(…)]`, which takes the whole row.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $vis:vis struct $name:ident {
            $($(#[doc = $doc:literal])* $(#[read_with($read:path)])? $field_vis:vis $field:ident: $type:ty,)+
        }
    ) => {
        $(#[$meta])*
        $vis struct $name { $($(#[doc = $doc])* $field_vis $field: $type,)+ }

        impl $crate::store::rows::Record for $name {
            fn from_row(row: $crate::store::rows::Row<'_>) -> $crate::store::Result<Self> {
                Ok($name { $($field: record!(@field row $field $($read)?),)+ })
            }
        }
    };
    (@field $row:ident $field:ident) => { $row.get(stringify!($field))? };
    (@field $row:ident $field:ident $read:path) => { $read($row)? };
}

pub(super) use record;

macro_rules! tuple_records {
    ($(($($type:ident $number:tt),+))+) => {$(
        impl<$($type: FromColumn),+> Record for ($($type,)+) {
            fn from_row(row: Row<'_>) -> Result<Self> {
                Ok(($(row.get::<$type>($number)?,)+))
            }
        }
    )+};
}

tuple_records! {
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
}

/// Reads the columns for a match and a seat in it: both are set, or neither.
pub fn read_place(row: Row<'_>) -> Result<Option<(String, Seat)>> {
    let match_id: Option<String> = row.get("match_id")?;
    Ok(match_id.zip(row.get("seat")?))
}

/// Rows per statement. Measured: 118,000 rows/s, against 17,700 one by one. More rows gain nothing, and 64
/// are far below any limit on parameters.
pub const CHUNK: usize = 64;

/// Whether a statement over this many rows is frequent enough to stay prepared: single rows, and full chunks.
pub fn is_common(rows: usize) -> bool {
    rows == 1 || rows == CHUNK
}

/// Replaces NUL, which PostgreSQL cannot store in text.
pub fn text(text: &str) -> Cow<'_, str> {
    if text.contains('\0') { Cow::Owned(text.replace('\0', "\u{fffd}")) } else { Cow::Borrowed(text) }
}

pub fn texts(texts: &[String]) -> Vec<String> {
    texts.iter().map(|one| text(one).into_owned()).collect()
}

/// Splits the matches of a commit into those that exist and those that are new.
///
/// # Errors
/// [`StoreError::Unsound`] if a match occurs twice: one of its snapshots would be lost.
pub fn partition_matches(matches: &[MatchRow]) -> Result<(Vec<&MatchRow>, Vec<&MatchRow>)> {
    let mut ids = BTreeSet::new();
    if let Some(twice) = matches.iter().find(|row| !ids.insert(&row.id)) {
        return Err(StoreError::Unsound(format!("match {} is twice in one commit", twice.id)));
    }
    Ok(matches.iter().partition(|row| row.version > 0))
}

/// Checks that a statement found every row that was wanted.
///
/// # Errors
/// [`StoreError::Stale`] if one of `wanted` is not among those `found`; it names the first.
pub fn ensure_all_found<T: Display + Ord>(
    what: &str,
    mut wanted: impl Iterator<Item = T>,
    found: Vec<T>,
) -> Result<()> {
    let found: BTreeSet<T> = found.into_iter().collect();
    match wanted.find(|one| !found.contains(one)) {
        Some(changed) => Err(StoreError::Stale(format!("{what} {changed}"))),
        None => Ok(()),
    }
}

/// Pairs named values with the IDs that the database assigned to the names.
pub fn with_ids<'a, T>(
    named: impl Iterator<Item = (&'a str, T)>,
    ids: &[(i64, String)],
) -> Result<Vec<(i64, T)>> {
    // Match IDs by name, because RETURNING need not keep the order of the inserted rows.
    let ids: BTreeMap<&str, i64> = ids.iter().map(|(id, name)| (name.as_str(), *id)).collect();
    named
        .map(|(name, value)| {
            Ok((*ids.get(name).ok_or_else(|| unsound("name of an inserted row", name))?, value))
        })
        .collect()
}

/// The type of a column's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Integer,
    Text,
    Bytes,
    /// Stored as an integer, 0 or 1, in SQLite.
    Truth,
}

impl Kind {
    /// Returns the kind of a column of this declared type, or `None` if none of our tables uses the type.
    pub fn of_type(name: &str) -> Option<Kind> {
        match name {
            "integer" | "bigint" => Some(Kind::Integer),
            "text" => Some(Kind::Text),
            "blob" | "bytea" => Some(Kind::Bytes),
            "boolean" => Some(Kind::Truth),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Integer(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    Truth(Option<bool>),
}

impl Cell {
    /// Hashes the type, the length and the value, so that different rows never hash alike.
    pub fn hash(&self, hasher: &mut Sha256) {
        let (kind, bytes) = match self {
            Cell::Integer(value) => (b'i', value.map(|value| value.to_be_bytes().to_vec())),
            Cell::Truth(value) => (b't', value.map(|value| vec![u8::from(value)])),
            Cell::Text(value) => (b's', value.as_ref().map(|value| value.as_bytes().to_vec())),
            Cell::Bytes(value) => (b'b', value.clone()),
        };
        match bytes {
            None => hasher.update([b'0']),
            Some(bytes) => {
                hasher.update([kind]);
                hasher.update((bytes.len() as u64).to_be_bytes());
                hasher.update(bytes);
            }
        }
    }
}

/// Reads a row whose columns hold these kinds.
pub fn read_cells(row: Row<'_>, kinds: &[Kind]) -> Result<Vec<Cell>> {
    let cell = |(at, kind): (usize, &Kind)| -> Result<Cell> {
        Ok(match kind {
            Kind::Integer => Cell::Integer(row.get(at)?),
            Kind::Text => Cell::Text(row.get(at)?),
            Kind::Bytes => Cell::Bytes(row.get(at)?),
            Kind::Truth => Cell::Truth(row.get(at)?),
        })
    };
    kinds.iter().enumerate().map(cell).collect()
}
