//! `fogpost match`: opens and lists matches, and acts on one as the GM.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use chrono::{DateTime, Utc};
use serde_json::json;

use super::arguments::{HolderArgument, choices, game, holder, orders, party, seat};
use super::instruct::carry_out;
use super::output::{print_json, print_table};
use crate::daemon::{NewMatch, Office};
use crate::game::any::GameKind;
use crate::game::{BySeat, Seat};
use crate::referee::{Act, Instruction, Match, MatchAction, MatchOverview, Stage};
use crate::report::format_local;
use crate::request::Party;

/// Open and list matches, and act on one as the GM
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// Print JSON, one object per line
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Open a match; the daemon sends the first letters
    New(New),
    List(List),
    /// Show a match, without anything that the rules hide from either side
    Show {
        /// Name of the match, such as QZ-7K3M
        #[arg(value_name = "MATCH")]
        id: String,
    },
    /// Pause a match
    Pause {
        #[command(flatten)]
        target: Target,
        /// The reason, which both players are told
        #[arg(long, default_value = "no reason is given")]
        reason: String,
    },
    /// Resume a paused match
    Resume {
        #[command(flatten)]
        target: Target,
    },
    /// End a match without a winner
    Abandon {
        #[command(flatten)]
        target: Target,
    },
    /// Extend the deadline by whole days
    Extend {
        #[command(flatten)]
        target: Target,
        /// Days to add
        #[arg(value_parser = clap::value_parser!(u32).range(1..=366))]
        days: u32,
    },
    /// Adjudicate the open phase now, with the orders that the rules assume for a seat that has not filed
    Adjudicate {
        #[command(flatten)]
        target: Target,
    },
    /// Make a seat lose the match
    Forfeit {
        #[command(flatten)]
        target: Target,
        /// first or second
        #[arg(value_parser = seat)]
        seat: Seat,
    },
    /// Record a note in the ledger and send it to both players
    Note {
        #[command(flatten)]
        target: Target,
        /// Text of the note
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Give a seat to somebody else
    Replace {
        #[command(flatten)]
        target: Target,
        /// first or second
        #[arg(value_parser = seat)]
        seat: Seat,
        /// The new holder: a mail address, or the house, as `house:average`
        #[arg(value_parser = party)]
        by: Party,
    },
    /// File orders for a seat
    ActAs {
        #[command(flatten)]
        target: Target,
        /// first or second
        #[arg(value_parser = seat)]
        seat: Seat,
        /// File with one order per line; `-` for standard input
        file: PathBuf,
    },
    /// Reopen an adjudicated turn; later decisions are voided
    Rollback {
        /// Name of the match, such as QZ-7K3M
        #[arg(value_name = "MATCH")]
        id: String,
        /// The turn to reopen
        #[arg(long = "to")]
        to: u32,
        /// The reason, which both players are told
        #[arg(long)]
        reason: String,
    },
    /// Decide a turn again with other orders for one seat; later decisions are voided
    Correct {
        /// Name of the match, such as QZ-7K3M
        #[arg(value_name = "MATCH")]
        id: String,
        /// first or second
        #[arg(value_parser = seat)]
        seat: Seat,
        /// File with the orders that should have counted, one per line; `-` for standard input
        file: PathBuf,
        /// The turn to decide again
        #[arg(long)]
        turn: u32,
        /// The reason, which both players are told
        #[arg(long)]
        reason: String,
    },
}

/// A match, and the turn that must be open in it.
#[derive(clap::Args)]
struct Target {
    /// Name of the match, such as QZ-7K3M
    #[arg(value_name = "MATCH")]
    id: String,
    /// Do nothing unless this turn is open
    #[arg(long)]
    turn: Option<u32>,
}

impl Target {
    fn act(self, act: Act) -> Instruction {
        self.action(MatchAction::Act(act))
    }

    fn action(self, action: MatchAction) -> Instruction {
        Instruction::Match { id: self.id, turn: self.turn, action }
    }
}

/// List matches
#[derive(clap::Args)]
struct List {
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

#[derive(clap::Args)]
struct New {
    /// quadrant-z, pacific, quantum or quad; see `fogpost games`
    #[arg(value_parser = game, required_unless_present = "from")]
    game: Option<GameKind>,
    /// Holder of the seat `first`: `ann@example.org`, `Ann <ann@example.org>`, or the house, as `house:average`
    #[arg(value_parser = holder, required_unless_present = "from")]
    first: Option<HolderArgument>,
    /// Holder of the seat `second`
    #[arg(value_parser = holder, required_unless_present = "from")]
    second: Option<HolderArgument>,
    /// Open all matches that a CSV file lists, or none. Its columns are game, first and second, and optionally
    /// options, days, setup_days and zone
    #[arg(long, value_name = "FILE", conflicts_with_all = ["game", "options", "days", "setup_days", "zone"])]
    from: Option<PathBuf>,
    /// An option of the game, `name=value`; can be repeated
    #[arg(long = "option", short, value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// Days for each turn
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=365))]
    days: Option<u32>,
    /// Days for the setup
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=365))]
    setup_days: Option<u32>,
    /// Time zone of the deadlines, such as Europe/Berlin
    #[arg(long)]
    zone: Option<chrono_tz::Tz>,
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        super::in_club(config, async |office| self.command.run(office, self.json).await)
    }
}

impl Command {
    async fn run(self, office: &Office, json: bool) -> anyhow::Result<ExitCode> {
        let instruction = match self {
            Command::New(new) => return new.run(office, json).await.map(|()| ExitCode::SUCCESS),
            Command::List(list) => return list.run(office, json).await.map(|()| ExitCode::SUCCESS),
            Command::Show { id } => {
                let game_match = find(office, &id).await?;
                return show(office, &game_match, json).await.map(|()| ExitCode::SUCCESS);
            }
            Command::Pause { target, reason } => target.act(Act::Pause { reason }),
            Command::Resume { target } => target.act(Act::Resume),
            Command::Abandon { target } => target.act(Act::Abandon),
            Command::Extend { target, days } => target.act(Act::Extend { days }),
            Command::Adjudicate { target } => target.act(Act::Adjudicate),
            Command::Forfeit { target, seat } => target.act(Act::Forfeit(seat)),
            Command::Note { target, text } => target.act(Act::Note { text: text.join(" ") }),
            Command::Replace { target, seat, by } => target.action(MatchAction::Replace { seat, by }),
            Command::ActAs { target, seat, file } => target.act(Act::File { seat, orders: orders(&file)? }),
            Command::Rollback { id, to, reason } => {
                Target { id, turn: None }.action(MatchAction::Correct { turn: to, reason, orders: None })
            }
            Command::Correct { id, seat, file, turn, reason } => {
                let orders = Some((seat, orders(&file)?));
                Target { id, turn: None }.action(MatchAction::Correct { turn, reason, orders })
            }
        };
        carry_out(office, &instruction, json).await
    }
}

impl New {
    async fn run(self, office: &Office, json: bool) -> anyhow::Result<()> {
        if let Some(file) = &self.from {
            return open_list(office, file, json).await;
        }
        let (Some(game), Some(first), Some(second)) = (self.game, self.first, self.second) else {
            bail!("give a game and two players, or --from FILE")
        };
        let mut given = Vec::new();
        for option in &self.options {
            given.push(option.split_once('=').with_context(|| format!("--option {option}: try NAME=VALUE"))?);
        }
        let house = &office.config.house;
        let players = BySeat::new(
            first.holder(game, house).map_err(anyhow::Error::msg)?,
            second.holder(game, house).map_err(anyhow::Error::msg)?,
        );
        let choices = choices(game, &players, &given).map_err(anyhow::Error::msg)?;
        let mut terms = office.config.terms.clone();
        terms.days = self.days.unwrap_or(terms.days);
        terms.setup_days = self.setup_days.unwrap_or(terms.setup_days);
        terms.zone = self.zone.unwrap_or(terms.zone);
        let opened = office.open(NewMatch { game, choices, players, terms }).await?;
        if json {
            print_json(&json!({ "match": opened.id }));
        } else {
            println!("{} is open; its first letters are in the outbox.", opened.id);
        }
        Ok(())
    }
}

/// Opens the matches that a CSV file lists, all or none.
async fn open_list(office: &Office, file: &Path, json: bool) -> anyhow::Result<()> {
    let new = super::pairs::read(file, &office.config)?;
    for Match { id, game, players, .. } in office.open_all(&new).await? {
        if json {
            print_json(&json!({ "match": id }));
        } else {
            println!("{id} {game}: {} against {}", players.first, players.second);
        }
    }
    Ok(())
}

async fn find(office: &Office, id: &str) -> anyhow::Result<Match> {
    let id = id.to_ascii_uppercase();
    match office.store.matches(std::slice::from_ref(&id)).await?.pop() {
        Some(row) => Ok(serde_json::from_str(&row.snapshot)?),
        None => bail!("there is no match {id}; `fogpost match list` lists them all"),
    }
}

impl List {
    async fn run(self, office: &Office, json: bool) -> anyhow::Result<()> {
        let wanted = self.matches_of_player(office).await?;
        let now = office.now();
        let mut found = Vec::new();
        let mut take = |game_match: MatchOverview| {
            let fits = self.game.is_none_or(|game| game == game_match.game)
                && (!self.late || is_late(&game_match, now))
                && wanted.as_ref().is_none_or(|ids| ids.contains(&game_match.id) || self.names(&game_match));
            if fits {
                found.push(game_match);
            }
        };
        let stage = self.stage.as_deref().and_then(Stage::parse);
        office.store.list_matches(stage, &mut take).await?;
        if json {
            for chunk in found.chunks(CHUNK) {
                let addresses = addresses(office, chunk).await?;
                chunk.iter().for_each(|game_match| print_json(&summary(game_match, &addresses)));
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

fn is_late(game_match: &MatchOverview, now: DateTime<Utc>) -> bool {
    let overdue = game_match.deadline.is_some_and(|deadline| deadline <= now);
    game_match.stage == Stage::Running && (game_match.asked_gm || overdue)
}

async fn show(office: &Office, game_match: &Match, json: bool) -> anyhow::Result<()> {
    let overview = &game_match.overview();
    if json {
        let addresses = addresses(office, std::slice::from_ref(overview)).await?;
        print_json(&summary(overview, &addresses));
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
    match (&game_match.due, &game_match.outcome) {
        (Some(due), _) if due.turn == 0 => due.phase.to_string(),
        (Some(due), _) => format!("turn {} ({})", due.turn, due.phase),
        (None, Some(outcome)) => match outcome.winner {
            Some(winner) => format!("{} won ({})", game_match.players[winner], outcome.reason),
            None => format!("nobody won ({})", outcome.reason),
        },
        (None, None) => String::new(),
    }
}

fn waits_for(game_match: &MatchOverview) -> String {
    game_match.awaited.iter().map(|seat| game_match.players[*seat].clone()).collect::<Vec<_>>().join(", ")
}

/// Returns a match as JSON, without anything that the rules hide from either side.
fn summary(
    game_match: &MatchOverview,
    addresses: &BTreeMap<String, BySeat<Vec<String>>>,
) -> serde_json::Value {
    json!({
        "match": game_match.id,
        "game": game_match.game,
        "options": game_match.options,
        "players": game_match.players,
        "addresses": addresses.get(&game_match.id),
        "stage": game_match.stage,
        "due": game_match.due,
        "awaited": game_match.awaited,
        "deadline": game_match.deadline,
        "outcome": game_match.outcome,
        "ledger": game_match.head,
    })
}
