//! Letters out through a sendmail command, such as that of Postfix, Exim or msmtp.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use super::outgoing::{Outgoing, SendError};
use super::{Error, one_line, with_lf_line_ends};

/// The sendmail command.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SendmailConfig {
    /// The program. It is called with `-i -f RETURN_PATH -- RECIPIENT` and gets the letter on standard input.
    pub command: PathBuf,
    /// Time limit for one letter, in seconds.
    pub timeout_seconds: u64,
}

impl Default for SendmailConfig {
    fn default() -> SendmailConfig {
        SendmailConfig { command: PathBuf::from("/usr/sbin/sendmail"), timeout_seconds: 60 }
    }
}

/// Maximum concurrent sendmail processes.
pub(super) const MAX_PROCESSES: usize = 32;

impl SendmailConfig {
    pub(super) fn check(&self) -> Result<String, Error> {
        let path = self.command.display();
        match std::fs::metadata(&self.command) {
            Ok(about) if about.is_file() => Ok(format!("the command {path}")),
            Ok(_) => Err(Error::Configuration(format!("{path} is not a program"))),
            Err(error) => Err(Error::Configuration(format!("{path} cannot be found: {error}"))),
        }
    }

    /// Runs the command for a letter.
    pub(super) async fn send(&self, letter: &Outgoing<'_>) -> Result<String, SendError> {
        let mut child = Command::new(&self.command)
            .args(["-i", "-f", letter.return_path.unwrap_or("<>"), "--", letter.to])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .map_err(|e| Error::Configuration(format!("{} cannot be run: {e}", self.command.display())))?;
        let mut input = child.stdin.take().expect("stdin is piped");
        let bytes = with_lf_line_ends(letter.bytes);
        let work = async {
            // A command that refuses early closes its input. Only its exit status counts.
            let _ = input.write_all(&bytes).await;
            drop(input);
            child.wait_with_output().await
        };
        let output = timeout(Duration::from_secs(self.timeout_seconds), work)
            .await
            .map_err(|_late| SendError::NotNow("the command did not end in time".into()))?
            .map_err(|e| Error::io("failed to wait for the command", e))?;
        let said = one_line(&String::from_utf8_lossy(&output.stderr));
        match output.status.code() {
            Some(0) => Ok("accepted by the command".to_owned()),
            code => Err(fault(code, said)),
        }
    }
}

/// Maps an exit status of sysexits.h to an error. Without a status, a signal ended the command.
fn fault(code: Option<i32>, said: String) -> SendError {
    match code {
        Some(65 | 67 | 68) => SendError::Refused(said.into()), // EX_DATAERR, EX_NOUSER, EX_NOHOST
        Some(code @ (64 | 77 | 78 | 126 | 127)) => {
            // EX_USAGE, EX_NOPERM, EX_CONFIG, and the shell's codes for a program that cannot be run or
            // found.
            SendError::Unreachable(Error::Configuration(format!("the command ended with {code}: {said}")))
        }
        Some(code) => SendError::NotNow(format!("the command ended with {code}: {said}").into()),
        None => SendError::NotNow(format!("the command was killed: {said}").into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_statuses_mean_what_sysexits_says() {
        let of = |code| fault(code, String::new());
        assert!(of(Some(75)).is_transient() && !of(Some(75)).is_configuration());
        assert!(!of(Some(67)).is_transient());
        assert!(of(Some(78)).is_transient() && of(Some(78)).is_configuration());
        assert!(of(None).is_transient() && of(Some(1)).is_transient() && of(Some(69)).is_transient());
    }
}
