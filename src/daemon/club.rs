//! The club's own book: loads it, and checks it.

use super::Office;
use crate::audit::{AuditVerdict, BookCheck, BookLine};
use crate::club::{Book, BookKind, CLUB};
use crate::store::{BookEntryRow, BookRow};

/// Entries read at a time.
const CHUNK: u32 = 256;

impl Office {
    /// Returns the club's book and its row. A club that has none yet gets a blank one.
    pub(super) async fn club_book(&self) -> anyhow::Result<(Book, BookRow)> {
        match self.store.book(CLUB).await? {
            Some(row) => Ok((serde_json::from_str(&row.snapshot)?, row)),
            None => Ok((Book::of_club(), blank_row())),
        }
    }

    /// Checks the club's book from its first entry to its last.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn verify_club(&self) -> anyhow::Result<AuditVerdict> {
        let row = self.store.book(CLUB).await?;
        let mut check = BookCheck::new(Book::of_club());
        loop {
            let mut lines = Vec::new();
            // Start at the first row whatever its number: somebody may have added one before entry 1.
            let after = Some(check.seq()).filter(|seq| *seq > 0);
            let mut take = |row: BookEntryRow| lines.push(line_of(row));
            self.store.book_entries(CLUB, after, CHUNK, &mut take).await?;
            if lines.is_empty() || check.is_broken() {
                break;
            }
            for line in &lines {
                check.push(line);
            }
        }
        let snapshot = match row {
            Some(row) => row.snapshot,
            None => serde_json::to_string(&Book::of_club())?,
        };
        Ok(check.finish(&snapshot))
    }
}

fn blank_row() -> BookRow {
    let (snapshot, id) = (String::new(), CLUB.to_owned());
    BookRow { id, kind: BookKind::Club, wake_at: None, snapshot, version: 0 }
}

fn line_of(row: BookEntryRow) -> BookLine {
    let BookEntryRow { book_id: _, seq, at, kind, json, hash } = row;
    BookLine { seq, at, kind, json, hash }
}
