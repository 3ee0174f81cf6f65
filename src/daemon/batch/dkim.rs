//! Decides whether a letter is authentic, by the report of our mail server or by its DKIM signature.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::task::JoinSet;

use super::read;
use crate::daemon::Office;
use crate::daemon::decide::one_letter::ReadLetter;
use crate::letter::authentic::ReportedDkim;
use crate::letter::{Digest, Letter};
use crate::post::dkim::DkimVerdict;
use crate::store::{LetterStatus, TokenRow};

impl Office {
    /// Returns the verdicts on people's letters, or `None` if letters need not be signed.
    pub async fn dkim_verdicts(&self, letters: &[ReadLetter]) -> Option<BTreeMap<Digest, DkimVerdict>> {
        let verifier = self.verifier.as_ref()?;
        let mut verdicts = BTreeMap::new();
        let mut queries = JoinSet::new();
        for ReadLetter { waiting, read } in letters {
            let Some(Ok(letter)) = read else { continue };
            if letter.automatic.is_some() {
                continue;
            }
            match self.reported_dkim(letter) {
                ReportedDkim::Passed => drop(verdicts.insert(waiting.digest, DkimVerdict::Passed)),
                ReportedDkim::NotPassed => drop(verdicts.insert(waiting.digest, DkimVerdict::NotPassed)),
                ReportedDkim::Nothing => {
                    let verifier = Arc::clone(verifier);
                    let (digest, raw, from) = (waiting.digest, waiting.raw.clone(), letter.from.clone());
                    queries.spawn(async move { (digest, verifier.verify(&raw, &from).await) });
                }
            }
        }
        // A letter whose verification panics gets no verdict, and so is not proven.
        while let Some(answered) = queries.join_next().await {
            verdicts.extend(answered);
        }
        Some(verdicts)
    }

    /// Returns the matches with waiting letters that cannot be verified yet. Nobody is late in them until that is
    /// possible.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn matches_with_unproven_letters(&self) -> anyhow::Result<BTreeSet<String>> {
        if self.verifier.is_none() {
            return Ok(BTreeSet::new());
        }
        let waiting = self.store.letters(Some(LetterStatus::Waiting), None, "", u32::MAX).await?;
        let digests: Vec<Digest> = waiting.into_iter().map(|letter| letter.digest).collect();
        let mut letters: Vec<Letter> = Vec::new();
        let mut take = |(_, raw): (Digest, Vec<u8>)| {
            letters.extend(read::read(&self.settings, &raw).and_then(Result::ok));
        };
        self.store.letters_named(&digests, &mut take).await?;
        let tokens = letters.iter().flat_map(|letter| letter.tokens.iter().map(ToString::to_string));
        let mut matches = BTreeSet::new();
        for row in self.store.seats_by_token(&tokens.collect::<Vec<_>>()).await? {
            if letters.iter().any(|letter| is_from_seat(letter, &row)) {
                matches.insert(row.match_id);
            }
        }
        Ok(matches)
    }

    fn reported_dkim(&self, letter: &Letter) -> ReportedDkim {
        let trusted = self.config.letters.trusted_authserv_id();
        trusted.map_or(ReportedDkim::Nothing, |authserv_id| letter.reported_dkim(authserv_id))
    }
}

fn is_from_seat(letter: &Letter, row: &TokenRow) -> bool {
    row.player.addresses.iter().any(|own| own == letter.from.as_str())
        && letter.tokens.iter().any(|token| token.as_str() == row.token)
}
