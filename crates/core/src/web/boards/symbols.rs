//! Writes the symbols, and the steps that use them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::layers::Layer;
use super::marks::{self, Catalogue, Views, tenths};
use super::merge::Shown;
use super::pairs::Pairs;
use super::svg::{self, Length};
use crate::game::picture::{Point, Shape};

/// The number of times that each symbol, mark and pair is used.
struct Uses {
    symbols: Vec<u32>,
    marks: Vec<u32>,
    pairs: Vec<u32>,
    /// Whether a symbol is drawn at its place because it occurs only there.
    is_fixed: Vec<bool>,
    /// A mark used at least this often has a name.
    named: u32,
}

/// A part that symbols share has a name if it is used at least this often.
const SHARED: u32 = 4;

/// A mark has a name of its own if it is used at least this often, on a page with named pairs and on others. A name
/// saves coordinates, but coordinates compress better.
const NAMED: [u32; 2] = [4, 8];

struct Writer<'a> {
    catalogue: &'a Catalogue,
    pairs: &'a Pairs,
    uses: Uses,
    symbol_names: Vec<String>,
    mark_names: Vec<String>,
    pair_names: Vec<String>,
    /// The names of parts that several symbols have below their text, such as the plates of ships.
    body_names: BTreeMap<Vec<i32>, String>,
}

/// Returns the symbols and the contents of each step's drawing: the lowest layer, the lower half of the step, the other
/// layer, and the upper half. The upper halves follow all lower ones.
pub fn write(
    catalogue: &Catalogue,
    pairs: &Pairs,
    layers: [&Layer; 2],
    halves: &[Vec<Shown>],
    views: Views,
) -> (String, Vec<String>) {
    let uses = Uses::count(catalogue, pairs, layers, halves);
    let mut writer = Writer {
        catalogue,
        pairs,
        symbol_names: vec![String::new(); uses.symbols.len()],
        mark_names: vec![String::new(); uses.marks.len()],
        pair_names: vec![String::new(); uses.pairs.len()],
        body_names: BTreeMap::new(),
        uses,
    };
    // Every step uses the layers, so they get the first names.
    writer.name_all(layers.len() * (1 + views.count));
    let mut symbols = writer.symbols();
    let mut no = 0;
    let [lowest, middle] = layers.map(|layer| {
        let mut uses = String::new();
        let of_views = layer.of_views.iter().enumerate().map(|(view, marks)| (1 << view, marks));
        for (mask, marks) in std::iter::once((u8::MAX, &layer.common)).chain(of_views) {
            let name = name(no);
            no += 1;
            if marks.is_empty() {
                continue;
            }
            write!(symbols, "<g id={name}>").expect("a String");
            writer.add_marks(&mut symbols, marks);
            symbols.push_str("</g>");
            open_group(&mut uses, views, mask);
            write!(uses, "<use href=#{name} />").expect("a String");
            close_group(&mut uses, views, mask);
        }
        uses
    });
    let (below, above) = halves.split_at(halves.len() / 2);
    let step = |(below, above): (&Vec<Shown>, &Vec<Shown>)| {
        [&lowest, &writer.step(below, views), &middle, &writer.step(above, views)]
            .map(String::as_str)
            .concat()
    };
    let written = below.iter().zip(above).map(step).collect();
    (symbols, written)
}

impl Uses {
    fn count(catalogue: &Catalogue, pairs: &Pairs, layers: [&Layer; 2], halves: &[Vec<Shown>]) -> Uses {
        let mut uses = Uses {
            symbols: vec![0; catalogue.symbols.len()],
            marks: vec![0; catalogue.marks.len()],
            pairs: vec![0; pairs.pairs.len()],
            is_fixed: vec![true; catalogue.symbols.len()],
            named: NAMED[usize::from(pairs.pairs.is_empty())],
        };
        let in_layers =
            layers.iter().flat_map(|layer| layer.common.iter().chain(layer.of_views.iter().flatten()));
        for token in halves.iter().flatten().map(|(token, _)| token).chain(in_layers) {
            uses.add(pairs, *token);
        }
        // A pair is written once, however often it is used.
        for place in (0..pairs.pairs.len()).rev() {
            let (a, b) = pairs.pairs[place];
            if uses.pairs[place] > 0 {
                uses.add(pairs, a);
                uses.add(pairs, b);
            }
        }
        let mut places = vec![None; catalogue.symbols.len()];
        for (mark, count) in catalogue.marks.iter().zip(&uses.marks).filter(|(_, count)| **count > 0) {
            let place = places[mark.symbol].get_or_insert(mark.at);
            uses.is_fixed[mark.symbol] &= *place == mark.at;
            uses.symbols[mark.symbol] += if *count >= uses.named { 1 } else { *count };
        }
        for (mark, count) in catalogue.marks.iter().zip(&uses.marks) {
            if uses.is_fixed[mark.symbol] && *count > 0 {
                uses.symbols[mark.symbol] = *count;
            }
        }
        uses
    }

    fn add(&mut self, pairs: &Pairs, token: u32) {
        match token.checked_sub(pairs.first) {
            None => self.marks[token as usize] += 1,
            Some(place) => self.pairs[place as usize] += 1,
        }
    }

    fn is_named_mark(&self, catalogue: &Catalogue, mark: usize) -> bool {
        self.marks[mark] >= self.named && !self.is_fixed[catalogue.marks[mark].symbol]
    }
}

impl Writer<'_> {
    /// Gives the shortest names to what is used most, from the name with this number on.
    fn name_all(&mut self, first: usize) {
        let mut all: Vec<(u32, usize, usize)> = Vec::new();
        let symbols = self.uses.symbols.iter().enumerate().filter(|(_, count)| **count > 1);
        all.extend(symbols.map(|(at, count)| (*count, 0, at)));
        let marks = (0..self.uses.marks.len()).filter(|at| self.uses.is_named_mark(self.catalogue, *at));
        all.extend(marks.map(|at| (self.uses.marks[at], 1, at)));
        let pairs = self.uses.pairs.iter().enumerate().filter(|(_, count)| **count > 1);
        all.extend(pairs.map(|(at, count)| (*count, 2, at)));
        all.sort_by_key(|(count, kind, at)| (std::cmp::Reverse(*count), *kind, *at));
        let next = first + all.len();
        for (no, (_, kind, at)) in all.into_iter().enumerate() {
            let names = [&mut self.symbol_names, &mut self.mark_names, &mut self.pair_names];
            names.into_iter().nth(kind).expect("three kinds")[at] = name(first + no);
        }
        let mut counts: BTreeMap<Vec<i32>, u32> = BTreeMap::new();
        for (at, count) in self.uses.symbols.iter().enumerate() {
            let (shapes, origin) = &self.catalogue.symbols[at];
            if let Some((body, _)) = marks::body(shapes).filter(|_| *count > 0) {
                *counts.entry(marks::key(body, *origin)).or_default() += 1;
            }
        }
        let often = counts.into_iter().filter(|(_, count)| *count >= SHARED);
        self.body_names = often.enumerate().map(|(no, (key, _))| (key, name(next + no))).collect();
    }

    /// Writes the shapes of a symbol relative to `origin`.
    fn inner(&self, symbol: usize, origin: Point) -> String {
        let (shapes, taken_from) = &self.catalogue.symbols[symbol];
        let mut out = String::new();
        let named = marks::body(shapes)
            .and_then(|(body, words)| Some((self.body_names.get(&marks::key(body, *taken_from))?, words)));
        match named {
            Some((name, words)) => {
                let at = (tenths(taken_from.0 - origin.0), tenths(taken_from.1 - origin.1));
                write!(out, "<use href=#{name}{} />", place(at)).expect("a String");
                svg::add(&mut out, words, origin);
            }
            None => svg::add_with_markers(&mut out, shapes, origin),
        }
        out
    }

    /// Writes the parts that symbols share.
    fn bodies(&self) -> String {
        let mut out = String::new();
        let mut left: Vec<&str> = self.body_names.values().map(String::as_str).collect();
        for (shapes, origin) in &self.catalogue.symbols {
            let Some((body, _)) = marks::body(shapes) else { continue };
            let Some(name) = self.body_names.get(&marks::key(body, *origin)) else { continue };
            if let Some(place) = left.iter().position(|other| other == name) {
                left.swap_remove(place);
                let mut inner = String::new();
                svg::add(&mut inner, body, *origin);
                svg::symbol(&mut out, name, &inner);
            }
        }
        out
    }

    /// Writes everything that has a name.
    fn symbols(&self) -> String {
        let mut out = self.bodies();
        svg::add_markers(&mut out, self.catalogue.symbols.iter().map(|(shapes, _)| shapes.as_slice()));
        for (at, name) in self.symbol_names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let origin = if self.uses.is_fixed[at] { (0.0, 0.0) } else { self.catalogue.symbols[at].1 };
            svg::symbol(&mut out, name, &self.inner(at, origin));
        }
        for (at, name) in self.mark_names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let mark = &self.catalogue.marks[at];
            let symbol = &self.symbol_names[mark.symbol];
            if symbol.is_empty() {
                write!(out, "<g id={name}>").expect("a String");
                self.add_shapes(&mut out, mark.symbol, mark.at);
                out.push_str("</g>");
            } else {
                write!(out, "<use id={name} href=#{symbol}{} />", place(mark.at)).expect("a String");
            }
        }
        for (at, name) in self.pair_names.iter().enumerate().filter(|(_, name)| !name.is_empty()) {
            let (a, b) = self.pairs.pairs[at];
            write!(out, "<g id={name}>").expect("a String");
            self.add_token(&mut out, a);
            self.add_token(&mut out, b);
            out.push_str("</g>");
        }
        out
    }

    fn add_marks(&self, out: &mut String, marks: &[u32]) {
        // Neighbouring squares of a board become one path.
        let mut waiting = Vec::new();
        for mark in marks {
            let Some((shapes, taken_from)) = self.unnamed(*mark) else {
                svg::add_with_markers(out, &std::mem::take(&mut waiting), (0.0, 0.0));
                self.add_token(out, *mark);
                continue;
            };
            debug_assert!(taken_from == self.catalogue.mark(*mark).at);
            waiting.extend_from_slice(shapes);
        }
        svg::add_with_markers(out, &waiting, (0.0, 0.0));
    }

    /// Returns the shapes and the place of a mark without a name.
    fn unnamed(&self, mark: u32) -> Option<(&[Shape], (i32, i32))> {
        let symbol = self.catalogue.mark(mark).symbol;
        let (shapes, taken_from) = &self.catalogue.symbols[symbol];
        let is_unnamed = self.symbol_names[symbol].is_empty() && self.mark_names[mark as usize].is_empty();
        is_unnamed.then(|| (shapes.as_slice(), (tenths(taken_from.0), tenths(taken_from.1))))
    }

    fn add_token(&self, out: &mut String, token: u32) {
        if let Some((a, b)) = self.pairs.parts(token) {
            let name = &self.pair_names[(token - self.pairs.first) as usize];
            if name.is_empty() {
                self.add_token(out, a);
                self.add_token(out, b);
            } else {
                write!(out, "<use href=#{name} />").expect("a String");
            }
            return;
        }
        let mark = self.catalogue.mark(token);
        let own_name = &self.mark_names[token as usize];
        let symbol = &self.symbol_names[mark.symbol];
        if !own_name.is_empty() {
            write!(out, "<use href=#{own_name} />").expect("a String");
        } else if symbol.is_empty() {
            self.add_shapes(out, mark.symbol, mark.at);
        } else if self.uses.is_fixed[mark.symbol] {
            write!(out, "<use href=#{symbol} />").expect("a String");
        } else {
            write!(out, "<use href=#{symbol}{} />", place(mark.at)).expect("a String");
        }
    }

    /// Writes the shapes of a symbol without a name, at their place.
    fn add_shapes(&self, out: &mut String, symbol: usize, at: (i32, i32)) {
        let (_, taken_from) = &self.catalogue.symbols[symbol];
        let moved = (taken_from.0 - f64::from(at.0) / 10.0, taken_from.1 - f64::from(at.1) / 10.0);
        out.push_str(&self.inner(symbol, moved));
    }

    fn step(&self, step: &[Shown], views: Views) -> String {
        let mut out = String::new();
        for run in step.chunk_by(|a, b| a.1 == b.1) {
            let mask = run[0].1;
            open_group(&mut out, views, mask);
            for (token, _) in run {
                self.add_token(&mut out, *token);
            }
            close_group(&mut out, views, mask);
        }
        out
    }
}

fn open_group(out: &mut String, views: Views, mask: u8) {
    let Some(class) = views.class(mask) else { return };
    let hidden = if views.is_open(mask) { "" } else { " display=none" };
    write!(out, "<g class={class}{hidden}>").expect("a String");
}

fn close_group(out: &mut String, views: Views, mask: u8) {
    if views.class(mask).is_some() {
        out.push_str("</g>");
    }
}

fn place((x, y): (i32, i32)) -> String {
    let x = if x == 0 { String::new() } else { format!(" x={}", Length(x)) };
    let y = if y == 0 { String::new() } else { format!(" y={}", Length(y)) };
    x + &y
}

/// The name with this number. It begins with a capital, unlike the names of steps and fields.
fn name(no: usize) -> String {
    const DIGITS: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let mut name = String::from(char::from(b'A' + u8::try_from(no % 26).expect("below 26")));
    let mut rest = no / 26;
    while rest > 0 {
        rest -= 1;
        name.push(char::from(DIGITS[rest % DIGITS.len()]));
        rest /= DIGITS.len();
    }
    name
}
