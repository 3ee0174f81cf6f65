//! Sample conditional orders, and what became of them.

use crate::game::Seat;
use crate::game::condition::{ConditionNews, ConditionOutcome};
use crate::letter::Digest;
use crate::referee::Orders;

fn line() -> String {
    "IF E5 THEN F6".to_owned()
}

/// Conditions that were sealed, or only checked.
pub fn orders(sealed: Option<Digest>) -> Orders {
    Orders::Conditions { lines: vec![line()], sealed, replaced: sealed.is_some(), wait: true }
}

pub fn news() -> Vec<ConditionNews> {
    let (expected, answer) = ("E5".to_owned(), "F6".to_owned());
    let outcomes = [
        ConditionOutcome::Met { expected: expected.clone(), answer: answer.clone(), waiting: vec![line()] },
        ConditionOutcome::Illegal { expected, answer, reason: "A reason.".to_owned() },
        ConditionOutcome::Void { lines: vec![line()] },
    ];
    outcomes.map(|outcome| ConditionNews { seat: Seat::First, outcome }).to_vec()
}
