//! A player who vanishes: the opponent continues against the house, or takes the win.

use chrono::TimeDelta;
use fogpost::daemon::instruct;
use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Seat};
use fogpost::referee::{self, Act, Instruction, Match, MatchAction, PlayerSettings, Rejection, Stage};

use crate::house::levels::opened;
use crate::referee::{ANN, BO, GM, Referee};

/// A match in which Ann has missed her first turn, and Bo may choose.
pub fn vanished() -> (Referee, Match) {
    let referee = Referee::with("forfeit_after = 1\nsubstitute = \"house\"\n");
    let game_match = referee.open(GameKind::Quad, &[]);
    for _ in 0..9 {
        referee.advance(24);
    }
    let game_match = referee.find(&game_match.id);
    assert!(game_match.vanished.is_some_and(|vanished| vanished.seat == Seat::First));
    (referee, game_match)
}

fn winner(referee: &Referee, id: &str) -> Option<Seat> {
    referee.find(id).state.outcome().and_then(|outcome| outcome.winner)
}

#[test]
fn the_opponent_of_a_vanished_player_can_go_on_against_the_house() {
    let (referee, game_match) = vanished();
    let offer = referee.last_to(BO);
    offer.says("Ann has missed 1 turn in a row").says("| AGREE").says("| CLAIM");
    referee.reply(BO, &offer, "AGREE\nCLAIM");
    let after = referee.find(&game_match.id);
    assert_eq!(after.house.first.as_deref(), Some("easy"), "the club's level");
    assert_eq!((after.adjudicated.len(), after.stage, after.vanished), (1, Stage::Running, None));
    assert!(after.deadline > Some(referee.now()), "Bo's time runs");
    let answer = referee.all_to(BO).into_iter().find(|sent| sent.text.contains("Agreed: the house plays on"));
    answer
        .expect("an answer")
        .says("no win to claim: you have agreed to go on against the house in the place of Ann")
        .keeps_silent_of("still accepted");
    referee.last_to(ANN).says("The house (easy) now plays the seat of Ann");
    referee.reply(BO, &referee.last_to(BO), "MARBLE A2");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 3, "the house has answered");
    referee.reply(BO, &referee.last_to(BO), "CLAIM");
    let answer = referee.last_to(BO);
    answer.says("no win to claim: you play against the house (easy), which never misses a turn");
    referee.reply(BO, &answer, "RESIGN CONFIRM");
    assert_eq!(winner(&referee, &game_match.id), Some(Seat::First));
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn the_opponent_of_a_vanished_player_takes_the_win_by_claim_or_by_silence() {
    for claims in [true, false] {
        let (referee, game_match) = vanished();
        if claims {
            referee.reply(BO, &referee.last_to(BO), "CLAIM");
        } else {
            referee.advance(24 * 5);
            assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
            referee.advance(24 * 3);
        }
        assert_eq!(winner(&referee, &game_match.id), Some(Seat::Second));
    }
}

#[test]
fn a_vanished_player_who_files_is_back_and_a_late_claim_says_what_stands() {
    let (referee, game_match) = vanished();
    let offer = referee.last_to(BO);
    let notice = referee.last_to(ANN);
    notice.says("You have missed 1 turn in a row").says("the match goes on");
    referee.reply(ANN, &notice, "MARBLE F6");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.reply(BO, &offer, "CLAIM");
    referee
        .last_to(BO)
        .says("no win to claim: Ann has not missed 1 turn in a row, is back, or has more time");
    let after = referee.find(&game_match.id);
    assert_eq!((after.stage, after.vanished), (Stage::Running, None));
}

#[test]
fn the_vanished_player_can_neither_choose_nor_ask_for_more_time() {
    let (referee, game_match) = vanished();
    let offer = referee.last_to(BO);
    referee.reply(ANN, &referee.last_to(ANN), "CLAIM\nAGREE");
    assert!(referee.find(&game_match.id).vanished.is_some());
    let answer = referee.last_to(ANN);
    answer
        .says("no win to claim: you have missed 1 turn in a row, and Bo may choose how the match continues")
        .says("has not asked for anything");
    referee.reply(ANN, &answer, "EXTEND 3 days");
    referee.last_to(ANN).says("Send orders, and the match goes on");
    assert!(referee.sent_to(BO).is_empty());
    referee.reply(BO, &offer, "AGREE");
    assert_eq!(referee.find(&game_match.id).house.first.as_deref(), Some("easy"), "Bo agreed to the house");
}

#[test]
fn a_claim_in_a_running_match_says_what_follows_from_missed_turns() {
    for (terms, says) in [
        ("", "in this match the GM decides what happens when a player misses 2 turns in a row"),
        ("forfeit = \"lose\"\n", "in this match a player who misses 2 turns in a row loses without a claim"),
        ("substitute = \"house\"\n", "Once you can choose how the match goes on, I write to you"),
    ] {
        let referee = Referee::with(terms);
        let game_match = referee.open(GameKind::Quad, &[]);
        referee.reply(BO, &referee.last_to(BO), "CLAIM");
        referee.last_to(BO).says("There is no win to claim").says(says);
        assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    }
}

#[test]
fn a_claim_after_the_gm_was_asked_says_so() {
    let referee = Referee::with("forfeit_after = 1\n");
    let game_match = referee.open(GameKind::Quad, &[]);
    for _ in 0..9 {
        referee.advance(24);
    }
    assert!(referee.find(&game_match.id).asked_gm);
    referee.reply(BO, &referee.last_to(BO), "CLAIM");
    referee.last_to(BO).says("no win to claim: the GM has been asked to decide how the match goes on");
}

#[test]
fn a_claim_against_the_house_says_that_it_never_misses_a_turn() {
    let referee = Referee::new();
    opened(&referee, "easy", Seat::First);
    referee.reply(ANN, &referee.last_to(ANN), "CLAIM");
    referee
        .last_to(ANN)
        .says("no win to claim: you play against the house (easy), which never misses a turn");
}

#[test]
fn the_vanished_player_can_agree_to_an_extension_that_the_opponent_asks_for() {
    let (referee, game_match) = vanished();
    referee.reply(BO, &referee.last_to(BO), "EXTEND 3 days");
    referee.reply(ANN, &referee.last_to(ANN), "AGREE");
    let after = referee.find(&game_match.id);
    assert_eq!((after.vanished, after.house), (None, BySeat::default()));
    assert!(after.deadline > Some(referee.now()));
}

#[test]
fn letters_of_the_vanished_player_file_nothing_once_the_house_has_the_seat() {
    let (referee, game_match) = vanished();
    let to_ann = referee.last_to(ANN);
    referee.reply(BO, &referee.last_to(BO), "AGREE");
    let before = referee.find(&game_match.id);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "MARBLE B2");
    assert_eq!(referee.find(&game_match.id).head, before.head);
}

#[test]
fn while_a_protest_is_open_nobody_chooses_and_afterwards_as_much_time_is_left() {
    let (referee, game_match) = vanished();
    let offer = referee.last_to(BO);
    referee.reply(ANN, &referee.last_to(ANN), "PROTEST\nMy letters do not reach you.");
    referee.reply(BO, &offer, "CLAIM\nAGREE");
    referee
        .last_to(BO)
        .says("nobody can choose until it goes on, and the time left stays the same")
        .keeps_silent_of("no win to claim")
        .keeps_silent_of("has not asked");
    referee.advance(24 * 10);
    assert_eq!(referee.find(&game_match.id).stage, Stage::Paused);
    let resume =
        Instruction::Match { id: game_match.id.clone(), turn: None, action: MatchAction::Act(Act::Resume) };
    referee.block_on(instruct::carry_out(referee.office(), &resume)).expect("it is done");
    referee.work();
    let left = |found: &Match| found.vanished.expect("Bo may choose again").until;
    assert!(left(&referee.find(&game_match.id)) > left(&game_match) + TimeDelta::days(9));
    referee.reply(BO, &offer, "AGREE");
    assert_eq!(referee.find(&game_match.id).house.first.as_deref(), Some("easy"));
}

#[test]
fn an_outage_does_not_take_the_choice_away() {
    let (mut referee, game_match) = vanished();
    referee.sleep(24 * 8);
    referee.restart();
    referee.work();
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    referee.reply(BO, &referee.last_to(BO), "AGREE");
    assert_eq!(referee.find(&game_match.id).house.first.as_deref(), Some("easy"));
}

#[test]
fn only_the_opponent_or_a_gm_gives_a_seat_to_the_house() {
    let (referee, game_match) = vanished();
    let act = Act::Replace {
        seat: Seat::First,
        name: "the house (easy)".to_owned(),
        house: Some("easy".to_owned()),
        settings: PlayerSettings::default(),
        excused: false,
    };
    let by_program = game_match.by_program(act);
    assert_eq!(referee::rule(&game_match, &by_program, referee.now()).rejection, Some(Rejection::Passed));
    referee.write(GM, "GM LIST");
    let line = format!("GM MATCH {} REPLACE first house:average", game_match.id);
    referee.reply(GM, &referee.last_to(GM), &line);
    let after = referee.find(&game_match.id);
    assert_eq!((after.house.first.as_deref(), after.vanished), (Some("average"), None));
    referee.last_to(ANN).says("The GM has given the seat of Ann to the house (average)");
}

#[test]
fn in_a_match_against_the_house_a_vanished_player_is_for_the_gm() {
    let referee = Referee::with("forfeit_after = 1\nsubstitute = \"house\"\n");
    let game_match = opened(&referee, "easy", Seat::First);
    for _ in 0..9 {
        referee.advance(24);
    }
    let after = referee.find(&game_match.id);
    assert_eq!((after.vanished, after.asked_gm), (None, true));
}
