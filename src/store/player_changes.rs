//! Changes to a player's addresses, and requests to leave, that wait for an answer or can still be undone.

use crate::game::named_enum;
use chrono::{DateTime, Utc};

use super::record::record;
use super::rows::text;
use super::statement::Session;
use super::{Database, Result};

const COLUMNS: &str = "code, other_code, player_id, kind, address, registered, with_token, stage, asked_at, \
                       changed_at, version, matches";

record! {
    /// A change that a player asked for, or that somebody asked for in a player's name.
    #[derive(Clone, Debug, PartialEq, Eq)]
    pub struct PlayerChange {
        /// The code with which a registered address agrees, denies or undoes. Sent to no other address.
        pub code: String,
        /// The code with which the owner of `address` agrees to its addition or undoes its removal.
        pub other_code: String,
        pub player_id: i64,
        pub kind: ChangeKind,
        /// The address that is added or removed; empty for [`ChangeKind::Leave`].
        pub address: String,
        /// The running matches that the question whether to leave listed. Only these are resigned.
        pub matches: Vec<String>,
        /// The address that was asked.
        pub registered: String,
        /// Whether the letter that asked for it had a reply token.
        pub with_token: bool,
        pub stage: ChangeStage,
        /// The time at which the last question about it was sent.
        pub asked_at: DateTime<Utc>,
        /// The time at which it reached its stage.
        pub changed_at: DateTime<Utc>,
        /// Starts at 1 and grows by one with each change of this row.
        pub version: i64,
    }
}

named_enum! {
    pub enum ChangeKind {
        Add = "add",
        Remove = "remove",
        /// The listed matches are resigned.
        Leave = "leave",
    }
}

named_enum! {
    pub enum ChangeStage {
        /// A registered address was asked.
        Asked = "asked",
        /// The registered address agreed, and the new one was asked.
        Agreed = "agreed",
        Done = "done",
        /// Denied before or undone after it took effect.
        Denied = "denied",
    }
}

impl Database {
    /// Returns the changes of a player that reached their stage since `since`, oldest first.
    pub async fn changes_of(&self, player_id: i64, since: DateTime<Utc>) -> Result<Vec<PlayerChange>> {
        let sql = format!(
            "SELECT {COLUMNS} FROM player_change WHERE player_id = $1 AND changed_at >= $2 \
             ORDER BY changed_at, code"
        );
        self.read(self.statement(sql).bind(player_id).bind(since.timestamp_millis())).await
    }

    /// Returns the change that has this code as either of its codes.
    pub async fn change_under(&self, code: &str) -> Result<Option<PlayerChange>> {
        let sql = format!("SELECT {COLUMNS} FROM player_change WHERE code = $1 OR other_code = $1");
        self.read_first(self.statement(sql).bind(text(code))).await
    }
}

/// Adds a change, or moves one to another stage.
///
/// # Errors
/// [`StoreError::Stale`](super::StoreError::Stale) if it has changed since it was loaded.
pub async fn set_change(session: &mut Session<'_>, row: &PlayerChange) -> Result<()> {
    let sql = format!(
        // The version shows whether somebody else has changed the row since it was loaded.
        "INSERT INTO player_change ({COLUMNS}) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) \
         ON CONFLICT (code) DO UPDATE SET matches = excluded.matches, registered = excluded.registered, \
         with_token = excluded.with_token, stage = excluded.stage, asked_at = excluded.asked_at, \
         changed_at = excluded.changed_at, version = excluded.version \
         WHERE player_change.version = excluded.version - 1"
    );
    let statement = session
        .statement(sql)
        .bind(&row.code)
        .bind(&row.other_code)
        .bind(row.player_id)
        .bind(row.kind)
        .bind(text(&row.address))
        .bind(text(&row.registered))
        .bind(row.with_token)
        .bind(row.stage)
        .bind(row.asked_at.timestamp_millis())
        .bind(row.changed_at.timestamp_millis())
        .bind(row.version)
        .bind(&row.matches);
    session.change(statement, "a change of a player".to_owned()).await
}
