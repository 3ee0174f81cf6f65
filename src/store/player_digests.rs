//! [`PlayerDigests`] for both databases: when each player's daily digest is due.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::database::Database;
use super::{Player, Result, players};

/// Reads and sets when players' daily digests are due.
#[async_trait]
pub trait PlayerDigests {
    /// Returns up to `limit` players whose digest is due by now, with that time; `None` if none is scheduled yet.
    async fn digests_due(
        &self,
        now: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<(Player, Option<DateTime<Utc>>)>>;

    /// Sets when a player's next digest is due.
    async fn schedule_digest(&self, player_id: i64, at: Option<DateTime<Utc>>) -> Result<()>;
}

#[async_trait]
impl PlayerDigests for Database {
    async fn digests_due(
        &self,
        now: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<(Player, Option<DateTime<Utc>>)>> {
        players::digests_due(&mut self.backend.reader().await?.session(), now, limit).await
    }

    async fn schedule_digest(&self, player_id: i64, at: Option<DateTime<Utc>>) -> Result<()> {
        players::schedule_digest(&mut self.backend.writer().await?.session(), player_id, at).await
    }
}
