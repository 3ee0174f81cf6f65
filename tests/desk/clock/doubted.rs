//! A clock that may be wrong: after a long time, nothing is decided until a witness agrees with it. A clock
//! that was ahead costs nobody time once it is right again.

use std::fs;

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use fogpost::config::{DatabaseSection, Quota};
use fogpost::daemon::doubt;
use fogpost::daemon::loops::run;
use fogpost::daemon::status::Status;

use crate::desk::{ANN, BO, Desk, GM};
use crate::positions::{kinds, quad};

const TWO_YEARS: i64 = 730 * 24;

/// Whether `status` says that the clock is in doubt.
fn is_doubted(desk: &Desk) -> bool {
    let store = &*desk.office().store;
    let (database, quota) = (DatabaseSection::default(), Quota::default());
    let status = Status::of(store, &database, &quota, desk.now(), TimeDelta::minutes(2));
    let faults = desk.block_on(status).expect("the store answers").faults;
    faults.iter().any(|fault| fault.starts_with("the clock is in doubt"))
}

/// Whether the GM was asked about the clock since the last call.
fn is_gm_asked(desk: &Desk) -> bool {
    desk.sent_to(GM).iter().any(|sent| sent.subject.contains("Is my clock right?"))
}

/// The number of letters that wait in the mailbox.
fn in_mailbox(desk: &Desk) -> usize {
    fs::read_dir(desk.folder().join("mail/referee/new")).expect("the mailbox").count()
}

fn deadline(desk: &Desk, match_id: &str) -> DateTime<Utc> {
    desk.find(match_id).deadline.expect("a deadline")
}

/// A letter from Ann with a stamp of this server at this time.
fn stamped(server: &str, at: DateTime<Utc>) -> String {
    format!(
        "Received: from mail.players.example by {server} with ESMTP; {}\nFrom: {ANN}\nTo: referee@club.example\n\
         Subject: hello\nMessage-ID: <stamped@players.example>\n\nHELP\n",
        at.to_rfc2822()
    )
}

#[test]
fn nothing_is_decided_while_the_clock_is_in_doubt() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let before = deadline(&desk, &game_match.id);
    desk.set_clock(TWO_YEARS);
    desk.put(&desk.answer(ANN, &to_ann, "MARBLE E5"));
    for _ in 0..2 {
        desk.work();
        assert_eq!((in_mailbox(&desk), deadline(&desk, &game_match.id)), (1, before));
        assert!(is_doubted(&desk) && desk.sent_to(ANN).is_empty() && desk.sent_to(BO).is_empty());
    }
    desk.one_to(GM)
        .says("My clock says Sat 6 May 2028")
        .says("it said Thu 7 May 2026")
        .says("GM CLOCK CONFIRM");
    desk.set_clock(1 - TWO_YEARS);
    desk.work();
    assert_eq!((in_mailbox(&desk), deadline(&desk, &game_match.id).year()), (0, 2026));
    assert!(!is_doubted(&desk));
    desk.one_to(ANN).says("Your orders are sealed");
    assert!(!kinds(&desk, &game_match).contains(&"DeadlineSlid".to_owned()));
}

#[test]
fn several_loops_that_find_one_doubt_ask_the_gm_once() {
    let desk = Desk::new();
    quad(&desk);
    desk.set_clock(TWO_YEARS);
    let office = desk.office();
    let look = || doubt::is_trusted(office);
    let looks = desk.block_on(async { tokio::join!(look(), look(), look(), look()) });
    assert!(matches!(looks, (Ok(false), Ok(false), Ok(false), Ok(false))), "{looks:?}");
    desk.work();
    assert_eq!(desk.one_to(GM).subject, "Is my clock right?");
}

#[test]
fn a_stamp_of_another_server_ends_the_doubt_and_the_time_counts_as_an_outage() {
    let desk = Desk::new();
    let (game_match, ..) = quad(&desk);
    let before = deadline(&desk, &game_match.id);
    desk.set_clock(30 * 24);
    // Neither a stamp of this machine, whose clock is in doubt, nor an old stamp counts as a witness.
    let own = fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux tells it");
    desk.put(&stamped(own.trim(), desk.now()));
    desk.work();
    assert!(is_doubted(&desk) && in_mailbox(&desk) == 1);
    desk.put(&stamped("mx.provider.example", desk.now() - TimeDelta::days(2)));
    desk.work();
    assert!(is_doubted(&desk) && in_mailbox(&desk) == 2);
    desk.put(&stamped("mx.provider.example", desk.now() + TimeDelta::hours(20)));
    desk.work();
    assert!(!is_doubted(&desk) && in_mailbox(&desk) == 0);
    assert_eq!(deadline(&desk, &game_match.id), before + TimeDelta::days(30));
    desk.sent_to(ANN).iter().find(|sent| sent.text.contains("could not be reached")).expect("a notice");
}

#[test]
fn the_gm_ends_the_doubt_by_answering_the_question() {
    let desk = Desk::new();
    let (game_match, ..) = quad(&desk);
    let before = deadline(&desk, &game_match.id);
    desk.set_clock(30 * 24);
    desk.work();
    let question = desk.one_to(GM);
    // Without the GM's reply token, the letter may be from anybody.
    desk.write(GM, "GM CLOCK CONFIRM");
    assert!(is_doubted(&desk));
    desk.reply(GM, &question, "Yes.");
    assert!(is_doubted(&desk));
    desk.reply(GM, &question, "GM CLOCK CONFIRM");
    assert!(!is_doubted(&desk));
    let answers = desk.sent_to(GM);
    assert!(answers.iter().any(|sent| sent.text.contains("My clock counts as right.")), "{answers:#?}");
    assert_eq!(deadline(&desk, &game_match.id), before + TimeDelta::days(30));
}

#[test]
fn a_person_at_the_terminal_ends_the_doubt() {
    let desk = Desk::new();
    let (game_match, ..) = quad(&desk);
    desk.set_clock(30 * 24);
    desk.work();
    desk.one_to(GM);
    desk.block_on(doubt::confirm(desk.office())).expect("the store answers");
    desk.work();
    assert!(!is_doubted(&desk) && kinds(&desk, &game_match).contains(&"DeadlineSlid".to_owned()));
}

#[test]
fn up_to_seven_days_are_an_outage() {
    let desk = Desk::with("days = 3\n");
    let (game_match, ..) = quad(&desk);
    desk.set_clock(7 * 24);
    desk.work();
    assert!(!is_doubted(&desk) && !is_gm_asked(&desk));
    assert!(kinds(&desk, &game_match).contains(&"DeadlineSlid".to_owned()));
    desk.set_clock(7 * 24 + 1);
    desk.work();
    assert!(is_doubted(&desk));
}

#[test]
fn a_program_that_runs_trusts_its_clock_however_long_the_mailbox_cannot_be_read() {
    let desk = Desk::new();
    quad(&desk);
    let (mailbox, away) = (desk.folder().join("mail/referee"), desk.folder().join("mail/away"));
    fs::rename(&mailbox, &away).expect("the mailbox is moved away");
    for _ in 0..9 {
        desk.set_clock(24);
        desk.block_on(run::once(desk.office())).expect_err("there is no mailbox");
    }
    fs::rename(&away, &mailbox).expect("the mailbox is moved back");
    desk.work();
    assert!(!is_doubted(&desk));
}

#[test]
fn a_clock_that_is_behind_for_a_while_decides_nothing() {
    let desk = Desk::new();
    let (game_match, ..) = quad(&desk);
    desk.set_clock(-3 * TWO_YEARS);
    desk.work();
    assert!(is_doubted(&desk) && is_gm_asked(&desk));
    desk.set_clock(3 * TWO_YEARS + 1);
    desk.work();
    assert!(!is_doubted(&desk));
    assert_eq!(desk.find(&game_match.id), game_match);
}

#[test]
fn a_deadline_that_a_clock_moved_which_was_ahead_is_set_again() {
    let mut desk = Desk::with("days = 3\n");
    let (game_match, to_ann, _) = quad(&desk);
    let before = deadline(&desk, &game_match.id);
    desk.set_clock(6 * 24);
    desk.restart();
    desk.work();
    assert!(deadline(&desk, &game_match.id) > before);
    desk.set_clock(1 - 6 * 24);
    desk.sent_to(ANN);
    desk.work();
    assert_eq!(deadline(&desk, &game_match.id), before);
    desk.one_to(ANN).says("clock was ahead").says("It is due");
    let entries = kinds(&desk, &game_match);
    assert!(entries.ends_with(&["DeadlineSlid".to_owned(), "DeadlineRestored".to_owned()]), "{entries:?}");
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.one_to(ANN).says("Your orders are sealed");
}

#[test]
fn what_was_an_outage_still_counts_when_the_clock_is_right_again() {
    let desk = Desk::with("days = 3\n");
    let (game_match, ..) = quad(&desk);
    let before = deadline(&desk, &game_match.id);
    // The machine is off for four days, and its clock gains two more.
    desk.set_clock(6 * 24);
    desk.work();
    desk.set_clock(-2 * 24);
    desk.work();
    assert_eq!(deadline(&desk, &game_match.id), before + TimeDelta::days(4));
    assert_eq!(desk.find(&game_match.id).missed.first, 0);
}

#[test]
fn a_deadline_that_a_confirmed_clock_moved_by_years_is_set_again() {
    let desk = Desk::with("days = 3\n");
    let (game_match, to_ann, _) = quad(&desk);
    let before = deadline(&desk, &game_match.id);
    desk.sleep(TWO_YEARS);
    desk.work();
    let far = deadline(&desk, &game_match.id);
    assert!(far > before + TimeDelta::days(700));
    // The next phase begins by that clock.
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.set_clock(1 - TWO_YEARS);
    desk.work();
    let (after, now) = (deadline(&desk, &game_match.id), desk.now());
    assert!(after > now && after < now + TimeDelta::days(6), "{after}");
}
