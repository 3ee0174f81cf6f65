//! PostgreSQL: a server, and any number of daemons on it.

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::path::Path;
use std::str::FromStr as _;
use std::sync::LazyLock;
use std::time::Duration;

use async_trait::async_trait;
use sqlx::migrate::Migrator;
use sqlx::postgres::{PgConnectOptions, PgListener, PgPoolOptions, PgSslMode};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, PgPool};

use super::backend::Backend;
use super::notify::CHANNEL;
use super::schema::{POSTGRES_PARTS, differences, log_migration, migrate, migrations_in};
use super::sending::outgoing;
use super::statement::{Engine, Pooled, Session, Statement, Tx};
use super::{Claim, Claimed, DatabaseLock, DispatchScope, Result, StoreError, TABLES_VERSION, Wakeup};

static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| migrations_in("postgres/"));

/// The advisory lock under which letters are inserted: `foglette` in ASCII.
const INTAKE: i64 = i64::from_be_bytes(*b"foglette");

/// The advisory lock under which tables are migrated: `fogtable` in ASCII.
const MIGRATING: i64 = i64::from_be_bytes(*b"fogtable");

/// The schema in which the model's tables are created for comparison.
const MODEL: &str = "fogpost_model";

/// A daemon that claimed letters and is silent for this long loses them: it hangs, or its machine is down.
const SETTLING: &str = "SET LOCAL idle_in_transaction_session_timeout = '2min'";

/// The same limit for dispatches, which wait for mail servers.
const SENDING: &str = "SET LOCAL idle_in_transaction_session_timeout = '15min'";

/// Time limit for the database to confirm a lease.
const LEASE_TIMEOUT: Duration = Duration::from_secs(5);

pub struct PostgresBackend {
    pool: PgPool,
    options: PgConnectOptions,
    leases: tokio::sync::Mutex<Option<Leases>>,
    listener: tokio::sync::Mutex<Option<PgListener>>,
}

/// A dedicated connection, whose advisory locks are this daemon's leases. The server releases them when it
/// closes, for whatever reason.
struct Leases {
    connection: PgConnection,
    held: BTreeSet<String>,
}

impl PostgresBackend {
    pub async fn open(url: &str) -> Result<PostgresBackend> {
        let options = PgConnectOptions::from_str(url)
            .map_err(StoreError::misnamed)?
            .application_name("fogpost")
            .options([
                // With these, the server frees the locks of a vanished machine after 11 seconds instead of
                // two hours.
                ("tcp_keepalives_idle", "5"),
                ("tcp_keepalives_interval", "2"),
                ("tcp_keepalives_count", "3"),
            ]);
        try_connecting(&options).await?;
        let pool = PgPoolOptions::new()
            .max_connections(12)
            // Without these, sqlx 0.9.0 starts a task that may loop forever: see `pool_options` of SQLite.
            .idle_timeout(None)
            .max_lifetime(None)
            .acquire_timeout(Duration::from_secs(10))
            .connect_lazy_with(options.clone());
        let (leases, listener) = Default::default();
        let backend = PostgresBackend { pool, options, leases, listener };
        backend.migrate().await?;
        Ok(backend)
    }

    /// Brings the tables up to date in one transaction. Other programs that start in the meantime wait for
    /// it.
    async fn migrate(&self) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(MIGRATING).execute(&mut *tx).await?;
        // Read the version outside the transaction, which a failure would abort. The lock keeps others from
        // migrating in the meantime.
        let before = sqlx::query_scalar(TABLES_VERSION).fetch_one(&self.pool).await.ok();
        migrate(&MIGRATIONS, &mut *tx).await.map_err(|error| StoreError::of_migration(error, &MIGRATIONS))?;
        tx.commit().await?;
        log_migration(before, &MIGRATIONS);
        Ok(())
    }

    async fn try_lease(&self, leases: &mut Option<Leases>, lease: &str) -> Result<bool> {
        let Leases { connection, held } = match leases {
            Some(leases) => leases,
            None => {
                let connection = PgConnection::connect_with(&self.options).await?;
                leases.insert(Leases { connection, held: BTreeSet::new() })
            }
        };
        if held.contains(lease) {
            // The lock lives as long as its session, so an answer shows that it is still held.
            connection.ping().await?;
            return Ok(true);
        }
        let sql = "SELECT pg_try_advisory_lock(hashtextextended('fogpost ' || $1, 0))";
        let acquired: bool = sqlx::query_scalar(sql).bind(lease).fetch_one(connection).await?;
        if acquired {
            held.insert(lease.to_owned());
        }
        Ok(acquired)
    }
}

#[async_trait]
impl Backend for PostgresBackend {
    fn engine(&self) -> Engine {
        Engine::Postgres
    }

    async fn reader(&self) -> Result<Pooled> {
        Ok(Pooled::Postgres(self.pool.acquire().await?))
    }

    async fn writer(&self) -> Result<Pooled> {
        self.reader().await
    }

    async fn begin(&self) -> Result<Tx> {
        Ok(Tx::Postgres(self.pool.begin().await?))
    }

    async fn begin_intake(&self) -> Result<Tx> {
        let mut tx = self.pool.begin().await?;
        // Allow one intake at a time: two that store copies of one letter at once would both find it new.
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(INTAKE).execute(&mut *tx).await?;
        Ok(Tx::Postgres(tx))
    }

    async fn begin_under(&self, claim: &mut Claim) -> Result<Tx> {
        match claim.transaction.take() {
            Some(tx) => Ok(tx),
            None => self.begin().await,
        }
    }

    async fn write_unsynced(&self, statement: Statement) -> Result<()> {
        let mut tx = self.pool.begin().await?;
        sqlx::query("SET LOCAL synchronous_commit = off").execute(&mut *tx).await?;
        Session::Postgres(&mut tx).execute(statement).await?;
        tx.commit().await?;
        Ok(())
    }

    async fn begin_claim(&self) -> Result<Claim> {
        let mut tx = self.pool.begin().await?;
        sqlx::query(SETTLING).execute(&mut *tx).await?;
        Ok(Claim::locking(Tx::Postgres(tx)))
    }

    /// Locks `dispatch_raw`, which never changes, so that others can update `dispatch`.
    async fn claim_dispatches(&self, now: i64, scope: &DispatchScope) -> Result<(Vec<Claimed>, Claim)> {
        let mut tx = self.pool.begin().await?;
        sqlx::query(SENDING).execute(&mut *tx).await?;
        let (order, condition) = (scope.order.columns(), scope.reach.condition());
        let sql = format!(
            "SELECT d.id FROM dispatch d JOIN dispatch_raw r ON r.dispatch_id = d.id WHERE d.due_at <= $1 \
             AND {condition} ORDER BY {order} LIMIT $2 FOR UPDATE OF r SKIP LOCKED"
        );
        let query = sqlx::query_scalar(AssertSqlSafe(sql)).bind(now).bind(i64::from(scope.limit));
        let ids: Vec<i64> = query.fetch_all(&mut *tx).await?;
        // Read the dispatches after locking them: another daemon may just have sent some.
        let sql = format!("{} AND d.id = ANY($1) ORDER BY {order}", outgoing());
        let mut session = Session::Postgres(&mut tx);
        let statement = session.statement(sql).bind_numbers(&ids).bind(now);
        let due: Vec<Claimed> = session.fetch_all(statement).await?;
        if due.is_empty() {
            // An empty claim would hold a connection for nothing.
            tx.rollback().await?;
            return Ok((due, Claim::default()));
        }
        Ok((due, Claim::locking(Tx::Postgres(tx))))
    }

    /// Locks the seats that the house holds. Letters write to the match instead, so they do not wait.
    async fn claim_house_turns(&self, matches: &[String]) -> Result<(Vec<String>, Claim)> {
        let mut tx = self.pool.begin().await?;
        sqlx::query(SETTLING).execute(&mut *tx).await?;
        // One seat of each match represents the house's turn, even if the house holds both.
        let sql = "SELECT s.match_id FROM seat s JOIN match m ON m.id = s.match_id WHERE m.id = ANY($1) \
                   AND s.seat = CASE WHEN m.first_house IS NULL THEN 'second' ELSE 'first' END \
                   ORDER BY m.wake_at, m.id FOR NO KEY UPDATE OF s SKIP LOCKED";
        let claimed: Vec<String> = sqlx::query_scalar(sql).bind(matches).fetch_all(&mut *tx).await?;
        Ok((claimed, Claim::locking(Tx::Postgres(tx))))
    }

    async fn lock(&self, _owner: &str) -> Result<DatabaseLock> {
        Ok(DatabaseLock { _lock: None })
    }

    async fn try_acquire_lease(&self, lease: &str) -> Result<bool> {
        let mut leases = self.leases.lock().await;
        // A query over a dead connection would wait for minutes, and the loop that renews the lease with it.
        let acquired = tokio::time::timeout(LEASE_TIMEOUT, self.try_lease(&mut leases, lease)).await;
        let acquired = acquired.unwrap_or_else(|_| Err(StoreError::Database(sqlx::Error::PoolTimedOut)));
        // The connection may be broken, and its locks gone with it. The next call starts over with a new one.
        if acquired.is_err() {
            *leases = None;
        }
        acquired
    }

    async fn release_lease(&self, lease: &str) {
        let mut leases = self.leases.lock().await;
        let Some(Leases { connection, held }) = &mut *leases else { return };
        if held.remove(lease) {
            let sql = "SELECT pg_advisory_unlock(hashtextextended('fogpost ' || $1, 0))";
            let query = sqlx::query(sql).bind(lease).execute(connection);
            let released = tokio::time::timeout(LEASE_TIMEOUT, query).await;
            if !matches!(released, Ok(Ok(_))) {
                // Closing the session releases its locks.
                *leases = None;
            }
        }
    }

    async fn next_wakeup(&self) -> Result<Wakeup> {
        let mut listener = self.listener.lock().await;
        if listener.is_none() {
            let mut new = PgListener::connect_with(&self.pool).await?;
            new.listen(CHANNEL).await?;
            *listener = Some(new);
        }
        let Some(listening) = listener.as_mut() else { return std::future::pending().await };
        match listening.recv().await {
            Ok(notification) => Ok(Wakeup::parse(notification.payload()).unwrap_or(Wakeup::Dispatches)),
            Err(error) => {
                // The connection may be broken. The next call makes a new one.
                *listener = None;
                Err(error.into())
            }
        }
    }

    async fn backup(&self, _to: &Path) -> Result<()> {
        Err(StoreError::misnamed("a PostgreSQL database is backed up with pg_dump"))
    }

    /// Creates the model's tables in a schema that is rolled back.
    async fn schema_faults(&self) -> Result<Vec<String>> {
        let mut tx = self.pool.begin().await?;
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

    async fn close(&self) {
        drop(self.leases.lock().await.take());
        drop(self.listener.lock().await.take());
        self.pool.close().await;
    }
}

/// See [`super::unverified_server`].
pub fn unverified_server(url: &str) -> Option<String> {
    let options = PgConnectOptions::from_str(url).ok()?;
    let host = options.get_host();
    let is_local = options.get_socket().is_some()
        || host.starts_with('/')
        || host == "localhost"
        || host.parse::<IpAddr>().is_ok_and(|ip| ip.to_canonical().is_loopback());
    match options.get_ssl_mode() {
        PgSslMode::VerifyFull => None,
        _ if is_local => None,
        _ => Some(host.to_owned()),
    }
}

/// Connects once, because a pool would retry and then report nothing but a timeout.
async fn try_connecting(options: &PgConnectOptions) -> Result<()> {
    match PgConnection::connect_with(options).await {
        Ok(connection) => Ok(connection.close().await?),
        Err(error) => {
            let name = options.get_database().unwrap_or(options.get_username());
            let server = match options.get_socket() {
                Some(folder) => folder.display().to_string(),
                None => format!("{}:{}", options.get_host(), options.get_port()),
            };
            Err(StoreError::Open {
                database: format!("{name} on {server}"),
                why: error.to_string(),
                transient: !is_refused(&error),
            })
        }
    }
}

/// Whether the server rejects this user, or has no such database: retrying does not help.
fn is_refused(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|refusal| refusal.code());
    // Classes 28 and 3D: https://www.postgresql.org/docs/current/errcodes-appendix.html
    code.is_some_and(|code| code.starts_with("28") || code.starts_with("3D"))
}
