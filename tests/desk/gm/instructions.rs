//! The GM's instructions by letter: their permitted senders, their effects, and how they are confirmed and
//! announced.

use chrono::TimeDelta;
use fogpost::daemon::instruct;
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::{Instruction, Match, MatchAction, Stage};
use fogpost::report::GmResult;
use fogpost::store::LetterStatus;

use crate::referee::{ANN, BO, GM, Referee, Sent, without_match_names};

const EVE: &str = "eve@elsewhere.example";

/// A letter to the GM with the GM's reply token, which the referee sends in answer to a letter without one.
fn with_token(referee: &Referee) -> Sent {
    referee.write(GM, "GM LIST");
    let answer = referee.one_to(GM);
    answer.says("Nothing was done: your letter came without the GM's reply token");
    assert!(!answer.token().is_empty());
    answer
}

/// Sends a letter from the GM and returns the answer.
fn ask(referee: &Referee, lines: &str) -> Sent {
    let sent = referee.all_to(GM).into_iter().next_back().unwrap_or_else(|| with_token(referee));
    referee.sent_to(GM);
    referee.reply(GM, &sent, lines);
    let answers = referee.sent_to(GM);
    let answer = answers.iter().find(|sent| sent.in_reply_to.is_some());
    answer.unwrap_or_else(|| panic!("no answer to {lines}")).clone()
}

fn kinds(referee: &Referee, game_match: &Match) -> Vec<String> {
    let entries =
        referee.block_on(referee.office().store.entries(&game_match.id)).expect("the store answers");
    entries.into_iter().map(|entry| entry.kind).collect()
}

fn quad() -> (Referee, Match) {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    with_token(&referee);
    (referee, game_match)
}

#[test]
fn the_gm_extends_a_deadline_and_both_are_told() {
    let (referee, game_match) = quad();
    referee.sent_to(ANN);
    referee.sent_to(BO);
    ask(&referee, &format!("GM MATCH {} EXTEND 3 days TURN 1", game_match.id))
        .says("Done. The match now")
        .says("due Sun 17 May");
    for player in [ANN, BO] {
        referee.one_to(player).says("The GM has moved the deadline to Sun 17 May, 20:00 CEST");
    }
    let entries =
        referee.block_on(referee.office().store.entries(&game_match.id)).expect("the store answers");
    let extended = entries.iter().find(|entry| entry.kind == "DeadlineExtended").expect("an entry");
    assert!(extended.json.contains("The GM"), "{}", extended.json);
}

#[test]
fn an_instruction_for_a_past_turn_has_no_effect() {
    let (referee, game_match) = quad();
    referee.reply(ANN, &referee.sent_to(ANN)[0], "MARBLE E5");
    ask(&referee, &format!("GM MATCH {} EXTEND 3 days TURN 1", game_match.id))
        .says("you meant turn 1, and turn 2 is open");
    assert!(!kinds(&referee, &game_match).contains(&"DeadlineExtended".to_owned()));
}

#[test]
fn each_instruction_in_a_letter_is_confirmed() {
    let (referee, game_match) = quad();
    let lines = format!(
        "GM MATCH {0} PAUSE illness\nGM MATCH {0} PAUSE again\nGM MATCH {0} RESUME\nGM MATCH QD-0000 RESUME\n\
         GM DANCE\nGM LIST running\nGM NEW quad {EVE} {BO} days=2\nregards",
        game_match.id
    );
    let answer = ask(&referee, &lines);
    answer.says("paused").says("that is already the case").says("There is no match QD-0000");
    answer
        .says("I do not know the command GM DANCE")
        .says("> regards")
        .says("both players will get a letter");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    referee.one_to(EVE).says("plays Quad with you");
}

#[test]
fn a_check_shows_the_match_as_it_would_be() {
    let (referee, game_match) = quad();
    let check = |line: &str| ask(&referee, &format!("CHECK\n{line}"));
    let id = &game_match.id;
    let due = game_match.deadline.expect("a deadline") + TimeDelta::days(3);
    let due = due.with_timezone(&game_match.terms.zone).format("due %a %-d %b").to_string();
    check(&format!("GM MATCH {id} EXTEND 3")).says(&due).says("A letter about it would go to Ann and Bo.");
    check(&format!("GM MATCH {id} PAUSE")).says("paused");
    check(&format!("GM NEW quad {ANN} {EVE}"))
        .says("Quad: Ann (P-1) against")
        .says(&format!("{EVE}, who is new"));
    check(&format!("GM PLAYER ADD {EVE}")).says(&format!("{EVE} would become the player eve"));
    // How a turn ends follows from sealed orders.
    check(&format!("GM MATCH {id} ACT first\nMARBLE E5\nEND")).keeps_silent_of("would then be");
    assert_eq!(referee.find(id).deadline, game_match.deadline);
}

#[test]
fn a_check_by_the_gm_has_no_effect() {
    let (referee, game_match) = quad();
    let lines =
        format!("CHECK\nGM MATCH {0} ABANDON\nGM MATCH {0} RESUME\nGM PLAYER ADD {EVE} Eve", game_match.id);
    ask(&referee, &lines)
        .says("This would be done")
        .says("that is already the case")
        .says("This was a check");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    let eve = referee.block_on(referee.office().store.player_by_address(EVE)).expect("the store answers");
    assert_eq!(eve, None);
}

#[test]
fn nobody_else_is_the_gm() {
    let (referee, game_match) = quad();
    let status = referee.last_status();
    assert_eq!(status, LetterStatus::Answered);
    let to_gm = referee.all_to(GM).pop().expect("a letter");
    referee.reply(EVE, &to_gm, &format!("GM MATCH {} ABANDON", game_match.id));
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
    assert!(referee.sent_to(EVE).is_empty());
    // The GM's address without the token is not enough.
    referee.write(GM, &format!("GM MATCH {} ABANDON", game_match.id));
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    // A player's token is not enough either.
    let to_ann = referee.sent_to(ANN).remove(0);
    referee.reply(ANN, &to_ann, &format!("GM MATCH {} ABANDON", game_match.id));
    referee.one_to(ANN).says("have passed your words to the GM");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
}

#[test]
fn a_replacement_takes_over_and_the_old_token_is_void() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Pacific, &[("submarines", "false")]);
    let old = referee.one_to(ANN);
    let fleet = "CARRIER D2 SQUADRON D3\nCARRIER M2 SQUADRON M3\nBATTLESHIP A1 B1 O1 P1\nCRUISER C1 E1 L1 N1\n\
                 DESTROYER A3 C3 E3 G3 I3 K3 O3";
    referee.reply(ANN, &old, fleet);
    referee.one_to(ANN);
    referee.sent_to(BO);
    with_token(&referee);
    ask(&referee, &format!("GM MATCH {} REPLACE first Eve Ek <{EVE}>", game_match.id)).says("Eve Ek (first)");
    referee.one_to(ANN).says("The GM has given the seat of Ann to Eve Ek");
    referee.one_to(BO).says("and that were not yet adjudicated are void");
    assert!(referee.find(&game_match.id).filed.first.is_none());
    let to_eve = referee.one_to(EVE);
    to_eve.says("The GM has given you a seat");
    referee.reply(ANN, &old, fleet);
    assert!(referee.find(&game_match.id).filed.first.is_none(), "the old token is void");
    referee.reply(EVE, &to_eve, fleet);
    referee.one_to(EVE).says("Your orders are sealed");
}

#[test]
fn a_renewed_token_replaces_the_old_one() {
    let (referee, game_match) = quad();
    let old = referee.one_to(ANN);
    ask(&referee, &format!("GM MATCH {} TOKEN first", game_match.id)).says("Done");
    let new = referee.one_to(ANN);
    new.says("a new reply token");
    assert_ne!(new.token(), old.token());
    referee.reply(ANN, &old, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    referee.reply(ANN, &new, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn the_gm_files_for_a_seat() {
    let (referee, game_match) = quad();
    ask(&referee, &format!("GM MATCH {} ACT first\nMARBLE A1\nEND", game_match.id))
        .says("the orders cannot stand");
    ask(&referee, &format!("GM MATCH {} ACT second\nMARBLE E5\nEND", game_match.id))
        .says("nothing is due from the seat second");
    referee.sent_to(BO);
    ask(&referee, &format!("GM MATCH {} ACT first\nMARBLE E5\nEND\nGM LIST", game_match.id)).says("turn 2");
    referee.sent_to(BO)[0].says("The GM has filed orders for Ann").keeps_silent_of("E5");
}

#[test]
fn adjudications_forfeits_and_notes_are_in_the_ledger() {
    let (referee, game_match) = quad();
    ask(&referee, &format!("GM MATCH {} ADJUDICATE", game_match.id)).says("first must file orders");
    ask(&referee, &format!("GM MATCH {} NOTE the sixth of May counts", game_match.id)).says("Done");
    assert!(
        referee.sent_to(BO).iter().all(|sent| !sent.text.contains("the sixth of May")),
        "a note is for the GMs"
    );
    ask(&referee, &format!("GM MATCH {} FORFEIT first", game_match.id)).says("Bo won (forfeited)");
    referee.last_to(BO).says("You have won this match: Ann has forfeited it.");
    let kinds = kinds(&referee, &game_match);
    assert!(kinds.contains(&"GmNoted".to_owned()) && kinds.contains(&"MatchClosed".to_owned()));
    ask(&referee, &format!("GM MATCH {} EXTEND 2 days", game_match.id)).says("the match is over");
}

#[test]
fn a_setup_that_was_not_filed_cannot_be_adjudicated() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::QuadrantZ, &[]);
    with_token(&referee);
    ask(&referee, &format!("GM MATCH {} ADJUDICATE", game_match.id))
        .says("first and second must file orders");
}

#[test]
fn players_can_be_added_shown_renamed_and_merged() {
    let referee = Referee::new();
    with_token(&referee);
    let lines = format!(
        "GM PLAYER ADD {EVE} Eve Evans\nGM PLAYER RENAME {EVE} Eva\nGM PLAYER SHOW {EVE}\n\
         GM PLAYER ADD eva@other.example Eva\nGM PLAYER SHOW nobody@x.example"
    );
    ask(&referee, &lines)
        .says("Eve Evans (P-1): eve@elsewhere.example")
        .says("Eva (P-1): eve@elsewhere.example")
        .says("Nobody has");
    ask(&referee, &format!("GM PLAYER MERGE eva@other.example INTO {EVE}"))
        .says("eve@elsewhere.example, eva@other.example");
    let eva =
        referee.block_on(referee.office().store.player_by_address("eva@other.example")).expect("it answers");
    assert_eq!(eva.expect("a player").addresses, [EVE, "eva@other.example"]);
    referee.open(GameKind::Quad, &[]);
    ask(&referee, &format!("GM PLAYER MERGE {ANN} INTO {BO}")).says("cannot become one player");
}

#[test]
fn a_protest_stops_the_deadline_until_the_gm_resumes_the_match() {
    let (referee, game_match) = quad();
    let to_ann = referee.one_to(ANN);
    referee.sent_to(BO);
    referee.reply(ANN, &to_ann, "PROTEST It is not fair.\nEND");
    referee.one_to(GM).says("Ann (first) protests").says("> It is not fair.");
    referee.one_to(BO).says("Ann has asked the GM to decide about the match");
    referee.sleep(20 * 24);
    referee.work();
    assert_eq!(referee.find(&game_match.id).missed.first, 0);
    ask(&referee, "GM LIST protests").says(&game_match.id).says("Ann protests");
    ask(&referee, &format!("GM MATCH {} RESUME", game_match.id));
    let after = referee.find(&game_match.id);
    assert_eq!((after.stage, after.protest), (Stage::Running, None));
    assert!(after.deadline.expect("a deadline") > referee.now());
}

fn correct(referee: &Referee, game_match: &Match, action: MatchAction) -> GmResult {
    let instruction = Instruction::Match { id: game_match.id.clone(), turn: None, action };
    let done =
        referee.block_on(instruct::carry_out(referee.office(), &instruction)).expect("it is carried out");
    referee.work();
    done
}

fn play_three(referee: &Referee) {
    let (mut to_ann, mut to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    for (n, order) in ["MARBLE E5", "MARBLE A5", "MARBLE E6"].iter().enumerate() {
        let (player, letter) = if n % 2 == 0 { (ANN, &to_ann) } else { (BO, &to_bo) };
        referee.reply(player, letter, order);
        (to_ann, to_bo) = (referee.last_to(ANN), referee.last_to(BO));
    }
}

#[test]
fn a_turn_is_reopened_and_both_learn_the_reason() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    play_three(&referee);
    let reason = "Bo's letter of turn 2 came in time".to_owned();
    let done = correct(&referee, &game_match, MatchAction::Correct { turn: 2, reason, orders: None });
    assert!(done.is_done(), "{done:?}");
    let after = referee.find(&game_match.id);
    assert_eq!((after.adjudicated.len(), after.due().map(|due| due.turn)), (1, Some(2)));
    for player in [ANN, BO] {
        let told = referee.one_to(player);
        told.says("turn 2 is open again").says("> Bo's letter of turn 2 came in time");
        assert!(told.subject.contains("a correction"), "{}", told.subject);
    }
    assert!(kinds(&referee, &game_match).contains(&"CorrectionMade".to_owned()));
    let to_bo = referee.all_to(BO).pop().expect("a letter");
    referee.reply(BO, &to_bo, "MARBLE B8");
    referee.last_to(BO).says("MARBLE B8".trim_start_matches("MARBLE "));
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2);
}

#[test]
fn a_turn_is_corrected_with_other_orders() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    play_three(&referee);
    let line = |text: &str| vec![fogpost::game::Line { no: 1, text: text.to_owned() }];
    let reason = "it was misread".to_owned();
    let orders = Some((Seat::Second, line("MARBLE A1")));
    let done =
        correct(&referee, &game_match, MatchAction::Correct { turn: 2, reason: reason.clone(), orders });
    assert!(!done.is_done(), "the board has no point A1");
    let orders = Some((Seat::Second, line("MARBLE B8")));
    let done = correct(&referee, &game_match, MatchAction::Correct { turn: 2, reason, orders });
    assert!(done.is_done(), "{done:?}");
    let after = referee.find(&game_match.id);
    assert_eq!((after.adjudicated.len(), after.due().map(|due| due.turn)), (2, Some(3)));
    for player in [ANN, BO] {
        let told = referee.one_to(player);
        told.says("This is a correction by the GM")
            .says("Conditions that were sent ahead are void")
            .says("B8");
        assert!(told.subject.contains("a correction"), "{}", told.subject);
    }
    // The record contains the corrected turn.
    let to_ann = referee.all_to(ANN).pop().expect("a letter");
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    let (_, record) = referee.last_to(BO).attachments.remove(0);
    let record = without_match_names(&record);
    assert!(record.contains("B8") && !record.contains("A5") && !record.contains("E6"), "{record}");
}

#[test]
fn a_finished_match_can_be_corrected() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    play_three(&referee);
    let to_ann = referee.all_to(ANN).pop().expect("a letter");
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Over);
    let done = correct(
        &referee,
        &game_match,
        MatchAction::Correct { turn: 3, reason: "not meant".to_owned(), orders: None },
    );
    assert!(done.is_done(), "{done:?}");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    let done = correct(
        &referee,
        &game_match,
        MatchAction::Correct { turn: 7, reason: "no".to_owned(), orders: None },
    );
    assert!(!done.is_done());
}

#[test]
fn the_digest_comes_once_a_day_if_there_is_news() {
    let (referee, game_match) = quad();
    referee.advance(26);
    referee.one_to(GM).says("New matches: 1");
    referee.advance(24);
    assert!(referee.sent_to(GM).is_empty(), "no news");
    referee.reply(ANN, &referee.sent_to(ANN)[0], "MARBLE A1");
    referee.reply(EVE, &referee.last_to(ANN), "MARBLE E5");
    referee.advance(24);
    let digest = referee.one_to(GM);
    digest.says("Orders refused").says(&format!("{}: 1", game_match.id)).says("Letters ignored").says(EVE);
    assert!(!digest.token().is_empty());
    referee.advance(24);
    assert!(referee.sent_to(GM).is_empty(), "no further news");
    ask(&referee, "GM DIGEST").says("There is nothing to report");
}

#[test]
fn a_late_match_is_in_the_list_and_in_the_digest() {
    let (referee, game_match) = quad();
    referee.advance(7 * 24 + 9);
    ask(&referee, "GM LIST late").says(&game_match.id).says("waits for Ann");
    referee.advance(24 * 10);
    let letters = referee.sent_to(GM);
    assert!(letters.iter().any(|sent| sent.text.contains("Waiting for your decision")), "a digest");
}

#[test]
fn the_same_answer_to_a_gm_is_limited_but_not_one_that_has_changed() {
    let referee = Referee::new();
    let token = with_token(&referee);
    let first = referee.open(GameKind::Quad, &[]);
    referee.sent_to(GM);
    for _ in 0..20 {
        referee.reply(GM, &token, "GM LIST");
        referee.one_to(GM).says(&first.id);
    }
    for _ in 0..2 {
        referee.reply(GM, &token, "GM LIST");
        let more: Vec<String> = referee.sent_to(GM).into_iter().map(|letter| letter.text).collect();
        assert!(more.is_empty(), "one more comes an hour later: {more:?}");
    }
    referee.reply(GM, &token, "GM LIST late");
    referee.one_to(GM);
    let second = referee.open(GameKind::Quad, &[]);
    referee.sent_to(GM);
    referee.reply(GM, &token, "GM LIST");
    referee.one_to(GM).says(&first.id).says(&second.id);
    referee.advance(2);
}

#[test]
fn the_players_of_a_new_match_are_named_as_everywhere() {
    let referee = Referee::new();
    with_token(&referee);
    ask(&referee, &format!("GM PLAYER ADD {ANN} Ann Archer\nGM PLAYER ADD {BO} Bo Berg"));
    let check = |players: &str| ask(&referee, &format!("CHECK\nGM NEW war in the pacific {players}"));
    for players in [
        "Ann Archer Bo Berg",
        "ann bo",
        "P-1 P-2",
        "ann Bo Berg days=5",
        "archer 2",
        "Ann Archer <ann@players.example> berg",
    ] {
        check(players).says("War in the Pacific: Ann Archer (P-1) against Bo Berg (P-2)");
    }
    check(&format!("Ann Eve Ek <{EVE}>"))
        .says("Ann Archer (P-1) against")
        .says(&format!("{EVE}, who is new"));
    check("house:easy bo").says("against Bo Berg (P-2)");
    check("Ann Zorro").says("Nobody is called Zorro.").says("Somebody new needs an address");
    check("Zig Zag Zorro").says("does not name two people");
    check("Ann Archer").says("A match has two players");
    check("Ann").says("GM NEW needs a game and two people");
    let taken = referee.open(GameKind::Quad, &[]);
    ask(&referee, &format!("GM PLAYER ADD {EVE} Eve"));
    ask(&referee, &format!("GM MATCH {} REPLACE second eve excused", taken.id)).says("Eve (second)");
}
