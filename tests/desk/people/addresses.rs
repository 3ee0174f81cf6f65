//! ADDRESS and LEAVE: nothing changes before the questions are answered, and a change of address can be undone.

use fogpost::game::any::GameKind;
use fogpost::referee::Stage;
use fogpost::store::LetterStatus;

use crate::desk::{ANN, BO, Desk, GM, Sent};
use crate::positions::quad;

const NEW: &str = "ann@new.example";
const EVE: &str = "eve@elsewhere.example";

/// The code with which one of our letters can be confirmed.
pub fn code_of(question: &Sent) -> String {
    code_after(question, "| CONFIRM ")
}

/// The code with which one of our letters can be denied.
pub fn denial_of(letter: &Sent) -> String {
    code_after(letter, "| DENY ")
}

fn code_after(letter: &Sent, words: &str) -> String {
    let code = letter.text.lines().find_map(|line| line.trim().strip_prefix(words));
    code.unwrap_or_else(|| panic!("{words}CODE is not in:\n{}", letter.text)).to_owned()
}

fn addresses_of(desk: &Desk, address: &str) -> Vec<String> {
    let found = desk.block_on(desk.office().store.player_by_address(address)).expect("the store answers");
    found.map(|player| player.addresses).unwrap_or_default()
}

/// The last of these letters whose subject contains these words.
pub fn titled(letters: &[Sent], words: &str) -> Sent {
    let found = letters.iter().rev().find(|sent| sent.subject.contains(words));
    let subjects: Vec<_> = letters.iter().map(|sent| &sent.subject).collect();
    found.unwrap_or_else(|| panic!("{words:?} is not in {subjects:?}")).clone()
}

/// Asks for a new address in Ann's name, with her token, and returns our question to her.
fn ask(desk: &Desk, to_ann: &Sent, new: &str) -> Sent {
    desk.reply(ANN, to_ann, &format!("ADDRESS {new}"));
    titled(&desk.sent_to(ANN), "A new address")
}

/// Gives Ann a new address, and returns the notice to her old one.
pub fn add(desk: &Desk, to_ann: &Sent, new: &str) -> Sent {
    let question = ask(desk, to_ann, new);
    desk.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.sent_to(ANN);
    let question = desk.one_to(new);
    desk.reply(new, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.last_to(new).says("From now on I write to you at");
    desk.one_to(ANN)
}

#[test]
fn a_new_address_counts_when_the_registered_and_the_new_one_have_agreed() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, &format!("ADDRESS {NEW}"));
    let letters = desk.sent_to(ANN);
    let question = titled(&letters, "A new address");
    question.says(&format!("write to {NEW}")).keeps_silent_of(to_ann.token());
    titled(&letters, "Turn").says(&format!("I have written to {ANN} to ask"));
    assert!(desk.sent_to(NEW).is_empty(), "nobody else is written to before Ann has agreed");

    desk.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.one_to(ANN).says(&format!("I have now written to {NEW}"));
    assert_eq!(addresses_of(&desk, ANN), [ANN]);
    let to_new = desk.one_to(NEW);
    to_new.says("would like to get my letters at this address").keeps_silent_of("Ann");
    // Neither code is valid for the other address.
    assert_ne!(code_of(&to_new), code_of(&question));
    desk.reply(ANN, &to_new, &format!("CONFIRM {}", code_of(&to_new)));
    desk.one_to(ANN).says("I have no open question");
    assert_eq!(addresses_of(&desk, ANN), [ANN]);

    desk.reply(NEW, &to_new, &format!("CONFIRM {}", code_of(&to_new)));
    desk.one_to(NEW).says("From now on I write to you at");
    desk.one_to(ANN).says(&format!("I write to you at {NEW}")).says("DENY");
    assert_eq!(addresses_of(&desk, ANN), [NEW, ANN]);
    // Both addresses are valid, and letters go to the new one.
    desk.reply(ANN, &to_ann, "STATUS");
    desk.one_to(NEW).says("Quad, Ann");
    desk.reply(NEW, &to_ann, "MARBLE E5");
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
    assert!(desk.sent_to(ANN).is_empty());
}

#[test]
fn within_seven_days_the_old_address_undoes_the_change_and_all_tokens_are_renewed() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    let other = desk.open(GameKind::Quad, &[]);
    desk.sent_to(ANN);
    desk.sent_to(BO);
    let told = add(&desk, &to_ann, EVE);
    // Nobody else can deny it, and the code of the question to the new address has no effect.
    desk.reply(BO, &told, &format!("DENY {}", denial_of(&told)));
    desk.sent_to(BO);
    desk.reply(EVE, &told, &format!("DENY {}", denial_of(&told)));
    desk.sent_to(EVE);
    assert_eq!(addresses_of(&desk, ANN), [EVE, ANN]);

    desk.advance(6 * 24);
    desk.sent_to(EVE);
    desk.sent_to(GM);
    desk.reply(ANN, &told, &format!("DENY {}", denial_of(&told)));
    let letters = desk.sent_to(ANN);
    titled(&letters, "Re: You have a new address").says("is undone, and the GM has been told");
    let renewed: Vec<&Sent> = letters.iter().filter(|sent| sent.text.contains("Reply token:")).collect();
    assert_eq!(renewed.len(), 2, "{letters:#?}");
    assert!(renewed.iter().all(|sent| sent.token() != to_ann.token()));
    assert!(desk.sent_to(EVE).is_empty(), "the new tokens go to Ann alone");
    titled(&desk.sent_to(GM), "has undone a change").says(EVE).says(&other.id);
    assert_eq!(addresses_of(&desk, ANN), [ANN]);
    // The old token is no longer valid.
    desk.reply(ANN, &to_ann, "RESIGN CONFIRM");
    assert!(desk.find(&other.id).state.outcome().is_none());
    desk.sent_to(ANN);
    desk.reply(ANN, &told, &format!("DENY {}", denial_of(&told)));
    desk.one_to(ANN).says("No letter waits for your word");
}

#[test]
fn after_seven_days_a_change_of_address_stands() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    let told = add(&desk, &to_ann, NEW);
    desk.advance(7 * 24 + 1);
    desk.sent_to(NEW);
    desk.reply(ANN, &told, &format!("DENY {}", denial_of(&told)));
    assert_eq!(addresses_of(&desk, ANN), [NEW, ANN]);
    desk.sent_to(NEW);
    desk.reply(NEW, &to_ann, &format!("ADDRESS REMOVE {ANN}"));
    let question = titled(&desk.sent_to(NEW), "Remove one of your addresses");
    desk.reply(NEW, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.one_to(NEW).says("is no longer one of your addresses");
    assert_eq!(addresses_of(&desk, NEW), [NEW]);
    titled(&desk.sent_to(ANN), "I no longer write to this address").says("DENY");
}

#[test]
fn a_new_address_cannot_resign_leave_or_change_addresses_for_seven_days() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    add(&desk, &to_ann, EVE);
    desk.reply(EVE, &to_ann, "RESIGN CONFIRM");
    desk.last_to(EVE).says("You have not resigned");
    assert!(desk.find(&game_match.id).state.outcome().is_none());
    for command in
        [format!("ADDRESS REMOVE {ANN}"), "ADDRESS eve@third.example".to_owned(), "LEAVE CONFIRM".to_owned()]
    {
        desk.reply(EVE, &to_ann, &command);
        desk.one_to(EVE).says("was added in the last seven days");
    }
    assert!(desk.sent_to(ANN).is_empty());
    assert!(desk.sent_to("eve@third.example").is_empty());
    // Ann's older address can do all this, and gets the questions.
    desk.reply(ANN, &to_ann, "LEAVE CONFIRM");
    let question = desk.one_to(ANN);
    question.says("these matches would be resigned");
    // Eve, who gets Ann's letters first, cannot answer for her.
    desk.reply(EVE, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.last_to(EVE).says("was added in the last seven days");
    assert!(desk.find(&game_match.id).state.outcome().is_none());
    desk.advance(7 * 24 + 1);
    desk.sent_to(EVE);
    desk.reply(EVE, &to_ann, "RESIGN CONFIRM");
    assert!(desk.find(&game_match.id).stage == Stage::Over);
}

#[test]
fn another_players_address_is_refused_and_both_are_advised() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, &format!("ADDRESS {BO}"));
    desk.one_to(ANN).says("is the address of another player").says("ask the GM for new reply tokens");
    desk.one_to(BO).says("I have refused").says("ask the GM for new reply tokens").keeps_silent_of("Ann");
    desk.reply(ANN, &to_ann, &format!("ADDRESS {BO}"));
    assert!(desk.sent_to(BO).is_empty(), "once a day");
    assert_eq!(addresses_of(&desk, ANN), [ANN]);
    assert_eq!(addresses_of(&desk, BO), [BO]);
}

#[test]
fn nobody_learns_from_address_whom_the_gm_has_blocked() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    desk.write(GM, "GM LIST");
    let to_gm = desk.one_to(GM);
    desk.reply(GM, &to_gm, &format!("GM PLAYER BLOCK {BO}\nGM PLAYER BLOCK {EVE}"));
    for blocked in [BO, EVE] {
        desk.last_to(blocked).says("I no longer read your letters");
    }
    desk.reply(ANN, &to_ann, &format!("ADDRESS {BO}"));
    desk.one_to(ANN).says("is the address of another player");
    let question = ask(&desk, &to_ann, EVE);
    desk.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.one_to(ANN).says(&format!("I have now written to {EVE}"));
    for blocked in [BO, EVE] {
        assert!(desk.sent_to(blocked).is_empty(), "{blocked} was written to");
    }
}

#[test]
fn whoever_forges_a_letter_without_a_token_causes_one_question_a_day_and_learns_nothing() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    for n in 0..5 {
        desk.write(ANN, &format!("ADDRESS eve{n}@elsewhere.example"));
    }
    desk.write(ANN, &format!("ADDRESS {BO}"));
    let letters = desk.sent_to(ANN);
    let questions: Vec<&Sent> = letters.iter().filter(|sent| sent.subject.contains("new address")).collect();
    assert_eq!(questions.len(), 1);
    assert!(letters.iter().all(|sent| !sent.text.contains("another player")));
    // Ann denies it. Her tokens are still secret, so they are not renewed.
    desk.reply(ANN, questions[0], &format!("DENY {}", denial_of(questions[0])));
    desk.one_to(ANN).says("Nothing has been changed");
    desk.reply(ANN, &to_ann, "STATUS");
    assert_eq!(desk.one_to(ANN).token(), to_ann.token());
    assert_eq!(addresses_of(&desk, ANN), [ANN]);
    desk.write(EVE, &format!("ADDRESS {EVE}"));
    desk.one_to(EVE).says("only from the address of a registered player");
}

#[test]
fn denying_a_question_that_a_letter_with_a_token_caused_renews_the_tokens() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    let question = ask(&desk, &to_ann, EVE);
    desk.reply(ANN, &question, &format!("DENY {}", denial_of(&question)));
    let letters = desk.sent_to(ANN);
    let renewed = letters.iter().find(|sent| sent.text.contains("Reply token:")).expect("a new token");
    assert_ne!(renewed.token(), to_ann.token());
    desk.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.one_to(ANN).says("I have no open question");
    assert!(desk.sent_to(EVE).is_empty());
}

#[test]
fn requests_that_wait_for_an_answer_are_few_and_lapse_after_two_weeks() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    let question = ask(&desk, &to_ann, NEW);
    desk.reply(ANN, &to_ann, &format!("ADDRESS {NEW} "));
    desk.one_to(ANN).says("less than a day ago");
    for n in 0..4 {
        ask(&desk, &to_ann, &format!("ann{n}@new.example"));
    }
    desk.reply(ANN, &to_ann, "ADDRESS ann@sixth.example");
    desk.one_to(ANN).says("Several of your requests still wait");
    desk.advance(14 * 24 + 1);
    desk.sent_to(ANN);
    desk.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.last_to(ANN).says("I have no open question");
    assert!(desk.sent_to(NEW).is_empty());
}

#[test]
fn requests_of_a_day_are_few_even_if_they_are_denied() {
    let desk = Desk::new();
    let (_, mut to_ann, _) = quad(&desk);
    for name in "abcdefghij".chars() {
        let question = ask(&desk, &to_ann, &format!("{name}@new.example"));
        desk.reply(ANN, &question, &format!("DENY {}", denial_of(&question)));
        let letters = desk.sent_to(ANN);
        let renewed = letters.iter().find(|sent| sent.text.contains("Reply token:"));
        to_ann = renewed.expect("a new token").clone();
    }
    desk.reply(ANN, &to_ann, &format!("ADDRESS {NEW}"));
    desk.one_to(ANN).says("You have asked for 10 changes within a day");
    desk.advance(24);
    ask(&desk, &to_ann, NEW);
}

#[test]
fn a_newcomer_can_have_three_addresses_a_day_asked() {
    let desk = Desk::answering(EVE, "");
    desk.write(EVE, "CHALLENGE house quad level=easy first=me");
    let letters = desk.sent_to(EVE);
    let to_eve = letters.iter().find(|sent| sent.text.contains("Reply token:")).expect("an invitation");
    let mut refused = None;
    for (n, name) in ["carl", "dora", "emil", "fay"].into_iter().enumerate() {
        let stranger = format!("{name}@strangers.example");
        desk.reply(EVE, to_eve, &format!("ADDRESS {stranger}"));
        let question = titled(&desk.sent_to(EVE), "A new address");
        desk.reply(EVE, &question, &format!("CONFIRM {}", code_of(&question)));
        assert_eq!(desk.sent_to(&stranger).len(), usize::from(n < 3), "{stranger}");
        refused = Some(question);
    }
    desk.one_to(EVE).says("As long as you are new here I write to 3 other people a day for you");
    desk.advance(24);
    let question = refused.expect("the last one");
    desk.reply(EVE, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.one_to("fay@strangers.example").says("would like to get my letters at this address");
}

#[test]
fn an_address_that_was_removed_can_undo_it() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    add(&desk, &to_ann, NEW);
    // If only the new address were left, nobody could undo its addition.
    desk.reply(ANN, &to_ann, &format!("ADDRESS REMOVE {ANN}"));
    desk.one_to(NEW).says("stays for now");
    desk.advance(8 * 24);
    desk.sent_to(NEW);
    desk.sent_to(ANN);
    desk.reply(NEW, &to_ann, &format!("ADDRESS REMOVE {ANN}"));
    let question = titled(&desk.sent_to(NEW), "Remove one of your addresses");
    desk.reply(NEW, &question, &format!("CONFIRM {}", code_of(&question)));
    let told = desk.one_to(ANN);
    assert_eq!(addresses_of(&desk, NEW), [NEW]);
    desk.reply(ANN, &to_ann, "STATUS");
    assert_eq!(desk.last_status(), LetterStatus::Ignored);
    desk.sent_to(NEW);
    desk.reply(ANN, &told, &format!("DENY {}", denial_of(&told)));
    assert_eq!(addresses_of(&desk, ANN), [ANN, NEW]);
    let letters = desk.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("Reply token:")), "{letters:#?}");
    titled(&desk.sent_to(GM), "has undone a change");
}

#[test]
fn the_owner_of_a_new_address_that_was_removed_cannot_undo_it() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    add(&desk, &to_ann, EVE);
    desk.reply(ANN, &to_ann, &format!("ADDRESS REMOVE {EVE}"));
    let question = titled(&desk.sent_to(ANN), "Remove one of your addresses");
    desk.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    assert_eq!(addresses_of(&desk, ANN), [ANN]);
    let told = titled(&desk.sent_to(EVE), "I no longer write to this address");
    told.keeps_silent_of("DENY");
    let part = told.message_id.split(['.', '@']).nth(1).expect("a part of the Message-ID");
    desk.write(EVE, &format!("DENY {part}"));
    assert_eq!(addresses_of(&desk, ANN), [ANN]);
}

#[test]
fn leaving_resigns_every_match_once_the_registered_address_has_confirmed() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let other = desk.open(GameKind::Quantum, &[]);
    desk.sent_to(ANN);
    desk.sent_to(BO);
    desk.reply(ANN, &to_ann, "LEAVE");
    desk.one_to(ANN).says("LEAVE CONFIRM");
    desk.reply(ANN, &to_ann, "OPEN quad\nLEAVE CONFIRM");
    let letters = desk.sent_to(ANN);
    let question = titled(&letters, "Do you want to leave");
    question.says(&game_match.id).says(&other.id).says("cannot be undone");
    assert!(desk.find(&game_match.id).state.outcome().is_none(), "nothing has changed yet");
    // In a letter about a match, CONFIRM would change that match while it is ruled on.
    desk.reply(ANN, &to_ann, &format!("CONFIRM {}", code_of(&question)));
    desk.one_to(ANN).says("Please answer the letter in which I asked you");
    desk.reply(BO, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.one_to(BO).says("I have no open question");

    desk.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    for id in [&game_match.id, &other.id] {
        assert_eq!(desk.find(id).stage, Stage::Over);
    }
    let letters = desk.sent_to(ANN);
    titled(&letters, "Re: Do you want to leave").says("You have resigned").says(&other.id);
    assert_eq!(letters.len(), 3, "an answer and two results");
    assert_eq!(desk.sent_to(BO).len(), 2, "two results");
    titled(&desk.sent_to(GM), "has left").says(&game_match.id);
    desk.write(BO, "GAMES");
    desk.one_to(BO).keeps_silent_of("JOIN");
    desk.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.one_to(ANN).says("I have no open question");
}

#[test]
fn a_forged_wish_to_leave_can_be_denied() {
    let desk = Desk::new();
    let (game_match, _, _) = quad(&desk);
    desk.write(ANN, "LEAVE CONFIRM");
    let question = titled(&desk.sent_to(ANN), "Do you want to leave");
    desk.reply(ANN, &question, &format!("DENY {}", denial_of(&question)));
    desk.one_to(ANN).says("Nothing has been changed");
    desk.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.one_to(ANN).says("I have no open question");
    assert!(desk.find(&game_match.id).state.outcome().is_none());
}

#[test]
fn leaving_resigns_only_the_matches_that_the_question_listed() {
    let desk = Desk::new();
    let (listed, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "LEAVE CONFIRM");
    let question = titled(&desk.sent_to(ANN), "Do you want to leave");
    let later = desk.open(GameKind::Quantum, &[]);
    question.says(&listed.id).keeps_silent_of(&later.id);
    desk.sent_to(ANN);
    desk.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    assert_eq!(desk.find(&listed.id).stage, Stage::Over);
    assert_eq!(desk.find(&later.id).stage, Stage::Running);
    let answer = titled(&desk.sent_to(ANN), "Re: Do you want to leave");
    answer.says(&format!("You have resigned {}", listed.id)).says(&format!("You still play {}", later.id));
}

#[test]
fn an_address_that_is_asked_for_again_does_not_cancel_the_agreement() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    let question = ask(&desk, &to_ann, NEW);
    desk.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    let to_new = desk.one_to(NEW);
    desk.advance(26);
    desk.sent_to(ANN);
    desk.reply(ANN, &to_ann, &format!("ADDRESS {NEW}"));
    desk.one_to(ANN).says("I am waiting for an answer from that address");
    desk.reply(NEW, &to_new, &format!("CONFIRM {}", code_of(&to_new)));
    assert_eq!(addresses_of(&desk, ANN), [NEW, ANN]);
}
