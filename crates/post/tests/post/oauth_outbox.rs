//! Outboxes that log in by OAuth, and a mail server that takes access tokens.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use fogpost_post::oauth::OauthLogin;
use fogpost_post::outbox::{self, Outbox, Outgoing, SendError};
use fogpost_post::{Tls, smtp};
use tokio::time::timeout;

use crate::fakes;
use crate::support::PATIENCE;

pub const OFFER: &str = "250-fake.test\r\n250-8BITMIME\r\n250 AUTH LOGIN XOAUTH2";

pub fn outbox_with(port: u16, login: &OauthLogin) -> Outbox {
    Outbox::new(outbox::OutboxConfig::Smtp(smtp_settings(port, login))).expect("nothing to read")
}

pub fn smtp_settings(port: u16, login: &OauthLogin) -> smtp::SmtpConfig {
    smtp::SmtpConfig {
        port: Some(port),
        tls: Tls::None,
        user: Some("gm@club.test".to_owned()),
        oauth: Some(Box::new(login.clone())),
        ..smtp::SmtpConfig::to("127.0.0.1")
    }
}

pub async fn send(out: &Outbox) -> Result<String, SendError> {
    send_letter(out, b"Subject: x\r\n\r\n").await
}

pub async fn send_letter(out: &Outbox, bytes: &[u8]) -> Result<String, SendError> {
    let letter = Outgoing { return_path: None, to: "anna@home.test", bytes };
    timeout(PATIENCE, out.send(&letter)).await.expect("in time")
}

/// The first message of XOAUTH2, as it goes over the wire.
pub fn xoauth2(token: &str) -> String {
    STANDARD.encode(format!("user=gm@club.test\u{1}auth=Bearer {token}\u{1}\u{1}"))
}

/// A mail server that takes access tokens.
pub async fn smtp_with_oauth() -> fakes::smtp::Smtp {
    fakes::smtp::Smtp::start(|step, _| match step {
        "EHLO" => fakes::smtp::Act::Say(OFFER),
        _ => fakes::smtp::Act::Proper,
    })
    .await
}
