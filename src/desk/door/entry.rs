//! One letter: identifies its sender, and decides what becomes of it.

use anyhow::Context as _;
use chrono::TimeDelta;

use super::unproven::{self, Doubt, UNPROVEN};
use super::{automatic, sender, signatures, stranger, unreadable};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::standing;
use crate::desk::gm::letter::{self, GmLetter};
use crate::desk::seat::parts;
use crate::store::{LetterStatus, Postponed};

/// The note on a letter that carries the GM's token.
const GM_IMPOSTOR: &str = "the GM's reply token, but not the GM's address";

/// The note on a letter from somebody whom the GM has blocked.
const BLOCKED: &str = "from a blocked person";

/// Delay before the next DNS query after one that failed.
const DKIM_RETRY: TimeDelta = TimeDelta::minutes(15);

/// Decides what becomes of one letter.
pub fn decide_letter(desk: &mut Desk<'_>, letter: &sender::ReadLetter) -> Decided<()> {
    let waiting = &letter.waiting;
    let letter = match letter.read.as_ref().context("reading the letter failed")? {
        Ok(letter) => letter,
        Err(unreadable) => return unreadable::answer_unreadable(desk, waiting, unreadable),
    };
    if let Some(automatic) = &letter.automatic {
        return automatic::put_by_automatic(desk, waiting, letter, automatic);
    }
    let sender = sender::sender_of(desk, letter)?;
    if matches!(sender, sender::Sender::GmImpostor) {
        desk.decided(waiting, LetterStatus::Ignored, GM_IMPOSTOR.to_owned());
        return Ok(());
    }
    let is_gm = matches!(sender, sender::Sender::Gm { .. });
    if !is_gm && standing::standing(desk, letter.from.as_str())?.blocked_since.is_some() {
        desk.decided(waiting, LetterStatus::Ignored, BLOCKED.to_owned());
        return Ok(());
    }
    if let sender::Sender::Unknown(row) = &sender {
        return unproven::ask_player(desk, waiting, letter, row, Doubt::Address);
    }
    // Only now: whoever is unknown or blocked gets no answer, signed or not.
    if signatures::waits_for_signature(desk, waiting) {
        let match_id = match sender {
            sender::Sender::Seat(row) => Some(row.match_id),
            sender::Sender::Gm { .. }
            | sender::Sender::Stranger
            | sender::Sender::Unknown(_)
            | sender::Sender::GmImpostor => None,
        };
        desk.draft.changes.postponed.push(Postponed {
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
    if matches!(sender, sender::Sender::Seat(_) | sender::Sender::Gm { has_token: true, .. }) {
        signatures::note_signature(desk, waiting, from)?;
    }
    match sender {
        sender::Sender::Seat(row) if !proven || unproven::is_confirmed(desk, waiting, &row)? => {
            unproven::ask_player(desk, waiting, letter, &row, Doubt::Unsigned)
        }
        sender::Sender::Seat(row) => parts::rule_on_seat_letter(desk, waiting, letter, &row, None),
        sender::Sender::Gm { gm, has_token } => {
            let read = GmLetter::read(letter);
            if proven || !read.changes_something() {
                return letter::follow_gm_letter(desk, waiting, letter, gm, has_token, read);
            }
            signatures::tell_gm_of_unsigned(desk, waiting, gm)?;
            desk.decided(waiting, LetterStatus::Ignored, UNPROVEN.to_owned());
            Ok(())
        }
        sender::Sender::Stranger | sender::Sender::Unknown(_) | sender::Sender::GmImpostor => {
            stranger::answer_stranger(desk, waiting, letter, proven)
        }
    }
}
