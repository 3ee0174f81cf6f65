//! Limits on answers, against two machines that write to each other forever: a budget for each seat and each address
//! (`budgets`), and never the same answer to the same text more than a few times an hour.

use std::sync::Arc;

use chrono::TimeDelta;

use super::budgets::{self, Slot, seat_subject};
use super::context::{AnswerText, RecentAnswer};
use super::decision::{Decision, Key};
use super::undecided::Decided;
use crate::game::{Line, Seat};
use crate::letter::Digest;
use crate::referee::DispatchKind;
use crate::report::sent::plain_text;
use crate::request::Request;
use crate::store::NewDispatch;

/// The same answer to the same text is sent this often in a row within an hour. One more follows an hour later.
const SAME_ANSWERS: usize = 3;

/// Whose budget an answer is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnswerBudget {
    /// The seat that the answered letter acts for.
    Seat,
    /// The GM, whose token the answered letter has.
    Gm,
    /// The address of a sender without a token.
    Address,
}

impl Decision<'_> {
    /// Delays the answer among these letters, or removes it, if its reader has had too many answers, or if it repeats
    /// earlier answers to the same text; counts it otherwise. `asked` is the digest of that text.
    pub fn limit_answers(
        &mut self,
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
        self.touch(Key::Address(answer.recipient.clone()));
        let slot = match self.slot_of_repetition(answer, asked)? {
            Some(repeated) => repeated,
            None => self.slot_of_answer(answer, budget)?,
        };
        let Some(slot) = slot else {
            let letter = answer.answers.map(tracing::field::display);
            tracing::warn!(letter, kind = %answer.kind, "answer left out");
            dispatches.remove(index);
            return Ok(());
        };
        slot.apply(&mut dispatches[index]);
        let answer = &dispatches[index];
        if self.left_out(&subject_of(answer, budget))? > 0 {
            self.forget_left_out(&subject_of(answer, budget))?;
        }
        self.count_answer(answer)
    }

    /// Takes a slot for an answer that is not a repetition, or notes that there is none.
    fn slot_of_answer(&mut self, answer: &NewDispatch, budget: AnswerBudget) -> Decided<Option<Slot>> {
        let subject = subject_of(answer, budget);
        let slot = match budget {
            AnswerBudget::Address => self.take_answer_slot(&answer.recipient)?,
            AnswerBudget::Seat | AnswerBudget::Gm => {
                let seat = seat_of(answer);
                let recent = self.recent_answers(&answer.recipient)?;
                let recent = recent.iter().filter(|recent| recent.seat == seat).count();
                self.take_seat_slot(&subject, recent)?
            }
        };
        if slot.is_none() {
            let had_answers = !self.context.budget(&subject)?.is_empty();
            self.note_left_out(&subject, had_answers);
        }
        Ok(slot)
    }

    /// Returns the slot of an answer that says what several earlier ones to the same text said, or `None` for any other
    /// answer. The repetition that is sent later stands for all those that are left out.
    fn slot_of_repetition(&self, answer: &NewDispatch, asked: Digest) -> Decided<Option<Option<Slot>>> {
        let seat = seat_of(answer);
        let own = self.recent_answers(&answer.recipient)?.iter().rev().filter(|recent| recent.seat == seat);
        // In a row, as two machines would write: a person who asks something else in between is answered.
        let same: Vec<&RecentAnswer> = own.take_while(|recent| recent.asked == Some(asked)).collect();
        let Some(last) = same.first().filter(|_| same.len() >= SAME_ANSWERS) else { return Ok(None) };
        if !self.says_the_same(&last.text, answer)? {
            return Ok(None);
        }
        Ok(Some((same.len() == SAME_ANSWERS).then(|| Slot::Later(self.at() + TimeDelta::hours(1)))))
    }

    fn recent_answers(&self, reader: &str) -> Decided<&[RecentAnswer]> {
        match self.draft.answers.get(reader) {
            Some(counted) => Ok(counted),
            None => self.context.answers_to(reader),
        }
    }

    fn count_answer(&mut self, answer: &NewDispatch) -> Decided<()> {
        let stored = self.context.answers_to(&answer.recipient)?;
        let text = AnswerText::Unsaved(Arc::new(answer.bytes.clone()));
        let recent = RecentAnswer { seat: seat_of(answer), asked: answer.asked, text };
        self.draft.add_answer(&answer.recipient, stored, recent);
        Ok(())
    }

    fn says_the_same(&self, last: &AnswerText, answer: &NewDispatch) -> Decided<bool> {
        let last = match last {
            AnswerText::Unsaved(bytes) => gist(&plain_text(bytes)),
            AnswerText::InDatabase(message_id) => match self.context.text(message_id)? {
                Some(text) => gist(text),
                None => return Ok(false),
            },
        };
        Ok(last == gist(&plain_text(&answer.bytes)))
    }
}

fn seat_of(answer: &NewDispatch) -> Option<(String, Seat)> {
    answer.match_id.clone().zip(answer.seat)
}

/// Returns the subject of the counts of an answer.
fn subject_of(answer: &NewDispatch, budget: AnswerBudget) -> String {
    match (budget, seat_of(answer)) {
        (AnswerBudget::Seat, Some((match_id, seat))) => seat_subject(&match_id, seat),
        (AnswerBudget::Gm, _) => budgets::GM.to_owned(),
        (AnswerBudget::Seat, None) | (AnswerBudget::Address, _) => answer.recipient.clone(),
    }
}

/// Returns a digest of what a person wrote.
pub fn digest_of_lines(lines: &[Line]) -> Digest {
    Digest::of(joined(lines).as_bytes())
}

/// Returns a digest of what a letter asks. In one without orders and commands, words with digits do not count: a robot
/// that numbers its letters asks the same every time.
pub fn digest_of_request(request: &Request) -> Digest {
    let text = joined(request.lines());
    let asks_something =
        !request.orders.is_empty() || !request.commands.is_empty() || !request.faults.is_empty();
    Digest::of(if asks_something { text } else { gist(&text) }.as_bytes())
}

fn joined(lines: &[Line]) -> String {
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    texts.join("\n")
}

/// Returns the words of an answer without times, ledger lines and codes, which differ between answers that say the
/// same.
fn gist(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("It is due"));
    let words =
        lines.flat_map(str::split_whitespace).filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}
