//! The open seats, as GAMES and digests list them.

use super::meeting::{self, is_of_newcomer};
use super::offers::{is_new, offer_of};
use crate::club::member::number;
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, or_lacking};
use crate::referee::OpenOffer;
use crate::store::Invitation;

/// Maximum open seats in a digest; GAMES lists all.
const MAX_IN_DIGEST: usize = 5;

/// Returns the offers to anyone that were open when this transaction began, except those that rest.
pub fn open_seats(desk: &Desk<'_>, asker: &Asker) -> Decided<Vec<OpenOffer>> {
    let mut seats = Vec::new();
    for row in desk.rows.open_invitations()? {
        if row.invited.is_some() || row.lapses_at <= desk.at() {
            continue;
        }
        // Ask for all rows before giving up, so that one round loads them.
        seats.extend(or_lacking(open_seat(desk, asker, row))?.flatten());
    }
    desk.rows.check()?;
    Ok(seats)
}

/// Returns the open seats that a digest lists: those of other players who are not newcomers.
pub fn seats_for_digest(desk: &Desk<'_>, asker: &Asker) -> Decided<Vec<OpenOffer>> {
    let mut seats = Vec::new();
    for row in desk.rows.open_invitations()? {
        let is_listed = row.invited.is_none() && row.lapses_at > desk.at() && seats.len() < MAX_IN_DIGEST;
        if !is_listed || asker.is(&row.inviter) {
            continue;
        }
        if !is_new(desk, desk.player(&row.inviter)?.as_ref())? {
            seats.extend(open_seat(desk, asker, row)?);
        }
    }
    Ok(seats)
}

/// Returns an open seat as a letter lists it; `None` while it rests, or if the reader blocks its author. One whose
/// author blocks the reader is listed: otherwise the list would tell the reader of the block.
fn open_seat(desk: &Desk<'_>, asker: &Asker, row: &Invitation) -> Decided<Option<OpenOffer>> {
    let inviter = desk.player(&row.inviter)?;
    if let Some(inviter) = &inviter
        && desk.player(asker.address())?.is_some_and(|own| own.member.blocks(inviter.id))
    {
        return Ok(None);
    }
    let offer = offer_of(row)?;
    if let Some(inviter) = inviter.as_ref().filter(|_| offer.times.is_some())
        && meeting::is_at_limit(desk, inviter)?
    {
        return Ok(None);
    }
    // Strangers see only names, without numbers or reliability.
    let reads_names = meeting::reads_names(desk, asker)?;
    let shown = match inviter.as_ref().filter(|_| reads_names && !is_of_newcomer(row)) {
        Some(player) if player.member.public => format!("{} ({})", row.inviter_name, number(player.id)),
        _ => row.inviter_name.clone(),
    };
    let filed = match reads_names {
        true => meeting::describe_reliability(desk, inviter.map(|player| player.id), &row.inviter_name)?,
        false => String::new(),
    };
    let left = offer.times.map(|times| times.saturating_sub(row.taken));
    let mut offer = offer.summary(&desk.club.config.terms);
    offer.times = left;
    Ok(Some(OpenOffer {
        code: row.code.clone(),
        by: shown,
        filed,
        offer,
        lapses: desk.local_time_in(asker.zone, row.lapses_at),
    }))
}
