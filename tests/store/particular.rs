//! Tests of a single database, and of what the two must have in common.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fogpost::store::{Changes, StoreError, open};
use sqlx::{Connection as _, PgConnection, SqliteConnection};

use crate::place::{Cluster, PATIENCE, Place};
use crate::samples::*;

/// Every column of every table: whether it holds numbers, text or bytes, and whether it may be NULL.
type Columns = BTreeMap<(String, String), (&'static str, bool)>;

fn columns(rows: Vec<(String, String, String, bool)>) -> Columns {
    let kind = |kind: &str| match kind {
        "INTEGER" | "bigint" | "boolean" => "number",
        "TEXT" | "text" => "text",
        "BLOB" | "bytea" => "bytes",
        other => panic!("a column of type {other}"),
    };
    rows.into_iter().map(|(table, column, type_, empty)| ((table, column), (kind(&type_), empty))).collect()
}

#[tokio::test]
async fn both_sets_of_migrations_give_the_same_tables_and_columns() {
    let Some(postgres) = Place::postgres().await else { return };
    let mut connection = PgConnection::connect(&postgres.url).await.unwrap();
    let sql = "SELECT table_name::text, column_name::text, data_type::text, is_nullable = 'YES' \
               FROM information_schema.columns WHERE table_schema = 'public' AND table_name <> '_sqlx_migrations'";
    let of_postgres = columns(sqlx::query_as(sql).fetch_all(&mut connection).await.unwrap());

    let sqlite = Place::sqlite().await;
    let mut connection = SqliteConnection::connect(&sqlite.url).await.unwrap();
    let sql = "SELECT t.name, c.name, c.type, c.\"notnull\" = 0 AND (c.pk = 0 OR c.type <> 'INTEGER') \
               FROM pragma_table_list t JOIN pragma_table_info(t.name) c \
               WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name <> '_sqlx_migrations'";
    let of_sqlite = columns(sqlx::query_as(sql).fetch_all(&mut connection).await.unwrap());

    assert!(of_sqlite.len() > 50);
    assert_eq!(of_sqlite, of_postgres);
}

#[tokio::test]
async fn sqlite_rejects_replacing_an_entry() {
    let place = Place::sqlite().await;
    add_matches(&place.store, &["QZ-AAAA"]).await;
    let entries = vec![entry("QZ-AAAA", 1)];
    place.store.commit(&Changes { entries, ..changes() }).await.unwrap();
    let error = place.execute("INSERT OR REPLACE INTO entry SELECT * FROM entry").await.unwrap_err();
    assert!(error.to_string().contains("without gaps"), "{error}");
}

#[tokio::test]
async fn sqlite_rejects_replacing_any_row_of_history() {
    let place = Place::sqlite().await;
    let store = &place.store;
    store.insert_letters(&letters(0..2)).await.unwrap();
    add_matches(store, &["QZ-AAAA", "QZ-BBBB"]).await;
    let (entries, dispatches) = (vec![entry("QZ-AAAA", 1)], vec![dispatch(0), dispatch(1)]);
    store.commit(&Changes { entries, dispatches, ..changes() }).await.unwrap();
    for sql in [
        "INSERT OR REPLACE INTO entry (rowid, match_id, seq, at, kind, json, hash) \
         SELECT rowid, 'QZ-BBBB', 1, at, kind, '{}', hash FROM entry",
        "INSERT OR REPLACE INTO letter SELECT * FROM letter",
        "INSERT OR REPLACE INTO letter (digest, received_at, origin, message_id, sender, subject, size, status) \
         SELECT digest, 0, '', '', '', '', 0, 'ignored' FROM letter",
        "UPDATE letter SET rowid = 99 WHERE id = 1",
        "UPDATE OR REPLACE letter SET rowid = 2 WHERE id = 1",
        "REPLACE INTO letter_raw (letter_id, bytes) SELECT letter_id, x'00' FROM letter_raw",
        "INSERT OR REPLACE INTO dispatch SELECT * FROM dispatch",
        "INSERT OR REPLACE INTO dispatch (message_id, recipient, kind, created_at) \
         SELECT message_id, 'me@here.test', kind, created_at FROM dispatch",
        "UPDATE OR REPLACE dispatch SET rowid = 2 WHERE id = 1",
        "REPLACE INTO dispatch_raw (dispatch_id, bytes) SELECT dispatch_id, x'00' FROM dispatch_raw",
    ] {
        let error = place.execute(sql).await.expect_err(sql);
        assert!(error.to_string().contains("is never changed"), "{sql}: {error}");
    }
    assert_eq!(store.entries("QZ-AAAA").await.unwrap(), [entry("QZ-AAAA", 1)]);
    assert_eq!(store.letter(letter(0).digest).await.unwrap(), Some(letter(0).raw));
}

#[tokio::test]
async fn a_changed_schema_of_postgres_is_named() {
    let Some(place) = Place::postgres().await else { return };
    assert_eq!(place.store.schema_faults().await.unwrap(), [""; 0]);
    for (sql, fault) in [
        (
            "DROP TRIGGER entry_is_not_changed ON entry",
            "its trigger entry_is_not_changed on entry is missing",
        ),
        (
            "ALTER TABLE entry DISABLE TRIGGER entry_is_not_deleted",
            "its trigger entry_is_not_deleted on entry differs from",
        ),
        ("CREATE TABLE spy (sender TEXT)", "its table spy does not belong to this program"),
        ("ALTER TABLE letter ADD COLUMN spy TEXT", "its table letter differs from"),
        ("DROP INDEX letter_by_time", "its index letter_by_time is missing"),
        (
            "CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RETURN NEW; END $$",
            "its function refuse() differs from",
        ),
    ] {
        place.execute(sql).await.expect(sql);
        let faults = place.store.schema_faults().await.unwrap();
        assert!(faults.iter().any(|told| told.starts_with(fault)), "{sql}: {faults:?}");
    }
    assert_eq!(place.store.schema_faults().await.unwrap().len(), 6);
}

#[tokio::test]
async fn postgres_rejects_truncating_history() {
    let Some(place) = Place::postgres().await else { return };
    for sql in [
        "TRUNCATE entry",
        "TRUNCATE letter CASCADE",
        "TRUNCATE letter_raw",
        "TRUNCATE dispatch_raw",
        "TRUNCATE dispatch_picture",
        "TRUNCATE dispatch CASCADE",
    ] {
        let error = place.execute(sql).await.expect_err(sql);
        assert!(error.to_string().contains("never deleted"), "{sql}: {error}");
    }
}

#[tokio::test]
async fn one_daemon_locks_a_sqlite_database_and_a_second_learns_its_name() {
    let place = Place::sqlite().await;
    let other = open(&place.url).await.unwrap();
    let hold = place.store.lock("pid 4711 on turing").await.unwrap();
    let error = other.lock("pid 4712 on turing").await.unwrap_err();
    assert_eq!(error.to_string(), "another fogpost is using this database: pid 4711 on turing");
    assert!(!error.is_transient());
    assert_eq!(other.insert_letters(&letters(0..1)).await.unwrap(), 1, "other commands can still write");
    drop(hold);
    let _hold = other.lock("pid 4712").await.unwrap();
    let error = place.store.lock("pid 4711 on turing").await.unwrap_err();
    assert_eq!(error.to_string(), "another fogpost is using this database: pid 4712");
}

#[tokio::test]
async fn a_killed_daemon_leaves_no_lock() {
    let place = Place::sqlite().await;
    let lock = format!("{}.lock", place.url.strip_prefix("sqlite:").unwrap());
    let mut other = Command::new("flock")
        .args(["--no-fork", &lock, "sleep", "600"])
        .stdin(Stdio::null())
        .spawn()
        .expect("flock is in util-linux");
    let started = Instant::now();
    let held = loop {
        match place.store.lock("pid 1").await {
            Err(error) => break error,
            Ok(hold) => drop(hold),
        }
        assert!(started.elapsed() < PATIENCE, "flock does not lock");
        std::thread::sleep(Duration::from_millis(5));
    };
    assert!(matches!(held, StoreError::Locked(_)));
    other.kill().unwrap();
    other.wait().unwrap();
    let _hold = place.store.lock("pid 1").await.unwrap();
}

#[tokio::test]
async fn several_daemons_share_one_postgres_database() {
    let Some(place) = Place::postgres().await else { return };
    let other = open(&place.url).await.unwrap();
    let _first = place.store.lock("pid 1").await.unwrap();
    let _second = other.lock("pid 2").await.unwrap();
}

async fn refusal(url: &str) -> String {
    let error = open(url).await.err().unwrap_or_else(|| panic!("{url} is opened"));
    assert!(matches!(error, StoreError::Open { .. }), "{error:?}");
    let text = error.to_string();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

#[tokio::test]
async fn a_file_that_cannot_be_a_database_is_refused_in_one_line() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).display().to_string();
    let expected = |name: &str, why: &str| format!("the database {} cannot be opened: {why}", path(name));

    std::fs::write(path("text.db"), "These are no tables.\n".repeat(300)).unwrap();
    assert_eq!(
        refusal(&format!("sqlite:{}", path("text.db"))).await,
        expected("text.db", "it is not a SQLite database")
    );

    let missing = expected("none/x.db", &format!("there is no folder {}", path("none")));
    assert_eq!(refusal(&format!("sqlite:{}", path("none/x.db"))).await, missing);

    std::fs::create_dir(path("folder.db")).unwrap();
    assert_eq!(
        refusal(&format!("sqlite:{}", path("folder.db"))).await,
        expected("folder.db", "it is a folder")
    );

    assert_eq!(
        refusal("sqlite:/proc/fogpost.db").await,
        "the database /proc/fogpost.db cannot be opened: \
         the file can be neither opened nor created; can this user write to its folder?"
    );
}

#[tokio::test]
async fn a_database_of_another_program_is_refused_and_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("other.db");
    let url = format!("sqlite:{}?mode=rwc", file.display());
    let mut connection = SqliteConnection::connect(&url).await.unwrap();
    sqlx::query("CREATE TABLE bookmark (url TEXT)").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let before = std::fs::read(&file).unwrap();
    assert!(refusal(&url).await.ends_with("cannot be opened: it belongs to another program"));
    assert!(std::fs::read(&file).unwrap() == before);
}

#[tokio::test]
async fn programs_can_create_a_sqlite_database_concurrently() {
    let folder = tempfile::tempdir().unwrap();
    for number in 0..20 {
        let url = format!("sqlite:{}", folder.path().join(format!("{number}.db")).display());
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..6 {
            let url = url.clone();
            tasks.spawn(async move { open(&url).await.map(|_| ()).map_err(|error| error.to_string()) });
        }
        assert_eq!(tasks.join_all().await, vec![Ok(()); 6]);
    }
}

#[tokio::test]
async fn a_url_that_names_no_database_is_refused_without_repeating_it() {
    for url in [
        "",
        "fogpost.db",
        "mysql://gm:secret@localhost/fogpost",
        "sqlite::memory:",
        "sqlite:",
        "sqlite:x?y=z",
    ] {
        let text = refusal(url).await;
        assert!(text.starts_with("the database of this configuration cannot be opened: "), "{text}");
        assert!(!text.contains("secret"), "{text}");
    }
}

#[tokio::test]
async fn an_unreachable_server_is_named_without_the_password() {
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().display();
    let url = format!("postgres://gm:secret@localhost/fogpost?host={socket}");
    let error = open(&url).await.err().unwrap();
    assert!(error.is_transient(), "it may come back");
    let text = refusal(&url).await;
    assert!(text.starts_with(&format!("the database fogpost on {socket} cannot be opened: ")), "{text}");
    assert!(!text.contains("secret"), "{text}");

    let Some(cluster) = Cluster::shared() else { return };
    let error = open(&cluster.url("nowhere")).await.err().unwrap();
    assert!(!error.is_transient());
    assert!(error.to_string().contains("database \"nowhere\" does not exist"), "{error}");
}
