//! Recomputes ratings from the ledgers: after a result became void, and for the audit.

use std::collections::BTreeMap;

use chrono::{DateTime, Utc};

use super::{Office, commit, load};
use crate::club::rating::{Rating, RatingChange, results_of, table};
use crate::desk::outbox::rating_mail::{self, Rerated};
use crate::game::any::GameKind;
use crate::store::{Changes, RatingRow, RatingsAnew, STALE_RATINGS, StoreError};

/// The smallest change of a figure that its player is told about, in hundredths of a point.
const TOLD_FROM: i64 = 100;

/// Recomputes the ratings of each game in which a result became void, changed, or came late.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn rate_anew_when_due(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    for (key, _) in office.store.remembered_under(STALE_RATINGS).await? {
        let game = key.strip_prefix(STALE_RATINGS).and_then(GameKind::parse);
        if let Some(game) = game {
            rate_anew(office, game, now).await?;
        }
    }
    Ok(())
}

/// Returns all ratings of a game as they follow from the ledgers alone.
///
/// # Errors
/// Returns an error if the database does not answer, or if an entry cannot be read.
pub async fn derive(office: &Office, game: GameKind) -> anyhow::Result<Vec<RatingChange>> {
    let merged = office.store.merged_players().await?;
    let mut results = Vec::new();
    for id in office.store.rated_matches(game).await? {
        results.extend(results_of(&load::ledger_entries(office, &id).await?));
    }
    Ok(table(results, &|player| merged.get(&player).copied().unwrap_or(player)))
}

/// Compares the stored ratings of a game with those that follow from the ledgers. Returns the number of
/// results and a sentence for each difference.
///
/// # Errors
/// Same as [`derive`].
pub async fn verify(office: &Office, game: GameKind) -> anyhow::Result<(usize, Vec<String>)> {
    let derived = by_player(derive(office, game).await?);
    let stored = office.store.ratings_in(game).await?.into_iter().map(|row| row.change);
    let stored = by_player(stored.collect());
    let mut differences = Vec::new();
    for key in derived.keys().chain(stored.keys().filter(|key| !derived.contains_key(key))) {
        let expected = derived.get(key);
        let found = stored.get(key);
        if expected != found {
            let (player, no) = key;
            differences.push(format!(
                "P-{player}, result {no}: {} is stored, {} follows from the ledgers",
                shown(found),
                shown(expected)
            ));
        }
    }
    Ok((derived.len(), differences))
}

fn shown(change: Option<&RatingChange>) -> String {
    match change {
        Some(change) => format!("{} by {}", change.after.shown(), change.match_id),
        None => "nothing".to_owned(),
    }
}

fn by_player(changes: Vec<RatingChange>) -> BTreeMap<(i64, u32), RatingChange> {
    changes.into_iter().map(|change| ((change.player, change.no), change)).collect()
}

/// Replaces the ratings of a game, and tells the players whose figure changed by a point or more.
async fn rate_anew(office: &Office, game: GameKind, now: DateTime<Utc>) -> anyhow::Result<()> {
    let stored = office.store.ratings_in(game).await?;
    let derived = derive(office, game).await?;
    let before = last_figures(stored.iter().map(|row| &row.change));
    let after = last_figures(derived.iter());
    let mut rerated = Vec::new();
    for player in before.keys().chain(after.keys().filter(|player| !before.contains_key(player))) {
        let before = before.get(player).copied().unwrap_or_default();
        let after = after.get(player).copied().unwrap_or_default();
        if (before.figure - after.figure).abs() >= TOLD_FROM {
            rerated.push(Rerated { player: *player, game, before, after });
        }
    }
    let rows = derived.into_iter().map(|change| RatingRow { game, change }).collect();
    let anew = RatingsAnew { game, loaded: stored.len(), rows };
    let ((), letters) = commit::decide(office, load::new_rows(office).await?, move |desk| {
        rating_mail::tell_rerated(desk, &rerated)
    })
    .await?;
    let changes = Changes { at: now, ratings_anew: vec![anew], ..letters };
    match office.store.commit(&changes).await {
        Ok(()) => {
            tracing::info!(%game, "ratings recomputed");
            commit::wake_loops(office, &changes);
        }
        // A result was rated in the meantime, so the next check recomputes the ratings.
        Err(StoreError::Stale(_)) => {}
        Err(error) => return Err(error.into()),
    }
    Ok(())
}

/// Returns each player's last rating.
fn last_figures<'a>(changes: impl Iterator<Item = &'a RatingChange>) -> BTreeMap<i64, Rating> {
    let mut last: BTreeMap<i64, (u32, Rating)> = BTreeMap::new();
    for change in changes {
        let kept = last.entry(change.player).or_insert((change.no, change.after));
        if change.no >= kept.0 {
            *kept = (change.no, change.after);
        }
    }
    last.into_iter().map(|(player, (_, rating))| (player, rating)).collect()
}
