//! The anchors that letters of the match told: compares them with those of the club's book.

use super::Check;
use crate::audit::verdict::Place;
use crate::ledger::Anchor;

impl Check {
    /// The anchors of the club's book, with which those of the entries are compared. A match that another club refereed
    /// names the anchors of that club.
    pub fn set_anchors(&mut self, anchors: Vec<Anchor>) {
        self.club_anchors = anchors;
    }

    /// Gives the anchor that the first pending entry names to the match. It must be one of the club's book.
    pub(super) fn note_anchor(&mut self, seq: u64) {
        let Some(anchor) = self.pending.front().and_then(|first| first.link.anchor) else { return };
        let Some(current) = &mut self.current else { return };
        current.latest_anchor = Some(anchor);
        let is_own = current.desk.address == self.current_identity.address;
        if is_own && !self.club_anchors.contains(&anchor) {
            let day = anchor.day;
            let what = format!("letters tell an anchor of {day} that the club's book does not hold");
            self.report(Place::Entry(seq), what);
        }
    }
}
