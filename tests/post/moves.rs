//! Letters that cannot be moved out of their folder: they are stored and read past, and hold up no other.

use std::collections::BTreeSet;

use fogpost::daemon::loops;
use fogpost::post::{FetchedLetter, Health, InboxMessage, LeftLetters, Taken};
use fogpost::store::LeftReason;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

use crate::club::{NOW, office};
use crate::fakes::imap::{Act, Imap};
use crate::support::{PATIENCE, Running, imap_inbox, letter, subject, subjects};
use fogpost_testing::random::Random;

/// A server that refuses these steps with these words, the first `times`.
async fn refusing(step: &'static str, words: &'static str, times: usize) -> Imap {
    Imap::start(move |s, n| if s == step && n < times { Act::Instead(words) } else { Act::Proper }).await
}

/// Empties a mailbox as `run --once` does, with the letters that were left before, and notes those that are left.
async fn drain(server: &Imap, left: &mut LeftLetters) -> Vec<FetchedLetter> {
    let (to, mut messages) = mpsc::channel(1);
    let draining = imap_inbox(server.port).drain(left.clone(), to, watch::channel(Health::default()).0);
    let storing = async {
        let mut all = Vec::new();
        while let Some(message) = messages.recv().await {
            match message {
                InboxMessage::Letters(batch) => {
                    all.extend(batch.letters);
                    batch.stored.send(Taken::All).expect("the inbox waits for it");
                }
                InboxMessage::Beginnings { .. } | InboxMessage::Filed { .. } => {
                    panic!("nobody has set a mark")
                }
                InboxMessage::Unfiled(letters) => left.unfiled.extend(letters),
                InboxMessage::Gone(letters) => left.unfiled.retain(|letter| !letters.contains(letter)),
            }
        }
        all
    };
    let (drained, all) = timeout(PATIENCE, async { tokio::join!(draining, storing) }).await.expect("in time");
    drained.expect("the mailbox is read");
    all
}

#[tokio::test]
async fn a_letter_that_cannot_be_moved_is_read_past_and_one_is_tried_at_each_look() {
    let server = refusing("MOVE", "TAG NO [OVERQUOTA] Not enough disk quota", 4).await;
    server.deliver([letter("0"), letter("1")]);
    let mut running = Running::start(imap_inbox(server.port));
    assert_eq!(subjects(&running.letters().await), ["0", "1"]);
    for number in 2..5 {
        running.until_left(|left| left.unfiled.len() == number).await;
        server.deliver([letter(&number.to_string())]);
        assert_eq!(subjects(&running.letters().await), [number.to_string()]);
    }
    running.until_left(|left| left.unfiled.len() == 5).await;
    running.until(|health| health.unfiled.is_some()).await;
    let health = running.health.borrow().clone();
    let reason = health.unfiled.expect("a reason");
    for part in ["Processed", "Not enough disk quota", "inbox.imap.processed"] {
        assert!(reason.contains(part), "{reason}");
    }
    assert_eq!(health.trouble, None, "the mailbox is read");
    // Each look tried one letter, another one each time.
    let moves = |server: &Imap| -> Vec<String> {
        let lines = server.mail().lines.clone();
        lines.iter().filter_map(|line| Some(line.split_once("UID MOVE ")?.1.to_owned())).collect()
    };
    assert_eq!(moves(&server), ["1:2", "1", "2", "3"].map(|uids| format!("{uids} \"Processed\"")));
    server.deliver([letter("5")]);
    assert_eq!(subjects(&running.letters().await), ["5"]);
    running.until_left(|left| left.unfiled.is_empty()).await;
    running.until(|health| health.unfiled.is_none()).await;
    assert_eq!(moves(&server)[4..], ["4", "1:3,5", "6"].map(|uids| format!("{uids} \"Processed\"")));
    assert_eq!(server.mail().inbox.len(), 0);
    assert_eq!(server.mail().count("LOGIN"), 1);
    running.stop().await;
}

#[tokio::test]
async fn a_letter_that_cannot_be_moved_is_not_read_again_after_a_restart() {
    let server = refusing("MOVE", "TAG NO [NOPERM] Permission denied", 2).await;
    server.deliver([letter("0")]);
    let mut left = LeftLetters::default();
    assert_eq!(drain(&server, &mut left).await.len(), 1);
    assert_eq!(Vec::from_iter(&left.unfiled), ["imap:INBOX/7/1"]);
    assert_eq!(drain(&server, &mut left).await.len(), 0);
    assert_eq!(server.mail().count("FETCH"), 1);
    assert_eq!(drain(&server, &mut left).await.len(), 0);
    assert_eq!((server.mail().inbox.len(), left), (0, LeftLetters::default()));
}

#[tokio::test]
async fn a_letter_that_was_copied_but_not_deleted_is_not_copied_again() {
    let server = refusing("EXPUNGE", "TAG NO not now", 2).await;
    server.mail().capabilities = "IMAP4rev1 IDLE UIDPLUS";
    server.deliver([letter("0")]);
    let mut running = Running::start(imap_inbox(server.port));
    assert_eq!(running.letters().await.len(), 1);
    for number in 1..3 {
        running.until_left(|left| left.unfiled.len() == number).await;
        server.deliver([letter(&number.to_string())]);
        assert_eq!(running.letters().await.len(), 1);
    }
    running.until_left(|left| left.unfiled.is_empty()).await;
    assert_eq!(server.mail().inbox.len(), 0);
    assert_eq!(server.mail().processed.len(), 3);
    running.stop().await;
}

/// Some servers close the connection when a letter is moved.
#[tokio::test]
async fn a_move_that_breaks_the_connection_does_not_stop_reading() {
    let bye = Act::Instead("* BYE going down");
    // The fake moves letters before it closes the connection.
    let steps = [
        ("CREATE", Act::CloseAfter(0)),
        ("CREATE", bye),
        ("STORE", Act::CloseAfter(0)),
        ("STORE", bye),
        ("MOVE", bye),
    ];
    for (step, act) in steps {
        let server = Imap::start(move |s, _| if s == step { act } else { Act::Proper }).await;
        server.deliver([letter("0")]);
        let mut running = Running::start(imap_inbox(server.port));
        assert_eq!(subjects(&running.letters().await), ["0"]);
        for number in 1..4 {
            running.until_left(|left| left.unfiled.len() == number).await;
            server.deliver([letter(&number.to_string())]);
            assert_eq!(subjects(&running.letters().await), [number.to_string()], "{step} {act:?}");
        }
        running.until(|health| health.unfiled.is_some() && health.trouble.is_none()).await;
        let reason = running.health.borrow().unfiled.clone().expect("a reason");
        assert!(reason.contains("the connection broke; see inbox.imap.processed"), "{reason}");
        running.stop().await;
        // The next start knows all four.
        server.deliver([letter("4")]);
        let mut left = LeftLetters { unfiled: unfiled(1..5), ..LeftLetters::default() };
        assert_eq!(subjects(&drain(&server, &mut left).await), ["4"], "{step} {act:?}");
    }
}

#[tokio::test]
async fn moves_that_break_the_connection_are_tried_ever_more_rarely() {
    let server = Imap::start(|s, _| if s == "STORE" { Act::CloseAfter(0) } else { Act::Proper }).await;
    server.deliver([letter("0")]);
    let mut running = Running::start(imap_inbox(server.port));
    assert_eq!(subjects(&running.letters().await), ["0"]);
    for number in 1..30 {
        running.until_left(|left| left.unfiled.len() == number).await;
        server.deliver([letter(&number.to_string())]);
        assert_eq!(subjects(&running.letters().await), [number.to_string()]);
    }
    // The first, and one after each of 1, 2, 4 and 8 looks without an attempt.
    let moves = server.mail().count("STORE");
    assert!((3..=5).contains(&moves), "{moves}");
    assert_eq!(server.mail().count("LOGIN"), moves + 1);
    running.stop().await;
}

/// The origins of letters with these UIDs.
fn unfiled(uids: std::ops::Range<u32>) -> BTreeSet<String> {
    uids.map(|uid| format!("imap:INBOX/7/{uid}")).collect()
}

#[tokio::test]
async fn a_folder_that_vanished_is_created_again() {
    let server = refusing("MOVE", "TAG NO [TRYCREATE] Mailbox doesn't exist: Processed", 1).await;
    server.mail().listing = vec!["* LIST () \"/\" INBOX", "* LIST () \"/\" Processed"];
    server.deliver([letter("0")]);
    let mut left = LeftLetters::default();
    assert_eq!(drain(&server, &mut left).await.len(), 1);
    let mail = server.mail();
    assert_eq!((mail.inbox.len(), mail.count("CREATE")), (0, 1));
    assert_eq!(left, LeftLetters::default());
}

/// The answers of a server that does not move letters.
const REFUSALS: [&str; 5] = [
    "TAG NO [OVERQUOTA] Not enough disk quota",
    "TAG NO [TRYCREATE] Mailbox doesn't exist",
    "TAG NO Client tried to access nonexistent namespace",
    "TAG BAD Could not parse command",
    "* NO \u{fffd}\u{e9}\r\nTAG NO [CANNOT] Nicht m\u{f6}glich",
];

/// The law of the inbox: whatever sequence of refusals a server gives, and however often the program starts anew, each
/// letter is handed over once; and when the server moves letters again, each is moved once.
#[tokio::test]
async fn each_letter_is_read_once_and_moved_once_whatever_the_server_refuses() {
    for seed in 0..40 {
        let refuses = move |step: &str, before: usize| {
            let of_moves = ["LIST", "CREATE", "STORE", "COPY", "MOVE", "EXPUNGE"].contains(&step);
            let mut random = Random::new(seed * 10_007 + before as u64 * 101 + step.len() as u64 * 7);
            match (of_moves && before < 12 && random.once_in(2), step) {
                (true, "CREATE" | "STORE" | "MOVE") if random.once_in(4) => Act::CloseAfter(0),
                (true, _) => Act::Instead(REFUSALS[random.below(REFUSALS.len())]),
                (false, _) => Act::Proper,
            }
        };
        let server = Imap::start(refuses).await;
        let has_move = seed % 2 == 0;
        server.mail().capabilities = if has_move { "IMAP4rev1 IDLE MOVE" } else { "IMAP4rev1 IDLE UIDPLUS" };
        let (mut random, mut left, mut handed_over) = (Random::new(seed), LeftLetters::default(), Vec::new());
        let mut delivered = 0;
        for _ in 0..20 {
            let new = delivered..delivered + random.below(4);
            delivered = new.end;
            server.deliver(new.map(|number| letter(&number.to_string())));
            handed_over.extend(subjects(&drain(&server, &mut left).await));
        }
        for _ in 0..24 {
            drain(&server, &mut left).await;
        }
        let all: BTreeSet<String> = (0..delivered).map(|number| number.to_string()).collect();
        assert_eq!(handed_over.len(), delivered, "seed {seed}: {handed_over:?}");
        assert_eq!(BTreeSet::from_iter(handed_over), all, "seed {seed}");
        let mail = server.mail();
        let moved: Vec<String> = mail.processed.iter().map(|raw| subject(raw)).collect();
        assert_eq!((mail.inbox.len(), &left), (0, &LeftLetters::default()), "seed {seed}");
        // Between two starts the program forgets what it has copied but could not delete.
        assert!(!has_move || moved.len() == delivered, "seed {seed}: {moved:?}");
        assert_eq!(BTreeSet::from_iter(moved), all, "seed {seed}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_letter_is_answered_once_while_none_can_be_moved() {
    let server = refusing("MOVE", "TAG NO [OVERQUOTA] Not enough disk quota", 6).await;
    let folder = tempfile::tempdir().expect("a folder");
    let writers = ["ann", "bo", "cy", "di"];
    for (number, writer) in writers.iter().enumerate() {
        let raw = format!(
            "From: {writer}@players.test\r\nTo: referee@club.test\r\nMessage-ID: <{number}@players.test>\r\n\
             Subject: help\r\n\r\nHELP\r\n"
        );
        server.deliver([raw.into_bytes()]);
        // Each time the program starts anew.
        let office = office(&folder, &server, NOW).await;
        loops::once(&office).await.expect("the program works");
        let left = office.store.left_letters(&office.config.inbox.name()).await.expect("the store answers");
        assert_eq!(left.len(), number + 1);
        assert!(left.iter().all(|(_, reason)| *reason == LeftReason::Unfiled));
        office.close().await;
    }
    let office = office(&folder, &server, NOW).await;
    for _ in 0..4 {
        loops::once(&office).await.expect("the program works");
    }
    let sent = office.store.list_dispatches(false, 100).await.expect("the store answers");
    let mut readers: Vec<&str> =
        sent.iter().map(|row| row.recipient.split('@').next().unwrap_or_default()).collect();
    readers.sort_unstable();
    assert_eq!(readers, writers);
    assert_eq!(office.store.left_letters(&office.config.inbox.name()).await.expect("the store answers"), []);
    let mail = server.mail();
    assert_eq!((mail.inbox.len(), mail.processed.len()), (0, 4));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_old_letters_only_the_large_ones_are_fetched_beyond_their_beginnings() {
    let server = Imap::start(|_, _| Act::Proper).await;
    server.mail().arrived = "17-Jul-2019 02:44:25 -0700";
    let large = |number: u32| [letter(&number.to_string()), vec![b'x'; 100_000]].concat();
    server.deliver((0..50).map(|number| letter(&number.to_string())));
    server.deliver((50..90).map(large));
    let folder = tempfile::tempdir().expect("a folder");
    let office = office(&folder, &server, NOW).await;
    loops::once(&office).await.expect("the program works");
    let left = office.store.left_letters(&office.config.inbox.name()).await.expect("the store answers");
    assert_eq!(left.len(), 90);
    assert!(left.iter().all(|(_, reason)| *reason == LeftReason::Old));
    assert!(office.store.letters(None, None, "", 10).await.expect("the store answers").is_empty());
    let fetches = |server: &Imap| -> Vec<String> {
        let lines = server.mail().lines.clone();
        lines.iter().filter_map(|line| Some(line.split_once("BODY.PEEK[]")?.1.to_owned())).collect()
    };
    let found = fetches(&server);
    let (beginnings, more) = ("<0.65537>)", "<0.1000001>)");
    // How many are asked for at once depends on the server's pace; of the 40 large ones at most 16.
    assert!(found.iter().all(|part| part == beginnings || part == more), "{found:?}");
    assert_eq!(found[0], beginnings);
    assert!(found.iter().filter(|part| *part == more).count() >= 3, "{found:?}");
    // A new letter is fetched whole, and the old ones are not looked at again.
    server.mail().arrived = " 7-Nov-2026 09:12:00 +0100";
    server.deliver([large(90)]);
    loops::once(&office).await.expect("the program works");
    assert_eq!(fetches(&server).len(), found.len() + 1);
    let mail = server.mail();
    assert_eq!((mail.inbox.len(), mail.seen.len(), mail.processed.len()), (90, 1, 1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_far_down_in_one_of_many_old_letters_makes_it_new() {
    let server = Imap::start(|_, _| Act::Proper).await;
    server.mail().arrived = "17-Jul-2019 02:44:25 -0700";
    let folder = tempfile::tempdir().expect("a folder");
    let office = office(&folder, &server, NOW).await;
    loops::once(&office).await.expect("the program works");
    let tokens = office.store.remembered_under("gm_token").await.expect("the store answers");
    let [(_, token)] = &tokens[..] else { panic!("{tokens:?}") };
    server.deliver((0..30).map(|number| letter(&number.to_string())));
    let story = "A long story, told again.\r\n".repeat(9_000);
    server.deliver([[letter("told"), format!("{story}> Reply token: {token}\r\n").into_bytes()].concat()]);
    server.deliver((30..330).map(|number| letter(&number.to_string())));
    loops::once(&office).await.expect("the program works");
    let stored = office.store.letters(None, None, "", 10).await.expect("the store answers");
    assert_eq!(stored.len(), 1);
    assert_eq!(server.mail().inbox.len(), 330);
}
