//! `fogpost demo`: two correspondents play a whole match by real letters, without a server or an account.
//!
//! They put their letters into the referee's Maildir, as mail, and the daemon answers into theirs. A correspondent
//! knows nothing except what the letters say.

mod correspondent;
mod dice;
mod letter;
mod pacific;
mod play;
mod quad;
mod quadrant_z;
mod quantum;
mod story;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, bail, ensure};
use chrono::Utc;
use indicatif::{ProgressBar, ProgressStyle};

use self::correspondent::Correspondent;
use self::play::Play;
use crate::config::Config;
use crate::daemon::{Holder, NamedAddress, NewMatch, Office};
use crate::game::any::GameKind;
use crate::game::{BySeat, Seat};
use crate::ledger::{self, Entry};
use crate::letter::Address;
use crate::post::maildir;
use crate::referee::{Match, Stage};
use crate::store::{self, Database};

/// Play a whole match by real letters between two computer players, on this machine alone
///
/// With --play, you play yourself, against the house: the referee runs until Ctrl-C, and you read and answer its letters
/// with mutt.
#[derive(clap::Args)]
pub struct Args {
    /// The game to play
    #[arg(long, default_value = "quadrant-z", value_parser = super::arguments::game)]
    game: GameKind,
    /// Play this game yourself, by letter, against the house
    #[arg(long, value_name = "GAME", conflicts_with_all = ["game", "seed"], value_parser = super::arguments::game)]
    play: Option<GameKind>,
    /// The level of the house, with --play
    #[arg(long, default_value = "easy", requires = "play")]
    level: String,
    /// Folder for the letters, reports and database; must not exist yet
    #[arg(long, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Random seed
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Rounds of letters after which the demo fails. Matches of these correspondents are far shorter.
const MAX_ROUNDS: usize = 2000;

impl Args {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let folder = self.folder.clone().unwrap_or_else(free_folder);
        ensure!(!folder.exists(), "{} already exists; choose another name with --folder", folder.display());
        utf8(&folder)?;
        let play = self.play.map(|game| Play::new(&folder, game, &self.level)).transpose()?;
        // Only after the checks: a folder left by a refused command would make the corrected one fail.
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        super::block_on(async {
            if let Some(play) = play {
                play.run().await?;
                return Ok(ExitCode::SUCCESS);
            }
            let office = office(&folder).await?;
            let game_match = self.play_both(&office, &folder, options(self.game)).await?;
            let entries = entries(&office.store, &game_match.id).await?;
            story::tell(&office, &game_match, &entries, &folder).await?;
            office.close().await;
            Ok(ExitCode::SUCCESS)
        })
    }

    /// Opens a match and exchanges letters until it is over.
    async fn play_both(
        &self,
        office: &Office,
        folder: &Path,
        options: Vec<(&'static str, &'static str)>,
    ) -> anyhow::Result<Match> {
        let players = BySeat::new(named_address("Ann")?, named_address("Bo")?);
        let mail = folder.join("mail");
        let mut people = BySeat::from_fn(|seat| {
            let address = players[seat].address.clone();
            Correspondent::new(&players[seat].name, address, &mail, self.game, self.seed * 2 + seat as u64)
        });
        let new = NewMatch {
            game: self.game,
            choices: self.game.choose(options).map_err(anyhow::Error::msg)?,
            players: players.map(Holder::Player),
            terms: office.config.terms.clone(),
        };
        let game_match = office.open(new).await?;
        println!("{} opens: {} between Ann and Bo, by letter.", game_match.id, self.game.name());
        let bar = ProgressBar::new_spinner().with_style(ProgressStyle::with_template("{spinner} {msg}")?);
        for _ in 0..MAX_ROUNDS {
            office.once().await?;
            let game_match = find(office, &game_match.id).await?;
            if game_match.stage == Stage::Over {
                bar.finish_and_clear();
                return Ok(game_match);
            }
            let turn = game_match.due().map_or(0, |due| due.turn);
            let (ann, bo) = (people.first.letters_written, people.second.letters_written);
            bar.set_message(format!("turn {turn}: {ann} letters from Ann, {bo} from Bo"));
            bar.tick();
            let mut written = 0;
            for seat in Seat::BOTH {
                written += people[seat].answer_letters()?;
            }
            ensure!(
                written > 0,
                "{} waits for orders, but neither Ann nor Bo has any to send",
                game_match.id
            );
        }
        bail!("the match did not end within {MAX_ROUNDS} rounds")
    }
}

fn named_address(name: &str) -> anyhow::Result<NamedAddress> {
    let address = Address::parse(&format!("{}@players.example", name.to_lowercase()))?;
    Ok(NamedAddress { name: name.to_owned(), address })
}

/// Returns options that shorten the match, or show more of the game, than the defaults.
fn options(game: GameKind) -> Vec<(&'static str, &'static str)> {
    match game {
        GameKind::QuadrantZ => Vec::new(),
        GameKind::Quad => vec![("swap", "on")],
        GameKind::Pacific | GameKind::Quantum => vec![("quiet_limit", "20")],
    }
}

/// Returns `fogpost-demo`, or `fogpost-demo-2` and so on if that exists.
fn free_folder() -> PathBuf {
    let names = (1..).map(|n| if n == 1 { "fogpost-demo".to_owned() } else { format!("fogpost-demo-{n}") });
    names.map(PathBuf::from).find(|path| !path.exists()).expect("the numbers do not end")
}

/// Returns a folder's path as text, because the URL of the database can contain nothing else.
///
/// # Errors
/// Returns an error if the path is not UTF-8.
fn utf8(folder: &Path) -> anyhow::Result<&str> {
    folder
        .to_str()
        .with_context(|| format!("the path {folder:?} is not UTF-8; choose another folder with --folder"))
}

async fn office(folder: &Path) -> anyhow::Result<Arc<Office>> {
    let file = folder.join("config.toml");
    std::fs::write(&file, include_str!("config.toml")).with_context(|| file.display().to_string())?;
    let config = Config::load(&file)?;
    maildir::create(&folder.join("mail/referee"))?;
    let store = store::open(&config.database.url).await?;
    Ok(Arc::new(Office::new(config, store, Arc::new(Utc::now))?))
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

    /// Plays a match to its end by the rules. The correspondents read nothing but the text part of the letters.
    fn plays_to_the_end(game: GameKind, options: Vec<(&'static str, &'static str)>) {
        let folder = tempfile::tempdir().expect("a folder");
        let demo = Args { game, play: None, level: String::new(), folder: None, seed: 2 };
        let game_match = super::super::block_on(async {
            let office = office(folder.path()).await?;
            let played = demo.play_both(&office, folder.path(), options).await;
            office.close().await;
            played
        });
        let outcome = game_match.expect("the match ends").state.outcome();
        assert!(outcome.is_some(), "{game}");
    }

    #[test]
    fn quadrant_z_can_be_played_to_the_end_from_the_text_part_alone() {
        plays_to_the_end(GameKind::QuadrantZ, vec![("turn_limit", "12")]);
    }

    /// A debug build takes minutes for the hundreds of turns of a whole match, so a short quiet time ends this one.
    #[test]
    fn the_pacific_can_be_played_to_the_end_from_the_text_part_alone() {
        plays_to_the_end(GameKind::Pacific, vec![("quiet_limit", "1")]);
    }

    #[test]
    fn quantum_can_be_played_to_the_end_from_the_text_part_alone() {
        plays_to_the_end(GameKind::Quantum, vec![("quiet_limit", "20")]);
    }

    #[test]
    fn quad_can_be_played_to_the_end_from_the_text_part_alone() {
        plays_to_the_end(GameKind::Quad, vec![("swap", "on")]);
    }
}
