//! The connection under the SMTP library: plain or secured, and never waiting to fill a packet.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use lettre::transport::smtp::client::AsyncTokioStream;
use lettre::transport::smtp::extension::ClientId;
use rustls::ClientConfig;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use super::smtp::Settings;
use super::{Error, Tls, host_name, one_line, tls};

/// Our own connection under the library's.
#[derive(Debug)]
pub(super) struct Wire {
    io: Io,
    /// To be read before what comes from the network.
    head: &'static [u8],
    peer: SocketAddr,
    pipelining: Arc<AtomicBool>,
}

#[derive(Debug)]
enum Io {
    Plain(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// Connects as the settings say, and returns the connection with the name to greet by.
pub(super) async fn open(
    settings: &Settings,
    port: u16,
    trust: &Arc<ClientConfig>,
) -> Result<(Wire, ClientId), Error> {
    let host = &settings.host;
    let unreached = |e| Error::io(format!("cannot reach {host}:{port}"), e);
    let mut tcp = TcpStream::connect((host.as_str(), port)).await.map_err(unreached)?;
    // Without it each letter waits 40 ms: its end goes out as a small segment of its own.
    tcp.set_nodelay(true).map_err(unreached)?;
    let peer = tcp.peer_addr().map_err(unreached)?;
    let hello = match &settings.hello {
        Some(name) => ClientId::Domain(name.clone()),
        None => own_name(tcp.local_addr().map_err(unreached)?.ip()),
    };
    let head: &[u8] = match settings.tls {
        Tls::None => {
            tls::allow_plain(peer.ip())?;
            return Ok((Wire::over(Io::Plain(tcp), b"", peer), hello));
        }
        Tls::Tls => b"",
        Tls::StartTls => {
            start_tls(&mut tcp, &hello).await?;
            // The library wants a greeting first, which the server has given already.
            b"220 secured\r\n"
        }
    };
    let secured = TlsConnector::from(Arc::clone(trust)).connect(tls::server_name(host)?, tcp).await;
    let secured = secured.map_err(|e| tls::handshake_fault(host, e))?;
    Ok((Wire::over(Io::Tls(Box::new(secured)), head, peer), hello))
}

impl Wire {
    fn over(io: Io, head: &'static [u8], peer: SocketAddr) -> Wire {
        Wire { io, head, peer, pipelining: Arc::default() }
    }

    /// Set as soon as the server has named the extension PIPELINING (RFC 2920): the library keeps to itself what it
    /// does not use.
    pub(super) fn pipelining(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.pipelining)
    }

    fn listen(&self, heard: &[u8]) {
        let named = |line: &[u8]| {
            line.get(4..).is_some_and(|word| word.trim_ascii().eq_ignore_ascii_case(b"PIPELINING"))
        };
        if heard.split(|byte| *byte == b'\n').any(named) {
            self.pipelining.store(true, Ordering::Relaxed);
        }
    }
}

fn own_name(local: IpAddr) -> ClientId {
    let name = host_name();
    match local {
        _ if name.contains('.') => ClientId::Domain(name),
        IpAddr::V4(ip) => ClientId::Ipv4(ip),
        IpAddr::V6(ip) => ClientId::Ipv6(ip),
    }
}

/// STARTTLS by hand (RFC 3207), since the library cannot do it over our stream.
async fn start_tls(tcp: &mut TcpStream, hello: &ClientId) -> Result<(), Error> {
    let broke = |e| Error::io("the connection broke over STARTTLS", e);
    let mut buffer = Vec::new();
    expect(reply(tcp, &mut buffer).await?, "220")?;
    tcp.write_all(format!("EHLO {hello}\r\n").as_bytes()).await.map_err(broke)?;
    let offers = expect(reply(tcp, &mut buffer).await?, "250")?;
    if !offers
        .lines()
        .any(|line| line.get(4..).is_some_and(|word| word.trim().eq_ignore_ascii_case("STARTTLS")))
    {
        return Err(Error::Configuration("the mail server does not offer STARTTLS".to_owned()));
    }
    tcp.write_all(b"STARTTLS\r\n").await.map_err(broke)?;
    expect(reply(tcp, &mut buffer).await?, "220")?;
    // What came along with the answer was not protected, and somebody else may have put it there.
    if buffer.is_empty() { Ok(()) } else { Err(Error::Malformed) }
}

fn expect(reply: String, code: &str) -> Result<String, Error> {
    if reply.starts_with(code) { Ok(reply) } else { Err(Error::Server(one_line(&reply))) }
}

/// One whole reply of possibly many lines (RFC 5321, 4.2.1); the rest stays in `buffer`.
async fn reply(tcp: &mut TcpStream, buffer: &mut Vec<u8>) -> Result<String, Error> {
    const LONGEST: usize = 16 * 1024;
    let mut from = 0;
    loop {
        while let Some(end) = buffer[from..].iter().position(|&b| b == b'\n').map(|at| from + at + 1) {
            let last = buffer[from..end].get(3) != Some(&b'-');
            from = end;
            if last {
                let rest = buffer.split_off(end);
                let reply = std::mem::replace(buffer, rest);
                return String::from_utf8(reply).map_err(|_| Error::Malformed);
            }
        }
        if buffer.len() > LONGEST {
            return Err(Error::Malformed);
        }
        let broke = |e| Error::io("the connection broke over STARTTLS", e);
        if tcp.read_buf(buffer).await.map_err(broke)? == 0 {
            return Err(broke(io::ErrorKind::UnexpectedEof.into()));
        }
    }
}

impl AsyncTokioStream for Wire {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        Ok(self.peer)
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if !self.head.is_empty() {
            let (now, later) = self.head.split_at(self.head.len().min(buf.remaining()));
            buf.put_slice(now);
            self.head = later;
            return Poll::Ready(Ok(()));
        }
        let before = buf.filled().len();
        let read = match &mut self.io {
            Io::Plain(io) => Pin::new(io).poll_read(cx, buf),
            Io::Tls(io) => Pin::new(io).poll_read(cx, buf),
        };
        self.listen(&buf.filled()[before..]);
        read
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        match &mut self.io {
            Io::Plain(io) => Pin::new(io).poll_write(cx, buf),
            Io::Tls(io) => Pin::new(io).poll_write(cx, buf),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.io {
            Io::Plain(io) => Pin::new(io).poll_flush(cx),
            Io::Tls(io) => Pin::new(io).poll_flush(cx),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.io {
            Io::Plain(io) => Pin::new(io).poll_shutdown(cx),
            Io::Tls(io) => Pin::new(io).poll_shutdown(cx),
        }
    }
}
