//! ADDRESS and LEAVE: nothing changes before the questions are answered, and a change of address can be undone.

use fogpost::game::any::GameKind;
use fogpost::referee::Stage;
use fogpost::store::LetterStatus;

use crate::positions::quad;
use crate::referee::{ANN, BO, GM, Referee, Sent};

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

fn addresses_of(referee: &Referee, address: &str) -> Vec<String> {
    let found =
        referee.block_on(referee.office().store.player_by_address(address)).expect("the store answers");
    found.map(|player| player.addresses).unwrap_or_default()
}

/// The last of these letters whose subject contains these words.
pub fn titled(letters: &[Sent], words: &str) -> Sent {
    let found = letters.iter().rev().find(|sent| sent.subject.contains(words));
    let subjects: Vec<_> = letters.iter().map(|sent| &sent.subject).collect();
    found.unwrap_or_else(|| panic!("{words:?} is not in {subjects:?}")).clone()
}

/// Asks for a new address in Ann's name, with her token, and returns our question to her.
fn ask(referee: &Referee, to_ann: &Sent, new: &str) -> Sent {
    referee.reply(ANN, to_ann, &format!("ADDRESS {new}"));
    titled(&referee.sent_to(ANN), "A new address")
}

/// Gives Ann a new address, and returns the notice to her old one.
pub fn add(referee: &Referee, to_ann: &Sent, new: &str) -> Sent {
    let question = ask(referee, to_ann, new);
    referee.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.sent_to(ANN);
    let question = referee.one_to(new);
    referee.reply(new, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.last_to(new).says("From now on I write to you at");
    referee.one_to(ANN)
}

#[test]
fn a_new_address_counts_when_the_registered_and_the_new_one_have_agreed() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, &format!("ADDRESS {NEW}"));
    let letters = referee.sent_to(ANN);
    let question = titled(&letters, "A new address");
    question.says(&format!("write to {NEW}")).keeps_silent_of(to_ann.token());
    titled(&letters, "Turn").says(&format!("I have written to {ANN} to ask"));
    assert!(referee.sent_to(NEW).is_empty(), "nobody else is written to before Ann has agreed");

    referee.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.one_to(ANN).says(&format!("I have now written to {NEW}"));
    assert_eq!(addresses_of(&referee, ANN), [ANN]);
    let to_new = referee.one_to(NEW);
    to_new.says("would like to get my letters at this address").keeps_silent_of("Ann");
    // Neither code is valid for the other address.
    assert_ne!(code_of(&to_new), code_of(&question));
    referee.reply(ANN, &to_new, &format!("CONFIRM {}", code_of(&to_new)));
    referee.one_to(ANN).says("I have no open question");
    assert_eq!(addresses_of(&referee, ANN), [ANN]);

    referee.reply(NEW, &to_new, &format!("CONFIRM {}", code_of(&to_new)));
    referee.one_to(NEW).says("From now on I write to you at");
    referee.one_to(ANN).says(&format!("I write to you at {NEW}")).says("DENY");
    assert_eq!(addresses_of(&referee, ANN), [NEW, ANN]);
    // Both addresses are valid, and letters go to the new one.
    referee.reply(ANN, &to_ann, "STATUS");
    referee.one_to(NEW).says("Quad, Ann");
    referee.reply(NEW, &to_ann, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    assert!(referee.sent_to(ANN).is_empty());
}

#[test]
fn within_seven_days_the_old_address_undoes_the_change_and_all_tokens_are_renewed() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let other = referee.open(GameKind::Quad, &[]);
    referee.sent_to(ANN);
    referee.sent_to(BO);
    let told = add(&referee, &to_ann, EVE);
    // Nobody else can deny it, and the code of the question to the new address has no effect.
    referee.reply(BO, &told, &format!("DENY {}", denial_of(&told)));
    referee.sent_to(BO);
    referee.reply(EVE, &told, &format!("DENY {}", denial_of(&told)));
    referee.sent_to(EVE);
    assert_eq!(addresses_of(&referee, ANN), [EVE, ANN]);

    referee.advance(6 * 24);
    referee.sent_to(EVE);
    referee.sent_to(GM);
    referee.reply(ANN, &told, &format!("DENY {}", denial_of(&told)));
    let letters = referee.sent_to(ANN);
    titled(&letters, "Re: You have a new address").says("is undone, and the GM has been told");
    let renewed: Vec<&Sent> = letters.iter().filter(|sent| sent.text.contains("Reply token:")).collect();
    assert_eq!(renewed.len(), 2, "{letters:#?}");
    assert!(renewed.iter().all(|sent| sent.token() != to_ann.token()));
    assert!(referee.sent_to(EVE).is_empty(), "the new tokens go to Ann alone");
    titled(&referee.sent_to(GM), "has undone a change").says(EVE).says(&other.id);
    assert_eq!(addresses_of(&referee, ANN), [ANN]);
    // The old token is no longer valid.
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    assert!(referee.find(&other.id).state.outcome().is_none());
    referee.sent_to(ANN);
    referee.reply(ANN, &told, &format!("DENY {}", denial_of(&told)));
    referee.one_to(ANN).says("No letter waits for your word");
}

#[test]
fn after_seven_days_a_change_of_address_stands() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let told = add(&referee, &to_ann, NEW);
    referee.advance(7 * 24 + 1);
    referee.sent_to(NEW);
    referee.reply(ANN, &told, &format!("DENY {}", denial_of(&told)));
    assert_eq!(addresses_of(&referee, ANN), [NEW, ANN]);
    referee.sent_to(NEW);
    referee.reply(NEW, &to_ann, &format!("ADDRESS REMOVE {ANN}"));
    let question = titled(&referee.sent_to(NEW), "Remove one of your addresses");
    referee.reply(NEW, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.one_to(NEW).says("is no longer one of your addresses");
    assert_eq!(addresses_of(&referee, NEW), [NEW]);
    titled(&referee.sent_to(ANN), "I no longer write to this address").says("DENY");
}

#[test]
fn a_new_address_cannot_resign_leave_or_change_addresses_for_seven_days() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    add(&referee, &to_ann, EVE);
    referee.reply(EVE, &to_ann, "RESIGN CONFIRM");
    referee.last_to(EVE).says("You have not resigned");
    assert!(referee.find(&game_match.id).state.outcome().is_none());
    for command in
        [format!("ADDRESS REMOVE {ANN}"), "ADDRESS eve@third.example".to_owned(), "LEAVE CONFIRM".to_owned()]
    {
        referee.reply(EVE, &to_ann, &command);
        referee.one_to(EVE).says("was added in the last seven days");
    }
    assert!(referee.sent_to(ANN).is_empty());
    assert!(referee.sent_to("eve@third.example").is_empty());
    // Ann's older address can do all this, and gets the questions.
    referee.reply(ANN, &to_ann, "LEAVE CONFIRM");
    let question = referee.one_to(ANN);
    question.says("these matches would be resigned");
    // Eve, who gets Ann's letters first, cannot answer for her.
    referee.reply(EVE, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.last_to(EVE).says("was added in the last seven days");
    assert!(referee.find(&game_match.id).state.outcome().is_none());
    referee.advance(7 * 24 + 1);
    referee.sent_to(EVE);
    referee.reply(EVE, &to_ann, "RESIGN CONFIRM");
    assert!(referee.find(&game_match.id).stage == Stage::Over);
}

#[test]
fn another_players_address_is_refused_and_both_are_advised() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, &format!("ADDRESS {BO}"));
    referee.one_to(ANN).says("is the address of another player").says("ask the GM for new reply tokens");
    referee.one_to(BO).says("I have refused").says("ask the GM for new reply tokens").keeps_silent_of("Ann");
    referee.reply(ANN, &to_ann, &format!("ADDRESS {BO}"));
    assert!(referee.sent_to(BO).is_empty(), "once a day");
    assert_eq!(addresses_of(&referee, ANN), [ANN]);
    assert_eq!(addresses_of(&referee, BO), [BO]);
}

#[test]
fn nobody_learns_from_address_whom_the_gm_has_blocked() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.write(GM, "GM LIST");
    let to_gm = referee.one_to(GM);
    referee.reply(GM, &to_gm, &format!("GM PLAYER BLOCK {BO}\nGM PLAYER BLOCK {EVE}"));
    for blocked in [BO, EVE] {
        referee.last_to(blocked).says("I no longer read your letters");
    }
    referee.reply(ANN, &to_ann, &format!("ADDRESS {BO}"));
    referee.one_to(ANN).says("is the address of another player");
    let question = ask(&referee, &to_ann, EVE);
    referee.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.one_to(ANN).says(&format!("I have now written to {EVE}"));
    for blocked in [BO, EVE] {
        assert!(referee.sent_to(blocked).is_empty(), "{blocked} was written to");
    }
}

#[test]
fn whoever_forges_a_letter_without_a_token_causes_one_question_a_day_and_learns_nothing() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    for n in 0..5 {
        referee.write(ANN, &format!("ADDRESS eve{n}@elsewhere.example"));
    }
    referee.write(ANN, &format!("ADDRESS {BO}"));
    let letters = referee.sent_to(ANN);
    let questions: Vec<&Sent> = letters.iter().filter(|sent| sent.subject.contains("new address")).collect();
    assert_eq!(questions.len(), 1);
    assert!(letters.iter().all(|sent| !sent.text.contains("another player")));
    // Ann denies it. Her tokens are still secret, so they are not renewed.
    referee.reply(ANN, questions[0], &format!("DENY {}", denial_of(questions[0])));
    referee.one_to(ANN).says("Nothing has been changed");
    referee.reply(ANN, &to_ann, "STATUS");
    assert_eq!(referee.one_to(ANN).token(), to_ann.token());
    assert_eq!(addresses_of(&referee, ANN), [ANN]);
    referee.write(EVE, &format!("ADDRESS {EVE}"));
    referee.one_to(EVE).says("only from the address of a registered player");
}

#[test]
fn denying_a_question_that_a_letter_with_a_token_caused_renews_the_tokens() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let question = ask(&referee, &to_ann, EVE);
    referee.reply(ANN, &question, &format!("DENY {}", denial_of(&question)));
    let letters = referee.sent_to(ANN);
    let renewed = letters.iter().find(|sent| sent.text.contains("Reply token:")).expect("a new token");
    assert_ne!(renewed.token(), to_ann.token());
    referee.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.one_to(ANN).says("I have no open question");
    assert!(referee.sent_to(EVE).is_empty());
}

#[test]
fn requests_that_wait_for_an_answer_are_few_and_lapse_after_two_weeks() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let question = ask(&referee, &to_ann, NEW);
    referee.reply(ANN, &to_ann, &format!("ADDRESS {NEW} "));
    referee.one_to(ANN).says("less than a day ago");
    for n in 0..4 {
        ask(&referee, &to_ann, &format!("ann{n}@new.example"));
    }
    referee.reply(ANN, &to_ann, "ADDRESS ann@sixth.example");
    referee.one_to(ANN).says("Several of your requests still wait");
    referee.advance(14 * 24 + 1);
    referee.sent_to(ANN);
    referee.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.last_to(ANN).says("I have no open question");
    assert!(referee.sent_to(NEW).is_empty());
}

#[test]
fn requests_of_a_day_are_few_even_if_they_are_denied() {
    let referee = Referee::new();
    let (_, mut to_ann, _) = quad(&referee);
    for name in "abcdefghij".chars() {
        let question = ask(&referee, &to_ann, &format!("{name}@new.example"));
        referee.reply(ANN, &question, &format!("DENY {}", denial_of(&question)));
        let letters = referee.sent_to(ANN);
        let renewed = letters.iter().find(|sent| sent.text.contains("Reply token:"));
        to_ann = renewed.expect("a new token").clone();
    }
    referee.reply(ANN, &to_ann, &format!("ADDRESS {NEW}"));
    referee.one_to(ANN).says("You have asked for 10 changes within a day");
    referee.advance(24);
    ask(&referee, &to_ann, NEW);
}

#[test]
fn a_newcomer_can_have_three_addresses_a_day_asked() {
    let referee = Referee::answering(EVE, "");
    referee.write(EVE, "CHALLENGE house quad level=easy first=me");
    let letters = referee.sent_to(EVE);
    let to_eve = letters.iter().find(|sent| sent.text.contains("Reply token:")).expect("an invitation");
    let mut refused = None;
    for (n, name) in ["carl", "dora", "emil", "fay"].into_iter().enumerate() {
        let stranger = format!("{name}@strangers.example");
        referee.reply(EVE, to_eve, &format!("ADDRESS {stranger}"));
        let question = titled(&referee.sent_to(EVE), "A new address");
        referee.reply(EVE, &question, &format!("CONFIRM {}", code_of(&question)));
        assert_eq!(referee.sent_to(&stranger).len(), usize::from(n < 3), "{stranger}");
        refused = Some(question);
    }
    referee.one_to(EVE).says("As long as you are new here I write to 3 other people a day for you");
    referee.advance(24);
    let question = refused.expect("the last one");
    referee.reply(EVE, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.one_to("fay@strangers.example").says("would like to get my letters at this address");
}

#[test]
fn an_address_that_was_removed_can_undo_it() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    add(&referee, &to_ann, NEW);
    // If only the new address were left, nobody could undo its addition.
    referee.reply(ANN, &to_ann, &format!("ADDRESS REMOVE {ANN}"));
    referee.one_to(NEW).says("stays for now");
    referee.advance(8 * 24);
    referee.sent_to(NEW);
    referee.sent_to(ANN);
    referee.reply(NEW, &to_ann, &format!("ADDRESS REMOVE {ANN}"));
    let question = titled(&referee.sent_to(NEW), "Remove one of your addresses");
    referee.reply(NEW, &question, &format!("CONFIRM {}", code_of(&question)));
    let told = referee.one_to(ANN);
    assert_eq!(addresses_of(&referee, NEW), [NEW]);
    referee.reply(ANN, &to_ann, "STATUS");
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
    referee.sent_to(NEW);
    referee.reply(ANN, &told, &format!("DENY {}", denial_of(&told)));
    assert_eq!(addresses_of(&referee, ANN), [ANN, NEW]);
    let letters = referee.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("Reply token:")), "{letters:#?}");
    titled(&referee.sent_to(GM), "has undone a change");
}

#[test]
fn the_owner_of_a_new_address_that_was_removed_cannot_undo_it() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    add(&referee, &to_ann, EVE);
    referee.reply(ANN, &to_ann, &format!("ADDRESS REMOVE {EVE}"));
    let question = titled(&referee.sent_to(ANN), "Remove one of your addresses");
    referee.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    assert_eq!(addresses_of(&referee, ANN), [ANN]);
    let told = titled(&referee.sent_to(EVE), "I no longer write to this address");
    told.keeps_silent_of("DENY");
    let part = told.message_id.split(['.', '@']).nth(1).expect("a part of the Message-ID");
    referee.write(EVE, &format!("DENY {part}"));
    assert_eq!(addresses_of(&referee, ANN), [ANN]);
}

#[test]
fn leaving_resigns_every_match_once_the_registered_address_has_confirmed() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let other = referee.open(GameKind::Quantum, &[]);
    referee.sent_to(ANN);
    referee.sent_to(BO);
    referee.reply(ANN, &to_ann, "LEAVE");
    referee.one_to(ANN).says("LEAVE CONFIRM");
    referee.reply(ANN, &to_ann, "OPEN quad\nLEAVE CONFIRM");
    let letters = referee.sent_to(ANN);
    let question = titled(&letters, "Do you want to leave");
    question.says(&game_match.id).says(&other.id).says("cannot be undone");
    assert!(referee.find(&game_match.id).state.outcome().is_none(), "nothing has changed yet");
    // In a letter about a match, CONFIRM would change that match while it is ruled on.
    referee.reply(ANN, &to_ann, &format!("CONFIRM {}", code_of(&question)));
    referee.one_to(ANN).says("Please answer the letter in which I asked you");
    referee.reply(BO, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.one_to(BO).says("I have no open question");

    referee.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    for id in [&game_match.id, &other.id] {
        assert_eq!(referee.find(id).stage, Stage::Over);
    }
    let letters = referee.sent_to(ANN);
    titled(&letters, "Re: Do you want to leave").says("You have resigned").says(&other.id);
    assert_eq!(letters.len(), 3, "an answer and two results");
    assert_eq!(referee.sent_to(BO).len(), 2, "two results");
    titled(&referee.sent_to(GM), "has left").says(&game_match.id);
    referee.write(BO, "GAMES");
    referee.one_to(BO).keeps_silent_of("JOIN");
    referee.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.one_to(ANN).says("I have no open question");
}

#[test]
fn a_forged_wish_to_leave_can_be_denied() {
    let referee = Referee::new();
    let (game_match, _, _) = quad(&referee);
    referee.write(ANN, "LEAVE CONFIRM");
    let question = titled(&referee.sent_to(ANN), "Do you want to leave");
    referee.reply(ANN, &question, &format!("DENY {}", denial_of(&question)));
    referee.one_to(ANN).says("Nothing has been changed");
    referee.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.one_to(ANN).says("I have no open question");
    assert!(referee.find(&game_match.id).state.outcome().is_none());
}

#[test]
fn leaving_resigns_only_the_matches_that_the_question_listed() {
    let referee = Referee::new();
    let (listed, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "LEAVE CONFIRM");
    let question = titled(&referee.sent_to(ANN), "Do you want to leave");
    let later = referee.open(GameKind::Quantum, &[]);
    question.says(&listed.id).keeps_silent_of(&later.id);
    referee.sent_to(ANN);
    referee.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    assert_eq!(referee.find(&listed.id).stage, Stage::Over);
    assert_eq!(referee.find(&later.id).stage, Stage::Running);
    let answer = titled(&referee.sent_to(ANN), "Re: Do you want to leave");
    answer.says(&format!("You have resigned {}", listed.id)).says(&format!("You still play {}", later.id));
}

#[test]
fn an_address_that_is_asked_for_again_does_not_cancel_the_agreement() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let question = ask(&referee, &to_ann, NEW);
    referee.reply(ANN, &question, &format!("CONFIRM {}", code_of(&question)));
    let to_new = referee.one_to(NEW);
    referee.advance(26);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, &format!("ADDRESS {NEW}"));
    referee.one_to(ANN).says("I am waiting for an answer from that address");
    referee.reply(NEW, &to_new, &format!("CONFIRM {}", code_of(&to_new)));
    assert_eq!(addresses_of(&referee, ANN), [NEW, ANN]);
}
