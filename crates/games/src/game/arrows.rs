//! Arrows between the signs on a board. Their heads stay clear of everything that is drawn above them.

use super::picture::{Bounds, Colour, HEAD_LENGTH, Picture, Point, arrowhead};

/// The distance from an arrow to the signs at its ends, in pixels.
const GAP: f64 = 1.5;
/// The least cosine of the angle between an arrow and the edge's normal at which it leaves or meets a sign.
const STEEP: f64 = 0.25;
/// The price of an obstructed part of a head, in pixels of length.
const HIDDEN_HEAD: f64 = 1_000.0;
/// The price of a hidden pixel of the line, in pixels of length.
const HIDDEN_WAY: f64 = 3.0;

/// The price of a right angle between the line and its head, in pixels of length.
const BEND: f64 = 20.0;

/// An end of an arrow.
#[derive(Clone, Debug)]
pub enum End {
    /// The middle of an empty place.
    Point(Point),
    /// The outline of a sign made of rectangles.
    Outline(Vec<Bounds>),
}

/// Something that hides what lies below it.
#[derive(Clone, Copy, Debug)]
pub enum Obstacle {
    Rectangle(Bounds),
    Disc {
        centre: Point,
        radius: f64,
    },
    /// A strip under which lines may pass, but not their heads.
    Bridge(Bounds),
}

impl Obstacle {
    fn hides(self, point: Point) -> bool {
        match self {
            Obstacle::Rectangle(bounds) | Obstacle::Bridge(bounds) => bounds.contains(point),
            Obstacle::Disc { centre, radius } => distance(centre, point) <= radius,
        }
    }
}

/// The arrows of one board, in one colour.
pub struct Arrows {
    colour: Colour,
    stroke_width: f64,
    obstacles: Vec<Obstacle>,
}

/// A point on the edge of a sign, or within an empty place, and the direction that leads away from the sign.
#[derive(Clone, Copy)]
struct Mooring {
    at: Point,
    outwards: Option<Point>,
}

/// Lines that share one head: the tails, and the tip and direction of the head.
struct Bundle {
    tails: Vec<Point>,
    tip: Point,
    along: Point,
}

impl Bundle {
    /// The largest angle between the head and a tail: 0 if they lie in one line, 1 at a right angle.
    fn bend(&self) -> f64 {
        let bends = self.tails.iter().map(|tail| {
            let length = distance(*tail, self.tip).max(0.1);
            let x = (self.tip.0 - tail.0) / length;
            let y = (self.tip.1 - tail.1) / length;
            1.0 - (x * self.along.0 + y * self.along.1)
        });
        bends.fold(0.0, f64::max)
    }
}

impl Arrows {
    pub fn new(colour: Colour, stroke_width: f64, obstacles: Vec<Obstacle>) -> Self {
        Arrows { colour, stroke_width, obstacles }
    }

    /// Draws lines from all of `from` that end in one arrowhead at `to`.
    pub fn draw(&mut self, picture: &mut Picture, from: &[End], to: &End) {
        let from: Vec<Vec<Mooring>> = from.iter().map(End::moorings).collect();
        let Some(bundle) = self.best(&from, &to.moorings()) else { return };
        let back = self.back(&bundle);
        for tail in &bundle.tails {
            picture.line(*tail, back, self.colour, self.stroke_width);
        }
        let head = arrowhead(bundle.tip, bundle.along, self.stroke_width);
        picture.polygon(&head, self.colour, self.colour, 1.0);
        let radius = HEAD_LENGTH * self.stroke_width / 2.0;
        let centre = ((bundle.tip.0 + back.0) / 2.0, (bundle.tip.1 + back.1) / 2.0);
        self.obstacles.push(Obstacle::Disc { centre, radius });
    }

    /// The middle of a head's base.
    fn back(&self, bundle: &Bundle) -> Point {
        let length = HEAD_LENGTH * self.stroke_width;
        (bundle.tip.0 - bundle.along.0 * length, bundle.tip.1 - bundle.along.1 * length)
    }

    fn best(&self, from: &[Vec<Mooring>], to: &[Mooring]) -> Option<Bundle> {
        let bundles = to.iter().flat_map(|tip| match from {
            [only] => {
                let bent = only.iter().filter_map(|start| self.bent(*start, *tip));
                only.iter().filter_map(|start| bundle(*start, *tip)).chain(bent).collect::<Vec<_>>()
            }
            _ => self.joined(from, *tip),
        });
        let mut best: Option<(f64, Bundle)> = None;
        for bundle in bundles {
            let most = best.as_ref().map_or(f64::INFINITY, |(price, _)| *price);
            if let Some(price) = self.price_below(&bundle, most) {
                best = Some((price, bundle));
            }
        }
        best.map(|(_, bundle)| bundle)
    }

    /// An arrow whose head is perpendicular to the sign's edge. It fits between two signs where a slanted one
    /// does not.
    fn bent(&self, start: Mooring, tip: Mooring) -> Option<Bundle> {
        let (x, y) = tip.outwards?;
        let bundle = Bundle { tails: vec![start.at], tip: tip.at, along: (-x, -y) };
        let back = self.back(&bundle);
        let along = (back.0 - start.at.0) * -x + (back.1 - start.at.1) * -y;
        (along > 0.0 && start.leaves_towards(back)).then_some(bundle)
    }

    /// Bundles of several tails with this tip. The head points away from the middle of the origins, or is perpendicular
    /// to the sign's edge.
    fn joined(&self, from: &[Vec<Mooring>], tip: Mooring) -> Vec<Bundle> {
        let all = || from.iter().flatten();
        let count = all().count() as f64;
        let sum = all().fold((0.0, 0.0), |(x, y), mooring| (x + mooring.at.0, y + mooring.at.1));
        let middle = Mooring { at: (sum.0 / count, sum.1 / count), outwards: None };
        let heads = [bundle(middle, tip), self.bent(middle, tip)].into_iter().flatten();
        heads.filter_map(|head| self.with_tails(head, from)).collect()
    }

    /// The bundle with the cheapest tail from each origin.
    fn with_tails(&self, head: Bundle, from: &[Vec<Mooring>]) -> Option<Bundle> {
        let back = self.back(&head);
        let price = |from: Point| distance(from, back) + HIDDEN_WAY * self.hidden(from, back);
        let cheapest = |moorings: &Vec<Mooring>| {
            let leaving = moorings.iter().filter(|mooring| mooring.leaves_towards(back));
            let priced = leaving.map(|mooring| (price(mooring.at), mooring.at));
            priced.min_by(|(one, _), (other, _)| one.total_cmp(other)).map(|(_, at)| at)
        };
        let tails = from.iter().map(cheapest).collect::<Option<_>>()?;
        Some(Bundle { tails, ..head })
    }

    /// Returns the price of a bundle if it is below `most`. Hidden parts are priced last, because that takes longest.
    fn price_below(&self, bundle: &Bundle, most: f64) -> Option<f64> {
        let lines = bundle.tails.iter().map(|tail| {
            let length = distance(*tail, bundle.tip);
            // A head needs its whole length, and a little of its line.
            let lacking = (HEAD_LENGTH * self.stroke_width + 1.0 - length).max(0.0);
            length + HIDDEN_HEAD * lacking
        });
        let open = lines.sum::<f64>() + BEND * bundle.bend();
        if open >= most {
            return None;
        }
        let [tip, left, right] = arrowhead(bundle.tip, bundle.along, self.stroke_width);
        let head = [tip, left, right, midpoint(tip, left), midpoint(tip, right), midpoint(left, right)];
        let is_hidden = |point: &&Point| self.obstacles.iter().any(|obstacle| obstacle.hides(**point));
        let hidden_head = HIDDEN_HEAD * head.iter().filter(is_hidden).count() as f64;
        if open + hidden_head >= most {
            return None;
        }
        let back = self.back(bundle);
        let hidden_way: f64 = bundle.tails.iter().map(|tail| HIDDEN_WAY * self.hidden(*tail, back)).sum();
        Some(open + hidden_head + hidden_way).filter(|price| *price < most)
    }

    /// Length of the part of a line that lies under signs.
    fn hidden(&self, from: Point, to: Point) -> f64 {
        const STEP: f64 = 4.0;
        let near = Bounds {
            left: from.0.min(to.0),
            top: from.1.min(to.1),
            right: from.0.max(to.0),
            bottom: from.1.max(to.1),
        };
        let near = near.grown(1.0);
        let meets = |bounds: Bounds| {
            bounds.left < near.right
                && bounds.right > near.left
                && bounds.top < near.bottom
                && bounds.bottom > near.top
        };
        let obstacles: Vec<Obstacle> = self
            .obstacles
            .iter()
            .copied()
            .filter(|obstacle| match *obstacle {
                Obstacle::Rectangle(bounds) => meets(bounds),
                Obstacle::Disc { centre, radius } => meets(Bounds::around(centre, radius, radius)),
                Obstacle::Bridge(_) => false,
            })
            .collect();
        let steps = (distance(from, to) / STEP).floor().max(1.0);
        let mut hidden = 0.0;
        let mut step = 0.5;
        while step < steps {
            let at = step / steps;
            let point = (from.0 + (to.0 - from.0) * at, from.1 + (to.1 - from.1) * at);
            if obstacles.iter().any(|obstacle| obstacle.hides(point)) {
                hidden += STEP;
            }
            step += 1.0;
        }
        hidden
    }
}

fn midpoint(one: Point, other: Point) -> Point {
    ((one.0 + other.0) / 2.0, (one.1 + other.1) / 2.0)
}

impl End {
    /// The points at which an arrow may begin or end: three on each edge, except those inside the sign.
    fn moorings(&self) -> Vec<Mooring> {
        let parts = match self {
            End::Point(at) => return vec![Mooring { at: *at, outwards: None }],
            End::Outline(parts) => parts,
        };
        let mut moorings = Vec::new();
        for part in parts {
            let edge = part.grown(GAP);
            let width = part.right - part.left;
            let height = part.bottom - part.top;
            for share in [0.15, 0.5, 0.85] {
                let x = part.left + share * width;
                let y = part.top + share * height;
                let sides = [
                    ((x, edge.top), (0.0, -1.0)),
                    ((x, edge.bottom), (0.0, 1.0)),
                    ((edge.left, y), (-1.0, 0.0)),
                    ((edge.right, y), (1.0, 0.0)),
                ];
                let free = sides.into_iter().filter(|(at, _)| !parts.iter().any(|part| part.contains(*at)));
                moorings.extend(free.map(|(at, outwards)| Mooring { at, outwards: Some(outwards) }));
            }
        }
        moorings
    }
}

impl Mooring {
    /// Whether a line from here to `to` leads away from the sign.
    fn leaves_towards(&self, to: Point) -> bool {
        let length = distance(self.at, to).max(0.1);
        let along = ((to.0 - self.at.0) / length, (to.1 - self.at.1) / length);
        self.outwards.is_none_or(|outwards| outwards.0 * along.0 + outwards.1 * along.1 >= STEEP)
    }
}

/// A straight arrow, if it leaves one sign and meets the other at steep enough angles.
fn bundle(start: Mooring, tip: Mooring) -> Option<Bundle> {
    let length = distance(start.at, tip.at);
    let meets = start.leaves_towards(tip.at) && tip.leaves_towards(start.at) && length > 0.0;
    meets.then(|| Bundle {
        tails: vec![start.at],
        tip: tip.at,
        along: ((tip.at.0 - start.at.0) / length, (tip.at.1 - start.at.1) / length),
    })
}

fn distance(one: Point, other: Point) -> f64 {
    // `f64::hypot` is slower, because it also handles numbers whose squares would overflow.
    let x = one.0 - other.0;
    let y = one.1 - other.1;
    (x * x + y * y).sqrt()
}
