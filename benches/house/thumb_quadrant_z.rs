//! A player of Quadrant Z by rule of thumb: every ship captures the star that it stands on or goes to the nearest one that
//! it can capture, and captured points buy such ships. It sets up at random. It shares no code with the house.

use fogpost::game::any::{AnySeen, AnyState};
use fogpost::game::{Phase, Seat};

use crate::player::{Player, Turn};
use crate::random_player::Random;

pub struct Thumb;

/// A square: its quadrant's column and row, and its cell.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Place {
    column: i32,
    row: i32,
    cell: i32,
}

struct Star {
    at: Place,
    value: u16,
    is_aimed_at: bool,
}

impl Place {
    fn read(text: &str) -> Place {
        let bytes = text.as_bytes();
        let quadrant = i32::from(bytes[0] - b'A');
        Place { column: quadrant % 5, row: quadrant / 5, cell: i32::from(bytes[1] - b'1') }
    }

    fn write(self) -> String {
        format!("{}{}", char::from(b'A' + (self.row * 5 + self.column) as u8), self.cell + 1)
    }

    /// The turns to get there.
    fn turns(self, to: Place) -> i32 {
        match (self.column - to.column).abs() + (self.row - to.row).abs() {
            0 => (self.cell ^ to.cell).count_ones() as i32,
            far => far,
        }
    }

    /// The first step of the way there.
    fn step(self, to: Place) -> Place {
        let (right, down) = ((to.column - self.column).signum(), (to.row - self.row).signum());
        match (right, down) {
            (0, 0) if self.turns(to) == 2 => Place { cell: self.cell ^ 1, ..self },
            (0, 0) => to,
            (0, _) => Place { row: self.row + down, cell: to.cell, ..self },
            _ => Place { column: self.column + right, cell: to.cell, ..self },
        }
    }
}

impl Player for Thumb {
    fn play(&mut self, state: &AnyState, seen: &AnySeen, seed: u64) -> Turn {
        match state.due().map(|due| due.phase) {
            Some(Phase::Turn) => Turn { orders: orders(seen), positions: 0 },
            Some(Phase::Casualties) => Turn { orders: Vec::new(), positions: 0 },
            _ => Random.play(state, seen, seed),
        }
    }
}

fn orders(seen: &AnySeen) -> Vec<String> {
    let AnySeen::QuadrantZ(seen) = seen else { unreachable!("it plays Quadrant Z") };
    let view = seen.now();
    let home = if seen.seat() == Seat::First { "A" } else { "Y" };
    let mut orders = Vec::new();
    let open = || view.stars.iter().filter(|star| star.captured_by.is_none());
    if let Some(yard) = open().find(|star| star.at.to_string().starts_with(home)) {
        let mut stock = view.stock;
        while stock >= 2 {
            stock -= 2;
            orders.push(format!("BUILD 2/0 AT {}", yard.at));
        }
    }
    let mut stars: Vec<Star> = open()
        .filter(|star| !star.base)
        .map(|star| Star { at: Place::read(&star.at.to_string()), value: star.value, is_aimed_at: false })
        .collect();
    for ship in &view.ships {
        let at = Place::read(&ship.at.to_string());
        let fits = stars.iter_mut().filter(|star| !star.is_aimed_at && star.value <= ship.class.offence);
        let Some(star) = fits.min_by_key(|star| at.turns(star.at)) else { continue };
        star.is_aimed_at = true;
        orders.push(match at == star.at {
            true => format!("CAPTURE {}", at.write()),
            false => format!("SHIP {} TO {}", ship.no, at.step(star.at).write()),
        });
    }
    orders
}
