//! A GM's day with sixty matches, in which people are late, protest and write. It can be done with the links in digests
//! alone, or with the screen alone.

use std::collections::BTreeSet;

use fogpost::game::any::GameKind;
use fogpost::referee::Match;

use crate::links::{follow_with, links};
use crate::positions::kinds;
use crate::referee::{ANN, BO, GM, Referee};
use crate::screen::{Answer, Browser, plain};

const MATCHES: usize = 60;

/// A club on the morning after the first deadlines. Somebody has protested, and somebody has written to the GM.
fn busy_day() -> (Referee, Vec<Match>) {
    let referee = Referee::new();
    let (mut matches, mut letters) = (Vec::new(), Vec::new());
    for n in 0..MATCHES {
        matches.push(referee.open(GameKind::ALL[n % GameKind::ALL.len()], &[]));
        letters.push((referee.one_to(ANN), referee.one_to(BO)));
    }
    referee.reply(ANN, &letters[9].0, "PROTEST My letter said something else.\nEND");
    referee.reply(BO, &letters[10].1, "I am in hospital since Monday, with a broken leg.");
    let due = matches.iter().filter_map(|opened| opened.deadline).max().expect("a deadline");
    referee.advance((due - referee.now()).num_hours() + 1);
    (referee, matches)
}

/// Asserts that the ledgers contain these decisions.
fn assert_decided(referee: &Referee, matches: &[Match], wanted: &[&str]) {
    let all: Vec<String> = matches.iter().flat_map(|opened| kinds(referee, opened)).collect();
    for kind in wanted {
        assert!(all.iter().any(|recorded| recorded == kind), "{kind} is not on the ledgers");
    }
    referee.work();
}

#[test]
fn a_gm_decides_on_everything_that_waits_from_the_desk_alone() {
    let (referee, matches) = busy_day();
    let browser = Browser::of_gm(&referee);
    let first = browser.get("/");
    first.says("Oldest first.").says("wrote to you about").says("protests in").says("If you do nothing:");
    assert!(!first.text.contains("hospital"), "the referee quotes no letter");
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
    assert_decided(&referee, &matches, &["DeadlineExtended", "GmNoted", "MatchResumed"]);
}

/// Follows the first link of each match in the GM's digests, and the links for writing to its players, until no digest
/// has a new match. Returns the matches.
fn follow_digests(referee: &Referee, matches: &[Match]) -> BTreeSet<String> {
    let mut decided: BTreeSet<String> = BTreeSet::new();
    loop {
        referee.reply(GM, &referee.all_to(GM).pop().expect("a letter with the GM's token"), "GM DIGEST");
        let digest = referee.last_to(GM);
        let before = decided.clone();
        for (label, target) in links(&digest) {
            if label.starts_with("Extend all") {
                continue;
            }
            let id = matches.iter().map(|opened| &opened.id).find(|id| target.contains(*id));
            let id = id.unwrap_or_else(|| panic!("{label} is about no match: {target}"));
            let writes = label.starts_with("Write");
            if before.contains(id) || !decided.insert(id.clone()) && !writes {
                continue;
            }
            follow_with(referee, GM, &target, if writes { "Please wait." } else { "" });
            referee.one_to(GM).says("Done.").says(id);
        }
        if decided == before {
            return decided;
        }
    }
}

#[test]
fn a_gm_decides_on_everything_that_waits_by_the_links_of_digests_alone() {
    let (referee, matches) = busy_day();
    let mut decided = follow_digests(&referee, &matches);
    // A digest asks for decisions about late players once the grace is over.
    referee.advance(14 * 24);
    decided.extend(follow_digests(&referee, &matches));
    assert_eq!(decided.len(), MATCHES);
    Browser::of_gm(&referee).get("/").says("Nothing waits for you.");
    assert_decided(&referee, &matches, &["DeadlineExtended", "GmTold", "MatchResumed"]);
}
