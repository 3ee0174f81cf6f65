//! Seats the house in the place of a player who has vanished, once the opponent agreed.

use anyhow::{Context as _, anyhow};

use super::desk::Desk;
use super::rows::Decided;
use crate::game::Seat;
use crate::ledger::PlayerSettings;
use crate::referee::Act;
use crate::store::TokenRow;

impl Desk<'_> {
    /// Gives a seat to the house, at the club's level.
    pub fn seat_house(&mut self, match_id: &str, seat: Seat) -> Decided<()> {
        let mut loaded = self.game_match(match_id)?.context("a match that was just ruled on")?.clone();
        let level = self.settings.config.house.level(loaded.game_match.game, None);
        let level = level.map_err(|_| anyhow!("the house does not play {}", loaded.game_match.game))?;
        let act = Act::Replace {
            seat,
            name: level.player_name(),
            house: Some(level.name.to_owned()),
            settings: PlayerSettings::default(),
        };
        let (player, token) = (self.house_player(level)?, self.random().token().to_string());
        let former = loaded.seats[seat].clone();
        loaded.seats[seat] = TokenRow { token, player, ..former.clone() };
        self.save_seat(&loaded.seats[seat]);
        let hold = self.hold(&loaded, seat, None);
        let matter = loaded.game_match.by_program(act);
        let ruling = self.rule_with(&loaded.game_match, &[hold], &matter);
        self.keep_unasked(loaded, ruling, Some(&former))
    }
}
