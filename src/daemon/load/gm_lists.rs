//! Loads the rows that only GMs ask for: letters by their digests, lists of matches, and the readers of
//! announcements.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};

use crate::daemon::Office;
use crate::game::any::GameKind;
use crate::referee::{MatchOverview, Readership, Stage};
use crate::store::Player;

/// Time for which the list of ended matches shows a match.
const SHOWN: TimeDelta = TimeDelta::days(30);

/// Maximum matches in that list.
const MAX_ENDED: usize = 100;

/// Matches whose seats are loaded in one query.
const CHUNK: usize = 200;

/// Returns the IDs of the matches that ended in the last 30 days, the latest first.
pub async fn matches_ended_lately(office: &Office, now: DateTime<Utc>) -> anyhow::Result<Vec<String>> {
    let mut ended: Vec<String> = Vec::new();
    for entry in office.store.entries_since("MatchEnded", now - SHOWN).await?.into_iter().rev() {
        // A match that was reopened may have ended twice.
        if !ended.contains(&entry.chain) && ended.len() < MAX_ENDED {
            ended.push(entry.chain);
        }
    }
    Ok(ended)
}

/// Returns the players who get an announcement to this readership: neither the house, nor blocked ones, nor those who want
/// no challenges and announcements.
pub async fn readers_of_announcements(office: &Office, readers: Readership) -> anyhow::Result<Vec<Player>> {
    let mut players = office.store.players().await?;
    players.retain(|player| !player.addresses.is_empty() && !player.is_house());
    if let Readership::Game(game) = readers {
        let playing = players_of(office, game).await?;
        players.retain(|player| playing.contains(&player.id));
    }
    let addresses: Vec<String> = players.iter().flat_map(|player| player.addresses.clone()).collect();
    let mut unwilling: BTreeSet<String> = BTreeSet::new();
    for chunk in addresses.chunks(CHUNK) {
        for (address, standing) in office.store.standings(chunk).await? {
            if standing.unwilling_since.or(standing.blocked_since).is_some() {
                unwilling.insert(address);
            }
        }
    }
    players.retain(|player| !player.addresses.iter().any(|address| unwilling.contains(address)));
    Ok(players)
}

/// Returns the IDs of the players in the matches of a game that are not over.
async fn players_of(office: &Office, game: GameKind) -> anyhow::Result<BTreeSet<i64>> {
    let mut ids: Vec<String> = Vec::new();
    let mut take = |overview: MatchOverview| {
        if overview.stage != Stage::Over && overview.game == game {
            ids.push(overview.id);
        }
    };
    office.store.list_matches(None, &mut take).await?;
    let mut players = BTreeSet::new();
    for chunk in ids.chunks(CHUNK) {
        players.extend(office.store.seats_of(chunk).await?.into_iter().map(|row| row.player.id));
    }
    Ok(players)
}
