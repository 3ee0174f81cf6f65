//! A decision in the making: what it reads, and what it has changed so far.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use chrono::{DateTime, Utc};

use super::context::{LoadedMatch, RecentAnswer, RulingContext};
use super::gm_index::GmIndex;
use super::random::{self, Random};
use super::settings::Settings;
use super::stored::match_row;
use super::undecided::Decided;
use crate::letter::Digest;
use crate::referee::Match;
use crate::store::{Player, Restraints, SeatRow, Settlement};

/// Something that two decisions of one batch may both touch; then the later one must see what the earlier one did.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    Match(String),
    /// The address of a player or a stranger: the answers sent there, and whether letters bounce.
    Address(String),
    /// The list of invitations, and who does not want any.
    Invitations,
    /// The answers of the club to everybody who writes without a token.
    Strangers,
    /// The names of players, which differ.
    Names,
}

/// What a decision has changed so far.
#[derive(Clone, Debug, Default)]
pub struct DecisionDraft {
    /// Matches that were ruled on.
    pub matches: BTreeMap<String, LoadedMatch>,
    pub settlement: Settlement,
    /// The recent answers to each reader, including those decided here.
    pub answers: BTreeMap<String, Vec<RecentAnswer>>,
    /// Addresses whose player this transaction has found or added.
    pub seated: BTreeSet<String>,
    /// The names of the matches that it opens.
    pub names: BTreeSet<String>,
    pub touched: BTreeSet<Key>,
    /// How to undo what was changed since the last checkpoint, except in the settlement.
    undo: Vec<Undo>,
}

/// Undoes one change.
#[derive(Clone, Debug)]
enum Undo {
    /// The match and its state before; `None` if it was not ruled on before.
    Match(String, Option<Box<LoadedMatch>>),
    /// The number of answers before; `None` if there was no list of this reader.
    Answers(String, Option<usize>),
    Seated(String),
    Name(String),
    Touched(Key),
}

/// A draft as it was before a letter.
///
/// A settlement grows at the ends of its lists, so their lengths are enough, except for two small parts that change in
/// place. A clone of the whole draft for each letter would be quadratic in the letters of one sender.
pub struct Checkpoint {
    lengths: [usize; 16],
    seats: Vec<SeatRow>,
    restraints: Restraints,
}

/// A decision in the making.
pub struct Decision<'a> {
    pub settings: &'a Settings,
    pub context: &'a RulingContext,
    pub draft: DecisionDraft,
    /// The GM whose letter is followed; the first one at the terminal.
    pub acting: GmIndex,
    /// Whether a GM acts at the terminal, where nothing proves who it is.
    pub at_terminal: bool,
    /// Identifies the letter that is being decided on, for its random streams.
    subject: Vec<u8>,
    /// The number of random streams used so far.
    streams: u64,
}

impl DecisionDraft {
    pub fn new(at: DateTime<Utc>) -> DecisionDraft {
        DecisionDraft { settlement: Settlement { at, ..Settlement::default() }, ..DecisionDraft::default() }
    }

    /// Notes how the draft is now. Only one checkpoint is in use at a time.
    pub fn checkpoint(&mut self) -> Checkpoint {
        self.undo.clear();
        let Settlement {
            at: _,
            decided,
            postponed,
            matches,
            seats,
            seat_pins,
            snapshots: _,
            entries,
            dispatches,
            listed,
            invitations,
            players,
            merged,
            returned,
            requeued,
            restraints,
            newcomers,
            unproven,
            changes,
            remembered,
        } = &self.settlement;
        let lengths = [
            decided.len(),
            postponed.len(),
            matches.len(),
            entries.len(),
            dispatches.len(),
            invitations.len(),
            players.len(),
            merged.len(),
            returned.len(),
            requeued.len(),
            newcomers.len(),
            unproven.len(),
            changes.len(),
            remembered.len(),
            seat_pins.len(),
            listed.len(),
        ];
        Checkpoint { lengths, seats: seats.clone(), restraints: restraints.clone() }
    }

    /// Undoes everything since the checkpoint.
    pub fn roll_back(&mut self, to: Checkpoint) {
        for undo in mem::take(&mut self.undo).into_iter().rev() {
            match undo {
                Undo::Match(id, Some(before)) => drop(self.matches.insert(id, *before)),
                Undo::Match(id, None) => drop(self.matches.remove(&id)),
                Undo::Answers(reader, Some(before)) => {
                    if let Some(answers) = self.answers.get_mut(&reader) {
                        answers.truncate(before);
                    }
                }
                Undo::Answers(reader, None) => drop(self.answers.remove(&reader)),
                Undo::Seated(address) => drop(self.seated.remove(&address)),
                Undo::Name(name) => drop(self.names.remove(&name)),
                Undo::Touched(key) => drop(self.touched.remove(&key)),
            }
        }
        let settlement = &mut self.settlement;
        settlement.seats = to.seats;
        settlement.restraints = to.restraints;
        let [
            decided,
            postponed,
            matches,
            entries,
            dispatches,
            invitations,
            players,
            merged,
            returned,
            requeued,
            newcomers,
            unproven,
            changes,
            remembered,
            seat_pins,
            listed,
        ] = to.lengths;
        settlement.decided.truncate(decided);
        settlement.postponed.truncate(postponed);
        settlement.matches.truncate(matches);
        settlement.entries.truncate(entries);
        settlement.dispatches.truncate(dispatches);
        settlement.invitations.truncate(invitations);
        settlement.players.truncate(players);
        settlement.merged.truncate(merged);
        settlement.returned.truncate(returned);
        settlement.requeued.truncate(requeued);
        settlement.newcomers.truncate(newcomers);
        settlement.unproven.truncate(unproven);
        settlement.changes.truncate(changes);
        settlement.remembered.truncate(remembered);
        settlement.seat_pins.truncate(seat_pins);
        settlement.listed.truncate(listed);
    }

    /// Replaces the state of a match.
    pub fn set_match(&mut self, loaded: LoadedMatch) {
        let id = loaded.game_match.id.clone();
        let before = self.matches.insert(id.clone(), loaded);
        self.undo.push(Undo::Match(id, before.map(Box::new)));
    }

    /// Adds an answer to a reader, after those that are `stored`.
    pub fn add_answer(&mut self, reader: &str, stored: &[RecentAnswer], answer: RecentAnswer) {
        let before = self.answers.get(reader).map(Vec::len);
        self.answers.entry(reader.to_owned()).or_insert_with(|| stored.to_vec()).push(answer);
        self.undo.push(Undo::Answers(reader.to_owned(), before));
    }

    fn note_seated(&mut self, address: &str) {
        if self.seated.insert(address.to_owned()) {
            self.undo.push(Undo::Seated(address.to_owned()));
        }
    }

    /// Notes the name of a match that is opened, and returns whether it was free in this draft.
    pub fn take_name(&mut self, name: &str) -> bool {
        let is_free = self.names.insert(name.to_owned());
        if is_free {
            self.undo.push(Undo::Name(name.to_owned()));
        }
        is_free
    }

    /// Adds a draft that shares no key with this one.
    pub fn join(&mut self, other: DecisionDraft) {
        let DecisionDraft { matches, settlement, answers, seated, names, touched, undo: _ } = other;
        self.matches.extend(matches);
        self.settlement.absorb(settlement);
        self.answers.extend(answers);
        self.seated.extend(seated);
        self.names.extend(names);
        self.touched.extend(touched);
    }
}

impl<'a> Decision<'a> {
    pub fn new(settings: &'a Settings, context: &'a RulingContext) -> Decision<'a> {
        Decision::upon(settings, context, DecisionDraft::new(context.at))
    }

    /// Starts a decision that follows others of the same transaction, whose changes are in `draft`.
    pub fn upon(settings: &'a Settings, context: &'a RulingContext, draft: DecisionDraft) -> Decision<'a> {
        let acting = GmIndex::default();
        Decision { settings, context, draft, acting, at_terminal: false, subject: Vec::new(), streams: 0 }
    }

    /// Switches to the random streams of a letter.
    pub fn begin_letter(&mut self, letter: Digest) {
        self.subject = random::subject(Some(letter));
        self.streams = 0;
    }

    /// Returns the settlement, with the matches that were ruled on.
    ///
    /// # Errors
    /// Returns an error if a match cannot be written as JSON.
    pub fn finish(self) -> anyhow::Result<Settlement> {
        let mut settlement = self.draft.settlement;
        for loaded in self.draft.matches.values() {
            settlement.matches.push(match_row(&loaded.game_match, loaded.version)?);
        }
        Ok(settlement)
    }

    pub fn at(&self) -> DateTime<Utc> {
        self.context.at
    }

    /// Returns a random stream that nothing else in this decision uses.
    pub fn random(&mut self) -> Random {
        self.streams += 1;
        Random::new(&self.context.seed, &self.subject, self.streams)
    }

    pub fn touch(&mut self, key: Key) {
        if self.draft.touched.insert(key.clone()) {
            self.draft.undo.push(Undo::Touched(key));
        }
    }

    /// Returns a match as this transaction leaves it so far.
    pub fn game_match(&self, id: &str) -> Decided<Option<&LoadedMatch>> {
        match self.draft.matches.get(id) {
            Some(ruled_on) => Ok(Some(ruled_on)),
            None => self.context.game_match(id),
        }
    }

    /// Replaces a match with its state after a ruling.
    pub fn keep_match(&mut self, loaded: LoadedMatch, after: Match) {
        self.touch(Key::Match(after.id.clone()));
        self.draft.set_match(LoadedMatch { game_match: after, changed: true, ..loaded });
    }

    /// Returns the player with this address, without the changes of this transaction.
    pub fn stored_player(&self, address: &str) -> Decided<Option<Player>> {
        let found = match self.draft.seated.contains(address) {
            true => self.context.seated.get(address),
            false => self.context.player(address)?,
        };
        Ok(found.cloned())
    }

    /// Returns the player with this address as this transaction leaves them so far.
    pub fn player(&self, address: &str) -> Decided<Option<Player>> {
        Ok(self.stored_player(address)?.map(|player| self.latest(player)))
    }

    /// Returns the player with this address, who is added under `name` if there is none.
    pub fn player_or_new(&mut self, address: &str, name: &str) -> Decided<Player> {
        let player = self.context.player_or_new(address, name)?.clone();
        self.draft.note_seated(address);
        Ok(player)
    }

    /// Returns a player as this transaction leaves them so far.
    pub fn latest(&self, player: Player) -> Player {
        let saved = &self.draft.settlement.players;
        saved.iter().rev().find(|saved| saved.id == player.id).cloned().unwrap_or(player)
    }
}
