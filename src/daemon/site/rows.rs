//! The rows that the site shows, with the names that may be public.

use std::collections::BTreeMap;

use chrono::Months;

use crate::club::member::number;
use crate::daemon::Office;
use crate::daemon::load::load_event;
use crate::game::BySeat;
use crate::game::any::GameKind;
use crate::referee::Offer;
use crate::store::SiteMatchRow;
use crate::web::events::{EventNews, ListedEvent};
use crate::web::listed::{ListedMatch, ListedMember, ListedRating, OpenSeat};
use crate::web::pages::SiteContents;
use crate::web::plot::PlotPoint;

/// The players by number: their names, or `P-12` for one who is not public.
pub struct Members {
    names: BTreeMap<i64, String>,
    /// The name of the player with this address.
    by_address: BTreeMap<String, String>,
}

impl Members {
    /// Returns the names of a match's players that the club shows.
    pub fn names(&self, row: &SiteMatchRow) -> BySeat<String> {
        BySeat::from_fn(|seat| match row.players[seat] {
            // The name in the match, unless the player is not public: a match keeps the names under which it
            // was played.
            Some(player) => match self.names.get(&player) {
                Some(name) if *name != number(player) => row.names[seat].clone(),
                Some(_) | None => number(player),
            },
            None => row.names[seat].clone(),
        })
    }
}

/// Loads the players.
pub async fn members(office: &Office) -> anyhow::Result<Members> {
    let mut members = Members { names: BTreeMap::new(), by_address: BTreeMap::new() };
    for player in office.store.listed_players().await? {
        let name = if player.member.public { player.name } else { number(player.id) };
        if let Some(address) = player.address {
            members.by_address.insert(address, name.clone());
        }
        members.names.insert(player.id, name);
    }
    Ok(members)
}

/// Loads what all pages except the replays show.
pub async fn contents(
    office: &Office,
    rows: &[SiteMatchRow],
    members: &Members,
) -> anyhow::Result<SiteContents> {
    let matches: Vec<ListedMatch> = rows
        .iter()
        .map(|row| ListedMatch {
            id: row.id.clone(),
            game: row.game,
            names: members.names(row),
            players: row.players,
            options: changed_options(row),
            event: row.event.clone(),
            turn: row.turn,
            end: row.end.as_ref().map(|(outcome, at, _)| (outcome.clone(), *at)),
        })
        .collect();
    let events = events(office).await?;
    let listed = listed_members(office, &matches, &events, members).await?;
    Ok(SiteContents {
        matches,
        members: listed,
        ratings: ratings(office).await?,
        seats: seats(office, members).await?,
        events,
        hero: None,
    })
}

/// Returns the options that differ from the game's defaults.
fn changed_options(row: &SiteMatchRow) -> String {
    let default =
        |name: &str| row.game.option_rules().iter().find(|rule| rule.name == name).map(|rule| rule.default);
    let changed = row.options.iter().filter(|(name, value)| default(name) != Some(value.as_str()));
    changed.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(", ")
}

/// Returns the players who have a match or a place in an event.
async fn listed_members(
    office: &Office,
    matches: &[ListedMatch],
    events: &[ListedEvent],
    members: &Members,
) -> anyhow::Result<Vec<ListedMember>> {
    let mut played: Vec<i64> =
        matches.iter().flat_map(|listed| [listed.players.first, listed.players.second]).flatten().collect();
    for event in events.iter().map(|listed| &listed.event) {
        played.extend(&event.entrants);
        played.extend(event.seasons.iter().flat_map(|season| &season.list));
    }
    played.sort_unstable();
    played.dedup();
    // Begin with a whole day, so that a build a minute later counts the same.
    let since = office.now().date_naive().checked_sub_months(Months::new(12)).unwrap_or_default();
    let since = since.and_time(chrono::NaiveTime::MIN).and_utc();
    let mut listed = Vec::with_capacity(played.len());
    for id in played {
        let Some(name) = members.names.get(&id).cloned() else { continue };
        listed.push(ListedMember {
            id,
            name,
            reliability: office.store.public_reliability(id, since).await?,
        });
    }
    Ok(listed)
}

async fn events(office: &Office) -> anyhow::Result<Vec<ListedEvent>> {
    let mut events = Vec::new();
    for row in office.store.events().await? {
        let Some(loaded) = load_event(office, &row.id).await? else { continue };
        let mut season = 0;
        let mut news = Vec::new();
        for entry in office.store.book(&row.id).await? {
            let told = match entry.kind.as_str() {
                "EventAnnounced" => EventNews::Announced,
                "SectionsDrawn" => {
                    season += 1;
                    EventNews::Drawn(season)
                }
                "StandingsClosed" => EventNews::Closed(season),
                "Cancelled" => EventNews::Cancelled,
                _ => continue,
            };
            news.push((entry.at, told));
        }
        events.push(ListedEvent { event: loaded.event, news });
    }
    Ok(events)
}

async fn ratings(office: &Office) -> anyhow::Result<Vec<ListedRating>> {
    let mut ratings = Vec::new();
    for game in GameKind::ALL {
        for row in office.store.ratings_in(*game).await? {
            let after = row.change.after;
            let point =
                PlotPoint { figure: after.points(), deviation: (after.deviation + 50).div_euclid(100) };
            let player = row.change.player;
            let results = row.change.no;
            ratings.push(ListedRating { player, game: *game, point, shown: after.shown(), results });
        }
    }
    ratings.sort_by_key(|rating| (rating.player, rating.game, rating.results));
    Ok(ratings)
}

/// Returns the seats that anybody may take.
async fn seats(office: &Office, members: &Members) -> anyhow::Result<Vec<OpenSeat>> {
    let mut seats = Vec::new();
    for invitation in office.store.open_invitations(None).await? {
        if invitation.invited.is_some() || invitation.lapses_at <= office.now() {
            continue;
        }
        let Some(by) = members.by_address.get(&invitation.inviter) else { continue };
        let Ok(offer) = serde_json::from_str::<Offer>(&invitation.offer) else { continue };
        seats.push(OpenSeat {
            code: invitation.code,
            by: by.clone(),
            game: invitation.game.name(),
            days: offer.days.unwrap_or(office.config.terms.days),
        });
    }
    Ok(seats)
}
