//! Start and end tags of HTML letters: their attributes, and their meaning to mail programs.

use super::words::{BLOCK_ELEMENTS, INTRODUCTION_NAMES, QUOTE_NAMES, SIGNATURE_NAMES, WordList};

/// Maximum attributes stored for a tag; those that matter come early.
const MAX_ATTRIBUTES: usize = 32;

/// Elements without content or end tag (HTML 13.1.2), except `br` and `hr`, which break lines.
const VOID_ELEMENTS: [&str; 12] =
    ["area", "base", "col", "embed", "img", "input", "link", "meta", "param", "source", "track", "wbr"];

pub struct Tag<'a> {
    /// In lower case.
    pub name: String,
    pub closing: bool,
    attributes: Vec<(String, &'a str)>,
    /// Bytes from `<` to `>`.
    pub length: usize,
}

impl<'a> Tag<'a> {
    /// Parses the tag that `text` starts with. An unclosed tag ends before the next one, or with the text.
    pub fn parse(text: &'a str) -> Tag<'a> {
        let bytes = text.as_bytes();
        let closing = bytes.get(1) == Some(&b'/');
        let name_start = 1 + usize::from(closing);
        let name_end = find(bytes, name_start, |b| is_blank(b) || matches!(b, b'>' | b'/' | b'<'));
        let mut attributes = Vec::new();
        let mut at = name_end;
        loop {
            at = find(bytes, at, |b| !is_blank(b) && b != b'/');
            match bytes.get(at) {
                None | Some(b'<') => break,
                Some(b'>') => {
                    at += 1;
                    break;
                }
                Some(_) => {}
            }
            let (key, value, end) = parse_attribute(text, at);
            at = end;
            if attributes.len() < MAX_ATTRIBUTES {
                attributes.push((key, value));
            }
        }
        let name = text[name_start..name_end].to_ascii_lowercase();
        Tag { name, closing, attributes, length: at.max(1) }
    }

    fn attribute(&self, key: &str) -> &'a str {
        self.attributes.iter().find(|(k, _)| k == key).map_or("", |(_, value)| value)
    }

    pub fn is_block(&self) -> bool {
        BLOCK_ELEMENTS.contains(&self.name)
    }

    pub fn is_void(&self) -> bool {
        VOID_ELEMENTS.contains(&self.name.as_str())
    }

    /// Returns the style attribute in lower case, without white space.
    pub fn style(&self) -> String {
        self.attribute("style").chars().filter(|c| !c.is_whitespace()).flat_map(char::to_lowercase).collect()
    }

    pub fn is_hidden(&self, style: &str) -> bool {
        self.attributes.iter().any(|(key, _)| key == "hidden")
            || ["display:none", "visibility:hidden", "mso-hide:all", "max-height:0"]
                .iter()
                .any(|rule| style.contains(rule))
            || style.split(';').any(|rule| matches!(rule, "font-size:0" | "font-size:0px" | "opacity:0"))
    }

    /// Whether mail programs put this element around a quote.
    pub fn is_quote(&self, style: &str) -> bool {
        if self.name != "blockquote" {
            return false;
        }
        // Gmail and others indent a person's own text with a blockquote without a border.
        let is_cited = self.attribute("type") == "cite"
            || self.attribute("class").to_ascii_lowercase().contains("quote")
            || !self.attribute("cite").is_empty();
        is_cited || !style.contains("border:none") && !style.contains("border:0")
    }

    /// Whether mail programs put this element around the line that introduces a quote.
    pub fn is_introduction(&self) -> bool {
        self.has_name_among(&INTRODUCTION_NAMES)
    }

    /// Whether mail programs put this element around a quote and the line that introduces it.
    pub fn is_container(&self) -> bool {
        self.name != "blockquote"
            && (self.has_name_among(&QUOTE_NAMES)
                || matches!(self.attribute("name"), "quote" | "quoted-content" | "messageReplySection"))
    }

    pub fn is_signature(&self) -> bool {
        let id = self.attribute("id").to_ascii_lowercase();
        self.has_name_among(&SIGNATURE_NAMES) || id == "signature" || id == "_signature"
    }

    /// Whether the class or the ID contains one of these names.
    fn has_name_among(&self, names: &WordList) -> bool {
        let class = self.attribute("class").to_ascii_lowercase();
        let id = self.attribute("id").to_ascii_lowercase();
        names.any_in(&class) || names.any_in(&id)
    }
}

/// Parses the attribute at `at`; returns its key in lower case, its value, and where it ends.
fn parse_attribute(text: &str, at: usize) -> (String, &str, usize) {
    let bytes = text.as_bytes();
    let key_end = find(bytes, at + 1, |b| is_blank(b) || matches!(b, b'>' | b'/' | b'='));
    let key = text.get(at..key_end).unwrap_or_default().to_ascii_lowercase();
    let equals = find(bytes, key_end, |b| !is_blank(b));
    if bytes.get(equals) != Some(&b'=') {
        return (key, "", equals);
    }
    let start = find(bytes, equals + 1, |b| !is_blank(b));
    let (from, to, end) = match bytes.get(start) {
        Some(quote @ (b'"' | b'\'')) => {
            let to = find(bytes, start + 1, |b| b == *quote);
            (start + 1, to, (to + 1).min(bytes.len()))
        }
        _ => {
            let to = find(bytes, start, |b| is_blank(b) || b == b'>');
            (start, to, to)
        }
    };
    (key, text.get(from..to).unwrap_or_default(), end)
}

/// Returns the offset of the first byte from `from` on that meets `condition`, or the length.
fn find(bytes: &[u8], from: usize, condition: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|b| condition(*b)).map_or(bytes.len(), |found| from + found)
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace()
}
