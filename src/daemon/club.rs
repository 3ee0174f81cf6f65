//! The club's own book: loads it, anchors all ledgers in it once a day, and notes what was verified.

use chrono::{DateTime, Utc};

use super::Office;
use super::batch::load::random;
use super::parallel::run_blocking;
use crate::audit::VerifiedEntry;
use crate::club::{
    AnchorSecret, Anchored, Book, BookEntry, BookFact, BookKind, CLUB, Chains, Verified, next_anchor,
};
use crate::ledger::{Anchor, Delivery, Head, Source};
use crate::store::{AnchorRows, BookChange, BookRow, EntryRow, Settlement, StoreError, VerifiedRow};

/// The kind of the entries that hold an anchor.
const ANCHORED: &str = "Anchored";

/// Deliveries that one entry lists, so that entries stay small.
const LISTED_TOGETHER: u32 = 500;

/// The key under which a daemon remembers when the clock was last checked.
pub(super) const HEARTBEAT: &str = "heartbeat";

/// Attempts to write to the book while another daemon does.
const MAX_TRIES: u32 = 5;

impl Office {
    /// Returns the club's book and its row. A club that has none yet gets a blank one.
    async fn club_book(&self) -> anyhow::Result<(Book, BookRow)> {
        match self.store.book(CLUB).await? {
            Some(row) => Ok((serde_json::from_str(&row.snapshot)?, row)),
            None => Ok((Book::of_club(), blank_row())),
        }
    }

    /// Returns the club's last anchor. A book that cannot be read has none: the letters must go out, and the audit names
    /// what is wrong with the book.
    pub(super) async fn last_anchor(&self) -> anyhow::Result<Option<Anchor>> {
        let row = match self.store.book(CLUB).await {
            Err(error) if error.is_unsound() => None,
            row => row?,
        };
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
            Some(wake_at) if now >= wake_at && self.list_late(now).await? => self.anchor(now).await?,
            None if row.version == 0 => Some(BookChange::of(self.changed_row(&book, row, now)?)),
            Some(_) | None => None,
        };
        if let Some(change) = change {
            self.commit_book(change, Vec::new(), now).await?;
        }
        Ok(())
    }

    /// Writes to the book. Returns whether that was done: if not, another daemon has just written to it.
    async fn commit_book(
        &self,
        change: BookChange,
        remembered: Vec<(String, String)>,
        now: DateTime<Utc>,
    ) -> anyhow::Result<bool> {
        let settlement = Settlement { at: now, books: vec![change], remembered, ..Settlement::default() };
        match self.store.commit(&settlement).await {
            Ok(()) => Ok(true),
            Err(StoreError::Stale(_)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Lists the deliveries in the book that no ledger of a match will list, so that the anchor covers them. Returns whether
    /// all are listed.
    async fn list_late(&self, now: DateTime<Utc>) -> anyhow::Result<bool> {
        loop {
            // First the book: if another daemon lists some of them meanwhile, its version shows it.
            let (mut book, row) = self.club_book().await?;
            let unlisted = self.store.unlisted_late(LISTED_TOGETHER).await?;
            if unlisted.is_empty() {
                return Ok(true);
            }
            let (ids, letters): (Vec<i64>, Vec<_>) = unlisted.into_iter().unzip();
            let entry = book.record(Source::Clock, now, BookFact::Delivered { letters });
            let late = ids.into_iter().map(|id| (id, entry.entry.seq)).collect();
            // The time of the next anchor stays: this one is still to be made.
            let row = BookRow { snapshot: serde_json::to_string(&book)?, ..row };
            let change = BookChange { entries: vec![entry.into()], late, ..BookChange::of(row) };
            if !self.commit_book(change, Vec::new(), now).await? {
                return Ok(false);
            }
        }
    }

    /// Adds the anchor of the day to the book, unless another daemon has just done so.
    async fn anchor(&self, now: DateTime<Utc>) -> anyhow::Result<Option<BookChange>> {
        let (mut book, row) = self.club_book().await?;
        if row.wake_at.is_none_or(|wake_at| wake_at > now) {
            return Ok(None);
        }
        let secret = AnchorSecret::new(random()?);
        let heartbeat = self.remembered_time(HEARTBEAT).await?;
        let before: Chains = self.store.heads_at(book.head.seq).await?.into_iter().collect();
        let mut chains: Chains = self.store.heads().await?.into_iter().collect();
        let grown = chains.changed_since(&before);
        let day = now.with_timezone(&self.config.terms.zone).date_naive();
        let anchoring = run_blocking(move || {
            let entry = book.anchor(&mut chains, &secret, (day, now), heartbeat);
            (book, entry, chains.count())
        });
        let (book, entry, chains) = anchoring.await?;
        tracing::info!(%day, chains, "anchored all ledgers");
        let grown = grown.into_iter().map(|(id, head)| (id, head.seq)).collect();
        let anchor = Some(AnchorRows { book_seq: entry.entry.seq, secret, grown });
        let row = self.changed_row(&book, row, now)?;
        Ok(Some(BookChange { entries: vec![entry.into()], anchor, ..BookChange::of(row) }))
    }

    /// The row of a changed book, with the time of the next anchor.
    fn changed_row(&self, book: &Book, row: BookRow, now: DateTime<Utc>) -> anyhow::Result<BookRow> {
        let (hour, zone) = (self.config.audit.anchor_hour, self.config.terms.zone);
        let day = book.anchor.map(|(_, anchor)| anchor.day);
        let snapshot = serde_json::to_string(book)?;
        Ok(BookRow { wake_at: next_anchor(hour, zone, day, now), snapshot, ..row })
    }

    /// Adds facts to the book, and remembers values in the same transaction.
    pub(super) async fn note_in_club(
        &self,
        facts: &[BookFact],
        cause: Source,
        remembered: &[(String, String)],
        now: DateTime<Utc>,
    ) -> anyhow::Result<()> {
        for _ in 0..MAX_TRIES {
            let change = self.club_change(facts, &cause, now).await?;
            if self.commit_book(change, remembered.to_vec(), now).await? {
                return Ok(());
            }
        }
        anyhow::bail!("others write to the club's book all the time")
    }

    /// Returns the change that adds facts to the book as it is now.
    pub(super) async fn club_change(
        &self,
        facts: &[BookFact],
        cause: &Source,
        now: DateTime<Utc>,
    ) -> anyhow::Result<BookChange> {
        let (mut book, row) = self.club_book().await?;
        let mut verified = Vec::new();
        let mut entries: Vec<EntryRow> = Vec::new();
        for fact in facts {
            let entry = book.record(cause.clone(), now, fact.clone());
            if let BookFact::Verified(Verified { match_id, head, .. }) = fact {
                let (match_id, seq) = (match_id.clone(), head.seq);
                verified.push(VerifiedRow { match_id, seq, book_seq: entry.entry.seq });
            }
            entries.push(entry.into());
        }
        let row = match row.version {
            0 => self.changed_row(&book, row, now)?,
            _ => BookRow { snapshot: serde_json::to_string(&book)?, ..row },
        };
        Ok(BookChange { entries, verified, ..BookChange::of(row) })
    }

    /// Returns all anchors of the club's book, oldest first, each with the number of its entry.
    pub(super) async fn anchors(&self) -> anyhow::Result<Vec<(u64, Anchored)>> {
        let mut anchors = Vec::new();
        for json in self.store.book_entries_of_kind(CLUB, ANCHORED).await? {
            if let Some((seq, BookFact::Anchored(anchored))) = fact_in(&json) {
                anchors.push((seq, anchored));
            }
        }
        Ok(anchors)
    }

    /// Returns the entries of the club's book that verified a match.
    pub(super) async fn verified_entries(&self, match_id: &str) -> anyhow::Result<Vec<VerifiedEntry>> {
        let mut entries = Vec::new();
        for (row, json) in self.store.verified(match_id).await? {
            if let Some((_, BookFact::Verified(verified))) = fact_in(&json) {
                entries.push(VerifiedEntry { book_seq: row.book_seq, verified });
            }
        }
        Ok(entries)
    }

    /// Returns the deliveries in a match that the club's book lists.
    pub(super) async fn late_in(&self, match_id: &str) -> anyhow::Result<Vec<Delivery>> {
        let mut late = Vec::new();
        for json in self.store.late_in(match_id).await? {
            if let Some((_, BookFact::Delivered { letters })) = fact_in(&json) {
                let of_match = letters.into_iter().filter(|late| late.match_id.as_deref() == Some(match_id));
                late.extend(of_match.map(|late| late.delivery));
            }
        }
        Ok(late)
    }

    /// Returns the chains as an anchor covers them, the book among them.
    pub(super) async fn chains_at(&self, seq: u64) -> anyhow::Result<Chains> {
        let mut chains: Chains = self.store.heads_at(seq).await?.into_iter().collect();
        let mut head = Head::default();
        let mut take = |row: EntryRow| head = Head { seq: row.seq, hash: row.hash };
        if seq > 1 {
            self.store.book_entries(CLUB, Some(seq - 2), 1, &mut take).await?;
        }
        chains.extend([(CLUB.to_owned(), head)]);
        Ok(chains)
    }
}

/// Reads the number and the fact of an entry. One that cannot be read is left to the check of the book: matches must be
/// checked without it.
pub(super) fn fact_in(json: &str) -> Option<(u64, BookFact)> {
    let entry: BookEntry = serde_json::from_str(json).ok()?;
    Some((entry.seq, entry.fact))
}

fn blank_row() -> BookRow {
    let (snapshot, id) = (String::new(), CLUB.to_owned());
    BookRow { id, kind: BookKind::Club, wake_at: None, snapshot, version: 0 }
}
