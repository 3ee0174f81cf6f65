//! Checks the club's own book: loads the rows that `audit/` compares.

use std::collections::BTreeMap;

use chrono::TimeDelta;

use super::Office;
use super::club::HEARTBEAT;
use super::loops::AUDITED;
use super::parallel::run_blocking;
use super::verify::{row_of, unreadable};
use crate::audit::{AuditVerdict, BookCheck, LedgerRow, StoredLate};
use crate::club::{Anchored, Book, BookEntry, BookFact, CLUB};
use crate::ledger::Head;
use crate::store::{EntryRow, LateRow};

/// Entries read at a time.
const CHUNK: u32 = 256;

/// A letter may be noted as sent a while after it was. Those sent before an anchor by more than this are listed.
const NOTED_WITHIN: TimeDelta = TimeDelta::hours(1);

/// Letters that are named as not listed, at most.
const MAX_UNLISTED: u32 = 20;

impl Office {
    /// Checks the club's book from its first entry to its last.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn verify_club(&self) -> anyhow::Result<AuditVerdict> {
        self.walk_club().await.or_else(|error| unreadable(CLUB, error))
    }

    async fn walk_club(&self) -> anyhow::Result<AuditVerdict> {
        let row = self.store.book(CLUB).await?;
        let mut check = BookCheck::new(Book::of_club());
        while !check.is_broken() {
            let mut lines = Vec::new();
            // Start at the first row whatever its number: somebody may have added one before entry 1.
            let after = Some(check.seq()).filter(|seq| *seq > 0);
            let mut take = |row: EntryRow| lines.push(row_of(row));
            self.store.book_entries(CLUB, after, CHUNK, &mut take).await?;
            if lines.is_empty() {
                break;
            }
            for line in lines {
                check = self.verify_entry(check, line).await?;
            }
        }
        if !check.is_broken() {
            self.compare_with_rest(&mut check).await?;
        }
        let snapshot = match row {
            Some(row) => row.snapshot,
            None => serde_json::to_string(&Book::of_club())?,
        };
        Ok(check.finish(&snapshot))
    }

    /// Compares what the whole book says with what is stored apart from it.
    async fn compare_with_rest(&self, check: &mut BookCheck) -> anyhow::Result<()> {
        if let (Some(began), Some(anchored)) = (check.began, check.anchored) {
            let until = anchored - NOTED_WITHIN;
            check.report_unlisted(self.store.unlisted_plain(began, until, MAX_UNLISTED).await?);
        }
        let heartbeat = self.remembered_time(HEARTBEAT).await?;
        let audited = self.remembered_time(AUDITED).await?;
        check.check_memory(heartbeat, audited, self.now());
        Ok(())
    }

    async fn verify_entry(&self, mut check: BookCheck, line: LedgerRow) -> anyhow::Result<BookCheck> {
        let Some(entry) = check.push(&line) else { return Ok(check) };
        match &entry.fact {
            BookFact::Anchored(anchored) => self.verify_anchor(check, &entry, anchored.clone()).await,
            BookFact::Delivered { letters } => {
                check.check_deliveries(entry.seq, letters, self.stored_late(entry.seq).await?);
                Ok(check)
            }
            BookFact::Verified(_) | BookFact::Audited { .. } | BookFact::Forgotten { .. } => Ok(check),
        }
    }

    async fn verify_anchor(
        &self,
        mut check: BookCheck,
        entry: &BookEntry,
        anchored: Anchored,
    ) -> anyhow::Result<BookCheck> {
        let (seq, before) = (entry.seq, Head { seq: entry.seq - 1, hash: entry.prev });
        let secret = self.store.anchor_secret(seq).await?;
        let grown = self.store.grown_at(seq).await?;
        let checking = run_blocking(move || {
            check.check_anchor(seq, &anchored, before, secret, grown);
            check
        });
        checking.await
    }

    async fn stored_late(&self, seq: u64) -> anyhow::Result<Vec<StoredLate>> {
        let plain = self.store.late_plain_letters(seq).await?;
        let mut plain: BTreeMap<String, Vec<u8>> = plain.into_iter().collect();
        let rows = self.store.late_deliveries(seq).await?;
        let stored = rows.into_iter().map(|LateRow { match_id, message_id, pin, sent_at, forgotten_at }| {
            let bytes = plain.remove(&message_id);
            StoredLate { match_id, message_id, pin, sent_at, forgotten_at, bytes }
        });
        Ok(stored.collect())
    }
}
