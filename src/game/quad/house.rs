//! The house: a computer player for Quad, at four levels (clause 4).
//!
//! It sees only its seat's view and plays by the rules. The same view, level and seed give the same turn, so that an
//! audit can repeat it: nothing here may depend on a clock. The seat and the level are chosen elsewhere.

use super::order::Order;
use super::point::{Point, Quad};
use super::view::View;
use crate::game::names::named_enum;
use crate::game::{Chosen, Dice, House, HouseLevel, Seat, Seen};
use position::{Position, Turn};

mod position;
mod search;

/// The computer player. Debug builds have another version, because their Expert searches fewer positions and so plays
/// different turns.
pub const HOUSE: House<View, Order> =
    House { version: if cfg!(debug_assertions) { 0 } else { 1 }, levels: LEVELS, play };

/// The levels, the weakest first.
const LEVELS: &[HouseLevel] = &[
    HouseLevel {
        name: Level::Trainer.as_str(),
        aliases: &[],
        says: "as easy, overlooks more, and reports show every threat",
        options: &[("trainer", "on"), ("swap", "on")],
    },
    HouseLevel {
        name: Level::Easy.as_str(),
        aliases: &[],
        says: "overlooks a quad at an odd tilt now and then",
        options: &[("swap", "on")],
    },
    HouseLevel {
        name: Level::Average.as_str(),
        aliases: &["medium"],
        says: "overlooks nothing on the board, and looks no turn ahead",
        options: &[("swap", "on")],
    },
    HouseLevel {
        name: Level::Expert.as_str(),
        aliases: &["hard"],
        says: "looks ahead through threats and their answers",
        options: &[("swap", "on")],
    },
];

named_enum! {
    /// How well the house plays.
    pub enum Level {
        /// Like Easy, but overlooks more tilts. Its matches are best opened with the option `trainer`.
        Trainer = "trainer",
        /// Overlooks a quad at an odd tilt now and then.
        Easy = "easy",
        /// Overlooks nothing on the board, and looks no turn ahead.
        Average = "average",
        /// Looks ahead through threats and their answers.
        Expert = "expert",
    }
}

/// Positions that Expert searches in a turn. Debug builds search fewer, because they are slow.
const EXPERT_NODES: u32 = if cfg!(debug_assertions) { 3_000 } else { 60_000 };

/// Chooses the turn of a seat by its present view: nothing is hidden, so the past tells no more.
fn play(seen: &Seen<View, Order>, level: &HouseLevel, dice: Dice) -> Chosen<Order> {
    let level = Level::parse(level.name).expect("one of the levels above");
    Chosen { orders: choose(seen.now(), level, dice), positions: 0 }
}

/// Chooses the turn of the side to move, which is always legal. Empty if the match is over.
pub fn choose(view: &View, level: Level, dice: Dice) -> Vec<Order> {
    choose_within(view, level, dice, EXPERT_NODES)
}

/// Implements [`choose`] with an Expert that searches `nodes` positions.
fn choose_within(view: &View, level: Level, dice: Dice, nodes: u32) -> Vec<Order> {
    let Some(side) = view.to_move else { return Vec::new() };
    let mut dice = dice.mixed(u64::from(view.turn));
    if view.may_swap() && is_good_opening(view.marbles[Seat::First][0]) {
        return vec![Order::Swap];
    }
    let turn = if view.turn == 0 {
        Turn { stars: Vec::new(), marble: opening(view, &mut dice) }
    } else {
        let mut seen = Position::new(view, side, |quad| level.sees(quad, &mut dice));
        match level {
            Level::Trainer => shallow(&seen, 4, &mut dice),
            Level::Easy => shallow(&seen, 2, &mut dice),
            Level::Average => shallow(&seen, 1, &mut dice),
            Level::Expert => search::best(&mut seen, nodes, &mut dice),
        }
    };
    turn.stars.into_iter().map(Order::Star).chain([Order::Marble(turn.marble)]).collect()
}

impl Level {
    /// Whether the level notices a square this time. It always notices upright squares and those at 45 degrees, and
    /// others by chance.
    fn sees(self, quad: &Quad, dice: &mut Dice) -> bool {
        let [lowest, second, _, highest] = quad;
        let plain = lowest.rank() == second.rank() || lowest.file() == highest.file();
        let percent = match self {
            Level::Trainer => 60,
            Level::Easy => 88,
            Level::Average | Level::Expert => 100,
        };
        // Roll first: skipping the roll for plain squares would change the turns that this version plays.
        dice.below(100) < percent || plain
    }
}

/// Whether to take over the first marble rather than answer it.
fn is_good_opening(point: Point) -> bool {
    point.off_centre() < 25
}

/// Chooses the first marble: near the centre, or far from it if the opponent may take it over.
fn opening(view: &View, dice: &mut Dice) -> Point {
    let wanted = |point: &Point| {
        if view.swap { (25..=29).contains(&point.off_centre()) } else { point.off_centre() <= 2 }
    };
    let points: Vec<Point> = view.empty().into_iter().filter(wanted).collect();
    points[dice.below(points.len())]
}

/// Chooses a turn without looking ahead: wins, or else blocks every threat it sees, or else takes one of the `choice`
/// most promising points.
fn shallow(seen: &Position, choice: usize, dice: &mut Dice) -> Turn {
    let me = seen.to_move;
    if let Some(&marble) = seen.threats(me).first() {
        return Turn { stars: Vec::new(), marble };
    }
    let free = seen.promising();
    let mut blocks = seen.threats(me.other());
    blocks.sort_by_key(|&point| std::cmp::Reverse(seen.promise(point)));
    let stars_left = seen.left[me].stars;
    // If stars can make every block, use the marble to attack, unless the best block would attack too.
    let attack = free
        .iter()
        .copied()
        .find(|point| !blocks.contains(point))
        .filter(|&point| seen.attacks(me, point) > 0);
    let spare = !blocks.is_empty() && blocks.len() <= stars_left && seen.attacks(me, blocks[0]) == 0;
    if let (true, Some(marble)) = (spare, attack) {
        return Turn { stars: blocks, marble };
    }
    if let Some((&marble, others)) = blocks.split_first() {
        return Turn { stars: others.iter().copied().take(stars_left).collect(), marble };
    }
    Turn { stars: Vec::new(), marble: free[dice.below(choice.min(free.len()))] }
}

#[cfg(test)]
mod tests;
