//! A mailbox that takes access tokens instead of passwords.

use fogpost::post::inbox::Inbox;
use fogpost::post::oauth;
use fogpost::post::{Error, Secret, Tls, imap};
use tempfile::TempDir;

use crate::servers::Servers;
use crate::support::{drain, letter, subjects};
use crate::tokens::Tokens;

/// Logs in as a person does.
async fn log_in(login: &oauth::OauthLogin) {
    let waiting = login.begin_device_login().await.expect("begun");
    login.finish_device_login(&waiting).await.expect("logged in");
}

#[tokio::test]
async fn dovecot_takes_our_token_and_mail_waits_while_the_login_has_ended() {
    let Some(servers) = Servers::dovecot() else { return };
    let tokens = Tokens::start().await;
    let folder = TempDir::new().expect("a folder");
    let url = format!("http://127.0.0.1:{}/", tokens.port);
    let file = folder.path().join("oauth.token").display().to_string();
    let keys = format!("client_id = 'x'\ntoken_url = '{url}'\ndevice_url = '{url}'\ntoken_file = '{file}'");
    let login: oauth::OauthLogin = toml::from_str(&keys).expect("good settings");
    let inbox = |tls| {
        Inbox::Imap(imap::ImapConfig {
            port: Some(if tls == Tls::Tls { servers.imaps_port } else { servers.imap_port }),
            tls,
            ca_file: Some(servers.ca_file()),
            oauth: Some(Box::new(login.clone())),
            ..imap::ImapConfig::of("localhost", "gm", Secret::default())
        })
    };
    log_in(&login).await;
    servers.accept_token("gm", "access-1");
    for (number, tls) in ["1", "2", "3"].into_iter().zip([Tls::None, Tls::StartTls, Tls::Tls]) {
        servers.deliver_lmtp(&letter(number), "gm@club.test");
        assert_eq!(subjects(&drain(inbox(tls)).await.expect("drained")), [number]);
    }
    assert_eq!(tokens.state().count("refresh_token"), 0);

    // The provider ends the access token early, and the next one is taken.
    servers.deliver_lmtp(&letter("4"), "gm@club.test");
    servers.accept_token("gm", "access-2");
    assert_eq!(subjects(&drain(inbox(Tls::Tls)).await.expect("drained")), ["4"]);
    assert_eq!(tokens.state().count("refresh_token"), 1);

    // The provider ends the login.
    tokens.state().number = 9;
    servers.accept_token("gm", "access-10");
    servers.deliver_lmtp(&letter("5"), "gm@club.test");
    let error = drain(inbox(Tls::Tls)).await.expect_err("no token");
    assert!(matches!(error, Error::Login(_)) && error.to_string().contains("fogpost login"), "{error}");
    assert_eq!(servers.letters("gm", "INBOX").len(), 1, "mail waits");
    log_in(&login).await;
    assert_eq!(subjects(&drain(inbox(Tls::Tls)).await.expect("drained")), ["5"]);
}
