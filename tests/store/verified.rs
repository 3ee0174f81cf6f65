//! How far the daily audit has verified matches, and whose last letters no entry lists, on every database.

use fogpost::game::any::GameKind;
use fogpost::ledger::Head;
use fogpost::letter::Digest;
use fogpost::referee::{MatchOverview, Stage};
use fogpost::store::{Changes, EntryRow, MatchRow, NewDispatch, SendOutcome};

use crate::overview::overview;
use crate::place::Place;
use crate::samples::*;

fn with_one_entry(id: &str, stage: Stage) -> MatchRow {
    let head = Head { seq: 1, hash: Digest::of(b"an entry") };
    let overview = MatchOverview { head, ..overview(id, GameKind::QuadrantZ, stage) };
    MatchRow { overview, ..match_row(id, 0) }
}

pub async fn a_match_is_unverified_until_its_last_entry_is_noted(place: Place) {
    let store = &place.store;
    for id in ["QZ-AAAA", "QZ-BBBB"] {
        let matches = vec![with_one_entry(id, Stage::Running)];
        store.commit(&Changes { matches, ..changes() }).await.unwrap();
    }
    assert_eq!(store.unverified().await.unwrap(), ["QZ-AAAA", "QZ-BBBB"]);
    assert_eq!(store.verified("QZ-AAAA").await.unwrap(), None);
    for seq in [1, 2] {
        let head = Head { seq, hash: Digest::of(&[seq as u8]) };
        store.note_verified(&[("QZ-AAAA".to_owned(), head)]).await.unwrap();
        assert_eq!(store.verified("QZ-AAAA").await.unwrap(), Some(head));
    }
    assert_eq!(store.unverified().await.unwrap(), ["QZ-BBBB"]);
}

/// Stores a match with a letter that its last entry has caused.
async fn add_with_letter(place: &Place, id: &str, stage: Stage, number: u32) {
    let pin = Some(Digest::of(id.as_bytes()));
    let letter = NewDispatch { match_id: Some(id.to_owned()), pin, ..dispatch(number) };
    let entries = vec![EntryRow { at: at(0), ..entry(id, 1) }];
    let added =
        Changes { matches: vec![with_one_entry(id, stage)], entries, dispatches: vec![letter], ..changes() };
    place.store.commit(&added).await.unwrap();
}

pub async fn the_last_letters_of_a_match_that_is_over_are_to_be_listed_once_they_are_sent(place: Place) {
    let store = &place.store;
    add_with_letter(&place, "QZ-AAAA", Stage::Over, 1).await;
    add_with_letter(&place, "QZ-BBBB", Stage::Running, 2).await;
    let to_list = async |before| store.matches_to_list(at(before)).await.unwrap();
    assert!(to_list(0).await.is_empty(), "it waits");
    assert_eq!(to_list(1).await, ["QZ-AAAA"], "it has waited for long enough");
    let (claimed, claim) = store.claim_dispatches(at(1), 10).await.unwrap();
    let outcomes: Vec<_> = claimed.iter().map(|row| (row.id, SendOutcome::Taken)).collect();
    store.record_outcomes(claim, at(1), &outcomes).await.unwrap();
    assert_eq!(to_list(0).await, ["QZ-AAAA"]);
    let listed = vec![("QZ-AAAA".to_owned(), Digest::of(b"QZ-AAAA"))];
    store.commit(&Changes { listed, ..changes() }).await.unwrap();
    assert!(to_list(1).await.is_empty());
}
