//! What the person wrote now, out of all texts of a letter.

use std::collections::{BTreeMap, BTreeSet};

use super::body::{Texts, UnreadableContent};
use super::frame::Correspondents;
use super::own_letter::{OwnLetter, words};
use super::quote::written;
use super::text_line::{Layer, TextLine};
use crate::game::Line;

/// What there is to read in a letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NewText {
    /// Numbered as a person would count them: what was written now, from 1, blank lines not counted. A blank
    /// line bears the number of the line before it.
    Lines(Vec<Line>),
    /// Nothing was written, or nothing but a quote.
    Blank,
    /// There is no text, but something that cannot be read.
    Unreadable(UnreadableContent),
}

/// A text shorter than this that only speaks of HTML stands for the HTML.
const MAX_STUB: usize = 400;

/// A line is taken for the beginning of a wrapped one only if the next word would have passed this column.
const WRAP_COLUMN: usize = 60;

/// A longer line is not parted.
const MAX_RUN: usize = 2000;

/// How many wrapped lines may make one line.
const MAX_WRAPPED: usize = 8;

/// The lines written now; `answered` is the text of our letter that this one answers.
pub fn new_text(texts: &Texts, answered: Option<&str>, correspondents: Correspondents<'_>) -> NewText {
    let ours = answered.map(OwnLetter::new);
    let read = |lines| written(lines, ours.as_ref(), correspondents);
    let lines: Vec<String> = if !is_blank(&texts.plain) && !is_stub(texts) {
        let plain = read(&texts.plain);
        if is_blank(&texts.html) {
            plain.into_iter().map(str::to_owned).collect()
        } else {
            let html = read(&texts.html);
            mend(without_html_quotes(plain, &html, &texts.html), &html)
        }
    } else if !is_blank(&texts.html) {
        read(&texts.html).into_iter().map(str::to_owned).collect()
    } else {
        read(&texts.attached).into_iter().map(str::to_owned).collect()
    };
    let lines = numbered(&lines);
    if !lines.is_empty() {
        return NewText::Lines(lines);
    }
    let silent = is_blank(&texts.plain) && is_blank(&texts.html) && is_blank(&texts.attached);
    match texts.instead {
        Some(what) if silent || what == UnreadableContent::Encrypted => NewText::Unreadable(what),
        _ => NewText::Blank,
    }
}

fn is_blank(lines: &[TextLine]) -> bool {
    lines.iter().all(TextLine::is_blank)
}

/// A plain text that only says that the letter is in HTML.
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

fn numbered(lines: &[String]) -> Vec<Line> {
    let mut no = 0;
    let mut out: Vec<Line> = Vec::new();
    for line in lines {
        let text = line.trim();
        if !text.is_empty() {
            no += 1;
        } else if out.last().is_none_or(|last| last.text.is_empty()) {
            continue;
        }
        out.push(Line { no, text: text.to_owned() });
    }
    while out.last().is_some_and(|last| last.text.is_empty()) {
        out.pop();
    }
    out
}

/// The lines of the plain text without those that stand in the HTML only as quoted.
fn without_html_quotes<'a>(plain: Vec<&'a str>, html: &[&str], all_html: &[TextLine]) -> Vec<&'a str> {
    let quoted: BTreeSet<Vec<String>> =
        all_html.iter().filter(|line| line.layer == Layer::Quoted).map(|line| words(&line.text)).collect();
    if quoted.is_empty() {
        return plain;
    }
    let fresh: BTreeSet<Vec<String>> = html.iter().map(|line| words(line)).collect();
    let stale = |line: &str| {
        let line = words(line);
        !line.is_empty() && quoted.contains(&line) && !fresh.contains(&line)
    };
    plain.into_iter().filter(|line| !stale(line)).collect()
}

/// The lines of the HTML, as they are compared with the plain ones: without blanks.
struct Index<'a> {
    /// Those that are not blank, in order, with what they say.
    lines: Vec<(String, &'a str)>,
    /// Where each stands first.
    first: BTreeMap<String, usize>,
}

impl<'a> Index<'a> {
    fn of(html: &[&'a str]) -> Index<'a> {
        let lines = html.iter().map(|line| (squeezed(line), *line));
        let lines: Vec<_> = lines.filter(|(squeezed, _)| !squeezed.is_empty()).collect();
        let mut first = BTreeMap::new();
        for (at, (squeezed, _)) in lines.iter().enumerate() {
            first.entry(squeezed.clone()).or_insert(at);
        }
        Index { lines, first }
    }

    /// The first line with which `whole` begins.
    fn first_in(&self, whole: &str) -> Option<usize> {
        let ends = whole.char_indices().map(|(at, c)| at + c.len_utf8());
        ends.filter_map(|end| self.first.get(&whole[..end]).copied()).min()
    }
}

/// The plain lines with what was wrapped joined, and what was run together parted, as the HTML has it.
fn mend(plain: Vec<&str>, html: &[&str]) -> Vec<String> {
    let index = Index::of(html);
    let room = plain.len() + html.len();
    let mut out = Vec::new();
    let mut at = 0;
    while at < plain.len() {
        let taken = wrapped(&plain[at..], &index).unwrap_or(1);
        if taken > 1 {
            out.push(plain[at..at + taken].join(" "));
        } else {
            match run_together(plain[at], &index) {
                // No more lines come of it than there are.
                Some(parts) if out.len() + parts.len() <= room => {
                    out.extend(parts.iter().map(|part| (*part).to_owned()));
                }
                _ => out.push(plain[at].to_owned()),
            }
        }
        at += taken;
    }
    out
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect()
}

/// How many of the first lines are one line in the HTML.
fn wrapped(lines: &[&str], html: &Index<'_>) -> Option<usize> {
    let first = lines.first()?;
    let mut joined = squeezed(first);
    if joined.is_empty() || html.first.contains_key(&joined) {
        return None;
    }
    for (count, pair) in lines.windows(2).enumerate().take(MAX_WRAPPED) {
        let next_word = pair[1].split_whitespace().next()?;
        if pair[0].chars().count() + 1 + next_word.chars().count() < WRAP_COLUMN {
            return None;
        }
        joined.push_str(&squeezed(pair[1]));
        if html.first.contains_key(&joined) {
            return Some(count + 2);
        }
    }
    None
}

/// The lines of the HTML that one line of the plain text consists of, if it lost its line breaks.
fn run_together<'a>(line: &str, html: &Index<'a>) -> Option<Vec<&'a str>> {
    let whole = squeezed(line);
    if whole.len() > MAX_RUN || html.first.contains_key(&whole) {
        return None;
    }
    let first = html.first_in(&whole)?;
    let mut rest = whole.as_str();
    let mut parts = Vec::new();
    for (squeezed, part) in &html.lines[first..] {
        rest = rest.strip_prefix(squeezed.as_str())?;
        parts.push(*part);
        if rest.is_empty() {
            return (parts.len() > 1).then_some(parts);
        }
    }
    None
}
