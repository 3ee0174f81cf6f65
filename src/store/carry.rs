//! Copies a whole database to another, of the same kind or the other, row by row and unchanged.
//!
//! Pages are read from the source and written in one transaction, then read back; the transaction commits only if both
//! are equal. A move that fails leaves the target empty. Nobody else can write to the source in the meantime.

use std::collections::BTreeSet;
use std::str::FromStr as _;

use async_trait::async_trait;
use sha2::{Digest as _, Sha256};
use sqlx::postgres::{PgConnectOptions, PgRow};
use sqlx::sqlite::{SqliteConnectOptions, SqliteRow};
use sqlx::{AssertSqlSafe, ConnectOptions as _, QueryBuilder, Row as _};
use sqlx::{PgConnection, Postgres, Sqlite, SqliteConnection};

use super::{Result, StoreError};
use crate::letter::Digest;

/// A table, and the columns that order its rows.
struct Table {
    name: &'static str,
    key: &'static [&'static str],
    /// Rows read and written together; few where rows are large, so that a page fits in memory.
    page: usize,
}

const fn table(name: &'static str, key: &'static [&'static str], page: usize) -> Table {
    Table { name, key, page }
}

/// All tables; each follows those that it refers to.
const TABLES: [Table; 16] = [
    table("player", &["id"], ROWS),
    table("address", &["address"], ROWS),
    table("match", &["id"], LARGE),
    table("seat", &["match_id", "seat"], ROWS),
    table("letter", &["id"], ROWS),
    table("letter_raw", &["letter_id"], LARGE),
    table("entry", &["match_id", "seq"], LARGE),
    table("dispatch", &["id"], ROWS),
    table("dispatch_raw", &["dispatch_id"], LARGE),
    table("dispatch_picture", &["dispatch_id"], LARGE),
    table("invitation", &["code"], ROWS),
    table("budget", &["subject", "kind", "period"], ROWS),
    table("standing", &["address"], ROWS),
    table("question", &["address"], ROWS),
    table("unproven_letter", &["letter"], ROWS),
    table("memo", &["key"], ROWS),
];

const ROWS: usize = 500;
const LARGE: usize = 64;

/// The migrations' own table, which each kind of database has for itself.
const OF_MIGRATIONS: &str = "_sqlx_migrations";

/// The result of copying one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Carried {
    pub table: &'static str,
    pub rows: u64,
    /// The SHA-256 of every value of every row, in order; equal on both sides.
    pub digest: Digest,
}

/// Reports progress: the table, the rows read or read back, and how many there are.
pub type Step<'a> = &'a (dyn Fn(&'static str, u64, u64) + Sync);

/// Whether there is a database at `url`. Opening a missing SQLite file would create it.
///
/// # Errors
/// [`StoreError::Open`] if the URL is malformed.
pub fn is_there(url: &str) -> Result<bool> {
    if !url.starts_with("sqlite:") {
        return Ok(true);
    }
    let options = SqliteConnectOptions::from_str(url).map_err(StoreError::misnamed)?;
    Ok(options.get_filename().exists())
}

/// Copies everything from the database at `from` into the empty one at `to`. Open both with [`super::open`] first, which
/// brings their tables up to date. No daemon may work on either.
///
/// # Errors
/// [`StoreError::Unsound`] if the target is not empty, or if what was written differs from what was read; nothing is
/// written then.
pub async fn carry(from: &str, to: &str, step: Step<'_>) -> Result<Vec<Carried>> {
    let (mut from, mut to) = (open(from).await?, open(to).await?);
    from.begin_alone().await?;
    to.begin_alone().await?;
    for end in [&mut from, &mut to] {
        know_all(end.tables().await?)?;
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
        carried.push(carry_table(&mut *from, &mut *to, table, step).await?);
    }
    to.commit().await?;
    from.rollback().await?;
    Ok(carried)
}

/// Fails on a table that is missing from [`TABLES`], which would be left behind silently.
fn know_all(tables: Vec<String>) -> Result<()> {
    let found: BTreeSet<&str> =
        tables.iter().map(String::as_str).filter(|name| *name != OF_MIGRATIONS).collect();
    let known: BTreeSet<&str> = TABLES.iter().map(|table| table.name).collect();
    match found.symmetric_difference(&known).next() {
        None => Ok(()),
        Some(name) => Err(StoreError::Unsound(format!("the tables are not those of this program: {name}"))),
    }
}

async fn carry_table(
    from: &mut dyn End,
    to: &mut dyn End,
    table: &'static Table,
    step: Step<'_>,
) -> Result<Carried> {
    let columns = shared_columns(from.columns(table).await?, to.columns(table).await?)
        .ok_or_else(|| StoreError::Unsound(format!("the columns of {} differ", table.name)))?;
    let all = from.count(table).await?;
    let read = walk(from, Some(&mut *to), table, &columns, all, step).await?;
    to.settle_numbers(table, &columns).await?;
    let written = walk(to, None, table, &columns, all, step).await?;
    if read != written {
        return Err(StoreError::Unsound(format!("what was written to {} is not what was read", table.name)));
    }
    Ok(Carried { table: table.name, rows: read.0, digest: read.1 })
}

/// Reads a whole table, writes it to `copy`, and returns the number of rows and their digest.
async fn walk(
    end: &mut dyn End,
    mut copy: Option<&mut dyn End>,
    table: &'static Table,
    columns: &[Column],
    all: u64,
    step: Step<'_>,
) -> Result<(u64, Digest)> {
    let (mut rows, mut hasher, mut after) = (0, Sha256::new(), None);
    loop {
        let page = end.page(table, columns, after.as_deref()).await?;
        let Some(last) = page.last() else { break };
        after = Some(key_of(table, columns, last));
        page.iter().flatten().for_each(|cell| cell.hash(&mut hasher));
        rows += page.len() as u64;
        if let Some(copy) = &mut copy {
            copy.insert(table, columns, &page).await?;
        }
        step(table.name, rows, all);
    }
    Ok((rows, Digest::from(<[u8; 32]>::from(hasher.finalize()))))
}

fn key_of(table: &Table, columns: &[Column], row: &[Cell]) -> Vec<Cell> {
    let place = |key: &&str| columns.iter().position(|column| column.name == *key);
    table.key.iter().filter_map(place).map(|place| row[place].clone()).collect()
}

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Integer,
    Text,
    Bytes,
    /// In SQLite an integer, 0 or 1.
    Truth,
}

#[derive(Clone, Debug)]
struct Column {
    name: String,
    kind: Kind,
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
            (Kind::Truth, Kind::Integer) | (Kind::Integer, Kind::Truth) => Kind::Truth,
            (from, to) if from == to => from,
            _ => return None,
        };
        (from.name == to.name).then_some(Column { name: from.name, kind })
    });
    shared.collect()
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Cell {
    Integer(Option<i64>),
    Text(Option<String>),
    Bytes(Option<Vec<u8>>),
    Truth(Option<bool>),
}

impl Cell {
    /// Hashes the type, the length and the value, so that different rows never hash alike.
    fn hash(&self, hasher: &mut Sha256) {
        let (kind, bytes) = match self {
            Cell::Integer(value) => (b'i', value.map(|value| value.to_be_bytes().to_vec())),
            Cell::Truth(value) => (b't', value.map(|value| vec![u8::from(value)])),
            Cell::Text(value) => (b's', value.as_ref().map(|value| value.as_bytes().to_vec())),
            Cell::Bytes(value) => (b'b', value.clone()),
        };
        match bytes {
            None => hasher.update([b'0']),
            Some(bytes) => {
                hasher.update([kind]);
                hasher.update((bytes.len() as u64).to_be_bytes());
                hasher.update(bytes);
            }
        }
    }
}

/// The source or the target of a copy.
#[async_trait]
trait End: Send {
    /// Begins a transaction in which nobody else writes.
    async fn begin_alone(&mut self) -> Result<()>;
    async fn commit(&mut self) -> Result<()>;
    async fn rollback(&mut self) -> Result<()>;
    async fn tables(&mut self) -> Result<Vec<String>>;
    async fn columns(&mut self, table: &Table) -> Result<Vec<Column>>;
    async fn count(&mut self, table: &Table) -> Result<u64>;
    /// Returns the rows after the one with this key, in order.
    async fn page(
        &mut self,
        table: &Table,
        columns: &[Column],
        after: Option<&[Cell]>,
    ) -> Result<Vec<Vec<Cell>>>;
    async fn insert(&mut self, table: &Table, columns: &[Column], rows: &[Vec<Cell>]) -> Result<()>;
    /// Makes new rows get IDs above those of the existing ones.
    async fn settle_numbers(&mut self, table: &Table, columns: &[Column]) -> Result<()>;
}

async fn open(url: &str) -> Result<Box<dyn End>> {
    if url.starts_with("sqlite:") {
        let options = SqliteConnectOptions::from_str(url).map_err(StoreError::misnamed)?;
        Ok(Box::new(SqliteEnd(options.foreign_keys(true).connect().await?)))
    } else {
        let options = PgConnectOptions::from_str(url).map_err(StoreError::misnamed)?;
        Ok(Box::new(PostgresEnd(options.connect().await?)))
    }
}

struct SqliteEnd(SqliteConnection);

impl SqliteEnd {
    const BEGIN: &str = "BEGIN IMMEDIATE";
    const TABLES: &str = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'";
    const COLUMNS: &str = "SELECT name, lower(type) FROM pragma_table_info($1)";
    /// SQLite sorts texts by their bytes by default.
    const BY_BYTES: &str = "";
    const OVERRIDING: &str = "";

    async fn lock_all(&mut self) -> Result<()> {
        Ok(())
    }

    /// SQLite always takes one more than the highest ID.
    async fn number_from(&mut self, _table: &Table) -> Result<()> {
        Ok(())
    }
}

struct PostgresEnd(PgConnection);

impl PostgresEnd {
    const BEGIN: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ";
    const TABLES: &str = "SELECT table_name::text FROM information_schema.tables \
                          WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'";
    const COLUMNS: &str = "SELECT column_name::text, data_type::text FROM information_schema.columns \
                           WHERE table_schema = current_schema() AND table_name = $1";
    const BY_BYTES: &str = " COLLATE \"C\"";
    const OVERRIDING: &str = " OVERRIDING SYSTEM VALUE";

    /// Lets others read, and makes them wait to write.
    async fn lock_all(&mut self) -> Result<()> {
        let names: Vec<&str> = TABLES.iter().map(|table| table.name).collect();
        let sql = format!("LOCK TABLE {} IN SHARE ROW EXCLUSIVE MODE", names.join(", "));
        sqlx::query(AssertSqlSafe(sql)).execute(&mut self.0).await?;
        Ok(())
    }

    async fn number_from(&mut self, table: &Table) -> Result<()> {
        let name = table.name;
        let sql = format!("SELECT setval(pg_get_serial_sequence('{name}', 'id'), MAX(id)) FROM {name}");
        sqlx::query(AssertSqlSafe(sql)).execute(&mut self.0).await?;
        Ok(())
    }
}

/// Joins the columns' names for a statement. `match` and `key` need no quotes in either database.
fn names(columns: &[Column]) -> String {
    columns.iter().map(|column| column.name.as_str()).collect::<Vec<_>>().join(", ")
}

macro_rules! end {
    ($end:ident, $db:ty, $row:ty) => {
        impl $end {
            fn cell(row: &$row, at: usize, kind: Kind) -> Result<Cell> {
                Ok(match kind {
                    Kind::Integer => Cell::Integer(row.try_get(at)?),
                    Kind::Text => Cell::Text(row.try_get(at)?),
                    Kind::Bytes => Cell::Bytes(row.try_get(at)?),
                    Kind::Truth => Cell::Truth(row.try_get(at)?),
                })
            }

            async fn say(&mut self, sql: &'static str) -> Result<()> {
                sqlx::query(sql).execute(&mut self.0).await?;
                Ok(())
            }
        }

        #[async_trait]
        impl End for $end {
            async fn begin_alone(&mut self) -> Result<()> {
                self.say(Self::BEGIN).await?;
                self.lock_all().await
            }

            async fn commit(&mut self) -> Result<()> {
                self.say("COMMIT").await
            }

            async fn rollback(&mut self) -> Result<()> {
                self.say("ROLLBACK").await
            }

            async fn tables(&mut self) -> Result<Vec<String>> {
                Ok(sqlx::query_scalar(Self::TABLES).fetch_all(&mut self.0).await?)
            }

            async fn columns(&mut self, table: &Table) -> Result<Vec<Column>> {
                let found: Vec<(String, String)> =
                    sqlx::query_as(Self::COLUMNS).bind(table.name).fetch_all(&mut self.0).await?;
                let column = |(name, kind): (String, String)| {
                    let kind = match kind.as_str() {
                        "integer" | "bigint" => Kind::Integer,
                        "text" => Kind::Text,
                        "blob" | "bytea" => Kind::Bytes,
                        "boolean" => Kind::Truth,
                        other => return Err(StoreError::Unsound(format!("{name} is of type {other}"))),
                    };
                    Ok(Column { name, kind })
                };
                found.into_iter().map(column).collect()
            }

            async fn count(&mut self, table: &Table) -> Result<u64> {
                let sql = AssertSqlSafe(format!("SELECT COUNT(*) FROM {}", table.name));
                let count: i64 = sqlx::query_scalar(sql).fetch_one(&mut self.0).await?;
                Ok(u64::try_from(count).unwrap_or_default())
            }

            async fn page(
                &mut self,
                table: &Table,
                columns: &[Column],
                after: Option<&[Cell]>,
            ) -> Result<Vec<Vec<Cell>>> {
                let is_text = |key: &&str| {
                    columns.iter().any(|column| column.name == *key && column.kind == Kind::Text)
                };
                let keys = table.key.iter().map(|key| match is_text(key) {
                    true => format!("{key}{}", Self::BY_BYTES),
                    false => (*key).to_owned(),
                });
                let keys = keys.collect::<Vec<_>>().join(", ");
                let mut query = QueryBuilder::<$db>::new("SELECT ");
                query.push(names(columns)).push(" FROM ").push(table.name);
                if let Some(after) = after {
                    query.push(format!(" WHERE ({keys}) > ("));
                    let mut list = query.separated(", ");
                    for cell in after.iter().cloned() {
                        match cell {
                            Cell::Integer(value) => list.push_bind(value),
                            Cell::Text(value) => list.push_bind(value),
                            Cell::Bytes(value) => list.push_bind(value),
                            Cell::Truth(value) => list.push_bind(value),
                        };
                    }
                    query.push(")");
                }
                query.push(format!(" ORDER BY {keys} LIMIT {}", table.page));
                let rows = query.build().fetch_all(&mut self.0).await?;
                let cells = |row: &$row| {
                    let cells = columns.iter().enumerate();
                    cells.map(|(at, column)| Self::cell(row, at, column.kind)).collect::<Result<Vec<_>>>()
                };
                rows.iter().map(cells).collect()
            }

            async fn insert(&mut self, table: &Table, columns: &[Column], rows: &[Vec<Cell>]) -> Result<()> {
                let mut query = QueryBuilder::<$db>::new("INSERT INTO ");
                query.push(format!("{} ({}){} ", table.name, names(columns), Self::OVERRIDING));
                query.push_values(rows, |mut list, row| {
                    for cell in row.iter().cloned() {
                        match cell {
                            Cell::Integer(value) => list.push_bind(value),
                            Cell::Text(value) => list.push_bind(value),
                            Cell::Bytes(value) => list.push_bind(value),
                            Cell::Truth(value) => list.push_bind(value),
                        };
                    }
                });
                query.build().execute(&mut self.0).await?;
                Ok(())
            }

            async fn settle_numbers(&mut self, table: &Table, columns: &[Column]) -> Result<()> {
                let numbered =
                    columns.iter().any(|column| column.name == "id" && column.kind == Kind::Integer);
                if numbered { self.number_from(table).await } else { Ok(()) }
            }
        }
    };
}

end!(SqliteEnd, Sqlite, SqliteRow);
end!(PostgresEnd, Postgres, PgRow);
