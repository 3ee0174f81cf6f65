//! `fogpost init`: a config file to begin with.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;

use crate::config::EXAMPLE;

/// Write a commented config file
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
        println!("{name} is written. Set the club's name and addresses in it, then: fogpost doctor");
        Ok(ExitCode::SUCCESS)
    }
}
