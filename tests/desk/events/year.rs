//! Some months of a club: leagues, a cup and a ladder at the same time, with players who vanish, are slow, or leave.
//! A small run belongs to the suite; `FOGPOST_YEAR=60` plays a year of sixty people.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use fogpost::club::events::event::EventStage;
use fogpost::club::events::verify::verify;
use fogpost::club::rated::results_of;
use fogpost::club::rating::Score;
use fogpost::daemon::ratings;
use fogpost::game::any::GameKind;
use fogpost::ledger::Entry;
use fogpost::referee::{Match, Stage};
use serde_json::json;

use super::{about, event, gm, matches};
use crate::desk::Desk;
use crate::random::Random;

/// What a player does with a match on a day.
#[derive(Clone, Copy, PartialEq)]
enum Habit {
    Keen,
    Slow,
    Vanishes,
}

fn name(no: usize) -> String {
    format!("Player{no:02}")
}

fn address(no: usize) -> String {
    format!("player{no:02}@players.example")
}

fn habit(name: &str) -> Habit {
    let no: usize = name["Player".len()..].parse().expect("a number");
    match no % 6 {
        4 => Habit::Slow,
        5 => Habit::Vanishes,
        _ => Habit::Keen,
    }
}

struct Year {
    desk: Desk,
    random: Random,
    events: Vec<&'static str>,
}

impl Year {
    fn begin(people: usize) -> Year {
        let desk = Desk::with("[ratings]\nquad = 220\n");
        for chunk in (0..people).collect::<Vec<_>>().chunks(8) {
            let lines: Vec<String> =
                chunk.iter().map(|no| format!("GM PLAYER ADD {} {}", address(*no), name(*no))).collect();
            gm(&desk, &lines.join("\n"));
        }
        (0..people).for_each(|no| desk.know(&address(no)));
        Year { desk, random: Random::new(7), events: Vec::new() }
    }

    fn announce(&mut self, id: &'static str, lines: &str, people: std::ops::Range<usize>) {
        let plan = format!(
            "id = \"{id}\"\nname = \"{id}\"\nopens = 2026-05-09\ndays = 3\nseason_days = 14\n{lines}"
        );
        gm(&self.desk, &format!("GM EVENT NEW\n{plan}\nEND")).says("Players enter with");
        for no in people {
            self.desk.write(&address(no), &format!("ENTER {id}"));
        }
        self.events.push(id);
    }

    fn day(&mut self) {
        self.desk.advance(24);
        for id in self.events.clone() {
            if event(&self.desk, id).stage != EventStage::Running {
                continue;
            }
            for game_match in matches(&self.desk, id) {
                if game_match.stage != Stage::Over {
                    self.turn(&game_match);
                }
            }
        }
    }

    /// Lets a match go on by a letter: keen players move, and give up now and then.
    fn turn(&mut self, game_match: &Match) {
        let due = game_match.due().map(|due| due.seats).unwrap_or_default();
        for seat in due {
            let player = &game_match.players[seat];
            let acts = match habit(player) {
                Habit::Keen => true,
                Habit::Slow => self.random.below(5) == 0,
                Habit::Vanishes => self.desk.now().timestamp() % 7 == 0 && game_match.adjudicated.is_empty(),
            };
            if !acts {
                continue;
            }
            let moves = game_match.adjudicated.len();
            let line = match (game_match.game, moves, self.random.below(3)) {
                (GameKind::Quad, 0, _) => "MARBLE E5",
                (GameKind::Quad, 1, _) => "MARBLE F6",
                (_, _, 0) => "RESIGN CONFIRM",
                _ => continue,
            };
            let reader = format!("{}@players.example", player.to_lowercase());
            self.desk.reply(&reader, &about(&self.desk, &reader, &game_match.id), line);
            return;
        }
    }

    /// Compares the book of each event with the independent computation.
    fn check_books(&self) {
        for id in &self.events {
            let rows = self.desk.block_on(self.desk.office().store.book(id)).expect("the store answers");
            let book: Vec<_> = rows.iter().map(|row| (row.json.clone(), row.hash)).collect();
            assert_eq!(verify(&book), Vec::<String>::new(), "{id}");
            let lines: String = rows.iter().map(|row| row.json.clone() + "\n").collect();
            self.python("book", &lines);
            // Every match was opened once, and only for its pair.
            let opened = rows.iter().filter(|row| row.kind == "MatchOpened").count();
            let sql = self.desk.block_on(self.desk.office().store.match_ids()).expect("the store answers");
            let own = sql
                .iter()
                .filter(|match_id| self.desk.find(match_id).terms.event.as_deref() == Some(*id))
                .count();
            assert_eq!(opened, own, "{id}");
        }
    }

    fn check_ratings(&self) -> usize {
        let mut rated = 0;
        for game in GameKind::ALL {
            let found =
                self.desk.block_on(ratings::verify(self.desk.office(), *game)).expect("the store answers");
            assert_eq!(found.1, Vec::<String>::new(), "{game}");
            rated += found.0;
            self.python("ratings", &self.results(*game));
        }
        rated
    }

    /// The rated results of a game, each with the figures that the program computed.
    fn results(&self, game: GameKind) -> String {
        let store = &self.desk.office().store;
        let rows = self.desk.block_on(store.ratings_in(game)).expect("the store answers");
        let mut after: BTreeMap<String, BTreeMap<String, [f64; 3]>> = BTreeMap::new();
        for change in rows.into_iter().map(|row| row.change) {
            let of = change.after;
            let figures = [of.figure as f64 / 100.0, of.deviation as f64 / 100.0, of.volatility as f64 / 1e6];
            after.entry(change.match_id).or_default().insert(change.player.to_string(), figures);
        }
        let mut lines = String::new();
        for (id, after) in after {
            let rows = self.desk.block_on(store.entries(&id)).expect("the store answers");
            let entries: Vec<Entry> =
                rows.iter().map(|row| serde_json::from_str(&row.json).expect("an entry")).collect();
            for result in results_of(&entries) {
                let score = match result.score {
                    Score::Win => 1.0,
                    Score::Draw => 0.5,
                    Score::Loss => 0.0,
                };
                let line = json!({
                    "at": result.at, "match": id, "first": result.basis.numbers.first,
                    "second": result.basis.numbers.second, "score": score,
                    "advantage": result.basis.advantage, "after": after,
                });
                lines += &format!("{line}\n");
            }
        }
        lines
    }

    fn python(&self, what: &str, text: &str) {
        let path = self.desk.folder().join("club.jsonl");
        fs::write(&path, text).expect("a file");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/club.py");
        let done = Command::new("python3").args([script, what]).arg(&path).output().expect("python3 runs");
        let told =
            String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{what}:\n{told}");
    }
}

#[test]
fn months_of_a_club_agree_with_an_independent_computation() {
    let people: Option<usize> = std::env::var("FOGPOST_YEAR").ok().and_then(|people| people.parse().ok());
    let mut year = Year::begin(people.unwrap_or(6));
    let league = "game = \"quad\"\nformat = \"league\"\nsection_size = 3";
    let days = match people {
        None => {
            year.announce("EV-QUAD", league, 0..6);
            year.announce("EV-LADDER", "game = \"quadrant-z\"\nformat = \"ladder\"", 0..4);
            year.announce(
                "EV-CUP",
                "game = \"pacific\"\nformat = \"cup\"\nsection_size = 2\ngames = 1",
                1..5,
            );
            26
        }
        Some(people) => {
            let half = people / 2;
            let quantum = "game = \"quantum\"\nformat = \"league\"\nsection_size = 4";
            year.announce("EV-QUAD-A", league, 0..half);
            year.announce("EV-QUAD-B", league, half..people);
            year.announce("EV-QUANTUM-A", quantum, 0..half);
            year.announce("EV-QUANTUM-B", quantum, half..people);
            year.announce("EV-LADDER", "game = \"quadrant-z\"\nformat = \"ladder\"", 0..people);
            year.announce(
                "EV-CUP",
                "game = \"pacific\"\nformat = \"cup\"\nsection_size = 2\ngames = 1",
                0..people,
            );
            365
        }
    };
    for _ in 0..days {
        year.day();
    }
    year.check_books();
    let rated = year.check_ratings();
    assert!(rated > 0, "some results are rated");
    let seasons: usize = year.events.iter().map(|id| event(&year.desk, id).seasons.len()).sum();
    assert!(seasons >= 2 * year.events.len(), "{seasons} seasons of {} events", year.events.len());
    let decided = year.events.iter().flat_map(|id| matches(&year.desk, id)).filter_map(|one| one.outcome());
    assert!(decided.count() > 0);
}
