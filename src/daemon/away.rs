//! A database that does not answer, or that keeps a part of the work waiting, because somebody holds a lock. `status` names
//! it while it lasts; the GM gets one letter: once the database answers again, or while a part waits.
//!
//! Watches the free space on the disk: while it is low, no letters are taken from the mailbox.

use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};

use super::{Office, commit};
use crate::desk::gm::alarm::{self, low_space};
use crate::post::without_addresses;

/// Time that a database may not answer, or a part of the work may wait for it, before the GM is told; and time without
/// either after which it is over: between two attempts, nothing waits.
const MIN_TOLD: TimeDelta = TimeDelta::minutes(5);

/// What this process has noticed and has not seen end.
#[derive(Default)]
pub struct DatabaseWatch(Mutex<Option<Noticed>>);

struct Noticed {
    since: DateTime<Utc>,
    last: DateTime<Utc>,
    why: String,
    /// When letters last could not be stored, although the database answers.
    unstored: Option<DateTime<Utc>>,
    is_told: bool,
}

impl DatabaseWatch {
    fn noticed(&self) -> MutexGuard<'_, Option<Noticed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notice(&self, now: DateTime<Utc>, is_unstored: bool, why: impl FnOnce() -> String) {
        let mut noticed = self.noticed();
        // What was long ago was another trouble.
        noticed.take_if(|noticed| now - noticed.last >= MIN_TOLD && noticed.is_told);
        let new = || Noticed { since: now, last: now, why: why(), unstored: None, is_told: false };
        let noticed = noticed.get_or_insert_with(new);
        noticed.last = now;
        noticed.unstored = noticed.unstored.max(is_unstored.then_some(now));
    }

    /// Whether letters could not be stored just now, although the database answers.
    fn stores_nothing(&self, now: DateTime<Utc>) -> bool {
        let noticed = self.noticed();
        let unstored = noticed.as_ref().and_then(|noticed| noticed.unstored);
        unstored.is_some_and(|unstored| now - unstored < MIN_TOLD)
    }

    /// Returns what the GM has to be told now, until [`DatabaseWatch::set_told`]: since when, and why. `lasts`: whether
    /// something waits at `now`.
    fn untold(&self, now: DateTime<Utc>, lasts: bool) -> Option<Untold> {
        let mut noticed = self.noticed();
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

fn is_long(noticed: &Noticed) -> bool {
    noticed.last - noticed.since >= MIN_TOLD
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
        office.database_watch.notice(office.now(), false, || without_addresses(&format!("{error:#}")));
    }
}

/// Notes that letters could not be stored. The first reason counts.
pub fn note_unstored(office: &Office, error: &anyhow::Error) {
    // If the database does not answer, everything waits.
    let is_part = !commit::is_transient(error) || commit::is_locked(error);
    office.database_watch.notice(office.now(), is_part, || without_addresses(&format!("{error:#}")));
}

/// Notes that letters were stored.
pub fn note_stored(office: &Office) {
    if let Some(noticed) = office.database_watch.noticed().as_mut() {
        noticed.unstored = None;
    }
}

/// Returns what waits for the database, although it answers.
pub fn waiting(office: &Office) -> Vec<String> {
    let mut waiting = office.attempts.locked_matches();
    if office.database_watch.stores_nothing(office.now()) {
        waiting.push("the letters in the mailbox".to_owned());
    }
    waiting
}

/// Tells the GM of trouble that lasted, or that keeps a part of the work waiting. The database answers now.
///
/// # Errors
/// Returns an error if the database does not answer after all.
pub async fn tell(office: &Office) -> anyhow::Result<()> {
    let now = office.now();
    if !office.attempts.locked_matches().is_empty() {
        office.database_watch.notice(now, false, String::new);
    }
    let waiting = waiting(office);
    let Some(Untold { since, until, why }) = office.database_watch.untold(now, !waiting.is_empty()) else {
        return Ok(());
    };
    let holders = if until.is_some() { Vec::new() } else { office.store.server_faults().await? };
    let why = if holders.is_empty() { why } else { holders.join("; ") };
    let telling = commit::decide_and_commit(office, move |desk| {
        alarm::database_away(desk, since, until, &why, &waiting)
    });
    telling.await?;
    office.database_watch.set_told();
    Ok(())
}

/// The key under which a daemon remembers since when space is short. It exists only while it is short.
const LOW_SPACE: &str = "low space since";

/// Whether there is room for more letters: at least `database.min_free_mb`. If there is not, tells the GM
/// once.
pub(super) async fn has_room(office: &Office) -> bool {
    let shortage = match office.store.free_bytes() {
        Ok(free) => free.and_then(|free| office.config.database.shortage(free)),
        // If the disk is gone, storing letters fails by itself.
        Err(error) => {
            tracing::warn!(%error, "failed to find out how much space is free");
            None
        }
    };
    let noted = match shortage {
        Some(free_mb) => note_shortage(office, free_mb).await,
        None => note_room(office).await,
    };
    if let Err(error) = noted {
        tracing::warn!(error = format!("{error:#}"), "failed to note how much space is free");
    }
    shortage.is_none()
}

async fn note_shortage(office: &Office, free_mb: u64) -> anyhow::Result<()> {
    if office.store.remembered(LOW_SPACE).await?.is_some() {
        return Ok(());
    }
    tracing::error!(free_mb, "space is short; no more letters are taken from the mailbox");
    let now = office.now();
    commit::decide_and_commit(office, move |desk| low_space(desk, free_mb)).await?;
    // Remember this only once the letter is queued: telling the GM twice is better than never.
    Ok(office.store.remember(LOW_SPACE, &now.to_rfc3339()).await?)
}

async fn note_room(office: &Office) -> anyhow::Result<()> {
    if office.store.remembered(LOW_SPACE).await?.is_some() {
        tracing::warn!("there is room again; letters are taken from the mailbox");
        office.store.forget(LOW_SPACE).await?;
    }
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
                watch.notice(at(minute), false, String::new);
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

    #[test]
    fn letters_that_cannot_be_stored_wait_between_two_attempts() {
        let at = |minute| DateTime::UNIX_EPOCH + TimeDelta::minutes(minute);
        let watch = DatabaseWatch::default();
        watch.notice(at(0), true, || "why".to_owned());
        watch.notice(at(4), true, String::new);
        assert!(watch.stores_nothing(at(8)) && !watch.stores_nothing(at(9)));
        watch.notice(at(10), false, String::new);
        assert!(!watch.stores_nothing(at(10)));
        let untold = watch.untold(at(10), true).expect("it lasts");
        assert_eq!((untold.since, untold.until, &*untold.why), (at(0), None, "why"));
    }
}
