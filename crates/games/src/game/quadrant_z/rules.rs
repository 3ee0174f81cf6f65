//! Adjudicates the orders of both sides (clauses 2 and 3).
//!
//! `check` and `setup` have already decided whether the orders may be filed. An order that does not fit the
//! state has no effect here.
//!
//! The state of a match. `view` decides what a seat may know of it.

use serde::{Deserialize, Serialize};

use super::combat::{self, Fight, Ship};
use super::galaxy::{Quadrant, Quadrants, Sector, Square};
use super::order::Order;
use super::{Casualties, Options};
use crate::game::{BySeat, Outcome, Phase, Reason, Sealed, Seat};

/// A match of Quadrant Z.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub(crate) options: Options,
    /// The number of turns adjudicated.
    pub(crate) turn: u16,
    pub(crate) stage: Stage,
    pub(crate) stars: Stars,
    pub(crate) sides: BySeat<Side>,
    /// The results of the last adjudication.
    pub(crate) news: Vec<Event>,
}

/// The phase that the match waits for, or its outcome.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Stage {
    Setup,
    Turn,
    Casualties(Box<Pending>),
    Over(Outcome),
}

/// A turn that stopped after combat was computed (`Z-CASUALTIES`, option `ask`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Pending {
    /// The match before this turn, from which the turn is adjudicated again once the casualties are filed.
    pub before: State,
    pub orders: BySeat<Vec<Order>>,
    pub fights: Vec<Fight>,
    pub asked: BySeat<bool>,
}

/// The possessions and knowledge of one side.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Side {
    /// Ordered by number.
    pub ships: Vec<Ship>,
    /// The highest number that a ship of this side ever had (clause 2.4), because numbers are not reused.
    pub highest: u16,
    /// Points captured and not yet spent.
    pub stock: u16,
    pub base: Option<Square>,
    /// The quadrants in which it knows every star, including its home sector (clause 3.3).
    pub charted: Quadrants,
    /// The standing `LOSSES`; living ships only.
    pub losses: Vec<u16>,
}

/// The star on a square: what each side placed there, and who captured it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Star {
    pub placed: BySeat<u8>,
    pub captured_by: Option<Seat>,
}

impl Star {
    /// The merged value (`Z-MERGE`); 0 if there is no star.
    pub fn value(self) -> u16 {
        u16::from(self.placed.first) + u16::from(self.placed.second)
    }
}

/// The stars of all squares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<Placed>", into = "Vec<Placed>")]
pub(crate) struct Stars(Box<[Star; Square::COUNT]>);

/// A star as it is serialized.
#[derive(Serialize, Deserialize)]
struct Placed {
    at: Square,
    first: u8,
    second: u8,
    captured_by: Option<Seat>,
}

impl Stars {
    pub fn none() -> Stars {
        Stars(Box::new([Star::default(); Square::COUNT]))
    }

    pub fn at(&self, square: Square) -> Star {
        self.0[square.index()]
    }

    pub fn at_mut(&mut self, square: Square) -> &mut Star {
        &mut self.0[square.index()]
    }

    /// Returns every star with its square, ordered by square.
    pub fn iter(&self) -> impl Iterator<Item = (Square, Star)> {
        Square::all().zip(self.0.iter().copied()).filter(|(_, star)| star.value() > 0)
    }

    pub fn score(&self) -> BySeat<Score> {
        let mut score = BySeat::default();
        for star in self.0.iter() {
            if let Some(by) = star.captured_by {
                let score: &mut Score = &mut score[by];
                score.stars += 1;
                score.value += star.value();
            }
        }
        score
    }
}

impl From<Stars> for Vec<Placed> {
    fn from(stars: Stars) -> Self {
        let mut placed = Vec::new();
        for (at, Star { placed: BySeat { first, second }, captured_by }) in stars.iter() {
            placed.push(Placed { at, first, second, captured_by });
        }
        placed
    }
}

impl From<Vec<Placed>> for Stars {
    fn from(placed: Vec<Placed>) -> Self {
        let mut stars = Stars::none();
        for star in placed {
            *stars.at_mut(star.at) =
                Star { placed: BySeat::new(star.first, star.second), captured_by: star.captured_by };
        }
        stars
    }
}

/// The stars that a side has captured (clause 4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    pub stars: u16,
    pub value: u16,
}

/// A result of a turn. `view::disclose` decides what each side is told about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Event {
    /// Ships of `by` entered a neutral quadrant (`Z-ENTRY`).
    Entered { by: Seat, quadrant: Quadrant },
    /// Ships of `by` are on a square of the enemy's home sector (`Z-INTRUDER`).
    Intruded { by: Seat, at: Square, size: u16 },
    /// Ships of both sides are in one quadrant (`Z-STANDOFF`).
    Met { quadrant: Quadrant },
    /// Combat (clause 3.4).
    Fought { quadrant: Quadrant, sides: BySeat<Fought> },
    /// A star was captured (clause 3.5). `offence` is the total of the captor's ships there after the turn.
    Captured { by: Seat, at: Square, value: u16, offence: u16 },
}

/// One side's part in a battle in one quadrant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fought {
    pub offence: u16,
    pub defence: u16,
    /// The damage that this side took.
    pub damage: u16,
    /// In ascending order.
    pub lost: Vec<u16>,
    /// The total size of the ships lost.
    pub lost_size: u16,
}

impl State {
    pub fn new(options: Options) -> State {
        State {
            options,
            turn: 0,
            stage: Stage::Setup,
            stars: Stars::none(),
            sides: BySeat::default(),
            news: Vec::new(),
        }
    }

    /// The open phase; `None` once the match is over.
    pub fn phase(&self) -> Option<Phase> {
        match self.stage {
            Stage::Setup => Some(Phase::Setup),
            Stage::Turn => Some(Phase::Turn),
            Stage::Casualties(_) => Some(Phase::Casualties),
            Stage::Over(_) => None,
        }
    }

    pub fn sector(&self, quadrant: Quadrant) -> Sector {
        self.options.layout.sector(quadrant)
    }

    /// Returns the side whose home base is on `square`, if there is one.
    pub fn base_of(&self, square: Square) -> Option<Seat> {
        Seat::BOTH.into_iter().find(|&seat| self.sides[seat].base == Some(square))
    }
}

/// Implements [`crate::game::Game::adjudicate`].
pub fn adjudicate(state: &State, filed: &BySeat<Option<Sealed<Order>>>) -> State {
    adjudicate_unchecked(state, filed.as_ref().map(|filing| filing.as_ref().map(Sealed::orders)))
}

/// Adjudicates unchecked orders, such as the house's guesses. `None` stands for a seat that has filed
/// nothing.
pub fn adjudicate_unchecked(state: &State, orders: BySeat<Option<&[Order]>>) -> State {
    match (&state.stage, orders.first, orders.second) {
        (Stage::Setup, Some(first), Some(second)) => set_up(state, BySeat::new(first, second)),
        (Stage::Turn, Some(first), Some(second)) => play(state, BySeat::new(first, second), None),
        (Stage::Casualties(pending), first, second)
            if (!pending.asked.first || first.is_some()) && (!pending.asked.second || second.is_some()) =>
        {
            let choices = BySeat::new(first.unwrap_or_default(), second.unwrap_or_default());
            play(&pending.before, pending.orders.as_ref().map(Vec::as_slice), Some(choices))
        }
        (Stage::Setup | Stage::Turn | Stage::Casualties(_) | Stage::Over(_), _, _) => state.clone(),
    }
}

/// Plays the setup (clause 2).
fn set_up(state: &State, orders: BySeat<&[Order]>) -> State {
    let mut next = State { stage: Stage::Turn, news: Vec::new(), ..state.clone() };
    for seat in Seat::BOTH {
        let side = &mut next.sides[seat];
        side.charted = Quadrants::of(state.options.layout.home(seat));
        for order in orders[seat] {
            match *order {
                Order::Star { at, value, base } => {
                    next.stars.at_mut(at).placed[seat] = u8::try_from(value).unwrap_or(u8::MAX);
                    if base {
                        side.base = Some(at);
                    }
                }
                Order::Place { no, class, at } => side.ships.push(Ship { no, class, at }),
                _ => {}
            }
        }
        side.ships.sort_unstable_by_key(|ship| ship.no);
        side.highest = side.ships.last().map_or(0, |ship| ship.no);
    }
    next
}

/// Plays one turn (clause 3) from the state before it. Without `choices`, it stops at the casualties if a
/// side must be asked to choose them.
fn play(before: &State, orders: BySeat<&[Order]>, choices: Option<BySeat<&[Order]>>) -> State {
    let mut next = State {
        options: before.options,
        turn: before.turn + 1,
        stage: Stage::Turn,
        stars: before.stars.clone(),
        sides: before.sides.clone(),
        news: Vec::new(),
    };
    let entered = BySeat::from_fn(|seat| {
        build(&mut next.sides[seat], orders[seat]);
        move_ships(&mut next.sides[seat], orders[seat])
    });
    let meetings = explore(&mut next, entered);
    let ships = next.sides.as_ref().map(|side| side.ships.as_slice());
    let fights = combat::fights(meetings, ships, before.options.damage);
    if before.options.casualties == Casualties::Ask && choices.is_none() {
        let asked =
            BySeat::from_fn(|seat| fights.iter().any(|fight| fight.leaves_a_choice(seat, ships[seat])));
        if asked.first || asked.second {
            let pending =
                Pending { before: before.clone(), orders: orders.map(<[_]>::to_vec), fights, asked };
            next.stage = Stage::Casualties(Box::new(pending));
            next.news.clear();
            return next;
        }
    }
    for fight in &fights {
        lose_ships(&mut next, fight, choices);
    }
    capture(&mut next, orders);
    if let Some(outcome) = verdict(&next) {
        next.stage = Stage::Over(outcome);
    }
    next
}

/// Builds ships (clauses 2.4 and 3.1). The standing list takes effect in this turn (`Z-CASUALTIES`).
fn build(side: &mut Side, orders: &[Order]) {
    for order in orders {
        match order {
            Order::Build { class, at } if class.size() <= side.stock => {
                side.stock -= class.size();
                side.highest += 1;
                side.ships.push(Ship { no: side.highest, class: *class, at: *at });
            }
            Order::Losses { ships } => side.losses.clone_from(ships),
            _ => {}
        }
    }
}

/// Moves ships (clause 3.2). Returns the quadrants that ships entered from another one.
fn move_ships(side: &mut Side, orders: &[Order]) -> Quadrants {
    let mut entered = Quadrants::default();
    for order in orders {
        if let Order::Move { no, to, .. } = *order
            && let Ok(index) = side.ships.binary_search_by_key(&no, |ship| ship.no)
        {
            let from = std::mem::replace(&mut side.ships[index].at, to);
            if from.quadrant() != to.quadrant() {
                entered.insert(to.quadrant());
            }
        }
    }
    entered
}

/// Adds what each side learns after movement (clause 3.3). Returns the quadrants that hold ships of both
/// sides.
fn explore(next: &mut State, entered: BySeat<Quadrants>) -> Quadrants {
    for seat in Seat::BOTH {
        for quadrant in entered[seat].iter() {
            next.sides[seat].charted.insert(quadrant);
            if next.sector(quadrant) == Sector::Neutral {
                next.sides[seat.other()].charted.insert(quadrant);
                next.news.push(Event::Entered { by: seat, quadrant });
            }
        }
    }
    for by in Seat::BOTH {
        let intruders = intruders(next, by);
        next.news.extend(intruders);
    }
    let held = next.sides.as_ref().map(|side| {
        let mut held = Quadrants::default();
        side.ships.iter().for_each(|ship| held.insert(ship.at.quadrant()));
        held
    });
    let meetings = held.first.common(held.second);
    next.news.extend(meetings.iter().map(|quadrant| Event::Met { quadrant }));
    meetings
}

/// `Z-INTRUDER`: the ships of `by` in the enemy's home sector, square by square.
fn intruders(state: &State, by: Seat) -> Vec<Event> {
    let abroad = |ship: &&Ship| state.sector(ship.at.quadrant()) == Sector::Home(by.other());
    let mut ships: Vec<&Ship> = state.sides[by].ships.iter().filter(abroad).collect();
    ships.sort_unstable_by_key(|ship| ship.at);
    let squares = ships.chunk_by(|one, next| one.at == next.at);
    squares
        .map(|ships| {
            let size = ships.iter().map(|ship| ship.class.size()).sum();
            Event::Intruded { by, at: ships[0].at, size }
        })
        .collect()
}

/// Removes the lost ships (clause 3.4), chosen by `choices` or else by the standing lists.
fn lose_ships(next: &mut State, fight: &Fight, choices: Option<BySeat<&[Order]>>) {
    let sides = BySeat::from_fn(|seat| {
        let side = &mut next.sides[seat];
        let named = match choices {
            Some(choices) => choice(choices[seat], fight.quadrant),
            None => &side.losses,
        };
        let lost = fight.lost(seat, &side.ships, named);
        let force = fight.sides[seat];
        let mut lost_size = 0;
        if !lost.is_empty() {
            side.ships.retain(|ship| {
                let stays = lost.binary_search(&ship.no).is_err();
                lost_size += if stays { 0 } else { ship.class.size() };
                stays
            });
            side.losses.retain(|no| lost.binary_search(no).is_err());
        }
        Fought { offence: force.offence, defence: force.defence, damage: force.damage, lost, lost_size }
    });
    next.news.push(Event::Fought { quadrant: fight.quadrant, sides });
}

/// Returns the ships that a filing of the phase `casualties` names for a quadrant.
fn choice(orders: &[Order], fought_in: Quadrant) -> &[u16] {
    let named = orders.iter().find_map(|order| match order {
        Order::Lose { quadrant, ships } if *quadrant == fought_in => Some(ships.as_slice()),
        _ => None,
    });
    named.unwrap_or_default()
}

/// Captures stars (clause 3.5).
fn capture(next: &mut State, orders: BySeat<&[Order]>) {
    let first_notice = next.news.len();
    for by in Seat::BOTH {
        for order in orders[by] {
            let Order::Capture { at } = *order else { continue };
            let star = next.stars.at(at);
            let contested = next.sides[by.other()].ships.iter().any(|ship| ship.at == at); // Z-CONTESTED
            if star.value() == 0 || star.captured_by.is_some() || contested {
                continue;
            }
            let there = || next.sides[by].ships.iter().filter(|ship| ship.at == at);
            let stayed = there().filter(|ship| !has_moved(ship.no, orders[by]));
            if stayed.map(|ship| ship.class.offence).sum::<u16>() >= star.value() {
                let offence = there().map(|ship| ship.class.offence).sum();
                next.news.push(Event::Captured { by, at, value: star.value(), offence });
                next.stars.at_mut(at).captured_by = Some(by);
                next.sides[by].stock += star.value();
            }
        }
    }
    next.news[first_notice..].sort_unstable_by_key(|event| match event {
        Event::Captured { at, .. } => Some(*at),
        _ => None,
    });
}

fn has_moved(ship: u16, orders: &[Order]) -> bool {
    orders.iter().any(|order| matches!(order, Order::Move { no, .. } if *no == ship))
}

/// Returns the outcome, if the match has ended (clause 3.6).
fn verdict(state: &State) -> Option<Outcome> {
    let base_captured =
        state.sides.as_ref().map(|side| side.base.is_some_and(|base| is_captured(state, base)));
    let fallen = BySeat::from_fn(|seat| base_captured[seat] || state.sides[seat].ships.is_empty());
    if fallen.first != fallen.second {
        let loser = if fallen.first { Seat::First } else { Seat::Second };
        let reason = if base_captured[loser] { Reason::BaseCaptured } else { Reason::FleetDestroyed };
        return Some(Outcome { winner: Some(loser.other()), reason });
    }
    let score = state.stars.score();
    let captured = score.first.stars + score.second.stars;
    let all = state.stars.iter().count() as u16;
    let most = Seat::BOTH.into_iter().find(|&seat| score[seat].stars * 2 > all); // Z-MOST
    if !fallen.first && most.is_some() {
        return Some(Outcome { winner: most, reason: Reason::MostStars });
    }
    if !fallen.first && captured + 2 < all && u32::from(state.turn) < state.options.turn_limit {
        return None;
    }
    let [first, second] = [score.first, score.second].map(|score| (score.stars, score.value));
    Some(match first.cmp(&second) {
        std::cmp::Ordering::Greater => Outcome { winner: Some(Seat::First), reason: Reason::MostStars },
        std::cmp::Ordering::Less => Outcome { winner: Some(Seat::Second), reason: Reason::MostStars },
        std::cmp::Ordering::Equal => Outcome { winner: None, reason: Reason::DrawnOnStars },
    })
}

fn is_captured(state: &State, square: Square) -> bool {
    state.stars.at(square).captured_by.is_some()
}
