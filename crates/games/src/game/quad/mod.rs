//! Quad: twenty marbles a side, and a race for the four corners of a square.
//!
//! Comments cite clauses of the rules page as `clause 2.1` and rulings by name, `Q-FIRST`. Nothing is hidden:
//! the views of the two seats differ only in the viewer.

use crate::game::options::{Switch, options};
use crate::game::sheet::SheetBody;
use crate::game::{
    Board, BySeat, Due, Fault, Game, Line, Numbered, Outcome, Phase, Rulebook, Sealed, Seat, Syntax,
};

mod board;
mod order;
mod picture;
mod point;
mod sheet;
mod view;

pub use order::Order;
pub(crate) use point::SQUARES;
pub use point::{Point, Quad as Corners};
pub use view::{Last, Left, MARBLES, STARS, State, View};

impl Game for State {
    const RULEBOOK: Rulebook = Rulebook {
        key: "quad",
        name: "Quad",
        prefix: "QD",
        sides: BySeat::new("Black", "White"),
        version: 1,
    };

    const VERBS: &'static [&'static str] = &["STAR", "MARBLE", "SWAP"];

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

    fn due(&self) -> Option<Due> {
        let side = self.to_move?;
        Some(Due { phase: Phase::Move, turn: self.turn + 1, seats: vec![side] })
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

    fn write_out(_view: &View, lines: &[Line]) -> (Vec<Line>, Vec<Fault>) {
        (lines.iter().flat_map(order::split).collect(), Vec::new())
    }

    fn parse(line: &str) -> Result<Vec<Order>, Syntax> {
        order::parse(line)
    }

    fn check(view: &View, orders: &[Numbered<Order>]) -> Result<Sealed<Order>, Vec<Fault>> {
        view.check(orders)
    }

    /// `*E5` may mean a star.
    fn with_bullet(bullet: &str, rest: &str) -> Option<String> {
        let (first, others) = rest.split_once(' ').unwrap_or((rest, ""));
        Point::parse(first).filter(|_| bullet.ends_with('*'))?;
        Some(format!("{}* {others}", first.to_uppercase()).trim_end().to_owned())
    }

    fn example(view: &View, line: &str) -> Option<String> {
        view.example(line)
    }

    const CONDITION_EXAMPLE: &'static str = "IF E5 THEN F6";

    fn on_one_line(orders: &[Order]) -> String {
        let piece = |order: &Order| match order {
            Order::Star(point) => format!("{point}*"),
            Order::Marble(point) => point.to_string(),
            Order::Swap => order.to_string(),
        };
        orders.iter().map(piece).collect::<Vec<_>>().join(" ")
    }

    fn has_just_played(&self, orders: &[Order]) -> bool {
        self.has_just_played(orders)
    }

    fn missed(_view: &View) -> Option<Sealed<Order>> {
        None
    }

    fn adjudicate(&self, filed: &BySeat<Option<Sealed<Order>>>) -> State {
        match self.to_move.and_then(|side| Some((side, filed[side].as_ref()?))) {
            Some((side, sealed)) => self.after(side, sealed.orders()),
            None => self.clone(),
        }
    }

    /// `free`: two free points near the centre; `stars`: how many stars may be played now; `swap`: whether
    /// the first marble may be taken over now.
    fn extra(view: &View) -> serde_json::Value {
        serde_json::json!({
            "free": view.free_near_the_middle().take(2).collect::<Vec<_>>(),
            "stars": view.stars_now(),
            "swap": view.may_swap(),
        })
    }

    fn board(view: &View) -> Board {
        Board { text: board::text(view), picture: picture::draw(view), name: board::name_of(view) }
    }

    fn sheet(view: &View) -> Option<SheetBody> {
        sheet::sheet(view)
    }
}

options! {
    pub struct Options {
        /// Whether the second seat may take over the first marble (Q-FIRST).
        swap: Switch = "off", "the first turn has no stars, and second may take its marble over";
        /// Whether reports show where a quad could be completed (clause 3).
        trainer: Switch = "off", "reports show where each side could complete a quad";
    }
}
