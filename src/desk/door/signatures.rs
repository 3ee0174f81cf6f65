//! Signatures (DKIM): whether a letter is proven to be its sender's, and the habit of signing.
//!
//! An address whose last letters were all signed is expected to keep signing. A forger's unsigned letters do
//! not end the habit: only the player's confirmation of an unsigned letter does.

use chrono::TimeDelta;

use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::standing;
use crate::ledger::Signature;
use crate::post::dkim::DkimVerdict;
use crate::store::WaitingLetter;

/// Time for which DNS failures are retried before a letter counts as unproven.
const MAX_WAIT: TimeDelta = TimeDelta::days(3);

/// Whether a letter must wait until the DNS lets us check its signature.
pub fn waits_for_signature(desk: &Desk<'_>, waiting: &WaitingLetter) -> bool {
    matches!(desk.rows.loaded.dkim.get(&waiting.digest), Some(DkimVerdict::TryLater))
        && desk.at() - waiting.received_at < MAX_WAIT
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
