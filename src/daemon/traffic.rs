//! Letters under way, so that work that nobody waits for can let them go first.

use std::time::Duration;

use tokio::sync::watch;

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

    #[tokio::test]
    async fn work_waits_until_the_last_letter_has_passed() {
        let traffic = Traffic::new();
        let (one, other) = (traffic.enter(), traffic.enter());
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
