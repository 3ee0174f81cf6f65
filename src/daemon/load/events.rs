//! Loads events from their books.

use anyhow::Context as _;

use crate::club::events::event::Event;
use crate::daemon::Office;
use crate::desk::frame::rows::LoadedEvent;
use crate::ledger::book::BookEntry;
use crate::store::EventRow;

/// Returns an event as its book records it, or `None` if there is no such event.
///
/// # Errors
/// Returns an error if the database does not answer, or if the book cannot be read.
pub async fn load_event(office: &Office, id: &str) -> anyhow::Result<Option<LoadedEvent>> {
    // Load the row before the book: if the book grows in between, the version is outdated and the commit
    // fails.
    let Some(row) = office.store.event(id).await? else { return Ok(None) };
    let rows = office.store.book(id).await?;
    let merged = office.store.merged_players().await?;
    let entries: Result<Vec<BookEntry>, _> = rows.iter().map(|row| serde_json::from_str(&row.json)).collect();
    let entries = entries.with_context(|| format!("failed to read the book of {id}"))?;
    let event = Event::fold(&entries, &|player| merged.get(&player).copied().unwrap_or(player));
    let event = event.with_context(|| format!("failed to read the book of {id}"))?;
    Ok(Some(LoadedEvent { event, told: row.told, version: row.version }))
}

/// Describes the stage of an event to people. Its row does not tell entries from the time between two seasons.
///
/// # Errors
/// Same as [`load_event`].
pub async fn stage_in_words(office: &Office, row: &EventRow) -> anyhow::Result<&'static str> {
    let loaded = load_event(office, &row.id).await?;
    Ok(loaded.map_or(row.stage.as_str(), |loaded| loaded.event.stage_in_words()))
}
