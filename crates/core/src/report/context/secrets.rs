//! Secrets that letters disclose once a match is over: its keys, the source of its chance, GMs' messages to
//! one side, and hidden facts that GMs were shown.

use chrono::{DateTime, Utc};
use minijinja::value::Serde;
use minijinja::{Value, context};

use crate::game::Seat;
use crate::ledger::SealKey;
use crate::referee::{Match, Stage};
use crate::report::text::{format_local, isolated, wrap_lines};

/// Returns the pin of the source of a match's chance, and its key once the match is over.
pub fn lot(game_match: &Match) -> Value {
    let Some(lot) = &game_match.lot else { return Value::from(()) };
    context! {
        pin => Serde(lot.key.pin()),
        key => (game_match.stage == Stage::Over).then(|| lot.key.reveal()),
    }
}

/// Returns the secrets of a match that is over, oldest first.
pub fn keys(game_match: &Match) -> Value {
    let all = game_match.earlier_keys.iter().chain([&game_match.key]);
    all.filter(|_| game_match.stage == Stage::Over).map(SealKey::reveal).collect()
}

/// Returns the GM's messages to one side alone, for the result.
pub fn messages(game_match: &Match, reader: Seat, now: DateTime<Utc>) -> Value {
    let is_over = game_match.stage == Stage::Over;
    let messages = game_match.gm_messages.iter().filter(|message| is_over && message.to.is_some());
    let zone = game_match.zone_of(reader);
    messages
        .map(|message| {
            context! {
                to => message.to.map(|seat| isolated(&game_match.players[seat])),
                at => format_local(message.at, zone, now),
                lines => wrap_lines(&message.text),
            }
        })
        .collect()
}

/// Returns hidden facts that GMs were shown, for the result.
pub fn facts_shown_to_gms(game_match: &Match, reader: Seat, now: DateTime<Utc>) -> Value {
    let is_over = game_match.stage == Stage::Over;
    let zone = game_match.zone_of(reader);
    let shown = game_match.unsealed.iter().filter(|_| is_over);
    shown
        .map(|unsealing| {
            context! {
                gm => &unsealing.gm,
                at => format_local(unsealing.at, zone, now),
                what => &unsealing.what,
                reason => wrap_lines(&unsealing.reason),
            }
        })
        .collect()
}
