//! The pages of the site in a real browser: Debian's Chromium by its command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chrono::DateTime;
use fogpost::club::events::event::Event;
use fogpost::club::events::plan::Plan;
use fogpost::club::reliability::Reliability;
use fogpost::game::any::{Choices, GameKind};
use fogpost::game::record::{Record, Replayed};
use fogpost::game::{BySeat, Outcome, Reason, Seat};
use fogpost::ledger::book::{BookCause, BookFact};
use fogpost::referee::Terms;
use fogpost::report::Templates;
use fogpost::web::Site;
use fogpost::web::events::ListedEvent;
use fogpost::web::listed::{ListedMatch, ListedMember, ListedRating, OpenSeat};
use fogpost::web::pages::{Contents, pages};
use fogpost::web::plot::PlotPoint;
use fogpost::web::replay::{self, FinishedMatch};
use tempfile::TempDir;

const RECORDS: [(&str, &str); 4] = [
    ("quadrant-z", include_str!("../../src/cli/demo/records/quadrant-z.toml")),
    ("pacific", include_str!("../../src/cli/demo/records/pacific.toml")),
    ("quantum", include_str!("../../src/cli/demo/records/quantum.toml")),
    ("quad", include_str!("../../src/cli/demo/records/quad.toml")),
];

/// Notes what the browser made of the page on its root element: widths, the steps that are shown, the order of the
/// headings, elements without a name, and whether a script of the page added its button.
const PROBE: &str = r#"<script>addEventListener('load', () => setTimeout(() => {
  const all = what => [...document.querySelectorAll(what)], root = document.documentElement;
  const note = (name, value) => root.setAttribute('data-' + name, value);
  note('overflow', root.scrollWidth - innerWidth);
  const shown = all('.step').filter(step => getComputedStyle(step).display !== 'none');
  note('shown', shown.map(step => step.id).join(' '));
  note('levels', all('h1, h2, h3').map(heading => heading.tagName[1]).join(''));
  note('unnamed', all('[role=img]:not([aria-label]), img:not([alt]), main input:not([id])').length);
  note('twice', all('[id]').length - new Set(all('[id]').map(element => element.id)).size);
  note('play', all('.go button').length);
  if (!shown.length) return;
  const drawn = shown[0].querySelector('svg');
  note('views', ['f', 's', 't'].map(name => [...drawn.children].filter(group => group.getAttribute('class') === name
    && getComputedStyle(group).display !== 'none').length > 0 ? name : '-').join(''));
}, 50));</script>"#;

/// A page as the browser saw it.
struct Seen(String);

impl Seen {
    fn note(&self, name: &str) -> &str {
        let start = format!("data-{name}=\"");
        let found = self.0.split_once(&start).and_then(|(_, rest)| rest.split('"').next());
        found.unwrap_or_else(|| panic!("no {name} in {}", &self.0[..self.0.len().min(600)]))
    }
}

fn chromium() -> Option<PathBuf> {
    if std::env::var_os("FOGPOST_WITHOUT_SERVERS").is_some_and(|value| value == "1") {
        eprintln!("skipped: this run does without servers");
        return None;
    }
    Some(PathBuf::from("/usr/bin/chromium"))
}

/// Loads a page at this width, with the probe in it, and returns what became of it.
fn look(browser: &Path, folder: &TempDir, html: &str, width: u32, hash: &str) -> Seen {
    let file = folder.path().join("page.html");
    fs::write(&file, html.replace("</body>", &format!("{PROBE}</body>"))).expect("a page");
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--hide-scrollbars",
            "--virtual-time-budget=2000",
        ])
        .arg(format!("--user-data-dir={}", folder.path().join("profile").display()))
        .arg(format!("--window-size={width},800"))
        .args(["--dump-dom", &format!("file://{}{hash}", file.display())])
        .stderr(Stdio::null())
        .output()
        .expect("chromium runs; tests/run installs it");
    Seen(String::from_utf8_lossy(&output.stdout).into_owned())
}

fn page(record: &str) -> String {
    let record = Record::parse(record).expect("a record");
    let mut outcome = None;
    record.replay(|step| {
        if let Replayed::Adjudicated(done) = step {
            outcome = done.state.outcome();
        }
    });
    let finished = FinishedMatch {
        id: "QZ-7K3M".to_owned(),
        record,
        outcome: outcome.expect("the match is over"),
        event: None,
        ended_at: None,
        head: "a".repeat(64),
        keys: vec!["b".repeat(64)],
        has_record: false,
    };
    let site = Site::of_one_page("The Fog Club", "referee@club.example");
    replay::page(&Templates::of_program(), &site, &finished).expect("a page")
}

/// The page without its script.
fn without_script(html: &str) -> String {
    let at = html.rfind("<script>").expect("a script");
    let end = html[at..].find("</script>").expect("it ends") + at;
    format!("{}{}", &html[..at], &html[end + "</script>".len()..])
}

#[test]
fn a_replay_shows_one_step_at_every_width_and_never_scrolls_sideways() {
    let Some(browser) = chromium() else { return };
    for (game, record) in RECORDS {
        let folder = tempfile::tempdir().expect("a folder");
        let html = page(record);
        let first = if matches!(game, "quad" | "quantum") { "t1" } else { "t0" };
        for width in [360, 1280] {
            let seen = look(&browser, &folder, &html, width, "");
            assert_eq!(seen.note("overflow"), "0", "{game} at {width}");
            assert_eq!(seen.note("shown"), first, "{game} at {width}");
            assert_eq!(
                (seen.note("unnamed"), seen.note("twice"), seen.note("play")),
                ("0", "0", "1"),
                "{game}"
            );
            let levels = seen.note("levels").as_bytes();
            assert!(
                levels.starts_with(b"1") && levels.windows(2).all(|pair| pair[1] <= pair[0] + 1),
                "{game}"
            );
        }
    }
}

/// The longest name that a player may have, without a place to break it.
const LONG: &str = "Maximiliane-Wilhelmine-von-Hohenstaufen-Ganz-Besonders-Lang";

/// A club whose players and events have long names.
fn contents() -> Contents {
    let at = DateTime::UNIX_EPOCH;
    let plan = "id = \"EV-SPRING\"\nname = \"Spring\"\ngame = \"quad\"\nformat = \"league\"\nsection_size = 9\n\
                games = 2\nopens = 2026-05-10\nseason_days = 30";
    let plan = Plan { name: LONG.to_owned(), ..Plan::read(plan).expect("a plan") };
    let terms = plan.terms(&Terms::default());
    let mut event = Event::announce(plan, terms, None, at, &BookCause::Clock {}).0;
    let list: Vec<i64> = (1..=9).collect();
    let sections = vec![list.clone()];
    let drawn =
        BookFact::SectionsDrawn { season: 1, list, figures: Vec::new(), sections, ends: at, given: false };
    event.record(at, &BookCause::Clock {}, drawn);
    let listed = |id: &str, end| ListedMatch {
        id: id.to_owned(),
        game: GameKind::QuadrantZ,
        names: BySeat::new(LONG.to_owned(), LONG.to_owned()),
        players: BySeat::new(Some(1), Some(2)),
        options: "neutral_total=88 turn_limit=100 layout=triangle".to_owned(),
        event: Some("EV-SPRING".to_owned()),
        turn: Some(7),
        end,
    };
    let outcome = Outcome { winner: Some(Seat::First), reason: Reason::Resigned };
    let rating = |results, figure| ListedRating {
        player: 1,
        game: GameKind::Quad,
        point: PlotPoint { figure, deviation: 200 },
        shown: "1520?".to_owned(),
        results,
    };
    let member = |id| ListedMember { id, name: LONG.to_owned(), reliability: Reliability::default() };
    Contents {
        matches: vec![listed("QZ-1", Some((outcome, at))), listed("QZ-2", None)],
        members: (1..=9).map(member).collect(),
        ratings: vec![rating(1, 1520), rating(2, 1580)],
        seats: vec![OpenSeat { code: "7K3M9P".to_owned(), by: LONG.to_owned(), game: "Quad", days: 3 }],
        events: vec![ListedEvent { event, news: Vec::new() }],
        hero: Some(("QZ-1".to_owned(), GameKind::QuadrantZ.start(&Choices::default()).open_board().picture)),
    }
}

#[test]
fn no_page_of_a_site_scrolls_sideways() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let site = Site {
        club: LONG.to_owned(),
        address: "referee@club.example".to_owned(),
        ..Site::of_one_page("", "")
    };
    let made = pages(&Templates::of_program(), &site, &contents()).expect("pages");
    let html = made.iter().filter(|(path, _)| path.ends_with(".html"));
    // The pages of games and players differ only in their words.
    let of_one_kind = |path: &str| path.starts_with("players/P-") && !path.starts_with("players/P-1/");
    for (path, bytes) in html.filter(|(path, _)| !of_one_kind(path)) {
        let html = String::from_utf8_lossy(bytes);
        for width in [360, 1280] {
            let seen = look(&browser, &folder, &html, width, "");
            assert_eq!(seen.note("overflow"), "0", "{path} at {width}");
            assert_eq!((seen.note("unnamed"), seen.note("twice")), ("0", "0"), "{path}");
        }
    }
}

#[test]
fn a_link_to_a_turn_and_the_switch_work_without_the_script() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let html = without_script(&page(RECORDS[0].1));
    let seen = look(&browser, &folder, &html, 360, "#t7");
    assert_eq!((seen.note("shown"), seen.note("views"), seen.note("play")), ("t7", "--t", "0"));
    // As if a person had chosen the first player's view.
    let chosen = html
        .replace("id=\"vf\" value=\"first\"", "id=\"vf\" value=\"first\" checked")
        .replace("value=\"truth\" checked", "value=\"truth\"");
    assert_eq!(look(&browser, &folder, &chosen, 360, "#t7").note("views"), "f--");
}

#[test]
fn a_replay_without_styles_shows_every_step_and_one_view() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let html = page(RECORDS[0].1);
    let mut bare = html.clone();
    while let (Some(at), Some(end)) = (bare.find("<style>"), bare.find("</style>")) {
        bare.replace_range(at..end + "</style>".len(), "");
    }
    let seen = look(&browser, &folder, &bare, 1280, "");
    assert_eq!(seen.note("shown").split(' ').count(), html.matches("<section class=step").count());
    assert_eq!(seen.note("views"), "--t");
}
