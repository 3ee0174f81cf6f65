//! Forgets a player whose matches are over: the addresses, the name, and the bytes of all letters from and to the player.
//!
//! The chains of those matches stay whole and can still be walked. What the letters would prove is withheld from then on,
//! so everything is verified once more before.

use std::collections::BTreeSet;

use anyhow::{Context as _, bail, ensure};

use super::Office;
use super::club::fact_in;
use super::decide::stored::snapshot;
use crate::audit::{Finding, Place};
use crate::club::{BookFact, CLUB};
use crate::ledger::Source;
use crate::referee::Stage;
use crate::store::{ForgottenMatch, ForgottenPlayer, MatchRow, StoreError};

/// Maximum attempts to forget a player while others write to the player's matches or to the club's book.
const MAX_TRIES: u32 = 5;

/// The kind of the entries of the club's book that say who was forgotten.
const FORGOTTEN: &str = "Forgotten";

impl Office {
    /// Forgets the player with this number, and returns the matches that the player played in.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if there is no such player, if a match is not over or does not verify, if a
    /// letter from or to the player still waits, or if the database does not answer.
    pub async fn forget(&self, number: i64) -> anyhow::Result<Vec<String>> {
        for _ in 0..MAX_TRIES {
            let forgotten = self.to_forget(number).await?;
            match self.store.forget_player(&forgotten).await {
                Ok(()) => return Ok(forgotten.traces.matches),
                Err(StoreError::Stale(_)) => {}
                Err(error) => return Err(error.into()),
            }
        }
        bail!("others write to the matches of {} all the time", forgotten_name(number))
    }

    /// Returns everything that is deleted or changed when the player with this number is forgotten.
    async fn to_forget(&self, number: i64) -> anyhow::Result<ForgottenPlayer> {
        let name = forgotten_name(number);
        let players = self.store.players().await?;
        let player = players.into_iter().find(|player| player.id == number);
        let player = player.with_context(|| format!("there is no player {name}"))?;
        ensure!(!player.addresses.is_empty(), "{name} has no address: nothing is left to forget");
        let is_house = player.addresses.iter().any(|address| address.starts_with("house:"));
        ensure!(!is_house, "{name} is the house");
        let traces = self.store.traces_of(number).await?;
        let waiting = traces.waiting;
        ensure!(
            waiting == 0,
            "{waiting} letters from or to {name} wait to be ruled on or sent; try again later"
        );
        let mut matches = Vec::new();
        for row in self.store.matches(&traces.matches).await? {
            matches.push(self.match_to_forget(row, number, &name).await?);
        }
        let at = self.now();
        let fact = BookFact::Forgotten { player: number, matches: Some(traces.matches.clone()) };
        let by = Source::Gm { name: self.config.club.gm.first().name.clone(), act: None };
        // In the same transaction: nothing may be gone that the club's book does not tell of.
        let book = self.club_change(&[fact], &by, at).await?;
        Ok(ForgottenPlayer { id: number, name, traces, matches, book, at })
    }

    /// Returns a match as it is listed once its player is forgotten, if it is over and verifies.
    async fn match_to_forget(
        &self,
        row: MatchRow,
        player: i64,
        name: &str,
    ) -> anyhow::Result<ForgottenMatch> {
        let mut game_match = snapshot(&row.id, &row.snapshot)?;
        let (id, version) = (row.id, row.version);
        ensure!(game_match.stage == Stage::Over, "{id} is not over, and {name} plays in it or did");
        let verdict = self.verify(&id, &|_| ()).await?;
        if let Some(finding) = verdict.findings.first() {
            bail!("{id} does not verify; {}: {}", finding.place, finding.what);
        }
        ensure!(verdict.head == game_match.head, "{id} was ruled on while it was verified");
        for seat in self.store.seats_of(std::slice::from_ref(&id)).await? {
            if seat.player.id == player {
                name.clone_into(&mut game_match.players[seat.seat]);
            }
        }
        Ok(ForgottenMatch {
            snapshot: serde_json::to_string(&game_match)?,
            first_name: game_match.players.first.clone(),
            second_name: game_match.players.second.clone(),
            id,
            version,
        })
    }

    /// Returns who is stored as forgotten in a match, without the club's book saying so.
    pub(super) async fn untold_of_forgotten(
        &self,
        match_id: &str,
        who: &str,
    ) -> anyhow::Result<Vec<Finding>> {
        let told = self.forgotten_by_book(match_id).await?;
        let untold = who.split(", ").filter(|name| !told.contains(*name));
        let findings = untold.map(|name| {
            let what = format!(
                "it is stored as one of {name}, and the club's book does not say that {name} was forgotten"
            );
            Finding { place: Place::Kept("the match"), what }
        });
        Ok(findings.collect())
    }

    /// Returns who was forgotten in a match according to the club's book.
    async fn forgotten_by_book(&self, match_id: &str) -> anyhow::Result<BTreeSet<String>> {
        let mut names = BTreeSet::new();
        for json in self.store.book_entries_of_kind(CLUB, FORGOTTEN).await? {
            if let Some((_, BookFact::Forgotten { player, matches })) = fact_in(&json)
                && matches.is_none_or(|matches| matches.iter().any(|id| id == match_id))
            {
                names.insert(forgotten_name(player));
            }
        }
        Ok(names)
    }
}

/// What a player is called who was forgotten: `P-12`.
fn forgotten_name(number: i64) -> String {
    format!("P-{number}")
}
