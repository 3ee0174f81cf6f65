//! The pages of the site in a real browser: Debian's Chromium by its command line.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use chrono::DateTime;
use flate2::Compression;
use flate2::write::DeflateEncoder;
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
use fogpost::web::pages::{SiteContents, pages, play};
use fogpost::web::plot::PlotPoint;
use fogpost::web::replay::{self, FinishedMatch};

const RECORDS: [(&str, &str); 4] = [
    ("quadrant-z", include_str!("../../src/cli/demo/records/quadrant-z.toml")),
    ("pacific", include_str!("../../src/cli/demo/records/pacific.toml")),
    ("quantum", include_str!("../../src/cli/demo/records/quantum.toml")),
    ("quad", include_str!("../../src/cli/demo/records/quad.toml")),
];

/// Reports to the surrounding page how the browser shows this one: its overflow, the visible steps, the order of the
/// headings, elements without a name, whether the page's own script added its button, and words that are hard to read.
const PROBE: &str = include_str!("probe.js");

/// The script of the surrounding page: it adds a paragraph for each report from a page in a frame.
pub const LISTENER: &str = r#"<script>addEventListener('message', ({data: [name, found]}) => {
  const told = document.createElement('p');
  told.id = name;
  Object.assign(told.dataset, found);
  document.body.append(told);
});</script>"#;

/// A page, and the window in which the browser shows it.
struct View<'a> {
    html: &'a str,
    width: u32,
    hash: &'static str,
}

/// The report on a page, as the attributes of its paragraph.
pub struct Seen(String);

impl Seen {
    pub fn note(&self, name: &str) -> &str {
        let start = format!("data-{name}=\"");
        let found = self.0.split_once(&start).and_then(|(_, rest)| rest.split('"').next());
        found.unwrap_or_else(|| panic!("no {name} in {}", self.0))
    }
}

pub fn chromium() -> Option<PathBuf> {
    if std::env::var_os("FOGPOST_WITHOUT_SERVERS").is_some_and(|value| value == "1") {
        eprintln!("skipped: this run does without servers");
        return None;
    }
    Some(PathBuf::from("/usr/bin/chromium"))
}

/// The colours that a reader's system asks for, as Chromium numbers them.
#[derive(Clone, Copy, Debug)]
pub enum Scheme {
    Dark = 0,
    Light = 1,
}

/// Loads these pages in frames of their widths, each with the probe in it, and returns the reports.
fn look(browser: &Path, scheme: Scheme, views: &[View<'_>]) -> Vec<Seen> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut frames = LISTENER.to_owned();
    for (no, View { html, width, hash }) in views.iter().enumerate() {
        let page = html.replace("</body>", &format!("<script>{PROBE}</script></body>"));
        fs::write(folder.path().join(format!("page-{no}.html")), page).expect("a page");
        frames += &format!(
            "<iframe name=f{no} src=\"page-{no}.html{hash}\" width={width} height=800 frameborder=0></iframe>"
        );
    }
    reports(browser, scheme, folder.path(), &frames, views.len())
}

/// Shows a page with these frames, and returns what each of them reports.
pub fn reports(browser: &Path, scheme: Scheme, folder: &Path, frames: &str, count: usize) -> Vec<Seen> {
    let file = folder.join("frames.html");
    fs::write(&file, frames).expect("a page");
    let output = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"])
        .arg(format!("--blink-settings=preferredColorScheme={}", scheme as u8))
        .args(["--virtual-time-budget=10000", "--window-size=1280,800"])
        .arg(format!("--user-data-dir={}", folder.join("profile").display()))
        .args(["--dump-dom", &format!("file://{}", file.display())])
        .stderr(Stdio::null())
        .output()
        .expect("chromium runs; tests/run installs it");
    let dom = String::from_utf8_lossy(&output.stdout);
    let seen = |no| {
        let told = dom.split_once(&format!("<p id=\"f{no}\"")).and_then(|(_, rest)| rest.split_once('>'));
        Seen(told.unwrap_or_else(|| panic!("nothing of page {no} in {dom}")).0.to_owned())
    };
    (0..count).map(seen).collect()
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
    replay::pages(&Templates::of_program(), &site, &finished).expect("the pages").page
}

/// The page without its script.
fn without_script(html: &str) -> String {
    let at = html.rfind("<script>").expect("a script");
    let end = html[at..].find("</script>").expect("it ends") + at;
    format!("{}{}", &html[..at], &html[end + "</script>".len()..])
}

/// The widths of a phone and of a desktop window, in pixels.
const WIDTHS: [u32; 2] = [360, 1280];

#[test]
fn a_replay_shows_one_step_at_every_width_and_never_scrolls_sideways() {
    let Some(browser) = chromium() else { return };
    let pages = RECORDS.map(|(game, record)| (game, page(record)));
    let both = |html| WIDTHS.map(|width| View { html, width, hash: "" });
    let views: Vec<View<'_>> = pages.iter().flat_map(|(_, html)| both(html)).collect();
    let games = pages.iter().flat_map(|(game, _)| [game, game]);
    for ((game, view), seen) in games.zip(&views).zip(look(&browser, Scheme::Light, &views)) {
        let first = if matches!(*game, "quad" | "quantum") { "t1" } else { "t0" };
        assert_eq!(seen.note("overflow"), "0", "{game} at {}", view.width);
        assert_eq!(seen.note("shown"), first, "{game} at {}", view.width);
        assert_eq!((seen.note("unnamed"), seen.note("twice"), seen.note("play")), ("0", "0", "1"), "{game}");
        let levels = seen.note("levels").as_bytes();
        assert!(levels.starts_with(b"1") && levels.windows(2).all(|pair| pair[1] <= pair[0] + 1), "{game}");
    }
}

#[test]
fn every_word_on_a_board_can_be_read_in_light_and_dark() {
    let Some(browser) = chromium() else { return };
    let pages = RECORDS.map(|(game, record)| (game, page(record)));
    for scheme in [Scheme::Light, Scheme::Dark] {
        let views = pages.each_ref().map(|(_, html)| View { html, width: 1280, hash: "#t15" });
        for ((game, _), seen) in pages.iter().zip(look(&browser, scheme, &views)) {
            assert_eq!((seen.note("shown"), seen.note("faint")), ("t15", ""), "{game}, {scheme:?}");
            assert_ne!(seen.note("words"), "0", "{game}");
        }
    }
}

/// The longest name that a player may have, without a place to break it.
const LONG: &str = "Maximiliane-Wilhelmine-von-Hohenstaufen-Ganz-Besonders-Lang";

/// A club whose players and events have long names.
fn contents() -> SiteContents {
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
    SiteContents {
        matches: vec![listed("QZ-1", Some((outcome, at))), listed("QZ-2", None)],
        members: (1..=9).map(member).collect(),
        ratings: vec![rating(1, 1520), rating(2, 1580)],
        seats: vec![OpenSeat { code: "7K3M9P".to_owned(), by: LONG.to_owned(), game: "Quad", days: 3 }],
        events: vec![ListedEvent { event, news: Vec::new() }],
        hero: Some((
            "QZ-1".to_owned(),
            GameKind::QuadrantZ.start(&Choices::default()).open_board(None).picture,
        )),
    }
}

#[test]
fn no_page_of_a_site_scrolls_sideways_and_every_word_can_be_read() {
    let Some(browser) = chromium() else { return };
    let site = Site {
        club: LONG.to_owned(),
        address: "referee@club.example".to_owned(),
        ..Site::of_one_page("", "")
    };
    let made = pages(&Templates::of_program(), &site, &contents()).expect("pages");
    // The pages of games and players differ only in their words.
    let of_one_kind = |path: &str| path.starts_with("players/P-") && !path.starts_with("players/P-1/");
    let text = |bytes| String::from_utf8(Vec::clone(bytes)).expect("UTF-8");
    // The page that composes letters runs no script but its own; `letters_are_composed_by_clicks` looks at it.
    let is_probed = |path: &str| path.ends_with(".html") && !path.starts_with("play/") && !of_one_kind(path);
    let pages = made.iter().filter(|(path, _)| is_probed(path));
    let figures = made.iter().filter(|(path, _)| path.ends_with(".svg"));
    let in_a_page = |bytes| {
        format!("<!doctype html><style>svg {{ max-width: 100% }}</style><body>{}</body>", text(bytes))
    };
    let html: Vec<(&str, String)> = pages
        .map(|(path, bytes)| (path.as_str(), text(bytes)))
        .chain(figures.map(|(path, bytes)| (path.as_str(), in_a_page(bytes))))
        .collect();
    // A control: the test has to notice that this page is too wide and its word too faint.
    let wide =
        "<!doctype html><body><p style=\"width: 1400px; background: #fff; color: #787878\">faint</p></body>";
    for (width, scheme) in WIDTHS.into_iter().zip([Scheme::Light, Scheme::Dark]) {
        let all = html.iter().map(|(_, html)| html.as_str()).chain([wide]);
        let views: Vec<View<'_>> = all.map(|html| View { html, width, hash: "" }).collect();
        let mut seen = look(&browser, scheme, &views);
        let control = seen.pop().expect("the last page");
        assert_ne!(control.note("overflow"), "0");
        assert_eq!(control.note("faint"), "faint: 4.4");
        for ((path, _), seen) in html.iter().zip(seen) {
            assert_eq!(seen.note("overflow"), "0", "{path} at {width}");
            assert_eq!((seen.note("unnamed"), seen.note("twice")), ("0", "0"), "{path}");
            assert_eq!(seen.note("faint"), "", "{path}, {scheme:?}");
            assert_ne!(seen.note("words"), "0", "{path}");
        }
    }
}

#[test]
fn a_link_to_a_turn_and_the_switch_work_without_the_script() {
    let Some(browser) = chromium() else { return };
    let html = without_script(&page(RECORDS[0].1));
    // As if a person had chosen the first player's view.
    let chosen = html
        .replace("id=\"vf\" value=\"first\"", "id=\"vf\" value=\"first\" checked")
        .replace("value=\"truth\" checked", "value=\"truth\"");
    let view = |html| View { html, width: 360, hash: "#t7" };
    let seen = look(&browser, Scheme::Light, &[view(&html), view(&chosen)]);
    assert_eq!((seen[0].note("shown"), seen[0].note("views"), seen[0].note("play")), ("t7", "--t", "0"));
    assert_eq!(seen[1].note("views"), "f--");
}

#[test]
fn both_views_of_a_turn_stand_beside_each_other() {
    let Some(browser) = chromium() else { return };
    let pages = RECORDS[..2].iter().map(|(game, record)| (*game, page(record))).collect::<Vec<_>>();
    let views: Vec<View<'_>> = pages
        .iter()
        .flat_map(|(_, html)| WIDTHS.map(|width| View { html, width, hash: "?as=both#t7" }))
        .collect();
    let games = pages.iter().flat_map(|(game, _)| [game, game]);
    for ((game, view), seen) in games.zip(&views).zip(look(&browser, Scheme::Light, &views)) {
        let shown = (seen.note("shown"), seen.note("views"), seen.note("copies"), seen.note("told"));
        assert_eq!(shown, ("t7", "f--", "-s-", "fs"), "{game} at {}", view.width);
        assert_eq!(seen.note("overflow"), "0", "{game} at {}", view.width);
    }
    // Without the script, the same switch does it.
    let html = without_script(&pages[0].1);
    let chosen = html
        .replace("id=\"vb\" value=\"both\"", "id=\"vb\" value=\"both\" checked")
        .replace("value=\"truth\" checked", "value=\"truth\"");
    let seen = look(&browser, Scheme::Dark, &[View { html: &chosen, width: 1280, hash: "#t7" }]);
    assert_eq!((seen[0].note("views"), seen[0].note("copies")), ("f--", "-s-"));
}

/// Gives letters to the page that it stands in, as if they were dropped there, and tells the surrounding page what the
/// page says of them.
const PROVE: &str = r#"addEventListener('load', () => setTimeout(() => {
  const input = document.querySelector('#proof input'), list = document.querySelector('#proof ul');
  const dropped = new DataTransfer();
  for (const [name, text] of LETTERS) dropped.items.add(new File([text], name));
  input.files = dropped.files;
  input.dispatchEvent(new Event('change'));
  setTimeout(() => {
    const said = [...list.children].map(item => item.textContent).join(' | ');
    parent.postMessage([name, { said, overflow: document.documentElement.scrollWidth - innerWidth }], '*');
  }, 1000);
}, 50));"#;

/// A demo's site with the replay of its match, and the letters to Ann, the oldest first.
fn demo_site(folder: &Path) -> (PathBuf, Vec<String>) {
    let run = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_fogpost")).args(arguments).current_dir(folder).output();
        let output = output.expect("fogpost runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    run(&["demo", "--game", "quad", "--folder", "demo"]);
    run(&["--config", "demo/config.toml", "site", "build", "site"]);
    let matches = fs::read_dir(folder.join("site/matches")).expect("a folder");
    let pages = matches.map(|entry| entry.expect("an entry").path());
    let replay = pages.into_iter().find(|path| path.is_dir()).expect("a replay");
    let mailbox = folder.join("demo/mail/ann@players.example");
    let mut letters = Vec::new();
    for name in ["cur", "new"] {
        for entry in fs::read_dir(mailbox.join(name)).expect("a mailbox") {
            letters.push(entry.expect("an entry").path());
        }
    }
    letters.sort_by_key(|path| path.file_name().map(ToOwned::to_owned));
    let letters = letters.iter().map(|path| fs::read_to_string(path).expect("a letter")).collect();
    (replay, letters)
}

#[test]
fn a_page_proves_by_ones_letters_that_the_record_was_not_altered() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let (replay, letters) = demo_site(folder.path());
    let html = fs::read_to_string(replay.join("index.html")).expect("a page");
    let proving = html.replace("</body>", "<script src=\"prove.js\"></script></body>");
    fs::write(replay.join("proving.html"), proving).expect("a page");
    let receipt = letters.iter().find(|letter| letter.contains("sealed orders with their salt"));
    let receipt = receipt.expect("a receipt").clone();
    let marker = "sha256";
    let at = receipt.find(marker).expect("a ledger line") + marker.len();
    let digit = at + receipt[at..].find(|c: char| c.is_ascii_hexdigit()).expect("a digit") + 1;
    let mut altered = receipt.clone();
    altered.replace_range(digit..=digit, if receipt.as_bytes()[digit] == b'0' { "1" } else { "0" });
    let given = [("mine.eml", receipt.as_str()), ("altered.eml", &altered), ("other.eml", "Hello")];
    let given = serde_json::to_string(&given).expect("texts");
    fs::write(replay.join("prove.js"), format!("const LETTERS = {given};\n{PROVE}")).expect("a script");
    let frame = |page: &str| {
        format!("{LISTENER}<iframe name=f0 src=\"{page}\" width=360 height=800 frameborder=0></iframe>")
    };
    let said = |page: &str| reports(&browser, Scheme::Light, &replay, &frame(page), 1).remove(0);
    let seen = said("proving.html");
    let sentences: Vec<&str> = seen.note("said").split(" | ").collect();
    assert_eq!(sentences.len(), 4, "{sentences:?}");
    assert!(sentences[0].contains("sealed filings match their digests"), "{sentences:?}");
    assert!(sentences[1].starts_with("✓ mine.eml: entries 1 to "), "{sentences:?}");
    assert!(sentences[1].contains("The orders sealed for turn 1 are “MARBLE F6”"), "{sentences:?}");
    assert!(sentences[2].starts_with("✗ altered.eml: its ledger line is not on this chain"), "{sentences:?}");
    assert!(sentences[3].starts_with("✗ other.eml: it has no ledger line"), "{sentences:?}");
    assert_eq!(seen.note("overflow"), "0");
    // A record that was altered afterwards proves nothing.
    let chain = fs::read_to_string(replay.join("chain.js")).expect("the chain");
    assert!(chain.contains("MARBLE F6"));
    fs::write(replay.join("chain.js"), chain.replacen("MARBLE F6", "MARBLE F7", 1)).expect("the chain");
    let seen = said("proving.html");
    assert!(seen.note("said").contains("The chain is broken"), "{}", seen.note("said"));
}

#[test]
fn a_replay_without_styles_shows_every_step_and_one_view() {
    let Some(browser) = chromium() else { return };
    let html = page(RECORDS[0].1);
    let mut bare = html.clone();
    while let (Some(at), Some(end)) = (bare.find("<style>"), bare.find("</style>")) {
        bare.replace_range(at..end + "</style>".len(), "");
    }
    let seen = look(&browser, Scheme::Light, &[View { html: &bare, width: 1280, hash: "" }]);
    assert_eq!(seen[0].note("shown").split(' ').count(), html.matches("<section class=step").count());
    assert_eq!(seen[0].note("views"), "--t");
}

/// Positions as the page that composes letters gets them: of Quad, Quadrant Z and War in the Pacific.
const SHEETS: [&str; 3] = [
    include_str!("sheets/quad.json"),
    include_str!("sheets/quadrant-z.json"),
    include_str!("sheets/pacific.json"),
];

/// Returns a position as it stands in a link.
fn payload(sheet: &str) -> String {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(sheet.as_bytes()).expect("a Vec");
    BASE64_URL_SAFE_NO_PAD.encode(encoder.finish().expect("a Vec"))
}

#[test]
fn letters_are_composed_by_clicks() {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let site = Site { address: "referee@club.example".to_owned(), ..Site::default() };
    let files = play(&Templates::of_program(), &site).expect("a page");
    fs::create_dir(folder.path().join("play")).expect("a folder");
    for (path, bytes) in &files {
        fs::write(folder.path().join(path), bytes).expect("a file");
    }
    // Not in the page itself, which runs no script but those beside it.
    fs::write(folder.path().join("play/clicks.js"), include_str!("clicks.js")).expect("a file");
    let html = String::from_utf8(files["play/index.html"].clone()).expect("UTF-8");
    // The browser itself then refuses every request but for the style sheet and the scripts beside the page.
    assert!(html.contains(
        "default-src 'none'; script-src 'self'; style-src 'self'; base-uri 'none'; form-action 'none'"
    ));
    fs::write(folder.path().join("play/index.html"), html + "<script src=clicks.js></script>")
        .expect("a file");
    let hostile = "<img src=x onerror=alert(1)>".repeat(7);
    let named = SHEETS[0].replace("Ann – Bo", &hostile);
    assert!(named.contains(&hostile));
    let elsewhere = SHEETS[0].replace("@club.example", "@other.example");
    let links = [SHEETS[0], SHEETS[1], SHEETS[2], &named, &elsewhere].map(payload);
    let cut = &links[0][..links[0].len() - 9];
    let mut frames = LISTENER.to_owned();
    for (no, link) in links.iter().map(String::as_str).chain([cut]).enumerate() {
        frames += &format!(
            "<iframe name=f{no} src=\"play/index.html#{link}\" width=360 height=800 frameborder=0></iframe>"
        );
    }
    let seen = reports(&browser, Scheme::Light, folder.path(), &frames, 6);
    for (seen, orders) in seen.iter().zip([
        "TURN 13|STAR C4|MARBLE E6|",
        "TURN 9|BUILD 1/1 AT A2|SHIP 1 N2 TO O3|CAPTURE I2|",
        "TURN 4|ASW B6|",
    ]) {
        let orders: String = orders.replace('|', "%0D%0A").replace(' ', "%20").replace('/', "%2F");
        let letter = seen.note("letter");
        assert!(
            letter.starts_with("mailto:referee") && letter.contains("@club.example?subject=%5B"),
            "{letter}"
        );
        assert!(
            letter.contains(&format!("&amp;body={orders}%0D%0A--%20%0D%0AReply%20token%3A%20")),
            "{letter}"
        );
        assert_eq!((seen.note("overflow"), seen.note("unnamed")), ("0", "0"));
        assert_eq!(
            seen.note("before"),
            "Opens your mail program with the letter. The referee’s receipt says what counts."
        );
        assert_eq!(
            seen.note("after"),
            "Now send it in your mail program; the referee’s receipt is the proof."
        );
        assert_eq!(seen.note("changed"), "not yet written, yours");
    }
    assert_eq!((seen[2].note("areas"), seen[0].note("areas")), ("1", "0"));
    assert_eq!(
        (seen[3].note("images"), seen[3].note("title")),
        ("0", hostile.replace('<', "&lt;").replace('>', "&gt;").as_str())
    );
    for (refused, sentence) in [(&seen[4], "somebody else"), (&seen[5], "cut short or damaged")] {
        assert_eq!((refused.note("letter"), refused.note("board")), ("none", "0"));
        assert!(refused.note("sub").contains(sentence), "{}", refused.note("sub"));
    }
}

#[test]
fn a_link_is_drawn_only_if_every_field_of_it_holds() {
    if chromium().is_none() {
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = here.join("tests/servers");
    let sheets = ["quad", "quadrant-z", "pacific"].map(|game| folder.join(format!("sheets/{game}.json")));
    let output = Command::new("node")
        .arg(folder.join("sheets.mjs"))
        .arg(here.join("templates/site/play/play.js"))
        .args(sheets)
        .output()
        .expect("node runs; tests/run installs it");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
