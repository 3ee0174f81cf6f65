//! A GM's day from the screen alone, with matches in which people are late, protest and write.

use fogpost::game::any::GameKind;

use super::{Browser, plain};
use crate::desk::{ANN, BO, Desk};
use crate::positions::kinds;

#[test]
fn a_gm_decides_on_everything_that_waits_from_the_desk_alone() {
    let desk = Desk::new();
    let mut matches = Vec::new();
    for n in 0..12 {
        let opened = desk.open(GameKind::ALL[n % GameKind::ALL.len()], &[]);
        matches.push((opened, desk.one_to(ANN), desk.one_to(BO)));
    }
    // In the last three, somebody protests, writes to the GM, or has filed.
    desk.reply(ANN, &matches[9].1, "PROTEST My letter said something else.\nEND");
    desk.reply(BO, &matches[10].2, "I am in hospital since Monday, with a broken leg.");
    let due = matches.iter().filter_map(|(opened, ..)| opened.deadline).max().expect("a deadline");
    desk.advance((due - desk.now()).num_hours() + 1);
    let browser = Browser::of_gm(&desk);
    let first = browser.get("/");
    first.says("Oldest first.").says("wrote to you about").says("protests in").says("If you do nothing:");
    assert!(!first.text.contains("hospital"), "the desk quotes no letter");
    let mut decided = 0;
    loop {
        let page = browser.get("/").is(200).text.clone();
        if plain(&page).contains("Nothing waits for you.") {
            break;
        }
        decided += 1;
        assert!(decided < 60, "{page}");
        let answer = super::Answer { status: 200, headers: Default::default(), text: page };
        // The first matter, by the second of its buttons every third time: the day is not all extensions.
        let rest = answer.text.split_once("<ul class=\"rows\">").expect("a list").1;
        let matter = rest.split_once("</li>").expect("a matter").0;
        let labels: Vec<&str> = matter
            .split("</button>")
            .filter_map(|part| part.rsplit_once('>').map(|(_, label)| label))
            .collect();
        let labels: Vec<&str> = labels.into_iter().filter(|label| !label.trim().is_empty()).collect();
        let label = labels[if decided % 3 == 0 { labels.len() - 1 } else { 0 }];
        let matter = super::Answer { status: 200, headers: Default::default(), text: matter.to_owned() };
        let done = browser.press_surely(&matter, label, &[]);
        assert_eq!(done.is(303).to(), "/", "{label}");
        browser.get("/").says("Done. The match now");
    }
    assert!(decided >= 7, "{decided}");
    let all: Vec<String> = matches.iter().flat_map(|(opened, ..)| kinds(&desk, opened)).collect();
    for kind in ["DeadlineExtended", "GmNoted", "MatchResumed"] {
        assert!(all.iter().any(|recorded| recorded == kind), "{kind} is not in {all:?}");
    }
    desk.work();
}
