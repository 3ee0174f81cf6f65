//! Reads letters, and finds the rows that they refer to.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::daemon::decide::budgets::CLUB;
use crate::daemon::decide::in_work::InWork;
use crate::daemon::decide::one_letter::{ReadLetter, ReadResult};
use crate::daemon::decide::returned;
use crate::daemon::decide::settings::{Settings, Step};
use crate::daemon::decide::undecided::Wanted;
use crate::daemon::parallel::par_map;
use crate::letter::{Automatic, Letter, Limits};
use crate::store::WaitingLetter;

/// Parses letters in parallel, and notes the ones in progress.
pub fn read_letters(settings: &Settings, letters: Vec<WaitingLetter>, in_work: &InWork) -> Vec<ReadLetter> {
    let read = par_map(&letters, |letter| {
        let _in_work = in_work.enter(letter.digest);
        read_waiting(settings, letter)
    });
    let letters = letters.into_iter().zip(read);
    letters.map(|(waiting, read)| ReadLetter { waiting, read }).collect()
}

/// Parses a waiting letter. A letter that a GM has accepted counts as a person's, and may exceed the limits.
fn read_waiting(settings: &Settings, letter: &WaitingLetter) -> Option<ReadResult> {
    if letter.accepted_by.is_none() {
        return read(settings, &letter.raw);
    }
    let mut read = read_within(settings, &letter.raw, &Limits::generous())?;
    if let Ok(letter) = &mut read {
        letter.automatic = None;
    }
    Some(read)
}

/// Parses a letter. Returns `None` if that panicked.
pub fn read(settings: &Settings, raw: &[u8]) -> Option<ReadResult> {
    read_within(settings, raw, &settings.config.letters.limits())
}

fn read_within(settings: &Settings, raw: &[u8], limits: &Limits) -> Option<ReadResult> {
    let read = || {
        settings.spring(Step::Read, raw);
        Letter::read(raw, &settings.own, limits)
    };
    catch_unwind(AssertUnwindSafe(read)).ok()
}

/// Returns the rows that letters refer to, as far as they are known before anything is loaded.
pub fn wanted(letters: &[ReadLetter]) -> Wanted {
    let mut wanted = Wanted::default();
    for letter in letters {
        match &letter.read {
            Some(Ok(letter)) => add_wanted(letter, &mut wanted),
            Some(Err(unreadable)) => {
                let address = unreadable.answerable.iter();
                for address in address.map(|address| address.as_str().to_owned()) {
                    wanted.readers.insert(address.clone());
                    wanted.budgets.extend([CLUB.to_owned(), address]);
                }
                add_returned(unreadable.automatic.as_ref(), &mut wanted);
            }
            None => {}
        }
    }
    wanted
}

fn add_wanted(letter: &Letter, wanted: &mut Wanted) {
    wanted.tokens.extend(letter.tokens.iter().map(ToString::to_string));
    wanted.texts.extend(letter.thread().cloned());
    add_returned(letter.automatic.as_ref(), wanted);
    if letter.automatic.is_none() {
        // The sender may be blocked.
        wanted.senders.insert(letter.from.as_str().to_owned());
    }
    // A seat's answer goes to its player's first address, which is looked up by the token.
    if letter.tokens.is_empty() && letter.automatic.is_none() {
        let from = letter.from.as_str();
        wanted.addresses.insert(from.to_owned());
        wanted.readers.insert(from.to_owned());
        wanted.budgets.extend([CLUB.to_owned(), from.to_owned()]);
    }
}

fn add_returned(automatic: Option<&Automatic>, wanted: &mut Wanted) {
    if let Some(automatic) = automatic.filter(|automatic| returned::failed(automatic).is_some()) {
        wanted.dispatches.extend(automatic.about().iter().cloned());
        wanted.return_ids.extend(automatic.return_ids().iter().map(|id| id.as_str().to_owned()));
    }
}
