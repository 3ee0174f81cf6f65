//! `fogpost status`: how the club's post stands, and whether something is wrong.

use std::path::Path;
use std::process::ExitCode;

use chrono::{DateTime, TimeDelta, Utc};

use crate::config::Config;
use crate::daemon::status::{SILENT_AFTER, Status};
use crate::report::{format_duration, format_local};
use crate::store;

/// Tell what waits, who works and what is wrong; exit status 1 says that something is
#[derive(clap::Args)]
pub struct Args {
    /// A daemon that was not heard of for so long does not work; more than cron's pause where `run --once` is used
    #[arg(long, value_name = "MINUTES", default_value_t = SILENT_AFTER.num_minutes() as u32,
          value_parser = clap::value_parser!(u32).range(1..))]
    silent_after: u32,
    /// Print JSON, for programs
    #[arg(long)]
    json: bool,
}

impl Args {
    pub fn run(self, config: &Path) -> anyhow::Result<ExitCode> {
        let config = Config::load(config)?;
        let silent_after = TimeDelta::minutes(i64::from(self.silent_after));
        let status = super::block_on(async {
            let store = store::open(&config.database.url).await?;
            let status = Status::of(&*store, Utc::now(), silent_after).await?;
            store.close().await;
            Ok(status)
        })?;
        if self.json {
            println!("{}", serde_json::to_string(&status)?);
        } else {
            print(&status, config.terms.zone);
        }
        Ok(if status.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn print(status: &Status, zone: chrono_tz::Tz) {
    let ago =
        |at: DateTime<Utc>| format!("{} ago ({})", format_duration(status.at - at), format_local(at, zone));
    let since = |at: Option<DateTime<Utc>>| at.map(|at| format!(", the oldest since {}", ago(at)));
    let queue = |count: u64, oldest| format!("{count} wait{}", since(oldest).unwrap_or_default());
    let some = |count: u64, by: &str| match count {
        0 => "0".to_owned(),
        _ => format!("{count}: fogpost letters {by} lists them"),
    };
    let or_never = |at: Option<DateTime<Utc>>| at.map_or("never".to_owned(), ago);
    let clock = match status.clock_late_seconds {
        0..60 => "on time".to_owned(),
        late => format!("late by {}", format_duration(TimeDelta::seconds(late))),
    };
    let mut lines = vec![
        ("letters", queue(status.letters_waiting, status.oldest_letter)),
        ("set aside", some(status.letters_set_aside, "--fate set_aside")),
        ("dispatches", queue(status.dispatches_waiting, status.oldest_dispatch)),
        ("given up", some(status.dispatches_given_up, "--unsent")),
        ("matches", format!("{} running", status.matches_running)),
        ("clock", clock),
        ("last fetch", or_never(status.last_fetch)),
        ("last send", or_never(status.last_send)),
    ];
    for daemon in &status.daemons {
        let what = if daemon.ended { "ended" } else { "heard of" };
        let (who, version) = (&daemon.who, &daemon.version);
        lines.push(("daemon", format!("{who}, version {version}, {what} {}", ago(daemon.at))));
    }
    lines.extend(status.faults.iter().map(|fault| ("WRONG", fault.clone())));
    for (what, text) in lines {
        println!("{what:<12}  {text}");
    }
}
