//! Somebody who owns the database tampers with an event: with its book, its letters, or the rows beside them.
//! `audit verify` names each way, or a letter in a player's own mailbox does.

use fogpost::audit::AuditVerdict;
use fogpost::audit::witness::PlayersMail;
use fogpost::daemon::audit::verify;
use fogpost::game::Seat;
use fogpost::ledger::Head;
use fogpost::ledger::book::BookEntry;
use fogpost::letter::Digest;
use serde_json::Value;
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

use crate::events::{CY, LEAGUE, announced, book, club, gm, matches, play_until_resigned};
use crate::referee::{ANN, BO, Referee};

/// A club with an event whose season runs and has a result, a match that came from a challenge, and an open offer.
pub fn scene() -> Referee {
    let referee = club("");
    announced(&referee, LEAGUE, &[ANN, BO, CY]);
    gm(&referee, "GM EVENT EV-SPRING OPEN");
    referee.work();
    play_until_resigned(&referee, &matches(&referee, "EV-SPRING")[0], Seat::First);
    referee.write(CY, "OPEN quantum times=2");
    referee.write(ANN, &format!("CHALLENGE {BO} Quantum seat=first"));
    let invitation = referee.last_to(BO);
    let code = code(&invitation.text, "ACCEPT");
    referee.reply(BO, &invitation, &format!("ACCEPT {code}"));
    referee
}

/// The code that follows this word in a letter.
pub fn code(text: &str, word: &str) -> String {
    let line = text.lines().find_map(|line| line.trim().strip_prefix(&format!("| {word} ")));
    line.unwrap_or_else(|| panic!("no {word} in:\n{text}")).to_owned()
}

/// The database of a desk in the hands of its owner, and as it was before.
pub struct Tampering<'d> {
    referee: &'d Referee,
    file: SqliteConnection,
}

impl<'d> Tampering<'d> {
    pub fn begin(referee: &'d Referee) -> Tampering<'d> {
        referee.untidy.set(true);
        let was = referee.folder().join("was.db");
        referee.block_on(referee.office().store.backup(&was)).expect("a copy");
        let options =
            SqliteConnectOptions::new().filename(referee.folder().join("fogpost.db")).foreign_keys(false);
        let file = referee.block_on(SqliteConnection::connect_with(&options)).expect("the file opens");
        let mut tampering = Tampering { referee, file };
        tampering.run("PRAGMA ignore_check_constraints = ON");
        tampering.run(&format!("ATTACH '{}' AS was", was.display()));
        for name in tampering.texts("SELECT name FROM sqlite_schema WHERE type = 'trigger'") {
            tampering.run(&format!("DROP TRIGGER {name}"));
        }
        tampering
    }

    /// Returns the only column of each row.
    pub fn texts(&mut self, sql: &str) -> Vec<String> {
        let select = sqlx::query_scalar(AssertSqlSafe(sql.to_owned()));
        self.referee.block_on(select.fetch_all(&mut self.file)).expect(sql)
    }

    /// Returns the number of changed rows.
    fn run(&mut self, sql: &str) -> u64 {
        let done = self.referee.block_on(sqlx::query(AssertSqlSafe(sql.to_owned())).execute(&mut self.file));
        done.expect(sql).rows_affected()
    }

    /// Runs statements that change one of these tables each, returns all findings then, and takes the changes back.
    /// Also returns the number of changed rows.
    pub fn findings_after(&mut self, statements: &[String], mail: &[PlayersMail]) -> (u64, String) {
        let changed = statements.iter().map(|sql| self.run(sql)).sum();
        let office = self.referee.office();
        let verdicts = self.referee.block_on(async {
            if !mail.is_empty() {
                return verify::verify_against(office, mail, None, &|_| ()).await;
            }
            let subjects = verify::all_subjects(office).await?;
            verify::verify_several(office, &subjects, &|_| ()).await
        });
        let verdicts = verdicts.unwrap_or_else(|error| panic!("{statements:?}: {error:#}"));
        let tables = self.texts(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '\\_%' ESCAPE '\\'",
        );
        self.run("BEGIN");
        for table in tables.iter().filter(|table| !table.starts_with("sqlite_")) {
            self.run(&format!("DELETE FROM {table}"));
            self.run(&format!("INSERT INTO {table} SELECT * FROM was.{table}"));
        }
        self.run("COMMIT");
        let words = |verdict: &AuditVerdict| {
            let id = verdict.subject.id().to_owned();
            let findings = verdict.findings.iter();
            findings.map(|found| format!("{id}: {}: {}; ", found.place, found.what)).collect::<String>()
        };
        (changed, verdicts.iter().map(words).collect())
    }
}

/// The statements that store a changed book instead, as one chain.
fn remade(referee: &Referee, change: impl Fn(&mut Vec<Value>)) -> Vec<String> {
    let json = |entry: &BookEntry| serde_json::to_value(entry).expect("JSON");
    let mut entries: Vec<Value> = book(referee, "EV-SPRING").iter().map(json).collect();
    change(&mut entries);
    let mut statements = vec!["DELETE FROM book_entry".to_owned()];
    let mut head = Head::default();
    for (seq, mut entry) in (1_u64..).zip(entries) {
        entry["seq"] = seq.into();
        entry["prev"] = head.hash.to_string().into();
        let json = fogpost::ledger::canonical(&entry);
        let entry: BookEntry = serde_json::from_value(entry).expect("an entry");
        head = Head { seq, hash: Digest::of(json.as_bytes()) };
        let (at, kind, hash, json) =
            (entry.at.timestamp_millis(), entry.fact.kind(), head.hash, json.replace('\'', "''"));
        statements.push(format!(
            "INSERT INTO book_entry VALUES ('EV-SPRING', {seq}, {at}, '{kind}', '{json}', '{hash}')"
        ));
    }
    statements
}

/// The first entry of this kind.
fn first<'a>(entries: &'a mut [Value], kind: &str) -> &'a mut Value {
    entries.iter_mut().find(|entry| entry["kind"] == kind).expect("one")
}

#[test]
fn a_remade_book_is_named_by_ledgers_letters_and_players_mail() {
    let referee = scene();
    let mail = |letter: &Vec<u8>| PlayersMail::read("ann.eml", letter);
    let mut mails: Vec<PlayersMail> = referee.raw_to(ANN).iter().map(mail).collect();
    mails.retain(|mail| mail.lines.iter().any(|line| line.chain == "EV-SPRING"));
    assert!(mails.len() > 1, "{mails:?}");
    let mut tampering = Tampering::begin(&referee);
    assert_eq!(tampering.findings_after(&[], &[]).1, "");
    assert_eq!(tampering.findings_after(&[], &mails).1, "");
    type Change = fn(&mut Vec<Value>);
    let ways: [(&str, Change, &str); 8] = [
        ("another plan", |book| book[0]["body"]["plan"]["promote"] = 2.into(), "it states a head"),
        ("another game", |book| book[0]["body"]["plan"]["game"] = "quantum".into(), "opened as another game"),
        (
            "a reversed result",
            |book| first(book, "ResultEntered")["body"]["result"]["outcome"] = "first".into(),
            "ended as second, and the book says first",
        ),
        (
            "another time",
            |book| first(book, "ResultEntered")["body"]["result"]["own"]["first"] = 1.into(),
            "ended with other times",
        ),
        (
            "an earlier entry",
            |book| first(book, "Entered")["at"] = "2026-05-01T10:00:00.000Z".into(),
            "come after the entry",
        ),
        ("an entry less", |book| drop(book.remove(2)), "it states a head"),
        (
            "another opening",
            |book| first(book, "MatchOpened")["at"] = "2026-05-07T09:00:00.000Z".into(),
            "opened at another time",
        ),
        (
            "a letter of somebody else",
            |book| {
                let cause = first(book, "Entered")["cause"].clone();
                book.iter_mut().rfind(|entry| entry["kind"] == "Entered").expect("one")["cause"] = cause;
            },
            "it is not from the player whom the entry names",
        ),
    ];
    for (what, change, named) in ways {
        let statements = remade(&referee, change);
        let said = tampering.findings_after(&statements, &[]).1;
        assert!(said.contains(named), "{what}: {named:?} is not in {said:?}");
        // The last letter that states a head is older than the result.
        let witnessed = if named.starts_with("ended") { named } else { "EV-SPRING: the mail's ledger line" };
        let said = tampering.findings_after(&statements, &mails).1;
        assert!(said.contains(witnessed), "{what}: {said}");
    }
}

#[test]
fn what_is_stored_beside_a_book_is_compared_with_it() {
    let referee = scene();
    let mut tampering = Tampering::begin(&referee);
    let letter = "(SELECT id FROM letter WHERE digest = (SELECT json_extract(json, '$.cause.letter') FROM book_entry \
                  WHERE kind = 'Entered' LIMIT 1))";
    let told = |json: &str| format!("UPDATE event SET told = '{json}'");
    for (statement, named) in [
        (format!("DELETE FROM letter_raw WHERE letter_id = {letter}"), "it is missing; entry #2 names it"),
        (
            format!(
                "UPDATE letter_raw SET bytes = (SELECT bytes FROM letter_raw LIMIT 1) WHERE letter_id = {letter}"
            ),
            "its bytes were changed; entry #2",
        ),
        ("DELETE FROM event".to_owned(), "EV-SPRING: the event: its row is missing"),
        ("DELETE FROM event_match".to_owned(), "the event's matches: "),
        ("UPDATE event_match SET seen = (SELECT hash FROM entry LIMIT 1)".to_owned(), "has not looked at"),
        ("DELETE FROM event_result".to_owned(), "the event's results: "),
        ("DELETE FROM owed_turn".to_owned(), "the players' reliability: "),
        ("UPDATE owed_turn SET in_time = 0".to_owned(), "the players' reliability: "),
        ("DELETE FROM invitation".to_owned(), "the offer that it came from is missing"),
        ("UPDATE mailbox SET mark = mark + 31536000000000".to_owned(), "CLUB: the mailboxes: "),
        (told(r#"{"too_few": 2}"#), "too few entrants"),
        (told(r#"{"ending": 1}"#), "a season ends"),
        (told(r#"{"unfinished": 1}"#), "a GM must decide"),
        (told(r#"{"resigned": [[1, 2]]}"#), "were resigned"),
    ] {
        let (changed, said) = tampering.findings_after(std::slice::from_ref(&statement), &[]);
        assert!(changed > 0 && said.contains(named), "{statement}: {named:?} is not in {said:?}");
    }
}

#[test]
fn a_key_that_was_replaced_after_its_digest_was_told_is_named_before_and_after_the_draw() {
    let referee = scene();
    let other_key = "UPDATE invitation SET offer = json_set(offer, '$.lot.key', \
                     'abababababababababababababababababababababababababababababababab') WHERE stage = 'open'";
    let named = "the SHA-256 of its key is not the one that our letters told";
    let said = Tampering::begin(&referee).findings_after(&[other_key.to_owned()], &[]).1;
    assert!(said.starts_with("CLUB: the offers: ") && said.contains(named), "{said}");
    let offer =
        referee.all_to(CY).into_iter().find(|sent| sent.text.contains("| CLOSE ")).expect("an answer");
    let code = code(&offer.text, "JOIN");
    // The answer to each JOIN tells the key of the next one.
    referee.write(ANN, &format!("JOIN {code}"));
    referee.check();
    referee.change_database(other_key);
    let before = referee.block_on(referee.office().store.match_ids()).expect("the store answers");
    referee.write(BO, &format!("JOIN {code}"));
    let after = referee.block_on(referee.office().store.match_ids()).expect("the store answers");
    let drawn = after.iter().find(|id| !before.contains(id)).expect("a match");
    let verdict = referee.verify(drawn);
    assert!(verdict.findings.iter().any(|found| found.what == named), "{verdict:?}");
}
