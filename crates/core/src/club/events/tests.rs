//! Folds books in which players become one, take over places, or read that entries are closed.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::event::{Event, EventStage};
use super::plan::Plan;
use super::seasons::{moves, next_list, went_on};
use super::steps::Mailed;
use super::verify;
use crate::game::BySeat;
use crate::ledger::book::{BookCause, BookEntry, BookFact, BookOutcome, BookResult, ChainedBookEntry};
use crate::referee::Terms;

const AT: DateTime<Utc> = DateTime::UNIX_EPOCH;

const CLOCK: BookCause = BookCause::Clock {};

const CLOSED: BookFact = BookFact::PlanChanged { opens: None, ends: None, closed: true };

/// An event with its book.
struct Book {
    event: Event,
    entries: Vec<BookEntry>,
}

impl Book {
    /// Announces an event with sections of this size, and lets these players enter.
    fn begin(format: &str, section_size: usize, players: &[i64]) -> Book {
        let plan = format!(
            "id = \"EV-SPRING\"\nname = \"Spring\"\ngame = \"quad\"\nformat = \"{format}\"\n\
             section_size = {section_size}\nopens = 2026-05-10"
        );
        let plan = Plan::read(&plan).expect("a plan");
        let terms = plan.terms(&Terms::default());
        let (event, chained) = Event::announce(plan, terms, None, AT, &CLOCK);
        let mut book = Book { event, entries: Vec::new() };
        book.add(chained);
        players.iter().for_each(|player| book.record(BookFact::Entered { player: *player }));
        book
    }

    fn add(&mut self, chained: ChainedBookEntry) {
        self.entries.push(chained.entry);
    }

    fn record(&mut self, fact: BookFact) {
        let chained = self.event.record(AT, &CLOCK, fact);
        self.add(chained);
    }

    fn draw(&mut self) {
        let drawn = self.event.draw(&BTreeMap::new(), AT);
        self.record(drawn);
    }

    fn open_matches(&mut self) {
        let running = self.event.running().expect("a season").clone();
        for (no, game) in running.games.iter().enumerate() {
            let season = running.no;
            let first = game.first;
            let second = game.second;
            let match_id = format!("QD-{no}");
            self.record(BookFact::MatchOpened { season, first, second, match_id });
        }
    }

    /// Lets the lower number win each match of the season, and closes it.
    fn play(&mut self) {
        let running = self.event.running().expect("a season").clone();
        for game in &running.games {
            let outcome = if game.first < game.second { BookOutcome::First } else { BookOutcome::Second };
            let match_id = game.match_id.clone();
            let result = BookResult { match_id, end: None, outcome, vanished: None, own: BySeat::new(0, 0) };
            let season = running.no;
            let first = game.first;
            let second = game.second;
            self.record(BookFact::ResultEntered { season, first, second, result });
        }
        let closed = self.event.closing().expect("a season");
        self.record(closed);
    }

    /// The event as it is loaded after one player was merged into another.
    fn merged(&self, gone: i64, into: i64) -> Event {
        let same = |player: i64| if player == gone { into } else { player };
        Event::fold(&self.entries, &same).expect("a book")
    }

    #[track_caller]
    fn assert_verifies(&self) {
        assert_eq!(verify(&self.entries), []);
    }
}

/// The players of the last season, in the order of its draw.
fn list(event: &Event) -> Vec<i64> {
    event.season().expect("a season").list.clone()
}

/// The players in the tables of a season.
fn shown(event: &Event, season: usize) -> BTreeSet<i64> {
    event.seasons[season].tables().iter().flatten().map(|row| row.player).collect()
}

#[test]
fn an_entry_struck_before_a_merger_takes_nobody_else_out() {
    let mut book = Book::begin("league", 3, &[1, 2, 3, 7]);
    book.record(BookFact::Struck { player: 7 });
    let merged = book.merged(7, 1);
    assert_eq!((&merged.entrants[..], merged.gone), (&[1, 2, 3][..], BTreeSet::from([7])));
    book.draw();
    book.open_matches();
    book.record(BookFact::Entered { player: 7 });
    book.record(BookFact::Struck { player: 7 });
    assert_eq!(book.merged(7, 1).step(&Mailed::default(), AT), None, "no match of player 1 is resigned");
    book.play();
    assert_eq!(book.merged(7, 1), book.event);
    book.assert_verifies();
}

#[test]
fn two_who_played_as_two_count_as_two_in_an_event_that_is_over() {
    let mut book = Book::begin("league", 3, &[1, 2, 3, 4, 5, 7]);
    book.draw();
    book.play();
    book.record(CLOSED);
    assert_eq!(book.event.stage, EventStage::Over);
    assert_eq!(book.merged(7, 1), book.event);
    let renamed = book.merged(7, 9);
    let now = BTreeSet::from([1, 2, 3, 4, 5, 9]);
    assert_eq!((shown(&renamed, 0), list(&renamed)), (now, vec![1, 2, 3, 4, 5, 9]));
    assert_eq!(renamed.entrants, [1, 2, 3, 4, 5, 9]);
}

#[test]
fn a_merger_between_two_seasons_renames_the_tables_and_leaves_the_draw_as_it_is() {
    let mut book = Book::begin("league", 3, &[1, 2, 3, 4, 5, 6]);
    book.draw();
    book.play();
    book.record(BookFact::Replaced { from: 2, to: 8 });
    let merged = book.merged(2, 8);
    assert_eq!(shown(&merged, 0), BTreeSet::from([1, 3, 4, 5, 6, 8]));
    assert_eq!(merged.draw(&BTreeMap::new(), AT), book.event.draw(&BTreeMap::new(), AT));
    // Of a player who was not in any more, the book has no merger: the draw still needs the old number.
    book.record(BookFact::Left { player: 6 });
    assert_eq!(shown(&book.merged(6, 9), 0), BTreeSet::from([1, 2, 3, 4, 5, 6]));
    book.draw();
    assert_eq!(shown(&book.merged(6, 9), 0), BTreeSet::from([1, 2, 3, 4, 5, 9]));
    book.assert_verifies();
}

#[test]
fn whoever_takes_over_between_two_seasons_has_the_place_and_the_tables_name_who_played() {
    for (newcomer, expected) in [(8, &[1, 8, 4, 3, 5][..]), (6, &[1, 6, 4, 3, 5][..])] {
        let mut book = Book::begin("league", 3, &[1, 2, 3, 4, 5, 6]);
        book.draw();
        book.play();
        book.record(BookFact::Left { player: 6 });
        book.record(BookFact::Replaced { from: 2, to: newcomer });
        assert_eq!(shown(&book.event, 0), BTreeSet::from([1, 2, 3, 4, 5, 6]));
        book.draw();
        assert_eq!(list(&book.event), expected);
        book.assert_verifies();
    }
    let mut cup = Book::begin("cup", 2, &[1, 2, 3, 4]);
    cup.draw();
    cup.play();
    cup.record(BookFact::Replaced { from: 2, to: 8 });
    cup.draw();
    assert_eq!((list(&cup.event), shown(&cup.event, 0)), (vec![1, 8], BTreeSet::from([1, 2, 3, 4])));
    cup.assert_verifies();
}

#[test]
fn whoever_was_struck_and_takes_over_matches_plays_them() {
    let mut book = Book::begin("league", 3, &[1, 2, 3]);
    book.draw();
    book.open_matches();
    book.record(BookFact::Entered { player: 7 });
    book.record(BookFact::Struck { player: 7 });
    book.record(BookFact::Replaced { from: 2, to: 7 });
    assert_eq!((list(&book.event), book.event.step(&Mailed::default(), AT)), (vec![1, 7, 3], None));
}

#[test]
fn a_cup_that_takes_no_entries_is_played_to_its_final() {
    let mut book = Book::begin("cup", 2, &[1, 2, 3, 4]);
    book.record(CLOSED);
    assert!(!book.event.goes_on(), "nobody can enter");
    book.draw();
    book.play();
    // The program refuses this, but books have it.
    book.record(CLOSED);
    assert_eq!((book.event.stage, book.event.goes_on()), (EventStage::Entries, true));
    book.draw();
    assert_eq!(list(&book.event), [1, 2]);
    book.play();
    assert_eq!((book.event.stage, book.event.goes_on()), (EventStage::Over, false));
    book.assert_verifies();
}

#[test]
fn a_season_moves_players_as_the_next_draw_does_and_a_cup_has_a_champion() {
    // Two divisions of three: the lower numbers win, so 3 falls and 4 rises.
    let mut league = Book::begin("league", 3, &[1, 2, 3, 4, 5, 6]);
    league.draw();
    league.play();
    let moved = |book: &Book| moves(&book.event, book.event.season().expect("a season"));
    assert_eq!(moved(&league), BTreeMap::from([(1, 0), (2, 0), (3, -1), (4, 1), (5, 0), (6, 0)]));
    assert_eq!(league.event.champion(), None);
    // The winner of each pair rises by a quarter of the way, and the loser falls so.
    let mut ladder = Book::begin("ladder", 2, &[4, 3, 2, 1]);
    ladder.draw();
    ladder.play();
    let before = list(&ladder.event);
    let after = next_list(&ladder.event, &BTreeMap::new());
    let place =
        |list: &[i64], player| list.iter().position(|other| *other == player).expect("it is in") as i64;
    for (player, rise) in moved(&ladder) {
        assert_eq!(rise, place(&before, player) - place(&after, player), "{player}");
    }
    let mut cup = Book::begin("cup", 2, &[1, 2, 3, 4]);
    cup.draw();
    cup.play();
    let went_on = |event: &Event, round: usize| went_on(event, &event.seasons[round]);
    assert_eq!(went_on(&cup.event, 0), next_list(&cup.event, &BTreeMap::new()));
    cup.draw();
    assert_eq!((cup.event.champion(), went_on(&cup.event, 1)), (None, Vec::new()));
    let in_final = list(&cup.event);
    cup.record(BookFact::Left { player: in_final[1] });
    assert_eq!(went_on(&cup.event, 0), in_final);
    cup.play();
    assert_eq!((cup.event.stage, cup.event.champion()), (EventStage::Over, Some(1)));
    assert_eq!(went_on(&cup.event, 1), [1]);
}
