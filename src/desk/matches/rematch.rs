//! REMATCH: the same match again, with the seats exchanged. It opens once both ask for it, or one accepts.

use anyhow::Context as _;

use super::offers::{self, Invited};
use super::{challenge, taking};
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::{Desk, latest_rows};
use crate::desk::frame::rows::{Decided, LoadedMatch};
use crate::desk::outbox::budgets::Origin;
use crate::game::Seat;
use crate::referee::{HouseMatch, Match, Offer, OfferRejection, Reply, Stage};
use crate::store::{Invitation, InvitationStage};

/// Offers the opponent of a finished match the same match again, with the seats exchanged.
pub fn rematch(
    desk: &mut Desk<'_>,
    asker: &Asker,
    (match_id, seat): (&str, Seat),
    options: &[(String, String)],
    days: Option<u32>,
) -> Decided<Result<Reply, OfferRejection>> {
    let loaded = desk.game_match(match_id)?.context("the letter's match is missing")?.clone();
    let earlier = &loaded.game_match;
    if earlier.stage != Stage::Over {
        return Ok(Err(OfferRejection::NotOver { match_id: match_id.to_owned() }));
    }
    if let Some(level) = &earlier.house[seat.other()] {
        return against_house(desk, asker, earlier, seat, level, (options, days));
    }
    let offer = match rematch_offer(earlier, seat, options, days) {
        Ok(offer) => offer,
        Err(why) => return Ok(Err(why)),
    };
    let made = rematches_of(desk, match_id)?;
    if let Some(taken) = made.iter().find(|row| row.stage == InvitationStage::Taken) {
        return Ok(Err(OfferRejection::RematchMade { match_id: taken.match_id.clone() }));
    }
    match made.into_iter().find(|row| row.stage == InvitationStage::Open && row.lapses_at > desk.at()) {
        Some(own) if asker.is(&own.inviter) => Ok(Err(OfferRejection::RematchMade { match_id: None })),
        Some(theirs) => answer(desk, asker, theirs, &offer),
        None => offer_again(desk, asker, &loaded, seat, &offer),
    }
}

/// Takes the opponent's open offer of a rematch, if there is one. Returns the name of the match that opens.
pub fn accept(desk: &mut Desk<'_>, asker: &Asker, match_id: &str) -> Decided<Option<Reply>> {
    let made = rematches_of(desk, match_id)?;
    let theirs = made.into_iter().find(|row| {
        let is_to_asker = row.invited.as_deref().is_some_and(|invited| asker.is(invited));
        row.stage == InvitationStage::Open && row.lapses_at > desk.at() && is_to_asker
    });
    let Some(theirs) = theirs else { return Ok(None) };
    let taken = taking::take_up(desk, asker, &theirs.code, taking::Audience::Asker)?;
    Ok(Some(taken.unwrap_or_else(|why| Reply::NoOffer { command: "YES", why })))
}

/// Opens a match if both want the same. Otherwise shows the asker both offers, of which the opponent's can be
/// taken.
fn answer(
    desk: &mut Desk<'_>,
    asker: &Asker,
    theirs: Invitation,
    own: &Offer,
) -> Decided<Result<Reply, OfferRejection>> {
    let offered = offers::offer_of(&theirs)?;
    let is_same = (offered.game, &offered.choices, offered.days, offered.seat.map(Seat::other))
        == (own.game, &own.choices, own.days, own.seat);
    if is_same {
        return taking::take_up(desk, asker, &theirs.code, taking::Audience::Asker);
    }
    let club = &desk.club.config.terms;
    let (theirs_shown, own) = (Box::new(offered.summary(club)), Box::new(own.summary(club)));
    Ok(Err(OfferRejection::RematchDiffers { theirs: theirs_shown, own, code: theirs.code }))
}

/// Invites the opponent.
fn offer_again(
    desk: &mut Desk<'_>,
    asker: &Asker,
    loaded: &LoadedMatch,
    seat: Seat,
    offer: &Offer,
) -> Decided<Result<Reply, OfferRejection>> {
    let opponent = desk.latest(loaded.seats[seat.other()].player.clone());
    let Some(address) = opponent.addresses.first().cloned() else { return Ok(Err(OfferRejection::Gone)) };
    let name = opponent.name.clone();
    let invited = Invited { name: name.clone(), address, player: Some(opponent), shown: Some(name) };
    if let Err(why) = offers::may_challenge(desk, asker, &invited, false)? {
        return Ok(Err(why));
    }
    let offer = offers::with_lot(desk, offer, asker);
    let row = offers::invitation(desk, asker, asker.name.clone(), Some(&invited), &offer)?;
    let row = Invitation { rematch_of: Some(loaded.game_match.id.clone()), ..row };
    // The two have played each other, so the larger budget of opponents applies.
    let origin = asker.player_id.map_or(Origin::Other, Origin::Opponent);
    offers::send_invitation(desk, asker, invited, &offer, row, origin)
}

/// Returns the offer of the same game, options and terms, with the asker in the other seat.
fn rematch_offer(
    earlier: &Match,
    seat: Seat,
    written: &[(String, String)],
    days: Option<u32>,
) -> Result<Offer, OfferRejection> {
    let offer = Offer::read(earlier.game.key(), &options_of(earlier, written), days)?.to_one_player()?;
    Ok(Offer {
        days: Some(days.unwrap_or(earlier.terms.days)),
        seat: Some(offer.seat.unwrap_or(seat.other())),
        earlier: Some(Box::new(earlier.terms.clone())),
        ..offer
    })
}

/// Returns the options of a match, replaced by those in `written`.
fn options_of(earlier: &Match, written: &[(String, String)]) -> Vec<(String, String)> {
    let is_written = |name: &str| written.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    let kept = earlier.state.options().into_iter().filter(|(name, _)| !is_written(name));
    kept.map(|(name, value)| (name.to_owned(), value)).chain(written.iter().cloned()).collect()
}

/// Opens a match against the house at the same level at once.
fn against_house(
    desk: &mut Desk<'_>,
    asker: &Asker,
    earlier: &Match,
    seat: Seat,
    level: &str,
    (written, days): (&[(String, String)], Option<u32>),
) -> Decided<Result<Reply, OfferRejection>> {
    let is_written = |name: &str| written.iter().any(|(other, _)| other.eq_ignore_ascii_case(name));
    let mut options = options_of(earlier, written);
    if !is_written("first") && !is_written("seat") {
        options.push(("seat".to_owned(), seat.other().to_string()));
    }
    let level = (!is_written("level")).then_some(level);
    let days = days.or(Some(earlier.terms.days));
    challenge::challenge_house(desk, asker, HouseMatch::read(earlier.game.key(), level, &options, days))
}

/// Returns the offers that follow a match, as this transaction leaves them so far.
fn rematches_of(desk: &Desk<'_>, match_id: &str) -> Decided<Vec<Invitation>> {
    let offers = desk.added(|changes| &changes.invitations);
    let changed = offers.filter(|row| row.rematch_of.as_deref() == Some(match_id));
    Ok(latest_rows(desk.rows.rematches(match_id)?, changed, |row| &row.code))
}
