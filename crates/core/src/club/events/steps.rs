//! The steps that are due in an event, one at a time, so that each is one transaction.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};

use super::event::{Event, EventStage, Season};
use super::plan::Unfinished;
use super::{seasons, sections};
use crate::ledger::book::BookFact;

/// Time before the end of a season at which players are told how unfinished matches would be decided.
pub const WARNED: TimeDelta = TimeDelta::days(10);

/// What players and GMs were told about an event without an entry in its book.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Mailed {
    /// The GM was asked, because there were too few entrants for this season.
    pub too_few: u32,
    /// Players of this season were told how unfinished matches would be decided at its end.
    pub ending: u32,
    /// The GM was asked to decide the unfinished matches of this season.
    pub unfinished: u32,
    /// The players whose matches of a season were resigned, because they left or were struck.
    pub resigned: Vec<(u32, i64)>,
    /// The end of the running season, and the local time that players read as it.
    pub ends: Option<(DateTime<Utc>, NaiveDateTime)>,
}

/// A step that is due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The sections of the next season are drawn.
    Draw,
    /// There are too few entrants: the GM is asked.
    TooFew,
    /// The matches of this section open; others may open with it.
    Open(usize),
    /// The running matches of this player, who left or was struck, are resigned.
    Resign(i64),
    /// Players are told how unfinished matches would be decided at the end.
    Warn,
    /// The season is at its end, but these matches are still running: in each, the player who used less time
    /// wins.
    Decide(Vec<String>),
    /// The season is at its end, but matches are still running, and the GM decides.
    AskGm,
    /// The standings are closed.
    Close,
}

impl Event {
    /// Returns the step that is due by `at`.
    pub fn step(&self, told: &Mailed, at: DateTime<Utc>) -> Option<Step> {
        match self.stage {
            EventStage::Entries => self.step_before_season(told, at),
            EventStage::Running => self.step_of_season(self.running()?, told, at),
            EventStage::Over | EventStage::Cancelled => None,
        }
    }

    /// Returns the time at which something is due next, apart from results.
    pub fn wake_at(&self, told: &Mailed) -> Option<DateTime<Utc>> {
        let soon = |moment: DateTime<Utc>| self.step(told, moment).is_some().then_some(moment);
        match (self.stage, self.running()) {
            (EventStage::Entries, _) => soon(self.opens.unwrap_or(DateTime::UNIX_EPOCH)),
            (EventStage::Running, Some(season)) => {
                let moments = [DateTime::UNIX_EPOCH, season.ends - WARNED, season.ends];
                moments.into_iter().find_map(soon)
            }
            _ => None,
        }
    }

    /// Returns the number of players that the next season would have.
    pub fn next_entrants(&self) -> usize {
        self.next_players().len()
    }

    /// Returns the players that the next season would have, in no particular order.
    pub fn next_players(&self) -> Vec<i64> {
        seasons::next_list(self, &BTreeMap::new())
    }

    fn next_no(&self) -> u32 {
        self.seasons.last().map_or(1, |season| season.no + 1)
    }

    fn step_before_season(&self, told: &Mailed, at: DateTime<Utc>) -> Option<Step> {
        let count = self.next_entrants();
        let is_full = self.plan.max_entrants.is_some_and(|most| count >= most);
        let is_first = self.seasons.is_empty();
        let has_come =
            self.opens.is_some_and(|opens| opens <= at) || is_first && self.plan.opens.is_none() && is_full;
        if !has_come {
            return None;
        }
        if count >= self.least() {
            return Some(Step::Draw);
        }
        (told.too_few < self.next_no()).then_some(Step::TooFew)
    }

    fn step_of_season(&self, season: &Season, told: &Mailed, at: DateTime<Utc>) -> Option<Step> {
        if let Some(game) = season.games.iter().find(|game| game.is_unopened()) {
            return Some(Step::Open(game.section));
        }
        let leaver = self
            .gone
            .iter()
            .find(|player| season.list.contains(player) && !told.resigned.contains(&(season.no, **player)));
        if let Some(player) = leaver {
            return Some(Step::Resign(*player));
        }
        let unfinished = || season.games.iter().filter(|game| game.result.is_none());
        if unfinished().next().is_none() {
            return Some(Step::Close);
        }
        if at >= season.ends {
            // Some of them are decided at a time, in order.
            let mut running: Vec<String> = unfinished().filter_map(|game| game.match_id.clone()).collect();
            running.sort_unstable();
            return match self.plan.unfinished {
                Unfinished::LessTime => Some(Step::Decide(running)),
                Unfinished::Gm => (told.unfinished < season.no).then_some(Step::AskGm),
            };
        }
        (at >= season.ends - WARNED && told.ending < season.no).then_some(Step::Warn)
    }

    /// Returns the draw of the next season.
    pub fn draw(&self, figures: &BTreeMap<i64, i64>, at: DateTime<Utc>) -> BookFact {
        let list = seasons::next_list(self, figures);
        let met = self.season().map(Season::pairs).unwrap_or_default();
        let sections = sections::draw(self.plan.format, &list, self.plan.section_size, &met);
        let figures = figures.iter().filter(|(player, _)| list.contains(player));
        BookFact::SectionsDrawn {
            season: self.next_no(),
            figures: figures.map(|(player, figure)| (*player, *figure)).collect::<Vec<_>>(),
            list,
            sections,
            ends: at + self.plan.season(),
            given: false,
        }
    }

    /// Returns the fact that closes the running season.
    pub fn closing(&self) -> Option<BookFact> {
        let season = self.running()?;
        Some(BookFact::StandingsClosed {
            season: season.no,
            places: season.tables(),
            vanished: season.vanishing().into_iter().collect(),
        })
    }
}
