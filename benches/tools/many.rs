//! Fills a database with copies of its matches and all their rows.
//!
//! A copy has its own name, tokens, players, letters and dispatches, in the columns and lengths that the daemon writes,
//! and its letters name it. Its hashes and digests are wrong: computing them would take as long as opening the matches,
//! and this bench verifies no chain.

use std::str::FromStr;

use fogpost::letter::pictures::take_out;
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};

/// Free names, spread over all possible names as if drawn at random.
const PLAN: &str = "
    CREATE TEMP TABLE plan AS
    WITH RECURSIVE number (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM number WHERE i < 1048575),
        letters (all_of) AS (SELECT '0123456789ABCDEFGHJKMNPQRSTVWXYZ'),
        drawn (i, x) AS (SELECT i, (i * 654321 + 12345) % 1048576 FROM number),
        named (i, name) AS (SELECT i, 'QZ-' || substr(all_of, 1 + (x >> 15), 1) || substr(all_of, 1 + ((x >> 10) & 31), 1)
            || substr(all_of, 1 + ((x >> 5) & 31), 1) || substr(all_of, 1 + (x & 31), 1) FROM drawn, letters),
        free (name, j) AS (SELECT name, row_number() OVER (ORDER BY i) - 1 FROM named
            WHERE name NOT IN (SELECT id FROM match)),
        seed (id, k) AS (SELECT id, row_number() OVER (ORDER BY id) - 1 FROM match),
        many (seeds) AS (SELECT COUNT(*) FROM match)
    SELECT j / seeds + 1 AS n, seed.id AS old, free.name AS new FROM free, many
        JOIN seed ON seed.k = j % seeds WHERE j < seeds * (:TIMES - 1);
    CREATE INDEX temp.plan_by_old ON plan (old);
    CREATE TEMP TABLE step AS SELECT
        (SELECT MAX(id) FROM player) AS player, (SELECT MAX(id) FROM letter) AS letter,
        (SELECT MAX(id) FROM dispatch) AS dispatch;";

/// Copies the tables in the order of their references.
const COPY: &str = "
    INSERT INTO player SELECT p.id + n * step.player, p.name, p.bouncing, p.created_at
        FROM plan JOIN seat s ON s.match_id = old JOIN player p ON p.id = s.player_id, step;
    INSERT INTO address SELECT n || '.' || a.address, a.player_id + n * step.player, a.rank
        FROM plan JOIN seat s ON s.match_id = old JOIN address a ON a.player_id = s.player_id, step;
    INSERT INTO match (id, game, stage, wake_at, first_name, second_name, zone, options, turn, phase, owing, awaited,
            deadline, marks, head_seq, head_hash, snapshot, version)
        SELECT new, m.game, m.stage, m.wake_at, first_name, second_name, zone, options, turn, phase, owing, awaited,
            deadline, marks, head_seq, printf('%08d', n) || substr(head_hash, 9), replace(m.snapshot, old, new), m.version
        FROM plan JOIN match m ON m.id = old;
    CREATE TEMP TABLE token AS SELECT n, old, new, s.seat, s.token AS was, a.address,
        substr(s.token, 1, 11) || printf('%05d', n) AS token
        FROM plan JOIN seat s ON s.match_id = old JOIN address a ON a.player_id = s.player_id;
    CREATE INDEX temp.token_by_old ON token (old, seat);
    INSERT INTO seat SELECT t.new, t.seat, s.player_id + n * step.player, t.token
        FROM token t JOIN seat s ON s.match_id = old AND s.seat = t.seat, step;
    INSERT INTO letter (id, digest, received_at, origin, message_id, sender, subject, size, sent_as, status, note, match_id,
            seat, tries, decided_at, wait_until, lane)
        SELECT l.id + n * step.letter, printf('%08d', n) || substr(digest, 9), received_at, origin,
            replace(replace(message_id, old, new), was, token), n || '.' || sender, replace(subject, old, new), size,
            printf('%08d', n) || substr(sent_as, 9), status, note, new, l.seat, tries, decided_at, wait_until, lane
        FROM token t JOIN letter l ON l.match_id = old AND l.seat = t.seat, step;
    INSERT INTO letter_raw SELECT l.id + n * step.letter,
            CAST(replace(replace(replace(CAST(bytes AS TEXT), old, new), was, token), address, n || '.' || address) AS BLOB)
        FROM token t JOIN letter l ON l.match_id = old AND l.seat = t.seat JOIN letter_raw r ON r.letter_id = l.id, step;
    INSERT INTO entry SELECT new, seq, at, kind, replace(json, old, new), printf('%08d', n) || substr(hash, 9)
        FROM plan JOIN entry e ON e.match_id = old ORDER BY seq, n;
    INSERT INTO dispatch (id, message_id, recipient, kind, match_id, seat, answers, created_at, due_at, sent_at, tries,
            error, returned_at, urgency)
        SELECT d.id + n * step.dispatch, replace(message_id, was, token), n || '.' || recipient, kind, new, d.seat,
            printf('%08d', n) || substr(answers, 9), created_at, due_at, sent_at, tries, error, returned_at,
            urgency
        FROM token t JOIN dispatch d ON d.match_id = old AND d.seat = t.seat, step;
    INSERT INTO dispatch_raw (dispatch_id, bytes) SELECT d.id + n * step.dispatch,
            CAST(replace(replace(replace(CAST(bytes AS TEXT), old, new), was, token), address, n || '.' || address) AS BLOB)
        FROM token t JOIN dispatch d ON d.match_id = old AND d.seat = t.seat
        JOIN dispatch_raw r ON r.dispatch_id = d.id, step;
    INSERT INTO dispatch_picture SELECT d.id + n * step.dispatch, picture
        FROM token t JOIN dispatch d ON d.match_id = old AND d.seat = t.seat
        JOIN dispatch_picture p ON p.dispatch_id = d.id, step;";

/// Multiplies the matches in a SQLite database that nobody else uses.
pub async fn multiply(url: &str, times: usize) {
    let options = SqliteConnectOptions::from_str(url).expect("a URL");
    // Fast but unsafe, because the database need not survive a crash.
    let options = options
        .journal_mode(SqliteJournalMode::Off)
        .synchronous(SqliteSynchronous::Off)
        .foreign_keys(false)
        .pragma("cache_size", "-500000");
    let mut whole = Whole::read(url).await;
    let mut connection = SqliteConnection::connect_with(&options).await.expect("a database");
    whole.store(&mut connection).await;
    for statement in format!("{PLAN}{COPY}").replace(":TIMES", &times.to_string()).split_inclusive(';') {
        let done = sqlx::query(AssertSqlSafe(statement.to_owned())).execute(&mut connection).await;
        done.unwrap_or_else(|error| panic!("{error}: {statement}"));
    }
    for (table, key) in RAW {
        pack_all(&mut connection, table, key).await;
    }
    for trigger in whole.triggers {
        sqlx::query(AssertSqlSafe(trigger)).execute(&mut connection).await.expect("the trigger again");
    }
    connection.close().await.expect("it closes");
}

/// The tables that hold letters, and their keys.
const RAW: [(&str, &str); 2] = [("letter_raw", "letter_id"), ("dispatch_raw", "dispatch_id")];

/// Letters as they are, so that SQL can replace names in them.
struct Whole {
    /// Selects letters by their digests.
    received: Vec<(String, Vec<u8>)>,
    /// Selects dispatches by their ids, without their pictures.
    sent: Vec<(i64, Vec<u8>)>,
    /// The triggers that forbid to change them.
    triggers: Vec<String>,
}

impl Whole {
    async fn read(url: &str) -> Whole {
        let store = fogpost::store::open(url).await.expect("a database");
        let (mut received, mut sent) = (Vec::new(), Vec::new());
        for row in store.letters(None, None, "", u32::MAX).await.expect("its letters") {
            let raw = store.letter(row.digest).await.expect("its bytes").expect("its bytes");
            received.push((row.digest.to_string(), raw));
        }
        for id in store.match_ids().await.expect("its matches") {
            let dispatches = store.dispatches_of(&id).await.expect("its dispatches");
            let text = |bytes: Vec<u8>| take_out(&bytes).map_or(bytes, |(text, _)| text);
            sent.extend(dispatches.into_iter().map(|(row, bytes)| (row.id, text(bytes))));
        }
        store.close().await;
        Whole { received, sent, triggers: Vec::new() }
    }

    /// Stores them as they are.
    async fn store(&mut self, connection: &mut SqliteConnection) {
        for (table, _) in RAW {
            let name = format!("{table}_is_not_changed");
            let sql = "SELECT sql FROM sqlite_schema WHERE name = $1";
            self.triggers
                .push(sqlx::query_scalar(sql).bind(&name).fetch_one(&mut *connection).await.expect("it"));
            let sql = format!("DROP TRIGGER {name}");
            sqlx::query(AssertSqlSafe(sql)).execute(&mut *connection).await.expect("dropped");
        }
        for (digest, bytes) in &self.received {
            let sql = "UPDATE letter_raw SET bytes = $1 WHERE letter_id = (SELECT id FROM letter WHERE digest = $2)";
            sqlx::query(sql).bind(bytes).bind(digest).execute(&mut *connection).await.expect("stored");
        }
        for (id, bytes) in &self.sent {
            let sql = "UPDATE dispatch_raw SET bytes = $1 WHERE dispatch_id = $2";
            sqlx::query(sql).bind(bytes).bind(id).execute(&mut *connection).await.expect("stored");
        }
    }
}

/// Replaces letters by their stored form.
async fn pack_all(connection: &mut SqliteConnection, table: &str, key: &str) {
    let keys = format!("SELECT {key} FROM {table}");
    let keys: Vec<i64> =
        sqlx::query_scalar(AssertSqlSafe(keys)).fetch_all(&mut *connection).await.expect("keys");
    for id in keys {
        let bytes = format!("SELECT bytes FROM {table} WHERE {key} = $1");
        let bytes: Vec<u8> = sqlx::query_scalar(AssertSqlSafe(bytes))
            .bind(id)
            .fetch_one(&mut *connection)
            .await
            .expect("bytes");
        let sql = format!("UPDATE {table} SET bytes = $1 WHERE {key} = $2");
        let packed = fogpost::store::pack(&bytes);
        sqlx::query(AssertSqlSafe(sql))
            .bind(packed)
            .bind(id)
            .execute(&mut *connection)
            .await
            .expect("packed");
    }
}
