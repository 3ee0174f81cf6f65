//! `fogpost audit acknowledge`: the GM has seen what the daily audit found.

use std::process::ExitCode;

use anyhow::ensure;

use crate::daemon::Office;

/// Take a match that does not verify off `fogpost status`; you are told again only of something else
#[derive(clap::Args)]
pub struct Args {
    /// Match, such as QZ-7K3M; without it, all matches that do not verify
    #[arg(value_name = "MATCH")]
    id: Option<String>,
}

impl Args {
    pub async fn run(self, office: &Office) -> anyhow::Result<ExitCode> {
        let id = self.id.map(|id| id.to_ascii_uppercase());
        let acknowledged = office.acknowledge(id.as_deref()).await?;
        let which = id.unwrap_or_else(|| "any match".to_owned());
        ensure!(!acknowledged.is_empty(), "no audit has found anything in {which} that is not acknowledged");
        acknowledged.iter().for_each(|id| println!("{id}: acknowledged"));
        Ok(ExitCode::SUCCESS)
    }
}
