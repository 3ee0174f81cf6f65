//! The bank of days by letter: the letters to both sides, and their times.

use fogpost::game::any::GameKind;

use crate::referee::{ANN, BO, Referee};

#[test]
fn both_read_the_first_day_of_a_turn_and_the_late_seat_the_last() {
    let referee = Referee::with("bank = 3\ndays = 1\nforfeit_after = 9\n");
    // The turn is due on Fri 8 May, 20:00 CEST.
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.last_to(ANN);
    invitation.says("Bank: 3 days for turns that come late");
    referee.sent_to(BO);
    referee.advance(24 + 8 + 12 + 1);
    let told = referee.last_to(ANN);
    told.says("you have taken a day of your bank: turn 1 is now due Sat 9 May, 20:00 CEST.");
    told.says("2 days are left; with all of them you can go on until Mon 11 May, 20:00 CEST.");
    referee
        .one_to(BO)
        .says("Ann in time, who has taken a day of the bank: turn 1 is now due Sat 9 May, 20:00 CEST.");
    referee.advance(24);
    assert!(
        referee.sent_to(ANN).is_empty() && referee.sent_to(BO).is_empty(),
        "the second day is nobody's news"
    );
    referee.advance(24);
    referee.one_to(ANN).says("It was the last: after that the turn counts as missed.");
    assert!(referee.sent_to(BO).is_empty());
    referee.reply(ANN, &invitation, "STATUS");
    referee.one_to(ANN).says("Bank: you have 0 days left, Bo 3.");
    assert_eq!(referee.find(&game_match.id).missed.first, 0);
    referee.reply(ANN, &invitation, "MARBLE E5");
    referee.last_to(BO).says("Bank: you have 3 days left, Ann 0.");
    assert_eq!(referee.find(&game_match.id).missed.first, 0);
}

#[test]
fn a_turn_is_missed_once_the_bank_is_empty() {
    let referee = Referee::with("bank = 1\ndays = 1\nforfeit_after = 9\n");
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.advance(24 + 8 + 12 + 25);
    assert_eq!(referee.find(&game_match.id).missed.first, 1);
    referee.last_to(ANN).says("No orders came from you for turn 1");
    referee.sent_to(BO);
}

#[test]
fn an_offer_names_the_bank_and_a_challenge_sets_it() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let to_ann = referee.last_to(ANN);
    referee.sent_to(BO);
    referee.reply(ANN, &to_ann, "CHALLENGE Bo quad bank=5\nOPEN quad bank=61");
    referee.one_to(ANN).says("bank 5 days for turns that come late").says("`bank` is a number from 0 to 60");
    referee.one_to(BO).says("bank 5 days for turns that come late");
}

#[test]
fn an_absence_announced_while_a_bank_day_runs_stops_further_days() {
    for away in [true, false] {
        let referee = Referee::with("bank = 9\ndays = 1\nforfeit_after = 9\n");
        let game_match = referee.open(GameKind::Quad, &[]);
        let invitation = referee.last_to(ANN);
        referee.sent_to(BO);
        // The first day was taken on Sat 9 May, 08:00.
        referee.advance(24 + 8 + 12 + 1);
        if away {
            referee.reply(ANN, &invitation, "ABSENT 2026-05-09 TO 2026-05-12");
        }
        referee.advance(3 * 24);
        let found = referee.find(&game_match.id);
        let taken = found.bank_days.first.len();
        assert_eq!(taken, if away { 1 } else { 4 });
        assert_eq!(usize::try_from(found.bank_left(fogpost::game::Seat::First)).expect("a count") + taken, 9);
        referee.advance(2 * 24);
        referee.sent_to(ANN);
        referee.sent_to(BO);
        let after = referee.find(&game_match.id).bank_days.first.len();
        assert_eq!(after, if away { 2 } else { 6 }, "the day after the absence counts again");
    }
}
