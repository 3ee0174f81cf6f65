//! War in the Pacific: two fleets that fight like chess pieces, visible to both sides, and submarines beneath
//! them that only their own side sees.
//!
//! Comments cite the clauses and rulings of the rules page `pacific.md` as `3.4` and `P-ESCORT`.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::sheet::SheetBody;
use super::{
    Board, BySeat, Dice, Due, Fault, Game, Numbered, Outcome, Phase, Rulebook, Sealed, Seat, Step, Syntax,
};
use crate::game::options::{OptionValue, named_option, options};
use crate::game::{Values, named_enum};

mod board;
mod check;
mod fleet;
mod marks;
mod order;
mod picture;
mod rules;
mod setup;
mod sheet;
mod view;

pub use fleet::{Area, Chart, Class, REACH, Ship, ShipKind, Square, Submarine, in_friendly_waters, reaches};
pub use order::{Order, SubmarineOrder};
pub use picture::figure;
pub use rules::{Stage, State, submarine_goes, torpedo_reaches};
pub use setup::basic_fleet;
pub(crate) use view::{Depths, Sighted};
pub use view::{Notice, View};

impl Game for State {
    const RULEBOOK: Rulebook = Rulebook {
        key: "pacific",
        name: "War in the Pacific",
        prefix: "WP",
        sides: BySeat::new("South", "North"),
        version: 1,
    };

    const VERBS: &'static [&'static str] = &[
        "CARRIER",
        "BATTLESHIP",
        "CRUISER",
        "DESTROYER",
        "SUBMARINE",
        "SETUP",
        "MOVE",
        "ASW",
        "SUBS",
        "PASS",
    ];

    type Options = Options;
    type View = View;
    type Memory = ();
    type Order = Order;

    fn start(options: &Options) -> State {
        State::new(options.clone())
    }

    fn options(&self) -> &Options {
        &self.options
    }

    /// The turn of a phase is its round, 0 for the setup.
    fn due(&self) -> Option<Due> {
        let phase = view::phase(&self.stage)?;
        let turn = if self.stage == Stage::Setup { 0 } else { self.round };
        Some(Due { phase, turn, seats: rules::seats_due(self) })
    }

    fn outcome(&self) -> Option<Outcome> {
        match &self.stage {
            Stage::Over(outcome) => Some(outcome.clone()),
            Stage::Setup | Stage::Surface(_) | Stage::Submarines => None,
        }
    }

    fn close(&self, outcome: Outcome) -> State {
        State { stage: Stage::Over(outcome), events: Vec::new(), ..self.clone() }
    }

    fn position(&self) -> serde_json::Value {
        json!({
            "round": self.round,
            "to_move": view::ToMove::at(&self.stage),
            "ships": self.ships,
            "submarines": self.submarines,
            "quiet": self.quiet,
        })
    }

    fn view(&self, viewer: Seat) -> View {
        view::view(self, viewer)
    }

    fn parse(line: &str) -> Result<Vec<Order>, Syntax> {
        order::parse(line)
    }

    fn check(view: &View, orders: &[Numbered<Order>]) -> Result<Sealed<Order>, Vec<Fault>> {
        check::check(view, orders)
    }

    fn ready_setup(options: &Options, seat: Seat, order: &Order, dice: u64) -> Option<Vec<Order>> {
        let Order::Ready(setup) = order else { return None };
        Some(setup.draw(seat, options, &mut Dice::new(dice)))
    }

    /// A second move of the same ship or submarine replaces the first.
    fn replaces(later: &Order, earlier: &Order) -> bool {
        match (later, earlier) {
            (Order::Move { from, .. }, Order::Move { from: before, .. }) => from == before,
            (Order::Submarine(later), Order::Submarine(earlier)) => {
                later.no().is_some() && later.no() == earlier.no()
            }
            _ => false,
        }
    }

    fn between(_view: &View, from: &str, to: &str) -> Option<Order> {
        Some(Order::Move { class: None, from: Square::parse(from)?, to: Square::parse(to)? })
    }

    fn example(view: &View, line: &str) -> Option<String> {
        check::example(view, line)
    }

    /// Submarines pass (4). Setups and surface turns must be filed.
    fn missed(view: &View) -> Option<Sealed<Order>> {
        (view.phase == Some(Phase::Submarines)).then(|| Sealed::new(Vec::new()))
    }

    fn adjudicate(&self, filed: &BySeat<Option<Sealed<Order>>>) -> State {
        if rules::seats_due(self).iter().any(|seat| filed[*seat].is_none()) {
            return self.clone();
        }
        let orders = filed.as_ref().map(|filing| filing.as_ref().map_or(&[][..], Sealed::orders));
        match self.stage {
            Stage::Setup => rules::open(self, &orders),
            Stage::Surface(side) => rules::surface(self, side, orders[side].first()),
            Stage::Submarines => rules::submarines(self, orders.map(order::submarine_order)),
            Stage::Over(_) => self.clone(),
        }
    }

    fn recall(view: &mut View, (): &()) {
        view.memory = Some(view::memory(view));
    }

    fn tell_deeds(view: &mut View, before: &View, filed: &[Order]) {
        view.did = Some(view::deeds(before, filed, view));
    }

    fn extra(view: &View) -> serde_json::Value {
        check::extra(view)
    }

    fn board(view: &View) -> Board {
        board::board(view)
    }

    fn show_readers(view: &mut View) {
        view.readers = Some(view::Readers::default());
    }

    fn open_view(&self, step: Option<Step<'_, State>>) -> View {
        view::open_view(self, step)
    }

    fn sheet(view: &View) -> Option<SheetBody> {
        sheet::sheet(view)
    }
}

#[cfg(test)]
mod tests;

options! {
    pub struct Options {
        /// The destroyers in a side's basic fleet (P-COUNT).
        pub destroyers: Destroyers = "7", "how many destroyers the basic fleet has";
        /// Whether there are submarines, their phase, and attacks on them (1.5).
        pub submarines: bool = "true", "whether each side has five hidden submarines";
        pub squadron_leap: Leap = "once", "how often the knight's leap is open to a squadron";
        pub torpedo: Torpedo = "exact", "whether torpedoes sink at exactly two squares, or at two and fewer";
        /// Surface turns of each side without a sinking before the points decide (P-QUIET).
        pub quiet_limit: u32 = "50", "after how many turns of each side without a sinking points decide";
    }
}

/// The number of destroyers in a basic fleet. A number in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "u8", try_from = "u8")]
pub enum Destroyers {
    Seven,
    Eight,
}

impl From<Destroyers> for u8 {
    fn from(destroyers: Destroyers) -> u8 {
        match destroyers {
            Destroyers::Seven => 7,
            Destroyers::Eight => 8,
        }
    }
}

impl TryFrom<u8> for Destroyers {
    type Error = String;

    fn try_from(count: u8) -> Result<Self, String> {
        match count {
            7 => Ok(Destroyers::Seven),
            8 => Ok(Destroyers::Eight),
            _ => Err("It is 7 or 8.".to_owned()),
        }
    }
}

impl OptionValue for Destroyers {
    const VALUES: Values = Values::OneOf(&["7", "8"]);

    fn parse_value(text: &str) -> Result<Self, String> {
        text.parse::<u8>().map_err(|_| "It is 7 or 8.".to_owned())?.try_into()
    }

    fn to_text(&self) -> String {
        u8::from(*self).to_string()
    }
}

named_enum! {
    /// The rule on a squadron's knight's leaps (P-LEAP).
    pub enum Leap {
        Once = "once",
        Always = "always",
    }
}
named_option!(Leap);

named_enum! {
    /// The distance at which a torpedo sinks a ship (P-TORPEDO).
    pub enum Torpedo {
        /// Exactly two king's steps away.
        Exact = "exact",
        /// At most two king's steps away.
        Within = "within",
    }
}
named_option!(Torpedo);
