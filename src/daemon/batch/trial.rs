//! Trials of letters on which the program died twice: another process rules on the letter first.
//!
//! If that process dies as well, the letter is to blame. Otherwise something else killed the program, and a player's
//! letter that happened to be in work must not go unanswered.

use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::process::Command;
use tokio::time::timeout;

use super::pipeline::BatchMode;
use super::read::read_letters;
use crate::daemon::Office;
use crate::daemon::decide::in_work::InWork;
use crate::daemon::parallel::run_blocking;
use crate::letter::Digest;
use crate::store::{LetterQueue, WaitingLetter};

/// How a trial is started.
pub struct Trial {
    /// This program.
    pub program: PathBuf,
    /// The club's config file.
    pub config: PathBuf,
}

impl Trial {
    /// Whether a process that rules on the letter ends well and in time.
    pub async fn is_survived(&self, letter: Digest, deadline: Duration) -> bool {
        let mut command = Command::new(&self.program);
        command.arg("--config").arg(&self.config).args(["letters", "try", &letter.to_string()]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
        match timeout(deadline, command.status()).await {
            Ok(Ok(status)) => status.success(),
            Ok(Err(error)) => {
                tracing::warn!(%error, program = %self.program.display(), "a letter could not be tried");
                false
            }
            Err(_) => false,
        }
    }
}

impl Office {
    /// Tries letters on which the program died twice by running `program` with this config file. Otherwise they are set
    /// aside untried.
    pub fn try_letters_by(&mut self, program: PathBuf, config: PathBuf) {
        self.attempts.set_trial(Trial { program, config });
    }

    /// Rules on a stored letter, and throws the ruling away.
    ///
    /// # Errors
    /// Returns an error if there is no such letter, or if the database does not answer. A ruling that fails is none:
    /// the program survives it.
    pub async fn try_letter(&self, digest: Digest) -> anyhow::Result<()> {
        let raw = self.store.letter(digest).await?.context("there is no such letter")?;
        let (received_at, queue) = (self.now(), LetterQueue::Strangers);
        let letter = WaitingLetter { digest, raw, received_at, tries: 0, queue, accepted_by: None };
        let (settings, in_work) = (Arc::clone(&self.settings), InWork::default());
        let working = in_work.clone();
        let letters = Arc::new(run_blocking(move || read_letters(&settings, vec![letter], &working)).await?);
        let context = self.context_of(&letters, &in_work).await;
        if let Err(error) = self.decide_letters(letters, context, BatchMode::Sequential).await {
            tracing::info!(error = format!("{error:#}"), "the ruling failed");
        }
        Ok(())
    }
}
