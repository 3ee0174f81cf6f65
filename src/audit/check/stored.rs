//! Compares what is stored beside the ledger with the repeated match.

use super::Check;
use super::difference::differing_json;
use super::play::Play;
use crate::audit::verdict::{Finding, Place};
use crate::referee::Stage;

impl Check {
    /// Turns of the house up to this entry are accepted as played: they were found again before.
    pub fn set_checked_until(&mut self, seq: u64) {
        self.checked_until = seq;
    }

    /// Records the results of comparing our letters. Inserts their findings at index `before`, so that all findings
    /// are in the order of the ledger.
    pub fn record_comparisons(&mut self, results: Vec<Result<(), Finding>>, before: usize) {
        self.verdict.sent += results.iter().filter(|result| result.is_ok()).count() as u64;
        let findings: Vec<Finding> = results.into_iter().filter_map(Result::err).collect();
        self.verdict.findings.splice(before..before, findings);
    }

    /// Compares the stored match with the repeated one.
    pub(super) fn check_stored_match(&mut self) {
        if let Some(play) = self.play.take() {
            return self.check_stored_play(&play);
        }
        let Some(current) = self.current.take() else { return };
        let stored = &self.stored;
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
        } else {
            self.check_end(current.stage == Stage::Over);
        }
    }

    /// Compares a match of which the last rulings were not repeated with the play that the entries record.
    fn check_stored_play(&mut self, play: &Play) {
        let Some(snapshot) = self.snapshot.take() else { return };
        let is_over = play.state().outcome().is_some();
        if snapshot.head != self.head {
            self.report(Place::Kept("the snapshot"), "its head is not the last entry of the ledger");
        } else if snapshot.state != *play.state() || (snapshot.stage == Stage::Over) != is_over {
            self.report(Place::Kept("the snapshot"), "its position is not the one that the entries lead to");
        } else if (&self.stored.overview, self.stored.wake_at) != (&snapshot.overview(), snapshot.wake_at()) {
            let what =
                "its game, stage, next wake-up, or something else that lists show, differs from its snapshot";
            self.report(Place::Kept("the match"), what);
        } else {
            self.check_end(is_over);
        }
    }

    /// Compares when the match is stored as ended with the entries.
    fn check_end(&mut self, is_over: bool) {
        // A correction that leaves the match over may leave the time of its first end.
        let is_end = match self.stored.ended_at {
            Some(ended_at) => is_over && self.ends.contains(&ended_at),
            None => !is_over || self.ends.is_empty(),
        };
        if !is_end {
            let what = "it is not stored as ended when the ledger says that it did";
            self.report(Place::Kept("the match"), what);
        }
    }
}
