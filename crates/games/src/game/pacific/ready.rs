//! Ready setups (`P-READY`): families of legal setups. The referee draws one.

use super::fleet::{Class, Square, in_friendly_waters};
use super::options::{Destroyers, Options};
use super::order::{Order, ReadySetup};
use crate::game::Seat;
use crate::game::dice::Dice;

/// The ships of a family, as South sees them.
struct Formation {
    /// Each with its squadron, if it has one.
    carriers: &'static [(&'static str, Option<&'static str>)],
    battleships: &'static str,
    cruisers: &'static str,
    destroyers: &'static str,
    /// One more, if the basic fleet has eight (`P-COUNT`).
    eighth_destroyer: &'static str,
}

/// Plain rows, with all purchase points spent on five battleships.
const LINE: Formation = Formation {
    carriers: &[("D2", Some("E3")), ("M2", Some("L3"))],
    battleships: "A1 F1 G1 H1 I1 J1 K1 O1 P1",
    cruisers: "C3 G3 J3 N3",
    destroyers: "B5 D5 F5 H5 K5 M5 O5",
    eighth_destroyer: "I5",
};

/// A third carrier with its squadron in the middle, the others far out, and one more battleship.
const WINGS: Formation = Formation {
    carriers: &[("C2", Some("D3")), ("N2", Some("M3")), ("H2", Some("I3"))],
    battleships: "A1 B1 H1 O1 P1",
    cruisers: "E2 F2 K2 L2",
    destroyers: "B4 C4 D4 H4 M4 N4 O4",
    eighth_destroyer: "I4",
};

/// Everything far back behind a screen, with four more cruisers and three more destroyers.
const DEEP: Formation = Formation {
    carriers: &[("G1", Some("G2")), ("J1", Some("J2"))],
    battleships: "E1 F1 K1 L1",
    cruisers: "D2 E2 F2 H2 I2 K2 L2 M2",
    destroyers: "B3 D3 F3 H3 I3 K3 M3 O3 C4 N4",
    eighth_destroyer: "P3",
};

impl ReadySetup {
    fn formation(self) -> &'static Formation {
        match self {
            ReadySetup::Line => &LINE,
            ReadySetup::Wings => &WINGS,
            ReadySetup::Deep => &DEEP,
        }
    }

    /// Draws a setup of this family for `side`: the ships as they are or mirrored, the submarines anywhere.
    pub fn draw(self, side: Seat, options: &Options, dice: &mut Dice) -> Vec<Order> {
        let is_mirrored = dice.below(2) == 1;
        let mut orders = self.formation().orders(side, options, is_mirrored);
        if options.submarines {
            orders.push(Order::Submarines((1..).map(Some).zip(submarines(side, dice)).collect()));
        }
        orders
    }
}

/// Returns a legal setup for `side`, the same each time.
pub fn sample_setup(side: Seat, options: &Options) -> Vec<Order> {
    let mut orders = LINE.orders(side, options, false);
    if options.submarines {
        let places = squares(side, false, "C7 H7 N7 E10 L10");
        orders.push(Order::Submarines((1..).map(Some).zip(places).collect()));
    }
    orders
}

impl Formation {
    /// The surface ships for `side`, mirrored from west to east if wanted.
    fn orders(&self, side: Seat, options: &Options, is_mirrored: bool) -> Vec<Order> {
        let place = |text: &str| squares(side, is_mirrored, text);
        let mut orders = Vec::new();
        for (no, (at, squadron)) in (1..).zip(self.carriers) {
            let squadron = squadron.and_then(|squadron| place(squadron).first().copied());
            let at = place(at).first().copied();
            orders.extend(at.map(|at| Order::Carrier { no: Some(no), at, squadron }));
        }
        let mut destroyers = place(self.destroyers);
        if options.destroyers == Destroyers::Eight {
            destroyers.extend(place(self.eighth_destroyer));
        }
        orders.push(Order::Ships { class: Class::Battleship, at: place(self.battleships) });
        orders.push(Order::Ships { class: Class::Cruiser, at: place(self.cruisers) });
        orders.push(Order::Ships { class: Class::Destroyer, at: destroyers });
        orders
    }
}

/// Reads squares as South sees them, and turns them for North.
fn squares(side: Seat, is_mirrored: bool, text: &str) -> Vec<Square> {
    let turned = |at: Square| {
        let file = if is_mirrored { 15 - at.file() } else { at.file() };
        let rank = if side == Seat::First { at.rank() } else { 15 - at.rank() };
        Square::new(file, rank)
    };
    text.split(' ').filter_map(Square::parse).filter_map(turned).collect()
}

/// Draws the squares of the five submarines (2.3), in any order: three in own waters, two in the enemy's.
fn submarines(side: Seat, dice: &mut Dice) -> Vec<Square> {
    let (mut friendly, mut enemy): (Vec<Square>, Vec<Square>) =
        Square::all().partition(|at| in_friendly_waters(side, *at));
    dice.shuffle(&mut friendly);
    dice.shuffle(&mut enemy);
    let mut drawn: Vec<Square> = friendly.into_iter().take(3).chain(enemy.into_iter().take(2)).collect();
    dice.shuffle(&mut drawn);
    drawn
}
