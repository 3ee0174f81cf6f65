//! Quantum: stacks that capture each other by jumping on top, and a race for three towers.
//!
//! Comments cite clauses of the rules page as `clause 2.1` and rulings by name, `N-PASS`. Nothing is hidden:
//! the views of the two seats differ only in the viewer.

use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use crate::game::options::{OptionValue, Switch, options};
use crate::game::sheet::SheetBody;
use crate::game::{
    Board, BySeat, Due, Fault, Game, Numbered, Outcome, Phase, Rulebook, Sealed, Seat, Syntax, Values,
};

mod order;
mod picture;
mod pieces;
mod rules;
mod sheet;
mod view;

pub use order::Order;
pub use pieces::{PieceKind, Spot, Stack, TOWER};
pub use rules::{Last, State};
pub use view::View;

impl Game for State {
    const RULEBOOK: Rulebook = Rulebook {
        key: "quantum",
        name: "Quantum",
        prefix: "QM",
        sides: BySeat::new("South", "North"),
        version: 1,
    };

    const VERBS: &'static [&'static str] = &["MOVE"];

    type Options = Options;
    type View = View;
    type Memory = ();
    type Order = Order;

    fn start(options: &Options) -> State {
        State::new(options)
    }

    fn options(&self) -> &Options {
        &self.options
    }

    /// A side without a move owes nothing: the referee passes for it (N-PASS).
    fn due(&self) -> Option<Due> {
        let side = self.to_move?;
        let seats =
            if rules::can_move(&self.board, side, self.options.jump.is_on()) { vec![side] } else { vec![] };
        Some(Due { phase: Phase::Move, turn: self.turn + 1, seats })
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome.clone()
    }

    fn close(&self, outcome: Outcome) -> State {
        State { to_move: None, outcome: Some(outcome), ..self.clone() }
    }

    fn position(&self) -> serde_json::Value {
        serde_json::to_value(View::new(self, Seat::First)).expect("a view is plain JSON")
    }

    fn view(&self, viewer: Seat) -> View {
        View::new(self, viewer)
    }

    fn parse(line: &str) -> Result<Vec<Order>, Syntax> {
        order::parse(line)
    }

    fn check(view: &View, orders: &[Numbered<Order>]) -> Result<Sealed<Order>, Vec<Fault>> {
        view.check(orders)
    }

    /// A second move of the same stack replaces the first.
    fn replaces(later: &Order, earlier: &Order) -> bool {
        later.from == earlier.from
    }

    fn between(_view: &View, from: &str, to: &str) -> Option<Order> {
        Some(Order::new(Spot::parse(from)?, Spot::parse(to)?))
    }

    fn example(view: &View, line: &str) -> Option<String> {
        view.example(line)
    }

    const CONDITION_EXAMPLE: &'static str = "IF D3-E4 THEN E6-D5";

    fn has_just_played(&self, orders: &[Order]) -> bool {
        let [order] = orders else { return false };
        self.last.is_some_and(|last| (last.from, last.to) == (Some(order.from), Some(order.to)))
    }

    fn missed(_view: &View) -> Option<Sealed<Order>> {
        None
    }

    fn adjudicate(&self, filed: &BySeat<Option<Sealed<Order>>>) -> State {
        let Some(side) = self.to_move else { return self.clone() };
        let jump = self.options.jump.is_on();
        match filed[side].as_ref().map(Sealed::orders) {
            Some(&[order]) if rules::may_move(&self.board, side, jump, order).is_ok() => {
                self.after(side, order)
            }
            None if !rules::can_move(&self.board, side, jump) => self.after_pass(side),
            _ => self.clone(),
        }
    }

    /// `example`: a legal move; null if there is none.
    fn extra(view: &View) -> serde_json::Value {
        serde_json::json!({ "example": view.moves().last().map(Order::to_string) })
    }

    fn board(view: &View) -> Board {
        Board { text: view::board_text(view), picture: picture::draw(view), name: view::board_name(view) }
    }

    fn sheet(view: &View) -> Option<SheetBody> {
        sheet::sheet(view)
    }
}

options! {
    pub struct Options {
        array: Array = Array::DEFAULT, "the pieces of a side, rank by rank from its own edge";
        /// Whether a single piece may jump over a single piece of its own colour (clause 2.3).
        jump: Switch = "off", "a single piece may jump over a single piece of its own colour";
        /// Turns of each side in a row without a stacking move that end the match (N-STALL).
        quiet_limit: u32 = "50", "turns of each side in a row without stacking that end the match";
    }
}

/// The pieces of a side on its first ranks, from its own edge on, each from file A to H (N-ARRAY).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Array(Vec<[Option<PieceKind>; 8]>);

impl Array {
    const DEFAULT: &'static str = "SSSSSSSS/CCCCCCCC/QQQQQQQQ";
    const SHAPE: &'static str = "one to three ranks with / between them, each of eight characters S, C, Q or . (empty), at least one piece";

    /// Returns the piece at this file on one of the side's own ranks, both counted from 0.
    fn piece(&self, rank: u8, file: u8) -> Option<PieceKind> {
        self.0.get(usize::from(rank))?[usize::from(file)]
    }
}

impl TryFrom<String> for Array {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let ranks: Option<Vec<_>> = text.split('/').map(parse_rank).collect();
        ranks
            .filter(|ranks| ranks.len() <= 3 && ranks.iter().flatten().any(Option::is_some))
            .map(Array)
            .ok_or_else(|| format!("The array is {}.", Array::SHAPE))
    }
}

fn parse_rank(text: &str) -> Option<[Option<PieceKind>; 8]> {
    let mut squares = Vec::new();
    for letter in text.chars() {
        squares.push(if letter == '.' { None } else { Some(PieceKind::of_letter(letter)?) });
    }
    squares.try_into().ok()
}

impl From<Array> for String {
    fn from(array: Array) -> Self {
        array.to_string()
    }
}

impl Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, rank) in self.0.iter().enumerate() {
            if number > 0 {
                f.write_str("/")?;
            }
            rank.iter().try_for_each(|kind| write!(f, "{}", kind.map_or('.', PieceKind::letter)))?;
        }
        Ok(())
    }
}

impl OptionValue for Array {
    const VALUES: Values = Values::Text(Array::SHAPE);

    /// Empty squares at the end may be missing, because letters treat full stops at the end of a line as
    /// punctuation.
    fn parse_value(text: &str) -> Result<Self, String> {
        let last_rank = text.rsplit('/').next().unwrap_or_default();
        let missing = 8_usize.saturating_sub(last_rank.len());
        Array::try_from(text.to_owned() + &".".repeat(missing))
    }

    fn to_text(&self) -> String {
        self.to_string()
    }
}
