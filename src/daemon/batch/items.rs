//! Decides the items that wait: letters, and matches whose time has come. One batch is one transaction.
//!
//! A bad letter never blocks the rest: a failure is counted and the letter tried again, and after
//! [`MAX_ATTEMPTS`](crate::desk::items::MAX_ATTEMPTS) it is set aside. If the database rejects a batch, its
//! letters are suspects: each goes alone until the bad one is found. Letters that hang or kill the program are found by
//! `attempts`.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use chrono::{DateTime, Utc};

use super::read::{keys_of, read_letters};
use crate::daemon::Office;
use crate::daemon::attempts::Overdue;
use crate::daemon::heartbeat::Loop;
use crate::daemon::parallel::run_blocking;
use crate::desk::door::sender::ReadLetter;
use crate::desk::frame::in_work::InWork;
use crate::desk::frame::rows::{Key, LoadedRows};
use crate::desk::items::{Batch, Item, Progress, set_back};
use crate::desk::matches::acts::by_clock;
use crate::letter::Digest;
use crate::store::{Claimable, LetterStatus, MatchRow, Settlement, StoreError, WaitingLetter};

/// Due matches in one transaction.
const MAX_DUE: u32 = 100;

/// The matches that the clock may rule on.
pub struct DueMatches {
    /// Those that are due by then.
    pub until: DateTime<Utc>,
    /// Those that are left alone.
    pub skipped: BTreeSet<String>,
}

/// What one batch decided.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Settled {
    pub letters: usize,
    pub matches: usize,
}

impl Settled {
    /// Whether there was nothing to decide.
    pub fn is_nothing(self) -> bool {
        self == Settled::default()
    }
}

impl Office {
    /// Decides on every waiting letter.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn settle_all(&self) -> anyhow::Result<()> {
        while !self.settle_some(None).await?.is_nothing() {
            self.heartbeat.beat(Loop::Clock);
        }
        Ok(())
    }

    /// Decides on the letters that were received by then, because later ones may arrive faster than they are decided on,
    /// and on the matches that are due. A match waits for the letters that came before its time and may concern it.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn settle_until(
        &self,
        until: DateTime<Utc>,
        mut due: Option<DueMatches>,
    ) -> anyhow::Result<()> {
        loop {
            self.heartbeat.beat(Loop::Clock);
            let settled = self.settle_some(due.as_mut()).await?;
            let oldest = self.store.oldest_waiting(self.now()).await?;
            let letters_wait = settled.letters > 0 && oldest.is_some_and(|received_at| received_at <= until);
            if settled.matches == 0 && !letters_wait {
                return Ok(());
            }
        }
    }

    /// Decides on some letters, and on some due matches, in one transaction.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn settle_some(&self, due: Option<&mut DueMatches>) -> anyhow::Result<Settled> {
        let _under_way = self.traffic.enter();
        let found = match &due {
            Some(due) => self.matches_due(due).await?,
            None => Vec::new(),
        };
        let ids: Vec<String> = found.iter().map(|row| row.id.clone()).collect();
        let Claimable { letters, matches, mut claim } =
            self.store.claim(self.now(), &ids).await.context("waiting letters")?;
        let settled = Settled { letters: letters.len(), matches: matches.len() };
        if settled.is_nothing() || self.count_unended_attempts(&letters, &mut claim).await? {
            return Ok(settled);
        }
        let in_work = InWork::default();
        let letters = match self.read_watched(self.without_suspects(letters), &in_work).await? {
            Ok(letters) => letters,
            Err(overdue) => return self.set_aside_overdue(overdue, claim).await.map(|()| settled),
        };
        let digests: Vec<Digest> = letters.iter().map(|letter| letter.waiting.digest).collect();
        let alone = <[&ReadLetter; 1]>::try_from(letters.iter().collect::<Vec<_>>());
        let alone = alone.ok().map(|[letter]| letter.waiting.clone());
        let loaded = self.rows_of(&letters, &matches, &in_work).await?;
        let items = items_of(letters, found.iter().filter(|row| matches.contains(&row.id)));
        let deciding = self.decide_items(items, loaded);
        let decided = self.attempts.watch(&in_work, deciding).await;
        self.end_attempts().await?;
        let (settlement, left) = match decided {
            Ok(decided) => decided?,
            Err(overdue) => return self.set_aside_overdue(overdue, claim).await.map(|()| settled),
        };
        if let Some(due) = due {
            // Those that changed may be due again at once.
            let is_changed = |id: &String| settlement.matches.iter().any(|row| row.id == *id);
            due.skipped.extend(matches.into_iter().filter(|id| !is_changed(id) && !left.contains(id)));
        }
        match self.store.commit_claimed(claim, &settlement).await {
            Ok(()) => {
                self.clear_suspects(&digests);
                self.attempts.note_commit(true);
                self.wake_loops(&settlement);
                log_decided(&settlement);
            }
            // Others have changed the same rows. Alone, a letter depends on few of them.
            Err(StoreError::Stale(what)) => {
                tracing::debug!(what, "the rows of a batch have changed; deciding again");
                if !self.attempts.note_commit(false) {
                    self.suspect(&digests);
                }
            }
            Err(error) if error.is_transient() => return Err(error).context("failed to commit"),
            Err(error) => self.isolate(&digests, alone, &error.into()).await?,
        }
        Ok(settled)
    }

    /// Rules on a stored letter, and discards the ruling.
    ///
    /// # Errors
    /// Returns an error if there is no such letter, or if the database does not answer. A ruling that fails is not an
    /// error: the program survives it.
    pub async fn try_letter(&self, digest: Digest) -> anyhow::Result<()> {
        let raw = self.store.letter(digest).await?.context("there is no such letter")?;
        let letter = WaitingLetter::new(digest, raw, self.now());
        let (settings, in_work) = (Arc::clone(&self.club), InWork::default());
        let working = in_work.clone();
        let letters = run_blocking(move || read_letters(&settings, vec![letter], &working)).await?;
        let loaded = self.rows_of(&letters, &[], &in_work).await?;
        if let Err(error) = self.decide_items(vec![Item::Letters(letters)], loaded).await {
            tracing::info!(error = format!("{error:#}"), "the ruling failed");
        }
        Ok(())
    }

    /// Returns the matches that the clock may rule on, those that have waited longest first.
    async fn matches_due(&self, due: &DueMatches) -> anyhow::Result<Vec<MatchRow>> {
        let waiting = self.store.waiting_since(self.now()).await?;
        let mut last = None;
        loop {
            let page = self.store.matches_due(due.until, last.as_ref(), MAX_DUE).await?;
            let Some(behind) = page.last().cloned() else { return Ok(Vec::new()) };
            last = Some(behind);
            // The clock decides nothing while the house is to move.
            let may_rule = |row: &MatchRow| !due.skipped.contains(&row.id) && !row.overview.awaits_house();
            let page: Vec<MatchRow> = page.into_iter().filter(may_rule).collect();
            let found = self.without_earlier_letters(page, &waiting).await?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
    }

    /// Keeps the matches that no letter concerns which came before their time: letters about the match, from its players
    /// or from a GM. A letter that was received in time counts, even if it is read late.
    async fn without_earlier_letters(
        &self,
        mut matches: Vec<MatchRow>,
        waiting: &[(String, String, DateTime<Utc>)],
    ) -> anyhow::Result<Vec<MatchRow>> {
        if waiting.is_empty() {
            return Ok(matches);
        }
        let mut oldest: BTreeMap<&str, DateTime<Utc>> = BTreeMap::new();
        for (lane, sender, received_at) in waiting {
            for name in [lane, sender] {
                let earliest = oldest.entry(name).or_insert(*received_at);
                *earliest = (*earliest).min(*received_at);
            }
        }
        let ids: Vec<String> = matches.iter().map(|row| row.id.clone()).collect();
        let seats = self.store.seats_of(&ids).await?;
        matches.retain(|row| {
            let seats = seats.iter().filter(|seat| seat.match_id == row.id);
            let players = seats.flat_map(|seat| seat.player.addresses.iter().map(String::as_str));
            let gms = self.config.club.gm.addresses().map(|address| address.as_str());
            let mut concerned = players.chain(gms).chain([row.id.as_str()]);
            let is_earlier = |received_at: &DateTime<Utc>| row.wake_at.is_none_or(|at| *received_at <= at);
            !concerned.any(|name| oldest.get(name).is_some_and(is_earlier))
        });
        Ok(matches)
    }

    /// Reads letters, after noting that work on them begins.
    async fn read_watched(
        &self,
        waiting: Vec<WaitingLetter>,
        in_work: &InWork,
    ) -> anyhow::Result<Result<Vec<ReadLetter>, Overdue>> {
        if waiting.is_empty() {
            return Ok(Ok(Vec::new()));
        }
        self.note_attempts(&waiting).await?;
        let (settings, working) = (Arc::clone(&self.club), in_work.clone());
        let reading = run_blocking(move || read_letters(&settings, waiting, &working));
        match self.attempts.watch(in_work, reading).await {
            Ok(letters) => Ok(Ok(letters?)),
            Err(overdue) => {
                self.end_attempts().await?;
                Ok(Err(overdue))
            }
        }
    }

    /// Loads the rows that letters and matches refer to.
    async fn rows_of(
        &self,
        letters: &[ReadLetter],
        matches: &[String],
        in_work: &InWork,
    ) -> anyhow::Result<LoadedRows> {
        let mut loaded = self.new_rows().await?;
        loaded.in_work = in_work.clone();
        let matches = matches.iter().cloned().map(Key::Match);
        self.load(letters.iter().flat_map(keys_of).chain(matches).collect(), &mut loaded).await?;
        loaded.dkim = self.dkim_verdicts(letters).await;
        Ok(loaded)
    }

    /// Decides on items together, and returns the changes of all, and the matches that are left for the next batch.
    pub async fn decide_items(
        &self,
        items: Vec<Item>,
        loaded: LoadedRows,
    ) -> anyhow::Result<(Settlement, Vec<String>)> {
        let mut batch = Batch::new(Arc::new(items), &loaded);
        self.in_rounds(loaded, move |settings, loaded, rounds| {
            Ok(match batch.decide(settings, loaded, rounds) {
                Progress::Done((draft, left)) => Progress::Done((draft.finish()?, left)),
                Progress::Lacks(lacking) => Progress::Lacks(lacking),
            })
        })
        .await
    }

    /// Handles a permanent error: from now on each letter goes alone. If it was alone already, counts a failure of it.
    async fn isolate(
        &self,
        letters: &[Digest],
        alone: Option<WaitingLetter>,
        error: &anyhow::Error,
    ) -> anyhow::Result<()> {
        let error = format!("{error:#}");
        let Some(letter) = alone else {
            tracing::error!(error, letters = letters.len(), "commit rejected; deciding on each letter alone");
            self.suspect(letters);
            return Ok(());
        };
        let counting = self.decide_and_commit(move |desk| set_back(desk, &letter, &anyhow!("{error}")));
        counting.await.context("failed to set a letter aside")
    }
}

/// Returns the items of a batch: letters by lane, each in order, and due matches before the letters that came after
/// their time.
fn items_of<'m>(letters: Vec<ReadLetter>, due: impl Iterator<Item = &'m MatchRow>) -> Vec<Item> {
    let mut lanes: Vec<Vec<ReadLetter>> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for letter in letters {
        let place = *places.entry(letter.waiting.lane.clone()).or_insert(lanes.len());
        match lanes.get_mut(place) {
            Some(lane) => lane.push(letter),
            None => lanes.push(vec![letter]),
        }
    }
    let due = due.map(|row| Item::Match { id: row.id.clone(), cause_of: by_clock() });
    due.chain(lanes.into_iter().map(Item::Letters)).collect()
}

fn log_decided(settlement: &Settlement) {
    for letter in settlement.decided.iter().filter(|letter| letter.status != LetterStatus::Ruled) {
        tracing::info!(letter = %letter.digest, status = letter.status.as_str(), "decided on a letter");
    }
}
