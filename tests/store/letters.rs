//! Incoming letters: stored once, in order, and decided once.

use chrono::{TimeDelta, Utc};
use fogpost::game::Seat;
use fogpost::letter::Digest;
use fogpost::store::{
    Changes, Claimable, LeftReason, LetterDecision, LetterStatus, NewLetter, StoreError, UnprovenLetter,
    UnprovenStage,
};

use crate::place::Place;
use crate::samples::*;

pub async fn waiting_letters_are_in_order_of_arrival(place: Place) {
    let mut letters = letters(0..130);
    letters.reverse();
    assert_eq!(place.store.insert_letters(&letters).await.unwrap(), 130);
    letters.reverse();
    let first = waiting_letters(&place.store, 0).await;
    assert_eq!(first.len(), 16, "as many of a lane as a claim holds");
    for (waiting, letter) in first.iter().zip(&letters) {
        assert_eq!(waiting.digest, letter.digest);
        assert_eq!(waiting.raw, letter.raw);
        assert_eq!(waiting.received_at, letter.received_at);
        assert_eq!(waiting.tries, 0);
    }
}

pub async fn a_letter_with_a_known_digest_is_stored_once(place: Place) {
    let store = &place.store;
    assert_eq!(store.insert_letters(&[letter(1), letter(2), letter(1)]).await.unwrap(), 2);
    assert_eq!(store.insert_letters(&[letter(2), letter(3)]).await.unwrap(), 1);
    assert_eq!(store.insert_letters(&letters(1..4)).await.unwrap(), 0);
    assert_eq!(store.insert_letters(&[]).await.unwrap(), 0);
    assert_eq!(waiting(store).await, [letter(1).digest, letter(2).digest, letter(3).digest]);
    assert_eq!(store.letter(letter(3).digest).await.unwrap(), Some(letter(3).raw));
    assert_eq!(store.letter(letter(4).digest).await.unwrap(), None);
}

/// The same letter by another route: other bytes, but the same Message-ID.
fn again(letter: &NewLetter, way: &str) -> NewLetter {
    let mut raw = format!("Received: from {way}\r\n").into_bytes();
    raw.extend(&letter.raw);
    NewLetter { digest: Digest::of(&raw), raw, ..letter.clone() }
}

pub async fn a_letter_sent_twice_is_stored_and_marked_repeated(place: Place) {
    let store = &place.store;
    let first = letter(1);
    let (second, third) = (again(&first, "here"), again(&first, "there"));
    assert_eq!(store.insert_letters(&[first.clone(), second.clone()]).await.unwrap(), 1);
    assert_eq!(store.insert_letters(std::slice::from_ref(&third)).await.unwrap(), 0);
    assert_eq!(waiting(store).await, [first.digest]);
    assert_eq!(store.letter(third.digest).await.unwrap(), Some(third.raw));
    let repeated = store.letters(Some(LetterStatus::Repeated), None, "", 10).await.unwrap();
    assert_eq!(repeated.len(), 2);
    let stranger = NewLetter { sender: "stranger@elsewhere.test".to_owned(), ..again(&first, "elsewhere") };
    assert_eq!(store.insert_letters(&[stranger]).await.unwrap(), 1, "a Message-ID proves nothing");
}

pub async fn a_letter_sent_as_another_one_waits_if_its_text_is_new(place: Place) {
    let store = &place.store;
    let first = letter(1);
    let with_text = |letter: NewLetter| NewLetter { new_text: Some(Digest::of(b"another text")), ..letter };
    let (second, third) = (with_text(again(&first, "here")), with_text(again(&first, "there")));
    assert_eq!(store.insert_letters(&[first.clone(), second.clone()]).await.unwrap(), 2);
    assert_eq!(store.insert_letters(&[third]).await.unwrap(), 0, "a copy of the second one");
    assert_eq!(waiting(store).await, [first.digest, second.digest]);
    let unnamed = NewLetter { message_id: String::new(), ..letter(3) };
    let found = store.first_sent_as(&[again(&first, "elsewhere"), letter(2), unnamed]).await.unwrap();
    assert_eq!(found, [Some((first.digest, first.raw.len() as u64)), None, None]);
}

pub async fn letters_from_the_spam_folder_are_counted(place: Place) {
    let store = &place.store;
    let spam = NewLetter { origin: "spam:imap:Spam/1/7".to_owned(), ..letter(7) };
    store.insert_letters(&[letter(6), spam]).await.unwrap();
    assert_eq!(store.spam_letters_since(at(7)).await.unwrap(), 1);
    assert_eq!(store.spam_letters_since(at(8)).await.unwrap(), 0);
}

pub async fn unproven_letters_without_an_answer_are_found_by_time(place: Place) {
    let store = &place.store;
    let player = store.find_or_add_player("bo@player.test", "Bo", at(0)).await.unwrap();
    store.insert_letters(&letters(0..4)).await.unwrap();
    let unproven = |number: u32, stage| UnprovenLetter {
        letter: letter(number).digest,
        code: format!("7K3M9P2Q4{number}"),
        player_id: Some(player.id),
        match_id: Some("QZ-AAAA".to_owned()),
        seat: Some(Seat::Second),
        gm: None,
        address: "bo@elsewhere.test".to_owned(),
        noted_at: at(i64::from(number) + 60),
        told: true,
        stage,
        confirmed_by: None,
    };
    let stages = [UnprovenStage::Open, UnprovenStage::Denied, UnprovenStage::Open, UnprovenStage::Open];
    let changes = Changes {
        decided: (0..4).map(|number| decided(&letter(number), LetterStatus::Ignored)).collect(),
        unproven: (0..).zip(stages).map(|(number, stage)| unproven(number, stage)).collect(),
        ..changes()
    };
    store.commit(&changes).await.unwrap();
    let found = async |from, until, limit| {
        let found = store.unanswered_letters(at(from), at(until), limit).await.unwrap();
        found.into_iter().map(|row| row.letter).collect::<Vec<_>>()
    };
    assert_eq!(found(60, 63, 10).await, [letter(0).digest, letter(2).digest]);
    assert_eq!(found(60, 99, 2).await, [letter(0).digest, letter(2).digest]);
    assert_eq!(found(61, 62, 10).await, []);
}

pub async fn letters_without_a_message_id_are_never_repeated(place: Place) {
    let first = NewLetter { message_id: String::new(), ..letter(1) };
    let second = again(&first, "there");
    assert_eq!(place.store.insert_letters(&[first, second]).await.unwrap(), 2);
}

pub async fn any_bytes_from_a_stranger_are_stored(place: Place) {
    let store = &place.store;
    let raw: Vec<u8> = (0..=255).cycle().take(300_000).collect();
    let odd = NewLetter {
        digest: Digest::of(&raw),
        raw: raw.clone(),
        received_at: at(0),
        origin: "maildir:\u{1f4a3}".to_owned(),
        message_id: "x".repeat(100_000),
        new_text: None,
        sender: "O'Neill\"; DROP TABLE letter; --\0@player.test".to_owned(),
        subject: "nul \0, $1, ?, {{ }}, \u{fffd}\u{200b}".to_owned(),
        tokens: vec!["\0".to_owned()],
        is_from_gm: false,
    };
    let bare = NewLetter { digest: Digest::of(b""), raw: Vec::new(), ..letter(2) };
    assert_eq!(store.insert_letters(&[odd.clone(), bare.clone()]).await.unwrap(), 2);
    assert_eq!(store.insert_letters(&[again(&odd, "there")]).await.unwrap(), 0);
    assert_eq!(store.letter(odd.digest).await.unwrap(), Some(raw));
    assert_eq!(store.letter(bare.digest).await.unwrap(), Some(Vec::new()));
    postpone(store, &odd, None, "a \0 in it").await;
    let row = &store.letters(None, None, &odd.digest.to_string(), 10).await.unwrap()[0];
    assert_eq!(row.subject, "nul \u{fffd}, $1, ?, {{ }}, \u{fffd}\u{200b}");
    assert_eq!(row.note, "a \u{fffd} in it");
    assert_eq!(row.size, 300_000);
    assert!(store.seats_by_token(&["\0".to_owned(), "\"]'".to_owned()]).await.unwrap().is_empty());
    assert!(store.player_by_address("\0@player.test").await.unwrap().is_none());
}

pub async fn a_failed_attempt_is_counted_with_its_reason(place: Place) {
    let store = &place.store;
    store.insert_letters(&letters(1..3)).await.unwrap();
    postpone(store, &letter(1), None, "no template").await;
    postpone(store, &letter(1), None, "still none").await;
    let tries: Vec<u32> = waiting_letters(store, 0).await.iter().map(|letter| letter.tries).collect();
    assert_eq!(tries, [2, 0]);
    let row = &store.letters(None, None, &letter(1).digest.to_string(), 1).await.unwrap()[0];
    assert_eq!((row.note.as_str(), row.status), ("still none", LetterStatus::Waiting));
}

pub async fn letters_are_listed_by_status_match_and_digest(place: Place) {
    let store = &place.store;
    store.insert_letters(&letters(0..6)).await.unwrap();
    add_matches(store, &["QZ-7K3M", "QZ-7K3N"]).await;
    let ruled = |number, match_id: &str| LetterDecision {
        seat: Some((match_id.to_owned(), Seat::Second)),
        ..decided(&letter(number), LetterStatus::Ruled)
    };
    let decisions = vec![
        ruled(1, "QZ-7K3M"),
        ruled(2, "QZ-7K3N"),
        ruled(3, "QZ-7K3M"),
        decided(&letter(4), LetterStatus::Automatic),
    ];
    store.commit(&Changes { decided: decisions, ..changes() }).await.unwrap();
    let subjects = async |status, match_id, digest: &str, limit| -> Vec<String> {
        let rows = store.letters(status, match_id, digest, limit).await.unwrap();
        rows.into_iter().map(|row| row.subject.replace("Orders ", "")).collect()
    };
    assert_eq!(subjects(None, None, "", 10).await, ["5", "4", "3", "2", "1", "0"]);
    assert_eq!(subjects(None, None, "", 2).await, ["5", "4"]);
    assert_eq!(subjects(Some(LetterStatus::Waiting), None, "", 10).await, ["5", "0"]);
    assert_eq!(subjects(Some(LetterStatus::Ruled), None, "", 10).await, ["3", "2", "1"]);
    assert_eq!(subjects(None, Some("QZ-7K3M"), "", 10).await, ["3", "1"]);
    assert_eq!(subjects(Some(LetterStatus::Automatic), Some("QZ-7K3M"), "", 10).await, [""; 0]);
    let digest = letter(2).digest.to_string();
    assert_eq!(subjects(None, None, &digest[..12], 10).await, ["2"]);
    assert_eq!(subjects(None, None, &digest.to_uppercase(), 10).await, ["2"]);
    assert_eq!(subjects(None, None, "no digest", 10).await, [""; 0]);
    let row = &store.letters(None, None, &digest, 1).await.unwrap()[0];
    assert_eq!(row.seat, Some(("QZ-7K3N".to_owned(), Seat::Second)));
    assert_eq!(row.note, "noted");
    assert_eq!(row.received_at, at(2));
}

pub async fn a_letter_is_decided_once(place: Place) {
    let store = &place.store;
    store.insert_letters(&letters(0..2)).await.unwrap();
    let ruling = Changes {
        decided: vec![decided(&letter(0), LetterStatus::Answered)],
        dispatches: vec![dispatch(1)],
        ..changes()
    };
    store.commit(&ruling).await.unwrap();
    let again = Changes {
        decided: vec![
            decided(&letter(1), LetterStatus::Answered),
            decided(&letter(0), LetterStatus::Answered),
        ],
        dispatches: vec![dispatch(2)],
        ..changes()
    };
    let error = store.commit(&again).await.unwrap_err();
    let what = format!("letter {}", letter(0).digest);
    assert!(matches!(&error, StoreError::Stale(stale) if *stale == what), "{error}");
    assert_eq!(store.list_dispatches(false, 10).await.unwrap().len(), 1, "no second answer");
    assert_eq!(waiting(store).await, [letter(1).digest]);
}

pub async fn a_letter_without_effect_can_be_requeued(place: Place) {
    let store = &place.store;
    store.insert_letters(&letters(0..2)).await.unwrap();
    postpone(store, &letter(0), None, "no template").await;
    let decide = async |number, status| {
        store.commit(&Changes { decided: vec![decided(&letter(number), status)], ..changes() }).await
    };
    decide(0, LetterStatus::SetAside).await.unwrap();
    decide(0, LetterStatus::Waiting).await.unwrap();
    assert_eq!(waiting(store).await, [letter(0).digest, letter(1).digest]);
    assert_eq!(waiting_letters(store, 0).await[0].tries, 0);
    decide(1, LetterStatus::Ruled).await.unwrap();
    assert!(matches!(decide(1, LetterStatus::Waiting).await, Err(StoreError::Stale(_))), "it had its effect");
}

/// A letter of this many bytes.
fn large(number: u32, bytes: usize) -> NewLetter {
    let mut raw = letter(number).raw;
    raw.resize(bytes, b' ');
    NewLetter { digest: Digest::of(&raw), raw, ..letter(number) }
}

pub async fn a_claim_holds_a_bounded_number_of_bytes(place: Place) {
    let store = &place.store;
    let letters: Vec<NewLetter> =
        [(1, 3_000_000), (2, 3_000_000), (3, 3_000_000), (4, 10_000_000), (5, 100), (6, 100)]
            .map(|(number, bytes)| large(number, bytes))
            .into();
    for letter in &letters {
        store.insert_letters(std::slice::from_ref(letter)).await.unwrap();
    }
    // What is larger than the bound is claimed alone.
    for numbers in [vec![0, 1], vec![2], vec![3], vec![4, 5], vec![]] {
        let Claimable { letters: claimed, claim, .. } = store.claim(at(1000), &[]).await.unwrap();
        let claimed: Vec<Digest> = claimed.iter().map(|letter| letter.digest).collect();
        let expected: Vec<&NewLetter> = numbers.iter().map(|number: &usize| &letters[*number]).collect();
        assert_eq!(claimed, expected.iter().map(|letter| letter.digest).collect::<Vec<_>>());
        let decided = expected.iter().map(|letter| decided(letter, LetterStatus::Ignored)).collect();
        store.commit_claimed(claim, &Changes { decided, ..changes() }).await.unwrap();
    }
}

pub async fn letters_in_work_are_known_until_their_daemon_is_done(place: Place) {
    let store = &place.store;
    let digests: Vec<Digest> = letters(0..3).iter().map(|letter| letter.digest).collect();
    assert_eq!(store.letters_in_work().await.unwrap(), []);
    store.note_in_work("one", &digests[..2]).await.unwrap();
    store.note_in_work("two", &digests[2..]).await.unwrap();
    let in_work = |of: &[(&str, &[Digest])]| -> Vec<(String, Vec<Digest>)> {
        of.iter().map(|(run, letters)| ((*run).to_owned(), letters.to_vec())).collect()
    };
    let noted = store.letters_in_work().await.unwrap();
    assert_eq!(noted, in_work(&[("one", &digests[..2]), ("two", &digests[2..])]));
    store.note_in_work("one", &digests[1..2]).await.unwrap();
    store.note_in_work("two", &[]).await.unwrap();
    assert_eq!(store.letters_in_work().await.unwrap(), in_work(&[("one", &digests[1..2])]));
    store.note_in_work("one", &[]).await.unwrap();
    assert_eq!(store.letters_in_work().await.unwrap(), []);
}

pub async fn the_first_mailbox_is_as_old_as_the_database_and_left_letters_are_noted_by_mailbox(place: Place) {
    let store = &place.store;
    let (before, later) = (Utc::now(), Utc::now() + TimeDelta::days(3));
    let first = store.mailbox_mark("imap gm INBOX", later).await.unwrap();
    assert!((first - before).abs() < TimeDelta::minutes(5), "{first}");
    assert_eq!(store.mailbox_mark("imap gm Club", later).await.unwrap().timestamp(), later.timestamp());
    let letters = ["imap:INBOX/7/1", "imap:INBOX/7/2", "imap:INBOX/7/3"].map(str::to_owned);
    store.note_left("imap gm INBOX", &letters, LeftReason::Old).await.unwrap();
    store.note_left("imap gm INBOX", &letters[2..], LeftReason::Unfiled).await.unwrap();
    store.note_left("imap gm Club", &letters[..1], LeftReason::Old).await.unwrap();
    store.forget_left("imap gm INBOX", &letters[..1]).await.unwrap();
    let left = store.left_letters("imap gm INBOX").await.unwrap();
    let expected = [(letters[1].clone(), LeftReason::Old), (letters[2].clone(), LeftReason::Unfiled)];
    assert_eq!(left, expected);
    assert_eq!(store.left_letters("imap gm Club").await.unwrap(), [(letters[0].clone(), LeftReason::Old)]);
}
