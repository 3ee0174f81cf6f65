//! A club with one daemon on SQLite, or several on PostgreSQL; each is a process that can be killed at any time.

#[path = "../support/club.rs"]
pub mod support;

use std::fs;
use std::ops::Deref;
use std::process::Command;
use std::sync::Arc;

use crate::place::Cluster;
use crate::servers::{PASSWORD, Servers};

use self::support::Daemon;

/// The ports at which the daemons find their servers, or a proxy.
pub struct Ports {
    pub imap: u16,
    pub smtp: u16,
}

pub struct Club {
    daemons: Vec<Option<Daemon>>,
    club: support::Club,
    pub url: String,
    /// Runs as long as the club.
    pub cluster: Option<Arc<Cluster>>,
}

impl Deref for Club {
    type Target = support::Club;

    fn deref(&self) -> &support::Club {
        &self.club
    }
}

impl Club {
    pub fn on_sqlite(ports: &Ports) -> Club {
        let club = support::Club::new();
        let url = format!("sqlite:{}", club.path("fogpost.db").display());
        Club::on(club, url, None, ports, 1)
    }

    /// A club on the tests' PostgreSQL server, with this many daemons. `None` if PostgreSQL is not installed and
    /// FOGPOST_WITHOUT_SERVERS=1.
    pub fn on_postgres(ports: &Ports, daemons: usize) -> Option<Club> {
        let cluster = Cluster::alone()?;
        let url = cluster.url("postgres");
        Some(Club::on(support::Club::new(), url, Some(cluster), ports, daemons))
    }

    fn on(
        club: support::Club,
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
            [match]
            settle_words = 0
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
        club.configure(&config);
        fs::create_dir(club.path("templates")).expect("a folder");
        Club { daemons: (0..daemons).map(|_| None).collect(), club, url, cluster }
    }

    /// Opens a match of Quad and returns its name.
    pub fn open(&self, first: &str, second: &str) -> String {
        let [first, second] = [first, second].map(|who| format!("{who} <{who}@club.test>"));
        self.club.open("quad", [&first, &second], &[])
    }

    pub fn daemons(&self) -> usize {
        self.daemons.len()
    }

    pub fn start_all(&mut self) {
        (0..self.daemons.len()).for_each(|n| self.start(n));
    }

    pub fn is_running(&mut self, n: usize) -> bool {
        self.daemons[n].as_mut().is_some_and(Daemon::is_running)
    }

    pub fn start(&mut self, n: usize) {
        // With this signal ignored, exceeding the file size limit is an error and does not kill the process.
        let mut command = Command::new("env");
        command
            .arg("--ignore-signal=XFSZ")
            .arg(support::Club::program())
            .arg("run")
            .current_dir(self.folder());
        self.daemons[n] = Some(self.club.spawn(command));
    }

    /// Kills a daemon with SIGKILL.
    pub fn kill(&mut self, n: usize) {
        self.daemons[n] = None;
    }

    /// The process ID of a daemon.
    pub fn pid(&self, n: usize) -> u32 {
        self.daemons[n].as_ref().expect("it runs").pid()
    }
}

/// The ports of the servers themselves.
pub fn direct(servers: &Servers) -> Ports {
    Ports { imap: servers.imap_port, smtp: servers.smtp_port }
}
