//! The bank of days by letter: the letters to both sides, and their times.

use fogpost::game::any::GameKind;

use crate::desk::{ANN, BO, Desk};

#[test]
fn both_read_the_first_day_of_a_turn_and_the_late_seat_the_last() {
    let desk = Desk::with("bank = 3\ndays = 1\nforfeit_after = 9\n");
    // The turn is due on Fri 8 May, 20:00 CEST.
    let game_match = desk.open(GameKind::Quad, &[]);
    let invitation = desk.last_to(ANN);
    invitation.says("Bank: 3 days for turns that come late");
    desk.sent_to(BO);
    desk.advance(24 + 8 + 12 + 1);
    let told = desk.last_to(ANN);
    told.says("you have taken a day of your bank: turn 1 is now due Sat 9 May, 20:00 CEST.");
    told.says("2 days are left; with all of them you can go on until Mon 11 May, 20:00 CEST.");
    desk.one_to(BO)
        .says("Ann in time, who has taken a day of the bank: turn 1 is now due Sat 9 May, 20:00 CEST.");
    desk.advance(24);
    assert!(desk.sent_to(ANN).is_empty() && desk.sent_to(BO).is_empty(), "the second day is nobody's news");
    desk.advance(24);
    desk.one_to(ANN).says("It was the last: after that the turn counts as missed.");
    assert!(desk.sent_to(BO).is_empty());
    desk.reply(ANN, &invitation, "STATUS");
    desk.one_to(ANN).says("Bank: you have 0 days left, Bo 3.");
    assert_eq!(desk.find(&game_match.id).missed.first, 0);
    desk.reply(ANN, &invitation, "MARBLE E5");
    desk.last_to(BO).says("Bank: you have 3 days left, Ann 0.");
    assert_eq!(desk.find(&game_match.id).missed.first, 0);
}

#[test]
fn a_turn_is_missed_once_the_bank_is_empty() {
    let desk = Desk::with("bank = 1\ndays = 1\nforfeit_after = 9\n");
    let game_match = desk.open(GameKind::Quad, &[]);
    desk.advance(24 + 8 + 12 + 25);
    assert_eq!(desk.find(&game_match.id).missed.first, 1);
    desk.last_to(ANN).says("No orders came from you for turn 1");
    desk.sent_to(BO);
}

#[test]
fn an_offer_names_the_bank_and_a_challenge_sets_it() {
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[]);
    let to_ann = desk.last_to(ANN);
    desk.sent_to(BO);
    desk.reply(ANN, &to_ann, "CHALLENGE Bo quad bank=5\nOPEN quad bank=61");
    desk.one_to(ANN).says("bank 5 days for turns that come late").says("`bank` is a number from 0 to 60");
    desk.one_to(BO).says("bank 5 days for turns that come late");
}

#[test]
fn an_absence_announced_while_a_bank_day_runs_stops_further_days() {
    for away in [true, false] {
        let desk = Desk::with("bank = 9\ndays = 1\nforfeit_after = 9\n");
        let game_match = desk.open(GameKind::Quad, &[]);
        let invitation = desk.last_to(ANN);
        desk.sent_to(BO);
        // The first day was taken on Sat 9 May, 08:00.
        desk.advance(24 + 8 + 12 + 1);
        if away {
            desk.reply(ANN, &invitation, "ABSENT 2026-05-09 TO 2026-05-12");
        }
        desk.advance(3 * 24);
        let found = desk.find(&game_match.id);
        let taken = found.bank_days.first.len();
        assert_eq!(taken, if away { 1 } else { 4 });
        assert_eq!(usize::try_from(found.bank_left(fogpost::game::Seat::First)).expect("a count") + taken, 9);
        desk.advance(2 * 24);
        desk.sent_to(ANN);
        desk.sent_to(BO);
        let after = desk.find(&game_match.id).bank_days.first.len();
        assert_eq!(after, if away { 2 } else { 6 }, "the day after the absence counts again");
    }
}
