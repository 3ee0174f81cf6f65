//! Letters beyond the limits, or without exactly one sender: one short answer says what is wrong.

use super::desk::Desk;
use super::mail::PlainEnvelope;
use super::rows::{Decided, or_lacking};
use crate::letter::{Address, Digest, UnreadableLetter};
use crate::referee::DispatchKind;
use crate::report::ClubLetter;
use crate::report::envelope::AnsweredLetter;
use crate::store::{LetterStatus, NewDispatch, WaitingLetter};

impl Desk<'_> {
    /// Tells the sender of a letter that cannot be read why that is, in its thread. If the sender is unclear, tells each
    /// registered address that the letter names as one.
    pub fn answer_unreadable(&mut self, waiting: &WaitingLetter, letter: &UnreadableLetter) -> Decided<()> {
        if let Some(automatic) = &letter.automatic {
            self.note_automatic(automatic)?;
            let note = self.note_on_automatic(automatic, &letter.tokens)?;
            self.decided(waiting, LetterStatus::Automatic, note);
            return Ok(());
        }
        let mut readers: Vec<Address> = letter.answerable.iter().cloned().collect();
        for address in &letter.named_senders {
            let player = or_lacking(self.player(address.as_str()))?;
            if player.flatten().is_some() || self.settings.is_gm(address) {
                readers.push(address.clone());
            }
        }
        self.rows.check()?;
        for reader in &readers {
            self.tell_limit(waiting, letter, reader)?;
        }
        let status = if readers.is_empty() { LetterStatus::Ignored } else { LetterStatus::Answered };
        self.decided(waiting, status, letter.reason.to_string());
        Ok(())
    }

    /// Tells one address, once an hour.
    fn tell_limit(
        &mut self,
        waiting: &WaitingLetter,
        letter: &UnreadableLetter,
        to: &Address,
    ) -> Decided<()> {
        let reader = Digest::of(to.as_str().as_bytes()).to_string();
        let unique = format!("l.{}.{}", &reader[..24], self.at().format("%Y%m%d%H"));
        if self.is_dispatched(&self.settings.stationery.message_id("", &unique))? {
            return Ok(());
        }
        let limits = self.settings.config.letters.limits();
        let page = self.word_club_letter(&ClubLetter::unreadable(letter.reason, &limits), "")?;
        let page = self.as_reader_wants(page, to.as_str())?;
        let answered = AnsweredLetter {
            digest: waiting.digest,
            message_id: letter.message_id.clone(),
            references: letter.references.clone(),
            subject: letter.subject.clone(),
        };
        let envelope =
            PlainEnvelope { name: "", address: to.as_str(), unique: &unique, kind: DispatchKind::Answer };
        let dispatch = self.assemble(page, "", &envelope, Some(&answered))?;
        let mut dispatch = NewDispatch { answers: Some(waiting.digest), ..dispatch };
        if let Some(slot) = self.take_answer_slot(to.as_str())? {
            slot.apply(&mut dispatch);
            self.draft.settlement.dispatches.push(dispatch);
        }
        Ok(())
    }
}
