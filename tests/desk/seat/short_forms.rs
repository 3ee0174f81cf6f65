//! Short forms of orders in letters: several ships, stars or pieces on one line. Receipts and ledgers hold long forms.

use fogpost::game::any::GameKind;
use fogpost::game::{Line, Seat};
use fogpost::ledger::Fact;
use fogpost::referee::Match;

use crate::house::levels::entries;
use crate::referee::{ANN, BO, Referee, Sent};

/// A match of Quadrant Z in turn 1. Ann has ships 1, 2 and 3 in quadrant A and ship 4 in C.
fn quadrant_z(referee: &Referee) -> (Match, Sent) {
    let north = "STAR A1 3 BASE\nSTAR A4 2\nSTAR B1 3\nSTAR C1 2\nSTAR F1 2\nSTAR G1 2\nSTAR K1 1\nSTAR D1 2\nSTAR D2 1\n\
                 STAR E1 2\nSTAR E2 1\nSTAR H1 2\nSTAR I1 2\nSTAR I2 1\nSTAR J1 2\nSTAR J2 1\nSTAR L1 2\nSTAR M1 2\n\
                 STAR N1 2\nSTAR P1 2\nSTAR Q1 2\nSTAR R1 2\nSTAR U1 2\nSTAR V1 2\n\
                 SHIP 1 3/1 A4\nSHIP 2 2/1 A4\nSHIP 3 1/1 A2\nSHIP 4 3/0 C1";
    let game_match = referee.open(GameKind::QuadrantZ, &[]);
    referee.reply(ANN, &referee.one_to(ANN), north);
    referee.reply(BO, &referee.one_to(BO), "SETUP balanced");
    let game_match = referee.find(&game_match.id);
    assert_eq!(game_match.due().map(|due| due.turn), Some(1), "the match has begun");
    (game_match, referee.last_to(ANN))
}

/// The orders that the seat sealed last.
fn sealed(referee: &Referee, game_match: &Match) -> Vec<String> {
    let facts = entries(referee, &game_match.id).into_iter().rev().map(|entry| entry.fact);
    let orders = facts.filter_map(|fact| match fact {
        Fact::OrdersSealed { seat: Seat::First, orders, .. } => Some(orders.iter().cloned().collect()),
        _ => None,
    });
    orders.into_iter().next().expect("sealed orders")
}

#[test]
fn several_ships_or_a_whole_quadrant_stand_on_one_line_of_a_letter() {
    let referee = Referee::new();
    let (game_match, to_ann) = quadrant_z(&referee);
    for (letter, orders) in [
        ("SHIP 1 B2", &["SHIP 1 TO B2"][..]),
        ("ships 1, 2 and 3 to b2", &["SHIP 1 TO B2", "SHIP 2 TO B2", "SHIP 3 TO B2"]),
        ("SHIP 1 2 TO B2\nSHIP 4 C3", &["SHIP 1 TO B2", "SHIP 2 TO B2", "SHIP 4 TO C3"]),
        ("ALL IN A TO B2\nSHIP 2 HOLD", &["SHIP 2 HOLD", "SHIP 1 TO B2", "SHIP 3 TO B2"]),
        ("ALL IN A TO A4\nREST HOLD", &["HOLD", "SHIP 3 TO A4"]),
        ("CAPTURE A4 C1\nSHIP 3 B2", &["CAPTURE A4", "CAPTURE C1", "SHIP 3 TO B2"]),
    ] {
        referee.reply(ANN, &to_ann, letter);
        let receipt = referee.one_to(ANN);
        receipt.says("Your").says(&format!("| {}", orders[0]));
        assert_eq!(sealed(&referee, &game_match), orders, "{letter}");
    }
}

#[test]
fn a_short_form_that_cannot_stand_is_refused_with_the_line_as_written() {
    let referee = Referee::new();
    let (game_match, to_ann) = quadrant_z(&referee);
    for (letter, why) in [
        ("SHIP 4 C1", "Ship 4 is at C1 already"),
        ("SHIPS 1 4 TO B2\nSHIP 1 HOLD", "Ship 1 already has an order in line 1"),
        ("ALL IN A TO Q1", "Ships 1, 2 and 3 cannot go from A to Q1, so this line moves none"),
        ("ALL IN M TO Q1", "You have no ship in M"),
        ("SHIP 1 9 TO B2", "You have no ship 9"),
    ] {
        referee.reply(ANN, &to_ann, letter);
        let refusal = referee.one_to(ANN);
        refusal.says("No order in this letter was filed").says(why);
        refusal.says(&format!("> {}", letter.lines().next_back().expect("a line")));
        assert_eq!(referee.find(&game_match.id).filed.first, None);
    }
}

#[test]
fn a_record_has_no_short_forms() {
    let referee = Referee::new();
    let (game_match, _) = quadrant_z(&referee);
    for line in ["SHIP 1 B2", "SHIPS 1 2 TO B2", "ALL IN A TO B2", "CAPTURE A4 C1", "REST HOLD"] {
        assert!(game_match.state.seal(Seat::First, &Line::numbered(&[line])).is_err(), "{line}");
        assert!(game_match.seal(Seat::First, &Line::numbered(&[line])).is_ok(), "{line}");
    }
}

#[test]
fn stars_and_marble_stand_on_one_line_of_a_letter_in_quad() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let line = Line::numbered(&["STAR C4 D5 MARBLE F6"]);
    assert!(game_match.state.seal(Seat::First, &line).is_err(), "not in a record");
    referee.reply(BO, &referee.one_to(BO), "IF STAR C4 D5 MARBLE F6 THEN STAR A2 MARBLE E6");
    referee.one_to(BO).says("Your conditions are sealed");
    referee.reply(ANN, &referee.one_to(ANN), "star c4, d5 and marble f6");
    referee.one_to(ANN).says("| STAR C4").says("| STAR D5").says("| MARBLE F6").says("a marble on E6");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2);
}
