//! Everything around the daemon fails: the network, the disk, the database, and one letter among good ones.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use sqlx::{Connection as _, SqliteConnection};

use crate::Run;
use crate::club::{Club, Ports, direct};
use crate::people::Person;
use crate::proxy::{Proxy, Trouble};
use crate::servers::Servers;
use crate::settings::seed;
use fogpost_testing::random::Random;

const PATIENCE: Duration = Duration::from_secs(300);

#[test]
fn a_broken_network_loses_and_doubles_nothing() {
    let Some(servers) = Servers::start() else { return };
    let seed = seed();
    let random = Arc::new(Mutex::new(Random::new(seed ^ 1)));
    let imap = {
        let random = Arc::clone(&random);
        move || {
            let mut random = random.lock().expect("no thread panics");
            match random.below(4) {
                0 => Trouble::CutAfter(b"UID FETCH", random.below(6000)),
                1 => Trouble::CutAfter(b"BODY.PEEK", random.below(6000)),
                2 => Trouble::CutAfter(b"UID MOVE", random.below(60)),
                _ => Trouble::CutAfter(b"LOGIN", random.below(20_000)),
            }
        }
    };
    let smtp = move || {
        let mut random = random.lock().expect("no thread panics");
        match random.below(8) {
            // The empty string is part of every address, so this refuses every recipient.
            0 => Trouble::Says { recipient: "", words: "451 4.3.0 try again later" },
            1 => Trouble::Silent,
            // The server gets the whole letter, but its reply is lost, so the letter may arrive twice.
            2 | 3 => Trouble::CutAfter(b"\r\n.\r\n", 0),
            _ => Trouble::CutAfter(b"EHLO", random.below(5000)),
        }
    };
    let (imap, smtp) = (Proxy::to(servers.imap_port, imap), Proxy::to(servers.smtp_port, smtp));
    let ports = Ports { imap: imap.port, smtp: smtp.port };
    let mut run = Run::begin(Club::on_sqlite(&ports), &servers, seed);
    run.play_until(40, PATIENCE);
    let (of_imap, of_smtp) = (imap.connections(), smtp.connections());
    assert!(of_imap.1 > 3 && of_smtp.1 > 3, "{of_imap:?} {of_smtp:?}");
    imap.plan(|| Trouble::None);
    smtp.plan(|| Trouble::None);
    run.end(&format!("a bad network ({} connections cut)", of_imap.1 + of_smtp.1), 0, seed);
}

#[test]
fn the_gm_is_told_of_a_recipient_that_is_refused_permanently() {
    let Some(servers) = Servers::start() else { return };
    let refused = || Trouble::Says { recipient: "bo@club.test", words: "550 5.1.1 no such user" };
    let smtp = Proxy::to(servers.smtp_port, refused);
    let mut club = Club::on_sqlite(&Ports { imap: servers.imap_port, smtp: smtp.port });
    club.open("ann", "bo");
    club.start_all();
    let began = Instant::now();
    let to =
        |name: &str| smtp.taken().iter().filter(|raw| raw.contains(&format!("<{name}@club.test>"))).count();
    while smtp.taken().iter().all(|raw| !raw.contains("have given up")) || to("ann") == 0 {
        assert!(began.elapsed() < PATIENCE, "{:#?}\n{}", smtp.taken(), club.report());
        std::thread::sleep(Duration::from_millis(100));
    }
}

#[test]
fn the_daemon_survives_a_full_disk_and_a_locked_database() {
    let Some(servers) = Servers::start() else { return };
    let seed = seed();
    let mut run = Run::begin(Club::on_sqlite(&direct(&servers)), &servers, seed);
    run.play_until(20, PATIENCE);
    // Stop the daemon's files from growing: to the daemon, that is a full disk.
    let log = run.club.path("fogpost.db-wal");
    limit_files(run.club.pid(0), &size(&log).to_string());
    run.play_until_log_says(&["full", "disk"], PATIENCE);
    assert!(run.club.is_running(0), "{}", run.club.report());
    limit_files(run.club.pid(0), "unlimited");
    run.play_until(20, PATIENCE);
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut other = runtime.block_on(SqliteConnection::connect(&run.club.url)).expect("the database");
    runtime.block_on(sqlx::query("BEGIN IMMEDIATE").execute(&mut other)).expect("it is ours");
    run.play_until_log_says(&["locked"], PATIENCE);
    runtime.block_on(sqlx::query("ROLLBACK").execute(&mut other)).expect("it is free");
    run.play_until(20, PATIENCE);
    run.end("a full disk and a locked database", 0, seed);
}

fn size(file: &Path) -> u64 {
    fs::metadata(file).expect("it is there").len()
}

/// Limits the size of the files that a process writes.
fn limit_files(pid: u32, bytes: &str) {
    let limit =
        Command::new("prlimit").args(["--pid", &pid.to_string(), &format!("--fsize={bytes}:")]).status();
    assert!(limit.expect("prlimit is in util-linux").success());
}

#[test]
fn the_daemons_survive_restarts_of_the_database_server() {
    let Some(servers) = Servers::start() else { return };
    let Some(club) = Club::on_postgres(&direct(&servers), 3) else { return };
    let seed = seed();
    let mut run = Run::begin(club, &servers, seed);
    for _ in 0..3 {
        run.play_until(15, PATIENCE);
        run.club.cluster.as_ref().expect("it is on PostgreSQL").restart();
    }
    run.play_until(15, PATIENCE);
    run.end("a database server that was restarted three times", 0, seed);
}

/// A word in a letter that makes the club's own template for answers fail.
const POISON: &str = "POISON";

#[test]
fn a_letter_that_cannot_be_ruled_on_is_set_aside_and_blocks_nobody() {
    let Some(servers) = Servers::start() else { return };
    let seed = seed();
    let club = Club::on_sqlite(&direct(&servers));
    let ours = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("templates/match/answer.txt"));
    let (subject, body) = ours.as_deref().expect("a template").split_once("\n\n").expect("a subject");
    let stumble = format!(
        "{{% for remark in answer.remarks %}}{{% if \"{POISON}\" in remark %}}{{{{ remark.x.y }}}}{{% endif %}}{{% endfor %}}"
    );
    fs::create_dir(club.path("templates/match")).expect("a folder");
    fs::write(club.path("templates/match/answer.txt"), format!("{subject}\n\n{stumble}\n{body}"))
        .expect("a template");
    let mut run = Run::begin(club, &servers, seed);
    run.play_until(10, PATIENCE);
    let mut people = run.tables.iter().flat_map(|table| &table.people);
    let writer = people.find(|person| person.has_mail()).expect("whoever sent a letter had one to answer");
    let poison = writer.ask(&servers, &format!("STATUS\r\n{POISON}"));
    run.sent.poisoned.insert(poison);
    run.play_until(20, PATIENCE);
    let mut gm = Person::new("gm".to_owned());
    let mut told = false;
    let began = Instant::now();
    while !told {
        run.go_round();
        gm.read_all(&servers, |_, raw| told |= String::from_utf8_lossy(raw).contains("was set aside"));
        assert!(began.elapsed() < PATIENCE, "{}", run.club.report());
    }
    run.end("a letter that cannot be ruled on", 0, seed);
}
