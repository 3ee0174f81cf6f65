//! UID FETCH (RFC 3501, 6.4.8 and 7.4.2).
//!
//! The imap crate is not used for it, because it reads a letter line by line and parses the answer again
//! after each line, which took 14 % of the CPU time of emptying a mailbox. It also keeps everything that the
//! server sends. Here a letter is read as one block, and only up to our limit.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::command::run_within;
use super::connection::Connection;
use super::response::{LiteralLimits, Response, Text, Token, Tokens};
use crate::Error;
use crate::source::MAX_BATCH_BYTES;

/// Maximum bytes kept of all literals of an answer. Batches are smaller unless the server misstates the
/// sizes.
const MAX_KEPT_BYTES: usize = 2 * MAX_BATCH_BYTES;

/// The server's data about a letter.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Fetched {
    pub uid: Option<u32>,
    /// The size as the server states it (RFC822.SIZE).
    pub size: Option<u64>,
    /// The time at which the server received the letter (INTERNALDATE).
    pub received_at: Option<DateTime<Utc>>,
    /// The letter's header as the server has parsed it (ENVELOPE).
    pub envelope: Option<Envelope>,
    /// The whole letter, or the part that was asked for.
    pub body: Option<Text>,
    /// Whether the same answer had another body for the same UID.
    pub is_contradicted: bool,
}

/// The fields of an ENVELOPE that tell letters apart (RFC 3501, 7.4.2).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Envelope {
    pub date: Option<String>,
    pub message_id: Option<String>,
}

/// Fetches `items` of the letters in `set`, and returns the results by UID. Keeps the first `keep` bytes of
/// each body.
pub(super) fn uid_fetch(
    connection: &mut Connection,
    set: &str,
    items: &str,
    keep: usize,
) -> Result<BTreeMap<u32, Fetched>, Error> {
    let mut letters = BTreeMap::new();
    // Make room for at least one whole letter, however large the limit is.
    let mut room = LiteralLimits { longest: u64::MAX, each: keep, all: MAX_KEPT_BYTES.max(keep) };
    connection.expect_listings(true);
    let done = run_within(connection, &format!("UID FETCH {set} {items}"), &mut room, |response| {
        if !is_fetch(&response[0].0) {
            return Ok(());
        }
        let mut fetched = parse(response).ok_or(Error::Malformed)?;
        let Some(uid) = fetched.uid else { return Ok(()) };
        let before: Option<&Fetched> = letters.get(&uid);
        // A server may add responses with a letter's new flags. They must not replace the one with the body.
        if fetched.body.is_some() || before.is_none() {
            let earlier = before.and_then(|before| before.body.as_ref());
            fetched.is_contradicted = earlier.is_some() && earlier != fetched.body.as_ref();
            letters.insert(uid, fetched);
        }
        Ok(())
    });
    connection.expect_listings(false);
    done.map(|()| letters)
}

/// Whether a response begins with `* 12 FETCH (`.
fn is_fetch(line: &[u8]) -> bool {
    let mut words = line.split(|&b| b == b' ').skip(1);
    let number = words.next().is_some_and(|word| !word.is_empty() && word.iter().all(u8::is_ascii_digit));
    number && words.next().is_some_and(|word| word.eq_ignore_ascii_case(b"FETCH"))
}

/// Reads the items of a FETCH response. Returns `None` if it is malformed.
fn parse(response: Response) -> Option<Fetched> {
    let mut tokens = Tokens::new(response);
    // Skip `*`, the sequence number and `FETCH`.
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
            b"ENVELOPE" => fetched.envelope = Some(envelope(&mut tokens)?),
            name if name.starts_with(b"BODY[]") => fetched.body = tokens.string()?,
            _ => tokens.skip_value()?,
        }
    }
}

/// Reads `("date" "subject" from sender reply-to to cc bcc "in-reply-to" "message-id")`.
fn envelope(tokens: &mut Tokens) -> Option<Envelope> {
    let Token::Open = tokens.next()? else { return None };
    let date = text_of(tokens.string()?);
    // The subject, and six lists of addresses.
    for _ in 0..7 {
        tokens.skip_value()?;
    }
    tokens.string()?;
    let message_id = text_of(tokens.string()?);
    let Token::Close = tokens.next()? else { return None };
    Some(Envelope { date, message_id })
}

fn text_of(string: Option<Text>) -> Option<String> {
    let text = String::from_utf8_lossy(&string?.bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Reads `17-Jul-1996 02:44:25 -0700`, the day padded with a space.
fn date(text: &[u8]) -> Option<DateTime<Utc>> {
    let text = str::from_utf8(text).ok()?.trim_start();
    Some(DateTime::parse_from_str(text, "%d-%b-%Y %H:%M:%S %z").ok()?.to_utc())
}

#[cfg(test)]
mod tests {
    use chrono::TimeZone;

    use super::*;
    use crate::imap::connection::announced_literal;

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
            ..Fetched::default()
        };
        assert_eq!(fetched, Some(expected));
    }

    #[test]
    fn an_envelope_gives_the_date_and_the_message_id() {
        let from = r#"(("Ann" NIL "ann" "home.test"))"#;
        let line = format!(
            r#"* 2 FETCH (UID 6 ENVELOPE ("Sat, 7 Nov 2026 08:12:00 +0000" NIL {from} {from} {from} NIL NIL NIL NIL "<1@home.test>") BODY[] "x")"#
        );
        let fetched = parse_line(&line).expect("well-formed");
        let expected = Envelope {
            date: Some("Sat, 7 Nov 2026 08:12:00 +0000".to_owned()),
            message_id: Some("<1@home.test>".to_owned()),
        };
        assert_eq!((fetched.envelope, fetched.body), (Some(expected), Some(text("x"))));
        let none = parse_line("* 2 FETCH (UID 6 ENVELOPE (NIL NIL NIL NIL NIL NIL NIL NIL NIL NIL))");
        assert_eq!(none.expect("well-formed").envelope, Some(Envelope::default()));
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
