//! Guesses of the galaxy: whole states that fit what the seat was told.
//!
//! A guess is played along with the match: the enemy sets up and moves by a plan that the dice choose, and
//! after each turn the guess is corrected by what the seat was told. It is made from [`Seen`], never from the
//! real state.

use super::known::Known;
use super::plan::{self, Plan};
use super::{setup, tracking};
use crate::game::quadrant_z::{
    Casualties, Order, Quadrant, Square, Stage, Stars, State, View, adjudicate_unchecked,
};
use crate::game::{BySeat, Dice, Phase, Seat, Seen};
use crate::house::engine::{Insight, Level};

/// A state that fits, and the enemy's plan in it.
pub(super) struct Guess {
    pub state: State,
    pub plan: Plan,
}

/// Returns a guess for each of the enemy's plans. `None` if the setup is not among what was seen.
pub(super) fn guesses(
    seen: &Seen<View, Order>,
    insight: Insight<'_, View>,
    plans: impl Iterator<Item = Plan>,
    dice: &mut Dice,
) -> Option<Vec<Guess>> {
    let history: Vec<(&View, &[Order])> =
        seen.before().zip(seen.filed()).filter_map(|(view, filed)| Some((view, filed?))).collect();
    let (first, setup) = *history.first()?;
    if first.context.phase != Some(Phase::Setup) {
        return None;
    }
    // The views in which the next turn is due. A phase `casualties` is part of its turn.
    let turns: Vec<(&View, &[Order])> =
        history.iter().copied().filter(|(view, _)| view.context.phase == Some(Phase::Turn)).collect();
    let guess = |plan: Plan| {
        let mut guess = Guess { state: state_after_setups(first, setup, dice), plan };
        let mut lost = 0;
        let after = turns.iter().skip(1).map(|(view, _)| *view).chain([seen.now()]);
        for ((_, filed), view) in turns.iter().zip(after) {
            let before = guess.state.sides[seen.seat().other()].ships.clone();
            guess.follow(filed, view, dice);
            lost += view.battles.iter().map(|battle| battle.enemy.lost).sum::<u16>();
            if !matches!(insight, Insight::Blind) {
                tracking::correct(&mut guess.state, &before, view, lost, dice);
            }
        }
        if let Insight::Open(open) = insight {
            guess.reveal(open);
        }
        guess
    };
    Some(plans.map(guess).collect())
}

/// The match after the setups: the seat's own, and one that the enemy may have filed.
fn state_after_setups(view: &View, own: &[Order], dice: &mut Dice) -> State {
    let (me, mut options) = (view.context.viewer, view.context.options);
    options.casualties = Casualties::Standing;
    let level = if dice.below(2) == 0 { Level::Easy } else { Level::Average };
    let theirs = setup::draw(options.layout, me.other(), level, dice);
    adjudicate_phase(&State::new(options), me, own, &theirs)
}

/// Plays a phase by the rules.
pub(super) fn adjudicate_phase(state: &State, me: Seat, own: &[Order], theirs: &[Order]) -> State {
    let orders = BySeat::from_fn(|seat| Some(if seat == me { own } else { theirs }));
    adjudicate_unchecked(state, orders)
}

impl Guess {
    /// Plays a turn as the seat filed it, then corrects the seat's possessions and the stars by what it was
    /// told.
    fn follow(&mut self, filed: &[Order], view: &View, dice: &mut Dice) {
        let me = view.context.viewer;
        let theirs = plan::orders(&Known::from_state(&self.state, me.other()), &self.plan, dice);
        self.state = adjudicate_phase(&self.state, me, filed, &theirs);
        let state = &mut self.state;
        (state.turn, state.stage) = (view.turn, Stage::Turn);
        let side = &mut state.sides[me];
        side.ships.clone_from(&view.ships);
        side.losses.clone_from(&view.losses);
        (side.stock, side.highest, side.charted) = (view.stock, view.context.highest, view.context.charted);
        let guessed = state.stars.score()[me.other()].value;
        self.correct_stars(view);
        let foe = &mut self.state.sides[me.other()];
        foe.stock = (foe.stock + view.score[me.other()].value).saturating_sub(guessed);
        self.correct_base(me, dice);
    }

    /// Takes the enemy's ships, its base and all stars from a view that hides nothing.
    fn reveal(&mut self, open: &View) {
        let me = open.context.viewer;
        let mut stars = Stars::none();
        let foe = &mut self.state.sides[me.other()];
        for star in &open.stars {
            let own = self.state.stars.at(star.at).placed[me];
            let placed = stars.at_mut(star.at);
            placed.captured_by = star.captured_by;
            placed.placed[me] = own;
            placed.placed[me.other()] = star.value.saturating_sub(own.into()) as u8;
            if star.base && star.at.quadrant() == Quadrant::home(me.other()) {
                foe.base = Some(star.at);
            }
        }
        self.state.stars = stars;
        foe.ships = open.enemy_ships.clone().unwrap_or_default();
        foe.highest = foe.ships.last().map_or(0, |ship| ship.no);
    }

    /// Sets the stars that the seat knows, and clears the squares that it knows to be empty.
    fn correct_stars(&mut self, view: &View) {
        let me = view.context.viewer;
        let mut known = view.stars.iter().peekable();
        for at in Square::all() {
            let star = self.state.stars.at_mut(at);
            let here = known.next_if(|star| star.at == at);
            let is_open = view.context.charted.contains(at.quadrant());
            match here {
                Some(here) => {
                    star.captured_by = here.captured_by;
                    if is_open || here.captured_by.is_some() {
                        let theirs = here.value.saturating_sub(u16::from(star.placed[me]));
                        star.placed[me.other()] = theirs as u8;
                    }
                }
                None => {
                    star.captured_by = None;
                    if is_open {
                        star.placed[me.other()] = 0;
                    }
                }
            }
        }
    }

    /// Moves the enemy's base to an uncaptured star of its home quadrant, unless it is on one.
    fn correct_base(&mut self, me: Seat, dice: &mut Dice) {
        let stands = |at: Square| {
            let star = self.state.stars.at(at);
            star.value() > 0 && star.captured_by.is_none()
        };
        let base = self.state.sides[me.other()].base;
        if base.is_some_and(stands) {
            return;
        }
        let places: Vec<Square> = Quadrant::home(me.other()).squares().filter(|&at| stands(at)).collect();
        if !places.is_empty() {
            self.state.sides[me.other()].base = Some(places[dice.below(places.len())]);
        }
    }
}
