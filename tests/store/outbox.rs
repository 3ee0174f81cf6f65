//! The outbox: claims, leases, results and what is counted, on every database.

use std::collections::BTreeSet;
use std::sync::Arc;

use fogpost::game::Seat;
use fogpost::store::{Fate, MatchRow, Queues, Sent, Settlement, Store};

use crate::place::Place;
use crate::samples::*;

/// The numbers of the dispatches claimed at `now` until `until`.
async fn claim(store: &Arc<dyn Store>, now: i64, until: i64, limit: u32) -> Vec<i64> {
    let claimed = store.claim_dispatches(at(now), at(until), limit).await.unwrap();
    claimed.iter().map(|dispatch| dispatch.id).collect()
}

fn later(seconds: i64) -> Sent {
    Sent::Later { at: at(seconds), error: "450 try again".to_owned() }
}

pub async fn a_dispatch_is_claimed_until_its_lease_ends(place: Place) {
    let store = &place.store;
    add_dispatches(store, 0..5).await;
    assert_eq!(claim(store, -1, 60, 10).await, [0; 0], "none is due before it was made");
    let first = store.claim_dispatches(at(0), at(60), 3).await.unwrap();
    for (claimed, number) in first.iter().zip(0..) {
        let made = dispatch(number);
        assert_eq!((&claimed.message_id, &claimed.recipient), (&made.message_id, &made.recipient));
        assert_eq!((&claimed.bytes, &claimed.kind, claimed.tries), (&made.bytes, &made.kind, 0));
    }
    assert_eq!(first.len(), 3);
    assert_eq!(claim(store, 1, 61, 10).await.len(), 2);
    assert_eq!(claim(store, 59, 99, 10).await, [0; 0]);
    let ids: Vec<i64> = first.iter().map(|claimed| claimed.id).collect();
    assert_eq!(claim(store, 60, 99, 10).await, ids);
    assert_eq!(claim(store, 61, 99, 10).await.len(), 2);
}

pub async fn claims_at_the_same_moment_share_the_dispatches(place: Place) {
    add_dispatches(&place.store, 0..200).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = Arc::clone(&place.store);
        tasks.spawn(async move {
            let mut ids = Vec::new();
            loop {
                let more = claim(&store, 0, 60, 10).await;
                if more.is_empty() {
                    return ids;
                }
                ids.extend(more);
            }
        });
    }
    let claimed: Vec<i64> = tasks.join_all().await.concat();
    assert_eq!(claimed.len(), 200);
    assert_eq!(claimed.iter().collect::<BTreeSet<_>>().len(), 200);
}

pub async fn what_came_of_sending_is_noted(place: Place) {
    let store = &place.store;
    add_dispatches(store, 0..4).await;
    let ids = claim(store, 0, 60, 10).await;
    let given_up = Sent::GivenUp { error: "550 no such user \0".to_owned() };
    let results = [(ids[0], Sent::Taken), (ids[1], later(300)), (ids[2], given_up)];
    store.note_sent(at(5), &results).await.unwrap();
    store.note_sent(at(5), &[]).await.unwrap();
    let rows = store.list_dispatches(false, 10).await.unwrap();
    let seen: Vec<_> =
        rows.iter().rev().map(|r| (r.sent_at, r.given_up, r.tries, r.error.as_str())).collect();
    assert_eq!(
        seen,
        [
            (Some(at(5)), false, 1, ""),
            (None, false, 1, "450 try again"),
            (None, true, 1, "550 no such user \u{fffd}"),
            (None, false, 0, "")
        ]
    );
    let unsent: Vec<i64> = store.list_dispatches(true, 10).await.unwrap().iter().map(|row| row.id).collect();
    assert_eq!(unsent, [ids[3], ids[2], ids[1]]);
    assert_eq!(claim(store, 299, 400, 10).await, [ids[3]], "only its lease has ended");
    let again = store.claim_dispatches(at(300), at(500), 10).await.unwrap();
    assert_eq!((again[0].id, again[0].tries, again.len()), (ids[1], 1, 1));
}

pub async fn a_dispatch_once_taken_stays_so(place: Place) {
    let store = &place.store;
    add_dispatches(store, 0..1).await;
    let ids = claim(store, 0, 60, 1).await;
    store.note_sent(at(1), &[(ids[0], Sent::Taken)]).await.unwrap();
    store.note_sent(at(2), &[(ids[0], later(3))]).await.unwrap();
    assert_eq!(claim(store, 99, 100, 1).await, [0; 0]);
    let row = &store.list_dispatches(false, 1).await.unwrap()[0];
    assert_eq!((row.sent_at, row.tries), (Some(at(1)), 1));
}

pub async fn a_dispatch_given_up_can_be_taken_up_again(place: Place) {
    let store = &place.store;
    add_dispatches(store, 0..1).await;
    let ids = claim(store, 0, 60, 1).await;
    store.note_sent(at(1), &[(ids[0], Sent::GivenUp { error: "550".to_owned() })]).await.unwrap();
    assert_eq!(claim(store, 99, 100, 1).await, [0; 0]);
    assert_eq!(store.next_dispatch_at().await.unwrap(), None);
    store.note_sent(at(100), &[(ids[0], later(100))]).await.unwrap();
    assert_eq!(claim(store, 100, 160, 1).await, ids);
}

pub async fn the_next_dispatch_is_the_one_due_first(place: Place) {
    let store = &place.store;
    assert_eq!(store.next_dispatch_at().await.unwrap(), None);
    add_dispatches(store, 0..2).await;
    assert_eq!(store.next_dispatch_at().await.unwrap(), Some(at(0)));
    let ids = claim(store, 0, 60, 2).await;
    store.note_sent(at(1), &[(ids[0], Sent::Taken), (ids[1], later(30))]).await.unwrap();
    assert_eq!(store.next_dispatch_at().await.unwrap(), Some(at(30)));
    claim(store, 30, 90, 2).await;
    assert_eq!(store.next_dispatch_at().await.unwrap(), Some(at(90)), "when the lease ends");
}

pub async fn dispatches_are_found_by_match_and_message_id(place: Place) {
    let store = &place.store;
    store.take_in(&letters(0..1)).await.unwrap();
    add_matches(store, &["QZ-AAAA"]).await;
    let mut dispatches: Vec<_> = (0..70).map(dispatch).collect();
    for made in &mut dispatches[1..4] {
        made.match_id = Some("QZ-AAAA".to_owned());
        made.seat = Some(Seat::Second);
        made.answers = Some(letter(0).digest);
    }
    store.commit(&Settlement { dispatches: dispatches.clone(), at: at(7), ..settlement() }).await.unwrap();
    let found = store.dispatches_of("QZ-AAAA").await.unwrap();
    assert_eq!(found.len(), 3);
    for ((row, bytes), made) in found.iter().zip(&dispatches[1..4]) {
        assert_eq!((&row.message_id, row.seat, bytes), (&made.message_id, made.seat, &made.bytes));
        assert_eq!((row.created_at, row.sent_at, row.given_up), (at(7), None, false));
    }
    let ids = ["d69@club.test", "d0@club.test", "nobody@club.test"].map(str::to_owned);
    let found = store.dispatches_by_message_id(&ids).await.unwrap();
    let made = |number: usize| (dispatches[number].message_id.clone(), dispatches[number].bytes.clone());
    assert_eq!(found, [made(0), made(69)]);
    let again = Settlement { dispatches: vec![dispatch(3)], ..settlement() };
    assert!(!store.commit(&again).await.unwrap_err().is_transient(), "a Message-ID is used once");
}

pub async fn answers_are_counted_for_each_recipient(place: Place) {
    let store = &place.store;
    store.take_in(&letters(0..4)).await.unwrap();
    for number in 0..4 {
        let mut made = dispatch(number);
        made.recipient = "ann@player.test".to_owned();
        made.answers = (number != 3).then(|| letter(number).digest);
        let when = at(i64::from(number) * 10);
        store.commit(&Settlement { at: when, dispatches: vec![made], ..settlement() }).await.unwrap();
    }
    let answers = async |recipient, since| store.answers_to(recipient, at(since)).await.unwrap();
    assert_eq!(answers("ann@player.test", 0).await, (3, Some((letter(2).digest, dispatch(2).bytes))));
    assert_eq!(answers("ann@player.test", 11).await, (1, Some((letter(2).digest, dispatch(2).bytes))));
    assert_eq!(answers("ann@player.test", 21).await, (0, None));
    assert_eq!(answers("bob@player.test", 0).await, (0, None));
}

pub async fn queues_say_what_waits_and_since_when(place: Place) {
    let store = &place.store;
    assert_eq!(store.queues().await.unwrap(), Queues::default());
    store.take_in(&letters(4..9)).await.unwrap();
    let decided = vec![decided(&letter(5), Fate::Ignored), decided(&letter(4), Fate::SetAside)];
    let due = MatchRow { wake_at: Some(at(90)), ..match_row("QZ-CCCC", 0) };
    store.commit(&Settlement { decided, matches: vec![due], ..settlement() }).await.unwrap();
    add_matches(store, &["QZ-AAAA", "QZ-BBBB"]).await;
    add_dispatches(store, 0..3).await;
    let ids = claim(store, 0, 60, 2).await;
    let given_up = Sent::GivenUp { error: String::new() };
    store.note_sent(at(1), &[(ids[0], Sent::Taken), (ids[1], given_up)]).await.unwrap();
    let queues = Queues {
        letters_waiting: 3,
        oldest_letter: Some(at(6)),
        dispatches_waiting: 1,
        oldest_dispatch: Some(at(0)),
        given_up: 1,
        matches_running: 3,
        set_aside: 1,
        next_wake: Some(at(90)),
    };
    assert_eq!(store.queues().await.unwrap(), queues);
}
