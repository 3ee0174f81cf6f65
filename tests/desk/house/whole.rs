//! Whole matches against the house by letter, one letter each way. Those of Quad against each level are in `levels`.

use std::sync::Arc;

use fogpost::daemon::instruct;
use fogpost::daemon::{Holder, NewMatch};
use fogpost::game::any::{AnySeen, GameKind};
use fogpost::game::{BySeat, Seat};
use fogpost::house;
use fogpost::ledger::{self, Cause, EntryCause};
use fogpost::referee::{Match, Stage, Terms};

use crate::audit::database::letter_causes;
use crate::house::levels::{ann, entries, to_ann};
use crate::referee::{ANN, Referee};

/// Letters after which a match has failed. All these matches are shorter.
const MOST: u64 = 400;

/// Opens a match in which Ann is `first` against this level.
fn opened(referee: &Referee, game: GameKind, level: &str, options: &[(&str, &str)]) -> Match {
    let level = house::level(game, level).expect("a level");
    let new = NewMatch {
        game,
        choices: house::choices_at(game, level, options).expect("options of the game"),
        players: BySeat::new(ann(), Holder::House(level)),
        terms: Terms {
            advance: referee.office().config.house.advance,
            ..referee.office().config.terms.clone()
        },
    };
    let game_match = referee.block_on(instruct::open(referee.office(), new)).expect("the match opens");
    referee.work();
    game_match
}

/// Plays a match to its end. Ann plays as Easy would with her knowledge, and each of her letters gets exactly one
/// answer.
fn play_out(referee: &Referee, id: &str) -> Match {
    for dice in 0..MOST {
        let game_match = referee.find(id);
        if game_match.stage == Stage::Over {
            return game_match;
        }
        assert_eq!(game_match.house_due(), None, "the house has played");
        let seen: AnySeen =
            ledger::what_seat_saw(&entries(referee, id), Seat::First).expect("a sound ledger");
        let level = house::level(game_match.game, "easy").expect("a level");
        let lines = house::play(&seen, level, dice).expect("the house plays the game").orders;
        let lines = if lines.is_empty() { "HOLD".to_owned() } else { lines.join("\n") };
        let letters = referee.all_to(ANN).len();
        referee.reply(ANN, &to_ann(referee), &lines);
        assert_eq!(referee.all_to(ANN).len(), letters + 1, "one letter each way");
    }
    panic!("the match does not end")
}

/// Asserts that a match against this level ends by letter, and that the level files its own orders. Ann plays like Easy.
fn assert_played_to_the_end(game: GameKind, level: &str, options: &[(&str, &str)]) {
    let referee = Referee::new();
    let game_match = opened(&referee, game, level, options);
    let name = house::level(game, level).expect("a level").player_name();
    referee.all_to(ANN)[0].says(&format!("Opponent: {name}"));
    let game_match = play_out(&referee, &game_match.id);
    assert!(game_match.state.outcome().is_some());
    let result = referee.last_to(ANN);
    let [(_, record)] = &result.attachments[..] else { panic!("the record is attached") };
    assert!(record.contains(&format!("second = \"{name}\"")), "{record}");
    for entry in entries(&referee, &game_match.id) {
        if let EntryCause::Cause(Cause::House { play, .. }) = entry.cause {
            assert_eq!(play.failed, None);
        }
    }
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn a_match_of_quad_is_one_letter_each_way() {
    assert_played_to_the_end(GameKind::Quad, "easy", &[]);
}

#[test]
fn a_match_of_the_pacific_against_trainer_can_be_played_to_the_end() {
    assert_played_to_the_end(GameKind::Pacific, "trainer", &[("quiet_limit", "1")]);
}

#[test]
fn a_match_of_the_pacific_against_easy_can_be_played_to_the_end() {
    assert_played_to_the_end(GameKind::Pacific, "easy", &[("quiet_limit", "2"), ("torpedo", "within")]);
}

#[test]
fn a_match_of_the_pacific_against_average_can_be_played_to_the_end() {
    assert_played_to_the_end(GameKind::Pacific, "average", &[("quiet_limit", "1")]);
}

#[test]
fn a_match_of_quadrant_z_against_trainer_can_be_played_to_the_end() {
    assert_played_to_the_end(GameKind::QuadrantZ, "trainer", &[("casualties", "ask"), ("turn_limit", "15")]);
}

#[test]
fn a_match_of_quadrant_z_against_easy_can_be_played_to_the_end() {
    assert_played_to_the_end(GameKind::QuadrantZ, "easy", &[("turn_limit", "15")]);
}

#[test]
fn a_match_of_quadrant_z_against_average_can_be_played_to_the_end() {
    assert_played_to_the_end(GameKind::QuadrantZ, "average", &[]);
}

#[test]
fn a_match_of_quantum_against_each_level_can_be_played_to_the_end() {
    for level in ["trainer", "easy", "average", "expert"] {
        assert_played_to_the_end(GameKind::Quantum, level, &[("quiet_limit", "2")]);
    }
}

#[test]
fn in_every_game_trainer_gives_hints_that_can_be_filed() {
    for &game in GameKind::ALL {
        let referee = Referee::new();
        let opened = opened(&referee, game, "trainer", &[]);
        let id = &opened.id;
        referee.reply(ANN, &to_ann(&referee), "HINT");
        let hints =
            letter_causes(&referee, id).into_iter().filter_map(|cause| Some(cause.hint?.orders.join("\n")));
        let [hint] = &hints.collect::<Vec<_>>()[..] else { panic!("one hint in {game}") };
        let answer = referee.last_to(ANN);
        let first_order = hint.lines().next().expect("an order");
        answer.says(first_order);
        referee.reply(ANN, &answer, hint);
        assert!(referee.find(id).phase_no > opened.phase_no, "{game}: {hint}");
        assert!(referee.verify(id).is_sound());
    }
}

#[test]
fn nobody_is_late_while_the_house_is_to_move() {
    let mut referee = Referee::new();
    referee.office_mut().set_house(Arc::new(|_: &AnySeen, _, _| None));
    let game_match = opened(&referee, GameKind::QuadrantZ, "easy", &[]);
    assert!(game_match.overview().awaits_house());
    let letters = referee.all_to(ANN).len();
    let overdue = game_match.deadline.expect("Ann is to file as well") + game_match.terms.grace();
    while referee.now() <= overdue {
        referee.advance(2);
    }
    assert_eq!(referee.find(&game_match.id).missed, game_match.missed);
    assert_eq!(referee.all_to(ANN).len(), letters, "she is not reminded");
    referee.office_mut().set_house(Arc::new(house::play));
    referee.advance(2);
    assert!(!referee.find(&game_match.id).overview().awaits_house());
}
