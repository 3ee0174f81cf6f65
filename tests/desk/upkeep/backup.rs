//! Backups made while the program runs, and letters received between a backup and its restoration.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::audit::witness::PlayersMail;
use fogpost::daemon::audit::verify;
use fogpost::daemon::status::{SILENT_AFTER, Status};
use fogpost::daemon::{house, items, loops};
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::Match;
use fogpost::store::{self, RESTORED, TO_BE_READ_AGAIN};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

use crate::door::attempts::fetched;
use crate::house::levels::{opened, to_ann};
use crate::referee::{ANN, BO, GM, Referee, Sent};

const CY: &str = "cy@players.example";

#[test]
fn after_a_restore_later_letters_are_ruled_on_again_and_earlier_ones_are_not_answered_twice() {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &to_ann, "STATUS");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    assert!(referee.block_on(referee.office().store.backup(&backup)).is_err(), "a backup is not overwritten");
    referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    let at_the_end = referee.find(&game_match.id);
    let (ann, bo) = (referee.all_to(ANN), referee.all_to(BO));
    let url = referee.office().config.database.url.clone();
    let mut replaced = None;
    referee.restart_after(|_| {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        replaced = runtime.block_on(store::restore(&url, &backup)).expect("restored");
    });
    assert!(replaced.expect("the previous database is kept").exists());
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1, "Bo's letter is not in the backup");
    let is_named =
        |referee: &Referee| faults(referee).iter().any(|fault| fault.contains("older than its mailbox"));
    assert!(is_named(&referee));
    referee.work();
    assert!(!is_named(&referee));
    let after = referee.find(&game_match.id);
    assert_eq!((after.state, after.adjudicated.len()), (at_the_end.state, 2));
    // Ann gets only the report of turn 2 again, under its old Message-ID.
    let (ann_now, bo_now) = (referee.all_to(ANN), referee.all_to(BO));
    let ids = |letters: &[crate::referee::Sent]| -> BTreeSet<String> {
        letters.iter().map(|sent| sent.message_id.clone()).collect()
    };
    assert_eq!(ids(&ann_now), ids(&ann));
    assert_eq!(ids(&bo_now), ids(&bo));
    assert_eq!(ann_now.len(), ann.len() + 1);
    referee.work();
    referee.restart();
    referee.work();
    assert_eq!((referee.all_to(ANN).len(), referee.all_to(BO).len()), (ann_now.len(), bo_now.len()));
}

/// The faults that `fogpost status` would name.
fn faults(referee: &Referee) -> Vec<String> {
    let (store, config) = (&referee.office().store, &referee.office().config);
    let status = Status::of(store, &config.database, &config.outbox.quota, referee.now(), SILENT_AFTER);
    referee.block_on(status).expect("the store answers").faults
}

#[test]
fn a_backup_that_is_copied_into_place_by_hand_is_noticed() {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let at_the_end = referee.find(&game_match.id);
    let told = referee.all_to(BO).len();
    referee.restart_after(|folder| {
        for end in ["-wal", "-shm"] {
            // SQLite deletes both when the last connection closes.
            let _ = std::fs::remove_file(folder.join(format!("fogpost.db{end}")));
        }
        std::fs::copy(&backup, folder.join("fogpost.db")).expect("copied");
    });
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0, "Ann's letter is not in the backup");
    referee.work();
    let after = referee.find(&game_match.id);
    assert_eq!((after.state, after.adjudicated.len()), (at_the_end.state, 1));
    let read_again = |referee: &Referee| {
        referee.block_on(referee.office().store.remembered(RESTORED)).expect("it answers")
    };
    let noted = read_again(&referee);
    assert!(noted.as_ref().is_some_and(|noted| noted != TO_BE_READ_AGAIN));
    // Nothing is read again, and nobody told again, while the database knows its mailbox.
    referee.sleep(1);
    referee.restart();
    referee.work();
    assert_eq!(read_again(&referee), noted);
    assert_eq!(referee.all_to(BO).len(), told + 1, "the report came a second time");
}

/// Puts a copy of the database in its place by hand, and takes the processed letters away.
fn put_back_without_processed(referee: &mut Referee, backup: &Path) {
    referee.restart_after(|folder| {
        for end in ["-wal", "-shm"] {
            let _ = std::fs::remove_file(folder.join(format!("fogpost.db{end}")));
        }
        std::fs::copy(backup, folder.join("fogpost.db")).expect("copied");
        for file in std::fs::read_dir(folder.join("mail/referee/.Processed/cur")).expect("the folder") {
            std::fs::remove_file(file.expect("a file").path()).expect("removed");
        }
    });
}

#[test]
fn an_answer_to_a_letter_that_is_not_written_yet_proves_that_the_database_is_older() {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "MARBLE A5");
    let (ann_of_turn_2, bo_of_turn_2) = (referee.last_to(ANN), referee.last_to(BO));
    referee.sleep(1);
    put_back_without_processed(&mut referee, &backup);
    referee.work();
    let remembered = |referee: &Referee| {
        referee.block_on(referee.office().store.remembered(RESTORED)).expect("the store answers")
    };
    assert_eq!(remembered(&referee), None, "nothing shows it yet");
    let before = [ANN, BO, GM].map(|address| referee.all_to(address).len());

    // Nobody but the club can make a place in the ledger, whatever token they have.
    let (start, turn) = ann_of_turn_2.message_id.split_once(&game_match.id.to_lowercase()).expect("named");
    let turn = &turn[".0123456789abcdef".len()..];
    for veiled in ["0123456789abcdef", "ffffffffffffffff", "0000000000000000", "x"] {
        let message_id = format!("{start}{}.{veiled}{turn}", game_match.id.to_lowercase());
        referee.reply(ANN, &Sent { message_id, ..to_ann.clone() }, "STATUS");
    }
    assert_eq!(remembered(&referee), None);
    assert_eq!(referee.all_to(GM).len(), before[2]);

    referee.sent_to(ANN);
    referee.reply(ANN, &ann_of_turn_2, "MARBLE E6");
    assert!(remembered(&referee).is_some_and(|noted| noted.starts_with("done ")));
    let gm = referee.last_to(GM);
    gm.says("replaced by a backup").says(&format!("- {}, in turn 1", game_match.id));
    referee.sleep(1);
    referee.reply(BO, &bo_of_turn_2, "MARBLE A6");
    for (address, told_before) in [(ANN, before[0]), (BO, before[1]), (GM, before[2])] {
        let told = referee.all_to(address);
        let told: Vec<&Sent> =
            told[told_before..].iter().filter(|sent| sent.text.contains("a backup")).collect();
        assert_eq!(told.len(), 1, "{address}: {told:?}");
        told[0].says(&format!("- {}, in turn 1", game_match.id));
    }
    // The match goes on from where it stands.
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "MARBLE A5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2);
}

#[test]
fn a_gap_among_the_processed_letters_is_told() {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let of_ann = referee.folder().join("mail/referee/.Processed/cur");
    let [lost] = &std::fs::read_dir(of_ann).expect("the folder").collect::<Vec<_>>()[..] else {
        panic!("one letter")
    };
    let lost = lost.as_ref().expect("a file").path();
    let bo_of_turn_2 = referee.last_to(BO);
    referee.reply(BO, &bo_of_turn_2, "MARBLE A5");
    std::fs::remove_file(lost).expect("removed");
    referee.restore(&backup);
    referee.work();
    for address in [ANN, BO, GM] {
        let told = referee.all_to(address);
        let told: Vec<&Sent> = told.iter().filter(|sent| sent.text.contains("a backup")).collect();
        assert_eq!(told.len(), 1, "{address}: {told:?}");
        told[0].says(&format!("- {}, in turn 1", game_match.id));
    }
}

/// The processed letters, to be taken away from a later restore.
fn processed(referee: &Referee) -> BTreeSet<PathBuf> {
    let files = std::fs::read_dir(referee.folder().join("mail/referee/.Processed/cur")).expect("the folder");
    files.map(|file| file.expect("a file").path()).collect()
}

#[test]
fn a_gap_in_a_match_that_a_letter_opens_again_is_told_at_once() {
    let mut referee = Referee::new();
    let known = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &to_ann, "OPEN quad seat=first");
    let offered = referee.one_to(ANN);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    referee.sleep(1);
    referee.reply(BO, &to_bo, &format!("JOIN {}", code(&offered.text, "CLOSE")));
    let [id] = <[String; 1]>::try_from(matches_but(&referee, &known.id)).expect("one more match");
    let invitation = referee.last_to(ANN);
    let before = processed(&referee);
    referee.reply(ANN, &invitation, "MARBLE E5");
    let [lost] = &Vec::from_iter(&processed(&referee) - &before)[..] else { panic!("one letter") };
    let bo_of_turn_2 = referee.last_to(BO);
    referee.reply(BO, &bo_of_turn_2, "MARBLE A5");
    std::fs::remove_file(lost).expect("removed");
    referee.restore(&backup);
    referee.work();
    referee.advance(2);
    assert_eq!(matches_but(&referee, &known.id), std::slice::from_ref(&id));
    for address in [ANN, BO, GM] {
        let told = referee.all_to(address);
        let told: Vec<&Sent> = told.iter().filter(|sent| sent.text.contains("a backup")).collect();
        assert_eq!(told.len(), 1, "{address}: {told:?}");
        told[0].says(&format!("- {id}, in turn 1")).keeps_silent_of(&known.id);
    }
}

#[test]
fn a_lost_match_is_told_once_whatever_later_letters_prove() {
    let mut referee = Referee::new();
    let known = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    referee.sleep(1);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "MARBLE A5");
    let of_turn_2 = referee.last_to(ANN);
    let played = processed(&referee);
    let lost = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.last_to(ANN), referee.last_to(BO));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    for file in played {
        std::fs::remove_file(file).expect("removed");
    }
    referee.restore(&backup);
    referee.work();
    let names_lost = |sent: &&Sent| sent.text.contains(&format!("- {}", lost.id));
    let told = |address: &str| referee.all_to(address).iter().filter(names_lost).count();
    assert_eq!([told(ANN), told(BO), told(GM)], [1, 0, 1]);
    referee.sleep(1);
    // Bo writes about it at last, when Ann proves that more is missing.
    let before = referee.all_to(BO);
    referee.put(&referee.answer(BO, &to_bo, "MARBLE A5"));
    referee.reply(ANN, &of_turn_2, "MARBLE E6");
    let news = news_to(&referee, BO, &before);
    let answers =
        news.iter().filter(|sent| sent.text.contains(&format!("I do not know the match {}", lost.id)));
    assert_eq!(answers.count(), 1, "{news:?}");
    referee.last_to(GM).says("lacks more than I told you").says(&format!("- {}, in turn 1", known.id));
    assert_eq!([told(ANN), told(BO), told(GM)], [1, 0, 1]);
}

#[test]
fn whoever_was_late_when_a_backup_is_restored_has_a_day() {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.advance(7 * 24 + 7);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    // The clock decides the missed turn, and Ann reads of a later deadline.
    referee.advance(16);
    referee.restore(&backup);
    referee.work();
    referee.work();
    referee
        .last_to(GM)
        .says("deadlines of these matches have passed")
        .says(&format!("- {}, in turn 1", game_match.id));
    let deadline = referee.find(&game_match.id).deadline.expect("a deadline");
    assert!(deadline - referee.now() >= chrono::TimeDelta::hours(24), "{deadline} at {}", referee.now());
}

/// A match of Quad whose database was put back to its beginning, after Ann wrote each of these letters, with the hours
/// after each. Bo answered each report with a move.
fn restored_after(terms: &str, letters: &[(&str, i64)]) -> (Referee, Match, Match) {
    let mut referee = Referee::with(terms);
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, mut moves) = (referee.one_to(ANN), ["A5", "A6", "A7"].into_iter());
    let mut last = to_ann;
    referee.sent_to(BO);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    for (body, hours) in letters {
        referee.reply(ANN, &last, body);
        referee.advance(*hours);
        if let Some(report) =
            referee.sent_to(BO).into_iter().rfind(|sent| sent.subject.ends_with("your move"))
        {
            referee.reply(BO, &report, &format!("MARBLE {}", moves.next().expect("a move")));
            referee.advance(*hours);
        }
        last = referee.last_to(ANN);
    }
    let before = referee.find(&game_match.id);
    referee.restore(&backup);
    referee.sleep(25);
    referee.work();
    let after = referee.find(&game_match.id);
    (referee, before, after)
}

#[test]
fn a_wait_for_second_thoughts_is_over_again_when_later_letters_are_read_again() {
    const WORDS: &str = "MARBLE G7\n\nOur garden is full of snow.";
    const LATE_SIGN: &str = "MARBLE G6\n\nWait, my wife has another plan.";
    const SIGN: &str = "MARBLE G7\n\nWait, my wife has another plan.";
    for (terms, letters, turns) in [
        ("", &[(WORDS, 2), ("MARBLE G6", 2), ("MARBLE G5", 2)][..], 6),
        ("", &[(SIGN, 26), ("MARBLE G6", 2)], 4),
        ("settle_minutes = 90\n", &[("MARBLE G7", 2), ("MARBLE G6", 2)], 4),
        ("settle_minutes = 90\n", &[(WORDS, 4), ("MARBLE G6", 2)], 4),
        // Shortly before the deadline, a sign waits less.
        ("days = 1\n", &[("MARBLE G7", 2), ("STATUS", 16), (LATE_SIGN, 12), ("MARBLE G5", 2)], 6),
        ("days = 1\n", &[(WORDS, 2), ("MARBLE G6\nWAIT", 30), ("MARBLE G5", 2)], 6),
    ] {
        let (referee, before, after) = restored_after(terms, letters);
        assert_eq!((before.adjudicated.len(), after.adjudicated.len()), (turns, turns), "{terms}{letters:?}");
        assert_eq!(before.state, after.state, "{terms}{letters:?}");
        for address in [ANN, BO] {
            assert!(referee.all_to(address).iter().all(|sent| !sent.text.contains("a backup")), "{address}");
        }
    }
}

#[test]
fn what_was_taken_back_in_time_stays_so_after_a_restore() {
    let take_back = "No, stop, I have to think again.";
    let letters = [("MARBLE G7\n\nOur garden is full of snow.", 0), (take_back, 4)];
    let (referee, before, after) = restored_after("", &letters);
    assert_eq!((before.adjudicated.len(), after.adjudicated.len()), (0, 0));
    assert!(after.filed.first.is_some());
    referee.advance(2);
    assert_eq!(referee.find(&after.id).adjudicated.len(), 0);
}

#[test]
fn what_was_taken_back_before_a_deadline_stays_so_when_it_is_read_again_long_after() {
    let take_back = "No, stop, I have to think again.";
    let letters =
        [("MARBLE G7\n\nOur garden is full of snow.", 0), (take_back, 0), ("MARBLE G6", 2), ("STATUS", 40)];
    let (_, before, after) = restored_after("days = 1\n", &letters);
    assert_eq!((before.adjudicated.len(), after.adjudicated.len()), (2, 2));
    assert_eq!(before.state, after.state);
}

#[test]
fn an_order_that_was_replaced_in_time_stays_so_in_a_club_of_single_runs() {
    let mut referee = Referee::with("settle_minutes = 90\n");
    let game_match = referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    referee.advance(4);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    // The letter waits an hour for the next run, so its time is over an hour and a half later.
    referee.put(&referee.answer(ANN, &to_ann, "MARBLE G7"));
    referee.sleep(1);
    referee.work();
    let receipt = referee.last_to(ANN);
    referee.sleep(1);
    referee.reply(ANN, &receipt, "MARBLE G6");
    referee.advance(4);
    let before = referee.find(&game_match.id);
    referee.restore(&backup);
    referee.work();
    let after = referee.find(&game_match.id);
    assert_eq!((before.adjudicated.len(), after.adjudicated.len()), (1, 1));
    assert_eq!(before.state, after.state);
}

#[test]
fn the_house_plays_only_between_two_letters_while_they_are_read_again() {
    let mut referee = Referee::new();
    let game_match = opened(&referee, "easy", Seat::First);
    let turns = |referee: &Referee| referee.find(&game_match.id).adjudicated.len();
    let letter = fetched(&referee, &referee.answer(ANN, &to_ann(&referee), "MARBLE G7"));
    referee.block_on(referee.office().store.insert_letters(&[letter])).expect("it is stored");
    referee.block_on(items::settle_all(referee.office())).expect("the store answers");
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    referee.work();
    assert_eq!(turns(&referee), 2);
    referee.restore(&backup);
    referee.block_on(house::play_unless_restoring(referee.office())).expect("the store answers");
    assert_eq!(turns(&referee), 1);
    referee.work();
    assert_eq!(turns(&referee), 2);
}

#[test]
fn a_move_against_the_house_beside_words_counts_again_before_the_next_one() {
    let mut referee = Referee::new();
    let game_match = opened(&referee, "easy", Seat::First);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    for body in ["MARBLE G7\n\nOur garden is full of snow.", "MARBLE G6"] {
        referee.reply(ANN, &to_ann(&referee), body);
        referee.advance(2);
    }
    let before = referee.find(&game_match.id);
    referee.restore(&backup);
    referee.work();
    let after = referee.find(&game_match.id);
    assert_eq!((before.adjudicated.len(), after.adjudicated.len()), (4, 4));
}

#[test]
fn a_match_that_is_behind_is_told_once_whatever_later_letters_prove() {
    let mut referee = Referee::with("days = 1\n");
    let game_match = referee.open(GameKind::Quad, &[]);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    let known = referee.now();
    let (mut to_ann, mut to_bo) = (Vec::new(), Vec::new());
    for (of_ann, of_bo) in [("E5", "A5"), ("E6", "A6"), ("E7", "A7")] {
        to_ann.push(referee.last_to(ANN));
        referee.reply(ANN, &to_ann[to_ann.len() - 1], &format!("MARBLE {of_ann}"));
        to_bo.push(referee.last_to(BO));
        referee.reply(BO, &to_bo[to_bo.len() - 1], &format!("MARBLE {of_bo}"));
    }
    referee.advance(20);
    let reminder = referee.last_to(ANN);
    put_back_without_processed(&mut referee, &backup);
    referee.sleep(1);
    referee.work();
    let told = |referee: &Referee| {
        [ANN, BO, GM].map(|address| {
            referee
                .all_to(address)
                .into_iter()
                .filter(|sent| sent.text.contains("backup"))
                .collect::<Vec<Sent>>()
        })
    };
    assert!(told(&referee).iter().all(Vec::is_empty), "nothing shows it yet");
    for (address, answered) in [(ANN, &to_ann[1]), (BO, &to_bo[2]), (ANN, &to_ann[2]), (ANN, &reminder)] {
        referee.reply(address, answered, "STATUS");
        referee.advance(2);
        for told in told(&referee) {
            assert_eq!(told.len(), 1, "{told:?}");
            told[0].says(&format!("- {}, in turn 1", game_match.id));
            let day = known.format("%-d %b").to_string();
            told[0].says(&day);
        }
    }
}

#[test]
fn an_answer_to_a_lost_reminder_of_the_open_turn_proves_nothing_new() {
    let mut referee = Referee::with("days = 1\n");
    referee.open(GameKind::Quad, &[]);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    referee.advance(20);
    let reminder = referee.last_to(ANN);
    reminder.says("you have not filed any orders for turn 1 yet");
    referee.restore(&backup);
    referee.work();
    let told = referee.all_to(GM).len();
    referee.reply(ANN, &reminder, "STATUS");
    referee.work();
    assert_eq!(referee.all_to(GM).len(), told);
}

#[test]
fn a_digest_of_the_same_day_has_another_name_after_a_restore() {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    let is_digest = |sent: &Sent| sent.subject.starts_with("The day at");
    referee.reply(ANN, &to_ann, "PROTEST Is that so?");
    referee.advance(26);
    assert_eq!(referee.all_to(GM).iter().filter(|sent| is_digest(sent)).count(), 1);
    let before = referee.all_to(GM);
    referee.restore(&backup);
    referee.sleep(1);
    referee.work();
    referee.work();
    let after = news_to(&referee, GM, &before);
    let again = after.iter().find(|sent| is_digest(sent)).expect("a digest");
    again.says(&game_match.id);
    assert!(before.iter().all(|sent| sent.message_id != again.message_id), "{again:?}");
}

#[test]
fn letters_of_another_club_among_the_processed_ones_prove_nothing() {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.reply(ANN, &referee.one_to(ANN), "MARBLE E5");
    let processed = referee.folder().join("mail/referee/.Processed/cur");
    for (name, to) in [("1.M1P1.other", "referee@another.example"), ("2.M1P1.other", "gm@home.example")] {
        let raw = format!(
            "From: {BO}\r\nTo: {to}\r\nSubject: Hello\r\nMessage-ID: <{name}@x.example>\r\n\r\nHello\r\n"
        );
        let path = processed.join(format!("{name}:2,S"));
        std::fs::write(&path, raw).expect("written");
        let file = std::fs::File::options().append(true).open(&path).expect("the letter");
        file.set_modified((referee.now() + chrono::TimeDelta::hours(1)).into()).expect("its time");
    }
    referee.sleep(2);
    let told = referee.all_to(GM).len();
    referee.restart();
    referee.work();
    assert_eq!(referee.block_on(referee.office().store.remembered(RESTORED)).expect("it answers"), None);
    assert_eq!(referee.all_to(GM).len(), told);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn a_later_letter_brings_the_processed_ones_back_that_nobody_compared() {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "MARBLE A5");
    let ann_of_turn_2 = referee.last_to(ANN);
    let processed = referee.folder().join("mail/referee/.Processed/cur");
    let aside = referee.folder().join("aside");
    std::fs::rename(&processed, &aside).expect("set aside");
    std::fs::create_dir(&processed).expect("an empty folder");
    put_back_without_processed(&mut referee, &backup);
    // The letters that are filed last are known, so a first look sees nothing wrong.
    for _ in 0..16 {
        referee.put(&referee.answer(ANN, &to_ann, "STATUS"));
    }
    referee.work();
    for file in std::fs::read_dir(&aside).expect("the folder") {
        let file = file.expect("a file");
        std::fs::rename(file.path(), processed.join(file.file_name())).expect("put back");
    }
    referee.work();
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    referee.reply(ANN, &ann_of_turn_2, "MARBLE E6");
    assert_eq!(
        referee.find(&game_match.id).adjudicated.len(),
        3,
        "both letters of the first turns count again"
    );
    let told = referee.all_to(GM).iter().filter(|sent| sent.text.contains("replaced by a backup")).count();
    assert_eq!(told, 1);
    // Her many questions share one more answer, which waits for an hour.
    referee.advance(2);
}

#[test]
fn restore_rejects_a_foreign_database() {
    let referee = Referee::new();
    let bad = referee.folder().join("bad.db");
    std::fs::write(&bad, "no database").expect("written");
    let url = referee.office().config.database.url.clone();
    assert!(referee.block_on(store::restore(&url, &bad)).is_err());
    assert!(!referee.folder().join("fogpost.db.restoring").exists());
    referee.work();
    let lock = referee.block_on(referee.office().store.lock("this test")).expect("the lock");
    let refused = referee.block_on(store::restore(&url, &bad)).expect_err("the database is locked");
    assert!(refused.to_string().contains("this test"), "{refused}");
    drop(lock);
}

#[test]
fn restore_and_doctor_name_a_trigger_that_was_added_taken_away_or_changed() {
    let referee = Referee::new();
    referee.work();
    let url = referee.office().config.database.url.clone();
    let said = |statements: &[&str]| {
        let backup = referee.folder().join("backup.db");
        let _ = std::fs::remove_file(&backup);
        referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
        referee.block_on(async {
            let options = SqliteConnectOptions::new().filename(&backup);
            let mut file = SqliteConnection::connect_with(&options).await.expect("it opens");
            for statement in statements {
                sqlx::query(AssertSqlSafe((*statement).to_owned()))
                    .execute(&mut file)
                    .await
                    .expect(statement);
            }
            file.close().await.expect("it closes");
            let copy = store::open(&store::sqlite_url(&backup)).await.expect("it opens");
            let faults = copy.schema_faults().await.expect("the store answers");
            copy.close().await;
            let restored = store::restore(&url, &backup).await;
            assert_eq!(restored.is_ok(), faults.is_empty());
            let told = restored.map_or_else(|error| error.to_string(), |_| String::new());
            assert!(told.contains(&faults.join("; ")), "{told}: {faults:?}");
            faults
        })
    };
    let spy = "CREATE TRIGGER spy AFTER INSERT ON letter BEGIN UPDATE memo SET value = NEW.sender; END";
    assert_eq!(said(&[spy]), ["its trigger spy does not belong to this program"]);
    let gone = "DROP TRIGGER entry_is_not_changed";
    assert_eq!(said(&[gone]), ["its trigger entry_is_not_changed is missing"]);
    let idle = "CREATE TRIGGER entry_is_not_changed BEFORE UPDATE ON entry BEGIN SELECT 1; END";
    assert_eq!(
        said(&[gone, idle]),
        ["its trigger entry_is_not_changed differs from the one this program makes"]
    );
    assert_eq!(said(&["DROP INDEX entry_by_kind"]), ["its index entry_by_kind is missing"]);
    assert_eq!(
        said(&["ALTER TABLE entry ADD COLUMN note TEXT"]),
        ["its table entry differs from the one this program makes"]
    );
    assert_eq!(said(&[]), [""; 0]);
}

#[test]
fn a_second_restore_keeps_both_databases_that_were_replaced() {
    let mut referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");
    let url = referee.office().config.database.url.clone();
    let mut kept = BTreeSet::new();
    for _ in 0..3 {
        referee.restart_after(|_| {
            let runtime = tokio::runtime::Runtime::new().expect("a runtime");
            let replaced = runtime.block_on(store::restore(&url, &backup)).expect("restored");
            kept.insert(replaced.expect("the previous database is kept"));
        });
        referee.work();
    }
    assert!(kept.len() == 3 && kept.iter().all(|file| file.exists()), "{kept:?}");
}

fn code(text: &str, verb: &str) -> String {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {verb} ")));
    line.unwrap_or_else(|| panic!("no {verb} in {text}")).to_owned()
}

/// The names of all matches but one.
fn matches_but(referee: &Referee, id: &str) -> Vec<String> {
    let mut ids = referee.block_on(referee.office().store.match_ids()).expect("the store answers");
    ids.retain(|other| other != id);
    ids
}

/// Whether the status says that letters from after a backup have not been read again.
fn is_unfinished(referee: &Referee) -> bool {
    let (database, quota) = (&referee.office().config.database, &referee.office().config.outbox.quota);
    let status = Status::of(&referee.office().store, database, quota, referee.now(), SILENT_AFTER);
    let faults = referee.block_on(status).expect("the store answers").faults;
    faults.iter().any(|fault| fault.contains("older than its mailbox"))
}

/// The letters to somebody that are not among those from before.
fn news_to(referee: &Referee, address: &str, before: &[Sent]) -> Vec<Sent> {
    let mut letters = referee.all_to(address);
    letters.retain(|sent| {
        !before.iter().any(|old| (&old.text, &old.message_id) == (&sent.text, &sent.message_id))
    });
    letters
}

/// Returns the findings of `audit verify --against` in a player's mail.
fn found_against(referee: &Referee, raw: &[u8]) -> Vec<String> {
    let mails = [PlayersMail::read("ann.eml", raw)];
    let against = verify::verify_against(referee.office(), &mails, None, &|_| ());
    let verdicts = referee.block_on(against).expect("the store answers");
    verdicts.into_iter().flat_map(|verdict| verdict.findings).map(|finding| finding.what).collect()
}

/// The backup knows an open offer. Since then Bo has taken it up, both have moved in the new match, a newcomer has made
/// an offer after answering a question, and a GM has opened a match at the terminal, in which Ann has written.
#[test]
fn letters_read_again_bring_about_the_same_and_what_none_brings_about_is_told_once() {
    let mut referee = Referee::new();
    let known = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &to_ann, "OPEN quad seat=first");
    let offered = referee.one_to(ANN);
    let backup = referee.folder().join("backup.db");
    referee.block_on(referee.office().store.backup(&backup)).expect("a backup");

    referee.sleep(1);
    referee.reply(BO, &to_bo, &format!("JOIN {}", code(&offered.text, "CLOSE")));
    let new_to = |address: &str| {
        let mut letters = referee.sent_to(address);
        letters.retain(|sent| sent.subject.contains("[QD-") && !sent.subject.contains(&known.id));
        letters.pop().expect("an invitation")
    };
    let (new_to_ann, new_to_bo) = (new_to(ANN), new_to(BO));
    let others = |referee: &Referee| matches_but(referee, &known.id);
    let [id] = <[String; 1]>::try_from(others(&referee)).expect("one more match");
    // Two letters of different people about one match: their order counts.
    referee.reply(ANN, &new_to_ann, "MARBLE E5");
    referee.reply(BO, &new_to_bo, "MARBLE A5");
    let played = referee.find(&id);
    referee.write(CY, "OPEN quantum");
    let question = referee.one_to(CY);
    referee.reply(CY, &question, &format!("CONFIRM {}", code(&question.text, "CONFIRM")));
    let offer = code(&referee.one_to(CY).text, "CLOSE");
    referee.sent_to(ANN);
    let lost = referee.open(GameKind::Quad, &[]);
    referee.reply(ANN, &referee.one_to(ANN), "MARBLE E5");
    let about_lost = referee.raw_to(ANN).pop().expect("a receipt");
    referee.sleep(1);
    let before: Vec<Sent> = [ANN, BO, CY, GM].iter().flat_map(|address| referee.all_to(address)).collect();
    let lost_to_bo = referee.all_to(BO).into_iter().rfind(|sent| sent.subject.contains(&lost.id));
    referee.restore(&backup);
    assert!(is_unfinished(&referee));
    referee.work();
    assert!(!is_unfinished(&referee));

    assert_eq!(others(&referee), std::slice::from_ref(&id));
    assert_eq!((referee.find(&id).state, referee.find(&id).adjudicated.len()), (played.state, 2));
    let [ann, bo, cy, gm] = [ANN, BO, CY, GM].map(|address| news_to(&referee, address, &before));
    assert!(ann.iter().any(|sent| sent.token() == new_to_ann.token()));
    assert!(bo.iter().any(|sent| sent.token() == new_to_bo.token()));
    let open = referee.block_on(referee.office().store.open_invitations(None)).expect("the store answers");
    assert!(open.iter().any(|row| row.code == offer), "{open:?}");
    for sent in ann.iter().chain(&bo).chain(&cy).chain(&gm) {
        let same = before.iter().find(|old| old.message_id == sent.message_id);
        assert!(same.is_none_or(|old| old.text == sent.text), "{}: {}", sent.message_id, sent.text);
    }
    let told: Vec<&Sent> = ann.iter().filter(|sent| sent.text.contains(&lost.id)).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    told[0].says(&format!("- {}", lost.id)).says("nothing that you wrote about it counts");
    told[0].keeps_silent_of(&id);
    assert!(bo.iter().chain(&cy).all(|sent| !sent.text.contains(&lost.id)));
    assert_eq!(gm.len(), 1, "{gm:?}");
    gm[0]
        .says(&format!("- {}: written about by {ANN}", lost.id))
        .says("replaced by a backup")
        .keeps_silent_of(&id);

    let said = found_against(&referee, &about_lost);
    assert!(said.len() == 1 && said[0].contains("newer than the restored backup"), "{said:?}");
    // A restart repeats nothing of this, and the clock goes on.
    referee.restart();
    referee.advance(2);
    for (address, once) in [(ANN, ann), (BO, bo), (CY, cy)] {
        let now: BTreeSet<String> = referee.all_to(address).into_iter().map(|sent| sent.message_id).collect();
        let told = before.iter().chain(&once).map(|sent| &sent.message_id);
        assert!(now.is_subset(&told.cloned().collect()), "{address}");
    }
    // Who had not yet written about the lost match is told in answer to the first letter.
    referee.reply(BO, &lost_to_bo.expect("an invitation"), "MARBLE A5");
    let told = news_to(&referee, BO, &before).into_iter().rfind(|sent| sent.text.contains("TELL GM"));
    told.expect("an answer").says(&format!("I do not know the match {}", lost.id));
}

/// A dump may be put back while the daemon's check of the clock is under way.
#[test]
fn a_check_of_the_clock_does_not_hide_that_an_older_database_was_put_in_place() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let store = &referee.office().store;
    let checked = referee.block_on(store.remembered("heartbeat")).expect("the store answers");
    let noted: DateTime<Utc> = checked.expect("a check").parse().expect("a time");
    let older = (noted - TimeDelta::hours(1)).to_rfc3339();
    referee.block_on(store.remember("heartbeat", &older)).expect("noted");
    let error = referee.block_on(loops::once(referee.office())).expect_err("the check fails");
    assert!(error.to_string().contains("older database"), "{error:#}");
    assert_eq!(referee.block_on(store.remembered("heartbeat")).expect("the store answers"), Some(older));
}
