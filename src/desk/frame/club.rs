//! The club as every decision sees it: its config, its templates, and the identity of its mail.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::config::Config;
use crate::config::GmIndex;
use crate::dialect::DIALECT;
use crate::house;
use crate::ledger::MailIdentity;
use crate::letter::{Address, Digest, OwnIdentity};
use crate::referee::{HousePlayer, PROCEDURE};
use crate::report::envelope::Stationery;
use crate::report::{PictureCache, Templates};
use crate::zone;

/// The club's config, templates and mail identity.
pub struct ClubContext {
    pub config: Arc<Config>,
    pub templates: Arc<Templates>,
    /// The referee's addresses, so that a reader of letters recognizes our own lines.
    pub own: OwnIdentity,
    pub stationery: Stationery,
    /// The address, the templates and the procedure that each match's ledger names.
    pub identity: MailIdentity,
    /// The boards drawn last, because matches that are opened in sequence begin with equal boards.
    pub pictures: PictureCache,
    /// Runs before each letter is read or ruled on. Set only by tests, to plant a panic or a hang.
    pub fault_injection: Option<Arc<FaultInjection>>,
    /// Finds the turns of the house.
    pub house: Arc<HousePlayer>,
}

/// A [`ClubContext::fault_injection`], which gets the bytes of the letter.
pub type FaultInjection = dyn Fn(Moment, &[u8]) + Send + Sync;

/// A step of the work on a letter, about to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    Read,
    Decide,
}

impl ClubContext {
    pub fn new(config: Arc<Config>, templates: Arc<Templates>) -> ClubContext {
        let club = &config.club;
        let own = own_identity(&config);
        let stationery = Stationery {
            club_name: club.name.clone(),
            address: club.address.clone(),
            plus_addresses: club.plus_addresses,
            board_page: config.site.board_page(),
            message_id_domain: club.message_id_domain(),
            house: config.house.defaults(),
        };
        let identity = MailIdentity {
            address: club.address.as_str().to_owned(),
            procedure: PROCEDURE,
            message_ids: club.message_id_domain(),
            // Other rules for a time zone can move a deadline, so the audit must know which ones were used.
            tzdata: zone::edition().to_owned(),
            // The audit writes each letter again, and must know whether it has the right templates.
            templates: digests_of(templates.overrides()),
        };
        let house: Arc<HousePlayer> = Arc::new(house::play);
        let pictures = PictureCache::default();
        ClubContext { config, templates, own, stationery, identity, pictures, fault_injection: None, house }
    }

    /// Runs the trap, if there is one.
    pub fn inject_fault(&self, moment: Moment, raw: &[u8]) {
        if let Some(trap) = &self.fault_injection {
            trap(moment, raw);
        }
    }

    pub fn is_gm(&self, address: &Address) -> bool {
        self.gm_at(address).is_some()
    }

    /// Returns the GM who writes from this address.
    pub fn gm_at(&self, address: &Address) -> Option<GmIndex> {
        let mut gms = self.config.club.gm.all().iter();
        gms.position(|gm| gm.has_address(address.as_str())).map(GmIndex)
    }
}

/// Returns the identity that letters are read with.
pub fn own_identity(config: &Config) -> OwnIdentity {
    let club = &config.club;
    OwnIdentity {
        address: club.address.clone(),
        message_id_domain: club.message_id_domain(),
        return_path: club.return_path.as_ref().map(|path| path.address.clone()),
        dialect: &DIALECT,
    }
}

/// Returns the SHA-256 of each of the club's own templates.
fn digests_of(overrides: &BTreeMap<String, String>) -> BTreeMap<String, Digest> {
    overrides.iter().map(|(name, source)| (name.clone(), Digest::of(source.as_bytes()))).collect()
}
