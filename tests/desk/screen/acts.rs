//! Acts from the screen: each is recorded in the ledger as if it came by letter, a stale form does nothing, and
//! irreversible acts must be confirmed.

use fogpost::game::any::GameKind;
use fogpost::referee::{Match, Stage};

use super::Browser;
use crate::events::{self, CY, LEAGUE};
use crate::positions::{kinds, quad};
use crate::referee::{ANN, BO, GM, Referee};

/// Removes the numbers of lines, which differ between a letter and a form.
fn without_numbers(value: &mut serde_json::Value) {
    if let Some(fields) = value.as_object_mut() {
        fields.remove("no");
        fields.values_mut().for_each(without_numbers);
    }
    value.as_array_mut().into_iter().flatten().for_each(without_numbers);
}

/// The causes and facts of a match, without random values.
fn ledger(referee: &Referee, game_match: &Match) -> Vec<String> {
    let rows = referee.block_on(referee.office().store.entries(&game_match.id)).expect("the store answers");
    let mut facts = Vec::new();
    for row in rows.iter().skip(1) {
        let entry: serde_json::Value = serde_json::from_str(&row.json).expect("an entry");
        let mut body = entry["body"].clone();
        if let Some(body) = body.as_object_mut() {
            for drawn in ["sealed", "state", "pins", "key"] {
                body.remove(drawn);
            }
        }
        let mut cause = entry["cause"]["gm"].clone();
        without_numbers(&mut cause);
        facts.push(format!("{} {body} {cause}", entry["kind"]));
    }
    facts
}

/// An act in both ways: the line in a letter, and the button with the fields to fill in.
type WrittenAct = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

const ACTS: [WrittenAct; 14] = [
    ("EXTEND 5", "Extend", &[("word", "5")]),
    ("PAUSE The ferry is late.", "Pause", &[("word", "The ferry is late.")]),
    ("RESUME", "Resume", &[]),
    ("NOTE Both wrote late.", "Record", &[("word", "Both wrote late.")]),
    (
        "TELL first\nPlease write.\nSoon.\nEND",
        "Send",
        &[("word", "first"), ("below", "Please write.\r\nSoon.")],
    ),
    ("TERMS days=5 grace=24", "Change", &[("word", "days=5 grace=24")]),
    ("ACT first\nMARBLE E5\nEND", "File", &[("word", "first"), ("below", "MARBLE E5")]),
    ("ACT second\nMARBLE C3\nEND", "File", &[("word", "second"), ("below", "MARBLE C3")]),
    ("TOKEN second", "Renew", &[("word", "second")]),
    (
        "REPLACE second cy@players.example excused",
        "Replace",
        &[("word", "second"), ("word", "cy@players.example"), ("word", "excused")],
    ),
    (
        "CORRECT 1 first It was misread.\nMARBLE E6\nEND",
        "Show what would follow",
        &[("word", "1"), ("word", "first"), ("word", "It was misread."), ("below", "MARBLE E6")],
    ),
    ("ROLLBACK 1 It came in time.", "Show what would follow", &[("word", "1"), ("word", "It came in time.")]),
    ("FORFEIT second", "Show what would follow", &[("word", "second")]),
    (
        "ANNUL One person held both seats.",
        "Show what would follow",
        &[("word", "One person held both seats.")],
    ),
];

#[test]
fn each_act_arrives_in_the_ledger_as_by_letter() {
    let (by_letter, by_screen) = (Referee::new(), Referee::new());
    let (first, second) = (by_letter.open(GameKind::Quad, &[]), by_screen.open(GameKind::Quad, &[]));
    by_letter.write(GM, "GM LIST");
    by_screen.write(GM, "GM LIST");
    let browser = Browser::of_gm(&by_screen);
    for (line, label, filled) in ACTS {
        let to_gm = by_letter.all_to(GM).pop().expect("a letter with the GM's token");
        by_letter.reply(GM, &to_gm, &format!("GM MATCH {} {line}", first.id));
        let page = browser.get(&format!("/match/{}", second.id));
        let verb = line.split([' ', '\n']).next().expect("a verb");
        let at = page.text.rfind(&format!("value=\"MATCH {} {verb}\"", second.id)).unwrap_or(0);
        // Several forms share a label; the one of this verb is meant.
        let from = page.text[..at].rfind("<form ").unwrap_or(0);
        let one = super::Answer { text: page.text[from..].to_owned(), headers: page.headers.clone(), ..page };
        let done = browser.press_surely(&one, label, filled);
        assert_eq!(done.is(303).to(), format!("/match/{}", second.id), "{line}");
        browser.get(done.to()).is(200).says("Done. The match now");
        by_screen.work();
        assert_eq!(ledger(&by_letter, &first), ledger(&by_screen, &second), "{line}");
    }
    assert_eq!(by_screen.find(&second.id).stage, Stage::Over);
    by_letter.sleep(1);
}

#[test]
fn a_stale_form_says_so_and_nothing_is_written() {
    let referee = Referee::new();
    let (game_match, to_ann, _) = quad(&referee);
    let browser = Browser::of_gm(&referee);
    let path = format!("/match/{}", game_match.id);
    let page = browser.get(&path);
    browser.press(&page, "Extend 3 days", &[]).is(303);
    let before = kinds(&referee, &game_match);
    browser.press(&page, "Extend 3 days", &[]).is(409).says("It was carried out the first time");
    browser.press(&page, "Pause", &[("word", "late")]).is(409).says("The form is out of date");
    // A form that asks for confirmation goes out of date, too.
    let page = browser.get(&path);
    let line = format!("MATCH {} FORFEIT second", game_match.id);
    let (token, guard) = (super::attribute_of(&page.text, "form"), super::attribute_of(&page.text, "guard"));
    let asked = browser.post("/act", &[("form", &token), ("guard", &guard), ("do", &line)]);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    browser.press(&asked, "Let Bo lose", &[]).is(409).says("The form is out of date");
    let page = browser.get(&path);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    browser.press(&page, "Change", &[("word", "days=5")]).is(409);
    let after = kinds(&referee, &game_match);
    let by_gm = |kinds: &[String]| {
        kinds.iter().filter(|kind| *kind == "DeadlineExtended" || *kind == "GmTold").count()
    };
    assert_eq!(by_gm(&before), by_gm(&after));
}

#[test]
fn the_same_act_chosen_again_on_a_new_page_counts_again() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    let browser = Browser::of_gm(&referee);
    let path = format!("/match/{}", game_match.id);
    for times in 1..=2 {
        let page = browser.get(&path);
        browser.press(&page, "Record", &[("word", "Read.")]).is(303);
        browser.press(&page, "Record", &[("word", "Read.")]).is(409);
        let noted = kinds(&referee, &game_match).iter().filter(|kind| *kind == "GmNoted").count();
        assert_eq!(noted, times);
    }
}

#[test]
fn what_was_typed_is_shown_again_ready_to_be_sent() {
    let referee = Referee::new();
    let (game_match, to_ann, to_bo) = quad(&referee);
    let browser = Browser::of_gm(&referee);
    let path = format!("/match/{}", game_match.id);
    let page = browser.get(&path);
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "MARBLE C3");
    // What a GM writes does not depend on the turn, and goes out once.
    let text = [("word", "both"), ("below", "Well?")];
    browser.press(&page, "Send", &text).is(303);
    browser.press(&page, "Send", &text).is(409).says("It was carried out the first time");
    let terms = [("word", "days=5 grace=24")];
    let stale = browser.press(&page, "Change", &terms);
    stale.is(409).says("The form is out of date").says("What you typed");
    assert!(stale.text.contains("value=\"days=5 grace=24\""), "{}", stale.text);
    let done = browser.press(&stale, "Send it again", &terms);
    assert_eq!(done.is(303).to(), path);
    // The login has ended: the text is shown, and after a new login it can be sent from there.
    let page = browser.get(&path);
    let sent = std::mem::take(&mut *browser.cookie.borrow_mut());
    let text = [("word", "second"), ("below", "A <b>long</b> answer\r\nto you")];
    let shown = browser.press(&page, "Send", &text);
    shown
        .is(403)
        .says("You are not logged in")
        .says("Log in on another tab")
        .says("A <b>long</b> answer to you");
    assert!(!sent.is_empty());
    let again = Browser::of_gm(&referee);
    let shown = again.press(&shown, "Send it again", &text);
    shown.is(403).says("from a page of an earlier login").says("A <b>long</b> answer to you");
    again.press(&shown, "Send it again", &text).is(303);
    referee.work();
    referee.last_to(BO).says("A <b>long</b> answer");
}

#[test]
fn a_faulty_form_is_explained_with_an_example() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    let browser = Browser::of_gm(&referee);
    let before = kinds(&referee, &game_match);
    let page = browser.get(&format!("/match/{}", game_match.id));
    browser.press(&page, "Extend", &[("word", "400")]).is(400).says("EXTEND needs a number of days");
    browser.press(&page, "Change", &[("word", "days=many")]).is(400).says("For example:");
    browser
        .press(&page, "File", &[("word", "first"), ("below", "MARBLE Z9")])
        .is(409)
        .says("the orders cannot stand");
    let text = [("word", "first"), ("below", "Hello\r\nEND\r\nGM MATCH X ABANDON")];
    browser.press(&page, "Send", &text).is(303);
    referee.work();
    referee.last_to(ANN).says("GM MATCH X ABANDON");
    assert_eq!(kinds(&referee, &game_match).len(), before.len() + 1, "lines of a text are no instructions");
}

#[test]
fn what_cannot_be_undone_is_shown_first() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    let browser = Browser::of_gm(&referee);
    let before = kinds(&referee, &game_match);
    let page = browser.get(&format!("/match/{}", game_match.id));
    let id = &game_match.id;
    let (form, guard) = (&browser, super::attribute_of(&page.text, "guard"));
    let token = super::attribute_of(&page.text, "form");
    let ask = |act: &str| {
        let line = format!("MATCH {id} {act}");
        form.post("/act", &[("form", &token), ("guard", &guard), ("back", "/"), ("do", &line)])
    };
    ask("FORFEIT first").is(200).says("Ann loses the match, and Bo wins.").says("Leave it as it is");
    ask("ABANDON").is(200).says("ends without a winner");
    ask("ANNUL why").is(200).says("“why”");
    ask("ROLLBACK 1 why").is(409).says("turn 1 was not adjudicated");
    assert_eq!(kinds(&referee, &game_match), before);
    assert_eq!(ask("//evil").status, 400);
    let back = form.post(
        "/act",
        &[
            ("form", &token),
            ("guard", &guard),
            ("back", "//evil.example"),
            ("do", &format!("MATCH {id} NOTE x")),
        ],
    );
    assert_eq!(back.is(303).to(), "/");
}

#[test]
fn a_person_has_the_running_matches_first_and_then_those_that_ended_last() {
    let referee = Referee::new();
    let open = || {
        let game_match = referee.open(GameKind::Quad, &[]);
        (game_match.id, referee.one_to(ANN))
    };
    let mut opened = [open(), open(), open()];
    opened.sort_by(|one, other| one.0.cmp(&other.0));
    for (_, to_ann) in &opened[..2] {
        referee.reply(ANN, to_ann, "RESIGN CONFIRM");
        referee.advance(1);
    }
    let page = Browser::of_gm(&referee).get("/person/P-1").text.clone();
    let places: Vec<_> = opened.iter().map(|(id, _)| page.find(&format!("/match/{id}"))).collect();
    assert!(places[2].is_some() && places[2] < places[1] && places[1] < places[0], "{places:?}");
}

#[test]
fn every_match_person_and_event_is_in_a_list_and_new_ones_are_made_there() {
    let referee = Referee::new();
    let browser = Browser::of_gm(&referee);
    browser.get("/matches").says("There is no match yet");
    let page = browser.get("/people");
    browser.press(&page, "Add", &[("word", "dee@players.example"), ("word", "Dee Dow")]).is(303);
    let page = browser.get("/matches");
    let seats = [("word", "quad"), ("word", ANN), ("word", "dee@players.example"), ("word", "days=5")];
    browser.press(&page, "Open the match", &seats).is(303);
    browser.press(&page, "Open the match", &seats).is(409).says("It was carried out the first time");
    let other = referee.open(GameKind::Quantum, &[]);
    let page = browser.get("/matches?q=dow");
    page.says("ann – Dee Dow");
    assert!(!page.text.contains(&other.id), "{}", page.text);
    browser.get("/matches?q=quantum+running").says(&other.id);
    browser.get("/matches?q=late").says("No match fits");
    browser.get("/people?q=p-1").says("P-1");
    browser.get("/people?q=nobody").says("Nobody fits");
    // The example is a plan that stands as it is; one that does not is shown again.
    let page = browser.get("/events");
    let plan = unescaped_plan(&page.text);
    let faulty = browser.press(&page, "Announce it", &[("below", "id = \"EV-A\"")]);
    faulty.is(409).says("`name` is missing").says("What you typed");
    browser.press(&page, "Announce it", &[("below", &plan)]).is(303);
    browser.get("/events?q=spring").says("EV-SPRING");
    assert_eq!(browser.get("/find?q=sprin").is(303).to(), "/event/EV-SPRING");
    assert_eq!(
        browser.get(&format!("/find?q={}", &other.id[3..])).is(303).to(),
        format!("/match/{}", other.id)
    );
    let page = browser.get("/people");
    let text = [("word", "quad"), ("below", "We move.")];
    browser.press(&page, "Send to all of them", &text).is(303);
    browser.press(&page, "Send to all of them", &text).is(409);
    referee.work();
    let told = referee.all_to("dee@players.example");
    assert_eq!(told.iter().filter(|sent| sent.text.contains("We move.")).count(), 1);
    referee.last_to(BO).keeps_silent_of("We move.");
}

#[test]
fn people_are_named_on_forms_as_everywhere() {
    let referee = events::club("");
    let browser = Browser::of_gm(&referee);
    let open = |first: &str, second: &str| {
        let page = browser.get("/matches");
        let seats = [("word", "quad"), ("who", first), ("who", second), ("word", "days=5")];
        browser.press(&page, "Open the match", &seats)
    };
    open("Ann", "P-2").is(303);
    open("cy", "house:easy").is(303);
    open("Zoe", "Bo").is(400).says("Nobody is called Zoe").says("What you typed");
    open("  ", "Bo").is(400).says("Name a person");
    browser.get("/matches").says("Ann – Bo").says("Cy – the house (easy)");
    let listed = browser.get("/matches?q=ann").text;
    let found = listed.split_once("href=\"/match/").and_then(|(_, rest)| rest.split('"').next());
    let found = found.expect("a match").to_owned();
    let page = browser.get(&format!("/match/{found}"));
    browser.press(&page, "Replace", &[("word", "second"), ("who", "Di")]).is(303);
    assert_eq!(referee.find(&found).players.second, "Di");
    // Where a person's letters go is changed on their page.
    let page = browser.get("/person/P-1");
    browser.press(&page, "Write there", &[("word", "ann@new.example")]).is(303);
    let page = browser.get("/person/P-1");
    page.says("ann@new.example Remove").says(&format!("{ANN} Remove"));
    browser.press(&page, "Remove", &[]).is(303);
    assert!(!browser.get("/person/P-1").text.contains(">Remove<"));
    referee.work();
}

/// The example of a plan on a page.
fn unescaped_plan(html: &str) -> String {
    let plan = html.split("<textarea id=\"plan\"").nth(1).and_then(|rest| rest.split_once('>'));
    super::unescaped(plan.and_then(|(_, rest)| rest.split("</textarea>").next()).expect("a plan"))
}

#[test]
fn people_and_events_have_pages_with_acts() {
    let referee = events::club("");
    events::announced(&referee, LEAGUE, &[ANN, BO, CY]);
    let browser = Browser::of_gm(&referee);
    browser.get("/").says("Spring League").says("entries");
    let page = browser.get("/event/EV-SPRING");
    page.says("Spring League").says("Cy");
    browser.press(&page, "Record", &[("word", "Cy may be late.")]).is(303);
    browser.press(&page, "Record", &[("word", "again")]).is(409).says("What you typed");
    // What cannot be undone is shown first.
    let page = browser.get("/event/EV-SPRING");
    let asked = browser.press(&page, "Take out", &[("word", "Cy asked for it")]);
    asked.is(200).says("A player is taken out: “Cy asked for it”").says("Leave it as it is");
    browser
        .press(&page, "Cancel the event", &[("word", "No time")])
        .is(200)
        .says("ends for good")
        .says("“No time”");
    browser.press(&page, "Take no more entries", &[]).is(200).says("one season follows, of those who are in");
    let asked = browser.press(&page, "Begin the season now", &[]);
    asked.is(200).says("A season begins now: 3 players are in");
    assert!(events::event(&referee, "EV-SPRING").seasons.is_empty());
    assert_eq!(browser.press(&asked, "Begin the season", &[]).is(303).to(), "/event/EV-SPRING");
    referee.advance(24 * 4);
    let browser = Browser::of_gm(&referee);
    let page = browser.get("/event/ev-spring");
    page.says("Section 1").says("turn 1");
    let matches = events::matches(&referee, "EV-SPRING");
    assert!(
        matches.len() >= 3 && matches.iter().all(|found| page.text.contains(&format!("/match/{}", found.id)))
    );
    let filled = [("word", matches[0].id.as_str()), ("word", "draw"), ("word", "Both agreed.")];
    browser.press(&page, "Enter", &filled).is(409);
    let match_page = browser.get(&format!("/match/{}", matches[0].id));
    match_page.says("in EV-SPRING");
    let found = browser.get("/find?q=cy%40players");
    let person = browser.get(found.is(303).to());
    person.says("Cy").says("cy@players.example").says("Letters of the last 30 days").says("None to show.");
    browser.press(&person, "Rename", &[("word", "Cy the Great")]).is(303);
    browser.get(found.to()).says("Cy the Great");
    let person = browser.get(found.to());
    browser.press(&person, "Let letters go unread", &[]).is(303);
    browser.get(found.to()).says("go unread since");
    browser.get("/find?q=nobody").is(200).says("Nothing is called");
    browser.get("/find?q=players.example").is(200).says("Found for").says("Ann (ann@players.example)");
    assert_eq!(
        browser.get(&format!("/find?q={}", matches[0].id.to_lowercase())).to(),
        format!("/match/{}", matches[0].id)
    );
    for nowhere in ["/match/QD-ZZZZ", "/person/P-99", "/person/x", "/event/EV-X", "/match", "/a/b/c"] {
        browser.get(nowhere).is(404);
    }
    referee.work();
}
