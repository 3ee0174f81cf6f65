//! `fogpost event`: announces events, shows them, and acts on one as the GM.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, bail, ensure};
use chrono::Utc;
use serde_json::json;

use super::arguments::{ActingGm, Output, read_text};
use super::instruct::carry_out;
use super::output::{print_json, print_list, print_table, put_line};
use super::tables::{self, TableKind, TableRow, print_csv};
use crate::club::events::event::{Event, EventStage, Pairing};
use crate::club::events::keys::{self, Format, KEYS, Lacking};
use crate::club::member::number;
use crate::club::names::{NamedPlayer, name_with_number, nearest_events};
use crate::daemon::Office;
use crate::daemon::load::{load_event, stage_in_words};
use crate::ledger::book::BookOutcome;
use crate::referee::{EventAction, ImportedResult, Instruction};
use crate::report::{count_of, format_local};

/// Announce leagues, cups and ladders, and act on one as the GM
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
    /// Announce an event from a plan; with --check, only show what would be done
    #[command(after_help = keys_of_a_plan())]
    New {
        /// File with the plan; `-` for standard input
        #[arg(value_name = "PLAN.toml", required_unless_present = "example")]
        plan: Option<PathBuf>,
        /// Print a plan to copy, with every key and what it means: league, cup or ladder
        #[arg(long, value_name = "FORMAT", value_parser = format, conflicts_with = "plan")]
        example: Option<Format>,
    },
    /// List all events
    List,
    /// Show an event: its stage, entrants and matches
    Show(EventId),
    /// Print the standings of an event
    Standings {
        #[command(flatten)]
        event: EventId,
        /// Season; by default the last one
        #[arg(long)]
        season: Option<u32>,
        /// Print CSV
        #[arg(long)]
        csv: bool,
    },
    /// Begin the next season now
    Open(EventId),
    /// Take no more entries; no further season follows
    Close(EventId),
    /// Cancel an event; running matches go on as friendly ones
    Cancel(Words),
    /// Record a note in the book
    Note(Words),
    /// Admit a player regardless of the conditions
    #[command(after_help = "For example: fogpost event enter EV-SPRING Eve She asked me on the phone.")]
    Enter(PlayerWords),
    /// Remove a player
    #[command(after_help = "For example: fogpost event strike EV-SPRING P-12 He is ill.")]
    Strike(PlayerWords),
    /// Give the place and the matches of one player to another
    #[command(after_help = "For example: fogpost event replace EV-SPRING Eve Bo She is ill.")]
    Replace(TwoPlayersWords),
    /// Move the end of the season, or the next opening
    Extend {
        #[command(flatten)]
        event: EventId,
        /// Days
        #[arg(value_parser = clap::value_parser!(u32).range(1..=366))]
        days: u32,
        /// The reason, recorded in the book; the word `days` may stand before it
        #[arg(required = true)]
        reason: Vec<String>,
    },
    /// Enter a result for a match that ended without one
    Result {
        #[command(flatten)]
        event: EventId,
        /// Name of the match, such as QD-7K3M
        #[arg(value_name = "MATCH")]
        match_id: String,
        /// first, second, draw or none
        #[arg(value_parser = outcome)]
        outcome: BookOutcome,
        /// The reason, recorded in the book
        #[arg(required = true)]
        reason: Vec<String>,
    },
    /// Take over a league that began elsewhere
    Import {
        #[command(flatten)]
        event: EventId,
        /// Table with the columns section, first, second and result (first, second, draw, or nothing)
        #[arg(value_name = "RESULTS.csv")]
        file: PathBuf,
    },
}

/// The event that a command names.
#[derive(clap::Args)]
struct EventId {
    /// Name of the event, such as EV-SPRING
    #[arg(value_name = "EVENT")]
    id: String,
}

/// An event, and a text about it.
#[derive(clap::Args)]
struct Words {
    #[command(flatten)]
    event: EventId,
    /// The text or reason, recorded in the book
    #[arg(required = true, value_name = "TEXT")]
    words: Vec<String>,
}

/// An event, a player, and why.
#[derive(clap::Args)]
struct PlayerWords {
    #[command(flatten)]
    event: EventId,
    /// The player, by name, number or address; then the reason, recorded in the book
    // One name: of several, the help would show all but the first as optional.
    #[arg(required = true, value_name = "PLAYER> <REASON")]
    words: Vec<String>,
}

/// An event, two players, and why.
#[derive(clap::Args)]
struct TwoPlayersWords {
    #[command(flatten)]
    event: EventId,
    /// The player who leaves and the one who comes, by name, number or address; then the reason, recorded in the book
    #[arg(required = true, value_name = "PLAYER> <OTHER> <REASON")]
    words: Vec<String>,
}

fn outcome(text: &str) -> Result<BookOutcome, String> {
    let found = BookOutcome::parse(text).filter(|outcome| *outcome != BookOutcome::Both);
    found.ok_or_else(|| "must be first, second, draw or none".to_owned())
}

fn format(text: &str) -> Result<Format, String> {
    Format::parse(text).ok_or_else(|| format!("must be {}", Format::NAMES.join(", ")))
}

/// Lists the keys of a plan for `--help`.
fn keys_of_a_plan() -> String {
    let mut text = "Keys of a plan; * marks those that it needs:\n".to_owned();
    for key in &KEYS {
        let mark = if key.lacking == Lacking::Refused { '*' } else { ' ' };
        let options = textwrap::Options::new(80).subsequent_indent("                 ");
        let line = textwrap::fill(&format!("{mark} {:<14} {}", key.name, key.means), options);
        text += &line;
        text.push('\n');
    }
    text + "\n`fogpost event new --example league` prints a plan to copy."
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        if let Command::New { example: Some(format), .. } = self.command {
            print!("{}", keys::example(format, (Utc::now() + keys::UNTIL_OPENING).date_naive()));
            return Ok(ExitCode::SUCCESS);
        }
        super::in_club(config, async |office| {
            match &self.command {
                Command::List => return list(office, self.output.json).await,
                Command::Show(event) => return show(office, &event.id, self.output.json).await,
                Command::Standings { event, season, csv } => {
                    return standings(office, &event.id, *season, *csv, self.output.json).await;
                }
                _ => {}
            }
            carry_out(office, &self.gm, &instruction(self.command)?, self.output).await
        })
    }
}

fn instruction(command: Command) -> anyhow::Result<Instruction> {
    let (event, action) = match command {
        Command::New { plan, .. } => {
            let plan = plan.context("name the file with the plan")?;
            return Ok(Instruction::NewEvent { plan: read_text(&plan)? });
        }
        Command::Open(event) => (event, EventAction::Open),
        Command::Close(event) => (event, EventAction::Close),
        Command::Cancel(Words { event, words }) => (event, EventAction::Cancel { reason: words.join(" ") }),
        Command::Note(Words { event, words }) => (event, EventAction::Note { text: words.join(" ") }),
        Command::Enter(PlayerWords { event, words }) => (event, EventAction::Enter { words: split(&words) }),
        Command::Strike(PlayerWords { event, words }) => {
            (event, EventAction::Strike { words: split(&words) })
        }
        Command::Replace(TwoPlayersWords { event, words }) => {
            (event, EventAction::Replace { words: split(&words) })
        }
        Command::Extend { event, days, reason } => {
            let words: Vec<&str> = reason.iter().flat_map(|word| word.split_whitespace()).collect();
            (event, EventAction::extend(days, &words).map_err(anyhow::Error::msg)?)
        }
        Command::Result { event, match_id, outcome, reason } => {
            (event, EventAction::Result { match_id, outcome, reason: reason.join(" ") })
        }
        Command::Import { event, file } => {
            let rows = tables::read(&file, &RESULTS, imported_result)?;
            (event, EventAction::Import { rows })
        }
        Command::List | Command::Show(_) | Command::Standings { .. } => bail!("nothing to do"),
    };
    Ok(Instruction::Event { id: event.id, action })
}

/// Splits arguments that contain several words, so that each word is one item.
fn split(words: &[String]) -> Vec<String> {
    words.iter().flat_map(|word| word.split_whitespace()).map(str::to_owned).collect()
}

/// The columns of a table of results from elsewhere.
const RESULTS: TableKind<'static> = TableKind {
    columns: &["section", "first", "second", "result"],
    required: &["section", "first", "second", "result"],
    item: "result",
    done: "entered",
};

fn imported_result(row: &TableRow<'_>) -> Result<ImportedResult, String> {
    let written = row.get("result");
    let wrong = |text: &str, says| format!("the result `{text}` {says}");
    let outcome = written.map(|text| outcome(text).map_err(|says| wrong(text, says))).transpose()?;
    Ok(ImportedResult {
        line: row.line,
        section: section(row.required("section")?)?,
        first: row.required("first")?.to_owned(),
        second: row.required("second")?.to_owned(),
        outcome,
    })
}

/// Reads the number of a section. A spreadsheet may write it with decimals, as `1.0` or `1,0`.
fn section(text: &str) -> Result<u32, String> {
    let whole = match text.split_once(['.', ',']) {
        Some((whole, decimals)) if decimals.bytes().all(|digit| digit == b'0') => whole,
        _ => text,
    };
    whole.parse().map_err(|_| format!("the section `{text}` is not a number"))
}

async fn list(office: &Office, json: bool) -> anyhow::Result<ExitCode> {
    let mut rows = Vec::new();
    for row in office.store.events().await? {
        if json {
            print_json(
                &json!({ "event": row.id, "name": row.name, "game": row.game.key(), "stage": row.stage }),
            );
            continue;
        }
        let stage = stage_in_words(office, &row).await?;
        rows.push(vec![row.id, row.name, row.game.name().to_owned(), stage.to_owned()]);
    }
    if !json {
        print_list(&["event", "name", "game", "stage"], rows, "There is no event.");
    }
    Ok(ExitCode::SUCCESS)
}

async fn find_event(office: &Office, id: &str) -> anyhow::Result<Event> {
    let id = id.to_ascii_uppercase();
    if let Some(loaded) = load_event(office, &id).await? {
        return Ok(loaded.event);
    }
    let all = office.store.events().await?.into_iter().map(|row| row.id);
    match &nearest_events(&id, all)[..] {
        [] => bail!("there is no event {id}; `fogpost event list` lists them"),
        nearest => bail!("there is no event {id}; nearest: {}", nearest.join(", ")),
    }
}

async fn show(office: &Office, id: &str, json: bool) -> anyhow::Result<ExitCode> {
    let event = find_event(office, id).await?;
    let games = event.running().map(|season| season.games.clone()).unwrap_or_default();
    if json {
        let matches: Vec<_> = games.iter().map(|game| &game.match_id).collect();
        let entrants: Vec<String> = event.entrants.iter().map(|player| number(*player)).collect();
        print_json(&json!({
            "plan": event.plan, "stage": event.stage, "opens": event.opens, "entrants": entrants,
            "season": event.season().map(|season| season.no), "ends": event.running().map(|season| season.ends),
            "matches": matches, "head": event.head.hash,
        }));
        return Ok(ExitCode::SUCCESS);
    }
    let span = event.plan.format.span();
    let local = |at| format_local(at, office.config.terms.zone, office.now());
    println!(
        "{} {}: {} of {}, {}",
        event.plan.id,
        event.plan.name,
        event.plan.format,
        event.plan.game,
        event.stage_in_words()
    );
    if let Some(opens) = event.opens.filter(|_| event.stage == EventStage::Entries) {
        let no = event.season().map_or(1, |season| season.no + 1);
        println!("{span} {no} begins {}", local(opens));
    }
    if let Some(season) = event.running() {
        let open = games.iter().filter(|game| game.result.is_none()).count();
        println!(
            "{span} {} ends {}; {open} of {} matches without a result",
            season.no,
            local(season.ends),
            games.len()
        );
    }
    let counted = event.entrants.len();
    match event.is_begun_cup() && event.stage == EventStage::Entries {
        true => println!("{} of {counted} go on; book sha256 {}", event.next_entrants(), event.head.hash),
        false => println!("{counted} in; book sha256 {}", event.head.hash),
    }
    list_players_and_games(&event, &games, &names(office).await?);
    Ok(ExitCode::SUCCESS)
}

/// Prints each entrant and each match of the season in a line.
fn list_players_and_games(event: &Event, games: &[Pairing], names: &BTreeMap<i64, String>) {
    let named = |player: i64| {
        let name = names.get(&player).cloned().unwrap_or_default();
        name_with_number(&NamedPlayer { id: player, name })
    };
    let goes_on = event.is_begun_cup() && event.stage == EventStage::Entries;
    for player in if goes_on { event.next_players() } else { event.entrants.clone() }.iter() {
        put_line(&named(*player));
    }
    let row = |game: &Pairing| {
        let result = game.result.as_ref().map(|result| result.outcome.to_string());
        let id = game.match_id.clone().unwrap_or_default();
        vec![id, named(game.first), named(game.second), result.unwrap_or_default()]
    };
    if !games.is_empty() {
        print_table(&["match", "first", "second", "result"], games.iter().map(row).collect());
    }
}

/// Returns the names of all players by number.
async fn names(office: &Office) -> anyhow::Result<BTreeMap<i64, String>> {
    let listed = office.store.listed_players().await?;
    Ok(listed.into_iter().map(|listed| (listed.id, listed.name)).collect())
}

/// Says why an event has no standings of a season.
fn no_season(office: &Office, event: &Event, no: Option<u32>) -> String {
    let id = &event.plan.id;
    match (event.seasons.len(), event.opens) {
        (0, Some(opens)) => {
            let opens = format_local(opens, office.config.terms.zone, office.now());
            format!("{id} has not begun, so there are no standings; it begins {opens}")
        }
        (0, None) => format!("{id} has not begun, so there are no standings"),
        (seasons, _) => {
            let no = no.unwrap_or_default();
            format!("{id} has had no season {no}; it has had {}", count_of(seasons, "season", "seasons"))
        }
    }
}

async fn standings(
    office: &Office,
    id: &str,
    no: Option<u32>,
    csv: bool,
    json: bool,
) -> anyhow::Result<ExitCode> {
    ensure!(!(csv && json), "choose --csv or --json");
    let event = find_event(office, id).await?;
    let season = match no {
        Some(no) => event.seasons.iter().find(|season| season.no == no),
        None => event.season(),
    };
    let season = season.with_context(|| no_season(office, &event, no))?;
    let names = names(office).await?;
    let mut rows = Vec::new();
    for (section, table) in (1..).zip(season.tables()) {
        for row in table {
            let name = names.get(&row.player).cloned().unwrap_or_default();
            if json {
                print_json(&json!({
                    "section": section, "place": row.place, "player": number(row.player), "name": name,
                    "points": f64::from(row.points) / 2.0, "direct": f64::from(row.direct) / 2.0,
                    "sonneborn_berger": f64::from(row.berger) / 4.0, "wins": row.wins,
                }));
                continue;
            }
            let mut line = vec![section.to_string(), row.place.to_string(), number(row.player), name];
            line.extend(row.figures());
            rows.push(line);
        }
    }
    if json {
        return Ok(ExitCode::SUCCESS);
    }
    let head = ["section", "place", "number", "player", "points", "direct", "sonneborn-berger", "wins"];
    if !csv {
        print_table(&head, rows);
        return Ok(ExitCode::SUCCESS);
    }
    print_csv(&head, &rows)?;
    Ok(ExitCode::SUCCESS)
}
