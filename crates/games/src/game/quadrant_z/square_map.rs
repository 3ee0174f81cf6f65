//! A view laid out square by square, from which both the text and the picture of the board are drawn.

use std::fmt::{self, Display};

use super::combat::{Class, Ship};
use super::galaxy::{Quadrant, Sector, Square};
use super::view::{KnownStar, Memory, Movement, Side, View};
use crate::game::{Phase, Seat};

/// A view, with its stars and ships sorted by square.
pub(super) struct SquareMap<'a> {
    pub view: &'a View,
    squares: Vec<Contents<'a>>,
}

/// The known contents of one square.
#[derive(Clone, Default)]
pub(super) struct Contents<'a> {
    pub star: Option<&'a KnownStar>,
    /// The viewer's own ships.
    pub ships: Vec<&'a Ship>,
    /// The known enemy ships.
    pub enemy: Option<EnemyShips>,
    /// These ships one by one, on a board that shows everything.
    pub enemies: Vec<&'a Ship>,
}

impl Contents<'_> {
    /// Whether the viewer knows of nothing on this square.
    pub fn is_empty(&self) -> bool {
        self.star.is_none() && self.ships.is_empty() && self.enemy.is_none()
    }
}

/// The known enemy ships on one square.
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

/// Formats enemy ships as the board shows them: their size, or offence and defence.
impl Display for EnemyShips {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EnemyShips::Sighted(size) => write!(f, "{size}"),
            EnemyShips::Revealed(total) => write!(f, "{}/{}", total.offence, total.defence),
        }
    }
}

/// The news about a quadrant this turn. If several apply, the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// A battle, with what the viewer was told of the enemy.
    Battle(Side<u16>),
    /// Ships of both sides are there.
    Met,
    /// Enemy ships entered.
    Entered,
}

/// The latest news of a quadrant from an earlier turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PastMark {
    pub mark: Mark,
    pub turn: u16,
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
                if view.is_open() {
                    squares[ship.at.index()].enemies.push(ship);
                }
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

    /// Whether the viewer knows all stars of the quadrant, or is the only side to place stars there.
    pub fn is_charted(&self, quadrant: Quadrant) -> bool {
        self.view.enemy_ships.is_some()
            || self.view.context.charted.contains(quadrant)
            || self.sector(quadrant) == Sector::Home(self.view.context.viewer)
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

    /// The latest memory of a quadrant in which nothing happened this turn.
    pub fn past_mark(&self, quadrant: Quadrant) -> Option<PastMark> {
        if self.mark(quadrant).is_some() {
            return None;
        }
        let Memory { intruders: _, entries, standoffs, battles } = self.memory()?;
        let entered = entries.iter().filter(|past| past.news.quadrant == quadrant);
        let met = standoffs.iter().filter(|past| past.news.quadrant == quadrant);
        let fought = battles.iter().filter(|past| past.news.quadrant == quadrant);
        let entered = entered.map(|past| PastMark { mark: Mark::Entered, turn: past.turn });
        let met = met.map(|past| PastMark { mark: Mark::Met, turn: past.turn });
        let fought = fought.map(|past| PastMark { mark: Mark::Battle(past.news.enemy), turn: past.turn });
        entered.chain(met).chain(fought).max_by_key(|past| past.turn)
    }

    /// The size of the enemy ships last seen on a square, and the turn in which they were seen.
    pub fn ghost(&self, square: Square) -> Option<(u16, u16)> {
        let seen = |at: Square| self.at(at).enemy.is_some();
        if square.quadrant().squares().any(seen) {
            return None;
        }
        let past = self.memory()?.intruders.iter().find(|past| past.news.at == square)?;
        Some((past.news.size, past.turn))
    }

    /// The viewer's memory, unless everything is open anyway.
    fn memory(&self) -> Option<&'a Memory> {
        self.view.memory.as_deref().filter(|_| self.view.enemy_ships.is_none())
    }

    /// Returns the moves in this turn of the viewer's ships or, if the board shows everything, of the other side's; without
    /// duplicates.
    pub fn moves(&self, side: Seat) -> Vec<(Square, Square)> {
        if side != self.view.context.viewer {
            return ways(self.view.context.readers.as_ref().map_or(&[], |readers| &readers.moved));
        }
        // A viewer who is not asked for casualties still sees the previous turn.
        let sees_before = self.view.context.phase == Some(Phase::Casualties) && !owes_casualties(self.view);
        let Some(did) = self.view.did.as_deref().filter(|_| !sees_before) else { return Vec::new() };
        ways(&did.moved)
    }

    /// The squares on which ships were lost, if the board shows everything.
    pub fn losses(&self) -> &'a [Square] {
        self.view.context.readers.as_ref().map_or(&[], |readers| &readers.lost)
    }
}

fn ways(moved: &[Movement]) -> Vec<(Square, Square)> {
    let mut ways: Vec<_> = moved.iter().map(|movement| (movement.from, movement.to)).collect();
    ways.sort();
    ways.dedup();
    ways
}

/// Whether the viewer must choose losses. Then the view holds only ships and battles of this turn; the rest
/// dates from the previous turn.
fn owes_casualties(view: &View) -> bool {
    !view.context.fighting.is_empty()
}

#[cfg(test)]
mod tests {
    use super::super::State;
    use super::super::view::{Deeds, Intruder, Movement, Past, Place};
    use super::*;
    use crate::game::{Game, Seat};

    fn at(text: &str) -> Square {
        Square::parse(text).expect("a square")
    }

    #[test]
    fn what_is_remembered_stays_on_the_board_until_there_is_news() {
        let mut view = State::start(&super::super::Options::default()).view(Seat::First);
        let entry = Past { turn: 4, news: Place { quadrant: at("L1").quadrant() } };
        let intruder = Past { turn: 3, news: Intruder { at: at("B2"), size: 5 } };
        view.memory =
            Some(Box::new(Memory { entries: vec![entry], intruders: vec![intruder], ..Memory::default() }));
        let map = SquareMap::new(&view);
        let past = PastMark { mark: Mark::Entered, turn: 4 };
        assert_eq!(map.past_mark(at("L3").quadrant()), Some(past));
        assert_eq!((map.ghost(at("B2")), map.ghost(at("B1"))), (Some((5, 3)), None));

        let mut later = view.clone();
        later.entries.push(at("L1").quadrant());
        later.intruders.push(Intruder { at: at("B1"), size: 2 });
        let map = SquareMap::new(&later);
        assert_eq!(map.past_mark(at("L1").quadrant()), None, "there is newer news");
        assert_eq!(map.ghost(at("B2")), None, "they are seen elsewhere in the quadrant");
    }

    #[test]
    fn ships_that_went_the_same_way_have_one_arrow() {
        let mut view = State::start(&super::super::Options::default()).view(Seat::First);
        let moved = [1, 2].map(|no| Movement { no, from: at("A3"), to: at("B2") }).to_vec();
        view.did = Some(Box::new(Deeds { moved, ..Deeds::default() }));
        assert_eq!(SquareMap::new(&view).moves(Seat::First), [(at("A3"), at("B2"))]);
        view.context.phase = Some(Phase::Casualties);
        assert!(SquareMap::new(&view).moves(Seat::First).is_empty(), "it still sees the turn before");
    }
}
