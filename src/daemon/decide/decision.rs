//! A decision in the making: what it reads, and what it has changed so far.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};

use super::context::{LoadedMatch, RecentAnswer, RulingContext};
use super::random::{self, Random};
use super::settings::Settings;
use super::stored::match_row;
use super::undecided::Decided;
use crate::letter::Digest;
use crate::referee::Match;
use crate::store::{Player, Settlement};

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
}

/// What a decision has changed so far.
#[derive(Clone, Debug, Default)]
pub struct Draft {
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
    pub draft: Draft,
    /// Identifies the letter that is being decided on, for its random streams.
    subject: Vec<u8>,
    /// The number of random streams used so far.
    streams: u64,
}

impl Draft {
    pub fn new(at: DateTime<Utc>) -> Draft {
        Draft { settlement: Settlement { at, ..Settlement::default() }, ..Draft::default() }
    }

    /// Adds a draft that shares no key with this one.
    pub fn join(&mut self, other: Draft) {
        let Draft { matches, settlement, answers, seated, names, touched } = other;
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
        Decision::upon(settings, context, Draft::new(context.at))
    }

    /// Starts a decision that follows others of the same transaction, whose changes are in `draft`.
    pub fn upon(settings: &'a Settings, context: &'a RulingContext, draft: Draft) -> Decision<'a> {
        Decision { settings, context, draft, subject: Vec::new(), streams: 0 }
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
        match self.draft.matches.get(id) {
            Some(ruled_on) => Ok(Some(ruled_on)),
            None => self.context.game_match(id),
        }
    }

    /// Replaces a match with its state after a ruling.
    pub fn keep_match(&mut self, loaded: LoadedMatch, after: Match) {
        let id = after.id.clone();
        self.touch(Key::Match(id.clone()));
        self.draft.matches.insert(id, LoadedMatch { game_match: after, changed: true, ..loaded });
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
        self.draft.seated.insert(address.to_owned());
        Ok(player)
    }

    /// Returns a player as this transaction leaves them so far.
    pub fn latest(&self, player: Player) -> Player {
        let saved = &self.draft.settlement.players;
        saved.iter().rev().find(|saved| saved.id == player.id).cloned().unwrap_or(player)
    }
}
