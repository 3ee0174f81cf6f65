//! Facts about two people who may play each other: blocks, names and numbers, and how reliably each files.

use crate::club::member::number;
use crate::club::reliability::Reliability;
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::referee::Stage;
use crate::store::{Invitation, Player};

/// Whether the asker or the other player blocks the other.
pub fn avoid_each_other(desk: &Desk<'_>, asker: &Asker, other: Option<&Player>) -> Decided<bool> {
    let (Some(own), Some(other)) = (desk.player(asker.address())?, other) else { return Ok(false) };
    Ok(own.member.blocks(other.id) || other.member.blocks(own.id))
}

/// Whether somebody may know other players: a GM registered them, or they finished a match against a person.
pub fn reads_names(desk: &Desk<'_>, asker: &Asker) -> Decided<bool> {
    let Some(own) = desk.player(asker.address())? else { return Ok(false) };
    if own.member.registered {
        return Ok(true);
    }
    Ok(desk.rows.matches_of(own.id)?.iter().any(|(seat, game_match)| {
        game_match.stage == Stage::Over && game_match.house[seat.other()].is_none()
    }))
}

/// Whether two people have a match with each other, over or not. `None` stands for somebody who is not a
/// player.
pub fn play_each_other(desk: &Desk<'_>, one: Option<i64>, other: Option<i64>) -> Decided<bool> {
    let (Some(one), Some(other)) = (one, other) else { return Ok(false) };
    let of_other = desk.rows.matches_of(other)?;
    let shared = |id: &str| of_other.iter().any(|(_, game_match)| game_match.id == id);
    Ok(desk.rows.matches_of(one)?.iter().any(|(_, game_match)| shared(&game_match.id)))
}

/// Whether an invitation is a newcomer's: it shows the address instead of a name.
pub fn is_of_newcomer(row: &Invitation) -> bool {
    row.inviter_name == row.inviter
}

/// Returns how an invitation names its author: with the number, unless the author is a newcomer.
pub fn shown_to(asker: &Asker, row: &Invitation) -> String {
    match asker.player_id.filter(|_| !is_of_newcomer(row)) {
        Some(id) => format!("{} ({})", row.inviter_name, number(id)),
        None => row.inviter_name.clone(),
    }
}

/// Returns a sentence about how reliably a player files, whom the reader knows by this name.
pub fn describe_reliability(desk: &Desk<'_>, player_id: Option<i64>, name: &str) -> Decided<String> {
    Ok(reliability(desk, player_id)?.sentence(name))
}

pub fn reliability(desk: &Desk<'_>, player_id: Option<i64>) -> Decided<Reliability> {
    match player_id {
        Some(id) => desk.rows.reliability(id),
        None => Ok(Reliability::default()),
    }
}

/// Whether a player plays as many matches as they want.
pub fn is_at_limit(desk: &Desk<'_>, player: &Player) -> Decided<bool> {
    let Some(limit) = player.member.limit else { return Ok(false) };
    let running =
        desk.rows.matches_of(player.id)?.iter().filter(|(_, game_match)| game_match.stage != Stage::Over);
    // Matches that open in this transaction are not stored yet.
    let opened = desk.added(|changes| &changes.seats).filter(|row| row.player_id == player.id);
    Ok(running.count() + opened.count() >= usize::try_from(limit).unwrap_or(usize::MAX))
}
