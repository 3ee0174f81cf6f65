//! Copies a whole database to another, on the same engine or the other, row by row and unchanged.
//!
//! Pages are read from the source and written in one transaction, then read back; the transaction commits
//! only if both are equal. A move that fails leaves the target empty. Nobody else can write to the source in
//! the meantime.

use std::collections::BTreeSet;
use std::str::FromStr as _;

use sha2::{Digest as _, Sha256};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, PgConnection, SqliteConnection};

use super::rows::{Cell, Kind, read_cells};
use super::server::options_of;
use super::statement::{Engine, Session};
use super::{Result, StoreError, sqlite_file};
use crate::letter::Digest;

/// All tables, each after those that it refers to.
const TABLES: [Table; 30] = [
    table("player", &["id"], ROWS),
    table("address", &["address"], ROWS),
    table("match", &["id"], LARGE),
    table("seat", &["match_id", "seat"], ROWS),
    table("seat_pin", &["pin"], ROWS),
    table("letter", &["id"], ROWS),
    table("letter_raw", &["letter_id"], LARGE),
    table("entry", &["match_id", "seq"], LARGE),
    table("dispatch", &["id"], ROWS),
    table("dispatch_raw", &["dispatch_id"], LARGE),
    table("dispatch_picture", &["dispatch_id"], LARGE),
    table("invitation", &["code"], ROWS),
    table("rating", &["player_id", "game", "no"], ROWS),
    table("merged_player", &["gone"], ROWS),
    table("event", &["id"], ROWS),
    table("book_entry", &["event_id", "seq"], LARGE),
    table("event_match", &["match_id"], ROWS),
    table("event_result", &["match_id", "end_hash"], ROWS),
    table("owed_turn", &["match_id", "seq", "seat"], ROWS),
    table("budget", &["subject", "kind", "period"], ROWS),
    table("standing", &["address"], ROWS),
    table("question", &["address", "code"], ROWS),
    table("unproven_letter", &["letter"], ROWS),
    table("player_change", &["code"], ROWS),
    table("kept_snapshot", &["digest"], LARGE),
    table("verified", &["match_id"], ROWS),
    table("mailbox", &["name"], ROWS),
    table("left_letter", &["mailbox", "letter"], ROWS),
    table("memo", &["key"], ROWS),
    table("site_file", &["folder", "path"], ROWS),
];

// Rows to copy at a time. They are held in memory, so copy fewer of those with letters, pictures or snapshots.
const ROWS: usize = 500;
const LARGE: usize = 64;

/// sqlx's table of applied migrations, which is not copied.
const OF_MIGRATIONS: &str = "_sqlx_migrations";

/// A table, and the columns that order its rows.
struct Table {
    name: &'static str,
    key: &'static [&'static str],
    /// Rows read and written together; few where rows are large, so that a page fits in memory.
    page: usize,
}

/// The result of copying one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    pub table: &'static str,
    pub rows: u64,
    /// The SHA-256 of every value of every row, in order; equal on both sides.
    pub digest: Digest,
}

/// Reports progress: the table, the rows read or read back, and the total.
pub type OnProgress<'a> = &'a (dyn Fn(&'static str, u64, u64) + Sync);

#[derive(Clone, Debug)]
struct Column {
    name: String,
    kind: Kind,
}

/// The source or the target of a copy.
enum Side {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Side {
    async fn open(url: &str) -> Result<Side> {
        if url.starts_with("sqlite:") {
            let options = SqliteConnectOptions::from_str(url).map_err(StoreError::misnamed)?;
            Ok(Side::Sqlite(options.foreign_keys(true).connect().await?))
        } else {
            Ok(Side::Postgres(options_of(url)?.connect().await?))
        }
    }

    fn session(&mut self) -> Session<'_> {
        match self {
            Side::Sqlite(connection) => Session::Sqlite(connection),
            Side::Postgres(connection) => Session::Postgres(connection),
        }
    }

    async fn execute(&mut self, sql: impl Into<String>) -> Result<()> {
        let mut session = self.session();
        let statement = session.statement(sql);
        session.execute(statement).await
    }

    /// Begins a transaction in which nobody else writes.
    async fn begin_alone(&mut self) -> Result<()> {
        match self {
            Side::Sqlite(_) => self.execute("BEGIN IMMEDIATE").await,
            Side::Postgres(_) => {
                self.execute("BEGIN ISOLATION LEVEL REPEATABLE READ").await?;
                let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
                // This mode lets others read, but makes them wait to write.
                self.execute(format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", names.join(", "))).await
            }
        }
    }

    async fn tables(&mut self) -> Result<Vec<String>> {
        let sql = match self {
            Side::Sqlite(_) => {
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
            }
            Side::Postgres(_) => {
                "SELECT table_name::text FROM information_schema.tables \
                 WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'"
            }
        };
        let mut session = self.session();
        let statement = session.statement(sql);
        let found: Vec<(String,)> = session.fetch_all(statement).await?;
        Ok(found.into_iter().map(|(name,)| name).collect())
    }

    async fn columns(&mut self, table: &Table) -> Result<Vec<Column>> {
        let sql = match self {
            Side::Sqlite(_) => "SELECT name, lower(type) FROM pragma_table_info($1)",
            Side::Postgres(_) => {
                "SELECT column_name::text, data_type::text FROM information_schema.columns \
                 WHERE table_schema = current_schema() AND table_name = $1"
            }
        };
        let mut session = self.session();
        let statement = session.statement(sql).bind(table.name);
        let found: Vec<(String, String)> = session.fetch_all(statement).await?;
        let column = |(name, declared): (String, String)| match Kind::of_type(&declared) {
            Some(kind) => Ok(Column { name, kind }),
            None => Err(StoreError::Unsound(format!("{name} is of type {declared}"))),
        };
        found.into_iter().map(column).collect()
    }

    async fn count(&mut self, table: &Table) -> Result<u64> {
        let mut session = self.session();
        let statement = session.statement(format!("SELECT COUNT(*) FROM {}", table.name));
        let (count,): (i64,) = session.fetch_one(statement).await?;
        Ok(u64::try_from(count).unwrap_or_default())
    }

    /// Returns the rows after the one with this key, in order.
    async fn page(
        &mut self,
        table: &Table,
        columns: &[Column],
        after: Option<&[Cell]>,
    ) -> Result<Vec<Vec<Cell>>> {
        let mut session = self.session();
        let keys = key_names(session.engine(), table, columns);
        let mut statement = session.statement(format!("SELECT {} FROM {}", names(columns), table.name));
        if let Some(after) = after {
            statement.push(&format!(" WHERE ({keys}) > ")).push_row(|row| row.bind_cells(after));
        }
        statement.push(&format!(" ORDER BY {keys} LIMIT {}", table.page));
        let kinds: Vec<Kind> = columns.iter().map(|column| column.kind).collect();
        session.fetch_with(statement, |row| read_cells(row, &kinds)).await
    }

    async fn insert(&mut self, table: &Table, columns: &[Column], rows: &[Vec<Cell>]) -> Result<()> {
        let mut session = self.session();
        let overriding = match session.engine() {
            Engine::Sqlite => "",
            // Other tables refer to the IDs, so the rows keep theirs.
            Engine::Postgres => " OVERRIDING SYSTEM VALUE",
        };
        let names = names(columns);
        let mut statement = session.statement(format!("INSERT INTO {} ({names}){overriding} ", table.name));
        statement.push_rows(rows, |values, row| values.bind_cells(row));
        session.execute(statement).await
    }

    /// Makes new rows get IDs above the existing ones.
    async fn settle_numbers(&mut self, table: &Table, columns: &[Column]) -> Result<()> {
        let is_numbered = columns.iter().any(|column| column.name == "id" && column.kind == Kind::Integer);
        match self {
            Side::Postgres(_) if is_numbered => {
                let name = table.name;
                let sequence = format!("pg_get_serial_sequence('{name}', 'id')");
                self.execute(format!("SELECT setval({sequence}, MAX(id)) FROM {name}")).await
            }
            // SQLite always takes one more than the highest ID.
            Side::Sqlite(_) | Side::Postgres(_) => Ok(()),
        }
    }
}

/// Whether there is a database at `url`. Opening a missing SQLite file would create it.
///
/// # Errors
/// [`StoreError::Open`] if the URL is malformed.
pub fn is_there(url: &str) -> Result<bool> {
    Ok(sqlite_file(url)?.is_none_or(|file| file.exists()))
}

/// Copies everything from the database at `from` into the empty one at `to`. Open both with [`super::open`]
/// first, which brings their tables up to date. No daemon may use either.
///
/// # Errors
/// [`StoreError::Unsound`] if the target is not empty, or if the rows written differ from the rows read.
/// Nothing is written then.
pub async fn carry(from: &str, to: &str, progress: OnProgress<'_>) -> Result<Vec<Carried>> {
    let mut from = Side::open(from).await?;
    let mut to = Side::open(to).await?;
    from.begin_alone().await?;
    to.begin_alone().await?;
    for side in [&mut from, &mut to] {
        know_all(side.tables().await?)?;
    }
    for table in &TABLES {
        if to.count(table).await? > 0 {
            return Err(StoreError::Unsound(format!(
                "the database to move to is not empty: table {}",
                table.name
            )));
        }
    }
    let mut carried = Vec::new();
    for table in &TABLES {
        carried.push(carry_table(&mut from, &mut to, table, progress).await?);
    }
    if let Side::Sqlite(_) = to {
        // SQLite notes only the second in which its tables were made: rows from before would seem to be from after.
        let later = format!("UPDATE {OF_MIGRATIONS} SET installed_on = datetime('now', '+1 second')");
        to.execute(later).await?;
    }
    to.execute("COMMIT").await?;
    from.execute("ROLLBACK").await?;
    Ok(carried)
}

const fn table(name: &'static str, key: &'static [&'static str], page: usize) -> Table {
    Table { name, key, page }
}

/// Fails on a table that is missing from [`TABLES`], because it would be left behind silently.
fn know_all(tables: Vec<String>) -> Result<()> {
    let found: BTreeSet<&str> =
        tables.iter().map(String::as_str).filter(|name| *name != OF_MIGRATIONS).collect();
    let known: BTreeSet<&str> = TABLES.iter().map(|table| table.name).collect();
    match found.symmetric_difference(&known).next() {
        None => Ok(()),
        Some(name) => {
            Err(StoreError::Unsound(format!("the tables differ from those of this program: {name}")))
        }
    }
}

async fn carry_table(
    from: &mut Side,
    to: &mut Side,
    table: &'static Table,
    progress: OnProgress<'_>,
) -> Result<Carried> {
    let columns = shared_columns(from.columns(table).await?, to.columns(table).await?)
        .ok_or_else(|| StoreError::Unsound(format!("the columns of {} differ", table.name)))?;
    let all = from.count(table).await?;
    let read = walk(from, Some(&mut *to), table, &columns, all, progress).await?;
    to.settle_numbers(table, &columns).await?;
    // Read the rows back, because only then does the digest say anything about the target.
    let written = walk(to, None, table, &columns, all, progress).await?;
    if read != written {
        return Err(StoreError::Unsound(format!(
            "the rows written to {} differ from the rows read",
            table.name
        )));
    }
    Ok(Carried { table: table.name, rows: read.0, digest: read.1 })
}

/// Reads a whole table, writes it to `copy`, and returns the number of rows and their digest.
async fn walk(
    side: &mut Side,
    mut copy: Option<&mut Side>,
    table: &'static Table,
    columns: &[Column],
    all: u64,
    progress: OnProgress<'_>,
) -> Result<(u64, Digest)> {
    let mut rows = 0;
    let mut hasher = Sha256::new();
    let mut after = None;
    loop {
        let page = side.page(table, columns, after.as_deref()).await?;
        let Some(last) = page.last() else { break };
        after = Some(key_of(table, columns, last));
        page.iter().flatten().for_each(|cell| cell.hash(&mut hasher));
        rows += page.len() as u64;
        if let Some(copy) = &mut copy {
            copy.insert(table, columns, &page).await?;
        }
        progress(table.name, rows, all);
    }
    Ok((rows, Digest::from(<[u8; 32]>::from(hasher.finalize()))))
}

fn key_of(table: &Table, columns: &[Column], row: &[Cell]) -> Vec<Cell> {
    let place = |key: &&str| columns.iter().position(|column| column.name == *key);
    table.key.iter().filter_map(place).map(|place| row[place].clone()).collect()
}

/// Returns the columns that both sides have, sorted by name, or `None` if they differ.
fn shared_columns(mut from: Vec<Column>, mut to: Vec<Column>) -> Option<Vec<Column>> {
    for columns in [&mut from, &mut to] {
        columns.sort_by(|a, b| a.name.cmp(&b.name));
    }
    if from.len() != to.len() {
        return None;
    }
    let shared = from.into_iter().zip(to).map(|(from, to)| {
        let kind = match (from.kind, to.kind) {
            // SQLite has no booleans.
            (Kind::Truth, Kind::Integer) | (Kind::Integer, Kind::Truth) => Kind::Truth,
            (from, to) if from == to => from,
            _ => return None,
        };
        (from.name == to.name).then_some(Column { name: from.name, kind })
    });
    shared.collect()
}

/// Joins the columns' names for a statement. `match` and `key` need no quotes in either database.
fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
}

/// Joins the names of the key's columns so that both databases order the rows alike.
fn key_names(engine: Engine, table: &Table, columns: &[Column]) -> String {
    let is_text = |key: &str| columns.iter().any(|column| column.name == key && column.kind == Kind::Text);
    let name = |key: &&str| match engine {
        // SQLite sorts texts by their bytes by default.
        Engine::Postgres if is_text(key) => format!("{key} COLLATE \"C\""),
        Engine::Sqlite | Engine::Postgres => (*key).to_owned(),
    };
    table.key.iter().map(name).collect::<Vec<_>>().join(", ")
}
