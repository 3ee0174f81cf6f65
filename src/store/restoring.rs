//! Puts a backup in the place of a database.

use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use sqlx::{Connection as _, SqliteConnection};

use super::sqlite::{beside, cannot_open, holder, lock, sqlite_file, sqlite_url};
use super::{Database, Result, StoreError, open, private};
use crate::post::owner::give_to_owner_at;

/// The key that marks a restored database until the processed letters are read and decided again.
pub const RESTORED: &str = "restored";

/// The key of all restores, as a list in JSON.
pub const RESTORES: &str = "restores";

/// Before the name of a match: the key of a [`ProvedTurn`].
pub const PROVED_TURN: &str = "proved turn ";

/// The first value of [`RESTORED`].
pub const TO_BE_READ_AGAIN: &str = "to be read again";

/// The first value of [`RESTORED`] if a new letter proves that the database is an older one.
pub const PROVED_BY_LETTER: &str = "to be read again, as a letter proves";

/// The last turn of a match of which players have letters that the database lacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProvedTurn {
    pub turn: u32,
    /// Whether its players were told what is missing.
    pub told: bool,
}

/// A restore of an older backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RestoredBackup {
    /// The last time that the backup knows of.
    pub until: DateTime<Utc>,
    /// The time at which the processed letters had been read again.
    pub at: DateTime<Utc>,
    /// The number of these letters.
    pub letters: usize,
    /// Whether the database is still that of the restore before, and a letter has proved that more is missing.
    pub again: bool,
}

impl RestoredBackup {
    /// Reads the value of [`RESTORES`].
    ///
    /// # Errors
    /// Returns an error if it is not such a list.
    pub fn list(stored: Option<&str>) -> serde_json::Result<Vec<RestoredBackup>> {
        stored.map_or(Ok(Vec::new()), serde_json::from_str)
    }

    /// Whether something written at this time is lost unless a letter brings it about again.
    pub fn may_have_lost(&self, written: DateTime<Utc>) -> bool {
        self.until < written && written <= self.at
    }
}

impl Database {
    /// Returns the work that is left after a restore, if any.
    pub async fn restoring(&self) -> Result<Option<Restoring>> {
        Ok(self.remembered(RESTORED).await?.and_then(|value| Restoring::read(&value)))
    }

    /// Returns all restores of the database, the latest last.
    pub async fn restores(&self) -> Result<Vec<RestoredBackup>> {
        let stored = self.remembered(RESTORES).await?;
        RestoredBackup::list(stored.as_deref())
            .map_err(|error| StoreError::Unsound(format!("the list of restores: {error}")))
    }
}

/// The work that is left after a restore: the value of [`RESTORED`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restoring {
    /// The processed letters have to be read again; nothing may be decided before.
    ToBeRead { proved_by_letter: bool },
    /// They were read and have to be decided, in the order in which they came.
    ToBeDecided(RestoredBackup),
}

impl Restoring {
    /// Reads the value of [`RESTORED`]. `None` if no work is left.
    pub fn read(value: &str) -> Option<Restoring> {
        match value {
            TO_BE_READ_AGAIN => Some(Restoring::ToBeRead { proved_by_letter: false }),
            PROVED_BY_LETTER => Some(Restoring::ToBeRead { proved_by_letter: true }),
            value => serde_json::from_str(value).ok().map(Restoring::ToBeDecided),
        }
    }

    /// Returns the time until which letters came that are decided again.
    pub fn decided_until(self) -> Option<DateTime<Utc>> {
        match self {
            Restoring::ToBeRead { .. } => None,
            Restoring::ToBeDecided(restore) => Some(restore.at),
        }
    }
}

/// Replaces the database at `url` with the backup `from`, and returns the new path of the replaced file. The
/// next daemon reads the mailbox's processed letters again.
///
/// # Errors
/// [`StoreError::Locked`] if a daemon is using the database; [`StoreError::Unsound`] if a table, index or
/// trigger of `from` differs from the one this program makes; [`StoreError::Open`] if `from` is not a fogpost
/// database, if a file cannot be copied or moved, or if the database is PostgreSQL, which has its own tools.
pub async fn restore(url: &str, from: &Path) -> Result<Option<PathBuf>> {
    let Some(path) = sqlite_file(url)? else {
        return Err(StoreError::misnamed("a PostgreSQL database is restored with pg_restore"));
    };
    let cannot = |error: std::io::Error| cannot_open(&path, error.to_string());
    // Take the daemons' lock, so that none opens the database during the restore.
    let _lock = lock(&beside(&path, ".lock"), "a restore").map_err(|error| match error {
        TryLockError::WouldBlock => StoreError::Locked(holder(&beside(&path, ".lock"))),
        TryLockError::Error(error) => cannot(error),
    })?;
    let aside = free_place(&path);
    let new = beside(&path, ".restoring");
    copy_privately(from, &new, &path).map_err(|error| cannot_open(from, error.to_string()))?;
    if !has_tables(&new).await {
        let _ = std::fs::remove_file(&new);
        return Err(cannot_open(from, "it is not a fogpost backup: it has no tables".to_owned()));
    }
    // Check the backup before moving anything, so that a refused one leaves the database in place.
    let prepared = prepare(&new).await;
    if let Err(error) = prepared {
        let _ = std::fs::remove_file(&new);
        return Err(cannot_open(from, error.to_string().replace(&new.display().to_string(), "it")));
    }
    let replaced = path.exists();
    // Move the log too: it may hold commits that are not in the main file yet.
    for end in ["", "-wal", "-shm"] {
        if beside(&path, end).exists() {
            std::fs::rename(beside(&path, end), beside(&aside, end)).map_err(cannot)?;
        }
    }
    std::fs::rename(&new, &path).map_err(cannot)?;
    Ok(replaced.then_some(aside))
}

/// Whether a file is a database with tables. A full disk may have cut a backup to nothing, and opening it would
/// make the tables of an empty club.
async fn has_tables(path: &Path) -> bool {
    let Ok(mut connection) = SqliteConnection::connect(&sqlite_url(path)).await else { return false };
    let count = sqlx::query_scalar("SELECT COUNT(*) FROM sqlite_schema").fetch_one(&mut connection).await;
    let _ = connection.close().await;
    count.is_ok_and(|count: i64| count > 0)
}

/// Returns a free name beside a database. An earlier restore may have been a mistake, and then the file there
/// is the only copy of the database that it replaced.
fn free_place(path: &Path) -> PathBuf {
    let numbered = (2..).map(|number| beside(path, &format!(".replaced-{number}")));
    let mut places = std::iter::once(beside(path, ".replaced")).chain(numbered);
    places.find(|place| !place.exists()).expect("there are more numbers than files")
}

/// Copies a file for the owner of the file that it replaces, and nobody else; the original may be open to others.
fn copy_privately(from: &Path, to: &Path, replaced: &Path) -> std::io::Result<()> {
    let mut original = File::open(from)?;
    if to.exists() {
        // An interrupted restore left this file.
        std::fs::remove_file(to)?;
    }
    let mut copy = private::create_new(to)?;
    if replaced.exists() {
        give_to_owner_at(&copy, replaced)?;
    }
    std::io::copy(&mut original, &mut copy)?;
    Ok(())
}

/// Checks that a copy is a fogpost database whose triggers nobody has changed, and marks it as restored.
async fn prepare(path: &Path) -> Result<()> {
    let store = open(&sqlite_url(path)).await?;
    let prepared = match store.schema_faults().await {
        Ok(faults) if faults.is_empty() => store.remember(RESTORED, TO_BE_READ_AGAIN).await,
        Ok(faults) => Err(StoreError::Unsound(faults.join("; "))),
        Err(error) => Err(error),
    };
    store.close().await;
    prepared
}
