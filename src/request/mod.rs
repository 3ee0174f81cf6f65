//! Reads what a letter asks for: orders and commands, line by line, in the new text of a letter.
//!
//! A line that starts like an order or a command is one. Any other line is a remark, which is kept and has no effect.
//! The game decides whether the orders are legal, and the referee whether the commands are carried out.
//!
//! `END` ends the text of a `TELL` or a `PROTEST`, and reading continues below; elsewhere it ends the reading. Orders
//! never reach the opponent in a message: a `TELL` with a line in its text that starts like an order is a fault.

use crate::game::{Fault, Line};

mod command;
mod normalized;
mod proof;

pub use command::{Command, NumberedCommand, Party};

use command::ParsedLine;
use normalized::NormalizedLine;

/// What a letter asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// `CHECK`: check the orders, but file nothing.
    pub check: bool,
    /// `WAIT`: do not adjudicate the phase before its deadline.
    pub wait: bool,
    /// `TURN n`: the turn of the orders.
    pub turn: Option<u32>,
    /// The orders, ready to parse: without bullets, comments, stray punctuation and look-alike letters. Several orders
    /// on one line of the letter share its number.
    pub orders: Vec<Line>,
    pub commands: Vec<NumberedCommand>,
    /// Lines that are neither orders nor commands, as written.
    pub remarks: Vec<Line>,
    /// Commands that were not understood, and contradictions. If there are any, nothing is filed.
    pub faults: Vec<Fault>,
    /// Whether a line `END` ended the reading.
    pub ended: bool,
    /// Lines in which Cyrillic or Greek letters were replaced by the Latin ones that they look like, as replaced.
    pub look_alikes: Vec<Line>,
    written: Vec<Line>,
}

impl Request {
    /// Reads the new lines of a letter. `is_order` tells whether a line starts like an order of the match's game;
    /// without a match, pass `|_| false`.
    pub fn read(lines: &[Line], is_order: impl Fn(&str) -> bool) -> Request {
        let mut parser = RequestParser { lines, at: 0, is_order, request: Request::default() };
        while parser.at < lines.len() && !parser.request.ended {
            parser.line();
        }
        parser.request.written = lines.to_vec();
        parser.request
    }

    /// Whether the letter asks for nothing.
    pub fn is_empty(&self) -> bool {
        !self.check
            && !self.wait
            && self.turn.is_none()
            && self.orders.is_empty()
            && self.commands.is_empty()
            && self.faults.is_empty()
    }

    /// Returns all lines, as written.
    pub fn lines(&self) -> &[Line] {
        &self.written
    }

    /// Returns line `no` of the letter, as written.
    pub fn written(&self, no: usize) -> Option<&str> {
        self.written.iter().find(|line| line.no == no).map(|line| line.text.as_str())
    }
}

/// Whether a line is prose although it starts like an order, such as `Star Shipping Ltd`: three or more words without
/// a digit, the first of them not in capitals.
pub fn is_prose(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let in_capitals = words.next().is_none_or(|first| !first.chars().any(char::is_lowercase));
    !in_capitals && words.count() >= 2 && !line.contains(|c: char| c.is_ascii_digit())
}

struct RequestParser<'a, F> {
    lines: &'a [Line],
    at: usize,
    is_order: F,
    request: Request,
}

impl<F: Fn(&str) -> bool> RequestParser<'_, F> {
    /// Reads the line at `at`, and those below that belong to it.
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
        let is_understood = self.modifier(line.no, &wording) || self.command(line.no, &wording);
        if is_understood {
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

    /// Returns the orders on a line: several if each piece between its semicolons is one.
    fn orders(&self, wording: &NormalizedLine) -> Option<Vec<String>> {
        let pieces: Vec<String> =
            wording.pieces().map(normalized::as_order).filter(|p| !p.is_empty()).collect();
        if pieces.len() > 1 && pieces.iter().all(|piece| (self.is_order)(piece)) {
            return Some(pieces);
        }
        let whole = normalized::as_order(&wording.plain);
        (self.is_order)(&whole).then(|| vec![whole])
    }

    /// Reads `END`, `CHECK`, `WAIT` and `TURN n`. Returns whether the line is one of them.
    fn modifier(&mut self, no: usize, wording: &NormalizedLine) -> bool {
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

    /// Reads a command. Returns whether the line is one, understood or not.
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
                    let reason = "PROTEST needs the text for the GM.";
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

    /// Whether a line `END` follows.
    fn has_end(&self) -> bool {
        self.lines[self.at..].iter().any(|line| normalized::is_end(&line.text))
    }

    /// Reads a message to the opponent. It must not contain orders, because it would show them to the other side.
    fn tell(&mut self, no: usize, wording: &NormalizedLine) {
        let from = self.at;
        let (text, ended) = self.text(wording);
        let swallowed = self.lines[from..self.at].iter().find(|line| {
            let wording = NormalizedLine::of(&line.text);
            self.orders(&wording).is_some()
                || !ended && !matches!(command::read(&wording, || false), ParsedLine::Remark)
        });
        let example = "TELL Well played.\nEND";
        let fault = match swallowed {
            Some(Line { no: line, .. }) => Fault::on(
                no,
                format!(
                    "Line {line} stands in the text of TELL and would go to your opponent. Write END on a line of its own where the message ends, and keep orders out of it."
                ),
            ),
            None if text.is_empty() => Fault::on(no, "TELL needs the text for your opponent."),
            None => {
                self.request.commands.push(NumberedCommand { line: no, command: Command::Tell(text) });
                return;
            }
        };
        self.request.faults.push(fault.with_example(example));
    }

    /// Reads the text after the first word and on the lines below, up to `END` or the end of the letter. Also returns
    /// whether there was an `END`.
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
