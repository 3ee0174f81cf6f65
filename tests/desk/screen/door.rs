//! Access to the screen: links, cookies, hosts, origins, and the size of requests.

use axum::http::header;

use super::{Browser, HOST, button, forms};
use crate::positions::{kinds, quad};
use crate::referee::Referee;

const WRONG: &str = "00112233445566778899aabbccddeeff";

#[test]
fn a_link_logs_in_once_and_within_five_minutes() {
    let referee = Referee::new();
    let gm = referee.office().config.club.gm.first().clone();
    let browser = Browser::new(&referee);
    browser.get("/").is(403).says("You are not logged in");
    let token = browser.link(&gm);
    let page = browser.get(&format!("/login?token={token}"));
    assert_eq!(forms(&page.text).len(), 1);
    browser.get(&format!("/login?token={token}"));
    let done = browser.press(&page, "Open the desk", &[]);
    assert_eq!((done.is(303).to(), done.text.as_str()), ("/", ""));
    let cookie = done.headers[header::SET_COOKIE].to_str().expect("text");
    for part in ["HttpOnly", "SameSite=Strict", "Max-Age=43200", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    browser.get("/").is(200).says("Nothing waits for you.");
    let other = Browser { sessions: browser.sessions.clone(), ..Browser::new(&referee) };
    other.post("/login", &[("token", &token)]).is(403).says("It was used before");
    assert!(other.cookie.borrow().is_empty());
    let late = browser.link(&gm);
    referee.advance(1);
    other.post("/login", &[("token", &late)]).is(403);
    // A newer link voids the one before it.
    let (older, newer) = (browser.link(&gm), browser.link(&gm));
    other.post("/login", &[("token", &older)]).is(403);
    other.post("/login", &[("token", &newer)]).is(303);
    let memos = referee.block_on(referee.office().store.remembered_under("")).expect("the store answers");
    assert!(!memos.iter().any(|(key, value)| key.contains(&newer) || value.contains(&newer)), "{memos:?}");
}

#[test]
fn a_session_ends_after_twelve_hours_and_by_logging_out() {
    let referee = Referee::new();
    let browser = Browser::of_gm(&referee);
    referee.advance(10);
    browser.get("/").is(200);
    referee.advance(2);
    browser.get("/").is(403);
    let again = Browser::of_gm(&referee);
    let page = again.get("/");
    again.press(&page, "Log out", &[]).is(303);
    again.get("/").is(403);
}

#[test]
fn wrong_links_keep_no_gm_out() {
    let referee = Referee::new();
    let browser = Browser::new(&referee);
    for _ in 0..30 {
        browser.post("/login", &[("token", WRONG)]).is(403);
    }
    browser.log_in(referee.office().config.club.gm.first());
}

#[test]
fn every_answer_forbids_scripts_frames_and_caches() {
    let referee = Referee::new();
    let browser = Browser::of_gm(&referee);
    for path in ["/", "/style.css", "/nowhere", "/login?token=x"] {
        let answer = browser.get(path);
        let policy = answer.headers[header::CONTENT_SECURITY_POLICY].to_str().expect("text");
        assert!(policy.starts_with("default-src 'none'; style-src 'self';"), "{policy}");
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"));
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store");
        assert!(!answer.text.contains("<script") && !answer.text.contains("style=\""), "{path}");
    }
}

#[test]
fn strangers_write_nothing() {
    let referee = Referee::new();
    let (game_match, ..) = quad(&referee);
    let browser = Browser::of_gm(&referee);
    let page = browser.get(&format!("/match/{}", game_match.id));
    let (form, pressed) = button(&page.text, "Extend 3 days");
    let (name, value) = pressed.expect("a named button");
    let mut fields: Vec<(String, String)> = form.fields.clone();
    fields.push((name, value));
    let body = |fields: &[(String, String)]| {
        form_urlencoded::Serializer::new(String::new()).extend_pairs(fields).finish()
    };
    let cookie = browser.cookie.borrow().clone();
    let origin = format!("http://{HOST}");
    let before = kinds(&referee, &game_match);
    let own = [("host", HOST), ("cookie", cookie.as_str()), ("origin", origin.as_str())];
    let send = |headers: &[(&str, &str)], body: &str| browser.send("POST", "/act", headers, body);
    for host in ["evil.example:9119", "evil.example", "127.0.0.1.evil.example:9119", "[::1", "localhost:x"] {
        let foreign = format!("http://{host}");
        send(&[("host", host), own[1], ("origin", foreign.as_str())], &body(&fields)).is(421);
    }
    send(&own[1..], &body(&fields)).is(421);
    for foreign in [
        "http://evil.example",
        "null",
        "http://localhost:9119",
        "https://127.0.0.1:9119",
        "http://127.0.0.1:80",
    ] {
        send(&[own[0], own[1], ("origin", foreign)], &body(&fields)).is(403);
    }
    send(&own[..2], &body(&fields)).is(403);
    let forged = [("host", HOST), ("cookie", "fogpost-9119=00112233445566778899aabbccddeeff"), own[2]];
    send(&forged, &body(&fields)).is(403).says("You are not logged in");
    send(&[own[0], own[2]], &body(&fields)).is(403);
    let without: Vec<_> = fields.iter().filter(|(name, _)| name != "form").cloned().collect();
    send(&own, &body(&without)).is(403).says("from a page of an earlier login");
    let mut wrong = without.clone();
    wrong.push(("form".to_owned(), WRONG.to_owned()));
    send(&own, &body(&wrong)).is(403);
    let mut long = fields.clone();
    long.push(("below".to_owned(), "x".repeat(40_000)));
    send(&own, &body(&long)).is(413);
    browser.send("PUT", "/act", &own, "").is(405);
    browser.send("GET", "/act", &own, "").is(404);
    assert_eq!(kinds(&referee, &game_match), before, "nothing was written");
    send(&own, &body(&fields)).is(303);
    assert_eq!(kinds(&referee, &game_match).len(), before.len() + 1);
    referee.work();
}
