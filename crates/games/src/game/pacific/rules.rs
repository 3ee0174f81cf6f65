//! Adjudicates setups, surface turns (3) and submarine turns (4), and detects the end of the match (5).
//!
//! The state of a match: both fleets, the submarines, and what was reported and ordered so far.

use serde::{Deserialize, Serialize};

use super::fleet::{Area, Chart, Class, Ship, ShipKind, Square, Submarine, points};
use super::order::{Order, SubmarineOrder};
use super::setup::SetupFleet;
use super::{Options, Torpedo};
use crate::game::{BySeat, Outcome, Reason, Seat};

/// The stage of a match.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Setup,
    /// This side is to move on the surface, or pass if it cannot.
    Surface(Seat),
    Submarines,
    Over(Outcome),
}

/// A result of an adjudication, with everything that the referee knows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Event {
    Moved { side: Seat, from: Square, to: Square, sunk: Option<Class>, squadron_to: Option<Square> },
    SquadronLost { side: Seat, at: Square },
    DepthCharged { side: Seat, area: Area, sunk: u8, contact: bool },
    Torpedoed { side: Seat, no: u16, at: Square, sunk: Class },
    Sounded { side: Seat, no: u16, area: Area, sunk: u8, contact: bool },
    SubmarineSunk { side: Seat, no: u16, at: Square },
    SubmarineMoved { side: Seat, no: u16, to: Square },
    Passed { side: Seat },
}

/// An attack by or on submarines of which both sides were told, and its round.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sighting {
    pub round: u32,
    pub event: Event,
}

/// A submarine order, kept to be disclosed at the end of the match (4.6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Logged {
    pub round: u32,
    pub side: Seat,
    pub order: SubmarineOrder,
}

/// A match of War in the Pacific.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct State {
    pub(super) options: Options,
    pub(super) stage: Stage,
    pub(super) round: u32,
    /// Ordered by square.
    pub(super) ships: BySeat<Vec<Ship>>,
    /// Ordered by number.
    pub(super) submarines: BySeat<Vec<Submarine>>,
    /// Surface turns in a row without a sinking (P-QUIET).
    pub(super) quiet: u32,
    /// The results of the last adjudication, in order.
    pub(super) events: Vec<Event>,
    /// Attacks with depth charges, sonar and torpedoes so far.
    pub(super) sightings: Vec<Sighting>,
    pub(super) log: Vec<Logged>,
}

impl State {
    pub fn new(options: Options) -> State {
        State {
            options,
            stage: Stage::Setup,
            round: 1,
            ships: BySeat::default(),
            submarines: BySeat::default(),
            quiet: 0,
            events: Vec::new(),
            sightings: Vec::new(),
            log: Vec::new(),
        }
    }

    /// Whether there are submarines, which are all that the game hides.
    pub fn has_submarines(&self) -> bool {
        self.options.submarines
    }

    /// Both surface fleets, which both sides see.
    pub fn ships(&self) -> &BySeat<Vec<Ship>> {
        &self.ships
    }
}

/// Whether a torpedo hits at this distance, in king's moves (4.2).
pub fn torpedo_reaches(rule: Torpedo, distance: u8) -> bool {
    match rule {
        Torpedo::Exact => distance == 2,
        Torpedo::Within => distance <= 2,
    }
}

/// Whether a submarine can go from one square to another in one turn (4.1).
pub fn submarine_goes(from: Square, to: Square) -> bool {
    let files = from.file().abs_diff(to.file());
    let ranks = from.rank().abs_diff(to.rank());
    (1..=3).contains(&from.king_steps(to)) && (files == 0 || ranks == 0 || files == ranks)
}

/// Returns the seats that owe orders.
pub fn seats_due(state: &State) -> Vec<Seat> {
    match state.stage {
        Stage::Setup => Seat::BOTH.to_vec(),
        Stage::Surface(side) if can_act(state, side) => vec![side],
        Stage::Surface(_) | Stage::Over(_) => Vec::new(),
        Stage::Submarines => {
            Seat::BOTH.into_iter().filter(|seat| !state.submarines[*seat].is_empty()).collect()
        }
    }
}

/// Whether `side` has a legal move or attack (3.7). With submarines it always has an attack: a ship other
/// than a squadron is always afloat, or the match would be over (5.1), and some area is always within that
/// ship's reach.
fn can_act(state: &State, side: Seat) -> bool {
    state.options.submarines || Chart::new(&state.ships, state.options.squadron_leap).can_move(side)
}

/// Opens the match with both setups.
pub fn open(state: &State, setups: &BySeat<&[Order]>) -> State {
    let mut next = state.clone();
    for side in Seat::BOTH {
        let mut fleet = SetupFleet::new(side, &state.options);
        for order in setups[side] {
            // Sealed orders have no faults, so `add` accepts all of them.
            let _ = fleet.add(order);
        }
        (next.ships[side], next.submarines[side]) = fleet.into_ships();
    }
    next.stage = Stage::Surface(Seat::First);
    next
}

/// Plays the surface turn of `side`; without an order, it passes. An impossible order changes nothing.
pub fn surface(state: &State, side: Seat, order: Option<&Order>) -> State {
    let mut next = state.clone();
    next.events.clear();
    let sunk = match order {
        Some(Order::Move { from, to, .. }) => match next.sail(side, *from, *to) {
            Some(sunk) => sunk,
            None => return state.clone(),
        },
        Some(Order::Asw(corner)) => {
            let Some(area) = Area::new(*corner) else { return state.clone() };
            let (sunk, contact) = next.attack_depths(side, area);
            next.report(Event::DepthCharged { side, area, sunk, contact });
            sunk > 0
        }
        Some(
            Order::Carrier { .. }
            | Order::Ships { .. }
            | Order::Submarines(_)
            | Order::Ready(_)
            | Order::Numbered { .. }
            | Order::Submarine(_),
        ) => {
            return state.clone();
        }
        None => {
            next.events.push(Event::Passed { side });
            false
        }
    };
    next.quiet = if sunk { 0 } else { state.quiet + 1 };
    if let Some(outcome) = defeat(&next.ships) {
        next.stage = Stage::Over(outcome);
    } else if side == Seat::First {
        next.stage = Stage::Surface(Seat::Second);
    } else if Seat::BOTH.iter().any(|seat| !next.submarines[*seat].is_empty()) {
        next.stage = Stage::Submarines;
    } else {
        next.end_round();
    }
    next
}

/// Plays the submarine turn of both sides (P-SUBTURN).
pub fn submarines(state: &State, orders: BySeat<Option<SubmarineOrder>>) -> State {
    let mut next = state.clone();
    next.events.clear();
    for side in seats_due(state) {
        // An empty filing passes (4).
        let order = orders[side].unwrap_or(SubmarineOrder::Pass);
        next.log.push(Logged {
            round: state.round,
            side,
            order: written_out(order, &state.submarines[side]),
        });
    }
    // Shots and searches count from the squares held when the phase began, so moves come last.
    let ordered = |side: Seat| orders[side].filter(|order| commands(order, &state.submarines[side]));
    let mut sunk = false;
    for side in Seat::BOTH {
        if let Some(SubmarineOrder::Fire { no, at }) = ordered(side) {
            sunk |= next.torpedo(side, no, at);
        }
    }
    for side in Seat::BOTH {
        if let Some(SubmarineOrder::Sonar { no, area }) = ordered(side) {
            let Some(area) = Area::new(area) else { continue };
            let (hits, contact) = next.attack_depths(side, area);
            next.report(Event::Sounded { side, no, area, sunk: hits, contact });
            sunk |= hits > 0;
        }
    }
    for side in Seat::BOTH {
        if let Some(SubmarineOrder::Move { no, to, .. }) = ordered(side) {
            next.dive(side, no, to);
        }
    }
    if sunk {
        next.quiet = 0;
    }
    match defeat(&next.ships) {
        Some(outcome) => next.stage = Stage::Over(outcome),
        None => next.end_round(),
    }
    next
}

/// Whether the submarine that the order names still exists.
fn commands(order: &SubmarineOrder, own: &[Submarine]) -> bool {
    order.no().is_none_or(|no| own.iter().any(|submarine| submarine.no == no))
}

/// Returns the order as the log keeps it: a move with the square it began on.
pub fn written_out(order: SubmarineOrder, own: &[Submarine]) -> SubmarineOrder {
    match order {
        SubmarineOrder::Move { no, to, .. } => {
            let from = own.iter().find(|submarine| submarine.no == no).map(|submarine| submarine.at);
            SubmarineOrder::Move { no, from, to }
        }
        SubmarineOrder::Fire { .. } | SubmarineOrder::Sonar { .. } | SubmarineOrder::Pass => order,
    }
}

impl State {
    /// Records an event both in this adjudication's news and in the lasting sightings.
    fn report(&mut self, event: Event) {
        self.sightings.push(Sighting { round: self.round, event: event.clone() });
        self.events.push(event);
    }

    /// Moves a ship of `side`. Returns whether it sank something, or `None` if there is no such ship or its
    /// squadron would leave the board.
    fn sail(&mut self, side: Seat, from: Square, to: Square) -> Option<bool> {
        let ship = *self.ships[side].iter().find(|ship| ship.at == from)?;
        let mut squadron_to = None;
        if let ShipKind::Carrier { no } = ship.kind {
            // P-ESCORT: the squadron makes the same step. It may end on the carrier's old square, or the
            // carrier on the squadron's.
            let files = to.file() as i8 - from.file() as i8;
            let ranks = to.rank() as i8 - from.rank() as i8;
            let escort = self.ships[side].iter_mut().find(
                |ship| matches!(ship.kind, ShipKind::Squadron { no: of, launched: false, .. } if of == no),
            );
            if let Some(escort) = escort {
                escort.at = escort.at.step(files, ranks)?;
                squadron_to = Some(escort.at);
            }
        }
        let mover = self.ships[side].iter_mut().find(|other| other.at == from && other.kind == ship.kind)?;
        mover.at = to;
        if let ShipKind::Squadron { launched, leapt, .. } = &mut mover.kind {
            *launched = true;
            let files = from.file().abs_diff(to.file());
            let ranks = from.rank().abs_diff(to.rank());
            *leapt |= files * ranks == 2;
        }
        self.ships[side].sort_unstable_by_key(|ship| ship.at);
        let loss = self.sink(side.other(), to);
        let sunk = loss.as_ref().map(|loss| loss.class);
        self.events.push(Event::Moved { side, from, to, sunk, squadron_to });
        self.events.extend(loss.and_then(|loss| loss.squadron));
        Some(sunk.is_some())
    }

    /// Sinks the ship of `owner` at `at`, if there is one, and the squadron that goes down with it (3.5).
    fn sink(&mut self, owner: Seat, at: Square) -> Option<Loss> {
        let fleet = &mut self.ships[owner];
        let place = fleet.iter().position(|ship| ship.at == at)?;
        let ship = fleet.remove(place);
        let squadron = match ship.kind {
            ShipKind::Carrier { no } => fated_squadron(fleet, no).map(|place| fleet.remove(place).at),
            ShipKind::Squadron { .. } | ShipKind::Battleship | ShipKind::Cruiser | ShipKind::Destroyer => {
                None
            }
        };
        let squadron = squadron.map(|at| Event::SquadronLost { side: owner, at });
        Some(Loss { class: ship.class(), squadron })
    }

    /// Fires from submarine `no` of `side` at `at` (4.2). Returns whether something sank.
    fn torpedo(&mut self, side: Seat, no: u16, at: Square) -> bool {
        let Some(loss) = self.sink(side.other(), at) else { return false };
        self.report(Event::Torpedoed { side, no, at, sunk: loss.class });
        self.events.extend(loss.squadron);
        true
    }

    /// Sinks every enemy submarine in `area` (3.6). Returns how many it sank, and whether there is contact.
    fn attack_depths(&mut self, side: Seat, area: Area) -> (u8, bool) {
        let enemy = side.other();
        let mut sunk = 0;
        let events = &mut self.events;
        self.submarines[enemy].retain(|submarine| {
            let hit = area.distance(submarine.at) == 0;
            if hit {
                sunk += 1;
                events.push(Event::SubmarineSunk { side: enemy, no: submarine.no, at: submarine.at });
            }
            !hit
        });
        (sunk, self.submarines[enemy].iter().any(|submarine| area.distance(submarine.at) == 1))
    }

    /// Moves a submarine that still exists.
    fn dive(&mut self, side: Seat, no: u16, to: Square) {
        if let Some(submarine) = self.submarines[side].iter_mut().find(|submarine| submarine.no == no) {
            submarine.at = to;
            self.events.push(Event::SubmarineMoved { side, no, to });
        }
    }

    /// Ends the round: the next one begins, or the points decide (P-QUIET).
    fn end_round(&mut self) {
        if self.quiet < 2 * self.options.quiet_limit {
            self.round += 1;
            self.stage = Stage::Surface(Seat::First);
            return;
        }
        let afloat = self.ships.as_ref().map(|fleet| points(fleet));
        let winner = match afloat.first.cmp(&afloat.second) {
            std::cmp::Ordering::Less => Some(Seat::Second),
            std::cmp::Ordering::Equal => None,
            std::cmp::Ordering::Greater => Some(Seat::First),
        };
        self.stage = Stage::Over(Outcome { winner, reason: Reason::PointsAfloat });
    }
}

/// The losses from one hit.
struct Loss {
    class: Class,
    squadron: Option<Event>,
}

/// P-FATE: returns the index in `fleet` of the squadron that is lost with the sunk carrier `no`, if one is.
fn fated_squadron(fleet: &[Ship], carrier: u16) -> Option<usize> {
    let mut own = None;
    let mut first_launched = None;
    for (place, ship) in fleet.iter().enumerate() {
        let ShipKind::Squadron { no, launched, .. } = ship.kind else { continue };
        if no == carrier {
            own = Some((place, launched));
        }
        if launched && first_launched.is_none_or(|first| (no, place) < first) {
            first_launched = Some((no, place));
        }
    }
    if let Some((place, false)) = own {
        return Some(place);
    }
    let squadrons = fleet.iter().filter(|ship| ship.is_squadron()).count();
    let carriers = fleet.iter().filter(|ship| ship.class() == Class::Carrier).count();
    if squadrons <= carriers {
        return None;
    }
    own.map(|(place, _)| place).or(first_launched.map(|(_, place)| place))
}

/// Clause 5.1: a side that has only squadrons on the surface is defeated.
fn defeat(ships: &BySeat<Vec<Ship>>) -> Option<Outcome> {
    let beaten = ships.as_ref().map(|fleet| fleet.iter().all(Ship::is_squadron));
    let winner = match (beaten.first, beaten.second) {
        (false, false) => return None,
        (true, true) => None,
        (true, false) => Some(Seat::Second),
        (false, true) => Some(Seat::First),
    };
    Some(Outcome { winner, reason: Reason::FleetDefeated })
}
