//! Orders as people write them: parses a line, and writes an order canonically. Does not depend on a match.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use super::fleet::{Class, Square};
use crate::game::{Syntax, named_enum, not_understood, two_squares};

/// An order of any phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Order {
    /// A carrier and its squadron (2.1).
    Carrier { no: Option<u16>, at: Square, squadron: Option<Square> },
    /// Battleships, cruisers or destroyers (2.1).
    Ships { class: Class, at: Vec<Square> },
    /// Submarines of a setup, with or without numbers (2.1).
    Submarines(Vec<(Option<u16>, Square)>),
    /// A ready setup, which in a letter stands for a whole setup (`P-READY`).
    Ready(ReadySetup),
    /// A surface move, with the class if one was written (3).
    Move { class: Option<Class>, from: Square, to: Square },
    /// A surface move of a carrier or squadron by its number (3). `check` turns it into one between squares.
    Numbered { class: Class, no: u16, to: Square },
    /// An attack from the surface on the area with this corner (3.6).
    Asw(Square),
    /// The order for a submarine phase (4).
    Submarine(SubmarineOrder),
}

/// The order of one side for a submarine phase (4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SubmarineOrder {
    /// A move, with its starting square if that was written (4.1).
    Move { no: u16, from: Option<Square>, to: Square },
    /// A torpedo at the ship on this square (4.2).
    Fire { no: u16, at: Square },
    /// A search of the area with this corner (4.3).
    Sonar { no: u16, area: Square },
    /// Every submarine stays where it is (4).
    Pass,
}

named_enum! {
    /// A family of ready setups. The audit repeats every draw, so no family is ever changed: a better one
    /// gets another name.
    pub enum ReadySetup {
        Line = "line",
        Wings = "wings",
        Deep = "deep",
    }
}

impl SubmarineOrder {
    /// The number of the submarine that acts; `None` if all pass.
    pub fn no(self) -> Option<u16> {
        match self {
            SubmarineOrder::Move { no, .. }
            | SubmarineOrder::Fire { no, .. }
            | SubmarineOrder::Sonar { no, .. } => Some(no),
            SubmarineOrder::Pass => None,
        }
    }
}

/// Returns the one order of a submarine turn; `None` for an empty filing, which passes (4).
pub fn submarine_order(orders: &[Order]) -> Option<SubmarineOrder> {
    match orders.first()? {
        Order::Submarine(order) => Some(*order),
        Order::Carrier { .. }
        | Order::Ships { .. }
        | Order::Submarines(_)
        | Order::Ready(_)
        | Order::Move { .. }
        | Order::Numbered { .. }
        | Order::Asw(_) => None,
    }
}

impl Display for SubmarineOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SubmarineOrder::Move { no, from: Some(from), to } => write!(f, "U{no} {from} {to}"),
            SubmarineOrder::Move { no, from: None, to } => write!(f, "U{no} TO {to}"),
            SubmarineOrder::Fire { no, at } => write!(f, "U{no} FIRE {at}"),
            SubmarineOrder::Sonar { no, area } => write!(f, "U{no} SONAR {area}"),
            SubmarineOrder::Pass => f.write_str("SUBS PASS"),
        }
    }
}

impl Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Order::Carrier { no, at, squadron } => {
                f.write_str("CARRIER ")?;
                if let Some(no) = no {
                    write!(f, "V{no} ")?;
                }
                write!(f, "{at}")?;
                squadron.map_or(Ok(()), |squadron| write!(f, " SQUADRON {squadron}"))
            }
            Order::Ships { class, at } => {
                f.write_str(&class.name().to_ascii_uppercase())?;
                at.iter().try_for_each(|at| write!(f, " {at}"))
            }
            Order::Submarines(at) => {
                f.write_str("SUBMARINE")?;
                at.iter().try_for_each(|(no, at)| match no {
                    Some(no) => write!(f, " U{no} {at}"),
                    None => write!(f, " {at}"),
                })
            }
            Order::Ready(setup) => write!(f, "SETUP {setup}"),
            Order::Move { class: Some(class), from, to } => write!(f, "{}{from}-{to}", class.letter()),
            Order::Move { class: None, from, to } => write!(f, "{from}-{to}"),
            Order::Numbered { class, no, to } => write!(f, "{}{no} {to}", class.letter()),
            Order::Asw(area) => write!(f, "ASW {area}"),
            Order::Submarine(order) => order.fmt(f),
        }
    }
}

/// Parses a line. Ignores case, spacing, commas, semicolons, colons and full stops; reads a hyphen or an
/// arrow as `TO`.
pub fn parse(line: &str) -> Result<Vec<Order>, Syntax> {
    let plain = line.to_ascii_uppercase().replace("->", " TO ").replace('-', " TO ");
    let words: Vec<&str> = plain
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':'))
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| !word.is_empty())
        .flat_map(split_word)
        .collect();
    let Some((first, rest)) = words.split_first() else { return Err(Syntax::Unknown) };
    let order = match *first {
        "CARRIER" | "CARRIERS" => carrier(rest)?,
        "BATTLESHIP" | "BATTLESHIPS" => ships(Class::Battleship, rest)?,
        "CRUISER" | "CRUISERS" => ships(Class::Cruiser, rest)?,
        "DESTROYER" | "DESTROYERS" => ships(Class::Destroyer, rest)?,
        "SUBMARINE" | "SUBMARINES" => submarines(rest)?,
        "SETUP" => {
            let [name] = rest else { return Err(Syntax::Unknown) };
            Order::Ready(ReadySetup::parse(name).ok_or(Syntax::Unknown)?)
        }
        "MOVE" => surface_move(rest)?,
        "ASW" => Order::Asw(area(rest, "ASW K7")?),
        "SUBS" if rest == ["PASS"] => Order::Submarine(SubmarineOrder::Pass),
        "PASS" if rest.is_empty() => Order::Submarine(SubmarineOrder::Pass),
        "HOLD" if rest.is_empty() => {
            return malformed(
                "No ship can hold for its side: in a surface turn one moves or attacks. Submarines can pass.",
                "SUBS PASS",
            );
        }
        "SUBS" | "PASS" => return malformed("To let your submarines pass, write SUBS PASS.", "SUBS PASS"),
        "SQUADRON" | "SQUADRONS" => {
            return malformed("A squadron is placed on the line of its carrier.", CARRIER);
        }
        "FIRE" | "SONAR" => return malformed("The line does not say which submarine.", "U2 FIRE K7"),
        word => {
            if let Some(no) = number(word, 'U') {
                Order::Submarine(submarine(no, rest)?)
            } else if begins_like_a_move(word, rest) {
                surface_move(&words)?
            } else {
                return Err(Syntax::Unknown);
            }
        }
    };
    Ok(vec![order])
}

/// Splits `A3XB1` and `A3B1`, in capitals and perhaps after the letter of a class, into two squares.
fn split_word(word: &str) -> Vec<&str> {
    let is_square = |word: &str| Square::parse(word).is_some();
    if let Some((from, to)) = two_squares(word, is_square) {
        return vec![from, to];
    }
    if let Some((ship, to)) = word.split_once('X')
        && numbered_ship(ship).is_some()
        && is_square(to)
    {
        return vec![ship, to];
    }
    let class = word.chars().next().and_then(Class::of_letter);
    match class.and_then(|_| two_squares(&word[1..], is_square)) {
        // The letter stays on the first square.
        Some((from, to)) => vec![&word[..=from.len()], to],
        None => vec![word],
    }
}

const CARRIER: &str = "CARRIER D2 SQUADRON E3";

fn malformed<T>(reason: impl Display, example: &'static str) -> Result<T, Syntax> {
    Err(Syntax::Malformed { reason: reason.to_string(), example })
}

/// Whether the words begin like `D2…`, `DD2…` or `V1…`, or are a class letter followed by a square.
fn begins_like_a_move(word: &str, rest: &[&str]) -> bool {
    let mut chars = word.chars();
    let ship = chars.next().and_then(Class::of_letter).is_some();
    let after = chars.as_str();
    begins_like_a_square(word)
        || (ship && (begins_like_a_square(after) || after.starts_with(|c: char| c.is_ascii_digit())))
        || (ship && after.is_empty() && rest.first().is_some_and(|next| begins_like_a_square(next)))
}

fn begins_like_a_square(text: &str) -> bool {
    let mut chars = text.chars();
    matches!((chars.next(), chars.next()), (Some('A'..='P'), Some('0'..='9')))
}

/// The number in `V2` or `U5`, from 1, without leading zeros.
fn number(word: &str, letter: char) -> Option<u16> {
    let digits = word.strip_prefix(letter)?;
    let plain = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
    if plain { digits.parse().ok() } else { None }
}

fn square(word: &str, example: &'static str) -> Result<Square, Syntax> {
    match Square::parse(word) {
        Some(square) => Ok(square),
        None => malformed(format!("{word} is not a square of the board, which has A1 to P16."), example),
    }
}

fn carrier(words: &[&str]) -> Result<Order, Syntax> {
    let (no, words) = match words {
        [first, rest @ ..] if number(first, 'V').is_some() => (number(first, 'V'), rest),
        words => (None, words),
    };
    match words {
        [at] => Ok(Order::Carrier { no, at: square(at, CARRIER)?, squadron: None }),
        [at, "SQUADRON", squadron] => {
            Ok(Order::Carrier { no, at: square(at, CARRIER)?, squadron: Some(square(squadron, CARRIER)?) })
        }
        [no, "TO", _] | ["TO", no]
            if no.bytes().all(|byte| byte.is_ascii_digit()) || Square::parse(no).is_some() =>
        {
            malformed("A ship moves from its square, or as a carrier by its number: D2-D3, V1-D3.", "V1-D3")
        }
        _ => malformed(
            "One carrier stands on a line: its square, then the word SQUADRON and the square of its squadron, \
             if it has one.",
            CARRIER,
        ),
    }
}

fn ships(class: Class, words: &[&str]) -> Result<Order, Syntax> {
    let example = match class {
        Class::Battleship => "BATTLESHIP A1 B1",
        Class::Cruiser => "CRUISER C1 D1",
        Class::Carrier | Class::Squadron | Class::Destroyer => "DESTROYER E2 F2",
    };
    if words.is_empty() {
        return malformed(format!("The line does not say where the {} stands.", class.name()), example);
    }
    let at: Result<Vec<_>, _> = words.iter().map(|word| square(word, example)).collect();
    Ok(Order::Ships { class, at: at? })
}

fn submarines(words: &[&str]) -> Result<Order, Syntax> {
    const EXAMPLE: &str = "SUBMARINE U1 G5";
    let mut placed = Vec::new();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let no = number(word, 'U');
        let at = if no.is_some() { words.next() } else { Some(word) };
        let Some(at) = at else {
            return malformed(format!("The line does not say where {word} stands."), EXAMPLE);
        };
        placed.push((no, square(at, EXAMPLE)?));
    }
    if placed.is_empty() {
        return malformed("The line does not say where the submarine stands.", EXAMPLE);
    }
    Ok(Order::Submarines(placed))
}

fn surface_move(words: &[&str]) -> Result<Order, Syntax> {
    const EXAMPLE: &str = "D2-E4";
    if let [ship, to] | [ship, "TO", to] = words
        && let Some((class, no)) = numbered_ship(ship)
    {
        return Ok(Order::Numbered { class, no, to: square(to, EXAMPLE)? });
    }
    let (class, origin, rest) = match words {
        [first, origin, rest @ ..] if class_alone(first).is_some() => (class_alone(first), *origin, rest),
        [first, rest @ ..] => match first.chars().next().and_then(Class::of_letter) {
            Some(class) if Square::parse(first).is_none() && Square::parse(&first[1..]).is_some() => {
                (Some(class), &first[1..], rest)
            }
            _ => (None, *first, rest),
        },
        [] => return malformed("The line does not say what moves.", EXAMPLE),
    };
    match rest {
        [to] | ["TO", to] => {
            Ok(Order::Move { class, from: square(origin, EXAMPLE)?, to: square(to, EXAMPLE)? })
        }
        _ => {
            let strange: Vec<&str> = words.iter().copied().filter(|word| !is_known(word)).collect();
            let strange = not_understood(&strange);
            malformed(format!("{strange}A move is the square of a ship and the square it goes to."), EXAMPLE)
        }
    }
}

/// Whether a word has a meaning in some surface move.
fn is_known(word: &str) -> bool {
    let begins_with_class = word.chars().next().and_then(Class::of_letter).is_some();
    word == "TO" || Square::parse(word).is_some() || begins_with_class && word.get(1..).is_some_and(is_short)
}

/// Whether a text can follow the letter of a class in one word: it is empty, a number or a square.
fn is_short(text: &str) -> bool {
    text.is_empty() || text.bytes().all(|byte| byte.is_ascii_digit()) || Square::parse(text).is_some()
}

/// The class and number in `V1` or `S2`. No file of the board has these letters, so this is not a square.
fn numbered_ship(word: &str) -> Option<(Class, u16)> {
    let of = |letter| number(word, letter).filter(|no| *no > 0);
    of('V').map(|no| (Class::Carrier, no)).or_else(|| of('S').map(|no| (Class::Squadron, no)))
}

fn class_alone(word: &str) -> Option<Class> {
    let mut chars = word.chars();
    let class = chars.next().and_then(Class::of_letter);
    class.filter(|_| chars.next().is_none())
}

/// Parses the south-west corner of an area. `check` decides whether the area is on the board.
fn area(words: &[&str], example: &'static str) -> Result<Square, Syntax> {
    match words {
        [corner] => square(corner, example),
        _ => malformed("An area is named by one square, the one in its south-west.", example),
    }
}

fn submarine(no: u16, words: &[&str]) -> Result<SubmarineOrder, Syntax> {
    const EXAMPLE: &str = "U2 K5 M7";
    match words {
        ["FIRE", at] => Ok(SubmarineOrder::Fire { no, at: square(at, "U2 FIRE K7")? }),
        ["SONAR", rest @ ..] => Ok(SubmarineOrder::Sonar { no, area: area(rest, "U2 SONAR K7")? }),
        ["TO", to] => Ok(SubmarineOrder::Move { no, from: None, to: square(to, EXAMPLE)? }),
        [from, to] | [from, "TO", to] => {
            Ok(SubmarineOrder::Move { no, from: Some(square(from, EXAMPLE)?), to: square(to, EXAMPLE)? })
        }
        _ => malformed(
            "A submarine moves (U2 K5 M7, or U2 TO M7), fires (U2 FIRE K7) or listens (U2 SONAR K7).",
            EXAMPLE,
        ),
    }
}
