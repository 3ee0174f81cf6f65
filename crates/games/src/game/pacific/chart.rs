//! The moves of surface ships (3.1 to 3.4) and the reach of their depth charges (3.6).
//!
//! Both sides see both fleets, so nothing here can disclose a secret.

use super::fleet::{Area, Ship, ShipKind, Square};
use super::options::Leap;
use crate::game::{BySeat, Seat};

/// The reach of an attack on an area, in king's steps to its nearest square (3.6, 4.3).
pub const REACH: u8 = 2;

const ORTHOGONAL: [(i8, i8); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const DIAGONAL: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
const KNIGHT: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

/// Both fleets, indexed by square because checking a move looks up many squares.
pub struct Chart<'a> {
    fleets: &'a BySeat<Vec<Ship>>,
    leap: Leap,
    held: [Option<Seat>; 256],
}

impl<'a> Chart<'a> {
    pub fn new(fleets: &'a BySeat<Vec<Ship>>, leap: Leap) -> Chart<'a> {
        let mut held = [None; 256];
        for (side, fleet) in fleets.iter() {
            for ship in fleet {
                held[ship.at.index()] = Some(side);
            }
        }
        Chart { fleets, leap, held }
    }

    /// The side that has a ship on `square`.
    pub fn holder(&self, square: Square) -> Option<Seat> {
        self.held[square.index()]
    }

    /// The ship of `side` on `square`.
    pub fn ship(&self, side: Seat, square: Square) -> Option<&'a Ship> {
        if self.holder(square) != Some(side) {
            return None;
        }
        self.fleets[side].iter().find(|ship| ship.at == square)
    }

    /// Calls `found` with each legal move of `side`, ship by ship: the ship and its target.
    pub fn each_move(&self, side: Seat, mut found: impl FnMut(&Ship, Square)) {
        for ship in &self.fleets[side] {
            self.each_target(side, ship, |to| found(ship, to));
        }
    }

    /// Whether `side` can move at all.
    pub fn can_move(&self, side: Seat) -> bool {
        self.fleets[side].iter().any(|ship| self.first_target(side, ship).is_some())
    }

    /// Whether `ship` may go to `to`.
    pub fn allows(&self, side: Seat, ship: &Ship, to: Square) -> bool {
        let mut allowed = false;
        self.each_target(side, ship, |target| allowed |= target == to);
        allowed
    }

    /// One of the squares that `ship` may go to, if there is any.
    pub fn first_target(&self, side: Seat, ship: &Ship) -> Option<Square> {
        let mut first = None;
        self.each_target(side, ship, |target| first = first.or(Some(target)));
        first
    }

    /// Calls `found` with each square that `ship` may go to, once.
    pub fn each_target(&self, side: Seat, ship: &Ship, mut found: impl FnMut(Square)) {
        match ship.kind {
            ShipKind::Battleship => self.slide(side, ship.at, &ORTHOGONAL, &mut found),
            ShipKind::Cruiser => {
                self.slide(side, ship.at, &DIAGONAL, &mut found);
                // 3.2: orthogonally, only to an empty square.
                for (files, ranks) in ORTHOGONAL {
                    if let Some(to) = ship.at.step(files, ranks).filter(|to| self.holder(*to).is_none()) {
                        found(to);
                    }
                }
            }
            ShipKind::Destroyer => self.jump(side, ship.at, &mut found),
            ShipKind::Squadron { leapt, .. } => {
                self.slide(side, ship.at, &ORTHOGONAL, &mut found);
                self.slide(side, ship.at, &DIAGONAL, &mut found);
                if !leapt || self.leap == Leap::Always {
                    self.jump(side, ship.at, &mut found);
                }
            }
            ShipKind::Carrier { no } => {
                let escort = self.escort(side, no);
                for (files, ranks) in ORTHOGONAL.into_iter().chain(DIAGONAL) {
                    let Some(to) = ship.at.step(files, ranks) else { continue };
                    let free = self.holder(to) != Some(side) || escort == Some(to);
                    if free && escort.is_none_or(|escort| self.follows(escort, ship.at, files, ranks)) {
                        found(to);
                    }
                }
            }
        }
    }

    /// The square of the squadron of carrier `no`, if it has not been launched and so moves with its carrier
    /// (3.4).
    pub fn escort(&self, side: Seat, no: u16) -> Option<Square> {
        self.fleets[side].iter().find_map(|ship| match ship.kind {
            ShipKind::Squadron { no: of, launched: false, .. } if of == no => Some(ship.at),
            _ => None,
        })
    }

    /// Whether an escorting squadron can make its carrier's move: its new square must be on the board and
    /// empty, and the carrier's old square counts as empty (P-ESCORT).
    fn follows(&self, escort: Square, carrier: Square, files: i8, ranks: i8) -> bool {
        let to = escort.step(files, ranks);
        to.is_some_and(|to| to == carrier || self.holder(to).is_none())
    }

    fn slide(&self, side: Seat, from: Square, directions: &[(i8, i8)], found: &mut impl FnMut(Square)) {
        for (files, ranks) in directions {
            let mut at = from;
            while let Some(to) = at.step(*files, *ranks) {
                let holder = self.holder(to);
                if holder != Some(side) {
                    found(to);
                }
                if holder.is_some() {
                    break;
                }
                at = to;
            }
        }
    }

    fn jump(&self, side: Seat, from: Square, found: &mut impl FnMut(Square)) {
        for (files, ranks) in KNIGHT {
            if let Some(to) = from.step(files, ranks).filter(|to| self.holder(*to) != Some(side)) {
                found(to);
            }
        }
    }
}

/// Whether any ship of `fleet` is close enough to `area` to attack it (3.6).
pub fn reaches(fleet: &[Ship], area: Area) -> bool {
    fleet.iter().any(|ship| !ship.is_squadron() && area.distance(ship.at) <= REACH)
}
