//! Letters as the ledger says that an earlier version of this program read them.

use std::collections::VecDeque;
use std::mem;

use super::SeatLetter;
use super::letters::first_word;
use crate::game::Line;
use crate::request::NumberedCommand;

impl SeatLetter {
    /// Keeps the commands that the ledger names by their first words, in order.
    ///
    /// A line that is a command only for this version, such as ADDRESS in a letter of version 0.1.0, was a remark then.
    /// Lines SETTINGS, which are one command now, were one each.
    pub fn keep_recorded_commands(&mut self, first_words: &[String]) {
        let request = &mut self.request;
        let mut rest: VecDeque<NumberedCommand> = mem::take(&mut request.commands).into();
        let mut dropped: Vec<usize> = Vec::new();
        for word in first_words {
            let is_recorded = |command: &NumberedCommand| {
                request.written(command.line).is_some_and(|line| first_word(line) == *word)
            };
            match rest.iter().position(is_recorded) {
                Some(place) => {
                    dropped.extend(rest.drain(..place).map(|command| command.line));
                    request.commands.extend(rest.pop_front());
                }
                None => {
                    let joined = request.commands.iter().rfind(|command| is_recorded(command)).cloned();
                    request.commands.extend(joined);
                }
            }
        }
        dropped.extend(rest.into_iter().map(|command| command.line));
        for no in dropped {
            let line = request.written(no).map(|text| Line { no, text: text.to_owned() });
            request.remarks.extend(line);
        }
    }
}
