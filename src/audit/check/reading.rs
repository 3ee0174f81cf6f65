//! Accepts letters as an earlier version of this program read them.
//!
//! Each version understands more forms of an order, and questions lines that earlier ones passed over. What was filed
//! must still stand in the letter, and the ruling on it is repeated; only the reading is taken from the ledger.

use super::Check;
use crate::game::Line;
use crate::game::any::GameKind;
use crate::ledger::{Entry, Fact};
use crate::referee::{Content, Match, Notice, Ruling, SeatLetter};

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
                Fact::ConditionsSealed { conditions, .. } => {
                    let lines = conditions.lines();
                    if !lines.iter().all(|line| read.contains(line)) {
                        return None;
                    }
                    request.orders = Line::numbered(&lines);
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
        letter.keep_recorded_commands(&asked);
        letter.tells_all_faults = false;
        letter.extends_once_vanished = true;
        letter.thread_turn = None;
        letter.earlier.clear();
        letter.other_match = None;
        Some(letter)
    }

    /// Removes the notice of words to the GM from a repeated ruling, if an earlier version did not send it.
    pub(super) fn drop_unsent_words(&self, ruling: &mut Ruling) {
        let is_words = |content: &Content| matches!(content, Content::Notice(Notice::Words { .. }));
        let Some(last) = ruling.dispatches.len().checked_sub(1) else { return };
        let unique = crate::report::envelope::unique_part(&ruling.after, last);
        if self.is_of_earlier_version()
            && is_words(&ruling.dispatches[last].content)
            && !self.dispatches.contains_key(&unique)
        {
            ruling.dispatches.pop();
        }
    }
}

/// Returns the canonical form of the orders on these lines.
fn canonical(game: GameKind, lines: &[Line]) -> Vec<String> {
    lines.iter().filter_map(|line| game.canonical(&line.text)).flatten().collect()
}
