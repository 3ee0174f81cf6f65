//! `fogpost backup` and `fogpost restore`: copies of the database.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::config::Config;
use crate::store;

/// Write a copy of the database, even while the daemon runs (SQLite; for PostgreSQL use pg_dump)
#[derive(clap::Args)]
pub struct Backup {
    /// The file to write; it must not exist yet. It will contain reply tokens and sealed orders: keep it safe
    file: PathBuf,
}

/// Replace the database with a backup while no daemon runs
///
/// The replaced database is kept beside the new one. The daemon then reads the mailbox's folder of processed
/// letters once more. Letters that the backup knows have no second effect and get no second answer. Later
/// letters are decided again, in the order in which they came, and bring about the same codes, names and tokens.
/// What no letter brings about again is told to the GMs and the players concerned.
#[derive(clap::Args)]
pub struct Restore {
    /// A file that fogpost backup wrote
    file: PathBuf,
}

impl Backup {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        super::in_club(config, async |office| {
            office.store.backup(&self.file).await?;
            println!("{}: written", self.file.display());
            Ok(ExitCode::SUCCESS)
        })
    }
}

impl Restore {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        let config = Config::load(config)?;
        super::block_on(async {
            let replaced = store::restore(&config.database.url, &self.file).await?;
            println!("{}: restored; processed letters will be read again", self.file.display());
            if let Some(aside) = replaced {
                println!("The previous database is now {}.", aside.display());
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
