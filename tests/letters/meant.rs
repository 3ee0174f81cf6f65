//! Which orders are meant to be filed: those that their own letter postpones, questions or takes back are doubtful, and
//! what people chat about beside orders makes none of them doubtful.

use std::fs;

use fogpost::game::Line;
use fogpost::game::any::GameKind;
use fogpost::request::{Beside, DoubtKind, Request, Writer};

use super::folder;
use super::support_doubt::people;

/// Two legal orders of each game in which letters hold several.
const ORDERS: [(GameKind, &str); 3] = [
    (GameKind::QuadrantZ, "SHIP 1 A3 TO B2\nSHIP 3 B2 TO B1"),
    (GameKind::Quad, "STAR F5\nMARBLE G6"),
    (GameKind::Pacific, "VD2-D3\nDD5-E6"),
];

fn read(game: GameKind, text: &str) -> Request {
    held_back(Request::read(&Line::numbered(&text.lines().collect::<Vec<_>>()), game))
}

/// The request without the commands that its other words may take back.
fn held_back(request: Request) -> Request {
    let beside = request.beside(Writer { names: &["Ann Adams"], ..Writer::STRANGER });
    request.hold_back(beside)
}

/// The new text of real replies, by many people: from the public Enron collection, without addresses and numbers.
fn replies() -> Vec<String> {
    let text = fs::read_to_string(folder().join("chat/replies.txt")).expect("the replies");
    let blocks = format!("\n{text}");
    blocks
        .split("\n== ")
        .skip(1)
        .map(|block| block.split_once('\n').expect("a text").1.trim().to_owned())
        .collect()
}

/// The letters with these texts above, below and on both sides of orders that have a doubt which `counts`.
fn doubtful(texts: &[String], counts: fn(&DoubtKind) -> bool) -> Vec<String> {
    let mut doubtful = Vec::new();
    for (at, text) in texts.iter().enumerate() {
        let other = &texts[(at + 1) % texts.len()];
        for (game, orders) in ORDERS {
            for gap in ["\n\n", "\n"] {
                for letter in [
                    format!("{text}{gap}{orders}"),
                    format!("{orders}{gap}{text}"),
                    format!("{text}{gap}{orders}{gap}{other}"),
                ] {
                    let request = read(game, &letter);
                    let kinds: Vec<DoubtKind> = request.doubts.into_iter().map(|doubt| doubt.kind).collect();
                    let kinds: Vec<DoubtKind> = kinds.into_iter().filter(&counts).collect();
                    if !kinds.is_empty() {
                        doubtful.push(format!("{kinds:?} in:\n{letter}\n"));
                    }
                }
            }
        }
    }
    doubtful
}

#[test]
fn what_people_chat_about_makes_no_order_doubtful() {
    let replies = replies();
    assert!(replies.len() >= 300, "{}", replies.len());
    let found = doubtful(&replies, |_| true);
    let letters = replies.len() * ORDERS.len() * 6;
    println!("chat beside orders: {letters}; doubtful: {}", found.len());
    assert!(found.len() * 200 <= letters, "{} of {letters}:\n{}", found.len(), found.join("\n"));
}

#[test]
fn letters_about_absences_and_trouble_make_no_order_doubtful() {
    let texts: Vec<String> = people().into_iter().map(|note| note.body).collect();
    // Some of the texts hold an order themselves: "Sorry, I meant A4."
    let found = doubtful(&texts, |kind| *kind != DoubtKind::Inside);
    let letters = texts.len() * ORDERS.len() * 6;
    assert!(found.len() * 100 <= letters, "{} of {letters}:\n{}", found.len(), found.join("\n"));
}

fn kinds(game: GameKind, text: &str) -> Vec<DoubtKind> {
    read(game, text).doubts.into_iter().map(|doubt| doubt.kind).collect()
}

#[test]
fn an_order_with_a_question_mark_or_in_a_question_is_doubtful() {
    for text in ["G7?", "MARBLE G7?", "MARBLE G7 ?", "MARBLE G7\n?", "STAR F5\nMARBLE G7?", "G7 ？"] {
        assert_eq!(kinds(GameKind::Quad, text), [DoubtKind::Asked], "{text}");
    }
    for text in [
        "Would it be wise to play\nMARBLE G7\nor is that too early?",
        "Should I play\nMARBLE G7",
        "MARBLE G7\nor is it better to wait?",
        "Soll ich\nMARBLE G7\noder lieber warten?",
        "Before I move: would\n\nMARBLE G7\n\nbe allowed, or is that point too close?",
    ] {
        assert_eq!(kinds(GameKind::Quad, text), [DoubtKind::InQuestion], "{text}");
    }
    for text in [
        "MARBLE G7\nHow is your knee?",
        "MARBLE G7\n\nIs that allowed? If not please tell me.",
        "Are you still awake?\nMARBLE G7",
        "MARBLE G7 # what next?",
        "Could you please file:\nMARBLE G7\nThanks!",
        "Is this your first game? My move:\nMARBLE G7",
    ] {
        assert_eq!(kinds(GameKind::Quad, text), [], "{text}");
    }
}

#[test]
fn orders_beside_words_that_postpone_them_are_doubtful() {
    for text in [
        "Just a draft, please don't play it yet:\nMARBLE G7",
        "Don't file this yet, I'm only thinking:\nMARBLE G7",
        "Don't file this yet, I am only\nthinking about it a little\n\nMARBLE G7",
        "Noch nicht abschicken, nur eine Idee:\n\nMARBLE G7",
        "MARBLE G7\nNot yet!",
        "MARBLE G7\n\nPS: on second thought please don't move at all!",
        "STAR F5\n(only a draft)\nMARBLE G7",
        "TURN 3\nnot yet, please\nMARBLE G7",
        "C'est un brouillon :\nMARBLE G7",
        "Ještě to neposílej:\nMARBLE G7",
        "Bu bir taslak:\nMARBLE G7",
        "まだ出さないでください\nMARBLE G7",
        "Can you check whether this is ok?\nMARBLE G7",
        "My friend suggested\n\nMARBLE G7\n\nI will sleep over it and send my move tomorrow.",
        "MARBLE G7\nDarüber muss ich erst schlafen, besser: ich will noch darüber schlafen.",
    ] {
        assert!(kinds(GameKind::Quad, text).contains(&DoubtKind::Postponed), "{text}");
    }
    let postscript = "SHIP 1 A3 TO B2\n\nPS: on second thought please don't move ship 1 at all!";
    assert_eq!(kinds(GameKind::QuadrantZ, postscript), [DoubtKind::Postponed]);
}

#[test]
fn orders_beside_words_that_may_take_them_back_wait_for_a_day() {
    for (game, text) in [
        (GameKind::Quad, "Please don't\nMARBLE G7"),
        (GameKind::Quad, "MARBLE G7\nDon't capture anything, don't place a marble!"),
        (GameKind::Quad, "Non giocare ancora:\nMARBLE G7"),
        (GameKind::Quad, "Nie wysyłaj jeszcze:\nMARBLE G7"),
        (GameKind::Quad, "I'm afraid Bo will answer\nG7"),
        (GameKind::QuadrantZ, "Do not move\nSHIP 1 A3 TO B2\nas I wrote yesterday. Everything stays!"),
        (GameKind::QuadrantZ, "Don't\nCAPTURE B1"),
        (GameKind::QuadrantZ, "I don't want to\nHOLD"),
        (GameKind::QuadrantZ, "Ich will nicht, dass Sie\nSHIP 1 B1 TO B2\nausführen."),
        (GameKind::Quad, "Somebody at the club asked me about\nMARBLE G7\nas an idea."),
        (GameKind::Quad, "You wrote that I should answer\nYES\nif I mean it. I do not mean it."),
        (
            GameKind::Quad,
            "MARBLE G7\n\nThanks for the game, it is great fun.\n\nBest, Ann\n\nP.S. Please do not file this before Sunday.",
        ),
        (GameKind::Quad, "No juegues esto:\nMARBLE G7"),
        (GameKind::Quad, "Não jogue ainda:\nMARBLE G7"),
        (GameKind::Quad, "Nog niet spelen!\nMARBLE G7"),
        (GameKind::Quad, "Пока не отправляй:\nMARBLE G7"),
        (GameKind::Quad, "I moved to\nE5\nLondon, nice place!"),
    ] {
        let request = read(game, text);
        let beside = request.beside(Writer::STRANGER);
        assert_eq!((request.doubts, beside), (Vec::new(), Beside::Sign), "{text}");
    }
}

#[test]
fn other_negations_are_remarks() {
    for text in [
        "MARBLE G7\nI don't play chess any more.",
        "I have not yet read the rules, but here goes:\nMARBLE G7",
        "Don't worry, I am fine.\nMARBLE G7",
        "MARBLE G7\nNächste Woche kann ich nicht spielen.",
        "MARBLE G7\nWe are not amused.",
        "I could not find your letter.\n\nMARBLE G7",
        "MARBLE G7\n\nDo not be angry with me!",
    ] {
        assert_eq!(kinds(GameKind::Quad, text), [], "{text}");
    }
}

#[test]
fn a_square_below_a_name_or_within_a_sentence_is_doubtful() {
    for text in [
        "Nice game so far!\n\nAnn\nG7",
        "Good luck!\nBest, Ann\nB4",
        "MARBLE G7\n\nKind regards\nAnn Adams\nB4",
    ] {
        assert_eq!(kinds(GameKind::Quad, text), [DoubtKind::BelowName], "{text}");
    }
    let amid = "Look at the point\nG7\nwhere you stood last week.";
    assert_eq!(kinds(GameKind::Quad, amid), [DoubtKind::InSentence]);
    for text in [
        "Hi Bo,\nG7",
        "Hello\nG7",
        "My move:\nG7",
        "I think I will just play\nG7",
        "G7\nthanks",
        "G7\nThanks, Ann",
        "Dear Bo,\n\nG7\n\nBest, Ann",
        "OK\nG7",
    ] {
        assert_eq!(kinds(GameKind::Quad, text), [], "{text}");
    }
}

#[test]
fn a_line_of_nothing_but_order_words_is_doubtful_or_a_fault() {
    for text in
        ["SHIPS 1 2 TO K2", "SHPI 1 GO C2", "CAPTUR Z9", "All ships to C2", "1: C2", "SHIPS 1 TO K2 L2"]
    {
        let request = read(GameKind::QuadrantZ, text);
        let is_refused = !request.doubts.is_empty() || !request.orders.is_empty();
        assert!(is_refused && request.remarks.is_empty(), "{text}: {request:?}");
    }
    for text in ["Lost 3 ships today", "Shipping takes 3 days", "Ships are nice", "Builders come on 3 May"] {
        assert_eq!(read(GameKind::QuadrantZ, text).remarks.len(), 1, "{text}");
    }
    assert_eq!(read(GameKind::QuadrantZ, "SHIPS 1 A3 TO B2").orders.len(), 1);
}

#[test]
fn no_match_is_given_up_against_the_words_of_a_letter() {
    for text in [
        "RESIGN CONFIRM?",
        "CLAIM?",
        "Not yet, but perhaps soon. Not yet!\nRESIGN CONFIRM",
        "Please don't play this yet:\nRESIGN CONFIRM",
    ] {
        let request = read(GameKind::Quad, text);
        assert_eq!((request.commands.len(), request.faults.len()), (0, 1), "{text}");
    }
    assert_eq!(read(GameKind::Quad, "Well played!\nRESIGN CONFIRM").commands.len(), 1);
    assert_eq!(read(GameKind::Quad, "DRAW?").commands.len(), 1, "a common way to ask");
}

#[test]
fn in_a_letter_wholly_in_capitals_they_mark_nothing() {
    let request = read(
        GameKind::QuadrantZ,
        "HOLD EVERYTHING PLEASE\nI AM IN HOSPITAL FOR A WEEK\nLEAVE\nTELL BO THAT\nSHIP 1 A3 TO B2\nSTATUS",
    );
    assert_eq!(
        (request.remarks.len(), request.orders.len(), request.commands.len()),
        (4, 1, 1),
        "{request:?}"
    );
    assert_eq!(read(GameKind::QuadrantZ, "LEAVE").commands.len(), 1);
}

#[test]
fn an_order_of_another_game_is_no_remark() {
    let request = read(GameKind::Quad, "MARBLE G7\nSHIP 1 A3 TO B2\nHello");
    let elsewhere: Vec<_> = request.elsewhere.iter().map(|order| (order.line.no, order.game)).collect();
    assert_eq!(elsewhere, [(2, GameKind::QuadrantZ)]);
    assert_eq!((request.orders.len(), request.remarks.len(), request.doubts.len()), (1, 1, 0));
}

#[test]
fn a_word_that_ends_a_wrapped_sentence_is_no_command() {
    for text in [
        "His ships could be anywhere, I honestly cannot\ntell.\nMy base at A4 is naked.",
        "please do not take my letter as a\nprotest.\nBest regards,\nGus",
        "Thanks, but I do not accept a\ndraw.\nLet us play on.",
        "No, I'm not taking the\ndraw!\n\nMARBLE G7",
        "My orders stand and I do not want to\nwithdraw.",
        "Three more days is a long time, and I can't\nagree.",
        "This game is so good that I can hardly\nwait.\n\nMARBLE G7",
    ] {
        let request = read(GameKind::Quad, text);
        let asked = (request.commands.len(), request.faults.len(), request.wait);
        assert_eq!(asked, (0, 0, false), "{text}: {request:?}");
    }
    for text in ["draw", "Hi Bo,\ndraw", "Well played!\ndraw", "MARBLE G7\ndraw", "Best,\nAnn\ndraw"] {
        assert_eq!(read(GameKind::Quad, text).commands.len(), 1, "{text}");
    }
}

#[test]
fn a_command_inside_a_sentence_or_negated_is_not_carried_out() {
    for text in [
        "What exactly does the line\n\nRESIGN CONFIRM\n\ndo to my rating?",
        "If my next move loses a star I shall send\n\nRESIGN CONFIRM\n\nbut for now I go on.",
        "No! I did not write this, and I will certainly not\nCONFIRM 5N5C53",
        "CONFIRM 5N5C53?\nI do not know what that means.",
        "I do not need to\nEXTEND 3 days\nafter all.",
        "I do not want a\n\ndraw\n\nyet.",
        "Could I be\nABSENT 2026-12-20 TO 2027-01-03\nwithout losing time? Just asking.",
        "I see the line\nSUBSTITUTE\nin the manual. What does it do?",
        "Is there a reason why I should\nAGREE\nto this?",
        "Bo is a fine player.\n\nRESIGN CONFIRM\n\nGood game!",
        "That was me, I was at work\nCONFIRM 5N5C53",
        "Could I please\nEXTEND 3 days",
    ] {
        for request in [
            read(GameKind::Quad, text),
            held_back(Request::read(&Line::numbered(&text.lines().collect::<Vec<_>>()), |_: &str| false)),
        ] {
            assert_eq!((request.commands.len(), request.faults.len()), (0, 1), "{text}: {request:?}");
        }
    }
    for text in [
        "RESIGN CONFIRM\n\nThank you and congratulations!",
        "I was on the road all week, sorry\n\nEXTEND 3 days\n\nhave a nice weekend",
        "That was me. I was at work.\nCONFIRM 5N5C53",
        "I will not be at home over Christmas.\nABSENT 2026-12-20 TO 2027-01-03",
    ] {
        let request = read(GameKind::Quad, text);
        assert_eq!((request.commands.len(), request.faults.len()), (1, 0), "{text}: {request:?}");
    }
}

#[test]
fn many_commands_against_the_words_of_a_letter_are_bounded() {
    let text = "I do not want to\nRESIGN CONFIRM\n".repeat(20_000);
    let request = read(GameKind::Quad, &text);
    assert_eq!((request.commands.len(), request.faults.len()), (0, 20));
    assert_eq!(request.left_out.commands, 19_980);
}

#[test]
fn a_yes_that_its_own_letter_takes_back_is_doubtful() {
    let taken_back = "YES\n\nNo, wait. On second thought please don't play that.";
    assert_eq!(kinds(GameKind::Quad, taken_back), [DoubtKind::Postponed]);
    for text in
        ["YES", "Yes!\n\nSorry for the trouble.", "Sorry, I meant that.\nYES\nBest, Ann", "YES\nthanks"]
    {
        assert_eq!(kinds(GameKind::Quad, text), [], "{text}");
    }
}

#[test]
fn a_sentence_around_an_order_does_not_make_it_doubtful() {
    for (game, text) in [
        (GameKind::Quad, "hi bo, i hope all is well with you\n\nMARBLE G7\n\nhave a nice weekend"),
        (GameKind::Quad, "here is my move for this turn\nMARBLE G7\nhope you like it"),
        (GameKind::Quad, "I'd like to\nMARBLE G7"),
        (GameKind::QuadrantZ, "I do not know what else to do.\nSHIP 1 A3 TO B2"),
    ] {
        assert_eq!(kinds(game, text), [], "{text}");
    }
}
