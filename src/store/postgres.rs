//! PostgreSQL: a server, and as many programs on it as there are.

use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr as _;
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{Connection as _, PgConnection, PgPool, Postgres, QueryBuilder, Transaction};

use super::backend::backend;
use super::columns::{
    dispatch_columns, invitation_columns, match_columns, outgoing_columns, player_columns, seat_columns,
    waiting_columns,
};
use super::error::{address_taken, stale_if_serialization_failure};
use super::rows::{
    self, Arrival, CHUNK, all_there, hand_over, integer, is_common, maybe_time, numbered, outcome, place,
    sort_matches, text, texts,
};
use super::settle::settling;
use super::*;

static MIGRATIONS: Migrator = sqlx::migrate!("migrations/postgres");

/// By which the engine names itself.
const ENGINE: &str = "SELECT 'PostgreSQL ' || current_setting('server_version')";

/// The advisory lock under which letters come in: `foglette` in ASCII.
const INTAKE: i64 = i64::from_be_bytes(*b"foglette");

/// The advisory lock of whoever settles letters to no match: `fogother` in ASCII.
const OTHERS: i64 = i64::from_be_bytes(*b"fogother");

/// Whoever settles and says nothing for so long has lost what he claimed.
const SETTLING: &str = "SET LOCAL idle_in_transaction_session_timeout = '2min'";

/// The same for sending, which waits for mail servers.
const SENDING: &str = "SET LOCAL idle_in_transaction_session_timeout = '15min'";

/// The database may take so long to say that a duty is still ours.
const PATIENCE: Duration = Duration::from_secs(5);

/// The channel of NOTIFY.
const CHANNEL: &str = "fogpost";

pub struct PostgresStore {
    reader: PgPool,
    writer: PgPool,
    options: PgConnectOptions,
    duties: tokio::sync::Mutex<Option<Duties>>,
    listener: tokio::sync::Mutex<Option<PgListener>>,
}

/// A session of its own, whose advisory locks are the duties of this daemon.
struct Duties {
    session: PgConnection,
    had: BTreeSet<String>,
}

impl PostgresStore {
    pub async fn open(url: &str) -> Result<PostgresStore> {
        let options = PgConnectOptions::from_str(url)
            .map_err(StoreError::misnamed)?
            .application_name("fogpost")
            .options([
                // The locks of a machine that is gone are free after some seconds.
                ("tcp_keepalives_idle", "5"),
                ("tcp_keepalives_interval", "2"),
                ("tcp_keepalives_count", "3"),
            ]);
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
            .max_connections(12)
            .acquire_timeout(Duration::from_secs(10))
            .connect_lazy_with(options.clone());
        let before = sqlx::query_scalar(TABLES_VERSION).fetch_one(&pool).await.ok();
        migrate(&MIGRATIONS, &mut *pool.acquire().await?)
            .await
            .map_err(|error| StoreError::of_migration(error, &MIGRATIONS))?;
        tell_migrated(before, &MIGRATIONS);
        let (duties, listener) = Default::default();
        Ok(PostgresStore { reader: pool.clone(), writer: pool, options, duties, listener })
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

    async fn begin_under(&self, claim: &mut Claim) -> Result<Transaction<'static, Postgres>> {
        match claim.transaction.take() {
            Some(tx) => Ok(tx),
            None => self.begin().await,
        }
    }

    /// Locks the rows of the matches that the first letters are about, and takes their letters. Those that another
    /// works on are passed over, and so are those of what was claimed before.
    async fn claim_waiting(
        &self,
        now: i64,
        limit: u32,
        _before: Option<&mut Claim>,
    ) -> Result<(Vec<rows::Waiting>, Claim)> {
        let mut tx = self.begin().await?;
        sqlx::query(SETTLING).execute(&mut *tx).await?;
        let mut after = (i64::MIN, 0);
        loop {
            let sql = "SELECT received_at, id, lane FROM letter \
                       WHERE fate = 'waiting' AND (wait_until IS NULL OR wait_until <= $1) \
                       AND (received_at, id) > ($2, $3) ORDER BY received_at, id LIMIT $4";
            let page: Vec<(i64, i64, String)> = sqlx::query_as(sql)
                .bind(now)
                .bind(after.0)
                .bind(after.1)
                .bind(i64::from(limit))
                .fetch_all(&mut *tx)
                .await?;
            let Some(last) = page.last() else {
                tx.rollback().await?;
                return Ok((Vec::new(), Claim::default()));
            };
            after = (last.0, last.1);
            let lanes: BTreeSet<String> = page.into_iter().map(|(_, _, lane)| lane).collect();
            let free = free_lanes(&mut tx, lanes).await?;
            // Only now that nobody else settles them it is sure which of their letters wait.
            let sql =
                concat!(waiting_columns!(), "AND l.lane = ANY($1) ORDER BY l.received_at, l.id LIMIT $3");
            let letters: Vec<rows::Waiting> = sqlx::query_as(sql)
                .bind(list(&free))
                .bind(now)
                .bind(i64::from(limit))
                .fetch_all(&mut *tx)
                .await?;
            if !letters.is_empty() {
                return Ok((letters, Claim::locking(tx)));
            }
        }
    }

    /// Locks the bytes, which nobody ever changes, so that the dispatches themselves can be.
    async fn claim_due(&self, now: i64, limit: u32) -> Result<(Vec<Claimed>, Claim)> {
        let mut tx = self.begin().await?;
        sqlx::query(SENDING).execute(&mut *tx).await?;
        let sql = "SELECT d.id FROM dispatch d JOIN dispatch_raw r ON r.dispatch_id = d.id WHERE d.due_at <= $1 \
                   ORDER BY d.due_at, d.created_at, d.id LIMIT $2 FOR UPDATE OF r SKIP LOCKED";
        let ids: Vec<i64> =
            sqlx::query_scalar(sql).bind(now).bind(i64::from(limit)).fetch_all(&mut *tx).await?;
        // Only now that nobody else sends them it is sure which of them are due.
        let sql = concat!(outgoing_columns!(), "AND d.id = ANY($1) ORDER BY d.due_at, d.created_at, d.id");
        let due: Vec<rows::Outgoing> =
            sqlx::query_as(sql).bind(numbers(&ids)).bind(now).fetch_all(&mut *tx).await?;
        let due = due.into_iter().map(rows::Outgoing::read).collect::<Result<Vec<Claimed>>>()?;
        if due.is_empty() {
            tx.rollback().await?;
            return Ok((due, Claim::default()));
        }
        Ok((due, Claim::locking(tx)))
    }

    /// A duty is an advisory lock of one session: when that ends, however it ends, all duties are free.
    async fn keep_duty(&self, duty: &str) -> Result<bool> {
        let mut duties = self.duties.lock().await;
        let kept = tokio::time::timeout(PATIENCE, self.try_duty(&mut duties, duty)).await;
        let kept = kept.unwrap_or_else(|_| Err(StoreError::Database(sqlx::Error::PoolTimedOut)));
        if kept.is_err() {
            *duties = None;
        }
        kept
    }

    async fn try_duty(&self, duties: &mut Option<Duties>, duty: &str) -> Result<bool> {
        let Duties { session, had } = match duties {
            Some(duties) => duties,
            None => {
                let session = PgConnection::connect_with(&self.options).await?;
                duties.insert(Duties { session, had: BTreeSet::new() })
            }
        };
        if had.contains(duty) {
            session.ping().await?;
            return Ok(true);
        }
        let sql = "SELECT pg_try_advisory_lock(hashtextextended('fogpost ' || $1, 0))";
        let taken: bool = sqlx::query_scalar(sql).bind(duty).fetch_one(session).await?;
        if taken {
            had.insert(duty.to_owned());
        }
        Ok(taken)
    }

    async fn end_duty(&self, duty: &str) {
        let mut duties = self.duties.lock().await;
        let Some(Duties { session, had }) = &mut *duties else { return };
        if had.remove(duty) {
            let sql = "SELECT pg_advisory_unlock(hashtextextended('fogpost ' || $1, 0))";
            let done = tokio::time::timeout(PATIENCE, sqlx::query(sql).bind(duty).execute(session)).await;
            if !matches!(done, Ok(Ok(_))) {
                // With its session everything is left.
                *duties = None;
            }
        }
    }

    async fn hear(&self) -> Result<Wakeup> {
        let mut listener = self.listener.lock().await;
        if listener.is_none() {
            let mut new = PgListener::connect_with(&self.reader).await?;
            new.listen(CHANNEL).await?;
            *listener = Some(new);
        }
        let Some(listening) = listener.as_mut() else { return std::future::pending().await };
        match listening.recv().await {
            Ok(said) if said.payload() == LETTERS => Ok(Wakeup::Letters),
            Ok(_) => Ok(Wakeup::Dispatches),
            Err(error) => {
                *listener = None;
                Err(error.into())
            }
        }
    }

    /// Ends the sessions that are kept.
    async fn let_go(&self) {
        drop(self.duties.lock().await.take());
        drop(self.listener.lock().await.take());
    }

    /// Many may work here at once: nothing is held.
    async fn hold_for(&self, _who: &str) -> Result<DatabaseLock> {
        Ok(DatabaseLock { _lock: None })
    }
}

/// What NOTIFY says of letters, and of dispatches.
const LETTERS: &str = "letters";
const DISPATCHES: &str = "dispatches";

/// Told to all daemons when the transaction is committed.
async fn announce(tx: &mut Transaction<'_, Postgres>, news: Wakeup) -> Result<()> {
    let said = match news {
        Wakeup::Letters => LETTERS,
        Wakeup::Dispatches => DISPATCHES,
    };
    sqlx::query("SELECT pg_notify($1, $2)").bind(CHANNEL).bind(said).execute(&mut **tx).await?;
    Ok(())
}

/// The match of each token that is a seat's.
async fn lanes(
    tx: &mut Transaction<'_, Postgres>,
    letters: &[Arrival<'_>],
) -> Result<BTreeMap<String, String>> {
    let tokens: Vec<String> =
        letters.iter().flat_map(|arrival| arrival.letter.tokens.iter().cloned()).collect();
    let sql = "SELECT token, match_id FROM seat WHERE token = ANY($1)";
    let lanes: Vec<(String, String)> = sqlx::query_as(sql).bind(list(&tokens)).fetch_all(&mut **tx).await?;
    Ok(lanes.into_iter().collect())
}

/// Locks those of the lanes that nobody has locked: the rows of matches, and the lane of letters to none.
async fn free_lanes(tx: &mut Transaction<'_, Postgres>, lanes: BTreeSet<String>) -> Result<Vec<String>> {
    let to_none = lanes.contains("");
    let lanes: Vec<String> = lanes.into_iter().collect();
    let sql = "SELECT id FROM match WHERE id = ANY($1) ORDER BY id FOR NO KEY UPDATE SKIP LOCKED";
    let mut free: Vec<String> = sqlx::query_scalar(sql).bind(list(&lanes)).fetch_all(&mut **tx).await?;
    if to_none {
        let sql = "SELECT pg_try_advisory_xact_lock($1)";
        if sqlx::query_scalar(sql).bind(OTHERS).fetch_one(&mut **tx).await? {
            free.push(String::new());
        }
    }
    Ok(free)
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

backend!(PostgresStore, Postgres, one_of: "= ANY($1)", shared: true);
settling!(Postgres, one_of: "= ANY($1)", for_update: "FOR UPDATE");
