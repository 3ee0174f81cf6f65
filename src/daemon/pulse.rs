//! Whether the work goes on: each loop leaves a mark whenever it has come round, and when the last letter was sent.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};

/// A loop that has not come round for so long is stuck: all that it waits for has a shorter time limit.
pub(super) const STUCK_AFTER: Duration = Duration::from_secs(300);

/// The loops without which nobody is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loop {
    Settle,
    Clock,
    Dispatch,
}

impl Loop {
    const ALL: [Loop; 3] = [Loop::Settle, Loop::Clock, Loop::Dispatch];
}

pub(super) struct Pulse {
    began: Instant,
    /// Milliseconds after `began`, one for each loop.
    marks: [AtomicU64; Loop::ALL.len()],
    /// Unix milliseconds; 0: nothing was sent yet.
    sent: AtomicI64,
}

impl Pulse {
    pub fn new(began: Instant) -> Self {
        Pulse { began, marks: Default::default(), sent: AtomicI64::new(0) }
    }

    /// This loop has come round, also when what it tried has failed: a loop that tries again is alive.
    pub fn beat(&self, which: Loop) {
        self.beat_at(which, Instant::now());
    }

    fn beat_at(&self, which: Loop, now: Instant) {
        let mark = now.saturating_duration_since(self.began).as_millis();
        self.marks[which as usize].store(u64::try_from(mark).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// A loop that has not come round for longer than `limit`.
    pub fn stuck(&self, now: Instant, limit: Duration) -> Option<Loop> {
        let age = |which: &Loop| {
            let mark = Duration::from_millis(self.marks[*which as usize].load(Ordering::Relaxed));
            now.saturating_duration_since(self.began).saturating_sub(mark)
        };
        Loop::ALL.into_iter().find(|which| age(which) > limit)
    }

    pub fn record_outcomes(&self, at: DateTime<Utc>) {
        self.sent.fetch_max(at.timestamp_millis(), Ordering::Relaxed);
    }

    pub fn sent(&self) -> Option<DateTime<Utc>> {
        let at = self.sent.load(Ordering::Relaxed);
        (at > 0).then(|| DateTime::from_timestamp_millis(at)).flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_does_not_come_round_is_named() {
        let began = Instant::now();
        let (pulse, limit) = (Pulse::new(began), Duration::from_secs(60));
        let after = |seconds| began + Duration::from_secs(seconds);
        assert_eq!(pulse.stuck(after(60), limit), None);
        for which in [Loop::Settle, Loop::Dispatch] {
            pulse.beat_at(which, after(50));
        }
        assert_eq!(pulse.stuck(after(61), limit), Some(Loop::Clock));
        pulse.beat_at(Loop::Clock, after(61));
        assert_eq!(pulse.stuck(after(110), limit), None);
        assert_eq!(pulse.stuck(after(111), limit), Some(Loop::Settle));
    }

    #[test]
    fn what_was_sent_last_is_remembered() {
        let pulse = Pulse::new(Instant::now());
        assert_eq!(pulse.sent(), None);
        let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
        pulse.record_outcomes(at(20));
        pulse.record_outcomes(at(10));
        assert_eq!(pulse.sent(), Some(at(20)));
    }
}
