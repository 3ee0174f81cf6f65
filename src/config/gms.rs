//! The club's GMs: `[club.gm]` for one, `[[club.gm]]` for several.

use std::fmt;

use chrono::Weekday;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::game::any::GameKind;
use crate::letter::Address;

/// A game master, a person.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gm {
    /// The name in ledgers and letters.
    pub name: String,
    /// The address for letters to this GM.
    #[serde(deserialize_with = "super::address")]
    pub address: Address,
    /// Other addresses from which this GM writes.
    #[serde(default)]
    pub also: Vec<Address>,
    /// Hour of the day at which the digest is sent, 0 to 23, in the time zone of new matches.
    #[serde(default = "Gm::digest_hour")]
    pub digest_hour: u32,
    /// The games that this GM looks after. A GM with neither games nor matches looks after everything.
    #[serde(default)]
    pub games: Vec<GameKind>,
    /// Further matches that this GM looks after, by ID.
    #[serde(default)]
    pub matches: Vec<String>,
    /// The days of the week on which alarms go to this GM; empty for every day.
    #[serde(default)]
    pub duty: Vec<Weekday>,
}

impl Gm {
    fn digest_hour() -> u32 {
        8
    }

    pub fn has_address(&self, address: &str) -> bool {
        self.address.as_str() == address || self.also.iter().any(|other| other.as_str() == address)
    }

    pub fn looks_after(&self, game: GameKind, match_id: &str) -> bool {
        let everything = self.games.is_empty() && self.matches.is_empty();
        everything
            || self.games.contains(&game)
            || self.matches.iter().any(|id| id.eq_ignore_ascii_case(match_id))
    }

    pub fn is_on_duty(&self, day: Weekday) -> bool {
        self.duty.is_empty() || self.duty.contains(&day)
    }

    /// Returns every address from which the GM writes.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        std::iter::once(&self.address).chain(&self.also)
    }
}

/// The index of a GM in the config.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GmIndex(pub usize);

/// All GMs of the club, at least one.
#[derive(Clone, Debug)]
pub struct Gms(Vec<Gm>);

impl Gms {
    /// Returns the first GM in the config, who acts at the terminal.
    pub fn first(&self) -> &Gm {
        &self.0[0]
    }

    pub fn all(&self) -> &[Gm] {
        &self.0
    }

    /// Returns the index of the GM with this name.
    pub fn named(&self, name: &str) -> Option<usize> {
        self.0.iter().position(|gm| gm.name.eq_ignore_ascii_case(name))
    }

    /// Whether a GM writes from this address.
    pub fn is_one_at(&self, address: &str) -> bool {
        self.0.iter().any(|gm| gm.has_address(address))
    }

    /// Returns every address from which a GM writes.
    pub fn addresses(&self) -> impl Iterator<Item = &Address> {
        self.0.iter().flat_map(Gm::addresses)
    }

    /// # Errors
    /// Returns a sentence that names the key if an hour is out of range, or if two GMs share a name or an
    /// address.
    pub(super) fn check(&self) -> Result<(), String> {
        for (place, gm) in self.0.iter().enumerate() {
            let hour = gm.digest_hour;
            if hour > 23 {
                return Err(format!("club.gm.digest_hour is {hour}; it must be from 0 to 23"));
            }
            for other in &self.0[..place] {
                if other.name.eq_ignore_ascii_case(&gm.name) {
                    return Err(format!("club.gm.name: two GMs are called `{}`; names must differ", gm.name));
                }
                if let Some(shared) = gm.addresses().find(|address| other.has_address(address.as_str())) {
                    return Err(format!(
                        "club.gm.address: {} and {} share {shared}; each GM needs addresses of their own",
                        other.name, gm.name
                    ));
                }
            }
        }
        Ok(())
    }
}

impl<'de> Deserialize<'de> for Gms {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrSeveral)
    }
}

/// Reads a table as one GM, and an array of tables as several. Written by hand, because an untagged enum
/// would not name the faulty key.
struct OneOrSeveral;

impl<'de> Visitor<'de> for OneOrSeveral {
    type Value = Gms;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a table [club.gm], or several [[club.gm]]")
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Gms, A::Error> {
        Gm::deserialize(MapAccessDeserializer::new(map)).map(|gm| Gms(vec![gm]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, seq: A) -> Result<Gms, A::Error> {
        let gms: Vec<Gm> = Vec::deserialize(SeqAccessDeserializer::new(seq))?;
        if gms.is_empty() {
            return Err(serde::de::Error::custom("a club needs at least one GM"));
        }
        Ok(Gms(gms))
    }
}
