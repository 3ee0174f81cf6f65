//! Orders and conditions that a seat sent before, by which an old letter that comes again is told from a new one.

use serde::{Deserialize, Serialize};

use super::SeatLetter;
use crate::game::{Due, Fault, Seat};
use crate::ledger::Fact;
use crate::letter::Digest;

/// Orders or conditions that a seat sent in a turn, filed or refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EarlierOrders {
    turn: u32,
    orders: Digest,
}

impl EarlierOrders {
    /// Returns the orders that a ledger entry records, with their seat.
    pub fn of(fact: &Fact) -> Option<(Seat, EarlierOrders)> {
        match fact {
            Fact::OrdersSealed { seat, turn, orders, .. } => {
                Some((*seat, EarlierOrders { turn: *turn, orders: digest(orders) }))
            }
            Fact::OrdersRefused { seat, turn, orders, .. } => {
                Some((*seat, EarlierOrders { turn: *turn, orders: digest(orders) }))
            }
            Fact::ConditionsSealed { seat, turn, conditions, .. } => {
                Some((*seat, EarlierOrders { turn: *turn, orders: digest(&conditions.lines()) }))
            }
            _ => None,
        }
    }
}

/// Asks which turn is meant if the seat sent the same orders for an earlier one. Somebody else could send an old letter
/// again, without its subject and its thread.
pub(super) fn repeat_fault(letter: &SeatLetter, due: &Due, orders: &[String]) -> Option<Fault> {
    let earlier = &letter.earlier;
    if !letter.lacks_turn() || earlier.is_empty() {
        return None;
    }
    let orders = digest(orders);
    let before = earlier.iter().rev().find(|before| before.turn < due.turn && before.orders == orders)?;
    let then = if before.turn == 0 { "the setup".to_owned() } else { format!("turn {}", before.turn) };
    let open = due.turn;
    let reason = format!(
        "You sent the same orders for {then}, and your letter does not say which turn these are for. If they are \
         for turn {open}, send them again with TURN {open} on a line above them."
    );
    Some(Fault::whole(reason).with_example(format!("TURN {open}")))
}

/// Returns a digest of orders that does not depend on their order or case.
fn digest(orders: &[String]) -> Digest {
    let mut lines: Vec<String> = orders.iter().map(|order| order.to_ascii_uppercase()).collect();
    lines.sort_unstable();
    Digest::of(lines.join("\n").as_bytes())
}
