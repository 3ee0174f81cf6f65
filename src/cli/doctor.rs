//! `fogpost doctor`: whether everything is as it should be, a line each, with what would help.

use std::path::Path;
use std::process::ExitCode;

use crate::config::Config;
use crate::daemon;
use crate::post::outbox::Outbox;
use crate::store;

/// Check config, templates, database, mailbox and mail server
#[derive(clap::Args)]
pub struct Args {}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        let mut findings = Findings { well: true };
        let path = config.display().to_string();
        let config = match Config::load(config) {
            Ok(config) => config,
            Err(error) => {
                findings.tell("config", Err(error.into()), "");
                return Ok(ExitCode::FAILURE);
            }
        };
        findings.tell("config", Ok(path), "");
        let templates = daemon::templates(config.templates.folder.as_deref()).and_then(|templates| {
            crate::report::check_templates(&templates)?;
            Ok("all can be rendered".to_owned())
        });
        findings.tell("templates", templates, "correct the file, or take it out of templates.folder");
        super::block_on(async {
            let help = match config.database.url.starts_with("sqlite:") {
                true => "see database.url; its folder must be there and writable",
                false => "see database.url",
            };
            findings.tell("database", database(&config).await, help);
            let inbox = config.inbox.check().await.map_err(Into::into);
            findings.tell("inbox", inbox, "see the section [inbox]");
            let outbox = async { Ok(Outbox::new(config.outbox.clone())?.check().await?) };
            findings.tell("outbox", outbox.await, "see the section [outbox]");
            Ok(())
        })?;
        Ok(if findings.well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

async fn database(config: &Config) -> anyhow::Result<String> {
    let store = store::open(&config.database.url).await?;
    let queues = store.queues().await?;
    store.close().await;
    let given_up = match queues.given_up {
        0 => String::new(),
        n => format!(", {n} given up: see fogpost letters --unsent"),
    };
    Ok(format!(
        "matches running: {}, letters waiting: {}, dispatches waiting: {}{given_up}",
        queues.matches_running, queues.letters_waiting, queues.dispatches_waiting
    ))
}

struct Findings {
    well: bool,
}

impl Findings {
    fn tell(&mut self, what: &str, found: anyhow::Result<String>, help: &str) {
        match found {
            Ok(found) => println!("ok    {what}: {found}"),
            Err(error) => {
                self.well = false;
                let help = if help.is_empty() { String::new() } else { format!("; {help}") };
                println!("FAULT {what}: {error:#}{help}");
            }
        }
    }
}
