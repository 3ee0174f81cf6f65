//! Turns fetched bytes into the row of a letter.

use mail_parser::MessageParser;

use crate::ledger::truncate_to_millis;
use crate::letter::printable::is_printable;
use crate::letter::{Digest, Limits, bounded_head};
use crate::post::FetchedLetter;
use crate::store::NewLetter;

/// Maximum characters that are stored of a header field.
const MAX_FIELD: usize = 200;

/// Returns the row of a letter. Reads only what identifies a duplicate, and what lists show.
pub fn new_letter(fetched: FetchedLetter) -> NewLetter {
    let head = bounded_head(&fetched.raw, &Limits::default());
    let parsed = MessageParser::default().parse_headers(&head);
    let message_id = parsed.as_ref().and_then(|mail| mail.message_id()).unwrap_or_default();
    let sender = parsed.as_ref().and_then(|mail| mail.from()?.first()?.address()).unwrap_or_default();
    let subject = parsed.as_ref().and_then(|mail| mail.subject()).unwrap_or_default();
    NewLetter {
        digest: Digest::of(&fetched.raw),
        message_id: one_line(message_id),
        sender: one_line(sender).to_ascii_lowercase(),
        subject: one_line(subject),
        received_at: truncate_to_millis(fetched.received_at),
        origin: fetched.origin,
        raw: fetched.raw,
        tokens: Vec::new(),
    }
}

fn one_line(field: &str) -> String {
    field.chars().filter(|c| is_printable(*c)).take(MAX_FIELD).collect()
}
