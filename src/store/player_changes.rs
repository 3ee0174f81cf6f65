//! [`PlayerChanges`] for both databases. Settlements write what it reads.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::Result;
use super::changes::{self, PlayerChange};
use super::database::Database;
use super::players;

/// Reads the changes that players ask for, and what these must not collide with.
#[async_trait]
pub trait PlayerChanges {
    /// Returns the changes of a player that reached their stage since then, oldest first.
    async fn changes_of(&self, player_id: i64, since: DateTime<Utc>) -> Result<Vec<PlayerChange>>;

    /// Returns the change with this code, or with this other code.
    async fn change_under(&self, code: &str) -> Result<Option<PlayerChange>>;

    /// Returns the IDs and names of all players: a new name differs from those of others.
    async fn player_names(&self) -> Result<Vec<(i64, String)>>;
}

#[async_trait]
impl PlayerChanges for Database {
    async fn changes_of(&self, player_id: i64, since: DateTime<Utc>) -> Result<Vec<PlayerChange>> {
        changes::changes_of(&mut self.backend.reader().await?.session(), player_id, since).await
    }

    async fn change_under(&self, code: &str) -> Result<Option<PlayerChange>> {
        changes::change_under(&mut self.backend.reader().await?.session(), code).await
    }

    async fn player_names(&self) -> Result<Vec<(i64, String)>> {
        players::player_names(&mut self.backend.reader().await?.session()).await
    }
}
