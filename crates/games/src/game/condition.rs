//! Conditional orders: the answers that a side sends ahead to moves it expects (rules page `records.md`).
//!
//! A line is `IF move THEN order`, up to three times. The lines are alternatives for the next move.

use std::fmt::{self, Display};

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Game, Seat, Syntax};

/// Maximum lines of a filing: more answers than a player prepares, and quick to search.
pub const MAX_CONDITIONS: usize = 20;

/// The fault of conditions from the side to move.
pub const NOT_NOW: &str =
    "It is your move. Conditions are sent ahead while your opponent is to move; now send your orders alone.";

/// Maximum pairs of a move and its answer in one line.
const MAX_PAIRS: usize = 3;

/// A line of conditional orders. It is written, stored and compared as its canonical text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Condition {
    pub(super) first: Pair,
    /// The pairs that follow once the answer of the first has been played.
    pub(super) rest: Vec<Pair>,
}

/// A move of the opponent, and the answer to it; both as orders of the game on one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) expected: String,
    pub(super) answer: String,
}

/// The conditions that a side has sent ahead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Conditions(pub(super) Vec<Condition>);

/// The outcome of a side's conditions, for that side alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConditionNews {
    pub seat: Seat,
    #[serde(flatten)]
    pub outcome: ConditionOutcome,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum ConditionOutcome {
    /// The move came, and the answer was filed. `waiting` are the lines that wait for the next move.
    Met { expected: String, answer: String, waiting: Vec<String> },
    /// The move came, but the answer cannot be played. All conditions are void.
    Illegal {
        expected: String,
        answer: String,
        /// A sentence to the player. Ledgers do not record it.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// Another move came, or a pass, or the match ended. All conditions are void.
    Void { lines: Vec<String> },
}

impl ConditionOutcome {
    /// Returns the outcome as a ledger records it: without the sentence that explains it to the player.
    pub fn recorded(&self) -> ConditionOutcome {
        let mut outcome = self.clone();
        if let ConditionOutcome::Illegal { reason, .. } = &mut outcome {
            reason.clear();
        }
        outcome
    }
}

/// Whether a line is meant as a condition, even a faulty one. Such a line is never a plain order.
pub fn is_condition(line: &str) -> bool {
    let mut words = line.split_whitespace();
    words.next().is_some_and(|word| word.eq_ignore_ascii_case("IF"))
        && words.any(|word| word.eq_ignore_ascii_case("THEN"))
}

/// Parses a line of conditional orders.
///
/// # Errors
/// [`Syntax`] if the line is not a condition: `Unknown` if it may be prose.
pub(super) fn parse<G: Game>(line: &str) -> Result<Condition, Syntax> {
    if !is_condition(line) {
        return Err(Syntax::Unknown);
    }
    let mut pairs = Vec::new();
    for pair in parts(line, "IF") {
        let is_first = pairs.is_empty();
        let malformed = |reason: String| Syntax::Malformed { reason, example: G::CONDITION_EXAMPLE };
        let [expected, answer] = &parts(&pair, "THEN")[..] else {
            return Err(malformed("Each IF needs one THEN, and each THEN an IF before it.".to_owned()));
        };
        let canonical = |part: &str| match orders::<G>(part) {
            Ok(orders) => Ok(G::on_one_line(&orders)),
            // Only capitals distinguish a condition from prose about squares.
            Err(_) if is_first && !line.contains("IF ") => Err(Syntax::Unknown),
            Err(Syntax::Unknown) => Err(malformed(format!("I do not understand \"{part}\" as a move."))),
            Err(Syntax::Malformed { reason, .. }) => Err(malformed(reason)),
        };
        pairs.push(Pair { expected: canonical(expected)?, answer: canonical(answer)? });
    }
    if pairs.len() > MAX_PAIRS {
        let reason =
            format!("A line holds at most {MAX_PAIRS} pairs of IF and THEN; this one has {}.", pairs.len());
        return Err(Syntax::Malformed { reason, example: G::CONDITION_EXAMPLE });
    }
    let first = pairs.remove(0);
    Ok(Condition { first, rest: pairs })
}

/// Splits a text at each word `mark`. The part before the first one is omitted if it is empty.
fn parts(text: &str, mark: &str) -> Vec<String> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let parts =
        words.split(|word| word.trim_end_matches(',').eq_ignore_ascii_case(mark)).map(|part| part.join(" "));
    parts.enumerate().filter(|(place, part)| *place > 0 || !part.is_empty()).map(|(_, part)| part).collect()
}

/// Parses orders on one line, where each word that begins an order may begin another one.
fn orders<G: Game>(text: &str) -> Result<Vec<G::Order>, Syntax> {
    let mut pieces: Vec<Vec<&str>> = vec![Vec::new()];
    for word in text.split_whitespace() {
        if G::VERBS.iter().any(|verb| word.eq_ignore_ascii_case(verb)) {
            pieces.push(Vec::new());
        }
        pieces.last_mut().expect("there is always a piece").push(word);
    }
    let mut orders = Vec::new();
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        orders.extend(G::parse(&piece.join(" "))?);
    }
    if orders.is_empty() { Err(Syntax::Unknown) } else { Ok(orders) }
}

/// Whether the last move of `state` is the one in `expected`.
pub(super) fn has_come<G: Game>(state: &G, expected: &str) -> bool {
    orders::<G>(expected).is_ok_and(|orders| state.has_just_played(&orders))
}

impl Conditions {
    pub fn lines(&self) -> Vec<String> {
        self.0.iter().map(Condition::to_string).collect()
    }
}

impl Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.first)?;
        self.rest.iter().try_for_each(|pair| write!(f, " {pair}"))
    }
}

impl Display for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IF {} THEN {}", self.expected, self.answer)
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Parses the canonical text, but does not check that it names moves of the game.
impl<'de> Deserialize<'de> for Condition {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let mut pairs = Vec::new();
        for pair in parts(&text, "IF") {
            if let [expected, answer] = &parts(&pair, "THEN")[..] {
                pairs.push(Pair { expected: expected.clone(), answer: answer.clone() });
            }
        }
        if pairs.is_empty() {
            return Err(serde::de::Error::custom(format!("not a condition: {text}")));
        }
        Ok(Condition { first: pairs.remove(0), rest: pairs })
    }
}
