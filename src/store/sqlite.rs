//! SQLite: one file, one writer at a time, one daemon.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read as _, Seek as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr as _;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous};
use sqlx::{Connection as _, Sqlite, SqliteConnection, SqlitePool, Transaction};

use super::database::Backend;
use super::locks::{ClaimedNames, Names};
use super::schema::{SQLITE_PARTS, differences, log_migration, migrate, migrations_in};
use super::sending::outgoing;
use super::statement::{Engine, Pooled, Session, Statement, Tx};
use super::*;
use crate::post::owner::{give_to_owner_at, parent_of};

static MIGRATIONS: LazyLock<Migrator> = LazyLock::new(|| migrations_in("sqlite/"));

/// Marks a database file as ours, in its header: `fogp` in ASCII.
const APPLICATION_ID: i32 = i32::from_be_bytes(*b"fogp");

/// Time that a writer waits for a writer in another process.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// SQLITE_BUSY, a primary code.
const BUSY: i32 = 5;

/// Rows that a connection's thread may read ahead. With few, the thread and the reader take turns waiting for
/// each other.
const ROWS_AHEAD: usize = 512;

pub struct SqliteBackend {
    path: PathBuf,
    /// The inode of the file that is open.
    inode: u64,
    reader: SqlitePool,
    /// Also reads rows that were just written or are about to be: each commit empties the readers' page
    /// caches.
    writer: SqlitePool,
    /// The lanes whose letters are claimed. They need not be in the database, because it has one daemon.
    lanes: Names,
    /// Held while dispatches are being claimed.
    claiming: tokio::sync::Mutex<()>,
    sending: Arc<Sending>,
}

/// IDs of the claimed dispatches. They need not be in the database, because it has one daemon.
#[derive(Default)]
struct Sending(Mutex<BTreeSet<i64>>);

impl Sending {
    fn ids(&self) -> MutexGuard<'_, BTreeSet<i64>> {
        // A panic cannot leave a set of IDs half changed.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends the claim on these dispatches when it is dropped.
struct ReleaseOnDrop(Arc<Sending>, Vec<i64>);

impl Drop for ReleaseOnDrop {
    fn drop(&mut self) {
        self.0.ids().retain(|id| !self.1.contains(id));
    }
}

impl SqliteBackend {
    pub async fn open(url: &str) -> Result<SqliteBackend> {
        let options = SqliteConnectOptions::from_str(url).map_err(StoreError::misnamed)?;
        let options = options.busy_timeout(BUSY_TIMEOUT).row_buffer_size(ROWS_AHEAD);
        let path = options.get_filename().to_owned();
        if url.contains(":memory:") || url.contains("mode=memory") || path.as_os_str().is_empty() {
            // Each connection would get an empty database of its own, and a restart would lose everything.
            return Err(StoreError::misnamed("its URL names no file"));
        }
        let unopened = |error: sqlx::Error| cannot_open(&path, why(&path, &error));
        // SQLite would let everybody read a file that it creates, and it gives its log the permissions of the
        // file. If this fails, the file exists, or SQLite names the reason.
        let _ = private::create_new(&path);
        // Check the file before the writer connects, which would already switch another program's file to a
        // write-ahead log.
        if !is_ours(&options).await.map_err(unopened)? {
            return Err(cannot_open(&path, "it belongs to another program".to_owned()));
        }
        let writer = connect_writer(&options).await.map_err(unopened)?;
        let inode = std::fs::metadata(&path).map_err(|error| cannot_open(&path, error.to_string()))?.ino();
        let reader = pool_options(4).connect_lazy_with(options.read_only(true));
        let (lanes, claiming, sending) = Default::default();
        let store = SqliteBackend { path, inode, reader, writer, lanes, claiming, sending };
        store.migrate().await.map_err(|error| match error {
            StoreError::Database(error) | StoreError::Migrate(MigrateError::Execute(error)) => {
                cannot_open(&store.path, why(&store.path, &error))
            }
            error => error,
        })?;
        Ok(store)
    }

    /// Brings the tables up to date in one transaction: if two programs start on a new file, one waits for
    /// the other.
    async fn migrate(&self) -> Result<()> {
        // Index builds sort; let the sort spill to disk.
        sqlx::query("PRAGMA temp_store = file").execute(&self.writer).await?;
        let mut tx = self.begin_immediate().await?;
        let before = sqlx::query_scalar(TABLES_VERSION).fetch_one(&mut *tx).await.ok();
        migrate(&MIGRATIONS, &mut *tx).await.map_err(|error| StoreError::of_migration(error, &MIGRATIONS))?;
        tx.commit().await?;
        sqlx::query("PRAGMA temp_store = memory").execute(&self.writer).await?;
        log_migration(before, &MIGRATIONS);
        Ok(())
    }

    /// Checks that the file is still where it was opened, as SQLite itself does only without a write-ahead log.
    fn check_place(&self) -> Result<()> {
        let is_in_place = std::fs::metadata(&self.path).is_ok_and(|found| found.ino() == self.inode);
        if is_in_place { Ok(()) } else { Err(StoreError::Replaced) }
    }

    /// Begins a transaction by `BEGIN IMMEDIATE`: upgrading a read transaction can fail with SQLITE_BUSY.
    async fn begin_immediate(&self) -> Result<Transaction<'static, Sqlite>> {
        self.check_place()?;
        match self.writer.begin_with("BEGIN IMMEDIATE").await {
            // SQLite ended the previous transaction by itself, as it does when the disk is full, and sqlx did
            // not notice.
            Err(sqlx::Error::InvalidSavePointStatement) => {
                self.writer.acquire().await?.close().await?;
                Ok(self.writer.begin_with("BEGIN IMMEDIATE").await?)
            }
            begun => Ok(begun?),
        }
    }

    async fn write_copy(&self, part: &Path, to: &Path) -> Result<()> {
        let cannot = |error: std::io::Error| cannot_open(to, error.to_string());
        if to.exists() {
            return Err(StoreError::Exists(to.display().to_string()));
        }
        let name = part.to_str().ok_or_else(|| cannot_open(to, "its name is not valid UTF-8".to_owned()))?;
        // VACUUM writes into an empty file, and keeps its permissions.
        drop(private::create_new(part).map_err(cannot)?);
        sqlx::query("VACUUM INTO $1").bind(name).execute(&self.writer).await?;
        File::open(part).and_then(|file| file.sync_all()).map_err(cannot)?;
        std::fs::rename(part, to).map_err(cannot)
    }
}

/// Returns the options of a pool whose connections stay open, and so without sqlx's maintenance task (0.9.0):
/// the task counts idle connections without a lock, and if it meets the counter below zero, it loops on a
/// worker thread forever.
fn pool_options(max_connections: u32) -> SqlitePoolOptions {
    // A ping before each use would take two thread switches, and a local file does not go away.
    SqlitePoolOptions::new()
        .max_connections(max_connections)
        .idle_timeout(None)
        .max_lifetime(None)
        .test_before_acquire(false)
}

/// Opens the connection that writes.
///
/// SQLite does not wait for another program that makes a new file use a write-ahead log at the same moment,
/// so we do.
async fn connect_writer(options: &SqliteConnectOptions) -> sqlx::Result<SqlitePool> {
    let options = options
        .clone()
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        // A letter leaves the mailbox once it is stored, so a commit must survive a power failure. NORMAL
        // would not sync it.
        .synchronous(SqliteSynchronous::Full)
        // SQLite enforces foreign keys only on connections that ask for it.
        .foreign_keys(true)
        // A commit of 500 letters is about 6 MB. It should neither spill into the log before it ends, and so
        // be written twice, nor trigger a checkpoint by itself. A negative `cache_size` is in kilobytes; the
        // other two are in pages of 4 kB.
        .pragma("cache_size", "-8192")
        .pragma("cache_spill", "8000")
        .pragma("wal_autocheckpoint", "8000")
        // Statement journals are too small to be worth a file.
        .pragma("temp_store", "memory");
    let began = Instant::now();
    loop {
        // Open only one connection: writers in this process queue for it, instead of polling for SQLite's
        // lock.
        let writer = pool_options(1).connect_with(options.clone()).await;
        match writer {
            Err(error) if code(&error) == Some(BUSY) && began.elapsed() < BUSY_TIMEOUT => {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            writer => return writer,
        }
    }
}

#[async_trait]
impl Backend for SqliteBackend {
    fn engine(&self) -> Engine {
        Engine::Sqlite
    }

    async fn reader(&self) -> Result<Pooled> {
        Ok(Pooled::Sqlite(self.reader.acquire().await?))
    }

    async fn writer(&self) -> Result<Pooled> {
        self.check_place()?;
        Ok(Pooled::Sqlite(self.writer.acquire().await?))
    }

    async fn begin(&self) -> Result<Tx> {
        Ok(Tx::Sqlite(self.begin_immediate().await?))
    }

    async fn begin_intake(&self) -> Result<Tx> {
        self.begin().await
    }

    /// Commits with `synchronous = NORMAL`, which in WAL mode writes to the log without syncing it.
    async fn write_unsynced(&self, statement: Statement) -> Result<()> {
        let mut connection = self.writer.acquire().await?;
        // Use a separate task: the connection must get its setting back even if the caller is cancelled.
        let writing = tokio::spawn(async move {
            let mut session = Session::Sqlite(&mut connection);
            session.execute(session.statement("PRAGMA synchronous = NORMAL")).await?;
            let written = session.execute(statement).await;
            if let Err(error) = session.execute(session.statement("PRAGMA synchronous = FULL")).await {
                connection.close().await?;
                return Err(error);
            }
            written
        });
        writing.await.map_err(|error| StoreError::Unsound(format!("a writer panicked: {error}")))?
    }

    fn begin_claim(&self) -> Claim {
        Claim::holding(ClaimedNames::new(&self.lanes, None))
    }

    async fn claim_dispatches(&self, now: i64, scope: &DispatchScope) -> Result<(Vec<Claimed>, Claim)> {
        self.check_place()?;
        // Until the IDs are noted, another claim would find the same dispatches.
        let _alone = self.claiming.lock().await;
        let claimed: Vec<i64> = self.sending.ids().iter().copied().collect();
        let sql = format!(
            "{} AND {} AND d.id NOT {} ORDER BY {} LIMIT $3",
            outgoing(),
            scope.reach.condition(),
            Engine::Sqlite.one_of(),
            scope.order.columns()
        );
        let mut connection = self.writer.acquire().await?;
        let mut session = Session::Sqlite(&mut connection);
        let statement = session.statement(sql).bind_numbers(&claimed).bind(now).bind(i64::from(scope.limit));
        let due: Vec<Claimed> = session.fetch_all(statement).await?;
        let ids: Vec<i64> = due.iter().map(|dispatch| dispatch.id).collect();
        self.sending.ids().extend(&ids);
        let guard = Arc::new(ReleaseOnDrop(Arc::clone(&self.sending), ids));
        Ok((due, Claim { _guard: Some(guard), ..Claim::default() }))
    }

    /// Returns all matches: the database has one daemon, in which one loop plays for the house.
    async fn claim_house_turns(&self, matches: &[String]) -> Result<(Vec<String>, Claim)> {
        Ok((matches.to_vec(), Claim::default()))
    }

    /// Locks a file next to the database. The system releases the lock when the process ends, even in a
    /// crash.
    async fn lock(&self, owner: &str) -> Result<DatabaseLock> {
        let path = beside(&self.path, ".lock");
        let lock = lock(&path, owner).map_err(|error| match error {
            TryLockError::WouldBlock => StoreError::Locked(holder(&path)),
            TryLockError::Error(error) => {
                cannot_open(&self.path, format!("{} cannot be locked: {error}", path.display()))
            }
        })?;
        Ok(DatabaseLock { _lock: Some(lock) })
    }

    /// A SQLite database has one daemon, which has the lease for as long as the file is in its place.
    async fn try_acquire_lease(&self, _lease: &str) -> Result<bool> {
        self.check_place().map(|()| true)
    }

    async fn release_lease(&self, _lease: &str) {}

    async fn next_wakeup(&self) -> Result<Wakeup> {
        std::future::pending().await
    }

    /// Writes to a temporary name and renames it when it is complete, so that half a backup cannot be
    /// mistaken for a whole one.
    async fn backup(&self, to: &Path) -> Result<()> {
        let part = beside(to, ".part");
        let written = self.write_copy(&part, to).await;
        if written.is_err() {
            let _ = std::fs::remove_file(&part);
        }
        written
    }

    async fn schema_faults(&self) -> Result<Vec<String>> {
        // Only the migrations describe the tables, so the model is made by running them.
        let mut model = SqliteConnection::connect("sqlite::memory:").await?;
        migrate(&MIGRATIONS, &mut model).await?;
        let made = sqlx::query_as(SQLITE_PARTS).fetch_all(&mut model).await?;
        let found = sqlx::query_as(SQLITE_PARTS).fetch_all(&self.writer).await?;
        Ok(differences(made, found))
    }

    fn free_bytes(&self) -> Result<Option<u64>> {
        let space = rustix::fs::statvfs(&self.path)
            .map_err(|error| StoreError::Database(sqlx::Error::Io(error.into())))?;
        // `f_bavail` counts the blocks that an ordinary user may still write.
        Ok(Some(space.f_bavail.saturating_mul(space.f_frsize)))
    }

    fn connections(&self) -> Option<u32> {
        None
    }

    async fn server_faults(&self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }

    async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }
}

/// Whether the file is new or a fogpost database. Does not write to it.
async fn is_ours(options: &SqliteConnectOptions) -> Result<bool, sqlx::Error> {
    let mut connection = SqliteConnection::connect_with(&options.clone().create_if_missing(true)).await?;
    let sql = "SELECT (SELECT COUNT(*) FROM sqlite_schema), application_id FROM pragma_application_id";
    let (tables, application_id): (i64, i32) = sqlx::query_as(sql).fetch_one(&mut connection).await?;
    connection.close().await?;
    Ok(tables == 0 || application_id == APPLICATION_ID)
}

/// Returns the URL of the database in a file. Escapes question marks, which would end the path, and percent
/// signs, which would begin an escape.
pub fn sqlite_url(file: &Path) -> String {
    format!("sqlite:{}", file.display().to_string().replace('%', "%25").replace('?', "%3F"))
}

/// Returns the file of the database at `url`, or `None` for PostgreSQL.
///
/// # Errors
/// [`StoreError::Open`] if the URL is malformed.
pub fn sqlite_file(url: &str) -> Result<Option<PathBuf>> {
    if !url.starts_with("sqlite:") {
        return Ok(None);
    }
    let options = SqliteConnectOptions::from_str(url).map_err(StoreError::misnamed)?;
    Ok(Some(options.get_filename().to_owned()))
}

/// Appends to a file's name.
pub(super) fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

pub(super) fn cannot_open(path: &Path, why: String) -> StoreError {
    StoreError::Open { database: path.display().to_string(), why, transient: false }
}

pub(super) fn lock(path: &Path, who: &str) -> Result<File, TryLockError> {
    let mut file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        // If somebody else has the lock, the file names its owner.
        .truncate(false)
        .mode(private::OWNER_ONLY)
        .open(path)
        .map_err(TryLockError::Error)?;
    give_to_owner_at(&file, parent_of(path)).map_err(TryLockError::Error)?;
    file.try_lock()?;
    let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| writeln!(file, "{who}"));
    written.map_err(TryLockError::Error)?;
    Ok(file)
}

pub(super) fn holder(path: &Path) -> String {
    let mut who = String::new();
    let read = File::open(path).and_then(|file| file.take(1024).read_to_string(&mut who));
    match read {
        Ok(_) if !who.trim().is_empty() => who.trim().to_owned(),
        Ok(_) | Err(_) => format!("the process that locked {}", path.display()),
    }
}

/// Returns the primary code of an error of SQLite, which is its low byte: https://www.sqlite.org/rescode.html
fn code(error: &sqlx::Error) -> Option<i32> {
    let code = error.as_database_error()?.code()?.parse::<i32>().ok()?;
    Some(code & 0xff)
}

/// Explains to people why SQLite cannot open a database.
fn why(path: &Path, error: &sqlx::Error) -> String {
    let folder = parent_of(path);
    match code(error) {
        Some(14) if !folder.is_dir() => format!("there is no folder {}", folder.display()),
        Some(14) if path.is_dir() => "it is a folder".to_owned(),
        Some(14) => {
            "the file can be neither opened nor created; can this user write to its folder?".to_owned()
        }
        Some(8) => "this user may not write to it".to_owned(),
        Some(10 | 13) => "its disk is full or broken".to_owned(),
        Some(11) if beside(path, "-wal").exists() => format!(
            "it is damaged, or {} belongs to another copy of it; a file that is put back by hand must come without one",
            beside(path, "-wal").display()
        ),
        Some(26) => "it is not a SQLite database".to_owned(),
        Some(_) | None => error.to_string(),
    }
}
