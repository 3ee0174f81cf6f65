//! Addresses a worded letter: its Message-ID, its header and its thread.

use chrono::{DateTime, Utc};

use super::mime::{self, Header, MimeError};
use super::pin::pin_of_new;
use crate::ledger::{unique_start, with_mark};
use crate::letter::{Address, Digest, Letter};
use crate::referee::{Content, DispatchKind, HouseDefaults, Match};
use crate::report::{Letterhead, WordedLetter};

/// The settings that all letters of the club have in common.
#[derive(Clone, Debug)]
pub struct Stationery {
    pub club_name: String,
    /// The referee's address.
    pub address: Address,
    /// Whether the mailbox accepts `local+anything@domain`. Reply-To addresses then contain the reply token.
    pub plus_addresses: bool,
    /// The URL of the page on which readers compose letters, if letters link it.
    pub board_page: Option<String>,
    /// The domain of the Message-IDs we make.
    pub message_id_domain: String,
    /// The defaults of matches against the house, which the manual states.
    pub house: HouseDefaults,
}

/// The parts of an answered letter that the answer's header needs.
#[derive(Clone, Debug)]
pub struct AnsweredLetter {
    pub digest: Digest,
    pub message_id: Option<String>,
    pub references: Vec<String>,
    pub subject: String,
}

impl AnsweredLetter {
    pub fn new(letter: &Letter) -> Self {
        AnsweredLetter {
            digest: letter.digest,
            message_id: letter.message_id.clone(),
            references: letter.references.clone(),
            subject: letter.subject.clone(),
        }
    }
}

/// The header data that differs from letter to letter.
#[derive(Clone, Debug)]
pub struct Envelope<'a> {
    /// The reply token of the recipient's seat, or of the GM; empty for anybody else.
    pub token: &'a str,
    pub to_name: &'a str,
    pub to: &'a str,
    /// Has no angle brackets.
    pub message_id: &'a str,
    /// The match that the letter is about.
    pub match_id: Option<&'a str>,
    /// Whether the letter keeps its own subject even as an answer. Reports do, because readers find them by
    /// it.
    pub keeps_subject: bool,
    pub date: DateTime<Utc>,
}

impl Stationery {
    pub fn club(&self) -> Letterhead<'_> {
        Letterhead {
            name: &self.club_name,
            address: self.address.as_str(),
            board_page: self.board_page.as_deref(),
            house: self.house,
        }
    }

    /// Returns `TOKEN.UNIQUE@domain`, or `UNIQUE@domain` if there is no token.
    pub fn message_id(&self, token: &str, unique: &str) -> String {
        let domain = &self.message_id_domain;
        if token.is_empty() { format!("{unique}@{domain}") } else { format!("{token}.{unique}@{domain}") }
    }

    /// Returns the Message-ID of a letter, with its mark.
    pub fn marked_message_id(&self, token: &str, unique: &str, letter: &WordedLetter) -> String {
        self.message_id(token, &with_text_mark(unique, letter))
    }

    /// Returns the bytes of a mail, and its pin. Equal letters with equal envelopes give equal bytes.
    ///
    /// # Errors
    /// [`MimeError`] if one of the addresses is not a mail address.
    pub fn mail(
        &self,
        mut letter: WordedLetter,
        envelope: &Envelope<'_>,
        answered: Option<&AnsweredLetter>,
    ) -> Result<(Vec<u8>, Digest), MimeError> {
        let Envelope { token, to_name, to, message_id, match_id, keeps_subject, date } = *envelope;
        let mut references: Vec<String> = Vec::new();
        if let Some(match_id) = match_id.filter(|_| !token.is_empty()) {
            // No letter has this Message-ID, but references to it make mail programs show one thread per
            // match.
            references.push(self.message_id(token, &match_id.to_lowercase()));
        }
        if let Some(answered) = answered {
            if !keeps_subject {
                letter.subject = reply_subject(&answered.subject, &letter.subject);
            }
            let thread = references.clone();
            let older = answered.references.iter().filter(|id| !thread.contains(id));
            references.extend(latest_within(older, MAX_REFERENCES));
            references.extend(answered.message_id.clone());
        }
        let reply_to = if self.plus_addresses && !token.is_empty() {
            format!("{}+{token}@{}", self.address.local(), self.address.domain())
        } else {
            self.address.as_str().to_owned()
        };
        let header = Header {
            from_name: &self.club_name,
            from: self.address.as_str(),
            reply_to: &reply_to,
            to_name,
            to,
            message_id,
            in_reply_to: answered.and_then(|answered| answered.message_id.as_deref()),
            references: &references,
            date,
        };
        let bytes = mime::mail(&letter, &header)?;
        let pin = pin_of_new(&bytes, &letter);
        Ok((bytes, pin))
    }
}

/// Returns the part of a Message-ID that is unique to one letter of a match, without its mark: the match, the letter's
/// place in its ledger, veiled with the secret of the match, and the open turn, which shows what a reply is about.
///
/// The place is the length of the ledger after the ruling and the letter's index among those of the ruling.
/// Unveiled, both would reveal how often the other side wrote, and whether its letters were answered.
pub fn unique_part(game_match: &Match, index: usize) -> String {
    let start = unique_start(&game_match.id, game_match.first_key(), game_match.head.seq, index);
    start + &open_turn(game_match)
}

/// Adds a mark of the text to the unique part of a letter's Message-ID. After a restore, the cause of the letter may be
/// decided again and bring about another text, which mail programs would take for a copy of the first if it had the same
/// Message-ID.
pub fn with_text_mark(unique: &str, letter: &WordedLetter) -> String {
    with_mark(unique, Digest::of(format!("{}\n{}", letter.subject, letter.text).as_bytes()))
}

fn open_turn(game_match: &Match) -> String {
    game_match.due().map_or(OVER.to_owned(), |due| due.turn.to_string())
}

/// Maximum bytes of the References that an answer takes from the letter it answers, and then of its subject.
/// Both are written by strangers.
const MAX_REFERENCES: usize = 4000;
const MAX_SUBJECT: usize = 250;

/// Returns the last IDs that fit into `most` bytes. Mail programs build threads from the last ones.
fn latest_within<'a>(ids: impl Iterator<Item = &'a String>, most: usize) -> Vec<String> {
    let ids: Vec<&String> = ids.collect();
    let mut left = most;
    let mut first = ids.len();
    while first > 0 && ids[first - 1].len() <= left {
        first -= 1;
        left -= ids[first].len();
    }
    ids[first..].iter().map(|id| (*id).clone()).collect()
}

/// Replaces the turn once a match is over.
const OVER: &str = "over";

/// Returns the kind under which a letter about a match is listed.
pub fn kind(content: &Content) -> DispatchKind {
    match content {
        Content::Invitation | Content::Succession => DispatchKind::Invitation,
        Content::Answer(_) => DispatchKind::Answer,
        Content::Report { .. } => DispatchKind::Report,
        Content::Reminder => DispatchKind::Reminder,
        Content::Missed { .. } => DispatchKind::Missed,
        Content::Notice(_) => DispatchKind::Notice,
    }
}

/// Returns the subject of an answer. About a match it is our own, because it says what became of the letter.
/// Otherwise it is the subject of the answered letter, because mail programs group threads by it, unless that
/// is empty or far too long.
fn reply_subject(theirs: &str, ours: &str) -> String {
    let kept = theirs.trim();
    if ours.starts_with('[') || kept.is_empty() || kept.len() > MAX_SUBJECT {
        return ours.to_owned();
    }
    if kept.to_ascii_lowercase().starts_with("re:") { kept.to_owned() } else { format!("Re: {kept}") }
}
