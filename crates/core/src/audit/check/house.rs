//! Checks the turns and hints of the house, and the data that it was given for them.

use super::state::Check;
use crate::house;
use crate::ledger::{self, HousePlay, LetterCause};
use crate::referee::digest_of;

/// Checks a turn of the house, unless it was checked before. Counts a turn that another version of the house
/// played, because it cannot be derived again, and lists a turn in which the house's level failed.
///
/// # Errors
/// Returns what is wrong, as a clause.
pub(super) fn check_turn(check: &mut Check, seq: u64, play: &HousePlay) -> Result<(), String> {
    let Some((house, game_match)) = check.house.as_ref().zip(check.current.as_ref()) else { return Ok(()) };
    if seq <= check.checked_until {
        return Ok(());
    }
    let seen = ledger::what_seat_saw(&check.record_entries, play.seat)
        .ok_or("what the house was told cannot be derived")?;
    if play.seen != digest_of(&seen) {
        return Err("the house was shown something other than its seat was told".to_owned());
    }
    let is_of_other_version = play.version != house::version(game_match.game);
    if !is_of_other_version && game_match.house_turn(&seen, house.as_ref()).as_ref() != Some(play) {
        return Err("the house plays another turn there".to_owned());
    }
    if play.failed.is_some() {
        check.verdict.house_failures.push(seq);
    }
    check.verdict.house_turns_of_other_versions += u64::from(is_of_other_version);
    Ok(())
}

/// Derives the hint in a letter's cause again, unless it was checked before. Counts a hint of another
/// version.
///
/// # Errors
/// Returns what is wrong, as a clause.
pub(super) fn check_hint(check: &mut Check, cause: &LetterCause) -> Result<(), String> {
    let Some((hint, game_match)) = cause.hint.as_ref().zip(check.current.as_ref()) else { return Ok(()) };
    if check.house.is_none() {
        return Ok(());
    }
    if hint.version != house::version(game_match.game) {
        check.verdict.house_turns_of_other_versions += 1;
        return Ok(());
    }
    if check.pending[0].link.seq <= check.checked_until {
        return Ok(());
    }
    let seen = ledger::what_seat_saw(&check.record_entries, cause.seat)
        .ok_or("what the seat saw cannot be derived")?;
    match game_match.hint(&seen).as_ref() == Some(hint) {
        true => Ok(()),
        false => Err("the house gives another hint there".to_owned()),
    }
}
