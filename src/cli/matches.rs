//! `fogpost match`: opens and lists matches, and acts on one as the GM.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::json;

use super::arguments::{
    ActingGm, Output, SeatArgument, TermsArguments, choices, game, holder_of, orders, reason, seat, terms,
    usage,
};
use super::instruct::{carry_out, carry_out_each, in_one_line, print};
use super::match_list::{List, show};
use super::output::print_json;
use crate::daemon::instruct;
use crate::daemon::status::running_daemons;
use crate::daemon::{Holder, NewMatch, Office, WrittenHolder, plus_address};
use crate::game::BySeat;
use crate::game::any::GameKind;
use crate::letter::printable::printable_line;
use crate::referee::{Act, Instruction, Match, MatchAction, MatchOverview, Stage, cut, read_terms_change};
use crate::report::{GmResult, count_of};
use crate::store::Player;

/// Open and list matches, and act on one as the GM
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    gm: ActingGm,
    #[command(flatten)]
    output: Output,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Open a match; the daemon sends the first letters
    New(Box<New>),
    List(List),
    /// Show a match, without anything that the rules hide from either side
    Show {
        /// Name of the match, such as QZ-7K3M
        #[arg(value_name = "MATCH")]
        id: String,
    },
    /// Pause matches
    Pause {
        #[command(flatten)]
        targets: Targets,
        /// The reason, which both players are told
        #[arg(long, default_value = "no reason is given")]
        reason: String,
    },
    /// Resume paused matches
    Resume {
        #[command(flatten)]
        targets: Targets,
    },
    /// End a match without a winner
    Abandon {
        #[command(flatten)]
        target: Target,
        /// The reason, which both players are told before the result
        #[arg(long, value_parser = reason)]
        reason: Option<String>,
    },
    /// Void the result of a match, even one that is over; a running match ends
    Annul {
        #[command(flatten)]
        target: Target,
        /// The reason, which both players are told
        #[arg(long, value_parser = reason)]
        reason: String,
    },
    /// Extend deadlines by whole days
    Extend(Extend),
    /// Change terms of a match from the next turn on; both players are told
    Terms {
        #[command(flatten)]
        target: Target,
        /// Terms and their values: days=5 hour=20 weekends=off grace=24 reminders=48,12 rated=off
        #[arg(required = true, value_name = "NAME=VALUE")]
        terms: Vec<String>,
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
        /// first or second, or the player who sits there
        #[arg(value_parser = seat)]
        seat: SeatArgument,
        /// The reason, which both players are told before the result
        #[arg(long, value_parser = reason)]
        reason: Option<String>,
    },
    /// Record a note for the GMs in the ledger
    Note {
        #[command(flatten)]
        target: Target,
        /// Text of the note
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Send a message to one side, or both; the other side learns that there is one, and reads it with the
    /// result
    Tell {
        #[command(flatten)]
        target: Target,
        /// first, second or both, or the player who sits there
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
        /// first or second, or the player who sits there
        #[arg(value_parser = seat)]
        seat: SeatArgument,
        /// The new holder: a name, a number, `ann@example.org` or `Ann <ann@example.org>`, or the house, as `house:average`
        by: String,
        /// Do not rate the former player, who is otherwise rated as having lost
        #[arg(long)]
        excused: bool,
    },
    /// File orders for a seat
    ActAs {
        #[command(flatten)]
        target: Target,
        /// first or second, or the player who sits there
        #[arg(value_parser = seat)]
        seat: SeatArgument,
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
        #[arg(long, value_parser = reason)]
        reason: String,
    },
    /// Decide a turn again with other orders for one seat; later decisions are voided
    Correct {
        /// Name of the match, such as QZ-7K3M
        #[arg(value_name = "MATCH")]
        id: String,
        /// first or second, or the player who sits there
        #[arg(value_parser = seat)]
        seat: SeatArgument,
        /// File with the orders that should have counted, one per line; `-` for standard input
        file: PathBuf,
        /// The turn to decide again with these orders
        #[arg(long)]
        turn: u32,
        /// The reason, which both players are told
        #[arg(long, value_parser = reason)]
        reason: String,
    },
}

/// A seat, or `None` for both.
#[derive(Clone)]
struct Side(Option<SeatArgument>);

fn side(text: &str) -> Result<Side, String> {
    match text.eq_ignore_ascii_case("both") {
        true => Ok(Side(None)),
        false => seat(text).map(|seat| Side(Some(seat))),
    }
}

/// A match, and the turn that must be open in it.
#[derive(Clone, clap::Args)]
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

/// Matches, and the turn that must be open in them.
#[derive(clap::Args)]
struct Targets {
    /// Names of the matches, such as QZ-7K3M
    #[arg(value_name = "MATCH", required = true)]
    ids: Vec<String>,
    /// Do nothing in a match unless this turn is open
    #[arg(long)]
    turn: Option<u32>,
}

impl Targets {
    fn act(self, act: &Act) -> Vec<Instruction> {
        let instruct = |id| Instruction::Match { id, turn: self.turn, action: MatchAction::Act(act.clone()) };
        self.ids.into_iter().map(instruct).collect()
    }
}

#[derive(clap::Args)]
struct Extend {
    /// Names of the matches, and the days to add: QZ-7K3M 3
    #[arg(value_name = "MATCH... DAYS", required = true)]
    words: Vec<String>,
    /// Extend the deadline of every running match whose deadline has passed
    #[arg(long)]
    all_late: bool,
    /// Do nothing in a match unless this turn is open
    #[arg(long)]
    turn: Option<u32>,
}

impl Extend {
    /// Returns the matches, none if all late ones are meant, and the days.
    fn parts(&self) -> Result<(&[String], u32), String> {
        let (days, ids) = self.words.split_last().ok_or("name the matches, and the days to add")?;
        let days = days.parse().ok().filter(|days| (1..=366).contains(days));
        let days = days.ok_or("the last word must be the number of days, 1 to 366: QZ-7K3M 3")?;
        match (ids, self.all_late) {
            ([], false) => Err("name the matches before the days, or add --all-late".to_owned()),
            ([_, ..], true) => Err("with --all-late, name no matches".to_owned()),
            ([], true) | ([_, ..], false) => Ok((ids, days)),
        }
    }

    async fn run(self, office: &Office, gm: &ActingGm, output: Output) -> anyhow::Result<ExitCode> {
        let (ids, days) = self.parts().unwrap_or_else(|fault| usage(&fault));
        let ids = if self.all_late { late(office).await? } else { ids.to_vec() };
        if ids.is_empty() {
            println!("No match is late.");
            return Ok(ExitCode::SUCCESS);
        }
        let targets = Targets { ids, turn: self.turn };
        carry_out_each(office, gm, &targets.act(&Act::Extend { days }), output).await
    }
}

/// Returns the running matches whose deadline has passed.
async fn late(office: &Office) -> anyhow::Result<Vec<String>> {
    let (now, mut ids) = (office.now(), Vec::new());
    let mut take = |game_match: MatchOverview| {
        if game_match.is_late(now) {
            ids.push(game_match.id);
        }
    };
    office.store.list_matches(Some(Stage::Running), &mut take).await?;
    Ok(ids)
}

#[derive(clap::Args)]
struct New {
    /// quadrant-z, pacific, quantum or quad; see `fogpost games`
    #[arg(value_parser = game, required_unless_present = "from")]
    game: Option<GameKind>,
    /// Holder of the seat `first`: `ann@example.org`, `Ann <ann@example.org>`, the name or number of a player, or the
    /// house, as `house:average`
    #[arg(value_parser = WrittenHolder::read, required_unless_present = "from")]
    first: Option<WrittenHolder>,
    /// Holder of the seat `second`
    #[arg(value_parser = WrittenHolder::read, required_unless_present = "from")]
    second: Option<WrittenHolder>,
    /// Open all matches listed in a CSV file, or none. Its columns are game, first and second, and
    /// optionally options and the terms, such as days or grace_hours
    #[arg(long, value_name = "FILE", conflicts_with_all = ["game", "options"])]
    from: Option<PathBuf>,
    /// An option of the game, `name=value`; can be repeated
    #[arg(long = "option", short, value_name = "NAME=VALUE")]
    options: Vec<String>,
    #[command(flatten)]
    terms: TermsArguments,
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        super::in_club(config, async |office| self.command.run(office, &self.gm, self.output).await)
    }
}

impl Command {
    async fn run(self, office: &Office, gm: &ActingGm, output: Output) -> anyhow::Result<ExitCode> {
        let instruction = match self {
            Command::New(new) => return new.run(office, gm, output).await.map(|()| ExitCode::SUCCESS),
            Command::List(list) => return list.run(office, output.json).await.map(|()| ExitCode::SUCCESS),
            Command::Show { id } => {
                let game_match = find(office, &id).await?;
                return show(office, &game_match, output.json).await.map(|()| ExitCode::SUCCESS);
            }
            Command::Pause { targets, reason } => {
                return carry_out_each(office, gm, &targets.act(&Act::pause(reason)), output).await;
            }
            Command::Resume { targets } => {
                return carry_out_each(office, gm, &targets.act(&Act::Resume), output).await;
            }
            Command::Extend(extend) => return extend.run(office, gm, output).await,
            Command::Annul { target, reason } => target.act(Act::Annul { reason }),
            Command::Terms { target, terms } => {
                let words: Vec<&str> = terms.iter().map(String::as_str).collect();
                target.act(Act::Terms(read_terms_change(&words).map_err(anyhow::Error::msg)?))
            }
            Command::Abandon { target, reason } => {
                return end(office, gm, target, Act::Abandon, reason, output).await;
            }
            Command::Adjudicate { target } => target.act(Act::Adjudicate),
            Command::Forfeit { target, seat, reason } => {
                let act = Act::Forfeit(seat.seat(office, &target.id).await?);
                return end(office, gm, target, act, reason, output).await;
            }
            Command::Note { target, text } => target.act(Act::Note { text: text.join(" ") }),
            Command::Tell { target, to, text } => {
                let to = match to.0 {
                    Some(seat) => Some(seat.seat(office, &target.id).await?),
                    None => None,
                };
                target.act(Act::tell(to, cut(&text.join(" "))))
            }
            Command::Replace { target, seat, by, excused } => {
                let seat = seat.seat(office, &target.id).await?;
                target.action(MatchAction::Replace { seat, by, excused })
            }
            Command::ActAs { target, seat, file } => {
                let seat = seat.seat(office, &target.id).await?;
                target.act(Act::File { seat, orders: orders(&file)? })
            }
            Command::Rollback { id, to, reason } => {
                Target { id, turn: None }.action(MatchAction::Correct { turn: to, reason, orders: None })
            }
            Command::Correct { id, seat, file, turn, reason } => {
                let orders = Some((seat.seat(office, &id).await?, orders(&file)?));
                Target { id, turn: None }.action(MatchAction::Correct { turn, reason, orders })
            }
        };
        carry_out(office, gm, &instruction, output).await
    }
}

/// Ends a match. Both players first read the reason, if there is one.
async fn end(
    office: &Office,
    gm: &ActingGm,
    target: Target,
    act: Act,
    reason: Option<String>,
    output: Output,
) -> anyhow::Result<ExitCode> {
    let ending = target.clone().act(act);
    if let Some(reason) = reason {
        let index = gm.index(&office.config.club.gm)?;
        // Nobody must be told why something ends that then does not.
        let mut would = instruct::carry_out_as(office, index, &ending, None, true).await?;
        if output.check {
            if let GmResult::Would { says, .. } = &mut would {
                *says = format!("Both players would first be told: {reason}");
            }
            return print(office, &would, output).map(|()| ExitCode::SUCCESS);
        }
        let telling = target.act(Act::tell(None, cut(&reason)));
        let told = match would.is_done() {
            true => instruct::carry_out_as(office, index, &telling, None, false).await?,
            false => would,
        };
        if !told.is_done() {
            bail!("{}", in_one_line(&instruct::tell(office, &told)?));
        }
    }
    carry_out(office, gm, &ending, output).await
}

impl New {
    async fn run(self, office: &Office, gm: &ActingGm, output: Output) -> anyhow::Result<()> {
        let gm = gm.index(&office.config.club.gm)?;
        let new = match &self.from {
            Some(_) if !self.terms.given().is_empty() => {
                bail!("with --from, the terms are columns of the file")
            }
            Some(file) => super::pairs::read(file, &office.config, &office.store.players().await?)?,
            None => vec![self.one(office, &office.store.players().await?)?],
        };
        if output.check {
            instruct::check_all(office, &new).await?;
            let matches = count_of(new.len(), "match", "matches");
            println!("This would open {matches}; nothing was done.");
            for NewMatch { game, players, terms, .. } in &new {
                let [first, second] = [&players.first, &players.second].map(name_of);
                let line = format!("- {}: {first} against {second}, days={}", game.name(), terms.days);
                println!("{}", printable_line(&line));
            }
            return Ok(());
        }
        let is_list = self.from.is_some();
        let all_opened = instruct::open_all(office, gm, &new).await?;
        for says in instruct::namesakes(office, &all_opened).await? {
            eprintln!("{}", printable_line(&says));
        }
        for (new, opened) in new.iter().zip(all_opened) {
            tell_unused_names(new, &opened);
            let Match { id, game, players, .. } = opened;
            if output.json {
                print_json(&json!({ "match": id }));
            } else if is_list {
                println!("{id} {game}: {} against {}", players.first, players.second);
            } else {
                println!("{id} is open; its first letters are in the outbox.");
            }
        }
        if running_daemons(&office.store, office.now()).await?.is_empty() {
            eprintln!("No daemon is running: the letters go out when `fogpost run` starts.");
        }
        Ok(())
    }

    /// Returns the match that the arguments describe.
    fn one(&self, office: &Office, people: &[Player]) -> anyhow::Result<NewMatch> {
        let (Some(game), Some(first), Some(second)) = (self.game, &self.first, &self.second) else {
            bail!("give a game and two players, or --from FILE")
        };
        let mut given = Vec::new();
        for option in &self.options {
            given.push(option.split_once('=').with_context(|| format!("--option {option}: try NAME=VALUE"))?);
        }
        let house = &office.config.house;
        let players = BySeat::new(
            holder_of(first.clone(), game, house, people).map_err(anyhow::Error::msg)?,
            holder_of(second.clone(), game, house, people).map_err(anyhow::Error::msg)?,
        );
        let choices = choices(game, &players, &given).map_err(anyhow::Error::msg)?;
        let mut terms = terms(&office.config, &players);
        self.terms.apply(&mut terms).map_err(anyhow::Error::msg)?;
        Ok(NewMatch { game, choices, players, terms })
    }
}

/// Returns how the holder of a seat was named.
fn name_of(holder: &Holder) -> String {
    match holder {
        Holder::House(level) => level.player_name(),
        Holder::Player(given) if given.name.is_empty() => given.address.to_string(),
        Holder::Player(given) => given.name.clone(),
    }
}

/// Reports names that are not used because the addresses are registered under others.
fn tell_unused_names(new: &NewMatch, opened: &Match) {
    for (seat, holder) in new.players.iter() {
        let (Holder::Player(given), name) = (holder, &opened.players[seat]) else { continue };
        if !given.name.is_empty() && given.name != *name {
            let other = plus_address(&given.address, &given.name);
            let other = other.map(|other| format!("; for another person at that mailbox, give {other}"));
            let message = format!(
                "{}: {} is registered as {name}; the name {} is not used. `fogpost player rename` changes it{}.",
                opened.id,
                given.address,
                given.name,
                other.unwrap_or_default()
            );
            eprintln!("{}", printable_line(&message));
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
