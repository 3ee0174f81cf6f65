//! GMs' letters to players, their lists, and the effects of their acts.

use fogpost::referee::{Match, Stage};

use crate::desk::{ANN, BO, Desk, GM, Sent};
use crate::positions::{kinds, quad};

fn ask(desk: &Desk, lines: &str) -> Sent {
    desk.sent_to(GM);
    if desk.all_to(GM).is_empty() {
        desk.write(GM, "GM LIST");
    }
    let sent = desk.all_to(GM).pop().expect("a letter with the GM's token");
    desk.sent_to(GM);
    desk.reply(GM, &sent, lines);
    let answers = desk.sent_to(GM);
    answers.into_iter().find(|sent| sent.in_reply_to.is_some()).expect("an answer")
}

fn entries(desk: &Desk, game_match: &Match) -> String {
    let entries = desk.block_on(desk.office().store.entries(&game_match.id)).expect("the store answers");
    entries.into_iter().map(|entry| entry.json).collect()
}

#[test]
fn what_a_gm_tells_one_side_the_other_learns_of_and_reads_with_the_result() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let lines =
        format!("GM MATCH {0} TELL first Please write from home.\nYours, Kim\nEND\nGM LIST", game_match.id);
    ask(&desk, &lines).says("Done. The match now").says("> GM LIST");
    desk.one_to(ANN).says("The GM writes: > Please write from home. > Yours, Kim");
    desk.one_to(BO)
        .says("The GM has written to Ann alone. You will read it with the result")
        .keeps_silent_of("from home");
    assert!(!entries(&desk, &game_match).contains("from home"), "the ledger has the digest alone");
    assert!(kinds(&desk, &game_match).contains(&"GmTold".to_owned()));
    desk.reply(ANN, &to_ann, "RESIGN CONFIRM");
    for player in [ANN, BO] {
        desk.last_to(player).says("the GM wrote to Ann alone: > Please write from home.");
    }
    assert!(desk.verify(&game_match.id).is_sound());
}

#[test]
fn what_a_gm_tells_both_sides_reaches_both_at_once() {
    let desk = Desk::new();
    let (game_match, ..) = quad(&desk);
    ask(&desk, &format!("GM MATCH {} TELL both The setup stands.\nGM LIST late", game_match.id))
        .says("> GM LIST late");
    for player in [ANN, BO] {
        desk.one_to(player).says("The GM writes: > The setup stands.").keeps_silent_of("LIST");
    }
    ask(&desk, &format!("GM MATCH {} TELL both", game_match.id)).says("TELL needs a text");
    ask(&desk, &format!("GM MATCH {} TELL", game_match.id)).says("TELL needs first, second or both");
}

#[test]
fn a_note_stays_with_the_gms() {
    let desk = Desk::new();
    let (game_match, ..) = quad(&desk);
    ask(&desk, &format!("GM MATCH {} NOTE both wrote late", game_match.id)).says("Done");
    assert!(desk.sent_to(ANN).is_empty() && desk.sent_to(BO).is_empty());
    assert!(entries(&desk, &game_match).contains("both wrote late"));
    assert!(desk.verify(&game_match.id).is_sound());
}

#[test]
fn a_gm_lists_the_matches_that_are_due_and_those_that_ended() {
    let desk = Desk::new();
    let (ended, to_ann, _) = quad(&desk);
    let (open, ..) = quad(&desk);
    desk.reply(ANN, &to_ann, "RESIGN CONFIRM");
    let list = ask(&desk, "GM LIST ended");
    list.says(&format!("{}, Quad", ended.id)).says("Bo won (resigned)").keeps_silent_of(&open.id);
    ask(&desk, "GM LIST due").says("There are none").keeps_silent_of(&open.id);
    let left = open.deadline.expect("a deadline") - desk.now();
    desk.advance(left.num_hours() - 20);
    ask(&desk, "GM LIST due").says(&open.id).keeps_silent_of(&ended.id);
}

#[test]
fn an_announcement_goes_to_every_player_who_wants_it_and_the_answer_counts_them() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    let text = "GM ANNOUNCE ALL\nThe club moves.\n\nSee you there.\nEND\nGM LIST late";
    ask(&desk, &format!("CHECK\n{text}")).says("This would go to 2 players: > The club moves.");
    assert!(desk.sent_to(ANN).is_empty() && desk.sent_to(BO).is_empty());
    ask(&desk, text).says("This goes to 2 players").says("> GM LIST late");
    for player in [ANN, BO] {
        let letter = desk.one_to(player);
        letter.says("The GM, the GM, writes to everybody who plays here: > The club moves.");
        letter.says("> See you there.").keeps_silent_of("LIST");
    }
    desk.reply(ANN, &to_ann, "NEVER");
    desk.sent_to(ANN);
    ask(&desk, "GM ANNOUNCE quad\nOnce more.\nEND")
        .says("This goes to 1 player, at most 200 an hour: > Once more.");
    assert!(desk.sent_to(ANN).is_empty());
    desk.one_to(BO).says("writes to everybody who plays Quad");
    ask(&desk, "GM ANNOUNCE pacific\nNobody plays it.\nEND").says("This goes to 0 players");
    ask(&desk, "GM ANNOUNCE chess\nx\nEND").says("chess is not a game");
    ask(&desk, "GM ANNOUNCE all").says("ANNOUNCE needs a text below it");
}

#[test]
fn an_answer_to_an_announcement_reaches_the_gm() {
    let desk = Desk::new();
    quad(&desk);
    ask(&desk, "GM ANNOUNCE ALL\nWho comes on Sunday?\nEND");
    let announced = desk.one_to(BO);
    desk.reply(BO, &announced, "Dear GM, I shall come and bring a cake.");
    desk.one_to(BO).says("I am a program, and have passed your words to the GM");
}

#[test]
fn a_reopened_match_has_a_new_key() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.reply(ANN, &desk.last_to(ANN), "RESIGN CONFIRM");
    let over = desk.find(&game_match.id);
    assert_eq!(over.stage, Stage::Over);
    ask(&desk, &format!("GM MATCH {} ROLLBACK 1 It was a mistake.", game_match.id)).says("Done");
    let open = desk.find(&game_match.id);
    assert_eq!(open.stage, Stage::Running);
    assert_ne!(open.key, over.key, "players know the old one");
    assert_eq!(open.earlier_keys, [over.key]);
    assert!(entries(&desk, &game_match).contains(&open.key.pin().to_string()));
    assert!(!entries(&desk, &game_match).contains(&open.key.reveal()));
    assert!(desk.verify(&game_match.id).is_sound());
    desk.reply(ANN, &desk.last_to(ANN), "MARBLE E5");
    desk.reply(BO, &desk.last_to(BO), "RESIGN CONFIRM");
    desk.last_to(ANN).says(&format!(
        "come from these keys, which the ledger pins. The match had a new one each time it was reopened: | {} | {}",
        open.earlier_keys[0].reveal(),
        open.key.reveal()
    ));
    assert!(desk.verify(&game_match.id).is_sound());
}

#[test]
fn a_successor_inherits_neither_a_refusal_nor_an_offer() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5\nand MARBLE F6");
    let refused = desk.find(&game_match.id);
    assert!(!refused.offered.first.is_empty() && refused.refused.first.is_some());
    ask(&desk, &format!("GM MATCH {} REPLACE first cy@players.example", game_match.id)).says("Done");
    let replaced = desk.find(&game_match.id);
    assert!(replaced.offered.first.is_empty() && replaced.refused.first.is_none());
    assert!(desk.verify(&game_match.id).is_sound());
}

#[test]
fn a_running_match_keeps_its_key_when_a_turn_is_reopened() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    ask(&desk, &format!("GM MATCH {} ROLLBACK 1 It was a mistake.", game_match.id)).says("Done");
    let open = desk.find(&game_match.id);
    assert_eq!((&open.key, open.earlier_keys.len()), (&game_match.key, 0));
}

#[test]
fn a_pause_does_not_move_the_hour_at_which_a_turn_is_due() {
    let desk = Desk::new();
    let (game_match, ..) = quad(&desk);
    let before = game_match.deadline.expect("a deadline");
    let pause = format!("GM MATCH {} PAUSE a moment", game_match.id);
    let resume = format!("GM MATCH {} RESUME", game_match.id);
    ask(&desk, &format!("{pause}\n{resume}"));
    assert_eq!(desk.find(&game_match.id).deadline, Some(before));
    ask(&desk, &pause);
    desk.sleep(3);
    ask(&desk, &resume);
    assert_eq!(desk.find(&game_match.id).deadline, Some(before + chrono::TimeDelta::days(1)));
    assert!(desk.verify(&game_match.id).is_sound());
}

#[test]
fn the_subject_of_a_report_tells_whose_move_it_is() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    assert_eq!(desk.one_to(BO).subject, format!("[{}] Turn 2: your move", game_match.id));
    let subjects: Vec<String> = desk.sent_to(ANN).into_iter().map(|sent| sent.subject).collect();
    assert!(subjects.iter().any(|subject| subject.ends_with("Turn 2: Bo moves")), "{subjects:?}");
    let (_, to_ann, _) = crate::positions::quadrant_z(&desk);
    assert!(to_ann.subject.ends_with("Turn 1: your report"), "both move: {}", to_ann.subject);
}

#[test]
fn the_ledger_line_does_not_tell_how_often_the_other_side_wrote() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let line = format!("Ledger {} sha256", game_match.id);
    assert!(to_ann.text.lines().any(|text| text == line), "{}", to_ann.text);
}

#[test]
fn letters_outside_matches_have_the_format_and_zone_that_the_player_has_set() {
    let desk = Desk::new();
    let (_, to_ann, to_bo) = quad(&desk);
    desk.reply(BO, &to_bo, "SETTINGS format=text zone=America/New_York");
    desk.sent_to(BO);
    desk.reply(ANN, &to_ann, &format!("CHALLENGE {BO} pacific"));
    let challenge = desk.one_to(BO);
    challenge.says("EDT");
    let raw = String::from_utf8(desk.raw_to(BO).pop().expect("a letter")).expect("mail is text");
    assert!(!raw.contains("text/html"), "{raw}");
}

#[test]
fn after_a_rejected_protest_and_for_a_second_one_in_a_turn_the_match_goes_on() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "PROTEST My letter was misread.");
    desk.one_to(ANN).says("Deadlines are suspended");
    assert_eq!(desk.find(&game_match.id).stage, Stage::Paused);
    desk.sent_to(GM);
    desk.reply(ANN, &to_ann, "PROTEST It really was.");
    desk.one_to(ANN).says("It is not your first in this match");
    desk.one_to(GM).says("> It really was.");
    ask(&desk, &format!("GM MATCH {} RESUME", game_match.id));
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.sent_to(ANN);
    desk.reply(ANN, &to_ann, "PROTEST I still think so.");
    desk.one_to(ANN).says("the match continues");
    assert_eq!(desk.find(&game_match.id).stage, Stage::Running);
    assert!(desk.verify(&game_match.id).is_sound());
}

#[test]
fn terms_change_from_the_next_turn_on_and_both_read_it() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let before = game_match.deadline;
    ask(&desk, &format!("GM MATCH {} TERMS days=2 hour=9 weekends=off grace=24 reminders=24", game_match.id))
        .says("Done. The match now");
    for player in [ANN, BO] {
        let told = desk.one_to(player);
        assert!(told.subject.ends_with("other terms"), "{}", told.subject);
        told.says("2 days for each turn").says("09:00, Europe/Berlin").says("24 hours of grace");
    }
    let changed = desk.find(&game_match.id);
    assert_eq!((changed.deadline, changed.terms.days), (before, game_match.terms.days));
    assert!(kinds(&desk, &game_match).contains(&"TermsChanged".to_owned()));
    desk.reply(ANN, &to_ann, "MARBLE E5");
    let next = desk.find(&game_match.id);
    assert_eq!((next.terms.days, next.terms.grace_hours, next.next_terms), (2, 24, None));
    // Two days after the seventh of May is a Saturday.
    let local = next.deadline.expect("a deadline").with_timezone(&next.terms.zone);
    assert_eq!(local.to_string(), "2026-05-11 09:00:00 CEST");
    assert!(desk.verify(&game_match.id).is_sound());
}

#[test]
fn terms_that_cannot_be_are_refused_with_a_sentence() {
    let desk = Desk::new();
    let (game_match, ..) = quad(&desk);
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
        ask(&desk, &format!("GM MATCH {} TERMS {terms}", game_match.id)).says(says);
    }
    assert_eq!(desk.find(&game_match.id).next_terms, None);
}

#[test]
fn a_match_can_be_annulled_while_it_runs_and_after_its_end() {
    for over in [false, true] {
        let desk = Desk::new();
        let (game_match, to_ann, _) = quad(&desk);
        if over {
            desk.reply(ANN, &to_ann, "RESIGN CONFIRM");
        }
        desk.sent_to(ANN);
        desk.sent_to(BO);
        let line = format!("GM MATCH {} ANNUL One person held both seats.", game_match.id);
        ask(&desk, &line).says("nobody won (annulled)");
        for player in [ANN, BO] {
            let told = desk.last_to(player);
            told.says("The GM has annulled this match").says("> One person held both seats.");
        }
        let after = desk.find(&game_match.id);
        assert_eq!((after.stage, after.outcome().map(|outcome| outcome.winner)), (Stage::Over, Some(None)));
        ask(&desk, &line).says("that is already the case");
        desk.reply(ANN, &desk.all_to(ANN).pop().expect("a letter"), "STATUS");
        desk.last_to(ANN).says("nobody won (annulled)");
        assert!(desk.verify(&game_match.id).is_sound());
        ask(&desk, &format!("GM MATCH {} ROLLBACK 1 again", game_match.id));
        assert!(desk.verify(&game_match.id).is_sound());
    }
}
