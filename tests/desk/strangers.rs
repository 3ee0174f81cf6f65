//! Who is not who he says he is: nothing is done, nothing is told to him, and the GM sees it.

use fogpost::game::any::GameKind;
use fogpost::store::LetterStatus;

use crate::desk::{ANN, BO, Desk, GM, Sent};
use crate::positions::{quad, quadrant_z};

const EVE: &str = "eve@elsewhere.example";

/// The digest of the next day.
fn digest(desk: &Desk) -> Sent {
    desk.advance(26);
    desk.sent_to(GM).into_iter().find(|sent| sent.subject.starts_with("The day at")).expect("a digest")
}

#[test]
fn a_stolen_token_from_another_address_does_nothing_and_the_gm_sees_it() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    for (n, sender) in [
        EVE.to_owned(),
        // A name that looks like the address it is not.
        format!("\"{ANN}\" <{EVE}>"),
        format!("Ann <{ANN}@elsewhere.example>"),
        format!("Ann {ANN} <eve+{}@elsewhere.example>", ANN.replace('@', "=")),
    ]
    .iter()
    .enumerate()
    {
        desk.reply(sender, &to_ann, &format!("MARBLE E{}\nSTATUS\nTELL I am Ann.\nEND", n + 5));
        assert_eq!(desk.last_fate(), LetterStatus::Ignored, "{sender}");
    }
    for reader in [EVE, ANN, BO] {
        assert!(desk.sent_to(reader).is_empty(), "{reader} is told nothing");
    }
    assert_eq!(desk.find(&game_match.id).head, game_match.head, "the ledger knows nothing of it");
    digest(&desk).says("Letters ignored").says(EVE).says("a reply token, but not from that player's address");
}

#[test]
fn two_senders_are_no_sender() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    let letter = desk.answer(ANN, &to_ann, "MARBLE E5");
    desk.receive(&letter.replace(&format!("From: {ANN}"), &format!("From: {ANN}, {EVE}")));
    desk.receive(&letter.replace("Subject:", &format!("From: {EVE}\nSubject:")).replace("0@", "9@"));
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 0);
    assert!(desk.sent_to(BO).is_empty());
}

#[test]
fn an_address_without_its_token_is_a_stranger() {
    let desk = Desk::new();
    let (game_match, _, _) = quad(&desk);
    desk.write(ANN, "MARBLE E5\nSTATUS\nRESIGN CONFIRM");
    let answer = desk.one_to(ANN);
    answer
        .says("For a match I need its reply token")
        .keeps_silent_of(&game_match.id)
        .keeps_silent_of("Turn 1");
    assert_eq!(desk.find(&game_match.id).head, game_match.head);
    // A token that was made up is none.
    desk.write(EVE, "STATUS\nReply token: 0123456789abcdef");
    desk.one_to(EVE).says("I need its reply token").keeps_silent_of(&game_match.id);
}

#[test]
fn a_replayed_letter_is_answered_to_the_player_and_does_nothing_to_the_next_turn() {
    let desk = Desk::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&desk);
    let letter = desk.answer(ANN, &to_ann, "SHIP 1 G1 TO L1");
    desk.receive(&letter);
    desk.reply(BO, &to_bo, "HOLD");
    desk.sent_to(ANN);
    let before = desk.find(&game_match.id);
    // The same bytes again, and the same text under another name.
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
fn the_turn_is_known_by_the_thread_when_the_subject_does_not_name_it() {
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
    // With References alone it is the same.
    desk.receive(&late.replace("In-Reply-To:", "References: <root@x.example>"));
    desk.one_to(ANN).says("Turn 1 was adjudicated on");
    assert!(desk.find(&game_match.id).held.first.is_none());
}

#[test]
fn what_is_quoted_without_a_mark_is_known_by_references_too() {
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
    desk.one_to(ANN).says("Quad, Ann (Black)").keeps_silent_of("Not read as orders");
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 0);
    assert!(quoted.contains(token));
}

#[test]
fn twenty_answers_an_hour_go_to_one_address_and_the_orders_count_all_the_same() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quad(&desk);
    for n in 0..22 {
        desk.reply(ANN, &to_ann, if n % 2 == 0 { "STATUS" } else { "GAMES" });
    }
    assert_eq!(desk.sent_to(ANN).len(), 20);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    assert_eq!(desk.find(&game_match.id).adjudicated.len(), 1, "orders are never lost");
    let report = desk.one_to(ANN);
    assert!(report.subject.contains("your report"), "{}", report.subject);
    desk.advance(2);
    desk.reply(ANN, &to_ann, "MATCHES");
    desk.one_to(ANN).says(&game_match.id);
}

#[test]
fn letters_of_ours_that_come_back_are_never_answered() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    for raw in desk.raw_to(ANN) {
        let raw = String::from_utf8(raw).expect("text");
        desk.receive(&raw);
        assert_eq!(desk.last_fate(), LetterStatus::Automatic);
    }
    assert_eq!(desk.find(&game_match.id).head, game_match.head);
    assert_eq!(desk.all_to(ANN).len(), 1);
}
