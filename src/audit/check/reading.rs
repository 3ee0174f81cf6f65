//! Accepts letters as an earlier version of this program read them.
//!
//! Each version understands more forms of an order, and questions lines that earlier ones passed over. What was filed
//! must still stand in the letter, and the ruling on it is repeated; only the reading is taken from the ledger.

use std::collections::VecDeque;
use std::mem;

use super::Check;
use crate::game::Line;
use crate::game::any::GameKind;
use crate::ledger::{Entry, Fact};
use crate::referee::{self, Content, Match, Notice, Ruling, SeatLetter};
use crate::request::{NumberedCommand, Request};

impl Check {
    /// Returns the letter as the ledger says that it was read, if an earlier version may have read it otherwise.
    pub(super) fn as_recorded(&self, letter: &SeatLetter, game_match: &Match) -> Option<SeatLetter> {
        if !self.is_of_earlier_version() {
            return None;
        }
        let count = self.first_group().count();
        let facts = self.pending.iter().take(count);
        let facts = facts.filter_map(|entry| serde_json::from_str::<Entry>(&entry.json).ok());
        let mut letter = letter.clone();
        let request = &mut letter.request;
        let read: Vec<String> = canonical(game_match.game, &request.orders);
        request.orders.clear();
        request.faults.clear();
        request.doubts.clear();
        request.turn = None;
        request.yes = None;
        let mut asked: Vec<String> = Vec::new();
        for entry in facts {
            match entry.fact {
                Fact::LetterAnswered { asked: words, .. } => asked = words,
                Fact::OrdersSealed { orders, wait, .. } => {
                    if !orders.iter().all(|order| read.contains(order)) {
                        return None;
                    }
                    request.orders = Line::numbered(&orders);
                    request.wait = wait;
                    request.check = false;
                }
                Fact::OrdersRefused { orders, faults, .. } => {
                    request.orders = Line::numbered(&orders);
                    request.faults = faults;
                    request.check = false;
                }
                Fact::OrdersChecked { orders, faults, .. } => {
                    request.orders = Line::numbered(&orders);
                    request.faults = faults;
                    request.check = true;
                }
                _ => {}
            }
        }
        keep_recorded_commands(request, &asked);
        letter.thread_turn = None;
        letter.earlier.clear();
        letter.other_match = None;
        Some(letter)
    }

    /// Removes the notice of words to the GM from a repeated ruling, if an earlier version did not send it.
    pub(super) fn drop_unsent_words(&self, ruling: &mut Ruling) {
        let is_words = |content: &Content| matches!(content, Content::Notice(Notice::Words { .. }));
        let Some(last) = ruling.dispatches.len().checked_sub(1) else { return };
        let unique = crate::report::envelope::unveiled_part(&ruling.after, last);
        if self.is_of_earlier_version()
            && is_words(&ruling.dispatches[last].content)
            && !self.dispatches.contains_key(&unique)
        {
            ruling.dispatches.pop();
        }
    }
}

/// Keeps the commands that the ledger names by their first words, in order. A line that is a command only for this
/// version, such as ADDRESS in a letter of version 0.1.0, was a remark then. Lines SETTINGS, which are one command now,
/// were one each.
fn keep_recorded_commands(request: &mut Request, asked: &[String]) {
    let mut rest: VecDeque<NumberedCommand> = mem::take(&mut request.commands).into();
    let mut dropped: Vec<usize> = Vec::new();
    for word in asked {
        let is_recorded = |command: &NumberedCommand| {
            request.written(command.line).is_some_and(|line| referee::first_word(line) == *word)
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

/// Returns the canonical form of the orders on these lines.
fn canonical(game: GameKind, lines: &[Line]) -> Vec<String> {
    lines.iter().filter_map(|line| game.canonical(&line.text)).flatten().collect()
}
