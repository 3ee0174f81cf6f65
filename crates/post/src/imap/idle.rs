//! IDLE (RFC 2177): waits until the server announces a change in the folder.
//!
//! The imap crate is not used for it, because it takes the first line after IDLE for the server's consent. If
//! a change comes first, the crate loses it and waits for the end of the command; if the server ends the
//! command, it panics.

use std::time::{Duration, Instant};

use super::connection::{Connection, Reply, broken, classify, is_timeout};
use crate::Error;

/// The end of a wait.
pub(super) enum Idle {
    /// The folder may have changed, or the time is up.
    Over {
        /// Whether the server announced letters.
        was_announced: bool,
    },
    /// The server offers IDLE but refuses it.
    Refused,
}

/// Waits for a change in the folder, at most for `limit`.
pub(super) fn idle(connection: &mut Connection, limit: Duration) -> Result<Idle, Error> {
    let tag = connection.send_command("IDLE")?;
    let mut change = None;
    loop {
        let line = connection.read_line()?;
        match classify(&line, &tag)? {
            Reply::Continuation => break,
            // The server does not repeat a change that it announced before its consent.
            Reply::Data => change = Some(change.unwrap_or(false) || announces_letters(&line)),
            Reply::Remark => {}
            Reply::Refused(_) | Reply::Bad(_) => return Ok(Idle::Refused),
            Reply::Done => return Err(Error::Malformed),
        }
    }
    let was_announced = match change {
        Some(was_announced) => was_announced,
        None => {
            tracing::debug!("waiting in IDLE for new letters");
            wait_for_change(connection, &tag, limit)?
        }
    };
    connection.send_line("DONE")?;
    loop {
        let line = connection.read_line()?;
        match classify(&line, &tag)? {
            Reply::Done => return Ok(Idle::Over { was_announced }),
            // The caller looks for letters anyway. What a server says only now was no announcement.
            Reply::Data | Reply::Remark => {}
            Reply::Refused(refusal) | Reply::Bad(refusal) => return Err(Error::Server(refusal)),
            Reply::Continuation => return Err(Error::Malformed),
        }
    }
}

/// Returns at the first change, or when the time is up, and whether the change was a letter that came.
fn wait_for_change(connection: &mut Connection, tag: &str, limit: Duration) -> Result<bool, Error> {
    let deadline = Instant::now() + limit;
    loop {
        // Dovecot sends `* OK Still here` every two minutes, which must not extend the wait.
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(false);
        }
        connection.wait_at_most(left);
        let line = match connection.try_read_line() {
            Err(error) if is_timeout(&error) => return Ok(false),
            line => line.map_err(broken)?,
        };
        match classify(&line, tag)? {
            Reply::Data => return Ok(announces_letters(&line)),
            Reply::Remark => {}
            Reply::Continuation | Reply::Done | Reply::Refused(_) | Reply::Bad(_) => {
                return Err(Error::Malformed);
            }
        }
    }
}

/// Whether a line states the number of letters in the folder (RFC 3501, 7.3), as it does when one has come.
fn announces_letters(line: &[u8]) -> bool {
    let word = line.rsplit(|&b| b == b' ').next().unwrap_or_default();
    [b"EXISTS".as_slice(), b"RECENT"].iter().any(|known| word.eq_ignore_ascii_case(known))
}
