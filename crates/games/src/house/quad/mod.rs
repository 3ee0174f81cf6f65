//! The house: a computer player for Quad, at four levels (clause 4).
//!
//! It sees only its seat's view and plays by the rules. The same view, level and dice give the same turn, so
//! that an audit can repeat it: nothing here may depend on a clock. The seat and the level are chosen
//! elsewhere.
//!
//! The first marble under the option that lets the second side take it over (Q-FIRST): where to place it, and
//! whether to take it.
//!
//! The board has eight symmetries, so its 117 points are of 20 kinds.

use position::{Position, Set, Turn, points};

use crate::game::quad::{Corners as Quad, Order, Point, SQUARES, View};
use crate::game::{Dice, Seat, Seen};
use crate::house::engine::root::Choice;
use crate::house::engine::{Chosen, House, HouseLevel, Level};

mod position;
mod search;

/// The computer player. Debug builds search less and so play other turns, which makes them another version.
pub(super) const HOUSE: House<View, Order> =
    House { version: if cfg!(debug_assertions) { 0 } else { 2 }, levels: LEVELS, play, with_insight: None };

/// The levels, the weakest first.
const LEVELS: &[HouseLevel] = &[
    Level::Trainer.described(
        "as easy, overlooks more, and reports show every threat",
        &[("trainer", "on"), ("swap", "on")],
    ),
    Level::Easy.described("overlooks a quad at an odd tilt now and then", &[("swap", "on")]),
    Level::Average
        .described("overlooks nothing on the board, and looks a few turns ahead", &[("swap", "on")]),
    Level::Expert.described("looks far ahead through threats and their answers", &[("swap", "on")]),
];

/// Positions that Expert looks at in a turn; Average looks at a tenth. Debug builds are slow and do less.
const EXPERT_POSITIONS: u32 = if cfg!(debug_assertions) { 10_000 } else { 200_000 };
/// The turns that the dice may choose from: in the first turns, in the rest of the opening, and later.
const FIRST: Choice = Choice { margin: 200, wide: true };
const IN_OPENING: Choice = Choice { margin: 60, wide: false };
const LATER: Choice = Choice { margin: 12, wide: false };
/// The number of turns, of both sides together, that count as first, and as the opening.
const FIRST_TURNS: u32 = 3;
const OPENING_TURNS: u32 = 6;

/// Chooses the turn of a seat by its present view: nothing is hidden, so the past adds nothing.
fn play(seen: &Seen<View, Order>, level: &HouseLevel, dice: Dice) -> Chosen<Order> {
    choose(seen.now(), Level::of(level), dice)
}

/// Chooses the turn of the side to move, which is always legal. Empty if the match is over.
pub fn choose(view: &View, level: Level, dice: Dice) -> Chosen<Order> {
    choose_within(view, level, dice, EXPERT_POSITIONS)
}

/// Implements [`choose`] with an Expert that looks at `positions` positions.
fn choose_within(view: &View, level: Level, dice: Dice, positions: u32) -> Chosen<Order> {
    let Some(side) = view.to_move else { return Chosen { orders: Vec::new(), positions: 0 } };
    let mut dice = dice.mixed(u64::from(view.turn));
    if view.may_swap() && is_worth_taking(view.marbles[Seat::First][0]) {
        return Chosen { orders: vec![Order::Swap], positions: 0 };
    }
    if view.turn == 0 {
        let marble = Order::Marble(opening(view, &mut dice));
        return Chosen { orders: vec![marble], positions: 0 };
    }
    let mut position = position_of(view, side, |quad| level.sees(quad, &mut dice));
    let choice = choice_in(view, side);
    let (turn, positions) = match level {
        Level::Trainer => (shallow(&position, 4, &mut dice), 1),
        Level::Easy => (shallow(&position, 2, &mut dice), 1),
        Level::Average => thoughtful(&mut position, positions / 10, choice, &mut dice),
        Level::Expert => thoughtful(&mut position, positions, choice, &mut dice),
    };
    let stars = points(turn.stars).map(|star| Order::Star(point_at(star)));
    Chosen {
        orders: stars.chain([Order::Marble(point_at(turn.marble))]).collect(),
        positions: positions.into(),
    }
}

fn point_at(index: u8) -> Point {
    Point::at(index).expect("the house plays on points of the board")
}

/// Returns which turns the dice may choose from in this position.
fn choice_in(view: &View, side: Seat) -> Choice {
    // Without `swap` the first player is ahead, and a poor first marble of the second can lose even to
    // Trainer.
    let is_behind = side == Seat::Second && !view.swap;
    match view.turn {
        turn if turn < FIRST_TURNS && !is_behind => FIRST,
        turn if turn < OPENING_TURNS => IN_OPENING,
        _ => LATER,
    }
}

/// Returns the position in `view`; it knows only the squares that `sees` accepts.
fn position_of(view: &View, side: Seat, mut sees: impl FnMut(&Quad) -> bool) -> Position {
    let mut position = Position::new(side as usize, |number| sees(&SQUARES.all[number]));
    for seat in Seat::BOTH {
        for point in &view.marbles[seat] {
            position.put_marble(seat as usize, point.index() as u8);
        }
        for point in &view.stars[seat] {
            position.put_star(point.index() as u8);
        }
        position.marbles_left[seat as usize] = view.left[seat].marbles as u8;
        position.stars_left[seat as usize] = view.left[seat].stars as u8;
    }
    position
}

impl Level {
    /// Whether the level notices a square this time. It always notices upright squares and those at 45
    /// degrees, and others by chance.
    fn sees(self, quad: &Quad, dice: &mut Dice) -> bool {
        let [lowest, second, _, highest] = quad;
        let is_plain = lowest.rank() == second.rank() || lowest.file() == highest.file();
        let percent = match self {
            Level::Trainer => 60,
            Level::Easy => 88,
            Level::Average | Level::Expert => return true,
        };
        is_plain || dice.below(100) < percent
    }
}

/// Chooses the first marble: near the centre, or where it is fair if the opponent may take it over.
fn opening(view: &View, dice: &mut Dice) -> Point {
    if view.swap {
        return fair(dice);
    }
    let points: Vec<Point> = view.empty().into_iter().filter(|point| point.off_centre() <= 2).collect();
    points[dice.below(points.len())]
}

/// Chooses a turn by searching at most `positions` positions, and returns how many it searched. It wins if it
/// can, and blocks every threat that it can.
fn thoughtful(position: &mut Position, positions: u32, choice: Choice, dice: &mut Dice) -> (Turn, u32) {
    let me = position.mover;
    if let Some(marble) = points(position.threats(me)).next() {
        return (Turn { stars: 0, marble }, 1);
    }
    let (win, mut used) = search::forced_win(position, positions / 8);
    if let Some(turn) = win {
        return (turn, used);
    }
    let (rated, searched) = search::best(position, positions * 3 / 4, choice);
    used += searched;
    if rated.is_empty() {
        return (last_stand(position), used);
    }
    // Skip turns that lose by force, as far as the position budget lasts.
    let mut left: Vec<Turn> = rated.iter().map(|rated| rated.turn).collect();
    while left.len() > 1 && used + positions / 32 < positions {
        let chosen = dice.below(left.len());
        position.play(left[chosen]);
        let (lost, looked_at) = search::forced_win(position, positions / 32);
        position.take_back(left[chosen]);
        used += looked_at;
        if lost.is_none() {
            return (left[chosen], used);
        }
        left.remove(chosen);
    }
    (left[0], used)
}

/// Blocks as many threats as possible.
fn last_stand(position: &Position) -> Turn {
    let me = position.mover;
    let mut blocks = points(position.threats(1 - me));
    let marble = blocks.next().expect("there are more threats than can be blocked");
    let stars = blocks.take(usize::from(position.stars_left[me]));
    Turn { stars: stars.fold(0, |set: Set, point| set | 1 << point), marble }
}

/// Chooses a turn without looking ahead: wins, or else blocks every threat it sees, or else takes one of the
/// `choice` most promising points.
fn shallow(position: &Position, choice: usize, dice: &mut Dice) -> Turn {
    let me = position.mover;
    let foe = 1 - position.mover;
    if let Some(marble) = points(position.threats(me)).next() {
        return Turn { stars: 0, marble };
    }
    let threats = position.threats(foe);
    if threats.count_ones() > u32::from(position.stars_left[me]) + 1 {
        return last_stand(position);
    }
    let by_promise = |set: Set| {
        let mut points: Vec<u8> = points(set).collect();
        points.sort_by_key(|&point| -search::promise(position, point));
        points
    };
    let blocks = by_promise(threats);
    // If stars can make every block, use the marble to attack, unless the best block would attack too.
    let attacks = by_promise(position.attacks(me) & !threats);
    if let (Some(&block), Some(&marble)) = (blocks.first(), attacks.first()) {
        let can_spare = blocks.len() <= usize::from(position.stars_left[me]);
        if can_spare && position.count(me, 2, block) == 0 {
            return Turn { stars: threats, marble };
        }
    }
    if let Some(&marble) = blocks.first() {
        return Turn { stars: threats & !(1 << marble), marble };
    }
    let free = by_promise(position.free());
    Turn { stars: 0, marble: free[dice.below(choice.min(free.len()))] }
}

#[cfg(test)]
mod tests;

/// The share of the points, in tenths of a percent, that the side with the first marble takes when the other
/// side moves next. Indexed by the distances of the marble from the middle file and the middle rank, the
/// greater first; the corner is not a point.
///
/// Measured by Average against itself, in 200 matches from each kind of point (95 %: at most ± 7):
/// `cargo bench --bench house -- first quad average 200 --swap on`.
const WORTH: [&[i32]; 6] = [
    &[965],
    &[960, 910],
    &[965, 955, 935],
    &[995, 905, 955, 830],
    &[950, 980, 865, 800, 640],
    &[945, 940, 890, 665, 105],
];
/// An even chance.
const EVEN: i32 = 500;
/// An opening point is at most this much further from even than the point nearest to even.
const MARGIN: i32 = 50;

/// Returns the worth of the first marble on this point to the side that has it.
fn worth(point: Point) -> i32 {
    let files = point.file().abs_diff(5);
    let ranks = point.rank().abs_diff(5);
    WORTH[usize::from(files.max(ranks))][usize::from(files.min(ranks))]
}

/// Whether to take over the first marble on this point rather than answer it.
fn is_worth_taking(point: Point) -> bool {
    worth(point) > EVEN
}

/// Chooses where to place a first marble that may be taken over: where either choice is about as good.
fn fair(dice: &mut Dice) -> Point {
    let from_even = |point: Point| (worth(point) - EVEN).abs();
    let nearest = Point::all().map(from_even).min().expect("the board has points");
    let points: Vec<Point> = Point::all().filter(|&point| from_even(point) <= nearest + MARGIN).collect();
    points[dice.below(points.len())]
}
