//! The closed enum over the games, and what the rest of the program may ask of any of them.
//!
//! A new game is one line in [`games!`]: what it lacks does not compile.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use super::options::Choices;
use super::position::{Held, Position};
use super::{
    Board, BySeat, Due, Fault, Game, HouseLevel, Line, OptionRule, Options, Outcome, Sealed, Seat, Syntax,
};

macro_rules! games {
    ($($variant:ident => $game:ty),+ $(,)?) => {
        /// Which game.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum GameKind { $($variant),+ }

        impl GameKind {
            pub const ALL: &'static [GameKind] = &[$(GameKind::$variant),+];

            fn rulebook(self) -> &'static dyn Rulebook {
                match self { $(GameKind::$variant => &Book::<$game>(std::marker::PhantomData)),+ }
            }

            /// A match of this game before anything was filed.
            pub fn start(self, choices: &Choices) -> AnyState {
                match self {
                    $(GameKind::$variant => AnyState::$variant(Held(<$game>::start(&choices.all())))),+
                }
            }

            /// The same under this version of the rules; both may come from a file that anybody wrote.
            ///
            /// # Errors
            /// A sentence: the version, or an option, is not known.
            pub fn start_under(self, rules: u32, choices: &Choices) -> Result<AnyState, String> {
                self.knows_rules(rules)?;
                let choices = &self.choose(choices.iter())?;
                if rules == self.rules() {
                    return Ok(self.start(choices));
                }
                Ok(match self {
                    $(GameKind::$variant => {
                        AnyState::$variant(Held(<$game>::start_under(rules, &choices.all())))
                    }),+
                })
            }
        }

        /// The state of a match of any game. Its JSON names the game.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        #[serde(tag = "game", content = "state", rename_all = "kebab-case")]
        pub enum AnyState { $($variant(Held<$game>)),+ }

        impl AnyState {
            pub fn kind(&self) -> GameKind {
                match self { $(AnyState::$variant(_) => GameKind::$variant),+ }
            }

            fn position_of(&self) -> &dyn Position {
                match self { $(AnyState::$variant(held) => held),+ }
            }

            fn position_of_mut(&mut self) -> &mut dyn Position {
                match self { $(AnyState::$variant(held) => held),+ }
            }
        }
    };
}

games! {
    QuadrantZ => super::quadrant_z::QuadrantZ,
    Pacific => super::pacific::Pacific,
    Quantum => super::quantum::Quantum,
    Quad => super::quad::Quad,
}

/// The orders of one seat for one phase, checked and held unseen; one canonical line for each order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Filing(Vec<String>);

impl Filing {
    pub fn lines(&self) -> &[String] {
        &self.0
    }

    pub(super) fn of<O: Display>(sealed: &Sealed<O>) -> Filing {
        Filing(sealed.orders().iter().map(O::to_string).collect())
    }
}

/// A filing that does not fit the state it was sealed for: somebody has changed one of the two.
#[derive(Debug, thiserror::Error)]
#[error("the orders sealed for {seat} cannot stand in this state: {}", .faults.first().map_or("", |f| f.reason.as_str()))]
pub struct Unsound {
    pub seat: Seat,
    pub faults: Vec<Fault>,
}

/// What a game says of itself, without any match.
trait Rulebook {
    fn key(&self) -> &'static str;
    fn name(&self) -> &'static str;
    fn prefix(&self) -> &'static str;
    fn rules(&self) -> u32;
    fn earlier_rules(&self) -> &'static [u32];
    fn sides(&self) -> BySeat<&'static str>;
    fn option_rules(&self) -> &'static [OptionRule];
    fn choose(&self, wanted: &[(&str, &str)]) -> Result<Choices, String>;
    fn syntax(&self, line: &str) -> Result<(), Syntax>;
    fn replaced(&self, lines: &[Line]) -> Vec<Line>;
    fn house(&self) -> (u32, &'static [HouseLevel]);
}

struct Book<G>(std::marker::PhantomData<G>);

impl<G: Game> Rulebook for Book<G> {
    fn key(&self) -> &'static str {
        G::KEY
    }
    fn name(&self) -> &'static str {
        G::NAME
    }
    fn prefix(&self) -> &'static str {
        G::PREFIX
    }
    fn rules(&self) -> u32 {
        G::RULES
    }
    fn earlier_rules(&self) -> &'static [u32] {
        G::EARLIER_RULES
    }
    fn sides(&self) -> BySeat<&'static str> {
        G::SIDES
    }
    fn option_rules(&self) -> &'static [OptionRule] {
        <G::Options as Options>::RULES
    }
    fn choose(&self, wanted: &[(&str, &str)]) -> Result<Choices, String> {
        Choices::choose::<G::Options>(G::NAME, wanted)
    }
    fn syntax(&self, line: &str) -> Result<(), Syntax> {
        G::parse(line).map(|_| ())
    }
    fn replaced(&self, lines: &[Line]) -> Vec<Line> {
        let read: Vec<_> = lines.iter().map(|line| G::parse(&line.text).unwrap_or_default()).collect();
        let replaced = |at: usize| {
            let again = |order| read[at + 1..].iter().flatten().any(|after| G::replaces(after, order));
            !read[at].is_empty() && read[at].iter().all(again)
        };
        (0..lines.len()).filter(|at| replaced(*at)).map(|at| lines[at].clone()).collect()
    }
    fn house(&self) -> (u32, &'static [HouseLevel]) {
        G::HOUSE.map_or((0, &[]), |house| (house.version, house.levels))
    }
}

impl GameKind {
    /// As in records and on the command line: `quadrant-z`.
    pub fn key(self) -> &'static str {
        self.rulebook().key()
    }

    /// As people write it: `Quadrant Z`.
    pub fn name(self) -> &'static str {
        self.rulebook().name()
    }

    /// The beginning of match names: `QZ`.
    pub fn prefix(self) -> &'static str {
        self.rulebook().prefix()
    }

    /// The version of the rules by which new matches are played.
    pub fn rules(self) -> u32 {
        self.rulebook().rules()
    }

    /// Checks that a match that is played by this version of the rules can be ruled on.
    ///
    /// # Errors
    /// A sentence that names the version, and those that are known.
    pub fn knows_rules(self, rules: u32) -> Result<(), String> {
        let known: Vec<u32> = self.rulebook().earlier_rules().iter().copied().chain([self.rules()]).collect();
        if known.contains(&rules) {
            return Ok(());
        }
        let listed = known.iter().map(u32::to_string).collect::<Vec<_>>().join(" and ");
        Err(format!(
            "version {rules} of the rules of {} is not known; this program knows {listed}",
            self.name()
        ))
    }

    pub fn sides(self) -> BySeat<&'static str> {
        self.rulebook().sides()
    }

    pub fn option_rules(self) -> &'static [OptionRule] {
        self.rulebook().option_rules()
    }

    /// The game called `text`: its key or its name, in any case, blanks and hyphens alike.
    pub fn parse(text: &str) -> Option<GameKind> {
        let plain = |text: &str| text.trim().replace([' ', '_'], "-").to_ascii_lowercase();
        let wanted = plain(text);
        GameKind::ALL.iter().copied().find(|kind| wanted == kind.key() || wanted == plain(kind.name()))
    }

    /// Checks options by name and value.
    ///
    /// # Errors
    /// A sentence that names the option and what would do.
    pub fn choose<'a>(self, wanted: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Choices, String> {
        self.rulebook().choose(&wanted.into_iter().collect::<Vec<_>>())
    }

    /// The same for a match against the house: its level's own options hold unless others are given.
    ///
    /// # Errors
    /// As for [`GameKind::choose`].
    pub fn choose_at(self, level: &HouseLevel, wanted: &[(&str, &str)]) -> Result<Choices, String> {
        let given = |name: &str| wanted.iter().any(|(given, _)| given.eq_ignore_ascii_case(name));
        let own = level.options.iter().copied().filter(|(name, _)| !given(name));
        self.choose(wanted.iter().copied().chain(own))
    }

    /// The levels at which the house plays it, the weakest first; none: it does not.
    pub fn levels(self) -> &'static [HouseLevel] {
        self.rulebook().house().1
    }

    /// The level of this name, in any case.
    pub fn level(self, name: &str) -> Option<&'static HouseLevel> {
        self.levels().iter().find(|level| name.eq_ignore_ascii_case(level.name))
    }

    /// The version of the house that plays it; see [`super::House::version`].
    pub fn house_version(self) -> u32 {
        self.rulebook().house().0
    }

    /// All options with the values in force under `choices`.
    pub fn options_in_force(self, choices: &Choices) -> BTreeMap<&'static str, String> {
        choices.in_force(self.option_rules())
    }

    /// Reads one line of orders, to see whether it is one.
    ///
    /// # Errors
    /// [`Syntax`]: it is no order, or not a whole one.
    pub fn syntax(self, line: &str) -> Result<(), Syntax> {
        self.rulebook().syntax(line)
    }

    /// Those of the lines of one letter whose place a later one takes: of two orders for one ship, the first.
    pub fn replaced(self, lines: &[Line]) -> Vec<Line> {
        self.rulebook().replaced(lines)
    }
}

impl Display for GameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl Serialize for GameKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}

impl<'de> Deserialize<'de> for GameKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        let kind = GameKind::ALL.iter().copied().find(|kind| kind.key() == key);
        kind.ok_or_else(|| serde::de::Error::custom(format!("no game `{key}`")))
    }
}

impl AnyState {
    /// What the match waits for; `None` once it is over.
    pub fn due(&self) -> Option<Due> {
        self.position_of().due()
    }

    pub fn outcome(&self) -> Option<Outcome> {
        self.position_of().outcome()
    }

    /// Ends the match from outside the rules.
    pub fn close(&mut self, outcome: Outcome) {
        self.position_of_mut().close(outcome);
    }

    /// The `state` of the rules page as JSON.
    pub fn position(&self) -> Value {
        self.position_of().position()
    }

    /// All options with the values in force.
    pub fn options(&self) -> BTreeMap<&'static str, String> {
        self.position_of().options()
    }

    /// What `viewer` may know, as the JSON of the rules page.
    pub fn view(&self, viewer: Seat) -> Value {
        self.position_of().view(viewer)
    }

    /// What the templates are told besides the view.
    pub fn extra(&self, viewer: Seat) -> Value {
        self.position_of().extra(viewer)
    }

    /// The board as `viewer` may know it.
    pub fn board(&self, viewer: Seat) -> Board {
        self.position_of().board(viewer)
    }

    /// The board with everything open.
    pub fn open_board(&self) -> Board {
        let mut open = self.clone();
        if open.outcome().is_none() {
            open.close(Outcome { winner: None, reason: super::Reason::Abandoned });
        }
        open.board(Seat::First)
    }

    /// Reads and checks the orders of `seat` against what it can see.
    ///
    /// # Errors
    /// Every fault: those of lines in the order of the lines, then those of the whole filing.
    pub fn seal(&self, seat: Seat, lines: &[Line]) -> Result<Filing, Vec<Fault>> {
        let due = self.due().filter(|due| due.seats.contains(&seat));
        if due.is_none() {
            return Err(vec![Fault::whole(match self.due() {
                None => "The match is over.".to_owned(),
                Some(due) => format!("Nothing is due from {seat} in the phase {}.", due.phase),
            })]);
        }
        self.position_of().seal(seat, lines)
    }

    /// What the rules take as filed for a seat that is due and sent nothing; `None` where it must move itself.
    pub fn missed(&self, seat: Seat) -> Option<Filing> {
        self.due().filter(|due| due.seats.contains(&seat)).and_then(|_| self.position_of().missed(seat))
    }

    /// Decides the phase that is due, once every seat that is due has filed.
    ///
    /// # Errors
    /// [`Unsound`]: a filing was not sealed for this state. The state stays as it is.
    pub fn adjudicate(&mut self, filed: &BySeat<Option<Filing>>) -> Result<(), Unsound> {
        self.position_of_mut().adjudicate(filed)
    }

    /// What the house files for `seat` at the level of this name, from what that seat sees and nothing else; `None`
    /// where it has no such level, or nothing is due from there.
    pub fn house(&self, seat: Seat, level: &str, dice: u64) -> Option<Vec<String>> {
        let level = self.kind().level(level)?;
        self.due().filter(|due| due.seats.contains(&seat))?;
        self.position_of().house(seat, level, dice)
    }

    /// Random play for tests and benchmarks: order lines for the phase that is due from `seat`, lively and mostly
    /// legal. `rng(n)` gives a number below `n`.
    pub fn random_filing(&self, seat: Seat, rng: &mut dyn FnMut(u32) -> u32) -> Vec<String> {
        self.position_of().random_filing(seat, rng)
    }
}
