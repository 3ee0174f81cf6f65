//! The people whom the GM's instructions are about: shown, renamed, made one; in their matches as well.

use super::Office;
use super::settle::Known;
use crate::game::Seat;
use crate::letter::Address;
use crate::referee::{Act, Stage};
use crate::report::GmResult;
use crate::store::{Player, Settlement};

impl Office {
    /// A player as far as he is changed in this settlement.
    pub(super) async fn player_now(
        &self,
        address: &Address,
        settlement: &Settlement,
    ) -> anyhow::Result<Option<Player>> {
        let found = self.store.player_by_address(address.as_str()).await?;
        Ok(found.map(|player| latest(player, settlement)))
    }

    pub(super) async fn shown(&self, player: &Player) -> anyhow::Result<GmResult> {
        let rows = self.store.matches_of(player.id).await?;
        Ok(GmResult::Player {
            name: player.name.clone(),
            addresses: player.addresses.clone(),
            bouncing: player.bouncing,
            matches: rows.into_iter().map(|row| row.id).collect(),
        })
    }

    pub(super) async fn change_player(
        &self,
        player: Player,
        check: bool,
        settlement: &mut Settlement,
    ) -> anyhow::Result<GmResult> {
        if check {
            return Ok(GmResult::Would);
        }
        let shown = self.shown(&player).await?;
        settlement.players.push(player);
        Ok(shown)
    }

    /// Where a player of this id holds a seat, he is called and written to as `player` from now on.
    pub(super) async fn rename_in_matches(
        &self,
        id: i64,
        player: &Player,
        known: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        for row in self.store.matches_of(id).await? {
            let Some(working) = self.load(&row.id, known).await? else { continue };
            for seat in Seat::BOTH {
                if working.seats[seat].player.id == id && working.game_match.stage != Stage::Over {
                    working.seats[seat].player = player.clone();
                    let act = Act::Rename { seat, name: player.name.clone() };
                    self.act_on(&row.id, &act, None, known, settlement).await?;
                    break;
                }
            }
        }
        Ok(())
    }

    pub(super) async fn merge(
        &self,
        gone: &Address,
        into: &Address,
        check: bool,
        known: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<GmResult> {
        let (Some(old), Some(new)) =
            (self.player_now(gone, settlement).await?, self.player_now(into, settlement).await?)
        else {
            let missing = self.store.player_by_address(gone.as_str()).await?.map_or(gone, |_| into);
            return Ok(no_player(missing));
        };
        let involved = |id: i64| settlement.merged.iter().any(|(gone, into)| *gone == id || *into == id);
        let (ours, theirs) = (self.store.matches_of(old.id).await?, self.store.matches_of(new.id).await?);
        let both = ours.iter().any(|row| theirs.iter().any(|other| other.id == row.id));
        if old.id == new.id || both || involved(old.id) || involved(new.id) {
            let says = format!("{} and {} cannot become one player.", old.name, new.name);
            return Ok(GmResult::Refused { says });
        }
        if check {
            return Ok(GmResult::Would);
        }
        self.rename_in_matches(old.id, &new, known, settlement).await?;
        settlement.merged.push((old.id, new.id));
        let mut addresses = new.addresses.clone();
        addresses.extend(old.addresses);
        let matches = theirs.into_iter().chain(ours).map(|row| row.id).collect();
        Ok(GmResult::Player { name: new.name, addresses, bouncing: new.bouncing, matches })
    }

    /// Letters to the player arrive again: none of his seats is spared any more.
    pub(super) async fn clear_bounces(
        &self,
        player: &Player,
        known: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let rows = self.store.matches_of(player.id).await?;
        for row in rows {
            let Some(working) = self.load(&row.id, known).await? else { continue };
            for seat in Seat::BOTH {
                if working.seats[seat].player.id == player.id && working.game_match.bouncing[seat] {
                    self.act_on(&row.id, &Act::Restored(seat), None, known, settlement).await?;
                    break;
                }
            }
        }
        Ok(())
    }
}

/// The player as the settlement leaves him.
pub(super) fn latest(player: Player, settlement: &Settlement) -> Player {
    settlement.players.iter().rev().find(|saved| saved.id == player.id).cloned().unwrap_or(player)
}

pub(super) fn no_player(address: &Address) -> GmResult {
    GmResult::NoPlayer { address: address.as_str().to_owned() }
}
