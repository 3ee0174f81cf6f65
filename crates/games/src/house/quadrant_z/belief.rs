//! Guesses of the galaxy: whole states that fit what the seat was told.
//!
//! A guess is played along with the match: the enemy sets up and moves by a plan that the dice choose, and
//! after each turn the guess is corrected by what the seat was told. It is made from [`Seen`], never from the
//! real state.
//!
//! The setups of the house: families of star values, in which the dice place every star and ship.

use super::plan::{self, Known, Plan};
use super::tracking;
use crate::game::quadrant_z::{
    Casualties, Class, Layout, Order, Quadrant, ReadySetup, Square, Stage, Stars, State, View,
    adjudicate_unchecked, two_squares,
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
    let me = view.context.viewer;
    let mut options = view.context.options;
    options.casualties = Casualties::Standing;
    let level = if dice.below(2) == 0 { Level::Easy } else { Level::Average };
    let theirs = draw(options.layout, me.other(), level, dice);
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

/// The values of the stars of the home sector, the home base first: 15 together. Each star gets a ship that
/// can capture it at once, and the points of the base buy its guard.
const FAMILIES: [&[u16]; 3] = [
    &[3, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    &[2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    &[3, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1],
];
/// Neutral quadrants whose two stars are worth 1 each; the farther four are worth one more. 30 together.
const PLAIN: usize = 9;

/// Draws a legal setup. Below Average it is one of the ready ones.
pub(super) fn draw(layout: Layout, seat: Seat, level: Level, dice: &mut Dice) -> Vec<Order> {
    match level {
        Level::Trainer | Level::Easy => {
            ReadySetup::ALL[dice.below(ReadySetup::ALL.len())].draw(layout, seat, dice)
        }
        Level::Average | Level::Expert => gatherers(layout, seat, dice),
    }
}

fn gatherers(layout: Layout, seat: Seat, dice: &mut Dice) -> Vec<Order> {
    let values = FAMILIES[dice.below(FAMILIES.len())];
    let mut squares: Vec<Square> = Vec::new();
    for quadrant in layout.home_quadrants(seat) {
        squares.extend(two_squares(quadrant, dice));
    }
    // The home quadrant comes first, and with it the base.
    dice.shuffle(&mut squares[1..]);
    let base = squares[0];
    let mut orders = Vec::new();
    for (&value, &at) in values.iter().zip(&squares) {
        orders.push(Order::Star { at, value, base: at == base });
    }
    orders.extend(neutral_stars(layout, seat, dice));
    let guard = Class { offence: values[0] / 2, defence: values[0] - values[0] / 2 };
    let gatherers = values.iter().zip(&squares).skip(1);
    let classes = gatherers.map(|(&offence, &at)| (Class { offence, defence: 0 }, at));
    for (no, (class, at)) in (1..).zip(std::iter::once((guard, base)).chain(classes)) {
        orders.push(Order::Place { no, class, at });
    }
    orders
}

/// Two stars in each quadrant; those farther from home are more valuable, and so slower to capture.
fn neutral_stars(layout: Layout, seat: Seat, dice: &mut Dice) -> Vec<Order> {
    let mut quadrants: Vec<Quadrant> = layout.neutral().collect();
    dice.shuffle(&mut quadrants);
    quadrants.sort_by_key(|quadrant| quadrant.distance(Quadrant::home(seat)));
    let mut orders = Vec::new();
    for (index, quadrant) in quadrants.into_iter().enumerate() {
        let values = if index < PLAIN { [1, 1] } else { [2, 1] };
        for (at, value) in two_squares(quadrant, dice).into_iter().zip(values) {
            orders.push(Order::Star { at, value, base: false });
        }
    }
    orders
}
