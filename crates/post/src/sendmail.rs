//! Letters out through a sendmail command, such as that of Postfix, Exim or msmtp.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde::Deserialize;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use super::outgoing::{Outgoing, SendError};
use super::refusal::{EnhancedCode, Exchange, Refusal, SmtpStatus, has_any};
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
        match output.status.code() {
            Some(0) => Ok("accepted by the command".to_owned()),
            code => Err(fault(code, &String::from_utf8_lossy(&output.stderr))),
        }
    }
}

/// Maps the words and the exit status of a command that failed to an error. Without a status, a signal ended
/// the command.
///
/// The reply of the mail server, if the command repeats it, counts before the status: small commands end with
/// the same status after refusals of every kind.
fn fault(code: Option<i32>, stderr: &str) -> SendError {
    let said = one_line(stderr);
    let Some(code) = code else { return SendError::NotNow(format!("the command was killed: {said}").into()) };
    if let Some(status) = quoted_reply(stderr) {
        let refusal = |text| Refusal { text, smtp: Some(status) };
        return match status.code {
            530 | 534 | 535 | 538 => SendError::Unreachable(Error::Login(refusal(said))),
            400..500 => SendError::NotNow(refusal(format!("the command ended with {code}: {said}"))),
            _ => SendError::Refused(refusal(said)),
        };
    }
    match code {
        65 | 67 | 68 => SendError::Refused(said.into()), // EX_DATAERR, EX_NOUSER, EX_NOHOST
        64 | 77 | 78 | 126 | 127 => {
            // EX_USAGE, EX_NOPERM, EX_CONFIG, and the shell's codes for a program that cannot be run or
            // found.
            SendError::Unreachable(Error::Configuration(format!("the command ended with {code}: {said}")))
        }
        _ => SendError::NotNow(format!("the command ended with {code}: {said}").into()),
    }
}

/// Negative replies of mail servers (RFC 5321, 4.2.3; RFC 4954, 6). No other numbers count, because commands
/// also name ports, times and sizes.
const REPLY_CODES: [u16; 27] = [
    421, 432, 450, 451, 452, 454, 455, 458, 459, 500, 501, 502, 503, 504, 521, 530, 534, 535, 538, 541, 550,
    551, 552, 553, 554, 555, 556,
];

/// Finds the reply of a mail server in a command's words: `RCPT TO:<bo@home.test> (550 5.1.1 …)`.
fn quoted_reply(stderr: &str) -> Option<SmtpStatus> {
    let words: Vec<&str> = stderr.split_whitespace().collect();
    let reply_at = |at: usize| -> Option<SmtpStatus> {
        // A reply of several lines has a hyphen behind its code.
        let word = words[at].trim_start_matches(['(', '[', '"', '\'', ':', '<']);
        let (digits, rest) = word.split_at_checked(3)?;
        let code = digits.parse().ok().filter(|code| REPLY_CODES.contains(code))?;
        if !(rest.is_empty() || rest.starts_with(['-', ':', ')', ',', ']'])) {
            return None;
        }
        let after = words.get(at + 1).copied().unwrap_or_default();
        let is_quantity = ["sec", "ms", "min", "byte", "kb"].iter().any(|unit| after.starts_with(unit));
        let text = if let Some(text) = rest.strip_prefix('-').filter(|text| !text.is_empty()) {
            text
        } else {
            after
        };
        let enhanced = EnhancedCode::parse(code, text);
        (!is_quantity).then(|| SmtpStatus {
            exchange: exchange_of(code, &words[..at], stderr),
            code,
            enhanced,
        })
    };
    let mut replies = (0..words.len()).filter_map(reply_at).peekable();
    let first = *replies.peek()?;
    // A number with an enhanced code is certainly a reply.
    Some(replies.find(|status| status.enhanced.is_some()).unwrap_or(first))
}

/// Guesses which exchange the server refused, by the words before its reply, else by all words and the code.
fn exchange_of(code: u16, before: &[&str], stderr: &str) -> Exchange {
    let before = before.join(" ").to_lowercase();
    let all = stderr.to_lowercase();
    if has_any(&before, &["rcpt to", "recipient"]) {
        Exchange::Recipient
    } else if has_any(&before, &["mail from", "envelope from", "sender"]) {
        Exchange::Sender
    } else if has_any(&before, &["did not accept the mail", "data"]) || code == 552 {
        Exchange::Letter
    } else if has_any(&before, &["auth", "login"]) {
        Exchange::Login
    } else if has_any(&all, &["sender address rejected", "sender rejected"]) {
        Exchange::Sender
    } else {
        Exchange::Recipient
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::RefusalClass;

    #[test]
    fn exit_statuses_mean_what_sysexits_says() {
        let of = |code| fault(code, "");
        assert!(of(Some(75)).is_transient() && !of(Some(75)).is_configuration());
        assert!(!of(Some(67)).is_transient());
        assert!(of(Some(78)).is_transient() && of(Some(78)).is_configuration());
        assert!(of(None).is_transient() && of(Some(1)).is_transient() && of(Some(69)).is_transient());
    }

    /// The words of ssmtp 2.64, esmtp 1.2, msmtp 1.8.23 and others, with the statuses that they end with.
    #[rustfmt::skip]
    const SAID: &[(i32, &str, RefusalClass, bool)] = &[
        (1, "ssmtp: RCPT TO:<bo@other.example> (550 5.1.1 <bo@other.example>: Recipient address rejected: User unknown)", RefusalClass::Recipient, false),
        (70, "0 (null) bo@other.example: 550 <bo@other.example>: Recipient address rejected: User unknown", RefusalClass::Recipient, false),
        (69, "msmtp: recipient address bo@other.example not accepted by the server\nmsmtp: server message: 550 5.1.1 User unknown", RefusalClass::Recipient, false),
        (69, "msmtp: recipient address bo@other.example not accepted by the server\nmsmtp: server message: 450 4.7.1 Greylisted", RefusalClass::NotNow, true),
        (69, "msmtp: the server did not accept the mail\nmsmtp: server message: 552 5.3.4 Message size exceeds fixed limit", RefusalClass::Letter, false),
        (69, "msmtp: the server did not accept the mail\nmsmtp: server message: 552 Message too big", RefusalClass::Letter, false),
        (69, "msmtp: envelope from address x@y.example not accepted by the server\nmsmtp: server message: 553 5.7.1 not owned by user", RefusalClass::Account, false),
        (77, "msmtp: authentication failed (method PLAIN)\nmsmtp: server message: 535 5.7.8 Error: authentication failed", RefusalClass::Account, true),
        (67, "451 4.3.0 Temporary lookup failure", RefusalClass::NotNow, true),
        (1, "550-5.1.1 The account does not exist.\n550 5.1.1 Try another one.", RefusalClass::Recipient, false),
        (1, "ssmtp: 550 Sender rate limit exceeded; try again later", RefusalClass::NotNow, false),
        (69, "msmtp: cannot connect to mail.example port 465: timed out after 500 seconds", RefusalClass::NotNow, true),
        (75, "queued as 5501234 for bo-450@other.example", RefusalClass::NotNow, true),
    ];

    #[test]
    fn a_quoted_reply_counts_before_the_status() {
        for (status, words, class, is_transient) in SAID {
            let error = fault(Some(*status), words);
            assert_eq!((error.class(), error.is_transient()), (*class, *is_transient), "{words}: {error:?}");
        }
    }
}
