//! A worded letter as the bytes of a mail (RFC 5322, RFC 2045 and following).

use std::time::SystemTime;

use chrono::{DateTime, Utc};
use lettre::message::header::{ContentTransferEncoding, ContentType, HeaderName, HeaderValue};
use lettre::message::{Attachment, Body, Mailbox, MultiPart, SinglePart};
use lettre::{Address, Message};

use super::WordedLetter;
use crate::letter::Digest;

/// What stands on the envelope and in the header of a mail of ours.
#[derive(Clone, Debug)]
pub struct Header<'a> {
    pub from_name: &'a str,
    /// The referee's own address.
    pub from: &'a str,
    /// Where answers go: the referee's address, with the reply token where the mailbox takes plus addresses.
    pub reply_to: &'a str,
    pub to_name: &'a str,
    pub to: &'a str,
    /// Without angle brackets.
    pub message_id: &'a str,
    /// The Message-ID of the letter that it answers.
    pub in_reply_to: Option<&'a str>,
    pub references: &'a [String],
    pub date: DateTime<Utc>,
}

/// Why a mail could not be put together: an address is none.
#[derive(Debug, thiserror::Error)]
pub enum MimeError {
    #[error("`{0}` is no mail address")]
    Address(String),
    #[error("the mail cannot be put together: {0}")]
    Builder(#[from] lettre::error::Error),
}

/// The bytes of a mail: always the same for the same page and header.
///
/// # Errors
/// [`MimeError`]: one of the addresses is no mail address.
pub fn mail(page: &WordedLetter, header: &Header<'_>) -> Result<Vec<u8>, MimeError> {
    let answers = header.in_reply_to.is_some();
    let mut builder = Message::builder()
        .from(mailbox(header.from_name, header.from)?)
        .reply_to(mailbox(header.from_name, header.reply_to)?)
        .to(mailbox(header.to_name, header.to)?)
        .subject(one_line(&page.subject))
        .date(SystemTime::from(header.date))
        .message_id(Some(format!("<{}>", header.message_id)))
        .raw_header(raw("Auto-Submitted", if answers { "auto-replied" } else { "auto-generated" }))
        .raw_header(raw("X-Fogpost-Loop", header.from));
    if let Some(id) = header.in_reply_to {
        builder = builder.in_reply_to(format!("<{id}>"));
    }
    if !header.references.is_empty() {
        let ids: Vec<_> = header.references.iter().map(|id| format!("<{id}>")).collect();
        builder = builder.references(ids.join(" "));
    }
    Ok(builder.multipart(parts(page, header.message_id))?.formatted())
}

/// With this begins each part of those that a reader may choose from, of which the text is the first.
pub(super) const PART_BEGINS: &str = "\r\n--=a=";

/// The text, the HTML with its picture, and the files that go with them. Boundaries follow from the Message-ID, so
/// that the same mail has the same bytes.
fn parts(page: &WordedLetter, message_id: &str) -> MultiPart {
    let digest = Digest::of(message_id.as_bytes()).to_string();
    let boundary = |part: &str| format!("={part}={}", &digest[..32]);
    let text =
        MultiPart::alternative().boundary(boundary("a")).singlepart(SinglePart::plain(page.text.clone()));
    let html = SinglePart::html(page.html.clone());
    let readable = match &page.picture {
        None => text.singlepart(html),
        Some(png) => {
            let png = Body::new_with_encoding(png.clone(), ContentTransferEncoding::Base64)
                .unwrap_or_else(|_| unreachable!("any bytes go into base64"));
            let kind = ContentType::parse("image/png").expect("a content type");
            let picture = Attachment::new_inline("board".to_owned()).body(png, kind);
            text.multipart(MultiPart::related().boundary(boundary("r")).singlepart(html).singlepart(picture))
        }
    };
    if page.attachments.is_empty() {
        return readable;
    }
    let mixed = MultiPart::mixed().boundary(boundary("m")).multipart(readable);
    page.attachments.iter().fold(mixed, |mixed, (name, contents)| {
        let file = Attachment::new(name.clone()).body(contents.clone(), ContentType::TEXT_PLAIN);
        mixed.singlepart(file)
    })
}

fn mailbox(name: &str, address: &str) -> Result<Mailbox, MimeError> {
    let parsed: Address = address.parse().map_err(|_| MimeError::Address(one_line(address)))?;
    let name = one_line(name);
    Ok(Mailbox::new(Some(name).filter(|name| !name.is_empty()), parsed))
}

fn raw(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), one_line(value))
}

/// No control characters, no line breaks: fit for a header.
fn one_line(text: &str) -> String {
    text.split(char::is_control).collect::<Vec<_>>().join(" ").trim().to_owned()
}
