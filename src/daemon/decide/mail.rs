//! Letters about no running match: answers to anybody, offers, and letters to the GM.

use super::decision::Decision;
use super::undecided::Decided;
use crate::letter::{Address, Digest};
use crate::referee::DispatchKind;
use crate::report::envelope::{AnsweredLetter, Envelope};
use crate::report::{self, ClubLetter, WordedLetter};
use crate::store::NewDispatch;

/// The reader, the Message-ID and the kind of such a letter.
pub struct PlainEnvelope<'a> {
    pub name: &'a str,
    pub address: &'a str,
    /// The unique part of its Message-ID.
    pub unique: &'a str,
    pub kind: DispatchKind,
}

impl Decision<'_> {
    /// Words a letter that is not an answer.
    pub fn plain_dispatch(&self, plain: &ClubLetter, to: &PlainEnvelope<'_>) -> Decided<NewDispatch> {
        let page = self.word_club_letter(plain, "")?;
        self.assemble(page, "", to, None)
    }

    /// Words an answer to the letter `digest`, which acts for no seat.
    pub fn plain_answer(
        &self,
        plain: &ClubLetter,
        to: &Address,
        digest: Digest,
        answered: Option<&AnsweredLetter>,
    ) -> Decided<NewDispatch> {
        let page = self.word_club_letter(plain, "")?;
        let unique = format!("a.{}", &digest.to_string()[..24]);
        let to =
            PlainEnvelope { name: "", address: to.as_str(), unique: &unique, kind: DispatchKind::Answer };
        let dispatch = self.assemble(page, "", &to, answered)?;
        Ok(NewDispatch { answers: Some(digest), ..dispatch })
    }

    pub fn word_club_letter(&self, plain: &ClubLetter, token: &str) -> Decided<WordedLetter> {
        let club = self.settings.stationery.club();
        Ok(report::word_club_letter(&self.settings.templates, &club, plain, token)?)
    }

    /// Puts a worded letter into its envelope.
    pub fn assemble(
        &self,
        page: WordedLetter,
        token: &str,
        to: &PlainEnvelope<'_>,
        answered: Option<&AnsweredLetter>,
    ) -> Decided<NewDispatch> {
        let message_id = self.settings.stationery.message_id(token, to.unique);
        let envelope = Envelope {
            token,
            to_name: to.name,
            to: to.address,
            message_id: &message_id,
            match_id: None,
            keeps_subject: false,
            date: self.at(),
        };
        let bytes = self.settings.stationery.mail(page, &envelope, answered)?;
        Ok(NewDispatch {
            message_id,
            recipient: to.address.to_owned(),
            bytes,
            kind: to.kind,
            match_id: None,
            seat: None,
            answers: None,
            asked: None,
            due: None,
        })
    }
}
