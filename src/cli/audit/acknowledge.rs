//! `fogpost audit acknowledge`: records that the GM has seen the findings of the daily audit.

use std::process::ExitCode;

use anyhow::ensure;

use crate::daemon::{Office, audit};

/// Remove a match or an event that does not verify from `fogpost status`, until the audit finds something else in it
#[derive(clap::Args)]
pub struct Args {
    /// A match such as QZ-7K3M, an event, or CLUB; without it, everything that does not verify
    #[arg(value_name = "MATCH")]
    id: Option<String>,
}

impl Args {
    pub async fn run(self, office: &Office) -> anyhow::Result<ExitCode> {
        let id = self.id.map(|id| id.to_ascii_uppercase());
        let acknowledged = audit::acknowledge(office, id.as_deref()).await?;
        let which = id.unwrap_or_else(|| "anything".to_owned());
        ensure!(!acknowledged.is_empty(), "no audit has found anything unacknowledged in {which}");
        acknowledged.iter().for_each(|id| println!("{id}: acknowledged"));
        Ok(ExitCode::SUCCESS)
    }
}
