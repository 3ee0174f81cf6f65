//! Why the store could not do what it was asked, and whether asking again may help.

use std::fmt::Display;

use sqlx::migrate::{MigrateError, Migrator};

/// Why the store could not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A match was changed, or a letter decided, by somebody else since it was loaded. Load and rule again.
    #[error("{0} has changed since it was loaded")]
    Stale(String),
    /// Another daemon works on this database.
    #[error("another fogpost works on this database: {0}")]
    Locked(String),
    #[error("the database was made by a newer fogpost: {0}")]
    Newer(String),
    #[error("an address belongs to another player")]
    AddressTaken,
    /// What is there, or is to be put there, contradicts itself.
    #[error("the database is not sound: {0}")]
    Unsound(String),
    #[error("the database {database} cannot be opened: {why}")]
    Open { database: String, why: String, transient: bool },
    #[error(transparent)]
    Database(#[from] sqlx::Error),
    #[error(transparent)]
    Migrate(#[from] MigrateError),
}

pub type Result<T, E = StoreError> = std::result::Result<T, E>;

impl StoreError {
    /// Whether the same may succeed later; a stale settlement succeeds once it is ruled again.
    pub fn is_transient(&self) -> bool {
        match self {
            StoreError::Stale(_) => true,
            StoreError::Open { transient, .. } => *transient,
            StoreError::Database(error) => !is_lasting(error),
            StoreError::Locked(_)
            | StoreError::Newer(_)
            | StoreError::AddressTaken
            | StoreError::Unsound(_)
            | StoreError::Migrate(_) => false,
        }
    }

    /// A URL that names no database. It is not repeated: it may hold a password.
    pub(super) fn misnamed(why: impl Display) -> StoreError {
        let database = "of this configuration".to_owned();
        StoreError::Open { database, why: why.to_string(), transient: false }
    }

    /// Tells a database that is ahead of this program from one whose migration failed.
    pub(super) fn of_migration(error: MigrateError, migrations: &Migrator) -> StoreError {
        let newest = migrations.iter().map(|migration| migration.version).max().unwrap_or(0);
        match error {
            MigrateError::VersionMissing(found) if found > newest => {
                StoreError::Newer(format!("its tables are of version {found}, this program knows {newest}"))
            }
            other => StoreError::Migrate(other),
        }
    }
}

/// Two settlements that waited for each other: one was ended, and is as good as overtaken.
pub(super) fn stale_if_serialization_failure(error: StoreError) -> StoreError {
    match error {
        // https://www.postgresql.org/docs/current/errcodes-appendix.html: class 40, transaction rollback.
        StoreError::Database(sqlx::Error::Database(refusal))
            if refusal.code().is_some_and(|code| code.len() == 5 && code.starts_with("40")) =>
        {
            StoreError::Stale("what another settled at the same time".to_owned())
        }
        other => other,
    }
}

/// A broken uniqueness among addresses, by its own name.
pub(super) fn address_taken(error: StoreError) -> StoreError {
    match error {
        StoreError::Database(sqlx::Error::Database(refusal)) if refusal.is_unique_violation() => {
            StoreError::AddressTaken
        }
        other => other,
    }
}

/// Whether the database, or its driver, will refuse the same for ever: a broken constraint, a refusing trigger, a
/// value or a statement that it does not understand.
fn is_lasting(error: &sqlx::Error) -> bool {
    match error {
        sqlx::Error::Database(refusal) => refusal.code().is_some_and(|code| {
            // PostgreSQL: https://www.postgresql.org/docs/current/errcodes-appendix.html, five characters.
            // SQLite: https://www.sqlite.org/rescode.html, a number whose low byte is the kind of the error.
            match code.parse::<u32>().ok().filter(|_| code.len() < 5) {
                Some(number) => matches!(number & 0xff, 1 | 11 | 18 | 19 | 20 | 25 | 26),
                None => ["22", "23", "42", "P0"].iter().any(|class| code.starts_with(class)),
            }
        }),
        sqlx::Error::ColumnDecode { .. }
        | sqlx::Error::ColumnNotFound(_)
        | sqlx::Error::Decode(_)
        | sqlx::Error::Encode(_)
        | sqlx::Error::RowNotFound => true,
        _ => false,
    }
}
