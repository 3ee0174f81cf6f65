//! A clock that may be wrong: after a long time, nothing is decided until a witness agrees with it. A clock
//! that was ahead costs nobody time once it is right again.

use std::fs;

use chrono::{DateTime, Datelike as _, TimeDelta, Utc};
use fogpost::config::{DatabaseSection, Quota};
use fogpost::daemon::status::Status;
use fogpost::daemon::{clock, loops};

use crate::positions::{kinds, quad};
use crate::referee::{ANN, BO, GM, Referee};

const TWO_YEARS: i64 = 730 * 24;

/// Whether `status` says that the clock is in doubt.
fn is_doubted(referee: &Referee) -> bool {
    let store = &*referee.office().store;
    let (database, quota) = (DatabaseSection::default(), Quota::default());
    let status = Status::of(store, &database, &quota, referee.now(), TimeDelta::minutes(2));
    let faults = referee.block_on(status).expect("the store answers").faults;
    faults.iter().any(|fault| fault.starts_with("the clock is in doubt"))
}

/// Whether the GM was asked about the clock since the last call.
fn is_gm_asked(referee: &Referee) -> bool {
    referee.sent_to(GM).iter().any(|sent| sent.subject.contains("Is my clock right?"))
}

/// The number of letters that wait in the mailbox.
fn in_mailbox(referee: &Referee) -> usize {
    fs::read_dir(referee.folder().join("mail/referee/new")).expect("the mailbox").count()
}

fn deadline(referee: &Referee, match_id: &str) -> DateTime<Utc> {
    referee.find(match_id).deadline.expect("a deadline")
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
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let before = deadline(&referee, &game_match.id);
    referee.set_clock(TWO_YEARS);
    referee.put(&referee.answer(ANN, &to_ann, "MARBLE E5"));
    for _ in 0..2 {
        referee.work();
        assert_eq!((in_mailbox(&referee), deadline(&referee, &game_match.id)), (1, before));
        assert!(is_doubted(&referee) && referee.sent_to(ANN).is_empty() && referee.sent_to(BO).is_empty());
    }
    referee
        .one_to(GM)
        .says("My clock says Sat 6 May 2028")
        .says("it said Thu 7 May 2026")
        .says("GM CLOCK CONFIRM");
    referee.set_clock(1 - TWO_YEARS);
    referee.work();
    assert_eq!((in_mailbox(&referee), deadline(&referee, &game_match.id).year()), (0, 2026));
    assert!(!is_doubted(&referee));
    referee.one_to(ANN).says("Your orders are sealed");
    assert!(!kinds(&referee, &game_match).contains(&"DeadlineSlid".to_owned()));
}

#[test]
fn several_loops_that_find_one_doubt_ask_the_gm_once() {
    let referee = Referee::new();
    quad(&referee);
    referee.set_clock(TWO_YEARS);
    let office = referee.office();
    let look = || clock::is_trusted(office);
    let looks = referee.block_on(async { tokio::join!(look(), look(), look(), look()) });
    assert!(matches!(looks, (Ok(false), Ok(false), Ok(false), Ok(false))), "{looks:?}");
    referee.work();
    assert_eq!(referee.one_to(GM).subject, "Is my clock right?");
}

#[test]
fn a_stamp_of_another_server_ends_the_doubt_and_the_time_counts_as_an_outage() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    let before = deadline(&referee, &game_match.id);
    referee.set_clock(30 * 24);
    // Neither a stamp of this machine, whose clock is in doubt, nor an old stamp counts as a witness.
    let own = fs::read_to_string("/proc/sys/kernel/hostname").expect("Linux tells it");
    referee.put(&stamped(own.trim(), referee.now()));
    referee.work();
    assert!(is_doubted(&referee) && in_mailbox(&referee) == 1);
    referee.put(&stamped("mx.provider.example", referee.now() - TimeDelta::days(2)));
    referee.work();
    assert!(is_doubted(&referee) && in_mailbox(&referee) == 2);
    referee.put(&stamped("mx.provider.example", referee.now() + TimeDelta::hours(20)));
    referee.work();
    assert!(!is_doubted(&referee) && in_mailbox(&referee) == 0);
    assert_eq!(deadline(&referee, &game_match.id), before + TimeDelta::days(30));
    referee.sent_to(ANN).iter().find(|sent| sent.text.contains("could not be reached")).expect("a notice");
}

#[test]
fn the_gm_ends_the_doubt_by_answering_the_question() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    let before = deadline(&referee, &game_match.id);
    referee.set_clock(30 * 24);
    referee.work();
    let question = referee.one_to(GM);
    // Without the GM's reply token, the letter may be from anybody.
    referee.write(GM, "GM CLOCK CONFIRM");
    assert!(is_doubted(&referee));
    referee.reply(GM, &question, "Yes.");
    assert!(is_doubted(&referee));
    referee.reply(GM, &question, "GM CLOCK CONFIRM");
    assert!(!is_doubted(&referee));
    let answers = referee.sent_to(GM);
    assert!(answers.iter().any(|sent| sent.text.contains("My clock counts as right.")), "{answers:#?}");
    assert_eq!(deadline(&referee, &game_match.id), before + TimeDelta::days(30));
}

#[test]
fn a_person_at_the_terminal_ends_the_doubt() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    referee.set_clock(30 * 24);
    referee.work();
    referee.one_to(GM);
    referee.block_on(clock::confirm(referee.office())).expect("the store answers");
    referee.work();
    assert!(!is_doubted(&referee) && kinds(&referee, &game_match).contains(&"DeadlineSlid".to_owned()));
}

#[test]
fn up_to_seven_days_are_an_outage() {
    let referee = Referee::with("days = 3\n");
    let (game_match, ..) = quad(&referee);
    referee.set_clock(7 * 24);
    referee.work();
    assert!(!is_doubted(&referee) && !is_gm_asked(&referee));
    assert!(kinds(&referee, &game_match).contains(&"DeadlineSlid".to_owned()));
    referee.set_clock(7 * 24 + 1);
    referee.work();
    assert!(is_doubted(&referee));
}

#[test]
fn a_program_that_runs_trusts_its_clock_however_long_the_mailbox_cannot_be_read() {
    let referee = Referee::new();
    quad(&referee);
    let (mailbox, away) = (referee.folder().join("mail/referee"), referee.folder().join("mail/away"));
    fs::rename(&mailbox, &away).expect("the mailbox is moved away");
    for _ in 0..9 {
        referee.set_clock(24);
        referee.block_on(loops::once(referee.office())).expect_err("there is no mailbox");
    }
    fs::rename(&away, &mailbox).expect("the mailbox is moved back");
    referee.work();
    assert!(!is_doubted(&referee));
}

#[test]
fn a_clock_that_is_behind_for_a_while_decides_nothing() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    referee.set_clock(-3 * TWO_YEARS);
    referee.work();
    assert!(is_doubted(&referee) && is_gm_asked(&referee));
    referee.set_clock(3 * TWO_YEARS + 1);
    referee.work();
    assert!(!is_doubted(&referee));
    assert_eq!(referee.find(&game_match.id), game_match);
}

#[test]
fn a_deadline_that_a_clock_moved_which_was_ahead_is_set_again() {
    let mut referee = Referee::with("days = 3\n");
    let (game_match, to_ann, _) = quad(&referee);
    let before = deadline(&referee, &game_match.id);
    referee.set_clock(6 * 24);
    referee.restart();
    referee.work();
    assert!(deadline(&referee, &game_match.id) > before);
    referee.set_clock(1 - 6 * 24);
    referee.sent_to(ANN);
    referee.work();
    assert_eq!(deadline(&referee, &game_match.id), before);
    referee.one_to(ANN).says("clock was ahead").says("It is due");
    let entries = kinds(&referee, &game_match);
    assert!(entries.ends_with(&["DeadlineSlid".to_owned(), "DeadlineRestored".to_owned()]), "{entries:?}");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.one_to(ANN).says("Your orders are sealed");
}

#[test]
fn what_was_an_outage_still_counts_when_the_clock_is_right_again() {
    let referee = Referee::with("days = 3\n");
    let (game_match, ..) = quad(&referee);
    let before = deadline(&referee, &game_match.id);
    // The machine is off for four days, and its clock gains two more.
    referee.set_clock(6 * 24);
    referee.work();
    referee.set_clock(-2 * 24);
    referee.work();
    assert_eq!(deadline(&referee, &game_match.id), before + TimeDelta::days(4));
    assert_eq!(referee.find(&game_match.id).missed.first, 0);
}

#[test]
fn a_deadline_that_a_confirmed_clock_moved_by_years_is_set_again() {
    let referee = Referee::with("days = 3\n");
    let (game_match, to_ann, _) = quad(&referee);
    let before = deadline(&referee, &game_match.id);
    referee.sleep(TWO_YEARS);
    referee.work();
    let far = deadline(&referee, &game_match.id);
    assert!(far > before + TimeDelta::days(700));
    // The next phase begins by that clock.
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.set_clock(1 - TWO_YEARS);
    referee.work();
    let (after, now) = (deadline(&referee, &game_match.id), referee.now());
    assert!(after > now && after < now + TimeDelta::days(6), "{after}");
}
