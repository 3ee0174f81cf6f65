//! `fogpost demo`: two correspondents play a whole match by real letters, without a server or an account.
//!
//! They deliver their letters into the referee's Maildir, and the daemon answers into theirs. Their orders
//! come from a recorded match of each game, so every demo tells the same story.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, ensure};
use chrono::Utc;
use indicatif::{ProgressBar, ProgressStyle};

use self::correspondent::Correspondent;
use self::play::DemoPlay;
use crate::config::Config;
use crate::daemon::{Holder, NamedAddress, NewMatch, Office, instruct, loops};
use crate::game::BySeat;
use crate::game::any::GameKind;
use crate::game::record::{By, Filed, Record};
use crate::ledger::{self, Entry};
use crate::letter::Address;
use crate::post::maildir;
use crate::referee::{Match, Stage};
use crate::store::{Database, private};

mod correspondent;
mod play;
mod prompt;
mod story;
mod tamper;

/// Replay a recorded match by real letters between two correspondents, on this machine alone
///
/// With --play you play against the house yourself: you read and answer the referee's letters at a prompt, or with
/// mutt. With --resume you go on with such a match.
#[derive(clap::Args)]
pub struct Args {
    /// The game to play
    #[arg(long, default_value = "quadrant-z", value_parser = super::arguments::game)]
    game: GameKind,
    /// Play this game yourself, by letter, against the house
    #[arg(long, value_name = "GAME", conflicts_with = "game", value_parser = super::arguments::game)]
    play: Option<GameKind>,
    /// The level of the house, with --play
    #[arg(long, default_value = "easy", requires = "play")]
    level: String,
    /// Go on with the match that --play left in this folder
    #[arg(long, value_name = "DIR", conflicts_with_all = ["game", "play", "folder", "tamper"])]
    resume: Option<PathBuf>,
    /// Alter one letter in the database afterwards, and verify the match
    #[arg(long, conflicts_with = "play")]
    tamper: bool,
    /// Folder for the letters, reports and database; it must not exist yet
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
}

impl Args {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if let Some(folder) = &self.resume {
            super::block_on(DemoPlay::resume(folder))?;
            return Ok(ExitCode::SUCCESS);
        }
        let folder = self.folder.clone().unwrap_or_else(free_folder);
        ensure!(!folder.exists(), "{} already exists; choose another name with --folder", folder.display());
        utf8(&folder)?;
        let play = self.play.map(|game| DemoPlay::new(&folder, game, &self.level)).transpose()?;
        // Create the folders only after the checks: a folder left by a refused command would make the
        // corrected one fail.
        maildir::create_folders(&folder).with_context(|| folder.display().to_string())?;
        super::block_on(async {
            if let Some(play) = play {
                play.run().await?;
                return Ok(ExitCode::SUCCESS);
            }
            let office = office(&folder, "").await?;
            let game_match = play_both(&office, &folder, &record(self.game)?).await?;
            let entries = entries(&office.store, &game_match.id).await?;
            story::tell(&office, &game_match, &entries, &folder).await?;
            if self.tamper {
                tamper::tamper(&office, &game_match, &folder).await?;
            }
            office.close().await;
            Ok(ExitCode::SUCCESS)
        })
    }
}

/// Returns the recorded match of a game.
fn record(game: GameKind) -> anyhow::Result<Record> {
    let text = match game {
        GameKind::QuadrantZ => include_str!("records/quadrant-z.toml"),
        GameKind::Pacific => include_str!("records/pacific.toml"),
        GameKind::Quantum => include_str!("records/quantum.toml"),
        GameKind::Quad => include_str!("records/quad.toml"),
    };
    Ok(Record::parse(text)?)
}

/// Opens a match and sends the filings of the record as letters.
async fn play_both(office: &Office, folder: &Path, record: &Record) -> anyhow::Result<Match> {
    let (first, second) = (&record.players.first, &record.players.second);
    let players = BySeat::new(named_address(first)?, named_address(second)?);
    let mail = folder.join("mail");
    let mut people = players.clone().map(|who| Correspondent::new(who, &mail));
    let new = NewMatch {
        game: record.game,
        choices: record.options.clone(),
        players: players.map(Holder::Player),
        terms: office.config.terms.clone(),
    };
    let id = instruct::open(office, new).await?.id;
    println!("{id} opens: {} between {first} and {second}, by letter.", record.game.name());
    let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {msg}")?);
    let mut rest = &record.filings[..];
    loop {
        loops::once(office).await?;
        let game_match = find(office, &id).await?;
        if rest.is_empty() {
            bar.finish_and_clear();
            ensure!(game_match.stage == Stage::Over, "{id} is not over after the last letter of the record");
            return Ok(game_match);
        }
        let turn = game_match.due().map_or(0, |due| due.turn);
        let counts = people.as_ref().map(|who| who.letters_written);
        bar.set_message(format!(
            "turn {turn}: {} letters from {first}, {} from {second}",
            counts.first, counts.second
        ));
        bar.tick();
        let (round, later) = rest.split_at(sent_together(rest, &game_match));
        for filed in round {
            if let By::Seat(seat, orders) = &filed.by {
                people[*seat].answer(orders)?;
            }
        }
        rest = later;
    }
}

/// Returns how many of the next filings to send before the referee reads: one, or both if both seats are
/// awaited.
fn sent_together(next: &[Filed], game_match: &Match) -> usize {
    match next {
        [Filed { by: By::Seat(a, _), .. }, Filed { by: By::Seat(b, _), .. }, ..]
            if a != b && game_match.awaits(*a) && game_match.awaits(*b) =>
        {
            2
        }
        _ => 1,
    }
}

fn named_address(name: &str) -> anyhow::Result<NamedAddress> {
    let address = Address::parse(&format!("{}@players.example", name.to_lowercase()))?;
    Ok(NamedAddress { name: name.to_owned(), address })
}

/// Returns `fogpost-demo`, or, if that exists, `fogpost-demo-2` and so on.
fn free_folder() -> PathBuf {
    let names = (1..).map(|n| if n == 1 { "fogpost-demo".to_owned() } else { format!("fogpost-demo-{n}") });
    names.map(PathBuf::from).find(|path| !path.exists()).expect("the numbers do not end")
}

/// Returns a folder's path as text, because the URL of the database must be text.
///
/// # Errors
/// Returns an error if the path is not UTF-8.
fn utf8(folder: &Path) -> anyhow::Result<&str> {
    folder
        .to_str()
        .with_context(|| format!("the path {folder:?} is not UTF-8; choose another folder with --folder"))
}

/// Opens a club in the folder, with more config.
async fn office(folder: &Path, more: &str) -> anyhow::Result<Arc<Office>> {
    let file = folder.join("config.toml");
    put(&file, &format!("{}{more}", include_str!("config.toml")))?;
    maildir::create(&folder.join("mail/referee"))?;
    open_office(&file).await
}

async fn open_office(config: &Path) -> anyhow::Result<Arc<Office>> {
    let config = Config::load(config)?;
    let store = config.database.open().await?;
    Ok(Arc::new(Office::new(config, store, Arc::new(Utc::now))?))
}

/// Writes a new file that only this user may read.
fn put(file: &Path, text: &str) -> anyhow::Result<()> {
    let written = private::create_new(file).and_then(|mut file| file.write_all(text.as_bytes()));
    written.with_context(|| file.display().to_string())
}

async fn find(office: &Office, id: &str) -> anyhow::Result<Match> {
    let row = office.store.matches(&[id.to_owned()]).await?.pop().context("the match is gone")?;
    Ok(serde_json::from_str(&row.snapshot)?)
}

/// Reads the entries of a match and verifies their chain.
async fn entries(store: &Database, match_id: &str) -> anyhow::Result<Vec<Entry>> {
    let rows = store.entries(match_id).await?;
    ledger::walk(rows.iter().map(|row| (row.json.as_str(), row.hash)))?;
    rows.iter().map(|row| Ok(serde_json::from_str(&row.json)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::game::record::Replayed;

    /// Each record contains one letter with a mistake, so that the mailbox shows a refusal.
    #[test]
    fn each_record_is_a_whole_match_in_which_one_letter_is_refused() {
        for game in GameKind::ALL.iter().copied() {
            let record = record(game).expect("a record");
            assert_eq!(record.game, game);
            let mut refused = Vec::new();
            let mut outcome = None;
            record.replay(|step| match step {
                Replayed::Adjudicated(done) => outcome = done.state.outcome(),
                Replayed::Refused { index, .. } => refused.push(index),
            });
            let mistake = match game {
                GameKind::QuadrantZ => 4,
                GameKind::Pacific => 34,
                GameKind::Quantum => 24,
                GameKind::Quad => 6,
            };
            assert_eq!(refused, [mistake], "{game}");
            assert!(outcome.is_some_and(|outcome| outcome.winner.is_some()), "{game}");
        }
    }
}
