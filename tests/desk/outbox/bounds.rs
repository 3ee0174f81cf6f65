//! Bounds on the effects of one letter: however much it asks for, the answer is short, and says what it
//! leaves out.

use std::fmt::Write as _;

use fogpost::game::any::GameKind;

use crate::positions::{kinds, quad, quadrant_z};
use crate::referee::{ANN, BO, GM, Referee};

const EVE: &str = "eve@elsewhere.example";

/// Maximum bytes of an answer.
const MAX_ANSWER: usize = 200_000;

/// The bytes of the only letter to `reader`.
#[track_caller]
fn only_raw(referee: &Referee, reader: &str) -> Vec<u8> {
    let mut raw = referee.raw_to(reader);
    assert_eq!(raw.len(), 1, "one letter to {reader}");
    raw.remove(0)
}

#[test]
fn a_page_of_the_manual_is_sent_once_however_often_a_letter_asks_for_it() {
    let referee = Referee::new();
    referee.write(EVE, &"RULES quadrant-z\n".repeat(5000));
    assert!(only_raw(&referee, EVE).len() < MAX_ANSWER);
    let answer = referee.one_to(EVE);
    assert_eq!(answer.text.matches("A game of galactic war for two").count(), 1);
    answer.says("I follow the first 20 commands of a letter. The other 4980 had no effect");
    referee.write(EVE, "RULES Quadrant Z\nRULES quadrant-z\nrules QUADRANT-Z\nHELP\nHELP\nGAMES\nGAMES");
    let answer = referee.one_to(EVE);
    assert_eq!(answer.text.matches("A game of galactic war for two").count(), 1);
    answer.keeps_silent_of("had no effect").keeps_silent_of("reply token");
}

#[test]
fn an_answer_to_every_question_is_bounded() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let mut asked = String::from("STATUS\nHISTORY\nREPORT\nMATCHES\nGAMES\nHELP\nRULES\n");
    for kind in GameKind::ALL {
        writeln!(asked, "RULES {}", kind.key()).expect("a string");
    }
    for topic in ["orders", "commands", "time", "challenge", "gm"] {
        writeln!(asked, "HELP {topic}").expect("a string");
    }
    let before = referee.raw_to(ANN).len();
    referee.reply(ANN, &to_ann, &asked);
    let raw = &referee.raw_to(ANN)[before..];
    assert_eq!(raw.len(), 1);
    assert!(raw[0].len() < MAX_ANSWER, "{} bytes", raw[0].len());
    referee.one_to(ANN).says("Turn 1 waits for your orders").keeps_silent_of("had no effect");
}

#[test]
fn each_question_about_a_match_is_answered_once() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let first = referee.last_to(ANN);
    referee.reply(BO, &to_bo, "MARBLE A5\nTURN 2");
    let second = referee.last_to(ANN);
    referee.reply(ANN, &to_ann, &format!("{}{}", "HISTORY\n".repeat(100), "STATUS\n".repeat(100)));
    let answer = referee.one_to(ANN);
    assert_eq!(answer.text.matches(&first.subject).count(), 1, "{}", answer.text);
    answer.says("The other 180 had no effect");
    // Requests for two reports are two questions.
    referee.reply(ANN, &to_ann, "REPORT 2\nREPORT 3\nREPORT 2\nREPORT 9");
    let answer = referee.one_to(ANN);
    for report in [&first, &second] {
        assert_eq!(answer.text.matches(&report.subject).count(), 1, "{}", answer.text);
    }
    answer.says("There is no such report");
}

#[test]
fn too_many_orders_are_refused_as_a_whole() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, "SHIP 1 HOLD");
    referee.last_to(ANN).says("Your orders are sealed");
    let before = kinds(&referee, &game_match).len();
    referee.reply(ANN, &to_ann, &"SHIP 1 G1 TO L1\n".repeat(9_500));
    let answer = referee.one_to(ANN);
    answer
        .says("Your letter holds 9500 orders; I read 200 at most")
        .says("No order in this letter was filed")
        .says("| SHIP 1 HOLD");
    assert_eq!(kinds(&referee, &game_match)[before..], ["OrdersRefused", "OrdersDeferred"]);
    let entries =
        referee.block_on(referee.office().store.entries(&game_match.id)).expect("the store answers");
    assert!(entries.last().expect("an entry").json.len() < 20_000, "the ledger keeps no more than the bound");
}

#[test]
fn twenty_faults_are_told_and_the_others_counted() {
    let referee = Referee::new();
    let (_, to_ann, _) = quadrant_z(&referee);
    referee.reply(ANN, &to_ann, &"EXTEND soon\n".repeat(9_500));
    let answer = referee.one_to(ANN);
    assert_eq!(answer.text.matches("EXTEND needs a number").count(), 20, "{}", answer.text);
    answer.says("Your letter has 9480 more faults");
    referee.reply(ANN, &to_ann, &"SHIP 9 G1 TO Y4\n".repeat(51));
    let answer = referee.one_to(ANN);
    assert!(answer.text.matches("is not valid:").count() <= 20, "{}", answer.text);
    referee.write(EVE, &"EXTEND soon\n".repeat(500));
    referee.one_to(EVE).says("480 more lines cannot stand either");
}

#[test]
fn twenty_remarks_are_listed_and_the_others_counted() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    for line in ["Dear referee, how are you?", "MATCH QD-7K3M", "tell me more", "> "] {
        referee.reply(ANN, &to_ann, &format!("MARBLE E5\n{}", format!("{line}\n").repeat(9000)));
        let receipt = &referee.sent_to(ANN)[0];
        assert!(receipt.text.lines().count() < 120, "{line}: {}", receipt.text.lines().count());
        match line {
            "> " => {}
            "MATCH QD-7K3M" => _ = receipt.says("I cannot tell which match you mean"),
            _ => _ = receipt.says("and 8980 more"),
        }
    }
    referee.write(EVE, &"I would like to say hello\n".repeat(9000));
    referee.one_to(EVE).says("and 8980 more");
    referee.write(GM, &format!("GM LIST late\n{}", "Hello there\n".repeat(9000)));
    referee.last_to(GM).says("and 8980 more");
}

#[test]
fn a_line_as_long_as_a_letter_is_no_order() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, &format!("MARBLE E5{}", "; MARBLE E5".repeat(10_000)));
    let answer = referee.one_to(ANN);
    answer.says("give each order and each command a line of its own");
    assert!(answer.text.len() < 5000);
    referee.reply(ANN, &to_ann, &format!("TELL {}", "Good luck! ".repeat(300)));
    referee.one_to(ANN).says("Your message was passed on");
}

#[test]
fn what_a_stranger_puts_into_a_header_does_not_come_back_whole() {
    let referee = Referee::new();
    let ids: String = (0..1200).map(|n| format!("\n <{n:060}@elsewhere.example>")).collect();
    let subject = "Hello ".repeat(8_000);
    referee.receive(&format!(
        "From: {EVE}\nSubject: {subject}\nReferences:{ids}\nMessage-ID: <1@elsewhere.example>\n\nHELP\n"
    ));
    let raw = only_raw(&referee, EVE);
    assert!(raw.len() < 20_000, "{} bytes", raw.len());
    let text = String::from_utf8_lossy(&raw);
    assert!(
        text.contains(&format!("<{:060}@elsewhere.example>", 1199)),
        "the last of the thread stays: {text}"
    );
}

#[test]
fn only_the_repeated_answer_itself_waits_an_hour() {
    let referee = Referee::new();
    let (_, to_ann, to_bo) = quad(&referee);
    for _ in 0..3 {
        referee.reply(ANN, &to_ann, "HELP");
        referee.one_to(ANN).says("Answer any of my letters");
    }
    referee.reply(ANN, &to_ann, "HELP");
    assert!(referee.sent_to(ANN).is_empty(), "the fourth answer waits");
    // A different answer and a report are sent at once.
    referee.reply(ANN, &to_ann, "STATUS");
    referee.one_to(ANN).says("Quad");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.last_to(ANN).says("Bo moves next");
    referee.sent_to(BO);
    referee.reply(BO, &to_bo, "MARBLE A5\nTURN 2");
    assert!(!referee.sent_to(ANN).is_empty(), "the report of Bo's move");
    let manuals = || {
        let all = referee.all_to(ANN).into_iter();
        all.filter(|sent| sent.text.contains("Answer any of my letters")).count()
    };
    assert_eq!(manuals(), 3);
    referee.advance(1);
    assert_eq!(manuals(), 4);
}
