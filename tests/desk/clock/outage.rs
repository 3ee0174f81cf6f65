//! Outages of the program, its mailbox or its clock: nobody misses a turn because of one.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use chrono::TimeDelta;
use fogpost::daemon::loops;
use fogpost::game::any::GameKind;
use fogpost::referee::Stage;

use crate::positions::{kinds, quad, quadrant_z};
use crate::referee::{ANN, BO, Referee};

#[test]
fn while_the_mailbox_is_unreadable_nobody_is_late_and_deadlines_slide() {
    let referee = Referee::with("days = 1\n");
    let (game_match, to_ann, _) = quad(&referee);
    let (mailbox, away) = (referee.folder().join("mail/referee"), referee.folder().join("mail/away"));
    referee.advance(28);
    fs::rename(&mailbox, &away).expect("the mailbox is moved away");
    for _ in 0..10 {
        referee.sleep(2);
        referee.block_on(loops::once(referee.office())).expect_err("there is no mailbox");
    }
    assert_eq!(referee.find(&game_match.id).missed.first, 0);
    fs::rename(&away, &mailbox).expect("the mailbox is moved back");
    referee.sent_to(ANN);
    referee.work();
    let after = referee.find(&game_match.id);
    assert_eq!(after.deadline, Some(referee.now() + TimeDelta::hours(12)), "at least the grace is left");
    assert_eq!((after.missed.first, after.stage), (0, Stage::Running));
    referee
        .one_to(ANN)
        .says("could not be reached for a while")
        .says("It is due Sun 10 May, 00:00 CEST: in 12 hours");
    assert!(kinds(&referee, &game_match).contains(&"DeadlineSlid".to_owned()));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn after_a_short_outage_at_least_the_grace_is_left() {
    // The turn is due in 32 hours. The program stops 5 hours before the grace ends, and starts 3 hours after
    // its end.
    let mut referee = Referee::with("days = 1\ngrace_hours = 24\n");
    let (game_match, _, _) = quad(&referee);
    referee.advance(32 + 19);
    referee.sleep(8);
    referee.restart();
    referee.work();
    let after = referee.find(&game_match.id);
    assert_eq!(after.missed.first, 0);
    assert_eq!(after.deadline, Some(referee.now() + TimeDelta::hours(24)));
}

#[test]
fn deadlines_outside_an_outage_stay() {
    let mut referee = Referee::new();
    let (game_match, _, _) = quad(&referee);
    referee.sleep(24);
    referee.restart();
    referee.work();
    assert_eq!(referee.find(&game_match.id).deadline, game_match.deadline);
    assert!(referee.all_to(BO).len() == 1, "no notice is sent");
}

#[test]
fn a_clock_that_jumps_ahead_is_an_outage() {
    let referee = Referee::with("days = 1\n");
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "HOLD\nWAIT");
    referee.reply(BO, &to_bo, "HOLD");
    let before = referee.find(&game_match.id);
    referee.sleep(100 * 24);
    referee.work();
    let after = referee.find(&game_match.id);
    let moved = before.deadline.expect("a deadline") + TimeDelta::days(100);
    assert_eq!(
        (after.deadline, after.settle_at.map(|end| end.at)),
        (Some(moved), Some(moved)),
        "the settle time slides along"
    );
    assert_eq!(after.due().map(|due| due.turn), Some(1));
}

#[test]
fn a_clock_that_is_set_back_costs_nobody_time() {
    let referee = Referee::with("days = 1\n");
    let (game_match, to_ann, _) = quad(&referee);
    referee.advance(20);
    referee.sent_to(ANN);
    referee.sleep(-12);
    referee.work();
    referee.reply(ANN, &to_ann, "STATUS");
    referee.one_to(ANN).says("It is due Fri 8 May, 20:00 CEST: in 1 day");
    referee.advance(20);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.one_to(ANN).says("Your orders are sealed").says("What happened");
    let after = referee.find(&game_match.id);
    assert_eq!((after.missed.first, after.adjudicated.len()), (0, 1));
}

#[test]
fn deferred_mail_does_not_wait_for_a_clock_that_was_set_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("sendmail");
    let referee = Referee::with(&format!("[outbox.sendmail]\ncommand = \"{}\"\n", program.display()));
    let command = |lines: &str| {
        fs::write(&program, format!("#!/bin/sh\ncat > /dev/null\n{lines}\n")).expect("the command");
        fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("it is executable");
    };
    let waiting =
        || referee.block_on(referee.office().store.queues()).expect("the store answers").dispatches_waiting;
    command("exit 75");
    referee.open(GameKind::Quad, &[]);
    assert_eq!(waiting(), 2);
    command("exit 0");
    referee.work();
    assert_eq!(waiting(), 2, "the retry is not due yet");
    referee.sleep(-12);
    referee.work();
    assert_eq!(waiting(), 0);
}

#[test]
fn a_deadline_missed_while_the_program_was_down_can_still_be_met() {
    let mut referee = Referee::with("days = 2\n");
    let (game_match, to_ann, _) = quad(&referee);
    referee.advance(40);
    referee.sleep(72);
    referee.restart();
    referee.work();
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "STATUS");
    referee.one_to(ANN).says("Turn 1 waits for your orders").says("in 16 hours");
    // The new deadline is enforced.
    referee.advance(16 + 13);
    assert_eq!(referee.find(&game_match.id).missed.first, 1);
    referee.last_to(ANN).says("No orders came from you for turn 1");
}

/// A sendmail that delivers to the desk's Maildirs, but fails while a file `….closed` lies beside it.
const SENDMAIL: &str = r#"#!/bin/sh
[ -e "$0.closed" ] && { cat > /dev/null; exit 75; }
box="MAIL/$5"
mkdir -p "$box/new" "$box/cur" "$box/tmp"
cat > "$box/new/$$.$(date +%N)"
"#;

#[test]
fn a_deadline_slides_once_by_the_delay_of_the_letter_that_opened_the_phase() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("sendmail");
    let referee = Referee::with(&format!("[outbox.sendmail]\ncommand = \"{}\"\n", program.display()));
    let mail = referee.folder().join("mail").display().to_string();
    fs::write(&program, SENDMAIL.replace("MAIL", &mail)).expect("the command");
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("it is executable");
    let closed = folder.path().join("sendmail.closed");
    fs::write(&closed, "").expect("a file");
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.advance(6);
    assert_eq!(referee.find(&game_match.id).deadline, game_match.deadline);
    fs::remove_file(&closed).expect("the file is removed");
    referee.advance(2);
    let slid = game_match.deadline.expect("a deadline") + TimeDelta::hours(8);
    assert_eq!(referee.find(&game_match.id).deadline, Some(slid));
    let entries = || kinds(&referee, &game_match).iter().filter(|kind| *kind == "OpeningSentLate").count();
    assert_eq!(entries(), 1);
    referee.advance(4);
    assert_eq!((referee.find(&game_match.id).deadline, entries()), (Some(slid), 1));
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.sent_to(BO);
}

#[test]
fn a_letter_that_is_sent_within_an_hour_moves_no_deadline() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("sendmail");
    let referee = Referee::with(&format!("[outbox.sendmail]\ncommand = \"{}\"\n", program.display()));
    let mail = referee.folder().join("mail").display().to_string();
    fs::write(&program, SENDMAIL.replace("MAIL", &mail)).expect("the command");
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).expect("it is executable");
    let closed = folder.path().join("sendmail.closed");
    fs::write(&closed, "").expect("a file");
    let game_match = referee.open(GameKind::Quad, &[]);
    fs::remove_file(&closed).expect("the file is removed");
    referee.sleep(1);
    referee.work();
    assert_eq!(referee.find(&game_match.id).deadline, game_match.deadline);
    assert_eq!(referee.sent_to(ANN).len(), 1);
}
