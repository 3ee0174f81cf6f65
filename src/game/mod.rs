//! What a game is to the referee: values in, values out.
//!
//! A game knows its rules and nothing else: no clock, no network, no storage, no global randomness. It answers
//! what is due, what a seat may see, whether orders may stand, and what comes of them. [`any`] closes the games
//! into one enum for the rest of the program; [`record`] is one match as a file.

use std::fmt::{self, Debug, Display};
use std::ops::{Index, IndexMut};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub mod any;
mod options;
pub mod pacific;
mod position;
pub mod quad;
pub mod quadrant_z;
pub mod quantum;
pub mod record;
pub mod square;

pub use options::{OptionRule, Options, Values};

/// One of the two sides of a match.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Seat {
    First,
    Second,
}

impl Seat {
    pub const BOTH: [Seat; 2] = [Seat::First, Seat::Second];

    pub fn other(self) -> Seat {
        match self {
            Seat::First => Seat::Second,
            Seat::Second => Seat::First,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Seat::First => "first",
            Seat::Second => "second",
        }
    }

    /// The seat named `first` or `second`, in any case.
    pub fn parse(text: &str) -> Option<Seat> {
        Seat::BOTH.into_iter().find(|seat| text.eq_ignore_ascii_case(seat.as_str()))
    }
}

impl Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One value for each seat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BySeat<T> {
    pub first: T,
    pub second: T,
}

impl<T> BySeat<T> {
    pub fn new(first: T, second: T) -> Self {
        BySeat { first, second }
    }

    /// The value that `f` gives for each seat.
    pub fn from_fn(mut f: impl FnMut(Seat) -> T) -> Self {
        BySeat { first: f(Seat::First), second: f(Seat::Second) }
    }

    pub fn as_ref(&self) -> BySeat<&T> {
        BySeat { first: &self.first, second: &self.second }
    }

    pub fn map<U>(self, mut f: impl FnMut(T) -> U) -> BySeat<U> {
        BySeat { first: f(self.first), second: f(self.second) }
    }

    /// Both seats with their values, `first` first.
    pub fn iter(&self) -> impl Iterator<Item = (Seat, &T)> {
        Seat::BOTH.into_iter().map(|seat| (seat, &self[seat]))
    }
}

impl<T> Index<Seat> for BySeat<T> {
    type Output = T;
    fn index(&self, seat: Seat) -> &T {
        match seat {
            Seat::First => &self.first,
            Seat::Second => &self.second,
        }
    }
}

impl<T> IndexMut<Seat> for BySeat<T> {
    fn index_mut(&mut self, seat: Seat) -> &mut T {
        match seat {
            Seat::First => &mut self.first,
            Seat::Second => &mut self.second,
        }
    }
}

/// The step of a match that waits for orders; each game has its own of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Setup,
    Turn,
    Casualties,
    Surface,
    Submarines,
    Move,
}

impl Phase {
    pub const ALL: [Phase; 6] =
        [Phase::Setup, Phase::Turn, Phase::Casualties, Phase::Surface, Phase::Submarines, Phase::Move];

    pub fn as_str(self) -> &'static str {
        match self {
            Phase::Setup => "setup",
            Phase::Turn => "turn",
            Phase::Casualties => "casualties",
            Phase::Surface => "surface",
            Phase::Submarines => "submarines",
            Phase::Move => "move",
        }
    }

    pub fn parse(text: &str) -> Option<Phase> {
        Phase::ALL.into_iter().find(|phase| text.eq_ignore_ascii_case(phase.as_str()))
    }
}

impl Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a running match waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Due {
    pub phase: Phase,
    /// The number by which players know the phase that is open: 0 for a setup, the first turn is 1.
    pub turn: u32,
    /// Who owes orders, `first` first. Nobody, when the referee itself passes for a side that cannot move.
    pub seats: Vec<Seat>,
}

/// How a match ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    pub winner: Option<Seat>,
    pub reason: Reason,
}

/// Why a match ended. Written in the words of the rules pages: `base captured`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "&str", try_from = "String")]
pub enum Reason {
    // Quadrant Z
    BaseCaptured,
    FleetDestroyed,
    MostStars,
    DrawnOnStars,
    // War in the Pacific
    FleetDefeated,
    PointsAfloat,
    // Quantum
    ThreeTowers,
    MoreTowers,
    DrawnOnTowers,
    // Quad
    Quad,
    Stars,
    // From outside the rules
    Resigned,
    DrawAgreed,
    Abandoned,
    Forfeited,
}

impl Reason {
    pub const ALL: [Reason; 15] = [
        Reason::BaseCaptured,
        Reason::FleetDestroyed,
        Reason::MostStars,
        Reason::DrawnOnStars,
        Reason::FleetDefeated,
        Reason::PointsAfloat,
        Reason::ThreeTowers,
        Reason::MoreTowers,
        Reason::DrawnOnTowers,
        Reason::Quad,
        Reason::Stars,
        Reason::Resigned,
        Reason::DrawAgreed,
        Reason::Abandoned,
        Reason::Forfeited,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Reason::BaseCaptured => "base captured",
            Reason::FleetDestroyed => "fleet destroyed",
            Reason::MostStars => "most stars",
            Reason::DrawnOnStars => "drawn on stars",
            Reason::FleetDefeated => "fleet defeated",
            Reason::PointsAfloat => "points afloat",
            Reason::ThreeTowers => "three towers",
            Reason::MoreTowers => "more towers",
            Reason::DrawnOnTowers => "drawn on towers",
            Reason::Quad => "quad",
            Reason::Stars => "stars",
            Reason::Resigned => "resigned",
            Reason::DrawAgreed => "draw agreed",
            Reason::Abandoned => "abandoned",
            Reason::Forfeited => "forfeited",
        }
    }
}

impl Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<Reason> for &'static str {
    fn from(reason: Reason) -> Self {
        reason.as_str()
    }
}

impl TryFrom<String> for Reason {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let found = Reason::ALL.into_iter().find(|reason| reason.as_str() == text);
        found.ok_or_else(|| format!("no match ends for the reason `{text}`"))
    }
}

/// One line of orders as it was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Counted from 1.
    pub no: usize,
    pub text: String,
}

/// One order, and the number of the line it stands on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbered<O> {
    pub line: usize,
    pub order: O,
}

/// Why a line could not be read. It says nothing of any match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// The line begins like no order of this game. In a letter it is a remark, in a record a fault.
    Unknown,
    /// It begins like an order: what was not understood, and a line that would do.
    Malformed { reason: String, example: &'static str },
}

/// One reason why a filing cannot stand. Made from what the seat can see, never from the state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// `None`: the filing as a whole.
    pub line: Option<usize>,
    /// One or more plain sentences to the player.
    pub reason: String,
    /// Orders that would do.
    pub example: Option<String>,
    /// Something was not given that must be. Not told beside a line that was not understood: it may have been that.
    #[serde(skip)]
    missing: bool,
}

impl Fault {
    pub fn on(line: usize, reason: impl Display) -> Self {
        Fault { line: Some(line), reason: reason.to_string(), example: None, missing: false }
    }

    pub fn whole(reason: impl Display) -> Self {
        Fault { line: None, reason: reason.to_string(), example: None, missing: false }
    }

    /// A filing that lacks the one thing it must hold: a move, a marble.
    pub fn missing(reason: impl Display) -> Self {
        Fault { missing: true, ..Fault::whole(reason) }
    }

    pub fn with_example(mut self, example: impl Display) -> Self {
        self.example = Some(example.to_string());
        self
    }
}

/// Orders that were checked against what their seat can see. Only [`Game::check`] makes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sealed<O>(Vec<O>);

impl<O> Sealed<O> {
    /// To be called from a game's `check` alone, with orders that it found legal.
    fn new(orders: Vec<O>) -> Self {
        Sealed(orders)
    }

    pub fn orders(&self) -> &[O] {
        &self.0
    }
}

/// A board, drawn from what one viewer may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// At most 68 columns wide, every line ended.
    pub text: String,
    /// One complete SVG document; the only font is `DejaVu Sans`.
    pub svg: String,
}

/// A level at which the house plays a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HouseLevel {
    /// One word in small letters.
    pub name: &'static str,
    /// How it plays, in a few words, for `games` and GAMES.
    pub says: &'static str,
    /// Options, by name and value, that a match at this level has unless others are chosen.
    pub options: &'static [(&'static str, &'static str)],
}

impl HouseLevel {
    /// What the house is called where a player has a name.
    pub fn player_name(&self) -> String {
        format!("the house ({})", self.name)
    }
}

/// How the house, a computer player, plays a game.
pub struct House<V> {
    /// Counts up with every change after which some turn would be another: what one version played, no other can
    /// derive again.
    pub version: u32,
    /// The weakest first.
    pub levels: &'static [HouseLevel],
    /// The order lines of the seat that a view belongs to, which is due; always legal. It may take a second.
    pub play: HousePlay<V>,
}

/// The same view, level and dice give the same orders.
pub type HousePlay<V> = fn(view: &V, level: &HouseLevel, dice: u64) -> Vec<String>;

/// The rules of one game.
///
/// Laws, tested for every game by random play: every state survives JSON; `parse(order.to_string())` is that
/// order; nothing here panics; two states that a seat cannot tell apart by the rules give it equal views.
pub trait Game: Sized {
    /// As in records and on the command line: `quadrant-z`.
    const KEY: &'static str;
    /// As people write it: `Quadrant Z`.
    const NAME: &'static str;
    /// The beginning of match names: `QZ`.
    const PREFIX: &'static str;
    /// The version of the rules by which new matches are played. Every entry of a ledger bears the one of its match.
    const RULES: u32;
    /// Earlier versions, by which matches that were begun under them are played to their end and replayed. A game
    /// that has any keeps the version in its state ([`Game::start_under`]) and asks it wherever they differ.
    const EARLIER_RULES: &'static [u32] = &[];
    /// What the two sides are called: `North-West`.
    const SIDES: BySeat<&'static str>;

    /// How the house plays it; `None`: it does not.
    const HOUSE: Option<House<Self::View>> = None;

    type Options: Options;
    /// All that is remembered of a match, the options, what the last adjudication brought and the outcome
    /// included.
    type State: Clone + Debug + PartialEq + Serialize + DeserializeOwned;
    /// What one seat may know. It serializes to the JSON of the rules page, to the key; what `check` needs
    /// besides stands in skipped fields.
    type View: Clone + Debug + PartialEq + Serialize;
    type Order: Clone + Debug + Display + PartialEq;

    fn start(options: &Self::Options) -> Self::State;

    /// A match under one of [`Game::EARLIER_RULES`].
    fn start_under(_rules: u32, options: &Self::Options) -> Self::State {
        Self::start(options)
    }

    fn options(state: &Self::State) -> &Self::Options;

    /// What the match waits for; `None` once it is over.
    fn due(state: &Self::State) -> Option<Due>;

    /// How the match ended; `None` while it runs.
    fn outcome(state: &Self::State) -> Option<Outcome>;

    /// The match ended from outside the rules: the position as it was, nothing happened, everything open.
    fn close(state: &Self::State, outcome: Outcome) -> Self::State;

    /// The `state` of the rules page as JSON: what is on the board, not all that is remembered.
    fn position(state: &Self::State) -> serde_json::Value;

    /// What `viewer` may know, built up from nothing.
    fn view(state: &Self::State, viewer: Seat) -> Self::View;

    /// Reads one line (no line break, no comment, not blank) in any case and with any number of blanks. It may
    /// hold several orders where the game's rules say so. Knows no match.
    ///
    /// # Errors
    /// [`Syntax`]: the line is no order, or not a whole one.
    fn parse(line: &str) -> Result<Vec<Self::Order>, Syntax>;

    /// Whether the orders of a seat from which something is due may stand together. It sees that seat's view,
    /// never the state: so a refusal cannot leak. Orders of another phase are faults too. Every fault is
    /// listed, a line at most once; a faulty line counts as not written for the others.
    ///
    /// # Errors
    /// The faults, those of lines in the order of the lines, then those of the whole filing.
    fn check(view: &Self::View, orders: &[Numbered<Self::Order>]) -> Result<Sealed<Self::Order>, Vec<Fault>>;

    /// Whether `later` takes the place of `earlier` where both stand in one letter: two orders for one ship. (In a
    /// record the later one is at fault.)
    fn replaces(_later: &Self::Order, _earlier: &Self::Order) -> bool {
        false
    }

    /// What the rules take as filed for a seat that is due and sent nothing; `None` where it must move itself.
    fn missed(view: &Self::View) -> Option<Sealed<Self::Order>>;

    /// Decides the phase that is due. Total and deterministic. A seat from which nothing is due has `None`; so
    /// have both, when the referee passes. Where a filing that cannot be done without is missing, the state
    /// comes back unchanged.
    fn adjudicate(state: &Self::State, filed: &BySeat<Option<Sealed<Self::Order>>>) -> Self::State;

    /// What the game's templates are told besides the JSON of the view: as that, from nothing but the view.
    fn extra(_view: &Self::View) -> serde_json::Value {
        serde_json::Value::Null
    }

    /// The board as `view` knows it.
    fn board(view: &Self::View) -> Board;

    /// Random play for tests and benchmarks: order lines for the phase that is due from the seat of `view`, lively
    /// and mostly legal. `rng(n)` gives a number below `n`.
    fn random_filing(view: &Self::View, rng: &mut dyn FnMut(u32) -> u32) -> Vec<String>;
}
