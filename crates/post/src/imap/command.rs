//! Commands that the imap crate cannot run well, and their answers (RFC 3501, 6 and 7.1).

use super::connection::{Connection, Reply, classify};
use super::response::{Response, Room, read_response};
use crate::Error;

/// Runs a command and hands each untagged response to `take`.
///
/// # Errors
/// [`Error::Server`] if the server refuses it (NO), [`Error::Misunderstood`] if it does not understand it
/// (BAD).
pub(super) fn run_with(
    connection: &mut Connection,
    command: &str,
    take: impl FnMut(Response) -> Result<(), Error>,
) -> Result<(), Error> {
    run_within(connection, command, &mut Room::for_names(), take)
}

/// Like [`run_with`], for answers with larger literals.
pub(super) fn run_within(
    connection: &mut Connection,
    command: &str,
    room: &mut Room,
    mut take: impl FnMut(Response) -> Result<(), Error>,
) -> Result<(), Error> {
    let tag = connection.send_command(command)?;
    loop {
        let line = connection.read_line()?;
        match classify(&line, &tag)? {
            Reply::Done => return Ok(()),
            Reply::Refused(refusal) => return Err(Error::Server(refusal)),
            Reply::Bad(refusal) => return Err(Error::Misunderstood(refusal)),
            Reply::Continuation => return Err(Error::Malformed),
            // A remark is text to its end: a `{5}` in it announces nothing.
            Reply::Remark => {}
            Reply::Data => take(read_response(connection, line, room)?)?,
        }
    }
}

/// Whether the server carried out a command that we can do without. Passes on other errors.
pub(super) fn unless_refused(answer: Result<(), Error>) -> Result<bool, Error> {
    match answer {
        Ok(()) => Ok(true),
        Err(Error::Server(_) | Error::Misunderstood(_)) => Ok(false),
        Err(error) => Err(error),
    }
}

/// Writes a string for a command (RFC 3501, 9: `quoted`). It must not contain line breaks, which no setting
/// does.
pub(super) fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
