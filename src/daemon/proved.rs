//! Answers that prove that an older database was put in place of the club's: they name a letter of the club that it does
//! not know. A Message-ID names the letter's place in the ledger of its match, veiled with the secret of the match, so that
//! nobody but the club can make one.

use std::collections::BTreeMap;

use super::Office;
use crate::desk::frame::stored::snapshot;
use crate::ledger::PlaceInMatch;
use crate::referee::Stage;
use crate::store::{PROVED_BY_LETTER, PROVED_TURN, ProvedTurn, RESTORED, SnapshotRow};

/// Maximum entries by which a letter can lie beyond the end of a ledger. With it, one made-up Message-ID in a thousand
/// million proves something.
const MAX_BEYOND: u64 = 100_000;

/// Notes that the database is older than its mailbox if it does not know the letter of the club with one of these
/// answered Message-IDs. After a restore, it does not know those that were written since the backup and differ now; then
/// one counts only if it lies beyond the end of its match's ledger, in a later turn. Once players were told that a match is
/// behind, more letters tell nothing new. While letters are read again, it only notes how far players have come.
pub async fn note_if_beyond(office: &Office, answered: &[String]) -> anyhow::Result<()> {
    let unknown = unknown_by_match(office, answered).await?;
    if unknown.is_empty() {
        return Ok(());
    }
    let is_read_again = office.store.restoring().await?.is_some();
    let was_restored = !office.store.restores().await?.is_empty();
    for row in office.store.snapshots(&Vec::from_iter(unknown.keys().cloned())).await? {
        let Some(turn) = proved_turn(&row, &unknown[&row.id], was_restored) else { continue };
        let key = format!("{PROVED_TURN}{}", row.id);
        let known = office.store.remembered(&key).await?;
        let known: Option<ProvedTurn> = known.and_then(|known| serde_json::from_str(&known).ok());
        if known.is_some_and(|known| known.told || known.turn >= turn) {
            continue;
        }
        if !is_read_again {
            tracing::warn!(match_id = row.id, "a letter answers one that the database does not know");
            // First what has a consequence: after a crash, the turn counts again.
            office.store.remember(RESTORED, PROVED_BY_LETTER).await?;
        }
        let proved = ProvedTurn { turn, told: false };
        office.store.remember(&key, &serde_json::to_string(&proved)?).await?;
    }
    Ok(())
}

/// Returns the Message-IDs that bear the token of a seat and are not in the database, by match.
async fn unknown_by_match(
    office: &Office,
    answered: &[String],
) -> anyhow::Result<BTreeMap<String, Vec<String>>> {
    let named = answered.iter().filter_map(|id| Some((id, PlaceInMatch::token_and_match(id)?)));
    let named: Vec<(&String, (&str, String))> = named.collect();
    let tokens: Vec<String> = named.iter().map(|(_, (token, _))| (*token).to_owned()).collect();
    let mut unknown: BTreeMap<String, Vec<String>> = BTreeMap::new();
    if tokens.is_empty() {
        return Ok(unknown);
    }
    let seats = office.store.seats_by_token(&tokens).await?;
    let is_of_seat =
        |token: &str, id: &str| seats.iter().any(|seat| (&*seat.token, &*seat.match_id) == (token, id));
    for (id, (token, match_id)) in named {
        if is_of_seat(token, &match_id) {
            unknown.entry(match_id).or_default().push(id.clone());
        }
    }
    let ids: Vec<String> = unknown.values().flatten().cloned().collect();
    let known = office.store.dispatches_named(&ids).await?;
    unknown.retain(|_, ids| {
        ids.retain(|id| known.iter().all(|row| row.message_id != *id));
        !ids.is_empty()
    });
    Ok(unknown)
}

/// Returns the last turn that was open when letters with these Message-IDs were written, or the highest number if the match
/// was over. If `beyond`, places up to the end of the ledger do not count, and neither does the open turn.
fn proved_turn(row: &SnapshotRow, ids: &[String], beyond: bool) -> Option<u32> {
    // Once a match is over, its secret is told, and anybody can make up a place.
    let game_match = snapshot(&row.id, &row.snapshot).ok().filter(|found| found.stage != Stage::Over)?;
    let (end, key) = (game_match.head.seq, game_match.first_key());
    let least = if beyond { end + 1 } else { 1 };
    let places = ids.iter().filter_map(|id| PlaceInMatch::read(id, &row.id, key));
    let proved = places.filter(|place| (least..=end + MAX_BEYOND).contains(&place.seq));
    let turn = proved.map(|place| place.turn.parse().unwrap_or(u32::MAX)).max()?;
    let is_open = game_match.due().is_some_and(|due| due.turn >= turn);
    Some(turn).filter(|_| !(beyond && is_open))
}
