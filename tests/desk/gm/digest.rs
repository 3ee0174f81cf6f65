//! The GM's digest: what it tells, in which order, and what it hides from a GM who plays.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use fogpost::game::any::GameKind;

use crate::desk::{ANN, BO, Desk, GM, Sent};

const KIM: &str = "kim@club.example";

fn gm_at_hour(hour: u32) -> String {
    format!("[club.gm]\nname = \"The GM\"\naddress = \"gm@club.example\"\ndigest_hour = {hour}\n")
}

/// The latest digest to this GM since the last call.
#[track_caller]
fn latest_digest(desk: &Desk, gm: &str) -> Sent {
    let sent = desk.sent_to(gm);
    let mut digests = sent.into_iter().filter(|sent| sent.subject.starts_with("The day at"));
    digests.next_back().expect("a digest")
}

#[test]
fn who_is_late_stands_in_the_digest_with_the_end_of_their_grace() {
    let desk = Desk::with_gms(&gm_at_hour(22));
    desk.open(GameKind::Quad, &[]);
    desk.advance(7 * 24 + 10);
    latest_digest(&desk, GM)
        .says("Late now: 1")
        .says("waits for Ann")
        .says("was due Thu 14 May, 20:00 CEST")
        .says("orders still count until Fri 15 May, 08:00 CEST");
}

#[test]
fn missed_turns_are_told_whether_made_good_or_not() {
    for makes_good in [false, true] {
        let desk = Desk::with_gms(&gm_at_hour(12));
        let game_match = desk.open(GameKind::Quad, &[]);
        // The grace ends on 15 May at 08:00 in Berlin.
        desk.advance(7 * 24 + 22);
        if makes_good {
            desk.reply(ANN, &desk.sent_to(ANN)[0], "MARBLE E5");
        }
        desk.advance(4);
        let digest = latest_digest(&desk, GM);
        digest.says("Missed turns: 1").says(&format!("Ann, turn 1 of {}", game_match.id));
        match makes_good {
            true => digest.says("the orders came on Fri 15 May, 10:00 CEST"),
            false => digest.keeps_silent_of("the orders came"),
        };
    }
}

#[test]
fn matches_that_began_or_ended_newcomers_and_absences_stand_in_the_digest() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    desk.reply(ANN, &desk.sent_to(ANN)[0], "ABSENT 2026-06-01 TO 2026-06-05");
    desk.advance(24);
    latest_digest(&desk, GM)
        .says("New matches: 1")
        .says(&format!("{}, Quad: Ann against Bo", game_match.id))
        .says("Newcomers: 2")
        .says("Bo, bo@players.example")
        .says("Absences announced: 1")
        .says(&format!("Ann, Mon 1 Jun to Fri 5 Jun, in {}", game_match.id));
    desk.reply(ANN, &desk.sent_to(ANN)[0], "RESIGN CONFIRM");
    desk.advance(24);
    latest_digest(&desk, GM)
        .says("Finished matches: 1")
        .says("Ann against Bo; Bo won (resigned)")
        .keeps_silent_of("Newcomers");
}

#[test]
fn protests_and_words_come_before_everything_else() {
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[]);
    let to_ann = desk.one_to(ANN);
    desk.reply(ANN, &to_ann, "Thank you, what a nice board this is.");
    desk.reply(ANN, &to_ann, "PROTEST It is not fair.\nEND");
    desk.advance(24);
    let digest = latest_digest(&desk, GM);
    let titles = ["Protests: 1", "Words from players: 1", "New matches: 1", "Newcomers: 2"];
    let places =
        titles.map(|title| digest.text.find(title).unwrap_or_else(|| panic!("{title}\n{}", digest.text)));
    assert!(places.is_sorted(), "{places:?} in:\n{}", digest.text);
}

#[test]
fn the_digest_of_a_gm_who_plays_holds_nothing_that_comes_from_the_other_seat() {
    let desk = Desk::with_gms(
        "[[club.gm]]\nname = \"Kim\"\naddress = \"kim@club.example\"\n\
         [[club.gm]]\nname = \"Bo\"\naddress = \"bo@players.example\"\n",
    );
    let game_match = desk.open(GameKind::Quad, &[]);
    let to_ann = desk.one_to(ANN);
    desk.reply(ANN, &to_ann, "MARBLE A1");
    desk.reply(ANN, &to_ann, "I like this board very much.");
    desk.receive(&format!(
        "Auto-Submitted: auto-replied\n{}",
        desk.answer(ANN, &to_ann, "I am away until Monday.")
    ));
    desk.advance(24);
    latest_digest(&desk, KIM)
        .says(&format!("{}: 1", game_match.id))
        .says("I like this board")
        .says("Taken for automatic mail: 1");
    latest_digest(&desk, BO)
        .says("New matches: 1")
        .keeps_silent_of("Orders refused")
        .keeps_silent_of("I like this board")
        .keeps_silent_of("automatic mail");
}

#[test]
fn the_digest_tells_how_much_of_the_limit_is_used_and_what_waits() {
    let desk = Desk::with("[outbox]\nper_day = 10\n[outbox.maildir]\npath = \"mail\"\n");
    for _ in 0..6 {
        desk.open(GameKind::Quad, &[]);
    }
    // A part of a day's letters is kept for alarms, so the digest itself is sent a day after the invitations.
    desk.advance(28);
    latest_digest(&desk, GM).says(
        "9 letters were sent in the last 24 hours, of 10 that your limit allows; 3 letters wait to be sent.",
    );
}

/// Delivers to the desk's Maildirs, but only once the file OPEN exists.
const BUSY: &str = r#"#!/bin/sh
[ -e OPEN ] || exit 75
box="MAIL/$5"
mkdir -p "$box/new" "$box/cur" "$box/tmp"
cat > "$box/new/$$.$(date +%N)"
"#;

#[test]
fn without_a_limit_the_digest_tells_of_sending_only_if_letters_wait_for_long() {
    let folder = tempfile::tempdir().expect("a folder");
    let (program, open) = (folder.path().join("sendmail"), folder.path().join("open"));
    let desk = Desk::with(&format!("[outbox.sendmail]\ncommand = \"{}\"\n", program.display()));
    let mail = desk.folder().join("mail").display().to_string();
    let busy = BUSY.replace("MAIL", &mail).replace("OPEN", &open.display().to_string());
    fs::write(&program, busy).expect("the command");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is executable");
    desk.open(GameKind::Quad, &[]);
    // The digest is written at eight in the morning.
    desk.advance(22);
    fs::write(open, "").expect("a file");
    desk.advance(4);
    latest_digest(&desk, GM).says("0 letters were sent in the last 24 hours; 2 letters wait to be sent.");
    desk.open(GameKind::Quad, &[]);
    desk.advance(24);
    latest_digest(&desk, GM).says("New matches: 1").keeps_silent_of("to be sent");
}
