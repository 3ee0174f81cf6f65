//! The loops: letters are taken in, settled, the clock is asked, dispatches are sent. It loads, calls, saves; what
//! is decided is decided in [`crate::referee`].

mod answers;
mod anybody;
mod audit;
mod clock;
mod decide;
mod digest;
mod dispatch;
mod dossier;
mod gm;
mod house;
mod intake;
mod open;
mod parallel;
mod people;
mod proof;
mod pulse;
mod returned;
pub mod service;
mod settle;
pub mod status;
mod write;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context;
use chrono::{DateTime, Utc};
use tokio::sync::{Notify, mpsc, watch};
use tokio::task::{JoinError, JoinSet};

use self::pulse::Pulse;

use crate::config::Config;
use crate::ledger::{MailIdentity, truncate_to_millis};
use crate::letter::OwnIdentity;
use crate::post::dkim::Verifier;
use crate::post::outbox::Outbox;
use crate::post::{Batch, Health, ShutdownSignal};
use crate::report::Templates;
use crate::report::envelope::Stationery;
use crate::store::{Store, Wakeup};

pub use intake::new_letter;
pub use open::{Holder, NamedAddress, NewMatch, fit_name};

/// Where the program has its time from; tests move it.
pub type Clock = Arc<dyn Fn() -> DateTime<Utc> + Send + Sync>;

/// What the loops share.
pub struct Office {
    pub config: Config,
    pub store: Arc<dyn Store>,
    pub templates: Templates,
    poster: Arc<Outbox>,
    own: OwnIdentity,
    /// Asked where letters must be signed.
    verifier: Option<Arc<Verifier>>,
    stationery: Stationery,
    /// What letters are read and answers worded by now.
    desk: MailIdentity,
    clock: Clock,
    pulse: Pulse,
    /// Letters wait to be ruled on.
    letters: Notify,
    /// Dispatches wait to be sent.
    dispatches: Notify,
    /// The house may be due somewhere.
    house: Notify,
}

/// How often the loops look even when nothing has woken them.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// How long the loops may take to finish what they have in hand.
const PARTING: Duration = Duration::from_secs(5);

/// The longest pause between two tries when the database does not answer.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

impl Office {
    /// # Errors
    /// A template of the club's folder cannot be read or is at fault.
    pub fn new(config: Config, store: Arc<dyn Store>, clock: Clock) -> anyhow::Result<Self> {
        let templates = templates(config.templates.folder.as_deref())?;
        let poster = Arc::new(Outbox::new(config.outbox.clone()).context("outbox")?);
        let own = OwnIdentity {
            address: config.club.address.clone(),
            message_id_domain: config.club.message_id_domain(),
            return_path: config.club.return_path.clone(),
        };
        let verifier = match config.letters.require_dkim {
            true => Some(Arc::new(Verifier::system().context("letters.require_dkim")?)),
            false => None,
        };
        let stationery = Stationery {
            club_name: config.club.name.clone(),
            address: config.club.address.clone(),
            plus_addresses: config.club.plus_addresses,
            message_id_domain: config.club.message_id_domain(),
        };
        let desk = MailIdentity {
            address: config.club.address.as_str().to_owned(),
            wording: stationery.wording(&templates),
            message_ids: config.club.message_id_domain(),
        };
        let (letters, dispatches, house) = (Notify::new(), Notify::new(), Notify::new());
        Ok(Office {
            config,
            store,
            templates,
            poster,
            own,
            verifier,
            stationery,
            desk,
            clock,
            pulse: Pulse::new(Instant::now()),
            letters,
            dispatches,
            house,
        })
    }

    /// Asks this verifier of DKIM signatures from now on, instead of one with the system's name servers.
    pub fn verify_by(&mut self, verifier: Verifier) {
        self.verifier = Some(Arc::new(verifier));
    }

    /// Ends the connections to the mail server that are kept.
    pub async fn hang_up(&self) {
        self.poster.close().await;
    }

    /// Ends all connections that are kept.
    pub async fn close(&self) {
        self.hang_up().await;
        self.store.close().await;
    }

    /// To the millisecond, as the ledger has it: so that what is worded by it can be worded again.
    pub fn now(&self) -> DateTime<Utc> {
        truncate_to_millis((self.clock)())
    }

    /// Runs every loop until `stop`. Each then finishes what it has in hand; what takes longer than [`PARTING`] is
    /// let go, and is met again at the next start.
    ///
    /// # Errors
    /// What ended one of the loops for good.
    pub async fn run(self: Arc<Self>, stop: ShutdownSignal) -> anyhow::Result<()> {
        let (stopper, until) = ShutdownSignal::new();
        // Nothing is known of the mailbox but by the daemon that reads it.
        let (health, watched) = watch::channel(Health::default());
        let mut loops = JoinSet::new();
        loops.spawn(Arc::clone(&self).settle_until(until.clone()));
        loops.spawn(Arc::clone(&self).dispatch_until(until.clone()));
        loops.spawn(Arc::clone(&self).house_until(until.clone()));
        loops.spawn(Arc::clone(&self).hear_until(until.clone()));
        loops.spawn(Arc::clone(&self).note_state_until(until.clone(), watched));
        loops.spawn(Arc::clone(&self).reassure_until(until.clone()));
        loops.spawn(self.read_until(until, health));
        let ended = tokio::select! {
            ended = loops.join_next() => flat(ended),
            () = stop.wait() => Ok(()),
        };
        stopper.stop();
        wind_up(loops).await;
        ended
    }

    /// Passes on what other daemons, and commands, have left to be done.
    async fn hear_until(self: Arc<Self>, stop: ShutdownSignal) -> anyhow::Result<()> {
        let mut pause = Pause::new();
        while !stop.is_set() {
            let news = tokio::select! {
                news = self.store.next_wakeup() => news,
                () = stop.wait() => break,
            };
            match news {
                Ok(Wakeup::Letters) => self.letters.notify_one(),
                Ok(Wakeup::Dispatches) => self.dispatches.notify_one(),
                Err(error) => {
                    pause.after_failure("nothing is heard of other daemons", &error.into(), &stop).await;
                    continue;
                }
            }
            pause = Pause::new();
        }
        Ok(())
    }

    /// Does once what there is to do: takes in what the mailbox holds, settles it, asks the clock, sends.
    ///
    /// # Errors
    /// The mailbox cannot be read, the database does not answer.
    pub async fn once(&self) -> anyhow::Result<()> {
        self.read_again_if_restored().await?;
        let (to, batches) = mpsc::channel::<Batch>(2);
        let (drained, ()) =
            tokio::join!(self.config.inbox.clone().drain(to), self.take_in_until_closed(batches));
        drained.context("the mailbox")?;
        self.settle_all().await?;
        self.clock_all(clock::OUTAGE_BETWEEN_RUNS).await?;
        self.house_all().await?;
        self.audit_when_due().await?;
        self.dispatch_all().await?;
        self.note_once().await
    }
}

/// The club's templates: those compiled in, and the files of `folder` in the place of those of their names.
///
/// # Errors
/// A file cannot be read, is no template, or bears a name that none of ours has.
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
        let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
        if name.starts_with('.') || name.ends_with('~') {
            continue;
        }
        if entry.file_type()?.is_dir() {
            read_folder(&entry.path(), &format!("{name}/"), found)?;
        } else {
            found.insert(name, std::fs::read_to_string(entry.path())?);
        }
    }
    Ok(())
}

/// The outcome of the loop that has ended, if any has.
fn flat(ended: Option<Result<anyhow::Result<()>, JoinError>>) -> anyhow::Result<()> {
    ended.map_or(Ok(()), |ended| ended.context("a loop")?)
}

/// Lets loops that were told to stop finish what they have in hand. What takes longer than [`PARTING`] is let go.
async fn wind_up(mut loops: JoinSet<anyhow::Result<()>>) {
    let all = async { while loops.join_next().await.is_some() {} };
    if tokio::time::timeout(PARTING, all).await.is_err() {
        tracing::warn!(seconds = PARTING.as_secs(), "work in hand was let go and rolled back");
        loops.shutdown().await;
    }
}

/// Does the work until `stop`, then drops it.
async fn until(stop: &ShutdownSignal, work: impl Future<Output = anyhow::Result<()>>) -> anyhow::Result<()> {
    tokio::select! {
        ended = work => ended,
        () = stop.wait() => Ok(()),
    }
}

/// Waits until woken, at most [`LOOK_EVERY`].
async fn rest(wake: &Notify, stop: &ShutdownSignal) {
    tokio::select! {
        () = wake.notified() => {}
        () = tokio::time::sleep(LOOK_EVERY) => {}
        () = stop.wait() => {}
    }
}

/// A growing pause after a failure of the database, and what was said of it.
struct Pause {
    next: Duration,
    said: String,
}

impl Pause {
    fn new() -> Self {
        Pause { next: Duration::from_secs(1), said: String::new() }
    }

    /// A failure that lasts is told once.
    async fn after_failure(&mut self, what: &str, error: &anyhow::Error, stop: &ShutdownSignal) {
        let error = format!("{error:#}");
        if error == self.said {
            tracing::debug!(error, pause_seconds = self.next.as_secs(), "{what}; trying again");
        } else {
            tracing::error!(error, "{what}; trying again until it can");
            self.said = error;
        }
        tokio::select! {
            () = tokio::time::sleep(self.next) => {}
            () = stop.wait() => {}
        }
        self.next = (self.next * 2).min(LONGEST_PAUSE);
    }
}
