//! What letters tell of the chance of a match, and of its secrets.

use chrono_tz::Tz;
use minijinja::value::Serde;
use minijinja::{Value, context};

use super::time::format_local;
use crate::ledger::SealKey;
use crate::referee::{Match, Stage};

/// What the chance of a match comes from, for a reader in this zone; the key once the match is over.
pub fn lot(game_match: &Match, zone: Tz) -> Value {
    let Some(lot) = &game_match.lot else { return Value::from(()) };
    context! {
        pin => Serde(lot.key.pin()),
        told_at => lot.told_at.map(|at| format_local(at, zone)),
        key => (game_match.stage == Stage::Over).then(|| lot.key.reveal()),
    }
}

/// The secrets of a match that is over, oldest first.
pub fn keys(game_match: &Match) -> Value {
    let all = game_match.earlier_keys.iter().chain([&game_match.key]);
    all.filter(|_| game_match.stage == Stage::Over).map(SealKey::reveal).collect()
}
