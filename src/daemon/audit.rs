//! Matches are checked against their ledgers: when the GM asks, and on a schedule.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use chrono::{DateTime, TimeDelta, Utc};

use super::{Office, Pause, until};
use crate::audit::{Check, Expected, Finding, Kept, Place, Row, Sent, Verdict, Words, witness};
use crate::game::BySeat;
use crate::letter::Digest;
use crate::post::Stop;
use crate::referee::{Act, Cause};
use crate::report;
use crate::report::again::text_of;
use crate::report::envelope::Envelope;
use crate::store::{EntryRow, Fate, MatchRow, NewDispatch, Settlement, StoreError};

/// Entries looked at together.
const TOGETHER: u32 = 256;

/// The key under which the daemon remembers when all matches were checked last.
const AUDITED: &str = "audited";

/// How often the daemon asks whether it is time to check.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// A match that is ruled on while it is checked is checked again, so often.
const TRIES_AT_MOST: u32 = 5;

impl Office {
    /// Checks one match from its opening to where it stands. `step` is told how many entries more were checked.
    ///
    /// # Errors
    /// There is no such match, or the database does not answer.
    pub async fn verify(&self, match_id: &str, step: &(dyn Fn(u64) + Sync)) -> anyhow::Result<Verdict> {
        self.verify_match(match_id, true, step).await
    }

    /// The same; whether the house is asked for its turns again, which takes as long as it took to play them.
    async fn verify_match(
        &self,
        match_id: &str,
        asks_the_house: bool,
        step: &(dyn Fn(u64) + Sync),
    ) -> anyhow::Result<Verdict> {
        for _ in 0..TRIES_AT_MOST {
            let row = self.match_row(match_id).await?;
            let (id, version) = (row.id.clone(), row.version);
            let verdict = match self.verify_row(row, asks_the_house, step).await {
                Err(error) => {
                    Verdict { findings: vec![unreadable(error)?], match_id: id, ..Verdict::default() }
                }
                Ok(verdict) => verdict,
            };
            if self.match_row(match_id).await?.version == version {
                return Ok(verdict);
            }
        }
        anyhow::bail!("match {match_id} was ruled on again and again while it was checked")
    }

    /// Checks the matches that a mail of ours, kept by a player, bears witness of, and whether its ledger lines are
    /// on their chains. Empty when the mail holds no ledger line of ours.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn verify_against(
        &self,
        mail: &[u8],
        only: Option<&str>,
        step: &(dyn Fn(u64) + Sync),
    ) -> anyhow::Result<Vec<Verdict>> {
        let mut verdicts: Vec<Verdict> = Vec::new();
        for line in witness::in_mail(mail) {
            if only.is_some_and(|id| id != line.match_id) {
                continue;
            }
            if !verdicts.iter().any(|verdict| verdict.match_id == line.match_id) {
                let known = !self.store.matches(std::slice::from_ref(&line.match_id)).await?.is_empty();
                verdicts.push(match known {
                    true => self.verify(&line.match_id, step).await?,
                    false => Verdict { match_id: line.match_id.clone(), ..Verdict::default() },
                });
            }
            let before = line.seq.saturating_sub(1);
            let entry = self.store.entries_after(&line.match_id, before, 1).await?.pop();
            let what = match entry.filter(|entry| entry.seq == line.seq) {
                Some(entry) if entry.hash == line.hash => continue,
                Some(_) => "it is not on this chain: the ledger was rewritten, or the mail was",
                None => "the ledger has no such entry",
            };
            let finding = Finding { place: Place::Mail(line.seq), what: what.to_owned() };
            verdicts.iter_mut().filter(|verdict| verdict.match_id == line.match_id).for_each(|verdict| {
                verdict.findings.push(finding.clone());
            });
        }
        Ok(verdicts)
    }

    /// Checks every match when the time for it has come, without asking the house again; one that fails stands still, and the GM is told.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn audit_when_due(&self) -> anyhow::Result<()> {
        let every = TimeDelta::hours(i64::from(self.config.audit.every_hours));
        if every.is_zero() {
            return Ok(());
        }
        let now = self.now();
        let last = self.store.remembered(AUDITED).await?.and_then(|text| text.parse::<DateTime<Utc>>().ok());
        if last.is_some_and(|last| now - last < every) {
            return Ok(());
        }
        self.store.remember(AUDITED, &now.to_rfc3339()).await?;
        // A database that was just made holds nothing to be checked.
        if last.is_some() { self.audit_all(now).await } else { Ok(()) }
    }

    async fn audit_all(&self, now: DateTime<Utc>) -> anyhow::Result<()> {
        let mut failed = Vec::new();
        for id in self.store.match_ids().await? {
            let verdict = self.verify_match(&id, false, &|_| ()).await?;
            if let Some(why) = &verdict.unable {
                tracing::warn!(match_id = id, why, "a match could not be checked to its end");
            }
            if !verdict.findings.is_empty() {
                self.freeze(&id, now).await;
                failed.push(verdict);
            }
        }
        if !failed.is_empty() {
            self.alarm(&failed, now).await?;
        }
        Ok(())
    }

    /// Stops the clock of a match that does not verify, as far as that can still be done.
    async fn freeze(&self, match_id: &str, now: DateTime<Utc>) {
        tracing::error!(match_id, "the ledger does not verify; the match stands still");
        let act = Act::Pause { reason: "its ledger does not verify, and the GM was told".to_owned() };
        let row = self.match_row(match_id).await;
        let ruled = match row {
            Ok(row) => {
                self.rule_on(row, |m| Cause::House { phase_no: m.phase_no, act: &act }, now).await.map(|_| ())
            }
            Err(error) => Err(error),
        };
        if let Err(error) = ruled {
            tracing::error!(match_id, error = format!("{error:#}"), "nor can it be stopped");
        }
    }

    /// Writes to the GM what does not verify.
    async fn alarm(&self, failed: &[Verdict], now: DateTime<Utc>) -> anyhow::Result<()> {
        let findings: Vec<(String, Vec<String>)> = failed
            .iter()
            .map(|verdict| {
                let lines = verdict.findings.iter().map(|found| format!("{}: {}", found.place, found.what));
                (verdict.match_id.clone(), lines.collect())
            })
            .collect();
        let gm = &self.config.club.gm;
        let page = report::word_alarm(&self.templates, &self.stationery.club(), &findings)?;
        let message_id = self.stationery.message_id("", &format!("audit.{}", now.timestamp_millis()));
        let envelope = Envelope {
            token: "",
            to_name: &gm.name,
            to: gm.address.as_str(),
            message_id: &message_id,
            match_id: None,
            date: now,
        };
        let bytes = self.stationery.mail(page, &envelope, None)?;
        let dispatch = NewDispatch {
            message_id,
            recipient: gm.address.as_str().to_owned(),
            bytes,
            kind: "alarm".to_owned(),
            match_id: None,
            seat: None,
            answers: None,
            asked: None,
        };
        let settlement = Settlement { at: now, dispatches: vec![dispatch], ..Settlement::default() };
        self.store.commit(&settlement).await?;
        self.dispatches.notify_one();
        Ok(())
    }

    /// Checks on the schedule, until `stop`.
    pub(super) async fn audit_until(self: Arc<Self>, stop: Stop) -> anyhow::Result<()> {
        let mut pause = Pause::new();
        while !stop.is_set() {
            // It can be broken off anywhere.
            match until(&stop, self.audit_when_due()).await {
                Ok(()) => pause = Pause::new(),
                Err(error) => pause.after_failure("the matches cannot be checked", &error, &stop).await,
            }
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                () = stop.wait() => {}
            }
        }
        Ok(())
    }

    pub(super) async fn match_row(&self, match_id: &str) -> anyhow::Result<MatchRow> {
        let found = self.store.matches(&[match_id.to_owned()]).await?.pop();
        found.with_context(|| format!("there is no match {match_id}"))
    }

    async fn verify_row(
        &self,
        row: MatchRow,
        asks_the_house: bool,
        step: &(dyn Fn(u64) + Sync),
    ) -> anyhow::Result<Verdict> {
        let id = row.id.clone();
        let mut check = self.check_of(row).await?;
        check.asks_the_house = asks_the_house;
        let mut seq = 0;
        loop {
            let entries = self.store.entries_after(&id, seq, TOGETHER).await?;
            let Some(last) = entries.last() else { break };
            seq = last.seq;
            step(entries.len() as u64);
            entries.into_iter().for_each(|entry| check.take(row_of(entry)));
            self.rule_again(&mut check, false).await?;
            if check.is_stopped() {
                break;
            }
        }
        self.rule_again(&mut check, true).await?;
        let acted = self.store.letters(Some(Fate::Ruled), Some(&id), "", u32::MAX).await?;
        let acted: Vec<Digest> = acted.into_iter().map(|letter| letter.digest).collect();
        Ok(check.finish(&acted))
    }

    async fn check_of(&self, row: MatchRow) -> anyhow::Result<Check> {
        let sent = self.store.sent_about(&row.id).await?.into_iter().map(|letter| Sent {
            message_id: letter.message_id,
            recipient: letter.recipient,
            kind: letter.kind,
            seat: letter.seat,
        });
        let mut addresses: BySeat<Vec<String>> = BySeat::default();
        for seat in self.store.seats_of(std::slice::from_ref(&row.id)).await? {
            addresses[seat.seat] = seat.player.addresses;
        }
        let MatchRow { id, game, stage, wake_at, snapshot, version: _ } = row;
        Ok(Check::new(Kept { id, game, stage, wake_at, snapshot }, sent.collect(), &addresses))
    }

    /// Rules again on what the check holds, with the letters that it names, and compares what was sent.
    async fn rule_again(&self, check: &mut Check, at_end: bool) -> anyhow::Result<()> {
        for (digest, raw) in self.store.letters_named(&check.letters_wanted()).await? {
            check.hand(digest, &raw);
        }
        let answered = self.store.dispatches_by_message_id(&check.answered_wanted()).await?;
        let answered = answered.into_iter().map(|(id, bytes)| (id, text_of(&bytes))).collect();
        let expected = check.rule(&answered, at_end);
        for some in expected.chunks(TOGETHER as usize) {
            let ids: Vec<String> = some.iter().map(|letter| letter.message_id().to_owned()).collect();
            let sent: BTreeMap<String, Vec<u8>> =
                self.store.dispatches_by_message_id(&ids).await?.into_iter().collect();
            for letter in some {
                check.compared(self.compare(letter, sent.get(letter.message_id())).await?);
            }
        }
        Ok(())
    }

    async fn compare(
        &self,
        letter: &Expected,
        bytes: Option<&Vec<u8>>,
    ) -> anyhow::Result<Result<bool, Finding>> {
        let words = Words { stationery: &self.stationery, templates: &self.templates };
        let wanted = letter.reports_wanted();
        let mut reports: BTreeMap<String, Vec<u8>> =
            self.store.dispatches_by_message_id(wanted).await?.into_iter().collect();
        let reports: Vec<Vec<u8>> = wanted.iter().filter_map(|id| reports.remove(id)).collect();
        Ok(letter.compare(&words, bytes.map(Vec::as_slice), &reports))
    }
}

/// A row that holds what no row of ours can hold was changed by somebody else.
fn unreadable(error: anyhow::Error) -> anyhow::Result<Finding> {
    match error.downcast::<StoreError>()? {
        StoreError::Unsound(what) => Ok(Finding { place: Place::Kept("the database"), what }),
        other => Err(other.into()),
    }
}

fn row_of(entry: EntryRow) -> Row {
    let EntryRow { match_id: _, seq, at, kind, json, hash } = entry;
    Row { seq, at, kind, json, hash }
}
