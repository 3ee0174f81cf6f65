//! The chain: whether each entry is what follows the one before it.

use serde::{Deserialize, Serialize};

use super::Link;
use crate::letter::Digest;

/// The end of a chain: how many entries there are, and the hash of the last.
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

/// Where a chain is broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChainError {
    #[error("entry #{seq} is missing: #{found} stands in its place")]
    Missing { seq: u64, found: u64 },
    #[error("entry #{seq} does not follow the entry before it")]
    Unchained { seq: u64 },
    #[error("entry #{seq} was changed: its hash does not fit")]
    Changed { seq: u64 },
    #[error("entry #{seq} cannot be read: {reason}")]
    Unreadable { seq: u64, reason: String },
}

impl Head {
    /// Goes on to the next entry, which is given as its canonical JSON and its hash. What it decides is not read.
    ///
    /// # Errors
    /// [`ChainError`]: it is not what follows.
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

/// Walks the chain from its first entry and gives its head. `rows` are canonical JSON and hash of each entry, in
/// order.
///
/// # Errors
/// [`ChainError`], at the first place where it went wrong.
pub fn walk<'a>(rows: impl IntoIterator<Item = (&'a str, Digest)>) -> Result<Head, ChainError> {
    let mut head = Head::default();
    for (json, hash) in rows {
        head.follow(json, hash)?;
    }
    Ok(head)
}
