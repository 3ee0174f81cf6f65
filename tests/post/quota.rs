//! The outbox against a mail server with a quota, as providers have them.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::config::Config;
use fogpost::daemon::instruct;
use fogpost::daemon::status::{SILENT_AFTER, Status};
use fogpost::daemon::{Holder, NamedAddress, NewMatch, Office, sending};
use fogpost::game::BySeat;
use fogpost::game::any::GameKind;
use fogpost::house;
use fogpost::letter::Address;
use fogpost::post::maildir;
use fogpost::referee::DispatchKind;
use fogpost::store::{self, Changes, NewDispatch, Urgency};
use tempfile::TempDir;

use crate::fakes::smtp::{Act, Smtp};
use crate::support::subject;

/// What Gmail says of its daily limit: support.google.com/a/answer/3726730.
pub const GMAIL: &str = "550-5.4.5 Daily user sending limit exceeded. For more information on Gmail\r\n\
                     550 5.4.5 sending limits go to https://support.google.com/a/answer/166852 - gsmtp";

/// What Exchange Online says of its own: learn.microsoft.com, non-delivery reports in Exchange Online.
pub const MICROSOFT: &str =
    "550 5.1.90 Your message can't be sent because you've reached your daily limit for message recipients";

/// GMX gives no enhanced codes: postmaster.gmx.net/en/error-messages.
pub const GMX: &str = "450 Requested mail action not taken: mailbox unavailable. Mail send limit exceeded.";

const START: i64 = 1_800_000_000_000;

/// A clock that the test moves.
#[derive(Clone, Default)]
pub struct Clock(Arc<AtomicI64>);

impl Clock {
    pub fn now(&self) -> DateTime<Utc> {
        DateTime::from_timestamp_millis(START + self.0.load(Ordering::Relaxed)).expect("a time")
    }

    pub fn advance(&self, by: TimeDelta) {
        self.0.fetch_add(by.num_milliseconds(), Ordering::Relaxed);
    }
}

/// A server that takes so many letters an hour, and refuses further ones with `words` at `step`.
async fn limited(per_hour: usize, words: &'static str, step: &'static str, clock: Clock) -> Smtp {
    let quota = HourlyQuota::new(per_hour, clock);
    Smtp::start(move |at, _| if at != step || quota.takes_another() { Act::Proper } else { Act::Say(words) })
        .await
}

/// Counts what a server took within an hour.
pub struct HourlyQuota {
    per_hour: usize,
    clock: Clock,
    taken: Mutex<Vec<DateTime<Utc>>>,
}

impl HourlyQuota {
    pub fn new(per_hour: usize, clock: Clock) -> HourlyQuota {
        HourlyQuota { per_hour, clock, taken: Mutex::default() }
    }

    /// Whether the server takes another letter; if so, it is counted.
    pub fn takes_another(&self) -> bool {
        let now = self.clock.now();
        let mut taken = self.taken.lock().expect("no panic");
        taken.retain(|at| now - *at < TimeDelta::hours(1));
        let is_free = taken.len() < self.per_hour;
        if is_free {
            taken.push(now);
        }
        is_free
    }
}

async fn office(server: &Smtp, clock: &Clock) -> (TempDir, Arc<Office>) {
    let folder = tempfile::tempdir().expect("a folder");
    maildir::create(&folder.path().join("in")).expect("a mailbox");
    let office = open(&folder, server, clock, "", "").await;
    (folder, office)
}

/// Starts the program on a folder, with these keys in the sections `[outbox]` and `[outbox.smtp]`.
pub async fn open(folder: &TempDir, server: &Smtp, clock: &Clock, keys: &str, smtp: &str) -> Arc<Office> {
    let config = format!(
        "[club]\nname = \"Club\"\naddress = \"referee@club.test\"\n[club.gm]\nname = \"GM\"\naddress = \"gm@gm.test\"\n\
         [database]\nurl = \"sqlite:{0}/fogpost.db\"\n[inbox.maildir]\npath = \"{0}/in\"\n\
         [outbox]\n{keys}[outbox.smtp]\nhost = \"127.0.0.1\"\nport = {1}\ntls = \"none\"\nconnections = 1\n{smtp}",
        folder.path().display(),
        server.port
    );
    let config = Config::parse(&config, "config").expect("a config");
    let store = store::open(&config.database.url).await.expect("a database");
    let clock = clock.clone();
    Arc::new(Office::new(config, store, Arc::new(move || clock.now())).expect("an office"))
}

/// Opens a match against the house, so that one letter goes out.
pub async fn invite(office: &Office, number: usize) {
    let address = format!("player{number}@{}.test", ["a", "b", "c", "d"][number % 4]);
    let address = Address::parse(&address).expect("an address");
    let player = Holder::Player(NamedAddress { name: format!("Player {number}"), address });
    let new = NewMatch {
        game: GameKind::Quad,
        choices: Default::default(),
        players: BySeat::new(player, Holder::House(&house::levels(GameKind::Quad)[0])),
        terms: office.config.terms.clone(),
    };
    instruct::open(office, new).await.expect("the match opens");
}

/// Sends until nothing waits, and returns how long that took on the test's clock.
pub async fn send_all(office: &Office, clock: &Clock) -> TimeDelta {
    let begin = clock.now();
    while clock.now() - begin < TimeDelta::hours(48) {
        sending::send_due(office).await.expect("the store answers");
        if office.store.queues().await.expect("the store answers").dispatches_waiting == 0 {
            return clock.now() - begin;
        }
        clock.advance(TimeDelta::minutes(1));
    }
    panic!("letters still wait");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_quota_of_ten_an_hour_sixty_letters_arrive_once_and_the_gm_is_told_once() {
    for (words, step) in [(GMAIL, "RCPT"), (MICROSOFT, "RCPT"), (GMX, "RCPT"), (GMAIL, "MAIL")] {
        let clock = Clock::default();
        let server = limited(10, words, step, clock.clone()).await;
        let (_folder, office) = office(&server, &clock).await;
        for urgency in [Urgency::Announcement, Urgency::Reminder, Urgency::Stranger, Urgency::Notice] {
            queue(&office, &clock, urgency, 0..8).await;
        }
        for number in 0..20 {
            invite(&office, number).await;
        }
        queue(&office, &clock, Urgency::Receipt, 0..8).await;
        sending::send_due(&office).await.expect("the store answers");
        let faults = status(&office, &clock).await.faults;
        assert!(
            faults.iter().any(|fault| fault.contains("the mail server has accepted no letters")),
            "{faults:?}"
        );
        let took = send_all(&office, &clock).await;
        assert!(took <= TimeDelta::hours(8), "{words}: {took}");
        let rows = office.store.list_dispatches(false, 1000).await.expect("the store answers");
        assert_eq!(rows.len(), 61, "{words}: sixty letters, and one to the GM");
        assert!(rows.iter().all(|row| row.sent_at.is_some() && !row.returned), "{words}");
        let seen = server.seen();
        for row in &rows {
            let bears = |letter: &&Vec<u8>| String::from_utf8_lossy(letter).contains(&row.message_id);
            assert_eq!(seen.letters.iter().filter(bears).count(), 1, "{words}: {}", row.message_id);
        }
        let mut order: Vec<Urgency> = seen.letters.iter().map(|letter| urgency_of(letter)).collect();
        // Ten letters were taken before it was written.
        assert_eq!(
            order.remove(10),
            Urgency::Alarm,
            "{words}: the letter to the GM is the first to go again"
        );
        assert!(order.is_sorted(), "{words}: {order:?}");
        let players = office.store.players().await.expect("the store answers");
        assert!(players.iter().all(|player| !player.bouncing), "{words}");
    }
}

/// Returns what `fogpost status` says.
pub async fn status(office: &Office, clock: &Clock) -> Status {
    let (database, quota) = (&office.config.database, &office.config.outbox.quota);
    let status = Status::of(&office.store, database, quota, clock.now(), SILENT_AFTER).await;
    status.expect("the store answers")
}

/// Returns the urgency of a letter that the server took: of an invitation, of the GM's, or what its subject names.
fn urgency_of(letter: &[u8]) -> Urgency {
    let subject = subject(letter);
    let named = (0..).map_while(Urgency::from_repr).find(|urgency| subject == format!("{urgency:?}"));
    let is_to_gm = String::from_utf8_lossy(letter).contains("gm@gm.test>\r\n");
    named.unwrap_or(if is_to_gm { Urgency::Alarm } else { Urgency::Report })
}

/// A letter of some urgency, which its subject names.
fn dispatch(urgency: Urgency, number: u32, recipient: String) -> NewDispatch {
    let message_id = format!("{urgency:?}{number}@club.test");
    let bytes = format!("Message-ID: <{message_id}>\r\nSubject: {urgency:?}\r\n\r\nHello.\r\n").into_bytes();
    NewDispatch {
        message_id,
        recipient,
        bytes,
        kind: DispatchKind::Notice,
        match_id: None,
        seat: None,
        answers: None,
        reminds: None,
        return_id: None,
        due: None,
        replaces: None,
        urgency,
        pin: None,
    }
}

async fn commit(office: &Office, clock: &Clock, dispatches: Vec<NewDispatch>) {
    let changes = Changes { at: clock.now(), dispatches, ..Changes::default() };
    office.store.commit(&changes).await.expect("the store answers");
}

/// Queues letters of some urgency, each to somebody else.
async fn queue(office: &Office, clock: &Clock, urgency: Urgency, numbers: std::ops::Range<u32>) {
    let reader =
        |number: u32| format!("{urgency:?}{number}@{}.test", ["a", "b", "c", "d"][number as usize % 4]);
    let dispatches = numbers.map(|number| dispatch(urgency, number, reader(number))).collect();
    commit(office, clock, dispatches).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_urgent_letter_goes_first_even_if_its_reader_gets_another_one_before() {
    let clock = Clock::default();
    let server = Smtp::start(|_, _| Act::Proper).await;
    let (_folder, office) = office(&server, &clock).await;
    for (urgency, reader) in [
        (Urgency::Announcement, "bo@b.test"),
        (Urgency::Report, "ann@a.test"),
        (Urgency::Receipt, "ann@a.test"),
    ] {
        let dispatches = (0..10).map(|number| dispatch(urgency, number, reader.to_owned())).collect();
        commit(&office, &clock, dispatches).await;
    }
    sending::send_due(&office).await.expect("the store answers");
    let order: Vec<Urgency> = server.seen().letters.iter().map(|letter| urgency_of(letter)).collect();
    assert_eq!(order.len(), 30);
    assert!(order.is_sorted(), "{order:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn within_a_days_limit_the_most_urgent_letters_go_first_and_a_restart_forgets_none() {
    let clock = Clock::default();
    let server = Smtp::start(|_, _| Act::Proper).await;
    let folder = tempfile::tempdir().expect("a folder");
    maildir::create(&folder.path().join("in")).expect("a mailbox");
    let office = open(&folder, &server, &clock, "per_day = 10\n", "").await;
    for urgency in
        [Urgency::Announcement, Urgency::Reminder, Urgency::Stranger, Urgency::Report, Urgency::Receipt]
    {
        queue(&office, &clock, urgency, 0..3).await;
    }
    sending::send_due(&office).await.expect("the store answers");
    assert_eq!(server.seen().letters.len(), 9, "one is kept for alarms");
    let order: Vec<Urgency> = server.seen().letters.iter().map(|letter| urgency_of(letter)).collect();
    let expected =
        [(Urgency::Receipt, 3), (Urgency::Report, 3), (Urgency::Stranger, 1), (Urgency::Reminder, 2)];
    let expected = expected.into_iter().flat_map(|(urgency, number)| std::iter::repeat_n(urgency, number));
    assert_eq!(order, expected.collect::<Vec<_>>());
    office.store.close().await;
    let office = open(&folder, &server, &clock, "per_day = 10\n", "").await;
    sending::send_due(&office).await.expect("the store answers");
    assert_eq!(server.seen().letters.len(), 9);
    queue(&office, &clock, Urgency::Alarm, 0..1).await;
    sending::send_due(&office).await.expect("the store answers");
    assert_eq!(server.seen().letters.len(), 10, "the alarm has a reserve");
    let status = status(&office, &clock).await;
    assert_eq!((status.sent_in_a_day, status.per_day, status.dispatches_waiting), (10, Some(10), 6));
    clock.advance(TimeDelta::hours(23) + TimeDelta::minutes(58));
    sending::send_due(&office).await.expect("the store answers");
    assert_eq!(server.seen().letters.len(), 10);
    clock.advance(TimeDelta::minutes(2));
    sending::send_due(&office).await.expect("the store answers");
    clock.advance(TimeDelta::hours(24));
    sending::send_due(&office).await.expect("the store answers");
    assert_eq!(server.seen().letters.len(), 16);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_limit_for_a_minute_only_delays() {
    let clock = Clock::default();
    let server = Smtp::start(|_, _| Act::Proper).await;
    let folder = tempfile::tempdir().expect("a folder");
    maildir::create(&folder.path().join("in")).expect("a mailbox");
    let office = open(&folder, &server, &clock, "per_minute = 4\n", "").await;
    queue(&office, &clock, Urgency::Report, 0..10).await;
    for expected in [4, 8, 10] {
        sending::send_due(&office).await.expect("the store answers");
        assert_eq!(server.seen().letters.len(), expected);
        clock.advance(TimeDelta::minutes(1));
    }
}
