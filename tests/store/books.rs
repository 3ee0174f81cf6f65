//! The club's books, on every database.

use fogpost::club::AnchorSecret;
use fogpost::ledger::Head;
use fogpost::letter::Digest;
use fogpost::store::{
    AnchorRows, BookChange, Claim, EntryRow, NewDispatch, SendOutcome, Settlement, Store, StoreError,
    VerifiedRow,
};

use crate::place::Place;
use crate::samples::*;

async fn entries(store: &dyn Store, after: Option<u64>, limit: u32) -> Vec<EntryRow> {
    let mut entries = Vec::new();
    store.book_entries("CLUB", after, limit, &mut |entry| entries.push(entry)).await.unwrap();
    entries
}

pub async fn a_book_is_written_with_its_entries_or_not_at_all(place: Place) {
    let store = &*place.store;
    assert_eq!(store.book("CLUB").await.unwrap(), None);
    for version in 0..3 {
        let change = book(version, version as u64 + 1);
        store.commit(&Settlement { books: vec![change.clone()], ..settlement() }).await.unwrap();
        let mut expected = change.row;
        expected.version += 1;
        assert_eq!(store.book("CLUB").await.unwrap(), Some(expected));
    }
    // Another daemon has written to the book.
    for late in [book(0, 4), book(2, 4)] {
        let late = Settlement { books: vec![late], matches: vec![match_row("QZ-AAAA", 0)], ..settlement() };
        let error = store.commit(&late).await.unwrap_err();
        assert!(matches!(&error, StoreError::Stale(what) if what == "book CLUB"), "{error}");
    }
    assert!(store.match_ids().await.unwrap().is_empty());
    let written: Vec<EntryRow> = (1..=3).flat_map(|seq| book(0, seq).entries).collect();
    assert_eq!(entries(store, None, 100).await, written);
    assert_eq!(entries(store, Some(1), 1).await, written[1..2]);
}

pub async fn the_entries_of_a_book_are_not_changed_and_have_no_gaps(place: Place) {
    let store = &*place.store;
    store.commit(&Settlement { books: vec![book(0, 1)], ..settlement() }).await.unwrap();
    for wrong in [1, 3] {
        let gap = BookChange { entries: book(1, wrong).entries, ..book(1, 2) };
        assert!(store.commit(&Settlement { books: vec![gap], ..settlement() }).await.is_err(), "#{wrong}");
    }
    for sql in ["UPDATE book_entry SET json = '{}'", "DELETE FROM book_entry"] {
        assert!(place.execute(sql).await.is_err(), "{sql}");
    }
}

pub async fn anchors_name_the_ledgers_that_had_grown(place: Place) {
    let store = &*place.store;
    add_matches(&place.store, &["QZ-AAAA", "QZ-BBBB"]).await;
    let entries = vec![entry("QZ-AAAA", 1), entry("QZ-AAAA", 2), entry("QZ-BBBB", 1)];
    let first = anchored_book(1, &["QZ-AAAA"]);
    store.commit(&Settlement { entries, books: vec![first], ..settlement() }).await.unwrap();
    let secret = AnchorSecret::new([8; 32]);
    let grown = vec![("QZ-AAAA".to_owned(), 2), ("QZ-BBBB".to_owned(), 1)];
    let second = AnchorRows { book_seq: 2, secret, grown };
    let change = BookChange { anchor: Some(second), ..book(1, 2) };
    store.commit(&Settlement { books: vec![change], ..settlement() }).await.unwrap();
    let head = |id: &str, seq| (id.to_owned(), Head { seq, hash: entry(id, seq).hash });
    let sorted = |mut heads: Vec<(String, Head)>| {
        heads.sort_by(|one, other| one.0.cmp(&other.0));
        heads
    };
    assert_eq!(store.grown_at(1).await.unwrap(), [head("QZ-AAAA", 1)]);
    assert_eq!(store.heads_at(1).await.unwrap(), [head("QZ-AAAA", 1)]);
    let both = [head("QZ-AAAA", 2), head("QZ-BBBB", 1)];
    assert_eq!(sorted(store.grown_at(2).await.unwrap()), both);
    assert_eq!(sorted(store.heads_at(9).await.unwrap()), both);
    assert_eq!(store.anchors_of("QZ-AAAA").await.unwrap(), [(1, 1), (2, 2)]);
    assert_eq!(store.anchor_secret(2).await.unwrap(), Some(secret));
    assert_eq!(store.anchor_secret(3).await.unwrap(), None);
    let hash = entry("QZ-BBBB", 1).hash;
    assert_eq!(store.entries_with_hash(hash).await.unwrap(), [("QZ-BBBB".to_owned(), 1)]);
    let listed = store.book_entries_of_kind("CLUB", "Forgotten").await.unwrap();
    assert_eq!(listed, ["{\"seq\":1}", "{\"seq\":2}"]);
    let verified = VerifiedRow { match_id: "QZ-AAAA".to_owned(), seq: 1, book_seq: 1 };
    assert_eq!(store.verified("QZ-AAAA").await.unwrap(), [(verified, "{\"seq\":1}".to_owned())]);
    assert!(store.heads().await.is_ok() && store.unverified().await.is_ok());
    for sql in ["UPDATE anchored_head SET seq = 3", "DELETE FROM anchor_secret"] {
        assert!(place.execute(sql).await.is_err(), "{sql}");
    }
}

pub async fn deliveries_are_listed_once(place: Place) {
    let store = &*place.store;
    let letter = NewDispatch { pin: Some(Digest::of(b"letter")), match_id: None, seat: None, ..dispatch(1) };
    let bytes = letter.bytes.clone();
    store.commit(&Settlement { dispatches: vec![letter], ..settlement() }).await.unwrap();
    assert_eq!(store.unlisted_late(10).await.unwrap(), []);
    let id = store.list_dispatches(true, 10).await.unwrap()[0].id;
    store.record_outcomes(Claim::default(), at(5), &[(id, SendOutcome::Taken)]).await.unwrap();
    let unlisted = store.unlisted_late(10).await.unwrap();
    assert_eq!(unlisted.len(), 1);
    assert_eq!((unlisted[0].0, unlisted[0].1.delivery.at), (id, at(5)));
    assert_eq!(store.unlisted_plain(at(0), at(9), 10).await.unwrap().len(), 1);
    let listing = BookChange { late: vec![(id, 1)], ..book(0, 1) };
    store.commit(&Settlement { books: vec![listing], ..settlement() }).await.unwrap();
    assert_eq!(store.unlisted_late(10).await.unwrap(), []);
    assert!(store.unlisted_plain(at(0), at(9), 10).await.unwrap().is_empty());
    let rows = store.late_deliveries(1).await.unwrap();
    assert_eq!((rows.len(), rows[0].sent_at, rows[0].pin), (1, Some(at(5)), Some(Digest::of(b"letter"))));
    let plain = store.late_plain_letters(1).await.unwrap();
    assert_eq!(plain, [(rows[0].message_id.clone(), bytes)]);
    assert!(store.late_in("QZ-AAAA").await.unwrap().is_empty());
}
