//! `fogpost doctor`: checks each part of the setup and prints a line for it, with advice if it fails.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use chrono::{DateTime, Utc};

use super::zones;
use crate::config::presets::is_untouched;
use crate::config::{Config, SharedMailbox};
use crate::daemon;
use crate::daemon::site::SiteState;
use crate::daemon::status::{DaemonStatus, running_daemons};
use crate::post::outbox::{Checked, Outbox};
use crate::post::{FetchedLetter, InboxCheck, dns, oauth, text_file};
use crate::report::{format_duration, format_local};
use crate::store::{self, LeftReason, private};
use crate::zone;

mod round_trip;

/// Check config, templates, database, mailbox, mail server and DNS
#[derive(clap::Args)]
pub struct Args {
    /// Also send a letter to the club's own address, and report how long it takes, the folder in which it
    /// arrives, and the receiving server's verdict on SPF, DKIM and DMARC
    #[arg(long)]
    send: bool,
    /// Maximum seconds to wait for that letter
    #[arg(long, value_name = "SECONDS", default_value_t = 120, requires = "send")]
    wait: u64,
    /// Also look up the DKIM key with this selector in the DNS. Not needed for Google, Microsoft 365 and
    /// Fastmail, whose selectors are known
    #[arg(long, value_name = "SELECTOR")]
    dkim_selector: Option<String>,
}

impl Args {
    pub fn run(self, path: &Path) -> anyhow::Result<ExitCode> {
        let mut findings = Findings { all_ok: true };
        let mut config = match Config::load_with_passwords(path) {
            Ok(config) => config,
            Err(error) => {
                findings.print("config", Err(error.into()), "");
                return Ok(ExitCode::FAILURE);
            }
        };
        let advice = "edit it: the club's name and addresses, its mailbox and its mail server";
        findings.print("config", check_is_edited(path), advice);
        match config.shared_mailbox() {
            Some(SharedMailbox::Taken(text)) => findings.print("gm", Err(anyhow!(text)), ""),
            Some(SharedMailbox::Sorted(text)) => warn("gm", &text),
            None => {}
        }
        let templates = daemon::templates(config.templates.folder.as_deref()).and_then(|templates| {
            crate::report::check_templates(&templates)?;
            Ok("all render".to_owned())
        });
        findings.print("templates", templates, "correct the file, or remove it from templates.folder");
        let (found, warnings) = zones::check(Utc::now().date_naive());
        findings.print("zones", Ok(found), "");
        warnings.iter().for_each(|warning| warn("zones", warning));
        super::block_on(async {
            let advice = if config.database.url.starts_with("sqlite:") {
                "see database.url; its folder must exist and be writable"
            } else {
                "see database.url"
            };
            let opened = database(&config).await;
            let is_open = opened.is_ok();
            findings.print("database", opened, advice);
            if is_open {
                let advice = "somebody has changed it; restore an earlier backup";
                findings.print("schema", schema(&config).await, advice);
                findings.print_daemons(&config).await?;
            }
            // Opening the database may have created it.
            findings.print("files", private_files(path, &mut config), "");
            for login in config.oauth_logins() {
                findings.print("login", state_of(login), "");
            }
            findings.print_inbox(&config, is_open).await;
            findings.print_outbox(&config).await;
            if let Some(address) = config.status.listen.filter(|address| !address.ip().is_loopback()) {
                warn(
                    "status",
                    &format!(
                        "whoever reaches {address} can read the club's counts (status.listen); outside of a \
                     container, use 127.0.0.1:{}",
                        address.port()
                    ),
                );
            }
            look_up(&config, self.dkim_selector).await;
            if self.send {
                findings.print_round_trip(&config, Duration::from_secs(self.wait)).await;
            }
            Ok(())
        })?;
        Ok(if findings.all_ok { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }
}

/// Fails if the config is unchanged since `init` wrote it, because its addresses do not exist.
fn check_is_edited(path: &Path) -> anyhow::Result<String> {
    let name = path.display().to_string();
    let text = text_file::read(path).with_context(|| name.clone())?;
    if is_untouched(&text) {
        bail!("{name} is still the example");
    }
    Ok(name)
}

/// Fails if anybody other than their owner has access to the files that hold secrets.
fn private_files(path: &Path, config: &mut Config) -> anyhow::Result<String> {
    let mut files = vec![path.to_owned()];
    files.extend(config.password_files());
    if let Some(database) = store::sqlite_file(&config.database.url)? {
        files.extend(private::databases_beside(&database));
    }
    let shared: Vec<(PathBuf, u32)> =
        files.into_iter().filter_map(|file| private::shared_mode(&file).map(|mode| (file, mode))).collect();
    if shared.is_empty() {
        return Ok("config, passwords, database and backups are private to this user".to_owned());
    }
    let listed: Vec<String> =
        shared.iter().map(|(file, mode)| format!("{} (mode {mode:o})", file.display())).collect();
    let names: Vec<String> = shared.iter().map(|(file, _)| file.display().to_string()).collect();
    bail!("others may read {}; run: chmod 600 {}", listed.join(", "), names.join(" "))
}

/// Opens the database and counts what waits in it.
async fn database(config: &Config) -> anyhow::Result<String> {
    let store = config.database.open().await?;
    let queues = store.queues().await?;
    let faults = store.server_faults().await?;
    let free = store.free_bytes()?.and_then(|free| config.database.shortage(free));
    store.close().await;
    if let Some(free_mb) = free {
        bail!("only {free_mb} MB are free on its disk, less than database.min_free_mb");
    }
    if !faults.is_empty() {
        bail!("{}", faults.join("; "));
    }
    let given_up = match queues.given_up {
        0 => String::new(),
        n => format!(", {n} given up: see fogpost letters --unsent"),
    };
    Ok(format!(
        "matches running: {}, letters waiting: {}, dispatches waiting: {}{given_up}",
        queues.matches_running, queues.letters_waiting, queues.dispatches_waiting
    ))
}

/// Counts the letters that arrived before the mailbox's mark, and returns the mark.
async fn old_letters(
    config: &Config,
    arrivals: &[Option<DateTime<Utc>>],
) -> anyhow::Result<(usize, DateTime<Utc>)> {
    let store = config.database.open().await?;
    let mark = store.mailbox_mark(&config.inbox.name(), Utc::now()).await;
    store.close().await;
    let mark = mark?;
    Ok((arrivals.iter().flatten().filter(|at| daemon::is_before(**at, mark)).count(), mark))
}

/// Counts the letters among those filed last that the database lacks.
async fn unknown_letters(config: &Config, filed: &[FetchedLetter]) -> anyhow::Result<usize> {
    let store = config.database.open().await?;
    let unknown = daemon::count_unknown(&store, config, filed, Utc::now()).await;
    store.close().await;
    unknown
}

/// Counts the letters in the mailbox that were left for another club.
async fn foreign_letters(config: &Config) -> anyhow::Result<usize> {
    let store = store::open(&config.database.url).await?;
    let left = store.left_letters(&config.inbox.name()).await;
    store.close().await;
    Ok(left?.iter().filter(|(_, reason)| *reason == LeftReason::Foreign).count())
}

/// Compares the tables, indexes and triggers of the database with those of this program.
async fn schema(config: &Config) -> anyhow::Result<String> {
    let store = config.database.open().await?;
    let faults = store.schema_faults().await;
    store.close().await;
    let faults = faults?;
    if !faults.is_empty() {
        bail!("{}", faults.join("; "));
    }
    Ok("tables, indexes and triggers match those of this program".to_owned())
}

/// Describes the state of an OAuth login.
fn state_of(login: &oauth::OauthLogin) -> anyhow::Result<String> {
    let Some(state) = login.state()? else { bail!("nobody has logged in yet; run: fogpost login") };
    if state.has_ended {
        bail!("the provider has ended the login; run: fogpost login");
    }
    let now = Utc::now();
    let ago = |at| format_duration(now - at);
    let (logged_in, renewed) = (ago(state.logged_in_at), ago(state.renewed_at));
    let place = login.token_file.display();
    let holds = match state.ends_at {
        Some(at) => format!("the provider ends it in {}", format_duration(at - now)),
        None => {
            "it lasts until the provider ends it, which most do if it is not renewed for months".to_owned()
        }
    };
    Ok(format!("logged in {logged_in} ago, renewed {renewed} ago, in {place}; {holds}"))
}

/// Looks at the DNS records of the domain from which letters are sent.
async fn look_up(config: &Config, selector: Option<String>) {
    let domain = config.club.address.domain();
    if dns::is_reserved(domain) {
        return;
    }
    let selectors = config.dkim_selectors().into_iter().chain(selector).collect();
    let Some(records) = dns::Records::of(domain, selectors).await else {
        return warn("dns", "this machine's name servers cannot be read (/etc/resolv.conf)");
    };
    let faults = records.faults(domain);
    if faults.is_empty() {
        let with_key = if records.dkim.is_empty() { "" } else { " and a DKIM key" };
        println!("ok    dns: {domain} has MX, SPF and DMARC records{with_key}");
    }
    faults.iter().for_each(|fault| warn("dns", fault));
}

fn warn(part: &str, text: &str) {
    println!("WARN  {part}: {text}");
}

/// Prints the result of each check and remembers whether all passed.
struct Findings {
    all_ok: bool,
}

impl Findings {
    /// Prints what the daemons have noted: the last build of the site, and the zone data with which they were started.
    async fn print_daemons(&mut self, config: &Config) -> anyhow::Result<()> {
        let store = config.database.open().await?;
        let (site, now) = (SiteState::of(&store).await, Utc::now());
        let daemons = running_daemons(&store, now).await;
        store.close().await;
        // The next single run uses the newest.
        let is_old =
            |daemon: &&DaemonStatus| daemon.stays() && zone::is_newer(zone::edition(), &daemon.zone_data);
        for daemon in daemons?.iter().filter(is_old) {
            let (who, old, new) = (&daemon.who, &daemon.zone_data, zone::edition());
            warn("zones", &format!("{who} still uses edition {old}; restart it, and it uses {new}"));
        }
        if let Some(page) = config.site.board_page() {
            let found =
                format!("letters link {page}; a mail gateway that rewrites links can read a position there");
            self.print("board links", Ok(found), "");
            if config.site.folder.is_none() {
                warn(
                    "board links",
                    "site.folder is not set: serve what `fogpost site build` makes, or they lead nowhere",
                );
            }
        }
        if let Some(folder) = &config.site.folder {
            let shown = folder.display();
            let site = site?.unwrap_or_default();
            let found = match (site.fault(now), site.built_at) {
                (Some(fault), _) => Err(anyhow!(fault)),
                (None, Some(at)) => Ok(format!("{shown}, built {} ago", format_duration(now - at))),
                (None, None) => Ok(format!("{shown}; the daemon has not built it yet")),
            };
            self.print("site", found, "");
            let folder = std::path::absolute(folder)?;
            if let Some(closed) = folder.ancestors().find(|folder| private::is_closed(folder)) {
                let closed = closed.display();
                warn(
                    "site",
                    &format!("others cannot enter {closed}, so a web server may be unable to read the site"),
                );
            }
        }
        Ok(())
    }

    async fn print_outbox(&mut self, config: &Config) {
        let advice = config.outbox.way.port_advice();
        let outbox = async { anyhow::Ok(Outbox::new(config.outbox.way.clone())?.check().await?) };
        let advice = advice.as_deref().unwrap_or("see the section [outbox]");
        match outbox.await {
            Ok(Checked { found, warning }) => {
                self.print("outbox", Ok(found), "");
                if let Some(warning) = warning {
                    warn("outbox", warning);
                }
            }
            Err(error) => self.print("outbox", Err(error), advice),
        }
    }

    async fn print_inbox(&mut self, config: &Config, has_database: bool) {
        let checked = match config.inbox.check().await {
            Ok(checked) => checked,
            Err(error) => {
                let explained = config.inbox.explain(&error);
                let advice = if explained.contains("see inbox.") { "" } else { "see the section [inbox]" };
                return self.print("inbox", Err(anyhow!(explained)), advice);
            }
        };
        let InboxCheck { mut found, hints, arrivals, filed } = checked;
        let old = if has_database { old_letters(config, &arrivals).await.map(Some) } else { Ok(None) };
        match old {
            Ok(None | Some((0, _))) => {}
            Ok(Some((old, mark))) => {
                let mark = format_local(mark, config.terms.zone, Utc::now());
                found.push_str(&format!(
                    "; {old} of them arrived before the club began ({mark}) and are left alone, unless they answer one of \
                     its letters; fogpost receive < FILE takes one"
                ));
            }
            Err(error) => warn("inbox", &format!("the old letters in it cannot be counted: {error:#}")),
        }
        let unknown = if has_database { unknown_letters(config, &filed).await } else { Ok(0) };
        match unknown {
            Ok(0) => self.print("inbox", Ok(found), ""),
            Ok(unknown) => {
                let fault = anyhow!(
                    "{found}; of the {} letters that were processed last, the database lacks {unknown}, so it is older \
                     than its mailbox",
                    filed.len()
                );
                self.print("inbox", Err(fault), "fogpost run reads the processed letters again");
            }
            Err(error) => self.print("inbox", Err(error), "the processed letters cannot be compared"),
        }
        let foreign = if has_database { foreign_letters(config).await } else { Ok(0) };
        match foreign {
            Ok(0) => {}
            Ok(foreign) => warn(
                "inbox",
                &format!(
                    "letters in it that answer another club, and are left for that one, unread: {foreign}; two clubs read \
                     this mailbox, so give each its own"
                ),
            ),
            Err(error) => warn("inbox", &format!("the letters of other clubs cannot be counted: {error:#}")),
        }
        hints.iter().for_each(|hint| warn("inbox", hint));
    }

    async fn print_round_trip(&mut self, config: &Config, limit: Duration) {
        let arrival = round_trip::round_trip(config, limit).await;
        let warnings = arrival.as_ref().map(round_trip::Arrival::warnings).unwrap_or_default();
        let advice =
            "look into its spam folder, and whether letters to the club's address reach this mailbox";
        let unfiled = arrival.as_ref().ok().and_then(|arrival| arrival.unfiled().map(ToOwned::to_owned));
        self.print("send", arrival.map(|arrival| arrival.found()), advice);
        if let Some(error) = unfiled {
            self.print("send", Err(anyhow!("the letter cannot be moved to {error}")), "");
        }
        warnings.iter().for_each(|warning| warn("send", warning));
    }

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
