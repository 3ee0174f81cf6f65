//! The GM's instructions about players: show, rename, merge, block, and mark as reachable again.

use super::desk::Desk;
use super::mail::PlainEnvelope;
use super::openings::fit_name;
use super::player_settings::Changer;
use super::rows::LoadedMatch;
use super::rows::{Decided, or_lacking};
use crate::game::Seat;
use crate::letter::{Address, Digest};
use crate::referee::{Act, DispatchKind, Stage};
use crate::report::{ClubLetter, GmResult};
use crate::store::{Player, Standing};

impl Desk<'_> {
    pub fn show_player(&self, player: &Player) -> Decided<GmResult> {
        Ok(GmResult::Player {
            name: player.name.clone(),
            addresses: player.addresses.clone(),
            bouncing: player.bouncing,
            blocked: self.is_blocked(player)?,
            matches: self.match_ids_of(player.id)?,
        })
    }

    pub fn rename_player(&mut self, address: &Address, name: &str, check: bool) -> Decided<GmResult> {
        let Some(player) = self.player(address.as_str())? else { return Ok(no_player(address)) };
        if let Err(says) = fit_name(name) {
            return Ok(GmResult::Refused { says });
        }
        if check {
            return Ok(GmResult::Would);
        }
        let player = Player { name: name.to_owned(), ..player };
        let renamed = self.spread_player(player.id, &player, Changer::Gm)?;
        self.tell_renamed(&renamed, &player, Changer::Gm)?;
        self.save_player(player)
    }

    /// Notes that letters to a player arrive again, in each match where they bounced.
    pub fn clear_bounces(&mut self, address: &Address, check: bool) -> Decided<GmResult> {
        let Some(player) = self.player(address.as_str())? else { return Ok(no_player(address)) };
        if check {
            return Ok(GmResult::Would);
        }
        for loaded in self.matches_with(player.id)? {
            let bouncing =
                |seat: &Seat| loaded.seats[*seat].player.id == player.id && loaded.game_match.bouncing[*seat];
            if let Some(seat) = Seat::BOTH.into_iter().find(bouncing) {
                self.act_as_gm(loaded, &Act::Restored(seat), None)?;
            }
        }
        self.draft.settlement.requeued.extend(player.addresses.iter().cloned());
        self.save_player(Player { bouncing: false, ..player })
    }

    /// Lets the letters of a person go unread, or reads them again. Whoever is blocked is told once.
    pub fn block_player(&mut self, address: &Address, on: bool, check: bool) -> Decided<GmResult> {
        let player = self.player(address.as_str())?;
        let mut addresses = player.as_ref().map(|player| player.addresses.clone()).unwrap_or_default();
        if !addresses.iter().any(|own| own == address.as_str()) {
            addresses.push(address.as_str().to_owned());
        }
        let mut standings = Vec::new();
        for own in &addresses {
            standings.extend(or_lacking(self.standing(own))?);
        }
        let running = match &player {
            Some(player) => or_lacking(self.running_matches_of(player.id))?,
            None => None,
        };
        self.rows.check()?;
        if check {
            return Ok(GmResult::Would);
        }
        let is_news = standings.iter().all(|standing| standing.blocked_since.is_none());
        if on && is_news {
            self.tell_blocked(address, player.as_ref())?;
        }
        let blocked_since = on.then(|| self.at());
        for (own, standing) in addresses.into_iter().zip(standings) {
            let standing = Standing { blocked_since, ..standing };
            self.draft.settlement.restraints.standings.insert(own, standing);
        }
        Ok(GmResult::Blocked {
            address: address.as_str().to_owned(),
            on,
            matches: running.unwrap_or_default(),
        })
    }

    fn tell_blocked(&mut self, address: &Address, player: Option<&Player>) -> Decided<()> {
        let unique = format!("b.{}.{}", Digest::of(address.as_str().as_bytes()), self.at().timestamp());
        let name = player.map_or("", |player| &player.name);
        let to = player.and_then(|player| player.addresses.first()).map_or(address.as_str(), String::as_str);
        let envelope = PlainEnvelope { name, address: to, unique: &unique, kind: DispatchKind::Notice };
        let gm = self.acting_gm().address.as_str().to_owned();
        let dispatch = self.plain_dispatch(&ClubLetter::Blocked { gm }, &envelope)?;
        self.draft.settlement.dispatches.push(dispatch);
        Ok(())
    }

    pub fn running_matches_of(&self, player_id: i64) -> Decided<Vec<String>> {
        let matches = self.rows.matches_of(player_id)?.iter();
        let running = matches.filter(|(_, game_match)| game_match.stage != Stage::Over);
        Ok(running.map(|(_, game_match)| game_match.id.clone()).collect())
    }

    fn save_player(&mut self, player: Player) -> Decided<GmResult> {
        let shown = self.show_player(&player)?;
        self.draft.settlement.players.push(player);
        Ok(shown)
    }

    /// Returns a player's matches as this transaction leaves them so far, without those that this program cannot rule
    /// on.
    pub fn matches_with(&self, player_id: i64) -> Decided<Vec<LoadedMatch>> {
        let mut matches = Vec::new();
        for (_, game_match) in self.rows.matches_of(player_id)? {
            matches.extend(or_lacking(self.game_match(&game_match.id))?.flatten().cloned());
        }
        self.rows.check()?;
        Ok(matches)
    }

    fn is_blocked(&self, player: &Player) -> Decided<bool> {
        let Some(address) = player.addresses.first() else { return Ok(false) };
        Ok(self.standing(address)?.blocked_since.is_some())
    }

    fn match_ids_of(&self, player_id: i64) -> Decided<Vec<String>> {
        let matches = self.rows.matches_of(player_id)?.iter();
        Ok(matches.map(|(_, game_match)| game_match.id.clone()).collect())
    }

    /// Merges two players: `into` takes over the seats and addresses of `gone`.
    pub fn merge_players(&mut self, gone: &Address, into: &Address, check: bool) -> Decided<GmResult> {
        let Some(old) = self.player(gone.as_str())? else { return Ok(no_player(gone)) };
        let Some(new) = self.player(into.as_str())? else { return Ok(no_player(into)) };
        let is_merged = |id: i64| {
            self.added(|settlement| &settlement.merged).any(|(gone, into)| *gone == id || *into == id)
        };
        let of_old = self.match_ids_of(old.id)?;
        let of_new = self.match_ids_of(new.id)?;
        let play_each_other = of_old.iter().any(|id| of_new.contains(id));
        if old.id == new.id || play_each_other || is_merged(old.id) || is_merged(new.id) {
            let says = format!("{} and {} cannot become one player.", old.name, new.name);
            return Ok(GmResult::Refused { says });
        }
        if check {
            return Ok(GmResult::Would);
        }
        let matches = of_new.into_iter().chain(of_old).collect();
        let renamed = self.spread_player(old.id, &new, Changer::Gm)?;
        self.tell_renamed(&renamed, &new, Changer::Gm)?;
        self.draft.settlement.merged.push((old.id, new.id));
        let mut addresses = new.addresses.clone();
        addresses.extend(old.addresses);
        let merged = Player { addresses: addresses.clone(), ..new.clone() };
        self.hold_seats_of(&[new.id, old.id], &merged, None)?;
        let blocked = self.is_blocked(&new)?;
        Ok(GmResult::Player { name: new.name, addresses, bouncing: new.bouncing, blocked, matches })
    }
}

pub fn no_player(address: &Address) -> GmResult {
    GmResult::NoPlayer { address: address.as_str().to_owned() }
}
