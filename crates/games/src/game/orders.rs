//! The steps from a line of text to a checked filing, and the faults found in them.
//!
//! Everything that one seat knows of a match: its views and its filings.

use std::fmt::Display;

use serde::{Deserialize, Serialize, Serializer};

use super::{Game, Seat};

/// A line of orders as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// The line's number, counted from 1.
    pub no: usize,
    pub text: String,
}

impl Line {
    /// Numbers `texts` from 1.
    pub fn numbered<T: AsRef<str>>(texts: &[T]) -> Vec<Line> {
        (1..).zip(texts).map(|(no, text)| Line { no, text: text.as_ref().to_owned() }).collect()
    }
}

/// An order, and the number of the line that holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered<O> {
    pub line: usize,
    pub order: O,
}

/// Names the words of a line that were not understood: `I do not understand "PLEASE". `; empty if there are
/// none.
pub(super) fn not_understood(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        words => {
            let quoted: Vec<String> = words.iter().take(3).map(|word| format!("\"{word}\"")).collect();
            format!("I do not understand {}. ", quoted.join(" and "))
        }
    }
}

/// Splits a word that holds two squares into them: `A3-B1`, `A3xB1`, or `a3a4`; `None` for other words.
pub(super) fn two_squares(word: &str, is_square: impl Fn(&str) -> bool) -> Option<(&str, &str)> {
    let (from, rest) = word.char_indices().skip(1).find_map(|(at, c)| {
        let (from, rest) = word.split_at(at);
        (!c.is_ascii_digit() && is_square(from)).then_some((from, rest))
    })?;
    let to = [Some(rest), rest.strip_prefix(['-', 'x', 'X', '–'])];
    to.into_iter().flatten().find(|to| is_square(to)).map(|to| (from, to))
}

/// The reason why a line could not be read. Reveals no match state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// The line does not begin like an order of this game. In a letter it is a remark, in a record a fault.
    Unknown,
    /// The line begins like an order. Holds what was not understood, and an example of a valid line.
    Malformed { reason: String, example: &'static str },
}

/// One reason why a filing cannot stand. Made from the seat's view, never from the state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// The number of the line at fault; `None` for the filing as a whole.
    pub line: Option<usize>,
    /// One or more plain sentences to the player.
    pub reason: String,
    /// Valid orders, as an example.
    pub example: Option<String>,
    /// Whether the fault is that a required order is absent. It is not reported together with a malformed
    /// line, which may have been the missing order.
    #[serde(skip)]
    pub(super) missing: bool,
    /// Whether the line is doubtful rather than wrong.
    #[serde(skip)]
    pub doubtful: bool,
    /// Whether the example is what the line seems to mean, rather than just a similar order.
    #[serde(skip)]
    pub corrected: bool,
}

impl Fault {
    pub fn on(line: usize, reason: impl Display) -> Self {
        Fault { line: Some(line), ..Fault::whole(reason) }
    }

    /// A line that is doubtful rather than wrong.
    pub fn doubt(line: usize, reason: impl Display) -> Self {
        Fault { doubtful: true, ..Fault::on(line, reason) }
    }

    pub fn whole(reason: impl Display) -> Self {
        Fault { reason: reason.to_string(), ..Fault::default() }
    }

    /// A fault of a filing that lacks the one order it must hold, such as a move or a marble.
    pub fn missing(reason: impl Display) -> Self {
        Fault { missing: true, ..Fault::whole(reason) }
    }

    /// Adds what the line seems to mean, as legal orders.
    pub fn with_correction(self, orders: impl Display) -> Self {
        Fault { corrected: true, ..self.with_example(orders) }
    }

    pub fn with_example(mut self, example: impl Display) -> Self {
        self.example = Some(example.to_string());
        self
    }
}

/// Orders that were checked against what their seat can see.
///
/// Only [`Game::check`](super::Game::check) and [`Game::missed`](super::Game::missed) make them, so an
/// adjudication never meets an order that its rules forbid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed<O>(Vec<O>);

impl<O> Sealed<O> {
    /// Seals orders that the caller, a game's `check` or `missed`, found legal.
    pub(super) fn new(orders: Vec<O>) -> Self {
        Sealed(orders)
    }

    pub fn orders(&self) -> &[O] {
        &self.0
    }
}

/// The canonical lines of a filing, one for each order, as in ledgers, snapshots and records.
///
/// Stored lines are text that somebody may have changed. Only
/// [`AnyState::unseal`](super::any::AnyState::unseal), which checks them against a state, turns them into
/// orders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct OrderLines(Vec<String>);

impl OrderLines {
    pub(super) fn of<O: Display>(sealed: &Sealed<O>) -> OrderLines {
        OrderLines(sealed.orders().iter().map(O::to_string).collect())
    }
}

impl std::ops::Deref for OrderLines {
    type Target = [String];

    fn deref(&self) -> &[String] {
        &self.0
    }
}

/// Everything that a seat was told and filed in a match, in order, up to now.
///
/// Only [`AnySeen`](super::any::AnySeen) and tests make one, from [`Game::view`]. It omits adjudications that
/// a correction voided.
#[derive(Clone, Debug, PartialEq)]
pub struct Seen<V, O> {
    seat: Seat,
    /// The views before the present one, each with the seat's filing for the phase that it shows.
    before: Vec<(V, Option<Sealed<O>>)>,
    now: V,
}

impl<V, O> Seen<V, O> {
    /// Returns what `seat` is told as the match starts.
    pub(crate) fn begin<G: Game<View = V, Order = O>>(state: &G, seat: Seat) -> Seen<V, O> {
        Seen { seat, before: Vec::new(), now: state.view(seat) }
    }

    /// Adds an adjudication: the seat's filing, if one was due from it, and the state that followed.
    pub(crate) fn add<G: Game<View = V, Order = O>>(&mut self, filed: Option<Sealed<O>>, after: &G) {
        let before = std::mem::replace(&mut self.now, after.view(self.seat));
        self.before.push((before, filed));
    }

    /// Takes the last adjudication back, and returns the view that followed it; `None` if there is none.
    pub(crate) fn take_last(&mut self) -> Option<V> {
        let (before, _) = self.before.pop()?;
        Some(std::mem::replace(&mut self.now, before))
    }

    pub fn seat(&self) -> Seat {
        self.seat
    }

    /// The present view.
    pub fn now(&self) -> &V {
        &self.now
    }

    /// The earlier views, oldest first.
    pub fn before(&self) -> impl DoubleEndedIterator<Item = &V> {
        self.before.iter().map(|(view, _)| view)
    }

    /// The seat's filing for the phase of each earlier view; `None` where nothing was due from it.
    pub fn filed(&self) -> impl DoubleEndedIterator<Item = Option<&[O]>> {
        self.before.iter().map(|(_, filed)| filed.as_ref().map(Sealed::orders))
    }
}

/// Ledger entries pin the digest of this JSON, so its form must not change.
impl<V: Serialize, O: std::fmt::Display> Serialize for Seen<V, O> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Told<'a, V> {
            seat: Seat,
            views: Vec<&'a V>,
            filed: Vec<Option<OrderLines>>,
        }
        let views = self.before().chain([&self.now]).collect();
        let filed = self.before.iter().map(|(_, filed)| filed.as_ref().map(OrderLines::of)).collect();
        Told { seat: self.seat, views, filed }.serialize(serializer)
    }
}
