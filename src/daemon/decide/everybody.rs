//! Commands that need no seat: the manual, the games, the sender's own matches, and offers to play. None of them
//! touches a running match.

use super::asker::Asker;
use super::desk::Desk;
use super::offers::{Audience, offer_of};
use super::openings::name_from;
use super::rows::Decided;
use super::summary::match_line;
use crate::letter::Letter;
use crate::referee::{HouseMatch, MatchSummary, Offer, OfferRejection, OpenSeat, Reply, Stage};
use crate::request::{Command, Party};

impl Desk<'_> {
    /// Returns the sender of a letter without a token.
    pub fn asker(&self, letter: &Letter, proven: bool) -> Decided<Asker> {
        let from = letter.from.as_str();
        let is_known = self.standing(from)?.proven_at.is_some();
        Ok(match self.stored_player(from)? {
            Some(player) => {
                let from = from.to_owned();
                let has_token = false;
                Asker { from, proven, is_known, has_token, ..Asker::player(&player, letter) }
            }
            // Not the name in the mail: it would carry anybody's words to people who never asked for them.
            None => Asker {
                name: name_from(&letter.from),
                addresses: vec![from.to_owned()],
                from: from.to_owned(),
                player_id: None,
                letter: letter.digest,
                sender: letter.from.clone(),
                has_token: false,
                proven,
                is_known,
                zone: None,
            },
        })
    }

    /// Replies to a command that needs no seat, and does what it asks. Returns `None` if the command needs a seat.
    pub fn reply_to_everybody(&mut self, asker: &Asker, command: &Command) -> Decided<Option<Reply>> {
        if let Some(rejected) = self.refuse_newcomer(asker, command)? {
            return Ok(Some(rejected));
        }
        let done = match command {
            Command::Help(topic) => return Ok(Some(Reply::Help { topic: topic.clone() })),
            Command::Rules(game) => return Ok(Some(Reply::rules(game.as_deref()))),
            Command::Games => return Ok(Some(Reply::Games { seats: self.open_seats(asker)? })),
            Command::Matches => return Ok(Some(Reply::Matches { matches: self.matches_of(asker)? })),
            Command::Challenge { opponent: Party::Player(opponent), game, options, days } => {
                let offer = Offer::read(game, options, *days);
                self.make_offer(asker, Some(opponent), offer)?
            }
            Command::Challenge { opponent: Party::House(level), game, options, days } => {
                let wanted = HouseMatch::read(game, level.as_deref(), options, *days);
                self.challenge_house(asker, wanted)?
            }
            Command::Open { game, options, days } => {
                self.make_offer(asker, None, Offer::read(game, options, *days))?
            }
            Command::Accept(code) => self.take_up(asker, code, Audience::Asker)?,
            Command::Join(code) => self.take_up(asker, code, Audience::Anyone)?,
            Command::Decline(code) => self.decline(asker, code)?,
            Command::Confirm { code, always } => return Ok(Some(self.confirm_any(asker, code, *always)?)),
            Command::Deny(code) => return Ok(Some(self.deny_any(asker, code)?)),
            Command::Address { address, remove: false } => {
                return Ok(Some(Reply::Change { change: self.ask_to_add(asker, address)? }));
            }
            Command::Address { address, remove: true } => {
                return Ok(Some(Reply::Change { change: self.ask_to_remove(asker, address.as_str())? }));
            }
            Command::Leave { confirmed } => {
                return Ok(Some(Reply::Change { change: self.ask_to_leave(asker, *confirmed)? }));
            }
            Command::Never(code) => self.refuse_challenges(asker, code.as_deref())?,
            Command::Settings(settings) => return Ok(Some(self.change_settings(asker, settings)?)),
            _ => return Ok(None),
        };
        Ok(Some(done.unwrap_or_else(|why: OfferRejection| Reply::NoOffer { command: command.name(), why })))
    }

    /// Follows a CONFIRM, whether its code is for letters, a change of addresses, or commands.
    fn confirm_any(&mut self, asker: &Asker, code: &str, always: bool) -> Decided<Reply> {
        let done = self.confirm_letters(asker, code, always)?;
        if always || !matches!(done, Reply::NothingToConfirm { .. }) {
            return Ok(done);
        }
        match self.confirm_change(asker, code)? {
            Some(change) => Ok(Reply::Change { change }),
            None => self.confirm(asker, code),
        }
    }

    fn deny_any(&mut self, asker: &Asker, code: &str) -> Decided<Reply> {
        let done = self.deny_letters(asker, code)?;
        if !matches!(done, Reply::NothingToConfirm { .. }) {
            return Ok(done);
        }
        Ok(self.deny_change(asker, code)?.map_or(done, |change| Reply::Change { change }))
    }

    /// Returns the offers to anyone that were open when this transaction began.
    fn open_seats(&self, asker: &Asker) -> Decided<Vec<OpenSeat>> {
        let mut seats = Vec::new();
        for row in self.rows.open_invitations()? {
            if row.invited.is_some() || row.lapses_at <= self.at() {
                continue;
            }
            seats.push(OpenSeat {
                code: row.code.clone(),
                by: row.inviter_name.clone(),
                offer: offer_of(row)?.summary(&self.settings.config.terms),
                lapses: asker.local_time(row.lapses_at, &self.settings.config.terms),
            });
        }
        Ok(seats)
    }

    /// Returns a line for each of the asker's matches that is not over, as they were when this transaction began.
    fn matches_of(&self, asker: &Asker) -> Decided<Vec<MatchSummary>> {
        let Some(id) = asker.player_id else { return Ok(Vec::new()) };
        let matches = self.rows.matches_of(id)?.iter();
        let running = matches.filter(|(_, game_match)| game_match.stage != Stage::Over);
        Ok(running.map(|(seat, game_match)| match_line(game_match, *seat, asker.zone)).collect())
    }
}
