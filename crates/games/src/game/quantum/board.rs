//! The board of Quantum as text.

use std::fmt::Write as _;

use super::pieces::{Spot, Stack};
use super::state::{Last, State};
use super::view::View;
use crate::game::{Game, Seat};

/// The squares that the last move went from and to.
pub(super) fn last_move(last: Option<Last>) -> Option<(Spot, Spot)> {
    last.and_then(|last| last.from.zip(last.to))
}

/// A stack as text, such as `S3`: the kind, in lower case for Second, and the height if above 1.
fn name(stack: Stack) -> String {
    let letter = match stack.side {
        Seat::First => stack.kind.letter(),
        Seat::Second => stack.kind.letter().to_ascii_lowercase(),
    };
    if stack.height == 1 { letter.to_string() } else { format!("{letter}{}", stack.height) }
}

/// The letters of the files, as the reader sees them.
fn files(view: &View) -> String {
    let letters = match view.viewer {
        Seat::First => "A     B     C     D     E     F     G     H",
        Seat::Second => "H     G     F     E     D     C     B     A",
    };
    format!("     {letters}\n")
}

/// Counts each side's stacks, names those of several pieces, the highest first, and says where the last move went.
pub(super) fn name_of(view: &View) -> String {
    let side = |side: Seat| {
        let own: Vec<_> = view.stacks.stacks().filter(|(_, stack)| stack.side == side).collect();
        let mut heights: Vec<_> =
            own.iter().map(|(_, stack)| stack.height).filter(|height| *height > 1).collect();
        heights.sort_unstable_by(|one, other| other.cmp(one));
        heights.dedup();
        let of_height = |height: u8| {
            let places = own.iter().filter(|(_, stack)| stack.height == height);
            format!(", {height} high on{}", places.map(|(at, _)| format!(" {at}")).collect::<String>())
        };
        let high: String = heights.into_iter().map(of_height).collect();
        let count = match own.len() {
            1 => "1 stack".to_owned(),
            count => format!("{count} stacks"),
        };
        format!("{}: {count}{high}.", State::RULEBOOK.sides[side])
    };
    let captured = if view.last.is_some_and(|last| last.stacked) { ", and captured" } else { "" };
    let last =
        last_move(view.last).map(|(from, to)| format!(" The last move went from {from} to {to}{captured}."));
    format!("{} {}{}", side(Seat::First), side(Seat::Second), last.unwrap_or_default())
}

pub(super) fn text(view: &View) -> String {
    let last = last_move(view.last);
    let mut text = files(view);
    for row in (0..8).rev() {
        let spots: Vec<Spot> = (0..8).filter_map(|column| Spot::new(column, row)).collect();
        let spots = spots.into_iter().map(|spot| spot.turned_for(view.viewer));
        let mut cells = String::new();
        let mut rank = 0;
        for spot in spots {
            rank = spot.rank() + 1;
            let cell = match view.stacks[spot] {
                Some(stack) if stack.is_tower() => format!("[{}]", name(stack)),
                Some(stack) => format!(" {}", name(stack)),
                None if last.is_some_and(|(from, _)| from == spot) => "( )".to_owned(),
                None => " .".to_owned(),
            };
            let mark = if last.is_some_and(|(_, to)| to == spot) { "<" } else { "" };
            write!(cells, "{:6}", cell + mark).expect("writing to a String cannot fail");
        }
        // Without the dash, spam filters take the first rows for a Bitcoin address that is spelled out.
        writeln!(text, " {rank}- {cells}{rank}").expect("writing to a String cannot fail");
    }
    text.push_str(&files(view));
    text.push_str("\nS C Q  square, circle and queen of South; s c q of North.\n");
    let stacks = || view.stacks.stacks().map(|(_, stack)| stack);
    let stack = stacks().find(|stack| stack.height > 1 && !stack.is_tower());
    let stack = stack.map(|stack| format!("a stack of {} is {}", stack.height, name(stack)));
    let tower = stacks().find(|stack| stack.is_tower());
    let tower = tower.map(|tower| format!("a tower of {} is [{}]", tower.height, name(tower)));
    let shown: Vec<String> = stack.into_iter().chain(tower).collect();
    if !shown.is_empty() {
        let mut sentence = shown.join(", ");
        sentence.replace_range(..1, "A");
        writeln!(text, "{sentence}.").expect("writing to a String cannot fail");
    }
    if last.is_some() {
        text.push_str("The last move went from ( ) to <.\n");
    }
    text
}
