//! `fogpost match`: opens and lists matches, and acts on one as the GM.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::json;

use super::arguments::{HolderArgument, choices, game, holder, orders, party, seat};
use super::instruct::carry_out;
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
    /// List matches
    List {
        /// Only matches in this stage: running, paused, over
        #[arg(long, value_parser = ["running", "paused", "over"])]
        stage: Option<String>,
    },
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
            Command::List { stage } => {
                let stage = stage.as_deref().and_then(Stage::parse);
                return list(office, stage, json).await.map(|()| ExitCode::SUCCESS);
            }
            Command::Show { id } => {
                return show(&find(office, &id).await?, json).map(|()| ExitCode::SUCCESS);
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
            println!("{}", json!({ "match": opened.id }));
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
            println!("{}", json!({ "match": id }));
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

async fn list(office: &Office, stage: Option<Stage>, json: bool) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    let mut list_one = |game_match: MatchOverview| {
        if json {
            println!("{}", summary(&game_match));
            return;
        }
        rows.push(vec![
            game_match.id.clone(),
            game_match.players.first.clone(),
            game_match.players.second.clone(),
            phase(&game_match),
            waits_for(&game_match),
            due_at(&game_match),
        ]);
    };
    office.store.list_matches(stage, &mut list_one).await?;
    if !json {
        println!("{}", super::table(&["match", "first", "second", "phase", "waits for", "due"], rows));
    }
    Ok(())
}

fn show(game_match: &Match, json: bool) -> anyhow::Result<()> {
    let overview = &game_match.overview();
    if json {
        println!("{}", summary(overview));
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
            Some(winner) => format!("{winner} won ({})", outcome.reason),
            None => format!("nobody won ({})", outcome.reason),
        },
        (None, None) => String::new(),
    }
}

fn waits_for(game_match: &MatchOverview) -> String {
    game_match.awaited.iter().map(|seat| game_match.players[*seat].clone()).collect::<Vec<_>>().join(", ")
}

/// Returns a match as JSON, without anything that the rules hide from either side.
fn summary(game_match: &MatchOverview) -> serde_json::Value {
    json!({
        "match": game_match.id,
        "game": game_match.game,
        "options": game_match.options,
        "players": game_match.players,
        "stage": game_match.stage,
        "due": game_match.due,
        "awaited": game_match.awaited,
        "deadline": game_match.deadline,
        "outcome": game_match.outcome,
        "ledger": game_match.head,
    })
}
