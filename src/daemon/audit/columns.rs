//! Loads a match's listed columns, which the audit compares.

use super::club::stored_offer;
use crate::audit::columns::{LedgerFacts, LetterColumns, StoredColumns, UnprovenColumns, differences};
use crate::audit::{Finding, LedgerRow, ParsedLetter, StoredTurn};
use crate::daemon::Office;
use crate::daemon::intake::row::{listed_fields, one_line};
use crate::game::BySeat;
use crate::store::{EntryRow, NamedLetter, UnprovenStage};

/// Returns the columns of an entry that the audit compares.
pub(super) fn row_of(entry: EntryRow) -> LedgerRow {
    let EntryRow { seq, at, kind, json, hash, .. } = entry;
    LedgerRow { seq, at, kind, json, hash }
}

/// Returns a letter's listed columns, together with the values that its bytes give.
pub(super) fn columns_of(row: &NamedLetter, raw: &[u8], parsed: &ParsedLetter) -> LetterColumns {
    let listed = (row.sender.clone(), row.subject.clone());
    let letter = parsed.letter();
    // Nearly every letter is listed as it was read, so only the headers of the others are parsed again.
    let is_as_read = letter
        .is_some_and(|letter| letter.from.as_str() == listed.0 && one_line(&letter.subject) == listed.1);
    let written = if is_as_read { listed.clone() } else { listed_fields(raw) };
    let tokens = letter.iter().flat_map(|letter| &letter.tokens).map(ToString::to_string).collect();
    LetterColumns { digest: row.digest, listed, written, place: row.place.clone(), tokens }
}

/// Returns the listed columns of a match that contradict its ledger or its letters.
pub(super) async fn odd_columns(
    office: &Office,
    id: &str,
    facts: &LedgerFacts,
    letters: Vec<LetterColumns>,
) -> anyhow::Result<Vec<Finding>> {
    let mut offers = Vec::new();
    for row in office.store.invitations_to(id).await? {
        offers.push(stored_offer(office, row, true).await?);
    }
    let mut players = BySeat::default();
    for row in office.store.seats_of(&[id.to_owned()]).await? {
        players[row.seat] = row.player.id;
    }
    let turns = office.store.owed_turns_of(id).await?.into_iter();
    let turns = turns.map(|row| StoredTurn { turn: row.turn, player: row.player_id });
    let unproven = office.store.unproven_named(&facts.confirmed()).await?;
    let unproven = unproven.into_iter().filter_map(|row| {
        Some(UnprovenColumns {
            letter: row.letter,
            confirmed_by: row.confirmed_by,
            is_confirmed: row.stage == UnprovenStage::Confirmed,
            place: row.match_id.zip(row.seat)?,
        })
    });
    let columns = StoredColumns {
        unread: office.store.unread_columns(id).await?,
        pins: office.store.seat_pins(id).await?,
        letters,
        offers,
        unproven: unproven.collect(),
        turns: turns.collect(),
        players,
    };
    Ok(differences(id, facts, &columns))
}
