//! Letters with a GM's token from an address that is not the GM's.

use fogpost::referee::Stage;
use fogpost::store::LetterStatus;

use crate::positions::quad;
use crate::referee::{ANN, BO, GM, Referee, Sent};

const ALIAS: &str = "gm@elsewhere.example";

/// A letter to the GM with the GM's reply token.
fn letter_to_gm(referee: &Referee) -> Sent {
    referee.write(GM, "GM LIST");
    referee.last_to(GM)
}

fn code_of(notice: &Sent) -> String {
    let line = notice.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM "));
    line.expect("a question has a code").to_owned()
}

#[test]
fn the_gm_confirms_a_command_from_an_address_that_is_not_listed() {
    let referee = Referee::new();
    let (game_match, _, _) = quad(&referee);
    let to_gm = letter_to_gm(&referee);
    referee.reply(ALIAS, &to_gm, &format!("GM MATCH {} PAUSE a secret reason", game_match.id));
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    assert!(referee.sent_to(ALIAS).is_empty());
    let question = referee.one_to(GM);
    question.says(&format!("from {ALIAS}")).says(&format!("> GM MATCH {} PAUSE", game_match.id));
    question.keeps_silent_of("secret reason");
    // Further letters are added to the question, and only the GM can use the code.
    referee.reply(ALIAS, &to_gm, &format!("GM MATCH {} NOTE hello", game_match.id));
    assert!(referee.sent_to(GM).is_empty(), "one question a day");
    for other in [ALIAS, ANN, "eve@elsewhere.example"] {
        referee.write(other, &format!("CONFIRM {}", code_of(&question)));
        referee.one_to(other);
    }
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    referee.reply(GM, &question, &format!("CONFIRM {}", code_of(&question)));
    assert_eq!(referee.find(&game_match.id).stage, Stage::Paused);
    let letters = referee.sent_to(GM);
    assert!(letters.iter().any(|sent| sent.text.contains("You confirmed 2 letters")), "{letters:#?}");
    assert!(referee.sent_to(ALIAS).is_empty(), "the answers go to the registered address");
    referee.sent_to(ANN);
    referee.sent_to(BO);
}

#[test]
fn a_confirmed_command_counts_for_the_turn_that_it_was_written_for() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let to_gm = letter_to_gm(&referee);
    referee.reply(
        ALIAS,
        &to_gm,
        &format!("GM MATCH {} ADJUDICATE\nGM MATCH {} EXTEND 3 days", game_match.id, game_match.id),
    );
    let question = referee.one_to(GM);
    referee.advance(1);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let before = referee.find(&game_match.id);
    assert_eq!(before.adjudicated.len(), 1);
    referee.reply(GM, &question, &format!("CONFIRM {}", code_of(&question)));
    let letters = referee.sent_to(GM);
    let answer = letters.iter().find(|sent| sent.text.contains("Nothing was done")).expect("an answer");
    answer.says("you meant turn 1, and turn 2 is open");
    let after = referee.find(&game_match.id);
    assert_eq!((after.adjudicated.len(), after.deadline), (1, before.deadline));
}

#[test]
fn a_denied_letter_renews_the_gms_token() {
    let referee = Referee::new();
    let (game_match, _, _) = quad(&referee);
    let to_gm = letter_to_gm(&referee);
    let pause = format!("GM MATCH {} PAUSE", game_match.id);
    referee.reply(ALIAS, &to_gm, &pause);
    let question = referee.one_to(GM);
    referee.write(GM, &format!("DENY {}", code_of(&question)));
    let letters = referee.sent_to(GM);
    let renewed = letters.iter().find(|sent| sent.subject == "Your new reply token").expect("a token");
    assert_ne!(renewed.token(), to_gm.token());
    referee.reply(GM, &to_gm, &pause);
    referee.one_to(GM).says("without the GM's reply token");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Running);
    referee.reply(GM, renewed, &pause);
    assert_eq!(referee.find(&game_match.id).stage, Stage::Paused);
    referee.sent_to(GM);
}

#[test]
fn a_gms_letter_with_a_broken_sender_reaches_the_registered_address() {
    let referee = Referee::new();
    let to_gm = letter_to_gm(&referee);
    let letter = referee.answer(GM, &to_gm, "GM LIST");
    referee.receive(&letter.replace(&format!("From: {GM}\n"), "From: The GM\n"));
    referee.one_to(GM).says("its sender's line (From) holds no complete address");
}
