//! What the first entry of a ruling names beside its fact.

use super::life::Draft;
use crate::ledger::{Anchor, Delivery, LedgerForm};

impl Draft {
    /// Returns the deliveries that the next entry lists. Ledgers of an earlier form list none.
    pub(super) fn take_delivered(&mut self) -> Vec<Delivery> {
        let delivered = std::mem::take(&mut self.game_match.delivered);
        if self.game_match.form >= LedgerForm::Contents { delivered } else { Vec::new() }
    }

    /// Takes over the club's last anchor, and returns it for the next entry if it is a new one. Every ruling does so,
    /// whoever caused it: when a letter tells a new anchor depends on its own time alone, and shows nothing of the
    /// opponent.
    pub(super) fn adopt_anchor(&mut self) -> Option<Anchor> {
        let is_told = self.game_match.form >= LedgerForm::Contents;
        let latest = self.game_match.latest_anchor.take().filter(|_| is_told)?;
        let is_new = self.game_match.anchor.replace(latest) != Some(latest);
        is_new.then_some(latest)
    }
}
