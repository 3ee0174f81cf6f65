//! `fogpost audit show`: the GM's page for a protest.

use std::process::ExitCode;

use anyhow::Context;

use crate::audit::account;
use crate::daemon::Office;

/// Show who filed what and when, what was asked and answered, what each seat was told: a page to be printed
#[derive(clap::Args)]
pub struct Args {
    /// Its name, such as QZ-7K3M
    #[arg(value_name = "MATCH")]
    id: String,
    /// This turn only; 0 is the setup
    #[arg(long, value_name = "N")]
    turn: Option<u32>,
    /// Show what the rules hide though the match is not over; the ledger notes it
    #[arg(long)]
    unsealed: bool,
}

impl Args {
    pub async fn run(self, office: &Office) -> anyhow::Result<ExitCode> {
        let what = self.turn.map_or("the account".to_owned(), |turn| format!("the account of turn {turn}"));
        let material = office.material(&self.id, self.unsealed, &what).await?;
        let page = account::text(&office.templates, &material, self.turn).context("the account")?;
        let turn = self.turn.unwrap_or_default();
        let page = page.with_context(|| format!("{} has no turn {turn}", material.game_match.id))?;
        print!("{page}");
        Ok(ExitCode::SUCCESS)
    }
}
