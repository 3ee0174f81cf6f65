//! A letter of ours worded once more, and compared with the one that was sent.
//!
//! Every byte of a letter is in the chain, by the digest that the next entry tells; so what is compared here is what
//! the digest cannot show: that its words are those that follow from the match. They are made again of every letter.
//! The HTML comes from the same template and the picture from the same view; they are made again, byte for byte,
//! where that is asked for ([`CurrentWording::whole`]) and for the letters of the last ruling, which no entry tells yet.

use std::borrow::Cow;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use mail_parser::MessageParser;

use super::witness::{self, LedgerLine};
use super::{Finding, Place, StoredDispatch};
use crate::letter::{Address, Digest};
use crate::referee::{Content, Dispatch, Match, Reader, Reply};
use crate::report::envelope::{self, AnsweredLetter, Envelope, Stationery};
use crate::report::sent::{ReportSelection, parse_text_part, select_reports};
use crate::report::{self, Club, PictureCache, Templates, WordingInput};

/// What letters are worded by today.
pub struct CurrentWording<'a> {
    pub stationery: &'a Stationery,
    pub templates: &'a Templates,
    /// Their digest ([`Stationery::wording`]).
    pub digest: Digest,
    /// Where pictures are looked up and kept. Letters of one ruling should share it.
    pub pictures: &'a PictureCache,
    /// Whether every HTML and every picture is made again, too.
    pub whole: bool,
}

/// A letter that a ruling brought.
pub struct ExpectedDispatch {
    pub(super) sent: StoredDispatch,
    /// The digest that the ledger tells.
    pub(super) told: Digest,
    /// The last ruling brought it: no entry tells the digest yet, only the snapshot does.
    pub(super) last: bool,
    pub(super) game_match: Arc<Match>,
    pub(super) dispatch: Dispatch,
    pub(super) at: DateTime<Utc>,
    pub(super) answered: Option<AnsweredLetter>,
    pub(super) record: Option<String>,
    pub(super) reports_before: Vec<String>,
}

impl ExpectedDispatch {
    /// The Message-IDs of the reports that it may tell again.
    pub fn earlier_report_ids(&self) -> &[String] {
        &self.reports_before
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
    pub(super) fn wanted(&self) -> Option<ReportSelection> {
        self.replies().iter().rev().find_map(|reply| match reply {
            Reply::Report { turn } => Some(ReportSelection::of(*turn)),
            Reply::History => Some(ReportSelection::All),
            _ => None,
        })
    }

    /// Compares with the letter that was sent. `false`: its wording is of another time, or tells of other matches;
    /// then its bytes and its ledger line were compared, but not its words.
    ///
    /// # Errors
    /// What is wrong.
    pub fn compare(&self, words: &CurrentWording<'_>, reports_before: &[Vec<u8>]) -> Result<bool, Finding> {
        let bytes = &self.sent.bytes[..];
        let known_words =
            self.game_match.desk.wording == words.digest && !self.replies().iter().any(tells_of_others);
        let mail = parse_text_part(bytes);
        let text = mail.as_ref().and_then(|mail| mail.body_text(0)).unwrap_or_default();
        let line = LedgerLine {
            match_id: self.game_match.id.clone(),
            seq: self.game_match.head.seq,
            hash: self.game_match.head.hash,
        };
        if witness::in_text(&text).last() != Some(&line) {
            return self.wrong("its ledger line is not that of the ledger: it was changed");
        }
        if self.sent.digest != self.told {
            let again = self.again(words, reports_before).filter(|_| known_words);
            return self.wrong(&format!("{} was changed", differing_part(again.as_deref(), bytes)));
        }
        let seat = match self.dispatch.to {
            Reader::Seat(seat) => Some(seat),
            Reader::Former(_) | Reader::Gm => None,
        };
        if (self.sent.seat, self.sent.kind) != (seat, envelope::kind(&self.dispatch.content)) {
            return self.wrong("it is kept as a letter of another kind, or to another seat");
        }
        let to = mail.as_ref().and_then(|mail| mail.to()?.first()?.address());
        if (mail.as_ref().and_then(|mail| mail.message_id()), to)
            != (Some(self.sent.message_id.as_str()), Some(self.sent.recipient.as_str()))
        {
            return self.wrong("it is kept under another Message-ID, or to another reader, than it bears");
        }
        if !known_words {
            return Ok(false);
        }
        if words.whole || self.last {
            return match self.again(words, reports_before) {
                Some(again) if again == bytes => Ok(true),
                again => self.wrong(&format!("{} was changed", differing_part(again.as_deref(), bytes))),
            };
        }
        let (club, dispatch) = (self.club(words), self.told_again(reports_before));
        match report::word_text(words.templates, &self.input(&club, &dispatch)) {
            Ok(again) if again.lines().eq(text.lines()) => Ok(true),
            Ok(_) => self.wrong("its text was changed"),
            Err(_) => self.wrong("it cannot be made again"),
        }
    }

    fn wrong<T>(&self, what: &str) -> Result<T, Finding> {
        Err(Finding { place: Place::Sent(self.sent.message_id.clone()), what: what.to_owned() })
    }

    /// A letter to a seat or to the GM begins its Message-ID with the reply token.
    fn token(&self) -> &str {
        let local = self.sent.message_id.split('@').next().unwrap_or_default();
        match local.split('.').collect::<Vec<_>>()[..] {
            [token, _, _, _, _] => token,
            _ => "",
        }
    }

    /// What it says, with the reports that it tells again.
    fn told_again(&self, reports_before: &[Vec<u8>]) -> Cow<'_, Dispatch> {
        let Some(wanted) = self.wanted() else { return Cow::Borrowed(&self.dispatch) };
        let mut dispatch = self.dispatch.clone();
        if let Content::Answer(answer) = &mut dispatch.content {
            answer.reports = select_reports(reports_before.iter().map(Vec::as_slice), wanted);
        }
        Cow::Owned(dispatch)
    }

    /// The club, with the address that the referee had then.
    fn club<'a>(&'a self, words: &'a CurrentWording<'_>) -> Club<'a> {
        Club { name: &words.stationery.club_name, address: &self.game_match.desk.address }
    }

    fn input<'a>(&'a self, club: &'a Club<'a>, dispatch: &'a Dispatch) -> WordingInput<'a> {
        WordingInput { club, game_match: &self.game_match, dispatch, token: self.token(), at: self.at }
    }

    /// The letter's bytes, from the match as it was.
    fn again(&self, words: &CurrentWording<'_>, reports_before: &[Vec<u8>]) -> Option<Vec<u8>> {
        let (club, dispatch) = (self.club(words), self.told_again(reports_before));
        let input = self.input(&club, &dispatch);
        let mut page = report::word(words.templates, &input, words.pictures).ok()?;
        if let (Content::Report { .. }, Some(record)) = (&dispatch.content, &self.record) {
            page.attachments.push((format!("{}.toml", self.game_match.id), record.clone()));
        }
        let answered = self.answered.as_ref().filter(|_| matches!(dispatch.content, Content::Answer(_)));
        let mail = MessageParser::default().parse_headers(&self.sent.bytes[..])?;
        let to_name = mail.to().and_then(|to| to.first()?.name()).unwrap_or_default().to_owned();
        let envelope = Envelope {
            token: input.token,
            to_name: &to_name,
            to: &self.sent.recipient,
            message_id: &self.sent.message_id,
            match_id: Some(&self.game_match.id),
            date: self.at,
        };
        let address = Address::parse(&self.game_match.desk.address).ok()?;
        let stationery = Stationery { address, ..words.stationery.clone() };
        stationery.mail(page, &envelope, answered).ok()
    }
}

/// Where a mail first differs from what it should be, for people.
fn differing_part(again: Option<&[u8]>, bytes: &[u8]) -> &'static str {
    let Some(again) = again else { return "it" };
    let both = again.iter().zip(bytes);
    let at = both.take_while(|(again, found)| again == found).count();
    let before = String::from_utf8_lossy(&again[..at]);
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
