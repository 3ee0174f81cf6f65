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
            // The server does not repeat a change that it announced before its consent.
            Reply::Data => changed = true,
            Reply::Remark => {}
            Reply::Refused(_) | Reply::Bad(_) => return Ok(Idle::Refused),
            Reply::Done => return Err(Error::Malformed),
        }
    }
    if !changed {
        tracing::debug!("waiting in IDLE for new letters");
        wait_for_change(connection, &tag, limit)?;
    }
    connection.send_line("DONE")?;
    loop {
        let line = connection.read_line()?;
        match classify(&line, &tag)? {
            Reply::Done => return Ok(Idle::Over),
            // The caller looks for letters anyway.
            Reply::Data | Reply::Remark => {}
            Reply::Refused(refusal) | Reply::Bad(refusal) => return Err(Error::Server(refusal)),
            Reply::Continuation => return Err(Error::Malformed),
        }
    }
}

/// Returns at the first change, or when the time is up.
fn wait_for_change(connection: &mut Connection, tag: &str, limit: Duration) -> Result<(), Error> {
    let deadline = Instant::now() + limit;
    loop {
        // Dovecot sends `* OK Still here` every two minutes, which must not extend the wait.
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(());
        }
        connection.wait_at_most(left);
        let line = match connection.try_read_line() {
            Err(error) if is_timeout(&error) => return Ok(()),
            line => line.map_err(broken)?,
        };
        match classify(&line, tag)? {
            Reply::Data => return Ok(()),
            Reply::Remark => {}
            Reply::Continuation | Reply::Done | Reply::Refused(_) | Reply::Bad(_) => {
                return Err(Error::Malformed);
            }
        }
    }
}
