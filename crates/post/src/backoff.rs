//! The pause before a mailbox that could not be read is tried again.
//!
//! Providers ban clients that try a wrong password ten times in ten minutes, and ask programs to leave them
//! alone for a while when they are busy. Everything else is tried again soon: a retry after a network failure
//! bothers nobody.

use std::time::Duration;

use super::Error;

/// Pauses after logins that were refused for their credentials.
const AFTER_REFUSALS: [Duration; 4] = [minutes(1), minutes(5), minutes(15), minutes(60)];

/// Pauses after temporary refusals.
const AFTER_MOMENTS: [Duration; 4] = [minutes(1), minutes(2), minutes(5), minutes(10)];

/// The pause after a server has ended a session as if to restart.
const AFTER_RESTART: Duration = Duration::from_secs(5);

/// The first and the longest pause after other faults; it doubles in between.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);

const fn minutes(number: u64) -> Duration {
    Duration::from_secs(60 * number)
}

/// The faults since the mailbox was last read.
#[derive(Default)]
pub(super) struct Backoff {
    pub refusals: u32,
    moments: u32,
    others: u32,
    /// Whether the server has ended a session as if to restart.
    was_restarted: bool,
}

/// Returns the pause after this many refused logins in a row.
pub fn pause_after_refusals(refusals: u32) -> Duration {
    let last = AFTER_REFUSALS.len() - 1;
    AFTER_REFUSALS[(refusals as usize).saturating_sub(1).min(last)]
}

impl Backoff {
    /// Counts a fault and returns the pause after it. A fault of another kind in between makes no pause
    /// shorter.
    pub(super) fn pause_after(&mut self, error: &Error) -> Duration {
        match error {
            Error::Login(_) => next(&AFTER_REFUSALS, &mut self.refusals),
            // A server that restarts is back within seconds.
            Error::Goodbye(refusal) if refusal.is_of_a_restart() && !self.was_restarted => {
                self.was_restarted = true;
                AFTER_RESTART
            }
            Error::Server(refusal) | Error::Misunderstood(refusal) | Error::Goodbye(refusal)
                if refusal.is_momentary() =>
            {
                next(&AFTER_MOMENTS, &mut self.moments)
            }
            Error::Io { .. }
            | Error::Configuration(_)
            | Error::Server(_)
            | Error::Misunderstood(_)
            | Error::Goodbye(_)
            | Error::Malformed
            | Error::NotStored
            | Error::Stopped => {
                self.others += 1;
                // Bound the shift, which would overflow: 64 seconds already exceed the longest pause.
                MAX_PAUSE.min(FIRST_PAUSE * (1 << (self.others - 1).min(6)))
            }
        }
    }
}

fn next(pauses: &[Duration; 4], count: &mut u32) -> Duration {
    let pause = pauses[(*count as usize).min(pauses.len() - 1)];
    *count += 1;
    pause
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pauses(error: &Error) -> Vec<u64> {
        let mut backoff = Backoff::default();
        (0..6).map(|_| backoff.pause_after(error).as_secs()).collect()
    }

    #[test]
    fn a_refused_login_is_tried_ever_more_rarely() {
        let refused = Error::Login("[AUTHENTICATIONFAILED] Invalid credentials (Failure)".into());
        assert_eq!(pauses(&refused), [60, 300, 900, 3600, 3600, 3600]);
    }

    #[test]
    fn a_refusal_for_a_moment_is_retried_within_ten_minutes() {
        for words in [
            "[UNAVAILABLE] Temporary authentication failure",
            "[INUSE] Too many simultaneous connections",
            "[LIMIT] Maximum number of connections from user+IP exceeded",
            "[ALERT] Too many simultaneous connections. (Failure)",
        ] {
            assert_eq!(pauses(&Error::Server(words.into())), [60, 120, 300, 600, 600, 600], "{words}");
        }
        for words in ["[INUSE] Too many simultaneous connections", "[LIMIT] Maximum number of connections"] {
            assert_eq!(pauses(&Error::Goodbye(words.into()))[0], 60, "{words}");
        }
        let not_connected = Error::Misunderstood("User is authenticated but not connected.".into());
        assert_eq!(pauses(&not_connected), [60, 120, 300, 600, 600, 600]);
    }

    #[test]
    fn a_server_that_restarts_is_tried_again_soon_and_then_as_one_that_is_busy() {
        for words in
            ["[UNAVAILABLE] Server shutting down.", "[UNAVAILABLE]", "Temporarily down for maintenance"]
        {
            assert_eq!(pauses(&Error::Goodbye(words.into())), [5, 60, 120, 300, 600, 600], "{words}");
        }
    }

    #[test]
    fn other_faults_are_retried_within_a_minute_and_forget_no_refusal() {
        let broken = || Error::Goodbye("going down".into());
        assert_eq!(pauses(&broken()), [1, 2, 4, 8, 16, 32]);
        let mut backoff = Backoff::default();
        let refused = Error::Login("no".into());
        backoff.pause_after(&refused);
        backoff.pause_after(&broken());
        assert_eq!(backoff.pause_after(&refused), minutes(5));
        assert_eq!((0..9).map(|_| backoff.pause_after(&broken())).max(), Some(MAX_PAUSE));
    }
}
