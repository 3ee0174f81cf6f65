//! What the first entry of a ruling names beside its fact.

use super::life::Draft;
use crate::ledger::{Delivery, LedgerForm};

impl Draft {
    /// Returns the deliveries that the next entry lists. Ledgers of an earlier form list none.
    pub(super) fn take_delivered(&mut self) -> Vec<Delivery> {
        let delivered = std::mem::take(&mut self.game_match.delivered);
        if self.game_match.form >= LedgerForm::Contents { delivered } else { Vec::new() }
    }
}
