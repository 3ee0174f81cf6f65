//! `fogpost audit`: verifies matches, shows their accounts, exports and imports dossiers.

mod acknowledge;
mod export;
mod import;
mod show;
mod verify;

use std::path::Path;
use std::process::ExitCode;

/// Check matches against their ledgers, show their accounts, export and import dossiers
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
    Import(import::Args),
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        super::in_club(config, async |office| match self.command {
            Command::Verify(args) => args.run(office).await,
            Command::Acknowledge(args) => args.run(office).await,
            Command::Show(args) => args.run(office).await,
            Command::Export(args) => args.run(office).await,
            Command::Import(args) => args.run(office).await,
        })
    }
}
