//! Reads letters, and finds the rows that they refer to.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::large::turn_to_decode;
use crate::desk::door::sender::{ReadLetter, ReadResult};
use crate::desk::frame::club::{ClubContext, Moment};
use crate::desk::frame::in_work::InWork;
use crate::desk::frame::parallel::par_map;
use crate::desk::frame::rows::Key;
use crate::desk::outbox::budgets::CLUB;
use crate::desk::outbox::returned;
use crate::letter::{Automatic, Letter, Limits};
use crate::store::WaitingLetter;

/// Parses letters in parallel, and notes the ones in progress.
pub fn read_letters(club: &ClubContext, letters: Vec<WaitingLetter>, in_work: &InWork) -> Vec<ReadLetter> {
    let read = par_map(&letters, |letter| {
        let _turn = turn_to_decode(&letter.raw);
        let _in_work = in_work.enter(letter.digest);
        read_waiting(club, letter)
    });
    let letters = letters.into_iter().zip(read);
    letters.map(|(waiting, read)| ReadLetter { waiting, read }).collect()
}

/// Parses a letter. Returns `None` if that panicked.
pub fn read(club: &ClubContext, raw: &[u8]) -> Option<ReadResult> {
    read_within(club, raw, &club.config.letters.limits())
}

/// Returns the keys of the rows that a letter refers to, to the extent that they are known before anything is
/// loaded.
pub fn keys_of(letter: &ReadLetter) -> Vec<Key> {
    match &letter.read {
        Some(Ok(letter)) => keys_of_read(letter),
        Some(Err(unreadable)) => {
            let address = unreadable.answerable.iter().map(|address| address.as_str().to_owned());
            let answered = address.flat_map(keys_of_answer);
            // The tokens' owners are told of a letter whose sender is unclear.
            let tokens = unreadable.tokens.iter().filter(|_| unreadable.answerable.is_none());
            let tokens = tokens.map(|token| Key::Token(token.to_string()));
            answered.chain(tokens).chain(returned_dispatches(unreadable.automatic.as_ref())).collect()
        }
        None => Vec::new(),
    }
}

/// Parses a waiting letter. A letter that a GM has accepted counts as a person's, and may exceed the limits.
fn read_waiting(club: &ClubContext, letter: &WaitingLetter) -> Option<ReadResult> {
    if letter.accepted_by.is_none() {
        return read(club, &letter.raw);
    }
    let mut read = read_within(club, &letter.raw, &Limits::generous())?;
    if let Ok(letter) = &mut read {
        letter.automatic = None;
    }
    Some(read)
}

fn read_within(club: &ClubContext, raw: &[u8], limits: &Limits) -> Option<ReadResult> {
    let read = || {
        club.inject_fault(Moment::Read, raw);
        Letter::read(raw, &club.own, limits)
    };
    catch_unwind(AssertUnwindSafe(read)).ok()
}

fn keys_of_read(letter: &Letter) -> Vec<Key> {
    let from = || letter.from.as_str().to_owned();
    let mut keys: Vec<Key> = letter.tokens.iter().map(|token| Key::Token(token.to_string())).collect();
    keys.extend(letter.thread().cloned().map(Key::Text));
    keys.extend(returned_dispatches(letter.automatic.as_ref()));
    if letter.automatic.is_none() {
        // The sender may be blocked.
        keys.push(Key::Sender(from()));
    }
    // A seat's answer goes to its player's first address, which is looked up by the token.
    if letter.tokens.is_empty() && letter.automatic.is_none() {
        keys.push(Key::Player(from()));
        keys.extend(keys_of_answer(from()));
    }
    keys
}

/// Returns the rows that an answer to this address depends on.
fn keys_of_answer(address: String) -> [Key; 2] {
    [Key::Budget(CLUB.to_owned()), Key::Budget(address)]
}

fn returned_dispatches(automatic: Option<&Automatic>) -> Vec<Key> {
    let Some(automatic) = automatic.filter(|automatic| returned::reports_failure(automatic).is_some()) else {
        return Vec::new();
    };
    let about = automatic.about.iter().cloned().map(Key::Dispatch);
    let ids = automatic.return_ids.iter().map(|id| Key::ReturnId(id.as_str().to_owned()));
    about.chain(ids).collect()
}
