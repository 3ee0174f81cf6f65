//! The legend of the picture: every sign that appears on the board, and no others.

use super::combat::{Class, Ship};
use super::galaxy::{Quadrant, Sector, Square};
use super::rules::State;
use super::square_map::{Contents, EnemyShips, Mark, SquareMap};
use super::symbols::{self, FAINT, GROUND, INK, Look, Tint, tint};
use super::view::{Side, View};
use crate::game::picture::{Anchor, Bounds, Picture, legend_places};
use crate::game::{Game, Phase, Seat};

/// The x coordinates of the samples' middles.
const COLUMNS: [f64; 4] = [40.0, 206.0, 372.0, 538.0];
const ROW: f64 = 42.0;

/// A sign of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    FreeStar,
    /// A star that this side has captured.
    Captured(Seat),
    /// A star that this side captured in this turn.
    CapturedNow(Seat),
    Base,
    Ship(Seat, u16),
    Ships(Seat, usize),
    /// The offence and defence of the viewer's ships.
    Strength,
    /// The size of the enemy's ships.
    EnemySize,
    /// The enemy ships' offence and defence.
    EnemyStrength,
    /// The size of enemy ships in an earlier turn.
    Ghost {
        size: u16,
        turn: u16,
    },
    Moves(Seat),
    /// Ships that were lost in this turn.
    Lost,
    News(Mark),
    Past {
        mark: Mark,
        turn: u16,
    },
    Ground(Sector),
    Unexplored,
    Squares,
}

/// The signs of this board, each kind once.
pub(super) fn signs(map: &SquareMap<'_>) -> Vec<Sign> {
    let mut signs = Vec::new();
    stars(map, &mut signs);
    ships(map, &mut signs);
    let viewer = map.view.context.viewer;
    let sides = [viewer, viewer.other()];
    signs.extend(sides.into_iter().filter(|side| !map.moves(*side).is_empty()).map(Sign::Moves));
    signs.extend(map.losses().first().map(|_| Sign::Lost));
    news(map, &mut signs);
    let sectors = [Sector::Home(viewer), Sector::Neutral, Sector::Home(viewer.other())];
    signs.extend(sectors.map(Sign::Ground));
    if Quadrant::all().any(|quadrant| !map.is_charted(quadrant)) {
        signs.push(Sign::Unexplored);
    }
    // On the board of the setup, the numbers are in the squares themselves.
    if map.view.context.phase.is_some_and(|phase| phase != Phase::Setup) {
        signs.push(Sign::Squares);
    }
    signs
}

fn stars(map: &SquareMap<'_>, signs: &mut Vec<Sign>) {
    let stars = || Square::all().filter_map(|square| map.at(square).star);
    let viewer = map.view.context.viewer;
    if stars().any(|star| star.captured_by.is_none()) {
        signs.push(Sign::FreeStar);
    }
    let sides = [viewer, viewer.other()];
    let has_captured = |by: &Seat| stars().any(|star| star.captured_by == Some(*by));
    signs.extend(sides.into_iter().filter(has_captured).map(Sign::Captured));
    if stars().any(|star| star.base && !map.was_captured_now(star.at)) {
        signs.push(Sign::Base);
    }
    let captured_now =
        |by: &Seat| stars().any(|star| star.captured_by == Some(*by) && map.was_captured_now(star.at));
    signs.extend(sides.into_iter().filter(captured_now).map(Sign::CapturedNow));
}

fn ships(map: &SquareMap<'_>, signs: &mut Vec<Sign>) {
    let all = || Square::all().map(|square| map.at(square));
    let viewer = map.view.context.viewer;
    let own: Vec<&[&Ship]> = all().map(|contents| contents.ships.as_slice()).collect();
    signs.extend(numbers(viewer, &own));
    let alone = all().filter(|contents| contents.ships.is_empty());
    let enemies: Vec<&[&Ship]> = alone.map(|contents| contents.enemies.as_slice()).collect();
    signs.extend(numbers(viewer.other(), &enemies));
    let fought = Quadrant::all().any(|quadrant| matches!(map.mark(quadrant), Some(Mark::Battle(_))));
    let is_open = |contents: &Contents<'_>| matches!(contents.enemy, Some(EnemyShips::Revealed(_)));
    let own_plate = |contents: &Contents<'_>| !contents.ships.is_empty() && contents.enemy.is_none();
    if fought || all().any(|contents| is_open(contents) || own_plate(contents)) {
        signs.push(Sign::Strength);
    }
    if all().any(|contents| matches!(contents.enemy, Some(EnemyShips::Sighted(_)))) {
        signs.push(Sign::EnemySize);
    }
    if all().any(is_open) {
        signs.push(Sign::EnemyStrength);
    }
    let shown = |square: &Square| map.at(*square).ships.is_empty() && map.at(*square).enemy.is_none();
    let ghost = Square::all().filter(shown).find_map(|square| map.ghost(square));
    signs.extend(ghost.map(|(size, turn)| Sign::Ghost { size, turn }));
}

/// The signs for the numbers of a side's ships: of one on a square, and of several.
fn numbers(side: Seat, squares: &[&[&Ship]]) -> Vec<Sign> {
    let alone = squares.iter().find_map(|ships| match ships {
        [ship] => Some(Sign::Ship(side, ship.no)),
        _ => None,
    });
    let several = squares.iter().find(|ships| ships.len() > 1).map(|ships| Sign::Ships(side, ships.len()));
    alone.into_iter().chain(several).collect()
}

fn news(map: &SquareMap<'_>, signs: &mut Vec<Sign>) {
    let marks: Vec<Mark> = Quadrant::all().filter_map(|quadrant| map.mark(quadrant)).collect();
    let past = || Quadrant::all().filter_map(|quadrant| map.past_mark(quadrant));
    signs.extend(marks.iter().copied().find(|mark| is_battle(*mark)).map(Sign::News));
    signs.extend([Mark::Met, Mark::Entered].into_iter().filter(|mark| marks.contains(mark)).map(Sign::News));
    let battle = past().find(|past| is_battle(past.mark));
    let others = [Mark::Met, Mark::Entered].map(|mark| past().find(|past| past.mark == mark));
    let remembered = battle.into_iter().chain(others.into_iter().flatten());
    signs.extend(remembered.map(|past| Sign::Past { mark: past.mark, turn: past.turn }));
}

fn is_battle(mark: Mark) -> bool {
    matches!(mark, Mark::Battle(_))
}

/// The height of the legend.
pub(super) fn height(signs: &[Sign]) -> f64 {
    signs.len().div_ceil(COLUMNS.len()) as f64 * ROW
}

pub(super) fn draw(picture: &mut Picture, top: f64, signs: &[Sign], view: &View) {
    for (sign, (x, y)) in signs.iter().zip(legend_places(&COLUMNS, top, ROW)) {
        let start = picture.shapes.len();
        sample(picture, *sign, x, y, view);
        let words = if view.context.readers.is_some() { replay_words(*sign, view) } else { None }
            .unwrap_or_else(|| words(*sign, view.context.viewer));
        let lines = words.split('\n').count() as f64;
        for (line, words) in words.split('\n').enumerate() {
            let y = y + 17.0 * (line as f64 - (lines - 1.0) / 2.0);
            picture.text(x + 33.0, y, 15.0, Anchor::Start, INK, words);
        }
        picture.sign((x, y), start);
    }
}

/// Returns the meaning of a sign, on up to two lines of at most 13 characters.
fn words(sign: Sign, viewer: Seat) -> String {
    let mark_words = |mark| match mark {
        Mark::Battle(_) => "battle",
        Mark::Met => "both there",
        Mark::Entered => "entered",
    };
    match sign {
        Sign::FreeStar => "star\nto capture".into(),
        Sign::Captured(by) if by == viewer => "captured\nby you".into(),
        Sign::Captured(_) => "captured by\nthe enemy".into(),
        Sign::CapturedNow(by) if by == viewer => "by you,\nthis turn".into(),
        Sign::CapturedNow(_) => "by the enemy,\nthis turn".into(),
        Sign::Base => "home base".into(),
        Sign::Ship(_, no) => format!("your ship {no}"),
        Sign::Ships(_, count) => format!("{count} of\nyour ships"),
        Sign::Strength => "offence 3,\ndefence 2".into(),
        Sign::EnemySize => "enemies\nof size 4".into(),
        Sign::EnemyStrength => "the enemy's\nships".into(),
        Sign::Ghost { turn, .. } => format!("enemies seen\nin turn {turn}"),
        Sign::Moves(_) => "your moves".into(),
        Sign::Lost => "ships lost".into(),
        Sign::News(Mark::Battle(Side { offence, defence, .. })) => {
            format!("battle, with\ntheir {offence}/{defence}")
        }
        Sign::News(Mark::Met) => "both sides\nare there".into(),
        Sign::News(Mark::Entered) => "the enemy\nentered".into(),
        Sign::Past { mark, turn } => format!("{}\nin turn {turn}", mark_words(mark)),
        Sign::Ground(Sector::Home(seat)) if seat == viewer => "your sector".into(),
        Sign::Ground(Sector::Neutral) => "neutral\nsector".into(),
        Sign::Ground(Sector::Home(_)) => "the enemy's\nsector".into(),
        Sign::Unexplored => "not explored".into(),
        Sign::Squares => "squares of\na quadrant".into(),
    }
}

/// Returns the words for readers who are on neither side, if they differ.
fn replay_words(sign: Sign, view: &View) -> Option<String> {
    let enemy = State::RULEBOOK.sides[view.context.viewer.other()];
    Some(match sign {
        Sign::Captured(by) => format!("captured\nby {}", State::RULEBOOK.sides[by]),
        Sign::CapturedNow(by) => format!("{},\nthis turn", State::RULEBOOK.sides[by]),
        Sign::Ship(side, no) => format!("ship {no} of\n{}", State::RULEBOOK.sides[side]),
        Sign::Ships(side, count) => format!("{count} ships of\n{}", State::RULEBOOK.sides[side]),
        Sign::EnemySize => format!("{enemy},\nof size 4"),
        Sign::EnemyStrength => format!("ships of\n{enemy}"),
        Sign::Moves(side) => format!("moves of\n{}", State::RULEBOOK.sides[side]),
        Sign::News(Mark::Battle(_)) if view.is_open() => "battle".into(),
        Sign::News(Mark::Entered) => format!("{enemy}\nentered"),
        Sign::Ground(Sector::Home(side)) => format!("{}’s\nsector", State::RULEBOOK.sides[side]),
        Sign::FreeStar
        | Sign::Base
        | Sign::Strength
        | Sign::Ghost { .. }
        | Sign::Lost
        | Sign::News(_)
        | Sign::Past { .. }
        | Sign::Ground(Sector::Neutral)
        | Sign::Unexplored
        | Sign::Squares => return None,
    })
}

fn sample(picture: &mut Picture, sign: Sign, x: f64, y: f64, view: &View) {
    let viewer = view.context.viewer;
    let dark = view.dark_side();
    let look = |side| Look::of(side, dark);
    let plate = Bounds::around((x, y), symbols::PLATE / 2.0, symbols::HEIGHT / 2.0);
    let label = Bounds::around((x, y), symbols::LABEL / 2.0, symbols::HEIGHT / 2.0);
    match sign {
        Sign::FreeStar => symbols::free_star(picture, x, y, "2"),
        Sign::Captured(by) => symbols::captured_star(picture, x, y, look(by), "2"),
        Sign::CapturedNow(by) => {
            symbols::ring(picture, x, y);
            symbols::captured_star(picture, x, y, look(by), "2");
        }
        Sign::Base => {
            symbols::base(picture, x, y);
            symbols::free_star(picture, x, y, "3");
        }
        Sign::Ship(side, no) => symbols::label(picture, label, look(side), &no.to_string()),
        Sign::Ships(side, count) => symbols::label(picture, label, look(side), &format!("×{count}")),
        Sign::Strength => symbols::plate(picture, plate, look(viewer), "3/2"),
        Sign::EnemySize => symbols::plate(picture, plate, look(viewer.other()), "4"),
        Sign::EnemyStrength => {
            let class = Class { offence: 3, defence: 2 };
            symbols::plate(picture, plate, look(viewer.other()), &EnemyShips::Revealed(class).to_string());
        }
        Sign::Ghost { size, turn } => {
            symbols::ghost(
                picture,
                Bounds::around((x, y - 6.0), symbols::PLATE / 2.0, symbols::HEIGHT / 2.0),
                GROUND,
                size,
                turn,
            );
        }
        Sign::Moves(side) => {
            picture.arrow(
                (x - 24.0, y),
                (x + 22.0, y),
                symbols::arrow_colour(look(side)),
                symbols::ARROW_STROKE,
            );
        }
        Sign::Lost => symbols::wreck(picture, x, y),
        Sign::News(mark) => symbols::draw_mark(picture, mark, look(viewer.other()), x, y),
        Sign::Past { mark, .. } => symbols::draw_past_mark(picture, mark, x, y),
        Sign::Ground(sector) => ground(picture, tint(sector, dark), x, y),
        Sign::Unexplored => {
            fog(
                picture,
                [Sector::Neutral, Sector::Home(viewer.other())].map(|sector| tint(sector, dark)),
                x,
                y,
            );
        }
        Sign::Squares => squares(picture, x, y),
    }
}

/// Ground of a sector under its heading.
fn ground(picture: &mut Picture, tint: &Tint, x: f64, y: f64) {
    picture.rect(x - 22.0, y - 14.0, 44.0, 28.0, tint.explored);
    picture.rect(x - 22.0, y - 14.0, 44.0, 10.0, tint.heading);
    picture.frame(x - 22.0, y - 14.0, 44.0, 28.0, INK, 1.0);
}

/// Unexplored ground of the neutral sector and of the enemy's.
fn fog(picture: &mut Picture, tints: [&Tint; 2], x: f64, y: f64) {
    for (tint, left) in tints.into_iter().zip([x - 22.0, x]) {
        picture.rect(left, y - 12.0, 22.0, 24.0, tint.fog);
        picture.text(left + 11.0, y, 20.0, Anchor::Middle, tint.mark, "?");
    }
    picture.frame(x - 22.0, y - 12.0, 44.0, 24.0, INK, 1.0);
}

/// Draws the numbers of a quadrant's squares.
fn squares(picture: &mut Picture, x: f64, y: f64) {
    for (no, x, y) in
        [("1", x - 9.0, y - 9.0), ("2", x + 9.0, y - 9.0), ("3", x - 9.0, y + 9.0), ("4", x + 9.0, y + 9.0)]
    {
        picture.frame(x - 9.0, y - 9.0, 18.0, 18.0, FAINT, 1.0);
        picture.text(x, y, 15.0, Anchor::Middle, INK, no);
    }
}
