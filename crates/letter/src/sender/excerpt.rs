//! The parts of a letter's text that distinguish a machine from a person.

use super::phrases::{Excerpt, Quote};
use crate::mail::dialect::Dialect;
use crate::mail::identity::OwnIdentity;
use crate::quote::frame::{Correspondents, FrameFinder};
use crate::quote::frame_line::{FrameKind, is_transport_field};
use crate::quote::own_letter::is_marker;
use crate::quote::scanner::new_lines;
use crate::text::body::Texts;
use crate::text::lines::{Layer, TextLine};

/// Bytes of text to search for phrases. Bounces explain themselves at the top.
const MAX_EXCERPT: usize = 20_000;

/// Characters of each line to search.
const MAX_EXCERPT_LINE: usize = 500;

/// Lines above and below a frame to search for the rest of a returned header.
const MAX_RETURNED_HEADER: usize = 12;

/// Maximum characters of a first line that is shown to the GM.
const MAX_FIRST_LINE: usize = 100;

/// Returns the beginning of the text in lower case, without lines that have a quote prefix.
pub fn beginning(texts: Option<&Texts>) -> String {
    let mut text = String::new();
    for line in all_lines(texts).filter(|line| line.layer == Layer::Unmarked) {
        if !add_line(&mut text, &line.text) {
            break;
        }
    }
    text
}

/// Returns the beginning of the text that the sender has just written, which is in `lines`.
pub fn written_now(lines: &[&str], texts: Option<&Texts>, own: &OwnIdentity) -> Excerpt {
    let mut excerpt =
        Excerpt { text: String::new(), has_request: false, is_on_topic: false, quote: quote_of(texts, own) };
    for line in lines {
        excerpt.has_request |= (own.dialect.is_request)(line);
        if !add_line(&mut excerpt.text, line) {
            break;
        }
    }
    excerpt.is_on_topic = excerpt.text.lines().any(|line| is_on_topic(line, own.dialect));
    excerpt
}

/// Whether a line, in lower case, has the vocabulary of people who write to us. A line that may quote a subject or an
/// address, and a salutation such as `Dear Referee`, do not count.
pub fn is_on_topic(line: &str, dialect: &Dialect) -> bool {
    !line.contains(['[', '@']) && (dialect.is_on_topic)(line) && line.split_whitespace().count() > 2
}

/// Returns the first of the lines that the sender wrote, shortened. Skips lines that look like orders or
/// commands, because the GM who reads it may play in the match.
pub fn first_line(lines: &[&str], dialect: &Dialect) -> Option<String> {
    let mut lines =
        lines.iter().map(|line| line.trim()).filter(|line| line.chars().any(char::is_alphanumeric));
    let line = lines.find(|line| !(dialect.is_request)(line))?;
    let is_long = line.chars().nth(MAX_FIRST_LINE).is_some();
    let start: String = line.chars().take(MAX_FIRST_LINE).collect();
    Some(if is_long { format!("{start} …") } else { start })
}

/// Adds a line, shortened and in lower case, and returns whether there is room for more.
fn add_line(text: &mut String, line: &str) -> bool {
    let start = match line.char_indices().nth(MAX_EXCERPT_LINE) {
        Some((end, _)) => &line[..end],
        None => line,
    };
    text.push_str(&start.to_lowercase());
    text.push('\n');
    text.len() <= MAX_EXCERPT
}

fn all_lines(texts: Option<&Texts>) -> impl Iterator<Item = &TextLine> {
    texts.into_iter().flat_map(|texts| texts.plain.iter().chain(&texts.html).chain(&texts.attached))
}

/// Returns the lines that the sender has just written: without quotes, signatures, and letters below a frame.
pub fn lines_written_now<'a>(texts: Option<&'a Texts>, own: &'a OwnIdentity) -> Vec<&'a str> {
    let Some(texts) = texts else { return Vec::new() };
    let correspondents = Correspondents { own: &own.address, dialect: own.dialect, sender: "" };
    let parts = [&texts.plain, &texts.html, &texts.attached];
    let mut found = parts.into_iter().map(|lines| new_lines(lines, None, correspondents));
    // The parts are versions of one text, so the first that is not empty is enough.
    found.find(|lines| !lines.is_empty()).unwrap_or_default()
}

/// Returns the kind of quote in the letter. A bounce returns a whole letter, at most below a rule, so our
/// marker alone is not a sign of a quote.
fn quote_of(texts: Option<&Texts>, own: &OwnIdentity) -> Quote {
    let quoted = all_lines(texts).filter(|line| line.layer == Layer::Quoted && !line.is_blank());
    let prefixed = quoted
        .map(|line| if is_marker(&line.text, own.dialect) { Quote::OurLetter } else { Quote::Something });
    let prefixed = prefixed.max().unwrap_or(Quote::Nothing);
    let below_frame = texts.map_or(Quote::Nothing, |texts| {
        let parts = [&texts.plain, &texts.html];
        parts.into_iter().map(|lines| quote_below_frame(lines, own)).max().unwrap_or(Quote::Nothing)
    });
    prefixed.max(below_frame)
}

/// Returns the kind of quote below an attribution or the short header block of a mail program.
fn quote_below_frame(lines: &[TextLine], own: &OwnIdentity) -> Quote {
    let text: Vec<Option<&str>> = lines
        .iter()
        .map(|line| {
            (line.layer == Layer::Unmarked && !is_marker(&line.text, own.dialect))
                .then_some(line.text.as_str())
        })
        .collect();
    let finder =
        FrameFinder::new(text, Correspondents { own: &own.address, dialect: own.dialect, sender: "" });
    let frames = (0..lines.len()).filter_map(|at| Some((at, finder.frame(at)?)));
    let Some((at, frame)) = frames.into_iter().find(|(_, frame)| frame.kind != FrameKind::LikelyAttribution)
    else {
        return Quote::Nothing;
    };
    // A bounce returns the whole header, most of it above the fields that make a frame.
    let header = at.saturating_sub(MAX_RETURNED_HEADER)..lines.len().min(frame.end + MAX_RETURNED_HEADER);
    if lines[header].iter().any(|line| is_transport_field(&line.text)) {
        return Quote::Nothing;
    }
    match lines[frame.end..].iter().any(|line| is_marker(&line.text, own.dialect)) {
        true => Quote::OurLetter,
        false => Quote::Something,
    }
}
