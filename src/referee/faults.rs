//! Why the orders of a letter cannot stand: what its answer explains, and what the ledger keeps of it.

use super::turn::turn_fault;
use super::{MAX_FAULTS, Match, SeatLetter, doubtful};
use crate::game::{Due, Fault, Line};
use crate::ledger::{FaultKind, FaultyLine};
use crate::request::Request;

/// Why orders cannot stand.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusal {
    pub faults: Vec<Fault>,
    /// The kind of the fault that is no line's.
    pub of_whole: Option<FaultKind>,
}

impl Refusal {
    /// A refusal of the orders as a whole.
    pub fn whole(kind: FaultKind, fault: Fault) -> Refusal {
        Refusal { faults: vec![fault], of_whole: Some(kind) }
    }

    /// Returns the lines and the kinds, without the sentences.
    pub fn lines(&self, request: &Request) -> Vec<FaultyLine> {
        let kind = |fault: &Fault| match () {
            () if request.doubts.contains(fault) => FaultKind::Doubtful,
            () if request.faults.contains(fault) => FaultKind::Syntax,
            () if fault.line.is_some() => FaultKind::Illegal,
            () => self.of_whole.unwrap_or(FaultKind::Illegal),
        };
        self.faults.iter().map(|fault| FaultyLine { line: fault.line, kind: kind(fault) }).collect()
    }
}

/// Refuses orders for another match, or for another turn than the open one.
pub(super) fn about_another(game_match: &Match, letter: &SeatLetter, due: &Due) -> Option<Refusal> {
    if let Some(fault) = doubtful::match_fault(letter, game_match) {
        return Some(Refusal::whole(FaultKind::OtherMatch, fault));
    }
    turn_fault(game_match, letter, due).map(|fault| Refusal::whole(FaultKind::OtherTurn, fault))
}

/// Returns the lines that faults quote, as written.
pub(super) fn quoted_lines<'a>(request: &Request, faults: impl Iterator<Item = &'a Fault>) -> Vec<Line> {
    let lines = faults.take(MAX_FAULTS).filter_map(|fault| fault.line);
    lines.filter_map(|no| Some(Line { no, text: request.written(no)?.to_owned() })).collect()
}
