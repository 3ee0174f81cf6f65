//! The daemon as a system service: status, signals, reloading, systemd and the log. Runs the real program on Maildirs.

use chrono::Utc;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixDatagram;
use std::process::Command;

use fogpost::post::maildir;
use serde_json::Value;

use crate::club::{CONFIG, Club, Daemon, PATIENCE};

/// Returns the exit status of `fogpost status` and what it prints.
fn status_of(club: &Club) -> (Option<i32>, Value) {
    let output = club.run(&["status", "--json"]);
    (output.status.code(), serde_json::from_slice(&output.stdout).expect("JSON"))
}

fn open_match(club: &Club) -> String {
    club.open("quad", ["Ann <ann@players.example>", "bo@players.example"], &[])
}

/// Starts a daemon and waits until it reads the mailbox.
fn start(club: &Club) -> Daemon {
    start_by(club, club.command(&["run"]))
}

fn start_by(club: &Club, command: Command) -> Daemon {
    let daemon = club.spawn(command);
    club.log_says("mailbox opened");
    daemon
}

/// The first reply token in letters.
fn token_in(letters: &str) -> String {
    let line = letters.lines().find_map(|line| line.strip_prefix("Reply token: ")).expect("a token");
    line.trim().to_owned()
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port()
}

/// Sends a minimal HTTP request and returns the status line and the body; `None` if nobody listens, or no longer.
pub fn get(port: u16, path: &str) -> Option<(String, String)> {
    let mut tcp = TcpStream::connect(("127.0.0.1", port)).ok()?;
    write!(tcp, "GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n").ok()?;
    let mut answer = String::new();
    tcp.read_to_string(&mut answer).ok()?;
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.lines().next().expect("a status line").to_owned(), body.to_owned()))
}

#[test]
fn status_shows_queues_and_daemons_and_fails_if_something_is_wrong() {
    let club = Club::new();
    open_match(&club);
    let (code, status) = status_of(&club);
    assert_eq!(code, Some(1), "no daemon runs");
    assert_eq!((&status["matches_running"], &status["dispatches_waiting"]), (&1.into(), &2.into()));
    assert!(status["faults"][0].as_str().expect("a line").contains("no daemon has ever run"));
    let daemon = start(&club);
    club.wait_for("the first heartbeat", || {
        let (code, status) = status_of(&club);
        code == Some(0) && status["dispatches_waiting"] == 0 && status["daemons_working"] == 1
    });
    let text = String::from_utf8(club.run(&["status"]).stdout).expect("text");
    for words in ["matches       1 running", "clock         on time", &format!("pid {}", daemon.pid())] {
        assert!(text.contains(words), "{words} is not in:\n{text}");
    }
    assert!(!text.contains('@') && !text.contains("WRONG"), "{text}");
    let moved = club.run(&["db", "move", "sqlite:fogpost.db", "sqlite:new.db"]);
    let said = String::from_utf8(moved.stderr).expect("text");
    assert!(moved.status.code() == Some(1) && said.contains(&format!("pid {}", daemon.pid())), "{said}");
    assert_eq!(daemon.stop(&club), Some(0));
    let (code, status) = status_of(&club);
    assert_eq!((code, &status["daemons"][0]["ended"]), (Some(1), &true.into()));
    assert!(status["last_fetch"].is_string() && status["last_send"].is_string(), "{status}");
}

#[test]
fn run_once_records_a_heartbeat() {
    let club = Club::new();
    assert!(club.run(&["run", "--once"]).status.success());
    assert_eq!(status_of(&club).0, Some(0));
}

#[test]
fn monitoring_pages_are_served_at_the_configured_address_only() {
    let port = free_port();
    let club = Club::with(&format!("{CONFIG}[status]\nlisten = \"127.0.0.1:{port}\"\n"));
    open_match(&club);
    let daemon = start(&club);
    club.wait_for("a healthy answer", || {
        get(port, "/health").is_some_and(|(line, _)| line == "HTTP/1.1 200 OK")
    });
    let (line, metrics) = get(port, "/metrics").expect("an answer");
    assert_eq!(line, "HTTP/1.1 200 OK");
    for words in
        ["fogpost_matches_running 1\n", "fogpost_faults 0\n", "# TYPE fogpost_letters_waiting gauge\n"]
    {
        assert!(metrics.contains(words), "{words} is not in:\n{metrics}");
    }
    assert!(!metrics.contains('@') && !metrics.contains("Ann"), "{metrics}");
    assert_eq!(get(port, "/").expect("an answer").0, "HTTP/1.1 404 Not Found");
    // Another club's daemon cannot listen on the same address.
    let other = Club::with(&format!("{CONFIG}[status]\nlisten = \"127.0.0.1:{port}\"\n"));
    let refused = other.run(&["run"]);
    let said = String::from_utf8(refused.stderr).expect("text");
    assert_eq!(refused.status.code(), Some(1));
    assert!(
        said.contains(&format!("fogpost: status.listen 127.0.0.1:{port}: Address already in use")),
        "{said}"
    );
    // Reloading can remove the pages.
    club.configure(CONFIG);
    daemon.signal("-HUP");
    club.wait_for("the page to disappear", || get(port, "/health").is_none());
    assert_eq!(daemon.stop(&club), Some(0));
}

/// The tokens of a login that the provider has ended or not, as a daemon writes them.
fn tokens(ended_at: Option<&str>) -> String {
    let access = serde_json::json!({ "token": "access-1", "renew_at": "2999-01-01T00:00:00Z" });
    let at = Utc::now();
    serde_json::json!({
        "refresh": "refresh-1", "access": access, "logged_in_at": at, "renewed_at": at, "ended_at": ended_at,
    })
    .to_string()
}

#[test]
fn a_login_that_has_ended_is_shown_at_once_and_until_a_person_has_logged_in() {
    let port = free_port();
    let smtp = "[outbox.smtp]\nhost = \"127.0.0.1\"\nuser = \"gm\"\ntls = \"none\"\nport = 1\n\
                [outbox.smtp.oauth]\nprovider = \"microsoft\"\nclient_id = \"x\"\n";
    let config = CONFIG.replace("[outbox.maildir]\npath = \"mail\"\n", smtp);
    let club = Club::with(&config);
    let daemon = start(&club);
    // The pages come with a reload, and show the logins of the config in force.
    club.configure(&format!("{config}[status]\nlisten = \"127.0.0.1:{port}\"\n"));
    daemon.signal("-HUP");
    let health = || get(port, "/health").unwrap_or_default();
    let in_three_cases = [
        (None, "nobody has logged in to the mailbox yet; run: fogpost login"),
        (
            Some(tokens(Some("2026-11-22T13:00:00Z"))),
            "the provider has ended the login to the mailbox; run: fogpost login",
        ),
        (Some("{".to_owned()), "is damaged; run: fogpost login"),
    ];
    for (text, fault) in in_three_cases {
        if let Some(text) = text {
            fs::write(club.path("oauth.token"), text).expect("written");
        }
        club.wait_for(fault, || health().1.contains(fault));
        assert_eq!(health().0, "HTTP/1.1 503 Service Unavailable");
        let (_, metrics) = get(port, "/metrics").expect("an answer");
        assert!(metrics.contains("fogpost_logins_broken 1\n"), "{metrics}");
        let (code, status) = status_of(&club);
        assert_eq!((code, &status["logins_broken"]), (Some(1), &1.into()));
        let faults = status["faults"].as_array().expect("a list").clone();
        assert!(faults.iter().any(|line| line.as_str().expect("a line").contains(fault)), "{faults:?}");
    }
    fs::write(club.path("oauth.token"), tokens(None)).expect("written");
    club.wait_for("a healthy answer", || health().0 == "HTTP/1.1 200 OK");
    assert_eq!(daemon.stop(&club), Some(0));
}

#[test]
fn sighup_loads_a_new_config_and_rejects_a_faulty_one() {
    let club = Club::new();
    let id = open_match(&club);
    let daemon = start(&club);
    club.letters_to("ann@players.example", 1);
    club.configure(&format!("{CONFIG}[letters]\nanswers_per_hour = many\n"));
    daemon.signal("-HUP");
    club.log_says("config rejected; the current one stays in force");
    let log = club.log();
    assert!(log.contains("config.toml, line 12: `answers_per_hour`"), "{log}");
    assert!(!log.contains("configuration reloaded"), "{log}");
    // A faulty template is rejected too.
    fs::create_dir_all(club.path("own/help")).expect("a folder");
    fs::write(club.path("own/help/overview.txt"), "Subject: x\n\n{{ nothing.of.the.kind }}\n")
        .expect("a template");
    club.configure(&format!("{CONFIG}[templates]\nfolder = \"own\"\n"));
    daemon.signal("-HUP");
    club.log_says("help/overview.txt");
    // A sound config again, with a new template, a new sender and a change that needs a restart.
    fs::write(club.path("own/help/overview.txt"), "Subject: x\n\nHelp yourself.\n").expect("a template");
    let config = format!("{CONFIG}[templates]\nfolder = \"own\"\n[log]\njson = true\nfilter = \"debug\"\n");
    club.configure(&config.replace("referee@", "judge@"));
    daemon.signal("-HUP");
    club.log_says("configuration reloaded");
    assert!(club.log().contains("this change requires a restart"), "{}", club.log());
    assert!(club.log().contains("log.json"), "{}", club.log());
    club.write("cy@players.example", "HELP");
    let letters = club.letters_to("cy@players.example", 1);
    assert!(letters.contains("Help yourself.") && letters.contains("judge@club.example"), "{letters}");
    club.log_says("DEBUG");
    assert!(club.run(&["match", "show", &id]).status.success());
    assert_eq!(daemon.stop(&club), Some(0));
}

#[test]
fn systemd_is_notified_of_readiness_life_reloads_and_the_stop() {
    let club = Club::new();
    let path = club.path("notify");
    let socket = UnixDatagram::bind(&path).expect("a socket");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let hears = |wanted: &str| {
        let mut heard = Vec::new();
        loop {
            let mut bytes = [0; 4096];
            let count =
                socket.recv(&mut bytes).unwrap_or_else(|_| panic!("{wanted} did not come, only {heard:?}"));
            let said = String::from_utf8_lossy(&bytes[..count]).into_owned();
            if said.lines().any(|line| line == wanted) {
                return;
            }
            heard.push(said);
        }
    };
    let mut command = club.command(&["run"]);
    command.env("NOTIFY_SOCKET", &path).env("WATCHDOG_USEC", "6000000");
    let daemon = club.spawn(command);
    hears("READY=1");
    hears("WATCHDOG=1");
    hears("WATCHDOG=1");
    club.log_says("mailbox opened");
    daemon.signal("-HUP");
    hears("RELOADING=1");
    hears("READY=1");
    hears("WATCHDOG=1");
    daemon.signal("-TERM");
    hears("STOPPING=1");
    assert_eq!(daemon.stop(&club), Some(0));
}

#[test]
fn the_log_describes_the_start_and_the_stop() {
    let club = Club::new();
    open_match(&club);
    let daemon = start(&club);
    club.letters_to("ann@players.example", 1);
    assert_eq!(daemon.stop(&club), Some(0));
    let log = club.log();
    let expected = [
        "fogpost started",
        "version=\"0.",
        "SQLite 3.",
        "matches_running=1",
        "dispatches_unsent=2",
        "stopping",
    ];
    for words in expected {
        assert!(log.contains(words), "{words} is not in:\n{log}");
    }
    assert!(log.trim_end().ends_with("stopped"), "{log}");
    assert!(!log.contains('\u{1b}'), "colours in a log that is no terminal: {log}");
}

#[test]
fn the_log_can_be_json() {
    let club = Club::new();
    let daemon = start_by(&club, club.command(&["run", "--log", "json"]));
    assert_eq!(daemon.stop(&club), Some(0));
    let log = club.log();
    let lines: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let first = &lines[0]["fields"];
    assert_eq!(first["message"], "database migrated", "{log}");
    assert!(lines.iter().any(|line| line["fields"]["message"] == "fogpost started"), "{log}");
}

#[test]
fn even_at_trace_level_the_log_contains_no_address_token_order_or_name() {
    let club = Club::with(&format!("{CONFIG}[log]\nfilter = \"trace\"\n"));
    open_match(&club);
    let daemon = start(&club);
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
    // A failed delivery is logged as well.
    let mailbox = club.path("mail/ann@players.example");
    // The daemon may deliver a letter meanwhile, which makes the folder again.
    while fs::write(&mailbox, "").is_err() {
        let _ = fs::remove_dir_all(&mailbox);
    }
    club.write("Ann <ann@players.example>", &format!("STATUS\n\nReply token: {ann}"));
    club.log_says("not sent yet");
    assert_eq!(daemon.stop(&club), Some(0));
    // The kind of an entry in a statement is no name.
    let log = club.log().replace("MatchAnnulled", "");
    assert!(log.contains("DEBUG sqlx") && log.contains("ruled on a match"), "the log is at trace level");
    let words =
        gm_token.split_whitespace().filter(|word| word.len() > 8 && word.chars().any(|c| c.is_ascii_digit()));
    let secrets = [&ann[..], &bo, "MARBLE", "good luck", "@players", "@club", "@elsewhere", "Ann", "mallory"];
    for secret in words.chain(secrets) {
        let told: Vec<_> = log.lines().filter(|line| line.contains(secret)).take(3).collect();
        assert!(told.is_empty(), "{secret:?} is in {told:#?}");
    }
}

#[test]
fn a_silent_mail_server_does_not_prevent_a_stop() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("bound").port();
    let smtp = format!("[outbox.smtp]\nhost = \"127.0.0.1\"\nport = {port}\ntls = \"none\"\n");
    let config = CONFIG.replace("[outbox.maildir]\npath = \"mail\"\n", &smtp);
    let club = Club::with(&config);
    open_match(&club);
    let daemon = start(&club);
    let _connection = listener.accept().expect("the daemon connects");
    assert_eq!(daemon.stop(&club), Some(0));
    assert!(club.log().contains("shutdown timed out; unfinished work rolled back"), "{}", club.log());
    let (_, status) = status_of(&club);
    assert_eq!((&status["dispatches_waiting"], &status["dispatches_given_up"]), (&2.into(), &0.into()));
}

#[test]
fn a_daemon_whose_database_is_replaced_ends_and_the_next_one_reads_what_came() {
    let club = Club::new();
    let mut daemon = start(&club);
    club.write("ann@players.example", "HELP");
    club.letters_to("ann@players.example", 1);
    assert!(club.run(&["backup", "copy.db"]).status.success());
    fs::rename(club.path("copy.db"), club.path("fogpost.db")).expect("moved");
    club.write("bo@players.example", "HELP");
    club.wait_for("the daemon to end", || !daemon.is_running());
    club.log_says("the file of the database was moved, deleted or replaced");
    let next = club.start();
    club.letters_to("bo@players.example", 1);
    assert_eq!(next.stop(&club), Some(0));
}

#[test]
fn a_lasting_fault_is_logged_once() {
    let club = Club::with(&format!("{CONFIG}[log]\nfilter = \"fogpost=debug\"\n"));
    fs::remove_dir_all(club.mailbox()).expect("the mailbox is removed");
    let daemon = club.start();
    club.log_says("failed to read the mailbox; retrying");
    club.log_says_times("still failing to read the mailbox", 2);
    maildir::create(&club.mailbox()).expect("the mailbox");
    club.log_says("mailbox readable again");
    assert_eq!(daemon.stop(&club), Some(0));
    let log = club.log();
    assert_eq!(log.matches("failed to read the mailbox; retrying").count(), 1, "{log}");
}

#[test]
fn the_systemd_unit_is_valid_and_confined() {
    let unit = fs::read_to_string("deploy/fogpost.service").expect("the unit");
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("fogpost.service");
    // systemd finds the installed program by its search path; here it is this build.
    let this_build = format!("ExecStart={} ", env!("CARGO_BIN_EXE_fogpost"));
    fs::write(&path, unit.replace("ExecStart=fogpost ", &this_build)).expect("a copy");
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

#[test]
fn the_log_tells_what_became_of_each_letter_and_which_letters_went_out() {
    let club = Club::new();
    let id = open_match(&club);
    let daemon = start(&club);
    let ann = token_in(&club.letters_to("ann@players.example", 1));
    club.write("Ann <ann@players.example>", &format!("MARBLE A1\n\nReply token: {ann}"));
    club.letters_to("ann@players.example", 2);
    club.write("Ann <ann@players.example>", &format!("MARBLE E5\n\nReply token: {ann}"));
    club.letters_to("ann@players.example", 3);
    club.log_says("outcome=\"sealed, adjudicated\"");
    club.wait_for("the status to tell of it", || status_of(&club).1["last_send"].is_string());
    let (_, status) = status_of(&club);
    assert_eq!((&status["matches_late"], &status["protests"]), (&0.into(), &0.into()));
    assert_eq!(daemon.stop(&club), Some(0));
    let log = club.log();
    assert!(log.contains("outcome=\"refused\""), "{log}");
    for kind in ["invitation", "answer", "report"] {
        let tells = |line: &str| {
            line.contains("letter sent") && line.contains(&format!("kind={kind}")) && line.contains(&id)
        };
        assert!(log.lines().any(tells), "{kind}:\n{log}");
    }
}
