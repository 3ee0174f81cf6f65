//! Texts that are passed on: `TELL`, `TELL GM` and `PROTEST`. Another person reads them, so no line in them
//! may be an order or a command that was meant for the referee.

use super::bounds::start_of;
use super::command::{self, Command, NumberedCommand, ParsedLine};
use super::grammar::{Grammar, orders_of};
use super::normalized::{self, NormalizedLine};
use super::{Request, RequestParser, part};
use crate::game::{Fault, Line};

/// The words that stand for a text in our examples. Sent as they are, they are no text.
const PLACEHOLDER: &str = "your words";

/// Whether a text says nothing of its writer's own.
pub fn says_nothing(text: &str) -> bool {
    text.trim().is_empty() || text.trim().eq_ignore_ascii_case(PLACEHOLDER)
}

/// A command whose text is passed on to somebody.
pub(super) struct TextCommand {
    verb: &'static str,
    reader: &'static str,
    example: &'static str,
    command: fn(String) -> Command,
}

pub(super) const TELL: TextCommand = TextCommand {
    verb: "TELL",
    reader: "your opponent",
    example: "TELL Well played.\nEND",
    command: Command::Tell,
};

pub(super) const TELL_GM: TextCommand = TextCommand {
    verb: "TELL GM",
    reader: "the GM",
    example: "TELL GM I shall be in hospital next week.\nEND",
    command: Command::TellGm,
};

pub(super) const PROTEST: TextCommand = TextCommand {
    verb: "PROTEST",
    reader: "the GM",
    example: "PROTEST Turn 4 was decided on the wrong orders.\nEND",
    command: Command::Protest,
};

impl TextCommand {
    /// Removes the `GM` of `TELL GM` from the start of the text.
    fn without_addressee(&self, text: String) -> String {
        if self.verb != TELL_GM.verb {
            return text;
        }
        let text = text.trim_start();
        let text = text.get(2..).unwrap_or_default();
        text.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ':' | ',')).to_owned()
    }
}

impl Command {
    /// Returns the text that the command passes on.
    pub fn text(&self) -> Option<&str> {
        let (Command::Tell(text) | Command::TellGm(text) | Command::Protest(text)) = self else {
            return None;
        };
        Some(text)
    }
}

impl<G: Grammar> RequestParser<'_, G> {
    /// Whether a long line begins a text for somebody else to read, which a mail program may leave unwrapped.
    pub(super) fn begins_text(&self, line: &Line) -> bool {
        let parsed = command::read(&NormalizedLine::of(start_of(&line.text)), || self.has_end());
        matches!(parsed, ParsedLine::Tell | ParsedLine::TellGm | ParsedLine::Protest)
    }

    /// Whether a line `END` follows.
    pub(super) fn has_end(&self) -> bool {
        let find = || self.lines.iter().rposition(|line| normalized::is_end(&line.text));
        self.last_end.get_or_init(find).is_some_and(|end| end >= self.at)
    }

    /// Reads a text that is passed on. It must not hold orders, because another person reads it.
    pub(super) fn passed_on(&mut self, no: usize, wording: &NormalizedLine, kind: &TextCommand) {
        let from = self.at;
        let (text, ended) = self.text(wording);
        let text = kind.without_addressee(text);
        let swallowed = self.lines[from..self.at].iter().find(|line| {
            let wording = NormalizedLine::of(&line.text);
            self.is_order_in_text(&wording)
                || !ended && !matches!(command::read(&wording, || false), ParsedLine::Remark)
        });
        let reason = match swallowed {
            Some(Line { no: line, .. }) => {
                self.held_in_text.get_or_insert(*line);
                format!(
                    "Line {line} stands in the text of {} and would go to {}. Write END on a line of its own where the message ends, or put a # before the line if it belongs to the message.",
                    kind.verb, kind.reader
                )
            }
            None if says_nothing(&text) => {
                format!("{} needs the text for {}.", kind.verb, kind.reader)
            }
            None => {
                self.request.commands.push(NumberedCommand { line: no, command: (kind.command)(text) });
                return;
            }
        };
        self.request.faults.push(Fault::on(no, reason).with_example(kind.example));
    }

    /// Reads the text after the first word and on the lines below, up to `END`, a line `MATCH QZ-7K3M` or the
    /// end of the letter. Also returns whether there was an `END`.
    fn text(&mut self, wording: &NormalizedLine) -> (String, bool) {
        let mut lines = vec![wording.raw_after_first_word().to_owned()];
        let mut ended = false;
        while let Some(line) = self.lines.get(self.at) {
            self.at += 1;
            if normalized::is_end(&line.text) {
                ended = true;
                break;
            }
            if part::match_line(&line.text).is_some() {
                self.at -= 1;
                break;
            }
            lines.push(line.text.clone());
        }
        (lines.join("\n").trim().to_owned(), ended)
    }

    /// Whether a line reads as an order, which a text must not contain.
    fn is_order_in_text(&self, wording: &NormalizedLine) -> bool {
        orders_of(&self.grammar, wording).is_some()
            || self.other_games.iter().any(|game| orders_of(game, wording).is_some())
    }

    /// Removes the texts of a letter, because line `held` in one of them was not meant for its reader, and a
    /// text cannot be taken back once it is read.
    pub(super) fn withhold_texts(&mut self, held: usize) {
        let Request { commands, faults, .. } = &mut self.request;
        commands.retain(|asked| {
            let is_text = asked.command.text().is_some();
            if is_text {
                let reason = format!("I did not pass this text on either, because of line {held}.");
                faults.push(Fault::on(asked.line, reason));
            }
            !is_text
        });
    }
}
