//! Finds the ledger line that each of our letters contains, and the anchor that it tells, so that a player's own mail can
//! be checked against the chain and the club's book.

use mail_parser::{MessageParser, MimeHeaders};
use serde::Serialize;

use crate::ledger::Anchor;
use crate::letter::Digest;

/// A line such as `Ledger QZ-7K3M sha256`, with the hash that follows. Earlier versions also told the number of the
/// entry: `Ledger QZ-7K3M #57 sha256`. It shows how often the other side wrote.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct LedgerLine {
    #[serde(rename = "match")]
    pub match_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seq: Option<u64>,
    pub hash: Digest,
}

/// Returns the ledger lines anywhere in a mail: quoted, forwarded, wrapped, or in its HTML.
pub fn in_mail(raw: &[u8]) -> Vec<LedgerLine> {
    in_texts_of(raw, in_text)
}

/// Returns the anchors that a mail tells, wherever they stand.
pub fn anchors_in_mail(raw: &[u8]) -> Vec<Anchor> {
    in_texts_of(raw, anchors_in_text)
}

fn in_texts_of<T: Ord>(raw: &[u8], read: fn(&str) -> Vec<T>) -> Vec<T> {
    let mut texts = Vec::new();
    collect(raw, 0, &mut texts);
    let mut found: Vec<T> = texts.iter().flat_map(|text| read(text)).collect();
    found.sort();
    found.dedup();
    found
}

/// Maximum nesting of forwarded mails that are searched.
const MAX_NESTING: usize = 5;

/// Collects the texts of a mail, and of those forwarded in it.
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

/// Returns the ledger lines in a text.
pub fn in_text(text: &str) -> Vec<LedgerLine> {
    let after = text.match_indices("Ledger ").map(|(at, word)| &text[at + word.len()..]);
    after.filter_map(read).collect()
}

/// Returns the anchors in a text.
pub fn anchors_in_text(text: &str) -> Vec<Anchor> {
    let after = text.match_indices("Anchor of ").map(|(at, words)| &text[at + words.len()..]);
    after.filter_map(read_anchor).collect()
}

/// Parses `2026-05-08 sha256 | 5f1c…`, with anything in between that [`read_hash`] allows.
fn read_anchor(text: &str) -> Option<Anchor> {
    let day = text.get(..10)?.parse().ok()?;
    Some(Anchor { day, root: read_hash(&text[10..])? })
}

/// Whether a character may stand between the parts of a line: a quote prefix, a bar, or a line break.
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

/// Parses `QZ-7K3M sha256 | 5f1c…`, perhaps with the number of the entry, and with any quote prefix, line break or markup
/// in between.
fn read(text: &str) -> Option<LedgerLine> {
    let (match_id, rest) = text.split_once(is_between)?;
    let mut rest = rest.trim_start_matches(is_between);
    let mut seq = None;
    if let Some(numbered) = rest.strip_prefix('#') {
        let (number, after) = numbered.split_once(is_between)?;
        seq = Some(number.parse().ok()?);
        rest = after;
    }
    Some(LedgerLine { match_id: match_id.to_owned(), seq, hash: read_hash(rest)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HASH: &str = "5f1c00000000000000000000000000000000000000000000000000000000abcd";

    #[test]
    fn the_ledger_line_is_found_quoted_wrapped_and_marked_up() {
        let line = |seq| LedgerLine { match_id: "QZ-7K3M".to_owned(), seq, hash: HASH.parse().unwrap() };
        for text in [
            format!("Hello\n\nLedger QZ-7K3M #57 sha256\n| {HASH}\n"),
            format!("> Ledger QZ-7K3M #57\n> sha256\n> | {HASH}\n"),
            format!("<p>Ledger QZ-7K3M #57 sha256 <br><code>{HASH}</code>"),
        ] {
            assert_eq!(in_text(&text), [line(Some(57))], "{text}");
            assert_eq!(in_text(&text.replace(" #57", "")), [line(None)], "{text}");
        }
        assert_eq!(in_text("Ledger QZ-7K3M #57 sha256 | 5f1c"), []);
        assert_eq!(in_text("Ledger é"), []);
    }

    #[test]
    fn the_anchor_is_found_quoted_wrapped_and_marked_up() {
        let anchor = Anchor { day: "2026-05-08".parse().unwrap(), root: HASH.parse().unwrap() };
        for text in [
            format!("Anchor of 2026-05-08 sha256\n| {HASH}\n"),
            format!("> Anchor of 2026-05-08\n> sha256\n> | {HASH}\n"),
            format!("<p>Anchor of 2026-05-08 sha256<br>| <code>{HASH}</code>"),
        ] {
            assert_eq!(anchors_in_text(&text), [anchor], "{text}");
        }
        assert_eq!(anchors_in_text("Anchor of today sha256"), []);
        assert_eq!(anchors_in_text("Anchor of é"), []);
    }
}
