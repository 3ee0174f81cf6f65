//! Offers to play: making, declining, closing and lapsing. `taking` takes them up.

use anyhow::Context as _;
use chrono::TimeDelta;
use strsim::osa_distance;

use super::meeting::{self, is_of_newcomer};
use crate::config::Membership;
use crate::desk::frame::asker::Asker;
use crate::desk::frame::codes;
use crate::desk::frame::desk::{Desk, latest_rows};
use crate::desk::frame::rows::Decided;
use crate::desk::frame::standing;
use crate::desk::outbox::budgets::{self, NEWCOMERS_REACH, Origin};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::game::Seat;
use crate::ledger::{Lot, SealKey};
use crate::letter::{Address, Digest};
use crate::referee::{DispatchKind, MatchOverview, Offer, OfferRejection, Reply};
use crate::report::ClubLetter;
use crate::request::Command;
use crate::store::{Invitation, InvitationStage, Player, Standing};

/// Days for which an offer stays open. [`STANDING_DAYS`] is for one that can be taken several times.
const OFFER_DAYS: i64 = 14;
const STANDING_DAYS: i64 = 30;

/// Maximum open offers of one address.
const MAX_OFFERS: usize = 10;

/// The person whom a challenge names, by address or by name.
pub struct Opponent {
    pub address: Address,
    /// Name and number, if the challenge used them; its author then learns no address. Otherwise the author
    /// learns no address but `address`.
    pub shown: Option<String>,
}

/// The name and address of a challenged person.
pub(super) struct Invited {
    pub name: String,
    pub address: String,
    pub player: Option<Player>,
    /// The name that letters to the author use for them.
    pub shown: Option<String>,
}

impl Invited {
    pub fn told(&self) -> String {
        self.shown.clone().unwrap_or_else(|| self.address.clone())
    }
}

/// Makes an offer to `opponent`, or to anyone.
pub fn make_offer(
    desk: &mut Desk<'_>,
    asker: &Asker,
    opponent: Option<&Opponent>,
    offer: Result<Offer, OfferRejection>,
) -> Decided<Result<Reply, OfferRejection>> {
    let offer = match offer {
        Ok(offer) => offer,
        Err(why) => return Ok(Err(why)),
    };
    let (invited, offer) = match opponent {
        Some(opponent) => match offer.to_one_player() {
            Ok(offer) => (Some(invited_person(desk, opponent)?), offer),
            Err(why) => return Ok(Err(why)),
        },
        None => (None, offer),
    };
    // Compare without the plus part, which may be a reply token.
    let is_ours = |opponent: &Opponent| opponent.address.base() == desk.club.config.club.address;
    let to_referee = opponent.is_some_and(is_ours);
    if to_referee || invited.as_ref().is_some_and(|invited| asker.is(&invited.address)) {
        return Ok(Err(OfferRejection::Yourself));
    }
    match invited {
        Some(invited) => challenge(desk, asker, invited, &offer),
        None => open_seat(desk, asker, &offer),
    }
}

/// Stops challenges to the asker, and declines the one with this code.
pub fn refuse_challenges(
    desk: &mut Desk<'_>,
    asker: &Asker,
    written: Option<&str>,
) -> Decided<Result<Reply, OfferRejection>> {
    if let Some(code) = written.map(codes::in_code_letters) {
        let row = latest_invitation(desk, &code)?;
        let to_asker = |row: &Invitation| is_to(row, asker);
        let Some(row) = row.filter(to_asker) else {
            return Ok(Err(no_such_code(desk, code, to_asker)?));
        };
        if row.stage == InvitationStage::Open {
            // Declining fails only if the invitation has just lapsed.
            let _declined_or_lapsed = decline(desk, asker, &code)?;
        }
    }
    Ok(Ok(set_willing(desk, asker, false)?))
}

pub fn set_willing(desk: &mut Desk<'_>, asker: &Asker, on: bool) -> Decided<Reply> {
    let address = asker.address();
    let unwilling_since = (!on).then(|| desk.at());
    let standing = Standing { unwilling_since, ..standing::standing(desk, address)? };
    desk.draft.changes.restraints.standings.insert(address.to_owned(), standing);
    Ok(Reply::Challenges { on })
}

pub fn open_offers_of(desk: &Desk<'_>, asker: &Asker) -> Decided<Vec<Invitation>> {
    let mut open = open_offers(desk)?;
    open.retain(|row| asker.is(&row.inviter));
    Ok(open)
}

/// Returns the offer with this code, if this transaction leaves it open so far.
pub fn open_offer(desk: &Desk<'_>, code: &str) -> Decided<Option<Invitation>> {
    let row = latest_invitation(desk, code)?;
    Ok(row.filter(|row| row.stage == InvitationStage::Open && row.lapses_at > desk.at()))
}

/// Rejects a code without an open offer, and names the code that was probably meant, among those that the
/// sender can see.
pub fn no_such_code(
    desk: &Desk<'_>,
    code: String,
    is_seen: impl Fn(&Invitation) -> bool,
) -> Decided<OfferRejection> {
    let seen = open_offers(desk)?.into_iter().filter(is_seen).map(|row| row.code);
    let is_alike = |other: &String| other.len().abs_diff(code.len()) < 2 && osa_distance(other, &code) == 1;
    let mut near = seen.filter(is_alike);
    let near = near.next().filter(|_| near.next().is_none());
    Ok(OfferRejection::NoSuchCode { code, near })
}

/// Whether a command repeats the code of an invitation to the asker, which went to that address alone.
pub fn knows_code(desk: &Desk<'_>, asker: &Asker, command: &Command) -> Decided<bool> {
    let (Command::Accept(code) | Command::Decline(code) | Command::Never(Some(code))) = command else {
        return Ok(false);
    };
    let row = latest_invitation(desk, &codes::in_code_letters(code))?;
    Ok(row.is_some_and(|row| is_to(&row, asker)))
}

fn is_to(row: &Invitation, asker: &Asker) -> bool {
    row.invited.as_deref().is_some_and(|invited| asker.is(invited))
}

/// Returns why a command with the code of an offer has no effect for the asker, if no open offer fits it.
pub fn code_rejection(desk: &Desk<'_>, asker: &Asker, command: &Command) -> Decided<Option<OfferRejection>> {
    let (code, fits): (&str, &dyn Fn(&Invitation) -> bool) = match command {
        Command::Accept(code) | Command::Never(Some(code)) => (code, &|row| is_to(row, asker)),
        Command::Decline(code) => (code, &|row| is_to(row, asker) || asker.is(&row.inviter)),
        Command::Close(code) => (code, &|row| asker.is(&row.inviter)),
        Command::Join(code) => (code, &|row| row.invited.is_none()),
        _ => return Ok(None),
    };
    let code = codes::in_code_letters(code);
    match open_offer(desk, &code)?.filter(fits) {
        Some(_) => Ok(None),
        None => no_such_code(desk, code, fits).map(Some),
    }
}

/// Ends an open offer of the asker.
pub fn close(desk: &mut Desk<'_>, asker: &Asker, written: &str) -> Decided<Result<Reply, OfferRejection>> {
    let code = codes::in_code_letters(written);
    let is_own = |row: &Invitation| asker.is(&row.inviter);
    let Some(row) = open_offer(desk, &code)?.filter(is_own) else {
        return Ok(Err(no_such_code(desk, code, is_own)?));
    };
    let closed = Invitation { stage: InvitationStage::Declined, ..row };
    desk.draft.changes.invitations.push(closed);
    Ok(Ok(Reply::Declined { code }))
}

/// Declines an offer for its addressee, or withdraws it for its author.
pub fn decline(desk: &mut Desk<'_>, asker: &Asker, written: &str) -> Decided<Result<Reply, OfferRejection>> {
    let code = codes::in_code_letters(written);
    let is_theirs = |row: &Invitation| is_to(row, asker) || asker.is(&row.inviter);
    let Some(row) = open_offer(desk, &code)?.filter(is_theirs) else {
        return Ok(Err(no_such_code(desk, code, is_theirs)?));
    };
    if is_to(&row, asker) {
        // The code went to the invited address alone, so the asker reads mail there.
        standing::note_known(desk, asker)?;
        let offer = offer_of(&row)?.summary(&desk.club.config.terms);
        let is_hidden = desk.player(asker.address())?.is_some_and(|player| !player.member.public);
        let named = row.invited_name.clone().filter(|_| is_hidden);
        let to = named.unwrap_or_else(|| asker.name.clone());
        tell_inviter(desk, &row, &ClubLetter::Declined { to, offer })?;
    }
    let declined = Invitation { stage: InvitationStage::Declined, ..row };
    desk.draft.changes.invitations.push(declined);
    Ok(Ok(Reply::Declined { code }))
}

/// Closes an expired offer, and tells its author.
pub fn lapse_offer(desk: &mut Desk<'_>, row: &Invitation) -> Decided<()> {
    let plain = ClubLetter::Lapsed {
        to: row.invited_name.clone().or_else(|| row.invited.clone()),
        offer: offer_of(row)?.summary(&desk.club.config.terms),
        code: row.code.clone(),
    };
    tell_inviter(desk, row, &plain)?;
    let lapsed = Invitation { stage: InvitationStage::Lapsed, ..row.clone() };
    desk.draft.changes.invitations.push(lapsed);
    Ok(())
}

/// Reads the offer in an invitation's row.
///
/// # Errors
/// Returns an error if the offer cannot be read.
pub fn offer_of(row: &Invitation) -> anyhow::Result<Offer> {
    let offer: Offer =
        serde_json::from_str(&row.offer).with_context(|| format!("failed to read the offer {}", row.code))?;
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

/// Invites one person, if they may be challenged.
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
    let of_player = invited.player.as_ref().map(|player| player.id);
    let origin = match asker.player_id {
        Some(id) if meeting::play_each_other(desk, Some(id), of_player)? => Origin::Opponent(id),
        Some(_) | None => Origin::Other,
    };
    // Newcomers can call themselves anything, so the invitation shows the address instead.
    let by = if newcomer { asker.address().to_owned() } else { asker.name.clone() };
    let offer = with_lot(desk, offer, asker);
    let row = invitation(desk, asker, by, Some(&invited), &offer)?;
    send_invitation(desk, asker, invited, &offer, row, origin)
}

/// Writes to the invited player, within the reader's budget, and keeps the invitation.
pub(super) fn send_invitation(
    desk: &mut Desk<'_>,
    asker: &Asker,
    invited: Invited,
    offer: &Offer,
    row: Invitation,
    origin: Origin,
) -> Decided<Result<Reply, OfferRejection>> {
    let to = invited.told();
    let Invited { name, address, .. } = invited;
    let summary = offer.summary(&desk.club.config.terms);
    let plain = ClubLetter::Challenge {
        by: meeting::shown_to(asker, &row),
        filed: meeting::describe_reliability(desk, asker.player_id, &row.inviter_name)?,
        offer: summary.clone(),
        code: row.code.clone(),
        lapses: mail::local_time_at(desk, &address, row.lapses_at)?,
        again: row.rematch_of.clone(),
    };
    let unique = format!("c.{}", row.code.to_lowercase());
    let envelope =
        PlainEnvelope { name: &name, address: &address, unique: &unique, kind: DispatchKind::Challenge };
    let challenge = mail::plain_dispatch(desk, &plain, &envelope)?;
    if !budgets::send_for_others(desk, challenge, origin)? {
        return Ok(Err(OfferRejection::Crowded { to }));
    }
    if is_limited(desk, asker)? {
        budgets::count_reach(desk, asker.address());
    }
    let lapses = desk.local_time_in(asker.zone, row.lapses_at);
    let is_again = row.rematch_of.is_some();
    desk.draft.changes.invitations.push(row);
    Ok(Ok(match is_again {
        true => Reply::RematchOffered { to, offer: summary, lapses },
        false => Reply::Challenged { to, offer: summary, lapses },
    }))
}

/// Checks whether somebody may be challenged again: by this player, or by any newcomer.
pub(super) fn may_challenge(
    desk: &Desk<'_>,
    asker: &Asker,
    invited: &Invited,
    newcomer: bool,
) -> Decided<Result<(), OfferRejection>> {
    let (to, address) = (invited.told(), invited.address.as_str());
    if invited.player.is_none() && desk.club.config.club.membership == Membership::Closed {
        return Ok(Err(OfferRejection::MembersOnly));
    }
    let standing = standing::standing(desk, address)?;
    // Answer for a blocked person as for one who wants no challenges, so that nobody learns whom the GM has
    // blocked.
    if standing.unwilling_since.is_some() || standing.blocked_since.is_some() {
        return Ok(Err(OfferRejection::Unwilling { to }));
    }
    if meeting::avoid_each_other(desk, asker, invited.player.as_ref())? {
        return Ok(Err(OfferRejection::Unwilling { to }));
    }
    let to_invited = |row: &&Invitation| row.invited.as_deref() == Some(address);
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
    if newcomer && has_declined(desk, asker, address)? {
        return Ok(Err(OfferRejection::DeclinedBefore { to }));
    }
    if is_limited(desk, asker)? && budgets::reach_left(desk, asker.address())? == 0 {
        return Ok(Err(OfferRejection::NewcomerReach { most: NEWCOMERS_REACH }));
    }
    Ok(Ok(()))
}

/// Whether somebody has neither been registered by the GM nor played another person. Matches against the
/// house do not count, nor does an entry for an event.
pub(super) fn is_newcomer(desk: &Desk<'_>, asker: &Asker) -> Decided<bool> {
    match asker.player_id {
        Some(_) => is_new(desk, desk.player(asker.address())?.as_ref()),
        None => Ok(true),
    }
}

/// Whether somebody is a newcomer. `None` stands for somebody who is not a player yet.
pub(super) fn is_new(desk: &Desk<'_>, player: Option<&Player>) -> Decided<bool> {
    let Some(player) = player else { return Ok(true) };
    if player.member.registered {
        return Ok(false);
    }
    let matches = desk.rows.matches_of(player.id)?;
    let against_people =
        |(seat, game_match): &(Seat, MatchOverview)| game_match.house[seat.other()].is_none();
    Ok(!matches.iter().any(against_people))
}

/// Whether somebody can reach only a few others today, because they are a newcomer or were one earlier today.
pub fn is_limited(desk: &Desk<'_>, asker: &Asker) -> Decided<bool> {
    Ok(is_newcomer(desk, asker)? || budgets::reach_left(desk, asker.address())? < NEWCOMERS_REACH)
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

/// Returns the name and the first address of an opponent. Letters to the author name the opponent as the
/// challenge did.
fn invited_person(desk: &Desk<'_>, opponent: &Opponent) -> Decided<Invited> {
    let Opponent { address, shown } = opponent;
    let shown = Some(shown.clone().unwrap_or_else(|| address.as_str().to_owned()));
    let player = desk.player(address.as_str())?;
    let known = player.and_then(|player| {
        let (name, address) = (player.name.clone(), player.addresses.first()?.clone());
        Some(Invited { name, address, player: Some(player), shown: shown.clone() })
    });
    Ok(known.unwrap_or_else(|| Invited {
        name: String::new(),
        address: address.as_str().to_owned(),
        player: None,
        shown,
    }))
}

/// Returns the open offers as this transaction leaves them so far.
pub(super) fn open_offers(desk: &Desk<'_>) -> Decided<Vec<Invitation>> {
    let changed = desk.added(|changes| &changes.invitations);
    let mut open = latest_rows(desk.rows.open_invitations()?, changed, |row| &row.code);
    // An expired offer stays open in its row until the clock closes it.
    open.retain(|row| row.stage == InvitationStage::Open && row.lapses_at > desk.at());
    Ok(open)
}

/// Adds the key from which the match will be drawn.
pub(super) fn with_lot(desk: &mut Desk<'_>, offer: &Offer, asker: &Asker) -> Offer {
    let key = SealKey::new(desk.random("lot of an offer").bytes());
    let lot = Lot { key, offer: asker.letter, seat: None };
    Offer { lot: Some(lot), ..offer.clone() }
}

/// Returns a code that is free.
pub(super) fn free_code(desk: &mut Desk<'_>) -> Decided<String> {
    let mut random = desk.random("code of an offer");
    let mut code = codes::draw_short_code::<6>(&mut random);
    // Draw from one stream, so that a repeated decision tries the same codes in the same order.
    while desk.rows.invitation(&code)?.is_some() {
        code = codes::draw_short_code::<6>(&mut random);
    }
    Ok(code)
}

/// Creates a row with a code that is free.
pub(super) fn invitation(
    desk: &mut Desk<'_>,
    asker: &Asker,
    by: String,
    to: Option<&Invited>,
    offer: &Offer,
) -> Decided<Invitation> {
    let code = free_code(desk)?;
    let now = desk.at();
    let days = if offer.times.is_some() { STANDING_DAYS } else { OFFER_DAYS };
    Ok(Invitation {
        code,
        inviter: asker.address().to_owned(),
        inviter_name: by,
        invited: to.map(|invited| invited.address.clone()),
        game: offer.game,
        offer: serde_json::to_string(offer)?,
        stage: InvitationStage::Open,
        match_id: None,
        created_at: now,
        lapses_at: now + TimeDelta::days(days),
        invited_name: to.and_then(|invited| invited.shown.clone()),
        rematch_of: None,
        taken_from: None,
        taken: 0,
    })
}

/// Returns the offer with this code, open or not, as this transaction leaves it so far.
fn latest_invitation(desk: &Desk<'_>, code: &str) -> Decided<Option<Invitation>> {
    let mut decided = desk.added(|changes| &changes.invitations).rev();
    Ok(match decided.find(|row| row.code == code) {
        Some(row) => Some(row.clone()),
        None => desk.rows.invitation(code)?.cloned(),
    })
}

/// Writes to the author of an offer. Only the invited person may know its code, so the Message-ID contains a
/// digest of the stored offer instead, which holds a random key.
fn tell_inviter(desk: &mut Desk<'_>, row: &Invitation, plain: &ClubLetter) -> Decided<()> {
    let unique = format!("o.{}", &Digest::of(row.offer.as_bytes()).to_string()[..24]);
    let (name, address) = (&row.inviter_name, &row.inviter);
    mail::send(desk, plain, &PlainEnvelope { name, address, unique: &unique, kind: DispatchKind::Offer })
}
