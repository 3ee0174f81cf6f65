//! The keys from which the secrets of coming matches are drawn.

use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::rows::{digest, text, time};
use super::statement::Session;
use super::{Result, StoreError};
use crate::ledger::SealKey;

/// The key of somebody's next match against the house, whose SHA-256 they were told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextLot {
    pub key: SealKey,
    pub told_at: DateTime<Utc>,
}

/// A change of the key at an address, each of which has at most one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LotChange {
    /// There was none, and this one is told.
    Told { address: String, lot: NextLot },
    /// A match was drawn from this one.
    Drawn { address: String, key: SealKey },
}

impl LotChange {
    pub fn address(&self) -> &str {
        match self {
            LotChange::Told { address, .. } | LotChange::Drawn { address, .. } => address,
        }
    }
}

#[derive(FromRow)]
pub struct LotColumns {
    key: String,
    told_at: i64,
}

impl LotColumns {
    pub fn read(self) -> Result<NextLot> {
        let key = SealKey::new(*digest(&self.key)?.as_bytes());
        Ok(NextLot { key, told_at: time(self.told_at)? })
    }
}

/// Writes a change.
///
/// # Errors
/// [`StoreError::Stale`] if another daemon has changed the key since it was loaded.
pub async fn change_lot(session: &mut Session<'_>, change: &LotChange) -> Result<()> {
    let statement = match change {
        LotChange::Told { address, lot } => session
            .statement("INSERT INTO lot (address, key, told_at) VALUES ($1, $2, $3) ON CONFLICT (address) DO NOTHING")
            .bind(text(address))
            .bind(lot.key.reveal())
            .bind(lot.told_at.timestamp_millis()),
        LotChange::Drawn { address, key } => session
            .statement("DELETE FROM lot WHERE address = $1 AND key = $2")
            .bind(text(address))
            .bind(key.reveal()),
    };
    match session.execute(statement).await? {
        0 => Err(StoreError::Stale("a lot".to_owned())),
        _ => Ok(()),
    }
}
