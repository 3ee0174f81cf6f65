//! Decides on one letter, after identifying its sender.

use anyhow::Context as _;
use chrono::TimeDelta;

use super::sender::{ReadLetter, Sender, sender_of};
use super::unproven::{self, Doubt};
use super::{automatic, gm_unproven, signatures, stranger, unreadable};
use crate::config::GmIndex;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::standing;
use crate::desk::gm::letter::{self, GmLetter};
use crate::desk::people::confirm;
use crate::desk::seat::parts;
use crate::letter::Letter;
use crate::request::{Request, lines_of};
use crate::store::{LetterStatus, Postponed, TokenRow, WaitingLetter};

/// The note on a letter from somebody whom the GM has blocked.
const BLOCKED: &str = "from a blocked person";

/// Delay before the next DNS query after one that failed.
const DKIM_RETRY: TimeDelta = TimeDelta::minutes(15);

/// Decides on one letter.
pub fn decide_letter(desk: &mut Desk<'_>, letter: &ReadLetter) -> Decided<()> {
    let waiting = &letter.waiting;
    let letter = match letter.read.as_ref().context("reading the letter failed")? {
        Ok(letter) => letter,
        Err(unreadable) => return unreadable::answer_unreadable(desk, unreadable),
    };
    if let Some(automatic) = &letter.automatic {
        return automatic::put_by_automatic(desk, letter, automatic);
    }
    let sender = sender_of(desk, letter)?;
    let is_gm = matches!(sender, Sender::Gm { .. });
    if !is_gm && standing::standing(desk, letter.from.as_str())?.blocked_since.is_some() {
        desk.decided(waiting.digest, LetterStatus::Ignored, BLOCKED.to_owned());
        return Ok(());
    }
    if let Sender::GmImpostor(gm) = sender {
        return match gm_unproven::is_confirmed(desk, waiting, gm)? {
            true => follow_late(desk, waiting, letter, gm),
            false => gm_unproven::ask_gm(desk, waiting, letter, gm, Doubt::Address),
        };
    }
    if let Sender::Unknown(row) = &sender {
        return hear_alias(desk, waiting, letter, row);
    }
    // Check this last: an unknown or blocked sender gets no answer, signed or not.
    if signatures::waits_for_signature(desk, waiting) {
        let match_id = match sender {
            Sender::Seat(row) => Some(row.match_id),
            Sender::Gm { .. } | Sender::Stranger | Sender::Unknown(_) | Sender::GmImpostor(_) => None,
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
    if matches!(sender, Sender::Seat(_) | Sender::Gm { has_token: true, .. }) {
        signatures::note_signature(desk, waiting, from)?;
    }
    match sender {
        Sender::Seat(row) if !proven || unproven::is_confirmed(desk, waiting, &row)? => {
            unproven::ask_player(desk, waiting, letter, &row, Doubt::Unsigned)
        }
        Sender::Seat(row) => parts::rule_on_seat_letter(desk, waiting, letter, &row, None),
        Sender::Gm { gm, .. } if gm_unproven::is_confirmed(desk, waiting, gm)? => {
            if !proven {
                standing::end_habit(desk, from)?;
            }
            follow_late(desk, waiting, letter, gm)
        }
        Sender::Gm { gm, has_token } => {
            let read = GmLetter::read(letter, waiting.accepted_by.as_ref().map(|_| waiting.received_at));
            if proven || !read.changes_something() {
                return letter::follow_gm_letter(desk, letter, gm, has_token, read);
            }
            gm_unproven::ask_gm(desk, waiting, letter, gm, Doubt::Unsigned)
        }
        Sender::Stranger | Sender::Unknown(_) | Sender::GmImpostor(_) => {
            stranger::answer_stranger(desk, waiting, letter, proven)
        }
    }
}

/// Follows a CONFIRM from an address that is not the player's, if it has the code of the notice about that
/// address. Otherwise asks the player.
fn hear_alias(desk: &mut Desk<'_>, waiting: &WaitingLetter, letter: &Letter, row: &TokenRow) -> Decided<()> {
    let request = Request::read(&lines_of(letter.new_text(None)), |_: &str| false);
    if confirm::bears_code_for_own_letters(desk, &letter.from, &request)? {
        let proven = signatures::is_proven(desk, waiting, letter.from.as_str())?;
        return stranger::answer_stranger(desk, waiting, letter, proven);
    }
    unproven::ask_player(desk, waiting, letter, row, Doubt::Address)
}

/// Follows a letter that the GM has confirmed, as of its arrival.
fn follow_late(desk: &mut Desk<'_>, waiting: &WaitingLetter, letter: &Letter, gm: GmIndex) -> Decided<()> {
    let read = GmLetter::read(letter, Some(waiting.received_at));
    letter::follow_gm_letter(desk, letter, gm, true, read)
}
