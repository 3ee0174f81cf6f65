//! The store's errors, and which of them are temporary.

use std::fmt::Display;

use sqlx::migrate::{MigrateError, Migrator};

/// A failed request to the store.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another writer changed a match, letter or invitation after it was loaded. Load and rule again.
    #[error("{0} has changed since it was loaded")]
    Stale(String),
    #[error("another fogpost is using this database: {0}")]
    Locked(String),
    #[error("the database was made by a newer fogpost: {0}")]
    Newer(String),
    #[error("an address belongs to another player")]
    AddressTaken,
    /// The database, or a value to be written to it, is inconsistent.
    #[error("the database is not sound: {0}")]
    Unsound(String),
    #[error("the database {database} cannot be opened: {why}")]
    Open { database: String, why: String, transient: bool },
    /// A file that a copy would be written to.
    #[error("{0} exists already; name a new file")]
    Exists(String),
    /// The server is a standby, or somebody has made it read-only.
    #[error("the database is read-only; fogpost status names its server")]
    ReadOnly,
    /// A statement waited too long for a lock.
    #[error("another session of the database holds a lock on what is needed; fogpost status names it")]
    RowLocked,
    #[error(
        "the database server does not answer, or permits no further connection; see database.max_connections"
    )]
    NoConnection,
    /// The file is no longer where it was opened: what is written to it would be lost, and what came into its place is
    /// older or newer. A restart opens that.
    #[error("the file of the database was moved, deleted or replaced while this program ran; start it again")]
    Replaced,
    #[error(transparent)]
    Database(sqlx::Error),
    #[error(transparent)]
    Migrate(#[from] MigrateError),
}

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

impl From<sqlx::Error> for StoreError {
    fn from(error: sqlx::Error) -> StoreError {
        let code = error.as_database_error().and_then(|refusal| refusal.code());
        // https://www.postgresql.org/docs/current/errcodes-appendix.html
        match code.as_deref() {
            Some("25006") => StoreError::ReadOnly,
            Some("55P03") => StoreError::RowLocked,
            Some(_) | None => StoreError::Database(error),
        }
    }
}

impl StoreError {
    /// Whether a retry may succeed. Stale changes succeed once they are decided again.
    pub fn is_transient(&self) -> bool {
        match self {
            StoreError::Stale(_)
            | StoreError::ReadOnly
            | StoreError::RowLocked
            | StoreError::Replaced
            | StoreError::NoConnection => true,
            StoreError::Open { transient, .. } => *transient,
            StoreError::Database(error) => !is_permanent(error),
            StoreError::Locked(_)
            | StoreError::Newer(_)
            | StoreError::AddressTaken
            | StoreError::Exists(_)
            | StoreError::Unsound(_)
            | StoreError::Migrate(_) => false,
        }
    }

    /// Whether a row holds a value that the program never writes, so that somebody else must have changed it.
    pub fn is_unsound(&self) -> bool {
        use sqlx::Error::{ColumnDecode, Decode};
        matches!(self, StoreError::Unsound(_) | StoreError::Database(ColumnDecode { .. } | Decode(_)))
    }

    /// Returns the error for a URL that names no database. It does not repeat the URL, which may hold a
    /// password.
    pub(super) fn misnamed(why: impl Display) -> StoreError {
        let database = "of this configuration".to_owned();
        StoreError::Open { database, why: why.to_string(), transient: false }
    }

    /// Distinguishes a database of a newer program from a failed migration.
    pub(super) fn of_migration(error: MigrateError, migrations: &Migrator) -> StoreError {
        let newest = migrations.iter().map(|migration| migration.version).max().unwrap_or(0);
        match error {
            MigrateError::VersionMissing(found) if found > newest => StoreError::Newer(format!(
                "its tables have version {found}; this program supports up to {newest}"
            )),
            other => StoreError::Migrate(other),
        }
    }
}

/// Maps serialization failures and deadlocks (SQLSTATE class 40) to `Stale`.
pub(super) fn stale_if_serialization_failure(error: StoreError) -> StoreError {
    match error {
        // https://www.postgresql.org/docs/current/errcodes-appendix.html
        StoreError::Database(sqlx::Error::Database(refusal))
            if refusal.code().is_some_and(|code| code.len() == 5 && code.starts_with("40")) =>
        {
            StoreError::Stale("a row that another daemon is settling".to_owned())
        }
        other => other,
    }
}

/// Maps a violated uniqueness of addresses to `AddressTaken`.
pub(super) fn address_taken(error: StoreError) -> StoreError {
    match error {
        StoreError::Database(sqlx::Error::Database(refusal)) if refusal.is_unique_violation() => {
            StoreError::AddressTaken
        }
        other => other,
    }
}

/// Whether the database or its driver will always reject the request: a constraint is violated, a trigger
/// refuses, or the value or statement is invalid.
fn is_permanent(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(refusal) => refusal.code().is_some_and(|code| {
            // PostgreSQL has codes of five characters
            // (https://www.postgresql.org/docs/current/errcodes-appendix.html): the classes of bad data,
            // violated constraints, bad SQL, exceeded limits, and PL/pgSQL, in which the triggers refuse.
            // SQLite has numbers whose low byte is the primary code (https://www.sqlite.org/rescode.html):
            // ERROR, CORRUPT, TOOBIG, CONSTRAINT, MISMATCH, RANGE and NOTADB.
            match code.parse::<u32>().ok().filter(|_| code.len() < 5) {
                Some(number) => matches!(number & 0xff, 1 | 11 | 18 | 19 | 20 | 25 | 26),
                None => ["22", "23", "42", "54", "P0"].iter().any(|class| code.starts_with(class)),
            }
        }),
        sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::ColumnNotFound(_)
        | sqlx::Error::Decode(_)
        | sqlx::Error::Encode(_)
        | sqlx::Error::RowNotFound => true,
        // Anything else, such as a lost connection, may pass.
        _ => false,
    }
}
