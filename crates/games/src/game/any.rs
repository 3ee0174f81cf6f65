//! The closed enum over the games, and the methods that the rest of the program may call on any of them.
//!
//! A new game takes one line in [`games!`]; the compiler reports what else it needs. A new question to the
//! games takes a method of [`Game`], which [`AnyState`] or [`GameKind`] forwards with `on_state!` or
//! `on_game!`.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{
    Board, BySeat, Due, Fault, Game, Line, Numbered, Options, OrderLines, Outcome, Sealed, Seat, Seen,
    Syntax, condition,
};

pub use super::options::Choices;

/// Declares the enums over all games, and the two macros that forward a call to the game of a value.
///
/// The first argument is a dollar sign, which the inner macros need for their own variables.
macro_rules! games {
    ($d:tt $($variant:ident => $state:ty),+ $(,)?) => {
        /// One of the games.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum GameKind { $($variant),+ }

        impl GameKind {
            pub const ALL: &'static [GameKind] = &[$(GameKind::$variant),+];
        }

        /// The state of a match of any game. Its JSON names the game.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "game", content = "state", rename_all = "kebab-case")]
        pub enum AnyState { $($variant($state)),+ }

        impl AnyState {
            pub fn kind(&self) -> GameKind {
                match self { $(AnyState::$variant(_) => GameKind::$variant),+ }
            }
        }

        /// The orders of one seat for one phase, checked against the state that they are filed for. The JSON
        /// is their canonical lines, which do not name the game; [`AnyState::unseal`] turns them back into
        /// orders.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Filing { $($variant(Sealed<<$state as Game>::Order>)),+ }

        impl Filing {
            pub fn kind(&self) -> GameKind {
                match self { $(Filing::$variant(_) => GameKind::$variant),+ }
            }

            pub fn lines(&self) -> OrderLines {
                match self { $(Filing::$variant(sealed) => OrderLines::of(sealed)),+ }
            }
        }

        /// Everything that a seat of any game was told and filed so far; see [`Seen`]. The JSON does not name
        /// the game.
        #[derive(Clone, Debug, PartialEq, Serialize)]
        #[serde(untagged)]
        pub enum AnySeen { $($variant(Seen<<$state as Game>::View, <$state as Game>::Order>)),+ }

        impl AnySeen {
            /// Returns what `seat` is told when a match starts with this state.
            pub fn begin(state: &AnyState, seat: Seat) -> AnySeen {
                match state { $(AnyState::$variant(state) => AnySeen::$variant(Seen::begin(state, seat))),+ }
            }
        }

        /// The memories of both seats of a match of any game (rules page `records.md`, Memory).
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Memories { $($variant(BySeat<<$state as Game>::Memory>)),+ }

        impl Memories {
            /// Returns the memories of a match in which nothing has been adjudicated.
            pub fn empty(kind: GameKind) -> Memories {
                match kind { $(GameKind::$variant => Memories::$variant(BySeat::default())),+ }
            }
        }

        $(
            impl Remembering for $state {
                fn memories(any: &Memories) -> Option<&BySeat<Self::Memory>> {
                    match any {
                        Memories::$variant(own) => Some(own),
                        _ => None,
                    }
                }

                fn memories_mut(any: &mut Memories) -> Option<&mut BySeat<Self::Memory>> {
                    match any {
                        Memories::$variant(own) => Some(own),
                        _ => None,
                    }
                }
            }

            impl From<$state> for AnyState {
                fn from(state: $state) -> Self {
                    AnyState::$variant(state)
                }
            }

            impl From<Sealed<<$state as Game>::Order>> for Filing {
                fn from(sealed: Sealed<<$state as Game>::Order>) -> Self {
                    Filing::$variant(sealed)
                }
            }

            impl<'a> TryFrom<&'a AnyState> for &'a $state {
                type Error = GameKind;

                /// Fails with the game of the state if it is another one.
                fn try_from(state: &'a AnyState) -> Result<Self, GameKind> {
                    match state {
                        AnyState::$variant(state) => Ok(state),
                        other => Err(other.kind()),
                    }
                }
            }

            impl TryFrom<Filing> for Sealed<<$state as Game>::Order> {
                type Error = GameKind;

                /// Fails with the game of the filing if it is another one.
                fn try_from(filing: Filing) -> Result<Self, GameKind> {
                    match filing {
                        Filing::$variant(sealed) => Ok(sealed),
                        other => Err(other.kind()),
                    }
                }
            }
        )+

        /// Evaluates an expression with `$name` bound to the game's own state inside an [`AnyState`] and, if
        /// given, `$game` standing for the state's type.
        macro_rules! on_state {
            ($d any:expr, $d name:ident => $d body:expr) => {
                match $d any { $(AnyState::$variant($d name) => $d body),+ }
            };
            ($d any:expr, $d name:ident of $d game:ident => $d body:expr) => {
                match $d any {
                    $(AnyState::$variant($d name) => {
                        type $d game = $state;
                        $d body
                    }),+
                }
            };
        }

        /// Evaluates an expression with the type `$name` standing for the state of a [`GameKind`].
        macro_rules! on_game {
            ($d kind:expr, $d name:ident => $d body:expr) => {
                match $d kind { $(GameKind::$variant => { type $d name = $state; $d body }),+ }
            };
        }

        /// Evaluates an expression with `$name` bound to what a seat was told and, if given, `$game` standing
        /// for the state's type.
        macro_rules! on_seen {
            ($d any:expr, $d name:ident => $d body:expr) => {
                match $d any { $(AnySeen::$variant($d name) => $d body),+ }
            };
            ($d any:expr, $d name:ident of $d game:ident => $d body:expr) => {
                match $d any {
                    $(AnySeen::$variant($d name) => {
                        type $d game = $state;
                        $d body
                    }),+
                }
            };
        }
    };
}

games! { $
    QuadrantZ => crate::game::quadrant_z::State,
    Pacific => crate::game::pacific::State,
    Quantum => crate::game::quantum::State,
    Quad => crate::game::quad::State,
}

/// A game whose own memories can be extracted from [`Memories`].
trait Remembering: Game {
    fn memories(any: &Memories) -> Option<&BySeat<Self::Memory>>;
    fn memories_mut(any: &mut Memories) -> Option<&mut BySeat<Self::Memory>>;
}

mod conditions;
mod kind;
mod shown;

pub use conditions::follow;
pub use shown::{OwnPart, ShownView};
pub(crate) use {on_game, on_seen};

impl Serialize for Filing {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.lines().serialize(serializer)
    }
}

/// A sealed filing that is illegal in its state, because one of the two was changed.
#[derive(Debug, thiserror::Error)]
#[error("the orders sealed for {seat} cannot stand in this state: {}", .faults.first().map_or("", |f| f.reason.as_str()))]
pub struct IllegalFiling {
    pub seat: Seat,
    pub faults: Vec<Fault>,
}

/// A match of any game. A method that [`Game`] has too does the same as that one.
impl AnyState {
    /// Returns what the match waits for; `None` once it is over.
    pub fn due(&self) -> Option<Due> {
        on_state!(self, state => state.due())
    }

    /// Returns how the match ended; `None` while it runs.
    pub fn outcome(&self) -> Option<Outcome> {
        on_state!(self, state => state.outcome())
    }

    /// Ends the match from outside the rules.
    pub fn close(&mut self, outcome: Outcome) {
        on_state!(self, state => *state = state.close(outcome));
    }

    /// The `state` of the rules page as JSON.
    pub fn position(&self) -> Value {
        on_state!(self, state => state.position())
    }

    /// The facts that a replay of a finished match shows in addition to the position; `null` for most games.
    pub fn beside_position(&self) -> Value {
        on_state!(self, state => state.beside_position())
    }

    /// All options with the values in force.
    pub fn options(&self) -> BTreeMap<&'static str, String> {
        on_state!(self, state => state.options().in_force())
    }

    /// Whether the match hides something from a side until its end.
    pub fn hides_something(&self) -> bool {
        match self {
            AnyState::QuadrantZ(_) => true,
            AnyState::Pacific(state) => state.has_submarines(),
            AnyState::Quad(_) | AnyState::Quantum(_) => false,
        }
    }

    /// Returns everything that `viewer` may know, as the JSON of the rules page.
    pub fn view(&self, viewer: Seat) -> Value {
        let json = on_state!(self, state => serde_json::to_value(state.view(viewer)));
        json.expect("a view has string keys and plain values")
    }

    /// Returns the data that templates get in addition to the view.
    pub fn extra(&self, viewer: Seat) -> Value {
        on_state!(self, state of State => State::extra(&state.view(viewer)))
    }

    /// The board as `viewer` may know it.
    pub fn board(&self, viewer: Seat) -> Board {
        on_state!(self, state of State => State::board(&state.view(viewer)))
    }

    /// Parses and checks the orders of `seat` against what it can see.
    ///
    /// # Errors
    /// Returns every fault if the orders cannot stand: those of lines in the order of the lines, then those
    /// of the whole filing.
    pub fn seal(&self, seat: Seat, lines: &[Line]) -> Result<Filing, Vec<Fault>> {
        match self.due() {
            None => Err(vec![Fault::whole("The match is over.")]),
            Some(due) if !due.seats.contains(&seat) => {
                Err(vec![Fault::whole(format!("Nothing is due from {seat} in the phase {}.", due.phase))])
            }
            Some(_) => on_state!(self, state => seal(state, seat, lines).map(Filing::from)),
        }
    }

    /// Returns the order that moves the piece of `seat` from one square to another, in the form in which
    /// orders are filed.
    pub fn between(&self, seat: Seat, from: &str, to: &str) -> Option<String> {
        on_state!(self, state of State => {
            State::between(&state.view(seat), from, to).map(|order| order.to_string())
        })
    }

    /// Returns an order for every capture of `seat` that is legal now, in the form in which orders are filed.
    pub fn captures(&self, seat: Seat) -> Vec<String> {
        on_state!(self, state of State => {
            State::captures(&state.view(seat)).iter().map(ToString::to_string).collect()
        })
    }

    /// Returns a legal order of the open phase, or several on separate lines, as an example for somebody
    /// whose `line` could not be read; `None` if nothing is due from `seat`.
    pub fn example(&self, seat: Seat, line: &str) -> Option<String> {
        if !self.is_due(seat) {
            return None;
        }
        on_state!(self, state of State => State::example(&state.view(seat), line))
    }

    /// Writes out the short forms of a letter's orders, from what the seat sees. Returns the lines, and the
    /// faults of those that cannot be written out.
    pub fn write_out(&self, seat: Seat, lines: &[Line]) -> (Vec<Line>, Vec<Fault>) {
        on_state!(self, state of State => State::write_out(&state.view(seat), lines))
    }

    /// Returns the lines that a ready setup stands for, drawn by `dice`; `None` unless a ready setup is the
    /// only line.
    pub fn ready_setup(&self, seat: Seat, lines: &[Line], dice: u64) -> Option<Vec<Line>> {
        on_state!(self, state => ready_setup(state, seat, lines, dice))
    }

    /// Whether the last move was the one that this part of a condition expects.
    pub fn has_come(&self, expected: &str) -> bool {
        on_state!(self, state => condition::has_come(state, expected))
    }

    /// Returns what counts as filed for a seat that is due and sent nothing; `None` if it must move itself.
    pub fn missed(&self, seat: Seat) -> Option<Filing> {
        if !self.is_due(seat) {
            return None;
        }
        on_state!(self, state of State => State::missed(&state.view(seat)).map(Filing::from))
    }

    fn is_due(&self, seat: Seat) -> bool {
        self.due().is_some_and(|due| due.seats.contains(&seat))
    }

    /// Turns stored lines back into filings for this state.
    ///
    /// # Errors
    /// [`IllegalFiling`] if they were not sealed for this state.
    pub fn unseal(
        &self,
        stored: &BySeat<Option<OrderLines>>,
    ) -> Result<BySeat<Option<Filing>>, IllegalFiling> {
        let mut filed = BySeat::new(None, None);
        for (seat, lines) in stored.iter() {
            let Some(lines) = lines else { continue };
            let sealed = self.seal(seat, &Line::numbered(lines));
            filed[seat] = Some(sealed.map_err(|faults| IllegalFiling { seat, faults })?);
        }
        Ok(filed)
    }

    /// Decides the phase that is due, once every seat that is due has filed.
    ///
    /// # Panics
    /// Panics if a filing is for another game, which cannot happen: a match holds only filings that its own
    /// state sealed.
    pub fn adjudicate(&mut self, filed: &BySeat<Option<Filing>>) {
        let filed = filed.as_ref();
        on_state!(self, state => {
            *state = state.adjudicate(&filed.map(|filing| filing.as_ref().map(sealed_orders)));
        });
    }
}

fn ready_setup<G: Game>(state: &G, seat: Seat, lines: &[Line], dice: u64) -> Option<Vec<Line>> {
    let [only] = lines else { return None };
    let orders = G::parse(&only.text).ok()?;
    let [order] = orders.as_slice() else { return None };
    let setup = G::ready_setup(state.options(), seat, order, dice)?;
    Some(setup.iter().map(|order| Line { no: only.no, text: order.to_string() }).collect())
}

/// Returns the orders of a filing.
///
/// # Panics
/// Panics if the filing is for a game other than that of these orders.
fn sealed_orders<O>(filing: &Filing) -> Sealed<O>
where
    Sealed<O>: TryFrom<Filing, Error = GameKind>,
{
    Sealed::try_from(filing.clone()).expect("a match is filed for with orders of its own game")
}

/// Parses and checks `lines`. Syntax faults and illegal orders are listed together, each line at most once.
fn seal<G: Game>(state: &G, seat: Seat, lines: &[Line]) -> Result<Sealed<G::Order>, Vec<Fault>> {
    let view = state.view(seat);
    let mut orders = Vec::new();
    let mut faults = Vec::new();
    for line in lines {
        match G::parse(&line.text) {
            Ok(parsed) => orders.extend(parsed.into_iter().map(|order| Numbered { line: line.no, order })),
            Err(Syntax::Unknown) => {
                faults.push(Fault::on(line.no, format!("This is not an order of {}.", G::RULEBOOK.name)));
            }
            Err(Syntax::Malformed { reason, example }) => {
                let example = G::example(&view, &line.text).unwrap_or_else(|| example.to_owned());
                faults.push(Fault::on(line.no, reason).with_example(example));
            }
        }
    }
    let all_parsed = faults.is_empty();
    match G::check(&view, &orders) {
        Ok(sealed) if all_parsed => return Ok(sealed),
        Ok(_) => {}
        Err(illegal) => faults.extend(illegal.into_iter().filter(|fault| all_parsed || !fault.missing)),
    }
    // Whole-filing faults come last. A line that was malformed is not also reported as illegal.
    faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
    faults.dedup_by(|later, earlier| later.line.is_some() && later.line == earlier.line);
    Err(faults)
}
