//! What letters tell of the chance of a match, and of its secrets.

use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::ledger::SealKey;
use crate::referee::{Match, Stage};

/// The source of a match's chance; its key once the match is over.
pub fn lot(game_match: &Match) -> Value {
    let Some(lot) = &game_match.lot else { return Value::from(()) };
    context! {
        pin => Serde(lot.key.pin()),
        key => (game_match.stage == Stage::Over).then(|| lot.key.reveal()),
    }
}

/// The secrets of a match that is over, oldest first.
pub fn keys(game_match: &Match) -> Value {
    let all = game_match.earlier_keys.iter().chain([&game_match.key]);
    all.filter(|_| game_match.stage == Stage::Over).map(SealKey::reveal).collect()
}
