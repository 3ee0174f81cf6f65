//! `fogpost games`, `completions` and `man`: commands that need no club.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;
use serde_json::json;

use super::Cli;
use super::output::{print_json, print_wrapped_table, put};
use crate::game::any::GameKind;
use crate::house;

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
            let games: Vec<_> = GameKind::ALL.iter().copied().map(as_json).collect();
            print_json(&games);
        } else {
            let rows = GameKind::ALL.iter().copied().flat_map(table_rows).collect();
            print_wrapped_table(&["game, option", "default", "values", ""], rows);
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn as_json(kind: GameKind) -> serde_json::Value {
    let mut options = Vec::new();
    for rule in kind.option_rules() {
        let (name, values) = (rule.name, rule.values.to_string());
        options.push(json!({ "name": name, "values": values, "default": rule.default, "says": rule.says }));
    }
    let mut levels = Vec::new();
    for level in house::levels(kind) {
        levels.push(json!({ "name": level.name, "says": level.says }));
    }
    json!({
        "game": kind.key(),
        "name": kind.name(),
        "sides": kind.sides(),
        "options": options,
        "house": levels,
    })
}

/// Returns a game's rows: its name, its options, and the levels of the house.
fn table_rows(kind: GameKind) -> Vec<Vec<String>> {
    let mut rows = vec![vec![kind.key().to_owned(), String::new(), String::new(), kind.name().to_owned()]];
    for rule in kind.option_rules() {
        let name = format!("  {}", rule.name);
        rows.push(vec![name, rule.default.to_owned(), rule.values.to_string(), rule.says.to_owned()]);
    }
    for level in house::levels(kind) {
        let name = format!("  house:{}", level.name);
        rows.push(vec![name, String::new(), String::new(), level.says.to_owned()]);
    }
    rows
}

/// Print completions for a shell
#[derive(clap::Args)]
pub struct Completions {
    /// The shell
    shell: clap_complete::Shell,
}

impl Completions {
    pub fn run(self) -> anyhow::Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "fogpost", &mut script);
        put(&script);
        Ok(ExitCode::SUCCESS)
    }
}

/// Print the man page, or write a page for every command
#[derive(clap::Args)]
pub struct Man {
    /// Write the pages of all commands into this folder: fogpost.1, fogpost-run.1 …
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
                put(&page);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
