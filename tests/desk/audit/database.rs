//! The audit finds every change to the database file, and names its place.

use std::path::Path;
use std::task::Poll;
use std::time::Duration;

use fogpost::audit::{AuditVerdict, Place};
use fogpost::daemon::audit;
use fogpost::game::Seat;
use fogpost::game::any::GameKind;
use fogpost::ledger::{Cause, Entry, EntryCause, Fact, Head, LetterCause};
use fogpost::letter::Digest;
use fogpost::referee::{DispatchKind, Match, Stage};
use fogpost::report::pin::pin;
use fogpost::store::pack;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection, SqliteConnection};

use crate::referee::{ANN, BO, GM, Referee};

/// A match of Quad with two turns, a refusal and a question.
pub fn played() -> (Referee, Match) {
    let referee = Referee::new();
    let game_match = referee.open(GameKind::Quad, &[]);
    let (to_ann, to_bo) = (referee.one_to(ANN), referee.one_to(BO));
    referee.reply(ANN, &to_ann, "MARBLE A1");
    referee.reply(ANN, &to_ann, "MARBLE E5");
    referee.reply(BO, &to_bo, "TURN 2\nMARBLE A5");
    referee.reply(BO, &to_bo, "STATUS\nREPORT\nTELL Good luck\nEND");
    let sound = referee.verify(&game_match.id);
    assert!(sound.is_sound(), "{sound:#?}");
    assert_eq!(sound.letters, 4);
    assert!(sound.sent >= 9 && sound.entries >= 10, "{sound:#?}");
    let game_match = referee.find(&game_match.id);
    (referee, game_match)
}

/// Replaces a text in the first report of a match.
fn change_first_report(referee: &Referee, match_id: &str, from: &str, to: &str) {
    let sent = referee.block_on(referee.office().store.dispatches_of(match_id)).expect("the store answers");
    let (report, bytes) =
        sent.into_iter().find(|(row, _)| row.kind == DispatchKind::Report).expect("a report");
    let changed = String::from_utf8(bytes).expect("a letter in ASCII").replace(from, to);
    cheat(referee, &[&overwrite(report.id, changed.as_bytes())]);
}

/// The stored form of a letter in SQL.
pub fn packed(letter: &[u8]) -> String {
    pack(letter).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The statements that overwrite a letter of ours with these bytes, and delete its separate picture.
fn overwrite(id: i64, letter: &[u8]) -> String {
    format!(
        "DELETE FROM dispatch_picture WHERE dispatch_id = {id}; \
         UPDATE dispatch_raw SET bytes = x'{}' WHERE dispatch_id = {id}",
        packed(letter)
    )
}

/// Changes the database file behind the program's back, and without its triggers.
pub fn cheat(referee: &Referee, statements: &[&str]) {
    referee.untidy.set(true);
    cheat_file(referee, &referee.folder().join("fogpost.db"), statements);
}

/// Changes a database file, without its triggers.
pub fn cheat_file(referee: &Referee, path: &Path, statements: &[&str]) {
    referee.block_on(async {
        // No foreign keys: one statement may break a reference that a later one restores.
        let options = SqliteConnectOptions::new().filename(path).foreign_keys(false);
        let mut file = SqliteConnection::connect_with(&options).await.expect("the file opens");
        let triggers: Vec<String> =
            sqlx::query_scalar("SELECT name FROM sqlite_schema WHERE type = 'trigger'")
                .fetch_all(&mut file)
                .await
                .expect("the triggers");
        for name in triggers {
            sqlx::query(sqlx::AssertSqlSafe(format!("DROP TRIGGER {name}")))
                .execute(&mut file)
                .await
                .expect("dropped");
        }
        for statement in statements {
            let done = sqlx::query(sqlx::AssertSqlSafe((*statement).to_owned())).execute(&mut file).await;
            assert!(done.expect("a statement").rows_affected() > 0, "{statement} changes nothing");
        }
        file.close().await.expect("closed");
    });
}

#[track_caller]
pub fn found(verdict: &AuditVerdict) -> &Place {
    let [finding] = &verdict.findings[..] else { panic!("one finding, not {verdict:#?}") };
    &finding.place
}

/// The circumstances of the letters that were ruled on in a match.
pub fn letter_causes(referee: &Referee, id: &str) -> Vec<LetterCause> {
    entries(referee, id).iter().filter_map(Entry::own_cause).filter_map(Cause::letter).cloned().collect()
}

/// The stored entries of a match.
pub fn entries(referee: &Referee, id: &str) -> Vec<Entry> {
    let rows = referee.block_on(referee.office().store.entries(id)).expect("the store answers");
    rows.iter().map(|row| serde_json::from_str(&row.json).expect("an entry")).collect()
}

/// The number of the first entry of this kind.
pub fn seq_of(referee: &Referee, id: &str, kind: &str) -> u64 {
    let mut entries = entries(referee, id).into_iter();
    entries.find(|entry| entry.fact.kind() == kind).expect("an entry of this kind").seq
}

/// Replaces the entries of the match with these, recomputes their chain, and stores its head in the snapshot.
pub fn rewrite(referee: &Referee, game_match: &Match, mut entries: Vec<Entry>) {
    let mut head = Head::default();
    let mut statements = vec![format!("DELETE FROM entry WHERE match_id = '{}'", game_match.id)];
    for (seq, entry) in (1..).zip(&mut entries) {
        (entry.seq, entry.prev) = (seq, head.hash);
        let json = entry.canonical().replace('\'', "''");
        let (at, kind, hash) = (entry.at.timestamp_millis(), entry.fact.kind(), entry.hash());
        statements.push(format!(
            "INSERT INTO entry VALUES ('{}', {seq}, {at}, '{kind}', '{json}', '{hash}')",
            game_match.id
        ));
        head = Head { seq, hash };
    }
    let snapshot =
        serde_json::to_string(&Match { head, ..game_match.clone() }).expect("JSON").replace('\'', "''");
    statements.push(format!(
        "UPDATE match SET snapshot = '{snapshot}', head_seq = {}, head_hash = '{}' WHERE id = '{}'",
        head.seq, head.hash, game_match.id
    ));
    cheat(referee, &statements.iter().map(String::as_str).collect::<Vec<_>>());
}

#[test]
fn a_changed_byte_of_a_letter_is_found() {
    let (referee, game_match) = played();
    let digest = referee.letters().last().expect("a letter").digest;
    let raw = referee
        .block_on(referee.office().store.letter(digest))
        .expect("the store answers")
        .expect("its bytes");
    let changed = String::from_utf8(raw).expect("a text").replace("MARBLE A1", "MARBLE B1");
    let change = format!(
        "UPDATE letter_raw SET bytes = x'{}' WHERE letter_id = (SELECT id FROM letter WHERE digest = '{digest}')",
        packed(changed.as_bytes())
    );
    cheat(&referee, &[&change]);
    assert_eq!(*found(&referee.verify(&game_match.id)), Place::Letter(digest));
}

#[test]
fn a_deleted_letter_is_found() {
    let (referee, game_match) = played();
    let digest = referee.letters().last().expect("a letter").digest;
    let gone =
        format!("DELETE FROM letter_raw WHERE letter_id = (SELECT id FROM letter WHERE digest = '{digest}')");
    cheat(&referee, &[&gone]);
    assert_eq!(*found(&referee.verify(&game_match.id)), Place::Letter(digest));
}

#[test]
fn a_changed_time_of_arrival_and_a_changed_status_of_a_letter_are_found() {
    for (change, part) in [
        ("UPDATE letter SET received_at = received_at - 60000", "time of arrival"),
        ("UPDATE letter SET status = 'ignored', match_id = NULL, seat = NULL", "not stored as ruled on"),
    ] {
        let (referee, game_match) = played();
        let digest = referee.letters().last().expect("a letter").digest;
        cheat(&referee, &[&format!("{change} WHERE digest = '{digest}'")]);
        let verdict = referee.verify(&game_match.id);
        assert_eq!(*found(&verdict), Place::Letter(digest));
        assert!(verdict.findings[0].what.contains(part), "{verdict:#?}");
    }
}

#[test]
fn a_changed_order_in_an_entry_is_found() {
    let (referee, game_match) = played();
    let seq = seq_of(&referee, &game_match.id, "OrdersSealed");
    cheat(
        &referee,
        &[&format!("UPDATE entry SET json = replace(json, 'MARBLE E5', 'MARBLE E6') WHERE seq = {seq}")],
    );
    assert_eq!(*found(&referee.verify(&game_match.id)), Place::Entry(seq));
}

#[test]
fn a_changed_time_is_found() {
    let (referee, game_match) = played();
    cheat(&referee, &["UPDATE entry SET at = at - 60000 WHERE seq = 3"]);
    assert_eq!(*found(&referee.verify(&game_match.id)), Place::Entry(3));
    cheat(&referee, &["UPDATE entry SET at = at + 60000 WHERE seq = 3"]);
    assert!(referee.verify(&game_match.id).is_sound());
    cheat(&referee, &["UPDATE entry SET json = replace(json, 'T10:00', 'T09:00') WHERE seq = 4"]);
    assert_eq!(*found(&referee.verify(&game_match.id)), Place::Entry(4));
}

#[test]
fn a_changed_state_is_found() {
    let (referee, game_match) = played();
    let mut other = game_match.clone();
    other.missed.second += 1;
    let snapshot = serde_json::to_string(&other).expect("JSON").replace('\'', "''");
    cheat(&referee, &[&format!("UPDATE match SET snapshot = '{snapshot}'")]);
    let verdict = referee.verify(&game_match.id);
    assert_eq!(*found(&verdict), Place::Kept("the snapshot"));
    assert!(verdict.findings[0].what.contains("missed"), "{verdict:#?}");
}

#[test]
fn a_wrong_stage_is_found() {
    let (referee, game_match) = played();
    cheat(&referee, &["UPDATE match SET stage = 'paused', wake_at = NULL"]);
    assert_eq!(*found(&referee.verify(&game_match.id)), Place::Kept("the match"));
}

#[test]
fn a_changed_part_of_a_report_is_found_even_in_its_picture() {
    let (referee, game_match) = played();
    let sent =
        referee.block_on(referee.office().store.dispatches_of(&game_match.id)).expect("the store answers");
    let (report, bytes) = sent.iter().find(|(row, _)| row.kind == DispatchKind::Report).expect("a report");
    let place = Place::Sent(report.message_id.clone());
    let write = |bytes: &[u8]| {
        cheat(&referee, &[&overwrite(report.id, bytes)]);
        referee.verify(&game_match.id)
    };
    let replaced = |from: &str, to: &str| {
        let text = String::from_utf8(bytes.clone()).expect("mail is text");
        assert!(text.contains(from), "{from} is not in {text}");
        text.replacen(from, to, 1).into_bytes()
    };
    for (from, to) in [
        ("What happened", "What hxppened"),
        ("<h2>What happened", "<h2>What hxppened"),
        ("iVBORw0KGgo", "iVBORw0KGgp"),
        ("To: ", "Cc: bo@elsewhere.example\r\nTo: "),
    ] {
        let verdict = write(&replaced(from, to));
        assert_eq!(*found(&verdict), place, "{from}");
        assert!(verdict.findings[0].what.contains("the ledger pins another letter"), "{verdict:#?}");
    }
    assert!(write(bytes).is_sound());
}

#[test]
fn a_changed_ledger_line_in_a_report_is_found() {
    let (referee, game_match) = played();
    change_first_report(&referee, &game_match.id, " sha256", "7 sha256");
    let verdict = referee.verify(&game_match.id);
    assert!(matches!(found(&verdict), Place::Sent(_)));
    assert!(verdict.findings[0].what.contains("ledger line"), "{verdict:#?}");
}

#[test]
fn a_removed_or_added_dispatch_is_found() {
    let (referee, game_match) = played();
    let report = "(SELECT MIN(id) FROM dispatch WHERE kind = 'report')";
    cheat(
        &referee,
        &[
            "INSERT INTO dispatch (message_id, recipient, kind, match_id, seat, created_at, sent_at, urgency) \
                  SELECT replace(message_id, '.1.', '.9.'), recipient, kind, match_id, seat, created_at, sent_at, urgency \
                  FROM dispatch WHERE kind = 'invitation' AND seat = 'first'",
            "INSERT INTO dispatch_raw (dispatch_id, bytes) SELECT MAX(id), x'28b52ffd2000010000' FROM dispatch",
        ],
    );
    let verdict = referee.verify(&game_match.id);
    assert!(matches!(found(&verdict), Place::Sent(_)));
    assert!(verdict.findings[0].what.contains("added"), "{verdict:#?}");
    cheat(
        &referee,
        &[
            "DELETE FROM dispatch_raw WHERE dispatch_id = (SELECT MAX(id) FROM dispatch)",
            "DELETE FROM dispatch WHERE id = (SELECT MAX(id) FROM dispatch)",
            &format!("DELETE FROM dispatch_picture WHERE dispatch_id = {report}"),
            &format!("DELETE FROM dispatch_raw WHERE dispatch_id = {report}"),
        ],
    );
    assert!(matches!(found(&referee.verify(&game_match.id)), Place::Sent(_)));
    cheat(&referee, &[&format!("DELETE FROM dispatch WHERE id = {report}")]);
    assert!(referee.verify(&game_match.id).findings[0].what.contains("missing"));
}

#[test]
fn digests_missing_in_the_snapshot_are_found() {
    let (referee, game_match) = played();
    let kept = Match { pins: Vec::new(), ..referee.find(&game_match.id) };
    let snapshot = serde_json::to_string(&kept).expect("JSON").replace('\'', "''");
    cheat(&referee, &[&format!("UPDATE match SET snapshot = '{snapshot}'")]);
    assert_eq!(*found(&referee.verify(&game_match.id)), Place::Kept("the snapshot"));
}

#[test]
fn a_second_letter_for_one_dispatch_is_found() {
    let (referee, game_match) = played();
    // Its ID sorts before the true one, so that a lookup by Message-ID might miss it.
    cheat(
        &referee,
        &[
            "INSERT INTO dispatch (id, message_id, recipient, kind, match_id, seat, created_at, sent_at, urgency) \
             SELECT -1, 'x' || message_id, 'eve@players.example', kind, match_id, seat, created_at, sent_at, urgency \
             FROM dispatch WHERE id = (SELECT MIN(id) FROM dispatch WHERE kind = 'report')",
            "INSERT INTO dispatch_raw (dispatch_id, bytes) VALUES (-1, x'28b52ffd2000010000')",
        ],
    );
    let verdict = referee.verify(&game_match.id);
    let Place::Sent(id) = found(&verdict) else { panic!("a letter of ours, not {verdict:#?}") };
    assert!(id.starts_with('x'), "{verdict:#?}");
}

#[test]
fn an_entry_added_to_those_of_a_letter_is_found_as_an_entry() {
    let (referee, game_match) = played();
    let mut all = entries(&referee, &game_match.id);
    let last = all.last().expect("an entry").clone();
    let EntryCause::Of(first) = last.cause else { panic!("one of several entries") };
    assert!(
        all.iter().any(
            |entry| entry.seq == first && entry.own_cause().is_some_and(|cause| cause.letter().is_some())
        )
    );
    let fact = Fact::SubstituteAsked { seat: Seat::Second };
    all.push(Entry { fact, pins: Vec::new(), salt: game_match.key.salt(game_match.head.seq + 1), ..last });
    rewrite(&referee, &game_match, all);
    assert_eq!(referee.verify(&game_match.id).findings[0].place, Place::Entry(game_match.head.seq + 1));
}

#[test]
fn the_next_entry_pins_every_letter() {
    let (referee, game_match) = played();
    let sent =
        referee.block_on(referee.office().store.dispatches_of(&game_match.id)).expect("the store answers");
    let sent: Vec<Digest> = sent.iter().map(|(_, bytes)| pin(bytes)).collect();
    let mut told: Vec<Digest> =
        entries(&referee, &game_match.id).into_iter().flat_map(|entry| entry.pins).collect();
    told.extend(&game_match.pins);
    assert_eq!(told, sent);
}

#[test]
fn the_audit_reads_a_letter_with_the_address_that_the_referee_had_then() {
    let mut referee = Referee::new();
    let change = |referee: &mut Referee, from: &str, to: &str| {
        referee.restart_after(|folder| {
            let config = folder.join("config.toml");
            let text = std::fs::read_to_string(&config).expect("the config");
            std::fs::write(&config, text.replacen(from, to, 1)).expect("the config");
        });
    };
    change(&mut referee, "[club]\n", "[club]\nplus_addresses = true\n");
    let game_match = referee.open(GameKind::Quad, &[]);
    let form = referee.one_to(ANN);
    // Only the recipient's address contains the token.
    referee.receive(&format!(
        "From: {ANN}\nTo: {}\nSubject: hello\nMessage-ID: <alone@players.example>\n\nSTATUS\n",
        form.reply_to
    ));
    change(&mut referee, "referee@club", "umpire@club");
    referee.reply(BO, &referee.one_to(BO), "STATUS");
    let verdict = referee.verify(&game_match.id);
    assert!(verdict.is_sound(), "{verdict:#?}");
    assert_eq!(verdict.letters, 2);
}

#[test]
fn an_interrupted_scheduled_check_starts_again() {
    let (referee, _) = played();
    referee.advance(23);
    referee.sent_to(GM);
    cheat(
        &referee,
        &["UPDATE entry SET json = replace(json, 'MARBLE E5', 'MARBLE E6') WHERE kind = 'OrdersSealed'"],
    );
    referee.sleep(2);
    referee.block_on(async {
        let mut check = Box::pin(audit::audit_when_due(referee.office()));
        // Usually this drops the check halfway. If the check ends sooner, the GM must still be told.
        for _ in 0..5 {
            let step = std::future::poll_fn(|context| Poll::Ready(check.as_mut().poll(context).is_pending()));
            if !step.await {
                break;
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    referee.work();
    let told = referee.sent_to(GM);
    assert!(told.iter().any(|sent| sent.subject == "A ledger does not verify"), "{told:#?}");
}

#[test]
fn a_match_that_fails_its_scheduled_check_is_paused_and_the_gm_is_told() {
    let (referee, game_match) = played();
    referee.sent_to(GM);
    change_first_report(&referee, &game_match.id, "What happened", "What hxppened");
    referee.advance(25);
    let after = referee.find(&game_match.id);
    assert_eq!(after.stage, Stage::Paused);
    let alarm = referee.sent_to(GM).into_iter().find(|sent| sent.subject == "A ledger does not verify");
    alarm.expect("the GM is told").says(&game_match.id).says("does not verify").says("it was changed");
    referee.last_to(ANN).says("its ledger does not verify");
    let verdict = referee.verify(&game_match.id);
    assert!(matches!(found(&verdict), Place::Sent(_)), "the pause itself is on the ledger: {verdict:#?}");
}
