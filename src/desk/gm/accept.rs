//! Letters that a GM accepts after all: they were taken for automatic mail, exceeded a limit, or were set
//! aside.

use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::outbox::{fog, gms};
use crate::letter::UnreadableReason;
use crate::report::GmResult;
use crate::store::{LetterDecision, LetterRow, LetterStatus};

/// Queues a letter again, to be ruled on as a person's. This overrules its classification, but not the checks
/// of its sender.
pub fn accept_letter(desk: &mut Desk<'_>, prefix: &str, check: bool) -> Decided<GmResult> {
    let letter = match desk.rows.letters_with(prefix)? {
        [one] => one.clone(),
        [] => return Ok(GmResult::refused(format!("There is no letter {prefix}."))),
        _ => {
            let says = format!("Several letters begin with {prefix}; please give more digits.");
            return Ok(GmResult::refused(says));
        }
    };
    if let Some(reason) = reason_against(&letter.row) {
        return Ok(GmResult::refused(reason));
    }
    // A GM who plays must not choose which letters in their own match count.
    if fog::of_gm(desk, desk.acting)?.is_of_own_match(&letter) {
        let says = "It comes from a match in which you play, so another GM has to do this.";
        return Ok(GmResult::refused(says));
    }
    if check {
        let digest = &letter.row.digest.to_string()[..12];
        let says = format!("I would rule on the letter {digest} from {}.", letter.row.sender);
        return Ok(GmResult::would(says));
    }
    let gm = gms::acting_gm(desk).name.clone();
    let digest = letter.row.digest;
    desk.draft.changes.decided.push(LetterDecision {
        digest,
        status: LetterStatus::Waiting,
        note: format!("accepted by {gm}"),
        seat: None,
        accepted_by: Some(gm),
    });
    Ok(GmResult::Accepted { letter: digest.to_string()[..12].to_owned(), sender: letter.row.sender })
}

/// Returns why a letter cannot be accepted, as a sentence.
fn reason_against(row: &LetterRow) -> Option<&'static str> {
    if row.bytes_deleted_at.is_some() {
        return Some("Its bytes were deleted, because it caused no ledger entry.");
    }
    // The row keeps the reason only as its note.
    let exceeds_limit =
        UnreadableReason::ALL.iter().any(|reason| reason.is_limit() && row.note == reason.to_string());
    match row.status {
        LetterStatus::Automatic | LetterStatus::SetAside => None,
        LetterStatus::Answered | LetterStatus::Ignored if exceeds_limit => None,
        LetterStatus::Ignored => Some("It was ignored because of who wrote it, and that stands."),
        LetterStatus::Waiting => Some("It waits to be ruled on already."),
        LetterStatus::Ruled | LetterStatus::Answered => Some("It has been answered already."),
        LetterStatus::Repeated => Some("It is a copy of an earlier letter."),
    }
}
