//! Quad: twenty marbles a side, and the race for the four corners of a square.
//!
//! The rules page's clauses are named as `clause 2.1` or by their ruling, `Q-FIRST`. Everything lies open: the
//! views of the two seats differ only in whose they are.

use crate::game::{Board, BySeat, Due, Fault, Game, House, Numbered, Outcome, Phase, Sealed, Seat, Syntax};

mod board;
pub mod house;
mod order;
pub mod play;
mod point;
mod state;
mod view;

pub use order::Order;
pub use point::{Point, Quad as Corners};
pub use state::{Last, MARBLES, Options, STARS, State};
pub use view::{Left, View};

/// The game Quad.
#[derive(Clone, Copy, Debug)]
pub struct Quad;

impl Game for Quad {
    const KEY: &'static str = "quad";
    const NAME: &'static str = "Quad";
    const PREFIX: &'static str = "QD";
    const RULES: u32 = 1;
    const SIDES: BySeat<&'static str> = BySeat { first: "Black", second: "White" };
    const HOUSE: Option<House<View>> = Some(house::HOUSE);

    type Options = Options;
    type State = State;
    type View = View;
    type Order = Order;

    fn start(options: &Options) -> State {
        State::new(options)
    }

    fn options(state: &State) -> &Options {
        &state.options
    }

    fn due(state: &State) -> Option<Due> {
        let side = state.to_move?;
        Some(Due { phase: Phase::Move, turn: state.turn + 1, seats: vec![side] })
    }

    fn outcome(state: &State) -> Option<Outcome> {
        state.outcome.clone()
    }

    fn close(state: &State, outcome: Outcome) -> State {
        State { to_move: None, outcome: Some(outcome), ..state.clone() }
    }

    fn position(state: &State) -> serde_json::Value {
        serde_json::to_value(View::new(state, Seat::First)).expect("a view is plain JSON")
    }

    fn view(state: &State, viewer: Seat) -> View {
        View::new(state, viewer)
    }

    fn parse(line: &str) -> Result<Vec<Order>, Syntax> {
        order::parse(line)
    }

    fn check(view: &View, orders: &[Numbered<Order>]) -> Result<Sealed<Order>, Vec<Fault>> {
        view.check(orders)
    }

    fn missed(_view: &View) -> Option<Sealed<Order>> {
        None
    }

    fn adjudicate(state: &State, filed: &BySeat<Option<Sealed<Order>>>) -> State {
        match state.to_move.and_then(|side| Some((side, filed[side].as_ref()?))) {
            Some((side, sealed)) => state.after(side, sealed.orders()),
            None => state.clone(),
        }
    }

    /// `free`: two points on which a piece could stand, near the middle; `stars`: how many may be played now;
    /// `swap`: whether the first marble may be taken over now.
    fn extra(view: &View) -> serde_json::Value {
        serde_json::json!({
            "free": view.free_near_the_middle().take(2).collect::<Vec<_>>(),
            "stars": view.stars_now(),
            "swap": view.may_swap(),
        })
    }

    fn board(view: &View) -> Board {
        board::draw(view)
    }

    fn random_filing(view: &View, mut rng: &mut dyn FnMut(u32) -> u32) -> Vec<String> {
        play::random_filing(view, &mut rng)
    }
}
