//! `fogpost doctor`: checks each part of the setup and prints a line for it, with advice if it fails.

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
        let mut findings = Findings { all_ok: true };
        let path = config.display().to_string();
        let config = match Config::load(config) {
            Ok(config) => config,
            Err(error) => {
                findings.print("config", Err(error.into()), "");
                return Ok(ExitCode::FAILURE);
            }
        };
        findings.print("config", Ok(path), "");
        let templates = daemon::templates(config.templates.folder.as_deref()).and_then(|templates| {
            crate::report::check_templates(&templates)?;
            Ok("all render".to_owned())
        });
        findings.print("templates", templates, "correct the file, or remove it from templates.folder");
        super::block_on(async {
            let advice = if config.database.url.starts_with("sqlite:") {
                "see database.url; its folder must exist and be writable"
            } else {
                "see database.url"
            };
            findings.print("database", database(&config).await, advice);
            let inbox = config.inbox.check().await.map_err(Into::into);
            findings.print("inbox", inbox, "see the section [inbox]");
            let outbox = async { Ok(Outbox::new(config.outbox.clone())?.check().await?) };
            findings.print("outbox", outbox.await, "see the section [outbox]");
            Ok(())
        })?;
        Ok(if findings.all_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Opens the database and counts what waits in it.
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

/// Prints the result of each check and remembers whether all passed.
struct Findings {
    all_ok: bool,
}

impl Findings {
    fn print(&mut self, part: &str, result: anyhow::Result<String>, advice: &str) {
        match result {
            Ok(found) => println!("ok    {part}: {found}"),
            Err(error) => {
                self.all_ok = false;
                let advice = if advice.is_empty() { String::new() } else { format!("; {advice}") };
                println!("FAULT {part}: {error:#}{advice}");
            }
        }
    }
}
