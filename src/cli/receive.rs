//! `fogpost receive`: stores one letter that a mail server pipes in.

use std::panic::catch_unwind;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use chrono::Utc;

use crate::config::Config;
use crate::daemon::clock;
use crate::letter::printable::printable_line;
use crate::{daemon, post};

/// Store one letter from standard input; exit status 75 asks the mail server to retry
#[derive(clap::Args)]
pub struct Args {}

/// `EX_TEMPFAIL` of sysexits.h: the mail server keeps the letter and retries.
const TEMPORARY_FAILURE: u8 = 75;

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        // The letter must not be lost, so every failure is temporary: even a faulty config or a bug in this
        // program will be fixed.
        match catch_unwind(|| receive(config)) {
            Ok(Ok(())) => return Ok(ExitCode::SUCCESS),
            Ok(Err(error)) => eprintln!("fogpost: {}", printable_line(&format!("{error:#}"))),
            Err(_panic) => {}
        }
        Ok(ExitCode::from(TEMPORARY_FAILURE))
    }
}

fn receive(config: &Path) -> anyhow::Result<()> {
    let config = Config::load(config)?;
    let letter = post::stdin::read(config.letters.max_bytes)?;
    super::block_on(async {
        let store = config.database.open().await?;
        if let Some(free_mb) = store.free_bytes()?.and_then(|free| config.database.shortage(free)) {
            bail!("only {free_mb} MB are free, less than database.min_free_mb");
        }
        if !clock::may_store(&store, &letter, Utc::now()).await? {
            bail!("the clock is in doubt; if it is right, run fogpost clock confirm");
        }
        let mut letter = daemon::new_letter(letter);
        letter.is_from_gm = config.club.gm.is_one_at(&letter.sender);
        let letter = daemon::with_new_text(&store, &config, letter).await?;
        store.insert_letters(&[letter]).await?;
        store.close().await;
        Ok(())
    })
}
