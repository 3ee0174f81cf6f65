//! Improves the orders of a turn ship by ship: each ship near the enemy tries other squares against the
//! enemy's orders on the guesses (the greedy search of Churchill and Buro 2013).
//!
//! Plays on from guesses to compare plans and orders.

use std::cmp::Reverse;

use super::belief::{Guess, adjudicate_phase};
use super::plan::{self, Known, Plan};
use crate::game::quadrant_z::{Order, Quadrant, Ship, Square, State};
use crate::game::{Dice, Game, Seat};

/// The worth of a match won, of a captured star, and of a point of stock or of a ship.
const WON: i32 = 1_000;
const STAR: i32 = 10;
const POINT: i32 = 3;

/// Plays turns on guesses, and counts them.
pub(super) struct Ahead<'a> {
    pub me: Seat,
    pub guesses: &'a [Guess],
    /// The dice, the same for everything compared, so that only plans and orders differ.
    pub dice: Dice,
    /// The turns played so far.
    pub played: u64,
}

impl Ahead<'_> {
    /// Returns the worth of a pair of plans, the seat's own and the enemy's, after this many turns on a
    /// guess.
    pub fn outlook(&mut self, guess: &Guess, (own, theirs): (&Plan, &Plan), turns: usize) -> i32 {
        let mut dice = self.dice.clone();
        self.play_on(guess.state.clone(), (own, theirs), turns, &mut dice)
    }

    /// Returns the worth of orders after this many turns on all guesses. The enemy answers with one list of
    /// orders for each guess, and then both sides follow plans.
    pub fn outcome(&mut self, orders: &[Order], answers: &[Vec<Order>], own: &Plan, turns: usize) -> i32 {
        let guesses = self.guesses;
        let played = guesses.iter().zip(answers).map(|(guess, answers)| {
            let state = adjudicate_phase(&guess.state, self.me, orders, answers);
            self.played += 1;
            let mut dice = self.dice.clone();
            self.play_on(state, (own, &guess.plan), turns.saturating_sub(1), &mut dice)
        });
        played.sum()
    }

    /// The enemy's orders on each guess.
    pub fn answers(&self) -> Vec<Vec<Order>> {
        let answer = |guess: &Guess| {
            let known = Known::from_state(&guess.state, self.me.other());
            plan::orders(&known, &guess.plan, &mut self.dice.clone())
        };
        self.guesses.iter().map(answer).collect()
    }

    fn play_on(
        &mut self,
        mut state: State,
        (own, theirs): (&Plan, &Plan),
        turns: usize,
        dice: &mut Dice,
    ) -> i32 {
        let foe = self.me.other();
        let me = self.me;
        for _ in 0..turns {
            if state.due().is_none() {
                break;
            }
            let orders = plan::orders(&Known::from_state(&state, me), own, dice);
            let answers = plan::orders(&Known::from_state(&state, foe), theirs, dice);
            state = adjudicate_phase(&state, me, &orders, &answers);
            self.played += 1;
        }
        worth(&state, me) - worth(&state, foe)
    }
}

/// Rates a side by its victory or, if it has not won, by its stars, ships and stock.
fn worth(state: &State, seat: Seat) -> i32 {
    if let Some(outcome) = state.outcome()
        && outcome.winner.is_some()
    {
        return if outcome.winner == Some(seat) { WON } else { 0 };
    }
    let side = &state.sides[seat];
    let fleet: u16 = side.ships.iter().map(|ship| ship.class.size()).sum();
    STAR * i32::from(state.stars.score()[seat].stars) + POINT * i32::from(fleet + side.stock)
}

/// The limits of the search for better squares.
#[derive(Clone, Copy)]
pub(super) struct Tries {
    /// Maximum squares that all ships together try.
    pub squares: usize,
    /// The number of turns that each try is played ahead. With four, the house lost more matches than it won
    /// against itself with three.
    pub turns: usize,
}

/// Maximum squares with enemies that one ship tries.
const ATTACKS: usize = 3;
/// Minimum gain for another square to be chosen, on average over the guesses. With 1 and with 4 the house
/// lost more matches than it won against itself with 2.
const MARGIN: i32 = 2;

/// Improves orders that follow a plan. If no ship finds a better square, they have the same effect as before.
pub(super) fn refine(
    ahead: &mut Ahead<'_>,
    known: &Known<'_>,
    plan: &Plan,
    orders: Vec<Order>,
    tries: Tries,
) -> Vec<Order> {
    let answers = ahead.answers();
    let enemies = Enemies::after(ahead, &answers);
    let mut turn = Turn::of(known, &orders);
    let margin = MARGIN * ahead.guesses.len() as i32;
    let mut now = ahead.outcome(&orders, &answers, plan, tries.turns);
    let mut left = tries.squares;
    for number in turn.near(&enemies, known.ships.len()) {
        let mut best = None;
        let mut worth = now + margin;
        for to in turn.alternatives(number, &enemies).take(left) {
            left -= 1;
            let other = turn.with(number, to);
            let found = ahead.outcome(&other.orders(known), &answers, plan, tries.turns);
            if found > worth {
                (best, worth) = (Some(other), found);
            }
        }
        if let Some(best) = best {
            (turn, now) = (best, worth);
        }
    }
    turn.orders(known)
}

/// The total size of the enemy's ships on each square after the enemy's moves, summed over all guesses.
struct Enemies([u32; Square::COUNT]);

impl Enemies {
    fn after(ahead: &Ahead<'_>, answers: &[Vec<Order>]) -> Enemies {
        let mut enemies = Enemies([0; Square::COUNT]);
        for (guess, answers) in ahead.guesses.iter().zip(answers) {
            for ship in &guess.state.sides[ahead.me.other()].ships {
                enemies.0[destination(ship, answers).index()] += u32::from(ship.class.size());
            }
        }
        enemies
    }

    fn at(&self, square: Square) -> u32 {
        self.0[square.index()]
    }

    fn within(&self, quadrant: Quadrant) -> u32 {
        quadrant.squares().map(|at| self.at(at)).sum()
    }

    fn around(&self, quadrant: Quadrant) -> u32 {
        self.within(quadrant) + quadrant.beside().map(|beside| self.within(beside)).sum::<u32>()
    }
}

fn destination(ship: &Ship, orders: &[Order]) -> Square {
    let to = orders.iter().find_map(|order| match *order {
        Order::Move { no, to, .. } if no == ship.no => Some(to),
        _ => None,
    });
    to.unwrap_or(ship.at)
}

/// The orders of a turn, in a form in which a ship can be sent elsewhere.
#[derive(Clone)]
struct Turn {
    builds: Vec<Order>,
    /// Each ship and its destination: first those that the side has, then those that it builds in this turn.
    ships: Vec<(Ship, Square)>,
}

impl Turn {
    fn of(known: &Known<'_>, orders: &[Order]) -> Turn {
        let mut turn = Turn { builds: Vec::new(), ships: Vec::with_capacity(known.ships.len()) };
        let mut ships = known.ships.to_vec();
        for order in orders {
            if let Order::Build { class, at } = *order {
                let no = known.highest + turn.builds.len() as u16 + 1;
                ships.push(Ship { no, class, at });
                turn.builds.push(order.clone());
            }
        }
        turn.ships.extend(ships.iter().map(|ship| (*ship, destination(ship, orders))));
        turn
    }

    /// The orders, with a capture of each star on which enough offence stays (3.5).
    fn orders(&self, known: &Known<'_>) -> Vec<Order> {
        let mut orders = self.builds.clone();
        let mut staying = [0; Square::COUNT];
        for &(Ship { no, class, at }, to) in &self.ships {
            if to == at {
                staying[at.index()] += class.offence;
            } else {
                orders.push(Order::Move { no, from: Some(at), to });
            }
        }
        let stars = known.stars.iter().filter(|star| !star.base && staying[star.at.index()] >= star.value);
        orders.extend(stars.map(|star| Order::Capture { at: star.at }));
        orders
    }

    fn with(&self, number: usize, to: Square) -> Turn {
        let mut turn = self.clone();
        turn.ships[number].1 = to;
        turn
    }

    /// The numbers of the ships, below `ships`, that may meet the enemy, the most important first.
    fn near(&self, enemies: &Enemies, ships: usize) -> Vec<usize> {
        let rank = |&number: &usize| {
            let (ship, to) = self.ships[number];
            let around = enemies.around(ship.at.quadrant()) * u32::from(ship.class.size());
            around + 2 * enemies.within(to.quadrant())
        };
        let mut near: Vec<usize> = (0..ships).filter(|number| rank(number) > 0).collect();
        near.sort_by_cached_key(|number| Reverse(rank(number)));
        near
    }

    /// Other squares for a ship: those with the most enemies, or the square where it is.
    fn alternatives(&self, number: usize, enemies: &Enemies) -> impl Iterator<Item = Square> {
        let (ship, old) = self.ships[number];
        let is_attack = |at: &Square| ship.at.reaches(*at) && *at != old && enemies.at(*at) > 0;
        let mut attacks: Vec<Square> = Square::all().filter(is_attack).collect();
        attacks.sort_by_key(|at| Reverse(enemies.at(*at)));
        attacks.into_iter().take(ATTACKS).chain((ship.at != old).then_some(ship.at))
    }
}
