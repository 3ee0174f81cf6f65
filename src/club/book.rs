//! A book: what was decided about something that is not a match, as a hash chain.

use chrono::{DateTime, NaiveDate, Utc};
use serde::{Deserialize, Serialize};

use crate::ledger::{self, Anchor, Chained, Delivery, Head, Source};
use crate::letter::Digest;

/// The ID of the club's own book.
pub const CLUB: &str = "CLUB";

/// The version of the rules that decide what books hold.
const RULES: u32 = 1;

/// What a book is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum BookKind {
    /// The club itself.
    Club,
}

impl BookKind {
    pub fn as_str(self) -> &'static str {
        match self {
            BookKind::Club => "club",
        }
    }

    pub fn parse(name: &str) -> Option<BookKind> {
        [BookKind::Club].into_iter().find(|kind| kind.as_str() == name)
    }
}

/// A fact: what an entry of a book records, named in the past tense.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "body")]
pub enum BookFact {
    /// The heads of all chains were hashed into one root.
    Anchored(Anchored),
    /// Letters about no running match were delivered: in an ended match, or in none.
    Delivered { letters: Vec<LateDelivery> },
    /// An audit checked the new rulings of a match and found nothing wrong. It derived again what the versions that it names
    /// had made.
    Verified(Verified),
    /// An audit checked `matches` matches, of which `unsound` were not sound.
    Audited {
        #[serde(with = "ledger::millis")]
        began: DateTime<Utc>,
        matches: u64,
        unsound: u64,
    },
    /// The addresses of the player with this number, and the bytes of letters from and to them, were deleted. In these
    /// matches, letters are withheld since; earlier versions did not name them.
    Forgotten {
        player: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        matches: Option<Vec<String>>,
    },
}

/// The anchor of a day. A later entry may add a time stamp from outside the club; the root is what it would be for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Anchored {
    /// The day in the club's zone.
    pub day: NaiveDate,
    /// The root of the [tree](super::merkle) over all chains, sorted by ID; this book is one of them.
    pub root: Digest,
    /// How many chains there are.
    pub chains: u64,
    /// The SHA-256 of the secret that blinds the leaves. The secret is kept beside the book.
    pub secret: Digest,
    /// When the program had last checked the clock, by which outages are noticed.
    #[serde(default, with = "ledger::optional_millis", skip_serializing_if = "Option::is_none")]
    pub heartbeat: Option<DateTime<Utc>>,
}

/// One of our letters that was delivered, and that no ledger of a match lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LateDelivery {
    /// The match that it is about, which had ended. `None` for a letter about no match.
    #[serde(rename = "match", default, skip_serializing_if = "Option::is_none")]
    pub match_id: Option<String>,
    #[serde(flatten)]
    pub delivery: Delivery,
}

/// What the audit verified, and with what.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verified {
    #[serde(rename = "match")]
    pub match_id: String,
    /// The end of the match's ledger at that time. What the entry before it about the match covers was checked earlier.
    pub head: Head,
    /// The version of the house, if the house's turns were found again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub house: Option<u32>,
}

impl Anchored {
    /// What letters tell of it.
    pub fn anchor(&self) -> Anchor {
        Anchor { day: self.day, root: self.root }
    }
}

impl BookFact {
    /// The fact's name, which is the `kind` of its entry.
    pub fn kind(&self) -> &'static str {
        match self {
            BookFact::Anchored(_) => "Anchored",
            BookFact::Delivered { .. } => "Delivered",
            BookFact::Verified(_) => "Verified",
            BookFact::Audited { .. } => "Audited",
            BookFact::Forgotten { .. } => "Forgotten",
        }
    }
}

/// An entry of a book.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BookEntry {
    pub book: String,
    /// The entry's number in its book, from 1, without gaps.
    pub seq: u64,
    /// UTC, to the millisecond.
    #[serde(with = "ledger::millis")]
    pub at: DateTime<Utc>,
    pub cause: Source,
    /// The version of the rules that the book followed.
    pub rules: u32,
    #[serde(flatten)]
    pub fact: BookFact,
    /// The hash of the previous entry; all zeros in the first.
    pub prev: Digest,
}

impl Chained for BookEntry {
    fn seq(&self) -> u64 {
        self.seq
    }

    fn prev(&self) -> Digest {
        self.prev
    }
}

/// An entry with its canonical JSON and the hash of that JSON.
#[derive(Clone, Debug)]
pub struct ChainedBookEntry {
    pub entry: BookEntry,
    pub json: String,
    pub hash: Digest,
}

/// A book as its entries left it. Stored as a JSON snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Book {
    pub id: String,
    pub head: Head,
    /// The last anchor, and the number of its entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub anchor: Option<(u64, Anchor)>,
}

impl Book {
    /// The club's book before its first entry.
    pub fn of_club() -> Book {
        Book { id: CLUB.to_owned(), head: Head::default(), anchor: None }
    }

    /// Appends a fact.
    pub fn record(&mut self, cause: Source, at: DateTime<Utc>, fact: BookFact) -> ChainedBookEntry {
        let entry = BookEntry {
            book: self.id.clone(),
            seq: self.head.seq + 1,
            at: ledger::truncate_to_millis(at),
            cause,
            rules: RULES,
            fact,
            prev: self.head.hash,
        };
        let json = ledger::canonical(&entry);
        let hash = Digest::of(json.as_bytes());
        self.follow(&entry, hash);
        ChainedBookEntry { entry, json, hash }
    }

    /// Moves on to the next entry.
    pub fn follow(&mut self, entry: &BookEntry, hash: Digest) {
        self.head = Head { seq: entry.seq, hash };
        match &entry.fact {
            BookFact::Anchored(anchored) => self.anchor = Some((entry.seq, anchored.anchor())),
            BookFact::Delivered { .. }
            | BookFact::Verified(_)
            | BookFact::Audited { .. }
            | BookFact::Forgotten { .. } => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::DeliveryKind;

    #[test]
    fn the_entries_of_a_book_follow_one_another_and_read_back() {
        let mut book = Book::of_club();
        let at = ledger::truncate_to_millis("2026-05-07T10:00:00.1234Z".parse().unwrap());
        let facts = [
            BookFact::Forgotten { player: 12, matches: None },
            BookFact::Anchored(Anchored {
                day: "2026-05-07".parse().unwrap(),
                root: Digest::of(b"root"),
                chains: 3,
                secret: Digest::of(b"secret"),
                heartbeat: Some(at),
            }),
            BookFact::Delivered {
                letters: vec![LateDelivery {
                    match_id: None,
                    delivery: Delivery { letter: Digest::of(b"letter"), at, how: DeliveryKind::Accepted },
                }],
            },
            BookFact::Audited { began: at, matches: 7, unsound: 0 },
            BookFact::Verified(Verified {
                match_id: "QD-7K3M".to_owned(),
                head: Head { seq: 7, hash: Digest::of(b"head") },
                house: None,
            }),
        ];
        let chained: Vec<ChainedBookEntry> =
            facts.into_iter().map(|fact| book.record(Source::Clock, at, fact)).collect();
        let mut head = Head::default();
        for ChainedBookEntry { entry, json, hash } in &chained {
            let read: BookEntry = head.follow(json, *hash).unwrap();
            assert_eq!(read, *entry);
            assert!(json.contains(&format!("\"kind\":\"{}\"", entry.fact.kind())), "{json}");
        }
        assert_eq!(head, book.head);
        assert_eq!(book.anchor.map(|(seq, anchor)| (seq, anchor.root)), Some((2, Digest::of(b"root"))));
        let changed = chained[0].json.replace("12", "13");
        assert!(Head::default().follow::<BookEntry>(&changed, chained[0].hash).is_err());
    }

    #[test]
    fn an_entry_of_a_book_is_plain_json() {
        let at = "2026-05-07T10:00:00Z".parse().unwrap();
        let entry =
            Book::of_club().record(Source::Clock, at, BookFact::Forgotten { player: 12, matches: None });
        let zeros = "0".repeat(64);
        assert_eq!(
            entry.json,
            format!(
                "{{\"at\":\"2026-05-07T10:00:00.000Z\",\"body\":{{\"player\":12}},\"book\":\"CLUB\",\
                 \"cause\":\"clock\",\"kind\":\"Forgotten\",\"prev\":\"{zeros}\",\"rules\":1,\"seq\":1}}"
            )
        );
    }
}
