//! The commands that letters to the GM suggest: each can be carried out, and affects the player whom the
//! letter means.

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::Match;

use crate::positions::{pacific, quad, quadrant_z};
use crate::referee::{ANN, BO, GM, Referee, Sent};

/// The instructions in a letter to the GM, without their bars.
fn suggested(letter: &Sent) -> Vec<String> {
    let lines = letter.text.lines().filter_map(|line| line.trim().strip_prefix("| "));
    lines.filter(|line| line.starts_with("GM ")).map(str::to_owned).collect()
}

/// Checks each instruction that a letter suggests, with these orders below one that takes some.
#[track_caller]
fn follow_all(referee: &Referee, letter: &Sent, orders: &str) -> Vec<String> {
    let lines = suggested(letter);
    assert!(!lines.is_empty(), "nothing is suggested:\n{}", letter.text);
    for line in &lines {
        let below = if line.contains(" CORRECT ") { format!("\n{orders}\nEND") } else { String::new() };
        referee.sent_to(GM);
        referee.reply(GM, letter, &format!("CHECK\n{line}{below}"));
        let answer = referee.one_to(GM);
        assert!(answer.text.contains("This would be done"), "{line}:\n{}", answer.text);
    }
    lines
}

/// Sends a letter of the GM with the GM's token, and returns the answer.
fn ask(referee: &Referee, lines: &str) -> Sent {
    referee.write(GM, "GM LIST");
    let sent = referee.last_to(GM);
    referee.reply(GM, &sent, lines);
    referee.one_to(GM)
}

#[test]
fn a_gms_words_are_offered_as_lines_in_several_languages() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    let id = &game_match.id;
    for (text, line) in [
        ("Please give Bo five more days in", "EXTEND 5 days"),
        ("Bitte gib Bo fünf Tage mehr in", "EXTEND 5 days"),
        ("Dale a Bo cinco días más en", "EXTEND 5 days"),
        ("Ge Bo fem dagar till i", "EXTEND 5 days"),
        ("Bo är på sjukhus, pausa", "PAUSE"),
        ("Proszę wstrzymać", "PAUSE"),
        ("Avsluta", "ABANDON"),
    ] {
        let answer = ask(&referee, &format!("{text} {id}"));
        answer.says("nothing was done").says(&format!("GM MATCH {id} {line}"));
    }
}

/// Moves the clock until the GM is asked to decide about late seats, and returns that letter.
#[track_caller]
fn wait_for_question(referee: &Referee) -> Sent {
    for _ in 0..60 {
        referee.advance(24);
        let asked = referee.sent_to(GM).into_iter().find(|sent| sent.subject.contains("your decision"));
        if let Some(asked) = asked {
            return asked;
        }
    }
    panic!("the GM was not asked");
}

fn names(game_match: &Match, verb: &str, seat: Seat) -> String {
    format!("GM MATCH {} {verb} {seat}", game_match.id)
}

#[test]
fn blocking_a_player_names_the_seat_that_they_hold_in_each_match() {
    for (address, held) in [(ANN, Seat::First), (BO, Seat::Second)] {
        let referee = Referee::new();
        let (one, ..) = quad(&referee);
        let (two, ..) = quad(&referee);
        let answer = ask(&referee, &format!("GM PLAYER BLOCK {address}"));
        for game_match in [&one, &two] {
            answer.says(&names(game_match, "FORFEIT", held)).says(&names(game_match, "REPLACE", held));
            answer.keeps_silent_of(&names(game_match, "FORFEIT", held.other()));
        }
        assert_eq!(follow_all(&referee, &answer, "").len(), 4);
    }
}

#[test]
fn a_seat_that_the_same_letter_gave_away_is_not_named() {
    let referee = Referee::new();
    let (one, ..) = quad(&referee);
    let (two, ..) = quad(&referee);
    let lines = format!("GM MATCH {} REPLACE second cy@players.example\nGM PLAYER BLOCK {BO}", one.id);
    let answer = ask(&referee, &lines);
    let suggested = suggested(&answer);
    assert!(suggested.iter().all(|line| line.contains(&two.id)), "{suggested:?}");
    assert_eq!(suggested.len(), 2);
}

#[test]
fn what_the_gm_can_do_about_a_late_side_depends_on_the_game() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    referee.sent_to(GM);
    let asked = wait_for_question(&referee);
    asked.keeps_silent_of("ADJUDICATE").says(&names(&game_match, "FORFEIT", Seat::First));
    follow_all(&referee, &asked, "");
    let referee = Referee::new();
    let (game_match, ..) = quadrant_z(&referee);
    let asked = wait_for_question(&referee);
    asked.says("ADJUDICATE").says(&names(&game_match, "REPLACE", Seat::Second));
    follow_all(&referee, &asked, "");
}

#[test]
fn after_a_protest_a_turn_of_the_protesting_side_can_be_corrected() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &referee.last_to(BO), "MARBLE A5");
    referee.reply(ANN, &referee.last_to(ANN), "MARBLE E6");
    referee.sent_to(GM);
    referee.reply(BO, &referee.last_to(BO), "PROTEST I meant B8.");
    let asked = referee.one_to(GM);
    asked.says("ROLLBACK 3").says("CORRECT 2 second");
    follow_all(&referee, &asked, "MARBLE B8");
}

#[test]
fn after_a_protest_nothing_is_suggested_that_the_match_no_longer_allows() {
    for (game, orders) in [(GameKind::Quad, "MARBLE E5"), (GameKind::Pacific, ""), (GameKind::QuadrantZ, "")]
    {
        let referee = Referee::new();
        let (_, to_ann, _) = match game {
            GameKind::Pacific => pacific(&referee),
            GameKind::QuadrantZ => quadrant_z(&referee),
            GameKind::Quad | GameKind::Quantum => quad(&referee),
        };
        if game == GameKind::Quad {
            referee.reply(ANN, &to_ann, orders);
        }
        referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
        referee.sent_to(GM);
        referee.reply(ANN, &referee.last_to(ANN), "PROTEST My brother wrote that.");
        let asked = referee.one_to(GM);
        let lines = follow_all(&referee, &asked, orders);
        let corrects = lines.iter().any(|line| line.contains("ROLLBACK"));
        assert_eq!(corrects, game == GameKind::Quad, "{lines:?}");
    }
}

#[test]
fn a_gm_who_plays_is_not_told_to_do_what_only_another_may() {
    let referee = Referee::with_gms("[[club.gm]]\nname = \"Bo\"\naddress = \"bo@players.example\"\n");
    let (_, to_ann, _) = quad(&referee);
    for text in ["PROTEST It is not fair.", "SUBSTITUTE", "TELL GM Is all well?"] {
        referee.sent_to(BO);
        referee.reply(ANN, &to_ann, text);
        let to_gm = referee.sent_to(BO);
        let to_gm =
            to_gm.iter().rfind(|sent| sent.text.contains("This is about")).expect("a letter to the GM");
        for line in suggested(to_gm) {
            referee.sent_to(BO);
            referee.reply(BO, to_gm, &format!("CHECK\n{line}"));
            referee.one_to(BO).says("This would be done");
        }
    }
}

#[test]
fn words_a_wish_for_a_substitute_and_a_newcomer_are_answered_as_suggested() {
    let referee = Referee::with_club("membership = \"approval\"\n");
    let (_, to_ann, _) = quad(&referee);
    for text in ["TELL GM Is all well?", "SUBSTITUTE"] {
        referee.sent_to(GM);
        referee.reply(ANN, &to_ann, text);
        let letter = referee.one_to(GM);
        follow_all(&referee, &letter, "");
    }
}

#[test]
fn words_for_all_players_are_offered_as_an_announcement() {
    let referee = Referee::new();
    quad(&referee);
    for (text, line) in [
        ("Tell everybody that the server moves on Sunday.", "The server moves on Sunday."),
        ("Sag bitte allen Spielern, dass am Sonntag der Server umzieht.", "Am Sonntag der Server umzieht."),
        ("Dites à tous que le club ferme en août.", "Le club ferme en août."),
        ("Diles a todos que el club cierra en agosto.", "El club cierra en agosto."),
    ] {
        ask(&referee, text).says(&format!("| GM ANNOUNCE all\n    | {line}\n    | END"));
    }
}

#[test]
fn more_time_for_everybody_is_offered_for_each_match() {
    let referee = Referee::new();
    let (one, ..) = quad(&referee);
    let (other, ..) = quadrant_z(&referee);
    referee.sent_to(GM);
    let answer = ask(&referee, "Please give everybody three more days, half the country is offline.");
    for id in [&one.id, &other.id] {
        answer.says(&format!("| GM MATCH {id} EXTEND 3 days"));
    }
    ask(&referee, "Send me a list of the games that are running please.").says(&one.id).says(&other.id);
}

#[test]
fn a_new_address_of_a_known_player_makes_no_second_person() {
    let referee = Referee::new();
    quad(&referee);
    for text in [
        "Bo rang: he lost his mailbox, please use bo.b@elsewhere.example from now on",
        "Bo hat eine neue Adresse, nämlich bo.b@elsewhere.example",
        "Bo m'a appelé. Sa nouvelle adresse est bo.b@elsewhere.example",
    ] {
        let answer = ask(&referee, text);
        answer.says("| GM PLAYER ADDRESS Bo TO bo.b@elsewhere.example").keeps_silent_of("PLAYER ADD ");
    }
    ask(&referee, "Add Carl Moss carl@elsewhere.example").says("| GM PLAYER ADD carl@elsewhere.example");
}

#[test]
fn a_deputy_is_set_in_the_config() {
    let referee = Referee::new();
    quad(&referee);
    for text in [
        "I'm away next week, my sister stands in for me: sis@gmhouse.example",
        "Meine Frau vertritt mich nächste Woche, frau@gmhouse.example",
        "Mon fils me remplace la semaine prochaine : fils@gmhouse.example",
    ] {
        ask(&referee, text).says("config.toml").says("| [[club.gm]]").keeps_silent_of("PLAYER ADD");
    }
}

#[test]
fn words_in_answer_to_a_letter_about_a_match_are_about_that_match() {
    let referee = Referee::new();
    let (other, ..) = quad(&referee);
    let (game_match, to_ann, _) = quadrant_z(&referee);
    referee.sent_to(GM);
    referee.reply(ANN, &to_ann, "PROTEST The board is wrong.\nEND");
    let protest = referee.last_to(GM);
    for text in [
        "Let it go on then.",
        "Na gut, weiterspielen.",
        "Bon, qu'ils continuent.",
        "There is nothing wrong with it. Protest turned down, tell them both.",
    ] {
        referee.reply(GM, &protest, text);
        let answer = referee.one_to(GM);
        answer.says(&format!("| GM MATCH {} RESUME", game_match.id)).keeps_silent_of(&other.id);
    }
    referee.reply(GM, &protest, "She is right, go back to before the last move.");
    referee.one_to(GM).says(&format!("GM MATCH {}", game_match.id)).keeps_silent_of(&other.id);
}

#[test]
fn a_new_letter_in_a_gms_words_is_told_how_to_answer() {
    let referee = Referee::new();
    quad(&referee);
    referee.sent_to(GM);
    for text in ["A man called Rolf wants to play: rolf@new.example", "Bitte rolf@new.example aufnehmen."] {
        referee.write(GM, text);
        let answer = referee.one_to(GM);
        answer.says("write in an answer to this letter").says("| GM PLAYER ADD rolf@new.example");
        answer.keeps_silent_of("CHALLENGE house");
    }
}
