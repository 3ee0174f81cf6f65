//! The connection under the IMAP library: plain or secured, with a limit to every silence.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use imap::extensions::idle::SetReadTimeout;
use rustls::{ClientConnection, StreamOwned};

use super::super::inbox::ConnectionHandle;
use super::super::{Error, Tls, one_line, tls};
use super::Settings;
use super::literals::{LiteralFilter, Literals};

/// So much may come between our IDLE and the server's consent.
const EARLY_BYTES: usize = 64 * 1024;

enum Io {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

/// A connection to an IMAP server.
pub(super) struct Conn {
    io: Io,
    filter: LiteralFilter,
    answer_timeout: Duration,
    /// IDLE was sent and the server's consent not yet read.
    idle_sent: bool,
    early: Vec<u8>,
    /// To be read before what comes from the network.
    ready: VecDeque<u8>,
}

impl Conn {
    /// Connects as the settings say. With STARTTLS the greeting has been read. What is fetched goes to `literals`.
    pub(super) fn open(
        settings: &Settings,
        handle: &ConnectionHandle,
        literals: Literals,
    ) -> Result<Conn, Error> {
        let answer_timeout = Duration::from_secs(settings.timeout_seconds.max(1));
        let mut tcp = connect(settings, answer_timeout)?;
        let prepared =
            prepare(&tcp, answer_timeout).map(|ours| handle.set(ours)).and_then(|()| tcp.peer_addr());
        let peer = prepared.map_err(|e| Error::io("the connection cannot be used", e))?;
        let io = match settings.tls {
            Tls::None => {
                tls::allow_plain(peer.ip())?;
                Io::Plain(tcp)
            }
            Tls::Tls => Io::Tls(Box::new(secure(settings, tcp)?)),
            Tls::StartTls => {
                start_tls(&mut tcp)?;
                Io::Tls(Box::new(secure(settings, tcp)?))
            }
        };
        // One byte more than is wanted shows that a letter is larger.
        let filter = LiteralFilter::new(literals, settings.max_letter_bytes.saturating_add(1));
        let (early, ready) = Default::default();
        Ok(Conn { io, filter, answer_timeout, idle_sent: false, early, ready })
    }

    fn tcp(&self) -> &TcpStream {
        match &self.io {
            Io::Plain(tcp) => tcp,
            Io::Tls(stream) => &stream.sock,
        }
    }

    /// Waits for what the library is to read next; nothing when no more will come.
    fn receive(&mut self) -> io::Result<Vec<u8>> {
        let mut passed = Vec::new();
        while passed.is_empty() {
            let mut chunk = [0; 16 * 1024];
            let read = match &mut self.io {
                Io::Plain(tcp) => tcp.read(&mut chunk)?,
                Io::Tls(stream) => stream.read(&mut chunk)?,
            };
            if read == 0 {
                self.filter.end(&mut passed);
                break;
            }
            self.filter.pass(&chunk[..read], &mut passed);
        }
        Ok(passed)
    }

    /// Lets the server's consent to IDLE pass before the news that it sent first: the library takes any other line
    /// in its place for a refusal, and waits for the end of that.
    fn consent_first(&mut self) -> io::Result<()> {
        let mut from = 0;
        loop {
            while let Some(end) = self.early[from..].iter().position(|&b| b == b'\n').map(|at| from + at + 1)
            {
                if !self.early[from..end].starts_with(b"* ") {
                    self.ready.extend(self.early.drain(from..end));
                    self.release_early();
                    return Ok(());
                }
                from = end;
            }
            let received = self.receive()?;
            self.early.extend_from_slice(&received);
            if received.is_empty() || self.early.len() > EARLY_BYTES {
                self.release_early();
                return Ok(());
            }
        }
    }

    fn release_early(&mut self) {
        self.idle_sent = false;
        self.ready.extend(self.early.drain(..));
    }
}

impl Read for Conn {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.idle_sent {
            self.consent_first()?;
        }
        if self.ready.is_empty() {
            self.ready = self.receive()?.into();
        }
        self.ready.read(buf)
    }
}

impl Write for Conn {
    fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
        self.idle_sent = buf.ends_with(b" IDLE\r\n");
        match &mut self.io {
            Io::Plain(tcp) => tcp.write(buf),
            Io::Tls(stream) => stream.write(buf),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.io {
            Io::Plain(tcp) => tcp.flush(),
            Io::Tls(stream) => stream.flush(),
        }
    }
}

impl SetReadTimeout for Conn {
    /// The library asks for no limit after each IDLE; then the usual one holds, lest a dead server hold us for ever.
    fn set_read_timeout(&mut self, timeout: Option<Duration>) -> imap::error::Result<()> {
        let timeout = timeout.unwrap_or(self.answer_timeout);
        self.tcp().set_read_timeout(Some(timeout)).map_err(imap::Error::Io)
    }
}

fn connect(settings: &Settings, timeout: Duration) -> Result<TcpStream, Error> {
    let (host, port) = (settings.host.as_str(), settings.port());
    let unreached = |e| Error::io(format!("cannot reach {host}:{port}"), e);
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
    for address in (host, port).to_socket_addrs().map_err(unreached)? {
        match TcpStream::connect_timeout(&address, timeout) {
            Ok(tcp) => return Ok(tcp),
            Err(error) => last = error,
        }
    }
    Err(unreached(last))
}

/// Sets the limits, and returns a second hold on the connection by which it can be cut.
fn prepare(tcp: &TcpStream, timeout: Duration) -> io::Result<TcpStream> {
    tcp.set_nodelay(true)?;
    tcp.set_read_timeout(Some(timeout))?;
    tcp.set_write_timeout(Some(timeout))?;
    tcp.try_clone()
}

fn secure(settings: &Settings, tcp: TcpStream) -> Result<StreamOwned<ClientConnection, TcpStream>, Error> {
    let trust = tls::client_config(settings.ca_file.as_deref())?;
    let host = &settings.host;
    let client = ClientConnection::new(trust, tls::server_name(host)?);
    let client = client.map_err(|e| tls::handshake_fault(host, io::Error::other(e)))?;
    let mut stream = StreamOwned::new(client, tcp);
    while stream.conn.is_handshaking() {
        stream.conn.complete_io(&mut stream.sock).map_err(|e| tls::handshake_fault(host, e))?;
    }
    Ok(stream)
}

/// STARTTLS (RFC 3501, 6.2.1) before the library comes in, since it can do it only over its own connections.
fn start_tls(tcp: &mut TcpStream) -> Result<(), Error> {
    let broke = |e| Error::io("the connection broke over STARTTLS", e);
    let mut buffer = Vec::new();
    let greeting = line(tcp, &mut buffer)?;
    if !greeting.starts_with("* OK") {
        return Err(Error::Server(one_line(&greeting).into()));
    }
    tcp.write_all(b"s STARTTLS\r\n").map_err(broke)?;
    loop {
        let answer = line(tcp, &mut buffer)?;
        if answer.starts_with("* ") {
            continue;
        }
        if !answer.starts_with("s OK") {
            return Err(Error::Configuration(format!("the server refuses STARTTLS: {}", one_line(&answer))));
        }
        // What came along with the answer was not protected, and somebody else may have put it there.
        return if buffer.is_empty() { Ok(()) } else { Err(Error::Malformed) };
    }
}

/// One line; the rest stays in `buffer`.
fn line(tcp: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<String, Error> {
    let broke = |e| Error::io("the connection broke over STARTTLS", e);
    loop {
        if let Some(end) = buffer.iter().position(|&b| b == b'\n') {
            let rest = buffer.split_off(end + 1);
            let line = std::mem::replace(buffer, rest);
            return String::from_utf8(line).map_err(|_| Error::Malformed);
        }
        if buffer.len() > EARLY_BYTES {
            return Err(Error::Malformed);
        }
        let mut chunk = [0; 4096];
        let read = tcp.read(&mut chunk).map_err(broke)?;
        if read == 0 {
            return Err(broke(io::ErrorKind::UnexpectedEof.into()));
        }
        buffer.extend_from_slice(&chunk[..read]);
    }
}
