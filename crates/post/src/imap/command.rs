//! Commands that the imap crate cannot run well, and their answers (RFC 3501, 6 and 7.1).
//!
//! The connection as the imap crate and our own commands share it, on one thread.
//!
//! They can take turns, command by command, because the crate is given one line at a time: once it has read
//! the last line of an answer, its own buffer is empty.
//!
//! IDLE (RFC 2177): waits until the server announces a change in the folder.
//!
//! The imap crate is not used for it, because it takes the first line after IDLE for the server's consent. If
//! a change comes first, the crate loses it and waits for the end of the command; if the server ends the
//! command, it panics.

use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::ops::RangeInclusive;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::connection::{Connection, Reply, broken, classify, first_word, is_timeout};
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
    match (uid_ranges(sources), uid_ranges(targets.trim_end_matches(']'))) {
        (Some(sources), Some(targets)) if count_of(&sources) == count_of(&targets) => sources,
        _ => Vec::new(),
    }
}

fn count_of(ranges: &[RangeInclusive<u32>]) -> u64 {
    ranges.iter().map(|range| u64::from(range.end() - range.start()) + 1).sum()
}

/// Reads the numbers and the ranges of a set of UIDs.
fn uid_ranges(set: &str) -> Option<Vec<RangeInclusive<u32>>> {
    let range = |part: &str| {
        let (first, last) = part.split_once(':').unwrap_or((part, part));
        let first: u32 = first.parse().ok()?;
        let last: u32 = last.parse().ok()?;
        Some(first.min(last)..=first.max(last))
    };
    set.split(',').map(range).collect()
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

/// Maximum challenges during a login: one for our message, and one that explains a refusal.
const MAX_CHALLENGES: u8 = 2;

#[derive(Clone)]
pub(super) struct SharedConnection {
    connection: Rc<RefCell<Connection>>,
    /// The rest of the line that the crate reads.
    line: VecDeque<u8>,
    challenges_left: u8,
}

impl SharedConnection {
    pub(super) fn new(connection: Connection) -> SharedConnection {
        let connection = Rc::new(RefCell::new(connection));
        SharedConnection { connection, line: VecDeque::new(), challenges_left: MAX_CHALLENGES }
    }

    /// Borrows the connection, between two commands of the crate.
    pub(super) fn borrow(&self) -> RefMut<'_, Connection> {
        self.connection.borrow_mut()
    }

    /// Reads the next line that the crate needs, in ASCII, because the crate ends a session over most other
    /// bytes.
    ///
    /// # Errors
    /// Refusals are errors already here, because the crate drops their response codes.
    fn read_line(&mut self) -> Result<Vec<u8>, Error> {
        let connection = &mut *self.connection.borrow_mut();
        loop {
            let line = connection.read_line()?;
            let words: Vec<Vec<u8>> =
                line.split(|&b| b == b' ').take(3).map(<[u8]>::to_ascii_uppercase).collect();
            // Any tag will do here, because the crate compares it.
            let tag =
                if line.starts_with(b"*") { "" } else { str::from_utf8(first_word(&line)).unwrap_or("") };
            match classify(&line, tag)? {
                // Replace the server's words, which may contain bytes over which the crate would end the
                // session.
                Reply::Done => return Ok(format!("{tag} OK done\r\n").into_bytes()),
                Reply::Refused(refusal) => return Err(Error::Server(refusal)),
                Reply::Bad(refusal) => return Err(Error::Misunderstood(refusal)),
                Reply::Continuation => {
                    self.challenges_left = self.challenges_left.checked_sub(1).ok_or(Error::Malformed)?;
                    return Ok(b"+ \r\n".to_vec());
                }
                Reply::Remark if word_at(&words, 1) == b"OK" && word_at(&words, 2) == b"[UIDVALIDITY" => {
                    return Ok(in_ascii(&line));
                }
                Reply::Data
                    if matches!(word_at(&words, 1), b"CAPABILITY" | b"SEARCH")
                        || word_at(&words, 2) == b"EXISTS" =>
                {
                    return Ok(in_ascii(&line));
                }
                Reply::Remark => {}
                Reply::Data => drop(read_response(connection, line, &mut LiteralLimits::for_names())?),
            }
        }
    }
}

/// The word at this place; empty if there are fewer.
fn word_at(words: &[Vec<u8>], at: usize) -> &[u8] {
    words.get(at).map_or(&b""[..], Vec::as_slice)
}

/// Returns a line of keywords and numbers as the crate can read it.
fn in_ascii(line: &[u8]) -> Vec<u8> {
    let ascii = line
        .trim_ascii_end()
        .iter()
        .map(|b| if matches!(b, b' '..=b'~') { b.to_ascii_uppercase() } else { b'?' });
    ascii.chain(*b"\r\n").collect()
}

/// Converts the crate's error to ours, which contains no part of a letter.
pub(super) fn convert_error(error: imap::Error) -> Error {
    match error {
        imap::Error::Io(error) => error.downcast().unwrap_or_else(broken),
        _ => Error::Malformed,
    }
}

impl Read for SharedConnection {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.line.is_empty() {
            self.line = self.read_line().map_err(io::Error::other)?.into();
        }
        self.line.read(out)
    }
}

impl Write for SharedConnection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.borrow().writer().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.borrow().writer().flush()
    }
}

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
