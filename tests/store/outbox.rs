//! The outbox: claims on dispatches, outcomes of sending, and counts, on every database.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::game::{Due, Seat};
use fogpost::letter::pictures::{dropped_from, take_out};
use fogpost::letter::{Digest, ReturnId};
use fogpost::referee::{MatchOverview, Stage};
use fogpost::store::{
    Changes, Claim, Database, DispatchFilter, LatestTimes, LetterStatus, MatchRow, NewDispatch, Queues,
    SendOutcome, Urgency, reminds,
};

use crate::place::{PATIENCE, Place};
use crate::samples::*;

/// Claims dispatches that are due at `now`, and returns their IDs and the claim.
async fn claim(store: &Arc<Database>, now: i64, limit: u32) -> (Vec<i64>, Claim) {
    let (claimed, claim) = store.claim_dispatches(at(now), limit).await.unwrap();
    (claimed.iter().map(|dispatch| dispatch.id).collect(), claim)
}

/// The IDs of the unclaimed dispatches that are due at `now`.
async fn due(store: &Arc<Database>, now: i64) -> Vec<i64> {
    let (ids, claim) = claim(store, now, 100).await;
    store.record_outcomes(claim, at(now), &[]).await.unwrap();
    ids
}

/// When the last of the queued dispatches is due.
async fn latest_due(store: &Arc<Database>) -> Option<DateTime<Utc>> {
    store.queues().await.unwrap().latest.dispatch
}

fn later(seconds: i64) -> SendOutcome {
    SendOutcome::Later { at: at(seconds), error: "450 try again".to_owned() }
}

pub async fn a_dispatch_is_claimed_until_its_claim_ends(place: Place) {
    let store = &place.store;
    add_dispatches(store, 0..5).await;
    assert_eq!(due(store, -1).await, [0; 0], "none is due before it was made");
    let (first, held) = store.claim_dispatches(at(0), 3).await.unwrap();
    for (claimed, number) in first.iter().zip(0..) {
        let made = dispatch(number);
        assert_eq!((&claimed.message_id, &claimed.recipient), (&made.message_id, &made.recipient));
        assert_eq!((&claimed.bytes, &claimed.kind, claimed.tries), (&made.bytes, &made.kind, 0));
    }
    assert_eq!(first.len(), 3);
    assert_eq!(due(store, 1).await.len(), 2, "the others");
    let (_, other) = claim(store, 999, 10).await;
    assert_eq!(due(store, 999).await, [0; 0]);
    store.record_outcomes(held, at(999), &[]).await.unwrap();
    let ids: Vec<i64> = first.iter().map(|claimed| claimed.id).collect();
    assert_eq!(due(store, 0).await, ids, "nothing was noted: they are due as before");
    // The dispatches can be claimed again as soon as the database notices that the claim is dropped.
    drop(other);
    let began = Instant::now();
    while due(store, 0).await.len() < 5 {
        assert!(began.elapsed() < PATIENCE, "they stay claimed");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

pub async fn concurrent_claims_share_the_dispatches(place: Place) {
    add_dispatches(&place.store, 0..200).await;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..8 {
        let store = Arc::clone(&place.store);
        tasks.spawn(async move {
            let mut ids = Vec::new();
            loop {
                let (more, claim) = claim(&store, 0, 10).await;
                if more.is_empty() {
                    return ids;
                }
                let sent: Vec<_> = more.iter().map(|id| (*id, SendOutcome::Taken)).collect();
                store.record_outcomes(claim, at(1), &sent).await.unwrap();
                ids.extend(more);
            }
        });
    }
    let claimed: Vec<i64> = tasks.join_all().await.concat();
    assert_eq!(claimed.len(), 200);
    assert_eq!(claimed.iter().collect::<BTreeSet<_>>().len(), 200);
}

pub async fn outcomes_of_sending_are_recorded(place: Place) {
    let store = &place.store;
    add_dispatches(store, 0..4).await;
    let (ids, held) = claim(store, 0, 10).await;
    let given_up = SendOutcome::GivenUp { error: "550 no such user \0".to_owned() };
    let results =
        [(ids[0], SendOutcome::Taken), (ids[1], later(300)), (ids[2], later(300)), (ids[2], given_up)];
    store.record_outcomes(held, at(5), &results).await.unwrap();
    store.record_outcomes(Claim::default(), at(5), &[]).await.unwrap();
    let rows = store.list_dispatches(false, 10).await.unwrap();
    let seen: Vec<_> =
        rows.iter().rev().map(|r| (r.sent_at, r.waiting, r.given_up_at, r.tries, r.error.as_str())).collect();
    assert_eq!(
        seen,
        [
            (Some(at(5)), false, None, 1, ""),
            (None, true, None, 1, "450 try again"),
            (None, false, Some(at(5)), 1, "550 no such user \u{fffd}"),
            (None, true, None, 0, "")
        ]
    );
    let unsent: Vec<i64> = store.list_dispatches(true, 10).await.unwrap().iter().map(|row| row.id).collect();
    assert_eq!(unsent, [ids[3], ids[2], ids[1]]);
    assert_eq!(due(store, 299).await, [ids[3]]);
    let (again, _claim) = store.claim_dispatches(at(300), 10).await.unwrap();
    assert_eq!((again[1].id, again[1].tries, again.len()), (ids[1], 1, 2));
}

pub async fn a_sent_dispatch_stays_sent(place: Place) {
    let store = &place.store;
    add_dispatches(store, 0..1).await;
    let (ids, held) = claim(store, 0, 1).await;
    store.record_outcomes(held, at(1), &[(ids[0], SendOutcome::Taken)]).await.unwrap();
    store.record_outcomes(Claim::default(), at(2), &[(ids[0], later(3))]).await.unwrap();
    assert_eq!(due(store, 99).await, [0; 0]);
    let row = &store.list_dispatches(false, 1).await.unwrap()[0];
    assert_eq!((row.sent_at, row.tries), (Some(at(1)), 1));
}

pub async fn a_dispatch_that_was_given_up_can_be_revived(place: Place) {
    let store = &place.store;
    add_dispatches(store, 0..1).await;
    let (ids, held) = claim(store, 0, 1).await;
    store
        .record_outcomes(held, at(1), &[(ids[0], SendOutcome::GivenUp { error: "550".to_owned() })])
        .await
        .unwrap();
    assert_eq!(due(store, 99).await, [0; 0]);
    assert_eq!(latest_due(store).await, None);
    store.record_outcomes(Claim::default(), at(100), &[(ids[0], later(100))]).await.unwrap();
    assert_eq!(due(store, 100).await, ids);
}

pub async fn letters_are_listed_by_when_they_were_given_up(place: Place) {
    let store = &place.store;
    add_dispatches(store, 0..3).await;
    let (ids, held) = claim(store, 0, 3).await;
    let given_up = SendOutcome::GivenUp { error: "550".to_owned() };
    store.record_outcomes(held, at(10), &[(ids[2], given_up.clone())]).await.unwrap();
    // The oldest letter was tried for the longest time.
    for (id, seconds) in [(ids[1], 49), (ids[0], 50)] {
        store.record_outcomes(Claim::default(), at(seconds), &[(id, given_up.clone())]).await.unwrap();
    }
    let found = async |since, limit| -> Vec<i64> {
        store.given_up_since(at(since), limit).await.unwrap().iter().map(|row| row.id).collect()
    };
    assert_eq!(found(0, 9).await, [ids[2], ids[1], ids[0]]);
    assert_eq!(found(50, 1).await, [ids[0]]);
    assert_eq!(found(51, 9).await, [0; 0]);
}

pub async fn of_two_outcomes_of_a_dispatch_the_last_counts(place: Place) {
    let store = &place.store;
    add_dispatches(store, 0..3).await;
    let (ids, held) = claim(store, 0, 3).await;
    let given_up = SendOutcome::GivenUp { error: "550".to_owned() };
    let mut results: Vec<_> = ids.iter().map(|id| (*id, given_up.clone())).collect();
    results.extend(ids.iter().map(|id| (*id, later(30))));
    store.record_outcomes(held, at(1), &results).await.unwrap();
    assert_eq!(due(store, 30).await, ids);
}

pub async fn what_is_queued_is_due_until_it_is_sent_or_deferred(place: Place) {
    let store = &place.store;
    assert_eq!(latest_due(store).await, None);
    add_dispatches(store, 0..2).await;
    assert_eq!(latest_due(store).await, Some(at(0)));
    let (ids, held) = claim(store, 0, 2).await;
    store.record_outcomes(held, at(1), &[(ids[0], SendOutcome::Taken), (ids[1], later(30))]).await.unwrap();
    assert_eq!(latest_due(store).await, Some(at(30)));
}

pub async fn dispatches_are_found_by_match_and_message_id(place: Place) {
    let store = &place.store;
    store.insert_letters(&letters(0..1)).await.unwrap();
    add_matches(store, &["QZ-AAAA"]).await;
    let mut dispatches: Vec<_> = (0..70).map(dispatch).collect();
    for made in &mut dispatches[1..4] {
        made.match_id = Some("QZ-AAAA".to_owned());
        made.seat = Some(Seat::Second);
        made.answers = Some(letter(0).digest);
    }
    store.commit(&Changes { dispatches: dispatches.clone(), at: at(7), ..changes() }).await.unwrap();
    let found = store.dispatches_of("QZ-AAAA").await.unwrap();
    assert_eq!(found.len(), 3);
    for ((row, bytes), made) in found.iter().zip(&dispatches[1..4]) {
        assert_eq!((&row.message_id, row.seat, bytes), (&made.message_id, made.seat, &made.bytes));
        assert_eq!((row.created_at, row.sent_at, row.given_up_at), (at(7), None, None));
    }
    let ids = ["d69@club.test", "d0@club.test", "nobody@club.test"].map(str::to_owned);
    let found = store.texts_by_message_id(&ids).await.unwrap();
    let made = |number: usize| (dispatches[number].message_id.clone(), dispatches[number].bytes.clone());
    assert_eq!(found, [made(0), made(69)]);
    let again = Changes { dispatches: vec![dispatch(3)], ..changes() };
    assert!(!store.commit(&again).await.unwrap_err().is_transient(), "a Message-ID is used once");
}

pub async fn queues_show_what_waits_and_since_when(place: Place) {
    let store = &place.store;
    assert_eq!(store.queues().await.unwrap(), Queues::default());
    store.insert_letters(&letters(4..9)).await.unwrap();
    let decided =
        vec![decided(&letter(5), LetterStatus::Ignored), decided(&letter(4), LetterStatus::SetAside)];
    let due = MatchRow { wake_at: Some(at(90)), ..match_row("QZ-CCCC", 0) };
    store.commit(&Changes { decided, matches: vec![due], ..changes() }).await.unwrap();
    add_matches(store, &["QZ-AAAA", "QZ-BBBB"]).await;
    add_dispatches(store, 0..3).await;
    let (ids, held) = claim(store, 0, 2).await;
    let given_up = SendOutcome::GivenUp { error: String::new() };
    store.record_outcomes(held, at(1), &[(ids[0], SendOutcome::Taken), (ids[1], given_up)]).await.unwrap();
    let queues = Queues {
        letters_waiting: 3,
        oldest_letter: Some(at(6)),
        dispatches_waiting: 1,
        oldest_dispatch: Some(at(0)),
        dispatch_error: None,
        given_up: 1,
        given_up_unseen: 1,
        matches_running: 3,
        set_aside: 1,
        next_wake: Some(at(90)),
        latest: LatestTimes { dispatch: Some(at(0)), wake: Some(at(90)), ..LatestTimes::default() },
    };
    assert_eq!(store.queues().await.unwrap(), queues);
    let (ids, held) = claim(store, 0, 1).await;
    let later = SendOutcome::Later { at: at(50), error: "451 busy".to_owned() };
    store.record_outcomes(held, at(2), &[(ids[0], later)]).await.unwrap();
    assert_eq!(store.queues().await.unwrap().dispatch_error.as_deref(), Some("451 busy"));
    assert_eq!(store.refused_since(at(0), 10).await.unwrap().len(), 1);
}

pub async fn a_letter_with_a_picture_is_read_back_byte_for_byte(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA"]).await;
    let of_match = |sent: NewDispatch| NewDispatch { match_id: Some("QZ-AAAA".to_owned()), ..sent };
    let sent = [of_match(dispatch_with_picture(0)), of_match(dispatch(1))];
    let dispatches = sent.to_vec();
    store.commit(&Changes { dispatches, ..changes() }).await.unwrap();
    let bytes: Vec<&[u8]> = sent.iter().map(|sent| &sent.bytes[..]).collect();

    let found = store.dispatches_of("QZ-AAAA").await.unwrap();
    assert_eq!(found.iter().map(|(_, bytes)| &bytes[..]).collect::<Vec<_>>(), bytes);
    let ids = sent.each_ref().map(|sent| sent.message_id.clone());
    let texts = store.texts_by_message_id(&ids).await.unwrap();
    assert!(
        bytes[0].starts_with(&texts[0].1[..100]) && texts[0].1.len() < bytes[0].len(),
        "without the picture"
    );
    assert_eq!(texts[1].1, bytes[1]);
    let mut found = Vec::new();
    store.sent_after("QZ-AAAA", i64::MIN, 10, &mut |row| found.push(row.bytes)).await.unwrap();
    assert_eq!(found, bytes);
    let (found, _claim) = store.claim_dispatches(at(0), 10).await.unwrap();
    assert_eq!(found.iter().map(|claimed| &claimed.bytes[..]).collect::<Vec<_>>(), bytes);

    let error = place.execute("UPDATE dispatch_picture SET picture = picture").await.unwrap_err();
    assert!(error.to_string().contains("a dispatch is never changed"), "{error}");
    let error = place.execute("DELETE FROM dispatch_picture").await.unwrap_err();
    assert!(error.to_string().contains("a dispatch is never deleted"), "{error}");
}

pub async fn the_picture_of_a_letter_is_dropped_seven_days_after_it_was_sent_and_its_digest_stays(
    place: Place,
) {
    let store = &place.store;
    let day = |days: i64| at(1) + TimeDelta::days(days);
    let dispatches: Vec<_> = (0..3).map(dispatch_with_picture).collect();
    store.commit(&Changes { dispatches: dispatches.clone(), ..changes() }).await.unwrap();
    let (claimed, claim) = store.claim_dispatches(at(1), 2).await.unwrap();
    let sent: Vec<_> = claimed.iter().map(|row| (row.id, SendOutcome::Taken)).collect();
    store.record_outcomes(claim, at(1), &sent).await.unwrap();
    let late = store.drop_pictures(day(7) - TimeDelta::milliseconds(1), 10).await.unwrap();
    assert_eq!(late, 0, "they may still be needed");
    for sql in [
        "UPDATE dispatch SET dropped = 'x', dropped_at = sent_at + 604799999",
        "UPDATE dispatch SET dropped_at = sent_at + 604800000",
        "UPDATE dispatch SET dropped = 'x', dropped_at = 99999999999999 WHERE sent_at IS NULL",
    ] {
        let error = place.execute(sql).await.expect_err(sql);
        assert!(error.to_string().contains("a dispatch is never changed"), "{sql}: {error}");
    }
    let dropped = [store.drop_pictures(day(7), 1).await, store.drop_pictures(day(7), 10).await];
    assert_eq!(dropped.map(Result::unwrap), [1, 1], "the third was not sent");
    let found = store.find_dispatches(&DispatchFilter::default(), 10).await.unwrap();
    for (row, bytes) in found {
        let whole = &dispatches.iter().find(|sent| sent.message_id == row.message_id).unwrap().bytes;
        let (text, picture) = take_out(whole).expect("a picture");
        match row.sent_at {
            Some(_) => assert_eq!(dropped_from(&bytes), Some(Digest::of(&picture))),
            None => assert_eq!(&bytes, whole),
        }
        assert_eq!(take_out(&bytes).expect("its place").0, text);
    }
    for sql in [
        "UPDATE dispatch SET dropped = NULL, dropped_at = NULL WHERE dropped_at IS NOT NULL",
        "UPDATE dispatch SET dropped_at = dropped_at + 1 WHERE dropped_at IS NOT NULL",
    ] {
        assert!(place.execute(sql).await.is_err(), "{sql}");
    }
}

pub async fn a_dispatch_is_found_by_the_id_in_its_return_path(place: Place) {
    let store = &place.store;
    let ids = [1, 2].map(|number| ReturnId::from_random([number; 12]));
    let mut dispatches = vec![dispatch(0), dispatch(1), dispatch(2)];
    (dispatches[0].return_id, dispatches[1].return_id) = (Some(ids[0].clone()), Some(ids[1].clone()));
    store.commit(&Changes { dispatches, ..changes() }).await.unwrap();
    let (claimed, _held) = store.claim_dispatches(at(0), 3).await.unwrap();
    let kept: Vec<_> = claimed.iter().map(|dispatch| dispatch.return_id.clone()).collect();
    assert_eq!(kept, [Some(ids[0].clone()), Some(ids[1].clone()), None]);
    let asked = [ids[1].as_str().to_owned(), "0".repeat(ReturnId::LENGTH)];
    let found = store.message_ids_by_return_id(&asked).await.unwrap();
    assert_eq!(found, [(ids[1].as_str().to_owned(), dispatch(1).message_id)]);
    assert!(place.execute("UPDATE dispatch SET return_id = 'x' WHERE return_id IS NOT NULL").await.is_err());
}

pub async fn a_digest_takes_the_place_of_one_that_still_waits(place: Place) {
    let store = &place.store;
    let digest = |number, recipient: &str| NewDispatch {
        urgency: Urgency::Digest,
        recipient: recipient.to_owned(),
        ..dispatch(number)
    };
    let first = vec![digest(0, "ann@player.test"), digest(1, "bob@player.test"), dispatch(2)];
    store.commit(&Changes { dispatches: first, ..changes() }).await.unwrap();
    let replaced_digests = vec![("ann@player.test".to_owned(), dispatch(0).kind)];
    let dispatches = vec![digest(3, "ann@player.test")];
    store.commit(&Changes { dispatches, replaced_digests, ..changes() }).await.unwrap();
    let (claimed, _held) = store.claim_dispatches(at(0), 9).await.unwrap();
    let mut due: Vec<_> = claimed.into_iter().map(|dispatch| dispatch.message_id).collect();
    due.sort();
    assert_eq!(due, [1, 2, 3].map(|number| dispatch(number).message_id));
    let lapsed = &store.list_dispatches(false, 9).await.unwrap()[3];
    assert_eq!((lapsed.waiting, lapsed.sent_at, lapsed.given_up_at), (false, None, None));
    assert_eq!(store.list_dispatches(true, 9).await.unwrap().len(), 3, "nobody needs to send it");
}

pub async fn a_reminder_lapses_once_what_it_is_about_has_changed(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA"]).await;
    let seat = Seat::Second;
    let before = MatchOverview { deadline: Some(at(90)), ..match_row("QZ-AAAA", 1).overview };
    let due = before.due.clone().expect("orders are due");
    let reminder = NewDispatch {
        match_id: Some("QZ-AAAA".to_owned()),
        seat: Some(seat),
        reminds: reminds(&before, seat),
        ..dispatch(0)
    };
    assert!(reminder.reminds.is_some() && before.awaited == [seat]);
    store.commit(&Changes { dispatches: vec![reminder], ..changes() }).await.unwrap();
    let changed = [
        (false, before.clone()),
        (false, MatchOverview { awaited: Seat::BOTH.to_vec(), ..before.clone() }),
        (true, MatchOverview { awaited: vec![seat.other()], ..before.clone() }),
        (
            true,
            MatchOverview { deadline: before.deadline.map(|at| at + TimeDelta::hours(1)), ..before.clone() },
        ),
        (true, MatchOverview { due: Some(Due { turn: 8, ..due }), ..before.clone() }),
        (true, MatchOverview { stage: Stage::Paused, ..before.clone() }),
        (false, before),
    ];
    for (version, (has_lapsed, overview)) in (1..).zip(changed) {
        let row = MatchRow { overview, ..match_row("QZ-AAAA", version) };
        store.commit(&Changes { matches: vec![row], ..changes() }).await.unwrap();
        let (claimed, held) = store.claim_dispatches(at(0), 9).await.unwrap();
        assert_eq!(claimed.iter().map(|one| one.has_lapsed).collect::<Vec<_>>(), [has_lapsed], "{version}");
        store.record_outcomes(held, at(0), &[]).await.unwrap();
    }
    let (ids, held) = claim(store, 0, 9).await;
    store.record_outcomes(held, at(1), &[(ids[0], SendOutcome::Lapsed)]).await.unwrap();
    assert_eq!(latest_due(store).await, None);
    let row = &store.list_dispatches(false, 1).await.unwrap()[0];
    assert_eq!((row.waiting, row.sent_at, row.given_up_at, row.tries), (false, None, None, 0));
}
