//! [`VerifiedMatches`] for both databases: how far the daily audit has verified each match.

use async_trait::async_trait;

use super::Result;
use super::database::Database;
use super::rows::{CHUNK, count, digest, integer, is_common, text};
use crate::ledger::Head;

/// Remembers for the daily audit where each ledger ended when it verified. Nothing proves these rows: a check at the
/// terminal does not ask for them.
#[async_trait]
pub trait VerifiedMatches {
    /// Returns the IDs of the matches whose ledgers have grown since they verified, sorted.
    async fn unverified(&self) -> Result<Vec<String>>;

    /// Returns where the ledger of a match ended when it last verified.
    async fn verified(&self, match_id: &str) -> Result<Option<Head>>;

    /// Notes where the ledgers of matches ended when they verified.
    async fn note_verified(&self, heads: &[(String, Head)]) -> Result<()>;
}

#[async_trait]
impl VerifiedMatches for Database {
    async fn unverified(&self) -> Result<Vec<String>> {
        let sql = "SELECT m.id FROM match m LEFT JOIN verified v ON v.match_id = m.id \
                   WHERE m.head_seq > COALESCE(v.seq, 0) ORDER BY m.id";
        let mut ids = Vec::new();
        let mut take = |id| ids.push(id);
        self.stream(self.statement(sql), |(id,): (String,)| Ok(id), &mut take).await?;
        Ok(ids)
    }

    async fn verified(&self, match_id: &str) -> Result<Option<Head>> {
        let sql = "SELECT seq, hash FROM verified WHERE match_id = $1";
        let rows: Vec<(i64, String)> = self.read_recent(self.statement(sql).bind(text(match_id))).await?;
        let head = rows.first().map(|(seq, hash)| Ok(Head { seq: count(*seq)?, hash: digest(hash)? }));
        head.transpose()
    }

    async fn note_verified(&self, heads: &[(String, Head)]) -> Result<()> {
        let mut tx = self.backend.begin().await?;
        let session = &mut tx.session();
        for chunk in heads.chunks(CHUNK) {
            let mut insert = session.statement("INSERT INTO verified (match_id, seq, hash) ");
            insert.push_rows(chunk, |values, (match_id, head)| {
                values.bind(match_id).bind(integer(head.seq)).bind(head.hash.to_string());
            });
            insert.push(" ON CONFLICT (match_id) DO UPDATE SET seq = excluded.seq, hash = excluded.hash");
            session.execute(insert.persistent(is_common(chunk.len()))).await?;
        }
        tx.commit().await
    }
}
