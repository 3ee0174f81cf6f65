//! Logins by OAuth, against a token server and mail servers that refuse old tokens.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chrono::{DateTime, TimeDelta, Utc};
use fogpost_post::inbox::Inbox;
use fogpost_post::oauth::OauthLogin;
use fogpost_post::outbox::{self, Outbox, SendError};
use fogpost_post::{Error, Secret, Tls, imap, smtp};
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::timeout;

use crate::fakes;
use crate::fakes::tokens::Tokens;
use crate::oauth_outbox::{OFFER, outbox_with, send, send_letter, smtp_settings, smtp_with_oauth, xoauth2};
use crate::support::{PATIENCE, drain, letter, subjects};

fn settings(port: u16, folder: &Path) -> OauthLogin {
    let text = format!(
        "client_id = 'club'\nclient_secret = 'hush'\nscopes = ['mail', 'offline_access']\n\
         token_url = 'http://127.0.0.1:{port}/token'\ndevice_url = 'http://127.0.0.1:{port}/devicecode'\n\
         auth_url = 'http://127.0.0.1:{port}/authorize'\ntoken_file = '{}'\n",
        folder.join("oauth.token").display()
    );
    toml::from_str(&text).expect("good settings")
}

/// A token server, and a login at it.
async fn logged_in() -> (Tokens, TempDir, OauthLogin) {
    let server = Tokens::start().await;
    let folder = TempDir::new().expect("a folder");
    let login = settings(server.port, folder.path());
    let waiting = login.begin_device_login().await.expect("begun");
    login.finish_device_login(&waiting).await.expect("logged in");
    (server, folder, login)
}

/// An outbox that logs in for each letter.
fn outbox_without_kept_connections(port: u16, login: &OauthLogin) -> Outbox {
    let settings = smtp::SmtpConfig { idle_seconds: 0, ..smtp_settings(port, login) };
    Outbox::new(outbox::OutboxConfig::Smtp(settings)).expect("nothing to read")
}

fn inbox_with(port: u16, login: &OauthLogin) -> Inbox {
    Inbox::Imap(imap::ImapConfig {
        port: Some(port),
        tls: Tls::None,
        oauth: Some(Box::new(login.clone())),
        timeout_seconds: PATIENCE.as_secs(),
        ..imap::ImapConfig::of("127.0.0.1", "gm@club.test", Secret::default())
    })
}

/// Makes the access token one that must be renewed: its time was a thousand years ago.
fn make_stale(folder: &Path) -> String {
    let file = folder.join("oauth.token");
    let stale = fs::read_to_string(&file).expect("text").replace("\"renew_at\": \"2", "\"renew_at\": \"1");
    fs::write(file, &stale).expect("ours");
    stale
}

#[tokio::test]
async fn a_person_logs_in_by_device_code_and_the_tokens_are_for_the_owner_alone() {
    let server = Tokens::start().await;
    server.state().pending = 1;
    let folder = TempDir::new().expect("a folder");
    let login = settings(server.port, folder.path());
    assert!(login.state().expect("readable").is_none());
    let waiting = login.begin_device_login().await.expect("begun");
    assert_eq!(waiting.code(), "ABCD-EFGH");
    assert!(waiting.page().ends_with("/device"));
    timeout(PATIENCE, login.finish_device_login(&waiting)).await.expect("in time").expect("logged in");
    assert_eq!(server.state().requests[0]["scope"], "mail offline_access");
    let polls = server.state().count("urn:ietf:params:oauth:grant-type:device_code");
    assert_eq!(polls, 2, "it waits for the person");
    let file = folder.path().join("oauth.token");
    let mode = fs::metadata(&file).expect("a file").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(fs::read_to_string(file).expect("text").contains("refresh-1"));
    assert!(login.state().expect("readable").is_some());
    assert!(!format!("{login:?}").contains("hush"), "no secret in a log");
}

#[tokio::test]
async fn a_letter_is_sent_with_the_access_token() {
    let (server, _folder, login) = logged_in().await;
    let smtp = smtp_with_oauth().await;
    send(&outbox_with(smtp.port, &login)).await.expect("taken");
    assert!(smtp.seen().lines.contains(&format!("AUTH XOAUTH2 {}", xoauth2("access-1"))));
    assert_eq!(server.state().count("refresh_token"), 0, "it is still good");
}

#[tokio::test]
async fn a_token_that_a_mail_server_refuses_is_renewed_once() {
    let (server, _folder, login) = logged_in().await;
    let smtp = fakes::smtp::Smtp::start(|step, before| match (step, before) {
        ("EHLO", _) => fakes::smtp::Act::Say(OFFER),
        ("AUTH", 0) => fakes::smtp::Act::Say("535 5.7.3 Authentication unsuccessful"),
        _ => fakes::smtp::Act::Proper,
    })
    .await;
    send(&outbox_with(smtp.port, &login)).await.expect("taken with the new token");
    assert!(smtp.seen().lines.contains(&format!("AUTH XOAUTH2 {}", xoauth2("access-2"))));
    assert_eq!(server.state().count("refresh_token"), 1);

    let imap = fakes::imap::Imap::start(|step, before| match (step, before) {
        ("AUTHENTICATE", 0) => fakes::imap::Act::Instead("TAG NO [AUTHENTICATIONFAILED] expired"),
        _ => fakes::imap::Act::Proper,
    })
    .await;
    imap.mail().capabilities = "IMAP4rev1 SASL-IR AUTH=XOAUTH2 MOVE";
    imap.deliver([letter("hello")]);
    let letters = drain(inbox_with(imap.port, &login)).await.expect("drained with the new token");
    assert_eq!(subjects(&letters), ["hello"]);
    assert!(imap.mail().lines.iter().any(|line| line.ends_with(&xoauth2("access-3"))));
    assert_eq!(server.state().count("refresh_token"), 2);
}

#[tokio::test]
async fn the_mailbox_is_opened_with_the_best_mechanism_and_without_an_initial_response_where_there_is_none() {
    let (_server, _folder, login) = logged_in().await;
    let imap = fakes::imap::Imap::start(|_, _| fakes::imap::Act::Proper).await;
    let bearer = "n,a=gm@club.test,\u{1}host=127.0.0.1\u{1}port=PORT\u{1}auth=Bearer access-1\u{1}\u{1}";
    let bearer = STANDARD.encode(bearer.replace("PORT", &imap.port.to_string()));
    for (capabilities, command, more) in [
        (
            "IMAP4rev1 SASL-IR AUTH=XOAUTH2 AUTH=OAUTHBEARER",
            format!("AUTHENTICATE OAUTHBEARER {bearer}"),
            None,
        ),
        ("IMAP4rev1 AUTH=PLAIN AUTH=XOAUTH2", "AUTHENTICATE XOAUTH2".to_owned(), Some(xoauth2("access-1"))),
    ] {
        imap.mail().lines.clear();
        imap.mail().capabilities = capabilities;
        drain(inbox_with(imap.port, &login)).await.expect("drained");
        let mail = imap.mail();
        let at = mail.lines.iter().position(|line| line.ends_with(&command)).expect("the command");
        if let Some(more) = more {
            assert_eq!(mail.lines[at + 1], more);
        }
    }
    imap.mail().capabilities = "IMAP4rev1 AUTH=PLAIN";
    let error = drain(inbox_with(imap.port, &login)).await.expect_err("no mechanism").to_string();
    assert!(error.contains("offers no login by OAuth"), "{error}");
}

#[tokio::test]
async fn a_rotated_refresh_token_replaces_the_old_one_before_the_access_token_is_used() {
    let (server, folder, login) = logged_in().await;
    let smtp = smtp_with_oauth().await;
    for _ in 0..3 {
        let out = outbox_with(smtp.port, &login);
        make_stale(folder.path());
        send(&out).await.expect("taken");
    }
    let state = server.state();
    let used: Vec<&str> =
        state.requests.iter().filter_map(|form| Some(form.get("refresh_token")?.as_str())).collect();
    assert_eq!(used, ["refresh-1", "refresh-2", "refresh-3"]);
    assert!(fs::read_to_string(folder.path().join("oauth.token")).expect("text").contains("refresh-4"));
    assert!(!folder.path().join("oauth.token.new").exists());
}

#[tokio::test]
async fn many_that_need_a_new_token_at_once_renew_it_once() {
    let (server, folder, login) = logged_in().await;
    make_stale(folder.path());
    let smtp = smtp_with_oauth().await;
    let outboxes: Vec<Outbox> = (0..8).map(|_| outbox_with(smtp.port, &login)).collect();
    for sent in futures_util::future::join_all(outboxes.iter().map(send)).await {
        sent.expect("taken");
    }
    assert_eq!(server.state().count("refresh_token"), 1);
}

/// Changes each time in the token file by so many hours, as if the clock had been set by that much since.
fn shift_times(folder: &Path, hours: i64) {
    let file = folder.join("oauth.token");
    let mut tokens: Value = serde_json::from_slice(&fs::read(&file).expect("text")).expect("JSON");
    let shifted = |time: &Value| {
        let time: DateTime<Utc> = time.as_str().expect("a time").parse().expect("a time");
        Value::from((time + TimeDelta::hours(hours)).to_rfc3339())
    };
    for name in ["logged_in_at", "renewed_at"] {
        tokens[name] = shifted(&tokens[name]);
    }
    if tokens["ended_at"].is_string() {
        tokens["ended_at"] = shifted(&tokens["ended_at"]);
    }
    tokens["access"]["renew_at"] = shifted(&tokens["access"]["renew_at"]);
    fs::write(file, tokens.to_string()).expect("ours");
}

#[tokio::test]
async fn a_token_is_renewed_if_the_clock_was_set_by_an_hour_either_way() {
    for hours in [-1, 1] {
        let (server, folder, login) = logged_in().await;
        shift_times(folder.path(), hours);
        let smtp = smtp_with_oauth().await;
        smtp.accept_tokens(|token| token == "access-2");
        let out = outbox_with(smtp.port, &login);
        send(&out).await.expect("taken with a new token");
        send(&out).await.expect("taken with the same token");
        assert_eq!(server.state().count("refresh_token"), 1, "{hours}");
    }
}

#[tokio::test]
async fn the_provider_is_asked_again_after_it_ended_a_login_even_if_the_clock_was_set_back() {
    let (server, folder, login) = logged_in().await;
    make_stale(folder.path());
    server.state().number = 7;
    let smtp = smtp_with_oauth().await;
    send(&outbox_with(smtp.port, &login)).await.expect_err("the login has ended");
    shift_times(folder.path(), 1);
    server.state().number = 1;
    send(&outbox_with(smtp.port, &login)).await.expect("the provider was asked again");
}

#[tokio::test]
async fn a_login_holds_as_long_as_the_provider_says_if_it_says_so() {
    let week = TimeDelta::days(7);
    for (more, holds) in [
        (",\"refresh_token_expires_in\":604800", Some(week)),
        (",\"refresh_token_expires_in\":\"soon\"", None),
        (",\"refresh_token_expires_in\":9223372036854775807", None),
        ("", None),
    ] {
        let server = Tokens::start().await;
        server.state().more = more;
        let folder = TempDir::new().expect("a folder");
        let login = settings(server.port, folder.path());
        let waiting = login.begin_device_login().await.expect("begun");
        login.finish_device_login(&waiting).await.expect("logged in");
        let state = login.state().expect("readable").expect("a login");
        assert_eq!(state.ends_at.map(|at| at - state.logged_in_at), holds, "{more}");
        // A new refresh token holds from its own time on.
        make_stale(folder.path());
        server.state().more = "";
        send(&outbox_with(smtp_with_oauth().await.port, &login)).await.expect("taken");
        assert_eq!(login.state().expect("readable").expect("a login").ends_at, None);
    }
}

#[tokio::test]
async fn a_token_that_ends_in_the_middle_of_a_batch_is_renewed_once_and_every_letter_goes_out_once() {
    let (server, _folder, login) = logged_in().await;
    let smtp = smtp_with_oauth().await;
    let mut shown = 0;
    smtp.accept_tokens(move |token| {
        shown += 1;
        token == "access-2" || (token == "access-1" && shown <= 7)
    });
    let out = outbox_without_kept_connections(smtp.port, &login);
    let letters: Vec<String> = (0..20).map(|number| format!("Subject: {number}\r\n\r\n")).collect();
    let sending = letters.iter().map(|letter| send_letter(&out, letter.as_bytes()));
    for sent in futures_util::future::join_all(sending).await {
        sent.expect("taken");
    }
    assert_eq!(server.state().count("refresh_token"), 1);
    let mut taken = smtp.seen().letters;
    taken.sort();
    let mut sent: Vec<Vec<u8>> = letters.into_iter().map(String::into_bytes).collect();
    sent.sort();
    assert_eq!(taken, sent);
}

#[tokio::test]
async fn a_login_that_has_ended_keeps_mail_waiting_until_a_person_logs_in_again() {
    let (server, _folder, login) = logged_in().await;
    // As after a daemon that died before it stored the rotated token.
    server.state().number = 7;
    let smtp = fakes::smtp::Smtp::start(|step, before| match (step, before) {
        ("EHLO", _) => fakes::smtp::Act::Say(OFFER),
        ("AUTH", 0) => fakes::smtp::Act::Say("535 5.7.3 Authentication unsuccessful"),
        _ => fakes::smtp::Act::Proper,
    })
    .await;
    let out = outbox_with(smtp.port, &login);
    let error = send(&out).await.expect_err("no token");
    assert!(error.is_transient() && error.is_configuration(), "the letter is not at fault: {error}");
    assert!(error.to_string().contains("the login has ended") && error.to_string().contains("fogpost login"));
    assert!(error.is_silent(), "it is tried again soon");
    assert!(login.state().expect("readable").expect("a login").has_ended);
    let asked = server.state().count("refresh_token");
    send(&out).await.expect_err("still no token");
    assert_eq!(server.state().count("refresh_token"), asked, "the provider is not asked for every letter");
    let waiting = login.begin_device_login().await.expect("begun");
    login.finish_device_login(&waiting).await.expect("logged in");
    send(&out).await.expect("taken, by the same outbox");
}

#[tokio::test]
async fn trouble_of_the_token_server_passes() {
    let (server, folder, login) = logged_in().await;
    let file = folder.path().join("oauth.token");
    let stale = make_stale(folder.path());
    let smtp = smtp_with_oauth().await;
    let out = outbox_with(smtp.port, &login);
    for instead in [(503, "<html>busy</html>"), (400, "{\"error\":\"temporarily_unavailable\"}"), (200, "{}")]
    {
        server.state().instead = Some(instead);
        let error = send(&out).await.expect_err("no token");
        assert!(!error.is_configuration(), "{instead:?}: {error}");
        assert_eq!(fs::read_to_string(&file).expect("text"), stale, "the login is as it was");
    }
    server.state().instead = None;
    send(&out).await.expect("taken");
}

#[tokio::test]
async fn nobody_has_logged_in_is_said_as_such() {
    let folder = TempDir::new().expect("a folder");
    let smtp = smtp_with_oauth().await;
    let error = send(&outbox_with(smtp.port, &settings(1, folder.path()))).await.expect_err("no login");
    assert!(matches!(error, SendError::Unreachable(Error::Login(_))), "{error}");
    assert!(error.to_string().contains("nobody has logged in yet; run: fogpost login"), "{error}");
}

#[tokio::test]
async fn a_login_in_the_browser_checks_its_state_and_proves_itself_by_pkce() {
    let server = Tokens::start().await;
    let folder = TempDir::new().expect("a folder");
    let login = settings(server.port, folder.path());
    let begin = || login.begin_browser_login("http://127.0.0.1:9/".to_owned()).expect("good addresses");
    let page = begin().page;
    assert!(page.contains("code_challenge_method=S256") && page.contains("redirect_uri=http"), "{page}");
    let forged = login.finish_browser_login(begin(), "/?code=c0de&state=forged").await.expect_err("forged");
    assert!(forged.to_string().contains("not the answer to this login"), "{forged}");
    let state_of = |page: &str| {
        let (_, rest) = page.split_once("&state=").or_else(|| page.split_once("?state=")).expect("a state");
        rest.split('&').next().expect("its value").to_owned()
    };
    let waiting = begin();
    let denied = format!("/?error=access_denied&state={}", state_of(&waiting.page));
    let denied = login.finish_browser_login(waiting, &denied).await.expect_err("denied");
    assert!(denied.to_string().contains("access_denied"), "{denied}");
    assert!(server.state().requests.is_empty(), "the token server was not asked");
    let waiting = begin();
    let target = format!("/?code=c0de&state={}", state_of(&waiting.page));
    login.finish_browser_login(waiting, &target).await.expect("logged in");
    assert!(login.state().expect("readable").is_some());
    let state = server.state();
    assert_eq!(state.requests[0]["code"], "c0de");
    assert!(state.requests[0]["code_verifier"].len() >= 43);
}

#[test]
fn a_login_is_by_password_or_by_oauth_and_names_its_addresses() {
    let read =
        |keys: &str| toml::from_str::<OauthLogin>(&format!("client_id = 'x'\n{keys}")).expect("settings");
    assert_eq!(read("provider = 'microsoft'").check(), Ok(()));
    let device = read("provider = 'microsoft'\ntenant = 'club'").device_url().expect("known");
    assert_eq!(device, "https://login.microsoftonline.com/club/oauth2/v2.0/devicecode");
    assert!(read("").check().expect_err("no address").contains("token_url"));
    assert!(read("token_url = 'https://x.test/'").check().expect_err("no login").contains("device_url"));
}
