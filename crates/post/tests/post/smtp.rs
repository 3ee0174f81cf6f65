//! The SMTP outbox against a fake server.

use std::sync::Arc;

use fogpost_post::outbox::{Outbox, OutboxConfig, Outgoing, SendError};
use fogpost_post::refusal::Exchange;
use fogpost_post::{Error, Secret, Tls, smtp};
use tokio::time::timeout;

use crate::fakes::smtp::{Act, Smtp};
use crate::support::{PATIENCE, letter};

fn settings(port: u16) -> smtp::SmtpConfig {
    smtp::SmtpConfig { port: Some(port), tls: Tls::None, ..smtp::SmtpConfig::to("127.0.0.1") }
}

fn outbox(settings: smtp::SmtpConfig) -> Outbox {
    Outbox::new(OutboxConfig::Smtp(settings)).expect("nothing to read")
}

/// An outbox with a long timeout, or with the shortest one if the server hangs.
fn outbox_for(act: Act, port: u16) -> Outbox {
    let timeout_seconds = if matches!(act, Act::Hang) { 1 } else { PATIENCE.as_secs() };
    outbox(smtp::SmtpConfig { timeout_seconds, ..settings(port) })
}

async fn send(out: &Outbox, bytes: &[u8]) -> Result<String, SendError> {
    let letter = Outgoing { return_path: Some("bounces@club.test"), to: "anna@home.test", bytes };
    timeout(PATIENCE, out.send(&letter)).await.expect("in time")
}

/// Sends until the server accepts the letter: on a busy machine, even a good server may exceed a short timeout.
async fn send_until_taken(out: &Outbox) {
    while let Err(error) = send(out, b"x").await {
        assert!(error.is_transient(), "{error}");
    }
}

/// A server that does `act` the first `times` times that `step` comes up.
async fn faulty(step: &'static str, times: usize, act: Act) -> (Smtp, Outbox) {
    let server = Smtp::start(move |s, n| if s == step && n < times { act } else { Act::Proper }).await;
    let out = outbox_for(act, server.port);
    (server, out)
}

/// A server that always replies `reply` to EHLO.
async fn offering(reply: &'static str) -> (Smtp, Outbox) {
    faulty("EHLO", usize::MAX, Act::Say(reply)).await
}

#[tokio::test]
async fn a_letter_arrives_byte_for_byte_and_the_servers_reply_is_returned() {
    let (server, out) = faulty("", 0, Act::Proper).await;
    let bytes = b"Subject: x\r\n\r\n.\r\n..\r\n.dot\r\nlast line\r\n";
    assert_eq!(send(&out, bytes).await.expect("taken"), "250 2.0.0 taken as 17");
    let seen = server.seen();
    assert_eq!(seen.letters, [bytes]);
    assert_eq!(seen.lines[1], "MAIL FROM:<bounces@club.test>");
    assert_eq!(seen.lines[2], "RCPT TO:<anna@home.test>");
}

#[tokio::test]
async fn the_null_return_path_and_eight_bit_letters_are_declared() {
    let (server, out) = faulty("", 0, Act::Proper).await;
    let bytes = "Subject: x\r\n\r\nGrüße\r\n".as_bytes();
    out.send(&Outgoing { return_path: None, to: "anna@home.test", bytes }).await.expect("taken");
    assert_eq!(server.seen().lines[1], "MAIL FROM:<> BODY=8BITMIME");
    assert_eq!(server.seen().letters, [bytes]);
}

#[tokio::test]
async fn bare_line_feeds_cannot_end_a_letter_early() {
    let (server, out) = faulty("", 0, Act::Proper).await;
    send(&out, b"Subject: x\n\nTELL\n.\nMAIL FROM:<x@y.test>\r\n").await.expect("taken");
    let seen = server.seen();
    assert_eq!(seen.letters, [b"Subject: x\r\n\r\nTELL\r\n.\r\nMAIL FROM:<x@y.test>\r\n"]);
    assert_eq!(seen.count("MAIL"), 1);
}

/// A server with PIPELINING that does `act` the first time that `step` comes up.
async fn pipelining(step: &'static str, act: Act) -> (Smtp, Outbox) {
    let server = Smtp::start(move |s, n| match s {
        "EHLO" => Act::Say("250-fake.test\r\n250-PIPELINING\r\n250 8BITMIME"),
        s if s == step && n == 0 => act,
        _ => Act::Proper,
    })
    .await;
    let out = outbox_for(act, server.port);
    (server, out)
}

#[tokio::test]
async fn commands_are_pipelined_only_if_the_server_offers_it() {
    let (server, out) = pipelining("", Act::Proper).await;
    for _ in 0..3 {
        send(&out, &letter("x")).await.expect("taken");
    }
    assert_eq!((server.seen().pipelined, server.seen().letters.len()), (3, 3));
    assert_eq!(server.seen().count("GREETING"), 1);
    let (server, out) = faulty("", 0, Act::Proper).await;
    send(&out, &letter("x")).await.expect("taken");
    assert_eq!(server.seen().pipelined, 0);
}

#[tokio::test]
async fn the_first_refusal_of_pipelined_commands_counts() {
    for (answer, is_final) in [("550 5.1.1 no such person", true), ("451 4.3.0 later", false)] {
        for step in ["MAIL", "RCPT", "DATA", "LETTER"] {
            let (server, out) = pipelining(step, Act::Say(answer)).await;
            let error = send(&out, b"x").await.expect_err(step);
            assert!(error.to_string().ends_with(answer), "{step}: {error}");
            assert_eq!(error.is_transient(), !is_final, "{step}: {error}");
            send(&out, b"x").await.expect("taken");
            let seen = server.seen();
            let expected = if is_final { (1, 1) } else { (2, 0) };
            assert_eq!((seen.count("GREETING"), seen.count("RSET")), expected, "{step}");
        }
    }
}

#[tokio::test]
async fn a_server_that_asks_for_a_letter_without_a_recipient_gets_none() {
    let server = Smtp::start(|s, n| match (s, n) {
        ("EHLO", _) => Act::Say("250-fake.test\r\n250 PIPELINING"),
        ("RCPT", 0) => Act::Say("550 5.1.1 no such person"),
        ("DATA", 0) => Act::Say("354 all the same"),
        _ => Act::Proper,
    })
    .await;
    let out = outbox(settings(server.port));
    assert!(!send(&out, b"x").await.expect_err("nobody").is_transient());
    send(&out, b"x").await.expect("taken");
    assert_eq!((server.seen().count("GREETING"), server.seen().letters.len()), (2, 1));
}

#[tokio::test]
async fn lost_connections_silence_and_malformed_replies_to_pipelined_commands_are_transient() {
    let acts = [Act::Close, Act::Hang, Act::Say("what?"), Act::SayAndClose("421 shutting down")];
    for step in ["MAIL", "RCPT", "DATA", "LETTER"] {
        for act in acts {
            let (server, out) = pipelining(step, act).await;
            fails_once(step, act, &server, &out).await;
        }
    }
}

#[tokio::test]
async fn connections_are_kept_and_never_more_than_configured() {
    let (server, out) = faulty("", 0, Act::Proper).await;
    let out = Arc::new(out);
    let sending = (0..40).map(|_| {
        let out = Arc::clone(&out);
        tokio::spawn(async move { send(&out, &letter("x")).await.map(|_| ()) })
    });
    for task in sending.collect::<Vec<_>>() {
        task.await.expect("no panic").expect("taken");
    }
    let seen = server.seen();
    assert_eq!((seen.letters.len(), settings(server.port).connections), (40, 4));
    assert!(seen.count("GREETING") <= 4, "{} connections", seen.count("GREETING"));
    out.close().await;
    assert_eq!(server.seen().count("QUIT"), seen.count("GREETING"));
}

#[tokio::test]
async fn an_unused_connection_is_not_used_after_its_time() {
    let (server, _) = faulty("", 0, Act::Proper).await;
    let out = outbox(smtp::SmtpConfig { idle_seconds: 0, ..settings(server.port) });
    send(&out, b"x").await.expect("taken");
    send(&out, b"x").await.expect("taken");
    assert_eq!(server.seen().count("GREETING"), 2);
}

#[tokio::test]
async fn a_5yz_reply_is_final_and_the_connection_serves_the_next_letter() {
    for step in ["MAIL", "RCPT", "DATA", "LETTER"] {
        let (server, out) = faulty(step, 1, Act::Say("550 5.1.1 no such person")).await;
        let error = send(&out, b"x").await.expect_err(step);
        assert!(!error.is_transient(), "{step}: {error}");
        assert_eq!(error.to_string(), "refused: 550 5.1.1 no such person");
        send(&out, b"x").await.expect("taken");
        let seen = server.seen();
        assert_eq!((seen.count("GREETING"), seen.count("RSET")), (1, 1), "{step}");
    }
}

#[tokio::test]
async fn a_4yz_reply_leaves_the_letter_to_be_sent_again() {
    for step in ["MAIL", "RCPT", "DATA", "LETTER"] {
        let (_server, out) = faulty(step, 1, Act::Say("451 4.3.0 later")).await;
        let error = send(&out, b"x").await.expect_err(step);
        assert!(matches!(error, SendError::NotNow(_)) && error.is_transient(), "{step}: {error}");
        send(&out, b"x").await.expect("taken");
    }
}

#[tokio::test]
async fn lost_connections_silence_and_malformed_replies_at_any_step_are_transient() {
    let acts =
        [Act::Close, Act::Hang, Act::Say("what?"), Act::Say("99"), Act::SayAndClose("421 shutting down")];
    let mut trials = Vec::new();
    for step in ["GREETING", "EHLO", "MAIL", "RCPT", "DATA", "LETTER"] {
        for act in acts {
            trials.push(tokio::spawn(async move {
                let (server, out) = faulty(step, 1, act).await;
                fails_once(step, act, &server, &out).await;
            }));
        }
    }
    for trial in trials {
        trial.await.expect("each of them");
    }
}

/// Asserts that the first letter fails for now, and that the second goes out over a new connection.
async fn fails_once(step: &str, act: Act, server: &Smtp, out: &Outbox) {
    let error = send(out, b"x").await.expect_err(step);
    assert!(error.is_transient() && !error.is_configuration(), "{step} {act:?}: {error}");
    send_until_taken(out).await;
    assert!(server.seen().count("GREETING") > 1, "{step} {act:?}: a broken connection is not kept");
}

#[tokio::test]
async fn endless_replies_are_cut_off() {
    for text in ["x", "250-again\r\n", "250 x\r\n250-"] {
        for step in ["GREETING", "EHLO", "MAIL", "RCPT", "DATA", "LETTER"] {
            let (server, out) = faulty(step, 1, Act::Flood(text)).await;
            // The last text begins with a proper reply, which may be enough for a step.
            let error = send(&out, b"x").await;
            assert!(error.is_ok() || error.is_err_and(|error| error.is_transient()), "{step} {text}");
            drop(out);
            assert!(server.seen().flood < 16 * 1024 * 1024, "{step} {text}: {} bytes", server.seen().flood);
        }
    }
}

#[tokio::test]
async fn a_refusal_keeps_its_step_and_codes() {
    let (_server, out) = faulty("RCPT", 1, Act::Say("550-5.1.1 No such\r\n550 5.1.1 person.")).await;
    let error = send(&out, b"x").await.expect_err("refused");
    let SendError::Refused(refusal) = error else { panic!("{error}") };
    assert_eq!(refusal.text, "550 5.1.1 No such person.");
    let status = refusal.smtp.expect("an SMTP reply");
    assert_eq!((status.exchange, status.code), (Exchange::Recipient, 550));
    assert_eq!(status.enhanced.map(|code| (code.class, code.subject, code.detail)), Some((5, 1, 1)));
}

#[tokio::test]
async fn the_size_is_declared_if_the_server_offers_it() {
    let (server, out) = offering("250-fake.test\r\n250 SIZE 1000").await;
    send(&out, b"x\r\n").await.expect("taken");
    assert_eq!(server.seen().lines[1], "MAIL FROM:<bounces@club.test> SIZE=3");
}

#[tokio::test]
async fn a_kept_connection_that_the_server_ended_is_replaced_at_once() {
    for act in [Act::Close, Act::SayAndClose("421 idle for too long")] {
        let server = Smtp::start(move |s, n| if s == "MAIL" && n == 1 { act } else { Act::Proper }).await;
        let out = outbox(settings(server.port));
        send(&out, b"one").await.expect("taken");
        send(&out, b"two").await.expect("taken over a new connection");
        assert_eq!(server.seen().letters.len(), 2);
        assert_eq!(server.seen().count("GREETING"), 2);
    }
}

#[tokio::test]
async fn a_letter_whose_reply_is_lost_is_not_resent_by_the_outbox() {
    let server = Smtp::start(|s, n| if s == "LETTER" && n == 1 { Act::Close } else { Act::Proper }).await;
    let out = outbox(settings(server.port));
    send(&out, b"one").await.expect("taken");
    assert!(send(&out, b"two").await.expect_err("cut").is_transient());
    assert_eq!(server.seen().letters.len(), 2);
}

#[tokio::test]
async fn a_rejected_login_is_a_configuration_fault_and_the_letter_waits() {
    let (server, _) = faulty("AUTH", 1, Act::Say("535 5.7.8 wrong")).await;
    let login = |port| smtp::SmtpConfig {
        user: Some("gm".to_owned()),
        password: Some(Secret::new("hush")),
        ..settings(port)
    };
    let out = outbox(login(server.port));
    let error = send(&out, b"x").await.expect_err("rejected");
    assert!(error.is_transient() && error.is_configuration(), "{error}");
    assert!(
        matches!(error, SendError::Unreachable(Error::Login(ref refusal)) if refusal.text == "535 5.7.8 wrong")
    );
    send(&out, b"x").await.expect("taken");
    assert!(server.seen().lines.contains(&"AUTH PLAIN AGdtAGh1c2g=".to_owned()));

    let (server, _) = faulty("AUTH", 1, Act::Say("454 4.7.0 later")).await;
    let error = send(&outbox(login(server.port)), b"x").await.expect_err("not now");
    assert!(error.is_transient() && !error.is_configuration(), "{error}");

    let (server, _) = faulty("EHLO", 1, Act::Say("250 fake.test")).await;
    let error = send(&outbox(login(server.port)), b"x").await.expect_err("no login offered");
    assert!(error.is_configuration(), "{error}");
}

#[tokio::test]
async fn a_server_without_plain_gets_a_login_by_challenges() {
    let server = Smtp::start(|step, _| match step {
        "EHLO" => Act::Say("250-fake.test\r\n250 AUTH CRAM-MD5 LOGIN"),
        "AUTH" => Act::Say("334 VXNlcm5hbWU6"),
        "Z20=" => Act::Say("334 UGFzc3dvcmQ6"),
        _ => Act::Proper,
    })
    .await;
    let (user, password) = (Some("gm".to_owned()), Some(Secret::new("hush")));
    let out = outbox(smtp::SmtpConfig { user, password, ..settings(server.port) });
    send(&out, b"x").await.expect("taken");
    assert_eq!(server.seen().lines[1..4], ["AUTH LOGIN", "Z20=", "aHVzaA=="]);
}

#[tokio::test]
async fn a_server_that_requires_a_login_is_a_configuration_fault() {
    let (_server, out) = faulty("MAIL", 1, Act::Say("530 5.7.0 authentication required")).await;
    let error = send(&out, b"x").await.expect_err("wants a login");
    assert!(error.is_transient() && error.is_configuration(), "{error}");
}

#[tokio::test]
async fn starttls_is_never_skipped() {
    let secured = |port| outbox(smtp::SmtpConfig { tls: Tls::StartTls, ..settings(port) });
    let (server, _) = faulty("", 0, Act::Proper).await;
    let error = send(&secured(server.port), b"x").await.expect_err("not offered");
    assert!(error.is_configuration(), "{error}");
    assert_eq!(server.seen().count("MAIL"), 0);

    // An attacker on the network may have added bytes after the unencrypted reply.
    let server = Smtp::start(|s, _| match s {
        "EHLO" => Act::Say("250-fake.test\r\n250 STARTTLS"),
        "STARTTLS" => Act::Say("220 go on\r\n250 injected"),
        _ => Act::Proper,
    })
    .await;
    let error = send(&secured(server.port), b"x").await.expect_err("injected");
    assert!(matches!(error, SendError::Unreachable(Error::Malformed)), "{error}");
}

#[tokio::test]
async fn an_unreachable_server_is_a_transient_fault() {
    let out = outbox(settings(1));
    let error = send(&out, b"x").await.expect_err("nobody");
    assert!(error.is_transient() && !error.is_configuration());
    assert!(error.to_string().contains("127.0.0.1:1"), "{error}");
    assert!(out.check().await.is_err());
}

#[tokio::test]
async fn an_address_beyond_ascii_needs_smtputf8() {
    let (server, out) = faulty("", 0, Act::Proper).await;
    let outgoing = Outgoing { return_path: None, to: "änne@home.test", bytes: b"x" };
    assert!(!out.send(&outgoing).await.expect_err("not offered").is_transient());
    assert_eq!(server.seen().count("MAIL"), 0);
    let (server, out) = faulty("EHLO", 1, Act::Say("250-fake.test\r\n250 SMTPUTF8")).await;
    out.send(&outgoing).await.expect("taken");
    assert!(server.seen().lines.contains(&"MAIL FROM:<> SMTPUTF8".to_owned()));
}

#[tokio::test]
async fn domains_beyond_ascii_and_dots_in_a_row_go_to_any_server() {
    for (to, recipient) in [
        ("ann@M\u{fc}ller.test", "ann@xn--mller-kva.test"),
        ("ta..ro@home.test", "ta..ro@home.test"),
        ("bo@ex_.test", "bo@ex_.test"),
    ] {
        let (server, out) = faulty("", 0, Act::Proper).await;
        out.send(&Outgoing { return_path: None, to, bytes: b"x" }).await.expect("taken");
        assert!(server.seen().lines.contains(&format!("RCPT TO:<{recipient}>")), "{to}");
        assert!(server.seen().lines.contains(&"MAIL FROM:<>".to_owned()), "{to}");
    }
}

#[tokio::test]
async fn check_names_the_server_and_sends_nothing() {
    let (server, out) = faulty("", 0, Act::Proper).await;
    let checked = out.check().await.expect("fine");
    assert!(checked.found.contains("fake.test"), "{checked:?}");
    assert!(checked.warning.expect("the server offers a login").contains("outbox.smtp.user"));
    assert_eq!(server.seen().steps, ["GREETING", "EHLO", "QUIT"]);
}
