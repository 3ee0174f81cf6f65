//! War in the Pacific: two fleets that fight as chess pieces do, open to both sides, and submarines beneath them
//! that only their own side knows. The rules page is `pacific.md`; its clauses and rulings are cited as `3.4` and
//! `P-ESCORT`.

use serde_json::json;

use super::{Board, BySeat, Due, Fault, Game, Numbered, Outcome, Sealed, Seat, Syntax};

mod board;
mod chart;
mod check;
mod extra;
mod order;
mod perft;
mod picture;
mod play;
mod rules;
mod setup;
mod state;
mod view;

pub use chart::Chart;
pub use order::{Order, SubmarineOrder};
pub use perft::{perft, surface_moves};
pub use play::{advance, random_filing};
pub use state::{Area, Class, Kind, Leap, Options, Ship, Square, Stage, State, Submarine, Torpedo};
pub use view::{Notice, View};

/// The game.
#[derive(Clone, Copy, Debug)]
pub struct Pacific;

impl Game for Pacific {
    const KEY: &'static str = "pacific";
    const NAME: &'static str = "War in the Pacific";
    const PREFIX: &'static str = "WP";
    const RULES: u32 = 1;
    const SIDES: BySeat<&'static str> = BySeat { first: "South", second: "North" };

    type Options = Options;
    type State = State;
    type View = View;
    type Order = Order;

    fn start(options: &Options) -> State {
        State::new(options.clone())
    }

    fn options(state: &State) -> &Options {
        &state.options
    }

    /// The turn of a phase is its round, 0 for the setup.
    fn due(state: &State) -> Option<Due> {
        let phase = view::phase(&state.stage)?;
        let turn = if state.stage == Stage::Setup { 0 } else { state.round };
        Some(Due { phase, turn, seats: rules::seats_due(state) })
    }

    fn outcome(state: &State) -> Option<Outcome> {
        match &state.stage {
            Stage::Over(outcome) => Some(outcome.clone()),
            Stage::Setup | Stage::Surface(_) | Stage::Submarines => None,
        }
    }

    fn close(state: &State, outcome: Outcome) -> State {
        State { stage: Stage::Over(outcome), events: Vec::new(), ..state.clone() }
    }

    fn position(state: &State) -> serde_json::Value {
        json!({
            "round": state.round,
            "to_move": view::ToMove::at(&state.stage),
            "ships": state.ships,
            "submarines": state.submarines,
            "quiet": state.quiet,
        })
    }

    fn view(state: &State, viewer: Seat) -> View {
        view::view(state, viewer)
    }

    fn parse(line: &str) -> Result<Vec<Order>, Syntax> {
        order::parse(line)
    }

    fn check(view: &View, orders: &[Numbered<Order>]) -> Result<Sealed<Order>, Vec<Fault>> {
        check::check(view, orders)
    }

    /// Submarines pass (4); a setup or a surface turn cannot be done without.
    fn missed(view: &View) -> Option<Sealed<Order>> {
        (view.phase == Some(super::Phase::Submarines)).then(|| Sealed::new(Vec::new()))
    }

    fn adjudicate(state: &State, filed: &BySeat<Option<Sealed<Order>>>) -> State {
        let orders = |side: Seat| filed[side].as_ref().map_or(&[][..], Sealed::orders);
        if rules::seats_due(state).iter().any(|seat| filed[*seat].is_none()) {
            return state.clone();
        }
        match state.stage {
            Stage::Setup => rules::open(state, &BySeat::from_fn(orders)),
            Stage::Surface(side) => rules::surface(state, side, orders(side).first()),
            Stage::Submarines => rules::submarines(
                state,
                BySeat::from_fn(|side| match orders(side).first() {
                    Some(Order::Submarine(order)) => Some(*order),
                    _ => None,
                }),
            ),
            Stage::Over(_) => state.clone(),
        }
    }

    fn extra(view: &View) -> serde_json::Value {
        extra::extra(view)
    }

    fn board(view: &View) -> Board {
        board::board(view)
    }

    fn random_filing(view: &View, mut rng: &mut dyn FnMut(u32) -> u32) -> Vec<String> {
        play::random_filing(view, &mut rng)
    }
}

#[cfg(test)]
mod tests;
