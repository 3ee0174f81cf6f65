//! [`LetterLookups`] for both databases: letters by what their lists do not show.

use async_trait::async_trait;
use chrono::{DateTime, Utc};

use super::database::Database;
use super::{NewLetter, Result, UnprovenLetter, letters, unproven};
use crate::letter::Digest;

/// Finds letters that look like others, and those that a GM's digest counts.
#[async_trait]
pub trait LetterLookups {
    /// Returns, for each of these letters, the first stored one with its Message-ID and sender, and its size in bytes.
    async fn first_sent_as(&self, letters: &[NewLetter]) -> Result<Vec<Option<(Digest, u64)>>>;

    /// Returns how many letters were taken from the provider's spam folder since then.
    async fn spam_letters_since(&self, since: DateTime<Utc>) -> Result<u64>;

    /// Returns up to `limit` letters in players' names that were noted in this time, and that nobody has confirmed or
    /// denied, oldest first.
    async fn unanswered_letters(
        &self,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<UnprovenLetter>>;
}

#[async_trait]
impl LetterLookups for Database {
    async fn first_sent_as(&self, letters: &[NewLetter]) -> Result<Vec<Option<(Digest, u64)>>> {
        letters::first_sent_as(&mut self.backend.reader().await?.session(), letters).await
    }

    async fn spam_letters_since(&self, since: DateTime<Utc>) -> Result<u64> {
        letters::count_spam(&mut self.backend.reader().await?.session(), since).await
    }

    async fn unanswered_letters(
        &self,
        from: DateTime<Utc>,
        until: DateTime<Utc>,
        limit: u32,
    ) -> Result<Vec<UnprovenLetter>> {
        unproven::unanswered(&mut self.backend.reader().await?.session(), from, until, limit).await
    }
}
