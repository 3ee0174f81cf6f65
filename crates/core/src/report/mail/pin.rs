//! The pin of a sent letter, by which the ledger proves its contents.
//!
//! It is the SHA-256 of a canonical form of the letter: our header fields in order, the text, the HTML, and
//! the SHA-256 of each file, the picture included. It covers neither the encoding and separation of the parts
//! nor the fields that a mail server or a signature adds.

use mail_parser::{Message, MessageParser, MessagePart, MimeHeaders, PartType};
use serde::Serialize;

use super::mime::PICTURE_ID;
use crate::letter::Digest;
use crate::letter::pictures::stands_for;
use crate::report::WordedLetter;

/// The canonical form of a letter, which is hashed as JSON (RFC 8785). The fields are declared in the order
/// of their names, so they need not be sorted.
#[derive(Debug, Default, Serialize)]
struct Contents<'a> {
    files: Vec<File>,
    /// Name and value of each of our header fields, unfolded.
    header: Vec<(&'a str, String)>,
    #[serde(skip_serializing_if = "String::is_empty")]
    html: String,
    text: String,
}

#[derive(Debug, Serialize)]
struct File {
    /// The file's name, or the Content-ID of the picture.
    name: String,
    sha256: Digest,
}

/// Returns the pin of a letter.
pub fn pin(mail: &[u8]) -> Digest {
    Digest::of(canonical(mail).as_bytes())
}

/// Returns the pin of a letter that was just made from these contents. It equals that of [`pin`], but nothing
/// has to be decoded.
pub fn pin_of_new(mail: &[u8], letter: &WordedLetter) -> Digest {
    let mut contents = Contents {
        header: header_fields(mail),
        html: with_line_feeds(&letter.html),
        text: with_line_feeds(&letter.text),
        files: Vec::new(),
    };
    // A letter of plain text alone has no picture.
    let picture = letter.picture.iter().filter(|_| !letter.html.is_empty());
    contents.files.extend(picture.map(|png| File { name: PICTURE_ID.to_owned(), sha256: Digest::of(png) }));
    contents.files.extend(letter.attachments.iter().map(|(name, text)| File {
        name: name.clone(),
        sha256: Digest::of(with_line_feeds(text).as_bytes()),
    }));
    Digest::of(contents.canonical().as_bytes())
}

/// Returns the pin of a letter that was parsed.
pub fn pin_of(mail: &[u8], parsed: &Message<'_>) -> Digest {
    Digest::of(canonical_of(mail, Some(parsed)).as_bytes())
}

/// Returns the canonical form of a letter, whose SHA-256 is its pin. A dropped picture counts by its digest.
pub fn canonical(mail: &[u8]) -> String {
    canonical_of(mail, MessageParser::default().parse(mail).as_ref())
}

fn canonical_of(mail: &[u8], parsed: Option<&Message<'_>>) -> String {
    let mut contents = Contents { header: header_fields(mail), ..Contents::default() };
    if let Some(parsed) = parsed {
        contents.add_parts(parsed);
    }
    contents.canonical()
}

impl Contents<'_> {
    fn canonical(&self) -> String {
        serde_json::to_string(self).expect("texts can be written")
    }

    fn add_parts(&mut self, mail: &Message<'_>) {
        for part in &mail.parts {
            let is_file = part.content_disposition().is_some();
            match &part.body {
                PartType::Multipart(_) => {}
                PartType::Text(text) if !is_file && self.text.is_empty() => self.text = with_line_feeds(text),
                PartType::Html(html) if !is_file && self.html.is_empty() => self.html = with_line_feeds(html),
                PartType::Text(_)
                | PartType::Html(_)
                | PartType::Binary(_)
                | PartType::InlineBinary(_)
                | PartType::Message(_) => self.files.push(File::of(part)),
            }
        }
    }
}

impl File {
    fn of(part: &MessagePart<'_>) -> File {
        let name = part.attachment_name().or(part.content_id()).unwrap_or_default().to_owned();
        let contents = part.contents();
        let dropped = stands_for(contents);
        let sha256 = dropped.unwrap_or_else(|| match &part.body {
            PartType::Text(text) => Digest::of(with_line_feeds(text).as_bytes()),
            _ => Digest::of(contents),
        });
        File { name, sha256 }
    }
}

/// Converts line breaks to line feeds, and drops those at the end: the last may belong to the boundary.
fn with_line_feeds(text: &str) -> String {
    let mut text = text.replace("\r\n", "\n");
    text.truncate(text.trim_end_matches('\n').len());
    text
}

/// Returns our header fields, unfolded, in order: all but those that describe the encoding of the body.
fn header_fields(mail: &[u8]) -> Vec<(&str, String)> {
    let end = memchr::memmem::find(mail, b"\r\n\r\n").unwrap_or(mail.len());
    let Ok(header) = std::str::from_utf8(&mail[..end]) else { return Vec::new() };
    let mut fields: Vec<(&str, String)> = Vec::new();
    for line in header.split("\r\n") {
        match (line.starts_with([' ', '\t']), fields.last_mut()) {
            (true, Some((_, value))) => value.push_str(line),
            (true, None) | (false, _) => {
                let (name, value) = line.split_once(':').unwrap_or((line, ""));
                fields.push((name, value.trim_start().to_owned()));
            }
        }
    }
    fields.retain(|(name, _)| !is_about_encoding(name));
    fields
}

fn is_about_encoding(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    name.starts_with("content-") || name == "mime-version"
}
