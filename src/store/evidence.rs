//! [`Evidence`] for both databases: what the audit compares with a ledger.

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::database::Database;
use super::rows::{digest, time, unsound};
use super::{LetterStatus, Result, RowSink};
use crate::letter::Digest;

/// A letter that entries name.
#[derive(Clone, Debug)]
pub struct NamedLetter {
    pub digest: Digest,
    pub received_at: DateTime<Utc>,
    pub status: LetterStatus,
    pub raw: Vec<u8>,
}

/// Reads what is stored beside a ledger.
#[async_trait]
pub trait Evidence {
    /// Streams the letters with these digests and their bytes.
    async fn letters_named(&self, digests: &[Digest], take: RowSink<'_, NamedLetter>) -> Result<()>;
}

#[async_trait]
impl Evidence for Database {
    async fn letters_named(&self, digests: &[Digest], take: RowSink<'_, NamedLetter>) -> Result<()> {
        let digests: Vec<String> = digests.iter().map(Digest::to_string).collect();
        let sql = format!(
            "SELECT l.digest, l.received_at, l.fate, r.bytes FROM letter l \
             JOIN letter_raw r ON r.letter_id = l.id WHERE l.digest {}",
            self.one_of()
        );
        self.stream(self.statement(sql).bind_texts(&digests), NamedLetterRow::read, take).await
    }
}

#[derive(FromRow)]
struct NamedLetterRow {
    digest: String,
    received_at: i64,
    fate: String,
    bytes: Vec<u8>,
}

impl NamedLetterRow {
    fn read(self) -> Result<NamedLetter> {
        Ok(NamedLetter {
            digest: digest(&self.digest)?,
            received_at: time(self.received_at)?,
            status: LetterStatus::parse(&self.fate).ok_or_else(|| unsound("letter status", &self.fate))?,
            raw: self.bytes,
        })
    }
}
