//! What the seats of a match remember, which is kept beside its state.

use super::Match;
use crate::game::any::Memories;

impl Match {
    /// Adds the news of the present state, which is about to change, to what the seats remember.
    pub(super) fn remember_news(&mut self) {
        if self.game.keeps_memory() {
            self.memories.get_or_insert_with(|| Memories::empty(self.game)).remember(&self.state);
        }
    }
}
