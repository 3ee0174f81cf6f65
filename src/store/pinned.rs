//! Writes what ledgers pin: who holds a seat, what letters were worded with, and which deliveries entries list.

use super::Result;
use super::rows::{is_common, text};
use super::statement::Session;
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

/// Keeps a wording under its digest, unless it is kept.
pub async fn keep_wording(session: &mut Session<'_>, digest: Digest, contents: &str) -> Result<()> {
    let sql = "INSERT INTO wording (digest, contents) VALUES ($1, $2) ON CONFLICT (digest) DO NOTHING";
    let statement = session.statement(sql).bind(digest.to_string()).bind(text(contents));
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
