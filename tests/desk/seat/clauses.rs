//! Clauses of the rules pages that are visible only in letters: options of a match, and which of two orders
//! counts.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::Match;

use crate::desk::{ANN, BO, Desk};
use crate::positions::{FLEET, pacific};

fn held(desk: &Desk, game_match: &Match, seat: Seat) -> Option<Vec<String>> {
    desk.find(&game_match.id).held[seat].as_ref().map(|held| held.filing.lines().to_vec())
}

#[test]
fn an_option_value_that_no_match_takes_is_refused_with_what_would_do() {
    let desk = Desk::new();
    let limits = ["quiet_limit=0", "quiet_limit=1000", "quiet_limit=-1", "quiet_limit=many"];
    let arrays = [
        "array=SSSSSSSSS",
        "array=SSSSSSSS/CCCCCCCC/QQQQQQQQ/........",
        "array=XXXXXXXX",
        "array=......../......../........",
    ];
    for option in limits {
        desk.write(ANN, &format!("CHALLENGE {BO} quantum {option}"));
        desk.one_to(ANN).says("quiet_limit").says("a whole number from 1 to 999");
    }
    for option in arrays {
        desk.write(ANN, &format!("CHALLENGE {BO} quantum {option}"));
        desk.one_to(ANN).says("one to three ranks").says("at least one piece");
    }
    assert!(desk.sent_to(BO).is_empty());
}

#[test]
fn the_later_of_two_moves_of_one_stack_counts_and_the_receipt_says_so() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quantum, &[]);
    desk.reply(ANN, &desk.one_to(ANN), "WAIT\nD3 D4\nD3 E4");
    desk.one_to(ANN).says("Your orders are sealed").says("Left out: > D3 D4");
    assert_eq!(held(&desk, &game_match, Seat::First), Some(vec!["D3 E4".to_owned()]));
}

#[test]
fn the_later_of_two_moves_of_one_ship_counts_and_the_receipt_says_so() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = pacific(&desk);
    desk.reply(ANN, &to_ann, "WAIT\nG3 H5\nG3 F5");
    desk.one_to(ANN).says("Your orders are sealed").says("Left out: > G3 H5");
    assert_eq!(held(&desk, &game_match, Seat::First).map(|lines| lines.join(" ")), Some("G3-F5".to_owned()));
}

#[test]
fn both_pages_of_advice_come_by_mail() {
    let desk = Desk::new();
    desk.answer_for(ANN);
    for (asked, says) in
        [("RULES quad strategy", "QUAD: STRATEGY"), ("rules Quadrant Z strategy", "cat and mouse")]
    {
        desk.write(ANN, asked);
        desk.one_to(ANN).says(says);
    }
    desk.write(ANN, "RULES quantum strategy");
    desk.one_to(ANN).says("no game called quantum strategy").says("| RULES quad strategy");
}

#[test]
fn a_report_of_the_pacific_says_whose_squadron_has_spent_its_leap() {
    let desk = Desk::new();
    let (_, to_ann, _) = pacific(&desk);
    to_ann.says("Your squadrons S1 D3, S2 M3");
    desk.reply(ANN, &to_ann, "D3 E5");
    desk.last_to(ANN).says("Your squadrons S2 M3, S1 E5 leap spent");
    desk.last_to(BO).says("Their squadrons S2 M3, S1 E5 leap spent");
}

#[test]
fn an_invitation_to_the_pacific_names_the_submarines_and_a_fault_of_its_setup_counts_in_words() {
    let desk = Desk::new();
    desk.open(GameKind::Pacific, &[]);
    let invitation = desk.one_to(ANN);
    invitation.says("This match is played with submarines, an option of the game");
    desk.reply(ANN, &invitation, &FLEET.replace("CARRIER M2 SQUADRON M3\n", ""));
    desk.one_to(ANN).says("You have placed 1 carrier; the basic fleet has 2").keeps_silent_of("1 carriers");
}
