//! Time: reminders, deadlines, grace, missed turns and outages.

use fogpost::game::any::GameKind;
use fogpost::referee::Stage;

use crate::referee::{ANN, BO, GM, Referee};

#[test]
fn a_seat_that_has_not_filed_gets_two_reminders() {
    let referee = Referee::new();
    // The turn is due on Thu 14 May, 20:00 CEST: in a week and eight hours.
    referee.open(GameKind::Quad, &[]);
    referee.sent_to(ANN);
    referee.sent_to(BO);
    referee.advance(5 * 24 + 7);
    assert!(referee.sent_to(ANN).is_empty());
    referee.advance(2);
    referee.one_to(ANN).says("you have not filed any orders for turn 1 yet").says("Thu 14 May, 20:00 CEST");
    referee.advance(36);
    referee.one_to(ANN).says("you have not filed any orders");
    assert!(referee.sent_to(BO).is_empty(), "nothing is due from Bo");
}

#[test]
fn orders_filed_in_grace_are_sealed() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.advance(7 * 24 + 8 + 11);
    referee.sent_to(ANN);
    referee.reply(ANN, &invitation, "MARBLE E5");
    referee.sent_to(ANN)[0].says("Your orders are sealed");
}

#[test]
fn a_missed_mandatory_move_sets_a_new_deadline() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.advance(7 * 24 + 8 + 13);
    let game_match = referee.find(&game_match.id);
    assert_eq!(game_match.missed.first, 1);
    referee.last_to(ANN).says("No orders came from you for turn 1");
    referee.last_to(BO).says("No orders came from Ann for turn 1");
    assert_eq!(game_match.stage, Stage::Running);
}

#[test]
fn after_the_second_missed_turn_the_gm_is_asked() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.advance(2 * (8 * 24 + 13));
    assert!(referee.find(&game_match.id).asked_gm);
    let asked = referee.sent_to(GM).into_iter().find(|sent| sent.subject.contains("your decision, please"));
    asked.expect("he is asked").says("nothing is enforced until you decide").says("Ann (first)");
}

#[test]
fn a_missing_setup_of_quadrant_z_is_a_missed_turn() {
    let referee = Referee::with("forfeit = \"lose\"\n");
    let game_match = referee.open(GameKind::QuadrantZ, &[]);
    // A missed turn counts as a hold, but a setup cannot be assumed.
    referee.advance(11 * 24 + 21);
    assert_eq!(referee.find(&game_match.id).missed.first, 1);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
}

#[test]
fn a_deadline_that_passed_while_the_program_was_down_slides() {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let before = game_match.deadline.expect("a deadline");
    referee.sleep(8 * 24);
    referee.restart();
    referee.work();
    let after = referee.find(&game_match.id);
    assert_eq!(after.missed.first, 0);
    assert!(after.deadline.expect("a deadline") >= before + chrono::TimeDelta::days(8));
    referee.last_to(ANN).says("could not be reached");
}

#[test]
fn orders_received_in_time_count_even_if_they_are_read_late() {
    let mut referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.put(&referee.answer(ANN, &invitation, "MARBLE E5"));
    referee.sleep(9 * 24);
    referee.restart();
    referee.work();
    let after = referee.find(&game_match.id);
    assert_eq!((after.adjudicated.len(), after.missed.first), (1, 0));
}

#[test]
fn a_clock_that_jumps_back_and_forth_costs_nobody_a_turn() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    referee.sent_to(BO);
    referee.sleep(-30);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.sent_to(ANN)[0].says("Your orders are sealed");
    let to_bo = referee.last_to(BO);
    // Jump past the deadline, which slides, and back again.
    referee.sleep(9 * 24);
    referee.work();
    referee.sleep(-8 * 24);
    referee.work();
    assert_eq!(referee.find(&game_match.id).missed.second, 0);
    referee.reply(BO, &to_bo, "MARBLE A5");
    referee.sent_to(BO).iter().find(|sent| sent.text.contains("Your orders are sealed")).expect("a receipt");
    let game_match = referee.find(&game_match.id);
    assert_eq!((game_match.stage, game_match.adjudicated.len()), (Stage::Running, 2));
}
