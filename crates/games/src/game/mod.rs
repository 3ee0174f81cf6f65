//! The rules of the games: values in, values out.
//!
//! A game knows its rules and nothing else: no clock, network, storage or global randomness. It determines
//! what is due, what a seat may see, whether orders may stand, and what follows from them. [`any`] closes the
//! games into one enum for the rest of the program; [`record`] is a match as a file.

use std::fmt::{Debug, Display};

use orders::{not_understood, two_squares};
use serde::Serialize;
use serde::de::DeserializeOwned;
use sheet::SheetBody;

pub mod any;
mod arrows;
pub mod condition;
mod options;
mod orders;
pub mod pacific;
pub mod picture;
pub mod quad;
pub mod quadrant_z;
pub mod quantum;
pub mod record;
mod seat;
pub mod sheet;
pub mod square;

#[doc(hidden)]
pub use options::named_enum;
pub use options::{OptionRule, Options, Values};
pub use orders::{Fault, Line, Numbered, OrderLines, Sealed, Seen, Syntax};
pub use seat::{BySeat, Due, Outcome, Phase, Reason, Seat};

/// The fault of a ready setup together with other orders, or in a record, which holds only the lines of a
/// setup.
const READY_ALONE: &str =
    "A ready setup stands alone in a letter, and I put its lines in its place; it is no order beside others.";

/// A board, drawn from what one viewer may see.
#[derive(Clone, Debug, PartialEq)]
pub struct Board {
    /// At most 68 columns wide; every line ends with a line break.
    pub text: String,
    pub picture: picture::Picture,
    /// The position in a few words, the name of the picture for readers who do not see it.
    pub name: String,
}

/// What led to a state: the state before it, and the orders that each side filed for that one.
pub type Step<'a, G> = (&'a G, BySeat<&'a [<G as Game>::Order]>);

/// The facts about a game that hold for every match.
#[derive(Clone, Copy, Debug)]
pub struct Rulebook {
    /// The name in records and on the command line: `quadrant-z`.
    pub key: &'static str,
    /// The name in sentences: `Quadrant Z`.
    pub name: &'static str,
    /// The prefix of match names: `QZ`.
    pub prefix: &'static str,
    /// The names of the two sides: `North-West`.
    pub sides: BySeat<&'static str>,
    /// The rules version. The first entry of every ledger names that of its match.
    pub version: u32,
}

/// The rules of a game, implemented by the state of a match.
///
/// A state holds everything the rules remember: the options, the news of the last adjudication, and the
/// outcome. Random play tests these laws for every game: a state survives JSON; `parse(order.to_string())`
/// gives that order; nothing here panics; two states that the rules do not let a seat distinguish give it
/// equal views.
///
/// A match calls `start` once. For each letter it calls `view` of the writer's seat, then `parse` and `write_out`,
/// `check`, and for lines that it cannot read `example`. Once every seat that is `due` has filed, or `missed`
/// stands for it, it calls `adjudicate`, then `remember` for each seat, and `view`, `recall`, `tell_deeds` and
/// `board` for each report. An audit makes the same calls again years later, and an implementor owes it the same
/// values as long as the version in `RULEBOOK` stays.
pub trait Game: Clone + Debug + PartialEq + Serialize + DeserializeOwned {
    const RULEBOOK: Rulebook;
    /// The words that orders begin with, in capitals. A line that begins with a misspelt one is doubtful.
    const VERBS: &'static [&'static str];

    type Options: Options;
    /// Everything that one seat may know. It serializes to exactly the JSON of the rules page; data for
    /// `check` that the JSON omits is in skipped fields.
    type View: Clone + Debug + PartialEq + Serialize;
    type Order: Clone + Debug + Display + Eq;
    /// A seat's memory of earlier turns, kept beside the state; `()` if there is none.
    type Memory: Clone + Debug + Default + PartialEq + Serialize + DeserializeOwned;
    /// Whether the memory holds anything.
    const KEEPS_MEMORY: bool = false;

    /// Starts a match.
    fn start(options: &Self::Options) -> Self;

    fn options(&self) -> &Self::Options;

    /// Returns what the match waits for; `None` once it is over.
    fn due(&self) -> Option<Due>;

    /// Returns how the match ended; `None` while it runs.
    fn outcome(&self) -> Option<Outcome>;

    /// Ends the match from outside the rules: the position stays, without news, and everything is disclosed.
    fn close(&self, outcome: Outcome) -> Self;

    /// Returns the `state` of the rules page as JSON: the board, not everything that the state remembers.
    fn position(&self) -> serde_json::Value;

    /// Returns what a replay of a finished match shows in addition to the position, as JSON.
    fn beside_position(&self) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Returns what `viewer` may know, built up from nothing rather than filtered down.
    fn view(&self, viewer: Seat) -> Self::View;

    /// Parses one line, ignoring case and spacing. The line has no line break or comment and is not blank. It
    /// may hold several orders if the rules of the game say so. Does not depend on a match.
    ///
    /// # Errors
    /// [`Syntax`] if the line is not an order, or an incomplete one.
    fn parse(line: &str) -> Result<Vec<Self::Order>, Syntax>;

    /// Returns the order that a line means if the bullet or number before it is part of the order; `None` if
    /// it can only be a bullet. `rest` is the line without it.
    fn with_bullet(_bullet: &str, _rest: &str) -> Option<String> {
        None
    }

    /// Writes out the short forms of orders that letters may have, one order per line, from what the seat
    /// sees. Returns the lines, which keep their numbers, and the faults of lines that cannot be written out.
    /// Records have no short forms.
    fn write_out(_view: &Self::View, lines: &[Line]) -> (Vec<Line>, Vec<Fault>) {
        (lines.to_vec(), Vec::new())
    }

    /// Returns the setup that a ready setup stands for, drawn by `dice` (rulings `Z-READY`, `P-READY`);
    /// `None` if `order` is not a ready setup. The result is the same for the same arguments in every version
    /// of the program.
    fn ready_setup(
        _options: &Self::Options,
        _seat: Seat,
        _order: &Self::Order,
        _dice: u64,
    ) -> Option<Vec<Self::Order>> {
        None
    }

    /// Returns a legal order of the open phase, or several on separate lines, as an example for somebody
    /// whose `line` could not be read; if possible, one of the same kind. `None` if nothing is due.
    fn example(view: &Self::View, line: &str) -> Option<String>;

    /// Returns the order that moves a piece from one square to another, for a line that names only the
    /// squares; `None` if the seat has nothing there, or the game has no such order.
    fn between(_view: &Self::View, _from: &str, _to: &str) -> Option<Self::Order> {
        None
    }

    /// Returns an order for every capture that is legal if nothing moves.
    fn captures(_view: &Self::View) -> Vec<Self::Order> {
        Vec::new()
    }

    /// Checks whether orders of a seat that is due may stand together. It gets that seat's view and never the
    /// state, so a refusal cannot leak. Orders of another phase are faults too.
    ///
    /// # Errors
    /// Returns every fault if there are any, at most one for each line: those of lines in the order of the
    /// lines, then those of the whole filing. Whether a faulty line counts when the others are checked
    /// depends on the game.
    fn check(view: &Self::View, orders: &[Numbered<Self::Order>]) -> Result<Sealed<Self::Order>, Vec<Fault>>;

    /// Whether `later` replaces `earlier` within one letter, such as a second order for the same ship. (In a
    /// record the later one is a fault.)
    fn replaces(_later: &Self::Order, _earlier: &Self::Order) -> bool {
        false
    }

    /// An example of a line of conditional orders; empty if the game takes none.
    const CONDITION_EXAMPLE: &'static str = "";

    /// Writes orders on one line that [`Game::parse`] reads, for conditions.
    fn on_one_line(orders: &[Self::Order]) -> String {
        orders.iter().map(Self::Order::to_string).collect::<Vec<_>>().join(" ")
    }

    /// Whether the last move was this one; the order of its pieces does not matter.
    fn has_just_played(&self, _orders: &[Self::Order]) -> bool {
        false
    }

    /// Returns what counts as filed for a seat that is due and sent nothing; `None` if it must move itself.
    fn missed(view: &Self::View) -> Option<Sealed<Self::Order>>;

    /// Decides the phase that is due. Deterministic; never fails. A seat that is not due has `None`; so do
    /// both when the referee passes. If a required filing is absent, the state is returned unchanged.
    fn adjudicate(&self, filed: &BySeat<Option<Sealed<Self::Order>>>) -> Self;

    /// Returns what templates get in addition to the JSON of the view; like that JSON, derived from the view
    /// alone.
    fn extra(_view: &Self::View) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// Adds the news of `view` to its seat's memory, before the next adjudication replaces it. Memory is
    /// derived from views, so it is not part of the state (rules page `records.md`, Memory).
    fn remember(_memory: &mut Self::Memory, _view: &Self::View) {}

    /// Adds the seat's memory to a view that is shown to it, as the key `memory` of its JSON.
    fn recall(_view: &mut Self::View, _memory: &Self::Memory) {}

    /// Adds the seat's own actions to a view that is shown to it, as the key `did` of its JSON. In the
    /// adjudication that led to `view`, the seat `filed` these orders, seeing the view `before`.
    fn tell_deeds(_view: &mut Self::View, _before: &Self::View, _filed: &[Self::Order]) {}

    /// Draws the board as `view` knows it.
    fn board(view: &Self::View) -> Board;

    /// Makes a seat's view one for the readers of a replay, who are on neither side: nothing on its board is "yours", and
    /// each side has the same place and colours in every view. Does nothing in games that hide nothing, whose readers
    /// choose a side of the board.
    fn show_readers(_view: &mut Self::View) {}

    /// Returns a view for those readers that discloses everything: both sides' pieces and, if `step` led to this state, what
    /// both sides did in it.
    fn open_view(&self, _step: Option<Step<'_, Self>>) -> Self::View {
        match self.outcome() {
            Some(_) => self.view(Seat::First),
            None => self.close(Outcome { winner: None, reason: Reason::Abandoned }).view(Seat::First),
        }
    }

    /// Returns what the seat can order now, as far as a page can compose it; `None` if nothing is due from the seat and
    /// it can send nothing ahead.
    fn sheet(view: &Self::View) -> Option<SheetBody>;
}

/// A generator of random numbers that depends only on its seed (SplitMix64; Steele, Lea, Flood 2014). The
/// audit repeats every draw, so a crate's generator, which may change with its version, is unsuitable.
#[derive(Clone, Debug)]
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Dice {
        Dice(seed)
    }

    /// Returns different dice that depend on these and on `number`.
    pub fn mixed(self, number: u64) -> Dice {
        Dice(self.0 ^ number.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// Returns a number below `n`, which is not 0.
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Returns 64 random bits, but never all ones.
    pub fn bits(&mut self) -> u64 {
        self.next() % u64::MAX
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Puts the items into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for end in (1..items.len()).rev() {
            items.swap(end, self.below(end + 1));
        }
    }
}
