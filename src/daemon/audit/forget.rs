//! Forgets a player whose matches are over: deletes the addresses, the name, and the bytes of all letters
//! from and to them.
//!
//! The chains of those matches stay intact and can still be followed. The evidence of the letters is withheld
//! from then on, so every match is verified one last time beforehand.

use std::iter;

use anyhow::{Context as _, bail, ensure};
use chrono::{DateTime, Utc};

use super::verify;
use crate::daemon::Office;
use crate::desk::frame::stored::snapshot;
use crate::game::Seat;
use crate::ledger::ChainedEntry;
use crate::referee::{self, Act, Match, Stage};
use crate::report::count_of;
use crate::store::{EntryRow, ForgottenMatch, ForgottenPlayer, MatchRow, StoreError};

/// Maximum attempts to forget a player while others write to the player's matches.
const MAX_TRIES: u32 = 5;

/// Forgets the player with this number, and returns the matches in which they played.
///
/// # Errors
/// Returns an error, and changes nothing, if there is no such player, if a match is not over or does not
/// verify, if a letter from or to the player still waits, or if the database does not answer.
pub async fn forget(office: &Office, number: i64) -> anyhow::Result<Vec<String>> {
    for _ in 0..MAX_TRIES {
        let forgotten = to_forget(office, number).await?;
        match office.store.forget_player(&forgotten).await {
            Ok(()) => return Ok(forgotten.traces.matches),
            Err(StoreError::Stale(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bail!(
        "gave up after repeated conflicts in the matches of {}; nothing was forgotten",
        forgotten_name(number)
    )
}

/// Returns the matches of the player with this number, without forgetting the player.
///
/// # Errors
/// Same as [`forget`].
pub async fn matches_of_forgotten(office: &Office, number: i64) -> anyhow::Result<Vec<String>> {
    Ok(to_forget(office, number).await?.traces.matches)
}

/// Returns everything that is deleted or changed when the player with this number is forgotten.
async fn to_forget(office: &Office, number: i64) -> anyhow::Result<ForgottenPlayer> {
    let name = forgotten_name(number);
    let players = office.store.players().await?;
    let player = players.into_iter().find(|player| player.id == number);
    let player = player.with_context(|| format!("there is no player {name}"))?;
    ensure!(!player.addresses.is_empty(), "{name} has no address; there is nothing left to forget");
    ensure!(!player.is_house(), "{name} is the house");
    let traces = office.store.traces_of(number).await?;
    let waiting = traces.waiting;
    let letters = count_of(waiting, "letter", "letters");
    ensure!(waiting == 0, "{letters} from or to {name} must still be ruled on or sent; try again later");
    let at = office.now();
    let mut matches = Vec::new();
    for row in office.store.matches(&traces.matches).await? {
        matches.push(match_to_forget(office, row, number, &name, at).await?);
    }
    Ok(ForgottenPlayer { id: number, name, traces, matches, at })
}

/// Returns a match as it is after its player is forgotten, with the entries that record that. The match must
/// be over and must verify.
async fn match_to_forget(
    office: &Office,
    row: MatchRow,
    player: i64,
    name: &str,
    at: DateTime<Utc>,
) -> anyhow::Result<ForgottenMatch> {
    let id = row.id;
    let version = row.version;
    let before = snapshot(&id, &row.snapshot)?;
    ensure!(before.stage == Stage::Over, "{id} is not over, and {name} plays or played in it");
    let verdict = verify::verify(office, &id, &|_| ()).await?;
    if let Some(finding) = verdict.findings.first() {
        bail!("{id} does not verify; {}: {}", finding.place, finding.what);
    }
    // The verdict must be on the same state of the match that is rewritten.
    ensure!(verdict.head == before.head, "{id} was ruled on while it was verified");
    let ids = std::slice::from_ref(&id);
    let seats = office.store.seats_of(ids).await?.into_iter();
    let held: Vec<Seat> = seats.filter(|row| row.player.id == player).map(|row| row.seat).collect();
    let delivered = office.store.unlisted_deliveries(ids).await?;
    let delivered = delivered.into_iter().map(|(_, delivery)| delivery).collect();
    let (after, entries) = forget_in(Match { delivered, ..before }, &held, name, at);
    let listed = entries.iter().flat_map(|chained| &chained.entry.delivered);
    Ok(ForgottenMatch {
        snapshot: serde_json::to_string(&after)?,
        first_name: after.players.first.clone(),
        second_name: after.players.second.clone(),
        head: after.head,
        listed: listed.map(|delivery| delivery.letter).collect(),
        entries: entries.iter().map(EntryRow::from).collect(),
        id,
        version,
    })
}

/// Rules on a match whose player is forgotten. First an entry lists the letters that no entry has listed,
/// then one records who was forgotten, for each seat that they held at the end. Returns the match after both,
/// and the entries.
fn forget_in(game_match: Match, held: &[Seat], name: &str, at: DateTime<Utc>) -> (Match, Vec<ChainedEntry>) {
    let seats: Vec<Option<Seat>> =
        if held.is_empty() { vec![None] } else { held.iter().copied().map(Some).collect() };
    let told = seats.into_iter().map(|seat| Act::Forget { seat, name: name.to_owned() });
    let mut after = game_match;
    let mut entries = Vec::new();
    for act in iter::once(Act::ListLetters).chain(told) {
        let ruling = referee::rule(&after, &after.by_program(act), at);
        entries.extend(ruling.entries);
        after = ruling.after;
    }
    (after, entries)
}

/// Returns the name of a forgotten player: `P-12`.
fn forgotten_name(number: i64) -> String {
    format!("P-{number}")
}
