//! Tests the outbox in situations that depend on chance in a whole program: failures of the database, and
//! several daemons. Also makes letters and refusals for the neighbouring tests.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use super::*;
use crate::post::Error;
use crate::post::refusal::{EnhancedCode, Exchange, Refusal, SmtpStatus};
use crate::referee::DispatchKind;
use crate::store::{self, Changes, NewDispatch, Urgency};

pub const NOW: DateTime<Utc> = DateTime::from_timestamp_millis(1_800_000_000_000).unwrap();

/// Returns a claimed letter that was not tried yet. Its Message-ID is its number.
pub fn letter(id: i64, recipient: &str) -> Claimed {
    Claimed {
        id,
        message_id: id.to_string(),
        recipient: recipient.to_owned(),
        bytes: Vec::new(),
        kind: DispatchKind::Notice,
        match_id: None,
        tries: 0,
        urgency: Urgency::Report,
        seat: None,
        created_at: NOW,
        return_id: None,
        has_lapsed: false,
    }
}

/// Returns the reply of a server, such as `550 5.1.1 no such user`.
fn reply(exchange: Exchange, text: &str) -> Refusal {
    let mut words = text.split(' ');
    let code = words.next().and_then(|code| code.parse().ok()).expect("a code");
    let enhanced = words.next().and_then(|word| {
        let mut numbers = word.split('.').filter_map(|number| number.parse().ok());
        Some(EnhancedCode { class: numbers.next()?, subject: numbers.next()?, detail: numbers.next()? })
    });
    Refusal { text: text.to_owned(), smtp: Some(SmtpStatus { exchange, code, enhanced }) }
}

/// No such user (RFC 3463, 3.2).
pub fn no_user() -> SendError {
    SendError::Refused(reply(Exchange::Recipient, "550 5.1.1 no such user"))
}

/// Returns a refusal because of a quota, in Gmail's words, with the time to wait if the server names one.
pub fn quota(wait: &str) -> SendError {
    SendError::Refused(reply(
        Exchange::Recipient,
        &format!("550 5.4.5 Daily user sending limit exceeded.{wait}"),
    ))
}

pub fn login() -> SendError {
    SendError::Unreachable(Error::Login(reply(Exchange::Login, "535 who are you?")))
}

/// A refusal at the greeting: the server is temporarily unavailable.
pub fn no_greeting() -> SendError {
    SendError::Unreachable(Error::Server(reply(Exchange::Greeting, "421 later")))
}

pub fn unreachable() -> SendError {
    SendError::Unreachable(Error::Malformed)
}

pub fn broken() -> SendError {
    SendError::Interrupted(Error::Malformed)
}

/// A temporary refusal of a letter, without codes.
pub fn not_now() -> SendError {
    SendError::NotNow("later".into())
}

/// Returns the office of a club with these sections in its config, and letters with these urgencies.
async fn office(folder: &Path, sections: &str, dispatches: &[(&str, Urgency)]) -> Office {
    let club = include_str!("../../../tests/support/club.toml");
    let text = club.replace("[outbox.maildir]", &format!("{sections}\n[outbox.maildir]"));
    let config = Config::parse(&text, "club.toml").expect("a config");
    let url = format!("sqlite:{}", folder.join("club.db").display());
    let store = store::open(&url).await.expect("a database");
    let dispatches = dispatches.iter().map(|(name, urgency)| dispatch(name, *urgency)).collect();
    let changes = Changes { at: NOW, dispatches, ..Changes::default() };
    store.commit(&changes).await.expect("the database answers");
    Office::new(config, store, Arc::new(|| NOW)).expect("an office")
}

fn dispatch(name: &str, urgency: Urgency) -> NewDispatch {
    NewDispatch {
        message_id: format!("{name}@club.example"),
        recipient: format!("{name}@players.example"),
        bytes: b"Subject: x\r\n\r\nHello\r\n".to_vec(),
        kind: DispatchKind::Notice,
        match_id: None,
        seat: None,
        answers: None,
        reminds: None,
        return_id: None,
        due: None,
        replaces: None,
        urgency,
        pin: None,
    }
}

/// Returns a dispatcher whose only letter, to Ann, is given up.
async fn giving_up(office: &Office) -> Dispatcher<'_> {
    let mut dispatcher = Dispatcher::new(office);
    dispatcher.claim_some().await.expect("the database answers");
    let letter = dispatcher.next().expect("a letter");
    dispatcher.shared.plan().finish(NOW, &letter, Err(&no_user()));
    assert!(!dispatcher.shared.plan().is_done(), "its outcome is not recorded yet");
    dispatcher.record().await.expect("the database answers");
    assert!(!dispatcher.shared.plan().is_done(), "it is given up");
    dispatcher
}

#[tokio::test]
async fn what_follows_is_not_forgotten_while_the_database_does_not_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let office = office(folder.path(), "", &[("ann", Urgency::Report)]).await;
    let mut dispatcher = giving_up(&office).await;
    let outcomes = dispatcher.shared.plan().outcomes.clone();
    office.store.close().await;
    dispatcher.record().await.expect_err("the database is closed");
    assert_eq!(dispatcher.shared.plan().outcomes, outcomes);
}

#[tokio::test]
async fn a_letter_about_which_the_gm_cannot_be_told_does_not_hold_up_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own");
    fs::create_dir_all(own.join("gm")).expect("a folder");
    fs::write(own.join("gm/trouble.txt"), "Subject: x\n\n{{ nothing.of.the.kind }}\n").expect("a template");
    let templates = format!("[templates]\nfolder = \"{}\"", own.display());
    let office = office(folder.path(), &templates, &[("ann", Urgency::Report)]).await;
    let mut dispatcher = giving_up(&office).await;
    dispatcher.record().await.expect("the outbox goes on");
    assert!(dispatcher.shared.plan().is_done());
    let row = &office.store.list_dispatches(true, 9).await.expect("the database answers")[0];
    assert_eq!((row.tries, row.given_up_at), (1, Some(NOW)));
}

#[tokio::test]
async fn two_daemons_tell_the_gm_of_an_outage_in_one_letter() {
    let folder = tempfile::tempdir().expect("a folder");
    let office = office(folder.path(), "", &[]).await;
    for _ in 0..2 {
        let mut account = Account::default();
        account.note_refused(NOW, &letter(1, "ann@players.example"), &login());
        let outage = account.alarm(NOW);
        assert!(outage.is_some(), "a person must end the outage");
        let changes = Changes { at: NOW, ..Changes::default() };
        follow(&office, Vec::new(), outage, changes).await.expect("the database answers");
    }
    assert_eq!(office.store.queues().await.expect("the database answers").dispatches_waiting, 1);
}

#[tokio::test]
async fn where_a_letter_of_each_part_of_the_quota_waits_the_one_tried_least_often_is_tried_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let dispatches = [("gm", Urgency::Alarm), ("ann", Urgency::Report)];
    let office = office(folder.path(), "[outbox]\nper_day = 100", &dispatches).await;
    let outcomes = [(1, SendOutcome::Later { at: NOW, error: "450".to_owned() })];
    office.store.record_outcomes(Claim::default(), NOW, &outcomes).await.expect("the database answers");
    let mut dispatcher = Dispatcher::new(&office);
    {
        let account = &mut dispatcher.shared.plan().account;
        for (id, recipient) in [(7, "a@a.example"), (8, "b@b.example"), (9, "c@c.example")] {
            account.note_refused(NOW - TimeDelta::hours(1), &letter(id, recipient), &not_now());
        }
        // The most urgent letter is tried, and refused.
        account.note_refused(NOW, &letter(1, "gm@players.example"), &not_now());
        assert!(account.tries_another());
    }
    dispatcher.claim_some().await.expect("the database answers");
    assert_eq!(dispatcher.next().expect("a letter").message_id, "ann@club.example");
    assert!(dispatcher.next().is_none());
}

#[tokio::test]
async fn a_letter_at_which_sending_panics_is_tried_again_later() {
    let folder = tempfile::tempdir().expect("a folder");
    let office = office(folder.path(), "", &[("ann", Urgency::Report)]).await;
    let mut dispatcher = Dispatcher::new(&office);
    dispatcher.claim_some().await.expect("the database answers");
    let letter = dispatcher.next().expect("a letter");
    let next = dispatcher.shared.finish(&letter, async { panic!("a fault in a library") }).await;
    assert!(next.is_none());
    dispatcher.record_when_due().await.expect("the database answers");
    let row = &office.store.list_dispatches(true, 1).await.expect("the database answers")[0];
    assert_eq!((row.tries, row.given_up_at, row.error.as_str()), (1, None, "deferred: sending it failed"));
}

#[tokio::test]
async fn a_connection_takes_the_next_letter_without_the_database() {
    let folder = tempfile::tempdir().expect("a folder");
    let office = office(folder.path(), "", &[("ann", Urgency::Report), ("bo", Urgency::Notice)]).await;
    let mut dispatcher = Dispatcher::new(&office);
    dispatcher.claim_some().await.expect("the database answers");
    let first = dispatcher.next().expect("a letter");
    office.store.close().await;
    let next = dispatcher.shared.finish(&first, async { Ok("250 ok".to_owned()) }).await;
    assert_eq!(next.expect("another letter").message_id, "bo@club.example");
    assert!(dispatcher.shared.plan().claimed.contains_key(&first.id), "its outcome is not recorded yet");
}
