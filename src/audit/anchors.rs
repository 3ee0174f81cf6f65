//! What players' own mails prove about the anchors of the club's book: that all were told the same roots, and that a
//! ledger was as long by a day.

use std::collections::BTreeMap;

use chrono::NaiveDate;
use serde::Serialize;

use super::verdict::{Finding, Place};
use super::witness::{self, LedgerLine};
use crate::club::Anchored;
use crate::club::merkle::{Leaf, Path};
use crate::ledger::Anchor;
use crate::letter::Digest;

/// What one mail, or one hash that was written down, tells.
#[derive(Clone, Debug)]
pub struct AnchorWitness {
    /// The file's name, or the hash.
    pub name: String,
    pub anchors: Vec<Anchor>,
    pub ledgers: Vec<LedgerLine>,
}

impl AnchorWitness {
    /// Reads a mail from us.
    pub fn of_mail(name: &str, raw: &[u8]) -> AnchorWitness {
        let (anchors, ledgers) = (witness::anchors_in_mail(raw), witness::in_mail(raw));
        AnchorWitness { name: name.to_owned(), anchors, ledgers }
    }

    pub fn is_empty(&self) -> bool {
        self.anchors.is_empty() && self.ledgers.is_empty()
    }
}

/// An anchor that was told, and who was told it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ToldAnchor {
    #[serde(flatten)]
    pub anchor: Anchor,
    /// The number of its entry in the club's book.
    pub entry: u64,
    pub told_by: Vec<String>,
}

/// An entry that existed by a day.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DatedEntry {
    #[serde(rename = "match")]
    pub match_id: String,
    pub entry: u64,
    pub hash: Digest,
    pub day: NaiveDate,
    /// The number of the anchor's entry in the club's book.
    pub anchor: u64,
    /// Whether one of the mails tells this anchor. If not, only the club's book proves the day.
    pub is_told: bool,
}

/// The proof that a ledger had grown so far by the day of an anchor (a line of `anchors.jsonl`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AnchorProof {
    #[serde(flatten)]
    pub anchor: Anchor,
    pub leaf: Leaf,
    pub path: Path,
}

/// What the mails prove.
#[derive(Clone, Debug, Default, Serialize)]
pub struct AnchorVerdict {
    pub told: Vec<ToldAnchor>,
    pub entries: Vec<DatedEntry>,
    /// The ledger lines that no anchor covers yet.
    pub later: Vec<LedgerLine>,
    pub findings: Vec<Finding>,
}

impl AnchorVerdict {
    pub fn is_sound(&self) -> bool {
        self.findings.is_empty()
    }

    /// Compares the anchors that were told with those of the book, each with the number of its entry.
    pub fn compare(witnesses: &[AnchorWitness], book: &[(u64, Anchored)]) -> AnchorVerdict {
        let mut by_anchor: BTreeMap<Anchor, Vec<String>> = BTreeMap::new();
        for witness in witnesses {
            for anchor in &witness.anchors {
                by_anchor.entry(*anchor).or_default().push(witness.name.clone());
            }
        }
        let mut verdict = AnchorVerdict::default();
        for (anchor, told_by) in by_anchor {
            match book.iter().find(|(_, anchored)| anchored.anchor() == anchor) {
                Some((entry, _)) => verdict.told.push(ToldAnchor { anchor, entry: *entry, told_by }),
                None => {
                    let (names, day) = (told_by.join(", "), anchor.day);
                    let what = format!(
                        "the club's book holds no such anchor of {day}: {names} was told another root than the book, or \
                         the book was rewritten"
                    );
                    verdict.findings.push(Finding { place: Place::Mail(anchor.root), what });
                }
            }
        }
        verdict
    }

    /// Whether a mail tells the anchor of this entry of the book.
    pub fn is_told(&self, entry: u64) -> bool {
        self.told.iter().any(|told| told.entry == entry)
    }
}
