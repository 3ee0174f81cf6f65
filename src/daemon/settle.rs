//! Letters that wait are read, recognised, ruled on and answered: many in one transaction when many wait, those of
//! different matches side by side, and the next while those before them are committed.
//!
//! One letter's fault stops no other: reading and ruling are caught, the letter is tried again, and after three
//! tries it is set aside. That holds also for a letter of which what follows cannot be kept: then those that wait are
//! settled one by one until it is found.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::answers::Answers;
use super::clock::is_of_the_database;
use super::decide::Recognised;
use super::parallel::{meanwhile, side_by_side, wait_for};
use super::proof::Proofs;
use super::pulse::Loop;
use super::write;
use super::{Office, Pause, rest};
use crate::game::BySeat;
use crate::letter::{Address, Letter, Token, UnreadableLetter};
use crate::post::ShutdownSignal;
use crate::post::dkim::DkimVerdict;
use crate::referee::Match;
use crate::report::ClubLetter;
use crate::report::sent::plain_text;
use crate::store::{
    Claim, LetterDecision, LetterStatus, MatchRow, Postponed, Settlement, StoreError, TokenRow, WaitingLetter,
};

/// Letters settled in one transaction: some times as many as the store writes with one statement.
const TOGETHER: u32 = 256;

/// After so many failures a letter is set aside.
const TRIES_AT_MOST: u32 = 3;

/// How letters that wait are taken together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Pace {
    /// Many in one transaction, those of different matches side by side.
    #[default]
    Together,
    /// Many, one after the other: two of them, or one and somebody else, wanted to change the same.
    InOrder,
    /// So many more one by one: what follows from one of them cannot be kept.
    Alone(usize),
}

/// What a loop that settles has in hand.
#[derive(Default)]
struct InHand {
    pace: Pace,
    /// To be committed while the next letters are ruled on.
    held: Option<Ruled>,
    /// By it.
    concerned: Concerned,
    /// Since when something is, one after the other: no one else settles meanwhile.
    since: Option<Instant>,
}

/// After so long whoever else settles has his turn.
const HELD_AT_MOST: Duration = Duration::from_secs(10);

/// Letters that are ruled on, and not committed yet.
struct Ruled {
    letters: Vec<WaitingLetter>,
    claim: Claim,
    settlement: Settlement,
}

/// Who holds a seat of the matches that are ruled on: the tokens and addresses of both.
#[derive(Default)]
struct Concerned {
    tokens: BTreeSet<String>,
    addresses: BTreeSet<String>,
}

/// A match as it is while letters of one transaction are ruled on, one after the other.
#[derive(Clone)]
pub(super) struct Working {
    pub game_match: Match,
    pub version: i64,
    pub seats: BySeat<TokenRow>,
    pub changed: bool,
}

/// What the letters of one transaction need to be ruled on.
#[derive(Default)]
pub(super) struct Known {
    pub matches: BTreeMap<String, Working>,
    pub shared: Arc<Shared>,
}

/// What does not change while they are, but for the answers.
#[derive(Default)]
pub(super) struct Shared {
    pub gm_token: String,
    pub tokens: BTreeMap<String, TokenRow>,
    /// The text of our letters that may be quoted, by Message-ID.
    pub answered: BTreeMap<String, String>,
    pub answers: Answers,
    pub proofs: Proofs,
}

/// A letter as far as it can be read without knowing any match.
pub(super) type Read = Result<Letter, Box<UnreadableLetter>>;

/// The letters of one match, and what is decided on them.
struct Lane<'a> {
    letters: Vec<(&'a WaitingLetter, &'a Option<Read>)>,
    known: Known,
    settlement: Settlement,
}

impl Office {
    /// Settles what waits, until `stop`.
    pub(super) async fn settle_until(self: Arc<Self>, stop: ShutdownSignal) -> anyhow::Result<()> {
        let mut pause = Pause::new();
        let mut hand = InHand::default();
        while !stop.is_set() {
            self.pulse.beat(Loop::Settle);
            match self.settle_some(&mut hand).await {
                Ok(0) => {
                    pause = Pause::new();
                    rest(&self.letters, &stop).await;
                }
                Ok(_) => pause = Pause::new(),
                Err(error) => pause.after_failure("letters cannot be settled", &error, &stop).await,
            }
        }
        self.commit_held(&mut hand).await.map(drop)
    }

    /// Settles every letter that waits.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn settle_all(&self) -> anyhow::Result<()> {
        let mut hand = InHand::default();
        while self.settle_some(&mut hand).await? > 0 {
            self.pulse.beat(Loop::Clock);
        }
        Ok(())
    }

    /// Settles some letters in one transaction and says how many were in hand. Where many wait, they are committed the
    /// next time, while letters that have nothing to do with them are ruled on.
    async fn settle_some(&self, hand: &mut InHand) -> anyhow::Result<usize> {
        let settled = self.settle_next(hand).await;
        if settled.is_err() {
            // What is wrong with the next letters holds up none before them.
            self.commit_held(hand).await?;
        }
        settled
    }

    async fn settle_next(&self, hand: &mut InHand) -> anyhow::Result<usize> {
        let limit = if matches!(hand.pace, Pace::Alone(_)) { 1 } else { TOGETHER };
        let before = hand.held.as_mut().map(|held| &mut held.claim);
        let (letters, claim) =
            self.store.claim_letters(self.now(), limit, before).await.context("waiting letters")?;
        let read = side_by_side(&letters, |letter| self.read(&letter.raw));
        if let Some(held) = &hand.held
            && (letters.is_empty() || self.concern(&read, &hand.concerned))
        {
            let count = held.letters.len();
            if !self.commit_held(hand).await? || letters.is_empty() {
                return Ok(count);
            }
        }
        if letters.is_empty() {
            *hand = InHand::default();
            return Ok(0);
        }
        let count = letters.len();
        let mut known = self.gather(&letters, &read).await?;
        let settlement = if hand.held.is_some() {
            let deciding = || wait_for(self.decide(&letters, &read, &mut known, Pace::Together));
            let (settlement, committed) = meanwhile(deciding, self.commit_held(hand));
            if !committed? {
                return Ok(count);
            }
            settlement.context("ruling on the letters failed")??
        } else {
            self.decide(&letters, &read, &mut known, hand.pace).await?
        };
        let full = hand.pace == Pace::Together && count == TOGETHER as usize;
        let since = hand.since.take().unwrap_or_else(Instant::now);
        let ruled = Ruled { letters, claim, settlement };
        if full && since.elapsed() < HELD_AT_MOST && self.may_be_held(&ruled.settlement) {
            (hand.held, hand.concerned, hand.since) = (Some(ruled), Concerned::by(known), Some(since));
        } else {
            self.commit_ruled(ruled, &mut hand.pace).await?;
        }
        Ok(count)
    }

    /// Whether letters that do not concern those of its matches can be ruled on before this is committed.
    fn may_be_held(&self, settlement: &Settlement) -> bool {
        let for_seats = settlement.decided.iter().all(|decided| decided.seat.is_some());
        // Where several share the letters, others are ruled on anyway. And where proofs are asked for, the next letters
        // may have to wait for a name server.
        for_seats && settlement.is_of_matches() && !self.store.is_shared() && self.verifier.is_none()
    }

    /// Whether one of these letters is the GM's, or from one of those concerned, or about one of their matches.
    fn concern(&self, read: &[Option<Read>], concerned: &Concerned) -> bool {
        read.iter().flatten().any(|read| match read {
            Ok(letter) => self.is_gm(&letter.from) || concerned.has(Some(&letter.from), &letter.tokens),
            Err(unreadable) => concerned.has(unreadable.answerable.as_ref(), &unreadable.tokens),
        })
    }

    /// Commits what is in hand; the rest is as of [`Office::commit_ruled`].
    async fn commit_held(&self, hand: &mut InHand) -> anyhow::Result<bool> {
        match hand.held.take() {
            Some(held) => self.commit_ruled(held, &mut hand.pace).await,
            None => Ok(true),
        }
    }

    /// Commits what was ruled on and says whether it could be. If not, its letters still wait, and `pace` is how they
    /// are to be taken.
    async fn commit_ruled(&self, ruled: Ruled, pace: &mut Pace) -> anyhow::Result<bool> {
        let Ruled { letters, claim, settlement } = ruled;
        match self.store.commit_claimed(claim, &settlement).await {
            Ok(()) => {
                *pace = match *pace {
                    Pace::Alone(more) if more > 1 => Pace::Alone(more - 1),
                    Pace::Alone(_) | Pace::InOrder | Pace::Together => Pace::Together,
                };
                self.committed(&settlement);
                for letter in settlement.decided.iter().filter(|letter| letter.status != LetterStatus::Ruled)
                {
                    tracing::info!(letter = %letter.digest, fate = letter.status.as_str(), "a letter is decided");
                }
                return Ok(true);
            }
            // Somebody else has ruled on one of the matches meanwhile: all is loaded and ruled on again.
            Err(StoreError::Stale(what)) => {
                tracing::debug!(what, "changed by another; again");
                if *pace == Pace::Together {
                    *pace = Pace::InOrder;
                }
            }
            Err(error) if error.is_transient() => {
                return Err(error).context("the settlement could not be committed");
            }
            Err(error) => {
                if let [letter] = &letters[..] {
                    let mut settlement = Settlement { at: self.now(), ..Settlement::default() };
                    self.set_back(letter, &error.into(), &mut settlement).await?;
                    self.store.commit(&settlement).await.context("a letter could not be set aside")?;
                } else {
                    tracing::error!(%error, letters = letters.len(), "could not be kept; they are settled one by one");
                    // The one that is at fault is tried more often than once.
                    *pace = Pace::Alone(letters.len() + TRIES_AT_MOST as usize);
                }
            }
        }
        Ok(false)
    }

    /// Decides what becomes of these letters.
    async fn decide(
        &self,
        letters: &[WaitingLetter],
        read: &[Option<Read>],
        known: &mut Known,
        pace: Pace,
    ) -> anyhow::Result<Settlement> {
        let mut settlement = Settlement { at: self.now(), ..Settlement::default() };
        let mut lanes: BTreeMap<String, Vec<(&WaitingLetter, &Option<Read>)>> = BTreeMap::new();
        for (waiting, read) in letters.iter().zip(read) {
            match self.lane(waiting, read.as_ref(), known).filter(|_| pace == Pace::Together) {
                Some(match_id) => lanes.entry(match_id).or_default().push((waiting, read)),
                None => {
                    // It may be about any match: what came before it is decided first.
                    self.settle_lanes(std::mem::take(&mut lanes), known, &mut settlement).await?;
                    self.settle_safely(waiting, read.as_ref(), known, &mut settlement).await?;
                }
            }
        }
        self.settle_lanes(lanes, known, &mut settlement).await?;
        known.put_on(&mut settlement)?;
        Ok(settlement)
    }

    /// Reads a letter; `None` when reading it panicked.
    pub(super) fn read(&self, raw: &[u8]) -> Option<Read> {
        let limits = self.config.letters.limits();
        catch_unwind(AssertUnwindSafe(|| Letter::read(raw, &self.own, &limits))).ok()
    }

    /// Loads what the letters refer to, in a few queries for all of them.
    async fn gather(&self, letters: &[WaitingLetter], read: &[Option<Read>]) -> anyhow::Result<Known> {
        let readable = || read.iter().flatten().filter_map(|read| read.as_ref().ok());
        let wanted: BTreeSet<String> =
            readable().flat_map(|letter| letter.tokens.iter().map(ToString::to_string)).collect();
        let wanted: Vec<_> = wanted.into_iter().collect();
        let seats = self.store.seats_by_token(&wanted).await.context("reply tokens")?;
        let tokens: BTreeMap<String, TokenRow> = seats
            .iter()
            .filter(|row| wanted.binary_search(&row.token).is_ok())
            .map(|row| (row.token.clone(), row.clone()))
            .collect();
        let matches = self.working(seats).await?;
        let answered: BTreeSet<String> = readable().flat_map(|letter| letter.thread().cloned()).collect();
        let answered: Vec<_> = answered.into_iter().collect();
        let answered = self.store.dispatches_by_message_id(&answered).await.context("letters answered")?;
        let answered = side_by_side(&answered, |(id, bytes)| (id.clone(), plain_text(bytes)));
        let readers: BTreeSet<String> =
            tokens.values().filter_map(|row| row.player.addresses.first().cloned()).collect();
        let answers = Answers::default();
        self.look_up_answers(&readers.into_iter().collect::<Vec<_>>(), &answers).await?;
        let shared = Shared {
            gm_token: self.gm_token().await?,
            tokens,
            answered: answered.into_iter().collect(),
            answers,
            proofs: self.proofs(letters, read).await,
        };
        Ok(Known { matches, shared: Arc::new(shared) })
    }

    /// The matches of these seats as far as they can be loaded.
    pub(super) async fn working(&self, seats: Vec<TokenRow>) -> anyhow::Result<BTreeMap<String, Working>> {
        let mut by_match: BTreeMap<String, Vec<TokenRow>> = BTreeMap::new();
        for seat in seats {
            by_match.entry(seat.match_id.clone()).or_default().push(seat);
        }
        let ids: Vec<String> = by_match.keys().cloned().collect();
        let rows = self.store.matches(&ids).await.context("matches")?;
        let mut loaded = BTreeMap::new();
        // Where one cannot be loaded, whatever is about it fails, and nothing else.
        let rulable = side_by_side(&rows, rulable);
        for (game_match, row) in
            rulable.into_iter().zip(rows).filter_map(|(game_match, row)| Some((game_match?, row)))
        {
            let seats = by_match.remove(&row.id).unwrap_or_default();
            match write::both_seats(seats, &row.id) {
                Ok(seats) => {
                    loaded
                        .insert(row.id, Working { game_match, version: row.version, seats, changed: false });
                }
                Err(error) => {
                    tracing::error!(match_id = row.id, error = format!("{error:#}"), "it lacks a seat")
                }
            }
        }
        Ok(loaded)
    }

    /// The match that a seat's letter is about, if nothing was decided about it yet.
    fn lane(&self, waiting: &WaitingLetter, read: Option<&Read>, known: &Known) -> Option<String> {
        let letter = read?.as_ref().ok().filter(|letter| letter.automatic.is_none())?;
        let Recognised::Seat(row) = self.recognised(letter, known) else { return None };
        let proven = self.verifier.is_none()
            || matches!(known.shared.proofs.get(&waiting.digest), Some(DkimVerdict::Passed));
        let untouched = known.matches.get(&row.match_id).is_some_and(|working| !working.changed);
        (proven && untouched).then_some(row.match_id)
    }

    /// Settles letters of several matches, each match by itself.
    async fn settle_lanes(
        &self,
        lanes: BTreeMap<String, Vec<(&WaitingLetter, &Option<Read>)>>,
        known: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let at = settlement.at;
        let lanes: Vec<Mutex<Lane>> = lanes
            .into_iter()
            .map(|(id, letters)| {
                let matches = known.matches.remove_entry(&id).into_iter().collect();
                let known = Known { matches, shared: Arc::clone(&known.shared) };
                Mutex::new(Lane { letters, known, settlement: Settlement { at, ..Settlement::default() } })
            })
            .collect();
        let done = side_by_side(&lanes, |lane| {
            let mut lane = lane.lock().expect("a lane is settled by one, and its faults are caught");
            let Lane { letters, known, settlement } = &mut *lane;
            wait_for(async {
                for (waiting, read) in letters {
                    self.settle_safely(waiting, read.as_ref(), known, settlement).await?;
                }
                anyhow::Ok(())
            })
        });
        for (lane, done) in lanes.into_iter().zip(done) {
            done.context("settling a match failed")??;
            let lane = lane.into_inner().expect("a lane is settled by one, and its faults are caught");
            known.matches.extend(lane.known.matches);
            settlement.absorb(lane.settlement);
        }
        Ok(())
    }

    /// Settles one letter. When that fails, nothing of it is left but that it failed.
    ///
    /// # Errors
    /// The database does not answer.
    async fn settle_safely(
        &self,
        waiting: &WaitingLetter,
        read: Option<&Read>,
        known: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let before = (known.matches.clone(), settlement.clone());
        let settled = wait_for(self.settle_one(waiting, read, known, settlement));
        let Err(error) = settled.unwrap_or_else(|| Err(anyhow::anyhow!("ruling on the letter failed")))
        else {
            return Ok(());
        };
        (known.matches, *settlement) = before;
        if is_of_the_database(&error) {
            return Err(error);
        }
        self.set_back(waiting, &error, settlement).await
    }

    /// Counts a failure; the third sets the letter aside.
    async fn set_back(
        &self,
        waiting: &WaitingLetter,
        error: &anyhow::Error,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let (letter, tries) = (waiting.digest, waiting.tries + 1);
        let note = format!("{error:#}");
        tracing::error!(%letter, tries, error = note, "a letter could not be ruled on");
        if tries < TRIES_AT_MOST {
            settlement.postponed.push(Postponed { digest: letter, note, until: None });
        } else {
            let sender = new_letter_sender(&waiting.raw);
            let plain = ClubLetter::SetAside { digest: letter.to_string(), sender, note: note.clone() };
            let unique = format!("s.{}", &letter.to_string()[..24]);
            settlement.dispatches.push(self.gm_dispatch(&plain, &unique, None).await?);
            settlement.decided.push(LetterDecision {
                digest: letter,
                status: LetterStatus::SetAside,
                note,
                seat: None,
            });
        }
        Ok(())
    }
}

impl Concerned {
    fn by(known: Known) -> Concerned {
        let mut all = Concerned::default();
        for working in known.matches.into_values() {
            working.seats.map(|row| {
                all.tokens.insert(row.token);
                all.addresses.extend(row.player.addresses);
            });
        }
        all
    }

    fn has(&self, address: Option<&Address>, tokens: &[Token]) -> bool {
        address.is_some_and(|address| self.addresses.contains(address.as_str()))
            || tokens.iter().any(|token| self.tokens.contains(token.as_str()))
    }
}

/// A match from its row; one whose rules are not known cannot be ruled on.
pub(super) fn snapshot(row: &MatchRow) -> anyhow::Result<Match> {
    let game_match: Match = serde_json::from_str(&row.snapshot)
        .with_context(|| format!("the snapshot of match {} cannot be read", row.id))?;
    game_match
        .game
        .knows_rules(game_match.rules)
        .map_err(anyhow::Error::msg)
        .with_context(|| row.id.clone())?;
    Ok(game_match)
}

/// A match from its row. One that cannot be ruled on is passed over, so that the others go on.
pub(super) fn rulable(row: &MatchRow) -> Option<Match> {
    let noted = |error: &anyhow::Error| {
        tracing::error!(match_id = row.id, error = format!("{error:#}"), "it cannot be ruled on");
    };
    snapshot(row).inspect_err(noted).ok()
}

/// The sender as the header has him, of a letter that could not be read.
fn new_letter_sender(raw: &[u8]) -> String {
    let mail = mail_parser::MessageParser::default().parse_headers(raw);
    let sender = mail.as_ref().and_then(|mail| mail.from()?.first()?.address());
    sender.unwrap_or("nobody").chars().filter(|c| !c.is_control()).take(200).collect()
}
