//! The commands of a match: the answer to each, and what the opponent learns from it.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::Stage;

use crate::positions::{kinds, quad, quadrant_z};
use crate::referee::{ANN, BO, GM, Referee};

#[test]
fn status_shows_filings_the_awaited_seat_and_the_deadline() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "HOLD");
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "STATUS");
    referee
        .one_to(ANN)
        .says("Quadrant Z, Ann (North-West) against Bo (South-East)")
        .says("Your orders of Thu 7 May, 12:00 CEST stand")
        .says("Turn 1 waits for Bo. Until then you can replace your orders.")
        .says("It is due Thu 14 May, 20:00 CEST: in 7 days 8 hours");
    referee.reply(BO, &to_bo, "STATUS");
    referee.one_to(BO).says("You have filed nothing for turn 1 yet").says("Turn 1 waits for your orders");
}

#[test]
fn report_sends_reports_again_unchanged() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let first = referee.last_to(ANN);
    referee.reply(BO, &to_bo, "MARBLE A5\nTURN 2");
    let second = referee.last_to(ANN);
    for (asked, wanted, other) in [("REPORT", &second, &first), ("REPORT 2", &first, &second)] {
        referee.reply(ANN, &to_ann, asked);
        let answer = referee.one_to(ANN);
        answer.says(&wanted.subject).keeps_silent_of(&other.subject);
        assert!(wanted.subject.contains(&format!("Turn {}", if asked == "REPORT" { 3 } else { 2 })));
    }
    referee.reply(ANN, &to_ann, "HISTORY");
    referee.one_to(ANN).says(&first.subject).says(&second.subject);
    referee.reply(ANN, &to_ann, "REPORT 7");
    referee.one_to(ANN).says("There is no such report");
    // Bo gets the report that was sent to Bo.
    referee.sent_to(BO);
    referee.reply(BO, &to_bo, "REPORT 2");
    referee.one_to(BO).says("please send your orders");
}

#[test]
fn tell_passes_a_message_on_in_a_separate_letter() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5\nTELL\nGood luck!\nMARBLE is a nice word.\nEND\nSTATUS");
    let refused = referee.one_to(ANN);
    refused.says("stands in the text of TELL and would go to your opponent").says("| TELL Well played.");
    assert!(referee.sent_to(BO).is_empty(), "a message contains no orders");
    referee.reply(ANN, &to_ann, "TELL Good luck,\nand may the better one win.\nEND\nMARBLE E5");
    referee.sent_to(ANN)[0].says("Your message was passed on to Bo").says("Your orders are sealed");
    let to_bo_now = referee.sent_to(BO);
    let message = to_bo_now.iter().find(|sent| sent.subject.contains("a message from Ann"));
    message.expect("the message").says("Ann writes to you: > Good luck, > and may the better one win.");
    let report = to_bo_now.iter().find(|sent| sent.subject.contains("your move")).expect("the report");
    report.keeps_silent_of("Good luck");
    assert!(kinds(&referee, &game_match).contains(&"MessagePassed".to_owned()));
    for empty in ["TELL", "TELL\nyour words\nEND"] {
        referee.reply(BO, &to_bo, empty);
        referee.one_to(BO).says("TELL needs the text for your opponent");
    }
}

#[test]
fn without_press_no_message_is_passed_on() {
    let referee = Referee::with("press = \"none\"\n");
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "TELL Hello!\nEND");
    referee.one_to(ANN).says("Messages are not passed on in this match").keeps_silent_of("Hello!\n\nQuad");
    assert!(referee.sent_to(BO).is_empty());
}

#[test]
fn resigning_takes_both_words() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "RESIGN");
    referee.one_to(ANN).says("To resign, write both words: | RESIGN CONFIRM");
    referee.reply(ANN, &to_ann, "resign please");
    referee.one_to(ANN);
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    referee.reply(ANN, &to_ann, "Resign confirm");
    referee.sent_to(ANN)[0].says("You have resigned");
    referee.one_to(BO).says("You have won this match: Ann has resigned.");
    assert_eq!(
        referee.find(&game_match.id).state.outcome().and_then(|outcome| outcome.winner),
        Some(Seat::Second)
    );
    referee.reply(BO, &to_ann, "DRAW");
    for command in ["DRAW", "EXTEND 3 days", "AGREE", "ABSENT 2026-06-01", "SUBSTITUTE", "RESIGN CONFIRM"] {
        referee.reply(ANN, &to_ann, command);
        referee.last_to(ANN).says("The match is over; this no longer has any effect");
    }
}

#[test]
fn draw_both_offers_and_accepts() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "DRAW");
    referee.one_to(ANN).says("Your offer of a draw stands until the next adjudication");
    referee.reply(ANN, &to_ann, "DRAW\nSTATUS");
    referee.one_to(ANN);
    referee.one_to(BO).says("Ann offers a draw. To accept: | DRAW");
    referee.reply(BO, &to_bo, "STATUS");
    referee.one_to(BO).says("Ann offers a draw; the line DRAW accepts it");
    referee.reply(BO, &to_bo, "draw");
    referee.sent_to(BO)[0].says("The draw is agreed");
    referee.last_to(ANN).says("The match ends without a winner (draw agreed)");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Over);
}

#[test]
fn a_draw_offer_lapses_at_the_adjudication() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "DRAW\nHOLD");
    referee.reply(BO, &to_bo, "HOLD");
    assert_eq!(referee.find(&game_match.id).draw_offer, None);
    referee.reply(BO, &referee.last_to(BO), "DRAW");
    referee.last_to(BO).says("Your offer of a draw stands");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
}

#[test]
fn a_draw_offer_sent_with_orders_outlives_their_adjudication() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5\nDRAW");
    assert_eq!(referee.find(&game_match.id).draw_offer, Some(Seat::First));
    let to_bo = referee.last_to(BO);
    referee.reply(BO, &to_bo, "MARBLE A5");
    assert_eq!(referee.find(&game_match.id).draw_offer, None, "Bo has moved instead");
}

#[test]
fn an_extension_is_requested_and_agreed_to() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    referee.reply(BO, &to_bo, "AGREE");
    referee.one_to(BO).says("Ann has not asked for anything that you could agree to");
    referee.reply(ANN, &to_ann, "EXTEND 3 days");
    referee.one_to(ANN).says("Bo has been asked for 3 more days").says("until then it stands");
    assert_eq!(referee.find(&game_match.id).deadline, game_match.deadline);
    referee.one_to(BO).says("Ann asks for 3 more days. To agree: | AGREE");
    referee.reply(ANN, &to_ann, "AGREE");
    referee.one_to(ANN).says("Bo has not asked for anything that you could agree to");
    referee.reply(ANN, &to_ann, "EXTEND 3 days");
    assert!(referee.sent_to(BO).is_empty(), "the request is sent once");
    referee.reply(BO, &to_bo, "agree");
    referee.one_to(BO).says("Agreed: the deadline has moved").says("It is due Sun 17 May, 20:00 CEST");
    referee.last_to(ANN).says("The deadline has moved by 3 days").says("Sun 17 May, 20:00 CEST");
    referee.reply(BO, &to_bo, "AGREE\nSTATUS");
    referee.one_to(BO).says("not asked for anything that you could agree to").says("Sun 17 May");
    referee.reply(ANN, &to_ann, "EXTEND 90 days");
    referee.one_to(ANN).says("The deadline can be moved by 1 to 30 days at a time");
    referee.reply(ANN, &to_ann, "EXTEND soon");
    referee.one_to(ANN).says("EXTEND needs a number of days").says("| EXTEND 3 days");
}

#[test]
fn a_requested_extension_lapses_at_the_adjudication() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "EXTEND 3 days");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &referee.last_to(BO), "AGREE");
    referee.last_to(BO).says("not asked for anything that you could agree to");
    assert!(!kinds(&referee, &game_match).contains(&"DeadlineExtended".to_owned()));
}

#[test]
fn a_player_who_asks_for_a_substitute_keeps_the_seat_until_the_gm_decides() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "SUBSTITUTE");
    referee.one_to(ANN).says("The GM has been asked to find somebody to take over your seat");
    let asked = referee.one_to(GM);
    asked
        .says("Ann (first) asks for a substitute")
        .says(&format!("| GM MATCH {} REPLACE first", game_match.id));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.reply(GM, &asked, &format!("GM MATCH {} REPLACE first eve@elsewhere.example", game_match.id));
    referee.last_to(GM).says("eve (first)");
    assert!(kinds(&referee, &game_match).contains(&"PlayerReplaced".to_owned()));
}

#[test]
fn during_a_protest_filings_wait_for_the_gm() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    referee.reply(BO, &to_bo, "PROTEST");
    referee.one_to(BO).says("PROTEST needs the text for the GM");
    referee.reply(BO, &to_bo, "PROTEST My setup was misread.\nEND\nHOLD");
    referee.one_to(BO).says("Your protest is before the GM").says("Your orders are sealed");
    referee.one_to(ANN).says("Bo has asked the GM to decide about the match").keeps_silent_of("misread");
    referee.reply(ANN, &to_ann, "HOLD");
    referee.one_to(ANN).says("Your orders are filed; they will be adjudicated when it resumes");
    let held = referee.find(&game_match.id);
    assert_eq!((held.stage, held.due().map(|due| due.turn)), (Stage::Paused, Some(1)));
    let asked = referee.one_to(GM);
    asked.says("Bo (second) protests").says("> My setup was misread.").says("RESUME");
    asked.says("in answer to my letter about turn 1").says("What was adjudicated last is the setup");
    asked.says(&format!("GM MATCH {} ROLLBACK 0 the reason", game_match.id));
    let ruling = format!(
        "GM LIST protests\nGM MATCH {0} NOTE The setup stands.\nGM MATCH {0} RESUME\nGM LIST",
        game_match.id
    );
    referee.reply(GM, &asked, &ruling);
    referee
        .one_to(GM)
        .says("paused Bo protests > GM MATCH")
        .says("> GM LIST - ")
        .says("in turn 2: waits for Ann and Bo, due");
    let after = referee.find(&game_match.id);
    assert_eq!((after.stage, after.due().map(|due| due.turn)), (Stage::Running, Some(2)));
    assert_eq!(after.protest, None);
}

#[test]
fn the_gm_ends_a_protest_by_adjudicating() {
    let referee = Referee::new();
    let (game_match, _, to_bo) = quadrant_z(&referee);
    referee.reply(BO, &to_bo, "PROTEST It is slow.");
    referee.reply(GM, &referee.one_to(GM), &format!("GM MATCH {} ADJUDICATE", game_match.id));
    let after = referee.find(&game_match.id);
    assert_eq!((after.stage, after.protest, after.paused_at), (Stage::Running, None, None));
    referee.last_to(BO).says("turn 2").keeps_silent_of("paused");
}

#[test]
fn orders_for_a_turn_that_is_not_open_are_refused() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quadrant_z(&referee);
    for (named, says) in [
        ("TURN 3", "These orders are for turn 3; turn 1 is open"),
        ("TURN 0", "The setup was adjudicated on Thu 7 May at 12:00 CEST; turn 1 is open"),
    ] {
        referee.reply(ANN, &to_ann, &format!("{named}\nHOLD"));
        let refusal = referee.one_to(ANN);
        refusal
            .says(says)
            .says("No order in this letter was filed")
            .says("You have filed nothing for turn 1");
        refusal.says("It is due Thu 14 May, 20:00 CEST: in 7 days 8 hours");
    }
    referee.reply(ANN, &to_ann, "TURN 1\nTURN 2\nHOLD");
    referee.one_to(ANN).says("The letter names two turns").says("> TURN 2");
    referee.reply(ANN, &to_ann, "TURN 1\nHOLD");
    referee.one_to(ANN).says("Your orders are sealed");
    assert!(referee.find(&game_match.id).filed.first.is_some());
}

#[test]
fn a_refusal_shows_the_filing_that_still_stands() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Pacific, &[("submarines", "false")]);
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, crate::positions::FLEET);
    referee.one_to(ANN);
    referee.sleep(1);
    referee.reply(ANN, &invitation, "DESTROYER A9");
    let refusal = referee.one_to(ANN);
    refusal
        .says("Line 1 is not valid: > DESTROYER A9")
        .says("No order in this letter was filed")
        .says("Your orders of Thu 7 May, 12:00 CEST stand: | CARRIER D2 SQUADRON D3")
        .says("It is due");
    assert!(referee.find(&game_match.id).filed.first.is_some());
}

#[test]
fn commands_and_orders_share_a_letter_and_a_faulty_command_stops_both() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5\nEXTEND 3 moons");
    let refusal = referee.one_to(ANN);
    refusal.says("> EXTEND 3 moons").says("EXTEND needs a number of days").says("No order in this letter");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    // All faulty lines are reported at once.
    referee.reply(ANN, &to_ann, "MARBLE A1\nEXTEND 3 moons\nSTAR Z99");
    referee.one_to(ANN).says("> MARBLE A1").says("> EXTEND 3 moons").says("> STAR Z99");
    referee.reply(ANN, &to_ann, "MARBLE E5\nSTATUS\nHELP time");
    referee.sent_to(ANN)[0].says("Your orders are sealed").says("Quad, Ann (Black)").says("hours of grace");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn a_text_that_is_too_long_is_cut_and_its_writer_is_told() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.sent_to(BO);
    let told = |text: &str| referee.reply(ANN, &invitation, &format!("TELL {text}\nEND"));
    told("Well played.");
    referee.one_to(ANN).keeps_silent_of("4,000");
    referee.sent_to(BO);
    told(&"wonderful day ".repeat(400));
    referee.one_to(ANN).says("I pass on 4,000 characters of a text at most").says("its end was left out");
    let passed = referee.one_to(BO);
    passed.says("> […]");
    assert_eq!(passed.text.matches("wonderful").count(), 286);
}
