//! The whole program under load: a mailbox full of orders is read, ruled on, answered and filed.
//!
//! `cargo bench --bench mailroom [imap|maildir|answers|turns|boards|postgres|size]`:
//!
//! - `imap`: from Dovecot to Postfix's `smtp-sink`. Compared with `mbsync`, which merely downloads the same mailbox
//!   (Debian's package isync), and with the floor: a bare download by Python's imaplib, and `smtp-source` sending as
//!   many letters.
//! - `maildir`: from Maildir to Maildir.
//! - `answers`: one letter after the other, each after the answer to the one before: the time from its arrival, in a
//!   Maildir and at Dovecot with IDLE, to the answer in its sender's Maildir.
//! - `turns`: from Maildir to Maildir, 25 turns of each of 20 matches, so that each letter waits for the one before it in
//!   its match.
//! - `boards`: as `maildir`, but no two matches have equal setups, so that every report has a board of its own to draw.
//! - `postgres`: from Maildir to Maildir on PostgreSQL, with one daemon and with three. Commits are durable only with
//!   `FOGPOST_FSYNC=1`, as they are with SQLite.
//! - `size`: the cost of a letter, a start and a deadline sweep with one match in the database, with a thousand, and
//!   with 100,000. Prints each cost with its bound.
//!
//! The letters are replies to setup forms of Quadrant Z as a mail program writes them, with the quoted form. First one
//! seat of each match writes, and its orders are sealed (one receipt per letter); then the other seat, and each letter
//! causes an adjudication (two letters out, each a report with a board). The variables LETTERS and MATCHES change how
//! many there are.

#[path = "../tests/support/place.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod place;
#[path = "../tests/servers/mod.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod servers;
#[path = "tools/size.rs"]
mod size;
mod tools;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fogpost::config::Config;
use fogpost::daemon::{GmIndex, Holder, NamedAddress, NewMatch, Office, instruct, loops, sending};
use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Seat};
use fogpost::letter::Address;
use fogpost::post::maildirs::folder_of;
use fogpost::post::{ShutdownSignal, maildir};
use fogpost::store;
use tokio::runtime::Runtime;

use place::Cluster;
use servers::{PASSWORD, Servers};
use tools::Sink;

const SETUP_OF_FIRST: &str = "STAR A1 3 BASE\nSTAR A4 1\nSTAR B1 3\nSTAR C1 2\nSTAR F1 2\nSTAR G1 2\nSTAR K1 2\n\
    STAR D1 2\nSTAR D4 1\nSTAR E1 2\nSTAR E4 1\nSTAR H1 2\nSTAR H4 1\nSTAR I1 2\nSTAR I4 1\nSTAR J1 2\n\
    STAR L1 2\nSTAR M1 2\nSTAR N1 2\nSTAR P1 2\nSTAR Q1 2\nSTAR R1 2\nSTAR U1 2\nSTAR V1 2\n";
const SETUP_OF_SECOND: &str = "STAR Y4 3 BASE\nSTAR Y1 1\nSTAR X4 3\nSTAR W4 2\nSTAR T4 2\nSTAR S4 2\nSTAR O4 2\n\
    STAR D4 2\nSTAR E4 2\nSTAR H4 2\nSTAR I4 2\nSTAR J4 2\nSTAR L4 2\nSTAR M4 2\nSTAR N4 2\nSTAR P4 2\n\
    STAR P1 1\nSTAR Q4 2\nSTAR Q1 1\nSTAR R4 2\nSTAR U4 2\nSTAR U1 1\nSTAR V4 2\nSTAR V1 1\n";

/// The setup of a seat, with ships on the squares that `variant` counts through: 13,824 of them.
fn setup(seat: Seat, variant: usize) -> String {
    let (stars, quadrants) = match seat {
        Seat::First => (SETUP_OF_FIRST, "GCKABF"),
        Seat::Second => (SETUP_OF_SECOND, "SOYXWT"),
    };
    let squares: Vec<String> =
        quadrants.chars().flat_map(|letter| (1..=4).map(move |cell| format!("{letter}{cell}"))).collect();
    let place = |ship: u32| &squares[variant / 24_usize.pow(ship) % 24];
    format!("{stars}SHIP 1 4/2 {}\nSHIP 2 3/1 {}\nSHIP 3 3/2 {}", place(0), place(1), place(2))
}

fn main() {
    let wanted = |name: &str| !std::env::args().skip(1).any(|a| !a.starts_with('-') && a != name);
    let runtime = Runtime::new().expect("a runtime");
    if wanted("imap") {
        imap(&runtime);
    }
    if wanted("maildir") {
        maildir(&runtime);
    }
    if wanted("answers") {
        answers(&runtime);
    }
    if wanted("turns") {
        turns(&runtime);
    }
    if wanted("boards") {
        boards(&runtime);
    }
    if wanted("postgres") {
        postgres(&runtime);
    }
    if wanted("size") {
        size::measure(&runtime);
    }
}

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().expect("a number"))
}

/// A club with matches in their setup, and the letters that complete it.
struct Club {
    folder: tempfile::TempDir,
    office: Arc<Office>,
    letters: BySeat<Vec<String>>,
    /// Whether each match has a setup of its own.
    is_varied: bool,
}

/// A SQLite database in the club's folder.
const SQLITE: &str = "sqlite:{}/fogpost.db";

impl Club {
    /// A club on SQLite. `mail` holds the sections `[inbox]` and `[outbox]`; `{}` in them is the club's folder.
    async fn new(matches: usize, mail: &str) -> Club {
        Club::on(SQLITE, matches, mail).await
    }

    /// A club on the database that `url` names.
    async fn on(url: &str, matches: usize, mail: &str) -> Club {
        let folder = tempfile::tempdir().expect("a folder");
        let mut club = Club {
            office: office_on(url, folder.path(), mail).await,
            folder,
            letters: BySeat::new(Vec::new(), Vec::new()),
            is_varied: false,
        };
        club.open(matches).await;
        club
    }

    /// A club whose matches all have different boards.
    async fn varied(matches: usize, mail: &str) -> Club {
        let mut club = Club { is_varied: true, ..Club::new(0, mail).await };
        club.open(matches).await;
        club
    }

    /// Opens matches, and writes the setup of both seats of each.
    async fn open(&mut self, matches: usize) {
        for from in (0..matches).step_by(500) {
            let new: Vec<_> = (from..matches.min(from + 500)).map(|n| self.new_match(n)).collect();
            let ids: Vec<_> = instruct::open_all(&self.office, GmIndex::default(), &new)
                .await
                .expect("they open")
                .iter()
                .map(|game_match| game_match.id.clone())
                .collect();
            for row in self.office.store.seats_of(&ids).await.expect("their seats") {
                let variant = if self.is_varied { self.letters[row.seat].len() } else { 0 };
                let orders = setup(row.seat, variant);
                let letter = letter(&row.match_id, &row.token, &row.player.addresses[0], &orders);
                self.letters[row.seat].push(letter);
            }
        }
    }

    /// Marks the forms as sent, so that they are not measured.
    async fn without_forms(&self) {
        loop {
            let now = self.office.now();
            let (forms, claim) = self.office.store.claim_dispatches(now, 1000).await.expect("the forms");
            let sent: Vec<_> = forms.iter().map(|form| (form.id, store::SendOutcome::Taken)).collect();
            self.office.store.record_outcomes(claim, now, &sent).await.expect("noted");
            if sent.is_empty() {
                return;
            }
        }
    }

    fn new_match(&self, n: usize) -> NewMatch {
        let seated = |name: &str| NamedAddress {
            name: format!("{name} {n}"),
            address: Address::parse(&format!("{name}{n}@players.test")).expect("an address"),
        };
        NewMatch {
            game: GameKind::QuadrantZ,
            choices: Default::default(),
            players: BySeat::new(seated("ann"), seated("bo")).map(Holder::Player),
            terms: self.office.config.terms.clone(),
        }
    }

    /// Runs the daemon until `filed` says that all letters are filed, and every answer is sent.
    fn drain(&self, runtime: &Runtime, filed: impl Fn() -> bool) -> Duration {
        self.drain_with(runtime, &[], filed)
    }

    /// Runs the daemon and others on the same database.
    fn drain_with(&self, runtime: &Runtime, others: &[Arc<Office>], filed: impl Fn() -> bool) -> Duration {
        let (stopper, shutdown) = ShutdownSignal::new();
        let began = begin();
        let offices = [&self.office].into_iter().chain(others);
        let running: Vec<_> =
            offices.map(|office| runtime.spawn(loops::run(Arc::clone(office), shutdown.clone()))).collect();
        while !filed() || !runtime.block_on(self.idle()) {
            assert!(!running.iter().any(|running| running.is_finished()), "a daemon ended");
            std::thread::sleep(Duration::from_millis(20));
        }
        let took = began.elapsed();
        stopper.stop();
        for running in running {
            runtime.block_on(running).expect("no panic").expect("it runs");
        }
        took
    }

    /// Delivers the letters of the first seats, each after the answer to the one before, and prints how long the answers
    /// take.
    fn answer_each(&self, runtime: &Runtime, what: &str, deliver: impl Fn(&str)) {
        runtime.block_on(sending::send_due(&self.office)).expect("the forms are sent");
        let (stopper, shutdown) = ShutdownSignal::new();
        let running = runtime.spawn(loops::run(Arc::clone(&self.office), shutdown));
        let count = |folder: &Path| fs::read_dir(folder).map_or(0, Iterator::count);
        // The first letter also waits for the start.
        let mut times: Vec<_> = (self.letters.first.iter())
            .map(|letter| {
                let (_, sender) = letter.split_once('<').expect("its sender");
                let (sender, _) = sender.split_once('>').expect("an address");
                let folder = folder_of(&self.folder.path().join("out"), sender).join("new");
                let before = count(&folder);
                deliver(letter);
                let began = Instant::now();
                while count(&folder) == before {
                    assert!(!running.is_finished(), "the daemon ended");
                    std::thread::sleep(Duration::from_micros(500));
                }
                began.elapsed()
            })
            .skip(1)
            .collect();
        stopper.stop();
        runtime.block_on(running).expect("no panic").expect("it runs");
        times.sort();
        let [half, most] = [50, 99].map(|percent| times[times.len() * percent / 100].as_secs_f64() * 1e3);
        println!("  {what:<44} p50 {half:>6.1} ms   p99 {most:>6.1} ms");
    }

    async fn idle(&self) -> bool {
        let queues = self.office.store.queues().await.expect("the store answers");
        (queues.letters_waiting, queues.dispatches_waiting) == (0, 0)
    }
}

async fn office(folder: &Path, mail: &str) -> Arc<Office> {
    office_on(SQLITE, folder, mail).await
}

/// Opens an office, and also writes its config to `folder` for a daemon in a separate process.
async fn office_on(url: &str, folder: &Path, mail: &str) -> Arc<Office> {
    let config = format!(
        "[club]\nname = \"Club\"\naddress = \"referee@club.test\"\nplus_addresses = true\n\
         [club.gm]\nname = \"GM\"\naddress = \"gm@club.test\"\n\
         [database]\nurl = \"{url}\"\n{mail}"
    );
    let config = config.replace("{}", &folder.display().to_string());
    fs::write(folder.join("config.toml"), &config).expect("the config");
    let config = Config::parse(&config, "config").expect("a config");
    let store = store::open(&config.database.url).await.expect("a database");
    Arc::new(Office::new(config, store, Arc::new(size::now)).expect("an office"))
}

/// A reply as a mail program writes it.
fn letter(id: &str, token: &str, from: &str, orders: &str) -> String {
    let quoted = QUOTED.replace('\n', "\n> ");
    format!(
        "From: <{from}>\nTo: <referee+{token}@club.test>\nSubject: Re: [{id}] Setup: Quadrant Z\n\
         Message-ID: <{id}.{token}@players.test>\nDate: Thu, 14 May 2026 09:12:00 +0000\nMIME-Version: 1.0\n\
         Content-Type: text/plain; charset=utf-8\n\n{orders}\n\nGood luck!\n\n\
         On Thu, 14 May 2026 at 08:00, Club, the referee wrote:\n> {quoted}\n> Reply token: {token}\n"
    )
    .replace('\n', "\r\n")
}

/// Text as long as that of a form, which the letters quote.
const QUOTED: &str = "## write your orders above this line ##\n\nA match of Quadrant Z begins.\n\n\
    \x20   A turn:    7 days, due at 20:00 (Europe/Berlin)\n    Grace:     12 hours\n\n\
    Answer this letter to send orders: plain text, one order a line. You\n\
    get a receipt for each letter, and a report after each turn. What you\n\
    know, your opponent does not; what stands in a report is for you.\n\n\
    Set up your stars and your fleet. A setup that would do:\n\n    | STAR A1 3 BASE\n    | STAR B1 3\n\
    \x20   | STAR C1 2\n    | SHIP 1 4/2 G1\n\nThe complete rules come with the command\n\n    | RULES quadrant-z\n";

/// Puts letters into a Maildir.
fn put(letters: &[String], maildir: &Path) {
    for part in ["new", "cur", "tmp"] {
        fs::create_dir_all(maildir.join(part)).expect("a folder");
    }
    for (n, letter) in letters.iter().enumerate() {
        fs::write(maildir.join(format!("new/{n:06}.bench")), letter).expect("a letter");
    }
}

/// Whether a folder is empty. Counting thousands of files in it would distort the measurement.
fn is_empty(folder: PathBuf) -> bool {
    fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none())
}

/// Flushes the mailboxes to disk, and starts the clock.
fn begin() -> Instant {
    assert!(Command::new("sync").status().expect("sync").success());
    Instant::now()
}

/// CPU seconds that this process has used.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("Linux");
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
    // utime and stime (proc(5), fields 14 and 15) in hundredths of a second.
    (fields[11].parse::<f64>().expect("a number") + fields[12].parse::<f64>().expect("a number")) / 100.0
}

fn told(what: &str, letters: usize, took: Duration) -> f64 {
    let rate = letters as f64 / took.as_secs_f64();
    println!("  {what:<44} {:>8.2} s {rate:>9.0} letters/s", took.as_secs_f64());
    took.as_secs_f64()
}

fn imap(runtime: &Runtime) {
    let letters = number("LETTERS", 10_000);
    let servers = Servers::dovecot().expect("a Dovecot");
    let sink = Sink::start();
    let ways = format!(
        "[inbox.imap]\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"\nuser = \"referee\"\npassword = \"{PASSWORD}\"\n\
         [outbox.smtp]\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"\n",
        servers.imap_port, sink.port
    );
    let club = runtime.block_on(Club::new(letters, &ways));
    runtime.block_on(club.without_forms());
    println!("imap: {letters} letters of {} B, from Dovecot to smtp-sink", club.letters.first[0].len());
    let floor = floor(&servers, sink.port, &club.letters.first);
    let mbsync = mbsync(&servers, &club.letters.first);
    for (what, letters) in [
        ("sealed, one receipt each", &club.letters.first),
        ("adjudicated, a report for each side", &club.letters.second),
    ] {
        fill(&servers, "referee", letters);
        let inbox = servers.maildir("referee");
        let filed = || is_empty(inbox.join("new")) && is_empty(inbox.join("cur"));
        let cpu_before = cpu();
        let took = told(what, letters.len(), club.drain(runtime, filed));
        let cpu_each = (cpu() - cpu_before) / letters.len() as f64 * 1e6;
        let beside = mbsync.map_or_else(
            || "mbsync is not installed".to_owned(),
            |mbsync| format!("{:.2} times mbsync", took / mbsync),
        );
        println!("    {:.1} times the floor, {beside}; {cpu_each:.0} µs of our CPU each", took / floor);
    }
}

/// Puts letters into a user's INBOX, and makes Dovecot notice them.
fn fill(servers: &Servers, user: &str, letters: &[String]) {
    servers.deliver_lmtp(b"Auto-Submitted: auto-generated\r\n\r\n", &format!("{user}@club.test"));
    put(letters, &servers.maildir(user));
    let inbox = servers.maildir(user);
    let owner = Command::new("chown")
        .arg("-R")
        .arg("--reference")
        .arg(inbox.parent().expect("its home"))
        .arg(&inbox)
        .status();
    assert!(owner.expect("chown").success());
}

/// Measures a bare download by imaplib, followed by smtp-source sending as many letters over four sessions.
fn floor(servers: &Servers, sink_port: u16, letters: &[String]) -> f64 {
    fill(servers, "floor", letters);
    let script = format!(
        "import imaplib\nm = imaplib.IMAP4('127.0.0.1', {})\nm.login('floor', '{PASSWORD}')\nm.select()\n\
         m.uid('FETCH', '1:*', '(UID BODY.PEEK[])')\nm.logout()\n",
        servers.imap_port
    );
    let began = begin();
    assert!(Command::new("python3").args(["-c", &script]).status().expect("python3").success());
    let sent = Command::new("smtp-source")
        .args(["-d", "-s", "4", "-l", "2137", "-m", &letters.len().to_string()])
        .arg(format!("127.0.0.1:{sink_port}"))
        .status();
    assert!(sent.expect("smtp-source, which comes with Postfix").success());
    told("the floor: imaplib, then smtp-source", letters.len(), began.elapsed())
}

/// Measures how many seconds mbsync takes to download the same mailbox, with its defaults. `None` if it is not
/// installed.
fn mbsync(servers: &Servers, letters: &[String]) -> Option<f64> {
    let there = Command::new("mbsync").arg("--version").stdout(Stdio::null()).status();
    there.ok().filter(|status| status.success())?;
    fill(servers, "mbsync", letters);
    let folder = tempfile::tempdir().expect("a folder");
    let config = folder.path().join("mbsyncrc");
    let text = format!(
        "IMAPAccount a\nHost 127.0.0.1\nPort {}\nUser mbsync\nPass {PASSWORD}\nSSLType None\nAuthMechs LOGIN\n\n\
         IMAPStore far\nAccount a\n\nMaildirStore near\nInbox {1}/inbox\nPath {1}/\n\n\
         Channel c\nFar :far:\nNear :near:\nPatterns INBOX\nCreate Near\nSync Pull\nSyncState *\n",
        servers.imap_port,
        folder.path().display()
    );
    fs::write(&config, text).expect("its config");
    let began = begin();
    let status = Command::new("mbsync").arg("-q").arg("-c").arg(&config).arg("-a").status();
    assert!(status.expect("mbsync").success());
    Some(told("mbsync, a download with its defaults", letters.len(), began.elapsed()))
}

/// The config for an inbox and an outbox in Maildirs below the club's folder.
const MAILDIRS: &str = "[inbox.maildir]\npath = \"{}/in\"\n[outbox.maildir]\npath = \"{}/out\"\n";

fn maildir(runtime: &Runtime) {
    let letters = number("LETTERS", 10_000);
    let club = runtime.block_on(Club::new(letters, MAILDIRS));
    println!("maildir: {letters} letters of {} B, from Maildir to Maildirs", club.letters.first[0].len());
    drain_maildir(runtime, &club, &[]);
}

fn answers(runtime: &Runtime) {
    let letters = number("LETTERS", 200);
    println!("answers: {letters} letters, one after the other");
    let club = runtime.block_on(Club::new(letters, MAILDIRS));
    let inbox = club.folder.path().join("in");
    maildir::create(&inbox).expect("a Maildir");
    club.answer_each(runtime, "to a letter in a Maildir", |letter| {
        maildir::deliver(&inbox, letter.as_bytes()).expect("it is delivered");
    });
    let servers = Servers::dovecot().expect("a Dovecot");
    let mail = format!(
        "[inbox.imap]\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"\nuser = \"referee\"\npassword = \"{PASSWORD}\"\n\
         [outbox.maildir]\npath = \"{{}}/out\"\n",
        servers.imap_port
    );
    let club = runtime.block_on(Club::new(letters, &mail));
    club.answer_each(runtime, "to a letter at Dovecot", |letter| {
        servers.deliver_lmtp(letter.as_bytes(), "referee@club.test");
    });
}

fn turns(runtime: &Runtime) {
    let (matches, turns) = (number("MATCHES", 20), 25);
    let club = runtime.block_on(Club::new(matches, MAILDIRS));
    runtime.block_on(sending::send_due(&club.office)).expect("the forms are sent");
    let inbox = club.folder.path().join("in");
    let setups = [club.letters.first.as_slice(), &club.letters.second].concat();
    put(&setups, &inbox);
    club.drain(runtime, || is_empty(inbox.join("new")));
    let mut letters = Vec::new();
    for turn in 1..=turns {
        for seat in Seat::BOTH {
            letters.extend(club.letters[seat].iter().map(|setup| hold(setup, turn)));
        }
    }
    put(&letters, &inbox);
    println!("turns: {} letters for {matches} matches, from Maildir to Maildirs", letters.len());
    let before = cpu();
    let took = club.drain(runtime, || is_empty(inbox.join("new")));
    told("each turn sealed, then adjudicated", letters.len(), took);
    println!("    {:.0} µs of CPU each", (cpu() - before) / letters.len() as f64 * 1e6);
    let ids: Vec<_> = club.letters.first.iter().map(|setup| match_of(setup)).collect();
    for row in runtime.block_on(club.office.store.matches(&ids)).expect("the store answers") {
        let snapshot: serde_json::Value = serde_json::from_str(&row.snapshot).expect("a snapshot");
        let adjudicated = snapshot["adjudicated"].as_array().map_or(0, Vec::len);
        assert_eq!(adjudicated, turns as usize + 1, "the setup and each turn");
    }
}

/// Returns the name of the match in the subject of a letter.
fn match_of(setup: &str) -> String {
    let (_, rest) = setup.split_once("Re: [").expect("a subject");
    rest.split_once(']').expect("the name of a match").0.to_owned()
}

/// Makes the letter that lets a turn pass, out of the setup of the same seat.
fn hold(setup: &str, turn: u32) -> String {
    let (head, body) = setup.split_once("\r\n\r\n").expect("a head");
    let (_, quoted) = body.split_once("Good luck!").expect("an end");
    let head =
        head.replace("Setup: Quadrant Z", &format!("Turn {turn}")).replace("<QZ-", &format!("<{turn}.QZ-"));
    format!("{head}\r\n\r\nTURN {turn}\r\nHOLD\r\n\r\nGood luck!{quoted}")
}

fn boards(runtime: &Runtime) {
    let letters = number("LETTERS", 10_000);
    let club = runtime.block_on(Club::varied(letters, MAILDIRS));
    println!("boards: {letters} letters of {} B, no two boards alike", club.letters.first[0].len());
    drain_maildir(runtime, &club, &[]);
}

/// Measures one daemon, then three, on databases with the same number of matches.
fn postgres(runtime: &Runtime) {
    let letters = number("LETTERS", 10_000);
    let cluster = Cluster::shared().expect("PostgreSQL");
    for (database, daemons) in [("one", 1), ("three", 3)] {
        runtime.block_on(cluster.create(database));
        let url = cluster.url(database);
        let club = runtime.block_on(Club::on(&url, letters, MAILDIRS));
        let others: Vec<_> =
            (1..daemons).map(|_| runtime.block_on(office_on(&url, club.folder.path(), MAILDIRS))).collect();
        println!("postgres: {letters} letters of {} B, {daemons} daemon(s)", club.letters.first[0].len());
        drain_maildir(runtime, &club, &others);
        for office in others {
            runtime.block_on(office.close());
        }
        runtime.block_on(club.office.close());
    }
}

fn drain_maildir(runtime: &Runtime, club: &Club, others: &[Arc<Office>]) {
    // Send the forms now, which creates each player's Maildir, so that neither is measured.
    runtime.block_on(sending::send_due(&club.office)).expect("the forms are sent");
    let inbox = club.folder.path().join("in");
    for (what, letters) in [
        ("sealed, one receipt each", &club.letters.first),
        ("adjudicated, a report for each side", &club.letters.second),
    ] {
        put(letters, &inbox);
        let before = cpu();
        told(what, letters.len(), club.drain_with(runtime, others, || is_empty(inbox.join("new"))));
        println!("    {:.0} µs of CPU each", (cpu() - before) / letters.len() as f64 * 1e6);
    }
}
