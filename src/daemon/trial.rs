//! Trials of letters on which the program died twice: another process rules on the letter first.
//!
//! If that process dies as well, the letter is to blame. Otherwise something else killed the program, and a player's
//! letter that happened to be in work must not go unanswered. The other process calls [`Office::try_letter`].
//!
//! [`Office::try_letter`]: crate::daemon::Office::try_letter

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use crate::letter::Digest;

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
