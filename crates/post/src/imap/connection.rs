//! The connection to an IMAP server: plain or secured, with limits on size and silence.
//!
//! The server is not trusted: its answers are read only up to the limits below.
//!
//! A TCP connection whose reads are limited in time: the server must neither fall silent nor drip.
//!
//! A server that sends a byte before each timeout would otherwise occupy the mailbox forever, and nobody
//! would notice.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::{Duration, Instant};

use rustls::{ClientConnection, StreamOwned};

use super::ImapConfig;
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
    let host = settings.host.as_str();
    let port = settings.port();
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

/// Maximum time of an answer as a multiple of the limit on silence, in addition to the time for its bytes.
const PATIENCE: u32 = 10;

/// Time that each byte adds to the limit of an answer: 8 kB a second on the slowest line that we wait for.
const TIME_PER_BYTE: Duration = Duration::from_micros(125);

pub(super) struct PacedStream {
    tcp: TcpStream,
    /// Maximum silence of the server within an answer.
    answer_timeout: Duration,
    /// Maximum silence during the next read.
    silence: Duration,
    /// The time by which the answer must be complete. Each byte moves it.
    deadline: Instant,
    /// The read timeout that the socket has.
    timeout: Option<Duration>,
}

impl PacedStream {
    pub(super) fn new(tcp: TcpStream, answer_timeout: Duration) -> PacedStream {
        let deadline = Instant::now() + answer_timeout * PATIENCE;
        PacedStream { tcp, answer_timeout, silence: answer_timeout, deadline, timeout: None }
    }

    /// Begins to wait for an answer.
    pub(super) fn expect_answer(&mut self) {
        self.silence = self.answer_timeout;
        self.deadline = Instant::now() + self.answer_timeout * PATIENCE;
    }

    /// Begins to wait for anything, at most this long.
    pub(super) fn expect_within(&mut self, limit: Duration) {
        self.silence = limit;
        self.deadline = Instant::now() + limit;
    }
}

/// Tries again after a signal, or the machine's sleep, which end the wait of a socket with a timeout (signal(7)). Not every
/// reader in a library does.
fn uninterrupted<T>(mut act: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match act() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            done => return done,
        }
    }
}

impl PacedStream {
    fn read_in_time(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let left = self.deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::Error::new(io::ErrorKind::TimedOut, "the server is too slow"));
        }
        let timeout = left.min(self.silence);
        // Set the socket's timeout only when it changes, to save a system call.
        if self.timeout != Some(timeout) {
            self.tcp.set_read_timeout(Some(timeout))?;
            self.timeout = Some(timeout);
        }
        let length = self.tcp.read(out)?;
        self.deadline += TIME_PER_BYTE * u32::try_from(length).unwrap_or(u32::MAX);
        Ok(length)
    }
}

impl Read for PacedStream {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        uninterrupted(|| self.read_in_time(out))
    }
}

impl Write for PacedStream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        uninterrupted(|| self.tcp.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.tcp.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let client = TcpStream::connect(listener.local_addr().expect("bound")).expect("connected");
        (client, listener.accept().expect("accepted").0)
    }

    #[test]
    fn a_server_that_drips_is_given_up_although_it_is_never_silent() {
        let (client, mut server) = pair();
        let dripping = std::thread::spawn(move || {
            while server.write_all(b"x").is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        });
        let mut stream = PacedStream::new(client, Duration::from_millis(50));
        let mut byte = [0];
        let error = loop {
            if let Err(error) = stream.read(&mut byte) {
                break error;
            }
        };
        assert!(matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{error}");
        stream.expect_answer();
        assert_eq!(stream.read(&mut byte).expect("the next answer has its own time"), 1);
        drop(stream);
        dripping.join().expect("no panic");
    }

    #[tokio::test]
    async fn a_signal_does_not_break_the_connection() {
        // The kernel tells the thread that started a program of its end.
        let _handler =
            tokio::signal::unix::signal(tokio::signal::unix::SignalKind::child()).expect("a handler");
        let (client, mut server) = pair();
        let mut child = std::process::Command::new("sleep").arg("0.2").spawn().expect("a program");
        let answers = std::thread::spawn(move || {
            assert!(child.wait().expect("it ends").success());
            server.write_all(b"x").expect("the client waits");
        });
        let mut stream = PacedStream::new(client, Duration::from_secs(60));
        assert_eq!(stream.read(&mut [0]).expect("the signal is no answer"), 1);
        answers.join().expect("no panic");
    }

    #[test]
    fn a_silent_server_is_given_up_after_the_limit_on_silence() {
        let (client, _server) = pair();
        let mut stream = PacedStream::new(client, Duration::from_millis(20));
        let error = stream.read(&mut [0]).expect_err("nothing comes");
        assert!(matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{error}");
    }
}
