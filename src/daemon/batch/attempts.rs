//! Letters that hang or kill the program: a deadline for each letter, and a count of unfinished attempts.
//!
//! An attempt is noted in the database before its letter is read, and the note is removed once the letter is ruled on.
//! A note that a dead daemon left names the letters that may have killed it. If there are several, they are settled one
//! by one, which counts nothing yet: the others are innocent. A note with one letter counts as an attempt. After a
//! second one, at the third start, another process tries the letter first (see `trial`), and if that dies as well the
//! letter is set aside. One attempt is not enough: something else may have killed the daemon, and then no letter is to
//! blame.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use anyhow::{Context as _, bail};

use crate::daemon::Office;
use crate::daemon::attempts::Overdue;
use crate::daemon::trial::Trial;
use crate::desk::items::set_aside;
use crate::letter::Digest;
use crate::store::{Claim, Postponed, Settlement, StoreError, WaitingLetter};

/// Maximum hanging threads before the program ends, so that it is started afresh. Each occupies a processor and the
/// memory of a batch, and Rust cannot stop it.
const MAX_HUNG: usize = 4;

/// Maximum deaths of the program on a letter that survives each trial: something may kill the program but not the
/// process of the trial.
const MAX_DEATHS: u32 = 10;

/// The note on a letter that was in progress when its daemon died.
const UNENDED: &str = "the program ended while it worked on this letter";

impl Office {
    /// Sets the command for trials: `program` with this config file. Without it, letters on which the program died
    /// twice are set aside untried.
    pub fn try_letters_by(&mut self, program: PathBuf, config: PathBuf) {
        self.attempts.trial = Some(Trial { program, config });
    }

    /// Fails if too many threads hang, which ends the program.
    ///
    /// # Errors
    /// Returns an error if they do.
    pub fn ensure_few_threads_hang(&self) -> anyhow::Result<()> {
        match self.attempts.hung.load(Ordering::Relaxed) {
            hung if hung > MAX_HUNG => {
                bail!("{hung} rulings on letters hang; the program must be restarted")
            }
            _ => Ok(()),
        }
    }

    /// Notes that work on these letters begins.
    pub async fn note_attempts(&self, letters: &[WaitingLetter]) -> Result<(), StoreError> {
        let letters: Vec<Digest> = letters.iter().map(|letter| letter.digest).collect();
        self.store.note_in_work(&self.attempts.run, &letters).await
    }

    /// Notes that work on the letters has ended, whatever its outcome.
    pub async fn end_attempts(&self) -> Result<(), StoreError> {
        self.store.note_in_work(&self.attempts.run, &[]).await
    }

    /// Looks for unfinished attempts on claimed letters. Returns whether one was counted, in which case the claim is
    /// out of date.
    ///
    /// Only the claimant works on a letter, so another daemon's note about it comes from a dead daemon.
    pub async fn count_unended_attempts(
        &self,
        letters: &[WaitingLetter],
        claim: &mut Claim,
    ) -> anyhow::Result<bool> {
        for (run, noted) in self.store.letters_in_work().await? {
            let mut claimed = letters.iter().filter(|letter| noted.contains(&letter.digest));
            let Some(letter) = claimed.next().filter(|_| !self.attempts.is_of_this_run(&run)) else {
                continue;
            };
            if noted.len() == 1 {
                // The note goes last: after a crash in between, the attempt counts twice rather than not at all.
                self.count_unended_attempt(letter, claim).await?;
                self.store.note_in_work(&run, &[]).await?;
                return Ok(true);
            }
            tracing::warn!(letters = noted.len(), "the program ended while it worked on letters");
            self.attempts.suspects().extend(noted);
            self.store.note_in_work(&run, &[]).await?;
        }
        Ok(false)
    }

    /// Counts an attempt that ended the program. If it is not the first, sets the letter aside unless a trial clears it.
    async fn count_unended_attempt(&self, letter: &WaitingLetter, claim: &mut Claim) -> anyhow::Result<()> {
        let digest = letter.digest;
        tracing::error!(letter = %digest, "the program ended while it worked on a letter");
        if letter.tries > 0 && !self.is_cleared(letter).await {
            let tries = letter.tries + 1;
            let letter = WaitingLetter { tries, ..letter.clone() };
            return self.set_aside(&[letter], std::mem::take(claim), UNENDED).await;
        }
        let postponed = vec![Postponed { digest, note: UNENDED.to_owned(), until: None, match_id: None }];
        Ok(self.store.commit(&Settlement { at: self.now(), postponed, ..Settlement::default() }).await?)
    }

    /// Whether another process survives a ruling on a letter on which this program died.
    async fn is_cleared(&self, letter: &WaitingLetter) -> bool {
        match &self.attempts.trial {
            Some(trial) if letter.tries + 1 < MAX_DEATHS => {
                // The deadline is for reading it, and again for ruling on it.
                trial.is_survived(letter.digest, self.attempts.deadline * 2).await
            }
            Some(_) | None => false,
        }
    }

    /// Notes that these letters are being read before they are stored, and returns those on which a daemon died.
    pub async fn note_intake(&self, letters: &[Digest]) -> Result<BTreeSet<Digest>, StoreError> {
        let mut unended = BTreeSet::new();
        for (run, noted) in self.store.letters_in_work().await? {
            if !self.attempts.is_of_this_run(&run) {
                unended.extend(noted.into_iter().filter(|digest| letters.contains(digest)));
            }
        }
        let begun: Vec<Digest> = letters.iter().filter(|digest| !unended.contains(digest)).copied().collect();
        self.store.note_in_work(&self.attempts.intake(), &begun).await?;
        Ok(unended)
    }

    /// Notes that this reading has ended, before the letters are stored and can be claimed.
    pub async fn end_intake(&self) -> Result<(), StoreError> {
        self.store.note_in_work(&self.attempts.intake(), &[]).await
    }

    /// Keeps the letters that may be decided on together: a suspect, which may fail or kill the program again, goes alone
    /// once it comes first, and the letters behind it in its lane wait for it.
    pub fn without_suspects(&self, mut letters: Vec<WaitingLetter>) -> Vec<WaitingLetter> {
        let suspects = self.attempts.suspects();
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
    pub fn suspect(&self, letters: &[Digest]) {
        self.attempts.suspects().extend(letters);
    }

    /// Clears letters of suspicion: work on them has ended, and the program still runs.
    pub fn clear_suspects(&self, letters: &[Digest]) {
        let mut suspects = self.attempts.suspects();
        for letter in letters {
            suspects.remove(letter);
        }
    }

    /// Sets aside at once the letters that took too long: each further attempt would cost a thread.
    pub async fn set_aside_overdue(&self, overdue: Overdue, claim: Claim) -> anyhow::Result<()> {
        let mut letters = Vec::new();
        for digest in overdue.letters() {
            let raw = self.store.letter(digest).await?.context("a claimed letter is missing")?;
            letters.push(WaitingLetter::new(digest, raw, self.now()));
        }
        let why = format!("work on it took longer than {} seconds", self.attempts.deadline.as_secs());
        self.set_aside(&letters, claim, &why).await
    }

    async fn set_aside(&self, letters: &[WaitingLetter], claim: Claim, why: &str) -> anyhow::Result<()> {
        let (letters, why) = (letters.to_vec(), why.to_owned());
        tracing::error!(letters = letters.len(), why, "letters set aside");
        let deciding = self.decide(self.new_rows().await?, move |desk| {
            letters.iter().try_for_each(|letter| set_aside(desk, letter, why.clone(), letter.tries.max(1)))
        });
        let ((), settlement) = deciding.await?;
        self.store.commit_claimed(claim, &settlement).await.context("failed to set a letter aside")?;
        self.wake_loops(&settlement);
        Ok(())
    }
}
