//! Offers to play: made, taken up, declined, lapsed.

use anyhow::Context as _;
use chrono::TimeDelta;

use super::asker::Asker;
use super::context::RulingContext;
use super::decision::{Decision, Key};
use super::mail::PlainEnvelope;
use super::openings::{CODE_LETTERS, Holder, NamedAddress, NewMatch};
use super::random::Random;
use super::settings::Settings;
use super::undecided::Decided;
use crate::game::{BySeat, Seat};
use crate::ledger::Source;
use crate::letter::Address;
use crate::referee::{DispatchKind, Offer, OfferRejection, Reply};
use crate::report::ClubLetter;
use crate::store::{Invitation, InvitationStage, NewDispatch, Settlement};

/// Days for which an offer stands.
const OFFER_DAYS: i64 = 14;

/// Maximum open offers of one address.
const MAX_OFFERS: usize = 10;

/// Whom an offer was made to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Audience {
    Asker,
    Anyone,
}

/// The name and address of somebody who is challenged.
struct Invited {
    name: String,
    address: String,
}

impl Decision<'_> {
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
        let to = invited.as_ref().map(|invited| invited.address.clone());
        let own = self.open_offers_of(asker)?;
        if let Some(same) = own.iter().find(|row| row.invited == to && row.game == offer.game) {
            return Ok(Err(OfferRejection::Standing { code: same.code.clone() }));
        }
        if own.len() >= MAX_OFFERS {
            return Ok(Err(OfferRejection::TooMany { most: MAX_OFFERS }));
        }
        let row = self.invitation(asker, to, &offer)?;
        let (code, lapses) = (row.code.clone(), self.settings.local_time(row.lapses_at));
        let told = offer.summary(&self.settings.config.terms);
        let Some(Invited { name, address }) = invited else {
            self.draft.settlement.invitations.push(row);
            return Ok(Ok(Reply::Opened { code, offer: told, lapses }));
        };
        let plain = ClubLetter::Challenge {
            by: asker.name.clone(),
            offer: told.clone(),
            code: code.clone(),
            lapses: lapses.clone(),
        };
        let unique = format!("c.{}", code.to_lowercase());
        let envelope =
            PlainEnvelope { name: &name, address: &address, unique: &unique, kind: DispatchKind::Challenge };
        let challenge = self.plain_dispatch(&plain, &envelope)?;
        self.draft.settlement.invitations.push(row);
        self.draft.settlement.dispatches.push(challenge);
        Ok(Ok(Reply::Challenged { to: address, code, offer: told, lapses }))
    }

    /// Returns the name and the first address of whoever has this address.
    fn invited(&self, address: &Address) -> Decided<Invited> {
        let player = self.stored_player(address.as_str())?;
        let known = player.and_then(|player| {
            let address = player.addresses.into_iter().next()?;
            Some(Invited { name: player.name, address })
        });
        Ok(known.unwrap_or_else(|| Invited { name: String::new(), address: address.as_str().to_owned() }))
    }

    /// Returns the asker's open offers as this transaction leaves them so far.
    fn open_offers_of(&mut self, asker: &Asker) -> Decided<Vec<Invitation>> {
        self.touch(Key::Invitations);
        let mut open = self.context.open_invitations()?.to_vec();
        for row in &self.draft.settlement.invitations {
            open.retain(|other| other.code != row.code);
            open.extend(Some(row.clone()).filter(|row| row.stage == InvitationStage::Open));
        }
        open.retain(|row| asker.is(&row.inviter) && row.lapses_at > self.at());
        Ok(open)
    }

    /// Creates a row with a code that is free.
    fn invitation(&mut self, asker: &Asker, to: Option<String>, offer: &Offer) -> Decided<Invitation> {
        let mut random = self.random();
        let mut code = draw_code(&mut random);
        while self.context.invitation(&code)?.is_some() {
            code = draw_code(&mut random);
        }
        let now = self.at();
        Ok(Invitation {
            code,
            inviter: asker.address().to_owned(),
            inviter_name: asker.name.clone(),
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
    fn open_offer(&mut self, code: &str) -> Decided<Option<Invitation>> {
        self.touch(Key::Invitations);
        let decided = &self.draft.settlement.invitations;
        let row = match decided.iter().rev().find(|row| row.code == code) {
            Some(row) => Some(row.clone()),
            None => self.context.invitation(code)?.cloned(),
        };
        Ok(row.filter(|row| row.stage == InvitationStage::Open && row.lapses_at > self.at()))
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
        let offer = offer_of(&row)?;
        let seat = offer.seat.unwrap_or_else(|| draw_seat(&mut self.random()));
        let inviter = seated(&row.inviter_name, &row.inviter)?;
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
        let game_match = self.open_match(&new, Source::Letter(asker.letter))?;
        let taken = InvitationStage::Taken;
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
pub fn lapse_offer(settings: &Settings, context: &RulingContext, row: &Invitation) -> Decided<Settlement> {
    let mut decision = Decision::new(settings, context);
    let plain = ClubLetter::Lapsed {
        to: row.invited.clone(),
        offer: offer_of(row)?.summary(&settings.config.terms),
        code: row.code.clone(),
    };
    let dispatch = decision.tell_inviter(row, &plain)?;
    decision.draft.settlement.dispatches.push(dispatch);
    let lapsed = Invitation { stage: InvitationStage::Lapsed, ..row.clone() };
    decision.draft.settlement.invitations.push(lapsed);
    Ok(decision.draft.settlement)
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

/// Draws a seat by lot.
pub fn draw_seat(random: &mut Random) -> Seat {
    Seat::BOTH[usize::from(random.bytes::<1>()[0] & 1)]
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
fn in_code_letters(written: &str) -> String {
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
