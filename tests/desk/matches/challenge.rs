//! Finding an opponent by letter: challenges and open seats, accepted, declined, withdrawn or lapsed.

use fogpost::game::any::GameKind;
use fogpost::referee::Stage;
use fogpost::store::LetterStatus;

use crate::desk::{ANN, BO, Desk, GM, REFEREE, Sent};
use crate::positions::quad;

const EVE: &str = "eve@elsewhere.example";

/// The code that follows this word in a letter.
fn code(sent: &Sent, word: &str) -> String {
    let line = sent.text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
    line.unwrap_or_else(|| panic!("no {word} in:\n{}", sent.text)).to_owned()
}

fn only_match(desk: &Desk) -> fogpost::referee::Match {
    let ids = desk.block_on(desk.office().store.match_ids()).expect("the store answers");
    assert_eq!(ids.len(), 1, "one match");
    desk.find(&ids[0])
}

#[test]
fn a_stranger_challenges_and_the_opponent_accepts() {
    let desk = Desk::new();
    desk.write(
        "Ann Archer <ann@players.example>",
        &format!("CHALLENGE {BO} Quad days=3 swap=off seat=first"),
    );
    let question = desk.one_to(ANN);
    question.says("Was it you who wrote this?").says(&format!("> CHALLENGE {BO} Quad days=3"));
    assert!(desk.sent_to(BO).is_empty(), "anybody can write in Ann's name");
    desk.reply(ANN, &question, &format!("CONFIRM {}", code(&question, "CONFIRM")));
    desk.one_to(ANN).says("bo@players.example has been challenged").says("Quad, 3 days a turn");
    let invitation = desk.one_to(BO);
    invitation.says("ann@players.example invites you to a match").says("who offers is").says("ACCEPT");
    desk.reply(BO, &invitation, &format!("accept {}", code(&invitation, "ACCEPT").to_lowercase()));
    let game_match = only_match(&desk);
    assert_eq!(
        (game_match.game, game_match.terms.days, game_match.players.first.as_str()),
        (GameKind::Quad, 3, "ann")
    );
    let to_bo = desk.sent_to(BO);
    to_bo.iter().find(|sent| sent.subject.starts_with("Re:")).expect("an answer").says("begins");
    let to_ann = desk.one_to(ANN);
    to_ann.says("A match of Quad begins");
    desk.reply(ANN, &to_ann, "MARBLE E5");
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn the_code_of_a_challenge_goes_to_the_invited_person_alone() {
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[]);
    let to_ann = desk.one_to(ANN);
    desk.reply(ANN, &to_ann, &format!("CHALLENGE {EVE} Quantum"));
    let code = code(&desk.one_to(EVE), "ACCEPT");
    desk.reply(ANN, &to_ann, "GAMES\nMATCHES");
    desk.write(BO, "GAMES");
    desk.advance(24);
    for reader in [ANN, BO, GM] {
        for sent in desk.all_to(reader) {
            sent.keeps_silent_of(&code);
        }
    }
    desk.write(EVE, &format!("ACCEPT {code}"));
    desk.last_to(EVE).says("begins");
}

#[test]
fn no_message_id_tells_the_challenger_the_code() {
    let desk = Desk::answering(ANN, "");
    desk.write(ANN, &format!("CHALLENGE {BO} Quad"));
    let declined = code(&desk.one_to(BO), "DECLINE");
    desk.write(BO, &format!("DECLINE {declined}"));
    desk.write(ANN, &format!("CHALLENGE {EVE} Quad"));
    let lapsed = code(&desk.one_to(EVE), "DECLINE");
    desk.sleep(14 * 24 + 1);
    desk.work();
    let ids: Vec<String> = desk.all_to(ANN).into_iter().map(|sent| sent.message_id).collect();
    assert_eq!(ids.len(), 4, "two answers, and how each challenge ended");
    for secret in [declined, lapsed] {
        assert!(ids.iter().all(|id| !id.contains(&secret.to_lowercase())), "{secret} is in {ids:?}");
    }
}

#[test]
fn a_challenger_learns_no_address_but_the_one_they_wrote() {
    let desk = Desk::answering(ANN, "");
    let private = "private@home.example";
    desk.write(GM, "GM LIST");
    let to_gm = desk.one_to(GM);
    desk.reply(GM, &to_gm, &format!("GM PLAYER ADD {BO} Bo\nGM PLAYER ADD {private} Bo"));
    desk.reply(GM, &to_gm, &format!("GM PLAYER MERGE {private} INTO {BO}"));
    desk.write(ANN, &format!("CHALLENGE {private} Quad"));
    desk.one_to(ANN).says(&format!("{private} has been challenged")).keeps_silent_of(BO);
    desk.last_to(BO).says("ann@players.example invites you");
    desk.answer_for(EVE);
    desk.write(EVE, &format!("CHALLENGE {private} Quad"));
    desk.one_to(EVE).says(&format!("{private} has an open invitation")).keeps_silent_of(BO);
    desk.sleep(14 * 24 + 1);
    desk.work();
    desk.one_to(ANN).says(&format!("{private} has not taken up your invitation")).keeps_silent_of(BO);
}

#[test]
fn a_declined_challenge_is_reported_to_the_challenger() {
    let desk = Desk::new();
    desk.answer_for(ANN);
    desk.write(ANN, &format!("CHALLENGE {BO} Quad"));
    desk.one_to(ANN);
    let code = code(&desk.one_to(BO), "DECLINE");
    desk.write(BO, &format!("DECLINE {code}"));
    desk.one_to(BO).says("no longer stands");
    desk.one_to(ANN).says("bo has declined your invitation");
    desk.write(BO, &format!("ACCEPT {code}"));
    desk.one_to(BO).says("No offer with the code");
}

#[test]
fn a_player_who_is_not_public_declines_without_a_name() {
    let desk = Desk::new();
    let (_, _, to_bo) = quad(&desk);
    desk.reply(BO, &to_bo, "SETTINGS public=off name=Robert");
    desk.one_to(BO).says("| public=off");
    desk.answer_for(EVE);
    desk.write(EVE, &format!("CHALLENGE {BO} Quad"));
    desk.one_to(EVE).says("has been challenged");
    let code = code(&desk.one_to(BO), "DECLINE");
    desk.write(BO, &format!("DECLINE {code}"));
    desk.one_to(EVE).says(&format!("{BO} has declined your invitation")).keeps_silent_of("Robert");
}

#[test]
fn a_challenge_lapses_after_fourteen_days() {
    let desk = Desk::new();
    desk.answer_for(ANN);
    desk.write(ANN, &format!("CHALLENGE {BO} Quad"));
    desk.one_to(ANN);
    let code = code(&desk.one_to(BO), "ACCEPT");
    desk.sleep(14 * 24 + 1);
    desk.work();
    desk.one_to(ANN).says("has not taken up your invitation, and it has lapsed");
    desk.write(BO, &format!("ACCEPT {code}"));
    desk.one_to(BO).says("No offer with the code");
    desk.work();
    assert!(desk.sent_to(ANN).is_empty(), "a notice is sent once");
}

#[test]
fn only_the_challenged_address_can_accept() {
    let desk = Desk::new();
    desk.answer_for(ANN);
    desk.write(ANN, &format!("CHALLENGE {BO} Quad"));
    let code = code(&desk.one_to(BO), "ACCEPT");
    desk.write(EVE, &format!("ACCEPT {code}"));
    desk.one_to(EVE).says("No offer with the code");
    desk.write(EVE, &format!("JOIN {code}\nthank you"));
    desk.one_to(EVE).says("No offer with the code");
    assert!(desk.block_on(desk.office().store.match_ids()).expect("it answers").is_empty());
}

#[test]
fn nobody_can_challenge_themselves_or_the_referee() {
    let desk = Desk::new();
    desk.write(ANN, &format!("CHALLENGE {ANN} Quad"));
    desk.one_to(ANN).says("An opponent must be somebody else");
    desk.write(ANN, &format!("CHALLENGE {REFEREE} Quad"));
    desk.one_to(ANN).says("An opponent must be somebody else");
}

#[test]
fn a_pair_has_one_open_challenge() {
    let desk = Desk::new();
    desk.answer_for(ANN);
    desk.write(ANN, &format!("CHALLENGE {BO} Quad"));
    let code = code(&desk.one_to(BO), "ACCEPT");
    // The code goes to the challenged person alone.
    desk.one_to(ANN).keeps_silent_of(&code);
    desk.write(ANN, &format!("CHALLENGE {BO} Quantum days=2"));
    desk.one_to(ANN).says("Your earlier challenge is still open").keeps_silent_of(&code);
    desk.write(BO, &format!("ACCEPT {code}"));
    desk.sent_to(ANN);
    desk.write(ANN, &format!("CHALLENGE {BO} Quantum"));
    desk.last_to(BO).says("Quantum");
}

#[test]
fn a_faulty_challenge_is_refused_with_the_reason() {
    let desk = Desk::new();
    desk.write(ANN, &format!("CHALLENGE {BO} Chess"));
    desk.one_to(ANN).says("There is no game called Chess here");
    desk.write(ANN, &format!("CHALLENGE {BO} Quad colour=red"));
    desk.one_to(ANN).says("Quad has no option");
    desk.write(ANN, "CHALLENGE bo");
    desk.one_to(ANN).says("CHALLENGE needs a player, by name, number or mail address, and a game.");
    assert!(desk.sent_to(BO).is_empty());
}

#[test]
fn empty_squares_at_the_end_of_an_array_are_no_punctuation() {
    let desk = Desk::new();
    desk.open(GameKind::Quad, &[]);
    let to_ann = desk.one_to(ANN);
    desk.reply(ANN, &to_ann, &format!("CHALLENGE {EVE} quantum array=SSSSSSSS/CCCCCCCC/QQ......"));
    desk.one_to(EVE).says("SSSSSSSS/CCCCCCCC/QQ......");
}

#[test]
fn an_open_seat_is_listed_and_goes_to_the_first_who_joins() {
    let desk = Desk::new();
    desk.answer_for(ANN);
    desk.answer_for(BO);
    desk.answer_for(EVE);
    desk.write(ANN, "OPEN Quad days=2");
    let answer = desk.one_to(ANN);
    answer.says("The seat is open to anyone");
    let code = code(&answer, "JOIN");
    desk.write(EVE, "GAMES");
    desk.one_to(EVE).says("ann offers").says(&format!("JOIN {code}")).says("quadrant-z");
    desk.write(ANN, &format!("JOIN {code}"));
    desk.one_to(ANN).says("An opponent must be somebody else");
    desk.put(&format!("From: {BO}\nTo: {REFEREE}\nMessage-ID: <j1@x.example>\n\nJOIN {code}\n"));
    desk.put(&format!("From: {EVE}\nTo: {REFEREE}\nMessage-ID: <j2@x.example>\n\nJOIN {code}\n"));
    desk.work();
    [BO, EVE].iter().for_each(|address| desk.answer_question(address));
    let game_match = only_match(&desk);
    let second = [desk.last_to(BO), desk.last_to(EVE)];
    assert_eq!(second.iter().filter(|sent| sent.text.contains("No offer with the code")).count(), 1);
    assert_eq!(game_match.terms.days, 2);
    desk.write("carl@players.example", "GAMES");
    desk.one_to("carl@players.example").keeps_silent_of("JOIN");
}

#[test]
fn an_offer_can_be_withdrawn() {
    let desk = Desk::new();
    desk.answer_for(ANN);
    desk.write(ANN, "OPEN Quad");
    let code = code(&desk.one_to(ANN), "CLOSE");
    desk.write(EVE, &format!("DECLINE {code}"));
    desk.one_to(EVE).says("No offer with the code");
    desk.write(ANN, &format!("DECLINE {code}"));
    desk.one_to(ANN).says("no longer stands");
    desk.write(EVE, &format!("JOIN {code}"));
    desk.one_to(EVE).says("No offer with the code");
}

#[test]
fn a_challenge_can_be_part_of_a_letter_about_a_match() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    let invitation = desk.one_to(ANN);
    desk.reply(ANN, &invitation, &format!("MARBLE E5\nCHALLENGE {EVE} Quantum\nMATCHES"));
    desk.sent_to(ANN)[0]
        .says("Your orders are sealed")
        .says("eve@elsewhere.example has been challenged")
        .says(&format!("{}, Quad against Bo", game_match.id));
    desk.one_to(EVE).says("Ann (P-1) invites you");
}

#[test]
fn matches_lists_the_opponent_the_awaited_seat_and_the_deadline() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    desk.write(BO, "MATCHES");
    desk.last_to(BO)
        .says(&format!("{}, Quad against Ann", game_match.id))
        .says("turn 1: waits for Ann")
        .says("due Thu 14 May, 20:00 CEST");
    desk.write(EVE, "MATCHES");
    desk.one_to(EVE).says("You play no match here");
}

#[test]
fn a_check_makes_no_offer() {
    let desk = Desk::new();
    desk.write(ANN, &format!("CHECK\nCHALLENGE {BO} Quad"));
    desk.one_to(ANN).says("CHALLENGE was understood but not carried out");
    assert!(desk.sent_to(BO).is_empty());
    desk.open(GameKind::Quad, &[]);
    desk.reply(ANN, &desk.one_to(ANN), "CHECK\nRESIGN CONFIRM");
    desk.one_to(ANN).says("RESIGN was understood but not carried out");
    assert_eq!(only_match(&desk).stage, Stage::Running);
}

#[test]
fn help_sends_every_page_of_the_manual() {
    let desk = Desk::new();
    let pages = [
        ("orders", "either all orders in a letter are accepted or none"),
        ("commands", "RESIGN CONFIRM"),
        ("time", "hours of grace"),
        ("challenge", "How to find an opponent"),
        ("gm", "What the GM can do"),
        ("zeppelins", "I have no page on zeppelins"),
    ];
    for (topic, words) in pages {
        desk.write(EVE, &format!("HELP {topic}"));
        desk.one_to(EVE).says(words);
    }
    assert_eq!(desk.last_status(), LetterStatus::Answered);
}

#[test]
fn a_name_that_contains_a_message_is_not_passed_on() {
    let desk = Desk::new();
    desk.answer_for(ANN);
    desk.write("\"Buy at https://spam.example\" <ann@players.example>", &format!("CHALLENGE {BO} Quad"));
    desk.one_to(BO).says("ann@players.example invites you").keeps_silent_of("spam");
}
