//! The post office beside the plainest tools: letters sent a second beside Postfix's `smtp-source`, and the time from
//! a letter's delivery to its batch beside a bare socket that idles. `cargo bench --bench post [send|idle]`.

#[path = "../tests/servers/mod.rs"]
#[allow(dead_code)] // It is shared with the tests, which need more of it.
mod servers;

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use fogpost::post::inbox::Inbox;
use fogpost::post::outbox::{Outbox, Outgoing, Settings};
use fogpost::post::{Batch, Health, Secret, Stop, Tls, imap, smtp};
use tokio::runtime::Runtime;
use tokio::sync::{mpsc, watch};

use servers::{PASSWORD, Servers};

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
}

/// Each tool in turn, so that a busy machine is as hard on the one as on the other.
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
    let settings = smtp::Settings {
        port: Some(port),
        tls: Tls::None,
        connections: CONNECTIONS,
        ..smtp::Settings::to("127.0.0.1")
    };
    let out = Arc::new(Outbox::new(Settings::Smtp(settings)).expect("nothing to read"));
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

/// A letter is delivered by LMTP; how long until the batch is here, and until a bare socket hears of it?
fn idle(runtime: &Runtime) {
    let servers = Servers::dovecot().expect("a Dovecot");
    let settings = imap::Settings {
        port: Some(servers.imap_port),
        tls: Tls::None,
        ..imap::Settings::of("127.0.0.1", "gm", Secret::new(PASSWORD))
    };
    let (to, mut batches) = mpsc::channel::<Batch>(1);
    let (_stopper, stop) = Stop::new();
    let (tell, mut health) = watch::channel(Health::default());
    runtime.spawn(Inbox::Imap(settings).run(to, stop, tell));
    runtime.block_on(health.wait_for(|health| health.last_ok.is_some())).expect("it runs");
    let mut bare = Bare::idle(servers.imap_port);
    let (mut plain, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..IDLE_LETTERS {
        std::thread::sleep(Duration::from_millis(100));
        plain.push(since_delivery(&servers, "bare@club.test", || bare.hear()));
        ours.push(since_delivery(&servers, "gm@club.test", || {
            let batch = runtime.block_on(batches.recv()).expect("it runs");
            let _ = batch.stored.send(());
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

/// A session that does nothing but idle.
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

/// A server that takes every letter and forgets it.
struct Sink {
    child: Child,
    port: u16,
}

impl Sink {
    fn start() -> Sink {
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let port = free.expect("a free port").port();
        let mut command = Command::new("smtp-sink");
        // As root it must be told whom to become.
        if std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0) {
            command.args(["-u", "nobody"]);
        }
        let child = command.args([&format!("127.0.0.1:{port}"), "1000"]).stderr(Stdio::null()).spawn();
        let sink = Sink { child: child.expect("smtp-sink, which comes with Postfix"), port };
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            std::thread::sleep(Duration::from_millis(10));
        }
        sink
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}
