//! The outbox in situations that depend on chance in a whole program: failures of the database, and several daemons.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use chrono::{DateTime, TimeDelta, Utc};

use super::outbox::Sending;
use crate::config::Config;
use crate::daemon::Office;
use crate::daemon::decide::sending::{Account, Attempt, Event, FollowUp, Refused};
use crate::post::refusal::RefusalClass;
use crate::referee::DispatchKind;
use crate::store::{self, Claim, NewDispatch, SendOutcome, Settlement, Urgency};

pub(super) const NOW: DateTime<Utc> = DateTime::from_timestamp_millis(1_800_000_000_000).unwrap();

/// The office of a club with these sections in its config.
pub(super) async fn office(folder: &Path, sections: &str) -> Office {
    let club = include_str!("../../../tests/support/club.toml");
    let text = club.replace("[outbox.maildir]", &format!("{sections}\n[outbox.maildir]"));
    let config = Config::parse(&text, "club.toml").expect("a config");
    let url = format!("sqlite:{}", folder.join("club.db").display());
    let store = store::open(&url).await.expect("a database");
    Office::new(config, store, Arc::new(|| NOW)).expect("an office")
}

fn refused(class: RefusalClass, code: u16) -> Refused {
    Refused { class, status: Some((code, None)), wait: None, is_silent: false, error: code.to_string() }
}

fn given_up(message_id: &str) -> FollowUp {
    FollowUp { message_id: message_id.to_owned(), event: Event::GivenUp { is_undeliverable: true } }
}

fn attempt(id: i64, recipient: &str) -> Attempt<'_> {
    Attempt { id, message_id: "1@club.example", recipient, tries: 0 }
}

pub(super) fn dispatch(name: &str, urgency: Urgency) -> NewDispatch {
    NewDispatch {
        message_id: format!("{name}@club.example"),
        recipient: format!("{name}@players.example"),
        bytes: b"Subject: x\r\n\r\nHello\r\n".to_vec(),
        kind: DispatchKind::Notice,
        match_id: None,
        seat: None,
        answers: None,
        asked: None,
        due: None,
        urgency,
        pin: None,
    }
}

#[tokio::test]
async fn what_is_left_to_do_is_kept_while_the_database_does_not_answer() {
    let folder = tempfile::tempdir().expect("a folder");
    let office = office(folder.path(), "").await;
    let mut sending = Sending::default();
    sending.account.follow_ups.push(given_up("1@club.example"));
    let before = sending.account.clone();
    office.store.close().await;
    office.follow_up(&mut sending).await.expect_err("the database is closed");
    assert_eq!(sending.account, before);
}

#[tokio::test]
async fn a_letter_about_which_the_gm_cannot_be_told_does_not_hold_up_the_others() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = folder.path().join("own");
    fs::create_dir_all(own.join("gm")).expect("a folder");
    fs::write(own.join("gm/trouble.txt"), "Subject: x\n\n{{ nothing.of.the.kind }}\n").expect("a template");
    let office = office(folder.path(), &format!("[templates]\nfolder = \"{}\"", own.display())).await;
    let dispatches = vec![dispatch("ann", Urgency::Report)];
    let settlement = Settlement { at: NOW, dispatches, ..Settlement::default() };
    office.store.commit(&settlement).await.expect("the database answers");
    let outcomes = [(1, SendOutcome::GivenUp { error: "550".to_owned() })];
    office.store.record_outcomes(Claim::default(), NOW, &outcomes).await.expect("the database answers");
    let mut sending = Sending::default();
    sending.account.follow_ups.push(given_up("ann@club.example"));
    office.follow_up(&mut sending).await.expect("the outbox goes on");
    assert_eq!(sending.account, Account::default());
}

#[tokio::test]
async fn two_daemons_tell_the_gm_of_an_outage_in_one_letter() {
    let folder = tempfile::tempdir().expect("a folder");
    let office = office(folder.path(), "").await;
    for _ in 0..2 {
        let mut account = Account::default();
        account.note_refused(NOW, &attempt(1, "ann@players.example"), &refused(RefusalClass::Account, 535));
        let outage = account.take_alarm(NOW).expect("an outage that a person must end");
        office.tell_of_outage(outage).await.expect("the database answers");
    }
    assert_eq!(office.store.queues().await.expect("the database answers").dispatches_waiting, 1);
}

#[tokio::test]
async fn where_a_letter_of_each_part_of_the_quota_waits_the_one_tried_least_often_is_tried_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let office = office(folder.path(), "[outbox]\nper_day = 100").await;
    let dispatches = vec![dispatch("gm", Urgency::Alarm), dispatch("ann", Urgency::Report)];
    let settlement = Settlement { at: NOW, dispatches, ..Settlement::default() };
    office.store.commit(&settlement).await.expect("the database answers");
    let again = SendOutcome::Later { at: NOW, error: "450".to_owned() };
    let outcomes = [(1, again)];
    office.store.record_outcomes(Claim::default(), NOW, &outcomes).await.expect("the database answers");
    let mut sending = Sending::default();
    let account = &mut sending.account;
    let not_now = Refused { status: None, ..refused(RefusalClass::NotNow, 450) };
    for (id, recipient) in [(7, "a@a.example"), (8, "b@b.example"), (9, "c@c.example")] {
        account.note_refused(NOW - TimeDelta::hours(1), &attempt(id, recipient), &not_now);
    }
    // The most urgent letter is tried, and refused.
    account.note_refused(NOW, &attempt(1, "gm@players.example"), &not_now);
    assert!(account.tries_another());
    office.start_some(&mut sending).await.expect("the database answers");
    let claimed: Vec<&str> =
        sending.in_flight.values().map(|letter| letter.dispatch.message_id.as_str()).collect();
    assert_eq!(claimed, ["ann@club.example"]);
}
