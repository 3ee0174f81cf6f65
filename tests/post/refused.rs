//! Logins that a mailbox server refuses: the program leaves it alone for a while, unless the secret changes.

use std::fs;
use std::sync::Arc;

use fogpost::config::Config;
use fogpost::daemon::loops;
use fogpost::post::imap::ImapConfig;
use fogpost::post::inbox::Inbox;
use fogpost::post::{Secret, Tls};

use crate::club::office;
use crate::fakes::imap::{Act, Imap};
use crate::support::{PATIENCE, Running, letter, subjects};

const REFUSED: Act = Act::Instead("TAG NO [AUTHENTICATIONFAILED] Invalid credentials (Failure)");

fn settings(server: &Imap) -> ImapConfig {
    ImapConfig {
        port: Some(server.port),
        tls: Tls::None,
        timeout_seconds: PATIENCE.as_secs(),
        ..ImapConfig::of("127.0.0.1", "gm", Secret::new("hush"))
    }
}

#[tokio::test]
async fn a_refused_login_is_told_at_once_and_tried_again_when_the_password_changes() {
    let server =
        Imap::start(|step, before| if step == "LOGIN" && before == 0 { REFUSED } else { Act::Proper }).await;
    server.deliver([letter("0")]);
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("imap.secret");
    fs::write(&file, "hush\n").expect("written");
    let with_file = ImapConfig { password_file: Some(file.clone()), ..settings(&server) };
    let mut running = Running::start(Inbox::Imap(with_file));
    running.until(|health| health.trouble.is_some()).await;
    let trouble = running.health.borrow().trouble.clone().expect("it is still so");
    assert!(trouble.is_lasting);
    assert_eq!(trouble.refusals, 1);
    for part in ["Invalid credentials", "inbox.imap.password_file"] {
        assert!(trouble.reason.contains(part), "{}", trouble.reason);
    }
    fs::write(&file, "sesame\n").expect("written");
    assert_eq!(subjects(&running.letters().await), ["0"]);
    running.until(|health| health.trouble.is_none()).await;
    running.stop().await;
    let mail = server.mail();
    let logins: Vec<&str> = mail.lines.iter().filter_map(|line| Some(line.split_once("LOGIN ")?.1)).collect();
    assert_eq!(logins, ["\"gm\" \"hush\"", "\"gm\" \"sesame\""]);
}

#[tokio::test]
async fn a_login_refused_by_bad_or_by_the_end_of_the_connection_is_a_refusal() {
    for answer in [
        "TAG BAD [AUTHENTICATIONFAILED] Invalid credentials",
        "* BYE [AUTHENTICATIONFAILED] Authentication failed",
        "* BYE Login failed",
    ] {
        let refusing =
            move |step: &str, _: usize| if step == "LOGIN" { Act::Instead(answer) } else { Act::Proper };
        let server = Imap::start(refusing).await;
        let mut running = Running::start(Inbox::Imap(settings(&server)));
        running.until(|health| health.trouble.is_some()).await;
        assert_eq!(
            running.health.borrow().trouble.as_ref().map(|trouble| trouble.refusals),
            Some(1),
            "{answer}"
        );
        running.stop().await;
    }
}

#[tokio::test]
async fn a_refused_login_is_left_alone_while_nothing_changes() {
    let server = Imap::start(|step, _| if step == "LOGIN" { REFUSED } else { Act::Proper }).await;
    let mut running = Running::start(Inbox::Imap(settings(&server)));
    running.until(|health| health.trouble.is_some()).await;
    // A shutdown does not wait for the next attempt.
    running.stop().await;
    assert_eq!(server.mail().count("LOGIN"), 1);
}

#[tokio::test]
async fn a_password_beyond_ascii_goes_where_the_server_takes_it() {
    let server = Imap::start(|_, _| Act::Proper).await;
    server.mail().capabilities = "IMAP4rev1 IDLE MOVE AUTH=PLAIN SASL-IR";
    let login = ImapConfig { password: Some(Secret::new("schlüssel")), ..settings(&server) };
    Inbox::Imap(login).check().await.expect("it opens");
    // "\0gm\0schlüssel" in base64.
    assert!(server.mail().lines.iter().any(|line| line.ends_with("AUTHENTICATE PLAIN AGdtAHNjaGzDvHNzZWw=")));
}

#[tokio::test(flavor = "multi_thread")]
async fn runs_of_cron_leave_a_mailbox_alone_whose_login_was_refused() {
    let server = Imap::start(|step, _| if step == "LOGIN" { REFUSED } else { Act::Proper }).await;
    let folder = tempfile::tempdir().expect("a folder");
    // The pauses are a minute after the first refusal, and five after the second.
    for (time, changed, logins) in [
        ("12:00:00", None, 1),
        ("12:00:50", None, 1),
        ("12:01:10", None, 2),
        ("12:02:20", None, 2),
        ("12:02:40", Some("11:59:00"), 2),
        ("12:03:00", Some("12:02:55"), 3),
    ] {
        let mut office = office(&folder, &server, &format!("2026-11-07T{time}Z")).await;
        let mut config = Config::clone(&office.config);
        config.login_changed = changed.map(|time| format!("2026-11-07T{time}Z").parse().expect("a time"));
        office.config = Arc::new(config);
        let said = format!("{:#}", loops::once(&office).await.expect_err("the mailbox is closed"));
        assert!(said.contains("Invalid credentials"), "{said}");
        assert_eq!(server.mail().count("LOGIN"), logins, "at {time}");
        office.close().await;
    }
}
