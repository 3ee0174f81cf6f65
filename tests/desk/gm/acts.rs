//! GMs' letters to players, their lists, and the effects of their acts.

use fogpost::referee::{Match, Stage};

use crate::positions::{kinds, quad};
use crate::referee::{ANN, BO, GM, Referee, Sent};

fn ask(referee: &Referee, lines: &str) -> Sent {
    referee.sent_to(GM);
    if referee.all_to(GM).is_empty() {
        referee.write(GM, "GM LIST");
    }
    let sent = referee.all_to(GM).pop().expect("a letter with the GM's token");
    referee.sent_to(GM);
    referee.reply(GM, &sent, lines);
    let answers = referee.sent_to(GM);
    answers.into_iter().find(|sent| sent.in_reply_to.is_some()).expect("an answer")
}

fn entries(referee: &Referee, game_match: &Match) -> String {
    let entries =
        referee.block_on(referee.office().store.entries(&game_match.id)).expect("the store answers");
    entries.into_iter().map(|entry| entry.json).collect()
}

#[test]
fn what_a_gm_tells_one_side_the_other_learns_of_and_reads_with_the_result() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let lines =
        format!("GM MATCH {0} TELL first Please write from home.\nYours, Kim\nEND\nGM LIST", game_match.id);
    ask(&referee, &lines).says("Done. The match now").says("> GM LIST");
    referee.one_to(ANN).says("The GM writes: > Please write from home. > Yours, Kim");
    referee
        .one_to(BO)
        .says("The GM has written to Ann alone. You will read it with the result")
        .keeps_silent_of("from home");
    assert!(!entries(&referee, &game_match).contains("from home"), "the ledger has the digest alone");
    assert!(kinds(&referee, &game_match).contains(&"GmTold".to_owned()));
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    for player in [ANN, BO] {
        referee.last_to(player).says("the GM wrote to Ann alone: > Please write from home.");
    }
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn what_a_gm_tells_both_sides_reaches_both_at_once() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    ask(&referee, &format!("GM MATCH {} TELL both The setup stands.\nGM LIST late", game_match.id))
        .says("> GM LIST late");
    for player in [ANN, BO] {
        referee.one_to(player).says("The GM writes: > The setup stands.").keeps_silent_of("LIST");
    }
    ask(&referee, &format!("GM MATCH {} TELL both", game_match.id)).says("TELL needs a text");
    ask(&referee, &format!("GM MATCH {} TELL", game_match.id)).says("TELL needs first, second or both");
}

#[test]
fn a_note_stays_with_the_gms() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    ask(&referee, &format!("GM MATCH {} NOTE both wrote late", game_match.id)).says("Done");
    assert!(referee.sent_to(ANN).is_empty() && referee.sent_to(BO).is_empty());
    assert!(entries(&referee, &game_match).contains("both wrote late"));
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn a_gm_lists_the_matches_that_are_due_and_those_that_ended() {
    let referee = Referee::new();
    let (ended, to_ann, _) = quad(&referee);
    let (open, ..) = quad(&referee);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    let list = ask(&referee, "GM LIST ended");
    list.says(&format!("{}, Quad", ended.id)).says("Bo won (resigned)").keeps_silent_of(&open.id);
    ask(&referee, "GM LIST due").says("There are none").keeps_silent_of(&open.id);
    let left = open.deadline.expect("a deadline") - referee.now();
    referee.advance(left.num_hours() - 20);
    ask(&referee, "GM LIST due").says(&open.id).keeps_silent_of(&ended.id);
}

#[test]
fn an_announcement_goes_to_every_player_who_wants_it_and_the_answer_counts_them() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    // The house has no mailbox.
    ask(&referee, &format!("GM NEW quantum {ANN} house:easy"));
    referee.sent_to(ANN);
    let text = "GM ANNOUNCE ALL\nThe club moves.\n\nSee you there.\nEND\nGM LIST late";
    ask(&referee, &format!("CHECK\n{text}")).says("This would go to 2 players: > The club moves.");
    assert!(referee.sent_to(ANN).is_empty() && referee.sent_to(BO).is_empty());
    ask(&referee, text).says("This goes to 2 players").says("> GM LIST late");
    for player in [ANN, BO] {
        let letter = referee.one_to(player);
        letter.says("The GM, the GM, writes to everybody who plays here: > The club moves.");
        letter.says("> See you there.").keeps_silent_of("LIST");
    }
    referee.reply(ANN, &to_ann, "NEVER");
    referee.sent_to(ANN);
    ask(&referee, "GM ANNOUNCE quad\nOnce more.\nEND")
        .says("This goes to 1 player, at most 200 an hour: > Once more.");
    assert!(referee.sent_to(ANN).is_empty());
    referee.one_to(BO).says("writes to everybody who plays Quad");
    ask(&referee, "GM ANNOUNCE pacific\nNobody plays it.\nEND").says("This goes to 0 players");
    ask(&referee, "GM ANNOUNCE chess\nx\nEND").says("chess is not a game");
    ask(&referee, "GM ANNOUNCE all").says("ANNOUNCE needs a text below it");
}

#[test]
fn an_answer_to_an_announcement_reaches_the_gm() {
    let referee = Referee::new();
    quad(&referee);
    ask(&referee, "GM ANNOUNCE ALL\nWho comes on Sunday?\nEND");
    let announced = referee.one_to(BO);
    referee.reply(BO, &announced, "Dear GM, I shall come and bring a cake.");
    referee.one_to(BO).says("I am a program, and have passed your words to the GM");
}

#[test]
fn a_reopened_match_has_a_new_key() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(ANN, &referee.last_to(ANN), "RESIGN CONFIRM");
    let over = referee.find(&game_match.id);
    assert_eq!(over.stage, Stage::Over);
    ask(&referee, &format!("GM MATCH {} ROLLBACK 1 It was a mistake.", game_match.id)).says("Done");
    let open = referee.find(&game_match.id);
    assert_eq!(open.stage, Stage::Running);
    assert_ne!(open.key, over.key, "players know the old one");
    assert_eq!(open.earlier_keys, [over.key]);
    assert!(entries(&referee, &game_match).contains(&open.key.pin().to_string()));
    assert!(!entries(&referee, &game_match).contains(&open.key.reveal()));
    assert!(referee.verify(&game_match.id).is_sound());
    referee.reply(ANN, &referee.last_to(ANN), "MARBLE E5");
    referee.reply(BO, &referee.last_to(BO), "RESIGN CONFIRM");
    referee.last_to(ANN).says(&format!(
        "come from these keys, which the ledger pins. The match had a new one each time it was reopened: | {} | {}",
        open.earlier_keys[0].reveal(),
        open.key.reveal()
    ));
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn a_successor_inherits_neither_a_refusal_nor_an_offer() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5\nand MARBLE F6");
    let refused = referee.find(&game_match.id);
    assert!(!refused.offered.first.is_empty() && refused.refused.first.is_some());
    ask(&referee, &format!("GM MATCH {} REPLACE first cy@players.example", game_match.id)).says("Done");
    let replaced = referee.find(&game_match.id);
    assert!(replaced.offered.first.is_empty() && replaced.refused.first.is_none());
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn a_running_match_keeps_its_key_when_a_turn_is_reopened() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    ask(&referee, &format!("GM MATCH {} ROLLBACK 1 It was a mistake.", game_match.id)).says("Done");
    let open = referee.find(&game_match.id);
    assert_eq!((&open.key, open.earlier_keys.len()), (&game_match.key, 0));
}

#[test]
fn a_pause_does_not_move_the_hour_at_which_a_turn_is_due() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    let before = game_match.deadline.expect("a deadline");
    let pause = format!("GM MATCH {} PAUSE a moment", game_match.id);
    let resume = format!("GM MATCH {} RESUME", game_match.id);
    ask(&referee, &format!("{pause}\n{resume}"));
    assert_eq!(referee.find(&game_match.id).deadline, Some(before));
    ask(&referee, &pause);
    referee.sleep(3);
    ask(&referee, &resume);
    assert_eq!(referee.find(&game_match.id).deadline, Some(before + chrono::TimeDelta::days(1)));
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn the_subject_of_a_report_tells_whose_move_it_is() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    assert_eq!(referee.one_to(BO).subject, format!("[{}] Turn 2: your move", game_match.id));
    let subjects: Vec<String> = referee.sent_to(ANN).into_iter().map(|sent| sent.subject).collect();
    assert!(subjects.iter().any(|subject| subject.ends_with("Turn 2: Bo moves")), "{subjects:?}");
    let (_, to_ann, _) = crate::positions::quadrant_z(&referee);
    assert!(to_ann.subject.ends_with("Turn 1: your report"), "both move: {}", to_ann.subject);
}

#[test]
fn the_ledger_line_does_not_tell_how_often_the_other_side_wrote() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let line = format!("Ledger {} sha256", game_match.id);
    assert!(to_ann.text.lines().any(|text| text == line), "{}", to_ann.text);
}

#[test]
fn letters_outside_matches_have_the_format_and_zone_that_the_player_has_set() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    referee.reply(BO, &to_bo, "SETTINGS format=text zone=America/New_York");
    referee.sent_to(BO);
    referee.reply(ANN, &to_ann, &format!("CHALLENGE {BO} pacific"));
    let challenge = referee.one_to(BO);
    challenge.says("EDT");
    let raw = String::from_utf8(referee.raw_to(BO).pop().expect("a letter")).expect("mail is text");
    assert!(!raw.contains("text/html"), "{raw}");
}

#[test]
fn after_a_rejected_protest_and_for_a_second_one_in_a_turn_the_match_goes_on() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "PROTEST My letter was misread.");
    referee.one_to(ANN).says("Deadlines are suspended");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Paused);
    referee.sent_to(GM);
    referee.reply(ANN, &to_ann, "PROTEST It really was.");
    referee.one_to(ANN).says("It is not your first in this match");
    referee.one_to(GM).says("> It really was.");
    ask(&referee, &format!("GM MATCH {} RESUME", game_match.id));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "PROTEST I still think so.");
    referee.one_to(ANN).says("the match continues");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn terms_change_from_the_next_turn_on_and_both_read_it() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let before = game_match.deadline;
    ask(
        &referee,
        &format!("GM MATCH {} TERMS days=2 hour=9 weekends=off grace=24 reminders=24", game_match.id),
    )
    .says("Done. The match now");
    for player in [ANN, BO] {
        let told = referee.one_to(player);
        assert!(told.subject.ends_with("other terms"), "{}", told.subject);
        told.says("2 days for each turn").says("09:00, Europe/Berlin").says("24 hours of grace");
    }
    let changed = referee.find(&game_match.id);
    assert_eq!((changed.deadline, changed.terms.days), (before, game_match.terms.days));
    assert!(kinds(&referee, &game_match).contains(&"TermsChanged".to_owned()));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let next = referee.find(&game_match.id);
    assert_eq!((next.terms.days, next.terms.grace_hours, next.next_terms), (2, 24, None));
    // Two days after the seventh of May is a Saturday.
    let local = next.deadline.expect("a deadline").with_timezone(&next.terms.zone);
    assert_eq!(local.to_string(), "2026-05-11 09:00:00 CEST");
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn terms_that_cannot_be_are_refused_with_a_sentence() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    for (terms, says) in [
        ("", "the terms that can change are days, hour, weekends, grace, reminders and rated"),
        ("days=0", "days is 0; it must be from 1 to 365"),
        ("hour=24", "hour is 24; it must be from 0 to 23"),
        ("grace=721", "grace_hours is 721"),
        ("weekends=maybe", "try on or off"),
        ("reminders=soon", "is not a number"),
        ("press=none", "`press` cannot change"),
        ("days=5 DAYS=6", "DAYS is given twice"),
        ("days=7", "that is already the case"),
    ] {
        ask(&referee, &format!("GM MATCH {} TERMS {terms}", game_match.id)).says(says);
    }
    assert_eq!(referee.find(&game_match.id).next_terms, None);
}

#[test]
fn a_match_can_be_annulled_while_it_runs_and_after_its_end() {
    for over in [false, true] {
        let referee = Referee::new();
        let (game_match, to_ann, _) = quad(&referee);
        if over {
            referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
        }
        referee.sent_to(ANN);
        referee.sent_to(BO);
        let line = format!("GM MATCH {} ANNUL One person held both seats.", game_match.id);
        ask(&referee, &line).says("Nobody won (annulled)");
        for player in [ANN, BO] {
            let told = referee.last_to(player);
            told.says("The GM has annulled this match").says("> One person held both seats.");
        }
        let after = referee.find(&game_match.id);
        assert_eq!((after.stage, after.outcome().map(|outcome| outcome.winner)), (Stage::Over, Some(None)));
        ask(&referee, &line).says("that is already the case");
        referee.reply(ANN, &referee.all_to(ANN).pop().expect("a letter"), "STATUS");
        referee.last_to(ANN).says("nobody won (annulled)");
        assert!(referee.verify(&game_match.id).is_sound());
        ask(&referee, &format!("GM MATCH {} ROLLBACK 1 again", game_match.id));
        assert!(referee.verify(&game_match.id).is_sound());
    }
}
