//! `fogpost club`: the GM's digest and reply token.

use std::path::Path;
use std::process::ExitCode;

use super::instruct::carry_out;
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
    /// Print what waits for the GM, and what went wrong in the last day
    Digest,
    /// Give the GM a new reply token, which voids the old one
    GmToken,
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        super::in_club(config, async |office| match self.command {
            Command::Digest => carry_out(office, &Instruction::Digest, self.json).await,
            Command::GmToken => {
                office.renew_gm_token().await?;
                println!("Letters to the GM now carry a new reply token.");
                Ok(ExitCode::SUCCESS)
            }
        })
    }
}
