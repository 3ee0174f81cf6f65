//! `fogpost club`: the GM's digest and reply token, and announcements.

use std::io;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context as _, ensure};

use super::arguments::{ActingGm, Output, game};
use super::instruct::carry_out;
use crate::daemon::load;
use crate::game::any::GameKind;
use crate::referee::{Instruction, Readership};

/// The GM's digest, announcements, and the GM's own reply token
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// Print JSON, for programs
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Print what is waiting for a GM, and what went wrong in the last day
    ///
    /// Unlike the digest that each GM gets by mail, this one does not show letters from seats of running
    /// matches.
    Digest {
        #[command(flatten)]
        gm: ActingGm,
    },
    /// Write a letter to all players, or to those who play a game
    Announce {
        /// The text; `-` for standard input
        #[arg(required = true)]
        text: Vec<String>,
        /// Only to those who play a match of this game
        #[arg(long, value_parser = game)]
        game: Option<GameKind>,
        /// Only show what would be sent, and to how many
        #[arg(long)]
        check: bool,
        #[command(flatten)]
        gm: ActingGm,
    },
    /// Replace the reply tokens of all GMs, or of one
    GmToken {
        /// Name of the GM
        name: Option<String>,
    },
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        super::in_club(config, async |office| match self.command {
            Command::Digest { gm } => {
                let output = Output { check: false, json: self.json };
                carry_out(office, &gm, &Instruction::Digest, output).await
            }
            Command::Announce { text, game, check, gm } => {
                let text = match &text[..] {
                    [only] if only == "-" => {
                        io::read_to_string(io::stdin()).context("failed to read standard input")?
                    }
                    words => words.join(" "),
                };
                ensure!(!text.trim().is_empty(), "an announcement needs a text");
                let readers = game.map_or(Readership::All, Readership::Game);
                let output = Output { check, json: self.json };
                carry_out(office, &gm, &Instruction::Announce { readers, text }, output).await
            }
            Command::GmToken { name } => {
                let gms = &office.config.club.gm;
                let chosen = match &name {
                    None => gms.all(),
                    Some(name) => {
                        let place = gms.named(name).with_context(|| format!("no GM is called {name}"))?;
                        &gms.all()[place..=place]
                    }
                };
                for gm in chosen {
                    load::renew_gm_token(office, gm).await?;
                    println!("Letters to {} now carry a new reply token.", gm.name);
                }
                Ok(ExitCode::SUCCESS)
            }
        })
    }
}
