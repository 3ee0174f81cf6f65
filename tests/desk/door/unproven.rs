//! Letters with a token from an unknown address: the player is told, and confirms or denies them.

use fogpost::game::Seat;
use fogpost::store::LetterStatus;

use crate::positions::{quad, quadrant_z};
use crate::referee::{ANN, BO, GM, Referee, Sent};

const HOLIDAY: &str = "ann@holiday.example";

/// The code of a notice.
fn code_of(notice: &Sent) -> String {
    let line = notice.text.lines().find_map(|line| line.trim().strip_prefix("| CONFIRM "));
    line.expect("a notice has a code").to_owned()
}

#[test]
fn the_player_confirms_a_letter_and_it_counts_as_of_its_arrival() {
    let referee = Referee::with("settle_words = 0\n");
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(HOLIDAY, &to_ann, "MARBLE E5\n\nSee http://evil.example.\n\nTELL click here\nEND");
    assert!(referee.find(&game_match.id).adjudicated.is_empty());
    assert!(referee.sent_to(HOLIDAY).is_empty());
    let notice = referee.one_to(ANN);
    notice.says(&format!("with your reply token, but from {HOLIDAY}")).says("> MARBLE E5 > TELL");
    notice.keeps_silent_of("evil.example").keeps_silent_of("click here").keeps_silent_of(to_ann.token());

    referee.reply(ANN, &notice, &format!("CONFIRM {}", code_of(&notice)));
    let letters = referee.sent_to(ANN);
    let says = |words: &str| letters.iter().any(|sent| sent.text.contains(words));
    assert!(says("You confirmed the letter from ann@holiday.example"), "{letters:#?}");
    assert!(says("Your orders are sealed"), "{letters:#?}");
    assert!(referee.sent_to(HOLIDAY).is_empty());
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    // The code works once, and the address stays unknown.
    referee.reply(ANN, &notice, &format!("CONFIRM {} ", code_of(&notice).to_lowercase()));
    referee.one_to(ANN).says("I have no open question to your address with the code");
    referee.reply(HOLIDAY, &to_ann, "STATUS");
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
}

#[test]
fn a_code_in_a_negated_sentence_confirms_nothing_and_the_answer_helps_on() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(HOLIDAY, &to_ann, "MARBLE E5");
    let notice = referee.one_to(ANN);
    let code = code_of(&notice);
    for text in [
        format!("I did not write this and will certainly not\nCONFIRM {code}"),
        format!("What does it do?\n\nCONFIRM {code}?"),
    ] {
        referee.reply(ANN, &notice, &text);
        referee.one_to(ANN).says("not carried it out. If you mean it, please");
        assert!(referee.find(&game_match.id).adjudicated.is_empty(), "{text}");
    }
    referee.reply(ANN, &notice, &format!("CONFIRM {code}"));
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn a_denied_letter_is_discarded_and_the_token_renewed() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    referee.reply(HOLIDAY, &to_ann, "RESIGN CONFIRM");
    let notice = referee.one_to(ANN);
    notice.says("> RESIGN");
    let code = code_of(&notice);
    // Nobody else can use the code.
    referee.reply(BO, &notice, &format!("DENY {code}"));
    referee.one_to(BO).says("No letter waits for your word");
    referee.reply("eve@elsewhere.example", &notice, &format!("CONFIRM {code}"));
    referee.sent_to("eve@elsewhere.example");
    assert!(referee.find(&game_match.id).state.outcome().is_none());

    referee.reply(ANN, &notice, &format!("DENY {code}"));
    let [renewed, answer] = &referee.sent_to(ANN)[..] else { panic!("a new token and an answer") };
    answer.says("The letters are discarded").keeps_silent_of("Reply token:");
    assert_ne!(renewed.token(), to_ann.token());
    assert!(referee.sent_to(BO).is_empty(), "the other side learns nothing");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    assert!(referee.find(&game_match.id).adjudicated.is_empty(), "the old token is worth nothing");
    referee.sent_to(ANN);
    referee.reply(ANN, renewed, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.reply(BO, &to_bo, "STATUS");
    referee.last_to(BO).says("Quad");
}

#[test]
fn later_letters_join_a_notice_and_are_followed_in_order() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quadrant_z(&referee);
    referee.reply(HOLIDAY, &to_ann, "HOLD");
    let notice = referee.one_to(ANN);
    referee.reply(HOLIDAY, &to_ann, "SHIP 1 G1 TO L1");
    assert!(referee.sent_to(ANN).is_empty(), "one notice a day for an address");
    referee.advance(25);
    referee.reply(HOLIDAY, &to_ann, "WAIT\nSHIP 1 G1 TO L1");
    let again = referee.one_to(ANN);
    assert_eq!(code_of(&again), code_of(&notice));
    referee.reply(ANN, &again, &format!("CONFIRM {}", code_of(&again)));
    let letters = referee.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("You confirmed 3 letters")), "{letters:#?}");
    let held = referee.find(&game_match.id).filed[Seat::First].clone().expect("a filing");
    assert!(held.wait, "the last one stands");
    assert_eq!(held.filing.lines().join(""), "SHIP 1 G1 TO L1");
}

#[test]
fn a_letter_confirmed_too_late_does_not_touch_what_stands() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    let fresh = format!(
        "From: {HOLIDAY}\nTo: referee@club.example\nSubject: orders\nMessage-ID: <h@holiday.example>\n\n\
         SHIP 1 G1 TO L1\n\n> Reply token: {}\n",
        to_ann.token()
    );
    referee.receive(&fresh);
    referee.receive(&fresh.replace("<h@", "<i@").replace("SHIP 1 G1 TO L1", "STATUS\nHOLD"));
    let notice = referee.one_to(ANN);
    referee.advance(1);
    referee.reply(ANN, &to_ann, "HOLD");
    let filed = referee.find(&game_match.id).filed.first;
    referee.sent_to(ANN);
    let confirm = format!("CONFIRM {}", code_of(&notice));
    referee.reply(BO, &to_bo, "HOLD");
    assert!(filed.is_some());
    referee.sent_to(ANN);
    assert_eq!(referee.find(&game_match.id).due().map(|due| due.turn), Some(2));
    referee.reply(ANN, &notice, &confirm);
    let letters = referee.sent_to(ANN);
    let late = letters.iter().filter(|sent| sent.text.contains("before turn 2 was open")).count();
    assert_eq!(late, 2, "{letters:#?}");
    assert!(referee.find(&game_match.id).filed.first.is_none());
}

#[test]
fn orders_filed_after_a_letter_came_stand_when_it_is_confirmed() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quadrant_z(&referee);
    referee.reply(HOLIDAY, &to_ann, "HOLD");
    let notice = referee.one_to(ANN);
    referee.advance(1);
    referee.reply(ANN, &to_ann, "SHIP 1 G1 TO L1");
    referee.sent_to(ANN);
    let filed = referee.find(&game_match.id).filed.first;
    referee.reply(ANN, &notice, &format!("CONFIRM {}", code_of(&notice)));
    let letters = referee.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("You filed other orders after")), "{letters:#?}");
    assert_eq!(referee.find(&game_match.id).filed.first, filed);
}

#[test]
fn confirm_always_asks_the_new_address_too_and_refuses_another_players() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(HOLIDAY, &to_ann, "STATUS");
    let notice = referee.one_to(ANN);
    referee.reply(ANN, &notice, &format!("CONFIRM ALWAYS {}", code_of(&notice)));
    let letters = referee.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("I have now written to ann@holiday.example")));
    let question = referee.one_to(HOLIDAY);
    referee.reply(HOLIDAY, &question, &format!("CONFIRM {}", code_of(&question)));
    referee.one_to(HOLIDAY);
    referee.one_to(ANN).says("| DENY");
    referee.reply(HOLIDAY, &to_ann, "MARBLE E5");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    referee.last_to(HOLIDAY).says("Bo moves next");

    let to_ann = referee.all_to(HOLIDAY).pop().expect("a letter");
    referee.sent_to(BO);
    referee.reply(BO, &to_ann, "STATUS");
    let notice = referee.one_to(ANN);
    referee.reply(ANN, &notice, &format!("CONFIRM ALWAYS {}", code_of(&notice)));
    let letters = referee.sent_to(ANN);
    assert!(
        letters.iter().any(|sent| sent.text.contains("is the address of another player")),
        "{letters:#?}"
    );
    referee.one_to(BO).says("I have refused").keeps_silent_of("Ann");
}

#[test]
fn strangers_with_a_token_cannot_fill_the_players_mailbox() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    for n in 0..30 {
        referee.put(&referee.answer(&format!("eve{n}@elsewhere.example"), &to_ann, "STATUS"));
    }
    referee.work();
    assert_eq!(referee.sent_to(ANN).len(), 10);
}

#[test]
fn an_unproven_letter_lapses_after_two_weeks() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(HOLIDAY, &to_ann, "RESIGN CONFIRM");
    let notice = referee.one_to(ANN);
    referee.advance(14 * 24 + 1);
    referee.sent_to(ANN);
    referee.reply(ANN, &notice, &format!("CONFIRM {}", code_of(&notice)));
    referee.last_to(ANN).says("I have no open question");
    assert!(referee.find(&game_match.id).state.outcome().is_none());
    referee.advance(24);
    let digests: Vec<Sent> = referee
        .sent_to(GM)
        .into_iter()
        .filter(|sent| sent.text.contains("Letters that nobody confirmed"))
        .collect();
    let [digest] = &digests[..] else { panic!("one digest tells of it, not {}", digests.len()) };
    digest.says(&format!("Letters that nobody confirmed: 1 ({}, from {HOLIDAY})", game_match.id));
}

#[test]
fn a_letter_that_was_confirmed_or_denied_does_not_lapse() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    for (address, word) in [(HOLIDAY, "CONFIRM"), ("eve@elsewhere.example", "DENY")] {
        referee.reply(address, &to_ann, "STATUS");
        let notice = referee.one_to(ANN);
        referee.reply(ANN, &notice, &format!("{word} {}", code_of(&notice)));
        referee.sent_to(ANN);
    }
    referee.advance(16 * 24);
    assert!(referee.sent_to(GM).iter().all(|sent| !sent.text.contains("nobody confirmed")));
}

#[test]
fn no_deadline_waits_for_a_confirmation() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let deadline = game_match.deadline;
    referee.reply(HOLIDAY, &to_ann, "MARBLE E5");
    let notice = referee.one_to(ANN);
    assert_eq!(referee.find(&game_match.id).deadline, deadline);
    // The deadline is on Thu 14 May at 20:00 in Berlin, and the grace ends twelve hours later.
    referee.advance(7 * 24 + 8 + 14);
    assert_eq!(referee.find(&game_match.id).missed.first, 1);
    referee.sent_to(ANN);
    // The phase is still open, because a move must be made and nothing has been filed since.
    referee.reply(ANN, &notice, &format!("CONFIRM {}", code_of(&notice)));
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
}

#[test]
fn a_letter_that_shows_its_token_to_others_is_ruled_on_and_the_token_renewed() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let letter = referee.answer(ANN, &to_ann, "MARBLE E5");
    referee.receive(&letter.replace("Subject:", &format!("Cc: Bo <{BO}>\nSubject:")));
    let letters = referee.sent_to(ANN);
    let receipt =
        letters.iter().find(|sent| sent.text.contains("Your orders are sealed")).expect("a receipt");
    receipt.says("Your letter went to others as well").keeps_silent_of(to_ann.token());
    for sent in &letters {
        assert_eq!(sent.token(), receipt.token());
        assert_ne!(sent.token(), to_ann.token());
    }
    referee.sent_to(BO);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    // Bo answers in Ann's name with the token that Ann showed.
    referee.receive(&referee.answer(ANN, &to_ann, "RESIGN CONFIRM"));
    assert!(referee.find(&game_match.id).state.outcome().is_none());
    referee.sent_to(ANN);
    referee.reply(ANN, receipt, "STATUS");
    referee.last_to(ANN).says("Quad");
    // Ann's own addresses do not count as other people's.
    let before = referee.all_to(ANN).pop().expect("a letter");
    let letter = referee.answer(ANN, receipt, "HISTORY");
    referee.receive(&letter.replace("Subject:", &format!("Cc: {ANN}\nSubject:")));
    assert_eq!(referee.one_to(ANN).token(), before.token());
}

#[test]
fn the_token_of_a_match_that_ended_a_month_ago_is_good_for_questions_only() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    referee.sent_to(BO);
    referee.advance(24);
    referee.reply(ANN, &to_ann, "TELL Well played.");
    referee.one_to(BO).says("Well played.");
    referee.sleep(30 * 24);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "TELL One more thing.");
    referee.one_to(ANN).says("The match is over");
    referee.reply(ANN, &to_ann, "REPORT");
    referee.one_to(ANN).says("Bo has won");
    assert!(referee.sent_to(BO).is_empty());
}

#[test]
fn the_alias_that_a_notice_is_about_confirms_it_once() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quadrant_z(&referee);
    referee.reply(HOLIDAY, &to_ann, "HOLD");
    let notice = referee.one_to(ANN);
    notice.says(&format!("That line also counts, once, from {HOLIDAY}"));
    let code = code_of(&notice);
    // It has no effect from any other address, registered or not.
    for other in [BO, "eve@elsewhere.example"] {
        referee.reply(other, &notice, &format!("CONFIRM {code}"));
        referee.one_to(other).says("TELL GM").keeps_silent_of("answered it already");
    }
    for command in ["CONFIRM ALWAYS", "DENY"] {
        referee.reply(HOLIDAY, &notice, &format!("{command} {code}"));
        let answer = referee.one_to(HOLIDAY);
        answer.says(&format!(
            "Your {command} had no effect: it counts only from an address that is registered here"
        ));
        answer.keeps_silent_of(ANN);
    }
    assert!(referee.find(&game_match.id).filed.first.is_none());
    assert!(referee.sent_to(ANN).is_empty());

    referee.reply(HOLIDAY, &notice, &format!("CONFIRM {code}"));
    referee
        .one_to(HOLIDAY)
        .says("You confirmed the letter from")
        .says("This counts once")
        .keeps_silent_of(ANN);
    let letters = referee.sent_to(ANN);
    let says = |words: &str| letters.iter().any(|sent| sent.text.contains(words));
    assert!(letters.iter().any(|sent| sent.subject.contains(HOLIDAY)), "{letters:#?}");
    assert!(says("Your orders are sealed"), "{letters:#?}");
    assert!(referee.find(&game_match.id).filed.first.is_some());

    // The next letter needs the next notice, which comes on the same day.
    referee.reply(HOLIDAY, &to_ann, "SHIP 1 G1 TO L1");
    let again = referee.one_to(ANN);
    assert_ne!(code_of(&again), code);
    referee.reply(HOLIDAY, &notice, &format!("CONFIRM {code}"));
    referee.one_to(HOLIDAY).says("I have no open question to your address");
    // This also works with the token, in an answer to a letter about the match.
    referee.reply(HOLIDAY, &to_ann, &format!("CONFIRM {}", code_of(&again)));
    referee.one_to(HOLIDAY).says("You confirmed the letter from");
    let letters = referee.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("orders are sealed")), "{letters:#?}");
}

#[test]
fn another_player_never_confirms_for_one() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(BO, &to_ann, "MARBLE E5");
    let notice = referee.one_to(ANN);
    // Ann forwards the notice to Bo.
    referee.reply(BO, &notice, &format!("CONFIRM {}", code_of(&notice)));
    referee.one_to(BO).says("TELL GM");
    assert!(referee.find(&game_match.id).adjudicated.is_empty());
}

/// The thread of an answer in words proves something only if nobody else can guess it.
#[test]
fn nobody_confirms_a_notice_in_words_without_having_read_it() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply("thief@elsewhere.example", &to_ann, "RESIGN CONFIRM");
    let notice = referee.one_to(ANN);
    let digest = referee.letters().first().expect("the thief's letter").digest.to_string();
    let guesses: String = "0123456789abcdef".chars().map(|c| format!("<u.{c}@club.example> ")).collect();
    for thread in
        [guesses, format!("<u.{digest}@club.example>"), format!("<u.{}@club.example>", &digest[..24])]
    {
        let forged = referee.letter(ANN, "That was me.");
        referee.receive(&forged.replace("\n\n", &format!("\nReferences: {thread}\n\n")));
    }
    assert_eq!(referee.find(&game_match.id).head, game_match.head);
    referee.sent_to(ANN);
    referee.reply(ANN, &notice, "That was me.");
    let letters = referee.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.text.contains("You have resigned")), "{letters:#?}");
}

#[test]
fn a_token_tells_whose_letter_a_list_or_a_forwarder_has_relayed() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let list = "List-ID: <club.groups.example>\nPrecedence: list\n";
    let relayed = |fields: &str, from: &str, body: &str| {
        referee.receive(
            &format!("{fields}{}", referee.answer(ANN, &to_ann, body))
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
        let notice = referee.one_to(ANN);
        notice.says(&format!("with your reply token, but from {address}. That is the address of a list"));
        notice.says("> MARBLE E5").keeps_silent_of("CONFIRM ALWAYS");
        assert!(referee.sent_to(address).is_empty(), "{address}");
        assert_eq!(referee.last_status(), LetterStatus::Ignored);
    }
    let told: Vec<Sent> = referee
        .sent_to(GM)
        .into_iter()
        .filter(|sent| sent.subject.contains("without their writers"))
        .collect();
    assert_eq!(told.len(), 1, "once an hour");
    told[0].says("came from referee@club.example").says("behind a list or a forwarder");
    // A machine's own letters stay what they are, whatever they quote.
    for fields in
        ["Auto-Submitted: auto-replied\n", "Return-Path: <>\n", "Precedence: bulk\n", "X-Autoreply: yes\n"]
    {
        relayed(&format!("{fields}X-Other: 1\n"), "Fog <no-reply@other.example>", "MARBLE E5");
        assert_eq!(referee.last_status(), LetterStatus::Automatic, "{fields}");
    }
    relayed(list, "Postmaster <postmaster@lists.example>", "MARBLE E5");
    relayed(
        list,
        "Fog <fog@other.example>",
        "This is an automatically generated reply. I am out of the office.",
    );
    assert!(referee.sent_to(ANN).is_empty() && referee.find(&game_match.id).adjudicated.is_empty());
    referee.sent_to(GM);
}

#[test]
fn a_player_whose_letters_all_come_through_a_list_confirms_through_it() {
    let referee = Referee::with("settle_words = 0\n");
    let (game_match, to_ann, _) = quad(&referee);
    let group = "fog@groups.example";
    let through = |to: &Sent, body: &str| {
        referee.receive(&format!("List-ID: <fog.groups.example>\n{}", referee.answer(group, to, body)));
    };
    through(&to_ann, "MARBLE E5");
    let notice = referee.one_to(ANN);
    through(&notice, "CONFIRM 7K3M9P2Q4R");
    assert!(referee.find(&game_match.id).adjudicated.is_empty());
    through(&notice, &format!("CONFIRM {}", code_of(&notice)));
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 1);
    let letters = referee.sent_to(ANN);
    assert!(letters.iter().any(|sent| sent.subject.contains(group)), "{letters:#?}");
    assert!(letters.iter().any(|sent| sent.text.contains("Your orders are sealed")), "{letters:#?}");
    assert!(referee.sent_to(group).is_empty(), "nobody else on the list reads an answer");
    referee.sent_to(GM);
}
