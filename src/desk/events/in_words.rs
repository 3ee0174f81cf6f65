//! Words of players about events: the events that they are about, and where these stand. Nothing is done.

use chrono::NaiveDate;

use super::{entering, shown};
use crate::club::events::event::{EventStage, Pairing};
use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedEvent};
use crate::game::Line;
use crate::language::{self, GmWords, LANGUAGES, Word};
use crate::letter::split_words;
use crate::referee::{EventWord, Reply};
use crate::request::wish::{Topic, read_remarks};

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
    let says_event = words.iter().any(|word| language::any_has(word, |language| &language.club.events));
    let speaks = says_event || is_about_ranking(lines);
    let names_some = |text: &str| text.to_ascii_uppercase().contains("EV-");
    // A question may name an event by a word of its name.
    if !speaks && !asks(lines) && !names_some(answered) && !lines.iter().any(|line| names_some(&line.text)) {
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
    // A ranking may be that of a game.
    if meant.is_empty() && !says_event {
        return Ok(Vec::new());
    }
    let own: Option<Vec<EventWord>> = meant.iter().map(|loaded| word(desk, asker, loaded, lines)).collect();
    if let Some(own) = own.filter(|own| !own.is_empty() && !asks_for_table(lines)) {
        return Ok(own.into_iter().map(|word| Reply::EventWord { word }).collect());
    }
    let line = |loaded: &&LoadedEvent| shown::line(desk, &loaded.event, asker.zone, asker.player_id);
    let mut replies = vec![Reply::Events { events: meant.iter().map(line).collect() }];
    for loaded in meant.iter().filter(|loaded| loaded.event.stage == EventStage::Running) {
        let standings = entering::standings(desk, asker, Some(&loaded.event.plan.id), None)?;
        replies.extend(Some(standings).filter(|reply| matches!(reply, Reply::Standings { .. })));
    }
    Ok(replies)
}

/// Whether lines ask something.
fn asks(lines: &[Line]) -> bool {
    let words = words_of(lines);
    lines.iter().any(|line| line.text.contains(['?', '？']))
        || LANGUAGES.iter().any(|language| language.gm.asks.begins_at(&words, 0))
}

/// Whether lines that are about an event ask where it stands: who leads, or in which place somebody is.
fn asks_for_table(lines: &[Line]) -> bool {
    let spoken = read_remarks(lines, "", false, NaiveDate::default());
    let names_place = || {
        let words = words_of(lines);
        LANGUAGES.iter().any(|language| match language.joined {
            true => lines.iter().any(|line| language.club.places.any_joined_in(&line.text)),
            false => language.club.places.any_in(&words),
        })
    };
    is_about_ranking(lines) || [spoken.topic, spoken.also].contains(&Some(Topic::Report)) || names_place()
}

fn is_about_ranking(lines: &[Line]) -> bool {
    let spoken = read_remarks(lines, "", false, NaiveDate::default());
    [spoken.topic, spoken.also].contains(&Some(Topic::Ranking))
}

fn words_of(lines: &[Line]) -> Vec<Word> {
    let words = lines.iter().flat_map(|line| split_words(&line.text));
    words.map(|word| Word::new(language::fold(word), 0, 0)).collect()
}

/// Whether lines are about leaving something, or dropping a part of it.
fn is_about_leaving(lines: &[Line]) -> bool {
    let words = words_of(lines);
    let spoken = read_remarks(lines, "", false, NaiveDate::default());
    LANGUAGES.iter().any(|language| {
        let GmWords { strike, forfeit, abandon, .. } = &language.gm;
        [strike, forfeit, abandon].into_iter().any(|list| list.any_in(&words))
    }) || spoken
        .topic
        .into_iter()
        .chain(spoken.also)
        .any(|topic| matches!(topic, Topic::Leave | Topic::Resign))
}

/// Returns the answer about an event. `None` unless the asker plays in its running season.
fn word(desk: &Desk<'_>, asker: &Asker, loaded: &LoadedEvent, lines: &[Line]) -> Option<EventWord> {
    let player = asker.player_id?;
    let season = loaded.event.running().filter(|season| season.list.contains(&player))?;
    let is_own = |game: &&Pairing| game.first == player || game.second == player;
    Some(EventWord {
        id: loaded.event.plan.id.clone(),
        name: loaded.event.plan.name.clone(),
        ends: desk.local_time_in(asker.zone, season.ends),
        matches: season.games.iter().filter(is_own).count(),
        open: season.open_games_of(player).count(),
        leaves: is_about_leaving(lines),
    })
}
