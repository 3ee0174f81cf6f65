//! Rows of either database, and the values that are read from them.
//!
//! sqlx's derive would read rows as well, but its macros are built with both drivers, SQLite, TLS and tokio:
//! a build would compile all of these twice.

use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;
use sqlx::{ColumnIndex, Row as _};

use super::Result;
use super::columns::FromColumn;
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

        impl $crate::store::record::Record for $name {
            fn from_row(row: $crate::store::record::Row<'_>) -> $crate::store::Result<Self> {
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
