//! `fogpost match`: open matches, list them, and what the GM can do with one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::json;

use crate::config;
use crate::daemon::{Holder, NamedAddress, NewMatch, Office, fit_name};
use crate::game::any::{Choices, GameKind};
use crate::game::{BySeat, Line, Seat, record};
use crate::letter::Address;
use crate::referee::{Act, Instruction, Match, MatchAction, Stage};
use crate::report::format_local;
use crate::request::Party;

/// Open matches, list them, and what the GM can do with one
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// What came of it as JSON, one object a line
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Open a match; the first letters go out by themselves
    New(New),
    /// List matches
    List {
        /// Only those in this stage: running, paused, over
        #[arg(long, value_parser = ["running", "paused", "over"])]
        stage: Option<String>,
    },
    /// Show where one match stands; nothing that is hidden from either side
    Show {
        /// Its name, such as QZ-7K3M
        #[arg(value_name = "MATCH")]
        id: String,
    },
    /// Let its deadlines stand still
    Pause {
        #[command(flatten)]
        which: Which,
        /// The players are told
        #[arg(long, default_value = "the GM has paused it")]
        reason: String,
    },
    /// Let a paused match go on
    Resume {
        #[command(flatten)]
        which: Which,
    },
    /// End a match without a winner
    Abandon {
        #[command(flatten)]
        which: Which,
    },
    /// Move its deadline by whole days
    Extend {
        #[command(flatten)]
        which: Which,
        /// So many days more
        #[arg(value_parser = clap::value_parser!(u32).range(1..=366))]
        days: u32,
    },
    /// Decide the open phase now, on what is filed and what the rules take as filed
    Adjudicate {
        #[command(flatten)]
        which: Which,
    },
    /// A seat loses the match
    Forfeit {
        #[command(flatten)]
        which: Which,
        /// first or second
        #[arg(value_parser = seat)]
        seat: Seat,
    },
    /// Write a note in its ledger; both players are told
    Note {
        #[command(flatten)]
        which: Which,
        /// The note
        #[arg(required = true)]
        text: Vec<String>,
    },
    /// Give a seat to somebody else
    Replace {
        #[command(flatten)]
        which: Which,
        /// first or second
        #[arg(value_parser = seat)]
        seat: Seat,
        /// Who takes it over: a mail address, or the house, as `house:average`
        #[arg(value_parser = party)]
        by: Party,
    },
    /// File orders for a seat
    ActAs {
        #[command(flatten)]
        which: Which,
        /// first or second
        #[arg(value_parser = seat)]
        seat: Seat,
        /// The orders, one a line; `-` for standard input
        file: PathBuf,
    },
    /// Open a turn again that was adjudicated; what was decided from there on is void
    Rollback {
        /// Its name, such as QZ-7K3M
        #[arg(value_name = "MATCH")]
        id: String,
        /// The turn that is to be open again
        #[arg(long = "to")]
        to: u32,
        /// Both players are told
        #[arg(long)]
        reason: String,
    },
    /// Decide a turn anew on other orders of a seat; what was decided after it is void
    Correct {
        /// Its name, such as QZ-7K3M
        #[arg(value_name = "MATCH")]
        id: String,
        /// first or second
        #[arg(value_parser = seat)]
        seat: Seat,
        /// The orders that should have counted, one a line; `-` for standard input
        file: PathBuf,
        /// The turn to be decided anew
        #[arg(long)]
        turn: u32,
        /// Both players are told
        #[arg(long)]
        reason: String,
    },
}

/// The match that is meant, and its turn.
#[derive(clap::Args)]
struct Which {
    /// Its name, such as QZ-7K3M
    #[arg(value_name = "MATCH")]
    id: String,
    /// Do nothing unless this turn is open
    #[arg(long)]
    turn: Option<u32>,
}

impl Which {
    fn act(self, act: Act) -> Instruction {
        self.action(MatchAction::Act(act))
    }

    fn action(self, action: MatchAction) -> Instruction {
        Instruction::Match { id: self.id, turn: self.turn, action }
    }
}

/// Carries an instruction out and prints what came of it, for people or as JSON.
///
/// # Errors
/// Why nothing was done, in one line.
pub(super) async fn ask(office: &Office, instruction: &Instruction, json: bool) -> anyhow::Result<ExitCode> {
    let done = office.carry_out(instruction).await?;
    let told = office.tell(&done)?;
    if !done.is_done() {
        bail!("{}", told.split_whitespace().collect::<Vec<_>>().join(" "));
    }
    match json {
        true => println!("{}", serde_json::to_string(&done)?),
        false => print!("{told}"),
    }
    Ok(ExitCode::SUCCESS)
}

pub(super) fn seat(text: &str) -> Result<Seat, String> {
    Seat::parse(text).ok_or_else(|| "it is first or second".to_owned())
}

/// The order lines of a file.
fn orders(file: &Path) -> anyhow::Result<Vec<Line>> {
    let text = match file.to_str() {
        Some("-") => std::io::read_to_string(std::io::stdin()).context("standard input")?,
        _ => std::fs::read_to_string(file).with_context(|| file.display().to_string())?,
    };
    Ok(record::lines(&text))
}

#[derive(clap::Args)]
struct New {
    /// quadrant-z, pacific, quantum or quad; see `fogpost games`
    #[arg(value_parser = game, required_unless_present = "from")]
    game: Option<GameKind>,
    /// Who holds the seat `first`: `ann@example.org`, `Ann <ann@example.org>`, or the house, as `house:average`
    #[arg(value_parser = sitter, required_unless_present = "from")]
    first: Option<Sitter>,
    /// Who holds the seat `second`
    #[arg(value_parser = sitter, required_unless_present = "from")]
    second: Option<Sitter>,
    /// Open all matches of a list, or none: a CSV file with the columns game, first, second, and as wanted options,
    /// days, setup_days, zone
    #[arg(long, value_name = "FILE", conflicts_with_all = ["game", "options", "days", "setup_days", "zone"])]
    from: Option<PathBuf>,
    /// An option of the game, `name=value`; can be given several times
    #[arg(long = "option", short, value_name = "NAME=VALUE")]
    options: Vec<String>,
    /// Days for each turn
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=365))]
    days: Option<u32>,
    /// Days for the setup
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=365))]
    setup_days: Option<u32>,
    /// The zone of the deadlines, such as Europe/Berlin
    #[arg(long)]
    zone: Option<chrono_tz::Tz>,
}

pub(super) fn game(text: &str) -> Result<GameKind, String> {
    GameKind::parse(text).ok_or_else(|| {
        let known: Vec<_> = GameKind::ALL.iter().map(|kind| kind.key()).collect();
        format!("known are {}", known.join(", "))
    })
}

/// Who is to hold a seat, as far as it can be read without knowing the game.
#[derive(Clone, Debug)]
pub(super) enum Sitter {
    Player(NamedAddress),
    House(Option<String>),
}

impl Sitter {
    /// Who it is in this game; `custom` is what the club has of the house.
    pub(super) fn holder(self, game: GameKind, custom: &config::House) -> Result<Holder, String> {
        match self {
            Sitter::Player(seated) => Ok(Holder::Player(seated)),
            Sitter::House(level) => {
                let levels: Vec<_> = game.levels().iter().map(|level| level.name).collect();
                custom.level(game, level.as_deref()).map(Holder::House).map_err(|_| match levels[..] {
                    [] => format!("the house does not play {}", game.name()),
                    _ => format!("the house plays {} as {}", game.name(), levels.join(", ")),
                })
            }
        }
    }
}

/// The options of a match between these two: those of the house's level hold unless others are given.
pub(super) fn choices(
    game: GameKind,
    players: &BySeat<Holder>,
    given: &[(&str, &str)],
) -> Result<Choices, String> {
    match [&players.first, &players.second] {
        [Holder::House(level), _] | [_, Holder::House(level)] => game.choose_at(level, given),
        _ => game.choose(given.iter().copied()),
    }
}

pub(super) fn sitter(text: &str) -> Result<Sitter, String> {
    match Party::parse(text) {
        Some(Party::House(level)) => Ok(Sitter::House(level)),
        _ => seated(text).map(Sitter::Player),
    }
}

fn party(text: &str) -> Result<Party, String> {
    Party::parse(text).ok_or_else(|| "name@example.org or house:average would do".to_owned())
}

fn seated(text: &str) -> Result<NamedAddress, String> {
    let (name, address) = match text.trim().strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((name, address)) => (name.trim().trim_matches('"').to_owned(), address),
        None => (String::new(), text),
    };
    let address =
        Address::parse(address).map_err(|_| "name@example.org or Name <name@example.org> would do")?;
    if !name.is_empty() {
        fit_name(&name)?;
    }
    Ok(NamedAddress { name, address })
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
            Command::Pause { which, reason } => which.act(Act::Pause { reason }),
            Command::Resume { which } => which.act(Act::Resume),
            Command::Abandon { which } => which.act(Act::Abandon),
            Command::Extend { which, days } => which.act(Act::Extend { days }),
            Command::Adjudicate { which } => which.act(Act::Adjudicate),
            Command::Forfeit { which, seat } => which.act(Act::Forfeit(seat)),
            Command::Note { which, text } => which.act(Act::Note { text: text.join(" ") }),
            Command::Replace { which, seat, by } => which.action(MatchAction::Replace { seat, by }),
            Command::ActAs { which, seat, file } => which.act(Act::File { seat, orders: orders(&file)? }),
            Command::Rollback { id, to, reason } => {
                Which { id, turn: None }.action(MatchAction::Correct { turn: to, reason, orders: None })
            }
            Command::Correct { id, seat, file, turn, reason } => {
                let orders = Some((seat, orders(&file)?));
                Which { id, turn: None }.action(MatchAction::Correct { turn, reason, orders })
            }
        };
        ask(office, &instruction, json).await
    }
}

impl New {
    async fn run(self, office: &Office, json: bool) -> anyhow::Result<()> {
        if let Some(from) = &self.from {
            let new = super::pairs::read(from, &office.config)?;
            let opened = office.open_all(&new).await?;
            for game_match in &opened {
                match json {
                    true => println!("{}", json!({ "match": game_match.id })),
                    false => {
                        println!(
                            "{} {}: {} against {}",
                            game_match.id,
                            game_match.game,
                            game_match.players.first,
                            game_match.players.second
                        )
                    }
                }
            }
            return Ok(());
        }
        let (Some(game), Some(first), Some(second)) = (self.game, self.first, self.second) else {
            bail!("a game and two players, or --from FILE")
        };
        let pairs = self.options.iter().map(|option| {
            option.split_once('=').with_context(|| format!("--option {option}: NAME=VALUE would do"))
        });
        let pairs = pairs.collect::<anyhow::Result<Vec<_>>>()?;
        let holder = |sitter: Sitter| sitter.holder(game, &office.config.house).map_err(anyhow::Error::msg);
        let players = BySeat::new(holder(first)?, holder(second)?);
        let choices = choices(game, &players, &pairs).map_err(anyhow::Error::msg)?;
        let mut terms = office.config.terms.clone();
        terms.days = self.days.unwrap_or(terms.days);
        terms.setup_days = self.setup_days.unwrap_or(terms.setup_days);
        terms.zone = self.zone.unwrap_or(terms.zone);
        let game_match = office.open(NewMatch { game, choices, players, terms }).await?;
        if json {
            println!("{}", json!({ "match": game_match.id }));
        } else {
            println!("{} is open; the first letters wait on the outbox.", game_match.id);
        }
        Ok(())
    }
}

async fn find(office: &Office, id: &str) -> anyhow::Result<Match> {
    let id = id.to_ascii_uppercase();
    match office.store.matches(std::slice::from_ref(&id)).await?.pop() {
        Some(row) => Ok(serde_json::from_str(&row.snapshot)?),
        None => bail!("there is no match {id}; `fogpost match list` shows all"),
    }
}

async fn list(office: &Office, stage: Option<Stage>, json: bool) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for row in office.store.list_matches(stage).await? {
        let game_match: Match = serde_json::from_str(&row.snapshot)?;
        if json {
            println!("{}", summary(&game_match));
            continue;
        }
        rows.push(vec![
            game_match.id.clone(),
            game_match.players.first.clone(),
            game_match.players.second.clone(),
            phase(&game_match),
            waits_for(&game_match),
            game_match
                .deadline
                .map(|deadline| format_local(deadline, game_match.terms.zone))
                .unwrap_or_default(),
        ]);
    }
    if !json {
        println!("{}", super::table(&["match", "first", "second", "phase", "waits for", "due"], rows));
    }
    Ok(())
}

fn show(game_match: &Match, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", summary(game_match));
        return Ok(());
    }
    let filed = |held: &Option<crate::referee::FiledOrders>| {
        held.as_ref().map_or("no".to_owned(), |held| format_local(held.at, game_match.terms.zone))
    };
    let rows = [
        ("match", game_match.id.clone()),
        ("game", game_match.game.name().to_owned()),
        (
            "options",
            game_match
                .state
                .options()
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(" "),
        ),
        ("first", game_match.players.first.clone()),
        ("second", game_match.players.second.clone()),
        ("stage", game_match.stage.as_str().to_owned()),
        ("phase", phase(game_match)),
        ("first filed", filed(&game_match.held.first)),
        ("second filed", filed(&game_match.held.second)),
        ("waits for", waits_for(game_match)),
        (
            "due",
            game_match
                .deadline
                .map(|deadline| format_local(deadline, game_match.terms.zone))
                .unwrap_or_default(),
        ),
        ("ledger", format!("#{} sha256 {}", game_match.head.seq, game_match.head.hash)),
    ];
    for (name, value) in rows {
        println!("{name:<13} {value}");
    }
    Ok(())
}

fn phase(game_match: &Match) -> String {
    match (game_match.due(), game_match.state.outcome()) {
        (Some(due), _) if due.turn == 0 => due.phase.to_string(),
        (Some(due), _) => format!("turn {} ({})", due.turn, due.phase),
        (None, Some(outcome)) => match outcome.winner {
            Some(winner) => format!("{winner} won ({})", outcome.reason),
            None => format!("nobody won ({})", outcome.reason),
        },
        (None, None) => String::new(),
    }
}

fn waits_for(game_match: &Match) -> String {
    game_match.awaited().iter().map(|seat| game_match.players[*seat].clone()).collect::<Vec<_>>().join(", ")
}

fn summary(game_match: &Match) -> serde_json::Value {
    json!({
        "match": game_match.id,
        "game": game_match.game,
        "options": game_match.state.options(),
        "players": game_match.players,
        "stage": game_match.stage,
        "due": game_match.due(),
        "awaited": game_match.awaited(),
        "deadline": game_match.deadline,
        "outcome": game_match.state.outcome(),
        "ledger": game_match.head,
    })
}
