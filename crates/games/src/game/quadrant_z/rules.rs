//! Adjudicates the orders of both sides (clauses 2 and 3).
//!
//! `check` and `setup` have already decided whether the orders may be filed. An order that does not fit the
//! state has no effect here.

use super::combat::{self, Fight};
use super::fleet::Ship;
use super::galaxy::{Quadrant, Quadrants, Sector, Square};
use super::options::Casualties;
use super::order::Order;
use super::state::{Event, Fought, Pending, Side, Stage, State};
use crate::game::{BySeat, Outcome, Reason, Sealed, Seat};

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
