//! IDLE (RFC 2177): waits until the server tells of a change in the folder.
//!
//! It is our own, because the imap crate takes the first line after its IDLE for the server's consent: it loses what
//! the server tells before that, waits for a timeout that does not come, and panics if the server ends the command.

use std::time::{Duration, Instant};

use super::connection::{Connection, Reply, broken, classify, is_timeout};
use crate::post::Error;

/// How waiting ended.
pub(super) enum Idle {
    /// The folder may have changed, or the time is over.
    Over,
    /// The server offers IDLE but refuses it.
    Refused,
}

/// Waits for a change in the folder, at most for `limit`.
pub(super) fn idle(connection: &mut Connection, limit: Duration) -> Result<Idle, Error> {
    let tag = connection.send_command("IDLE")?;
    let mut changed = false;
    loop {
        let line = connection.read_line()?;
        match classify(&line, &tag)? {
            Reply::Continuation => break,
            // A change that the server tells before its consent is not told again.
            Reply::Data => changed = true,
            Reply::Remark => {}
            Reply::Refused(_) => return Ok(Idle::Refused),
            Reply::Done => return Err(Error::Malformed),
        }
    }
    if !changed {
        wait_for_change(connection, &tag, limit)?;
        connection.limit_silence(None)?;
    }
    connection.send_line("DONE")?;
    loop {
        let line = connection.read_line()?;
        match classify(&line, &tag)? {
            Reply::Done => return Ok(Idle::Over),
            // The letters are looked for anyway.
            Reply::Data | Reply::Remark => {}
            Reply::Refused(refusal) => return Err(Error::Server(refusal)),
            Reply::Continuation => return Err(Error::Malformed),
        }
    }
}

/// Returns at the first change, or when the time is over.
fn wait_for_change(connection: &mut Connection, tag: &str, limit: Duration) -> Result<(), Error> {
    let deadline = Instant::now() + limit;
    loop {
        // Dovecot sends `* OK Still here` every two minutes, which must not extend the wait.
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        connection.limit_silence(Some(left))?;
        let line = match connection.try_read_line() {
            Err(error) if is_timeout(&error) => return Ok(()),
            line => line.map_err(broken)?,
        };
        match classify(&line, tag)? {
            Reply::Data => return Ok(()),
            Reply::Remark => {}
            Reply::Continuation | Reply::Done | Reply::Refused(_) => return Err(Error::Malformed),
        }
    }
}
