//! [`Anchors`] for both databases: what the club's daily anchors are made of.

use async_trait::async_trait;

use super::database::Database;
use super::rows::{count, digest, integer, text, unsound};
use super::{Result, books};
use crate::club::AnchorSecret;
use crate::ledger::Head;
use crate::letter::Digest;

/// What an anchor is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnchorRows {
    /// The number of its entry in the club's book.
    pub book_seq: u64,
    pub secret: AnchorSecret,
    /// The matches whose ledgers had grown since the anchor before it, each with the number of its last entry.
    pub grown: Vec<(String, u64)>,
}

/// Reads anchors. [`BookChange::anchor`](super::BookChange::anchor) writes them.
#[async_trait]
pub trait Anchors {
    /// Returns where the ledger of each match ends.
    async fn heads(&self) -> Result<Vec<(String, Head)>>;

    /// Returns the secret of an anchor.
    async fn anchor_secret(&self, book_seq: u64) -> Result<Option<AnchorSecret>>;

    /// Returns the matches whose ledgers had grown when an anchor was made, each with where it ended. One whose entry is
    /// not stored any more is missing.
    async fn grown_at(&self, book_seq: u64) -> Result<Vec<(String, Head)>>;

    /// Returns where the ledger of each match ended when an anchor was made.
    async fn heads_at(&self, book_seq: u64) -> Result<Vec<(String, Head)>>;

    /// Returns the numbers of the anchors that cover new entries of a match, each with the number of its last entry.
    async fn anchors_of(&self, match_id: &str) -> Result<Vec<(u64, u64)>>;

    /// Returns the match and the number of each entry with this hash. Reads all ledgers.
    async fn entries_with_hash(&self, hash: Digest) -> Result<Vec<(String, u64)>>;

    /// Returns the JSON of a book's entries of this kind, in order.
    async fn book_entries_of_kind(&self, book_id: &str, kind: &str) -> Result<Vec<String>>;
}

#[async_trait]
impl Anchors for Database {
    async fn heads(&self) -> Result<Vec<(String, Head)>> {
        let sql = "SELECT id, head_seq, head_hash FROM match WHERE head_seq > 0";
        self.read_heads(self.statement(sql)).await
    }

    async fn anchor_secret(&self, book_seq: u64) -> Result<Option<AnchorSecret>> {
        let sql = "SELECT secret FROM anchor_secret WHERE book_seq = $1";
        let rows: Vec<(String,)> = self.read_recent(self.statement(sql).bind(integer(book_seq))).await?;
        let secret = rows.first().map(|(hex,)| hex.parse());
        secret.transpose().map_err(|_| unsound("secret of an anchor", book_seq))
    }

    async fn grown_at(&self, book_seq: u64) -> Result<Vec<(String, Head)>> {
        let sql = "SELECT a.match_id, a.seq, e.hash FROM anchored_head a \
                   JOIN entry e ON e.match_id = a.match_id AND e.seq = a.seq WHERE a.book_seq = $1";
        self.read_heads(self.statement(sql).bind(integer(book_seq))).await
    }

    async fn heads_at(&self, book_seq: u64) -> Result<Vec<(String, Head)>> {
        let sql = "SELECT a.match_id, a.seq, e.hash FROM (SELECT match_id, MAX(seq) AS seq FROM anchored_head \
                   WHERE book_seq <= $1 GROUP BY match_id) a \
                   JOIN entry e ON e.match_id = a.match_id AND e.seq = a.seq";
        self.read_heads(self.statement(sql).bind(integer(book_seq))).await
    }

    async fn anchors_of(&self, match_id: &str) -> Result<Vec<(u64, u64)>> {
        let sql = "SELECT book_seq, seq FROM anchored_head WHERE match_id = $1 ORDER BY book_seq";
        let rows: Vec<(i64, i64)> = self.read_recent(self.statement(sql).bind(text(match_id))).await?;
        rows.into_iter().map(|(book_seq, seq)| Ok((count(book_seq)?, count(seq)?))).collect()
    }

    async fn entries_with_hash(&self, hash: Digest) -> Result<Vec<(String, u64)>> {
        let sql = "SELECT match_id, seq FROM entry WHERE hash = $1 ORDER BY match_id, seq";
        let rows: Vec<(String, i64)> = self.read_recent(self.statement(sql).bind(hash.to_string())).await?;
        rows.into_iter().map(|(match_id, seq)| Ok((match_id, count(seq)?))).collect()
    }

    async fn book_entries_of_kind(&self, book_id: &str, kind: &str) -> Result<Vec<String>> {
        books::entries_of_kind(self, book_id, kind).await
    }
}

impl Database {
    async fn read_heads(&self, statement: super::statement::Statement) -> Result<Vec<(String, Head)>> {
        let mut heads = Vec::new();
        let mut take = |head| heads.push(head);
        self.stream(statement, read_head, &mut take).await?;
        Ok(heads)
    }
}

fn read_head((id, seq, hash): (String, i64, String)) -> Result<(String, Head)> {
    Ok((id, Head { seq: count(seq)?, hash: digest(&hash)? }))
}
