//! A letter as its writer meant it: the orders that are offered, those that YES files, and that nothing is filed
//! against the letter's words.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::Match;

use super::almost_orders::both_set_up;
use crate::desk::{ANN, BO, Desk, GM, Sent};

/// Opens a match of Quad in which Black has moved, and returns the report to Bo, who is to move.
fn quad(desk: &Desk) -> (Match, Sent) {
    let game_match = desk.open(GameKind::Quad, &[]);
    desk.reply(ANN, &desk.one_to(ANN), "MARBLE E5");
    desk.sent_to(ANN);
    (desk.find(&game_match.id), desk.last_to(BO))
}

fn turns(desk: &Desk, game_match: &Match) -> usize {
    desk.find(&game_match.id).adjudicated.len()
}

fn held(desk: &Desk, game_match: &Match) -> Option<Vec<String>> {
    desk.find(&game_match.id).held[Seat::First].as_ref().map(|held| held.filing.lines().to_vec())
}

#[test]
fn no_turn_is_played_against_the_words_of_its_letter() {
    for text in [
        "Just a draft, please don't play it yet:\nMARBLE G7",
        "G7?",
        "MARBLE G7\n\nPS: on second thought please don't play this",
        "Look at the point\nG7\nwhere you stood last week.",
        "Nice game so far!\n\nBo\nB4",
    ] {
        let desk = Desk::new();
        let (game_match, report) = quad(&desk);
        desk.reply(BO, &report, text);
        let answer = desk.one_to(BO);
        assert_eq!(turns(&desk, &game_match), 1, "{text}");
        answer.says("No order in this letter was filed").says("These orders are legal.").says("YES");
        desk.reply(BO, &answer, "YES");
        assert_eq!(turns(&desk, &game_match), 2, "{text}");
        desk.sent_to(BO);
    }
}

#[test]
fn what_stood_stands_and_is_named() {
    let desk = Desk::new();
    let (game_match, report, _) = both_set_up(&desk);
    desk.reply(ANN, &report, "SHIP 1 A3 TO A1");
    desk.one_to(ANN);
    desk.reply(ANN, &report, "Only thinking:\nSHIP 3 B2 TO B1");
    desk.one_to(ANN)
        .says("> Only thinking:")
        .says("leaves a doubt")
        .says("These orders are legal. If you mean them, answer with the single word YES, and I file them: | SHIP 3 B2 TO B1")
        .says("stand: | SHIP 1 A3 TO A1");
    assert_eq!(held(&desk, &game_match), Some(vec!["SHIP 1 A3 TO A1".to_owned()]));
}

#[test]
fn yes_answers_the_offer_of_the_letter_that_it_replies_to() {
    let desk = Desk::new();
    let (game_match, report, _) = both_set_up(&desk);
    desk.reply(ANN, &report, "SHIP 1 A3 TO A1?");
    let first = desk.one_to(ANN);
    desk.reply(ANN, &report, "SHIP 2 C1 TO C2?");
    let second = desk.one_to(ANN);
    desk.reply(ANN, &first, "YES");
    desk.one_to(ANN).says("Your orders are sealed: | SHIP 1 A3 TO A1");
    assert_eq!(held(&desk, &game_match), Some(vec!["SHIP 1 A3 TO A1".to_owned()]));
    // The seat has filed, so no offer is left.
    desk.reply(ANN, &second, "YES");
    desk.one_to(ANN).says("> YES");
    desk.reply(ANN, &first, "YES");
    desk.one_to(ANN);
    assert_eq!(held(&desk, &game_match), Some(vec!["SHIP 1 A3 TO A1".to_owned()]));
}

#[test]
fn a_yes_without_a_thread_gets_the_last_offer_again() {
    let desk = Desk::new();
    let (game_match, report, _) = both_set_up(&desk);
    desk.reply(ANN, &report, "SHIP 1 A3 TO A1?");
    desk.one_to(ANN);
    desk.reply(ANN, &report, "SHIP 2 C1 TO C2?");
    desk.one_to(ANN);
    desk.reply(ANN, &report, "Yes");
    let again = desk.one_to(ANN);
    again.says("answer YES again: | SHIP 2 C1 TO C2").keeps_silent_of("passed your words");
    assert_eq!(held(&desk, &game_match), None);
    desk.reply(ANN, &again, "yes!");
    desk.one_to(ANN).says("Your orders are sealed");
    assert_eq!(held(&desk, &game_match), Some(vec!["SHIP 2 C1 TO C2".to_owned()]));
}

#[test]
fn an_offer_ends_with_its_phase() {
    let desk = Desk::new();
    let (game_match, report, to_bo) = both_set_up(&desk);
    desk.reply(ANN, &report, "SHIP 1 A3 TO A1?");
    let offer = desk.one_to(ANN);
    desk.reply(BO, &to_bo, "HOLD");
    while desk.find(&game_match.id).due().map(|due| due.turn) == Some(1) {
        desk.advance(12);
    }
    desk.sent_to(ANN);
    desk.reply(ANN, &offer, "YES");
    desk.one_to(ANN).says("> YES");
    assert_eq!(held(&desk, &game_match), None);
}

/// The beginnings of the lines that come before an answer's offers.
const ADVICE: [&str; 3] = ["You may mean this:", "For example:", "These orders are legal."];

/// Sends the correction or the example that an answer shows, and returns the answer to it.
fn send_advice(desk: &Desk, report: &Sent, answer: &Sent) -> Option<Sent> {
    let lines: Vec<&str> = answer.text.lines().collect();
    let at = lines.iter().position(|line| ADVICE.iter().any(|advice| line.contains(advice)))?;
    let advice = lines[at + 1..].iter().skip_while(|line| !line.trim().starts_with('|'));
    let advice: Vec<&str> =
        advice.take_while(|line| line.trim().starts_with('|')).map(|line| line.trim()[1..].trim()).collect();
    desk.reply(ANN, report, &format!("CHECK\n{}", advice.join("\n")));
    Some(desk.one_to(ANN))
}

#[test]
fn every_correction_can_be_sent_back_at_once() {
    let desk = Desk::new();
    let (_, report, _) = both_set_up(&desk);
    for text in [
        "A3-A1",
        "A3 nach A1",
        "Schiff 1 A3 nach A1",
        "K4-K3",
        "SHPI 1 A3 TO A1",
        "SHPI 1 GO C2",
        "CAPTUR Z9",
        "All ships to C2",
        "SHIPS 1 2 TO K2",
        "1: A1",
        "1: A3-A1",
        "3: hold",
        "and SHIP 3 B2 TO B1",
        "and SHIP 3 B2 TO Y1",
        "please move ship 3 to b1, thanks",
        "SHIP 1 A3 TO Y1",
        "SHIP 2 HOLD please",
        "CAPTURE",
        "SHIP 9 TO A1",
    ] {
        desk.reply(ANN, &report, text);
        let answer = desk.one_to(ANN);
        let checked = send_advice(&desk, &report, &answer);
        let checked = checked.unwrap_or_else(|| panic!("no advice on {text}:\n{}", answer.text));
        assert!(
            checked.text.contains("These orders are valid"),
            "{text}:\n{}\n{}",
            answer.text,
            checked.text
        );
    }
}

#[test]
fn every_correction_in_quad_and_quantum_can_be_sent_back_at_once() {
    for (game, texts) in [
        (
            GameKind::Quad,
            &[
                "Stern F5, Kugel G6",
                "STRA F5",
                "MABLE E5",
                "my marble on G7",
                "star on F5 and then my marble on G6 please",
                "*E5",
                "MARBLE L12",
                "MARBLE G7 now",
                "STAR F5",
                "I play E6.",
            ][..],
        ),
        (GameKind::Quantum, &["D3 nach D4", "I move D3 D4", "D3 D8", "MOVE", "A8 A7", "D3"][..]),
    ] {
        for text in texts {
            let desk = Desk::new();
            desk.open(game, &[]);
            let report = desk.one_to(ANN);
            desk.reply(ANN, &report, text);
            let answer = desk.one_to(ANN);
            let checked = send_advice(&desk, &report, &answer);
            let checked = checked.unwrap_or_else(|| panic!("no advice on {text}:\n{}", answer.text));
            assert!(
                checked.text.contains("These orders are valid"),
                "{text}:\n{}\n{}",
                answer.text,
                checked.text
            );
        }
    }
}

#[test]
fn a_correction_names_the_ship_that_stands_there() {
    let desk = Desk::new();
    let (game_match, report, _) = both_set_up(&desk);
    for (text, offered) in [("A3-A1", "SHIP 1 A3 TO A1"), ("B2 nach B1", "SHIP 3 B2 TO B1")] {
        desk.reply(ANN, &report, text);
        let answer = desk.one_to(ANN);
        answer.says(&format!("and I file them: | {offered}"));
        desk.reply(ANN, &answer, "YES");
        desk.one_to(ANN).says("sealed");
        assert_eq!(held(&desk, &game_match), Some(vec![offered.to_owned()]));
        desk.reply(ANN, &report, "WITHDRAW");
        desk.one_to(ANN);
    }
    // Ship 2 is not at A3.
    desk.reply(ANN, &report, "Schiff 2 A3 nach A1");
    desk.one_to(ANN).keeps_silent_of("You may mean");
}

#[test]
fn an_offer_never_changes_the_kind_of_piece() {
    let desk = Desk::new();
    let (_, report) = quad(&desk);
    desk.reply(BO, &report, "Stern F5, Kugel G6");
    desk.one_to(BO).says("| STAR F5").says("| MARBLE G6").keeps_silent_of("MARBLE F5");
}

#[test]
fn a_receipt_names_the_earlier_orders_that_no_longer_stand() {
    let desk = Desk::new();
    let (_, report, _) = both_set_up(&desk);
    desk.reply(ANN, &report, "SETTINGS receipts=faults");
    desk.one_to(ANN);
    desk.reply(ANN, &report, "SHIP 1 A3 TO A1\nSHIP 3 B2 TO B1");
    assert!(desk.sent_to(ANN).is_empty(), "a plain receipt");
    desk.reply(ANN, &report, "ship 1 to A4");
    desk.one_to(ANN).says("no longer stand").says("| SHIP 3 B2 TO B1");
    desk.reply(ANN, &report, "ship 1 to A4\nSHIP 3 B2 TO B1");
    assert!(desk.sent_to(ANN).is_empty(), "nothing is dropped");
}

#[test]
fn words_to_the_gm_are_words() {
    let desk = Desk::new();
    let (_, report, _) = both_set_up(&desk);
    for text in ["GM: I am in hospital, please pause my game.", "GM\nplease pause, my dad died\nAnn"] {
        desk.reply(ANN, &report, text);
        desk.one_to(ANN).says("the GM has your words now").keeps_silent_of("no effect");
        desk.one_to(GM).says("please pause");
    }
}

#[test]
fn remarks_that_begin_like_orders_reach_the_gm_whole() {
    let desk = Desk::new();
    let (_, report, _) = both_set_up(&desk);
    for text in [
        "Hold everything please, I'm in hospital with a broken leg.",
        "Ship me your condolences: my father died yesterday. Please pause the match.",
    ] {
        desk.reply(ANN, &report, text);
        desk.one_to(ANN).says("the GM has your words now");
        let told = desk.one_to(GM);
        let flat =
            |text: &str| text.split_whitespace().filter(|word| *word != ">").collect::<Vec<_>>().join(" ");
        assert!(flat(&told.text).contains(text), "{}", told.text);
        told.keeps_silent_of("order line");
        desk.sent_to(ANN);
        desk.sent_to(BO);
    }
}

#[test]
fn prose_in_capitals_is_prose() {
    let desk = Desk::new();
    let (game_match, report, _) = both_set_up(&desk);
    for (text, answer) in [
        ("TELL ME WHEN IT IS MY TURN PLEASE", "Turn 1 waits for your orders"),
        ("LEAVE ME ALONE", "| SETTINGS receipts=faults digest=daily"),
        ("NEVER MIND", "All right, I have changed nothing."),
        ("DRAW OR NO DRAW, THIS IS FUN", "> DRAW OR NO DRAW, THIS IS FUN"),
        ("WAIT FOR ME, I WILL SEND MY ORDERS TOMORROW", "| EXTEND 3 days"),
    ] {
        desk.reply(ANN, &report, text);
        desk.one_to(ANN).says(answer);
        assert!(desk.sent_to(BO).is_empty(), "{text}");
        assert_eq!(held(&desk, &game_match), None, "{text}");
    }
    for text in ["HELP!!! I have no idea what to do here", "HELP ME PLEASE I AM LOST"] {
        desk.reply(ANN, &report, text);
        desk.one_to(ANN).says("HELP orders");
    }
    desk.reply(ANN, &report, "EXTEND three days");
    desk.one_to(ANN).says("EXTEND needs a number of days").says("| EXTEND 3 days");
    desk.reply(ANN, &report, "TELL BO IT IS A GREAT GAME\nEND\nSTATUS");
    desk.one_to(ANN);
    desk.one_to(BO).says("BO IT IS A GREAT GAME");
}

#[test]
fn a_match_line_may_have_brackets() {
    let desk = Desk::new();
    let (game_match, report, _) = both_set_up(&desk);
    desk.reply(ANN, &report, &format!("MATCH [{}]:\nSHIP 1 A3 TO A1", game_match.id));
    desk.one_to(ANN).says("Your orders are sealed").keeps_silent_of("Not read");
}

#[test]
fn orders_of_another_match_reach_nobody() {
    let desk = Desk::new();
    let (_, _, _) = both_set_up(&desk);
    let (_, report) = quad(&desk);
    desk.reply(BO, &report, "SHIP 1 A3 TO B2");
    desk.one_to(BO).says("orders of another game").says("> SHIP 1 A3 TO B2 (Quadrant Z)");
    desk.advance(24);
    for letter in desk.sent_to(GM) {
        letter.keeps_silent_of("A3");
    }
    desk.sent_to(BO);
}
