//! What anybody may ask without holding a seat: the manual, the games, his matches, and a match to be played. Nothing
//! here touches a match that is running.

use anyhow::Context;
use chrono::{DateTime, TimeDelta, Utc};

use super::open::{CODE_LETTERS, fit_name, name_from, random};
use super::settle::snapshot;
use super::{Holder, NamedAddress, NewMatch, Office};

use crate::game::{BySeat, Seat};
use crate::ledger::Source;
use crate::letter::{Address, Digest, Letter};
use crate::referee::{
    DispatchKind, HouseMatch, Match, MatchSummary, Offer, OfferRejection, OpenSeat, Reply, Stage,
};
use crate::report::envelope::{AnsweredLetter, Envelope};
use crate::report::{self, ClubLetter, format_local};
use crate::request::{Command, Party};
use crate::store::{Invitation, InvitationStage, NewDispatch, Player, Settlement};

/// An offer stands for so long.
const OFFER_DAYS: i64 = 14;

/// So many offers of one address may be open.
const OFFERS_AT_MOST: usize = 10;

/// Who asks.
pub(super) struct Asker {
    pub name: String,
    /// The one that letters go to first.
    pub addresses: Vec<String>,
    pub player_id: Option<i64>,
    pub letter: Digest,
    /// Nothing is missing to prove that the letter is from there.
    pub proven: bool,
}

impl Asker {
    pub fn player(player: &Player, letter: Digest) -> Asker {
        Asker {
            name: player.name.clone(),
            addresses: player.addresses.clone(),
            player_id: Some(player.id),
            letter,
            proven: true,
        }
    }

    pub fn address(&self) -> &str {
        self.addresses.first().map_or("", String::as_str)
    }

    fn is(&self, address: &str) -> bool {
        self.addresses.iter().any(|own| own == address)
    }
}

impl Office {
    /// Who wrote a letter that came back with no token.
    pub(super) async fn asker(&self, letter: &Letter, proven: bool) -> anyhow::Result<Asker> {
        let from = letter.from.as_str();
        Ok(match self.store.player_by_address(from).await? {
            Some(player) => Asker { proven, ..Asker::player(&player, letter.digest) },
            None => Asker {
                name: name_of_stranger(letter.from_name.as_deref(), &letter.from),
                addresses: vec![from.to_owned()],
                player_id: None,
                letter: letter.digest,
                proven,
            },
        })
    }

    /// The reply to a command that anybody may give, and its effect put on the settlement; `None`: it is no such
    /// command.
    pub(super) async fn for_anybody(
        &self,
        asker: &Asker,
        command: &Command,
        settlement: &mut Settlement,
    ) -> anyhow::Result<Option<Reply>> {
        let refused = |command, done: Result<Reply, OfferRejection>| {
            done.unwrap_or_else(|why| Reply::NoOffer { command, why })
        };
        Ok(Some(match command {
            Command::Help(topic) => Reply::Help { topic: topic.clone() },
            Command::Rules(game) => Reply::rules(game.as_deref()),
            Command::Games => Reply::Games { seats: self.open_seats().await? },
            Command::Matches => Reply::Matches { matches: self.matches_of(asker).await? },
            Command::Challenge { opponent: Party::Player(opponent), game, options, days } => {
                let offer = Offer::read(game, options, *days);
                refused("CHALLENGE", self.offer(asker, Some(opponent), offer, settlement).await?)
            }
            Command::Challenge { opponent: Party::House(level), game, options, days } => {
                let wanted = HouseMatch::read(game, level.as_deref(), options, *days);
                refused("CHALLENGE", self.challenge_house(asker, wanted, settlement).await?)
            }
            Command::Open { game, options, days } => {
                refused("OPEN", self.offer(asker, None, Offer::read(game, options, *days), settlement).await?)
            }
            Command::Accept(code) => refused("ACCEPT", self.take_up(asker, code, true, settlement).await?),
            Command::Join(code) => refused("JOIN", self.take_up(asker, code, false, settlement).await?),
            Command::Decline(code) => refused("DECLINE", self.decline(asker, code, settlement).await?),
            Command::Status
            | Command::Report(_)
            | Command::History
            | Command::Tell(_)
            | Command::Resign { .. }
            | Command::Draw
            | Command::Extend { .. }
            | Command::Agree
            | Command::Absent { .. }
            | Command::Substitute
            | Command::Protest(_)
            | Command::Gm(_) => return Ok(None),
        }))
    }

    async fn open_seats(&self) -> anyhow::Result<Vec<OpenSeat>> {
        let open = self.store.open_invitations(None).await?;
        let seats = open.iter().filter(|row| row.invited.is_none() && row.lapses_at > self.now());
        seats
            .map(|row| {
                Ok(OpenSeat {
                    code: row.code.clone(),
                    by: row.inviter_name.clone(),
                    offer: offer_of(row)?.summary(&self.config.terms),
                    lapses: self.tell_time(row.lapses_at),
                })
            })
            .collect()
    }

    /// A line for each match that is not over; of those that are, the last few.
    async fn matches_of(&self, asker: &Asker) -> anyhow::Result<Vec<MatchSummary>> {
        let Some(id) = asker.player_id else { return Ok(Vec::new()) };
        let rows = self.store.matches_of(id).await?;
        let ids: Vec<String> = rows.iter().map(|row| row.id.clone()).collect();
        let seats = self.store.seats_of(&ids).await?;
        let mut lines = Vec::new();
        for row in &rows {
            let game_match = snapshot(row)?;
            let mine = seats.iter().find(|seat| seat.match_id == row.id && seat.player.id == id);
            let Some(mine) = mine.filter(|_| game_match.stage != Stage::Over) else { continue };
            lines.push(match_line(&game_match, mine.seat));
        }
        Ok(lines)
    }

    /// Makes an offer to `opponent`, or to anyone.
    async fn offer(
        &self,
        asker: &Asker,
        opponent: Option<&Address>,
        offer: Result<Offer, OfferRejection>,
        settlement: &mut Settlement,
    ) -> anyhow::Result<Result<Reply, OfferRejection>> {
        let offer = match offer {
            Ok(offer) if asker.proven => offer,
            Ok(_) => return Ok(Err(OfferRejection::Unproven)),
            Err(why) => return Ok(Err(why)),
        };
        let invited = match opponent {
            Some(address) => Some(self.known_as(address).await?),
            None => None,
        };
        let ours = opponent.is_some_and(|address| address.base() == self.config.club.address);
        if ours || invited.as_ref().is_some_and(|(_, address)| asker.is(address)) {
            return Ok(Err(OfferRejection::Yourself));
        }
        let to = invited.as_ref().map(|(_, address)| address.clone());
        let mut open = self.store.open_invitations(None).await?;
        for row in &settlement.invitations {
            open.retain(|other| other.code != row.code);
            open.extend(Some(row.clone()).filter(|row| row.stage == InvitationStage::Open));
        }
        open.retain(|row| asker.is(&row.inviter) && row.lapses_at > self.now());
        if let Some(same) = open.iter().find(|row| row.invited == to && row.game == offer.game) {
            return Ok(Err(OfferRejection::Standing { code: same.code.clone() }));
        }
        if open.len() >= OFFERS_AT_MOST {
            return Ok(Err(OfferRejection::TooMany { most: OFFERS_AT_MOST }));
        }
        let row = self.invitation(asker, to, &offer).await?;
        let (code, lapses) = (row.code.clone(), self.tell_time(row.lapses_at));
        settlement.invitations.push(row);
        let told = offer.summary(&self.config.terms);
        Ok(Ok(match invited {
            None => Reply::Opened { code, offer: told, lapses },
            Some((name, address)) => {
                let (by, offer, lapses_again) = (asker.name.clone(), told.clone(), lapses.clone());
                let plain = ClubLetter::Challenge { by, offer, code: code.clone(), lapses: lapses_again };
                let unique = format!("c.{}", code.to_lowercase());
                settlement.dispatches.push(self.plain_dispatch(
                    &plain,
                    (&name, &address),
                    &unique,
                    DispatchKind::Challenge,
                )?);
                Reply::Challenged { to: address, code, offer: told, lapses }
            }
        }))
    }

    /// The name and the first address of whoever has this one.
    async fn known_as(&self, address: &Address) -> anyhow::Result<(String, String)> {
        let player = self.store.player_by_address(address.as_str()).await?;
        let known = player.and_then(|player| Some((player.name, player.addresses.into_iter().next()?)));
        Ok(known.unwrap_or_else(|| (String::new(), address.as_str().to_owned())))
    }

    /// A new row, under a code that is not taken.
    async fn invitation(
        &self,
        asker: &Asker,
        to: Option<String>,
        offer: &Offer,
    ) -> anyhow::Result<Invitation> {
        let mut code = draw_code()?;
        while self.store.invitation(&code).await?.is_some() {
            code = draw_code()?;
        }
        let now = self.now();
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

    /// The open offer with this code, as it is after what is settled already.
    async fn offered(&self, code: &str, settlement: &Settlement) -> anyhow::Result<Option<Invitation>> {
        let settled = settlement.invitations.iter().rev().find(|row| row.code == code).cloned();
        let row = match settled {
            Some(row) => Some(row),
            None => self.store.invitation(code).await?,
        };
        Ok(row.filter(|row| row.stage == InvitationStage::Open && row.lapses_at > self.now()))
    }

    /// ACCEPT (`personal`) takes up an offer made to the asker, JOIN one made to anyone.
    async fn take_up(
        &self,
        asker: &Asker,
        written: &str,
        personal: bool,
        settlement: &mut Settlement,
    ) -> anyhow::Result<Result<Reply, OfferRejection>> {
        if !asker.proven {
            return Ok(Err(OfferRejection::Unproven));
        }
        let code = meant(written);
        let row = self.offered(&code, settlement).await?.filter(|row| match &row.invited {
            Some(invited) => personal && asker.is(invited),
            None => !personal,
        });
        let Some(row) = row else { return Ok(Err(OfferRejection::NoSuchCode { code })) };
        if asker.is(&row.inviter) {
            return Ok(Err(OfferRejection::Yourself));
        }
        let offer = offer_of(&row)?;
        let seat = drawn(offer.seat)?;
        let seated = |name: &str, address: &str| -> anyhow::Result<NamedAddress> {
            let address = Address::parse(address).context("an address that was kept")?;
            Ok(NamedAddress { name: name.to_owned(), address })
        };
        let (theirs, own) = (seated(&row.inviter_name, &row.inviter)?, seated(&asker.name, asker.address())?);
        let new = NewMatch {
            game: offer.game,
            choices: offer.choices.clone(),
            players: match seat {
                Seat::First => BySeat::new(theirs, own),
                Seat::Second => BySeat::new(own, theirs),
            }
            .map(Holder::Player),
            terms: offer.terms(&self.config.terms),
        };
        let game_match = self.open_into(&new, Source::Letter(asker.letter), settlement).await?;
        let (stage, match_id) = (InvitationStage::Taken, Some(game_match.id.clone()));
        settlement.invitations.push(Invitation { stage, match_id, ..row });
        Ok(Ok(Reply::Joined { match_id: game_match.id }))
    }

    /// Who was invited says no, or who offered takes it back.
    async fn decline(
        &self,
        asker: &Asker,
        written: &str,
        settlement: &mut Settlement,
    ) -> anyhow::Result<Result<Reply, OfferRejection>> {
        if !asker.proven {
            return Ok(Err(OfferRejection::Unproven));
        }
        let code = meant(written);
        let to_asker = |row: &Invitation| row.invited.as_deref().is_some_and(|invited| asker.is(invited));
        let row = self.offered(&code, settlement).await?;
        let Some(row) = row.filter(|row| to_asker(row) || asker.is(&row.inviter)) else {
            return Ok(Err(OfferRejection::NoSuchCode { code }));
        };
        if to_asker(&row) {
            let told = ClubLetter::Declined {
                to: asker.name.clone(),
                offer: offer_of(&row)?.summary(&self.config.terms),
            };
            settlement.dispatches.push(self.news_of(&row, &told)?);
        }
        settlement.invitations.push(Invitation { stage: InvitationStage::Declined, ..row });
        Ok(Ok(Reply::Declined))
    }

    /// Closes the offers whose time is over, and tells who made them.
    pub(super) async fn lapse_offers(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        for row in self.store.open_invitations(Some(now)).await? {
            let (to, offer) = (row.invited.clone(), offer_of(&row)?.summary(&self.config.terms));
            let told = self.news_of(&row, &ClubLetter::Lapsed { to, offer, code: row.code.clone() })?;
            let lapsed = Invitation { stage: InvitationStage::Lapsed, ..row };
            let settlement = Settlement {
                at: now,
                invitations: vec![lapsed],
                dispatches: vec![told],
                ..Settlement::default()
            };
            match self.store.commit(&settlement).await {
                Ok(()) => self.dispatches.notify_one(),
                // Taken up or closed by somebody else at this very moment.
                Err(crate::store::StoreError::Stale(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// A letter to who made the offer.
    fn news_of(&self, row: &Invitation, plain: &ClubLetter) -> anyhow::Result<NewDispatch> {
        let unique = format!("o.{}", row.code.to_lowercase());
        self.plain_dispatch(plain, (&row.inviter_name, &row.inviter), &unique, DispatchKind::Offer)
    }

    /// A letter about no running match, answering none.
    pub(super) fn plain_dispatch(
        &self,
        plain: &ClubLetter,
        to: (&str, &str),
        unique: &str,
        kind: DispatchKind,
    ) -> anyhow::Result<NewDispatch> {
        let page = report::word_club_letter(&self.templates, &self.stationery.club(), plain, "")?;
        let message_id = self.stationery.message_id("", unique);
        let bytes = self.plain_mail(page, "", to, &message_id, None)?;
        Ok(NewDispatch {
            message_id,
            recipient: to.1.to_owned(),
            bytes,
            kind,
            match_id: None,
            seat: None,
            answers: None,
            asked: None,
        })
    }

    /// The bytes of a letter about no running match.
    pub(super) fn plain_mail(
        &self,
        page: report::WordedLetter,
        token: &str,
        (to_name, to): (&str, &str),
        message_id: &str,
        answered: Option<&AnsweredLetter>,
    ) -> anyhow::Result<Vec<u8>> {
        let envelope = Envelope { token, to_name, to, message_id, match_id: None, date: self.now() };
        Ok(self.stationery.mail(page, &envelope, answered)?)
    }

    /// In the club's zone.
    pub(super) fn tell_time(&self, at: DateTime<Utc>) -> String {
        format_local(at, self.config.terms.zone)
    }
}

/// A match in one line, as the player of `seat` reads it.
pub(super) fn match_line(game_match: &Match, seat: Seat) -> MatchSummary {
    let phase = match (game_match.due(), game_match.state.outcome()) {
        (Some(_), _) if game_match.stage == Stage::Paused => "paused".to_owned(),
        (Some(due), _) if due.turn == 0 => "in its setup".to_owned(),
        (Some(due), _) => format!("in turn {}", due.turn),
        (None, Some(outcome)) => format!("over ({})", outcome.reason),
        (None, None) => String::new(),
    };
    let deadline = game_match.deadline.filter(|_| game_match.stage == Stage::Running);
    MatchSummary {
        id: game_match.id.clone(),
        game_name: game_match.game.name(),
        foe: game_match.players[seat.other()].clone(),
        phase,
        awaited: game_match.awaited().iter().map(|seat| game_match.players[*seat].clone()).collect(),
        due: deadline,
        due_at: deadline.map(|deadline| format_local(deadline, game_match.terms.zone)),
    }
}

/// The seat that is wanted, or one drawn by lot.
pub(super) fn drawn(wanted: Option<Seat>) -> anyhow::Result<Seat> {
    match wanted {
        Some(seat) => Ok(seat),
        None => Ok(Seat::BOTH[usize::from(random::<1>()?[0] & 1)]),
    }
}

fn offer_of(row: &Invitation) -> anyhow::Result<Offer> {
    let offer: Offer = serde_json::from_str(&row.offer).with_context(|| format!("the offer {}", row.code))?;
    debug_assert_eq!(row.game, offer.game);
    Ok(offer)
}

/// Six letters, of which one at least is a digit: so it reads as a code in any case.
fn draw_code() -> anyhow::Result<String> {
    let letters: [u8; 6] = random()?;
    let mut code = letters.map(|byte| char::from(CODE_LETTERS[usize::from(byte % 32)]));
    if !code.iter().any(char::is_ascii_digit) {
        code[0] = char::from(b'2' + letters[0] % 8);
    }
    Ok(code.iter().collect())
}

/// A code as it was meant, in Crockford's letters.
fn meant(written: &str) -> String {
    let letter = |c: char| match c.to_ascii_uppercase() {
        'O' => '0',
        'I' | 'L' => '1',
        c => c,
    };
    written.chars().map(letter).collect()
}

/// The name of a stranger as others may be told it: his mail's, if it is a name and no message.
fn name_of_stranger(name: Option<&str>, address: &Address) -> String {
    let fits = |name: &&str| {
        let odd = |c: char| matches!(c, '@' | '/' | ':' | '<' | '>');
        !name.contains(odd) && !name.contains("www.") && fit_name(name).is_ok()
    };
    name.filter(fits).map_or_else(|| name_from(address), str::to_owned)
}
