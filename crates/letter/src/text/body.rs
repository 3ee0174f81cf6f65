//! The texts in the parts of a letter, and the content that a letter may have instead of text.

use std::borrow::Cow;

use mail_parser::{Message, MessagePart, MimeHeaders, PartType};

use super::clean::clean;
use super::html;
use super::lines::{TextLine, plain_lines};
use crate::mail::charset::{decode, transfer_decoded};
use crate::mail::limits::{Limits, LineBudget, UnreadableReason};

/// Content that a letter has instead of readable text. If there are several kinds, the first in this order
/// counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnreadableContent {
    Encrypted,
    /// S/MIME with the text inside the signature.
    OpaqueSigned,
    /// `winmail.dat` (TNEF), which only Outlook can open.
    Winmail,
    OfficeDocument,
    Pdf,
    Picture,
    /// A letter as an attachment.
    Forwarded,
    OtherFile,
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
    pub attached_name: Option<String>,
    pub unreadable: Option<UnreadableContent>,
    /// Whether the HTML has struck-out text, which the plain text shows like any other.
    pub has_struck_out: bool,
    /// The names of attached files whose contents are not read, at most [`MAX_NAMED`].
    pub attachments: Vec<String>,
}

/// Maximum attachments to name.
const MAX_NAMED: usize = 5;

/// Maximum characters of an attachment's name.
const MAX_NAME: usize = 40;

/// Extracts the texts of a parsed message.
///
/// # Errors
/// [`UnreadableReason`] if the letter exceeds a limit.
pub fn texts(message: &Message<'_>, limits: &Limits) -> Result<Texts, UnreadableReason> {
    let budget = LineBudget::new(limits);
    let mut walk = Walk { message, limits, budget, parts: 0, texts: Texts::default() };
    walk.part(0, 0)?;
    Ok(walk.texts)
}

struct Walk<'a> {
    message: &'a Message<'a>,
    limits: &'a Limits,
    budget: LineBudget,
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
                    self.note_unreadable(UnreadableContent::Encrypted);
                }
                children.iter().try_for_each(|child| self.part(*child as usize, nesting + 1))
            }
            PartType::Message(inner) => {
                self.note_unreadable(UnreadableContent::Forwarded);
                self.parts += inner.parts.len();
                if nesting + depth(inner, self.limits.max_nesting) > self.limits.max_nesting {
                    return Err(UnreadableReason::TooDeep);
                }
                if self.parts > self.limits.max_parts { Err(UnreadableReason::TooManyParts) } else { Ok(()) }
            }
            _ => self.leaf(part),
        }
    }

    fn note_unreadable(&mut self, what: UnreadableContent) {
        let before = self.texts.unreadable;
        self.texts.unreadable = Some(before.map_or(what, |before| before.min(what)));
    }

    fn leaf(&mut self, part: &MessagePart<'_>) -> Result<(), UnreadableReason> {
        let (kind, subtype) = mime_type(part);
        let attached =
            part.content_disposition().is_some_and(|d| d.is_attachment()) || part.attachment_name().is_some();
        match (kind.as_str(), subtype.as_str()) {
            ("text", "plain" | "markdown" | "x-markdown") => {
                if !attached {
                    let lines = self.plain(part)?;
                    self.texts.plain.extend(lines);
                } else if self.texts.attached_name.is_none() {
                    self.texts.attached = self.plain(part)?;
                    self.texts.attached_name = Some(attachment_name(part));
                } else {
                    self.note_attachment(part);
                }
            }
            ("text", "html") if !attached => {
                let bytes = transfer_decoded(&self.message.raw_message, part);
                let label = part.content_type().and_then(|ct| ct.attribute("charset"));
                let html = html::read(&decode(&bytes, label), &mut self.budget)?;
                self.texts.has_struck_out |= html.has_struck_out;
                self.texts.html.extend(html.lines);
            }
            _ => {
                if let Some(what) = unreadable_content(part, &kind, &subtype) {
                    self.note_unreadable(what);
                    // A picture with an ID, such as the logo in a signature, is shown in the text.
                    if attached && part.content_id().is_none() {
                        self.note_attachment(part);
                    }
                }
            }
        }
        Ok(())
    }

    fn note_attachment(&mut self, part: &MessagePart<'_>) {
        if self.texts.attachments.len() < MAX_NAMED {
            self.texts.attachments.push(attachment_name(part));
        }
    }

    fn plain(&mut self, part: &MessagePart<'_>) -> Result<Vec<TextLine>, UnreadableReason> {
        let bytes = transfer_decoded(&self.message.raw_message, part);
        self.budget.has_room_for(bytes.len())?;
        let attribute = |name| part.content_type().and_then(|ct| ct.attribute(name));
        let is = |name, value: &str| attribute(name).is_some_and(|found| found.eq_ignore_ascii_case(value));
        let text = clean(&decode(&bytes, attribute("charset")));
        let text = match without_armour(&text) {
            Ok(text) => text,
            Err(Armoured) => {
                self.note_unreadable(UnreadableContent::Encrypted);
                return Ok(Vec::new());
            }
        };
        plain_lines(&text, is("format", "flowed"), is("delsp", "yes"), &mut self.budget)
    }
}

/// Returns the name of an attachment, shortened.
fn attachment_name(part: &MessagePart<'_>) -> String {
    let name = clean(part.attachment_name().unwrap_or("a file without a name")).replace('\n', " ");
    name.chars().take(MAX_NAME).collect()
}

/// Returns the nesting depth of attached letters. Stops counting after `limit`.
fn depth(message: &Message<'_>, limit: usize) -> usize {
    if limit == 0 {
        return 1;
    }
    let mut deepest = 0;
    for part in &message.parts {
        if let PartType::Message(inner) = &part.body {
            deepest = deepest.max(depth(inner, limit - 1));
        }
    }
    1 + deepest
}

/// Returns type and subtype in lower case, by default those of `text/plain` (RFC 2045 5.2).
pub fn mime_type(part: &MessagePart<'_>) -> (String, String) {
    let Some(ct) = part.content_type() else { return ("text".into(), "plain".into()) };
    let (kind, subtype) =
        (ct.ctype().to_ascii_lowercase(), ct.subtype().unwrap_or_default().to_ascii_lowercase());
    // A multipart without a boundary has no parts; read its content as text.
    let leaf = !matches!(part.body, PartType::Multipart(_) | PartType::Message(_));
    // HTML hidden by `structure::without_hidden_letters`.
    let kind = if kind == "texx" { "text".to_owned() } else { kind };
    let plain = kind == "text" && subtype.is_empty() || kind == "multipart" && leaf;
    if plain { ("text".into(), "plain".into()) } else { (kind, subtype) }
}

/// Extensions of office documents, for files without a MIME type of their own.
const OFFICE_EXTENSIONS: [&str; 8] = [".doc", ".docx", ".odt", ".rtf", ".pages", ".xls", ".xlsx", ".ods"];

/// Returns the kind of content in a part that is not text, or `None` for signatures, keys, calendars and
/// cards, which contain no message.
fn unreadable_content(part: &MessagePart<'_>, kind: &str, subtype: &str) -> Option<UnreadableContent> {
    let name = part.attachment_name().unwrap_or_default().to_ascii_lowercase();
    let smime = part.content_type().and_then(|ct| ct.attribute("smime-type")).unwrap_or_default();
    Some(match (kind, subtype) {
        // An attached letter hidden by `structure::without_hidden_letters`.
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
        _ if OFFICE_EXTENSIONS.iter().any(|extension| name.ends_with(extension)) => {
            UnreadableContent::OfficeDocument
        }
        (_, "pdf") => UnreadableContent::Pdf,
        _ if name.ends_with(".pdf") => UnreadableContent::Pdf,
        ("image", _) => UnreadableContent::Picture,
        _ => UnreadableContent::OtherFile,
    })
}

/// The text is nothing but an encrypted block.
struct Armoured;

/// Removes OpenPGP armour from a text: unwraps a clear-signed text (RFC 9580 7), drops keys and signatures.
fn without_armour(text: &str) -> Result<Cow<'_, str>, Armoured> {
    if !text.contains("-----BEGIN PGP ") {
        return Ok(Cow::Borrowed(text));
    }
    let mut out = String::new();
    let mut encrypted = false;
    // These flags tell whether the line is in a signed text, in its `Hash:` headers, or in a block to drop.
    let mut signed = false;
    let mut heading = false;
    let mut skipping = false;
    for line in text.lines() {
        match line.trim_end() {
            "-----BEGIN PGP SIGNED MESSAGE-----" => (signed, heading) = (true, true),
            "-----BEGIN PGP MESSAGE-----" => (skipping, encrypted) = (true, true),
            begin if begin.starts_with("-----BEGIN PGP ") => (skipping, signed) = (true, false),
            end if end.starts_with("-----END PGP ") => skipping = false,
            _ if skipping => {}
            header if heading => heading = !header.is_empty(),
            _ => {
                // Dash-escaped (RFC 9580 7.2).
                let line = if signed { line.strip_prefix("- ").unwrap_or(line) } else { line };
                out.push_str(line);
                out.push('\n');
            }
        }
    }
    if encrypted && out.trim().is_empty() { Err(Armoured) } else { Ok(Cow::Owned(out)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn armour_is_removed_and_the_text_kept() {
        let signed = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nSHIP 1 TO B2\n- -- \nAnn\n-----BEGIN PGP SIGNATURE-----\n\nabc\n-----END PGP SIGNATURE-----\n";
        assert_eq!(without_armour(signed).ok().as_deref(), Some("SHIP 1 TO B2\n-- \nAnn\n"));
        assert!(without_armour("-----BEGIN PGP MESSAGE-----\n\nabc\n-----END PGP MESSAGE-----\n").is_err());
        assert_eq!(without_armour("HOLD\n").ok().as_deref(), Some("HOLD\n"));
    }
}
