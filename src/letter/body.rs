//! The texts of a letter: which parts hold them, and what stands in their place where there are none.

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

use super::charset::{decode, transfer_decoded};
use super::clean::clean;
use super::text_line::{TextLine, plain_lines};
use super::{Limits, UnreadableReason, html};

/// What a letter without a readable text consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnreadableContent {
    Encrypted,
    /// S/MIME that hides the text inside its signature.
    OpaqueSigned,
    /// `winmail.dat`, which only Outlook opens.
    Winmail,
    OfficeDocument,
    Pdf,
    Picture,
    /// A letter as an attachment.
    Forwarded,
    OtherFile,
}

impl UnreadableContent {
    /// A sentence to the sender, and what to send instead.
    pub fn advice(self) -> &'static str {
        match self {
            UnreadableContent::Encrypted => {
                "Your letter is encrypted, and I cannot open it. Please send it unencrypted."
            }
            UnreadableContent::OpaqueSigned => {
                "Your letter is signed in a way that hides its text (S/MIME, \"opaque\"). Please send it without a signature, or clear-signed."
            }
            UnreadableContent::Winmail => {
                "Your letter came as winmail.dat, which only Outlook can open. Please send it as plain text."
            }
            UnreadableContent::OfficeDocument => {
                "Your letter holds only a document. Please write your orders into the letter itself."
            }
            UnreadableContent::Pdf => {
                "Your letter holds only a PDF. Please write your orders into the letter itself."
            }
            UnreadableContent::Picture => {
                "Your letter holds only a picture. Please write your orders into the letter itself."
            }
            UnreadableContent::Forwarded => {
                "Your letter holds only another letter, attached. Please write your orders into the letter itself."
            }
            UnreadableContent::OtherFile => {
                "Your letter holds only a file. Please write your orders into the letter itself."
            }
        }
    }
}

/// The lines of a letter's texts, cleaned.
#[derive(Clone, Debug, Default)]
pub struct Texts {
    /// All inline `text/plain` parts.
    pub plain: Vec<TextLine>,
    /// All inline `text/html` parts.
    pub html: Vec<TextLine>,
    /// The first attached text.
    pub attached: Vec<TextLine>,
    pub instead: Option<UnreadableContent>,
}

/// Takes the texts out of a parsed message.
///
/// # Errors
/// The letter exceeds a limit.
pub fn texts(message: &Message<'_>, limits: &Limits) -> Result<Texts, UnreadableReason> {
    let mut walk = Walk { message, limits, parts: 0, texts: Texts::default() };
    walk.part(0, 0)?;
    let texts = walk.texts;
    if texts.plain.len() + texts.html.len() + texts.attached.len() > limits.max_lines {
        return Err(UnreadableReason::TooManyLines);
    }
    Ok(texts)
}

struct Walk<'a> {
    message: &'a Message<'a>,
    limits: &'a Limits,
    parts: usize,
    texts: Texts,
}

impl Walk<'_> {
    fn part(&mut self, id: usize, nesting: usize) -> Result<(), UnreadableReason> {
        let Some(part) = self.message.parts.get(id) else { return Ok(()) };
        self.parts += 1;
        if self.parts > self.limits.max_parts {
            return Err(UnreadableReason::TooManyParts);
        }
        if nesting > self.limits.max_nesting {
            return Err(UnreadableReason::TooDeep);
        }
        match &part.body {
            PartType::Multipart(children) => {
                if mime_type(part).1 == "encrypted" {
                    self.stands_for(UnreadableContent::Encrypted);
                }
                children.iter().try_for_each(|child| self.part(*child as usize, nesting + 1))
            }
            PartType::Message(inner) => {
                self.stands_for(UnreadableContent::Forwarded);
                self.parts += inner.parts.len();
                if nesting + depth(inner, self.limits.max_nesting) > self.limits.max_nesting {
                    return Err(UnreadableReason::TooDeep);
                }
                if self.parts > self.limits.max_parts { Err(UnreadableReason::TooManyParts) } else { Ok(()) }
            }
            _ => {
                self.leaf(part);
                Ok(())
            }
        }
    }

    fn stands_for(&mut self, what: UnreadableContent) {
        let before = self.texts.instead;
        self.texts.instead = Some(before.map_or(what, |before| before.min(what)));
    }

    fn leaf(&mut self, part: &MessagePart<'_>) {
        let (kind, subtype) = mime_type(part);
        let attached =
            part.content_disposition().is_some_and(|d| d.is_attachment()) || part.attachment_name().is_some();
        match (kind.as_str(), subtype.as_str()) {
            ("text", "plain" | "markdown" | "x-markdown") => {
                let lines = self.plain(part);
                if !attached {
                    self.texts.plain.extend(lines);
                } else if self.texts.attached.is_empty() {
                    self.texts.attached = lines;
                }
            }
            ("text", "html") if !attached => {
                let bytes = transfer_decoded(&self.message.raw_message, part);
                let label = part.content_type().and_then(|ct| ct.attribute("charset"));
                for line in html::lines(&decode(&bytes, label)) {
                    let pieces = clean(&line.text);
                    let piece = |text: &str| TextLine { text: text.trim_end().to_owned(), ..line };
                    self.texts.html.extend(pieces.split('\n').map(piece));
                }
            }
            _ => {
                if let Some(what) = stand_in(part, &kind, &subtype) {
                    self.stands_for(what);
                }
            }
        }
    }

    fn plain(&mut self, part: &MessagePart<'_>) -> Vec<TextLine> {
        let bytes = transfer_decoded(&self.message.raw_message, part);
        let attribute = |name| part.content_type().and_then(|ct| ct.attribute(name));
        let is = |name, value: &str| attribute(name).is_some_and(|found| found.eq_ignore_ascii_case(value));
        let text = clean(&decode(&bytes, attribute("charset")));
        let text = match without_armour(&text) {
            Ok(text) => text,
            Err(Armoured) => {
                self.stands_for(UnreadableContent::Encrypted);
                return Vec::new();
            }
        };
        plain_lines(&text, is("format", "flowed"), is("delsp", "yes"))
    }
}

/// How many letters and multiparts stand inside one another, as far as `most` and a little more.
fn depth(message: &Message<'_>, most: usize) -> usize {
    if most == 0 {
        return 1;
    }
    let inner = |part: &MessagePart<'_>| match &part.body {
        PartType::Message(inner) => depth(inner, most - 1),
        _ => 0,
    };
    1 + message.parts.iter().map(inner).max().unwrap_or(0)
}

/// Type and subtype in lower case; `text/plain` where nothing is said (RFC 2045 5.2).
pub fn mime_type(part: &MessagePart<'_>) -> (String, String) {
    let Some(ct) = part.content_type() else { return ("text".into(), "plain".into()) };
    let (kind, subtype) =
        (ct.ctype().to_ascii_lowercase(), ct.subtype().unwrap_or_default().to_ascii_lowercase());
    // A multipart without a boundary has no parts: what it holds is text.
    let leaf = !matches!(part.body, PartType::Multipart(_) | PartType::Message(_));
    let plain = kind == "text" && subtype.is_empty() || kind == "multipart" && leaf;
    if plain { ("text".into(), "plain".into()) } else { (kind, subtype) }
}

/// What a part that is no text stands for.
fn stand_in(part: &MessagePart<'_>, kind: &str, subtype: &str) -> Option<UnreadableContent> {
    let name = part.attachment_name().unwrap_or_default().to_ascii_lowercase();
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    let smime = part.content_type().and_then(|ct| ct.attribute("smime-type")).unwrap_or_default();
    Some(match (kind, subtype) {
        // A letter that was hidden from the parser.
        ("message", "rfc82x" | "globax") => UnreadableContent::Forwarded,
        ("application", "pkcs7-mime" | "x-pkcs7-mime") if smime.eq_ignore_ascii_case("signed-data") => {
            UnreadableContent::OpaqueSigned
        }
        ("application", "pkcs7-mime" | "x-pkcs7-mime" | "pgp-encrypted") => UnreadableContent::Encrypted,
        ("application", "ms-tnef" | "vnd.ms-tnef") => UnreadableContent::Winmail,
        (
            _,
            "pkcs7-signature" | "x-pkcs7-signature" | "pgp-signature" | "pgp-keys" | "calendar" | "vcard"
            | "x-vcard",
        ) => {
            return None;
        }
        _ if name == "winmail.dat" => UnreadableContent::Winmail,
        (_, "msword" | "rtf")
        | ("application", "vnd.ms-excel" | "vnd.apple.pages" | "vnd.ms-word" | "vnd.ms-powerpoint") => {
            UnreadableContent::OfficeDocument
        }
        _ if subtype.starts_with("vnd.openxmlformats") || subtype.starts_with("vnd.oasis.opendocument") => {
            UnreadableContent::OfficeDocument
        }
        _ if ends(&[".doc", ".docx", ".odt", ".rtf", ".pages", ".xls", ".xlsx", ".ods"]) => {
            UnreadableContent::OfficeDocument
        }
        (_, "pdf") => UnreadableContent::Pdf,
        _ if ends(&[".pdf"]) => UnreadableContent::Pdf,
        ("image", _) => UnreadableContent::Picture,
        _ => UnreadableContent::OtherFile,
    })
}

/// Nothing but an encrypted block.
struct Armoured;

/// The text without OpenPGP's armour: a clear-signed text without its frame (RFC 9580 7), keys and signatures left
/// out.
fn without_armour(text: &str) -> Result<String, Armoured> {
    if !text.contains("-----BEGIN PGP ") {
        return Ok(text.to_owned());
    }
    let (mut out, mut signed, mut skipping, mut heading, mut encrypted) =
        (String::new(), false, false, false, false);
    for line in text.lines() {
        match line.trim_end() {
            "-----BEGIN PGP SIGNED MESSAGE-----" => (signed, heading) = (true, true),
            "-----BEGIN PGP MESSAGE-----" => (skipping, encrypted) = (true, true),
            begin if begin.starts_with("-----BEGIN PGP ") => (skipping, signed) = (true, false),
            end if end.starts_with("-----END PGP ") => skipping = false,
            _ if skipping => {}
            header if heading => heading = !header.is_empty(),
            _ => {
                let line = if signed { line.strip_prefix("- ").unwrap_or(line) } else { line };
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    if encrypted && out.trim().is_empty() { Err(Armoured) } else { Ok(out) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn armour_goes_and_the_text_stays() {
        let signed = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nSHIP 1 TO B2\n- -- \nAnn\n-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n";
        assert_eq!(without_armour(signed).ok().as_deref(), Some("SHIP 1 TO B2\n-- \nAnn\n"));
        assert!(without_armour("-----BEGIN PGP MESSAGE-----\n\nabc\n-----END PGP MESSAGE-----\n").is_err());
        assert_eq!(without_armour("HOLD\n").ok().as_deref(), Some("HOLD\n"));
    }
}
