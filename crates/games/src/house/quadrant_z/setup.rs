//! The setups of the house: families of star values, in which the dice place every star and ship.

use crate::game::quadrant_z::{Class, Layout, Order, Quadrant, ReadySetup, Square, two_squares};
use crate::game::{Dice, Seat};
use crate::house::engine::Level;

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
