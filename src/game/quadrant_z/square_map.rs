//! A view laid out square by square, from which both the text and the picture of the board are drawn.

use std::fmt::{self, Display};

use super::fleet::{Class, Ship};
use super::galaxy::{Quadrant, Sector, Square};
use super::view::{KnownStar, Side, View};

/// A view, with its stars and ships sorted by square.
pub(super) struct SquareMap<'a> {
    pub view: &'a View,
    squares: Vec<Contents<'a>>,
}

/// What the viewer knows to be on one square.
#[derive(Clone, Default)]
pub(super) struct Contents<'a> {
    pub star: Option<&'a KnownStar>,
    /// The viewer's own ships.
    pub ships: Vec<&'a Ship>,
    /// The known enemy ships.
    pub enemy: Option<EnemyShips>,
}

/// What the viewer knows of enemy ships on one square.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EnemyShips {
    /// Their total size.
    Sighted(u16),
    /// Their total offence and defence, once everything is open.
    Revealed(Class),
}

impl EnemyShips {
    pub fn size(self) -> u16 {
        match self {
            EnemyShips::Sighted(size) => size,
            EnemyShips::Revealed(total) => total.size(),
        }
    }

    fn and(self, class: Class) -> EnemyShips {
        match self {
            EnemyShips::Sighted(size) => EnemyShips::Sighted(size + class.size()),
            EnemyShips::Revealed(total) => EnemyShips::Revealed(Class {
                offence: total.offence + class.offence,
                defence: total.defence + class.defence,
            }),
        }
    }
}

/// As on the board: `size 4`, or offence and defence.
impl Display for EnemyShips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EnemyShips::Sighted(size) => write!(f, "size {size}"),
            EnemyShips::Revealed(total) => write!(f, "{}/{}", total.offence, total.defence),
        }
    }
}

/// What the viewer was told about a quadrant this turn. If several apply, the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A battle, with what the viewer was told of the enemy.
    Battle(Side<u16>),
    /// Ships of both sides are there.
    Met,
    /// Enemy ships entered.
    Entered,
}

impl<'a> SquareMap<'a> {
    pub fn new(view: &'a View) -> Self {
        let mut squares = vec![Contents::default(); Square::COUNT];
        for star in &view.stars {
            squares[star.at.index()].star = Some(star);
        }
        for ship in &view.ships {
            squares[ship.at.index()].ships.push(ship);
        }
        if let Some(enemies) = &view.enemy_ships {
            for ship in enemies {
                let enemy = &mut squares[ship.at.index()].enemy;
                *enemy = Some(enemy.map_or(EnemyShips::Revealed(ship.class), |known| known.and(ship.class)));
            }
        } else if !owes_casualties(view) {
            for intruder in &view.intruders {
                squares[intruder.at.index()].enemy = Some(EnemyShips::Sighted(intruder.size));
            }
        }
        SquareMap { view, squares }
    }

    pub fn was_captured_now(&self, square: Square) -> bool {
        !owes_casualties(self.view) && self.view.captures.iter().any(|capture| capture.at == square)
    }

    pub fn at(&self, square: Square) -> &Contents<'a> {
        &self.squares[square.index()]
    }

    pub fn sector(&self, quadrant: Quadrant) -> Sector {
        self.view.context.options.layout.sector(quadrant)
    }

    /// Whether the viewer knows all stars of the quadrant.
    pub fn is_charted(&self, quadrant: Quadrant) -> bool {
        self.view.enemy_ships.is_some() || self.view.context.charted.contains(quadrant)
    }

    pub fn mark(&self, quadrant: Quadrant) -> Option<Mark> {
        if let Some(battle) = self.view.battles.iter().find(|battle| battle.quadrant == quadrant) {
            Some(Mark::Battle(battle.enemy))
        } else if owes_casualties(self.view) {
            None
        } else if self.view.standoffs.contains(&quadrant) {
            Some(Mark::Met)
        } else if self.view.entries.contains(&quadrant) {
            Some(Mark::Entered)
        } else {
            None
        }
    }
}

/// Whether the viewer must choose losses. Then the view holds only ships and battles of this turn; the rest dates
/// from the turn before.
fn owes_casualties(view: &View) -> bool {
    !view.context.fighting.is_empty()
}
