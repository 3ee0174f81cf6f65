//! Settlements, matches, ledgers and players, on every database.

use std::collections::BTreeSet;
use std::sync::Arc;

use fogpost::game::Seat;
use fogpost::referee::Stage;
use fogpost::store::{
    Changes, Database, EntryRow, LetterStatus, MatchDates, NewDispatch, SendOutcome, StoreError, TokenRow,
    open,
};

use crate::place::Place;
use crate::samples::*;

pub async fn five_hundred_letters_are_settled_in_one_transaction(place: Place) {
    let store = &place.store;
    let letters = letters(0..500);
    assert_eq!(store.insert_letters(&letters).await.unwrap(), 500);
    let ids: Vec<String> = (0..500).map(|number| format!("QZ-{number:04}")).collect();
    let whole = |version: i64| Changes {
        at: at(1),
        decided: Vec::new(),
        matches: ids.iter().map(|id| match_row(id, version)).collect(),
        seats: Vec::new(),
        entries: ids.iter().map(|id| entry(id, version as u64 + 1)).collect(),
        dispatches: Vec::new(),
        ..changes()
    };
    store.commit(&whole(0)).await.unwrap();
    let second = Changes {
        decided: letters.iter().map(|letter| decided(letter, LetterStatus::Ruled)).collect(),
        dispatches: (0..500).map(dispatch).collect(),
        ..whole(1)
    };
    store.commit(&second).await.unwrap();
    assert!(waiting(store).await.is_empty());
    let matches = store.matches(&ids).await.unwrap();
    assert!(matches.iter().all(|row| row.version == 2 && row.snapshot == "{\"version\":1}"));
    assert_eq!(matches.len(), 500);
    assert_eq!(store.entries("QZ-0499").await.unwrap(), [entry("QZ-0499", 1), entry("QZ-0499", 2)]);
    assert_eq!(store.queues().await.unwrap().dispatches_waiting, 500);
}

pub async fn a_stale_match_rolls_the_changes_back(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA", "QZ-BBBB"]).await;
    store.commit(&Changes { matches: vec![match_row("QZ-BBBB", 1)], ..changes() }).await.unwrap();
    store.insert_letters(&letters(0..1)).await.unwrap();
    let late = Changes {
        decided: vec![decided(&letter(0), LetterStatus::Ruled)],
        matches: vec![match_row("QZ-CCCC", 0), match_row("QZ-AAAA", 1), match_row("QZ-BBBB", 1)],
        entries: vec![entry("QZ-AAAA", 1)],
        dispatches: vec![dispatch(1)],
        ..changes()
    };
    let error = store.commit(&late).await.unwrap_err();
    assert!(matches!(&error, StoreError::Stale(what) if what == "match QZ-BBBB"), "{error}");
    assert_eq!(error.to_string(), "match QZ-BBBB has changed since it was loaded");
    assert!(error.is_transient());
    assert_eq!(waiting(store).await, [letter(0).digest]);
    assert_eq!(store.matches(&["QZ-AAAA".to_owned()]).await.unwrap(), [match_row_stored("QZ-AAAA", 1, 0)]);
    assert!(store.matches(&["QZ-CCCC".to_owned()]).await.unwrap().is_empty());
    assert!(store.entries("QZ-AAAA").await.unwrap().is_empty());
    assert!(store.list_dispatches(false, 10).await.unwrap().is_empty());
}

/// The match as the store returns it at `version`, when it was last committed with [`match_row`] of the version `from`.
fn match_row_stored(id: &str, version: i64, from: i64) -> fogpost::store::MatchRow {
    fogpost::store::MatchRow { version, ..match_row(id, from) }
}

pub async fn a_new_match_with_a_taken_id_is_stale(place: Place) {
    add_matches(&place.store, &["QZ-AAAA"]).await;
    let twice = Changes { matches: vec![match_row("QZ-AAAA", 0)], ..changes() };
    let error = place.store.commit(&twice).await.unwrap_err();
    assert!(matches!(error, StoreError::Stale(what) if what == "match QZ-AAAA"));
    let unknown = Changes { matches: vec![match_row("QZ-BBBB", 3)], ..changes() };
    let error = place.store.commit(&unknown).await.unwrap_err();
    assert!(matches!(error, StoreError::Stale(what) if what == "match QZ-BBBB"));
}

pub async fn a_match_twice_in_changes_is_refused(place: Place) {
    let twice = Changes { matches: vec![match_row("QZ-AAAA", 0), match_row("QZ-AAAA", 0)], ..changes() };
    let error = place.store.commit(&twice).await.unwrap_err();
    assert_eq!(error.to_string(), "the database is not sound: match QZ-AAAA is twice in one commit");
}

pub async fn entries_must_follow_one_another_without_gaps(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA"]).await;
    let add = async |numbers: &[u64]| {
        let entries = numbers.iter().map(|seq| entry("QZ-AAAA", *seq)).collect();
        store.commit(&Changes { entries, ..changes() }).await
    };
    assert!(!add(&[2]).await.unwrap_err().is_transient());
    add(&[1, 3]).await.unwrap_err();
    assert!(store.entries("QZ-AAAA").await.unwrap().is_empty());
    add(&[1, 2, 3]).await.unwrap();
    add(&[3]).await.unwrap_err();
    add(&[5]).await.unwrap_err();
    add(&[4]).await.unwrap();
    let numbers: Vec<u64> = store.entries("QZ-AAAA").await.unwrap().iter().map(|entry| entry.seq).collect();
    assert_eq!(numbers, [1, 2, 3, 4]);
    let orphan = Changes { entries: vec![entry("QZ-ZZZZ", 1)], ..changes() };
    assert!(!store.commit(&orphan).await.unwrap_err().is_transient());
}

pub async fn history_cannot_be_changed_or_deleted(place: Place) {
    let store = &place.store;
    store.insert_letters(&letters(0..1)).await.unwrap();
    add_matches(store, &["QZ-AAAA"]).await;
    let sent = NewDispatch {
        match_id: Some("QZ-AAAA".to_owned()),
        seat: Some(Seat::First),
        answers: Some(letter(0).digest),
        due: None,
        replaces: None,
        ..dispatch(0)
    };
    let entries = vec![entry("QZ-AAAA", 1)];
    store.commit(&Changes { entries, dispatches: vec![sent], ..changes() }).await.unwrap();
    let (claimed, claim) = store.claim_dispatches(at(1), 10).await.unwrap();
    store.record_outcomes(claim, at(1), &[(claimed[0].id, SendOutcome::Taken)]).await.unwrap();
    for (sql, what) in [
        ("UPDATE entry SET json = '{}'", "an entry is never changed"),
        ("DELETE FROM entry", "an entry is never deleted"),
        ("UPDATE letter_raw SET bytes = bytes", "a letter is never changed"),
        ("DELETE FROM letter_raw", "a letter is never deleted"),
        ("UPDATE letter SET digest = digest", "a letter is never changed"),
        ("UPDATE letter SET received_at = 0", "a letter is never changed"),
        ("UPDATE letter SET origin = 'here'", "a letter is never changed"),
        ("UPDATE letter SET message_id = 'other@here.test'", "a letter is never changed"),
        ("UPDATE letter SET sender = 'me@here.test'", "a letter is never changed"),
        ("UPDATE letter SET subject = 'Other'", "a letter is never changed"),
        ("UPDATE letter SET size = 0", "a letter is never changed"),
        ("UPDATE letter SET sent_as = NULL", "a letter is never changed"),
        ("DELETE FROM letter", "a letter is never deleted"),
        ("UPDATE dispatch_raw SET bytes = bytes", "a dispatch is never changed"),
        ("DELETE FROM dispatch_raw", "a dispatch is never deleted"),
        ("UPDATE dispatch SET message_id = 'other@club.test'", "a dispatch is never changed"),
        ("UPDATE dispatch SET recipient = 'me@here.test'", "a dispatch is never changed"),
        ("UPDATE dispatch SET kind = 'notice'", "a dispatch is never changed"),
        ("UPDATE dispatch SET match_id = NULL", "a dispatch is never changed"),
        ("UPDATE dispatch SET seat = 'second'", "a dispatch is never changed"),
        ("UPDATE dispatch SET answers = NULL", "a dispatch is never changed"),
        ("UPDATE dispatch SET created_at = 0", "a dispatch is never changed"),
        ("UPDATE dispatch SET sent_at = sent_at - 60000", "a dispatch is sent once"),
        ("UPDATE dispatch SET sent_at = NULL", "a dispatch is sent once"),
        ("DELETE FROM dispatch", "a dispatch is never deleted"),
    ] {
        let error = place.execute(sql).await.expect_err(sql);
        assert!(error.to_string().contains(what), "{sql}: {error}");
    }
    assert_eq!(store.entries("QZ-AAAA").await.unwrap(), [entry("QZ-AAAA", 1)]);
    assert_eq!(store.letter(letter(0).digest).await.unwrap(), Some(letter(0).raw));
}

pub async fn only_one_of_two_concurrent_changes_is_committed(place: Place) {
    add_matches(&place.store, &["QZ-AAAA", "QZ-BBBB"]).await;
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..8 {
        let store = Arc::clone(&place.store);
        let mut matches = vec![match_row("QZ-AAAA", 1), match_row("QZ-BBBB", 1)];
        if number % 2 == 0 {
            matches.reverse();
        }
        let whole = Changes {
            matches,
            entries: vec![entry("QZ-AAAA", 1)],
            dispatches: vec![dispatch(number)],
            ..changes()
        };
        tasks.spawn(async move { store.commit(&whole).await });
    }
    let results = tasks.join_all().await;
    assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 1);
    let stale = results.iter().filter(|result| matches!(result, Err(StoreError::Stale(_))));
    assert_eq!(stale.count(), 7);
    assert_eq!(place.store.matches(&["QZ-AAAA".to_owned()]).await.unwrap()[0].version, 2);
    assert_eq!(place.store.list_dispatches(false, 10).await.unwrap().len(), 1);
}

pub async fn two_programs_can_write_concurrently(place: Place) {
    let other = open(&place.url).await.unwrap();
    let write = async |store: &Arc<Database>, numbers: std::ops::Range<u32>| {
        for number in numbers {
            store.insert_letters(&[letter(number)]).await.unwrap();
            add_dispatches(store, number..number + 1).await;
        }
    };
    tokio::join!(write(&place.store, 0..40), write(&other, 40..80));
    assert_eq!(place.store.queues().await.unwrap().letters_waiting, 80);
    let numbers: BTreeSet<i64> =
        other.list_dispatches(true, 100).await.unwrap().iter().map(|row| row.id).collect();
    assert_eq!(numbers.len(), 80);
    other.close().await;
}

pub async fn due_matches_are_ordered_by_wake_time(place: Place) {
    let mut matches: Vec<_> = ["A", "B", "C", "D"].map(|id| match_row(id, 0)).into();
    for (row, wake_at) in matches.iter_mut().zip([Some(at(30)), None, Some(at(10)), Some(at(20))]) {
        row.wake_at = wake_at;
    }
    place.store.commit(&Changes { matches, ..changes() }).await.unwrap();
    let due = async |seconds, limit| -> Vec<String> {
        let rows = place.store.matches_due(at(seconds), None, limit).await.unwrap();
        rows.into_iter().map(|row| row.id).collect()
    };
    assert_eq!(due(9, 10).await, [""; 0]);
    assert_eq!(due(10, 10).await, ["C"]);
    assert_eq!(due(99, 10).await, ["C", "D", "A"]);
    assert_eq!(due(99, 2).await, ["C", "D"]);
    let first = place.store.matches_due(at(99), None, 1).await.unwrap().remove(0);
    assert_eq!(first.wake_at, Some(at(10)));
    let behind = place.store.matches_due(at(99), Some(&first), 10).await.unwrap();
    assert_eq!(behind.iter().map(|row| row.id.as_str()).collect::<Vec<_>>(), ["D", "A"]);
}

pub async fn matches_are_listed_by_id_and_stage(place: Place) {
    let mut matches: Vec<_> = ["QZ-b", "QU-A", "QZ-B"].map(|id| match_row(id, 0)).into();
    matches[2].overview.stage = Stage::Over;
    place.store.commit(&Changes { matches, ..changes() }).await.unwrap();
    let ids = async |stage| -> Vec<String> {
        let mut ids = Vec::new();
        place.store.list_matches(stage, &mut |row| ids.push(row.id)).await.unwrap();
        ids
    };
    assert_eq!(ids(None).await, ["QU-A", "QZ-B", "QZ-b"]);
    assert_eq!(ids(Some(Stage::Running)).await, ["QU-A", "QZ-b"]);
    assert_eq!(ids(Some(Stage::Over)).await, ["QZ-B"]);
    assert_eq!(ids(Some(Stage::Paused)).await, [""; 0]);
}

pub async fn the_dates_of_a_match_are_those_of_its_first_entry_and_of_its_end(place: Place) {
    let store = &place.store;
    let opened = EntryRow { at: at(1), ..entry("QZ-AAAA", 1) };
    let ended = EntryRow { at: at(3), kind: "MatchEnded".to_owned(), ..entry("QZ-AAAA", 2) };
    let entries = vec![opened, ended, EntryRow { at: at(2), ..entry("QZ-BBBB", 1) }];
    let mut matches = vec![match_row("QZ-AAAA", 0), match_row("QZ-BBBB", 0)];
    matches[0].overview.stage = Stage::Over;
    store.commit(&Changes { matches, entries, ..changes() }).await.unwrap();
    let ids = ["QZ-AAAA", "QZ-BBBB", "QZ-CCCC"].map(str::to_owned);
    let mut found = store.match_dates(&ids).await.unwrap();
    found.sort_by_key(|dates| dates.opened_at);
    let dates = |id: &str, opened, ended: Option<i64>| MatchDates {
        id: id.to_owned(),
        opened_at: Some(at(opened)),
        ended_at: ended.map(at),
    };
    assert_eq!(found, [dates("QZ-AAAA", 1, Some(3)), dates("QZ-BBBB", 2, None)]);
}

pub async fn seats_are_found_by_token_and_by_match(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA", "QZ-BBBB"]).await;
    add_seats(store, "QZ-AAAA").await;
    add_seats(store, "QZ-BBBB").await;
    let mut first = store.find_or_add_player("first@player.test", "", at(0)).await.unwrap();
    first.addresses = vec!["new@player.test".to_owned(), "first@player.test".to_owned()];
    store.commit(&with_player(&first)).await.unwrap();
    let all = ["QZ-AAAA-first", "QZ-AAAA-second", "QZ-BBBB-first", "QZ-BBBB-second"];
    let token = |row: &TokenRow| row.token.clone();
    let wanted = ["QZ-BBBB-second", "unknown", "QZ-AAAA-first"].map(str::to_owned);
    let found = store.seats_by_token(&wanted).await.unwrap();
    assert_eq!(found.iter().map(token).collect::<Vec<_>>(), all, "both seats of each match");
    assert_eq!(
        (found[0].match_id.as_str(), found[0].seat, &found[0].player),
        ("QZ-AAAA", Seat::First, &first)
    );
    assert_eq!(store.seats_by_token(&wanted[..1]).await.unwrap(), found[2..]);
    let seats = store.seats_of(&["QZ-BBBB".to_owned(), "QZ-AAAA".to_owned()]).await.unwrap();
    assert_eq!(seats.iter().map(token).collect::<Vec<_>>(), all);
    assert!(store.seats_of(&[]).await.unwrap().is_empty());
}

pub async fn a_substitute_takes_the_seat_and_the_old_token_ends(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA"]).await;
    let mut seats = add_seats(store, "QZ-AAAA").await;
    let substitute = store.find_or_add_player("third@player.test", "Third", at(0)).await.unwrap();
    seats[1].player_id = substitute.id;
    seats[1].token = "fresh".to_owned();
    store.commit(&Changes { seats, ..changes() }).await.unwrap();
    let found = store.seats_of(&["QZ-AAAA".to_owned()]).await.unwrap();
    assert_eq!(found[0].token, "QZ-AAAA-first");
    assert_eq!((found[1].token.as_str(), &found[1].player), ("fresh", &substitute));
    assert!(store.seats_by_token(&["QZ-AAAA-second".to_owned()]).await.unwrap().is_empty());
}

pub async fn a_player_is_found_by_an_address_in_any_case(place: Place) {
    let store = &place.store;
    let added = store.find_or_add_player("Ann@Player.test", "Ann", at(0)).await.unwrap();
    assert_eq!((added.name.as_str(), added.bouncing), ("Ann", false));
    assert_eq!(added.addresses, ["ann@player.test"]);
    assert_eq!(store.find_or_add_player("ANN@player.test", "Anna", at(1)).await.unwrap(), added);
    assert_eq!(store.player_by_address("ann@PLAYER.test").await.unwrap(), Some(added.clone()));
    assert_eq!(store.player_by_address("bob@player.test").await.unwrap(), None);
    let other = store.find_or_add_player("bob@player.test", "Bob", at(2)).await.unwrap();
    let both = ["bob@player.test", "cy@player.test", "ann@player.test"].map(str::to_owned);
    assert_eq!(store.players_by_address(&both).await.unwrap(), [added.clone(), other.clone()]);
    assert_eq!(store.players().await.unwrap(), [added, other]);
}

pub async fn a_player_found_concurrently_is_added_once(place: Place) {
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = Arc::clone(&place.store);
        tasks.spawn(
            async move { store.find_or_add_player("ann@player.test", "Ann", at(0)).await.unwrap().id },
        );
    }
    let ids: BTreeSet<i64> = tasks.join_all().await.into_iter().collect();
    assert_eq!(ids.len(), 1);
    assert_eq!(place.store.players().await.unwrap().len(), 1);
}

pub async fn an_address_belongs_to_one_player(place: Place) {
    let store = &place.store;
    let mut ann = store.find_or_add_player("ann@player.test", "Ann", at(0)).await.unwrap();
    store.find_or_add_player("bob@player.test", "Bob", at(0)).await.unwrap();
    ann.addresses.push("bob@player.test".to_owned());
    assert!(matches!(store.commit(&with_player(&ann)).await, Err(StoreError::AddressTaken)));
    assert_eq!(store.player_by_address("ann@player.test").await.unwrap().unwrap().addresses.len(), 1);
    ann.addresses = vec!["Anna@work.test".to_owned(), "ann@player.test".to_owned()];
    ann.bouncing = true;
    ann.name = "Anna".to_owned();
    store.commit(&with_player(&ann)).await.unwrap();
    ann.addresses[0] = "anna@work.test".to_owned();
    assert_eq!(store.player_by_address("ann@player.test").await.unwrap(), Some(ann.clone()));
    ann.id += 100;
    assert!(matches!(store.commit(&with_player(&ann)).await, Err(StoreError::Unsound(_))));
}

pub async fn a_remembered_value_is_replaced(place: Place) {
    let store = &place.store;
    assert_eq!(store.remembered("heartbeat").await.unwrap(), None);
    store.remember("heartbeat", "1").await.unwrap();
    store.remember("heartbeat", "2").await.unwrap();
    assert_eq!(store.remembered("heartbeat").await.unwrap().as_deref(), Some("2"));
}

pub async fn the_first_of_two_values_stands(place: Place) {
    let other = open(&place.url).await.unwrap();
    assert_eq!(place.store.remember_first("gm_token", "one").await.unwrap(), "one");
    assert_eq!(other.remember_first("gm_token", "another").await.unwrap(), "one");
}

pub async fn remembered_values_are_found_by_key_prefix_and_forgotten(place: Place) {
    let store = &place.store;
    for key in ["daemon: b", "daemon: a", "digest"] {
        store.remember(key, key).await.unwrap();
    }
    let under = async || store.remembered_under("daemon: ").await.unwrap();
    let pair = |key: &str| (key.to_owned(), key.to_owned());
    assert_eq!(under().await, [pair("daemon: a"), pair("daemon: b")]);
    store.forget("daemon: a").await.unwrap();
    assert_eq!(under().await, [pair("daemon: b")]);
}

pub async fn a_database_describes_itself(place: Place) {
    let about = place.store.about().await.unwrap();
    assert!(about.starts_with("SQLite 3.") || about.starts_with("PostgreSQL 1"), "{about}");
    assert!(about.contains(", tables of version "), "{about}");
}

pub async fn everything_survives_a_restart(place: Place) {
    place.store.insert_letters(&letters(0..3)).await.unwrap();
    add_matches(&place.store, &["QZ-AAAA"]).await;
    add_dispatches(&place.store, 0..2).await;
    let before = (waiting(&place.store).await, place.store.queues().await.unwrap());
    place.store.close().await;
    let store = open(&place.url).await.unwrap();
    assert_eq!((waiting(&store).await, store.queues().await.unwrap()), before);
    assert_eq!(store.insert_letters(&letters(0..4)).await.unwrap(), 1);
    store.close().await;
}

pub async fn a_database_of_a_newer_program_is_refused(place: Place) {
    place.store.close().await;
    let sql = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time) \
               SELECT 9000, 'of tomorrow', success, checksum, 0 FROM _sqlx_migrations WHERE version = 1";
    place.execute(sql).await.unwrap();
    let error = open(&place.url).await.err().expect("it is not opened");
    assert!(matches!(error, StoreError::Newer(_)));
    let text = "the database was made by a newer fogpost: its tables have version 9000; this program supports up to ";
    let known = error.to_string().strip_prefix(text).map(str::to_owned);
    assert!(known.is_some_and(|known| known.parse::<u32>().is_ok()), "{error}");
}
