//! The chances and risks of one side's submarines on each square, from the ships that both sides see.

use crate::game::pacific::{REACH, Ship, ShipKind, Square, Torpedo, torpedo_reaches};

const DIRECTIONS: [(i8, i8); 8] = [(0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1)];

/// The cost, in hundredths of a point, of each square on the way to the nearest shot.
const AWAY: i32 = 20;
/// Ships and submarines attack areas at most two squares away, so one at this distance can be hit (3.6).
pub(super) const HUNTED: u8 = REACH + 1;

/// The targets of one side's submarines, and the worth of each square for firing at them.
pub(super) struct Prospects {
    /// The ships that a torpedo can sink, and the gain from that, in hundredths of a point.
    targets: Vec<(Square, i32)>,
    torpedo: Torpedo,
    /// For each square, the best shot from there; 0 if there is none.
    best: [i32; 256],
    promise: [i32; 256],
    /// For each square, the number of ships that could attack an area that contains it.
    hunters: [u8; 256],
}

impl Prospects {
    /// `prey` is the fleet at which the submarines fire.
    pub fn new(prey: &[Ship], torpedo: Torpedo) -> Prospects {
        let surface = prey.iter().filter(|ship| !ship.is_squadron());
        let targets = surface.map(|ship| (ship.at, gain(prey, ship))).collect();
        let mut prospects =
            Prospects { targets, torpedo, best: [0; 256], promise: [0; 256], hunters: [0; 256] };
        for at in Square::all() {
            let (mut best, mut all, mut away) = (0, 0, 16);
            for &(target, worth) in &prospects.targets {
                let steps = at.king_steps(target);
                prospects.hunters[at.index()] += u8::from(steps <= HUNTED);
                away = away.min(i32::from(steps.abs_diff(2)));
                if torpedo_reaches(torpedo, steps) {
                    best = best.max(worth);
                    all += worth;
                }
            }
            prospects.best[at.index()] = best;
            prospects.promise[at.index()] = best + (all - best) / 8 - AWAY * away;
        }
        prospects
    }

    /// The ships in range of a square, and the gain from sinking them.
    pub fn shots(&self, from: Square) -> impl Iterator<Item = (Square, i32)> {
        let in_range = move |&(at, _): &(Square, i32)| torpedo_reaches(self.torpedo, from.king_steps(at));
        self.targets.iter().copied().filter(in_range)
    }

    /// The gain from sinking the ship on a square.
    pub fn gain(&self, at: Square) -> i32 {
        self.targets.iter().find(|(target, _)| *target == at).map_or(0, |(_, worth)| *worth)
    }

    /// The best shot from a square; 0 if there is none.
    pub fn best(&self, from: Square) -> i32 {
        self.best[from.index()]
    }

    /// Whether a ship other than the one at `but` could attack a submarine on a square (3.6).
    pub fn is_exposed(&self, at: Square, but: Option<Square>) -> bool {
        let spared = but.is_some_and(|but| but.king_steps(at) <= HUNTED);
        self.hunters[at.index()] > u8::from(spared)
    }

    /// Rates a square by its best shot and a little of the others, or, if there is none, by the distance to
    /// the nearest.
    pub fn promise(&self, from: Square) -> i32 {
        self.promise[from.index()]
    }
}

/// The price of a ship, and of the squadron that goes down with it (P-FATE).
fn gain(fleet: &[Ship], ship: &Ship) -> i32 {
    let goes_down = |other: &&Ship| match (ship.kind, other.kind) {
        (ShipKind::Carrier { no }, ShipKind::Squadron { no: of, launched, .. }) => no == of && !launched,
        _ => false,
    };
    let escort = fleet.iter().find(goes_down);
    let points = ship.class().points() + escort.map_or(0, |squadron| squadron.class().points());
    100 * points as i32
}

/// The squares that a submarine can go to (4.1). `own` holds the squares of its side's submarines.
pub(super) fn goals(from: Square, own: &[Square]) -> Vec<Square> {
    let mut goals = Vec::with_capacity(24);
    for (files, ranks) in DIRECTIONS {
        let along = (1..=3).filter_map(|far| from.step(files * far, ranks * far));
        goals.extend(along.filter(|to| !own.contains(to)));
    }
    goals
}
