//! Playing a match: the invitation, filings, reports and the result.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::Stage;
use fogpost::store::LetterStatus;

use crate::referee::{ANN, BO, Referee};

/// Black makes a quad on E5, E6, F6 and F5, while White plays elsewhere.
const BLACK: [&str; 4] = ["MARBLE E5", "MARBLE E6", "MARBLE F6", "MARBLE F5"];
const WHITE: [&str; 3] = ["MARBLE A5", "MARBLE B8", "MARBLE K4"];

#[test]
fn a_match_is_played_from_the_invitation_to_the_result() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (mut to_ann, mut to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    to_ann.says("plays Quad with you").says("Turn 1 waits for your orders");
    to_bo.says("Turn 1 waits for Ann");
    for (black, white) in BLACK.iter().zip(WHITE) {
        referee.reply(ANN, &to_ann, black);
        let report = referee.one_to(ANN);
        report.says("Your orders are sealed").says(black).says("What happened");
        assert_eq!((report.auto_submitted.as_str(), report.pictures), ("auto-replied", 1));
        to_bo = referee.one_to(BO);
        assert_eq!((to_bo.auto_submitted.as_str(), to_bo.pictures), ("auto-generated", 1));
        to_bo.says("please send your orders");
        referee.reply(BO, &to_bo, white);
        referee.sent_to(BO);
        to_ann = referee.one_to(ANN);
    }
    referee.reply(ANN, &to_ann, BLACK[3]);
    referee.last_to(ANN).says("You have won this match (quad)");
    referee.last_to(BO).says("Ann has won this match (quad)");
    let game_match = referee.find(&game_match.id);
    assert_eq!(game_match.stage, Stage::Over);
    assert_eq!(game_match.state.outcome().and_then(|outcome| outcome.winner), Some(Seat::First));
}

#[test]
fn a_refusal_has_the_line_the_reason_and_an_example() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, "MARBLE A1");
    let refusal = referee.one_to(ANN);
    refusal
        .says("Line 1 is not valid")
        .says("> MARBLE A1")
        .says("For example")
        .says("No order in this letter was filed");
    refusal.says("You have filed nothing for turn 1 yet");
    assert_eq!(refusal.in_reply_to.as_deref(), Some("0@players.example"));
    assert!(referee.sent_to(BO).len() == 1, "the opponent has only the invitation");
}

#[test]
fn a_seat_that_is_not_due_learns_who_is() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(BO);
    referee.reply(BO, &invitation, "MARBLE E5");
    referee.one_to(BO).says("It is not your move: Ann is to move");
}

#[test]
fn orders_for_an_adjudicated_turn_do_not_affect_the_next() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (first, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &first, "MARBLE E5");
    referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    referee.sent_to(ANN);
    // A reply to the letter about turn 1 arrives when turn 3 is open.
    referee.reply(ANN, &first, "MARBLE E6");
    referee.one_to(ANN).says("Turn 1 was adjudicated on Thu 7 May at 12:00 CEST; turn 3 is open");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2);
}

#[test]
fn a_new_filing_replaces_the_previous_one_until_both_have_filed() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Pacific, &[("submarines", "false")]);
    let invitation = referee.one_to(ANN);
    let fleet = "CARRIER D2 SQUADRON D3\nCARRIER M2 SQUADRON M3\nBATTLESHIP A1 B1 O1 P1\nCRUISER C1 E1 L1 N1\n\
                 DESTROYER A3 C3 E3 G3 I3 K3 O3";
    referee.reply(ANN, &invitation, fleet);
    referee.one_to(ANN).says("Your orders are sealed");
    referee.reply(ANN, &invitation, &fleet.replace("O3", "P3"));
    referee.one_to(ANN).says("Your new orders are sealed; they replace those you sent before").says("P3");
    let held = referee.find(&game_match.id).filed.first.expect("a filing is held");
    assert!(held.filing.lines().join("\n").contains("P3"));
}

#[test]
fn a_check_changes_nothing() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, "CHECK\nMARBLE E5");
    referee.one_to(ANN).says("This was a check; nothing was filed").says("MARBLE E5");
    referee.reply(ANN, &invitation, "CHECK\nMARBLE A1");
    referee.one_to(ANN).says("This was a check; nothing was filed or changed");
    assert_eq!(referee.find(&game_match.id).awaited(), [Seat::First]);
}

#[test]
fn a_repeated_letter_has_no_effect_and_no_answer() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let letter = referee.answer(ANN, &referee.one_to(ANN), "MARBLE E5");
    referee.receive(&letter);
    referee.one_to(ANN);
    referee.receive(&letter);
    // The same letter by another route: other bytes, but the same Message-ID.
    referee.receive(&format!("Received: from elsewhere\n{letter}"));
    assert!(referee.sent_to(ANN).is_empty());
    assert_eq!(referee.last_status(), LetterStatus::Repeated);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn the_result_comes_with_the_record() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, "RESIGN");
    referee.one_to(ANN).says("To resign, write both words");
    referee.reply(ANN, &invitation, "RESIGN CONFIRM");
    let result = referee.last_to(BO);
    result.says("You have won this match: Ann has resigned.");
    referee.last_to(ANN).says("Bo has won this match: you have resigned.");
    let (name, record) = result.attachments.first().expect("the record is attached");
    assert_eq!(*name, format!("{}.toml", game_match.id));
    let record = fogpost::game::record::Record::parse(record).expect("a record");
    assert_eq!(record.players.first, "Ann");
}
