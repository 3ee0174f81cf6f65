//! Signatures (DKIM): whether a letter is proven to be its sender's, and the habit of signing.
//!
//! An address whose last letters were all signed is expected to keep signing. A forger's unsigned letters do
//! not end the habit: only the player's confirmation of an unsigned letter does.

use chrono::TimeDelta;

use super::sender::Sender;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::standing;
use crate::desk::outbox::gms;
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::ledger::Signature;
use crate::post::dkim::DkimVerdict;
use crate::referee::DispatchKind;
use crate::report::ClubLetter;
use crate::store::{Postponed, WaitingLetter};

/// Time for which DNS failures are retried before a letter counts as unproven.
const MAX_WAIT: TimeDelta = TimeDelta::days(3);

/// Time after which the sender of a letter that waits for the DNS is told.
const TELL_AFTER: TimeDelta = TimeDelta::hours(1);

/// Delay before the next DNS query after one that failed.
const RETRY: TimeDelta = TimeDelta::minutes(15);

/// Whether a letter must wait until the DNS lets us check its signature.
pub fn waits_for_signature(desk: &Desk<'_>, waiting: &WaitingLetter) -> bool {
    matches!(desk.rows.loaded.dkim.get(&waiting.digest), Some(DkimVerdict::TryLater))
        && desk.at() - waiting.received_at < MAX_WAIT
}

/// Lets a letter wait for the DNS, and tells its player or GM of it after an hour, once for each match and
/// day on which such letters came. Nobody is late in the match of a letter that waits.
pub fn postpone(desk: &mut Desk<'_>, waiting: &WaitingLetter, sender: &Sender) -> Decided<()> {
    if desk.at() - waiting.received_at >= TELL_AFTER {
        tell_of_wait(desk, waiting, sender)?;
    }
    let match_id = match sender {
        Sender::Seat(row) => Some(row.match_id.clone()),
        Sender::Gm { .. } | Sender::Stranger | Sender::Unknown(_) | Sender::GmImpostor(_) => None,
    };
    desk.draft.changes.postponed.push(Postponed {
        digest: waiting.digest,
        note: "the DNS did not answer whether it is signed".to_owned(),
        until: Some(desk.at() + RETRY),
        match_id,
    });
    Ok(())
}

fn tell_of_wait(desk: &mut Desk<'_>, waiting: &WaitingLetter, sender: &Sender) -> Decided<()> {
    let until = waiting.received_at + MAX_WAIT;
    let day = waiting.received_at.format("%Y%m%d");
    let dispatch = match sender {
        Sender::Seat(row) => {
            let player = desk.latest(row.player.clone());
            let Some(address) = standing::trusted_addresses(desk, &player)?.into_iter().next() else {
                return Ok(());
            };
            let zone = player.settings.zone;
            let plain = ClubLetter::SignatureWaits {
                match_id: Some(row.match_id.clone()),
                at: desk.local_time_in(zone, waiting.received_at),
                until: desk.local_time_in(zone, until),
            };
            let unique = format!("dns.{}.{}.{day}", row.match_id.to_lowercase(), row.seat);
            let (name, kind) = (player.name.as_str(), DispatchKind::Notice);
            let envelope = PlainEnvelope { name, address: &address, unique: &unique, kind };
            mail::plain_dispatch(desk, &plain, &envelope)?
        }
        Sender::Gm { gm, has_token: true } => {
            let (at, until) = (desk.local_time(waiting.received_at), desk.local_time(until));
            let plain = ClubLetter::SignatureWaits { match_id: None, at, until };
            gms::gm_dispatch(desk, *gm, &plain, &format!("dns.{day}"), None)?
        }
        // Anybody can write in the name of these.
        Sender::Gm { has_token: false, .. }
        | Sender::Stranger
        | Sender::Unknown(_)
        | Sender::GmImpostor(_) => return Ok(()),
    };
    if !desk.is_dispatched(&dispatch.message_id)? {
        desk.draft.changes.dispatches.push(dispatch);
    }
    Ok(())
}

/// Whether a letter is proven to be its sender's, or need not be. A letter that the provider classified as
/// spam must be proven.
pub fn is_proven(desk: &Desk<'_>, waiting: &WaitingLetter, from: &str) -> Decided<bool> {
    if waiting.is_spam {
        return Ok(standing::signature(desk, waiting) == Some(Signature::Passed));
    }
    let is_unsigned = standing::signature(desk, waiting) == Some(Signature::Missing);
    let must_be_signed =
        desk.club.config.letters.require_dkim || standing::standing(desk, from)?.signed >= standing::HABIT;
    Ok(!(is_unsigned && must_be_signed))
}

/// Counts a signed letter from an address of a player or the GM.
pub fn note_signature(desk: &mut Desk<'_>, waiting: &WaitingLetter, from: &str) -> Decided<()> {
    let standing = standing::standing(desk, from)?;
    let signed = match standing::signature(desk, waiting) {
        // Count no further, so that letters from a regular writer do not rewrite the row.
        Some(Signature::Passed) => (standing.signed + 1).min(standing::HABIT),
        Some(Signature::Missing) if standing.signed < standing::HABIT => 0,
        Some(Signature::Missing) | None => standing.signed,
    };
    standing::set_signed(desk, from, standing, signed);
    Ok(())
}
