//! Checks the books of events: loads the rows that `audit/book` compares.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{bail, ensure};

use super::club::row_of;
use crate::audit::book::{BookCheck, CitedColumns, CitedLetter, EventColumns, EventMatchColumns};
use crate::audit::{AuditVerdict, LedgerRow};
use crate::daemon::Office;
use crate::daemon::intake::copies::listed_fields;
use crate::ledger::Entry;
use crate::letter::Digest;
use crate::store::{NamedLetter, SentRow, UnprovenStage};

/// Maximum attempts to check an event that changes during every check.
const MAX_TRIES: u32 = 5;

/// Returns the entries of a book, each as canonical JSON with its hash.
///
/// # Errors
/// Returns an error if there is no such event, or if the database does not answer.
pub async fn rows(office: &Office, id: &str) -> anyhow::Result<Vec<LedgerRow>> {
    let rows = office.store.book(id).await?;
    ensure!(!rows.is_empty(), "there is no event {id}");
    Ok(rows.into_iter().map(row_of).collect())
}

/// Checks an event, and starts again if it changes in the meantime.
///
/// # Errors
/// Returns an error if there is no such event, or if the database does not answer.
pub async fn verify(office: &Office, id: &str) -> anyhow::Result<AuditVerdict> {
    let is_there = office.store.event_ids().await?.iter().any(|other| other == id);
    ensure!(is_there, "there is no event {id}");
    for _ in 0..MAX_TRIES {
        let version = version(office, id).await?;
        let verdict = verify_now(office, id).await?;
        if verdict.is_sound() || self::version(office, id).await? == version {
            return Ok(verdict);
        }
    }
    bail!("gave up on {id}: it changed during every check")
}

async fn version(office: &Office, id: &str) -> anyhow::Result<Option<i64>> {
    Ok(office.store.event(id).await?.map(|row| row.version))
}

async fn verify_now(office: &Office, id: &str) -> anyhow::Result<AuditVerdict> {
    let merged = office.store.merged_players().await?;
    let rows: Vec<LedgerRow> = office.store.book(id).await?.into_iter().map(row_of).collect();
    let mut check = BookCheck::new(id, &rows, &|player| merged.get(&player).copied().unwrap_or(player));
    let cited = check.cited_letters();
    check_letters(office, &mut check, &cited, &merged).await?;
    for match_id in check.match_ids() {
        let mut ledger: Vec<Entry> = Vec::new();
        for row in office.store.entries(&match_id).await? {
            // An entry that cannot be read is a finding in its match.
            ledger.extend(serde_json::from_str(&row.json).ok());
        }
        check.check_match(&match_id, &ledger);
    }
    for message_id in office.store.message_ids_about_event(id).await? {
        check.note_sent(&message_id);
    }
    let letters: Vec<Digest> = cited.iter().map(|cited| cited.letter).collect();
    let mut take = |row: SentRow| check.check_sent(&row.message_id, &row.bytes);
    office.store.sent_about_event(id, &letters, &mut take).await?;
    let columns = columns_of(office, id, check.match_ids()).await?;
    Ok(check.finish(columns.as_ref(), office.now()))
}

/// Checks the letters that a book names.
async fn check_letters(
    office: &Office,
    check: &mut BookCheck,
    cited: &[CitedLetter],
    merged: &BTreeMap<i64, i64>,
) -> anyhow::Result<()> {
    let letters: Vec<Digest> = cited.iter().map(|cited| cited.letter).collect();
    let mut found: BTreeMap<Digest, CitedColumns> = BTreeMap::new();
    let mut take = |row: NamedLetter| {
        let columns = CitedColumns {
            received_at: row.received_at,
            listed: (row.sender, row.subject),
            written: listed_fields(&row.raw),
            digest: Digest::of(&row.raw),
            is_players: false,
        };
        found.insert(row.digest, columns);
    };
    office.store.letters_named(&letters, &mut take).await?;
    let unproven = office.store.unproven_named(&letters).await?;
    for one in cited {
        let player = merged_into(merged, one.player);
        let Some(columns) = found.get(&one.letter) else {
            if office.store.is_forgotten(player, one.letter).await? {
                check.withhold_letter(player)
            } else {
                check.check_letter(one, None)
            }
            continue;
        };
        let addresses = office.store.addresses_ever_of(player).await?;
        let has_confirmed = unproven.iter().any(|row| {
            let is_theirs = row.player_id.is_some_and(|of| merged_into(merged, of) == player);
            row.letter == one.letter && row.stage == UnprovenStage::Confirmed && is_theirs
        });
        let is_players = has_confirmed || addresses.contains(&columns.written.0);
        check.check_letter(one, Some(&CitedColumns { is_players, ..columns.clone() }));
    }
    Ok(())
}

fn merged_into(merged: &BTreeMap<i64, i64>, player: i64) -> i64 {
    merged.get(&player).copied().unwrap_or(player)
}

/// Returns the rows of an event beside its book. `named` are the matches that the book names.
async fn columns_of(
    office: &Office,
    id: &str,
    mut named: BTreeSet<String>,
) -> anyhow::Result<Option<EventColumns>> {
    let Some(row) = office.store.event(id).await? else { return Ok(None) };
    let mut matches = Vec::new();
    for (of_event, is_open, seen) in office.store.event_matches(id).await? {
        named.insert(of_event.match_id.clone());
        matches.push(EventMatchColumns {
            match_id: of_event.match_id,
            season: of_event.season,
            first: of_event.first,
            second: of_event.second,
            is_open,
            seen,
        });
    }
    let results = office.store.event_results(&Vec::from_iter(named)).await?;
    Ok(Some(EventColumns {
        name: row.name,
        game: row.game,
        stage: row.stage,
        wake_at: row.wake_at,
        told: row.told,
        matches,
        results: results.into_iter().collect(),
    }))
}
