//! What a letter asks: orders and commands, line by line, out of what the person wrote now.
//!
//! A line that begins like an order or a command is one; any other is a remark, kept and without effect. Whether
//! orders may stand is for the game; whether a command may be followed is for the referee.
//!
//! `END` ends what is open: the text of a `TELL` or a `PROTEST`, after which the reading goes on; else the reading
//! itself. Orders never travel in a message to the opponent: a `TELL` whose text holds a line that begins like an
//! order is a fault.

use crate::game::{Fault, Line};

mod command;
mod normalized;

pub use command::{Command, NumberedCommand, Party};

use command::ParsedLine;
use normalized::NormalizedLine;

/// What a letter asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `CHECK`: nothing is to be filed.
    pub check: bool,
    /// `WAIT`: the phase is not to be adjudicated before its deadline.
    pub wait: bool,
    /// `TURN n`: the turn for which the orders are meant.
    pub turn: Option<u32>,
    /// The orders, as they are to be parsed: bullets, comments, stray punctuation and look-alike letters are
    /// gone. Several may stand in one line of the letter, and then bear its number.
    pub orders: Vec<Line>,
    pub commands: Vec<NumberedCommand>,
    /// Lines that are neither, as written.
    pub remarks: Vec<Line>,
    /// Commands that were not understood, and what cannot stand together. One of these, and nothing is filed.
    pub faults: Vec<Fault>,
    /// A line `END` ended the reading.
    pub ended: bool,
    /// Lines in which Cyrillic or Greek letters were taken for the Latin ones that they look like, as read.
    pub look_alikes: Vec<Line>,
    written: Vec<Line>,
}

impl Request {
    /// Reads the lines that a person wrote. `is_order` says whether a line begins like an order of the match's
    /// game; with no match, `|_| false`.
    pub fn read(lines: &[Line], is_order: impl Fn(&str) -> bool) -> Request {
        let mut parser = RequestParser { lines, at: 0, is_order, request: Request::default() };
        while parser.at < lines.len() && !parser.request.ended {
            parser.line();
        }
        parser.request.written = lines.to_vec();
        parser.request
    }

    /// Whether nothing was asked at all.
    pub fn is_empty(&self) -> bool {
        !self.check
            && !self.wait
            && self.turn.is_none()
            && self.orders.is_empty()
            && self.commands.is_empty()
            && self.faults.is_empty()
    }

    /// All lines that were read, as written.
    pub fn lines(&self) -> &[Line] {
        &self.written
    }

    /// Line `no` of the letter, as written.
    pub fn written(&self, no: usize) -> Option<&str> {
        self.written.iter().find(|line| line.no == no).map(|line| line.text.as_str())
    }
}

/// Whether a line is prose though it may begin like an order: `Star Shipping Ltd`. Three words or more, none with a
/// digit, and the first not in capitals.
pub fn is_prose(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let shouts = words.next().is_none_or(|first| !first.chars().any(char::is_lowercase));
    !shouts && words.count() >= 2 && !line.contains(|c: char| c.is_ascii_digit())
}

struct RequestParser<'a, F> {
    lines: &'a [Line],
    at: usize,
    is_order: F,
    request: Request,
}

impl<F: Fn(&str) -> bool> RequestParser<'_, F> {
    /// Reads the line at `at`, with those below that belong to it.
    fn line(&mut self) {
        let line = &self.lines[self.at];
        self.at += 1;
        let wording = NormalizedLine::of(&line.text);
        if wording.is_empty() {
            return;
        }
        if let Some(orders) = self.orders(&wording) {
            self.note_look_alikes(line.no, &wording);
            self.request.orders.extend(orders.into_iter().map(|text| Line { no: line.no, text }));
            return;
        }
        let understood = self.word(line.no, &wording) || self.command(line.no, &wording);
        if understood {
            self.note_look_alikes(line.no, &wording);
        } else {
            self.request.remarks.push(line.clone());
        }
    }

    fn note_look_alikes(&mut self, no: usize, wording: &NormalizedLine) {
        if wording.had_look_alikes {
            self.request.look_alikes.push(Line { no, text: wording.plain.clone() });
        }
    }

    /// The orders that a line holds: several, if each of the pieces between its semicolons is one.
    fn orders(&self, wording: &NormalizedLine) -> Option<Vec<String>> {
        let pieces: Vec<String> =
            wording.pieces().map(normalized::as_order).filter(|p| !p.is_empty()).collect();
        if pieces.len() > 1 && pieces.iter().all(|piece| (self.is_order)(piece)) {
            return Some(pieces);
        }
        let whole = normalized::as_order(&wording.plain);
        (self.is_order)(&whole).then(|| vec![whole])
    }

    /// `END`, `CHECK`, `WAIT` and `TURN n`.
    fn word(&mut self, no: usize, wording: &NormalizedLine) -> bool {
        let words: Vec<String> = wording.words().map(str::to_ascii_uppercase).collect();
        match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["END"] => self.request.ended = true,
            ["CHECK"] => self.request.check = true,
            ["WAIT"] => self.request.wait = true,
            ["CHECK", ..] => {
                let rest = wording.after_first_word();
                let order = normalized::as_order(rest);
                if !(self.is_order)(&order) {
                    return false;
                }
                self.request.check = true;
                self.request.orders.push(Line { no, text: order });
            }
            ["TURN", number] | ["TURN", number, "ORDERS"] | ["ORDERS", "TURN", number] => {
                let Ok(turn) = number.parse() else { return false };
                if self.request.turn.is_some_and(|before| before != turn) {
                    let fault =
                        Fault::on(no, "The letter names two turns. Write the orders of one turn only.");
                    self.request.faults.push(fault.with_example(format!("TURN {turn}")));
                }
                self.request.turn = Some(turn);
            }
            _ => return false,
        }
        true
    }

    fn command(&mut self, no: usize, wording: &NormalizedLine) -> bool {
        match command::read(wording, || self.has_end()) {
            ParsedLine::Remark => return false,
            ParsedLine::Command(command) => self.request.commands.push(NumberedCommand { line: no, command }),
            ParsedLine::Fault { reason, example } => {
                self.request.faults.push(Fault::on(no, reason).with_example(example));
            }
            ParsedLine::Tell => self.tell(no, wording),
            ParsedLine::Protest => {
                let (text, _) = self.text(wording);
                if text.is_empty() {
                    let reason = "PROTEST wants the text that the GM is to read.";
                    let fault =
                        Fault::on(no, reason).with_example("PROTEST Turn 4 was decided on the wrong orders.");
                    self.request.faults.push(fault);
                } else {
                    self.request.commands.push(NumberedCommand { line: no, command: Command::Protest(text) });
                }
            }
        }
        true
    }

    /// Whether a line `END` is still to come.
    fn has_end(&self) -> bool {
        self.lines[self.at..].iter().any(|line| normalized::is_end(&line.text))
    }

    /// A message to the opponent. It must not swallow orders: they would be shown to the other side.
    fn tell(&mut self, no: usize, wording: &NormalizedLine) {
        let from = self.at;
        let (text, ended) = self.text(wording);
        let read = |line: &Line| (line.no, NormalizedLine::of(&line.text));
        let mut below = self.lines[from..self.at].iter().map(read);
        let swallowed = below.find(|(_, wording)| {
            self.orders(wording).is_some()
                || !ended && !matches!(command::read(wording, || false), ParsedLine::Remark)
        });
        let example = "TELL Well played.\nEND";
        let fault = match swallowed {
            Some((line, _)) => Fault::on(
                no,
                format!(
                    "Line {line} stands in the text of TELL and would go to your opponent. Write END on a line of its own where the message ends, and keep orders out of it."
                ),
            ),
            None if text.is_empty() => Fault::on(no, "TELL wants the text that your opponent is to read."),
            None => {
                self.request.commands.push(NumberedCommand { line: no, command: Command::Tell(text) });
                return;
            }
        };
        self.request.faults.push(fault.with_example(example));
    }

    /// What stands behind the first word and in the lines below, up to `END` or the end of the letter; and whether
    /// there was an `END`.
    fn text(&mut self, wording: &NormalizedLine) -> (String, bool) {
        let mut lines = vec![wording.raw_after_first_word().to_owned()];
        let mut ended = false;
        while let Some(line) = self.lines.get(self.at) {
            self.at += 1;
            if normalized::is_end(&line.text) {
                ended = true;
                break;
            }
            lines.push(line.text.clone());
        }
        (lines.join("\n").trim().to_owned(), ended)
    }
}

#[cfg(test)]
mod tests;
