//! Matches are checked against their ledgers: when the GM asks, and on a schedule.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use chrono::{DateTime, TimeDelta, Utc};

use super::parallel::{meanwhile, side_by_side, wait_for};
use super::{Office, Pause, until};
use crate::audit::{Check, Expected, Finding, Kept, Place, Row, Sent, Verdict, Words, witness};
use crate::game::BySeat;
use crate::post::Stop;
use crate::referee::{Act, Cause};
use crate::report;
use crate::report::again::text_of;
use crate::report::envelope::Envelope;
use crate::store::{DispatchRow, EntryRow, MatchRow, NewDispatch, Settlement, StoreError};

/// Entries looked at together.
const TOGETHER: u32 = 256;

/// How much is done again, beside what is always done.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Depth {
    /// The house's turns are taken as they were played: to find them takes as long as it took then.
    WithoutHouse,
    Words,
    /// The HTML and the pictures, too.
    Whole,
}

/// Is told how many entries more were checked.
pub type Step<'a> = dyn Fn(u64) + Sync + 'a;

/// The key under which the daemon remembers when all matches were checked last.
const AUDITED: &str = "audited";

/// How often the daemon asks whether it is time to check.
const LOOK_EVERY: Duration = Duration::from_secs(60);

/// A match that is ruled on while it is checked is checked again, so often.
const TRIES_AT_MOST: u32 = 5;

impl Office {
    /// Checks one match from its opening to where it stands; the house is asked for its turns again.
    ///
    /// # Errors
    /// There is no such match, or the database does not answer.
    pub async fn verify(&self, match_id: &str, step: &Step<'_>) -> anyhow::Result<Verdict> {
        self.verify_match(match_id, Depth::Words, step).await
    }

    async fn verify_match(&self, match_id: &str, depth: Depth, step: &Step<'_>) -> anyhow::Result<Verdict> {
        for _ in 0..TRIES_AT_MOST {
            let row = self.match_row(match_id).await?;
            let (id, version) = (row.id.clone(), row.version);
            let verdict = match self.verify_row(row, depth, step).await {
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

    /// Checks several matches side by side; `whole`: with the HTML and the picture of every letter of ours made again.
    /// The verdicts come in the order of the matches.
    ///
    /// # Errors
    /// As for [`Office::verify`].
    pub async fn verify_several(
        &self,
        ids: &[String],
        whole: bool,
        step: &Step<'_>,
    ) -> anyhow::Result<Vec<Verdict>> {
        let depth = if whole { Depth::Whole } else { Depth::Words };
        let verdicts = side_by_side(ids, |id| wait_for(self.verify_match(id, depth, step)));
        verdicts.into_iter().map(|verdict| verdict.context("the check failed")?).collect()
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
        step: &Step<'_>,
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

    /// Checks every match when the time for it has come, without asking the house again; one that fails stands still,
    /// and the GM is told.
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
            let verdict = self.verify_match(&id, Depth::WithoutHouse, &|_| ()).await?;
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

    async fn verify_row(&self, row: MatchRow, depth: Depth, step: &Step<'_>) -> anyhow::Result<Verdict> {
        let id = row.id.clone();
        let mut check = self.check_of(row).await?;
        check.asks_the_house = depth != Depth::WithoutHouse;
        let whole = depth == Depth::Whole;
        let mut reached = Reached { seq: 0, sent_id: i64::MIN };
        let (mut brought, mut at_end) = (Vec::new(), false);
        while !at_end && !check.is_stopped() {
            let before = check.found();
            // What some entries brought is worded again while the next are ruled on.
            let (compared, ruled) =
                meanwhile(|| self.compare(&brought, whole), self.rule_again(&mut check, &mut reached, step));
            check.compared(compared, before);
            (brought, at_end) = ruled?;
        }
        let before = check.found();
        check.compared(self.compare(&brought, whole), before);
        let mut acted_id = i64::MIN;
        loop {
            let acted = self.store.acted_after(&id, acted_id, TOGETHER).await?;
            let Some((last, _)) = acted.last() else { break };
            acted_id = *last;
            check.take_acted(&acted.into_iter().map(|(_, digest)| digest).collect::<Vec<_>>());
        }
        Ok(check.finish())
    }

    async fn check_of(&self, row: MatchRow) -> anyhow::Result<Check> {
        let mut addresses: BySeat<Vec<String>> = BySeat::default();
        for seat in self.store.seats_of(std::slice::from_ref(&row.id)).await? {
            addresses[seat.seat] = seat.player.addresses;
        }
        let MatchRow { id, game, stage, wake_at, snapshot, version: _ } = row;
        Ok(Check::new(Kept { id, game, stage, wake_at, snapshot }, addresses))
    }

    /// Rules again on the next entries, with the letters that they name, and gives the letters of ours that they
    /// brought; and whether there are no more entries.
    async fn rule_again(
        &self,
        check: &mut Check,
        reached: &mut Reached,
        step: &Step<'_>,
    ) -> anyhow::Result<(Vec<Brought>, bool)> {
        let id = check.match_id().to_owned();
        let entries = self.store.entries_after(&id, reached.seq, TOGETHER).await?;
        let at_end = entries.is_empty();
        reached.seq = entries.last().map_or(reached.seq, |last| last.seq);
        step(entries.len() as u64);
        entries.into_iter().for_each(|entry| check.take(row_of(entry)));
        while check.wants_sent() {
            let sent = self.store.sent_after(&id, reached.sent_id, TOGETHER).await?;
            reached.sent_id = sent.last().map_or(reached.sent_id, |(last, _)| last.id);
            check.take_sent(sent.into_iter().map(sent_row).collect());
        }
        let letters = self.store.letters_named(&check.letters_wanted()).await?;
        let read = side_by_side(&letters, |(digest, raw)| check.read(*digest, raw));
        let answered: BTreeSet<String> = read.iter().flat_map(|letter| letter.thread().cloned()).collect();
        let answered = self.store.dispatches_by_message_id(&Vec::from_iter(answered)).await?;
        let answered = side_by_side(&answered, |(id, bytes)| (id.clone(), text_of(bytes)));
        let answered = BTreeMap::from_iter(answered);
        let written = side_by_side(&read, |letter| letter.written(&answered));
        for (((digest, _), letter), written) in letters.iter().zip(read).zip(written) {
            check.hand(*digest, letter, written);
        }
        let mut brought = Vec::new();
        for letter in check.rule(at_end) {
            let wanted = letter.reports_wanted();
            let reports = match wanted.is_empty() {
                true => Vec::new(),
                false => self.store.dispatches_by_message_id(wanted).await?,
            };
            brought.push((letter, reports.into_iter().map(|(_, bytes)| bytes).collect()));
        }
        Ok((brought, at_end))
    }

    /// Words these letters again, and compares them with what was sent.
    fn compare(&self, brought: &[Brought], whole: bool) -> Vec<Result<bool, Finding>> {
        let (stationery, templates) = (&self.stationery, &self.templates);
        let words = Words { stationery, templates, digest: self.desk.wording, whole };
        side_by_side(brought, |(letter, reports)| letter.compare(&words, reports))
    }
}

/// A letter of ours as it must have been sent, with the reports that it may tell again.
type Brought = (Expected, Vec<Vec<u8>>);

/// How far the rows of a match were read. The database gives numbers from 1 on, whoever writes into it any.
struct Reached {
    seq: u64,
    sent_id: i64,
}

/// A row that holds what no row of ours can hold was changed by somebody else.
fn unreadable(error: anyhow::Error) -> anyhow::Result<Finding> {
    match error.downcast::<StoreError>()? {
        StoreError::Unsound(what) => Ok(Finding { place: Place::Kept("the database"), what }),
        other => Err(other.into()),
    }
}

fn sent_row((about, bytes): (DispatchRow, Vec<u8>)) -> Sent {
    let DispatchRow { message_id, recipient, kind, seat, .. } = about;
    Sent { message_id, recipient, kind, seat, bytes }
}

fn row_of(entry: EntryRow) -> Row {
    let EntryRow { match_id: _, seq, at, kind, json, hash } = entry;
    Row { seq, at, kind, json, hash }
}
