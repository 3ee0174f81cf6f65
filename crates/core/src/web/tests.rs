use std::collections::BTreeSet;
use std::io::Write as _;

use super::events::{EventNews, ListedEvent};
use super::listed::{ListedMatch, ListedMember, ListedRating, OpenSeat};
use super::pages::{self, SiteContents};
use super::plot::PlotPoint;
use super::replay::{FinishedMatch, ReplayPages, pages};
use super::{Site, asset};
use crate::club::events::event::Event;
use crate::club::events::plan::Plan;
use crate::club::reliability::Reliability;
use crate::game::any::GameKind;
use crate::game::record::{Record, Replayed};
use crate::game::{BySeat, Outcome, Reason, Seat};
use crate::ledger::book::{BookCause, BookFact, BookOutcome, BookResult};
use crate::referee::Terms;
use crate::report::Templates;

const RECORDS: [(&str, &str); 4] = [
    ("quadrant-z", include_str!("../../../../src/cli/demo/records/quadrant-z.toml")),
    ("pacific", include_str!("../../../../src/cli/demo/records/pacific.toml")),
    ("quantum", include_str!("../../../../src/cli/demo/records/quantum.toml")),
    ("quad", include_str!("../../../../src/cli/demo/records/quad.toml")),
];

const HOSTILE: &str = "</h1><script>alert(1)</script>\"'&{{ 1 }}";

fn finished(record: &str, names: Option<&str>) -> FinishedMatch {
    let mut record = Record::parse(record).expect("a record");
    if let Some(name) = names {
        record.players = BySeat::new(name.to_owned(), name.to_owned());
    }
    let mut outcome = None;
    record.replay(|step| {
        if let Replayed::Adjudicated(done) = step {
            outcome = done.state.outcome();
        }
    });
    FinishedMatch {
        id: "QZ-7K3M".to_owned(),
        record,
        outcome: outcome.expect("the match is over"),
        event: None,
        ended_at: None,
        head: "a".repeat(64),
        keys: vec!["b".repeat(64)],
        has_record: true,
    }
}

fn linked() -> Site {
    Site { club: "The Fog Club".to_owned(), address: "referee@club.example".to_owned(), ..Site::default() }
}

fn replay(site: &Site, finished: &FinishedMatch) -> String {
    pages(&Templates::of_program(), site, finished).expect("the pages").page
}

/// The values of an attribute, with or without quotes.
fn values<'a>(html: &'a str, attribute: &str) -> Vec<&'a str> {
    let end = |rest: &str, quoted: bool| {
        rest.find(if quoted { &['"'][..] } else { &[' ', '>'] }).unwrap_or(rest.len())
    };
    let attribute = format!(" {attribute}=");
    let found = html.match_indices(&attribute).map(|(at, name)| {
        let rest = &html[at + name.len()..];
        match rest.strip_prefix('"') {
            Some(rest) => &rest[..end(rest, true)],
            None => &rest[..end(rest, false)],
        }
    });
    found.collect()
}

/// The number of bytes that a web server sends for a page.
fn gzipped(html: &str) -> usize {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(html.as_bytes()).expect("a Vec");
    encoder.finish().expect("a Vec").len()
}

#[test]
fn the_replay_of_each_game_stays_within_its_limits() {
    for (game, record) in RECORDS {
        let finished = finished(record, None);
        let html = replay(&linked(), &finished);
        let steps = html.matches("<section class=step").count();
        assert!(steps > 15, "{game}: {steps} steps");
        assert!(html.len() <= 30_000 + 5_000 * steps, "{game}: {} bytes, {steps} steps", html.len());
        let zipped = gzipped(&html);
        // Two fleets, each seen and remembered by both sides, change more of the board in a step than one move does.
        let a_step = if game == "quadrant-z" { 700 } else { 500 };
        assert!(zipped <= 5_000 + a_step * steps, "{game}: {zipped} bytes gzipped, {steps} steps");
        let alone = replay(&Site::of_one_page("The Fog Club", "referee@club.example"), &finished);
        assert!(alone.len() <= 150_000, "{game}: {} bytes", alone.len());
        assert!(!alone.contains("href=\"../") && !alone.contains("src="), "{game}: it needs other files");
    }
    assert!(
        asset("style.css").len() <= 12_000 && asset("replay.js").len() <= 3_000,
        "{}",
        asset("replay.js").len()
    );
    assert!(asset("proof.js").lines().count() <= 200);
}

#[test]
fn ids_of_a_replay_are_unique_and_every_link_into_it_resolves() {
    for (game, record) in RECORDS {
        let html = replay(&linked(), &finished(record, None));
        let ids = values(&html, "id");
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(unique.len(), ids.len(), "{game}");
        let inner = values(&html, "href").into_iter().filter_map(|link| link.strip_prefix('#'));
        inner.for_each(|id| assert!(unique.contains(id), "{game}: #{id}"));
        assert_eq!(html.matches("<h1").count(), 1, "{game}");
    }
}

#[test]
fn both_views_of_a_game_with_secrets_and_the_truth_are_on_one_page() {
    let html = replay(&linked(), &finished(RECORDS[0].1, None));
    for words in [
        "Ann</bdi>’s view",
        "Bo</bdi>’s view",
        "The truth",
        "Ann was told",
        "Bo was told",
        "Ann won (base captured)",
    ] {
        assert!(html.contains(words), "{words}");
    }
    let html = replay(&linked(), &finished(RECORDS[3].1, None));
    assert!(html.contains("Ann</bdi>’s side") && !html.contains("The truth") && !html.contains("was told"));
    assert!(html.contains("Ann played a marble on") && !html.contains("You played"));
}

#[test]
fn every_step_has_a_named_board_and_is_told_in_characters() {
    for (game, record) in RECORDS {
        let finished = finished(record, None);
        let ReplayPages { page, words } =
            pages(&Templates::of_program(), &linked(), &finished).expect("the pages");
        let steps = page.matches("<section class=step").count();
        assert_eq!(page.matches(" role=img aria-labelledby=n").count(), steps, "{game}");
        let inline = page.matches("Board in characters").count();
        assert!(inline == steps || page.matches(" href=words.html#t").count() == steps, "{game}: {inline}");
        let hides = finished.record.game.hides_something();
        let boards = words.matches("<h3>The board").count();
        assert_eq!(boards, if hides { 3 * steps } else { steps }, "{game}");
        assert_eq!(page.contains("id=\"vb\""), hides, "{game}: both boards beside each other");
    }
}

#[test]
fn nobody_is_you_on_the_boards_of_a_game_with_secrets() {
    for (game, record) in &RECORDS[..2] {
        let words =
            pages(&Templates::of_program(), &linked(), &finished(record, None)).expect("the pages").words;
        assert!(words.contains("<pre tabindex=0>\n"));
        for board in words.split("<pre tabindex=0>\n").skip(1) {
            let board = board.split("</pre>").next().unwrap_or_default().to_lowercase();
            assert!(!board.contains("you") && !board.contains("enem"), "{game}: {board}");
        }
        let page = replay(&linked(), &finished(record, None));
        let signs = page.split("<h2>The signs</h2>").nth(1).expect("a legend");
        let signs = signs.split("</ul>").next().unwrap_or_default();
        assert!(!signs.contains(" you"), "{game}: {signs}");
    }
}

/// A league of three players in its second season, in which one match is over and one is running.
fn league(name: &str) -> ListedEvent {
    let plan = "id = \"EV-SPRING\"\nname = \"Spring\"\ngame = \"quad\"\nformat = \"league\"\nsection_size = 3\n\
                opens = 2026-05-10\nseason_days = 30";
    let plan = Plan { name: name.to_owned(), ..Plan::read(plan).expect("a plan") };
    let (terms, at) = (plan.terms(&Terms::default()), chrono::DateTime::UNIX_EPOCH);
    let cause = BookCause::Clock {};
    let mut event = Event::announce(plan, terms, None, at, &cause).0;
    for player in 1..=3 {
        event.record(at, &cause, BookFact::Entered { player });
    }
    for season in 1..=2 {
        let (list, sections) = (vec![1, 2, 3], vec![vec![1, 2, 3]]);
        let drawn =
            BookFact::SectionsDrawn { season, list, figures: Vec::new(), sections, ends: at, given: false };
        event.record(at, &cause, drawn);
        if season == 1 {
            let places = event.season().expect("a season").tables();
            event.record(at, &cause, BookFact::StandingsClosed { season, places, vanished: Vec::new() });
        }
    }
    let season = event.season().expect("a season").clone();
    for (game, match_id) in season.games.iter().zip(["QD-1", "QD-2"]) {
        let (first, second) = (game.first, game.second);
        event.record(
            at,
            &cause,
            BookFact::MatchOpened { season: 2, first, second, match_id: match_id.to_owned() },
        );
        if match_id == "QD-1" {
            let result = BookResult {
                match_id: Some(match_id.to_owned()),
                end: None,
                outcome: BookOutcome::First,
                vanished: None,
                own: BySeat::new(0, 0),
            };
            event.record(at, &cause, BookFact::ResultEntered { season: 2, first, second, result });
        }
    }
    let news = vec![(at, EventNews::Announced), (at, EventNews::Drawn(1)), (at, EventNews::Closed(1))];
    ListedEvent { event, news }
}

#[test]
fn names_create_no_element_on_any_page() {
    let html = replay(&linked(), &finished(RECORDS[0].1, Some(HOSTILE)));
    assert!(!html.contains("<script>alert") && html.contains("&lt;script&gt;alert"));
    let listed = |end: Option<(Outcome, _)>| ListedMatch {
        id: format!("QD-{}", if end.is_some() { 1 } else { 2 }),
        game: GameKind::Quad,
        names: BySeat::new(HOSTILE.to_owned(), HOSTILE.to_owned()),
        players: BySeat::new(Some(1), None),
        options: HOSTILE.to_owned(),
        event: Some("EV-SPRING".to_owned()),
        turn: Some(3),
        end,
    };
    let outcome = Outcome { winner: Some(Seat::First), reason: Reason::Quad };
    let point = PlotPoint { figure: 1520, deviation: 200 };
    let rating =
        |results| ListedRating { player: 1, game: GameKind::Quad, point, shown: "1520?".to_owned(), results };
    let contents = SiteContents {
        matches: vec![listed(Some((outcome, chrono::DateTime::UNIX_EPOCH))), listed(None)],
        members: (1..=3)
            .map(|id| ListedMember { id, name: HOSTILE.to_owned(), reliability: Reliability::default() })
            .collect(),
        ratings: vec![rating(1), rating(2)],
        seats: vec![OpenSeat { code: "7K3M9P".to_owned(), by: HOSTILE.to_owned(), game: "Quad", days: 3 }],
        events: vec![league(HOSTILE)],
        hero: None,
    };
    let site = Site { club: HOSTILE.to_owned(), ..linked() };
    let made = pages::pages(&Templates::of_program(), &site, &contents).expect("pages");
    assert!(made.len() > 18, "{:?}", made.keys());
    let text = |path: &str| String::from_utf8_lossy(&made[path]).into_owned();
    let event = text("events/EV-SPRING/index.html");
    for words in ["Season 2", "Division 1", "matches/QD-1/index.html", "turn 3", "not begun", "season-1.html"]
    {
        assert!(event.contains(words), "{words}: {event}");
    }
    assert!(text("events/EV-SPRING/feed.atom").contains("../../matches/QD-1/index.html"));
    for (path, bytes) in &made {
        let text = String::from_utf8_lossy(bytes);
        assert!(!text.contains("<script>alert"), "{path}");
    }
    // Every link leads to a page of the site, or to a replay.
    for (path, bytes) in made.iter().filter(|(path, _)| path.ends_with(".html")) {
        let folder: Vec<&str> = path.split('/').collect();
        for link in values(&String::from_utf8_lossy(bytes), "href") {
            if link.starts_with("mailto:") || link.starts_with('#') {
                continue;
            }
            let mut place = folder[..folder.len() - 1].to_vec();
            for part in link.split('/') {
                match part {
                    ".." => drop(place.pop()),
                    part => place.push(part),
                }
            }
            let target = place.join("/");
            assert!(
                made.contains_key(&target) || target == "matches/QD-1/index.html",
                "{path} links {target}"
            );
        }
    }
}

#[test]
fn a_draw_and_a_resignation_are_worded() {
    let names = BySeat::new("Ann".to_owned(), "Bo".to_owned());
    let words = |winner, reason| {
        let outcome = Outcome { winner, reason };
        super::replay::result_of(&Templates::of_program(), &names, &outcome, None).expect("a sentence")
    };
    assert_eq!(words(Some(Seat::First), Reason::Resigned), "Bo resigned.");
    assert_eq!(words(Some(Seat::Second), Reason::Quad), "Bo won (quad).");
    assert_eq!(words(None, Reason::DrawAgreed), "Nobody won (draw agreed).");
}
