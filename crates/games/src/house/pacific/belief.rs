//! Joint guesses of the squares of all enemy submarines, moved on each round and corrected by the news of
//! them.
//!
//! Only three things go into them: what both sides were told (4.5), the number of submarines left, and where
//! the viewer's ships were. An enemy that does not fire probably has no target, and one that fires probably
//! has no more valuable target.
//!
//! The chances and risks of one side's submarines on each square, from the ships that both sides see.

use std::collections::BTreeMap;

use crate::game::pacific::{
    Area, Depths, Notice, REACH, Ship, ShipKind, Sighted, Square, Torpedo, View, in_friendly_waters,
    torpedo_reaches,
};
use crate::game::{Dice, Seat};

const DIRECTIONS: [(i8, i8); 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];

/// The cost, in hundredths of a point, of each square on the way to the nearest shot.
const AWAY: i32 = 20;
/// Ships and submarines attack areas at most two squares away, so one at this distance can be hit (3.6).
pub(super) const HUNTED: u8 = REACH + 1;

/// The targets of one side's submarines, and the worth of each square for firing at them.
pub(super) struct Prospects {
    /// The ships that a torpedo can sink, and the gain from that, in hundredths of a point.
    targets: Vec<(Square, i32)>,
    torpedo: Torpedo,
    /// For each square, the best shot from there; 0 if there is none.
    best: [i32; 256],
    promise: [i32; 256],
    /// For each square, the number of ships that could attack an area that contains it.
    hunters: [u8; 256],
}

impl Prospects {
    /// `prey` is the fleet at which the submarines fire.
    pub fn new(prey: &[Ship], torpedo: Torpedo) -> Prospects {
        let surface = prey.iter().filter(|ship| !ship.is_squadron());
        let targets = surface.map(|ship| (ship.at, gain(prey, ship))).collect();
        let mut prospects =
            Prospects { targets, torpedo, best: [0; 256], promise: [0; 256], hunters: [0; 256] };
        for at in Square::all() {
            let mut best = 0;
            let mut all = 0;
            let mut away = 16;
            for &(target, worth) in &prospects.targets {
                let steps = at.king_steps(target);
                prospects.hunters[at.index()] += u8::from(steps <= HUNTED);
                away = away.min(i32::from(steps.abs_diff(2)));
                if torpedo_reaches(torpedo, steps) {
                    best = best.max(worth);
                    all += worth;
                }
            }
            prospects.best[at.index()] = best;
            prospects.promise[at.index()] = best + (all - best) / 8 - AWAY * away;
        }
        prospects
    }

    /// The ships in range of a square, and the gain from sinking them.
    pub fn shots(&self, from: Square) -> impl Iterator<Item = (Square, i32)> {
        let in_range = move |&(at, _): &(Square, i32)| torpedo_reaches(self.torpedo, from.king_steps(at));
        self.targets.iter().copied().filter(in_range)
    }

    /// The gain from sinking the ship on a square.
    pub fn gain(&self, at: Square) -> i32 {
        self.targets.iter().find(|(target, _)| *target == at).map_or(0, |(_, worth)| *worth)
    }

    /// The best shot from a square; 0 if there is none.
    pub fn best(&self, from: Square) -> i32 {
        self.best[from.index()]
    }

    /// Whether a ship other than the one at `but` could attack a submarine on a square (3.6).
    pub fn is_exposed(&self, at: Square, but: Option<Square>) -> bool {
        let spared = but.is_some_and(|but| but.king_steps(at) <= HUNTED);
        self.hunters[at.index()] > u8::from(spared)
    }

    /// Rates a square by its best shot and a little of the others, or, if there is none, by the distance to
    /// the nearest.
    pub fn promise(&self, from: Square) -> i32 {
        self.promise[from.index()]
    }
}

/// The price of a ship, and of the squadron that goes down with it (P-FATE).
fn gain(fleet: &[Ship], ship: &Ship) -> i32 {
    let goes_down = |other: &&Ship| match (ship.kind, other.kind) {
        (ShipKind::Carrier { no }, ShipKind::Squadron { no: of, launched, .. }) => no == of && !launched,
        _ => false,
    };
    let escort = fleet.iter().find(goes_down);
    let points = ship.class().points() + escort.map_or(0, |squadron| squadron.class().points());
    100 * points as i32
}

/// The squares that a submarine can go to (4.1). `own` holds the squares of its side's submarines.
pub(super) fn goals(from: Square, own: &[Square]) -> Vec<Square> {
    let mut goals = Vec::with_capacity(24);
    for (files, ranks) in DIRECTIONS {
        let along = (1..=3).filter_map(|far| from.step(files * far, ranks * far));
        goals.extend(along.filter(|to| !own.contains(to)));
    }
    goals
}

/// The number of a side's submarines at the start (1.5), and the most that a guess puts into the viewer's
/// waters.
const SUBMARINES: usize = 5;
const ABROAD: usize = 2;
/// The enemy is assumed to have passed in one of this many rounds in which it was not heard.
const PASSES: usize = 6;
/// The distance, in squares, that a correction may move a submarine.
const CORRECTION: u8 = 4;
/// The odds, to one, that an enemy with a shot takes its best one.
const LIKELY: usize = 8;
/// The enemy is assumed to have moved without a plan in one of this many rounds in which it was not heard.
const AIMLESS: usize = 4;
/// A rough limit on the rounds that are replayed for all guesses together: a long match gets fewer guesses.
const FOLLOWED: u32 = 25_600;
/// The number of guesses in the longest match.
const FEWEST: u32 = 8;

/// The viewer's fleet at the start of the submarine phase of each round.
pub(super) type Fleets<'a> = BTreeMap<u32, &'a [Ship]>;

/// The squares of all the enemy's submarines.
type Guess = Vec<Square>;

/// Guesses that are equally likely.
pub(super) struct Belief {
    guesses: Vec<Guess>,
    torpedo: Torpedo,
}

/// An attack on an area, as reported.
#[derive(Clone, Copy)]
struct Attack {
    area: Area,
    sunk: usize,
    contact: bool,
}

impl Belief {
    /// Makes at most `many` guesses from what the viewer was told so far and from its fleet in each submarine
    /// phase.
    pub fn new(view: &View, fleets: &Fleets<'_>, many: usize, dice: &mut Dice) -> Belief {
        Belief::from_news(view, (&view.sightings, fleets), many, dice)
    }

    /// Guesses from nothing but setups and the number of submarines left.
    pub fn blind(view: &View, many: usize, dice: &mut Dice) -> Belief {
        let mut belief = Belief::from_news(view, (&[], &Fleets::new()), many, dice);
        for guess in &mut belief.guesses {
            dice.shuffle(guess);
            guess.truncate(enemies_left(view));
        }
        belief
    }

    /// The one guess that is right, from a view that hides nothing.
    pub fn open(view: &View) -> Belief {
        let guess = match &view.submarines[view.viewer.other()] {
            Depths::Charted(submarines) => submarines.iter().map(|submarine| submarine.at).collect(),
            Depths::Counted(_) => Guess::new(),
        };
        Belief { guesses: vec![guess], torpedo: view.options.torpedo }
    }

    fn from_news(
        view: &View,
        (news, fleets): (&[Sighted], &Fleets<'_>),
        many: usize,
        dice: &mut Dice,
    ) -> Belief {
        let enemy = view.viewer.other();
        let many = if enemies_left(view) == 0 {
            0
        } else {
            many.min((FOLLOWED / view.round.max(1)).max(FEWEST) as usize)
        };
        let guesses = (0..many).map(|_| first_guess(enemy, dice)).collect();
        let mut belief = Belief { guesses, torpedo: view.options.torpedo };
        if many == 0 {
            return belief;
        }
        // Told in the order of the rounds.
        let mut news = news.iter().peekable();
        for round in 1..=view.round {
            let prospects = fleets.get(&round).map(|fleet| Prospects::new(fleet, belief.torpedo));
            let mut was_heard = false;
            while let Some(sighted) = news.next_if(|sighted| sighted.round <= round) {
                was_heard |= belief.hear(&sighted.notice, enemy, prospects.as_ref(), dice);
            }
            if round < view.round && !was_heard {
                belief.was_quiet(prospects.as_ref(), dice);
            }
        }
        belief
    }

    /// Corrects the guesses by a notice. Returns whether a submarine of the enemy acted.
    fn hear(&mut self, notice: &Notice, enemy: Seat, prospects: Option<&Prospects>, dice: &mut Dice) -> bool {
        match *notice {
            Notice::Asw { side, area, sunk, contact } | Notice::Sonar { side, area, sunk, contact }
                if side != enemy =>
            {
                self.attacked(Attack { area, sunk: usize::from(sunk), contact }, dice);
                false
            }
            Notice::Torpedo { side, at, .. } if side == enemy => {
                let torpedo = self.torpedo;
                self.near(|square| torpedo_reaches(torpedo, square.king_steps(at)), dice);
                if let Some(prospects) = prospects {
                    self.had_no_shot_above(prospects.gain(at), prospects, dice);
                }
                true
            }
            Notice::Sonar { area, .. } => {
                self.near(|square| area.distance(square) <= REACH, dice);
                true
            }
            Notice::Asw { .. }
            | Notice::Torpedo { .. }
            | Notice::Move { .. }
            | Notice::SquadronLost { .. }
            | Notice::Pass { .. } => false,
        }
    }

    /// Moves one of the enemy's submarines, or none, after a round in which none was heard.
    fn was_quiet(&mut self, prospects: Option<&Prospects>, dice: &mut Dice) {
        if let Some(prospects) = prospects {
            self.had_no_shot_above(0, prospects, dice);
        }
        for guess in &mut self.guesses {
            match prospects {
                Some(prospects) if dice.below(AIMLESS) > 0 => approach(guess, prospects, dice),
                _ => drift(guess, dice),
            }
        }
    }

    /// Prefers guesses in which no submarine could gain more than this: the enemy would have fired.
    fn had_no_shot_above(&mut self, gained: i32, prospects: &Prospects, dice: &mut Dice) {
        self.weigh(
            |guess| if guess.iter().all(|&at| prospects.best(at) <= gained) { LIKELY } else { 1 },
            dice,
        );
    }

    /// Resamples the guesses, each in proportion to its weight, which must be positive.
    fn weigh(&mut self, weight: impl Fn(&Guess) -> usize, dice: &mut Dice) {
        let weights: Vec<usize> = self.guesses.iter().map(weight).collect();
        let total = weights.iter().sum::<usize>();
        let many = self.guesses.len();
        if many == 0 {
            return;
        }
        // Evenly spaced draws lose fewer different guesses than independent ones.
        let offset = dice.below(total);
        let mut drawn = Vec::with_capacity(many);
        let mut sum = 0;
        for (guess, weight) in self.guesses.iter().zip(weights) {
            sum += weight;
            while drawn.len() < many && (offset + drawn.len() * total) / many < sum {
                drawn.push(guess.clone());
            }
        }
        self.guesses = drawn;
    }

    /// Removes the submarines in an area that the viewer attacked.
    fn attacked(&mut self, attack: Attack, dice: &mut Dice) {
        self.keep(|guess| attack.fits(guess), |guess, dice| attack.correct(guess, dice), dice);
        for guess in &mut self.guesses {
            guess.retain(|&at| attack.area.distance(at) > 0);
        }
    }

    /// Keeps guesses with a submarine on a square that `is_near` accepts, because it acted from there.
    fn near(&mut self, is_near: impl Fn(Square) -> bool, dice: &mut Dice) {
        let squares: Vec<Square> = Square::all().filter(|&at| is_near(at)).collect();
        let correct = |guess: &mut Guess, dice: &mut Dice| {
            let free: Vec<Square> = squares.iter().copied().filter(|at| !guess.contains(at)).collect();
            let Some(&to) = pick(&free, dice) else { return };
            if let Some(nearest) = guess.iter_mut().min_by_key(|at| at.king_steps(to)) {
                *nearest = to;
            }
        };
        self.keep(|guess| guess.iter().any(|&at| is_near(at)), correct, dice);
    }

    /// Keeps the guesses that fit. The others become copies of them, or are corrected if few fit.
    fn keep(
        &mut self,
        fits: impl Fn(&Guess) -> bool,
        correct: impl Fn(&mut Guess, &mut Dice),
        dice: &mut Dice,
    ) {
        let fitting: Vec<Guess> = self.guesses.iter().filter(|guess| fits(guess)).cloned().collect();
        let are_few = fitting.len() * 8 < self.guesses.len();
        for guess in self.guesses.iter_mut().filter(|guess| !fits(guess)) {
            match pick(&fitting, dice) {
                Some(copy) if !are_few => guess.clone_from(copy),
                _ => correct(guess, dice),
            }
        }
    }

    /// The expected number of submarines, in thousandths, that an attack on the area sinks.
    pub fn expected(&self, area: Area) -> i32 {
        let squares = self.guesses.iter().flatten();
        let hits = squares.filter(|&&at| area.distance(at) == 0).count();
        (hits * 1000 / self.guesses.len().max(1)) as i32
    }

    /// For each square, the chance in thousandths that a submarine could fire at a ship there.
    pub fn danger(&self) -> [i32; 256] {
        self.reached(2, |steps| torpedo_reaches(self.torpedo, steps))
    }

    /// For each square, the chance in thousandths that a submarine could search an area that contains it.
    pub fn ears(&self) -> [i32; 256] {
        self.reached(HUNTED as i8, |_| true)
    }

    /// For each square, the chance in thousandths that a submarine is at most `most` steps away, at a
    /// distance that `fits`.
    fn reached(&self, most: i8, fits: impl Fn(u8) -> bool) -> [i32; 256] {
        let mut counts = [0; 256];
        for guess in &self.guesses {
            let mut reached = [false; 256];
            for &at in guess {
                for files in -most..=most {
                    for ranks in -most..=most {
                        let Some(to) = at.step(files, ranks) else { continue };
                        reached[to.index()] |= fits(at.king_steps(to));
                    }
                }
            }
            for (count, reached) in counts.iter_mut().zip(reached) {
                *count += i32::from(reached);
            }
        }
        let many = self.guesses.len().max(1) as i32;
        counts.map(|count| count * 1000 / many)
    }
}

impl Attack {
    fn fits(self, guess: &Guess) -> bool {
        let within = |steps: u8| guess.iter().filter(|&&at| self.area.distance(at) == steps).count();
        within(0) == self.sunk && (within(1) > 0) == self.contact
    }

    /// Moves submarines of a guess until it fits.
    fn correct(self, guess: &mut Guess, dice: &mut Dice) {
        // Nearest first, so that those far away stay where they are.
        guess.sort_by_key(|&at| self.area.distance(at));
        for number in 0..guess.len() {
            let steps = self.area.distance(guess[number]);
            let wanted = match number.checked_sub(self.sunk) {
                None => 0..=0,
                Some(0) if self.contact => 1..=1,
                Some(_) if steps == 0 || steps == 1 && !self.contact => 2..=CORRECTION,
                Some(_) => continue,
            };
            if !wanted.contains(&steps) {
                let is_free = |at: &Square| wanted.contains(&self.area.distance(*at)) && !guess.contains(at);
                let squares: Vec<Square> = Square::all().filter(is_free).collect();
                guess[number] = pick(&squares, dice).copied().unwrap_or(guess[number]);
            }
        }
    }
}

/// The number of the enemy's submarines, which both sides know.
fn enemies_left(view: &View) -> usize {
    match &view.submarines[view.viewer.other()] {
        Depths::Counted(left) => *left,
        Depths::Charted(submarines) => submarines.len(),
    }
}

fn pick<'a, T>(items: &'a [T], dice: &mut Dice) -> Option<&'a T> {
    if items.is_empty() { None } else { items.get(dice.below(items.len())) }
}

/// Guesses where the enemy's submarines start (2.3).
fn first_guess(enemy: Seat, dice: &mut Dice) -> Guess {
    let mut guess = Guess::new();
    while guess.len() < SUBMARINES {
        let is_abroad = guess.len() < ABROAD && dice.below(4) > 0;
        let rank = dice.below(8) as u8 + if (enemy == Seat::First) == is_abroad { 8 } else { 0 };
        let at = Square::new(dice.below(16) as u8, rank).expect("on the board");
        debug_assert_eq!(in_friendly_waters(enemy, at), !is_abroad);
        if !guess.contains(&at) {
            guess.push(at);
        }
    }
    guess
}

/// Moves the submarine whose best move gains most, as the house would.
fn approach(guess: &mut Guess, prospects: &Prospects, dice: &mut Dice) {
    let mut most = 1;
    let mut moves = Vec::new();
    for (number, &from) in guess.iter().enumerate() {
        for to in goals(from, guess) {
            let gain = prospects.promise(to) - prospects.promise(from);
            if gain > most {
                most = gain;
                moves.clear();
            }
            if gain == most {
                moves.push((number, to));
            }
        }
    }
    if let Some(&(number, to)) = pick(&moves, dice) {
        guess[number] = to;
    }
}

/// Moves one of the submarines, or none (4.1).
fn drift(guess: &mut Guess, dice: &mut Dice) {
    if guess.is_empty() || dice.below(PASSES) == 0 {
        return;
    }
    let number = dice.below(guess.len());
    let (files, ranks) = DIRECTIONS[dice.below(8)];
    let far = 1 + dice.below(3) as i8;
    if let Some(to) = guess[number].step(files * far, ranks * far)
        && !guess.contains(&to)
    {
        guess[number] = to;
    }
}
