//! Letters in a GM's name that are not proven to be theirs: they carry the GM's token but come from another
//! address, or they lack an expected signature. As with players, no command in them is carried out, their
//! sender hears nothing, and the registered address is asked. A confirmed letter is queued again, and its
//! commands count for the turns that were open when it arrived.

use super::unproven::{self, ProofDoubt, UNPROVEN};
use crate::config::GmIndex;
use crate::desk::frame::desk::{Desk, latest_rows};
use crate::desk::frame::rows::Decided;
use crate::desk::frame::standing;
use crate::desk::gm::letter::GmLetter;
use crate::desk::outbox::gms;
use crate::letter::Letter;
use crate::report::{ClubLetter, GmUnprovenSummary};
use crate::store::{LetterStatus, UnprovenLetter, UnprovenStage, WaitingLetter};

/// Maximum instructions of an unproven letter that are repeated in its notice.
const MAX_ASKS: usize = 10;

/// The note on a letter that carries a GM's token.
const UNKNOWN_ADDRESS: &str = "the GM's reply token, but not the GM's address";

/// Whether the GM has confirmed a letter in the GM's name.
pub fn is_confirmed(desk: &Desk<'_>, waiting: &WaitingLetter, gm: GmIndex) -> Decided<bool> {
    let known = letters_of(desk, gm)?;
    let mut known = known.iter().filter(|unproven| unproven.letter == waiting.digest);
    Ok(known.any(|unproven| unproven.stage == UnprovenStage::Confirmed))
}

/// Keeps an unproven letter until the GM confirms or denies it. Asks the GM at the registered address, unless
/// a notice about the same sender address went out within a day.
pub fn ask_gm(
    desk: &mut Desk<'_>,
    waiting: &WaitingLetter,
    letter: &Letter,
    gm: GmIndex,
    doubt: ProofDoubt,
) -> Decided<()> {
    let note = match doubt {
        ProofDoubt::Address | ProofDoubt::Relayed => UNKNOWN_ADDRESS,
        ProofDoubt::Unsigned => UNPROVEN,
    };
    desk.decided(waiting.digest, LetterStatus::Ignored, note.to_owned());
    let known = letters_of(desk, gm)?;
    let address = letter.from.as_str();
    if known.iter().any(|unproven| unproven.letter == waiting.digest) {
        return Ok(());
    }
    let Some((code, tells)) = unproven::notice_about(desk, &known, address) else { return Ok(()) };
    if tells {
        let mut asks = GmLetter::read(letter, None).beginnings();
        let more = asks.len().saturating_sub(MAX_ASKS);
        asks.truncate(MAX_ASKS);
        let at = desk.local_time(waiting.received_at);
        let fault = (doubt == ProofDoubt::Unsigned).then(|| standing::signature_fault(desk, waiting));
        let summary = GmUnprovenSummary { at, address: address.to_owned(), fault, asks, more };
        let question = ClubLetter::GmUnproven { letter: summary, code: code.clone() };
        let unique = format!("u.{}", &waiting.digest.to_string()[..24]);
        let dispatch = gms::gm_dispatch(desk, gm, &question, &unique, None)?;
        desk.draft.changes.dispatches.push(dispatch);
    }
    desk.draft.changes.unproven.push(UnprovenLetter {
        letter: waiting.digest,
        code,
        player_id: None,
        match_id: None,
        seat: None,
        gm: Some(gms::gm(desk, gm).address.to_string()),
        address: address.to_owned(),
        noted_at: desk.at(),
        told: tells,
        stage: UnprovenStage::Open,
        confirmed_by: None,
    });
    Ok(())
}

/// Returns the unproven letters in a GM's name as this transaction leaves them so far.
fn letters_of(desk: &Desk<'_>, gm: GmIndex) -> Decided<Vec<UnprovenLetter>> {
    let address = gms::gm(desk, gm).address.as_str();
    let changed = desk.added(|changes| &changes.unproven).filter(|row| row.gm.as_deref() == Some(address));
    Ok(latest_rows(desk.rows.unproven_of_gm(address)?, changed, |row| &row.letter))
}
