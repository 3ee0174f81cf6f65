//! `fogpost init`: a config file and a mailbox to begin with.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use crate::config::{Config, EXAMPLE};
use crate::post::inbox::Inbox;
use crate::post::maildir;

/// Write a commented config file, and an empty mailbox beside it to begin with
#[derive(clap::Args)]
pub struct Args {}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        let name = config.display();
        let mut file =
            std::fs::OpenOptions::new().write(true).create_new(true).open(config).map_err(|error| {
                if error.kind() == std::io::ErrorKind::AlreadyExists {
                    anyhow::anyhow!("{name} is there already; another name would do: --config FILE")
                } else {
                    anyhow::anyhow!("{name}: {error}")
                }
            })?;
        file.write_all(EXAMPLE.as_bytes()).with_context(|| name.to_string())?;
        if let Inbox::Maildir(inbox) = Config::load(config)?.inbox {
            maildir::create(&inbox.path).with_context(|| inbox.path.display().to_string())?;
            println!("{} is a mailbox to try it with.", inbox.path.display());
        }
        println!("{name} is written. Set the club's name and addresses in it, then: fogpost doctor");
        Ok(ExitCode::SUCCESS)
    }
}
