//! Readable cases: `tests/cases/GAME/CLAUSE-WORDS.txt`, each a short match that shows one clause of a rules page.
//!
//! ```text
//! # P-TORPEDO: a torpedo sinks at exactly two king's steps, and never a squadron.
//!
//! option quiet_limit = 3                 # a game option, at the top of the file
//!
//! setup = "standard"                     # both seats file tests/cases/GAME/setup/standard.txt
//! first.setup = "standard"               # one seat files it, with the lines below added
//!     SHIP 1 3/2 A3
//!
//! first: A1 A2                           # a filing of one order; `nothing` is an empty one
//! second:                                # a filing of several
//!     STAR C4 C4
//!     MARBLE D4
//! fault 1 = "already in this turn"       # line 1 of this filing is refused, with these words
//! fault = "no marble"                    # a fault of the filing as a whole
//! referee: RESIGN first                  # ends the match from outside the rules
//! second passes                          # the referee passes for a seat that cannot move
//! second answers                         # a condition was met, and the answer sent ahead is adjudicated
//!
//! turn = 3                               # an assertion about the last adjudication
//! ```
//!
//! A comment is a whole line that starts with `#`; the first one says what the case shows. Every fault, every pass
//! and every answer sent ahead must be stated, or the case fails. Faults in lines added to a setup count from the first added line.
//!
//! An assertion names a value in the line that `fogpost replay --json` prints for the adjudication. A name starts in
//! a seat's view (`first`, `second`), in the line itself (`due.phase`, `result`) or in its state (all others). Items
//! of lists are selected by what identifies them: `star.M1.value`, `first.ship.3.at`, `battle.Q.own.damage`,
//! `ship.first.V1.at`, else by position (`first.news.2`); `stars.count` is the length of a list. Words need no quotes:
//! `due.seats = [first]`, `stack.B1 = { side = first, kind = Q, height = 2 }`, `result = null`,
//! `ship.first.A1 = absent`.

mod case;
mod check;
mod value;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use fogpost_games::game::any::GameKind;

fn cases_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases")
}

/// Returns the paths in `folder`, sorted.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let listed = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = listed.map(|entry| entry.expect("a directory entry").path()).collect();
    paths.sort();
    paths
}

/// Returns the faults of one case, each with its line.
fn faults(game: GameKind, path: &Path) -> Vec<String> {
    let setups = cases_folder().join(game.key()).join("setup");
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => return vec![error.to_string()],
    };
    match case::parse(&text, &setups) {
        Ok(case) => check::faults(game, &case),
        Err(fault) => vec![fault],
    }
}

#[track_caller]
fn assert_cases_hold(game: GameKind) {
    let folder = cases_folder().join(game.key());
    let paths: Vec<_> = entries(&folder).into_iter().filter(|path| path.is_file()).collect();
    assert!(!paths.is_empty(), "{game} has no cases");
    let mut failed = Vec::new();
    for path in &paths {
        let name = path.strip_prefix(cases_folder()).unwrap_or(path).display();
        if path.extension().is_none_or(|extension| extension != "txt") {
            failed.push(format!("{name}: a case file is named CLAUSE-WORDS.txt"));
            continue;
        }
        failed.extend(faults(game, path).into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(failed.is_empty(), "{} faults in {} cases:\n{}", failed.len(), paths.len(), failed.join("\n"));
}

#[test]
fn every_case_of_every_game_holds() {
    for &game in GameKind::ALL {
        assert_cases_hold(game);
    }
}

#[test]
fn each_game_has_a_folder_of_cases() {
    let folders = entries(&cases_folder()).into_iter().filter(|path| path.is_dir());
    let found: BTreeSet<String> =
        folders.map(|path| path.file_name().unwrap_or_default().to_string_lossy().into_owned()).collect();
    let games: BTreeSet<String> = GameKind::ALL.iter().map(|game| game.key().to_owned()).collect();
    assert_eq!(found, games);
}

/// The faults of a case of Quad with this text.
fn faults_of(text: &str) -> Vec<String> {
    match case::parse(text, Path::new("no-such-folder")) {
        Ok(case) => check::faults(GameKind::Quad, &case),
        Err(fault) => vec![fault],
    }
}

#[test]
fn a_faulty_case_file_is_rejected_with_its_line() {
    for (text, fault) in [
        ("first: E6\n", "line 1: start with a comment that says what the case shows"),
        ("# x\nfirst: E6\nturn is 1\n", "line 3: `turn is 1` is not a statement"),
        ("# x\nthird: E6\n", "line 2: `third: E6` is not a statement"),
        ("# x\nfirst:\nturn = 1\n", "line 2: a filing without orders is written `first: nothing`"),
        ("# x\n    E6\n", "line 2: an indented line belongs to a filing, and there is none above"),
        ("# x\nfirst: E6\nturn =\n", "line 3: a value is missing"),
        ("# x\nfirst: E6\nquads = [E6\n", "line 3: `]` is missing"),
        ("# x\nfirst: E6\noption swap = on\n", "line 3: options come before the first filing"),
        ("# x\nsetup = \"none\"\nturn = 1\n", "line 2: setup none: "),
        ("# x\noption swop = on\nfirst: E6\nturn = 1\n", "swop"),
        ("# x\n", "line 1: the case asserts nothing"),
    ] {
        let faults = faults_of(text);
        assert!(faults.len() == 1 && faults[0].contains(fault), "{text:?}: {faults:?}");
    }
}

#[test]
fn a_case_fails_on_each_assertion_that_does_not_hold() {
    for (text, fault) in [
        ("turn = 2", "line 4: turn is 1; the case expects 2"),
        ("last.at = E6", "line 4: last.at is absent; the case expects \"E6\""),
        ("turn = absent", "line 4: turn is 1; the case expects absent"),
        ("no.such.name = 1", "line 4: `no.such.name`: there is no `no` in the adjudication"),
        ("marbles.first.5 = E6", "line 4: marbles.first.5 is absent; the case expects \"E6\""),
        ("marbles.first.count = 2", "line 4: marbles.first.count is 1; the case expects 2"),
        ("last = { side = first }", "line 4: last is {"),
        ("second passes", "line 4: the referee passes for nobody here"),
        ("fault = \"x\"", "line 4: the filing above has no such fault"),
        ("second: E6", "line 4: refused: line 1: A piece stands on E6 already"),
        ("second: E6\nfault 2 = \"E6\"", "line 5: the fault is of line 1: A piece stands on E6 already"),
        ("second: E6\nfault 1 = \"E7\"", "line 5: the fault says: A piece stands on E6 already"),
        ("second: E6\nfault 1 = \"E6\"\nturn = 1", "line 6: the filing above was refused"),
    ] {
        let faults = faults_of(&format!("# x\nfirst: E6\nturn = 1\n{text}\n"));
        assert!(faults.len() == 1 && faults[0].contains(fault), "{text:?}: {faults:?}");
    }
    assert_eq!(
        faults_of("# x\nfirst: E6\nmarbles.first = [E6]\nlast.side = first\nquads.1 = absent\n"),
        [""; 0]
    );
}
