//! A backup that replaces the database, and the mark that it leaves.

use std::path::{Path, PathBuf};

use super::{Result, StoreError, sqlite};

/// Replaces the database at `url` with the backup `from`, and returns the new path of the replaced file. The next
/// daemon reads the mailbox's processed letters again.
///
/// # Errors
/// [`StoreError::Locked`] if a daemon is using the database; [`StoreError::Unsound`] if a table, index or trigger of
/// `from` differs from the one this program makes; [`StoreError::Open`] if `from` is not a fogpost database, if a file
/// cannot be copied or moved, or if the database is PostgreSQL, which has its own tools.
pub async fn restore(url: &str, from: &Path) -> Result<Option<PathBuf>> {
    match url.split_once(':').map(|(scheme, _)| scheme) {
        Some("sqlite") => sqlite::restore(url, from).await,
        _ => Err(StoreError::misnamed("a PostgreSQL database is restored with pg_restore")),
    }
}

/// The key that marks a restored database until the processed letters are read again.
pub const RESTORED: &str = "restored";

/// The value of [`RESTORED`].
pub const TO_BE_READ_AGAIN: &str = "to be read again";
