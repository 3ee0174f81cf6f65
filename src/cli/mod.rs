//! The command line, one file per command. It parses arguments, calls the daemon's [`Office`] and prints; it
//! does not know the rules of any game.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context;
use chrono::Utc;
use clap::{Parser, Subcommand};

use crate::config::Config;
use crate::daemon::Office;

/// Prints one line, fit for a terminal. Replaces the standard library's macro, which panics when output
/// fails. Here a closed pipe (`| head`) ends the program silently, and a full disk ends it with an error
/// message.
macro_rules! println {
    () => { $crate::cli::output::put(b"\n") };
    ($($words:tt)*) => { $crate::cli::output::put_line(&format_args!($($words)*).to_string()) };
}

/// Prints a text of several lines, fit for a terminal.
macro_rules! print {
    ($($words:tt)*) => { $crate::cli::output::put_text(&format_args!($($words)*).to_string()) };
}

mod arguments;
mod audit;
mod backup;
mod clock;
mod club;
mod db;
mod demo;
mod doctor;
mod event;
mod init;
mod instruct;
mod letters;
mod log;
mod login;
mod manual;
mod match_list;
mod matches;
mod output;
mod pairs;
mod player;
mod receive;
mod replay;
mod run;
mod screen;
mod site;
mod status;
mod tables;
pub mod zones;

/// A referee for games played by letter
///
/// Reads the letters in a mailbox, checks the orders in them against the rules of their game, adjudicates
/// each turn when both sides have filed or its deadline has passed, and sends each side its own report.
#[derive(Parser)]
#[command(name = "fogpost", version, long_version = zones::LONG_VERSION.as_str(), max_term_width = 100, after_long_help = FIRST_STEPS)]
pub struct Cli {
    /// The club's config file
    #[arg(
        long,
        short,
        global = true,
        value_name = "FILE",
        default_value = "config.toml",
        env = "FOGPOST_CONFIG"
    )]
    config: PathBuf,
    #[command(subcommand)]
    command: Command,
}

const FIRST_STEPS: &str = "\
First steps: `fogpost demo` shows a whole match. `fogpost init` writes a config file for a club of your own, \
`fogpost doctor` says what is still missing, `fogpost match new` opens a match, and `fogpost run` does the rest.

Exit status: 0 for success; 1 for failure, or if something is wrong; 2 for a faulty command line. Commands that use \
other numbers say so.";

#[derive(Subcommand)]
enum Command {
    Run(run::Args),
    Status(status::Args),
    Screen(screen::Args),
    Receive(receive::Args),
    Demo(demo::Args),
    Init(init::Args),
    Doctor(doctor::Args),
    Login(login::Args),
    Match(Box<matches::Args>),
    Player(player::Args),
    Club(club::Args),
    Event(event::Args),
    Clock(clock::Args),
    Letters(letters::Args),
    Audit(audit::Args),
    Site(site::Args),
    Backup(backup::Backup),
    Restore(backup::Restore),
    Db(db::Args),
    Replay(replay::Args),
    Games(manual::Games),
    Completions(manual::Completions),
    Man(manual::Man),
}

impl Cli {
    /// Runs the command and returns the program's exit status.
    ///
    /// # Errors
    /// Returns an error if the command failed, with the reason in one line for the terminal.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let config = self.config;
        match self.command {
            Command::Run(args) => args.run(&config),
            Command::Status(args) => args.run(&config),
            Command::Screen(args) => args.run(&config),
            Command::Receive(args) => args.run(&config),
            Command::Demo(args) => args.run(),
            Command::Init(args) => args.run(&config),
            Command::Doctor(args) => args.run(&config),
            Command::Login(args) => args.run(&config),
            Command::Match(args) => args.run(&config),
            Command::Player(args) => args.run(&config),
            Command::Club(args) => args.run(&config),
            Command::Event(args) => args.run(&config),
            Command::Clock(args) => args.run(&config),
            Command::Letters(args) => args.run(&config),
            Command::Audit(args) => args.run(&config),
            Command::Site(args) => args.run(&config),
            Command::Backup(args) => args.run(&config),
            Command::Restore(args) => args.run(&config),
            Command::Db(args) => args.run(),
            Command::Replay(args) => args.run(),
            Command::Games(args) => args.run(),
            Command::Completions(args) => args.run(),
            Command::Man(args) => args.run(),
        }
    }
}

/// Runs asynchronous work to completion.
fn block_on<T>(work: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let mut runtime = tokio::runtime::Builder::new_multi_thread();
    let runtime = runtime
        .worker_threads(2)
        .enable_all()
        .build()
        .context("failed to start the threads of the runtime")?;
    let done = runtime.block_on(work);
    // Dropping the runtime would wait for its threads, and one of them may hang in a ruling.
    runtime.shutdown_background();
    done
}

/// Opens the club's database, and an office that works on it.
async fn office(config: Config) -> anyhow::Result<Arc<Office>> {
    // No context with the URL here: it may contain a password.
    let store = config.database.open().await?;
    Ok(Arc::new(Office::new(config, store, Arc::new(Utc::now))?))
}

/// Runs a command in the office of the club that the config file describes.
fn in_club(
    config: &Path,
    work: impl AsyncFnOnce(&Office) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let config = Config::load(config)?;
    block_on(async {
        let office = office(config).await?;
        let done = work(&office).await;
        office.close().await;
        done
    })
}
