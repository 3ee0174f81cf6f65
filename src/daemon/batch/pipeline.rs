//! Settles waiting letters: reads them, identifies their senders, rules on them and answers.
//!
//! A batch is one transaction. Matches are ruled on in parallel, and a full batch commits while the next is ruled on.
//!
//! A batch holds letters of players or of strangers, and the two take turns: however many strangers write, a player
//! waits for one small batch of theirs.
//!
//! A bad letter never blocks the rest: failures are caught and retried, and after [`MAX_ATTEMPTS`] the letter is set
//! aside. If a commit is rejected, its letters are settled one by one until the bad one is found. Letters that hang or
//! kill the program are found by `attempts`.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, anyhow};
use chrono::{DateTime, Utc};

use super::commit::is_transient;
use super::read::{read_letters, wanted};
use crate::daemon::Office;
use crate::daemon::attempts::Overdue;
use crate::daemon::decide::context::RulingContext;
use crate::daemon::decide::in_work::InWork;
use crate::daemon::decide::letters::{LetterBatch, MAX_ATTEMPTS, set_back};
use crate::daemon::decide::one_letter::ReadLetter;
use crate::daemon::heartbeat::Loop;
use crate::daemon::parallel::run_blocking;
use crate::letter::{Address, Digest, Token};
use crate::store::{Claim, LetterQueue, LetterStatus, Settlement, StoreError, WaitingLetter};

/// Letters per transaction: a multiple of the store's `CHUNK`, whose statements stay prepared.
const BATCH_SIZE: u32 = 256;

/// Maximum length of a run of pending batches: the clock loop settles letters too, before it enforces deadlines.
const MAX_RUN: Duration = Duration::from_secs(10);

/// Maximum bytes of the letters of a pending batch: the next one is in memory beside it.
const MAX_PENDING_BYTES: usize = 8_000_000;

/// The way to settle the next letters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum BatchMode {
    /// One batch, with matches in parallel.
    #[default]
    Parallel,
    /// One batch, in order, because the last commit was stale: two letters, or another writer, changed one row.
    Sequential,
    /// The next `n` letters in a transaction each, because the last commit was rejected.
    OneByOne(usize),
}

/// State that carries over from one batch to the next.
#[derive(Default)]
pub struct Pipeline {
    mode: BatchMode,
    /// The queue of the last batch.
    served: Option<LetterQueue>,
    /// Commits while the next batch is ruled on.
    pending: Option<RuledBatch>,
    /// The players in `pending`; letters from them wait for its commit.
    participants: Participants,
    /// Start of this run of pending batches; nobody else can claim letters until it ends.
    since: Option<Instant>,
}

impl Pipeline {
    /// Returns the queue whose letters come next. The queues take turns. A batch that has to be settled in another mode
    /// keeps its turn, because the other queue's letters would use up the mode.
    fn next_queue(&self) -> LetterQueue {
        match (self.served, self.mode) {
            (None, _) => LetterQueue::Known,
            (Some(served), BatchMode::Parallel) => served.other(),
            (Some(served), BatchMode::Sequential | BatchMode::OneByOne(_)) => served,
        }
    }
}

/// A batch that is ruled on but not committed.
struct RuledBatch {
    letters: Arc<Vec<ReadLetter>>,
    claim: Claim,
    settlement: Settlement,
}

/// Tokens and addresses of both seats of each match in a batch.
#[derive(Default)]
struct Participants {
    tokens: BTreeSet<String>,
    addresses: BTreeSet<String>,
}

impl Office {
    /// Settles every waiting letter.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn settle_all(&self) -> anyhow::Result<()> {
        let mut pipeline = Pipeline::default();
        while self.settle_some(&mut pipeline).await? > 0 {
            self.heartbeat.beat(Loop::Clock);
        }
        Ok(())
    }

    /// Settles the letters that were received by `until`, because later ones may arrive faster than they are settled.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn settle_received_by(&self, until: DateTime<Utc>) -> anyhow::Result<()> {
        let mut pipeline = Pipeline::default();
        while let Some(received_at) = self.store.oldest_waiting(self.now()).await?
            && received_at <= until
            && self.settle_some(&mut pipeline).await? > 0
        {
            self.heartbeat.beat(Loop::Clock);
        }
        self.commit_pending(&mut pipeline).await.map(drop)
    }

    /// Settles some letters in one transaction, and returns their number. If many wait, their batch commits during the
    /// next call, while letters that share nothing with it are ruled on.
    pub async fn settle_some(&self, pipeline: &mut Pipeline) -> anyhow::Result<usize> {
        let _under_way = self.traffic.enter();
        let settled = self.settle_next(pipeline).await;
        if settled.is_err() {
            // A fault in the next letters must not hold up those before them.
            self.commit_pending(pipeline).await?;
        }
        settled
    }

    /// Rules on a stored letter, and discards the ruling.
    ///
    /// # Errors
    /// Returns an error if there is no such letter, or if the database does not answer. A ruling that fails is not an
    /// error: the program survives it.
    pub async fn try_letter(&self, digest: Digest) -> anyhow::Result<()> {
        let raw = self.store.letter(digest).await?.context("there is no such letter")?;
        let (received_at, queue) = (self.now(), LetterQueue::Strangers);
        let is_spam = false;
        let letter = WaitingLetter { digest, raw, received_at, tries: 0, queue, accepted_by: None, is_spam };
        let (settings, in_work) = (Arc::clone(&self.settings), InWork::default());
        let working = in_work.clone();
        let letters = Arc::new(run_blocking(move || read_letters(&settings, vec![letter], &working)).await?);
        let context = self.context_of(&letters, &in_work).await;
        if let Err(error) = self.decide_letters(letters, context, BatchMode::Sequential).await {
            tracing::info!(error = format!("{error:#}"), "the ruling failed");
        }
        Ok(())
    }

    async fn settle_next(&self, pipeline: &mut Pipeline) -> anyhow::Result<usize> {
        let limit = if matches!(pipeline.mode, BatchMode::OneByOne(_)) { 1 } else { BATCH_SIZE };
        let first = pipeline.next_queue();
        let before = pipeline.pending.as_mut().map(|pending| &mut pending.claim);
        let claiming = self.store.claim_letters(self.now(), limit, first, before);
        let (waiting, mut claim) = claiming.await.context("waiting letters")?;
        let count = waiting.len();
        pipeline.served = waiting.first().map(|letter| letter.queue);
        if self.needs_other_batch(&waiting, &mut claim, &mut pipeline.mode).await? {
            return Ok(count);
        }
        let is_light = waiting.iter().map(|letter| letter.raw.len()).sum::<usize>() <= MAX_PENDING_BYTES;
        let in_work = InWork::default();
        let letters = match self.read_watched(waiting, &in_work).await? {
            Ok(letters) => Arc::new(letters),
            Err(overdue) => return self.set_aside_overdue(overdue, claim).await.map(|()| count),
        };
        if let Some(pending) = &pipeline.pending
            && (letters.is_empty() || self.shares_a_key(&letters, &pipeline.participants))
        {
            let pending_count = pending.letters.len();
            if !self.commit_pending(pipeline).await? || letters.is_empty() {
                self.end_attempts().await?;
                return Ok(pending_count);
            }
        }
        if letters.is_empty() {
            *pipeline = Pipeline::default();
            return Ok(0);
        }
        let context = self.context_of(&letters, &in_work).await;
        let mode = pipeline.mode;
        let deciding = self.decide_letters(Arc::clone(&letters), context, mode);
        let deciding = self.attempts.watch(&in_work, deciding);
        let (decided, committed) = tokio::join!(deciding, self.commit_pending(pipeline));
        self.end_attempts().await?;
        let decided = match decided {
            Ok(decided) => decided,
            Err(overdue) => return self.set_aside_overdue(overdue, claim).await.map(|()| count),
        };
        self.clear_suspects(letters.iter().map(|letter| letter.waiting.digest));
        // The letters of the failed batch came first, and are settled first.
        if !committed? {
            return Ok(count);
        }
        let (settlement, context) = match decided {
            Ok(decided) => decided,
            Err(error) if is_transient(&error) => return Err(error),
            Err(error) => {
                drop(claim);
                self.isolate(&letters, &error, &mut pipeline.mode).await?;
                return Ok(count);
            }
        };
        let ruled = RuledBatch { letters, claim, settlement };
        // A smaller batch took all that waited, so there would be nothing to rule on while it is pending.
        let is_full = pipeline.mode == BatchMode::Parallel && count == BATCH_SIZE as usize && is_light;
        self.commit_now_or_later(ruled, &context, is_full, pipeline).await?;
        Ok(count)
    }

    /// Whether claimed letters must be settled in another way, because an attempt on one of them never ended or may
    /// fail.
    async fn needs_other_batch(
        &self,
        waiting: &[WaitingLetter],
        claim: &mut Claim,
        mode: &mut BatchMode,
    ) -> anyhow::Result<bool> {
        if waiting.is_empty() {
            return Ok(false);
        }
        if self.count_unended_attempts(waiting, claim).await? {
            return Ok(true);
        }
        if waiting.len() > 1 && self.has_suspects(waiting) {
            *mode = BatchMode::OneByOne(waiting.len());
            return Ok(true);
        }
        Ok(false)
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
        let (settings, working) = (Arc::clone(&self.settings), in_work.clone());
        let reading = run_blocking(move || read_letters(&settings, waiting, &working));
        match self.attempts.watch(in_work, reading).await {
            Ok(letters) => Ok(Ok(letters?)),
            Err(overdue) => {
                self.end_attempts().await?;
                Ok(Err(overdue))
            }
        }
    }

    /// Commits a batch, or leaves it pending if it is full and may wait.
    async fn commit_now_or_later(
        &self,
        ruled: RuledBatch,
        context: &RulingContext,
        is_full: bool,
        pipeline: &mut Pipeline,
    ) -> anyhow::Result<()> {
        let since = pipeline.since.take().unwrap_or_else(Instant::now);
        if is_full && since.elapsed() < MAX_RUN && self.may_stay_pending(&ruled.settlement) {
            pipeline.pending = Some(ruled);
            pipeline.participants = Participants::of(context);
            pipeline.since = Some(since);
        } else {
            self.commit_batch(ruled, &mut pipeline.mode).await?;
        }
        Ok(())
    }

    /// Loads the rows that the letters refer to.
    async fn context_of(&self, letters: &[ReadLetter], in_work: &InWork) -> anyhow::Result<RulingContext> {
        let mut context = self.new_context().await?;
        context.in_work = in_work.clone();
        self.load(wanted(letters), &mut context).await?;
        context.dkim = self.dkim_verdicts(letters).await;
        Ok(context)
    }

    async fn decide_letters(
        &self,
        letters: Arc<Vec<ReadLetter>>,
        context: anyhow::Result<RulingContext>,
        mode: BatchMode,
    ) -> anyhow::Result<(Settlement, RulingContext)> {
        let in_parallel = mode == BatchMode::Parallel;
        let mut batch: Option<LetterBatch> = None;
        self.decide(context?, move |settings, context, rounds| {
            let batch = match &mut batch {
                Some(batch) => batch,
                None => {
                    let letters = Arc::clone(&letters);
                    batch.insert(LetterBatch::new(settings, context, letters, in_parallel)?)
                }
            };
            batch.decide(settings, context, rounds)
        })
        .await
    }

    /// Whether a batch may commit while the next one, if it shares no key with it, is ruled on.
    fn may_stay_pending(&self, settlement: &Settlement) -> bool {
        let acts_for_seats = settlement.decided.iter().all(|decided| decided.seat.is_some());
        // Where daemons share the letters, others are ruled on in the meantime anyway. Where letters must be signed,
        // the next batch may wait for a name server.
        acts_for_seats && settlement.is_of_matches() && !self.store.is_shared() && self.verifier.is_none()
    }

    /// Whether one of these letters is from the GM or one of the participants, or is about one of their matches.
    fn shares_a_key(&self, letters: &[ReadLetter], participants: &Participants) -> bool {
        letters.iter().filter_map(|letter| letter.read.as_ref()).any(|read| match read {
            Ok(letter) => {
                self.settings.is_gm(&letter.from) || participants.has(Some(&letter.from), &letter.tokens)
            }
            Err(unreadable) => participants.has(unreadable.answerable.as_ref(), &unreadable.tokens),
        })
    }

    /// Commits the pending batch, and returns whether that worked: see [`Office::commit_batch`].
    pub async fn commit_pending(&self, pipeline: &mut Pipeline) -> anyhow::Result<bool> {
        let Some(pending) = pipeline.pending.take() else { return Ok(true) };
        let queue = pending.letters.first().map(|letter| letter.waiting.queue);
        let committed = self.commit_batch(pending, &mut pipeline.mode).await?;
        if !committed {
            pipeline.served = queue;
        }
        Ok(committed)
    }

    /// Commits a batch, and returns whether that worked. If not, its letters still wait, and `mode` is the way to
    /// settle them next.
    async fn commit_batch(&self, ruled: RuledBatch, mode: &mut BatchMode) -> anyhow::Result<bool> {
        let RuledBatch { letters, claim, settlement } = ruled;
        match self.store.commit_claimed(claim, &settlement).await {
            Ok(()) => {
                *mode = match *mode {
                    BatchMode::OneByOne(more) if more > 1 => BatchMode::OneByOne(more - 1),
                    BatchMode::OneByOne(_) | BatchMode::Sequential | BatchMode::Parallel => {
                        BatchMode::Parallel
                    }
                };
                self.wake_loops(&settlement);
                for letter in settlement.decided.iter().filter(|letter| letter.status != LetterStatus::Ruled)
                {
                    tracing::info!(letter = %letter.digest, status = letter.status.as_str(), "decided on a letter");
                }
                return Ok(true);
            }
            Err(StoreError::Stale(what)) => {
                tracing::debug!(what, "settlement is stale; retrying");
                if *mode == BatchMode::Parallel {
                    *mode = BatchMode::Sequential;
                }
            }
            Err(error) if error.is_transient() => {
                return Err(error).context("failed to commit the settlement");
            }
            Err(error) => self.isolate(&letters, &error.into(), mode).await?,
        }
        Ok(false)
    }

    /// Handles a permanent error: settles the letters one by one from now on. If there is only one letter, counts a
    /// failure of it.
    async fn isolate(
        &self,
        letters: &[ReadLetter],
        error: &anyhow::Error,
        mode: &mut BatchMode,
    ) -> anyhow::Result<()> {
        if let [letter] = letters {
            let context = self.new_context().await?;
            let (waiting, error) = (letter.waiting.clone(), format!("{error:#}"));
            let deciding = self.decide(context, move |settings, context, _| {
                set_back(settings, context, &waiting, &anyhow!("{error}"))
            });
            let (settlement, _) = deciding.await?;
            return self.store.commit(&settlement).await.context("failed to set a letter aside");
        }
        let error = format!("{error:#}");
        tracing::error!(error, letters = letters.len(), "commit rejected; settling letters one by one");
        // The bad letter itself is tried several times.
        *mode = BatchMode::OneByOne(letters.len() + MAX_ATTEMPTS as usize);
        Ok(())
    }
}

impl Participants {
    fn of(context: &RulingContext) -> Participants {
        let mut participants = Participants::default();
        for loaded in context.matches.values().flatten() {
            for (_, row) in loaded.seats.iter() {
                participants.tokens.insert(row.token.clone());
                participants.addresses.extend(row.player.addresses.iter().cloned());
            }
        }
        participants
    }

    fn has(&self, address: Option<&Address>, tokens: &[Token]) -> bool {
        address.is_some_and(|address| self.addresses.contains(address.as_str()))
            || tokens.iter().any(|token| self.tokens.contains(token.as_str()))
    }
}
