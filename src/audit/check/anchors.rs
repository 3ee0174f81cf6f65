//! The anchors that letters of the match told: compares them with those of the club's book.

use super::Check;
use crate::audit::verdict::Place;
use crate::ledger::Anchor;

impl Check {
    /// The anchors of the club's book, with which those of the entries are compared. Not for a match that another club
    /// refereed: it names the anchors of that club.
    pub fn set_anchors(&mut self, anchors: Vec<Anchor>) {
        self.club_anchors = Some(anchors);
    }

    /// Gives the anchor that the first pending entry names to the match. It must be one of the club's book.
    pub(super) fn note_anchor(&mut self, seq: u64) {
        let Some(anchor) = self.pending.front().and_then(|first| first.link.anchor) else { return };
        let Some(current) = &mut self.current else { return };
        current.latest_anchor = Some(anchor);
        if self.club_anchors.as_ref().is_some_and(|anchors| !anchors.contains(&anchor)) {
            let day = anchor.day;
            let what = format!("letters tell an anchor of {day} that the club's book does not hold");
            self.report(Place::Entry(seq), what);
        }
    }
}
