//! The texts of letters: the end of a passed-on text, the words that a mail program shows first, and the resources that
//! HTML loads.

use fogpost::game::any::GameKind;
use fogpost::referee::Stage;

use crate::positions::{quad, quadrant_z};
use crate::referee::{ANN, BO, GM, Referee, Sent};

const MARKER: &str = "## write your orders above this line ##";

#[test]
fn a_text_that_holds_an_order_is_not_sent_and_nothing_of_its_letter_is_done() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    for verb in ["TELL", "TELL GM", "PROTEST"] {
        referee.reply(ANN, &to_ann, &format!("{verb} Good luck to you!\nMARBLE E5"));
        referee.one_to(ANN).says("Write END on a line of its own where the message ends");
        for reader in [BO, GM] {
            assert!(referee.sent_to(reader).is_empty(), "{verb} to {reader}");
        }
    }
    let after = referee.find(&game_match.id);
    assert_eq!((after.adjudicated.len(), after.protest), (0, None));
    referee.reply(ANN, &to_ann, "TELL Good luck to you!\nEND\nMARBLE E5");
    referee.sent_to(BO)[0].says("Ann writes").says("> Good luck to you!");
}

#[test]
fn a_text_that_holds_an_order_of_any_game_that_its_player_has_running_is_not_sent() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    let other = referee.open(GameKind::QuadrantZ, &[]);
    let to_ann_of_other = referee.one_to(ANN);
    referee.sent_to(BO);
    for verb in ["TELL", "TELL GM", "PROTEST"] {
        referee.reply(ANN, &to_ann, &format!("{verb} I shall win!\nSHIP 1 HOLD\nEND"));
        referee.one_to(ANN).says("put a # before the line if it belongs to the message");
        for reader in [BO, GM] {
            assert!(referee.sent_to(reader).is_empty(), "{verb} to {reader}");
        }
    }
    referee.reply(ANN, &to_ann, "TELL I shall win!\n# SHIP 1 HOLD\nEND");
    referee.one_to(BO).says("> # SHIP 1 HOLD");
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann_of_other, "RESIGN CONFIRM");
    assert_eq!(referee.find(&other.id).stage, Stage::Over);
    referee.sent_to(BO);
    referee.reply(ANN, &to_ann, "TELL I would have played\nSHIP 1 HOLD\nEND");
    referee.one_to(BO).says("> SHIP 1 HOLD");
    referee.reply(BO, &to_bo, "TELL Never mind.\nCRUISER C1 E1\nEND");
    referee.sent_to(ANN).last().expect("the message").says("> CRUISER C1 E1");
}

#[test]
fn a_text_that_holds_an_order_keeps_the_letters_other_texts_back() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "TELL Well played.\nEND\nTELL GM I shall play\nMARBLE E5\nEND");
    referee.one_to(ANN).says("I did not pass this text on either, because of line 4.");
    for reader in [BO, GM] {
        assert!(referee.sent_to(reader).is_empty(), "{reader}");
    }
}

#[test]
fn a_letters_first_words_say_what_happened_and_the_marker_follows() {
    let referee = Referee::new();
    let (_, to_ann, _) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "HOLD");
    let receipt = referee.one_to(ANN);
    referee.reply(ANN, &receipt, "SHIP 9 A1 TO A2");
    let refusal = referee.one_to(ANN);
    referee.reply(ANN, &refusal, "STATUS");
    let status = referee.one_to(ANN);
    for (sent, begins) in
        [(&receipt, "Your orders are sealed"), (&refusal, "No order in this letter was filed"), (&status, "")]
    {
        let first = sent.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        assert!(first.starts_with(begins) && !first.contains(MARKER), "{first}");
        let lines: Vec<&str> = sent.text.lines().collect();
        let marker = lines.iter().position(|line| line.contains(MARKER));
        assert!(marker.is_some_and(|at| at < 12), "{}", sent.text);
    }
}

#[test]
fn a_letter_to_the_gm_begins_with_what_happened() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    referee.reply(BO, &to_bo, "SUBSTITUTE");
    referee.one_to(GM).says("Until then the seat stays as it is, and deadlines keep running");
    referee.reply(ANN, &to_ann, "TELL GM Is this a bug?\nEND\nPROTEST It is slow.\nEND\nSUBSTITUTE");
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    let letters = referee.sent_to(GM);
    let firsts: Vec<&str> = letters.iter().filter_map(|sent| sent.text.lines().next()).collect();
    let begins = ["Ann (first) writes:", "Ann (first) protests", "Ann (first) asks", "Bo has won"];
    for (first, begins) in firsts.iter().zip(begins) {
        assert!(first.starts_with(begins), "{firsts:#?}");
    }
    for sent in &letters {
        sent.says(&format!("This is about {}, Quad: Ann (first) against Bo (second).", game_match.id));
        sent.keeps_silent_of("deadlines keep running");
    }
}

/// Each `src`, and each `href` except answer links.
fn fetched(sent: &Sent) -> Vec<&str> {
    let sources = sent.html.split("src=\"").skip(1).chain(sent.html.split("href=\"").skip(1));
    let values = sources.filter_map(|rest| rest.split('"').next());
    values.filter(|value| !value.starts_with("cid:") && !value.starts_with("mailto:")).collect()
}

#[test]
fn the_board_comes_as_text_and_as_a_picture_with_an_alt_text_and_nothing_is_fetched() {
    let referee = Referee::new();
    let invitations = GameKind::ALL.iter().flat_map(|game| {
        let game_match = referee.open(*game, &[]);
        [ANN, BO].map(|reader| (game_match.id.clone(), referee.one_to(reader)))
    });
    for (id, invitation) in invitations {
        assert_eq!(invitation.pictures, 1);
        invitation.says("The board ---------");
        let alt = invitation.html.split("alt=\"").nth(1).and_then(|rest| rest.split('"').next());
        let alt = alt.unwrap_or_else(|| panic!("no picture in:\n{}", invitation.html));
        assert!(alt.starts_with(&format!("The board of {id} before ")) && alt.contains(" to move"), "{alt}");
        assert!(invitation.html.contains(&format!("<small>{alt}</small>")), "the caption tells the same");
        assert!(invitation.html.contains("width=\""), "the picture has twice the pixels that are shown");
        assert!(fetched(&invitation).is_empty(), "{:?}", fetched(&invitation));
        assert!(!invitation.html.contains("<script") && !invitation.html.contains("url("));
        let longest = invitation.text.lines().map(|line| line.chars().count()).max();
        assert!(longest.is_some_and(|columns| columns <= 72), "{longest:?} columns");
    }
}

#[test]
fn a_match_keeps_its_name_on_one_line_in_every_letter() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "STATUS\nMATCHES\nEXTEND 2 days\nABSENT 2026-06-01\nPROTEST It is slow.");
    referee.advance(200);
    for address in [ANN, BO, GM] {
        for sent in referee.all_to(address) {
            let (head, tail) = game_match.id.split_once('-').expect("a hyphen");
            let broken = sent.text.lines().any(|line| line.ends_with(&format!("{head}-")));
            assert!(!broken, "{tail} stands alone in:\n{}", sent.text);
        }
    }
}
