//! Tests of a single database, and of what the two must have in common.

use std::collections::BTreeMap;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fogpost::store::{Changes, StoreError, open, open_made};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};

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
async fn who_only_looks_at_a_postgres_database_makes_no_tables_in_it() {
    let Some(place) = Place::postgres().await else { return };
    open_made(&place.url, 5).await.expect("it has tables").close().await;
    let mut connection = PgConnection::connect(&place.url).await.unwrap();
    sqlx::raw_sql("DROP SCHEMA public CASCADE; CREATE SCHEMA public").execute(&mut connection).await.unwrap();
    let refused = open_made(&place.url, 5).await.err().expect("it has none").to_string();
    assert!(refused.contains("it has no tables"), "{refused}");
    let sql = "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = 'public'";
    assert_eq!(sqlx::query_scalar::<_, i64>(sql).fetch_one(&mut connection).await.unwrap(), 0);
    // For the check at the end of the test.
    open(&place.url).await.expect("the tables are made").close().await;
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

/// Runs SQL as the owner of the cluster.
async fn as_superuser(cluster: &Cluster, database: &str, statements: &[&str]) {
    let mut connection = PgConnection::connect(&cluster.url(database)).await.unwrap();
    for sql in statements {
        sqlx::raw_sql(AssertSqlSafe((*sql).to_owned())).execute(&mut connection).await.expect(sql);
    }
}

#[tokio::test]
async fn a_database_that_cannot_store_every_letter_is_refused_with_the_command_that_helps() {
    let Some(cluster) = Cluster::shared() else { return };
    for encoding in ["LATIN1", "LATIN9", "WIN1252", "KOI8R", "EUC_JP"] {
        let name = format!("in_{}", encoding.to_lowercase());
        cluster.create(&format!("{name} TEMPLATE template0 ENCODING '{encoding}'")).await;
        let text = refusal(&cluster.url(&name)).await;
        assert!(text.contains(&format!("its encoding is {encoding}")), "{text}");
        assert!(text.contains("createdb --template=template0 --encoding=UTF8 --locale=C"), "{text}");
    }
    cluster.create("in_ascii TEMPLATE template0 ENCODING 'SQL_ASCII'").await;
    let store = open(&cluster.url("in_ascii")).await.unwrap();
    store.remember("snowman", "\u{2603}\u{1f600}").await.unwrap();
    assert_eq!(store.remembered("snowman").await.unwrap().as_deref(), Some("\u{2603}\u{1f600}"));
}

#[tokio::test]
async fn a_user_without_rights_learns_the_command_that_gives_them() {
    let Some(cluster) = Cluster::shared() else { return };
    cluster.create("of_another").await;
    as_superuser(&cluster, "of_another", &["CREATE ROLE guest LOGIN"]).await;
    let url = cluster.url("of_another").replace("fogpost@", "guest@");
    let text = refusal(&url).await;
    assert_eq!(text.matches("permission denied").count(), 1, "{text}");
    assert!(text.contains("ALTER DATABASE of_another OWNER TO guest"), "{text}");
    as_superuser(&cluster, "of_another", &["ALTER DATABASE of_another OWNER TO guest"]).await;
    open(&url).await.unwrap().close().await;
    // Put back by somebody else.
    as_superuser(&cluster, "of_another", &["ALTER TABLE _sqlx_migrations OWNER TO fogpost"]).await;
    assert!(refusal(&url).await.contains("GRANT ALL ON ALL TABLES"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_daemon_makes_do_with_few_connections_and_leaves_some_to_commands() {
    let Some(cluster) = Cluster::shared() else { return };
    as_superuser(&cluster, "postgres", &["CREATE ROLE few LOGIN CONNECTION LIMIT 5"]).await;
    cluster.create("of_few OWNER few").await;
    let url = cluster.url("of_few").replace("fogpost@", "few@");
    let store = open(&url).await.unwrap();
    assert_eq!(store.connections(), Some(3));
    store.insert_letters(&letters(0..40)).await.unwrap();
    add_dispatches(&store, 0..9).await;
    assert!(store.try_acquire_lease("the mailbox").await.unwrap());
    // No claim occupies a connection, however long it is held.
    let mut claims = Vec::new();
    for _ in 0..4 {
        claims.push(store.claim(at(1000), &[]).await.unwrap().claim);
        claims.push(store.claim_dispatches(at(0), 2).await.unwrap().1);
    }
    let mut tasks = tokio::task::JoinSet::new();
    for number in 0..20 {
        let store = std::sync::Arc::clone(&store);
        tasks.spawn(async move { store.remember(&number.to_string(), "done").await.is_ok() });
    }
    let command = open(&url).await.unwrap();
    assert_eq!(tasks.join_all().await, [true; 20]);
    assert_eq!(command.queues().await.unwrap().letters_waiting, 40);
    drop(claims);
}

/// Sets whether new sessions of the database are read-only. `on` also ends the others, as a failover does.
async fn set_read_only(url: &str, name: &str, value: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::raw_sql("SET default_transaction_read_only = off").execute(&mut connection).await.unwrap();
    let set = format!("ALTER DATABASE {name} SET default_transaction_read_only = {value}");
    sqlx::raw_sql(AssertSqlSafe(set)).execute(&mut connection).await.unwrap();
    if value == "on" {
        let end = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE datname = current_database() AND pid <> pg_backend_pid()";
        sqlx::raw_sql(end).execute(&mut connection).await.unwrap();
    }
}

#[tokio::test]
async fn a_session_that_is_read_only_is_replaced_once_the_server_takes_writes() {
    let Some(place) = Place::postgres().await else { return };
    let name = place.url.split(['/', '?']).nth(3).unwrap();
    let store = &place.store;
    assert!(store.try_acquire_lease("the mailbox").await.unwrap());
    set_read_only(&place.url, name, "on").await;
    let refused = store.remember("key", "value").await.unwrap_err();
    assert!(matches!(refused, StoreError::ReadOnly) && refused.is_transient(), "{refused}");
    assert!(matches!(store.try_acquire_lease("the mailbox").await, Err(StoreError::ReadOnly)));
    let faults = open(&place.url).await.unwrap().server_faults().await.unwrap();
    assert!(
        faults.len() == 1 && faults[0].contains(name) && faults[0].contains("is read-only"),
        "{faults:?}"
    );
    set_read_only(&place.url, name, "off").await;
    // Nobody has ended the session that was opened in between.
    store.remember("key", "value").await.unwrap();
    assert!(store.try_acquire_lease("the mailbox").await.unwrap());
    assert_eq!(store.server_faults().await.unwrap(), [""; 0]);
}

#[tokio::test]
async fn a_statement_gives_up_on_a_row_that_another_session_holds_and_the_session_is_named() {
    let Some(cluster) = Cluster::shared() else { return };
    as_superuser(&cluster, "postgres", &["CREATE ROLE keeper LOGIN"]).await;
    cluster.create("of_keeper OWNER keeper").await;
    let url = cluster.url("of_keeper").replace("fogpost@", "keeper@");
    let store = open(&format!("{url}&options=-c%20lock_timeout%3D100ms")).await.unwrap();
    store.remember("held", "before").await.unwrap();
    let mut other = PgConnection::connect(&cluster.url("of_keeper")).await.unwrap();
    let hold = "SET application_name = 'psql'; BEGIN; SELECT * FROM memo WHERE key = 'held' FOR UPDATE";
    sqlx::raw_sql(hold).execute(&mut other).await.unwrap();
    let refused = store.remember("held", "after").await.unwrap_err();
    assert!(matches!(refused, StoreError::RowLocked) && refused.is_transient(), "{refused}");
    store.remember("other", "after").await.unwrap();
    let faults = store.server_faults().await.unwrap();
    assert!(
        faults.len() == 1 && faults[0].contains("(psql, user fogpost) holds locks on memo"),
        "{faults:?}"
    );
    sqlx::raw_sql("ROLLBACK; BEGIN; SELECT * FROM memo").execute(&mut other).await.unwrap();
    store.remember("held", "after").await.unwrap();
    assert_eq!(
        store.server_faults().await.unwrap(),
        [""; 0],
        "a session that only reads keeps nobody waiting"
    );
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
