//! Letters: how their sender is identified, and which ones are answered.

use fogpost::game::any::GameKind;
use fogpost::store::LetterStatus;

use crate::referee::{ANN, BO, GM, REFEREE, Referee};

#[test]
fn a_stranger_gets_the_manual_and_learns_nothing_of_a_match() {
    let referee = Referee::new();
    referee.write("eve@elsewhere.example", "HELP");
    referee.one_to("eve@elsewhere.example").says("How to play by letter");
    referee.write("eve@elsewhere.example", "STATUS");
    referee.one_to("eve@elsewhere.example").says("please answer a letter of mine about that match");
}

#[test]
fn a_stolen_token_has_no_effect_and_only_its_owner_is_told() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply("eve@elsewhere.example", &invitation, "MARBLE E5");
    assert!(referee.sent_to("eve@elsewhere.example").is_empty());
    referee.one_to(ANN).says("eve@elsewhere.example").says("MARBLE E5");
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
}

#[test]
fn the_token_of_the_other_seat_has_no_effect() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply(BO, &invitation, "MARBLE E5");
    assert_eq!(referee.last_status(), LetterStatus::Ignored);
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 0);
}

#[test]
fn a_robot_is_never_answered() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    let letter = referee.answer(ANN, &invitation, "MARBLE E5");
    let marks = [
        "Auto-Submitted: auto-replied",
        "Precedence: bulk",
        "X-Loop: referee@club.example",
        "X-Autoreply: yes",
    ];
    for (n, mark) in marks.iter().enumerate() {
        referee.receive(&format!("{mark}\n{}", letter.replace("0@players", &format!("robot{n}@players"))));
        assert_eq!(referee.last_status(), LetterStatus::Automatic, "{mark}");
    }
    assert!(referee.sent_to(ANN).is_empty());
}

#[test]
fn a_bounce_to_the_referee_is_not_answered() {
    let referee = Referee::new();
    referee.receive(&format!(
        "Return-Path: <>\nFrom: MAILER-DAEMON@mx.example\nTo: {REFEREE}\nSubject: Undelivered Mail Returned to Sender\n\nMARBLE E5\n"
    ));
    assert_eq!(referee.last_status(), LetterStatus::Automatic);
    assert!(referee.sent_to("mailer-daemon@mx.example").is_empty());
}

#[test]
fn a_blank_letter_is_answered_with_the_order_form() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, "");
    referee.one_to(ANN).says("There was nothing in your letter").says("MARBLE");
}

#[test]
fn thanks_are_answered_in_three_lines() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, "Thanks, I look forward to it!");
    let answer = referee.one_to(ANN);
    answer.says("You are welcome. The GM reads your words, too.").keeps_silent_of("MARBLE");
    let (said, _) = answer.text.split_once("Ledger").expect("the foot of a letter");
    let lines = said.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("##"));
    assert_eq!(lines.count(), 3, "{said}");
}

#[test]
fn lines_that_are_not_orders_are_listed() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, "Dear referee,\nMARBLE E5\nbest wishes");
    let receipt = &referee.sent_to(ANN)[0];
    receipt
        .says("Your orders are sealed")
        .says("You also wrote this")
        .says("> Dear referee,")
        .says("> best wishes");
}

#[test]
fn answers_to_one_address_are_limited() {
    let referee = Referee::with("[letters]\nanswers_per_hour = 3\n");
    for topic in ["", "orders", "commands", "time", "gm"] {
        referee.write("eve@elsewhere.example", &format!("HELP {topic}"));
    }
    assert_eq!(referee.sent_to("eve@elsewhere.example").len(), 3);
    referee.advance(2);
    assert_eq!(referee.sent_to("eve@elsewhere.example").len(), 2, "the others come later");
    referee.write("eve@elsewhere.example", "HELP");
    assert_eq!(referee.sent_to("eve@elsewhere.example").len(), 1);
}

#[test]
fn a_players_text_is_escaped_in_our_letters() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, "<script>alert(1)</script> {{ token }} {% for %}\nSTATUS");
    let answer = referee.one_to(ANN);
    assert!(!answer.html.contains("<script>alert"), "{}", answer.html);
    answer.says("{{ token }}");
}

#[test]
fn letters_after_the_end_are_answered() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.reply(ANN, &invitation, "RESIGN CONFIRM");
    referee.sent_to(ANN);
    for order in ["MARBLE E5", "MARBLE E6"] {
        referee.reply(ANN, &invitation, order);
        referee.one_to(ANN).says("The match is over");
    }
}

#[test]
fn a_letter_whose_answer_cannot_be_stored_is_set_aside_and_blocks_nobody() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    referee.change_database(
        "CREATE TRIGGER refuse BEFORE INSERT ON dispatch WHEN NEW.recipient = 'cy@elsewhere.example' \
         BEGIN SELECT RAISE(ABORT, 'not this one'); END",
    );
    let stranger = |who: &str| format!("From: {who}@elsewhere.example\nMessage-ID: <1.{who}@x>\n\nHELP\n");
    referee.put(&stranger("cy"));
    referee.put(&referee.answer(ANN, &to_ann, "MARBLE E5"));
    referee.put(&stranger("di"));
    referee.work();
    referee.sent_to(ANN)[0].says("Your orders are sealed");
    referee.one_to("di@elsewhere.example");
    referee.one_to(GM).says("could not be ruled on in three attempts").says("not this one");
    let status =
        |who: &str| referee.letters().iter().find(|row| row.sender.starts_with(who)).map(|row| row.status);
    assert_eq!(
        [status("cy"), status("ann"), status("di")],
        [LetterStatus::SetAside, LetterStatus::Ruled, LetterStatus::Answered].map(Some)
    );
}

#[test]
fn the_same_answer_to_the_same_text_is_given_three_times_an_hour_and_once_more() {
    let referee = Referee::new();
    let eve = "eve@elsewhere.example";
    for topic in ["", "orders", "", ""] {
        referee.write(eve, &format!("HELP {topic}"));
        referee.one_to(eve);
    }
    for _ in 0..3 {
        referee.write(eve, "HELP");
        assert!(referee.sent_to(eve).is_empty(), "one more comes an hour later, for all of them");
    }
    referee.write(eve, "HELP time");
    referee.one_to(eve);
    referee.advance(2);
    assert_eq!(referee.sent_to(eve).len(), 1);
    referee.write(eve, "HELP");
    referee.one_to(eve);
}
