//! A worded letter put into its envelope: the names of our letters, their headers, the thread that they stand in.

use chrono::{DateTime, Utc};

use super::mime::{self, Header, MimeError};
use super::{Club, Templates, WordedLetter};
use crate::letter::{Address, Digest, Letter};
use crate::referee::{Content, DispatchKind, Match};

/// What stands on every letter of the club.
#[derive(Clone, Debug)]
pub struct Stationery {
    pub club_name: String,
    /// The referee's address.
    pub address: Address,
    /// Whether the mailbox takes `local+anything@domain`; reply tokens then ride in the Reply-To address.
    pub plus_addresses: bool,
    /// Of our Message-IDs.
    pub message_id_domain: String,
}

/// The letter that a dispatch answers, as far as its answer's header needs it.
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

/// What one letter bears on its envelope.
#[derive(Clone, Debug)]
pub struct Envelope<'a> {
    /// The reply token of the seat that it goes to; empty for others.
    pub token: &'a str,
    pub to_name: &'a str,
    pub to: &'a str,
    /// Without angle brackets.
    pub message_id: &'a str,
    /// The match that it is about.
    pub match_id: Option<&'a str>,
    pub date: DateTime<Utc>,
}

impl Stationery {
    pub fn club(&self) -> Club<'_> {
        Club { name: &self.club_name, address: self.address.as_str() }
    }

    /// The digest of everything that words a letter beside the match itself.
    pub fn wording(&self, templates: &Templates) -> Digest {
        let Stationery { club_name, address: _, plus_addresses, message_id_domain } = self;
        let version = env!("CARGO_PKG_VERSION");
        let club = format!("{club_name}\n{plus_addresses}\n{message_id_domain}");
        Digest::of(format!("{version}\n{club}\n{}\n", templates.digest()).as_bytes())
    }

    /// `TOKEN.N@domain` for a letter to a seat, `N@domain` for others.
    pub fn message_id(&self, token: &str, unique: &str) -> String {
        let domain = &self.message_id_domain;
        if token.is_empty() { format!("{unique}@{domain}") } else { format!("{token}.{unique}@{domain}") }
    }

    /// The bytes of a mail of ours, always the same for the same page and envelope.
    ///
    /// # Errors
    /// [`MimeError`]: one of the addresses is no mail address.
    pub fn mail(
        &self,
        mut page: WordedLetter,
        envelope: &Envelope<'_>,
        answered: Option<&AnsweredLetter>,
    ) -> Result<Vec<u8>, MimeError> {
        let Envelope { token, to_name, to, message_id, match_id, date } = *envelope;
        let thread = match_id.filter(|_| !token.is_empty());
        let mut references: Vec<String> =
            thread.map(|id| self.message_id(token, &id.to_lowercase())).into_iter().collect();
        if let Some(letter) = answered {
            page.subject = answering(&letter.subject, &page.subject);
            let known = references.clone();
            references.extend(letter.references.iter().filter(|id| !known.contains(id)).cloned());
            references.extend(letter.message_id.clone());
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
            in_reply_to: answered.and_then(|letter| letter.message_id.as_deref()),
            references: &references,
            date,
        };
        mime::mail(&page, &header)
    }
}

/// The part of a Message-ID that names the `index`th letter of the ruling that left the match as `m`: the match, its
/// ledger's length, and the turn that is open, by which a reply can be told from one to another turn's letter.
pub fn unique_part(game_match: &Match, index: usize) -> String {
    let turn = game_match.due().map_or(OVER.to_owned(), |due| due.turn.to_string());
    format!("{}.{}.{index}.{turn}", game_match.id.to_lowercase(), game_match.head.seq)
}

/// What stands in the place of the turn once a match is over.
const OVER: &str = "over";

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

/// The subject is kept, so that mail programs show the letters as one thread.
fn answering(theirs: &str, ours: &str) -> String {
    let name = ours.split(']').next().unwrap_or_default();
    let kept = theirs.trim();
    if ours.starts_with('[') && !kept.contains(name) || kept.is_empty() {
        return ours.to_owned();
    }
    let bare = kept.trim_start_matches(|c: char| c.is_whitespace());
    if bare.to_ascii_lowercase().starts_with("re:") { bare.to_owned() } else { format!("Re: {bare}") }
}
