//! Impostors: their letters have no effect and get no answer, and the player and the GM learn about them.

use fogpost::game::any::GameKind;
use fogpost::store::LetterStatus;

use crate::desk::{ANN, BO, Desk, GM, Sent};
use crate::positions::{quad, quadrant_z};

const EVE: &str = "eve@elsewhere.example";

/// The next day's digest.
fn digest(desk: &Desk) -> Sent {
    desk.advance(26);
    desk.sent_to(GM).into_iter().find(|sent| sent.subject.starts_with("The day at")).expect("a digest")
}

#[test]
fn a_token_used_from_another_address_has_no_effect_and_the_gm_sees_it() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    for (n, sender) in [
        EVE.to_owned(),
        // A display name that looks like the player's address.
        format!("\"{ANN}\" <{EVE}>"),
        format!("Ann {ANN} <eve+{}@elsewhere.example>", ANN.replace('@', "=")),
    ]
    .iter()
    .enumerate()
    {
        desk.reply(sender, &to_ann, &format!("MARBLE E{}\nSTATUS\nTELL I am Ann.\nEND", n + 5));
        assert_eq!(desk.last_status(), LetterStatus::Ignored, "{sender}");
    }
    // This is not a single address, so its owner is unclear.
    desk.reply(&format!("Ann <{ANN}@elsewhere.example>"), &to_ann, "MARBLE E4");
    assert_eq!(desk.last_status(), LetterStatus::Answered);
    for reader in [EVE, BO] {
        assert!(desk.sent_to(reader).is_empty(), "{reader} gets nothing");
    }
    let [first, second, broken] = &desk.sent_to(ANN)[..] else { panic!("a notice for each address") };
    broken.says("its sender's line (From) holds no complete address");
    first.says(&format!("from {EVE}, which is not an address of yours")).says("> MARBLE E5 > STATUS > TELL");
    first.keeps_silent_of("I am Ann");
    second.says("from eve+ann=players.example@elsewhere.example");
    assert_eq!(desk.find(&game_match.id).head, game_match.head, "the ledger is unchanged");
    digest(&desk).says("Letters ignored").says(EVE).says("a reply token, but not from that player's address");
}

#[test]
fn a_letter_with_two_senders_has_none() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let letter = desk.answer(ANN, &to_ann, "MARBLE E5");
    desk.receive(&letter.replace(&format!("From: {ANN}"), &format!("From: {ANN}, {EVE}")));
    desk.receive(&letter.replace("Subject:", &format!("From: {EVE}\nSubject:")).replace("0@", "9@"));
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 0);
    assert!(desk.sent_to(BO).is_empty());
}

#[test]
fn a_player_without_a_token_hears_that_nothing_was_filed_and_gets_the_form_with_the_token() {
    let desk = Desk::new();
    let (game_match, _, _) = quad(&desk);
    desk.write(ANN, "MARBLE E5\nSTATUS\nRESIGN CONFIRM");
    let answer = desk.one_to(ANN);
    answer
        .says("For a match I need its reply token")
        .says("Nothing was filed")
        .says("Your orders for turn 1")
        .says(&game_match.id);
    assert_eq!(desk.find(&game_match.id).head, game_match.head);
    // Only the player reads the answer, so answering it is proof enough.
    desk.reply(ANN, &answer, "MARBLE E5");
    desk.sent_to(ANN)[0].says("Your orders are sealed");
    desk.sent_to(BO);
    // A made-up token counts as no token.
    desk.write(EVE, "STATUS\nReply token: 0123456789abcdef");
    desk.one_to(EVE).says("I need its reply token").keeps_silent_of(&game_match.id);
}

#[test]
fn a_replayed_letter_is_answered_to_the_player_and_does_not_affect_the_next_turn() {
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&desk);
    let letter = desk.answer(ANN, &to_ann, "SHIP 1 G1 TO L1");
    desk.receive(&letter);
    desk.reply(BO, &to_bo, "HOLD");
    desk.sent_to(ANN);
    let before = desk.find(&game_match.id);
    // The same bytes again, and the same text with another Message-ID.
    desk.receive(&letter);
    assert!(desk.sent_to(ANN).is_empty());
    let renamed = letter.lines().map(|line| match line.starts_with("Message-ID:") {
        true => "Message-ID: <replayed@elsewhere.example>\n".to_owned(),
        false => format!("{line}\n"),
    });
    desk.receive(&renamed.collect::<String>());
    desk.one_to(ANN).says("Turn 1 was adjudicated on Thu 7 May at 12:00 CEST; turn 2 is open");
    let after = desk.find(&game_match.id);
    assert!(after.held.first.is_none());
    assert_eq!(after.adjudicated, before.adjudicated);
}

#[test]
fn the_thread_tells_the_turn_if_the_subject_does_not() {
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&desk);
    let fresh = |letter: String| {
        letter
            .lines()
            .filter(|line| !line.starts_with("Subject:"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let late = fresh(desk.answer(ANN, &to_ann, "SHIP 1 G1 TO L1"));
    desk.receive(&fresh(desk.answer(ANN, &to_ann, "HOLD")));
    desk.last_to(ANN).says("Your orders are sealed");
    desk.reply(BO, &to_bo, "HOLD");
    desk.sent_to(ANN);
    // The References field alone is enough.
    desk.receive(&late.replace("In-Reply-To:", "References: <root@x.example>"));
    desk.one_to(ANN).says("Turn 1 was adjudicated on");
    assert!(desk.find(&game_match.id).held.first.is_none());
}

#[test]
fn unmarked_quotes_are_recognized_by_references() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let token = to_ann.token();
    let quoted: String = to_ann.text.lines().map(|line| format!("{}\n", line.replace("| ", ""))).collect();
    desk.receive(&format!(
        "From: {ANN}\nTo: {}\nSubject: Re: {}\nMessage-ID: <r@players.example>\nReferences: <{}>\n\nSTATUS\n\n{}",
        to_ann.reply_to,
        to_ann.subject,
        to_ann.message_id,
        to_ann.text
    ));
    desk.one_to(ANN).says("Quad, Ann (Black)").keeps_silent_of("You also wrote this");
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 0);
    assert!(quoted.contains(token));
}

#[test]
fn our_own_letters_are_never_answered() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    for raw in desk.raw_to(ANN) {
        let raw = String::from_utf8(raw).expect("text");
        desk.receive(&raw);
        assert_eq!(desk.last_status(), LetterStatus::Automatic);
    }
    assert_eq!(desk.find(&game_match.id).head, game_match.head);
    assert_eq!(desk.all_to(ANN).len(), 1);
}
