//! Whole matches against the house by clicks on the board alone: every letter that the page writes is filed as it is.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::browser::{LISTENER, Scheme, chromium, reports};

/// Maximum letters of a match: Quantum goes on for 50 turns of a side without stacking.
const MAX_LETTERS: u64 = 400;

/// Returns the letter that random clicks on the board of this link compose.
fn letter_of(browser: &Path, link: &str, seed: u64) -> String {
    let (page, payload) = link.strip_prefix("file://").and_then(|link| link.split_once('#')).expect("a link");
    let folder = Path::new(page).parent().expect("the folder of the page");
    let html = fs::read_to_string(page).expect("the page");
    let clicked =
        html.replace("<script src=play.js>", "<script src=clicks.js></script>\n<script src=play.js>");
    fs::write(folder.join("clicked.html"), clicked).expect("a page");
    fs::write(folder.join("clicks.js"), include_str!("random_clicks.js")).expect("a script");
    let frames = format!(
        "{LISTENER}<iframe name=f0 src=\"clicked.html?seed={seed}#{payload}\" width=360 height=800></iframe>"
    );
    let seen = reports(browser, Scheme::Light, folder, &frames, 1).remove(0);
    assert_eq!(seen.note("whole"), "true", "{}: {}", seen.note("sub"), seen.note("letter"));
    seen.note("letter").replace('|', "\n")
}

/// Returns the link that this page opens.
fn link_in(page: &str) -> String {
    let html = fs::read_to_string(page).expect("the page that opens the board");
    let url = html.split_once("url=").and_then(|(_, url)| url.split_once('"'));
    url.expect("a link").0.to_owned()
}

/// Plays a match of this game, and fails if an answer refuses anything.
fn play(game: &str) {
    let Some(browser) = chromium() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut demo = Command::new(env!("CARGO_BIN_EXE_fogpost"))
        .args(["demo", "--play", game, "--level", "trainer", "--folder", "mine"])
        .current_dir(&folder)
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("fogpost runs");
    let mut keyboard = demo.stdin.take().expect("piped");
    let mut lines =
        BufReader::new(demo.stdout.take().expect("piped")).lines().map(|line| line.expect("UTF-8"));
    let mut is_over = false;
    for seed in 1..MAX_LETTERS {
        let mut link = None;
        for line in lines.by_ref() {
            let is_refusal = line.contains("is not valid") || line.contains("is not clear to me");
            assert!(!is_refusal && !line.contains("was filed."), "{game}, letter {seed}: {line}");
            is_over |= line.starts_with("To see the match");
            let board =
                line.strip_prefix("The board that writes your answer, renewed with each letter: file://");
            link = board.map(link_in).or(link);
            if is_over || line.starts_with("In place of the first line") {
                break;
            }
        }
        if is_over {
            break;
        }
        let letter = letter_of(&browser, &link.expect("each letter links the board"), seed);
        writeln!(keyboard, "{letter}\nEND").expect("it reads");
    }
    assert!(is_over, "{game}: no end after {MAX_LETTERS} letters");
    assert!(demo.wait().expect("our child").success());
}

#[test]
fn quad_is_played_to_its_end_by_clicks_alone() {
    play("quad");
}

#[test]
#[ignore = "takes minutes: cargo test --test servers clicked -- --ignored"]
fn the_other_games_are_played_to_their_ends_by_clicks_alone() {
    for game in ["quantum", "quadrant-z", "pacific"] {
        play(game);
    }
}
