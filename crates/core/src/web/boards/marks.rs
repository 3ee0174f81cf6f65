//! Marks: groups of shapes that lie on one another, such as a star and its value.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::game::picture::{Anchor, Colour, Picture, Point, Shape};
use crate::report::text_width;

/// The views of each step.
#[derive(Clone, Copy, Debug)]
pub struct Views {
    pub count: usize,
    /// The view that is visible without styles.
    pub open: usize,
}

impl Views {
    /// Returns the class of elements that only these views show, a bit each; `None` if all do. The truth is the last
    /// of three.
    pub fn class(self, mask: u8) -> Option<&'static str> {
        match (self.count, mask) {
            (2, 0b01) | (3, 0b001) => Some("f"),
            (2, 0b10) | (3, 0b010) => Some("s"),
            (3, 0b100) => Some("t"),
            (3, 0b011) => Some("fs"),
            (3, 0b101) => Some("ft"),
            (3, 0b110) => Some("st"),
            _ => None,
        }
    }

    /// Whether the view that is visible without styles is among these.
    pub fn is_open(self, mask: u8) -> bool {
        mask & (1 << self.open) != 0
    }
}

/// A rectangle in tenths of a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    left: i32,
    top: i32,
    right: i32,
    bottom: i32,
}

impl Bounds {
    fn around(points: &[Point], margin: f64) -> Bounds {
        let least = |of: fn(&Point) -> f64| points.iter().map(of).fold(f64::MAX, f64::min) - margin;
        let most = |of: fn(&Point) -> f64| points.iter().map(of).fold(f64::MIN, f64::max) + margin;
        Bounds {
            left: tenths(least(|p| p.0)),
            top: tenths(least(|p| p.1)),
            right: tenths(most(|p| p.0)),
            bottom: tenths(most(|p| p.1)),
        }
    }

    fn of(shape: &Shape) -> Bounds {
        match shape {
            Shape::Rect { x, y, width, height, .. } => {
                Bounds::around(&[(*x, *y), (x + width, y + height)], 0.0)
            }
            Shape::Frame { x, y, width, height, stroke } => {
                Bounds::around(&[(*x, *y), (x + width, y + height)], stroke.width / 2.0)
            }
            Shape::Circle { centre, radius, stroke, .. } => {
                Bounds::around(&[*centre], radius + stroke.width / 2.0)
            }
            Shape::Line { from, to, stroke } => Bounds::around(&[*from, *to], stroke.width / 2.0),
            Shape::Polygon { points, stroke, .. } => Bounds::around(points, stroke.width),
            Shape::Text { x, baseline, size, anchor, text, .. } => {
                let width = size * f64::from(text_width(text));
                let left = match anchor {
                    Anchor::Start => *x,
                    Anchor::Middle => x - width / 2.0,
                    Anchor::End => x - width,
                };
                Bounds::around(&[(left, baseline - size), (left + width, baseline + 0.25 * size)], 0.0)
            }
        }
    }

    fn and(self, other: Bounds) -> Bounds {
        Bounds {
            left: self.left.min(other.left),
            top: self.top.min(other.top),
            right: self.right.max(other.right),
            bottom: self.bottom.max(other.bottom),
        }
    }

    /// Whether two rectangles share more than a strip of this width.
    fn overlaps(self, other: Bounds, strip: i32) -> bool {
        self.left + strip < other.right
            && other.left + strip < self.right
            && self.top + strip < other.bottom
            && other.top + strip < self.bottom
    }

    fn holds(self, other: Bounds) -> bool {
        self.and(other) == self
    }

    fn has_middle_of(self, other: Bounds) -> bool {
        let (x, y) = ((other.left + other.right) / 2, (other.top + other.bottom) / 2);
        self.left <= x && x <= self.right && self.top <= y && y <= self.bottom
    }

    fn area(self) -> i64 {
        i64::from(self.right - self.left) * i64::from(self.bottom - self.top)
    }
}

/// The width of an invisible overlap, in tenths of a pixel.
const HAIR: i32 = 10;

/// The same for two marks with outlines of one colour: both draw the line between them.
const OUTLINE: i32 = 20;

/// A frame around a larger area, in hundredths of a square pixel, is a mark of its own, because things are
/// drawn inside it.
const LARGE: i64 = 800_000;

/// A shape on a mark of at least this many times its area is a mark of its own, so that equal shapes are
/// found.
const SMALL: i64 = 8;

pub fn tenths(length: f64) -> i32 {
    // `f64::round` is slower here: it calls the C library.
    (length * 10.0 + 0.5_f64.copysign(length)) as i32
}

/// A mark at its place. Equal shapes elsewhere are another mark with the same symbol.
#[derive(Clone, Debug)]
pub struct Mark {
    pub symbol: usize,
    /// The place of the symbol's origin, in tenths of a pixel.
    pub at: (i32, i32),
    pub bounds: Bounds,
    /// Rectangles that cover it, if these are much smaller than its bounds.
    parts: Vec<Bounds>,
    /// The colour of the frame around it.
    outline: Option<Colour>,
    /// Whether it covers all of its bounds.
    is_tile: bool,
}

impl Mark {
    /// Whether the later of the two would hide a part of the other.
    fn overlaps(&self, other: &Mark) -> bool {
        let strip = if self.outline.is_some() && self.outline == other.outline { OUTLINE } else { HAIR };
        let meets = |part: &Bounds| other.covering().iter().any(|other| part.overlaps(*other, strip));
        self.bounds.overlaps(other.bounds, strip) && self.covering().iter().any(meets)
    }

    /// The rectangles that cover it.
    fn covering(&self) -> &[Bounds] {
        if self.parts.is_empty() { std::slice::from_ref(&self.bounds) } else { &self.parts }
    }
}

/// All marks of a match, and the shapes of their symbols.
#[derive(Debug, Default)]
pub struct Catalogue {
    pub marks: Vec<Mark>,
    /// The shapes of each symbol, and the place from which they were taken.
    pub symbols: Vec<(Vec<Shape>, Point)>,
    symbol_by_key: BTreeMap<Vec<i32>, usize>,
    mark_by_place: BTreeMap<(usize, i32, i32), u32>,
}

impl Catalogue {
    pub fn len(&self) -> u32 {
        u32::try_from(self.marks.len()).expect("fewer shapes than that")
    }

    pub fn mark(&self, id: u32) -> &Mark {
        &self.marks[id as usize]
    }

    fn add(&mut self, shapes: &[Shape], bounds: Bounds) -> u32 {
        let origin = origin(&shapes[0]);
        let key = key(shapes, origin);
        let next = self.symbols.len();
        let symbol = *self.symbol_by_key.entry(key).or_insert(next);
        if symbol == next {
            self.symbols.push((shapes.to_vec(), origin));
        }
        let at = (tenths(origin.0), tenths(origin.1));
        let next = self.len();
        let id = *self.mark_by_place.entry((symbol, at.0, at.1)).or_insert(next);
        if id == next {
            self.marks.push(Mark {
                symbol,
                at,
                bounds,
                parts: parts(shapes),
                outline: outline(shapes, bounds),
                is_tile: matches!(shapes[0], Shape::Rect { .. }) && Bounds::of(&shapes[0]) == bounds,
            });
        }
        id
    }
}

/// A set of marks.
#[derive(Clone, Debug)]
pub struct MarkSet(Vec<u64>);

impl MarkSet {
    /// A set of some of `count` marks, which is empty.
    fn none(count: usize) -> MarkSet {
        MarkSet(vec![0; count.div_ceil(64)])
    }

    pub fn insert(&mut self, mark: u32) {
        self.0[mark as usize / 64] |= 1 << (mark % 64);
    }

    pub fn has(&self, mark: u32) -> bool {
        self.0[mark as usize / 64] & (1 << (mark % 64)) != 0
    }

    /// Adds all marks of the other.
    pub fn add(&mut self, other: &MarkSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(one, other)| *one |= other);
    }

    /// Returns the marks that are not in the other.
    pub fn without(&self, other: &MarkSet) -> MarkSet {
        MarkSet(self.0.iter().zip(&other.0).map(|(one, other)| one & !other).collect())
    }

    /// Whether the two have a mark in common.
    pub fn meets(&self, other: &MarkSet) -> bool {
        self.0.iter().zip(&other.0).any(|(one, other)| one & other != 0)
    }
}

/// For each mark, the marks that overlap it.
pub struct Overlaps {
    /// Marks that look different if drawn in another order.
    of: Vec<MarkSet>,
    /// Marks that hide all of it if drawn later.
    hidden_by: Vec<MarkSet>,
}

impl Overlaps {
    /// The number of marks.
    pub fn len(&self) -> usize {
        self.of.len()
    }

    /// A set without marks.
    pub fn none(&self) -> MarkSet {
        MarkSet::none(self.len())
    }

    pub fn has(&self, mark: u32, other: u32) -> bool {
        self.of(mark).has(other)
    }

    /// Returns the marks whose order relative to this one matters.
    pub fn of(&self, mark: u32) -> &MarkSet {
        &self.of[mark as usize]
    }

    /// Whether a mark overlaps one of these.
    pub fn any(&self, mark: u32, others: &MarkSet) -> bool {
        self.of(mark).meets(others)
    }

    /// Returns the marks that hide all of this one if drawn later.
    pub fn hidden_by(&self, mark: u32) -> &MarkSet {
        &self.hidden_by[mark as usize]
    }
}

/// Finds the marks that overlap.
pub fn overlaps(catalogue: &Catalogue) -> Overlaps {
    let count = catalogue.marks.len();
    let (mut of, mut hidden_by) = (vec![MarkSet::none(count); count], vec![MarkSet::none(count); count]);
    let mut by_left: Vec<u32> = (0..catalogue.len()).collect();
    by_left.sort_by_key(|mark| catalogue.mark(*mark).bounds.left);
    // The marks that reach to the left edge of the next one.
    let mut near: Vec<u32> = Vec::new();
    for mark in by_left {
        let drawn = catalogue.mark(mark);
        near.retain(|other| catalogue.mark(*other).bounds.right > drawn.bounds.left);
        for other in &near {
            if drawn.overlaps(catalogue.mark(*other)) {
                of[mark as usize].insert(*other);
                of[*other as usize].insert(mark);
                for (lower, upper) in [(mark, *other), (*other, mark)] {
                    let tile = catalogue.mark(upper);
                    if tile.is_tile && tile.bounds.holds(catalogue.mark(lower).bounds) {
                        hidden_by[lower as usize].insert(upper);
                    }
                }
            }
        }
        near.push(mark);
    }
    Overlaps { of, hidden_by }
}

/// Reads the pictures. Returns the catalogue, and for each step and view the marks in the order of drawing.
pub fn read(steps: &[Vec<Picture>]) -> (Catalogue, Vec<Vec<Vec<u32>>>) {
    let mut catalogue = Catalogue::default();
    let mut read = |picture: &Picture| marks_of(&mut catalogue, picture);
    let sequences = steps.iter().map(|views| views.iter().map(&mut read).collect()).collect();
    align(&mut catalogue);
    (catalogue, sequences)
}

/// Splits shapes that end with text into the others and the text.
pub fn body(shapes: &[Shape]) -> Option<(&[Shape], &[Shape])> {
    match shapes.last() {
        Some(Shape::Text { .. }) if shapes.len() > 1 => Some(shapes.split_at(shapes.len() - 1)),
        _ => None,
    }
}

/// Maximum places of a group of alike symbols to compare with those of other groups.
const COMPARED: usize = 8;

/// The largest move of an origin in each direction, in tenths of a pixel.
const MOST_MOVED: i32 = 700;

/// Moves the origins of symbols so that the marks on a square have the same coordinates, which compress well. Symbols
/// that differ only in their text move together.
fn align(catalogue: &mut Catalogue) {
    let mut alike: BTreeMap<Vec<i32>, usize> = BTreeMap::new();
    let group_of: Vec<usize> = catalogue
        .symbols
        .iter()
        .map(|(shapes, origin)| {
            let next = alike.len();
            *alike.entry(key(body(shapes).map_or(shapes, |(body, _)| body), *origin)).or_insert(next)
        })
        .collect();
    let mut groups: Vec<Vec<(i32, i32)>> = vec![Vec::new(); alike.len()];
    catalogue.marks.iter().for_each(|mark| groups[group_of[mark.symbol]].push(mark.at));
    groups.iter_mut().for_each(|places| {
        places.sort_unstable();
        places.dedup();
    });
    let mut order: Vec<usize> = (0..groups.len()).filter(|group| groups[*group].len() > 1).collect();
    order.sort_by_key(|group| (Reverse(groups[*group].len()), *group));
    let mut moves = vec![(0, 0); groups.len()];
    let mut known: BTreeSet<(i32, i32)> = BTreeSet::new();
    for group in order {
        let mut found: Vec<(i32, i32)> = Vec::new();
        for (x, y) in groups[group].iter().take(COMPARED) {
            let near = known.range((x - MOST_MOVED, i32::MIN)..=(x + MOST_MOVED, i32::MAX));
            found
                .extend(near.map(|(to_x, to_y)| (to_x - x, to_y - y)).filter(|(_, y)| y.abs() <= MOST_MOVED));
        }
        found.sort_unstable();
        let best = found.chunk_by(|one, other| one == other).max_by_key(|same| same.len());
        moves[group] = best.filter(|same| same.len() > 1).map_or((0, 0), |same| same[0]);
        let (x, y) = moves[group];
        known.extend(groups[group].iter().map(|place| (place.0 + x, place.1 + y)));
    }
    for mark in &mut catalogue.marks {
        let (x, y) = moves[group_of[mark.symbol]];
        mark.at = (mark.at.0 + x, mark.at.1 + y);
    }
    for ((_, origin), group) in catalogue.symbols.iter_mut().zip(group_of) {
        let (x, y) = moves[group];
        *origin = (origin.0 + f64::from(x) / 10.0, origin.1 + f64::from(y) / 10.0);
    }
}

fn marks_of(catalogue: &mut Catalogue, picture: &Picture) -> Vec<u32> {
    // Larger shapes are marks of their own, or all others would be part of the board's ground.
    let most = i64::from(picture.width) * i64::from(picture.height) * 100 / 12;
    let mut marks = Vec::new();
    let mut rest = picture.shapes.as_slice();
    while let Some(first) = rest.first() {
        let mut bounds = Bounds::of(first);
        let count = match arrow(rest) {
            Some(count) => {
                bounds = rest[..count].iter().map(Bounds::of).fold(bounds, Bounds::and);
                count
            }
            None => {
                let mut count = 1;
                while count < rest.len() && arrow(&rest[count..]).is_none() {
                    let next = Bounds::of(&rest[count]);
                    if !joins(&rest[..=count], bounds, next, most) {
                        break;
                    }
                    bounds = bounds.and(next);
                    count += 1;
                }
                count
            }
        };
        marks.push(catalogue.add(&rest[..count], bounds));
        rest = &rest[count..];
    }
    marks
}

/// Returns how many of the first shapes make one arrow: lines that end in one place, and their head.
pub fn arrow(shapes: &[Shape]) -> Option<usize> {
    let Some(Shape::Line { to, stroke, .. }) = shapes.first() else { return None };
    let is_tail = |shape: &&Shape| matches!(shape, Shape::Line { to: end, stroke: own, .. } if (end, own) == (to, stroke));
    let tails = shapes.iter().take_while(is_tail).count();
    match shapes.get(tails) {
        Some(Shape::Polygon { points, fill, .. }) if points.len() == 3 && *fill == Some(stroke.colour) => {
            Some(tails + 1)
        }
        _ => None,
    }
}

/// Whether the last of these shapes belongs to the same mark as those before it, whose bounds are `held`.
fn joins(shapes: &[Shape], held: Bounds, bounds: Bounds, most: i64) -> bool {
    let (larger, smaller) = (bounds.area().max(held.area()), bounds.area().min(held.area()));
    let is_framed =
        [&shapes[0], &shapes[shapes.len() - 1]].into_iter().any(|s| matches!(s, Shape::Frame { .. }));
    let is_line = matches!(shapes.last(), Some(Shape::Line { .. }));
    larger < most
        && (is_line || larger <= SMALL * smaller)
        && !(is_framed && larger > LARGE)
        && (held.has_middle_of(bounds) || bounds.has_middle_of(held))
}

fn outline(shapes: &[Shape], bounds: Bounds) -> Option<Colour> {
    let of = |shape: &Shape| match shape {
        Shape::Frame { stroke, .. } if Bounds::of(shape) == bounds => Some(stroke.colour),
        _ => None,
    };
    shapes.iter().find_map(of)
}

/// The pieces into which the lines of an arrow are cut.
const PIECES: u8 = 8;

/// The sides of a lone frame, and the pieces of an arrow.
fn parts(shapes: &[Shape]) -> Vec<Bounds> {
    match shapes {
        [Shape::Frame { x, y, width, height, stroke }] => {
            let (right, bottom) = (x + width, y + height);
            let corners = [(*x, *y), (right, *y), (right, bottom), (*x, bottom)];
            let side = |no: usize| Bounds::around(&[corners[no], corners[(no + 1) % 4]], stroke.width / 2.0);
            (0..4).map(side).collect()
        }
        _ if arrow(shapes) == Some(shapes.len()) => shapes.iter().flat_map(pieces).collect(),
        _ => Vec::new(),
    }
}

fn pieces(shape: &Shape) -> Vec<Bounds> {
    let Shape::Line { from, to, stroke } = shape else { return vec![Bounds::of(shape)] };
    let point = |no: u8| {
        let part = f64::from(no) / f64::from(PIECES);
        (from.0 + (to.0 - from.0) * part, from.1 + (to.1 - from.1) * part)
    };
    (0..PIECES).map(|no| Bounds::around(&[point(no), point(no + 1)], stroke.width / 2.0)).collect()
}

/// The place to which the shapes of a symbol are relative.
fn origin(first: &Shape) -> Point {
    match first {
        Shape::Rect { x, y, .. } | Shape::Frame { x, y, .. } => (*x, *y),
        Shape::Circle { centre, .. } => *centre,
        Shape::Line { from, .. } => *from,
        Shape::Polygon { points, .. } => points.first().copied().unwrap_or_default(),
        Shape::Text { x, baseline, .. } => (*x, *baseline),
    }
}

/// The shapes as numbers, relative to `origin`, by which equal symbols are found.
pub fn key(shapes: &[Shape], origin: Point) -> Vec<i32> {
    let mut key = Vec::with_capacity(12 * shapes.len());
    shapes.iter().for_each(|shape| add_to_key(&mut key, shape, origin));
    key
}

fn add_to_key(key: &mut Vec<i32>, shape: &Shape, origin: Point) {
    let place = |(x, y): Point| [tenths(x - origin.0), tenths(y - origin.1)];
    let colour = |Colour { red, green, blue }: Colour| i32::from_be_bytes([0, red, green, blue]);
    match shape {
        Shape::Rect { x, y, width, height, fill } => {
            key.extend([0, tenths(*width), tenths(*height), colour(*fill)]);
            key.extend(place((*x, *y)));
        }
        Shape::Frame { x, y, width, height, stroke } => {
            key.extend([1, tenths(*width), tenths(*height), colour(stroke.colour), tenths(stroke.width)]);
            key.extend(place((*x, *y)));
        }
        Shape::Circle { centre, radius, fill, stroke } => {
            key.extend([2, tenths(*radius), colour(*fill), colour(stroke.colour), tenths(stroke.width)]);
            key.extend(place(*centre));
        }
        Shape::Line { from, to, stroke } => {
            key.extend([3, colour(stroke.colour), tenths(stroke.width)]);
            key.extend([place(*from), place(*to)].as_flattened());
        }
        Shape::Polygon { points, fill, stroke } => {
            key.extend([4, fill.map_or(-1, colour), colour(stroke.colour), tenths(stroke.width)]);
            key.extend(points.iter().flat_map(|point| place(*point)));
        }
        Shape::Text { x, baseline, size, anchor, fill, text } => {
            key.extend([5, tenths(*size), *anchor as i32, colour(*fill)]);
            key.extend(place((*x, *baseline)));
            key.extend(text.chars().map(|c| i32::try_from(u32::from(c)).expect("below 2^21")));
        }
    }
    key.push(i32::MIN);
}
