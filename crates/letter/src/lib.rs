#![doc = include_str!("../README.md")]
//!
//! Each folder of the source uses only those before it:
//!
//! - `mail`: addresses, header fields, MIME structure, limits
//! - `text`: the lines of text, cleaned, and the words and patterns in them
//! - `quote`: quotes, and the new text between them
//! - `sender`: proof of the sender, and signs of a person or a machine

use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

use mail::header::{self, Header};
use mail::{identity, recipients, structure};
use mail_parser::MessageParser;
use quote::frame::Correspondents;
use quote::{introduction, new_text, own_letter};
use sender::classify::{self, Evidence};
use sender::envelope::{Envelope, add_tokens};
use sender::person;
use text::body::{self, Texts};

mod mail;
mod quote;
mod sender;
mod text;

pub use mail::address::{Address, ParseAddressError, ParseGivenError, Token};
pub use mail::bounded_head::bounded_head;
pub use mail::dialect::Dialect;
pub use mail::digest::{Digest, ParseDigestError};
pub use mail::identity::OwnIdentity;
pub use mail::limits::{Limits, UnreadableReason};
pub use mail::pictures;
pub use mail::return_id::ReturnId;
pub use quote::banner::banner_lines;
pub use quote::new_text::{NewText, WrittenLine};
pub use quote::own_letter::{LINK_SIGNS, is_of_data, tokens as tokens_in_text};
pub use sender::authentic;
pub use sender::automatic::{Automatic, AutomaticKind, Certainty};
pub use sender::envelope::{ReplyMarks, UnreadableLetter, tokens_in_header};
pub use text::body::UnreadableContent;
pub use text::patterns::split_words;
pub use text::{clean, printable};

/// Maximum letters of a thread to recognise in the quotes of a reply.
const MAX_QUOTED: usize = 8;

/// A parsed letter, not yet matched to a seat.
#[derive(Clone, Debug)]
pub struct Letter {
    pub digest: Digest,
    pub from: Address,
    pub from_name: Option<String>,
    /// Without angle brackets, like all Message-IDs here.
    pub message_id: Option<String>,
    pub in_reply_to: Vec<String>,
    pub references: Vec<String>,
    pub subject: String,
    /// The reply tokens in the letter, deduplicated, from the most trustworthy source to the least: plus
    /// address, In-Reply-To, References, footer line.
    pub tokens: Vec<Token>,
    /// The addresses in To and Cc that are neither ours nor the sender's.
    pub other_recipients: Vec<Address>,
    /// Set if a machine wrote the letter, or may have.
    pub automatic: Option<Automatic>,
    texts: Texts,
    trace: Vec<Header>,
    /// Whether a signature or another server can prove the sender ([`authentic::provable`]).
    is_provable: bool,
    own: Address,
    dialect: &'static Dialect,
    last_new_text: LastNewText,
}

/// Caches the last result of [`Letter::new_text`], with the text that the letter was allowed to quote: a decision is made
/// several times while rows are missing, and asks for the same text each time.
#[derive(Default)]
struct LastNewText(Mutex<Option<(Option<String>, NewText)>>);

impl Clone for LastNewText {
    fn clone(&self) -> LastNewText {
        LastNewText::default()
    }
}

impl fmt::Debug for LastNewText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LastNewText")
    }
}

impl Letter {
    /// Reads the raw bytes of a letter.
    ///
    /// # Errors
    /// [`UnreadableLetter`] if it exceeds a limit or does not have exactly one sender.
    pub fn read(raw: &[u8], own: &OwnIdentity, limits: &Limits) -> Result<Letter, Box<UnreadableLetter>> {
        let digest = Digest::of(raw);
        let is_provable = authentic::provable(raw).is_some();
        let raw = &header::with_line_feeds(raw);
        let raw = header::without_envelope_line(raw);
        let within_limits = check_limits(raw, header::head(raw), limits);
        // Parse only the header of an oversized letter: enough to answer its sender.
        let readable = match within_limits {
            Ok(()) => structure::without_hidden_letters(raw),
            Err(_) => bounded_head(raw, limits),
        };
        let headers = header::headers(header::head(&readable));
        let Some(message) = MessageParser::default().parse(&readable).filter(|m| !m.parts.is_empty()) else {
            let reason = within_limits.err().unwrap_or(UnreadableReason::NoFrom);
            return Err(Box::new(UnreadableLetter::without_header(digest, reason)));
        };
        let texts = within_limits.and_then(|()| body::texts(&message, limits)).map(|mut texts| {
            let correspondents = Correspondents { own: &own.address, dialect: own.dialect, sender: "" };
            introduction::settle(&mut texts.html, correspondents);
            texts
        });
        let mut envelope = Envelope::new(&message, &headers);
        envelope.automatic = classify::classify(&Evidence {
            headers: &headers,
            message: &message,
            texts: texts.as_ref().ok(),
            from: envelope.first_sender.as_ref(),
            subject: &envelope.subject,
            has_token: !envelope.tokens.is_empty(),
            own,
            written_now: OnceCell::new(),
        });
        // Add tokens in the text only now, because the classifier asks for those in the header alone.
        for lines in texts.iter().flat_map(|texts| [&texts.plain, &texts.html]) {
            let text: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
            add_tokens(&mut envelope.tokens, own_letter::tokens(&text.join("\n"), own.dialect));
        }
        let (texts, from) = match (texts, envelope.from.clone()) {
            (Ok(texts), Ok(from)) => (texts, from),
            (Err(reason), _) | (_, Err(reason)) => {
                return Err(Box::new(envelope.into_unreadable(digest, reason)));
            }
        };
        Ok(Letter {
            digest,
            other_recipients: recipients::other_recipients(&headers, own, &from),
            from,
            from_name: envelope.from_name,
            message_id: envelope.message_id,
            in_reply_to: envelope.in_reply_to,
            references: envelope.references,
            subject: envelope.subject,
            tokens: envelope.tokens,
            automatic: envelope.automatic,
            texts,
            trace: headers.into_iter().filter(|h| authentic::is_trace(&h.name)).collect(),
            is_provable,
            own: own.address.clone(),
            dialect: own.dialect,
            last_new_text: LastNewText::default(),
        })
    }

    /// Returns the Message-IDs of the letters that this one answers: In-Reply-To or, without it, the last of
    /// References (RFC 5322 3.6.4).
    pub fn answered_ids(&self) -> impl Iterator<Item = &String> {
        let parent = self.references.last().filter(|_| self.in_reply_to.is_empty());
        self.in_reply_to.iter().chain(parent)
    }

    /// Returns the Message-IDs of the letters that this one may quote, latest first.
    pub fn thread(&self) -> impl Iterator<Item = &String> {
        let older = self.references.iter().rev().filter(|id| !self.in_reply_to.contains(id));
        self.in_reply_to.iter().chain(older).take(MAX_QUOTED)
    }

    /// Joins the texts of our letters that this one may quote. `sent` maps Message-IDs to texts.
    pub fn quotable_text(&self, sent: &BTreeMap<String, String>) -> Option<String> {
        let texts: Vec<&str> = self.thread().filter_map(|id| Some(sent.get(id)?.as_str())).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// Returns the text that the person has just written. `quotable` is the text of our letters that it may quote,
    /// if we still have it ([`Letter::quotable_text`]).
    pub fn new_text(&self, quotable: Option<&str>) -> NewText {
        let mut last = self.last_new_text.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, text)) = last.as_ref().filter(|(could_quote, _)| could_quote.as_deref() == quotable) {
            return text.clone();
        }
        let sender = self.sender_in_attributions();
        let text = new_text::new_text(&self.texts, quotable, self.correspondents(&sender));
        *last = Some((quotable.map(str::to_owned), text.clone()));
        text
    }

    /// Returns the first attached text, and its name, for a letter that has no orders elsewhere.
    pub fn attached_text(&self) -> Option<(&str, Vec<WrittenLine>)> {
        let name = self.texts.attached_name.as_deref()?;
        let sender = self.sender_in_attributions();
        let lines = new_text::attached_lines(&self.texts, self.correspondents(&sender));
        Some((name, lines))
    }

    /// Whether there is any sign of a person who means to write to us: the letter answers one of ours, or a
    /// person may have written its `written` lines. Only strangers need one.
    pub fn shows_a_person(&self, written: &[&str], own: &OwnIdentity) -> bool {
        let mut thread = self.in_reply_to.iter().chain(&self.references);
        !self.tokens.is_empty()
            || thread.any(|id| identity::has_own_domain(id, own))
            || person::speaks_for_a_person(&self.subject, written)
    }

    fn correspondents<'a>(&'a self, sender: &'a str) -> Correspondents<'a> {
        Correspondents { own: &self.own, dialect: self.dialect, sender }
    }

    /// Returns the sender's name, unless it is a single word, too common to identify an author by.
    fn sender_in_attributions(&self) -> String {
        let sender = self.from_name.as_deref().map(str::to_lowercase).unwrap_or_default();
        if sender.contains(' ') { sender } else { String::new() }
    }

    /// Returns the names of attached files whose contents are not read.
    pub fn attachments(&self) -> &[String] {
        &self.texts.attachments
    }

    /// Returns the receiving server's report on the sender's DKIM signature. `authserv_id` is the server's
    /// name in its Authentication-Results fields.
    pub fn reported_dkim(&self, authserv_id: &str) -> authentic::ReportedDkim {
        if !self.is_provable {
            return authentic::ReportedDkim::NotPassed;
        }
        authentic::reported_dkim(&self.trace, authserv_id, &self.from)
    }
}

/// Checks the limits that do not need a parsed message.
fn check_limits(raw: &[u8], head: &[u8], limits: &Limits) -> Result<(), UnreadableReason> {
    if raw.iter().all(u8::is_ascii_whitespace) {
        return Err(UnreadableReason::Empty);
    }
    if raw.len() > limits.max_bytes {
        return Err(UnreadableReason::TooBig);
    }
    if head.len() > limits.max_header_bytes {
        return Err(UnreadableReason::HeaderTooBig);
    }
    structure::check(raw, limits)
}
