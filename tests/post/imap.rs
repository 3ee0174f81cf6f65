//! The IMAP mailbox against a fake server.

use std::time::{Duration, Instant};

use chrono::{TimeZone, Utc};
use fogpost::post::imap::Settings;
use fogpost::post::inbox::Inbox;
use fogpost::post::{Error, Secret, Tls};

use crate::fakes::imap::{Act, Imap};
use crate::support::{Running, drain, letter, subjects};

/// Of a letter larger than this only the beginning is fetched.
const LIMIT: usize = 10_000;

/// So large a limit that the server is asked for sizes.
const LARGE_LIMIT: usize = 8 * 1024 * 1024;

fn settings(port: u16) -> Settings {
    Settings {
        port: Some(port),
        tls: Tls::None,
        timeout_seconds: 1,
        poll_seconds: 1,
        max_letter_bytes: LIMIT,
        ..Settings::of("127.0.0.1", "gm", Secret::new("hush"))
    }
}

fn inbox(server: &Imap) -> Inbox {
    Inbox::Imap(settings(server.port))
}

/// Letters named by their numbers.
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
async fn letters_are_fetched_unmarked_and_filed_only_when_they_are_stored() {
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
    batch.stored.send(()).expect("the inbox waits");
    running.until(|health| health.last_ok.is_some()).await;
    {
        let mail = server.mail();
        assert_eq!((mail.inbox.len(), mail.seen.len(), mail.processed.len()), (0, 3, 3));
        assert!(mail.lines.iter().any(|line| line.ends_with("UID MOVE 1:3 \"Processed\"")));
    }
    running.stop().await;
}

#[tokio::test]
async fn new_letters_come_while_the_server_is_only_listened_to() {
    let server = proper().await;
    let mut running = Running::start(Inbox::Imap(Settings { idle_seconds: 500, ..settings(server.port) }));
    running.until(|health| health.last_ok.is_some()).await;
    for i in 0..5 {
        tokio::time::sleep(Duration::from_millis(20)).await;
        server.deliver(letters(i..i + 1));
        assert_eq!(subjects(&running.letters().await), [i.to_string()]);
    }
    running.stop().await;
}

#[tokio::test]
async fn news_before_the_consent_to_idle_is_not_lost() {
    let server = Imap::start(|s, n| match (s, n) {
        ("IDLE", 0) => Act::First("* 1 EXISTS"),
        _ => Act::Proper,
    })
    .await;
    let mut running = Running::start(Inbox::Imap(Settings { timeout_seconds: 30, ..settings(server.port) }));
    running.until(|health| health.last_ok.is_some()).await;
    // The fake counts the bell from the last IDLE on, so only the early word tells of this one.
    server.mail().inbox.insert(1, letter("early"));
    let began = Instant::now();
    assert_eq!(subjects(&running.letters().await), ["early"]);
    assert!(began.elapsed() < Duration::from_secs(5), "it waited for a timeout");
    assert_eq!(server.mail().count("LOGIN"), 1, "the session was kept");
    running.stop().await;
}

#[tokio::test]
async fn without_idle_the_server_is_asked_again_and_again() {
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
async fn a_server_that_offers_idle_but_refuses_it_is_asked() {
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
async fn many_letters_come_in_batches() {
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
async fn large_letters_come_in_smaller_batches() {
    let server = proper().await;
    server.deliver(letters(0..4).map(|letter| [letter, vec![b'x'; 6_000_000]].concat()));
    let limit = Settings { max_letter_bytes: LARGE_LIMIT, ..settings(server.port) };
    let mut running = Running::start(Inbox::Imap(limit));
    assert_eq!(subjects(&running.letters().await), ["0", "1", "2"]);
    assert_eq!(subjects(&running.letters().await), ["3"]);
    running.until(|health| health.last_ok.is_some()).await;
    assert_eq!(server.mail().count("SIZES"), 1, "of one letter it need not be asked");
    running.stop().await;
}

#[tokio::test]
async fn every_letter_survives_a_fault_at_any_step() {
    let acts = [
        Act::CutAfter(0),
        Act::CutAfter(150),
        Act::Hang,
        Act::Instead("TAG NO not now"),
        Act::Instead("TAG BAD what"),
        Act::Instead("* BYE going down"),
        Act::Instead("?? \u{1}nonsense (("),
        Act::Instead("a99 OK other tag"),
        Act::Instead("* NO untagged\r\nTAG OK done"),
        Act::Instead("* 3 EXPUNGE\r\n* 1 EXISTS\r\nTAG NO changed"),
    ];
    let steps = [
        "GREETING",
        "LOGIN",
        "CAPABILITY",
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
            tasks.push(tokio::spawn(async move {
                let server = faulty(step, act).await;
                server.deliver(letters(0..3));
                let max_letter_bytes = if step == "SIZES" { LARGE_LIMIT } else { LIMIT };
                let mut running = Running::start(Inbox::Imap(Settings {
                    idle_seconds: 1,
                    max_letter_bytes,
                    ..settings(server.port)
                }));
                let mut came = std::collections::BTreeSet::new();
                while came.len() < 3 {
                    came.extend(subjects(&running.letters().await));
                }
                running.until(|health| health.last_ok.is_some() && health.trouble.is_none()).await;
                while server.mail().count("DONE") == 0 {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                server.deliver(letters(3..4));
                while !came.contains("3") {
                    came.extend(subjects(&running.letters().await));
                }
                running.until(|health| health.trouble.is_none() && health.unreadable == 0).await;
                while !server.mail().inbox.is_empty() {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                running.stop().await;
                assert_eq!(server.mail().processed.len(), 4);
                format!("{step} {act:?}")
            }));
        }
    }
    for task in tasks {
        task.await.expect("each of them");
    }
}

#[tokio::test]
async fn a_letter_that_breaks_the_session_is_left_and_the_others_come() {
    let server = proper().await;
    server.deliver(letters(0..20));
    server.mail().nonsense.insert(14);
    let mut running = Running::start(inbox(&server));
    let mut came = Vec::new();
    while came.len() < 19 {
        came.extend(subjects(&running.letters().await));
    }
    assert!(!came.contains(&"13".to_owned()));
    running.until(|health| health.last_ok.is_some() && health.unreadable == 1).await;
    server.deliver(letters(20..21));
    assert_eq!(subjects(&running.letters().await), ["20"], "it does not hold up what comes later");
    while server.mail().inbox.len() > 1 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    running.stop().await;
    // The next program that looks, after the server was mended, finds it.
    server.mail().nonsense.clear();
    assert_eq!(subjects(&drain(inbox(&server)).await.expect("drained")), ["13"]);
}

#[tokio::test]
async fn a_letter_that_is_listed_but_does_not_come_is_left() {
    let server = proper().await;
    server.deliver(letters(0..3));
    server.mail().ghosts.insert(2);
    let all = drain(inbox(&server)).await.expect("drained");
    assert_eq!(subjects(&all), ["0", "2"]);
    assert!(server.mail().count("FETCH") < 10, "it is not asked for for ever");
}

#[tokio::test]
async fn letters_that_were_not_stored_stay_and_come_again() {
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
async fn stored_letters_that_were_not_moved_are_moved_later_and_not_handed_over_twice() {
    let server = faulty("MOVE", Act::Instead("TAG NO quota")).await;
    server.deliver(letters(0..2));
    let mut running = Running::start(inbox(&server));
    assert_eq!(running.letters().await.len(), 2);
    running.until(|health| health.last_ok.is_some()).await;
    running.nothing_for(Duration::from_millis(300)).await;
    assert_eq!(server.mail().processed.len(), 2);
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
    running.until(|health| health.trouble.is_some()).await;
    server.mail().uid_validity = 8;
    assert_eq!(running.letters().await[0].origin, "imap:INBOX/8/1");
    running.stop().await;
}

#[tokio::test]
async fn a_rejected_login_and_a_missing_folder_are_faults_of_the_settings() {
    let server = faulty("LOGIN", Act::Instead("TAG NO [AUTHENTICATIONFAILED] wrong")).await;
    let error = inbox(&server).check().await.expect_err("rejected");
    assert!(matches!(error, Error::Login(_)) && !error.is_transient(), "{error}");
    assert!(!format!("{error:?}").contains("hush"));
    let server = faulty("SELECT", Act::Instead("TAG NO no such folder")).await;
    let error = inbox(&server).check().await.expect_err("missing");
    assert!(error.to_string().contains("INBOX") && !error.is_transient(), "{error}");
    let server = faulty("STARTTLS", Act::Instead("s BAD unknown")).await;
    let secured = Inbox::Imap(Settings { tls: Tls::StartTls, ..settings(server.port) });
    let error = secured.check().await.expect_err("no STARTTLS");
    assert!(!error.is_transient(), "{error}");
    assert_eq!(server.mail().count("LOGIN"), 0, "no password goes over an open line");
}

#[tokio::test]
async fn words_slipped_in_behind_starttls_are_not_taken() {
    let server = faulty("STARTTLS", Act::Instead("s OK go on\r\n* OK injected")).await;
    let secured = Inbox::Imap(Settings { tls: Tls::StartTls, ..settings(server.port) });
    assert!(matches!(secured.check().await, Err(Error::Malformed)));
}

#[tokio::test]
async fn check_says_what_it_found_and_takes_nothing() {
    let server = proper().await;
    server.deliver(letters(0..2));
    let found = inbox(&server).check().await.expect("fine");
    assert!(
        found.contains("INBOX: 2 waiting") && found.contains("IDLE") && found.contains("MOVE"),
        "{found}"
    );
    let mail = server.mail();
    assert_eq!((mail.inbox.len(), mail.seen.len(), mail.count("CREATE")), (2, 0, 0));
}

#[tokio::test]
async fn an_inbox_stops_within_a_second_whatever_the_server_does() {
    for step in ["none", "GREETING", "LOGIN", "FETCH", "IDLE", "DONE"] {
        let server = faulty(step, Act::Hang).await;
        server.deliver(letters(0..1));
        let settings = Settings { timeout_seconds: 60, idle_seconds: 1, ..settings(server.port) };
        let mut running = Running::start(Inbox::Imap(settings));
        let batch = tokio::time::timeout(Duration::from_millis(300), running.letters()).await;
        assert_eq!(batch.is_err(), matches!(step, "GREETING" | "LOGIN" | "FETCH"), "{step}");
        tokio::time::sleep(Duration::from_millis(if step == "DONE" { 1300 } else { 100 })).await;
        let began = Instant::now();
        running.stop().await;
        assert!(began.elapsed() < Duration::from_secs(1), "{step}: {:?}", began.elapsed());
    }
}

#[tokio::test]
async fn a_server_that_is_down_is_tried_again_and_health_tells_of_it() {
    let mut running = Running::start(Inbox::Imap(settings(1)));
    running.until(|health| health.trouble.as_ref().is_some_and(|t| t.contains("127.0.0.1:1"))).await;
    assert_eq!(running.health.borrow().last_ok, None);
    running.stop().await;
    assert!(drain(Inbox::Imap(settings(1))).await.is_err());
}
