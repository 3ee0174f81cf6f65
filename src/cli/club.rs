//! `fogpost club`: the club as a whole.

use std::path::Path;
use std::process::ExitCode;

use super::matches::ask;
use crate::referee::Instruction;

/// The GM's digest, and the GM's own reply token
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
    /// As JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Print what waits for the GM and what went wrong in the last day
    Digest,
    /// Give the GM a new reply token; the old one is void
    GmToken,
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        super::in_club(config, async |office| match self.command {
            Command::Digest => ask(office, &Instruction::Digest, self.json).await,
            Command::GmToken => {
                office.renew_gm_token().await?;
                println!("The letters to the GM bear a new reply token from now on.");
                Ok(ExitCode::SUCCESS)
            }
        })
    }
}
