//! Quantum: stacks that capture each other by jumping on top, and a race for three towers.
//!
//! Comments cite clauses of the rules page as `clause 2.1` and rulings by name, `N-PASS`. Nothing is hidden:
//! the views of the two seats differ only in the viewer.

use crate::game::sheet::SheetBody;
use crate::game::{
    Board, BySeat, Due, Fault, Game, Numbered, Outcome, Phase, Rulebook, Sealed, Seat, Syntax,
};

mod board;
mod options;
mod order;
mod picture;
mod pieces;
mod rules;
mod sheet;
mod state;
mod view;

pub use options::{Array, Options};
pub use order::Order;
pub use pieces::Spot;
pub use pieces::{PieceKind, Stack, TOWER};
pub use state::{Last, State};
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
        Board { text: board::text(view), picture: picture::draw(view), name: board::name_of(view) }
    }

    fn sheet(view: &View) -> Option<SheetBody> {
        sheet::sheet(view)
    }
}
