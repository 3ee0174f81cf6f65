//! `fogpost screen`: prints a link that logs a GM in to the screen.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;

use super::arguments::ActingGm;
use crate::daemon::screen::sessions::new_link;
use crate::daemon::status::{DaemonStatus, running_daemons};

/// Print a link that logs in to the GM's screen; it works once, within five minutes
///
/// The screen is a set of web pages that the daemon serves at screen.listen.
#[derive(clap::Args)]
pub struct Args {
    #[command(flatten)]
    gm: ActingGm,
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        super::in_club(config, async |office| {
            let listen = office.config.screen.listen;
            let listen = listen.context("there is no screen; set screen.listen = \"127.0.0.1:9119\"")?;
            let gm = &office.config.club.gm.all()[self.gm.index(&office.config.club.gm)?.0];
            println!("http://{listen}/login?token={}", new_link(office, gm).await?);
            let daemons = running_daemons(&office.store, office.now()).await?;
            // Single runs serve no pages.
            if !daemons.iter().any(DaemonStatus::stays) {
                eprintln!("No daemon is running: the link works once `fogpost run` has started.");
            }
            Ok(ExitCode::SUCCESS)
        })
    }
}
