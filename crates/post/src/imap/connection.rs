//! The connection to an IMAP server: plain or secured, with limits on size and silence.
//!
//! The server is not trusted: its answers are read only up to the limits below.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use rustls::{ClientConnection, StreamOwned};

use super::ImapConfig;
use super::paced::PacedStream;
use crate::refusal::Refusal;
use crate::source::ConnectionHandle;
use crate::{Error, Tls, one_line, tls};

/// Maximum bytes of an answer, its literals not counted.
const MAX_ANSWER_BYTES: usize = 1024 * 1024;

/// Maximum bytes of an answer that lists letters: enough for SEARCH to return the UIDs of 700,000 letters.
const MAX_LISTING_BYTES: usize = 8 * 1024 * 1024;

/// Maximum lines of an answer. A batch of 500 letters has some 1,500. Somebody who deletes more letters than
/// this at once costs us one session.
const MAX_ANSWER_LINES: usize = 10_000;

/// Maximum bytes of a literal. More than any mail server accepts as a letter; we skip what exceeds our own
/// limit.
const MAX_LITERAL_BYTES: u64 = 256 * 1024 * 1024;

enum Io {
    Plain(PacedStream),
    Tls(Box<StreamOwned<ClientConnection, PacedStream>>),
}

/// A connection to an IMAP server that has been greeted.
pub(super) struct Connection {
    io: BufReader<Io>,
    /// The number in the tag of our last command.
    tag: u32,
    /// The beginning of a line whose end has not arrived yet.
    line: Vec<u8>,
    /// Maximum bytes of an answer.
    answer_limit: usize,
    /// Bytes and lines left for the current answer.
    bytes_left: usize,
    lines_left: usize,
}

/// The meaning of a server's line for a command.
pub(super) enum Reply {
    /// `+`: the server waits for the rest of the command.
    Continuation,
    /// `* OK`, `* NO` or `* BAD`: a remark.
    Remark,
    /// Any other untagged line.
    Data,
    /// The command succeeded.
    Done,
    /// `NO`: the command failed.
    Refused(Refusal),
    /// `BAD`: the server does not understand the command.
    Bad(Refusal),
}

impl Connection {
    /// Connects as the settings say and reads the greeting.
    pub(super) fn open(settings: &ImapConfig, handle: &ConnectionHandle) -> Result<Connection, Error> {
        let answer_timeout = Duration::from_secs(settings.timeout_seconds.clamp(1, 3600));
        let tcp = connect(settings, answer_timeout)?;
        let unusable = |error| Error::io("the connection cannot be used", error);
        let peer = tcp.peer_addr().map_err(unusable)?;
        handle.set(prepare(&tcp, answer_timeout).map_err(unusable)?);
        let tcp = PacedStream::new(tcp, answer_timeout);
        let mut connection = match settings.tls {
            Tls::None => {
                tls::allow_plain(peer.ip())?;
                Connection::over(Io::Plain(tcp))
            }
            Tls::StartTls => Connection::over(Io::Plain(tcp)),
            Tls::Tls => Connection::over(secure(settings, tcp)?),
        };
        connection.read_greeting(settings)?;
        if settings.tls == Tls::StartTls { connection.start_tls(settings) } else { Ok(connection) }
    }

    fn over(io: Io) -> Connection {
        Connection {
            io: BufReader::new(io),
            tag: 0,
            line: Vec::new(),
            answer_limit: MAX_ANSWER_BYTES,
            bytes_left: MAX_ANSWER_BYTES,
            lines_left: MAX_ANSWER_LINES,
        }
    }

    /// Sets whether the answers to the next commands list letters, and so may be longer.
    pub(super) fn expect_listings(&mut self, listings: bool) {
        self.answer_limit = if listings { MAX_LISTING_BYTES } else { MAX_ANSWER_BYTES };
    }

    /// Returns the writer for the next command, and begins its answer.
    pub(super) fn writer(&mut self) -> &mut impl Write {
        (self.bytes_left, self.lines_left) = (self.answer_limit, MAX_ANSWER_LINES);
        self.stream().expect_answer();
        self.io.get_mut()
    }

    fn stream(&mut self) -> &mut PacedStream {
        match self.io.get_mut() {
            Io::Plain(stream) => stream,
            Io::Tls(stream) => &mut stream.sock,
        }
    }

    fn read_greeting(&mut self, settings: &ImapConfig) -> Result<(), Error> {
        let greeting = self.try_read_line().map_err(|error| match settings.tls {
            Tls::StartTls | Tls::None if is_timeout(&error) => {
                tls::silent_greeting(&settings.host, settings.port())
            }
            Tls::Tls | Tls::StartTls | Tls::None => broken(error),
        })?;
        if greeting.starts_with(b"* OK") { Ok(()) } else { Err(Error::Goodbye(words(&greeting).into())) }
    }

    /// Secures the connection by STARTTLS (RFC 3501, 6.2.1). The crate can do that only on connections that
    /// it opens itself.
    fn start_tls(mut self, settings: &ImapConfig) -> Result<Connection, Error> {
        let tag = self.send_command("STARTTLS")?;
        loop {
            let line = self.read_line()?;
            match classify(&line, &tag)? {
                Reply::Done => break,
                Reply::Refused(refusal) | Reply::Bad(refusal) => {
                    let text = format!("the server refuses STARTTLS: {refusal}; see inbox.imap.tls");
                    return Err(Error::Configuration(text));
                }
                Reply::Remark | Reply::Data => {}
                Reply::Continuation => return Err(Error::Malformed),
            }
        }
        // Bytes after the reply arrived unprotected, but would be read as if they had come over TLS. An
        // attacker may have injected them.
        if !self.io.buffer().is_empty() {
            return Err(Error::Malformed);
        }
        match self.io.into_inner() {
            Io::Plain(stream) => Ok(Connection::over(secure(settings, stream)?)),
            Io::Tls(_) => Err(Error::Malformed),
        }
    }

    /// Sends a command of our own and returns its tag. The crate's tags begin with `a`.
    pub(super) fn send_command(&mut self, command: &str) -> Result<String, Error> {
        self.tag += 1;
        let tag = format!("b{}", self.tag);
        self.send_line(&format!("{tag} {command}"))?;
        Ok(tag)
    }

    pub(super) fn send_line(&mut self, line: &str) -> Result<(), Error> {
        let io = self.writer();
        io.write_all(format!("{line}\r\n").as_bytes()).and_then(|()| io.flush()).map_err(broken)
    }

    /// Reads one line and returns it without its line end. A call after a timeout continues the line.
    pub(super) fn read_line(&mut self) -> Result<Vec<u8>, Error> {
        self.try_read_line().map_err(broken)
    }

    /// Like [`Connection::read_line`], for a caller that expects the timeout.
    pub(super) fn try_read_line(&mut self) -> io::Result<Vec<u8>> {
        let mut part = [0; 1024];
        while !self.line.ends_with(b"\n") {
            let length = self.read_within_line(&mut part)?;
            if length == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.line.extend_from_slice(&part[..length]);
        }
        let mut line = std::mem::take(&mut self.line);
        line.truncate(line.len() - if line.ends_with(b"\r\n") { 2 } else { 1 });
        Ok(line)
    }

    /// Reads up to the end of a line. Returns 0 if the connection has ended.
    fn read_within_line(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let buffered = self.io.fill_buf()?;
        let room = &buffered[..buffered.len().min(out.len())];
        let length = room.iter().position(|&b| b == b'\n').map_or(room.len(), |end| end + 1);
        self.bytes_left = self.bytes_left.checked_sub(length).ok_or_else(too_long)?;
        out[..length].copy_from_slice(&buffered[..length]);
        self.io.consume(length);
        if out[..length].ends_with(b"\n") {
            self.lines_left = self.lines_left.checked_sub(1).ok_or_else(too_long)?;
        }
        Ok(length)
    }

    /// Reads a literal of `size` bytes and returns its first `keep` bytes.
    pub(super) fn read_literal(&mut self, size: u64, keep: usize) -> Result<Vec<u8>, Error> {
        if size > MAX_LITERAL_BYTES {
            return Err(broken(too_long()));
        }
        let kept = size.min(keep as u64);
        let mut literal = Vec::with_capacity(usize::try_from(kept).unwrap_or(keep));
        (&mut self.io).take(kept).read_to_end(&mut literal).map_err(broken)?;
        let skipped = io::copy(&mut (&mut self.io).take(size - kept), &mut io::sink()).map_err(broken)?;
        if literal.len() as u64 + skipped < size {
            return Err(broken(io::ErrorKind::UnexpectedEof.into()));
        }
        Ok(literal)
    }

    /// Limits the time of all reads until the next command is sent.
    pub(super) fn wait_at_most(&mut self, limit: Duration) {
        self.stream().expect_within(limit);
    }
}

/// Finds the literal that the end of a line announces (`{1305}`): where the announcement starts, and the
/// literal's size.
pub(super) fn announced_literal(line: &[u8]) -> Option<(usize, u64)> {
    let line = line.strip_suffix(b"}")?;
    let start = line.iter().rposition(|&b| b == b'{')?;
    let size = str::from_utf8(&line[start + 1..]).ok()?;
    let is_number = !size.is_empty() && size.bytes().all(|b| b.is_ascii_digit());
    // A number that is too large is refused like any other literal beyond the limit.
    is_number.then(|| (start, size.parse().unwrap_or(u64::MAX)))
}

fn too_long() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the server's answer is too long")
}

pub(super) fn broken(error: io::Error) -> Error {
    if is_timeout(&error) {
        // Replace the system's error, which reads "resource temporarily unavailable".
        return Error::io("the mailbox does not answer", io::ErrorKind::TimedOut.into());
    }
    Error::io("the connection to the mailbox broke", error)
}

/// Whether a read ended because the server was silent for too long.
pub(super) fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock)
}

/// Reads the meaning of a line for the command with this tag.
///
/// # Errors
/// Returns an error if the server says goodbye, or if the line is malformed.
pub(super) fn classify(line: &[u8], tag: &str) -> Result<Reply, Error> {
    if line.starts_with(b"+") {
        return Ok(Reply::Continuation);
    }
    let tagged = line.strip_prefix(tag.as_bytes()).and_then(|rest| rest.strip_prefix(b" "));
    let untagged = line.strip_prefix(b"* ");
    let rest = tagged.or(untagged).ok_or(Error::Malformed)?;
    let (status, text) = rest.split_at(first_word(rest).len());
    match (status.to_ascii_uppercase().as_slice(), tagged.is_some()) {
        (b"BYE", _) => Err(Error::Goodbye(words(text).into())),
        (b"OK", true) => Ok(Reply::Done),
        (b"NO", true) => Ok(Reply::Refused(words(text).into())),
        (b"BAD", true) => Ok(Reply::Bad(words(text).into())),
        (_, true) => Err(Error::Malformed),
        (b"OK" | b"NO" | b"BAD", false) => Ok(Reply::Remark),
        (_, false) => Ok(Reply::Data),
    }
}

/// Returns the server's words for a log line.
fn words(text: &[u8]) -> String {
    one_line(&String::from_utf8_lossy(text))
}

/// Returns the text before the first space.
pub(super) fn first_word(line: &[u8]) -> &[u8] {
    &line[..line.iter().position(|&b| b == b' ').unwrap_or(line.len())]
}

impl Read for Io {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            Io::Plain(stream) => stream.read(out),
            Io::Tls(stream) => stream.read(out),
        }
    }
}

impl Write for Io {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Io::Plain(stream) => stream.write(bytes),
            Io::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Io::Plain(stream) => stream.flush(),
            Io::Tls(stream) => stream.flush(),
        }
    }
}

fn connect(settings: &ImapConfig, limit: Duration) -> Result<TcpStream, Error> {
    let (host, port) = (settings.host.as_str(), settings.port());
    let unreachable = |error| Error::io(format!("cannot reach {host}:{port}"), error);
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs().map_err(unreachable)? {
        match TcpStream::connect_timeout(&address, limit) {
            Ok(tcp) => return Ok(tcp),
            Err(error) => last = error,
        }
    }
    Err(unreachable(last))
}

/// Sets the time limit of a write, and returns a clone by which another thread can close the connection.
fn prepare(tcp: &TcpStream, limit: Duration) -> io::Result<TcpStream> {
    tcp.set_nodelay(true)?;
    tcp.set_write_timeout(Some(limit))?;
    tcp.try_clone()
}

fn secure(settings: &ImapConfig, tcp: PacedStream) -> Result<Io, Error> {
    let trust = tls::client_config(settings.ca_file.as_deref())?;
    let host = &settings.host;
    let client = ClientConnection::new(trust, tls::server_name(host)?)
        .map_err(|error| tls::handshake_fault(host, io::Error::other(error)))?;
    let mut stream = StreamOwned::new(client, tcp);
    // Otherwise the handshake would fail in the middle of the first command, where its cause is lost.
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).map_err(|error| tls::handshake_fault(host, error))?;
    }
    Ok(Io::Tls(Box::new(stream)))
}
