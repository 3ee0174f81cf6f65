//! A mail server that refuses at random: it stands before the real one and answers some commands itself.

use std::io::{self, BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use fogpost_testing::random::Random;

/// What is refused at a step.
struct Refusal {
    step: &'static str,
    /// One time in so many.
    once_in: usize,
    words: &'static [&'static str],
}

/// Refusals that are about our account or the server now, whatever their codes say, so nothing may be given up for them.
/// One before RCPT stops the whole outbox for a minute.
const REFUSALS: [Refusal; 4] = [
    Refusal {
        step: "MAIL",
        once_in: 300,
        words: &["451 4.3.0 Temporary server error", "550 Sender rate limit exceeded; try again later"],
    },
    Refusal {
        step: "RCPT",
        once_in: 12,
        words: &[
            "450 4.2.1 Too much mail",
            "550 5.4.5 Daily user sending limit exceeded",
            "554 5.7.1 Relay denied",
        ],
    },
    Refusal { step: "DATA", once_in: 40, words: &["451 4.7.500 Server busy", "550 5.7.708 Access denied"] },
    Refusal {
        step: "LETTER",
        once_in: 40,
        words: &[
            "432 4.3.2 Concurrent connections limit exceeded",
            "550 5.1.90 Daily limit for recipients reached",
        ],
    },
];

pub struct RefusingServer {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    target: u16,
    random: Mutex<Random>,
    takes_everything: AtomicBool,
    refused: AtomicU64,
    ended: AtomicBool,
}

impl RefusingServer {
    /// Starts before the server at this port.
    pub fn before(target: u16, seed: u64) -> RefusingServer {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let shared = Arc::new(Shared {
            target,
            random: Mutex::new(Random::new(seed)),
            takes_everything: AtomicBool::new(false),
            refused: AtomicU64::new(0),
            ended: AtomicBool::new(false),
        });
        let listening = Arc::clone(&shared);
        thread::spawn(move || {
            for connection in listener.incoming() {
                if listening.ended.load(Ordering::Relaxed) {
                    break;
                }
                let (Ok(daemon), shared) = (connection, Arc::clone(&listening)) else { continue };
                // A daemon that is killed breaks its connections.
                thread::spawn(move || drop(shared.serve(&daemon)));
            }
        });
        RefusingServer { port, shared }
    }

    /// Refuses nothing any more.
    pub fn take_everything(&self) {
        self.shared.takes_everything.store(true, Ordering::Relaxed);
    }

    /// How often it has refused something.
    pub fn refused(&self) -> u64 {
        self.shared.refused.load(Ordering::Relaxed)
    }
}

impl Drop for RefusingServer {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl Shared {
    /// Returns the words with which this step is refused, if it is.
    fn refusal(&self, step: &str) -> Option<&'static str> {
        let refusal = REFUSALS.iter().find(|refusal| refusal.step == step)?;
        let mut random = self.random.lock().expect("no thread panics");
        if self.takes_everything.load(Ordering::Relaxed) || !random.once_in(refusal.once_in) {
            return None;
        }
        self.refused.fetch_add(1, Ordering::Relaxed);
        Some(*random.pick(refusal.words))
    }

    /// Passes commands and replies on one by one. A command that is refused never reaches the server, and neither does one
    /// that makes no sense after a refusal.
    fn serve(&self, mut daemon: &TcpStream) -> io::Result<()> {
        let mut server = TcpStream::connect(("127.0.0.1", self.target))?;
        daemon.set_nodelay(true)?;
        server.set_nodelay(true)?;
        let mut replies = BufReader::new(server.try_clone()?);
        let mut commands = BufReader::new(daemon.try_clone()?);
        daemon.write_all(&read_reply(&mut replies)?)?;
        let (mut has_sender, mut has_recipient) = (false, false);
        loop {
            let command = read_line(&mut commands)?;
            let step = String::from_utf8_lossy(&command[..command.len().min(4)]).to_ascii_uppercase();
            let refusal = match step.as_str() {
                "RCPT" if !has_sender => Some("503 5.5.1 MAIL first"),
                "DATA" if !has_recipient => Some("503 5.5.1 RCPT first"),
                step => self.refusal(step),
            };
            if let Some(words) = refusal {
                daemon.write_all(format!("{words}\r\n").as_bytes())?;
                continue;
            }
            if step == "DATA"
                && let Some(words) = self.refusal("LETTER")
            {
                daemon.write_all(b"354 go on\r\n")?;
                read_letter(&mut commands)?;
                server.write_all(b"RSET\r\n")?;
                read_reply(&mut replies)?;
                (has_sender, has_recipient) = (false, false);
                daemon.write_all(format!("{words}\r\n").as_bytes())?;
                continue;
            }
            server.write_all(&command)?;
            let reply = read_reply(&mut replies)?;
            daemon.write_all(&reply)?;
            match step.as_str() {
                "MAIL" => has_sender = reply.starts_with(b"2"),
                "RCPT" => has_recipient = reply.starts_with(b"2"),
                "DATA" => {
                    if reply.starts_with(b"3") {
                        server.write_all(&read_letter(&mut commands)?)?;
                        daemon.write_all(&read_reply(&mut replies)?)?;
                    }
                    (has_sender, has_recipient) = (false, false);
                }
                "RSET" => (has_sender, has_recipient) = (false, false),
                "QUIT" => return Ok(()),
                _ => {}
            }
        }
    }
}

fn read_line(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut line = Vec::new();
    match from.read_until(b'\n', &mut line)? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(line),
    }
}

/// Reads a reply of one or more lines (RFC 5321, 4.2.1).
fn read_reply(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut reply = Vec::new();
    loop {
        let line = read_line(from)?;
        reply.extend_from_slice(&line);
        if line.get(3) != Some(&b'-') {
            return Ok(reply);
        }
    }
}

/// Reads a letter, including the dot that ends it.
fn read_letter(from: &mut impl BufRead) -> io::Result<Vec<u8>> {
    let mut letter = Vec::new();
    loop {
        let line = read_line(from)?;
        letter.extend_from_slice(&line);
        if line == b".\r\n" {
            return Ok(letter);
        }
    }
}
