//! Ready setups (rulings Z-READY and P-READY), and a report of Quadrant Z about one's own turn.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;

use crate::positions::{kinds, quadrant_z};
use crate::referee::{ANN, BO, Referee};

#[test]
fn a_ready_setup_is_filed_as_its_lines() {
    for (game, orders, lines) in [
        (GameKind::QuadrantZ, "SETUP balanced", "SHIP 4 1/1"),
        (GameKind::Pacific, "setup Deep", "SUBMARINE U1"),
    ] {
        let referee = Referee::new();
        let game_match = referee.open(game, &[]);
        referee.reply(ANN, &referee.one_to(ANN), orders);
        referee.one_to(ANN).says("Your orders are sealed").says(lines);
        referee.reply(BO, &referee.one_to(BO), orders);
        referee.last_to(BO).says("Turn 1").says("What happened");
        let game_match = referee.find(&game_match.id);
        assert_eq!(game_match.due().map(|due| due.turn), Some(1), "the match has begun");
    }
}

#[test]
fn a_ready_setup_can_be_looked_at_first_and_is_drawn_once() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::QuadrantZ, &[]);
    let invitation = referee.one_to(ANN);
    invitation.says("| SETUP balanced").says("| SETUP raid").says("| SETUP guard");
    referee.reply(ANN, &invitation, "CHECK\nSETUP raid");
    let checked = referee.one_to(ANN);
    referee.reply(ANN, &invitation, "SETUP raid");
    referee.one_to(ANN);
    let filed = referee.find(&game_match.id).filed[Seat::First].clone().expect("it is filed");
    for line in filed.filing.lines().iter() {
        checked.says(line);
    }
    assert!(kinds(&referee, &game_match).contains(&"OrdersSealed".to_owned()));
}

#[test]
fn a_ready_setup_beside_other_orders_is_refused() {
    let referee = Referee::new();
    referee.open(GameKind::QuadrantZ, &[]);
    referee.reply(ANN, &referee.one_to(ANN), "SETUP guard\nSHIP 9 1/1 A3");
    let refusal = referee.one_to(ANN);
    refusal.says("> SETUP guard").says("A ready setup stands alone in a letter");
    refusal.keeps_silent_of("worth");
}

#[test]
fn a_ready_setup_after_the_setup_is_refused() {
    let referee = Referee::new();
    let (_, to_ann, _) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "SETUP guard");
    referee.one_to(ANN).says("> SETUP guard").says("No order in this letter was filed");
}

#[test]
fn a_report_tells_what_the_seat_did_itself_and_nothing_of_it_to_the_other() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "SHIP 1 TO H3");
    referee.reply(BO, &to_bo, "HOLD");
    referee
        .last_to(ANN)
        .says("- You moved ship 1 from G1 to H3.")
        .says("- You know the stars in H now: H1 (4) and H2 (2).")
        .keeps_silent_of("A quiet turn");
    referee
        .last_to(BO)
        .says("- You know the stars in H now")
        .says("An enemy force entered H")
        .keeps_silent_of("ship 1 from");
}
