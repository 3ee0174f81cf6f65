//! Single lines before a quote: labels of a header, rules, and attributions.

use crate::mail::address::{Address, ascii_domain};
use crate::text::patterns::{has_address, has_date, has_time, has_word};
use crate::text::words::{FORWARDED, IN_REPLY_TO, LEADS, Label, ORIGINAL, WROTE, label};

/// The kind of frame that sets a quoted or forwarded letter apart from the text above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameKind {
    /// A header block or a rule. The whole letter follows, with its own quotes.
    HeaderBlock,
    /// An attribution with date and author.
    Attribution,
    /// An attribution only if a quote follows.
    LikelyAttribution,
    /// The line above a forwarded letter.
    Forward,
}

/// Colons after a label or an attribution, including those of Chinese and Armenian.
pub const COLONS: [char; 4] = [':', '：', '։', '՝'];

/// Maximum characters of a header line's label.
const MAX_LABEL: usize = 24;

/// Maximum bytes of a rule in an unknown language.
const MAX_RULE: usize = 200;

/// Maximum words of a rule in an unknown language.
const MAX_RULE_WORDS: usize = 6;

/// Whether a text in lower case mentions the address, with or without a plus part.
pub fn mentions(text: &str, address: &Address) -> bool {
    let local = address.local();
    text.match_indices(local).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let rest = &text[at + local.len()..];
        let rest = rest
            .strip_prefix('+')
            .map_or(rest, |plus| plus.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
        before.is_none_or(|c| !c.is_alphanumeric() && !matches!(c, '.' | '-' | '_' | '+'))
            && rest.strip_prefix('@').is_some_and(|rest| starts_with_domain(rest, address.domain()))
    })
}

/// Whether a text begins with this domain, in its ASCII form or in letters beyond ASCII.
fn starts_with_domain(text: &str, domain: &str) -> bool {
    let is_in_domain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '-' | '_');
    let word = text.split(|c| !is_in_domain(c)).next().unwrap_or_default();
    text.starts_with(domain) || !word.is_ascii() && ascii_domain(word).as_deref() == Some(domain)
}

/// Returns the value of a line that looks like `Label: value` in some language.
pub fn labelled_value(line: &str) -> Option<&str> {
    let (label, value) = line.trim().split_once(COLONS)?;
    (label.chars().count() <= MAX_LABEL && !label.contains(['@', '<', '>']) && !value.trim().is_empty())
        .then_some(value)
}

/// Whether the line is a rule above, within or below a header block of old Notes versions.
pub fn is_table_rule(line: &str) -> bool {
    let line = line.trim();
    line.len() >= 20
        && line.starts_with(['|', '>'])
        && line.ends_with(['|', '>'])
        && line.contains("------")
        && line.chars().all(|c| matches!(c, '|' | '>' | '-' | '+'))
}

/// Returns the label of a header line and its value.
pub fn header_line(line: &str) -> Option<(Label, &str)> {
    let line = line.trim().trim_start_matches(['*', '_', '|', ' ']);
    let (before, value) = line.split_once(COLONS)?;
    if before.chars().count() > MAX_LABEL {
        return None;
    }
    Some((label(before)?, value))
}

/// Returns the kind of a line such as `-----Original Message-----` or `---------- Forwarded message
/// ---------`.
pub fn separator_line(line: &str) -> Option<FrameKind> {
    let line = line.trim().trim_matches(['*', '_', ' ']);
    let inner = line.trim_matches(['-', '=', '_', ' ', '<', '>', '~', '*', ':']);
    if inner.len() > 120 || inner.is_empty() {
        return None;
    }
    let framed = line.starts_with(['-', '=', '_', '<', '~']) && line.len() > inner.len() + 1;
    // In lower case, Turkish İ is an i and a combining dot, and no list has the dot.
    let inner = inner.to_lowercase().replace('\u{307}', "");
    if FORWARDED.any_prefix_of(&inner) && (framed || line.ends_with(':')) {
        Some(FrameKind::Forward)
    } else if ORIGINAL.any_prefix_of(&inner) && (framed || inner.split(' ').count() <= 2) {
        Some(FrameKind::HeaderBlock)
    } else {
        None
    }
}

/// Whether the text looks like the start of an attribution.
pub fn leads(text: &str) -> bool {
    let text = text.trim_start_matches([' ', '*', '_', '"']).to_lowercase();
    (LEADS.any_first_word_of(&text) || text.starts_with(|c: char| c.is_ascii_digit()))
        && text.chars().any(|c| c.is_ascii_digit())
}

/// Returns the kind of attribution, if the text says that somebody wrote, or names a sender and a date.
pub fn attribution_kind(text: &str) -> Option<FrameKind> {
    let text = text.trim().trim_matches(['*', '_', ' ']);
    let dashed = text.starts_with("--") && text.ends_with("--");
    let bare = text.trim_matches(['-', ' ', '*', '_']).to_lowercase();
    // `2026/11/20 Referee <referee@club.example>`, `2026-11-20 17:21 GMT+01:00 Referee` and `Posted by
    // Referee on 11/20/2026` have no colon.
    let dated =
        bare.starts_with(|c: char| c.is_ascii_digit()) && (bare.ends_with('>') || bare.contains(" gmt"));
    let answering = IN_REPLY_TO.any_prefix_of(&bare);
    let entry = (dated || bare.starts_with("posted by ")) && has_date(&bare)
        || answering && (has_date(&bare) || has_address(&bare));
    if !(bare.ends_with(COLONS) || dashed || entry || bare.ends_with("wrote")) {
        return None;
    }
    let date = has_date(&bare);
    let address = has_address(&bare);
    if date && address {
        return Some(FrameKind::Attribution);
    }
    let short = |words| bare.split(' ').count() <= words;
    // A single pass rules out most lines, because few have such a verb.
    let has_verb = || WROTE.any_in(&bare) && WROTE.any(|verb| has_word(&bare, verb));
    let wrote = answering || (date || address || short(8)) && has_verb();
    match (date, wrote) {
        (true, true) => Some(FrameKind::Attribution),
        (false, true) if address || bare.len() < 100 => Some(FrameKind::LikelyAttribution),
        // The attribution may be in a language whose verb is not in the list.
        (true, false) if has_time(&bare) && short(10) => Some(FrameKind::LikelyAttribution),
        _ => None,
    }
}

/// Header fields that mail programs leave out where they quote.
const TRANSPORT_FIELDS: [&str; 9] = [
    "return-path:",
    "received:",
    "message-id:",
    "mime-version:",
    "content-type:",
    "content-transfer-encoding:",
    "dkim-signature:",
    "reply-to:",
    "auto-submitted:",
];

/// Whether a line is a header field that only a raw letter shows.
pub fn is_transport_field(line: &str) -> bool {
    TRANSPORT_FIELDS.iter().any(|name| field_value(line, name).is_some())
}

/// Returns the value of a header field, if it is the one with this name, given in lower case with its colon.
pub fn field_value<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let line = line.trim_start();
    let (found, value) = line.split_at_checked(name.len())?;
    found.eq_ignore_ascii_case(name).then_some(value)
}

/// Whether a line may stand in a raw header: a field, or the fold of one.
pub fn is_raw_field(line: &str) -> bool {
    if line.starts_with([' ', '\t']) {
        return true;
    }
    let name = line.split(':').next().unwrap_or_default();
    name.len() < line.len()
        && !name.is_empty()
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
}

/// Whether a line is the one above a letter in a mailbox file: `From referee@club.example Sat Nov 28 16:04:41 2026`.
pub fn is_mailbox_line(line: &str) -> bool {
    let rest = line.trim_start().trim_start_matches('>').strip_prefix("From ");
    rest.is_some_and(|rest| {
        rest.split_whitespace().next().is_some_and(has_address) && has_date(rest) && has_time(rest)
    })
}

/// Whether a line parts the texts of a raw letter: `--=_boundary`.
pub fn is_part_delimiter(line: &str) -> bool {
    let line = line.trim();
    line.len() > 2
        && line.len() <= MAX_DELIMITER
        && line.starts_with("--")
        && !line.contains(char::is_whitespace)
}

/// Maximum bytes of a delimiter (RFC 2046 5.1.1), with its dashes.
const MAX_DELIMITER: usize = 74;

/// Whether a line holds nothing but signs of base64 (RFC 4648, 4).
pub fn is_base64(line: &str) -> bool {
    !line.is_empty() && line.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'='))
}

/// Whether a line is one of many of a part in base64, which some programs quote as it is. A digest in hexadecimal is none.
pub fn is_encoded(line: &str) -> bool {
    let has = |is: fn(&u8) -> bool| line.as_bytes().iter().any(is);
    line.len() >= MIN_ENCODED && is_base64(line) && has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase)
}

/// Minimum bytes of a whole line of base64. RFC 2045 6.8 allows 76.
const MIN_ENCODED: usize = 60;

/// Top-level types of content (RFC 6838 4.2).
const MEDIA: [&str; 9] =
    ["text/", "image/", "audio/", "video/", "application/", "message/", "multipart/", "font/", "model/"];

/// Maximum words before the type of a part that is named without brackets: `Non-text part: image/png`.
const MAX_PART_LABEL: usize = 3;

/// Whether a mail program put the line in place of a part that it does not show, or above one that it shows, as in
/// `[2:image/png Hide]`. People do not write types of content in brackets or behind a label.
pub fn is_part_note(line: &str) -> bool {
    let line = line.trim();
    if line.len() > MAX_RULE {
        return false;
    }
    if line.starts_with("[-- ") && line.ends_with(" --]") || line.starts_with("<#") && line.ends_with('>') {
        return true;
    }
    let lower = line.to_ascii_lowercase();
    if line.starts_with('[') && line.trim_end_matches('.').ends_with(']') {
        return starts_of_media(&lower).next().is_some();
    }
    let Some((label, kind)) = lower.split_once(':') else { return false };
    label.split_whitespace().count() <= MAX_PART_LABEL
        && starts_of_media(kind).next() == Some(kind.len() - kind.trim_start().len())
        && kind.split_whitespace().count() == 1
}

/// Returns the offsets at which types of content begin.
fn starts_of_media(text: &str) -> impl Iterator<Item = usize> {
    MEDIA.iter().flat_map(|media| text.match_indices(media)).map(|(at, _)| at).filter(|at| {
        !text[..*at].ends_with(|c: char| c.is_alphanumeric())
            && text[*at..].split('/').nth(1).is_some_and(|subtype| subtype.starts_with(char::is_alphanumeric))
    })
}

/// Whether the line is a few words between dashes. Only the lines below show whether a mail program drew it.
pub fn is_dashed(line: &str) -> bool {
    let line = line.trim();
    let inner = line.trim_matches(['-', '_', '=', '*', ' ', '—', '–', '─']);
    line.len() <= MAX_RULE
        && inner.chars().any(char::is_alphabetic)
        && line.starts_with("--")
        && line.ends_with("--")
        && inner.split_whitespace().count() <= MAX_RULE_WORDS
}
