//! The crash harness: whatever breaks, no letter is lost and nothing is done twice. Daemons run as processes between
//! Dovecot, Postfix and correspondents who answer; they are killed at random moments, or everything around them fails.
//!
//! FOGPOST_KILLS sets the number of kills (300 in a full run), FOGPOST_SEED repeats the random choices of a failed run,
//! and FOGPOST_BIN names another build of the program. `cargo test --test crash -- --nocapture` shows the
//! summaries.

mod club;
mod events;
mod faults;
mod hostile;
mod people;
#[path = "../support/place.rs"]
#[allow(dead_code, reason = "shared with the tests of the store, which use more of it")]
mod place;
mod proxy;
mod reckoning;
mod refusing;
#[path = "../servers/mod.rs"]
#[allow(dead_code, reason = "shared with the tests of the post room, which use more of it")]
mod servers;
mod settings;

use std::time::{Duration, Instant};

use crate::club::{Club, Ports, direct};
use crate::people::{Person, Sent, Table};
use crate::reckoning::{Reckoning, wait_until_done};
use crate::refusing::RefusingServer;
use crate::servers::Servers;
use crate::settings::{kills, seed};
use fogpost_testing::random::Random;

/// Matches played at a time.
const TABLES: usize = 8;

/// A run: the correspondents play while something fails; at the end, everything is counted.
struct Run<'a> {
    club: Club,
    servers: &'a Servers,
    tables: Vec<Table>,
    /// Those who have written hostile letters.
    strangers: Vec<Person>,
    sent: Sent,
    random: Random,
}

impl<'a> Run<'a> {
    fn begin(mut club: Club, servers: &'a Servers, seed: u64) -> Self {
        club.start_all();
        let tables = (0..TABLES).map(|number| Table::open(number, &club)).collect();
        let (strangers, sent) = (Vec::new(), Sent::default());
        Run { club, servers, tables, strangers, sent, random: Random::new(seed) }
    }

    /// Lets everybody read and answer once. Replaces each match that is over by a new one.
    fn go_round(&mut self) {
        for table in &mut self.tables {
            table.go_round(self.servers, &mut self.sent, &mut self.random);
        }
        let over = self.tables.iter().filter(|table| table.is_over()).count();
        if self.tables.len() - over < TABLES {
            self.tables.push(Table::open(self.tables.len(), &self.club));
        }
        std::thread::sleep(Duration::from_millis(20));
    }

    fn play_for(&mut self, time: Duration) {
        let began = Instant::now();
        while began.elapsed() < time {
            self.go_round();
        }
    }

    /// Plays until the correspondents have sent this many more letters.
    fn play_until(&mut self, letters: usize, patience: Duration) {
        let (until, began) = (self.sent.letters.len() + letters, Instant::now());
        while self.sent.letters.len() < until {
            self.go_round();
            assert!(
                began.elapsed() < patience,
                "{} letters\n{}",
                self.sent.letters.len(),
                self.club.report()
            );
        }
    }

    /// Plays until the daemons log one of these words.
    fn play_until_log_says(&mut self, words: &[&str], patience: Duration) {
        let (before, began) = (self.club.log().len(), Instant::now());
        // A character may be half written. Then the log is not UTF-8 and reads as empty.
        while !words.iter().any(|word| self.club.log().get(before..).unwrap_or_default().contains(word)) {
            self.go_round();
            assert!(began.elapsed() < patience, "{words:?} are not in the log\n{}", self.club.report());
        }
    }

    /// A random duration between these numbers of milliseconds.
    fn a_while(&mut self, least: usize, most: usize) -> Duration {
        Duration::from_millis((least + self.random.below(most - least)) as u64)
    }

    /// Plays until a new letter arrives, but for eight seconds at most.
    fn play_on(&mut self) {
        let came = |run: &Run| -> usize {
            run.tables.iter().flat_map(|table| &table.people).map(|person| person.came.len()).sum()
        };
        let (before, began) = (came(self), Instant::now());
        while came(self) == before && began.elapsed() < Duration::from_secs(8) {
            self.go_round();
        }
    }

    /// Kills a random daemon and restarts it, again and again: mostly during its work, sometimes during its start.
    /// Hostile letters come all the while.
    fn kill(&mut self, times: u64) {
        for _ in 0..times {
            for _ in 0..self.random.below(4) {
                self.strangers.push(hostile::send(self.servers, &mut self.sent, &mut self.random));
            }
            let one = self.random.below(self.club.daemons());
            if !self.random.once_in(6) {
                self.play_on();
            }
            let alive = self.a_while(0, 1500);
            self.play_for(alive);
            self.club.kill(one);
            if self.club.daemons() > 1 {
                let gone = self.a_while(0, 1000);
                self.play_for(gone);
            }
            self.club.start(one);
        }
    }

    /// Makes due what waits for its next attempt.
    fn retry_all_now(&self) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(async {
            let store = fogpost::store::open(&self.club.url).await.expect("the store opens");
            store.retry_deferred(chrono::Utc::now(), chrono::Utc::now()).await.expect("the store answers");
            store.close().await;
        });
    }

    /// Lets everything in flight arrive, then counts.
    fn end(mut self, what: &str, kills: u64, seed: u64) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        runtime.block_on(wait_until_done(&self.club, self.servers, &self.sent));
        let reckoning = runtime.block_on(Reckoning::of(
            &self.club,
            self.servers,
            &mut self.tables,
            &mut self.strangers,
            &self.sent,
        ));
        reckoning.tell(what, kills, seed);
        assert!(reckoning.turns > 0, "nobody has played");
    }
}

#[test]
fn killing_a_daemon_on_sqlite_loses_and_doubles_nothing() {
    let Some(servers) = Servers::start() else { return };
    let (kills, seed) = (kills(), seed());
    let mut run = Run::begin(Club::on_sqlite(&direct(&servers)), &servers, seed);
    run.kill(kills);
    run.end("SQLite", kills, seed);
}

#[test]
fn killing_any_of_three_daemons_on_postgresql_loses_and_doubles_nothing() {
    let Some(servers) = Servers::start() else { return };
    let Some(club) = Club::on_postgres(&direct(&servers), 3) else { return };
    let (kills, seed) = (kills(), seed());
    let mut run = Run::begin(club, &servers, seed);
    run.kill(kills);
    run.end("three daemons on PostgreSQL", kills, seed);
}

#[test]
fn killing_a_daemon_whose_server_refuses_at_random_loses_and_doubles_nothing() {
    let Some(servers) = Servers::start() else { return };
    let (kills, seed) = (kills(), seed());
    let server = RefusingServer::before(servers.smtp_port, seed ^ 2);
    let ports = Ports { smtp: server.port, ..direct(&servers) };
    let mut run = Run::begin(Club::on_sqlite(&ports), &servers, seed);
    run.kill(kills);
    server.take_everything();
    // A letter that was refused several times would wait for many minutes.
    run.retry_all_now();
    assert!(server.refused() > 0);
    run.end(&format!("a server that refused {} times", server.refused()), kills, seed);
}
