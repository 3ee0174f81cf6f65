//! Ports that speak the other kind of TLS: the error says which kind would do, whatever the port's number is.

use fogpost_post::inbox::Inbox;
use fogpost_post::outbox::{Outbox, OutboxConfig};
use fogpost_post::{Secret, Tls, imap, smtp};
use tokio::net::TcpListener;
use tokio::time::timeout;

use crate::fakes;
use crate::support::PATIENCE;

async fn imap_error(port: u16, tls: Tls) -> String {
    let login = imap::ImapConfig::of("127.0.0.1", "gm", Secret::new("hush"));
    let settings = imap::ImapConfig { port: Some(port), tls, timeout_seconds: 1, ..login };
    let checked = timeout(PATIENCE, Inbox::Imap(settings).check()).await.expect("in time");
    checked.expect_err("the wrong kind of TLS").to_string()
}

async fn smtp_error(port: u16, tls: Tls) -> String {
    let server = smtp::SmtpConfig::to("127.0.0.1");
    let settings = smtp::SmtpConfig { port: Some(port), tls, timeout_seconds: 1, ..server };
    let outbox = Outbox::new(OutboxConfig::Smtp(settings)).expect("nothing to read");
    let checked = timeout(PATIENCE, outbox.check()).await.expect("in time");
    checked.expect_err("the wrong kind of TLS").to_string()
}

#[tokio::test]
async fn a_port_that_begins_without_tls_is_named_as_such() {
    let wanted = "without TLS on this port; try tls = \"starttls\"";
    let imap = fakes::imap::Imap::start(|_, _| fakes::imap::Act::Proper).await;
    let said = imap_error(imap.port, Tls::Tls).await;
    assert!(said.contains(wanted), "{said}");
    let smtp = fakes::smtp::Smtp::start(|_, _| fakes::smtp::Act::Proper).await;
    let said = smtp_error(smtp.port, Tls::Tls).await;
    assert!(said.contains(wanted), "{said}");
}

#[tokio::test]
async fn a_port_that_speaks_tls_from_the_start_is_named_as_such() {
    // Such a server waits for the client to begin.
    let silent = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = silent.local_addr().expect("bound").port();
    for tls in [Tls::StartTls, Tls::None] {
        for said in [imap_error(port, tls).await, smtp_error(port, tls).await] {
            assert!(said.contains("speaks TLS from the start, set tls = \"tls\""), "{said}");
        }
    }
}
