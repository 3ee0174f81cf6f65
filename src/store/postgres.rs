//! PostgreSQL: a server, and as many programs on it as there are.

use std::str::FromStr as _;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection as _, PgConnection, PgPool, Postgres, QueryBuilder, Transaction};

use super::backend::{
    backend, dispatch_columns, invitation_columns, match_columns, player_columns, seat_columns,
};
use super::error::address_taken;
use super::rows::{
    self, Arrival, CHUNK, all_there, digest, integer, is_common, maybe_time, numbered, outcome, place,
    sort_matches, text, texts,
};
use super::settle::settling;
use super::*;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

/// By which the engine names itself.
const ENGINE: &str = "SELECT 'PostgreSQL ' || current_setting('server_version')";

/// The advisory lock under which letters come in: `foglette` in ASCII.
const INTAKE: i64 = i64::from_be_bytes(*b"foglette");

pub struct PostgresStore {
    reader: PgPool,
    writer: PgPool,
}

impl PostgresStore {
    pub async fn open(url: &str) -> Result<PostgresStore> {
        let options =
            PgConnectOptions::from_str(url).map_err(StoreError::misnamed)?.application_name("fogpost");
        // A pool would ask again and again, and then say no more than that it took too long.
        match PgConnection::connect_with(&options).await {
            Ok(connection) => connection.close().await?,
            Err(error) => {
                let name = options.get_database().unwrap_or(options.get_username());
                let server = match options.get_socket() {
                    Some(folder) => folder.display().to_string(),
                    None => format!("{}:{}", options.get_host(), options.get_port()),
                };
                return Err(StoreError::Open {
                    database: format!("{name} on {server}"),
                    why: error.to_string(),
                    transient: !is_refused(&error),
                });
            }
        }
        let pool = PgPoolOptions::new()
            .max_connections(8)
            .acquire_timeout(Duration::from_secs(10))
            .connect_lazy_with(options);
        let before = sqlx::query_scalar(TABLES_VERSION).fetch_one(&pool).await.ok();
        migrate(&MIGRATIONS, &mut *pool.acquire().await?)
            .await
            .map_err(|error| StoreError::of_migration(error, &MIGRATIONS))?;
        tell_migrated(before, &MIGRATIONS);
        Ok(PostgresStore { reader: pool.clone(), writer: pool })
    }

    async fn back_up_to(&self, _to: &Path) -> Result<()> {
        Err(StoreError::misnamed("a PostgreSQL database is backed up with pg_dump"))
    }

    async fn begin(&self) -> Result<Transaction<'static, Postgres>> {
        Ok(self.writer.begin().await?)
    }

    /// A transaction beside which no letters come in: of the same letter in two mailboxes, one is the first.
    async fn begin_alone(&self) -> Result<Transaction<'static, Postgres>> {
        let mut tx = self.begin().await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(INTAKE).execute(&mut *tx).await?;
        Ok(tx)
    }

    /// Many may work here at once: nothing is held.
    async fn hold_for(&self, _who: &str) -> Result<Hold> {
        Ok(Hold { _lock: None })
    }
}

/// Whether the server knows neither this user nor this database, and will not know them later by itself.
fn is_refused(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|refusal| refusal.code());
    // Classes 28 and 3D: https://www.postgresql.org/docs/current/errcodes-appendix.html
    code.is_some_and(|code| code.starts_with("28") || code.starts_with("3D"))
}

/// Several texts as one parameter.
fn list(items: &[String]) -> Vec<String> {
    texts(items)
}

fn numbers(items: &[i64]) -> &[i64] {
    items
}

backend!(PostgresStore, Postgres, one_of: "= ANY($1)", skip_locked: " FOR UPDATE OF d SKIP LOCKED");
settling!(Postgres, one_of: "= ANY($1)", for_update: "FOR UPDATE");
