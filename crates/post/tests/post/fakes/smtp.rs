//! A mail server that accepts letters, and misbehaves as its script says.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

/// What the server does at a step.
#[derive(Debug, Clone, Copy)]
pub enum Act {
    /// Replies as it should.
    Proper,
    /// Replies with this text, to which CRLF is added.
    Say(&'static str),
    /// Replies with this text and closes the connection.
    SayAndClose(&'static str),
    /// Closes the connection.
    Close,
    /// Never replies.
    Hang,
    /// Repeats this text until the client closes the connection.
    Flood(&'static str),
    /// Repeats this text byte by byte, with a pause after each, until the client closes the connection.
    Drip(&'static str),
}

/// Maps a step and the number of earlier occurrences of it, over all connections, to what the server does. The steps
/// are `GREETING`, `LETTER`, and the first word of each command line in capitals.
type Script = dyn Fn(&str, usize) -> Act + Send + Sync;

/// Whether the server takes an access token.
type TokenCheck = dyn FnMut(&str) -> bool + Send;

pub struct Smtp {
    pub port: u16,
    seen: Arc<Mutex<Seen>>,
    token_check: Arc<Mutex<Option<Box<TokenCheck>>>>,
}

#[derive(Debug, Default, Clone)]
pub struct Seen {
    /// Every step, in order.
    pub steps: Vec<String>,
    /// Every command line.
    pub lines: Vec<String>,
    /// The received letters, without the doubled dots.
    pub letters: Vec<Vec<u8>>,
    /// Those of them that were not refused.
    pub taken: Vec<Vec<u8>>,
    /// The number of `MAIL` commands that arrived together with another command.
    pub pipelined: usize,
    /// Bytes sent by the longest [`Act::Flood`].
    pub flood: usize,
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
        let token_check = Arc::default();
        let check = Arc::clone(&token_check);
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                let script = Arc::clone(&script) as Arc<Script>;
                let session = Session::new(tcp, script, Arc::clone(&all), Arc::clone(&check));
                // In some tests the client disconnects in the middle of an exchange.
                tokio::spawn(async move { session.run().await.unwrap_or_default() });
            }
        });
        Smtp { port, seen, token_check }
    }

    /// Makes the server refuse access tokens that do not pass this check.
    pub fn accept_tokens(&self, check: impl FnMut(&str) -> bool + Send + 'static) {
        *self.token_check.lock().expect("no panic") = Some(Box::new(check));
    }

    pub fn seen(&self) -> Seen {
        self.seen.lock().expect("no panic").clone()
    }
}

struct Session {
    from: BufReader<OwnedReadHalf>,
    to: OwnedWriteHalf,
    script: Arc<Script>,
    seen: Arc<Mutex<Seen>>,
    token_check: Arc<Mutex<Option<Box<TokenCheck>>>>,
    /// Whether the last reply was a scripted refusal.
    refused: bool,
    /// Whether nothing was refused since the last `MAIL`.
    accepting: bool,
}

impl Session {
    fn new(
        tcp: TcpStream,
        script: Arc<Script>,
        seen: Arc<Mutex<Seen>>,
        token_check: Arc<Mutex<Option<Box<TokenCheck>>>>,
    ) -> Session {
        let (from, to) = tcp.into_split();
        Session {
            from: BufReader::new(from),
            to,
            script,
            seen,
            token_check,
            refused: false,
            accepting: false,
        }
    }

    /// Returns the reply to a login.
    fn reply_to_login(&self, line: &str) -> &'static str {
        let mut check = self.token_check.lock().expect("no panic");
        let Some(check) = &mut *check else { return "235 welcome" };
        let message = STANDARD.decode(line.rsplit(' ').next().unwrap_or_default()).unwrap_or_default();
        let message = String::from_utf8_lossy(&message).into_owned();
        let token = message.split("auth=Bearer ").nth(1).and_then(|rest| rest.split('\u{1}').next());
        match token.is_some_and(check) {
            true => "235 welcome",
            false => "535 5.7.3 Authentication unsuccessful",
        }
    }

    async fn run(mut self) -> std::io::Result<()> {
        self.reply("GREETING", "220 fake.test").await?;
        loop {
            let mut line = String::new();
            if self.from.read_line(&mut line).await? == 0 {
                return Ok(());
            }
            let line = line.trim_end().to_owned();
            let step = line.split(' ').next().unwrap_or_default().to_ascii_uppercase();
            self.seen.lock().expect("no panic").lines.push(line.clone());
            match step.as_str() {
                "EHLO" => {
                    self.reply("EHLO", "250-fake.test\r\n250-8BITMIME\r\n250 AUTH PLAIN LOGIN").await?;
                }
                "AUTH" => {
                    let reply = self.reply_to_login(&line);
                    self.reply("AUTH", reply).await?;
                }
                "MAIL" => {
                    let more = !self.from.buffer().is_empty();
                    self.seen.lock().expect("no panic").pipelined += usize::from(more);
                    self.reply("MAIL", "250 fine").await?;
                    self.accepting = !self.refused;
                }
                "RCPT" => {
                    self.reply("RCPT", "250 fine").await?;
                    self.accepting &= !self.refused;
                }
                "DATA" => {
                    self.reply("DATA", if self.accepting { "354 go on" } else { "503 no recipient" }).await?;
                    if !self.accepting || self.refused {
                        continue;
                    }
                    let letter = self.letter().await?;
                    self.seen.lock().expect("no panic").letters.push(letter.clone());
                    let act = self.next_act("LETTER");
                    // Before the reply: whoever gets it may look here at once.
                    if matches!(act, Act::Proper | Act::Say(_)) && !self.refused {
                        self.seen.lock().expect("no panic").taken.push(letter);
                    }
                    self.perform(act, "250 2.0.0 taken as 17").await?;
                }
                "QUIT" => return self.reply("QUIT", "221 bye").await,
                step => self.reply(step, "250 fine").await?,
            }
        }
    }

    async fn reply(&mut self, step: &str, proper: &str) -> std::io::Result<()> {
        let act = self.next_act(step);
        self.perform(act, proper).await
    }

    /// Asks the script what to do in this step.
    fn next_act(&mut self, step: &str) -> Act {
        let times = {
            let mut seen = self.seen.lock().expect("no panic");
            let times = seen.count(step);
            seen.steps.push(step.to_owned());
            times
        };
        let act = (self.script)(step, times);
        self.refused = matches!(act, Act::Say(text) if !text.starts_with(['2', '3']));
        act
    }

    async fn perform(&mut self, act: Act, proper: &str) -> std::io::Result<()> {
        let close = || Err(std::io::ErrorKind::ConnectionAborted.into());
        match act {
            Act::Proper => self.say(proper).await,
            Act::Say(text) => self.say(text).await,
            Act::SayAndClose(text) => {
                self.say(text).await?;
                close()
            }
            Act::Close => close(),
            Act::Hang => std::future::pending().await,
            Act::Flood(text) => self.flood(text).await,
            Act::Drip(text) => self.drip(text).await,
        }
    }

    async fn say(&mut self, text: &str) -> std::io::Result<()> {
        self.to.write_all(format!("{text}\r\n").as_bytes()).await
    }

    async fn drip(&mut self, text: &str) -> std::io::Result<()> {
        for byte in text.bytes().cycle() {
            self.to.write_all(&[byte]).await?;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    async fn flood(&mut self, text: &str) -> std::io::Result<()> {
        let chunk = text.repeat(1000);
        let mut sent = 0;
        loop {
            self.to.write_all(chunk.as_bytes()).await?;
            sent += chunk.len();
            let mut seen = self.seen.lock().expect("no panic");
            seen.flood = seen.flood.max(sent);
        }
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
