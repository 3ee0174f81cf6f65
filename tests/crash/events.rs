//! Kills while the sections of an event open and its season closes: no match is missing, none is there twice.

use std::collections::BTreeSet;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::club::support;
use crate::settings::{kills, seed};
use fogpost_testing::random::Random;

const PLAYERS: usize = 24;

/// A daemon that may live this long without an end of its work does not work, in milliseconds.
const MAX_LIFE: usize = 300_000;

/// A season opens some sections at a time, so that a daemon that is killed leaves others to be opened.
const PLAN: &str = "name = \"Crash\"\ngame = \"quad\"\nformat = \"league\"\nsection_size = 4\nopens = \"full\"\n\
                    max_entrants = 24\n";

struct Season<'a> {
    club: &'a support::Club,
    id: String,
}

impl Season<'_> {
    fn event(&self, arguments: &[&str]) -> String {
        let output = self.club.run(&[&["event"], arguments].concat());
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {told}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    fn shown(&self) -> Value {
        serde_json::from_str(&self.event(&["show", &self.id, "--json"])).expect("JSON")
    }

    fn matches(&self) -> Vec<String> {
        let shown = self.shown();
        let matches = shown["matches"].as_array().cloned().unwrap_or_default();
        matches.iter().filter_map(|id| id.as_str().map(str::to_owned)).collect()
    }

    /// Kills daemons at random moments until the condition holds. They live longer and
    /// longer, so that a slow machine comes to an end too. Returns the number of kills.
    fn kill_until(&self, random: &mut Random, done: impl Fn() -> bool) -> u64 {
        let (mut kills, mut longest) = (0, 200);
        while !done() {
            assert!(longest < MAX_LIFE, "{}", self.club.report());
            let daemon = self.club.start();
            thread::sleep(Duration::from_millis(random.below(longest) as u64));
            daemon.kill();
            kills += 1;
            longest = longest * 5 / 4;
        }
        kills
    }
}

#[test]
fn kills_while_sections_open_and_seasons_close_lose_and_double_nothing() {
    let club = support::Club::new();
    let (wanted, seed) = (kills(), seed());
    let mut random = Random::new(seed);
    let (mut killed, mut no) = (0, 0);
    while killed < wanted {
        no += 1;
        let id = format!("EV-CRASH-{no}");
        let season = Season { club: &club, id: id.clone() };
        std::fs::write(club.path("plan.toml"), format!("id = \"{id}\"\n{PLAN}")).expect("a file");
        season.event(&["new", "plan.toml"]);
        for player in 0..PLAYERS {
            season.event(&["enter", &id, &format!("player{player}@players.example"), "a test"]);
        }
        // Six sections of four, each of twelve matches.
        killed += season.kill_until(&mut random, || season.matches().len() == 72);
        let matches = season.matches();
        assert_eq!(matches.iter().collect::<BTreeSet<_>>().len(), 72);
        for (place, id) in matches.iter().enumerate() {
            let seat = if place % 2 == 0 { "first" } else { "second" };
            assert!(club.run(&["match", "forfeit", id, seat]).status.success());
        }
        season.event(&["close", &id]);
        killed += season.kill_until(&mut random, || season.shown()["stage"] == "over");
        let verified = club.run(&["audit", "verify", &id]);
        assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
        let table = season.event(&["standings", &id, "--csv"]);
        assert_eq!(table.lines().count(), 1 + PLAYERS);
        // A win a match: the points of all add up to the matches.
        let points: f64 = table
            .lines()
            .skip(1)
            .map(|line| line.split(',').nth(4).and_then(|n| n.parse::<f64>().ok()).unwrap_or(0.0))
            .sum();
        assert_eq!(points, 72.0);
    }
    println!("{killed} kills in {no} seasons (seed {seed})");
}
