//! Orders beside other words are sealed at once, but firm only after a while: until then their player can take them
//! back, and for the other side they are not there.

use fogpost::referee::{Match, Stage};

use crate::desk::{ANN, BO, Desk, Sent};
use crate::events::gm;
use crate::positions::{kinds, quad, quadrant_z};

const WORDS: &str = "MARBLE G7\n\nOur garden is full of snow.";
const SIGN: &str = "MARBLE G7\n\nWait, my wife has another plan.";

fn turns(desk: &Desk, game_match: &Match) -> usize {
    desk.find(&game_match.id).adjudicated.len()
}

/// Ann's orders beside these words, and the receipt.
fn filed(body: &str) -> (Desk, Match, Sent, Sent) {
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quad(&desk);
    desk.reply(ANN, &to_ann, body);
    let receipt = desk.one_to(ANN);
    assert_eq!(turns(&desk, &game_match), 0);
    (desk, game_match, receipt, to_bo)
}

#[test]
fn orders_beside_other_words_are_played_after_an_hour() {
    let (desk, game_match, receipt, to_bo) = filed(WORDS);
    receipt.says("Your orders are sealed").says("I play them on").says("> Our garden is full of snow.");
    assert!(desk.sent_to(BO).is_empty(), "for Bo nothing has happened");
    desk.reply(BO, &to_bo, "STATUS");
    desk.one_to(BO).says("Turn 1 waits for Ann").keeps_silent_of("filed");
    desk.reply(ANN, &receipt, "STATUS");
    desk.one_to(ANN).says("Your orders are filed. I play them on");
    desk.advance(1);
    assert_eq!(turns(&desk, &game_match), 1);
    desk.one_to(BO).says("What happened");
    assert!(kinds(&desk, &game_match).contains(&"OrdersFirm".to_owned()));
}

#[test]
fn courtesies_and_the_words_off_setting_delay_nothing() {
    for body in ["Hi Bobby,\n\nMARBLE G7\n\nBest wishes\nAnn", "My move:\nMARBLE G7\nThanks and good luck!"] {
        let desk = Desk::new();
        let (game_match, to_ann, _) = quad(&desk);
        desk.reply(ANN, &to_ann, body);
        assert_eq!(turns(&desk, &game_match), 1, "{body}");
    }
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "SETTINGS words=off");
    desk.one_to(ANN).says("| words=off");
    desk.reply(ANN, &to_ann, WORDS);
    assert_eq!(turns(&desk, &game_match), 1);
}

#[test]
fn a_subject_of_ones_own_is_other_words() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let letter = desk.answer(ANN, &to_ann, "MARBLE G7");
    let own = letter.replacen("Subject: Re: [", "Subject: do not play this yet [", 1);
    assert_ne!(letter, own);
    desk.receive(&own);
    desk.one_to(ANN).says("I play them on");
    assert_eq!(turns(&desk, &game_match), 0);
}

#[test]
fn yes_plays_them_now_and_withdraw_takes_them_back() {
    let (desk, game_match, receipt, _) = filed(WORDS);
    desk.reply(ANN, &receipt, "YES");
    desk.one_to(ANN).says("What happened");
    assert_eq!(turns(&desk, &game_match), 1);

    let (desk, game_match, receipt, _) = filed(WORDS);
    desk.reply(ANN, &receipt, "WITHDRAW\nI have changed my mind.");
    desk.one_to(ANN).says("Your orders are taken back");
    desk.advance(30);
    assert_eq!(turns(&desk, &game_match), 0);
    assert!(desk.find(&game_match.id).awaited().contains(&fogpost::game::Seat::First));
}

#[test]
fn new_orders_begin_a_time_of_their_own() {
    let (desk, game_match, receipt, _) = filed(WORDS);
    desk.reply(ANN, &receipt, "MARBLE F6\n\nThe neighbours have a new dog.");
    desk.one_to(ANN).says("they replace those you sent before").says("I play them on");
    desk.reply(ANN, &receipt, "MARBLE E5");
    assert_eq!(turns(&desk, &game_match), 1);
}

/// An answer of words alone: whatever they say, nothing is played before its writer was asked.
#[test]
fn an_answer_in_words_makes_them_wait_for_the_deadline() {
    for words in [
        "stop",
        "Hmm, I am not sure about it any more.",
        "Das war ein Versehen.",
        "my cat walked over the keys",
    ] {
        let (desk, game_match, receipt, _) = filed(WORDS);
        desk.reply(ANN, &receipt, words);
        let asked = desk.one_to(ANN);
        asked.says("I have not played your orders").says("answer YES");
        desk.advance(30);
        assert_eq!(turns(&desk, &game_match), 0, "{words}");
        assert!(desk.sent_to(BO).is_empty());
        desk.advance(24 * 6 - 30);
        desk.sent_to(ANN)
            .iter()
            .find(|sent| sent.subject.contains("due"))
            .expect("a reminder")
            .says("Your orders wait");
        desk.reply(ANN, &asked, "YES");
        assert_eq!(turns(&desk, &game_match), 1, "{words}");
    }
}

#[test]
fn an_answer_in_words_during_grace_plays_nothing_before_its_end() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let deadline = game_match.deadline.expect("a deadline");
    desk.advance((deadline - desk.now()).num_hours() + 2);
    desk.sent_to(ANN);
    desk.reply(ANN, &to_ann, WORDS);
    let receipt = desk.one_to(ANN);
    desk.reply(ANN, &receipt, "stop");
    desk.advance(4);
    assert_eq!(turns(&desk, &game_match), 0);
    desk.advance(10);
    assert_eq!(turns(&desk, &game_match), 1);
}

#[test]
fn thanks_for_the_receipt_change_nothing() {
    let (desk, game_match, receipt, _) = filed(WORDS);
    desk.reply(ANN, &receipt, "Thanks!");
    desk.sent_to(ANN);
    desk.advance(2);
    assert_eq!(turns(&desk, &game_match), 1);
}

#[test]
fn a_sign_that_words_take_orders_back_delays_them_for_a_day() {
    let (desk, game_match, receipt, _) = filed(SIGN);
    receipt.says("I play them on");
    desk.advance(22);
    assert_eq!(turns(&desk, &game_match), 0);
    desk.advance(4);
    assert_eq!(turns(&desk, &game_match), 1);
}

#[test]
fn a_wait_never_outlasts_grace() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let deadline = game_match.deadline.expect("a deadline");
    // Half an hour before grace is over.
    let left = (deadline + game_match.terms.grace() - desk.now()).num_minutes() - 30;
    desk.advance(left / 60);
    desk.sent_to(ANN);
    desk.reply(ANN, &to_ann, SIGN);
    desk.one_to(ANN).says("I play them on");
    desk.advance(2);
    let after = desk.find(&game_match.id);
    assert_eq!((after.adjudicated.len(), after.missed.first), (1, 0));
}

#[test]
fn whoever_completes_the_phase_meanwhile_reads_what_they_would_without() {
    let receipts = [true, false].map(|files| {
        let desk = Desk::new();
        let (game_match, to_ann, to_bo) = quadrant_z(&desk);
        if files {
            desk.reply(ANN, &to_ann, "HOLD\n\nThe trains were late again.");
            desk.one_to(ANN).says("I play them on");
        }
        desk.reply(BO, &to_bo, "HOLD");
        let receipt = desk.one_to(BO);
        assert_eq!(turns(&desk, &game_match), 1, "the setup alone");
        if files {
            desk.advance(1);
            assert_eq!(turns(&desk, &game_match), 2);
            desk.one_to(BO).says("What happened");
        }
        let lines: Vec<String> = receipt.text.lines().map(str::to_owned).collect();
        // Salts and heads differ between any two matches.
        let own = |line: &String| {
            !line.contains("Ledger")
                && !line.contains("token")
                && line.split_whitespace().all(|word| word.len() < 32)
        };
        lines.into_iter().filter(own).map(|line| line.replace(&game_match.id, "")).collect::<Vec<_>>()
    });
    assert_eq!(receipts[0], receipts[1]);
}

#[test]
fn a_pause_stops_their_time() {
    let (desk, game_match, _, _) = filed(WORDS);
    gm(&desk, &format!("GM MATCH {} PAUSE", game_match.id));
    desk.advance(4);
    assert_eq!(turns(&desk, &game_match), 0);
    gm(&desk, &format!("GM MATCH {} RESUME", game_match.id));
    assert_eq!(turns(&desk, &game_match), 0);
    desk.advance(2);
    assert_eq!(turns(&desk, &game_match), 1);
}

#[test]
fn a_condition_beside_other_words_is_followed_once_it_is_firm() {
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quad(&desk);
    desk.reply(BO, &to_bo, "IF G7 THEN F6\n\nWe are off to the lake.");
    desk.one_to(BO).says("They count from");
    desk.reply(ANN, &to_ann, "MARBLE G7");
    assert_eq!(turns(&desk, &game_match), 1, "Ann's move alone");
    desk.last_to(ANN).says("Turn 2 waits for Bo");
    desk.advance(1);
    assert_eq!(turns(&desk, &game_match), 2);
}

/// Commands that cannot be taken back are asked for alone; nothing is final against what a person wrote.
#[test]
fn a_final_command_beside_other_words_is_asked_for_alone() {
    for body in [
        "If Bo does not answer until Monday, then\nRESIGN CONFIRM",
        "RESIGN CONFIRM\nno wait, I want to play on",
        "RESIGN CONFIRM\n\nwas what my brother told me to write.",
        "Bo keeps asking me for a\nDRAW\nI keep saying no",
        "DRAW\n\nIt rains here.",
        "Protest as I may, my wife wants me to stop.",
    ] {
        let desk = Desk::new();
        let (game_match, to_ann, _) = quad(&desk);
        desk.reply(ANN, &to_ann, body);
        let after = desk.find(&game_match.id);
        assert_eq!((after.stage, after.draw_offer, after.protest), (Stage::Running, None, None), "{body}");
        assert!(desk.sent_to(BO).is_empty(), "{body}");
    }
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "RESIGN CONFIRM\n\nThank you and congratulations!\nAnn");
    assert_eq!(desk.find(&game_match.id).stage, Stage::Over);
}
