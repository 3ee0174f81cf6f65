//! Matches are checked against their ledgers: when the GM asks, and on a schedule.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use chrono::{DateTime, TimeDelta, Utc};

use super::parallel::{meanwhile, side_by_side, wait_for};
use super::{Office, Pause, until};
use crate::audit::{
    AuditVerdict, Check, CurrentWording, ExpectedDispatch, Finding, LedgerBatch, LedgerReader, LedgerRow,
    ParsedLetter, Place, StoredDispatch, StoredMatch, witness,
};
use crate::game::BySeat;
use crate::letter::Digest;
use crate::post::ShutdownSignal;
use crate::referee::{Act, Cause, DispatchKind};
use crate::report::envelope::Envelope;
use crate::report::sent::plain_text;
use crate::report::{self, PictureCache};
use crate::store::{EntryRow, MatchRow, NewDispatch, SentRow, Settlement, StoreError};

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

/// The key under which the daemon remembers when it began the last check of all matches that it brought to its end.
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
    pub async fn verify(&self, match_id: &str, step: &Step<'_>) -> anyhow::Result<AuditVerdict> {
        self.verify_match(match_id, Depth::Words, step).await
    }

    async fn verify_match(
        &self,
        match_id: &str,
        depth: Depth,
        step: &Step<'_>,
    ) -> anyhow::Result<AuditVerdict> {
        for _ in 0..TRIES_AT_MOST {
            let row = self.match_row(match_id).await?;
            let (id, version) = (row.id.clone(), row.version);
            let verdict = match self.verify_row(row, depth, step).await {
                Err(error) => AuditVerdict {
                    findings: vec![unreadable(error)?],
                    match_id: id,
                    ..AuditVerdict::default()
                },
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
    ) -> anyhow::Result<Vec<AuditVerdict>> {
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
    ) -> anyhow::Result<Vec<AuditVerdict>> {
        let mut verdicts: Vec<AuditVerdict> = Vec::new();
        for line in witness::in_mail(mail) {
            if only.is_some_and(|id| id != line.match_id) {
                continue;
            }
            if !verdicts.iter().any(|verdict| verdict.match_id == line.match_id) {
                let known = !self.store.matches(std::slice::from_ref(&line.match_id)).await?.is_empty();
                verdicts.push(match known {
                    true => self.verify(&line.match_id, step).await?,
                    false => AuditVerdict { match_id: line.match_id.clone(), ..AuditVerdict::default() },
                });
            }
            let before = line.seq.saturating_sub(1);
            let mut entry = None;
            self.store.entries_after(&line.match_id, Some(before), 1, &mut |row| entry = Some(row)).await?;
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
        // A database that was just made holds nothing to be checked. What is broken off is begun again.
        if last.is_some() {
            self.audit_all(now).await?;
        }
        Ok(self.store.remember(AUDITED, &now.to_rfc3339()).await?)
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
            Ok(row) => self
                .rule_on(row, |game_match| Cause::House { phase_no: game_match.phase_no, act: &act }, now)
                .await
                .map(|_| ()),
            Err(error) => Err(error),
        };
        if let Err(error) = ruled {
            tracing::error!(match_id, error = format!("{error:#}"), "nor can it be stopped");
        }
    }

    /// Writes to the GM what does not verify.
    async fn alarm(&self, failed: &[AuditVerdict], now: DateTime<Utc>) -> anyhow::Result<()> {
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
            kind: DispatchKind::Alarm,
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
    pub(super) async fn audit_until(self: Arc<Self>, stop: ShutdownSignal) -> anyhow::Result<()> {
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

    async fn verify_row(&self, row: MatchRow, depth: Depth, step: &Step<'_>) -> anyhow::Result<AuditVerdict> {
        let id = row.id.clone();
        let mut check = self.check_of(row).await?;
        check.replays_house_turns = depth != Depth::WithoutHouse;
        let (mut reading, mut sent_id) = (LedgerReader::new(&id), i64::MIN);
        let whole = depth == Depth::Whole;
        let mut next = self.read_on(&mut reading, &mut sent_id, step).await;
        while !check.is_stopped() {
            let read = next?;
            if read.is_end() {
                self.rule_again(&mut check, read, whole)?;
                break;
            }
            // While this is ruled on again and worded again, what follows is read.
            let (ruled, read_on) = meanwhile(
                || self.rule_again(&mut check, read, whole),
                self.read_on(&mut reading, &mut sent_id, step),
            );
            ruled?;
            next = read_on;
        }
        let mut acted_id = i64::MIN;
        while let Some((last, acted)) = self.store.acted_after(&id, acted_id, TOGETHER).await? {
            acted_id = last;
            check.check_acted_letters(&acted);
        }
        Ok(check.finish())
    }

    async fn check_of(&self, row: MatchRow) -> anyhow::Result<Check> {
        let mut addresses: BySeat<Vec<String>> = BySeat::default();
        for seat in self.store.seats_of(std::slice::from_ref(&row.id)).await? {
            addresses[seat.seat] = seat.player.addresses;
        }
        let MatchRow { id, game, stage, wake_at, snapshot, version: _ } = row;
        Ok(Check::new(StoredMatch { id, game, stage, wake_at, snapshot }, addresses))
    }

    /// Reads the next entries of a match, with the letters that they name and what was sent until then.
    async fn read_on(
        &self,
        reading: &mut LedgerReader,
        sent_id: &mut i64,
        step: &Step<'_>,
    ) -> anyhow::Result<LedgerBatch> {
        let (id, seq, mut count) = (reading.match_id().to_owned(), reading.seq(), 0);
        let mut take = |entry: EntryRow| {
            count += 1;
            reading.push_entry(row_of(entry));
        };
        // Before the first entry there may be what was added.
        let seq = Some(seq).filter(|seq| *seq > 0);
        self.store.entries_after(&id, seq, TOGETHER, &mut take).await?;
        step(count);
        while reading.needs_dispatches() {
            let mut sent = Vec::new();
            let after = *sent_id;
            let mut take = |row: SentRow| {
                *sent_id = row.id;
                sent.push(sent_row(row));
            };
            self.store.sent_after(&id, after, TOGETHER, &mut take).await?;
            reading.push_dispatches(sent);
        }
        let mut letters: Vec<ParsedLetter> = Vec::new();
        let mut take = |(digest, raw): (Digest, Vec<u8>)| letters.push(reading.parse_letter(digest, &raw));
        self.store.letters_named(&reading.missing_letters(), &mut take).await?;
        let answered: BTreeSet<String> = letters.iter().flat_map(|letter| letter.thread().cloned()).collect();
        let answered = self.store.dispatches_by_message_id(&Vec::from_iter(answered)).await?;
        let answered = answered.into_iter().map(|(id, bytes)| (id, plain_text(&bytes))).collect();
        reading.push_letters(letters, &answered);
        Ok(reading.take_batch())
    }

    /// Rules again on what was read, words the letters again that come of it, and compares them with what was sent.
    fn rule_again(&self, check: &mut Check, read: LedgerBatch, whole: bool) -> anyhow::Result<()> {
        let (stationery, templates) = (&self.stationery, &self.templates);
        let pictures = &PictureCache::default();
        let words = CurrentWording { stationery, templates, digest: self.desk.wording, pictures, whole };
        let at_end = read.is_end();
        check.push_batch(read);
        let before = check.finding_count();
        let mut brought: Vec<Brought> = Vec::new();
        for letter in check.rule_pending(at_end) {
            let reports = match letter.earlier_report_ids() {
                [] => Vec::new(),
                wanted => self.reports(wanted)?,
            };
            brought.push((letter, reports));
        }
        let compare = |(letter, reports): &Brought| letter.compare(&words, reports);
        // Pictures are worth all processors; words are made again as fast as what follows is read.
        let compared =
            if whole { side_by_side(&brought, compare) } else { brought.iter().map(compare).collect() };
        check.record_comparisons(compared, before);
        Ok(())
    }

    /// The bytes of these reports.
    fn reports(&self, wanted: &[String]) -> anyhow::Result<Vec<Vec<u8>>> {
        let found = wait_for(self.store.dispatches_by_message_id(wanted))
            .context("the reports could not be read")??;
        Ok(found.into_iter().map(|(_, bytes)| bytes).collect())
    }
}

/// A letter of ours as it must have been sent, with the reports that it may tell again.
type Brought = (ExpectedDispatch, Vec<Vec<u8>>);

/// A row that holds what no row of ours can hold was changed by somebody else.
fn unreadable(error: anyhow::Error) -> anyhow::Result<Finding> {
    match error.downcast::<StoreError>()? {
        StoreError::Unsound(what) => Ok(Finding { place: Place::Kept("the database"), what }),
        other => Err(other.into()),
    }
}

fn sent_row(row: SentRow) -> StoredDispatch {
    let SentRow { id: _, message_id, recipient, kind, seat, bytes } = row;
    StoredDispatch { message_id, recipient, kind, seat, digest: Digest::of(&bytes), bytes }
}

fn row_of(entry: EntryRow) -> LedgerRow {
    let EntryRow { match_id: _, seq, at, kind, json, hash } = entry;
    LedgerRow { seq, at, kind, json, hash }
}
