//! A seat's own actions in a turn, for its report. They follow from its views before and after the turn and
//! from its orders, so the state does not keep them.
//!
//! A seat's memory of the enemy: the latest news of each place from earlier turns, and the turn of the news
//! (rules page `records.md`, Memory). It follows from the views that the seat was shown, so the state does
//! not keep it.
//!
//! The view for the readers of a replay that shows everything: both fleets, and what both sides did.

use super::combat::Ship;
use super::galaxy::{Quadrant, Square};
use super::order::Order;
use super::rules::{Event, Stage, State};
use super::view::{
    Deeds, FailedCapture, FailureReason, Memory, Movement, Opened, Past, Place, Readers, View, plain,
};
use crate::game::{Game, Phase, Seat, Step};

/// Returns what the seat of both views did, for [`crate::game::Game::tell_deeds`].
pub fn deeds(before: &View, filed: &[Order], after: &View) -> Deeds {
    let (ships, orders) = match &before.context.unfinished {
        Some(turn) => (turn.ships.as_slice(), turn.orders.as_slice()),
        None if before.context.phase == Some(Phase::Turn) => (before.ships.as_slice(), filed),
        // A setup tells its author nothing new.
        None => return Deeds::default(),
    };
    let built = built_ships(before, orders);
    let moved = ship_movements(ships, &built, orders);
    let mut captured = Vec::new();
    let mut failed = Vec::new();
    if is_played_out(before, after) {
        let own = after.captures.iter().filter(|capture| capture.by == after.context.viewer);
        captured = own.map(|capture| capture.at).collect();
        failed = failed_captures(after, &moved, orders);
    }
    Deeds { built, moved, opened: opened_quadrants(before, after), captured, failed }
}

/// Whether the turn was played to its end, when captures are decided. If it waited for casualties, its news
/// now includes a battle, unless the match was closed in between.
fn is_played_out(before: &View, after: &View) -> bool {
    after.context.unfinished.is_none() && (before.context.unfinished.is_none() || !after.battles.is_empty())
}

fn built_ships(before: &View, orders: &[Order]) -> Vec<Ship> {
    let ordered = orders.iter().filter_map(|order| match order {
        Order::Build { class, at } => Some((*class, *at)),
        _ => None,
    });
    (before.context.highest + 1..).zip(ordered).map(|(no, (class, at))| Ship { no, class, at }).collect()
}

fn ship_movements(ships: &[Ship], built: &[Ship], orders: &[Order]) -> Vec<Movement> {
    let movement = |order: &Order| {
        let Order::Move { no, to, .. } = *order else { return None };
        let ship = ships.iter().chain(built).find(|ship| ship.no == no)?;
        Some(Movement { no, from: ship.at, to })
    };
    orders.iter().filter_map(movement).collect()
}

fn opened_quadrants(before: &View, after: &View) -> Vec<Opened> {
    let new = |quadrant: &Quadrant| !before.context.charted.contains(*quadrant);
    let opened = |quadrant: Quadrant| Opened {
        quadrant,
        stars: after.stars.iter().filter(|star| star.at.quadrant() == quadrant).copied().collect(),
    };
    after.context.charted.iter().filter(new).map(opened).collect()
}

fn failed_captures(after: &View, moved: &[Movement], orders: &[Order]) -> Vec<FailedCapture> {
    let failed = |order: &Order| {
        let Order::Capture { at } = *order else { return None };
        let star = after.stars.iter().find(|star| star.at == at)?;
        if star.captured_by == Some(after.context.viewer) {
            return None;
        }
        let stayed = after
            .ships
            .iter()
            .filter(|ship| ship.at == at && moved.iter().all(|movement| movement.no != ship.no));
        let offence: u16 = stayed.map(|ship| ship.class.offence).sum();
        let reason = if offence < star.value { FailureReason::TooWeak } else { FailureReason::Contested };
        Some(FailedCapture { at, value: star.value, reason })
    };
    orders.iter().filter_map(failed).collect()
}

impl Memory {
    /// Implements [`crate::game::Game::remember`].
    pub fn add(&mut self, view: &View) {
        // While casualties are chosen, a view repeats the news of the previous turn, and shows only half of a
        // battle.
        if view.context.phase == Some(Phase::Casualties) {
            return;
        }
        let fought = |quadrant: &Quadrant| view.battles.iter().any(|battle| battle.quadrant == *quadrant);
        let calm = view.standoffs.iter().filter(|quadrant| !fought(quadrant));
        replace(&mut self.intruders, view.turn, view.intruders.iter().copied(), |one| one.at.quadrant());
        replace(&mut self.entries, view.turn, view.entries.iter().map(place), |one| one.quadrant);
        replace(&mut self.standoffs, view.turn, calm.map(place), |one| one.quadrant);
        replace(&mut self.battles, view.turn, view.battles.iter().cloned(), |one| one.quadrant);
    }
}

fn place(quadrant: &Quadrant) -> Place {
    Place { quadrant: *quadrant }
}

/// Replaces the memory of quadrants with this turn's news of them.
fn replace<News>(
    past: &mut Vec<Past<News>>,
    turn: u16,
    news: impl Iterator<Item = News>,
    quadrant: impl Fn(&News) -> Quadrant,
) {
    let news: Vec<News> = news.collect();
    past.retain(|known| news.iter().all(|new| quadrant(new) != quadrant(&known.news)));
    past.extend(news.into_iter().map(|news| Past { turn, news }));
    // The sort is stable: within a quadrant, items keep the order of the squares.
    past.sort_by_key(|known| quadrant(&known.news));
}

/// Implements [`crate::game::Game::open_view`]. The first side counts as the viewer.
pub fn open_view(state: &State, step: Option<Step<'_, State>>) -> View {
    let mut view = plain(state, Seat::First, true);
    // Arrows show who entered what.
    view.entries.clear();
    view.intruders.clear();
    view.context.phase = None;
    let mut readers = Readers { is_open: true, ..Readers::default() };
    // The news, if there is any, may be of another turn.
    let is_whole = step.is_some() && !matches!(state.stage, Stage::Casualties(_));
    if !is_whole {
        view.standoffs.clear();
        view.battles.clear();
        view.captures.clear();
    }
    if let Some((before, orders)) = step {
        for seat in Seat::BOTH {
            let own = before.view(seat);
            let deeds = deeds(&own, orders[seat], &state.view(seat));
            if is_whole {
                readers.lost.extend(places_of_losses(state, seat, &own, &deeds));
            }
            match seat {
                Seat::First => view.did = Some(Box::new(deeds)),
                Seat::Second => readers.moved = deeds.moved,
            }
        }
    }
    view.context.readers = Some(readers);
    view
}

/// Returns the squares on which a side lost ships in the turn that led to `state`: where they were after their moves.
fn places_of_losses(state: &State, seat: Seat, before: &View, deeds: &Deeds) -> Vec<Square> {
    let ships = before.context.unfinished.as_ref().map_or(&before.ships, |turn| &turn.ships);
    let place = |no: &u16| {
        let moved = deeds.moved.iter().find(|movement| movement.no == *no).map(|movement| movement.to);
        let stayed = || ships.iter().chain(&deeds.built).find(|ship| ship.no == *no).map(|ship| ship.at);
        moved.or_else(stayed)
    };
    let lost = state.news.iter().filter_map(|event| match event {
        Event::Fought { sides, .. } => Some(&sides[seat].lost),
        Event::Entered { .. } | Event::Intruded { .. } | Event::Met { .. } | Event::Captured { .. } => None,
    });
    lost.flatten().filter_map(place).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::any::{AnyState, Filing, OwnPart};
    use crate::game::quadrant_z::State;
    use crate::game::quadrant_z::combat::Class;
    use crate::game::quadrant_z::galaxy::Square;
    use crate::game::quadrant_z::rules::{Stage, Star};
    use crate::game::quadrant_z::view::Intruder;
    use crate::game::{BySeat, Game, Line, Seat};

    fn square(text: &str) -> Square {
        Square::parse(text).expect("a square")
    }

    /// Two fleets that meet in the neutral quadrant L: each side has ships and a home base, and there are two
    /// stars in L.
    fn galaxy(first: &[(u16, u16, u16, &str)], second: &[(u16, u16, u16, &str)]) -> State {
        let mut state = State { stage: Stage::Turn, ..State::start(&super::super::Options::default()) };
        for (seat, base, ships) in [(Seat::First, "A1", first), (Seat::Second, "Y1", second)] {
            state.stars.at_mut(square(base)).placed[seat] = 3;
            let side = &mut state.sides[seat];
            side.base = Some(square(base));
            side.stock = 3;
            for (no, offence, defence, at) in ships {
                let class = Class { offence: *offence, defence: *defence };
                side.ships.push(Ship { no: *no, class, at: square(at) });
                side.highest = *no;
            }
        }
        for (at, first, second) in [("L1", 2, 1), ("L2", 0, 1), ("C1", 2, 0)] {
            *state.stars.at_mut(square(at)) = Star { placed: BySeat::new(first, second), captured_by: None };
        }
        state
    }

    fn did(before: &AnyState, filed: Option<&Filing>, after: &AnyState) -> serde_json::Value {
        after.shown_view(Seat::First, None, Some(OwnPart { before, filed }))["did"].clone()
    }

    /// The first side's actions in a turn with these orders.
    fn deeds(state: &State, first: &[&str], second: &[&str]) -> serde_json::Value {
        let before = AnyState::from(state.clone());
        let sealed = |seat, lines: &[&str]| before.seal(seat, &Line::numbered(lines)).expect("legal orders");
        let filed = BySeat::new(Some(sealed(Seat::First, first)), Some(sealed(Seat::Second, second)));
        let mut after = before.clone();
        after.adjudicate(&filed);
        did(&before, filed.first.as_ref(), &after)
    }

    #[test]
    fn ships_built_and_moved_are_told_with_their_squares() {
        let state = galaxy(&[(1, 3, 2, "A3"), (2, 1, 1, "C1")], &[(1, 1, 1, "Y1")]);
        let deeds = deeds(&state, &["BUILD 2/1 AT A1", "SHIP 1 TO B2", "SHIP 3 TO A2"], &[]);
        assert_eq!(deeds["built"], serde_json::json!([{ "no": 3, "offence": 2, "defence": 1, "at": "A1" }]));
        assert_eq!(
            deeds["moved"],
            serde_json::json!([{ "no": 1, "from": "A3", "to": "B2" }, { "no": 3, "from": "A1", "to": "A2" }])
        );
    }

    #[test]
    fn a_quadrant_that_either_side_opens_is_told_with_its_stars() {
        let state = galaxy(&[(1, 3, 2, "K2")], &[(1, 1, 1, "Q1")]);
        let opened = serde_json::json!([{ "quadrant": "L", "stars": [
        { "at": "L1", "value": 3, "captured_by": null },
        { "at": "L2", "value": 1, "captured_by": null },
    ] }]);
        assert_eq!(deeds(&state, &["SHIP 1 TO L4"], &[])["opened"], opened);
        assert_eq!(deeds(&state, &[], &["SHIP 1 TO L4"])["opened"], opened, "the enemy entered it");
        assert_eq!(deeds(&state, &[], &[])["opened"], serde_json::json!([]));
    }

    #[test]
    fn a_capture_that_failed_is_told_with_the_reason() {
        let mine = [(1, 2, 0, "C1"), (2, 0, 9, "C1")];
        // The enemy shares the square. Its offence is below our defence, so nobody is lost.
        let state = galaxy(&mine, &[(1, 1, 9, "D1")]);
        let contested = serde_json::json!([{ "at": "C1", "value": 2, "reason": "contested" }]);
        assert_eq!(deeds(&state, &["CAPTURE C1"], &["SHIP 1 TO C1"])["failed"], contested);
        // The enemy, on the square beside it, destroys the ship that was to capture.
        let state = galaxy(&[(1, 2, 0, "C1")], &[(1, 4, 9, "D1")]);
        let too_weak = serde_json::json!([{ "at": "C1", "value": 2, "reason": "too_weak" }]);
        assert_eq!(deeds(&state, &["CAPTURE C1"], &["SHIP 1 TO C2"])["failed"], too_weak);
        let made = deeds(&state, &["CAPTURE C1"], &[]);
        assert_eq!(
            (&made["failed"], &made["captured"]),
            (&serde_json::json!([]), &serde_json::json!(["C1"]))
        );
    }

    #[test]
    fn a_turn_that_waits_for_casualties_is_told_whole_once_they_are_known() {
        let mut state = galaxy(&[(1, 3, 2, "C1"), (2, 2, 3, "C1"), (3, 1, 1, "A1")], &[(1, 8, 1, "D1")]);
        crate::game::Options::set(&mut state.options, "casualties", "ask").expect("an option");
        let mut now = AnyState::from(state);
        let seal = |state: &AnyState, seat, line: &str| {
            Some(state.seal(seat, &Line::numbered(&[line])).expect("legal orders"))
        };
        let moves = (seal(&now, Seat::First, "SHIP 3 TO B1"), seal(&now, Seat::Second, "SHIP 1 TO C1"));
        now.adjudicate(&BySeat::new(moves.0, moves.1));
        assert_eq!(now.due().map(|due| due.phase), Some(Phase::Casualties));
        let before = now.clone();
        let chosen = seal(&now, Seat::First, "LOSE C 2");
        now.adjudicate(&BySeat::new(chosen.clone(), None));
        let deeds = did(&before, chosen.as_ref(), &now);
        assert_eq!(deeds["moved"], serde_json::json!([{ "no": 3, "from": "A1", "to": "B1" }]));
    }

    fn view(turn: u16, intruders: &[(&str, u16)], entries: &str, standoffs: &str) -> View {
        let mut view = State::start(&crate::game::quadrant_z::Options::default()).view(Seat::First);
        let square = |text: &str| Square::parse(text).expect("a square");
        let quadrants = |letters: &str| -> Vec<Quadrant> {
            letters.chars().map(|letter| square(&format!("{letter}1")).quadrant()).collect()
        };
        view.turn = turn;
        view.intruders =
            intruders.iter().map(|(at, size)| Intruder { at: square(at), size: *size }).collect();
        view.entries = quadrants(entries);
        view.standoffs = quadrants(standoffs);
        view
    }

    #[test]
    fn the_latest_news_of_each_quadrant_is_remembered_with_its_turn() {
        let mut memory = Memory::default();
        memory.add(&view(1, &[("A1", 2), ("A3", 5), ("B1", 1)], "L", ""));
        memory.add(&view(2, &[("A4", 3)], "MD", "N"));
        memory.add(&view(3, &[], "", ""));
        let expected = serde_json::json!({
            "intruders": [{ "turn": 2, "at": "A4", "size": 3 }, { "turn": 1, "at": "B1", "size": 1 }],
            "entries": [
                { "turn": 2, "quadrant": "D" }, { "turn": 1, "quadrant": "L" }, { "turn": 2, "quadrant": "M" },
            ],
            "standoffs": [{ "turn": 2, "quadrant": "N" }],
            "battles": [],
        });
        let json = serde_json::to_value(&memory).expect("plain values");
        assert_eq!(json, expected);
        assert_eq!(serde_json::from_value::<Memory>(json).expect("as written"), memory);
    }

    #[test]
    fn nothing_is_remembered_from_the_middle_of_a_turn() {
        let mut memory = Memory::default();
        let mut half = view(4, &[("A1", 2)], "L", "");
        half.context.phase = Some(Phase::Casualties);
        memory.add(&half);
        assert_eq!(memory, Memory::default());
    }
}
