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
use crate::desk::outbox::gms;
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::game::Seat;
use crate::letter::Address;
use crate::referee::{ChangeReply, Confirmer, DispatchKind, Reply};
use crate::report::ClubLetter;
use crate::store::{
    ChangeKind, ChangeStage, LetterStatus, Player, PlayerChange, UnprovenLetter, UnprovenStage,
};

/// Returns the change with this code as this transaction leaves it so far, and its player.
pub fn change_under(desk: &Desk<'_>, code: &str) -> Decided<Option<(PlayerChange, Player)>> {
    let stored = desk.rows.change_under(code)?.cloned();
    let is_named = |row: &&PlayerChange| row.code == code || row.other_code == code;
    let saved = desk.added(|changes| &changes.player_changes).rfind(is_named).cloned();
    let Some(row) = saved.or(stored) else { return Ok(None) };
    // The address that was asked may have moved to another player in the meantime.
    let player = desk.player(&row.registered)?.filter(|player| player.id == row.player_id);
    Ok(player.map(|player| (row, player)))
}

/// Whether a letter is from an address of this player that is not new.
pub fn is_trusted(desk: &Desk<'_>, asker: &Asker, player: &Player) -> Decided<bool> {
    let sender = asker.sender.as_str();
    let is_own = player.addresses.iter().any(|own| own == sender);
    Ok(is_own && standing::new_until(desk, player.id, sender)?.is_none())
}

/// Advances the change whose question had this code. Returns `None` if that question did not go to the
/// sender.
pub fn confirm_change(desk: &mut Desk<'_>, asker: &Asker, written: &str) -> Decided<Option<ChangeReply>> {
    let code = in_code_letters(written);
    let Some((row, player)) = change_under(desk, &code)? else { return Ok(None) };
    // The code proves the sender, even if the letter is unsigned.
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
        // Leaving would change the match that this letter is about.
        ChangeKind::Leave if asker.has_token() => ChangeReply::AnswerApart,
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
        // The person who asked has one of the player's tokens, so all of them are renewed.
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

/// Confirms the letters under a code and queues them again, oldest first. With `always`, their address
/// becomes one of the player's once its owner has agreed.
///
/// The code was sent to the registered address alone, so it proves the sender. It also counts, once, from the
/// address that the letters came from: people get our letters at an alias and answer from the mailbox behind
/// it.
pub fn confirm_letters(desk: &mut Desk<'_>, asker: &Asker, code: &str, always: bool) -> Decided<Reply> {
    let code = in_code_letters(code);
    let (open, by) = open_for(desk, asker, &code)?;
    if always && by == Confirmer::Alias && !is_registered(desk, asker) {
        return Ok(Reply::RegisteredOnly { command: "CONFIRM ALWAYS", once: open.first().map(|_| code) });
    }
    let Some(address) = open.first().map(|row| row.address.clone()) else {
        return Ok(Reply::NothingToConfirm { code });
    };
    let letters = open.len();
    if by == Confirmer::Alias {
        tell_registered(desk, asker, &open)?;
    }
    for row in open {
        let note = match by {
            Confirmer::Player | Confirmer::Alias => "confirmed by the player".to_owned(),
            Confirmer::Gm => "confirmed by the GM".to_owned(),
        };
        desk.decided(row.letter, LetterStatus::Waiting, note);
        let stage = UnprovenStage::Confirmed;
        let confirmed = UnprovenLetter { stage, confirmed_by: Some(asker.letter), ..row };
        desk.draft.changes.unproven.push(confirmed);
    }
    let adds_address = always && by == Confirmer::Player;
    let change = if adds_address { Some(addresses::add_confirmed(desk, asker, &address)?) } else { None };
    Ok(Reply::LettersConfirmed { address, letters, by, change })
}

/// Discards the letters under a code, and renews the tokens of the seats that they were for.
pub fn deny_letters(desk: &mut Desk<'_>, asker: &Asker, code: &str) -> Decided<Reply> {
    let code = in_code_letters(code);
    let (open, by) = open_for(desk, asker, &code)?;
    if open.is_empty() || by == Confirmer::Alias {
        return Ok(Reply::NothingToConfirm { code });
    }
    let seats: BTreeSet<(String, Seat)> =
        open.iter().filter_map(|row| row.match_id.clone().zip(row.seat)).collect();
    for row in open {
        let denied = UnprovenLetter { stage: UnprovenStage::Denied, ..row };
        desk.draft.changes.unproven.push(denied);
    }
    if let Some(gm) = desk.club.gm_at(&asker.sender).filter(|_| by == Confirmer::Gm) {
        gms::renew_token(desk, gm)?;
    }
    let mut matches = Vec::new();
    for (match_id, seat) in seats {
        if holders::renew_token(desk, &match_id, seat, asker.player_id)? {
            matches.push(match_id);
        }
    }
    Ok(Reply::LettersDenied { matches })
}

/// Whether a letter is from an address of a player or a GM.
pub fn is_registered(desk: &Desk<'_>, asker: &Asker) -> bool {
    asker.player_id.is_some() || desk.club.is_gm(&asker.sender)
}

/// Whether a code is that of an open notice about letters, or of a question about a change, that the asker may
/// answer.
pub fn is_open_for(desk: &Desk<'_>, asker: &Asker, code: &str) -> Decided<bool> {
    let code = in_code_letters(code);
    if !open_for(desk, asker, &code)?.0.is_empty() {
        return Ok(true);
    }
    Ok(change_under(desk, &code)?.is_some_and(|(row, player)| {
        let sender = asker.sender.as_str();
        changes::is_open(desk, &row)
            && (row.address == sender || player.addresses.iter().any(|own| own == sender))
    }))
}

/// Returns the stored letters under a code that the asker can confirm, and in which role.
fn open_for(desk: &Desk<'_>, asker: &Asker, code: &str) -> Decided<(Vec<UnprovenLetter>, Confirmer)> {
    let own = open_under(desk, asker, code)?;
    if !own.is_empty() {
        return Ok((own, Confirmer::Player));
    }
    if let Some(gm) = desk.club.gm_at(&asker.sender) {
        let address = gms::gm(desk, gm).address.as_str();
        let under_code = desk.rows.unproven_under(code)?.iter();
        let of_gm = still_open(desk, under_code.filter(|row| row.gm.as_deref() == Some(address)));
        if !of_gm.is_empty() {
            return Ok((of_gm, Confirmer::Gm));
        }
    }
    // A registered player must not confirm for another, who may be the opponent.
    let from_alias = match asker.player_id {
        Some(_) => Vec::new(),
        None => open_from(desk, &asker.sender, code)?,
    };
    Ok((from_alias, Confirmer::Alias))
}

/// Returns the stored letters under a code that wait for the asker's confirmation.
fn open_under(desk: &Desk<'_>, asker: &Asker, code: &str) -> Decided<Vec<UnprovenLetter>> {
    let Some(id) = asker.player_id else { return Ok(Vec::new()) };
    let of_player = desk.rows.unproven_of(id)?.iter().filter(|row| row.code == code);
    Ok(still_open(desk, of_player))
}

/// Returns the stored letters in a player's name that wait under a code and came from this address, which
/// belongs to no player.
fn open_from(desk: &Desk<'_>, from: &Address, code: &str) -> Decided<Vec<UnprovenLetter>> {
    let from_there = desk.rows.unproven_under(code)?.iter();
    let from_there = from_there.filter(|row| row.player_id.is_some() && row.address == from.as_str());
    let open = still_open(desk, from_there);
    if open.is_empty() || desk.stored_player(from.as_str())?.is_some() {
        return Ok(Vec::new());
    }
    Ok(open)
}

/// Returns the letters that are open and have not been confirmed or denied in this transaction.
fn still_open<'r>(desk: &Desk<'_>, letters: impl Iterator<Item = &'r UnprovenLetter>) -> Vec<UnprovenLetter> {
    let is_answered = |row: &UnprovenLetter| {
        desk.added(|changes| &changes.unproven).any(|other| other.letter == row.letter)
    };
    let open = letters.filter(|row| row.stage == UnprovenStage::Open && !is_answered(row));
    open.cloned().collect()
}

/// Tells the registered address at once that letters were confirmed from the address that they came from.
fn tell_registered(desk: &mut Desk<'_>, asker: &Asker, open: &[UnprovenLetter]) -> Decided<()> {
    let Some(first) = open.first() else { return Ok(()) };
    let Some((match_id, seat)) = first.match_id.as_ref().zip(first.seat) else { return Ok(()) };
    let Some(loaded) = desk.game_match(match_id)? else { return Ok(()) };
    let holder = &loaded.seats[seat].player;
    if Some(holder.id) != first.player_id {
        return Ok(());
    }
    let player = desk.latest(holder.clone());
    let Some(registered) = standing::trusted_addresses(desk, &player)?.into_iter().next() else {
        return Ok(());
    };
    let matches: BTreeSet<String> = open.iter().filter_map(|row| row.match_id.clone()).collect();
    let letter = ClubLetter::ConfirmedFromAlias {
        address: first.address.clone(),
        letters: open.len(),
        matches: matches.into_iter().collect(),
    };
    let unique = format!("u.{}", &asker.letter.to_string()[..24]);
    let envelope = PlainEnvelope {
        name: &player.name,
        address: &registered,
        unique: &unique,
        kind: DispatchKind::Notice,
    };
    mail::send(desk, &letter, &envelope)
}
