//! Checks a turn of the house: what it was shown, and what it played on that.

use super::Check;
use crate::game::Seat;
use crate::house;
use crate::ledger::{self, Entry, Fact};
use crate::referee::{Act, Hint, HousePlayer, Match, Ruling, digest_of};

/// A turn of the house that passed the check. Whether it is legal shows when it is ruled on again.
pub(super) struct HouseTurn {
    /// Whether another version of the house played it, so that it was not found again.
    pub is_of_other_version: bool,
    /// Whether the level failed, and an easier one played. Repeated only for turns of this version.
    pub is_failure: bool,
}

/// Checks an act in the match as it was before, whose entries so far are `entries`. Returns `None` if the act is no turn of
/// the house.
///
/// # Errors
/// Returns what is wrong, as a clause.
pub(super) fn check_turn(
    game_match: &Match,
    act: &Act,
    entries: &[Entry],
    house: &HousePlayer,
) -> Result<Option<HouseTurn>, String> {
    let Act::Play { seat, version, orders, seen: told, failed } = act else { return Ok(None) };
    let seen = ledger::seen(entries, *seat).ok_or("what the house was told cannot be derived")?;
    if *told != digest_of(&seen) {
        return Err("the house was shown something else than its seat was told".to_owned());
    }
    let is_failure = failed.is_some();
    if *version != house::version(game_match.game) {
        return Ok(Some(HouseTurn { is_of_other_version: true, is_failure }));
    }
    match game_match.house_turn(&seen, house) {
        Some(Act::Play { orders: again, failed: fails, .. }) if again == *orders && fails == *failed => {
            Ok(Some(HouseTurn { is_of_other_version: false, is_failure }))
        }
        _ => Err("the house plays another turn there".to_owned()),
    }
}

/// The kind of the entry that records a hint.
const HINT_GIVEN: &str = "HintGiven";

impl Check {
    /// Returns the hint that the first pending entries record. Finds it again, if this version of the house gave it and
    /// turns of the house are found again.
    ///
    /// # Errors
    /// Returns what is wrong, as a clause.
    pub(super) fn recorded_hint(&self, seat: Seat, game_match: &Match) -> Result<Option<Hint>, String> {
        let Some(index) = self.first_group().position(|link| link.kind == HINT_GIVEN) else {
            return Ok(None);
        };
        let entry = self.pending.get(index).and_then(|entry| serde_json::from_str(&entry.json).ok());
        let Some(Entry { seq, fact: Fact::HintGiven { version, orders, .. }, .. }) = entry else {
            return Err("its hint cannot be read".to_owned());
        };
        let hint = Hint { version, orders };
        let is_checked = self.house.is_none() || seq <= self.checked_until;
        if !is_checked && version == house::version(game_match.game) {
            let seen =
                ledger::seen(&self.record_entries, seat).ok_or("what the seat saw cannot be derived")?;
            if game_match.hint(&seen).as_ref() != Some(&hint) {
                return Err("the house gives another hint there".to_owned());
            }
        }
        Ok(Some(hint))
    }

    /// Lists a turn in which the house failed, and counts one that another version of it played. `seq` is the turn's entry.
    pub(super) fn note_house_turn(&mut self, seq: u64, turn: &HouseTurn) {
        if turn.is_failure {
            self.verdict.house_failures.push(seq);
        }
        self.verdict.house_turns_of_other_versions += u64::from(turn.is_of_other_version);
    }

    /// Counts a hint that another version of the house gave: it cannot be worked out again.
    pub(super) fn note_hint(&mut self, ruling: &Ruling) {
        let current = house::version(ruling.after.game);
        for chained in &ruling.entries {
            let Fact::HintGiven { version, .. } = chained.entry.fact else { continue };
            if version != current && self.house.is_some() {
                self.verdict.house_turns_of_other_versions += 1;
            }
        }
    }
}
