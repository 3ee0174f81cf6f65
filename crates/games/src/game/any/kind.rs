//! Questions that the rest of the program may ask of a game without a match.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{AnyState, Choices, GameKind};
use crate::game::condition::{self, Condition};
use crate::game::picture::Picture;
use crate::game::{BySeat, Game, Line, OptionRule, Options, Rulebook, Syntax, pacific, quadrant_z};

impl GameKind {
    pub fn rulebook(self) -> &'static Rulebook {
        on_game!(self, State => &<State as Game>::RULEBOOK)
    }

    /// The name in records and on the command line: `quadrant-z`.
    pub fn key(self) -> &'static str {
        self.rulebook().key
    }

    /// The name in sentences: `Quadrant Z`.
    pub fn name(self) -> &'static str {
        self.rulebook().name
    }

    /// The prefix of match names: `QZ`.
    pub fn prefix(self) -> &'static str {
        self.rulebook().prefix
    }

    /// The rules version of new matches.
    pub fn rules(self) -> u32 {
        self.rulebook().version
    }

    pub fn sides(self) -> BySeat<&'static str> {
        self.rulebook().sides
    }

    /// Whether the rules hide something from a side until the end.
    pub fn hides_something(self) -> bool {
        match self {
            GameKind::QuadrantZ | GameKind::Pacific => true,
            GameKind::Quad | GameKind::Quantum => false,
        }
    }

    /// Draws the figure that the rules show, if they show one.
    pub fn figure(self) -> Option<Picture> {
        match self {
            GameKind::QuadrantZ => Some(quadrant_z::figure()),
            GameKind::Pacific => Some(pacific::figure()),
            GameKind::Quad | GameKind::Quantum => None,
        }
    }

    /// Returns the game called `text`: its key or its name, with spaces or hyphens, ignoring case.
    pub fn parse(text: &str) -> Option<GameKind> {
        let wanted = key_spelling(text);
        let is_wanted = |kind: &GameKind| wanted == kind.key() || wanted == key_spelling(kind.name());
        GameKind::ALL.iter().copied().find(is_wanted)
    }

    /// Checks that matches under this rules version can be ruled on.
    ///
    /// # Errors
    /// Returns a sentence that names this version and the known ones if it is unknown.
    pub fn knows_rules(self, version: u32) -> Result<(), String> {
        if version == self.rules() {
            return Ok(());
        }
        Err(format!(
            "version {version} of the rules of {} is not known; this program knows {}",
            self.name(),
            self.rules()
        ))
    }

    pub fn option_rules(self) -> &'static [OptionRule] {
        on_game!(self, State => <<State as Game>::Options as Options>::RULES)
    }

    /// Checks options by name and value.
    ///
    /// # Errors
    /// Returns a sentence that names the option if it is unknown, given twice, or has a bad value.
    pub fn choose<'a>(self, wanted: impl IntoIterator<Item = (&'a str, &'a str)>) -> Result<Choices, String> {
        let wanted: Vec<_> = wanted.into_iter().collect();
        on_game!(self, State => Choices::choose::<<State as Game>::Options>(self.name(), &wanted))
    }

    /// Returns all options with the values in force under `choices`.
    pub fn options_in_force(self, choices: &Choices) -> BTreeMap<&'static str, String> {
        choices.in_force(self.option_rules())
    }

    /// Starts a match.
    pub fn start(self, choices: &Choices) -> AnyState {
        on_game!(self, State => State::start(&choices.options()).into())
    }

    /// Starts a match with options that may come from an untrusted file.
    ///
    /// # Errors
    /// Returns a sentence that names the option if it is unknown.
    pub fn start_with(self, choices: &Choices) -> Result<AnyState, String> {
        Ok(self.start(&self.choose(choices.iter())?))
    }

    /// Checks whether a line is an order of this game, or a conditional one.
    ///
    /// # Errors
    /// [`Syntax`] if the line is not an order, or an incomplete one.
    pub fn syntax(self, line: &str) -> Result<(), Syntax> {
        match on_game!(self, State => State::parse(line).map(|_| ())) {
            Err(Syntax::Unknown) => self.condition(line).map(|_| ()),
            read => read,
        }
    }

    /// Whether a side that is not due may send conditional orders ahead.
    pub fn takes_conditions(self) -> bool {
        on_game!(self, State => !State::CONDITION_EXAMPLE.is_empty())
    }

    /// Parses a line of conditional orders.
    ///
    /// # Errors
    /// [`Syntax`] if the line is not a condition.
    pub fn condition(self, line: &str) -> Result<Condition, Syntax> {
        if self.takes_conditions() {
            on_game!(self, State => condition::parse::<State>(line))
        } else {
            Err(Syntax::Unknown)
        }
    }

    /// Returns the orders on a line in the form in which orders are filed, or `None` if it is not an order.
    pub fn canonical(self, line: &str) -> Option<Vec<String>> {
        let orders = on_game!(self, State => {
            State::parse(line).map(|orders| orders.iter().map(ToString::to_string).collect())
        });
        orders.ok().or_else(|| Some(vec![self.condition(line).ok()?.to_string()]))
    }

    /// The words that orders of this game begin with, in capitals.
    pub fn verbs(self) -> &'static [&'static str] {
        on_game!(self, State => <State as Game>::VERBS)
    }

    /// The names of the setups that the referee draws for a line `SETUP name`.
    pub fn ready_setups(self) -> &'static [&'static str] {
        match self {
            GameKind::QuadrantZ => &["balanced", "raid", "guard"],
            GameKind::Pacific => &["line", "wings", "deep"],
            GameKind::Quad | GameKind::Quantum => &[],
        }
    }

    /// Returns the order that a line means if the bullet or number before it is part of the order; `None` if
    /// it can only be a bullet.
    pub fn with_bullet(self, bullet: &str, rest: &str) -> Option<String> {
        on_game!(self, State => State::with_bullet(bullet, rest))
    }

    /// Returns the order lines that later lines of a letter replace, such as the first of two for one ship.
    pub fn replaced(self, lines: &[Line]) -> Vec<Line> {
        on_game!(self, State => replaced_lines::<State>(lines))
    }
}

/// Converts a text to the spelling of a game's key.
fn key_spelling(text: &str) -> String {
    text.trim().replace([' ', '_'], "-").to_ascii_lowercase()
}

fn replaced_lines<G: Game>(lines: &[Line]) -> Vec<Line> {
    let parsed: Vec<_> = lines.iter().map(|line| G::parse(&line.text).unwrap_or_default()).collect();
    let mut replaced = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let is_replaced = |order| parsed[at + 1..].iter().flatten().any(|later| G::replaces(later, order));
        if !parsed[at].is_empty() && parsed[at].iter().all(is_replaced) {
            replaced.push(line.clone());
        }
    }
    replaced
}

impl Display for GameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key())
    }
}

impl Serialize for GameKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}

impl<'de> Deserialize<'de> for GameKind {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let key = String::deserialize(deserializer)?;
        let kind = GameKind::ALL.iter().copied().find(|kind| kind.key() == key);
        kind.ok_or_else(|| serde::de::Error::custom(format!("no game `{key}`")))
    }
}
