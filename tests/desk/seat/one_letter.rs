//! One letter in place of two: receipt and report in one, and the links that answer a letter.

use fogpost::game::any::GameKind;

use crate::desk::{ANN, BO, Desk, GM};
use crate::links::{follow, link};
use crate::positions::{kinds, quad, quadrant_z};

#[test]
fn a_filing_that_completes_the_phase_is_answered_by_receipt_and_report_in_one() {
    let desk = Desk::new();
    let (_, to_ann, to_bo) = quadrant_z(&desk);
    desk.reply(ANN, &to_ann, "HOLD");
    desk.one_to(ANN).says("Your orders are sealed").keeps_silent_of("What happened");
    desk.reply(BO, &to_bo, "HOLD\nthank you\nTELL good luck\nEND");
    let both = desk.one_to(BO);
    both.says("Your orders are sealed").says("turn 1 has been adjudicated").says("What happened");
    both.says("> thank you").says("Your message was passed on to Ann");
    assert!(both.in_reply_to.is_some(), "it is in the thread of Bo's letter");
    assert_eq!(both.pictures, 1);
    let to_ann = desk.sent_to(ANN);
    assert_eq!(to_ann.len(), 2, "the message and the report");
    desk.reply(BO, &both, "REPORT 2");
    desk.one_to(BO).says("What happened");
}

#[test]
fn pages_that_a_letter_asks_for_come_beside_the_report() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5\nRULES quad");
    let [answer, report] = &desk.sent_to(ANN)[..] else { panic!("an answer and a report") };
    answer.says("Your orders are sealed").says("G. Keith Still").keeps_silent_of("What happened");
    report.says("What happened").keeps_silent_of("Your orders are sealed");
    desk.reply(ANN, report, "HISTORY");
    desk.one_to(ANN).says("What happened").keeps_silent_of("G. Keith Still");
}

#[test]
fn a_report_after_a_withheld_answer_comes_all_the_same() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.one_to(ANN).says("Your orders are sealed").says("What happened");
    desk.one_to(BO).says("What happened").keeps_silent_of("Your orders are sealed");
}

#[test]
fn the_links_of_a_report_file_check_and_hold() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quadrant_z(&desk);
    let check = link(&to_ann, "Check only").expect("a link");
    follow(&desk, ANN, &check);
    desk.one_to(ANN).says("This was a check").says("| SHIP 1 ").keeps_silent_of("You also wrote");
    assert!(desk.find(&game_match.id).held.first.is_none());
    follow(&desk, ANN, &link(&to_ann, "Hold all").expect("a link"));
    desk.one_to(ANN).says("Your orders are sealed").keeps_silent_of("You also wrote");
    follow(&desk, ANN, &link(&to_ann, "Answer with this form").expect("a link"));
    desk.one_to(ANN).says("they replace those you sent before").says("| SHIP 1 ");
    assert!(!to_ann.text.contains("mailto:"), "the text does without");
}

#[test]
fn the_links_of_every_game_write_a_letter_that_can_stand_where_one_line_can() {
    let desk = Desk::new();
    for game in [GameKind::Quad, GameKind::Quantum] {
        desk.open(game, &[]);
        let invitation = desk.last_to(ANN);
        assert!(link(&invitation, "Hold all").is_none(), "the side must move");
        assert!(link(&desk.last_to(BO), "Answer with this form").is_none(), "nothing is due from Bo");
        follow(&desk, ANN, &link(&invitation, "Answer with this form").expect("a link"));
        desk.one_to(ANN).says("Your orders are sealed");
        desk.sent_to(BO);
    }
}

#[test]
fn the_links_of_a_challenge_accept_and_decline() {
    let desk = Desk::answering(ANN, "");
    for (label, says) in [("Accept", "begins"), ("Decline", "no longer stands")] {
        desk.write(ANN, &format!("CHALLENGE {BO} quad days=3"));
        let challenge = desk.one_to(BO);
        follow(&desk, BO, &link(&challenge, label).expect("a link"));
        assert!(desk.sent_to(BO).iter().any(|sent| sent.text.contains(says)), "{label}");
    }
}

#[test]
fn a_letter_that_quotes_the_html_files_nothing() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quadrant_z(&desk);
    let body = format!("<p>Thank you!</p><blockquote>{}</blockquote>", to_ann.html);
    desk.receive(&format!(
        "From: {ANN}\nTo: {}\nSubject: Re: {}\nMessage-ID: <quote@players.example>\nIn-Reply-To: <{}>\n\
         Content-Type: text/html; charset=utf-8\n\n{body}",
        to_ann.reply_to, to_ann.subject, to_ann.message_id
    ));
    desk.one_to(ANN).keeps_silent_of("Hold all");
    assert!(desk.find(&game_match.id).held.first.is_none());
}

#[test]
fn after_a_rollback_both_sides_get_the_board_with_its_form() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.sent_to(ANN);
    desk.sent_to(BO);
    desk.write(GM, "GM LIST");
    let to_gm = desk.last_to(GM);
    desk.reply(GM, &to_gm, &format!("GM MATCH {} ROLLBACK 1 It was misread.", game_match.id));
    let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
    for told in [&to_ann, &to_bo] {
        told.says("turn 1 is open again").says("> It was misread.").says("cannot be unseen");
        assert_eq!(told.pictures, 1, "the board");
    }
    to_ann.says("Your orders for turn 1").says("| MARBLE");
    to_bo.keeps_silent_of("Your orders for turn");
}

#[test]
fn after_a_rollback_report_brings_the_one_that_stands() {
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.advance(1);
    desk.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    desk.write(GM, "GM LIST");
    desk.reply(GM, &desk.last_to(GM), &format!("GM MATCH {} ROLLBACK 1 It was misread.", game_match.id));
    desk.sent_to(ANN);
    desk.reply(ANN, &to_ann, "REPORT\nREPORT 3");
    desk.one_to(ANN).says("There is no such report").keeps_silent_of("What happened");
    desk.reply(ANN, &to_ann, "TURN 1\nMARBLE F6");
    desk.sent_to(ANN);
    desk.reply(ANN, &to_ann, "REPORT 2");
    desk.one_to(ANN).says("You played a marble on F6").keeps_silent_of("marble on E5");
    desk.reply(ANN, &to_ann, "HISTORY");
    desk.one_to(ANN).says("marble on E5").says("marble on F6");
}

#[test]
fn before_a_rollback_the_gm_reads_what_each_side_saw_of_the_voided_turns() {
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&desk);
    desk.reply(ANN, &to_ann, "HOLD");
    desk.reply(BO, &to_bo, "HOLD");
    desk.sent_to(ANN);
    desk.sent_to(BO);
    desk.write(GM, "GM LIST");
    let rollback = format!("GM MATCH {} ROLLBACK 1 It was misread.", game_match.id);
    desk.reply(GM, &desk.last_to(GM), &format!("CHECK\n{rollback}"));
    desk.last_to(GM).says("This would be done");
    let last = desk.all_to(GM).pop().expect("a letter");
    desk.reply(GM, &last, &rollback);
    let shown = desk.last_to(GM);
    shown.says("Nothing was done").says("cannot be unseen").says("Turn 1, Ann:").says("Turn 1, Bo:");
    assert_eq!(kinds(&desk, &game_match).last().map(String::as_str), Some("Unsealed"));
    assert_eq!(desk.find(&game_match.id).due().map(|due| due.turn), Some(2));
    assert!(desk.sent_to(ANN).is_empty());
    desk.reply(GM, &shown, &rollback);
    desk.last_to(GM).says("Done");
    assert_eq!(desk.find(&game_match.id).due().map(|due| due.turn), Some(1));
    desk.one_to(ANN).says("turn 1 is open again").says("SHIP 1");
}

#[test]
fn a_match_that_hid_something_and_ended_is_not_reopened() {
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&desk);
    desk.reply(ANN, &to_ann, "HOLD");
    desk.reply(BO, &to_bo, "HOLD");
    desk.reply(BO, &to_bo, "RESIGN CONFIRM");
    desk.write(GM, "GM LIST");
    desk.reply(GM, &desk.last_to(GM), &format!("GM MATCH {} ROLLBACK 1 A reason.", game_match.id));
    desk.last_to(GM).says("has told both sides what the rules hide");
    assert!(desk.find(&game_match.id).due().is_none());
}
