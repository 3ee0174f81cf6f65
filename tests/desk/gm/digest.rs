//! The GM's digest: its contents, their order, and what it hides from a GM who plays.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use fogpost::game::any::GameKind;
use fogpost::referee::{Match, Stage};

use crate::events;
use crate::links::{follow, follow_with, link, links};
use crate::referee::{ANN, BO, GM, Referee, Sent, absence_note};
use crate::screen::Browser;

const KIM: &str = "kim@club.example";

fn gm_at_hour(hour: u32) -> String {
    format!("[club.gm]\nname = \"The GM\"\naddress = \"gm@club.example\"\ndigest_hour = {hour}\n")
}

/// The latest digest to this GM since the last call.
#[track_caller]
fn latest_digest(referee: &Referee, gm: &str) -> Sent {
    let sent = referee.sent_to(gm);
    let mut digests = sent.into_iter().filter(|sent| sent.subject.starts_with("The day at"));
    digests.next_back().expect("a digest")
}

#[test]
fn who_is_late_stands_in_the_digest_with_the_end_of_their_grace() {
    let referee = Referee::with_gms(&gm_at_hour(22));
    referee.open(GameKind::Quad, &[]);
    referee.advance(7 * 24 + 10);
    let digest = latest_digest(&referee, GM);
    // A link that a line end cuts is no link.
    assert!(
        digest.html.contains("body=GM%20LATE%20EXTEND") && !digest.html.contains(":GM%20"),
        "{}",
        digest.html
    );
    digest
        .says("Late now: 1")
        .says("Due Thu 14 May, 20:00 CEST, orders still count until Fri 15 May, 08:00 CEST: Ann in");
}

#[test]
fn the_digest_counts_all_that_are_late_and_names_those_that_have_become_so() {
    let referee = Referee::with("grace_hours = 96\n");
    let first = referee.open(GameKind::Quad, &[]);
    referee.advance(24);
    let second = referee.open(GameKind::Quad, &[]);
    for _ in 0..8 {
        referee.advance(24);
    }
    let digests = referee.all_to(GM);
    let late: Vec<&Sent> = digests.iter().filter(|sent| sent.text.contains("Late now")).collect();
    let [one, two] = late[..] else { panic!("two digests: {late:#?}") };
    one.says("Late now: 1").says(&first.id);
    two.says("Late now: 2").says(&second.id).says("and 1 more");
}

#[test]
fn missed_turns_are_told_whether_made_good_or_not() {
    for makes_good in [false, true] {
        let referee = Referee::with_gms(&gm_at_hour(12));
        let game_match = referee.open(GameKind::Quad, &[]);
        // The grace ends on 15 May at 08:00 in Berlin.
        referee.advance(7 * 24 + 22);
        if makes_good {
            referee.reply(ANN, &referee.sent_to(ANN)[0], "MARBLE E5");
        }
        referee.advance(4);
        let digest = latest_digest(&referee, GM);
        digest.says("Missed turns: 1").says(&format!("Ann, turn 1 of {}", game_match.id));
        match makes_good {
            true => digest.says("the orders came on Fri 15 May, 10:00 CEST"),
            false => digest.keeps_silent_of("the orders came"),
        };
    }
}

#[test]
fn matches_that_began_or_ended_newcomers_and_absences_stand_in_the_digest() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.reply(ANN, &referee.sent_to(ANN)[0], "ABSENT 2026-06-01 TO 2026-06-05");
    referee.advance(24);
    latest_digest(&referee, GM)
        .says("New matches: 1")
        .says(&game_match.id)
        .says("Newcomers: 2")
        .says("Bo, bo@players.example")
        .says("Absences announced: 1")
        .says(&format!("Ann, Mon 1 Jun to Fri 5 Jun, in {}", game_match.id));
    referee.reply(ANN, &referee.sent_to(ANN)[0], "RESIGN CONFIRM");
    referee.advance(24);
    latest_digest(&referee, GM)
        .says("Finished matches: 1")
        .says(&format!("{}, Bo won, by resignation", game_match.id))
        .keeps_silent_of("Newcomers");
}

#[test]
fn an_annulled_match_is_one_line_of_the_digest_also_days_after_its_end() {
    for ended_before in [false, true] {
        let referee = Referee::new();
        let game_match = referee.open(GameKind::Quad, &[]);
        if ended_before {
            referee.reply(ANN, &referee.sent_to(ANN)[0], "RESIGN CONFIRM");
        }
        referee.advance(24);
        let digest = latest_digest(&referee, GM);
        referee.reply(GM, &digest, &format!("GM MATCH {} ANNUL One person held both seats.", game_match.id));
        referee.advance(24);
        latest_digest(&referee, GM)
            .says("Finished matches: 1")
            .says(&format!("{}, nobody won, annulled", game_match.id));
    }
}

#[test]
fn decisions_and_words_come_before_everything_else() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    referee.reply(ANN, &to_ann, "Thank you, what a nice board this is.");
    referee.reply(ANN, &to_ann, "PROTEST It is not fair.\nEND");
    referee.advance(24);
    let digest = latest_digest(&referee, GM);
    let titles = ["Waiting for your decision: 1", "Words from players: 1", "New matches: 1", "Newcomers: 2"];
    let places =
        titles.map(|title| digest.text.find(title).unwrap_or_else(|| panic!("{title}\n{}", digest.text)));
    assert!(places.is_sorted(), "{places:?} in:\n{}", digest.text);
}

/// Opens a match that waits for a decision, because Ann has filed nothing.
fn overdue(referee: &Referee) -> Match {
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.advance(16 * 24);
    game_match
}

#[test]
fn each_link_of_a_digest_sends_a_command_that_can_be_carried_out() {
    let referee = Referee::new();
    let late = overdue(&referee);
    let protested = referee.open(GameKind::QuadrantZ, &[]);
    let to_ann = referee.last_to(ANN);
    referee.reply(ANN, &to_ann, "PROTEST It is [not](http://evil.example) fair.\nEND");
    referee.reply(BO, &referee.last_to(BO), "Dear GM, my mother died [Pause](GM%20MATCH%20PAUSE).");
    referee.receive(
        "Auto-Submitted: auto-replied\nFrom: eve@players.example\nTo: referee@club.example\n\nAway.",
    );
    referee.sent_to(GM);
    referee.reply(GM, &referee.all_to(GM).pop().expect("a letter with the GM's token"), "GM DIGEST");
    let digest = referee.last_to(GM);
    digest.says("protests: It is [not]");
    let found = links(&digest);
    let labels: Vec<&str> = found.iter().map(|(label, _)| label.as_str()).collect();
    assert_eq!(
        labels,
        [
            "Resume",
            "Write to both",
            "Extend 3 days",
            "Pause",
            "Write to both",
            "Write back",
            "Accept this letter"
        ]
    );
    for (label, target) in &found {
        follow_with(&referee, GM, target, if label.starts_with("Write") { "Please wait." } else { "" });
        let done = if label == "Accept this letter" { "I rule on the letter" } else { "Done." };
        referee.one_to(GM).says(done);
    }
    assert_eq!(referee.find(&protested.id).stage, Stage::Running);
    assert_eq!(referee.find(&late.id).stage, Stage::Paused);
}

#[test]
fn what_is_said_to_the_gm_waits_on_the_desk_and_in_the_digest() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.reply(ANN, &referee.one_to(ANN), "TELL GM May I play from my phone?\nEND");
    referee.reply(BO, &referee.last_to(BO), "SUBSTITUTE");
    let browser = Browser::of_gm(&referee);
    browser.get("/").says("Two things wait").says("Ann wrote to you about").says("Bo wrote to you about");
    referee.sent_to(GM);
    referee.reply(GM, &referee.all_to(GM).pop().expect("a letter with the GM's token"), "GM DIGEST");
    let digest = referee.last_to(GM);
    digest.says("Words from players: 2").says("May I play from my phone?").says("SUBSTITUTE");
    let to_ann = |target: &str| target.contains(&format!("{} TELL first", game_match.id));
    let answer = links(&digest).into_iter().find(|(label, target)| label == "Write back" && to_ann(target));
    referee.advance(1);
    follow_with(&referee, GM, &answer.expect("a link").1, "Yes, of course.");
    referee.last_to(ANN).says("Yes, of course.");
    browser.get("/").says("Nothing waits for you");
}

#[test]
fn an_event_is_begun_by_a_link_of_the_digest() {
    let referee = events::club("");
    events::announced(&referee, events::LEAGUE, &[ANN, BO]);
    referee.reply(GM, &referee.all_to(GM).pop().expect("a letter with the GM's token"), "GM DIGEST");
    let digest = referee.last_to(GM);
    digest.says("Events to begin: 1").says("2 are in, and it needs 3");
    assert_eq!(link(&digest, "Begin now"), None);
    events::gm(&referee, "GM EVENT EV-SPRING ENTER Cy asked");
    referee.reply(GM, &referee.all_to(GM).pop().expect("a letter with the GM's token"), "GM DIGEST");
    let begin = link(&referee.last_to(GM), "Begin now").expect("a link");
    follow(&referee, GM, &begin);
    assert_eq!(events::event(&referee, "EV-SPRING").seasons.len(), 1);
    // Tapped twice, it acts once.
    follow(&referee, GM, &begin);
    referee.last_to(GM).says("EV-SPRING runs already");
    assert_eq!(events::event(&referee, "EV-SPRING").seasons.len(), 1);
}

#[test]
fn a_link_of_an_old_digest_does_nothing_to_the_next_turn() {
    let referee = Referee::new();
    let game_match = overdue(&referee);
    let digest = latest_digest(&referee, GM);
    let extend = link(&digest, "Extend 3 days").expect("a link");
    referee.reply(ANN, &referee.last_to(ANN), "MARBLE E5");
    let deadline = referee.find(&game_match.id).deadline;
    referee.sent_to(GM);
    follow(&referee, GM, &extend);
    referee.one_to(GM).says("turn 2");
    assert_eq!(referee.find(&game_match.id).deadline, deadline);
}

#[test]
fn the_digest_of_a_gm_who_plays_holds_nothing_that_comes_from_the_other_seat() {
    let referee = Referee::with_gms(
        "[[club.gm]]\nname = \"Kim\"\naddress = \"kim@club.example\"\n\
         [[club.gm]]\nname = \"Bo\"\naddress = \"bo@players.example\"\n",
    );
    let game_match = referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    referee.reply(ANN, &to_ann, "MARBLE A1");
    referee.reply(ANN, &to_ann, "I like this board very much.");
    referee.receive(&absence_note(ANN, &to_ann));
    referee.advance(24);
    let (to_kim, to_bo) = (latest_digest(&referee, KIM), latest_digest(&referee, BO));
    to_kim
        .says(&format!("{}: 1", game_match.id))
        .says("Ann (first in ")
        .says("I like this board")
        .says("Letters that may go unread: 1")
        .says("Ann: may be away");
    to_bo
        .says("New matches: 1")
        .keeps_silent_of("Orders refused")
        .keeps_silent_of("I like this board")
        .keeps_silent_of("may be away")
        .keeps_silent_of("letter ");
    // So do the lists and the answers for Bo, also about a match that Ann plays against somebody else.
    referee.reply(KIM, &to_kim, &format!("GM NEW quad {ANN} cy@players.example"));
    let other = referee.last_to(ANN);
    referee.receive(&absence_note(ANN, &other));
    referee.sent_to(KIM);
    for (gm, to_gm, marks) in [(KIM, to_kim, 3), (BO, to_bo, 0)] {
        referee.reply(gm, &to_gm, &format!("GM MATCH {} EXTEND 1\nGM LIST", game_match.id));
        let answer = referee.sent_to(gm).into_iter().find(|sent| sent.text.contains("GM LIST"));
        let text = answer.expect("an answer").text;
        assert_eq!(text.matches("Ann may be away").count(), marks, "{gm}: {text}");
    }
}

#[test]
fn the_digest_tells_how_much_of_the_limit_is_used_and_what_waits() {
    let referee = Referee::with("[outbox]\nper_day = 10\n[outbox.maildir]\npath = \"mail\"\n");
    for _ in 0..6 {
        referee.open(GameKind::Quad, &[]);
    }
    // Part of the daily limit is reserved for alarms, so the digest itself is sent a day after the
    // invitations.
    referee.advance(28);
    latest_digest(&referee, GM).says(
        "9 letters were sent in the last 24 hours, of 10 that your limit allows; 3 letters wait to be sent.",
    );
}

/// A sendmail that delivers to the desk's Maildirs, but only once the file OPEN exists.
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
    let referee = Referee::with(&format!("[outbox.sendmail]\ncommand = \"{}\"\n", program.display()));
    let mail = referee.folder().join("mail").display().to_string();
    let busy = BUSY.replace("MAIL", &mail).replace("OPEN", &open.display().to_string());
    fs::write(&program, busy).expect("the command");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is executable");
    referee.open(GameKind::Quad, &[]);
    // The digest is written at eight in the morning.
    referee.advance(22);
    fs::write(open, "").expect("a file");
    referee.advance(4);
    // The third letter tells the GM of the other two.
    latest_digest(&referee, GM).says("0 letters were sent in the last 24 hours; 3 letters wait to be sent.");
    referee.open(GameKind::Quad, &[]);
    referee.advance(24);
    latest_digest(&referee, GM).says("New matches: 1").keeps_silent_of("to be sent");
}

/// The digests among letters to a GM.
fn digests(sent: &[Sent]) -> Vec<&Sent> {
    sent.iter().filter(|sent| sent.subject.starts_with("The day at")).collect()
}

#[test]
fn a_missed_turn_stands_in_one_digest_at_the_default_hours() {
    for game in [GameKind::Quad, GameKind::QuadrantZ] {
        let referee = Referee::new();
        let game_match = referee.open(game, &[]);
        referee.advance(40 * 24);
        let sent = referee.sent_to(GM);
        for turn in ["turn 1 of", "turn 2 of", "has not filed turn 1", "have not filed the setup"] {
            let told = digests(&sent).iter().filter(|digest| digest.text.contains(turn)).count();
            assert!(told <= 1, "{game}: {turn} {} stands in {told} digests", game_match.id);
        }
        assert!(
            digests(&sent).iter().any(|digest| digest.text.contains("not filed")),
            "{game}: the GM is asked"
        );
    }
}

#[test]
fn no_line_of_a_digest_comes_twice() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    referee.open(GameKind::Pacific, &[]);
    referee.reply(ANN, &referee.sent_to(ANN)[0], "Thank you for the game.");
    referee.write("eve@elsewhere.example", "Dear organisers, how does one join this club, please?");
    referee.advance(45 * 24);
    let sent = referee.sent_to(GM);
    let mut lines: Vec<&str> = digests(&sent).iter().flat_map(|digest| digest.text.lines()).collect();
    lines.retain(|line| line.starts_with("- ") || line.starts_with("Still waiting"));
    let all = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), all, "{lines:#?}");
}

#[test]
fn the_news_of_one_person_is_one_line() {
    let referee = Referee::new();
    let (one, two) = (referee.open(GameKind::Quad, &[]), referee.open(GameKind::Quad, &[]));
    let letters = referee.sent_to(ANN);
    for letter in &letters {
        let note = referee.answer(ANN, letter, "I am away until Monday.");
        referee.receive(&format!("Auto-Submitted: auto-replied\n{note}"));
        referee.receive(&format!(
            "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example\nTo: referee@club.example\nSubject: Undelivered\n\
             Auto-Submitted: auto-replied\nIn-Reply-To: <{}>\nContent-Type: text/plain\n\n<{ANN}>: mailbox full\n",
            letter.message_id
        ));
    }
    referee.advance(24);
    let digest = latest_digest(&referee, GM);
    let names_her = |line: &&str| line.starts_with("- ") && line.contains("Ann");
    let lines: Vec<&str> = digest.text.lines().filter(names_her).collect();
    assert_eq!(lines.len(), 1, "{}", digest.text);
    digest.says(&one.id).says(&two.id).keeps_silent_of("MAILER-DAEMON").keeps_silent_of("mailer-daemon");
}

#[test]
fn words_name_their_match_and_a_death_comes_before_thanks() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    let thanks = format!("Thank you for this lovely game. {}", "I like it very much. ".repeat(20));
    referee.reply(ANN, &to_ann, &thanks);
    referee.reply(ANN, &to_ann, "Thank you once more.");
    referee.reply(BO, &to_bo, "My father died on Sunday.");
    referee.advance(24);
    let digest = latest_digest(&referee, GM);
    let (death, thanks) = (digest.text.find("My father died"), digest.text.find("Thank you"));
    assert!(death.is_some() && death < thanks, "{}", digest.text);
    digest
        .says(&format!("Bo (second in {})", game_match.id))
        .says(&format!("Ann (first in {}), 2 letters", game_match.id));
    let words =
        digest.text.split("Ann (first").nth(1).expect("Ann's words").split("\n\n").next().expect("a line");
    assert!(words.chars().count() < 280, "{words}");
}

#[test]
fn the_doctors_letter_levels_of_the_house_and_ends_are_no_news_of_their_own() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.advance(24);
    referee.sent_to(GM);
    referee.reply(ANN, &referee.sent_to(ANN)[0], "CHALLENGE house:easy quad");
    referee.receive(
        "From: <referee@club.example>\nTo: <referee@club.example>\nSubject: fogpost doctor: does mail arrive?\n\
         Message-ID: <doctor.0123@fogpost.club.example>\nAuto-Submitted: auto-generated\n\nA test.\n",
    );
    let to_ann = referee.all_to(ANN).remove(0);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    assert!(referee.sent_to(GM).is_empty(), "the digest tells of the end");
    referee.advance(24);
    let digest = referee.one_to(GM);
    digest.says("Finished matches: 1").says(&game_match.id).says("New matches: 1");
    digest
        .keeps_silent_of("Newcomers")
        .keeps_silent_of("automatic mail")
        .keeps_silent_of("referee@club.example:");
}

#[test]
fn a_quiet_day_takes_40_words_and_a_busy_one_300() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.advance(24);
    referee.sent_to(GM);
    referee.reply(ANN, &referee.sent_to(ANN)[0], "RESIGN CONFIRM");
    referee.advance(24);
    let quiet = latest_digest(&referee, GM);
    quiet.says(&game_match.id);
    let words = quiet.text.split_whitespace().count();
    assert!(words <= 40, "{words} words:\n{}", quiet.text);
    let matches: Vec<Match> = (0..30).map(|_| referee.open(GameKind::Quad, &[])).collect();
    let (to_ann, to_bo) = (referee.sent_to(ANN), referee.sent_to(BO));
    let letters =
        to_ann.iter().filter(|sent| matches.iter().any(|game_match| sent.text.contains(&game_match.id)));
    let letters: Vec<&Sent> = letters.collect();
    for (number, letter) in letters.iter().enumerate() {
        match number % 5 {
            0 => referee.reply(ANN, letter, "PROTEST I was away."),
            1 => referee.reply(ANN, letter, "RESIGN CONFIRM"),
            2 => referee.reply(ANN, letter, "MARBLE A1"),
            3 => referee.reply(ANN, letter, "Thank you for the game, which I like very much."),
            _ => {}
        }
    }
    for number in 0..12 {
        referee
            .write(&format!("cy{number}@elsewhere.example"), "Dear organisers, how does one join this club?");
        referee.reply(&format!("di{number}@elsewhere.example"), letters[4], "MARBLE E5");
    }
    referee.reply(BO, &to_bo[to_bo.len() - 1], "My father died on Sunday, so I cannot play.");
    referee.advance(24);
    let busy = latest_digest(&referee, GM);
    let (told, _) = busy.text.split_once("Their words in full").expect("words in full");
    let quoted =
        ["Thank you for the game, which I like very much.", "Dear organisers, how does one join this club?"];
    let quotes: usize =
        quoted.iter().map(|text| told.matches(&text[..10]).count() * text.split(' ').count()).sum();
    let words = told.split_whitespace().count() - quotes;
    assert!(words <= 300, "{words} words:\n{}", busy.text);
    busy.says("Waiting for your decision: 6").says("My father died");
}

#[test]
fn a_strangers_words_stand_in_full_below_everything_else() {
    let referee = Referee::new();
    for (name, text) in [
        ("karen", "My daughter is 13. {} I want to speak to a person, today."),
        ("petra", "Meine Tochter ist 13. {} Ich möchte heute mit einem Menschen sprechen."),
        ("paule", "Ma fille a 13 ans. {} Je veux parler à quelqu'un, aujourd'hui."),
    ] {
        let text = text.replace("{}", &"She writes letters to grown men through your club. ".repeat(6));
        referee.write(&format!("{name}@holt.example"), &format!("Dear all,\n\n{text}\n\nKind regards"));
    }
    referee.advance(24);
    let digest = latest_digest(&referee, GM);
    let flat = digest.text.split_whitespace().filter(|word| *word != ">").collect::<Vec<_>>().join(" ");
    for end in ["speak to a person, today.", "mit einem Menschen sprechen.", "quelqu'un, aujourd'hui."] {
        assert!(flat.contains(end), "{end}:\n{}", digest.text);
    }
}
