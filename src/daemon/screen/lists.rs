//! Loads what the lists of matches, people and events show.

use crate::club::member::number;
use crate::daemon::Office;
use crate::daemon::load::events::stage_in_words;
use crate::referee::{MatchOverview, Stage};
use crate::web::screen::lists::{EventLine, Filtered, PersonLine};

/// Returns the matches that contain each of these words in their ID, names, game, event or state: those that run first.
pub async fn matches(office: &Office, words: &str) -> anyhow::Result<Filtered<MatchOverview>> {
    let (now, wanted) = (office.now(), Wanted::of(words));
    let mut found = Filtered::of(words);
    let mut take = |overview: MatchOverview| {
        let MatchOverview { id, players, game, stage, event, protest, .. } = &overview;
        let state = [(overview.is_late(now), "late"), (protest.is_some(), "protest")];
        let state = state.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word);
        let text = [id.as_str(), &players.first, &players.second, game.name(), game.key(), stage.as_str()];
        if wanted.are_in(text.into_iter().chain(event.as_deref()).chain(state)) {
            found.add(overview);
        }
    };
    for stage in [Stage::Running, Stage::Paused, Stage::Over] {
        office.store.list_matches(Some(stage), &mut take).await?;
    }
    Ok(found)
}

/// Returns the people who have each of these words in their number, name or addresses.
pub async fn people(office: &Office, words: &str) -> anyhow::Result<Filtered<PersonLine>> {
    let wanted = Wanted::of(words);
    let mut found = Filtered::of(words);
    for player in office.store.players().await? {
        let number = number(player.id);
        let text = [number.as_str(), &player.name].into_iter();
        if !player.is_house() && wanted.are_in(text.chain(player.addresses.iter().map(String::as_str))) {
            let (name, addresses, bouncing) = (player.name, player.addresses, player.bouncing);
            found.add(PersonLine { number, name, addresses, bouncing });
        }
    }
    Ok(found)
}

/// Returns the events that have each of these words in their ID, name, game or stage.
pub async fn events(office: &Office, words: &str) -> anyhow::Result<Filtered<EventLine>> {
    let wanted = Wanted::of(words);
    let mut found = Filtered::of(words);
    for row in office.store.events().await? {
        let stage = stage_in_words(office, &row).await?;
        if wanted.are_in([row.id.as_str(), &row.name, row.game.name(), row.game.key(), stage].into_iter()) {
            found.add(EventLine { id: row.id, name: row.name, game: row.game, stage });
        }
    }
    Ok(found)
}

/// The words of a filter, in lower case.
struct Wanted(Vec<String>);

impl Wanted {
    fn of(words: &str) -> Wanted {
        Wanted(words.split_whitespace().map(str::to_lowercase).collect())
    }

    /// Whether each of the words is in one of the texts.
    fn are_in<'a>(&self, texts: impl Iterator<Item = &'a str>) -> bool {
        let texts: Vec<String> = texts.map(str::to_lowercase).collect();
        self.0.iter().all(|word| texts.iter().any(|text| text.contains(word)))
    }
}
