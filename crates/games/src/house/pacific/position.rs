//! The surface as the search sees it: moves can be made and taken back, and its worth is kept up to date.
//!
//! The worth of ships on the squares of the board, in hundredths of a point. Computed once a turn; the search
//! adds these values up.

use crate::game::pacific::{Class, Leap, Ship, ShipKind, Square, View};
use crate::game::{BySeat, Seat};
use crate::house::engine::table::keys;

/// The index of a square, which fits into a byte.
pub(super) type At = u8;

/// A move from square to square.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Move {
    pub from: At,
    pub to: At,
}

/// No move on the surface: the side attacks submarines instead.
pub(super) const PASS: Move = Move { from: 0, to: 0 };

/// The worth of a ship to its side on each square, by side and class, in hundredths of a point.
pub(super) type Values = [[[i32; 256]; 5]; 2];

/// A ship. Sunk ships keep their place in the list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hull {
    pub side: u8,
    pub at: At,
    pub class: Class,
    /// The number of a carrier or squadron.
    no: u16,
    launched: bool,
    leapt: bool,
    pub afloat: bool,
}

/// The changes that a move made, to take it back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    turn: Move,
    mover: u8,
    launched: bool,
    leapt: bool,
    sunk: u8,
    fated: u8,
    escort: u8,
    escort_at: At,
    key: u64,
    worth: i32,
}

/// Stands for no hull, in place of a hull's number.
const NONE: u8 = u8::MAX;

const STRAIGHT: [(i8, i8); 4] = [(0, 1), (1, 0), (0, -1), (-1, 0)];
const DIAGONAL: [(i8, i8); 4] = [(1, 1), (1, -1), (-1, -1), (-1, 1)];
const KNIGHT: [(i8, i8); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

/// For each side: the five classes, a launched squadron, and one that has leapt.
static KEYS: [[u64; 256]; 14] = keys(0x5eab_0a7d);
const SIDE_KEY: u64 = 0x9d39_247e_3377_6d41;

/// Both fleets, and the side to move: 0 or 1.
#[derive(Clone)]
pub(super) struct Position<'a> {
    cells: [u8; 256],
    pub hulls: Vec<Hull>,
    pub mover: usize,
    /// Ships afloat other than squadrons.
    pub count: [u32; 2],
    pub key: u64,
    /// The worth of both fleets to side 0.
    worth: i32,
    leap: Leap,
    values: &'a Values,
}

fn step(at: At, (files, ranks): (i8, i8)) -> Option<At> {
    let file = (at & 15).checked_add_signed(files)?;
    let rank = (at >> 4).checked_add_signed(ranks)?;
    (file < 16 && rank < 16).then(|| rank * 16 + file)
}

impl Hull {
    fn key(&self) -> u64 {
        let kind = match self.class {
            Class::Squadron if self.leapt => 6,
            Class::Squadron if self.launched => 5,
            class => class as usize,
        };
        KEYS[usize::from(self.side) * 7 + kind][usize::from(self.at)]
    }

    fn is_squadron(&self) -> bool {
        self.class == Class::Squadron
    }
}

impl<'a> Position<'a> {
    pub fn new(ships: &BySeat<Vec<Ship>>, mover: Seat, leap: Leap, values: &'a Values) -> Position<'a> {
        let mut position = Position {
            cells: [NONE; 256],
            hulls: Vec::with_capacity(64),
            mover: mover as usize,
            count: [0; 2],
            key: if mover == Seat::First { 0 } else { SIDE_KEY },
            worth: 0,
            leap,
            values,
        };
        for (seat, fleet) in ships.iter() {
            for ship in fleet {
                position.add(seat, ship);
            }
        }
        position
    }

    fn add(&mut self, seat: Seat, ship: &Ship) {
        let (launched, leapt) = match ship.kind {
            ShipKind::Squadron { launched, leapt, .. } => (launched, leapt),
            ShipKind::Carrier { .. } | ShipKind::Battleship | ShipKind::Cruiser | ShipKind::Destroyer => {
                (false, false)
            }
        };
        let at = ship.at.index() as At;
        let no = ship.kind.no().unwrap_or_default();
        let hull = Hull { side: seat as u8, at, class: ship.class(), no, launched, leapt, afloat: false };
        self.hulls.push(hull);
        self.put(self.hulls.len() as u8 - 1, at);
        self.count[seat as usize] += u32::from(!hull.is_squadron());
    }

    /// Puts a hull that is nowhere on a square.
    fn put(&mut self, number: u8, at: At) {
        let hull = &mut self.hulls[usize::from(number)];
        (hull.at, hull.afloat) = (at, true);
        self.cells[usize::from(at)] = number;
        self.key ^= hull.key();
        self.worth += worth(self.values, hull);
    }

    /// Takes a hull off its square.
    fn lift(&mut self, number: u8) {
        let hull = &mut self.hulls[usize::from(number)];
        hull.afloat = false;
        self.cells[usize::from(hull.at)] = NONE;
        self.key ^= hull.key();
        self.worth -= worth(self.values, hull);
    }

    /// The ship on a square.
    pub fn hull(&self, at: At) -> Option<&Hull> {
        self.hulls.get(usize::from(self.cells[usize::from(at)]))
    }

    /// The gain in the moving ship's worth from its old square to its new one.
    pub fn shift(&self, turn: Move) -> i32 {
        let Some(hull) = self.hull(turn.from) else { return 0 };
        let values = &self.values[usize::from(hull.side)][hull.class as usize];
        values[usize::from(turn.to)] - values[usize::from(turn.from)]
    }

    /// The worth of the position to the side to move.
    pub fn worth(&self) -> i32 {
        if self.mover == 0 { self.worth } else { -self.worth }
    }

    pub fn pass(&mut self) {
        self.mover = 1 - self.mover;
        self.key ^= SIDE_KEY;
    }

    /// Makes a legal move.
    pub fn play(&mut self, turn: Move) -> Undo {
        let mover = self.cells[usize::from(turn.from)];
        let hull = self.hulls[usize::from(mover)];
        let mut undo = Undo {
            turn,
            mover,
            launched: hull.launched,
            leapt: hull.leapt,
            sunk: NONE,
            fated: NONE,
            escort: NONE,
            escort_at: 0,
            key: self.key,
            worth: self.worth,
        };
        if hull.class == Class::Carrier {
            undo.escort = self.escort(&hull).unwrap_or(NONE);
        }
        self.lift(mover);
        if undo.escort != NONE {
            undo.escort_at = self.hulls[usize::from(undo.escort)].at;
            self.lift(undo.escort);
            // The same step leads to an empty square of the board (P-ESCORT).
            let to = undo.escort_at.wrapping_add(turn.to).wrapping_sub(turn.from);
            self.put(undo.escort, to);
        }
        self.sink(turn.to, &mut undo);
        if hull.is_squadron() {
            let moved = &mut self.hulls[usize::from(mover)];
            let files = (turn.from & 15).abs_diff(turn.to & 15);
            moved.launched = true;
            moved.leapt |= files * (turn.from >> 4).abs_diff(turn.to >> 4) == 2;
        }
        self.put(mover, turn.to);
        self.pass();
        undo
    }

    /// Sinks the ship on a square, if there is one, and the squadron that goes down with it (3.5).
    fn sink(&mut self, at: At, undo: &mut Undo) {
        let Some(&sunk) = self.hull(at) else { return };
        undo.sunk = self.cells[usize::from(at)];
        self.lift(undo.sunk);
        self.count[usize::from(sunk.side)] -= u32::from(!sunk.is_squadron());
        if sunk.class == Class::Carrier
            && let Some(fated) = self.fated(&sunk)
        {
            undo.fated = fated;
            self.lift(fated);
        }
    }

    pub fn take_back(&mut self, undo: &Undo) {
        self.mover = 1 - self.mover;
        self.lift(undo.mover);
        if undo.escort != NONE {
            self.lift(undo.escort);
            self.put(undo.escort, undo.escort_at);
        }
        let hull = &mut self.hulls[usize::from(undo.mover)];
        (hull.launched, hull.leapt) = (undo.launched, undo.leapt);
        self.put(undo.mover, undo.turn.from);
        for number in [undo.sunk, undo.fated].into_iter().filter(|&number| number != NONE) {
            let hull = self.hulls[usize::from(number)];
            self.put(number, hull.at);
            self.count[usize::from(hull.side)] += u32::from(!hull.is_squadron());
        }
        (self.key, self.worth) = (undo.key, undo.worth);
    }

    /// The squadron that moves along with a carrier (3.4).
    fn escort(&self, carrier: &Hull) -> Option<u8> {
        let goes = |hull: &Hull| {
            hull.afloat
                && hull.is_squadron()
                && !hull.launched
                && (hull.side, hull.no) == (carrier.side, carrier.no)
        };
        self.hulls.iter().position(goes).map(|number| number as u8)
    }

    /// P-FATE: the squadron that is lost with a sunk carrier.
    fn fated(&self, carrier: &Hull) -> Option<u8> {
        let mut own = None;
        let mut first = None;
        let mut squadrons = 0;
        let mut carriers = 0;
        for (number, hull) in self.hulls.iter().enumerate() {
            if !hull.afloat || hull.side != carrier.side {
                continue;
            }
            carriers += u32::from(hull.class == Class::Carrier);
            if !hull.is_squadron() {
                continue;
            }
            squadrons += 1;
            if hull.no == carrier.no {
                own = Some((number, hull.launched));
            }
            if hull.launched && first.is_none_or(|(no, _)| hull.no < no) {
                first = Some((hull.no, number));
            }
        }
        let number = match own {
            Some((number, false)) => Some(number),
            _ if squadrons <= carriers => None,
            Some((number, true)) => Some(number),
            None => first.map(|(_, number)| number),
        };
        number.map(|number| number as u8)
    }

    /// Returns the moves of the side to move; if `sinking` is set, only moves that sink a ship.
    pub fn moves(&self, sinking: bool) -> Vec<Move> {
        let mut moves = Vec::with_capacity(if sinking { 16 } else { 256 });
        for hull in self.hulls.iter().filter(|hull| hull.afloat && usize::from(hull.side) == self.mover) {
            self.add_moves(hull, sinking, &mut moves);
        }
        moves
    }

    fn add_moves(&self, hull: &Hull, sinking: bool, moves: &mut Vec<Move>) {
        match hull.class {
            Class::Battleship => self.slide(hull, &STRAIGHT, sinking, moves),
            Class::Cruiser => {
                self.slide(hull, &DIAGONAL, sinking, moves);
                let aside = STRAIGHT.iter().filter_map(|&by| step(hull.at, by));
                let free = aside.filter(|&to| !sinking && self.hull(to).is_none());
                moves.extend(free.map(|to| Move { from: hull.at, to }));
            }
            Class::Destroyer => self.jump(hull, sinking, moves),
            Class::Squadron => {
                self.slide(hull, &STRAIGHT, sinking, moves);
                self.slide(hull, &DIAGONAL, sinking, moves);
                if !hull.leapt || self.leap == Leap::Always {
                    self.jump(hull, sinking, moves);
                }
            }
            Class::Carrier => self.walk(hull, sinking, moves),
        }
    }

    /// Adds the move to a square, unless a ship of its own side is there. Returns whether the square is
    /// empty.
    fn add_move(&self, hull: &Hull, to: At, sinking: bool, moves: &mut Vec<Move>) -> bool {
        let holder = self.hull(to);
        if holder.map_or(!sinking, |holder| holder.side != hull.side) {
            moves.push(Move { from: hull.at, to });
        }
        holder.is_none()
    }

    fn slide(&self, hull: &Hull, directions: &[(i8, i8)], sinking: bool, moves: &mut Vec<Move>) {
        for &direction in directions {
            let mut at = hull.at;
            while let Some(to) = step(at, direction) {
                if !self.add_move(hull, to, sinking, moves) {
                    break;
                }
                at = to;
            }
        }
    }

    fn jump(&self, hull: &Hull, sinking: bool, moves: &mut Vec<Move>) {
        for to in KNIGHT.iter().filter_map(|&by| step(hull.at, by)) {
            self.add_move(hull, to, sinking, moves);
        }
    }

    /// Adds the steps of a carrier, which its squadron must be able to follow (P-ESCORT).
    fn walk(&self, hull: &Hull, sinking: bool, moves: &mut Vec<Move>) {
        let escort = self.escort(hull).map(|number| self.hulls[usize::from(number)].at);
        for &by in STRAIGHT.iter().chain(&DIAGONAL) {
            let Some(to) = step(hull.at, by) else { continue };
            let follows = |at: At| step(at, by).is_some_and(|to| to == hull.at || self.hull(to).is_none());
            if !escort.is_none_or(follows) {
                continue;
            }
            if escort == Some(to) {
                if !sinking {
                    moves.push(Move { from: hull.at, to });
                }
            } else {
                self.add_move(hull, to, sinking, moves);
            }
        }
    }

    /// Whether a ship of `side` could take one on this square.
    pub fn is_guarded(&self, at: At, side: u8) -> bool {
        let found = |to: At, classes: &[Class]| {
            self.hull(to).is_some_and(|hull| hull.side == side && classes.contains(&hull.class))
        };
        let knight = |hull: &Hull| {
            hull.class == Class::Destroyer || hull.is_squadron() && (!hull.leapt || self.leap == Leap::Always)
        };
        let jumps = KNIGHT.iter().filter_map(|&by| step(at, by));
        if jumps.filter_map(|to| self.hull(to)).any(|hull| hull.side == side && knight(hull)) {
            return true;
        }
        let along = |directions: &[(i8, i8)], slider: Class| {
            directions.iter().any(|&by| {
                let Some(mut to) = step(at, by) else { return false };
                if found(to, &[Class::Carrier]) {
                    return true;
                }
                while self.hull(to).is_none() {
                    let Some(next) = step(to, by) else { return false };
                    to = next;
                }
                found(to, &[slider, Class::Squadron])
            })
        };
        along(&STRAIGHT, Class::Battleship) || along(&DIAGONAL, Class::Cruiser)
    }
}

/// The worth of a hull to side 0.
fn worth(values: &Values, hull: &Hull) -> i32 {
    let worth = values[usize::from(hull.side)][hull.class as usize][usize::from(hull.at)];
    if hull.side == 0 { worth } else { -worth }
}

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
