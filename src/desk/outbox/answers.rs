//! Limits on answers, against two machines that write to each other forever: a budget for each seat and each
//! address (`budgets`), and never the same answer to the same text more than a few times an hour.

use chrono::TimeDelta;

use super::budgets::{self, Slot, seat_subject};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::game::{Line, Seat};
use crate::ledger::Permission;
use crate::letter::Digest;
use crate::referee::{DispatchKind, Match, SeatLetter, without_numbers};
use crate::report::sent::plain_text;
use crate::store::{NewDispatch, TokenRow};

/// The same answer to the same text is sent this often in a row within an hour. One more follows an hour
/// later.
const SAME_ANSWERS: usize = 3;

/// The budget that an answer is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerBudget {
    /// The GM, whose token the answered letter has.
    Gm,
    /// The address of a sender without a token.
    Address,
}

/// The place of the text of an earlier answer.
enum Said<'a> {
    /// In the database, under this Message-ID.
    Stored(&'a str),
    /// Decided in this transaction; its bytes.
    Now(&'a [u8]),
}

/// Delays the answer among these letters, or removes it, if its reader has had too many answers, or if it
/// repeats earlier answers to the same text; counts it otherwise. `asked` is the digest of that text.
pub fn limit_answers(
    desk: &mut Desk<'_>,
    dispatches: &mut Vec<NewDispatch>,
    asked: Digest,
    budget: AnswerBudget,
) -> Decided<()> {
    // A report has no limit, even if it answers a letter as well.
    let is_answer = |new: &NewDispatch| new.answers.is_some() && new.kind != DispatchKind::Report;
    let Some(index) = dispatches.iter().position(is_answer) else {
        return Ok(());
    };
    dispatches[index].asked = Some(asked);
    let answer = &dispatches[index];
    let slot = match slot_of_repetition(desk, answer, asked)? {
        Some(repeated) => repeated,
        None => slot_of_answer(desk, answer, budget)?,
    };
    let Some(slot) = slot else {
        let letter = answer.answers.map(tracing::field::display);
        tracing::warn!(letter, kind = %answer.kind, "answer left out");
        dispatches.remove(index);
        return Ok(());
    };
    slot.apply(&mut dispatches[index]);
    let answer = &dispatches[index];
    if budgets::left_out(desk, &subject_of(answer, budget))? > 0 {
        budgets::forget_left_out(desk, &subject_of(answer, budget))?;
    }
    Ok(())
}

/// Decides whether the answer to a letter from a seat may be sent, and when: not if the seat has had too many
/// answers, or if it has asked the same several times in a row.
pub fn permit_answer(
    desk: &Desk<'_>,
    row: &TokenRow,
    game_match: &Match,
    letter: &SeatLetter,
) -> Decided<(Permission, Slot)> {
    let times = game_match.past.times_asked(letter, desk.at()) as usize;
    let slot = match row.player.addresses.first() {
        _ if times == SAME_ANSWERS => Some(Slot::Later(desk.at() + TimeDelta::hours(1))),
        _ if times > SAME_ANSWERS => None,
        Some(_) => budgets::slot_with_token(desk, &seat_subject(&row.match_id, row.seat))?,
        None => Some(Slot::Now),
    };
    Ok(slot.map_or((Permission::Held, Slot::Now), |slot| (Permission::Now, slot)))
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
    if budgets::left_out(desk, &subject)? > 0 {
        budgets::forget_left_out(desk, &subject)?;
    }
    Ok(())
}

/// Returns a digest of what a person wrote.
pub fn digest_of_lines(lines: &[Line]) -> Digest {
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    Digest::of(texts.join("\n").as_bytes())
}

/// Takes a slot for an answer that is not a repetition, or notes that there is none.
fn slot_of_answer(desk: &mut Desk<'_>, answer: &NewDispatch, budget: AnswerBudget) -> Decided<Option<Slot>> {
    let subject = subject_of(answer, budget);
    let slot = match budget {
        AnswerBudget::Address => budgets::take_answer_slot(desk, &answer.recipient)?,
        AnswerBudget::Gm => {
            let slot = budgets::slot_with_token(desk, &subject)?;
            slot.inspect(|slot| budgets::count_with_token(desk, &subject, *slot))
        }
    };
    if slot.is_none() {
        budgets::note_left_out(desk, &subject)?;
    }
    Ok(slot)
}

/// Returns the slot of an answer that says what several earlier ones to the same text said, or `None` for any
/// other answer. The repetition that is sent later stands for all those that are left out.
fn slot_of_repetition(desk: &Desk<'_>, answer: &NewDispatch, asked: Digest) -> Decided<Option<Option<Slot>>> {
    let seat = seat_of(answer);
    let stored = desk.rows.answers_to(&answer.recipient)?.iter().filter(|row| row.seat == seat);
    let stored = stored.rev().map(|row| (row.asked, Said::Stored(&row.message_id)));
    let new = desk
        .added(|changes| &changes.dispatches)
        .rev()
        .filter(|new| new.answers.is_some() && new.recipient == answer.recipient && seat_of(new) == seat);
    let recent = new.map(|new| (new.asked, Said::Now(&new.bytes))).chain(stored);
    // In a row, as two machines would write: a person who asks something else in between is answered.
    // One more than the limit tells the repetition that is delayed from those that are left out.
    let same: Vec<_> = recent.take_while(|(of, _)| *of == Some(asked)).take(SAME_ANSWERS + 1).collect();
    let Some((_, last)) = same.first().filter(|_| same.len() >= SAME_ANSWERS) else { return Ok(None) };
    let last = match last {
        Said::Now(bytes) => gist(&plain_text(bytes)),
        Said::Stored(message_id) => match desk.rows.text(message_id)? {
            Some(text) => gist(text),
            None => return Ok(None),
        },
    };
    if last != gist(&plain_text(&answer.bytes)) {
        return Ok(None);
    }
    Ok(Some((same.len() == SAME_ANSWERS).then(|| Slot::Later(desk.at() + TimeDelta::hours(1)))))
}

fn seat_of(answer: &NewDispatch) -> Option<(String, Seat)> {
    answer.match_id.clone().zip(answer.seat)
}

/// Returns the subject of the counts of an answer.
fn subject_of(answer: &NewDispatch, budget: AnswerBudget) -> String {
    match budget {
        AnswerBudget::Gm => budgets::GM.to_owned(),
        AnswerBudget::Address => answer.recipient.clone(),
    }
}

/// Returns the words of an answer without times, ledger lines and codes, which differ between answers that
/// say the same.
fn gist(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("It is due"));
    without_numbers(&lines.collect::<Vec<_>>().join("\n"))
}
