//! The club's GMs: `[club.gm]` for one, `[[club.gm]]` for several.
//!
//! Detects a mailbox with two uses: a GM's address that leads to the mailbox of the club.
//!
//! The program files every letter in its mailbox, so letters to the GM would vanish unseen, and it takes
//! letters from its own address for its own mail.

use std::fmt;

use chrono::Weekday;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::Config;
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

/// Domains that are aliases of another domain, with that domain.
const ALIASES: [(&str, &str); 1] = [("googlemail.com", "gmail.com")];

/// A GM's address that leads to the mailbox of the club.
#[derive(Debug, PartialEq, Eq)]
pub enum SharedMailbox {
    /// The program reads the folder in which the letters to the GM arrive. The sentence names the remedies.
    Taken(String),
    /// The letters to one of the two addresses must be sorted into a folder of their own, as the sentence
    /// says.
    Sorted(String),
}

impl Config {
    /// Returns the first of the GMs' addresses that leads to the mailbox of the club.
    pub fn shared_mailbox(&self) -> Option<SharedMailbox> {
        let club = &self.club.address;
        let found = self.club.gm.addresses().find(|gm| mailbox_of(gm) == mailbox_of(club))?;
        let is_same = plus_of(found) == plus_of(club);
        if is_same || self.inbox.is_main_folder() {
            let what = if is_same { "is the club's own address" } else { "leads to the club's own mailbox" };
            return Some(SharedMailbox::Taken(format!(
                "club.gm: {found} {what} (club.address is {club}), so the program would take the letters to the \
                 GM out of it, and mistake the GM's for its own; either give the GM an address with another mailbox \
                 in club.gm.address, or give the club one of its own: another mailbox, or {} with a filter at the \
                 provider that moves letters to it into a folder, named in inbox.imap.folder",
                with_plus_part(found)
            )));
        }
        Some(SharedMailbox::Sorted(format!(
            "{found} and {club} are one mailbox; that works while the provider moves all letters to {club}, and no others, \
             into the folder that the program reads"
        )))
    }
}

/// Normalizes an address, so that all spellings of a mailbox are equal: without case, plus part and, at
/// Gmail, dots.
fn mailbox_of(address: &Address) -> (String, String) {
    let domain = address.domain().to_lowercase();
    let domain = ALIASES.iter().find(|(alias, _)| *alias == domain).map_or(domain.as_str(), |(_, name)| name);
    let local = address.base().local().to_lowercase();
    let local = if domain == "gmail.com" { local.replace('.', "") } else { local };
    (local, domain.to_owned())
}

fn plus_of(address: &Address) -> String {
    address.plus().unwrap_or_default().to_lowercase()
}

fn with_plus_part(gm: &Address) -> String {
    let base = gm.base();
    format!("{}+fogpost@{}", base.local(), base.domain())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(club: &str, gms: &str, inbox: &str) -> Option<SharedMailbox> {
        let text = format!(
            "[club]\nname = \"Club\"\naddress = \"{club}\"\n{gms}\n{inbox}\n[outbox.maildir]\npath = \"out\"\n"
        );
        Config::parse(&text, "config").expect("a config").shared_mailbox()
    }

    fn gm(address: &str) -> String {
        format!("[club.gm]\nname = \"GM\"\naddress = \"{address}\"")
    }

    fn imap(folder: &str) -> String {
        format!("[inbox.imap]\nhost = \"x\"\nuser = \"x\"\npassword = \"x\"\nfolder = \"{folder}\"")
    }

    const MAILDIR: &str = "[inbox.maildir]\npath = \"in\"";

    #[test]
    fn one_mailbox_is_found_under_any_spelling() {
        for (club, other) in [
            ("referee@fog.example", "referee@fog.example"),
            ("referee@fog.example", "Referee@Fog.Example"),
            ("referee@fog.example", "referee+gm@fog.example"),
            ("referee+club@fog.example", "referee@fog.example"),
            ("fog@gmail.com", "fog@googlemail.com"),
            ("the.fog@googlemail.com", "thefog+gm@gmail.com"),
        ] {
            for inbox in [MAILDIR.to_owned(), imap("INBOX"), imap("inbox")] {
                let found = shared(club, &gm(other), &inbox);
                let Some(SharedMailbox::Taken(text)) = found else { panic!("{club} {other}: {found:?}") };
                assert!(text.contains("club.gm.address") && text.contains("inbox.imap.folder"), "{text}");
            }
        }
        let also = format!("{}\nalso = [\"referee@fog.example\"]", gm("gm@fog.example"));
        assert!(shared("referee@fog.example", &also, MAILDIR).is_some());
        for other in
            ["gm@fog.example", "referee@other.example", "refereegm@fog.example", "the.fog@fog.example"]
        {
            assert_eq!(shared("referee@fog.example", &gm(other), MAILDIR), None, "{other}");
        }
    }

    #[test]
    fn a_plus_part_with_a_folder_of_its_own_is_explained() {
        for inbox in [imap("Club"), "[inbox.maildir]\npath = \"Maildir/.Club\"".to_owned()] {
            let found = shared("me+club@fog.example", &gm("me@fog.example"), &inbox);
            assert!(matches!(found, Some(SharedMailbox::Sorted(_))), "{found:?}");
            let same = shared("me@fog.example", &gm("me@fog.example"), &inbox);
            assert!(matches!(same, Some(SharedMailbox::Taken(_))), "no folder can tell them apart: {same:?}");
        }
    }
}
