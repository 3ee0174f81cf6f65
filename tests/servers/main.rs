//! The program beside real mail servers, mail programs and browsers.

mod browser;
mod clicked;
#[path = "../../crates/post/tests/post/fakes/smtp.rs"]
#[allow(dead_code, reason = "shared with the tests against fake servers")]
mod fake_smtp;
mod letters;
mod mailboxes;
mod oauth;
mod play;
#[path = "../support/referee.rs"]
mod referee;
mod relays;
mod replies;
mod restore;
#[path = "mod.rs"]
mod servers;
mod spam;
#[path = "../../crates/post/tests/post/support.rs"]
#[allow(dead_code, reason = "shared with the tests against fake servers")]
mod support;
#[path = "../../crates/post/tests/post/fakes/tokens.rs"]
mod tokens;
mod whole;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use chrono::Utc;
use fogpost::post::inbox::Inbox;
use fogpost::post::outbox::{self, Outbox, Outgoing};
use fogpost::post::{Error, Secret, Tls, imap, smtp};

use referee::club;
use servers::{PASSWORD, Servers};
use support::{PATIENCE, Running, drain, letter, subjects};

fn imap(servers: &Servers, tls: Tls) -> imap::ImapConfig {
    imap::ImapConfig {
        port: Some(if tls == Tls::Tls { servers.imaps_port } else { servers.imap_port }),
        tls,
        ca_file: Some(servers.ca_file()),
        ..imap::ImapConfig::of("localhost", "gm", Secret::new(PASSWORD))
    }
}

fn smtp(servers: &Servers, tls: Tls) -> smtp::SmtpConfig {
    smtp::SmtpConfig {
        port: Some(if tls == Tls::Tls { servers.smtps_port } else { servers.smtp_port }),
        tls,
        ca_file: Some(servers.ca_file()),
        ..smtp::SmtpConfig::to("localhost")
    }
}

/// Waits until the INBOX is empty.
async fn all_are_filed(servers: &Servers) {
    while !servers.letters("gm", "INBOX").is_empty() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

const EACH: [Tls; 3] = [Tls::None, Tls::StartTls, Tls::Tls];

#[tokio::test]
async fn letters_are_fetched_byte_for_byte_with_and_without_tls() {
    let Some(servers) = Servers::dovecot() else { return };
    for (i, tls) in EACH.into_iter().enumerate() {
        let body = format!(
            "{}Grüße, .dot\r\n.\r\n.. {}\r\n",
            String::from_utf8_lossy(&letter("x")),
            "y".repeat(i * 5000)
        );
        let before = Utc::now() - Duration::from_secs(2);
        servers.deliver_lmtp(body.as_bytes(), "gm+token@club.test");
        let letters = drain(Inbox::Imap(imap(&servers, tls))).await.expect("drained");
        assert_eq!(letters.len(), 1, "{tls}");
        let raw = String::from_utf8_lossy(&letters[0].raw);
        assert!(raw.ends_with(&body), "{tls}: {raw}");
        assert!(raw.contains("Delivered-To: gm+token@club.test\r\n"));
        assert!(letters[0].received_at >= before && letters[0].received_at <= Utc::now());
        assert_eq!(letters[0].size, letters[0].raw.len() as u64);
        assert_eq!(servers.letters("gm", "INBOX").len(), 0);
        assert_eq!(servers.letters("gm", "Processed").len(), i + 1);
    }
    let filed = fs::read_dir(servers.maildir("gm").join(".Processed/cur")).expect("the folder exists");
    assert!(
        filed.into_iter().all(|f| f.expect("an entry").file_name().to_string_lossy().ends_with('S')),
        "all are marked as seen"
    );
}

#[tokio::test]
async fn an_idle_inbox_learns_of_each_letter_with_and_without_tls() {
    let Some(servers) = Servers::dovecot() else { return };
    for tls in EACH {
        let mut running = Running::start(Inbox::Imap(imap(&servers, tls)));
        running.until(|health| health.last_ok.is_some()).await;
        for i in 0..3 {
            servers.deliver_lmtp(&letter(&i.to_string()), "gm@club.test");
            assert_eq!(subjects(&running.letters().await), [i.to_string()]);
        }
        all_are_filed(&servers).await;
        running.stop().await;
    }
}

#[tokio::test]
async fn a_letter_passes_through_postfix_and_dovecot() {
    let Some(servers) = Servers::start() else { return };
    for tls in EACH {
        for user in [None, Some("gm".to_owned())] {
            let password = user.as_ref().map(|_| Secret::new(PASSWORD));
            let settings = smtp::SmtpConfig { user, password, ..smtp(&servers, tls) };
            let out = Outbox::new(outbox::OutboxConfig::Smtp(settings)).expect("the CA file");
            let (to, bytes) = ("gm+x7@club.test", letter("round"));
            let said = out.send(&Outgoing { return_path: Some("b@club.test"), to, bytes: &bytes }).await;
            assert!(said.expect("taken").contains("queued as"));
            out.close().await;
            let mut running = Running::start(Inbox::Imap(imap(&servers, Tls::Tls)));
            let letters = running.letters().await;
            all_are_filed(&servers).await;
            running.stop().await;
            assert_eq!(subjects(&letters), ["round"], "{tls}");
            let raw = String::from_utf8_lossy(&letters[0].raw).into_owned();
            assert!(raw.starts_with("Return-Path: <b@club.test>\r\n"), "{raw}");
            assert!(raw.ends_with("\r\n\r\nSHIP 4 TO C1\r\n"), "{raw}");
        }
    }
}

#[tokio::test]
async fn letters_from_a_mail_program_and_by_minimal_smtp_arrive() {
    let Some(servers) = Servers::start() else { return };
    let mut running = Running::start(Inbox::Imap(imap(&servers, Tls::StartTls)));
    servers.deliver(&letter("plain"), "anna@club.test", "gm@club.test");
    assert_eq!(subjects(&running.letters().await), ["plain"]);
    let mut program = Command::new("s-nail")
        .args(["-n", "-S", "v15-compat", "-S", "smtp-auth=none", "-S", "ttycharset=utf-8"])
        .args(["-S", &format!("mta=smtp://127.0.0.1:{}", servers.smtp_port), "-r", "anna@club.test"])
        .args(["-s", "Zug für Kreuzer", "gm+token@club.test"])
        .env("MAILRC", "/dev/null")
        .stdin(Stdio::piped())
        .spawn()
        .expect("s-nail, which tests/run installs");
    program.stdin.take().expect("asked for").write_all("SHIP 4 TO C1\nGrüße\n".as_bytes()).expect("written");
    assert!(program.wait().expect("our child").success());
    let letters = running.letters().await;
    let text = String::from_utf8_lossy(&letters[0].raw).into_owned();
    assert!(
        text.contains("Subject: Zug =?utf-8?B?ZsO8cg==?= Kreuzer\r\n") && text.contains("SHIP 4 TO C1"),
        "{text}"
    );
    running.stop().await;
}

#[tokio::test]
async fn a_permanent_rejection_by_postfix_keeps_its_reason() {
    let Some(servers) = Servers::start() else { return };
    let out = Outbox::new(outbox::OutboxConfig::Smtp(smtp(&servers, Tls::None))).expect("the CA file");
    let bytes = letter("x");
    let nowhere = Outgoing { return_path: None, to: "x@nowhere.example", bytes: &bytes };
    let error = out.send(&nowhere).await.expect_err("Postfix delivers to club.test only");
    assert!(!error.is_transient() && error.to_string().contains("no outbound mail"), "{error}");
    out.send(&Outgoing { to: "gm@club.test", ..nowhere }).await.expect("the connection still works");
}

#[tokio::test]
async fn wrong_passwords_authorities_and_names_are_configuration_errors() {
    let Some(servers) = Servers::start() else { return };
    let in_fault = |settings| async { Inbox::Imap(settings).check().await.expect_err("a fault") };
    let out_fault = |settings| async {
        let out = Outbox::new(outbox::OutboxConfig::Smtp(settings)).expect("the CA file");
        out.check().await.expect_err("a fault")
    };
    for tls in EACH {
        let wrong = imap::ImapConfig { password: Some(Secret::new("wrong")), ..imap(&servers, tls) };
        assert!(matches!(in_fault(wrong).await, Error::Login(_)), "{tls}");
        let (user, password) = (Some("gm".to_owned()), Some(Secret::new("wrong")));
        let wrong = smtp::SmtpConfig { user, password, ..smtp(&servers, tls) };
        assert!(matches!(out_fault(wrong).await, Error::Login(_)), "{tls}");
    }
    for tls in [Tls::StartTls, Tls::Tls] {
        let untrusted = (
            imap::ImapConfig { ca_file: None, ..imap(&servers, tls) },
            smtp::SmtpConfig { ca_file: None, ..smtp(&servers, tls) },
        );
        // Another spelling of 127.0.0.1 that reaches the same servers but is not in their certificate.
        let host = "0x7f000001";
        let misnamed = (
            imap::ImapConfig { host: host.to_owned(), ..imap(&servers, tls) },
            smtp::SmtpConfig { host: host.to_owned(), ..smtp(&servers, tls) },
        );
        for (inward, outward) in [untrusted, misnamed] {
            for error in [in_fault(inward).await, out_fault(outward).await] {
                assert!(
                    matches!(error, Error::Configuration(ref t) if t.contains("certificate")),
                    "{tls}: {error}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_thousand_letters_arrive_once_and_in_order() {
    let Some(servers) = Servers::dovecot() else { return };
    servers.deliver_lmtp(&letter("0"), "gm@club.test"); // Makes Dovecot create the folders.
    let new = servers.maildir("gm").join("new");
    let own = fs::metadata(&new).expect("the folder exists");
    for i in 1..1000 {
        let path = new.join(format!("{}.M{i:06}.x", 1_800_000_000));
        fs::write(&path, letter(&i.to_string())).expect("written");
        std::os::unix::fs::chown(&path, Some(std::os::unix::fs::MetadataExt::uid(&own)), None)
            .expect("its owner is changed");
    }
    let letters = drain(Inbox::Imap(imap(&servers, Tls::Tls))).await.expect("drained");
    assert_eq!(subjects(&letters), (0..1000).map(|i| i.to_string()).collect::<Vec<_>>());
    assert_eq!(servers.letters("gm", "Processed").len(), 1000);
    assert_eq!(drain(Inbox::Imap(imap(&servers, Tls::Tls))).await.expect("drained").len(), 0);
}

#[tokio::test]
async fn a_letter_that_vanishes_under_dovecot_does_not_block_the_others() {
    let Some(servers) = Servers::dovecot() else { return };
    for i in 0..3 {
        servers.deliver_lmtp(&letter(&i.to_string()), "gm@club.test");
    }
    let found = Inbox::Imap(imap(&servers, Tls::None)).check().await.expect("a healthy inbox").found;
    assert!(
        found.contains("INBOX: 3 waiting") && found.contains("IDLE") && found.contains("MOVE"),
        "{found}"
    );
    let folders = ["new", "cur"].map(|part| servers.maildir("gm").join(part));
    let entries = folders.iter().flat_map(|folder| fs::read_dir(folder).expect("a folder"));
    let is_second = |path: &PathBuf| fs::read_to_string(path).expect("a letter").contains("Subject: 1\n");
    let second = entries.map(|entry| entry.expect("an entry").path()).find(is_second);
    fs::remove_file(second.expect("it was delivered")).expect("removed");
    let mut running = Running::start(Inbox::Imap(imap(&servers, Tls::None)));
    let mut subjects_seen = subjects(&running.letters().await);
    while subjects_seen.len() < 2 {
        subjects_seen.extend(subjects(&running.letters().await));
    }
    assert_eq!(subjects_seen, ["0", "2"]);
    running.until(|health| health.trouble.is_none()).await;
    running.stop().await;
}

#[tokio::test]
async fn an_inbox_survives_a_restart_of_its_server() {
    let Some(mut servers) = Servers::dovecot() else { return };
    let mut running = Running::start(Inbox::Imap(imap(&servers, Tls::Tls)));
    running.until(|health| health.last_ok.is_some()).await;
    servers.restart_dovecot_after(|| std::thread::sleep(Duration::from_millis(1500)));
    servers.deliver_lmtp(&letter("after"), "gm@club.test");
    assert_eq!(subjects(&running.letters().await), ["after"]);
    running.until(|health| health.trouble.is_none()).await;
    tokio::time::timeout(PATIENCE, running.stop()).await.expect("in time");
}
