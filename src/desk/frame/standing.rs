//! The standing of an address: whether its owner is known, whether it was added so recently that it has fewer
//! rights, and whether its letters are signed.

use chrono::{DateTime, TimeDelta, Utc};

use super::asker::Asker;
use super::desk::{Desk, latest_rows};
use super::rows::Decided;
use crate::ledger::Signature;
use crate::letter::Address;
use crate::letter::authentic::SignatureFault;
use crate::post::dkim::DkimVerdict;
use crate::referee::ChangeReply;
use crate::store::{ChangeKind, ChangeStage, Player, PlayerChange, Standing, WaitingLetter};

/// Period in which an older address can undo a change, and in which a new one has fewer rights.
pub const UNDO: TimeDelta = TimeDelta::days(7);

/// Signed letters in a row after which an address is expected to go on signing.
pub const HABIT: u32 = 5;

/// Returns the standing of an address as this transaction leaves it so far.
pub fn standing(desk: &Desk<'_>, address: &str) -> Decided<Standing> {
    match desk.restraints().find_map(|changed| changed.standings.get(address)) {
        Some(standing) => Ok(*standing),
        None => Ok(desk.rows.sender(address)?.standing),
    }
}

/// Notes that the owner of an address reads our letters.
pub fn note_known(desk: &mut Desk<'_>, asker: &Asker) -> Decided<()> {
    let standing = standing(desk, &asker.from)?;
    // Write it only once: if the row changes, other items with this sender must be decided again.
    if standing.proven_at.is_none() {
        let standing = Standing { proven_at: Some(desk.at()), ..standing };
        desk.draft.changes.restraints.standings.insert(asker.from.clone(), standing);
    }
    Ok(())
}

/// Returns the changes of a player as this transaction leaves them so far.
pub fn changes_of(desk: &Desk<'_>, player_id: i64) -> Decided<Vec<PlayerChange>> {
    let changed = desk.added(|changes| &changes.player_changes).filter(|row| row.player_id == player_id);
    Ok(latest_rows(desk.rows.changes_of(player_id)?, changed, |row| &row.code))
}

/// Returns the time at which a player's address gets its full rights, or `None` if it has them.
pub fn new_until(desk: &Desk<'_>, player_id: i64, address: &str) -> Decided<Option<DateTime<Utc>>> {
    let changes = changes_of(desk, player_id)?;
    let added = |row: &&PlayerChange| {
        row.kind == ChangeKind::Add && row.stage == ChangeStage::Done && row.address == address
    };
    // The address may have been added, removed and added again.
    let until = changes.iter().filter(added).map(|row| row.changed_at + UNDO).max();
    Ok(until.filter(|until| *until > desk.at()))
}

/// Returns a player's addresses except those that were added a few days ago. Questions go to the first one.
pub fn trusted_addresses(desk: &Desk<'_>, player: &Player) -> Decided<Vec<String>> {
    let mut trusted = Vec::new();
    for address in &player.addresses {
        if new_until(desk, player.id, address)?.is_none() {
            trusted.push(address.clone());
        }
    }
    Ok(trusted)
}

/// Returns the reply to an address that is too new to do this.
pub fn refuse_new_address(
    desk: &Desk<'_>,
    player: &Player,
    sender: &Address,
    command: &'static str,
) -> Decided<Option<ChangeReply>> {
    let until = new_until(desk, player.id, sender.as_str())?;
    Ok(until
        .map(|until| ChangeReply::TooNew { command, until: desk.local_time_in(player.settings.zone, until) }))
}

/// Returns the known state of a letter's signature.
pub fn signature(desk: &Desk<'_>, waiting: &WaitingLetter) -> Option<Signature> {
    match desk.rows.loaded.dkim.get(&waiting.digest) {
        Some(DkimVerdict::Passed) => Some(Signature::Passed),
        // This includes letters that waited for the DNS in vain.
        Some(DkimVerdict::NotPassed(_) | DkimVerdict::TryLater) => Some(Signature::Missing),
        // The letter's signature was not checked.
        None => desk.club.config.letters.require_dkim.then_some(Signature::Missing),
    }
}

/// Returns the reason why a letter's signature is missing.
pub fn signature_fault(desk: &Desk<'_>, waiting: &WaitingLetter) -> SignatureFault {
    match desk.rows.loaded.dkim.get(&waiting.digest) {
        Some(DkimVerdict::NotPassed(fault)) => *fault,
        Some(DkimVerdict::TryLater) => SignatureFault::NoAnswer,
        Some(DkimVerdict::Passed) | None => SignatureFault::Missing,
    }
}

/// Saves how many letters in a row were signed, if the number has changed.
pub fn set_signed(desk: &mut Desk<'_>, from: &str, standing: Standing, signed: u32) {
    // Writing an equal row would cause other items with this sender to be decided again for nothing.
    if signed != standing.signed {
        let standing = Standing { signed, ..standing };
        desk.draft.changes.restraints.standings.insert(from.to_owned(), standing);
    }
}

/// Ends the signing habit of an address, because its owner says that an unsigned letter is theirs.
pub fn end_habit(desk: &mut Desk<'_>, from: &str) -> Decided<()> {
    let standing = standing(desk, from)?;
    set_signed(desk, from, standing, 0);
    Ok(())
}
