//! Checks rulings that are not repeated: those that followed another procedure, and those of matches of which letters are
//! withheld for good. What needs no procedure is compared all the same: that letters are there, whole and from the holder
//! of their seat, that orders stand in them, that adjudications follow, and what our own letters are pinned by.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use serde_json::Value;

use super::play::{Play, Unrepeated, Written};
use super::reader::PendingEntry;
use super::ruling::opening_versions;
use super::{Check, Unconfirmed, short};
use crate::audit::expected::ExpectedDispatch;
use crate::audit::verdict::{Finding, Place};
use crate::game::Seat;
use crate::ledger::{Act, Cause, Correction, Entry, Fact, Head, LetterCause};
use crate::letter::Digest;
use crate::referee::{self, Match, PROCEDURE};
use crate::report::envelope::{PlaceInMatch, unique_start};

/// The letters of a match that are withheld for good, because a player was forgotten.
#[derive(Clone, Debug, Default)]
pub struct Withheld {
    /// The seats whose players were forgotten.
    pub seats: BTreeSet<Seat>,
    /// The Message-IDs of our letters whose bytes were deleted, each with the seat that it went to.
    pub sent: Vec<(String, Option<Seat>)>,
}

impl Check {
    /// Sets the letters of the match that are withheld for good. Its rulings are not repeated then.
    pub fn set_withheld(&mut self, withheld: Withheld) {
        self.withheld = withheld;
    }

    /// Why the first pending ruling is not repeated, if it is not.
    pub(super) fn unrepeated(&mut self) -> Option<Unrepeated> {
        if !self.withheld.seats.is_empty() {
            return Some(Unrepeated::Withheld);
        }
        let own = self.identity.as_ref().map(|identity| identity.procedure);
        let procedure = self.pending.front().and_then(procedure_set_by).or(own)?;
        if procedure != PROCEDURE {
            return Some(Unrepeated::Procedure(procedure));
        }
        let why = self.play.as_ref()?.why;
        match self.known_match() {
            Some(game_match) => {
                (self.current, self.play) = (Some(game_match), None);
                None
            }
            None => Some(why),
        }
    }

    /// Returns the match as it was before the first pending entry, if that changes the procedure and the match is kept.
    fn known_match(&self) -> Option<Match> {
        let first = self.pending.front().filter(|first| first.link.kind == "DeskSet")?;
        let Fact::DeskSet { before, .. } = serde_json::from_str::<Entry>(&first.json).ok()?.fact else {
            return None;
        };
        let json = self.kept.iter().find(|json| Some(Digest::of(json.as_bytes())) == before)?;
        let mut game_match: Match = serde_json::from_str(json).ok()?;
        let head = Head { seq: first.link.seq - 1, hash: first.link.prev };
        let is_state = self.play.as_ref().is_some_and(|play| *play.state() == game_match.state);
        game_match.delivered.clone_from(&first.link.delivered);
        (is_state && game_match.head == head).then_some(game_match)
    }

    /// Checks the first pending ruling, made at `at`, without repeating it.
    pub(super) fn check_unrepeated(&mut self, why: Unrepeated, at: DateTime<Utc>) {
        let count = self.count_first();
        let entries: Vec<Option<Entry>> =
            self.pending.iter().take(count).map(|entry| serde_json::from_str(&entry.json).ok()).collect();
        if let Err(finding) = self.follow_play(why, &entries) {
            return self.verdict.findings.push(finding);
        }
        let last = self.pending.drain(..count).next_back();
        let Some(head) = last.map(|last| Head { seq: last.link.seq, hash: last.hash }) else { return };
        self.note_entries(entries.iter().flatten());
        self.current = None;
        self.unconfirmed = Unconfirmed::Unrepeated { head, at };
        match why {
            Unrepeated::Procedure(number) => {
                *self.verdict.rulings_by_procedure.entry(number).or_default() += 1;
            }
            Unrepeated::Withheld => self.verdict.unrepeated += 1,
        }
    }

    /// Follows the play through the entries of a ruling; `None` stands for an entry of an unknown kind.
    fn follow_play(&mut self, why: Unrepeated, entries: &[Option<Entry>]) -> Result<(), Finding> {
        let first = &self.pending[0];
        let (seq, cause) = (first.link.seq, first.cause.clone());
        let wrong = |seq: u64, what: String| Finding { place: Place::Entry(seq), what };
        if self.play.is_none() {
            self.play = match (&self.current, entries.first()) {
                (Some(current), _) => Play::of_match(current, &self.record_entries, why),
                (None, Some(Some(opening))) => {
                    opening_versions(&first.json).map_err(|what| wrong(seq, what))?;
                    self.check_key(opening)?;
                    Play::of_opening(opening, why)
                }
                (None, _) => None,
            };
        }
        let written = match cause {
            Some(Cause::Letter(cause)) => self.written_in(&cause)?,
            Some(Cause::House { play, .. }) => Written::Lines(play.orders),
            Some(Cause::Gm { act, .. } | Cause::Program { act, .. }) => Written::Lines(orders_of(act)),
            Some(Cause::Clock { .. }) => Written::Lines(Vec::new()),
            None => return Err(wrong(seq, "its cause is unknown".to_owned())),
        };
        let Some(key) = self.first_key() else { return Ok(()) };
        let Some(play) = &mut self.play else {
            return Err(wrong(seq, "the ledger does not start with the opening of the match".to_owned()));
        };
        play.begin();
        for entry in entries.iter().flatten() {
            play.follow(entry, &written, &key).map_err(|what| wrong(entry.seq, what))?;
        }
        self.check_salts(entries.iter().flatten())
    }

    /// Checks that the opening pins the secret of the match.
    fn check_key(&self, opening: &Entry) -> Result<(), Finding> {
        let Fact::MatchOpened { key, .. } = &opening.fact else { return Ok(()) };
        let is_pinned =
            self.snapshot.as_ref().is_some_and(|game_match| game_match.key_pinned_by(*key).is_some());
        let what = "its secret is not the one that entry #1 pins".to_owned();
        is_pinned.then_some(()).ok_or(Finding { place: Place::Kept("the snapshot"), what })
    }

    /// Checks that the salts of entries are those of a secret of the match.
    fn check_salts<'a>(&self, entries: impl Iterator<Item = &'a Entry>) -> Result<(), Finding> {
        for entry in entries {
            let has = |game_match: &Match| game_match.keys().any(|key| key.salt(entry.seq) == entry.salt);
            if !self.snapshot.as_ref().is_some_and(has) {
                let what = "its salt is not the one that follows from the secret".to_owned();
                return Err(Finding { place: Place::Entry(entry.seq), what });
            }
        }
        Ok(())
    }

    /// Compares the letter that caused the first pending ruling, and returns its lines.
    fn written_in(&mut self, cause: &LetterCause) -> Result<Written, Finding> {
        let seq = self.pending[0].link.seq;
        let in_letter = |reason: &str| Finding {
            place: Place::Letter(cause.letter),
            what: format!("{reason}; entry #{seq} names it"),
        };
        if !self.ruled_letters.insert(short(&cause.letter)) {
            let what = "its letter was ruled on before".to_owned();
            return Err(Finding { place: Place::Entry(seq), what });
        }
        if self.withheld.seats.contains(&cause.seat) && !self.letters.contains_key(&cause.letter) {
            self.verdict.withheld_letters += 1;
            return Ok(Written::Nothing);
        }
        let (letter, written) = self.letter_of_cause(cause).map_err(in_letter)?;
        if self.sender_seat(&letter, cause) != Some(cause.seat) {
            return Err(in_letter("it has no reply token of a seat whose player sent it"));
        }
        let Some(snapshot) = &self.snapshot else { return Ok(Written::Nothing) };
        let read = referee::prepare(snapshot, cause.clone(), &letter, written);
        let read = read.map_err(|no_part| in_letter(&no_part.to_string()))?;
        Ok(Written::Lines(read.request.lines().iter().map(|line| line.text.clone()).collect()))
    }

    /// Our letters that a ruling which ends with this entry sent, in order, as far as `count` pins tell. `None` for one that is
    /// withheld, or missing, which is reported.
    pub(super) fn sent_by(
        &mut self,
        head: Head,
        at: DateTime<Utc>,
        count: usize,
    ) -> Vec<Option<ExpectedDispatch>> {
        let mut sent = Vec::new();
        let Some(key) = self.first_key() else { return sent };
        for index in 0..count {
            let start = unique_start(&self.stored.id, &key, head.seq, index);
            let names = |unique: &str| unique.starts_with(&start);
            let stored = self.dispatches.keys().find(|unique| names(unique)).cloned();
            let stored = stored.and_then(|unique| self.dispatches.remove(&unique));
            let Some(stored) = stored else {
                if !self.is_withheld(names) {
                    let what = format!("it is missing: entry #{} caused this letter", head.seq);
                    self.report(Place::Sent(start), what);
                } else {
                    self.verdict.withheld_letters += 1;
                }
                sent.push(None);
                continue;
            };
            let dispatch = self.expect(stored, head, at);
            self.check_recipient(&dispatch);
            sent.push(Some(dispatch));
        }
        sent
    }

    /// Whether a letter with this place in the match is withheld: it went to a player who was forgotten, or to a former one.
    fn is_withheld(&self, names: impl Fn(&str) -> bool) -> bool {
        let Some(key) = self.first_key() else { return false };
        self.withheld.sent.iter().any(|(message_id, seat)| {
            let place = PlaceInMatch::read(message_id, &self.stored.id, &key);
            place.is_some_and(|place| names(place.unique))
                && seat.is_none_or(|seat| self.withheld.seats.contains(&seat))
        })
    }
}

/// The procedure that an entry sets, if it sets one.
fn procedure_set_by(entry: &PendingEntry) -> Option<u32> {
    if !matches!(entry.link.kind.as_str(), "MatchOpened" | "DeskSet") {
        return None;
    }
    let json: Value = serde_json::from_str(&entry.json).ok()?;
    u32::try_from(json["body"]["desk"]["procedure"].as_u64()?).ok()
}

/// The orders that an act files.
fn orders_of(act: Act) -> Vec<String> {
    let orders = match act {
        Act::File { orders, .. } | Act::Correct(Correction { orders: Some((_, orders)), .. }) => orders,
        _ => Vec::new(),
    };
    orders.into_iter().map(|line| line.text).collect()
}
