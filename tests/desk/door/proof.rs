//! Authenticity, bounces and absence notes.

use chrono::TimeDelta;
use fogpost::game::any::GameKind;
use fogpost::referee::Stage;
use fogpost::store::LetterStatus;

use crate::positions;
use crate::referee::{ANN, BO, GM, REFEREE, Referee, Sent};

const SIGNED: &str = "[letters]\nrequire_dkim = true\ntrusted_authserv_id = \"mx.club.example\"\n\
                      authserv_marks_every_letter = true\n";
const RECEIVED: &str = "Received: from x by mx.club.example\n";
const PASSED: &str = "Authentication-Results: mx.club.example; dkim=pass header.d=players.example\n";
const FAILED: &str = "Authentication-Results: mx.club.example; dkim=fail header.d=players.example\n";
const FORGED: &str = "Authentication-Results: mx.evil.example; dkim=pass header.d=players.example\n";

#[test]
fn where_signatures_are_required_an_unsigned_letter_has_no_effect() {
    let referee = Referee::with(SIGNED);
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    let marks = [
        format!("{FAILED}{RECEIVED}"),
        format!("{FORGED}{RECEIVED}"),
        RECEIVED.to_owned(),
        String::new(),
        // The sender wrote any field below our own server's Received. Without that Received, our server did
        // not add the field either.
        format!("{RECEIVED}{PASSED}"),
        PASSED.to_owned(),
        // Programs disagree on where such a header ends.
        format!("{PASSED}{RECEIVED}no field\n"),
    ];
    for (n, mark) in marks.iter().enumerate() {
        let letter = referee.answer(ANN, &invitation, "MARBLE E5").replace("0@", &format!("0{n}@"));
        referee.receive(&format!("{mark}{letter}"));
        assert_eq!(referee.last_status(), LetterStatus::Ignored, "{mark}");
    }
    referee.one_to(ANN).says("I could not verify that you sent it").says("> MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    referee.receive(&format!("{PASSED}{RECEIVED}{}", referee.answer(ANN, &invitation, "MARBLE E5")));
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn a_confirmation_counts_in_answer_to_any_of_our_letters() {
    let referee = Referee::with(SIGNED);
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    let unsigned = |body: &str| format!("{FAILED}{RECEIVED}{}", referee.answer(ANN, &invitation, body));
    referee.receive(&unsigned("MARBLE E5"));
    let notice = referee.one_to(ANN);
    let code = notice.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM ")).expect("a code");
    // A code that is not one of ours waits for a proof like any other line.
    referee.receive(&unsigned("CONFIRM 2222222222"));
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
    referee.receive(&unsigned(&format!("CONFIRM {code}")));
    let letters = referee.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("You confirmed 2 letters")), "{letters:#?}");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    // The code of a question about a command proves its reader just as well.
    referee.receive(&unsigned("ADDRESS ann@new.example"));
    let notice = referee.one_to(ANN);
    let code = notice.text.lines().find_map(|line| line.trim().strip_prefix("| DENY ")).expect("a code");
    referee.receive(&unsigned(&format!("DENY {code}")));
    referee.last_to(ANN).says("The letters are discarded");
}

#[test]
fn a_server_that_does_not_mark_every_letter_proves_nothing() {
    let referee =
        Referee::with("[letters]\nrequire_dkim = true\ntrusted_authserv_id = \"mx.club.example\"\n");
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.receive(&format!("{PASSED}{RECEIVED}{}", referee.answer(ANN, &invitation, "MARBLE E5")));
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
}

#[test]
fn the_gms_letters_need_a_signature_too() {
    let referee = Referee::with(SIGNED);
    referee.write(GM, "GM PLAYER ADD cy@players.example");
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
    referee.one_to(GM).says("A letter came in your name").says("Nothing was done");
    referee.write(GM, "GM PLAYER ADD cy@players.example Cy");
    assert!(referee.sent_to(GM).is_empty(), "once a day");
    referee.receive(&format!(
        "Authentication-Results: mx.club.example; dkim=pass header.d=club.example\n{RECEIVED}From: {GM}\nTo: {REFEREE}\n\
         Message-ID: <g@club.test>\n\nGM LIST\n"
    ));
    referee.one_to(GM).says("without the GM's reply token");
}

#[test]
fn an_unverified_stranger_gets_the_manual_and_cannot_make_offers() {
    let referee = Referee::with(SIGNED);
    referee.write(ANN, &format!("CHALLENGE {BO} Quad"));
    referee.one_to(ANN).says("I could not verify that the letter came from your address");
    assert!(referee.sent_to(BO).is_empty());
    referee.write(ANN, "HELP");
    referee.one_to(ANN).says("How to play by letter");
}

/// A mail server's report that it could not deliver a letter of the referee.
fn bounce(of: &Sent, to: &str, n: u32) -> String {
    format!(
        "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example\nTo: {REFEREE}\nSubject: Undelivered Mail Returned to Sender\n\
         Message-ID: <b{n}@mx.example>\nAuto-Submitted: auto-replied\nMIME-Version: 1.0\n\
         Content-Type: multipart/report; report-type=delivery-status; boundary=b\n\n\
         --b\nContent-Type: text/plain\n\nI could not deliver your message.\n\
         --b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; mx.example\n\n\
         Final-Recipient: rfc822; {to}\nAction: failed\nStatus: 5.1.1\n\
         --b\nContent-Type: text/rfc822-headers\n\nMessage-ID: <{}>\nTo: {to}\nSubject: {}\n--b--\n",
        of.message_id, of.subject
    )
}

fn count_of(referee: &Referee, match_id: &str, kind: &str) -> usize {
    let entries = referee.block_on(referee.office().store.entries(match_id)).expect("the store answers");
    entries.iter().filter(|entry| entry.kind == kind).count()
}

#[test]
fn bounces_of_one_letter_move_a_deadline_once_by_the_grace() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.one_to(BO);
    referee.advance(1);
    referee.receive(&bounce(&invitation, ANN, 1));
    referee.receive(&bounce(&invitation, ANN, 2));
    let marked = referee.find(&game_match.id);
    assert!(marked.bouncing.first && !marked.bouncing.second);
    assert_eq!(count_of(&referee, &game_match.id, "MailReturned"), 1, "counted once");
    assert_eq!(marked.deadline, game_match.deadline.map(|deadline| deadline + TimeDelta::hours(12)));
    referee.one_to(BO).says("A letter to Ann could not be delivered. The deadline has moved to");
    // Forging a bounce of one's own letter gains these hours, but no more.
    referee.advance(8 * 24 + 12);
    let after = referee.find(&game_match.id);
    assert_eq!((after.missed.first, after.asked_gm), (1, false));
    let digest = referee.sent_to(GM).into_iter().find(|sent| sent.text.contains("Ann: mail comes back"));
    digest.expect("the digest says so");
}

#[test]
fn a_bounce_that_returns_our_letter_counts_whatever_address_it_names() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.advance(1);
    // It only mentions the letter, as an answer to it does.
    let mentions =
        bounce(&invitation, "someone@else.example", 1).replace("\nMessage-ID: <", "\nIn-Reply-To: <");
    referee.receive(&mentions);
    let unmarked = referee.find(&game_match.id);
    assert!(!unmarked.bouncing.first);
    assert_eq!(unmarked.deadline, game_match.deadline);
    // A host forwarded the letter.
    referee.receive(&bounce(&invitation, "ann-home@else.example", 2));
    let marked = referee.find(&game_match.id);
    assert!(marked.bouncing.first && !marked.bouncing.second);
    assert_eq!(marked.deadline, game_match.deadline.map(|deadline| deadline + TimeDelta::hours(12)));
}

#[test]
fn no_deadline_is_enforced_on_a_seat_of_which_two_letters_bounce() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.advance(1);
    referee.receive(&bounce(&invitation, ANN, 1));
    // The reminder is sent two days before the deadline.
    referee.advance(6 * 24);
    let reminder = referee.last_to(ANN);
    referee.receive(&bounce(&reminder, ANN, 2));
    assert_eq!(count_of(&referee, &game_match.id, "MailReturned"), 2);
    assert_eq!(count_of(&referee, &game_match.id, "DeadlineExtended"), 1);
    referee.advance(2 * 24 + 12);
    let after = referee.find(&game_match.id);
    assert_eq!((after.missed.first, after.asked_gm), (0, true));
    let letters = referee.sent_to(GM);
    let asked = letters
        .iter()
        .find(|sent| sent.text.contains("nothing is enforced until"))
        .expect("a question to the GM");
    asked.says("our letters bounce");

    referee.reply(
        GM,
        asked,
        &format!("GM PLAYER BOUNCE-CLEAR {ANN}\nGM MATCH {} EXTEND 4 days", game_match.id),
    );
    let cleared = referee.find(&game_match.id);
    assert!(!cleared.bouncing.first && !cleared.asked_gm);
    let ann = referee.block_on(referee.office().store.player_by_address(ANN)).expect("the store answers");
    assert!(!ann.expect("a player").bouncing);
    // Another bounce of a letter that bounced before changes nothing, and one of a later letter moves nothing again.
    referee.receive(&bounce(&invitation, ANN, 3));
    assert!(!referee.find(&game_match.id).bouncing.first);
    let extension = referee.last_to(ANN);
    referee.receive(&bounce(&extension, ANN, 4));
    let again = referee.find(&game_match.id);
    assert!(again.bouncing.first);
    assert_eq!(again.deadline, cleared.deadline);
}

#[test]
fn an_absence_note_marks_a_seat_until_its_player_writes() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.receive(&format!(
        "From: {ANN}\nTo: {REFEREE}\nSubject: Out of office: {}\nMessage-ID: <away@players.example>\n\
         In-Reply-To: <{}>\nAuto-Submitted: auto-replied\n\nI am out of the office until Monday.\n",
        invitation.subject, invitation.message_id
    ));
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    let away = referee.find(&game_match.id);
    assert!(away.away.first && !away.bouncing.first);
    referee.reply(ANN, &invitation, "STATUS");
    assert!(!referee.find(&game_match.id).away.first);
}

#[test]
fn the_same_text_gets_the_same_answer_three_times_in_a_row() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    for _ in 0..3 {
        referee.reply(ANN, &invitation, "STATUS");
        referee.one_to(ANN).says("Quad, Ann");
    }
    referee.reply(ANN, &invitation, "STATUS");
    assert!(referee.sent_to(ANN).is_empty(), "the fourth comes an hour later");
    referee.reply(ANN, &invitation, "GAMES");
    referee.one_to(ANN);
    referee.reply(ANN, &invitation, "STATUS");
    referee.one_to(ANN).says("Quad, Ann");
    referee.advance(2);
}

/// A letter with a seat's token that names neither a turn nor a letter that it answers.
fn without_thread(from: &str, token: &str, body: &str, n: u32) -> String {
    format!(
        "From: {from}\nTo: {REFEREE}\nSubject: my orders\nMessage-ID: <w{n}@players.example>\n\n{body}\n\n\
         > Reply token: {token}\n"
    )
}

#[test]
fn orders_of_an_earlier_turn_are_asked_about_if_nothing_tells_their_turn() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = positions::quadrant_z(&referee);
    referee.receive(&without_thread(ANN, to_ann.token(), "SHIP 1 G1 TO L1", 1));
    assert!(
        referee.find(&game_match.id).filed.first.is_some(),
        "the token is enough for orders that are new"
    );
    referee.reply(BO, &to_bo, "HOLD");
    referee.sent_to(ANN);
    let report = referee.last_to(BO);
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(2));

    // Somebody sends Bo's letter of turn 1 again, without its subject and thread.
    referee.receive(&without_thread(BO, to_bo.token(), "hold", 2));
    referee.one_to(BO).says("You sent the same orders for turn 1").says("TURN 2");
    assert!(referee.find(&game_match.id).filed.second.is_none());
    // With the turn, or in the thread, the same orders are accepted.
    referee.receive(&without_thread(BO, to_bo.token(), "TURN 2\nHOLD\nWAIT", 3));
    referee.one_to(BO).says("Your orders are sealed");
    let filed = referee.find(&game_match.id).filed.second;
    referee.receive(&without_thread(BO, to_bo.token(), "HOLD", 4));
    referee.one_to(BO).says("You sent the same orders for turn 1");
    assert_eq!(referee.find(&game_match.id).filed.second, filed, "what is filed stands");
    referee.reply(BO, &report, "HOLD");
    referee.one_to(BO).says("Your new orders are sealed");
}

const REPORTED: &str =
    "[letters]\ntrusted_authserv_id = \"mx.club.example\"\nauthserv_marks_every_letter = true\n";

#[test]
fn an_address_whose_last_five_letters_were_signed_is_expected_to_sign() {
    let referee = Referee::with(REPORTED);
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    let unsigned = |body: &str| format!("{FAILED}{RECEIVED}{}", referee.answer(ANN, &invitation, body));
    let signed = |body: &str| format!("{PASSED}{RECEIVED}{}", referee.answer(ANN, &invitation, body));
    // Four signed letters are not a habit, and an unsigned one restarts the count.
    for question in ["STATUS", "GAMES", "HELP", "MATCHES"] {
        referee.receive(&signed(question));
    }
    referee.receive(&unsigned("HISTORY"));
    assert_eq!(referee.last_status(), LetterStatus::Ruled);
    for question in ["STATUS", "GAMES", "HELP", "MATCHES", "REPORT"] {
        referee.receive(&signed(question));
    }
    referee.sent_to(ANN);
    // Forging many letters does not end the habit.
    for n in 0..6 {
        referee.receive(&unsigned(&format!("MARBLE E5 # {n}")));
        assert_eq!(referee.last_status(), LetterStatus::Ignored);
    }
    let notice = referee.one_to(ANN);
    notice.says("I could not verify that you sent it").says("> MARBLE E5");
    assert!(referee.find(&game_match.id).adjudicated.is_empty());
    referee.receive(&signed("STATUS"));
    referee.one_to(ANN).says("Quad, Ann");

    // Ann's provider has stopped signing: her word on one letter is enough for the next.
    let code = notice.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM ")).expect("a code");
    let confirmed = referee.answer(ANN, &notice, &format!("CONFIRM {code}"));
    referee.receive(&format!("{FAILED}{RECEIVED}{confirmed}"));
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.sent_to(ANN);
    referee.receive(&unsigned("STATUS"));
    referee.one_to(ANN).says("Quad, Ann");
}

#[test]
fn the_verdict_on_a_signature_stands_in_the_ledger() {
    let referee = Referee::with(REPORTED);
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.receive(&format!("{PASSED}{RECEIVED}{}", referee.answer(ANN, &invitation, "STATUS")));
    referee.receive(&format!("{FAILED}{RECEIVED}{}", referee.answer(ANN, &invitation, "HISTORY")));
    referee.receive(&format!("{RECEIVED}{}", referee.answer(ANN, &invitation, "MARBLE E5")));
    let entries =
        referee.block_on(referee.office().store.entries(&game_match.id)).expect("the store answers");
    let verdicts = |text: &str| entries.iter().filter(|entry| entry.json.contains(text)).count();
    assert_eq!((verdicts("\"dkim\":\"passed\""), verdicts("\"dkim\":\"missing\"")), (1, 1));
    assert_eq!(verdicts("\"dkim\""), 2, "where nothing is known, nothing is noted");
}

#[test]
fn a_gm_who_signs_is_expected_to_sign_commands() {
    let referee = Referee::with(REPORTED);
    let game_match = referee.open(GameKind::Quad, &[]);
    let passed = PASSED.replace("players.example", "club.example");
    referee.write(GM, "GM LIST");
    let to_gm = referee.one_to(GM);
    for _ in 0..5 {
        referee.receive(&format!("{passed}{RECEIVED}{}", referee.answer(GM, &to_gm, "GM LIST")));
    }
    referee.sent_to(GM);
    let pause = format!("GM MATCH {} PAUSE a reason", game_match.id);
    referee.receive(&format!("{FAILED}{RECEIVED}{}", referee.answer(GM, &to_gm, &pause)));
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
    referee.one_to(GM).says("A letter came in your name");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    referee.receive(&format!("{passed}{RECEIVED}{}", referee.answer(GM, &to_gm, &pause)));
    assert_eq!(referee.find(&game_match.id).stage, Stage::Paused);
    // The fourth answer to the same text comes an hour later.
    referee.advance(2);
}

#[test]
fn a_gms_unsigned_question_is_answered() {
    let referee = Referee::with(REPORTED);
    let game_match = referee.open(GameKind::Quad, &[]);
    let passed = PASSED.replace("players.example", "club.example");
    referee.write(GM, "GM LIST");
    let to_gm = referee.one_to(GM);
    for command in ["GM LIST", "GM LIST all", "GM LIST late", "GM LIST paused", "GM LIST running"] {
        referee.receive(&format!("{passed}{RECEIVED}{}", referee.answer(GM, &to_gm, command)));
    }
    referee.sent_to(GM);
    referee.receive(&format!("{FAILED}{RECEIVED}{}", referee.answer(GM, &to_gm, "GM LIST all\nMATCHES")));
    referee.one_to(GM).says(&game_match.id);
    // In the same letter as a command, the question waits, too.
    let mixed = format!("GM LIST all\nGM MATCH {} PAUSE a reason", game_match.id);
    referee.receive(&format!("{FAILED}{RECEIVED}{}", referee.answer(GM, &to_gm, &mixed)));
    referee.one_to(GM).says("A letter came in your name");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
}
