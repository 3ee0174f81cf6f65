//! A database that does not answer, or in which somebody holds a lock. `status` names it while it lasts; the GM gets one
//! letter: once the database answers again, or while a lock keeps matches waiting.

use std::sync::{Mutex, MutexGuard, PoisonError};

use chrono::{DateTime, TimeDelta, Utc};

use super::{Office, commit};
use crate::desk::gm::alarm;
use crate::post::without_addresses;

/// Time that a database may not answer, or a match may wait for a lock, before the GM is told.
const MIN_TOLD: TimeDelta = TimeDelta::minutes(5);

/// What this process has noticed and has not seen end.
#[derive(Default)]
pub struct DatabaseWatch(Mutex<Option<Noticed>>);

struct Noticed {
    since: DateTime<Utc>,
    why: String,
    is_told: bool,
}

impl DatabaseWatch {
    fn noticed(&self) -> MutexGuard<'_, Option<Noticed>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notice(&self, since: DateTime<Utc>, why: impl FnOnce() -> String) {
        self.noticed().get_or_insert_with(|| Noticed { since, why: why(), is_told: false });
    }
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
    let is_over = waiting.is_empty();
    let (since, why) = match &mut *office.database_watch.noticed() {
        Some(noticed) if !noticed.is_told && now - noticed.since >= MIN_TOLD => {
            noticed.is_told = true;
            (noticed.since, noticed.why.clone())
        }
        noticed if is_over => {
            *noticed = None;
            return Ok(());
        }
        _ => return Ok(()),
    };
    let why = if is_over { why } else { office.store.server_faults().await?.join("; ") };
    let telling = commit::decide_and_commit(office, move |desk| {
        alarm::database_away(desk, since, is_over.then(|| desk.at()), &why, &waiting)
    });
    telling.await
}
