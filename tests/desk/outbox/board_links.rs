//! The link to the board that writes a letter: which letters have it, what it holds, and that it is never a player's words.

use std::io::Read as _;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use flate2::read::DeflateDecoder;
use fogpost::audit::dossier::DossierForm;
use fogpost::game::any::GameKind;
use serde_json::Value;

use crate::links::links;
use crate::positions::{quad, quadrant_z};
use crate::referee::{ANN, BO, Referee, Sent};

const SITE: &str = "[site]\nurl = \"https://club.example/\"\n";
const LABEL: &str = "To move on the board: ";

/// Returns the link in the text of a letter, if it has one.
fn link_of(sent: &Sent) -> Option<&str> {
    sent.text.lines().find_map(|line| line.strip_prefix(LABEL))
}

/// Returns what the page of a letter's link shows.
fn sheet_of(sent: &Sent) -> Value {
    let link = link_of(sent).unwrap_or_else(|| panic!("no link in:\n{}", sent.text));
    let payload = link.strip_prefix("https://club.example/play/#").expect("the page of the site");
    let deflated = URL_SAFE_NO_PAD.decode(payload).expect("base64url");
    let mut json = String::new();
    DeflateDecoder::new(&deflated[..]).read_to_string(&mut json).expect("raw deflate");
    serde_json::from_str(&json).expect("JSON")
}

/// Sends the letter that the page writes with these lines.
fn send(referee: &Referee, from: &str, sheet: &Value, lines: &str) {
    let text = |at: usize| sheet["m"][at].as_str().expect("a text");
    let first: Vec<&str> =
        sheet["m"][3].as_array().expect("lines").iter().filter_map(Value::as_str).collect();
    let n = referee.letters().len();
    referee.receive(&format!(
        "From: {from}\nTo: {}\nSubject: {}\nMessage-ID: <board{n}@players.example>\n\n{}\n{lines}\n\n-- \nReply token: {}\n",
        text(0),
        text(2),
        first.join("\n"),
        text(1)
    ));
}

#[test]
fn every_letter_that_asks_for_orders_links_the_board_first() {
    let referee = Referee::with(SITE);
    for game in GameKind::ALL {
        let id = referee.open(*game, &[]).id;
        for (address, name) in [(ANN, "Ann"), (BO, "Bo")] {
            let invitation = referee.one_to(address);
            let sheet = sheet_of(&invitation);
            assert_eq!(sheet["v"], 1, "{game}");
            assert_eq!(sheet["t"][0], id.as_str());
            assert_eq!(sheet["t"][1], "Ann – Bo");
            assert!(
                sheet["t"][2].as_str().is_some_and(|text| text.contains(&format!("You are {name}, "))),
                "{sheet}"
            );
            assert!(sheet["t"][3].as_str().is_some_and(|text| text.starts_with("Due ")), "{sheet}");
            assert!(sheet["m"][1] == invitation.token(), "{sheet}");
            let (label, target) = links(&invitation).remove(0);
            assert_eq!(
                (label.as_str(), target.as_str()),
                ("Move on the board", link_of(&invitation).expect("a link"))
            );
            let below = invitation.text.split(LABEL).nth(1).expect("a line").lines().nth(2);
            assert_eq!(
                below,
                Some(format!("Ledger {id} sha256").as_str()),
                "only the ledger's line is below"
            );
        }
    }
}

#[test]
fn the_letter_of_the_page_is_filed_and_a_condition_stands_for_no_turn() {
    let referee = Referee::with(SITE);
    let (game_match, to_ann, to_bo) = quad(&referee);
    let waits = sheet_of(&to_bo);
    assert_eq!(waits["m"][3], serde_json::json!([]));
    send(&referee, BO, &waits, "IF G7 THEN E5");
    let receipt = referee.one_to(BO);
    assert_eq!(sheet_of(&receipt)["f"], serde_json::json!(["IF G7 THEN E5"]), "{}", receipt.text);
    send(&referee, ANN, &sheet_of(&to_ann), "MARBLE G7");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2);
    send(&referee, ANN, &sheet_of(&to_ann), "MARBLE D4");
    referee.last_to(ANN).says("Turn 1 was adjudicated");
}

#[test]
fn reminders_results_and_letters_to_those_who_want_no_link_have_none() {
    let referee = Referee::with(SITE);
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS board=off");
    referee.one_to(ANN).says("| board=off");
    referee.reply(ANN, &to_ann, "BOARD");
    assert_eq!(link_of(&referee.one_to(ANN)), None);
    referee.reply(ANN, &to_ann, "SETTINGS board=on format=text");
    referee.one_to(ANN).says("| board=on").says("| format=text");
    referee.reply(ANN, &to_ann, "MARBLE Z9");
    let refusal = referee.one_to(ANN);
    assert!(link_of(&refusal).is_some(), "{}", refusal.text);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    for address in [ANN, BO] {
        assert_eq!(link_of(&referee.last_to(address)), None, "the result");
    }
    for config in ["", "[site]\nurl = \"https://club.example\"\nboard_links = false\n"] {
        let referee = Referee::with(config);
        let (_, to_ann, _) = quad(&referee);
        assert_eq!(link_of(&to_ann), None, "{config}");
        assert!(links(&to_ann).iter().all(|(label, _)| label != "Move on the board"), "{config}");
    }
}

#[test]
fn a_quoted_link_is_no_word_of_the_player_wherever_it_was_broken() {
    for width in [30, 60, 72, 76, 2000] {
        let referee = Referee::with(SITE);
        let (game_match, to_ann, _) = quad(&referee);
        let quote: String = to_ann
            .text
            .lines()
            .flat_map(|line| {
                let signs: Vec<char> = line.chars().collect();
                let width = if line.starts_with(LABEL) { width } else { 2000 };
                let pieces: Vec<String> = signs.chunks(width).map(|piece| piece.iter().collect()).collect();
                if pieces.is_empty() { vec![String::new()] } else { pieces }
            })
            .map(|line| format!("{line}\n"))
            .collect();
        referee.reply(ANN, &to_ann, &format!("MARBLE G7\n\nThe Test Club wrote:\n{quote}"));
        assert_eq!(
            referee.find(&game_match.id).adjudicated.len(),
            1,
            "{width}: {}",
            referee.last_to(ANN).text
        );
    }
}

#[test]
fn the_board_of_a_hidden_game_comes_in_the_link_of_its_own_reader_alone() {
    let referee = Referee::with(SITE);
    let (_, to_ann, to_bo) = quadrant_z(&referee);
    let (ann, bo) = (sheet_of(&to_ann), sheet_of(&to_bo));
    assert_ne!(ann["m"][1], bo["m"][1]);
    assert_ne!(ann["p"], bo["p"]);
    assert!(!bo.to_string().contains(to_ann.token()) && !ann.to_string().contains(to_bo.token()));
}

#[test]
fn orders_whose_line_breaks_were_lost_are_offered_as_they_should_be() {
    let referee = Referee::with(SITE);
    let (game_match, to_ann, _) = quadrant_z(&referee);
    let token = to_ann.token();
    let answers = [
        ("TURN 1", format!(" -- Reply token: {token}")),
        ("TURN 1", format!(" -- Reply token: {token} Sent from my telephone")),
        ("Dear referee,", format!(" -- Reply token: {token}")),
        ("Hallo! Meine Befehle für heute:", format!(" Viele Grüße Ann Reply token: {token}")),
        ("TURN 1", format!("\n\n-- \nReply token: {token}")),
    ]
    .map(|(start, footer)| {
        let (id, n) = (&game_match.id, referee.letters().len());
        referee.receive(&format!(
            "From: {ANN}\nTo: referee@club.example\nSubject: [{id}] Turn 1\nMessage-ID: <joined{n}@players.example>\n\n\
             {start} SHIP 1 G1 TO H1 LOSSES 1{footer}\n"
        ));
        let answer = referee.one_to(ANN);
        answer.says("each needs a line of its own").says("taken out the line breaks");
        answer.says("| SHIP 1 G1 TO H1\n    | LOSSES 1");
        answer
    });
    referee.reply(ANN, &answers[4], "YES");
    referee.one_to(ANN).says("Your orders are sealed").says("| LOSSES 1");
}

#[test]
fn the_public_dossier_shows_no_piece_of_a_link_in_our_letters_or_in_quotes() {
    let referee = Referee::with(SITE);
    let (game_match, to_ann, to_bo) = quad(&referee);
    let links = [&to_ann, &to_bo].map(|sent| link_of(sent).expect("a link").to_owned());
    let (head, rest) = links[0].split_at(100);
    referee.reply(ANN, &to_ann, &format!("MARBLE G7\n\nTELL What is this?\n{head}\n{rest}\nEND"));
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    let files = referee.dossier(&game_match.id, DossierForm::Public, false).expect("the match is over");
    let all: String = files.values().map(|bytes| String::from_utf8_lossy(bytes)).collect();
    assert!(all.contains("/play/#[blacked out]"), "the links are there");
    for data in links.iter().filter_map(|link| link.split('#').nth(1)) {
        for at in 0..data.len() - 40 {
            assert!(!all.contains(&data[at..at + 40]), "{at}");
        }
    }
}
