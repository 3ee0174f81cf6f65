//! Words of players about events: the events that they are about, and where these stand. Nothing is done.

use super::{entering, shown};
use crate::club::events::event::EventStage;
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedEvent};
use crate::game::Line;
use crate::language;
use crate::letter::split_words;
use crate::referee::Reply;

/// Maximum events that an answer shows.
const MAX_SHOWN: usize = 3;

/// Maximum bytes of a letter to search.
const MAX_SEARCHED: usize = 4_000;

/// Minimum letters of a word of an event's name that means it.
const DISTINCT: usize = 5;

/// Returns the events that a letter is about, and the tables of those that run: those that its lines or the letter that
/// it answers name or, if its lines speak of events at all, those that are open.
pub fn about_events(desk: &Desk<'_>, asker: &Asker, lines: &[Line], answered: &str) -> Decided<Vec<Reply>> {
    if lines.iter().map(|line| line.text.len() + 1).sum::<usize>() > MAX_SEARCHED {
        return Ok(Vec::new());
    }
    let words: Vec<String> =
        lines.iter().flat_map(|line| split_words(&line.text)).map(language::fold).collect();
    let speaks = words.iter().any(|word| language::any_has(word, |language| &language.club.events));
    let names_some = |text: &str| text.to_ascii_uppercase().contains("EV-");
    if !speaks && !names_some(answered) && !lines.iter().any(|line| names_some(&line.text)) {
        return Ok(Vec::new());
    }
    let open = desk.open_events()?;
    let is_named = |loaded: &&LoadedEvent| {
        let plan = &loaded.event.plan;
        let names_id = |text: &str| text.to_ascii_uppercase().contains(&plan.id);
        let is_meant = |word: String| word.chars().count() >= DISTINCT && words.contains(&word);
        names_id(answered)
            || lines.iter().any(|line| names_id(&line.text))
            || split_words(&plan.name).map(language::fold).any(is_meant)
    };
    let mut meant: Vec<&LoadedEvent> = open.iter().filter(is_named).collect();
    if meant.is_empty() && speaks {
        meant = open.iter().collect();
    }
    meant.truncate(MAX_SHOWN);
    if meant.is_empty() && !speaks {
        return Ok(Vec::new());
    }
    let line = |loaded: &&LoadedEvent| shown::line(desk, &loaded.event, asker.zone, asker.player_id);
    let mut replies = vec![Reply::Events { events: meant.iter().map(line).collect() }];
    for loaded in meant.iter().filter(|loaded| loaded.event.stage == EventStage::Running) {
        let standings = entering::standings(desk, asker, Some(&loaded.event.plan.id), None)?;
        replies.extend(Some(standings).filter(|reply| matches!(reply, Reply::Standings { .. })));
    }
    Ok(replies)
}
