//! `fogpost backup` and `fogpost restore`: the database as one file.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::config::Config;
use crate::store;

/// Write a copy of the database as it is now, while the program runs (SQLite; for PostgreSQL use pg_dump)
#[derive(clap::Args)]
pub struct Backup {
    /// The copy to be written; it must not be there yet. It holds reply tokens and sealed orders: keep it safe
    file: PathBuf,
}

/// Put a backup in the place of the database, while the program does not run
///
/// The database before it is kept beside it. Afterwards the program reads the letters in the mailbox's folder of
/// processed letters once more: those that the backup knows have no second effect and get no second answer; those
/// that came since are ruled on, and their answers bear the Message-IDs that they bore.
#[derive(clap::Args)]
pub struct Restore {
    /// The backup, as fogpost backup wrote it
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
                println!("The database before it is now {}.", aside.display());
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
