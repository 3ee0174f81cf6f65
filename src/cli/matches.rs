//! `fogpost match`: open matches, list them, stop them and let them go on.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, bail};
use serde_json::json;

use crate::config::Config;
use crate::daemon::{NewMatch, Office, Seated};
use crate::game::BySeat;
use crate::game::any::Kind;
use crate::letter::Address;
use crate::referee::{Act, Match};
use crate::report::local;

/// Open matches, list them, pause, resume or abandon one
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
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
        #[arg(long)]
        json: bool,
    },
    /// Show where one match stands; nothing that is hidden from either side
    Show {
        #[arg(value_name = "MATCH")]
        id: String,
        #[arg(long)]
        json: bool,
    },
    /// Let its deadlines stand still
    Pause {
        #[arg(value_name = "MATCH")]
        id: String,
        /// The players are told
        #[arg(long, default_value = "the GM has paused it")]
        reason: String,
    },
    /// Let a paused match go on
    Resume {
        #[arg(value_name = "MATCH")]
        id: String,
    },
    /// End a match without a winner
    Abandon {
        #[arg(value_name = "MATCH")]
        id: String,
    },
}

#[derive(clap::Args)]
struct New {
    /// quadrant-z, pacific, quantum or quad; see `fogpost games`
    #[arg(value_parser = game)]
    game: Kind,
    /// Who holds the seat `first`: `ann@example.org` or `Ann <ann@example.org>`
    #[arg(value_parser = seated)]
    first: Seated,
    /// Who holds the seat `second`
    #[arg(value_parser = seated)]
    second: Seated,
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
    #[arg(long)]
    json: bool,
}

pub(super) fn game(text: &str) -> Result<Kind, String> {
    Kind::parse(text).ok_or_else(|| {
        let known: Vec<_> = Kind::ALL.iter().map(|kind| kind.key()).collect();
        format!("known are {}", known.join(", "))
    })
}

fn seated(text: &str) -> Result<Seated, String> {
    let (name, address) = match text.trim().strip_suffix('>').and_then(|text| text.rsplit_once('<')) {
        Some((name, address)) => (name.trim().trim_matches('"').to_owned(), address),
        None => (String::new(), text),
    };
    let address =
        Address::parse(address).map_err(|_| "name@example.org or Name <name@example.org> would do")?;
    Ok(Seated { name, address })
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        let config = Config::load(config)?;
        super::block_on(async {
            let office = super::office(config).await?;
            match self.command {
                Command::New(new) => new.run(&office).await?,
                Command::List { stage, json } => list(&office, stage.as_deref(), json).await?,
                Command::Show { id, json } => show(&find(&office, &id).await?, json)?,
                Command::Pause { id, reason } => told(&office.act(&id, &Act::Pause { reason }).await?),
                Command::Resume { id } => told(&office.act(&id, &Act::Resume).await?),
                Command::Abandon { id } => told(&office.act(&id, &Act::Abandon).await?),
            }
            office.close().await;
            Ok(ExitCode::SUCCESS)
        })
    }
}

impl New {
    async fn run(self, office: &Office) -> anyhow::Result<()> {
        let pairs = self.options.iter().map(|option| {
            option.split_once('=').with_context(|| format!("--option {option}: NAME=VALUE would do"))
        });
        let pairs = pairs.collect::<anyhow::Result<Vec<_>>>()?;
        let choices = self.game.choose(pairs).map_err(anyhow::Error::msg)?;
        let mut terms = office.config.terms.clone();
        terms.days = self.days.unwrap_or(terms.days);
        terms.setup_days = self.setup_days.unwrap_or(terms.setup_days);
        terms.zone = self.zone.unwrap_or(terms.zone);
        let players = BySeat::new(self.first, self.second);
        let m = office.open(NewMatch { game: self.game, choices, players, terms }).await?;
        if self.json {
            println!("{}", json!({ "match": m.id }));
        } else {
            println!("{} is open; the first letters wait on the outbox.", m.id);
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

async fn list(office: &Office, stage: Option<&str>, json: bool) -> anyhow::Result<()> {
    let mut rows = Vec::new();
    for row in office.store.list_matches(stage).await? {
        let m: Match = serde_json::from_str(&row.snapshot)?;
        if json {
            println!("{}", summary(&m));
            continue;
        }
        rows.push(vec![
            m.id.clone(),
            m.players.first.clone(),
            m.players.second.clone(),
            phase(&m),
            waits_for(&m),
            m.deadline.map(|deadline| local(deadline, m.terms.zone)).unwrap_or_default(),
        ]);
    }
    if !json {
        println!("{}", super::table(&["match", "first", "second", "phase", "waits for", "due"], rows));
    }
    Ok(())
}

fn show(m: &Match, json: bool) -> anyhow::Result<()> {
    if json {
        println!("{}", summary(m));
        return Ok(());
    }
    let filed = |held: &Option<crate::referee::Held>| {
        held.as_ref().map_or("no".to_owned(), |held| local(held.at, m.terms.zone))
    };
    let rows = [
        ("match", m.id.clone()),
        ("game", m.game.name().to_owned()),
        (
            "options",
            m.state
                .options()
                .iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect::<Vec<_>>()
                .join(" "),
        ),
        ("first", m.players.first.clone()),
        ("second", m.players.second.clone()),
        ("stage", m.stage.as_str().to_owned()),
        ("phase", phase(m)),
        ("first filed", filed(&m.held.first)),
        ("second filed", filed(&m.held.second)),
        ("waits for", waits_for(m)),
        ("due", m.deadline.map(|deadline| local(deadline, m.terms.zone)).unwrap_or_default()),
        ("ledger", format!("#{} sha256 {}", m.head.seq, m.head.hash)),
    ];
    for (name, value) in rows {
        println!("{name:<13} {value}");
    }
    Ok(())
}

fn phase(m: &Match) -> String {
    match (m.due(), m.state.outcome()) {
        (Some(due), _) if due.turn == 0 => due.phase.to_string(),
        (Some(due), _) => format!("turn {} ({})", due.turn, due.phase),
        (None, Some(outcome)) => match outcome.winner {
            Some(winner) => format!("{winner} won ({})", outcome.reason),
            None => format!("nobody won ({})", outcome.reason),
        },
        (None, None) => String::new(),
    }
}

fn waits_for(m: &Match) -> String {
    m.awaited().iter().map(|seat| m.players[*seat].clone()).collect::<Vec<_>>().join(", ")
}

fn summary(m: &Match) -> serde_json::Value {
    json!({
        "match": m.id,
        "game": m.game,
        "options": m.state.options(),
        "players": m.players,
        "stage": m.stage,
        "due": m.due(),
        "awaited": m.awaited(),
        "deadline": m.deadline,
        "outcome": m.state.outcome(),
        "ledger": m.head,
    })
}

fn told(m: &Match) {
    println!("{} is {}.", m.id, m.stage.as_str());
}
