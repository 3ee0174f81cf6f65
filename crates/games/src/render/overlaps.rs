//! Finds signs that cover each other on the boards of random matches: texts over texts, and anything over an
//! arrowhead.

use super::raster;
use crate::game::any::{AnyState, Filing, GameKind, Memories, OwnPart};
use crate::game::picture::{Anchor, Bounds, Colour, Picture, Point, Shape};
use crate::game::{BySeat, Line, Seat};
use crate::random_play::RandomPlay as _;
use fogpost_testing::random::dice;

/// The height of a capital letter above the baseline, in ems.
const CAPITAL: f64 = 0.73;
/// The largest overlap, in pixels, that is invisible.
const UNSEEN: f64 = 1.0;

/// The room that a text takes.
fn room(shape: &Shape) -> Option<(Bounds, &str)> {
    let Shape::Text { x, baseline, size, anchor, text, .. } = shape else { return None };
    let width = f64::from(raster::text_width(text)) * size;
    let left = match anchor {
        Anchor::Start => *x,
        Anchor::Middle => x - width / 2.0,
        Anchor::End => x - width,
    };
    Some((Bounds::new((left, baseline - CAPITAL * size), width, CAPITAL * size), text))
}

fn overlap(one: Bounds, other: Bounds) -> bool {
    let one = one.grown(-UNSEEN / 2.0);
    let other = other.grown(-UNSEEN / 2.0);
    one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom
}

/// The heads of a picture's arrows, with the indices of their shapes: triangles to which a line of their colour
/// leads.
fn heads(picture: &Picture) -> Vec<(usize, [Point; 3])> {
    let mut heads = Vec::new();
    let mut ends: Vec<(Point, Colour)> = Vec::new();
    for (place, shape) in picture.shapes.iter().enumerate() {
        match shape {
            Shape::Line { to, stroke, .. } => ends.push((*to, stroke.colour)),
            Shape::Polygon { points, fill: Some(fill), .. } => {
                let [tip, left, right] = points[..] else { continue };
                let base = ((left.0 + right.0) / 2.0, (left.1 + right.1) / 2.0);
                let leads = |(end, colour): &(Point, Colour)| {
                    colour == fill && (end.0 - base.0).hypot(end.1 - base.1) < 0.5
                };
                if ends.iter().any(leads) {
                    heads.push((place, [tip, left, right]));
                }
            }
            Shape::Rect { .. }
            | Shape::Frame { .. }
            | Shape::Circle { .. }
            | Shape::Polygon { .. }
            | Shape::Text { .. } => {}
        }
    }
    heads
}

/// Whether a shape covers a point with its area; lines and outlines cover none.
fn covers(shape: &Shape, at: Point) -> bool {
    match shape {
        Shape::Rect { x, y, width, height, .. } => Bounds::new((*x, *y), *width, *height).contains(at),
        Shape::Circle { centre, radius, .. } => (centre.0 - at.0).hypot(centre.1 - at.1) <= *radius,
        Shape::Polygon { points, fill: Some(_), .. } => {
            let edges = points.iter().zip(points.iter().cycle().skip(1));
            let crossed = edges.filter(|((x, y), (to_x, to_y))| {
                (*y > at.1) != (*to_y > at.1) && at.0 < x + (at.1 - y) / (to_y - y) * (to_x - x)
            });
            crossed.count() % 2 == 1
        }
        Shape::Text { .. } => room(shape).is_some_and(|(room, _)| room.contains(at)),
        Shape::Frame { .. } | Shape::Line { .. } | Shape::Polygon { fill: None, .. } => false,
    }
}

/// Points all over a triangle, a little within its edges.
fn points_within([a, b, c]: [Point; 3]) -> Vec<Point> {
    let middle = ((a.0 + b.0 + c.0) / 3.0, (a.1 + b.1 + c.1) / 3.0);
    let mut points = Vec::new();
    for one in 0..=8 {
        for other in 0..=8 - one {
            let u = f64::from(one) / 8.0;
            let v = f64::from(other) / 8.0;
            let at = |a: f64, b: f64, c: f64, middle: f64| {
                let edge = a + u * (b - a) + v * (c - a);
                middle + 0.9 * (edge - middle)
            };
            points.push((at(a.0, b.0, c.0, middle.0), at(a.1, b.1, c.1, middle.1)));
        }
    }
    points
}

/// Minimum width of a line that strikes out a text; grid lines are thinner.
const STRIKING: f64 = 2.0;

/// Points along the lines of a shape, one pixel apart.
fn points_along(shape: &Shape) -> Vec<Point> {
    let corners: Vec<Point> = match shape {
        Shape::Line { from, to, stroke } if stroke.width >= STRIKING => vec![*from, *to],
        Shape::Frame { x, y, width, height, stroke } if stroke.width >= STRIKING => {
            let right = x + width;
            let bottom = y + height;
            vec![(*x, *y), (right, *y), (right, bottom), (*x, bottom), (*x, *y)]
        }
        Shape::Polygon { points, fill: None, stroke } if stroke.width >= STRIKING => {
            points.iter().chain(points.first()).copied().collect()
        }
        _ => Vec::new(),
    };
    let step = |pair: &[Point]| {
        let from = pair[0];
        let to = pair[1];
        let count = (to.0 - from.0).hypot(to.1 - from.1).ceil().max(1.0);
        let at = move |step: u32| {
            let part = f64::from(step) / count;
            (from.0 + part * (to.0 - from.0), from.1 + part * (to.1 - from.1))
        };
        (0..=count as u32).map(at).collect::<Vec<_>>()
    };
    corners.windows(2).flat_map(step).collect()
}

/// The rectangle around some points, with a margin, so that a level line has an area.
fn around(points: &[Point]) -> Bounds {
    let far = Bounds { left: f64::MAX, top: f64::MAX, right: f64::MIN, bottom: f64::MIN };
    let widened = |bounds: Bounds, (x, y): &Point| Bounds {
        left: bounds.left.min(*x),
        top: bounds.top.min(*y),
        right: bounds.right.max(*x),
        bottom: bounds.bottom.max(*y),
    };
    points.iter().fold(far, widened).grown(UNSEEN)
}

/// Describes the texts that a line strikes out, unless a ground lies between the two.
fn struck_out(picture: &Picture) -> Vec<String> {
    let mut faults = Vec::new();
    let lines = picture.shapes.iter().map(points_along).enumerate().filter(|(_, points)| !points.is_empty());
    let lines: Vec<(usize, Bounds, Vec<Point>)> =
        lines.map(|(place, points)| (place, around(&points), points)).collect();
    for (place, shape) in picture.shapes.iter().enumerate() {
        let Some((room, text)) = room(shape) else { continue };
        let room = room.grown(-UNSEEN);
        let is_hidden = |line: usize, point: Point| {
            let grounds = picture.shapes.get(line + 1..place).unwrap_or_default().iter();
            let mut grounds = grounds.filter(|ground| !matches!(ground, Shape::Text { .. }));
            grounds.any(|ground| covers(ground, point))
        };
        for (line, _, points) in lines.iter().filter(|(_, bounds, _)| overlap(*bounds, room.grown(UNSEEN))) {
            if points.iter().any(|point| room.contains(*point) && !is_hidden(*line, *point)) {
                faults.push(format!("a line through {text:?} at {:.0}, {:.0}", room.left, room.top));
            }
        }
    }
    faults
}

/// Describes every shape on a board that covers another one that must stay visible.
pub(super) fn faults(picture: &Picture) -> Vec<String> {
    let mut faults = struck_out(picture);
    let texts: Vec<(Bounds, &str)> = picture.shapes.iter().filter_map(room).collect();
    for (place, (one, text)) in texts.iter().enumerate() {
        for (other, other_text) in &texts[..place] {
            if overlap(*one, *other) {
                faults.push(format!("{text:?} over {other_text:?} at {:.0}, {:.0}", one.left, one.top));
            }
        }
        let page = Bounds::new((0.0, 0.0), f64::from(picture.width), f64::from(picture.height));
        if !page.contains((one.left, one.top)) || !page.contains((one.right, one.bottom)) {
            faults.push(format!("{text:?} leaves the page"));
        }
    }
    let heads = heads(picture);
    for (place, head) in &heads {
        let is_head = |at: usize| heads.iter().any(|(place, _)| *place == at);
        for (at, shape) in picture.shapes.iter().enumerate().filter(|(at, _)| !is_head(*at)) {
            let is_seen = at < *place && room(shape).is_none();
            if !is_seen && points_within(*head).into_iter().any(|point| covers(shape, point)) {
                faults.push(format!("{shape:?} at the arrowhead {:.0?}", head[0]));
            }
        }
    }
    faults
}

fn file(state: &AnyState, seat: Seat, rng: &mut dyn FnMut(u32) -> u32) -> Filing {
    loop {
        let lines = state.random_filing(seat, rng);
        let lines: Vec<Line> = (1..).zip(lines).map(|(no, text)| Line { no, text }).collect();
        if let Ok(filing) = state.seal(seat, &lines) {
            return filing;
        }
    }
}

/// Plays a match at random and looks at every board of both seats. Returns the number of arrows on them.
fn look_through(kind: GameKind, options: &[(&str, &str)], seed: u64) -> usize {
    let choices = kind.choose(options.iter().copied()).expect("options of the game");
    let mut state = kind.start(&choices);
    let mut memories = Memories::empty(kind);
    let mut rng = dice(seed);
    let mut arrows = 0;
    let mut all = Vec::new();
    while let Some(due) = state.due() {
        let before = state.clone();
        let mut filed = BySeat::new(None, None);
        for seat in &due.seats {
            filed[*seat] = Some(file(&state, *seat, &mut rng));
        }
        memories.remember(&state);
        state.adjudicate(&filed);
        for seat in Seat::BOTH {
            let own = OwnPart { before: &before, filed: filed[seat].as_ref() };
            let picture = state.shown_board(seat, Some(&memories), Some(own)).picture;
            let place = format!("turn {}, {seat}", due.turn);
            all.extend(faults(&picture).into_iter().map(|fault| format!("{place}: {fault}")));
            arrows += heads(&picture).len();
        }
    }
    assert!(all.is_empty(), "{kind}, seed {seed}: {all:#?}");
    arrows
}

#[test]
fn nothing_covers_a_text_or_an_arrowhead_on_boards_of_quadrant_z() {
    let arrows: usize = (0..4).map(|seed| look_through(GameKind::QuadrantZ, &[], seed)).sum();
    assert!(arrows > 200, "{arrows}");
    look_through(GameKind::QuadrantZ, &[("casualties", "ask"), ("layout", "block")], 4);
}

#[test]
fn nothing_covers_a_text_or_an_arrowhead_on_boards_of_the_pacific() {
    let arrows: usize =
        (0..4).map(|seed| look_through(GameKind::Pacific, &[("submarines", "true")], seed)).sum();
    assert!(arrows > 200, "{arrows}");
}

#[test]
fn nothing_covers_a_text_or_an_arrowhead_on_boards_of_quantum() {
    let arrows: usize = (0..4).map(|seed| look_through(GameKind::Quantum, &[("jump", "on")], seed)).sum();
    assert!(arrows > 100, "{arrows}");
}

#[test]
fn nothing_covers_a_text_on_boards_of_quad() {
    for seed in 0..6 {
        look_through(GameKind::Quad, &[("trainer", "on")], seed);
    }
}

#[test]
fn covered_signs_are_found() {
    let ink = Colour::hex(0x112233);
    let mut picture = Picture::new(100, 100, Colour::hex(0xffffff));
    picture.arrow((10.0, 10.0), (50.0, 10.0), ink, 4.0);
    picture.text(20.0, 60.0, 20.0, Anchor::Start, ink, "one");
    assert_eq!((heads(&picture).len(), faults(&picture)), (1, Vec::new()));
    picture.text(40.0, 65.0, 20.0, Anchor::Start, ink, "two");
    picture.rect(44.0, 8.0, 10.0, 10.0, ink);
    picture.text(90.0, 90.0, 20.0, Anchor::Start, ink, "three");
    assert_eq!(faults(&picture).len(), 3, "{:?}", faults(&picture));
    picture.line((95.0, 70.0), (95.0, 98.0), ink, 3.0);
    assert_eq!(faults(&picture).len(), 4, "{:?}", faults(&picture));
}
