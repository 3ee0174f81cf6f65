//! The time to build a site of 10,000 finished matches, and to build it again when ten more are over:
//! `cargo bench --bench site`. The targets: 60 s and 2 s on two cores.
//!
//! The matches are copies of the recorded match of each game (`fogpost demo`) under other names. Their hashes are wrong:
//! a site verifies no ledger.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};

const GAMES: [&str; 4] = ["quadrant-z", "pacific", "quantum", "quad"];
/// Copies of each game's match, unless SITE_COPIES says how many.
const COPIES: u32 = 2_500;
/// Copies of the two players.
const PAIRS: u32 = 250;

fn main() {
    let folder = tempfile::tempdir().expect("a folder");
    // The club is one more demo, into which the matches are copied.
    for (game, name) in GAMES.into_iter().map(|game| (game, game)).chain([("quad", "club")]) {
        let mut demo = fogpost(&["demo", "--game", game, "--folder"]);
        assert!(
            demo.arg(folder.path().join(name)).output().expect("fogpost runs").status.success(),
            "{game}"
        );
    }
    let copies = std::env::var("SITE_COPIES").map_or(COPIES, |number| number.parse().expect("a number"));
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    for game in GAMES {
        runtime.block_on(copy(folder.path(), game, 0..copies));
    }
    println!("{} finished matches: {:?}", copies * 4, build(folder.path()));
    println!("nothing changed: {:?}", build(folder.path()));
    let more = copies..copies + 10;
    runtime.block_on(copy(folder.path(), "quadrant-z", more));
    println!("ten more of Quadrant Z: {:?}", build(folder.path()));
    println!("{} bytes", size(&folder.path().join("site")));
}

fn fogpost(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fogpost"));
    command.args(arguments);
    command
}

/// Builds the site, and returns how long that took.
fn build(folder: &Path) -> Duration {
    let start = Instant::now();
    let built = fogpost(&["--config"])
        .arg(folder.join("club/config.toml"))
        .args(["site", "build"])
        .arg(folder.join("site"))
        .output()
        .expect("fogpost runs");
    let took = start.elapsed();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    print!("{}", String::from_utf8_lossy(&built.stdout));
    took
}

/// Copies the match of a game into the club's database, once for each number.
async fn copy(folder: &Path, game: &str, numbers: std::ops::Range<u32>) {
    let file = folder.join("club/fogpost.db");
    let options =
        SqliteConnectOptions::new().filename(file).synchronous(SqliteSynchronous::Off).foreign_keys(false);
    let mut database = SqliteConnection::connect_with(&options).await.expect("it opens");
    let source = folder.join(game).join("fogpost.db").display().to_string();
    sqlx::query("ATTACH ? AS source").bind(source).execute(&mut database).await.expect("it is there");
    let id: String =
        sqlx::query_scalar("SELECT id FROM source.match").fetch_one(&mut database).await.expect("a match");
    let columns = async |database: &mut SqliteConnection, table: &str, changed: &[(&str, &str)]| {
        let names: Vec<String> = sqlx::query_scalar("SELECT name FROM pragma_table_info(?)")
            .bind(table)
            .fetch_all(database)
            .await
            .expect("a table");
        let value = |name: &String| {
            changed.iter().find(|(of, _)| of == name).map_or(name.clone(), |(_, to)| (*to).to_owned())
        };
        names.iter().map(value).collect::<Vec<_>>().join(", ")
    };
    // ?1 is the match, ?2 its copy, ?3 the number of the copy, ?4 the number of its pair of players.
    let mut statements = Vec::new();
    for (table, key, changed) in [
        ("player", "", &[("id", "1000 + 2 * ?4 + id")][..]),
        ("match", "WHERE id = ?1", &[("id", "?2"), ("snapshot", "replace(snapshot, ?1, ?2)")]),
        (
            "seat",
            "WHERE match_id = ?1",
            &[("match_id", "?2"), ("token", "token || ?3"), ("player_id", "1000 + 2 * ?4 + player_id")],
        ),
        (
            "entry",
            "WHERE match_id = ?1 ORDER BY seq",
            &[("match_id", "?2"), ("json", "replace(json, ?1, ?2)")],
        ),
    ] {
        let columns = columns(&mut database, table, changed).await;
        statements
            .push(format!("INSERT OR IGNORE INTO main.{table} SELECT {columns} FROM source.{table} {key}"));
    }
    let mut transaction = database.begin().await.expect("a transaction");
    for number in numbers {
        for statement in &statements {
            let done = sqlx::query(AssertSqlSafe(statement.clone()))
                .bind(&id)
                .bind(format!("{}-{number:05}", &id[..2]))
                .bind(number)
                .bind(number % PAIRS)
                .execute(&mut *transaction)
                .await;
            done.unwrap_or_else(|error| panic!("{error}: {statement}"));
        }
    }
    transaction.commit().await.expect("it commits");
    database.close().await.expect("it closes");
}

/// The bytes of all files in a folder.
fn size(folder: &Path) -> u64 {
    let entries = fs::read_dir(folder).expect("a folder").flatten();
    entries
        .map(|entry| {
            if entry.path().is_dir() {
                size(&entry.path())
            } else {
                entry.metadata().map_or(0, |data| data.len())
            }
        })
        .sum()
}
