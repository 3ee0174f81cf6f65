//! Mailboxes on Cyrus, Courier and GNU Mailutils: letters arrive, are read, answered and filed there.

use std::fs::{self, File};
use std::io::{BufRead, BufReader, ErrorKind, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::Duration;

use chrono::Utc;
use fogpost::post::maildir;
use fogpost::post::maildirs::folder_of;
use tempfile::TempDir;

use crate::club::Club;
use crate::servers::{self, PASSWORD, Server};

/// Letters that arrive at once, fewer than the club answers in an hour.
const BURST: usize = 60;

/// An IMAP server with the referee's mailbox.
struct Mailbox {
    // Fields are dropped in order: the server stops before its folder is deleted.
    _server: Server,
    folder: TempDir,
    kind: Kind,
    imap_port: u16,
    lmtp_port: u16,
    check_port: u16,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Cyrus,
    Courier,
    Mailutils,
}

impl Mailbox {
    /// Starts a server. `None` only if FOGPOST_WITHOUT_SERVERS is set.
    fn start(kind: Kind) -> Option<Mailbox> {
        let folder = servers::folder()?;
        let [imap_port, lmtp_port, spare] = servers::free_ports();
        let check_port = if kind == Kind::Cyrus { spare } else { imap_port };
        let (script, ports) = match kind {
            Kind::Cyrus => ("cyrus.sh", &[imap_port, lmtp_port, check_port][..]),
            Kind::Courier => ("courier.sh", &[imap_port][..]),
            Kind::Mailutils => ("imap4d.sh", &[imap_port][..]),
        };
        let variables = [("IMAP", imap_port), ("LMTP", lmtp_port), ("CHECK", check_port)];
        let server = Server::start(script, folder.path(), &variables, ports);
        Some(Mailbox { _server: server, folder, kind, imap_port, lmtp_port, check_port })
    }

    /// The name by which the referee logs in.
    fn user(&self) -> &'static str {
        if self.kind == Kind::Mailutils { "referee@club.test" } else { "referee" }
    }

    /// The name of a folder for clients, which two of the servers keep below the INBOX.
    fn name_of(&self, folder: &str) -> String {
        let is_top = folder == "INBOX" || self.kind == Kind::Mailutils;
        if is_top { folder.to_owned() } else { format!("INBOX.{folder}") }
    }

    /// A club whose referee has this mailbox. Its own letters go to Maildirs.
    fn club(&self) -> Club {
        let (tls, ca) = match self.kind {
            Kind::Cyrus => {
                ("starttls", format!("ca_file = '{}'", self.folder.path().join("tls/ca.pem").display()))
            }
            Kind::Courier | Kind::Mailutils => ("none", String::new()),
        };
        Club::with(&format!(
            "[club]\nname = 'The Club'\naddress = 'referee@club.test'\n\
             [club.gm]\nname = 'The GM'\naddress = 'gm@club.test'\n\
             [inbox.imap]\nhost = 'localhost'\nport = {}\ntls = '{tls}'\n{ca}\nuser = '{}'\npassword = '{PASSWORD}'\n\
             poll_seconds = 1\nidle_seconds = 2\n\
             [outbox.maildir]\npath = 'mail'\n",
            self.imap_port,
            self.user()
        ))
    }

    /// Delivers a letter as the server's mail system does: by LMTP, to a Maildir, or to an mbox file.
    fn deliver(&self, raw: &str) {
        let folder = self.folder.path();
        match self.kind {
            Kind::Cyrus => {
                let raw = raw.replace('\n', "\r\n");
                servers::hand_in(self.lmtp_port, "LHLO test", raw.as_bytes(), "x@club.test", "referee");
            }
            Kind::Courier => {
                let maildir = folder.join("root/mail/referee/Maildir");
                maildir::deliver(&maildir, raw.as_bytes()).expect("delivered");
            }
            Kind::Mailutils => append(&folder.join("home/referee/INBOX"), raw),
        }
    }

    /// Counts the letters of a folder by IMAP.
    fn count(&self, folder: &str) -> usize {
        let mut tcp = TcpStream::connect(("127.0.0.1", self.check_port)).expect("the server listens");
        let mut answers = BufReader::new(tcp.try_clone().expect("a connection")).lines();
        let mut count = 0;
        for command in
            [format!("LOGIN {} {PASSWORD}", self.user()), format!("SELECT {}", self.name_of(folder))]
        {
            write!(tcp, "x {command}\r\n").expect("sent");
            for line in answers.by_ref() {
                let line = line.expect("an answer");
                if let Some(exists) = line.strip_prefix("* ").and_then(|line| line.strip_suffix(" EXISTS")) {
                    count = exists.parse().expect("a number");
                }
                if line.starts_with("x ") {
                    assert!(line.starts_with("x OK"), "{command}: {line}");
                    break;
                }
            }
        }
        count
    }
}

/// Appends a letter to an mbox file, which a lock file protects from the server.
fn append(mbox: &Path, raw: &str) {
    let lock = mbox.with_extension("lock");
    while let Err(error) = File::options().write(true).create_new(true).open(&lock) {
        assert_eq!(error.kind(), ErrorKind::AlreadyExists, "{error}");
        thread::sleep(Duration::from_millis(1));
    }
    let mut file = File::options().append(true).open(mbox).expect("the mailbox");
    // Its time is the letter's INTERNALDATE, and older letters than the club are not read.
    let now = Utc::now().format("%a %b %e %H:%M:%S %Y");
    let delivered = write!(file, "From x@club.test {now}\n{raw}\n");
    fs::remove_file(lock).expect("unlocked");
    delivered.expect("delivered");
}

/// Writes a letter by a person.
fn letter(from: &str, id: &str, body: &str) -> String {
    format!(
        "From: {from}@club.test\nTo: referee@club.test\nSubject: orders\nMessage-ID: <{id}@players.test>\n\n{body}\n"
    )
}

/// Lets letters arrive before the club starts, while it waits, and many at once.
fn letters_are_read_answered_and_filed(kind: Kind) {
    let Some(mailbox) = Mailbox::start(kind) else { return };
    let club = mailbox.club();
    club.open("quad", ["Ann <ann@club.test>", "Bo <bo@club.test>"], &[]);
    mailbox.deliver(&letter("cy", "before", "HELP"));
    let daemon = club.start();
    club.letters_to("cy@club.test", 1);

    // A match goes on while the club waits for mail.
    let invitation = club.letters_to("ann@club.test", 1);
    let answered = invitation.lines().find_map(|line| line.strip_prefix("Message-ID: ")).expect("its ID");
    let order = letter("ann", "order", "MARBLE E5");
    mailbox.deliver(&order.replacen("Subject:", &format!("In-Reply-To: {answered}\nSubject:"), 1));
    assert!(club.letters_to("ann@club.test", 2).contains("MARBLE E5"));
    assert!(club.letters_to("bo@club.test", 2).contains("E5"));

    for number in 0..BURST {
        mailbox.deliver(&letter(&format!("p{number}"), &format!("burst{number}"), "HELP"));
    }
    for number in 0..BURST {
        club.letters_to(&format!("p{number}@club.test"), 1);
    }
    club.wait_for("the last letter to be filed", || mailbox.count("INBOX") == 0);
    assert_eq!(mailbox.count("Processed"), BURST + 2, "{}", servers::logs(mailbox.folder.path()));
    let status = club.run(&["status"]);
    assert!(status.status.success(), "{}", String::from_utf8_lossy(&status.stdout));
    daemon.stop(&club);
    let listed = String::from_utf8(club.run(&["letters", "--json", "--limit", "1000"]).stdout).expect("text");
    // Those that Mailutils renumbers before they are filed are read once more, and are known by their bytes.
    let done = |line: &&str| line.contains(r#""status":"ruled""#) || line.contains(r#""status":"answered""#);
    assert_eq!(listed.lines().filter(done).count(), BURST + 2, "{listed}");
    for number in 0..BURST {
        assert_eq!(answers(&club, &format!("p{number}@club.test")), 1, "an answer to each letter");
    }
}

/// Counts the letters to an address.
fn answers(club: &Club, address: &str) -> usize {
    fs::read_dir(folder_of(&club.path("mail"), address).join("new")).expect("a mailbox").count()
}

#[test]
fn cyrus_delivers_letters_that_are_answered_and_filed() {
    letters_are_read_answered_and_filed(Kind::Cyrus);
}

#[test]
fn courier_delivers_letters_that_are_answered_and_filed() {
    letters_are_read_answered_and_filed(Kind::Courier);
}

#[test]
fn mailutils_delivers_letters_that_are_answered_and_filed() {
    letters_are_read_answered_and_filed(Kind::Mailutils);
}
