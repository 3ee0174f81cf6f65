//! What the first entry of a ruling names beside its fact.

use super::life::Draft;
use crate::ledger::Anchor;

impl Draft {
    /// Takes over the club's last anchor, and returns it for the next entry if it is a new one. Every ruling does so,
    /// whoever caused it: when a letter tells a new anchor depends on its own time alone, and shows nothing of the
    /// opponent.
    pub(super) fn adopt_anchor(&mut self) -> Option<Anchor> {
        let latest = self.game_match.latest_anchor.take()?;
        let is_new = self.game_match.anchor.replace(latest) != Some(latest);
        is_new.then_some(latest)
    }
}
