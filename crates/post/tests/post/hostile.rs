//! Mail servers that attack: answers without end, literals where none belong, sizes that are lies, bytes that drip.

use fogpost_post::imap::ImapConfig;
use fogpost_post::inbox::Inbox;
use fogpost_post::outbox::{Outbox, Outgoing};
use fogpost_post::{Secret, Tls, outbox, smtp};
use tokio::time::timeout;

use crate::fakes::{imap, smtp as fake_smtp};
use crate::support::{PATIENCE, Running, letter, subjects};

/// What an answer may have at most, and what two sockets may hold besides.
const MOST_BYTES: usize = 24 * 1024 * 1024;

fn inbox(port: u16, max_letter_bytes: usize) -> Inbox {
    Inbox::Imap(ImapConfig {
        port: Some(port),
        tls: Tls::None,
        timeout_seconds: PATIENCE.as_secs(),
        max_letter_bytes,
        // A letter whose move broke the session is moved at the next look.
        idle_seconds: 1,
        ..ImapConfig::of("127.0.0.1", "gm", Secret::new("hush"))
    })
}

#[tokio::test]
async fn no_answer_of_a_mailbox_server_is_read_without_end() {
    use imap::Act::Flood;
    let floods = [
        ("GREETING", Flood("* OK ", "x")),
        ("LOGIN", Flood("* OK [CAPABILITY", " IDLE")),
        ("LOGIN", Flood("* OK {99999999}\r\n", "x\r\n")),
        ("CAPABILITY", Flood("* CAPABILITY", " A")),
        ("CAPABILITY", Flood("* CAPABILITY {7}\r\n", "IDLE\r\n")),
        ("SELECT", Flood("", "* OK [ALERT] x\r\n")),
        ("SEARCH", Flood("* SEARCH", " 1")),
        ("SEARCH", Flood("* SEARCH {50000000}\r\n", "1\r\n")),
        ("SEARCH", Flood("", "* 1 EXISTS\r\n")),
        ("FETCH", Flood("* 1 FETCH (UID 1 BODY[] {10000}\r\n", "x")),
        ("FETCH", Flood("", "* OK x\r\n")),
        ("CREATE", Flood("", "+ go on\r\n")),
        ("STORE", Flood("", "* 1 FETCH (FLAGS (\\Seen))\r\n")),
        ("MOVE", Flood("", "* 1 EXPUNGE\r\n")),
        ("MOVE", Flood("* 1 FETCH (FLAGS {9}\r\n", "\r\n")),
    ];
    for (step, act) in floods {
        let server =
            imap::Imap::start(move |s, n| if s == step && n == 0 { act } else { imap::Act::Proper }).await;
        server.deliver([letter("0")]);
        let mut running = Running::start(inbox(server.port, 10_000));
        assert_eq!(subjects(&running.letters().await), ["0"]);
        server.until(|mail| mail.inbox.is_empty()).await;
        running.stop().await;
        let flood = server.mail().flood;
        assert!(flood < MOST_BYTES, "{step} {act:?}: {flood} bytes");
    }
}

/// Sizes of eight letters.
const LIES: &str = "* 1 FETCH (UID 1 RFC822.SIZE 1)\r\n* 2 FETCH (UID 2 RFC822.SIZE 1)\r\n\
                    * 3 FETCH (UID 3 RFC822.SIZE 1)\r\n* 4 FETCH (UID 4 RFC822.SIZE 1)\r\n\
                    * 5 FETCH (UID 5 RFC822.SIZE 1)\r\n* 6 FETCH (UID 6 RFC822.SIZE 1)\r\n\
                    * 7 FETCH (UID 7 RFC822.SIZE 1)\r\n* 8 FETCH (UID 8 RFC822.SIZE 1)\r\nTAG OK done";

#[tokio::test]
async fn a_server_that_lies_about_sizes_gets_no_more_memory_than_another() {
    let server = imap::Imap::start(|step, _| match step {
        "SIZES" => imap::Act::Instead(LIES),
        _ => imap::Act::Proper,
    })
    .await;
    server.deliver((0..8).map(|number| [letter(&number.to_string()), vec![b'x'; 6_000_000]].concat()));
    let mut running = Running::start(inbox(server.port, 8 * 1024 * 1024));
    let mut arrived = Vec::new();
    while arrived.len() < 8 {
        let letters = running.letters().await;
        let bytes: usize = letters.iter().map(|letter| letter.raw.len()).sum();
        assert!(bytes <= 32 * 1024 * 1024, "{bytes} bytes are in flight");
        arrived.extend(subjects(&letters));
    }
    assert_eq!(arrived, ["0", "1", "2", "3", "4", "5", "6", "7"]);
    running.stop().await;
}

#[tokio::test]
async fn a_mail_server_that_drips_a_reply_is_given_up_in_time() {
    for step in ["GREETING", "EHLO", "MAIL", "RCPT", "DATA"] {
        for text in ["x", "250-again\r\n"] {
            let server = fake_smtp::Smtp::start(move |s, n| match n {
                0 if s == step => fake_smtp::Act::Drip(text),
                _ => fake_smtp::Act::Proper,
            })
            .await;
            let settings = smtp::SmtpConfig {
                port: Some(server.port),
                tls: Tls::None,
                timeout_seconds: 1,
                ..smtp::SmtpConfig::to("127.0.0.1")
            };
            let out = Outbox::new(outbox::OutboxConfig::Smtp(settings)).expect("nothing to read");
            let outgoing = Outgoing { return_path: None, to: "anna@home.test", bytes: b"x" };
            let sent = timeout(PATIENCE, out.send(&outgoing)).await.expect("in time");
            assert!(sent.expect_err(step).is_transient(), "{step} {text:?}");
        }
    }
}
