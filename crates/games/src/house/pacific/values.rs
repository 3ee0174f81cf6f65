//! The worth of ships on the squares of the board, in hundredths of a point. Computed once a turn; the search
//! adds these values up.

use super::position::Values;
use crate::game::Seat;
use crate::game::pacific::{Class, Ship, Square, View};

/// The loss of a ship's price under certain danger, in percent: less than all, because the submarine may fire
/// at another ship or be sunk first.
const DANGER: i32 = 80;
/// Danger counts this many times for a carrier: its squadron goes down with it, and it is too slow to flee.
const CARRIER: i32 = 3;

/// Rates every square. `danger` is the chance, in thousandths, that an enemy submarine could fire at it.
pub(super) fn values(view: &View, danger: &[i32; 256]) -> Values {
    let mut values = [[[0; 256]; 5]; 2];
    let targets = view.ships.as_ref().map(|fleet| targets(fleet));
    for side in Seat::BOTH {
        for at in Square::all() {
            let steps = targets[side.other()].iter().map(|prey| i32::from(prey.king_steps(at))).min();
            let near = 16 - steps.unwrap_or(16);
            for class in Class::ALL {
                let price = 100 * class.points() as i32;
                let mut worth = price + place(class, side, at, near);
                if side == view.viewer && class != Class::Squadron {
                    let care = if class == Class::Carrier { CARRIER } else { 1 };
                    worth -= care * price * danger[at.index()] * DANGER / 100_000;
                }
                values[side as usize][class as usize][at.index()] = worth;
            }
        }
    }
    values
}

/// Rates a square for a ship of this class: carriers stay behind, and the others approach the enemy's ships.
fn place(class: Class, side: Seat, at: Square, near: i32) -> i32 {
    let from_home = i32::from(if side == Seat::First { at.rank() } else { 15 - at.rank() });
    let from_edge = i32::from(at.file().min(15 - at.file()));
    match class {
        Class::Carrier => -10 * from_home,
        Class::Squadron => from_edge + 2 * near,
        Class::Battleship => 2 * near,
        Class::Cruiser => from_edge + 3 * near,
        Class::Destroyer => 2 * from_edge + 5 * near,
    }
}

/// No danger anywhere.
pub(super) const SAFE: [i32; 256] = [0; 256];

/// The squares of the ships that a torpedo could sink.
fn targets(fleet: &[Ship]) -> Vec<Square> {
    fleet.iter().filter(|ship| !ship.is_squadron()).map(|ship| ship.at).collect()
}
