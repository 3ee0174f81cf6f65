//! Letters taken for automatic mail. They act for nobody. If a person may have written one, they are asked
//! about it, once a day.

use super::sender::{Sender, sender_of};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::standing;
use crate::desk::outbox::gms;
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::desk::outbox::returned::{self, reports_failure};
use crate::desk::people::commands;
use crate::letter::{Automatic, Certainty, Letter, Token};
use crate::referee::{DispatchKind, may_tell_of_play};
use crate::report::ClubLetter;
use crate::report::envelope::AnsweredLetter;
use crate::store::{LetterStatus, TokenRow};

/// Records a letter that was taken for automatic mail, and marks the seats that it is about.
pub fn record_automatic(desk: &mut Desk<'_>, letter: &Letter, automatic: &Automatic) -> Decided<()> {
    let writer = possible_writer(desk, letter, automatic)?;
    // A genuine bounce does not come from the address that failed. If this one does, a person wrote about it.
    let is_matched = (writer.is_none() || reports_failure(automatic) != Some(true))
        && returned::note_automatic(desk, automatic)?;
    if let Some(sender) = &writer
        && !is_blocked(desk, letter, sender)?
    {
        ask_writer(desk, letter, sender)?;
    }
    let mut note = note_on_automatic(desk, automatic, &letter.tokens)?;
    if is_matched {
        note.insert_str(0, returned::MATCHED_NOTE);
    }
    desk.decided(letter.digest, LetterStatus::Automatic, note);
    Ok(())
}

/// Returns why a letter was taken for automatic mail, and its first line. That line is left out if it may
/// reveal a position, or if a GM plays in the match.
pub fn note_on_automatic(desk: &Desk<'_>, automatic: &Automatic, tokens: &[Token]) -> Decided<String> {
    let reason = automatic.to_string();
    let line = automatic.first_line.as_ref().filter(|line| !may_tell_of_play(line));
    let Some(line) = line else { return Ok(reason) };
    for token in tokens {
        if let Some(row) = desk.rows.seat_by_token(token.as_str())?
            && has_gm_seated(desk, &row.match_id)?
        {
            return Ok(reason);
        }
    }
    Ok(format!("{reason}; it begins: {line}"))
}

/// Returns the seat, the GM or the player who may have written the letter, if it is merely suspicious and
/// comes from their address. A marked letter is never answered.
fn possible_writer(desk: &Desk<'_>, letter: &Letter, automatic: &Automatic) -> Decided<Option<Sender>> {
    match automatic.certainty() {
        Certainty::Marked => return Ok(None),
        Certainty::Relayed | Certainty::Suspected => {}
    }
    Ok(match sender_of(desk, letter)? {
        sender @ (Sender::Seat(_) | Sender::Gm { has_token: true, .. }) => Some(sender),
        Sender::Gm { has_token: false, .. } | Sender::Unknown(_) | Sender::GmImpostor(_) => None,
        stranger @ Sender::Stranger => desk.stored_player(letter.from.as_str())?.map(|_| stranger),
    })
}

/// Whether the GM has blocked the possible writer.
fn is_blocked(desk: &Desk<'_>, letter: &Letter, writer: &Sender) -> Decided<bool> {
    let is_gm = matches!(writer, Sender::Gm { .. });
    Ok(!is_gm && standing::standing(desk, letter.from.as_str())?.blocked_since.is_some())
}

/// Tells the possible writer that nothing was done. The note goes out only once a day, so this cannot become
/// a mail loop between two machines.
fn ask_writer(desk: &mut Desk<'_>, letter: &Letter, writer: &Sender) -> Decided<()> {
    let day = desk.at().date_naive();
    let player = desk.stored_player(letter.from.as_str())?;
    let (token, unique, match_id, name) = match writer {
        Sender::Seat(TokenRow { token, match_id, seat, player, .. }) => {
            let unique = format!("w.{}.{seat}.{day}", match_id.to_lowercase());
            (token.as_str(), unique, Some(match_id.clone()), player.name.as_str())
        }
        Sender::Gm { gm, .. } => {
            (gms::token_of_gm(desk, *gm), format!("w.gm.{day}"), None, gms::gm(desk, *gm).name.as_str())
        }
        Sender::Stranger => {
            let Some(player) = &player else { return Ok(()) };
            ("", format!("w.p.{}.{day}", player.id), None, player.name.as_str())
        }
        Sender::Unknown(_) | Sender::GmImpostor(_) => return Ok(()),
    };
    let matches = match &player {
        Some(player) if token.is_empty() => {
            commands::matches_of(desk, Some(player.id), player.settings.zone)?
        }
        Some(_) | None => Vec::new(),
    };
    let message_id = desk.club.stationery.message_id(token, &unique);
    if desk.is_dispatched(&message_id)? {
        return Ok(());
    }
    let page = mail::word_club_letter(desk, &ClubLetter::Suspected { match_id, matches }, token)?;
    let page = mail::as_reader_wants(desk, page, letter.from.as_str())?;
    let to =
        PlainEnvelope { name, address: letter.from.as_str(), unique: &unique, kind: DispatchKind::Answer };
    let dispatch = mail::assemble_once(desk, page, token, &to, &AnsweredLetter::new(letter))?;
    desk.draft.changes.dispatches.push(dispatch);
    Ok(())
}

/// Whether a GM plays in a match.
fn has_gm_seated(desk: &Desk<'_>, match_id: &str) -> Decided<bool> {
    let Some(loaded) = desk.game_match(match_id)? else { return Ok(false) };
    Ok(desk.club.config.club.gm.all().iter().any(|gm| gms::is_seated(gm, &loaded.seats)))
}
