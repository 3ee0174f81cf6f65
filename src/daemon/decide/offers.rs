//! Offers to play: made, taken up, declined, lapsed.

use anyhow::Context as _;
use chrono::TimeDelta;

use super::asker::Asker;
use super::budgets::{NEWCOMERS_REACH, Origin};
use super::desk::Desk;
use super::mail::PlainEnvelope;
use super::openings::{CODE_LETTERS, Holder, NamedAddress, NewMatch};
use super::random::Random;
use super::rows::Decided;
use crate::config::Membership;
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

impl Desk<'_> {
    /// Makes an offer to `opponent`, or to anyone.
    pub fn make_offer(
        &mut self,
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
            Some(address) => Some(self.invited(address)?),
            None => None,
        };
        let to_referee = opponent.is_some_and(|address| address.base() == self.settings.config.club.address);
        if to_referee || invited.as_ref().is_some_and(|invited| asker.is(&invited.address)) {
            return Ok(Err(OfferRejection::Yourself));
        }
        match invited {
            Some(invited) => self.challenge(asker, invited, &offer),
            None => self.open_seat(asker, &offer),
        }
    }

    /// Offers a seat to anyone.
    fn open_seat(&mut self, asker: &Asker, offer: &Offer) -> Decided<Result<Reply, OfferRejection>> {
        let own = self.open_offers_of(asker)?;
        if let Some(same) = own.iter().find(|row| row.invited.is_none() && row.game == offer.game) {
            return Ok(Err(OfferRejection::Standing { code: Some(same.code.clone()) }));
        }
        if own.len() >= MAX_OFFERS {
            return Ok(Err(OfferRejection::TooMany { most: MAX_OFFERS }));
        }
        let offer = self.with_lot(offer, asker);
        let row = self.invitation(asker, asker.name.clone(), None, &offer)?;
        let (code, lapses) = (row.code.clone(), asker.local_time(row.lapses_at, &self.settings.config.terms));
        self.draft.settlement.invitations.push(row);
        let offer = offer.summary(&self.settings.config.terms);
        Ok(Ok(Reply::Opened { code, offer, lapses }))
    }

    /// Invites one person, unless that would be a nuisance.
    fn challenge(
        &mut self,
        asker: &Asker,
        invited: Invited,
        offer: &Offer,
    ) -> Decided<Result<Reply, OfferRejection>> {
        let newcomer = self.is_newcomer(asker)?;
        if let Err(why) = self.may_challenge(asker, &invited, newcomer)? {
            return Ok(Err(why));
        }
        let origin = match asker.player_id {
            Some(id) if self.play_each_other(id, invited.player_id)? => Origin::Opponent(id),
            Some(_) | None => Origin::Other,
        };
        let Invited { name, address, .. } = invited;
        let Some(slot) = self.slot_for_others(&address, origin)? else {
            return Ok(Err(OfferRejection::Crowded { to: address }));
        };
        // A newcomer's name is theirs to choose, so the invitation shows the address instead.
        let by = if newcomer { asker.address().to_owned() } else { asker.name.clone() };
        let offer = self.with_lot(offer, asker);
        let row = self.invitation(asker, by.clone(), Some(address.clone()), &offer)?;
        let code = row.code.clone();
        let told = offer.summary(&self.settings.config.terms);
        let plain = ClubLetter::Challenge {
            by,
            offer: told.clone(),
            code: code.clone(),
            lapses: self.local_time_at(&address, row.lapses_at)?,
        };
        let unique = format!("c.{}", code.to_lowercase());
        let envelope =
            PlainEnvelope { name: &name, address: &address, unique: &unique, kind: DispatchKind::Challenge };
        let mut challenge = self.plain_dispatch(&plain, &envelope)?;
        slot.apply(&mut challenge);
        self.count_for_others(&address, origin, slot);
        if self.is_limited(asker)? {
            self.count_reach(asker.address());
        }
        let lapses = asker.local_time(row.lapses_at, &self.settings.config.terms);
        self.draft.settlement.invitations.push(row);
        self.draft.settlement.dispatches.push(challenge);
        Ok(Ok(Reply::Challenged { to: address, offer: told, lapses }))
    }

    /// Checks whether somebody may be challenged once more: by this player, or by any newcomer.
    fn may_challenge(
        &mut self,
        asker: &Asker,
        invited: &Invited,
        newcomer: bool,
    ) -> Decided<Result<(), OfferRejection>> {
        let to = invited.address.clone();
        if invited.player_id.is_none() && self.settings.config.club.membership == Membership::Closed {
            return Ok(Err(OfferRejection::MembersOnly));
        }
        let standing = self.standing(&to)?;
        if standing.unwilling_since.is_some() || standing.blocked_since.is_some() {
            return Ok(Err(OfferRejection::Unwilling { to }));
        }
        let to_invited = |row: &&Invitation| row.invited.as_deref() == Some(to.as_str());
        let open = self.open_offers()?;
        if open.iter().filter(to_invited).any(|row| asker.is(&row.inviter)) {
            return Ok(Err(OfferRejection::Standing { code: None }));
        }
        if newcomer && open.iter().filter(to_invited).any(is_of_newcomer) {
            return Ok(Err(OfferRejection::Engaged { to }));
        }
        if open.iter().filter(|row| asker.is(&row.inviter)).count() >= MAX_OFFERS {
            return Ok(Err(OfferRejection::TooMany { most: MAX_OFFERS }));
        }
        if newcomer && self.has_declined(asker, &to)? {
            return Ok(Err(OfferRejection::DeclinedBefore { to }));
        }
        if self.is_limited(asker)? && self.reach_left(asker.address())? == 0 {
            return Ok(Err(OfferRejection::NewcomerReach { most: NEWCOMERS_REACH }));
        }
        Ok(Ok(()))
    }

    /// Whether somebody has never been registered by the GM nor played another person: the house plays everybody.
    fn is_newcomer(&self, asker: &Asker) -> Decided<bool> {
        let Some(id) = asker.player_id else { return Ok(true) };
        let matches = self.rows.matches_of(id)?;
        let against_people =
            |(seat, game_match): &(Seat, MatchOverview)| game_match.house[seat.other()].is_none();
        Ok(!matches.is_empty() && !matches.iter().any(against_people))
    }

    /// Whether somebody can reach only a few others today: a newcomer, and whoever was one earlier on the same day.
    fn is_limited(&self, asker: &Asker) -> Decided<bool> {
        Ok(self.is_newcomer(asker)? || self.reach_left(asker.address())? < NEWCOMERS_REACH)
    }

    fn play_each_other(&self, player_id: i64, other: Option<i64>) -> Decided<bool> {
        let Some(other) = other else { return Ok(false) };
        let of_other = self.rows.matches_of(other)?;
        let shared = |id: &str| of_other.iter().any(|(_, game_match)| game_match.id == id);
        Ok(self.rows.matches_of(player_id)?.iter().any(|(_, game_match)| shared(&game_match.id)))
    }

    /// Whether somebody declined an offer of the asker, in this transaction or before.
    fn has_declined(&self, asker: &Asker, invited: &str) -> Decided<bool> {
        let decided = self.added(|settlement| &settlement.invitations);
        let mut declined = decided.filter(|row| row.stage == InvitationStage::Declined);
        if declined.any(|row| asker.is(&row.inviter) && row.invited.as_deref() == Some(invited)) {
            return Ok(true);
        }
        self.rows.has_declined(asker.address(), invited)
    }

    /// Stops challenges to the asker, and declines the one with this code. Without a token only a code shows that the
    /// asker reads letters to that address.
    pub fn refuse_challenges(
        &mut self,
        asker: &Asker,
        written: Option<&str>,
    ) -> Decided<Result<Reply, OfferRejection>> {
        match written.map(in_code_letters) {
            Some(code) => {
                let row = self.latest_invitation(&code)?;
                let to_asker = |row: &Invitation| row.invited.as_deref().is_some_and(|to| asker.is(to));
                let Some(row) = row.filter(to_asker) else {
                    return Ok(Err(OfferRejection::NoSuchCode { code }));
                };
                if row.stage == InvitationStage::Open {
                    // Fails only if the invitation has just lapsed.
                    let _declined_or_lapsed = self.decline(asker, &code)?;
                }
            }
            None if !asker.is_known => return Ok(Ok(Reply::NeverWithoutCode)),
            None => {}
        }
        self.set_willing(asker, false)
    }

    pub fn set_willing(&mut self, asker: &Asker, on: bool) -> Decided<Result<Reply, OfferRejection>> {
        if !asker.proven {
            return Ok(Err(OfferRejection::Unproven));
        }
        let address = asker.address();
        let unwilling_since = (!on).then(|| self.at());
        let standing = Standing { unwilling_since, ..self.standing(address)? };
        self.draft.settlement.restraints.standings.insert(address.to_owned(), standing);
        Ok(Ok(Reply::Challenges { on }))
    }

    /// Returns the name and the first address of whoever has this address.
    fn invited(&self, address: &Address) -> Decided<Invited> {
        let player = self.stored_player(address.as_str())?;
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

    pub fn open_offers_of(&mut self, asker: &Asker) -> Decided<Vec<Invitation>> {
        let mut open = self.open_offers()?;
        open.retain(|row| asker.is(&row.inviter));
        Ok(open)
    }

    /// Returns the open offers as this transaction leaves them so far.
    fn open_offers(&mut self) -> Decided<Vec<Invitation>> {
        let mut open = self.rows.open_invitations()?.to_vec();
        for row in self.added(|settlement| &settlement.invitations) {
            open.retain(|other| other.code != row.code);
            open.extend(Some(row.clone()).filter(|row| row.stage == InvitationStage::Open));
        }
        open.retain(|row| row.lapses_at > self.at());
        Ok(open)
    }

    /// Adds the key that the match will be drawn from.
    fn with_lot(&mut self, offer: &Offer, asker: &Asker) -> Offer {
        let key = SealKey::new(self.random().bytes());
        let lot = Lot { key, offer: asker.letter, seat: None };
        Offer { lot: Some(lot), ..offer.clone() }
    }

    /// Creates a row with a code that is free.
    fn invitation(
        &mut self,
        asker: &Asker,
        by: String,
        to: Option<String>,
        offer: &Offer,
    ) -> Decided<Invitation> {
        let mut random = self.random();
        let mut code = draw_code(&mut random);
        while self.rows.invitation(&code)?.is_some() {
            code = draw_code(&mut random);
        }
        let now = self.at();
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

    /// Returns the offer with this code, if this transaction leaves it open so far.
    pub fn open_offer(&mut self, code: &str) -> Decided<Option<Invitation>> {
        let row = self.latest_invitation(code)?;
        Ok(row.filter(|row| row.stage == InvitationStage::Open && row.lapses_at > self.at()))
    }

    /// Returns the offer with this code, open or not, as this transaction leaves it so far.
    fn latest_invitation(&mut self, code: &str) -> Decided<Option<Invitation>> {
        let mut decided = self.added(|settlement| &settlement.invitations).rev();
        Ok(match decided.find(|row| row.code == code) {
            Some(row) => Some(row.clone()),
            None => self.rows.invitation(code)?.cloned(),
        })
    }

    /// Takes up an offer: opens its match.
    pub fn take_up(
        &mut self,
        asker: &Asker,
        written: &str,
        audience: Audience,
    ) -> Decided<Result<Reply, OfferRejection>> {
        if !asker.proven {
            return Ok(Err(OfferRejection::Unproven));
        }
        let code = in_code_letters(written);
        let row = self.open_offer(&code)?.filter(|row| match (&row.invited, audience) {
            (Some(invited), Audience::Asker) => asker.is(invited),
            (None, Audience::Anyone) => true,
            (Some(_), Audience::Anyone) | (None, Audience::Asker) => false,
        });
        let Some(row) = row else { return Ok(Err(OfferRejection::NoSuchCode { code })) };
        if asker.is(&row.inviter) {
            return Ok(Err(OfferRejection::Yourself));
        }
        // An open seat's owner is one of the few to whom a newcomer can make the referee write.
        if row.invited.is_none() && self.is_limited(asker)? {
            if self.reach_left(asker.address())? == 0 {
                return Ok(Err(OfferRejection::NewcomerReach { most: NEWCOMERS_REACH }));
            }
            self.count_reach(asker.address());
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
            terms: offer.terms(&self.settings.config.terms),
        };
        let game_match = self.open_match(&new, Cause::opening(Some(asker.letter)), Some(lot))?;
        let taken = InvitationStage::Taken;
        if row.invited.is_some() {
            self.note_known(asker)?;
        }
        let row = Invitation { stage: taken, match_id: Some(game_match.id.clone()), ..row };
        self.draft.settlement.invitations.push(row);
        Ok(Ok(Reply::Joined { match_id: game_match.id }))
    }

    /// Declines an offer for its addressee, or withdraws it for its author.
    pub fn decline(&mut self, asker: &Asker, written: &str) -> Decided<Result<Reply, OfferRejection>> {
        if !asker.proven {
            return Ok(Err(OfferRejection::Unproven));
        }
        let code = in_code_letters(written);
        let to_asker = |row: &Invitation| row.invited.as_deref().is_some_and(|invited| asker.is(invited));
        let row = self.open_offer(&code)?.filter(|row| to_asker(row) || asker.is(&row.inviter));
        let Some(row) = row else { return Ok(Err(OfferRejection::NoSuchCode { code })) };
        if to_asker(&row) {
            self.note_known(asker)?;
            let offer = offer_of(&row)?.summary(&self.settings.config.terms);
            let dispatch =
                self.tell_inviter(&row, &ClubLetter::Declined { to: asker.name.clone(), offer })?;
            self.draft.settlement.dispatches.push(dispatch);
        }
        let declined = Invitation { stage: InvitationStage::Declined, ..row };
        self.draft.settlement.invitations.push(declined);
        Ok(Ok(Reply::Declined))
    }

    /// Words a letter to the author of an offer.
    fn tell_inviter(&self, row: &Invitation, plain: &ClubLetter) -> Decided<NewDispatch> {
        let unique = format!("o.{}", row.code.to_lowercase());
        let (name, address) = (&row.inviter_name, &row.inviter);
        self.plain_dispatch(
            plain,
            &PlainEnvelope { name, address, unique: &unique, kind: DispatchKind::Offer },
        )
    }
}

/// Closes an expired offer, and tells its author.
pub fn lapse_offer(desk: &mut Desk<'_>, row: &Invitation) -> Decided<()> {
    let plain = ClubLetter::Lapsed {
        to: row.invited.clone(),
        offer: offer_of(row)?.summary(&desk.settings.config.terms),
        code: row.code.clone(),
    };
    let dispatch = desk.tell_inviter(row, &plain)?;
    desk.draft.settlement.dispatches.push(dispatch);
    let lapsed = Invitation { stage: InvitationStage::Lapsed, ..row.clone() };
    desk.draft.settlement.invitations.push(lapsed);
    Ok(())
}

/// Whether an invitation is a newcomer's: it shows the address instead of a name.
fn is_of_newcomer(row: &Invitation) -> bool {
    row.inviter_name == row.inviter
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

/// Replaces the letters in a written code that look like digits, as Crockford's alphabet demands.
pub fn in_code_letters(written: &str) -> String {
    let mut code = String::with_capacity(written.len());
    for c in written.chars() {
        code.push(match c.to_ascii_uppercase() {
            'O' => '0',
            'I' | 'L' => '1',
            c => c,
        });
    }
    code
}
