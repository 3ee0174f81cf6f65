//! Decides whether a letter is authentic, by the report of our mail server or by its DKIM signature.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::task::JoinSet;

use crate::daemon::Office;
use crate::desk::door::sender::ReadLetter;
use crate::letter::authentic::{ReportedDkim, SignatureFault};
use crate::letter::{Digest, Letter};
use crate::post::dkim::DkimVerdict;

/// The verdict on a letter without a valid signature, for a reason that is not known.
const UNSIGNED: DkimVerdict = DkimVerdict::NotPassed(SignatureFault::Missing);

/// Returns the verdicts on people's letters. If letters need not be signed, only the report of our own mail
/// server counts.
pub async fn dkim_verdicts(office: &Office, letters: &[ReadLetter]) -> BTreeMap<Digest, DkimVerdict> {
    let mut verdicts = BTreeMap::new();
    let (mut asked, mut queries) = (Vec::new(), JoinSet::new());
    for ReadLetter { waiting, read } in letters {
        let Some(Ok(letter)) = read else { continue };
        if letter.automatic.is_some() {
            continue;
        }
        match reported_dkim(office, letter) {
            ReportedDkim::Passed => drop(verdicts.insert(waiting.digest, DkimVerdict::Passed)),
            ReportedDkim::NotPassed => drop(verdicts.insert(waiting.digest, UNSIGNED)),
            ReportedDkim::Nothing => {
                let Some(verifier) = &office.verifier else { continue };
                let verifier = Arc::clone(verifier);
                let (digest, raw, from) = (waiting.digest, waiting.raw.clone(), letter.from.clone());
                let received_at = waiting.received_at;
                asked.push(digest);
                // Verify all letters concurrently, because each may wait for name servers.
                queries.spawn(async move { (digest, verifier.verify(&raw, &from, received_at).await) });
            }
        }
    }
    verdicts.extend(answers(asked, queries).await);
    verdicts
}

fn reported_dkim(office: &Office, letter: &Letter) -> ReportedDkim {
    let trusted = office.config.letters.trusted_authserv_id();
    trusted.map_or(ReportedDkim::Nothing, |authserv_id| letter.reported_dkim(authserv_id))
}

/// Collects the answers to queries about these letters. A letter whose verification panics is not proven:
/// otherwise bytes that make the verifier panic would count as a signature.
async fn answers(
    asked: Vec<Digest>,
    mut queries: JoinSet<(Digest, DkimVerdict)>,
) -> BTreeMap<Digest, DkimVerdict> {
    let mut verdicts: BTreeMap<Digest, DkimVerdict> =
        asked.into_iter().map(|digest| (digest, UNSIGNED)).collect();
    while let Some(answered) = queries.join_next().await {
        verdicts.extend(answered);
    }
    verdicts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_letter_whose_verification_panics_is_not_proven() {
        let [fine, poisoned] = ["fine", "poisoned"].map(|letter| Digest::of(letter.as_bytes()));
        let mut queries = JoinSet::new();
        queries.spawn(async move { (fine, DkimVerdict::Passed) });
        queries.spawn(async { panic!("a planted panic") });
        let verdicts = answers(vec![fine, poisoned], queries).await;
        assert!(matches!(verdicts[&fine], DkimVerdict::Passed));
        assert_eq!(verdicts[&poisoned], UNSIGNED);
    }
}
