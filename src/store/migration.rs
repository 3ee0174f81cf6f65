//! Brings the tables up to date.

use std::ops::Deref;
use std::pin::Pin;

use sqlx::Acquire;
use sqlx::migrate::{Migrate, MigrateError, Migrator};

/// Logs the migration, if there was one. A new database had no version `before`.
pub fn log_migration(before: Option<i64>, migrations: &Migrator) {
    let now = migrations.iter().map(|migration| migration.version).max();
    if before != now {
        tracing::info!(from = before, to = now, "database migrated");
    }
}

/// Brings the tables up to date.
///
/// Boxed, because the compiler cannot prove that the future of an `async fn` is `Send` here (rust-lang/rust#110338).
pub fn migrate<'a, A>(
    migrations: &'static Migrator,
    connection: A,
) -> Pin<Box<dyn Future<Output = Result<(), MigrateError>> + Send + 'a>>
where
    A: Acquire<'a> + Send + 'a,
    <A::Connection as Deref>::Target: Migrate,
{
    Box::pin(migrations.run(connection))
}
