//! The dossier can be checked with public tools alone, by the commands in CHECK.txt.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use fogpost::audit::dossier::DossierForm;
use fogpost::game::any::GameKind;
use fogpost::game::{Line, Seat};
use fogpost::letter::Address;
use fogpost::referee::{Act, Instruction, Match, MatchAction};
use fogpost::report::GmResult;

use crate::audit::cheat;
use crate::desk::{ANN, BO, Desk};

fn over() -> (Desk, Match) {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
    desk.reply(ANN, &to_ann, "MARBLE A1");
    desk.reply(ANN, &to_ann, "MARBLE E5\nFrom here on it is a remark");
    desk.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    desk.reply(BO, &to_bo, "RESIGN CONFIRM");
    let game_match = desk.find(&game_match.id);
    (desk, game_match)
}

pub fn write(folder: &Path, files: &BTreeMap<String, Vec<u8>>) {
    for (name, contents) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        std::fs::write(path, contents).expect("written");
    }
}

fn letter_with_orders(files: &BTreeMap<String, Vec<u8>>) -> &str {
    let orders = |contents: &[u8]| String::from_utf8_lossy(contents).contains("MARBLE");
    let mut letters = files.iter().filter(|(name, _)| name.starts_with("letters/"));
    letters.find(|(_, contents)| orders(contents)).expect("a letter with orders").0
}

/// Runs the commands in CHECK.txt and returns what they print: nothing if the dossier is sound.
pub fn by_hand(folder: &Path) -> String {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/desk/check.sh");
    let ran = Command::new(script).arg(folder).output().expect("bash, sha256sum and jq");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.success(), said.is_empty(), "{said}");
    said
}

#[test]
fn a_dossier_can_be_checked_with_public_tools_alone() {
    let (desk, game_match) = over();
    let files = desk.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &files);
    assert_eq!(by_hand(folder.path()), "");
    let letter = letter_with_orders(&files);
    let changes = [
        ("entries.jsonl", "MARBLE E5", "MARBLE E6"),
        ("key.txt", &game_match.key.reveal()[..4], "0a0b"),
        ("record.toml", "MARBLE", "MARBEL"),
        ("states.jsonl", "{", "{ "),
        (letter, "MARBLE", "MARBEL"),
    ];
    for (name, from, to) in changes {
        let text = String::from_utf8(files[name].clone()).expect("text");
        assert!(text.contains(from), "{from} is not in {name}");
        std::fs::write(folder.path().join(name), text.replacen(from, to, 1)).expect("written");
    }
    let said = by_hand(folder.path());
    for words in [
        "record.toml: FAILED",
        "its hash does not match",
        "it is missing or was changed",
        "a key is not the one that an entry pins",
        "its salt is not made from the key",
        "these are not the orders that were sealed",
        "the state",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

#[test]
fn a_dossier_contains_the_record_letters_reports_and_account() {
    let (desk, game_match) = over();
    let files = desk.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let text = |name: &str| String::from_utf8(files[name].clone()).expect("text");
    let record = fogpost::game::record::Record::parse(&text("record.toml")).expect("a record");
    assert_eq!(record.filings.len(), 3);
    assert!(text("letters.mbox").contains("\n>From here on"));
    assert_eq!(text("letters.mbox").lines().filter(|line| line.starts_with("From first ")).count(), 2);
    assert_eq!(files.keys().filter(|name| name.starts_with("letters/")).count(), 4);
    assert!(files.keys().any(|name| name.starts_with("sent/first/") && name.ends_with("-report.eml")));
    let account = text("account.html");
    assert_eq!(account.matches("<svg").count(), 2, "a board for each adjudication");
    assert!(account.contains("From here on it is a remark") && account.contains("MARBLE A5"));
}

#[test]
fn a_dossier_of_a_running_match_must_be_unsealed_and_the_ledger_records_it() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Pacific, &[]);
    let refused = desk.block_on(desk.office().material(&game_match.id, false, "the account"));
    assert!(refused.expect_err("the match is sealed").to_string().contains("--unsealed"));
    assert_eq!(desk.find(&game_match.id).head, game_match.head);
    desk.block_on(desk.office().material(&game_match.id, true, "the account of turn 4")).expect("unsealed");
    let entries = desk.block_on(desk.office().store.entries(&game_match.id)).expect("the store answers");
    let last = entries.last().expect("an entry");
    assert_eq!(last.kind, "Unsealed");
    assert!(last.json.contains("the account of turn 4"));
    desk.sent_to(ANN);
    desk.work();
    assert!(desk.sent_to(ANN).is_empty());
}

#[test]
fn the_account_shows_filings_and_what_each_seat_was_told() {
    let (desk, game_match) = over();
    let material = desk.block_on(desk.office().material(&game_match.id, false, "")).expect("the material");
    let templates = &desk.office().templates;
    let page =
        |turn| fogpost::audit::account::text(templates, &material, turn).expect("worded").expect("a page");
    let first = page(Some(1));
    for words in
        ["Orders of Ann for turn 1 were refused", "were sealed as", "    > MARBLE E5", "To Bo (report"]
    {
        assert!(first.contains(words), "{words} is not in\n{first}");
    }
    assert!(!first.contains("MARBLE A5"), "that is turn 2:\n{first}");
    assert!(page(Some(2)).contains("    > MARBLE A5"));
    assert!(page(None).contains("The match was closed: RESIGN second."));
}

#[test]
fn the_account_of_a_corrected_match_shows_the_boards_before_the_correction() {
    let desk = Desk::new();
    let game_match = desk.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (desk.one_to(ANN), desk.one_to(BO));
    desk.reply(ANN, &to_ann, "MARBLE E5");
    desk.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    let orders = Some((Seat::Second, vec![Line { no: 1, text: "MARBLE B8".to_owned() }]));
    for (reason, orders) in [("it was misread", orders), ("it came too late", None)] {
        let action = MatchAction::Correct { turn: 2, reason: reason.to_owned(), orders };
        let instruction = Instruction::Match { id: game_match.id.clone(), turn: None, action };
        let done = desk.block_on(desk.office().carry_out(&instruction)).expect("it is carried out");
        assert!(done.is_done(), "{done:?}");
        desk.work();
    }
    let to_bo = desk.last_to(BO);
    desk.reply(BO, &to_bo, "MARBLE K4");
    desk.reply(BO, &desk.last_to(BO), "RESIGN CONFIRM");
    assert!(desk.verify(&game_match.id).is_sound());
    let material = desk.block_on(desk.office().material(&game_match.id, false, "")).expect("the material");
    let page = fogpost::audit::account::text(&desk.office().templates, &material, None);
    let page = page.expect("worded").expect("a page");
    let boards: Vec<&str> = page.split("The board ").skip(1).map(|board| &board[..600]).collect();
    let title = |board: &&str| board.split(',').next().map(str::to_owned);
    let titles: Vec<_> = boards.iter().filter_map(title).collect();
    assert_eq!(
        titles,
        ["after turn 1", "after turn 2", "before turn 2", "after turn 2", "before turn 2", "after turn 2"]
    );
    let row = |board: &str, rank: usize| board.lines().nth(14 - rank).expect("a row").to_owned();
    for (board, whites) in boards.iter().zip([None, Some(5), None, Some(8), None, Some(4)]) {
        for rank in [4, 5, 8] {
            assert_eq!(row(board, rank).contains('W'), whites == Some(rank), "{rank}: {board}");
        }
    }
    let files = desk.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &files);
    assert_eq!(by_hand(folder.path()), "");
}

fn read(files: BTreeMap<String, Vec<u8>>) -> fogpost::audit::dossier::Dossier {
    fogpost::audit::dossier::read(files).expect("a dossier")
}

#[test]
fn another_club_can_import_a_finished_match_and_verify_it() {
    let (desk, game_match) = over();
    let files = desk.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let other = Desk::new();
    let verdict = other.block_on(other.office().take_dossier(read(files.clone()))).expect("a sound dossier");
    assert_eq!(verdict.head, game_match.head);
    assert_eq!(other.find(&game_match.id), game_match);
    assert!(other.verify(&game_match.id).is_sound());
    let marked = other.block_on(other.office().store.remembered(&format!("imported {}", game_match.id)));
    assert_eq!(marked.expect("the store answers").as_deref(), Some("The Test Club"));
    other.work();
    assert!(other.sent_to(ANN).is_empty(), "nothing is sent a second time");
    let again = other.block_on(other.office().take_dossier(read(files)));
    assert!(again.expect_err("it is there").to_string().contains("already exists here"));
}

#[test]
fn a_dossier_that_does_not_verify_is_not_imported() {
    let (desk, game_match) = over();
    let files = desk.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let other = Desk::new();
    let letter = letter_with_orders(&files);
    for (name, from, to) in [
        ("entries.jsonl", "MARBLE E5", "MARBLE E6"),
        (letter, "MARBLE", "MARBEL"),
        ("about.json", &game_match.key.reveal()[..4], "0a0b"),
    ] {
        let mut changed = files.clone();
        let text = String::from_utf8(files[name].clone()).expect("text");
        assert!(text.contains(from), "{from} is not in {name}");
        changed.insert(name.to_owned(), text.replacen(from, to, 1).into_bytes());
        assert!(other.block_on(other.office().take_dossier(read(changed))).is_err(), "{name}");
    }
    assert!(other.block_on(other.office().store.match_ids()).expect("the store answers").is_empty());
    let open = desk.open(GameKind::Quad, &[]);
    let running = desk.dossier(&open.id, DossierForm::Arbiter, true).expect("a dossier");
    let refused = fogpost::audit::dossier::read(running).expect_err("the match is running");
    assert!(refused.contains("only finished matches"), "{refused}");
}

/// The dossier with another `about.json`.
fn with_about(
    files: &BTreeMap<String, Vec<u8>>,
    change: impl FnOnce(&mut serde_json::Value),
) -> BTreeMap<String, Vec<u8>> {
    let mut files = files.clone();
    let mut about = serde_json::from_slice(&files["about.json"]).expect("JSON");
    change(&mut about);
    files.insert("about.json".to_owned(), about.to_string().into_bytes());
    files
}

#[test]
fn an_import_that_fails_in_the_end_leaves_nothing_behind() {
    let (desk, game_match) = over();
    let files = desk.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let dossier = read(files);
    let other = Desk::new();
    let taken = &dossier.dispatches.last().expect("a letter").0.message_id;
    cheat(
        &other,
        &[&format!(
            "INSERT INTO dispatch (message_id, recipient, kind, created_at, sent_at, urgency) \
             VALUES ('{taken}', 'cy@players.example', 'report', 0, 0, 1)"
        )],
    );
    other.block_on(other.office().take_dossier(dossier.clone())).expect_err("a Message-ID is taken");
    let store = &other.office().store;
    assert_eq!(other.block_on(store.players()).expect("the store answers"), []);
    assert!(other.letters().is_empty());
    assert!(other.block_on(store.match_ids()).expect("the store answers").is_empty());
    assert_eq!(other.block_on(store.remembered_under("imported ")).expect("the store answers"), []);
}

#[test]
fn an_imported_dossier_claims_no_address_and_no_player() {
    let (desk, game_match) = over();
    let files = desk.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let other = Desk::new();
    let ann = Address::parse(ANN).expect("an address");
    let add = Instruction::PlayerAdd { address: ann, name: "Ann".to_owned() };
    assert!(other.block_on(other.office().carry_out(&add)).expect("the store answers").is_done());
    other.block_on(other.office().take_dossier(read(files))).expect("a sound dossier");
    let store = &other.office().store;
    let known = other.block_on(store.player_by_address(ANN)).expect("the store answers").expect("Ann");
    assert_eq!(other.block_on(store.matches_of(known.id)).expect("the store answers"), []);
    assert_eq!(other.block_on(store.player_by_address(BO)).expect("the store answers"), None);
    // A letter with the token of the dossier acts for nobody.
    other.reply(BO, &desk.all_to(BO)[0], "STATUS");
    assert!(other.sent_to(BO).is_empty());
    assert_eq!(other.find(&game_match.id).head, game_match.head);
    assert!(other.verify(&game_match.id).is_sound());
    // Nobody can be told of an act on the match, so there is none.
    let note = MatchAction::Act(Act::Note { text: "A note".to_owned() });
    let note = Instruction::Match { id: game_match.id.clone(), turn: None, action: note };
    let done = other.block_on(other.office().carry_out(&note)).expect("an answer");
    assert!(
        matches!(&done, GmResult::Refused { says } if says.contains("no address of its players")),
        "{done:?}"
    );
    assert_eq!(other.find(&game_match.id).head, game_match.head);
}

#[test]
fn names_and_addresses_of_a_dossier_are_cleaned_before_they_are_stored() {
    let (desk, game_match) = over();
    let files = desk.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let strange = with_about(&files, |about| {
        about["players"]["first"]["name"] = "\u{202e}".into();
        about["players"]["second"]["name"] = format!("Bo\u{1b}[2J\n{}", "x".repeat(500)).into();
    });
    let other = Desk::new();
    other.block_on(other.office().take_dossier(read(strange))).expect("the match is sound");
    let players = other.block_on(other.office().store.players()).expect("the store answers");
    let names: Vec<&str> = players.iter().map(|player| player.name.as_str()).collect();
    assert_eq!(names, ["a player", &format!("Bo[2J{}", "x".repeat(35))]);
    let third = Desk::new();
    let refused = |change: &dyn Fn(&mut serde_json::Value)| {
        let strange = with_about(&files, change);
        let refused = third.block_on(third.office().take_dossier(read(strange)));
        refused.expect_err("it is strange").to_string()
    };
    let said = refused(&|about| {
        about["players"]["second"]["addresses"] = serde_json::json!(["Bo <bo@x.example>\n"])
    });
    assert!(said.contains("an address that is none"), "{said}");
    let said = refused(&|about| about["club"] = "A club\u{1b}[2J".into());
    assert!(said.contains("the club's name"), "{said}");
    let said = refused(&|about| about["snapshot"]["players"]["first"] = "Ann\nEve".into());
    assert!(said.contains("cannot be printed"), "{said}");
    let said = refused(&|about| about["snapshot"]["id"] = "../../QD".into());
    assert!(said.contains("a name that no match has"), "{said}");
}
