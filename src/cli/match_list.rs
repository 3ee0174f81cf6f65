//! `fogpost match list` and `show`: where matches stand, without anything that the rules hide from either side.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde_json::json;

use super::arguments::game;
use super::output::{print_json, print_table};
use crate::daemon::Office;
use crate::game::any::GameKind;
use crate::game::{BySeat, Seat};
use crate::referee::{Match, MatchOverview, Stage};
use crate::report::format_local;

/// List matches
#[derive(clap::Args)]
pub(super) struct List {
    /// Only matches in this stage: running, paused, over
    #[arg(long, value_parser = ["running", "paused", "over"])]
    stage: Option<String>,
    /// Only matches of this game
    #[arg(long, value_parser = game)]
    game: Option<GameKind>,
    /// Only matches of a player, by address or by part of the name
    #[arg(long, value_name = "PLAYER")]
    player: Option<String>,
    /// Only running matches whose deadline has passed, or that wait for the GM
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
                && (!self.late || game_match.is_late(now))
                && wanted.as_ref().is_none_or(|ids| ids.contains(&game_match.id) || self.names(&game_match));
            if fits {
                found.push(game_match);
            }
        };
        let stage = self.stage.as_deref().and_then(Stage::parse);
        office.store.list_matches(stage, &mut take).await?;
        if json {
            let dates = dates(office, &found).await?;
            for chunk in found.chunks(CHUNK) {
                let addresses = addresses(office, chunk).await?;
                chunk.iter().for_each(|game_match| print_json(&summary(game_match, &addresses, &dates)));
            }
            return Ok(());
        }
        let rows = found.iter().map(|game_match| {
            vec![
                game_match.id.clone(),
                game_match.players.first.clone(),
                game_match.players.second.clone(),
                phase(game_match),
                waits_for(game_match),
                due_at(game_match),
            ]
        });
        print_table(&["match", "first", "second", "phase", "waits for", "due"], rows.collect());
        Ok(())
    }

    /// Returns the matches of the player with the address that is asked for, or everybody's if none is.
    async fn matches_of_player(&self, office: &Office) -> anyhow::Result<Option<BTreeSet<String>>> {
        let Some(asked) = &self.player else { return Ok(None) };
        let Some(player) = office.store.player_by_address(asked).await? else {
            return Ok(Some(BTreeSet::new()));
        };
        let matches = office.store.matches_of(player.id).await?;
        Ok(Some(matches.into_iter().map(|(_, game_match)| game_match.id).collect()))
    }

    /// Whether a player's name contains what is asked for.
    fn names(&self, game_match: &MatchOverview) -> bool {
        let asked = self.player.as_deref().unwrap_or_default().to_lowercase();
        game_match.players.iter().any(|(_, name)| name.to_lowercase().contains(&asked))
    }
}

/// Matches whose addresses are read together.
const CHUNK: usize = 200;

/// Returns the addresses of both players of each match.
async fn addresses(
    office: &Office,
    matches: &[MatchOverview],
) -> anyhow::Result<BTreeMap<String, BySeat<Vec<String>>>> {
    let ids: Vec<String> = matches.iter().map(|game_match| game_match.id.clone()).collect();
    let mut found: BTreeMap<String, BySeat<Vec<String>>> = BTreeMap::new();
    for row in office.store.seats_of(&ids).await? {
        found.entry(row.match_id).or_default()[row.seat] = row.player.addresses;
    }
    Ok(found)
}

/// When matches were opened, and when they ended.
#[derive(Default)]
struct Dates {
    opened: BTreeMap<String, DateTime<Utc>>,
    ended: BTreeMap<String, DateTime<Utc>>,
}

/// Returns the dates of these matches, as their ledgers tell.
async fn dates(office: &Office, matches: &[MatchOverview]) -> anyhow::Result<Dates> {
    let mut dates = Dates::default();
    let (opened, ended) = ("MatchOpened", "MatchEnded");
    let entries = match matches {
        [] => Vec::new(),
        [one] => office.store.entries(&one.id).await?,
        _ => {
            let mut entries = office.store.entries_since(opened, DateTime::UNIX_EPOCH).await?;
            entries.extend(office.store.entries_since(ended, DateTime::UNIX_EPOCH).await?);
            entries
        }
    };
    for entry in entries {
        if entry.kind == opened {
            dates.opened.insert(entry.match_id, entry.at);
        } else if entry.kind == ended {
            dates.ended.insert(entry.match_id, entry.at);
        }
    }
    Ok(dates)
}

pub(super) async fn show(office: &Office, game_match: &Match, json: bool) -> anyhow::Result<()> {
    let overview = &game_match.overview();
    if json {
        let one = std::slice::from_ref(overview);
        let (addresses, dates) = (addresses(office, one).await?, dates(office, one).await?);
        print_json(&summary(overview, &addresses, &dates));
        return Ok(());
    }
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
        ("first filed", filed_at(game_match, Seat::First)),
        ("second filed", filed_at(game_match, Seat::Second)),
        ("waits for", waits_for(overview)),
        ("due", due_at(overview)),
        ("ledger", format!("#{} sha256 {}", game_match.head.seq, game_match.head.hash)),
    ];
    for (name, value) in rows {
        println!("{name:<13} {value}");
    }
    Ok(())
}

fn filed_at(game_match: &Match, seat: Seat) -> String {
    match &game_match.held[seat] {
        Some(filed) => format_local(filed.at, game_match.terms.zone),
        None => "no".to_owned(),
    }
}

/// Formats the deadline in the match's zone, or returns nothing if there is none.
fn due_at(game_match: &MatchOverview) -> String {
    game_match.deadline.map(|deadline| format_local(deadline, game_match.zone)).unwrap_or_default()
}

/// Words the open phase or the result.
fn phase(game_match: &MatchOverview) -> String {
    match &game_match.due {
        Some(due) if due.turn == 0 => due.phase.to_string(),
        Some(due) => format!("turn {} ({})", due.turn, due.phase),
        None => game_match.result().unwrap_or_default(),
    }
}

fn waits_for(game_match: &MatchOverview) -> String {
    game_match.awaited.iter().map(|seat| game_match.players[*seat].clone()).collect::<Vec<_>>().join(", ")
}

/// Returns a match as JSON, without anything that the rules hide from either side.
fn summary(
    game_match: &MatchOverview,
    addresses: &BTreeMap<String, BySeat<Vec<String>>>,
    dates: &Dates,
) -> serde_json::Value {
    // A match that was reopened has ended before.
    let ended = dates.ended.get(&game_match.id).filter(|_| game_match.stage == Stage::Over);
    json!({
        "match": game_match.id,
        "game": game_match.game,
        "options": game_match.options,
        "players": game_match.players,
        "addresses": addresses.get(&game_match.id),
        "stage": game_match.stage,
        "due": game_match.due,
        "awaited": game_match.awaited,
        "opened_at": dates.opened.get(&game_match.id),
        "deadline": game_match.deadline,
        "ended_at": ended,
        "outcome": game_match.outcome,
        "ledger": game_match.head,
    })
}
