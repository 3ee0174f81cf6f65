//! `fogpost match`: opens and lists matches, and acts on one as the GM.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::json;

use super::arguments::{ActingGm, HolderArgument, choices, game, holder, orders, party, seat, terms};
use super::instruct::carry_out;
use super::match_list::{List, show};
use super::output::print_json;
use crate::daemon::instruct;
use crate::daemon::{GmIndex, Holder, NewMatch, Office};
use crate::game::any::GameKind;
use crate::game::{BySeat, Seat};
use crate::letter::printable::printable_line;
use crate::referee::{Act, Instruction, Match, MatchAction, cut};
use crate::request::Party;

/// Open and list matches, and act on one as the GM
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    gm: ActingGm,
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
    /// Record a note for the GMs in the ledger
    Note {
        #[command(flatten)]
        target: Target,
        /// Text of the note
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Tell one side something, or both; the other side learns of it, and reads it with the result
    Tell {
        #[command(flatten)]
        target: Target,
        /// first, second or both
        #[arg(value_parser = side)]
        to: Side,
        /// Text of the message
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

/// A seat, or `None` for both.
#[derive(Clone, Copy)]
struct Side(Option<Seat>);

fn side(text: &str) -> Result<Side, String> {
    match Seat::parse(text) {
        Some(seat) => Ok(Side(Some(seat))),
        None if text.eq_ignore_ascii_case("both") => Ok(Side(None)),
        None => Err("must be first, second or both".to_owned()),
    }
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
    /// Holder of the seat `first`: `ann@example.org`, `Ann <ann@example.org>`, or the house, as
    /// `house:average`
    #[arg(value_parser = holder, required_unless_present = "from")]
    first: Option<HolderArgument>,
    /// Holder of the seat `second`
    #[arg(value_parser = holder, required_unless_present = "from")]
    second: Option<HolderArgument>,
    /// Open all matches listed in a CSV file, or none. Its columns are game, first and second, and optionally
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
        super::in_club(config, async |office| self.command.run(office, &self.gm, self.json).await)
    }
}

impl Command {
    async fn run(self, office: &Office, gm: &ActingGm, json: bool) -> anyhow::Result<ExitCode> {
        let instruction = match self {
            Command::New(new) => return new.run(office, gm, json).await.map(|()| ExitCode::SUCCESS),
            Command::List(list) => return list.run(office, json).await.map(|()| ExitCode::SUCCESS),
            Command::Show { id } => {
                let game_match = find(office, &id).await?;
                return show(office, &game_match, json).await.map(|()| ExitCode::SUCCESS);
            }
            Command::Pause { target, reason } => target.act(Act::pause(reason)),
            Command::Resume { target } => target.act(Act::Resume),
            Command::Abandon { target } => target.act(Act::Abandon),
            Command::Extend { target, days } => target.act(Act::Extend { days }),
            Command::Adjudicate { target } => target.act(Act::Adjudicate),
            Command::Forfeit { target, seat } => target.act(Act::Forfeit(seat)),
            Command::Note { target, text } => target.act(Act::Note { text: text.join(" ") }),
            Command::Tell { target, to, text } => target.act(Act::tell(to.0, cut(&text.join(" ")))),
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
        carry_out(office, gm, &instruction, json).await
    }
}

impl New {
    async fn run(self, office: &Office, gm: &ActingGm, json: bool) -> anyhow::Result<()> {
        let gm = gm.index(&office.config.club.gm)?;
        if let Some(file) = &self.from {
            return open_list(office, gm, file, json).await;
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
        let mut terms = terms(&office.config, &players);
        terms.days = self.days.unwrap_or(terms.days);
        terms.setup_days = self.setup_days.unwrap_or(terms.setup_days);
        terms.zone = self.zone.unwrap_or(terms.zone);
        let new = NewMatch { game, choices, players, terms };
        let [opened] = &instruct::open_all_as(office, gm, std::slice::from_ref(&new)).await?[..] else {
            bail!("no match was opened")
        };
        tell_unused_names(&new, opened);
        if json {
            print_json(&json!({ "match": opened.id }));
        } else {
            println!("{} is open; its first letters are in the outbox.", opened.id);
        }
        Ok(())
    }
}

/// Opens the matches that a CSV file lists, all or none.
async fn open_list(office: &Office, gm: GmIndex, file: &Path, json: bool) -> anyhow::Result<()> {
    let new = super::pairs::read(file, &office.config)?;
    for (new, opened) in new.iter().zip(instruct::open_all_as(office, gm, &new).await?) {
        tell_unused_names(new, &opened);
        let Match { id, game, players, .. } = opened;
        if json {
            print_json(&json!({ "match": id }));
        } else {
            println!("{id} {game}: {} against {}", players.first, players.second);
        }
    }
    Ok(())
}

/// Reports given names that are not used because the addresses are registered under others.
fn tell_unused_names(new: &NewMatch, opened: &Match) {
    for (seat, holder) in new.players.iter() {
        let (Holder::Player(given), name) = (holder, &opened.players[seat]) else { continue };
        if !given.name.is_empty() && given.name != *name {
            let told = format!(
                "{}: {} is registered as {name}; the name {} is not used. `fogpost player rename` changes it.",
                opened.id, given.address, given.name
            );
            eprintln!("{}", printable_line(&told));
        }
    }
}

async fn find(office: &Office, id: &str) -> anyhow::Result<Match> {
    let id = id.to_ascii_uppercase();
    match office.store.matches(std::slice::from_ref(&id)).await?.pop() {
        Some(row) => Ok(serde_json::from_str(&row.snapshot)?),
        None => bail!("there is no match {id}; `fogpost match list` lists them all"),
    }
}
