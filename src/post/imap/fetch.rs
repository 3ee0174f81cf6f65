//! UID FETCH (RFC 3501, 6.4.8 and 7.4.2).
//!
//! The imap crate is not used for it, because it reads a letter line by line and parses the answer again
//! after each line, which took 14 % of the CPU time of emptying a mailbox. It also keeps whatever the server
//! sends. Here a letter is read as one block, and only up to our limit.

use std::collections::BTreeMap;
use std::vec;

use chrono::{DateTime, Utc};

use super::connection::{Connection, Reply, announced_literal, classify};
use crate::post::Error;
use crate::post::source::MAX_BATCH_BYTES;

/// Maximum bytes kept of all literals of an answer. Batches are smaller unless the server misstates the
/// sizes.
const MAX_KEPT_BYTES: usize = 2 * MAX_BATCH_BYTES;

/// Maximum literals in a FETCH response. We ask for one.
const MAX_LITERALS: usize = 16;

/// The server's data about a letter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fetched {
    pub uid: Option<u32>,
    /// The size as the server states it (RFC822.SIZE).
    pub size: Option<u64>,
    /// The time at which the server received the letter (INTERNALDATE).
    pub received_at: Option<DateTime<Utc>>,
    /// The whole letter, or the part that was asked for.
    pub body: Option<Text>,
}

/// A string from the server.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Text {
    /// Its beginning, up to the limit.
    pub bytes: Vec<u8>,
    /// Its whole size in bytes.
    pub size: u64,
}

/// Fetches `items` of the letters in `set`, and returns the results by UID. Keeps the first `keep` bytes of
/// each body.
pub(super) fn uid_fetch(
    connection: &mut Connection,
    set: &str,
    items: &str,
    keep: usize,
) -> Result<BTreeMap<u32, Fetched>, Error> {
    connection.expect_listings(true);
    let tag = connection.send_command(&format!("UID FETCH {set} {items}"))?;
    connection.expect_listings(false);
    let mut letters = BTreeMap::new();
    // A single letter always fits.
    let mut room = MAX_KEPT_BYTES.max(keep);
    loop {
        let line = connection.read_line()?;
        match classify(&line, &tag)? {
            Reply::Done => return Ok(letters),
            Reply::Refused(refusal) => return Err(Error::Server(refusal)),
            Reply::Continuation => return Err(Error::Malformed),
            Reply::Data if is_fetch(&line) => {
                let fetched = read_response(connection, line, keep, &mut room)?;
                // A server may add responses with a letter's new flags. They must not replace the one with
                // the body.
                if let Some(uid) = fetched.uid
                    && (fetched.body.is_some() || !letters.contains_key(&uid))
                {
                    letters.insert(uid, fetched);
                }
            }
            Reply::Data | Reply::Remark => {}
        }
    }
}

/// Whether a response begins with `* 12 FETCH (`.
fn is_fetch(line: &[u8]) -> bool {
    let mut words = line.split(|&b| b == b' ').skip(1);
    let number = words.next().is_some_and(|word| !word.is_empty() && word.iter().all(u8::is_ascii_digit));
    number && words.next().is_some_and(|word| word.eq_ignore_ascii_case(b"FETCH"))
}

/// Reads a FETCH response that begins with `line`. Subtracts the bytes that it keeps from `room`, and fails
/// before it keeps more than that.
fn read_response(
    connection: &mut Connection,
    line: Vec<u8>,
    keep: usize,
    room: &mut usize,
) -> Result<Fetched, Error> {
    let mut response = Vec::new();
    let mut line = line;
    while let Some((start, size)) = announced_literal(&line) {
        if response.len() == MAX_LITERALS {
            return Err(Error::Malformed);
        }
        let kept = usize::try_from(size).unwrap_or(keep).min(keep);
        *room = room.checked_sub(kept).ok_or(Error::Malformed)?;
        line.truncate(start);
        let literal = Text { bytes: connection.read_literal(size, keep)?, size };
        response.push((line, Some(literal)));
        line = connection.read_line()?;
    }
    response.push((line, None));
    parse(response).ok_or(Error::Malformed)
}

/// A response: lines, each with the literal that follows it.
type Response = Vec<(Vec<u8>, Option<Text>)>;

/// Reads the items of a FETCH response. Returns `None` if it is malformed.
fn parse(response: Response) -> Option<Fetched> {
    let mut tokens = Tokens::new(response);
    // Skips `*`, the sequence number and `FETCH`.
    for _ in 0..3 {
        tokens.word()?;
    }
    let Token::Open = tokens.next()? else { return None };
    let mut fetched = Fetched::default();
    loop {
        let mut name = match tokens.next()? {
            Token::Close => return Some(fetched),
            Token::Word(name) => name,
            Token::Open | Token::String(_) => return None,
        };
        name.make_ascii_uppercase();
        match name.as_slice() {
            b"UID" => fetched.uid = Some(tokens.number()?),
            b"RFC822.SIZE" => fetched.size = Some(tokens.number()?),
            b"INTERNALDATE" => fetched.received_at = date(&tokens.string()??.bytes),
            name if name.starts_with(b"BODY[]") => fetched.body = tokens.string()?,
            _ => tokens.skip_value()?,
        }
    }
}

/// Reads `17-Jul-1996 02:44:25 -0700`, the day padded with a space.
fn date(text: &[u8]) -> Option<DateTime<Utc>> {
    let text = str::from_utf8(text).ok()?.trim_start();
    Some(DateTime::parse_from_str(text, "%d-%b-%Y %H:%M:%S %z").ok()?.to_utc())
}

/// A piece of a response (RFC 3501, 9).
enum Token {
    Open,
    Close,
    /// A number, an atom, or an item's name such as `BODY[HEADER.FIELDS (DATE)]<0>`.
    Word(Vec<u8>),
    /// A quoted string or a literal.
    String(Text),
}

struct Tokens {
    rest: vec::IntoIter<(Vec<u8>, Option<Text>)>,
    line: Vec<u8>,
    /// Offset in `line` at which the next token starts.
    at: usize,
    /// The literal that follows `line`.
    literal: Option<Text>,
}

impl Tokens {
    fn new(response: Response) -> Tokens {
        Tokens { rest: response.into_iter(), line: Vec::new(), at: 0, literal: None }
    }

    fn word(&mut self) -> Option<Vec<u8>> {
        match self.next()? {
            Token::Word(word) => Some(word),
            Token::Open | Token::Close | Token::String(_) => None,
        }
    }

    fn number<N: std::str::FromStr>(&mut self) -> Option<N> {
        String::from_utf8(self.word()?).ok()?.parse().ok()
    }

    /// Reads a string. The inner `None` stands for `NIL`.
    fn string(&mut self) -> Option<Option<Text>> {
        match self.next()? {
            Token::String(text) => Some(Some(text)),
            Token::Word(nil) if nil.eq_ignore_ascii_case(b"NIL") => Some(None),
            Token::Word(_) | Token::Open | Token::Close => None,
        }
    }

    /// Skips a word, a string, or a list with all that is in it.
    fn skip_value(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.next()? {
                Token::Open => depth += 1,
                Token::Close => depth = depth.checked_sub(1)?,
                Token::Word(_) | Token::String(_) => {}
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    fn quoted(&mut self) -> Option<Token> {
        let mut bytes = Vec::new();
        loop {
            self.at += 1;
            match *self.line.get(self.at)? {
                b'"' => break,
                b'\\' => {
                    self.at += 1;
                    bytes.push(*self.line.get(self.at)?);
                }
                byte => bytes.push(byte),
            }
        }
        self.at += 1;
        let size = bytes.len() as u64;
        Some(Token::String(Text { bytes, size }))
    }

    /// Reads up to a space or a parenthesis, except those in brackets.
    fn unquoted(&mut self) -> Token {
        let start = self.at;
        let mut in_brackets = false;
        while let Some(&byte) = self.line.get(self.at) {
            match byte {
                b'[' => in_brackets = true,
                b']' => in_brackets = false,
                b' ' | b'(' | b')' if !in_brackets => break,
                _ => {}
            }
            self.at += 1;
        }
        Token::Word(self.line[start..self.at].to_vec())
    }
}

impl Iterator for Tokens {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        loop {
            match self.line.get(self.at) {
                Some(b' ') => self.at += 1,
                Some(b'(') => {
                    self.at += 1;
                    return Some(Token::Open);
                }
                Some(b')') => {
                    self.at += 1;
                    return Some(Token::Close);
                }
                Some(b'"') => return self.quoted(),
                Some(_) => return Some(self.unquoted()),
                None => {
                    if let Some(literal) = self.literal.take() {
                        return Some(Token::String(literal));
                    }
                    (self.line, self.literal) = self.rest.next()?;
                    self.at = 0;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;

    use super::*;

    fn parse_line(line: &str) -> Option<Fetched> {
        parse(vec![(line.as_bytes().to_vec(), None)])
    }

    fn text(bytes: &str) -> Text {
        Text { bytes: bytes.as_bytes().to_vec(), size: bytes.len() as u64 }
    }

    #[test]
    fn items_are_read_in_any_order_and_unknown_ones_are_skipped() {
        let fetched = parse(vec![
            (
                b"* 1 fetch (FLAGS (\\Seen $Done) BODY[HEADER.FIELDS (DATE \"x)\")] ".to_vec(),
                Some(text("Date: x")),
            ),
            (b" X-LIST (a (b \"c)\") NIL) UID 5 body[]<0> ".to_vec(), Some(text("a letter"))),
            (b" INTERNALDATE \" 7-Nov-2026 09:12:00 +0100\" RFC822.SIZE 31)".to_vec(), None),
        ]);
        let expected = Fetched {
            uid: Some(5),
            size: Some(31),
            received_at: Utc.with_ymd_and_hms(2026, 11, 7, 8, 12, 0).single(),
            body: Some(text("a letter")),
        };
        assert_eq!(fetched, Some(expected));
    }

    #[test]
    fn a_body_may_be_quoted_or_missing() {
        let body = |line| parse_line(line).expect("well-formed").body;
        assert_eq!(
            body(r#"* 2 FETCH (UID 6 BODY[] "a \"short\" \\ one")"#),
            Some(text(r#"a "short" \ one"#))
        );
        assert_eq!(body("* 2 FETCH (UID 6 BODY[] NIL)"), None);
        assert_eq!(body("* 2 FETCH (FLAGS ())"), None);
    }

    #[test]
    fn malformed_responses_are_refused() {
        for line in [
            "* 1 FETCH",
            "* 1 FETCH (",
            "* 1 FETCH (UID",
            "* 1 FETCH (UID what)",
            "* 1 FETCH (UID 99999999999)",
            "* 1 FETCH (UID 5 RFC822.SIZE ((",
            "* 1 FETCH (UID 5 BODY[] \"open)",
            "* 1 FETCH (FLAGS (\\Seen)",
            "* 1 FETCH ((UID 5))",
            "* 1 FETCH (\"UID\" 5)",
        ] {
            assert_eq!(parse_line(line), None, "{line}");
        }
    }

    #[test]
    fn only_fetch_responses_announce_literals() {
        assert!(is_fetch(b"* 12 FETCH (UID 5)") && is_fetch(b"* 1 fetch ("));
        for line in ["* FETCH (", "* 1 EXISTS", "* x FETCH (", "*  FETCH (", "* OK FETCH {3}", ""] {
            assert!(!is_fetch(line.as_bytes()), "{line}");
        }
        assert_eq!(announced_literal(b"BODY[] {305}"), Some((7, 305)));
        assert_eq!(announced_literal(b"{99999999999999999999999}"), Some((0, u64::MAX)));
        for line in ["", "}", "{}", "{+5}", "5}", "{5} "] {
            assert_eq!(announced_literal(line.as_bytes()), None, "{line}");
        }
    }
}
