//! Decides on one letter, after identifying its sender.

use anyhow::Context as _;

use super::sender::{ReadLetter, Sender, sender_of};
use super::unproven::{self, ProofDoubt};
use super::{automatic, gm_unproven, relayed, signatures, stranger, unreadable};
use crate::config::GmIndex;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::standing;
use crate::desk::gm::letter::{self, GmLetter};
use crate::desk::gm::restored;
use crate::desk::people::commands;
use crate::desk::seat::parts;
use crate::letter::Letter;
use crate::store::{LetterStatus, TokenRow, WaitingLetter};

/// The note on a letter from somebody whom the GM has blocked.
const BLOCKED: &str = "from a blocked person";

/// Decides on one letter.
pub fn decide_letter(desk: &mut Desk<'_>, letter: &ReadLetter) -> Decided<()> {
    let waiting = &letter.waiting;
    let letter = match letter.read.as_ref().context("failed to read the letter")? {
        Ok(letter) => letter,
        Err(unreadable) => return unreadable::answer_unreadable(desk, unreadable),
    };
    let (sender, doubt) = match &letter.automatic {
        None => (sender_of(desk, letter)?, ProofDoubt::Address),
        Some(automatic) if automatic.may_be_relayed() => {
            if relayed::follow_code(desk, letter)? {
                return Ok(());
            }
            match relayed::sender_behind(desk, letter)? {
                Some(sender) => (sender, ProofDoubt::Relayed),
                None => return automatic::record_automatic(desk, letter, automatic),
            }
        }
        Some(automatic) => return automatic::record_automatic(desk, letter, automatic),
    };
    let is_gm = matches!(sender, Sender::Gm { .. });
    if !is_gm && standing::standing(desk, letter.from.as_str())?.blocked_since.is_some() {
        desk.decided(waiting.digest, LetterStatus::Ignored, BLOCKED.to_owned());
        return Ok(());
    }
    if let Sender::GmImpostor(gm) = sender {
        return match gm_unproven::is_confirmed(desk, waiting, gm)? {
            true => follow_late(desk, waiting, letter, gm),
            false => gm_unproven::ask_gm(desk, waiting, letter, gm, doubt),
        };
    }
    if let Sender::Unknown(row) = &sender {
        return confirm_alias_or_ask_player(desk, waiting, letter, row, doubt);
    }
    let from = letter.from.as_str();
    // Check this last: an unknown or blocked sender gets no answer, signed or not.
    let waits = signatures::waits_for_signature(desk, waiting);
    let proven = signatures::is_proven(desk, waiting, from)?;
    // The code of one of our letters to the sender proves more than a signature. It counts in an answer to any
    // letter of ours: people answer the one that lies on top.
    let bears_code = (waits || !proven) && !is_gm && commands::bears_open_code(desk, letter)?;
    if bears_code {
        return stranger::answer_stranger(desk, waiting, letter, false);
    }
    if waits {
        return signatures::postpone(desk, waiting, &sender);
    }
    // Anybody can write in the GM's name without a token.
    if matches!(sender, Sender::Seat(_) | Sender::Gm { has_token: true, .. }) {
        signatures::note_signature(desk, waiting, from)?;
    }
    match sender {
        Sender::Seat(row) if !proven || unproven::is_confirmed(desk, waiting, &row)? => {
            unproven::ask_player(desk, waiting, letter, &row, ProofDoubt::Unsigned)
        }
        Sender::Seat(row) => parts::decide_seat_letter(desk, waiting, letter, &row, None),
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
            gm_unproven::ask_gm(desk, waiting, letter, gm, ProofDoubt::Unsigned)
        }
        Sender::Stranger if restored::note_lost(desk, waiting, letter)? => Ok(()),
        Sender::Stranger | Sender::Unknown(_) | Sender::GmImpostor(_) => match words_of_gm(desk, letter)? {
            Some((gm, read)) => letter::follow_gm_letter(desk, letter, gm, false, read),
            None => stranger::answer_stranger(desk, waiting, letter, proven),
        },
    }
}

/// Returns a new letter of words alone from the address of a GM who is no player.
fn words_of_gm(desk: &Desk<'_>, letter: &Letter) -> Decided<Option<(GmIndex, GmLetter)>> {
    let Some(gm) = desk.club.gm_at(&letter.from) else { return Ok(None) };
    let read = GmLetter::read(letter, None);
    let is_player = desk.player(letter.from.as_str())?.is_some();
    Ok((!is_player && read.is_only_words()).then_some((gm, read)))
}

/// Follows a CONFIRM from an address that is not the player's, if it has the code of a letter of ours to its
/// sender, or of the notice about that address. Otherwise asks the player.
fn confirm_alias_or_ask_player(
    desk: &mut Desk<'_>,
    waiting: &WaitingLetter,
    letter: &Letter,
    row: &TokenRow,
    doubt: ProofDoubt,
) -> Decided<()> {
    if doubt != ProofDoubt::Relayed && commands::bears_open_code(desk, letter)? {
        let proven = signatures::is_proven(desk, waiting, letter.from.as_str())?;
        return stranger::answer_stranger(desk, waiting, letter, proven);
    }
    unproven::ask_player(desk, waiting, letter, row, doubt)
}

/// Follows a letter that the GM has confirmed, as of its arrival.
fn follow_late(desk: &mut Desk<'_>, waiting: &WaitingLetter, letter: &Letter, gm: GmIndex) -> Decided<()> {
    let read = GmLetter::read(letter, Some(waiting.received_at));
    letter::follow_gm_letter(desk, letter, gm, true, read)
}
