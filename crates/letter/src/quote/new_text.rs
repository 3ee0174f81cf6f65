//! The text that the person has just written, taken from all texts of a letter.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::banner::banner_lines;
use super::changed::changed_lines;
use super::frame::Correspondents;
use super::own_letter::{OwnLetter, joined_words};
use super::scanner::{ScannedText, new_lines, scan};
use crate::mail::dialect::Dialect;
use crate::text::body::{Texts, UnreadableContent};
use crate::text::lines::{Layer, TextLine};

/// A line that the person has just written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrittenLine {
    /// Counted from 1.
    pub no: usize,
    pub text: String,
}

impl WrittenLine {
    /// Numbers `texts` from 1.
    pub fn numbered<T: AsRef<str>>(texts: &[T]) -> Vec<WrittenLine> {
        (1..).zip(texts).map(|(no, text)| WrittenLine { no, text: text.as_ref().to_owned() }).collect()
    }
}

/// The new text of a letter, and what else its author may have meant for us.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewText {
    /// The new lines, numbered from 1 as a person would count them: blank lines do not count, and have the
    /// number of the line above.
    pub lines: Vec<WrittenLine>,
    /// The number of a line among them that looks like the introduction of a quote, although nothing below marks one.
    /// The lines below it may be an older letter's.
    pub introduction: Option<usize>,
    /// Requests in the quote of our letter that are none of its lines: its author may have written over our examples.
    /// They are no new text.
    pub in_quote: Vec<String>,
    /// The first lines below the delimiter of a signature (RFC 3676 4.3). They are no new text, but may take something back.
    pub signature: Vec<String>,
    /// Content that cannot be read, in a letter without text or an encrypted one.
    pub unreadable: Option<UnreadableContent>,
}

/// Size in bytes below which a plain text that mentions HTML counts as a stub for the HTML part.
const MAX_STUB: usize = 400;

/// A line is joined with the next one only if the next word would have gone past this column.
const WRAP_COLUMN: usize = 60;

/// Maximum bytes of a line that is split as in the HTML, because [`Index::first_in`] is quadratic in it.
const MAX_RUN: usize = 2000;

/// Minimum words of a banner. People begin each letter with the same few words too.
const MIN_BANNER: usize = 5;

/// Maximum wrapped lines to join into one.
const MAX_WRAPPED: usize = 8;

/// Returns the new text. `quotable` is the text of our letters that it may quote.
pub fn new_text(texts: &Texts, quotable: Option<&str>, correspondents: Correspondents<'_>) -> NewText {
    let own_letter = quotable.map(OwnLetter::new);
    let read = |lines| scan(lines, own_letter.as_ref(), correspondents);
    let is_outdone = is_stub(texts) || texts.has_struck_out && !is_blank(&texts.html);
    let owned = |lines: Vec<&str>| lines.into_iter().map(str::to_owned).collect();
    let is_plain = !is_blank(&texts.plain) && !is_outdone;
    let shown = match is_plain {
        true => &texts.plain,
        false if is_blank(&texts.html) => &texts.attached,
        false => &texts.html,
    };
    let ScannedText { lines: shown, introduction, signature } = read(shown);
    let lines: Vec<String> = if is_plain && !is_blank(&texts.html) {
        let html = read(&texts.html).lines;
        let plain = without_html_quotes(shown, &texts.plain, &html, &texts.html);
        restore_line_breaks(plain, &html)
    } else {
        owned(shown)
    };
    let lines = number_lines(without_banner(&lines, quotable, correspondents.dialect));
    let has_no_text = is_blank(&texts.plain) && is_blank(&texts.html) && is_blank(&texts.attached);
    let is_unreadable = |what: &UnreadableContent| has_no_text || *what == UnreadableContent::Encrypted;
    NewText {
        introduction: introduction.and_then(|text| number_of(text, &lines)),
        in_quote: own_letter
            .as_ref()
            .map_or_else(Vec::new, |own| in_quote(texts, &lines, own, correspondents.dialect)),
        signature: owned(signature),
        unreadable: texts.unreadable.filter(is_unreadable).filter(|_| lines.is_empty()),
        lines,
    }
}

/// Returns the number of the first line that holds the words of `text`: restored line breaks may have joined it to others.
fn number_of(text: &str, lines: &[WrittenLine]) -> Option<usize> {
    let words = joined_words(text);
    lines.iter().find(|line| joined_words(&line.text).contains(&words)).map(|line| line.no)
}

/// Returns the requests that the person wrote into the quote of our letter, in the plain text or else in the HTML.
fn in_quote(texts: &Texts, new: &[WrittenLine], own_letter: &OwnLetter, dialect: &Dialect) -> Vec<String> {
    let asks_nothing = !new.iter().any(|line| (dialect.begins_like_request)(&line.text));
    let versions = [&texts.plain, &texts.html].into_iter();
    let mut found = versions.map(|lines| changed_lines(lines, own_letter, dialect, asks_nothing));
    found.find(|changed| !changed.is_empty()).unwrap_or_default().into_iter().map(str::to_owned).collect()
}

/// Returns the new lines of the attached text.
pub fn attached_lines(texts: &Texts, correspondents: Correspondents<'_>) -> Vec<WrittenLine> {
    number_lines(&new_lines(&texts.attached, None, correspondents))
}

fn is_blank(lines: &[TextLine]) -> bool {
    lines.iter().all(TextLine::is_blank)
}

/// Whether the plain text only tells the reader to open the HTML.
fn is_stub(texts: &Texts) -> bool {
    if is_blank(&texts.html) {
        return false;
    }
    let length: usize = texts.plain.iter().map(|line| line.text.len()).sum();
    length < MAX_STUB
        && texts.plain.iter().any(|line| {
            let line = line.text.to_lowercase();
            line.contains("html") && !line.contains("http")
                || line.contains("view this email in your browser")
                || line.contains("does not support")
        })
}

fn number_lines(lines: &[impl AsRef<str>]) -> Vec<WrittenLine> {
    let mut no = 0;
    let mut out: Vec<WrittenLine> = Vec::new();
    for line in lines {
        let text = line.as_ref().trim();
        if !text.is_empty() {
            no += 1;
        } else if out.last().is_none_or(|last| last.text.is_empty()) {
            continue;
        }
        out.push(WrittenLine { no, text: text.to_owned() });
    }
    while out.last().is_some_and(|last| last.text.is_empty()) {
        out.pop();
    }
    out
}

/// Removes the lines at the top that a server adds to each letter of a person, such as a warning about external
/// senders. Our earlier letters in the thread may quote them as words that they did not read. Below them there must be a
/// request: a person may repeat words that were not understood.
fn without_banner<'a>(lines: &'a [String], quotable: Option<&str>, dialect: &Dialect) -> &'a [String] {
    let is_request = |line: &String| (dialect.begins_like_request)(line);
    let texts: Vec<&str> = lines.iter().map(String::as_str).collect();
    let (banner, below) = lines.split_at(banner_lines(&texts));
    let has_request = !banner.iter().any(is_request) && below.iter().any(is_request);
    let lines = if has_request { below } else { lines };
    let Some(quotable) = quotable.filter(|_| lines.iter().any(is_request)) else { return lines };
    let quoted: BTreeSet<String> =
        quotable.lines().filter_map(|line| line.trim_start().strip_prefix('>')).map(joined_words).collect();
    if quoted.is_empty() {
        return lines;
    }
    let repeats =
        |line: &&String| line.trim().is_empty() || !is_request(line) && quoted.contains(&joined_words(line));
    let banner = lines.iter().take_while(repeats).count();
    let is_sentence = lines[..banner].iter().any(|line| line.split_whitespace().count() >= MIN_BANNER);
    if is_sentence { &lines[banner..] } else { lines }
}

/// Removes the plain lines that occur in the HTML only inside quotes, from a plain text that does not mark them. One
/// that does is the better witness: a line without a prefix is the person's, whatever its element in the HTML.
fn without_html_quotes<'a>(
    plain: Vec<&'a str>,
    all_plain: &[TextLine],
    html: &[&str],
    all_html: &[TextLine],
) -> Vec<&'a str> {
    let quoted = all_html.iter().filter(|line| line.layer == Layer::Quoted);
    let quoted: BTreeSet<String> = quoted.map(|line| joined_words(&line.text)).collect();
    if quoted.is_empty() || marks_quotes(all_plain, all_html) {
        return plain;
    }
    let new: BTreeSet<String> = html.iter().map(|line| joined_words(line)).collect();
    let is_quoted_only = |line: &&str| {
        let line = joined_words(line);
        !line.is_empty() && quoted.contains(&line) && !new.contains(&line)
    };
    plain.into_iter().filter(|line| !is_quoted_only(line)).collect()
}

/// Whether a plain text has a prefix before what is quoted in the HTML: before half of it at least, because our letters
/// hold lines with a prefix themselves, and wrapping may leave pieces without one.
fn marks_quotes(plain: &[TextLine], html: &[TextLine]) -> bool {
    let length = |lines: &[TextLine]| -> usize {
        let quoted = lines.iter().filter(|line| line.layer == Layer::Quoted);
        quoted.map(|line| line.text.bytes().filter(|b| !b.is_ascii_whitespace()).count()).sum()
    };
    length(plain) * 2 >= length(html)
}

/// The lines of the HTML, indexed for comparison with the plain lines. The comparison ignores blanks, which
/// wrapping adds and drops.
struct Index<'a> {
    /// The lines that are not empty, in order, each without blanks and as it was.
    lines: Vec<(String, &'a str)>,
    /// The first position of each line without blanks.
    first: BTreeMap<String, usize>,
}

impl<'a> Index<'a> {
    fn of(html: &[&'a str]) -> Index<'a> {
        let lines = html.iter().map(|line| (without_blanks(line), *line));
        let lines: Vec<_> = lines.filter(|(compact, _)| !compact.is_empty()).collect();
        let mut first = BTreeMap::new();
        for (at, (compact, _)) in lines.iter().enumerate() {
            first.entry(compact.clone()).or_insert(at);
        }
        Index { lines, first }
    }

    /// Returns the position of the first line that `whole` starts with.
    fn first_in(&self, whole: &str) -> Option<usize> {
        let ends = whole.char_indices().map(|(at, c)| at + c.len_utf8());
        ends.filter_map(|end| self.first.get(&whole[..end]).copied()).min()
    }
}

/// Restores the HTML's line breaks in the plain text: joins wrapped lines, and splits joined ones.
fn restore_line_breaks(plain: Vec<&str>, html: &[&str]) -> Vec<String> {
    let index = Index::of(html);
    let max_lines = plain.len() + html.len();
    let mut out = Vec::new();
    let mut at = 0;
    while at < plain.len() {
        let count = count_wrapped(&plain[at..], &index).unwrap_or(1);
        if count > 1 {
            out.push(plain[at..at + count].join(" "));
        } else {
            match split_run(plain[at], &index) {
                // A hostile letter could split each of its lines into thousands.
                Some(parts) if out.len() + parts.len() <= max_lines => {
                    out.extend(parts.iter().map(|part| (*part).to_owned()));
                }
                Some(_) | None => out.push(plain[at].to_owned()),
            }
        }
        at += count;
    }
    out
}

fn without_blanks(line: &str) -> String {
    line.split_whitespace().collect()
}

/// Returns how many of the first lines together make up one line of the HTML, if several do.
fn count_wrapped(lines: &[&str], html: &Index<'_>) -> Option<usize> {
    let first = lines.first()?;
    let mut joined = without_blanks(first);
    if joined.is_empty() || html.first.contains_key(&joined) {
        return None;
    }
    for (count, pair) in lines.windows(2).enumerate().take(MAX_WRAPPED) {
        let next_word = pair[1].split_whitespace().next()?;
        if pair[0].chars().count() + 1 + next_word.chars().count() < WRAP_COLUMN {
            return None;
        }
        joined.push_str(&without_blanks(pair[1]));
        if html.first.contains_key(&joined) {
            return Some(count + 2);
        }
    }
    None
}

/// Returns the lines of the HTML that a plain line consists of, if it lost its line breaks.
fn split_run<'a>(line: &str, html: &Index<'a>) -> Option<Vec<&'a str>> {
    let whole = without_blanks(line);
    if whole.len() > MAX_RUN || html.first.contains_key(&whole) {
        return None;
    }
    let first = html.first_in(&whole)?;
    let mut rest = whole.as_str();
    let mut parts = Vec::new();
    for (compact, part) in &html.lines[first..] {
        rest = rest.strip_prefix(compact.as_str())?;
        parts.push(*part);
        if rest.is_empty() {
            return (parts.len() > 1).then_some(parts);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mail::dialect::example::DIALECT;

    fn line(layer: Layer, text: &str) -> TextLine {
        TextLine { layer, depth: 0, indent: 0, text: text.to_owned() }
    }

    #[test]
    fn a_plain_text_that_marks_its_quotes_is_the_better_witness() {
        let html =
            [line(Layer::Quoted, "SHIP 1 TO B2"), line(Layer::Quoted, "Turn 4 is due on Saturday at eight.")];
        let new = ["SHIP 1 TO B2"];
        let marked = [
            line(Layer::Unmarked, "SHIP 1 TO B2"),
            line(Layer::Quoted, "Turn 4 is due on Saturday"),
            line(Layer::Quoted, "at eight."),
        ];
        assert_eq!(without_html_quotes(new.to_vec(), &marked, &[], &html), new);
        let unmarked = [line(Layer::Unmarked, "SHIP 1 TO B2"), line(Layer::Unmarked, &html[1].text)];
        assert!(without_html_quotes(new.to_vec(), &unmarked, &[], &html).is_empty());
        let own_prefix = [unmarked.as_slice(), &[line(Layer::Quoted, "SHIP 2")]].concat();
        assert!(without_html_quotes(new.to_vec(), &own_prefix, &[], &html).is_empty());
    }

    #[test]
    fn a_banner_that_an_earlier_answer_quoted_is_dropped_above_a_request() {
        let answer = "Not read as orders:\n\n    > Caution: this letter comes from outside.\n    > Think first.\n    > and SHIP 1 TO B2\n    > Hi Bo\n";
        let left = |text: &str, answer| {
            let lines: Vec<String> = text.lines().map(str::to_owned).collect();
            without_banner(&lines, Some(answer), &DIALECT).join("\n")
        };
        let banner = "Caution: this letter comes from outside.\nThink first.\n\n";
        assert_eq!(left(&format!("{banner}SHIP 1 TO B2"), answer), "SHIP 1 TO B2");
        assert_eq!(left(&format!("{banner}Hello\nSHIP 1 TO B2"), answer), "Hello\nSHIP 1 TO B2");
        for kept in [
            format!("{banner}Please do it."),
            format!("Hello\n{banner}SHIP 1 TO B2"),
            "Hi Bo\nSHIP 1 TO B2".to_owned(),
        ] {
            assert_eq!(left(&kept, answer), kept);
        }
        let first = format!("{banner}SHIP 1 TO B2");
        assert_eq!(left(&first, "    | SHIP 1 TO B2\n"), first);
    }
}
