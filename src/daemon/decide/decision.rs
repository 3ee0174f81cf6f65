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

/// The changes of a decision so far.
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
}

/// A decision in the making.
pub struct Decision<'a> {
    pub settings: &'a Settings,
    pub context: &'a RulingContext,
    /// The changes of this letter.
    pub draft: DecisionDraft,
    /// The changes of the letters before it in the same transaction.
    before: DecisionDraft,
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

    /// Adds a later draft, or one that shares no key with this one.
    pub fn join(&mut self, other: DecisionDraft) {
        let DecisionDraft { matches, settlement, answers, seated, names, touched } = other;
        let is_saved_anew = |saved: &SeatRow| {
            settlement.seats.iter().any(|row| (&row.match_id, row.seat) == (&saved.match_id, saved.seat))
        };
        self.settlement.seats.retain(|saved| !is_saved_anew(saved));
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

    /// Starts a decision that follows others of the same transaction, which have made these changes.
    pub fn upon(settings: &'a Settings, context: &'a RulingContext, before: DecisionDraft) -> Decision<'a> {
        Decision {
            settings,
            context,
            draft: DecisionDraft::new(context.at),
            before,
            acting: GmIndex::default(),
            at_terminal: false,
            subject: Vec::new(),
            streams: 0,
        }
    }

    /// Accepts the changes of the letter that was decided on.
    pub fn accept(&mut self) {
        let accepted = mem::replace(&mut self.draft, DecisionDraft::new(self.context.at));
        self.before.join(accepted);
    }

    /// Drops the changes of the letter, because deciding on it failed.
    pub fn reject(&mut self) {
        self.draft = DecisionDraft::new(self.context.at);
    }

    /// Returns the changes of all letters that were accepted.
    pub fn accepted(self) -> DecisionDraft {
        self.before
    }

    /// The rows of a list that this transaction has changed so far, in order.
    pub fn added<'s, T: 's>(
        &'s self,
        list: impl Fn(&'s Settlement) -> &'s Vec<T>,
    ) -> impl DoubleEndedIterator<Item = &'s T> {
        list(&self.before.settlement).iter().chain(list(&self.draft.settlement))
    }

    /// The restraints that this transaction has changed so far, those of this letter first.
    pub fn restraints(&self) -> [&Restraints; 2] {
        [&self.draft.settlement.restraints, &self.before.settlement.restraints]
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
        self.draft.touched.insert(key);
    }

    /// Returns a match as this transaction leaves it so far.
    pub fn game_match(&self, id: &str) -> Decided<Option<&LoadedMatch>> {
        match self.ruled_on(id) {
            Some(ruled_on) => Ok(Some(ruled_on)),
            None => self.context.game_match(id),
        }
    }

    /// Returns a match if this transaction has ruled on it.
    pub fn ruled_on(&self, id: &str) -> Option<&LoadedMatch> {
        self.draft.matches.get(id).or_else(|| self.before.matches.get(id))
    }

    /// The matches that this transaction has ruled on. One that the letter has changed again comes twice, last as it is now.
    pub fn all_ruled_on(&self) -> impl Iterator<Item = &LoadedMatch> {
        self.before.matches.values().chain(self.draft.matches.values())
    }

    /// Returns the answers that a reader has got in the last hour, including those of this transaction.
    pub fn recent_answers(&self, reader: &str) -> Decided<&[RecentAnswer]> {
        match self.draft.answers.get(reader).or_else(|| self.before.answers.get(reader)) {
            Some(counted) => Ok(counted),
            None => self.context.answers_to(reader),
        }
    }

    /// Adds an answer to those of its reader.
    pub fn add_answer(&mut self, reader: &str, answer: RecentAnswer) -> Decided<()> {
        let mut answers = self.recent_answers(reader)?.to_vec();
        answers.push(answer);
        self.draft.answers.insert(reader.to_owned(), answers);
        Ok(())
    }

    /// Notes the name of a match that is opened, and returns whether it was free in this transaction.
    pub fn take_name(&mut self, name: &str) -> bool {
        !self.before.names.contains(name) && self.draft.names.insert(name.to_owned())
    }

    /// Replaces a match with its state after a ruling.
    pub fn keep_match(&mut self, loaded: LoadedMatch, after: Match) {
        self.touch(Key::Match(after.id.clone()));
        let id = after.id.clone();
        self.draft.matches.insert(id, LoadedMatch { game_match: after, changed: true, ..loaded });
    }

    /// Returns the player with this address, without the changes of this transaction.
    pub fn stored_player(&self, address: &str) -> Decided<Option<Player>> {
        let is_seated = [&self.draft, &self.before].iter().any(|draft| draft.seated.contains(address));
        let found = match is_seated {
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
        self.draft.seated.insert(address.to_owned());
        Ok(player)
    }

    /// Returns a player as this transaction leaves them so far.
    pub fn latest(&self, player: Player) -> Player {
        let mut saved = self.added(|settlement| &settlement.players).rev();
        saved.find(|saved| saved.id == player.id).cloned().unwrap_or(player)
    }
}
