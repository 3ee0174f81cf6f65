//! The single rules about refusals. Their law is tested beside the plan.

use super::*;
use crate::daemon::sending::tests::{NOW, letter, login, no_greeting, no_user, quota, unreachable};

fn note(account: &mut Account, id: i64, domain: &str, error: &SendError) -> Vec<(i64, SendOutcome)> {
    account.note_refused(NOW, &letter(id, &format!("x@{domain}")), error)
}

/// Notes that the letter was refused again when the outage let it be tried, and returns that time.
fn refuse_when_due(account: &mut Account, error: &SendError) -> DateTime<Utc> {
    let now = account.outage.as_ref().map_or(NOW, |outage| outage.until);
    account.note_refused(now, &letter(1, "x@a.test"), error);
    now
}

fn take(account: &mut Account, id: i64) {
    account.note_taken(NOW, &letter(id, "x@z.test"), true);
}

fn given_up(message_id: &str) -> FollowUp {
    FollowUp { message_id: message_id.to_owned(), event: Event::GivenUp { is_undeliverable: true } }
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
    let outcomes = account.note_refused(at, &letter(1, "x@a.test"), &quota(""));
    assert_eq!(outcomes, [(1, later(until, &quota("")))]);
    assert!(account.tries_another());
    assert_eq!(account.probes(at), Some(1));
    let outcomes = account.note_refused(at, &letter(4, "x@a.test"), &quota(""));
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
        // What was in flight as well changes nothing.
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
        assert!(matches!(outcomes[..], [(_, SendOutcome::GivenUp { .. })]));
    }
    account.mark_given_up();
    assert_eq!(std::mem::take(&mut account.follow_ups), [given_up("1"), given_up("2")]);
    let revived = note(&mut account, 3, "c.test", &no_user()).into_iter().map(|(id, _)| id);
    assert_eq!(revived.collect::<Vec<_>>(), [1, 2, 3]);
    let revived = ["1", "2"].map(|id| FollowUp { message_id: id.to_owned(), event: Event::Revived });
    assert_eq!(account.follow_ups, revived);
}

#[test]
fn a_wrong_address_is_reported_once_another_letter_is_taken() {
    let mut account = Account::default();
    note(&mut account, 1, "a.test", &no_user());
    assert_eq!(account.follow_ups, []);
    take(&mut account, 2);
    assert_eq!(account.follow_ups, [given_up("1")]);
}

#[test]
fn no_letter_that_was_given_up_is_forgotten_before_it_is_reported() {
    let mut account = Account::default();
    for id in 0..=MAX_RUN {
        note(&mut account, id as i64, "a.test", &no_user());
    }
    assert_eq!((account.follow_ups.len(), account.run.len()), (MAX_RUN, MAX_RUN));
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
    account.note_taken(NOW + TOLERATED_DELAY, &invitation(), false);
    let notice = Claimed { kind: DispatchKind::Notice, ..invitation() };
    account.note_taken(NOW + TimeDelta::hours(2), &notice, false);
    assert_eq!(account.follow_ups, []);
    account.note_taken(NOW + TimeDelta::hours(2), &invitation(), false);
    assert_eq!(account.follow_ups, [FollowUp { message_id: "1".to_owned(), event: Event::Late }]);
}

#[test]
fn the_gm_is_told_once_a_day_of_the_same_refusal() {
    let mut account = Account::default();
    note(&mut account, 1, "a.test", &login());
    let outage = account.alarm(NOW).expect("an outage that a person must end");
    account.note_told(NOW, &outage);
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
    assert_eq!(outages, MAX_REVIVALS);
}
