//! Checks books of events: each on its own, and its results against the ledgers of its matches.

use anyhow::{Context as _, ensure};

use crate::club::events::event::Event;
use crate::club::events::verify;
use crate::daemon::Office;
use crate::ledger::book::{BookEntry, BookOutcome};
use crate::ledger::{Entry, Fact};
use crate::letter::Digest;

/// The outcome of checking a book.
pub struct CheckedBook {
    pub entries: usize,
    pub head: String,
    pub findings: Vec<String>,
}

/// Returns the entries of a book, each as canonical JSON with its hash.
///
/// # Errors
/// Returns an error if there is no such event, or if the database does not answer.
pub async fn rows(office: &Office, id: &str) -> anyhow::Result<Vec<(String, Digest)>> {
    let rows = office.store.book(id).await?;
    ensure!(!rows.is_empty(), "there is no event {id}");
    Ok(rows.into_iter().map(|row| (row.json, row.hash)).collect())
}

/// Checks a book.
///
/// # Errors
/// Same as [`rows`].
pub async fn verify(office: &Office, id: &str) -> anyhow::Result<CheckedBook> {
    let rows = rows(office, id).await?;
    let mut findings = verify::verify(&rows);
    if findings.is_empty() {
        let entries: Result<Vec<BookEntry>, _> =
            rows.iter().map(|(json, _)| serde_json::from_str(json)).collect();
        let event = Event::fold(&entries?, &|player| player).with_context(|| format!("the book of {id}"))?;
        for (match_id, end, outcome) in verify::results(&event) {
            findings.extend(differs(office, &match_id, end, outcome).await?);
        }
    }
    let head = rows.last().map(|(_, hash)| hash.to_string()).unwrap_or_default();
    Ok(CheckedBook { entries: rows.len(), head, findings })
}

/// Returns a sentence if a result differs from the ledger of its match. An annulled match has no outcome
/// there.
async fn differs(
    office: &Office,
    match_id: &str,
    end: Digest,
    outcome: BookOutcome,
) -> anyhow::Result<Option<String>> {
    let entries = office.store.entries(match_id).await?;
    let Some(row) = entries.iter().find(|row| row.hash == end) else {
        return Ok(Some(format!("the ledger of {match_id} has no entry {end}, which ended it")));
    };
    let entry: Entry = serde_json::from_str(&row.json)?;
    let found = match &entry.fact {
        Fact::MatchEnded { outcome } => BookOutcome::of(outcome),
        Fact::MatchAnnulled { .. } => BookOutcome::None,
        _ => return Ok(Some(format!("entry {end} of {match_id} does not end it"))),
    };
    let agrees = found == outcome || found == BookOutcome::None;
    Ok((!agrees).then(|| format!("{match_id} ended as {found}, and the book says {outcome}")))
}
