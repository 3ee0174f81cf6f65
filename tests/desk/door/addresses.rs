//! Addresses: domains beyond ASCII, alternative spellings at providers, and senders that cannot be
//! identified.

use fogpost::store::LetterStatus;

use crate::positions::quad;
use crate::referee::{ANN, BO, REFEREE, Referee, Sent};

/// Returns the code in a question, after the word `CONFIRM`.
fn code_in(text: &str) -> String {
    let line = text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM "));
    line.expect("a question has a code").to_owned()
}

/// Returns the letter since the last call that asks its reader for CONFIRM.
fn question_to(referee: &Referee, reader: &str) -> Sent {
    let mut letters = referee.sent_to(reader).into_iter();
    letters.find(|sent| sent.text.contains("| CONFIRM ")).expect("a question")
}

#[test]
fn a_domain_beyond_ascii_and_its_ascii_form_are_one() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "ADDRESS ann@müller.example");
    let question = question_to(&referee, ANN);
    question.says("ann@xn--mller-kva.example").keeps_silent_of("müller");
    referee.reply(ANN, &question, &format!("CONFIRM {}", code_in(&question.text)));
    let question = referee.one_to("ann@xn--mller-kva.example");
    referee.receive(&format!(
        "From: Ann <ann@MÜLLER.example>\nTo: {REFEREE}\nSubject: yes\nMessage-ID: <y@x>\n\nCONFIRM {}\n",
        code_in(&question.text)
    ));
    referee.sent_to(ANN);
    referee.last_to("ann@xn--mller-kva.example").says("From now on I write to you at");
    for from in ["ann@müller.example", "Ann@XN--MLLER-KVA.example", "ann@mu\u{308}ller.example"] {
        referee.reply(from, &to_ann, "STATUS");
        referee.one_to("ann@xn--mller-kva.example").says("Quad");
    }
}

#[test]
fn a_person_whose_address_breaks_the_standard_is_answered() {
    let referee = Referee::new();
    for address in ["ta..ro@docomo.example", "taro.@docomo.example", "bo@ex_.example"] {
        referee.write(address, "HELP");
        referee.one_to(address).says("How to play by letter");
    }
    referee.write("\"ji..ro\"@docomo.example", "HELP");
    referee.one_to("ji..ro@docomo.example").says("How to play by letter");
}

#[test]
fn orders_beside_a_faulty_address_are_filed() {
    for (line, command) in [
        ("CHALLENGE bo@@example.org quad", "CHALLENGE"),
        ("CHALLENGE bo@[127.0.0.1] quad", "CHALLENGE"),
        ("CHALLENGE bø@other.example quad", "CHALLENGE"),
        ("ADDRESS ann@-x.example", "ADDRESS"),
        ("ADDRESS bø@other.example", "ADDRESS"),
        ("ADDRESS REMOVE ann@k\u{212a}.exa mple@", "ADDRESS"),
    ] {
        let referee = Referee::new();
        let (game_match, to_ann, _) = quad(&referee);
        referee.reply(ANN, &to_ann, &format!("MARBLE E5\n{line}"));
        assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1, "{line}");
        let receipt = referee.sent_to(ANN).remove(0);
        receipt
            .says(&format!("Your {command} had no effect"))
            .says("is not a mail address that I can write to");
    }
}

#[test]
fn nobody_plays_from_an_address_that_few_servers_deliver_to() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "OPEN quad");
    let offer = referee.one_to(ANN);
    let code = offer.text.split_whitespace().skip_while(|word| *word != "JOIN").nth(1).expect("a code");
    let stranger = "bø@other.example";
    let reason = "Few mail servers deliver to bø@other.example";
    for line in [format!("JOIN {code}"), "OPEN quad".to_owned(), format!("CHALLENGE {BO} quad")] {
        referee.write(stranger, &line);
        referee.one_to(stranger).says(reason);
        assert!(referee.sent_to(BO).is_empty(), "{line}");
    }
    referee.write(stranger, "HELP");
    referee.one_to(stranger).says("How to play by letter");
    // A player can write from such an address, but we cannot send letters there.
    referee.reply(stranger, &to_bo, "NOTE I am away");
    let question = question_to(&referee, BO);
    referee.reply(BO, &question, &format!("CONFIRM {} ALWAYS", code_in(&question.text)));
    referee.sent_to(BO).remove(0).says("I cannot write to you at bø@other.example");
}

#[test]
fn a_challenge_reaches_addresses_that_break_the_standard() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    for address in ["ta..ro@docomo.example", "bo@ex_.example", "\"ji..ro\"@docomo.example"] {
        referee.reply(ANN, &to_ann, &format!("CHALLENGE {address} quad"));
        referee.one_to(&address.replace('"', "")).says("ACCEPT");
        referee.sent_to(ANN);
    }
}

#[test]
fn look_alike_letters_of_an_address_are_kept() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "CHALLENGE ivan@почта.example quad");
    referee.one_to("ivan@xn--80a1acny.example").says("ACCEPT");
    referee.sent_to(ANN);
    // `сосо` is all Cyrillic, but looks like Latin letters.
    referee.reply(ANN, &to_ann, "ADDRESS ann@\u{441}\u{43e}\u{441}\u{43e}.example");
    question_to(&referee, ANN).says("ann@xn--n1aahb.example");
}

#[test]
fn a_letter_with_a_token_whose_sender_is_broken_reaches_the_registered_address() {
    for from in [
        "",
        "From: \n",
        "From: Ann Adams\n",
        "From: \"Ann <ann at players example\n",
        "From: <>\n",
        "From: a@b@c <>\n",
    ] {
        let referee = Referee::new();
        let (game_match, to_ann, _) = quad(&referee);
        let letter = referee.answer(ANN, &to_ann, "MARBLE E5").replace(&format!("From: {ANN}\n"), from);
        referee.receive(&letter);
        assert_eq!(referee.last_status(), LetterStatus::Answered, "{from:?}");
        referee
            .one_to(ANN)
            .says("its sender's line (From) holds no complete address")
            .says("nothing in it was done");
        assert!(referee.sent_to(BO).is_empty());
        assert!(referee.find(&game_match.id).adjudicated.is_empty());
        // Further letters within the hour get no answer.
        referee.receive(&letter.replace("MARBLE E5", "MARBLE E6"));
        assert!(referee.sent_to(ANN).is_empty());
    }
}

#[test]
fn a_token_in_the_text_shows_whose_a_letter_without_a_sender_is() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let text = format!("MARBLE E5\n\n> Reply token: {}\n", to_ann.token());
    referee.receive(&format!("From: Ann Adams\nTo: {REFEREE}\nSubject: orders\nMessage-ID: <a@x>\n\n{text}"));
    referee.one_to(ANN).says("its sender's line (From) holds no complete address");
    // One of the two senders is registered and gets an answer; so does the owner of the token.
    let two = format!("From: {BO}, eve@elsewhere.example\nTo: {REFEREE}\nMessage-ID: <b@x>\n\n{text}");
    referee.sleep(2);
    referee.receive(&two);
    referee.one_to(BO).says("names you and others as its senders");
    referee.one_to(ANN).says("names you and others as its senders");
    assert!(referee.sent_to("eve@elsewhere.example").is_empty());
}
