//! The daily anchor: when it is due, and what it is made of.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::str::FromStr;

use chrono::{DateTime, NaiveDate, Utc};
use chrono_tz::Tz;

use super::book::{Anchored, Book, BookFact, ChainedBookEntry};
use super::merkle::{self, Leaf, Path};
use crate::ledger::{Head, Source, next_at_hour};
use crate::letter::{Digest, ParseDigestError};

/// The random secret that blinds the leaves of one anchor.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AnchorSecret(Digest);

impl AnchorSecret {
    pub fn new(random: [u8; 32]) -> AnchorSecret {
        AnchorSecret(Digest::from(random))
    }

    /// The SHA-256 of the secret, which its entry holds.
    pub fn pin(&self) -> Digest {
        Digest::of(self.0.as_bytes())
    }
}

/// As 64 hexadecimal digits.
impl Display for AnchorSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for AnchorSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AnchorSecret(…)")
    }
}

impl FromStr for AnchorSecret {
    type Err = ParseDigestError;

    fn from_str(hex: &str) -> Result<AnchorSecret, ParseDigestError> {
        hex.parse().map(AnchorSecret)
    }
}

/// The ends of all chains when an anchor was made, by ID.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chains(BTreeMap<String, Head>);

impl Chains {
    /// Sets the ends of these chains.
    pub fn extend(&mut self, heads: impl IntoIterator<Item = (String, Head)>) {
        self.0.extend(heads);
    }

    pub fn head(&self, chain: &str) -> Option<Head> {
        self.0.get(chain).copied()
    }

    pub fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// Returns those that ended elsewhere `before`.
    pub fn changed_since(&self, before: &Chains) -> Vec<(String, Head)> {
        let changed = self.0.iter().filter(|(id, head)| before.0.get(*id) != Some(head));
        changed.map(|(id, head)| (id.clone(), *head)).collect()
    }

    /// Returns the root of the tree over them.
    pub fn root(&self, secret: &AnchorSecret) -> Digest {
        merkle::root(&self.leaves(secret))
    }

    /// Returns the leaf of a chain, and its path to the root.
    pub fn path(&self, chain: &str, secret: &AnchorSecret) -> Option<(Leaf, Path)> {
        let index = self.0.keys().position(|id| id == chain)?;
        let leaf = Leaf::new(chain, self.head(chain)?, secret.0.as_bytes());
        Some((leaf, merkle::path(&self.leaves(secret), index)?))
    }

    fn leaves(&self, secret: &AnchorSecret) -> Vec<Digest> {
        self.0.iter().map(|(id, head)| Leaf::new(id, *head, secret.0.as_bytes()).hash()).collect()
    }
}

impl FromIterator<(String, Head)> for Chains {
    fn from_iter<I: IntoIterator<Item = (String, Head)>>(heads: I) -> Chains {
        Chains(heads.into_iter().collect())
    }
}

impl Book {
    /// Anchors the chains, to which the book itself is added as it is now.
    pub fn anchor(
        &mut self,
        chains: &mut Chains,
        secret: &AnchorSecret,
        (day, at): (NaiveDate, DateTime<Utc>),
        heartbeat: Option<DateTime<Utc>>,
    ) -> ChainedBookEntry {
        chains.extend([(self.id.clone(), self.head)]);
        let root = chains.root(secret);
        let anchored = Anchored { day, root, chains: chains.count(), secret: secret.pin(), heartbeat };
        self.record(Source::Clock, at, BookFact::Anchored(anchored))
    }
}

/// Returns when the next anchor is due after one of `day`, or after the first start of the club: at this hour of another
/// day. After an outage of days there is one anchor, and not one for each of them.
pub fn next_anchor(hour: u32, zone: Tz, day: Option<NaiveDate>, now: DateTime<Utc>) -> Option<DateTime<Utc>> {
    let next = next_at_hour(hour, zone, now)?;
    let is_of_day = day == Some(next.with_timezone(&zone).date_naive());
    if is_of_day { next_at_hour(hour, zone, next) } else { Some(next) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn utc(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test]
    fn an_anchor_is_due_once_a_day() {
        let zone = Tz::Europe__Berlin;
        let next = |day: Option<&str>, now: &str| {
            next_anchor(3, zone, day.map(|day| day.parse().unwrap()), utc(now)).unwrap()
        };
        assert_eq!(next(None, "2026-05-07T10:00:00Z"), utc("2026-05-08T01:00:00Z"));
        assert_eq!(next(Some("2026-05-08"), "2026-05-08T01:00:05Z"), utc("2026-05-09T01:00:00Z"));
        // After an outage, that of the day is made before its hour, and not again.
        assert_eq!(next(Some("2026-05-12"), "2026-05-11T22:30:00Z"), utc("2026-05-13T01:00:00Z"));
    }

    #[test]
    fn the_path_of_each_chain_leads_to_the_root_that_the_book_holds() {
        let head = |seq| Head { seq, hash: Digest::of(&[seq as u8]) };
        let mut chains: Chains = (1..6).map(|seq| (format!("QD-{seq}"), head(seq))).collect();
        let secret = AnchorSecret::new([7; 32]);
        let mut book = Book::of_club();
        let entry = book.anchor(
            &mut chains,
            &secret,
            ("2026-05-08".parse().unwrap(), utc("2026-05-08T01:00:00Z")),
            None,
        );
        let BookFact::Anchored(anchored) = &entry.entry.fact else { panic!("an anchor") };
        assert_eq!((anchored.chains, anchored.secret), (6, secret.pin()));
        for id in ["CLUB", "QD-1", "QD-5"] {
            let (leaf, path) = chains.path(id, &secret).unwrap();
            assert_eq!(path.root(leaf.hash()), Some(anchored.root), "{id}");
        }
        assert_eq!(chains.path("QD-9", &secret), None);
        let another = AnchorSecret::new([8; 32]);
        assert_ne!(chains.root(&another), anchored.root, "equal ledgers have another root each day");
    }
}
