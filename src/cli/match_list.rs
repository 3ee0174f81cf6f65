//! `fogpost match list` and `show`: the state of matches, without anything that the rules hide.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;
use chrono::{DateTime, Utc};
use serde_json::json;

use super::arguments::{game, person, whom};
use super::output::{list_time_with_zone, print_json, print_list};
use crate::daemon::instruct::Fog;
use crate::daemon::{Office, instruct};
use crate::game::any::GameKind;
use crate::game::{BySeat, Phase};
use crate::ledger::{Entry, letter_of_protest};
use crate::letter::Digest;
use crate::referee::{Ask, Match, MatchOverview, Stage};
use crate::report::format_local;
use crate::store::MatchDates;

/// List matches
#[derive(clap::Args)]
pub(super) struct List {
    /// Only matches in this stage: running, paused, over
    #[arg(long, value_parser = ["running", "paused", "over"])]
    stage: Option<String>,
    /// Only matches of this game
    #[arg(long, value_parser = game)]
    game: Option<GameKind>,
    /// Only matches of a player, by name, a part of it, number or address
    #[arg(long, value_name = "PLAYER")]
    player: Option<String>,
    /// Only matches whose deadline has passed, or that wait for the GM to decide on missed turns or a protest
    #[arg(long)]
    late: bool,
}

impl List {
    pub(super) async fn run(self, office: &Office, json: bool) -> anyhow::Result<()> {
        let wanted = self.matches_of_player(office).await?;
        let now = office.now();
        let mut found = Vec::new();
        let mut take = |game_match: MatchOverview| {
            let fits = self.game.is_none_or(|game| game == game_match.game)
                && (!self.late || game_match.ask(now).is_some())
                && wanted.as_ref().is_none_or(|ids| {
                    ids.as_ref().is_ok_and(|ids| ids.contains(&game_match.id)) || self.names(&game_match)
                });
            if fits {
                found.push(game_match);
            }
        };
        let stage = self.stage.as_deref().and_then(Stage::parse);
        office.store.list_matches(stage, &mut take).await?;
        if let (Some(Err(nobody)), true) = (wanted, found.is_empty()) {
            bail!("{nobody}");
        }
        if json {
            return print_summaries(office, &found).await;
        }
        let rows = found.iter().map(|game_match| {
            vec![
                game_match.id.clone(),
                game_match.players.first.clone(),
                game_match.players.second.clone(),
                phase_briefly(game_match),
                waits_briefly(game_match, now),
                running_deadline(game_match)
                    .map(|due| list_time_with_zone(due, game_match.zone, now))
                    .unwrap_or_default(),
            ]
        });
        let empty = if self.late { "No match is late." } else { "No match fits." };
        print_list(&["match", "first", "second", "phase", "waits for", "due"], rows.collect(), empty);
        Ok(())
    }

    /// Returns the matches of the requested player, or why there is no such player. `None`: no player is requested.
    async fn matches_of_player(
        &self,
        office: &Office,
    ) -> anyhow::Result<Option<Result<BTreeSet<String>, String>>> {
        let Some(asked) = &self.player else { return Ok(None) };
        let whom = whom(asked).map_err(anyhow::Error::msg)?;
        let player = match person(&whom, &office.store.players().await?) {
            Ok(player) => player.id,
            Err(nobody) => return Ok(Some(Err(nobody))),
        };
        let matches = office.store.matches_of(player).await?;
        Ok(Some(Ok(matches.into_iter().map(|(_, game_match)| game_match.id).collect())))
    }

    /// Whether a player's name contains the requested text.
    fn names(&self, game_match: &MatchOverview) -> bool {
        let asked = self.player.as_deref().unwrap_or_default().to_lowercase();
        game_match.players.iter().any(|(_, name)| name.to_lowercase().contains(&asked))
    }
}

/// Number of matches whose addresses and dates are read together.
const CHUNK: usize = 200;

/// Prints matches as JSON, one per line.
async fn print_summaries(office: &Office, matches: &[MatchOverview]) -> anyhow::Result<()> {
    let fog = instruct::fog_at_terminal(office).await?;
    for chunk in matches.chunks(CHUNK) {
        let ids: Vec<String> = chunk.iter().map(|game_match| game_match.id.clone()).collect();
        let mut addresses: BTreeMap<String, BySeat<Vec<String>>> = BTreeMap::new();
        for row in office.store.seats_of(&ids).await? {
            addresses.entry(row.match_id).or_default()[row.seat] = row.player.addresses;
        }
        let dates = office.store.match_dates(&ids).await?;
        let dates: BTreeMap<&str, &MatchDates> =
            dates.iter().map(|dates| (dates.id.as_str(), dates)).collect();
        for game_match in chunk {
            let id = game_match.id.as_str();
            print_json(&summary(game_match, addresses.get(id), dates.get(id).copied(), &fog));
        }
    }
    Ok(())
}

pub(super) async fn show(office: &Office, game_match: &Match, json: bool) -> anyhow::Result<()> {
    let overview = &game_match.overview();
    if json {
        return print_summaries(office, std::slice::from_ref(overview)).await;
    }
    let fog = instruct::fog_at_terminal(office).await?;
    let options: Vec<_> =
        game_match.state.options().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let rows = [
        ("match", game_match.id.clone()),
        ("game", game_match.game.name().to_owned()),
        ("options", options.join(" ")),
        ("first", game_match.players.first.clone()),
        ("second", game_match.players.second.clone()),
        ("stage", game_match.stage.as_str().to_owned()),
        ("phase", phase(overview)),
        ("waits for", waits_for(overview, office.now())),
        ("due", due_at(overview, office.now())),
        ("ledger", ledger(overview, &fog).map(|hash| format!("sha256 {hash}")).unwrap_or_default()),
    ];
    let next = next_commands(office, overview).await?;
    for (name, value) in rows.into_iter().chain(next) {
        println!("{name:<13} {value}");
    }
    Ok(())
}

/// Returns the commands with which a GM does what the match waits for.
async fn next_commands(
    office: &Office,
    game_match: &MatchOverview,
) -> anyhow::Result<Vec<(&'static str, String)>> {
    let id = &game_match.id;
    Ok(match game_match.ask(office.now()) {
        Some(Ask::Protest { .. }) => {
            let rows = office.store.entries(id).await?;
            let entries = rows.iter().map(|row| serde_json::from_str(&row.json));
            let entries: Vec<Entry> = entries.collect::<Result<_, _>>()?;
            let which = match letter_of_protest(&entries) {
                Some(letter) => format!("--raw {}", &letter.to_string()[..12]),
                None => format!("--match {id}"),
            };
            vec![
                ("to read it", format!("fogpost letters {which} --unseal REASON --gm NAME")),
                ("to go on", format!("fogpost match resume {id}, or first match rollback or match correct")),
            ]
        }
        Some(Ask::Decision | Ask::Late) => vec![
            ("to wait", format!("fogpost match extend {id} 3")),
            ("to go on", format!("fogpost match adjudicate {id}, match replace or match forfeit")),
        ],
        None => Vec::new(),
    })
}

/// Returns the hash of the ledger's last entry, which changes with every letter; `None` while a GM plays in the match.
fn ledger(game_match: &MatchOverview, fog: &Fog) -> Option<Digest> {
    (!fog.matches.contains(&game_match.id)).then_some(game_match.head.hash)
}

/// Formats the deadline in the match's zone; empty if there is none, or if a pause keeps it from passing.
fn due_at(game_match: &MatchOverview, now: DateTime<Utc>) -> String {
    running_deadline(game_match)
        .map(|deadline| format_local(deadline, game_match.zone, now))
        .unwrap_or_default()
}

fn running_deadline(game_match: &MatchOverview) -> Option<DateTime<Utc>> {
    game_match.deadline.filter(|_| game_match.stage == Stage::Running)
}

/// Describes the open phase or the result.
fn phase(game_match: &MatchOverview) -> String {
    let paused = if game_match.stage == Stage::Paused { ", paused" } else { "" };
    match &game_match.due {
        Some(due) if due.turn == 0 => format!("{}{paused}", due.phase),
        Some(due) => format!("turn {} ({}){paused}", due.turn, due.phase),
        None => game_match.result().unwrap_or_default(),
    }
}

/// Describes the open phase or the result in a row that has the names of both players.
fn phase_briefly(game_match: &MatchOverview) -> String {
    let outcome = game_match.outcome.as_ref();
    match (outcome.map(|outcome| (outcome.winner, outcome.reason)), &game_match.due) {
        (Some((Some(winner), reason)), _) => format!("{winner} won ({reason})"),
        (None, Some(due)) if due.turn > 0 && game_match.stage == Stage::Paused => {
            format!("turn {}, paused", due.turn)
        }
        (None, Some(due)) if due.turn > 0 && matches!(due.phase, Phase::Move | Phase::Turn) => {
            format!("turn {}", due.turn)
        }
        _ => phase(game_match),
    }
}

/// Names whom a match waits for: the GM, or the players who owe orders.
fn waits_for(game_match: &MatchOverview, now: DateTime<Utc>) -> String {
    match game_match.ask(now) {
        Some(Ask::Protest { .. }) => "the GM: a protest".to_owned(),
        Some(Ask::Decision) => "the GM to decide".to_owned(),
        Some(Ask::Late) | None => game_match
            .awaited
            .iter()
            .map(|seat| game_match.players[*seat].clone())
            .collect::<Vec<_>>()
            .join(" and "),
    }
}

/// Names whom a match waits for in a row that has the names of both players.
fn waits_briefly(game_match: &MatchOverview, now: DateTime<Utc>) -> String {
    match (game_match.ask(now), &game_match.awaited[..]) {
        (Some(Ask::Protest { .. }), _) => "GM: protest".to_owned(),
        (Some(Ask::Decision), _) => "GM: decision".to_owned(),
        (Some(Ask::Late) | None, []) => String::new(),
        (Some(Ask::Late) | None, [seat]) => seat.to_string(),
        (Some(Ask::Late) | None, _) => "both".to_owned(),
    }
}

/// Returns a match as JSON, without anything that the rules hide from either side.
fn summary(
    game_match: &MatchOverview,
    addresses: Option<&BySeat<Vec<String>>>,
    dates: Option<&MatchDates>,
    fog: &Fog,
) -> serde_json::Value {
    json!({
        "match": game_match.id,
        "game": game_match.game,
        "options": game_match.options,
        "players": game_match.players,
        "addresses": addresses,
        "stage": game_match.stage,
        "due": game_match.due,
        "awaited": game_match.awaited,
        "opened_at": dates.and_then(|dates| dates.opened_at),
        "deadline": game_match.deadline,
        "ended_at": dates.and_then(|dates| dates.ended_at),
        "outcome": game_match.outcome,
        // Omit the entry's number, which would reveal how often the players wrote.
        "ledger": ledger(game_match, fog),
    })
}
