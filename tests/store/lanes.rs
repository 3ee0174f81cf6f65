//! Several daemons decide on the letters of one club: those of a match stay in order.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::config::Config;
use fogpost::daemon::loops::upkeep;
use fogpost::daemon::status::{SILENT_AFTER, Status, note};
use fogpost::daemon::{
    GmIndex, Holder, NamedAddress, NewMatch, Office, away, instruct, items, loops, new_letter,
};
use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Seat};
use fogpost::letter::Address;
use fogpost::post::{FetchedLetter, maildir};
use fogpost::store::{Database, NewLetter, open};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::place::{PATIENCE, Place};

const CONFIG: &str = include_str!("../support/club.toml");

/// The squares of one destroyer, all of them legal: each letter of a match names another.
const SQUARES: [&str; 8] = ["O3", "B3", "F3", "H3", "J3", "L3", "N3", "P3"];

fn office(folder: &std::path::Path, store: Arc<Database>, now: DateTime<Utc>) -> Office {
    let config = Config::load(&folder.join("config.toml")).unwrap();
    Office::new(config, store, Arc::new(move || now)).unwrap()
}

fn new_match(office: &Office, number: usize) -> NewMatch {
    let seated = |name: String| NamedAddress {
        address: Address::parse(&format!("{name}@players.example")).unwrap(),
        name,
    };
    let players = BySeat::new(seated(format!("ann{number}")), seated(format!("bo{number}")));
    NewMatch {
        game: GameKind::Pacific,
        choices: GameKind::Pacific.choose([("submarines", "false")]).unwrap(),
        players: players.map(Holder::Player),
        terms: office.config.terms.clone(),
    }
}

/// The setup of the first seat with one destroyer on this square, received as the `n`th.
fn setup(number: usize, token: &str, n: usize, began: DateTime<Utc>) -> NewLetter {
    let raw = format!(
        "From: ann{number}@players.example\r\nTo: referee@club.example\r\nMessage-ID: <{number}.{n}@x>\r\n\r\n\
         CARRIER D2 SQUADRON D3\r\nCARRIER M2 SQUADRON M3\r\nBATTLESHIP A1 B1 O1 P1\r\nCRUISER C1 E1 L1 N1\r\n\
         DESTROYER A3 C3 E3 G3 I3 K3 {}\r\n\r\n> Reply token: {token}\r\n",
        SQUARES[n]
    );
    let (size, received_at) = (raw.len() as u64, began + TimeDelta::milliseconds(n as i64));
    let origin = "a test".to_owned();
    let fetched = FetchedLetter {
        raw: raw.into_bytes(),
        received_at,
        arrivals: Vec::new(),
        origin,
        cut: false,
        size,
        is_spam: false,
    };
    NewLetter { tokens: vec![token.to_owned()], ..new_letter(fetched) }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_letters_of_a_match_stay_in_order_with_three_daemons() {
    let Some(place) = Place::postgres().await else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.toml"), CONFIG).unwrap();
    let now: DateTime<Utc> = "2026-05-07T10:00:00Z".parse().unwrap();
    let first = office(folder.path(), Arc::clone(&place.store), now);
    let second = office(folder.path(), open(&place.url).await.unwrap(), now);
    let third = office(folder.path(), open(&place.url).await.unwrap(), now);
    let new: Vec<NewMatch> = (0..6).map(|number| new_match(&first, number)).collect();
    let opened = instruct::open_all(&first, GmIndex::default(), &new).await.unwrap();
    let ids: Vec<String> = opened.into_iter().map(|game_match| game_match.id).collect();
    let seats = place.store.seats_of(&ids).await.unwrap();
    let mut letters = Vec::new();
    for n in 0..SQUARES.len() {
        for (number, id) in ids.iter().enumerate() {
            let seat = seats.iter().find(|row| row.match_id == *id && row.seat == Seat::First).unwrap();
            letters.push(setup(number, &seat.token, n, now));
        }
    }
    for some in letters.chunks(5) {
        place.store.insert_letters(some).await.unwrap();
    }
    let works = |office| async move {
        let began = Instant::now();
        // Claims that others hold may leave nothing for one daemon at that moment.
        while place_waits(office).await {
            items::settle_all(office).await.unwrap();
            assert!(began.elapsed() < PATIENCE, "letters still wait");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::join!(works(&first), works(&second), works(&third));
    for (number, id) in ids.iter().enumerate() {
        let entries = place.store.entries(id).await.unwrap();
        let sealed = entries.iter().filter(|entry| entry.kind == "OrdersSealed");
        let sealed: Vec<&str> = sealed.map(|entry| entry.json.as_str()).collect();
        let own: Vec<String> =
            (0..SQUARES.len()).map(|n| letters[n * ids.len() + number].digest.to_string()).collect();
        assert_eq!(sealed.len(), own.len(), "{id}");
        assert!(sealed.iter().zip(&own).all(|(json, digest)| json.contains(digest)), "{id}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_match_whose_row_another_session_holds_waits_alone_and_is_named() {
    let Some(place) = Place::postgres().await else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.toml"), CONFIG).unwrap();
    let now: DateTime<Utc> = "2026-05-07T10:00:00Z".parse().unwrap();
    let url = format!("{}&options=-c%20lock_timeout%3D100ms", place.url);
    let first = office(folder.path(), open(&url).await.unwrap(), now);
    let new: Vec<NewMatch> = (0..3).map(|number| new_match(&first, number)).collect();
    let opened = instruct::open_all(&first, GmIndex::default(), &new).await.unwrap();
    let ids: Vec<String> = opened.into_iter().map(|game_match| game_match.id).collect();
    let seats = place.store.seats_of(&ids).await.unwrap();
    let letters = ids.iter().enumerate().map(|(number, id)| {
        let seat = seats.iter().find(|row| row.match_id == *id && row.seat == Seat::First).unwrap();
        setup(number, &seat.token, 0, now)
    });
    place.store.insert_letters(&letters.collect::<Vec<_>>()).await.unwrap();
    let mut psql = PgConnection::connect(&place.url).await.unwrap();
    let hold = format!("BEGIN; SELECT * FROM match WHERE id = '{}' FOR UPDATE", ids[0]);
    sqlx::raw_sql(AssertSqlSafe(hold)).execute(&mut psql).await.unwrap();
    items::settle_all(&first).await.unwrap();
    assert_eq!(first.store.queues().await.unwrap().letters_waiting, 1, "the others do not wait");
    note::note_one_run(&first, true).await.unwrap();
    let (database, quota) = (&first.config.database, &first.config.outbox.quota);
    let status = Status::of(&first.store, database, quota, now, SILENT_AFTER).await.unwrap();
    let named = format!("{} waits, because another session of the database holds a lock", ids[0]);
    assert!(status.faults.contains(&named), "{:?}", status.faults);
    sqlx::raw_sql("ROLLBACK").execute(&mut psql).await.unwrap();
    // Another daemon takes it over, because this one ends.
    first.close().await;
    drop(first);
    let second = office(folder.path(), Arc::clone(&place.store), now);
    let began = Instant::now();
    while place_waits(&second).await {
        items::settle_all(&second).await.unwrap();
        assert!(began.elapsed() < PATIENCE, "the letter still waits");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn letters_that_a_lock_keeps_out_are_no_fault_of_the_mailbox() {
    let Some(place) = Place::postgres().await else { return };
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("config.toml"), CONFIG).unwrap();
    let inbox = folder.path().join("mail/referee");
    maildir::create(&inbox).unwrap();
    maildir::deliver(&inbox, b"From: ann@players.example\r\nTo: referee@club.example\r\n\r\nHELP\r\n")
        .unwrap();
    let began: DateTime<Utc> = "2026-05-07T10:00:00Z".parse().unwrap();
    let url = format!("{}&options=-c%20lock_timeout%3D100ms", place.url);
    let store = open(&url).await.unwrap();
    let mut psql = PgConnection::connect(&place.url).await.unwrap();
    sqlx::raw_sql("BEGIN; LOCK TABLE letter IN SHARE MODE").execute(&mut psql).await.unwrap();
    let minute = Arc::new(AtomicI64::new(0));
    let config = Config::load(&folder.path().join("config.toml")).unwrap();
    let clock = Arc::clone(&minute);
    let now = move || began + TimeDelta::minutes(clock.load(Ordering::Relaxed));
    let office = Office::new(config, Arc::clone(&store), Arc::new(now)).unwrap();
    let now = {
        let office = &office;
        move |at| {
            minute.store(at, Ordering::Relaxed);
            office.now()
        }
    };
    upkeep::digest_when_due(&office, now(-24 * 60)).await.unwrap();
    for at in [0, 4, 8, 16] {
        now(at);
        assert!(loops::once(&office).await.is_err());
        away::tell(&office).await.unwrap();
    }
    let told = store.list_dispatches(false, 10).await.unwrap();
    assert!(told.len() == 1 && told[0].message_id.contains("away."), "{told:?}");
    let (database, quota) = (&office.config.database, &office.config.outbox.quota);
    let status = Status::of(&store, database, quota, office.now(), SILENT_AFTER).await.unwrap();
    let is_named = |words: &str| status.faults.iter().any(|fault| fault.contains(words));
    assert!(is_named("cannot be stored") && !is_named("cannot be read"), "{:?}", status.faults);
    upkeep::digest_when_due(&office, office.now()).await.unwrap();
    let told = store.list_dispatches(false, 10).await.unwrap();
    assert!(told.len() == 2 && told.iter().any(|row| row.message_id.contains(".d.2026-05-07")), "{told:?}");
    sqlx::raw_sql("ROLLBACK").execute(&mut psql).await.unwrap();
    loops::once(&office).await.unwrap();
    assert!(place_waits(&office).await || !store.letters(None, None, "", 10).await.unwrap().is_empty());
}

async fn place_waits(office: &Office) -> bool {
    office.store.queues().await.unwrap().letters_waiting > 0
}
