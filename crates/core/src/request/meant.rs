//! Decides whether the orders of a letter are meant to be filed now. In some games a turn is played at once
//! and irrevocably, so an order that its own letter questions or takes back is doubtful, although it parses.
//!
//! An order is doubtful with a question mark or inside a question, next to words that clearly postpone it, or if it is
//! a single square below the name of its author or in the middle of a sentence. What other words mean, nobody can
//! list: beside them, what is final waits (`beside`). A `YES` is held back in the same way.

use std::ops::Range;

use super::LineKind;
use super::bounds::MAX_LINE;
use super::doubt::{Doubt, DoubtKind};
use super::normalized::{self, NormalizedLine};
use super::wording::Wording;
use crate::game::Line;
use crate::language::Section;

/// Number of lines, above or below the orders, to search for words that postpone them: a sentence may be
/// wrapped.
const BESIDE: usize = 3;

/// Minimum words of a line that is taken for a sentence, and of one that goes on with it.
const SENTENCE: usize = 4;
const CONTINUATION: usize = 3;

/// Maximum words of a line that closes a letter, and of one that is only a name.
const CLOSING: usize = 5;
const NAME: usize = 3;

/// Returns the doubts about the orders of a letter. `kinds` are the meanings of the lines.
pub fn doubts(lines: &[Line], kinds: &[LineKind]) -> Vec<Doubt> {
    let letter = ReadLines { lines, kinds };
    let orders: Vec<usize> = (0..lines.len()).filter(|at| letter.is_order(*at)).collect();
    let mut doubts: Vec<Doubt> = orders.iter().filter_map(|at| letter.doubt_about(*at)).collect();
    if !orders.is_empty() {
        doubts.extend(letter.postponed().map(|no| Doubt::new(no, DoubtKind::Postponed)));
    }
    doubts
}

/// Whether the next line, a single word in lower case, ends a sentence that the line above began.
pub fn breaks_off(lines: &[Line], kinds: &[LineKind]) -> bool {
    let letter = ReadLines { lines, kinds };
    kinds.len().checked_sub(1).is_some_and(|above| letter.is_remark(above) && letter.is_unfinished(above))
}

/// The lines of a letter as they were read.
struct ReadLines<'a> {
    lines: &'a [Line],
    kinds: &'a [LineKind],
}

impl ReadLines<'_> {
    fn is_order(&self, at: usize) -> bool {
        self.kinds[at] == LineKind::Order
    }

    fn is_remark(&self, at: usize) -> bool {
        self.kinds[at] == LineKind::Remark
    }

    fn wording(&self, lines: impl IntoIterator<Item = usize>) -> Wording {
        Wording::of(lines.into_iter().map(|at| (self.lines[at].no, self.lines[at].text.as_str())))
    }

    /// Returns the doubt about an order because of the lines next to it.
    fn doubt_about(&self, at: usize) -> Option<Doubt> {
        let kind = if self.is_asked(at) {
            DoubtKind::Asked
        } else if self.is_in_question(at) {
            DoubtKind::InQuestion
        } else if !self.is_bare_square(at) {
            return None;
        } else if self.is_signature(at) {
            DoubtKind::BelowName
        } else if self.is_amid_sentence(at) {
            DoubtKind::InSentence
        } else {
            return None;
        };
        Some(Doubt::new(self.lines[at].no, kind))
    }

    /// Whether a question mark follows an order, on its line or alone on the next.
    fn is_asked(&self, at: usize) -> bool {
        let next = self.lines.get(at + 1).map_or("", |line| line.text.trim());
        has_question_mark(normalized::without_comment(&self.lines[at].text))
            || has_question_mark(next) && !next.contains(char::is_alphanumeric)
    }

    /// Whether the lines around an order make it a question. Across empty lines, both sides must ask.
    fn is_in_question(&self, at: usize) -> bool {
        let asks = |above: &Range<usize>| {
            !above.is_empty() && {
                let last = self.lines[above.end - 1].text.trim_end();
                !last.ends_with(['.', '!', '?'])
                    && self.wording(above.clone()).last_sentence_begins_with(Section::Asking)
            }
        };
        let is_asked =
            |below: Range<usize>| below.into_iter().any(|at| has_question_mark(&self.lines[at].text));
        let (above, below) = (self.run_above(at), self.run_below(at));
        let (far_above, far_below) = self.runs_around(at);
        asks(&above) && self.asks_for_leave(&above)
            || asks(&far_above) && is_asked(far_below)
            || is_asked(below.clone()) && self.wording(below).begins_with(Section::Or)
    }

    /// Whether the lines ask whether their author may do something, rather than ask somebody to do it.
    fn asks_for_leave(&self, above: &Range<usize>) -> bool {
        let last = self.lines[above.end - 1].text.trim_end();
        !last.ends_with(':') || has_question_mark(last)
    }

    /// Returns the remarks directly above a line.
    fn run_above(&self, at: usize) -> Range<usize> {
        let start = (0..at).rev().take_while(|above| self.is_remark(*above)).last();
        start.map_or(at..at, |start| start..at)
    }

    /// Returns the remarks directly below a line.
    fn run_below(&self, at: usize) -> Range<usize> {
        let start = at + 1;
        let count = (start..self.lines.len()).take_while(|below| self.is_remark(*below)).count();
        start..start + count
    }

    /// Returns the remarks above and below a line, without the empty lines between it and them.
    fn runs_around(&self, at: usize) -> (Range<usize>, Range<usize>) {
        let is_written = |other: &usize| self.kinds[*other] != LineKind::Blank;
        let above = (0..at).rev().find(is_written).map_or(at, |above| above + 1);
        let below = (at + 1..self.lines.len()).find(is_written).unwrap_or(self.lines.len());
        (self.run_above(above), self.run_below(below - 1))
    }

    /// Whether a square stands in the middle of a sentence, which goes on below.
    fn is_amid_sentence(&self, at: usize) -> bool {
        let above = at.checked_sub(1).filter(|above| self.is_remark(*above));
        let below = Some(at + 1).filter(|below| *below < self.lines.len() && self.is_remark(*below));
        above.is_none_or(|above| self.is_unfinished(above)) && below.is_some_and(|below| self.goes_on(below))
    }

    /// Whether a line goes on with a sentence from above.
    fn goes_on(&self, at: usize) -> bool {
        let wording = self.wording([at]);
        self.lines[at].text.trim_start().starts_with(char::is_lowercase)
            && wording.count() >= CONTINUATION
            && !wording.begins_with(Section::Closings)
    }

    /// Whether a line begins a sentence that does not end on it.
    fn is_unfinished(&self, at: usize) -> bool {
        let text = self.lines[at].text.trim_end();
        text.ends_with(|c: char| c.is_alphanumeric() || c == ',')
            && text.len() <= MAX_LINE
            && !text.contains('@')
            && !self.is_name(at)
            && self.wording([at]).count() >= SENTENCE
    }

    /// Whether the line is an order that consists of one square.
    fn is_bare_square(&self, at: usize) -> bool {
        let wording = NormalizedLine::of(&self.lines[at].text);
        let mut words = wording.words();
        let is_square = |word: &str| normalized::is_square(word.trim_matches('*'));
        words.next().is_some_and(is_square) && words.next().is_none()
    }

    /// Whether a line is below the close of a letter: a greeting, or a name.
    fn is_signature(&self, at: usize) -> bool {
        let written: Vec<usize> = (0..at).filter(|above| self.kinds[*above] != LineKind::Blank).collect();
        // The first line greets the reader.
        let Some((above, [_, ..])) = written.split_last() else { return false };
        let closes = |at: &usize| {
            let wording = self.wording([*at]);
            wording.count() <= CLOSING && wording.begins_with(Section::Closings)
        };
        let is_remark = |at: &&usize| self.is_remark(**at);
        written[1..].iter().filter(is_remark).any(closes) || self.is_remark(*above) && self.is_name(*above)
    }

    /// Whether a line is only a name, such as `Ann` or `- Ann Adams`.
    fn is_name(&self, at: usize) -> bool {
        let line = self.lines[at].text.trim().trim_start_matches(['-', '–', '—', '~', ' ']);
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_capitalized = |word: &&str| {
            word.starts_with(char::is_uppercase)
                && word.chars().all(|c| c.is_alphabetic() || ".-'".contains(c))
        };
        (1..=NAME).contains(&words.len()) && words.iter().all(is_capitalized)
    }

    /// Returns the number of a line with words that postpone the orders, next to them or in a postscript.
    fn postponed(&self) -> Option<usize> {
        let mut start = 0;
        while start < self.lines.len() {
            if !self.is_remark(start) {
                start += 1;
                continue;
            }
            let run = start..self.run_below(start).end;
            start = run.end;
            if let Some(no) = self.postpones(run) {
                return Some(no);
            }
        }
        None
    }

    /// Returns the line in a run of remarks that postpones the orders next to it.
    fn postpones(&self, run: Range<usize>) -> Option<usize> {
        let near = |at: Option<usize>| at.is_some_and(|at| self.is_order(at));
        let is_written = |at: &usize| !matches!(self.kinds[*at], LineKind::Blank | LineKind::Modifier);
        let is_above = near((run.end..self.lines.len()).find(is_written));
        let is_below = near((0..run.start).rev().find(is_written));
        let last = run.end.saturating_sub(BESIDE).max(run.start)..run.end;
        let first = run.start..run.end.min(run.start + BESIDE);
        let postscript = run
            .clone()
            .find(|at| self.wording([*at]).begins_with(Section::Postscripts))
            .map(|at| at..run.end);
        let above = Some(last).filter(|_| is_above);
        let below = Some(first).filter(|_| is_below);
        let beside = [above, below, postscript].into_iter().flatten();
        beside.into_iter().find_map(|lines| self.wording(lines).find(Section::Postponing))
    }
}

fn has_question_mark(text: &str) -> bool {
    text.contains(['?', '？'])
}
