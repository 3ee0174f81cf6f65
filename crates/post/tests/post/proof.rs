//! Servers that send something else than the letter that they were asked for.

use fogpost_post::FetchedLetter;

use crate::fakes::imap::{Act, Imap, Lie};
use crate::support::{Running, drain, imap_inbox, letter, subjects};

async fn server_with(letters: usize) -> Imap {
    let server = Imap::start(|_, _| Act::Proper).await;
    server.deliver((0..letters).map(|number| letter(&number.to_string())));
    server
}

/// The text that Courier sends for a letter whose file it cannot open.
const UNAVAILABLE: &[u8] =
    b"From: System Administrator <root@localhost>\r\nSubject: message unavailable\r\n\r\n\
                             This message is no longer available on the server.\r\n";

#[tokio::test]
async fn an_empty_body_beside_a_true_size_is_asked_for_again_alone() {
    // As hoodiecrow-imap answers a request for parts that are longer than the letters.
    let server = server_with(300).await;
    for uid in 2..=300 {
        let lie = Lie { in_part: Some(Vec::new()), ..Lie::default() };
        server.mail().lies.insert(uid, lie);
    }
    let all = drain(imap_inbox(server.port)).await.expect("drained");
    let numbers: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    assert_eq!(subjects(&all), numbers);
    assert!(all.iter().all(|letter| letter.raw.len() as u64 == letter.size));
    let mail = server.mail();
    assert_eq!((mail.inbox.len(), mail.processed.len()), (0, 300));
}

/// Reads a mailbox of three letters, the second of which the server misrepresents, until the others are filed.
/// Returns the reason why the second one is left.
async fn reason_to_leave_the_second(lie: Lie) -> String {
    let server = server_with(3).await;
    server.mail().lies.insert(2, lie);
    let mut running = Running::start(imap_inbox(server.port));
    assert_eq!(subjects(&running.letters().await), ["0", "2"]);
    running.until(|health| health.left_unread.is_some()).await;
    let health = running.health.borrow().clone();
    assert_eq!((health.unreadable, &health.trouble, &health.unfiled), (1, &None, &None));
    {
        let mail = server.mail();
        assert_eq!((Vec::from_iter(mail.inbox.keys()), mail.processed.len()), (vec![&2], 2));
        assert!(!mail.seen.contains(&2));
    }
    running.stop().await;
    let reason = health.left_unread.expect("a reason");
    assert!(reason.contains("INBOX") && reason.contains("UID 2 ("), "{reason}");
    reason
}

#[tokio::test]
async fn a_letter_that_is_sent_empty_stays_in_the_folder_and_is_told() {
    for blank in [b"".as_slice(), b"\r\n", b" \r\n\r\n"] {
        let body = Some(blank.to_vec());
        // Whatever size the server states.
        for size in [None, Some(blank.len())] {
            let lie = Lie { in_part: body.clone(), alone: body.clone(), size, in_envelope: true };
            let reason = reason_to_leave_the_second(lie).await;
            assert!(reason.contains("empty letter"), "{reason}");
        }
    }
}

#[tokio::test]
async fn a_notice_in_place_of_a_letter_is_not_the_letter() {
    let of_exchange = b"From: Microsoft Exchange Server\r\nDate: Sat, 7 Nov 2026 08:12:00 +0000\r\n\
                        Subject: Retrieval using the IMAP4 protocol failed for the following message: 2\r\n\r\nx\r\n";
    for body in [UNAVAILABLE, of_exchange] {
        for in_envelope in [true, false] {
            let (in_part, alone) = (Some(body.to_vec()), Some(body.to_vec()));
            let lie = Lie { in_part, alone, size: Some(body.len()), in_envelope };
            let reason = reason_to_leave_the_second(lie).await;
            let wanted = if in_envelope { "a notice of its own" } else { "its ENVELOPE" };
            assert!(reason.contains(wanted), "{reason}");
        }
    }
}

#[tokio::test]
async fn the_body_of_another_letter_is_not_the_letter() {
    let other = letter("0");
    // The size and the header agree with the letter that the server sends, but not its ENVELOPE.
    let lie = Lie { in_part: Some(other.clone()), alone: Some(other), ..Lie::default() };
    let reason = reason_to_leave_the_second(lie).await;
    assert!(reason.contains("another letter than its ENVELOPE"), "{reason}");
}

#[tokio::test]
async fn a_part_of_a_letter_is_not_the_letter() {
    let alone = Some(b"From: anna@club.test\r\n\r\nx".to_vec());
    let reason = reason_to_leave_the_second(Lie { in_part: Some(Vec::new()), alone, ..Lie::default() }).await;
    assert!(reason.contains("ENVELOPE"), "{reason}");
    let alone = Some(b"From: anna@club.test\r\n\r\nx".to_vec());
    let lie = Lie { in_part: Some(Vec::new()), alone, in_envelope: true, ..Lie::default() };
    let reason = reason_to_leave_the_second(lie).await;
    assert!(reason.contains("size"), "{reason}");
}

#[tokio::test]
async fn a_size_that_counts_otherwise_is_no_reason_to_leave_a_letter() {
    let server = server_with(3).await;
    // Exchange may state the size in its store, and other servers count line ends otherwise.
    for (uid, size) in [(1, 5000), (2, 1), (3, 0)] {
        server.mail().lies.insert(uid, Lie { size: Some(size), ..Lie::default() });
    }
    assert_eq!(subjects(&drain(imap_inbox(server.port)).await.expect("drained")), ["0", "1", "2"]);
    assert_eq!(server.mail().processed.len(), 3);
}

#[tokio::test]
async fn a_letter_with_hardly_a_header_is_still_a_letter() {
    let server = server_with(0).await;
    let bare = b"From: anna@home.test\r\nSubject: orders\r\n\r\nHOLD\r\n".to_vec();
    server.deliver([bare.clone(), bare]);
    let all: Vec<FetchedLetter> = drain(imap_inbox(server.port)).await.expect("drained");
    assert_eq!(subjects(&all), ["orders", "orders"]);
    assert_eq!(server.mail().processed.len(), 2);
}
