//! Offers to play. An address has at most one open challenge from a newcomer, even if two daemons store
//! challenges at the same time.

use chrono::{DateTime, Utc};

use super::rows::text;
use super::statement::{Engine, Session};
use super::{Database, Invitation, InvitationStage, Result, StoreError};

const INVITATIONS: &str = "SELECT code, inviter, inviter_name, invited, game, offer, stage, match_id, created_at, \
                           lapses_at, invited_name, rematch_of, taken_from, taken FROM invitation ";

/// The first key of the lock. PostgreSQL keeps locks with two keys apart from the leases, which have one.
const CHALLENGES: &str = "1";
const REMATCHES: &str = "2";

impl Database {
    pub async fn invitation(&self, code: &str) -> Result<Option<Invitation>> {
        self.read_first(self.statement(format!("{INVITATIONS}WHERE code = $1")).bind(text(code))).await
    }

    /// Returns all invitations, oldest first.
    pub async fn invitations(&self) -> Result<Vec<Invitation>> {
        self.read(self.statement(format!("{INVITATIONS}ORDER BY created_at, code"))).await
    }

    /// Returns the open invitations, oldest first; with `lapsing_by`, only those that lapse by that time.
    pub async fn open_invitations(&self, lapsing_by: Option<DateTime<Utc>>) -> Result<Vec<Invitation>> {
        let sql = format!("{INVITATIONS}WHERE stage = 'open' AND lapses_at <= $1 ORDER BY created_at, code");
        let by = lapsing_by.map_or(i64::MAX, |by| by.timestamp_millis());
        self.read(self.statement(sql).bind(by)).await
    }

    /// Returns the offers that opened this match, according to their rows.
    pub async fn invitations_to(&self, match_id: &str) -> Result<Vec<Invitation>> {
        let sql = format!("{INVITATIONS}WHERE match_id = $1 ORDER BY code");
        self.read(self.statement(sql).bind(text(match_id))).await
    }

    /// Returns the offers of a rematch of this match, including those that are no longer open.
    pub async fn rematches_of(&self, match_id: &str) -> Result<Vec<Invitation>> {
        let sql = format!("{INVITATIONS}WHERE rematch_of = $1 ORDER BY created_at, code");
        self.read(self.statement(sql).bind(text(match_id))).await
    }

    /// Returns the seats that were taken from a standing offer.
    pub async fn taken_from(&self, code: &str) -> Result<Vec<Invitation>> {
        let sql = format!("{INVITATIONS}WHERE taken_from = $1 ORDER BY created_at, code");
        self.read(self.statement(sql).bind(text(code))).await
    }

    /// Whether the address `invited` declined an offer of the address `inviter`.
    pub async fn has_declined(&self, inviter: &str, invited: &str) -> Result<bool> {
        let sql =
            "SELECT code FROM invitation WHERE inviter = $1 AND invited = $2 AND stage = 'declined' LIMIT 1";
        let select = self.statement(sql).bind(text(inviter)).bind(text(invited));
        Ok(self.read_first::<(String,)>(select).await?.is_some())
    }
}

/// Adds an invitation, or closes an open one.
pub async fn set_invitation(
    session: &mut Session<'_>,
    invitation: &Invitation,
    at: DateTime<Utc>,
) -> Result<()> {
    ensure_one_rematch(session, invitation).await?;
    // Only open invitations are closed: if two daemons take up one offer, the second finds no row. A standing
    // offer that stays open counts up instead.
    let sql = "INSERT INTO invitation (code, inviter, inviter_name, invited, game, offer, stage, match_id, \
               created_at, lapses_at, invited_name, rematch_of, taken_from, taken) \
               VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) \
               ON CONFLICT (code) DO UPDATE SET stage = excluded.stage, match_id = excluded.match_id, \
               offer = excluded.offer, taken = excluded.taken \
               WHERE invitation.stage = 'open' AND (excluded.taken = invitation.taken + 1 \
               OR (excluded.taken = invitation.taken AND excluded.stage <> 'open'))";
    let statement = session
        .statement(sql)
        .bind(&invitation.code)
        .bind(text(&invitation.inviter))
        .bind(text(&invitation.inviter_name))
        .bind(invitation.invited.as_deref().map(text))
        .bind(invitation.game)
        .bind(text(&invitation.offer))
        .bind(invitation.stage)
        .bind(invitation.match_id.as_deref())
        .bind(invitation.created_at.timestamp_millis())
        .bind(invitation.lapses_at.timestamp_millis())
        .bind(invitation.invited_name.as_deref().map(text))
        .bind(invitation.rematch_of.as_deref())
        .bind(invitation.taken_from.as_deref())
        .bind(i64::from(invitation.taken));
    session.change(statement, format!("invitation {}", invitation.code)).await?;
    ensure_only_one(session, invitation, at).await
}

/// Ensures that no other offer to follow the same match is open or taken. A unique index ensures it, too.
///
/// # Errors
/// [`StoreError::Stale`] if there is one.
async fn ensure_one_rematch(session: &mut Session<'_>, invitation: &Invitation) -> Result<()> {
    let Some(match_id) = invitation.rematch_of.as_deref() else { return Ok(()) };
    if !matches!(invitation.stage, InvitationStage::Open | InvitationStage::Taken) {
        return Ok(());
    }
    if session.engine() == Engine::Postgres {
        let sql = format!("SELECT pg_advisory_xact_lock({REMATCHES}, hashtext($1))");
        let statement = session.statement(sql).bind(text(match_id));
        session.execute(statement).await?;
    }
    let sql = "SELECT code FROM invitation WHERE rematch_of = $1 AND stage IN ('open', 'taken') AND code <> $2 LIMIT 1";
    let statement = session.statement(sql).bind(text(match_id)).bind(&invitation.code);
    match session.fetch_first::<(String,)>(statement).await? {
        Some(_) => Err(StoreError::Stale("a rematch".to_owned())),
        None => Ok(()),
    }
}

/// Ensures, after an invitation was stored, that no other newcomer has an open challenge to the same address.
/// A unique index cannot do that: a challenge that has lapsed stays open in its row until the clock closes
/// it.
///
/// # Errors
/// [`StoreError::Stale`] if there is one.
async fn ensure_only_one(
    session: &mut Session<'_>,
    invitation: &Invitation,
    at: DateTime<Utc>,
) -> Result<()> {
    // A newcomer's invitation shows the address in place of a name.
    let is_newcomers = invitation.inviter_name == invitation.inviter;
    let Some(invited) = invitation.invited.as_deref().filter(|_| is_newcomers) else { return Ok(()) };
    if invitation.stage != InvitationStage::Open {
        return Ok(());
    }
    if session.engine() == Engine::Postgres {
        // Hold the lock until the transaction ends, so that another daemon then sees what this one has
        // stored.
        let sql = format!("SELECT pg_advisory_xact_lock({CHALLENGES}, hashtext($1))");
        let statement = session.statement(sql).bind(text(invited));
        session.execute(statement).await?;
    }
    let sql = "SELECT code FROM invitation WHERE invited = $1 AND stage = 'open' AND inviter = inviter_name \
               AND lapses_at > $2 AND code <> $3 LIMIT 1";
    let statement =
        session.statement(sql).bind(text(invited)).bind(at.timestamp_millis()).bind(&invitation.code);
    match session.fetch_first::<(String,)>(statement).await? {
        Some(_) => Err(StoreError::Stale("a newcomer's challenge".to_owned())),
        None => Ok(()),
    }
}
