//! `fogpost club`: the GM's digest and reply token.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

use super::arguments::{ActingGm, Output};
use super::instruct::carry_out;
use crate::daemon::load;
use crate::referee::Instruction;

/// The GM's digest, and the GM's own reply token
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
