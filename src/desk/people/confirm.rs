//! CONFIRM and DENY, with the code of one of our letters. They decide on a change that the player asked for
//! (an address, or leaving), and on letters that were not proven to be from the player.

use std::collections::BTreeSet;

use super::{addresses, changes, leaving};
use crate::desk::frame::asker::Asker;
use crate::desk::frame::codes::in_code_letters;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::standing;
use crate::desk::matches::holders;
use crate::game::Seat;
use crate::referee::{ChangeReply, Reply};
use crate::store::{
    ChangeKind, ChangeStage, LetterDecision, LetterStatus, Player, PlayerChange, UnprovenLetter,
    UnprovenStage,
};

/// Returns the change with this code as this transaction leaves it so far, and its player.
pub fn change_under(desk: &mut Desk<'_>, code: &str) -> Decided<Option<(PlayerChange, Player)>> {
    let stored = desk.rows.change_under(code)?.cloned();
    let is_named = |row: &&PlayerChange| row.code == code || row.other_code == code;
    let saved = desk.added(|changes| &changes.player_changes).rfind(is_named).cloned();
    let Some(row) = saved.or(stored) else { return Ok(None) };
    // The address that was asked may have moved to another player since.
    let player = desk.player(&row.registered)?.filter(|player| player.id == row.player_id);
    Ok(player.map(|player| (row, player)))
}

/// Whether a letter is from an address of this player that is not new.
pub fn is_trusted(desk: &Desk<'_>, asker: &Asker, player: &Player) -> Decided<bool> {
    let sender = asker.sender.as_str();
    let is_own = player.addresses.iter().any(|own| own == sender);
    Ok(is_own && standing::new_until(desk, player.id, sender)?.is_none())
}

/// Advances the change that this code asked about. Returns `None` if the sender was not asked under this
/// code.
pub fn confirm_change(desk: &mut Desk<'_>, asker: &Asker, written: &str) -> Decided<Option<ChangeReply>> {
    let code = in_code_letters(written);
    let Some((row, player)) = change_under(desk, &code)? else { return Ok(None) };
    // The code proves the sender, signed or not.
    if !changes::is_open(desk, &row) {
        return Ok(None);
    }
    if row.code != code {
        let is_new_one = row.kind == ChangeKind::Add && asker.sender.as_str() == row.address;
        if is_new_one && row.stage == ChangeStage::Agreed {
            return Ok(Some(addresses::add_address(desk, asker, row, player)?));
        }
        return Ok(None);
    }
    if row.stage != ChangeStage::Asked || !player.addresses.iter().any(|own| own == asker.sender.as_str()) {
        return Ok(None);
    }
    if let Some(refused) = standing::refuse_new_address(desk, &player, &asker.sender, "CONFIRM")? {
        return Ok(Some(refused));
    }
    Ok(Some(match row.kind {
        ChangeKind::Add => addresses::agree_to_add(desk, asker, row, &player)?,
        ChangeKind::Remove => addresses::remove_address(desk, row, player)?,
        // It changes the match that this letter is about.
        ChangeKind::Leave if asker.has_token => ChangeReply::AnswerApart,
        ChangeKind::Leave => leaving::leave(desk, asker, row, &player)?,
    }))
}

/// Discards or undoes the change under this code. Returns `None` if the sender may do neither.
pub fn deny_change(desk: &mut Desk<'_>, asker: &Asker, written: &str) -> Decided<Option<ChangeReply>> {
    let code = in_code_letters(written);
    let Some((row, player)) = change_under(desk, &code)? else { return Ok(None) };
    let is_old_one = row.code == code && is_trusted(desk, asker, &player)?;
    let is_concerned = row.other_code == code && asker.sender.as_str() == row.address;
    if !is_old_one && !is_concerned {
        return Ok(None);
    }
    if changes::is_open(desk, &row) {
        let asked_with_token = row.with_token;
        changes::set_stage(desk, row, ChangeStage::Denied);
        // Whoever asked has a token of the player's.
        if is_old_one && asked_with_token {
            changes::renew_tokens_of(desk, &player)?;
        }
        return Ok(Some(ChangeReply::Denied));
    }
    let can_undo = row.stage == ChangeStage::Done && row.changed_at + standing::UNDO > desk.at();
    match row.kind {
        ChangeKind::Add if can_undo && is_old_one => addresses::undo_addition(desk, row, player).map(Some),
        ChangeKind::Remove if can_undo && is_concerned => {
            addresses::undo_removal(desk, row, player).map(Some)
        }
        ChangeKind::Add | ChangeKind::Remove | ChangeKind::Leave => Ok(None),
    }
}

/// Confirms the letters under a code: they wait again, oldest first. With `always`, their address becomes one
/// of the player's once its owner has agreed.
///
/// The code was sent to the registered address alone, so it proves the sender.
pub fn confirm_letters(desk: &mut Desk<'_>, asker: &Asker, code: &str, always: bool) -> Decided<Reply> {
    let code = in_code_letters(code);
    let open = open_under(desk, asker, &code)?;
    let Some(address) = open.first().map(|row| row.address.clone()) else {
        return Ok(Reply::NothingToConfirm { code });
    };
    let letters = open.len();
    for row in open {
        let note = "confirmed by the player".to_owned();
        let decision = LetterDecision {
            digest: row.letter,
            status: LetterStatus::Waiting,
            note,
            seat: None,
            accepted_by: None,
        };
        desk.draft.changes.decided.push(decision);
        let stage = UnprovenStage::Confirmed;
        let confirmed = UnprovenLetter { stage, confirmed_by: Some(asker.letter), ..row };
        desk.draft.changes.unproven.push(confirmed);
    }
    let change = if always { Some(addresses::add_confirmed(desk, asker, &address)?) } else { None };
    Ok(Reply::LettersConfirmed { address, letters, change })
}

/// Discards the letters under a code, and renews the tokens of the seats that they were for.
pub fn deny_letters(desk: &mut Desk<'_>, asker: &Asker, code: &str) -> Decided<Reply> {
    let code = in_code_letters(code);
    let open = open_under(desk, asker, &code)?;
    if open.is_empty() {
        return Ok(Reply::NothingToConfirm { code });
    }
    let seats: BTreeSet<(String, Seat)> = open.iter().map(|row| (row.match_id.clone(), row.seat)).collect();
    for row in open {
        let denied = UnprovenLetter { stage: UnprovenStage::Denied, ..row };
        desk.draft.changes.unproven.push(denied);
    }
    let mut matches = Vec::new();
    for (match_id, seat) in seats {
        if holders::renew_token(desk, &match_id, seat, asker.player_id)? {
            matches.push(match_id);
        }
    }
    Ok(Reply::LettersDenied { matches })
}

/// Returns the stored letters that wait for the asker's word under a code.
pub fn open_under(desk: &mut Desk<'_>, asker: &Asker, code: &str) -> Decided<Vec<UnprovenLetter>> {
    let Some(id) = asker.player_id else { return Ok(Vec::new()) };
    let mut open = desk.rows.unproven_of(id)?.to_vec();
    open.retain(|row| row.stage == UnprovenStage::Open && row.code == code);
    // A letter of this transaction may have answered already.
    let is_answered = |row: &UnprovenLetter| {
        desk.added(|changes| &changes.unproven).any(|other| other.letter == row.letter)
    };
    open.retain(|row| !is_answered(row));
    Ok(open)
}
