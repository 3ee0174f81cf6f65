//! The command line: a file a command. It parses, calls, prints, and knows no rules.

use std::process::ExitCode;

use clap::{Parser, Subcommand};

pub mod replay;

/// A referee for games played by letter.
#[derive(Parser)]
#[command(name = "fogpost", version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Replay(replay::Args),
}

impl Cli {
    /// Carries the command out and says how the program is to exit.
    ///
    /// # Errors
    /// What could not be done, as one line for the person at the terminal.
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Replay(args) => args.run(),
        }
    }
}
