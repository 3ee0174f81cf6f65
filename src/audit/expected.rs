//! Words our letters again and compares them with those that were sent.
//!
//! The next entry of the chain contains a letter's digest, which covers every byte. What the digest cannot prove is
//! that the words follow from the match, so the text of every letter is reproduced. HTML and pictures come from the
//! same templates and views; they are reproduced, byte for byte, only on request ([`CurrentWording::whole`]) and for
//! the letters of the last ruling, whose digests no entry contains yet.

use std::borrow::Cow;
use std::sync::Arc;

use chrono::{DateTime, Utc};
use mail_parser::MessageParser;

use super::verdict::{Finding, Place};
use super::witness::{self, LedgerLine};
use crate::game::Seat;
use crate::ledger::{LedgerForm, SealKey};
use crate::letter::{Address, Digest};
use crate::referee::{Content, Dispatch, DispatchKind, Match, Notice, Reader, Reply};
use crate::report::envelope::{self, AnsweredLetter, Envelope, PlaceInMatch, Stationery};
use crate::report::pin::{pin, pin_in, pin_of};
use crate::report::sent::{parse_text_part, repeated_reports, repeats_reports};
use crate::report::{self, Club, PictureCache, Templates, WordingInput};

/// One of our letters as it is stored.
#[derive(Clone, Debug)]
pub struct StoredDispatch {
    pub message_id: String,
    pub recipient: String,
    pub kind: DispatchKind,
    pub seat: Option<Seat>,
    pub sent_at: Option<DateTime<Utc>>,
    pub bytes: Vec<u8>,
}

impl StoredDispatch {
    /// Its pin in a ledger of this form.
    fn pin(&self, form: LedgerForm) -> Digest {
        pin_in(form, &self.bytes)
    }

    /// What its Message-ID names.
    pub(super) fn place(&self, match_id: &str, key: &SealKey) -> Option<PlaceInMatch<'_>> {
        PlaceInMatch::read(&self.message_id, match_id, key)
    }
}

/// The settings and templates that letters are worded with again.
pub struct CurrentWording<'a> {
    pub stationery: &'a Stationery,
    pub templates: &'a Templates,
    /// Their digest ([`Wording::digest`](crate::report::wording::Wording::digest)).
    pub digest: Digest,
    /// The cache of rendered pictures. Letters of one ruling should share it.
    pub pictures: &'a PictureCache,
    /// Whether to reproduce all HTML and pictures, too.
    pub whole: bool,
}

/// How a letter was compared with the one that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compared {
    /// It was worded again.
    Worded,
    /// By its bytes alone, because it tells something about other matches.
    AboutOthers,
    /// By its bytes alone, because another version of this program worded it.
    OfAnotherVersion,
}

/// A letter that a repeated ruling sends, with the one that was sent.
pub struct ExpectedDispatch {
    pub(super) stored: StoredDispatch,
    /// Its pin according to the ledger.
    pub(super) told: Digest,
    /// Whether the last ruling sent it. If so, only the snapshot contains the digest, and no entry yet.
    pub(super) last: bool,
    pub(super) game_match: Arc<Match>,
    pub(super) dispatch: Dispatch,
    pub(super) at: DateTime<Utc>,
    pub(super) answered: Option<AnsweredLetter>,
    pub(super) record: Option<String>,
    /// It answers a part of a letter, and may name what became of the others.
    pub(super) answers_part: bool,
    /// The Message-IDs of the seat's earlier reports, if the letter repeats some.
    pub(super) earlier_reports: Vec<String>,
}

impl ExpectedDispatch {
    /// The digest of the wording that it was worded with.
    pub fn wording(&self) -> Digest {
        self.game_match.desk.wording
    }

    pub fn message_id(&self) -> &str {
        &self.stored.message_id
    }

    /// Returns its bytes with the picture, which may have been dropped, if they have its pin.
    pub fn redraw(&self, words: &CurrentWording<'_>, earlier_reports: &[Vec<u8>]) -> Option<Vec<u8>> {
        self.reproduce(words, earlier_reports)
            .filter(|bytes| pin_in(self.game_match.form, bytes) == self.told)
    }

    /// The club's own templates that may have shaped it.
    pub fn own_templates(&self) -> Vec<String> {
        match self.dispatch.to {
            Reader::Seat(_) => self.game_match.own_templates().into_keys().collect(),
            Reader::Former(_) | Reader::Gm => Vec::new(),
        }
    }

    /// The Message-IDs of the reports that it may repeat.
    pub fn earlier_report_ids(&self) -> &[String] {
        &self.earlier_reports
    }

    fn replies(&self) -> &[Reply] {
        self.dispatch.content.answer().map_or(&[], |answer| &answer.replies)
    }

    /// Whether it tells something about other matches, so that this match's ledger is not enough to reproduce it.
    fn reports_on_others(&self) -> bool {
        // An absence counts in all matches of its player, and names those that the reader plays in.
        let is_absence = matches!(
            &self.dispatch.content,
            Content::Notice(Notice::Absent { .. } | Notice::Absences { .. })
        );
        self.answers_part || is_absence || self.replies().iter().any(reports_on_others)
    }

    /// Whether it repeats earlier reports.
    pub(super) fn repeats_reports(&self) -> bool {
        self.replies().iter().any(repeats_reports)
    }

    /// Whether the letter names the ledger's head.
    fn has_ledger_line(&self, line: &LedgerLine) -> bool {
        let Match { id, head, .. } = &*self.game_match;
        (&line.match_id, line.hash) == (id, head.hash)
    }

    /// Compares the letter with the one that was sent. If the wording has changed since, or the letter reports on other
    /// matches, only its bytes and its ledger line are compared.
    ///
    /// # Errors
    /// [`Finding`] if the letter was changed or is stored under wrong data.
    pub fn compare(
        &self,
        words: &CurrentWording<'_>,
        earlier_reports: &[Vec<u8>],
    ) -> Result<Compared, Finding> {
        let bytes = &self.stored.bytes[..];
        let known_words = self.game_match.desk.wording == words.digest && !self.reports_on_others();
        let text = self.check_bytes(|| self.reproduce(words, earlier_reports).filter(|_| known_words))?;
        if !known_words {
            return Ok(self.compared_by_bytes());
        }
        if words.whole || self.last {
            return match self.reproduce(words, earlier_reports) {
                Some(reproduced) if reproduced == bytes => Ok(Compared::Worded),
                // Its picture may have been dropped.
                Some(reproduced) if self.game_match.form.pins_contents() && pin(&reproduced) == self.told => {
                    Ok(Compared::Worded)
                }
                reproduced => {
                    self.finding(&format!("{} was changed", differing_part(reproduced.as_deref(), bytes)))
                }
            };
        }
        let club = self.club(words);
        let dispatch = self.dispatch_with_reports(earlier_reports);
        match report::word_text(words.templates, &self.input(&club, &dispatch)) {
            Ok(reproduced) if reproduced.lines().eq(text.lines()) => Ok(Compared::Worded),
            Ok(_) => self.finding("its text was changed"),
            Err(_) => self.finding("it cannot be worded again"),
        }
    }

    /// Compares the bytes with the pin, and what the letter is stored under with its own. Returns its text. `reproduce`
    /// words it again, to name the part that was changed.
    fn check_bytes(&self, reproduce: impl FnOnce() -> Option<Vec<u8>>) -> Result<String, Finding> {
        let bytes = &self.stored.bytes[..];
        let pins_contents = self.game_match.form.pins_contents();
        // For a pin of the contents, the letter is parsed once and whole.
        let mail = match pins_contents {
            true => MessageParser::default().parse(bytes),
            false => parse_text_part(bytes),
        };
        let text = mail.as_ref().and_then(|mail| mail.body_text(0)).unwrap_or_default();
        if !witness::in_text(&text).last().is_some_and(|line| self.has_ledger_line(line)) {
            return self.finding("its ledger line differs from the ledger: it was changed");
        }
        let pinned = match &mail {
            Some(mail) if pins_contents => pin_of(bytes, mail),
            Some(_) | None => self.stored.pin(self.game_match.form),
        };
        if pinned != self.told {
            return self.finding(&format!("{} was changed", differing_part(reproduce().as_deref(), bytes)));
        }
        let seat = match self.dispatch.to {
            Reader::Seat(seat) => Some(seat),
            Reader::Former(_) | Reader::Gm => None,
        };
        if (self.stored.seat, self.stored.kind) != (seat, envelope::kind(&self.dispatch.content)) {
            return self.finding("it is stored as a letter of another kind or to another seat");
        }
        let to = mail.as_ref().and_then(|mail| mail.to()?.first()?.address());
        if (mail.as_ref().and_then(|mail| mail.message_id()), to)
            != (Some(self.stored.message_id.as_str()), Some(self.stored.recipient.as_str()))
        {
            return self.finding("it is stored under a Message-ID or recipient other than its own");
        }
        Ok(text.into_owned())
    }

    /// Compares the letter's bytes and its ledger line with those that were sent, without wording it again.
    ///
    /// # Errors
    /// Same as [`ExpectedDispatch::compare`].
    pub fn compare_bytes(&self) -> Result<Compared, Finding> {
        self.check_bytes(|| None)?;
        Ok(self.compared_by_bytes())
    }

    fn compared_by_bytes(&self) -> Compared {
        if self.reports_on_others() {
            return Compared::AboutOthers;
        }
        Compared::OfAnotherVersion
    }

    /// The number of the last entry of the ruling that sent it.
    pub fn seq(&self) -> u64 {
        self.game_match.head.seq
    }

    fn finding<T>(&self, what: &str) -> Result<T, Finding> {
        Err(Finding { place: Place::Sent(self.stored.message_id.clone()), what: what.to_owned() })
    }

    /// The reply token at the start of the Message-ID of a letter to a seat or to the GM; empty for other letters.
    pub(super) fn token(&self) -> &str {
        let place = self.stored.place(&self.game_match.id, self.game_match.first_key());
        place.map_or("", |place| place.token)
    }

    /// The dispatch with the reports that it repeats.
    fn dispatch_with_reports(&self, earlier_reports: &[Vec<u8>]) -> Cow<'_, Dispatch> {
        if !self.repeats_reports() {
            return Cow::Borrowed(&self.dispatch);
        }
        let mut dispatch = self.dispatch.clone();
        if let Some(answer) = dispatch.content.answer_mut() {
            let earlier = earlier_reports.iter().map(Vec::as_slice);
            answer.reports = repeated_reports(&answer.replies, earlier, &self.game_match);
        }
        Cow::Owned(dispatch)
    }

    /// The club, with the address that the referee had when it sent the letter.
    fn club<'a>(&'a self, words: &'a CurrentWording<'_>) -> Club<'a> {
        Club { address: &self.game_match.desk.address, ..words.stationery.club() }
    }

    fn input<'a>(&'a self, club: &'a Club<'a>, dispatch: &'a Dispatch) -> WordingInput<'a> {
        WordingInput { club, game_match: &self.game_match, dispatch, token: self.token(), at: self.at }
    }

    /// Reproduces the letter's bytes from the match as it was; `None` if that fails.
    fn reproduce(&self, words: &CurrentWording<'_>, earlier_reports: &[Vec<u8>]) -> Option<Vec<u8>> {
        let club = self.club(words);
        let dispatch = self.dispatch_with_reports(earlier_reports);
        let input = self.input(&club, &dispatch);
        let mut page = report::word(words.templates, &input, words.pictures).ok()?;
        if let (Content::Report { .. }, Some(record)) = (&dispatch.content, &self.record) {
            page.attachments.push((format!("{}.toml", self.game_match.id), record.clone()));
        }
        let answered = self.answered.as_ref().filter(|_| dispatch.content.answer().is_some());
        let mail = MessageParser::default().parse_headers(&self.stored.bytes[..])?;
        let to_name = mail.to().and_then(|to| to.first()?.name()).unwrap_or_default().to_owned();
        let envelope = Envelope {
            token: input.token,
            to_name: &to_name,
            to: &self.stored.recipient,
            message_id: &self.stored.message_id,
            match_id: Some(&self.game_match.id),
            keeps_subject: matches!(dispatch.content, Content::Report { .. }),
            date: self.at,
        };
        let address = Address::parse(&self.game_match.desk.address).ok()?;
        let stationery = Stationery { address, ..words.stationery.clone() };
        stationery.mail(page, &envelope, answered).ok()
    }
}

/// Names the part in which a mail first differs from the reproduced one, for people.
fn differing_part(reproduced: Option<&[u8]>, bytes: &[u8]) -> &'static str {
    let Some(reproduced) = reproduced else { return "it" };
    let both = reproduced.iter().zip(bytes);
    let at = both.take_while(|(reproduced, found)| reproduced == found).count();
    let before = String::from_utf8_lossy(&reproduced[..at]);
    match before.rfind("\r\nContent-Type: ").map(|at| &before[at + 16..]) {
        _ if !before.contains("\r\n\r\n") => "its header",
        Some(part) if part.starts_with("text/html") => "its HTML",
        Some(part) if part.starts_with("image/") => "its picture",
        Some(part) if part.starts_with("text/plain") => "its text",
        Some(_) | None => "its body",
    }
}

/// Whether a reply reports on other matches, so that this match's ledger is not enough to reproduce it. The referee
/// answers `NotHere` where a command needs no match, and the shell replaces that.
fn reports_on_others(reply: &Reply) -> bool {
    matches!(
        reply,
        Reply::Matches { .. }
            | Reply::Games { .. }
            | Reply::NotHere { .. }
            | Reply::LeftOut { .. }
            | Reply::AbsenceNoted { .. }
            | Reply::AbsenceRefused { .. }
            // It answers ABSENT too, which counts in the player's other matches all the same.
            | Reply::MatchOver
    )
}
