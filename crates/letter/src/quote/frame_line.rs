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
pub fn rule(line: &str) -> Option<FrameKind> {
    let line = line.trim().trim_matches(['*', '_', ' ']);
    let inner = line.trim_matches(['-', '=', '_', ' ', '<', '>', '~', '*', ':']);
    if inner.len() > 120 || inner.is_empty() {
        return None;
    }
    let framed = line.starts_with(['-', '=', '_', '<', '~']) && line.len() > inner.len() + 1;
    let inner = inner.to_lowercase();
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
