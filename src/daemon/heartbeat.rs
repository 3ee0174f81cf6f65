//! Heartbeats: when each loop last made progress, and when the last letter was sent.
//!
//! Letters under way, so that work that nobody waits for can let them go first.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, Utc};
use tokio::sync::watch;

/// A loop that has made no progress for this long is stalled: everything that it waits for has a shorter
/// timeout.
pub const STALLED_AFTER: Duration = Duration::from_secs(300);

/// The loops that must run for letters to be answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loop {
    Settle,
    Clock,
    Outbox,
}

impl Loop {
    const ALL: [Loop; 3] = [Loop::Settle, Loop::Clock, Loop::Outbox];
}

pub struct Heartbeat {
    started: Instant,
    /// The last progress of each loop, in milliseconds since `started`.
    beats: [AtomicU64; Loop::ALL.len()],
    /// Unix milliseconds, or 0 if nothing was sent yet.
    last_sent: AtomicI64,
    /// The last check of the clock that is noted in the database, likewise.
    last_check: AtomicI64,
}

impl Heartbeat {
    pub fn new(started: Instant) -> Self {
        let (beats, last_sent, last_check) = Default::default();
        Heartbeat { started, beats, last_sent, last_check }
    }

    /// Notes that a loop makes progress, even if its attempt failed: a loop that retries is alive.
    pub fn beat(&self, which: Loop) {
        self.beat_at(which, Instant::now());
    }

    fn beat_at(&self, which: Loop, now: Instant) {
        let age = now.saturating_duration_since(self.started).as_millis();
        // Relaxed ordering suffices: each beat is independent, and it does no harm to see one late.
        self.beats[which as usize].store(u64::try_from(age).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns a loop that has made no progress for longer than `limit`.
    pub fn stalled(&self, now: Instant, limit: Duration) -> Option<Loop> {
        let since_start = now.saturating_duration_since(self.started);
        Loop::ALL.into_iter().find(|which| {
            let beat = Duration::from_millis(self.beats[*which as usize].load(Ordering::Relaxed));
            since_start.saturating_sub(beat) > limit
        })
    }

    /// Notes when a letter was sent. The latest note counts, even if it is earlier: the clock may have been
    /// set back.
    pub fn note_sent(&self, at: DateTime<Utc>) {
        self.last_sent.store(at.timestamp_millis(), Ordering::Relaxed);
    }

    /// Returns when the last letter was sent.
    pub fn last_sent(&self) -> Option<DateTime<Utc>> {
        time_in(&self.last_sent)
    }

    /// Notes the last check of the clock that this daemon has written into the database, or that there is none.
    pub fn note_check(&self, at: Option<DateTime<Utc>>) {
        self.last_check.store(at.map_or(0, |at| at.timestamp_millis()), Ordering::Relaxed);
    }

    /// Returns the last check of the clock that this daemon has written into the database.
    pub fn last_check(&self) -> Option<DateTime<Utc>> {
        time_in(&self.last_check)
    }
}

fn time_in(millis: &AtomicI64) -> Option<DateTime<Utc>> {
    let at = millis.load(Ordering::Relaxed);
    (at > 0).then(|| DateTime::from_timestamp_millis(at)).flatten()
}

/// Counts the letters, or batches of them, that are being stored, settled or sent.
pub struct Traffic(watch::Sender<usize>);

/// A letter, or a batch of them, that is under way until this is dropped.
pub struct UnderWay(watch::Sender<usize>);

impl Traffic {
    pub fn new() -> Traffic {
        Traffic(watch::Sender::new(0))
    }

    /// Notes that a letter, or a batch of them, is under way.
    pub fn enter(&self) -> UnderWay {
        self.0.send_modify(|count| *count += 1);
        UnderWay(self.0.clone())
    }

    /// Waits until nothing is under way, at most this long.
    pub async fn let_pass(&self, at_most: Duration) {
        let mut count = self.0.subscribe();
        // The caller goes on even if it takes too long.
        let _ = tokio::time::timeout(at_most, count.wait_for(|count| *count == 0)).await;
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn a_stalled_loop_is_named() {
        let started = Instant::now();
        let heartbeat = Heartbeat::new(started);
        let limit = Duration::from_secs(60);
        let after = |seconds| started + Duration::from_secs(seconds);
        assert_eq!(heartbeat.stalled(after(60), limit), None);
        for which in [Loop::Settle, Loop::Outbox] {
            heartbeat.beat_at(which, after(50));
        }
        assert_eq!(heartbeat.stalled(after(61), limit), Some(Loop::Clock));
        heartbeat.beat_at(Loop::Clock, after(61));
        assert_eq!(heartbeat.stalled(after(110), limit), None);
        assert_eq!(heartbeat.stalled(after(111), limit), Some(Loop::Settle));
    }

    #[test]
    fn the_last_sending_counts_even_if_the_clock_was_set_back() {
        let heartbeat = Heartbeat::new(Instant::now());
        assert_eq!(heartbeat.last_sent(), None);
        let at = |seconds| DateTime::from_timestamp(seconds, 0).unwrap();
        heartbeat.note_sent(at(20));
        heartbeat.note_sent(at(10));
        assert_eq!(heartbeat.last_sent(), Some(at(10)));
    }

    #[tokio::test]
    async fn work_waits_until_the_last_letter_has_passed() {
        let traffic = Traffic::new();
        let one = traffic.enter();
        let other = traffic.enter();
        let mut waiting = Box::pin(traffic.let_pass(Duration::MAX));
        drop(one);
        assert!(waiting.as_mut().now_or_never().is_none());
        drop(other);
        waiting.await;
    }

    #[tokio::test]
    async fn work_goes_on_beside_a_letter_that_takes_too_long() {
        let traffic = Traffic::new();
        let _stuck = traffic.enter();
        traffic.let_pass(Duration::from_millis(1)).await;
    }
}
