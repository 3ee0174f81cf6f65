//! [`Books`] for both databases: the club's books and their entries.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::database::Database;
use super::entries::{EntryColumns, OF_BOOKS};
use super::rows::{integer, maybe_time, text, unsound};
use super::{AnchorRows, EntryRow, Result, RowSink, VerifiedRow};
use crate::club::BookKind;

/// A stored book: its snapshot as JSON, and the columns that find it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BookRow {
    pub id: String,
    pub kind: BookKind,
    /// When something next has to be decided, or `None` for never.
    pub wake_at: Option<DateTime<Utc>>,
    pub snapshot: String,
    /// Number of commits that changed the book; 0 if it is not stored yet.
    pub version: i64,
}

/// A book with the `version` that was loaded, and its new entries in order.
#[derive(Clone, Debug)]
pub struct BookChange {
    pub row: BookRow,
    pub entries: Vec<EntryRow>,
    /// What the anchor among the entries is made of.
    pub anchor: Option<AnchorRows>,
    /// The dispatches whose delivery entries list, each with the number of the entry.
    pub late: Vec<(i64, u64)>,
    /// What entries say was verified.
    pub verified: Vec<VerifiedRow>,
}

impl BookChange {
    /// A change of the row alone.
    pub fn of(row: BookRow) -> BookChange {
        BookChange { row, entries: Vec::new(), anchor: None, late: Vec::new(), verified: Vec::new() }
    }
}

/// Reads the club's books. [`Settlement::books`](super::Settlement::books) writes them.
#[async_trait]
pub trait Books {
    /// Returns a book.
    async fn book(&self, id: &str) -> Result<Option<BookRow>>;

    /// Streams up to `limit` of a book's entries after the entry `seq`, in order. `None` starts with the first row,
    /// whatever its number.
    async fn book_entries(
        &self,
        id: &str,
        seq: Option<u64>,
        limit: u32,
        take: RowSink<'_, EntryRow>,
    ) -> Result<()>;
}

#[async_trait]
impl Books for Database {
    async fn book(&self, id: &str) -> Result<Option<BookRow>> {
        let sql = "SELECT id, kind, wake_at, snapshot, version FROM book WHERE id = $1";
        let rows: Vec<BookColumns> = self.read_recent(self.statement(sql).bind(text(id))).await?;
        rows.into_iter().next().map(BookColumns::read).transpose()
    }

    async fn book_entries(
        &self,
        id: &str,
        seq: Option<u64>,
        limit: u32,
        take: RowSink<'_, EntryRow>,
    ) -> Result<()> {
        let sql = format!("{OF_BOOKS}WHERE book_id = $1 AND seq > $2 ORDER BY seq LIMIT $3");
        let after = seq.map_or(i64::MIN, integer);
        let statement = self.statement(sql).bind(text(id)).bind(after).bind(i64::from(limit));
        self.stream(statement, EntryColumns::read, take).await
    }
}

/// Returns the JSON of a book's entries of this kind, in order.
pub async fn entries_of_kind(database: &Database, book_id: &str, kind: &str) -> Result<Vec<String>> {
    let sql = "SELECT json FROM book_entry WHERE book_id = $1 AND kind = $2 ORDER BY seq";
    let mut entries = Vec::new();
    let mut take = |json| entries.push(json);
    let statement = database.statement(sql).bind(text(book_id)).bind(text(kind));
    database.stream(statement, |(json,): (String,)| Ok(json), &mut take).await?;
    Ok(entries)
}

#[derive(FromRow)]
struct BookColumns {
    id: String,
    kind: String,
    wake_at: Option<i64>,
    snapshot: String,
    version: i64,
}

impl BookColumns {
    fn read(self) -> Result<BookRow> {
        let kind = BookKind::parse(&self.kind).ok_or_else(|| unsound("kind of a book", &self.kind))?;
        let BookColumns { id, kind: _, wake_at, snapshot, version } = self;
        Ok(BookRow { id, kind, wake_at: maybe_time(wake_at)?, snapshot, version })
    }
}
