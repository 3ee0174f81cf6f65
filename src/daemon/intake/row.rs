//! Makes the row of a letter from its bytes.

use mail_parser::{Message, MessageParser};

use crate::ledger::truncate_to_millis;
use crate::letter::printable::is_printable;
use crate::letter::{Address, Digest, Limits, OwnIdentity, Token, bounded_head, tokens_in_text};
use crate::post::FetchedLetter;
use crate::store::{FROM_SPAM, NewLetter};

/// Maximum characters of a header field to store.
const MAX_FIELD: usize = 200;

/// Maximum bytes of a letter to search for reply tokens before it is stored, and the maximum number of
/// tokens.
const MAX_SCANNED_BYTES: usize = 20_000;
const MAX_TOKENS: usize = 16;

/// Returns the row of a letter. Reads only the fields that identify a duplicate or that lists show.
pub fn new_letter(fetched: FetchedLetter) -> NewLetter {
    let row = row_of(&fetched);
    NewLetter { raw: fetched.raw, ..row }
}

/// Returns the row of a letter without its bytes, so that rows made in parallel do not copy them.
pub fn row_of(fetched: &FetchedLetter) -> NewLetter {
    let head = bounded_head(&fetched.raw, &Limits::default());
    let parsed = MessageParser::default().parse_headers(&head);
    let message_id = parsed.as_ref().and_then(|mail| mail.message_id()).unwrap_or_default();
    let (sender, subject) = parsed.as_ref().map(sender_and_subject).unwrap_or_default();
    let place = if fetched.is_spam { FROM_SPAM } else { "" };
    NewLetter {
        digest: Digest::of(&fetched.raw),
        raw: Vec::new(),
        message_id: one_line(message_id),
        new_text: None,
        sender,
        subject,
        received_at: truncate_to_millis(fetched.received_at),
        origin: format!("{place}{}", fetched.origin),
        tokens: Vec::new(),
        is_from_gm: false,
    }
}

/// Returns the sender and the subject of a letter, as lists show them.
pub fn listed_fields(raw: &[u8]) -> (String, String) {
    let head = bounded_head(raw, &Limits::default());
    MessageParser::default().parse_headers(&head).as_ref().map(sender_and_subject).unwrap_or_default()
}

/// Returns the reply tokens that are visible without decoding the letter: those `in_header`, or else in the
/// beginning of an unencoded text. They only decide the order of work, so finding them must be cheap.
pub fn visible_tokens(raw: &[u8], in_header: &[Token], own: &OwnIdentity) -> Vec<String> {
    let mut tokens = in_header.to_vec();
    if tokens.is_empty() {
        let beginning = &raw[..raw.len().min(MAX_SCANNED_BYTES)];
        tokens.extend(
            tokens_in_text(&String::from_utf8_lossy(beginning), own.dialect).into_iter().take(MAX_TOKENS),
        );
    }
    tokens.iter().map(ToString::to_string).collect()
}

/// Returns a header field as lists show it.
pub fn one_line(field: &str) -> String {
    field.chars().filter(|c| is_printable(*c)).take(MAX_FIELD).collect()
}

fn sender_and_subject(mail: &Message<'_>) -> (String, String) {
    let sender = mail.from().and_then(|from| from.first()?.address()).unwrap_or_default();
    // The sender is looked up among the players' addresses, which are stored in this form.
    let sender = match Address::parse(sender) {
        Ok(address) => one_line(address.as_str()),
        Err(_) => one_line(sender).to_ascii_lowercase(),
    };
    (sender, one_line(mail.subject().unwrap_or_default()))
}
