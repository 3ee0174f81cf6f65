//! The daemon as a service of its machine: how it is asked, stopped, told of a new config, and what it tells others.
//! The real program, with Maildirs.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::path::PathBuf;
use std::process::{Child, Command, Output};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

/// How long something may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);

/// A daemon ends within this time of being asked to.
const SECONDS: Duration = Duration::from_secs(10);

/// A club on Maildirs in its own folder.
const CONFIG: &str = include_str!("tools/club.toml");

/// A club in a folder of its own.
struct Club {
    folder: TempDir,
    letters: Cell<u32>,
}

impl Club {
    /// With further lines of config.
    fn new(more: &str) -> Club {
        let club = Club { folder: tempfile::tempdir().expect("a folder"), letters: Cell::new(0) };
        club.configure(more);
        for part in ["cur", "new", "tmp"] {
            fs::create_dir_all(club.path("mail/referee").join(part)).expect("the mailbox");
        }
        club
    }

    fn configure(&self, more: &str) {
        fs::write(self.path("config.toml"), format!("{CONFIG}{more}")).expect("the config");
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fogpost"));
        command.args(arguments).current_dir(self.folder.path());
        for variable in ["FOGPOST_CONFIG", "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] {
            command.env_remove(variable);
        }
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("fogpost runs")
    }

    fn status(&self) -> (Option<i32>, Value) {
        let output = self.run(&["status", "--json"]);
        (output.status.code(), serde_json::from_slice(&output.stdout).expect("JSON"))
    }

    fn open_match(&self) -> String {
        let out =
            self.run(&["match", "new", "quad", "Ann <ann@players.example>", "bo@players.example", "--json"]);
        let found: Value = serde_json::from_slice(&out.stdout).expect("the match is open");
        found["match"].as_str().expect("a name").to_owned()
    }

    fn start(&self) -> Daemon<'_> {
        self.start_with(&[], |_| {})
    }

    fn start_with(&self, arguments: &[&str], with: impl FnOnce(&mut Command)) -> Daemon<'_> {
        let log = File::create(self.path("log")).expect("the log");
        let mut command = self.command(&[&["run"], arguments].concat());
        with(&mut command);
        Daemon { club: self, child: command.stderr(log).spawn().expect("fogpost runs") }
    }

    fn log(&self) -> String {
        fs::read_to_string(self.path("log")).expect("the log")
    }

    /// Lays a letter into the referee's mailbox.
    fn write(&self, from: &str, body: &str) {
        self.letters.set(self.letters.get() + 1);
        let name = format!("{}.club", self.letters.get());
        let text = format!(
            "From: {from}\nTo: referee@club.example\nSubject: orders\nMessage-ID: <{name}@players.example>\n\n{body}\n"
        );
        let mailbox = self.path("mail/referee");
        fs::write(mailbox.join("tmp").join(&name), text).expect("a letter");
        fs::rename(mailbox.join("tmp").join(&name), mailbox.join("new").join(&name)).expect("delivered");
    }

    /// Waits until somebody has so many letters; all of them.
    fn letters_to(&self, address: &str, count: usize) -> String {
        let folder = self.path("mail").join(address).join("new");
        self.wait(&format!("{count} letters to {address}"), || {
            let found = fs::read_dir(&folder).map(Iterator::count).unwrap_or(0);
            found >= count
        });
        let letters = fs::read_dir(&folder).expect("a mailbox").flatten();
        letters.map(|letter| fs::read_to_string(letter.path()).expect("a letter")).collect()
    }

    #[track_caller]
    fn wait(&self, what: &str, mut come: impl FnMut() -> bool) {
        let began = Instant::now();
        while !come() {
            if began.elapsed() > PATIENCE {
                let log = self.log();
                let end: Vec<_> = log.lines().filter(|line| !line.contains("sqlx::")).collect();
                let letters = String::from_utf8(self.run(&["letters"]).stdout).expect("text");
                panic!("waited for {what}\n{letters}\n{}", end[end.len().saturating_sub(40)..].join("\n"));
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    #[track_caller]
    fn log_says(&self, words: &str) {
        self.wait(words, || self.log().contains(words));
    }
}

struct Daemon<'a> {
    club: &'a Club,
    child: Child,
}

impl Daemon<'_> {
    fn signal(&self, signal: &str) {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill").success());
    }

    /// Waits until it has noted that it reads the mailbox.
    fn works(self) -> Self {
        self.club.log_says("the mailbox is open");
        self
    }

    /// Asks it to stop; its exit status.
    fn stop(mut self) -> Option<i32> {
        let began = Instant::now();
        self.signal("-TERM");
        loop {
            if let Some(ended) = self.child.try_wait().expect("our child") {
                return ended.code();
            }
            assert!(began.elapsed() < SECONDS, "it does not stop\n{}", self.club.log());
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Daemon<'_> {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port()
}

/// The plainest HTTP: status line and body.
fn get(port: u16, path: &str) -> Option<(String, String)> {
    let mut tcp = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(tcp, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").expect("sent");
    let mut answer = String::new();
    tcp.read_to_string(&mut answer).expect("an answer");
    let (head, body) = answer.split_once("\r\n\r\n").expect("a head and a body");
    Some((head.lines().next().expect("a status line").to_owned(), body.to_owned()))
}

#[test]
fn status_tells_what_waits_who_works_and_by_its_exit_whether_something_is_wrong() {
    let club = Club::new("");
    club.open_match();
    let (code, status) = club.status();
    assert_eq!(code, Some(1), "nobody works");
    assert_eq!((&status["matches_running"], &status["dispatches_waiting"]), (&1.into(), &2.into()));
    assert!(status["faults"][0].as_str().expect("a line").contains("no daemon has ever worked"));
    let daemon = club.start().works();
    club.wait("what it notes", || {
        let (code, status) = club.status();
        code == Some(0) && status["dispatches_waiting"] == 0 && status["daemons_working"] == 1
    });
    let text = String::from_utf8(club.run(&["status"]).stdout).expect("text");
    for words in ["matches       1 running", "clock         on time", &format!("pid {}", daemon.child.id())] {
        assert!(text.contains(words), "{words} is not in:\n{text}");
    }
    assert!(!text.contains('@') && !text.contains("WRONG"), "{text}");
    let moved = club.run(&["db", "move", "sqlite:fogpost.db", "sqlite:new.db"]);
    let said = String::from_utf8(moved.stderr).expect("text");
    assert!(moved.status.code() == Some(1) && said.contains(&format!("pid {}", daemon.child.id())), "{said}");
    assert_eq!(daemon.stop(), Some(0));
    let (code, status) = club.status();
    assert_eq!((code, &status["daemons"][0]["ended"]), (Some(1), &true.into()));
    assert!(status["last_fetch"].is_string() && status["last_send"].is_string(), "{status}");
}

#[test]
fn run_once_is_a_heartbeat_as_well() {
    let club = Club::new("");
    assert!(club.run(&["run", "--once"]).status.success());
    assert_eq!(club.status().0, Some(0));
}

#[test]
fn monitors_are_answered_where_the_config_says_and_nowhere_else() {
    let port = free_port();
    let club = Club::new(&format!("[status]\nlisten = \"127.0.0.1:{port}\"\n"));
    club.open_match();
    let daemon = club.start().works();
    club.wait("a healthy answer", || get(port, "/health").is_some_and(|(line, _)| line == "HTTP/1.1 200 OK"));
    let (line, metrics) = get(port, "/metrics").expect("an answer");
    assert_eq!(line, "HTTP/1.1 200 OK");
    for words in
        ["fogpost_matches_running 1\n", "fogpost_faults 0\n", "# TYPE fogpost_letters_waiting gauge\n"]
    {
        assert!(metrics.contains(words), "{words} is not in:\n{metrics}");
    }
    assert!(!metrics.contains('@') && !metrics.contains("Ann"), "{metrics}");
    assert_eq!(get(port, "/").expect("an answer").0, "HTTP/1.1 404 Not Found");
    // A second daemon elsewhere cannot have the same place.
    let other = Club::new(&format!("[status]\nlisten = \"127.0.0.1:{port}\"\n"));
    let refused = other.run(&["run"]);
    let said = String::from_utf8(refused.stderr).expect("text");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        said.contains(&format!("fogpost: status.listen 127.0.0.1:{port}: Address already in use")),
        "{said}"
    );
    // The config is read again without the page.
    club.configure("");
    daemon.signal("-HUP");
    club.wait("the page to go", || get(port, "/health").is_none());
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn sighup_puts_a_new_config_in_force_and_refuses_one_at_fault() {
    let club = Club::new("");
    let id = club.open_match();
    let daemon = club.start().works();
    club.letters_to("ann@players.example", 1);
    club.configure("[letters]\nanswers_per_hour = many\n");
    daemon.signal("-HUP");
    club.log_says("the config is refused; the one before stays in force");
    let log = club.log();
    assert!(log.contains("config.toml, line 12: `answers_per_hour`"), "{log}");
    assert!(!log.contains("the config is in force"), "{log}");
    // A template at fault is refused as well.
    fs::create_dir(club.path("own")).expect("a folder");
    fs::write(club.path("own/help.txt"), "Subject: x\n\n{{ nothing.of.the.kind }}\n").expect("a template");
    club.configure("[templates]\nfolder = \"own\"\n");
    daemon.signal("-HUP");
    club.log_says("help.txt");
    // Sound again: a new template, a new sender, and what cannot change is told.
    fs::write(club.path("own/help.txt"), "Subject: x\n\nHelp yourself.\n").expect("a template");
    let config = format!("{CONFIG}[templates]\nfolder = \"own\"\n[log]\njson = true\nfilter = \"debug\"\n");
    fs::write(club.path("config.toml"), config.replace("referee@", "judge@")).expect("the config");
    daemon.signal("-HUP");
    club.log_says("the config is in force as it is now");
    assert!(club.log().contains("this change takes a restart"), "{}", club.log());
    assert!(club.log().contains("log.json"), "{}", club.log());
    club.write("cy@players.example", "HELP");
    let letters = club.letters_to("cy@players.example", 1);
    assert!(letters.contains("Help yourself.") && letters.contains("judge@club.example"), "{letters}");
    club.log_says("DEBUG");
    assert!(club.run(&["match", "show", &id]).status.success());
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn systemd_is_told_when_it_is_ready_alive_reloading_and_stopping() {
    let club = Club::new("");
    let path = club.path("notify");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let hears = |wanted: &str| {
        let mut heard = Vec::new();
        loop {
            let mut bytes = [0; 4096];
            let count =
                socket.recv(&mut bytes).unwrap_or_else(|_| panic!("{wanted} was not said, but {heard:?}"));
            let said = String::from_utf8_lossy(&bytes[..count]).into_owned();
            if said.lines().any(|line| line == wanted) {
                return;
            }
            heard.push(said);
        }
    };
    let daemon = club.start_with(&[], |command| {
        command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "6000000");
    });
    hears("READY=1");
    hears("WATCHDOG=1");
    hears("WATCHDOG=1");
    let daemon = daemon.works();
    daemon.signal("-HUP");
    hears("RELOADING=1");
    hears("READY=1");
    hears("WATCHDOG=1");
    daemon.signal("-TERM");
    hears("STOPPING=1");
    assert_eq!(daemon.stop(), Some(0));
}

#[test]
fn the_log_tells_what_was_found_at_the_start_and_that_it_stopped() {
    let club = Club::new("");
    club.open_match();
    let daemon = club.start().works();
    club.letters_to("ann@players.example", 1);
    assert_eq!(daemon.stop(), Some(0));
    let log = club.log();
    let told = [
        "fogpost begins",
        "version=\"0.",
        "SQLite 3.",
        "matches_running=1",
        "dispatches_unsent=2",
        "stopping",
    ];
    for words in told {
        assert!(log.contains(words), "{words} is not in:\n{log}");
    }
    assert!(log.trim_end().ends_with("stopped"), "{log}");
    assert!(!log.contains('\u{1b}'), "colours are for terminals: {log}");
}

#[test]
fn the_log_is_json_by_a_switch() {
    let club = Club::new("");
    let daemon = club.start_with(&["--log", "json"], |_| {}).works();
    assert_eq!(daemon.stop(), Some(0));
    let log = club.log();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let begins = &lines[0]["fields"];
    assert_eq!(begins["message"], "the tables were brought up to date", "{log}");
    assert!(lines.iter().any(|line| line["fields"]["message"] == "fogpost begins"), "{log}");
}

#[test]
fn at_its_loudest_the_log_holds_no_address_token_order_or_name() {
    let club = Club::new("[log]\nfilter = \"trace\"\n");
    club.open_match();
    let daemon = club.start().works();
    let token_in = |letters: &str| {
        let line = letters.lines().find_map(|line| line.strip_prefix("Reply token: ")).expect("a token");
        line.trim().to_owned()
    };
    let (to_ann, to_bo) =
        (club.letters_to("ann@players.example", 1), club.letters_to("bo@players.example", 1));
    let (ann, bo) = (token_in(&to_ann), token_in(&to_bo));
    club.write("Ann <ann@players.example>", &format!("MARBLE E5\n\nReply token: {ann}"));
    club.letters_to("ann@players.example", 2);
    club.write("bo@players.example", &format!("MARBLE E5\n\nReply token: {bo}"));
    club.letters_to("bo@players.example", 3);
    club.write("bo@players.example", &format!("MARBLE A5\nSAY good luck\n\nReply token: {bo}"));
    club.letters_to("bo@players.example", 4);
    club.write("mallory@elsewhere.example", &format!("MARBLE Q5\n\nReply token: {ann}"));
    club.write("gm@club.example", "GM LIST");
    let gm = club.run(&["club", "gm-token"]);
    let gm_token = String::from_utf8_lossy(&gm.stdout).into_owned();
    // Nobody can be written to any more: that is told as well.
    fs::remove_dir_all(club.path("mail/ann@players.example")).expect("gone");
    fs::write(club.path("mail/ann@players.example"), "").expect("in the way");
    club.write("Ann <ann@players.example>", &format!("STATUS\n\nReply token: {ann}"));
    club.log_says("not sent yet");
    assert_eq!(daemon.stop(), Some(0));
    let log = club.log();
    assert!(log.contains("DEBUG sqlx") && log.contains("ruled on a letter"), "it was loud");
    let words =
        gm_token.split_whitespace().filter(|word| word.len() > 8 && word.chars().any(|c| c.is_ascii_digit()));
    let secrets = [&ann[..], &bo, "MARBLE", "good luck", "@players", "@club", "@elsewhere", "Ann", "mallory"];
    for secret in words.chain(secrets) {
        let told: Vec<_> = log.lines().filter(|line| line.contains(secret)).take(3).collect();
        assert!(told.is_empty(), "{secret:?} is told in {told:#?}");
    }
}

#[test]
fn a_mail_server_that_says_nothing_does_not_keep_it_from_stopping() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let club = Club::new("");
    let smtp = format!("[outbox.smtp]\nhost = \"127.0.0.1\"\nport = {port}\ntls = \"none\"\n");
    let config = CONFIG.replace("[outbox.maildir]\npath = \"mail\"\n", &smtp);
    fs::write(club.path("config.toml"), config).expect("the config");
    club.open_match();
    let daemon = club.start().works();
    let _connection = listener.accept().expect("it tries to send");
    assert_eq!(daemon.stop(), Some(0));
    assert!(club.log().contains("work in hand was let go and rolled back"), "{}", club.log());
    let (_, status) = club.status();
    assert_eq!((&status["dispatches_waiting"], &status["dispatches_given_up"]), (&2.into(), &0.into()));
}

#[test]
fn a_fault_that_lasts_is_told_once() {
    let club = Club::new("");
    fs::remove_dir_all(club.path("mail/referee")).expect("gone");
    let daemon = club.start();
    club.log_says("the mailbox cannot be read; trying again");
    thread::sleep(Duration::from_secs(3)); // It has tried again by now.
    for part in ["cur", "new", "tmp"] {
        fs::create_dir_all(club.path("mail/referee").join(part)).expect("the mailbox");
    }
    club.log_says("the mailbox can be read again");
    assert_eq!(daemon.stop(), Some(0));
    let log = club.log();
    assert_eq!(log.matches("cannot be read").count(), 1, "{log}");
}

#[test]
fn the_unit_for_systemd_is_understood_and_confined() {
    let unit = fs::read_to_string("deploy/fogpost.service").expect("the unit");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fogpost.service");
    fs::write(&path, unit.replace("/usr/local/bin/fogpost", env!("CARGO_BIN_EXE_fogpost"))).expect("a copy");
    let analyze = |arguments: &[&str]| Command::new("systemd-analyze").args(arguments).arg(&path).output();
    let Ok(verified) = analyze(&["verify", "--man=no"]) else {
        eprintln!("not run: systemd is not installed");
        return;
    };
    let said = String::from_utf8_lossy(&verified.stderr).into_owned();
    assert!(verified.status.success() && !said.contains("fogpost.service"), "{said}");
    let confined = analyze(&["security", "--offline=true", "--threshold=15"]).expect("as before");
    let said = String::from_utf8_lossy(&confined.stdout).into_owned();
    assert!(confined.status.success(), "{said}");
}
