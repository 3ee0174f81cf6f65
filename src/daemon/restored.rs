//! Work after an older backup was restored: the processed letters are read again (`intake`), decided in the order in
//! which they came, and then everybody concerned is told once what could not be made again.

use std::collections::{BTreeMap, BTreeSet};

use super::remembered::HEARTBEAT;
use super::{Office, commit, events, house, load};
use crate::desk::frame::desk::Desk;
use crate::desk::gm::restored::{self, LOST, LostMatches};
use crate::store::{
    Changes, Claimable, LetterStatus, PROVED_TURN, RESTORED, RESTORES, RestoredBackup, Restoring,
};

/// Maximum letters about lost matches to look at.
const MAX_LETTERS: u32 = 10_000;

/// Returns the work that is left after a restore, if any.
pub async fn remaining_work(office: &Office) -> anyhow::Result<Option<Restoring>> {
    Ok(office.store.remembered(RESTORED).await?.and_then(|value| Restoring::read(&value)))
}

/// Returns all restores of the database, the latest last.
pub async fn all(office: &Office) -> anyhow::Result<Vec<RestoredBackup>> {
    let stored = office.store.remembered(RESTORES).await?;
    Ok(RestoredBackup::list(stored.as_deref())?)
}

/// Notes that the processed letters were read again. They are decided next.
pub async fn note_read(office: &Office, letters: usize) -> anyhow::Result<()> {
    let checked = office.store.remembered(HEARTBEAT).await?.and_then(|at| at.parse().ok());
    let written = office.store.list_dispatches(false, 1).await?.first().map(|row| row.created_at);
    let at = office.now();
    // An empty backup knows of no time.
    let until = checked.max(written).unwrap_or_default().min(at);
    let restore = RestoredBackup { until, at, letters };
    let mut restores = all(office).await?;
    restores.push(restore);
    office.store.remember(RESTORES, &serde_json::to_string(&restores)?).await?;
    office.store.remember(RESTORED, &serde_json::to_string(&restore)?).await?;
    house::house_all(office).await
}

/// Claims the next letter to decide after a restore. Once there is none, tells what could not be made again. `None` if
/// no work is left after a restore.
pub async fn claim_next(office: &Office) -> anyhow::Result<Option<Claimable>> {
    match remaining_work(office).await? {
        None => Ok(None),
        Some(Restoring::ToBeRead) => Ok(Some(Claimable::default())),
        Some(Restoring::ToBeDecided(restore)) => {
            match office.store.claim_oldest(office.now(), restore.at).await? {
                None => Ok(Some(Claimable::default())),
                Some(claimable) if claimable.letters.is_empty() => {
                    tell(office, restore, claimable).await?;
                    Ok(None)
                }
                Some(claimable) => {
                    let came = claimable.letters.iter().map(|letter| letter.received_at).min();
                    events::open_again(office, came.unwrap_or(restore.at)).await?;
                    Ok(Some(claimable))
                }
            }
        }
    }
}

/// Lets the house play before the next letter is decided, as it did before the restore.
pub async fn play_for_house(office: &Office, changes: &Changes) -> anyhow::Result<()> {
    match changes.matches.iter().any(|row| row.overview.awaits_house()) {
        true => house::house_all(office).await,
        false => Ok(()),
    }
}

/// Tells the GMs what was restored and lost, and everybody else who wrote about a lost match. Each gets one letter.
async fn tell(office: &Office, restore: RestoredBackup, claimable: Claimable) -> anyhow::Result<()> {
    let ignored = office.store.letters(Some(LetterStatus::Ignored), None, "", MAX_LETTERS).await?;
    let mut lost: LostMatches = BTreeMap::new();
    for letter in ignored.iter().filter(|letter| letter.decided_at >= Some(restore.at)) {
        let Some(id) = letter.note.strip_prefix(LOST) else { continue };
        let people: &mut BTreeSet<String> = lost.entry(id.to_owned()).or_default();
        people.insert(letter.sender.clone());
    }
    let mut turns: BTreeMap<String, u32> = BTreeMap::new();
    for (key, turn) in office.store.remembered_under(PROVED_TURN).await? {
        turns.extend(key.strip_prefix(PROVED_TURN).map(str::to_owned).zip(turn.parse().ok()));
    }
    tracing::warn!(letters = restore.letters, lost = lost.len(), "processed letters were decided again");
    let telling = move |desk: &mut Desk<'_>| restored::tell(desk, &restore, &lost, &turns);
    let ((), mut changes) = commit::decide(office, load::new_rows(office).await?, telling).await?;
    changes.remembered.push((RESTORED.to_owned(), format!("done {}", office.now().to_rfc3339())));
    office.store.commit_claimed(claimable.claim, &changes).await?;
    commit::wake_loops(office, &changes);
    Ok(())
}
