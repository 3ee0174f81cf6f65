//! Plays on from guesses to compare plans and orders.

use super::belief::{Guess, adjudicate_phase};
use super::known::Known;
use super::plan::{self, Plan};
use crate::game::quadrant_z::{Order, State};
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
        let (me, foe) = (self.me, self.me.other());
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
