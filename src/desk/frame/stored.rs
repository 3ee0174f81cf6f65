//! Conversions between values and their rows.

use anyhow::Context as _;

use crate::game::{BySeat, Seat};
use crate::ledger::knows_format;
use crate::referee::Match;
use crate::store::{MatchRow, SeatRow, TokenRow};

/// Reads a match from its snapshot.
///
/// # Errors
/// Returns an error if the snapshot cannot be read, or if this program does not know the format of its ledger
/// or its version of the rules.
pub fn snapshot(match_id: &str, snapshot: &str) -> anyhow::Result<Match> {
    let game_match: Match = serde_json::from_str(snapshot)
        .with_context(|| format!("the snapshot of match {match_id} cannot be read"))?;
    // A snapshot of a newer version may parse and still mean something else.
    knows_format(game_match.format)
        .and_then(|()| game_match.game.knows_rules(game_match.rules))
        .map_err(anyhow::Error::msg)
        .with_context(|| match_id.to_owned())?;
    Ok(game_match)
}

/// Picks both seats of a match from the rows of several matches.
///
/// # Errors
/// Returns an error if a seat is missing.
pub fn both_seats(rows: &[TokenRow], match_id: &str) -> anyhow::Result<BySeat<TokenRow>> {
    let of = |seat: Seat| rows.iter().find(|row| row.seat == seat && row.match_id == match_id).cloned();
    match (of(Seat::First), of(Seat::Second)) {
        (Some(first), Some(second)) => Ok(BySeat::new(first, second)),
        _ => anyhow::bail!("match {match_id} lacks a seat"),
    }
}

/// Returns the row of a match that was loaded at `version`.
///
/// # Errors
/// Returns an error if the match cannot be written as JSON.
pub fn match_row(game_match: &Match, version: i64) -> anyhow::Result<MatchRow> {
    Ok(MatchRow {
        id: game_match.id.clone(),
        overview: game_match.overview(),
        wake_at: game_match.wake_at(),
        snapshot: serde_json::to_string(game_match)?,
        version,
    })
}

pub fn seat_row(row: &TokenRow) -> SeatRow {
    SeatRow {
        match_id: row.match_id.clone(),
        seat: row.seat,
        player_id: row.player.id,
        token: row.token.clone(),
    }
}
