//! `fogpost clock`: lets a person confirm the machine's clock.

use std::path::Path;
use std::process::ExitCode;

use crate::daemon::clock;
use crate::report::format_with_year;

/// Confirm the machine's clock
///
/// A daemon that starts more than seven days after it last ran decides nothing until a letter in the mailbox,
/// the system's time service or a person agrees with the clock.
#[derive(clap::Args)]
pub struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Say that the clock is right now, after comparing it with another one
    Confirm,
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        super::in_club(config, async |office| match self.command {
            Command::Confirm => {
                clock::confirm(office).await?;
                let now = format_with_year(office.now(), office.config.terms.zone);
                println!("Confirmed: it is {now}. If this is wrong, set the machine's clock.");
                Ok(ExitCode::SUCCESS)
            }
        })
    }
}
