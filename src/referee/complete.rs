//! Completes acts out of a ledger with what only the match keeps.

use super::life::Match;
use crate::ledger::{Act, Correction};

impl Act {
    /// Completes an act out of a ledger with what only the match keeps: texts of GMs, and secrets. Returns whether the
    /// match has it.
    pub fn complete(&mut self, game_match: &Match) -> bool {
        match self {
            Act::Tell { digest, text, .. } => {
                let found = game_match.gm_messages.iter().find(|message| message.digest() == *digest);
                found.inspect(|message| text.clone_from(&message.text)).is_some()
            }
            Act::Correct(Correction { new_key: Some(new), .. }) => {
                new.key = game_match.key_pinned_by(new.pin);
                new.key.is_some()
            }
            _ => true,
        }
    }
}
