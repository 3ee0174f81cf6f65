//! `fogpost demo`.
use std::process::ExitCode;
/// Play a whole match between two correspondents
#[derive(clap::Args)]
pub struct Args {}
impl Args {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        anyhow::bail!("not yet")
    }
}
