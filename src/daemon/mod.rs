//! The daemon: letters come in, are ruled on and answered; deadlines are enforced; mail goes out.
//!
//! `loops/` wait and back off. Each batch of `items` is loaded (`load/`), decided in [`crate::desk`], which
//! awaits nothing and knows no database, and committed. The rules of play are in [`crate::referee`].

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use chrono::{DateTime, Utc};
use tokio::sync::{Notify, Semaphore};

use self::away::DatabaseWatch;
use self::doubt::ClockTrust;
use self::heartbeat::Heartbeat;
use self::suspects::RulingAttempts;
use self::traffic::Traffic;
use crate::config::Config;
use crate::desk::frame::club::ClubContext;
use crate::ledger::truncate_to_millis;
use crate::post::dkim::Verifier;
use crate::post::outbox::Outbox;
use crate::post::text_file;
use crate::referee::HousePlayer;
use crate::report::Templates;
use crate::store::Database;

pub mod audit;
pub mod away;
mod commit;
pub mod doubt;
pub mod events;
pub mod fog;
mod heartbeat;
pub mod house;
pub mod instruct;
pub mod intake;
pub mod items;
pub mod load;
pub mod loops;
mod parallel;
mod proved;
pub mod ratings;
mod remembered;
mod restored;
mod rulings;
pub mod screen;
pub mod sending;
pub mod site;
mod space;
pub mod status;
pub mod suspects;
mod traffic;
mod waiting;
mod zones;

pub use crate::config::GmIndex;
pub use crate::desk::frame::club::{FaultInjection, Moment};
pub use crate::desk::gm::unseal::Unseal;
pub use crate::desk::matches::applicants::{APPLICANT, Applicant};
pub use crate::desk::matches::openings::{Holder, NEW_NEEDS_ADDRESS, NamedAddress, NewMatch, WrittenHolder};
pub use crate::desk::matches::player_names::{fit_name, plus_address};
pub use intake::copies::with_new_text;
pub use intake::old::is_before;
pub use intake::older::count_unknown;
pub use intake::row::new_letter;
pub use items::{DueMatches, Settled};

/// The source of the time; tests replace it.
pub type Clock = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// The state shared by the loops and the commands at the terminal.
pub struct Office {
    pub config: Arc<Config>,
    pub store: Arc<Database>,
    pub templates: Arc<Templates>,
    club: Arc<ClubContext>,
    outbox: Arc<Outbox>,
    /// Verifies DKIM signatures, where letters must be signed.
    verifier: Option<Arc<Verifier>>,
    clock: Clock,
    clock_trust: ClockTrust,
    heartbeat: Heartbeat,
    database_watch: DatabaseWatch,
    attempts: RulingAttempts,
    /// The letters under way. Rulings without a letter let them go first.
    traffic: Traffic,
    /// Wakes the loop that settles letters.
    letters_arrived: Notify,
    /// Wakes the loop that sends dispatches.
    dispatches_queued: Notify,
    /// Wakes the loop that plays for the house.
    house_to_move: Notify,
    /// Permit for the one turn of the house that may be computed at ordinary priority.
    prompt_turn: Semaphore,
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
        let verifier = match config.letters.require_dkim {
            // Verify signatures only if they are required, because verifying waits for name servers.
            true => Some(Arc::new(Verifier::system().context("letters.require_dkim")?)),
            false => None,
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
