//! What strangers cannot use up: the daemon's memory, and the connections to its monitoring pages.

use std::fs;
use std::io::Read as _;
use std::net::{TcpListener, TcpStream};

use fogpost::post::maildir;

use super::club::{CONFIG, Club, Daemon};
use super::service::get;
use super::worst_letters::SHAPES;
use super::{Folder, assert_says};

/// Maximum memory of a daemon, whatever arrives.
const MAX_MEMORY_MB: usize = 300;

fn peak_mb(daemon: &Daemon) -> usize {
    let status = fs::read_to_string(format!("/proc/{}/status", daemon.pid())).expect("it runs");
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB"));
    peak.and_then(|kb| kb.parse::<usize>().ok()).expect("a number") / 1000
}

#[test]
fn a_batch_of_the_worst_letters_takes_little_memory() {
    const LETTERS: usize = 10;
    let club = Club::new();
    for (number, (_, build)) in SHAPES.iter().take(LETTERS).enumerate() {
        // From different senders, so that none of them has to wait for another.
        let raw = build();
        let rest = raw.strip_prefix(b"From: Eve <eve").expect("they begin alike");
        let raw = [format!("From: Eve <eve{number}").as_bytes(), rest].concat();
        maildir::deliver(&club.mailbox(), &raw).expect("delivered");
    }
    let daemon = club.start();
    let is_done = || {
        let filed = fs::read_dir(club.mailbox().join(".Processed/cur")).map(Iterator::count).unwrap_or(0);
        let status: serde_json::Value =
            serde_json::from_slice(&club.run(&["status", "--json"]).stdout).expect("JSON");
        filed == LETTERS && status["letters_waiting"] == 0
    };
    club.wait_for("the letters to be read", is_done);
    let peak = peak_mb(&daemon);
    assert!(peak <= MAX_MEMORY_MB, "{peak} MB\n{}", club.report());
    assert_eq!(daemon.stop(&club), Some(0));
}

#[test]
fn idle_connections_to_the_monitoring_pages_are_closed() {
    let port = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("bound").port();
    let club = Club::with(&format!("{CONFIG}[status]\nlisten = \"127.0.0.1:{port}\"\n"));
    let daemon = club.start();
    club.wait_for("the pages", || get(port, "/health").is_some());
    // Connections that the system has accepted and the program has not yet have no inode (proc_pid_net(5)).
    let served = || {
        let table = fs::read_to_string("/proc/net/tcp").expect("Linux");
        let rows = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        let is_served =
            |row: &Vec<&str>| row[1].ends_with(&format!(":{port:04X}")) && row[3] == "01" && row[9] != "0";
        rows.skip(1).filter(is_served).count()
    };
    // A connection that ends at the limit makes room for two.
    club.wait_for("the first connections to end", || served() == 0);
    let connect = |_| TcpStream::connect(("127.0.0.1", port)).expect("the system accepts it");
    let mut idle: Vec<TcpStream> = (0..100).map(connect).collect();
    club.wait_for("as many connections as are allowed", || served() == 64);
    assert!(served() <= 64, "at most 64 at a time");
    assert!(get(port, "/health").is_some(), "those before it end");
    for connection in &mut idle {
        assert_eq!(connection.read(&mut [0]).expect("it is closed"), 0);
    }
    assert_eq!(daemon.stop(&club), Some(0));
}

#[test]
fn doctor_warns_of_monitoring_pages_that_others_may_reach() {
    for (address, is_reachable) in [("127.0.0.1:9118", false), ("[::1]:9118", false), ("0.0.0.0:9118", true)]
    {
        let folder = Folder::club();
        folder.write("config.toml", &format!("{CONFIG}[status]\nlisten = \"{address}\"\n"));
        let said = folder.run(&["doctor"]).success();
        assert_eq!(said.contains("WARN  status"), is_reachable, "{said}");
        if is_reachable {
            assert_says(&said, &["whoever reaches 0.0.0.0:9118 can read", "use 127.0.0.1:9118"]);
        }
    }
}
