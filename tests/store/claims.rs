//! Claims on letters, and leases: at any time, at most one daemon has each.

use std::sync::Arc;
use std::time::Instant;

use fogpost::letter::Digest;
use fogpost::store::{Changes, Claim, Claimable, Database, LetterStatus, NewLetter, Wakeup, open};
use tokio::time::timeout;

use crate::place::{PATIENCE, Place};
use crate::samples::*;

/// Claims letters beside other claims, and returns the letters' digests and the claim.
async fn claim(store: &Arc<Database>) -> (Vec<Digest>, Claim) {
    digests(store.claim(at(1000), &[]).await.unwrap())
}

fn digests(claimed: Claimable) -> (Vec<Digest>, Claim) {
    (claimed.letters.iter().map(|letter| letter.digest).collect(), claimed.claim)
}

/// A letter with the token of a seat in `match_id`.
fn about(number: u32, match_id: &str) -> NewLetter {
    NewLetter {
        tokens: vec!["?".to_owned(), format!("{match_id}-first")],
        is_from_gm: false,
        ..letter(number)
    }
}

pub async fn letters_are_claimed_once(place: Place) {
    let store = &place.store;
    store.insert_letters(&letters(0..5)).await.unwrap();
    let (first, held) = claim(store).await;
    assert_eq!(first, letters(0..5).iter().map(|letter| letter.digest).collect::<Vec<_>>());
    let (second, rest) = claim(store).await;
    assert_eq!(second, []);
    // The letters can be claimed again as soon as the database notices that the claims are dropped.
    drop((held, rest));
    let began = Instant::now();
    while claim(store).await.0.len() < 5 {
        assert!(began.elapsed() < PATIENCE, "they stay claimed");
    }
}

pub async fn a_claim_ends_with_its_commit(place: Place) {
    let store = &place.store;
    store.insert_letters(&letters(0..2)).await.unwrap();
    let (_, held) = claim(store).await;
    let decided = vec![decided(&letter(0), LetterStatus::Ignored)];
    store.commit_claimed(held, &Changes { decided, ..changes() }).await.unwrap();
    let (rest, held) = claim(store).await;
    assert_eq!(rest, [letter(1).digest]);
    let stale = Changes { matches: vec![match_row("QZ-AAAA", 4)], ..changes() };
    store.commit_claimed(held, &stale).await.unwrap_err();
    let began = Instant::now();
    while claim(store).await.0 != [letter(1).digest] {
        assert!(began.elapsed() < PATIENCE, "failed changes release their claim");
    }
}

pub async fn a_letter_waits_for_earlier_ones_about_its_match(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA"]).await;
    add_seats(store, "QZ-AAAA").await;
    let came: Vec<NewLetter> = (1..18).map(|number| about(number, "QZ-AAAA")).collect();
    store.insert_letters(&came).await.unwrap();
    let (first, held) = claim(store).await;
    assert_eq!(first, came[..16].iter().map(|letter| letter.digest).collect::<Vec<_>>());
    assert_eq!(claim(store).await.0, [], "the last comes after them");
    let decided = came[..16].iter().map(|letter| decided(letter, LetterStatus::Ignored)).collect();
    store.commit_claimed(held, &Changes { decided, ..changes() }).await.unwrap();
    assert_eq!(waiting(store).await, [came[16].digest]);
}

pub async fn a_due_match_is_claimed_unless_another_daemon_works_on_its_letters(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA", "QZ-BBBB"]).await;
    add_seats(store, "QZ-AAAA").await;
    store.insert_letters(&[about(1, "QZ-AAAA")]).await.unwrap();
    let due = ["QZ-AAAA", "QZ-BBBB"].map(str::to_owned);
    let claimed = store.claim(at(1000), &due).await.unwrap();
    assert_eq!((claimed.matches, claimed.letters.len()), (due.to_vec(), 1), "both are of one claim");
    drop(claimed.claim);
    // The letter can be claimed again as soon as the database notices that the claim is dropped.
    let began = Instant::now();
    let held = loop {
        let (letters, held) = claim(store).await;
        if !letters.is_empty() {
            break held;
        }
        assert!(began.elapsed() < PATIENCE, "it stays claimed");
    };
    assert_eq!(store.claim(at(1000), &due).await.unwrap().matches, due[1..]);
    drop(held);
}

/// SQLite has one daemon, whose loop asks for a match once.
pub async fn the_houses_turns_are_claimed_once_and_keep_no_letter_waiting(place: Place) {
    let store = &place.store;
    let ids = ["QD-AAAA", "QD-BBBB"].map(str::to_owned);
    add_matches(store, &["QD-AAAA", "QD-BBBB"]).await;
    for id in &ids {
        add_seats(store, id).await;
    }
    let (first, held) = store.claim_house_turns(&ids[..1]).await.unwrap();
    assert_eq!(first, ids[..1]);
    if place.url.starts_with("postgres") {
        assert_eq!(store.claim_house_turns(&ids).await.unwrap().0, ids[1..]);
    }
    store.insert_letters(&[about(1, "QD-AAAA")]).await.unwrap();
    let (letters, of_letter) = claim(store).await;
    assert_eq!(letters, [letter(1).digest]);
    let ruled = Changes {
        decided: vec![decided(&letter(1), LetterStatus::Ignored)],
        matches: vec![match_row("QD-AAAA", 1)],
        ..changes()
    };
    let commit = store.commit_claimed(of_letter, &ruled);
    timeout(PATIENCE, commit).await.expect("the letter waits for the house").unwrap();
    drop(held);
    let began = Instant::now();
    while store.claim_house_turns(&ids).await.unwrap().0 != ids {
        assert!(began.elapsed() < PATIENCE, "they stay claimed");
    }
}

pub async fn the_oldest_waiting_letter_is_known_while_it_is_claimed(place: Place) {
    let store = &place.store;
    let oldest = async || store.oldest_waiting(at(50)).await.unwrap();
    assert_eq!(oldest().await, None);
    store.insert_letters(&letters(1..4)).await.unwrap();
    let (_, held) = claim(store).await;
    assert_eq!(oldest().await, Some(at(1)));
    let decided = vec![decided(&letter(1), LetterStatus::Ignored)];
    store.commit_claimed(held, &Changes { decided, ..changes() }).await.unwrap();
    postpone(store, &letter(2), Some(60), "later").await;
    assert_eq!(oldest().await, Some(at(3)), "a deferred letter holds up nothing");
    assert_eq!(store.oldest_waiting(at(60)).await.unwrap(), Some(at(2)));
}

/// A letter from an address that nobody has registered.
fn of_stranger(number: u32) -> NewLetter {
    NewLetter { is_from_gm: false, ..letter(number) }
}

pub async fn a_claim_holds_letters_of_players_before_those_of_strangers(place: Place) {
    let store = &place.store;
    store.insert_letters(&[of_stranger(1), letter(2), of_stranger(3), letter(4)]).await.unwrap();
    assert_eq!(waiting(store).await, [2, 4, 1, 3].map(|n| letter(n).digest));
}

pub async fn after_a_restore_letters_are_claimed_alone_whoever_wrote_them(place: Place) {
    let store = &place.store;
    store.insert_letters(&[of_stranger(1), letter(2), of_stranger(3), letter(4)]).await.unwrap();
    let next = async || store.claim_oldest(at(1000), at(3)).await.unwrap();
    for number in 1..4 {
        let (claimed, held) = digests(next().await.expect("no other claim is held"));
        assert_eq!(claimed, [letter(number).digest]);
        assert!(next().await.is_none(), "one at a time");
        let decided = vec![decided(&letter(number), LetterStatus::Answered)];
        store.commit_claimed(held, &Changes { decided, ..changes() }).await.unwrap();
    }
    let (none, _) = digests(next().await.expect("no other claim is held"));
    assert_eq!(none, [], "the fourth came after the restore");
}

pub async fn a_claim_holds_few_letters_of_strangers(place: Place) {
    let store = &place.store;
    let strangers: Vec<NewLetter> = (0..100).map(of_stranger).collect();
    store.insert_letters(&strangers).await.unwrap();
    let (small, claim) = claim(store).await;
    assert!((8..=64).contains(&small.len()), "{} small letters", small.len());
    let decided = strangers.iter().map(|letter| decided(letter, LetterStatus::Ignored)).collect();
    store.commit_claimed(claim, &Changes { decided, ..changes() }).await.unwrap();
    let large = (200..210).map(|number| {
        let mut raw = letter(number).raw;
        raw.resize(300_000, b' ');
        NewLetter { digest: Digest::of(&raw), raw, ..of_stranger(number) }
    });
    store.insert_letters(&large.collect::<Vec<_>>()).await.unwrap();
    let large = waiting_letters(store, 1000).await;
    let bytes: usize = large.iter().map(|letter| letter.raw.len()).sum();
    assert!(!large.is_empty() && bytes <= 1_000_000, "{bytes} bytes");
}

pub async fn letters_with_a_players_address_or_token_come_before_strangers(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA"]).await;
    add_seats(store, "QZ-AAAA").await;
    let from = |number, sender: &str| NewLetter { sender: sender.to_owned(), ..of_stranger(number) };
    let with_token = NewLetter { is_from_gm: false, ..about(2, "QZ-AAAA") };
    let with_other_token = NewLetter { tokens: vec!["QZ-BBBB-first".to_owned()], ..of_stranger(3) };
    let came = [of_stranger(1), with_token, with_other_token, from(4, "first@player.test"), from(5, "")];
    store.insert_letters(&came).await.unwrap();
    let first = waiting(store).await;
    assert_eq!(first[..2], [letter(2).digest, letter(4).digest]);
}

pub async fn letters_of_one_sender_stay_in_order(place: Place) {
    let store = &place.store;
    add_matches(store, &["QZ-AAAA"]).await;
    add_seats(store, "QZ-AAAA").await;
    let from = |number, sender: &str, tokens: &[String]| NewLetter {
        sender: sender.to_owned(),
        tokens: tokens.to_vec(),
        ..of_stranger(number)
    };
    store.insert_letters(&[from(1, "carl@player.test", &[]), from(2, "di@player.test", &[])]).await.unwrap();
    let token = ["QZ-AAAA-first".to_owned()];
    store.insert_letters(&[from(3, "carl@player.test", &token)]).await.unwrap();
    let came = [from(4, "eve@player.test", &[]), of_stranger(5), from(6, "eve@player.test", &token)];
    store.insert_letters(&came).await.unwrap();
    let first = waiting(store).await;
    assert_eq!(first[..4], [1, 3, 4, 6].map(|n| letter(n).digest), "a token shows who the sender is");
    store.find_or_add_player("Di@player.test", "Di", at(0)).await.unwrap();
    let first = waiting(store).await;
    assert_eq!(
        first[..5],
        [1, 2, 3, 4, 6].map(|n| letter(n).digest),
        "whoever registers brings their letters along"
    );
}

pub async fn one_senders_flood_leaves_room_in_each_claim(place: Place) {
    let store = &place.store;
    store.find_or_add_player("flood@player.test", "Flood", at(0)).await.unwrap();
    let of_flood = |number| NewLetter { sender: "flood@player.test".to_owned(), ..of_stranger(number) };
    let flood: Vec<NewLetter> = (0..600).map(of_flood).collect();
    store.insert_letters(&flood).await.unwrap();
    store.insert_letters(&letters(700..703)).await.unwrap();
    let mut ruled_on = Vec::new();
    while ruled_on.len() < 603 {
        let (digests, claim) = claim(store).await;
        assert!(!digests.is_empty() && digests.len() <= 40, "{} letters", digests.len());
        if ruled_on.is_empty() {
            let others = letters(700..703).iter().all(|other| digests.contains(&other.digest));
            assert!(others, "the others do not wait for the flood");
        }
        let all = flood.iter().cloned().chain(letters(700..703));
        let ruled = all.filter(|letter| digests.contains(&letter.digest));
        let decided = ruled.map(|letter| decided(&letter, LetterStatus::Ignored)).collect();
        store.commit_claimed(claim, &Changes { decided, ..changes() }).await.unwrap();
        ruled_on.extend(digests);
    }
    ruled_on.retain(|digest| flood.iter().any(|letter| letter.digest == *digest));
    let in_order = flood.iter().map(|letter| letter.digest).collect::<Vec<_>>();
    assert_eq!(ruled_on, in_order, "one sender's letters stay in order");
}

/// Two daemons on one database.
async fn two() -> Option<(Place, Arc<Database>, Arc<Database>)> {
    let place = Place::postgres().await?;
    let (first, second) = (Arc::clone(&place.store), open(&place.url).await.unwrap());
    Some((place, first, second))
}

#[tokio::test]
async fn daemons_share_letters_by_match() {
    let Some((_place, first, second)) = two().await else { return };
    add_matches(&first, &["QZ-AAAA", "QZ-BBBB"]).await;
    for id in ["QZ-AAAA", "QZ-BBBB"] {
        add_seats(&first, id).await;
    }
    first.insert_letters(&[about(1, "QZ-AAAA"), about(3, "QZ-AAAA")]).await.unwrap();
    let (ours, held) = claim(&first).await;
    assert_eq!(ours, [1, 3].map(|n| letter(n).digest));
    first.insert_letters(&[about(2, "QZ-BBBB"), about(7, "QZ-AAAA"), letter(4), letter(5)]).await.unwrap();
    let (theirs, others) = claim(&second).await;
    let mut expected = [2, 4, 5].map(|n| letter(n).digest);
    expected.sort_by_key(|digest| theirs.iter().position(|other| other == digest));
    assert_eq!(theirs, expected, "the other is about our match");
    assert_eq!(claim(&first).await.0, []);
    // Claims block neither reads of the match nor new letters about it.
    assert_eq!(second.matches(&["QZ-AAAA".to_owned()]).await.unwrap().len(), 1);
    second.insert_letters(&[about(6, "QZ-AAAA")]).await.unwrap();
    drop((held, others));
    assert!(second.is_shared());
}

#[tokio::test]
async fn claims_end_when_their_daemon_is_killed() {
    let Some((place, first, second)) = two().await else { return };
    first.insert_letters(&letters(0..3)).await.unwrap();
    add_dispatches(&first, 0..3).await;
    let (_letters, _claim) = claim(&first).await;
    let (sending, _sending_claim) = first.claim_dispatches(at(0), 9).await.unwrap();
    assert!(
        first.try_acquire_lease("the mailbox").await.unwrap()
            && !second.try_acquire_lease("the mailbox").await.unwrap()
    );
    assert_eq!((sending.len(), claim(&second).await.0.len()), (3, 0));
    // End its connections, as the end of its process would.
    place
        .execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() \
             AND (state = 'idle in transaction' OR query LIKE '%advisory%') AND pid <> pg_backend_pid()",
        )
        .await
        .unwrap();
    let began = Instant::now();
    let mut free = (0, 0, false);
    while free != (3, 3, true) {
        assert!(began.elapsed() < PATIENCE, "{free:?}");
        let (letters, held) = claim(&second).await;
        let (dispatches, sending) = second.claim_dispatches(at(0), 9).await.unwrap();
        let leased = matches!(second.try_acquire_lease("the mailbox").await, Ok(true));
        free = (letters.len(), dispatches.len(), leased);
        drop((held, sending));
    }
    // The first daemon notices that it lost the lease, and does not get it back.
    assert!(!matches!(first.try_acquire_lease("the mailbox").await, Ok(true)));
    assert!(!first.try_acquire_lease("the mailbox").await.unwrap());
}

#[tokio::test]
async fn a_lease_belongs_to_one_daemon_until_it_ends() {
    let Some((_place, first, second)) = two().await else { return };
    assert!(first.try_acquire_lease("the mailbox").await.unwrap());
    assert!(first.try_acquire_lease("the mailbox").await.unwrap(), "it keeps it");
    assert!(!second.try_acquire_lease("the mailbox").await.unwrap());
    assert!(second.try_acquire_lease("another mailbox").await.unwrap());
    first.close().await;
    let began = Instant::now();
    while !second.try_acquire_lease("the mailbox").await.unwrap() {
        assert!(began.elapsed() < PATIENCE, "nobody takes the lease over");
    }
}

#[tokio::test]
async fn releasing_a_lease_keeps_the_others() {
    let Some((_place, first, second)) = two().await else { return };
    assert!(
        first.try_acquire_lease("the mailbox").await.unwrap()
            && first.try_acquire_lease("another mailbox").await.unwrap()
    );
    first.release_lease("the mailbox").await;
    assert!(second.try_acquire_lease("the mailbox").await.unwrap());
    assert!(!second.try_acquire_lease("another mailbox").await.unwrap());
    assert!(!first.try_acquire_lease("the mailbox").await.unwrap(), "it is the other's now");
    first.release_lease("the mailbox").await;
    assert!(second.try_acquire_lease("the mailbox").await.unwrap(), "only one's own lease can be released");
}

#[tokio::test]
async fn a_daemon_is_woken_by_work_that_another_queues() {
    let Some((_place, first, second)) = two().await else { return };
    let hears = {
        let second = Arc::clone(&second);
        tokio::spawn(
            async move { (second.next_wakeup().await.unwrap(), second.next_wakeup().await.unwrap()) },
        )
    };
    // Repeat, because the other daemon may not be listening yet, and a missed wakeup is not repeated.
    let began = Instant::now();
    let mut number = 0;
    while !hears.is_finished() {
        assert!(began.elapsed() < PATIENCE, "no wakeup arrives");
        first.insert_letters(&[letter(number)]).await.unwrap();
        add_dispatches(&first, number..number + 1).await;
        number += 1;
    }
    let heard = hears.await.unwrap();
    assert!(heard == (Wakeup::Letters, Wakeup::Dispatches) || heard == (Wakeup::Dispatches, Wakeup::Letters));
}
