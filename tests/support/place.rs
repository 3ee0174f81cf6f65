//! A place for one test: an empty database, and a way to run SQL on it behind the store's back.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use fogpost::store::{Database, open};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};
use tempfile::TempDir;

/// The timeout of every wait. Only a failing test waits this long, so it is generous enough for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

pub struct Place {
    pub store: Arc<Database>,
    pub url: String,
    _ground: Ground,
}

/// The resources of a place, dropped together with it.
enum Ground {
    Folder(#[expect(dead_code, reason = "dropped with the place")] TempDir),
    Cluster(#[expect(dead_code, reason = "dropped with the place")] Arc<Cluster>),
}

impl Place {
    pub async fn sqlite() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite:{}", folder.path().join("fogpost.db").display());
        Place { store: open(&url).await.unwrap(), url, _ground: Ground::Folder(folder) }
    }

    /// `None` if PostgreSQL is not installed and FOGPOST_WITHOUT_SERVERS=1.
    pub async fn postgres() -> Option<Place> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let cluster = Cluster::shared()?;
        let name = format!("place_{}", NUMBER.fetch_add(1, Ordering::Relaxed));
        cluster.create(&name).await;
        let url = cluster.url(&name);
        Some(Place { store: open(&url).await.unwrap(), url, _ground: Ground::Cluster(cluster) })
    }

    pub async fn execute(&self, sql: &'static str) -> Result<u64, sqlx::Error> {
        if self.url.starts_with("sqlite:") {
            let mut connection = SqliteConnection::connect(&self.url).await?;
            Ok(sqlx::query(sql).execute(&mut connection).await?.rows_affected())
        } else {
            let mut connection = PgConnection::connect(&self.url).await?;
            Ok(sqlx::query(sql).execute(&mut connection).await?.rows_affected())
        }
    }
}

/// A private PostgreSQL server in a temporary folder, reached by a socket there. It stops when its last user drops it.
pub struct Cluster {
    folder: TempDir,
    programs: PathBuf,
    owner: (u32, u32),
    server: Child,
}

static SHARED: Mutex<Weak<Cluster>> = Mutex::new(Weak::new());

impl Cluster {
    /// The cluster that the tests of this process share, started if nobody uses it. `None` as for `alone`.
    pub fn shared() -> Option<Arc<Cluster>> {
        let mut shared = SHARED.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if let Some(cluster) = shared.upgrade() {
            return Some(cluster);
        }
        let cluster = Cluster::alone()?;
        *shared = Arc::downgrade(&cluster);
        Some(cluster)
    }

    /// A cluster for one test.
    ///
    /// If PostgreSQL is not installed, returns `None` if FOGPOST_WITHOUT_SERVERS=1, and panics otherwise.
    pub fn alone() -> Option<Arc<Cluster>> {
        let Some(programs) = programs() else {
            let excused = std::env::var_os("FOGPOST_WITHOUT_SERVERS").is_some_and(|value| value == "1");
            assert!(
                excused,
                "PostgreSQL is not installed; FOGPOST_WITHOUT_SERVERS=1 does without these tests"
            );
            eprintln!("not run: PostgreSQL is not installed");
            return None;
        };
        Some(Arc::new(Cluster::start(programs)))
    }

    fn start(programs: PathBuf) -> Cluster {
        let folder = tempfile::tempdir().unwrap();
        let owner = unprivileged(folder.path());
        chown(folder.path(), Some(owner.0), Some(owner.1)).unwrap();
        let data = folder.path().join("data");
        provide_data(&programs, owner, &data);
        let log = fs::File::create(folder.path().join("log")).unwrap();
        let server = as_owner(&programs.join("postgres"), owner)
            .arg("-D")
            .arg(&data)
            .arg("-k")
            .arg(folder.path())
            .args(["-c", "listen_addresses=", "-c", "max_connections=200"])
            .args(["-c", if std::env::var_os("FOGPOST_FSYNC").is_some() { "fsync=on" } else { "fsync=off" }])
            .current_dir(folder.path())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let cluster = Cluster { folder, programs, owner, server };
        cluster.wait();
        cluster
    }

    fn wait(&self) {
        let started = Instant::now();
        let ask = || {
            let mut ask = Command::new(self.programs.join("pg_isready"));
            ask.arg("-q").arg("-h").arg(self.folder.path()).status().unwrap().success()
        };
        while !ask() {
            let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
            assert!(started.elapsed() < PATIENCE, "PostgreSQL does not start: {log}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Restarts the server, ending all sessions abruptly, as a crash does.
    #[allow(dead_code, reason = "the crash tests alone do this")]
    pub fn restart(&self) {
        let mut restart = as_owner(&self.programs.join("pg_ctl"), self.owner);
        restart.args(["restart", "--silent", "--wait", "--mode=immediate", "--pgdata"]);
        restart
            .arg(self.folder.path().join("data"))
            .arg("--log")
            .arg(self.folder.path().join("restarted.log"));
        assert!(restart.current_dir(self.folder.path()).status().unwrap().success());
    }

    /// Creates a database in the cluster.
    pub async fn create(&self, database: &str) {
        let mut connection = PgConnection::connect(&self.url("postgres")).await.unwrap();
        let sql = AssertSqlSafe(format!("CREATE DATABASE {database}"));
        sqlx::query(sql).execute(&mut connection).await.unwrap();
    }

    pub fn url(&self, database: &str) -> String {
        format!("postgres://fogpost@localhost/{database}?host={}", self.folder.path().display())
    }
}

/// Creates the files of an empty cluster. initdb takes ten times as long as copying them, so the first test keeps a copy
/// for those that follow.
fn provide_data(programs: &Path, owner: (u32, u32), data: &Path) {
    let version = programs.parent().and_then(Path::file_name).unwrap().to_string_lossy();
    let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("postgresql-{version}-of-{}", owner.0));
    if kept.exists() {
        copy(&kept, data);
        return;
    }
    let folder = data.parent().unwrap();
    let mut initdb = as_owner(&programs.join("initdb"), owner);
    initdb.args(["--no-sync", "--auth=trust", "--username=fogpost", "--encoding=UTF8", "--locale=C"]);
    let made = initdb.arg("--pgdata").arg(data).current_dir(folder).output().unwrap();
    assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let whole = place.path().join("data");
    copy(data, &whole);
    // Another test may have made the copy first.
    let _ = fs::rename(&whole, kept);
}

/// Copies a folder, with the owners of its files.
fn copy(from: &Path, to: &Path) {
    assert!(Command::new("cp").arg("-a").args([from, to]).status().unwrap().success());
}

impl Drop for Cluster {
    fn drop(&mut self) {
        let mut stop = as_owner(&self.programs.join("pg_ctl"), self.owner);
        stop.args(["stop", "--silent", "--mode=immediate", "--pgdata"]).arg(self.folder.path().join("data"));
        let stopped = stop.current_dir(self.folder.path()).status();
        if !stopped.is_ok_and(|status| status.success()) {
            // Ignore a failure, because a panic in a destructor may abort the tests.
            let _ = self.server.kill();
        }
        let _ = self.server.wait();
    }
}

/// The folder of the newest installed PostgreSQL's programs, where Debian's packages put it.
fn programs() -> Option<PathBuf> {
    let mut versions: Vec<(u32, PathBuf)> = fs::read_dir("/usr/lib/postgresql")
        .ok()?
        .filter_map(|entry| entry.ok())
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, programs)| programs.join("initdb").exists())
        .collect();
    versions.sort();
    versions.pop().map(|(_, programs)| programs)
}

/// The user and group that run PostgreSQL: those of the tests or, because it refuses to run as root, those of its
/// package.
fn unprivileged(ours: &Path) -> (u32, u32) {
    let own = fs::metadata(ours).unwrap();
    if own.uid() != 0 {
        return (own.uid(), own.gid());
    }
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let fields =
        users.lines().map(|line| line.split(':').collect::<Vec<_>>()).find(|user| user[0] == "postgres");
    let fields = fields.expect("the package of PostgreSQL makes the user postgres");
    (fields[2].parse().unwrap(), fields[3].parse().unwrap())
}

fn as_owner(program: &Path, owner: (u32, u32)) -> Command {
    let mut command = Command::new(program);
    command.uid(owner.0).gid(owner.1);
    command
}
