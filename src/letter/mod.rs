//! A letter, from its raw bytes: who wrote it, whether a machine did, which seat it may speak for, and what the
//! person wrote now.
//!
//! Nothing here knows a match, decides whether a sender is let in, or reads an order: that is for the referee and
//! for [`request`](crate::request). Nothing here panics, whatever the bytes, or takes more than linear time.

use std::collections::BTreeMap;
use std::fmt::{self, Display};

use mail_parser::{HeaderName, HeaderValue, Message, MessageParser};

pub mod address;
pub mod authentic;
mod automatic;
mod body;
mod bounce;
mod charset;
pub mod clean;
pub mod digest;
mod frame;
mod header;
mod html;
mod new_text;
mod own_letter;
mod patterns;
mod quote;
mod text_line;
mod words;

pub use address::{Address, Token};
pub use automatic::{Automatic, AutomaticKind};
pub use body::UnreadableContent;
pub use digest::Digest;
pub use new_text::NewText;

use body::Texts;
use header::Header;

/// What a letter may measure; beyond it the letter is not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub max_bytes: usize,
    pub max_header_bytes: usize,
    pub max_parts: usize,
    /// Of multiparts and letters in one another.
    pub max_nesting: usize,
    pub max_lines: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_bytes: 2_000_000,
            max_header_bytes: 200_000,
            max_parts: 100,
            max_nesting: 20,
            max_lines: 20_000,
        }
    }
}

/// No letter of a player brings more tokens than this.
const MAX_TOKENS: usize = 16;

/// No thread is longer, as far as anybody looks back.
const MAX_IDS: usize = 100;

/// A letter quotes no more letters of its thread than this.
const MAX_QUOTED: usize = 8;

/// What is ours, so that it can be known when it comes back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OwnIdentity {
    /// The referee's address. Reply tokens stand in it behind a `+`.
    pub address: Address,
    /// What stands behind the `@` in the Message-IDs of our letters.
    pub message_id_domain: String,
    /// The envelope sender of our letters, where it is not the address above.
    pub return_path: Option<Address>,
}

/// A letter as far as it explains itself.
#[derive(Clone, Debug)]
pub struct Letter {
    pub digest: Digest,
    pub from: Address,
    pub from_name: Option<String>,
    /// Message-IDs stand here without their angle brackets.
    pub message_id: Option<String>,
    pub in_reply_to: Vec<String>,
    pub references: Vec<String>,
    pub subject: String,
    /// All reply tokens that came back, each once, the most trustworthy first: from a plus address, In-Reply-To,
    /// References, the footer line.
    pub tokens: Vec<Token>,
    pub subject_tag: Option<SubjectTag>,
    /// Why the letter is taken for a machine's.
    pub automatic: Option<Automatic>,
    texts: Texts,
    trace: Vec<Header>,
    own: Address,
}

/// The match and the turn that a subject names: `[QZ-7K3M] Turn 4`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubjectTag {
    /// In capitals.
    pub match_name: String,
    pub turn: Option<u32>,
}

/// Why a letter cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadableReason {
    TooBig,
    HeaderTooBig,
    NoFrom,
    SeveralFrom,
    TooDeep,
    TooManyParts,
    TooManyLines,
    /// It is no message at all.
    Empty,
}

/// A letter that cannot be read.
#[derive(Clone, Debug)]
pub struct UnreadableLetter {
    pub digest: Digest,
    pub reason: UnreadableReason,
    pub message_id: Option<String>,
    pub subject: String,
    /// To whom the reason may be told: nobody, if no sender can be made out or a machine wrote.
    pub answerable: Option<Address>,
    pub automatic: Option<Automatic>,
    pub tokens: Vec<Token>,
}

impl UnreadableLetter {
    /// Of bytes in which the parser finds no header.
    fn nothing(digest: Digest, reason: UnreadableReason) -> UnreadableLetter {
        let (message_id, answerable, automatic) = (None, None, None);
        UnreadableLetter {
            digest,
            reason,
            message_id,
            subject: String::new(),
            answerable,
            automatic,
            tokens: Vec::new(),
        }
    }
}

impl Display for UnreadableReason {
    /// A sentence to the sender.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            UnreadableReason::TooBig => {
                "Your letter is too big to be read. Please send only your orders, without attachments."
            }
            UnreadableReason::HeaderTooBig | UnreadableReason::TooDeep | UnreadableReason::TooManyParts => {
                "Your letter has too many parts to be read. Please send only your orders, as plain text."
            }
            UnreadableReason::TooManyLines => {
                "Your letter is too long to be read. Please send only your orders."
            }
            UnreadableReason::NoFrom => "Your letter does not say who wrote it.",
            UnreadableReason::SeveralFrom => {
                "Your letter names several senders. Please send it from one address."
            }
            UnreadableReason::Empty => "Your letter is empty.",
        })
    }
}

impl Letter {
    /// The Message-IDs of what it answers; where it does not say so, the last one of its thread (RFC 5322 3.6.4).
    pub fn answered_ids(&self) -> impl Iterator<Item = &String> {
        let of_thread = self.references.last().filter(|_| self.in_reply_to.is_empty());
        self.in_reply_to.iter().chain(of_thread)
    }

    /// Reads the raw bytes of a letter.
    ///
    /// # Errors
    /// [`UnreadableLetter`]: it exceeds a limit, or has not exactly one sender.
    pub fn read(raw: &[u8], own: &OwnIdentity, limits: &Limits) -> Result<Letter, Box<UnreadableLetter>> {
        let digest = Digest::of(raw);
        let raw = &header::with_line_feeds(raw);
        let raw = &header::without_hidden_letters(header::without_envelope_line(raw));
        let head = header::head(raw);
        let measured = measure(raw, head, limits);
        // What is too big is known by its header alone, what is hostile by as much of that as may be.
        let readable = if measured.is_ok() { raw } else { &head[..head.len().min(limits.max_header_bytes)] };
        let headers = header::headers(&readable[..head.len().min(readable.len())]);
        let Some(message) = MessageParser::default().parse(readable).filter(|m| !m.parts.is_empty()) else {
            return Err(Box::new(UnreadableLetter::nothing(
                digest,
                measured.err().unwrap_or(UnreadableReason::NoFrom),
            )));
        };
        let texts = measured.and_then(|()| body::texts(&message, limits));
        let mut envelope = Envelope::new(&message, &headers, own);
        envelope.automatic = automatic::classify(&automatic::Evidence {
            headers: &headers,
            message: &message,
            texts: texts.as_ref().ok(),
            from: envelope.from.as_ref().ok().or(envelope.a_sender.as_ref()),
            subject: &envelope.subject,
            own,
        });
        let (texts, from) = match (texts, envelope.from.clone()) {
            (Ok(texts), Ok(from)) => (texts, from),
            (Err(reason), _) | (_, Err(reason)) => return Err(Box::new(envelope.unreadable(digest, reason))),
        };
        let footer = [&texts.plain, &texts.html].into_iter().flat_map(|lines| {
            let text: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
            own_letter::tokens(&text.join("\n"))
        });
        let mut tokens = envelope.tokens;
        footer.for_each(|token| push_new(&mut tokens, token));
        Ok(Letter {
            digest,
            from,
            from_name: envelope.from_name,
            message_id: envelope.message_id,
            in_reply_to: envelope.in_reply_to,
            references: envelope.references,
            subject_tag: subject_tag(&envelope.subject),
            subject: envelope.subject,
            tokens,
            automatic: envelope.automatic,
            texts,
            trace: headers.into_iter().filter(|h| authentic::is_trace(&h.name)).collect(),
            own: own.address.clone(),
        })
    }

    /// The Message-IDs of the letters that it may quote, the latest first.
    pub fn thread(&self) -> impl Iterator<Item = &String> {
        let older = self.references.iter().rev().filter(|id| !self.in_reply_to.contains(id));
        self.in_reply_to.iter().chain(older).take(MAX_QUOTED)
    }

    /// The texts of our letters that it may quote, one below the other, out of `ours` by Message-ID.
    pub fn quotable_text(&self, ours: &BTreeMap<String, String>) -> Option<String> {
        let texts: Vec<&str> = self.thread().filter_map(|id| Some(ours.get(id)?.as_str())).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    }

    /// What the person wrote now; `answered` is the text of our letters that it may quote, as far as we have them.
    pub fn new_text(&self, answered: Option<&str>) -> NewText {
        let sender = self.from_name.as_deref().map(str::to_lowercase).unwrap_or_default();
        // A single word may be anybody's, or no name at all.
        let sender = if sender.contains(' ') { sender.as_str() } else { "" };
        new_text::new_text(&self.texts, answered, frame::Correspondents { own: &self.own, sender })
    }

    /// What the receiving server says of the sender's DKIM signature; `authserv_id` is the name that it signs its
    /// Authentication-Results with.
    pub fn reported_dkim(&self, authserv_id: &str) -> authentic::ReportedDkim {
        authentic::reported_dkim(&self.trace, authserv_id, &self.from)
    }
}

/// Whether the letter is within the limits that can be told before it is parsed.
fn measure(raw: &[u8], head: &[u8], limits: &Limits) -> Result<(), UnreadableReason> {
    if raw.iter().all(u8::is_ascii_whitespace) {
        return Err(UnreadableReason::Empty);
    }
    if raw.len() > limits.max_bytes {
        return Err(UnreadableReason::TooBig);
    }
    if head.len() > limits.max_header_bytes {
        return Err(UnreadableReason::HeaderTooBig);
    }
    // Letters in letters are parsed, and dropped, one inside the other.
    if header::count_content_types(raw) > limits.max_parts * 4 {
        return Err(UnreadableReason::TooManyParts);
    }
    Ok(())
}

/// What stands in the header.
struct Envelope {
    from: Result<Address, UnreadableReason>,
    /// Some address in From, if there are several.
    a_sender: Option<Address>,
    from_name: Option<String>,
    message_id: Option<String>,
    in_reply_to: Vec<String>,
    references: Vec<String>,
    subject: String,
    tokens: Vec<Token>,
    automatic: Option<Automatic>,
}

impl Envelope {
    fn new(message: &Message<'_>, headers: &[Header], own: &OwnIdentity) -> Envelope {
        let ids = |name: &str| -> Vec<String> {
            headers.iter().filter(|h| h.name == name).flat_map(|h| header::message_ids(&h.value)).collect()
        };
        let (mut in_reply_to, mut references) = (ids("in-reply-to"), ids("references"));
        in_reply_to.truncate(MAX_IDS);
        references.drain(..references.len().saturating_sub(MAX_IDS));
        let mut tokens = Vec::new();
        for name in ["to", "cc", "delivered-to", "x-original-to", "envelope-to", "x-envelope-to", "resent-to"]
        {
            for header in headers.iter().filter(|h| h.name == name) {
                header::plus_tokens(&header.value, own)
                    .into_iter()
                    .for_each(|token| push_new(&mut tokens, token));
            }
        }
        for id in in_reply_to.iter().chain(references.iter().rev()) {
            header::token_of_id(id, own).into_iter().for_each(|token| push_new(&mut tokens, token));
        }
        let senders: Vec<_> = message
            .header_values(HeaderName::From)
            .filter_map(HeaderValue::as_address)
            .flat_map(|list| list.iter())
            .filter_map(|mailbox| Some((Address::parse(mailbox.address()?).ok()?, mailbox.name())))
            .collect();
        let mailboxes = message
            .header_values(HeaderName::From)
            .filter_map(HeaderValue::as_address)
            .map(|list| list.iter().filter(|mailbox| mailbox.address().is_some()).count())
            .sum::<usize>();
        let fields = headers.iter().filter(|h| h.name == "from").count();
        let from = match (senders.as_slice(), mailboxes, fields) {
            ([(address, _)], 1, 1) => Ok(address.clone()),
            (_, 0, _) | ([], _, 0 | 1) => Err(UnreadableReason::NoFrom),
            _ => Err(UnreadableReason::SeveralFrom),
        };
        let one_line = |text: &str| {
            let text = clean::clean(text).replace('\n', " ");
            text.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        let name = senders.first().and_then(|(_, name)| *name).map(one_line).filter(|name| !name.is_empty());
        Envelope {
            a_sender: senders.first().map(|(address, _)| address.clone()),
            from,
            from_name: name,
            message_id: ids("message-id").into_iter().next(),
            in_reply_to,
            references,
            subject: one_line(message.subject().unwrap_or_default()),
            tokens,
            automatic: None,
        }
    }

    fn unreadable(self, digest: Digest, reason: UnreadableReason) -> UnreadableLetter {
        let answerable =
            self.from.ok().filter(|_| self.automatic.is_none() && reason != UnreadableReason::Empty);
        UnreadableLetter {
            digest,
            reason,
            message_id: self.message_id,
            subject: self.subject,
            answerable,
            automatic: self.automatic,
            tokens: self.tokens,
        }
    }
}

fn push_new(tokens: &mut Vec<Token>, token: Token) {
    if tokens.len() < MAX_TOKENS && !tokens.contains(&token) {
        tokens.push(token);
    }
}

/// `[QZ-7K3M] Turn 4` anywhere in a subject, in any case.
fn subject_tag(subject: &str) -> Option<SubjectTag> {
    let is_name = |name: &str| {
        let Some((prefix, code)) = name.split_once('-') else { return false };
        (1..=4).contains(&prefix.len())
            && prefix.bytes().all(|b| b.is_ascii_alphabetic())
            && (3..=8).contains(&code.len())
            && code.bytes().all(|b| b.is_ascii_alphanumeric())
    };
    let found = subject.match_indices('[').find_map(|(at, _)| {
        let behind = &subject[at + 1..];
        let end = behind.bytes().take("QQQQ-AAAAAAAA]".len()).position(|b| b == b']')?;
        is_name(&behind[..end]).then(|| (behind[..end].to_ascii_uppercase(), &behind[end..]))
    });
    let (match_name, rest) = found?;
    let mut words = rest.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let turn = words.find(|word| word.eq_ignore_ascii_case("turn")).and_then(|_| words.next()?.parse().ok());
    Some(SubjectTag { match_name, turn })
}
