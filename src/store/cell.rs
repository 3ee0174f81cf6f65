//! Values of columns that are known only at run time, in either database.

use sha2::{Digest as _, Sha256};

use super::Result;
use super::record::Row;

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
