//! Clauses of the rules pages that show in letters alone: options of a match, and which of two orders counts.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::Match;

use crate::desk::{ANN, BO, Desk};
use crate::positions::FLEET;

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
    let game_match = desk.open(GameKind::Pacific, &[("submarines", "false")]);
    let north: String =
        ["CARRIER D15 SQUADRON D14", "CARRIER M15 SQUADRON M14", "BATTLESHIP A16 B16 O16 P16"]
            .into_iter()
            .chain(["CRUISER C16 E16 L16 N16", "DESTROYER A14 C14 E14 G14 I14 K14 O14"])
            .map(|line| format!("{line}\n"))
            .collect();
    desk.reply(ANN, &desk.one_to(ANN), FLEET);
    desk.reply(BO, &desk.one_to(BO), &north);
    desk.reply(ANN, &desk.last_to(ANN), "WAIT\nG3 H5\nG3 F5");
    desk.one_to(ANN).says("Your orders are sealed").says("Left out: > G3 H5");
    assert_eq!(held(&desk, &game_match, Seat::First).map(|lines| lines.join(" ")), Some("G3-F5".to_owned()));
}

#[test]
fn both_pages_of_advice_come_by_mail() {
    let desk = Desk::new();
    desk.know(ANN);
    for (asked, says) in
        [("RULES quad strategy", "QUAD: STRATEGY"), ("rules Quadrant Z strategy", "cat and mouse")]
    {
        desk.write(ANN, asked);
        desk.one_to(ANN).says(says);
    }
    desk.write(ANN, "RULES quantum strategy");
    desk.one_to(ANN).says("no game called quantum strategy").says("| RULES quad strategy");
}
