//! Whether a letter is its sender's: what the own mail server or a DKIM signature says of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono::TimeDelta;
use tokio::task::JoinSet;

use super::Office;
use super::settle::Read;
use crate::letter::authentic::ReportedDkim;
use crate::letter::{Digest, Letter};
use crate::post::dkim::DkimVerdict;
use crate::referee::DispatchKind;
use crate::report::ClubLetter;
use crate::store::{LetterStatus, Postponed, Settlement, TokenRow, WaitingLetter};

/// While the DNS does not answer, a letter is tried again after so long …
const AGAIN_AFTER: TimeDelta = TimeDelta::minutes(15);

/// … and after so long it counts as not proven.
const TRIED_FOR: TimeDelta = TimeDelta::days(3);

/// The verdicts on letters; of a letter that is not in it nothing is asked.
pub(super) type Proofs = BTreeMap<Digest, DkimVerdict>;

impl Office {
    /// Asks for every letter of a person, where letters must be signed.
    pub(super) async fn proofs(&self, letters: &[WaitingLetter], read: &[Option<Read>]) -> Proofs {
        let Some(verifier) = &self.verifier else { return Proofs::new() };
        let mut proofs = Proofs::new();
        let mut asked = JoinSet::new();
        for (waiting, read) in letters.iter().zip(read) {
            let Some(Ok(letter)) = read else { continue };
            if letter.automatic.is_some() {
                continue;
            }
            match self.told(letter) {
                ReportedDkim::Passed => drop(proofs.insert(waiting.digest, DkimVerdict::Passed)),
                ReportedDkim::NotPassed => drop(proofs.insert(waiting.digest, DkimVerdict::NotPassed)),
                ReportedDkim::Nothing => {
                    let verifier = Arc::clone(verifier);
                    let (digest, raw, from) = (waiting.digest, waiting.raw.clone(), letter.from.clone());
                    asked.spawn(async move { (digest, verifier.verify(&raw, &from).await) });
                }
            }
        }
        // A letter whose verification panics is not in it, and not proven.
        while let Some(answered) = asked.join_next().await {
            if let Ok((digest, verdict)) = answered {
                proofs.insert(digest, verdict);
            }
        }
        proofs
    }

    /// The matches to which letters wait that cannot be told to be their senders' now: in these nobody is late until
    /// it can.
    ///
    /// # Errors
    /// The database does not answer.
    pub(super) async fn unproven_yet(&self) -> anyhow::Result<BTreeSet<String>> {
        if self.verifier.is_none() {
            return Ok(BTreeSet::new());
        }
        let waiting = self.store.letters(Some(LetterStatus::Waiting), None, "", u32::MAX).await?;
        let digests: Vec<Digest> = waiting.into_iter().map(|letter| letter.digest).collect();
        let mut letters: Vec<Letter> = Vec::new();
        let mut take = |(_, raw): (Digest, Vec<u8>)| letters.extend(self.read(&raw).and_then(Result::ok));
        self.store.letters_named(&digests, &mut take).await?;
        let tokens: Vec<String> =
            letters.iter().flat_map(|letter| letter.tokens.iter().map(ToString::to_string)).collect();
        let rows = self.store.seats_by_token(&tokens).await?;
        let writes = |row: &TokenRow| {
            let own = |letter: &&Letter| row.player.addresses.iter().any(|own| own == letter.from.as_str());
            let bears = |letter: &Letter| letter.tokens.iter().any(|token| token.as_str() == row.token);
            letters.iter().filter(own).any(bears)
        };
        Ok(rows.into_iter().filter(writes).map(|row| row.match_id).collect())
    }

    fn told(&self, letter: &Letter) -> ReportedDkim {
        let trusted = self.config.letters.trusted_authserv_id.as_deref();
        trusted.map_or(ReportedDkim::Nothing, |authserv_id| letter.reported_dkim(authserv_id))
    }

    /// The verdict on a letter that wants to act. Where the DNS does not answer the letter is put off, and
    /// [`DkimVerdict::TryLater`] says so.
    pub(super) fn verdict(
        &self,
        waiting: &WaitingLetter,
        proofs: &Proofs,
        settlement: &mut Settlement,
    ) -> DkimVerdict {
        if self.verifier.is_none() {
            return DkimVerdict::Passed;
        }
        let now = self.now();
        match proofs.get(&waiting.digest) {
            Some(DkimVerdict::Passed) => DkimVerdict::Passed,
            Some(DkimVerdict::TryLater) if now - waiting.received_at < TRIED_FOR => {
                settlement.postponed.push(Postponed {
                    digest: waiting.digest,
                    note: "the DNS did not answer whether it is signed".to_owned(),
                    until: Some(now + AGAIN_AFTER),
                });
                DkimVerdict::TryLater
            }
            Some(DkimVerdict::TryLater | DkimVerdict::NotPassed) | None => DkimVerdict::NotPassed,
        }
    }

    /// Tells the player of a seat, once, that a letter in his name was not proven his.
    pub(super) async fn note_unproven(
        &self,
        row: &TokenRow,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let Some(address) = row.player.addresses.first() else { return Ok(()) };
        let unique = format!("u.{}.{}.{}", row.match_id.to_lowercase(), row.seat, row.player.id);
        let plain = ClubLetter::Unproven { match_id: row.match_id.clone() };
        let dispatch =
            self.plain_dispatch(&plain, (&row.player.name, address), &unique, DispatchKind::Notice)?;
        let made = self.store.dispatches_named(std::slice::from_ref(&dispatch.message_id)).await?;
        let waits = settlement.dispatches.iter().any(|other| other.message_id == dispatch.message_id);
        if made.is_empty() && !waits {
            settlement.dispatches.push(dispatch);
        }
        Ok(())
    }
}
