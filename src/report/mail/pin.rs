//! The pin of a sent letter, by which the ledger proves its contents.
//!
//! It is the SHA-256 of a canonical form of the letter: our header fields in order, the text, the HTML, and the SHA-256
//! of each file, the picture included. It covers neither the encoding and separation of the parts nor the fields that a
//! mail server or a signature adds.

use mail_parser::{Message, MessageParser, MessagePart, MimeHeaders, PartType};
use serde::Serialize;

use crate::letter::Digest;
use crate::letter::pictures::stands_for;

/// The canonical form of a letter, which is hashed as JSON (RFC 8785). The fields are in the order of their names, so that
/// they need not be sorted.
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

/// Returns the pin of a letter that was parsed.
pub fn pin_of(mail: &[u8], parsed: &Message<'_>) -> Digest {
    Digest::of(canonical_of(mail, Some(parsed)).as_bytes())
}

/// Returns the canonical form of a letter, whose SHA-256 is its pin. A dropped picture counts by the digest that stands
/// for it.
pub fn canonical(mail: &[u8]) -> String {
    canonical_of(mail, MessageParser::default().parse(mail).as_ref())
}

fn canonical_of(mail: &[u8], parsed: Option<&Message<'_>>) -> String {
    let mut contents = Contents { header: header_fields(mail), ..Contents::default() };
    if let Some(parsed) = parsed {
        contents.add_parts(parsed);
    }
    serde_json::to_string(&contents).expect("texts can be written")
}

impl Contents<'_> {
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

/// Converts line breaks to line feeds, and drops those at the end: the last one may belong to the boundary after it.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::letter::pictures::stand_in;
    use crate::report::WordedLetter;
    use crate::report::mime::{self, Header};

    const PICTURE: &[u8] =
        b"\x89PNG a picture that is longer than one line of base64, which has 76 characters";

    fn mail(change: impl FnOnce(&mut WordedLetter)) -> Vec<u8> {
        let mut letter = WordedLetter {
            subject: "[QZ-7K3M] Turn 4: your report, whose subject is so long that the line has to be folded"
                .to_owned(),
            text: "What happened\n\nMünchen fell.\n".to_owned(),
            html: "<p>What happened</p>\n<p>München fell.</p>\n".to_owned(),
            picture: Some(PICTURE.to_vec()),
            attachments: vec![("QZ-7K3M.toml".to_owned(), "game = \"quadrant-z\"\n".to_owned())],
        };
        change(&mut letter);
        let header = Header {
            from_name: "The club",
            from: "referee@club.example",
            reply_to: "referee+token@club.example",
            to_name: "Änn",
            to: "ann@players.example",
            message_id: "token.7@club.example",
            in_reply_to: None,
            references: &[],
            date: "2026-11-23T10:00:00Z".parse().unwrap(),
        };
        mime::mail(&letter, &header).unwrap()
    }

    #[test]
    fn the_pin_covers_each_field_and_each_part() {
        let letter = mail(|_| {});
        let pinned = pin(&letter);
        for changed in [
            mail(|letter| letter.subject.push('!')),
            mail(|letter| letter.text = letter.text.replace("fell", "held")),
            mail(|letter| letter.html = letter.html.replace("fell", "held")),
            mail(|letter| letter.picture = None),
            mail(|letter| letter.picture = Some(b"another".to_vec())),
            mail(|letter| letter.attachments[0].0 = "other.toml".to_owned()),
            mail(|letter| letter.attachments[0].1.push('x')),
            mail(|letter| letter.attachments.clear()),
            [b"Cc: bo@players.example\r\n", &letter[..]].concat(),
        ] {
            assert_ne!(pin(&changed), pinned, "{}", canonical(&changed));
        }
    }

    #[test]
    fn the_canonical_form_holds_the_letter_in_plain_words() {
        let form: serde_json::Value = serde_json::from_str(&canonical(&mail(|_| {}))).unwrap();
        assert_eq!(form["text"], "What happened\n\nMünchen fell.");
        assert_eq!(form["html"], "<p>What happened</p>\n<p>München fell.</p>");
        assert_eq!(form["files"][0]["name"], "board");
        assert_eq!(form["files"][0]["sha256"], Digest::of(PICTURE).to_string());
        assert_eq!(form["files"][1]["name"], "QZ-7K3M.toml");
        assert_eq!(form["files"][1]["sha256"], Digest::of(b"game = \"quadrant-z\"").to_string());
        assert_eq!(form["header"][0][0], "From");
    }

    #[test]
    fn the_canonical_form_is_canonical_json() {
        let form = canonical(&mail(|letter| letter.text = "\u{1}\t\"\\ \u{7f} München \u{1f600}".to_owned()));
        let read: serde_json::Value = serde_json::from_str(&form).unwrap();
        assert_eq!(form, crate::ledger::canonical(&read));
    }

    #[test]
    fn a_letter_keeps_its_pin_without_its_picture() {
        let whole = mail(|_| {});
        let dropped = |digest: Digest| mail(|letter| letter.picture = Some(stand_in(digest).into_bytes()));
        assert_eq!(pin(&dropped(Digest::of(PICTURE))), pin(&whole));
        assert_ne!(pin(&dropped(Digest::of(b"another"))), pin(&whole));
    }
}
