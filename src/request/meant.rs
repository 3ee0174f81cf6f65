//! Decides whether the orders of a letter are meant to be filed now. In some games a turn is played at once
//! and irrevocably, so an order that its own letter questions or takes back is doubtful, although it parses.
//!
//! An order is doubtful with a question mark or inside a question, next to words that postpone it, or if it
//! is a single square below the name of its author or in the middle of a sentence. Other questions and
//! negations say nothing about the orders: every third reply from a person contains one.

use super::LineKind;
use super::doubt::{Doubt, DoubtKind};
use super::normalized::{self, NormalizedLine};
use super::phrases::{Section, Wording};
use crate::game::Line;

/// Number of lines, above or below the orders, to search for words that postpone them: a sentence may be
/// wrapped.
const BESIDE: usize = 3;

/// Minimum words of a line that is taken for a sentence.
const SENTENCE: usize = 4;

/// Maximum words of a line that closes a letter, and of one that is only a name.
const CLOSING: usize = 5;
const NAME: usize = 3;

/// Returns the doubts about the orders of a letter. `kinds` are the meanings of the lines; `verbs` are the
/// words that orders begin with, in capitals.
pub fn doubts(lines: &[Line], kinds: &[LineKind], verbs: &[&str]) -> Vec<Doubt> {
    let letter = ReadLines { lines, kinds };
    let orders: Vec<usize> = (0..lines.len()).filter(|at| letter.is_order(*at)).collect();
    let mut doubts: Vec<Doubt> = orders.iter().filter_map(|at| letter.doubt_about(*at)).collect();
    if !orders.is_empty() {
        let postponed = letter.postponed(verbs);
        doubts.extend(postponed.map(|no| Doubt::new(no, DoubtKind::Postponed)));
    }
    doubts
}

/// Returns the number of the line that postpones the lines whose kind is [`LineKind::Order`].
pub fn postponing_line(lines: &[Line], kinds: &[LineKind], verbs: &[&str]) -> Option<usize> {
    ReadLines { lines, kinds }.postponed(verbs)
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
        } else if self.is_in_sentence(at) {
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

    /// Whether the lines around an order make it a question.
    fn is_in_question(&self, at: usize) -> bool {
        let above = self.run_above(at);
        let asks_above = !above.is_empty() && {
            let wording = self.wording(above.clone());
            let last = self.lines[above.end - 1].text.trim_end();
            !last.ends_with(['.', '!', '?']) && wording.last_sentence_begins_with(Section::Asking)
        };
        let below = self.run_below(at);
        let asks_below = below.clone().any(|at| has_question_mark(&self.lines[at].text));
        asks_above && (asks_below || self.asks_for_leave(&above))
            || asks_below && self.wording(below).begins_with(Section::Or)
    }

    /// Whether the lines ask whether their author may do something, rather than ask somebody to do it.
    fn asks_for_leave(&self, above: &std::ops::Range<usize>) -> bool {
        let last = self.lines[above.end - 1].text.trim_end();
        !last.ends_with(':') || has_question_mark(last)
    }

    /// Returns the remarks directly above a line.
    fn run_above(&self, at: usize) -> std::ops::Range<usize> {
        let start = (0..at).rev().take_while(|above| self.is_remark(*above)).last();
        start.map_or(at..at, |start| start..at)
    }

    /// Returns the remarks directly below a line.
    fn run_below(&self, at: usize) -> std::ops::Range<usize> {
        let start = at + 1;
        let count = (start..self.lines.len()).take_while(|below| self.is_remark(*below)).count();
        start..start + count
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
        (1..=NAME).contains(&words.len())
            && words.iter().all(is_capitalized)
            && self.wording([at]).find(Section::Moves).is_none()
    }

    /// Whether a sentence continues from the line above a square, or on the line below.
    fn is_in_sentence(&self, at: usize) -> bool {
        let above = at.checked_sub(1).filter(|above| self.is_remark(*above));
        let below = Some(at + 1).filter(|below| *below < self.lines.len() && self.is_remark(*below));
        let breaks_off = |at: usize| {
            let text = self.lines[at].text.trim_end();
            let wording = self.wording([at]);
            let ends = text.ends_with(|c: char| !c.is_alphanumeric());
            !ends
                && wording.find(Section::Moves).is_none()
                && (wording.count() >= SENTENCE || wording.ends_with(Section::Links))
        };
        let goes_on = |at: usize| {
            let text = self.lines[at].text.trim_start();
            let wording = self.wording([at]);
            text.starts_with(char::is_lowercase)
                && wording.count() >= NAME
                && !wording.begins_with(Section::Closings)
        };
        above.is_some_and(breaks_off) || below.is_some_and(goes_on)
    }

    /// Returns the number of a line with words that postpone the orders, next to them or in a postscript.
    fn postponed(&self, verbs: &[&str]) -> Option<usize> {
        let mut start = 0;
        while start < self.lines.len() {
            if !self.is_remark(start) {
                start += 1;
                continue;
            }
            let run = start..self.run_below(start).end;
            start = run.end;
            if let Some(no) = self.postpones(run, verbs) {
                return Some(no);
            }
        }
        None
    }

    /// Returns the line in a run of remarks that postpones the orders next to it.
    fn postpones(&self, run: std::ops::Range<usize>, verbs: &[&str]) -> Option<usize> {
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
        // A negation whose verb is on the line below.
        let negates = above.clone().filter(|above| {
            self.run_below(above.end - 1).is_empty()
                && self.kinds.get(above.end) == Some(&LineKind::Order)
                && self.lines[above.end - 1].text.trim_end().ends_with(char::is_alphanumeric)
                && self.wording([above.end - 1]).ends_with(Section::Negations)
        });
        if let Some(above) = negates {
            return Some(self.lines[above.end - 1].no);
        }
        [above, below, postscript].into_iter().flatten().find_map(|lines| {
            let wording = self.wording(lines);
            wording.find(Section::Postponing).or_else(|| wording.find_negated(verbs))
        })
    }
}

fn has_question_mark(text: &str) -> bool {
    text.contains(['?', '？'])
}
