//! A GM's day with sixty matches, in which people are late, protest and write. It can be done with the links in digests
//! alone, or with the screen alone.

use std::collections::BTreeSet;

use fogpost::game::any::GameKind;
use fogpost::referee::Match;

use crate::desk::{ANN, BO, Desk, GM};
use crate::links::{follow_with, links};
use crate::positions::kinds;
use crate::screen::{Answer, Browser, plain};

const MATCHES: usize = 60;

/// A club on the morning after the first deadlines. Somebody has protested, and somebody has written to the GM.
fn busy_day() -> (Desk, Vec<Match>) {
    let desk = Desk::new();
    let (mut matches, mut letters) = (Vec::new(), Vec::new());
    for n in 0..MATCHES {
        matches.push(desk.open(GameKind::ALL[n % GameKind::ALL.len()], &[]));
        letters.push((desk.one_to(ANN), desk.one_to(BO)));
    }
    desk.reply(ANN, &letters[9].0, "PROTEST My letter said something else.\nEND");
    desk.reply(BO, &letters[10].1, "I am in hospital since Monday, with a broken leg.");
    let due = matches.iter().filter_map(|opened| opened.deadline).max().expect("a deadline");
    desk.advance((due - desk.now()).num_hours() + 1);
    (desk, matches)
}

/// Asserts that the ledgers contain these decisions.
fn assert_decided(desk: &Desk, matches: &[Match], wanted: &[&str]) {
    let all: Vec<String> = matches.iter().flat_map(|opened| kinds(desk, opened)).collect();
    for kind in wanted {
        assert!(all.iter().any(|recorded| recorded == kind), "{kind} is not on the ledgers");
    }
    desk.work();
}

#[test]
fn a_gm_decides_on_everything_that_waits_from_the_desk_alone() {
    let (desk, matches) = busy_day();
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
        assert!(decided < 3 * MATCHES, "{page}");
        // Decide the first matter, every third time with its last button, so that the day is not all
        // extensions.
        let rest = page.split_once("<ul class=\"rows\">").expect("a list").1;
        let matter = rest.split_once("</li>").expect("a matter").0;
        let labels = matter.split("</button>").filter_map(|part| part.rsplit_once('>'));
        let labels: Vec<&str> =
            labels.map(|(_, label)| label).filter(|label| !label.trim().is_empty()).collect();
        let label = labels[if decided % 3 == 0 { labels.len() - 1 } else { 0 }];
        let matter = Answer { status: 200, headers: Default::default(), text: matter.to_owned() };
        let done = browser.press_surely(&matter, label, &[]);
        assert_eq!(done.is(303).to(), "/", "{label}");
        browser.get("/").says("Done. The match now");
    }
    assert!(decided > MATCHES / 2, "{decided}");
    assert_decided(&desk, &matches, &["DeadlineExtended", "GmNoted", "MatchResumed"]);
}

/// Follows the first link of each match in the GM's digests, and the links for writing to its players, until no digest
/// has a new match. Returns the matches.
fn follow_digests(desk: &Desk, matches: &[Match]) -> BTreeSet<String> {
    let mut decided: BTreeSet<String> = BTreeSet::new();
    loop {
        desk.reply(GM, &desk.all_to(GM).pop().expect("a letter with the GM's token"), "GM DIGEST");
        let digest = desk.last_to(GM);
        let before = decided.clone();
        for (label, target) in links(&digest) {
            let id = matches.iter().map(|opened| &opened.id).find(|id| target.contains(*id));
            let id = id.unwrap_or_else(|| panic!("{label} is about no match: {target}"));
            let writes = label.starts_with("Write");
            if before.contains(id) || !decided.insert(id.clone()) && !writes {
                continue;
            }
            follow_with(desk, GM, &target, if writes { "Please wait." } else { "" });
            desk.one_to(GM).says("Done.").says(id);
        }
        if decided == before {
            return decided;
        }
    }
}

#[test]
fn a_gm_decides_on_everything_that_waits_by_the_links_of_digests_alone() {
    let (desk, matches) = busy_day();
    let mut decided = follow_digests(&desk, &matches);
    // A digest asks for decisions about late players once the grace is over.
    desk.advance(14 * 24);
    decided.extend(follow_digests(&desk, &matches));
    assert_eq!(decided.len(), MATCHES);
    Browser::of_gm(&desk).get("/").says("Nothing waits for you.");
    assert_decided(&desk, &matches, &["DeadlineExtended", "GmTold", "MatchResumed"]);
}
