//! A layman checks a dossier with its own check.py, on a machine with nothing but Python.

use std::collections::BTreeMap;
use std::fs::File;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use fogpost::audit::dossier::DossierForm;
use fogpost::game::Reason;
use fogpost::game::any::GameKind;
use fogpost::referee::Stage;

use crate::dossier::contents::{by_hand, write};
use crate::referee::{ANN, BO, Referee};

const FORMS: [DossierForm; 2] = [DossierForm::Public, DossierForm::Arbiter];

/// Runs check.py of an unpacked dossier, and returns its exit status and output.
pub fn checked(folder: &Path, own_letters: &[&Path]) -> (i32, String) {
    let python =
        ["/usr/bin/python3", "/usr/local/bin/python3"].into_iter().find(|path| Path::new(path).exists());
    // `-I -S`: only the standard library.
    let ran = Command::new(python.unwrap_or("python3"))
        .args(["-I", "-S"])
        .arg(folder.join("check.py"))
        .args(own_letters)
        .env("PYTHONIOENCODING", "utf-8")
        .output()
        .expect("Python 3 is there");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    (ran.status.code().expect("an exit status"), said.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// A match of a game, with two letters of each player, that ended.
pub fn played(game: GameKind) -> (Referee, String) {
    let referee = Referee::new();
    let id = referee.open(game, &[]).id;
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    let (ann, bo) = match game {
        GameKind::QuadrantZ => ("SETUP balanced", "SETUP raid"),
        GameKind::Pacific => ("SETUP deep", "SETUP deep"),
        GameKind::Quantum => ("STATUS", "IF D3-E4 THEN E6-D5"),
        GameKind::Quad => ("MARBLE E5", "TURN 2\nMARBLE A5"),
    };
    referee.reply(ANN, &to_ann, "What a fine day\nwrite me at ann@elsewhere.example");
    referee.reply(ANN, &to_ann, ann);
    referee.reply(BO, &to_bo, bo);
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    assert_eq!(referee.find(&id).stage, Stage::Over);
    (referee, id)
}

fn dossier_of(referee: &Referee, id: &str, form: DossierForm) -> BTreeMap<String, Vec<u8>> {
    referee.dossier(id, form, false).expect("a dossier")
}

pub fn unpacked(files: &BTreeMap<String, Vec<u8>>) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), files);
    folder
}

/// The form in which a game's dossier is checked by hand.
fn by_hand_in(game: GameKind) -> DossierForm {
    match game {
        GameKind::QuadrantZ | GameKind::Quantum => DossierForm::Arbiter,
        GameKind::Pacific | GameKind::Quad => DossierForm::Public,
    }
}

#[test]
fn dossiers_of_all_games_in_both_forms_are_found_sound() {
    for game in GameKind::ALL.iter().copied() {
        let (referee, id) = played(game);
        for form in FORMS {
            let folder = unpacked(&dossier_of(&referee, &id, form));
            let (status, said) = checked(folder.path(), &[]);
            assert_eq!(status, 0, "{game:?} {form:?}: {said}");
            // Hundreds of processes check a dossier by hand, so one form of each game is enough.
            if form == by_hand_in(game) {
                assert_eq!(by_hand(folder.path()), "", "{game:?} {form:?}");
            }
            for words in [
                "form one chain",
                "Secret: it was fixed when the match was opened",
                "Result: nothing is wrong.",
            ] {
                assert!(said.contains(words), "{words}: {said}");
            }
            let withheld = "4 letters received, because this is the public form";
            assert_eq!(said.contains(withheld), form == DossierForm::Public, "{said}");
            assert_eq!(
                said.contains("Letters received: 4 letters checked"),
                form == DossierForm::Arbiter,
                "{said}"
            );
            assert_eq!(said.contains("dkimverify"), form == DossierForm::Arbiter, "{said}");
        }
    }
}

/// A match whose end an event or the clock decides has special kinds of entries.
#[test]
fn dossiers_of_matches_with_banks_that_ended_by_less_time_or_by_missed_turns_of_both_are_found_sound() {
    let club = crate::events::club("forfeit_after = 1\n");
    let plan = crate::events::LEAGUE.replace("season_days = 30", "season_days = 14\nbank = 1");
    let slow = plan.replace("\ndays = 3", "\ndays = 30");
    let late = plan.replace("EV-SPRING", "EV-SUMMER");
    let both = plan.replace("\"quad\"", "\"quadrant-z\"").replace("EV-SPRING", "EV-AUTUMN");
    for plan in [slow, late, both] {
        crate::events::announced(&club, &plan, &[ANN, BO, crate::events::CY]);
    }
    club.advance(19 * 24);
    let mut reasons = Vec::new();
    let all = ["EV-SPRING", "EV-SUMMER", "EV-AUTUMN"].map(|id| crate::events::matches(&club, id));
    for one in all.concat() {
        reasons.push(one.outcome().expect("an outcome").reason);
        for form in FORMS {
            let folder = unpacked(&dossier_of(&club, &one.id, form));
            let (status, said) = checked(folder.path(), &[]);
            assert_eq!(status, 0, "{:?} {form:?}: {said}", one.outcome());
        }
    }
    for reason in [Reason::LessTime, Reason::Forfeited, Reason::BothForfeited] {
        assert!(reasons.contains(&reason), "{reasons:?}");
    }
}

/// Replaces a text in a file whose name begins with `name`. If `listed`, updates the list of files to match.
fn tampered(
    files: &BTreeMap<String, Vec<u8>>,
    (name, from, to): (&str, &str, &str),
    listed: bool,
) -> BTreeMap<String, Vec<u8>> {
    let mut files = files.clone();
    let is_meant = |(found, contents): &(&String, &Vec<u8>)| {
        found.starts_with(name) && String::from_utf8_lossy(contents).contains(from)
    };
    let (name, contents) = files.iter().find(is_meant).unwrap_or_else(|| panic!("{from} is in no {name}"));
    let changed = String::from_utf8(contents.clone()).expect("text").replacen(from, to, 1);
    let sums = String::from_utf8(files["SHA256SUMS"].clone()).expect("text");
    let sum = |contents: &[u8]| fogpost::letter::Digest::of(contents).to_string();
    let sums = sums.replace(&sum(contents), &sum(changed.as_bytes()));
    let name = name.clone();
    files.insert(name, changed.into_bytes());
    if listed {
        files.insert("SHA256SUMS".to_owned(), sums.into_bytes());
    }
    files
}

#[test]
fn a_dossier_that_was_tampered_with_is_named_in_words() {
    let (referee, id) = played(GameKind::Quad);
    for form in FORMS {
        let files = dossier_of(&referee, &id, form);
        let (_, said) =
            checked(unpacked(&tampered(&files, ("record", "MARBLE E5", "MARBLE E6"), false)).path(), &[]);
        assert!(said.contains("the file record.toml was changed"), "{said}");
        for (change, words) in [
            (("entries.jsonl", "MARBLE E5", "MARBLE E6"), "was changed: its hash does not match"),
            (("entries.jsonl", "MARBLE E5", "MARBLE E6"), "these are not the orders that were sealed"),
            (("entries.jsonl", "MARBLE A5", "MARBLE A6"), "not those that it sealed last"),
            (("entries.jsonl", "\"seq\":4", "\"seq\":5"), "entry 4 bears another number"),
            (("entries.jsonl", "\"prev\":\"", "\"prev\":\"0"), "does not follow the one before it"),
            (("entries.sha256", "\n", "\n0"), "its hash does not match"),
            (("key.txt", "", "0a0b"), "does not hold the secret that the ledger pins"),
            (("states.jsonl", "{", "{ "), "the position after adjudication 1 was changed"),
            (("positions.jsonl", "\"turn\":", "\"turn\":9"), "positions.jsonl, line 1 differs"),
            (("letters.jsonl", "\"letter\":\"", "\"letter\":\"00"), "but no entry names it"),
            (("sent.jsonl", "\n", "\n\n"), "sent.jsonl, line 2 cannot be read"),
            (("about.json", "\"head\": {", "\"head\": {\"x\": 0,"), "does not end with the entry"),
        ] {
            let (status, said) = checked(unpacked(&tampered(&files, change, true)).path(), &[]);
            assert!(status != 0 && said.contains(words), "{form:?} {change:?}: {words}\n{said}");
        }
    }
    let files = dossier_of(&referee, &id, DossierForm::Arbiter);
    for (change, words) in [
        (("letters/", "MARBLE E5", "MARBLE E6"), "was changed"),
        (("sent/first", "E5", "E6"), "is not the one that the ledger lists"),
    ] {
        let (status, said) = checked(unpacked(&tampered(&files, change, true)).path(), &[]);
        assert!(status == 1 && said.contains(words), "{change:?}: {said}");
    }
    let change = ("sent/first", "charset=utf-8", "charset=utf-0");
    let (status, said) = checked(unpacked(&tampered(&files, change, true)).path(), &[]);
    assert!(status == 2 && said.contains("of another kind (unknown encoding"), "{said}");
    for (gone, words) in
        [("letters/", "is missing"), ("sent/", "is missing"), ("key.txt", "key.txt is missing")]
    {
        let mut files = files.clone();
        let name = files.keys().find(|name| name.starts_with(gone)).expect("a file").clone();
        files.remove(&name);
        let (status, said) = checked(unpacked(&files).path(), &[]);
        assert!(status == 1 && said.contains(words), "{gone}: {said}");
    }
    let mut added = files;
    added.insert("letters/more.eml".to_owned(), b"From: x@y.example\r\n\r\nHello\r\n".to_vec());
    let (status, said) = checked(unpacked(&added).path(), &[]);
    assert!(status == 1 && said.contains("letters/more.eml was added"), "{said}");
}

#[test]
fn a_players_own_letter_is_compared_with_the_dossier() {
    let (referee, id) = played(GameKind::Quad);
    let folder = unpacked(&dossier_of(&referee, &id, DossierForm::Public));
    let own = folder.path().join("own.eml");
    let letter = referee.raw_to(ANN).into_iter().nth(1).expect("a letter");
    std::fs::write(&own, &letter).expect("written");
    let (status, said) = checked(folder.path(), &[&own]);
    assert!(status == 0 && said.contains("are what they were when this letter was sent"), "{said}");
    let text = String::from_utf8(letter).expect("text");
    let hash = fogpost::audit::witness::in_mail(text.as_bytes())[0].hash.to_string();
    std::fs::write(&own, text.replace(&hash, &hash.chars().rev().collect::<String>())).expect("written");
    let (status, said) = checked(folder.path(), &[&own]);
    assert!(status == 1 && said.contains("the chain was rewritten, or the letter was"), "{said}");
}

#[test]
fn a_public_dossier_holds_no_address_no_token_and_no_bytes() {
    let (referee, id) = played(GameKind::Quad);
    let tokens: Vec<String> = [ANN, BO].map(|player| referee.all_to(player)[0].token().to_owned()).into();
    let files = dossier_of(&referee, &id, DossierForm::Public);
    for (name, contents) in &files {
        assert!(!name.ends_with(".eml") && !name.ends_with(".mbox"), "{name}");
        let text = String::from_utf8_lossy(contents).to_lowercase();
        for secret in tokens.iter().map(String::as_str).chain(["ann@", "bo@"]) {
            assert!(!text.contains(secret), "{secret} is in {name}");
        }
    }
    let text = |name: &str| String::from_utf8_lossy(&files[name]).into_owned();
    let parts: String =
        files.keys().filter(|name| name.starts_with("parts/")).map(|name| text(name)).collect();
    assert!(parts.contains("MARBLE E5\n") && parts.contains("write me at [blacked out]"), "{parts}");
    assert!(text("account.html").contains("What a fine day"));
}

#[test]
fn an_arbiters_dossier_renews_the_tokens_that_it_holds() {
    let (referee, id) = played(GameKind::Quad);
    referee.sent_to(ANN);
    let old = referee.all_to(ANN)[0].clone();
    let files = dossier_of(&referee, &id, DossierForm::Arbiter);
    referee.work();
    let renewed = referee.one_to(ANN);
    assert_ne!(renewed.token(), old.token());
    for (name, contents) in &files {
        assert!(!String::from_utf8_lossy(contents).contains(renewed.token()), "{name}");
    }
    let head = referee.find(&id).head;
    referee.reply(ANN, &old, "STATUS");
    assert_eq!(referee.find(&id).head, head, "the old token is worth nothing");
    assert!(referee.verify(&id).is_sound());
}

#[test]
fn the_key_of_a_running_match_is_in_no_dossier() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    referee.reply(ANN, &referee.one_to(ANN), "MARBLE E5");
    for form in FORMS {
        let files = referee.dossier(&game_match.id, form, true).expect("a dossier");
        for (name, contents) in &files {
            let text = String::from_utf8_lossy(contents);
            assert!(!text.contains(&game_match.key.reveal()), "{name}");
        }
        let folder = unpacked(&files);
        let (status, said) = checked(folder.path(), &[]);
        assert!(
            status == 0 && said.contains("the secret of the match") && said.contains("until the match ends"),
            "{said}"
        );
        assert_eq!(by_hand(folder.path()), "");
    }
}

/// Words of a refusal, and a function that puts something at a path that is refused for that reason.
type Way = (&'static str, fn(&Path));

#[test]
fn what_is_no_regular_file_of_a_sensible_size_is_refused_before_it_is_read() {
    let (referee, id) = played(GameKind::Quad);
    let files = dossier_of(&referee, &id, DossierForm::Arbiter);
    let letter = files.keys().find(|name| name.starts_with("letters/")).expect("a letter").clone();
    let sent = files.keys().find(|name| name.starts_with("sent/")).expect("a letter").clone();
    let ways: [Way; 4] = [
        ("is a link", |path| symlink("/dev/zero", path).expect("a link")),
        ("is a folder, a pipe or a device", |path| {
            assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
        }),
        ("is larger than", |path| {
            File::create(path).expect("a file").set_len(100_000_000_000).expect("a hole");
        }),
        ("cannot be read", |path| std::fs::create_dir(path).expect("a folder")),
    ];
    for name in ["entries.jsonl", "about.json", "SHA256SUMS", "key.txt", &letter, &sent] {
        for (words, put) in ways {
            let folder = unpacked(&files);
            let path = folder.path().join(name);
            std::fs::remove_file(&path).expect("removed");
            put(&path);
            let began = Instant::now();
            let (status, said) = checked(folder.path(), &[]);
            assert_eq!(status, 2, "{name}: {said}");
            assert!(said.contains(&format!("{name} {words}")), "{name}: {said}");
            assert!(began.elapsed() < Duration::from_secs(20), "{name} {words}: {:?}", began.elapsed());
        }
    }
}

#[test]
fn nothing_outside_the_folder_of_a_dossier_is_read() {
    let (referee, id) = played(GameKind::Quad);
    let files = dossier_of(&referee, &id, DossierForm::Arbiter);
    let elsewhere = unpacked(&files);
    let folder = unpacked(&files);
    std::fs::remove_dir_all(folder.path().join("letters")).expect("removed");
    symlink(elsewhere.path().join("letters"), folder.path().join("letters")).expect("a link");
    let (status, said) = checked(folder.path(), &[]);
    assert!(status == 2 && said.contains("letters is a link"), "{said}");
    for name in ["/etc/passwd", "../about.json", "sent/../../about.json"] {
        let sums = format!("{}  {name}\n", "0".repeat(64));
        let sums = String::from_utf8(files["SHA256SUMS"].clone()).expect("text") + &sums;
        let mut files = files.clone();
        files.insert("SHA256SUMS".to_owned(), sums.into_bytes());
        let (status, said) = checked(unpacked(&files).path(), &[]);
        assert!(status == 2 && said.contains("no file within it"), "{name}: {said}");
    }
}

#[test]
fn a_judge_checks_a_dossier_with_the_program_of_a_release() {
    let (referee, id) = played(GameKind::Quad);
    let mut files = dossier_of(&referee, &id, DossierForm::Arbiter);
    files.insert("check.py".to_owned(), b"print('Nothing is wrong.')\n".to_vec());
    let (dossier, release) = (unpacked(&files), tempfile::tempdir().expect("a folder"));
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/core/src/audit/check.py");
    std::fs::copy(program, release.path().join("check.py")).expect("copied");
    let (status, said) = checked(release.path(), &[dossier.path()]);
    assert!(status == 1 && said.contains("the file check.py was changed"), "{said}");
}

#[test]
fn the_book_of_an_event_is_checked_alone_and_with_a_players_letters() {
    let club = crate::events::club("");
    crate::events::announced(&club, crate::events::LEAGUE, &[ANN, BO, crate::events::CY]);
    crate::events::gm(&club, "GM EVENT EV-SPRING OPEN");
    for one in crate::events::matches(&club, "EV-SPRING") {
        crate::events::play_until_resigned(&club, &one, fogpost::game::Seat::First);
    }
    club.work();
    let folder = tempfile::tempdir().expect("a folder");
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/core/src/audit/check.py");
    std::fs::copy(program, folder.path().join("check.py")).expect("copied");
    let rows = club.block_on(club.office().store.book("EV-SPRING")).expect("the store answers");
    let book: String = rows.iter().map(|row| row.json.clone() + "\n").collect();
    let (file, own) = (folder.path().join("book.txt"), folder.path().join("own.eml"));
    let letter = club.raw_to(ANN).pop().expect("the standings");
    std::fs::write(&own, letter).expect("written");
    let check = |book: &str| {
        std::fs::write(&file, book).expect("written");
        checked(folder.path(), &[&file, &own])
    };
    let (status, said) = check(&book);
    assert!(
        status == 0 && said.contains("1 table follows") && said.contains("when this letter was sent"),
        "{said}"
    );
    for (from, to, words) in [
        ("\"outcome\":\"second\"", "\"outcome\":\"first\"", "the points of player"),
        ("\"name\":\"Spring League\"", "\"name\":\"Winter League\"", "does not follow the one before it"),
        ("\"kind\":\"StandingsClosed\"", "\"kind\":\"Noted\"", "not on this chain"),
    ] {
        let (status, said) = check(&book.replacen(from, to, 1));
        assert!(status == 1 && said.contains(words), "{from}: {said}");
    }
}
