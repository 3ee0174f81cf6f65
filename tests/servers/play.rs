//! The whole program as a process of its own, between people who write and read at real servers.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use fogpost::store;
use mail_parser::MessageParser;
use tempfile::TempDir;

use crate::servers::{PASSWORD, Servers};

/// How long a letter may be on its way on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

/// A club whose referee has a mailbox at the servers.
pub struct Club {
    folder: TempDir,
    daemon: Option<Child>,
}

impl Club {
    /// `tls` is how both lines are protected: `tls` or `starttls`.
    pub fn new(servers: &Servers, tls: &str) -> Self {
        let (imap, smtp) = match tls {
            "tls" => (servers.imaps_port, servers.smtps_port),
            _ => (servers.imap_port, servers.smtp_port),
        };
        let config = format!(
            r#"
            [club]
            name = "The Club"
            address = "referee@club.test"
            plus_addresses = true
            [club.gm]
            name = "The GM"
            address = "gm@club.test"
            [inbox.imap]
            host = "localhost"
            port = {imap}
            tls = "{tls}"
            ca_file = "{ca}"
            user = "referee"
            password_file = "imap.secret"
            [outbox.smtp]
            host = "localhost"
            port = {smtp}
            tls = "{tls}"
            ca_file = "{ca}"
            user = "referee"
            password = "{PASSWORD}"
            [log]
            filter = "trace"
            "#,
            ca = servers.ca_file().display(),
        );
        let club = Club { folder: tempfile::tempdir().expect("a folder"), daemon: None };
        fs::write(club.path("config.toml"), config).expect("the config");
        fs::write(club.path("imap.secret"), format!("{PASSWORD}\n")).expect("the password");
        club
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fogpost"));
        command.arg("--config").arg(self.path("config.toml")).args(arguments);
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("fogpost runs")
    }

    /// Opens a match between Ann and `second` with options like `quiet_limit=2`; its name.
    pub fn open(&self, game: &str, second: &str, options: &[&str]) -> String {
        let mut arguments = vec!["match", "new", game, "Ann <ann@club.test>", second, "--json"];
        arguments.extend(options.iter().flat_map(|option| ["--option", option]));
        let out = self.run(&arguments);
        let text = String::from_utf8(out.stdout).expect("text");
        let found: serde_json::Value = serde_json::from_str(&text).expect("the match is open");
        found["match"].as_str().expect("a name").to_owned()
    }

    pub fn start(&mut self) {
        let log = File::options().create(true).append(true).open(self.path("log")).expect("the log");
        self.daemon = Some(self.command(&["run"]).stderr(log).spawn().expect("fogpost runs"));
    }

    /// Ends the daemon without a word, by SIGKILL.
    pub fn kill(&mut self) {
        let mut daemon = self.daemon.take().expect("it runs");
        daemon.kill().expect("our child");
        daemon.wait().expect("our child");
    }

    /// What came and what became of it, and the daemon's log: for a test that fails.
    pub fn log(&self) -> String {
        let letters = String::from_utf8(self.run(&["letters"]).stdout).expect("text");
        let log = self.daemons_log();
        letters + &log.lines().filter(|line| !line.contains(" TRACE ")).collect::<Vec<_>>().join("\n")
    }

    /// At its loudest.
    fn daemons_log(&self) -> String {
        fs::read_to_string(self.path("log")).unwrap_or_default()
    }

    /// The log tells nobody's password, address, name or orders.
    #[track_caller]
    fn keeps(&self, secrets: &[&str]) {
        let log = self.daemons_log();
        assert!(log.contains(" TRACE "), "it was loud");
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        for secret in [&[PASSWORD, "@club.test", "Ann", "Bo"], secrets].concat() {
            let tells = |line: &&str| {
                let mut places =
                    line.match_indices(secret).map(|(at, _)| (&line[..at], &line[at + secret.len()..]));
                places.any(|(before, behind)| {
                    secret.starts_with('@') || !before.ends_with(is_part) && !behind.starts_with(is_part)
                })
            };
            let told: Vec<_> = log.lines().filter(tells).take(3).collect();
            assert!(told.is_empty(), "{secret:?} is told in {told:#?}");
        }
    }
}

impl Drop for Club {
    fn drop(&mut self) {
        if let Some(mut daemon) = self.daemon.take() {
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

/// Somebody with a mailbox at the servers, who reads it by the plainest IMAP.
pub struct Person<'a> {
    name: &'static str,
    servers: &'a Servers,
    read: usize,
}

pub struct Letter {
    pub subject: String,
    pub text: String,
    reply_to: String,
    message_id: String,
}

impl<'a> Person<'a> {
    pub fn new(servers: &'a Servers, name: &'static str) -> Self {
        Person { name, servers, read: 0 }
    }

    /// Reads on until a letter says `words`.
    #[track_caller]
    pub fn reads(&mut self, words: &str, club: &Club) -> Letter {
        let [letter] = self.reads_all([words], club);
        letter
    }

    /// Reads on until a letter was found for each of the words. Letters that were sent one right after the other
    /// may come in any order: Postfix delivers them side by side.
    #[track_caller]
    pub fn reads_all<const N: usize>(&mut self, words: [&str; N], club: &Club) -> [Letter; N] {
        let began = Instant::now();
        let mut subjects = Vec::new();
        let mut found = words.map(|_| None);
        while found.iter().any(Option::is_none) {
            if let Some(letter) = self.fetch(self.read + 1) {
                self.read += 1;
                let flat = letter.text.split_whitespace().collect::<Vec<_>>().join(" ");
                let says = |words: &str| letter.subject.contains(words) || flat.contains(words);
                match found.iter_mut().zip(words).find(|(found, words)| found.is_none() && says(words)) {
                    Some((found, _)) => *found = Some(letter),
                    None => subjects.push(letter.subject),
                }
                continue;
            }
            if began.elapsed() > PATIENCE {
                panic!("{} waits for {words:?}, has read {subjects:?}\n{}", self.name, club.log());
            }
            thread::sleep(Duration::from_millis(50));
        }
        found.map(|letter| letter.expect("all are found"))
    }

    /// The letter with this number in the INBOX.
    fn fetch(&self, number: usize) -> Option<Letter> {
        let tcp = TcpStream::connect(("127.0.0.1", self.servers.imap_port)).expect("Dovecot listens");
        tcp.set_read_timeout(Some(PATIENCE)).expect("a connection");
        let mut answers = BufReader::new(tcp.try_clone().expect("a connection"));
        let mut tcp = tcp;
        let mut line = String::new();
        answers.read_line(&mut line).expect("a greeting");
        let mut raw = None;
        for (tag, command) in [
            ("a", format!("LOGIN {} {PASSWORD}", self.name.to_lowercase())),
            ("b", "EXAMINE INBOX".to_owned()),
            ("c", format!("FETCH {number} BODY.PEEK[]")),
        ] {
            write!(tcp, "{tag} {command}\r\n").expect("sent");
            loop {
                line.clear();
                assert!(answers.read_line(&mut line).expect("an answer") > 0, "Dovecot hung up");
                if let Some((_, size)) = line.trim_end().trim_end_matches('}').split_once("BODY[] {") {
                    let mut bytes = vec![0; size.parse().expect("a size")];
                    answers.read_exact(&mut bytes).expect("a letter");
                    raw = Some(bytes);
                }
                if line.starts_with(&format!("{tag} ")) {
                    break;
                }
            }
        }
        let raw = raw?;
        let mail = MessageParser::default().parse(&raw).expect("a letter");
        Some(Letter {
            subject: mail.subject().unwrap_or_default().to_owned(),
            text: mail.body_text(0).unwrap_or_default().into_owned(),
            reply_to: mail.reply_to().and_then(|to| to.first()?.address()).unwrap_or_default().to_owned(),
            message_id: mail.message_id().unwrap_or_default().to_owned(),
        })
    }

    fn address(&self) -> String {
        format!("{}@club.test", self.name.to_lowercase())
    }

    /// Answers with a mail program: s-nail, in batch mode.
    pub fn answers_by_program(&self, letter: &Letter, orders: &str) {
        let mut program = Command::new("s-nail")
            .args(["-n", "-S", "v15-compat", "-S", "smtp-auth=none", "-S", "ttycharset=utf-8"])
            .args(["-S", &format!("mta=smtp://127.0.0.1:{}", self.servers.smtp_port)])
            .args(["-r", &self.address(), "-s", &format!("Re: {}", letter.subject), &letter.reply_to])
            .env("MAILRC", "/dev/null")
            .stdin(Stdio::piped())
            .spawn()
            .expect("s-nail, which tests/run installs");
        let body = body(letter, orders);
        program.stdin.take().expect("asked for").write_all(body.as_bytes()).expect("written");
        assert!(program.wait().expect("our child").success());
    }

    /// Writes to the referee out of nothing.
    pub fn writes(&self, body: &str) {
        let nothing = Letter {
            subject: "hello".to_owned(),
            text: String::new(),
            reply_to: "referee@club.test".to_owned(),
            message_id: "none@players.test".to_owned(),
        };
        self.answers(&nothing, body);
    }

    /// Answers by the plainest SMTP.
    pub fn answers(&self, letter: &Letter, orders: &str) {
        let raw = format!(
            "From: {0}\nTo: {1}\nSubject: Re: {2}\nIn-Reply-To: <{3}>\n\
             Message-ID: <{4}.{5}@players.test>\n\n{6}",
            self.address(),
            letter.reply_to,
            letter.subject,
            letter.message_id,
            self.name,
            self.read,
            body(letter, orders)
        );
        self.servers.deliver(raw.replace('\n', "\r\n").as_bytes(), &self.address(), &letter.reply_to);
    }
}

fn body(letter: &Letter, orders: &str) -> String {
    let quoted: String = letter.text.lines().map(|line| format!("> {line}\n")).collect();
    format!("{orders}\n\nOn Thursday the referee wrote:\n{quoted}")
}

#[test]
fn a_match_is_played_over_dovecot_and_postfix() {
    let Some(servers) = Servers::start() else { return };
    let mut club = Club::new(&servers, "tls");
    let (mut ann, mut bo) = (Person::new(&servers, "Ann"), Person::new(&servers, "Bo"));
    let id = club.open("quad", "Bo <bo@club.test>", &[]);
    club.start();
    let mut to_ann = ann.reads("Turn 1", &club);
    for (round, (black, white)) in [("E5", "A5"), ("E6", "B8"), ("F6", "K4")].into_iter().enumerate() {
        ann.answers_by_program(&to_ann, &format!("MARBLE {black}\nSchöne Grüße"));
        if round == 1 {
            // In the middle, with a letter just handed in, the daemon is killed and started again.
            club.kill();
            club.start();
        }
        ann.reads("Your orders are sealed", &club);
        let to_bo = bo.reads("please send your orders", &club);
        bo.answers(&to_bo, &format!("MARBLE {white}"));
        to_ann = ann.reads("please send your orders", &club);
    }
    ann.answers(&to_ann, "MARBLE F5");
    ann.reads("You have won this match (quad)", &club);
    bo.reads("Ann has won this match (quad)", &club);
    let shown = club.run(&["match", "show", &id]);
    assert!(String::from_utf8_lossy(&shown.stdout).contains("first won (quad)"));
    // Seven letters came, each was ruled on once, and all are filed away.
    let listed = String::from_utf8(club.run(&["letters", "--json"]).stdout).expect("text");
    assert_eq!(listed.lines().count(), 7, "{listed}");
    assert!(listed.lines().all(|line| line.contains(r#""fate":"ruled""#)), "{listed}");
    assert_eq!(servers.letters("referee", "INBOX").len(), 0);
    assert_eq!(servers.letters("referee", "Processed").len(), 7);
    let token = to_ann.text.lines().find_map(|line| line.strip_prefix("Reply token: ")).expect("a token");
    club.keeps(&[token, "MARBLE"]);
}

#[test]
fn a_daemon_that_idles_reloads_and_stops_within_seconds() {
    let Some(servers) = Servers::dovecot() else { return };
    let mut club = Club::new(&servers, "tls");
    club.start();
    let began = Instant::now();
    while !club.daemons_log().contains("the mailbox is open") {
        assert!(began.elapsed() < PATIENCE, "{}", club.log());
        thread::sleep(Duration::from_millis(20));
    }
    let mut daemon = club.daemon.take().expect("it runs");
    let signal = |signal: &str| {
        thread::sleep(Duration::from_secs(1)); // It idles by now.
        let pid = daemon.id().to_string();
        assert!(Command::new("kill").args([signal, &pid]).status().expect("kill").success());
        Instant::now()
    };
    let began = signal("-HUP");
    while club.daemons_log().matches("the mailbox is open").count() < 2 {
        assert!(began.elapsed() < PATIENCE, "{}", club.log());
        thread::sleep(Duration::from_millis(20));
    }
    let began = signal("-TERM");
    assert_eq!(daemon.wait().expect("our child").code(), Some(0));
    assert!(began.elapsed() < Duration::from_secs(5), "{}", club.log());
    assert!(club.daemons_log().trim_end().ends_with("stopped"), "{}", club.log());
}

const STARS: &str = "STAR D1 2\nSTAR D2 1\nSTAR E1 2\nSTAR E2 1\nSTAR H1 2\nSTAR H2 1\nSTAR I1 2\nSTAR I2 1\n\
                     STAR J1 2\nSTAR L1 2\nSTAR M1 2\nSTAR N1 2\nSTAR P1 2\nSTAR Q1 2\nSTAR R1 2\nSTAR U1 2\nSTAR V1 2";

#[test]
fn quadrant_z_is_set_up_and_played_over_starttls() {
    let Some(servers) = Servers::start() else { return };
    let mut club = Club::new(&servers, "starttls");
    let (mut ann, mut bo) = (Person::new(&servers, "Ann"), Person::new(&servers, "Bo"));
    club.open("quadrant-z", "Bo <bo@club.test>", &[]);
    club.start();
    let (to_ann, to_bo) = (ann.reads("Place your stars", &club), bo.reads("Place your stars", &club));
    let homes = ["A1 3 BASE,A4 1,B1 3,C1 2,F1 2,G1 2,K1 2", "Y1 3 BASE,Y4 1,X1 3,W1 2,T1 2,S1 2,O1 2"];
    let [north, south] = homes.map(|home| format!("STAR {}\n{STARS}", home.replace(',', "\nSTAR ")));
    ann.answers_by_program(&to_ann, &format!("{north}\nSHIP 1 3/2 G1"));
    ann.reads("Your orders are sealed", &club);
    bo.answers(&to_bo, &format!("{south}\nSHIP 1 3/2 S1"));
    let (to_ann, to_bo) = (ann.reads("the match begins", &club), bo.reads("the match begins", &club));
    ann.answers(&to_ann, "CAPTURE G1");
    bo.answers_by_program(&to_bo, "SHIP 1 S1 TO R2");
    let to_ann = ann.reads("You captured the star at G1: 2 for your stock", &club);
    assert!(to_ann.text.contains("An enemy force entered R"), "{}", to_ann.text);
    let to_bo = bo.reads("The enemy captured the star at G1, of value 2", &club);
    bo.answers(&to_bo, "SHIP 1 R2 TO Z9");
    bo.reads("Line 1 cannot stand", &club);
    bo.answers(&to_bo, "SHIP 1 R2 TO M3");
    bo.reads("Your orders are sealed", &club);
    ann.answers_by_program(&to_ann, "SHIP 1 G1 TO L1\nBUILD 1/1 AT A4");
    let to_ann = ann.reads("An enemy force entered M", &club);
    assert!(to_ann.subject.contains("Turn 3"), "{}", to_ann.subject);
    bo.reads("An enemy force entered L", &club);
}

#[test]
fn a_wrong_password_is_shown_by_doctor() {
    let Some(servers) = Servers::start() else { return };
    let club = Club::new(&servers, "tls");
    let well = club.run(&["doctor"]);
    let said = String::from_utf8_lossy(&well.stdout).into_owned();
    assert!(well.status.success() && !said.contains("FAULT") && said.contains("IDLE"), "{said}");
    fs::write(club.path("imap.secret"), "wrong").expect("the password");
    let ill = club.run(&["doctor"]);
    let said = String::from_utf8_lossy(&ill.stdout).into_owned();
    assert_eq!(ill.status.code(), Some(1), "{said}");
    let faults: Vec<_> = said.lines().filter(|line| line.starts_with("FAULT")).collect();
    assert!(matches!(faults[..], [one] if one.starts_with("FAULT inbox: ")), "{said}");
    assert!(said.contains("see the section [inbox]") && !said.contains("wrong"), "{said}");
}

#[test]
fn a_second_daemon_on_the_same_database_is_refused_by_name() {
    let Some(servers) = Servers::start() else { return };
    let mut club = Club::new(&servers, "tls");
    let mut ann = Person::new(&servers, "Ann");
    club.open("quad", "Bo <bo@club.test>", &[]);
    club.start();
    ann.reads("Turn 1", &club);
    let second = club.run(&["run"]);
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1), "{said}");
    let pid = club.daemon.as_ref().expect("it runs").id();
    assert!(said.contains(&format!("pid {pid}")), "{said}");
}

#[test]
fn a_letter_that_is_refused_for_good_is_given_up_and_shown() {
    let Some(servers) = Servers::start() else { return };
    let mut club = Club::new(&servers, "tls");
    let mut ann = Person::new(&servers, "Ann");
    club.open("quad", "Bo <bo@nowhere.test>", &[]);
    club.start();
    ann.reads("Turn 1", &club);
    let database = format!("sqlite:{}", club.path("fogpost.db").display());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let given_up = async || {
        let store = store::open(&database).await.expect("the store opens");
        let unsent = store.list_dispatches(true, 10).await.expect("the store answers");
        store.close().await;
        unsent.into_iter().find(|dispatch| dispatch.given_up)
    };
    let began = Instant::now();
    let dispatch = loop {
        if let Some(dispatch) = runtime.block_on(given_up()) {
            break dispatch;
        }
        assert!(began.elapsed() < PATIENCE, "{}", club.log());
        thread::sleep(Duration::from_millis(50));
    };
    assert_eq!((dispatch.recipient.as_str(), dispatch.tries), ("bo@nowhere.test", 1));
    let shown = String::from_utf8(club.run(&["letters", "--unsent"]).stdout).expect("text");
    for words in ["bo@nowhere.test", "given up", "no outbound mail"] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    let doctor = String::from_utf8(club.run(&["doctor"]).stdout).expect("text");
    assert!(doctor.contains("1 given up"), "{doctor}");
}
