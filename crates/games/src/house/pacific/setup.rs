//! The setups of the house: families of purchases. Dice place every ship, so nobody can foresee a square.

use crate::game::pacific::{Class, Options, Order, Square, basic_fleet};
use crate::game::{Dice, Seat};

/// Purchases for 25 points (1.3): carriers, squadrons, battleships, cruisers and destroyers.
const PURCHASES: [[usize; 5]; 4] = [[0, 0, 5, 0, 0], [0, 0, 2, 3, 1], [1, 1, 1, 0, 0], [0, 0, 0, 4, 3]];

/// The ranks, counted from home, in which ships of a class start.
fn ranks(class: Class) -> std::ops::Range<u8> {
    match class {
        Class::Carrier => 0..2,
        Class::Squadron => 0..4,
        Class::Battleship => 0..2,
        Class::Cruiser => 1..4,
        Class::Destroyer => 2..5,
    }
}

/// The ranks in which submarines start: three in front of their own fleet, two where the enemy's probably is.
const AT_HOME: std::ops::Range<u8> = 2..8;
const ABROAD: std::ops::Range<u8> = 9..15;

/// The squares that are still free, in random order.
struct Free(Vec<Square>);

impl Free {
    fn new(dice: &mut Dice) -> Free {
        let mut squares: Vec<Square> = Square::all().collect();
        dice.shuffle(&mut squares);
        Free(squares)
    }

    /// Takes a square that `fits`.
    fn take(&mut self, fits: impl Fn(Square) -> bool) -> Square {
        let place = self.0.iter().position(|&at| fits(at)).expect("the ranks have room for every fleet");
        self.0.remove(place)
    }
}

/// Draws a legal setup for `side`.
pub(super) fn draw(side: Seat, options: &Options, dice: &mut Dice) -> Vec<Order> {
    let bought = PURCHASES[dice.below(PURCHASES.len())];
    let many = |class: Class| basic_fleet(class, options) + bought[class as usize];
    let from_home = |at: Square| if side == Seat::First { at.rank() } else { 15 - at.rank() };
    let mut free = Free::new(dice);
    let mut orders = Vec::new();
    // Carriers start on every third file, so that each has room for its squadron.
    for no in 1..=many(Class::Carrier) {
        let at = free.take(|at| ranks(Class::Carrier).contains(&from_home(at)) && at.file() % 3 == 1);
        let beside = |to: Square| at.king_steps(to) == 1 && ranks(Class::Squadron).contains(&from_home(to));
        let squadron = (no <= many(Class::Squadron)).then(|| free.take(beside));
        orders.push(Order::Carrier { no: Some(no as u16), at, squadron });
    }
    for class in [Class::Battleship, Class::Cruiser, Class::Destroyer] {
        let fits = |at: Square| ranks(class).contains(&from_home(at));
        orders.push(Order::Ships { class, at: (0..many(class)).map(|_| free.take(fits)).collect() });
    }
    if options.submarines {
        let mut free = Free::new(dice);
        let mut squares: Vec<Square> =
            (0..3).map(|_| free.take(|at| AT_HOME.contains(&from_home(at)))).collect();
        squares.extend((0..2).map(|_| free.take(|at| ABROAD.contains(&from_home(at)))));
        dice.shuffle(&mut squares);
        orders.push(Order::Submarines((1..).map(Some).zip(squares).collect()));
    }
    orders
}
