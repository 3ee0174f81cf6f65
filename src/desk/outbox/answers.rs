//! Limits on answers, so that two machines cannot write to each other forever: `budgets` for each seat and
//! each address, and for equal answers to equal texts.

use super::budgets::{self, Slot, seat_subject};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::game::Line;
use crate::ledger::Permission;
use crate::letter::Digest;
use crate::referee::{Match, SeatLetter, without_numbers};
use crate::report::sent::plain_text;
use crate::store::{NewDispatch, TokenRow};

/// The budget to which an answer counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerBudget {
    /// The GM, whose token the answered letter has.
    Gm,
    /// The address of a sender without a token.
    Address,
}

/// Sends an answer, at once or later, and counts it. Suppresses it if its reader has had too many answers, or
/// if it repeats earlier answers to the same text, whose digest is `asked`. Returns whether it is sent.
pub fn send_answer(
    desk: &mut Desk<'_>,
    mut answer: NewDispatch,
    asked: Digest,
    budget: AnswerBudget,
) -> Decided<bool> {
    let subject = match budget {
        AnswerBudget::Gm => budgets::GM.to_owned(),
        AnswerBudget::Address => answer.recipient.clone(),
    };
    let Some(slot) = slot_of_answer(desk, &answer, &subject, asked, budget)? else {
        let letter = answer.answers.map(tracing::field::display);
        tracing::warn!(letter, kind = %answer.kind, "answer suppressed by the rate limit");
        return Ok(false);
    };
    slot.apply(&mut answer);
    budgets::forget_left_out(desk, &subject)?;
    desk.draft.changes.dispatches.push(answer);
    Ok(true)
}

/// Decides whether the answer to a letter from a seat may be sent, and when: not if the seat has had too many
/// answers, or if it has asked the same several times in a row.
pub fn permit_answer(
    desk: &Desk<'_>,
    row: &TokenRow,
    game_match: &Match,
    letter: &SeatLetter,
) -> Decided<(Permission, Slot)> {
    // The match itself counts equal letters, because its ledger must show why an answer was delayed.
    let times = game_match.past.times_asked(letter, desk.at());
    let slot = match budgets::slot_after(desk, times, budgets::EQUAL_ANSWERS) {
        Some(Slot::Now) if !row.player.addresses.is_empty() => {
            budgets::slot_with_token(desk, &seat_subject(&row.match_id, row.seat))?
        }
        slot => slot,
    };
    Ok(slot.map_or((Permission::Suppressed, Slot::Now), |slot| (Permission::Now, slot)))
}

/// Delays the answer to a letter from a seat until its slot, and counts it.
pub fn count_seat_answer(
    desk: &mut Desk<'_>,
    row: &TokenRow,
    slot: Slot,
    answer: &mut NewDispatch,
) -> Decided<()> {
    let subject = seat_subject(&row.match_id, row.seat);
    slot.apply(answer);
    budgets::count_with_token(desk, &subject, slot);
    budgets::forget_left_out(desk, &subject)
}

/// Returns a digest of a person's words.
pub fn digest_of_lines(lines: &[Line]) -> Digest {
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    Digest::of(texts.join("\n").as_bytes())
}

/// Takes a slot for an answer, or notes that there is none. An equal answer that is suppressed is not noted:
/// the delayed one stands for all of them.
fn slot_of_answer(
    desk: &mut Desk<'_>,
    answer: &NewDispatch,
    subject: &str,
    asked: Digest,
    budget: AnswerBudget,
) -> Decided<Option<Slot>> {
    let said = format!("{} {asked} {}", answer.recipient, gist(&plain_text(&answer.bytes)));
    let said = Digest::of(said.as_bytes()).to_string();
    let is_gms = desk.club.config.club.gm.is_one_at(&answer.recipient);
    let most = if is_gms { budgets::EQUAL_ANSWERS_TO_GM } else { budgets::EQUAL_ANSWERS };
    let slot = match (budgets::slot_of_equal(desk, subject, &said, most)?, budget) {
        (Some(Slot::Now), AnswerBudget::Address) => budgets::take_answer_slot(desk, subject)?,
        (Some(Slot::Now), AnswerBudget::Gm) => {
            let slot = budgets::slot_with_token(desk, subject)?;
            slot.inspect(|slot| budgets::count_with_token(desk, subject, *slot))
        }
        (Some(delayed), _) => Some(delayed),
        (None, _) => return Ok(None),
    };
    match slot {
        Some(_) => budgets::count_equal(desk, &said, most),
        None => budgets::note_left_out(desk, subject)?,
    }
    Ok(slot)
}

/// Returns the words of an answer without times, ledger lines and codes, which differ between answers that
/// say the same.
fn gist(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("It is due"));
    without_numbers(&lines.collect::<Vec<_>>().join("\n"))
}
