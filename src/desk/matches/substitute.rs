//! Seats the house in the place of a player who has vanished, once the opponent agreed.

use anyhow::{Context as _, anyhow};

use super::{holders, openings};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::outbox::ruling_mail;
use crate::game::Seat;
use crate::ledger::PlayerSettings;
use crate::referee::Act;
use crate::store::TokenRow;

/// Gives a seat to the house, at the club's level.
pub fn seat_house(desk: &mut Desk<'_>, match_id: &str, seat: Seat) -> Decided<()> {
    let mut loaded = desk.game_match(match_id)?.context("a match that was just ruled on")?.clone();
    let level = desk.club.config.house.level(loaded.game_match.game, None);
    let level = level.map_err(|_| anyhow!("the house does not play {}", loaded.game_match.game))?;
    let act = Act::Replace {
        seat,
        name: level.player_name(),
        house: Some(level.name.to_owned()),
        settings: PlayerSettings::default(),
        excused: false,
    };
    let (player, token) = (openings::house_player(desk, level)?, desk.random().token().to_string());
    let former = loaded.seats[seat].clone();
    loaded.seats[seat] = TokenRow { token, player, ..former.clone() };
    holders::save_seat(desk, &loaded.seats[seat]);
    let hold = holders::hold(desk, &loaded, seat, None);
    let matter = loaded.game_match.by_program(act);
    let ruling = ruling_mail::rule_with(desk, &loaded.game_match, &[hold], &matter);
    ruling_mail::keep_unasked(desk, loaded, ruling, Some(&former))
}
