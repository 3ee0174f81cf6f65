//! The legend of a match: every sign that is on any of its boards, once.

use serde::Serialize;

use super::marks::Views;
use super::svg;
use crate::game::picture::{Anchor, LegendSign, Picture, Shape};

/// A line of the legend.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LegendLine {
    /// The class of the views that show it; `None` for all.
    pub class: Option<&'static str>,
    /// The contents of a drawing around the origin.
    pub sample: String,
    pub words: String,
}

/// Space between the middle of a legend's first sample and the board above it.
const ABOVE: f64 = 24.0;

/// Takes the legends off the pictures, which end below their boards. Returns these, and the one legend of all.
pub fn separate(steps: &[Vec<Picture>], views: Views) -> (Vec<Vec<Picture>>, Vec<LegendLine>) {
    let mut signs: Vec<Sign> = Vec::new();
    for view in 0..views.count {
        let mut own: Vec<Sign> = Vec::new();
        for picture in steps.iter().map(|views| &views[view]) {
            for sign in picture.signs.iter().map(|sign| Sign::of(picture, sign, 1 << view)) {
                if !own.iter().any(|known| known.kind == sign.kind) {
                    own.push(sign);
                }
            }
        }
        for sign in own {
            match signs.iter_mut().find(|known| known.kind == sign.kind && known.sample == sign.sample) {
                Some(known) => known.views |= sign.views,
                None => signs.push(sign),
            }
        }
    }
    let lines = signs.into_iter().map(|sign| LegendLine {
        class: views.class(sign.views),
        sample: sign.sample,
        words: sign.words,
    });
    (steps.iter().map(|views| views.iter().map(board).collect()).collect(), lines.collect())
}

struct Sign {
    /// The words without numbers: `your ship 3` and `your ship 5` are one sign.
    kind: String,
    words: String,
    sample: String,
    views: u8,
}

impl Sign {
    fn of(picture: &Picture, sign: &LegendSign, views: u8) -> Sign {
        let (mut words, mut shapes) = (Vec::new(), Vec::new());
        for shape in &picture.shapes[sign.shapes.clone()] {
            match shape {
                Shape::Text { anchor: Anchor::Start, text, .. } => words.push(text.as_str()),
                _ => shapes.push(shape.clone()),
            }
        }
        let words = words.join(" ");
        let mut sample = String::new();
        svg::add(&mut sample, &shapes, sign.at);
        Sign { kind: words.replace(|c: char| c.is_ascii_digit(), ""), words, sample, views }
    }
}

/// The picture without its legend.
fn board(picture: &Picture) -> Picture {
    let (Some(first), Some(last)) = (picture.signs.first(), picture.signs.last()) else {
        return picture.clone();
    };
    let mut board = picture.clone();
    board.signs.clear();
    board.shapes.drain(first.shapes.start..last.shapes.end);
    board.height = (first.at.1 - ABOVE) as u32;
    // The ground, which would reach below the board.
    if let Some(Shape::Rect { height, .. }) = board.shapes.first_mut() {
        *height = f64::from(board.height);
    }
    board
}
