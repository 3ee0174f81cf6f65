//! Decides and commits: loads the rows that a decision lacks, decides again if somebody else has changed
//! them, and wakes the loops that then have something to do.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::bail;

use super::waiting::run_blocking;
use super::{Office, load};
use crate::desk::frame::club::ClubContext;
use crate::desk::frame::desk::{Desk, Uncommitted};
use crate::desk::frame::rows::{Decided, LoadedRows, Undecided};
use crate::desk::items::{Batch, Item, Progress, Rounds};
use crate::referee::WORDS_NOTE;
use crate::store::{Changes, LetterStatus, StoreError};

/// Maximum rounds of a decision. A letter takes one, or two if it is about more than its match. Only commands
/// that build on each other take more.
const MAX_ROUNDS: usize = 64;

/// Maximum attempts at a change while others change the same rows.
const MAX_TRIES: usize = 20;

/// Logs the decisions of a commit, and wakes the loops that then have something to do.
pub fn wake_loops(office: &Office, changes: &Changes) {
    log_decisions(changes);
    // A GM has accepted a letter, or a player has confirmed one.
    if changes.decided.iter().any(|decision| decision.status == LetterStatus::Waiting) {
        office.letters_arrived.notify_one();
    }
    if !changes.dispatches.is_empty() || !changes.requeued.is_empty() {
        office.dispatches_queued.notify_one();
    }
    // A match in which the house has to move is due at once.
    if changes.matches.iter().any(|row| row.wake_at.is_some_and(|moment| moment <= changes.at)) {
        office.house_to_move.notify_one();
    }
}

/// Logs the outcome of each letter and each ruling: matches, seats and digests, and never what anybody wrote.
fn log_decisions(changes: &Changes) {
    for decision in &changes.decided {
        let entries = changes.entries.iter().skip_while(|entry| !entry.letters.contains(&decision.digest));
        let first = entries.clone().next().map(|entry| entry.chain.as_str());
        let of_letter = entries.take_while(|entry| {
            Some(entry.chain.as_str()) == first
                && (entry.letters.is_empty() || entry.letters.contains(&decision.digest))
        });
        tracing::info!(
            letter = %decision.digest,
            status = decision.status.as_str(),
            outcome = outcome(of_letter.map(|entry| entry.kind.as_str())),
            match_id = decision.seat.as_ref().map(|(id, _)| id.as_str()),
            seat = decision.seat.as_ref().map(|(_, seat)| tracing::field::display(seat)),
            passed_on = decision.note.starts_with(WORDS_NOTE),
            "letter decided"
        );
    }
    let mut kinds: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for entry in &changes.entries {
        kinds.entry(&entry.chain).or_default().push(&entry.kind);
    }
    for (match_id, kinds) in kinds {
        tracing::info!(match_id, entries = kinds.join(" "), "ruled on a match");
    }
}

/// Summarizes the outcome of a letter in its match: `sealed`, `refused`, `sealed, adjudicated`.
fn outcome<'a>(kinds: impl Iterator<Item = &'a str>) -> String {
    let words = kinds.filter_map(|kind| match kind {
        "OrdersSealed" => Some("sealed"),
        "OrdersFirm" => Some("firm"),
        "OrdersDeferred" => Some("deferred"),
        "OrdersRefused" => Some("refused"),
        "OrdersChecked" => Some("checked"),
        "OrdersWithdrawn" => Some("withdrawn"),
        "ConditionsSealed" => Some("conditions sealed"),
        "TurnAdjudicated" => Some("adjudicated"),
        "MatchEnded" => Some("match over"),
        "MessagePassed" => Some("passed on"),
        "Protested" => Some("protested"),
        "LetterAnswered" => Some("answered"),
        _ => None,
    });
    let mut words: Vec<&str> = words.collect();
    words.dedup();
    words.join(", ")
}

/// Whether the error is a temporary failure of the database, so that everything else would fail as well.
pub fn is_transient(error: &anyhow::Error) -> bool {
    error.downcast_ref::<StoreError>().is_some_and(StoreError::is_transient)
}

/// Whether another session of the database holds a lock that was needed: everything else may succeed.
pub fn is_locked(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<StoreError>(), Some(StoreError::RowLocked))
}

/// Decides something and commits it. Starts again if somebody else changes the same rows in the meantime.
///
/// # Errors
/// Returns an error if deciding fails, if the database rejects it or does not answer, or after [`MAX_TRIES`]
/// conflicts.
pub async fn decide_and_commit<T: Send + 'static>(
    office: &Office,
    decision: impl Fn(&mut Desk<'_>) -> Decided<T> + Send + Sync + 'static,
) -> anyhow::Result<T> {
    let decision = Arc::new(decision);
    for _ in 0..MAX_TRIES {
        let decision = Arc::clone(&decision);
        let (done, changes) =
            decide(office, load::new_rows(office).await?, move |desk| decision(desk)).await?;
        match office.store.commit(&changes).await {
            Ok(()) => {
                wake_loops(office, &changes);
                return Ok(done);
            }
            Err(StoreError::Stale(_)) => {}
            Err(error) => return Err(error.into()),
        }
    }
    bail!("gave up after {MAX_TRIES} conflicting writes; nothing was done")
}

/// Decides on items together. Returns the changes of all of them, and the matches that are left for the next
/// batch.
pub async fn decide_items(
    office: &Office,
    items: Vec<Item>,
    loaded: LoadedRows,
) -> anyhow::Result<(Changes, Vec<String>)> {
    let mut batch = Batch::new(Arc::new(items), &loaded);
    in_rounds(office, loaded, move |settings, loaded, rounds| {
        Ok(match batch.decide(settings, loaded, rounds) {
            Progress::Done((draft, left)) => Progress::Done((draft.finish()?, left)),
            Progress::Lacks(lacking) => Progress::Lacks(lacking),
        })
    })
    .await
}

/// Decides something, and returns the changes without committing them.
pub async fn decide<T: Send + 'static>(
    office: &Office,
    loaded: LoadedRows,
    decision: impl Fn(&mut Desk<'_>) -> Decided<T> + Send + 'static,
) -> anyhow::Result<(T, Changes)> {
    in_rounds(office, loaded, move |club, loaded, _| {
        let nothing = Uncommitted::new(loaded.at);
        let mut desk = Desk::new(club, loaded, &nothing);
        let decided = decision(&mut desk);
        let (draft, _, lacking) = desk.into_parts();
        match decided {
            Ok(done) if lacking.is_empty() => Ok(Progress::Done((done, draft.finish()?))),
            Ok(_) | Err(Undecided::Lacks) => Ok(Progress::Lacks(lacking)),
            Err(Undecided::Failed(error)) => Err(error),
        }
    })
    .await
}

/// Repeats a step, and loads what it lacks, until it is done.
///
/// Decisions run on a thread of their own, so that no loop waits for them. They must therefore own what they
/// read.
pub async fn in_rounds<T: Send + 'static>(
    office: &Office,
    loaded: LoadedRows,
    step: impl FnMut(&ClubContext, &LoadedRows, Rounds) -> anyhow::Result<Progress<T>> + Send + 'static,
) -> anyhow::Result<T> {
    let mut state = (step, loaded);
    for round in 1..=MAX_ROUNDS {
        let club = Arc::clone(&office.club);
        let rounds = if round < MAX_ROUNDS { Rounds::More } else { Rounds::Last };
        let (returned, progress) = run_blocking(move || {
            let (mut step, loaded) = state;
            let progress = step(&club, &loaded, rounds);
            ((step, loaded), progress)
        })
        .await?;
        state = returned;
        match progress? {
            Progress::Done(done) => return Ok(done),
            Progress::Lacks(lacking) => load::load(office, lacking, &mut state.1).await?,
        }
    }
    bail!("a decision took more than {MAX_ROUNDS} rounds")
}
