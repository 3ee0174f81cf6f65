//! Assembles a worded letter into the bytes of a mail (RFC 5322, RFC 2045 to 2049).

use std::time::SystemTime;

use chrono::{DateTime, Utc};
use email_encoding::body::Encoding;
use lettre::Message;
use lettre::address::Envelope;
use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Body, Mailbox, MultiPart, SinglePart};

use crate::letter::{Address, Digest};
use crate::report::WordedLetter;

/// The header fields of a mail.
#[derive(Clone, Debug)]
pub struct Header<'a> {
    pub from_name: &'a str,
    /// The referee's own address.
    pub from: &'a str,
    /// The referee's address, with the reply token in it if the mailbox accepts plus addresses.
    pub reply_to: &'a str,
    pub to_name: &'a str,
    pub to: &'a str,
    /// Has no angle brackets.
    pub message_id: &'a str,
    /// The Message-ID of the letter that this one answers, without angle brackets.
    pub in_reply_to: Option<&'a str>,
    pub references: &'a [String],
    pub date: DateTime<Utc>,
}

/// The reason why a mail could not be assembled.
#[derive(Debug, thiserror::Error)]
pub enum MimeError {
    #[error("`{0}` is not a mail address")]
    Address(String),
    #[error("the mail cannot be assembled: {0}")]
    Builder(#[from] lettre::error::Error),
}

/// Returns the bytes of a mail. Equal letters with equal headers give equal bytes.
///
/// # Errors
/// [`MimeError`] if one of the addresses is not a mail address.
pub fn mail(letter: &WordedLetter, header: &Header<'_>) -> Result<Vec<u8>, MimeError> {
    let answers = header.in_reply_to.is_some();
    let (from, to) = (mailbox(header.from_name, header.from)?, mailbox(header.to_name, header.to)?);
    // Set the envelope, or lettre would derive it from the fields with its own parser.
    let envelope = Envelope::new(Some(from.email.clone()), vec![to.email.clone()])?;
    let mut builder = Message::builder()
        .envelope(envelope)
        .from(from)
        .reply_to(mailbox(header.from_name, header.reply_to)?)
        .to(to)
        .subject(one_line(&letter.subject))
        .date(SystemTime::from(header.date))
        .message_id(Some(format!("<{}>", header.message_id)))
        // `Auto-Submitted` keeps vacation programs from answering (RFC 3834). `X-Fogpost-Loop` marks our own
        // letters, in case one comes back.
        .raw_header(raw("Auto-Submitted", if answers { "auto-replied" } else { "auto-generated" }))
        .raw_header(raw("X-Fogpost-Loop", header.from));
    if let Some(id) = header.in_reply_to {
        builder = builder.in_reply_to(format!("<{id}>"));
    }
    if !header.references.is_empty() {
        let ids: Vec<_> = header.references.iter().map(|id| format!("<{id}>")).collect();
        builder = builder.references(ids.join(" "));
    }
    let mail = match (letter.html.is_empty(), letter.attachments.is_empty()) {
        (true, true) => builder.singlepart(SinglePart::plain(text_body(&letter.text)))?,
        (true, false) | (false, _) => builder.multipart(parts(letter, header.message_id))?,
    };
    Ok(mail.formatted())
}

/// The start of the line before each part of the `multipart/alternative`. The first part is the text.
pub(super) const ALTERNATIVE_DELIMITER: &str = "\r\n--=a=";

/// The Content-ID of the picture within the mail.
pub(super) const PICTURE_ID: &str = "board";

/// Returns the text, the HTML with its picture, and the attachments. The boundaries are derived from the
/// Message-ID, because lettre's own are random and the audit assembles the mail a second time.
fn parts(letter: &WordedLetter, message_id: &str) -> MultiPart {
    let digest = Digest::of(message_id.as_bytes()).to_string();
    let boundary = |part: &str| format!("={part}={}", &digest[..32]);
    if letter.html.is_empty() {
        let text =
            MultiPart::mixed().boundary(boundary("m")).singlepart(SinglePart::plain(text_body(&letter.text)));
        return with_attachments(text, letter);
    }
    let text = MultiPart::alternative()
        .boundary(boundary("a"))
        .singlepart(SinglePart::plain(text_body(&letter.text)));
    let html = SinglePart::html(body(&letter.html));
    let readable = match &letter.picture {
        None => text.singlepart(html),
        Some(png) => {
            let png = Body::new_with_encoding(png.clone(), ContentTransferEncoding::Base64)
                .unwrap_or_else(|_| unreachable!("base64 encodes any bytes"));
            let kind = ContentType::parse("image/png").expect("it is a valid content type");
            let picture = Attachment::new_inline(PICTURE_ID.to_owned()).body(png, kind);
            text.multipart(MultiPart::related().boundary(boundary("r")).singlepart(html).singlepart(picture))
        }
    };
    if letter.attachments.is_empty() {
        return readable;
    }
    let mixed = MultiPart::mixed().boundary(boundary("m")).multipart(readable);
    with_attachments(mixed, letter)
}

fn with_attachments(mixed: MultiPart, letter: &WordedLetter) -> MultiPart {
    letter.attachments.iter().fold(mixed, |mixed, (name, contents)| {
        let file = Attachment::new(name.clone()).body(body(contents), ContentType::TEXT_PLAIN);
        mixed.singlepart(file)
    })
}

/// Encodes a text that ends with its last line's end: the one before a boundary belongs to the boundary, and programs
/// that quote the text would join their own line to ours.
fn text_body(text: &str) -> Body {
    if text.is_empty() || text.ends_with(['\n', '\r']) { body(text) } else { body(&format!("{text}\n")) }
}

/// Encodes a text as lettre does, but with CRLF already in place. In a text with bare line feeds, lettre
/// inserts each carriage return by moving the rest of the text, which is quadratic.
///
/// Chooses the encoding before it converts the line ends, as lettre does, so that a letter that is assembled
/// again has the same bytes.
fn body(text: &str) -> Body {
    let with_crlf = with_crlf(text);
    match Encoding::choose(text, false) {
        Encoding::SevenBit => {
            Body::dangerous_pre_encoded(with_crlf.into_bytes(), ContentTransferEncoding::SevenBit)
        }
        Encoding::QuotedPrintable | Encoding::EightBit => {
            encode_body(with_crlf, ContentTransferEncoding::QuotedPrintable)
        }
        Encoding::Base64 => encode_body(with_crlf, ContentTransferEncoding::Base64),
    }
}

fn encode_body(text: String, encoding: ContentTransferEncoding) -> Body {
    Body::new_with_encoding(text, encoding).unwrap_or_else(|_| unreachable!("it encodes any text"))
}

/// Replaces bare line feeds by CRLF.
fn with_crlf(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 32);
    for line in text.split_inclusive('\n') {
        match line.strip_suffix('\n') {
            Some(line) if !line.ends_with('\r') => {
                out.push_str(line);
                out.push_str("\r\n");
            }
            Some(_) | None => out.push_str(line),
        }
    }
    out
}

fn mailbox(name: &str, address: &str) -> Result<Mailbox, MimeError> {
    let parsed = Address::parse(address).map_err(|_| MimeError::Address(one_line(address)))?;
    // Do not use lettre's own parser, which refuses addresses that exist, such as one with two dots in a row.
    let parsed = lettre::Address::new_dangerous(parsed.local(), parsed.domain());
    let name = one_line(name);
    Ok(Mailbox::new(Some(name).filter(|name| !name.is_empty()), parsed))
}

fn raw(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), one_line(value))
}

/// Replaces control characters and line breaks, so that a value cannot add header fields.
fn one_line(text: &str) -> String {
    text.split(char::is_control).collect::<Vec<_>>().join(" ").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_ends_with_a_line_feed() {
        for text in ["Send HELP for the manual.", "Send HELP for the manual.\n"] {
            assert_eq!(text_body(text).as_ref(), b"Send HELP for the manual.\r\n", "{text:?}");
        }
        assert_eq!(text_body("").as_ref(), b"");
    }

    #[test]
    fn a_text_is_encoded_as_lettre_encodes_it() {
        let line = |length: usize, c: &str| format!("{}\n", c.repeat(length));
        for text in [
            String::new(),
            "\n".to_owned(),
            "a\nb".to_owned(),
            "a\r\nb\n\nc\n".to_owned(),
            "\ra\n".to_owned(),
            // Lines around the length at which the encoding changes.
            line(73, "a") + &line(74, "b") + "c",
            line(74, "a") + &line(75, "b"),
            line(10, "a") + &line(76, "b"),
            line(40, "é") + "plain",
            line(40, "plain ") + "é \n",
            line(400, "日"),
        ] {
            let (ours, theirs) = (body(&text), Body::new(text.clone()));
            assert_eq!(ours.as_ref(), theirs.as_ref(), "{text:?}");
            assert_eq!(ours.encoding(), theirs.encoding(), "{text:?}");
        }
    }
}
