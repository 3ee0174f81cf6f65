//! The law of answers: every line that a letter offers behind a bar, sent back at once, is understood.

use fogpost::game::any::GameKind;

use crate::events::{LEAGUE, announced, club};
use crate::positions::{pacific, quad, quadrant_z};
use crate::referee::{ANN, BO, GM, Referee, Sent};
use crate::seat::almost_orders::both_set_up;

const CY: &str = "cy@players.example";

/// The acts that a letter offers: a line behind a bar without the words that explain it, or the lines of a text up
/// to its `END`. Quoted rules are skipped, because their examples are from other positions.
fn acts(letter: &Sent) -> Vec<String> {
    let mut acts: Vec<String> = Vec::new();
    let mut text: Option<String> = None;
    let quoted = letter.text.split_once(" say this:").map_or("", |(_, rules)| rules);
    let quoted = quoted.split_once("To read all of them").map_or("", |(rules, _)| rules);
    let own = letter.text.replace(quoted, "");
    let lines = own.lines().filter_map(|line| line.trim_start().strip_prefix("| "));
    for line in lines.map(|line| line.split("  ").next().unwrap_or_default().trim_end()) {
        match text.take() {
            Some(begun) if line == "END" => acts.push(format!("{begun}\nEND")),
            Some(begun) => text = Some(format!("{begun}\n{line}")),
            None if ["TELL", "PROTEST"].contains(&line) => text = Some(line.to_owned()),
            None => acts.push(line.to_owned()),
        }
    }
    acts.retain(|act| act.starts_with(|c: char| c.is_ascii_uppercase()));
    acts
}

/// Phrases in answers to letters that were not understood, or not carried out.
const REFUSED: [&str; 8] = [
    "is not valid",
    "Not read as",
    "I have passed your words",
    "have passed your words to the GM",
    "There is no game",
    "has no effect",
    "There is no event",
    "There is no such",
];

/// The beginnings of acts, and words in the answer that show that the act took effect.
const DONE: [(&str, &str); 17] = [
    ("ABSENT", "You are away from"),
    ("ADDRESS", "to ask whether that is what you want"),
    ("AGREE", "the deadline has moved"),
    ("BLOCK", "no longer take each other's offers"),
    ("ENTER", "You are in"),
    ("EXTEND", "more day"),
    ("HELP time", "some hours of grace"),
    ("LEAVE CONFIRM", "to ask whether that is what you want"),
    ("OPEN quad", "The seat is open to anyone"),
    ("PROTEST", "Your protest is before the GM"),
    ("REMATCH", "rematch"),
    ("RESIGN CONFIRM", "You have resigned"),
    ("RULES quad", "A game of squares"),
    ("SETTINGS receipts", "Your settings are changed"),
    ("SETTINGS zone", "Your settings are changed"),
    ("TELL", "passed on to Bo"),
    ("UNBLOCK", "can take each other's offers again"),
];

/// The situation whose acts are only examples.
const FAULT: &str = "a fault in a command";

/// A letter with offers: its name, its reader's address, and a function that makes it.
type Situation = (&'static str, &'static str, fn(&Referee) -> Sent);

/// Sends back every act of the letter, each in a club of its own. Returns their number.
fn send_back(referee: fn() -> Referee, (name, reader, make): Situation) -> usize {
    let count = acts(&make(&referee())).len();
    for index in 0..count {
        let referee = referee();
        let letter = make(&referee);
        let act = &acts(&letter)[index];
        for address in [ANN, BO, CY, GM] {
            referee.sent_to(address);
        }
        referee.reply(reader, &letter, act);
        referee.answer_question(reader);
        let answers = referee.sent_to(reader);
        assert!(!answers.is_empty() || act == "NEVER", "{name}: no answer to {act}");
        let flat = |answer: &Sent| answer.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_it =
            |verb: &str| act.strip_prefix(verb).is_some_and(|rest| rest.trim_start().len() < rest.len());
        let done = DONE.iter().find(|(verb, _)| act == verb || is_it(verb));
        if let Some((_, words)) = done.filter(|_| name != FAULT) {
            let texts: Vec<String> = answers.iter().map(flat).collect();
            assert!(texts.iter().any(|text| text.contains(words)), "{name}: {act}: {texts:#?}");
        }
        // Pages of the manual contain such words themselves.
        for answer in answers.into_iter().filter(|_| !act.starts_with("HELP")) {
            let text = flat(&answer);
            let refused = REFUSED.iter().find(|words| text.contains(**words));
            assert!(
                refused.is_none() && !answer.subject.contains("not filed"),
                "{name}: {act} was offered in\n{}\nand answered by\n{}",
                letter.text,
                answer.text
            );
        }
    }
    count
}

/// The answer to Ann's letter in a match of Quad.
fn in_quad(referee: &Referee, text: &str) -> Sent {
    let (_, to_ann, _) = quad(referee);
    referee.reply(ANN, &to_ann, text);
    referee.one_to(ANN)
}

fn in_quadrant_z(referee: &Referee, text: &str) -> Sent {
    let (_, to_ann, _) = quadrant_z(referee);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, text);
    referee.one_to(ANN)
}

/// The letter to Ann that this letter from Bo causes.
fn by_bo(referee: &Referee, text: &str) -> Sent {
    let (_, _, to_bo) = quad(referee);
    referee.reply(BO, &to_bo, text);
    referee.last_to(ANN)
}

/// Ann's result letter of a match that she has resigned.
fn result(referee: &Referee) -> Sent {
    let (_, to_ann, _) = quad(referee);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    referee.sent_to(ANN).into_iter().find(|sent| sent.subject.contains("has won")).expect("a result")
}

const SITUATIONS: [Situation; 37] = [
    ("more time", ANN, |referee| in_quad(referee, "Could I have a few more days?")),
    ("absence", ANN, |referee| in_quad(referee, "I'm on holiday.")),
    ("pause", ANN, |referee| in_quad(referee, "Please pause the match")),
    ("grief", ANN, |referee| in_quad(referee, "My mother has died.")),
    ("giving up", ANN, |referee| in_quad(referee, "I give up")),
    ("leaving", ANN, |referee| in_quad(referee, "I want to leave the club")),
    ("less mail", ANN, |referee| in_quad(referee, "Stop mailing me!")),
    ("address", ANN, |referee| in_quad(referee, "My new address is ann@new.example")),
    ("draw", ANN, |referee| in_quad(referee, "Shall we call it a draw?")),
    ("opponent", ANN, |referee| in_quad(referee, "I'd like another opponent")),
    ("opponent's name", ANN, |referee| in_quad(referee, "Who is my opponent?")),
    ("message", ANN, |referee| in_quad(referee, "Tell Bo he plays well")),
    ("sympathy", ANN, |referee| in_quad(referee, "Bo's father died, my condolences.")),
    ("rules", ANN, |referee| in_quad(referee, "I don't understand the rules")),
    ("history", ANN, |referee| in_quadrant_z(referee, "Can I see all the moves so far?")),
    ("lateness", ANN, |referee| in_quad(referee, "What happens if I miss the deadline?")),
    ("name and zone", ANN, |referee| in_quad(referee, "Please call me Annie from now on.")),
    ("a friend", ANN, |referee| in_quad(referee, "I'd like to play against my friend carl@friend.example")),
    ("ranking", ANN, |referee| in_quad(referee, "Where is the ranking?")),
    ("anger", ANN, |referee| in_quad(referee, "This is outrageous")),
    ("rating", ANN, |referee| in_quad(referee, "RATING")),
    ("ratings", ANN, |referee| in_quad(referee, "RATINGS quad")),
    ("profile", ANN, |referee| in_quad(referee, "PROFILE Bo")),
    ("blocked", ANN, |referee| in_quad(referee, "BLOCK Bo")),
    ("zone", ANN, |referee| in_quad(referee, "SETTINGS zone=+2")),
    ("settings", ANN, |referee| in_quad(referee, "SETTINGS")),
    (FAULT, ANN, |referee| in_quad(referee, "EXTEND three days\nABSENT soon\nRESIGN")),
    ("orders taken back", ANN, |referee| {
        let (_, to_ann, _) = quadrant_z(referee);
        referee.reply(ANN, &to_ann, "HOLD");
        referee.sent_to(ANN);
        referee.reply(ANN, &to_ann, "Please undo my orders");
        referee.one_to(ANN)
    }),
    ("building", ANN, |referee| in_quadrant_z(referee, "I'd like to read the rules of building again")),
    ("orders in words", ANN, |referee| in_quadrant_z(referee, "Ich mache diese Runde nichts.")),
    ("a setup in words", ANN, |referee| {
        referee.open(GameKind::Pacific, &[]);
        let to_ann = referee.one_to(ANN);
        referee.reply(ANN, &to_ann, "Can you set it up for me please?");
        referee.one_to(ANN)
    }),
    ("a blank letter later", ANN, |referee| {
        let (_, to_ann, _) = pacific(referee);
        referee.sent_to(ANN);
        referee.reply(ANN, &to_ann, "");
        referee.one_to(ANN)
    }),
    ("an extension asked for", ANN, |referee| by_bo(referee, "EXTEND 3 days")),
    ("a draw offered", ANN, |referee| by_bo(referee, "DRAW")),
    ("a result", ANN, result),
    ("a rematch offered", BO, |referee| {
        let to_ann = result(referee);
        referee.sent_to(BO);
        referee.reply(ANN, &to_ann, "REMATCH");
        referee.one_to(BO)
    }),
    ("a rematch in words", ANN, |referee| {
        let to_ann = result(referee);
        referee.reply(ANN, &to_ann, "Shall we play again?");
        referee.last_to(ANN)
    }),
];

#[test]
fn whatever_an_answer_in_a_match_offers_can_be_sent_back_at_once() {
    let count: usize = SITUATIONS.into_iter().map(|situation| send_back(Referee::new, situation)).sum();
    assert!(count > 40, "{count} acts");
}

const IN_THE_CLUB: [Situation; 9] = [
    ("a challenge", BO, |referee| {
        referee.write(ANN, "CHALLENGE bo@players.example quad");
        referee.last_to(BO)
    }),
    ("a standing offer", ANN, |referee| {
        referee.write(ANN, "OPEN quad times=2");
        referee.last_to(ANN)
    }),
    ("an event announced", ANN, |referee| {
        announced(referee, LEAGUE, &[]);
        referee.write(ANN, "EVENTS");
        referee.last_to(ANN)
    }),
    ("an event entered", ANN, |referee| {
        announced(referee, LEAGUE, &[ANN]);
        referee.all_to(ANN).pop().expect("a letter")
    }),
    ("an event that was entered, listed", ANN, |referee| {
        announced(referee, LEAGUE, &[ANN]);
        referee.write(ANN, "EVENTS");
        referee.last_to(ANN)
    }),
    ("an event left without CONFIRM", ANN, |referee| {
        announced(referee, LEAGUE, &[ANN]);
        referee.write(ANN, "LEAVE EV-SPRING");
        referee.last_to(ANN)
    }),
    ("standings", ANN, |referee| {
        announced(referee, LEAGUE, &[ANN, BO, CY]);
        referee.write(ANN, "STANDINGS EV-SPRING");
        referee.last_to(ANN)
    }),
    ("matches", ANN, |referee| {
        referee.write(ANN, "MATCHES");
        referee.last_to(ANN)
    }),
    ("a ranking", ANN, |referee| {
        referee.write(ANN, "RATINGS quad");
        referee.last_to(ANN)
    }),
];

#[test]
fn whatever_a_letter_of_the_club_offers_can_be_sent_back_at_once() {
    let count: usize = IN_THE_CLUB.into_iter().map(|situation| send_back(|| club(""), situation)).sum();
    assert!(count >= 8, "{count} acts");
}

#[test]
fn orders_that_their_letter_corrects_are_not_offered() {
    for text in [
        "SHIP 1 A3 TO B2\nSHIP 3 B2 TO B1\n\nSorry, I meant B1 for ship 1. And ship 3 stays where it is.",
        "Delete SHIP 1 A3 TO B2",
    ] {
        let referee = Referee::new();
        let (_, report, _) = both_set_up(&referee);
        referee.reply(ANN, &report, text);
        referee.one_to(ANN).says("is not clear to me").keeps_silent_of("the single word YES");
    }
}

#[test]
fn an_order_changed_in_words_is_offered_with_the_others_that_are_filed() {
    let referee = Referee::new();
    let (_, report, _) = both_set_up(&referee);
    referee.reply(ANN, &report, "SHIP 1 A3 TO B2\nSHIP 3 B2 TO B1");
    referee.one_to(ANN);
    referee.reply(ANN, &report, "and SHIP 1 A3 TO A1");
    let offer = referee.one_to(ANN);
    offer.says("I file them: | SHIP 3 B2 TO B1 | SHIP 1 A3 TO A1");
    referee.reply(ANN, &offer, "YES");
    referee.one_to(ANN).says("they replace those you sent before: | SHIP 3 B2 TO B1 | SHIP 1 A3 TO A1");
}
