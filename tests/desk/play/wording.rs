//! The letters of the games, and the answers to orders that no rule allows.

use fogpost::game::any::GameKind;
use fogpost::house;

use crate::referee::{ANN, BO, GM, Referee};

/// Opens a match of the Pacific, past its setup.
fn pacific(referee: &Referee) {
    referee.open(GameKind::Pacific, &[("submarines", "true")]);
    for who in [ANN, BO] {
        referee.reply(who, &referee.last_to(who), "SETUP line");
    }
}

#[test]
fn each_first_letter_tells_how_one_wins() {
    for &game in GameKind::ALL {
        let referee = Referee::new();
        referee.open(game, &[]);
        for who in [ANN, BO] {
            referee.one_to(who).says("You win");
        }
    }
}

#[test]
fn a_move_that_names_the_class_of_a_carrier_is_answered_with_the_form_that_is_right() {
    let referee = Referee::new();
    pacific(&referee);
    let report = referee.last_to(ANN);
    referee.reply(ANN, &report, "carrier d2 to d3");
    referee.last_to(ANN).says("the single word YES").says("| D2-D3");
    for line in ["carrier 1 to d3", "CARRIER D3"] {
        referee.reply(ANN, &report, line);
        let refusal = referee.last_to(ANN);
        refusal.says("square").keeps_silent_of("stands on a line");
        assert!(refusal.text.to_lowercase().contains("number"), "{}", refusal.text);
    }
}

#[test]
fn pass_in_quantum_and_hold_in_the_pacific_are_answered_and_not_passed_to_the_gm() {
    let referee = Referee::new();
    referee.open(GameKind::Quantum, &[]);
    referee.reply(ANN, &referee.one_to(ANN), "PASS");
    referee.last_to(ANN).says("Nobody can pass while a move is left").keeps_silent_of("passed your words");
    assert!(referee.sent_to(GM).is_empty());

    let referee = Referee::new();
    pacific(&referee);
    referee.reply(ANN, &referee.last_to(ANN), "HOLD");
    referee.last_to(ANN).says("in a surface turn one moves or attacks").keeps_silent_of("passed your words");
    assert!(referee.sent_to(GM).is_empty());
}

#[test]
fn sentences_about_the_house_begin_with_a_capital() {
    for (game, words) in [(GameKind::Quantum, "moved from"), (GameKind::Quad, "played a marble")] {
        let referee = Referee::answering(ANN, "");
        referee.write(ANN, &format!("CHALLENGE house {} level=trainer first=house", game.key()));
        referee.work();
        let told = referee.all_to(ANN).into_iter().map(|sent| sent.text);
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
        let referee = Referee::new();
        referee.open(game, options);
        referee.reply(ANN, &referee.one_to(ANN), "RESIGN CONFIRM");
        let result = referee.last_to(ANN);
        assert_eq!(result.text.contains("Everything is revealed now"), hides, "{game}: {}", result.text);
    }
}

#[test]
fn a_finished_match_against_trainer_lists_no_threats() {
    assert!(house::level(GameKind::Quad, "trainer").is_some());
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[("trainer", "on")]);
    let first = referee.one_to(ANN);
    referee.reply(ANN, &first, "MARBLE E6");
    let report = referee.last_to(ANN);
    report.says("Quads within reach");
    referee.reply(ANN, &report, "RESIGN CONFIRM");
    referee.last_to(ANN).keeps_silent_of("Quads within reach");
}

#[test]
fn reports_of_quadrant_z_count_the_turn_against_the_limit() {
    let referee = Referee::new();
    referee.open(GameKind::QuadrantZ, &[("turn_limit", "30")]);
    for who in [ANN, BO] {
        referee.reply(who, &referee.one_to(who), "SETUP balanced");
    }
    referee.last_to(ANN).says("Turn 1 of 30 is open");
}
