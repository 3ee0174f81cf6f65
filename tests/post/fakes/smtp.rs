//! A mail server that takes letters.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// What the server does at a step instead of what it should.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    Proper,
    /// Answers so (CRLF is added), and goes on.
    Say(&'static str),
    /// Answers so, and closes.
    SayAndCut(&'static str),
    /// Closes without an answer.
    Cut,
    /// Keeps silent for ever.
    Hang,
}

/// Given the step (`GREETING`, `EHLO`, `AUTH`, `MAIL`, `RCPT`, `DATA`, `LETTER`, `RSET`, `QUIT`) and how often it came
/// up before, over all connections.
type Script = dyn Fn(&str, usize) -> Act + Send + Sync;

pub struct Smtp {
    pub port: u16,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Debug, Default, Clone)]
pub struct Seen {
    /// Every step, in order.
    pub steps: Vec<String>,
    /// Every command line.
    pub lines: Vec<String>,
    /// The letters' bytes as they came, dots unstuffed.
    pub letters: Vec<Vec<u8>>,
    /// How often something had come along behind `MAIL`.
    pub together: usize,
}

impl Seen {
    pub fn count(&self, step: &str) -> usize {
        self.steps.iter().filter(|s| *s == step).count()
    }
}

impl Smtp {
    pub async fn start(script: impl Fn(&str, usize) -> Act + Send + Sync + 'static) -> Smtp {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("bound").port();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let (script, all) = (Arc::new(script), Arc::clone(&seen));
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let talk = Talk::new(tcp, Arc::clone(&script) as Arc<Script>, Arc::clone(&all));
                // A client that goes away in the middle is part of the tests.
                tokio::spawn(async move { talk.run().await.unwrap_or_default() });
            }
        });
        Smtp { port, seen }
    }

    pub fn seen(&self) -> Seen {
        self.seen.lock().expect("no panic").clone()
    }
}

struct Talk {
    from: BufReader<OwnedReadHalf>,
    to: OwnedWriteHalf,
    script: Arc<Script>,
    seen: Arc<Mutex<Seen>>,
    /// Nothing was refused since the last `MAIL`.
    willing: bool,
}

impl Talk {
    fn new(tcp: TcpStream, script: Arc<Script>, seen: Arc<Mutex<Seen>>) -> Talk {
        let (from, to) = tcp.into_split();
        Talk { from: BufReader::new(from), to, script, seen, willing: false }
    }

    async fn run(mut self) -> std::io::Result<()> {
        self.answer("GREETING", "220 fake.test").await?;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_owned();
            let step = line.split(' ').next().unwrap_or_default().to_ascii_uppercase();
            self.seen.lock().expect("no panic").lines.push(line);
            match step.as_str() {
                "EHLO" => {
                    self.answer("EHLO", "250-fake.test\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN").await?;
                }
                "AUTH" => self.answer("AUTH", "235 welcome").await?,
                "MAIL" => {
                    let more = !self.from.buffer().is_empty();
                    self.seen.lock().expect("no panic").together += usize::from(more);
                    self.answer("MAIL", "250 fine").await?;
                    self.willing = !self.refused();
                }
                "RCPT" => {
                    self.answer("RCPT", "250 fine").await?;
                    self.willing &= !self.refused();
                }
                "DATA" => {
                    self.answer("DATA", if self.willing { "354 go on" } else { "503 no recipient" }).await?;
                    if !self.willing || self.refused() {
                        continue;
                    }
                    let letter = self.letter().await?;
                    self.seen.lock().expect("no panic").letters.push(letter);
                    self.answer("LETTER", "250 2.0.0 taken as 17").await?;
                }
                "QUIT" => return self.answer("QUIT", "221 bye").await,
                step => self.answer(step, "250 fine").await?,
            }
        }
    }

    /// Whether the last answer was a scripted refusal.
    fn refused(&self) -> bool {
        let seen = self.seen.lock().expect("no panic");
        let step = seen.steps.last().expect("just pushed");
        matches!((self.script)(step, seen.count(step) - 1), Act::Say(text) if !text.starts_with('3'))
    }

    async fn answer(&mut self, step: &str, proper: &str) -> std::io::Result<()> {
        let times = {
            let mut seen = self.seen.lock().expect("no panic");
            let times = seen.count(step);
            seen.steps.push(step.to_owned());
            times
        };
        let cut = || Err(std::io::ErrorKind::ConnectionAborted.into());
        match (self.script)(step, times) {
            Act::Proper => self.say(proper).await,
            Act::Say(text) => self.say(text).await,
            Act::SayAndCut(text) => {
                self.say(text).await?;
                cut()
            }
            Act::Cut => cut(),
            Act::Hang => std::future::pending().await,
        }
    }

    async fn say(&mut self, text: &str) -> std::io::Result<()> {
        self.to.write_all(format!("{text}\r\n").as_bytes()).await
    }

    async fn letter(&mut self) -> std::io::Result<Vec<u8>> {
        let mut letter = Vec::new();
        loop {
            let mut line = Vec::new();
            if self.from.read_until(b'\n', &mut line).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            if line == b".\r\n" {
                return Ok(letter);
            }
            letter.extend_from_slice(line.strip_prefix(b".").unwrap_or(&line));
        }
    }
}
