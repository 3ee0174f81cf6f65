//! The surface of War in the Pacific on an array of cells, for players from outside. It shares no code with the house or
//! the rules, so that a fault in theirs would show: a move of theirs that the rules forbid ends the match with an error.
//!
//! It knows the usual options only, without submarines.

/// A ship: its side (0 or 1), its letter, its number, and for a squadron whether it was launched and has leapt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ship {
    pub side: u8,
    pub letter: char,
    pub no: u16,
    pub launched: bool,
    pub leapt: bool,
}

/// A position; cells in the order A1, B1, …
#[derive(Clone)]
pub struct Plain {
    pub cells: [Option<Ship>; 256],
    pub mover: u8,
}

/// The cells that a move goes from and to.
pub type Turn = (usize, usize);

const AROUND: [(i32, i32); 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];
const LEAPS: [(i32, i32); 8] = [(1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2)];

fn beside(cell: usize, (right, up): (i32, i32)) -> Option<usize> {
    let (file, rank) = (cell as i32 % 16 + right, cell as i32 / 16 + up);
    ((0..16).contains(&file) && (0..16).contains(&rank)).then(|| (rank * 16 + file) as usize)
}

pub fn points(letter: char) -> i32 {
    match letter {
        'V' | 'S' => 10,
        'B' => 5,
        'C' => 4,
        _ => 3,
    }
}

impl Plain {
    /// The points of a side, and how many of its ships are no squadrons.
    pub fn fleet(&self, side: u8) -> (i32, usize) {
        let ships = self.cells.iter().flatten().filter(|ship| ship.side == side);
        ships.fold((0, 0), |(sum, hulls), ship| {
            (sum + points(ship.letter), hulls + usize::from(ship.letter != 'S'))
        })
    }

    pub fn turns(&self) -> Vec<Turn> {
        let mut turns = Vec::new();
        for (cell, ship) in self.cells.iter().enumerate() {
            if let Some(ship) = ship
                && ship.side == self.mover
            {
                self.turns_of(cell, ship, &mut turns);
            }
        }
        turns
    }

    fn turns_of(&self, from: usize, ship: &Ship, turns: &mut Vec<Turn>) {
        for by in AROUND {
            let is_straight = by.0 == 0 || by.1 == 0;
            let far = match ship.letter {
                'S' => 15,
                'B' if is_straight => 15,
                'C' if !is_straight => 15,
                'C' | 'V' => 1,
                _ => 0,
            };
            let mut at = from;
            for _ in 0..far {
                let Some(to) = beside(at, by) else { break };
                let held = self.cells[to];
                let may_sink = !(ship.letter == 'C' && is_straight);
                let is_own_escort = self.escort(from) == Some(to);
                let is_open = held.is_none_or(|held| held.side != ship.side && may_sink || is_own_escort);
                if is_open && (ship.letter != 'V' || self.escort_follows(from, by)) {
                    turns.push((from, to));
                }
                if held.is_some() {
                    break;
                }
                at = to;
            }
        }
        if ship.letter == 'D' || ship.letter == 'S' && !ship.leapt {
            let leaps = LEAPS.iter().filter_map(|&by| beside(from, by));
            let open = leaps.filter(|&to| self.cells[to].is_none_or(|held| held.side != ship.side));
            turns.extend(open.map(|to| (from, to)));
        }
    }

    /// The cell of the squadron that a carrier takes along.
    fn escort(&self, carrier: usize) -> Option<usize> {
        let carrier = self.cells[carrier].filter(|ship| ship.letter == 'V')?;
        self.cells.iter().position(|cell| {
            cell.is_some_and(|ship| {
                ship.letter == 'S' && !ship.launched && (ship.side, ship.no) == (carrier.side, carrier.no)
            })
        })
    }

    fn escort_follows(&self, carrier: usize, by: (i32, i32)) -> bool {
        let Some(escort) = self.escort(carrier) else { return true };
        beside(escort, by).is_some_and(|to| to == carrier || self.cells[to].is_none())
    }

    pub fn play(&mut self, (from, to): Turn) {
        let escort = self.escort(from);
        let Some(mut ship) = self.cells[from].take() else { return };
        if let Some(escort) = escort {
            let plane = self.cells[escort].take();
            self.cells[escort + to - from] = plane;
        }
        let (right, up) = ((from % 16).abs_diff(to % 16), (from / 16).abs_diff(to / 16));
        if ship.letter == 'S' {
            ship.launched = true;
            ship.leapt |= right * up == 2;
        }
        let sunk = self.cells[to].replace(ship);
        if let Some(sunk) = sunk.filter(|sunk| sunk.letter == 'V') {
            self.lose_squadron(sunk);
        }
        self.mover = 1 - self.mover;
    }

    /// Takes away the squadron that goes down with a carrier.
    fn lose_squadron(&mut self, carrier: Ship) {
        let many = |letter: char| {
            let is_one = |cell: &&Option<Ship>| {
                cell.is_some_and(|ship| ship.side == carrier.side && ship.letter == letter)
            };
            self.cells.iter().filter(is_one).count()
        };
        let too_many = many('S') > many('V');
        let mut squadrons: Vec<(bool, u16, usize, bool)> = Vec::new();
        for (cell, ship) in self.cells.iter().enumerate() {
            if let Some(ship) = ship
                && ship.letter == 'S'
                && ship.side == carrier.side
            {
                squadrons.push((ship.no != carrier.no, ship.no, cell, ship.launched));
            }
        }
        squadrons.sort_unstable();
        let own = squadrons.first().filter(|(is_other, ..)| !is_other);
        let lost = match own {
            Some(&(_, _, cell, launched)) => (!launched || too_many).then_some(cell),
            None => {
                squadrons.iter().find(|(.., launched)| too_many && *launched).map(|&(_, _, cell, _)| cell)
            }
        };
        if let Some(cell) = lost {
            self.cells[cell] = None;
        }
    }
}
