//! Checks what belongs to no match and no event: loads the rows that `audit/offers` compares.
//!
//! Loads a match's listed columns, which the audit compares.

use crate::audit::columns::{LedgerFacts, LetterColumns, StoredColumns, UnprovenColumns, differences};
use crate::audit::offers::{StoredClub, StoredGmToken, StoredOffer, check_club, told_keys};
use crate::audit::{AuditVerdict, Finding, LedgerRow, ParsedLetter, StoredTurn};
use crate::daemon::Office;
use crate::daemon::intake::copies::{listed_fields, one_line};
use crate::desk::outbox::gms;
use crate::game::BySeat;
use crate::letter::Token;
use crate::referee::Offer;
use crate::report::sent::plain_text;
use crate::store::{EntryRow, Invitation, InvitationStage, NamedLetter, UnprovenStage};

/// Matches the Message-IDs that may begin with a reply token, of 16 characters.
const TOKEN_FIRST: &str = "________________.%";

/// Letters among which that token is looked for: other IDs may have the same form.
const LAST_LETTERS: u32 = 20;

/// Checks the club. What changed while it was read is no finding.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn verify(office: &Office) -> anyhow::Result<AuditVerdict> {
    let verdict = check_club(&load_club(office).await?, office.now());
    Ok(if verdict.is_sound() { verdict } else { check_club(&load_club(office).await?, office.now()) })
}

async fn load_club(office: &Office) -> anyhow::Result<StoredClub> {
    let store = &office.store;
    let mut offers = Vec::new();
    for row in store.invitations().await? {
        let is_open = row.stage == InvitationStage::Open;
        offers.push(stored_offer(office, row, is_open).await?);
    }
    Ok(StoredClub {
        offers,
        tokens: stored_tokens(office).await?,
        marks: store.mailbox_marks().await?,
        made: store.made().await?,
    })
}

/// Returns an offer as the audit compares it, with the pins of the keys in our answers if `with_pins`.
pub(super) async fn stored_offer(
    office: &Office,
    row: Invitation,
    with_pins: bool,
) -> anyhow::Result<StoredOffer> {
    let offer: Option<Offer> = serde_json::from_str(&row.offer).ok();
    let mut pins = Vec::new();
    if let Some(lot) = offer.as_ref().and_then(|offer| offer.lot.as_ref()).filter(|_| with_pins) {
        for answer in office.store.answers_to(lot.offer).await? {
            pins.extend(told_keys(&plain_text(&answer)));
        }
    }
    Ok(StoredOffer {
        code: row.code,
        inviter: row.inviter,
        invited: row.invited,
        game: row.game,
        offer,
        is_open: row.stage == InvitationStage::Open,
        is_taken: row.stage == InvitationStage::Taken,
        match_id: row.match_id,
        taken_from: row.taken_from,
        taken: row.taken,
        pins,
    })
}

/// Returns the GMs' reply tokens that exist, and those in the last letters to them.
async fn stored_tokens(office: &Office) -> anyhow::Result<Vec<StoredGmToken>> {
    let mut tokens = Vec::new();
    for gm in office.config.club.gm.all() {
        let Some(token) = office.store.remembered(&gms::token_key(gm)).await? else { continue };
        let address = gm.address.as_str().to_owned();
        // The first part of a Message-ID is the letter's reply token, if it has one.
        let sent = office.store.last_message_ids_to(&address, TOKEN_FIRST, LAST_LETTERS).await?;
        let mut first_parts = sent.iter().filter_map(|id| id.split('.').next());
        let last_sent = first_parts.find(|part| Token::parse(part).is_some()).map(str::to_owned);
        tokens.push(StoredGmToken { address, token, last_sent });
    }
    Ok(tokens)
}

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
