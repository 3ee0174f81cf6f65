//! The site: the facts about matches that it shows, and the files that it never touches.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use fogpost::daemon::site::{self, Written};
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::game::record::Record;

use fogpost::letter::Digest;

use crate::audit::database::cheat;
use crate::events;
use crate::pages::assert_sound;
use crate::referee::{ANN, BO, Referee};

pub fn build(referee: &Referee, folder: &Path) -> Written {
    referee.block_on(site::build(referee.office(), folder)).expect("a site")
}

/// The files below a folder by path.
pub fn files(folder: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut open = vec![folder.to_owned()];
    while let Some(next) = open.pop() {
        for entry in fs::read_dir(next).expect("a folder").flatten() {
            if entry.path().is_dir() {
                open.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(folder).expect("below it").display().to_string();
                found.insert(name, fs::read_to_string(entry.path()).expect("a text"));
            }
        }
    }
    found
}

#[test]
fn a_finished_match_has_a_replay_that_its_result_links() {
    let referee = Referee::with("[site]\nurl = \"https://club.example/\"\n");
    let folder = tempfile::tempdir().expect("a folder");
    let id = referee.open(GameKind::Quad, &[]).id;
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    let running = build(&referee, folder.path());
    assert!(!files(folder.path()).keys().any(|path| path.contains(&id)));
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    referee.last_to(ANN).says(&format!("https://club.example/matches/{id}/"));
    let built = build(&referee, folder.path());
    assert_eq!(built.deleted, 0);
    assert!(built.files > running.files);
    let files = files(folder.path());
    let page = &files[&format!("matches/{id}/index.html")];
    assert!(page.contains("Bo resigned in turn 2."), "{page}");
    assert!(page.contains(&referee.find(&id).key.reveal()));
    Record::parse(&files[&format!("matches/{id}/record.toml")]).expect("a record");
    assert!(files[&format!("matches/{id}/words.html")].contains("MARBLE E5"));
    assert!(page.contains("default-src 'none'"), "the page makes no connection: {page}");
    let chain = &files[&format!("matches/{id}/chain.js")];
    let items = chain.trim().strip_prefix("window.ledgerChain = ").and_then(|list| list.strip_suffix(';'));
    let items: Vec<String> = serde_json::from_str(items.expect("a list")).expect("texts");
    let heads: Vec<String> = items
        .iter()
        .map(
            |item| if item.starts_with('{') { Digest::of(item.as_bytes()).to_string() } else { item.clone() },
        )
        .collect();
    assert_eq!(heads.last(), Some(&referee.find(&id).head.hash.to_string()));
    for (item, head) in items.iter().skip(1).zip(&heads).filter(|(item, _)| item.starts_with('{')) {
        assert!(item.contains(&format!("\"prev\":\"{head}\"")), "{item}");
    }
    assert!(items.iter().any(|item| item.contains("OrdersSealed")), "{chain}");
    assert!(!items[0].starts_with('{'), "the opening names the players: {}", items[0]);
    assert!(files["feed.atom"].contains(&format!("https://club.example/matches/{id}/")));
    for (path, text) in &files {
        assert!(!text.contains(ANN) && !text.contains(to_ann.token()), "{path}");
    }
    let again = build(&referee, folder.path());
    assert_eq!((again.written, again.deleted), (0, 0), "nothing has changed");
}

/// Each pair of databases differs in what the rules hide while a match runs: a sealed filing, a refused letter, an
/// offer, a deadline.
#[test]
fn what_the_rules_hide_changes_no_byte_of_the_site() {
    for game in GameKind::ALL {
        let referee = Referee::new();
        let folder = tempfile::tempdir().expect("a folder");
        let opened = referee.open(*game, &[]);
        let to_ann = referee.one_to(ANN);
        build(&referee, folder.path());
        let before = files(folder.path());
        let hidden = ["MARBLE Z99", "DRAW", "EXTEND 3 days", "CHECK\nnonsense"];
        for letter in hidden {
            referee.reply(ANN, &to_ann, letter);
            assert_eq!(build(&referee, folder.path()).written, 0, "{game}: {letter}");
        }
        // If both sides file in a phase, the first filing decides nothing.
        let setup = match game {
            GameKind::QuadrantZ => Some("SETUP balanced"),
            GameKind::Pacific => Some("SETUP line"),
            GameKind::Quantum | GameKind::Quad => None,
        };
        if let Some(setup) = setup {
            referee.reply(ANN, &to_ann, setup);
            assert!(!referee.find(&opened.id).awaits(Seat::First), "{game}: the setup is sealed");
            assert_eq!(build(&referee, folder.path()).written, 0, "{game}: {setup}");
        }
        assert_eq!(before, files(folder.path()), "{game}");
    }
}

/// In a match with casualties to choose, the number of owed turns would reveal a battle.
#[test]
fn a_turn_of_a_running_match_changes_no_page_of_a_player() {
    let referee = Referee::new();
    let folder = tempfile::tempdir().expect("a folder");
    referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    let players = || {
        build(&referee, folder.path());
        files(folder.path()).into_iter().filter(|(path, _)| path.starts_with("players/")).collect::<Vec<_>>()
    };
    let before = players();
    referee.reply(ANN, &to_ann, "MARBLE E5");
    assert_eq!(before, players());
}

#[test]
fn a_player_who_is_not_public_is_a_number_in_every_file() {
    let referee = Referee::new();
    let folder = tempfile::tempdir().expect("a folder");
    referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    build(&referee, folder.path());
    assert!(files(folder.path()).values().any(|text| text.contains("Ann")));
    referee.reply(ANN, &to_ann, "SETTINGS public=off");
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    build(&referee, folder.path());
    for (path, text) in files(folder.path()) {
        assert!(!text.contains("Ann") || path.starts_with("games/"), "{path}");
    }
}

#[test]
fn a_folder_with_other_files_is_refused_and_strange_files_stay() {
    let referee = Referee::new();
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("thesis.txt"), "mine").expect("a file");
    let refused =
        referee.block_on(site::build(referee.office(), folder.path())).expect_err("it is not empty");
    assert!(refused.to_string().contains("choose an empty folder"), "{refused:#}");
    assert_eq!(files(folder.path()).len(), 1);
    fs::remove_file(folder.path().join("thesis.txt")).expect("it is there");
    build(&referee, folder.path());
    fs::write(folder.path().join("CNAME"), "club.example").expect("a file");
    fs::write(folder.path().join("games/notes.txt"), "mine").expect("a file");
    // A finished match appears. Then the site of a club without that match is built into the same folder.
    let opened = referee.open(GameKind::Quad, &[]);
    let to_ann = referee.one_to(ANN);
    referee.reply(ANN, &to_ann, "RESIGN CONFIRM");
    build(&referee, folder.path());
    let other = Referee::new();
    let built = build(&other, folder.path());
    assert!(built.deleted > 0);
    let files = files(folder.path());
    assert!(files.contains_key("CNAME") && files.contains_key("games/notes.txt"));
    assert!(!files.keys().any(|path| path.contains(&opened.id)), "{:?}", files.keys());
}

#[test]
fn a_folder_whose_list_cannot_be_trusted_is_built_anew_and_nothing_else_is_touched() {
    let referee = Referee::new();
    let place = tempfile::tempdir().expect("a folder");
    let (folder, victim) = (place.path().join("site"), place.path().join("victim"));
    // A folder of a repository is empty, too.
    fs::create_dir_all(folder.join(".git")).expect("a folder");
    fs::write(folder.join(".git/HEAD"), "ref").expect("a file");
    fs::write(&victim, "mine").expect("a file");
    let whole = build(&referee, &folder);
    let (page, mark) = (folder.join("index.html"), folder.join(".fogpost-site.json"));
    let text = fs::read_to_string(&page).expect("a page");
    let spoil = |what: usize| match what {
        0 => fs::write(&mark, ""),
        1 => fs::write(&mark, r#"{"list":"#),
        2 => fs::remove_file(&mark),
        3 => fs::write(&mark, r#"{"../victim":"0","list":null}"#),
        _ => fs::remove_file(&mark).and_then(|()| std::os::unix::fs::symlink(&victim, &mark)),
    };
    for what in 0..5 {
        spoil(what).expect("spoilt");
        // A page that the list does not have, and one that an interrupted build has left half written.
        fs::create_dir_all(folder.join("players/P-999")).expect("a folder");
        fs::write(folder.join("players/P-999/index.html"), "Eve").expect("a file");
        fs::write(folder.join("feed.atom.fogpost-new"), "<fe").expect("a file");
        fs::write(folder.join("games/notes.txt"), "mine").expect("a file");
        let built = build(&referee, &folder);
        assert_eq!((built.files, built.written, built.deleted), (whole.files, whole.files, 2), "{what}");
        assert!(!folder.join("players/P-999").exists());
        assert_eq!(fs::read_to_string(&page).expect("a page"), text);
        assert_eq!((build(&referee, &folder).written, build(&referee, &folder).deleted), (0, 0), "{what}");
    }
    // A page that was cut, as on a full disk, is written again.
    fs::write(&page, "").expect("cut");
    assert_eq!(build(&referee, &folder).written, 1);
    assert_eq!(fs::read_to_string(&page).expect("a page"), text);
    // A list that names what no site holds is not trusted, either.
    let name = folder.to_string_lossy();
    cheat(&referee, &[&format!("INSERT INTO site_file VALUES ('{name}', '../victim', '0')")]);
    build(&referee, &folder);
    let found = files(place.path());
    for (file, text) in [("victim", "mine"), ("site/.git/HEAD", "ref"), ("site/games/notes.txt", "mine")] {
        assert_eq!(found[file], text, "{file}");
    }
}

#[test]
fn the_site_is_written_through_no_link() {
    let referee = Referee::new();
    let place = tempfile::tempdir().expect("a folder");
    let (folder, elsewhere) = (place.path().join("site"), place.path().join("elsewhere"));
    build(&referee, &folder);
    fs::create_dir(&elsewhere).expect("a folder");
    fs::write(elsewhere.join("index.html"), "mine").expect("a file");
    // A page that is a link is replaced.
    let link = |to: &Path, at: &Path| std::os::unix::fs::symlink(to, at).expect("a link");
    fs::remove_file(folder.join("index.html")).expect("a page");
    link(&elsewhere.join("index.html"), &folder.join("index.html"));
    assert_eq!(build(&referee, &folder).written, 1);
    assert!(fs::symlink_metadata(folder.join("index.html")).expect("a page").is_file());
    // A folder that is a link is refused, wherever it is.
    let refused = |folder: &Path| {
        let error = referee.block_on(site::build(referee.office(), folder)).expect_err("a link");
        assert!(format!("{error:#}").contains("is a link or no folder"), "{error:#}");
    };
    fs::rename(folder.join("games"), place.path().join("games")).expect("moved");
    link(&elsewhere, &folder.join("games"));
    refused(&folder);
    fs::remove_file(folder.join("games")).expect("a link");
    build(&referee, &folder);
    let other = place.path().join("link");
    link(&folder, &other);
    refused(&other);
    refused(&other.join(""));
    assert_eq!(files(&elsewhere), [("index.html".to_owned(), "mine".to_owned())].into());
}

/// A club in which everything has happened: an event, results, ratings, a running match of each game, an open seat.
fn busy_club(folder: &Path) -> Referee {
    let referee = events::club("[site]\nurl = \"https://club.example\"\n");
    events::announced(&referee, events::LEAGUE, &[ANN, BO, events::CY]);
    referee.advance(96);
    let opened = events::matches(&referee, "EV-SPRING");
    events::play_until_resigned(&referee, &opened[0], Seat::Second);
    events::play_until_resigned(&referee, &opened[1], Seat::First);
    GameKind::ALL.iter().for_each(|game| drop(referee.open(*game, &[])));
    referee.write(ANN, "OPEN quantum");
    build(&referee, folder);
    referee
}

#[test]
fn an_event_has_a_page_and_a_feed_that_link_its_matches_and_players() {
    let folder = tempfile::tempdir().expect("a folder");
    let referee = busy_club(folder.path());
    let files = files(folder.path());
    let event = &files["events/EV-SPRING/index.html"];
    let head = events::event(&referee, "EV-SPRING").head.hash.to_string();
    for words in ["Spring League", "Season 1", "Division 1", "turn 1", "players/P-1/index.html", &head] {
        assert!(event.contains(words), "{words}: {event}");
    }
    let finished = events::matches(&referee, "EV-SPRING").swap_remove(0).id;
    assert!(event.contains(&format!("matches/{finished}/index.html")));
    for page in [
        format!("matches/{finished}/index.html"),
        "players/P-1/index.html".to_owned(),
        "index.html".to_owned(),
    ] {
        assert!(files[&page].contains("events/EV-SPRING/index.html"), "{page}");
    }
    let feed = &files["events/EV-SPRING/feed.atom"];
    for words in ["Spring League is announced", "Season 1 of Spring League begins", finished.as_str()] {
        assert!(feed.contains(words) && files["feed.atom"].contains(words), "{words}: {feed}");
    }
    assert!(!feed.contains(&referee.open(GameKind::Quad, &[]).id));
}

#[test]
fn every_page_of_a_club_is_sound() {
    let folder = tempfile::tempdir().expect("a folder");
    busy_club(folder.path());
    let files = files(folder.path());
    assert!(files.len() > 25, "{:?}", files.keys());
    assert_sound(&files);
    // Keep a copy for inspection, if asked to.
    if let Some(kept) = std::env::var_os("FOGPOST_KEEP_SITE") {
        let copied = std::process::Command::new("cp").arg("-a").arg(folder.path()).arg(kept).status();
        assert!(copied.expect("cp runs").success());
    }
}
