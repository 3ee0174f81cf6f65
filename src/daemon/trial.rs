//! Trials of letters on which the program died twice, in another process.
//!
//! If the other process dies as well, the letter is to blame. Otherwise something else killed the program, and the
//! letter that happened to be in progress must not go unanswered. The other process calls [`Office::try_letter`].
//!
//! [`Office::try_letter`]: crate::daemon::Office::try_letter

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use crate::letter::Digest;

/// The command for a trial.
pub struct Trial {
    /// This program.
    pub program: PathBuf,
    /// The club's config file.
    pub config: PathBuf,
}

impl Trial {
    /// Whether another process rules on the letter and ends, successfully and in time.
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
