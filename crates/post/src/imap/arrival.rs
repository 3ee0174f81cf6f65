//! When letters arrived, as far as a server's word can be believed (INTERNALDATE; RFC 3501, 2.3.3).
//!
//! GNU Mailutils writes its local time as if it were UTC, and other servers have wrong clocks. A letter that
//! arrives while a session watches the folder shows how far the server's time is off, and so does a time in the
//! future. What lay there before may be hours old in truth, so its time counts, corrected by what is known.

use chrono::{DateTime, TimeDelta, Utc};

/// Time by which the server's clock may be ahead of ours.
const MAX_SKEW: TimeDelta = TimeDelta::minutes(2);

/// A smaller difference is not one of time zones. Central Europe is one hour off in winter, less the minutes
/// until its letter is found.
const MIN_OFFSET: TimeDelta = TimeDelta::minutes(30);

/// Time zones lie within this, and differ by multiples of a quarter of an hour.
const MAX_OFFSET: TimeDelta = TimeDelta::hours(14);
const QUARTER_SECONDS: i64 = 15 * 60;

/// How far the times of a server are ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ServerClock {
    offset: TimeDelta,
}

/// The highest UID of a folder at some moment.
#[derive(Debug, Clone, Copy)]
struct Listing {
    highest: u32,
    at: DateTime<Utc>,
}

/// What a session has seen of its folder.
#[derive(Debug, Default)]
pub(super) struct Listings {
    first: Option<Listing>,
    previous: Option<Listing>,
    latest: Option<Listing>,
}

impl Listings {
    /// Notes the highest UID in the folder. `at` is a moment before the server listed it.
    pub(super) fn note(&mut self, highest: u32, at: DateTime<Utc>) {
        let listing = Listing { highest, at };
        self.first.get_or_insert(listing);
        self.previous = self.latest.replace(listing);
    }

    /// Whether the latest listing has a letter that the one before did not have.
    pub(super) fn has_grown(&self) -> bool {
        self.latest.zip(self.previous).is_some_and(|(latest, previous)| latest.highest > previous.highest)
    }

    /// Returns a moment at which the letter had not arrived yet, or `None` if it may have lain there when the
    /// session began.
    pub(super) fn absent_at(&self, uid: u32) -> Option<DateTime<Utc>> {
        let known = [self.previous, self.first].into_iter().flatten();
        known.filter(|listing| listing.highest < uid).map(|listing| listing.at).max()
    }
}

impl Default for ServerClock {
    fn default() -> ServerClock {
        ServerClock { offset: TimeDelta::zero() }
    }
}

impl ServerClock {
    /// Learns from the time that the server states for a letter which it sends `now`. Before `absent_at`, the
    /// letter had not arrived.
    pub(super) fn learn(
        &mut self,
        now: DateTime<Utc>,
        stated: DateTime<Utc>,
        absent_at: Option<DateTime<Utc>>,
    ) {
        let ahead = stated - now;
        let Some(absent_at) = absent_at else {
            // The letter may have arrived long ago, so this is the least that the server can be ahead.
            if let Some(offset) = offset_of(ahead).filter(|offset| *offset > self.offset) {
                self.offset = offset;
            }
            return;
        };
        if ahead.abs() < MIN_OFFSET {
            self.offset = TimeDelta::zero();
        } else if let Some(offset) =
            offset_of(ahead).filter(|offset| stated - *offset >= absent_at - MAX_SKEW)
        {
            self.offset = offset;
        }
        // Any other time is the letter's own: somebody has copied an old letter into the folder.
    }

    /// Returns when a letter arrived, or `None` if the time that the server states for it cannot be right.
    pub(super) fn arrival(
        &self,
        now: DateTime<Utc>,
        stated: DateTime<Utc>,
        absent_at: Option<DateTime<Utc>>,
    ) -> Option<DateTime<Utc>> {
        let is_possible = |at: &DateTime<Utc>| {
            *at <= now + MAX_SKEW && absent_at.is_none_or(|absent_at| *at >= absent_at - MIN_OFFSET)
        };
        [stated - self.offset, stated].into_iter().find(is_possible).map(|at| at.min(now))
    }
}

/// Returns the difference of time zones that explains a time this far ahead of the moment at which a letter
/// was found, which is a few minutes after its arrival. `None` if there is no such difference.
fn offset_of(ahead: TimeDelta) -> Option<TimeDelta> {
    // Round up: the letter cannot have arrived after it was found.
    let quarters = -(-(ahead - MAX_SKEW).num_seconds()).div_euclid(QUARTER_SECONDS);
    let offset = TimeDelta::seconds(quarters * QUARTER_SECONDS);
    (MIN_OFFSET..=MAX_OFFSET).contains(&offset.abs()).then_some(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64) -> DateTime<Utc> {
        DateTime::from_timestamp(1_800_000_000 + 60 * minutes, 0).expect("in range")
    }

    /// The offset in minutes after a letter that arrived at minute 0, `found` minutes later, while the session
    /// watched, on a server that is `ahead` minutes ahead.
    fn learned(ahead: i64, found: i64) -> (i64, Option<DateTime<Utc>>) {
        let mut clock = ServerClock::default();
        let absent_at = Some(at(-1));
        clock.learn(at(found), at(ahead), absent_at);
        (clock.offset.num_minutes(), clock.arrival(at(found), at(ahead), absent_at))
    }

    #[test]
    fn a_letter_that_came_while_the_session_watched_shows_the_zone() {
        for zone in [-720, -300, -60, 60, 330, 345, 780, 840] {
            for found in [0, 1, 4, 9] {
                assert_eq!(learned(zone, found), (zone, Some(at(0))), "{zone} {found}");
            }
        }
        assert_eq!(learned(1, 0), (0, Some(at(0))), "a clock may differ by a minute");
        assert_eq!(learned(-20, 1), (0, Some(at(-20))));
        assert_eq!(learned(25, 1), (0, None), "the future is not used, whatever its cause");
    }

    #[test]
    fn a_time_that_no_zone_explains_is_not_used_and_shows_nothing() {
        for ahead in [-3 * 24 * 60, -187, 16 * 60, 100_000] {
            assert_eq!(learned(ahead, 1), (0, None), "{ahead}");
        }
    }

    #[test]
    fn what_lay_there_before_keeps_its_time_unless_an_offset_is_known() {
        let mut clock = ServerClock::default();
        clock.learn(at(0), at(-300), None);
        assert_eq!(clock.arrival(at(0), at(-300), None), Some(at(-300)));
        // A letter from the future: no zone is 290 minutes ahead, but one is 300.
        clock.learn(at(0), at(290), None);
        assert_eq!(clock.arrival(at(0), at(290), None), Some(at(-10)));
        assert_eq!(clock.arrival(at(0), at(-60), None), Some(at(-360)));
        // A time that the offset would move into the future is taken as it is.
        let mut behind = ServerClock::default();
        behind.learn(at(0), at(-300), Some(at(-1)));
        assert_eq!(behind.arrival(at(0), at(-600), None), Some(at(-300)));
        assert_eq!(behind.arrival(at(0), at(-10), None), Some(at(-10)));
        // The server's clock is right now.
        behind.learn(at(60), at(60), Some(at(59)));
        assert_eq!(behind, ServerClock::default());
    }

    #[test]
    fn listings_tell_which_letters_came_later() {
        let mut listings = Listings::default();
        assert_eq!((listings.absent_at(9), listings.has_grown()), (None, false));
        listings.note(5, at(0));
        assert_eq!((listings.absent_at(5), listings.has_grown()), (None, false));
        listings.note(7, at(10));
        assert_eq!((listings.absent_at(5), listings.absent_at(6)), (None, Some(at(0))));
        assert!(listings.has_grown());
        listings.note(8, at(20));
        assert_eq!((listings.absent_at(7), listings.absent_at(8)), (Some(at(0)), Some(at(10))));
        listings.note(0, at(30));
        assert!(!listings.has_grown());
    }
}
