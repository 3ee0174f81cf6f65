//! What both sides read with the result of what GMs did while the match ran.

use minijinja::{Value, context};

use crate::game::Seat;
use crate::referee::{Match, Stage};
use crate::report::quoted::wrapped;
use crate::report::time::format_local;

/// The GM's words to one side alone, for the result.
pub fn messages(game_match: &Match, reader: Seat) -> Value {
    let is_over = game_match.stage == Stage::Over;
    let told = game_match.gm_messages.iter().filter(|message| is_over && message.to.is_some());
    let zone = game_match.zone_of(reader);
    told.map(|message| {
        context! {
            to => message.to.map(|seat| &game_match.players[seat]),
            at => format_local(message.at, zone),
            lines => wrapped(&message.text),
        }
    })
    .collect()
}

/// Hidden facts that GMs were shown, for the result.
pub fn unsealed(game_match: &Match, reader: Seat) -> Value {
    let is_over = game_match.stage == Stage::Over;
    let zone = game_match.zone_of(reader);
    let shown = game_match.unsealed.iter().filter(|_| is_over);
    shown
        .map(|unsealing| {
            context! {
                gm => &unsealing.gm,
                at => format_local(unsealing.at, zone),
                what => &unsealing.what,
                reason => wrapped(&unsealing.reason),
            }
        })
        .collect()
}
