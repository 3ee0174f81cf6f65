//! A database that does not answer, or in which somebody holds a lock. `status` names it while it lasts; the GM gets one
//! letter: once the database answers again, or while a lock keeps matches waiting.

use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};

use super::{Office, commit};
use crate::desk::gm::alarm;
use crate::post::without_addresses;

/// Time that a database may not answer, or a match may wait for a lock, before the GM is told; and time without either
/// after which it is over: between two attempts, nothing waits.
const MIN_TOLD: TimeDelta = TimeDelta::minutes(5);

/// What this process has noticed and has not seen end.
#[derive(Default)]
pub struct DatabaseWatch(Mutex<Option<Noticed>>);

struct Noticed {
    since: DateTime<Utc>,
    last: DateTime<Utc>,
    why: String,
    is_told: bool,
}

impl DatabaseWatch {
    fn noticed(&self) -> MutexGuard<'_, Option<Noticed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notice(&self, now: DateTime<Utc>, why: impl FnOnce() -> String) {
        let mut noticed = self.noticed();
        // What was long ago was another trouble.
        noticed.take_if(|noticed| now - noticed.last >= MIN_TOLD && noticed.is_told);
        noticed.get_or_insert_with(|| Noticed { since: now, last: now, why: why(), is_told: false }).last =
            now;
    }

    /// Returns what the GM has to be told now, until [`DatabaseWatch::set_told`]: since when, and why. `lasts`: whether
    /// something waits at `now`.
    fn untold(&self, now: DateTime<Utc>, lasts: bool) -> Option<Untold> {
        let mut noticed = self.noticed();
        let is_long = |noticed: &Noticed| noticed.last - noticed.since >= MIN_TOLD;
        noticed.take_if(|noticed| {
            let is_over = !lasts && now - noticed.last >= MIN_TOLD;
            is_over && (noticed.is_told || !is_long(noticed))
        });
        let untold = noticed.as_ref().filter(|noticed| !noticed.is_told && is_long(noticed))?;
        Some(Untold { since: untold.since, until: (!lasts).then_some(untold.last), why: untold.why.clone() })
    }

    /// The GM's letter about it is in the outbox.
    fn set_told(&self) {
        if let Some(noticed) = self.noticed().as_mut() {
            noticed.is_told = true;
        }
    }
}

/// A trouble that the GM does not know of.
#[derive(Debug, PartialEq, Eq)]
struct Untold {
    since: DateTime<Utc>,
    /// `None` while it lasts.
    until: Option<DateTime<Utc>>,
    why: String,
}

/// Notes that work failed because the database does not answer. The first reason counts.
pub fn note_failure(office: &Office, error: &anyhow::Error) {
    if commit::is_transient(error) {
        office.database_watch.notice(office.now(), || without_addresses(&format!("{error:#}")));
    }
}

/// Tells the GM of trouble that lasted, or that lasts because of a lock. The database answers now.
///
/// # Errors
/// Returns an error if the database does not answer after all.
pub async fn tell(office: &Office) -> anyhow::Result<()> {
    let (now, waiting) = (office.now(), office.attempts.locked_matches());
    if !waiting.is_empty() {
        office.database_watch.notice(now, String::new);
    }
    let Some(Untold { since, until, why }) = office.database_watch.untold(now, !waiting.is_empty()) else {
        return Ok(());
    };
    let why = if until.is_some() { why } else { office.store.server_faults().await?.join("; ") };
    let telling = commit::decide_and_commit(office, move |desk| {
        alarm::database_away(desk, since, until, &why, &waiting)
    });
    telling.await?;
    office.database_watch.set_told();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trouble_with_short_gaps_is_told_once_and_the_next_one_again() {
        let at = |minute| DateTime::UNIX_EPOCH + TimeDelta::minutes(minute);
        let watch = DatabaseWatch::default();
        let look = |minute, waits: bool| {
            if waits {
                watch.notice(at(minute), String::new);
            }
            watch.untold(at(minute), waits).map(|untold| (untold.since, untold.until))
        };
        assert_eq!([look(0, true), look(4, true)], [None, None]);
        // Until the letter is written, it is still to be told.
        assert_eq!([look(5, true), look(6, true)], [Some((at(0), None)); 2]);
        watch.set_told();
        // Between two attempts nothing waits.
        assert_eq!([look(7, false), look(8, true), look(13, true), look(14, false)], [None; 4]);
        assert_eq!([look(19, false), look(30, true)], [None, None]);
        assert_eq!(look(36, true), Some((at(30), None)));
    }
}
