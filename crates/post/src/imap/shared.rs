//! The connection as the imap crate and our own commands share it, on one thread.
//!
//! They can take turns, command by command, because the crate is given one line at a time: once it has read
//! the last line of an answer, its own buffer is empty.

use std::cell::{RefCell, RefMut};
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::rc::Rc;

use super::connection::{Connection, Reply, broken, classify, first_word};
use super::response::{LiteralLimits, read_response};
use crate::Error;

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
            let word = |at: usize| words.get(at).map_or(&b""[..], Vec::as_slice);
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
                Reply::Remark if word(1) == b"OK" && word(2) == b"[UIDVALIDITY" => {
                    return Ok(in_ascii(&line));
                }
                Reply::Data if matches!(word(1), b"CAPABILITY" | b"SEARCH") || word(2) == b"EXISTS" => {
                    return Ok(in_ascii(&line));
                }
                Reply::Remark => {}
                Reply::Data => drop(read_response(connection, line, &mut LiteralLimits::for_names())?),
            }
        }
    }
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
