//! Lines about events that are refused.

use super::{CY, DI, EVE, LEAGUE, announced, book, club, gm};
use crate::referee::{ANN, BO};

#[test]
fn an_unknown_event_is_answered_with_the_nearest_names() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN]);
    referee.write(BO, "ENTER EV-SPRIGN");
    referee.last_to(BO).says("There is no event EV-SPRIGN. Did you mean EV-SPRING?");
    referee.write(BO, "STANDINGS EV-XYZZY");
    referee.last_to(BO).says("There is no event EV-XYZZY. To see them all, send EVENTS.");
    gm(&referee, "GM EVENT EV-SPRIGN CLOSE").says("There is no event EV-SPRIGN. Nearest: EV-SPRING.");
}

#[test]
fn whoever_enters_twice_reads_what_stands() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN]);
    referee.write(ANN, "ENTER EV-SPRING");
    referee.last_to(ANN).says("You are in EV-SPRING already; it begins on").says("Nothing has changed.");
    referee.write(BO, "LEAVE EV-SPRING CONFIRM");
    referee.last_to(BO).says("You are not in EV-SPRING");
    referee.write(BO, "ENTER");
    referee.last_to(BO).says("ENTER needs the name of an event.");
}

#[test]
fn conditions_are_told_with_what_is_missing() {
    let referee = club("");
    let plan = format!("{LEAGUE}\nrating = \"1600..\"\nmax_entrants = 2");
    gm(&referee, &format!("GM EVENT NEW\n{plan}\nEND")).says("With 2 entrants: 2 matches at once");
    referee.write(ANN, "ENTER EV-SPRING");
    referee.last_to(ANN).says("EV-SPRING is for ratings of 1600 or more, and yours is 1500.");
    // The GM overrides conditions, and a reason is needed.
    gm(&referee, "GM EVENT EV-SPRING ENTER Ann").says("A reason is missing");
    gm(&referee, "GM EVENT EV-SPRING ENTER Ann She is strong.\nGM EVENT EV-SPRING ENTER Bo So is he.")
        .says("2 of 2 in");
    referee.write(CY, "ENTER EV-SPRING");
    referee.last_to(CY).says("EV-SPRING is full: it takes 2.");
    gm(&referee, "GM EVENT EV-SPRING STRIKE Zorro why").says("Nobody is called Zorro.");
}

#[test]
fn a_name_that_two_players_have_is_answered_with_their_numbers() {
    let referee = club("");
    gm(&referee, "GM PLAYER ADD ann.too@players.example Ann");
    announced(&referee, LEAGUE, &[ANN]);
    let entries = book(&referee, "EV-SPRING").len();
    let several = "Several players fit Ann: Ann (P-1), Ann (P-6).";
    gm(&referee, "GM EVENT EV-SPRING STRIKE Ann the second Ann asked me").says(several);
    gm(&referee, "GM EVENT EV-SPRING REPLACE ann Bo She asked me.").says("Several players fit ann:");
    gm(&referee, "GM EVENT EV-SPRING ENTER Ann She asked me.").says(several);
    assert_eq!(book(&referee, "EV-SPRING").len(), entries);
    gm(&referee, "GM EVENT EV-SPRING STRIKE P-6 She asked me.").says("Ann is not in.");
    gm(&referee, "GM EVENT EV-SPRING STRIKE P-1 She asked me.").says("Done. The event now:");
}

#[test]
fn whoever_left_can_enter_again_by_the_gm_alone_so_that_no_book_grows_without_end() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN]);
    referee.write(ANN, "LEAVE EV-SPRING CONFIRM");
    let entries = book(&referee, "EV-SPRING").len();
    referee.write(ANN, "ENTER EV-SPRING");
    referee.last_to(ANN).says("You have left EV-SPRING, so only the GM can let you in again");
    assert_eq!(book(&referee, "EV-SPRING").len(), entries);
    gm(&referee, "GM EVENT EV-SPRING ENTER Ann She has changed her mind.");
    assert_eq!(book(&referee, "EV-SPRING").len(), entries + 1);
}

#[test]
fn a_check_refuses_what_the_act_would_and_writes_nothing() {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN]);
    let entries = book(&referee, "EV-SPRING").len();
    gm(&referee, "CHECK\nGM EVENT EV-SPRING OPEN").says("1 have entered, and");
    gm(&referee, "CHECK\nGM EVENT EV-SPRING CLOSE")
        .says("This would be done")
        .says("The event would then be");
    assert_eq!(book(&referee, "EV-SPRING").len(), entries);
}

#[test]
fn a_limit_of_matches_is_checked_when_somebody_enters() {
    let referee = club("");
    announced(&referee, LEAGUE, &[]);
    // SETTINGS needs a token, so open a match: its letters have one.
    referee.write(EVE, "CHALLENGE house quad level=easy first=me");
    let letters = referee.sent_to(EVE);
    let board =
        letters.iter().find(|sent| sent.text.contains("Reply token: ")).expect("a letter with a token");
    referee.reply(EVE, board, "SETTINGS limit=5");
    referee.write(EVE, "ENTER EV-SPRING");
    referee.last_to(EVE).says("You want at most 5 matches at a time, and EV-SPRING may bring 6.");
}

#[test]
fn a_faulty_plan_opens_nothing() {
    let referee = club("");
    let told = gm(
        &referee,
        "GM EVENT NEW\nid = \"EV-X\"\nname = \"X\"\ngame = \"quad\"\nformat = \"leage\"\nopens = 2026-06-01\nEND",
    );
    told.says("The plan cannot stand, and nothing was announced").says("Line 4: `format` is `leage`");
    referee.write(DI, "EVENTS");
    referee.last_to(DI).says("There are no events now.");
    gm(&referee, "GM EVENT NEW").says("EVENT NEW needs the lines of a plan below it.");
    gm(&referee, "GM EVENT EV-X DANCE").says("GM EVENT takes OPEN, CLOSE");
}

#[test]
fn a_cup_that_has_begun_takes_nobody_and_a_stranger_waits_for_our_question() {
    let referee = club("");
    let cup = LEAGUE.replace("league", "cup");
    announced(&referee, &cup, &[ANN, BO, CY]);
    referee.write("zed@players.example", "ENTER EV-SPRING");
    referee.last_to("zed@players.example").says("Was it you who wrote this?");
    referee.advance(4 * 24);
    referee.write(DI, "ENTER EV-SPRING");
    referee.last_to(DI).says("EV-SPRING takes no entries any more: it has begun.");
}
