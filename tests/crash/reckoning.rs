//! The count at the end of a run: nothing may be lost, and nothing done twice.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use fogpost::game::Seat;
use fogpost::ledger::{Entry, Fact, adjudications};
use fogpost::referee::DispatchKind;
use fogpost::store::{self, Database, DispatchRow};
use sqlx::{Connection as _, PgConnection, SqliteConnection};

use crate::club::Club;
use crate::people::{Person, Sent, Table};
use crate::servers::Servers;

/// How long the last letters may be in flight.
const PATIENCE: Duration = Duration::from_secs(300);

/// The result of a run.
#[derive(Debug, Default)]
pub struct Reckoning {
    pub letters: usize,
    pub copies: usize,
    pub hostile: usize,
    pub turns: usize,
    pub reports: usize,
    /// Letters to players that arrived more than once, always under the same Message-ID.
    pub repeats: usize,
    pub losses: Vec<String>,
    pub doubles: Vec<String>,
}

/// The Message-ID of a letter, its status, why, and the number of its answers.
type Answered = (String, String, String, i64);

const ANSWERED: &str = "SELECT l.message_id, l.status, l.note, COUNT(d.id) FROM letter l \
                        LEFT JOIN dispatch d ON d.answers = l.digest GROUP BY l.id, l.message_id, l.status, l.note";

async fn answered(url: &str) -> Vec<Answered> {
    if url.starts_with("sqlite:") {
        let mut connection = SqliteConnection::connect(url).await.expect("the database");
        let sound: String =
            sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await.expect("a check");
        assert_eq!(sound, "ok", "the database is sound");
        sqlx::query_as(ANSWERED).fetch_all(&mut connection).await.expect("the letters")
    } else {
        let mut connection = PgConnection::connect(url).await.expect("the database");
        sqlx::query_as(ANSWERED).fetch_all(&mut connection).await.expect("the letters")
    }
}

/// Waits until all letters are settled, and all answers are sent.
pub async fn wait_until_done(club: &Club, servers: &Servers, sent: &Sent) {
    let store = store::open(&club.url).await.expect("the store opens");
    let began = Instant::now();
    loop {
        let queues = store.queues().await.expect("the store answers");
        let here = servers.letters("referee", "INBOX").len();
        let kept: BTreeSet<String> = answered(&club.url).await.into_iter().map(|(id, ..)| id).collect();
        let missing = sent.letters.union(&sent.hostile).filter(|id| !kept.contains(*id)).count();
        if (queues.letters_waiting, queues.dispatches_waiting, here, missing) == (0, 0, 0, 0) {
            break;
        }
        assert!(
            began.elapsed() < PATIENCE,
            "{queues:?}, {here} in the mailbox, {missing} not stored\n{}",
            club.report()
        );
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    store.close().await;
}

impl Reckoning {
    /// Counts what happened at all tables, after their players have read their mail.
    pub async fn of(
        club: &Club,
        servers: &Servers,
        tables: &mut [Table],
        strangers: &mut [Person],
        sent: &Sent,
    ) -> Reckoning {
        let mut reckoning = Reckoning {
            letters: sent.letters.len(),
            copies: sent.copies,
            hostile: sent.hostile.len(),
            ..Reckoning::default()
        };
        reckoning.letters(&answered(&club.url).await, sent);
        let store = store::open(&club.url).await.expect("the store opens");
        let dispatches = store.list_dispatches(false, u32::MAX).await.expect("the store answers");
        let began = Instant::now();
        // The last letters may still be in the mail server's queue.
        loop {
            let people = tables.iter().flat_map(|table| &table.people).chain(&*strangers);
            let came: BTreeMap<String, &Person> = people.map(|person| (person.address(), person)).collect();
            let has_come = |row: &DispatchRow| {
                let reader = came.get(&row.recipient);
                reader.is_none_or(|reader| reader.came.contains_key(&row.message_id))
            };
            let all = dispatches.iter().all(has_come);
            if all || began.elapsed() > PATIENCE {
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
            tables.iter_mut().for_each(|table| table.read(servers));
            strangers.iter_mut().for_each(|stranger| stranger.read_all(servers, |_, _| ()));
        }
        for stranger in &*strangers {
            reckoning.mail_of(stranger, &dispatches);
        }
        for table in &*tables {
            reckoning.turns_of(table, &store, &dispatches).await;
            for person in &table.people {
                reckoning.mail_of(person, &dispatches);
            }
        }
        store.close().await;
        reckoning.ledgers(club);
        reckoning
    }

    /// Checks that every letter is stored, and answered once; a hostile one once at most.
    fn letters(&mut self, kept: &[Answered], sent: &Sent) {
        let mut answers: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
        for (id, status, note, count) in kept {
            if sent.hostile.contains(id) {
                if !matches!(status.as_str(), "answered" | "automatic" | "ignored") || *count > 1 {
                    self.losses
                        .push(format!("hostile letter {id} is {status} ({note}), with {count} answers"));
                }
                continue;
            }
            match (status.as_str(), sent.poisoned.contains(id)) {
                ("repeated", _) | ("set_aside", true) if *count == 0 => {}
                ("ruled", false) => answers.entry(id).or_default().push(*count),
                (status, _) => self.losses.push(format!("letter {id} is {status}, with {count} answers")),
            }
        }
        for id in &sent.letters {
            match answers.get(id.as_str()).map(Vec::as_slice) {
                Some([1]) => {}
                Some([0]) | None => self.losses.push(format!("letter {id} was not answered")),
                Some(more) => self.doubles.push(format!("letter {id} was answered {more:?} times")),
            }
        }
    }

    /// Checks that every turn with orders was decided once, and that each seat has a report of each decision.
    async fn turns_of(&mut self, table: &Table, store: &Database, dispatches: &[DispatchRow]) {
        let rows = store.entries(&table.id).await.expect("the store answers");
        let entries: Vec<Entry> =
            rows.iter().map(|row| serde_json::from_str(&row.json).expect("an entry")).collect();
        let decided: Vec<usize> = adjudications(&entries).iter().map(|(_, turn, _)| *turn as usize).collect();
        let moved: BTreeSet<usize> =
            table.people.iter().flat_map(|person| person.moved.iter().copied()).collect();
        self.turns += moved.len();
        for turn in &moved {
            match decided.iter().filter(|other| *other == turn).count() {
                1 => {}
                0 => self.losses.push(format!("turn {turn} of {} was not decided", table.id)),
                _ => self.doubles.push(format!("turn {turn} of {} was decided twice", table.id)),
            }
        }
        // A resignation ends the match with one more report.
        let closed = entries.iter().filter(|entry| matches!(entry.fact, Fact::MatchClosed { .. })).count();
        let due = decided.len() + closed;
        for seat in Seat::BOTH {
            let of = |row: &&DispatchRow| row.match_id.as_ref() == Some(&table.id) && row.seat == Some(seat);
            let reports = dispatches.iter().filter(of).filter(|row| row.kind == DispatchKind::Report).count();
            self.reports += reports;
            let told = format!("{} has {reports} reports for {seat} of {due}", table.id);
            match reports.cmp(&due) {
                Ordering::Less => self.losses.push(told),
                Ordering::Equal => {}
                Ordering::Greater => self.doubles.push(told),
            }
        }
    }

    /// Checks that each dispatch to this person arrived, and nothing else did.
    fn mail_of(&mut self, person: &Person, dispatches: &[DispatchRow]) {
        let address = person.address();
        let written: BTreeSet<&String> =
            dispatches.iter().filter(|row| row.recipient == address).map(|row| &row.message_id).collect();
        for id in &written {
            match person.came.get(*id) {
                None => self.losses.push(format!("{id} did not arrive at {address}")),
                Some(times) => self.repeats += times - 1,
            }
        }
        let odd = person.came.keys().filter(|id| !written.contains(id));
        self.doubles.extend(odd.map(|id| format!("{id} arrived at {address}, but no dispatch has this ID")));
    }

    /// Checks that every ledger verifies.
    fn ledgers(&mut self, club: &Club) {
        let verified = club.run(&["audit", "verify", "--all"]);
        if !verified.status.success() {
            self.losses.push(String::from_utf8_lossy(&verified.stdout).into_owned());
        }
    }

    /// Prints the summary; fails if anything was lost or done twice.
    pub fn tell(&self, what: &str, kills: u64, seed: u64) {
        let Reckoning { letters, copies, hostile, turns, reports, repeats, losses, doubles } = self;
        println!(
            "{what}: kills {kills}, letters {letters} (and {copies} copies), hostile letters {hostile}, turns {turns}, reports {reports}, \
             repeats {repeats}, losses {}, doubles {} (seed {seed})",
            losses.len(),
            doubles.len()
        );
        assert!(losses.is_empty() && doubles.is_empty(), "{losses:#?} {doubles:#?}");
    }
}
