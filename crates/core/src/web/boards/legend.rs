//! The legend of a match: every sign that appears on any of its boards, once.

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

/// Removes the legends from the pictures, which then end below their boards. Returns the pictures and one
/// common legend.
pub fn separate(steps: Vec<Vec<Picture>>, views: Views) -> (Vec<Vec<Picture>>, Vec<LegendLine>) {
    let mut signs: Vec<Sign> = Vec::new();
    for view in 0..views.count {
        let mut own: Vec<Sign> = Vec::new();
        for picture in steps.iter().map(|views| &views[view]) {
            for sign in &picture.signs {
                let words = words(picture, sign);
                let kind = words.replace(|c: char| c.is_ascii_digit(), "");
                if own.iter().any(|known| known.kind == kind) {
                    continue;
                }
                let sample = sample(picture, sign);
                if !own.iter().any(|known| known.sample == sample) {
                    own.push(Sign { kind, words, sample, views: 1 << view });
                }
            }
        }
        for sign in own {
            match signs
                .iter_mut()
                .find(|known| known.kind == sign.kind && shapes(&known.sample) == shapes(&sign.sample))
            {
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
    (steps.into_iter().map(|views| views.into_iter().map(board).collect()).collect(), lines.collect())
}

struct Sign {
    /// The words without numbers: `your ship 3` and `your ship 5` are one sign.
    kind: String,
    words: String,
    sample: String,
    views: u8,
}

/// A sample without the letters and numbers on it.
fn shapes(sample: &str) -> String {
    sample.split('<').map(|part| part.split_once('>').map_or(part, |(shape, _)| shape)).collect()
}

fn words(picture: &Picture, sign: &LegendSign) -> String {
    let words = picture.shapes[sign.shapes.clone()].iter().filter_map(|shape| match shape {
        Shape::Text { anchor: Anchor::Start, text, .. } => Some(text.as_str()),
        _ => None,
    });
    // The readers of a replay are on neither side.
    words.collect::<Vec<_>>().join(" ").trim_end_matches(": you").trim_end_matches(" (you)").to_owned()
}

fn sample(picture: &Picture, sign: &LegendSign) -> String {
    let is_words = |shape: &&Shape| matches!(shape, Shape::Text { anchor: Anchor::Start, .. });
    let shapes = picture.shapes[sign.shapes.clone()].iter().filter(|shape| !is_words(shape));
    let mut sample = String::new();
    svg::add(&mut sample, &shapes.cloned().collect::<Vec<_>>(), sign.at);
    sample
}

/// The picture without its legend.
fn board(mut board: Picture) -> Picture {
    let signs = std::mem::take(&mut board.signs);
    let (Some(first), Some(last)) = (signs.first(), signs.last()) else { return board };
    board.shapes.drain(first.shapes.start..last.shapes.end);
    board.height = (first.at.1 - ABOVE) as u32;
    // Shorten the ground, which would reach below the board.
    if let Some(Shape::Rect { height, .. }) = board.shapes.first_mut() {
        *height = f64::from(board.height);
    }
    board
}
