//! Finding an opponent by letter: challenges and open seats, accepted, declined, withdrawn or lapsed.

use fogpost::game::any::GameKind;
use fogpost::referee::Stage;
use fogpost::store::LetterStatus;

use crate::positions::quad;
use crate::referee::{ANN, BO, GM, REFEREE, Referee, Sent};

const EVE: &str = "eve@elsewhere.example";

/// The code that follows this word in a letter.
fn code(sent: &Sent, word: &str) -> String {
    let line = sent.text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
    line.unwrap_or_else(|| panic!("no {word} in:\n{}", sent.text)).to_owned()
}

fn only_match(referee: &Referee) -> fogpost::referee::Match {
    let ids = referee.block_on(referee.office().store.match_ids()).expect("the store answers");
    assert_eq!(ids.len(), 1, "one match");
    referee.find(&ids[0])
}

#[test]
fn a_stranger_challenges_and_the_opponent_accepts() {
    let referee = Referee::new();
    referee.write(
        "Ann Archer <ann@players.example>",
        &format!("CHALLENGE {BO} Quad days=3 swap=off seat=first"),
    );
    let question = referee.one_to(ANN);
    question.says("Was it you who wrote this?").says(&format!("> CHALLENGE {BO} Quad days=3"));
    assert!(referee.sent_to(BO).is_empty(), "anybody can write in Ann's name");
    referee.reply(ANN, &question, &format!("CONFIRM {}", code(&question, "CONFIRM")));
    referee.one_to(ANN).says("bo@players.example has been challenged").says("Quad, 3 days a turn");
    let invitation = referee.one_to(BO);
    invitation.says("ann@players.example invites you to a match").says("who offers is").says("ACCEPT");
    referee.reply(BO, &invitation, &format!("accept {}", code(&invitation, "ACCEPT").to_lowercase()));
    let game_match = only_match(&referee);
    assert_eq!(
        (game_match.game, game_match.terms.days, game_match.players.first.as_str()),
        (GameKind::Quad, 3, "ann")
    );
    let to_bo = referee.sent_to(BO);
    to_bo.iter().find(|sent| sent.subject.starts_with("Re:")).expect("an answer").says("begins");
    let to_ann = referee.one_to(ANN);
    to_ann.says("plays Quad with you");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn the_code_of_a_challenge_goes_to_the_invited_person_alone() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    referee.reply(ANN, &to_ann, &format!("CHALLENGE {EVE} Quantum"));
    let code = code(&referee.one_to(EVE), "ACCEPT");
    referee.reply(ANN, &to_ann, "GAMES\nMATCHES");
    referee.write(BO, "GAMES");
    referee.advance(24);
    for reader in [ANN, BO, GM] {
        for sent in referee.all_to(reader) {
            sent.keeps_silent_of(&code);
        }
    }
    referee.write(EVE, &format!("ACCEPT {code}"));
    referee.last_to(EVE).says("begins");
}

#[test]
fn no_message_id_tells_the_challenger_the_code() {
    let referee = Referee::answering(ANN, "");
    referee.write(ANN, &format!("CHALLENGE {BO} Quad"));
    let declined = code(&referee.one_to(BO), "DECLINE");
    referee.write(BO, &format!("DECLINE {declined}"));
    referee.write(ANN, &format!("CHALLENGE {EVE} Quad"));
    let lapsed = code(&referee.one_to(EVE), "DECLINE");
    referee.sleep(14 * 24 + 1);
    referee.work();
    let ids: Vec<String> = referee.all_to(ANN).into_iter().map(|sent| sent.message_id).collect();
    assert_eq!(ids.len(), 4, "two answers, and how each challenge ended");
    for secret in [declined, lapsed] {
        assert!(ids.iter().all(|id| !id.contains(&secret.to_lowercase())), "{secret} is in {ids:?}");
    }
}

#[test]
fn a_challenger_learns_no_address_but_the_one_they_wrote() {
    let referee = Referee::answering(ANN, "");
    let private = "private@home.example";
    referee.write(GM, "GM LIST");
    let to_gm = referee.one_to(GM);
    referee.reply(GM, &to_gm, &format!("GM PLAYER ADD {BO} Bo\nGM PLAYER ADD {private} Bo"));
    referee.reply(GM, &to_gm, &format!("GM PLAYER MERGE {private} INTO {BO}"));
    referee.write(ANN, &format!("CHALLENGE {private} Quad"));
    referee.one_to(ANN).says(&format!("{private} has been challenged")).keeps_silent_of(BO);
    referee.last_to(BO).says("ann@players.example invites you");
    referee.answer_for(EVE);
    referee.write(EVE, &format!("CHALLENGE {private} Quad"));
    referee.one_to(EVE).says(&format!("{private} has an open invitation")).keeps_silent_of(BO);
    referee.sleep(14 * 24 + 1);
    referee.work();
    referee.one_to(ANN).says(&format!("{private} has not taken up your invitation")).keeps_silent_of(BO);
}

#[test]
fn a_declined_challenge_is_reported_to_the_challenger() {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.write(ANN, &format!("CHALLENGE {BO} Quad"));
    referee.one_to(ANN);
    let code = code(&referee.one_to(BO), "DECLINE");
    referee.write(BO, &format!("DECLINE {code}"));
    referee.one_to(BO).says("no longer stands");
    referee.one_to(ANN).says("bo has declined your invitation");
    referee.write(BO, &format!("ACCEPT {code}"));
    referee.one_to(BO).says("No offer with the code");
}

#[test]
fn a_player_who_is_not_public_declines_without_a_name() {
    let referee = Referee::new();
    let (_, _, to_bo) = quad(&referee);
    referee.reply(BO, &to_bo, "SETTINGS public=off name=Robert");
    referee.one_to(BO).says("| public=off");
    referee.answer_for(EVE);
    referee.write(EVE, &format!("CHALLENGE {BO} Quad"));
    referee.one_to(EVE).says("has been challenged");
    let code = code(&referee.one_to(BO), "DECLINE");
    referee.write(BO, &format!("DECLINE {code}"));
    referee.one_to(EVE).says(&format!("{BO} has declined your invitation")).keeps_silent_of("Robert");
}

#[test]
fn a_challenge_lapses_after_fourteen_days() {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.write(ANN, &format!("CHALLENGE {BO} Quad"));
    referee.one_to(ANN);
    let code = code(&referee.one_to(BO), "ACCEPT");
    referee.sleep(14 * 24 + 1);
    referee.work();
    referee.one_to(ANN).says("has not taken up your invitation, and it has lapsed");
    referee.write(BO, &format!("ACCEPT {code}"));
    referee.one_to(BO).says("No offer with the code");
    referee.work();
    assert!(referee.sent_to(ANN).is_empty(), "a notice is sent once");
}

#[test]
fn only_the_challenged_address_can_accept() {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.write(ANN, &format!("CHALLENGE {BO} Quad"));
    let code = code(&referee.one_to(BO), "ACCEPT");
    referee.write(EVE, &format!("ACCEPT {code}"));
    referee.one_to(EVE).says("No offer with the code");
    referee.write(EVE, &format!("JOIN {code}\nthank you"));
    referee.one_to(EVE).says("No offer with the code");
    assert!(referee.block_on(referee.office().store.match_ids()).expect("it answers").is_empty());
}

#[test]
fn nobody_can_challenge_themselves_or_the_referee() {
    let referee = Referee::new();
    referee.write(ANN, &format!("CHALLENGE {ANN} Quad"));
    referee.one_to(ANN).says("An opponent must be somebody else");
    referee.write(ANN, &format!("CHALLENGE {REFEREE} Quad"));
    referee.one_to(ANN).says("An opponent must be somebody else");
}

#[test]
fn a_pair_has_one_open_challenge() {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.write(ANN, &format!("CHALLENGE {BO} Quad"));
    let code = code(&referee.one_to(BO), "ACCEPT");
    // The code goes to the challenged person alone.
    referee.one_to(ANN).keeps_silent_of(&code);
    referee.write(ANN, &format!("CHALLENGE {BO} Quantum days=2"));
    referee.one_to(ANN).says("Your earlier challenge is still open").keeps_silent_of(&code);
    referee.write(BO, &format!("ACCEPT {code}"));
    referee.sent_to(ANN);
    referee.write(ANN, &format!("CHALLENGE {BO} Quantum"));
    referee.last_to(BO).says("Quantum");
}

#[test]
fn a_faulty_challenge_is_refused_with_the_reason() {
    let referee = Referee::new();
    referee.write(ANN, &format!("CHALLENGE {BO} Chess"));
    referee.one_to(ANN).says("There is no game called Chess here");
    referee.write(ANN, &format!("CHALLENGE {BO} Quad colour=red"));
    referee.one_to(ANN).says("Quad has no option");
    referee.write(ANN, "CHALLENGE bo");
    referee.one_to(ANN).says("CHALLENGE needs a player, by name, number or mail address, and a game.");
    assert!(referee.sent_to(BO).is_empty());
}

#[test]
fn empty_squares_at_the_end_of_an_array_are_no_punctuation() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    referee.reply(ANN, &to_ann, &format!("CHALLENGE {EVE} quantum array=SSSSSSSS/CCCCCCCC/QQ......"));
    referee.one_to(EVE).says("SSSSSSSS/CCCCCCCC/QQ......");
}

#[test]
fn an_open_seat_is_listed_and_goes_to_the_first_who_joins() {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.answer_for(BO);
    referee.answer_for(EVE);
    referee.write(ANN, "OPEN Quad days=2");
    let answer = referee.one_to(ANN);
    answer.says("The seat is open to anyone");
    let code = code(&answer, "JOIN");
    referee.write(EVE, "GAMES");
    referee.one_to(EVE).says("ann offers").says(&format!("JOIN {code}")).says("quadrant-z");
    referee.write(ANN, &format!("JOIN {code}"));
    referee.one_to(ANN).says("An opponent must be somebody else");
    referee.put(&format!("From: {BO}\nTo: {REFEREE}\nMessage-ID: <j1@x.example>\n\nJOIN {code}\n"));
    referee.put(&format!("From: {EVE}\nTo: {REFEREE}\nMessage-ID: <j2@x.example>\n\nJOIN {code}\n"));
    referee.work();
    [BO, EVE].iter().for_each(|address| referee.answer_question(address));
    let game_match = only_match(&referee);
    let second = [referee.last_to(BO), referee.last_to(EVE)];
    assert_eq!(second.iter().filter(|sent| sent.text.contains("No offer with the code")).count(), 1);
    assert_eq!(game_match.terms.days, 2);
    referee.write("carl@players.example", "GAMES");
    referee.one_to("carl@players.example").keeps_silent_of("JOIN");
}

#[test]
fn an_offer_can_be_withdrawn() {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.write(ANN, "OPEN Quad");
    let code = code(&referee.one_to(ANN), "CLOSE");
    referee.write(EVE, &format!("DECLINE {code}"));
    referee.one_to(EVE).says("No offer with the code");
    referee.write(ANN, &format!("DECLINE {code}"));
    referee.one_to(ANN).says("no longer stands");
    referee.write(EVE, &format!("JOIN {code}"));
    referee.one_to(EVE).says("No offer with the code");
}

#[test]
fn a_challenge_can_be_part_of_a_letter_about_a_match() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, &format!("MARBLE E5\nCHALLENGE {EVE} Quantum\nMATCHES"));
    referee.sent_to(ANN)[0]
        .says("Your orders are sealed")
        .says("eve@elsewhere.example has been challenged")
        .says(&format!("{}, Quad against Bo", game_match.id));
    referee.one_to(EVE).says("Ann (P-1) invites you");
}

#[test]
fn matches_lists_the_opponent_the_awaited_seat_and_the_deadline() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.write(BO, "MATCHES");
    referee
        .last_to(BO)
        .says(&format!("{}, Quad against Ann", game_match.id))
        .says("turn 1: waits for Ann")
        .says("due Thu 14 May, 20:00 CEST");
    referee.write(EVE, "MATCHES");
    referee.one_to(EVE).says("You play no match here");
}

#[test]
fn a_check_makes_no_offer() {
    let referee = Referee::new();
    referee.write(ANN, &format!("CHECK\nCHALLENGE {BO} Quad"));
    referee.one_to(ANN).says("CHALLENGE was understood but not carried out");
    assert!(referee.sent_to(BO).is_empty());
    referee.open(GameKind::Quad, &[]);
    referee.reply(ANN, &referee.one_to(ANN), "CHECK\nRESIGN CONFIRM");
    referee.one_to(ANN).says("RESIGN was understood but not carried out");
    assert_eq!(only_match(&referee).stage, Stage::Running);
}

#[test]
fn help_sends_every_page_of_the_manual() {
    let referee = Referee::new();
    let pages = [
        ("orders", "either all orders in a letter are accepted or none"),
        ("commands", "RESIGN CONFIRM"),
        ("time", "hours of grace"),
        ("challenge", "How to find an opponent"),
        ("gm", "What the GM can do"),
        ("zeppelins", "I have no page on zeppelins"),
    ];
    for (topic, words) in pages {
        referee.write(EVE, &format!("HELP {topic}"));
        referee.one_to(EVE).says(words);
    }
    assert_eq!(referee.last_status(), LetterStatus::Answered);
}

#[test]
fn a_name_that_contains_a_message_is_not_passed_on() {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.write("\"Buy at https://spam.example\" <ann@players.example>", &format!("CHALLENGE {BO} Quad"));
    referee.one_to(BO).says("ann@players.example invites you").keeps_silent_of("spam");
}
