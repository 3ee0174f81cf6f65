//! `fogpost games`, `completions` and `man`: what there is to know without a club.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;
use serde_json::json;

use super::Cli;
use crate::game::any::GameKind;

/// List the games with their options and defaults, and the levels at which the house plays them
#[derive(clap::Args)]
pub struct Games {
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

impl Games {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if self.json {
            let games: Vec<_> = GameKind::ALL.iter().map(|kind| {
                let options = kind.option_rules().iter().map(|rule| {
                    json!({ "name": rule.name, "values": rule.values.to_string(), "default": rule.default, "says": rule.says })
                });
                let levels = kind.levels().iter().map(|level| json!({ "name": level.name, "says": level.says }));
                json!({
                    "game": kind.key(),
                    "name": kind.name(),
                    "sides": kind.sides(),
                    "options": options.collect::<Vec<_>>(),
                    "house": levels.collect::<Vec<_>>(),
                })
            }).collect();
            println!("{}", serde_json::to_string(&games)?);
            return Ok(ExitCode::SUCCESS);
        }
        let mut rows = Vec::new();
        for kind in GameKind::ALL {
            rows.push(vec![kind.key().to_owned(), String::new(), String::new(), kind.name().to_owned()]);
            for rule in kind.option_rules() {
                rows.push(vec![
                    format!("  {}", rule.name),
                    rule.default.to_owned(),
                    rule.values.to_string(),
                    rule.says.to_owned(),
                ]);
            }
            for level in kind.levels() {
                rows.push(vec![
                    format!("  house:{}", level.name),
                    String::new(),
                    String::new(),
                    level.says.to_owned(),
                ]);
            }
        }
        println!("{}", super::table(&["game, option", "default", "values", ""], rows));
        Ok(ExitCode::SUCCESS)
    }
}

/// Print completions for a shell
#[derive(clap::Args)]
pub struct Completions {
    /// The shell that is to complete
    shell: clap_complete::Shell,
}

impl Completions {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "fogpost", &mut script);
        super::put(&script);
        Ok(ExitCode::SUCCESS)
    }
}

/// Print the man page, or write one for every command
#[derive(clap::Args)]
pub struct Man {
    /// A folder into which the pages of all commands are written: fogpost.1, fogpost-run.1 …
    folder: Option<PathBuf>,
}

impl Man {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        match self.folder {
            Some(folder) => {
                let written = clap_mangen::generate_to(Cli::command(), &folder);
                written.with_context(|| folder.display().to_string())?;
            }
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(Cli::command()).render(&mut page)?;
                super::put(&page);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
