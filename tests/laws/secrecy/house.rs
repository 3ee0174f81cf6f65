//! The house is shown what its seat was told and filed, and nothing else: if its seat cannot tell two histories apart, it is
//! shown the same in both, and files the same orders at every level.

use fogpost::game::any::{AnySeen, AnyState, Filing, GameKind};
use fogpost::game::{BySeat, Phase, Seat};
use fogpost::house;
use fogpost::referee::digest_of;

use super::{pacific, quadrant_z};
use fogpost_testing::play::{Play, filings, numbered};
use fogpost_testing::random::Random;
use fogpost_testing::random_play::RandomPlay as _;

/// Maximum length of a history, in phases.
const PHASES: usize = 24;

/// Order lines of the seats that are due.
type Orders = BySeat<Option<Vec<String>>>;

/// A match and its twin, as one seat has seen both.
struct Twins {
    viewer: Seat,
    play: Play,
    other: AnyState,
    /// Of the match, and of its twin.
    seen: [AnySeen; 2],
}

impl Twins {
    fn start(kind: GameKind, seed: u64, viewer: Seat) -> Twins {
        let play = Play::new(kind, seed);
        let seen = AnySeen::begin(&play.state, viewer);
        Twins { viewer, other: play.state.clone(), seen: [seen.clone(), seen], play }
    }

    /// Plays a phase of the match at random. Its twin is in the state that `twin` makes of the next state. Returns whether
    /// the match goes on.
    fn disguise(&mut self, twin: impl Fn(&AnyState, Seat, &mut Random) -> AnyState) -> bool {
        let Some(tries) = self.play.step() else { return false };
        self.other = twin(&self.play.state, self.viewer, &mut self.play.random);
        self.add(&filings(&tries));
        self.play.state.due().is_some()
    }

    /// Plays the phase that is due in both, with these orders in the match and those in its twin. Returns whether the match
    /// goes on.
    fn adjudicate(&mut self, orders: &Orders, of_twin: &Orders) -> bool {
        let Some(due) = self.play.state.due() else { return false };
        let [filed, of_twin] = [sealed(&self.play.state, orders), sealed(&self.other, of_twin)];
        assert_eq!(filed[self.viewer], of_twin[self.viewer], "what a seat files depends on its view alone");
        self.play.adjudicate(&due, &filed);
        self.other.adjudicate(&of_twin);
        self.add(&filed);
        self.play.state.due().is_some()
    }

    fn add(&mut self, filed: &BySeat<Option<Filing>>) {
        for (seen, state) in self.seen.iter_mut().zip([&self.play.state, &self.other]) {
            seen.add(filed, state);
        }
    }

    /// Asserts that the house is shown the same and plays the same. Returns whether something is due from it.
    fn assert_alike(&self, what: &str) -> bool {
        let [one, other] = &self.seen;
        assert_eq!(one, other, "{what}: what the house is shown");
        assert_eq!(digest_of(one), digest_of(other), "{what}: its digest");
        let is_due = self.play.state.due().is_some_and(|due| due.seats.contains(&self.viewer));
        for level in house::levels(self.play.kind).iter().filter(|_| is_due) {
            assert_eq!(house::play(one, level, 7), house::play(other, level, 7), "{what}: {level:?}");
        }
        is_due
    }
}

fn sealed(state: &AnyState, orders: &Orders) -> BySeat<Option<Filing>> {
    BySeat::from_fn(|seat| {
        let lines = numbered(orders[seat].as_ref()?);
        Some(state.seal(seat, &lines).unwrap_or_else(|faults| panic!("{orders:?}: {faults:?}")))
    })
}

/// Carries matches and their twins on for as long as `carry_on` says that the seat cannot tell them apart, and compares
/// what the house does. At least `least` turns of it must follow histories of several phases in states that differ.
fn assert_house_is_alike(kind: GameKind, matches: u64, least: usize, carry_on: impl Fn(&mut Twins) -> bool) {
    let mut compared = 0;
    for (seed, viewer) in (0..matches).flat_map(|seed| Seat::BOTH.map(|viewer| (seed, viewer))) {
        let mut twins = Twins::start(kind, seed, viewer);
        let mut phases = 0;
        while phases < PHASES && carry_on(&mut twins) {
            phases += 1;
            let is_due = twins.assert_alike(&format!("{kind} {seed} {viewer}, phase {phases}"));
            compared += usize::from(is_due && phases > 2 && twins.play.state != twins.other);
        }
    }
    assert!(compared >= least, "{compared} turns");
}

#[test]
fn what_quadrant_z_hides_changes_no_turn_of_the_house() {
    assert_house_is_alike(GameKind::QuadrantZ, 4, 40, |twins| twins.disguise(quadrant_z::twin));
}

#[test]
fn what_the_pacific_hides_changes_no_turn_of_the_house() {
    assert_house_is_alike(GameKind::Pacific, 3, 40, |twins| twins.disguise(pacific::twin));
}

/// Draws legal orders for the seats that are due. If they are `quiet`, no submarine attacks or is attacked.
fn drawn(play: &mut Play, quiet: bool) -> Orders {
    let attacks = |line: &String| ["ASW", "SONAR", "FIRE"].iter().any(|word| line.contains(word));
    let mut orders = Orders::default();
    for seat in play.state.due().map(|due| due.seats).unwrap_or_default() {
        let lines = loop {
            let lines = play.tries(seat).pop().expect("the filing that was sealed").lines;
            if !quiet || !lines.iter().any(attacks) {
                break lines;
            }
        };
        orders[seat] = Some(lines);
    }
    orders
}

/// Returns the phase that is due, unless the setups are.
fn phase_after_setups(twins: &Twins) -> Option<Phase> {
    twins.play.state.due().map(|due| due.phase).filter(|phase| *phase != Phase::Setup)
}

#[test]
fn submarines_elsewhere_without_contact_change_no_turn_of_the_house() {
    assert_house_is_alike(GameKind::Pacific, 3, 30, |twins| {
        let Some(phase) = phase_after_setups(twins) else { return twins.disguise(pacific::twin) };
        let orders = drawn(&mut twins.play, true);
        let mut of_twin = orders.clone();
        if phase == Phase::Submarines {
            of_twin[twins.viewer.other()] = Some(Vec::new());
        }
        twins.adjudicate(&orders, &of_twin)
    });
}

#[test]
fn other_numbers_of_submarines_change_no_turn_of_the_house() {
    let other_number = |no: u64| 1 + (no as usize + 1) % pacific::SUBMARINES;
    assert_house_is_alike(GameKind::Pacific, 3, 30, |twins| {
        let foe = twins.viewer.other();
        let Some(phase) = phase_after_setups(twins) else {
            return twins
                .disguise(|state, viewer, _| pacific::renumbered(state, viewer.other(), other_number));
        };
        let orders = drawn(&mut twins.play, false);
        let mut of_twin = orders.clone();
        if phase == Phase::Submarines {
            let lines = of_twin[foe].iter_mut().flatten();
            lines.for_each(|line| *line = pacific::with_number(line, other_number));
        }
        twins.adjudicate(&orders, &of_twin)
    });
}

/// Draws the moves of a fleet that stays in its home sector.
fn at_home(state: &AnyState, seat: Seat, random: &mut Random) -> Vec<String> {
    let mut lines = state.random_filing(seat, &mut |n| random.below(n as usize) as u32);
    lines.retain(|line| line.starts_with("SHIP ") && quadrant_z::leads_home(state, seat, line));
    if state.seal(seat, &numbered(&lines)).is_ok() { lines } else { Vec::new() }
}

#[test]
fn a_fleet_elsewhere_in_its_home_sector_changes_no_turn_of_the_house() {
    assert_house_is_alike(GameKind::QuadrantZ, 6, 20, |twins| {
        let (viewer, foe) = (twins.viewer, twins.viewer.other());
        if phase_after_setups(twins).is_none() {
            return twins.disguise(quadrant_z::elsewhere);
        }
        let mut orders = drawn(&mut twins.play, false);
        let mut of_twin = orders.clone();
        orders[foe] = Some(at_home(&twins.play.state, foe, &mut twins.play.random));
        of_twin[foe] = Some(at_home(&twins.other, foe, &mut twins.play.random));
        // The first ship that enters that sector sees what is there.
        twins.adjudicate(&orders, &of_twin) && !quadrant_z::has_entered_home_of_foe(&twins.play.state, viewer)
    });
}
