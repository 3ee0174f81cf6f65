//! Orders beside other words are sealed at once, but firm only after a while: until then their player can take them
//! back, and for the other side they are not there.

use fogpost::referee::{Match, Stage};

use crate::events::gm;
use crate::positions::{kinds, quad, quadrant_z};
use crate::referee::{ANN, BO, Referee, Sent};

const WORDS: &str = "MARBLE G7\n\nOur garden is full of snow.";
const SIGN: &str = "MARBLE G7\n\nWait, my wife has another plan.";

fn turns(referee: &Referee, game_match: &Match) -> usize {
    referee.find(&game_match.id).adjudicated.len()
}

/// Ann's orders beside these words, and the receipt.
fn filed(body: &str) -> (Referee, Match, Sent, Sent) {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    referee.reply(ANN, &to_ann, body);
    let receipt = referee.one_to(ANN);
    assert_eq!(turns(&referee, &game_match), 0);
    (referee, game_match, receipt, to_bo)
}

#[test]
fn orders_beside_other_words_are_played_after_an_hour() {
    let (referee, game_match, receipt, to_bo) = filed(WORDS);
    receipt.says("Your orders are sealed").says("I play them on").says("> Our garden is full of snow.");
    assert!(referee.sent_to(BO).is_empty(), "for Bo nothing has happened");
    referee.reply(BO, &to_bo, "STATUS");
    referee.one_to(BO).says("Turn 1 waits for Ann").keeps_silent_of("filed");
    referee.reply(BO, &to_bo, "MATCHES");
    referee.one_to(BO).says("in turn 1: waits for Ann");
    referee.reply(ANN, &receipt, "MATCHES");
    referee.one_to(ANN).says("against Bo, in turn 1, due").keeps_silent_of("waits for");
    referee.reply(ANN, &receipt, "STATUS");
    referee.one_to(ANN).says("Your orders are filed. I play them on");
    referee.advance(1);
    assert_eq!(turns(&referee, &game_match), 1);
    referee.one_to(BO).says("What happened");
    assert!(kinds(&referee, &game_match).contains(&"OrdersFirm".to_owned()));
}

#[test]
fn courtesies_and_the_words_off_setting_delay_nothing() {
    for body in ["Hi Bobby,\n\nMARBLE G7\n\nBest wishes\nAnn", "My move:\nMARBLE G7\nThanks and good luck!"] {
        let referee = Referee::new();
        let (game_match, to_ann, _) = quad(&referee);
        referee.reply(ANN, &to_ann, body);
        assert_eq!(turns(&referee, &game_match), 1, "{body}");
    }
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "SETTINGS words=off");
    referee.one_to(ANN).says("| words=off");
    referee.reply(ANN, &to_ann, WORDS);
    assert_eq!(turns(&referee, &game_match), 1);
}

#[test]
fn a_subject_of_ones_own_is_other_words() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let letter = referee.answer(ANN, &to_ann, "MARBLE G7");
    let own = letter.replacen("Subject: Re: [", "Subject: do not play this yet [", 1);
    assert_ne!(letter, own);
    referee.receive(&own);
    referee.one_to(ANN).says("I play them on");
    assert_eq!(turns(&referee, &game_match), 0);
}

#[test]
fn yes_plays_them_now_and_withdraw_takes_them_back() {
    let (referee, game_match, receipt, _) = filed(WORDS);
    referee.reply(ANN, &receipt, "YES");
    referee.one_to(ANN).says("What happened");
    assert_eq!(turns(&referee, &game_match), 1);

    let (referee, game_match, receipt, _) = filed(WORDS);
    referee.reply(ANN, &receipt, "WITHDRAW\nI have changed my mind.");
    referee.one_to(ANN).says("Your orders are taken back");
    referee.advance(30);
    assert_eq!(turns(&referee, &game_match), 0);
    assert!(referee.find(&game_match.id).awaited().contains(&fogpost::game::Seat::First));
}

#[test]
fn new_orders_begin_a_time_of_their_own() {
    let (referee, game_match, receipt, _) = filed(WORDS);
    referee.reply(ANN, &receipt, "MARBLE F6\n\nThe neighbours have a new dog.");
    referee.one_to(ANN).says("they replace those you sent before").says("I play them on");
    referee.reply(ANN, &receipt, "MARBLE E5");
    assert_eq!(turns(&referee, &game_match), 1);
}

#[test]
fn words_in_the_subject_and_the_signature_are_seen() {
    for (subject, body, words) in [
        ("please disregard this one", "MARBLE E5", "please disregard this one"),
        ("Re: [{}] Turn 1: your move - not final", "MARBLE E5", "not final"),
        ("Re: [{}] Turn 1: your move", "MARBLE E5\n\n-- \nIgnore this", "Ignore this"),
    ] {
        let referee = Referee::new();
        let (game_match, to_ann, _) = quad(&referee);
        let subject = subject.replace("{}", &game_match.id);
        referee.receive(&format!(
            "From: {ANN}\nTo: {}\nSubject: {subject}\nMessage-ID: <s1@players.example>\nIn-Reply-To: <{}>\n\n{body}\n",
            to_ann.reply_to, to_ann.message_id
        ));
        referee.one_to(ANN).says("Do you mean these orders?").says(words);
        assert_eq!(turns(&referee, &game_match), 0, "{subject}");
    }
}

#[test]
fn a_no_to_the_question_whether_they_are_meant_takes_them_back() {
    for words in ["stop", "No.", "Nein danke", "non, pas du tout", "не надо, нет", "いいえ"] {
        let (referee, game_match, receipt, _) = filed(WORDS);
        referee.reply(ANN, &receipt, words);
        referee.one_to(ANN).says("Your orders are taken back");
        referee.advance(24 * 6);
        assert_eq!(turns(&referee, &game_match), 0, "{words}");
    }
}

/// An answer of words alone: whatever they say, nothing is played before its writer was asked.
#[test]
fn an_answer_in_words_makes_them_wait_for_the_deadline() {
    for words in [
        "wait",
        "?",
        "Hmm, I am not sure about it any more.",
        "Das war ein Versehen.",
        "my cat walked over the keys",
    ] {
        let (referee, game_match, receipt, _) = filed(WORDS);
        referee.reply(ANN, &receipt, words);
        let asked = referee.one_to(ANN);
        asked.says("I have not played your orders").says("answer YES");
        referee.advance(30);
        assert_eq!(turns(&referee, &game_match), 0, "{words}");
        assert!(referee.sent_to(BO).is_empty());
        referee.advance(24 * 6 - 30);
        referee
            .sent_to(ANN)
            .iter()
            .find(|sent| sent.subject.contains("due"))
            .expect("a reminder")
            .says("Your orders wait");
        referee.reply(ANN, &asked, "YES");
        assert_eq!(turns(&referee, &game_match), 1, "{words}");
    }
}

#[test]
fn an_answer_in_words_during_grace_plays_nothing_before_its_end() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let deadline = game_match.deadline.expect("a deadline");
    referee.advance((deadline - referee.now()).num_hours() + 2);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, WORDS);
    let receipt = referee.one_to(ANN);
    referee.reply(ANN, &receipt, "wait");
    referee.advance(4);
    assert_eq!(turns(&referee, &game_match), 0);
    referee.advance(10);
    assert_eq!(turns(&referee, &game_match), 1);
}

#[test]
fn thanks_for_the_receipt_change_nothing() {
    let (referee, game_match, receipt, _) = filed(WORDS);
    referee.reply(ANN, &receipt, "Thanks!");
    referee.sent_to(ANN);
    referee.advance(2);
    assert_eq!(turns(&referee, &game_match), 1);
}

#[test]
fn thanks_and_a_few_words_wait_no_longer_than_other_words() {
    for words in
        ["Thanks, see you Thursday at bridge", "Merci, c'est noté.", "Lovely, thank you! Off to choir now."]
    {
        let (referee, game_match, receipt, _) = filed(WORDS);
        referee.reply(ANN, &receipt, words);
        referee.one_to(ANN).says("I play them on").keeps_silent_of("take them back. They wait");
        referee.advance(2);
        assert_eq!(turns(&referee, &game_match), 1, "{words}");
    }
    for words in
        ["Thanks, but my cat walked over the keys", "Thanks. Wrong point though.", "Thanks, is that my G7?"]
    {
        let (referee, game_match, receipt, _) = filed(WORDS);
        referee.reply(ANN, &receipt, words);
        referee.one_to(ANN).says("answer YES");
        referee.advance(30);
        assert_eq!(turns(&referee, &game_match), 0, "{words}");
    }
    // A question is no yes, and a reproach that doubts something neither.
    for words in ["Why?", "Why not G8? play it", "Is that so?"] {
        let (referee, game_match, receipt, _) = filed(WORDS);
        referee.reply(ANN, &receipt, words);
        assert_eq!(turns(&referee, &game_match), 0, "{words}");
    }
}

#[test]
fn a_sign_that_words_take_orders_back_delays_them_for_a_day() {
    let (referee, game_match, receipt, _) = filed(SIGN);
    receipt.says("I play them on");
    referee.advance(22);
    assert_eq!(turns(&referee, &game_match), 0);
    referee.advance(4);
    assert_eq!(turns(&referee, &game_match), 1);
}

#[test]
fn a_wait_never_outlasts_grace() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let deadline = game_match.deadline.expect("a deadline");
    // Half an hour before grace is over.
    let left = (deadline + game_match.terms.grace() - referee.now()).num_minutes() - 30;
    referee.advance(left / 60);
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, SIGN);
    referee.one_to(ANN).says("I play them on");
    referee.advance(2);
    let after = referee.find(&game_match.id);
    assert_eq!((after.adjudicated.len(), after.missed.first), (1, 0));
}

#[test]
fn whoever_completes_the_phase_meanwhile_reads_what_they_would_without() {
    let receipts = [true, false].map(|files| {
        let referee = Referee::new();
        let (game_match, to_ann, to_bo) = quadrant_z(&referee);
        if files {
            referee.reply(ANN, &to_ann, "HOLD\n\nThe trains were late again.");
            referee.one_to(ANN).says("I play them on");
        }
        referee.reply(BO, &to_bo, "HOLD");
        let receipt = referee.one_to(BO);
        assert_eq!(turns(&referee, &game_match), 1, "the setup alone");
        if files {
            referee.advance(1);
            assert_eq!(turns(&referee, &game_match), 2);
            referee.one_to(BO).says("What happened");
        }
        let lines: Vec<String> = receipt.text.lines().map(str::to_owned).collect();
        // Salts and heads differ between any two matches.
        let own = |line: &String| {
            !line.contains("Ledger")
                && !line.contains("token")
                && line.split_whitespace().all(|word| word.len() < 32)
        };
        lines.into_iter().filter(own).map(|line| line.replace(&game_match.id, "")).collect::<Vec<_>>()
    });
    assert_eq!(receipts[0], receipts[1]);
}

#[test]
fn a_pause_stops_their_time() {
    let (referee, game_match, _, _) = filed(WORDS);
    gm(&referee, &format!("GM MATCH {} PAUSE", game_match.id));
    referee.advance(4);
    assert_eq!(turns(&referee, &game_match), 0);
    gm(&referee, &format!("GM MATCH {} RESUME", game_match.id));
    assert_eq!(turns(&referee, &game_match), 0);
    referee.advance(2);
    assert_eq!(turns(&referee, &game_match), 1);
}

#[test]
fn a_condition_beside_other_words_is_followed_once_it_is_firm() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    referee.reply(BO, &to_bo, "IF G7 THEN F6\n\nWe are off to the lake.");
    referee.one_to(BO).says("They count from");
    referee.reply(ANN, &to_ann, "MARBLE G7");
    assert_eq!(turns(&referee, &game_match), 1, "Ann's move alone");
    referee.last_to(ANN).says("Turn 2 waits for Bo");
    referee.advance(1);
    assert_eq!(turns(&referee, &game_match), 2);
}

/// Commands that cannot be taken back are asked for alone; nothing is final against what a person wrote.
#[test]
fn a_final_command_beside_other_words_is_asked_for_alone() {
    for body in [
        "If Bo does not answer until Monday, then\nRESIGN CONFIRM",
        "RESIGN CONFIRM\nno wait, I want to play on",
        "RESIGN CONFIRM\n\nwas what my brother told me to write.",
        "Bo keeps asking me for a\nDRAW\nI keep saying no",
        "DRAW\n\nIt rains here.",
        "Protest as I may, my wife wants me to stop.",
    ] {
        let referee = Referee::new();
        let (game_match, to_ann, _) = quad(&referee);
        referee.reply(ANN, &to_ann, body);
        let after = referee.find(&game_match.id);
        assert_eq!((after.stage, after.draw_offer, after.protest), (Stage::Running, None, None), "{body}");
        assert!(referee.sent_to(BO).is_empty(), "{body}");
    }
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM\n\nThank you and congratulations!\nAnn");
    assert_eq!(referee.find(&game_match.id).stage, Stage::Over);
}

#[test]
fn a_yes_in_words_plays_them_now() {
    for yes in [
        "Yes, play it.",
        "Ja, genau, spielen Sie das.",
        "Да, играйте.",
        "はい、それでお願いします。",
        "Confermo.",
        "Ma certo, giocala pure.",
        "why the wait? just play it",
    ] {
        let (referee, game_match, receipt, _) = filed(WORDS);
        referee.reply(ANN, &receipt, yes);
        referee.one_to(ANN).says("Your orders stand, and are firm now").keeps_silent_of("they replace");
        assert_eq!(turns(&referee, &game_match), 1, "{yes}");
    }
}

#[test]
fn an_answer_that_asks_shows_the_orders_once() {
    let (referee, _, receipt, _) = filed(WORDS);
    referee.reply(ANN, &receipt, "Hmm, I am not sure about it any more.");
    let asked = referee.one_to(ANN);
    assert_eq!(asked.text.matches("| MARBLE G7").count(), 1, "{}", asked.text);
}

#[test]
fn a_letter_that_limits_itself_is_asked_about() {
    for words in [
        "The line above is from an old draft, the real move comes after dinner.",
        "Die Zeile oben ist noch vom Entwurf.",
        "Dit telt niet, mijn dochter zat aan de knoppen.",
    ] {
        let (referee, game_match, receipt, _) = filed(&format!("MARBLE G7\n\n{words}"));
        receipt.says("Do you mean these orders?").says("Without an answer I play them on");
        referee.advance(2);
        assert_eq!(turns(&referee, &game_match), 0, "{words}");
    }
}
