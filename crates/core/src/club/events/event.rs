//! The state of an event, as its book shows it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::RangeInclusive;

use chrono::{DateTime, TimeDelta, Utc};

use super::keys::Format;
use super::plan::Plan;
use super::sections::{self, Breaks, SectionResult, promotion_order, table};
use crate::game::{Seat, named_enum};
use crate::ledger::book::{
    self, BookCause, BookEntry, BookFact, BookOutcome, BookPlace, BookResult, ChainedBookEntry,
};
use crate::ledger::{Head, canonical};
use crate::letter::Digest;
use crate::referee::Terms;

/// The format of books that this program writes and reads.
pub const FORMAT: u32 = 1;

/// The time between two seasons.
const BETWEEN: TimeDelta = TimeDelta::days(7);

named_enum! {
    /// The stage of an event.
    pub enum EventStage {
        /// Waits for entries or for its opening day, before the first season or between two seasons.
        Entries = "entries",
        Running = "running",
        Over = "over",
        Cancelled = "cancelled",
    }
}

/// An event, folded from its book.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub plan: Plan,
    /// The terms of its matches.
    pub terms: Terms,
    pub stage: EventStage,
    /// Nobody can enter, and no season follows. Of a cup whose first round was drawn, the rounds follow
    /// nevertheless.
    pub closed: bool,
    /// The time of the next draw; `None` if the draw takes place as soon as the event is full, or when a GM
    /// opens it.
    pub opens: Option<DateTime<Utc>>,
    /// The players who are in, in the order of entry.
    pub entrants: Vec<i64>,
    /// The players who left or were struck since the last draw.
    pub gone: BTreeSet<i64>,
    pub seasons: Vec<Season>,
    /// The acts of GMs since the last season was closed, except imports: the fact, the GM's name, and the
    /// reason.
    pub acts: Vec<(BookFact, String, String)>,
    pub head: Head,
}

/// A season: its draw, its matches, and its tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Season {
    pub no: u32,
    pub list: Vec<i64>,
    pub figures: BTreeMap<i64, i64>,
    pub sections: Vec<Vec<i64>>,
    pub drawn_at: DateTime<Utc>,
    pub ends: DateTime<Utc>,
    pub games: Vec<Pairing>,
    /// The tables, once the season is closed.
    pub places: Option<Vec<Vec<BookPlace>>>,
    pub vanished: BTreeSet<i64>,
    /// The places that changed hands since the season was closed, each as its old and its new holder, in this
    /// order. The next draw reads them; the tables name those who played.
    pub heirs: Vec<(i64, i64)>,
}

/// One match of a section, opened or not.
#[derive(Clone, Debug, PartialEq)]
pub struct Pairing {
    pub section: usize,
    pub first: i64,
    pub second: i64,
    pub match_id: Option<String>,
    pub result: Option<BookResult>,
}

/// The reason why a book cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("entry #{seq}: {what}")]
pub struct BookError {
    pub seq: u64,
    pub what: String,
}

impl Event {
    /// Folds a book. `same` maps a player's number to the present one, which differs if players were merged.
    /// The entries are read with the numbers as they are written, because two who are one player now may have
    /// entered, left and played as two.
    ///
    /// # Errors
    /// [`BookError`] if an entry does not fit those before it.
    pub fn fold(entries: &[BookEntry], same: &dyn Fn(i64) -> i64) -> Result<Event, BookError> {
        let Some((first, rest)) = entries.split_first() else {
            return Err(BookError { seq: 1, what: "the book is empty".to_owned() });
        };
        let BookFact::EventAnnounced { format: FORMAT, plan, terms, opens } = &first.fact else {
            return Err(bad_start("no announcement of a format that this program knows".to_owned()));
        };
        let mut event = Event {
            plan: serde_json::from_value(plan.clone()).map_err(|error| bad_start(error.to_string()))?,
            terms: serde_json::from_value(terms.clone()).map_err(|error| bad_start(error.to_string()))?,
            stage: EventStage::Entries,
            closed: false,
            opens: *opens,
            entrants: Vec::new(),
            gone: BTreeSet::new(),
            seasons: Vec::new(),
            acts: Vec::new(),
            head: Head::default(),
        };
        for entry in rest {
            let what = event.apply(entry);
            what.map_err(|what| BookError { seq: entry.seq, what: what.to_owned() })?;
        }
        event.rename(same);
        let last = rest.last().unwrap_or(first);
        event.head = Head { seq: last.seq, hash: hash(last) };
        Ok(event)
    }

    /// Announces an event. Returns it with the first entry of its book.
    pub fn announce(
        plan: Plan,
        terms: Terms,
        opens: Option<DateTime<Utc>>,
        at: DateTime<Utc>,
        cause: &BookCause,
    ) -> (Event, ChainedBookEntry) {
        let fact = BookFact::EventAnnounced {
            format: FORMAT,
            plan: serde_json::to_value(&plan).expect("a plan is plain values"),
            terms: serde_json::to_value(&terms).expect("terms are plain values"),
            opens,
        };
        let chained = book::append(&plan.id, &mut Head::default(), at, cause, fact);
        let event = Event::fold(std::slice::from_ref(&chained.entry), &|player| player);
        (event.expect("an announcement opens a book"), chained)
    }

    /// Adds a fact to the book.
    pub fn record(&mut self, at: DateTime<Utc>, cause: &BookCause, fact: BookFact) -> ChainedBookEntry {
        let chained = book::append(&self.plan.id, &mut self.head, at, cause, fact);
        self.apply(&chained.entry).expect("the event decided on the fact");
        chained
    }

    /// Returns the running season, or the last one.
    pub fn season(&self) -> Option<&Season> {
        self.seasons.last()
    }

    /// Returns the running season.
    pub fn running(&self) -> Option<&Season> {
        self.season().filter(|season| season.places.is_none() && self.stage == EventStage::Running)
    }

    /// Returns the winner of a cup that is over.
    pub fn champion(&self) -> Option<i64> {
        let is_over = self.plan.format == Format::Cup && self.stage == EventStage::Over;
        let [last] = self.seasons.last().filter(|_| is_over)?.places.as_deref()? else { return None };
        last.first().map(|place| place.player)
    }

    /// Whether another season can follow.
    pub fn goes_on(&self) -> bool {
        (!self.closed || self.is_begun_cup())
            && matches!(self.stage, EventStage::Entries | EventStage::Running)
    }

    /// Whether somebody can still enter.
    pub fn takes_entries(&self) -> bool {
        self.goes_on() && !self.is_begun_cup()
    }

    /// Whether this is a cup whose first round was drawn. Nobody can enter it any more, and it ends with its
    /// final alone.
    pub fn is_begun_cup(&self) -> bool {
        self.plan.format == Format::Cup && !self.seasons.is_empty()
    }

    /// Returns the number of players with which the next season can begin. Those left in a cup go on, however few.
    pub fn least(&self) -> usize {
        if self.is_begun_cup() { 1 } else { self.plan.least() }
    }

    /// Describes the stage to people: between two seasons, an event waits as one does that never began.
    pub fn stage_in_words(&self) -> &'static str {
        match self.stage {
            EventStage::Entries if self.is_begun_cup() => "between rounds",
            EventStage::Entries if !self.seasons.is_empty() => "between seasons",
            EventStage::Entries if self.closed => "closed to entries",
            EventStage::Entries => "open to entries",
            EventStage::Running | EventStage::Over | EventStage::Cancelled => self.stage.as_str(),
        }
    }

    /// Whether a player is entered, or plays in the running season.
    pub fn has(&self, player: i64) -> bool {
        self.entrants.contains(&player) || self.running().is_some_and(|season| season.list.contains(&player))
    }

    /// Whether nothing more can happen in it.
    pub fn is_over(&self) -> bool {
        matches!(self.stage, EventStage::Over | EventStage::Cancelled)
    }

    fn apply(&mut self, entry: &BookEntry) -> Result<(), &'static str> {
        let over = self.is_over();
        match &entry.fact {
            _ if over && !matches!(entry.fact, BookFact::Noted { .. }) => return Err("the event is over"),
            BookFact::EventAnnounced { .. } => return Err("a second announcement"),
            BookFact::Entered { player } => {
                if self.entrants.contains(player) {
                    return Err("somebody enters twice");
                }
                self.gone.remove(player);
                self.entrants.push(*player);
            }
            BookFact::Struck { player } | BookFact::Left { player } => {
                self.entrants.retain(|other| other != player);
                self.gone.insert(*player);
            }
            BookFact::Replaced { from, to } => self.hand_over(*from, *to),
            BookFact::PlanChanged { opens, ends, closed } => {
                self.opens = opens.or(self.opens);
                self.closed |= *closed;
                let is_between = self.stage == EventStage::Entries && !self.seasons.is_empty();
                if *closed && is_between && self.plan.format != Format::Cup {
                    self.stage = EventStage::Over;
                }
                if let (Some(ends), Some(season)) = (ends, self.seasons.last_mut()) {
                    season.ends = *ends;
                }
            }
            BookFact::SectionsDrawn { season, list, figures, sections, ends, .. } => {
                let figures = figures.iter().copied().collect();
                self.begin_season(*season, list.clone(), figures, sections.clone(), (entry.at, *ends));
            }
            BookFact::MatchOpened { first, second, match_id, .. } => {
                let game = self.pairing(*first, *second).ok_or("a match that nobody drew")?;
                if !game.is_unopened() {
                    return Err("a match of a pair that has one");
                }
                game.match_id = Some(match_id.clone());
            }
            BookFact::ResultEntered { first, second, result, .. } => {
                let game = self.pairing(*first, *second).ok_or("a result of no match")?;
                if game.result.is_some() || game.match_id != result.match_id {
                    return Err("a result of a match that has one");
                }
                game.result = Some(result.clone());
            }
            BookFact::ResultVoided { match_id, end } => {
                let season = self.seasons.last_mut().ok_or("no season")?;
                let mut results = season.games.iter_mut().map(|game| &mut game.result);
                let voids = |result: &BookResult| {
                    (result.match_id.as_ref(), result.end) == (Some(match_id), Some(*end))
                };
                let found = results.find(|result| result.as_ref().is_some_and(voids));
                found.and_then(Option::take).ok_or("no such result to void")?;
            }
            BookFact::StandingsClosed { places, vanished, .. } => self.end_season(places, vanished, entry.at),
            BookFact::Cancelled {} => self.stage = EventStage::Cancelled,
            BookFact::Noted { .. } => {}
        }
        self.note_act(entry);
        Ok(())
    }

    /// Notes an act of a GM, except imported entrants and results.
    fn note_act(&mut self, entry: &BookEntry) {
        let BookCause::Gm { name, reason } = &entry.cause else { return };
        match &entry.fact {
            BookFact::SectionsDrawn { given: true, .. } => {
                self.acts.retain(|(fact, ..)| !matches!(fact, BookFact::Entered { .. }));
            }
            BookFact::SectionsDrawn { .. } => {}
            BookFact::ResultEntered { result, .. } if result.match_id.is_none() => {}
            fact => self.acts.push((fact.clone(), name.clone(), reason.clone())),
        }
    }

    fn begin_season(
        &mut self,
        no: u32,
        list: Vec<i64>,
        figures: BTreeMap<i64, i64>,
        sections: Vec<Vec<i64>>,
        (drawn_at, ends): (DateTime<Utc>, DateTime<Utc>),
    ) {
        let mut games = Vec::new();
        for (section, players) in sections.iter().enumerate() {
            let seats = sections::seats(players, self.plan.games).into_iter();
            games.extend(seats.map(|(first, second)| Pairing {
                section,
                first,
                second,
                match_id: None,
                result: None,
            }));
        }
        self.seasons.push(Season {
            no,
            list,
            figures,
            sections,
            drawn_at,
            ends,
            games,
            places: None,
            vanished: BTreeSet::new(),
            heirs: Vec::new(),
        });
        self.gone.clear();
        self.opens = None;
        self.stage = EventStage::Running;
    }

    fn end_season(&mut self, places: &[Vec<BookPlace>], vanished: &[i64], at: DateTime<Utc>) {
        let Some(season) = self.seasons.last_mut() else { return };
        self.acts.clear();
        season.places = Some(places.to_vec());
        season.vanished = vanished.iter().copied().collect();
        self.entrants.retain(|player| !season.vanished.contains(player));
        let is_last = match self.plan.format {
            Format::Cup => season.sections.len() == 1,
            Format::League | Format::Ladder => self.closed,
        };
        self.stage = if is_last { EventStage::Over } else { EventStage::Entries };
        self.opens = (!is_last).then_some(at + BETWEEN);
    }

    fn hand_over(&mut self, from: i64, to: i64) {
        self.entrants.iter_mut().for_each(swap(from, to));
        // Whoever left or was struck before is in again.
        self.gone.remove(&to);
        match self.seasons.last_mut() {
            Some(season) if season.places.is_none() => season.hand_over(from, to),
            Some(season) => season.heirs.push((from, to)),
            None => {}
        }
    }

    /// Gives players who were merged their present numbers, in everything that later entries do not depend on.
    /// The rest has them already: a merger is an entry in the book of each open event that the player is in.
    fn rename(&mut self, same: &dyn Fn(i64) -> i64) {
        let over = self.is_over();
        let count = self.seasons.len();
        for (no, season) in (1..).zip(&mut self.seasons) {
            season.rename(same, over || no < count);
        }
        for player in self.entrants.clone() {
            if over && !self.entrants.contains(&same(player)) {
                self.entrants.iter_mut().for_each(swap(player, same(player)));
            }
        }
    }

    fn pairing(&mut self, first: i64, second: i64) -> Option<&mut Pairing> {
        let season = self.seasons.last_mut().filter(|season| season.places.is_none())?;
        season.games.iter_mut().find(|game| (game.first, game.second) == (first, second))
    }
}

fn bad_start(what: String) -> BookError {
    BookError { seq: 1, what }
}

impl Pairing {
    /// Whether the match is neither opened nor decided.
    pub fn is_unopened(&self) -> bool {
        self.match_id.is_none() && self.result.is_none()
    }
}

impl Season {
    /// Puts `to` in the place of `from`.
    fn hand_over(&mut self, from: i64, to: i64) {
        let swap = swap(from, to);
        self.list.iter_mut().for_each(swap);
        self.sections.iter_mut().flatten().for_each(swap);
        for game in &mut self.games {
            swap(&mut game.first);
            swap(&mut game.second);
        }
        self.places.iter_mut().flatten().flatten().for_each(|row| swap(&mut row.player));
        if let Some(figure) = self.figures.remove(&from) {
            self.figures.insert(to, figure);
        }
        if self.vanished.remove(&from) {
            self.vanished.insert(to);
        }
    }

    /// Gives players who were merged their present numbers. If both played in the season, both numbers stay,
    /// so that nobody counts twice. `settled`: no draw reads the season any more. Otherwise, only those are
    /// renamed whose place changed hands by the merger alone, because this leaves the draw as it is.
    fn rename(&mut self, same: &dyn Fn(i64) -> i64, settled: bool) {
        for player in self.list.clone() {
            let present = same(player);
            if self.list.contains(&present) {
                continue;
            }
            let both = [player, present];
            let concerns = |(from, to): &&(i64, i64)| both.contains(from) || both.contains(to);
            if settled || self.heirs.iter().filter(concerns).eq([&(player, present)]) {
                self.heirs.retain(|heir| *heir != (player, present));
                self.hand_over(player, present);
            }
        }
    }

    /// Returns the table of each section.
    pub fn tables(&self) -> Vec<Vec<BookPlace>> {
        let table_of = |(no, players): (usize, &Vec<i64>)| table(players, &self.results(no));
        match &self.places {
            Some(places) => places.clone(),
            None => self.sections.iter().enumerate().map(table_of).collect(),
        }
    }

    /// Returns the games of a player that have no result, each with the player's seat.
    pub fn open_games_of(&self, player: i64) -> impl Iterator<Item = (Seat, &Pairing)> {
        self.games.iter().filter(|game| game.result.is_none()).filter_map(move |game| match player {
            _ if player == game.first => Some((Seat::First, game)),
            _ if player == game.second => Some((Seat::Second, game)),
            _ => None,
        })
    }

    /// Returns the games of these sections that are neither opened nor decided.
    pub fn unopened(&self, sections: RangeInclusive<usize>) -> impl Iterator<Item = &Pairing> {
        self.games.iter().filter(move |game| game.is_unopened() && sections.contains(&game.section))
    }

    /// Returns the results of a section.
    pub fn results(&self, section: usize) -> Vec<SectionResult> {
        let own = self.games.iter().filter(|game| game.section == section);
        own.filter_map(|game| Some((game.first, game.second, game.result.as_ref()?.outcome))).collect()
    }

    /// Returns the players of each section in the order in which they rise or go on.
    pub fn ranked(&self) -> Vec<Vec<i64>> {
        let mut ranked_sections = Vec::new();
        for (no, rows) in self.tables().iter().enumerate() {
            let mut own: BTreeMap<i64, i64> = BTreeMap::new();
            for game in self.games.iter().filter(|game| game.section == no) {
                if let Some(result) = &game.result {
                    *own.entry(game.first).or_default() += result.own.first;
                    *own.entry(game.second).or_default() += result.own.second;
                }
            }
            let breaks = Breaks { own: &own, figures: &self.figures, list: &self.list };
            ranked_sections.push(promotion_order(rows, &breaks));
        }
        ranked_sections
    }

    /// Returns the players who lost a match of the season by missed turns.
    pub fn vanishing(&self) -> BTreeSet<i64> {
        let mut vanished = BTreeSet::new();
        for game in &self.games {
            let Some(result) = &game.result else { continue };
            let both = result.outcome == BookOutcome::Both;
            vanished.extend((both || result.vanished == Some(Seat::First)).then_some(game.first));
            vanished.extend((both || result.vanished == Some(Seat::Second)).then_some(game.second));
        }
        vanished
    }

    /// Returns the pairs of the season, the lower number first. Whoever took over a place counts as having met
    /// its opponents, because it may be the same person with another number.
    pub fn pairs(&self) -> BTreeSet<(i64, i64)> {
        let now = |player: i64| {
            self.heirs.iter().fold(player, |player, (from, to)| if player == *from { *to } else { player })
        };
        let pairs = self.games.iter().map(|game| (now(game.first), now(game.second)));
        pairs.map(|(first, second)| (first.min(second), first.max(second))).collect()
    }
}

/// Returns a function that puts `to` where `from` is.
fn swap(from: i64, to: i64) -> impl Fn(&mut i64) + Copy {
    move |player: &mut i64| {
        if *player == from {
            *player = to;
        }
    }
}

fn hash(entry: &BookEntry) -> Digest {
    Digest::of(canonical(entry).as_bytes())
}
