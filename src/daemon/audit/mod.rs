//! Checks all matches against their ledgers, events against their books, and the club, on a schedule.
//!
//! Findings are remembered in the store, so that the GM is told of each finding once, and the status shows it
//! until the GM acknowledges it or it verifies again.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use self::verify::{HouseTurns, unreadable};
use super::waiting::{RetryPause, pause, until_shutdown};
use super::{Office, clock, commit, load, rulings};
use crate::audit::{AuditVerdict, CheckSubject};
use crate::desk::gm::alarm::{alarm, audit_report};
use crate::desk::matches::acts::by_program;
use crate::ledger::{Head, PauseReason};
use crate::letter::Digest;
use crate::post::ShutdownSignal;
use crate::referee::{Act, Stage};
use crate::report::FailedCheck;
use crate::store::{Database, EntryRow};

pub mod book;
pub mod club;
pub mod dossier;
pub mod forget;
pub mod verify;
pub mod withheld;

/// The key under which a daemon remembers the start of the last completed audit.
const AUDITED: &str = "audited";

/// Keys for the last match checked with new rulings and the last one checked without, in case there are too
/// many for one audit.
const NEW_UNTIL: &str = "audited new until";
const QUIET_UNTIL: &str = "audited quiet until";

/// The key for the last event that was checked.
const BOOKS_UNTIL: &str = "audited books until";

/// Interval at which to check whether an audit is due.
const CHECK_INTERVAL: Duration = Duration::from_secs(60);

/// Maximum matches with new rulings in one audit, and maximum matches without, so that a very large club is
/// not audited all day.
const MAX_TOGETHER: usize = 2000;

/// Maximum events in one audit: each is compared with the ledgers of all its matches.
const MAX_BOOKS: usize = 20;

/// Number of matches that are noted as verified in one transaction.
const NOTED_TOGETHER: usize = 100;

/// Audits on the schedule, until shutdown.
pub async fn audit_until(office: Arc<Office>, shutdown: ShutdownSignal) -> anyhow::Result<()> {
    let mut backoff = RetryPause::new();
    while !shutdown.is_set() {
        // Cancel-safe: an audit that was interrupted begins again.
        match until_shutdown(&shutdown, audit_when_due(&office)).await {
            Ok(()) => backoff = RetryPause::new(),
            Err(error) => backoff.wait("failed to audit the matches", &error, &shutdown).await,
        }
        pause(CHECK_INTERVAL, &shutdown).await;
    }
    Ok(())
}

/// Checks the matches if an audit is due. A match that fails is paused, and the GM is told.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn audit_when_due(office: &Office) -> anyhow::Result<()> {
    let interval = TimeDelta::hours(i64::from(office.config.audit.every_hours));
    if interval.is_zero() || !clock::is_trusted(office).await? {
        return Ok(());
    }
    let now = office.now();
    let Some(audited) = clock::remembered_time(office, AUDITED).await? else {
        // A database that was just created holds nothing to check.
        return Ok(office.store.remember(AUDITED, &now.to_rfc3339()).await?);
    };
    if now - audited < interval {
        return Ok(());
    }
    audit_all(office, now).await
}

/// Tells the GM the result of an audit of `checked` matches and events, of which these `failed`.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn report_audit(office: &Office, checked: usize, failed: Vec<AuditVerdict>) -> anyhow::Result<()> {
    commit::decide_and_commit(office, move |desk| audit_report(desk, checked, &failed)).await
}

/// Checks matches with new entries and matches without, up to [`MAX_TOGETHER`] of each, up to [`MAX_BOOKS`] events,
/// and the club.
async fn audit_all(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    let unverified = office.store.unverified().await?;
    let mut quiet = office.store.match_ids().await?;
    quiet.retain(|id| unverified.binary_search(id).is_err());
    let unverified = in_turn(unverified, office.store.remembered(NEW_UNTIL).await?, MAX_TOGETHER);
    let quiet = in_turn(quiet, office.store.remembered(QUIET_UNTIL).await?, MAX_TOGETHER);
    let mut news = Vec::new();
    for ids in unverified.chunks(NOTED_TOGETHER) {
        let verdicts = audit_new(office, ids).await?;
        let sound = verdicts.iter().filter(|verdict| verdict.is_sound());
        let heads: Vec<(String, Head)> =
            sound.map(|verdict| (verdict.subject.id().to_owned(), verdict.head)).collect();
        // Note each batch when it is done, so that an interrupted audit does not recompute these turns of the
        // house.
        office.store.note_verified(&heads).await?;
        news.extend(note_unsound(office, verdicts, now).await?);
    }
    remember_turn(office, NEW_UNTIL, &unverified).await?;
    for id in &quiet {
        // The house's turns were recomputed when the match was last verified.
        let verdict = verify::verify_match(office, id, HouseTurns::AsPlayed, &|_| ()).await?;
        news.extend(note_unsound(office, vec![verdict], now).await?);
    }
    remember_turn(office, QUIET_UNTIL, &quiet).await?;
    let events = office.store.event_ids().await?;
    let events = in_turn(events, office.store.remembered(BOOKS_UNTIL).await?, MAX_BOOKS);
    for subject in events.iter().cloned().map(CheckSubject::Event).chain([CheckSubject::Club {}]) {
        let verdict = verify::verify_subject(office, &subject, &|_| ()).await?;
        news.extend(note_unsound(office, vec![verdict], now).await?);
    }
    remember_turn(office, BOOKS_UNTIL, &events).await?;
    if !news.is_empty() {
        tell_gm(office, news, now).await?;
    }
    Ok(office.store.remember(AUDITED, &now.to_rfc3339()).await?)
}

/// Checks these matches, recomputing only the house's turns since they were last verified.
async fn audit_new(office: &Office, ids: &[String]) -> anyhow::Result<Vec<AuditVerdict>> {
    let mut verdicts = Vec::new();
    for id in ids {
        verdicts.push(match new_turns(office, id).await {
            Ok(turns) => verify::verify_match(office, id, turns, &|_| ()).await?,
            Err(error) => unreadable(&CheckSubject::Match(id.clone()), error)?,
        });
    }
    Ok(verdicts)
}

/// Returns the house's turns to recompute: those since the match was last verified, or all once it is over.
async fn new_turns(office: &Office, id: &str) -> anyhow::Result<HouseTurns> {
    let Some(verified) = office.store.verified(id).await? else { return Ok(HouseTurns::ALL) };
    let mut at = None;
    let mut take = |row: EntryRow| at = (row.hash == verified.hash).then_some(row.at);
    // Read the last verified entry again. If its hash differs, the ledger was changed, and every turn is recomputed.
    office.store.entries_after(id, Some(verified.seq.saturating_sub(1)), 1, &mut take).await?;
    let dates = office.store.match_dates(&[id.to_owned()]).await?;
    let ended_at = dates.first().and_then(|dates| dates.ended_at);
    Ok(match at {
        Some(at) if ended_at.is_none_or(|ended_at| at >= ended_at) => HouseTurns::After(verified.seq),
        Some(_) | None => HouseTurns::ALL,
    })
}

/// Remembers which of these an audit checked last.
async fn remember_turn(office: &Office, key: &str, ids: &[String]) -> anyhow::Result<()> {
    if let Some(last) = ids.last() {
        office.store.remember(key, last).await?;
    }
    Ok(())
}

/// Clears earlier findings where all is sound now, and pauses the matches that fail, if that is still possible.
/// Returns what has a finding that the GM does not know yet, each with the value to remember.
async fn note_unsound(
    office: &Office,
    verdicts: Vec<AuditVerdict>,
    now: DateTime<Utc>,
) -> anyhow::Result<Vec<(FailedCheck, (String, Unsound))>> {
    let known = remembered_unsound(&office.store).await?;
    let mut news = Vec::new();
    for verdict in verdicts {
        let id = verdict.subject.id().to_owned();
        let before = known.get(&id);
        if verdict.is_sound() && before.is_some() {
            office.store.forget(&unsound_key(&id)).await?;
        }
        if verdict.is_sound() {
            continue;
        }
        let after = Unsound::after(before, &verdict, now);
        // The GM knows all of this and may have resumed the match; pausing it again would undo that.
        if after.is_none() && before.is_some_and(|before| before.acknowledged) {
            continue;
        }
        tracing::error!(id, "the ledger or book does not verify");
        let is_paused = match &verdict.subject {
            CheckSubject::Match(id) => try_to_pause(office, id, now).await,
            CheckSubject::Event(_) | CheckSubject::Club {} => false,
        };
        let Some(after) = after else { continue };
        let findings = verdict.findings.iter().map(|found| format!("{}: {}", found.place, found.what));
        let failed = FailedCheck { name: verdict.subject.name(), is_paused, findings: findings.collect() };
        news.push((failed, (unsound_key(&id), after)));
    }
    Ok(news)
}

/// Pauses a match unless it is over, and returns whether it is paused.
async fn try_to_pause(office: &Office, match_id: &str, now: DateTime<Utc>) -> bool {
    let paused = pause_unsound(office, match_id, now).await;
    paused.unwrap_or_else(|error| {
        tracing::error!(match_id, error = format!("{error:#}"), "failed to pause the match");
        false
    })
}

async fn pause_unsound(office: &Office, match_id: &str, now: DateTime<Utc>) -> anyhow::Result<bool> {
    let act = Act::Pause { reason: PauseReason::Unsound };
    let row = rulings::match_row(office, match_id).await?;
    if row.overview.stage != Stage::Running {
        return Ok(row.overview.stage == Stage::Paused);
    }
    let after = rulings::decide_on_match(office, row, &by_program(act), now).await?;
    Ok(after.is_some_and(|after| after.stage == Stage::Paused))
}

/// Tells the GM what does not verify, and remembers it in the same transaction.
async fn tell_gm(
    office: &Office,
    news: Vec<(FailedCheck, (String, Unsound))>,
    now: DateTime<Utc>,
) -> anyhow::Result<()> {
    let mut loaded = load::new_rows(office).await?;
    loaded.at = now;
    let mut remembered = Vec::new();
    let mut failed = Vec::new();
    for (check, (key, unsound)) in news {
        remembered.push((key, serde_json::to_string(&unsound)?));
        failed.push(check);
    }
    let ((), mut changes) = commit::decide(office, loaded, move |desk| alarm(desk, &failed)).await?;
    changes.remembered.extend(remembered);
    office.store.commit(&changes).await?;
    office.dispatches_queued.notify_one();
    Ok(())
}

/// Chooses what to check in this audit from all sorted IDs: at most `most`, beginning after the `last` one of the
/// previous audit.
fn in_turn(mut ids: Vec<String>, last: Option<String>, most: usize) -> Vec<String> {
    if ids.len() > most {
        let last = last.unwrap_or_default();
        let next = ids.partition_point(|id| *id <= last) % ids.len();
        ids.rotate_left(next);
        ids.truncate(most);
    }
    ids
}

/// Prefix of the keys under which these are remembered. The ID follows.
const UNSOUND_KEYS: &str = "does not verify: ";

/// Something that does not verify.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unsound {
    /// Time of the first audit that found something.
    pub since: DateTime<Utc>,
    /// The digests of the findings that the GM was told of.
    told: BTreeSet<Digest>,
    /// Whether the GM has acknowledged all of them.
    pub acknowledged: bool,
}

impl Unsound {
    /// Returns the value to remember after a verdict at `now`, or `None` if the GM knows all of its findings.
    /// `before` is the value so far.
    pub fn after(before: Option<&Unsound>, verdict: &AuditVerdict, now: DateTime<Utc>) -> Option<Unsound> {
        let found = verdict.findings.iter().map(|finding| {
            let words = format!("{}: {}", finding.place, finding.what);
            Digest::of(words.as_bytes())
        });
        let mut told = before.map(|before| before.told.clone()).unwrap_or_default();
        let known = told.len();
        told.extend(found);
        let since = before.map_or(now, |before| before.since);
        (told.len() > known).then_some(Unsound { since, told, acknowledged: false })
    }
}

/// Returns the key under which a match, an event or the club is remembered.
pub fn unsound_key(id: &str) -> String {
    format!("{UNSOUND_KEYS}{id}")
}

/// Returns what does not verify, by ID.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn remembered_unsound(store: &Database) -> anyhow::Result<BTreeMap<String, Unsound>> {
    let remembered = store.remembered_under(UNSOUND_KEYS).await?;
    let unsound = remembered.into_iter().filter_map(|(key, value)| {
        // Ignore notes in the format of another version. The next audit finds these again.
        Some((key.strip_prefix(UNSOUND_KEYS)?.to_owned(), serde_json::from_str(&value).ok()?))
    });
    Ok(unsound.collect())
}

/// Notes that the GM has seen the findings under one ID, or all findings, and returns the IDs. The GM
/// is told again only of new findings.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn acknowledge(office: &Office, only: Option<&str>) -> anyhow::Result<Vec<String>> {
    let mut acknowledged = Vec::new();
    for (id, unsound) in remembered_unsound(&office.store).await? {
        if unsound.acknowledged || only.is_some_and(|only| only != id) {
            continue;
        }
        let seen = serde_json::to_string(&Unsound { acknowledged: true, ..unsound })?;
        office.store.remember(&unsound_key(&id), &seen).await?;
        acknowledged.push(id);
    }
    Ok(acknowledged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{CheckSubject, Finding, Place};

    #[test]
    fn too_many_matches_take_turns() {
        let few = vec!["QD-1".to_owned(), "QD-2".to_owned()];
        assert_eq!(in_turn(few.clone(), Some("QD-1".to_owned()), 2000), few);
        let many: Vec<String> = (0..3000).map(|n| format!("QD-{n:04}")).collect();
        let first = in_turn(many.clone(), None, 2000);
        assert_eq!(first, many[..2000]);
        let next = in_turn(many.clone(), first.last().cloned(), 2000);
        assert_eq!(next, [&many[2000..], &many[..1000]].concat());
        assert_eq!(in_turn(many.clone(), Some("QD-2999".to_owned()), 2000), first);
    }

    fn verdict(findings: &[u64]) -> AuditVerdict {
        let findings = findings.iter().map(|seq| Finding { place: Place::Entry(*seq), what: "x".to_owned() });
        AuditVerdict { findings: findings.collect(), ..AuditVerdict::new(CheckSubject::Club {}) }
    }

    #[test]
    fn a_finding_is_news_once_and_another_one_is_news_again() {
        let start = DateTime::UNIX_EPOCH;
        let later = DateTime::UNIX_EPOCH + chrono::TimeDelta::days(1);
        let first = Unsound::after(None, &verdict(&[7]), start).expect("news");
        let seen = Unsound { acknowledged: true, ..first.clone() };
        for before in [&first, &seen] {
            assert_eq!(Unsound::after(Some(before), &verdict(&[7]), later), None);
            let next = Unsound::after(Some(before), &verdict(&[7, 8]), later).expect("news");
            assert_eq!((next.since, next.acknowledged, next.told.len()), (start, false, 2));
        }
    }
}
