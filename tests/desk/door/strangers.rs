//! Impostors: their letters have no effect and get no answer, and the player and the GM learn about them.

use fogpost::game::any::GameKind;
use fogpost::store::LetterStatus;

use crate::positions::{quad, quadrant_z};
use crate::referee::{ANN, BO, GM, Referee, Sent};

const EVE: &str = "eve@elsewhere.example";

/// The next day's digest.
fn digest(referee: &Referee) -> Sent {
    referee.advance(26);
    referee.sent_to(GM).into_iter().find(|sent| sent.subject.starts_with("The day at")).expect("a digest")
}

#[test]
fn a_token_used_from_another_address_has_no_effect_and_the_gm_sees_it() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    for (n, sender) in [
        EVE.to_owned(),
        // A display name that looks like the player's address.
        format!("\"{ANN}\" <{EVE}>"),
        format!("Ann {ANN} <eve+{}@elsewhere.example>", ANN.replace('@', "=")),
    ]
    .iter()
    .enumerate()
    {
        referee.reply(sender, &to_ann, &format!("MARBLE E{}\nSTATUS\nTELL I am Ann.\nEND", n + 5));
        assert_eq!(referee.last_status(), LetterStatus::Ignored, "{sender}");
    }
    // This is not a single address, so its owner is unclear.
    referee.reply(&format!("Ann <{ANN}@elsewhere.example>"), &to_ann, "MARBLE E4");
    assert_eq!(referee.last_status(), LetterStatus::Answered);
    for reader in [EVE, BO] {
        assert!(referee.sent_to(reader).is_empty(), "{reader} gets nothing");
    }
    let [first, second, broken] = &referee.sent_to(ANN)[..] else { panic!("a notice for each address") };
    broken.says("its sender's line (From) holds no complete address");
    first.says(&format!("from {EVE}, which is not an address of yours")).says("> MARBLE E5 > STATUS > TELL");
    first.keeps_silent_of("I am Ann");
    second.says("from eve+ann=players.example@elsewhere.example");
    assert_eq!(referee.find(&game_match.id).head, game_match.head, "the ledger is unchanged");
    digest(&referee)
        .says("Letters ignored")
        .says(EVE)
        .says("a reply token, but not from that player's address");
}

#[test]
fn a_letter_with_two_senders_has_none() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let letter = referee.answer(ANN, &to_ann, "MARBLE E5");
    referee.receive(&letter.replace(&format!("From: {ANN}"), &format!("From: {ANN}, {EVE}")));
    referee.receive(&letter.replace("Subject:", &format!("From: {EVE}\nSubject:")).replace("0@", "9@"));
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    assert!(referee.sent_to(BO).is_empty());
}

#[test]
fn a_player_without_a_token_hears_that_nothing_was_filed_and_gets_the_form_with_the_token() {
    let referee = Referee::new();
    let (game_match, _, _) = quad(&referee);
    referee.write(ANN, "MARBLE E5\nSTATUS\nRESIGN CONFIRM");
    let answer = referee.one_to(ANN);
    answer
        .says("For a match I need its reply token")
        .says("Nothing was filed")
        .says("Your orders for turn 1")
        .says(&game_match.id);
    assert_eq!(referee.find(&game_match.id).head, game_match.head);
    // Only the player reads the answer, so answering it is proof enough.
    referee.reply(ANN, &answer, "MARBLE E5");
    referee.sent_to(ANN)[0].says("Your orders are sealed");
    referee.sent_to(BO);
    // A made-up token counts as no token.
    referee.write(EVE, "STATUS\nReply token: 0123456789abcdef");
    referee.one_to(EVE).says("I need its reply token").keeps_silent_of(&game_match.id);
}

#[test]
fn a_replayed_letter_is_answered_to_the_player_and_does_not_affect_the_next_turn() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    let letter = referee.answer(ANN, &to_ann, "SHIP 1 G1 TO L1");
    referee.receive(&letter);
    referee.reply(BO, &to_bo, "HOLD");
    referee.sent_to(ANN);
    let before = referee.find(&game_match.id);
    // The same bytes again, and the same text with another Message-ID.
    referee.receive(&letter);
    assert!(referee.sent_to(ANN).is_empty());
    let renamed = letter.lines().map(|line| match line.starts_with("Message-ID:") {
        true => "Message-ID: <replayed@elsewhere.example>\n".to_owned(),
        false => format!("{line}\n"),
    });
    referee.receive(&renamed.collect::<String>());
    referee.one_to(ANN).says("Turn 1 was adjudicated on Thu 7 May at 12:00 CEST; turn 2 is open");
    let after = referee.find(&game_match.id);
    assert!(after.filed.first.is_none());
    assert_eq!(after.adjudicated, before.adjudicated);
}

#[test]
fn the_thread_tells_the_turn_if_the_subject_does_not() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quadrant_z(&referee);
    let fresh = |letter: String| {
        letter
            .lines()
            .filter(|line| !line.starts_with("Subject:"))
            .map(|line| format!("{line}\n"))
            .collect::<String>()
    };
    let late = fresh(referee.answer(ANN, &to_ann, "SHIP 1 G1 TO L1"));
    referee.receive(&fresh(referee.answer(ANN, &to_ann, "HOLD")));
    referee.last_to(ANN).says("Your orders are sealed");
    referee.reply(BO, &to_bo, "HOLD");
    referee.sent_to(ANN);
    // The References field alone is enough.
    referee.receive(&late.replace("In-Reply-To:", "References: <root@x.example>"));
    referee.one_to(ANN).says("Turn 1 was adjudicated on");
    assert!(referee.find(&game_match.id).filed.first.is_none());
}

#[test]
fn unmarked_quotes_are_recognized_by_references() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let token = to_ann.token();
    let quoted: String = to_ann.text.lines().map(|line| format!("{}\n", line.replace("| ", ""))).collect();
    referee.receive(&format!(
        "From: {ANN}\nTo: {}\nSubject: Re: {}\nMessage-ID: <r@players.example>\nReferences: <{}>\n\nSTATUS\n\n{}",
        to_ann.reply_to,
        to_ann.subject,
        to_ann.message_id,
        to_ann.text
    ));
    referee.one_to(ANN).says("Quad, Ann (Black)").keeps_silent_of("You also wrote this");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
    assert!(quoted.contains(token));
}

#[test]
fn our_own_letters_are_never_answered() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    for raw in referee.raw_to(ANN) {
        let raw = String::from_utf8(raw).expect("text");
        referee.receive(&raw);
        assert_eq!(referee.last_status(), LetterStatus::Automatic);
    }
    assert_eq!(referee.find(&game_match.id).head, game_match.head);
    assert_eq!(referee.all_to(ANN).len(), 1);
}
