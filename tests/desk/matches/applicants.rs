//! Newcomers in a club whose GM admits them: they stand in the digest and on the screen until they are admitted or
//! declined, and are told which.

use fogpost::store::LetterStatus;

use crate::referee::{GM, Referee, Sent};
use crate::screen::Browser;

const EVE: &str = "eve@elsewhere.example";
const FLO: &str = "flo@elsewhere.example";

fn club() -> Referee {
    let referee = Referee::with_club("membership = \"approval\"\n");
    referee.answer_for(EVE);
    referee.answer_for(FLO);
    referee
}

fn digest(referee: &Referee) -> Sent {
    referee.sent_to(GM);
    referee.advance(24);
    referee.last_to(GM)
}

#[test]
fn applicants_stand_in_each_digest_until_the_gm_decides_and_are_told() {
    let referee = club();
    referee.write(&format!("Eve Evans <{EVE}>"), "OPEN Quad");
    referee.one_to(EVE).says("has been told of you").says("You will get a letter about it");
    let told = referee.one_to(GM);
    told.says(&format!("Eve ({EVE}) wants to play here")).says("> OPEN Quad");
    told.says(&format!("| GM PLAYER ADD {EVE}")).says(&format!("| GM PLAYER DECLINE {EVE}"));
    // The next one is told of, too; what one wrote is told once.
    referee.write(FLO, "CHALLENGE house quad");
    referee.one_to(GM).says(&format!("({FLO}) wants to play here"));
    referee.write(EVE, "CHALLENGE house quad");
    referee.write(EVE, "CHALLENGE house quad");
    assert!(referee.sent_to(GM).is_empty());
    for _ in 0..2 {
        let digest = digest(&referee);
        digest.says("Waiting to be admitted: 2");
        digest.says(&format!("- Eve, {EVE}: OPEN Quad; CHALLENGE house quad"));
        digest.says("Decide with GM PLAYER ADD or GM PLAYER DECLINE and the address.");
        let links = digest.html.matches("PLAYER%20DECLINE").count();
        assert_eq!(links, 2, "{}", digest.html);
    }
    let last = referee.all_to(GM).pop().expect("a digest");
    referee.sent_to(EVE);
    referee.reply(GM, &last, &format!("CHECK\nGM PLAYER DECLINE {FLO}"));
    referee.one_to(GM).says("This would be done");
    referee.reply(
        GM,
        &last,
        &format!("GM PLAYER ADD {EVE}\nGM PLAYER DECLINE {FLO} We are full.\nGM PLAYER DECLINE {FLO}"),
    );
    referee
        .one_to(GM)
        .says("Eve (P-")
        .says(&format!("): {EVE}"))
        .says("is not admitted, and is told so")
        .says("waits to be admitted");
    referee.one_to(EVE).says("as Eve.").says("| OPEN Quad").says("| CHALLENGE house quad");
    let declined = referee.last_to(FLO);
    declined.says("decided not to admit you").says("> We are full.").says(GM);
    referee.write(EVE, "OPEN Quad");
    referee.last_to(EVE).says("The seat is open to anyone");
    assert_eq!(referee.last_status(), LetterStatus::Answered);
    digest(&referee).keeps_silent_of("Waiting to be admitted");
}

#[test]
fn applicants_are_found_admitted_and_declined_on_the_screen() {
    let referee = club();
    referee.write(&format!("\"Eve <i>\" <{EVE}>"), "OPEN Quad");
    referee.write(FLO, "OPEN quantum");
    let browser = Browser::of_gm(&referee);
    let desk = browser.get("/");
    desk.is(200).says("Two things wait for you").says(EVE).says("OPEN quantum");
    browser.get("/find?q=elsewhere").is(200).says("who waits to be admitted");
    browser.press(&desk, "Admit", &[]).is(303);
    let desk = browser.get("/");
    desk.says("One thing waits for you").says(FLO);
    browser.press(&desk, "Decline", &[]).is(303);
    browser.get("/").says("is not admitted, and is told so").says("Nothing waits for you.");
    referee.work();
    referee.last_to(EVE).says("The GM has admitted you");
    referee.last_to(FLO).says("decided not to admit you");
}
