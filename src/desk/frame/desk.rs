//! The desk: the rows that a decision reads, and its changes so far.
//!
//! Each item of a batch is decided on its own desk, on top of the changes that were accepted before it. Each
//! letter has a draft, which joins the item's changes when the letter succeeds, so that nothing is ever
//! undone.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use chrono::{DateTime, Utc};

use super::club::ClubContext;
use super::parallel::par_map;
use super::random::RandomStream;
use super::rows::{Decided, Key, LoadedEvent, LoadedMatch, LoadedRows, Rows, or_lacking};
use super::stored::match_row;
use crate::club::events::event::EventStage;
use crate::club::names::NamedPlayer;
use crate::config::GmIndex;
use crate::ledger::Entry;
use crate::letter::{Address, Digest, Letter, ReturnId, Token};
use crate::referee::{MatchOverview, SeasonEnd, Stage};
use crate::report::format_local;
use crate::store::{Changes, EventRow, LetterDecision, LetterStatus, Player, Restraints, SeatRow};
use crate::zone::Zone;

/// Changes that are not committed.
#[derive(Clone, Debug, Default)]
pub struct Uncommitted {
    /// Matches that were ruled on.
    pub matches: BTreeMap<String, LoadedMatch>,
    /// Events that changed.
    pub events: BTreeMap<String, LoadedEvent>,
    pub changes: Changes,
    /// Addresses for which a player was found or added.
    pub seated: BTreeSet<String>,
    /// The names of the matches that are opened.
    pub names: BTreeSet<String>,
}

/// A decision in the making.
pub struct Desk<'a> {
    pub club: &'a ClubContext,
    pub rows: Rows<'a>,
    /// The changes made for this letter, or for the match or instruction that is decided on.
    pub draft: Uncommitted,
    /// The changes of the item's letters before it.
    item: Uncommitted,
    /// The changes of the items that were accepted before this one.
    accepted: &'a Uncommitted,
    /// The GM who acts; at the terminal, the first one.
    pub acting: GmIndex,
    /// Whether a GM acts at the terminal or on the screen, where nothing proves who they are.
    pub without_letter: bool,
    /// What the random streams follow from: the letter, the pairing in an event or the match that is being decided on,
    /// by its digest.
    cause: Option<Digest>,
    /// Whether the same cause may come again after an older backup was restored.
    may_come_again: bool,
    /// The number of random streams used so far for each purpose.
    streams: BTreeMap<String, u64>,
}

impl Uncommitted {
    pub fn new(at: DateTime<Utc>) -> Uncommitted {
        Uncommitted { changes: Changes { at, ..Changes::default() }, ..Uncommitted::default() }
    }

    /// Adds later changes.
    pub fn join(&mut self, later: Uncommitted) {
        let Uncommitted { matches, events, changes, seated, names } = later;
        let is_saved_anew = |saved: &SeatRow| {
            changes.seats.iter().any(|row| (&row.match_id, row.seat) == (&saved.match_id, saved.seat))
        };
        // A seat is written once: PostgreSQL rejects an upsert that meets a row twice. The latest token
        // counts.
        self.changes.seats.retain(|saved| !is_saved_anew(saved));
        self.matches.extend(matches);
        self.events.extend(events);
        self.changes.absorb(changes);
        self.seated.extend(seated);
        self.names.extend(names);
    }

    /// Returns the keys of everything that the draft changes. Counts have no keys, because they add up.
    pub fn written(&self) -> BTreeSet<Key> {
        let Uncommitted { matches, events, changes, seated, names } = self;
        let mut keys: BTreeSet<Key> = names.iter().cloned().map(Key::Name).collect();
        keys.extend(seated.iter().cloned().map(Key::Player));
        for id in events.keys() {
            keys.extend([Key::Event(id.clone()), Key::EventList]);
        }
        for (id, loaded) in matches {
            // Any ruling may end the match, or change what the GM's lists show of it.
            keys.extend([Key::Match(id.clone()), Key::Overviews, Key::Ended]);
            keys.extend(loaded.seats.iter().map(|(_, row)| Key::MatchesOf(row.player.id)));
        }
        keys.extend(changes.matches.iter().map(|row| Key::Match(row.id.clone())));
        for row in &changes.seats {
            keys.extend([Key::Match(row.match_id.clone()), Key::MatchesOf(row.player_id), Key::Overviews]);
        }
        for player in &changes.players {
            keys.extend([Key::Holder(player.id), Key::PlayerNames]);
            keys.extend(player.addresses.iter().cloned().map(Key::Player));
        }
        for (gone, into) in &changes.merged {
            // The seats move, so the matches of both players change.
            keys.extend([*gone, *into].into_iter().flat_map(|id| [Key::Holder(id), Key::MatchesOf(id)]));
            keys.insert(Key::PlayerNames);
        }
        keys.extend(changes.newcomers.iter().flat_map(|new| new.addresses.iter().cloned().map(Key::Player)));
        let dispatches = changes.dispatches.iter().map(|dispatch| &dispatch.message_id);
        keys.extend(dispatches.chain(&changes.returned).cloned().map(Key::Dispatch));
        for row in &changes.invitations {
            keys.extend([Key::Invitation(row.code.clone()), Key::OpenInvitations]);
            keys.extend(row.invited.clone().map(|invited| Key::Declined((row.inviter.clone(), invited))));
            keys.extend(row.rematch_of.clone().map(Key::Rematches));
            keys.extend(row.taken_from.clone().map(Key::TakenFrom));
        }
        for row in &changes.ratings {
            keys.extend([Key::Ratings((row.change.player, row.game)), Key::RatingList(row.game)]);
        }
        keys.extend(rated_pairs(&changes.seats));
        keys.extend(changes.owed_turns.iter().map(|row| Key::Reliability(row.player_id)));
        let restraints = &changes.restraints;
        keys.extend(restraints.standings.keys().cloned().map(Key::Sender));
        keys.extend(restraints.questions.keys().map(|(address, _)| Key::Sender(address.clone())));
        for row in &changes.unproven {
            keys.insert(Key::UnprovenUnder(row.code.clone()));
            keys.extend(row.player_id.map(Key::UnprovenOf));
            keys.extend(row.gm.clone().map(Key::UnprovenOfGm));
        }
        for row in &changes.player_changes {
            keys.insert(Key::ChangesOf(row.player_id));
            keys.extend([&row.code, &row.other_code].map(|code| Key::Change(code.clone())));
        }
        keys
    }

    /// Returns the changes, with the matches as rows. Serializes the matches in parallel.
    ///
    /// # Errors
    /// Returns an error if a match cannot be written as JSON.
    pub fn finish(self) -> anyhow::Result<Changes> {
        let Uncommitted { matches, events, mut changes, .. } = self;
        changes.events.extend(events.values().map(event_row));
        let changed: Vec<_> = matches.values().collect();
        for row in par_map(&changed, |loaded| match_row(&loaded.game_match, loaded.version)) {
            changes.matches.push(row?);
        }
        Ok(changes)
    }
}

fn event_row(LoadedEvent { event, told, version }: &LoadedEvent) -> EventRow {
    EventRow {
        id: event.plan.id.clone(),
        name: event.plan.name.clone(),
        game: event.plan.game,
        stage: event.stage,
        wake_at: event.wake_at(told),
        told: told.clone(),
        version: *version,
    }
}

/// Returns the keys of the openings of matches between these holders of seats.
fn rated_pairs(seats: &[SeatRow]) -> impl Iterator<Item = Key> {
    let pairs = seats.iter().enumerate().flat_map(|(place, row)| {
        let others = seats[..place].iter().filter(|other| other.match_id == row.match_id);
        others.map(|other| (row.player_id, other.player_id))
    });
    pairs.map(|(one, other)| Key::RatedOpenings((one.min(other), one.max(other))))
}

/// Returns stored rows as a transaction leaves them so far: those that it changed or added come last, in
/// place of the ones with their keys.
pub fn latest_rows<'s, T: Clone + 's, K: PartialEq>(
    stored: &[T],
    changed: impl Iterator<Item = &'s T>,
    key: impl Fn(&T) -> &K,
) -> Vec<T> {
    let mut rows = stored.to_vec();
    for row in changed {
        rows.retain(|other| key(other) != key(row));
        rows.push(row.clone());
    }
    rows
}

impl<'a> Desk<'a> {
    /// Starts a decision on top of the changes that were accepted before.
    pub fn new(club: &'a ClubContext, loaded: &'a LoadedRows, accepted: &'a Uncommitted) -> Desk<'a> {
        Desk {
            club,
            rows: Rows::new(loaded),
            draft: Uncommitted::new(loaded.at),
            item: Uncommitted::new(loaded.at),
            accepted,
            acting: GmIndex::default(),
            without_letter: false,
            cause: None,
            may_come_again: false,
            streams: BTreeMap::new(),
        }
    }

    /// Accepts the changes of the letter that was decided on.
    pub fn accept(&mut self) {
        let next = Uncommitted::new(self.at());
        let mut accepted = mem::replace(&mut self.draft, next);
        if self.club.config.club.has_return_ids() {
            for dispatch in &mut accepted.changes.dispatches {
                // Draw them anew each time: they name a dispatch, and a letter that is decided again brings about
                // others.
                let purpose = format!("return path of {}", dispatch.message_id);
                let mut random = RandomStream::new(&self.rows.loaded.seed, None, &purpose, 0);
                dispatch.return_id = Some(ReturnId::from_random(random.bytes()));
            }
        }
        self.item.join(accepted);
    }

    /// Drops the changes of the letter, because deciding on it failed.
    pub fn reject(&mut self) {
        self.draft = Uncommitted::new(self.at());
    }

    /// Returns all changes, and the keys of the rows that were read and of those that were lacking.
    pub fn into_parts(mut self) -> (Uncommitted, BTreeSet<Key>, Vec<Key>) {
        self.accept();
        let (read, lacking) = self.rows.into_notes();
        (self.item, read, lacking)
    }

    /// Returns the changes so far: those of accepted items, those of this item, and those of this letter.
    fn drafts(&self) -> [&Uncommitted; 3] {
        [self.accepted, &self.item, &self.draft]
    }

    /// Returns the rows of a list that this transaction has changed so far, in order.
    pub fn added<'s, T: 's>(
        &'s self,
        list: impl Fn(&'s Changes) -> &'s Vec<T>,
    ) -> impl DoubleEndedIterator<Item = &'s T> {
        self.drafts().into_iter().flat_map(move |draft| list(&draft.changes))
    }

    /// Returns the restraints that this transaction has changed so far, those of this letter first.
    pub fn restraints(&self) -> impl Iterator<Item = &Restraints> {
        self.drafts().into_iter().rev().map(|draft| &draft.changes.restraints)
    }

    /// Switches to the random streams of a letter, or of a pairing in an event.
    pub fn begin_cause(&mut self, cause: Digest) {
        // A letter draws the same numbers whichever letters of its item were decided before it.
        self.cause = Some(cause);
        self.may_come_again = true;
        self.streams.clear();
    }

    /// Switches to the random streams of a match on which something is due: other matches of the batch are decided
    /// with the same random bits.
    pub fn begin_match(&mut self, id: &str) {
        self.cause = Some(Digest::of(id.as_bytes()));
    }

    pub fn at(&self) -> DateTime<Utc> {
        self.rows.loaded.at
    }

    /// Returns a random stream that nothing else in this decision uses. Whenever a cause comes again, its streams are
    /// the same, in the order in which those of one purpose are used.
    pub fn random(&mut self, purpose: &str) -> RandomStream {
        let number = self.streams.entry(purpose.to_owned()).or_default();
        *number += 1;
        let loaded = self.rows.loaded;
        let secret = if self.may_come_again { &loaded.secret } else { &loaded.seed };
        RandomStream::new(secret, self.cause, purpose, *number)
    }

    /// Draws a reply token for a person. It follows from the address, too: a letter that is decided again must not give
    /// one person's token to another.
    pub fn draw_token(&mut self, player: &Player) -> Token {
        let address = player.addresses.first().map_or("", String::as_str);
        self.random(&format!("token of {address}")).token()
    }

    /// Returns a match as this transaction leaves it so far.
    pub fn game_match(&self, id: &str) -> Decided<Option<&LoadedMatch>> {
        match self.ruled_on(id) {
            Some(ruled_on) => Ok(Some(ruled_on)),
            None => self.rows.game_match(id),
        }
    }

    /// Returns a match if this transaction has ruled on it.
    pub fn ruled_on(&self, id: &str) -> Option<&LoadedMatch> {
        // Prefer the latest draft: a letter is ruled on in the state in which earlier letters left the match.
        self.drafts().into_iter().rev().find_map(|draft| draft.matches.get(id))
    }

    /// Returns the matches that this transaction has ruled on. A match that was ruled on several times occurs
    /// several times, its latest state last.
    pub fn all_ruled_on(&self) -> impl Iterator<Item = &LoadedMatch> {
        self.drafts().into_iter().flat_map(|draft| draft.matches.values())
    }

    /// Notes the name of a match that is opened, and returns whether it was free in this transaction.
    pub fn take_name(&mut self, name: &str) -> bool {
        let is_free = !self.drafts().iter().any(|draft| draft.names.contains(name));
        is_free && self.draft.names.insert(name.to_owned())
    }

    /// Returns an event as this transaction leaves it so far, to be changed.
    pub fn event(&self, id: &str) -> Decided<Option<LoadedEvent>> {
        Ok(self.event_so_far(id)?.cloned())
    }

    /// Returns an event as this transaction leaves it so far.
    pub fn event_so_far(&self, id: &str) -> Decided<Option<&LoadedEvent>> {
        match self.drafts().into_iter().rev().find_map(|draft| draft.events.get(id)) {
            Some(changed) => Ok(Some(changed)),
            None => self.rows.event(id),
        }
    }

    /// Returns the running seasons of events, by event, with times in this zone.
    pub fn running_seasons(&self, events: &BTreeSet<String>, zone: Zone) -> Decided<Vec<SeasonEnd>> {
        let mut seasons = Vec::new();
        for id in events {
            let Some(event) = self.event_so_far(id)?.map(|loaded| &loaded.event) else { continue };
            let Some(season) = event.running() else { continue };
            seasons.push(SeasonEnd {
                event: id.clone(),
                name: event.plan.name.clone(),
                ends: self.local_time_in(Some(zone), season.ends),
                decides: event.plan.unfinished.to_string(),
            });
        }
        Ok(seasons)
    }

    /// Returns the events that take entries or run.
    pub fn open_events(&self) -> Decided<Vec<LoadedEvent>> {
        let mut open = Vec::new();
        for (id, stage) in self.event_names()? {
            if matches!(stage, EventStage::Entries | EventStage::Running) {
                open.extend(or_lacking(self.event(&id))?.flatten());
            }
        }
        self.rows.check()?;
        Ok(open)
    }

    /// Returns the IDs and stages of all events as this transaction leaves them so far.
    pub fn event_names(&self) -> Decided<BTreeMap<String, EventStage>> {
        let stored = self.rows.event_list()?.iter();
        let mut all: BTreeMap<String, EventStage> = stored.map(|row| (row.id.clone(), row.stage)).collect();
        let changed = self.drafts().into_iter().flat_map(|draft| &draft.events);
        all.extend(changed.map(|(id, loaded)| (id.clone(), loaded.event.stage)));
        Ok(all)
    }

    /// Returns the subject of a letter, and the text of ours that it answers, if they are known.
    pub fn answered_text(&self, letter: &Letter) -> String {
        let texts = letter.answered_ids().filter_map(|id| self.rows.loaded.texts.get(id)).map(String::as_str);
        std::iter::once(letter.subject.as_str()).chain(texts).collect::<Vec<_>>().join("\n")
    }

    /// Returns the entries of a match, including those that this transaction adds.
    pub fn entries(&self, match_id: &str) -> Decided<Vec<Entry>> {
        let mut entries = self.rows.entries(match_id)?.to_vec();
        for row in self.added(|changes| &changes.entries).filter(|row| row.chain == match_id) {
            entries.push(serde_json::from_str(&row.json)?);
        }
        Ok(entries)
    }

    /// Returns the first text at the terminal and on the screen, and the second in a letter: how to give a command.
    pub fn worded<'t>(&self, terminal: &'t str, letter: &'t str) -> &'t str {
        if self.without_letter { terminal } else { letter }
    }

    /// Returns the player with this address, without the changes of this transaction.
    pub fn stored_player(&self, address: &str) -> Decided<Option<Player>> {
        // An address that had no player when it was looked up, and then got one, still has no row under its
        // own key.
        let is_seated = self.drafts().iter().any(|draft| draft.seated.contains(address));
        let found = match is_seated {
            true => self.rows.loaded.seated.get(address),
            false => self.rows.player(address)?,
        };
        Ok(found.cloned())
    }

    /// Returns the player with this address as this transaction leaves them so far.
    pub fn player(&self, address: &str) -> Decided<Option<Player>> {
        Ok(self.stored_player(address)?.map(|player| self.latest(player)))
    }

    /// Returns a player by number, with the address for letters; `None` if no letter reaches them.
    pub fn reachable(&self, id: i64) -> Decided<Option<(Player, Address)>> {
        let mut listed = self.rows.listed_players()?.iter();
        let listed = listed.find(|listed| listed.id == id && listed.is_person());
        let Some(address) = listed.and_then(|listed| Address::parse(listed.address.as_deref()?).ok()) else {
            return Ok(None);
        };
        Ok(self.player(address.as_str())?.map(|player| (player, address)))
    }

    /// Returns the number and name of every person; the house is none.
    pub fn named_people(&self) -> Decided<Vec<NamedPlayer>> {
        let listed = self.rows.listed_players()?.iter().filter(|listed| listed.is_person());
        Ok(listed.map(|listed| NamedPlayer { id: listed.id, name: listed.name.clone() }).collect())
    }

    /// Asks for the rows of all these players at once. A decision that asked for them one by one would need a round
    /// of loading for each.
    pub fn ask_for_all(&self, players: &[i64]) -> Decided<()> {
        for player in players {
            or_lacking(self.reachable(*player))?;
        }
        self.rows.check()
    }

    /// Returns the player with this address, and adds one called `name` if there is none.
    pub fn player_or_new(&mut self, address: &str, name: &str) -> Decided<Player> {
        let player = self.rows.player_or_new(address, name)?.clone();
        self.draft.seated.insert(address.to_owned());
        Ok(player)
    }

    /// Returns a player as this transaction leaves them so far.
    pub fn latest(&self, player: Player) -> Player {
        let mut saved = self.added(|changes| &changes.players).rev();
        saved.find(|saved| saved.id == player.id).cloned().unwrap_or(player)
    }

    /// Whether a letter with this Message-ID was sent, or will be by this decision.
    pub fn is_dispatched(&self, message_id: &str) -> Decided<bool> {
        let mut decided = self.added(|changes| &changes.dispatches);
        Ok(decided.any(|other| other.message_id == message_id) || self.rows.dispatch(message_id)?.is_some())
    }

    /// Returns every match as this transaction leaves it so far: the stored ones by ID, then those that the
    /// transaction opens.
    pub fn overviews(&self) -> Decided<Vec<MatchOverview>> {
        let stored = self.rows.overviews()?.iter();
        let mut by_id: BTreeMap<&str, MatchOverview> =
            stored.map(|overview| (overview.id.as_str(), overview.clone())).collect();
        for loaded in self.all_ruled_on() {
            by_id.insert(&loaded.game_match.id, loaded.game_match.overview());
        }
        let mut overviews: Vec<MatchOverview> = by_id.into_values().collect();
        // A match that was just opened exists only as a new row, and is not among the matches ruled on.
        overviews.extend(self.added(|changes| &changes.matches).map(|row| row.overview.clone()));
        Ok(overviews)
    }

    /// Notes the outcome of a letter that acts for no seat.
    pub fn decided(&mut self, digest: Digest, status: LetterStatus, note: String) {
        let decision = LetterDecision { digest, status, note, seat: None, accepted_by: None };
        self.draft.changes.decided.push(decision);
    }

    pub fn running_matches_of(&self, player_id: i64) -> Decided<Vec<String>> {
        let matches = self.rows.matches_of(player_id)?.iter();
        let running = matches.filter(|(_, game_match)| game_match.stage != Stage::Over);
        Ok(running.map(|(_, game_match)| game_match.id.clone()).collect())
    }

    /// Returns a player's matches as this transaction leaves them so far, without those that this program
    /// cannot rule on.
    pub fn matches_with(&self, player_id: i64) -> Decided<Vec<LoadedMatch>> {
        let mut matches = Vec::new();
        for (_, game_match) in self.rows.matches_of(player_id)? {
            // Ask for all matches before giving up, so that one round loads them.
            matches.extend(or_lacking(self.game_match(&game_match.id))?.flatten().cloned());
        }
        self.rows.check()?;
        Ok(matches)
    }

    /// Formats a time in the zone that a player has chosen, or in the club's.
    pub fn local_time_in(&self, zone: Option<Zone>, at: DateTime<Utc>) -> String {
        format_local(at, zone.unwrap_or(self.club.config.terms.zone), self.at())
    }

    /// Formats a time for the GM, in the club's zone.
    pub fn local_time(&self, at: DateTime<Utc>) -> String {
        self.local_time_in(None, at)
    }
}
