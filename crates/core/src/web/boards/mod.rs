//! The boards of a replay: all pictures of a match, drawn once as SVG symbols that its steps use.
//!
//! The pictures are those of the letters. Their shapes are grouped into [`marks`](marks). Marks that never change go
//! into one of two layers ([`layers`]), marks that several views share are drawn once ([`merge`]), and marks that are
//! often neighbours get a common name ([`pairs`]). The legends of all boards become one ([`legend`]).

use crate::game::picture::Picture;

pub mod dark;
mod layers;
mod legend;
mod marks;
mod merge;
mod pairs;
mod svg;
mod symbols;
#[cfg(test)]
mod tests;

pub use dark::dark_style;
pub use legend::LegendLine;
pub use svg::fragment;

/// All boards of a match as SVG.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boards {
    /// The symbols, for one hidden drawing on the page.
    pub symbols: String,
    /// The contents of a drawing for each step.
    pub steps: Vec<String>,
    pub legend: Vec<LegendLine>,
    pub width: u32,
    pub height: u32,
}

/// Draws the pictures of each step. Every step has one for each view, in the same order.
///
/// `open` is the view that is visible without styles.
pub fn draw(steps: Vec<Vec<Picture>>, open: usize) -> Boards {
    let views = marks::Views { count: steps.first().map_or(0, Vec::len), open };
    let (pictures, legend) = legend::separate(steps, views);
    let (catalogue, sequences) = marks::read(&pictures);
    let overlaps = marks::overlaps(&catalogue);
    let (lowest, rest) = layers::lowest(&overlaps, sequences);
    let (middle, below, above) = layers::middle(&overlaps, &rest);
    // The lower halves of all steps, and then the upper ones.
    let halves: Vec<_> = below.iter().chain(&above).map(|views| merge::merge(views)).collect();
    let order = merge::order(&halves);
    let halves = halves.iter().map(|half| merge::gather(&overlaps, &order, half)).collect();
    let (pairs, halves) = pairs::join(catalogue.len(), halves);
    let (symbols, written) = symbols::write(&catalogue, &pairs, [&lowest, &middle], &halves, views);
    let size = |of: fn(&Picture) -> u32| pictures.iter().flatten().map(of).max().unwrap_or(0);
    Boards {
        symbols,
        steps: written,
        legend,
        width: size(|picture| picture.width),
        height: size(|picture| picture.height),
    }
}
