//! Servers that claim to have moved a letter: nothing is deleted before its copy is proved.

use fogpost_post::imap::ImapConfig;
use fogpost_post::inbox::Inbox;
use fogpost_post::{LeftLetters, Secret, Tls};

use crate::fakes::imap::{Act, Imap};
use crate::support::{PATIENCE, Running, drain, letter, subjects};

const CAPABILITIES: [&str; 4] =
    ["IMAP4rev1 IDLE UIDPLUS", "IMAP4rev1 IDLE", "IMAP4rev1 IDLE MOVE UIDPLUS", "IMAP4rev1 IDLE MOVE"];

fn inbox(server: &Imap) -> Inbox {
    Inbox::Imap(ImapConfig {
        port: Some(server.port),
        tls: Tls::None,
        timeout_seconds: PATIENCE.as_secs(),
        idle_seconds: 1,
        ..ImapConfig::of("127.0.0.1", "gm", Secret::new("hush"))
    })
}

#[tokio::test]
async fn a_letter_of_which_no_copy_is_found_is_not_deleted() {
    for capabilities in CAPABILITIES {
        let server = Imap::start(|_, _| Act::Proper).await;
        server.mail().capabilities = capabilities;
        server.mail().loses_copies = true;
        server.deliver([letter("0"), letter("1")]);
        let mut running = Running::start(inbox(&server));
        assert_eq!(subjects(&running.letters().await), ["0", "1"]);
        running.until_left(|left| left.unfiled.len() == 2).await;
        running.until(|health| health.unfiled.is_some()).await;
        let reason = running.health.borrow().unfiled.clone().expect("a reason");
        assert!(reason.contains("no copy of UID 1; see inbox.imap.processed"), "{reason}");
        {
            let mail = server.mail();
            assert_eq!((mail.inbox.len(), mail.count("EXPUNGE")), (2, 0), "{capabilities}");
            assert!(!mail.lines.iter().any(|line| line.contains("Deleted")), "{capabilities}");
        }
        // The server has recovered.
        server.mail().loses_copies = false;
        server.deliver([letter("2")]);
        assert_eq!(subjects(&running.letters().await), ["2"]);
        running.until_left(|left| left.unfiled.is_empty()).await;
        let mail = server.mail();
        assert_eq!((mail.inbox.len(), mail.processed.len()), (0, 3), "{capabilities}");
    }
}

#[tokio::test]
async fn a_letter_is_copied_at_most_twice_while_no_copy_is_found() {
    let server = Imap::start(|_, _| Act::Proper).await;
    server.mail().capabilities = "IMAP4rev1 IDLE UIDPLUS";
    server.mail().loses_copies = true;
    server.deliver([letter("0")]);
    let mut running = Running::start(inbox(&server));
    assert_eq!(running.letters().await.len(), 1);
    server.until(|mail| mail.count("IDLE") > 4).await;
    assert_eq!(server.mail().count("COPY"), 2);
    running.stop().await;
}

#[tokio::test]
async fn copies_that_the_server_does_not_name_are_found() {
    for capabilities in CAPABILITIES {
        let server = Imap::start(|_, _| Act::Proper).await;
        server.mail().capabilities = capabilities;
        server.mail().is_silent_on_copies = true;
        // One letter has no Message-ID.
        let bare = b"From: anna@home.test\r\nSubject: bare\r\n\r\nHOLD\r\n".to_vec();
        server.deliver([letter("0"), bare, letter("2")]);
        assert_eq!(drain(inbox(&server)).await.expect("drained").len(), 3);
        let mail = server.mail();
        assert_eq!((mail.inbox.len(), mail.processed.len()), (0, 3), "{capabilities}");
    }
}

/// Capabilities of servers that name no copies and cannot move.
const BARE: &str = "IMAP4rev1 IDLE";

#[tokio::test]
async fn copies_are_found_in_a_folder_that_is_numbered_like_their_own() {
    // hoodiecrow-imap gives all folders one UIDVALIDITY. GNU Mailutils gives the time in seconds, and its copies are not
    // marked as seen.
    for forgets_marks in [false, true] {
        let server = Imap::start(|_, _| Act::Proper).await;
        server.mail().capabilities = BARE;
        server.mail().uid_validity = 9;
        server.mail().forgets_marks = forgets_marks;
        server.deliver([letter("0"), letter("1")]);
        let mut running = Running::start(inbox(&server));
        assert_eq!(subjects(&running.letters().await), ["0", "1"]);
        running.until_left(|left| left.unfiled.is_empty()).await;
        server.deliver([letter("2")]);
        assert_eq!(subjects(&running.letters().await), ["2"]);
        server.until(|mail| mail.inbox.is_empty()).await;
        let mail = server.mail();
        assert_eq!((mail.processed.len(), mail.count("COPY")), (3, 2));
    }
}

#[tokio::test]
async fn a_letter_is_no_copy_of_itself_in_a_folder_with_two_names() {
    let server = Imap::start(|_, _| Act::Proper).await;
    server.mail().capabilities = BARE;
    server.mail().loses_copies = true;
    server.mail().is_one_folder = true;
    server.deliver([letter("0"), letter("1")]);
    let mut running = Running::start(inbox(&server));
    assert_eq!(subjects(&running.letters().await), ["0", "1"]);
    running.until(|health| health.unfiled.is_some()).await;
    let mail = server.mail();
    assert_eq!((mail.inbox.len(), mail.count("EXPUNGE")), (2, 0));
    assert!(mail.seen.contains(&1) && mail.seen.contains(&2), "they are marked again");
}

#[tokio::test]
async fn letters_that_are_renumbered_after_they_were_copied_are_not_copied_again() {
    // GNU Mailutils renumbers a folder that is selected again after letters were delivered to it.
    let server = Imap::start(|_, _| Act::Proper).await;
    server.mail().capabilities = BARE;
    server.mail().renumbers = true;
    server.deliver([letter("0"), letter("1")]);
    let mut running = Running::start(inbox(&server));
    assert_eq!(subjects(&running.letters().await), ["0", "1"]);
    // Under their new numbers they look new.
    assert_eq!(subjects(&running.letters().await), ["0", "1"]);
    server.until(|mail| mail.inbox.is_empty()).await;
    assert_eq!(server.mail().processed.len(), 2);
}

#[tokio::test]
async fn a_letter_that_comes_back_is_not_copied_again() {
    // Two programs that write one mbox file can undo each other's deletions.
    for capabilities in CAPABILITIES {
        let server = Imap::start(|_, _| Act::Proper).await;
        server.mail().capabilities = capabilities;
        let mut running = Running::start(inbox(&server));
        for _ in 0..2 {
            server.deliver([letter("0")]);
            assert_eq!(subjects(&running.letters().await), ["0"]);
            server.until(|mail| mail.inbox.is_empty()).await;
        }
        assert_eq!(server.mail().processed, [letter("0")], "{capabilities}");
    }
}

#[tokio::test]
async fn a_letter_with_the_number_of_one_that_was_deleted_is_read() {
    // GNU Mailutils numbers the letters of an emptied folder from 1 again, within a second under the same UIDVALIDITY.
    let server = Imap::start(|_, _| Act::Proper).await;
    server.mail().capabilities = BARE;
    server.mail().arrives_in_emptied = Some(letter("1"));
    server.deliver([letter("0")]);
    let mut running = Running::start(inbox(&server));
    for subject in ["0", "1"] {
        assert_eq!(subjects(&running.letters().await), [subject]);
    }
    server.until(|mail| mail.inbox.is_empty()).await;
    assert_eq!(server.mail().processed, [letter("0"), letter("1")]);
}

#[tokio::test]
async fn a_letter_whose_copy_outlived_the_connection_is_not_copied_again() {
    let server = Imap::start(|step, n| match (step, n) {
        // The fake copies the letters before it closes the connection.
        ("COPY", 0) => Act::CloseAfter(0),
        _ => Act::Proper,
    })
    .await;
    server.mail().capabilities = "IMAP4rev1 IDLE UIDPLUS";
    server.deliver([letter("0"), letter("1")]);
    let mut running = Running::start(inbox(&server));
    assert_eq!(running.letters().await.len(), 2);
    server.until(|mail| mail.inbox.is_empty()).await;
    running.stop().await;
    let mail = server.mail();
    assert_eq!((mail.count("COPY"), mail.processed.len()), (1, 2));
}

#[tokio::test]
async fn a_letter_that_an_earlier_run_copied_is_not_copied_again() {
    let server = Imap::start(|_, _| Act::Proper).await;
    server.mail().capabilities = "IMAP4rev1 IDLE UIDPLUS";
    server.deliver([letter("0"), letter("1")]);
    server.mail().processed.push(letter("0"));
    let unfiled = ["imap:INBOX/7/1", "imap:INBOX/7/2"].map(ToOwned::to_owned).into();
    let left = LeftLetters { unfiled, ..LeftLetters::default() };
    let mut running = Running::start_with(inbox(&server), left);
    running.until_left(|left| left.unfiled.is_empty()).await;
    running.stop().await;
    let mail = server.mail();
    assert_eq!(mail.processed, [letter("0"), letter("1")]);
    assert!(mail.inbox.is_empty());
}

#[tokio::test]
async fn a_mailbox_that_gives_back_what_was_filed_is_left_alone_until_the_next_poll() {
    for capabilities in CAPABILITIES {
        // The first round is new. Of a letter that was copied there is a copy, so it is only deleted the second time. One
        // that was moved could come back for ever, and two rounds show that nothing else does.
        let rounds = if capabilities.contains("MOVE") { 3 } else { 2 };
        for lines in ["", "X-Moved: yes\r\n"] {
            let server = Imap::start(|_, _| Act::Proper).await;
            server.mail().capabilities = capabilities;
            server.mail().gives_back = Some(lines);
            server.deliver([letter("0"), letter("1")]);
            let read = drain(inbox(&server)).await.expect("drained");
            assert_eq!(subjects(&read), ["0", "1"].repeat(rounds), "{capabilities} {lines}");
        }
    }
}

#[tokio::test]
async fn a_mailbox_that_gives_back_what_was_filed_is_told_and_read_again() {
    let server = Imap::start(|_, _| Act::Proper).await;
    server.mail().gives_back = Some("X-Moved: yes\r\n");
    server.deliver([letter("0")]);
    let settings = ImapConfig {
        port: Some(server.port),
        tls: Tls::None,
        timeout_seconds: PATIENCE.as_secs(),
        poll_seconds: 1,
        ..ImapConfig::of("127.0.0.1", "gm", Secret::new("hush"))
    };
    let mut running = Running::start(Inbox::Imap(settings));
    for _ in 0..3 {
        assert_eq!(subjects(&running.letters().await), ["0"]);
    }
    running.until(|health| health.unfiled.as_ref().is_some_and(|reason| reason.contains("come back"))).await;
    assert_eq!(server.mail().count("IDLE"), 0);
    server.mail().gives_back = None;
    assert_eq!(subjects(&running.letters().await), ["0"]);
    running.until(|health| health.unfiled.is_none()).await;
    running.stop().await;
}
