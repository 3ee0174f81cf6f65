//! Letters in people's own words that no list of phrases knows: orders told by their pieces and squares, questions that
//! the rules or a short answer settle, words for the opponent or about a league, and a GM's words.

use crate::events::{CY, LEAGUE, announced, club, gm};
use crate::positions::{quad, quadrant_z};
use crate::referee::{ANN, BO, GM, Referee, Sent};
use crate::seat::almost_orders::both_set_up;

/// The answer to a letter in words, which files nothing.
#[track_caller]
fn answer(referee: &Referee, to: &Sent, words: &str) -> Sent {
    referee.sent_to(ANN);
    referee.reply(ANN, to, words);
    referee.one_to(ANN)
}

#[test]
fn orders_in_other_words_are_offered_and_never_filed() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    for words in ["Marvel G7", "g7 👍", "Marbleg7", "G7'ye koyuyorum", "What a week!\n\nPS: G7"] {
        answer(&referee, &to_ann, words).says("answer with the single word").says("| MARBLE G7");
    }
    answer(&referee, &to_ann, "If he plays F6 then I want G7").keeps_silent_of("single word");
    assert!(referee.find(&game_match.id).filed.iter().all(|(_, filed)| filed.is_none()));
}

#[test]
fn orders_in_words_amend_what_is_filed() {
    let referee = Referee::new();
    let (_, to_ann, _) = both_set_up(&referee);
    referee.reply(ANN, &to_ann, "SHIP 1 HOLD");
    let offer = answer(&referee, &to_ann, "and my number 2 stays where it is too");
    offer.says("| SHIP 1 HOLD").says("| SHIP 2 HOLD").says("single word");
}

#[test]
fn orders_in_the_subject_beside_a_text_are_offered() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.sent_to(ANN);
    let letter = referee.answer(ANN, &to_ann, "see subject :)");
    let rest = letter.lines().filter(|line| !line.starts_with("Subject:"));
    referee.receive(&format!("Subject: MARBLE G7\n{}", rest.collect::<Vec<_>>().join("\n")));
    referee.one_to(ANN).says("| MARBLE G7").says("single word");
}

#[test]
fn a_question_is_answered_by_the_passage_that_shares_its_rare_words() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    for (words, said) in [
        ("Do slanted squares count as a quad too?", "any size and any tilt"),
        ("Can I also put a marble on A1, the corner?", "no points of the board"),
        ("Which colour am I again?", "You are Black"),
        ("I pass.", "Nobody can pass"),
        ("Until when? I am in New York", "| SETTINGS zone=America/New_York"),
        ("I am blind, and the board is only noise to me.", "| SETTINGS format=text"),
        ("My son would like to take over my seat. How?", "| SUBSTITUTE"),
        ("Who is Grace? Have I 12 hours more, or 12 hours less?", "in which orders still count"),
        ("How good is Bo, and has he much experience?", "| PROFILE Bo"),
    ] {
        answer(&referee, &to_ann, words).says(said).says("The GM reads your words, too.");
    }
    answer(&referee, &to_ann, "How is your knee?").says("have passed your words to the GM");
}

#[test]
fn a_question_is_understood_in_the_languages_of_the_glossary() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    for (words, said) in [
        ("¿Cuenta también un cuadrado inclinado como quad?", "any size and any tilt"),
        ("Telt een scheef vierkant ook als quad?", "any size and any tilt"),
        ("Wie viele Steine habe ich noch?", "20 marbles and 6 stars left"),
        ("Possiamo giocare più in fretta? Sette giorni per mossa sono troppi.", "Each turn may take"),
        ("Qual aplicativo preciso instalar no celular para jogar?", "nothing to install"),
        ("Hraje Bo sám, nebo mu pomáhá počítač?", "asks a computer for moves"),
        ("Kann ich auch per WhatsApp mitspielen?", "mail only"),
        ("Wie kann ich das Brett ausdrucken?", "72 characters wide"),
        ("いつも手紙に画像はいりません。", "format=text"),
    ] {
        answer(&referee, &to_ann, words).says(said);
    }
    answer(&referee, &to_ann, "¿Cómo está tu rodilla?").says("have passed your words to the GM");
}

#[test]
fn what_has_a_page_of_its_own_is_answered_by_it() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    for (words, said) in [
        ("So what do I send you now?", "| MARBLE"),
        ("I don't want the picture.", "format=text"),
        ("What does all this cost? Nobody ever asked me for a card number.", "take no payments"),
        ("Is this a scam? Who are you and why do you write to me?", "the referee of"),
        ("Can you put the deadlines into my calendar?", "Every letter of mine names the deadline"),
    ] {
        answer(&referee, &to_ann, words).says(said);
    }
}

#[test]
fn an_address_is_the_writers_own_unless_the_letter_names_its_owner() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let words = "Priya would love a game against me. Her address is priya.nair@work.example, what do we do?";
    answer(&referee, &to_ann, words)
        .says("| CHALLENGE priya.nair@work.example quad")
        .keeps_silent_of("ADDRESS");
    answer(&referee, &to_ann, "My new address is ann.archer@work.example.\n\nAnn")
        .says("| ADDRESS ann.archer@work.example");
}

#[test]
fn words_that_name_a_square_and_are_no_order_are_told_so() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let words = "My grandson says that E5 would be a splendid place, and he may well be right about it.";
    answer(&referee, &to_ann, words).says("I found no order in your letter").says("| MARBLE");
    answer(&referee, &to_ann, "Bo plays well!").keeps_silent_of("I found no order");
}

#[test]
fn a_pause_with_its_days_is_an_absence_and_after_the_end_nothing_pauses() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let words = "We are off to Madeira. Would you stop the clock from the 12th to the 19th of May?";
    answer(&referee, &to_ann, words).says("| ABSENT 2026-05-12 TO 2026-05-19");
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    let over = referee.last_to(ANN);
    answer(&referee, &over, "I did not mean to give up. Can you put the game back on please?")
        .says("| REMATCH")
        .keeps_silent_of("ABSENT");
}

#[test]
fn what_a_seat_has_ordered_is_told_and_stays_as_it_is() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = both_set_up(&referee);
    referee.reply(ANN, &to_ann, "SHIP 1 A3 TO B2");
    let words = "I can't remember what I ordered for this turn. Could you tell me what you've got from me?";
    answer(&referee, &to_ann, words).says("| SHIP 1 A3 TO B2").keeps_silent_of("I have not played");
    referee.reply(BO, &to_bo, "HOLD");
    assert_eq!(referee.find(&game_match.id).adjudicated.len(), 2);
}

#[test]
fn a_question_beside_orders_or_a_wish_is_answered_too() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let wish = "I need three more days. And does a slanted square count as a quad?";
    answer(&referee, &to_ann, wish).says("| EXTEND 3 days").says("any size and any tilt");
    let order = "MARBLE G7\n\nBy the way: does a slanted square count as a quad?";
    answer(&referee, &to_ann, order).says("sealed").says("any size and any tilt");
}

#[test]
fn a_letter_that_replaces_a_square_is_offered_the_orders_with_it() {
    let referee = Referee::new();
    let (_, to_ann, _) = both_set_up(&referee);
    referee.reply(ANN, &to_ann, "SHIP 1 A3 TO B2");
    for words in ["Please make it B1 instead of B2.", "Bitte B1 statt B2."] {
        answer(&referee, &to_ann, words).says("| SHIP 1 A3 TO B1").says("single word");
    }
    answer(&referee, &to_ann, "B2, not B1, is right.").keeps_silent_of("single word");
}

#[test]
fn words_that_nobody_else_reads_are_repeated_whole() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    let line = "she wants to put her marble on G7, because it looks so lonely there among all the others";
    answer(&referee, &to_ann, line).says("among all the others");
    let beside =
        "MARBLE G7\n\nIt looks so very lonely there in the middle, among all the others of its colour";
    let told = answer(&referee, &to_ann, beside);
    let quoted = told.text.lines().filter_map(|line| line.trim().strip_prefix("> "));
    let quoted: Vec<&str> = quoted.collect();
    assert!(quoted.join(" ").contains("among all the others of its colour"), "{}", told.text);
}

#[test]
fn words_in_answer_to_a_message_get_the_lines_that_send_them() {
    let referee = Referee::new();
    let (_, _, to_bo) = quad(&referee);
    referee.reply(BO, &to_bo, "TELL My cat walked over the board.");
    let message = referee.last_to(ANN);
    answer(&referee, &message, "haha good one").says("| TELL").says("| haha good one");
}

#[test]
fn words_about_a_league_get_its_state_and_the_lines_about_it() {
    let referee = club("");
    announced(&referee, LEAGUE, &[BO]);
    let (_, to_ann, _) = quad(&referee);
    answer(&referee, &to_ann, "Please sign me up for the spring league!")
        .says("| ENTER EV-SPRING")
        .says("1 in");
}

#[test]
fn an_address_in_a_letter_that_wishes_for_nothing_else_is_meant() {
    let referee = Referee::new();
    let (_, to_ann, _) = quadrant_z(&referee);
    let words = "Please use ann@work.example this week, I can't get at this one.";
    answer(&referee, &to_ann, words).says("| ADDRESS ann@work.example");
}

#[test]
fn a_gm_in_own_words_gets_lists_and_lines_that_work() {
    let referee = club("");
    let (game_match, ..) = quad(&referee);
    let id = &game_match.id;
    gm(&referee, "Who is late?").says("No match is on the list `late`").keeps_silent_of("GM ANNOUNCE");
    gm(&referee, "Give Ann two more days in QZ-0000").says("There is no match QZ-0000 here");
    gm(&referee, "thanks!").says("nothing was done").keeps_silent_of("| ");
    for (words, line) in [
        (format!("Give Ann two more days in {id}"), format!("GM MATCH {id} EXTEND 2 days")),
        (
            format!("Undo the last turn of {id}, please. Somebody is in hospital, stop the clock."),
            format!("GM MATCH {id} PAUSE the reason"),
        ),
        ("Please throw Cy out of the club, he insulted people.".to_owned(), "GM PLAYER BLOCK Cy".to_owned()),
        (
            "Add Carl Moss, carl@moss.example".to_owned(),
            "GM PLAYER ADD carl@moss.example Carl Moss".to_owned(),
        ),
        (
            "Let Cy and Di play a game of Quad, 5 days a move".to_owned(),
            format!("GM NEW quad {CY} di@players.example days=5"),
        ),
    ] {
        gm(&referee, &words).says(&format!("| {line}"));
        gm(&referee, &format!("CHECK\n{line}")).says("This would be done");
    }
    gm(&referee, &format!("Swap Ann for Cy in {id}, Ann has no time any more."))
        .says(&format!("| GM MATCH {id} REPLACE first {CY}"));
    let plan = gm(&referee, "Start a cup with Cy and Di: Quantum, a week per move");
    let lines: Vec<&str> = plan.text.lines().filter_map(|line| line.trim().strip_prefix("| ")).collect();
    let end = lines.iter().position(|line| *line == "END").expect("a plan");
    gm(&referee, &lines[..=end].join("\n")).says("Players enter with the line ENTER EV-QUANTUM-CUP");
    gm(&referee, lines[end + 1]).says("Done.");
    assert!(referee.sent_to(GM).is_empty());
}
