//! Offers to play. An address has at most one open challenge from a newcomer, even if two daemons store one
//! at once.

use chrono::{DateTime, Utc};

use super::rows::text;
use super::statement::{Engine, Session};
use super::{Database, Invitation, InvitationStage, Result, StoreError};

const INVITATIONS: &str = "SELECT code, inviter, inviter_name, invited, game, offer, stage, match_id, created_at, \
                           lapses_at FROM invitation ";

/// The first key of the lock. PostgreSQL keeps locks with two keys apart from the leases, which have one.
const CHALLENGES: &str = "1";

impl Database {
    pub async fn invitation(&self, code: &str) -> Result<Option<Invitation>> {
        self.read_first(self.statement(format!("{INVITATIONS}WHERE code = $1")).bind(text(code))).await
    }

    /// Returns the open invitations, oldest first; with `lapsing_by`, only those that lapse by then.
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
    // Closes open ones only: of two daemons that take up one offer, the second finds no row.
    let sql = "INSERT INTO invitation (code, inviter, inviter_name, invited, game, offer, stage, match_id, \
               created_at, lapses_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) \
               ON CONFLICT (code) DO UPDATE SET stage = excluded.stage, match_id = excluded.match_id \
               WHERE invitation.stage = 'open' AND excluded.stage <> 'open'";
    let statement = session
        .statement(sql)
        .bind(&invitation.code)
        .bind(text(&invitation.inviter))
        .bind(text(&invitation.inviter_name))
        .bind(invitation.invited.as_deref().map(text))
        .bind(invitation.game)
        .bind(text(&invitation.offer))
        .bind(invitation.stage)
        .bind(&invitation.match_id)
        .bind(invitation.created_at.timestamp_millis())
        .bind(invitation.lapses_at.timestamp_millis());
    if session.execute(statement).await? == 0 {
        return Err(StoreError::Stale(format!("invitation {}", invitation.code)));
    }
    ensure_only_one(session, invitation, at).await
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
        // Held until the transaction ends: another daemon then sees what this one has stored.
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
