//! `fogpost games`, `completions` and `man`: what there is to know without a club.

use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;
use serde_json::json;

use super::Cli;
use crate::game::any::Kind;

/// List the games with their options and defaults, and the levels at which the house plays them
#[derive(clap::Args)]
pub struct Games {
    #[arg(long)]
    json: bool,
}

impl Games {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        if self.json {
            let games: Vec<_> = Kind::ALL.iter().map(|kind| {
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
        for kind in Kind::ALL {
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
    shell: clap_complete::Shell,
}

impl Completions {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        clap_complete::generate(self.shell, &mut Cli::command(), "fogpost", &mut std::io::stdout());
        Ok(ExitCode::SUCCESS)
    }
}

/// Print the man page
#[derive(clap::Args)]
pub struct Man {}

impl Man {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        clap_mangen::Man::new(Cli::command()).render(&mut std::io::stdout()).context("standard output")?;
        Ok(ExitCode::SUCCESS)
    }
}
