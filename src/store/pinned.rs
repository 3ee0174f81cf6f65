//! Writes what ledgers pin: who holds a seat, matches as they were before the procedure changed, and which deliveries entries list.

use super::rows::{is_common, text};
use super::statement::Session;
use super::{KeptSnapshot, Result};
use crate::ledger::KeptPin;
use crate::letter::Digest;

/// Notes, within a transaction, that entries list these dispatches of these matches.
pub async fn mark_listed(session: &mut Session<'_>, chunk: &[(String, Digest)]) -> Result<()> {
    let mut update = session.statement("WITH new (n_match_id, n_pin) AS (");
    update.push_rows(chunk, |values, (match_id, pin)| {
        values.bind(match_id).bind(pin.to_string());
    });
    update.push(
        ") UPDATE dispatch SET listed = 1 FROM new \
         WHERE match_id = n_match_id AND pin = n_pin AND listed = 0 AND sent_at IS NOT NULL",
    );
    session.execute(update.persistent(is_common(chunk.len()))).await?;
    Ok(())
}

/// Keeps a match as it was, within a transaction.
pub async fn keep_snapshot(session: &mut Session<'_>, kept: &KeptSnapshot) -> Result<()> {
    let sql = "INSERT INTO kept_snapshot (digest, match_id, json) VALUES ($1, $2, $3)";
    let digest = Digest::of(kept.json.as_bytes()).to_string();
    let statement = session.statement(sql).bind(digest).bind(text(&kept.match_id)).bind(text(&kept.json));
    session.execute(statement).await?;
    Ok(())
}

/// Adds pins of seats, within a transaction.
pub async fn add_seat_pins(session: &mut Session<'_>, chunk: &[(String, KeptPin)]) -> Result<()> {
    let mut insert = session.statement("INSERT INTO seat_pin (match_id, seat, kind, pin, key, value) ");
    insert.push_rows(chunk, |values, (match_id, kept)| {
        values
            .bind(match_id)
            .bind(kept.seat.as_str())
            .bind(kept.kind.as_str())
            .bind(kept.pin.to_string())
            .bind(kept.opened.as_ref().map(|opened| opened.key.to_string()))
            .bind(kept.opened.as_ref().map(|opened| opened.value.clone()));
    });
    session.execute(insert.persistent(is_common(chunk.len()))).await?;
    Ok(())
}
