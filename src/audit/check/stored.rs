//! Compares what is stored beside the ledger with the repeated match.

use super::difference::differing_json;
use super::{Check, SentLetter};
use crate::audit::expected::Compared;
use crate::audit::verdict::{Finding, Place};
use crate::ledger::Delivery;
use crate::referee::Stage;

impl Check {
    /// The deliveries after the end of the match that the club's book lists.
    pub fn set_late(&mut self, late: Vec<Delivery>) {
        self.late = late;
    }

    /// What other versions made up to this entry is not counted, and turns of the house are accepted as played: the book says
    /// what was checked of that.
    pub fn set_checked_until(&mut self, seq: u64) {
        self.checked_until = seq;
    }

    /// Records the results of comparing our letters. Inserts their findings at index `before`, so that all findings
    /// are in the order of the ledger.
    pub fn record_comparisons(&mut self, results: Vec<Result<Compared, Finding>>, before: usize) {
        let mut findings = Vec::new();
        for result in results {
            match result {
                Ok(Compared::Worded) => self.verdict.sent += 1,
                Ok(Compared::AboutOthers) => self.verdict.sent_in_other_words += 1,
                Ok(Compared::OfAnotherVersion(underived)) => {
                    self.verdict.sent_in_other_words += 1;
                    self.note_underived(underived);
                }
                Err(finding) => findings.push(finding),
            }
        }
        self.verdict.findings.splice(before..before, findings);
    }

    /// Compares the deliveries that the club's book lists with the stored ones.
    pub(super) fn check_late(&mut self) {
        for Delivery { letter, at, how: _ } in std::mem::take(&mut self.late) {
            // A letter that a later entry of the match lists as well was compared with that entry.
            let Some(Some(SentLetter { message_id, sent_at })) = self.undelivered.remove(&letter) else {
                continue;
            };
            if sent_at != Some(at) {
                self.report(
                    Place::Sent(message_id),
                    "it is not stored as sent when the club's book says that it was",
                );
            }
        }
    }

    /// Compares the stored match with the repeated one.
    pub(super) fn check_stored_match(&mut self) {
        let is_earlier = self.is_of_earlier_version();
        let Some(mut current) = self.current.take() else { return };
        let stored = &self.stored;
        // Earlier versions noted other news of the wording. The next ruling notes them anew.
        if let Some(snapshot) = self.snapshot.as_ref().filter(|_| is_earlier) {
            current.wording_news = snapshot.wording_news;
            current.templates_told.clone_from(&snapshot.templates_told);
        }
        // A correction that leaves the match over may leave the time of its first end.
        let is_end = match stored.ended_at {
            Some(ended_at) => current.stage == Stage::Over && self.ends.contains(&ended_at),
            None => current.stage != Stage::Over || self.ends.is_empty(),
        };
        let repeated = serde_json::to_string(&current).expect("a match is plain values");
        if repeated != stored.snapshot {
            let what = match self.snapshot.as_ref().map(|game_match| game_match.head.seq) {
                Some(seq) if seq > current.head.seq => {
                    format!("it includes entry #{seq}, but the ledger ends with #{}", current.head.seq)
                }
                Some(_) | None => {
                    format!("the repeated match differs in {}", differing_json(&repeated, &stored.snapshot))
                }
            };
            self.report(Place::Kept("the snapshot"), what);
        } else if (&stored.overview, stored.wake_at) != (&current.overview(), current.wake_at()) {
            let what =
                "its game, stage, next wake-up, or something else that lists show, differs from its snapshot";
            self.report(Place::Kept("the match"), what);
        } else if !is_end {
            self.report(
                Place::Kept("the match"),
                "it is not stored as ended when the ledger says that it did",
            );
        }
    }
}
