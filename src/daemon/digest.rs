//! The GM's digest: once a day what waits for him, and what went wrong since the last one.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Timelike, Utc};

use super::Office;
use super::returned::given_up;
use super::settle::{Known, rulable, snapshot};
use crate::referee::{Match, Stage};
use crate::report::{ClubLetter, FailedSend, GmDigest, LetterSummary, RefusalCount};
use crate::store::{DispatchRow, LetterStatus, Settlement};

/// The key under which the daemon remembers when the last digest was made.
const LAST_DIGEST: &str = "digest";

/// No more letters and dispatches than this are listed one by one.
const LISTED_AT_MOST: u32 = 50;

/// Matches loaded together.
const MATCHES_TOGETHER: usize = 500;

impl Office {
    /// Sends the digest when its hour has come, if there is anything to tell.
    pub(super) async fn digest_when_due(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        let last = self.store.remembered(LAST_DIGEST).await?.and_then(|text| text.parse().ok());
        let Some(last) = last else {
            // The first day begins when the club does.
            return Ok(self.store.remember(LAST_DIGEST, &now.to_rfc3339()).await?);
        };
        let local = |at: DateTime<Utc>| at.with_timezone(&self.config.terms.zone);
        let today = local(now).date_naive();
        if local(now).hour() < self.config.club.gm.digest_hour || local(last).date_naive() >= today {
            return Ok(());
        }
        let nothing_yet = (Known::default(), Settlement::default());
        if let Some(digest) = self.digest_since(Some(last), &nothing_yet.0, &nothing_yet.1).await? {
            let mut settlement = Settlement { at: now, ..Settlement::default() };
            let dispatch =
                self.gm_dispatch(&ClubLetter::Digest { digest }, &format!("d.{today}"), None).await?;
            let made = self.store.dispatches_named(std::slice::from_ref(&dispatch.message_id)).await?;
            if made.is_empty() {
                settlement.dispatches.push(dispatch);
                self.store.commit(&settlement).await?;
                self.dispatches.notify_one();
            }
        }
        Ok(self.store.remember(LAST_DIGEST, &now.to_rfc3339()).await?)
    }

    /// What there is to tell since then (by default, of the last day); `None`: nothing.
    pub(super) async fn digest_since(
        &self,
        since: Option<DateTime<Utc>>,
        known: &Known,
        settlement: &Settlement,
    ) -> anyhow::Result<Option<GmDigest>> {
        let since = since.unwrap_or(self.now() - TimeDelta::days(1));
        let mut told = GmDigest { since: self.tell_time(since), ..GmDigest::default() };
        self.for_each_match(known, settlement, |game_match| {
            let line = || self.gm_line(game_match);
            told.running += usize::from(game_match.stage == Stage::Running);
            if game_match.protest.is_some() {
                told.protests.push(line());
            } else if game_match.asked_gm && game_match.stage == Stage::Running {
                told.overdue.push(line());
            } else if self.is_late(game_match) {
                told.late.push(line());
            } else if game_match.stage != Stage::Over
                && (game_match.bouncing != Default::default() || game_match.away != Default::default())
            {
                told.unread.push(line());
            }
        })
        .await?;
        let mut refused: BTreeMap<String, usize> = BTreeMap::new();
        for entry in self.store.entries_since("OrdersRefused", since).await? {
            *refused.entry(entry.match_id).or_default() += 1;
        }
        told.refused = refused.into_iter().map(|(id, count)| RefusalCount { id, count }).collect();
        let unsent = self.store.list_dispatches(true, LISTED_AT_MOST).await?;
        for row in unsent.into_iter().filter(|row| row.given_up) {
            if self.given_up_at(&row).await? >= since {
                told.failed.push(FailedSend { recipient: row.recipient, kind: row.kind, error: row.error });
            }
        }
        told.set_aside = self.letters_told(LetterStatus::SetAside, since).await?;
        told.ignored = self.letters_told(LetterStatus::Ignored, since).await?;
        told.letters_waiting = self.store.queues().await?.letters_waiting;
        Ok(Some(told).filter(GmDigest::has_news))
    }

    /// Shows every match as far as it is decided in this settlement, loading some at a time: a club may have more than
    /// fit into memory.
    pub(super) async fn for_each_match(
        &self,
        known: &Known,
        settlement: &Settlement,
        mut show: impl FnMut(&Match),
    ) -> anyhow::Result<()> {
        let stored = self.store.match_ids().await?;
        for ids in stored.chunks(MATCHES_TOGETHER) {
            for row in self.store.matches(ids).await? {
                match known.matches.get(&row.id) {
                    Some(working) => show(&working.game_match),
                    None => drop(rulable(&row).inspect(&mut show)),
                }
            }
        }
        let new = settlement.matches.iter().filter(|row| stored.binary_search(&row.id).is_err());
        for row in new {
            show(&snapshot(row)?);
        }
        Ok(())
    }

    /// When the GM was told at once; of his own letters, when they were made.
    async fn given_up_at(&self, row: &DispatchRow) -> anyhow::Result<DateTime<Utc>> {
        let notice = self.stationery.message_id(&self.gm_token().await?, &given_up(row.id));
        let told = self.store.dispatches_named(&[notice]).await?;
        Ok(told.first().map_or(row.created_at, |told| told.created_at))
    }

    async fn letters_told(
        &self,
        status: LetterStatus,
        since: DateTime<Utc>,
    ) -> anyhow::Result<Vec<LetterSummary>> {
        let rows = self.store.letters(Some(status), None, "", LISTED_AT_MOST).await?;
        let since = rows.into_iter().filter(|row| row.decided_at.is_some_and(|at| at >= since));
        Ok(since
            .map(|row| LetterSummary {
                digest: row.digest.to_string()[..12].to_owned(),
                at: self.tell_time(row.received_at),
                sender: row.sender,
                note: row.note,
            })
            .collect())
    }
}
