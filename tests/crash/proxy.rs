//! A proxy between the daemon and a server that disturbs connections.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// What happens to one connection.
#[derive(Clone, Copy, Debug)]
pub enum Trouble {
    None,
    /// After the daemon has sent these words, this many more bytes come back; then the connection is cut.
    CutAfter(&'static [u8], usize),
    /// Sends nothing, and closes the connection after seven seconds: later than the daemon's timeouts.
    Silent,
    /// Acts as a mail server that answers RCPT of the `recipient` with `words`, and accepts everything else.
    Says {
        recipient: &'static str,
        words: &'static str,
    },
}

type Plan = Box<dyn FnMut() -> Trouble + Send>;

pub struct Proxy {
    pub port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    target: u16,
    plan: Mutex<Plan>,
    connections: AtomicU64,
    disturbed: AtomicU64,
    ended: AtomicBool,
    taken: Mutex<Vec<String>>,
}

impl Proxy {
    /// Forwards to the server at this port; `plan` decides on each connection.
    pub fn to(target: u16, plan: impl FnMut() -> Trouble + Send + 'static) -> Proxy {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let shared = Arc::new(Shared {
            target,
            plan: Mutex::new(Box::new(plan)),
            connections: AtomicU64::new(0),
            disturbed: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            taken: Mutex::default(),
        });
        let listening = Arc::clone(&shared);
        thread::spawn(move || {
            for connection in listener.incoming() {
                if listening.ended.load(Ordering::Relaxed) {
                    break;
                }
                let (Ok(connection), shared) = (connection, Arc::clone(&listening)) else { continue };
                // Ignore errors, because connections are meant to break.
                thread::spawn(move || drop(shared.serve(&connection)));
            }
        });
        Proxy { port, shared }
    }

    /// Replaces the plan for new connections.
    pub fn plan(&self, plan: impl FnMut() -> Trouble + Send + 'static) {
        *self.shared.plan.lock().expect("no plan panics") = Box::new(plan);
    }

    /// The letters that the fake mail server accepted.
    pub fn taken(&self) -> Vec<String> {
        self.shared.taken.lock().expect("nothing panics").clone()
    }

    /// The number of connections, and the number of those that were disturbed.
    pub fn connections(&self) -> (u64, u64) {
        (self.shared.connections.load(Ordering::Relaxed), self.shared.disturbed.load(Ordering::Relaxed))
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(("127.0.0.1", self.port)));
    }
}

impl Shared {
    fn serve(&self, daemon: &TcpStream) -> std::io::Result<()> {
        let trouble = (self.plan.lock().expect("no plan panics"))();
        self.connections.fetch_add(1, Ordering::Relaxed);
        if !matches!(trouble, Trouble::None) {
            self.disturbed.fetch_add(1, Ordering::Relaxed);
        }
        match trouble {
            Trouble::None => self.pass_on(daemon, b"", usize::MAX),
            Trouble::CutAfter(words, bytes) => self.pass_on(daemon, words, bytes),
            Trouble::Silent => {
                thread::sleep(Duration::from_secs(7));
                Ok(())
            }
            Trouble::Says { recipient, words } => self.talk(daemon, recipient, words),
        }
    }

    fn pass_on(&self, daemon: &TcpStream, words: &'static [u8], mut left: usize) -> std::io::Result<()> {
        let server = TcpStream::connect(("127.0.0.1", self.target))?;
        let said = Arc::new(AtomicBool::new(words.is_empty()));
        let (mut from, mut to) = (daemon.try_clone()?, server.try_clone()?);
        let heard = Arc::clone(&said);
        thread::spawn(move || {
            let (mut buffer, mut last) = ([0; 8192], Vec::new());
            while let Ok(n @ 1..) = from.read(&mut buffer) {
                last.extend_from_slice(&buffer[..n]);
                if !words.is_empty() && last.windows(words.len()).any(|some| some == words) {
                    heard.store(true, Ordering::SeqCst);
                }
                last.drain(..last.len().saturating_sub(words.len()));
                if to.write_all(&buffer[..n]).is_err() {
                    break;
                }
            }
            let _ = to.shutdown(Shutdown::Both);
        });
        let (mut from, mut to, mut buffer) = (server, daemon, [0; 8192]);
        while let n @ 1.. = from.read(&mut buffer)? {
            let pass = if said.load(Ordering::SeqCst) { n.min(left) } else { n };
            to.write_all(&buffer[..pass])?;
            if said.load(Ordering::SeqCst) {
                left -= pass;
                if left == 0 {
                    break;
                }
            }
        }
        from.shutdown(Shutdown::Both)?;
        to.shutdown(Shutdown::Both)
    }

    /// Speaks minimal SMTP, and answers RCPT of one recipient with `words`.
    fn talk(&self, mut daemon: &TcpStream, recipient: &str, words: &str) -> std::io::Result<()> {
        daemon.write_all(b"220 mx.test\r\n")?;
        let mut lines = BufReader::new(daemon.try_clone()?).lines();
        while let Some(line) = lines.next() {
            let line = line?;
            let answer = match line.get(..4).unwrap_or_default() {
                "RCPT" if line.contains(recipient) => words,
                "DATA" => {
                    daemon.write_all(b"354 go on\r\n")?;
                    let mut letter = String::new();
                    for line in lines.by_ref().map_while(Result::ok).take_while(|line| line != ".") {
                        letter += &(line + "\n");
                    }
                    self.taken.lock().expect("nothing panics").push(letter);
                    "250 taken"
                }
                "QUIT" => return daemon.write_all(b"221 bye\r\n"),
                _ => "250 mx.test",
            };
            daemon.write_all(format!("{answer}\r\n").as_bytes())?;
        }
        Ok(())
    }
}
