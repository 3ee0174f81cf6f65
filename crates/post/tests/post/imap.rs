//! The IMAP inbox against a fake server.

use std::collections::BTreeSet;
use std::time::Duration;

use chrono::{TimeZone, Utc};
use fogpost_post::imap::ImapConfig;
use fogpost_post::inbox::Inbox;
use fogpost_post::{Error, Secret, Taken, Tls};

use crate::fakes::imap::{Act, Imap};
use crate::support::{PATIENCE, Running, drain, letter, subjects};

/// Only the beginning of a larger letter is fetched.
const LIMIT: usize = 10_000;

/// A limit so large that the server is asked for sizes.
const LARGE_LIMIT: usize = 8 * 1024 * 1024;

fn settings(port: u16) -> ImapConfig {
    ImapConfig {
        port: Some(port),
        tls: Tls::None,
        timeout_seconds: PATIENCE.as_secs(),
        poll_seconds: 1,
        max_letter_bytes: LIMIT,
        ..ImapConfig::of("127.0.0.1", "gm", Secret::new("hush"))
    }
}

fn inbox(server: &Imap) -> Inbox {
    Inbox::Imap(settings(server.port))
}

/// An inbox that looks into the folder at most once in this test unless the server announces letters.
fn announced(server: &Imap) -> Inbox {
    Inbox::Imap(ImapConfig { idle_seconds: 500, poll_seconds: 500, ..settings(server.port) })
}

/// Letters with their numbers as subjects.
fn letters(numbers: std::ops::Range<usize>) -> impl Iterator<Item = Vec<u8>> {
    numbers.map(|i| letter(&i.to_string()))
}

async fn proper() -> Imap {
    Imap::start(|_, _| Act::Proper).await
}

/// A server that does `act` at `step` the first time.
async fn faulty(step: &'static str, act: Act) -> Imap {
    Imap::start(move |s, n| if s == step && n == 0 { act } else { Act::Proper }).await
}

#[tokio::test]
async fn letters_are_filed_only_after_they_are_stored() {
    let server = proper().await;
    server.deliver(letters(0..3));
    let mut running = Running::start(inbox(&server));
    let batch = running.batch().await;
    assert_eq!(subjects(&batch.letters), ["0", "1", "2"]);
    assert_eq!(batch.letters[1].raw, letter("1"));
    assert_eq!(batch.letters[1].origin, "imap:INBOX/7/2");
    assert_eq!(batch.letters[1].received_at, Utc.with_ymd_and_hms(2026, 11, 7, 8, 12, 0).unwrap());
    {
        let mail = server.mail();
        assert_eq!((mail.inbox.len(), mail.seen.len(), mail.count("STORE")), (3, 0, 0));
    }
    batch.stored.send(Taken::All).expect("the inbox waits");
    running.until(|health| health.last_ok.is_some()).await;
    {
        let mail = server.mail();
        assert_eq!((mail.inbox.len(), mail.seen.len(), mail.processed.len()), (0, 3, 3));
        assert!(mail.lines.iter().any(|line| line.ends_with("UID MOVE 1:3 \"Processed\"")));
    }
    running.stop().await;
}

#[tokio::test]
async fn idle_tells_of_new_letters() {
    let server = proper().await;
    let mut running = Running::start(announced(&server));
    for i in 0..5 {
        server.until(|mail| mail.count("IDLE") > i).await;
        server.deliver(letters(i..i + 1));
        assert_eq!(subjects(&running.letters().await), [i.to_string()]);
    }
    running.stop().await;
}

#[tokio::test]
async fn a_change_told_before_the_consent_to_idle_is_not_lost() {
    let server = Imap::start(|s, n| match (s, n) {
        ("IDLE", 0) => Act::First("* 1 EXISTS"),
        _ => Act::Proper,
    })
    .await;
    // Unless the client looks into the folder after the early line, nothing happens for this long.
    let mut running = Running::start(announced(&server));
    running.until(|health| health.last_ok.is_some()).await;
    // The fake announces only the letters that `deliver` adds.
    server.mail().inbox.insert(1, letter("early"));
    assert_eq!(subjects(&running.letters().await), ["early"]);
    assert_eq!(server.mail().count("LOGIN"), 1, "the session was kept");
    running.stop().await;
}

#[tokio::test]
async fn a_server_that_ends_idle_by_itself_is_asked_again() {
    let server = faulty("IDLE", Act::Instead("TAG OK that is all")).await;
    let mut running = Running::start(inbox(&server));
    server.until(|mail| mail.count("IDLE") > 1).await;
    server.deliver(letters(0..1));
    assert_eq!(running.letters().await.len(), 1);
    running.stop().await;
}

#[tokio::test]
async fn remarks_during_idle_do_not_extend_it() {
    let server = proper().await;
    let running = Running::start(Inbox::Imap(ImapConfig { idle_seconds: 1, ..settings(server.port) }));
    server.until(|mail| mail.count("DONE") > 0).await;
    running.stop().await;
}

#[tokio::test]
async fn without_idle_the_server_is_polled() {
    let server = proper().await;
    server.mail().capabilities = "IMAP4rev1 MOVE";
    let mut running = Running::start(inbox(&server));
    running.until(|health| health.last_ok.is_some()).await;
    server.deliver(letters(0..1));
    assert_eq!(running.letters().await.len(), 1);
    assert_eq!(server.mail().count("IDLE"), 0);
    running.stop().await;
}

#[tokio::test]
async fn a_server_whose_idle_announces_nothing_is_polled_until_it_does() {
    let server = proper().await;
    server.mail().is_idle_silent = true;
    // Unless the client looks into the folder by itself, nothing happens for this long.
    let mut running = Running::start(Inbox::Imap(ImapConfig { idle_seconds: 500, ..settings(server.port) }));
    running.until(|health| health.last_ok.is_some()).await;
    for i in 0..2 {
        server.until(|mail| mail.count("IDLE") > mail.count("DONE")).await;
        server.deliver(letters(i..i + 1));
        assert_eq!(subjects(&running.letters().await), [i.to_string()]);
    }
    // Once it has announced a letter, it is trusted: the next look comes only with the next letter. The fake may
    // announce one at the moment at which the client looks by itself, so this may take several letters.
    server.mail().is_idle_silent = false;
    for i in 2.. {
        assert!(i < 20, "it is polled for ever");
        server.until(|mail| mail.count("IDLE") > mail.count("DONE")).await;
        server.deliver(letters(i..i + 1));
        assert_eq!(subjects(&running.letters().await), [i.to_string()]);
        server.until(|mail| mail.inbox.is_empty() && mail.count("IDLE") > mail.count("DONE")).await;
        let idles = server.mail().count("IDLE");
        tokio::time::sleep(Duration::from_millis(1500)).await;
        if server.mail().count("IDLE") == idles {
            break;
        }
    }
    running.stop().await;
}

#[tokio::test]
async fn a_server_that_is_not_connected_to_the_mailbox_refuses_only_for_the_moment() {
    for answer in ["TAG BAD User is authenticated but not connected.", "TAG NO [UNAVAILABLE] try again"] {
        let server = Imap::start(move |s, _| match s {
            "SELECT" => Act::Instead(answer),
            _ => Act::Proper,
        })
        .await;
        let mut running = Running::start(inbox(&server));
        running.until(|health| health.trouble.is_some()).await;
        let trouble = running.health.borrow().trouble.clone().expect("a trouble");
        assert!(trouble.reason.contains("only for the moment") && !trouble.is_lasting, "{trouble:?}");
        assert!(!trouble.reason.contains("inbox.imap"), "{trouble:?}");
        running.stop().await;
    }
}

#[tokio::test]
async fn a_server_that_offers_idle_but_refuses_it_is_polled() {
    for answer in ["TAG BAD unknown", "TAG NO not today"] {
        let server = Imap::start(move |s, _| match s {
            "IDLE" => Act::Instead(answer),
            _ => Act::Proper,
        })
        .await;
        let mut running = Running::start(inbox(&server));
        running.until(|health| health.last_ok.is_some()).await;
        server.deliver(letters(0..1));
        assert_eq!(running.letters().await.len(), 1, "{answer}");
        running.stop().await;
    }
}

#[tokio::test]
async fn without_move_letters_are_copied_and_expunged_by_uid() {
    for (capabilities, command) in [("IMAP4rev1 UIDPLUS", "UID EXPUNGE 1:2"), ("IMAP4rev1", "EXPUNGE")] {
        let server = proper().await;
        server.mail().capabilities = capabilities;
        server.deliver(letters(0..2));
        assert_eq!(drain(inbox(&server)).await.expect("drained").len(), 2);
        let mail = server.mail();
        assert_eq!((mail.inbox.len(), mail.processed.len()), (0, 2));
        assert!(mail.lines.iter().any(|line| line.ends_with(command)), "{:?}", mail.lines);
    }
}

#[tokio::test]
async fn a_large_letter_is_fetched_in_part_and_says_so() {
    let server = proper().await;
    let large = [letter("large"), vec![b'x'; 5 * LIMIT]].concat();
    let exact = [letter("exact"), vec![b'x'; LIMIT - letter("exact").len()]].concat();
    server.deliver([large.clone(), exact.clone()]);
    let all = drain(inbox(&server)).await.expect("drained");
    assert_eq!((all[0].cut, all[0].raw.as_slice(), all[0].size), (true, &large[..LIMIT], large.len() as u64));
    assert_eq!((all[1].cut, all[1].raw.as_slice()), (false, exact.as_slice()));
}

#[tokio::test]
async fn many_letters_arrive_in_batches() {
    let server = proper().await;
    server.deliver(letters(0..1200));
    let mut running = Running::start(inbox(&server));
    let mut sizes = Vec::new();
    while sizes.iter().sum::<usize>() < 1200 {
        sizes.push(running.letters().await.len());
    }
    assert_eq!(sizes, [500, 500, 200]);
    running.until(|health| health.last_ok.is_some()).await;
    assert_eq!(server.mail().count("MOVE"), 3, "one command files a batch");
    running.stop().await;
}

#[tokio::test]
async fn large_letters_arrive_in_smaller_batches() {
    let server = proper().await;
    server.deliver(letters(0..4).map(|letter| [letter, vec![b'x'; 1_500_000]].concat()));
    let limit = ImapConfig { max_letter_bytes: LARGE_LIMIT, ..settings(server.port) };
    let mut running = Running::start(Inbox::Imap(limit));
    assert_eq!(subjects(&running.letters().await), ["0", "1", "2"]);
    assert_eq!(subjects(&running.letters().await), ["3"]);
    running.until(|health| health.last_ok.is_some()).await;
    assert_eq!(server.mail().count("SIZES"), 1, "the size of a single letter does not matter");
    running.stop().await;
}

#[tokio::test]
async fn every_letter_survives_a_fault_at_any_step() {
    let acts = [
        Act::CloseAfter(0),
        Act::CloseAfter(150),
        Act::Hang,
        Act::Instead("TAG NO not now"),
        Act::Instead("TAG BAD what"),
        Act::Instead("* BYE going down"),
        Act::Instead("?? \u{1}malformed (("),
        Act::Instead("a99 OK other tag"),
        Act::Instead("* NO untagged\r\nTAG OK done"),
        Act::Instead("* 3 EXPUNGE\r\n* 1 EXISTS\r\nTAG NO changed"),
    ];
    let steps = [
        "GREETING",
        "LOGIN",
        "CAPABILITY",
        "LIST",
        "SELECT",
        "SEARCH",
        "SIZES",
        "FETCH",
        "CREATE",
        "STORE",
        "MOVE",
        "IDLE",
        "DONE",
    ];
    let mut tasks = Vec::new();
    for step in steps {
        for act in acts {
            // A refused login is tried again after a minute.
            if !matches!((step, act), ("LOGIN", Act::Instead(answer)) if answer.contains("TAG NO")) {
                tasks.push(tokio::spawn(survives(step, act)));
            }
        }
    }
    for task in tasks {
        task.await.expect("each of them");
    }
}

async fn survives(step: &'static str, act: Act) {
    let server = faulty(step, act).await;
    server.deliver(letters(0..3));
    let mut running = Running::start(Inbox::Imap(ImapConfig {
        timeout_seconds: 1,
        idle_seconds: 1,
        max_letter_bytes: if step == "SIZES" { LARGE_LIMIT } else { LIMIT },
        ..settings(server.port)
    }));
    let mut arrived = BTreeSet::new();
    while arrived.len() < 3 {
        arrived.extend(subjects(&running.letters().await));
    }
    running.until(|health| health.last_ok.is_some() && health.trouble.is_none()).await;
    server.until(|mail| mail.count("DONE") > 0).await;
    server.deliver(letters(3..4));
    while !arrived.contains("3") {
        arrived.extend(subjects(&running.letters().await));
    }
    running.until(|health| health.trouble.is_none() && health.unreadable == 0).await;
    server.until(|mail| mail.inbox.is_empty()).await;
    running.stop().await;
    assert_eq!(server.mail().processed.len(), 4, "{step} {act:?}");
}

#[tokio::test]
async fn endless_answers_are_cut_off() {
    let floods = [
        ("LOGIN", Act::Flood("* OK ", "x")),
        ("CAPABILITY", Act::Flood("* CAPABILITY", " IMAP4rev1")),
        ("SELECT", Act::Flood("", "* 3 EXISTS\r\n")),
        ("SEARCH", Act::Flood("* SEARCH", " 1")),
        ("FETCH", Act::Flood("* 1 FETCH (FLAGS (", "x")),
        ("FETCH", Act::Flood("", "* 1 FETCH (FLAGS ())\r\n")),
        ("FETCH", Act::Flood("* 1 FETCH (UID 1 BODY[] {99999999999}\r\n", "x")),
        ("FETCH", Act::Flood("* 1 FETCH (", "FLAGS {3}\r\nabc ")),
        ("IDLE", Act::Flood("", "* OK wait\r\n")),
    ];
    for (step, act) in floods {
        let server = faulty(step, act).await;
        server.deliver(letters(0..1));
        let mut running = Running::start(inbox(&server));
        if step == "IDLE" {
            running.letters().await;
            running.until(|health| health.trouble.is_some()).await;
        } else {
            assert_eq!(running.letters().await.len(), 1, "the next session works");
        }
        running.stop().await;
        let flood = server.mail().flood;
        assert!(flood < 48 * 1024 * 1024, "{step} {act:?}: {flood} bytes");
    }
}

#[tokio::test]
async fn a_letter_that_breaks_the_session_does_not_hold_up_the_others() {
    let server = proper().await;
    server.deliver(letters(0..20));
    server.mail().malformed.insert(14);
    let mut running = Running::start(inbox(&server));
    let mut arrived = Vec::new();
    while arrived.len() < 19 {
        arrived.extend(subjects(&running.letters().await));
    }
    assert!(!arrived.contains(&"13".to_owned()));
    running.until(|health| health.last_ok.is_some() && health.unreadable == 1).await;
    server.deliver(letters(20..21));
    assert_eq!(subjects(&running.letters().await), ["20"], "later letters arrive too");
    server.until(|mail| mail.inbox.len() == 1).await;
    running.stop().await;
    // Now that the server is well, the next start fetches it.
    server.mail().malformed.clear();
    assert_eq!(subjects(&drain(inbox(&server)).await.expect("drained")), ["13"]);
}

#[tokio::test]
async fn a_letter_that_is_listed_but_cannot_be_fetched_is_left_alone() {
    let server = proper().await;
    server.deliver(letters(0..3));
    server.mail().ghosts.insert(2);
    let all = drain(inbox(&server)).await.expect("drained");
    assert_eq!(subjects(&all), ["0", "2"]);
    assert!(server.mail().count("FETCH") < 10, "it is not fetched forever");
}

#[tokio::test]
async fn letters_that_were_not_stored_stay_and_arrive_again() {
    let server = proper().await;
    server.deliver(letters(0..2));
    let mut running = Running::start(inbox(&server));
    drop(running.batch().await);
    running.until(|health| health.trouble.is_some()).await;
    assert_eq!(server.mail().inbox.len(), 2);
    assert_eq!(running.letters().await.len(), 2);
    running.until(|health| health.last_ok.is_some()).await;
    assert_eq!(server.mail().processed.len(), 2);
    running.stop().await;
}

#[tokio::test]
async fn stored_letters_that_were_not_moved_are_moved_later_and_not_handed_over_again() {
    let server = faulty("MOVE", Act::Instead("TAG NO quota")).await;
    server.deliver(letters(0..2));
    let mut running = Running::start(inbox(&server));
    assert_eq!(running.letters().await.len(), 2);
    running.until_left(|left| left.unfiled.len() == 2).await;
    server.deliver(letters(2..3));
    assert_eq!(subjects(&running.letters().await), ["2"]);
    running.until_left(|left| left.unfiled.is_empty()).await;
    server.until(|mail| mail.inbox.is_empty()).await;
    assert_eq!(server.mail().processed.len(), 3);
    running.stop().await;
}

#[tokio::test]
async fn a_new_uid_validity_makes_every_uid_new() {
    let server = Imap::start(|s, _| match s {
        "MOVE" => Act::Instead("TAG NO quota"),
        _ => Act::Proper,
    })
    .await;
    server.deliver(letters(0..1));
    let mut running = Running::start(inbox(&server));
    assert_eq!(running.letters().await[0].origin, "imap:INBOX/7/1");
    running.until_left(|left| left.unfiled.len() == 1).await;
    let left = running.left.clone();
    running.stop().await;
    server.mail().uid_validity = 8;
    let mut running = Running::start_with(inbox(&server), left);
    assert_eq!(running.letters().await[0].origin, "imap:INBOX/8/1");
    running.until_left(|left| *left.unfiled.iter().collect::<Vec<_>>() == ["imap:INBOX/8/1"]).await;
    running.stop().await;
}

#[tokio::test]
async fn a_rejected_login_a_missing_folder_and_a_refused_starttls_are_configuration_faults() {
    let server = faulty("LOGIN", Act::Instead("TAG NO [AUTHENTICATIONFAILED] wrong")).await;
    let error = inbox(&server).check().await.expect_err("rejected");
    assert!(matches!(error, Error::Login(_)) && !error.is_transient(), "{error}");
    assert!(!format!("{error:?}").contains("hush"));
    let server = faulty("SELECT", Act::Instead("TAG NO no such folder")).await;
    let error = inbox(&server).check().await.expect_err("missing");
    assert!(error.to_string().contains("INBOX") && !error.is_transient(), "{error}");
    let server = faulty("STARTTLS", Act::Instead("TAG BAD unknown")).await;
    let secured = Inbox::Imap(ImapConfig { tls: Tls::StartTls, ..settings(server.port) });
    let error = secured.check().await.expect_err("no STARTTLS");
    assert!(!error.is_transient(), "{error}");
    assert_eq!(server.mail().count("LOGIN"), 0, "no password is sent unprotected");
}

#[tokio::test]
async fn bytes_injected_behind_starttls_are_rejected() {
    let server = faulty("STARTTLS", Act::Instead("TAG OK go on\r\n* OK injected")).await;
    let secured = Inbox::Imap(ImapConfig { tls: Tls::StartTls, ..settings(server.port) });
    assert!(matches!(secured.check().await, Err(Error::Malformed)));
}

#[tokio::test]
async fn check_describes_the_mailbox_and_fetches_nothing() {
    let server = proper().await;
    server.deliver(letters(0..2));
    let found = inbox(&server).check().await.expect("fine");
    assert!(
        found.found.contains("INBOX: 2 waiting")
            && found.found.contains("IDLE")
            && found.found.contains("MOVE"),
        "{found:?}"
    );
    let mail = server.mail();
    assert_eq!((mail.inbox.len(), mail.seen.len(), mail.count("CREATE")), (2, 0, 0));
}

#[tokio::test]
async fn an_inbox_stops_whatever_the_server_does() {
    for step in ["GREETING", "LOGIN", "FETCH", "IDLE", "DONE"] {
        let server = faulty(step, Act::Hang).await;
        server.deliver(letters(0..1));
        let settings = ImapConfig { timeout_seconds: 1000, idle_seconds: 1, ..settings(server.port) };
        let mut running = Running::start(Inbox::Imap(settings));
        if matches!(step, "IDLE" | "DONE") {
            running.letters().await;
        }
        server.until(|mail| mail.count(step) > 0).await;
        running.stop().await;
    }
}

#[tokio::test]
async fn an_unreachable_server_shows_in_the_health() {
    let mut running = Running::start(Inbox::Imap(settings(1)));
    running
        .until(|health| health.trouble.as_ref().is_some_and(|trouble| trouble.reason.contains("127.0.0.1:1")))
        .await;
    assert_eq!(running.health.borrow().last_ok, None);
    running.stop().await;
    assert!(drain(Inbox::Imap(settings(1))).await.is_err());
}
