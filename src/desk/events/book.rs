//! The book of an event, as a decision writes it.

use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::LoadedEvent;
use crate::ledger::book::{BookCause, BookFact, ChainedBookEntry};
use crate::store::EntryRow;

/// Adds a fact to a book.
pub fn record(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, cause: &BookCause, fact: BookFact) {
    let chained = loaded.event.record(desk.at(), cause, fact);
    add(desk, chained);
}

/// Adds an entry that an event has just recorded.
pub fn add(desk: &mut Desk<'_>, ChainedBookEntry { entry, json, hash }: ChainedBookEntry) {
    let letters = match entry.cause {
        BookCause::Letter(letter) => vec![letter],
        BookCause::Gm { .. } | BookCause::Clock {} => Vec::new(),
    };
    let kind = entry.fact.kind().to_owned();
    let row = EntryRow { chain: entry.event, seq: entry.seq, at: entry.at, kind, json, hash, letters };
    desk.draft.changes.book_entries.push(row);
}

/// Adds a changed event to the draft.
pub fn keep(desk: &mut Desk<'_>, mut loaded: LoadedEvent) {
    let ends = loaded.event.running().map(|season| season.ends);
    if loaded.told.ends.map(|(at, _)| at) != ends {
        let zone = desk.club.config.terms.zone;
        loaded.told.ends = ends.map(|at| (at, at.with_timezone(&zone).naive_local()));
    }
    desk.draft.events.insert(loaded.event.plan.id.clone(), loaded);
}

/// Closes the matches of a season to further results, in the same transaction.
pub fn close_season(desk: &mut Desk<'_>, loaded: &LoadedEvent) {
    desk.draft.changes.closed_seasons.push(loaded.event.plan.id.clone());
}
