//! A seat's memory of the fog: in its reports, in the rows next to the snapshot, and after a rollback.

use crate::audit::database::cheat;
use crate::positions::quadrant_z;
use crate::referee::{ANN, BO, GM, Referee, Sent};

/// Plays two turns: in the first, Ann's ship 1 enters the neutral quadrant H; in the second, all hold. Returns the name of
/// the match and the letters that opened the second turn.
fn a_turn_after_the_entry(referee: &Referee) -> (String, Sent, Sent) {
    let (game_match, to_ann, to_bo) = quadrant_z(referee);
    referee.reply(ANN, &to_ann, "SHIP 1 TO H3");
    referee.reply(BO, &to_bo, "HOLD");
    let (to_ann, to_bo) = (referee.last_to(ANN), referee.last_to(BO));
    to_bo.says("An enemy force entered H").keeps_silent_of("What you remember");
    referee.reply(ANN, &to_ann, "HOLD");
    referee.reply(BO, &to_bo, "HOLD");
    (game_match.id, referee.last_to(ANN), referee.last_to(BO))
}

const REMEMBERED: &str = "In turn 1 an enemy force entered H.";

#[test]
fn a_report_tells_the_news_of_earlier_turns_with_their_turn() {
    let referee = Referee::new();
    let (id, to_ann, to_bo) = a_turn_after_the_entry(&referee);
    to_bo.says("A quiet turn").says("What you remember").says(REMEMBERED);
    to_ann.keeps_silent_of("What you remember");
    assert!(referee.verify(&id).is_sound());
}

#[test]
fn memories_that_were_taken_from_a_snapshot_are_found() {
    let referee = Referee::new();
    let (id, _, _) = a_turn_after_the_entry(&referee);
    let forgetful = fogpost::referee::Match { memories: None, ..referee.find(&id) };
    let snapshot = serde_json::to_string(&forgetful).expect("plain values").replace('\'', "''");
    cheat(&referee, &[&format!("UPDATE match SET snapshot = '{snapshot}'")]);
    let verdict = referee.verify(&id);
    assert!(verdict.findings[0].what.contains("memories"), "{verdict:#?}");
}

#[test]
fn after_a_rollback_the_voided_turns_are_forgotten() {
    let referee = Referee::new();
    let (id, _, to_bo) = a_turn_after_the_entry(&referee);
    let remembered = referee.find(&id).memories;
    let rollback = format!("GM MATCH {id} ROLLBACK 1 It was misread.");
    referee.write(GM, "GM LIST");
    referee.reply(GM, &referee.last_to(GM), &rollback);
    referee.reply(GM, &referee.last_to(GM), &rollback);
    let told = referee.last_to(BO);
    told.says("turn 1 is open again").says("what you remember").keeps_silent_of(REMEMBERED);
    assert_ne!(referee.find(&id).memories, remembered);
    referee.reply(ANN, &referee.last_to(ANN), "HOLD");
    referee.reply(BO, &told, "HOLD");
    referee.last_to(BO).keeps_silent_of(REMEMBERED);
    assert!(to_bo.subject.contains("Turn 3"), "{}", to_bo.subject);
    assert!(referee.verify(&id).is_sound());
}
