//! What the galaxy may look like: whole states that fit what the seat was told.
//!
//! A guess is played along with the match: the enemy sets up and moves by a plan that the dice choose, and after each
//! turn the guess is corrected by what the seat was told. It is made from [`Seen`], never from a state.

use super::known::Known;
use super::plan::{self, Plan};
use super::setup;
use crate::game::house::Insight;
use crate::game::quadrant_z::fleet::{Class, Ship};
use crate::game::quadrant_z::galaxy::{Quadrant, Sector, Square};
use crate::game::quadrant_z::options::Casualties;
use crate::game::quadrant_z::order::Order;
use crate::game::quadrant_z::rules;
use crate::game::quadrant_z::state::{Side, Stage, Stars, State};
use crate::game::quadrant_z::view::View;
use crate::game::{BySeat, Dice, Level, Phase, Sealed, Seat, Seen};

/// A state that fits, and what the enemy is after in it.
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
    // The view after each turn, in which the next one is due. A phase `casualties` is part of its turn.
    let turns: Vec<(&View, &[Order])> =
        history.iter().copied().filter(|(view, _)| view.context.phase == Some(Phase::Turn)).collect();
    Some(
        plans
            .map(|plan| {
                let mut guess = Guess { state: begun(first, setup, dice), plan };
                let after = turns.iter().skip(1).map(|(view, _)| *view).chain([seen.now()]);
                for ((_, filed), view) in turns.iter().zip(after) {
                    guess.follow(filed, view, dice);
                    if !matches!(insight, Insight::Blind) {
                        guess.correct_fleet(view, dice);
                    }
                }
                if let Insight::Open(open) = insight {
                    guess.reveal(open);
                }
                guess
            })
            .collect(),
    )
}

/// The match after the setups: the seat's own, and one that the enemy may have filed.
fn begun(view: &View, own: &[Order], dice: &mut Dice) -> State {
    let (me, mut options) = (view.context.viewer, view.context.options);
    options.casualties = Casualties::Standing;
    let level = if dice.below(2) == 0 { Level::Easy } else { Level::Average };
    let theirs = setup::draw(options.layout, me.other(), level, dice);
    adjudicated(&State::new(options), me, own.to_vec(), theirs)
}

/// Plays a phase by the rules.
pub(super) fn adjudicated(state: &State, me: Seat, own: Vec<Order>, theirs: Vec<Order>) -> State {
    let mut filed = BySeat::new(None, None);
    filed[me] = Some(Sealed::new(own));
    filed[me.other()] = Some(Sealed::new(theirs));
    rules::adjudicate(state, &filed)
}

impl Guess {
    /// Plays a turn as the seat filed it, and corrects what the seat has and the stars by what it was told.
    fn follow(&mut self, filed: &[Order], told: &View, dice: &mut Dice) {
        let me = told.context.viewer;
        let theirs = plan::orders(&Known::from_state(&self.state, me.other()), &self.plan, dice);
        self.state = adjudicated(&self.state, me, filed.to_vec(), theirs);
        let state = &mut self.state;
        (state.turn, state.stage) = (told.turn, Stage::Turn);
        let side = &mut state.sides[me];
        side.ships.clone_from(&told.ships);
        side.losses.clone_from(&told.losses);
        (side.stock, side.highest, side.charted) = (told.stock, told.context.highest, told.context.charted);
        let guessed = state.stars.score()[me.other()].value;
        self.correct_stars(told);
        let foe = &mut self.state.sides[me.other()];
        foe.stock = (foe.stock + told.score[me.other()].value).saturating_sub(guessed);
        self.correct_base(me, dice);
    }

    /// Corrects the enemy's ships by what the seat was told of them this turn.
    fn correct_fleet(&mut self, told: &View, dice: &mut Dice) {
        Fleet { told, foe: &mut self.state.sides[told.context.viewer.other()], dice }.correct();
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

    /// Every star that the seat knows stands as it knows it, and there is none where it knows that there is none.
    fn correct_stars(&mut self, told: &View) {
        let me = told.context.viewer;
        let mut known = told.stars.iter().peekable();
        for at in Square::all() {
            let star = self.state.stars.at_mut(at);
            let here = known.next_if(|star| star.at == at);
            let is_open = told.context.charted.contains(at.quadrant());
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

    /// The enemy's base is a star of its home quadrant that nobody has captured.
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

/// The enemy's ships of a guess, and what was told of them.
struct Fleet<'a> {
    told: &'a View,
    foe: &'a mut Side,
    dice: &'a mut Dice,
}

impl Fleet<'_> {
    fn correct(&mut self) {
        self.leave_seen_places();
        for index in 0..self.told.intruders.len() {
            let intruder = self.told.intruders[index];
            self.bring(intruder.at, intruder.size, Class::size);
        }
        for index in 0..self.told.captures.len() {
            let capture = self.told.captures[index];
            if capture.by != self.told.context.viewer {
                self.bring(capture.at, capture.offence, |class| class.offence);
            }
        }
        let told = self.told;
        for &quadrant in told.entries.iter().chain(&told.standoffs) {
            if self.foe.ships.iter().all(|ship| ship.at.quadrant() != quadrant) {
                let at = quadrant.square(self.dice.below(4) as u8);
                self.bring(at, 1, |_| 1);
            }
        }
        if self.foe.ships.is_empty() {
            let at = self.foe.base.unwrap_or(Quadrant::home(told.context.viewer.other()).square(0));
            self.add(Class { offence: 1, defence: 0 }, at);
        }
        self.foe.ships.sort_unstable_by_key(|ship| ship.no);
    }

    /// Moves ships away from where the seat would have seen them: its home sector, and quadrants with ships of its own.
    fn leave_seen_places(&mut self) {
        let told = self.told;
        let is_seen = |at: Square| {
            let quadrant = at.quadrant();
            let sector = told.context.options.layout.sector(quadrant);
            let is_told = told.standoffs.contains(&quadrant) || told.intruders.iter().any(|it| it.at == at);
            let is_watched = sector == Sector::Home(told.context.viewer)
                || told.ships.iter().any(|ship| ship.at.quadrant() == quadrant);
            is_watched && !is_told
        };
        for ship in self.foe.ships.iter_mut().filter(|ship| is_seen(ship.at)) {
            let places: Vec<Square> = Square::all().filter(|&at| !is_seen(at)).collect();
            let away = |at: &Square| at.quadrant().distance(ship.at.quadrant());
            let nearest = places.iter().map(away).min().unwrap_or_default();
            let near: Vec<Square> = places.into_iter().filter(|at| away(at) == nearest).collect();
            if !near.is_empty() {
                ship.at = near[self.dice.below(near.len())];
            }
        }
    }

    /// Brings ships to a square until they amount to what was told, the nearest first; a new one for what is missing.
    fn bring(&mut self, at: Square, amount: u16, measure: impl Fn(Class) -> u16) {
        let told = self.told;
        let captured = |from: Square| {
            told.captures.iter().any(|capture| capture.by != told.context.viewer && capture.at == from)
        };
        let is_told = |from: Square| captured(from) || told.intruders.iter().any(|it| it.at == from);
        let here = self.foe.ships.iter().filter(|ship| ship.at == at);
        let mut missing = amount.saturating_sub(here.map(|ship| measure(ship.class)).sum());
        while missing > 0 {
            let can_come = |ship: &&mut Ship| {
                ship.at != at && !is_told(ship.at) && (1..=missing).contains(&measure(ship.class))
            };
            let away = |ship: &Ship| ship.at.quadrant().distance(at.quadrant());
            let others = self.foe.ships.iter_mut().filter(can_come);
            let nearest = others.min_by_key(|ship| (away(ship), ship.no));
            let Some(ship) = nearest.filter(|ship| away(ship) <= 2) else {
                return self.add(Class { offence: missing.div_ceil(2), defence: missing / 2 }, at);
            };
            ship.at = at;
            missing -= measure(ship.class);
        }
    }

    fn add(&mut self, class: Class, at: Square) {
        self.foe.highest += 1;
        self.foe.ships.push(Ship { no: self.foe.highest, class, at });
    }
}
