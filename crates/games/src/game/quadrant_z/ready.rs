//! Ready setups (`Z-READY`): families of legal setups. The referee draws one.

use super::fleet::Class;
use super::galaxy::{Layout, Quadrant, Square};
use super::order::{Order, ReadySetup};
use crate::game::Seat;
use crate::game::dice::Dice;

/// The least value of a neutral quadrant's stars, and how many of the thirteen have one more: 30 together.
const NEUTRAL_VALUE: u16 = 2;
const RICHER: usize = 4;

/// A star to be placed.
struct Place {
    at: Square,
    value: u16,
    base: bool,
}

impl ReadySetup {
    /// The values of the stars in the home sector, the home base first: 15 together.
    fn home_values(self) -> &'static [u16] {
        match self {
            ReadySetup::Balanced => &[3, 2, 2, 2, 2, 2, 1, 1],
            ReadySetup::Raid => &[3, 3, 2, 2, 2, 1, 1, 1],
            ReadySetup::Guard => &[3, 3, 2, 2, 2, 2, 1],
        }
    }

    /// The offence and the defence of each ship: 15 points together.
    fn classes(self) -> &'static [(u16, u16)] {
        match self {
            ReadySetup::Balanced => &[(3, 2), (3, 2), (2, 1), (1, 1)],
            ReadySetup::Raid => &[(4, 1), (4, 1), (4, 1)],
            ReadySetup::Guard => &[(2, 4), (3, 2), (2, 2)],
        }
    }

    /// Draws a setup of this family for `seat`.
    pub fn draw(self, layout: Layout, seat: Seat, dice: &mut Dice) -> Vec<Order> {
        let mut stars = self.home_stars(layout, seat, dice);
        let ships = self.ships(&stars, layout, seat, dice);
        stars.extend(self.neutral_stars(layout, seat, dice));
        stars.sort_unstable_by_key(|star| star.at);
        let stars = stars.into_iter().map(|Place { at, value, base }| Order::Star { at, value, base });
        stars.chain(ships).collect()
    }

    /// Two squares at most in each quadrant; the first star is the home base.
    fn home_stars(self, layout: Layout, seat: Seat, dice: &mut Dice) -> Vec<Place> {
        let mut squares: Vec<Square> = Vec::new();
        for quadrant in layout.home_quadrants(seat) {
            squares.extend(two_squares(quadrant, dice));
        }
        // The home quadrant comes first, and with it the base.
        dice.shuffle(&mut squares[1..]);
        let values = self.home_values().iter().zip(squares).enumerate();
        values.map(|(index, (value, at))| Place { at, value: *value, base: index == 0 }).collect()
    }

    /// Raiders make the quadrants towards the enemy rich, and guards those near home.
    fn neutral_stars(self, layout: Layout, seat: Seat, dice: &mut Dice) -> Vec<Place> {
        let mut quadrants: Vec<Quadrant> = layout.neutral().collect();
        dice.shuffle(&mut quadrants);
        match self {
            ReadySetup::Balanced => {}
            ReadySetup::Raid => {
                quadrants.sort_by_key(|quadrant| quadrant.distance(Quadrant::home(seat.other())));
            }
            ReadySetup::Guard => quadrants.sort_by_key(|quadrant| quadrant.distance(Quadrant::home(seat))),
        }
        let mut stars = Vec::new();
        for (index, quadrant) in quadrants.into_iter().enumerate() {
            let values: &[u16] = match (index < RICHER, dice.below(3)) {
                (true, _) => &[NEUTRAL_VALUE, 1],
                (false, 0) => &[1, 1],
                (false, _) => &[NEUTRAL_VALUE],
            };
            let places = two_squares(quadrant, dice).into_iter().zip(values);
            stars.extend(places.map(|(at, value)| Place { at, value: *value, base: false }));
        }
        stars
    }

    /// Balanced fleets start on stars that they can capture, raiders far out, and guards around the base.
    fn ships(self, stars: &[Place], layout: Layout, seat: Seat, dice: &mut Dice) -> Vec<Order> {
        let home = Quadrant::home(seat);
        let sector: Vec<Square> = layout.home_quadrants(seat).flat_map(Quadrant::squares).collect();
        let mut on_stars: Vec<Square> = stars.iter().filter(|star| !star.base).map(|star| star.at).collect();
        dice.shuffle(&mut on_stars);
        let far: Vec<Square> =
            sector.iter().copied().filter(|at| at.quadrant().distance(home) >= 2).collect();
        let outside: Vec<Square> = sector.iter().copied().filter(|at| at.quadrant() != home).collect();
        let mut place = |index: usize| match self {
            ReadySetup::Balanced => on_stars[index],
            ReadySetup::Raid => far[dice.below(far.len())],
            ReadySetup::Guard => match index {
                0 => stars[0].at,
                1 => home.square(dice.below(4) as u8),
                _ => outside[dice.below(outside.len())],
            },
        };
        let ships = (1..).zip(self.classes()).enumerate();
        ships
            .map(|(index, (no, &(offence, defence)))| {
                let class = Class { offence, defence };
                Order::Place { no, class, at: place(index) }
            })
            .collect()
    }
}

/// Returns two random squares of a quadrant.
pub fn two_squares(quadrant: Quadrant, dice: &mut Dice) -> [Square; 2] {
    let mut cells = [0, 1, 2, 3];
    dice.shuffle(&mut cells);
    [quadrant.square(cells[0]), quadrant.square(cells[1])]
}
