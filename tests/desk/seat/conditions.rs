//! Conditional orders by letter: met, void or illegal, and hidden from the opponent.

use fogpost::game::any::GameKind;
use fogpost::game::record::Record;
use fogpost::ledger::Entry;
use fogpost::referee::Match;

use crate::positions::{kinds, quad};
use crate::referee::{ANN, BO, GM, Referee, Sent};

fn entries(referee: &Referee, game_match: &Match) -> Vec<Entry> {
    let rows = referee.block_on(referee.office().store.entries(&game_match.id)).expect("the store answers");
    rows.iter().map(|row| serde_json::from_str(&row.json).expect("an entry")).collect()
}

/// The record of the match so far, whose replay must lead to the state of the match.
fn record(referee: &Referee, game_match: &Match) -> Record {
    let record = fogpost::ledger::record(&entries(referee, game_match)).expect("a record");
    let mut last = None;
    record.replay(|step| match step {
        fogpost::game::record::Replayed::Adjudicated(done) => last = Some(done.state.clone()),
        fogpost::game::record::Replayed::Refused { faults, .. } => panic!("{faults:?}"),
    });
    assert_eq!(last, Some(referee.find(&game_match.id).state));
    assert!(Record::parse(&record.to_string()).is_ok(), "{record}");
    record
}

/// A match of Quad in which Bo has sent these lines ahead, and the letters that Ann and Bo answer.
fn with_conditions(referee: &Referee, lines: &str) -> (Match, Sent, Sent) {
    let (game_match, to_ann, to_bo) = quad(referee);
    referee.reply(BO, &to_bo, lines);
    let receipt = referee.one_to(BO);
    receipt.says("Your conditions are sealed").says("| IF").says("SHA-256 of your sealed conditions");
    assert!(referee.sent_to(ANN).is_empty(), "the other side hears nothing");
    (game_match, to_ann, receipt)
}

#[test]
fn a_condition_that_is_met_answers_at_once() {
    let referee = Referee::new();
    let (game_match, to_ann, _) =
        with_conditions(&referee, "if c4* e6 then d5 IF E7 THEN F7\nIF E5 THEN D5* F6");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let (to_ann, to_bo) = (referee.last_to(ANN), referee.last_to(BO));
    to_ann
        .says("marble on E5")
        .says("F6")
        .says("Turn 3 is open")
        .keeps_silent_of("IF E")
        .keeps_silent_of("condition");
    to_bo.says("The move came that you had prepared for").says("| IF E5 THEN D5* F6").says("Ann moves next");
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(3));
    let record = record(&referee, &game_match);
    assert!(record.to_string().contains("IF E5 THEN D5* F6"), "{record}");
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn words_that_may_take_conditions_back_end_them_and_yes_brings_them_back() {
    let referee = Referee::new();
    let (game_match, to_ann, receipt) = with_conditions(&referee, "IF E5 THEN F6");
    referee.reply(BO, &receipt, "Lovely weather here, and my cat has kittens.");
    assert!(referee.find(&game_match.id).conditions.second.is_some(), "chat changes nothing");
    referee.reply(BO, &receipt, "Please forget what I sent you, I have a better idea.");
    let question = referee.last_to(BO);
    question.says("they no\nlonger stand").says("| IF E5 THEN F6").says("YES");
    assert_eq!(referee.find(&game_match.id).conditions.second, None);
    referee.reply(BO, &question, "YES");
    referee.last_to(BO).says("Your conditions are sealed");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2);
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn conditions_that_are_not_met_are_void_and_told_to_their_author_alone() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = with_conditions(&referee, "IF E5 THEN F6\nIF E6 THEN F6");
    referee.reply(ANN, &to_ann, "MARBLE E7");
    referee.last_to(BO).says("None of the conditions that you sent ahead was met").says("| IF E6 THEN F6");
    let to_ann = referee.last_to(ANN);
    to_ann.keeps_silent_of("condition").keeps_silent_of("F6");
    assert_eq!(referee.find(&game_match.id).conditions.second, None);
    referee.reply(ANN, &to_ann, "HISTORY\nRESIGN CONFIRM");
    for letter in referee.sent_to(ANN) {
        letter.keeps_silent_of("IF E6 THEN F6");
    }
    assert!(record(&referee, &game_match).to_string().contains("IF E6 THEN F6"), "opened at the end");
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn an_answer_that_is_illegal_when_it_applies_is_void_with_the_reason() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = with_conditions(&referee, "IF E5 THEN E5");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let to_bo = referee.last_to(BO);
    to_bo
        .says("could not be")
        .says("A piece stands on E5 already")
        .says("Your conditions are void")
        .says("Turn 2 is open");
    referee.reply(BO, &to_bo, "MARBLE F6");
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(3));
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn the_rest_of_a_line_waits_for_the_next_move() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = with_conditions(&referee, "IF E5 THEN F6 IF E6 THEN F7");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let to_bo = referee.last_to(BO);
    to_bo.says("This condition waits for the next move").says("| IF E6 THEN F7");
    let to_ann = referee.last_to(ANN);
    to_ann.keeps_silent_of("F7");
    referee.reply(BO, &to_bo, "STATUS");
    referee.one_to(BO).says("Your conditions stand");
    referee.reply(ANN, &to_ann, "MARBLE E6");
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(5));
    record(&referee, &game_match);
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn conditions_are_replaced_checked_withdrawn_and_refused() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = with_conditions(&referee, "IF E5 THEN F6");
    referee.reply(BO, &to_bo, "CHECK\nIF E6 THEN F7");
    referee.one_to(BO).says("These conditions can be read").says("send them without CHECK");
    referee.reply(BO, &to_bo, "IF E5 THEN F7");
    referee.one_to(BO).says("they replace those you sent before");
    referee.reply(BO, &to_bo, "IF E5 THEN Z9\nMARBLE F6");
    referee.one_to(BO).says("no point Z9").says("only conditions stand beside conditions");
    referee.reply(BO, &to_bo, "WITHDRAW");
    referee.one_to(BO);
    referee.reply(ANN, &to_ann, "IF F6 THEN E5");
    referee.one_to(ANN).says("It is your move");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(2));
    referee.last_to(BO).keeps_silent_of("condition");
    let filed = ["ConditionsSealed", "ConditionsWithdrawn"];
    let entries: Vec<String> =
        kinds(&referee, &game_match).into_iter().filter(|kind| filed.contains(&kind.as_str())).collect();
    assert_eq!(entries, ["ConditionsSealed", "ConditionsSealed", "ConditionsWithdrawn"]);
    assert!(!record(&referee, &game_match).to_string().contains("IF E5 THEN F7"), "it was taken back");
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn a_rollback_voids_conditions_and_the_record_keeps_the_moves_that_followed_from_them() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = with_conditions(&referee, "IF E5 THEN F6 IF E6 THEN F7");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(ANN, &referee.last_to(ANN), "MARBLE G7");
    referee.write(GM, "GM LIST");
    referee.reply(
        GM,
        &referee.last_to(GM),
        &format!("GM MATCH {} ROLLBACK 3 It was misread.", game_match.id),
    );
    referee.last_to(BO).says("Conditions that were sent ahead are void");
    referee.reply(ANN, &referee.last_to(ANN), "MARBLE E6");
    assert_eq!(
        referee.find(&game_match.id).due().map(|due| due.turn),
        Some(4),
        "nothing was sent ahead any more"
    );
    record(&referee, &game_match);
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn a_letter_that_only_mentions_a_move_is_no_condition() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quantum, &[]);
    let to_bo = referee.one_to(BO);
    referee.reply(BO, &to_bo, "If you go there then I will follow.");
    referee.one_to(BO).keeps_silent_of("conditions are sealed");
    referee.reply(BO, &to_bo, "if he plays D3-E4 then E6-D5");
    referee.one_to(BO).keeps_silent_of("conditions are sealed");
    referee.reply(BO, &to_bo, "If D3-E4, then E6-D5");
    referee.one_to(BO).says("Your conditions are sealed");
    assert!(referee.find(&game_match.id).conditions.second.is_some());
}

#[test]
fn conditions_that_are_confirmed_too_late_are_refused() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    // Only the token shows what this letter is about.
    referee.write("bo@holiday.example", &format!("IF E5 THEN F6\nReply token: {}", to_bo.token()));
    let notice = referee.one_to(BO);
    let code = notice.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM ")).expect("a code");
    referee.advance(1);
    referee.reply(ANN, &to_ann, "MARBLE G7");
    referee.reply(BO, &referee.last_to(BO), "MARBLE H8");
    referee.reply(BO, &notice, &format!("CONFIRM {code}"));
    let refusal = referee.sent_to(BO).into_iter().find(|sent| sent.subject.contains("not filed"));
    refusal.expect("a refusal").says("before turn 3 was open");
    assert_eq!(referee.find(&game_match.id).conditions.second, None);
    assert!(referee.verify(&game_match.id).is_sound());
}

/// Otherwise somebody else could send an old letter again, without its subject and its thread.
#[test]
fn the_same_conditions_in_a_later_turn_ask_which_turn_is_meant() {
    let referee = Referee::new();
    let (game_match, to_ann, receipt) = with_conditions(&referee, "IF E5 THEN F6");
    referee.reply(ANN, &to_ann, "MARBLE E7");
    referee.reply(BO, &referee.last_to(BO), "MARBLE G7");
    referee.sent_to(BO);
    referee.write(BO, &format!("if e5 then f6\nReply token: {}", receipt.token()));
    referee.one_to(BO).says("You sent the same orders for turn 1").says("| TURN 3");
    assert_eq!(referee.find(&game_match.id).conditions.second, None);
    referee.write(BO, &format!("TURN 3\nIF E5 THEN F6\nReply token: {}", receipt.token()));
    referee.one_to(BO).says("Your conditions are sealed");
    assert!(referee.verify(&game_match.id).is_sound());
}

#[test]
fn wait_beside_conditions_is_answered() {
    let referee = Referee::new();
    let (_, _, to_bo) = quad(&referee);
    referee.reply(BO, &to_bo, "WAIT\nIF E5 THEN F6");
    referee.one_to(BO).says("Your conditions are sealed").says("WAIT has no effect on conditions");
}
