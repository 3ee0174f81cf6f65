//! A TCP connection whose reads are limited in time: the server must neither fall silent nor drip.
//!
//! A server that sends a byte before each timeout would otherwise occupy the mailbox forever, and nobody
//! would notice.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

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
