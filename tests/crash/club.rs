//! A club with one daemon on SQLite, or several on PostgreSQL; each is a process that can be killed at any time.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::sync::Arc;

use tempfile::TempDir;

use crate::place::Cluster;
use crate::servers::{PASSWORD, Servers};

/// The ports at which the daemons find their servers, or a proxy.
pub struct Ports {
    pub imap: u16,
    pub smtp: u16,
}

pub struct Club {
    folder: TempDir,
    pub url: String,
    daemons: Vec<Option<Child>>,
    /// Runs as long as the club.
    pub cluster: Option<Arc<Cluster>>,
}

impl Club {
    pub fn on_sqlite(ports: &Ports) -> Club {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite:{}", folder.path().join("fogpost.db").display());
        Club::on(folder, url, None, ports, 1)
    }

    /// A club on the tests' PostgreSQL server, with this many daemons. `None` if PostgreSQL is not installed and
    /// FOGPOST_WITHOUT_SERVERS=1.
    pub fn on_postgres(ports: &Ports, daemons: usize) -> Option<Club> {
        let cluster = Cluster::shared()?;
        let folder = tempfile::tempdir().expect("a folder");
        let url = cluster.url("postgres");
        Some(Club::on(folder, url, Some(cluster), ports, daemons))
    }

    fn on(
        folder: TempDir,
        url: String,
        cluster: Option<Arc<Cluster>>,
        ports: &Ports,
        daemons: usize,
    ) -> Club {
        let config = format!(
            r#"
            [club]
            name = "The Club"
            address = "referee@club.test"
            plus_addresses = true
            [club.gm]
            name = "The GM"
            address = "gm@club.test"
            [database]
            url = "{url}"
            [letters]
            answers_per_hour = 100000
            [templates]
            folder = "templates"
            [inbox.imap]
            host = "127.0.0.1"
            port = {imap}
            tls = "none"
            user = "referee"
            password = "{PASSWORD}"
            timeout_seconds = 5
            idle_seconds = 5
            [outbox.smtp]
            host = "127.0.0.1"
            port = {smtp}
            tls = "none"
            timeout_seconds = 2
            "#,
            imap = ports.imap,
            smtp = ports.smtp,
        );
        let club = Club { folder, url, daemons: (0..daemons).map(|_| None).collect(), cluster };
        fs::create_dir(club.path("templates")).expect("a folder");
        fs::write(club.path("config.toml"), config).expect("the config");
        club
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        // With this signal ignored, exceeding the file size limit is an error and does not kill the process.
        let mut command = Command::new("env");
        let program = std::env::var_os("FOGPOST_BIN").unwrap_or(env!("CARGO_BIN_EXE_fogpost").into());
        command.arg("--ignore-signal=XFSZ").arg(program);
        command.arg("--config").arg(self.path("config.toml")).args(arguments);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("fogpost runs")
    }

    /// Opens a match of Quad and returns its name.
    pub fn open(&self, first: &str, second: &str) -> String {
        let seated = |who: &str| format!("{who} <{who}@club.test>");
        let out = self.run(&["match", "new", "quad", &seated(first), &seated(second), "--json"]);
        let said = String::from_utf8_lossy(&out.stdout).into_owned();
        let opened: serde_json::Value = serde_json::from_str(&said)
            .unwrap_or_else(|_| panic!("no match: {said}{}", String::from_utf8_lossy(&out.stderr)));
        opened["match"].as_str().expect("a name").to_owned()
    }

    pub fn daemons(&self) -> usize {
        self.daemons.len()
    }

    pub fn start_all(&mut self) {
        (0..self.daemons.len()).for_each(|n| self.start(n));
    }

    pub fn is_running(&mut self, n: usize) -> bool {
        self.daemons[n].as_mut().is_some_and(|daemon| daemon.try_wait().expect("our child").is_none())
    }

    pub fn start(&mut self, n: usize) {
        let log = File::options().create(true).append(true).open(self.path("log")).expect("the log");
        self.daemons[n] = Some(self.command(&["run"]).stderr(log).spawn().expect("fogpost runs"));
    }

    /// Kills a daemon with SIGKILL.
    pub fn kill(&mut self, n: usize) {
        if let Some(mut daemon) = self.daemons[n].take() {
            daemon.kill().expect("our child");
            daemon.wait().expect("our child");
        }
    }

    /// The process ID of a daemon.
    pub fn pid(&self, n: usize) -> u32 {
        self.daemons[n].as_ref().expect("it runs").id()
    }

    /// The log of all daemons.
    pub fn whole_log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// The last lines of the log, for a test that fails.
    pub fn log(&self) -> String {
        let log = self.whole_log();
        let lines: Vec<&str> = log.lines().collect();
        lines[lines.len().saturating_sub(60)..].join("\n")
    }
}

impl Drop for Club {
    fn drop(&mut self) {
        (0..self.daemons.len()).for_each(|n| self.kill(n));
    }
}

/// The ports of the servers themselves.
pub fn direct(servers: &Servers) -> Ports {
    Ports { imap: servers.imap_port, smtp: servers.smtp_port }
}
