//! Finds the ledger line that each of our letters contains, so that a player's own mail can be checked against the
//! chain.

use mail_parser::{MessageParser, MimeHeaders};
use serde::Serialize;

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
    let mut lines = Vec::new();
    collect(raw, 0, &mut lines);
    lines.sort();
    lines.dedup();
    lines
}

/// Maximum nesting of forwarded mails that are searched.
const MAX_NESTING: usize = 5;

fn collect(raw: &[u8], depth: usize, lines: &mut Vec<LedgerLine>) {
    let Some(mail) = MessageParser::default().parse(raw).filter(|_| depth < MAX_NESTING) else { return };
    for part in &mail.parts {
        if let Some(inner) = part.message() {
            collect(inner.raw_message(), depth + 1, lines);
        } else if part.content_type().is_some_and(|kind| kind.subtype() == Some("rfc822")) {
            collect(part.contents(), depth + 1, lines);
        } else if let Some(text) = part.text_contents() {
            lines.extend(in_text(text));
        }
    }
}

/// Returns the ledger lines in a text.
pub fn in_text(text: &str) -> Vec<LedgerLine> {
    let after = text.match_indices("Ledger ").map(|(at, word)| &text[at + word.len()..]);
    after.filter_map(read).collect()
}

/// Parses `QZ-7K3M sha256 | 5f1c…`, perhaps with the number of the entry, and with any quote prefix, line break or markup
/// in between.
fn read(text: &str) -> Option<LedgerLine> {
    let between = |c: char| c.is_whitespace() || matches!(c, '>' | '|');
    let (match_id, rest) = text.split_once(between)?;
    let mut rest = rest.trim_start_matches(between);
    let mut seq = None;
    if let Some(numbered) = rest.strip_prefix('#') {
        let (number, after) = numbered.split_once(between)?;
        seq = Some(number.parse().ok()?);
        rest = after;
    }
    let mut rest = rest.trim_start_matches(between).strip_prefix("sha256")?.trim_start_matches(between);
    // In HTML the hash is in an element of its own.
    while let Some((_, after)) = rest.strip_prefix('<').and_then(|tag| tag.split_once('>')) {
        rest = after.trim_start_matches(between);
    }
    let hash = rest.get(..64)?.parse().ok()?;
    Some(LedgerLine { match_id: match_id.to_owned(), seq, hash })
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
}
