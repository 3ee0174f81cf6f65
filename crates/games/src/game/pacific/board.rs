//! The board as text: four columns per square.

use std::fmt::Write as _;

use super::fleet::{Area, Class, Ship, ShipKind, Square};
use super::marks::{losses, moves};
use super::picture;
use super::rules::State;
use super::view::{Depths, Notice, View, known_submarines, recent_attacks};
use crate::game::{Board, Game, Seat};

pub fn board(view: &View) -> Board {
    Board { text: text(view), picture: picture::draw(view), name: name_of(view) }
}

/// Counts the ships of each side, and the submarines as far as the viewer may know.
fn name_of(view: &View) -> String {
    let moved = moves(view).map(|(_, from, to)| format!(" {from} to {to}.")).collect::<String>();
    let sunk = losses(view).map(|at| format!(" Sunk at {at}.")).collect::<String>();
    let searched: String = match view.readers {
        Some(_) => heard_attacks(view).iter().map(|attack| format!(" {}", in_words(attack))).collect(),
        None => String::new(),
    };
    format!("{} {}{moved}{sunk}{searched}", side_line(view, Seat::First), side_line(view, Seat::Second))
}

fn side_line(view: &View, side: Seat) -> String {
    let ships = Class::ALL.into_iter().filter_map(|class| {
        let count = view.ships[side].iter().filter(|ship| ship.class() == class).count();
        (count > 0).then(|| count_of(count, class.name()))
    });
    let below = match &view.submarines[side] {
        Depths::Charted(submarines) => {
            let at = submarines.iter().map(|submarine| format!(" {}", submarine.at)).collect::<String>();
            count_of(submarines.len(), "submarine") + if at.is_empty() { "" } else { " at" } + &at
        }
        Depths::Counted(count) => count_of(*count, "submarine") + " somewhere",
    };
    let all: Vec<String> = ships.chain([below]).collect();
    format!("{}: {}.", State::RULEBOOK.sides[side], all.join(", "))
}

/// Says who searched which squares.
fn in_words((side, area, contact): &Attack) -> String {
    let corner = area.corner();
    let to = corner.step(1, 1).map(|to| format!(" to {to}")).unwrap_or_default();
    let heard = if *contact { ", and heard a submarine" } else { "" };
    format!("{} searched {corner}{to}{heard}.", State::RULEBOOK.sides[*side])
}

fn count_of(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}

fn text(view: &View) -> String {
    let files: String = row_places(0)
        .map(|place| format!(" {}  ", char::from(b'A' + place.turned_for(view.seen_from()).file())))
        .collect();
    let mut text = format!("  {}\n", files.trim_end());
    let attacks = heard_attacks(view);
    for row in (0..16).rev() {
        let squares = || row_places(row).map(|place| place.turned_for(view.seen_from()));
        let rank = squares().next().map_or(0, |at| at.rank() + 1);
        write!(text, "{rank:>2}").expect("writing to a String cannot fail");
        squares().for_each(|at| add_cell(&mut text, view, &attacks, at));
        text.truncate(text.trim_end_matches(' ').len());
        text.push('\n');
        if row == 8 {
            writeln!(text, "   {}", "- ".repeat(31).trim_end()).expect("writing to a String cannot fail");
        }
    }
    text + &legend(view, &attacks)
}

fn row_places(row: u8) -> impl Iterator<Item = Square> {
    (0..16).filter_map(move |column| Square::new(column, row))
}

/// Adds four columns: a mark, two for the ship or, on open water, the submarine, and one for what is below. A `?` above
/// one of the viewer's submarines goes into the mark's column if that is free.
fn add_cell(text: &mut String, view: &View, attacks: &[Attack], at: Square) {
    let mark = view.news.iter().find_map(|notice| mark(notice, at)).unwrap_or(' ');
    let ship = view.ships.iter().find_map(|(side, fleet)| {
        let ship = fleet.iter().find(|ship| ship.at == at)?;
        Some((side, ship))
    });
    let mut below = known_submarines(view).filter(|(_, submarine)| submarine.at == at);
    let first_below = below.next();
    let another = below.next().is_some();
    let heard = sounding(attacks, at);
    let mut shown = match (ship, first_below) {
        (Some((side, ship)), below) => {
            let aloft = matches!(ship.kind, ShipKind::Squadron { launched: true, .. });
            let under = match below {
                Some(_) if another => "=",
                Some(_) => "_",
                None if aloft => "^",
                None => "",
            };
            name_in_side_case(view, side, &name(ship)) + under
        }
        (None, Some((side, submarine))) => {
            let more = if another { "+" } else { "" };
            name_in_side_case(view, side, &format!("U{}{more}", submarine.no))
        }
        (None, None) => {
            text.extend([mark, heard.unwrap_or('.'), ' ', ' ']);
            return;
        }
    };
    let mut mark = mark;
    if heard == Some('?') {
        match shown.len() {
            ..3 => shown.push('?'),
            _ if mark == ' ' => mark = '?',
            _ => {}
        }
    }
    write!(text, "{mark}{shown:<3}").expect("writing to a String cannot fail");
}

/// A ship's class, and the number of a carrier or squadron.
fn name(ship: &Ship) -> String {
    let no = ship.kind.no().map(|no| no.to_string()).unwrap_or_default();
    format!("{}{no}", ship.class().letter())
}

/// A name, in capitals if it belongs to the side from which the board is seen, else in lower case.
fn name_in_side_case(view: &View, side: Seat, name: &str) -> String {
    if side == view.seen_from() { name.to_owned() } else { name.to_ascii_lowercase() }
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

/// A side's search of an area for submarines, and whether something was heard around it.
type Attack = (Seat, Area, bool);

/// The recent attacks whose results the board shows.
fn heard_attacks(view: &View) -> Vec<Attack> {
    let attack = |notice: &Notice| match *notice {
        Notice::Asw { side, area, contact, .. } | Notice::Sonar { side, area, contact, .. } => {
            view.hears(side).then_some((side, area, contact))
        }
        Notice::Move { .. } | Notice::SquadronLost { .. } | Notice::Torpedo { .. } | Notice::Pass { .. } => {
            None
        }
    };
    recent_attacks(view).filter_map(attack).collect()
}

/// `o` on a square that these attacks searched, `?` on one around it if they heard something.
fn sounding(attacks: &[Attack], at: Square) -> Option<char> {
    attacks.iter().rev().find_map(|(_, area, contact)| match area.distance(at) {
        0 => Some('o'),
        1 if *contact => Some('?'),
        _ => None,
    })
}

/// Explains the signs of this board, and no others.
fn legend(view: &View, attacks: &[Attack]) -> String {
    let your = if view.readers.is_some() { "The" } else { "Your" };
    let whose = match (view.phase.filter(|_| view.readers.is_none()), view.seen_from()) {
        (Some(_), _) => "Capitals are yours, small letters the other side's.",
        (None, Seat::First) => "Capitals are South's, small letters North's.",
        (None, Seat::Second) => "Capitals are North's, small letters South's.",
    };
    let mut lines = vec![String::new(), whose.to_owned()];
    let ships = || view.ships.iter().flat_map(|(_, fleet)| fleet);
    let aloft = |ship: &Ship| matches!(ship.kind, ShipKind::Squadron { launched: true, .. });
    let classes: Vec<String> = Class::ALL
        .into_iter()
        .filter(|class| ships().any(|ship| ship.class() == *class))
        .map(|class| {
            let aloft = class == Class::Squadron && ships().any(aloft);
            format!("{} {}{}", class.letter(), class.name(), if aloft { " (^ in the air)" } else { "" })
        })
        .collect();
    // A line with all five classes would be wider than a letter.
    let lines_of_classes = classes.chunks(3).map(|some| some.join(", ")).collect::<Vec<_>>().join(",\n");
    if !classes.is_empty() {
        lines.push(lines_of_classes + ".");
    }
    lines.extend(below_legend(view));
    let sounded = |sign| Square::all().any(|at| sounding(attacks, at) == Some(sign));
    match (sounded('o'), sounded('?')) {
        (true, true) => {
            lines.push(format!("{your} last attacks: o searched, ? a submarine was heard on one of"));
            lines.push("these squares.".to_owned());
        }
        (true, false) => lines.push(format!("{your} last attacks: o searched.")),
        (false, _) => {}
    }
    // In a letter they are all the reader's.
    if view.readers.is_some() {
        lines.extend(attacks.iter().map(in_words));
    }
    let marks = Square::all().filter_map(|at| view.news.iter().find_map(|notice| mark(notice, at)));
    let marks: Vec<char> = marks.collect();
    let words = [('<', "< left"), ('>', "> came"), ('*', "* sunk")];
    let words: Vec<&str> =
        words.iter().filter(|(sign, _)| marks.contains(sign)).map(|(_, words)| *words).collect();
    if !words.is_empty() {
        lines.push(format!("Last: {}.", words.join(", ")));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Explains the signs of submarines.
fn below_legend(view: &View) -> Vec<String> {
    let is_under = |at: Square| view.ships.iter().any(|(_, fleet)| fleet.iter().any(|ship| ship.at == at));
    let Some((_, some)) = known_submarines(view).next() else { return Vec::new() };
    let mut words = format!("Below, U{} is a submarine", some.no);
    if known_submarines(view).any(|(_, below)| is_under(below.at)) {
        words.push_str(", _ one under a ship");
    }
    let mut lines = vec![words + "."];
    if Square::all().any(|at| known_submarines(view).filter(|(_, below)| below.at == at).count() > 1) {
        lines.push("Two submarines share a square: +, or = if under a ship.".to_owned());
    }
    lines
}
