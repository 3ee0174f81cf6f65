//! Seats the house in place of a vanished player, once the opponent has agreed.

use anyhow::{Context as _, anyhow};

use super::{holders, openings};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::game::Seat;
use crate::ledger::PlayerSettings;
use crate::referee::Act;

/// Gives a seat to the house, at the club's level.
pub fn seat_house(desk: &mut Desk<'_>, match_id: &str, seat: Seat) -> Decided<()> {
    let loaded = desk.game_match(match_id)?.context("a match that was just ruled on is missing")?.clone();
    let level = desk.club.config.house.level(loaded.game_match.game, None);
    let level = level.map_err(|_| anyhow!("the house does not play {}", loaded.game_match.game))?;
    let act = Act::Replace {
        seat,
        name: level.player_name(),
        house: Some(level.name.to_owned()),
        settings: PlayerSettings::default(),
        excused: false,
    };
    let player = openings::house_player(desk, level)?;
    let matter = loaded.game_match.by_program(act);
    holders::hand_over(desk, loaded, seat, player, &matter)
}
