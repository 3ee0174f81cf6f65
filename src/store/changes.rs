//! Changes of a player's addresses, and the wish to leave, which wait for answers or can still be undone.

use chrono::{DateTime, Utc};
use sqlx::FromRow;

use super::rows::{text, time, unsound};
use super::statement::Session;
use super::{Result, StoreError};

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
    /// When the last question about it was sent.
    pub asked_at: DateTime<Utc>,
    /// When it reached its stage.
    pub changed_at: DateTime<Utc>,
    /// Grows by one with each change of this row, from 1.
    pub version: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeKind {
    Add,
    Remove,
    /// The listed matches are resigned.
    Leave,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeStage {
    /// A registered address was asked.
    Asked,
    /// The registered address agreed, and the new one was asked.
    Agreed,
    Done,
    /// Denied before or undone after it took effect.
    Denied,
}

impl ChangeKind {
    const ALL: [ChangeKind; 3] = [ChangeKind::Add, ChangeKind::Remove, ChangeKind::Leave];

    fn as_str(self) -> &'static str {
        match self {
            ChangeKind::Add => "add",
            ChangeKind::Remove => "remove",
            ChangeKind::Leave => "leave",
        }
    }
}

impl ChangeStage {
    const ALL: [ChangeStage; 4] =
        [ChangeStage::Asked, ChangeStage::Agreed, ChangeStage::Done, ChangeStage::Denied];

    fn as_str(self) -> &'static str {
        match self {
            ChangeStage::Asked => "asked",
            ChangeStage::Agreed => "agreed",
            ChangeStage::Done => "done",
            ChangeStage::Denied => "denied",
        }
    }
}

const COLUMNS: &str = "code, other_code, player_id, kind, address, registered, with_token, stage, asked_at, \
                       changed_at, version, matches";

#[derive(FromRow)]
struct Row {
    code: String,
    other_code: String,
    player_id: i64,
    kind: String,
    address: String,
    registered: String,
    with_token: bool,
    stage: String,
    asked_at: i64,
    changed_at: i64,
    version: i64,
    matches: String,
}

impl Row {
    fn read(self) -> Result<PlayerChange> {
        let kind = ChangeKind::ALL.into_iter().find(|kind| kind.as_str() == self.kind);
        let stage = ChangeStage::ALL.into_iter().find(|stage| stage.as_str() == self.stage);
        Ok(PlayerChange {
            code: self.code,
            other_code: self.other_code,
            player_id: self.player_id,
            kind: kind.ok_or_else(|| unsound("kind of change", &self.kind))?,
            address: self.address,
            matches: serde_json::from_str(&self.matches)
                .map_err(|_| unsound("list of matches", &self.matches))?,
            registered: self.registered,
            with_token: self.with_token,
            stage: stage.ok_or_else(|| unsound("stage of a change", &self.stage))?,
            asked_at: time(self.asked_at)?,
            changed_at: time(self.changed_at)?,
            version: self.version,
        })
    }
}

/// Returns the changes of a player that reached their stage since then, oldest first.
pub async fn changes_of(
    session: &mut Session<'_>,
    player_id: i64,
    since: DateTime<Utc>,
) -> Result<Vec<PlayerChange>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM player_change WHERE player_id = $1 AND changed_at >= $2 \
         ORDER BY changed_at, code"
    );
    let statement = session.statement(sql).bind(player_id).bind(since.timestamp_millis());
    session.fetch_all::<Row>(statement).await?.into_iter().map(Row::read).collect()
}

/// Returns the change with this code, or with this other code.
pub async fn change_under(session: &mut Session<'_>, code: &str) -> Result<Option<PlayerChange>> {
    let sql = format!("SELECT {COLUMNS} FROM player_change WHERE code = $1 OR other_code = $1");
    let statement = session.statement(sql).bind(text(code));
    session.fetch_first::<Row>(statement).await?.map(Row::read).transpose()
}

/// Adds a change, or moves one to another stage.
///
/// # Errors
/// [`StoreError::Stale`] if somebody else has moved it since it was loaded.
pub async fn set_change(session: &mut Session<'_>, row: &PlayerChange) -> Result<()> {
    let sql = format!(
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
        .bind(row.kind.as_str())
        .bind(text(&row.address))
        .bind(text(&row.registered))
        .bind(row.with_token)
        .bind(row.stage.as_str())
        .bind(row.asked_at.timestamp_millis())
        .bind(row.changed_at.timestamp_millis())
        .bind(row.version)
        .bind(serde_json::json!(row.matches).to_string());
    if session.execute(statement).await? == 0 {
        return Err(StoreError::Stale("a change of a player".to_owned()));
    }
    Ok(())
}
