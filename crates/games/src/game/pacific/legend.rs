//! The legend of the picture: every sign that appears on the board, and no others.

use super::fleet::ShipKind;
use super::hulls;
use super::marks::{HEARD, INK, MOVED, OLD, STROKE, cross, draw_search, losses, moves, shown_contacts};
use super::shown::{known_submarines, recent_attacks};
use super::state::State;
use super::view::{Notice, View};
use crate::game::picture::{Anchor, Bounds, Picture, legend_places};
use crate::game::{Game, Seat};

/// The x coordinates of the samples' middles.
const COLUMNS: [f64; 3] = [50.0, 260.0, 475.0];
const ROW: f64 = 40.0;

/// A sign of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    Ship(ShipKind, &'static str),
    Side(Seat),
    Submarine,
    Moved,
    Searched(Seat),
    Heard,
    Sunk,
    OldContact(u32),
}

/// A sample of each kind of ship.
const KINDS: [Sign; 6] = [
    Sign::Ship(ShipKind::Carrier { no: 1 }, "carrier"),
    Sign::Ship(ShipKind::Squadron { no: 1, launched: false, leapt: false }, "squadron"),
    Sign::Ship(ShipKind::Squadron { no: 1, launched: true, leapt: false }, "in the air"),
    Sign::Ship(ShipKind::Battleship, "battleship"),
    Sign::Ship(ShipKind::Cruiser, "cruiser"),
    Sign::Ship(ShipKind::Destroyer, "destroyer"),
];

/// Whether two ships look alike but for their numbers.
fn is_alike(one: ShipKind, other: ShipKind) -> bool {
    let aloft = |kind| matches!(kind, ShipKind::Squadron { launched: true, .. });
    one.class() == other.class() && aloft(one) == aloft(other)
}

/// The signs of this board, each kind once.
pub(super) fn signs(view: &View) -> Vec<Sign> {
    let afloat = |kind: ShipKind| {
        let mut ships = view.ships.iter().flat_map(|(_, fleet)| fleet);
        ships.any(|ship| is_alike(ship.kind, kind))
    };
    let mut signs: Vec<Sign> =
        KINDS.into_iter().filter(|sign| matches!(sign, Sign::Ship(kind, _) if afloat(*kind))).collect();
    signs.extend(known_submarines(view).next().map(|_| Sign::Submarine));
    signs.extend(Seat::BOTH.map(Sign::Side));
    if moves(view).next().is_some() {
        signs.push(Sign::Moved);
    }
    signs.extend(losses(view).next().map(|_| Sign::Sunk));
    let attacks = || recent_attacks(view).filter_map(attack);
    for side in [view.seen_from(), view.seen_from().other()] {
        signs.extend(attacks().find(|(of, _)| *of == side).map(|_| Sign::Searched(side)));
    }
    if attacks().any(|(side, contact)| view.hears(side) && contact) {
        signs.push(Sign::Heard);
    }
    signs.extend(shown_contacts(view).first().map(|(round, _)| Sign::OldContact(*round)));
    signs
}

/// The side that made an attack on submarines, and whether it had contact.
fn attack(notice: &Notice) -> Option<(Seat, bool)> {
    match *notice {
        Notice::Asw { side, contact, .. } | Notice::Sonar { side, contact, .. } => Some((side, contact)),
        Notice::Torpedo { .. } | Notice::Move { .. } | Notice::SquadronLost { .. } | Notice::Pass { .. } => {
            None
        }
    }
}

/// The height of the legend.
pub(super) fn height(signs: &[Sign]) -> f64 {
    signs.len().div_ceil(COLUMNS.len()) as f64 * ROW
}

pub(super) fn draw(picture: &mut Picture, top: f64, signs: &[Sign], view: &View) {
    for (sign, (x, y)) in signs.iter().zip(legend_places(&COLUMNS, top, ROW)) {
        let start = picture.shapes.len();
        sample(picture, *sign, x, y, view);
        picture.text(x + 28.0, y, 18.0, Anchor::Start, INK, &words(*sign, view));
        picture.sign((x, y), start);
    }
}

fn name(side: Seat) -> &'static str {
    State::RULEBOOK.sides[side]
}

fn words(sign: Sign, view: &View) -> String {
    match sign {
        Sign::Ship(_, words) => words.into(),
        Sign::Side(side) => {
            let you = view.phase.is_some() && side == view.viewer && view.readers.is_none();
            if you { format!("{}: you", name(side)) } else { name(side).into() }
        }
        Sign::Submarine => "submarine".into(),
        Sign::Moved => "moved".into(),
        Sign::Sunk => "sunk".into(),
        Sign::Searched(side) if view.readers.is_some() => format!("{} searched", name(side)),
        Sign::Searched(side) if side == view.viewer => "you searched".into(),
        Sign::Searched(_) => "they searched".into(),
        Sign::Heard => "heard near here".into(),
        Sign::OldContact(round) => format!("noticed, turn {round}"),
    }
}

fn sample(picture: &mut Picture, sign: Sign, x: f64, y: f64, view: &View) {
    let near = view.seen_from();
    let square = |side: f64| Bounds::around((x, y), side / 2.0, side / 2.0);
    match sign {
        Sign::Ship(kind, _) => hulls::draw_ship(picture, (x, y), near, kind),
        Sign::Side(side) => {
            let paint = hulls::paint(side);
            picture.rect(x - 12.0, y - 12.0, 24.0, 24.0, paint.fill);
            picture.frame(x - 12.0, y - 12.0, 24.0, 24.0, paint.edge, 2.5);
        }
        Sign::Submarine => {
            hulls::draw_submarine(picture, (x, y), near);
            hulls::draw_submarine_number(picture, (x, y), near, "U1", 14.0);
        }
        Sign::Moved => {
            picture.rect(x - 17.0, y - 12.0, 34.0, 24.0, MOVED);
            picture.arrow((x - 14.0, y), (x + 14.0, y), hulls::paint(near).edge, STROKE);
        }
        Sign::Sunk => cross(picture, x, y, 11.0),
        Sign::Searched(side) => {
            let is_near = side == near;
            draw_search(picture, square(if is_near { 30.0 } else { 38.0 }), side, is_near);
        }
        Sign::Heard => picture.rect(x - 12.0, y - 12.0, 24.0, 24.0, HEARD),
        Sign::OldContact(round) => {
            picture.frame(x - 16.0, y - 16.0, 32.0, 32.0, OLD, 1.5);
            let label = format!("t{round}");
            let size = if label.len() > 3 { 14.0 } else { 17.0 };
            picture.text(x, y, size, Anchor::Middle, OLD, &label);
        }
    }
}
