//! The times at which an IMAP server says that letters arrived: what they are worth, and the order of reading
//! that follows from them.

use std::collections::BTreeSet;

use chrono::{DateTime, TimeDelta, Utc};
use fogpost_post::{FetchedLetter, InboxMessage, LeftLetters, Taken};

use crate::fakes::imap::{Act, Imap};
use crate::support::{Running, imap_inbox, letter, subjects};

/// An INTERNALDATE as a server writes it whose clock shows this many hours more than ours.
fn ahead(hours: i64) -> String {
    stated(Utc::now() + TimeDelta::hours(hours))
}

fn stated(at: DateTime<Utc>) -> String {
    at.format("%d-%b-%Y %H:%M:%S +0000").to_string()
}

/// Hours from the time of a letter's arrival until now, if the time can be used.
fn age(letter: &FetchedLetter) -> Option<i64> {
    letter.arrivals.first().map(|at| {
        assert_eq!(*at, letter.received_at);
        ((Utc::now() - *at).num_minutes() + 30).div_euclid(60)
    })
}

#[tokio::test]
async fn a_letter_that_comes_while_the_session_watches_shows_the_servers_zone() {
    for zone in [-8, -1, 1, 5] {
        let server = Imap::start(|_, _| Act::Proper).await;
        // It came two hours before the session began.
        server.mail().arrivals.insert(1, ahead(zone - 2));
        server.deliver([letter("before")]);
        let mut running = Running::start(imap_inbox(server.port));
        let before = running.letters().await;
        // Until then its time counts, except that it cannot have come after now.
        assert_eq!(age(&before[0]), Some((2 - zone).max(0)), "{zone}");
        for (uid, arrived, wanted) in [
            (2, ahead(zone), Some(0)),
            // Somebody copies a letter of last week into the folder.
            (3, ahead(-7 * 24), None),
            (4, ahead(zone), Some(0)),
        ] {
            server.until(|mail| mail.count("IDLE") > mail.count("DONE")).await;
            server.mail().arrivals.insert(uid, arrived);
            server.deliver([letter("watched")]);
            let watched = running.letters().await;
            assert_eq!(age(&watched[0]), wanted, "{zone} {uid}");
            assert!(Utc::now() - watched[0].received_at < TimeDelta::minutes(20), "{zone} {uid}");
        }
        running.stop().await;
    }
}

#[tokio::test]
async fn what_a_session_learned_of_the_servers_clock_corrects_what_came_before_the_next_one() {
    let server = Imap::start(|step, n| match (step, n) {
        ("IDLE", 1) => Act::Instead("* BYE going down"),
        _ => Act::Proper,
    })
    .await;
    server.mail().arrivals.extend([(1, ahead(-5)), (2, ahead(-5 - 3)), (3, ahead(2 * 24))]);
    let mut running = Running::start(imap_inbox(server.port));
    server.until(|mail| mail.count("IDLE") == 1).await;
    server.deliver([letter("watched")]);
    assert_eq!(age(&running.letters().await[0]), Some(0));
    // The server ends the next session at once, and these letters come before there is another.
    server.until(|mail| mail.count("IDLE") == 2).await;
    server.deliver([letter("three hours ago"), letter("in two days")]);
    let letters = running.letters().await;
    assert_eq!(letters.iter().map(age).collect::<Vec<_>>(), [Some(3), None]);
    running.stop().await;
}

/// Letters that replace each other are read in their order, and old ones only then.
#[tokio::test]
async fn new_letters_are_read_first_and_in_their_order_however_many_old_ones_lie_between() {
    let server = Imap::start(|_, _| Act::Proper).await;
    let began = Utc::now() - TimeDelta::days(30);
    let mark = began + TimeDelta::days(20);
    let old = |i: u32| letter(&format!("old {i}"));
    server.deliver([old(0), letter("first orders")]);
    server.deliver((1..=200).map(old));
    server.deliver([letter("other orders")]);
    {
        let mut mail = server.mail();
        let years_ago = stated(began - TimeDelta::days(700));
        mail.arrivals.extend((1..=203).map(|uid| (uid, years_ago.clone())));
        // The first orders came before this mailbox was the club's, but answer one of its letters.
        mail.arrivals.insert(2, stated(began + TimeDelta::days(10)));
        mail.arrivals.insert(203, ahead(-1));
    }
    let left = LeftLetters { mark: Some(mark), began: Some(began), ..LeftLetters::default() };
    let (messages, mut running) = (&mut Vec::new(), Running::start_with(imap_inbox(server.port), left));
    let (mut looked_at, mut stored) = (BTreeSet::new(), Vec::new());
    while looked_at.len() < 202 {
        match running.message().await {
            InboxMessage::Letters(batch) => {
                messages.push("letters");
                stored.extend(subjects(&batch.letters));
                batch.stored.send(Taken::All).expect("the inbox waits for it");
            }
            InboxMessage::Beginnings { letters, old } => {
                messages.push("beginnings");
                let names = subjects(&letters);
                let places = (0..names.len()).filter(|place| names[*place].starts_with("old"));
                old.send(places.collect()).expect("the inbox waits for it");
                looked_at.extend(names);
            }
            InboxMessage::Filed { compared, .. } => compared.send(()).expect("the inbox waits for it"),
            InboxMessage::Unfiled(_) | InboxMessage::Gone(_) => {}
        }
    }
    assert_eq!(stored, ["first orders", "other orders"]);
    assert_eq!(
        messages[..3],
        ["beginnings", "letters", "beginnings"],
        "the old ones come last: {messages:?}"
    );
    // The mailbox counts as read, and later letters are read as before.
    running.until(|health| health.last_ok.is_some()).await;
    server.until(|mail| mail.count("IDLE") > mail.count("DONE")).await;
    server.mail().arrivals.insert(204, ahead(0));
    server.deliver([letter("later")]);
    assert_eq!(subjects(&running.letters().await), ["later"]);
    // The old ones stay.
    server.until(|mail| mail.inbox.len() == 201).await;
    running.stop().await;
}

/// A letter that comes while old ones are looked at waits for none of them, even at a server that searches only among
/// the letters that it told of, as Courier does.
#[tokio::test]
async fn a_letter_that_comes_while_old_ones_are_looked_at_is_found_by_the_next_look() {
    let server = Imap::start(|_, _| Act::Proper).await;
    let began = Utc::now() - TimeDelta::days(30);
    server.deliver((1..=40).map(|i| letter(&format!("old {i}"))));
    {
        let mut mail = server.mail();
        mail.searches_what_it_told = true;
        let years_ago = stated(began - TimeDelta::days(700));
        mail.arrivals.extend((1..=40).map(|uid| (uid, years_ago.clone())));
    }
    let left = LeftLetters { mark: Some(began), began: Some(began), ..LeftLetters::default() };
    let mut running = Running::start_with(imap_inbox(server.port), left);
    let mut is_delivered = false;
    let stored = loop {
        match running.message().await {
            InboxMessage::Letters(batch) => {
                let stored = subjects(&batch.letters);
                batch.stored.send(Taken::All).expect("the inbox waits for it");
                break stored;
            }
            InboxMessage::Beginnings { letters, old } => {
                if !is_delivered {
                    server.deliver([letter("orders")]);
                    is_delivered = true;
                }
                old.send((0..letters.len()).collect()).expect("the inbox waits for it");
            }
            InboxMessage::Filed { compared, .. } => compared.send(()).expect("the inbox waits for it"),
            InboxMessage::Unfiled(_) | InboxMessage::Gone(_) => {}
        }
    };
    assert_eq!(stored, ["orders"]);
    assert_eq!(server.mail().count("IDLE"), 0);
    running.stop().await;
}
