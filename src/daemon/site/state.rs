//! The last build of the configured site, for `status` and `doctor`.

use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};

use super::folder::Written;
use crate::daemon::Office;
use crate::report::format_duration;
use crate::store::{Database, StoreError};

/// The key under which a daemon remembers the last build.
const SITE: &str = "site";

/// The state of the configured site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteState {
    /// The end of the last build that succeeded.
    pub built_at: Option<DateTime<Utc>>,
    /// The time since which every build has failed, and the last error.
    pub failed: Option<(DateTime<Utc>, String)>,
}

impl SiteState {
    /// Returns the state that a daemon noted last; `None` if no daemon builds a site.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn of(store: &Database) -> Result<Option<SiteState>, StoreError> {
        Ok(store.remembered(SITE).await?.and_then(|json| serde_json::from_str(&json).ok()))
    }

    /// Returns a sentence about builds that fail.
    pub fn fault(&self, now: DateTime<Utc>) -> Option<String> {
        let (since, error) = self.failed.as_ref()?;
        Some(format!("the site has not been built for {}: {error}", format_duration(now - *since)))
    }
}

/// Notes and logs the outcome of a build.
pub async fn note(office: &Office, built: &anyhow::Result<Written>) -> Result<(), StoreError> {
    let now = office.now();
    let before = SiteState::of(&office.store).await?.unwrap_or_default();
    let after = match built {
        Ok(_) => SiteState { built_at: Some(now), failed: None },
        Err(error) => {
            let since = before.failed.as_ref().map_or(now, |(since, _)| *since);
            SiteState { failed: Some((since, format!("{error:#}"))), ..before }
        }
    };
    let json = serde_json::to_string(&after).expect("times and a text");
    office.store.remember(SITE, &json).await
}

/// Forgets the state, because no site is configured.
pub async fn forget(office: &Office) -> Result<(), StoreError> {
    office.store.forget(SITE).await
}
