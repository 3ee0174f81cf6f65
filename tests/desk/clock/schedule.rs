//! Deadlines by the terms: WAIT and the settle time, absences, weekends, clock changes and missed turns.

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::Stage;

use crate::positions::{FLEET, kinds, quad, quadrant_z};
use crate::referee::{ANN, BO, GM, Referee};

fn utc(text: &str) -> DateTime<Utc> {
    text.parse().expect("an instant")
}

#[test]
fn with_wait_a_turn_is_adjudicated_at_the_deadline() {
    let referee = Referee::with("days = 1\n");
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "HOLD\nWAIT");
    referee.one_to(ANN).says("You asked to WAIT: they will not be adjudicated before the deadline");
    referee.reply(BO, &to_bo, "HOLD");
    referee
        .one_to(BO)
        .says("All orders are filed. They will be adjudicated on Fri 8 May, 20:00 CEST")
        .keeps_silent_of("It is due");
    referee.advance(31);
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(1));
    referee.advance(2);
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(2));
    assert_eq!(referee.find(&game_match.id).missed.first, 0);
}

#[test]
fn filing_again_without_wait_adjudicates_at_once() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "HOLD\nWAIT");
    referee.reply(BO, &to_bo, "HOLD");
    referee.reply(ANN, &to_ann, "HOLD");
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(2));
}

#[test]
fn a_moved_deadline_moves_the_end_of_a_wait() {
    let referee = Referee::with("days = 1\n");
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "HOLD\nWAIT");
    referee.reply(BO, &to_bo, "HOLD");
    referee.reply(ANN, &to_ann, "EXTEND 1 day");
    referee.reply(BO, &to_bo, "AGREE");
    referee.advance(54);
    assert_eq!(
        referee.find(&game_match.id).due().map(|due| due.turn),
        Some(1),
        "not before the new deadline"
    );
    referee.advance(4);
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(2));
}

#[test]
fn within_the_settle_time_both_can_amend_and_the_last_filing_counts() {
    let referee = Referee::with("settle_minutes = 90\n");
    let game_match = referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.one_to(ANN).says("All orders are filed. They will be adjudicated on Thu 7 May, 13:30 CEST");
    referee.advance(1);
    referee.reply(ANN, &to_ann, "MARBLE E6");
    referee.one_to(ANN).says("they replace those you sent before").says("Thu 7 May, 14:30 CEST");
    referee.advance(1);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    referee.advance(1);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.one_to(ANN).says("E6").keeps_silent_of("E5 ");
    referee.reply(ANN, &to_ann, "MARBLE E7");
    referee.one_to(ANN).says("Turn 1 was adjudicated on Thu 7 May at 15:00 CEST; turn 2 is open");
}

#[test]
fn a_deadline_in_an_absence_moves_to_the_day_after() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "ABSENT 2026-05-13 TO 2026-05-15");
    referee.one_to(ANN).says("You are away from 2026-05-13 to 2026-05-15").says("due Sat 16 May, 20:00 CEST");
    referee.one_to(BO).says("Ann is away from 2026-05-13 to 2026-05-15").says("Sat 16 May, 20:00 CEST");
    // Already recorded: no further notice, and the days are not counted twice.
    referee.reply(ANN, &to_ann, "ABSENT 2026-05-14");
    referee.one_to(ANN).says("You are away from 2026-05-14 to 2026-05-14");
    assert!(referee.sent_to(BO).is_empty());
    // Bo's absence moves Bo's deadlines.
    referee.reply(BO, &to_bo, "ABSENT 2026-05-12 TO 2026-05-14");
    assert_eq!(referee.find(&game_match.id).deadline, Some(utc("2026-05-16T18:00:00Z")));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.last_to(BO).says("due Fri 15 May, 20:00 CEST");
    referee.reply(BO, &to_bo, "STATUS");
    referee.last_to(BO).says("You are away from 2026-05-12 to 2026-05-14. Ann is away from 2026-05-13");
}

#[test]
fn an_absence_beyond_the_allowance_is_refused_with_the_remaining_days() {
    let referee = Referee::with("absence_days = 10\n");
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "ABSENT 2026-05-11 TO 2026-05-17");
    referee.one_to(ANN).says("You are away");
    let deadline = referee.find(&game_match.id).deadline;
    referee.sent_to(BO);
    for (asked, left) in [
        ("ABSENT 2026-05-16 TO 2026-05-21", "3 days of absence left"),
        ("ABSENT 2026-07-01 TO 2026-12-31", "3 days of absence left"),
        ("ABSENT 2026-05-01 TO 2026-05-06", "the last day must not be in the past"),
    ] {
        referee.reply(ANN, &to_ann, asked);
        let words = asked.trim_start_matches("ABSENT ").replace("TO", "to");
        referee.one_to(ANN).says(&format!("Your absence from {words} cannot be noted")).says(left);
    }
    assert_eq!(referee.find(&game_match.id).deadline, deadline);
    assert!(referee.sent_to(BO).is_empty(), "Bo gets no notice");
    referee.reply(ANN, &to_ann, "ABSENT 2026-05-16 TO 2026-05-20");
    referee.one_to(ANN).says("You are away from 2026-05-16 to 2026-05-20").says("Thu 21 May");
    for (faulty, says) in [
        ("ABSENT 2026-05-20 TO 2026-05-16", "cannot come after its last"),
        ("ABSENT next week TO 2026-06-01", "each as year-month-day"),
    ] {
        referee.reply(ANN, &to_ann, faulty);
        referee.one_to(ANN).says(says).says("| ABSENT 2026-12-20 TO 2027-01-03");
    }
}

#[test]
fn weekends_can_be_excluded() {
    // Nine days from Thursday noon is a Saturday evening; it moves to Monday.
    let referee = Referee::with("weekends = false\ndays = 9\n");
    let (game_match, _, _) = quad(&referee);
    assert_eq!(game_match.deadline, Some(utc("2026-05-18T18:00:00Z")));
}

/// The deadline of a match of Quad that is opened this many hours after the start of the clock.
fn deadline_opened_after(hours: i64, terms: &str) -> DateTime<Utc> {
    let referee = Referee::with(terms);
    referee.sleep(hours);
    referee.work();
    let (game_match, to_ann, _) = quad(&referee);
    to_ann.says("due");
    game_match.deadline.expect("a deadline")
}

#[test]
fn the_hour_of_a_deadline_survives_clock_changes() {
    let hours_to = |day: &str| (utc(day) - utc(crate::referee::BEGINNING)).num_hours();
    // Clocks go back on Sunday 25 October 2026: 20:00 CET is 19:00 UTC.
    let autumn = deadline_opened_after(hours_to("2026-10-22T10:00:00Z"), "days = 5\n");
    assert_eq!(autumn, utc("2026-10-27T19:00:00Z"));
    // Clocks go forward on 28 March 2027, and 02:00 does not exist: the turn is due at 03:00, which is 01:00 UTC.
    let gap = deadline_opened_after(hours_to("2027-03-25T23:30:00Z"), "days = 2\nhour = 2\n");
    assert_eq!(gap, utc("2027-03-28T01:00:00Z"));
    // On the night in which 02:00 comes twice, the later one counts.
    let doubled = deadline_opened_after(hours_to("2026-10-22T22:30:00Z"), "days = 2\nhour = 2\n");
    assert_eq!(doubled, utc("2026-10-25T01:00:00Z"));
}

#[test]
fn reminders_go_at_the_configured_times_to_those_who_have_not_filed() {
    let referee = Referee::with("reminders_hours = [4, 12]\ndays = 1\n");
    let (_, to_ann, _) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "HOLD");
    referee.sent_to(ANN);
    // The turn is due in 32 hours.
    referee.advance(18);
    assert!(referee.sent_to(BO).is_empty());
    referee.advance(2);
    referee.one_to(BO).says("you have not filed any orders for turn 1 yet").says("in 12 hours");
    referee.advance(6);
    assert!(referee.sent_to(BO).is_empty());
    referee.advance(2);
    let reminder = referee.one_to(BO);
    reminder.says("you have not filed any orders").says("due Fri 8 May, 20:00 CEST").says("| ");
    assert!(reminder.subject.contains("due Fri 8 May, 20:00 CEST"), "{}", reminder.subject);
    assert!(referee.sent_to(ANN).is_empty(), "Ann has filed");
}

#[test]
fn filing_in_grace_is_not_late_and_afterwards_the_house_rule_applies() {
    let referee = Referee::with("grace_hours = 6\ndays = 1\n");
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "HOLD");
    referee.advance(37);
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(1));
    referee.sent_to(BO);
    referee.reply(BO, &to_bo, "STATUS");
    referee
        .one_to(BO)
        .says("It was due Fri 8 May, 20:00 CEST. Orders are still accepted until Sat 9 May, 02:00 CEST");
    referee.advance(2);
    let after = referee.find(&game_match.id);
    assert_eq!((after.due().map(|due| due.turn), after.missed.second), (Some(2), 1));
    referee
        .last_to(BO)
        .says("No orders came from you in time")
        .says("Turns missed in a row: 1. After 2 the GM decides how it continues.");
    referee.last_to(ANN).says("No orders came from Bo in time");
}

#[test]
fn an_explicit_hold_is_not_a_missed_turn() {
    let referee = Referee::with("days = 1\n");
    let (game_match, to_ann, _) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "HOLD");
    referee.advance(46);
    let after = referee.find(&game_match.id);
    assert_eq!((after.missed.first, after.missed.second), (0, 1));
    // A turn that is not missed restarts the count.
    referee.reply(BO, &referee.last_to(BO), "HOLD");
    assert_eq!(referee.find(&game_match.id).missed.second, 0);
}

#[test]
fn with_forfeit_lose_too_many_missed_turns_lose_the_match() {
    let referee = Referee::with("forfeit = \"lose\"\nforfeit_after = 3\ndays = 1\ngrace_hours = 1\n");
    let (game_match, _, _) = quad(&referee);
    referee.advance(34);
    referee
        .last_to(ANN)
        .says("No orders came from you for turn 1")
        .says("so there is a new deadline")
        .says("After 3 missed turns in a row the match is lost; you have missed 1");
    referee.advance(48);
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    referee.last_to(BO).says("Ann has missed 2");
    referee.advance(48);
    assert_eq!(referee.find(&game_match.id).stage, Stage::Over);
    referee.last_to(BO).says("You have won this match: Ann has forfeited it.");
    assert_eq!(
        referee.find(&game_match.id).state.outcome().and_then(|outcome| outcome.winner),
        Some(Seat::Second)
    );
}

#[test]
fn if_both_miss_too_many_turns_nobody_loses_and_the_gm_is_asked() {
    let referee = Referee::with("forfeit = \"lose\"\nforfeit_after = 1\ndays = 1\n");
    let (game_match, to_ann, _) = quadrant_z(&referee);
    referee.advance(46);
    let asked = referee.find(&game_match.id);
    assert_eq!((asked.stage, asked.asked_gm), (Stage::Running, true));
    referee
        .last_to(ANN)
        .says("No orders came from you for turn 1. No orders came from Bo for turn 1.")
        .says("the GM decides how the match continues")
        .says("until then orders are still accepted");
    referee.reply(ANN, &to_ann, "HOLD");
    referee.last_to(ANN).says("Your orders are sealed");
    let to_gm = referee.sent_to(GM).into_iter().find(|sent| sent.subject.contains("your decision"));
    let to_gm = to_gm.expect("he is asked");
    to_gm
        .says("- Ann (first)")
        .says("- Bo (second)")
        .says(&format!("| GM MATCH {} ADJUDICATE", game_match.id));
    referee.reply(GM, &to_gm, &format!("GM MATCH {} ADJUDICATE TURN 1", game_match.id));
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(2));
}

#[test]
fn a_missing_setup_or_mandatory_move_is_not_adjudicated() {
    let referee = Referee::with("setup_days = 1\n");
    let game_match = referee.open(GameKind::Pacific, &[("submarines", "false")]);
    assert_eq!(game_match.deadline, Some(utc("2026-05-08T18:00:00Z")));
    referee.reply(ANN, &referee.one_to(ANN), FLEET);
    referee.advance(46);
    let after = referee.find(&game_match.id);
    assert_eq!((after.missed.first, after.missed.second, after.adjudicated.len()), (0, 1, 0));
    assert_eq!(after.deadline, Some(utc("2026-05-10T18:00:00Z")), "a day after the grace had ended");
    assert!(after.filed.first.is_some(), "what was filed stands");
    referee
        .last_to(BO)
        .says("I cannot go on without these orders")
        .says("No orders came from you for the setup");
    assert!(kinds(&referee, &game_match).contains(&"DeadlineMissed".to_owned()));
}

#[test]
fn a_resumed_match_has_the_time_that_was_left() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.write(GM, "GM LIST");
    referee.advance(24);
    referee.reply(GM, &referee.last_to(GM), &format!("GM MATCH {} PAUSE the summer break", game_match.id));
    referee.last_to(ANN).says("The GM has paused the match: the summer break.");
    referee.sleep(10 * 24);
    referee.work();
    assert!(referee.sent_to(ANN).is_empty(), "no reminders");
    referee.reply(GM, &referee.last_to(GM), &format!("GM MATCH {} RESUME", game_match.id));
    let before = game_match.deadline.expect("a deadline");
    assert_eq!(referee.find(&game_match.id).deadline, Some(before + TimeDelta::days(10)));
    referee.one_to(ANN).says("The match continues").says("in 6 days 8 hours");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}
