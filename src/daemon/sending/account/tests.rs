//! Tests individual rules about refusals. The tests of the plan check that together the rules lose no letter.

use super::*;
use crate::daemon::sending::tests::{NOW, letter, login, no_greeting, no_user, quota, unreachable};

fn note(account: &mut Account, id: i64, domain: &str, error: &SendError) -> Vec<(i64, SendOutcome)> {
    sent(account.note_refused(NOW, &letter(id, &format!("x@{domain}")), error))
}

/// Returns the outcomes without their effects.
fn sent(outcomes: Vec<AttemptOutcome>) -> Vec<(i64, SendOutcome)> {
    outcomes.into_iter().map(|outcome| (outcome.id, outcome.sent)).collect()
}

/// Returns the effects, and the letters that they are about.
fn events(outcomes: Vec<AttemptOutcome>) -> Vec<(i64, SendingOutcome)> {
    outcomes.into_iter().filter_map(|outcome| Some((outcome.id, outcome.event?))).collect()
}

/// Notes that the letter was refused again once the outage allowed an attempt, and returns the time of that.
fn refuse_when_due(account: &mut Account, error: &SendError) -> DateTime<Utc> {
    let now = account.outage.as_ref().map_or(NOW, |outage| outage.until);
    account.note_refused(now, &letter(1, "x@a.test"), error);
    now
}

fn take(account: &mut Account, id: i64) -> Vec<AttemptOutcome> {
    account.note_taken(NOW, &letter(id, "x@z.test"), true)
}

fn given_up(id: i64) -> (i64, SendingOutcome) {
    (id, SendingOutcome::GivenUp { error: no_user().to_string(), is_undeliverable: true })
}

#[test]
fn a_quota_holds_one_letter_until_three_domains_are_refused_in_a_row() {
    let mut account = Account::default();
    for (id, domain) in [(1, "a.test"), (2, "a.test"), (3, "b.test")] {
        let outcomes = note(&mut account, id, domain, &quota(""));
        assert_eq!(outcomes, [(id, later(NOW + MIN_PAUSE, &quota("")))]);
        assert_eq!(account.probes(NOW), None);
    }
    take(&mut account, 4);
    for (id, domain) in [(1, "a.test"), (3, "b.test")] {
        note(&mut account, id, domain, &quota(""));
    }
    assert_eq!(account.probes(NOW), None, "a letter was taken between");
    note(&mut account, 5, "C.test", &quota(""));
    assert_eq!(account.probes(NOW), Some(0));
    assert_eq!(account.probes(NOW + MIN_PAUSE), Some(1));
    take(&mut account, 6);
    assert_eq!(account.probes(NOW), None);
}

#[test]
fn in_an_outage_another_letter_is_tried_right_after_the_most_urgent_one() {
    let mut account = Account::default();
    for (id, domain) in [(1, "a.test"), (2, "b.test"), (3, "c.test")] {
        note(&mut account, id, domain, &quota(""));
    }
    assert!(!account.tries_another());
    let at = NOW + MIN_PAUSE;
    let until = at + MIN_PAUSE * 2;
    let outcomes = sent(account.note_refused(at, &letter(1, "x@a.test"), &quota("")));
    assert_eq!(outcomes, [(1, later(until, &quota("")))]);
    assert!(account.tries_another());
    assert_eq!(account.probes(at), Some(1));
    let outcomes = sent(account.note_refused(at, &letter(4, "x@a.test"), &quota("")));
    assert_eq!(outcomes, [(4, later(until, &quota("")))]);
    assert!(!account.tries_another());
    assert_eq!((account.probes(at), account.probes(until)), (Some(0), Some(1)));
}

#[test]
fn a_rejected_login_stops_the_outbox_at_once_and_the_pause_doubles_up_to_an_hour() {
    let mut account = Account::default();
    note(&mut account, 1, "a.test", &login());
    assert_eq!(account.probes(NOW), Some(0));
    let mut pauses = Vec::new();
    let mut last = NOW;
    for _ in 0..8 {
        let now = refuse_when_due(&mut account, &login());
        pauses.push((now - last).num_minutes());
        last = now;
        // Another letter in flight, refused at the same time, changes nothing.
        account.note_refused(now, &letter(2, "x@a.test"), &login());
    }
    assert_eq!(pauses, [1, 2, 4, 8, 16, 32, 60, 60]);
}

#[test]
fn the_time_that_a_server_names_counts_if_it_is_longer() {
    assert_eq!(pause(1, &quota(" Try again in 5 seconds")), MIN_PAUSE);
    assert_eq!(pause(1, &quota(" Try again in 3 hours")), TimeDelta::hours(3));
}

#[test]
fn where_the_network_fails_pauses_are_short() {
    let seconds: Vec<i64> = (1..9).map(|attempt| pause(attempt, &unreachable()).num_seconds()).collect();
    assert_eq!(seconds, [2, 4, 8, 16, 32, 60, 60, 60]);
}

#[test]
fn what_a_run_of_equal_refusals_gave_up_is_queued_again() {
    let mut account = Account::default();
    for (id, domain) in [(1, "a.test"), (2, "b.test")] {
        let outcomes = note(&mut account, id, domain, &no_user());
        assert_eq!(outcomes, [(id, later(NOW + MIN_PAUSE, &no_user()))], "it is not clear yet");
        assert_eq!(events(account.give_up()), [given_up(id)], "nothing else is due");
        assert_eq!(account.give_up(), []);
    }
    let outcomes = account.note_refused(NOW, &letter(3, "x@c.test"), &no_user());
    assert_eq!(events(outcomes.clone()), [(1, SendingOutcome::Requeued), (2, SendingOutcome::Requeued)]);
    let at = account.outage.as_ref().expect("an outage").until;
    let is_queued =
        |(_, sent): &(i64, SendOutcome)| matches!(sent, SendOutcome::Later { at: due, .. } if *due == at);
    assert!(sent(outcomes).iter().all(is_queued));
}

#[test]
fn a_wrong_address_is_given_up_once_another_letter_is_taken() {
    let mut account = Account::default();
    note(&mut account, 1, "a.test", &no_user());
    note(&mut account, 2, "a.test", &no_user());
    account.note_claimed(&letter(2, "x@a.test"));
    let outcomes = take(&mut account, 3);
    assert_eq!(events(outcomes.clone()), [given_up(1)], "the other one is going to be tried again");
    let given_up = SendOutcome::GivenUp { error: no_user().to_string() };
    assert_eq!(sent(outcomes), [(1, given_up), (3, SendOutcome::Taken)]);
}

#[test]
fn no_letter_that_was_refused_for_good_is_forgotten_before_it_is_given_up() {
    let mut account = Account::default();
    let outcomes =
        (0..=MAX_RUN).flat_map(|id| account.note_refused(NOW, &letter(id as i64, "x@a.test"), &no_user()));
    assert_eq!(events(outcomes.collect()), [given_up(0)]);
    assert_eq!(account.run.len(), MAX_RUN);
}

#[test]
fn a_letter_taken_before_the_account_was_refused_does_not_end_the_outage() {
    let mut account = Account::default();
    note(&mut account, 1, "a.test", &login());
    account.note_taken(NOW, &letter(9, "x@z.test"), false);
    assert!(account.outage.is_some());
    take(&mut account, 9);
    assert_eq!(account.outage, None);
}

#[test]
fn a_letter_taken_beside_refused_ones_shows_that_the_account_is_not_meant() {
    let mut account = Account::default();
    for (id, domain) in [(1, "a.test"), (2, "b.test"), (3, "c.test")] {
        note(&mut account, id, domain, &no_user());
    }
    assert!(account.outage.is_some());
    account.note_taken(NOW, &letter(9, "x@z.test"), false);
    assert_eq!(account.outage, None);
}

#[test]
fn an_invitation_that_was_taken_an_hour_late_moves_its_deadline() {
    let invitation = || Claimed {
        kind: DispatchKind::Invitation,
        seat: Some(crate::game::Seat::First),
        ..letter(1, "x@a.test")
    };
    let mut account = Account::default();
    let mut taken = |after, letter: &Claimed| events(account.note_taken(NOW + after, letter, false));
    assert_eq!(taken(TOLERATED_DELAY, &invitation()), []);
    let notice = Claimed { kind: DispatchKind::Notice, ..invitation() };
    assert_eq!(taken(TimeDelta::hours(2), &notice), []);
    assert_eq!(taken(TimeDelta::hours(2), &invitation()), [(1, SendingOutcome::Late)]);
}

#[test]
fn the_gm_is_told_once_a_day_of_the_same_refusal() {
    let mut account = Account::default();
    note(&mut account, 1, "a.test", &login());
    assert!(account.alarm(NOW).is_some(), "a person must end the outage");
    assert_eq!(account.alarm(NOW), None);
    take(&mut account, 1);
    account.note_refused(NOW + TimeDelta::hours(1), &letter(1, "x@a.test"), &login());
    assert_eq!(account.alarm(NOW + TimeDelta::hours(23)), None);
    assert!(account.alarm(NOW + TimeDelta::hours(24)).is_some());
}

#[test]
fn a_server_that_cannot_be_reached_is_an_alarm_only_if_it_stays_away() {
    let mut account = Account::default();
    for _ in 0..3 {
        assert_eq!(account.alarm(NOW), None);
        refuse_when_due(&mut account, &no_greeting());
    }
    assert!(account.alarm(NOW).is_some());
}

#[test]
fn three_dead_addresses_cause_no_outage_again_and_again() {
    let mut account = Account::default();
    let mut outages = 0;
    for _ in 0..5 {
        for (id, domain) in [(1, "a.test"), (2, "b.test"), (3, "c.test")] {
            note(&mut account, id, domain, &no_user());
        }
        outages += u32::from(account.outage.is_some());
        take(&mut account, 9);
    }
    assert_eq!(outages, MAX_OUTAGES);
}
