//! The decoded header of a letter: sender, thread, subject and reply tokens. It is all that we know about a
//! letter that cannot be read.

use mail_parser::{HeaderName, HeaderValue, Message, MessageParser};

use super::automatic::Automatic;
use crate::mail::address::{Address, Token};
use crate::mail::bounded_head::bounded_head;
use crate::mail::digest::Digest;
use crate::mail::header::{self, Header};
use crate::mail::identity::{self, OwnIdentity};
use crate::mail::limits::{Limits, UnreadableReason, add_new};
use crate::text::clean;

/// Maximum tokens taken from one letter. No thread is about more matches, but a hostile header may name
/// thousands.
const MAX_TOKENS: usize = 16;

/// Maximum Message-IDs taken from In-Reply-To and from References, each of which is looked up.
const MAX_IDS: usize = 100;

/// Maximum addresses taken from a From that does not name exactly one sender. Each one that is registered is
/// notified.
const MAX_NAMED: usize = 4;

/// Address fields that may contain one of our plus addresses. Servers on the way decide which survive.
const RECIPIENT_FIELDS: [&str; 7] =
    ["to", "cc", "delivered-to", "x-original-to", "envelope-to", "x-envelope-to", "resent-to"];

/// The header of a letter, decoded.
pub struct Envelope {
    pub from: Result<Address, UnreadableReason>,
    pub from_name: Option<String>,
    /// The first address in From, even if there are several.
    pub first_sender: Option<Address>,
    /// The addresses found in From, even if it is malformed.
    pub named_senders: Vec<Address>,
    pub message_id: Option<String>,
    pub in_reply_to: Vec<String>,
    pub references: Vec<String>,
    pub subject: String,
    pub tokens: Vec<Token>,
    pub automatic: Option<Automatic>,
}

impl Envelope {
    pub fn new(message: &Message<'_>, headers: &[Header]) -> Envelope {
        let mut in_reply_to = message_ids(headers, "in-reply-to");
        in_reply_to.truncate(MAX_IDS);
        // The latest ancestors come last (RFC 5322 3.6.4).
        let mut references = message_ids(headers, "references");
        references.drain(..references.len().saturating_sub(MAX_IDS));

        let mut tokens = Vec::new();
        for name in RECIPIENT_FIELDS {
            for header in headers.iter().filter(|h| h.name == name) {
                add_tokens(&mut tokens, identity::plus_tokens(&header.value));
            }
        }
        for id in in_reply_to.iter().chain(references.iter().rev()) {
            add_tokens(&mut tokens, identity::token_of_id(id));
        }

        let senders = senders(message);
        let from_fields = headers.iter().filter(|h| h.name == "from").count();
        let from = match (senders.as_slice(), count_mailboxes(message), from_fields) {
            ([(address, _)], 1, 1) => Ok(address.clone()),
            (_, 0, _) | ([], _, 0 | 1) => Err(UnreadableReason::NoFrom),
            _ => Err(UnreadableReason::SeveralFrom),
        };
        let from_name = senders.first().and_then(|(_, name)| *name).map(one_line);
        Envelope {
            from,
            from_name: from_name.filter(|name| !name.is_empty()),
            first_sender: senders.first().map(|(address, _)| address.clone()),
            named_senders: named_senders(headers),
            message_id: message_ids(headers, "message-id").into_iter().next(),
            in_reply_to,
            references,
            subject: one_line(message.subject().unwrap_or_default()),
            tokens,
            automatic: None,
        }
    }

    pub fn into_unreadable(self, digest: Digest, reason: UnreadableReason) -> UnreadableLetter {
        let may_answer = self.automatic.is_none() && reason != UnreadableReason::Empty;
        UnreadableLetter {
            digest,
            reason,
            message_id: self.message_id,
            references: self.references,
            subject: self.subject,
            named_senders: if self.from.is_err() && may_answer { self.named_senders } else { Vec::new() },
            answerable: self.from.ok().filter(|_| may_answer),
            automatic: self.automatic,
            tokens: self.tokens,
        }
    }
}

/// A letter that cannot be read.
#[derive(Clone, Debug)]
pub struct UnreadableLetter {
    pub digest: Digest,
    pub reason: UnreadableReason,
    pub message_id: Option<String>,
    pub references: Vec<String>,
    pub subject: String,
    /// The address to which the reason is sent. `None` if the sender is unclear or a machine.
    pub answerable: Option<Address>,
    /// The addresses found in From, if it does not name exactly one sender.
    pub named_senders: Vec<Address>,
    pub automatic: Option<Automatic>,
    pub tokens: Vec<Token>,
}

impl UnreadableLetter {
    /// Describes a letter of which not even the header can be parsed.
    pub fn without_header(digest: Digest, reason: UnreadableReason) -> UnreadableLetter {
        UnreadableLetter {
            digest,
            reason,
            message_id: None,
            references: Vec::new(),
            subject: String::new(),
            answerable: None,
            named_senders: Vec::new(),
            automatic: None,
            tokens: Vec::new(),
        }
    }
}

fn message_ids(headers: &[Header], name: &str) -> Vec<String> {
    headers.iter().filter(|h| h.name == name).flat_map(|h| header::message_ids(&h.value)).collect()
}

/// Returns the valid addresses in From, with their display names.
fn senders<'a>(message: &'a Message<'_>) -> Vec<(Address, Option<&'a str>)> {
    message
        .header_values(HeaderName::From)
        .filter_map(HeaderValue::as_address)
        .flat_map(|list| list.iter())
        .filter_map(|mailbox| {
            let written = mailbox.address()?;
            match mailbox.name() {
                // The parser takes a quoted local part without angle brackets for a name.
                Some(local) if written.starts_with('@') => {
                    Some((Address::parse(&format!("{local}{written}")).ok()?, None))
                }
                name => Some((Address::parse(written).ok()?, name)),
            }
        })
        .collect()
}

/// Returns the addresses anywhere in From, up to [`MAX_NAMED`].
fn named_senders(headers: &[Header]) -> Vec<Address> {
    let mut found = Vec::new();
    for address in headers.iter().filter(|h| h.name == "from").flat_map(|h| header::addresses(&h.value)) {
        add_new(&mut found, address, MAX_NAMED);
    }
    found
}

/// Counts the mailboxes that From names, invalid addresses included.
fn count_mailboxes(message: &Message<'_>) -> usize {
    message
        .header_values(HeaderName::From)
        .filter_map(HeaderValue::as_address)
        .map(|list| list.iter().filter(|mailbox| mailbox.address().is_some()).count())
        .sum()
}

/// Returns the text cleaned and on one line, with single blanks.
fn one_line(text: &str) -> String {
    let text = clean::clean(text).replace('\n', " ");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The marks in a header by which a club recognises answers to its letters.
#[derive(Clone, Debug, Default)]
pub struct ReplyMarks {
    pub tokens: Vec<Token>,
    /// The Message-IDs that the letter answers, without angle brackets.
    pub answered: Vec<String>,
    /// Whether To or Cc names our address, or neither names any.
    pub is_to_us: bool,
    /// Whether they bear our present address or domain. Those of other clubs do not, nor do our own from before a move.
    pub are_ours: bool,
}

impl ReplyMarks {
    /// Finds the marks in a header. Parses no body, so it is safe for a letter that could not be read.
    pub fn of(raw: &[u8], own: &OwnIdentity) -> ReplyMarks {
        let mut marks = ReplyMarks::default();
        let head = bounded_head(raw, &Limits::default());
        let Some(message) = MessageParser::default().parse_headers(&head) else { return marks };
        let mut recipients = Vec::new();
        for (name, value) in message.headers_raw() {
            match name.to_ascii_lowercase().as_str() {
                "to" | "cc" => {
                    add_tokens(&mut marks.tokens, identity::plus_tokens(value));
                    recipients.extend(header::addresses(value));
                }
                "in-reply-to" | "references" => {
                    for id in header::message_ids(value) {
                        add_tokens(&mut marks.tokens, identity::token_of_id(&id));
                        add_new(&mut marks.answered, id, MAX_IDS);
                    }
                }
                _ => {}
            }
        }
        let mut to_us = recipients.iter().filter(|address| own.has_address(address)).peekable();
        marks.is_to_us = to_us.peek().is_some() || recipients.is_empty();
        let mut answered = marks.answered.iter();
        marks.are_ours = marks.is_to_us && answered.any(|id| identity::has_own_domain(id, own))
            || to_us.any(|address| address.plus().and_then(Token::parse).is_some());
        marks
    }
}

/// Returns the reply tokens in a header, as [`ReplyMarks::of`] does.
pub fn tokens_in_header(raw: &[u8], own: &OwnIdentity) -> Vec<Token> {
    ReplyMarks::of(raw, own).tokens
}

/// Adds the tokens that are new, up to [`MAX_TOKENS`].
pub fn add_tokens(tokens: &mut Vec<Token>, found: impl IntoIterator<Item = Token>) {
    found.into_iter().for_each(|token| add_new(tokens, token, MAX_TOKENS));
}
