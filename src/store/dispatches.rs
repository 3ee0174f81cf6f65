//! Sent and queued letters, in lists and by Message-ID.

use chrono::{DateTime, Utc};

use super::packing::{read_our_letter, unpack};
use super::rows::{Record as _, text};
use super::statement::{Session, Statement};
use super::{Database, DispatchFilter, DispatchRow, Result, RowSink, SentRow};
use crate::letter::Digest;

/// The columns of a dispatch, except its bytes.
pub const DISPATCH: &str = "d.id, d.message_id, d.recipient, d.kind, d.match_id, d.seat, d.created_at, d.sent_at, d.tries, \
                        d.due_at IS NOT NULL AS waiting, d.given_up_at, d.error, d.returned_at IS NOT NULL AS returned";

/// The columns of [`read_our_letter`].
pub const PACKED: &str = "r.bytes, p.picture, d.dropped";

/// Joins the tables of a dispatch with its bytes.
pub const WITH_BYTES: &str = "dispatch d JOIN dispatch_raw r ON r.dispatch_id = d.id \
    LEFT JOIN dispatch_picture p ON p.dispatch_id = d.id";

impl Database {
    /// Returns the matches among these in which a letter that opens a match or a phase still waits to be
    /// sent.
    pub async fn with_unsent_opening(&self, match_ids: &[String]) -> Result<Vec<String>> {
        let sql = format!(
            "SELECT DISTINCT match_id FROM dispatch WHERE match_id {} AND due_at IS NOT NULL \
             AND kind IN ('invitation', 'report')",
            self.one_of()
        );
        self.read_column(self.statement(sql).bind_texts(match_ids)).await
    }

    /// Returns all dispatches of a match, oldest first, with their bytes.
    pub async fn dispatches_of(&self, match_id: &str) -> Result<Vec<(DispatchRow, Vec<u8>)>> {
        let sql =
            format!("SELECT {DISPATCH}, {PACKED} FROM {WITH_BYTES} WHERE d.match_id = $1 ORDER BY d.id");
        self.read_with_bytes(self.statement(sql).bind(text(match_id))).await
    }

    /// Returns the Message-IDs of our letters about an event alone.
    pub async fn message_ids_about_event(&self, event_id: &str) -> Result<Vec<String>> {
        let sql = "SELECT message_id FROM dispatch WHERE message_id LIKE $1 ORDER BY id";
        self.read_column(self.statement(sql).bind(about_event(event_id))).await
    }

    /// Streams our letters about an event alone, and our answers to these letters.
    pub async fn sent_about_event(
        &self,
        event_id: &str,
        answered: &[Digest],
        take: RowSink<'_, SentRow>,
    ) -> Result<()> {
        let sql = format!(
            "SELECT d.id, d.message_id, d.recipient, d.kind, d.seat, d.sent_at, {PACKED} FROM {WITH_BYTES} \
             WHERE d.answers {} OR d.message_id LIKE $2 ORDER BY d.id",
            self.one_of()
        );
        let select = self.statement(sql).bind_digests(answered).bind(about_event(event_id));
        self.stream(select, take).await
    }

    /// Returns the bytes of our answers to a letter: the one that is about no match, and the receipt in the match for
    /// which the letter is listed.
    pub async fn answers_to(&self, letter: Digest) -> Result<Vec<Vec<u8>>> {
        let sql = format!(
            "SELECT {PACKED} FROM {WITH_BYTES} WHERE d.match_id IS NULL AND d.answers = $1 \
             UNION ALL SELECT {PACKED} FROM {WITH_BYTES} \
             WHERE d.match_id = (SELECT l.match_id FROM letter l WHERE l.digest = $1) AND d.answers = $1"
        );
        self.read_with(self.statement(sql).bind(letter), read_our_letter).await
    }

    /// Returns the Message-IDs of the last letters to an address that are about no match, newest first.
    pub async fn last_message_ids_to(&self, address: &str, like: &str, limit: u32) -> Result<Vec<String>> {
        let sql = "SELECT message_id FROM dispatch WHERE recipient = $1 AND match_id IS NULL AND message_id LIKE $2 \
                   ORDER BY id DESC LIMIT $3";
        let select = self.statement(sql).bind(text(address)).bind(like).bind(i64::from(limit));
        self.read_column(select).await
    }

    /// Returns up to `limit` dispatches with their bytes, newest first, that match the filter.
    pub async fn find_dispatches(
        &self,
        filter: &DispatchFilter,
        limit: u32,
    ) -> Result<Vec<(DispatchRow, Vec<u8>)>> {
        let only_given_up = if filter.only_given_up { "AND d.given_up_at IS NOT NULL " } else { "" };
        let sql = format!(
            "SELECT {DISPATCH}, {PACKED} FROM {WITH_BYTES} WHERE ($1 = '' OR d.match_id = $1) \
             AND ($2 = '' OR d.recipient = $2) AND d.created_at >= $3 AND ($5 = 0 OR d.id = $5) {only_given_up}ORDER BY d.id DESC LIMIT $4"
        );
        let select = self
            .statement(sql)
            .bind(text(filter.match_id.as_deref().unwrap_or_default()))
            .bind(text(filter.recipient.as_deref().unwrap_or_default()))
            .bind(filter.since.map_or(0, |since| since.timestamp_millis()))
            .bind(i64::from(limit))
            .bind(filter.id.unwrap_or_default());
        self.read_with_bytes(select).await
    }

    /// Returns up to `limit` dispatches that were given up since `since`, newest first.
    pub async fn given_up_since(&self, since: DateTime<Utc>, limit: u32) -> Result<Vec<DispatchRow>> {
        let sql = format!(
            "SELECT {DISPATCH} FROM dispatch d WHERE d.given_up_at >= $1 ORDER BY d.id DESC LIMIT $2"
        );
        self.read(self.statement(sql).bind(since.timestamp_millis()).bind(i64::from(limit))).await
    }

    /// Returns up to `limit` dispatches, the most urgent first, that still wait although they were written before
    /// `before` and tried since.
    pub async fn refused_since(&self, before: DateTime<Utc>, limit: u32) -> Result<Vec<DispatchRow>> {
        let sql = format!(
            "SELECT {DISPATCH} FROM dispatch d WHERE d.due_at IS NOT NULL AND d.tries > 0 AND d.created_at <= $1 \
             ORDER BY d.urgency, d.due_at, d.created_at LIMIT $2"
        );
        self.read(self.statement(sql).bind(before.timestamp_millis()).bind(i64::from(limit))).await
    }

    async fn read_with_bytes(&self, select: Statement) -> Result<Vec<(DispatchRow, Vec<u8>)>> {
        self.read_with(select, |row| Ok((DispatchRow::from_row(row)?, read_our_letter(row)?))).await
    }

    /// Lists dispatches, newest first. Unsent ones are queued or were given up.
    pub async fn list_dispatches(&self, only_unsent: bool, limit: u32) -> Result<Vec<DispatchRow>> {
        // Each branch of the union uses its own partial index.
        let unsent = "WHERE d.id IN (SELECT id FROM dispatch WHERE due_at IS NOT NULL \
                      UNION ALL SELECT id FROM dispatch WHERE given_up_at IS NOT NULL) ";
        let which = if only_unsent { unsent } else { "" };
        let sql = format!("SELECT {DISPATCH} FROM dispatch d {which}ORDER BY d.id DESC LIMIT $1");
        self.read(self.statement(sql).bind(i64::from(limit))).await
    }

    /// Returns the dispatches with these Message-IDs.
    pub async fn dispatches_named(&self, ids: &[String]) -> Result<Vec<DispatchRow>> {
        let one_of = self.one_of();
        let sql = format!("SELECT {DISPATCH} FROM dispatch d WHERE d.message_id {one_of} ORDER BY d.id");
        self.read(self.statement(sql).bind_texts(ids)).await
    }

    /// Returns the bytes of the dispatches with these Message-IDs, without their pictures.
    pub async fn texts_by_message_id(&self, ids: &[String]) -> Result<Vec<(String, Vec<u8>)>> {
        let sql = format!(
            "SELECT d.message_id, r.bytes FROM dispatch d JOIN dispatch_raw r ON r.dispatch_id = d.id \
             WHERE d.message_id {} ORDER BY d.id",
            self.one_of()
        );
        let rows: Vec<(String, Vec<u8>)> = self.read_recent(self.statement(sql).bind_texts(ids)).await?;
        rows.into_iter().map(|(id, packed)| Ok((id, unpack(&packed)?))).collect()
    }

    /// Returns the Message-IDs of the dispatches with these IDs in their return paths, each after its ID.
    pub async fn message_ids_by_return_id(&self, ids: &[String]) -> Result<Vec<(String, String)>> {
        let one_of = self.one_of();
        let sql = format!("SELECT return_id, message_id FROM dispatch WHERE return_id {one_of} ORDER BY id");
        self.read_recent(self.statement(sql).bind_texts(ids)).await
    }
}

/// Returns the pattern of the Message-IDs of letters about an event, with a reply token or without.
fn about_event(event_id: &str) -> String {
    format!("%e.{}.%", event_id.to_lowercase())
}

/// Queues again the letters to these addresses that were given up.
pub async fn requeue(session: &mut Session<'_>, at: DateTime<Utc>, recipients: &[String]) -> Result<()> {
    let sql = format!(
        "UPDATE dispatch SET due_at = $2, given_up_at = NULL, seen = 0, returned_at = NULL \
         WHERE given_up_at IS NOT NULL AND recipient {}",
        session.engine().one_of()
    );
    let statement = session.statement(sql).bind_texts(recipients).bind(at.timestamp_millis());
    session.execute(statement).await
}
