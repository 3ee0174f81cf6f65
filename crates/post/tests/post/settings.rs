//! The settings of the inbox and the outbox, as written in a TOML file.

use fogpost_post::inbox::Inbox;
use fogpost_post::{Tls, outbox};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Whole {
    inbox: Inbox,
    outbox: outbox::OutboxConfig,
}

fn read(inbox: &str, outbox: &str) -> Result<Whole, toml::de::Error> {
    toml::from_str(&format!("{inbox}\n{outbox}"))
}

const IMAP: &str = "[inbox.imap]\nhost = 'mail.club.test'\nuser = 'gm'\npassword = 'hush'\n";
const SMTP: &str = "[outbox.smtp]\nhost = 'mail.club.test'\n";

#[test]
fn a_host_and_a_login_suffice_and_the_defaults_are_safe() {
    let whole = read(IMAP, SMTP).expect("good settings");
    let Inbox::Imap(imap) = &whole.inbox else { panic!("{whole:?}") };
    assert_eq!((imap.tls, &*imap.folder, &*imap.processed), (Tls::Tls, "INBOX", "Processed"));
    let outbox::OutboxConfig::Smtp(smtp) = &whole.outbox else { panic!("{whole:?}") };
    assert_eq!((smtp.tls, smtp.connections), (Tls::Tls, 4));
    assert!(!format!("{whole:?}").contains("hush"), "no password in a log");
}

#[test]
fn folders_and_commands_can_be_configured() {
    let sendmail =
        read("[inbox.maildir]\npath = '/var/mail/gm'", "[outbox.sendmail]").expect("good settings");
    assert!(
        matches!(sendmail.outbox, outbox::OutboxConfig::Sendmail(ref s) if s.command.ends_with("sendmail"))
    );
    let maildir =
        read("[inbox.maildir]\npath = '/in'", "[outbox.maildir]\npath = '/out'").expect("good settings");
    assert!(matches!(maildir.outbox, outbox::OutboxConfig::Maildir(_)));
}

#[test]
fn a_fault_names_the_unknown_key_or_value() {
    for (key, named) in [("hots = 1", "hots"), ("tls = 'ssl'", "ssl"), ("idle_seconds = 'long'", "long")] {
        let fault = read(&format!("{IMAP}{key}"), SMTP).expect_err(key).to_string();
        assert!(fault.contains(named), "{fault}");
        let fault = read(IMAP, &format!("{SMTP}{key}")).expect_err(key).to_string();
        assert!(fault.contains(named), "{fault}");
    }
}
