//! Takes up offers: checks them again, and opens their matches.

use anyhow::Context as _;

use super::meeting::{self, is_of_newcomer};
use super::offers::{self, is_limited, offer_of, open_offer};
use super::openings::{self, Holder, NamedAddress, NewMatch};
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::{codes, standing};
use crate::desk::outbox::budgets::{self, NEWCOMERS_REACH};
use crate::game::{BySeat, Seat};
use crate::ledger::Cause;
use crate::letter::{Address, Digest};
use crate::referee::{Offer, OfferRejection, Reply, Stage};
use crate::store::{Invitation, InvitationStage, Player};

/// The addressee of an offer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    Asker,
    Anyone,
}

/// Takes up an offer: opens its match.
pub fn take_up(
    desk: &mut Desk<'_>,
    asker: &Asker,
    written: &str,
    audience: Audience,
) -> Decided<Result<Reply, OfferRejection>> {
    let code = codes::in_code_letters(written);
    let is_addressed = |row: &Invitation| match (&row.invited, audience) {
        (Some(invited), Audience::Asker) => asker.is(invited),
        (None, Audience::Anyone) => true,
        (Some(_), Audience::Anyone) | (None, Audience::Asker) => false,
    };
    let Some(row) = open_offer(desk, &code)?.filter(is_addressed) else {
        return Ok(Err(offers::no_such_code(desk, code, is_addressed)?));
    };
    if asker.is(&row.inviter) {
        return Ok(Err(OfferRejection::Yourself));
    }
    if let Some(why) = refuse_meeting(desk, asker, &row)? {
        return Ok(Err(why));
    }
    // Joining makes us write to the seat's owner, which counts towards the newcomer's daily limit of people
    // (`NEWCOMERS_REACH`).
    if row.invited.is_none() && is_limited(desk, asker)? {
        if budgets::reach_left(desk, asker.address())? == 0 {
            return Ok(Err(OfferRejection::NewcomerReach { most: NEWCOMERS_REACH }));
        }
        budgets::count_reach(desk, asker.address());
    }
    let (match_id, next_key) = open_offered(desk, asker, row)?;
    Ok(Ok(Reply::Joined { match_id, next_key }))
}

/// Opens the match of an offer that the asker takes up, and closes the offer, or counts another match of a
/// standing one. Returns the match, and the SHA-256 of the key of the next one.
fn open_offered(desk: &mut Desk<'_>, asker: &Asker, row: Invitation) -> Decided<(String, Option<Digest>)> {
    let offer = offer_of(&row)?;
    let mut lot = offer.lot.clone().context("an offer lacks its lot")?;
    if offer.seat.is_none() {
        lot = lot.draw_seat(asker.letter);
    }
    let seat = offer.seat.or(lot.seat).unwrap_or(Seat::First);
    // A newcomer's invitation shows the address, but the match shows a name made from it.
    let inviter_name = if is_of_newcomer(&row) { "" } else { &row.inviter_name };
    let inviter = new_holder(inviter_name, &row.inviter)?;
    let own = new_holder(&asker.name, asker.address())?;
    let new = NewMatch {
        game: offer.game,
        choices: offer.choices.clone(),
        players: match seat {
            Seat::First => BySeat::new(inviter, own),
            Seat::Second => BySeat::new(own, inviter),
        },
        terms: offer.terms(&desk.club.config.terms),
    };
    let game_match = openings::open_match(desk, &new, Cause::opening(Some(asker.letter)), Some(lot))?;
    // The code went to the invited address alone, so the asker reads mail there.
    if row.invited.is_some() {
        standing::note_known(desk, asker)?;
    }
    let next_key = keep_taken(desk, asker, row, &offer, game_match.id.clone())?;
    Ok((game_match.id, next_key))
}

/// Closes an offer. A standing one stays open and counts the match, and the seat that was taken gets a row of
/// its own; returns the SHA-256 of the key that it has from now on.
fn keep_taken(
    desk: &mut Desk<'_>,
    asker: &Asker,
    row: Invitation,
    offer: &Offer,
    match_id: String,
) -> Decided<Option<Digest>> {
    let (stage, match_id) = (InvitationStage::Taken, Some(match_id));
    let Some(times) = offer.times else {
        desk.draft.changes.invitations.push(Invitation { stage, match_id, ..row });
        return Ok(None);
    };
    let code = offers::free_code(desk)?;
    let seat =
        Invitation { code, stage, match_id, taken_from: Some(row.code.clone()), taken: 0, ..row.clone() };
    desk.draft.changes.invitations.push(seat);
    let taken = row.taken + 1;
    let stage = if taken < times { InvitationStage::Open } else { InvitationStage::Taken };
    // The key of this match will be revealed, so the next match needs another.
    let next = offers::with_lot(desk, offer, asker);
    let offer = serde_json::to_string(&next)?;
    desk.draft.changes.invitations.push(Invitation { stage, taken, offer, ..row });
    let key = next.lot.filter(|_| stage == InvitationStage::Open).map(|lot| lot.key.pin());
    Ok(key)
}

/// Returns why the asker cannot take up an offer, if its conditions or those of the two players rule that
/// out.
fn refuse_meeting(desk: &Desk<'_>, asker: &Asker, row: &Invitation) -> Decided<Option<OfferRejection>> {
    let inviter = desk.player(&row.inviter)?;
    if meeting::avoid_each_other(desk, asker, inviter.as_ref())? {
        return Ok(Some(OfferRejection::Unwilling { to: row.inviter_name.clone() }));
    }
    if row.invited.is_some() {
        return Ok(None);
    }
    let offer = offer_of(row)?;
    if let Some(percent) = offer.reliable {
        let own = meeting::reliability(desk, asker.player_id)?;
        if !own.meets(percent) {
            let says = own.sentence(&asker.name);
            return Ok(Some(OfferRejection::Unreliable { percent, says }));
        }
    }
    if offer.times.is_some() {
        return refuse_standing(desk, asker, row, inviter.as_ref());
    }
    Ok(None)
}

fn refuse_standing(
    desk: &Desk<'_>,
    asker: &Asker,
    row: &Invitation,
    inviter: Option<&Player>,
) -> Decided<Option<OfferRejection>> {
    if let Some(inviter) = inviter
        && meeting::is_at_limit(desk, inviter)?
    {
        return Ok(Some(OfferRejection::Resting { by: row.inviter_name.clone() }));
    }
    let seats = desk.rows.taken_from(&row.code)?.iter();
    let taken =
        desk.added(|changes| &changes.invitations).filter(|seat| seat.taken_from.as_ref() == Some(&row.code));
    let of_offer: Vec<&String> = seats.chain(taken).filter_map(|seat| seat.match_id.as_ref()).collect();
    let Some(id) = asker.player_id else { return Ok(None) };
    let opened =
        desk.added(|changes| &changes.seats).filter(|seat| seat.player_id == id).map(|seat| &seat.match_id);
    let running = desk.rows.matches_of(id)?.iter().filter(|(_, game_match)| game_match.stage != Stage::Over);
    let mut own = running.map(|(_, game_match)| &game_match.id).chain(opened);
    Ok(own.find(|id| of_offer.contains(id)).map(|id| OfferRejection::HasSeat { match_id: id.clone() }))
}

fn new_holder(name: &str, address: &str) -> anyhow::Result<Holder> {
    let address = Address::parse(address).context("a stored address cannot be parsed")?;
    Ok(Holder::Player(NamedAddress { name: name.to_owned(), address }))
}
