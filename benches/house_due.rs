//! How long players wait for answers while the house has to move in a thousand matches.
//!
//! `cargo bench --bench house_due`. Two daemons run on SQLite and Maildirs, each as a process of its own, and take turns:
//! one sleeps while the other works. In the club of the second, the house (expert) has to move in a thousand matches of
//! Quantum, from the start. Players ask where their matches stand, one letter at a time. Prints how long their answers took
//! from the moment that the letter was stored (a Maildir is looked at once a second, which would hide the rest), by how much
//! longer that was beside the house, and how long the house took for all its turns.
//!
//! The variables PAIRS (9 pairs of phases), LETTERS (20 in each phase) and DUE (1,000 matches) change how much there is.

#[path = "../tests/support/club.rs"]
mod club;

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use fogpost::post::maildir;
use fogpost::post::maildirs::folder_of;

use club::{Club, Daemon, PATIENCE};

/// Matches between people, whose first players write in turn.
const PEOPLE: usize = 40;

/// What waiting times may grow by.
const BAR: f64 = 1.10;

/// The quantile of Student's distribution that bounds a 90 % interval of nine differences.
const T_95: f64 = 1.86;

/// What the log says when letters are stored, and when a match is ruled on that no letter came for.
const STORED: &str = "letters stored";
const RULED: &str = "ruled on a match";

/// A club whose daemon works in some phases only.
struct Place {
    club: Club,
    daemon: Daemon,
    players: Vec<Player>,
    asked: usize,
    worked: Duration,
}

struct Player {
    address: String,
    token: String,
}

fn number(name: &str, otherwise: usize) -> usize {
    std::env::var(name).ok().map_or(otherwise, |text| text.parse().expect("a number"))
}

fn main() {
    // Cargo passes this flag to benches only when it measures.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let (pairs, letters, due) = (number("PAIRS", 9), number("LETTERS", 20), number("DUE", 1000));
    let mut quiet = Place::new();
    let mut busy = Place::new();
    busy.let_house_owe(due);
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..pairs {
        alone.push(quiet.phase(letters));
        beside.push(busy.phase(letters));
    }
    told("the house waits", &alone);
    told("the house thinks", &beside);
    for percent in [50, 99] {
        compare(&alone, &beside, percent);
    }
    let meanwhile = busy.turns_of_house();
    busy.work(|place| {
        while place.turns_of_house() < due {
            thread::sleep(Duration::from_millis(100));
        }
    });
    println!(
        "{due} turns of the house in {:.0} s, {meanwhile} of them beside letters",
        busy.worked.as_secs_f64()
    );
    for place in [quiet, busy] {
        place.daemon.signal("-CONT");
        place.daemon.stop(&place.club);
    }
}

impl Place {
    /// A club with matches between people, whose daemon has sent the invitations and sleeps.
    fn new() -> Place {
        let club = Club::new();
        let matches = (0..PEOPLE).map(|n| format!("quadrant-z;ann{n}@players.test;bo{n}@players.test;"));
        open(&club, matches);
        let daemon = club.start();
        let players = (0..PEOPLE).map(|n| format!("ann{n}@players.test"));
        let players = players.map(|address| Player { token: token(&club.letters_to(&address, 1)), address });
        let players = players.collect();
        daemon.signal("-STOP");
        Place { club, daemon, players, asked: 0, worked: Duration::ZERO }
    }

    /// Opens matches in which the house has to move, and waits until the invitations have gone out.
    fn let_house_owe(&mut self, due: usize) {
        let last = format!("carl{}@players.test", due - 1);
        self.work(|place| {
            open(&place.club, (0..due).map(|n| format!("quantum;house:expert;carl{n}@players.test;")));
            place.club.letters_to(&last, 1)
        });
    }

    fn turns_of_house(&self) -> usize {
        self.club.log().matches(RULED).count()
    }

    /// Lets the daemon work for as long as `during` takes.
    fn work<T>(&mut self, during: impl FnOnce(&mut Place) -> T) -> T {
        let began = Instant::now();
        self.daemon.signal("-CONT");
        let done = during(self);
        self.daemon.signal("-STOP");
        self.worked += began.elapsed();
        done
    }

    /// Lets players write, one after the other, and returns how long their answers took, in order.
    fn phase(&mut self, letters: usize) -> Vec<Duration> {
        let before = self.stored().len();
        let came: Vec<DateTime<Utc>> = self.work(|place| (0..letters).map(|_| place.ask()).collect());
        let stored = &self.stored()[before..];
        assert_eq!(stored.len(), letters, "each letter came alone");
        let waits =
            came.iter().zip(stored).map(|(came, stored)| (*came - stored).to_std().unwrap_or_default());
        let mut took: Vec<Duration> = waits.collect();
        took.sort();
        took
    }

    /// Returns when letters were stored, as the log says.
    fn stored(&self) -> Vec<DateTime<Utc>> {
        let log = self.club.log();
        let lines = log.lines().filter(|line| line.contains(STORED));
        let times = lines.filter_map(|line| line.split_whitespace().next()?.parse().ok());
        times.collect()
    }

    /// Writes a question from the next player, and returns when the answer came.
    fn ask(&mut self) -> DateTime<Utc> {
        let Player { address, token } = &self.players[self.asked % self.players.len()];
        let folder = folder_of(&self.club.path("mail"), address).join("new");
        let had = fs::read_dir(&folder).map_or(0, Iterator::count);
        let number = self.asked;
        // Numbered, because the same text is answered a few times only.
        let raw = format!(
            "From: <{address}>\nTo: referee@club.example\nSubject: Re: your match\n\
             Message-ID: <{number}@players.test>\n\nSTATUS\nThis is letter {number}.\n\n> Reply token: {token}\n"
        );
        self.asked += 1;
        let sent = Instant::now();
        maildir::deliver(&self.club.mailbox(), raw.as_bytes()).expect("it is delivered");
        while fs::read_dir(&folder).map_or(0, Iterator::count) <= had {
            assert!(sent.elapsed() < PATIENCE, "a letter is not answered\n{}", self.club.report());
            thread::sleep(Duration::from_millis(1));
        }
        Utc::now()
    }
}

/// Opens matches, one for each line of a list.
fn open(club: &Club, matches: impl Iterator<Item = String>) {
    let list: Vec<String> = std::iter::once("game;first;second;options".to_owned()).chain(matches).collect();
    fs::write(club.path("list.csv"), list.join("\n")).expect("a list");
    let output = club.run(&["match", "new", "--from", "list.csv"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the reply token in a letter.
fn token(letter: &str) -> String {
    let (_, rest) = letter.split_once("Reply token: ").expect("a letter to a seat");
    rest.split_whitespace().next().expect("a token").to_owned()
}

fn percentile(sorted: &[Duration], percent: usize) -> f64 {
    sorted[(sorted.len() * percent / 100).min(sorted.len() - 1)].as_secs_f64()
}

fn told(what: &str, phases: &[Vec<Duration>]) {
    let mut took = phases.concat();
    took.sort();
    let ms = |percent| percentile(&took, percent) * 1000.0;
    println!("{what:<16} {:>6} answers, median {:>6.1} ms, p99 {:>6.1} ms", took.len(), ms(50), ms(99));
}

/// Prints by how much longer players waited beside the house, with the 90 % interval of the mean over the pairs.
fn compare(alone: &[Vec<Duration>], beside: &[Vec<Duration>], percent: usize) {
    let logs: Vec<f64> = alone
        .iter()
        .zip(beside)
        .map(|(a, b)| (percentile(b, percent) / percentile(a, percent)).ln())
        .collect();
    let count = logs.len() as f64;
    let mean = logs.iter().sum::<f64>() / count;
    let variance = logs.iter().map(|log| (log - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
    let half = T_95 * (variance / count).sqrt();
    let verdict = if (mean - half).exp() > BAR { "beyond the bar" } else { "within the bar" };
    println!(
        "p{percent}: {:.2} times (90 %: {:.2} to {:.2}), {verdict} of {BAR:.2}",
        mean.exp(),
        (mean - half).exp(),
        (mean + half).exp()
    );
}
