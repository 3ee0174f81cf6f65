//! Compares what is stored beside the ledger with the repeated match.

use super::Check;
use super::difference::differing_json;
use crate::audit::expected::Compared;
use crate::audit::verdict::{Finding, Place};
use crate::referee::{Match, Stage};

impl Check {
    /// Turns of the house up to this entry are accepted as played: they were found again before.
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
                Ok(Compared::AboutOthers | Compared::OfAnotherVersion) => {
                    self.verdict.sent_in_other_words += 1
                }
                Err(finding) => findings.push(finding),
            }
        }
        self.verdict.findings.splice(before..before, findings);
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
        // An earlier version stored the match without what its seats remember.
        if self.snapshot.as_ref().is_some_and(Match::lacks_memories) {
            current.memories = None;
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
