//! Verifies the chain: each entry must follow the one before it.

use serde::{Deserialize, Serialize};

use super::Link;
use crate::letter::Digest;

/// The end of a chain: the number of entries and the hash of the last. The default is an empty chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    pub seq: u64,
    pub hash: Digest,
}

impl Default for Head {
    fn default() -> Self {
        Head { seq: 0, hash: Digest::from([0; 32]) }
    }
}

/// The first break in a chain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    #[error("entry #{seq} is missing: #{found} is in its place")]
    Missing { seq: u64, found: u64 },
    #[error("entry #{seq} does not follow the entry before it")]
    Unchained { seq: u64 },
    #[error("entry #{seq} was changed: its hash does not match")]
    Changed { seq: u64 },
    #[error("entry #{seq} cannot be read: {reason}")]
    Unreadable { seq: u64, reason: String },
}

impl Head {
    /// Moves on to the next entry, given as its canonical JSON and its hash. Does not decode its fact.
    ///
    /// # Errors
    /// [`ChainError`] if the entry does not follow this head.
    pub fn follow(&mut self, json: &str, hash: Digest) -> Result<Link, ChainError> {
        let seq = self.seq + 1;
        let link: Link = serde_json::from_str(json)
            .map_err(|error| ChainError::Unreadable { seq, reason: error.to_string() })?;
        if link.seq != seq {
            return Err(ChainError::Missing { seq, found: link.seq });
        }
        if Digest::of(json.as_bytes()) != hash {
            return Err(ChainError::Changed { seq });
        }
        if link.prev != self.hash {
            return Err(ChainError::Unchained { seq });
        }
        *self = Head { seq, hash };
        Ok(link)
    }
}

/// Walks the chain from its first entry and returns its head. `rows` holds the canonical JSON and the hash of
/// each entry.
///
/// # Errors
/// [`ChainError`] if the chain is broken: the first break.
pub fn walk<'a>(rows: impl IntoIterator<Item = (&'a str, Digest)>) -> Result<Head, ChainError> {
    let mut head = Head::default();
    for (json, hash) in rows {
        head.follow(json, hash)?;
    }
    Ok(head)
}
