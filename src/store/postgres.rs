//! PostgreSQL: a server, and any number of daemons on it.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions};
use sqlx::{AssertSqlSafe, PgPool, Postgres, Transaction};
use tokio::time::timeout;

use super::database::Backend;
use super::locks::{ClaimedNames, Locks, Names};
use super::schema::{POSTGRES_PARTS, differences, log_migration, migrate, migrations_in};
use super::sending::outgoing;
use super::server::{self, MAX_AGE, examine, is_writable, options_of, place_of};
use super::statement::{CHANNEL, Engine, Pooled, Session, Statement, Tx};
use super::{Claim, Claimed, DatabaseLock, DispatchScope, Result, StoreError, TABLES_VERSION, Wakeup};

static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| migrations_in("postgres/"));

/// The advisory lock under which letters are inserted: `foglette` in ASCII.
const INTAKE: i64 = i64::from_be_bytes(*b"foglette");

/// The advisory lock under which tables are migrated: `fogtable` in ASCII.
const MIGRATING: i64 = i64::from_be_bytes(*b"fogtable");

/// The schema in which the model's tables are created for comparison.
const MODEL: &str = "fogpost_model";

/// Seconds to wait for a connection, attempt by attempt. An attempt that would open one gets none while the server
/// permits no more, or does not answer; the next takes one that was returned in the meantime.
const PATIENCE: [u64; 4] = [1, 2, 4, 8];

/// The fewest connections with which one of them listens for notifications. With fewer, the loops poll.
const ENOUGH_TO_LISTEN: u32 = 5;

/// Selects the sessions that hold a lock on a table for which others may have to wait: what a row's lock takes, and
/// more. Vacuuming takes none of them. The server shows the times of other users' transactions to few.
const FOREIGN_LOCKS: &str = "SELECT a.pid, COALESCE(NULLIF(a.application_name, ''), 'unnamed'), \
    COALESCE(a.usename::text, '?'), string_agg(DISTINCT c.relname::text, ', ') \
    FROM pg_locks l JOIN pg_class c ON c.oid = l.relation JOIN pg_stat_activity a ON a.pid = l.pid \
    WHERE l.locktype = 'relation' AND l.granted AND c.relkind = 'r' AND a.pid <> pg_backend_pid() \
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND c.relnamespace = to_regnamespace(current_schema()) \
    AND l.mode NOT IN ('AccessShareLock', 'ShareUpdateExclusiveLock') \
    AND COALESCE(a.xact_start < now() - interval '10 seconds', a.application_name <> 'fogpost') \
    GROUP BY 1, 2, 3 ORDER BY 1";

pub struct PostgresBackend {
    pool: PgPool,
    options: PgConnectOptions,
    /// Connections that this process opens at most.
    connections: u32,
    /// The names that are claimed in this process.
    claimed: Names,
    locks: Arc<Locks>,
    listener: tokio::sync::Mutex<Option<(PgListener, Instant)>>,
}

impl PostgresBackend {
    pub async fn open(url: &str, max_connections: u32, makes_tables: bool) -> Result<PostgresBackend> {
        let options = options_of(url)?;
        let connections = examine(&options, max_connections).await?;
        let pool = PgPoolOptions::new()
            // One more holds the locks.
            .max_connections(connections.saturating_sub(1).max(1))
            // Without these, sqlx 0.9.0 starts a task that may loop forever: see `pool_options` of SQLite.
            .idle_timeout(None)
            .max_lifetime(None)
            .test_before_acquire(false)
            .before_acquire(|connection, about| {
                Box::pin(async move { Ok(about.age < MAX_AGE && is_writable(connection).await?) })
            })
            .connect_lazy_with(options.clone());
        let (claimed, listener) = Default::default();
        let locks = Arc::new(Locks::new(options.clone(), &claimed));
        let backend = PostgresBackend { pool, options, connections, claimed, locks, listener };
        backend
            .migrate(makes_tables)
            .await
            .map_err(|error| server::explain_rights(&backend.options, error))?;
        Ok(backend)
    }

    /// Brings the tables up to date in one transaction. Other programs that start in the meantime wait for
    /// it.
    async fn migrate(&self, makes_tables: bool) -> Result<()> {
        let mut tx = self.transaction().await?;
        if !is_writable(&mut tx).await? {
            // What does not write may still read it.
            let found: Option<i64> = sqlx::query_scalar(TABLES_VERSION).fetch_one(&mut *tx).await.ok();
            let newest = MIGRATIONS.iter().map(|migration| migration.version).max();
            return if found == newest {
                Ok(())
            } else {
                Err(server::unusable_server(&self.options, "it is read-only".to_owned(), true))
            };
        }
        sqlx::query("SET LOCAL lock_timeout = '1min'").execute(&mut *tx).await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(MIGRATING).execute(&mut *tx).await?;
        // Find the table first, because a failure would abort the transaction.
        let sql = "SELECT to_regclass('_sqlx_migrations') IS NOT NULL";
        let before = if sqlx::query_scalar(sql).fetch_one(&mut *tx).await? {
            sqlx::query_scalar(TABLES_VERSION).fetch_one(&mut *tx).await?
        } else if makes_tables {
            None
        } else {
            let reason = "it has no tables; fogpost run makes them, unless a dump is put back before";
            return Err(server::unusable_server(&self.options, reason.to_owned(), false));
        };
        migrate(&MIGRATIONS, &mut *tx).await.map_err(|error| StoreError::of_migration(error, &MIGRATIONS))?;
        tx.commit().await?;
        log_migration(before, &MIGRATIONS);
        Ok(())
    }
}

impl PostgresBackend {
    /// Begins a transaction. A task of its own waits for BEGIN to its end: if nobody waits for that answer, sqlx 0.9.0
    /// gives the connection back to the pool with the transaction open; what is written on it next is lost or waits.
    async fn transaction(&self) -> Result<Transaction<'static, Postgres>> {
        let begin = || {
            let pool = self.pool.clone();
            async move {
                tokio::spawn(async move { pool.begin().await })
                    .await
                    .unwrap_or(Err(sqlx::Error::WorkerCrashed))
            }
        };
        patiently(begin).await
    }
}

/// Repeats an attempt to get a connection from a pool; see [`PATIENCE`].
async fn patiently<T, F>(attempt: impl Fn() -> F) -> Result<T>
where
    F: Future<Output = sqlx::Result<T>>,
{
    for seconds in PATIENCE {
        if let Ok(done) = timeout(Duration::from_secs(seconds), attempt()).await {
            return Ok(done?);
        }
    }
    Err(StoreError::NoConnection)
}

#[async_trait]
impl Backend for PostgresBackend {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    async fn reader(&self) -> Result<Pooled> {
        Ok(Pooled::Postgres(patiently(|| self.pool.acquire()).await?))
    }

    async fn writer(&self) -> Result<Pooled> {
        self.reader().await
    }

    async fn begin(&self) -> Result<Tx> {
        Ok(Tx::Postgres(self.transaction().await?))
    }

    async fn begin_intake(&self) -> Result<Tx> {
        let mut tx = self.transaction().await?;
        // Allow one intake at a time: two that store copies of one letter at once would both find it new.
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(INTAKE).execute(&mut *tx).await?;
        Ok(Tx::Postgres(tx))
    }

    async fn write_unsynced(&self, statement: Statement) -> Result<()> {
        let mut tx = self.transaction().await?;
        sqlx::query("SET LOCAL synchronous_commit = off").execute(&mut *tx).await?;
        Session::Postgres(&mut tx).execute(statement).await?;
        tx.commit().await?;
        Ok(())
    }

    fn begin_claim(&self) -> Claim {
        Claim::holding(ClaimedNames::new(&self.claimed, Some(&self.locks)))
    }

    async fn claim_dispatches(&self, now: i64, scope: &DispatchScope) -> Result<(Vec<Claimed>, Claim)> {
        let mut claim = self.begin_claim();
        let mut connection = self.reader().await?;
        let mut session = connection.session();
        let order = scope.order.columns();
        let condition = scope.reach.condition();
        let sql = format!(
            "SELECT d.id FROM dispatch d WHERE d.due_at <= $2 AND {condition} AND d.id <> ALL($1) \
             ORDER BY {order} LIMIT $3"
        );
        let mut seen = Vec::new();
        let mut taken = Vec::new();
        // Those that other claims have come first again, so look behind them.
        while taken.len() < scope.limit as usize {
            let most = i64::from(scope.limit) - taken.len() as i64;
            let statement = session.statement(sql.clone()).bind_numbers(&seen).bind(now).bind(most);
            let page: Vec<i64> = session.fetch_column(statement).await?;
            if page.is_empty() {
                break;
            }
            let names = page.iter().map(|id| format!("dispatch {id}")).collect();
            let free: BTreeSet<String> = claim.take(names).await?.into_iter().collect();
            taken.extend(page.iter().filter(|id| free.contains(&format!("dispatch {id}"))));
            seen.extend(page);
        }
        // Read the dispatches after claiming them: another daemon may just have sent some.
        let sql = format!("{} AND d.id = ANY($1) ORDER BY {order}", outgoing());
        let statement = session.statement(sql).bind_numbers(&taken).bind(now);
        Ok((session.fetch_all(statement).await?, claim))
    }

    async fn claim_house_turns(&self, matches: &[String]) -> Result<(Vec<String>, Claim)> {
        let mut claim = self.begin_claim();
        let names = matches.iter().map(|id| format!("house {id}")).collect();
        let free: BTreeSet<String> = claim.take(names).await?.into_iter().collect();
        let claimed = matches.iter().filter(|id| free.contains(&format!("house {id}")));
        Ok((claimed.cloned().collect(), claim))
    }

    async fn lock(&self, _owner: &str) -> Result<DatabaseLock> {
        Ok(DatabaseLock { _lock: None })
    }

    async fn try_acquire_lease(&self, lease: &str) -> Result<bool> {
        self.locks.try_acquire_lease(lease).await
    }

    async fn release_lease(&self, lease: &str) {
        self.locks.release_lease(lease).await
    }

    async fn next_wakeup(&self) -> Result<Wakeup> {
        if self.connections < ENOUGH_TO_LISTEN {
            return std::future::pending().await;
        }
        let mut place = self.listener.lock().await;
        loop {
            // Taken out, so that a listener whose connection may be broken is not used again.
            let (mut listener, opened) = match place.take() {
                Some((listener, opened)) if opened.elapsed() < MAX_AGE => (listener, opened),
                Some(_) | None => {
                    let mut new = PgListener::connect_with(&self.pool).await?;
                    new.listen(CHANNEL).await?;
                    (new, Instant::now())
                }
            };
            let left = MAX_AGE.saturating_sub(opened.elapsed());
            if let Ok(notification) = timeout(left, listener.recv()).await {
                let wakeup = Wakeup::parse(notification?.payload()).unwrap_or(Wakeup::Dispatches);
                *place = Some((listener, opened));
                return Ok(wakeup);
            }
        }
    }

    async fn backup(&self, _to: &Path) -> Result<()> {
        Err(StoreError::misnamed("a PostgreSQL database is backed up with pg_dump"))
    }

    /// Creates the model's tables in a schema that is rolled back.
    async fn schema_faults(&self) -> Result<Vec<String>> {
        let mut tx = self.transaction().await?;
        let own: String = sqlx::query_scalar("SELECT current_schema()::text").fetch_one(&mut *tx).await?;
        let found = sqlx::query_as(POSTGRES_PARTS).bind(own).fetch_all(&mut *tx).await?;
        let begin = format!("CREATE SCHEMA {MODEL}; SET LOCAL search_path TO {MODEL}");
        sqlx::raw_sql(AssertSqlSafe(begin)).execute(&mut *tx).await?;
        for migration in MIGRATIONS.iter() {
            sqlx::raw_sql(migration.sql.clone()).execute(&mut *tx).await?;
        }
        let made = sqlx::query_as(POSTGRES_PARTS).bind(MODEL).fetch_all(&mut *tx).await?;
        tx.rollback().await?;
        Ok(differences(made, found))
    }

    /// Returns `None`, because this program cannot watch the server's disk.
    fn free_bytes(&self) -> Result<Option<u64>> {
        Ok(None)
    }

    fn connections(&self) -> Option<u32> {
        Some(self.connections)
    }

    async fn server_faults(&self) -> Result<Vec<String>> {
        let mut connection = patiently(|| self.pool.acquire()).await?;
        let mut faults = Vec::new();
        if !is_writable(&mut connection).await? {
            let sql = "SELECT pg_is_in_recovery()";
            let why = if sqlx::query_scalar(sql).fetch_one(&mut *connection).await? {
                "its server is a standby"
            } else {
                "default_transaction_read_only is on"
            };
            let place = place_of(&self.options);
            faults.push(format!(
                "the database {place} is read-only ({why}); nothing is decided until it is writable"
            ));
        }
        let holders: Vec<(i32, String, String, String)> =
            sqlx::query_as(FOREIGN_LOCKS).fetch_all(&mut *connection).await?;
        faults.extend(holders.into_iter().map(|(pid, program, user, tables)| {
            format!(
                "session {pid} of the database ({program}, user {user}) holds locks on {tables}, and what needs them \
                 waits; if it is forgotten, end it: SELECT pg_terminate_backend({pid})"
            )
        }));
        Ok(faults)
    }

    async fn close(&self) {
        self.locks.close().await;
        drop(self.listener.lock().await.take());
        self.pool.close().await;
    }
}
