//! Letters that anyone may send: for the manual, the rules and the list of games, and offers with their
//! faults.

use fogpost::game::any::GameKind;

use crate::referee::{ANN, BO, REFEREE, Referee, Sent};

const EVE: &str = "eve@elsewhere.example";

/// The code that follows this word in a letter.
fn code(sent: &Sent, word: &str) -> String {
    let line = sent.text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
    line.unwrap_or_else(|| panic!("no {word} in:\n{}", sent.text)).to_owned()
}

#[test]
fn the_readme_contains_the_manual_that_help_sends() {
    let referee = Referee::new();
    referee.write(EVE, "HELP");
    let sent = referee.one_to(EVE);
    let begin = sent.text.find("Answer any of my letters").expect("the manual");
    // The rest is for people who have no match yet.
    let end = sent.text.find("\nTo play at once").expect("how to begin");
    let readme = include_str!("../../../README.md");
    assert!(readme.contains(sent.text[begin..end].trim_end()), "{}", &sent.text[begin..end]);
}

#[test]
fn rules_sends_the_rules_of_every_game_with_their_rulings() {
    let referee = Referee::new();
    for kind in GameKind::ALL {
        referee.write(EVE, &format!("RULES {}", kind.name()));
        let rules = referee.one_to(EVE);
        assert!(rules.text.to_lowercase().contains(&kind.name().to_lowercase()), "{}", rules.text);
        assert!(rules.text.len() > 1500, "{}", rules.text);
        assert!(rules.text.lines().all(|line| line.chars().count() < 70), "{}", rules.text);
    }
    referee.write(EVE, "RULES");
    referee.one_to(EVE).says("Which game's rules?").says("| RULES pacific");
    referee.write(EVE, "RULES chess");
    referee.one_to(EVE).says("There is no game called chess here. Which game's rules?");
    // A letter about a match need not name the game.
    referee.open(GameKind::Quantum, &[]);
    referee.reply(ANN, &referee.one_to(ANN), "RULES");
    referee.one_to(ANN).says("QUANTUM").says("A game of stacks");
}

#[test]
fn the_manual_tells_the_clubs_defaults_for_matches_against_the_house() {
    for (level, in_pacific, advance, other) in
        [("expert", "average", "on", "off"), ("trainer", "trainer", "off", "on")]
    {
        let is_on = advance == "on";
        let referee = Referee::with(&format!("[house]\nlevel = \"{level}\"\nadvance = {is_on}\n"));
        let defaults = format!("In this club advance is {advance}, unless you write advance={other}.");
        for (asked, plays_at) in [
            ("Hello", level),
            ("HELP", level),
            ("HELP challenge", level),
            ("RULES quad", level),
            ("RULES pacific", in_pacific),
        ] {
            referee.write(EVE, asked);
            let answer = referee.one_to(EVE);
            answer.says(&defaults).says(&format!("The house plays at the level `{plays_at}`"));
            answer.says("With advance=on, if you win, your next match is against the next level");
        }
        referee.write(EVE, "GAMES");
        referee.one_to(EVE).says(&format!("(CHALLENGE house pacific level=…, by default {in_pacific})"));
    }
    let referee = Referee::with("[house]\nlevel = \"expert\"\n");
    referee.write(EVE, "HELP challenge");
    referee.one_to(EVE).says("or at its strongest in a game without this level, unless you name another");
}

#[test]
fn games_lists_the_games_with_their_options() {
    let referee = Referee::new();
    referee.write(EVE, "GAMES");
    let games = referee.one_to(EVE);
    for kind in GameKind::ALL {
        games.says(kind.name());
        for rule in kind.option_rules() {
            games.says(&format!("Option {}", rule.name));
        }
    }
}

#[test]
fn a_faulty_offer_is_refused_with_the_reason_and_nobody_else_gets_a_letter() {
    let referee = Referee::new();
    let refusals = [
        (format!("CHALLENGE {BO} Chess"), "There is no game called Chess here"),
        (format!("CHALLENGE {BO} Quad size=9"), "size"),
        (format!("CHALLENGE {BO} Quad swap=maybe"), "swap"),
        (format!("CHALLENGE {BO} Quad seat=third"), "it takes first or second"),
        (format!("CHALLENGE {BO} Quad days=0"), "give the days of a turn once"),
        (format!("CHALLENGE {BO} Quad days=366"), "A turn can take 1 to 365 days"),
        (format!("CHALLENGE {ANN} Quad"), "An opponent must be somebody else"),
        (format!("CHALLENGE {REFEREE} Quad"), "An opponent must be somebody else"),
        (
            "CHALLENGE Bo Quad".to_owned(),
            "Nobody of that name takes challenges from strangers; OPEN finds anyone.",
        ),
        (format!("CHALLENGE {BO}"), "The line lacks the name of a game"),
        ("OPEN Chess".to_owned(), "There is no game called Chess here"),
        ("JOIN 7K3M9P".to_owned(), "No offer with the code 7K3M9P is open to you"),
        ("ACCEPT".to_owned(), "ACCEPT needs the code in the letter that invited you"),
    ];
    for (asked, says) in refusals {
        referee.write(ANN, &asked);
        referee.one_to(ANN).says(says);
    }
    assert!(referee.sent_to(BO).is_empty());
    assert!(referee.sent_to(REFEREE).is_empty());
}

#[test]
fn a_code_works_once() {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.write(ANN, &format!("CHALLENGE {BO} Quad"));
    let code = code(&referee.one_to(BO), "ACCEPT");
    // The challenger cannot accept for the opponent, and a stranger cannot join.
    referee.write(ANN, &format!("ACCEPT {code}"));
    referee.last_to(ANN).says("No offer with the code");
    referee.write(BO, &format!("ACCEPT {code}"));
    referee
        .sent_to(BO)
        .iter()
        .find(|sent| sent.subject.starts_with("Re:"))
        .expect("an answer")
        .says("begins");
    for word in ["ACCEPT", "DECLINE", "JOIN"] {
        referee.write(BO, &format!("{word} {code}"));
        referee.one_to(BO).says("It may have been accepted or declined, it may have lapsed");
    }
    assert_eq!(referee.block_on(referee.office().store.match_ids()).expect("the store answers").len(), 1);
}

#[test]
fn an_offer_is_made_once_and_a_player_has_at_most_ten() {
    let referee = Referee::new();
    // A newcomer could not challenge so many.
    referee.open(GameKind::Quad, &[]);
    referee.sent_to(ANN);
    referee.answer_for(ANN);
    referee.write(ANN, "OPEN Quad");
    let first = code(&referee.one_to(ANN), "JOIN");
    referee.write(ANN, "OPEN Quad days=3");
    referee.one_to(ANN).says("You have offered the same already").says(&first);
    for n in 0..9 {
        // An address gets twenty answers an hour, and a question is one.
        referee.sleep(1);
        referee.write(ANN, &format!("CHALLENGE p{n}@players.example Quad"));
        referee.one_to(ANN).says("has been challenged");
    }
    referee.write(ANN, "CHALLENGE one-more@players.example Quad");
    referee.one_to(ANN).says("You have 10 open offers, which is the limit");
    referee.write(ANN, &format!("DECLINE {first}\nCHALLENGE one-more@players.example Quad"));
    referee.one_to(ANN).says("no longer stands").says("one-more@players.example has been challenged");
}

#[test]
fn an_open_seat_lapses_and_its_player_is_told() {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.write(ANN, "OPEN Quad");
    let code = code(&referee.one_to(ANN), "JOIN");
    referee.sleep(14 * 24 + 1);
    referee.work();
    referee.one_to(ANN).says("Nobody has taken up the open seat").says(&code).says("You can offer it again");
    referee.write(EVE, &format!("JOIN {code}"));
    referee.one_to(EVE).says("No offer with the code");
    referee.write(EVE, "GAMES");
    referee.one_to(EVE).keeps_silent_of("JOIN");
}

#[test]
fn a_faulty_line_is_quoted_by_number_with_an_example() {
    let referee = Referee::new();
    referee.write(EVE, "Hello,\nCHALLENGE bo\nSTATUS 4");
    let answer = referee.one_to(EVE);
    answer
        .says("Line 2: CHALLENGE needs a player, by name, number or mail address, and a game. For example: CHALLENGE bo@example.org");
    answer.says("Line 3: STATUS stands alone on its line").says("> Hello,");
}

#[test]
fn the_rules_show_the_figures_of_the_sources_and_name_their_authors() {
    let referee = Referee::new();
    let rules = |topic: &str| {
        referee.write(EVE, &format!("RULES {topic}"));
        referee.one_to(EVE)
    };
    let shows_figure = |sent: &Sent, alt: &str| {
        assert_eq!(sent.pictures, 1, "{}", sent.html);
        let shown = sent.html.replace('\n', " ");
        assert!(shown.contains("src=\"cid:board\"") && shown.contains(&format!("alt=\"{alt}")), "{shown}");
    };
    let quadrant_z = rules("quadrant-z");
    quadrant_z.says("Derek Hohls").says("Figure 1").says("    | F | G | H | I | J |");
    shows_figure(&quadrant_z, "Figure 1: quadrants A to E in the top row");
    let pacific = rules("pacific");
    shows_figure(&pacific, "ASW K7: the area is K7, L7, K8 and L8");
    pacific.says("Billy R.").says("     8  .   ?   o   o   ?   .");
    let ring = pacific.text.lines().filter(|line| line.starts_with("         ") || line.starts_with("     "));
    assert_eq!(ring.map(|line| line.matches('?').count()).sum::<usize>(), 12, "{}", pacific.text);
    rules("quad").says("G. Keith Still");
    rules("quad strategy").says("Greg Babineau").says("Michael Mefford");
    referee.write(EVE, "RULES pacific\nRULES quadrant-z");
    let both = referee.one_to(EVE);
    shows_figure(&both, "ASW K7");
    assert!(both.html.contains("| F | G | H | I | J |"), "a letter carries one picture: {}", both.html);
}
