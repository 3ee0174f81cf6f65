//! One letter: identifies its sender, and decides what becomes of it.

use anyhow::Context as _;
use chrono::TimeDelta;

use super::automatic;
use super::desk::Desk;
use super::gm;
use super::gm::GmLetter;
use super::gm_index::GmIndex;
use super::parts;
use super::proof;
use super::proof::{Doubt, UNPROVEN};
use super::questions;
use super::rows::Decided;
use super::signatures;
use super::stranger;
use super::unreadable;
use crate::letter::{Letter, UnreadableLetter};
use crate::referee;
use crate::store::{LetterDecision, LetterStatus, Postponed, TokenRow, WaitingLetter};

/// A parsed letter, not yet matched to a seat.
pub type ReadResult = Result<Letter, Box<UnreadableLetter>>;

/// A waiting letter and the result of reading it, or `None` if that panicked.
pub struct ReadLetter {
    pub waiting: WaitingLetter,
    pub read: Option<ReadResult>,
}

/// The sender of a letter.
pub enum Sender {
    Seat(TokenRow),
    /// From an address of this GM, with or without the GM's own token.
    Gm {
        gm: GmIndex,
        has_token: bool,
    },
    /// Uses the token of this seat, but is not from an address of its player. Gets no answer.
    Unknown(TokenRow),
    /// Uses a GM's token, but is not from an address of a GM. Gets no answer.
    GmImpostor,
    Stranger,
}

/// The note on a letter that carries the GM's token.
const GM_IMPOSTOR: &str = "the GM's reply token, but not the GM's address";

/// The note on a letter from somebody whom the GM has blocked.
const BLOCKED: &str = "from a blocked person";

/// Delay before the next DNS query after one that failed.
const DKIM_RETRY: TimeDelta = TimeDelta::minutes(15);

/// Decides what becomes of one letter.
pub fn decide_letter(desk: &mut Desk<'_>, letter: &ReadLetter) -> Decided<()> {
    let waiting = &letter.waiting;
    let letter = match letter.read.as_ref().context("reading the letter failed")? {
        Ok(letter) => letter,
        Err(unreadable) => return unreadable::answer_unreadable(desk, waiting, unreadable),
    };
    if let Some(automatic) = &letter.automatic {
        return automatic::put_by_automatic(desk, waiting, letter, automatic);
    }
    let sender = sender_of(desk, letter)?;
    if matches!(sender, Sender::GmImpostor) {
        decided(desk, waiting, LetterStatus::Ignored, GM_IMPOSTOR.to_owned());
        return Ok(());
    }
    let is_gm = matches!(sender, Sender::Gm { .. });
    if !is_gm && questions::standing(desk, letter.from.as_str())?.blocked_since.is_some() {
        decided(desk, waiting, LetterStatus::Ignored, BLOCKED.to_owned());
        return Ok(());
    }
    if let Sender::Unknown(row) = &sender {
        return proof::ask_player(desk, waiting, letter, row, Doubt::Address);
    }
    if signatures::waits_for_signature(desk, waiting) {
        let match_id = match sender {
            Sender::Seat(row) => Some(row.match_id),
            Sender::Gm { .. } | Sender::Stranger | Sender::Unknown(_) | Sender::GmImpostor => None,
        };
        desk.draft.settlement.postponed.push(Postponed {
            digest: waiting.digest,
            note: "the DNS did not answer whether it is signed".to_owned(),
            until: Some(desk.at() + DKIM_RETRY),
            match_id,
        });
        return Ok(());
    }
    let from = letter.from.as_str();
    let proven = signatures::is_proven(desk, waiting, from)?;
    // Anybody can write in the GM's name without a token.
    if matches!(sender, Sender::Seat(_) | Sender::Gm { has_token: true, .. }) {
        signatures::note_signature(desk, waiting, from)?;
    }
    match sender {
        Sender::Seat(row) if !proven || proof::is_confirmed(desk, waiting, &row)? => {
            proof::ask_player(desk, waiting, letter, &row, Doubt::Unsigned)
        }
        Sender::Seat(row) => parts::rule_on_seat_letter(desk, waiting, letter, &row, None),
        Sender::Gm { gm, has_token } => {
            let read = GmLetter::read(letter);
            if proven || !read.changes_something() {
                return gm::follow_gm_letter(desk, waiting, letter, gm, has_token, read);
            }
            signatures::tell_gm_of_unsigned(desk, waiting, gm)?;
            decided(desk, waiting, LetterStatus::Ignored, UNPROVEN.to_owned());
            Ok(())
        }
        Sender::Stranger | Sender::Unknown(_) | Sender::GmImpostor => {
            stranger::answer_stranger(desk, waiting, letter, proven)
        }
    }
}

/// Notes what became of a letter that acts for no seat.
pub fn decided(desk: &mut Desk<'_>, waiting: &WaitingLetter, status: LetterStatus, note: String) {
    let decision = LetterDecision { digest: waiting.digest, status, note, seat: None, accepted_by: None };
    desk.draft.settlement.decided.push(decision);
}

/// Identifies the sender: a seat's letter carries the seat's token and is from an address of its player.
pub fn sender_of(desk: &Desk<'_>, letter: &Letter) -> Decided<Sender> {
    let gm = desk.settings.gm_at(&letter.from);
    let mut unknown = None;
    let mut is_gm_impostor = false;
    for token in &letter.tokens {
        match desk.rows.seat_by_token(token.as_str())? {
            Some(row) if row.player.addresses.iter().any(|address| address == letter.from.as_str()) => {
                return Ok(Sender::Seat(row.clone()));
            }
            Some(row) if unknown.is_none() => unknown = Some(row.clone()),
            Some(_) => {}
            None => match (desk.rows.gm_with_token(token.as_str()), gm) {
                (None, _) => {}
                (Some(owner), Some(gm)) if owner == gm => return Ok(Sender::Gm { gm, has_token: true }),
                // In a letter to another GM; each GM acts by their own token.
                (Some(_), Some(_)) => {}
                (Some(_), None) => is_gm_impostor = true,
            },
        }
    }
    Ok(match unknown {
        _ if is_gm_impostor => Sender::GmImpostor,
        Some(row) => Sender::Unknown(row),
        None => match gm.filter(|_| referee::has_instruction(&letter.new_text(None).lines())) {
            Some(gm) => Sender::Gm { gm, has_token: false },
            None => Sender::Stranger,
        },
    })
}
