//! How many bytes a finished match of 20 turns of Quadrant Z takes in the database, before and after its letters are
//! archived: `cargo bench --bench archive`. The target is 250 kB; it was 2.8 MB when whole letters were kept.
//!
//! Two correspondents play the match by letter (`fogpost demo`). Its room is that of a compact copy of the database, less
//! that of an empty one.

use std::path::Path;
use std::process::Command;

use chrono::Utc;
use fogpost::store::{self, Store};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

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
    let store = open(&file).await;
    let id = store.match_ids().await.expect("the store answers").pop().expect("a match");
    let entries = store.entries(&id).await.expect("the store answers");
    let turns = entries.iter().filter(|entry| entry.kind == "TurnAdjudicated").count();
    let before = compact_size(&file, folder).await - empty;
    store.archive_match(&id, Utc::now(), true).await.expect("the store answers");
    store.close().await;
    let after = compact_size(&file, folder).await - empty;
    println!("Quadrant Z, {turns} adjudications, {} entries", entries.len());
    println!("  while it is played   {before:>9} bytes");
    println!("  archived             {after:>9} bytes");
}

async fn open(file: &Path) -> std::sync::Arc<dyn Store> {
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
