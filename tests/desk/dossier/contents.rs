//! The dossier can be checked with public tools alone, using the commands in CHECK.txt.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use fogpost::audit::dossier::{Dossier, DossierForm};
use fogpost::audit::{AuditVerdict, Finding, Place};
use fogpost::daemon::audit::dossier;
use fogpost::daemon::instruct;
use fogpost::game::any::GameKind;
use fogpost::game::{Line, Seat};
use fogpost::house;
use fogpost::ledger::{Act, Cause};
use fogpost::referee::{Instruction, Match, MatchAction};

use crate::audit::wording::put_template;
use crate::dossier::check_program::{checked, played, unpacked};
use crate::referee::{ANN, BO, Referee, Sent};

fn over() -> (Referee, Match) {
    let referee = Referee::with("settle_words = 0\n");
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &to_ann, "MARBLE A1");
    referee.reply(ANN, &to_ann, "MARBLE E5\nFrom here on it is a remark");
    referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    let game_match = referee.find(&game_match.id);
    (referee, game_match)
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
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/desk/dossier/check.sh");
    let ran = Command::new(script).arg(folder).output().expect("bash, sha256sum and jq");
    let said = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert_eq!(ran.status.success(), said.is_empty(), "{said}");
    said
}

#[test]
fn a_dossier_can_be_checked_with_public_tools_alone() {
    let (referee, game_match) = over();
    let files = referee.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
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
    let (referee, game_match) = over();
    let files = referee.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
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
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Pacific, &[]);
    let refused = referee.block_on(dossier::material(referee.office(), &game_match.id, None, "the account"));
    assert!(refused.expect_err("the match is sealed").to_string().contains("--unseal REASON"));
    assert_eq!(referee.find(&game_match.id).head, game_match.head);
    let asked = referee.unseal("Bo protests");
    referee
        .block_on(dossier::material(referee.office(), &game_match.id, Some(&asked), "the account of turn 4"))
        .expect("unsealed");
    let entries =
        referee.block_on(referee.office().store.entries(&game_match.id)).expect("the store answers");
    let last = entries.last().expect("an entry");
    assert_eq!(last.kind, "Unsealed");
    assert!(last.json.contains("the account of turn 4") && last.json.contains("Bo protests"));
    referee.sent_to(ANN);
    referee.work();
    assert!(referee.sent_to(ANN).is_empty());
}

#[test]
fn the_account_shows_filings_and_what_each_seat_was_told() {
    let (referee, game_match) = over();
    let material = referee
        .block_on(dossier::material(referee.office(), &game_match.id, None, ""))
        .expect("the material");
    let page = |turn| fogpost::audit::account::text(&material, turn).expect("worded").expect("a page");
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
fn a_false_report_stands_in_the_account_beside_what_the_rules_let_the_seat_know() {
    let mut referee = Referee::new();
    let id = referee.open(GameKind::Quad, &[]).id;
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    let lie = "- Nothing was seen.\n";
    referee.restart_after(|folder| put_template(folder, "quad/news.txt", Some(lie)));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.restart_after(|folder| put_template(folder, "quad/news.txt", None));
    referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    referee.reply(BO, &referee.last_to(BO), "RESIGN CONFIRM");
    let material =
        referee.block_on(dossier::material(referee.office(), &id, None, "")).expect("the material");
    let turn = |turn| {
        let page = fogpost::audit::account::text(&material, Some(turn));
        page.expect("worded").expect("a page")
    };
    let (lied, honest) = (turn(1), turn(2));
    assert!(lied.contains("What the rules let Bo know (lines with ! are not in the letter):"), "{lied}");
    assert!(lied.lines().any(|line| line.starts_with("    ! - ") && line.contains("E5")), "{lied}");
    assert!(lied.contains("    | - Nothing was seen."), "{lied}");
    assert!(honest.contains("What the rules let Bo know:") && !honest.contains("    ! "), "{honest}");
    let html = fogpost::audit::account::html(&material).expect("worded");
    assert!(html.contains("<mark>- ") && html.contains("- Nothing was seen."));
    let own = [("account/page.html", "nothing"), ("account/seat.txt", "nothing")];
    for (name, source) in own {
        let own = BTreeMap::from([(name.to_owned(), source.to_owned())]);
        let refused = fogpost::report::Templates::new(&own).map(|_| ()).expect_err("it cannot be replaced");
        assert!(refused.to_string().contains("cannot be replaced"), "{refused}");
    }
}

#[test]
fn the_account_words_what_each_seat_knew_as_its_letters_did() {
    for game in GameKind::ALL.iter().copied() {
        let (referee, id) = played(game);
        let material =
            referee.block_on(dossier::material(referee.office(), &id, None, "")).expect("the material");
        let page = fogpost::audit::account::text(&material, None).expect("worded").expect("a page");
        assert!(page.contains("What the rules let Ann know:"), "{page}");
        let differing: Vec<&str> = page.lines().filter(|line| line.starts_with("    ! ")).collect();
        assert!(differing.is_empty(), "{game:?}: {differing:#?}\n{page}");
    }
}

#[test]
fn the_account_of_a_match_with_a_trainer_shows_what_was_within_reach() {
    let referee = Referee::with("settle_words = 0\n");
    let id = referee.open(GameKind::Quad, &[("trainer", "on")]).id;
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    for (turn, marbles) in [["E5", "A5"], ["E7", "A6"], ["G5", "A7"]].iter().enumerate() {
        referee.reply(ANN, &to_ann, &format!("TURN {}\nMARBLE {}", 2 * turn + 1, marbles[0]));
        referee.reply(BO, &to_bo, &format!("TURN {}\nMARBLE {}", 2 * turn + 2, marbles[1]));
    }
    referee.reply(BO, &to_bo, "RESIGN CONFIRM");
    let material =
        referee.block_on(dossier::material(referee.office(), &id, None, "")).expect("the material");
    let page = fogpost::audit::account::text(&material, None).expect("worded").expect("a page");
    assert!(page.contains("Quads within reach"), "{page}");
    let differing: Vec<&str> = page.lines().filter(|line| line.starts_with("    ! ")).collect();
    assert!(differing.is_empty(), "{differing:#?}");
}

#[test]
fn the_account_of_a_corrected_match_shows_the_boards_before_the_correction() {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    let orders = Some((Seat::Second, vec![Line { no: 1, text: "MARBLE B8".to_owned() }]));
    for (reason, orders) in [("it was misread", orders), ("it came too late", None)] {
        let action = MatchAction::Correct { turn: 2, reason: reason.to_owned(), orders };
        let instruction = Instruction::Match { id: game_match.id.clone(), turn: None, action };
        let done =
            referee.block_on(instruct::carry_out(referee.office(), &instruction)).expect("it is carried out");
        assert!(done.is_done(), "{done:?}");
        referee.work();
    }
    let to_bo = referee.last_to(BO);
    referee.reply(BO, &to_bo, "MARBLE K4");
    referee.reply(BO, &referee.last_to(BO), "RESIGN CONFIRM");
    assert!(referee.verify(&game_match.id).is_sound());
    let material = referee
        .block_on(dossier::material(referee.office(), &game_match.id, None, ""))
        .expect("the material");
    let page = fogpost::audit::account::text(&material, None);
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
    let files = referee.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &files);
    assert_eq!(by_hand(folder.path()), "");
}

/// Checks a dossier as `audit check` does.
pub fn audited(files: BTreeMap<String, Vec<u8>>) -> AuditVerdict {
    Dossier::read(files).expect("a dossier").check(Arc::new(house::play))
}

#[test]
fn a_third_party_checks_the_dossier_of_a_finished_match_without_the_club() {
    let (referee, game_match) = over();
    let files = referee.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let (there, here) = (audited(files), referee.verify(&game_match.id));
    assert!(there.is_sound(), "{there:#?}");
    assert_eq!((there.head, there.letters), (game_match.head, here.letters));
    assert!(there.entries > 10 && there.letters == 4, "{there:#?}");
}

#[test]
fn a_dossier_that_was_changed_is_called_wrong_and_the_place_is_named() {
    let (referee, game_match) = over();
    let files = referee.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let letter = letter_with_orders(&files);
    let report = files.keys().find(|name| name.contains("sent/first/") && name.ends_with("-report.eml"));
    let report = report.expect("a report");
    for (name, from, to, place) in [
        ("entries.jsonl", "MARBLE E5", "MARBLE E6", "entry #"),
        (letter, "MARBLE", "MARBEL", "letter "),
        (report, "E5", "E6", "our letter <"),
        ("about.json", &game_match.key.reveal()[..4], "0a0b", "the snapshot"),
        ("about.json", "\"Bo\"", "\"Eve\"", "the snapshot"),
        ("letters.jsonl", "\"seat\":\"first\"", "\"seat\":null", "letter "),
    ] {
        let text = String::from_utf8(files[name].clone()).expect("text");
        assert!(text.contains(from), "{from} is not in {name}");
        let mut changed = files.clone();
        changed.insert(name.to_owned(), text.replace(from, to).into_bytes());
        let verdict = audited(changed);
        let places: Vec<String> = verdict.findings.iter().map(|finding| finding.place.to_string()).collect();
        assert!(places.iter().any(|found| found.starts_with(place)), "{name}: {places:?}");
    }
    for name in [letter, report] {
        let mut without = files.clone();
        without.remove(name);
        let verdict = audited(without);
        assert!(verdict.findings.iter().any(|finding| finding.what.contains("is missing")), "{verdict:#?}");
    }
}

#[test]
fn what_is_no_arbiters_dossier_of_a_finished_match_is_refused_with_a_reason() {
    let (referee, game_match) = over();
    let refused = |files| Dossier::read(files).expect_err("it cannot be checked");
    let public = referee.dossier(&game_match.id, DossierForm::Public, false).expect("a dossier");
    assert!(refused(public).contains("a public dossier"));
    let open = referee.open(GameKind::Quad, &[]);
    let running = referee.dossier(&open.id, DossierForm::Arbiter, true).expect("a dossier");
    let said = refused(running);
    assert!(said.contains("is not over") && said.contains("check.py"), "{said}");
    let files = referee.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    for (name, contents, words) in [
        ("about.json", "{\"fogpost\": 9}", "its format is unknown"),
        ("about.json", "no JSON", "about.json: "),
        ("entries.jsonl", "{}\n", "entries.jsonl, line 1"),
        ("sent.jsonl", "[]\n", "sent.jsonl, line 1"),
    ] {
        let mut changed = files.clone();
        changed.insert(name.to_owned(), contents.as_bytes().to_vec());
        let said = refused(changed);
        assert!(said.contains(words), "{name}: {said}");
    }
    assert!(refused(BTreeMap::new()).contains("about.json is missing"));
}

/// A finished match in which letters prove something without being rulings: Bo's ACCEPT opened it, Ann's CONFIRM
/// accepted a letter of hers from another address, and the answer from her new address moved her seat to that address.
fn with_proofs() -> (Referee, Match) {
    let referee = Referee::new();
    referee.answer_for(ANN);
    referee.write(ANN, &format!("CHALLENGE {BO} Quad seat=first"));
    let code = |letter: &Sent, word: &str| {
        let line = letter.text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
        format!("{word} {}", line.unwrap_or_else(|| panic!("no {word} in:\n{}", letter.text)))
    };
    let invitation = referee.one_to(BO);
    referee.sent_to(ANN);
    referee.reply(BO, &invitation, &code(&invitation, "ACCEPT"));
    let id = referee.block_on(referee.office().store.match_ids()).expect("the store answers").remove(0);
    let to_ann = referee.one_to(ANN);
    referee.reply("ann@elsewhere.example", &to_ann, "MARBLE E5");
    let question = referee.last_to(ANN);
    referee.reply(ANN, &question, &code(&question, "CONFIRM"));
    referee.sent_to(ANN);
    referee.reply(ANN, &to_ann, "ADDRESS ann@new.example");
    let to_her = referee.sent_to(ANN);
    let question = to_her.iter().find(|sent| sent.subject.contains("A new address")).expect("a question");
    referee.reply(ANN, question, &code(question, "CONFIRM"));
    let question = referee.one_to("ann@new.example");
    referee.reply("ann@new.example", &question, &code(&question, "CONFIRM"));
    referee.reply(ANN, &referee.last_to(ANN), "STATUS");
    referee.reply(BO, &referee.last_to(BO), "RESIGN CONFIRM");
    referee.work();
    let game_match = referee.find(&id);
    (referee, game_match)
}

#[test]
fn every_letter_that_proves_something_is_in_the_dossier_and_compared() {
    let (referee, game_match) = with_proofs();
    let files = referee.dossier(&game_match.id, DossierForm::Arbiter, false).expect("a dossier");
    let whole = audited(files.clone());
    assert!(whole.is_sound(), "{whole:#?}");
    assert_eq!(checked(unpacked(&files).path(), &[]).0, 0);
    let public = referee.dossier(&game_match.id, DossierForm::Public, false).expect("a dossier");
    assert_eq!(checked(unpacked(&public).path(), &[]).0, 0);
    let entries = crate::audit::database::entries(&referee, &game_match.id);
    let mut proofs = BTreeMap::from([("opening", entries[0].letters()[0])]);
    for entry in &entries {
        match entry.own_cause() {
            Some(Cause::Letter(cause)) => proofs.extend(cause.confirmed_by.map(|by| ("CONFIRM", by))),
            Some(Cause::Program { act: Act::PinHolder { letter: Some(letter), .. }, .. }) => {
                proofs.extend([("holder", *letter)]);
            }
            _ => {}
        }
    }
    assert_eq!(proofs.len(), 3, "{proofs:?}");
    for (what, letter) in proofs {
        let name = format!("letters/{letter}.eml");
        let (mut gone, mut changed) = (files.clone(), files.clone());
        gone.remove(&name).unwrap_or_else(|| panic!("the {what} letter is in no dossier"));
        changed.get_mut(&name).expect("a letter").extend(b"PS\r\n");
        for (files, words) in [(gone, "is missing"), (changed, "was changed")] {
            let (status, said) = checked(unpacked(&files).path(), &[]);
            let named = format!("the letter {letter} {words}");
            assert!(status == 1 && said.contains(&named), "{what}: {said}");
            let verdict = audited(files);
            let is_named = |finding: &Finding| finding.place == Place::Letter(letter);
            assert!(verdict.findings.iter().any(is_named), "{what} {words}: {verdict:#?}");
        }
    }
}
