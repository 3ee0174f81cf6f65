//! Wishes in people's own words: the answer offers a line that fulfils the wish, and that line works.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;

use crate::positions::{quad, quadrant_z};
use crate::referee::{ANN, BO, GM, Referee, Sent};

/// The lines of the first act that an answer offers, without bars.
fn offered(answer: &Sent) -> String {
    let lines = answer.text.lines().map(|line| line.trim().strip_prefix("| "));
    let lines = lines.skip_while(Option::is_none).map_while(|line| line);
    lines.collect::<Vec<_>>().join("\n")
}

/// Wishes, the line that the answer offers, and the answer to that line.
const WISHES: [(&str, &str, &str); 20] = [
    ("Prosím o prodloužení o tři dny.", "EXTEND 3 days", "has been asked for 3 more days"),
    ("Geht auch noch Montag, 18.5.?", "EXTEND 4 days", "has been asked for 4 more days"),
    (
        "We're off skiing from 20 June to 3 July.",
        "ABSENT 2026-06-20 TO 2026-07-03",
        "You are away from 2026-06-20",
    ),
    ("I'm on holiday.", "ABSENT 2026-05-07 TO 2026-05-13", "You are away from 2026-05-07 to 2026-05-13"),
    ("Mi arrendo. Complimenti!", "RESIGN CONFIRM", "You have resigned"),
    (
        "I don't want to play any more, take me off your list.",
        "LEAVE CONFIRM",
        "to ask whether that is what you want",
    ),
    (
        "Meine neue Adresse: ann.neu@posteo.example",
        "ADDRESS ann.neu@posteo.example",
        "to ask whether that is what you want",
    ),
    ("Stop mailing me!", "SETTINGS receipts=faults digest=daily", "Your settings are changed"),
    ("Proponuję remis.", "DRAW", "Your offer of a draw stands"),
    ("Ich suche einen anderen Gegner.", "OPEN quad", "The seat is open to anyone"),
    ("Could you resend the last report?", "REPORT", "There is no such report"),
    ("Wer führt denn gerade?", "REPORT", "There is no such report"),
    ("Où puis-je voir tous les coups joués ?", "HISTORY", "There is no such report"),
    ("¿Qué pasa si no mando nada a tiempo?", "HELP time", "some hours of grace"),
    (
        "Vorrei giocare contro il mio amico luca@amico.example",
        "CHALLENGE luca@amico.example quad",
        "luca@amico.example",
    ),
    ("Onde posso ler as regras?", "RULES quad", "A game of squares"),
    ("Dile a Bo que es un gran rival.", "TELL\nes un gran rival.\nEND", "Your message was passed on to Bo"),
    ("Das ist Betrug!", "PROTEST\nDas ist Betrug!\nEND", "Your protest is before the GM"),
    ("Please pause the match.", "EXTEND 7 days", "has been asked for 7 more days"),
    ("My mother died on Saturday, can I play next month?", "EXTEND 7 days", "has been asked for 7 more days"),
];

#[test]
fn an_answer_offers_the_line_that_does_what_was_wished_and_that_line_does_it() {
    for (wish, line, done) in WISHES {
        let referee = Referee::new();
        let (game_match, to_ann, _) = quad(&referee);
        referee.reply(ANN, &to_ann, wish);
        let answer = referee.one_to(ANN);
        assert_eq!(offered(&answer), line, "{wish}");
        answer.keeps_silent_of("You also wrote this").keeps_silent_of("The board");
        assert!(answer.text.lines().count() < 35, "{wish}: too long\n{}", answer.text);
        let after = referee.find(&game_match.id);
        assert!(after.extension.is_none() && after.draw_offer.is_none(), "{wish}: acted on unasked");
        assert!(
            after.absences[Seat::First].is_empty() && after.outcome().is_none(),
            "{wish}: acted on unasked"
        );
        referee.reply(ANN, &answer, line);
        let answers: Vec<Sent> = referee.sent_to(ANN);
        let says =
            |letter: &Sent| letter.text.split_whitespace().collect::<Vec<_>>().join(" ").contains(done);
        assert!(
            answers.iter().any(says),
            "{wish}: {line} did not do it: {:?}",
            answers.iter().map(|a| &a.text).collect::<Vec<_>>()
        );
    }
}

#[test]
fn links_neither_resign_nor_leave_at_once() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "I want to leave the club");
    let answer = referee.one_to(ANN);
    assert!(answer.html.contains("body=LEAVE%0D%0A") && answer.html.contains("body=RESIGN%0D%0A"));
    assert!(!answer.html.contains("CONFIRM%0D%0A"));
}

#[test]
fn beside_orders_wishes_about_something_else_count() {
    let referee = Referee::new();
    let (_, to_ann, _) = quadrant_z(&referee);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "HOLD\n\nShall we call it a draw? Where are the rules?");
    let receipt = referee.one_to(ANN);
    receipt.says("Your orders are sealed").says("| DRAW").keeps_silent_of("| RULES");
    receipt.says("The GM will read this: > Shall we call it a draw? Where are the rules?");
    referee.reply(ANN, &to_ann, "HOLD\n\nI'm away from 1 June to 4 June.");
    referee.one_to(ANN).says("Your new orders are sealed").says("| ABSENT 2026-06-01 TO 2026-06-04");
}

#[test]
fn grief_gets_a_kind_answer_and_the_gm_hears_at_once() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quadrant_z(&referee);
    let other = referee.open(GameKind::Quad, &[]);
    referee.sent_to(ANN);
    referee.sent_to(GM);
    referee.reply(ANN, &to_ann, "Meine Mutter ist gestorben, ich kann diese Woche nicht ziehen.");
    let answer = referee.one_to(ANN);
    answer.says("I am very sorry to hear this").keeps_silent_of("Not read").keeps_silent_of("| HOLD");
    let to_gm = referee.one_to(GM);
    to_gm.says("Meine Mutter ist gestorben").says(&format!("| GM MATCH {} PAUSE", game_match.id));
    to_gm.says(&format!("| GM MATCH {} PAUSE", other.id));
    assert!(referee.find(&game_match.id).in_trouble[Seat::First]);
    referee.advance(24 * 6);
    let reminders = referee.sent_to(ANN);
    let kind = reminders.iter().filter(|letter| letter.subject.contains("whenever you can"));
    assert!(kind.clone().count() > 0, "a reminder goes");
    for letter in kind {
        letter.says("waits for you").keeps_silent_of("The board").keeps_silent_of("not filed");
    }
    referee.reply(ANN, &to_ann, "HOLD");
    assert!(!referee.find(&game_match.id).in_trouble[Seat::First], "orders end it");
}

#[test]
fn losses_in_the_match_are_no_grief() {
    let referee = Referee::new();
    let (_, to_ann, _) = quadrant_z(&referee);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "My carrier died, what a funeral!");
    referee.one_to(ANN).keeps_silent_of("sorry");
}

#[test]
fn yes_agrees_to_more_time_but_not_to_a_draw() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, "EXTEND 3 days");
    let asked = referee.one_to(BO);
    referee.reply(BO, &to_bo, "Yes");
    assert!(referee.find(&game_match.id).extension.is_some(), "not in the thread of the question");
    referee.sent_to(BO);
    referee.reply(BO, &asked, "Yes, if I get the next one");
    assert!(referee.find(&game_match.id).extension.is_some(), "a condition is no yes");
    referee.sent_to(BO);
    referee.reply(BO, &asked, "Ja gern!\n\nBo");
    referee.one_to(BO).says("Agreed: the deadline has moved");
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "DRAW");
    let offer = referee.one_to(BO);
    for words in ["Yes", "", "AGREE"] {
        referee.reply(BO, &offer, words);
        referee.one_to(BO).says("| DRAW");
        assert!(referee.find(&game_match.id).outcome().is_none(), "a draw needs its own line");
    }
}

#[test]
fn an_old_request_for_time_is_not_agreed_to_after_a_new_one() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "EXTEND 3 days");
    let first = referee.one_to(BO);
    referee.reply(ANN, &to_ann, "EXTEND 30 days");
    referee.sent_to(BO);
    referee.reply(BO, &first, "Yes");
    assert!(referee.find(&game_match.id).extension.is_some(), "Bo agreed to three days");
}

#[test]
fn a_challenge_is_answered_in_words() {
    for (words, is_accepted, is_open) in [
        ("Yes, please!", true, false),
        ("はい", true, false),
        ("Nein danke", false, false),
        ("Unsubscribe", false, false),
        ("no", false, false),
        ("Who are you?", false, true),
    ] {
        let referee = Referee::new();
        let (_, to_ann, _) = quad(&referee);
        referee.reply(ANN, &to_ann, "CHALLENGE cy@new.example quad");
        let challenge = referee.one_to("cy@new.example");
        let code = challenge.text.split("ACCEPT ").nth(1).and_then(|rest| rest.split_whitespace().next());
        let code = code.expect("a code").to_owned();
        referee.reply("cy@new.example", &challenge, words);
        let answers = referee.sent_to("cy@new.example");
        assert_eq!(answers.iter().any(|letter| letter.text.contains("begins")), is_accepted, "{words}");
        assert_eq!(
            answers.iter().any(|letter| letter.text.contains(&format!("| ACCEPT {code}"))),
            is_open,
            "{words}"
        );
    }
}

#[test]
fn a_known_player_without_a_thread_gets_their_matches_and_not_the_page_for_newcomers() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    referee.sent_to(ANN);
    referee.write(ANN, "Hello, are you still there?");
    let answer = referee.one_to(ANN);
    answer.says("Turn 1 waits for your orders").keeps_silent_of("I am the referee of");
    assert!(answer.subject.contains(&game_match.id));
    let other = referee.open(GameKind::Quantum, &[]).id;
    referee.sent_to(ANN);
    referee.write(ANN, "Anybody there?");
    referee.one_to(ANN).says(&game_match.id).says(&other).says("answer any letter of mine about it");
}

#[test]
fn an_offset_is_answered_with_cities() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS zone=GMT+2");
    referee
        .one_to(ANN)
        .says("No setting was changed")
        .says("| SETTINGS zone=Europe/Berlin")
        .keeps_silent_of("Etc/");
    referee.reply(ANN, &to_ann, "SETTINGS zone=UTC-5");
    referee.one_to(ANN).says("America/Chicago").keeps_silent_of("Berlin");
}

#[test]
fn help_takes_words_and_finds_them_in_the_rules() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "HELP rhombus");
    referee.one_to(ANN).says("is not a quad").says("| RULES quad");
    referee.reply(ANN, &to_ann, "HELP zeppelin");
    referee.one_to(ANN).says("I have no page on zeppelin").says("| RULES quad");
}

#[test]
fn what_the_opponent_asks_for_can_be_granted_or_refused_in_words() {
    let referee = Referee::new();
    let (_, _, to_bo) = quad(&referee);
    referee.reply(BO, &to_bo, "EXTEND 3 days");
    let asked = referee.last_to(ANN);
    referee.reply(ANN, &asked, "Of course, take all the time you need.");
    referee.one_to(ANN).says("asks for more time").says("| AGREE");
    referee.reply(BO, &to_bo, "DRAW");
    let offered = referee.last_to(ANN);
    referee.reply(ANN, &offered, "A draw? After two moves? Never!");
    referee.one_to(ANN).says("You need do nothing").keeps_silent_of("| DRAW");
}
