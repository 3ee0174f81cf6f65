//! Checks that a book is consistent with itself: that each entry follows from the one before it, each draw from
//! the figures that it names and the earlier places, and each table from the results. Needs nothing but the book.

use super::event::Event;
use crate::ledger::book::{BookEntry, BookFact, BookOutcome};
use crate::ledger::walk;
use crate::letter::Digest;

/// Checks the entries of a book, each as canonical JSON with its hash. Returns a sentence for each finding.
pub fn verify(rows: &[(String, Digest)]) -> Vec<String> {
    if let Err(error) = walk(rows.iter().map(|(json, hash)| (json.as_str(), *hash))) {
        return vec![error.to_string()];
    }
    let mut entries: Vec<BookEntry> = Vec::new();
    for (seq, (json, _)) in (1..).zip(rows) {
        match serde_json::from_str(json) {
            Ok(entry) => entries.push(entry),
            Err(error) => return vec![format!("entry #{seq} cannot be read: {error}")],
        }
    }
    let mut findings = Vec::new();
    for at in 1..=entries.len() {
        // Recompute only the entries that the engine derives, each from the book before it. The last round
        // folds the whole book.
        let decides = entries.get(at).is_some_and(|entry| is_derived(&entry.fact));
        if !decides && at < entries.len() {
            continue;
        }
        let event = match Event::fold(&entries[..at], &|player| player) {
            Ok(event) => event,
            Err(error) => return vec![error.to_string()],
        };
        if let Some(next) = entries.get(at) {
            findings.extend(differs(&event, next).map(|what| format!("entry #{}: {what}", next.seq)));
        }
    }
    findings
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

/// Returns the results in the book, which the ledgers of their matches must confirm: match, hash of its end,
/// outcome.
pub fn results(event: &Event) -> Vec<(String, Digest, BookOutcome)> {
    let games = event.seasons.iter().flat_map(|season| &season.games);
    let results = games.filter_map(|game| game.result.as_ref());
    results.filter_map(|result| Some((result.match_id.clone()?, result.end?, result.outcome))).collect()
}
