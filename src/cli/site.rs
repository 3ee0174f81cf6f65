//! `fogpost site`: builds the club's site.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::daemon::site;

/// The club's site: plain files that any web server can serve
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Build the site, or update what has changed
    ///
    /// The folder must be empty or missing, or hold a site that this command or the daemon built. Files that no
    /// longer belong to the site are deleted; others are never touched.
    Build {
        /// The folder
        folder: PathBuf,
    },
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        let Command::Build { folder } = self.command;
        super::in_club(config, async |office| {
            let built = site::build(office, &folder).await?;
            println!("{}", built.sentence());
            Ok(ExitCode::SUCCESS)
        })
    }
}
