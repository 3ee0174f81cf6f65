//! Results: matches that ended or were reopened since the event last looked at them.

use super::book::{self, keep, record};
use crate::club::events::event::Pairing;
use crate::club::events::own_time::{MatchEnd, last_end};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedEvent, or_lacking};
use crate::ledger::book::{BookCause, BookFact, BookOutcome, BookResult};
use crate::referee::Stage;
use crate::store::EventEnd;

/// Records the results of matches, and voids those of matches that were reopened.
pub fn look_at(desk: &mut Desk<'_>, event_id: &str, matches: &[String]) -> Decided<()> {
    let Some(mut loaded) = desk.event(event_id)? else { return Ok(()) };
    for id in matches {
        or_lacking(desk.rows.entries(id))?;
        or_lacking(desk.game_match(id))?;
    }
    desk.rows.check()?;
    for id in matches {
        let ended = end_of(desk, id)?;
        take_end(desk, &mut loaded, id, ended);
    }
    keep(desk, loaded);
    Ok(())
}

/// Returns how a match ended, or `None` while it runs.
pub fn end_of(desk: &Desk<'_>, id: &str) -> Decided<Option<MatchEnd>> {
    let entries = desk.rows.entries(id)?;
    let Some(found) = desk.game_match(id)? else { return Ok(None) };
    Ok(if found.game_match.stage == Stage::Over { last_end(entries) } else { None })
}

fn take_end(desk: &mut Desk<'_>, loaded: &mut LoadedEvent, id: &str, ended: Option<MatchEnd>) {
    let Some(season) = loaded.event.running() else { return };
    let ends = season.ends;
    let Some(game) = season.games.iter().find(|game| game.match_id.as_deref() == Some(id)).cloned() else {
        return;
    };
    if let Some(end) = game.result.as_ref().and_then(|result| result.end) {
        record(desk, loaded, &BookCause::Clock {}, BookFact::ResultVoided { match_id: id.to_owned(), end });
    }
    let end = ended.as_ref().map(|ended| ended.end);
    match ended {
        Some(ended) if ended.outcome != BookOutcome::None || desk.at() >= ends => {
            enter(desk, loaded, &game, &ended, ended.outcome, &BookCause::Clock {});
        }
        // A match without a result waits for a GM until the end of the season.
        _ => desk.draft.changes.event_ends.push(EventEnd { match_id: id.to_owned(), end, counts: false }),
    }
}

/// Records the result of a match that is over.
pub fn enter(
    desk: &mut Desk<'_>,
    loaded: &mut LoadedEvent,
    game: &Pairing,
    ended: &MatchEnd,
    outcome: BookOutcome,
    cause: &BookCause,
) {
    let result = BookResult {
        match_id: game.match_id.clone(),
        end: Some(ended.end),
        outcome,
        vanished: ended.vanished,
        own: ended.own,
    };
    let season = loaded.event.season().map_or(0, |season| season.no);
    let (first, second) = (game.first, game.second);
    book::record(desk, loaded, cause, BookFact::ResultEntered { season, first, second, result });
    let match_id = game.match_id.clone().unwrap_or_default();
    desk.draft.changes.event_ends.push(EventEnd { match_id, end: Some(ended.end), counts: true });
}
