//! Extending every late deadline with one line.

use fogpost::game::any::GameKind;

use crate::referee::{ANN, GM, Referee};
use crate::screen::Browser;

#[test]
fn one_line_extends_all_late_matches_or_those_of_a_game_once() {
    let referee = Referee::new();
    let quads = [(); 2].map(|()| referee.open(GameKind::Quad, &[]));
    let quantum = referee.open(GameKind::Quantum, &[]);
    let deadline = |id: &str| referee.find(id).deadline.expect("a deadline");
    referee.advance(7 * 24 + 11);
    assert!(deadline(&quads[0].id) < referee.now(), "late, and within the grace");
    referee.write(GM, "GM LIST late");
    let to_gm = referee.last_to(GM);
    let ask = |line: &str| {
        referee.reply(GM, &to_gm, line);
        referee.last_to(GM)
    };
    ask("GM LATE EXTEND 3 days EV-SPRING").says("No match of EV-SPRING is late.");
    ask("GM LATE EXTEND").says("LATE needs EXTEND and a number of days.");
    ask("CHECK\nGM LATE EXTEND 3 days quad").says("Would move by 3 days: ");
    assert!(deadline(&quads[0].id) < referee.now());
    referee.sent_to(ANN);
    let told = ask("GM LATE EXTEND 3 days quad");
    for one in &quads {
        told.says(&one.id);
    }
    told.keeps_silent_of(&quantum.id);
    assert!(deadline(&quads[0].id) > referee.now() && deadline(&quantum.id) < referee.now());
    let told = referee.sent_to(ANN);
    assert_eq!(told.iter().filter(|sent| sent.subject.contains("the deadline has moved")).count(), 2);
    let once = deadline(&quads[1].id);
    ask("GM LATE EXTEND 3 days").says(&quantum.id).keeps_silent_of(&quads[0].id);
    ask("GM LATE EXTEND 3 days").says("No match is late.");
    ask(&format!("GM LATE EXTEND 3 days {} TURN 1", quads[1].id)).says("is not late.");
    assert_eq!(deadline(&quads[1].id), once);
}

#[test]
fn the_digest_and_the_screen_extend_all_late_matches_with_one_tap() {
    let referee = Referee::with("grace_hours = 48\n");
    let matches = [(); 2].map(|()| referee.open(GameKind::Quad, &[]));
    for _ in 0..8 {
        referee.advance(24);
    }
    let digests = referee.all_to(GM);
    let linked = digests.iter().find(|sent| sent.html.contains("LATE%20EXTEND%203%20days"));
    assert!(linked.is_some(), "{digests:#?}");
    let browser = Browser::of_gm(&referee);
    let desk = browser.get("/");
    desk.says("Two things wait for you");
    browser.press(&desk, "Extend all late by 3 days", &[]).is(303);
    browser.get("/").says("The deadline moved by 3 days").says("Nothing waits for you.");
    for one in matches {
        assert!(referee.find(&one.id).deadline.expect("a deadline") > referee.now());
    }
    referee.work();
}
