//! Forgotten players, on every database.

use std::sync::Arc;

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::ledger::{Head, KeptPin, PinKey, PinnedKind};
use fogpost::letter::Digest;
use fogpost::referee::{DispatchKind, Stage};
use fogpost::store::{
    ChangeKind, ChangeStage, Changes, Database, EntryRow, ForgottenMatch, ForgottenPlayer, LetterDecision,
    LetterStatus, MatchRow, NewDispatch, NewLetter, PlayerChange, SendOutcome, StoreError, Traces,
};

use crate::overview::overview;
use crate::place::Place;
use crate::samples::*;

/// A letter from this seat's player.
fn letter_from(seat: Seat, number: u32) -> NewLetter {
    let raw =
        format!("Message-ID: <{number}@player.test>\r\n\r\nOrders of the {seat}\r\n").repeat(20).into_bytes();
    let (digest, sender) = (Digest::of(&raw), format!("{seat}@player.test"));
    NewLetter { digest, raw, sender, ..letter(number) }
}

fn ruled_in(id: &str, seat: Seat, letter: &NewLetter) -> LetterDecision {
    LetterDecision { seat: Some((id.to_owned(), seat)), ..decided(letter, LetterStatus::Ruled) }
}

fn report_to(id: &str, seat: Seat, number: u32) -> NewDispatch {
    NewDispatch {
        recipient: format!("{seat}@player.test"),
        kind: DispatchKind::Report,
        match_id: Some(id.to_owned()),
        seat: Some(seat),
        ..dispatch_with_picture(number)
    }
}

/// Stores a match that is over, with a letter from each player and a report to each, and returns the letters.
async fn add_ended(store: &Arc<Database>, id: &str, number: u32) -> [NewLetter; 2] {
    let over = MatchRow { overview: overview(id, GameKind::QuadrantZ, Stage::Over), ..match_row(id, 0) };
    let ended = EntryRow { kind: "MatchEnded".to_owned(), ..entry(id, 1) };
    store.commit(&Changes { matches: vec![over], entries: vec![ended], ..changes() }).await.unwrap();
    add_seats(store, id).await;
    let letters = [letter_from(Seat::First, number), letter_from(Seat::Second, number + 1)];
    store.insert_letters(&letters).await.unwrap();
    let decided = Seat::BOTH.iter().zip(&letters).map(|(seat, letter)| ruled_in(id, *seat, letter));
    let dispatches = vec![report_to(id, Seat::First, number), report_to(id, Seat::Second, number + 1)];
    store.commit(&Changes { decided: decided.collect(), dispatches, ..changes() }).await.unwrap();
    letters
}

async fn send_all(store: &Arc<Database>) {
    let (claimed, claim) = store.claim_dispatches(at(1), 10).await.unwrap();
    let outcomes: Vec<_> = claimed.iter().map(|row| (row.id, SendOutcome::Taken)).collect();
    store.record_outcomes(claim, at(1), &outcomes).await.unwrap();
}

/// The letters of the match, each with its recipient.
async fn sent_in(store: &Arc<Database>, id: &str) -> Vec<(String, Vec<u8>)> {
    let sent = store.dispatches_of(id).await.unwrap();
    sent.into_iter().map(|(row, bytes)| (row.recipient, bytes)).collect()
}

/// The second player of the match, as the player is forgotten.
async fn second(store: &Arc<Database>) -> ForgottenPlayer {
    let player = store.player_by_address("second@player.test").await.unwrap().expect("the second player");
    let version = store.matches(&["QZ-AAAA".to_owned()]).await.unwrap()[0].version;
    let of_match = ForgottenMatch {
        id: "QZ-AAAA".to_owned(),
        version,
        snapshot: "{}".to_owned(),
        first_name: "first".to_owned(),
        second_name: "P-2".to_owned(),
        head: Head { seq: 2, hash: Digest::of(b"an entry") },
        entries: vec![EntryRow { kind: "Forgotten".to_owned(), ..entry("QZ-AAAA", 2) }],
        listed: Vec::new(),
    };
    ForgottenPlayer {
        id: player.id,
        name: "P-2".to_owned(),
        traces: store.traces_of(player.id).await.unwrap(),
        matches: vec![of_match],
        at: at(99),
    }
}

/// A change in which the second player removed an address.
fn removal(player_id: i64) -> PlayerChange {
    PlayerChange {
        code: "K7M3".to_owned(),
        other_code: "M3K7".to_owned(),
        player_id,
        kind: ChangeKind::Remove,
        address: "gone@player.test".to_owned(),
        matches: Vec::new(),
        registered: "second@player.test".to_owned(),
        with_token: true,
        stage: ChangeStage::Done,
        asked_at: at(0),
        changed_at: at(0),
        version: 1,
    }
}

pub async fn the_traces_of_a_player_include_earlier_addresses_and_what_waits(place: Place) {
    let store = &place.store;
    add_ended(store, "QZ-AAAA", 0).await;
    let player_id = second(store).await.id;
    let pin = |seat, key, value| {
        ("QZ-AAAA".to_owned(), KeptPin::new(seat, PinnedKind::Address, PinKey::new([key; 16]), value))
    };
    let seat_pins = vec![
        pin(Seat::First, 1, "first@player.test"),
        pin(Seat::Second, 2, "old@player.test"),
        pin(Seat::Second, 3, "first@player.test"),
    ];
    let player_changes = vec![removal(player_id)];
    store.commit(&Changes { seat_pins, player_changes, ..changes() }).await.unwrap();
    let queued = store.traces_of(player_id).await.unwrap();
    assert_eq!(queued.addresses, ["gone@player.test", "old@player.test", "second@player.test"]);
    assert_eq!((queued.matches, queued.waiting), (vec!["QZ-AAAA".to_owned()], 1));
    send_all(store).await;
    assert_eq!(store.traces_of(player_id).await.unwrap().waiting, 0);
    let waiting = NewLetter { sender: "old@player.test".to_owned(), ..letter(7) };
    store.insert_letters(&[waiting]).await.unwrap();
    assert_eq!(store.traces_of(player_id).await.unwrap().waiting, 1);
    // Of a seat that changed hands, nobody can tell whose address was whose.
    let replaced = EntryRow { kind: "PlayerReplaced".to_owned(), ..entry("QZ-AAAA", 2) };
    store.commit(&Changes { entries: vec![replaced], ..changes() }).await.unwrap();
    let traces = store.traces_of(player_id).await.unwrap();
    assert_eq!(traces.addresses, ["gone@player.test", "second@player.test"]);
}

pub async fn a_player_is_forgotten_and_the_letters_of_others_stay(place: Place) {
    let store = &place.store;
    let letters = add_ended(store, "QZ-AAAA", 0).await;
    send_all(store).await;
    let mut kept = sent_in(store, "QZ-AAAA").await;
    kept.retain(|(recipient, _)| recipient == "first@player.test");
    let forgotten = second(store).await;
    store.forget_player(&forgotten).await.unwrap();
    assert_eq!(store.forgotten_in("QZ-AAAA").await.unwrap().as_deref(), Some("P-2"));
    assert_eq!(
        store.entries("QZ-AAAA").await.unwrap().last().map(|row| row.kind.as_str()),
        Some("Forgotten")
    );
    assert_eq!(store.player_by_address("second@player.test").await.unwrap(), None);
    assert_eq!(sent_in(store, "QZ-AAAA").await, kept);
    let [first, second] = letters;
    assert_eq!(store.letter(first.digest).await.unwrap(), Some(first.raw));
    assert_eq!(store.letter(second.digest).await.unwrap(), None);
    let after = store.traces_of(forgotten.id).await.unwrap();
    let nothing = Traces { addresses: Vec::new(), matches: vec!["QZ-AAAA".to_owned()], waiting: 0 };
    assert_eq!(after, nothing);
}

pub async fn a_player_is_not_forgotten_as_loaded_before_a_change(place: Place) {
    let store = &place.store;
    add_ended(store, "QZ-AAAA", 0).await;
    let early = second(store).await;
    send_all(store).await;
    let refused = async |forgotten: &ForgottenPlayer| {
        let before = second(store).await;
        let error = store.forget_player(forgotten).await.unwrap_err();
        assert!(matches!(error, StoreError::Stale(_)), "{error}");
        assert_eq!(second(store).await.traces, before.traces);
        assert_eq!(store.forgotten_in("QZ-AAAA").await.unwrap(), None);
    };
    // A letter was sent.
    refused(&early).await;
    let loaded = second(store).await;
    // Another program wrote to the match.
    let over = MatchRow {
        overview: overview("QZ-AAAA", GameKind::QuadrantZ, Stage::Over),
        ..match_row("QZ-AAAA", 1)
    };
    store.commit(&Changes { matches: vec![over], ..changes() }).await.unwrap();
    refused(&loaded).await;
    // The match is played on.
    store.commit(&Changes { matches: vec![match_row("QZ-AAAA", 2)], ..changes() }).await.unwrap();
    refused(&second(store).await).await;
    // Another match was opened.
    let playing = MatchRow {
        overview: overview("QZ-AAAA", GameKind::QuadrantZ, Stage::Over),
        ..match_row("QZ-AAAA", 3)
    };
    store.commit(&Changes { matches: vec![playing], ..changes() }).await.unwrap();
    let loaded = second(store).await;
    add_matches(store, &["QZ-BBBB"]).await;
    add_seats(store, "QZ-BBBB").await;
    refused(&loaded).await;
}
