//! Letters with a token from an unknown address: the player is told, and confirms or denies them.

use fogpost::game::Seat;
use fogpost::store::LetterStatus;

use crate::desk::{ANN, BO, Desk, GM, Sent};
use crate::positions::{quad, quadrant_z};

const HOLIDAY: &str = "ann@holiday.example";

/// The code of a notice.
fn code_of(notice: &Sent) -> String {
    let line = notice.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM "));
    line.expect("a notice has a code").to_owned()
}

#[test]
fn the_player_confirms_a_letter_and_it_counts_as_of_its_arrival() {
    let desk = Desk::with("settle_words = 0\n");
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(HOLIDAY, &to_ann, "MARBLE E5\n\nSee http://evil.example.\n\nTELL click here\nEND");
    assert!(desk.find(&game_match.id).adjudicated.is_empty());
    assert!(desk.sent_to(HOLIDAY).is_empty());
    let notice = desk.one_to(ANN);
    notice.says(&format!("with your reply token, but from {HOLIDAY}")).says("> MARBLE E5 > TELL");
    notice.keeps_silent_of("evil.example").keeps_silent_of("click here").keeps_silent_of(to_ann.token());

    desk.reply(ANN, &notice, &format!("CONFIRM {}", code_of(&notice)));
    let letters = desk.sent_to(ANN);
    let says = |words: &str| letters.iter().any(|sent| sent.text.contains(words));
    assert!(says("You confirmed the letter from ann@holiday.example"), "{letters:#?}");
    assert!(says("Your orders are sealed"), "{letters:#?}");
    assert!(desk.sent_to(HOLIDAY).is_empty());
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
    // The code works once, and the address stays unknown.
    desk.reply(ANN, &notice, &format!("CONFIRM {} ", code_of(&notice).to_lowercase()));
    desk.one_to(ANN).says("I have no open question to your address with the code");
    desk.reply(HOLIDAY, &to_ann, "STATUS");
    assert_eq!(desk.last_status(), LetterStatus::Ignored);
}

#[test]
fn a_code_in_a_negated_sentence_confirms_nothing_and_the_answer_helps_on() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(HOLIDAY, &to_ann, "MARBLE E5");
    let notice = desk.one_to(ANN);
    let code = code_of(&notice);
    for text in [
        format!("I did not write this and will certainly not\nCONFIRM {code}"),
        format!("What does it do?\n\nCONFIRM {code}?"),
    ] {
        desk.reply(ANN, &notice, &text);
        desk.one_to(ANN).says("not carried it out. If you mean it, please");
        assert!(desk.find(&game_match.id).adjudicated.is_empty(), "{text}");
    }
    desk.reply(ANN, &notice, &format!("CONFIRM {code}"));
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn a_denied_letter_is_discarded_and_the_token_renewed() {
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quad(&desk);
    desk.reply(HOLIDAY, &to_ann, "RESIGN CONFIRM");
    let notice = desk.one_to(ANN);
    notice.says("> RESIGN");
    let code = code_of(&notice);
    // Nobody else can use the code.
    desk.reply(BO, &notice, &format!("DENY {code}"));
    desk.one_to(BO).says("No letter waits for your word");
    desk.reply("eve@elsewhere.example", &notice, &format!("CONFIRM {code}"));
    desk.sent_to("eve@elsewhere.example");
    assert!(desk.find(&game_match.id).state.outcome().is_none());

    desk.reply(ANN, &notice, &format!("DENY {code}"));
    let [renewed, answer] = &desk.sent_to(ANN)[..] else { panic!("a new token and an answer") };
    answer.says("The letters are discarded").keeps_silent_of("Reply token:");
    assert_ne!(renewed.token(), to_ann.token());
    assert!(desk.sent_to(BO).is_empty(), "the other side learns nothing");
    desk.reply(ANN, &to_ann, "MARBLE E5");
    assert!(desk.find(&game_match.id).adjudicated.is_empty(), "the old token is worth nothing");
    desk.sent_to(ANN);
    desk.reply(ANN, renewed, "MARBLE E5");
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
    desk.reply(BO, &to_bo, "STATUS");
    desk.last_to(BO).says("Quad");
}

#[test]
fn later_letters_join_a_notice_and_are_followed_in_order() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quadrant_z(&desk);
    desk.reply(HOLIDAY, &to_ann, "HOLD");
    let notice = desk.one_to(ANN);
    desk.reply(HOLIDAY, &to_ann, "SHIP 1 G1 TO L1");
    assert!(desk.sent_to(ANN).is_empty(), "one notice a day for an address");
    desk.advance(25);
    desk.reply(HOLIDAY, &to_ann, "WAIT\nSHIP 1 G1 TO L1");
    let again = desk.one_to(ANN);
    assert_eq!(code_of(&again), code_of(&notice));
    desk.reply(ANN, &again, &format!("CONFIRM {}", code_of(&again)));
    let letters = desk.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("You confirmed 3 letters")), "{letters:#?}");
    let held = desk.find(&game_match.id).held[Seat::First].clone().expect("a filing");
    assert!(held.wait, "the last one stands");
    assert_eq!(held.filing.lines().join(""), "SHIP 1 G1 TO L1");
}

#[test]
fn a_letter_confirmed_too_late_does_not_touch_what_stands() {
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&desk);
    let fresh = format!(
        "From: {HOLIDAY}\nTo: referee@club.example\nSubject: orders\nMessage-ID: <h@holiday.example>\n\n\
         SHIP 1 G1 TO L1\n\n> Reply token: {}\n",
        to_ann.token()
    );
    desk.receive(&fresh);
    desk.receive(&fresh.replace("<h@", "<i@").replace("SHIP 1 G1 TO L1", "STATUS\nHOLD"));
    let notice = desk.one_to(ANN);
    desk.advance(1);
    desk.reply(ANN, &to_ann, "HOLD");
    let filed = desk.find(&game_match.id).held.first;
    desk.sent_to(ANN);
    let confirm = format!("CONFIRM {}", code_of(&notice));
    desk.reply(BO, &to_bo, "HOLD");
    assert!(filed.is_some());
    desk.sent_to(ANN);
    assert_eq!(desk.find(&game_match.id).due().map(|due| due.turn), Some(2));
    desk.reply(ANN, &notice, &confirm);
    let letters = desk.sent_to(ANN);
    let late = letters.iter().filter(|sent| sent.text.contains("before turn 2 was open")).count();
    assert_eq!(late, 2, "{letters:#?}");
    assert!(desk.find(&game_match.id).held.first.is_none());
}

#[test]
fn orders_filed_after_a_letter_came_stand_when_it_is_confirmed() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quadrant_z(&desk);
    desk.reply(HOLIDAY, &to_ann, "HOLD");
    let notice = desk.one_to(ANN);
    desk.advance(1);
    desk.reply(ANN, &to_ann, "SHIP 1 G1 TO L1");
    desk.sent_to(ANN);
    let filed = desk.find(&game_match.id).held.first;
    desk.reply(ANN, &notice, &format!("CONFIRM {}", code_of(&notice)));
    let letters = desk.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("You filed other orders after")), "{letters:#?}");
    assert_eq!(desk.find(&game_match.id).held.first, filed);
}

#[test]
fn confirm_always_asks_the_new_address_too_and_refuses_another_players() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(HOLIDAY, &to_ann, "STATUS");
    let notice = desk.one_to(ANN);
    desk.reply(ANN, &notice, &format!("CONFIRM ALWAYS {}", code_of(&notice)));
    let letters = desk.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("I have now written to ann@holiday.example")));
    let question = desk.one_to(HOLIDAY);
    desk.reply(HOLIDAY, &question, &format!("CONFIRM {}", code_of(&question)));
    desk.one_to(HOLIDAY);
    desk.one_to(ANN).says("| DENY");
    desk.reply(HOLIDAY, &to_ann, "MARBLE E5");
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
    desk.last_to(HOLIDAY).says("Bo moves next");

    let to_ann = desk.all_to(HOLIDAY).pop().expect("a letter");
    desk.sent_to(BO);
    desk.reply(BO, &to_ann, "STATUS");
    let notice = desk.one_to(ANN);
    desk.reply(ANN, &notice, &format!("CONFIRM ALWAYS {}", code_of(&notice)));
    let letters = desk.sent_to(ANN);
    assert!(
        letters.iter().any(|sent| sent.text.contains("is the address of another player")),
        "{letters:#?}"
    );
    desk.one_to(BO).says("I have refused").keeps_silent_of("Ann");
}

#[test]
fn strangers_with_a_token_cannot_fill_the_players_mailbox() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    for n in 0..30 {
        desk.put(&desk.answer(&format!("eve{n}@elsewhere.example"), &to_ann, "STATUS"));
    }
    desk.work();
    assert_eq!(desk.sent_to(ANN).len(), 10);
}

#[test]
fn an_unproven_letter_lapses_after_two_weeks() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(HOLIDAY, &to_ann, "RESIGN CONFIRM");
    let notice = desk.one_to(ANN);
    desk.advance(14 * 24 + 1);
    desk.sent_to(ANN);
    desk.reply(ANN, &notice, &format!("CONFIRM {}", code_of(&notice)));
    desk.last_to(ANN).says("I have no open question");
    assert!(desk.find(&game_match.id).state.outcome().is_none());
    desk.advance(24);
    let digests: Vec<Sent> = desk
        .sent_to(GM)
        .into_iter()
        .filter(|sent| sent.text.contains("Letters that nobody confirmed"))
        .collect();
    let [digest] = &digests[..] else { panic!("one digest tells of it, not {}", digests.len()) };
    digest.says(&format!("Letters that nobody confirmed: 1 ({}, from {HOLIDAY})", game_match.id));
}

#[test]
fn a_letter_that_was_confirmed_or_denied_does_not_lapse() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    for (address, word) in [(HOLIDAY, "CONFIRM"), ("eve@elsewhere.example", "DENY")] {
        desk.reply(address, &to_ann, "STATUS");
        let notice = desk.one_to(ANN);
        desk.reply(ANN, &notice, &format!("{word} {}", code_of(&notice)));
        desk.sent_to(ANN);
    }
    desk.advance(16 * 24);
    assert!(desk.sent_to(GM).iter().all(|sent| !sent.text.contains("nobody confirmed")));
}

#[test]
fn no_deadline_waits_for_a_confirmation() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let deadline = game_match.deadline;
    desk.reply(HOLIDAY, &to_ann, "MARBLE E5");
    let notice = desk.one_to(ANN);
    assert_eq!(desk.find(&game_match.id).deadline, deadline);
    // The deadline is on Thu 14 May at 20:00 in Berlin, and the grace ends twelve hours later.
    desk.advance(7 * 24 + 8 + 14);
    assert_eq!(desk.find(&game_match.id).missed.first, 1);
    desk.sent_to(ANN);
    // The phase is still open, because a move must be made and nothing has been filed since.
    desk.reply(ANN, &notice, &format!("CONFIRM {}", code_of(&notice)));
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn a_letter_that_shows_its_token_to_others_is_ruled_on_and_the_token_renewed() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let letter = desk.answer(ANN, &to_ann, "MARBLE E5");
    desk.receive(&letter.replace("Subject:", &format!("Cc: Bo <{BO}>\nSubject:")));
    let letters = desk.sent_to(ANN);
    let receipt =
        letters.iter().find(|sent| sent.text.contains("Your orders are sealed")).expect("a receipt");
    receipt.says("Your letter went to others as well").keeps_silent_of(to_ann.token());
    for sent in &letters {
        assert_eq!(sent.token(), receipt.token());
        assert_ne!(sent.token(), to_ann.token());
    }
    desk.sent_to(BO);
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
    // Bo answers in Ann's name with the token that Ann showed.
    desk.receive(&desk.answer(ANN, &to_ann, "RESIGN CONFIRM"));
    assert!(desk.find(&game_match.id).state.outcome().is_none());
    desk.sent_to(ANN);
    desk.reply(ANN, receipt, "STATUS");
    desk.last_to(ANN).says("Quad");
    // Ann's own addresses do not count as other people's.
    let before = desk.all_to(ANN).pop().expect("a letter");
    let letter = desk.answer(ANN, receipt, "HISTORY");
    desk.receive(&letter.replace("Subject:", &format!("Cc: {ANN}\nSubject:")));
    assert_eq!(desk.one_to(ANN).token(), before.token());
}

#[test]
fn the_token_of_a_match_that_ended_a_month_ago_is_good_for_questions_only() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, "RESIGN CONFIRM");
    desk.sent_to(BO);
    desk.advance(24);
    desk.reply(ANN, &to_ann, "TELL Well played.");
    desk.one_to(BO).says("Well played.");
    desk.sleep(30 * 24);
    desk.sent_to(ANN);
    desk.reply(ANN, &to_ann, "TELL One more thing.");
    desk.one_to(ANN).says("The match is over");
    desk.reply(ANN, &to_ann, "REPORT");
    desk.one_to(ANN).says("Bo has won");
    assert!(desk.sent_to(BO).is_empty());
}

#[test]
fn the_alias_that_a_notice_is_about_confirms_it_once() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quadrant_z(&desk);
    desk.reply(HOLIDAY, &to_ann, "HOLD");
    let notice = desk.one_to(ANN);
    notice.says(&format!("That line also counts, once, from {HOLIDAY}"));
    let code = code_of(&notice);
    // It has no effect from any other address, registered or not.
    for other in [BO, "eve@elsewhere.example"] {
        desk.reply(other, &notice, &format!("CONFIRM {code}"));
        desk.one_to(other).says("TELL GM").keeps_silent_of("answered it already");
    }
    for command in ["CONFIRM ALWAYS", "DENY"] {
        desk.reply(HOLIDAY, &notice, &format!("{command} {code}"));
        let answer = desk.one_to(HOLIDAY);
        answer.says(&format!(
            "Your {command} had no effect: it counts only from an address that is registered here"
        ));
        answer.keeps_silent_of(ANN);
    }
    assert!(desk.find(&game_match.id).held.first.is_none());
    assert!(desk.sent_to(ANN).is_empty());

    desk.reply(HOLIDAY, &notice, &format!("CONFIRM {code}"));
    desk.one_to(HOLIDAY).says("You confirmed the letter from").says("This counts once").keeps_silent_of(ANN);
    let letters = desk.sent_to(ANN);
    let says = |words: &str| letters.iter().any(|sent| sent.text.contains(words));
    assert!(letters.iter().any(|sent| sent.subject.contains(HOLIDAY)), "{letters:#?}");
    assert!(says("Your orders are sealed"), "{letters:#?}");
    assert!(desk.find(&game_match.id).held.first.is_some());

    // The next letter needs the next notice, which comes on the same day.
    desk.reply(HOLIDAY, &to_ann, "SHIP 1 G1 TO L1");
    let again = desk.one_to(ANN);
    assert_ne!(code_of(&again), code);
    desk.reply(HOLIDAY, &notice, &format!("CONFIRM {code}"));
    desk.one_to(HOLIDAY).says("I have no open question to your address");
    // This also works with the token, in an answer to a letter about the match.
    desk.reply(HOLIDAY, &to_ann, &format!("CONFIRM {}", code_of(&again)));
    desk.one_to(HOLIDAY).says("You confirmed the letter from");
    let letters = desk.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("orders are sealed")), "{letters:#?}");
}

#[test]
fn another_player_never_confirms_for_one() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply(BO, &to_ann, "MARBLE E5");
    let notice = desk.one_to(ANN);
    // Ann forwards the notice to Bo.
    desk.reply(BO, &notice, &format!("CONFIRM {}", code_of(&notice)));
    desk.one_to(BO).says("TELL GM");
    assert!(desk.find(&game_match.id).adjudicated.is_empty());
}

/// The thread of an answer in words proves something only if nobody else can guess it.
#[test]
fn nobody_confirms_a_notice_in_words_without_having_read_it() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    desk.reply("thief@elsewhere.example", &to_ann, "RESIGN CONFIRM");
    let notice = desk.one_to(ANN);
    let digest = desk.letters().first().expect("the thief's letter").digest.to_string();
    let guesses: String = "0123456789abcdef".chars().map(|c| format!("<u.{c}@club.example> ")).collect();
    for thread in
        [guesses, format!("<u.{digest}@club.example>"), format!("<u.{}@club.example>", &digest[..24])]
    {
        let forged = desk.letter(ANN, "That was me.");
        desk.receive(&forged.replace("\n\n", &format!("\nReferences: {thread}\n\n")));
    }
    assert_eq!(desk.find(&game_match.id).head, game_match.head);
    desk.sent_to(ANN);
    desk.reply(ANN, &notice, "That was me.");
    let letters = desk.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("You have resigned")), "{letters:#?}");
}

#[test]
fn a_token_tells_whose_letter_a_list_or_a_forwarder_has_relayed() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let list = "List-ID: <club.groups.example>\nPrecedence: list\n";
    let relayed = |fields: &str, from: &str, body: &str| {
        desk.receive(
            &format!("{fields}{}", desk.answer(ANN, &to_ann, body))
                .replace(&format!("From: {ANN}\n"), &format!("From: {from}\nReply-To: Ann <{ANN}>\n")),
        );
    };
    for (fields, from, address) in [
        (list, "'Ann' via The Club <referee@club.example>", "referee@club.example"),
        (list, "'Ann' via Fog <fog@groups.example>", "fog@groups.example"),
        ("", "\"Ann ann@players.example\" <no-reply@forward.example>", "no-reply@forward.example"),
        ("", "Ann via Fog <referee+fog@club.example>", "referee+fog@club.example"),
        (
            "List-ID: <fog.example>\nPrecedence: bulk\n",
            "Ann <fog-bounces@lists.example>",
            "fog-bounces@lists.example",
        ),
        ("Return-Path: <bounces+123@relay.example>\n", "Ann <ann@holiday.example>", HOLIDAY),
    ] {
        relayed(fields, from, "MARBLE E5");
        let notice = desk.one_to(ANN);
        notice.says(&format!("with your reply token, but from {address}. That is the address of a list"));
        notice.says("> MARBLE E5").keeps_silent_of("CONFIRM ALWAYS");
        assert!(desk.sent_to(address).is_empty(), "{address}");
        assert_eq!(desk.last_status(), LetterStatus::Ignored);
    }
    let told: Vec<Sent> =
        desk.sent_to(GM).into_iter().filter(|sent| sent.subject.contains("without their writers")).collect();
    assert_eq!(told.len(), 1, "once an hour");
    told[0].says("came from referee@club.example").says("behind a list or a forwarder");
    // A machine's own letters stay what they are, whatever they quote.
    for fields in
        ["Auto-Submitted: auto-replied\n", "Return-Path: <>\n", "Precedence: bulk\n", "X-Autoreply: yes\n"]
    {
        relayed(&format!("{fields}X-Other: 1\n"), "Fog <no-reply@other.example>", "MARBLE E5");
        assert_eq!(desk.last_status(), LetterStatus::Automatic, "{fields}");
    }
    relayed(list, "Postmaster <postmaster@lists.example>", "MARBLE E5");
    relayed(
        list,
        "Fog <fog@other.example>",
        "This is an automatically generated reply. I am out of the office.",
    );
    assert!(desk.sent_to(ANN).is_empty() && desk.find(&game_match.id).adjudicated.is_empty());
    desk.sent_to(GM);
}

#[test]
fn a_player_whose_letters_all_come_through_a_list_confirms_through_it() {
    let desk = Desk::with("settle_words = 0\n");
    let (game_match, to_ann, _) = quad(&desk);
    let group = "fog@groups.example";
    let through = |to: &Sent, body: &str| {
        desk.receive(&format!("List-ID: <fog.groups.example>\n{}", desk.answer(group, to, body)));
    };
    through(&to_ann, "MARBLE E5");
    let notice = desk.one_to(ANN);
    through(&notice, "CONFIRM 7K3M9P2Q4R");
    assert!(desk.find(&game_match.id).adjudicated.is_empty());
    through(&notice, &format!("CONFIRM {}", code_of(&notice)));
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1);
    let letters = desk.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.subject.contains(group)), "{letters:#?}");
    assert!(letters.iter().any(|sent| sent.text.contains("Your orders are sealed")), "{letters:#?}");
    assert!(desk.sent_to(group).is_empty(), "nobody else on the list reads an answer");
    desk.sent_to(GM);
}
