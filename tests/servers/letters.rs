//! A match managed by letters alone: challenge, play, extension, absence, protest, correction and draw.

use chrono::{DateTime, Days, Utc};
use serde_json::Value;

use crate::club::Club;
use crate::play::{Letter, Person, club_on};
use crate::servers::Servers;

/// The code that follows this word in a letter.
fn code(letter: &Letter, word: &str) -> String {
    let line = letter.text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
    line.expect("a code").trim().to_owned()
}

/// The only match of the club, as `match list --json` prints it.
fn the_match(club: &Club) -> Value {
    let listed = String::from_utf8(club.run(&["match", "list", "--json"]).stdout).expect("text");
    serde_json::from_str(&listed).expect("one match")
}

fn deadline(club: &Club) -> DateTime<Utc> {
    the_match(club)["deadline"].as_str().and_then(|text| text.parse().ok()).expect("a deadline")
}

#[test]
fn a_match_is_opened_extended_protested_corrected_and_drawn_by_letters() {
    let Some(servers) = Servers::start() else { return };
    let club = club_on(&servers, "tls");
    let [mut ann, mut bo, mut gm] = ["Ann", "Bo", "GM"].map(|name| Person::new(&servers, name));
    let _daemon = club.start();

    ann.writes("CHALLENGE bo@club.test Quad days=3 seat=first");
    let question = ann.reads("Was it you who wrote this?", &club);
    ann.answers(&question, &format!("CONFIRM {}", code(&question, "CONFIRM")));
    ann.reads("bo@club.test has been challenged", &club);
    let challenge = bo.reads("ann@club.test invites you to a match", &club);
    bo.answers(&challenge, &format!("ACCEPT {}", code(&challenge, "ACCEPT")));
    let mut to_ann = ann.reads("plays Quad with you", &club);
    bo.reads("plays Quad with you", &club);
    let id = the_match(&club)["match"].as_str().expect("a name").to_owned();

    // Two turns each; Bo uses a mail program.
    for (black, white) in [("E5", "A5"), ("E6", "B8")] {
        ann.answers(&to_ann, &format!("MARBLE {black}"));
        let to_bo = bo.reads("please send your orders", &club);
        bo.answers_by_program(&to_bo, &format!("MARBLE {white}"));
        to_ann = ann.reads("please send your orders", &club);
    }

    // Turn 5 is Ann's. She asks for more time, and Bo agrees.
    let before = deadline(&club);
    ann.answers(&to_ann, "EXTEND 3 days");
    ann.reads("bo has been asked for 3 more days", &club);
    let asked = bo.reads("asks for 3 more days", &club);
    bo.answers(&asked, "AGREE");
    let agreed = bo.reads("Agreed: the deadline has moved", &club);
    ann.reads("The deadline has moved by 3 days", &club);
    assert_eq!(deadline(&club), before + Days::new(3));

    // Ann is absent at the new deadline, so it moves to the day after her return.
    let day = |days| Utc::now().date_naive() + Days::new(days);
    let (from, to) = (day(4), day(20));
    ann.answers(&to_ann, &format!("ABSENT {from} TO {to}"));
    ann.reads("You are away from", &club);
    bo.reads(&format!("ann is away from {from} to {to}"), &club);
    assert_eq!(deadline(&club).date_naive(), to + Days::new(1));

    // Bo protests. The match is paused, and the GM corrects turn 4.
    bo.answers(&agreed, "PROTEST My letter of turn 4 said K4.\nEND");
    bo.reads("Your protest is before the GM", &club);
    ann.reads("nothing is adjudicated, until the GM has decided", &club);
    let protest = gm.reads("My letter of turn 4 said K4", &club);
    assert_eq!(the_match(&club)["stage"], "paused");
    gm.answers(&protest, &format!("GM MATCH {id} CORRECT 4 second It was misread.\nMARBLE K4\nEND\nGM LIST"));
    gm.reads("in turn 5: waits for ann", &club);
    let corrected = ann.reads("This is a correction by the GM", &club);
    bo.reads("> It was misread.", &club);
    // The name of the match is drawn at random and may contain the name of a point.
    let told = corrected.text.replace(&id, "");
    assert!(told.contains("K4") && !told.contains("B8"), "{told}");
    assert_eq!(the_match(&club)["stage"], "running");

    ann.answers(&corrected, "DRAW");
    ann.reads("Your offer of a draw stands", &club);
    let offered = bo.reads("ann offers a draw", &club);
    bo.answers_by_program(&offered, "Yes, gladly.\nDRAW");
    ann.reads("The match ends without a winner (draw agreed)", &club);
    bo.reads("The draw is agreed", &club);

    // Every letter was ruled on or answered, and the ledger verifies.
    let letters = String::from_utf8(club.run(&["letters", "--json"]).stdout).expect("text");
    let done = |line: &str| line.contains(r#""status":"ruled""#) || line.contains(r#""status":"answered""#);
    assert!(letters.lines().all(done), "{letters}");
    let verified = club.run(&["audit", "verify", &id]);
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stdout));
}
