//! `fogpost run`: the daemon.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use crate::config::Config;
use crate::daemon;
use crate::report;

/// Read letters, rule on them and answer, until stopped
#[derive(clap::Args)]
pub struct Args {
    /// Do what there is to do, then end: for cron, at least every hour
    #[arg(long)]
    once: bool,
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        let config = Config::load(config)?;
        super::start_log(&config.log)?;
        super::block_on(async {
            let office = super::office(config).await?;
            report::try_out(&office.templates)?;
            let _held = office.store.hold(&format!("pid {}", std::process::id())).await?;
            tracing::info!(
                version = env!("CARGO_PKG_VERSION"),
                database = office.config.database.url.split('?').next().unwrap_or_default(),
                "fogpost is here"
            );
            if self.once {
                office.once().await?;
            } else {
                let stop = daemon::stop_on_signal().context("signals")?;
                office.clone().run(stop).await?;
            }
            office.close().await;
            Ok(ExitCode::SUCCESS)
        })
    }
}
