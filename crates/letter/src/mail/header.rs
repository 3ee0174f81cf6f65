//! Raw header fields in order, and the preparation of raw bytes for the parser.
//!
//! The parser decodes the structured fields that matter (From, Subject, the content types). This module reads
//! the fields whose order, number or mere presence matters.

use std::borrow::Cow;
use std::collections::BTreeSet;

use super::address::Address;

/// One header field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// In lower case.
    pub name: String,
    /// Unfolded; invalid UTF-8 is replaced.
    pub value: String,
}

/// Replaces bare carriage returns by line feeds if the first line ends in one, as on an old Macintosh.
pub fn with_line_feeds(raw: &[u8]) -> Cow<'_, [u8]> {
    let end = raw.iter().position(|b| matches!(b, b'\r' | b'\n'));
    let bare = end.is_some_and(|end| raw[end] == b'\r' && raw.get(end + 1) != Some(&b'\n'));
    if !bare {
        return Cow::Borrowed(raw);
    }
    Cow::Owned(raw.iter().map(|b| if *b == b'\r' { b'\n' } else { *b }).collect())
}

/// Removes the `From ` line that some delivery programs put above a letter.
pub fn without_envelope_line(raw: &[u8]) -> &[u8] {
    let blank = raw.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let raw = &raw[blank..];
    let raw = raw.strip_prefix(b"\xef\xbb\xbf").unwrap_or(raw);
    let marked = raw.starts_with(b"From ") || raw.starts_with(b">From ");
    match raw.iter().position(|b| *b == b'\n') {
        Some(end) if marked => &raw[end + 1..],
        _ => raw,
    }
}

/// Returns the header: everything before the first blank line.
pub fn head(raw: &[u8]) -> &[u8] {
    let mut at = 0;
    for line in raw.split_inclusive(|b| *b == b'\n') {
        if matches!(line, b"\n" | b"\r\n") {
            break;
        }
        at += line.len();
    }
    &raw[..at]
}

/// Fields that a header may have only once (RFC 5322 3.6, RFC 2045 3). If there are two, a signature may
/// cover one while the program reads the other.
const AT_MOST_ONCE: [&[u8]; 14] = [
    b"from",
    b"sender",
    b"reply-to",
    b"to",
    b"cc",
    b"subject",
    b"date",
    b"message-id",
    b"in-reply-to",
    b"references",
    b"mime-version",
    b"content-type",
    b"content-transfer-encoding",
    b"content-disposition",
];

/// Whether all programs agree on the header of `letter`: on its end, its fields and their values.
///
/// Each line must be a field `name:` or a fold, without control characters. All lines, and the blank one that
/// ends the header, must end in the same way: a server that ends lines only at CRLF takes `\n\n` as part of a
/// field.
pub fn is_unambiguous(letter: &[u8]) -> bool {
    let mut names: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut ends_in_crlf = None;
    let mut is_first = true;
    for line in letter.split_inclusive(|b| *b == b'\n') {
        let Some(text) = line.strip_suffix(b"\n") else {
            return is_field_or_fold(line, is_first, &mut names);
        };
        let text_without_return = text.strip_suffix(b"\r");
        if *ends_in_crlf.get_or_insert(text_without_return.is_some()) != text_without_return.is_some() {
            return false;
        }
        let text = text_without_return.unwrap_or(text);
        if text.is_empty() {
            return !is_first;
        }
        if !is_field_or_fold(text, is_first, &mut names) {
            return false;
        }
        is_first = false;
    }
    !is_first
}

/// Whether a line of a header is a field or, unless it is the first, a fold. Notes the `names` that may occur
/// once.
fn is_field_or_fold(text: &[u8], is_first: bool, names: &mut BTreeSet<Vec<u8>>) -> bool {
    if text.iter().any(|b| b.is_ascii_control() && *b != b'\t') {
        return false;
    }
    if matches!(text.first(), Some(b' ' | b'\t')) {
        // Some programs end the header at a line of blanks.
        return !is_first && !text.trim_ascii().is_empty();
    }
    let Some(colon) = text.iter().position(|b| *b == b':') else { return false };
    let name = text[..colon].to_ascii_lowercase();
    let is_name = !name.is_empty() && name.iter().all(u8::is_ascii_graphic);
    is_name && (!AT_MOST_ONCE.contains(&name.as_slice()) || names.insert(name))
}

/// Whether there is a carriage return without a line feed after it.
pub fn has_bare_return(raw: &[u8]) -> bool {
    memchr::memchr_iter(b'\r', raw).any(|at| raw.get(at + 1) != Some(&b'\n'))
}

/// Splits a header into its fields.
pub fn headers(head: &[u8]) -> Vec<Header> {
    let mut headers: Vec<Header> = Vec::new();
    for line in String::from_utf8_lossy(head).split('\n') {
        let line = line.trim_end_matches('\r');
        if line.starts_with([' ', '\t']) {
            if let Some(last) = headers.last_mut() {
                last.value.push(' ');
                last.value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            headers.push(Header { name: name.trim().to_ascii_lowercase(), value: value.trim().to_owned() });
        }
    }
    headers
}

/// Maximum length of a Message-ID: the maximum of a line (RFC 5322 2.1.1).
const MAX_ID: usize = 998;

/// Returns the Message-IDs in a field, without their angle brackets.
pub fn message_ids(value: &str) -> Vec<String> {
    if !value.contains('<') {
        // Some programs omit the brackets.
        let bare = value.split_whitespace().filter(|word| word.contains('@') && word.len() <= MAX_ID);
        return bare.map(str::to_owned).collect();
    }
    let bracketed = value.split('<').skip(1).map(|piece| piece.split('>').next().unwrap_or_default());
    let ids = bracketed.map(|id| id.split_whitespace().collect::<String>());
    ids.filter(|id| !id.is_empty() && id.len() <= MAX_ID).collect()
}

/// Finds the addresses anywhere in a field, whatever its syntax.
pub fn addresses(value: &str) -> impl Iterator<Item = Address> + '_ {
    let words = value.split(is_address_delimiter).filter(|word| word.contains('@'));
    words.filter_map(|word| Address::parse(word).ok())
}

fn is_address_delimiter(c: char) -> bool {
    c.is_whitespace() || matches!(c, '<' | '>' | ',' | ';' | '"' | '(' | ')' | ':' | '\'' | '[' | ']')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_unfolded_and_kept_in_order() {
        let raw = b"From ann Mon\nReceived: a\r\n\tb\r\nTo : x\r\nno field\r\n\r\nBody: y";
        let raw = without_envelope_line(raw);
        let found: Vec<_> = headers(head(raw)).into_iter().map(|h| (h.name, h.value)).collect();
        assert_eq!(
            found,
            [("received".into(), "a b".into()), ("to".into(), "x".into())] as [(String, String); 2]
        );
    }

    #[test]
    fn a_header_that_programs_may_read_differently_is_ambiguous() {
        for letter in [
            "From: a@b\r\nX: y\r\n\tz\r\n\r\nany\nthing: \u{c}",
            "From: a@b\nDKIM-Signature: x\nDKIM-Signature: y\nReceived:\n\n",
            "Subject: \u{e4}\r\n\r\n",
            "From: a@b",
        ] {
            assert!(is_unambiguous(letter.as_bytes()), "{letter:?}");
        }
        for letter in [
            "",
            "\r\nFrom: a@b\r\n\r\n",
            " fold\r\nFrom: a@b\r\n\r\n",
            "From: a@b\r\nno field\r\n\r\n",
            "From: a@b\r\n\u{c}\r\nX: y\r\n\r\n",
            "From: a@b\r\nX: y\u{c}\r\n\r\n",
            "From: a@b\r\nX: y\0\r\n\r\n",
            "From: a@b\r\nX: y\rz\r\n\r\n",
            "From: a@b\r\nX: y\nZ: a\r\n\r\n",
            "From: a@b\r\nX: y\r\n\nRESIGN CONFIRM\r\n\r\n",
            "From: a@b\r\nX: y\r\n \t\r\nZ: a\r\n\r\n",
            "From : a@b\r\n\r\n",
            "Fr\u{f6}m: a@b\r\n\r\n",
            ": a@b\r\n\r\n",
            "From: a@b\r\nfrom: a@b\r\n\r\n",
            "Content-Type: text/html\r\nFrom: a@b\r\nContent-type: text/plain\r\n\r\n",
        ] {
            assert!(!is_unambiguous(letter.as_bytes()), "{letter:?}");
        }
        assert!(has_bare_return(b"a\rb") && has_bare_return(b"a\r") && !has_bare_return(b"a\r\nb\n"));
    }

    #[test]
    fn bare_carriage_returns_end_lines_if_one_ends_the_first_line() {
        assert_eq!(with_line_feeds(b"To: x\r\rA\r").as_ref(), b"To: x\n\nA\n");
        for raw in [b"To: x\r\n\r\nA\rB".as_slice(), b"To: x\n\nA\rB", b"To: x", b""] {
            assert_eq!(with_line_feeds(raw).as_ref(), raw);
        }
    }

    #[test]
    fn message_ids_are_found_with_and_without_brackets() {
        assert_eq!(message_ids("<a@b> (comment) <c@ d>"), ["a@b", "c@d"]);
        assert_eq!(message_ids("a@b"), ["a@b"]);
    }
}
