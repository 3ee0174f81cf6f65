//! Deadlines and ends of seasons that zone data of a newer edition move: each stays at the local time that players read.

use std::sync::Arc;

use chrono::{DateTime, Utc};

use super::heartbeat::Loop;
use super::{Office, events, rulings};
use crate::desk::matches::acts::CauseOf;
use crate::referee::{Act, Stage};
use crate::zone;

/// The key under which a daemon remembers the edition of the zone data by which deadlines were set.
const ZONE_DATA: &str = "zone data";

/// Matches ruled on in one transaction.
const BATCH_SIZE: usize = 100;

/// If the zone data are newer than those by which deadlines were set, sets the deadlines again that they move. Of several
/// daemons, one with older data changes nothing.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn keep_local_deadlines(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    let edition = &office.club.identity.tzdata;
    let known = office.store.remembered(ZONE_DATA).await?;
    if known.as_ref().is_some_and(|known| !zone::is_newer(edition, known)) {
        return Ok(());
    }
    let mut ids = Vec::new();
    office.store.list_matches(Some(Stage::Running), &mut |listed| ids.push(listed.id)).await?;
    let cause_of: CauseOf = Arc::new(|game_match| {
        // A match without a deadline rejects any.
        let deadline = game_match.deadline_by_local_time().unwrap_or_default();
        game_match.by_program(Act::ZonesChanged { deadline })
    });
    for some in ids.chunks(BATCH_SIZE) {
        office.heartbeat.beat(Loop::Clock);
        rulings::decide_on_matches(office, office.store.matches(some).await?, &cause_of, now).await?;
    }
    events::keep_local_ends(office).await?;
    if let Some(known) = known {
        tracing::info!(edition, known, "deadlines follow newer rules of the time zones");
    }
    Ok(office.store.remember(ZONE_DATA, edition).await?)
}
