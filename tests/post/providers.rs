//! A club's hour at Gmail, Microsoft 365 and GMX: servers with these providers' capabilities and refusals. The login is
//! refused until the GM mends it, then the quota is used up until an hour has passed. All mail waits, and all of it goes on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use chrono::TimeDelta;
use fogpost::daemon::{Office, sending};
use fogpost::post::maildir;

use crate::fakes::smtp::{Act, Smtp};
use crate::quota::{Clock, GMAIL, GMX, HourlyQuota, MICROSOFT, invite, open, send_all, status};

/// A provider as its mail server speaks.
struct Provider {
    greeting: &'static str,
    /// Its reply to EHLO over TLS.
    capabilities: &'static str,
    /// What it says to a login that it does not accept.
    login_refusal: &'static str,
    /// The login command that it gets from us.
    login: &'static str,
    /// What it says when the quota is used up, after the letter.
    quota: &'static str,
}

/// As smtp.gmail.com replies; its refusals are published at support.google.com/a/answer/3726730.
const AT_GMAIL: Provider = Provider {
    greeting: "220 smtp.gmail.com ESMTP x.1 - gsmtp",
    capabilities: "250-smtp.gmail.com at your service, [192.0.2.1]\r\n250-SIZE 35882577\r\n250-8BITMIME\r\n\
                   250-AUTH LOGIN PLAIN XOAUTH2 PLAIN-CLIENTTOKEN OAUTHBEARER XOAUTH\r\n\
                   250-ENHANCEDSTATUSCODES\r\n250-PIPELINING\r\n250-CHUNKING\r\n250 SMTPUTF8",
    login_refusal: "535-5.7.8 Username and Password not accepted. For more information, go to\r\n\
                    535 5.7.8  https://support.google.com/mail/?p=BadCredentials x.1 - gsmtp",
    login: "AUTH PLAIN",
    quota: GMAIL,
};

/// As smtp.office365.com replies after STARTTLS; its refusals are published at learn.microsoft.com (non-delivery reports
/// in Exchange Online, and SMTP AUTH).
const AT_MICROSOFT: Provider = Provider {
    greeting: "220 AM0PR00CA0000.outlook.office365.com Microsoft ESMTP MAIL Service ready",
    capabilities: "250-AM0PR00CA0000.outlook.office365.com Hello [192.0.2.1]\r\n250-SIZE 157286400\r\n\
                   250-PIPELINING\r\n250-DSN\r\n250-ENHANCEDSTATUSCODES\r\n250-AUTH LOGIN XOAUTH2\r\n250-8BITMIME\r\n\
                   250-BINARYMIME\r\n250-CHUNKING\r\n250 SMTPUTF8",
    login_refusal: "535 5.7.139 Authentication unsuccessful, SmtpClientAuthentication is disabled for the Tenant. Visit \
                    https://aka.ms/smtp_auth_disabled for more information.",
    login: "AUTH LOGIN",
    quota: MICROSOFT,
};

/// As mail.gmx.net replies over TLS; its refusals are published at postmaster.gmx.net/en/error-messages. It gives no
/// enhanced codes.
const AT_GMX: Provider = Provider {
    greeting: "220 gmx.net (mrgmx105) Nemesis ESMTP Service ready",
    capabilities: "250-gmx.net Hello [192.0.2.1]\r\n250-SIZE 69920427\r\n250 AUTH LOGIN PLAIN",
    login_refusal: "535 Authentication credentials invalid",
    login: "AUTH PLAIN",
    quota: GMX,
};

/// Letters that the providers of this test take in an hour.
const PER_HOUR: usize = 10;

impl Provider {
    async fn start(&'static self, clock: Clock, accepts_logins: Arc<AtomicBool>) -> Smtp {
        let quota = HourlyQuota::new(PER_HOUR, clock);
        Smtp::start(move |step, _| match step {
            "GREETING" => Act::Say(self.greeting),
            "EHLO" => Act::Say(self.capabilities),
            "AUTH" if !accepts_logins.load(Ordering::SeqCst) => Act::Say(self.login_refusal),
            "LETTER" if !quota.takes_another() => Act::Say(self.quota),
            _ => Act::Proper,
        })
        .await
    }
}

/// Asserts that the status is red, and repeats what the provider said.
async fn is_red(office: &Office, clock: &Clock, said: &str) {
    let faults = status(office, clock).await.faults;
    let words = said.lines().next().expect("words").trim_start_matches(|c: char| !c.is_alphabetic());
    let words: Vec<&str> = words.split_whitespace().take(4).collect();
    let words = words.join(" ");
    assert!(
        faults.iter().any(|fault| fault.contains("has accepted no letters") && fault.contains(&words)),
        "{words}: {faults:?}"
    );
}

async fn an_hour_at(provider: &'static Provider) {
    let clock = Clock::default();
    let accepts_logins = Arc::new(AtomicBool::new(false));
    let server = provider.start(clock.clone(), Arc::clone(&accepts_logins)).await;
    let folder = tempfile::tempdir().expect("a folder");
    maildir::create(&folder.path().join("in")).expect("a mailbox");
    let office = open(&folder, &server, &clock, "", "user = \"club\"\npassword = \"hush\"\n").await;
    let taken = || server.seen().taken.len();
    let waiting = async || office.store.queues().await.expect("the store answers").dispatches_waiting;
    // Nobody can log in.
    for number in 0..4 {
        invite(&office, number).await;
    }
    sending::send_due(&office).await.expect("the store answers");
    assert_eq!((taken(), waiting().await), (0, 5), "the invitations wait, and a letter to the GM");
    is_red(&office, &clock, provider.login_refusal).await;
    accepts_logins.store(true, Ordering::SeqCst);
    clock.advance(TimeDelta::minutes(1));
    sending::send_due(&office).await.expect("the store answers");
    assert_eq!((taken(), waiting().await), (5, 0));
    // Everybody's turn is adjudicated: more letters than the provider takes in an hour.
    for number in 4..20 {
        invite(&office, number).await;
    }
    sending::send_due(&office).await.expect("the store answers");
    assert_eq!(taken(), PER_HOUR);
    is_red(&office, &clock, provider.quota).await;
    clock.advance(TimeDelta::minutes(50));
    sending::send_due(&office).await.expect("the store answers");
    assert_eq!(taken(), PER_HOUR, "the hour is not over");
    let took = send_all(&office, &clock).await;
    assert!(took < TimeDelta::hours(3), "{took}");
    assert_eq!(status(&office, &clock).await.outage.map(|outage| outage.error), None);
    everything_arrived_once(&office, &server).await;
    // It spoke with us as with every program that knows what it offers.
    let seen = server.seen();
    assert_eq!(seen.pipelined > 0, provider.capabilities.contains("PIPELINING"));
    assert!(seen.lines.iter().any(|line| line.starts_with("MAIL FROM:<") && line.contains(" SIZE=")));
    assert!(
        seen.lines
            .iter()
            .filter(|line| line.starts_with("AUTH"))
            .all(|line| line.starts_with(provider.login))
    );
}

/// Asserts that each letter was taken once, that the GM was told of trouble once in the hour, and that nobody is to blame.
async fn everything_arrived_once(office: &Office, server: &Smtp) {
    let rows = office.store.list_dispatches(false, 1000).await.expect("the store answers");
    let to_gm = rows.iter().filter(|row| row.recipient == "gm@gm.test").count();
    assert_eq!((rows.len(), to_gm), (21, 1), "twenty invitations, and one letter to the GM");
    let taken = server.seen().taken;
    for row in &rows {
        assert!(row.sent_at.is_some() && !row.returned, "{}", row.error);
        let bears = |letter: &&Vec<u8>| String::from_utf8_lossy(letter).contains(&row.message_id);
        assert_eq!(taken.iter().filter(bears).count(), 1, "{}", row.message_id);
    }
    let players = office.store.players().await.expect("the store answers");
    assert!(players.iter().all(|player| !player.bouncing));
}

#[tokio::test(flavor = "multi_thread")]
async fn at_gmail_a_refused_login_and_a_used_up_quota_only_delay() {
    an_hour_at(&AT_GMAIL).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_microsoft_365_a_refused_login_and_a_used_up_quota_only_delay() {
    an_hour_at(&AT_MICROSOFT).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn at_gmx_a_refused_login_and_a_used_up_quota_only_delay() {
    an_hour_at(&AT_GMX).await;
}
