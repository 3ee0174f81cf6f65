//! Keeps the chance of matches out of everybody's hands: the key that it comes from is drawn, and its SHA-256 told, before
//! the letter that opens the match is written.

use chrono::{DateTime, Utc};

use super::decision::{Decision, Key};
use super::undecided::Decided;
use crate::ledger::{Lot, SealKey};
use crate::letter::Digest;
use crate::store::{LotChange, NextLot};

impl Decision<'_> {
    /// Returns the SHA-256 of the key of the next match against the house at this address. Draws the key if there is none.
    pub fn tell_next_lot(&mut self, address: &str) -> Decided<Digest> {
        if let Some(lot) = self.next_lot(address)? {
            return Ok(lot.key.pin());
        }
        let lot = NextLot { key: self.draw_key(), told_at: self.at() };
        let pin = lot.key.pin();
        self.draft.settlement.lots.push(LotChange::Told { address: address.to_owned(), lot });
        Ok(pin)
    }

    /// Uses up the key at this address for a match against the house that `letters` open.
    pub fn draw_lot(&mut self, address: &str, letters: Vec<Digest>) -> Decided<Lot> {
        let Some(NextLot { key, told_at }) = self.next_lot(address)? else {
            return Ok(Lot { key: self.draw_key(), told_at: None, letters, seat: None });
        };
        let address = address.to_owned();
        self.draft.settlement.lots.push(LotChange::Drawn { address, key: key.clone() });
        Ok(Lot { key, told_at: self.told_before(told_at), letters, seat: None })
    }

    /// Returns when a key was told, unless that is only now: then it was not told before the letter was written.
    pub fn told_before(&self, told_at: DateTime<Utc>) -> Option<DateTime<Utc>> {
        Some(told_at).filter(|told_at| *told_at < self.at())
    }

    /// Draws the key of a match.
    pub fn draw_key(&mut self) -> SealKey {
        SealKey::new(self.random().bytes())
    }

    /// Returns the lot at this address as this transaction leaves it so far.
    fn next_lot(&mut self, address: &str) -> Decided<Option<NextLot>> {
        self.touch(Key::Address(address.to_owned()));
        let mut changes = self.draft.settlement.lots.iter().rev();
        Ok(match changes.find(|change| change.address() == address) {
            Some(LotChange::Told { lot, .. }) => Some(lot.clone()),
            Some(LotChange::Drawn { .. }) => None,
            None => self.context.next_lot(address)?.cloned(),
        })
    }
}
