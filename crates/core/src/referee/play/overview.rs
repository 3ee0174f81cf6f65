//! The fields of a match that lists show, so that listing needs no snapshot.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::game_match::{Match, Stage};
use crate::game::any::GameKind;
use crate::game::{BySeat, Due, Outcome, Seat};
use crate::ledger::Head;
use crate::zone::Zone;

/// A match as lists show it; nothing that the rules hide from either side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchOverview {
    /// Such as `QZ-7K3M`.
    pub id: String,
    pub game: GameKind,
    pub stage: Stage,
    pub players: BySeat<String>,
    /// The level at which the house plays the seat. `None`: a player holds it.
    pub house: BySeat<Option<String>>,
    /// The zone of the match's times.
    pub zone: Zone,
    pub options: BTreeMap<String, String>,
    /// `None` once the match is over.
    pub due: Option<Due>,
    pub awaited: Vec<Seat>,
    pub deadline: Option<DateTime<Utc>>,
    pub outcome: Option<Outcome>,
    /// Whether the GM was asked to decide.
    pub asked_gm: bool,
    /// Whether our letters to the seat bounce.
    pub bouncing: BySeat<bool>,
    /// Whether an automatic absence note came from the seat, and no letter since.
    pub away: BySeat<bool>,
    pub protest: Option<Seat>,
    /// See [`Terms::advance`](crate::referee::Terms::advance).
    pub advance: bool,
    /// Whether its result is rated.
    pub rated: bool,
    /// Whether late seats take days of a bank.
    pub has_bank: bool,
    /// The event that it belongs to.
    pub event: Option<String>,
    pub head: Head,
}

/// What a match asks of a GM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ask {
    /// To decide on the protest of this seat. Until then, nobody can play on.
    Protest { by: Seat },
    /// To decide what becomes of seats that are late. Until then, deadlines are not enforced.
    Decision,
    /// Nothing yet: seats are late, and the grace runs.
    Late,
}

impl MatchOverview {
    /// Returns a phrase about who won and why, once the match is over.
    pub fn result(&self) -> Option<String> {
        let outcome = self.outcome.as_ref()?;
        Some(match outcome.winner {
            Some(winner) if self.house[winner].is_some() => {
                let name = &self.players[winner];
                format!("The {} won ({})", name.strip_prefix("the ").unwrap_or(name), outcome.reason)
            }
            Some(winner) => format!("{} won ({})", self.players[winner], outcome.reason),
            None => format!("Nobody won ({})", outcome.reason),
        })
    }

    /// Returns what the match asks of a GM, if anything. While the house has to move, nobody is late.
    pub fn ask(&self, now: DateTime<Utc>) -> Option<Ask> {
        match self.protest {
            Some(by) => Some(Ask::Protest { by }),
            None if self.stage != Stage::Running || self.awaits_house() => None,
            None if self.asked_gm => Some(Ask::Decision),
            None => self.deadline.filter(|deadline| *deadline <= now).map(|_| Ask::Late),
        }
    }

    /// Whether the match runs, and its deadline has passed.
    pub fn is_late(&self, now: DateTime<Utc>) -> bool {
        matches!(self.ask(now), Some(Ask::Decision | Ask::Late))
    }

    /// Whether the match waits for the house to move.
    pub fn awaits_house(&self) -> bool {
        self.stage == Stage::Running && self.awaited.iter().any(|seat| self.house[*seat].is_some())
    }
}

impl Match {
    pub fn overview(&self) -> MatchOverview {
        let options = self.state.options().into_iter();
        MatchOverview {
            id: self.id.clone(),
            game: self.game,
            stage: self.stage,
            players: self.players.clone(),
            house: self.house.clone(),
            zone: self.terms.zone,
            options: options.map(|(name, value)| (name.to_owned(), value)).collect(),
            due: self.due(),
            awaited: self.awaited_for(None),
            deadline: self.deadline,
            outcome: self.outcome(),
            asked_gm: self.asked_gm,
            bouncing: self.bouncing,
            away: self.away,
            protest: self.protest,
            advance: self.terms.advance,
            rated: self.terms.rated,
            has_bank: self.terms.bank > 0,
            event: self.terms.event.clone(),
            head: self.head,
        }
    }
}
