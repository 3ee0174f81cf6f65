//! The house's turns, found on a thread of their own and committed when they are found: no letter waits for them. What
//! is due from the house stands in the matches themselves, so that nothing is lost when the program ends in between.

use std::sync::Arc;

use anyhow::Context;
use tokio::task::spawn_blocking;

use super::anybody::{Asker, drawn};
use super::settle::snapshot;
use super::{Holder, NamedAddress, NewMatch, Office, Pause, rest, until};
use crate::game::any::GameKind;
use crate::game::{BySeat, HouseLevel, Seat};
use crate::ledger::Source;
use crate::letter::Address;
use crate::post::ShutdownSignal;
use crate::referee::{Cause, HouseMatch, Match, OfferRejection, Reply, Stage};
use crate::store::Settlement;

/// Matches looked at together.
const TOGETHER: u32 = 100;

/// So often a turn is tried anew when somebody else has changed the match meanwhile.
const TRIES: usize = 20;

/// So many matches against the house one player may have at a time.
const MATCHES_AT_MOST: usize = 10;

impl Office {
    /// Plays for the house, until `stop`.
    pub(super) async fn house_until(self: Arc<Self>, stop: ShutdownSignal) -> anyhow::Result<()> {
        let mut pause = Pause::new();
        while !stop.is_set() {
            match until(&stop, self.house_all()).await {
                Ok(()) => {
                    pause = Pause::new();
                    rest(&self.house, &stop).await;
                }
                Err(error) => pause.after_failure("the house cannot play", &error, &stop).await,
            }
        }
        Ok(())
    }

    /// Plays for the house wherever it is due.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn house_all(&self) -> anyhow::Result<()> {
        let mut last = None;
        loop {
            let due = self.store.matches_due(self.now(), last.as_ref(), TOGETHER).await?;
            for row in &due {
                let game_match = snapshot(row)?;
                if game_match.house_due().is_some() {
                    self.house_plays(game_match).await?;
                }
            }
            let Some(behind) = due.into_iter().last() else { return Ok(()) };
            last = Some(behind);
        }
    }

    /// Plays the house's turn in a match.
    async fn house_plays(&self, game_match: Match) -> anyhow::Result<()> {
        let (match_id, phase_no) = (game_match.id.clone(), game_match.phase_no);
        let found = spawn_blocking(move || game_match.house_turn()).await;
        // A fault in one match stops no other.
        let Ok(Some(act)) = found else {
            tracing::error!(match_id, "the house finds no turn");
            return Ok(());
        };
        // The turn stays the same whatever is asked in the match meanwhile, as long as the phase is open.
        for _ in 0..TRIES {
            let row = self.match_row(&match_id).await?;
            let cause = |_: &Match| Cause::House { phase_no, act: &act };
            if self.rule_on(row, cause, self.now()).await?.is_some() {
                return Ok(());
            }
            if snapshot(&self.match_row(&match_id).await?)?.phase_no != phase_no {
                return Ok(());
            }
        }
        tracing::warn!(match_id, "the house's turn was not taken");
        Ok(())
    }

    /// Opens a match of the asker against the house.
    pub(super) async fn challenge_house(
        &self,
        asker: &Asker,
        wanted: Result<HouseMatch, OfferRejection>,
        settlement: &mut Settlement,
    ) -> anyhow::Result<Result<Reply, OfferRejection>> {
        let wanted = match wanted {
            Ok(wanted) if asker.proven => wanted,
            Ok(_) => return Ok(Err(OfferRejection::Unproven)),
            Err(why) => return Ok(Err(why)),
        };
        let known = self.store.player_by_address(asker.address()).await?.map(|player| player.id);
        let before = self.against_the_house(known).await?;
        let opened = settlement.seats.iter().filter(|row| Some(row.player_id) == known).count();
        let running = before.iter().filter(|(game_match, _)| game_match.stage != Stage::Over).count();
        if running + opened >= MATCHES_AT_MOST {
            return Ok(Err(OfferRejection::HouseBusy { most: MATCHES_AT_MOST }));
        }
        let level = match wanted.level {
            Some(level) => level,
            None => match self.config.house.level(wanted.game, None) {
                Ok(level) => self.advanced(level, wanted.game, &before),
                Err(why) => return Ok(Err(why)),
            },
        };
        let address = Address::parse(asker.address()).context("the address of who asks")?;
        let player = Holder::Player(NamedAddress { name: asker.name.clone(), address });
        let new = NewMatch {
            game: wanted.game,
            choices: wanted.choices(level),
            players: match drawn(wanted.seat)? {
                Seat::First => BySeat::new(player, Holder::House(level)),
                Seat::Second => BySeat::new(Holder::House(level), player),
            },
            terms: wanted.terms(&self.config.terms),
        };
        let game_match = self.open_into(&new, Source::Letter(asker.letter), settlement).await?;
        Ok(Ok(Reply::Joined { match_id: game_match.id }))
    }

    /// A player's matches against the house, and his seat in each.
    async fn against_the_house(&self, player_id: Option<i64>) -> anyhow::Result<Vec<(Match, Seat)>> {
        let Some(id) = player_id else { return Ok(Vec::new()) };
        let rows = self.store.matches_of(id).await?;
        let matches = rows.iter().map(snapshot).collect::<anyhow::Result<Vec<Match>>>()?;
        let seat =
            |game_match: &Match| Seat::BOTH.into_iter().find(|seat| game_match.house[seat.other()].is_some());
        Ok(matches
            .into_iter()
            .filter_map(|game_match| seat(&game_match).map(|seat| (game_match, seat)))
            .collect())
    }

    /// Where the club has it so, the level above the highest that the player has beaten, but no lower one than `level`.
    fn advanced(
        &self,
        level: &'static HouseLevel,
        game: GameKind,
        before: &[(Match, Seat)],
    ) -> &'static HouseLevel {
        let place = |name: &str| game.levels().iter().position(|level| level.name == name);
        let beaten = before.iter().filter(|(game_match, seat)| {
            game_match.game == game
                && game_match.state.outcome().is_some_and(|outcome| outcome.winner == Some(*seat))
        });
        let beaten =
            beaten.filter_map(|(game_match, seat)| place(game_match.house[seat.other()].as_deref()?)).max();
        let next = beaten.filter(|_| self.config.house.advance).map(|beaten| beaten + 1);
        let least = place(level.name).unwrap_or_default();
        let last = game.levels().len() - 1;
        &game.levels()[next.unwrap_or_default().max(least).min(last)]
    }

    /// Wakes the loops that have something to do after this was committed.
    pub(super) fn committed(&self, settlement: &Settlement) {
        if !settlement.dispatches.is_empty() {
            self.dispatches.notify_one();
        }
        if settlement.matches.iter().any(|row| row.wake_at.is_some_and(|moment| moment <= settlement.at)) {
            self.house.notify_one();
        }
    }
}
