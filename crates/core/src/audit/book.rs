//! Checks an event: the chain of its book, the letters that the book names, its results against the ledgers of the
//! matches, the heads that our letters state, and the rows stored beside the book.
//!
//! The book names players by number only. Whether a letter is from a player is for the caller to say, who knows
//! the addresses.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, TimeDelta, Utc};

use super::check::LedgerRow;
use super::check::reader::follow_row;
use super::{AuditVerdict, CheckSubject, Finding, Place, witness};
use crate::club::events::event::{Event, EventStage, Season};
use crate::club::events::own_time::{MatchEnd, is_end, last_end};
use crate::club::events::steps::{Mailed, WARNED};
use crate::club::events::verify;
use crate::game::any::GameKind;
use crate::ledger::book::{BookCause, BookEntry, BookFact, BookOutcome, BookResult};
use crate::ledger::{Entry, Fact, Head};
use crate::letter::Digest;
use crate::referee::Terms;

/// Time by which the clock of a mail server, which says when a letter arrived, may be ahead of ours.
const CLOCKS_APART: TimeDelta = TimeDelta::days(1);

/// The check of one event in progress.
pub struct BookCheck {
    verdict: AuditVerdict,
    entries: Vec<BookEntry>,
    hashes: Vec<Digest>,
    /// The event, if its book can be followed.
    event: Option<Event>,
    /// The ends of each match so far, oldest first.
    ends: BTreeMap<String, Vec<MatchEnd>>,
    /// Our letters about the event alone: the number of the last entry before each, and its kind.
    sent: Vec<(u64, String)>,
}

/// A letter that the book names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CitedLetter {
    /// The number of the entry.
    pub seq: u64,
    pub at: DateTime<Utc>,
    pub letter: Digest,
    /// The player who must have written it.
    pub player: i64,
}

/// A letter that the book names, as it is stored.
#[derive(Clone, Debug)]
pub struct CitedColumns {
    pub received_at: DateTime<Utc>,
    /// Its sender and its subject, as lists show them.
    pub listed: (String, String),
    /// Its sender and its subject, according to its bytes.
    pub written: (String, String),
    /// The digest of its bytes.
    pub digest: Digest,
    /// Whether it came from an address that the player has or had, or was confirmed by the player.
    pub is_players: bool,
}

/// The rows of an event beside its book.
#[derive(Clone, Debug)]
pub struct EventColumns {
    pub name: String,
    pub game: GameKind,
    pub stage: EventStage,
    pub wake_at: Option<DateTime<Utc>>,
    pub told: Mailed,
    pub matches: Vec<EventMatchColumns>,
    /// The results that are stored as entered: the match, and the hash of its end.
    pub results: BTreeSet<(String, Digest)>,
}

/// A match of an event, as stored.
#[derive(Clone, Debug)]
pub struct EventMatchColumns {
    pub match_id: String,
    pub season: u32,
    pub first: i64,
    pub second: i64,
    pub is_open: bool,
    /// The end that the event has looked at.
    pub seen: Option<Digest>,
}

impl BookCheck {
    /// Follows the book. `same` maps a player's number to the present one, which differs after a merger.
    pub fn new(id: &str, rows: &[LedgerRow], same: &dyn Fn(i64) -> i64) -> BookCheck {
        let mut check = BookCheck {
            verdict: AuditVerdict::new(CheckSubject::Event(id.to_owned())),
            entries: Vec::new(),
            hashes: Vec::new(),
            event: None,
            ends: BTreeMap::new(),
            sent: Vec::new(),
        };
        match check.follow(id, rows, same) {
            Ok(event) => check.event = Some(event),
            Err(finding) => check.verdict.findings.push(finding),
        }
        check
    }

    fn follow(&mut self, id: &str, rows: &[LedgerRow], same: &dyn Fn(i64) -> i64) -> Result<Event, Finding> {
        let mut head = Head::default();
        for row in rows {
            follow_row(&mut head, row, id)?;
            let read = serde_json::from_str(&row.json);
            self.entries.push(read.map_err(|error| {
                Finding::at(Place::Entry(row.seq), format!("it cannot be read: {error}"))
            })?);
            self.hashes.push(row.hash);
            self.verdict.head = head;
            self.verdict.entries = head.seq;
        }
        let event = Event::fold(&self.entries, same);
        let event = event.map_err(|error| Finding::at(Place::Entry(error.seq), error.what))?;
        if event.plan.id != id {
            return Err(Finding::at(Place::Entry(1), format!("it announces {}", event.plan.id)));
        }
        for fault in verify(&self.entries) {
            self.report(Place::Entry(fault.seq), fault.what);
        }
        Ok(event)
    }

    /// Returns the letters that the book names.
    pub fn cited_letters(&mut self) -> Vec<CitedLetter> {
        let mut cited = Vec::new();
        let mut strange = Vec::new();
        for entry in &self.entries {
            let (BookCause::Letter(letter), BookEntry { seq, at, .. }) = (&entry.cause, entry) else {
                continue;
            };
            match entry.fact {
                BookFact::Entered { player } | BookFact::Left { player } => {
                    cited.push(CitedLetter { seq: *seq, at: *at, letter: *letter, player });
                }
                _ => strange.push(*seq),
            }
        }
        for seq in strange {
            self.report(Place::Entry(seq), "no letter can cause it");
        }
        cited
    }

    /// Checks a letter that the book names. `None`: it is not stored.
    pub fn check_letter(&mut self, cited: &CitedLetter, stored: Option<&CitedColumns>) {
        self.verdict.letters += 1;
        let what = match stored {
            None => "it is missing",
            Some(stored) if stored.digest != cited.letter => "its bytes were changed",
            Some(stored) if stored.listed != stored.written => {
                "it is listed with a sender or a subject other than its own"
            }
            Some(stored) if !stored.is_players => "it is not from the player whom the entry names",
            Some(stored) if stored.received_at - cited.at > CLOCKS_APART => {
                "it is stored as having come after the entry"
            }
            Some(_) => return,
        };
        let seq = cited.seq;
        self.report(Place::Letter(cited.letter), format!("{what}; entry #{seq} names it"));
    }

    /// Notes that a letter is permanently withheld, because this player was forgotten.
    pub fn withhold_letter(&mut self, player: i64) {
        self.verdict.withheld_letters += 1;
        self.verdict.withheld = Some(format!("the letters of P-{player}, who was forgotten"));
    }

    /// Returns the matches that the book names.
    pub fn match_ids(&self) -> BTreeSet<String> {
        let named = self.entries.iter().filter_map(|entry| match &entry.fact {
            BookFact::MatchOpened { match_id, .. } => Some(match_id.clone()),
            BookFact::ResultEntered { result, .. } => result.match_id.clone(),
            _ => None,
        });
        named.collect()
    }

    /// Compares the entries about a match with its ledger, which is verified on its own.
    pub fn check_match(&mut self, match_id: &str, ledger: &[Entry]) {
        let ends = (0..ledger.len()).filter(|place| is_end(&ledger[*place].fact));
        let ends: Vec<MatchEnd> = ends.filter_map(|place| last_end(&ledger[..=place])).collect();
        let Some(event) = &self.event else { return };
        let mut findings = Vec::new();
        for entry in &self.entries {
            let what = match &entry.fact {
                BookFact::MatchOpened { first, match_id: opened, .. } if opened == match_id => {
                    differs_from_opening(event, entry, *first, ledger.first()).map(str::to_owned)
                }
                BookFact::ResultEntered { result, .. } if result.match_id.as_deref() == Some(match_id) => {
                    differs_from_end(entry, result, &ends)
                }
                _ => None,
            };
            findings
                .extend(what.map(|what| Finding::at(Place::Entry(entry.seq), format!("{match_id} {what}"))));
        }
        self.verdict.findings.extend(findings);
        self.ends.insert(match_id.to_owned(), ends);
    }

    /// Notes that we sent a letter with this Message-ID.
    pub fn note_sent(&mut self, message_id: &str) {
        self.sent.extend(place_of(message_id, self.verdict.subject.id()));
    }

    /// Checks the heads of the book that one of our letters states.
    pub fn check_sent(&mut self, message_id: &str, bytes: &[u8]) {
        let id = self.verdict.subject.id().to_owned();
        let named = place_of(message_id, &id);
        let lines = witness::in_mail(bytes);
        let mut stated = lines.iter().filter(|line| line.chain == id).map(|line| line.hash).peekable();
        self.verdict.sent += u64::from(stated.peek().is_some());
        let is_right = |hash: Digest| match &named {
            Some((seq, _)) => self.hash_of(*seq) == Some(hash),
            None => self.hashes.contains(&hash),
        };
        if !stated.all(is_right) {
            let what =
                "it states a head that is not on this chain: the book was rewritten, or the letter was";
            self.report(Place::Sent(message_id.to_owned()), what);
        }
    }

    /// Ends the check at `now`: compares the rows beside the book. `None`: the event's row is missing.
    pub fn finish(mut self, stored: Option<&EventColumns>, now: DateTime<Utc>) -> AuditVerdict {
        match stored {
            None => self.report(Place::Kept("the event"), "its row is missing"),
            Some(stored) => {
                if let Some(event) = self.event.take() {
                    self.check_event(&event, stored, now);
                    self.check_matches(&event, stored);
                }
            }
        }
        self.verdict
    }

    fn check_event(&mut self, event: &Event, stored: &EventColumns, now: DateTime<Utc>) {
        let plan = &event.plan;
        let columns = [
            ("name", stored.name == plan.name),
            ("game", stored.game == plan.game),
            ("stage", stored.stage == event.stage),
            ("next wake-up", stored.wake_at == event.wake_at(&stored.told)),
        ];
        for (column, _) in columns.into_iter().filter(|(_, is_right)| !is_right) {
            let what = format!("its {column} is not the one that follows from the book");
            self.report(Place::Kept("the event"), what);
        }
        for (note, _) in
            self.notes_of_letters(event, &stored.told, now).into_iter().filter(|(_, is_right)| !is_right)
        {
            let what = format!("its note that {note} is not what our letters and the matches say");
            self.report(Place::Kept("the event"), what);
        }
    }

    /// Returns the notes of what people were told, and whether each agrees with our letters and the matches.
    fn notes_of_letters(
        &self,
        event: &Event,
        told: &Mailed,
        now: DateTime<Utc>,
    ) -> [(&'static str, bool); 4] {
        // A GM who moves a date has everybody told again.
        let moved =
            self.entries.iter().rev().find(|entry| is_moved_by_gm(entry)).map_or(0, |entry| entry.seq);
        let last_season = |kind: &str| {
            let letters = self.sent.iter().filter(|(seq, what)| *seq >= moved && what == kind);
            letters.map(|(seq, _)| self.season_at(*seq)).max()
        };
        let last_told = last_season("ending").unwrap_or_default();
        // Perhaps nobody could be told, because no letter reaches those who still play.
        let warned = |season: &Season| season.no == told.ending && self.first_end(season) - WARNED <= now;
        let is_ending_told =
            told.ending == last_told || told.ending > last_told && event.season().is_some_and(warned);
        [
            ("there are too few entrants", told.too_few == last_season("few").map_or(0, |season| season + 1)),
            ("a season ends", is_ending_told),
            ("a GM must decide matches", told.unfinished == last_season("unfinished").unwrap_or_default()),
            ("matches of leavers were resigned", told.resigned.iter().all(|of| self.is_resigned(event, *of))),
        ]
    }

    /// Whether a player of this season has ended each match in it at least once.
    fn is_resigned(&self, event: &Event, (no, player): (u32, i64)) -> bool {
        let Some(season) = event.seasons.iter().find(|season| season.no == no) else { return false };
        let mut own = season.games.iter().filter(|game| [game.first, game.second].contains(&player));
        let has_ended = |id: &String| self.ends.get(id).is_some_and(|ends| !ends.is_empty());
        own.all(|game| game.match_id.as_ref().is_none_or(has_ended))
    }

    /// Returns the season that was running, or had been closed last, after an entry; 0 before the first.
    fn season_at(&self, seq: u64) -> u32 {
        let drawn = self.entries.iter().take_while(|entry| entry.seq <= seq);
        let seasons = drawn.filter_map(|entry| match entry.fact {
            BookFact::SectionsDrawn { season, .. } => Some(season),
            _ => None,
        });
        seasons.last().unwrap_or_default()
    }

    /// Returns the earliest time at which a season was to end, according to its draw and later changes.
    fn first_end(&self, season: &Season) -> DateTime<Utc> {
        let ends = self.entries.iter().filter_map(|entry| match &entry.fact {
            BookFact::SectionsDrawn { season: no, ends, .. } if *no == season.no => Some(*ends),
            _ => None,
        });
        ends.min().unwrap_or(season.ends).min(season.ends)
    }

    /// Compares the stored matches and results of the event with its book.
    fn check_matches(&mut self, event: &Event, stored: &EventColumns) {
        let running = event.running().map(|season| season.no);
        let mut opened = BTreeMap::new();
        let mut entered = BTreeSet::new();
        for entry in &self.entries {
            match &entry.fact {
                BookFact::MatchOpened { season, first, second, match_id } => {
                    let is_open = running == Some(*season);
                    opened.insert(match_id.clone(), (*season, *first, *second, is_open));
                }
                BookFact::ResultEntered { result, .. } => {
                    entered.extend(result.match_id.clone().zip(result.end));
                }
                _ => {}
            }
        }
        for row in &stored.matches {
            let expected = opened.remove(&row.match_id);
            let what = if expected != Some((row.season, row.first, row.second, row.is_open)) {
                "is stored with a season, players or a stage other than those of the book"
            } else if !self.has_seen(event, row) {
                "is stored with an end that the event has not looked at"
            } else {
                continue;
            };
            self.report(Place::Kept("the event's matches"), format!("{} {what}", row.match_id));
        }
        for id in opened.keys() {
            self.report(Place::Kept("the event's matches"), format!("{id} is missing"));
        }
        for (id, _) in entered.symmetric_difference(&stored.results) {
            let what = format!("those of {id} are not the ones that the book enters");
            self.report(Place::Kept("the event's results"), what);
        }
    }

    /// Whether the end that an event has looked at is that of the result in its book. Without a result there, it is
    /// one that does not count, if any.
    fn has_seen(&self, event: &Event, row: &EventMatchColumns) -> bool {
        let games = event.seasons.iter().flat_map(|season| &season.games);
        let mut results = games.filter_map(|game| game.result.as_ref());
        let result = results.find(|result| result.match_id.as_ref() == Some(&row.match_id));
        match (result, row.seen) {
            (Some(result), seen) => result.end == seen,
            (None, None) => true,
            (None, Some(seen)) => {
                let mut ends = self.ends.get(&row.match_id).into_iter().flatten();
                ends.any(|end| end.end == seen && end.outcome == BookOutcome::None)
            }
        }
    }

    fn hash_of(&self, seq: u64) -> Option<Digest> {
        let place = usize::try_from(seq.checked_sub(1)?).ok()?;
        self.hashes.get(place).copied()
    }

    fn report(&mut self, place: Place, what: impl Into<String>) {
        self.verdict.findings.push(Finding::at(place, what));
    }
}

/// Returns how the first entry of a match's ledger differs from what its event opens, as a clause.
fn differs_from_opening(
    event: &Event,
    entry: &BookEntry,
    first_player: i64,
    opening: Option<&Entry>,
) -> Option<&'static str> {
    let Some(opening) = opening else { return Some("has no ledger") };
    let Fact::MatchOpened { game, options, terms, rating, .. } = &opening.fact else {
        return Some("has a ledger that does not begin with its opening");
    };
    let terms: Option<Terms> = serde_json::from_value(terms.clone()).ok();
    // Whether a match is rated depends on its players, too.
    let terms = terms.map(|terms| Terms { rated: event.terms.rated, ..terms });
    let number = rating.as_ref().and_then(|basis| basis.numbers.first);
    if opening.at != entry.at {
        Some("was opened at another time")
    } else if (*game, options, terms.as_ref()) != (event.plan.game, &event.plan.options, Some(&event.terms)) {
        Some("was opened as another game, or with options or terms that the event was not announced with")
    } else if number.is_some_and(|number| number != first_player) {
        Some("was opened with another player in the first seat")
    } else {
        None
    }
}

/// Returns how a result differs from the end of its match, as a clause. A GM decides a match that has no outcome.
fn differs_from_end(entry: &BookEntry, result: &BookResult, ends: &[MatchEnd]) -> Option<String> {
    let Some(end) = ends.iter().find(|end| Some(end.end) == result.end) else {
        return Some("has no entry with the hash that the result names as its end".to_owned());
    };
    let is_decided = end.outcome == BookOutcome::None && matches!(entry.cause, BookCause::Gm { .. });
    if end.outcome != result.outcome && !is_decided {
        return Some(format!("ended as {}, and the book says {}", end.outcome, result.outcome));
    }
    let agrees = (end.vanished, &end.own) == (result.vanished, &result.own);
    (!agrees).then(|| "ended with other times, or another seat missed its turns".to_owned())
}

/// Whether a GM moved the opening or the end of a season.
fn is_moved_by_gm(entry: &BookEntry) -> bool {
    let is_moved =
        matches!(&entry.fact, BookFact::PlanChanged { opens, ends, .. } if opens.or(*ends).is_some());
    is_moved && matches!(entry.cause, BookCause::Gm { .. })
}

/// Reads `e.ev-spring.12.ending.3@…` or the like, with or without a reply token before it: the number of the last
/// entry before the letter, and its kind. `None` if it is not a letter about this event alone.
fn place_of(message_id: &str, id: &str) -> Option<(u64, String)> {
    let mut parts = message_id.split('@').next()?.split('.').skip_while(|part| *part != "e").skip(1);
    if parts.next()? != id.to_lowercase() {
        return None;
    }
    Some((parts.next()?.parse().ok()?, parts.next()?.to_owned()))
}
