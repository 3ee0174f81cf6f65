//! Bounds on the effects of one letter: however much it asks for, the answer is short, and says what it
//! leaves out.

use std::fmt::Write as _;

use fogpost::game::any::GameKind;

use crate::desk::{ANN, BO, Desk, GM};
use crate::positions::{kinds, quad, quadrant_z};

const EVE: &str = "eve@elsewhere.example";

/// Maximum bytes of an answer.
const MAX_ANSWER: usize = 200_000;

/// The bytes of the only letter to `reader`.
#[track_caller]
fn only_raw(desk: &Desk, reader: &str) -> Vec<u8> {
    let mut raw = desk.raw_to(reader);
    assert_eq!(raw.len(), 1, "one letter to {reader}");
    raw.remove(0)
}

#[test]
fn a_page_of_the_manual_is_sent_once_however_often_a_letter_asks_for_it() {
    let desk = Desk::new();
    desk.write(EVE, &"RULES quadrant-z\n".repeat(5000));
    assert!(only_raw(&desk, EVE).len() < MAX_ANSWER);
    let answer = desk.one_to(EVE);
    assert_eq!(answer.text.matches("A game of galactic war for two").count(), 1);
    answer.says("I follow the first 20 commands of a letter. The other 4980 had no effect");
    desk.write(EVE, "RULES Quadrant Z\nRULES quadrant-z\nrules QUADRANT-Z\nHELP\nHELP\nGAMES\nGAMES");
    let answer = desk.one_to(EVE);
    assert_eq!(answer.text.matches("A game of galactic war for two").count(), 1);
    answer.keeps_silent_of("had no effect").keeps_silent_of("reply token");
}

#[test]
fn an_answer_to_every_question_is_bounded() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    let mut asked = String::from("STATUS\nHISTORY\nREPORT\nMATCHES\nGAMES\nHELP\nRULES\n");
    for kind in GameKind::ALL {
        writeln!(asked, "RULES {}", kind.key()).expect("a string");
    }
    for topic in ["orders", "commands", "time", "challenge", "gm"] {
        writeln!(asked, "HELP {topic}").expect("a string");
    }
    let before = desk.raw_to(ANN).len();
    desk.reply(ANN, &to_ann, &asked);
    let raw = &desk.raw_to(ANN)[before..];
    assert_eq!(raw.len(), 1);
    assert!(raw[0].len() < MAX_ANSWER, "{} bytes", raw[0].len());
    desk.one_to(ANN).says("Turn 1 waits for your orders").keeps_silent_of("had no effect");
}

#[test]
fn each_question_about_a_match_is_answered_once() {
    let desk = Desk::new();
    let (_, to_ann, to_bo) = quad(&desk);
    desk.reply(ANN, &to_ann, "MARBLE E5");
    let first = desk.last_to(ANN);
    desk.reply(BO, &to_bo, "MARBLE A5\nTURN 2");
    let second = desk.last_to(ANN);
    desk.reply(ANN, &to_ann, &format!("{}{}", "HISTORY\n".repeat(100), "STATUS\n".repeat(100)));
    let answer = desk.one_to(ANN);
    assert_eq!(answer.text.matches(&first.subject).count(), 1, "{}", answer.text);
    answer.says("The other 180 had no effect");
    // Requests for two reports are two questions.
    desk.reply(ANN, &to_ann, "REPORT 2\nREPORT 3\nREPORT 2\nREPORT 9");
    let answer = desk.one_to(ANN);
    for report in [&first, &second] {
        assert_eq!(answer.text.matches(&report.subject).count(), 1, "{}", answer.text);
    }
    answer.says("There is no such report");
}

#[test]
fn too_many_orders_are_refused_as_a_whole() {
    let desk = Desk::new();
    let (game_match, to_ann, _) = quadrant_z(&desk);
    desk.reply(ANN, &to_ann, "SHIP 1 HOLD");
    desk.last_to(ANN).says("Your orders are sealed");
    let before = kinds(&desk, &game_match).len();
    desk.reply(ANN, &to_ann, &"SHIP 1 G1 TO L1\n".repeat(19_000));
    let answer = desk.one_to(ANN);
    answer
        .says("Your letter holds 19000 orders; I read 200 at most")
        .says("No order in this letter was filed")
        .says("| SHIP 1 HOLD");
    assert_eq!(kinds(&desk, &game_match)[before..], ["OrdersRefused"]);
    let entries = desk.block_on(desk.office().store.entries(&game_match.id)).expect("the store answers");
    assert!(entries.last().expect("an entry").json.len() < 20_000, "the ledger keeps no more than the bound");
}

#[test]
fn twenty_faults_are_told_and_the_others_counted() {
    let desk = Desk::new();
    let (_, to_ann, _) = quadrant_z(&desk);
    desk.reply(ANN, &to_ann, &"EXTEND soon\n".repeat(19_000));
    let answer = desk.one_to(ANN);
    assert_eq!(answer.text.matches("EXTEND needs a number").count(), 20, "{}", answer.text);
    answer.says("Your letter has 18980 more faults");
    desk.reply(ANN, &to_ann, &"SHIP 9 G1 TO Y4\n".repeat(51));
    let answer = desk.one_to(ANN);
    assert!(answer.text.matches("cannot stand:").count() <= 20, "{}", answer.text);
    desk.write(EVE, &"EXTEND soon\n".repeat(500));
    desk.one_to(EVE).says("480 more lines cannot stand either");
}

#[test]
fn twenty_remarks_are_listed_and_the_others_counted() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    for line in ["Dear referee, how are you?", "MATCH QD-7K3M", "tell me more", "> "] {
        desk.reply(ANN, &to_ann, &format!("MARBLE E5\n{}", format!("{line}\n").repeat(9000)));
        let receipt = &desk.sent_to(ANN)[0];
        assert!(receipt.text.lines().count() < 120, "{line}: {}", receipt.text.lines().count());
        match line {
            "> " => {}
            "MATCH QD-7K3M" => _ = receipt.says("I cannot tell which match you mean"),
            _ => _ = receipt.says("and 8980 more"),
        }
    }
    desk.write(EVE, &"I would like to say hello\n".repeat(9000));
    desk.one_to(EVE).says("and 8980 more");
    desk.write(GM, &format!("GM LIST late\n{}", "Hello there\n".repeat(9000)));
    desk.last_to(GM).says("and 8980 more");
}

#[test]
fn a_line_as_long_as_a_letter_is_no_order() {
    let desk = Desk::new();
    let (_, to_ann, _) = quad(&desk);
    desk.reply(ANN, &to_ann, &format!("MARBLE E5{}", "; MARBLE E5".repeat(10_000)));
    let answer = desk.one_to(ANN);
    answer.says("give each order and each command a line of its own");
    assert!(answer.text.len() < 5000);
    desk.reply(ANN, &to_ann, &format!("TELL {}", "Good luck! ".repeat(300)));
    desk.one_to(ANN).says("Your message was passed on");
}

#[test]
fn what_a_stranger_puts_into_a_header_does_not_come_back_whole() {
    let desk = Desk::new();
    let ids: String = (0..1200).map(|n| format!("\n <{n:060}@elsewhere.example>")).collect();
    let subject = "Hello ".repeat(8_000);
    desk.receive(&format!(
        "From: {EVE}\nSubject: {subject}\nReferences:{ids}\nMessage-ID: <1@elsewhere.example>\n\nHELP\n"
    ));
    let raw = only_raw(&desk, EVE);
    assert!(raw.len() < 20_000, "{} bytes", raw.len());
    let text = String::from_utf8_lossy(&raw);
    assert!(
        text.contains(&format!("<{:060}@elsewhere.example>", 1199)),
        "the last of the thread stays: {text}"
    );
}

#[test]
fn only_the_repeated_answer_itself_waits_an_hour() {
    let desk = Desk::new();
    let (_, to_ann, to_bo) = quad(&desk);
    for _ in 0..3 {
        desk.reply(ANN, &to_ann, "HELP");
        desk.one_to(ANN).says("Answer any of my letters");
    }
    desk.reply(ANN, &to_ann, "HELP");
    assert!(desk.sent_to(ANN).is_empty(), "the fourth answer waits");
    // A different answer and a report are sent at once.
    desk.reply(ANN, &to_ann, "STATUS");
    desk.one_to(ANN).says("Quad");
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.last_to(ANN).says("Bo moves next");
    desk.sent_to(BO);
    desk.reply(BO, &to_bo, "MARBLE A5\nTURN 2");
    assert!(!desk.sent_to(ANN).is_empty(), "the report of Bo's move");
    let manuals = || {
        let all = desk.all_to(ANN).into_iter();
        all.filter(|sent| sent.text.contains("Answer any of my letters")).count()
    };
    assert_eq!(manuals(), 3);
    desk.advance(1);
    assert_eq!(manuals(), 4);
}
