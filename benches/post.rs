//! Compares the post office with the simplest tools. Postfix's `smtp-source` is the measure of letters sent per second.
//! A bare socket in IDLE is the measure of two times: from the delivery of a letter to its batch, and from the delivery
//! to the receipt at the SMTP server.
//!
//! `cargo bench --bench post [send|idle|receipt]`.

#[path = "../tests/servers/mod.rs"]
#[allow(dead_code, reason = "shared with the tests, which use more of it")]
mod servers;
mod tools;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::Utc;
use fogpost::config::Config;
use fogpost::daemon::{Holder, NamedAddress, NewMatch, Office, instruct, loops};
use fogpost::game::BySeat;
use fogpost::game::any::GameKind;
use fogpost::letter::Address;
use fogpost::post::inbox::Inbox;
use fogpost::post::outbox::{Outbox, OutboxConfig, Outgoing};
use fogpost::post::{Health, InboxMessage, LeftLetters, Secret, ShutdownSignal, Taken, Tls, imap, smtp};
use fogpost::store;
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};

use servers::{PASSWORD, Servers};
use tools::{Sink, median};

const LETTERS: usize = 10_000;
const LETTER_BYTES: usize = 2_137;
const CONNECTIONS: usize = 4;
const ROUNDS: usize = 5;
const IDLE_LETTERS: usize = 40;

fn main() {
    let wanted = |name: &str| !std::env::args().skip(1).any(|a| !a.starts_with('-') && a != name);
    let runtime = Runtime::new().expect("a runtime");
    if wanted("send") {
        send(&runtime);
    }
    if wanted("idle") {
        idle(&runtime);
    }
    if wanted("receipt") {
        receipt(&runtime);
    }
}

/// Runs the tools in turn, so that a busy machine slows both down.
fn send(runtime: &Runtime) {
    let sink = Sink::start();
    let (mut plain, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        plain.push(smtp_source(sink.port));
        ours.push(runtime.block_on(outbox(sink.port)));
    }
    let (plain, ours) = (median(plain), median(ours));
    let rate = |time: Duration| LETTERS as f64 / time.as_secs_f64();
    println!(
        "send: {LETTERS} letters of {LETTER_BYTES} B over {CONNECTIONS} connections, median of {ROUNDS}"
    );
    println!("  smtp-source {:>7.0}/s", rate(plain));
    println!("  outbox      {:>7.0}/s, ratio {:.2}", rate(ours), plain.as_secs_f64() / ours.as_secs_f64());
}

fn smtp_source(port: u16) -> Duration {
    let began = Instant::now();
    let done = Command::new("smtp-source")
        .args([
            "-d",
            "-s",
            &CONNECTIONS.to_string(),
            "-m",
            &LETTERS.to_string(),
            "-l",
            &LETTER_BYTES.to_string(),
        ])
        .arg(format!("127.0.0.1:{port}"))
        .status();
    assert!(done.expect("smtp-source, which comes with Postfix").success());
    began.elapsed()
}

async fn outbox(port: u16) -> Duration {
    let settings = smtp::SmtpConfig {
        port: Some(port),
        tls: Tls::None,
        connections: CONNECTIONS,
        ..smtp::SmtpConfig::to("127.0.0.1")
    };
    let out = Arc::new(Outbox::new(OutboxConfig::Smtp(settings)).expect("nothing to read"));
    let bytes: Arc<[u8]> = format!("Subject: x\r\n\r\n{}", "x".repeat(68).as_str().to_owned() + "\r\n")
        .bytes()
        .cycle()
        .take(LETTER_BYTES)
        .collect();
    let began = Instant::now();
    let senders: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (out, bytes) = (Arc::clone(&out), Arc::clone(&bytes));
            tokio::spawn(async move {
                let letter =
                    Outgoing { return_path: Some("b@club.test"), to: "anna@home.test", bytes: &bytes };
                for _ in 0..LETTERS / CONNECTIONS {
                    out.send(&letter).await.expect("taken");
                }
            })
        })
        .collect();
    for sender in senders {
        sender.await.expect("no panic");
    }
    began.elapsed()
}

/// Measures the time from a delivery by LMTP to the batch, and to the notice on a bare socket.
fn idle(runtime: &Runtime) {
    let servers = Servers::dovecot().expect("a Dovecot");
    let settings = imap::ImapConfig {
        port: Some(servers.imap_port),
        tls: Tls::None,
        ..imap::ImapConfig::of("127.0.0.1", "gm", Secret::new(PASSWORD))
    };
    let (to, mut messages) = mpsc::channel(1);
    let (_stopper, stop) = ShutdownSignal::new();
    let (tell, mut health) = watch::channel(Health::default());
    runtime.spawn(Inbox::Imap(settings).run(LeftLetters::default(), to, stop, tell));
    runtime.block_on(health.wait_for(|health| health.last_ok.is_some())).expect("it runs");
    let mut bare = Bare::idle(servers.imap_port);
    let (mut plain, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..IDLE_LETTERS {
        std::thread::sleep(Duration::from_millis(100));
        plain.push(since_delivery(&servers, "bare@club.test", || bare.hear()));
        ours.push(since_delivery(&servers, "gm@club.test", || {
            if let InboxMessage::Letters(batch) = runtime.block_on(messages.recv()).expect("it runs") {
                let _ = batch.stored.send(Taken::All);
            }
        }));
    }
    let (plain, ours) = (median(plain), median(ours));
    println!("idle: from the end of a delivery by LMTP, median of {IDLE_LETTERS}");
    println!("  a bare socket hears of it after {:.1} ms", plain.as_secs_f64() * 1e3);
    println!("  the inbox hands it over after   {:.1} ms", ours.as_secs_f64() * 1e3);
}

fn since_delivery(servers: &Servers, to: &str, wait: impl FnOnce()) -> Duration {
    servers.deliver_lmtp(b"Subject: x\r\n\r\nSHIP 4 TO C1\r\n", to);
    let began = Instant::now();
    wait();
    began.elapsed()
}

/// Measures the time from the delivery of a seat's letter by LMTP to the last byte of its answer by SMTP.
fn receipt(runtime: &Runtime) {
    let servers = Servers::dovecot().expect("a Dovecot");
    let taker = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = taker.local_addr().expect("bound").port();
    let taken = taken_by(taker);
    let folder = tempfile::tempdir().expect("a folder");
    let (office, token) = runtime.block_on(office(folder.path(), servers.imap_port, port));
    let (_stopper, stop) = ShutdownSignal::new();
    runtime.spawn(loops::run(office, stop));
    // Wait for the letters that open the match.
    for _ in 0..2 {
        taken.recv().expect("an invitation");
    }
    let mut bare = Bare::idle(servers.imap_port);
    let (mut plain, mut ours) = (Vec::new(), Vec::new());
    for n in 0..IDLE_LETTERS {
        std::thread::sleep(Duration::from_millis(100));
        plain.push(since_delivery(&servers, "bare@club.test", || bare.hear()));
        // Check another point each time, because an answer equal to the last one is not sent.
        let point = format!("{}{}", char::from(b'B' + (n % 9) as u8), 2 + n / 9);
        let letter = format!(
            "From: ann@club.test\r\nMessage-ID: <{n}@club.test>\r\nSubject: x\r\n\r\nCHECK\r\nMARBLE {point}\r\n\r\nReply token: {token}\r\n"
        );
        servers.deliver_lmtp(letter.as_bytes(), "referee@club.test");
        let began = Instant::now();
        taken.recv().expect("an answer");
        ours.push(began.elapsed());
    }
    let (plain, ours) = (median(plain), median(ours));
    println!("receipt: from the end of a delivery by LMTP, median of {IDLE_LETTERS}");
    println!("  a bare socket hears of it after    {:.1} ms", plain.as_secs_f64() * 1e3);
    println!("  its receipt is with SMTP after     {:.1} ms", ours.as_secs_f64() * 1e3);
}

/// Returns the whole program on IMAP and SMTP with an open match of Quad, and the reply token of its first seat.
async fn office(folder: &Path, imap_port: u16, smtp_port: u16) -> (Arc<Office>, String) {
    let config = format!(
        "[club]\nname = \"Club\"\naddress = \"referee@club.test\"\n\
         [club.gm]\nname = \"GM\"\naddress = \"gm@club.test\"\n\
         [database]\nurl = \"sqlite:{}/fogpost.db\"\n[letters]\nanswers_per_hour = 1000\n\
         [inbox.imap]\nhost = \"127.0.0.1\"\nport = {imap_port}\ntls = \"none\"\nuser = \"referee\"\n\
         password = \"{PASSWORD}\"\n\
         [outbox.smtp]\nhost = \"127.0.0.1\"\nport = {smtp_port}\ntls = \"none\"\n",
        folder.display()
    );
    let config = Config::parse(&config, "config").expect("a config");
    let store = store::open(&config.database.url).await.expect("a database");
    let office = Office::new(config, store, Arc::new(Utc::now)).expect("an office");
    let seated = |name: &str| NamedAddress {
        name: name.to_owned(),
        address: Address::parse(&format!("{name}@club.test")).expect("an address"),
    };
    let new = NewMatch {
        game: GameKind::Quad,
        choices: Default::default(),
        players: BySeat::new(seated("ann"), seated("bo")).map(Holder::Player),
        terms: office.config.terms.clone(),
    };
    let game_match = instruct::open(&office, new).await.expect("the match opens");
    let seats = office.store.seats_of(&[game_match.id]).await.expect("its seats");
    (Arc::new(office), seats[0].token.clone())
}

/// Runs a minimal mail server that reports each letter it takes.
fn taken_by(listener: TcpListener) -> std::sync::mpsc::Receiver<()> {
    let (tell, taken) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let tell = tell.clone();
            std::thread::spawn(move || serve(stream, &tell));
        }
    });
    taken
}

fn serve(stream: TcpStream, tell: &std::sync::mpsc::Sender<()>) {
    let mut out = stream.try_clone().expect("a connection");
    let mut say = |line: &str| out.write_all(format!("{line}\r\n").as_bytes()).is_ok();
    say("220 here");
    let mut in_data = false;
    for line in BufReader::new(stream).lines().map_while(Result::ok) {
        if in_data {
            if line == "." {
                in_data = false;
                let _ = tell.send(()); // The bench may have ended.
                say("250 taken");
            }
        } else if line.starts_with("DATA") {
            in_data = true;
            say("354 go on");
        } else {
            say("250 well");
        }
    }
}

/// An IMAP session on a bare socket, in IDLE.
struct Bare {
    to: TcpStream,
    from: BufReader<TcpStream>,
}

impl Bare {
    fn idle(port: u16) -> Bare {
        let to = TcpStream::connect(("127.0.0.1", port)).expect("it listens");
        let from = BufReader::new(to.try_clone().expect("a connection"));
        let mut bare = Bare { to, from };
        bare.say(&format!("a LOGIN bare {PASSWORD}"), "a OK");
        bare.say("b SELECT INBOX", "b OK");
        bare.say("c IDLE", "+");
        bare
    }

    fn say(&mut self, command: &str, until: &str) {
        self.to.write_all(format!("{command}\r\n").as_bytes()).expect("sent");
        self.read_until(|line| line.starts_with(until));
    }

    fn hear(&mut self) {
        self.read_until(|line| line.ends_with("EXISTS\r\n"));
    }

    fn read_until(&mut self, wish: impl Fn(&str) -> bool) {
        let mut line = String::new();
        while !wish(&line) {
            line.clear();
            assert!(self.from.read_line(&mut line).expect("read") > 0, "the server went away");
        }
    }
}
