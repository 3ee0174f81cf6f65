//! Compares the stored turns that players owed with those that the repeated rulings closed.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::audit::verdict::{Finding, Place};
use crate::club::owed::OwedTurn;
use crate::game::{BySeat, Seat};
use crate::ledger::{Entry, Fact};

/// A turn that a player owed, as stored.
pub struct StoredTurn {
    pub turn: OwedTurn,
    pub player: i64,
}

/// The turns that the entries of a match close, collected as rulings are repeated.
#[derive(Default)]
pub struct LedgerTurns {
    owed: BTreeMap<(u64, Seat), OwedTurn>,
    /// The entries of rulings that were not repeated, which may have closed turns.
    unrepeated: Vec<RangeInclusive<u64>>,
    /// The last entry that gave a seat to another player; 0 if none did.
    replaced: BySeat<u64>,
}

impl LedgerTurns {
    pub(super) fn note(&mut self, entry: &Entry) {
        if let Fact::PlayerReplaced { seat, .. } = &entry.fact {
            self.replaced[*seat] = entry.seq;
        }
    }

    pub(super) fn note_owed(&mut self, owed: Vec<OwedTurn>) {
        self.owed.extend(owed.into_iter().map(|turn| ((turn.seq, turn.seat), turn)));
    }

    pub(super) fn note_unrepeated(&mut self, entries: RangeInclusive<u64>) {
        self.unrepeated.push(entries);
    }

    /// Returns the stored turns that differ from these, and those that are missing. `players` hold the seats now.
    pub(super) fn differences(&self, stored: &[StoredTurn], players: &BySeat<i64>) -> Vec<Finding> {
        let mut missing = self.owed.clone();
        let mut wrong = Vec::new();
        for StoredTurn { turn, player } in stored {
            let is_known = !self.unrepeated.iter().any(|entries| entries.contains(&turn.seq));
            let expected = missing.remove(&(turn.seq, turn.seat));
            // Who held the seat before another player took it over, only letters tell.
            let is_players = turn.seq <= self.replaced[turn.seat] || *player == players[turn.seat];
            if is_known && expected.as_ref() != Some(turn) || !is_players {
                wrong.push(turn.seq);
            }
        }
        wrong.extend(missing.into_keys().map(|(seq, _)| seq));
        let finding = |seq| {
            let what = format!("the turn that entry #{seq} closed is not stored as the ledger says");
            Finding::at(Place::Kept("the players' reliability"), what)
        };
        wrong.into_iter().map(finding).collect()
    }
}
