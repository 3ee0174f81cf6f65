//! The state shared by the loops and the commands at the terminal, and the templates of a club.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use tokio::sync::{Notify, Semaphore};

use super::away::DatabaseWatch;
use super::clock::ClockTrust;
use super::heartbeat::{Heartbeat, Traffic};
use super::suspects::RulingAttempts;
use crate::config::Config;
use crate::desk::frame::club::{ClubContext, FaultInjection};
use crate::ledger::truncate_to_millis;
use crate::post::dkim::Verifier;
use crate::post::outbox::Outbox;
use crate::post::text_file;
use crate::referee::HousePlayer;
use crate::report::Templates;
use crate::store::Database;

/// The source of the time; tests replace it.
pub type Clock = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// The state shared by the loops and the commands at the terminal.
pub struct Office {
    pub config: Arc<Config>,
    pub store: Arc<Database>,
    pub templates: Arc<Templates>,
    pub(super) club: Arc<ClubContext>,
    pub(super) outbox: Arc<Outbox>,
    /// Verifies DKIM signatures, where letters must be signed.
    pub(super) verifier: Option<Arc<Verifier>>,
    pub(super) clock: Clock,
    pub(super) clock_trust: ClockTrust,
    pub(super) heartbeat: Heartbeat,
    pub(super) database_watch: DatabaseWatch,
    pub(super) attempts: RulingAttempts,
    /// The letters under way. Rulings without a letter let them go first.
    pub(super) traffic: Traffic,
    /// Wakes the loop that settles letters.
    pub(super) letters_arrived: Notify,
    /// Wakes the loop that sends dispatches.
    pub(super) dispatches_queued: Notify,
    /// Wakes the loop that plays for the house.
    pub(super) house_to_move: Notify,
    /// Permit for the one turn of the house that may be computed at ordinary priority.
    pub(super) prompt_turn: Semaphore,
}

impl Office {
    /// Sets up the office of a club.
    ///
    /// # Errors
    /// Returns an error if a template in the club's folder cannot be read or is faulty, or if the outbox or
    /// the resolver cannot be set up.
    pub fn new(config: Config, store: Arc<Database>, clock: Clock) -> anyhow::Result<Self> {
        let templates = Arc::new(templates(config.templates.folder.as_deref())?);
        let outbox = Arc::new(Outbox::new(config.outbox.way.clone()).context("outbox")?);
        let verifier = if config.letters.require_dkim {
            // Verify signatures only if they are required, because verifying waits for name servers.
            Some(Arc::new(Verifier::system().context("letters.require_dkim")?))
        } else {
            None
        };
        let run = getrandom::u64().context("the system gives no random numbers")?;
        let config = Arc::new(config);
        let club = Arc::new(ClubContext::new(Arc::clone(&config), Arc::clone(&templates)));
        Ok(Office {
            config,
            store,
            templates,
            club,
            outbox,
            verifier,
            clock,
            clock_trust: ClockTrust::default(),
            heartbeat: Heartbeat::new(Instant::now()),
            database_watch: DatabaseWatch::default(),
            attempts: RulingAttempts::new(run),
            traffic: Traffic::new(),
            letters_arrived: Notify::new(),
            dispatches_queued: Notify::new(),
            house_to_move: Notify::new(),
            prompt_turn: Semaphore::new(1),
        })
    }

    /// Verifies DKIM signatures with this verifier, instead of one that asks the system's name servers.
    pub fn verify_by(&mut self, verifier: Verifier) {
        self.verifier = Some(Arc::new(verifier));
    }

    /// Runs `trap` before each letter is read or ruled on, and limits the work on a letter to `deadline`. For
    /// tests.
    ///
    /// # Panics
    /// Panics if the office is at work.
    pub fn set_fault_injection(&mut self, trap: Arc<FaultInjection>, deadline: Duration) {
        Arc::get_mut(&mut self.club).expect("nothing is decided yet").fault_injection = Some(trap);
        self.attempts.deadline = deadline;
    }

    /// Replaces the player that finds the house's turns. For tests.
    ///
    /// # Panics
    /// Panics if the office is at work.
    pub fn set_house(&mut self, house: Arc<HousePlayer>) {
        Arc::get_mut(&mut self.club).expect("nothing is decided yet").house = house;
    }

    /// Names another procedure, and another version of the time zones, in the ledgers. For tests.
    ///
    /// # Panics
    /// Panics if the office is at work.
    pub fn set_procedure(&mut self, procedure: u32, tzdata: &str) {
        let club = Arc::get_mut(&mut self.club).expect("nothing is decided yet");
        club.identity.procedure = procedure;
        tzdata.clone_into(&mut club.identity.tzdata);
    }

    /// Closes idle connections to the mail server.
    pub async fn close_outbox(&self) {
        self.outbox.close().await;
    }

    /// Closes all connections.
    pub async fn close(&self) {
        self.close_outbox().await;
        self.store.close().await;
    }

    /// Returns the time in whole milliseconds, as the ledger stores it.
    pub fn now(&self) -> DateTime<Utc> {
        truncate_to_millis((self.clock)())
    }
}

/// Loads the club's templates: those compiled in, replaced by the files of the same path in `folder`.
///
/// # Errors
/// Returns an error if a file cannot be read, is not a template, or has a name that no template has.
pub fn templates(folder: Option<&Path>) -> anyhow::Result<Templates> {
    let mut overrides = BTreeMap::new();
    if let Some(folder) = folder {
        read_folder(folder, "", &mut overrides)
            .with_context(|| format!("templates.folder {}", folder.display()))?;
    }
    Ok(Templates::new(&overrides)?)
}

fn read_folder(folder: &Path, prefix: &str, found: &mut BTreeMap<String, String>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        // Skip hidden files, and the backups that editors leave.
        if name.starts_with('.') || name.ends_with('~') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            read_folder(&entry.path(), &format!("{prefix}{name}/"), found)?;
        } else {
            found.insert(format!("{prefix}{name}"), text_file::read(&entry.path())?);
        }
    }
    Ok(())
}
