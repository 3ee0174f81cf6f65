//! Checks players' own mails against the anchors in the club's book.

use std::collections::{BTreeMap, BTreeSet};

use super::Office;
use super::parallel::run_blocking;
use crate::audit::witness::LedgerLine;
use crate::audit::{AnchorProof, AnchorVerdict, AnchorWitness, DatedEntry, Finding, Place};
use crate::club::Anchored;
use crate::ledger::{Anchor, Entry, walk};
use crate::letter::Digest;

/// What is known of the age of an entry that a mail names.
enum Dating {
    By(DatedEntry),
    /// No anchor covers it yet.
    Later,
    Wrong(&'static str),
}

impl Office {
    /// Checks what players' mails, and hashes that they wrote down, prove: that the club's book holds the anchors that
    /// they were told, and by which day the ledgers' heads existed that they name.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn verify_anchors(&self, witnesses: Vec<AnchorWitness>) -> anyhow::Result<AnchorVerdict> {
        let club = self.verify_club().await?;
        let book = self.anchors().await?;
        let mut verdict = AnchorVerdict::compare(&witnesses, &book);
        verdict.findings.splice(0..0, club.findings);
        let mut lines: Vec<LedgerLine> = witnesses.into_iter().flat_map(|witness| witness.ledgers).collect();
        lines.sort();
        lines.dedup();
        for line in lines {
            match self.date(&line, &book, &verdict).await? {
                Dating::By(dated) => verdict.entries.push(dated),
                Dating::Later => verdict.later.push(line),
                Dating::Wrong(what) => {
                    verdict.findings.push(Finding { place: Place::Mail(line.hash), what: what.to_owned() });
                }
            }
        }
        Ok(verdict)
    }

    /// Says what a hash is that somebody wrote down: the root of an anchor, or the hash of an entry.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn witness_of_hash(&self, hash: Digest) -> anyhow::Result<AnchorWitness> {
        let anchors = self.anchors().await?;
        let anchors =
            anchors.iter().map(|(_, anchored)| anchored.anchor()).filter(|anchor| anchor.root == hash);
        let found = self.store.entries_with_hash(hash).await?;
        let ledgers = found.into_iter().map(|(match_id, seq)| LedgerLine { match_id, seq: Some(seq), hash });
        Ok(AnchorWitness { name: hash.to_string(), anchors: anchors.collect(), ledgers: ledgers.collect() })
    }

    /// Finds the first anchor that covers an entry, of those that the mails tell or else of all, and proves it by its
    /// path.
    async fn date(
        &self,
        line: &LedgerLine,
        book: &[(u64, Anchored)],
        verdict: &AnchorVerdict,
    ) -> anyhow::Result<Dating> {
        let entries = self.store.entries(&line.match_id).await?;
        let Some(found) = entries.iter().find(|entry| entry.hash == line.hash) else {
            return Ok(Dating::Wrong(
                "it is on no chain of this club: the ledger was rewritten, or the mail was",
            ));
        };
        if walk(entries.iter().map(|entry| (entry.json.as_str(), entry.hash))).is_err() {
            return Ok(Dating::Wrong("the chain of its ledger is broken"));
        }
        let grown: BTreeMap<u64, u64> = self.store.anchors_of(&line.match_id).await?.into_iter().collect();
        let covers = |anchor: u64| grown.range(..=anchor).any(|(_, seq)| *seq >= found.seq);
        let mut covering = book.iter().filter(|(anchor, _)| covers(*anchor));
        let first = covering.clone().next();
        let Some((anchor, anchored)) = covering.find(|(anchor, _)| verdict.is_told(*anchor)).or(first) else {
            return Ok(Dating::Later);
        };
        if !self.leads_to_root(&line.match_id, *anchor, anchored).await? {
            return Ok(Dating::Wrong("its path does not lead to the root of the anchor"));
        }
        Ok(Dating::By(DatedEntry {
            match_id: line.match_id.clone(),
            entry: found.seq,
            hash: line.hash,
            day: anchored.day,
            anchor: *anchor,
            is_told: verdict.is_told(*anchor),
        }))
    }

    /// Proves by which days the ledger of a match had grown how far: one proof for each anchor that covers new entries of it,
    /// or that its letters tell.
    pub(super) async fn anchor_proofs(
        &self,
        match_id: &str,
        entries: &[Entry],
    ) -> anyhow::Result<Vec<AnchorProof>> {
        let told: BTreeSet<Anchor> = entries.iter().filter_map(|entry| entry.anchor).collect();
        let grown = self.store.anchors_of(match_id).await?;
        let covering: BTreeSet<u64> = grown.into_iter().map(|(anchor, _)| anchor).collect();
        let mut proofs = Vec::new();
        for (seq, anchored) in self.anchors().await? {
            let anchor = anchored.anchor();
            if !covering.contains(&seq) && !told.contains(&anchor) {
                continue;
            }
            let Some(secret) = self.store.anchor_secret(seq).await? else { continue };
            let (chains, match_id) = (self.chains_at(seq).await?, match_id.to_owned());
            let proving = run_blocking(move || chains.path(&match_id, &secret));
            if let Some((leaf, path)) = proving.await? {
                proofs.push(AnchorProof { anchor, leaf, path });
            }
        }
        Ok(proofs)
    }

    async fn leads_to_root(&self, match_id: &str, anchor: u64, anchored: &Anchored) -> anyhow::Result<bool> {
        let Some(secret) = self.store.anchor_secret(anchor).await? else { return Ok(false) };
        let (chains, match_id) = (self.chains_at(anchor).await?, match_id.to_owned());
        let proving = run_blocking(move || {
            chains.path(&match_id, &secret).and_then(|(leaf, path)| path.root(leaf.hash()))
        });
        Ok(proving.await? == Some(anchored.root))
    }
}
