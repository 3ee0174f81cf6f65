//! Letters that may hang or kill the program.
//!
//! Each daemon notes in the database which letters it works on. A letter that takes longer than the deadline
//! is set aside, and its thread is left behind. If a daemon dies, its note names the letters it died on: they
//! are then decided on one by one. A letter on which the program dies again is set aside, unless another
//! process survives a ruling on it (the trial).

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::pin::pin;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use tokio::process::Command;
use tokio::time::timeout;

use super::{Office, commit, load};
use crate::desk;
use crate::desk::frame::in_work::InWork;
use crate::letter::Digest;
use crate::store::{Changes, Claim, Postponed, StoreError, WaitingLetter};

/// Time limit for reading one letter, and for ruling on it. The slowest takes two seconds.
const DEADLINE: Duration = Duration::from_secs(20);

/// A letter is overdue only once the process has also used that much CPU time, because on a busy machine an
/// innocent letter takes longer. A blocked thread uses none, so after this multiple of the limit it is
/// overdue anyway.
const MOST_DEADLINES: u32 = 3;

/// Maximum hanging threads before the program ends, so that a supervisor restarts it. Each occupies a
/// processor and the memory of a batch, and Rust cannot stop it.
const MAX_HUNG: usize = 4;

/// Maximum deaths of the program on a letter that survives each trial: something may kill the program but not
/// the process of the trial.
const MAX_DEATHS: u32 = 10;

/// Time until a lane is tried again for which another session of the database holds a lock. Each attempt makes one
/// of the loops wait for the lock's time limit.
const LOCKED_RETRY: Duration = Duration::from_secs(30);

/// The note on a letter that was in progress when its daemon died.
const UNENDED: &str = "the program ended while it worked on this letter";

/// This daemon's attempts to rule on letters.
pub struct RulingAttempts {
    /// Identifies this run of the program. A process ID would not do: in a container it is the same after
    /// each crash.
    pub(super) run: String,
    pub(super) deadline: Duration,
    /// Number of threads that hang.
    pub(super) hung: AtomicUsize,
    /// Letters under suspicion, after a crash or a rejected commit. They are decided on one by one.
    suspects: Mutex<BTreeSet<Digest>>,
    pub(super) trial: Option<Trial>,
    /// Whether the last batch was stale when it was committed.
    is_stale: AtomicBool,
    /// The numbers of the batches in progress.
    batches: Mutex<BTreeSet<usize>>,
    locked: Mutex<Vec<LockedLane>>,
}

/// A lane for which another session of the database holds a lock. Its claim keeps it from being tried before that
/// makes sense.
struct LockedLane {
    lane: String,
    since: Instant,
    _claim: Claim,
}

/// Letters that took longer than the deadline.
pub type Overdue = BTreeSet<Digest>;

/// The owner of the note about a batch. Its number is free again when this is dropped.
pub struct BatchOwner<'a> {
    attempts: &'a RulingAttempts,
    number: usize,
}

impl BatchOwner<'_> {
    fn name(&self) -> String {
        format!("{} {}", self.attempts.run, self.number)
    }
}

impl Drop for BatchOwner<'_> {
    fn drop(&mut self) {
        self.attempts.batches.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.number);
    }
}

impl RulingAttempts {
    /// Identifies this run by a random number.
    pub fn new(run: u64) -> RulingAttempts {
        let (hung, suspects, trial, is_stale, batches) = Default::default();
        let run = format!("{run:016x}");
        let locked = Mutex::default();
        RulingAttempts { run, deadline: DEADLINE, hung, suspects, trial, is_stale, batches, locked }
    }

    /// Whether a note with this owner is from this run of the program.
    pub fn is_of_this_run(&self, owner: &str) -> bool {
        // The second word is the batch.
        owner.split(' ').next() == Some(&self.run)
    }

    /// Returns the owner of the note about the letters of a batch: several are in progress at a time, each
    /// under the lowest free number. A note that could not be removed is therefore replaced by a later batch.
    pub fn next_batch(&self) -> BatchOwner<'_> {
        let mut taken = self.batches.lock().unwrap_or_else(PoisonError::into_inner);
        let number = (0..).find(|number| taken.insert(*number)).unwrap_or_default();
        BatchOwner { attempts: self, number }
    }

    /// Returns the owner of notes about letters that are read before they are stored.
    pub fn intake(&self) -> String {
        format!("{} intake", self.run)
    }

    pub fn suspects(&self) -> MutexGuard<'_, BTreeSet<Digest>> {
        self.suspects.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps a lane waiting for [`LOCKED_RETRY`].
    pub fn keep_waiting(&self, lane: String, claim: Claim) {
        let _claim = claim.only_lane(&lane);
        self.locked_lanes().push(LockedLane { lane, since: Instant::now(), _claim });
    }

    /// Lets lanes be tried again that have waited for a lock.
    pub fn retry_locked(&self) {
        self.locked_lanes().retain(|locked| locked.since.elapsed() < LOCKED_RETRY);
    }

    /// Returns what waits for a lock: the name of each match, and nothing else that a lane may say.
    pub fn locked_matches(&self) -> Vec<String> {
        let is_match = |lane: &str| {
            lane.contains('-')
                && lane.bytes().all(|b| b == b'-' || b.is_ascii_uppercase() || b.is_ascii_digit())
        };
        let name = |locked: &LockedLane| {
            if is_match(&locked.lane) { locked.lane.clone() } else { "a letter".to_owned() }
        };
        self.locked_lanes().iter().map(name).collect()
    }

    fn locked_lanes(&self) -> MutexGuard<'_, Vec<LockedLane>> {
        self.locked.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes whether a batch was committed or was stale. Returns false if both this batch and the last were
    /// stale.
    pub fn note_commit(&self, is_committed: bool) -> bool {
        !self.is_stale.swap(!is_committed, Ordering::Relaxed) || is_committed
    }

    /// Waits for work on letters, but not for a letter that takes longer than the deadline. That letter's
    /// thread is left behind.
    ///
    /// # Errors
    /// [`Overdue`] with the letters that took too long.
    pub async fn watch<T>(&self, in_work: &InWork, work: impl Future<Output = T>) -> Result<T, Overdue> {
        let mut work = pin!(work);
        let mut since: BTreeMap<Digest, (Instant, Duration)> = BTreeMap::new();
        loop {
            tokio::select! {
                done = &mut work => return Ok(done),
                // Check often enough that a letter exceeds its deadline by at most a twentieth.
                () = tokio::time::sleep(self.deadline / 20) => {}
            }
            let letters = in_work.letters();
            let now = Instant::now();
            let used = processor_time();
            since.retain(|letter, _| letters.contains(letter));
            for letter in letters {
                since.entry(letter).or_insert((now, used));
            }
            let is_overdue = |(entered, used_before): &(Instant, Duration)| {
                let took = now - *entered;
                let used = used.saturating_sub(*used_before);
                took.min(used) >= self.deadline || took >= self.deadline * MOST_DEADLINES
            };
            let overdue = since.iter().filter(|(_, entered)| is_overdue(entered));
            let overdue: Overdue = overdue.map(|(letter, _)| *letter).collect();
            if !overdue.is_empty() {
                self.hung.fetch_add(overdue.len(), Ordering::Relaxed);
                return Err(overdue);
            }
        }
    }
}

/// Returns the CPU time that all threads of the program together have used.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// The command for a trial.
pub struct Trial {
    /// This program.
    pub program: PathBuf,
    /// The club's config file.
    pub config: PathBuf,
}

impl Trial {
    /// Whether another process rules on the letter and exits successfully in time.
    pub async fn is_survived(&self, letter: Digest, deadline: Duration) -> bool {
        let mut command = Command::new(&self.program);
        command.arg("--config").arg(&self.config).args(["letters", "try", &letter.to_string()]);
        // A trial that hangs must not outlive its deadline.
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        match timeout(deadline, command.status()).await {
            Ok(Ok(status)) => status.success(),
            Ok(Err(error)) => {
                tracing::warn!(%error, program = %self.program.display(), "failed to start the trial of a letter");
                false
            }
            Err(_) => false,
        }
    }
}

/// Sets the command for trials: `program` with this config file. Without it, letters on which the program
/// died twice are set aside untried.
pub fn try_letters_by(office: &mut Office, program: PathBuf, config: PathBuf) {
    office.attempts.trial = Some(Trial { program, config });
}

/// Fails if too many threads hang, which ends the program.
///
/// # Errors
/// Returns an error if they do.
pub fn ensure_few_threads_hang(office: &Office) -> anyhow::Result<()> {
    match office.attempts.hung.load(Ordering::Relaxed) {
        hung if hung > MAX_HUNG => {
            bail!("{hung} rulings on letters hang; the program must be restarted")
        }
        _ => Ok(()),
    }
}

/// Notes that work on the letters of a batch begins.
pub async fn note_attempts(
    office: &Office,
    batch: &BatchOwner<'_>,
    letters: &[WaitingLetter],
) -> Result<(), StoreError> {
    let letters: Vec<Digest> = letters.iter().map(|letter| letter.digest).collect();
    office.store.note_in_work(&batch.name(), &letters).await
}

/// Notes that work on the letters of a batch has ended, whatever its outcome.
pub async fn end_attempts(office: &Office, batch: &BatchOwner<'_>) -> Result<(), StoreError> {
    office.store.note_in_work(&batch.name(), &[]).await
}

/// Looks for unfinished attempts on claimed letters. Returns whether one was counted, in which case the claim
/// is out of date.
///
/// Only the claimant works on a letter, so another daemon's note about it comes from a dead daemon.
pub async fn count_unended_attempts(
    office: &Office,
    letters: &[WaitingLetter],
    claim: &mut Claim,
) -> anyhow::Result<bool> {
    for (run, noted) in office.store.letters_in_work().await? {
        let mut claimed = letters.iter().filter(|letter| noted.contains(&letter.digest));
        let Some(letter) = claimed.next().filter(|_| !office.attempts.is_of_this_run(&run)) else {
            continue;
        };
        if noted.len() == 1 {
            // Remove the note last: after a crash in between, the attempt counts twice rather than not at
            // all.
            count_unended_attempt(office, letter, claim).await?;
            office.store.note_in_work(&run, &[]).await?;
            return Ok(true);
        }
        tracing::warn!(letters = noted.len(), "the program ended while it worked on letters");
        office.attempts.suspects().extend(noted);
        office.store.note_in_work(&run, &[]).await?;
    }
    Ok(false)
}

/// Notes that these letters are being read before they are stored, and returns those on which a daemon died.
pub async fn note_intake(office: &Office, letters: &[Digest]) -> Result<BTreeSet<Digest>, StoreError> {
    let mut unended = BTreeSet::new();
    for (run, noted) in office.store.letters_in_work().await? {
        if !office.attempts.is_of_this_run(&run) {
            unended.extend(noted.into_iter().filter(|digest| letters.contains(digest)));
        }
    }
    let begun: Vec<Digest> = letters.iter().filter(|digest| !unended.contains(digest)).copied().collect();
    office.store.note_in_work(&office.attempts.intake(), &begun).await?;
    Ok(unended)
}

/// Notes that reading these letters has ended, before they are stored and can be claimed.
pub async fn end_intake(office: &Office) -> Result<(), StoreError> {
    office.store.note_in_work(&office.attempts.intake(), &[]).await
}

/// Keeps the letters that may be decided on together: a suspect, which may fail or kill the program again, is
/// decided alone once it comes first, and the letters behind it in its lane wait for it.
pub fn without_suspects(office: &Office, mut letters: Vec<WaitingLetter>) -> Vec<WaitingLetter> {
    let suspects = office.attempts.suspects();
    let is_suspect = |letter: &WaitingLetter| letter.tries > 0 || suspects.contains(&letter.digest);
    if letters.first().is_some_and(is_suspect) {
        letters.truncate(1);
        return letters;
    }
    let mut held: BTreeSet<String> = BTreeSet::new();
    letters.retain(|letter| {
        if is_suspect(letter) {
            held.insert(letter.lane.clone());
        }
        !held.contains(&letter.lane)
    });
    letters
}

/// Puts letters under suspicion.
pub fn suspect(office: &Office, letters: &[Digest]) {
    office.attempts.suspects().extend(letters);
}

/// Clears letters of suspicion: work on them has ended, and the program still runs.
pub fn clear_suspects(office: &Office, letters: &[Digest]) {
    let mut suspects = office.attempts.suspects();
    for letter in letters {
        suspects.remove(letter);
    }
}

/// Sets aside at once the letters that took too long: each further attempt would cost a thread.
pub async fn set_aside_overdue(office: &Office, overdue: Overdue, claim: Claim) -> anyhow::Result<()> {
    let mut letters = Vec::new();
    for digest in overdue {
        let raw = office.store.letter(digest).await?.context("a claimed letter is missing")?;
        letters.push(WaitingLetter::new(digest, raw, office.now()));
    }
    let why = format!("work on it took longer than {} seconds", office.attempts.deadline.as_secs());
    set_aside(office, &letters, claim, &why).await
}

/// Counts an attempt that ended the program. If it is not the first, sets the letter aside unless a trial
/// clears it.
async fn count_unended_attempt(
    office: &Office,
    letter: &WaitingLetter,
    claim: &mut Claim,
) -> anyhow::Result<()> {
    let digest = letter.digest;
    tracing::error!(letter = %digest, "the program ended while it worked on a letter");
    if letter.tries > 0 && !is_cleared(office, letter).await {
        let tries = letter.tries + 1;
        let letter = WaitingLetter { tries, ..letter.clone() };
        return set_aside(office, &[letter], std::mem::take(claim), UNENDED).await;
    }
    let postponed = vec![Postponed { digest, note: UNENDED.to_owned(), until: None, match_id: None }];
    Ok(office.store.commit(&Changes { at: office.now(), postponed, ..Changes::default() }).await?)
}

/// Whether another process survives a ruling on a letter on which this program died.
async fn is_cleared(office: &Office, letter: &WaitingLetter) -> bool {
    match &office.attempts.trial {
        Some(trial) if letter.tries + 1 < MAX_DEATHS => {
            // The deadline applies to reading the letter, and again to ruling on it.
            trial.is_survived(letter.digest, office.attempts.deadline * MOST_DEADLINES * 2).await
        }
        Some(_) | None => false,
    }
}

async fn set_aside(
    office: &Office,
    letters: &[WaitingLetter],
    claim: Claim,
    why: &str,
) -> anyhow::Result<()> {
    let letters = letters.to_vec();
    let why = why.to_owned();
    tracing::error!(letters = letters.len(), why, "letters set aside");
    let deciding = commit::decide(office, load::new_rows(office).await?, move |desk| {
        letters.iter().try_for_each(|letter| {
            desk::items::set_aside(desk, letter, why.clone(), letter.tries.max(1), desk::items::Rounds::More)
        })
    });
    let ((), changes) = deciding.await?;
    office.store.commit_claimed(claim, &changes).await.context("failed to set a letter aside")?;
    commit::wake_loops(office, &changes);
    Ok(())
}
