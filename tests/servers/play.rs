//! The program as a separate process, and players who read and write mail on real servers.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use fogpost::store;
use mail_parser::MessageParser;

use crate::club::{Club, PATIENCE};
use crate::servers::{PASSWORD, Servers};

/// The address of the second player in most matches.
pub const BO: &str = "Bo <bo@club.test>";

/// A club whose referee has a mailbox on the servers. `tls` protects both connections: `tls` or `starttls`.
pub fn club_on(servers: &Servers, tls: &str) -> Club {
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
    let club = Club::with(&config);
    let secret = club.path("imap.secret");
    fs::write(&secret, format!("{PASSWORD}\n")).expect("the password");
    let ours = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(&secret, ours).expect("it is ours");
    club
}

/// Opens a match in which Ann moves first, with options like `quiet_limit=2`, and returns its name.
pub fn open_match(club: &Club, game: &str, second: &str, options: &[&str]) -> String {
    club.open(game, ["Ann <ann@club.test>", second], options)
}

/// Asserts that the trace log contains no password, address, name or order.
#[track_caller]
fn assert_log_keeps(club: &Club, secrets: &[&str]) {
    let log = club.log();
    assert!(log.contains(" TRACE "), "the log is at trace level");
    for secret in [&[PASSWORD, "@club.test", "Ann", "Bo"], secrets].concat() {
        let lines: Vec<_> = log.lines().filter(|line| has_word(line, secret)).take(3).collect();
        assert!(lines.is_empty(), "{secret:?} is in {lines:#?}");
    }
}

/// Whether `line` contains `secret` as whole words, or anywhere if it is the end of an address.
fn has_word(line: &str, secret: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(secret).any(|(at, _)| {
        let (before, after) = (&line[..at], &line[at + secret.len()..]);
        secret.starts_with('@') || !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// A player with a mailbox on the servers, which they read by minimal IMAP.
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

    /// Reads letters until one contains `words`.
    #[track_caller]
    pub fn reads(&mut self, words: &str, club: &Club) -> Letter {
        let [letter] = self.reads_all([words], club);
        letter
    }

    /// Reads letters until one was found for each of the words. Letters sent in quick succession may come in any
    /// order, because Postfix delivers them in parallel.
    #[track_caller]
    pub fn reads_all<const N: usize>(&mut self, words: [&str; N], club: &Club) -> [Letter; N] {
        let mut subjects = Vec::new();
        let mut found = words.map(|_| None);
        while found.iter().any(Option::is_none) {
            let letter = self.next(club, &format!("{words:?}, having read {subjects:?}"));
            let flat = letter.text.split_whitespace().collect::<Vec<_>>().join(" ");
            let says = |words: &str| letter.subject.contains(words) || flat.contains(words);
            match found.iter_mut().zip(words).find(|(found, words)| found.is_none() && says(words)) {
                Some((found, _)) => *found = Some(letter),
                None => subjects.push(letter.subject),
            }
        }
        found.map(|letter| letter.expect("all are found"))
    }

    /// Waits for the next letter in the INBOX.
    #[track_caller]
    fn next(&mut self, club: &Club, what: &str) -> Letter {
        let mut next = None;
        club.wait_for(&format!("a letter to {} with {what}", self.name), || {
            next = self.fetch(self.read + 1);
            next.is_some()
        });
        self.read += 1;
        next.expect("it has come")
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

    /// Answers with a mail program: s-nail in batch mode.
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

    /// Writes a letter to the referee that answers nothing.
    pub fn writes(&self, body: &str) {
        let nothing = Letter {
            subject: "hello".to_owned(),
            text: String::new(),
            reply_to: "referee@club.test".to_owned(),
            message_id: "none@players.test".to_owned(),
        };
        self.answers(&nothing, body);
    }

    /// Answers by minimal SMTP.
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
    let club = club_on(&servers, "tls");
    let (mut ann, mut bo) = (Person::new(&servers, "Ann"), Person::new(&servers, "Bo"));
    let id = open_match(&club, "quad", BO, &[]);
    let mut daemon = club.start();
    let mut to_ann = ann.reads("Turn 1", &club);
    for (round, (black, white)) in [("E5", "A5"), ("E6", "B8"), ("F6", "K4")].into_iter().enumerate() {
        ann.answers_by_program(&to_ann, &format!("MARBLE {black}\nSchöne Grüße"));
        if round == 1 {
            // Kill and restart the daemon while a letter is in transit.
            daemon.kill();
            daemon = club.start();
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
    assert!(String::from_utf8_lossy(&shown.stdout).contains("Ann won (quad)"));
    // Seven letters arrived; each was ruled on once and filed.
    let listed = String::from_utf8(club.run(&["letters", "--json"]).stdout).expect("text");
    assert_eq!(listed.lines().count(), 7, "{listed}");
    assert!(listed.lines().all(|line| line.contains(r#""status":"ruled""#)), "{listed}");
    assert_eq!(servers.letters("referee", "INBOX").len(), 0);
    assert_eq!(servers.letters("referee", "Processed").len(), 7);
    let token = to_ann.text.lines().find_map(|line| line.strip_prefix("Reply token: ")).expect("a token");
    assert_log_keeps(&club, &[token, "MARBLE"]);
}

#[test]
fn an_idling_daemon_reloads_and_stops() {
    let Some(servers) = Servers::dovecot() else { return };
    let club = club_on(&servers, "tls");
    let daemon = club.start();
    for times in 1..=2 {
        club.log_says_times("mailbox opened", times);
        club.log_says_times("waiting in IDLE", times);
        daemon.signal(["-HUP", "-TERM"][times - 1]);
    }
    assert_eq!(daemon.stop(&club), Some(0));
    assert!(club.log().trim_end().ends_with("stopped"), "{}", club.report());
}

const STARS: &str = "STAR D1 2\nSTAR D2 1\nSTAR E1 2\nSTAR E2 1\nSTAR H1 2\nSTAR H2 1\nSTAR I1 2\nSTAR I2 1\n\
                     STAR J1 2\nSTAR L1 2\nSTAR M1 2\nSTAR N1 2\nSTAR P1 2\nSTAR Q1 2\nSTAR R1 2\nSTAR U1 2\nSTAR V1 2";

#[test]
fn quadrant_z_is_set_up_and_played_over_starttls() {
    let Some(servers) = Servers::start() else { return };
    let club = club_on(&servers, "starttls");
    let (mut ann, mut bo) = (Person::new(&servers, "Ann"), Person::new(&servers, "Bo"));
    open_match(&club, "quadrant-z", BO, &[]);
    let _daemon = club.start();
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
    bo.reads("Line 1 is not valid", &club);
    bo.answers(&to_bo, "SHIP 1 R2 TO M3");
    bo.reads("Your orders are sealed", &club);
    ann.answers_by_program(&to_ann, "SHIP 1 G1 TO L1\nBUILD 1/1 AT A4");
    let to_ann = ann.reads("An enemy force entered M", &club);
    assert!(to_ann.subject.contains("Turn 3"), "{}", to_ann.subject);
    bo.reads("An enemy force entered L", &club);
}

#[test]
fn doctor_reports_a_wrong_password() {
    let Some(servers) = Servers::start() else { return };
    let club = club_on(&servers, "tls");
    let healthy = club.run(&["doctor"]);
    let said = String::from_utf8_lossy(&healthy.stdout).into_owned();
    assert!(healthy.status.success() && !said.contains("FAULT") && said.contains("IDLE"), "{said}");
    fs::write(club.path("imap.secret"), "wrong").expect("the password");
    let faulty = club.run(&["doctor"]);
    let said = String::from_utf8_lossy(&faulty.stdout).into_owned();
    assert_eq!(faulty.status.code(), Some(1), "{said}");
    let faults: Vec<_> = said.lines().filter(|line| line.starts_with("FAULT")).collect();
    assert!(matches!(faults[..], [one] if one.starts_with("FAULT inbox: ")), "{said}");
    assert!(
        said.contains("see inbox.imap.user and inbox.imap.password_file") && !said.contains("wrong"),
        "{said}"
    );
}

#[test]
fn a_second_daemon_on_the_same_database_is_rejected() {
    let Some(servers) = Servers::start() else { return };
    let club = club_on(&servers, "tls");
    let mut ann = Person::new(&servers, "Ann");
    open_match(&club, "quad", BO, &[]);
    let daemon = club.start();
    ann.reads("Turn 1", &club);
    let second = club.run(&["run"]);
    let said = String::from_utf8_lossy(&second.stderr).into_owned();
    assert_eq!(second.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("pid {}", daemon.pid())), "{said}");
}

#[test]
fn a_permanently_rejected_letter_is_given_up_and_listed() {
    let Some(servers) = Servers::start() else { return };
    let club = club_on(&servers, "tls");
    let mut ann = Person::new(&servers, "Ann");
    open_match(&club, "quad", "Bo <bo@nowhere.test>", &[]);
    let _daemon = club.start();
    ann.reads("Turn 1", &club);
    let database = format!("sqlite:{}", club.path("fogpost.db").display());
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let given_up = async || {
        let store = store::open(&database).await.expect("the store opens");
        let unsent = store.list_dispatches(true, 10).await.expect("the store answers");
        store.close().await;
        unsent.into_iter().find(|dispatch| dispatch.given_up_at.is_some())
    };
    let mut dispatch = None;
    club.wait_for("a dispatch that is given up", || {
        dispatch = runtime.block_on(given_up());
        dispatch.is_some()
    });
    let dispatch = dispatch.expect("it was given up");
    assert_eq!((dispatch.recipient.as_str(), dispatch.tries), ("bo@nowhere.test", 1));
    let shown = String::from_utf8(club.run(&["letters", "--unsent"]).stdout).expect("text");
    for words in ["bo@nowhere.test", "given up", "no outbound mail"] {
        assert!(shown.contains(words), "{words} in {shown}");
    }
    let doctor = String::from_utf8(club.run(&["doctor"]).stdout).expect("text");
    assert!(doctor.contains("1 given up"), "{doctor}");
}
