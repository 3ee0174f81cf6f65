//! `fogpost status`: prints the queues, the daemons and anything that is wrong.

use std::path::Path;
use std::process::ExitCode;

use chrono::{DateTime, TimeDelta, Utc};

use super::output::print_json;
use crate::config::Config;
use crate::daemon::status::{SILENT_AFTER, Status};
use crate::report::{format_duration, format_local};
use crate::store::{self, StoreError};
use crate::zone::Zone;

/// Show the queues, the daemons and anything that is wrong; exit status 1 if something is
///
/// `fogpost doctor` checks what this takes for granted: the config, the mailbox, the mail server and DNS.
#[derive(clap::Args)]
pub struct Args {
    /// Minutes without a heartbeat after which a daemon counts as dead. If cron starts `run --once`, they are added to
    /// twice its usual interval
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
            let store = store::open_made(&config.database.url, config.database.max_connections).await?;
            let (quota, now) = (&config.outbox.quota, Utc::now());
            let mut status = match Status::of(&store, &config.database, quota, now, silent_after).await {
                // Nothing can be read, but the server says who locks it.
                Err(error) if matches!(error.downcast_ref(), Some(StoreError::RowLocked)) => {
                    Status { at: now, faults: store.server_faults().await?, ..Status::default() }
                }
                status => status?,
            };
            status.note_logins(&config.oauth_logins());
            status.note_config(&config);
            store.close().await;
            Ok(status)
        })?;
        if self.json {
            print_json(&status);
        } else {
            print(&status, config.terms.zone);
        }
        Ok(if status.faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

fn print(status: &Status, zone: Zone) {
    let clock = match status.clock_late_seconds {
        0..60 => "on time".to_owned(),
        late => format!("late by {}", format_duration(TimeDelta::seconds(late))),
    };
    let times = Times { now: status.at, zone };
    let sent = match status.per_day {
        Some(per_day) => format!("{} of {per_day} in 24 hours", status.sent_in_a_day),
        None => format!("{} in 24 hours", status.sent_in_a_day),
    };
    let mut lines = vec![
        ("letters", times.queue(status.letters_waiting, status.oldest_letter)),
        ("set aside", listed_by(status.letters_set_aside, "--status set_aside")),
        ("dispatches", times.queue(status.dispatches_waiting, status.oldest_dispatch)),
        ("sent", sent),
        ("given up", listed_by(status.dispatches_given_up, "--unsent")),
        ("matches", matches(status)),
        ("newcomers", newcomers(status.applicants_waiting)),
        ("clock", clock),
        ("last fetch", times.last(status.last_fetch)),
        ("last send", times.last(status.last_send)),
    ];
    lines.extend(status.site.as_ref().map(|site| ("site built", times.last(site.built_at))));
    lines.extend(status.free_mb.map(|free_mb| ("free space", format!("{free_mb} MB"))));
    for daemon in &status.daemons {
        let what = if daemon.ended { "ended" } else { "last seen" };
        let ago = times.ago(daemon.at);
        let few = match daemon.few_connections {
            Some(few) => format!("; {few} connections to the database, because its server permits few"),
            None => String::new(),
        };
        lines.push(("daemon", format!("{}, version {}, {what} {ago}{few}", daemon.who, daemon.version)));
    }
    for login in &status.logins {
        let renewed = times.last(login.renewed_at);
        let file = login.token_file.display();
        lines.push(("login", format!("{file} on {}, renewed {renewed}", login.host)));
    }
    lines.extend(status.faults.iter().map(|fault| ("WRONG", fault.clone())));
    if status.faults.is_empty() {
        lines.push(("", "Nothing is wrong.".to_owned()));
    }
    for (what, text) in lines {
        match what {
            "" => println!("{text}"),
            what => println!("{what:<12}  {text}"),
        }
    }
}

/// Describes how many people wait to be admitted.
fn newcomers(waiting: u64) -> String {
    match waiting {
        0 => "none waits".to_owned(),
        1 => "1 waits to be admitted: fogpost player list shows who".to_owned(),
        _ => format!("{waiting} wait to be admitted: fogpost player list shows who"),
    }
}

/// Describes how many matches are running, and in how many somebody is awaited.
fn matches(status: &Status) -> String {
    let mut text = format!("{} running", status.matches_running);
    let waiting = status.matches_waiting_for_gm;
    for (number, what) in [
        (status.matches_late, "late"),
        (waiting, if waiting == 1 { "waits for a GM" } else { "wait for a GM" }),
        (status.protests, if status.protests == 1 { "protest" } else { "protests" }),
    ] {
        if number > 0 {
            text.push_str(&format!(", {number} {what}"));
        }
    }
    text
}

/// Formats past times for people.
struct Times {
    now: DateTime<Utc>,
    zone: Zone,
}

impl Times {
    fn ago(&self, at: DateTime<Utc>) -> String {
        format!("{} ago ({})", format_duration(self.now - at), format_local(at, self.zone, self.now))
    }

    fn last(&self, at: Option<DateTime<Utc>>) -> String {
        at.map_or("never".to_owned(), |at| self.ago(at))
    }

    /// Describes the length of a queue, and how long its oldest item has been waiting.
    fn queue(&self, count: u64, oldest: Option<DateTime<Utc>>) -> String {
        match oldest {
            Some(at) => format!("{count} waiting, the oldest since {}", self.ago(at)),
            None => format!("{count} waiting"),
        }
    }
}

/// Describes a count, with the option of `fogpost letters` that lists the counted items.
fn listed_by(count: u64, option: &str) -> String {
    match count {
        0 => "0".to_owned(),
        _ => format!("{count}: fogpost letters {option} lists them"),
    }
}
