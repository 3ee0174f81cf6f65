//! The board as text.
//!
//! Each quadrant is a box of two by two squares. A square takes two lines: its star, then the ships on it.

use std::fmt::{self, Write as _};

use super::combat::Ship;
use super::galaxy::{Quadrant, Sector, Square};
use super::picture;
use super::rules::{Score, State};
use super::square_map::{Contents, Mark, SquareMap};
use super::view::View;
use crate::game::{Board, Game, Seat};

/// See [`crate::game::Game::board`].
pub fn board(view: &View) -> Board {
    let map = SquareMap::new(view);
    Board { text: text(&map), picture: picture::draw(&map), name: name(&map) }
}

/// The sides' ships and stars, and the battles, as far as the viewer knows.
fn name(map: &SquareMap<'_>) -> String {
    let View { ships, score, enemy_ships, intruders, .. } = map.view;
    let viewer = map.view.context.viewer;
    let side = |side: Seat| {
        let known = match (side == viewer, enemy_ships) {
            (true, _) => fleet(ships),
            (false, Some(ships)) => fleet(ships),
            (false, None) if intruders.is_empty() => "no ships seen".to_owned(),
            (false, None) => {
                let seen = intruders.iter().map(|seen| format!(" {} (size {})", seen.at, seen.size));
                format!("seen at{}", seen.collect::<String>())
            }
        };
        let Score { stars, value } = score[side];
        let stars = match stars {
            0 => "no star".to_owned(),
            1 => format!("1 star, worth {value}"),
            count => format!("{count} stars, worth {value}"),
        };
        format!("{}: {known}; {stars}.", State::RULEBOOK.sides[side])
    };
    let battles = map.view.battles.iter().map(|battle| format!(" Battle in {}.", battle.quadrant));
    format!("{} {}{}", side(Seat::First), side(Seat::Second), battles.collect::<String>())
}

fn fleet(ships: &[Ship]) -> String {
    let is_there = |quadrant: &Quadrant| ships.iter().any(|ship| ship.at.quadrant() == *quadrant);
    let places = Quadrant::all().filter(is_there).map(|quadrant| format!(" {quadrant}")).collect::<String>();
    match ships.len() {
        0 => "no ships".to_owned(),
        1 => format!("1 ship in{places}"),
        count => format!("{count} ships in{places}"),
    }
}

/// The columns of a square, including the space between squares.
const WIDTH: usize = 6;

fn text(map: &SquareMap<'_>) -> String {
    let mut text = String::new();
    let quadrants: Vec<Quadrant> = Quadrant::all().collect();
    for row in quadrants.chunks(5) {
        for &quadrant in row {
            text.push('+');
            text.push_str(&heading(map, quadrant));
        }
        text.push_str("+\n");
        for cells in [[0, 1], [2, 3]] {
            push_square_lines(&mut text, map, row, cells);
        }
    }
    for _ in 0..5 {
        push(&mut text, format_args!("+{:-<1$}", "", 2 * WIDTH));
    }
    text.push_str("+\n");
    text.push_str(&legend(map));
    text
}

/// Explains the signs of this board, and no others.
fn legend(map: &SquareMap<'_>) -> String {
    let viewer = map.view.context.viewer;
    let names = State::RULEBOOK.sides;
    let own = names[viewer];
    let enemy = names[viewer.other()];
    let is_replay = map.view.context.readers.is_some();
    let dark = map.view.dark_side();
    let stars = || Square::all().filter_map(|square| map.at(square).star);
    let all = || Square::all().map(|square| map.at(square));
    let ship = all().find_map(|contents| contents.ships.first().map(|ship| ship.no));
    let crowd = all().find(|contents| ships(contents).starts_with('x')).map(|contents| contents.ships.len());
    let sighted = all().find_map(|contents| contents.enemy).map(|enemy| enemy.size());
    let seen = all().find_map(|contents| contents.enemies.first().map(|ship| ship.no));
    let fog = Quadrant::all().find(|quadrant| !map.is_charted(*quadrant));
    let is_free = stars().any(|star| !star.base && star.captured_by.is_none());
    let taken = |by| stars().any(|star| star.captured_by == Some(by));
    let rows: [Vec<Option<String>>; 3] = [
        vec![
            is_free.then(|| "3* star".into()),
            stars().any(|star| star.base && star.captured_by.is_none()).then(|| "[2] home base".into()),
            taken(dark).then(|| {
                if is_replay { format!("3+ of {}", names[dark]) } else { "3+ captured by you".into() }
            }),
            taken(dark.other()).then(|| {
                if is_replay { format!("3- of {}", names[dark.other()]) } else { "3- by the enemy".into() }
            }),
        ],
        vec![
            ship.map(|no| {
                let ship =
                    if is_replay { format!("ship no. {no} of {own}") } else { format!("your ship no. {no}") };
                format!("Below: {no} {ship}")
            }),
            crowd.map(|count| format!("x{count} {count} of them")),
            match seen {
                Some(no) => Some(format!("!{no} no. {no} of {enemy}")),
                None if is_replay => sighted.map(|size| format!("!{size} {enemy}, size {size}")),
                None => sighted.map(|size| format!("!{size} enemies, size {size}")),
            },
        ],
        vec![
            Some(if is_replay {
                format!("={}= {}", Quadrant::home(dark), names[dark])
            } else {
                format!("={}= your home sector", Quadrant::home(dark))
            }),
            Some(if is_replay {
                format!("~{}~ {}", Quadrant::home(dark.other()), names[dark.other()])
            } else {
                format!("~{}~ the enemy's", Quadrant::home(dark.other()))
            }),
            fog.map(|quadrant| format!("{quadrant}? not explored")),
        ],
    ];
    let mut text = "\n".to_owned();
    for row in rows.into_iter().chain(news(map)) {
        let row: Vec<String> = row.into_iter().flatten().collect();
        if !row.is_empty() {
            push(&mut text, format_args!("{}\n", row.join("   ")));
        }
    }
    text
}

/// Explains what the upper edges of quadrants and a captured base say.
fn news(map: &SquareMap<'_>) -> [Vec<Option<String>>; 2] {
    let is_there =
        |wanted: fn(Mark) -> bool| Quadrant::all().any(|quadrant| map.mark(quadrant).is_some_and(wanted));
    let base = Square::all()
        .map(|square| map.at(square))
        .find(|contents| contents.star.is_some_and(|star| star.base && star.captured_by.is_some()));
    let enemy = State::RULEBOOK.sides[map.view.context.viewer.other()];
    [
        vec![
            is_there(|mark| matches!(mark, Mark::Battle(_))).then(|| "battle: the sides fought there".into()),
            is_there(|mark| mark == Mark::Entered).then(|| match map.view.context.readers.is_some() {
                true => format!("entered: ships of {enemy} came"),
                false => "entered: enemy ships came".into(),
            }),
        ],
        vec![
            is_there(|mark| mark == Mark::Met).then(|| "both: ships of both sides are there".into()),
            base.map(|contents| format!("{} captured base", star(map, contents))),
        ],
    ]
}

/// The two lines of one row of squares, across a row of quadrants.
fn push_square_lines(text: &mut String, map: &SquareMap<'_>, row: &[Quadrant], cells: [u8; 2]) {
    for line in [SquareLine::Star, SquareLine::Ships] {
        for &quadrant in row {
            text.push('|');
            for cell in cells {
                let contents = map.at(quadrant.square(cell));
                let content = match line {
                    SquareLine::Star => star(map, contents),
                    SquareLine::Ships => ships(contents),
                };
                push(text, format_args!(" {:<1$}", content, WIDTH - 1));
            }
        }
        text.push_str("|\n");
    }
}

/// One of the two lines of a square.
#[derive(Clone, Copy)]
enum SquareLine {
    Star,
    Ships,
}

fn push(text: &mut String, arguments: fmt::Arguments<'_>) {
    text.write_fmt(arguments).expect("writing to a String cannot fail");
}

/// The upper edge of a quadrant's box: its sector, its letter, and what the viewer was told about it.
fn heading(map: &SquareMap<'_>, quadrant: Quadrant) -> String {
    let line = match map.sector(quadrant) {
        Sector::Home(seat) if seat == map.view.dark_side() => '=',
        Sector::Home(_) => '~',
        Sector::Neutral => '-',
    };
    let fog = if map.is_charted(quadrant) { line } else { '?' };
    let mark = match map.mark(quadrant) {
        Some(Mark::Battle(_)) => " battle ",
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

fn star(map: &SquareMap<'_>, contents: &Contents<'_>) -> String {
    let Some(star) = contents.star else { return ".".into() };
    let value = if star.base { format!("[{}]", star.value) } else { star.value.to_string() };
    match star.captured_by {
        None if star.base => value,
        None => value + "*",
        Some(by) if by == map.view.dark_side() => value + "+",
        Some(_) => value + "-",
    }
}

/// The numbers of the viewer's ships, or how many there are if the numbers do not fit; then the total size of
/// the enemy's or, on a board that shows everything, their numbers.
fn ships(contents: &Contents<'_>) -> String {
    let mut own = numbers(&contents.ships);
    let enemies = contents.enemies.len();
    let mut enemy = match (enemies, contents.enemy) {
        (1.., _) => format!("!{}", numbers(&contents.enemies)),
        (0, Some(enemy)) => format!("!{}", enemy.size()),
        (0, None) => String::new(),
    };
    if own.len() + enemy.len() >= WIDTH && !contents.ships.is_empty() {
        own = format!("x{}", contents.ships.len());
    }
    if own.len() + enemy.len() >= WIDTH && enemies > 0 {
        enemy = format!("!x{enemies}");
    }
    own + &enemy
}

fn numbers(ships: &[&Ship]) -> String {
    ships.iter().map(|ship| ship.no.to_string()).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::super::view::KnownStar;
    use super::super::{Options, State};
    use super::*;

    #[test]
    fn the_words_on_a_board_have_a_key_below_it_and_no_others_do() {
        let mut view = State::start(&Options::default()).view(Seat::First);
        let quiet = board(&view).text;
        assert!(!quiet.contains("entered:") && !quiet.contains("captured base"), "{quiet}");
        let at = Square::parse("L1").expect("a square");
        view.entries.push(at.quadrant());
        view.stars.push(KnownStar { at, value: 3, base: true, captured_by: Some(Seat::Second) });
        let text = board(&view).text;
        assert!(text.contains("\nentered: enemy ships came\n"), "{text}");
        assert!(text.contains("\n[3]- captured base\n"), "{text}");
        assert!(!text.contains("battle:"), "{text}");
    }
}
