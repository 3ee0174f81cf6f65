//! `fogpost audit`: verifies matches, shows their accounts, exports and checks dossiers.

use std::path::Path;
use std::process::ExitCode;

use super::in_club;

mod acknowledge;
mod check;
mod export;
mod show;
pub mod verify;

/// Check matches against their ledgers, show their accounts, export and check dossiers
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    Verify(verify::Args),
    Acknowledge(acknowledge::Args),
    Show(show::Args),
    Export(export::Args),
    Check(check::Args),
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        match self.command {
            Command::Verify(args) => in_club(config, async |office| args.run(office).await),
            Command::Acknowledge(args) => in_club(config, async |office| args.run(office).await),
            Command::Show(args) => in_club(config, async |office| args.run(office).await),
            Command::Export(args) => in_club(config, async |office| args.run(office).await),
            Command::Check(args) => args.run(),
        }
    }
}
