//! The links to the board in random play: each is short enough, and the page itself takes it.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::referee::{Content, LetterFormat};
use fogpost_testing::play::through;

use crate::referee::{held, templates, worded};

const MAX_LINK: usize = 1900;

/// Returns the links of both seats in every phase of a match of random play.
fn links(kind: GameKind, seed: u64) -> Vec<String> {
    let (templates, mut links) = (templates(), Vec::new());
    through(kind, seed, |play| {
        let mut game_match = held(play);
        for seat in Seat::BOTH {
            game_match.settings[seat].format = LetterFormat::Text;
            let letter = worded(&templates, &game_match, seat, Content::Invitation);
            let link = letter.text.lines().find_map(|line| line.strip_prefix("To move on the board: "));
            links.extend(link.map(str::to_owned));
        }
    });
    links
}

#[test]
fn the_page_takes_the_link_of_every_position_and_none_is_too_long() {
    let mut all = Vec::new();
    for kind in GameKind::ALL {
        let found: Vec<String> = (0..3).flat_map(|seed| links(*kind, seed)).collect();
        assert!(found.len() > 20, "{kind}: {} links", found.len());
        let longest = found.iter().map(String::len).max().unwrap_or_default();
        assert!(longest <= MAX_LINK, "{kind}: {longest}");
        println!("{kind}: {} links of at most {longest} bytes", found.len());
        all.extend(found);
    }
    if std::env::var_os("FOGPOST_WITHOUT_SERVERS").is_some() {
        println!("not tried: whether the page takes them, because that needs Node");
        return;
    }
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut node = Command::new("node")
        .arg(here.join("tests/laws/links.mjs"))
        .arg(here.join("templates/site/play/play.js"))
        .stdin(Stdio::piped())
        .spawn()
        .expect("node runs; tests/run installs it");
    node.stdin.take().expect("piped").write_all(all.join("\n").as_bytes()).expect("node reads");
    assert!(node.wait().expect("node ends").success());
}
