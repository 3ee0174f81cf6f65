//! The cost of a letter, a start and a deadline sweep, with one, a thousand and 100,000 matches in the database.
//!
//! The thousand matches are opened as usual, their forms are sent, and one seat of each has filed; the 100,000 are
//! copies of their rows (`many.rs`). The measured load is what happens all year: a seat amends its orders and gets a
//! receipt by SMTP. The three databases take turns, so that other load on the machine affects all of them.
//!
//! The largest database takes 9 GB in the folder for temporary files (TMPDIR). SOME and MATCHES in the environment set
//! how many matches are opened and how many there are in all.

#[path = "many.rs"]
mod many;

use std::os::unix::net::UnixDatagram;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::str::FromStr as _;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::daemon::loops::deadlines;
use fogpost::daemon::{items, new_letter, sending};
use fogpost::post::FetchedLetter;
use sqlx::Connection as _;
use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use tokio::runtime::Runtime;

use super::tools::{Sink, median};
use super::{Club, SETUP_OF_FIRST, cpu, is_empty, letter, number, office, put};

/// Rounds of each measurement.
const ROUNDS: usize = 5;

/// Letters per round.
const LETTERS: usize = 500;

/// Hours by which the referee's clock is ahead: one more in each round, so that the hourly limit of answers never
/// counts another round's.
static AHEAD: AtomicI64 = AtomicI64::new(0);

pub fn now() -> DateTime<Utc> {
    Utc::now() + TimeDelta::hours(AHEAD.load(Ordering::Relaxed))
}

pub fn measure(runtime: &Runtime) {
    let (some, many) = (number("SOME", 1_000), number("MATCHES", 100_000));
    let sink = Sink::start();
    let ways = format!(
        "[inbox.maildir]\npath = \"{{}}/in\"\n[outbox.smtp]\nhost = \"127.0.0.1\"\nport = {}\ntls = \"none\"\n\
         [letters]\nanswers_per_hour = 100000\n",
        sink.port
    );
    let began = Instant::now();
    let one = runtime.block_on(Sized::begun(1, &ways));
    let thousand = runtime.block_on(Sized::begun(some, &ways));
    println!("size: {some} matches were opened and begun in {:.0} s", began.elapsed().as_secs_f64());
    let all = runtime.block_on(thousand.multiplied(many.div_ceil(some), &ways));
    println!("  {} matches made of them, {:.0} s", all.matches, began.elapsed().as_secs_f64());
    daemon(runtime, &all);
    clock(runtime, &all);
    letters(runtime, [one, thousand, all]);
}

/// How letters arrive.
#[derive(Clone, Copy, PartialEq)]
enum Load {
    /// Many at a time, all for one match.
    ToOne,
    /// One by one, each for another match, anywhere in the database.
    OneByOne,
    /// Many at a time, each for another match.
    Together,
}

/// A database of some size, and its writers.
struct Sized {
    matches: usize,
    club: Club,
    seats: Vec<Writer>,
}

/// A seat that amends its orders.
struct Writer {
    match_id: String,
    token: String,
    address: String,
    /// The Message-ID of the form that it answers.
    form: String,
}

impl Sized {
    /// Opens matches and files for one seat of each.
    async fn begun(matches: usize, ways: &str) -> Sized {
        let mut club = Club::new(matches, ways).await;
        club.without_forms().await;
        let letters = std::mem::take(&mut club.letters);
        answer(&club, &letters.first).await;
        let seats = writers(club.folder.path()).await;
        Sized { matches, club, seats }
    }

    /// Copies its matches into another database, `times` times.
    async fn multiplied(&self, times: usize, ways: &str) -> Sized {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("fogpost.db");
        self.club.office.store.backup(&file).await.expect("a copy");
        many::multiply(&format!("sqlite:{}", file.display()), times).await;
        let office = office(folder.path(), ways).await;
        let seats = writers(folder.path()).await;
        Sized {
            matches: self.matches * times,
            club: Club { folder, office, letters: Default::default(), is_varied: false },
            seats,
        }
    }

    /// Amended orders, all different, from the seats with these numbers.
    fn texts(&self, round: i64, seats: impl Iterator<Item = usize>) -> Vec<String> {
        let text = |(at, seat): (usize, usize)| {
            let Writer { match_id, token, address, form } = &self.seats[seat % self.seats.len()];
            let plain = letter(match_id, token, address, SETUP_OF_FIRST);
            let plain = plain.replace("Good luck!", &format!("Good luck {round}.{at}!"));
            let named = format!(".{round}.{at}@players.test>\r\nIn-Reply-To: <{form}>\r\nDate");
            plain.replacen("@players.test>\r\nDate", &named, 1)
        };
        seats.enumerate().map(text).collect()
    }

    /// Runs a round and returns the CPU time per letter, in µs.
    fn round(&self, runtime: &Runtime, round: i64, load: Load) -> f64 {
        let apart = (self.seats.len() / LETTERS).max(1);
        let anywhere = |at| 1 + at * apart;
        let letters =
            self.texts(round, (0..LETTERS).map(|at| if load == Load::ToOne { 0 } else { anywhere(at) }));
        let together = if load == Load::OneByOne { 1 } else { LETTERS };
        let before = cpu();
        for letters in letters.chunks(together) {
            runtime.block_on(answer(&self.club, letters));
        }
        (cpu() - before) / LETTERS as f64 * 1e6
    }
}

async fn answer(club: &Club, letters: &[String]) {
    let arrived = |raw: &String| FetchedLetter {
        size: raw.len() as u64,
        raw: raw.clone().into_bytes(),
        received_at: now(),
        arrivals: Vec::new(),
        origin: "bench".to_owned(),
        cut: false,
        is_spam: false,
    };
    for some in letters.chunks(LETTERS) {
        let letters: Vec<_> = some.iter().map(|raw| new_letter(arrived(raw))).collect();
        let waiting = club.office.store.insert_letters(&letters).await.expect("kept");
        assert_eq!(waiting, letters.len(), "each is a new one");
    }
    items::settle_all(&club.office).await.expect("settled");
    sending::send_due(&club.office).await.expect("sent");
}

/// The first seat of each match.
async fn writers(folder: &Path) -> Vec<Writer> {
    let file = folder.join("fogpost.db").display().to_string();
    let options = SqliteConnectOptions::from_str(&format!("sqlite:{file}")).expect("a file").read_only(true);
    let mut connection = SqliteConnection::connect_with(&options).await.expect("a database");
    let sql = "SELECT s.match_id, s.token, a.address, (SELECT d.message_id FROM dispatch d \
               WHERE d.match_id = s.match_id AND d.seat = s.seat ORDER BY d.id LIMIT 1) AS form \
               FROM seat s JOIN address a ON a.player_id = s.player_id WHERE s.seat = 'first' ORDER BY s.match_id";
    let rows: Vec<(String, String, String, String)> =
        sqlx::query_as(sql).fetch_all(&mut connection).await.expect("seats");
    let writer = |(match_id, token, address, form)| Writer { match_id, token, address, form };
    rows.into_iter().map(writer).collect()
}

/// Measures the CPU time per letter, from its arrival until its receipt is sent.
fn letters(runtime: &Runtime, sizes: [Sized; 3]) {
    for (load, what) in [
        (Load::ToOne, "many at a time to one match"),
        (Load::OneByOne, "one at a time, each to another match"),
        (Load::Together, "many at a time, each to another match"),
    ] {
        // Loads on several matches leave out the database with one match.
        let sizes = if load == Load::ToOne { &sizes[..] } else { &sizes[1..] };
        let mut took = vec![Vec::new(); sizes.len()];
        for _ in 0..=ROUNDS {
            let round = AHEAD.fetch_add(1, Ordering::Relaxed);
            for (size, took) in sizes.iter().zip(&mut took) {
                took.push(size.round(runtime, round, load));
            }
        }
        println!("  CPU for a letter, {what} (bound: 1.10 times)");
        let mut least = None;
        for (size, mut took) in sizes.iter().zip(took) {
            // The first round warms up.
            took.remove(0);
            took.sort_by(f64::total_cmp);
            let each = took[ROUNDS / 2];
            let times = each / *least.get_or_insert(each);
            println!("    of {:>6} in the database {each:>6.0} µs, {times:.2} times", size.matches);
        }
    }
}

/// Measures a deadline sweep when nothing is due.
fn clock(runtime: &Runtime, size: &Sized) {
    let look = |_| {
        let began = Instant::now();
        runtime
            .block_on(deadlines::clock_all(&size.club.office, TimeDelta::hours(1)))
            .expect("the clock is asked");
        began.elapsed()
    };
    let took = median((0..ROUNDS).map(look).collect()).as_secs_f64() * 1e3;
    println!("  a deadline sweep over {} matches: {took:.1} ms (bound: 100 ms)", size.matches);
}

/// Measures the program: its start, and its memory then and after some letters.
fn daemon(runtime: &Runtime, size: &Sized) {
    let folder = size.club.folder.path();
    put(&[], &folder.join("in"));
    let starts = (0..ROUNDS).map(|_| Daemon::start(folder).1).collect();
    let took = median(starts).as_secs_f64();
    println!("  a start with {} matches: {took:.3} s (bound: 1 s)", size.matches);
    let (daemon, _) = Daemon::start(folder);
    std::thread::sleep(Duration::from_secs(10));
    println!(
        "  memory of the daemon ten seconds after its start: {} MB (bound: 100 MB)",
        daemon.memory("VmRSS")
    );
    let apart = size.seats.len() / (4 * LETTERS);
    let letters = size.texts(1000, (0..4 * LETTERS).map(|at| at * apart.max(1)));
    put(&letters, &folder.join("in"));
    while !is_empty(folder.join("in/new")) || !runtime.block_on(size.club.idle()) {
        std::thread::sleep(Duration::from_millis(100));
    }
    let (now, most) = (daemon.memory("VmRSS"), daemon.memory("VmHWM"));
    println!("  after {} letters {now} MB, at most {most} MB (bound: 100 MB)", letters.len());
}

struct Daemon(Child);

impl Daemon {
    /// Starts the program and returns the time until it reported that it is ready.
    fn start(folder: &Path) -> (Daemon, Duration) {
        let place = folder.join("notify");
        let _ = std::fs::remove_file(&place);
        let socket = UnixDatagram::bind(&place).expect("a socket");
        socket.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
        let began = Instant::now();
        let child = Command::new(env!("CARGO_BIN_EXE_fogpost"))
            .arg("run")
            .current_dir(folder)
            .env("NOTIFY_SOCKET", &place)
            .stderr(Stdio::null())
            .spawn();
        let daemon = Daemon(child.expect("fogpost"));
        let mut said = [0; 100];
        let length = socket.recv(&mut said).expect("it becomes ready");
        assert!(said[..length].starts_with(b"READY=1"));
        (daemon, began.elapsed())
    }

    /// A field of /proc/PID/status (proc(5)), in MB.
    fn memory(&self, line: &str) -> u64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.0.id())).expect("Linux");
        let found = status.lines().find_map(|text| text.strip_prefix(line)?.split_whitespace().nth(1));
        found.and_then(|kilobytes| kilobytes.parse::<u64>().ok()).expect("a number") / 1024
    }
}

impl Drop for Daemon {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
