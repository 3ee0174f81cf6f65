//! `fogpost receive`: one letter from an MTA's pipe.

use std::path::Path;
use std::process::ExitCode;

use crate::config::Config;
use crate::daemon;
use crate::post;
use crate::store;

/// Take in one letter from standard input; exit status 75 asks the mail server to try again
#[derive(clap::Args)]
pub struct Args {}

/// `EX_TEMPFAIL` of sysexits.h: the mail server keeps the letter and tries again.
const TRY_AGAIN: u8 = 75;

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        match receive(config) {
            Ok(()) => Ok(ExitCode::SUCCESS),
            // Whatever it was, the letter must not be lost: even a fault in the config will be mended.
            Err(error) => {
                eprintln!("fogpost: {error:#}");
                Ok(ExitCode::from(TRY_AGAIN))
            }
        }
    }
}

fn receive(config: &Path) -> anyhow::Result<()> {
    let config = Config::load(config)?;
    let letter = post::stdin::read(config.letters.max_bytes)?;
    super::block_on(async {
        let store = store::open(&config.database.url).await?;
        store.insert_letters(&[daemon::new_letter(letter)]).await?;
        store.close().await;
        Ok(())
    })
}
