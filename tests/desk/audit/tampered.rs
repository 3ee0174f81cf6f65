//! A GM who owns the database tampers with it: each way is exposed, by `audit verify` or by a letter in a player's
//! own mailbox.
//!
//! All ways are tried on copies of the database of one match.

use std::sync::Arc;

use fogpost::audit::AuditVerdict;
use fogpost::audit::witness::{LedgerLine, PlayersMail};
use fogpost::config::Config;
use fogpost::daemon::Office;
use fogpost::daemon::audit::verify;
use fogpost::daemon::instruct;
use fogpost::game::any::GameKind;
use fogpost::ledger::{Entry, Head};
use fogpost::letter::Digest;
use fogpost::referee::{Act, Instruction, Match, MatchAction};
use fogpost::store;
use serde_json::{Value, json};

use crate::audit::database::{cheat_file, entries};
use crate::audit::tamper_ways::{WITH_ENTRIES, WITH_RECEIVED_LETTERS, WITH_SEATS, WITH_SENT_LETTERS};
use crate::referee::{ANN, BO, Referee};

/// An office on a copy of the database, to which these statements were applied.
pub fn tampered(referee: &Referee, statements: &[String]) -> Office {
    for old in ["tampered.db", "tampered.db-wal", "tampered.db-shm"] {
        let _ = std::fs::remove_file(referee.folder().join(old));
    }
    let copy = referee.folder().join("tampered.db");
    referee.block_on(referee.office().store.backup(&copy)).expect("a copy");
    cheat_file(referee, &copy, &statements.iter().map(String::as_str).collect::<Vec<_>>());
    let now = referee.now();
    referee.block_on(async {
        let store = store::open(&format!("sqlite:{}", copy.display())).await.expect("the copy opens");
        let config = Config::clone(&referee.office().config);
        Office::new(config, store, Arc::new(move || now)).expect("an office")
    })
}

/// A running match in which much has happened, another one with the same players, and the data to tamper
/// with.
struct Scene {
    referee: Referee,
    game_match: Match,
    other: Match,
    /// The entries of the match as JSON.
    entries: Vec<Value>,
    /// Ann's letters, in order.
    anns: Vec<Vec<u8>>,
}

impl Scene {
    fn new() -> Scene {
        let referee = Referee::new();
        let id = referee.open(GameKind::Quad, &[]).id;
        let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
        referee.reply(ANN, &to_ann, "MARBLE A1");
        referee.reply(ANN, &to_ann, "MARBLE E5\nTELL Good luck\nEND");
        referee.reply(BO, &to_bo, "EXTEND 2 days");
        referee.reply(ANN, &to_ann, "AGREE");
        referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
        let note = MatchAction::Act(Act::Note { text: "A note".to_owned() });
        let note = Instruction::Match { id: id.clone(), turn: None, action: note };
        assert!(
            referee
                .block_on(instruct::carry_out(referee.office(), &note))
                .expect("the store answers")
                .is_done()
        );
        referee.reply(BO, &to_bo, "STATUS");
        let other = referee.open(GameKind::Quad, &[]);
        referee.work();
        let game_match = referee.find(&id);
        let json = |entry: &Entry| serde_json::to_value(entry).expect("JSON");
        let entries = entries(&referee, &id).iter().map(json).collect();
        let anns = referee.raw_to(ANN);
        Scene { referee, game_match, other, entries, anns }
    }

    /// Applies `statements` to a copy of the database, and checks the match there. Also says which of Ann's letters about
    /// it are not on the chain.
    fn verdict(&self, statements: &[String]) -> String {
        let office = tampered(&self.referee, statements);
        let id = &self.game_match.id;
        self.referee.block_on(async {
            let said = match verify::verify(&office, id, &|_| ()).await {
                Ok(verdict) => words(&verdict),
                Err(error) => format!("error: {error:#}"),
            };
            let mut by_mail = String::new();
            for letter in &self.anns {
                let lines = fogpost::audit::witness::in_mail(letter);
                if !lines.iter().any(|line: &LedgerLine| line.chain == *id) {
                    continue;
                }
                let mail = [PlayersMail::read("ann.eml", letter)];
                if let Ok(verdicts) = verify::verify_against(&office, &mail, Some(id), &|_| ()).await {
                    let all: String = verdicts.iter().map(words).collect();
                    if all.contains("not on this chain") {
                        by_mail = " [a player's mail: not on this chain]".to_owned();
                    }
                }
            }
            office.store.close().await;
            said + &by_mail
        })
    }

    /// The statements that store these entries instead, as one chain.
    fn rewritten(&self, entries: Vec<Value>) -> Vec<String> {
        let id = &self.game_match.id;
        let mut head = Head::default();
        let mut statements = vec![format!("DELETE FROM entry WHERE match_id = '{id}'")];
        for (seq, mut entry) in (1_u64..).zip(entries) {
            entry["seq"] = seq.into();
            entry["prev"] = head.hash.to_string().into();
            let json = fogpost::ledger::canonical(&entry);
            let hash = Digest::of(json.as_bytes());
            let kind = entry["kind"].as_str().expect("a kind").to_owned();
            let at = entry["at"].as_str().expect("a time");
            let at = chrono::DateTime::parse_from_rfc3339(at).expect("a time").timestamp_millis();
            let json = json.replace('\'', "''");
            statements.push(format!(
                "INSERT INTO entry VALUES ('{id}', {seq}, {at}, '{kind}', '{json}', '{hash}')"
            ));
            head = Head { seq, hash };
        }
        let after = Match { head, ..self.game_match.clone() };
        statements.push(self.with_snapshot(&after));
        statements
    }

    /// The statements that apply `change` to the first entry of a kind, with every hash recomputed.
    fn rehashed(&self, kind: &str, change: impl Fn(&mut Value)) -> Vec<String> {
        let mut entries = self.entries.clone();
        let entry = entries.iter_mut().find(|entry| entry["kind"] == kind);
        change(entry.unwrap_or_else(|| panic!("an entry {kind}")));
        self.rewritten(entries)
    }

    fn with_snapshot(&self, game_match: &Match) -> String {
        let snapshot = serde_json::to_string(game_match).expect("JSON").replace('\'', "''");
        let Head { seq, hash } = game_match.head;
        format!(
            "UPDATE match SET snapshot = '{snapshot}', head_seq = {seq}, head_hash = '{hash}' WHERE id = '{}'",
            game_match.id
        )
    }

    /// The statement that applies a change to the snapshot.
    fn changed(&self, change: impl Fn(&mut Value)) -> Vec<String> {
        let mut snapshot = serde_json::to_value(&self.game_match).expect("JSON");
        change(&mut snapshot);
        let json = snapshot.to_string().replace('\'', "''");
        vec![format!("UPDATE match SET snapshot = '{json}' WHERE id = '{}'", self.game_match.id)]
    }

    /// A statement in which `{id}` stands for the match and `{other}` for the other one.
    fn sql(&self, statement: &str) -> Vec<String> {
        let named = statement.replace("{id}", &self.game_match.id).replace("{other}", &self.other.id);
        named.split(';').map(|one| one.trim().to_owned()).collect()
    }
}

fn words(verdict: &AuditVerdict) -> String {
    let findings = verdict.findings.iter().map(|finding| format!("{}: {}; ", finding.place, finding.what));
    findings.collect()
}

/// A way to tamper: a description, the statements, and words of the finding.
type Way = (&'static str, Vec<String>, &'static str);

/// Asserts that the findings for every way contain its words.
#[track_caller]
fn assert_named(scene: &Scene, ways: Vec<Way>) {
    scene.referee.untidy.set(true);
    assert_eq!(scene.verdict(&[]), "", "before anything is done");
    let mut unnamed = Vec::new();
    for (what, statements, named) in ways {
        let said = scene.verdict(&statements);
        if !said.contains(named) || said.is_empty() {
            unnamed.push(format!("{what}: {named:?} is not in {said:?}"));
        }
    }
    assert!(unnamed.is_empty(), "{}", unnamed.join("\n"));
}

/// Sets a value within an entry or a snapshot.
fn set(path: &'static str, value: impl Into<Value>) -> impl Fn(&mut Value) {
    let value = value.into();
    move |json: &mut Value| {
        let place = json.pointer_mut(path).unwrap_or_else(|| panic!("{path} is not there"));
        assert_ne!(*place, value, "{path} is changed");
        *place = value.clone();
    }
}

/// The ways of a table, with the names in their statements replaced by these parts.
fn ways(scene: &Scene, table: &[(&'static str, &str, &'static str)], parts: &[(&str, &str)]) -> Vec<Way> {
    let with_parts =
        |sql: &str| parts.iter().fold(sql.to_owned(), |sql, (name, part)| sql.replace(name, part));
    table.iter().map(|(what, sql, named)| (*what, scene.sql(&with_parts(sql)), *named)).collect()
}

#[test]
fn tampering_with_entries_is_named() {
    let scene = Scene::new();
    let last = scene.entries.len().to_string();
    let sealed = "(SELECT MIN(seq) FROM entry WHERE match_id = '{id}' AND kind = 'OrdersSealed')";
    assert_named(&scene, ways(&scene, WITH_ENTRIES, &[("{sealed}", sealed), ("{last}", &last)]));
}

#[test]
fn orders_that_are_hashed_anew_are_named() {
    let scene = Scene::new();
    let zeros = "0".repeat(64);
    let ways: Vec<Way> = vec![
        (
            "other orders are sealed",
            scene.rehashed("OrdersSealed", set("/body/orders/0", "MARBLE E6")),
            "entry #",
        ),
        (
            "orders are sealed for the other seat",
            scene.rehashed("OrdersSealed", set("/body/seat", "second")),
            "entry #",
        ),
        ("a filing waits", scene.rehashed("OrdersSealed", set("/body/wait", true)), "entry #"),
        (
            "a commitment is changed",
            scene.rehashed("OrdersSealed", set("/body/sealed", zeros.clone())),
            "entry #",
        ),
        (
            "a refusal quotes other orders",
            scene.rehashed("OrdersRefused", set("/body/orders/0", "MARBLE B1")),
            "entry #",
        ),
        (
            "a state is changed",
            scene.rehashed("TurnAdjudicated", set("/body/state", zeros.clone())),
            "entry #",
        ),
        (
            "a turn is adjudicated on other orders",
            scene.rehashed("TurnAdjudicated", set("/body/filings/first/0", "MARBLE E6")),
            "entry #",
        ),
        (
            "a deadline is changed",
            scene.rehashed("DeadlineSet", set("/body/deadline", "2026-05-20T18:00:00Z")),
            "entry #",
        ),
    ];
    assert_named(&scene, ways);
}

#[test]
fn causes_that_are_hashed_anew_are_named() {
    let scene = Scene::new();
    let of_letter = |name: &'static str, value: Value| {
        move |entry: &mut Value| {
            let before = entry["cause"]["letter"][name].take();
            assert_ne!(before, value, "{name} is changed");
            entry["cause"]["letter"][name] = value.clone();
        }
    };
    let sealed = |name, value: Value| scene.rehashed("OrdersSealed", of_letter(name, value));
    let zeros = "0".repeat(64);
    let ways: Vec<Way> = vec![
        ("a letter is the other seat's", sealed("seat", "second".into()), "no reply token of a seat"),
        (
            "a letter came earlier",
            sealed("received", "2026-05-07T09:00:00.000Z".into()),
            "another time of arrival",
        ),
        ("a letter is read in part", sealed("part", zeros.clone().into()), "does not hold the part"),
        ("a letter was confirmed", sealed("confirmed_by", zeros.into()), "letter 000"),
        ("a letter showed its token", sealed("shows_token", true.into()), "entry #"),
        ("an answer was suppressed", sealed("answer", "suppressed".into()), "its ledger line differs"),
        ("answers were left out", sealed("left_out", 2.into()), "a player's mail"),
        ("the opponent had no room", sealed("opponent", json!({"letters": 0})), "a player's mail"),
        ("the GM accepted a letter", sealed("accepted_by", "Eve".into()), "a player's mail"),
        (
            "an entry is of another ruling",
            scene.rehashed("TurnAdjudicated", |entry| entry["of"] = 1.into()),
            "entry #",
        ),
        (
            "an entry has no cause",
            scene.rehashed("OrdersSealed", |entry| {
                drop(entry.as_object_mut().and_then(|entry| entry.remove("cause")))
            }),
            "entry #",
        ),
        (
            "a cause is of another phase",
            scene.rehashed("DeadlineExtended", |entry| entry["cause"]["gm"]["phase"] = 77.into()),
            "entry #",
        ),
    ];
    assert_named(&scene, ways);
}

#[test]
fn entries_that_are_hashed_anew_are_named() {
    let scene = Scene::new();
    let zeros = "0".repeat(64);
    let gm = |entry: &mut Value| entry["cause"]["gm"]["name"] = "Eve".into();
    let ways: Vec<Way> = vec![
        ("an extension is longer", scene.rehashed("DeadlineExtended", set("/body/days", 9)), "entry #"),
        ("a salt is changed", scene.rehashed("OrdersSealed", set("/salt", "0".repeat(32))), "entry #"),
        (
            "an entry is of another time",
            scene.rehashed("OrdersSealed", set("/at", "2026-05-07T09:00:00.000Z")),
            "entry #",
        ),
        (
            "an entry names another letter",
            scene.rehashed("OrdersSealed", set("/cause/letter/letter", zeros.clone())),
            "letter 000",
        ),
        (
            "a letter is said to be signed",
            scene.rehashed("OrdersSealed", |entry| entry["cause"]["letter"]["dkim"] = "passed".into()),
            "a player's mail",
        ),
        (
            "another letter of ours is pinned",
            scene.rehashed("OrdersRefused", set("/pins/0", zeros.clone())),
            "was changed",
        ),
        (
            "a pin is left out",
            scene.rehashed("OrdersRefused", |entry| {
                drop(entry.as_object_mut().and_then(|entry| entry.remove("pins")))
            }),
            "pins",
        ),
        ("a note has another text", scene.rehashed("GmNoted", set("/body/text", "Another note")), "entry #"),
        ("a note is another GM's", scene.rehashed("GmNoted", gm), "its ledger line differs"),
    ];
    assert_named(&scene, ways);
}

#[test]
fn an_opening_that_is_hashed_anew_is_named() {
    let scene = Scene::new();
    let zeros = "0".repeat(64);
    let ways: Vec<Way> = vec![
        (
            "the opening pins another secret",
            scene.rehashed("MatchOpened", set("/body/key", zeros.clone())),
            "the snapshot",
        ),
        (
            "the opening names other terms",
            scene.rehashed("MatchOpened", set("/body/terms/days", 3)),
            "entry #",
        ),
        ("the opening follows other rules", scene.rehashed("MatchOpened", set("/body/rules", 9)), "rules"),
        ("the opening names another format", scene.rehashed("MatchOpened", set("/body/format", 9)), "format"),
        (
            "the opening names another procedure",
            scene.rehashed("MatchOpened", set("/body/mail_identity/procedure", 9)),
            "its ledger line differs",
        ),
        (
            "the opening names another player",
            scene.rehashed("MatchOpened", set("/body/players/first", "Eve")),
            "was changed",
        ),
        (
            "the opening has another address of the referee",
            scene.rehashed("MatchOpened", set("/body/mail_identity/address", "eve@club.example")),
            "its ledger line differs",
        ),
    ];
    assert_named(&scene, ways);
}

#[test]
fn a_chain_of_other_entries_that_is_hashed_anew_is_named() {
    let scene = Scene::new();
    let without = |seq: usize| {
        let mut entries = scene.entries.clone();
        entries.remove(seq - 1);
        scene.rewritten(entries)
    };
    let swapped = |one: usize, other: usize| {
        let mut entries = scene.entries.clone();
        entries.swap(one - 1, other - 1);
        scene.rewritten(entries)
    };
    let twice = {
        let mut entries = scene.entries.clone();
        let sealed = entries.iter().find(|entry| entry["kind"] == "OrdersSealed").expect("one").clone();
        entries.push(sealed);
        scene.rewritten(entries)
    };
    let ways: Vec<Way> = vec![
        (
            "the note is left out",
            without(scene.entries.iter().position(|entry| entry["kind"] == "GmNoted").expect("one") + 1),
            "entry #",
        ),
        (
            "an entry of a letter is left out",
            without(
                scene.entries.iter().position(|entry| entry["kind"] == "OrdersRefused").expect("one") + 1,
            ),
            "entry #",
        ),
        ("two entries change places", swapped(3, 4), "entry #"),
        ("a letter is ruled on twice", twice, "entry #"),
        (
            "the chain ends early",
            scene.rewritten(scene.entries[..scene.entries.len() - 1].to_vec()),
            "the snapshot",
        ),
    ];
    assert_named(&scene, ways);
}

#[test]
fn tampering_with_the_match_is_named() {
    let scene = Scene::new();
    let of = |change: &str| scene.sql(&format!("UPDATE match SET {change} WHERE id = '{{id}}'"));
    let ways: Vec<Way> = vec![
        ("the snapshot counts missed turns", scene.changed(set("/missed/first", 2)), "the snapshot"),
        ("the snapshot has another position", scene.changed(set("/state/state/turn", 9)), "the snapshot"),
        ("the snapshot has another secret", scene.changed(set("/key", "0".repeat(64))), "the snapshot"),
        ("the snapshot has another head", scene.changed(set("/head/seq", 3)), "the snapshot"),
        (
            "the snapshot has another deadline",
            scene.changed(set("/deadline", "2026-06-20T18:00:00Z")),
            "the snapshot",
        ),
        ("the snapshot names another player", scene.changed(set("/players/first", "Eve")), "the snapshot"),
        (
            "the snapshot does not know a letter",
            scene.changed(set("/pins", Value::Array(Vec::new()))),
            "the snapshot",
        ),
        ("the snapshot has other terms", scene.changed(set("/terms/grace_hours", 99)), "the snapshot"),
        ("the snapshot cannot be read", of("snapshot = '{}'"), "the snapshot"),
        ("another stage is listed", of("stage = 'over'"), "the match"),
        ("another time to wake is stored", of("wake_at = wake_at + 1000"), "the match"),
        ("another game is listed", of("game = 'quantum'"), "the match"),
        ("another player is listed", of("first_name = 'Eve'"), "the match"),
        ("another turn is listed", of("turn = 9"), "the match"),
        ("another deadline is listed", of("deadline = deadline + 1000"), "the match"),
        ("somebody else is awaited", of("awaited = 'second'"), "the match"),
        ("a winner is listed", of("winner = 'first', reason = 'resigned'"), "the match"),
        ("another head is listed", of("head_seq = 3"), "the match"),
    ];
    assert_named(&scene, ways);
}

#[test]
fn tampering_with_received_letters_is_named() {
    let scene = Scene::new();
    let letter = "(SELECT id FROM letter WHERE match_id = '{id}' ORDER BY id LIMIT 1)";
    let second = "(SELECT id FROM letter WHERE match_id = '{id}' ORDER BY id LIMIT 1 OFFSET 1)";
    assert_named(&scene, ways(&scene, WITH_RECEIVED_LETTERS, &[("{letter}", letter), ("{second}", second)]));
}

#[test]
fn tampering_with_sent_letters_is_named() {
    let scene = Scene::new();
    let report = "(SELECT MIN(id) FROM dispatch WHERE match_id = '{id}' AND kind = 'report')";
    let next = "(SELECT MAX(id) FROM dispatch WHERE match_id = '{id}' AND kind = 'report')";
    assert_named(&scene, ways(&scene, WITH_SENT_LETTERS, &[("{report}", report), ("{next}", next)]));
}

#[test]
fn tampering_with_who_holds_a_seat_is_named() {
    let scene = Scene::new();
    assert_named(&scene, ways(&scene, WITH_SEATS, &[]));
}
