//! The orders of Quadrant Z as they are written. `check` and `setup` decide whether they may stand.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use super::combat::Class;
use super::galaxy::{Quadrant, Square};
use crate::game::{Syntax, named_enum, not_understood, two_squares};

/// An order. Numbers are at most [`MOST`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Places a star in the setup (clause 2.1).
    Star { at: Square, value: u16, base: bool },
    /// Places a ship in the setup (clause 2.3).
    Place { no: u16, class: Class, at: Square },
    /// A ready setup, which in a letter stands for a whole setup (`Z-READY`).
    Ready(ReadySetup),
    /// Builds a ship (clause 3.1).
    Build { class: Class, at: Square },
    /// Moves a ship (clause 3.2).
    Move { no: u16, from: Option<Square>, to: Square },
    /// This ship stays (clause 3.2).
    Hold { no: u16 },
    /// Every ship without an order stays (clause 3.2).
    HoldAll,
    /// Captures a star (clause 3.5).
    Capture { at: Square },
    /// The standing list (`Z-CASUALTIES`). Empty for `LOSSES NONE`.
    Losses { ships: Vec<u16> },
    /// The ships to lose first in one quadrant (`Z-CASUALTIES`, option `ask`).
    Lose { quadrant: Quadrant, ships: Vec<u16> },
}

named_enum! {
    /// A family of ready setups. The audit repeats every draw, so no family is ever changed: a better one
    /// gets another name.
    pub enum ReadySetup {
        Balanced = "balanced",
        Raid = "raid",
        Guard = "guard",
    }
}

/// The subject of an order. A filing has one order for each subject.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Concern {
    /// A star to be placed on this square.
    Star(Square),
    /// A ship to be placed or moved.
    Ship(u16),
    AllShips,
    Capture(Square),
    Losses,
    LossesIn(Quadrant),
}

impl Order {
    /// Returns the subject of the order; `None` if there may be several such orders.
    pub(super) fn concerns(&self) -> Option<Concern> {
        Some(match self {
            Order::Star { at, .. } => Concern::Star(*at),
            Order::Place { no, .. } | Order::Move { no, .. } | Order::Hold { no } => Concern::Ship(*no),
            Order::Build { .. } | Order::Ready(_) => return None,
            Order::HoldAll => Concern::AllShips,
            Order::Capture { at } => Concern::Capture(*at),
            Order::Losses { .. } => Concern::Losses,
            Order::Lose { quadrant, .. } => Concern::LossesIn(*quadrant),
        })
    }
}

/// The greatest number in an order.
pub const MOST: u16 = 999;

impl Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Star { at, value, base } => {
                write!(f, "STAR {at} {value}")?;
                if *base { f.write_str(" BASE") } else { Ok(()) }
            }
            Order::Place { no, class, at } => write!(f, "SHIP {no} {class} {at}"),
            Order::Ready(setup) => write!(f, "SETUP {setup}"),
            Order::Build { class, at } => write!(f, "BUILD {class} AT {at}"),
            Order::Move { no, from: Some(from), to } => write!(f, "SHIP {no} {from} TO {to}"),
            Order::Move { no, from: None, to } => write!(f, "SHIP {no} TO {to}"),
            Order::Hold { no } => write!(f, "SHIP {no} HOLD"),
            Order::HoldAll => f.write_str("HOLD"),
            Order::Capture { at } => write!(f, "CAPTURE {at}"),
            Order::Losses { ships } if ships.is_empty() => f.write_str("LOSSES NONE"),
            Order::Losses { ships } => {
                f.write_str("LOSSES")?;
                ships.iter().try_for_each(|no| write!(f, " {no}"))
            }
            Order::Lose { quadrant, ships } => {
                write!(f, "LOSE {quadrant}")?;
                ships.iter().try_for_each(|no| write!(f, " {no}"))
            }
        }
    }
}

/// Implements [`crate::game::Game::parse`].
pub fn parse(line: &str) -> Result<Vec<Order>, Syntax> {
    let mut line = line.to_ascii_uppercase();
    if line.contains('>') {
        line = line.replace("->", " TO ");
    }
    let words = words(&line);
    let Some((&verb, rest)) = words.split_first() else { return Err(Syntax::Unknown) };
    let (read, example) = match verb {
        "STAR" => (star(rest), "STAR A1 3 BASE"),
        "SHIP" => (ship(rest), "SHIP 1 TO B2"),
        // Without a number, the line is prose.
        "SHIPS" if rest.first().is_some_and(|word| number(word).is_ok()) => {
            (Err("SHIPS needs the numbers of ships, then TO and a square, or HOLD.".into()), "SHIP 1 TO B2")
        }
        "ALL" if matches!(rest, ["IN", _, "TO", _]) => {
            (Err("ALL IN needs a quadrant, TO and a square.".into()), "SHIP 1 TO B2")
        }
        "REST" if matches!(rest, ["HOLD" | "HOLDS"]) => {
            (Err("REST HOLD stands for HOLD in a letter.".into()), "HOLD")
        }
        "SETUP" => {
            let [name] = rest else { return Err(Syntax::Unknown) };
            let setup = ReadySetup::parse(name).ok_or(Syntax::Unknown)?;
            (Ok(Order::Ready(setup)), "")
        }
        "BUILD" => (build(rest), "BUILD 2/1 AT A1"),
        "HOLD" if matches!(rest, [] | ["ALL"] | ["ALL", "SHIPS"]) => (Ok(Order::HoldAll), ""),
        "HOLD" => (Err("HOLD stands alone: every ship without an order stays.".into()), "HOLD"),
        "CAPTURE" => (capture(rest), "CAPTURE A1"),
        "LOSSES" => (losses(rest), "LOSSES 3 1 2"),
        "LOSE" => (lose(rest), "LOSE Q 3 1"),
        _ => return Err(Syntax::Unknown),
    };
    read.map(|order| vec![order]).map_err(|reason| Syntax::Malformed { reason, example })
}

/// Splits a line in capitals into words.
pub(super) fn words(line: &str) -> Vec<&str> {
    line.split(|c: char| c.is_whitespace() || matches!(c, ':' | ',' | ';'))
        .map(|word| word.trim_end_matches('.'))
        .flat_map(split_word)
        .filter(|word| !word.is_empty())
        .collect()
}

/// Splits a word written without spaces, such as `SHIP1` or `A3-B1`. Some of the results may be empty.
fn split_word(word: &str) -> [&str; 3] {
    if let Some(number) =
        word.strip_prefix("SHIP").filter(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    {
        return ["SHIP", number, ""];
    }
    match two_squares(word, |word| Square::parse(word).is_some()) {
        Some((from, to)) => [from, "TO", to],
        None => [word, "", ""],
    }
}

/// A parsed value, or what was not understood.
type Read<T> = Result<T, String>;

fn star(words: &[&str]) -> Read<Order> {
    let (at, value, base) = match *words {
        [at, value] => (at, value, false),
        [at, value, "BASE"] => (at, value, true),
        _ => {
            return Err(format!(
                "{}STAR needs a square and a value, and BASE at your home base; nothing else.",
                not_understood(&strange_words(words))
            ));
        }
    };
    Ok(Order::Star { at: square(at)?, value: number(value)?, base })
}

fn ship(words: &[&str]) -> Read<Order> {
    let Some((&no, rest)) = words.split_first() else {
        return Err("SHIP needs the number of a ship and what it does.".into());
    };
    let no = number(no)?;
    let mut rest = rest;
    while let ["MOVE" | "MOVES" | "GOES" | "FROM", after @ ..] = rest {
        rest = after;
    }
    match *rest {
        ["HOLD" | "HOLDS" | "STAYS"] => Ok(Order::Hold { no }),
        ["TO", to] => Ok(Order::Move { no, from: None, to: square(to)? }),
        [from, "TO" | "-", to] => Ok(Order::Move { no, from: Some(square(from)?), to: square(to)? }),
        [from, to] if Square::parse(from).is_some() && Square::parse(to).is_some() => {
            Ok(Order::Move { no, from: Some(square(from)?), to: square(to)? })
        }
        [class, at] | [class, "START" | "AT", at] if class.contains('/') => {
            Ok(Order::Place { no, class: self::class(class)?, at: square(at)? })
        }
        _ => Err(format!(
            "{}SHIP {no} needs TO and a square, or HOLD; in a setup its offence and defence and a square.",
            not_understood(&strange_words(rest))
        )),
    }
}

/// Returns the words that have no meaning in any order.
fn strange_words<'a>(words: &[&'a str]) -> Vec<&'a str> {
    let is_known = |word: &str| {
        matches!(word, "TO" | "AT" | "START" | "HOLD" | "BASE" | "NONE")
            || word.starts_with(|c: char| c.is_ascii_digit())
            || Square::parse(word).is_some()
    };
    words.iter().copied().filter(|word| !is_known(word)).collect()
}

fn build(words: &[&str]) -> Read<Order> {
    match *words {
        [class, "AT" | "ON", at] | [class, at] if class.contains('/') => {
            Ok(Order::Build { class: self::class(class)?, at: square(at)? })
        }
        _ => Err(format!(
            "{}BUILD needs an offence and a defence, AT and a square.",
            not_understood(&strange_words(words))
        )),
    }
}

fn capture(words: &[&str]) -> Read<Order> {
    match *words {
        [at] | ["STAR" | "AT", at] | ["STAR", "AT", at] => Ok(Order::Capture { at: square(at)? }),
        _ => Err(format!(
            "{}CAPTURE needs one square; write a line for each.",
            not_understood(&strange_words(words))
        )),
    }
}

fn losses(words: &[&str]) -> Read<Order> {
    match *words {
        ["NONE"] => Ok(Order::Losses { ships: Vec::new() }),
        [] => Err("LOSSES needs the numbers of ships in the order in which they go, or NONE.".into()),
        _ => Ok(Order::Losses { ships: numbers(words)? }),
    }
}

fn lose(words: &[&str]) -> Read<Order> {
    match *words {
        [quadrant, ref ships @ ..] if !ships.is_empty() => {
            let quadrant = Quadrant::parse(quadrant)
                .ok_or_else(|| format!("{quadrant} is not a quadrant; quadrants are A to Y."))?;
            Ok(Order::Lose { quadrant, ships: numbers(ships)? })
        }
        _ => Err("LOSE needs a quadrant and the numbers of ships in the order in which they go.".into()),
    }
}

fn numbers(words: &[&str]) -> Read<Vec<u16>> {
    words.iter().map(|word| number(word)).collect()
}

pub(super) fn number(word: &str) -> Read<u16> {
    let digits = word.strip_prefix('#').unwrap_or(word);
    let read = digits.parse().ok().filter(|&n| n <= MOST && digits.bytes().all(|b| b.is_ascii_digit()));
    read.ok_or_else(|| format!("{word} is not a whole number from 0 to {MOST}."))
}

fn square(word: &str) -> Read<Square> {
    Square::parse(word).ok_or_else(|| {
        format!("{word} is not a square; a square is a quadrant from A to Y and a number from 1 to 4.")
    })
}

fn class(word: &str) -> Read<Class> {
    let (offence, defence) = word
        .split_once('/')
        .ok_or_else(|| format!("{word} is not a ship; write its offence and defence as 3/2."))?;
    Ok(Class { offence: number(offence)?, defence: number(defence)? })
}
