//! How many bytes a match of Quadrant Z takes in the database: `cargo bench --bench archive`.
//!
//! Two correspondents play 19 turns by letter (`fogpost demo`). Their letters are then spread over 24 days. The room of a
//! match is that of a compact copy of the database, less that of an empty one. The targets: 1 MB on the last of these days,
//! when pictures of seven days are kept, and 400 kB when none are kept any more.

use std::path::Path;
use std::process::Command;

use chrono::{DateTime, TimeDelta, Utc};
use fogpost::store::{self, Database};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

/// Over how many days the letters are spread.
const DAYS: i64 = 24;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    let demo = folder.path().join("demo");
    let played = Command::new(env!("CARGO_BIN_EXE_fogpost"))
        .args(["demo", "--game", "quadrant-z", "--folder"])
        .arg(&demo)
        .output()
        .expect("fogpost runs");
    assert!(played.status.success(), "{}", String::from_utf8_lossy(&played.stderr));
    tokio::runtime::Runtime::new().expect("a runtime").block_on(measure(folder.path(), &demo));
}

async fn measure(folder: &Path, demo: &Path) {
    let empty = folder.join("empty.db");
    open(&empty).await.close().await;
    let empty = compact_size(&empty, folder).await;
    let file = demo.join("fogpost.db");
    let end = spread(&file).await;
    let whole = compact_size(&file, folder).await - empty;
    let store = open(&file).await;
    let id = store.match_ids().await.expect("the store answers").pop().expect("a match");
    let entries = store.entries(&id).await.expect("the store answers");
    let turns = entries.iter().filter(|entry| entry.kind == "TurnAdjudicated").count();
    drop_pictures(&store, end).await;
    let running = compact_size(&file, folder).await - empty;
    drop_pictures(&store, end + TimeDelta::days(7)).await;
    store.close().await;
    let finished = compact_size(&file, folder).await - empty;
    println!("Quadrant Z, {turns} adjudications, {} entries", entries.len());
    println!("  with all pictures        {whole:>9} bytes");
    println!("  on day {DAYS}                {running:>9} bytes");
    println!("  a week after the end     {finished:>9} bytes");
}

/// Spreads the letters of ours evenly over [`DAYS`], and returns when the last was sent.
async fn spread(file: &Path) -> DateTime<Utc> {
    let options = SqliteConnectOptions::new().filename(file);
    let mut database = SqliteConnection::connect_with(&options).await.expect("it opens");
    let trigger = "SELECT sql FROM sqlite_schema WHERE name = 'dispatch_is_sent_once'";
    let trigger: String = sqlx::query_scalar(trigger).fetch_one(&mut database).await.expect("a trigger");
    let span = TimeDelta::days(DAYS).num_milliseconds();
    let later = format!(
        "UPDATE dispatch SET sent_at = sent_at + {span} * (id - 1) / ((SELECT MAX(id) FROM dispatch) - 1)"
    );
    for sql in ["DROP TRIGGER dispatch_is_sent_once".to_owned(), later, trigger] {
        sqlx::query(AssertSqlSafe(sql)).execute(&mut database).await.expect("done");
    }
    let end: i64 = sqlx::query_scalar("SELECT MAX(sent_at) FROM dispatch")
        .fetch_one(&mut database)
        .await
        .expect("an end");
    database.close().await.expect("it closes");
    DateTime::from_timestamp_millis(end).expect("a time")
}

async fn drop_pictures(store: &Database, now: DateTime<Utc>) {
    while store.drop_pictures(now, 100).await.expect("the store answers") > 0 {}
}

async fn open(file: &Path) -> std::sync::Arc<Database> {
    store::open(&format!("sqlite:{}", file.display())).await.expect("the store opens")
}

/// The bytes of a compact copy of a database.
async fn compact_size(file: &Path, folder: &Path) -> u64 {
    let copy = folder.join("compact.db");
    let _ = std::fs::remove_file(&copy);
    let mut database =
        SqliteConnection::connect_with(&SqliteConnectOptions::new().filename(file)).await.expect("it opens");
    let vacuum = format!("VACUUM INTO '{}'", copy.display());
    sqlx::query(AssertSqlSafe(vacuum)).execute(&mut database).await.expect("a copy");
    database.close().await.expect("it closes");
    std::fs::metadata(&copy).expect("the copy").len()
}
