//! The club's own book: loads it, anchors all ledgers in it once a day, and checks it.

use chrono::{DateTime, Utc};

use super::Office;
use super::batch::load::random;
use super::parallel::run_blocking;
use crate::audit::{AuditVerdict, BookCheck, BookLine};
use crate::club::{AnchorSecret, Anchored, Book, BookEntry, BookFact, BookKind, CLUB, Chains, next_anchor};
use crate::ledger::{Anchor, Head};
use crate::store::{AnchorRows, BookChange, BookEntryRow, BookRow, Settlement, StoreError};

/// Entries read at a time.
const CHUNK: u32 = 256;

/// The kind of the entries that hold an anchor.
const ANCHORED: &str = "Anchored";

impl Office {
    /// Returns the club's book and its row. A club that has none yet gets a blank one.
    pub(super) async fn club_book(&self) -> anyhow::Result<(Book, BookRow)> {
        match self.store.book(CLUB).await? {
            Some(row) => Ok((serde_json::from_str(&row.snapshot)?, row)),
            None => Ok((Book::of_club(), blank_row())),
        }
    }

    /// Returns the club's last anchor. A book that cannot be read has none: the letters must go out, and the audit names
    /// what is wrong with the book.
    pub(super) async fn last_anchor(&self) -> anyhow::Result<Option<Anchor>> {
        let row = self.store.book(CLUB).await?;
        let book = row.and_then(|row| serde_json::from_str::<Book>(&row.snapshot).ok());
        Ok(book.and_then(|book| book.anchor).map(|(_, anchor)| anchor))
    }

    /// Anchors all ledgers in the club's book if the hour has come. The first time, notes when that will be.
    ///
    /// # Errors
    /// Returns an error if the database does not answer, or if the book cannot be read.
    pub(super) async fn anchor_when_due(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        let (book, row) = self.club_book().await?;
        let change = match row.wake_at {
            Some(wake_at) if now >= wake_at => self.anchor(book, row, now).await?,
            None if row.version == 0 => self.change(&book, row, now)?,
            Some(_) | None => return Ok(()),
        };
        let settlement = Settlement { at: now, books: vec![change], ..Settlement::default() };
        match self.store.commit(&settlement).await {
            // Another daemon has just written to the book. What it left undone is done the next time.
            Ok(()) | Err(StoreError::Stale(_)) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Adds the anchor of the day to the book.
    async fn anchor(&self, mut book: Book, row: BookRow, now: DateTime<Utc>) -> anyhow::Result<BookChange> {
        let secret = AnchorSecret::new(random()?);
        let before: Chains = self.store.heads_at(u64::MAX >> 1).await?.into_iter().collect();
        let mut chains: Chains = self.store.heads().await?.into_iter().collect();
        let grown = chains.changed_since(&before);
        let day = now.with_timezone(&self.config.terms.zone).date_naive();
        let anchoring = run_blocking(move || {
            let entry = book.anchor(&mut chains, &secret, day, now);
            (book, entry, chains.count())
        });
        let (book, entry, chains) = anchoring.await?;
        let grown = grown.into_iter().map(|(id, head)| (id, head.seq)).collect();
        let anchor = AnchorRows { book_seq: entry.entry.seq, secret, grown };
        tracing::info!(%day, chains, "anchored all ledgers");
        let change = self.change(&book, row, now)?;
        Ok(BookChange { entries: vec![entry.into()], anchor: Some(anchor), ..change })
    }

    /// The row of a changed book, with the time of the next anchor.
    fn change(&self, book: &Book, row: BookRow, now: DateTime<Utc>) -> anyhow::Result<BookChange> {
        let (hour, zone) = (self.config.audit.anchor_hour, self.config.terms.zone);
        let day = book.anchor.map(|(_, anchor)| anchor.day);
        let snapshot = serde_json::to_string(book)?;
        let row = BookRow { wake_at: next_anchor(hour, zone, day, now), snapshot, ..row };
        Ok(BookChange { row, entries: Vec::new(), anchor: None })
    }

    /// Returns all anchors of the club's book, oldest first, each with the number of its entry.
    pub(super) async fn anchors(&self) -> anyhow::Result<Vec<(u64, Anchored)>> {
        let mut anchors = Vec::new();
        for row in self.store.book_entries_of_kind(CLUB, ANCHORED).await? {
            let entry: BookEntry = serde_json::from_str(&row.json)?;
            if let BookFact::Anchored(anchored) = entry.fact {
                anchors.push((entry.seq, anchored));
            }
        }
        Ok(anchors)
    }

    /// Returns the chains as an anchor covers them, the book among them.
    pub(super) async fn chains_at(&self, seq: u64) -> anyhow::Result<Chains> {
        let mut chains: Chains = self.store.heads_at(seq).await?.into_iter().collect();
        let mut before = Head::default();
        let mut take = |row: BookEntryRow| before = Head { seq: row.seq, hash: row.hash };
        if let Some(after) = seq.checked_sub(2) {
            self.store.book_entries(CLUB, Some(after), 1, &mut take).await?;
        }
        chains.extend([(CLUB.to_owned(), before)]);
        Ok(chains)
    }

    /// Checks the club's book from its first entry to its last.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn verify_club(&self) -> anyhow::Result<AuditVerdict> {
        let row = self.store.book(CLUB).await?;
        let mut check = BookCheck::new(Book::of_club());
        while !check.is_broken() {
            let mut lines = Vec::new();
            // Start at the first row whatever its number: somebody may have added one before entry 1.
            let after = Some(check.seq()).filter(|seq| *seq > 0);
            let mut take = |row: BookEntryRow| lines.push(line_of(row));
            self.store.book_entries(CLUB, after, CHUNK, &mut take).await?;
            if lines.is_empty() {
                break;
            }
            for line in lines {
                check = self.verify_entry(check, line).await?;
            }
        }
        let snapshot = match row {
            Some(row) => row.snapshot,
            None => serde_json::to_string(&Book::of_club())?,
        };
        Ok(check.finish(&snapshot))
    }

    async fn verify_entry(&self, mut check: BookCheck, line: BookLine) -> anyhow::Result<BookCheck> {
        let Some(entry) = check.push(&line) else { return Ok(check) };
        match entry.fact {
            BookFact::Anchored(anchored) => {
                let secret = self.store.anchor_secret(entry.seq).await?;
                let grown = self.store.grown_at(entry.seq).await?;
                let before = Head { seq: entry.seq - 1, hash: entry.prev };
                let checking = run_blocking(move || {
                    check.check_anchor(entry.seq, &anchored, before, secret, grown);
                    check
                });
                checking.await
            }
            BookFact::Verified(_) | BookFact::Forgotten { .. } => Ok(check),
        }
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
