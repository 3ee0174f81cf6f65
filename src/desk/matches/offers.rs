//! Offers to play: made, taken up, declined, lapsed.

use anyhow::Context as _;
use chrono::TimeDelta;

use super::openings::{self, Holder, NamedAddress, NewMatch};
use crate::config::Membership;
use crate::desk::frame::asker::Asker;
use crate::desk::frame::codes::{self, CODE_LETTERS};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::random::Random;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::standing;
use crate::desk::outbox::budgets::{self, NEWCOMERS_REACH, Origin};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::game::{BySeat, Seat};
use crate::ledger::{Cause, Lot, SealKey};
use crate::letter::Address;
use crate::referee::{DispatchKind, MatchOverview, Offer, OfferRejection, Reply};
use crate::report::ClubLetter;
use crate::store::{Invitation, InvitationStage, NewDispatch, Standing};

/// Days for which an offer stands.
const OFFER_DAYS: i64 = 14;

/// Maximum open offers of one address.
const MAX_OFFERS: usize = 10;

/// The addressee of an offer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    Asker,
    Anyone,
}

/// The name and address of somebody who is challenged.
struct Invited {
    name: String,
    address: String,
    player_id: Option<i64>,
}

/// Makes an offer to `opponent`, or to anyone.
pub fn make_offer(
    desk: &mut Desk<'_>,
    asker: &Asker,
    opponent: Option<&Address>,
    offer: Result<Offer, OfferRejection>,
) -> Decided<Result<Reply, OfferRejection>> {
    let offer = match offer {
        Ok(offer) if asker.proven => offer,
        Ok(_) => return Ok(Err(OfferRejection::Unproven)),
        Err(why) => return Ok(Err(why)),
    };
    let invited = match opponent {
        Some(address) => Some(invited(desk, address)?),
        None => None,
    };
    let to_referee = opponent.is_some_and(|address| address.base() == desk.club.config.club.address);
    if to_referee || invited.as_ref().is_some_and(|invited| asker.is(&invited.address)) {
        return Ok(Err(OfferRejection::Yourself));
    }
    match invited {
        Some(invited) => challenge(desk, asker, invited, &offer),
        None => open_seat(desk, asker, &offer),
    }
}

/// Stops challenges to the asker, and declines the one with this code. Without a token only a code shows that
/// the asker reads letters to that address.
pub fn refuse_challenges(
    desk: &mut Desk<'_>,
    asker: &Asker,
    written: Option<&str>,
) -> Decided<Result<Reply, OfferRejection>> {
    match written.map(codes::in_code_letters) {
        Some(code) => {
            let row = latest_invitation(desk, &code)?;
            let to_asker = |row: &Invitation| row.invited.as_deref().is_some_and(|to| asker.is(to));
            let Some(row) = row.filter(to_asker) else {
                return Ok(Err(OfferRejection::NoSuchCode { code }));
            };
            if row.stage == InvitationStage::Open {
                // Fails only if the invitation has just lapsed.
                let _declined_or_lapsed = decline(desk, asker, &code)?;
            }
        }
        None if !asker.is_known => return Ok(Ok(Reply::NeverWithoutCode)),
        None => {}
    }
    set_willing(desk, asker, false)
}

pub fn set_willing(desk: &mut Desk<'_>, asker: &Asker, on: bool) -> Decided<Result<Reply, OfferRejection>> {
    if !asker.proven {
        return Ok(Err(OfferRejection::Unproven));
    }
    let address = asker.address();
    let unwilling_since = (!on).then(|| desk.at());
    let standing = Standing { unwilling_since, ..standing::standing(desk, address)? };
    desk.draft.changes.restraints.standings.insert(address.to_owned(), standing);
    Ok(Ok(Reply::Challenges { on }))
}

pub fn open_offers_of(desk: &mut Desk<'_>, asker: &Asker) -> Decided<Vec<Invitation>> {
    let mut open = open_offers(desk)?;
    open.retain(|row| asker.is(&row.inviter));
    Ok(open)
}

/// Returns the offer with this code, if this transaction leaves it open so far.
pub fn open_offer(desk: &mut Desk<'_>, code: &str) -> Decided<Option<Invitation>> {
    let row = latest_invitation(desk, code)?;
    Ok(row.filter(|row| row.stage == InvitationStage::Open && row.lapses_at > desk.at()))
}

/// Takes up an offer: opens its match.
pub fn take_up(
    desk: &mut Desk<'_>,
    asker: &Asker,
    written: &str,
    audience: Audience,
) -> Decided<Result<Reply, OfferRejection>> {
    if !asker.proven {
        return Ok(Err(OfferRejection::Unproven));
    }
    let code = codes::in_code_letters(written);
    let row = open_offer(desk, &code)?.filter(|row| match (&row.invited, audience) {
        (Some(invited), Audience::Asker) => asker.is(invited),
        (None, Audience::Anyone) => true,
        (Some(_), Audience::Anyone) | (None, Audience::Asker) => false,
    });
    let Some(row) = row else { return Ok(Err(OfferRejection::NoSuchCode { code })) };
    if asker.is(&row.inviter) {
        return Ok(Err(OfferRejection::Yourself));
    }
    // An open seat's owner is one of the few to whom a newcomer can make the referee write.
    if row.invited.is_none() && is_limited(desk, asker)? {
        if budgets::reach_left(desk, asker.address())? == 0 {
            return Ok(Err(OfferRejection::NewcomerReach { most: NEWCOMERS_REACH }));
        }
        budgets::count_reach(desk, asker.address());
    }
    let offer = offer_of(&row)?;
    let mut lot = offer.lot.clone().context("an offer without a lot")?;
    if offer.seat.is_none() {
        lot = lot.draw_seat(asker.letter);
    }
    let seat = offer.seat.or(lot.seat).unwrap_or(Seat::First);
    // A newcomer's invitation shows the address; the match, a name made from it.
    let inviter_name = if is_of_newcomer(&row) { "" } else { &row.inviter_name };
    let inviter = seated(inviter_name, &row.inviter)?;
    let own = seated(&asker.name, asker.address())?;
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
    let taken = InvitationStage::Taken;
    // The code went to the invited address alone, so whoever has it reads mail there.
    if row.invited.is_some() {
        standing::note_known(desk, asker)?;
    }
    let row = Invitation { stage: taken, match_id: Some(game_match.id.clone()), ..row };
    desk.draft.changes.invitations.push(row);
    Ok(Ok(Reply::Joined { match_id: game_match.id }))
}

/// Declines an offer for its addressee, or withdraws it for its author.
pub fn decline(desk: &mut Desk<'_>, asker: &Asker, written: &str) -> Decided<Result<Reply, OfferRejection>> {
    if !asker.proven {
        return Ok(Err(OfferRejection::Unproven));
    }
    let code = codes::in_code_letters(written);
    let to_asker = |row: &Invitation| row.invited.as_deref().is_some_and(|invited| asker.is(invited));
    let row = open_offer(desk, &code)?.filter(|row| to_asker(row) || asker.is(&row.inviter));
    let Some(row) = row else { return Ok(Err(OfferRejection::NoSuchCode { code })) };
    if to_asker(&row) {
        standing::note_known(desk, asker)?;
        let offer = offer_of(&row)?.summary(&desk.club.config.terms);
        let dispatch = tell_inviter(desk, &row, &ClubLetter::Declined { to: asker.name.clone(), offer })?;
        desk.draft.changes.dispatches.push(dispatch);
    }
    let declined = Invitation { stage: InvitationStage::Declined, ..row };
    desk.draft.changes.invitations.push(declined);
    Ok(Ok(Reply::Declined { code }))
}

/// Closes an expired offer, and tells its author.
pub fn lapse_offer(desk: &mut Desk<'_>, row: &Invitation) -> Decided<()> {
    let plain = ClubLetter::Lapsed {
        to: row.invited.clone(),
        offer: offer_of(row)?.summary(&desk.club.config.terms),
        code: row.code.clone(),
    };
    let dispatch = tell_inviter(desk, row, &plain)?;
    desk.draft.changes.dispatches.push(dispatch);
    let lapsed = Invitation { stage: InvitationStage::Lapsed, ..row.clone() };
    desk.draft.changes.invitations.push(lapsed);
    Ok(())
}

/// Returns the offer in an invitation's row.
///
/// # Errors
/// Returns an error if the offer cannot be read.
pub fn offer_of(row: &Invitation) -> anyhow::Result<Offer> {
    let offer: Offer = serde_json::from_str(&row.offer).with_context(|| format!("the offer {}", row.code))?;
    debug_assert_eq!(row.game, offer.game);
    Ok(offer)
}

/// Offers a seat to anyone.
fn open_seat(desk: &mut Desk<'_>, asker: &Asker, offer: &Offer) -> Decided<Result<Reply, OfferRejection>> {
    let own = open_offers_of(desk, asker)?;
    if let Some(same) = own.iter().find(|row| row.invited.is_none() && row.game == offer.game) {
        return Ok(Err(OfferRejection::Standing { code: Some(same.code.clone()) }));
    }
    if own.len() >= MAX_OFFERS {
        return Ok(Err(OfferRejection::TooMany { most: MAX_OFFERS }));
    }
    let offer = with_lot(desk, offer, asker);
    let row = invitation(desk, asker, asker.name.clone(), None, &offer)?;
    let (code, lapses) = (row.code.clone(), desk.local_time_in(asker.zone, row.lapses_at));
    desk.draft.changes.invitations.push(row);
    let offer = offer.summary(&desk.club.config.terms);
    Ok(Ok(Reply::Opened { code, offer, lapses }))
}

/// Invites one person, unless that would be a nuisance.
fn challenge(
    desk: &mut Desk<'_>,
    asker: &Asker,
    invited: Invited,
    offer: &Offer,
) -> Decided<Result<Reply, OfferRejection>> {
    let newcomer = is_newcomer(desk, asker)?;
    if let Err(why) = may_challenge(desk, asker, &invited, newcomer)? {
        return Ok(Err(why));
    }
    let origin = match asker.player_id {
        Some(id) if play_each_other(desk, id, invited.player_id)? => Origin::Opponent(id),
        Some(_) | None => Origin::Other,
    };
    let Invited { name, address, .. } = invited;
    let Some(slot) = budgets::slot_for_others(desk, &address, origin)? else {
        return Ok(Err(OfferRejection::Crowded { to: address }));
    };
    // A newcomer's name is theirs to choose, so the invitation shows the address instead.
    let by = if newcomer { asker.address().to_owned() } else { asker.name.clone() };
    let offer = with_lot(desk, offer, asker);
    let row = invitation(desk, asker, by.clone(), Some(address.clone()), &offer)?;
    let code = row.code.clone();
    let told = offer.summary(&desk.club.config.terms);
    let plain = ClubLetter::Challenge {
        by,
        offer: told.clone(),
        code: code.clone(),
        lapses: mail::local_time_at(desk, &address, row.lapses_at)?,
    };
    let unique = format!("c.{}", code.to_lowercase());
    let envelope =
        PlainEnvelope { name: &name, address: &address, unique: &unique, kind: DispatchKind::Challenge };
    let mut challenge = mail::plain_dispatch(desk, &plain, &envelope)?;
    slot.apply(&mut challenge);
    budgets::count_for_others(desk, &address, origin, slot);
    if is_limited(desk, asker)? {
        budgets::count_reach(desk, asker.address());
    }
    let lapses = desk.local_time_in(asker.zone, row.lapses_at);
    desk.draft.changes.invitations.push(row);
    desk.draft.changes.dispatches.push(challenge);
    Ok(Ok(Reply::Challenged { to: address, offer: told, lapses }))
}

/// Checks whether somebody may be challenged once more: by this player, or by any newcomer.
fn may_challenge(
    desk: &mut Desk<'_>,
    asker: &Asker,
    invited: &Invited,
    newcomer: bool,
) -> Decided<Result<(), OfferRejection>> {
    let to = invited.address.clone();
    if invited.player_id.is_none() && desk.club.config.club.membership == Membership::Closed {
        return Ok(Err(OfferRejection::MembersOnly));
    }
    let standing = standing::standing(desk, &to)?;
    // A block reads like unwillingness: nobody learns from us whom the GM has blocked.
    if standing.unwilling_since.is_some() || standing.blocked_since.is_some() {
        return Ok(Err(OfferRejection::Unwilling { to }));
    }
    let to_invited = |row: &&Invitation| row.invited.as_deref() == Some(to.as_str());
    let open = open_offers(desk)?;
    if open.iter().filter(to_invited).any(|row| asker.is(&row.inviter)) {
        return Ok(Err(OfferRejection::Standing { code: None }));
    }
    if newcomer && open.iter().filter(to_invited).any(is_of_newcomer) {
        return Ok(Err(OfferRejection::Engaged { to }));
    }
    if open.iter().filter(|row| asker.is(&row.inviter)).count() >= MAX_OFFERS {
        return Ok(Err(OfferRejection::TooMany { most: MAX_OFFERS }));
    }
    if newcomer && has_declined(desk, asker, &to)? {
        return Ok(Err(OfferRejection::DeclinedBefore { to }));
    }
    if is_limited(desk, asker)? && budgets::reach_left(desk, asker.address())? == 0 {
        return Ok(Err(OfferRejection::NewcomerReach { most: NEWCOMERS_REACH }));
    }
    Ok(Ok(()))
}

/// Whether somebody has never been registered by the GM nor played another person: the house plays everybody.
fn is_newcomer(desk: &Desk<'_>, asker: &Asker) -> Decided<bool> {
    let Some(id) = asker.player_id else { return Ok(true) };
    let matches = desk.rows.matches_of(id)?;
    let against_people =
        |(seat, game_match): &(Seat, MatchOverview)| game_match.house[seat.other()].is_none();
    Ok(!matches.is_empty() && !matches.iter().any(against_people))
}

/// Whether somebody can reach only a few others today: a newcomer, and whoever was one earlier on the same
/// day.
fn is_limited(desk: &Desk<'_>, asker: &Asker) -> Decided<bool> {
    Ok(is_newcomer(desk, asker)? || budgets::reach_left(desk, asker.address())? < NEWCOMERS_REACH)
}

fn play_each_other(desk: &Desk<'_>, player_id: i64, other: Option<i64>) -> Decided<bool> {
    let Some(other) = other else { return Ok(false) };
    let of_other = desk.rows.matches_of(other)?;
    let shared = |id: &str| of_other.iter().any(|(_, game_match)| game_match.id == id);
    Ok(desk.rows.matches_of(player_id)?.iter().any(|(_, game_match)| shared(&game_match.id)))
}

/// Whether somebody declined an offer of the asker, in this transaction or before.
fn has_declined(desk: &Desk<'_>, asker: &Asker, invited: &str) -> Decided<bool> {
    let decided = desk.added(|changes| &changes.invitations);
    let mut declined = decided.filter(|row| row.stage == InvitationStage::Declined);
    if declined.any(|row| asker.is(&row.inviter) && row.invited.as_deref() == Some(invited)) {
        return Ok(true);
    }
    desk.rows.has_declined(asker.address(), invited)
}

/// Returns the name and the first address of whoever has this address.
fn invited(desk: &Desk<'_>, address: &Address) -> Decided<Invited> {
    let player = desk.stored_player(address.as_str())?;
    let known = player.and_then(|player| {
        let address = player.addresses.into_iter().next()?;
        Some(Invited { name: player.name, address, player_id: Some(player.id) })
    });
    Ok(known.unwrap_or_else(|| Invited {
        name: String::new(),
        address: address.as_str().to_owned(),
        player_id: None,
    }))
}

/// Returns the open offers as this transaction leaves them so far.
fn open_offers(desk: &mut Desk<'_>) -> Decided<Vec<Invitation>> {
    let mut open = desk.rows.open_invitations()?.to_vec();
    for row in desk.added(|changes| &changes.invitations) {
        open.retain(|other| other.code != row.code);
        open.extend(Some(row.clone()).filter(|row| row.stage == InvitationStage::Open));
    }
    open.retain(|row| row.lapses_at > desk.at());
    Ok(open)
}

/// Adds the key that the match will be drawn from.
fn with_lot(desk: &mut Desk<'_>, offer: &Offer, asker: &Asker) -> Offer {
    let key = SealKey::new(desk.random().bytes());
    let lot = Lot { key, offer: asker.letter, seat: None };
    Offer { lot: Some(lot), ..offer.clone() }
}

/// Creates a row with a code that is free.
fn invitation(
    desk: &mut Desk<'_>,
    asker: &Asker,
    by: String,
    to: Option<String>,
    offer: &Offer,
) -> Decided<Invitation> {
    let mut random = desk.random();
    let mut code = draw_code(&mut random);
    // From one stream, so that a repeated decision tries the same codes in the same order.
    while desk.rows.invitation(&code)?.is_some() {
        code = draw_code(&mut random);
    }
    let now = desk.at();
    Ok(Invitation {
        code,
        inviter: asker.address().to_owned(),
        inviter_name: by,
        invited: to,
        game: offer.game,
        offer: serde_json::to_string(offer)?,
        stage: InvitationStage::Open,
        match_id: None,
        created_at: now,
        lapses_at: now + TimeDelta::days(OFFER_DAYS),
    })
}

/// Returns the offer with this code, open or not, as this transaction leaves it so far.
fn latest_invitation(desk: &mut Desk<'_>, code: &str) -> Decided<Option<Invitation>> {
    let mut decided = desk.added(|changes| &changes.invitations).rev();
    Ok(match decided.find(|row| row.code == code) {
        Some(row) => Some(row.clone()),
        None => desk.rows.invitation(code)?.cloned(),
    })
}

/// Words a letter to the author of an offer.
fn tell_inviter(desk: &Desk<'_>, row: &Invitation, plain: &ClubLetter) -> Decided<NewDispatch> {
    let unique = format!("o.{}", row.code.to_lowercase());
    let (name, address) = (&row.inviter_name, &row.inviter);
    mail::plain_dispatch(
        desk,
        plain,
        &PlainEnvelope { name, address, unique: &unique, kind: DispatchKind::Offer },
    )
}

/// Whether an invitation is a newcomer's: it shows the address instead of a name.
fn is_of_newcomer(row: &Invitation) -> bool {
    row.inviter_name == row.inviter
}

fn seated(name: &str, address: &str) -> anyhow::Result<Holder> {
    let address = Address::parse(address).context("a stored address")?;
    Ok(Holder::Player(NamedAddress { name: name.to_owned(), address }))
}

/// Draws six letters with at least one digit, so that a code never looks like a word.
fn draw_code(random: &mut Random) -> String {
    let letters: [u8; 6] = random.bytes();
    let mut code = letters.map(|byte| char::from(CODE_LETTERS[usize::from(byte % 32)]));
    if !code.iter().any(char::is_ascii_digit) {
        code[0] = char::from(b'2' + letters[0] % 8);
    }
    code.iter().collect()
}
