//! Bounds on what one letter can ask for.
//!
//! Reading a line takes some microseconds; acting on it costs a hundred times as much. A command is carried out
//! and answered, a fault is explained with an example, and an order is recorded in the ledger. So a letter is
//! read to its end, to count its items, and then truncated.

use super::Request;
use crate::game::Fault;

/// Maximum commands of one letter. Nobody needs twenty: of about thirty kinds, most are for rare occasions.
pub const MAX_COMMANDS: usize = 20;

/// Maximum orders of one letter: no phase of any game needs a hundred, and another hundred may be
/// corrections.
pub const MAX_ORDERS: usize = 200;

/// Maximum faults to explain to a sender. Twenty examples teach as much as a thousand.
pub const MAX_FAULTS: usize = 20;

/// Maximum bytes of a line that is an order or a command, apart from the text of a message. The ledger
/// records orders as they were written.
pub const MAX_LINE: usize = 1000;

/// Counts of the items of a letter that were left out because they are beyond the bounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    pub orders: usize,
    pub commands: usize,
    pub faults: usize,
}

impl Request {
    /// Removes the items beyond the bounds, and counts them. Too many orders are a fault, because a part of
    /// them must never be filed as if it were everything.
    pub(super) fn bound(&mut self) {
        self.left_out = LeftOut {
            orders: cut(&mut self.orders, MAX_ORDERS),
            commands: cut(&mut self.commands, MAX_COMMANDS),
            faults: 0,
        };
        if self.left_out.orders > 0 {
            let count = MAX_ORDERS + self.left_out.orders;
            let reason = format!(
                "Your letter holds {count} orders; I read {MAX_ORDERS} at most. Please send only those of this turn."
            );
            self.faults.insert(0, Fault::whole(reason));
        }
        self.left_out.faults = cut(&mut self.faults, MAX_FAULTS);
    }
}

/// Shortens a list, and returns how many items were removed.
fn cut<T>(items: &mut Vec<T>, most: usize) -> usize {
    let removed = items.len().saturating_sub(most);
    items.truncate(most);
    removed
}

/// Returns the start of a line, at most [`MAX_LINE`] bytes.
pub(super) fn start_of(line: &str) -> &str {
    &line[..line.floor_char_boundary(MAX_LINE)]
}
