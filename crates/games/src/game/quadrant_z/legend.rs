//! The legend of the picture: every sign that appears on the board, and no others.

use super::arrows;
use super::colours::{FAINT, GROUND, INK, tint};
use super::fleet::Class;
use super::galaxy::{Quadrant, Sector, Square};
use super::square_map::{Contents, EnemyShips, Mark, SquareMap};
use super::symbols::{self, Plate};
use super::view::Side;
use crate::game::picture::{Anchor, Bounds, Picture, legend_places};
use crate::game::{Phase, Seat};

/// The x coordinates of the samples' middles.
const COLUMNS: [f64; 4] = [40.0, 206.0, 372.0, 538.0];
const ROW: f64 = 42.0;

/// A sign of the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    FreeStar,
    OwnStar,
    EnemyStar,
    /// A star that was captured in this turn, and whether the viewer did it.
    CapturedNow {
        own: bool,
    },
    Base,
    Ship(u16),
    Ships(usize),
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
    Moves,
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
    if !map.moves().is_empty() {
        signs.push(Sign::Moves);
    }
    news(map, &mut signs);
    let viewer = map.view.context.viewer;
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
    for (by, sign) in [(viewer, Sign::OwnStar), (viewer.other(), Sign::EnemyStar)] {
        if stars().any(|star| star.captured_by == Some(by)) {
            signs.push(sign);
        }
    }
    if stars().any(|star| star.base && !map.was_captured_now(star.at)) {
        signs.push(Sign::Base);
    }
    for (by, own) in [(viewer, true), (viewer.other(), false)] {
        if stars().any(|star| star.captured_by == Some(by) && map.was_captured_now(star.at)) {
            signs.push(Sign::CapturedNow { own });
        }
    }
}

fn ships(map: &SquareMap<'_>, signs: &mut Vec<Sign>) {
    let all = || Square::all().map(|square| map.at(square));
    let alone = all().find_map(|contents| match contents.ships[..] {
        [ship] => Some(ship.no),
        _ => None,
    });
    signs.extend(alone.map(Sign::Ship));
    signs.extend(all().map(|contents| contents.ships.len()).find(|count| *count > 1).map(Sign::Ships));
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

fn news(map: &SquareMap<'_>, signs: &mut Vec<Sign>) {
    let marks: Vec<Mark> = Quadrant::all().filter_map(|quadrant| map.mark(quadrant)).collect();
    let past = || Quadrant::all().filter_map(|quadrant| map.past_mark(quadrant));
    let is_battle = |mark: Mark| matches!(mark, Mark::Battle(_));
    signs.extend(marks.iter().copied().find(|mark| is_battle(*mark)).map(Sign::News));
    signs.extend([Mark::Met, Mark::Entered].into_iter().filter(|mark| marks.contains(mark)).map(Sign::News));
    let battle = past().find(|past| is_battle(past.mark));
    let others = [Mark::Met, Mark::Entered].map(|mark| past().find(|past| past.mark == mark));
    let remembered = battle.into_iter().chain(others.into_iter().flatten());
    signs.extend(remembered.map(|past| Sign::Past { mark: past.mark, turn: past.turn }));
}

/// The height of the legend.
pub(super) fn height(signs: &[Sign]) -> f64 {
    signs.len().div_ceil(COLUMNS.len()) as f64 * ROW
}

pub(super) fn draw(picture: &mut Picture, top: f64, signs: &[Sign], viewer: Seat) {
    for (sign, (x, y)) in signs.iter().zip(legend_places(&COLUMNS, top, ROW)) {
        let start = picture.shapes.len();
        sample(picture, *sign, x, y, viewer);
        let words = words(*sign, viewer);
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
        Sign::OwnStar => "captured\nby you".into(),
        Sign::EnemyStar => "captured by\nthe enemy".into(),
        Sign::CapturedNow { own: true } => "by you,\nthis turn".into(),
        Sign::CapturedNow { own: false } => "by the enemy,\nthis turn".into(),
        Sign::Base => "home base".into(),
        Sign::Ship(no) => format!("your ship {no}"),
        Sign::Ships(count) => format!("{count} of\nyour ships"),
        Sign::Strength => "offence 3,\ndefence 2".into(),
        Sign::EnemySize => "enemies\nof size 4".into(),
        Sign::EnemyStrength => "the enemy's\nships".into(),
        Sign::Ghost { turn, .. } => format!("enemies seen\nin turn {turn}"),
        Sign::Moves => "your moves".into(),
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

fn sample(picture: &mut Picture, sign: Sign, x: f64, y: f64, viewer: Seat) {
    let plate = Bounds::around((x, y), symbols::PLATE / 2.0, symbols::HEIGHT / 2.0);
    let label = Bounds::around((x, y), symbols::LABEL / 2.0, symbols::HEIGHT / 2.0);
    match sign {
        Sign::FreeStar => symbols::free_star(picture, x, y, "2"),
        Sign::OwnStar => symbols::own_star(picture, x, y, "2"),
        Sign::EnemyStar => symbols::enemy_star(picture, x, y, "2"),
        Sign::CapturedNow { own } => {
            symbols::ring(picture, x, y);
            let star = if own { symbols::own_star } else { symbols::enemy_star };
            star(picture, x, y, "2");
        }
        Sign::Base => {
            symbols::base(picture, x, y);
            symbols::free_star(picture, x, y, "3");
        }
        Sign::Ship(no) => symbols::label(picture, label, &no.to_string()),
        Sign::Ships(count) => symbols::label(picture, label, &format!("×{count}")),
        Sign::Strength => symbols::plate(picture, plate, Plate::Own, "3/2"),
        Sign::EnemySize => symbols::plate(picture, plate, Plate::Enemy, "4"),
        Sign::EnemyStrength => {
            let class = Class { offence: 3, defence: 2 };
            symbols::plate(picture, plate, Plate::Enemy, &EnemyShips::Revealed(class).to_string());
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
        Sign::Moves => picture.arrow((x - 24.0, y), (x + 22.0, y), symbols::MOVED, arrows::STROKE),
        Sign::News(mark) => symbols::draw_mark(picture, mark, x, y),
        Sign::Past { mark, .. } => symbols::draw_past_mark(picture, mark, x, y),
        Sign::Ground(sector) => ground(picture, sector, x, y, viewer),
        Sign::Unexplored => fog(picture, x, y, viewer),
        Sign::Squares => squares(picture, x, y),
    }
}

/// Ground of a sector under its heading.
fn ground(picture: &mut Picture, sector: Sector, x: f64, y: f64, viewer: Seat) {
    let tint = tint(sector, viewer);
    picture.rect(x - 22.0, y - 14.0, 44.0, 28.0, tint.explored);
    picture.rect(x - 22.0, y - 14.0, 44.0, 10.0, tint.heading);
    picture.frame(x - 22.0, y - 14.0, 44.0, 28.0, INK, 1.0);
}

/// Unexplored ground of the neutral sector and of the enemy's.
fn fog(picture: &mut Picture, x: f64, y: f64, viewer: Seat) {
    for (sector, left) in [(Sector::Neutral, x - 22.0), (Sector::Home(viewer.other()), x)] {
        let tint = tint(sector, viewer);
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
