//! A wording: everything, apart from the match, that the words of a letter depend on. It is kept under its digest, so that
//! the audit can word letters again after the club has changed its templates or its name.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::envelope::Stationery;
use super::{TemplateError, Templates, program_digest};
use crate::letter::{Address, Digest};
use crate::referee::HouseDefaults;

/// The version of this program, whose code words letters along with the templates.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A wording as it is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Wording {
    /// The version of the program.
    pub version: String,
    /// The digest of the program's own templates, its version and that of its time zones ([`program_digest`]).
    pub program: Digest,
    pub club_name: String,
    pub plus_addresses: bool,
    pub message_id_domain: String,
    /// `None` if an earlier version made it, whose letters do not depend on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub house: Option<HouseDefaults>,
    /// The digest of all templates.
    pub templates: Digest,
    /// The club's own templates, by name.
    pub overrides: BTreeMap<String, String>,
}

impl Wording {
    /// The wording of this program with these settings and templates.
    pub fn new(stationery: &Stationery, templates: &Templates) -> Wording {
        let Stationery { club_name, address: _, plus_addresses, message_id_domain, house } = stationery;
        Wording {
            version: VERSION.to_owned(),
            program: program_digest(),
            club_name: club_name.clone(),
            plus_addresses: *plus_addresses,
            message_id_domain: message_id_domain.clone(),
            house: Some(*house),
            templates: templates.digest(),
            overrides: templates.overrides().clone(),
        }
    }

    /// The digest of everything, apart from the match, that the wording of a letter depends on. The referee's address is left
    /// out, because the ledger records it in the clear.
    pub fn digest(&self) -> Digest {
        let Wording {
            version,
            club_name,
            plus_addresses,
            message_id_domain,
            house,
            templates,
            program,
            overrides: _,
        } = self;
        let mut club = format!("{club_name}\n{plus_addresses}\n{message_id_domain}");
        if let Some(HouseDefaults { level, advance }) = house {
            club.push_str(&format!("\nhouse {level} {advance}"));
        }
        Digest::of(format!("{version}\n{program}\n{club}\n{templates}\n").as_bytes())
    }

    /// Whether this version of the program made it, with the same templates of its own and the same time zones. The code of another may have worded
    /// letters otherwise.
    pub fn is_of_this_version(&self) -> bool {
        self.version == VERSION && self.program == program_digest()
    }

    /// Returns what letters of this wording are worded with, by this version of the program. `None` if the templates are not
    /// those that it names. The referee wrote from `address`.
    ///
    /// # Errors
    /// [`TemplateError`] if one of the templates is faulty.
    pub fn restore(&self, address: &Address) -> Result<Option<(Stationery, Templates)>, TemplateError> {
        let templates = Templates::new(&self.overrides)?;
        let stationery = Stationery {
            club_name: self.club_name.clone(),
            address: address.clone(),
            plus_addresses: self.plus_addresses,
            message_id_domain: self.message_id_domain.clone(),
            house: self.house.unwrap_or(HouseDefaults::UNSET),
        };
        Ok((templates.digest() == self.templates).then_some((stationery, templates)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kept_wording_is_restored_and_a_changed_one_has_another_digest() {
        let overrides =
            BTreeMap::from([("reminder.txt".to_owned(), "Subject: Hurry\nPlease hurry.\n".to_owned())]);
        let templates = Templates::new(&overrides).unwrap();
        let address = Address::parse("referee@club.example").unwrap();
        let stationery = Stationery {
            club_name: "The Fog Club".to_owned(),
            address: address.clone(),
            plus_addresses: true,
            message_id_domain: "club.example".to_owned(),
            house: HouseDefaults::UNSET,
        };
        let kept = Wording::new(&stationery, &templates);
        assert!(kept.is_of_this_version());
        let (_, restored) = kept.restore(&address).unwrap().expect("it is the same");
        assert_eq!(restored.overrides(), &overrides);
        assert_eq!(Wording::new(&stationery, &restored).digest(), kept.digest());
        let renamed = Wording { club_name: "The Frog Club".to_owned(), ..kept.clone() };
        assert_ne!(renamed.digest(), kept.digest());
        let of_other_house = Wording { house: None, ..kept.clone() };
        assert_ne!(of_other_house.digest(), kept.digest());
        let without = Wording { overrides: BTreeMap::new(), ..kept };
        assert!(without.restore(&address).unwrap().is_none());
    }
}
