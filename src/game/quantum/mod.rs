//! Quantum: stacks that jump on each other, and the race for three towers.
//!
//! The rules page's clauses are named as `clause 2.1` or by their ruling, `N-PASS`. Everything lies open: the
//! views of the two seats differ only in whose they are.

use crate::game::{Board, BySeat, Due, Fault, Game, Numbered, Outcome, Phase, Sealed, Seat, Syntax};

mod board;
mod order;
pub mod play;
mod rules;
mod state;
mod view;

pub use order::{Order, Spot};
pub use state::{Array, Kind, Last, Options, Stack, State, TOWER};
pub use view::View;

/// The game Quantum.
#[derive(Clone, Copy, Debug)]
pub struct Quantum;

impl Game for Quantum {
    const KEY: &'static str = "quantum";
    const NAME: &'static str = "Quantum";
    const PREFIX: &'static str = "QM";
    const RULES: u32 = 1;
    const SIDES: BySeat<&'static str> = BySeat { first: "South", second: "North" };

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
        let seats = if rules::can_move(&state.board, side, state.options.jump) { vec![side] } else { vec![] };
        Some(Due { phase: Phase::Move, turn: state.turn + 1, seats })
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
        let Some(side) = state.to_move else { return state.clone() };
        let jump = state.options.jump;
        match filed[side].as_ref().map(Sealed::orders) {
            Some(&[order]) if rules::may_move(&state.board, side, jump, order).is_ok() => {
                state.after(side, order)
            }
            None if !rules::can_move(&state.board, side, jump) => state.after_pass(side),
            _ => state.clone(),
        }
    }

    /// `example`: a move that could be made now; nothing if there is none.
    fn extra(view: &View) -> serde_json::Value {
        serde_json::json!({ "example": view.moves().last().map(Order::to_string) })
    }

    fn board(view: &View) -> Board {
        board::draw(view)
    }

    fn random_filing(view: &View, mut rng: &mut dyn FnMut(u32) -> u32) -> Vec<String> {
        play::random_filing(view, &mut rng)
    }
}
