//! Clauses of the rules pages that are visible only in letters: options of a match, and which of two orders
//! counts.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::Match;

use crate::positions::{FLEET, pacific};
use crate::referee::{ANN, BO, Referee};

fn held(referee: &Referee, game_match: &Match, seat: Seat) -> Option<Vec<String>> {
    referee.find(&game_match.id).filed[seat].as_ref().map(|held| held.filing.lines().to_vec())
}

#[test]
fn an_option_value_that_no_match_takes_is_refused_with_what_would_do() {
    let referee = Referee::new();
    let limits = ["quiet_limit=0", "quiet_limit=1000", "quiet_limit=-1", "quiet_limit=many"];
    let arrays = [
        "array=SSSSSSSSS",
        "array=SSSSSSSS/CCCCCCCC/QQQQQQQQ/........",
        "array=XXXXXXXX",
        "array=......../......../........",
    ];
    for option in limits {
        referee.write(ANN, &format!("CHALLENGE {BO} quantum {option}"));
        referee.one_to(ANN).says("quiet_limit").says("a whole number from 1 to 999");
    }
    for option in arrays {
        referee.write(ANN, &format!("CHALLENGE {BO} quantum {option}"));
        referee.one_to(ANN).says("one to three ranks").says("at least one piece");
    }
    assert!(referee.sent_to(BO).is_empty());
}

#[test]
fn the_later_of_two_moves_of_one_stack_counts_and_the_receipt_says_so() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quantum, &[]);
    referee.reply(ANN, &referee.one_to(ANN), "WAIT\nD3 D4\nD3 E4");
    referee.one_to(ANN).says("Your orders are sealed").says("Left out: > D3 D4");
    assert_eq!(held(&referee, &game_match, Seat::First), Some(vec!["D3 E4".to_owned()]));
}

#[test]
fn the_later_of_two_moves_of_one_ship_counts_and_the_receipt_says_so() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = pacific(&referee);
    referee.reply(ANN, &to_ann, "WAIT\nG3 H5\nG3 F5");
    referee.one_to(ANN).says("Your orders are sealed").says("Left out: > G3 H5");
    assert_eq!(
        held(&referee, &game_match, Seat::First).map(|lines| lines.join(" ")),
        Some("G3-F5".to_owned())
    );
}

#[test]
fn both_pages_of_advice_come_by_mail() {
    let referee = Referee::new();
    referee.answer_for(ANN);
    for (asked, says) in
        [("RULES quad strategy", "QUAD: STRATEGY"), ("rules Quadrant Z strategy", "cat and mouse")]
    {
        referee.write(ANN, asked);
        referee.one_to(ANN).says(says);
    }
    referee.write(ANN, "RULES quantum strategy");
    referee.one_to(ANN).says("no game called quantum strategy").says("| RULES quad strategy");
}

#[test]
fn a_report_of_the_pacific_says_whose_squadron_has_spent_its_leap() {
    let referee = Referee::new();
    let (_, to_ann, _) = pacific(&referee);
    to_ann.says("Your squadrons S1 D3, S2 M3");
    referee.reply(ANN, &to_ann, "D3 E5");
    referee.last_to(ANN).says("Your squadrons S2 M3, S1 E5 leap spent");
    referee.last_to(BO).says("Their squadrons S2 M3, S1 E5 leap spent");
}

#[test]
fn an_invitation_to_the_pacific_names_the_submarines_and_a_fault_of_its_setup_counts_in_words() {
    let referee = Referee::new();
    referee.open(GameKind::Pacific, &[]);
    let invitation = referee.one_to(ANN);
    invitation.says("This match is played with submarines, an option of the game");
    referee.reply(ANN, &invitation, &FLEET.replace("CARRIER M2 SQUADRON M3\n", ""));
    referee
        .one_to(ANN)
        .says("You have placed 1 carrier; the basic fleet has 2")
        .keeps_silent_of("1 carriers");
}
