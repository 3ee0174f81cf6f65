//! Every letter that asks for orders shows the board, in text and as a picture.

use fogpost::game::any::GameKind;

use crate::referee::{ANN, Referee, Sent};

/// A row of the board in each game's first position, as its text shows it.
fn row(game: GameKind) -> &'static str {
    match game {
        GameKind::QuadrantZ => "+=F=",
        GameKind::Pacific => "15 .   .",
        GameKind::Quantum => "5-  .     .",
        GameKind::Quad => " 9  .  .  .",
    }
}

/// Whether a text holds what SpamAssassin's rule `__BITCOIN_ID` takes for an address: a 1 or a 3, and at least 29 more
/// characters, one by one.
fn spells_out_an_address(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_part =
        |word: &&str| matches!(word.as_bytes(), [b] if b.is_ascii_alphanumeric() && !b"0OIl".contains(b));
    words.windows(30).any(|run| matches!(run[0], "1" | "3") && run.iter().all(is_part))
}

/// Checks what SpamAssassin 4.0.1 suspects in a letter with a picture: less than 3,200 bytes of HTML, style included,
/// words that nobody sees, and addresses of Bitcoin.
#[track_caller]
fn is_no_suspect(sent: &Sent) {
    assert!(sent.html.len() > 3300, "{}: {} bytes", sent.subject, sent.html.len());
    assert!(!sent.html.contains("<span style"), "{}: {}", sent.subject, sent.html);
    assert!(!spells_out_an_address(&sent.text), "{}: {}", sent.subject, sent.text);
}

#[track_caller]
fn shows_the_board(sent: &Sent, game: GameKind) {
    assert_eq!(sent.pictures, 1, "{game}: {}", sent.subject);
    assert!(sent.html.contains("src=\"cid:board\""), "{game}: {}", sent.html);
    // Some mail programs show the HTML without pictures.
    assert!(sent.html.contains(row(game)), "{game}: no board in characters in\n{}", sent.html);
    is_no_suspect(sent);
    sent.says("The board");
    assert!(sent.text.contains(row(game)), "{game}: no board in\n{}", sent.text);
    let forms = sent.text.matches("Your orders").count();
    assert!(forms > 0, "{game}: no form in\n{}", sent.text);
}

#[test]
fn invitations_show_the_board_with_the_form_and_a_first_blank_letter_brings_the_form_alone() {
    for game in GameKind::ALL.iter().copied() {
        let referee = Referee::new();
        referee.open(game, &[]);
        let invitation = referee.one_to(ANN);
        shows_the_board(&invitation, game);
        referee.reply(ANN, &invitation, "");
        let answer = referee.one_to(ANN);
        answer.says("nothing in your letter").says("Your orders").keeps_silent_of("The board");
        assert_eq!(answer.pictures, 0, "{game}: {}", answer.subject);
    }
}

#[test]
fn reminders_and_refusals_told_again_show_the_board_with_the_form() {
    for game in [GameKind::QuadrantZ, GameKind::Quad] {
        let referee = Referee::new();
        let deadline = referee.open(game, &[]).deadline.expect("a deadline");
        referee.sent_to(ANN);
        referee.advance((deadline - referee.now()).num_hours() - 40);
        let reminder = referee.last_to(ANN);
        reminder.says("you have not filed any orders");
        shows_the_board(&reminder, game);
        referee.reply(ANN, &reminder, "MARBLE Z9\nSHIP 1 Z9\nA1 Z9\nCARRIER Z9");
        referee.one_to(ANN).says("No order in this letter was filed");
        referee.advance(41);
        let again = referee.sent_to(ANN).into_iter().find(|sent| sent.subject.contains("was not filed"));
        shows_the_board(&again.expect("the refusal is told again"), game);
    }
}

#[test]
fn a_missed_move_is_told_with_the_board_and_a_receipt_goes_without() {
    let referee = Referee::new();
    referee.open(GameKind::Quad, &[]);
    let invitation = referee.one_to(ANN);
    referee.advance(8 * 24);
    let missed = referee.last_to(ANN);
    assert!(missed.subject.contains("the deadline has passed"), "{}", missed.subject);
    shows_the_board(&missed, GameKind::Quad);
    referee.reply(ANN, &invitation, "CHECK\nMARBLE E5\nTURN 1");
    let receipt = referee.one_to(ANN);
    assert_eq!(receipt.pictures, 0, "{}", receipt.text);
    receipt.keeps_silent_of("The board");
    // The shortest letter with a board asks for nothing.
    referee.reply(ANN, &invitation, "MARBLE E5\nTURN 1");
    let report = referee.one_to(ANN);
    assert_eq!(report.pictures, 1, "{}", report.text);
    is_no_suspect(&report);
}
