//! Challenges from newcomers: an address has at most one that is open, whoever stores them at the same moment.

use chrono::{DateTime, Utc};

use super::rows::text;
use super::statement::{Engine, Session};
use super::{Invitation, InvitationStage, Result, StoreError};

/// The first key of the lock. PostgreSQL keeps locks with two keys apart from the leases, which have one.
const CHALLENGES: &str = "1";

/// Ensures, after an invitation was stored, that no other newcomer has an open challenge to the same address. A unique
/// index cannot do that: a challenge that has lapsed stays open in its row until the clock closes it.
///
/// # Errors
/// [`StoreError::Stale`] if there is one.
pub async fn ensure_only_one(
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
