//! A letter of ours worded once more, and compared with the one that was sent.

use chrono::{DateTime, Utc};
use mail_parser::MessageParser;

use super::witness::{self, Line};
use super::{Finding, Place, Sent};
use crate::referee::{Content, Dispatch, Match, Reader, Reply};
use crate::report::again::{Wanted, again, text_of};
use crate::report::envelope::{self, Answered, Envelope, Stationery};
use crate::report::{self, Templates};

/// What letters are worded by today.
pub struct Words<'a> {
    pub stationery: &'a Stationery,
    pub templates: &'a Templates,
}

/// A letter that a ruling brought.
pub struct Expected {
    pub(super) sent: Sent,
    pub(super) m: Match,
    pub(super) dispatch: Dispatch,
    pub(super) at: DateTime<Utc>,
    pub(super) answered: Option<Answered>,
    pub(super) record: Option<String>,
    pub(super) reports_before: Vec<String>,
}

impl Expected {
    pub fn message_id(&self) -> &str {
        &self.sent.message_id
    }

    /// The Message-IDs of the reports that it tells again.
    pub fn reports_wanted(&self) -> &[String] {
        match self.wanted() {
            Some(_) => &self.reports_before,
            None => &[],
        }
    }

    fn replies(&self) -> &[Reply] {
        match &self.dispatch.content {
            Content::Answer(answer) => &answer.replies,
            Content::Invitation
            | Content::Succession
            | Content::Report { .. }
            | Content::Reminder
            | Content::Missed { .. }
            | Content::Notice(_) => &[],
        }
    }

    /// Which reports it tells again: of several commands the last one counts, as when it was written.
    fn wanted(&self) -> Option<Wanted> {
        self.replies().iter().rev().find_map(|reply| match reply {
            Reply::Report { turn } => Some(Wanted::of(*turn)),
            Reply::History => Some(Wanted::All),
            _ => None,
        })
    }

    /// Compares with the bytes that were sent. `true`: byte for byte; `false`: the letter's wording is of another
    /// time, or tells of other matches, and only its ledger line could be compared.
    ///
    /// # Errors
    /// What is wrong.
    pub fn compare(
        &self,
        words: &Words<'_>,
        bytes: Option<&[u8]>,
        reports_before: &[Vec<u8>],
    ) -> Result<bool, Finding> {
        let wrong = |what: &str| {
            Err(Finding { place: Place::Sent(self.sent.message_id.clone()), what: what.to_owned() })
        };
        let Some(bytes) = bytes else { return wrong("its bytes are missing") };
        let line = Line { match_id: self.m.id.clone(), seq: self.m.head.seq, hash: self.m.head.hash };
        let text = text_of(bytes);
        if witness::in_text(&text).last() != Some(&line) {
            return wrong("its ledger line is not that of the ledger: it was changed");
        }
        let seat = match self.dispatch.to {
            Reader::Seat(seat) => Some(seat),
            Reader::Former(_) | Reader::Gm => None,
        };
        if (self.sent.seat, self.sent.kind.as_str()) != (seat, envelope::kind(&self.dispatch.content)) {
            return wrong("it is kept as a letter of another kind, or to another seat");
        }
        let today = words.stationery.wording(words.templates);
        let names_others = self.replies().iter().any(tells_of_others);
        if self.m.desk.wording != today || names_others {
            return Ok(false);
        }
        match self.again(words, bytes, reports_before) {
            Some(again) if again == bytes => Ok(true),
            Some(again) => wrong(&format!("{} was changed", differing_part(&again, bytes))),
            None => wrong("it cannot be made again"),
        }
    }

    /// The letter's bytes, from the match as it was.
    fn again(&self, words: &Words<'_>, bytes: &[u8], reports_before: &[Vec<u8>]) -> Option<Vec<u8>> {
        let mut dispatch = self.dispatch.clone();
        if let (Content::Answer(answer), Some(wanted)) = (&mut dispatch.content, self.wanted()) {
            answer.reports = again(reports_before.iter().map(Vec::as_slice), wanted);
        }
        let local = self.sent.message_id.split('@').next().unwrap_or_default();
        // A letter to a seat or to the GM begins its Message-ID with the reply token.
        let token = match local.split('.').collect::<Vec<_>>()[..] {
            [token, _, _, _, _] => token,
            _ => "",
        };
        let mut page =
            report::word(words.templates, &words.stationery.club(), &self.m, &dispatch, token, self.at)
                .ok()?;
        if let (Content::Report { .. }, Some(record)) = (&dispatch.content, &self.record) {
            page.attachments.push((format!("{}.toml", self.m.id), record.clone()));
        }
        let answered = self.answered.as_ref().filter(|_| matches!(dispatch.content, Content::Answer(_)));
        let mail = MessageParser::default().parse_headers(bytes)?;
        let to_name = mail.to().and_then(|to| to.first()?.name()).unwrap_or_default().to_owned();
        let envelope = Envelope {
            token,
            to_name: &to_name,
            to: &self.sent.recipient,
            message_id: &self.sent.message_id,
            match_id: Some(&self.m.id),
            date: self.at,
        };
        words.stationery.mail(page, &envelope, answered).ok()
    }
}

/// Where two mails first differ, for people.
fn differing_part(one: &[u8], other: &[u8]) -> &'static str {
    let at =
        one.iter().zip(other).position(|(one, other)| one != other).unwrap_or(one.len().min(other.len()));
    let before = String::from_utf8_lossy(&one[..at]);
    match before.rfind("\r\nContent-Type: ").map(|at| &before[at + 16..]) {
        _ if !before.contains("\r\n\r\n") => "its header",
        Some(part) if part.starts_with("text/html") => "its HTML",
        Some(part) if part.starts_with("image/") => "its picture",
        Some(part) if part.starts_with("text/plain") => "its text",
        Some(_) | None => "its body",
    }
}

/// Whether a reply tells of more than its match: it cannot be made again from that match's ledger.
fn tells_of_others(reply: &Reply) -> bool {
    matches!(
        reply,
        Reply::Matches { .. }
            | Reply::Games { .. }
            | Reply::Challenged { .. }
            | Reply::Opened { .. }
            | Reply::Joined { .. }
            | Reply::Declined
            | Reply::NoOffer { .. }
    )
}
