//! Time: reminders, deadlines, grace, missed turns and outages.

use fogpost::game::any::GameKind;
use fogpost::referee::Stage;

use crate::desk::{ANN, BO, Desk, GM};

#[test]
fn a_seat_that_has_not_filed_gets_two_reminders() {
    let desk = Desk::new();
    // The turn is due on Thu 14 May, 20:00 CEST: in a week and eight hours.
    desk.open(GameKind::Quad, &[]);
    desk.sent_to(ANN);
    desk.sent_to(BO);
    desk.advance(5 * 24 + 7);
    assert!(desk.sent_to(ANN).is_empty());
    desk.advance(2);
    desk.one_to(ANN).says("You have not filed any orders for turn 1 yet").says("Thu 14 May, 20:00 CEST");
    desk.advance(36);
    desk.one_to(ANN).says("You have not filed any orders");
    assert!(desk.sent_to(BO).is_empty(), "nothing is due from Bo");
}

#[test]
fn orders_filed_in_grace_are_sealed() {
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[]);
    let invitation = desk.one_to(ANN);
    desk.advance(7 * 24 + 8 + 11);
    desk.sent_to(ANN);
    desk.reply(ANN, &invitation, "MARBLE E5");
    desk.sent_to(ANN)[0].says("Your orders are sealed");
}

#[test]
fn a_missed_mandatory_move_sets_a_new_deadline() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    desk.advance(7 * 24 + 8 + 13);
    let game_match = desk.find(&game_match.id);
    assert_eq!(game_match.missed.first, 1);
    desk.last_to(ANN).says("No orders came from you for turn 1");
    desk.last_to(BO).says("No orders came from Ann for turn 1");
    assert_eq!(game_match.stage, Stage::Running);
}

#[test]
fn after_the_second_missed_turn_the_gm_is_asked() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    desk.advance(2 * (8 * 24 + 13));
    assert!(desk.find(&game_match.id).asked_gm);
    let asked = desk.sent_to(GM).into_iter().find(|sent| sent.subject.contains("your decision, please"));
    asked.expect("he is asked").says("nothing is enforced until you decide").says("Ann (first)");
}

#[test]
fn a_missing_setup_of_quadrant_z_is_a_missed_turn() {
    let desk = Desk::with("forfeit = \"lose\"\n");
    let game_match = desk.open(GameKind::QuadrantZ, &[]);
    // A missed turn counts as a hold, but a setup cannot be assumed.
    desk.advance(11 * 24 + 21);
    assert_eq!(desk.find(&game_match.id).missed.first, 1);
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 0);
}

#[test]
fn a_deadline_that_passed_while_the_program_was_down_slides() {
    let mut desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    let before = game_match.deadline.expect("a deadline");
    desk.sleep(8 * 24);
    desk.restart();
    desk.work();
    let after = desk.find(&game_match.id);
    assert_eq!(after.missed.first, 0);
    assert!(after.deadline.expect("a deadline") >= before + chrono::TimeDelta::days(8));
    desk.last_to(ANN).says("could not be reached");
}

#[test]
fn orders_received_in_time_count_even_if_they_are_read_late() {
    let mut desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    let invitation = desk.one_to(ANN);
    desk.put(&desk.answer(ANN, &invitation, "MARBLE E5"));
    desk.sleep(9 * 24);
    desk.restart();
    desk.work();
    let after = desk.find(&game_match.id);
    assert_eq!((after.adjudicated.len(), after.missed.first), (1, 0));
}

#[test]
fn a_clock_that_jumps_back_and_forth_costs_nobody_a_turn() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    let to_ann = desk.one_to(ANN);
    desk.sent_to(BO);
    desk.sleep(-30);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.sent_to(ANN)[0].says("Your orders are sealed");
    let to_bo = desk.last_to(BO);
    // Jump past the deadline, which slides, and back again.
    desk.sleep(9 * 24);
    desk.work();
    desk.sleep(-8 * 24);
    desk.work();
    assert_eq!(desk.find(&game_match.id).missed.second, 0);
    desk.reply(BO, &to_bo, "MARBLE A5");
    desk.sent_to(BO).iter().find(|sent| sent.text.contains("Your orders are sealed")).expect("a receipt");
    let game_match = desk.find(&game_match.id);
    assert_eq!((game_match.stage, game_match.adjudicated.len()), (Stage::Running, 2));
}
