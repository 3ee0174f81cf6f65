//! Matches are checked against their ledgers: when the GM asks, and on a schedule.

use std::collections::BTreeMap;

use anyhow::Context;

use super::Office;
use crate::audit::{Check, Expected, Finding, Kept, Place, Row, Sent, Verdict, Words};
use crate::game::BySeat;
use crate::letter::Digest;
use crate::report::again::text_of;
use crate::store::{EntryRow, Fate, MatchRow, StoreError};

/// Entries looked at together.
const TOGETHER: u32 = 256;

/// A match that is ruled on while it is checked is checked again, so often.
const TRIES_AT_MOST: u32 = 5;

impl Office {
    /// Checks one match from its opening to where it stands. `step` is told how many entries more were checked.
    ///
    /// # Errors
    /// There is no such match, or the database does not answer.
    pub async fn verify(&self, match_id: &str, step: &(dyn Fn(u64) + Sync)) -> anyhow::Result<Verdict> {
        for _ in 0..TRIES_AT_MOST {
            let row = self.match_row(match_id).await?;
            let (id, version) = (row.id.clone(), row.version);
            let verdict = match self.verify_row(row, step).await {
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

    pub(super) async fn match_row(&self, match_id: &str) -> anyhow::Result<MatchRow> {
        let found = self.store.matches(&[match_id.to_owned()]).await?.pop();
        found.with_context(|| format!("there is no match {match_id}"))
    }

    async fn verify_row(&self, row: MatchRow, step: &(dyn Fn(u64) + Sync)) -> anyhow::Result<Verdict> {
        let id = row.id.clone();
        let mut check = self.check_of(row).await?;
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
