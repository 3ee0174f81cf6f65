//! Letters that a mail server keeps refusing while it takes others, or while there are no others. None of them is given
//! up, so only the GM can end this, above all if the server refuses the club's domain.

use std::time::Duration;

use chrono::{DateTime, TimeDelta, Utc};
use tokio::time::timeout;

use super::account::{ACCOUNT, Account};
use crate::daemon::{Office, commit, remembered};
use crate::desk::gm::alarm;
use crate::post::dns;
use crate::post::refusal::doubts_domain;

/// Age of a refused letter from which the GM is told. Greylisting and busy servers let it go before that.
const TELL_AFTER: TimeDelta = TimeDelta::hours(12);

/// Time between two letters to the GM about it: less than a day, so that a program that is started once a day
/// tells it each time.
const TELL_INTERVAL: TimeDelta = TimeDelta::hours(20);

/// Maximum letters that are looked at.
const MAX_LETTERS: u32 = 1000;

/// Maximum time for asking the DNS, because the clock waits for it.
const DNS_LIMIT: Duration = Duration::from_secs(15);

/// The key under which a daemon remembers when it last told the GM.
const LAST_TOLD: &str = "refused letters told";

/// Once a day, tells the GM of letters that are still refused.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn tell_when_due(office: &Office, now: DateTime<Utc>) -> anyhow::Result<()> {
    let last = remembered::time(office, LAST_TOLD).await?;
    if last.is_some_and(|last| now < last + TELL_INTERVAL) {
        return Ok(());
    }
    // While the server refuses everything, the GM is told of that.
    if Account::read(office.store.remembered(ACCOUNT).await?.as_deref()).outage.is_some() {
        return Ok(());
    }
    let mut waiting = office.store.refused_since(now - TELL_AFTER, MAX_LETTERS).await?;
    if waiting.is_empty() {
        return Ok(());
    }
    waiting.sort_by_key(|row| row.id);
    let dns = match waiting.iter().any(|row| doubts_domain(&row.error)) {
        true => state_of_domain(office).await,
        false => Vec::new(),
    };
    commit::decide_and_commit(office, move |desk| alarm::keeps_refusing(desk, &waiting, &dns)).await?;
    Ok(office.store.remember(LAST_TOLD, &now.to_rfc3339()).await?)
}

/// Says what the DNS shows of the club's domain, as `fogpost doctor` does.
async fn state_of_domain(office: &Office) -> Vec<String> {
    let domain = office.config.club.address.domain();
    if dns::is_reserved(domain) {
        return Vec::new();
    }
    let looked_up = timeout(DNS_LIMIT, dns::Records::of(domain, office.config.dkim_selectors())).await;
    let Ok(Some(records)) = looked_up else {
        return vec![format!("the DNS does not answer about {domain}; `fogpost doctor` asks it again")];
    };
    let faults = records.faults(domain);
    if !faults.is_empty() {
        return faults;
    }
    vec![format!(
        "{domain} has SPF and DMARC records, so the letters probably go out unsigned, or by a server that the SPF \
         record does not name"
    )]
}
