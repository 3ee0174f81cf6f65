//! One letter in place of two: receipt and report in one, and the links that answer a letter.

use fogpost::game::any::GameKind;

use crate::links::{follow, link};
use crate::positions::{kinds, quad, quadrant_z};
use crate::referee::{ANN, BO, GM, Referee};

#[test]
fn a_filing_that_completes_the_phase_is_answered_by_receipt_and_report_in_one() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "HOLD");
    referee.one_to(ANN).says("Your orders are sealed").keeps_silent_of("What happened");
    referee.reply(BO, &to_bo, "HOLD\nthank you\nTELL good luck\nEND");
    let both = referee.one_to(BO);
    both.says("Your orders are sealed").says("turn 1 has been adjudicated").says("What happened");
    both.says("> thank you").says("Your message was passed on to Ann");
    assert!(both.in_reply_to.is_some(), "it is in the thread of Bo's letter");
    assert_eq!(both.pictures, 1);
    let to_ann = referee.sent_to(ANN);
    assert_eq!(to_ann.len(), 2, "the message and the report");
    referee.reply(BO, &both, "REPORT 2");
    referee.one_to(BO).says("What happened");
}

#[test]
fn pages_that_a_letter_asks_for_come_beside_the_report() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5\nRULES quad");
    let [answer, report] = &referee.sent_to(ANN)[..] else { panic!("an answer and a report") };
    answer.says("Your orders are sealed").says("G. Keith Still").keeps_silent_of("What happened");
    report.says("What happened").keeps_silent_of("Your orders are sealed");
    referee.reply(ANN, report, "HISTORY");
    referee.one_to(ANN).says("What happened").keeps_silent_of("G. Keith Still");
}

#[test]
fn a_report_after_a_withheld_answer_comes_all_the_same() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.one_to(ANN).says("Your orders are sealed").says("What happened");
    referee.one_to(BO).says("What happened").keeps_silent_of("Your orders are sealed");
}

#[test]
fn the_links_of_a_report_file_check_and_hold() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quadrant_z(&referee);
    let check = link(&to_ann, "Check only").expect("a link");
    follow(&referee, ANN, &check);
    referee.one_to(ANN).says("This was a check").says("| SHIP 1 ").keeps_silent_of("You also wrote");
    assert!(referee.find(&game_match.id).filed.first.is_none());
    follow(&referee, ANN, &link(&to_ann, "Hold all").expect("a link"));
    referee.one_to(ANN).says("Your orders are sealed").keeps_silent_of("You also wrote");
    follow(&referee, ANN, &link(&to_ann, "Answer with this form").expect("a link"));
    referee.one_to(ANN).says("they replace those you sent before").says("| SHIP 1 ");
    assert!(!to_ann.text.contains("mailto:"), "the text does without");
}

#[test]
fn the_links_of_every_game_write_a_letter_that_can_stand_where_one_line_can() {
    let referee = Referee::new();
    for game in [GameKind::Quad, GameKind::Quantum] {
        referee.open(game, &[]);
        let invitation = referee.last_to(ANN);
        assert!(link(&invitation, "Hold all").is_none(), "the side must move");
        assert!(link(&referee.last_to(BO), "Answer with this form").is_none(), "nothing is due from Bo");
        follow(&referee, ANN, &link(&invitation, "Answer with this form").expect("a link"));
        referee.one_to(ANN).says("Your orders are sealed");
        referee.sent_to(BO);
    }
}

#[test]
fn the_links_of_a_challenge_accept_and_decline() {
    let referee = Referee::answering(ANN, "");
    for (label, says) in [("Accept", "begins"), ("Decline", "no longer stands")] {
        referee.write(ANN, &format!("CHALLENGE {BO} quad days=3"));
        let challenge = referee.one_to(BO);
        follow(&referee, BO, &link(&challenge, label).expect("a link"));
        assert!(referee.sent_to(BO).iter().any(|sent| sent.text.contains(says)), "{label}");
    }
}

#[test]
fn a_letter_that_quotes_the_html_files_nothing() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quadrant_z(&referee);
    let body = format!("<p>Thank you!</p><blockquote>{}</blockquote>", to_ann.html);
    referee.receive(&format!(
        "From: {ANN}\nTo: {}\nSubject: Re: {}\nMessage-ID: <quote@players.example>\nIn-Reply-To: <{}>\n\
         Content-Type: text/html; charset=utf-8\n\n{body}",
        to_ann.reply_to, to_ann.subject, to_ann.message_id
    ));
    referee.one_to(ANN).keeps_silent_of("Hold all");
    assert!(referee.find(&game_match.id).filed.first.is_none());
}

#[test]
fn after_a_rollback_both_sides_get_the_board_with_its_form() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.sent_to(ANN);
    referee.sent_to(BO);
    referee.write(GM, "GM LIST");
    let to_gm = referee.last_to(GM);
    referee.reply(GM, &to_gm, &format!("GM MATCH {} ROLLBACK 1 It was misread.", game_match.id));
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    for told in [&to_ann, &to_bo] {
        told.says("turn 1 is open again").says("> It was misread.").says("cannot be unseen");
        assert_eq!(told.pictures, 1, "the board");
    }
    to_ann.says("Your orders for turn 1").says("| MARBLE");
    to_bo.keeps_silent_of("Your orders for turn");
}

#[test]
fn after_a_rollback_report_brings_the_one_that_stands() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.advance(1);
    referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    referee.write(GM, "GM LIST");
    referee.reply(
        GM,
        &referee.last_to(GM),
        &format!("GM MATCH {} ROLLBACK 1 It was misread.", game_match.id),
    );
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "REPORT\nREPORT 3");
    referee.one_to(ANN).says("There is no such report").keeps_silent_of("What happened");
    referee.reply(ANN, &to_ann, "TURN 1\nMARBLE F6");
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "REPORT 2");
    referee.one_to(ANN).says("You played a marble on F6").keeps_silent_of("marble on E5");
    referee.reply(ANN, &to_ann, "HISTORY");
    referee.one_to(ANN).says("marble on E5").says("marble on F6");
}

#[test]
fn before_a_rollback_the_gm_reads_what_each_side_saw_of_the_voided_turns() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "HOLD");
    referee.reply(BO, &to_bo, "HOLD");
    referee.sent_to(ANN);
    referee.sent_to(BO);
    referee.write(GM, "GM LIST");
    let rollback = format!("GM MATCH {} ROLLBACK 1 It was misread.", game_match.id);
    referee.reply(GM, &referee.last_to(GM), &format!("CHECK\n{rollback}"));
    referee.last_to(GM).says("This would be done");
    let last = referee.all_to(GM).pop().expect("a letter");
    referee.reply(GM, &last, &rollback);
    let shown = referee.last_to(GM);
    shown.says("Nothing was done").says("cannot be unseen").says("Turn 1, Ann:").says("Turn 1, Bo:");
    assert_eq!(kinds(&referee, &game_match).last().map(String::as_str), Some("Unsealed"));
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(2));
    assert!(referee.sent_to(ANN).is_empty());
    referee.reply(GM, &shown, &rollback);
    referee.last_to(GM).says("Done");
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(1));
    referee.one_to(ANN).says("turn 1 is open again").says("SHIP 1");
}

#[test]
fn a_match_that_hid_something_and_ended_is_not_reopened() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "HOLD");
    referee.reply(BO, &to_bo, "HOLD");
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    referee.write(GM, "GM LIST");
    referee.reply(GM, &referee.last_to(GM), &format!("GM MATCH {} ROLLBACK 1 A reason.", game_match.id));
    referee.last_to(GM).says("has told both sides what the rules hide");
    assert!(referee.find(&game_match.id).due().is_none());
}
