//! Secrecy: if a seat cannot tell two states apart by the rules, it gets byte-equal letters in both, and its orders
//! the same faults.
//!
//! The twin of a state differs only in what the rules hide from one seat; [`hidden`] names what defines that.
//! Twins are made by editing the JSON of the state, so the games need no access for tests. The comparison covers
//! everything that a seat is ever sent: the view with what the seat remembers and did, the board, and whole worded
//! letters, with the ledger's head and the reply token held equal. It is a comparison of histories: the twins share what
//! the seat was told and filed so far, and what the other seat remembers differs.
//!
//! `house` compares what the house is shown and plays in whole histories, and `planted` looks for a secret by its name.

mod conditions;
mod house;
mod pacific;
mod planted;
mod quadrant_z;

use std::thread;

use fogpost::game::any::{AnyState, Filing, GameKind, Memories, OwnPart};
use fogpost::game::{BySeat, Phase, Seat};
use fogpost::referee::{Adjudication, Content, Match, News, Reader};
use fogpost::report::Templates;
use serde_json::{Value, json};

use crate::referee::{answers, held, receive, templates, with, worded};
use fogpost_testing::play::{Play, filings, matches, numbered};
use fogpost_testing::random::Random;
use fogpost_testing::random_play::RandomPlay as _;

/// The lines that each seat files.
type Orders = BySeat<Option<Vec<String>>>;

/// The twins of a game that hides something.
struct Hidden {
    /// Seeds of each game whose states get a twin, and the twin.
    states: u64,
    twin: fn(&AnyState, Seat, &mut Random) -> AnyState,
    /// Seeds of each game whose phases are played in a state and its twin, and both results.
    phases: u64,
    moved: fn(&mut Play, Seat, &Orders) -> Option<Moved>,
}

/// Returns the twins of a game, if it hides something. A new game does not compile without its row.
fn hidden(kind: GameKind) -> Option<Hidden> {
    match kind {
        GameKind::QuadrantZ => {
            Some(Hidden { states: 16, twin: quadrant_z::twin, phases: 24, moved: quadrant_z::moved })
        }
        GameKind::Pacific => {
            Some(Hidden { states: 4, twin: pacific::twin, phases: 4, moved: pacific::moved })
        }
        GameKind::Quantum | GameKind::Quad => None,
    }
}

/// Runs a law for all games that hide something, side by side.
fn for_each_hidden(law: impl Fn(GameKind, Hidden) + Sync) {
    let law = &law;
    thread::scope(|scope| {
        for &kind in GameKind::ALL {
            if let Some(hidden) = hidden(kind) {
                scope.spawn(move || law(kind, hidden));
            }
        }
    });
}

/// Returns the state after its JSON was edited by `surgery`.
fn operated(state: &AnyState, surgery: impl FnOnce(&mut Value)) -> AnyState {
    let mut json = serde_json::to_value(state).expect("a state is plain JSON");
    surgery(&mut json["state"]);
    serde_json::from_value(json.clone()).unwrap_or_else(|error| panic!("{error} in {json}"))
}

/// Returns the match with another memory of the other seat.
fn with_other_memory(mut game_match: Match, viewer: Seat) -> Match {
    if let Some(Memories::QuadrantZ(memories)) = &mut game_match.memories {
        let other = json!({
            "intruders": [{ "turn": 1, "at": "A1", "size": 9 }],
            "entries": [{ "turn": 2, "quadrant": "M" }],
            "standoffs": [{ "turn": 3, "quadrant": "L" }],
            "battles": [],
        });
        memories[viewer.other()] = serde_json::from_value(other).expect("a memory");
    }
    game_match
}

/// What is compared for a pair of states. Pictures follow from the boards, so they are compared only now and then.
struct Comparison<'a> {
    templates: &'a Templates,
    viewer: Seat,
    letters: bool,
}

/// A match, and the adjudication that led to it: the state before, and what was filed in it.
struct History {
    game_match: Match,
    before: AnyState,
    filings: BySeat<Option<Filing>>,
}

impl History {
    /// A match whose last adjudication is not compared.
    fn of(game_match: Match) -> History {
        History { before: game_match.state.clone(), filings: BySeat::default(), game_match }
    }

    fn shown(&self, viewer: Seat) -> Value {
        let own = OwnPart { before: &self.before, filed: self.filings[viewer].as_ref() };
        self.game_match.state.shown_view(viewer, self.game_match.memories.as_ref(), Some(own))
    }
}

impl Comparison<'_> {
    fn assert_equal(&self, one: &History, other: &History, orders: &[Vec<String>], what: &str) {
        let viewer = self.viewer;
        assert_eq!(one.shown(viewer), other.shown(viewer), "{what}: views");
        if self.letters {
            assert_eq!(self.letters(one, orders), self.letters(other, orders), "{what}: letters");
        }
        let (one, other) = (&one.game_match, &other.game_match);
        let board =
            |game_match: &Match| game_match.state.shown_board(viewer, game_match.memories.as_ref(), None);
        assert_eq!(one.state.extra(viewer), other.state.extra(viewer), "{what}: extras");
        assert_eq!(board(one), board(other), "{what}: boards");
        assert_eq!(one.state.missed(viewer), other.state.missed(viewer), "{what}: missed");
        for lines in orders {
            let lines = numbered(lines);
            assert_eq!(one.state.seal(viewer, &lines), other.state.seal(viewer, &lines), "{what}: {lines:?}");
        }
    }

    /// Returns all letters that the seat may be sent in this state: subject, text, HTML and picture.
    fn letters(&self, history: &History, orders: &[Vec<String>]) -> Vec<fogpost::report::WordedLetter> {
        let game_match = &history.game_match;
        let phase = game_match.due().map_or(Phase::Turn, |due| due.phase);
        let step = Adjudication {
            phase,
            turn: 1,
            before: history.before.clone(),
            filings: history.filings.clone(),
            state: game_match.state.clone(),
        };
        let news = News { steps: vec![step], ..News::default() };
        let mut contents = vec![
            Content::Report { news: Box::new(news), receipt: None, replaces: None },
            Content::Reminder,
            Content::Missed { seats: Seat::BOTH.to_vec() },
        ];
        contents.extend(answers(&receive(game_match, self.viewer, &["STATUS".to_owned()]), self.viewer));
        for lines in orders {
            // `CHECK` files nothing, so the match is not adjudicated on what the other side has filed.
            let checked: Vec<String> =
                std::iter::once("CHECK".to_owned()).chain(lines.iter().cloned()).collect();
            contents.extend(answers(&receive(game_match, self.viewer, &checked), self.viewer));
        }
        contents.into_iter().map(|content| worded(self.templates, game_match, self.viewer, content)).collect()
    }
}

/// Makes random orders for the seat, some of them illegal.
fn orders(play: &mut Play, seat: Seat) -> Vec<Vec<String>> {
    let mut orders: Vec<Vec<String>> = (0..4).map(|_| play.orders(seat)).collect();
    for lines in &mut orders[2..] {
        let foreign = play.state.random_filing(seat.other(), &mut |n| play.random.below(n as usize) as u32);
        lines.extend(foreign.into_iter().take(3));
    }
    orders
}

/// Plays matches of `kind` and compares every state with its twin, for both seats.
fn assert_twins_look_alike(
    kind: GameKind,
    many: u64,
    twin: impl Fn(&AnyState, Seat, &mut Random) -> AnyState,
) {
    let templates = templates();
    let (mut twins, mut letters) = (0_usize, 0_usize);
    for (kind, seed) in matches(many).filter(|(each, _)| *each == kind) {
        let mut play = Play::new(kind, seed);
        while play.state.due().is_some() {
            for viewer in Seat::BOTH {
                let other = twin(&play.state, viewer, &mut play.random);
                if other == play.state {
                    continue;
                }
                twins += 1;
                let compared =
                    Comparison { templates: &templates, viewer, letters: twins.is_multiple_of(25) };
                letters += usize::from(compared.letters);
                let one = held(&play);
                let orders = orders(&mut play, viewer);
                let other = with_other_memory(with(&one, other), viewer);
                let (one, other) = (History::of(one), History::of(other));
                compared.assert_equal(&one, &other, &orders, &format!("{kind} {seed} {viewer}"));
            }
            play.step();
        }
    }
    assert!(twins > 200 && letters > 10, "{twins} twins, {letters} in letters");
}

#[test]
fn hidden_state_changes_no_letter() {
    for_each_hidden(|kind, hidden| assert_twins_look_alike(kind, hidden.states, hidden.twin));
}

/// Plays a phase in both a state and its twin with the same orders. `on` returns both results, or `None` where the
/// orders could disclose what is hidden.
fn assert_twins_stay_alike(
    kind: GameKind,
    many: u64,
    on: impl Fn(&mut Play, Seat, &Orders) -> Option<Moved>,
) {
    let templates = templates();
    let mut compared = 0;
    for (kind, seed) in matches(many).filter(|(each, _)| *each == kind) {
        let mut play = Play::new(kind, seed);
        while let Some(due) = play.state.due() {
            let tries: Vec<_> = due.seats.iter().flat_map(|seat| play.tries(*seat)).collect();
            let filed = filings(&tries).map(|filing| filing.map(|filing| filing.lines().to_vec()));
            for viewer in Seat::BOTH {
                let Some(moved) = on(&mut play, viewer, &filed) else { continue };
                let one = held(&play);
                let other = moved.other.lead(with_other_memory(one.clone(), viewer));
                let one = moved.one.lead(one);
                compared += 1;
                let compared = Comparison { templates: &templates, viewer, letters: compared % 40 == 0 };
                compared.assert_equal(&one, &other, &[], &format!("{kind} {seed} {viewer} {filed:?}"));
            }
            play.adjudicate(&due, &filings(&tries));
        }
    }
    assert!(compared > 50, "{compared}");
}

/// A state and its twin after the same phase.
struct Moved {
    one: After,
    other: After,
}

/// A phase that was played.
struct After {
    before: AnyState,
    filings: BySeat<Option<Filing>>,
    state: AnyState,
}

impl After {
    /// Lets the phase follow on `game_match`, whose memories do not hold the news before it yet.
    fn lead(self, mut game_match: Match) -> History {
        if let Some(memories) = &mut game_match.memories {
            memories.remember(&self.before);
        }
        History { game_match: with(&game_match, self.state), before: self.before, filings: self.filings }
    }
}

/// Adjudicates these orders. Returns `None` if they are illegal, or if the match is over and everything is disclosed.
fn after(before: &AnyState, orders: &Orders) -> Option<After> {
    let mut filed = BySeat::new(None, None);
    for (seat, lines) in orders.iter() {
        if let Some(lines) = lines {
            filed[seat] = Some(before.seal(seat, &numbered(lines)).ok()?);
        }
    }
    let mut state = before.clone();
    state.adjudicate(&filed);
    let is_running = state.outcome().is_none();
    is_running.then(|| After { before: before.clone(), filings: filed, state })
}

#[test]
fn a_phase_discloses_nothing_hidden() {
    for_each_hidden(|kind, hidden| assert_twins_stay_alike(kind, hidden.phases, hidden.moved));
}

#[test]
fn orders_of_the_other_seat_change_no_letter() {
    let templates = templates();
    let mut compared = 0;
    for (kind, seed) in matches(4) {
        let mut play = Play::new(kind, seed);
        while let Some(due) = play.state.due() {
            if let [first, second] = due.seats[..] {
                for (viewer, foe) in [(first, second), (second, first)] {
                    let before = held(&play);
                    let [one, mut other] = [(); 2].map(|()| {
                        let lines = play.tries(foe).pop().expect("the filing that was sealed").lines;
                        let ruling = receive(&before, foe, &lines);
                        let to = ruling.dispatches.iter().all(|dispatch| dispatch.to == Reader::Seat(foe));
                        assert!(to, "{kind} {seed}: a filing is told to somebody else");
                        ruling.after
                    });
                    assert_eq!(one.state, before.state, "{kind} {seed}");
                    if one.filed[foe].is_none() || other.filed[foe].is_none() || one.filed == other.filed {
                        continue;
                    }
                    compared += 1;
                    other.head = one.head;
                    let compared = Comparison { templates: &templates, viewer, letters: compared % 20 == 1 };
                    let orders = orders(&mut play, viewer);
                    let (one, other) = (History::of(one), History::of(other));
                    compared.assert_equal(&one, &other, &orders, &format!("{kind} {seed} {viewer}"));
                }
            }
            play.step();
        }
    }
    assert!(compared > 50, "{compared}");
}

/// A filing beside other words is not there for the other side until it is firm.
#[test]
fn a_filing_that_is_not_firm_changes_no_letter() {
    let templates = templates();
    let mut compared = 0;
    for (kind, seed) in matches(4) {
        let mut play = Play::new(kind, seed);
        while let Some(due) = play.state.due() {
            for foe in due.seats.clone() {
                let viewer = foe.other();
                let without = held(&play);
                let mut lines = play.tries(foe).pop().expect("the filing that was sealed").lines;
                lines.extend(["".to_owned(), "We have snow in the garden.".to_owned()]);
                let ruling = receive(&without, foe, &lines);
                let to = ruling.dispatches.iter().all(|dispatch| dispatch.to == Reader::Seat(foe));
                assert!(to, "{kind} {seed}: it is told to somebody else");
                let mut with = ruling.after;
                if with.filed[foe].as_ref().is_none_or(|held| held.firm_at.is_none()) {
                    continue;
                }
                compared += 1;
                with.head = without.head;
                let compared = Comparison { templates: &templates, viewer, letters: compared % 20 == 1 };
                if compared.letters && due.seats.contains(&viewer) {
                    let own = play.tries(viewer).pop().expect("the filing that was sealed").lines;
                    let [one, other] = [&without, &with].map(|game_match| {
                        let ruling = receive(game_match, viewer, &own);
                        let answers = answers(&ruling, viewer).into_iter();
                        answers
                            .map(|answer| worded(&templates, &ruling.after, viewer, answer))
                            .collect::<Vec<_>>()
                    });
                    assert_eq!(one, other, "{kind} {seed} {viewer}: receipts");
                }
                let orders = orders(&mut play, viewer);
                let (one, other) = (History::of(without), History::of(with));
                compared.assert_equal(&one, &other, &orders, &format!("{kind} {seed} {viewer}"));
            }
            play.step();
        }
    }
    assert!(compared > 50, "{compared}");
}

#[test]
fn nothing_is_hidden_in_the_other_games() {
    for (kind, seed) in matches(6).filter(|(kind, _)| hidden(*kind).is_none()) {
        fogpost_testing::play::through(kind, seed, |play| {
            let [first, second] = Seat::BOTH.map(|seat| play.state.view(seat));
            assert_eq!(first, second, "{kind} {seed}");
            assert_eq!(first, play.state.position(), "{kind} {seed}");
        });
    }
}
