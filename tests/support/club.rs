//! A club for tests and benches: a folder with a config and a mailbox, in which the program runs as a separate process.

#![allow(dead_code, reason = "each program uses its own part")]

use std::cell::Cell;
use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use fogpost::config::Config;
use fogpost::daemon::Office;
use fogpost::post::maildir;
use fogpost::post::maildirs::folder_of;
use fogpost::store;
use serde_json::Value;
use tempfile::TempDir;

/// The timeout of every wait. Only a failing test waits this long, so it is generous enough for a busy machine.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// A club on Maildirs.
pub const CONFIG: &str = include_str!("club.toml");

pub struct Club {
    folder: TempDir,
    /// The number of letters written so far.
    letters: Cell<u32>,
}

impl Club {
    /// A club on Maildirs.
    pub fn new() -> Club {
        Club::with(CONFIG)
    }

    /// A folder without a config.
    pub fn empty() -> Club {
        Club { folder: tempfile::tempdir().expect("a folder"), letters: Cell::new(0) }
    }

    /// A club with this config.
    pub fn with(config: &str) -> Club {
        let club = Club::empty();
        club.configure(config);
        maildir::create(&club.mailbox()).expect("the mailbox");
        club
    }

    /// Replaces the config, readable only by its owner.
    pub fn configure(&self, config: &str) {
        let file = self.path("config.toml");
        fs::write(&file, config).expect("the config");
        fs::set_permissions(&file, Permissions::from_mode(0o600)).expect("the config is ours");
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The referee's Maildir.
    pub fn mailbox(&self) -> PathBuf {
        self.path("mail/referee")
    }

    /// Opens the club in this process, with the caller's clock.
    pub async fn office(&self, clock: impl Fn() -> DateTime<Utc> + Send + Sync + 'static) -> Arc<Office> {
        let config = Config::load_with_passwords(&self.path("config.toml")).expect("a sound config");
        let store = store::open(&config.database.url).await.expect("the store opens");
        Arc::new(Office::new(config, store, Arc::new(clock)).expect("the office opens"))
    }

    /// The program under test: this build, unless FOGPOST_BIN names another.
    pub fn program() -> std::ffi::OsString {
        std::env::var_os("FOGPOST_BIN").unwrap_or(env!("CARGO_BIN_EXE_fogpost").into())
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(Club::program());
        command.args(arguments).current_dir(self.folder());
        for variable in ["FOGPOST_CONFIG", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
            command.env_remove(variable);
        }
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("fogpost runs")
    }

    /// Opens a match with options like `quiet_limit=2`, and returns its name.
    #[track_caller]
    pub fn open(&self, game: &str, players: [&str; 2], options: &[&str]) -> String {
        let mut arguments = vec!["match", "new", game, players[0], players[1], "--json"];
        arguments.extend(options.iter().flat_map(|option| ["--option", option]));
        let output = self.run(&arguments);
        match serde_json::from_slice::<Value>(&output.stdout) {
            Ok(opened) => opened["match"].as_str().expect("a name").to_owned(),
            Err(_) => panic!("no match was opened: {}", String::from_utf8_lossy(&output.stderr)),
        }
    }

    pub fn start(&self) -> Daemon {
        self.spawn(self.command(&["run"]))
    }

    /// Starts a daemon with this command, and appends its log to the club's.
    pub fn spawn(&self, mut command: Command) -> Daemon {
        let log = File::options().create(true).append(true).open(self.path("log")).expect("the log");
        Daemon { child: command.stderr(log).spawn().expect("fogpost runs") }
    }

    /// The log of all daemons.
    pub fn log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// The letters and the end of the log, for the message of a failing test.
    pub fn report(&self) -> String {
        let letters = String::from_utf8_lossy(&self.run(&["letters"]).stdout).into_owned();
        let log = self.log();
        let lines = log.lines().filter(|line| !line.contains("sqlx::") && !line.contains(" TRACE "));
        let lines: Vec<_> = lines.collect();
        format!("{letters}\n{}", lines[lines.len().saturating_sub(60)..].join("\n"))
    }

    /// Waits until `condition` holds.
    #[track_caller]
    pub fn wait_for(&self, what: &str, mut condition: impl FnMut() -> bool) {
        let started = Instant::now();
        while !condition() {
            assert!(started.elapsed() < PATIENCE, "waited for {what}\n{}", self.report());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits until the log contains `words`.
    #[track_caller]
    pub fn log_says(&self, words: &str) {
        self.log_says_times(words, 1);
    }

    /// Waits until the log contains `words` this many times.
    #[track_caller]
    pub fn log_says_times(&self, words: &str, times: usize) {
        self.wait_for(words, || self.log().matches(words).count() >= times);
    }

    /// Delivers a letter to the referee's mailbox.
    pub fn write(&self, from: &str, body: &str) {
        let number = self.letters.replace(self.letters.get() + 1);
        let text = format!(
            "From: {from}\nTo: referee@club.example\nSubject: orders\nMessage-ID: <{number}@players.example>\n\n{body}\n"
        );
        maildir::deliver(&self.mailbox(), text.as_bytes()).expect("the letter is delivered");
    }

    /// Waits until an address has received at least `count` letters, and returns all of them.
    #[track_caller]
    pub fn letters_to(&self, address: &str, count: usize) -> String {
        let folder = folder_of(&self.path("mail"), address).join("new");
        self.wait_for(&format!("{count} letters to {address}"), || {
            fs::read_dir(&folder).map(Iterator::count).unwrap_or(0) >= count
        });
        let letters = fs::read_dir(&folder).expect("a mailbox").flatten();
        letters.map(|letter| fs::read_to_string(letter.path()).expect("a letter")).collect()
    }
}

/// A process that runs `fogpost run`, killed when dropped.
pub struct Daemon {
    child: Child,
}

impl Daemon {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    pub fn signal(&self, signal: &str) {
        let pid = self.pid().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill").success());
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("our child").is_none()
    }

    /// Asks the daemon to stop, waits for it, and returns its exit status.
    #[track_caller]
    pub fn stop(mut self, club: &Club) -> Option<i32> {
        self.signal("-TERM");
        club.wait_for("the daemon to stop", || !self.is_running());
        self.child.wait().expect("our child").code()
    }

    /// Ends the daemon by SIGKILL, which it cannot handle.
    pub fn kill(self) {}
}

impl Drop for Daemon {
    fn drop(&mut self) {
        // Ignore errors, because it may have exited already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
