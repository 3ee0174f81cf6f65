//! The letters of the games, and the answers to orders that no rule allows.

use fogpost::game::any::GameKind;
use fogpost::house;

use crate::desk::{ANN, BO, Desk, GM};

/// Opens a match of the Pacific, past its setup.
fn pacific(desk: &Desk) {
    desk.open(GameKind::Pacific, &[("submarines", "true")]);
    for who in [ANN, BO] {
        desk.reply(who, &desk.last_to(who), "SETUP line");
    }
}

#[test]
fn each_first_letter_tells_how_one_wins() {
    for &game in GameKind::ALL {
        let desk = Desk::new();
        desk.open(game, &[]);
        for who in [ANN, BO] {
            desk.one_to(who).says("You win");
        }
    }
}

#[test]
fn a_move_that_names_the_class_of_a_carrier_is_answered_with_the_form_that_is_right() {
    let desk = Desk::new();
    pacific(&desk);
    let report = desk.last_to(ANN);
    for line in ["carrier 1 to d3", "carrier d2 to d3", "CARRIER D3"] {
        desk.reply(ANN, &report, line);
        let refusal = desk.last_to(ANN);
        refusal.says("square").keeps_silent_of("stands on a line");
        assert!(refusal.text.to_lowercase().contains("number"), "{}", refusal.text);
    }
}

#[test]
fn pass_in_quantum_and_hold_in_the_pacific_are_answered_and_not_passed_to_the_gm() {
    let desk = Desk::new();
    desk.open(GameKind::Quantum, &[]);
    desk.reply(ANN, &desk.one_to(ANN), "PASS");
    desk.last_to(ANN).says("Nobody can pass while a move is left").keeps_silent_of("passed your words");
    assert!(desk.sent_to(GM).is_empty());

    let desk = Desk::new();
    pacific(&desk);
    desk.reply(ANN, &desk.last_to(ANN), "HOLD");
    desk.last_to(ANN).says("in a surface turn one moves or attacks").keeps_silent_of("passed your words");
    assert!(desk.sent_to(GM).is_empty());
}

#[test]
fn sentences_about_the_house_begin_with_a_capital() {
    for (game, words) in [(GameKind::Quantum, "moved from"), (GameKind::Quad, "played a marble")] {
        let desk = Desk::answering(ANN, "");
        desk.write(ANN, &format!("CHALLENGE house {} level=trainer first=house", game.key()));
        desk.work();
        let told = desk.all_to(ANN).into_iter().map(|sent| sent.text);
        let news: Vec<String> = told.filter(|text| text.contains(words)).collect();
        assert!(!news.is_empty(), "{game}: the house has moved");
        for text in news {
            assert!(text.contains("- The house (trainer) "), "{game}: {text}");
            assert!(!text.contains("- the house"), "{game}: {text}");
        }
    }
}

#[test]
fn only_where_something_was_hidden_the_result_says_that_it_is_revealed() {
    for (game, options, hides) in [
        (GameKind::QuadrantZ, &[][..], true),
        (GameKind::Pacific, &[("submarines", "true")], true),
        (GameKind::Pacific, &[("submarines", "false")], false),
        (GameKind::Quantum, &[], false),
        (GameKind::Quad, &[], false),
    ] {
        let desk = Desk::new();
        desk.open(game, options);
        desk.reply(ANN, &desk.one_to(ANN), "RESIGN CONFIRM");
        let result = desk.last_to(ANN);
        assert_eq!(result.text.contains("Everything is revealed now"), hides, "{game}: {}", result.text);
    }
}

#[test]
fn a_finished_match_against_trainer_lists_no_threats() {
    assert!(house::level(GameKind::Quad, "trainer").is_some());
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[("trainer", "on")]);
    let first = desk.one_to(ANN);
    desk.reply(ANN, &first, "MARBLE E6");
    let report = desk.last_to(ANN);
    report.says("Quads within reach");
    desk.reply(ANN, &report, "RESIGN CONFIRM");
    desk.last_to(ANN).keeps_silent_of("Quads within reach");
}

#[test]
fn reports_of_quadrant_z_count_the_turn_against_the_limit() {
    let desk = Desk::new();
    desk.open(GameKind::QuadrantZ, &[("turn_limit", "30")]);
    for who in [ANN, BO] {
        desk.reply(who, &desk.one_to(who), "SETUP balanced");
    }
    desk.last_to(ANN).says("Turn 1 of 30 is open");
}
