//! Absences: one line counts in all matches of its player.

use fogpost::daemon::instruct;
use fogpost::daemon::{Holder, NamedAddress, NewMatch};
use fogpost::game::any::GameKind;
use fogpost::game::{BySeat, Seat};
use fogpost::letter::Address;
use fogpost::referee::Match;

use crate::positions::quad;
use crate::referee::{ANN, BO, GM, Referee, Sent};

const CY: &str = "cy@players.example";
const ABSENT: &str = "ABSENT 2026-06-01 TO 2026-06-05";

/// Ann's matches: two against Bo, and one against Cy. Also returns her invitation to the first.
fn three_matches(referee: &Referee) -> ([Match; 3], Sent) {
    let seated = |name: &str, address: &str| NamedAddress {
        name: name.to_owned(),
        address: Address::parse(address).expect("an address"),
    };
    let open = |name: &str, address: &str| {
        let new = NewMatch {
            game: GameKind::Quad,
            choices: GameKind::Quad.choose(None).expect("options of the game"),
            players: BySeat::new(seated("Ann", ANN), seated(name, address)).map(Holder::Player),
            terms: referee.office().config.terms.clone(),
        };
        let game_match = referee.block_on(instruct::open(referee.office(), new)).expect("the match opens");
        referee.work();
        (game_match, referee.one_to(ANN))
    };
    let (first, invitation) = open("Bo", BO);
    let matches = [first, open("Bo", BO).0, open("Cy", CY).0];
    for address in [BO, CY] {
        referee.sent_to(address);
    }
    (matches, invitation)
}

/// Returns the number of Ann's absences in each match.
fn noted(referee: &Referee, matches: &[Match; 3]) -> [usize; 3] {
    matches.each_ref().map(|game_match| referee.find(&game_match.id).absences[Seat::First].len())
}

#[test]
fn one_absence_counts_in_all_matches_and_each_opponent_gets_one_letter() {
    let referee = Referee::new();
    let (matches, invitation) = three_matches(&referee);
    let [first, second, third] = matches.each_ref().map(|game_match| game_match.id.clone());
    referee.reply(ANN, &invitation, ABSENT);
    assert_eq!(noted(&referee, &matches), [1, 1, 1]);
    referee
        .one_to(ANN)
        .says("You are away from 2026-06-01 to 2026-06-05")
        .says("counts in your other matches too")
        .says(&second)
        .says(&third);
    referee.one_to(BO).says("Ann is away from 2026-06-01").says(&first).says(&second).keeps_silent_of(&third);
    referee
        .one_to(CY)
        .says("Ann is away from 2026-06-01")
        .says(&third)
        .keeps_silent_of(&first)
        .keeps_silent_of(&second);
    // Repeating it changes nothing, and nobody else hears of it.
    referee.reply(ANN, &invitation, &format!("{ABSENT}\nSTATUS"));
    assert_eq!(noted(&referee, &matches), [1, 1, 1]);
    assert!(referee.sent_to(CY).is_empty());
    referee.advance(24);
    let mut digests = referee.sent_to(GM).into_iter();
    let digest = digests.rfind(|sent| sent.subject.starts_with("The day at")).expect("a digest");
    digest.says("Absences announced: 1").says("Ann, Mon 1 Jun to Fri 5 Jun, in");
    for game_match in &matches {
        assert!(referee.verify(&game_match.id).is_sound());
    }
}

#[test]
fn an_absence_that_answers_the_result_of_a_match_counts_in_the_others_and_all_ledgers_verify() {
    let referee = Referee::new();
    let (matches, invitation) = three_matches(&referee);
    referee.reply(ANN, &invitation, "RESIGN CONFIRM");
    referee.reply(ANN, &referee.last_to(ANN), ABSENT);
    assert_eq!(noted(&referee, &matches), [0, 1, 1]);
    referee
        .one_to(ANN)
        .says("This match is over. Your absence from 2026-06-01 to 2026-06-05 concerns your other matches.")
        .says("counts in your other matches too")
        .says(&matches[1].id)
        .says(&matches[2].id)
        .keeps_silent_of("no longer has any effect");
    referee.advance(30);
    for game_match in &matches {
        let verdict = referee.verify(&game_match.id);
        assert!(verdict.is_sound(), "{verdict:#?}");
    }
}

#[test]
fn an_absence_after_the_end_of_the_only_match_has_no_effect() {
    let referee = Referee::new();
    let (_, to_ann, _) = quad(&referee);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    referee.reply(ANN, &referee.last_to(ANN), ABSENT);
    referee.last_to(ANN).says("no longer has any effect").keeps_silent_of("other matches");
}

#[test]
fn an_absence_that_its_own_match_refuses_counts_nowhere() {
    let referee = Referee::with("absence_days = 10\n");
    let (matches, invitation) = three_matches(&referee);
    referee.reply(ANN, &invitation, "ABSENT 2026-07-01 TO 2026-07-20");
    assert_eq!(noted(&referee, &matches), [0, 0, 0]);
    referee.one_to(ANN).says("cannot be noted").keeps_silent_of("other matches");
}

#[test]
fn a_letter_that_resigns_and_announces_an_absence_is_answered_without_a_contradiction() {
    let referee = Referee::new();
    let (matches, invitation) = three_matches(&referee);
    referee.reply(ANN, &invitation, &format!("RESIGN CONFIRM\n{ABSENT}"));
    assert_eq!(noted(&referee, &matches), [0, 1, 1]);
    let answers = referee.sent_to(ANN);
    let answer =
        answers.iter().find(|sent| sent.text.contains("counts in your other matches")).expect("an answer");
    answer.says("This match is over").keeps_silent_of("no longer has any effect");
}

#[test]
fn an_absence_below_a_match_line_counts_in_that_match_alone() {
    let referee = Referee::new();
    let (matches, invitation) = three_matches(&referee);
    referee.reply(ANN, &invitation, &format!("MATCH {}\n{ABSENT}", matches[2].id));
    assert_eq!(noted(&referee, &matches), [0, 0, 1]);
    referee.sent_to(ANN);
    referee.one_to(CY).says("Ann is away from 2026-06-01");
    referee.reply(ANN, &invitation, &format!("MATCH {}\n{ABSENT}", matches[0].id));
    assert_eq!(noted(&referee, &matches), [1, 0, 1]);
    referee.one_to(BO).says("Ann is away").keeps_silent_of(&matches[1].id);
}

#[test]
fn an_absence_too_long_for_one_match_still_counts_in_the_others() {
    let referee = Referee::with("absence_days = 10\n");
    let (matches, invitation) = three_matches(&referee);
    referee.reply(ANN, &invitation, &format!("MATCH {}\nABSENT 2026-07-01 TO 2026-07-10", matches[2].id));
    assert_eq!(noted(&referee, &matches), [0, 0, 1]);
    referee.sent_to(ANN);
    referee.sent_to(CY);
    referee.reply(ANN, &invitation, ABSENT);
    assert_eq!(noted(&referee, &matches), [1, 1, 1]);
    referee
        .one_to(ANN)
        .says(&format!("It does not count in {}", matches[2].id))
        .says("too few days of absence");
    assert!(referee.sent_to(CY).is_empty());
}

#[test]
fn a_checked_absence_counts_nowhere() {
    let referee = Referee::new();
    let (matches, invitation) = three_matches(&referee);
    referee.reply(ANN, &invitation, &format!("CHECK\n{ABSENT}"));
    assert_eq!(noted(&referee, &matches), [0, 0, 0]);
    referee.one_to(ANN).keeps_silent_of("counts in your other matches");
}
