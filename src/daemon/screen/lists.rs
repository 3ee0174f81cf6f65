//! Loads what the lists of matches, people and events show.

use crate::club::member::number;
use crate::daemon::Office;
use crate::referee::{MatchOverview, Stage};
use crate::web::screen::lists::{EventLine, Filtered, PersonLine};

/// Maximum rows of a list.
const MAX_ROWS: usize = 200;

/// Returns the matches that contain each of these words in their ID, names, game, event or state: those that run first.
pub async fn matches(office: &Office, words: &str) -> anyhow::Result<Filtered<MatchOverview>> {
    let (now, wanted) = (office.now(), Wanted::of(words));
    let mut found = Vec::new();
    let mut take = |overview: MatchOverview| {
        let MatchOverview { id, players, game, stage, event, protest, .. } = &overview;
        let state = [(overview.is_late(now), "late"), (protest.is_some(), "protest")];
        let state = state.into_iter().filter(|(holds, _)| *holds).map(|(_, word)| word);
        let text = [id.as_str(), &players.first, &players.second, game.name(), game.key(), stage.as_str()];
        if wanted.are_in(text.into_iter().chain(event.as_deref()).chain(state)) {
            found.push(overview);
        }
    };
    office.store.list_matches(None, &mut take).await?;
    found.sort_by_key(|overview| match overview.stage {
        Stage::Running => 0,
        Stage::Paused => 1,
        Stage::Over => 2,
    });
    Ok(filtered(words, found))
}

/// Returns the people who have each of these words in their number, name or addresses.
pub async fn people(office: &Office, words: &str) -> anyhow::Result<Filtered<PersonLine>> {
    let wanted = Wanted::of(words);
    let mut found = Vec::new();
    for player in office.store.players().await? {
        let is_house = player.addresses.first().is_some_and(|address| !address.contains('@'));
        let number = number(player.id);
        let text = [number.as_str(), &player.name].into_iter();
        if !is_house && wanted.are_in(text.chain(player.addresses.iter().map(String::as_str))) {
            let (name, addresses, bouncing) = (player.name, player.addresses, player.bouncing);
            found.push(PersonLine { number, name, addresses, bouncing });
        }
    }
    Ok(filtered(words, found))
}

/// Returns the events that have each of these words in their ID, name, game or stage.
pub async fn events(office: &Office, words: &str) -> anyhow::Result<Filtered<EventLine>> {
    let wanted = Wanted::of(words);
    let mut found = Vec::new();
    for row in office.store.events().await? {
        if wanted.are_in(
            [row.id.as_str(), &row.name, row.game.name(), row.game.key(), row.stage.as_str()].into_iter(),
        ) {
            found.push(EventLine { id: row.id, name: row.name, game: row.game, stage: row.stage.as_str() });
        }
    }
    Ok(filtered(words, found))
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

fn filtered<T>(words: &str, mut rows: Vec<T>) -> Filtered<T> {
    let more = rows.len().saturating_sub(MAX_ROWS);
    rows.truncate(MAX_ROWS);
    Filtered { words: words.trim().to_owned(), rows, more }
}
