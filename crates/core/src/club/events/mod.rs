//! Events: leagues, cups and ladders that run themselves. All consist of sections in which everybody plays
//! everybody.
//!
//! Each module uses only those above it:
//!
//! - `keys`: the keys of a plan, and a plan to copy
//! - `plan`: the checked plan that a GM announces
//! - `sections`: the division of the entrants into sections, the seats of their matches, the table of a section, and
//!   the order in which its players rise, fall and go on
//! - `own_time`: how long each side of a match kept the other waiting, as the ledger shows, and the ends of a match, as its
//!   event counts them
//! - `event`: the state of an event, as its book shows it
//! - `seasons`: the list of players for the next season, and the time for which vanished players cannot enter
//! - `steps`: the steps that are due in an event
//! - `verify`: the check that a book is consistent with itself
//!
//! Checks that a book is consistent with itself: that each entry follows from the one before it, each draw from
//! the figures that it names and the earlier places, and each table from the results. Needs nothing but the book,
//! whose chain the caller has followed.

use self::event::{BookError, Event};
use crate::ledger::book::{BookEntry, BookFact};

pub mod event;
pub mod keys;
pub mod own_time;
pub mod plan;
pub mod seasons;
pub mod sections;
pub mod steps;

#[cfg(test)]
mod tests;

/// Checks the entries of a book, in order. Returns what is wrong, each with the entry where it shows.
pub fn verify(entries: &[BookEntry]) -> Vec<BookError> {
    let mut faults = Vec::new();
    for at in 1..=entries.len() {
        // Recompute only the entries that the engine derives, each from the book before it. The last round
        // folds the whole book.
        let next = entries.get(at);
        if next.is_some_and(|entry| !is_derived(&entry.fact)) {
            continue;
        }
        let event = match Event::fold(&entries[..at], &|player| player) {
            Ok(event) => event,
            Err(error) => return vec![error],
        };
        faults.extend(next.and_then(|next| Some(BookError { seq: next.seq, what: differs(&event, next)? })));
    }
    faults
}

/// Whether the engine derives a fact from those before it.
fn is_derived(fact: &BookFact) -> bool {
    matches!(fact, BookFact::SectionsDrawn { given: false, .. } | BookFact::StandingsClosed { .. })
}

/// Returns how a derived entry differs from what follows from the book before it.
fn differs(event: &Event, entry: &BookEntry) -> Option<String> {
    match &entry.fact {
        BookFact::SectionsDrawn { figures, .. } => {
            let drawn = event.draw(&figures.iter().copied().collect(), entry.at);
            (drawn != entry.fact)
                .then(|| "these are not the sections that follow from its figures".to_owned())
        }
        BookFact::StandingsClosed { .. } => {
            let unfinished = event.running()?.games.iter().filter(|game| game.result.is_none()).count();
            if unfinished > 0 {
                return Some(format!("the season was closed while {unfinished} matches had no result"));
            }
            let closed = event.closing();
            (closed.as_ref() != Some(&entry.fact)).then(|| "these are not the places that follow".to_owned())
        }
        _ => None,
    }
}
