//! The club's books, on every database.

use fogpost::store::{BookChange, BookEntryRow, Settlement, Store, StoreError};

use crate::place::Place;
use crate::samples::*;

async fn entries(store: &dyn Store, after: Option<u64>, limit: u32) -> Vec<BookEntryRow> {
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
    let written: Vec<BookEntryRow> = (1..=3).flat_map(|seq| book(0, seq).entries).collect();
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
