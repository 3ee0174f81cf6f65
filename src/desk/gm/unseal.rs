//! Shows a GM at the terminal what the rules hide, after the ledger of each match concerned records that.

use crate::config::GmIndex;
use crate::config::Gms;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedMatch, or_lacking};
use crate::desk::matches::acts;
use crate::desk::outbox::gms::{self, is_seated};
use crate::referee::{Act, Stage};

/// Maximum characters of a reason, which both players read.
const MAX_REASON: usize = 200;

/// A GM's request to see what the rules hide, with the reason.
#[derive(Clone, Debug)]
pub struct Unseal {
    gm: GmIndex,
    reason: String,
}

impl Unseal {
    /// Creates the request of the GM with this name.
    ///
    /// # Errors
    /// Returns a sentence if no GM has this name, or if the reason is empty or too long.
    pub fn new(gms: &Gms, name: &str, reason: &str) -> Result<Unseal, String> {
        let place = gms.named(name).ok_or_else(|| format!("no GM is called {name}"))?;
        let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
        match reason.chars().count() {
            0 => Err("the reason is empty; both players read it with the result".to_owned()),
            1..=MAX_REASON => Ok(Unseal { gm: GmIndex(place), reason }),
            _ => Err(format!("the reason has more than {MAX_REASON} characters")),
        }
    }
}

/// Notes in the ledgers of those matches that are running that a GM is shown `what`. If the GM plays in one
/// of them, notes nothing and returns the reason.
pub fn unseal(
    desk: &mut Desk<'_>,
    asked: &Unseal,
    what: &str,
    ids: &[String],
) -> Decided<Result<(), String>> {
    desk.acting = asked.gm;
    // Load all matches before ruling on any: if the GM plays in any of them, nothing may be noted.
    let mut running: Vec<LoadedMatch> = Vec::new();
    for id in ids {
        let loaded = or_lacking(desk.game_match(id))?.flatten();
        running.extend(loaded.filter(|loaded| loaded.game_match.stage != Stage::Over).cloned());
    }
    desk.rows.check()?;
    let gm = gms::acting_gm(desk);
    if let Some(own) = running.iter().find(|loaded| is_seated(gm, &loaded.seats)) {
        return Ok(Err(format!("{} plays in {}, so another GM has to do this", gm.name, own.game_match.id)));
    }
    let act = Act::Unseal { what: what.to_owned(), reason: asked.reason.clone() };
    for loaded in running {
        acts::act_as_gm(desk, loaded, &act, None)?;
    }
    Ok(Ok(()))
}
