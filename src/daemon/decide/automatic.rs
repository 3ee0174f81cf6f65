//! Letters taken for automatic mail. They act for nobody. Whoever may have written one as a person is asked, once a day.

use super::decision::{Decision, Key};
use super::mail::PlainEnvelope;
use super::one_letter::{Sender, sender_of};
use super::returned::failed;
use super::undecided::Decided;
use crate::game::Seat;
use crate::letter::{Address, Automatic, Certainty, Letter, Token};
use crate::referee::DispatchKind;
pub use crate::referee::is_order_of_any_game;
use crate::report::ClubLetter;
use crate::report::envelope::AnsweredLetter;
use crate::store::{LetterStatus, NewDispatch, TokenRow, WaitingLetter};

impl Decision<'_> {
    /// Notes a letter taken for automatic, and marks the seats that it is about.
    pub fn put_by_automatic(
        &mut self,
        waiting: &WaitingLetter,
        letter: &Letter,
        automatic: &Automatic,
    ) -> Decided<()> {
        let writer = self.possible_writer(letter, automatic)?;
        // A bounce does not come from the address that it is about: a person writes about one.
        if writer.is_none() || failed(automatic) != Some(true) {
            self.note_automatic(automatic)?;
        }
        if let Some(sender) = &writer {
            self.ask_writer(letter, sender)?;
        }
        let note = self.note_on_automatic(automatic, &letter.tokens)?;
        self.decided(waiting, LetterStatus::Automatic, note);
        Ok(())
    }

    /// Returns the seat or the GM who may have written the letter: it is only suspicious, and bears their token and
    /// their address. A marked letter is never answered.
    fn possible_writer(&self, letter: &Letter, automatic: &Automatic) -> Decided<Option<Sender>> {
        match automatic.certainty() {
            Certainty::Marked => return Ok(None),
            Certainty::Listed | Certainty::Suspected => {}
        }
        Ok(match sender_of(self.settings, self.context, letter)? {
            sender @ (Sender::Seat(_) | Sender::Gm { has_token: true, .. }) => Some(sender),
            Sender::Gm { has_token: false, .. }
            | Sender::Unknown(_)
            | Sender::GmImpostor
            | Sender::Stranger => None,
        })
    }

    /// Tells the possible writer that nothing was done. Two robots that answer each other stop here, because the note
    /// goes out once a day, whatever comes.
    fn ask_writer(&mut self, letter: &Letter, writer: &Sender) -> Decided<()> {
        let day = self.at().date_naive();
        let (token, unique, match_id, name) = match writer {
            Sender::Seat(TokenRow { token, match_id, seat, player, .. }) => {
                self.touch(Key::Match(match_id.clone()));
                let unique = format!("w.{}.{seat}.{day}", match_id.to_lowercase());
                (token.as_str(), unique, Some(match_id.clone()), player.name.as_str())
            }
            Sender::Gm { gm, .. } => {
                (self.token_of_gm(*gm), format!("w.gm.{day}"), None, self.gm(*gm).name.as_str())
            }
            Sender::Unknown(_) | Sender::GmImpostor | Sender::Stranger => return Ok(()),
        };
        let message_id = self.settings.stationery.message_id(token, &unique);
        if self.is_dispatched(&message_id)? {
            return Ok(());
        }
        let page = self.word_club_letter(&ClubLetter::Suspected { match_id }, token)?;
        let page = self.as_reader_wants(page, letter.from.as_str())?;
        let to = PlainEnvelope {
            name,
            address: letter.from.as_str(),
            unique: &unique,
            kind: DispatchKind::Answer,
        };
        let dispatch = self.assemble(page, token, &to, Some(&AnsweredLetter::new(letter)))?;
        self.draft.settlement.dispatches.push(NewDispatch { answers: Some(letter.digest), ..dispatch });
        Ok(())
    }

    /// Whether a letter with this Message-ID was sent, or will be by this decision.
    pub fn is_dispatched(&self, message_id: &str) -> Decided<bool> {
        let mut decided = self.added(|settlement| &settlement.dispatches);
        Ok(decided.any(|other| other.message_id == message_id)
            || self.context.dispatch(message_id)?.is_some())
    }

    /// Returns why a letter was taken for automatic, and its first line. That line is left out if it reads as an order,
    /// or if a GM plays in the match: it may tell what the rules hide.
    pub fn note_on_automatic(&self, automatic: &Automatic, tokens: &[Token]) -> Decided<String> {
        let reason = automatic.to_string();
        let line = automatic.first_line.as_ref().filter(|line| !is_order_of_any_game(line));
        let Some(line) = line else { return Ok(reason) };
        for token in tokens {
            if let Some(row) = self.context.seat_by_token(token.as_str())?
                && self.has_gm_seated(&row.match_id)?
            {
                return Ok(reason);
            }
        }
        Ok(format!("{reason}; it begins: {line}"))
    }

    /// Whether a GM plays in a match.
    fn has_gm_seated(&self, match_id: &str) -> Decided<bool> {
        let Some(loaded) = self.game_match(match_id)? else { return Ok(false) };
        let mut addresses = Seat::BOTH.into_iter().flat_map(|seat| &loaded.seats[seat].player.addresses);
        Ok(addresses
            .any(|address| Address::parse(address).is_ok_and(|address| self.settings.is_gm(&address))))
    }
}
