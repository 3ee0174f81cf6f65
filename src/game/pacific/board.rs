//! The board as text: four columns a square.

use std::fmt::Write as _;

use super::fleet::{Ship, ShipKind, Square};
use super::picture;
use super::shown::{known_submarines, recent_attacks};
use super::view::{Notice, View};
use crate::game::{Board, Seat};

pub fn board(view: &View) -> Board {
    Board { text: text(view), picture: picture::draw(view) }
}

fn text(view: &View) -> String {
    let places = |row: u8| (0..16).filter_map(move |column| Square::new(column, row));
    let files: String = places(0)
        .map(|place| format!(" {}  ", char::from(b'A' + place.turned_for(view.viewer).file())))
        .collect();
    let mut text = format!("  {}\n", files.trim_end());
    for row in (0..16).rev() {
        let squares = || places(row).map(|place| place.turned_for(view.viewer));
        let cells: String = squares().map(|at| cell(view, at)).collect();
        let rank = squares().next().map_or(0, |at| at.rank() + 1);
        writeln!(text, "{rank:>2}{}", cells.trim_end()).expect("writing to a String cannot fail");
        if row == 8 {
            writeln!(text, "   {}", "- ".repeat(31).trim_end()).expect("writing to a String cannot fail");
        }
    }
    text + &legend(view)
}

/// Four columns: a mark, two for the ship, or the submarine on open water, and one for what is below.
fn cell(view: &View, at: Square) -> String {
    let mark = view.news.iter().find_map(|notice| mark(notice, at)).unwrap_or(' ');
    let ship = view.ships.iter().find_map(|(side, fleet)| {
        let ship = fleet.iter().find(|ship| ship.at == at)?;
        Some((side, ship))
    });
    let mut below = known_submarines(view).filter(|(_, submarine)| submarine.at == at);
    let (first_below, another) = (below.next(), below.next().is_some());
    let heard = sounding(view, at);
    match (ship, first_below) {
        (Some((side, ship)), below) => {
            let aloft = matches!(ship.kind, ShipKind::Squadron { launched: true, .. });
            let under = match (below, heard) {
                (Some(_), _) if another => "=",
                (Some(_), _) => "_",
                (None, Some('?')) => "?",
                (None, _) if aloft => "^",
                (None, _) => "",
            };
            format!("{mark}{:<3}", cased(view, side, &name(ship)) + under)
        }
        (None, Some((side, submarine))) => {
            let more = if another { "+" } else { "" };
            format!("{mark}{:<3}", cased(view, side, &format!("U{}{more}", submarine.no)))
        }
        (None, None) => format!("{mark}{}  ", heard.unwrap_or('.')),
    }
}

/// A ship's class, and the number of a carrier or squadron.
fn name(ship: &Ship) -> String {
    let no = ship.kind.no().map(|no| no.to_string()).unwrap_or_default();
    format!("{}{no}", ship.class().letter())
}

/// A name in capitals if it belongs to the viewer, else in lower case.
fn cased(view: &View, side: Seat, name: &str) -> String {
    if side == view.viewer { name.to_owned() } else { name.to_ascii_lowercase() }
}

fn mark(notice: &Notice, at: Square) -> Option<char> {
    match *notice {
        Notice::Move { to, .. } if to == at => Some('>'),
        Notice::Move { squadron_to: Some(to), .. } if to == at => Some('>'),
        Notice::Move { from, .. } if from == at => Some('<'),
        Notice::SquadronLost { at: lost, .. } | Notice::Torpedo { at: lost, .. } if lost == at => Some('*'),
        Notice::Move { .. }
        | Notice::SquadronLost { .. }
        | Notice::Torpedo { .. }
        | Notice::Asw { .. }
        | Notice::Sonar { .. }
        | Notice::Pass { .. } => None,
    }
}

/// `o` on a square that the viewer's recent attacks searched, `?` on one around it if they heard something.
fn sounding(view: &View, at: Square) -> Option<char> {
    let marks = recent_attacks(view).filter_map(|notice| match notice {
        Notice::Asw { side, area, contact, .. } | Notice::Sonar { side, area, contact, .. }
            if *side == view.viewer =>
        {
            match area.distance(at) {
                0 => Some('o'),
                1 if *contact => Some('?'),
                _ => None,
            }
        }
        Notice::Asw { .. } | Notice::Sonar { .. } => None,
        Notice::Move { .. } | Notice::SquadronLost { .. } | Notice::Torpedo { .. } | Notice::Pass { .. } => {
            None
        }
    });
    marks.last()
}

fn legend(view: &View) -> String {
    let whose = match (view.phase, view.viewer) {
        (Some(_), _) => "Capitals are yours, small letters the other side's: V carrier,",
        (None, Seat::First) => "Capitals are South's, small letters North's: V carrier,",
        (None, Seat::Second) => "Capitals are North's, small letters South's: V carrier,",
    };
    let mut lines = vec!["", whose, "S squadron (^ in the air), B battleship, C cruiser, D destroyer."];
    if view.options.submarines {
        lines.push("Yours below are U1 to U5, _ if under a ship. Your last attacks:");
        lines.push("o searched, ? a submarine was heard on one of these squares.");
    }
    if Square::all().any(|at| known_submarines(view).filter(|(_, below)| below.at == at).count() > 1) {
        lines.push("Two submarines share a square: +, or = if under a ship.");
    }
    if view.news.iter().any(|notice| Square::all().any(|at| mark(notice, at).is_some())) {
        lines.push("Last: < left, > came, * sunk.");
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
