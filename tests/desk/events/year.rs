//! Some months of a club: leagues, a cup and a ladder at the same time, with players who vanish, are slow, or play
//! only the house. The suite makes a small run; `FOGPOST_YEAR=60` plays a year with sixty people.

use std::collections::BTreeMap;
use std::fs;
use std::process::Command;

use fogpost::club::events::event::EventStage;
use fogpost::club::rating::{Score, results_of};
use fogpost::daemon::ratings;
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::ledger::Entry;
use fogpost::referee::{Match, Stage};
use serde_json::json;

use super::{event, gm, matches};
use crate::correspondents::orders;
use crate::referee::{Referee, Sent};
use fogpost_testing::random::Random;

/// A player's habit in matches.
#[derive(Clone, Copy, PartialEq)]
enum Habit {
    Keen,
    Slow,
    Vanishes,
    House,
}

fn name(no: usize) -> String {
    format!("Player{no:02}")
}

fn address(no: usize) -> String {
    format!("player{no:02}@players.example")
}

fn number(name: &str) -> usize {
    name["Player".len()..].parse().expect("a number")
}

struct Year {
    referee: Referee,
    random: Random,
    events: Vec<&'static str>,
    /// The strength of each player, by name: the results of matches follow from it and from chance.
    strengths: BTreeMap<String, f64>,
    /// The seat that will lose each match.
    losers: BTreeMap<String, Seat>,
    /// The letters to each player as of today.
    letters: BTreeMap<String, Vec<Sent>>,
}

impl Year {
    fn begin(people: usize) -> Year {
        // The desk verifies every match at the end. A daily audit would verify each of thousands hundreds of times.
        let referee = Referee::with("[letters]\nanswers_per_hour = 100000\n[audit]\nevery_hours = 720\n");
        for chunk in (0..people).collect::<Vec<_>>().chunks(8) {
            let lines: Vec<String> =
                chunk.iter().map(|no| format!("GM PLAYER ADD {} {}", address(*no), name(*no))).collect();
            gm(&referee, &lines.join("\n"));
        }
        (0..people).for_each(|no| referee.answer_for(&address(no)));
        let mut random = Random::new(7);
        // The sum of twelve throws is about normally distributed, here around 1500 with a deviation of 250.
        let mut strength =
            || 1500.0 + 0.25 * ((0..12).map(|_| random.below(1001) as f64).sum::<f64>() - 6000.0);
        let strengths = (0..people).map(|no| (name(no), strength())).collect();
        Year {
            referee,
            random,
            events: Vec::new(),
            strengths,
            losers: BTreeMap::new(),
            letters: BTreeMap::new(),
        }
    }

    /// One player in six is slow, and one vanishes; in a whole club, four play only the house.
    fn habit(&self, no: usize) -> Habit {
        match no % 6 {
            _ if self.strengths.len() >= 20 && no + 4 >= self.strengths.len() => Habit::House,
            4 => Habit::Slow,
            5 => Habit::Vanishes,
            _ => Habit::Keen,
        }
    }

    fn announce(&mut self, id: &'static str, lines: &str, people: std::ops::Range<usize>) {
        let plan = format!(
            "id = \"{id}\"\nname = \"{id}\"\nopens = 2026-05-09\ndays = 3\nseason_days = 14\n{lines}"
        );
        gm(&self.referee, &format!("GM EVENT NEW\n{plan}\nEND")).says("Players enter with");
        for no in people.filter(|no| self.habit(*no) != Habit::House) {
            self.referee.write(&address(no), &format!("ENTER {id}"));
        }
        self.events.push(id);
    }

    fn day(&mut self) {
        self.referee.advance(24);
        self.letters.clear();
        for id in self.events.clone() {
            let event = event(&self.referee, id);
            if event.stage != EventStage::Running {
                continue;
            }
            let ratings = &self.referee.office().config.ratings;
            let advantage = ratings.advantage(event.plan.game, &event.plan.options);
            for game_match in matches(&self.referee, id) {
                if game_match.stage != Stage::Over {
                    self.turn(&game_match, advantage);
                }
            }
        }
        let of_the_house = (0..self.strengths.len()).filter(|no| self.habit(*no) == Habit::House);
        of_the_house.collect::<Vec<_>>().into_iter().for_each(|no| self.turn_against_the_house(no));
        self.referee.work();
    }

    /// Continues a match by letters. Once each side has moved, the loser resigns.
    fn turn(&mut self, game_match: &Match, advantage: i32) {
        let loser = self.loser(game_match, advantage);
        let reader = |seat: Seat| format!("{}@players.example", game_match.players[seat].to_lowercase());
        if game_match.adjudicated.len() > 1 && self.random.once_in(2) && self.acts(game_match, loser) {
            let letter = self.about(&reader(loser), game_match).pop().expect("a letter about the match");
            self.referee.put(&self.referee.answer(&reader(loser), &letter, "RESIGN CONFIRM"));
            return;
        }
        for seat in game_match.due().map(|due| due.seats).unwrap_or_default() {
            if !self.acts(game_match, seat) {
                continue;
            }
            let letters = self.about(&reader(seat), game_match);
            let asking = |letter: &Sent| letter.text.contains("waits for your orders");
            let Some(letter) = letters.into_iter().rfind(asking) else { continue };
            if let Some(orders) = orders(game_match.game, &letter, &mut self.random) {
                self.referee.put(&self.referee.answer(&reader(seat), &letter, &orders.join("\n")));
            }
        }
    }

    fn about(&mut self, reader: &str, game_match: &Match) -> Vec<Sent> {
        let letters = self.letters.entry(reader.to_owned()).or_insert_with(|| self.referee.all_to(reader));
        letters.iter().filter(|sent| sent.subject.contains(&game_match.id)).cloned().collect()
    }

    /// Whether a player writes today.
    fn acts(&mut self, game_match: &Match, seat: Seat) -> bool {
        match self.habit(number(&game_match.players[seat])) {
            Habit::Keen | Habit::House => true,
            Habit::Slow => self.random.once_in(5),
            Habit::Vanishes => self.random.once_in(7) && game_match.adjudicated.is_empty(),
        }
    }

    /// The seat that will lose, by the strengths of both and by chance.
    fn loser(&mut self, game_match: &Match, advantage: i32) -> Seat {
        if let Some(loser) = self.losers.get(&game_match.id) {
            return *loser;
        }
        let strength = |seat: Seat| self.strengths[&game_match.players[seat]];
        let ahead = strength(Seat::First) + f64::from(advantage) - strength(Seat::Second);
        let expected = 1.0 / (1.0 + 10_f64.powf(-ahead / 400.0));
        let first_wins = (self.random.below(1_000_000) as f64) < expected * 1e6;
        let loser = if first_wins { Seat::Second } else { Seat::First };
        self.losers.insert(game_match.id.clone(), loser);
        loser
    }

    /// Lets somebody who plays the house begin a match each week, and give it up after some turns.
    fn turn_against_the_house(&mut self, no: usize) {
        let own = address(no);
        if self.random.once_in(7) {
            self.referee.put(&self.referee.letter(&own, "CHALLENGE house quad level=easy first=me"));
        }
        let letters = self.referee.all_to(&own);
        let Some(letter) = letters.into_iter().rfind(|sent| sent.text.contains("waits for your orders"))
        else {
            return;
        };
        let answer = match self.random.once_in(4) {
            true => Some("RESIGN CONFIRM".to_owned()),
            false => orders(GameKind::Quad, &letter, &mut self.random).map(|orders| orders.join("\n")),
        };
        if let Some(answer) = answer {
            self.referee.put(&self.referee.answer(&own, &letter, &answer));
        }
    }

    /// Compares the book of each event with the independent computation.
    fn check_books(&self) {
        for id in &self.events {
            let rows =
                self.referee.block_on(self.referee.office().store.book(id)).expect("the store answers");
            let lines: String = rows.iter().map(|row| row.json.clone() + "\n").collect();
            self.python("book", &lines);
            // Every match was opened once, and only for its pair.
            let opened = rows.iter().filter(|row| row.kind == "MatchOpened").count();
            let sql =
                self.referee.block_on(self.referee.office().store.match_ids()).expect("the store answers");
            let own = sql
                .iter()
                .filter(|match_id| self.referee.find(match_id).terms.event.as_deref() == Some(*id))
                .count();
            assert_eq!(opened, own, "{id}");
        }
    }

    /// Compares the ratings with those that follow from the ledgers, and with the independent computation. Returns
    /// the number of rated results. `is_long`: the predictions are to be as good as can be.
    fn check_ratings(&self, is_long: bool) -> usize {
        let mut rated = 0;
        for game in GameKind::ALL {
            let found = self
                .referee
                .block_on(ratings::verify(self.referee.office(), *game))
                .expect("the store answers");
            assert_eq!(found.1, Vec::<String>::new(), "{game}");
            rated += found.0;
            let results = self.results(*game);
            self.python("ratings", &results);
            if is_long && matches!(game, GameKind::Quad | GameKind::Quantum) {
                println!("{game}: {}", self.python("loss", &results));
            }
        }
        rated
    }

    /// The rated results of a game, each with the figures that the program computed.
    fn results(&self, game: GameKind) -> String {
        let store = &self.referee.office().store;
        let rows = self.referee.block_on(store.ratings_in(game)).expect("the store answers");
        let mut after: BTreeMap<String, BTreeMap<String, [f64; 3]>> = BTreeMap::new();
        for change in rows.into_iter().map(|row| row.change) {
            let of = change.after;
            let figures = [of.figure as f64 / 100.0, of.deviation as f64 / 100.0, of.volatility as f64 / 1e6];
            after.entry(change.match_id).or_default().insert(change.player.to_string(), figures);
        }
        let mut lines = String::new();
        for (id, after) in after {
            let rows = self.referee.block_on(store.entries(&id)).expect("the store answers");
            let entries: Vec<Entry> =
                rows.iter().map(|row| serde_json::from_str(&row.json).expect("an entry")).collect();
            for result in results_of(&entries) {
                let score = match result.score {
                    Score::Win => 1.0,
                    Score::Draw => 0.5,
                    Score::Loss => 0.0,
                };
                let basis = &result.basis;
                let house = basis.house.map(|house| [house.figure, house.deviation]);
                let players = &self.referee.find(&id).players;
                let strengths = [Seat::First, Seat::Second].map(|seat| self.strengths.get(&players[seat]));
                let line = json!({
                    "at": result.at, "match": id, "first": basis.numbers.first, "second": basis.numbers.second,
                    "score": score, "only": result.only, "advantage": basis.advantage, "house": house,
                    "strengths": strengths, "after": after,
                });
                lines += &format!("{line}\n");
            }
        }
        lines
    }

    fn python(&self, what: &str, text: &str) -> String {
        let path = self.referee.folder().join("club.jsonl");
        fs::write(&path, text).expect("a file");
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/club.py");
        let done = Command::new("python3").args([script, what]).arg(&path).output().expect("python3 runs");
        let told =
            String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{what}:\n{told}");
        told
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
    let rated = year.check_ratings(people.is_some());
    assert!(rated > 0, "some results are rated");
    let seasons: usize = year.events.iter().map(|id| event(&year.referee, id).seasons.len()).sum();
    assert!(seasons >= 2 * year.events.len(), "{seasons} seasons of {} events", year.events.len());
    let decided =
        year.events.iter().flat_map(|id| matches(&year.referee, id)).filter_map(|one| one.outcome());
    assert!(decided.count() > 0);
}
