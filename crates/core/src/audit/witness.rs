//! Finds the heads of chains in our letters, so that a player's own mail can be checked against the ledgers and
//! books.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use mail_parser::{MessageParser, MimeHeaders};

use crate::letter::Digest;

/// A line such as `Ledger QZ-7K3M sha256` or `Book EV-SPRING sha256`, and the hash that follows it. The line of
/// a ledger omits the number of the entry, which would reveal how often the other side wrote.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LedgerLine {
    /// The match, or the event.
    pub chain: String,
    pub hash: Digest,
}

/// The words before the ID in a ledger line.
const WORDS: [&str; 2] = ["Ledger", "Book"];

/// Returns the ledger lines anywhere in a mail: quoted, forwarded, wrapped, in HTML. Sorted, each once.
pub fn in_mail(raw: &[u8]) -> Vec<LedgerLine> {
    let mut texts = Vec::new();
    collect(raw, 0, &mut texts);
    let found: BTreeSet<LedgerLine> = texts.iter().flat_map(|text| in_text(text)).collect();
    found.into_iter().collect()
}

/// The ledger lines of a mail in a player's own mailbox.
#[derive(Clone, Debug)]
pub struct PlayersMail {
    /// The name of its file.
    pub name: String,
    /// The time at which it was written, according to its header.
    pub date: Option<DateTime<Utc>>,
    pub lines: Vec<LedgerLine>,
}

impl PlayersMail {
    /// Reads a mail from us, or a mail that quotes or forwards one.
    pub fn read(name: &str, raw: &[u8]) -> PlayersMail {
        let header = MessageParser::default().parse_headers(raw);
        let date = header.as_ref().and_then(|mail| mail.date()).map(mail_parser::DateTime::to_timestamp);
        let date = date.and_then(|date| DateTime::from_timestamp(date, 0));
        PlayersMail { name: name.to_owned(), date, lines: in_mail(raw) }
    }
}

/// Maximum nesting of forwarded mails to search.
const MAX_NESTING: usize = 5;

/// Collects the texts of a mail, and of the mails forwarded in it.
fn collect(raw: &[u8], depth: usize, texts: &mut Vec<String>) {
    let Some(mail) = MessageParser::default().parse(raw).filter(|_| depth < MAX_NESTING) else { return };
    for part in &mail.parts {
        if let Some(inner) = part.message() {
            collect(inner.raw_message(), depth + 1, texts);
        } else if part.content_type().is_some_and(|kind| kind.subtype() == Some("rfc822")) {
            collect(part.contents(), depth + 1, texts);
        } else if let Some(text) = part.text_contents() {
            texts.push(text.to_owned());
        }
    }
}

/// Returns the ledger lines in a text, in their order.
pub fn in_text(text: &str) -> Vec<LedgerLine> {
    let mut found: Vec<(usize, &str)> = WORDS.iter().flat_map(|word| text.match_indices(word)).collect();
    found.sort_unstable();
    found.into_iter().filter_map(|(at, word)| read(&text[at + word.len()..])).collect()
}

/// Whether a character may occur between the parts of a ledger line: a quote prefix, a bar, or a line break.
fn is_between(c: char) -> bool {
    c.is_whitespace() || matches!(c, '>' | '|')
}

/// Parses `sha256 | 5f1c…`, with any quote prefix, line break or markup in between.
fn read_hash(text: &str) -> Option<Digest> {
    let mut rest = text.trim_start_matches(is_between).strip_prefix("sha256")?.trim_start_matches(is_between);
    // In HTML the hash may be on a line or in an element of its own.
    while let Some((_, after)) = rest.strip_prefix('<').and_then(|tag| tag.split_once('>')) {
        rest = after.trim_start_matches(is_between);
    }
    rest.get(..64)?.parse().ok()
}

/// Parses ` QZ-7K3M sha256 | 5f1c…`, with any quote prefix, line break or markup in between.
fn read(text: &str) -> Option<LedgerLine> {
    let (chain, rest) =
        text.strip_prefix(is_between)?.trim_start_matches(is_between).split_once(is_between)?;
    Some(LedgerLine { chain: chain.to_owned(), hash: read_hash(rest)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "5f1c00000000000000000000000000000000000000000000000000000000abcd";

    #[test]
    fn the_ledger_line_is_found_quoted_wrapped_and_marked_up() {
        let line = LedgerLine { chain: "QZ-7K3M".to_owned(), hash: HASH.parse().unwrap() };
        for text in [
            format!("Hello\n\nLedger QZ-7K3M sha256\n| {HASH}\n"),
            format!("> Ledger QZ-7K3M\n> sha256\n> | {HASH}\n"),
            format!("<p>Ledger QZ-7K3M sha256 <br><code>{HASH}</code>"),
        ] {
            assert_eq!(in_text(&text), std::slice::from_ref(&line), "{text}");
        }
        assert_eq!(in_text("Ledger QZ-7K3M sha256 | 5f1c"), []);
        assert_eq!(in_text("Ledger é"), []);
        let line = LedgerLine { chain: "EV-SPRING".to_owned(), hash: HASH.parse().unwrap() };
        for text in [format!("Book EV-SPRING sha256\n{HASH}\n"), format!("> Book\n> EV-SPRING sha256 {HASH}")]
        {
            assert_eq!(in_text(&text), std::slice::from_ref(&line), "{text}");
        }
    }
}
