//! Keeps the disk from filling: deletes the bytes of old letters that caused no ledger entry, and pictures that can be
//! drawn again, and stops emptying the mailbox while space is short.

use chrono::{DateTime, TimeDelta, Utc};

use crate::daemon::remembered::{MAX_DEFERRAL, MAX_SLEEP};
use crate::daemon::{Office, remembered};
use crate::desk::gm::alarm::low_space;
use crate::desk::matches::acts::{by_clock, by_program};
use crate::referee::Act;

/// The key under which a daemon remembers its last deletion of old letters.
const LAST_DELETION: &str = "unruled letters deleted";

/// Time between deletions of old letters and pictures.
const UPKEEP_INTERVAL: TimeDelta = TimeDelta::hours(1);

/// Letters deleted in one transaction, during which other writers wait.
const BATCH_SIZE: u32 = 500;

/// Maximum transactions in a row, before the clock gets its turn.
const MAX_BATCHES: usize = 20;

/// The key under which a daemon remembers its last listing of the letters of ended matches.
const LAST_LISTING: &str = "letters listed";

/// Maximum time that a match that is over waits for its last letters to be sent or given up, before an entry lists
/// them.
const LISTED_AFTER: TimeDelta = TimeDelta::days(1);

/// The key under which a daemon remembers its last deletion of old pictures.
const LAST_DROPPING: &str = "pictures dropped";

/// Pictures deleted in one transaction. They are read for their digests, and each takes some 20 to 60 kB.
const PICTURES: u32 = 100;

/// Matches in which letters are listed in one transaction.
const LISTED_TOGETHER: usize = 100;

/// The key under which a daemon remembers its last search for items that are deferred too far.
const LAST_CORRECTION: &str = "deferred times corrected";

/// Matches ruled on together whose clock is set too far ahead.
const RULED_TOGETHER: u32 = 100;

/// The key under which a daemon remembers since when space is short. It exists only while it is short.
const LOW_SPACE: &str = "low space since";

impl Office {
    /// Whether hourly work is due again. The time of the last run is remembered under `key`.
    async fn is_upkeep_due(&self, key: &str, now: DateTime<Utc>) -> anyhow::Result<bool> {
        let last = remembered::time(self, key).await?;
        Ok(last.is_none_or(|last| now >= last + UPKEEP_INTERVAL))
    }

    /// Makes due everything that is deferred further than possible, once an hour.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn correct_deferred_when_due(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        if !self.is_upkeep_due(LAST_CORRECTION, now).await? {
            return Ok(());
        }
        self.store.retry_deferred(now, now + MAX_DEFERRAL).await?;
        let asleep = self.store.matches_asleep(now + MAX_SLEEP, RULED_TOGETHER).await?;
        self.rule_on_many(asleep, &by_clock(), now).await?;
        Ok(self.store.remember(LAST_CORRECTION, &now.to_rfc3339()).await?)
    }

    /// Deletes the bytes of letters that caused no ledger entry and are older than `letters.keep_unruled_days`, once an
    /// hour. Letters of the GM stay: they are the evidence of what the GM asked for.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn delete_unruled_when_due(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        let days = self.config.letters.keep_unruled_days;
        if days == 0 || !self.is_upkeep_due(LAST_DELETION, now).await? {
            return Ok(());
        }
        let gms = self.config.club.gm.addresses();
        let kept_senders: Vec<String> = gms.map(|address| address.as_str().to_lowercase()).collect();
        let before = now - TimeDelta::days(i64::from(days));
        let mut deleted = 0;
        for _ in 0..MAX_BATCHES {
            let batch = self.store.delete_unruled(now, before, &kept_senders, BATCH_SIZE).await?;
            deleted += batch;
            if batch < u64::from(BATCH_SIZE) {
                // Otherwise more are left, and the next look at the clock goes on with them.
                self.store.remember(LAST_DELETION, &now.to_rfc3339()).await?;
                break;
            }
        }
        if deleted > 0 {
            tracing::info!(letters = deleted, days, "deleted the bytes of old letters that caused no entry");
        }
        Ok(())
    }

    /// Once an hour, adds an entry to each match that is over and whose last letters no entry lists: otherwise their
    /// pins and deliveries would be in no chain.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn list_letters_when_due(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        if !self.is_upkeep_due(LAST_LISTING, now).await? {
            return Ok(());
        }
        let ids = self.store.matches_to_list(now - LISTED_AFTER).await?;
        for chunk in ids.chunks(LISTED_TOGETHER) {
            self.rule_on_many(self.store.matches(chunk).await?, &by_program(Act::ListLetters), now).await?;
        }
        Ok(self.store.remember(LAST_LISTING, &now.to_rfc3339()).await?)
    }

    /// Deletes the pictures of letters that were sent at least seven days ago, once an hour.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn drop_pictures_when_due(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        if !self.is_upkeep_due(LAST_DROPPING, now).await? {
            return Ok(());
        }
        let mut dropped = 0;
        for _ in 0..MAX_BATCHES {
            let batch = self.store.drop_pictures(now, PICTURES).await?;
            dropped += batch;
            if batch < u64::from(PICTURES) {
                self.store.remember(LAST_DROPPING, &now.to_rfc3339()).await?;
                break;
            }
        }
        if dropped > 0 {
            tracing::info!(pictures = dropped, "deleted the pictures of letters that were sent a week ago");
        }
        Ok(())
    }

    /// Whether there is room for more letters: at least `database.min_free_mb`. Tells the GM once when there is not.
    pub async fn has_room(&self) -> bool {
        let shortage = match self.store.free_bytes() {
            Ok(free) => free.and_then(|free| self.config.database.shortage(free)),
            // If the disk is gone, storing letters fails by itself.
            Err(error) => {
                tracing::warn!(%error, "failed to find out how much space is free");
                None
            }
        };
        let noted = match shortage {
            Some(free_mb) => self.note_shortage(free_mb).await,
            None => self.note_room().await,
        };
        if let Err(error) = noted {
            tracing::warn!(error = format!("{error:#}"), "failed to note how much space is free");
        }
        shortage.is_none()
    }

    async fn note_shortage(&self, free_mb: u64) -> anyhow::Result<()> {
        if self.store.remembered(LOW_SPACE).await?.is_some() {
            return Ok(());
        }
        tracing::error!(free_mb, "space is short; no more letters are taken from the mailbox");
        let now = self.now();
        self.decide_and_commit(move |desk| low_space(desk, free_mb)).await?;
        // Only once the letter is queued: telling the GM twice is better than never.
        Ok(self.store.remember(LOW_SPACE, &now.to_rfc3339()).await?)
    }

    async fn note_room(&self) -> anyhow::Result<()> {
        if self.store.remembered(LOW_SPACE).await?.is_some() {
            tracing::warn!("there is room again; letters are taken from the mailbox");
            self.store.forget(LOW_SPACE).await?;
        }
        Ok(())
    }
}
