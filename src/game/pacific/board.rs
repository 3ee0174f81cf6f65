//! The board as one viewer knows it, in characters: four columns a square. The picture is [`super::picture`].

use std::fmt::Write as _;

use super::picture;
use super::state::{Kind, Ship, Square, Submarine};
use super::view::{Depths, Notice, Sighted, View};
use crate::game::{Board, Seat};

/// How many rounds attacks on the depths stay on the board, the one that is due included. A submarine heard
/// earlier can be anywhere.
const ROUNDS_SHOWN: u32 = 2;

pub fn board(view: &View) -> Board {
    Board { text: text(view), svg: picture::picture(view) }
}

/// Attacks with depth charges or sonar that are still worth a mark.
pub fn recent(view: &View) -> impl Iterator<Item = &Notice> {
    let shown = |sighted: &&Sighted| sighted.round + ROUNDS_SHOWN > view.round;
    view.sightings.iter().filter(shown).map(|sighted| &sighted.notice)
}

/// The submarines on the chart: the viewer's own, at the end those of both sides.
pub fn charted(view: &View) -> impl Iterator<Item = (Seat, Submarine)> {
    view.submarines.iter().flat_map(|(side, depths)| {
        let known = match depths {
            Depths::Charted(submarines) => submarines.as_slice(),
            Depths::Counted(_) => &[],
        };
        known.iter().map(move |submarine| (side, *submarine))
    })
}

fn text(view: &View) -> String {
    let files: String = ('A'..='P').map(|file| format!(" {file}  ")).collect();
    let mut text = format!("  {}\n", files.trim_end());
    for rank in (0..16).rev() {
        let row: String =
            (0..16).filter_map(|file| Square::new(file, rank)).map(|at| cell(view, at)).collect();
        writeln!(text, "{:>2}{}", rank + 1, row.trim_end()).expect("writing to a String cannot fail");
        if rank == 8 {
            writeln!(text, "   {}", "- ".repeat(31).trim_end()).expect("writing to a String cannot fail");
        }
    }
    text + &legend(view)
}

/// A mark, two characters for what stands there, and one for what is below.
fn cell(view: &View, at: Square) -> String {
    let mark = view.news.iter().find_map(|notice| mark(notice, at)).unwrap_or(' ');
    let ship = view.ships.iter().find_map(|(side, fleet)| {
        let ship = fleet.iter().find(|ship| ship.at == at)?;
        Some((side, ship))
    });
    let below = charted(view).find(|(_, submarine)| submarine.at == at);
    let heard = sounding(view, at);
    match (ship, below) {
        (Some((side, ship)), below) => {
            let aloft = matches!(ship.kind, Kind::Squadron { launched: true, .. });
            let under = match (below, heard) {
                (Some(_), _) => "_",
                (None, Some('?')) => "?",
                (None, _) if aloft => "^",
                (None, _) => "",
            };
            format!("{mark}{:<3}", cased(view, side, &name(ship)) + under)
        }
        (None, Some((side, submarine))) => {
            format!("{mark}{:<3}", cased(view, side, &format!("U{}", submarine.no)))
        }
        (None, None) => format!("{mark}{}  ", heard.unwrap_or('.')),
    }
}

/// The class, and the number of a carrier or squadron.
fn name(ship: &Ship) -> String {
    let no = ship.kind.no().map(|no| no.to_string()).unwrap_or_default();
    format!("{}{no}", ship.class().letter())
}

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

/// `?` where the viewer's own attacks have lately heard a submarine, `o` where they found none.
fn sounding(view: &View, at: Square) -> Option<char> {
    let marks = recent(view).filter_map(|notice| match notice {
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
    if view.news.iter().any(|notice| Square::all().any(|at| mark(notice, at).is_some())) {
        lines.push("Last: < left, > came, * sunk.");
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}
