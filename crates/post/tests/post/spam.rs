//! Letters in the provider's spam folder.

use fogpost_post::imap::ImapConfig;
use fogpost_post::inbox::Inbox;
use fogpost_post::{Secret, Taken, Tls};

use crate::fakes::imap::{Act, Imap};
use crate::support::{PATIENCE, Running, letter, subjects};

fn inbox(server: &Imap, spam_folder: Option<&str>) -> Inbox {
    Inbox::Imap(ImapConfig {
        port: Some(server.port),
        tls: Tls::None,
        timeout_seconds: PATIENCE.as_secs(),
        spam_folder: spam_folder.map(ToOwned::to_owned),
        ..ImapConfig::of("127.0.0.1", "gm", Secret::new("hush"))
    })
}

async fn server_with_spam() -> Imap {
    let server = Imap::start(|_, _| Act::Proper).await;
    for (uid, subject) in (1..).zip(["pills", "orders", "watches"]) {
        server.mail().spam.insert(uid, letter(subject));
    }
    server
}

#[tokio::test]
async fn letters_that_are_taken_leave_the_spam_folder_and_the_others_stay_there() {
    let server = server_with_spam().await;
    let mut running = Running::start(inbox(&server, Some("Spam")));
    let batch = running.batch().await;
    assert_eq!(subjects(&batch.letters), ["pills", "orders", "watches"]);
    assert!(batch.letters.iter().all(|letter| letter.is_spam));
    assert_eq!(batch.letters[1].origin, "imap:Spam/7/2");
    batch.stored.send(Taken::Only(vec![1])).expect("the inbox waits");
    running.until(|health| health.last_ok.is_some()).await;
    {
        let mail = server.mail();
        assert_eq!(mail.spam.keys().collect::<Vec<_>>(), [&1, &3]);
        assert_eq!(mail.processed, [letter("orders")]);
        assert!(!mail.seen.contains(&1) && !mail.seen.contains(&3), "the others are as they were");
    }
    // The inbox is selected again.
    server.deliver([letter("hello")]);
    let letters = running.letters().await;
    assert_eq!(subjects(&letters), ["hello"]);
    assert!(!letters[0].is_spam);
    running.stop().await;
}

#[tokio::test]
async fn a_spam_folder_that_is_missing_does_not_hold_up_the_inbox() {
    let server = Imap::start(|step, before| match (step, before) {
        ("SELECT", 1) => Act::Instead("TAG NO no such folder"),
        _ => Act::Proper,
    })
    .await;
    let mut running = Running::start(inbox(&server, Some("Spam")));
    running.until(|health| health.last_ok.is_some()).await;
    server.deliver([letter("hello")]);
    assert_eq!(subjects(&running.letters().await), ["hello"]);
    running.stop().await;
}

#[tokio::test]
async fn a_letter_is_found_in_whichever_folder_it_is() {
    let server = server_with_spam().await;
    let own = b"Message-ID: <doctor.7@club.test>\r\nSubject: does mail arrive\r\n\r\n".to_vec();
    let find = async |spam_folder| {
        let found = inbox(&server, spam_folder).find("doctor.7@club.test".to_owned()).await;
        found.expect("the mailbox opens").map(|found| (found.folder, found.is_spam))
    };
    assert_eq!(find(Some("Spam")).await, None);
    server.mail().spam.insert(9, own.clone());
    assert_eq!(find(Some("Spam")).await, Some(("Spam".to_owned(), true)));
    server.deliver([own]);
    assert_eq!(find(Some("Spam")).await, Some(("INBOX".to_owned(), false)));
}
