//! Quadrant Z (Derek Hohls, 1999): two fleets that see little of each other capture the stars of a galaxy.
//!
//! Comments cite the clauses and rulings of the rules page `quadrant-z.md`.

use super::sheet::SheetBody;
use super::{
    Board, BySeat, Dice, Due, Fault, Game, Line, Numbered, Outcome, Phase, Rulebook, Sealed, Seat, Step,
    Syntax,
};
use crate::game::named_enum;
use crate::game::options::{named_option, options};

mod board;
mod check;
mod combat;
mod deeds;
mod galaxy;
mod legend;
mod order;
mod picture;
mod rules;
mod setup;
mod sheet;
mod short;
mod square_map;
mod symbols;
mod view;

pub use combat::{Class, Ship};
pub use galaxy::{Layout, Quadrant, Square};
pub(crate) use galaxy::{Quadrants, Sector};
pub use order::Order;
pub(crate) use order::ReadySetup;
pub use picture::figure;
pub use rules::State;
pub(crate) use rules::{Event, Stage, Star, Stars, adjudicate_unchecked};
pub(crate) use setup::{FLEET, two_squares};
pub(crate) use view::{Battle, Intruder, KnownStar, Side};
pub use view::{Capture, Memory, View};

impl Game for State {
    const RULEBOOK: Rulebook = Rulebook {
        key: "quadrant-z",
        name: "Quadrant Z",
        prefix: "QZ",
        sides: BySeat::new("North-West", "South-East"),
        version: 1,
    };

    const KEEPS_MEMORY: bool = true;

    const VERBS: &'static [&'static str] =
        &["STAR", "SHIP", "SHIPS", "SETUP", "BUILD", "CAPTURE", "LOSSES", "LOSE", "HOLD"];

    type Options = Options;
    type View = View;
    type Memory = Memory;
    type Order = Order;

    fn start(options: &Options) -> State {
        State::new(*options)
    }

    fn options(&self) -> &Options {
        &self.options
    }

    fn due(&self) -> Option<Due> {
        let turn = u32::from(self.turn);
        let (turn, seats) = match &self.stage {
            Stage::Setup => (0, Seat::BOTH.to_vec()),
            Stage::Turn => (turn + 1, Seat::BOTH.to_vec()),
            Stage::Casualties(pending) => {
                (turn, Seat::BOTH.into_iter().filter(|&seat| pending.asked[seat]).collect())
            }
            Stage::Over(_) => return None,
        };
        self.phase().map(|phase| Due { phase, turn, seats })
    }

    fn outcome(&self) -> Option<Outcome> {
        match &self.stage {
            Stage::Over(outcome) => Some(outcome.clone()),
            Stage::Setup | Stage::Turn | Stage::Casualties(_) => None,
        }
    }

    fn close(&self, outcome: Outcome) -> State {
        State { stage: Stage::Over(outcome), news: Vec::new(), ..self.clone() }
    }

    /// Clause 5.
    fn position(&self) -> serde_json::Value {
        let mut stars = Vec::new();
        for (at, star) in self.stars.iter() {
            stars.push(serde_json::json!({
                "at": at,
                "value": star.value(),
                "captured_by": star.captured_by,
                "base_of": self.base_of(at),
            }));
        }
        serde_json::json!({
            "turn": self.turn,
            "stock": self.sides.as_ref().map(|side| side.stock),
            "ships": self.sides.as_ref().map(|side| &side.ships),
            "stars": stars,
        })
    }

    fn view(&self, viewer: Seat) -> View {
        view::view(self, viewer)
    }

    fn parse(line: &str) -> Result<Vec<Order>, Syntax> {
        order::parse(line)
    }

    fn check(view: &View, orders: &[Numbered<Order>]) -> Result<Sealed<Order>, Vec<Fault>> {
        let mut faults = match view.context.phase {
            Some(Phase::Setup) => setup::faults(view, orders),
            Some(Phase::Turn) => check::turn_faults(view, orders),
            Some(Phase::Casualties) => check::casualties_faults(view, orders),
            Some(Phase::Surface | Phase::Submarines | Phase::Move) | None => {
                vec![Fault::whole("The match is over; no orders are taken.")]
            }
        };
        if faults.is_empty() {
            return Ok(Sealed::new(orders.iter().map(|numbered| numbered.order.clone()).collect()));
        }
        faults.sort_by_key(|fault| (fault.line.is_none(), fault.line));
        Err(faults)
    }

    fn write_out(view: &View, lines: &[Line]) -> (Vec<Line>, Vec<Fault>) {
        short::write_out(view, lines)
    }

    fn ready_setup(options: &Options, seat: Seat, order: &Order, dice: u64) -> Option<Vec<Order>> {
        let Order::Ready(setup) = order else { return None };
        Some(setup.draw(options.layout, seat, &mut Dice::new(dice)))
    }

    /// In a setup, a second line for the same ship or star is a fault, because it may be meant for another
    /// one.
    fn replaces(later: &Order, earlier: &Order) -> bool {
        let is_setup = matches!(later, Order::Star { .. } | Order::Place { .. });
        !is_setup && later.concerns().is_some() && later.concerns() == earlier.concerns()
    }

    /// `2: hold` may mean ship 2.
    fn with_bullet(bullet: &str, rest: &str) -> Option<String> {
        let number: String = bullet.chars().filter(char::is_ascii_digit).collect();
        // `1: C2` leaves out even the TO.
        let to = if Square::parse(rest).is_some() { "TO " } else { "" };
        let order = format!("SHIP {number} {to}{rest}").to_ascii_uppercase();
        (!number.is_empty() && order::parse(&order).is_ok()).then_some(order)
    }

    fn between(view: &View, from: &str, to: &str) -> Option<Order> {
        let from = Square::parse(from)?;
        let to = Square::parse(to)?;
        let ship = view.ships.iter().find(|ship| ship.at == from)?;
        Some(Order::Move { no: ship.no, from: Some(from), to })
    }

    fn captures(view: &View) -> Vec<Order> {
        check::captures(view)
    }

    fn example(view: &View, line: &str) -> Option<String> {
        let order = match view.context.phase? {
            Phase::Setup => setup::example(view, line),
            Phase::Turn => check::turn_example(view, line),
            Phase::Casualties => check::casualties_example(view)?,
            Phase::Surface | Phase::Submarines | Phase::Move => return None,
        };
        Some(order.to_string())
    }

    /// In a turn, every ship holds; in the phase `casualties`, the least set is lost. A setup must be filed.
    fn missed(view: &View) -> Option<Sealed<Order>> {
        match view.context.phase {
            Some(Phase::Turn | Phase::Casualties) => Some(Sealed::new(Vec::new())),
            Some(Phase::Setup | Phase::Surface | Phase::Submarines | Phase::Move) | None => None,
        }
    }

    fn adjudicate(&self, filed: &BySeat<Option<Sealed<Order>>>) -> State {
        rules::adjudicate(self, filed)
    }

    /// `choosing`: whether the phase is `casualties`; `fighting`: the ships among which this seat chooses.
    fn extra(view: &View) -> serde_json::Value {
        let fights = view.context.fighting.iter();
        let fighting: Vec<_> = fights
            .map(|(quadrant, ships)| serde_json::json!({ "quadrant": quadrant, "ships": ships }))
            .collect();
        serde_json::json!({
            "choosing": view.context.phase == Some(Phase::Casualties),
            "fighting": fighting,
        })
    }

    fn remember(memory: &mut Memory, view: &View) {
        memory.add(view);
    }

    fn recall(view: &mut View, memory: &Memory) {
        view.memory = Some(Box::new(memory.clone()));
    }

    fn tell_deeds(view: &mut View, before: &View, filed: &[Order]) {
        view.did = Some(Box::new(deeds::deeds(before, filed, view)));
    }

    fn beside_position(&self) -> serde_json::Value {
        let charted = |seat| self.sides[seat].charted.iter().map(|at| at.to_string()).collect::<Vec<_>>();
        serde_json::json!({ "charted": BySeat::from_fn(charted) })
    }

    fn board(view: &View) -> Board {
        board::board(view)
    }

    fn show_readers(view: &mut View) {
        view.context.readers = Some(view::Readers::default());
    }

    fn open_view(&self, step: Option<Step<'_, State>>) -> View {
        deeds::open_view(self, step)
    }

    fn sheet(view: &View) -> Option<SheetBody> {
        sheet::sheet(view)
    }
}

options! {
    #[derive(Copy)]
    pub struct Options {
        pub layout: Layout = "triangle", "the shape of the home sectors";
        damage: Damage = "excess",
            "whether only the offence beyond the defence does damage, or all of it";
        pub casualties: Casualties = "standing",
            "whether a list in advance decides which ships are lost, or their owner is asked";
        /// The last turn (clause 3.6).
        turn_limit: u32 = "40", "the number of turns after which stars decide";
    }
}

named_enum! {
    /// The rule for the damage that a force does (`Z-EXCESS`).
    enum Damage {
        Excess = "excess",
        Full = "full",
    }
}
named_option!(Damage);

named_enum! {
    /// The way in which an owner chooses the ships to lose (`Z-CASUALTIES`).
    pub enum Casualties {
        Standing = "standing",
        Ask = "ask",
    }
}
named_option!(Casualties);
