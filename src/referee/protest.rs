//! Protests that stop nothing: the second in a turn, and those after one that the GM has rejected.

use crate::game::Seat;
use crate::ledger::Fact;

/// Whether the next protest of a seat is only passed on to the GM. `facts` are those of the match so far.
///
/// A GM who resumes the match without a correction has rejected the protest.
pub fn is_only_passed_on<'a>(facts: impl IntoIterator<Item = &'a Fact>, seat: Seat) -> bool {
    let (mut is_open, mut in_this_turn, mut was_rejected) = (false, false, false);
    for fact in facts {
        match fact {
            Fact::Protested { seat: by } if *by == seat => (is_open, in_this_turn) = (true, true),
            Fact::TurnAdjudicated { .. } => in_this_turn = false,
            Fact::CorrectionMade { .. } => (is_open, in_this_turn) = (false, false),
            Fact::MatchResumed { .. } => {
                was_rejected |= is_open;
                is_open = false;
            }
            _ => {}
        }
    }
    was_rejected || in_this_turn
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::letter::Digest;

    #[test]
    fn a_second_protest_in_a_turn_and_one_after_a_rejected_one_are_only_passed_on() {
        let (seat, state) = (Seat::First, Digest::of(b""));
        let protest = Fact::Protested { seat };
        let resumed = Fact::MatchResumed { deadline: None };
        let corrected = Fact::CorrectionMade { turn: 1, keeps: 0, reason: String::new(), state, key: None };
        for (facts, expected) in [
            (vec![], false),
            (vec![protest.clone()], true),
            (vec![Fact::Protested { seat: Seat::Second }], false),
            (vec![protest.clone(), corrected.clone()], false),
            (vec![protest.clone(), resumed.clone()], true),
            (vec![protest.clone(), corrected, resumed.clone()], false),
            (vec![resumed], false),
        ] {
            assert_eq!(is_only_passed_on(&facts, seat), expected, "{facts:?}");
        }
    }
}
