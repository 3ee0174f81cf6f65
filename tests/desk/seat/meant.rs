//! A letter as its writer meant it: the orders that are offered, those that YES files, and that nothing is filed
//! against the letter's words.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::Match;

use super::almost_orders::both_set_up;
use crate::referee::{ANN, BO, GM, Referee, Sent};

/// Opens a match of Quad in which Black has moved, and returns the report to Bo, who is to move.
fn quad(referee: &Referee) -> (Match, Sent) {
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.reply(ANN, &referee.one_to(ANN), "MARBLE E5");
    referee.sent_to(ANN);
    (referee.find(&game_match.id), referee.last_to(BO))
}

fn turns(referee: &Referee, game_match: &Match) -> usize {
    referee.find(&game_match.id).adjudicated.len()
}

fn held(referee: &Referee, game_match: &Match) -> Option<Vec<String>> {
    referee.find(&game_match.id).filed[Seat::First].as_ref().map(|held| held.filing.lines().to_vec())
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
        let referee = Referee::new();
        let (game_match, report) = quad(&referee);
        referee.reply(BO, &report, text);
        let answer = referee.one_to(BO);
        assert_eq!(turns(&referee, &game_match), 1, "{text}");
        answer.says("No order in this letter was filed").says("These orders are legal.").says("YES");
        referee.reply(BO, &answer, "YES");
        assert_eq!(turns(&referee, &game_match), 2, "{text}");
        referee.sent_to(BO);
    }
}

#[test]
fn what_stood_stands_and_is_named() {
    let referee = Referee::new();
    let (game_match, report, _) = both_set_up(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1");
    referee.one_to(ANN);
    referee.reply(ANN, &report, "Only thinking:\nSHIP 3 B2 TO B1");
    referee.one_to(ANN)
        .says("> Only thinking:")
        .says("is not clear to me")
        .says("These orders are legal. If you mean them, answer with the single word YES, and I file them: | SHIP 3 B2 TO B1")
        .says("stand: | SHIP 1 A3 TO A1");
    assert_eq!(held(&referee, &game_match), Some(vec!["SHIP 1 A3 TO A1".to_owned()]));
}

#[test]
fn yes_answers_the_offer_of_the_letter_that_it_replies_to() {
    let referee = Referee::new();
    let (game_match, report, _) = both_set_up(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1?");
    let first = referee.one_to(ANN);
    referee.reply(ANN, &report, "SHIP 2 C1 TO C2?");
    let second = referee.one_to(ANN);
    referee.reply(ANN, &first, "YES");
    referee.one_to(ANN).says("Your orders are sealed: | SHIP 1 A3 TO A1");
    assert_eq!(held(&referee, &game_match), Some(vec!["SHIP 1 A3 TO A1".to_owned()]));
    // The seat has filed, so no offer is left.
    referee.reply(ANN, &second, "YES");
    referee.one_to(ANN).says("> YES");
    referee.reply(ANN, &first, "YES");
    referee.one_to(ANN);
    assert_eq!(held(&referee, &game_match), Some(vec!["SHIP 1 A3 TO A1".to_owned()]));
}

#[test]
fn a_yes_without_a_thread_gets_the_last_offer_again() {
    let referee = Referee::new();
    let (game_match, report, _) = both_set_up(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1?");
    referee.one_to(ANN);
    referee.reply(ANN, &report, "SHIP 2 C1 TO C2?");
    referee.one_to(ANN);
    referee.reply(ANN, &report, "Yes");
    let again = referee.one_to(ANN);
    again.says("answer YES again, to this letter: | SHIP 2 C1 TO C2").keeps_silent_of("passed your words");
    assert_eq!(held(&referee, &game_match), None);
    referee.reply(ANN, &again, "yes!");
    referee.one_to(ANN).says("Your orders are sealed");
    assert_eq!(held(&referee, &game_match), Some(vec!["SHIP 2 C1 TO C2".to_owned()]));
}

#[test]
fn an_offer_ends_with_its_phase() {
    let referee = Referee::new();
    let (game_match, report, to_bo) = both_set_up(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1?");
    let offer = referee.one_to(ANN);
    referee.reply(BO, &to_bo, "HOLD");
    while referee.find(&game_match.id).due().map(|due| due.turn) == Some(1) {
        referee.advance(12);
    }
    referee.sent_to(ANN);
    referee.reply(ANN, &offer, "YES");
    referee.one_to(ANN).says("> YES");
    assert_eq!(held(&referee, &game_match), None);
}

/// The beginnings of the lines that come before an answer's offers.
const ADVICE: [&str; 3] = ["You may mean this:", "For example:", "These orders are legal."];

/// Sends the correction or the example that an answer shows, and returns the answer to it.
fn send_advice(referee: &Referee, report: &Sent, answer: &Sent) -> Option<Sent> {
    let lines: Vec<&str> = answer.text.lines().collect();
    let at = lines.iter().position(|line| ADVICE.iter().any(|advice| line.contains(advice)))?;
    let advice = lines[at + 1..].iter().skip_while(|line| !line.trim().starts_with('|'));
    let advice: Vec<&str> =
        advice.take_while(|line| line.trim().starts_with('|')).map(|line| line.trim()[1..].trim()).collect();
    referee.reply(ANN, report, &format!("CHECK\n{}", advice.join("\n")));
    Some(referee.one_to(ANN))
}

#[test]
fn every_correction_can_be_sent_back_at_once() {
    let referee = Referee::new();
    let (_, report, _) = both_set_up(&referee);
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
        referee.reply(ANN, &report, text);
        let answer = referee.one_to(ANN);
        let checked = send_advice(&referee, &report, &answer);
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
            let referee = Referee::new();
            referee.open(game, &[]);
            let report = referee.one_to(ANN);
            referee.reply(ANN, &report, text);
            let answer = referee.one_to(ANN);
            let checked = send_advice(&referee, &report, &answer);
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
    let referee = Referee::new();
    let (game_match, report, _) = both_set_up(&referee);
    for (text, offered) in [("A3-A1", "SHIP 1 A3 TO A1"), ("B2 nach B1", "SHIP 3 B2 TO B1")] {
        referee.reply(ANN, &report, text);
        let answer = referee.one_to(ANN);
        answer.says(&format!("and I file them: | {offered}"));
        referee.reply(ANN, &answer, "YES");
        referee.one_to(ANN).says("sealed");
        assert_eq!(held(&referee, &game_match), Some(vec![offered.to_owned()]));
        referee.reply(ANN, &report, "WITHDRAW");
        referee.one_to(ANN);
    }
    // Ship 2 is not at A3.
    referee.reply(ANN, &report, "Schiff 2 A3 nach A1");
    referee.one_to(ANN).keeps_silent_of("You may mean");
}

#[test]
fn an_offer_never_changes_the_kind_of_piece() {
    let referee = Referee::new();
    let (_, report) = quad(&referee);
    referee.reply(BO, &report, "Stern F5, Kugel G6");
    referee.one_to(BO).says("| STAR F5").says("| MARBLE G6").keeps_silent_of("MARBLE F5");
}

#[test]
fn a_receipt_names_the_earlier_orders_that_no_longer_stand() {
    let referee = Referee::new();
    let (_, report, _) = both_set_up(&referee);
    referee.reply(ANN, &report, "SETTINGS receipts=faults");
    referee.one_to(ANN);
    referee.reply(ANN, &report, "SHIP 1 A3 TO A1\nSHIP 3 B2 TO B1");
    assert!(referee.sent_to(ANN).is_empty(), "a plain receipt");
    referee.reply(ANN, &report, "ship 1 to A4");
    referee.one_to(ANN).says("no longer stand").says("| SHIP 3 B2 TO B1");
    referee.reply(ANN, &report, "ship 1 to A4\nSHIP 3 B2 TO B1");
    assert!(referee.sent_to(ANN).is_empty(), "nothing is dropped");
}

#[test]
fn words_to_the_gm_are_words() {
    let referee = Referee::new();
    let (_, report, _) = both_set_up(&referee);
    for text in ["GM: I am in hospital, please pause my game.", "GM\nplease pause, my dad died\nAnn"] {
        referee.reply(ANN, &report, text);
        referee.one_to(ANN).says("the GM has your words now").keeps_silent_of("no effect");
        referee.one_to(GM).says("please pause");
    }
}

#[test]
fn remarks_that_begin_like_orders_reach_the_gm_whole() {
    let referee = Referee::new();
    let (_, report, _) = both_set_up(&referee);
    for text in [
        "Hold everything please, I'm in hospital with a broken leg.",
        "Ship me your condolences: my father died yesterday. Please pause the match.",
    ] {
        referee.reply(ANN, &report, text);
        referee.one_to(ANN).says("the GM has your words now");
        let told = referee.one_to(GM);
        let flat =
            |text: &str| text.split_whitespace().filter(|word| *word != ">").collect::<Vec<_>>().join(" ");
        assert!(flat(&told.text).contains(text), "{}", told.text);
        told.keeps_silent_of("order line");
        referee.sent_to(ANN);
        referee.sent_to(BO);
    }
}

#[test]
fn prose_in_capitals_is_prose() {
    let referee = Referee::new();
    let (game_match, report, _) = both_set_up(&referee);
    for (text, answer) in [
        ("TELL ME WHEN IT IS MY TURN PLEASE", "Turn 1 waits for your orders"),
        ("LEAVE ME ALONE", "| SETTINGS receipts=faults digest=daily"),
        ("NEVER MIND", "All right, I have changed nothing."),
        ("DRAW OR NO DRAW, THIS IS FUN", "> DRAW OR NO DRAW, THIS IS FUN"),
        ("WAIT FOR ME, I WILL SEND MY ORDERS TOMORROW", "| EXTEND 3 days"),
    ] {
        referee.reply(ANN, &report, text);
        referee.one_to(ANN).says(answer);
        assert!(referee.sent_to(BO).is_empty(), "{text}");
        assert_eq!(held(&referee, &game_match), None, "{text}");
    }
    for text in ["HELP!!! I have no idea what to do here", "HELP ME PLEASE I AM LOST"] {
        referee.reply(ANN, &report, text);
        referee.one_to(ANN).says("HELP orders");
    }
    referee.reply(ANN, &report, "EXTEND three days");
    referee.one_to(ANN).says("EXTEND needs a number of days").says("| EXTEND 3 days");
    referee.reply(ANN, &report, "TELL BO IT IS A GREAT GAME\nEND\nSTATUS");
    referee.one_to(ANN);
    referee.one_to(BO).says("BO IT IS A GREAT GAME");
}

#[test]
fn a_match_line_may_have_brackets() {
    let referee = Referee::new();
    let (game_match, report, _) = both_set_up(&referee);
    referee.reply(ANN, &report, &format!("MATCH [{}]:\nSHIP 1 A3 TO A1", game_match.id));
    referee.one_to(ANN).says("Your orders are sealed").keeps_silent_of("Not read");
}

#[test]
fn orders_of_another_match_reach_nobody() {
    let referee = Referee::new();
    let (_, _, _) = both_set_up(&referee);
    let (_, report) = quad(&referee);
    referee.reply(BO, &report, "SHIP 1 A3 TO B2");
    referee.one_to(BO).says("orders of another game").says("> SHIP 1 A3 TO B2 (Quadrant Z)");
    referee.advance(24);
    for letter in referee.sent_to(GM) {
        letter.keeps_silent_of("A3");
    }
    referee.sent_to(BO);
}

/// Filed orders that are not played yet are offered whole, as the letter corrects them.
#[test]
fn a_correction_is_offered_as_the_corrected_whole_in_every_game() {
    for (game, filed, text, offered) in [
        (GameKind::Quad, "STAR G7\nMARBLE C6", "I meant C9.", "| STAR G7\n    | MARBLE C9"),
        (GameKind::Quad, "MARBLE C6", "Nein, doch lieber C9", "| MARBLE C9"),
        (GameKind::Quantum, "D3-D4", "Sorry, e3-e4 instead", "| E3 E4"),
    ] {
        let referee = Referee::new();
        let game_match = referee.open(game, &[]);
        referee.reply(ANN, &referee.one_to(ANN), &format!("{filed}\n\nIt snows here."));
        let receipt = referee.one_to(ANN);
        referee.reply(ANN, &receipt, text);
        let answer = referee.one_to(ANN);
        answer.says("change your orders").says("YES");
        assert!(answer.text.contains(offered), "{text}: {}", answer.text);
        referee.reply(ANN, &answer, "YES");
        referee.one_to(ANN).says("What happened");
        assert_eq!(turns(&referee, &game_match), 1, "{text}");
    }
}

#[test]
fn a_correction_beside_orders_is_offered_and_one_after_the_move_is_told_so() {
    for (text, offered) in [
        ("MARBLE C6\n\nPerdón, quise decir C9.", "| MARBLE C9"),
        ("MARBLE C6\nscratch that C9", "| MARBLE C9"),
    ] {
        let referee = Referee::new();
        let (game_match, report) = quad(&referee);
        referee.reply(BO, &report, text);
        referee.one_to(BO).says("change your orders").says(offered).keeps_silent_of("| MARBLE C6");
        assert_eq!(turns(&referee, &game_match), 1, "{text}");
    }
    let referee = Referee::new();
    let (game_match, report) = quad(&referee);
    referee.reply(BO, &report, "MARBLE C6");
    let played = referee.one_to(BO);
    for text in ["Sorry, I meant C9.", "Please make it C9 instead of C6.", "Please cancel my order."] {
        referee.reply(BO, &played, text);
        referee.one_to(BO).says("What was adjudicated stands").says("| TELL I mistyped");
    }
    assert_eq!(turns(&referee, &game_match), 2);
}

#[test]
fn an_order_may_stand_on_two_lines() {
    let referee = Referee::new();
    let (game_match, report, _) = both_set_up(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3\nTO A1\nSHIP 3 HOLD");
    referee.one_to(ANN).says("Your orders are sealed");
    assert_eq!(
        held(&referee, &game_match),
        Some(vec!["SHIP 1 A3 TO A1".to_owned(), "SHIP 3 HOLD".to_owned()])
    );
}

#[test]
fn the_opponents_trouble_is_not_the_writers() {
    let referee = Referee::new();
    let (_, report) = quad(&referee);
    referee.reply(BO, &report, "Ann has no internet until the 12th.");
    referee.one_to(BO).says("Thank you for telling me").keeps_silent_of("| ABSENT");
    referee.reply(BO, &report, "Ann's mother has passed away.");
    referee.one_to(BO).says("very sorry").keeps_silent_of("| EXTEND");
    referee.reply(BO, &report, "I have no internet until the 12th.");
    referee.one_to(BO).says("| ABSENT");
}
