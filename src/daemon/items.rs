//! Decides the items that wait: letters, and matches whose time has come. One batch is one transaction.
//!
//! A bad letter never blocks the rest: a failure is counted and the letter tried again, and after
//! [`MAX_ATTEMPTS`](crate::desk::items::MAX_ATTEMPTS) it is set aside. If the database rejects a batch, its
//! letters are suspects: each is decided alone until the bad one is found. Letters that hang or kill the
//! program are found by [`suspects`](super::suspects).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use chrono::{DateTime, Utc};

use super::commit::is_transient;
use super::heartbeat::Loop;
use super::load::read::{keys_of, read_letters};
use super::load::{self, read};
use super::suspects::{self, Overdue};
use super::waiting::run_blocking;
use super::{Office, commit, restored};
use crate::desk::door::sender::ReadLetter;
use crate::desk::frame::in_work::InWork;
use crate::desk::frame::rows::{Key, LoadedRows};
use crate::desk::items::{Item, MAX_ATTEMPTS, Rounds, set_back};
use crate::desk::matches::acts::by_clock;
use crate::desk::outbox::alarms;
use crate::letter::Digest;
use crate::store::{Changes, Claim, Claimable, MAX_CLAIMED, MatchRow, StoreError, WaitingLetter};

/// Due matches in one transaction.
const MAX_DUE: u32 = 100;

/// The matches that the clock may rule on.
pub struct DueMatches {
    /// The time by which they are due.
    until: DateTime<Utc>,
    /// Matches to leave alone.
    skipped: BTreeSet<String>,
    /// Whether each is decided alone, because a batch of several failed.
    one_by_one: bool,
}

impl DueMatches {
    pub fn new(until: DateTime<Utc>, skipped: BTreeSet<String>) -> DueMatches {
        DueMatches { until, skipped, one_by_one: false }
    }

    /// Handles the failure of a batch with these matches: each is decided alone from now on, and one that
    /// already was is skipped.
    fn isolate(&mut self, matches: Vec<String>, without_letters: bool) {
        if let ([match_id], true) = (&matches[..], without_letters) {
            tracing::error!(match_id, "failed to enforce the deadline of a match");
            self.skipped.extend(matches);
        }
        self.one_by_one = true;
    }
}

/// The numbers of letters and matches in one batch.
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

/// Decides on every waiting letter.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn settle_all(office: &Office) -> anyhow::Result<()> {
    while !settle_some(office, None).await?.is_nothing() {
        office.heartbeat.beat(Loop::Clock);
    }
    Ok(())
}

/// Decides on the letters that were received by `until`, because later ones may arrive faster than they are
/// decided on, and on the matches that are due. A match waits for the letters that came before its time and
/// may concern it.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn settle_until(
    office: &Office,
    until: DateTime<Utc>,
    mut due: Option<DueMatches>,
) -> anyhow::Result<()> {
    loop {
        office.heartbeat.beat(Loop::Clock);
        // Boxed, because it is the largest part of what the loops wait for.
        let settled = Box::pin(settle_some(office, due.as_mut())).await?;
        let oldest = office.store.oldest_waiting(office.now()).await?;
        let letters_wait = settled.letters > 0 && oldest.is_some_and(|received_at| received_at <= until);
        if settled.matches == 0 && !letters_wait {
            return Ok(());
        }
    }
}

/// Claims letters that wait, and matches that are `due`: after a restore, the next letter alone. Returns whether it was
/// that.
async fn claim_some(office: &Office, due: &[String]) -> anyhow::Result<(Claimable, bool)> {
    if let Some(next) =
        restored::claim_next(office).await.context("failed to claim the next letter after a restore")?
    {
        return Ok((next, true));
    }
    let claimable = office.store.claim(office.now(), due).await.context("failed to claim waiting letters")?;
    Ok((claimable, false))
}

/// Decides on some letters, and on some due matches, in one transaction.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn settle_some(office: &Office, mut due: Option<&mut DueMatches>) -> anyhow::Result<Settled> {
    let _under_way = office.traffic.enter();
    office.attempts.retry_locked();
    let found = match &due {
        Some(due) => matches_due(office, due).await?,
        None => Vec::new(),
    };
    let ids: Vec<String> = found.iter().map(|row| row.id.clone()).collect();
    let (claimable, is_after_restore) = claim_some(office, &ids).await?;
    let Claimable { mut letters, matches, mut claim } = claimable;
    if due.as_ref().is_some_and(|due| due.one_by_one) && !matches.is_empty() {
        letters.clear();
    }
    let settled = Settled { letters: letters.len(), matches: matches.len() };
    if settled.is_nothing() || suspects::count_unended_attempts(office, &letters, &mut claim).await? {
        return Ok(settled);
    }
    if letters.len() >= MAX_CLAIMED {
        // More letters may wait than this claim holds. Wake another loop to decide on them while this batch
        // is committed.
        office.letters_arrived.notify_one();
    }
    let in_work = InWork::default();
    let batch = office.attempts.next_batch();
    let letters = suspects::without_suspects(office, letters);
    let letters = match read_watched(office, letters, &in_work, &batch).await? {
        Ok(letters) => letters,
        Err(overdue) => return suspects::set_aside_overdue(office, overdue, claim).await.map(|()| settled),
    };
    let digests: Vec<Digest> = letters.iter().map(|letter| letter.waiting.digest).collect();
    // If the database rejects the batch, a letter that was alone in it is the bad one.
    let alone = match &letters[..] {
        [letter] if matches.is_empty() => Some(letter.waiting.clone()),
        _ => None,
    };
    let deciding = load_and_decide(office, letters, &found, &matches, &in_work);
    let decided = office.attempts.watch(&in_work, deciding).await;
    suspects::end_attempts(office, &batch).await?;
    let (changes, left) = match decided {
        Ok(Ok(decided)) => decided,
        Ok(Err(error)) if is_transient(&error) => return Err(error),
        Ok(Err(error)) => {
            drop(claim);
            return isolate(office, due, matches, &digests, alone, &error).await.map(|()| settled);
        }
        Err(overdue) => return suspects::set_aside_overdue(office, overdue, claim).await.map(|()| settled),
    };
    if let Some(due) = &mut due {
        // Do not skip matches that changed: they may be due again at once.
        let is_changed = |id: &String| changes.matches.iter().any(|row| row.id == *id);
        due.skipped.extend(matches.iter().filter(|id| !is_changed(id) && !left.contains(id)).cloned());
    }
    match office.store.commit(&changes).await {
        Ok(()) => {
            drop(claim);
            suspects::clear_suspects(office, &digests);
            office.attempts.note_commit(true);
            commit::wake_loops(office, &changes);
            if is_after_restore {
                restored::play_for_house(office, &changes).await?;
            }
        }
        // Others have changed the same rows. After repeated conflicts, decide on these letters one by one: a
        // single letter depends on few rows.
        Err(StoreError::Stale(what)) => {
            tracing::debug!(what, "the rows of a batch have changed; deciding again");
            if !office.attempts.note_commit(false) {
                suspects::suspect(office, &digests);
            }
        }
        Err(StoreError::RowLocked) => wait_for_lock(office, due, alone, &matches, &digests, claim),
        Err(error) if error.is_transient() => return Err(error).context("failed to commit"),
        Err(error) => isolate(office, due, matches, &digests, alone, &error.into()).await?,
    }
    Ok(settled)
}

/// Loads the rows of claimed letters and due matches, and decides on them.
async fn load_and_decide(
    office: &Office,
    letters: Vec<ReadLetter>,
    due: &[MatchRow],
    matches: &[String],
    in_work: &InWork,
) -> anyhow::Result<(Changes, Vec<String>)> {
    let loaded = rows_of(office, &letters, matches, in_work).await?;
    let items = items_of(letters, due.iter().filter(|row| matches.contains(&row.id)));
    commit::decide_items(office, items, loaded).await
}

/// Rules on a stored letter, and discards the ruling.
///
/// # Errors
/// Returns an error if there is no such letter, or if the database does not answer. A ruling that fails is
/// not an error: the program survives it.
pub async fn try_letter(office: &Office, digest: Digest) -> anyhow::Result<()> {
    let raw = office.store.letter(digest).await?.context("there is no such letter")?;
    let letter = WaitingLetter::new(digest, raw, office.now());
    let settings = Arc::clone(&office.club);
    let in_work = InWork::default();
    let working = in_work.clone();
    let letters = run_blocking(move || read_letters(&settings, vec![letter], &working)).await?;
    let loaded = rows_of(office, &letters, &[], &in_work).await?;
    if let Err(error) = commit::decide_items(office, vec![Item::Letters(letters)], loaded).await {
        tracing::info!(error = format!("{error:#}"), "the ruling failed");
    }
    Ok(())
}

/// Returns the matches that the clock may rule on, those that have waited longest first.
async fn matches_due(office: &Office, due: &DueMatches) -> anyhow::Result<Vec<MatchRow>> {
    let waiting = office.store.waiting_since(office.now()).await?;
    let mut last = None;
    loop {
        let page = office.store.matches_due(due.until, last.as_ref(), MAX_DUE).await?;
        let Some(behind) = page.last().cloned() else { return Ok(Vec::new()) };
        last = Some(behind);
        // The clock decides nothing while the house has to move.
        let may_rule = |row: &MatchRow| !due.skipped.contains(&row.id) && !row.overview.awaits_house();
        let page: Vec<MatchRow> = page.into_iter().filter(may_rule).collect();
        let page = without_unsent_openings(office, page).await?;
        let mut found = without_earlier_letters(office, page, &waiting).await?;
        if !found.is_empty() {
            // After a failed batch, a match that fails again must not take others with it.
            found.truncate(if due.one_by_one { 1 } else { found.len() });
            return Ok(found);
        }
    }
}

/// Drops matches with a bank in which the letter that opened the phase has not been sent yet: no day is taken
/// from a bank before that. Once it is sent, the deadline moves by the delay.
async fn without_unsent_openings(
    office: &Office,
    mut matches: Vec<MatchRow>,
) -> anyhow::Result<Vec<MatchRow>> {
    let with_bank = matches.iter().filter(|row| row.overview.has_bank).map(|row| row.id.clone());
    let with_bank: Vec<String> = with_bank.collect();
    if !with_bank.is_empty() {
        let unsent = office.store.with_unsent_opening(&with_bank).await?;
        matches.retain(|row| !unsent.contains(&row.id));
    }
    Ok(matches)
}

/// Keeps the matches that no earlier letter may concern: no letter about the match, from its players or from
/// a GM was received before the match's time. A letter that was received in time counts, even if it is read
/// late.
async fn without_earlier_letters(
    office: &Office,
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
    let seats = office.store.seats_of(&ids).await?;
    matches.retain(|row| {
        let seats = seats.iter().filter(|seat| seat.match_id == row.id);
        let players = seats.flat_map(|seat| seat.player.addresses.iter().map(String::as_str));
        let gms = office.config.club.gm.addresses().map(|address| address.as_str());
        let mut concerned = players.chain(gms).chain([row.id.as_str()]);
        let is_earlier = |received_at: &DateTime<Utc>| row.wake_at.is_none_or(|at| *received_at <= at);
        !concerned.any(|name| oldest.get(name).is_some_and(is_earlier))
    });
    Ok(matches)
}

/// Reads letters, after noting that work on them begins.
async fn read_watched(
    office: &Office,
    waiting: Vec<WaitingLetter>,
    in_work: &InWork,
    batch: &suspects::BatchOwner<'_>,
) -> anyhow::Result<Result<Vec<ReadLetter>, Overdue>> {
    if waiting.is_empty() {
        return Ok(Ok(Vec::new()));
    }
    suspects::note_attempts(office, batch, &waiting).await?;
    let settings = Arc::clone(&office.club);
    let working = in_work.clone();
    let reading = run_blocking(move || read_letters(&settings, waiting, &working));
    match office.attempts.watch(in_work, reading).await {
        Ok(letters) => Ok(Ok(letters?)),
        Err(overdue) => {
            suspects::end_attempts(office, batch).await?;
            Ok(Err(overdue))
        }
    }
}

/// Loads the rows that letters and matches refer to.
async fn rows_of(
    office: &Office,
    letters: &[ReadLetter],
    matches: &[String],
    in_work: &InWork,
) -> anyhow::Result<LoadedRows> {
    let mut loaded = load::new_rows(office).await?;
    loaded.in_work = in_work.clone();
    let matches = matches.iter().cloned().map(Key::Match);
    // If the last attempt fails, the GMs are told: without these rows the letter would be tried once more.
    let is_last = letters.iter().any(|letter| letter.waiting.tries + 1 >= MAX_ATTEMPTS);
    let gms = if is_last { office.config.club.gm.all() } else { &[] };
    let alarms = alarms::subjects_of_set_aside(gms).map(Key::Budget);
    let keys = letters.iter().flat_map(keys_of).chain(matches).chain(alarms);
    load::load(office, keys.collect(), &mut loaded).await?;
    loaded.dkim = read::dkim_verdicts(office, letters).await;
    Ok(loaded)
}

/// Handles a batch that waited too long for a lock that another session of the database holds: from now on each
/// item is decided alone, and the lane of one that already was waits.
fn wait_for_lock(
    office: &Office,
    due: Option<&mut DueMatches>,
    alone: Option<WaitingLetter>,
    matches: &[String],
    letters: &[Digest],
    claim: Claim,
) {
    let lane = match (alone, matches) {
        (Some(letter), _) => Some(letter.lane),
        (None, [match_id]) if letters.is_empty() => Some(match_id.clone()),
        (None, _) => None,
    };
    // A lane may be an address, which no log should hold.
    tracing::warn!(letters = letters.len(), ?matches, "another session of the database holds a lock");
    suspects::suspect(office, letters);
    if let Some(due) = due {
        due.one_by_one = true;
        due.skipped.extend(lane.clone());
    }
    if let Some(lane) = lane {
        office.attempts.keep_waiting(lane, claim);
    }
}

/// Handles an error that would recur on a retry: from now on each letter and each match is decided alone. If
/// a letter was alone already, counts its failure.
async fn isolate(
    office: &Office,
    due: Option<&mut DueMatches>,
    matches: Vec<String>,
    letters: &[Digest],
    alone: Option<WaitingLetter>,
    error: &anyhow::Error,
) -> anyhow::Result<()> {
    if let Some(due) = due {
        due.isolate(matches, letters.is_empty());
    }
    let error = format!("{error:#}");
    let Some(letter) = alone else {
        tracing::error!(
            error,
            letters = letters.len(),
            "a batch failed; settling its letters and matches one by one"
        );
        suspects::suspect(office, letters);
        return Ok(());
    };
    let counting = commit::decide_and_commit(office, move |desk| {
        set_back(desk, &letter, &anyhow!("{error}"), Rounds::More)
    });
    counting.await.context("failed to set a letter aside")
}

/// Returns the items of a batch: letters by lane, each in order, and due matches before the letters that came
/// after their time.
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
