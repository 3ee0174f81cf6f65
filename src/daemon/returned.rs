//! Letters of ours that did not arrive: bounces, absence notes, and dispatches that were given up. A seat whose letters
//! come back is spared the deadline until the GM has decided.

use super::Office;
use super::people::latest;
use super::settle::Known;
use crate::letter::{Automatic, AutomaticKind};
use crate::referee::{Act, Cause};
use crate::report::ClubLetter;
use crate::store::{Claimed, DispatchRow, Player, Settlement, StoreError};

/// So often a mark is tried anew when somebody else has changed the match meanwhile.
const TRIES: usize = 20;

impl Office {
    /// Marks the seats whose letters a machine's letter is about.
    pub(super) async fn note_automatic(
        &self,
        automatic: &Automatic,
        known: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let failed = match automatic.kind {
            AutomaticKind::Failed => true,
            AutomaticKind::Absence => false,
            AutomaticKind::Delayed | AutomaticKind::Other => return Ok(()),
        };
        for row in self.store.dispatches_named(automatic.about()).await? {
            self.mark(&row, failed, known, settlement).await?;
        }
        Ok(())
    }

    /// Marks the seat that a dispatch went to. Two bounces of one dispatch count once, and one to somebody who no
    /// longer holds the seat counts for nothing.
    async fn mark(
        &self,
        row: &DispatchRow,
        failed: bool,
        known: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        if row.returned || settlement.returned.contains(&row.message_id) {
            return Ok(());
        }
        if failed {
            settlement.returned.push(row.message_id.clone());
        }
        let (Some(id), Some(seat)) = (&row.match_id, row.seat) else { return Ok(()) };
        let Some(working) = self.load(id, known).await? else { return Ok(()) };
        let player = &working.seats[seat].player;
        if !player.addresses.contains(&row.recipient) {
            return Ok(());
        }
        let player = latest(player.clone(), settlement);
        let act = if failed { Act::Returned(seat) } else { Act::Away(seat) };
        let ruling = self.rule(
            &working.game_match,
            &Cause::House { phase_no: working.game_match.phase_no, act: &act },
            self.now(),
        );
        if ruling.rejection.is_none() {
            tracing::info!(match_id = id, %seat, failed, "a letter of ours was not read");
            self.put(working, ruling, None, settlement).await?;
        }
        if failed && !player.bouncing {
            settlement.players.push(Player { bouncing: true, ..player });
        }
        Ok(())
    }

    /// A dispatch was given up: its seat is marked, and the GM told at once.
    pub(super) async fn note_given_up(&self, claimed: &Claimed, error: &str) -> anyhow::Result<()> {
        let own = claimed.recipient == self.config.club.gm.address.as_str();
        for _ in 0..TRIES {
            let mut known = Known::default();
            let mut settlement = Settlement { at: self.now(), ..Settlement::default() };
            for row in self.store.dispatches_named(std::slice::from_ref(&claimed.message_id)).await? {
                self.mark(&row, true, &mut known, &mut settlement).await?;
            }
            known.put_on(&mut settlement)?;
            if !own {
                let plain = ClubLetter::GivenUp {
                    recipient: claimed.recipient.clone(),
                    kind: claimed.kind,
                    match_id: claimed.match_id.clone(),
                    error: error.to_owned(),
                };
                settlement.dispatches.push(self.gm_dispatch(&plain, &given_up(claimed.id), None).await?);
            }
            match self.store.commit(&settlement).await {
                Ok(()) => return Ok(()),
                Err(StoreError::Stale(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}

/// What names the letter to the GM about a dispatch that was given up.
pub(super) fn given_up(dispatch_id: i64) -> String {
    format!("f.{dispatch_id}")
}
