//! The rows of the GM's screen, and the links that log in, on every database.

use fogpost::game::Seat;
use fogpost::store::{Changes, EntryRow, LetterDecision, LetterStatus, WordsRow};

use crate::place::Place;
use crate::samples::*;

pub async fn words_for_a_gm_wait_until_a_gm_acts_in_their_match(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA", "QZ-BBBB"]).await;
    store.insert_letters(&letters(0..3)).await.unwrap();
    let about = |number: u32, note: &str, id: &str| LetterDecision {
        note: note.to_owned(),
        seat: Some((id.to_owned(), Seat::First)),
        ..decided(&letter(number), LetterStatus::Ruled)
    };
    let opened = EntryRow { kind: "MatchOpened".to_owned(), ..entry("QZ-AAAA", 1) };
    let decisions = vec![
        about(0, "words: I am ill", "QZ-AAAA"),
        about(1, "noted", "QZ-AAAA"),
        about(2, "words: so am I", "QZ-BBBB"),
    ];
    store.commit(&Changes { decided: decisions, entries: vec![opened], ..changes() }).await.unwrap();
    let row = |number: u32, id: &str| WordsRow {
        digest: letter(number).digest,
        received_at: letter(number).received_at,
        match_id: id.to_owned(),
        seat: Seat::First,
    };
    let both = [row(0, "QZ-AAAA"), row(2, "QZ-BBBB")];
    assert_eq!(store.unsettled_words(at(0), 10).await.unwrap(), both);
    assert_eq!(store.unsettled_words(at(1), 10).await.unwrap(), both[1..]);
    assert_eq!(store.unsettled_words(at(0), 1).await.unwrap(), both[..1]);
    assert_eq!(store.last_turns().await.unwrap(), [("QZ-AAAA".to_owned(), at(0))]);
    let noted = EntryRow { kind: "GmNoted".to_owned(), at: at(9), ..entry("QZ-AAAA", 2) };
    store.commit(&Changes { at: at(9), entries: vec![noted], ..changes() }).await.unwrap();
    assert_eq!(store.unsettled_words(at(0), 10).await.unwrap(), both[1..]);
    let senders = [letter(1).sender, letter(2).sender];
    let found = store.letters_from(&senders, at(0), 10).await.unwrap();
    let digests: Vec<_> = found.into_iter().map(|row| row.digest).collect();
    assert_eq!(digests, [letter(2).digest, letter(1).digest]);
    assert_eq!(store.shown_snapshots(&["QZ-AAAA".to_owned()]).await.unwrap(), ["{\"version\":0}"]);
    assert!(store.dispatches_about("QZ-AAAA", 10).await.unwrap().is_empty());
    assert!(store.given_up_unseen(10).await.unwrap().is_empty());
}

pub async fn a_remembered_value_is_taken_once(place: Place) {
    let store = &place.store;
    store.remember("link", "a value").await.unwrap();
    assert_eq!(store.take_remembered("link").await.unwrap().as_deref(), Some("a value"));
    assert_eq!(store.take_remembered("link").await.unwrap(), None);
    assert_eq!(store.remembered("link").await.unwrap(), None);
}

pub async fn players_are_found_by_a_part_of_their_name_or_address(place: Place) {
    let store = &place.store;
    for (address, name) in [("ann@one.test", "Ann Özil"), ("bo@one.test", "Bo 100%"), ("cy@two.test", "Cy_1")]
    {
        store.find_or_add_player(address, name, at(0)).await.unwrap();
    }
    let found = async |words: &str, limit: u32| {
        let players = store.players_named(words, limit).await.unwrap();
        players.into_iter().map(|player| player.name).collect::<Vec<_>>()
    };
    assert_eq!(found("aNN", 9).await, ["Ann Özil"]);
    assert_eq!(found("Özil", 9).await, ["Ann Özil"]);
    assert_eq!(found("ONE.test", 9).await, ["Ann Özil", "Bo 100%"]);
    assert_eq!(found("one.test", 1).await, ["Ann Özil"]);
    // The signs of a pattern are letters like all others.
    assert_eq!(found("0%", 9).await, ["Bo 100%"]);
    assert_eq!(found("y_1", 9).await, ["Cy_1"]);
    assert!(found("0_", 9).await.is_empty() && found("'!", 9).await.is_empty());
    let ann = store.player_by_address("ann@one.test").await.unwrap().expect("Ann");
    assert_eq!(store.player_by_id(ann.id).await.unwrap().expect("Ann"), ann);
    assert!(store.player_by_id(ann.id + 100).await.unwrap().is_none());
}
