//! `fogpost init`: writes a first config file and creates the mailbox that it names.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use crate::config::{Config, EXAMPLE};
use crate::post::inbox::Inbox;
use crate::post::maildir;
use crate::store::private;

/// Write a commented config file, and create an empty mailbox beside it
#[derive(clap::Args)]
pub struct Args {}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        let name = config.display();
        // It may get passwords.
        let mut file = private::create_new(config).map_err(|error| {
            if error.kind() == std::io::ErrorKind::AlreadyExists {
                anyhow::anyhow!("{name} already exists; choose another name with --config FILE")
            } else {
                anyhow::anyhow!("{name}: {error}")
            }
        })?;
        file.write_all(EXAMPLE.as_bytes()).with_context(|| name.to_string())?;
        if let Inbox::Maildir(inbox) = Config::load(config)?.inbox {
            maildir::create(&inbox.path).with_context(|| inbox.path.display().to_string())?;
            println!("{} is a mailbox to try it out with.", inbox.path.display());
        }
        println!("{name} is written. Set the club's name and addresses in it, then run: fogpost doctor");
        Ok(ExitCode::SUCCESS)
    }
}
