//! A club's database, on either engine. [`Backend`] connects, claims, locks and backs up. The SQL that both
//! engines understand, with `$1` for parameters, is written once, in a file for each family of tables.
//!
//! The seam between SQLite and PostgreSQL: everything that they do differently.

use std::path::Path;

use async_trait::async_trait;

use super::columns::FromColumn;
use super::rows::{Record, Row, text};
use super::statement::{Engine, Pooled, Statement, Tx};
use super::{
    Claim, Claimed, DatabaseLock, DispatchScope, Queues, REMEMBER, Result, RowSink, TABLES_VERSION, Wakeup,
};

/// Selects [`Queues`]. A dispatch that a budget delayed has waited only since it was due.
const COUNTS: &str = "SELECT \
    (SELECT COUNT(*) FROM letter WHERE status = 'waiting') AS letters_waiting, \
    (SELECT MIN(received_at) FROM letter WHERE status = 'waiting') AS oldest_letter, \
    (SELECT COUNT(*) FROM dispatch WHERE due_at IS NOT NULL) AS dispatches_waiting, \
    (SELECT MIN(CASE WHEN tries = 0 AND due_at > created_at THEN due_at ELSE created_at END) \
     FROM dispatch WHERE due_at IS NOT NULL) AS oldest_dispatch, \
    (SELECT error FROM dispatch WHERE due_at IS NOT NULL AND tries > 0 ORDER BY created_at, id LIMIT 1) \
     AS dispatch_error, \
    (SELECT COUNT(*) FROM dispatch WHERE given_up_at IS NOT NULL) AS given_up, \
    (SELECT COUNT(*) FROM dispatch WHERE given_up_at IS NOT NULL AND seen = 0) AS given_up_unseen, \
    (SELECT COUNT(*) FROM match WHERE stage = 'running') AS matches_running, \
    (SELECT COUNT(*) FROM letter WHERE status = 'set_aside') AS set_aside, \
    (SELECT MIN(wake_at) FROM match WHERE wake_at IS NOT NULL) AS next_wake, \
    (SELECT MAX(wait_until) FROM letter WHERE status = 'waiting') AS letter, \
    (SELECT MAX(due_at) FROM dispatch WHERE due_at IS NOT NULL) AS dispatch, \
    (SELECT MAX(digest_at) FROM player WHERE digest_at IS NOT NULL) AS digest, \
    (SELECT MAX(wake_at) FROM match WHERE wake_at IS NOT NULL) AS wake";

/// A club's database: letters, players, matches, ledgers and the outbox. Several processes may write at once,
/// so reading reserves nothing: only claims are exclusive, and [`Database::commit`] rejects changes based on
/// outdated rows.
pub struct Database {
    pub(super) backend: Box<dyn Backend>,
}

impl Database {
    pub(super) fn new(backend: impl Backend + 'static) -> Database {
        Database { backend: Box::new(backend) }
    }

    pub(super) fn statement(&self, sql: impl Into<String>) -> Statement {
        Statement::new(self.backend.engine(), sql)
    }

    pub(super) fn one_of(&self) -> &'static str {
        self.backend.engine().one_of()
    }

    pub(super) async fn read<T: Record>(&self, statement: Statement) -> Result<Vec<T>> {
        self.backend.reader().await?.session().fetch_all(statement).await
    }

    pub(super) async fn read_with<T: Send>(
        &self,
        statement: Statement,
        read: impl FnMut(Row<'_>) -> Result<T> + Send,
    ) -> Result<Vec<T>> {
        self.backend.reader().await?.session().fetch_with(statement, read).await
    }

    pub(super) async fn read_first<T: Record>(&self, statement: Statement) -> Result<Option<T>> {
        self.backend.reader().await?.session().fetch_first(statement).await
    }

    pub(super) async fn read_one<T: Record>(&self, statement: Statement) -> Result<T> {
        self.backend.reader().await?.session().fetch_one(statement).await
    }

    /// Reads on the connection that writes; see [`Backend::writer`].
    pub(super) async fn read_recent<T: Record>(&self, statement: Statement) -> Result<Vec<T>> {
        self.backend.writer().await?.session().fetch_all(statement).await
    }

    pub(super) async fn write(&self, statement: Statement) -> Result<()> {
        self.backend.writer().await?.session().execute(statement).await
    }

    pub(super) async fn read_column<T: FromColumn>(&self, statement: Statement) -> Result<Vec<T>> {
        self.backend.reader().await?.session().fetch_column(statement).await
    }

    /// Passes on each row as soon as it is read.
    pub(super) async fn stream<T: Record>(&self, statement: Statement, take: RowSink<'_, T>) -> Result<()> {
        self.backend.reader().await?.session().for_each(statement, take).await
    }

    /// Locks the database for one daemon, named by `owner`. A no-op on PostgreSQL.
    ///
    /// # Errors
    /// [`StoreError::Locked`], naming the current owner.
    ///
    /// [`StoreError::Locked`]: super::StoreError::Locked
    pub async fn lock(&self, owner: &str) -> Result<DatabaseLock> {
        self.backend.lock(owner).await
    }

    /// Whether several daemons may work on this database.
    pub fn is_shared(&self) -> bool {
        self.backend.engine().is_shared()
    }

    /// Acquires or keeps the lease, and returns whether this daemon has it. Call it often: a lost connection
    /// drops it.
    pub async fn try_acquire_lease(&self, lease: &str) -> Result<bool> {
        self.backend.try_acquire_lease(lease).await
    }

    /// Releases a lease, if this daemon holds it.
    pub async fn release_lease(&self, lease: &str) {
        self.backend.release_lease(lease).await
    }

    /// Waits until another process queues work. Never resolves on SQLite, where the loops poll.
    pub async fn next_wakeup(&self) -> Result<Wakeup> {
        self.backend.next_wakeup().await
    }

    /// Returns how the tables, indexes and triggers differ from those of this program, each in a line.
    pub async fn schema_faults(&self) -> Result<Vec<String>> {
        self.backend.schema_faults().await
    }

    /// Returns the free bytes on the disk of the database, or `None` if a server stores it.
    pub fn free_bytes(&self) -> Result<Option<u64>> {
        self.backend.free_bytes()
    }

    /// Returns how many connections this process opens at most, or `None` if no server limits them.
    pub fn connections(&self) -> Option<u32> {
        self.backend.connections()
    }

    /// Returns what keeps the database's server from being written to, each in a line: it is read-only, or another
    /// session holds locks. None of it on SQLite.
    pub async fn server_faults(&self) -> Result<Vec<String>> {
        self.backend.server_faults().await
    }

    pub async fn queues(&self) -> Result<Queues> {
        self.read_one(self.statement(COUNTS)).await
    }

    /// Returns a value that [`Database::remember`] saved, such as a heartbeat or the version that ran last.
    pub async fn remembered(&self, key: &str) -> Result<Option<String>> {
        let select = self.statement("SELECT value FROM memo WHERE key = $1").bind(key);
        Ok(self.read_column(select).await?.pop())
    }

    pub async fn remember(&self, key: &str, value: &str) -> Result<()> {
        self.write(self.statement(REMEMBER).bind(key).bind(text(value))).await
    }

    /// Remembers a value unless another daemon has already stored one. Returns the value that is stored.
    pub async fn remember_first(&self, key: &str, value: &str) -> Result<String> {
        let sql = "INSERT INTO memo (key, value) VALUES ($1, $2) ON CONFLICT (key) DO NOTHING";
        self.write(self.statement(sql).bind(key).bind(text(value))).await?;
        // Read the value again, because another daemon may have been first.
        Ok(self.remembered(key).await?.unwrap_or_else(|| value.to_owned()))
    }

    /// Returns all remembered keys with this prefix and their values, by key.
    pub async fn remembered_under(&self, prefix: &str) -> Result<Vec<(String, String)>> {
        // In LIKE, an underscore matches any character: prefixes must differ in others.
        let sql = "SELECT key, value FROM memo WHERE key LIKE $1 ORDER BY key";
        self.read(self.statement(sql).bind(format!("{prefix}%"))).await
    }

    /// Returns those of these keys under which something is remembered, with their values.
    pub async fn remembered_among(&self, keys: &[String]) -> Result<Vec<(String, String)>> {
        let select = self.statement(format!("SELECT key, value FROM memo WHERE key {}", self.one_of()));
        self.read(select.bind_texts(keys)).await
    }

    pub async fn forget(&self, key: &str) -> Result<()> {
        self.write(self.statement("DELETE FROM memo WHERE key = $1").bind(key)).await
    }

    /// Forgets a value and returns it. If several callers take one, a single caller gets it.
    pub async fn take_remembered(&self, key: &str) -> Result<Option<String>> {
        let delete = self.statement("DELETE FROM memo WHERE key = $1 RETURNING value").bind(key);
        Ok(self.backend.writer().await?.session().fetch_column(delete).await?.pop())
    }

    /// Returns the engine and the version of the tables: `SQLite 3.50.2, tables of version 2`.
    pub async fn about(&self) -> Result<String> {
        let engine = self.statement(self.backend.engine().select_name());
        let (engine,): (String,) = self.read_one(engine).await?;
        let (tables,): (i64,) = self.read_one(self.statement(TABLES_VERSION)).await?;
        Ok(format!("{engine}, tables of version {tables}"))
    }

    /// Writes a consistent copy of the database while others work on it.
    ///
    /// # Errors
    /// Returns an error if `to` exists or cannot be written, or on PostgreSQL, which has its own tools.
    pub async fn backup(&self, to: &Path) -> Result<()> {
        self.backend.backup(to).await
    }

    /// Flushes and closes the database.
    pub async fn close(&self) {
        self.backend.close().await
    }
}

/// One of the two databases.
#[async_trait]
pub trait Backend: Send + Sync {
    fn engine(&self) -> Engine;

    /// Borrows a connection for reading.
    async fn reader(&self) -> Result<Pooled>;

    /// Borrows a connection that also writes. On SQLite it is the faster one for rows that were just written
    /// or are about to be, because each commit empties the page caches of the readers.
    async fn writer(&self) -> Result<Pooled>;

    /// Begins a transaction that writes.
    async fn begin(&self) -> Result<Tx>;

    /// Begins a transaction during which no other process inserts letters: if two mailboxes hold the same
    /// letter, the second transaction sees the letter of the first.
    async fn begin_intake(&self) -> Result<Tx>;

    /// Runs a statement without waiting for the disk: its changes survive this process, but perhaps not a
    /// power failure.
    async fn write_unsynced(&self, statement: Statement) -> Result<()>;

    /// Begins a claim, which holds nothing yet.
    fn begin_claim(&self) -> Claim;

    /// See [`Database::claim_dispatches`].
    async fn claim_dispatches(&self, now: i64, scope: &DispatchScope) -> Result<(Vec<Claimed>, Claim)>;

    /// See [`Database::claim_house_turns`].
    async fn claim_house_turns(&self, matches: &[String]) -> Result<(Vec<String>, Claim)>;

    /// See [`Database::lock`].
    async fn lock(&self, owner: &str) -> Result<DatabaseLock>;

    /// See [`Database::try_acquire_lease`].
    async fn try_acquire_lease(&self, lease: &str) -> Result<bool>;

    /// See [`Database::release_lease`].
    async fn release_lease(&self, lease: &str);

    /// See [`Database::next_wakeup`].
    async fn next_wakeup(&self) -> Result<Wakeup>;

    /// See [`Database::backup`].
    async fn backup(&self, to: &Path) -> Result<()>;

    /// See [`Database::schema_faults`].
    async fn schema_faults(&self) -> Result<Vec<String>>;

    /// See [`Database::free_bytes`].
    fn free_bytes(&self) -> Result<Option<u64>>;

    /// See [`Database::connections`].
    fn connections(&self) -> Option<u32>;

    /// See [`Database::server_faults`].
    async fn server_faults(&self) -> Result<Vec<String>>;

    /// Closes all connections.
    async fn close(&self);
}
