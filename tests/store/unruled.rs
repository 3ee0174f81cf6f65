//! The bytes of letters that caused no ledger entry can be deleted; those of all others cannot.

use std::slice;

use chrono::Duration;
use fogpost::store::{Changes, EntryRow, LetterStatus, NewLetter};

use crate::place::Place;
use crate::samples::*;

/// An entry that names a letter.
fn entry_of(letter: &NewLetter, seq: u64) -> EntryRow {
    EntryRow { letters: vec![letter.digest], ..entry("QZ-AAAA", seq) }
}

const DECIDED: [LetterStatus; 4] =
    [LetterStatus::Answered, LetterStatus::Automatic, LetterStatus::Ignored, LetterStatus::SetAside];

pub async fn bytes_of_unruled_letters_are_deleted_and_all_else_stays(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA"]).await;
    store.insert_letters(&letters(0..8)).await.unwrap();
    // 0 to 3 caused nothing, 4 was ruled on, 5 opened a match, 6 is the GM's, 7 waits.
    let statuses =
        DECIDED.into_iter().chain([LetterStatus::Ruled, LetterStatus::Answered, LetterStatus::Answered]);
    let ruling = Changes {
        decided: (0..).zip(statuses).map(|(number, status)| decided(&letter(number), status)).collect(),
        entries: vec![entry_of(&letter(4), 1), entry_of(&letter(5), 2)],
        ..changes()
    };
    store.commit(&ruling).await.unwrap();
    let (now, gm) = (at(0) + Duration::days(100), vec![letter(6).sender]);
    let delete = async |before, limit| store.delete_unruled(now, before, &gm, limit).await.unwrap();
    assert_eq!(delete(at(0), 100).await, 0, "all were received later");
    assert_eq!(delete(at(100), 3).await, 3);
    assert_eq!(delete(at(100), 3).await, 1);
    assert_eq!(delete(at(100), 3).await, 0);
    let rows = store.letters(None, None, "", 100).await.unwrap();
    for number in 0..8 {
        let is_gone = number < 4;
        let row = rows.iter().find(|row| row.digest == letter(number).digest).unwrap();
        assert_eq!(row.bytes_deleted_at, is_gone.then_some(now), "{number}");
        assert_eq!((&row.sender, &row.subject), (&letter(number).sender, &letter(number).subject));
        assert_eq!(store.letter(letter(number).digest).await.unwrap().is_none(), is_gone, "{number}");
    }
    assert_eq!(store.insert_letters(&letters(0..1)).await.unwrap(), 0, "it is still known");
    let again = Changes { decided: vec![decided(&letter(2), LetterStatus::Waiting)], ..changes() };
    assert!(
        store.commit(&again).await.unwrap_err().is_transient(),
        "without its bytes it cannot be ruled on"
    );
}

pub async fn no_other_letter_loses_its_bytes(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA"]).await;
    store.insert_letters(&letters(0..3)).await.unwrap();
    let ruling = Changes {
        decided: vec![decided(&letter(0), LetterStatus::Ruled), decided(&letter(1), LetterStatus::Answered)],
        entries: vec![entry_of(&letter(1), 1)],
        ..changes()
    };
    store.commit(&ruling).await.unwrap();
    // A ruled letter, one that an entry names, and one that waits.
    for sql in [
        "UPDATE letter SET bytes_deleted_at = received_at + 700000000 WHERE status = 'ruled'",
        "UPDATE letter SET bytes_deleted_at = received_at + 700000000 WHERE status = 'answered'",
        "UPDATE letter SET bytes_deleted_at = received_at + 700000000 WHERE status = 'waiting'",
        "DELETE FROM letter_raw",
    ] {
        let error = place.execute(sql).await.expect_err(sql);
        assert!(error.to_string().contains("a letter is never deleted"), "{sql}: {error}");
    }
    let error = place.execute("UPDATE letter SET in_ledger = 0").await.unwrap_err();
    assert!(error.to_string().contains("a letter is never changed"), "{error}");
    let ignored = Changes { decided: vec![decided(&letter(2), LetterStatus::Ignored)], ..changes() };
    store.commit(&ignored).await.unwrap();
    let too_early = "UPDATE letter SET bytes_deleted_at = received_at + 600000000 WHERE status = 'ignored'";
    let error = place.execute(too_early).await.unwrap_err();
    assert!(error.to_string().contains("a letter is never deleted"), "{error}");
    store
        .delete_unruled(at(0) + Duration::days(8), at(100), slice::from_ref(&String::new()), 10)
        .await
        .unwrap();
    assert_eq!(store.letter(letter(2).digest).await.unwrap(), None);
    for sql in [
        "UPDATE letter SET bytes_deleted_at = NULL WHERE status = 'ignored'",
        "UPDATE letter SET bytes_deleted_at = bytes_deleted_at + 1 WHERE status = 'ignored'",
    ] {
        let error = place.execute(sql).await.expect_err(sql);
        assert!(error.to_string().contains("a letter is never deleted"), "{sql}: {error}");
    }
}
