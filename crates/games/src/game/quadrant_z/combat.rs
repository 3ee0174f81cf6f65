//! Combat (clause 3.4): which ships take part, what damage is done, and which ships are lost.
//!
//! Combat depends on ships alone. `view` decides what each side is told, and `rules` applies the losses.
//!
//! Ships and their classes.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use super::Damage;
use super::galaxy::{Quadrant, Quadrants, Square};
use crate::game::{BySeat, Seat};

/// The strength of a ship, written `3/2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Class {
    pub offence: u16,
    pub defence: u16,
}

impl Class {
    /// The cost to build it, and the damage that its loss covers (clause 2.3).
    pub fn size(self) -> u16 {
        self.offence + self.defence
    }
}

impl Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.offence, self.defence)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ship {
    pub no: u16,
    #[serde(flatten)]
    pub class: Class,
    pub at: Square,
}

/// A quadrant in which ships fight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Fight {
    pub quadrant: Quadrant,
    pub sides: BySeat<Force>,
}

/// One side of a fight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Force {
    /// The total offence of its ships that take part, less a point for each that has no enemy on its own
    /// square.
    pub offence: u16,
    pub defence: u16,
    /// The damage that this side takes.
    pub damage: u16,
    /// The cells on which this side's ships take part, one bit each.
    front: u8,
}

/// For each cell, itself and the adjacent cells, one bit each.
const REACH: [u8; 4] = [0b0111, 0b1011, 0b1101, 0b1110];

fn bit(square: Square) -> u8 {
    1 << square.cell()
}

impl Fight {
    /// Computes the fight in a quadrant that holds ships of both sides; `None` if they meet only diagonally.
    fn compute(quadrant: Quadrant, ships: BySeat<&[Ship]>, rule: Damage) -> Option<Fight> {
        let there = |seat: Seat| ships[seat].iter().filter(move |ship| ship.at.quadrant() == quadrant);
        let held = BySeat::from_fn(|seat| there(seat).fold(0, |cells, ship| cells | bit(ship.at)));
        let mut sides = BySeat::from_fn(|seat| {
            let enemy = held[seat.other()];
            let mut force = Force::default();
            let mut apart = 0;
            for (cell, reach) in REACH.iter().enumerate() {
                if reach & enemy != 0 {
                    force.front |= 1 << cell;
                }
            }
            for ship in there(seat).filter(|ship| force.front & bit(ship.at) != 0) {
                force.offence += ship.class.offence;
                force.defence += ship.class.defence;
                apart += u16::from(enemy & bit(ship.at) == 0);
            }
            force.offence = force.offence.saturating_sub(apart);
            force
        });
        for seat in Seat::BOTH {
            sides[seat].damage = match (rule, sides[seat.other()].offence) {
                (_, offence) if offence <= sides[seat].defence => 0,
                (Damage::Excess, offence) => offence - sides[seat].defence,
                (Damage::Full, offence) => offence,
            };
        }
        let met = sides.first.front & held.first != 0;
        met.then_some(Fight { quadrant, sides })
    }

    /// Returns the ships of `seat` that take part.
    pub fn fighting<'a>(&self, seat: Seat, ships: &'a [Ship]) -> impl Iterator<Item = &'a Ship> {
        let quadrant = self.quadrant;
        let front = self.sides[seat].front;
        ships.iter().filter(move |ship| ship.at.quadrant() == quadrant && front & bit(ship.at) != 0)
    }

    /// Whether the owner can choose which of `ships` are lost: some can be spared by losing others.
    pub fn leaves_a_choice(&self, seat: Seat, ships: &[Ship]) -> bool {
        let sizes = || self.fighting(seat, ships).map(|ship| ship.class.size());
        let total: u16 = sizes().sum();
        let damage = self.sides[seat].damage;
        damage > 0 && sizes().min().is_some_and(|smallest| damage <= total - smallest)
    }

    /// Returns the numbers of the ships that `seat` loses, ascending. The `named` ships go first, in order.
    pub fn lost(&self, seat: Seat, ships: &[Ship], named: &[u16]) -> Vec<u16> {
        let mut left = self.sides[seat].damage;
        if left == 0 {
            return Vec::new();
        }
        let mut spared: Vec<Ship> = self.fighting(seat, ships).copied().collect();
        let mut lost = Vec::with_capacity(spared.len());
        for &no in named {
            if left == 0 {
                break;
            }
            if let Some(index) = spared.iter().position(|ship| ship.no == no) {
                left = left.saturating_sub(spared.remove(index).class.size());
                lost.push(no);
            }
        }
        if left > 0 {
            lost.extend(least_set(&spared, left));
        }
        lost.sort_unstable();
        lost
    }
}

/// Returns every fight, ordered by quadrant. `meetings` are the quadrants that hold ships of both sides.
pub(super) fn fights(meetings: Quadrants, ships: BySeat<&[Ship]>, rule: Damage) -> Vec<Fight> {
    meetings.iter().filter_map(|quadrant| Fight::compute(quadrant, ships, rule)).collect()
}

/// Returns the numbers of the ships that cover `damage` with the least total size (`Z-CASUALTIES`). Ties go
/// to the fewest ships, then to the least offence, then to the higher numbers, compared from the highest
/// down. If no set covers the damage, all are lost.
///
/// Dynamic programming over total sizes: trying all sets of a large fleet would take exponential time.
fn least_set(ships: &[Ship], damage: u16) -> Vec<u16> {
    let total: u16 = ships.iter().map(|ship| ship.class.size()).sum();
    if total <= damage {
        return ships.iter().map(|ship| ship.no).collect();
    }
    // best[k][s]: the least cost among the sets of the first k ships with total size s.
    let width = usize::from(total) + 1;
    let mut best: Vec<Cost> = vec![None; width * (ships.len() + 1)];
    best[0] = Some((0, 0));
    for (k, ship) in ships.iter().enumerate() {
        let size = usize::from(ship.class.size());
        let (known, row) = best[k * width..].split_at_mut(width);
        row[..width].copy_from_slice(known);
        for sum in size..width {
            if let Some(with) = with_ship(known[sum - size], ship)
                && row[sum].is_none_or(|without| with < without)
            {
                row[sum] = Some(with);
            }
        }
    }
    let last = &best[ships.len() * width..];
    let mut sum = (usize::from(damage)..width).find(|&sum| last[sum].is_some()).expect("all ships cover it");
    // From the highest number down, take each ship that belongs to one of the best sets.
    let mut set = Vec::new();
    for (k, ship) in ships.iter().enumerate().rev() {
        let size = usize::from(ship.class.size());
        let cost = best[(k + 1) * width + sum];
        if sum >= size && cost.is_some() && with_ship(best[k * width + sum - size], ship) == cost {
            set.push(ship.no);
            sum -= size;
        }
    }
    set
}

/// The number of ships and the total offence of a set; `None` if there is no such set.
type Cost = Option<(u16, u16)>;

fn with_ship(cost: Cost, ship: &Ship) -> Cost {
    cost.map(|(count, offence)| (count + 1, offence + ship.class.offence))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::quadrant_z::combat::Class;
    use fogpost_testing::random::dice;

    fn ship(no: u16, offence: u16, defence: u16, at: &str) -> Ship {
        Ship { no, class: Class { offence, defence }, at: Square::parse(at).unwrap() }
    }

    /// Finds the least set by trying every set.
    fn by_trying(ships: &[Ship], damage: u16) -> Vec<u16> {
        let all = ships.iter().map(|ship| ship.no).collect();
        (0_u32..1 << ships.len())
            .filter_map(|mask| {
                let set: Vec<&Ship> = ships
                    .iter()
                    .enumerate()
                    .filter(|(i, _)| mask & (1 << i) != 0)
                    .map(|(_, s)| s)
                    .rev()
                    .collect();
                let size: u16 = set.iter().map(|ship| ship.class.size()).sum();
                let offence: u16 = set.iter().map(|ship| ship.class.offence).sum();
                let numbers: Vec<u16> = set.iter().map(|ship| ship.no).collect();
                (size >= damage).then_some((size, numbers.len(), offence, std::cmp::Reverse(numbers)))
            })
            .min()
            .map_or(all, |(_, _, _, numbers)| numbers.0.into_iter().rev().collect())
    }

    #[test]
    fn the_least_set_is_the_one_found_by_trying_every_set() {
        let mut dice = dice(7);
        let mut below = |limit: u32| dice(limit) as u16;
        for _ in 0..3000 {
            let ships: Vec<Ship> =
                (0..=below(7)).map(|no| ship(no * 2 + below(2), below(4), 1 + below(3), "M1")).collect();
            let damage = 1 + below(16);
            let mut set = least_set(&ships, damage);
            set.sort_unstable();
            assert_eq!(set, by_trying(&ships, damage), "{ships:?} take {damage}");
        }
    }

    fn fight(first: &[Ship], second: &[Ship]) -> Option<Fight> {
        Fight::compute(Quadrant::parse("M").unwrap(), BySeat::new(first, second), Damage::Excess)
    }

    #[test]
    fn ships_that_meet_only_diagonally_do_not_fight() {
        assert_eq!(fight(&[ship(1, 3, 0, "M1")], &[ship(1, 3, 0, "M4")]), None);
    }

    #[test]
    fn a_ship_of_offence_0_apart_from_the_enemy_costs_a_point_too() {
        let sides = fight(&[ship(1, 3, 0, "M1"), ship(2, 0, 2, "M1")], &[ship(1, 2, 1, "M2")]).unwrap().sides;
        assert_eq!((sides.first.offence, sides.first.defence, sides.first.damage), (1, 2, 0));
        assert_eq!((sides.second.offence, sides.second.defence, sides.second.damage), (1, 1, 0));
    }

    #[test]
    fn a_choice_is_left_only_if_a_ship_can_be_spared() {
        let choice = |damage: u16, sizes: &[u16]| {
            let own: Vec<Ship> = sizes.iter().zip(1..).map(|(&size, no)| ship(no, 0, size, "M1")).collect();
            let mut fight = fight(&own, &[ship(1, 1, 0, "M1")]).unwrap();
            fight.sides.first.damage = damage;
            fight.leaves_a_choice(Seat::First, &own)
        };
        assert!(!choice(0, &[2, 2]));
        assert!(choice(2, &[2, 2]));
        assert!(!choice(3, &[2, 2]));
        assert!(choice(3, &[3, 1]));
        assert!(!choice(4, &[3, 1]));
        assert!(!choice(1, &[5]));
    }
}
