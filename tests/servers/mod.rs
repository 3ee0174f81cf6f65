//! Real mail servers for tests: a private Dovecot and Postfix on free ports, stopped when dropped.
//!
//! Every user name is valid, with the password [`PASSWORD`]. Mail to `name@club.test` and `name+any@club.test` is
//! delivered to that user's INBOX.

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub const PASSWORD: &str = "secret";

/// Longest wait for a server. Only a failing test waits that long.
const PATIENCE: Duration = Duration::from_secs(120);

/// Servers that run until they are dropped.
pub struct Servers {
    // Fields are dropped in order: the servers stop before their folder is deleted.
    running: Vec<Server>,
    folder: TempDir,
    pub imap_port: u16,
    pub imaps_port: u16,
    pub lmtp_port: u16,
    pub smtp_port: u16,
    pub smtps_port: u16,
    auth_port: u16,
}

/// When Dovecot stored a letter, in seconds and microseconds, from the name of its file: `1700000000.M1234P99.host`. The
/// names themselves are in no order, because their digits vary in number.
fn arrival(path: &Path) -> Option<(u64, u64)> {
    let (seconds, rest) = path.file_name()?.to_str()?.split_once(".M")?;
    let microseconds = rest.split(|c: char| !c.is_ascii_digit()).next()?;
    Some((seconds.parse().ok()?, microseconds.parse().ok()?))
}

impl Servers {
    /// Starts Dovecot and Postfix. `None` only if FOGPOST_WITHOUT_SERVERS is set.
    pub fn start() -> Option<Servers> {
        let mut servers = Servers::dovecot()?;
        servers.run("postfix.sh", &[servers.smtp_port, servers.smtps_port]);
        Some(servers)
    }

    /// Starts Dovecot alone, which needs no privileges. `None` only if FOGPOST_WITHOUT_SERVERS is set.
    pub fn dovecot() -> Option<Servers> {
        let folder = folder()?;
        let [imap_port, imaps_port, lmtp_port, smtp_port, smtps_port, auth_port] = free_ports();
        let running = Vec::new();
        let mut servers =
            Servers { running, folder, imap_port, imaps_port, lmtp_port, smtp_port, smtps_port, auth_port };
        servers.run("dovecot.sh", &[imap_port, lmtp_port]);
        Some(servers)
    }

    /// Stops all servers, calls `between`, and starts Dovecot again.
    pub fn restart_dovecot_after(&mut self, between: impl FnOnce()) {
        self.running.clear();
        between();
        self.run("dovecot.sh", &[self.imap_port, self.lmtp_port]);
    }

    /// Starts a script of this folder and waits until all these ports accept connections.
    fn run(&mut self, script: &str, ports: &[u16]) {
        let variables = [
            ("IMAP", self.imap_port),
            ("IMAPS", self.imaps_port),
            ("LMTP", self.lmtp_port),
            ("SMTP", self.smtp_port),
            ("SMTPS", self.smtps_port),
            ("AUTH", self.auth_port),
        ];
        let server = Server::start(script, self.folder.path(), &variables, ports);
        self.running.push(server);
    }

    /// Lets this user log in by this access token, and by no other.
    pub fn accept_token(&self, user: &str, token: &str) {
        let file = self.folder.path().join("tokens");
        fs::write(&file, format!("{user}:{{PLAIN}}{token}\n")).expect("written");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).expect("ours");
        // Dovecot looks at the file once a second, and tells versions apart by whole seconds.
        thread::sleep(Duration::from_secs(2));
    }

    /// The CA certificate of the servers, whose certificates are for `localhost` and `127.0.0.1`.
    pub fn ca_file(&self) -> PathBuf {
        self.folder.path().join("tls/ca.pem")
    }

    /// A user's Maildir; its other folders are named `.NAME`.
    pub fn maildir(&self, user: &str) -> PathBuf {
        self.folder.path().join("mail").join(user).join("Maildir")
    }

    /// The letters in a user's folder (`INBOX`, `Processed`), in order of arrival.
    pub fn letters(&self, user: &str, folder: &str) -> Vec<Vec<u8>> {
        let mut root = self.maildir(user);
        if folder != "INBOX" {
            root = root.join(format!(".{folder}"));
        }
        // Dovecot renames letters when it sees them, so a listing can be out of date before it is read.
        loop {
            let entries =
                ["new", "cur"].iter().filter_map(|part| fs::read_dir(root.join(part)).ok()).flatten();
            let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
            paths.sort_by_key(|path| arrival(path));
            paths.dedup_by_key(|path| arrival(path));
            match paths.iter().map(fs::read).collect() {
                Ok(letters) => return letters,
                Err(error) => assert_eq!(error.kind(), ErrorKind::NotFound, "a letter: {error}"),
            }
        }
    }

    /// Hands a letter to Postfix, which delivers it to the INBOX a little later.
    pub fn deliver(&self, raw: &[u8], from: &str, to: &str) {
        hand_in(self.smtp_port, "EHLO test", raw, from, to);
    }

    /// Delivers a letter by LMTP; it is in the INBOX when this returns.
    pub fn deliver_lmtp(&self, raw: &[u8], to: &str) {
        hand_in(self.lmtp_port, "LHLO test", raw, "test@club.test", to);
    }
}

/// An empty folder for servers. `None` only if FOGPOST_WITHOUT_SERVERS is set.
pub fn folder() -> Option<TempDir> {
    if std::env::var_os("FOGPOST_WITHOUT_SERVERS").is_some_and(|value| value == "1") {
        eprintln!("skipped: this run does without servers");
        return None;
    }
    let folder = tempfile::Builder::new().prefix("fp").tempdir_in("/tmp").expect("a short folder");
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).expect("open to the mail user");
    Some(folder)
}

/// The logs of the servers in a folder.
pub fn logs(folder: &Path) -> String {
    let named = ["openssl.log", "dovecot.log", "postfix/postfix.log", "root/var/spool/exim4/mainlog"];
    let mut files: Vec<PathBuf> = named.iter().map(|name| folder.join(name)).collect();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    files.extend(entries.filter(|path| path.to_string_lossy().ends_with(".sh.log")));
    let shown = |file: &PathBuf| Some(format!("== {}\n{}", file.display(), fs::read_to_string(file).ok()?));
    files.iter().filter_map(shown).collect()
}

/// A script that runs a server until its standard input closes, which happens even if this process is killed.
pub struct Server(Child);

impl Server {
    /// Starts a script of this folder with these variables, and waits until all these ports accept connections.
    pub fn start(script: &str, folder: &Path, variables: &[(&str, u16)], ports: &[u16]) -> Server {
        let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
        let log = fs::File::create(folder.join(format!("{script}.log"))).expect("a log");
        let child = Command::new("bash")
            .arg(tests.join("tests/servers").join(script))
            .arg(folder)
            .env("PROGRAMS", tests.join("target/mail-programs"))
            .envs(variables.iter().map(|(name, port)| (name, port.to_string())))
            .stdin(Stdio::piped())
            .stdout(log.try_clone().expect("the log twice"))
            .stderr(log)
            .spawn()
            .expect("bash");
        let mut server = Server(child);
        let began = Instant::now();
        for port in ports {
            // Connecting is enough: a TLS port sends no greeting.
            while TcpStream::connect(("127.0.0.1", *port)).is_err() {
                let ended = server.0.try_wait().expect("our child");
                if ended.is_some() || began.elapsed() > PATIENCE {
                    panic!(
                        "{script} did not start ({ended:?}); tests/run installs what it needs\n{}",
                        logs(folder)
                    );
                }
                thread::sleep(Duration::from_millis(10));
            }
        }
        server
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Returns free ports below the ephemeral range: an outgoing connection could take one of those before the server
/// listens. Each test starts its search at another port.
pub fn free_ports<const N: usize>() -> [u16; N] {
    static LOOKED_AT: AtomicU32 = AtomicU32::new(0);
    let mut next = || {
        let n = LOOKED_AT.fetch_add(1, Ordering::Relaxed) + std::process::id() * 97;
        u16::try_from(20_000 + n % 10_000).expect("a port")
    };
    let mut free =
        || std::iter::repeat_with(&mut next).find_map(|port| TcpListener::bind(("127.0.0.1", port)).ok());
    let held = [(); N].map(|()| free().expect("a free port"));
    held.map(|listener| listener.local_addr().expect("bound").port())
}

/// Sends a letter by minimal SMTP or LMTP (RFC 5321, RFC 2033), so that the tests do not rely on what they test.
pub fn hand_in(port: u16, hello: &str, raw: &[u8], from: &str, to: &str) {
    let mut tcp = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    tcp.set_nodelay(true).expect("a connection");
    tcp.set_read_timeout(Some(PATIENCE)).expect("a connection");
    let mut answers = BufReader::new(tcp.try_clone().expect("a connection")).lines();
    let mut expect = |code: &str| loop {
        let line = answers.next().expect("an answer").expect("a line");
        assert!(line.starts_with(code), "expected {code}, got {line}");
        if !line[3..].starts_with('-') {
            break;
        }
    };
    expect("220");
    for (command, code) in [
        (hello.to_owned(), "250"),
        (format!("MAIL FROM:<{from}>"), "250"),
        (format!("RCPT TO:<{to}>"), "250"),
        ("DATA".to_owned(), "354"),
    ] {
        tcp.write_all(format!("{command}\r\n").as_bytes()).expect("sent");
        expect(code);
    }
    let mut stuffed = Vec::new();
    for line in raw.split_inclusive(|&b| b == b'\n') {
        if line.starts_with(b".") {
            stuffed.push(b'.');
        }
        stuffed.extend_from_slice(line);
    }
    stuffed.extend_from_slice(if raw.ends_with(b"\r\n") { b".\r\n" } else { b"\r\n.\r\n" });
    tcp.write_all(&stuffed).expect("sent");
    expect("250");
    tcp.write_all(b"QUIT\r\n").expect("sent");
}
