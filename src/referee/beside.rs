//! Methods for what only a match keeps: its secrets, the memories of its seats, and the texts of GMs.

use super::Match;
use crate::game::any::Memories;
use crate::ledger::{Act, Correction, SealKey};
use crate::letter::Digest;

impl Match {
    /// Returns the secret that the match began with.
    pub fn first_key(&self) -> &SealKey {
        self.earlier_keys.first().unwrap_or(&self.key)
    }

    /// Returns the secret, present or earlier, that an entry pins.
    pub fn key_pinned_by(&self, pin: Digest) -> Option<SealKey> {
        self.keys().find(|key| key.pin() == pin).cloned()
    }

    /// Returns the secrets of the match, oldest first.
    pub fn keys(&self) -> impl Iterator<Item = &SealKey> {
        self.earlier_keys.iter().chain([&self.key])
    }

    /// Adds the news of the present state, which is about to change, to what the seats remember.
    pub(super) fn remember_news(&mut self) {
        if self.game.keeps_memory() {
            self.memories.get_or_insert_with(|| Memories::empty(self.game)).remember(&self.state);
        }
    }
}

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
