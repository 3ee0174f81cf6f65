//! The board as text, drawn from a view; its picture stands in `picture`.
//!
//! Each quadrant is a box of two by two squares. A square has two lines: its star, then the ships on it.

use std::fmt::Write as _;

use super::galaxy::{Quadrant, Sector, Square};
use super::picture;
use super::state::Ship;
use super::view::{KnownStar, View};
use crate::game::Board;

/// See [`crate::game::Game::board`].
pub fn board(view: &View) -> Board {
    let chart = Chart::new(view);
    Board { text: text(&chart), svg: picture::draw(&chart) }
}

/// A view, laid out square by square.
pub(super) struct Chart<'a> {
    pub view: &'a View,
    squares: Vec<Contents<'a>>,
}

/// What the viewer knows to be on one square.
#[derive(Clone, Default)]
pub(super) struct Contents<'a> {
    pub star: Option<&'a KnownStar>,
    /// Own.
    pub ships: Vec<&'a Ship>,
    /// The total size of the enemy ships, where there are any.
    pub enemy: u16,
}

/// What the viewer was told of a quadrant this turn; the gravest only.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Battle,
    Met,
    Entered,
}

impl<'a> Chart<'a> {
    fn new(view: &'a View) -> Self {
        let mut squares = vec![Contents::default(); Square::COUNT];
        for star in &view.stars {
            squares[star.at.index()].star = Some(star);
        }
        for ship in &view.ships {
            squares[ship.at.index()].ships.push(ship);
        }
        match &view.enemy_ships {
            Some(enemies) => {
                enemies.iter().for_each(|ship| squares[ship.at.index()].enemy += ship.class.size())
            }
            None if is_asked(view) => {}
            None => {
                view.intruders.iter().for_each(|intruder| squares[intruder.at.index()].enemy = intruder.size)
            }
        }
        Chart { view, squares }
    }

    pub fn was_captured_now(&self, square: Square) -> bool {
        !is_asked(self.view) && self.view.captures.iter().any(|capture| capture.at == square)
    }

    pub fn at(&self, square: Square) -> &Contents<'a> {
        &self.squares[square.index()]
    }

    pub fn sector(&self, quadrant: Quadrant) -> Sector {
        self.view.desk.options.layout.sector(quadrant)
    }

    /// Whether all stars there are known.
    pub fn is_charted(&self, quadrant: Quadrant) -> bool {
        self.view.enemy_ships.is_some() || self.view.desk.charted.contains(quadrant)
    }

    pub fn mark(&self, quadrant: Quadrant) -> Option<Mark> {
        if self.view.battles.iter().any(|battle| battle.quadrant == quadrant) {
            Some(Mark::Battle)
        } else if is_asked(self.view) {
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

/// Whether the seat is asked for its losses: then nothing but its ships and battles is of this turn.
fn is_asked(view: &View) -> bool {
    !view.desk.fighting.is_empty()
}

/// Columns of a square, the blank after it included.
const WIDTH: usize = 6;

const LEGEND: &str = "
3* star   [2] home base   3+ captured by you   3- by the enemy
Below it: 1,2 your ships   x4 four of them   !5 enemies of size 5
=A= your home sector   ~Y~ the enemy's   M? not explored
";

fn text(chart: &Chart<'_>) -> String {
    let mut text = String::new();
    let quadrants: Vec<Quadrant> = Quadrant::all().collect();
    for row in quadrants.chunks(5) {
        for &quadrant in row {
            let _ = write!(text, "+{}", heading(chart, quadrant));
        }
        text.push_str("+\n");
        for cells in [[0, 1], [2, 3]] {
            for line in [star_line, ship_line] {
                for &quadrant in row {
                    text.push('|');
                    for cell in cells {
                        let _ =
                            write!(text, " {:<1$}", line(chart, chart.at(quadrant.square(cell))), WIDTH - 1);
                    }
                }
                text.push_str("|\n");
            }
        }
    }
    for _ in 0..5 {
        let _ = write!(text, "+{:-<1$}", "", 2 * WIDTH);
    }
    text.push_str("+\n");
    text.push_str(LEGEND);
    text
}

/// The upper edge of a quadrant's box: its sector, its letter, and what is to be known of it.
fn heading(chart: &Chart<'_>, quadrant: Quadrant) -> String {
    let line = match chart.sector(quadrant) {
        Sector::Home(seat) if seat == chart.view.desk.viewer => '=',
        Sector::Home(_) => '~',
        Sector::Neutral => '-',
    };
    let fog = if chart.is_charted(quadrant) { line } else { '?' };
    let mark = match chart.mark(quadrant) {
        Some(Mark::Battle) => " battle ",
        Some(Mark::Met) => " both ",
        Some(Mark::Entered) => " entered ",
        None => "",
    };
    let mut heading = format!("{line}{quadrant}{fog}{mark}");
    while heading.len() < 2 * WIDTH {
        heading.push(line);
    }
    heading
}

fn star_line(chart: &Chart<'_>, contents: &Contents<'_>) -> String {
    let Some(star) = contents.star else { return ".".into() };
    let value = if star.base { format!("[{}]", star.value) } else { star.value.to_string() };
    match star.captured_by {
        None if star.base => value,
        None => value + "*",
        Some(by) if by == chart.view.desk.viewer => value + "+",
        Some(_) => value + "-",
    }
}

fn ship_line(_: &Chart<'_>, contents: &Contents<'_>) -> String {
    let enemy = if contents.enemy > 0 { format!("!{}", contents.enemy) } else { String::new() };
    let room = WIDTH - 1 - enemy.len().min(WIDTH - 1);
    let numbers: Vec<String> = contents.ships.iter().map(|ship| ship.no.to_string()).collect();
    let own = numbers.join(",");
    let own = if own.len() <= room { own } else { format!("x{}", contents.ships.len()) };
    own + &enemy
}
