//! Builds the site: loads the public data, has the pages made, and writes those that changed.
//!
//! The last build of the configured site, for `status` and `doctor`.

use std::collections::BTreeMap;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::{Deserialize, Serialize};

use self::folder::SiteFolder;
use super::Office;
use super::load::{ledger_entries, read_entries};
use super::waiting::{RetryPause, pause, run_blocking};
use crate::game::record::{Record, Replayed};
use crate::ledger::{self, Entry, SealKey};
use crate::letter::Digest;
use crate::post::ShutdownSignal;
use crate::report::{COMPILED_IN, Templates, format_duration};
use crate::store::{Database, SiteMatchRow, StoreError};
use crate::web::pages::{SiteContents, pages};
use crate::web::replay::{self, FinishedMatch, ReplayPages};
use crate::web::{Site, proof};

mod folder;
mod rows;

pub use folder::Written;

/// Time between two builds by the daemon.
const INTERVAL: Duration = Duration::from_secs(300);

/// Maximum replays in progress: two are made while one is loaded.
const AT_ONCE: usize = 3;

impl Written {
    /// Describes the build for the terminal.
    pub fn sentence(&self) -> String {
        let Written { files, written, deleted } = self;
        format!("The site has {files} files: {written} written, {deleted} deleted.")
    }

    /// Logs a build that changed something.
    fn log(&self) {
        if self.written + self.deleted > 0 {
            tracing::info!(written = self.written, deleted = self.deleted, "site built");
        }
    }
}

/// Builds the configured site again and again until shutdown.
///
/// # Errors
/// Never: a failed build is logged and tried again.
pub async fn build_until(office: Arc<Office>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
    let Some(folder) = office.config.site.folder.clone() else {
        forget(&office).await?;
        shutdown.wait().await;
        return Ok(());
    };
    let mut backoff = RetryPause::new();
    while !shutdown.is_set() {
        tokio::select! {
            built = build_and_note(&office, &folder) => match built {
                Ok(built) => {
                    backoff = RetryPause::new();
                    built.log();
                }
                Err(error) => backoff.wait("failed to build the site", &error, &shutdown).await,
            },
            () = shutdown.wait() => break,
        }
        pause(INTERVAL, &shutdown).await;
    }
    Ok(())
}

/// Builds the configured site once, if there is one. A failed build is only logged and noted: it must not keep letters
/// from being sent.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn build_once(office: &Office) -> anyhow::Result<()> {
    let Some(folder) = &office.config.site.folder else { return Ok(forget(office).await?) };
    match build_and_note(office, folder).await {
        Ok(built) => built.log(),
        Err(error) => tracing::error!(error = format!("{error:#}"), "failed to build the site"),
    }
    Ok(())
}

async fn build_and_note(office: &Office, folder: &Path) -> anyhow::Result<Written> {
    let built = build(office, folder).await;
    // If it cannot be noted, the disk of the database is full, which is a fault of its own.
    if let Err(error) = note(office, &built).await {
        tracing::warn!(%error, "failed to note the state of the site");
    }
    built
}

/// Builds the site in this folder. Writes only what has changed.
///
/// # Errors
/// Returns an error if the folder holds other files or is a link, a file cannot be written, or the database does not
/// answer.
pub async fn build(office: &Office, folder: &Path) -> anyhow::Result<Written> {
    let folder = std::path::absolute(folder)?;
    let name = folder.to_string_lossy().into_owned();
    let listed = office.store.site_files(&name).await?;
    let mut folder = SiteFolder::open(&folder, listed.clone())?;
    let site = site(office);
    let rows = office.store.site_matches().await?;
    let members = rows::members(office).await?;
    let mut contents = rows::contents(office, &rows, &members).await?;
    let known = Known {
        members: &members,
        events: contents
            .events
            .iter()
            .map(|listed| (listed.event.plan.id.clone(), listed.event.plan.name.clone()))
            .collect(),
    };
    build_replays(office, &site, &rows, &known, &mut folder).await?;
    contents.hero = hero(office, &rows, &members).await?;
    let folder = build_pages(office, site, contents, folder).await?;
    let (folder, built, files) =
        run_blocking(move || folder.delete_others().map(|(built, files)| (folder, built, files))).await??;
    office.store.set_site_files(&name, &listed, &files).await?;
    folder.finish(&files)?;
    Ok(built)
}

fn site(office: &Office) -> Site {
    let club = &office.config.club;
    Site {
        club: club.name.clone(),
        address: club.address.as_str().to_owned(),
        url: office.config.site.url.clone(),
        sheet: None,
        script: None,
    }
}

/// The names that replays show.
struct Known<'a> {
    members: &'a rows::Members,
    /// The names of events, by ID.
    events: BTreeMap<String, String>,
}

impl Known<'_> {
    /// Returns the ID and the name of a match's event.
    fn event(&self, row: &SiteMatchRow) -> Option<(String, String)> {
        self.events.get_key_value(row.event.as_ref()?).map(|(id, name)| (id.clone(), name.clone()))
    }
}

/// Makes all pages except the replays, and writes those that changed.
async fn build_pages(
    office: &Office,
    site: Site,
    contents: SiteContents,
    mut folder: SiteFolder,
) -> anyhow::Result<SiteFolder> {
    let templates = Arc::clone(&office.templates);
    run_blocking(move || {
        for (path, bytes) in pages(&templates, &site, &contents)? {
            let digest = Digest::of(&bytes).to_string();
            if !folder.keep(&path, &digest) {
                folder.put(&path, &digest, &bytes)?;
            }
        }
        Ok(folder)
    })
    .await?
}

/// A replay that was made: its files, with the digest of what they were made from.
struct Made {
    id: String,
    digest: String,
    files: [String; FILES.len()],
}

/// The files of a match.
const FILES: [&str; 4] = ["index.html", "words.html", "record.toml", "chain.js"];

/// Writes the replays of finished matches that are missing or outdated.
async fn build_replays(
    office: &Office,
    site: &Site,
    rows: &[SiteMatchRow],
    known: &Known<'_>,
    folder: &mut SiteFolder,
) -> anyhow::Result<()> {
    let version = version(&office.templates, site);
    // Collect the futures themselves, because a closure that makes them is not `Send`.
    let mut missing = Vec::new();
    for row in rows.iter().filter(|row| row.end.is_some()) {
        let digest = digest_of(row, known, version);
        if !paths(&row.id).iter().all(|path| folder.keep(path, &digest)) {
            missing.push(make(office, site, row, known, digest));
        }
    }
    let mut made = pin!(stream::iter(missing).buffer_unordered(AT_ONCE));
    while let Some(Made { id, digest, files }) = made.try_next().await? {
        for (path, text) in paths(&id).iter().zip(files) {
            folder.put(path, &digest, text.as_bytes())?;
        }
    }
    Ok(())
}

/// Returns the paths of a match's files.
fn paths(id: &str) -> [String; FILES.len()] {
    FILES.map(|file| format!("matches/{id}/{file}"))
}

async fn make(
    office: &Office,
    site: &Site,
    row: &SiteMatchRow,
    known: &Known<'_>,
    digest: String,
) -> anyhow::Result<Made> {
    let (finished, chain) = load(office, row, known).await?;
    let templates = Arc::clone(&office.templates);
    let site = site.clone();
    run_blocking(move || {
        let ReplayPages { page, words } = replay::pages(&templates, &site, &finished)
            .with_context(|| format!("failed to write the replay of {}", finished.id))?;
        let files = [page, words, finished.record.to_string(), chain];
        Ok(Made { id: finished.id, digest, files })
    })
    .await?
}

/// Returns the digest of everything that replays are made from, except their matches.
fn version(templates: &Templates, site: &Site) -> Digest {
    let mut all = format!("{} {} {}\n", env!("CARGO_PKG_VERSION"), site.club, site.address);
    for (name, source) in COMPILED_IN {
        all.push_str(name);
        all.push_str(templates.overrides().get(*name).map_or(*source, String::as_str));
    }
    Digest::of(all.as_bytes())
}

fn digest_of(row: &SiteMatchRow, known: &Known<'_>, version: Digest) -> String {
    let names = known.members.names(row);
    let end = &row.end;
    let event = known.event(row);
    Digest::of(format!("{version}\n{}\n{}\n{end:?}\n{event:?}", names.first, names.second).as_bytes())
        .to_string()
}

/// The keys in the snapshot of a match.
#[derive(Deserialize)]
struct Keys {
    key: SealKey,
    #[serde(default)]
    earlier_keys: Vec<SealKey>,
}

/// Loads a finished match from its ledger, and the ledger as the site publishes it.
async fn load(
    office: &Office,
    row: &SiteMatchRow,
    known: &Known<'_>,
) -> anyhow::Result<(FinishedMatch, String)> {
    let rows = office.store.entries(&row.id).await?;
    let entries = read_entries(&row.id, &rows)?;
    let record = record(row, &entries, known.members)?;
    let texts = entries.iter().zip(&rows).map(|(entry, row)| (entry, row.json.as_str(), row.hash));
    let chain = proof::chain(texts);
    let snapshot = office.store.snapshots(std::slice::from_ref(&row.id)).await?.pop();
    let snapshot = snapshot.with_context(|| format!("{} is gone", row.id))?.snapshot;
    let keys: Keys = serde_json::from_str(&snapshot)
        .with_context(|| format!("failed to read the snapshot of {}", row.id))?;
    let (outcome, ended_at, head) = row.end.clone().context("the match is over")?;
    let finished = FinishedMatch {
        id: row.id.clone(),
        record,
        outcome,
        event: known.event(row),
        ended_at: Some(ended_at),
        head,
        keys: keys.earlier_keys.iter().chain([&keys.key]).map(SealKey::reveal).collect(),
        has_record: true,
    };
    Ok((finished, chain))
}

/// Returns the record of a match, with the names that the club shows.
fn record(row: &SiteMatchRow, entries: &[Entry], members: &rows::Members) -> anyhow::Result<Record> {
    let mut record =
        ledger::record(entries).with_context(|| format!("the ledger of {} opens no match", row.id))?;
    record.players = members.names(row);
    Ok(record)
}

/// Returns the last board of the match that ended last.
async fn hero(
    office: &Office,
    rows: &[SiteMatchRow],
    members: &rows::Members,
) -> anyhow::Result<Option<(String, crate::game::picture::Picture)>> {
    let last = rows
        .iter()
        .filter(|row| row.end.is_some())
        .max_by_key(|row| (row.end.as_ref().map(|end| end.1), &row.id));
    let Some(last) = last else { return Ok(None) };
    let record = record(last, &ledger_entries(office, &last.id).await?, members)?;
    let mut picture = None;
    record.replay(|step| {
        if let Replayed::Adjudicated(done) = step {
            picture = Some(done.state.clone());
        }
    });
    Ok(picture.map(|state| (last.id.clone(), state.open_board(None).picture)))
}

/// The key under which a daemon remembers the last build.
const SITE: &str = "site";

/// The state of the configured site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteState {
    /// The end of the last build that succeeded.
    pub built_at: Option<DateTime<Utc>>,
    /// The time since which every build has failed, and the last error.
    pub failed: Option<(DateTime<Utc>, String)>,
}

impl SiteState {
    /// Returns the state that a daemon noted last; `None` if no daemon builds a site.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn of(store: &Database) -> Result<Option<SiteState>, StoreError> {
        Ok(store.remembered(SITE).await?.and_then(|json| serde_json::from_str(&json).ok()))
    }

    /// Returns a sentence about builds that fail.
    pub fn fault(&self, now: DateTime<Utc>) -> Option<String> {
        let (since, error) = self.failed.as_ref()?;
        Some(format!("the site has not been built for {}: {error}", format_duration(now - *since)))
    }
}

/// Notes and logs the outcome of a build.
async fn note(office: &Office, built: &anyhow::Result<Written>) -> Result<(), StoreError> {
    let now = office.now();
    let before = SiteState::of(&office.store).await?.unwrap_or_default();
    let after = match built {
        Ok(_) => SiteState { built_at: Some(now), failed: None },
        Err(error) => {
            let since = before.failed.as_ref().map_or(now, |(since, _)| *since);
            SiteState { failed: Some((since, format!("{error:#}"))), ..before }
        }
    };
    let json = serde_json::to_string(&after).expect("times and a text");
    office.store.remember(SITE, &json).await
}

/// Forgets the state, because no site is configured.
async fn forget(office: &Office) -> Result<(), StoreError> {
    office.store.forget(SITE).await
}
