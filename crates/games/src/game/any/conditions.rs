//! Reads the conditional orders of a side, and decides how a move affects them.

use super::{AnyState, Filing, GameKind};
use crate::game::condition::{self, Condition, ConditionOutcome, Conditions, MAX_CONDITIONS, Pair};
use crate::game::{BySeat, Fault, Line, Seat, Syntax};

/// The effect of a move on the conditions of the other side.
pub struct Followed {
    pub outcome: ConditionOutcome,
    /// The orders to file.
    pub filing: Option<Filing>,
    /// The conditions that stay in force.
    pub waiting: Option<Conditions>,
}

impl Conditions {
    /// Whether a filing contains conditional orders. One is enough, because plain orders together with it are
    /// faults.
    pub fn are_in(game: GameKind, lines: &[Line]) -> bool {
        game.takes_conditions() && lines.iter().any(|line| condition::is_condition(&line.text))
    }

    /// Reads the lines of a filing.
    ///
    /// # Errors
    /// Returns every fault: lines that are not conditions, such as plain orders, and too many lines.
    pub fn read(game: GameKind, lines: &[Line]) -> Result<Conditions, Vec<Fault>> {
        let mut conditions = Vec::new();
        let mut faults = Vec::new();
        for line in lines {
            match game.condition(&line.text) {
                Ok(condition) => conditions.push(condition),
                Err(Syntax::Malformed { reason, example }) => {
                    faults.push(Fault::on(line.no, reason).with_example(example));
                }
                Err(Syntax::Unknown) => faults.push(Fault::on(
                    line.no,
                    "This is no condition, and only conditions stand beside conditions. It is your opponent's move.",
                )),
            }
        }
        if lines.len() > MAX_CONDITIONS {
            let reason =
                format!("A filing holds at most {MAX_CONDITIONS} conditions; this one has {}.", lines.len());
            faults.push(Fault::whole(reason));
        }
        if faults.is_empty() { Ok(Conditions(conditions)) } else { Err(faults) }
    }

    /// Returns the effect of the move or pass that led to `state` on these conditions of `author`.
    pub fn after_move(self, state: &AnyState, author: Seat) -> Followed {
        let found = self.0.iter().find(|condition| state.has_come(&condition.first.expected));
        let Some(Condition { first, rest }) = found.filter(|_| state.outcome().is_none()) else {
            return Followed::without_filing(ConditionOutcome::Void { lines: self.lines() });
        };
        let Pair { expected, answer } = first.clone();
        let is_due = state.due().is_some_and(|due| due.seats.contains(&author));
        let sealed = if is_due {
            state.seal(author, &[Line { no: 1, text: answer.clone() }])
        } else {
            Err(vec![Fault::whole("You have no legal move, and the referee passes for you.")])
        };
        let filing = match sealed {
            Ok(filing) => filing,
            Err(faults) => {
                let reason = faults.into_iter().next().map(|fault| fault.reason).unwrap_or_default();
                return Followed::without_filing(ConditionOutcome::Illegal { expected, answer, reason });
            }
        };
        let waiting = rest
            .split_first()
            .map(|(first, rest)| Conditions(vec![Condition { first: first.clone(), rest: rest.to_vec() }]));
        let lines = waiting.as_ref().map(Conditions::lines).unwrap_or_default();
        Followed {
            outcome: ConditionOutcome::Met { expected, answer, waiting: lines },
            filing: Some(filing),
            waiting,
        }
    }
}

impl Followed {
    fn without_filing(outcome: ConditionOutcome) -> Followed {
        Followed { outcome, filing: None, waiting: None }
    }
}

/// Decides the conditions that are affected by the adjudication that led to `state`: after a move, those of
/// the other side; after a pass of the referee, and at the end of the match, those of both. `due` holds the
/// seats that were due in it.
pub fn follow(
    conditions: &mut BySeat<Option<Conditions>>,
    due: &[Seat],
    state: &AnyState,
) -> Vec<(Seat, Followed)> {
    let authors = match due {
        [mover] if state.outcome().is_none() => vec![mover.other()],
        _ => Seat::BOTH.to_vec(),
    };
    let mut followed = Vec::new();
    for author in authors {
        if let Some(sent) = conditions[author].take() {
            let mut result = sent.after_move(state, author);
            conditions[author] = result.waiting.take();
            followed.push((author, result));
        }
    }
    followed
}
