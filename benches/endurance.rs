//! The whole program under attack: players write as always, while strangers flood the mailbox.
//!
//! `cargo bench --bench endurance`. The daemon runs as a process of its own, on SQLite and Maildirs. In turns, players
//! write alone, and hostile letters come beside theirs. Prints how long players wait for their answers, what strangers
//! got, the daemon's memory, and how long it takes to end at random moments.
//!
//! The variables PHASES (5 pairs), SECONDS (30 for each phase), PLAYERS (5 letters a second) and HOSTILE (50) change how
//! much there is.

#[path = "../tests/support/club.rs"]
mod club;
#[path = "../tests/support/worst_letters.rs"]
mod worst_letters;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use chrono::Utc;
use fogpost::daemon::instruct;
use fogpost::daemon::{GmIndex, Holder, NamedAddress, NewMatch};
use fogpost::game::BySeat;
use fogpost::game::any::GameKind;
use fogpost::letter::Address;
use fogpost::post::maildir;
use fogpost::post::maildirs::folder_of;

use club::{Club, Daemon};
use fogpost_testing::random::Random;
use worst_letters::SHAPES;

/// Matches; each of their seats writes in turn, so that nobody's answers come so often that they are delayed.
const MATCHES: usize = 200;

/// How many of the seats strangers write for, without their tokens. Their players ask nothing themselves: an answer to
/// such a letter would count as one to the player's.
const FORGED: usize = 100;

/// One in so many hostile letters is as large as a letter may be, in a shape that takes much memory to read.
const LARGE_IN: usize = 100;

/// How often the daemon is told to end.
const ENDS: usize = 5;

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().expect("a number"))
}

/// A seat, and the token in its letters.
struct Seat {
    address: String,
    token: String,
}

/// A player's letter that waits for its answer.
struct Question {
    address: String,
    /// The letters that its player had before.
    had: usize,
    sent: SystemTime,
}

struct Attack {
    club: Club,
    seats: Vec<Seat>,
    random: Random,
    asked: usize,
    hostile: usize,
}

/// Starts the daemon with the environment of its systemd unit.
fn start(club: &Club) -> Daemon {
    let mut command = club.command(&["run"]);
    command.env("MIMALLOC_PURGE_DELAY", "10");
    club.spawn(command)
}

fn main() {
    // Cargo passes this flag to benches only when it measures.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let (phases, seconds) = (number("PHASES", 5), number("SECONDS", 30));
    let (players, hostile) = (number("PLAYERS", 5), number("HOSTILE", 50));
    let club = Club::new();
    let seats = open(&club);
    let mut attack = Attack { club, seats, random: Random::new(1), asked: 0, hostile: 0 };
    let mut daemon = start(&attack.club);
    attack.club.wait_for("the forms", || attack.had(&attack.seats[attack.seats.len() - 1].address) > 0);
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..phases {
        alone.extend(attack.phase(Duration::from_secs(seconds as u64), players, 0));
        beside.extend(attack.phase(Duration::from_secs(seconds as u64), players, hostile));
    }
    println!("{} letters of players, {} hostile ones", attack.asked, attack.hostile);
    told("players alone", &mut alone);
    told("beside hostile letters", &mut beside);
    println!("median {:.2} times, p99 {:.2} times", ratio(&alone, &beside, 50), ratio(&alone, &beside, 99));
    println!("the daemon's memory: at most {} MB", peak_mb(&daemon));
    let mut longest = Duration::ZERO;
    for _ in 0..ENDS {
        let alive = Duration::from_millis(500 + attack.random.below(3000) as u64);
        attack.phase(alive, players, hostile);
        attack.burst(hostile);
        let began = Instant::now();
        daemon.signal("-TERM");
        while daemon.is_running() {
            std::thread::sleep(Duration::from_millis(5));
        }
        longest = longest.max(began.elapsed());
        daemon = start(&attack.club);
    }
    println!("SIGTERM during the attack: at most {} ms until the end", longest.as_millis());
    attack.wait_until_settled();
    let (letters, bytes) = to_strangers(&attack.club.path("mail"));
    println!("to strangers: {letters} letters, {} kB", bytes / 1000);
    daemon.stop(&attack.club);
}

/// Opens the matches, and returns their seats.
fn open(club: &Club) -> Vec<Seat> {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    runtime.block_on(async {
        let office = club.office(Utc::now).await;
        let seated = |name: &str, n: usize| NamedAddress {
            name: format!("{name} {n}"),
            address: Address::parse(&format!("{name}{n}@players.test")).expect("an address"),
        };
        let new: Vec<NewMatch> = (0..MATCHES)
            .map(|n| NewMatch {
                game: GameKind::QuadrantZ,
                choices: Default::default(),
                players: BySeat::new(seated("ann", n), seated("bo", n)).map(Holder::Player),
                terms: office.config.terms.clone(),
            })
            .collect();
        let opened = instruct::open_all(&office, GmIndex::default(), &new).await.expect("they open");
        let ids: Vec<String> = opened.iter().map(|game_match| game_match.id.clone()).collect();
        let rows = office.store.seats_of(&ids).await.expect("their seats");
        office.close().await;
        let seats =
            rows.into_iter().map(|row| Seat { address: row.player.addresses[0].clone(), token: row.token });
        seats.collect()
    })
}

impl Attack {
    /// The number of letters that came to an address.
    fn had(&self, address: &str) -> usize {
        let folder = folder_of(&self.club.path("mail"), address).join("new");
        fs::read_dir(folder).map_or(0, Iterator::count)
    }

    fn deliver(&self, raw: &[u8]) {
        maildir::deliver(&self.club.mailbox(), raw).expect("it is delivered");
    }

    /// Lets players, and others, write this many letters a second, and returns how long the answers to players took.
    fn phase(&mut self, length: Duration, players: usize, hostile: usize) -> Vec<Duration> {
        let (mut waiting, mut took) = (Vec::new(), Vec::new());
        let began = Instant::now();
        let (mut asked, mut attacked) = (0, 0);
        while began.elapsed() < length {
            let due = |rate: usize| (began.elapsed().as_secs_f64() * rate as f64) as usize;
            while attacked < due(hostile) {
                self.attack();
                attacked += 1;
            }
            if asked < due(players) {
                waiting.push(self.ask());
                asked += 1;
            }
            std::thread::sleep(Duration::from_millis(5));
            self.take_answered(&mut waiting, &mut took);
        }
        let began = Instant::now();
        while !waiting.is_empty() {
            assert!(
                began.elapsed() < club::PATIENCE,
                "{} letters are not answered\n{}",
                waiting.len(),
                self.club.report()
            );
            std::thread::sleep(Duration::from_millis(20));
            self.take_answered(&mut waiting, &mut took);
        }
        took
    }

    /// Delivers a second's hostile letters at once.
    fn burst(&mut self, letters: usize) {
        for _ in 0..letters {
            self.attack();
        }
    }

    /// Writes a question from the next seat.
    fn ask(&mut self) -> Question {
        let Seat { address, token } = &self.seats[self.asked % (self.seats.len() - FORGED)];
        let (address, had) = (address.clone(), self.had(address));
        let number = self.asked;
        // Numbered, because the same text is answered a few times only.
        let raw = format!(
            "From: <{address}>\nTo: referee@club.example\nSubject: Re: your match\n\
             Message-ID: <{number}@players.test>\n\nSTATUS\nThis is letter {number}.\n\n> Reply token: {token}\n"
        );
        self.asked += 1;
        let sent = SystemTime::now();
        self.deliver(raw.as_bytes());
        Question { address, had, sent }
    }

    /// Takes out those questions whose answer has come, and adds how long each took.
    fn take_answered(&self, waiting: &mut Vec<Question>, took: &mut Vec<Duration>) {
        waiting.retain(|question| {
            if self.had(&question.address) <= question.had {
                return true;
            }
            let folder = folder_of(&self.club.path("mail"), &question.address).join("new");
            let files = fs::read_dir(folder).expect("a mailbox").flatten();
            let written = files.filter_map(|file| file.metadata().ok()?.modified().ok());
            let came = written.max().expect("a letter");
            took.push(came.duration_since(question.sent).unwrap_or_default());
            false
        });
    }

    /// Delivers a hostile letter of a random kind, each from another address.
    fn attack(&mut self) {
        let number = self.hostile;
        self.hostile += 1;
        if self.random.below(LARGE_IN) == 0 {
            let (_, shape) = SHAPES[self.random.below(SHAPES.len())];
            let id = format!("Message-ID: <{number}@elsewhere.test>\r\n");
            return self.deliver(&[id.into_bytes(), shape()].concat());
        }
        let from = format!("mallory{number}@elsewhere.test");
        let (fields, body) = self.hostile_content(&from);
        self.deliver(
            format!(
                "{fields}To: referee@club.example\nSubject: letter {number}\nMessage-ID: <{number}@elsewhere.test>\n\n{body}\n"
            )
            .as_bytes(),
        );
    }

    fn hostile_content(&mut self, from: &str) -> (String, String) {
        let plain = format!("From: {from}\n");
        let multipart = format!("{plain}Content-Type: multipart/mixed; boundary=b\n");
        match self.random.below(25) {
            0 => (plain, "RULES quadrant-z\n".repeat(5000)),
            1 => (plain, "SHIP 99 A1 TO Z99 AND BACK\n".repeat(9_500)),
            2 => (multipart, "--b\n\nHELP\n".repeat(20_000)),
            3 => (plain, "C ontent-Type: message/rfc822\n\n".repeat(10_000)),
            4 => (format!("{plain}Content-Type: text/html\n"), "<div><p>SHIP 1 HOLD".repeat(10_000)),
            5 => (format!("From: {from}, other@elsewhere.test\n"), "HELP\n".to_owned()),
            6 => (format!("{plain}Auto-Submitted: auto-replied\n"), "I am away.\n".to_owned()),
            7 => ("From: \n".to_owned(), "\0\u{c}HELP\n".to_owned()),
            8..12 => (plain, "CHALLENGE victim@elsewhere.test QUAD\n".repeat(60)),
            12..16 => {
                // A player's address without a token.
                let forged = self.seats.len() - FORGED + self.random.below(FORGED);
                let player = self.seats[forged].address.clone();
                (format!("From: {player}\n"), "RESIGN CONFIRM\nHISTORY\n".repeat(50))
            }
            _ => (plain, "HISTORY\nSTATUS\nREPORT\nHELP\n".repeat(25)),
        }
    }

    /// Waits until no letter waits.
    fn wait_until_settled(&self) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let office = runtime.block_on(self.club.office(Utc::now));
        self.club.wait_for("the last letters", || {
            let is_empty =
                fs::read_dir(self.club.mailbox().join("new")).is_ok_and(|mut new| new.next().is_none());
            let queues = runtime.block_on(office.store.queues()).expect("the store answers");
            is_empty && queues.letters_waiting == 0
        });
    }
}

fn told(what: &str, took: &mut [Duration]) {
    took.sort();
    let ms = |percent| percentile(took, percent).as_secs_f64() * 1000.0;
    println!("{what:<24} {:>6} answers, median {:>7.1} ms, p99 {:>7.1} ms", took.len(), ms(50), ms(99));
}

fn percentile(sorted: &[Duration], percent: usize) -> Duration {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)]
}

fn ratio(alone: &[Duration], beside: &[Duration], percent: usize) -> f64 {
    percentile(beside, percent).as_secs_f64() / percentile(alone, percent).as_secs_f64()
}

/// The most memory that a daemon has had, in megabytes.
fn peak_mb(daemon: &Daemon) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("a peak");
    line.split_whitespace().next().and_then(|kb| kb.parse::<u64>().ok()).expect("a number") / 1000
}

/// Counts letters, and their bytes, in the mailboxes of those who do not play.
fn to_strangers(mail: &Path) -> (usize, u64) {
    let mut found = (0, 0);
    for folder in fs::read_dir(mail).expect("the mailboxes").flatten() {
        if !folder.file_name().to_string_lossy().contains("elsewhere.test") {
            continue;
        }
        for letter in fs::read_dir(folder.path().join("new")).into_iter().flatten().flatten() {
            found.0 += 1;
            found.1 += letter.metadata().map_or(0, |file| file.len());
        }
    }
    found
}
