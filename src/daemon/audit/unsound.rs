//! Matches and events that do not verify, and the club if it does not. They are remembered in the store, so that the GM is told of each finding once,
//! and the status shows them until the GM acknowledges them or they verify again.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use crate::audit::AuditVerdict;
use crate::daemon::Office;
use crate::letter::Digest;
use crate::store::Database;

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
pub fn key(id: &str) -> String {
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
        office.store.remember(&key(&id), &seen).await?;
        acknowledged.push(id);
    }
    Ok(acknowledged)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::{CheckSubject, Finding, Place};

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
