//! Commands that the imap crate cannot run well, and their answers (RFC 3501, 6 and 7.1).

use std::ops::RangeInclusive;

use super::connection::{Connection, Reply, classify};
use super::response::{LiteralLimits, Response, read_response};
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
    run_within(connection, command, &mut LiteralLimits::for_names(), take)
}

/// Like [`run_with`], for answers with larger literals.
pub(super) fn run_within(
    connection: &mut Connection,
    command: &str,
    room: &mut LiteralLimits,
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

/// Runs a command that copies or moves letters, and returns the UIDs of the letters for which the server names
/// a copy (RFC 4315, 3: COPYUID; RFC 6851, 4.3 for MOVE, where it comes in an untagged response).
///
/// # Errors
/// Like [`run_with`].
pub(super) fn run_for_copies(
    connection: &mut Connection,
    command: &str,
) -> Result<Vec<RangeInclusive<u32>>, Error> {
    let tag = connection.send_command(command)?;
    let mut copied = Vec::new();
    loop {
        let line = connection.read_line()?;
        match classify(&line, &tag)? {
            Reply::Done => {
                copied.extend(copied_uids(&line));
                return Ok(copied);
            }
            Reply::Refused(refusal) => return Err(Error::Server(refusal)),
            Reply::Bad(refusal) => return Err(Error::Misunderstood(refusal)),
            Reply::Continuation => return Err(Error::Malformed),
            Reply::Remark => copied.extend(copied_uids(&line)),
            Reply::Data => drop(read_response(connection, line, &mut LiteralLimits::for_names())?),
        }
    }
}

/// Reads the sources in `* OK [COPYUID 38505 304,319:320 3956:3958] Done`. The UIDVALIDITY of the target does
/// not matter.
fn copied_uids(line: &[u8]) -> Vec<RangeInclusive<u32>> {
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace().skip_while(|word| !word.eq_ignore_ascii_case("[COPYUID"));
    let (Some(sources), Some(targets)) = (words.nth(2), words.next()) else { return Vec::new() };
    let ranges = |set: &str| -> Option<Vec<RangeInclusive<u32>>> {
        let range = |part: &str| {
            let (first, last) = part.split_once(':').unwrap_or((part, part));
            let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
            Some(first.min(last)..=first.max(last))
        };
        set.split(',').map(range).collect()
    };
    let count = |ranges: &[RangeInclusive<u32>]| -> u64 {
        ranges.iter().map(|range| u64::from(range.end() - range.start()) + 1).sum()
    };
    match (ranges(sources), ranges(targets.trim_end_matches(']'))) {
        (Some(sources), Some(targets)) if count(&sources) == count(&targets) => sources,
        _ => Vec::new(),
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
pub(super) fn quoted_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

#[cfg(test)]
mod tests {
    use super::copied_uids;

    #[test]
    fn the_sources_of_copies_are_read_if_each_has_a_target() {
        let line = "* OK [COPYUID 38505 304,319:320 3956:3958] Done";
        assert_eq!(copied_uids(line.as_bytes()), [304..=304, 319..=320]);
        assert_eq!(copied_uids(b"b7 OK [copyuid 0 2 9] copied"), [2..=2]);
        for line in
            ["b7 OK done", "b7 OK [COPYUID 1 2] x", "b7 OK [COPYUID 1 2:5 9] x", "b7 OK [COPYUID 1 a b]"]
        {
            assert_eq!(copied_uids(line.as_bytes()), [], "{line}");
        }
    }
}
