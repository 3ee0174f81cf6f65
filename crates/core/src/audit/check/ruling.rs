//! Repeats rulings from the causes that entries name.
//!
//! Checks the turns and hints of the house, and the data that it was given for them.

use std::fmt::Display;
use std::sync::Arc;

use serde_json::Value;

use super::state::{Check, short};
use crate::audit::{Finding, Place};
use crate::game::any::GameKind;
use crate::house;
use crate::ledger::{
    self, Act, Cause, Entry, EntryCause, Fact, HousePlay, LetterCause, Lot, PinnedLot, SealKey,
};
use crate::letter::{Letter, NewText};
use crate::referee::{self, Matter, Opening, Ruling, digest_of};

/// Repeats the ruling on the cause of the first pending entry.
pub(super) fn repeat(check: &mut Check) -> Result<Ruling, Finding> {
    let seq = check.pending[0].link.seq;
    let at = check.pending[0].link.at;
    if check.current.is_none() {
        return opening(check, &check.pending[0].json);
    }
    let letter;
    let matter = match check.pending[0].cause.clone() {
        Some(Cause::Letter(cause)) => {
            letter = letter_again(check, *cause)?;
            Matter::Letter(&letter)
        }
        Some(Cause::Clock { phase }) => Matter::Clock { phase },
        Some(Cause::Gm { name, phase, act }) => Matter::Gm { name, phase, act: complete(check, act)? },
        Some(Cause::Program { phase, act }) => Matter::Program { phase, act: complete(check, act)? },
        Some(Cause::House { phase, play }) => {
            check_turn(check, seq, &play).map_err(|what| Finding::at_entry(seq, what))?;
            Matter::House { phase, play }
        }
        None if check.pending[0].link.of.is_some() => {
            return Err(Finding::at_entry(seq, "nothing in the match causes it: it was inserted"));
        }
        None => return Err(Finding::at_entry(seq, "its cause is unknown")),
    };
    let Some(game_match) = &check.current else {
        return Err(Finding::at_entry(seq, "the ledger does not start with the opening of the match"));
    };
    Ok(referee::rule(game_match, &matter, at))
}

/// Completes an act with data that only the match stores.
fn complete(check: &Check, mut act: Act) -> Result<Act, Finding> {
    if check.snapshot.as_ref().is_some_and(|snapshot| act.complete(snapshot)) {
        Ok(act)
    } else {
        let what = "the match does not keep what its act names by a digest";
        Err(Finding::at(Place::Entry(check.pending[0].link.seq), what))
    }
}

/// Reads the letter that the first pending entry names, and compares it with its cause.
fn letter_again(check: &mut Check, cause: LetterCause) -> Result<referee::SeatLetter, Finding> {
    let seq = check.pending[0].link.seq;
    if !check.ruled_letters.insert(short(&cause.letter)) {
        return Err(Finding::at_entry(seq, "its letter was ruled on before"));
    }
    let (letter, written) = letter_of_cause(check, &cause).map_err(|why| in_letter(&cause, seq, why))?;
    check_hint(check, &cause).map_err(|what| Finding::at_entry(seq, what))?;
    let Some(game_match) = &check.current else {
        return Err(Finding::at_entry(seq, "the ledger does not start with the opening of the match"));
    };
    let read = referee::prepare(game_match, cause.clone(), &letter, written);
    read.map_err(|no_part| in_letter(&cause, seq, no_part))
}

/// Returns a finding in the letter of this cause, which entry `seq` names.
pub(super) fn in_letter(cause: &LetterCause, seq: u64, reason: impl Display) -> Finding {
    Finding::at(Place::Letter(cause.letter), format!("{reason}; entry #{seq} names it"))
}

/// Returns a letter and its new text, if it is stored as its cause says and the player of its seat sent it.
pub(super) fn letter_of_cause(
    check: &Check,
    cause: &LetterCause,
) -> Result<(Arc<Letter>, NewText), &'static str> {
    let Some((read, new_text)) = check.letters.get(&cause.letter) else { return Err("it is missing") };
    if cause.received != read.received_at {
        return Err("it is stored with another time of arrival");
    }
    if !read.is_ruled {
        return Err("it is not stored as ruled on");
    }
    let letter = read.letter.as_ref().map_err(|why| *why)?;
    if check.holders.sender_seat(letter, cause) != Some(cause.seat) {
        return Err("it has no reply token of a seat whose player sent it");
    }
    Ok((Arc::clone(letter), new_text.clone()))
}

/// Repeats the opening of the match.
fn opening(check: &Check, first: &str) -> Result<Ruling, Finding> {
    opening_versions(first).map_err(|what| Finding::at_entry(1, what))?;
    let first: Entry = serde_json::from_str(first).map_err(|_| Finding::at_entry(1, "it cannot be read"))?;
    let Fact::MatchOpened {
        game,
        options,
        players,
        house,
        terms,
        settings,
        mail_identity,
        key: pin,
        holders,
        lot: pinned_lot,
        rating,
        ..
    } = first.fact
    else {
        return Err(Finding::at_entry(1, "the ledger does not start with the opening of the match"));
    };
    let Some(key) = check.snapshot.as_ref().and_then(|game_match| game_match.key_pinned_by(pin)) else {
        let what = "its secret is not the one that entry #1 pins";
        return Err(Finding::at(Place::Kept("the snapshot"), what));
    };
    let Ok(terms) = serde_json::from_value(terms) else {
        return Err(Finding::at_entry(1, "its terms are unknown"));
    };
    let EntryCause::Cause(cause) = first.cause else {
        return Err(Finding::at_entry(1, "its cause is unknown"));
    };
    let lot = lot_pinned_as(check, pinned_lot.as_deref(), &key, &cause)?;
    let opening = Opening {
        id: first.match_id,
        game,
        choices: options,
        players,
        house,
        terms,
        settings: *settings,
        mail_identity: *mail_identity,
        key,
        lot,
        holders: holders.map(|holders| *holders),
        rating: rating.map(|basis| *basis),
    };
    game.start_with(&opening.choices).map_err(|unknown| Finding::at_entry(1, unknown))?;
    Ok(referee::open(opening, cause, first.at))
}

/// Returns the lot that the opening pins, if the secret of the match and the seats follow from it.
fn lot_pinned_as(
    check: &Check,
    pinned: Option<&PinnedLot>,
    secret: &SealKey,
    cause: &Cause,
) -> Result<Option<Lot>, Finding> {
    let Some(pinned) = pinned else { return Ok(None) };
    let kept = check.snapshot.as_ref().and_then(|game_match| game_match.lot.as_ref());
    let Some(lot) = kept.filter(|lot| lot.pinned() == *pinned) else {
        return Err(Finding::at(Place::Kept("the snapshot"), "its lot is not the one that entry #1 pins"));
    };
    let Some(opened_by) = cause.letters().next() else {
        return Err(Finding::at(Place::Entry(1), "it has a lot, but no letter opened the match"));
    };
    if lot.secret(opened_by) != *secret {
        let what = "its secret does not come from its lot and from the letter that opened the match";
        return Err(Finding::at(Place::Entry(1), what));
    }
    if !lot.has_drawn_seat(opened_by) {
        return Err(Finding::at(Place::Entry(1), "its seats are not those that the lot draws"));
    }
    Ok(Some(lot.clone()))
}

/// Checks that this program knows the format and the rules that the first entry names.
pub(super) fn opening_versions(first: &str) -> Result<(), String> {
    let first: Value = serde_json::from_str(first).map_err(|_| "it cannot be read".to_owned())?;
    let Some(game) = first["body"]["game"].as_str().and_then(GameKind::parse) else { return Ok(()) };
    ledger::knows_format(version(&first, "format").unwrap_or_default())?;
    game.knows_rules(version(&first, "rules").unwrap_or_default())
}

fn version(first: &Value, name: &str) -> Option<u32> {
    first["body"][name].as_u64().and_then(|number| u32::try_from(number).ok())
}

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
    if game_match.hint(&seen).as_ref() == Some(hint) {
        Ok(())
    } else {
        Err("the house gives another hint there".to_owned())
    }
}
