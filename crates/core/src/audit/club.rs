//! Compares what belongs to no match and no event: offers, the GMs' reply tokens, and the marks of mailboxes.

use chrono::{DateTime, Utc};

use super::offers::{StoredOffer, open_offers};
use super::verdict::{AuditVerdict, CheckSubject, Finding, Place};

/// The reply token of a GM.
#[derive(Clone, Debug)]
pub struct StoredGmToken {
    pub address: String,
    pub token: String,
    /// The token in the last letter to that address that has one.
    pub last_sent: Option<String>,
}

/// The stored data of the club itself.
#[derive(Clone, Debug)]
pub struct StoredClub {
    pub offers: Vec<StoredOffer>,
    pub tokens: Vec<StoredGmToken>,
    /// Each mailbox, with the time before which its letters are left alone.
    pub marks: Vec<(String, DateTime<Utc>)>,
    /// The time at which the database was made, which is the mark of the first mailbox. `None` if that is unknown.
    pub made: Option<DateTime<Utc>>,
}

/// Checks the club at `now`.
pub fn check(stored: &StoredClub, now: DateTime<Utc>) -> AuditVerdict {
    let mut verdict = AuditVerdict::new(CheckSubject::Club {});
    verdict.findings = open_offers(&stored.offers);
    for StoredGmToken { address, token, last_sent } in &stored.tokens {
        if last_sent.as_ref().is_some_and(|sent| sent != token) {
            let what = format!("that of {address} is not the one in the last letter there");
            verdict.findings.push(Finding::at(Place::Kept("the GMs' reply tokens"), what));
        }
    }
    let in_mailboxes = |what: String| Finding::at(Place::Kept("the mailboxes"), what);
    for (name, _) in stored.marks.iter().filter(|(_, mark)| *mark > now) {
        verdict.findings.push(in_mailboxes(format!("the mark of {name} lies in the future")));
    }
    let first = stored.marks.iter().map(|(_, mark)| *mark).min();
    if let (Some(first), Some(made)) = (first, stored.made)
        && first != made
    {
        let what = format!("the first mark is {first}, but the database was made at {made}");
        verdict.findings.push(in_mailboxes(what));
    }
    verdict
}
