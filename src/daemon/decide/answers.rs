//! Limits on answers, so that two machines never write to each other forever: a number of answers an hour to each
//! address, and never the same answer twice in a row to the same text.

use super::context::{AnswerText, LastAnswer, RecentAnswers};
use super::decision::{Decision, Key};
use super::undecided::Decided;
use crate::game::Line;
use crate::letter::Digest;
use crate::report::sent::plain_text;
use crate::store::NewDispatch;

impl Decision<'_> {
    /// Removes the answer from these letters if its reader has had too many answers, or if it repeats the last answer
    /// to the same text; otherwise counts it. `asked` is the digest of that text.
    pub fn limit_answers(&mut self, dispatches: &mut Vec<NewDispatch>, asked: Digest) -> Decided<()> {
        let Some(index) = dispatches.iter().position(|dispatch| dispatch.answers.is_some()) else {
            return Ok(());
        };
        dispatches[index].asked = Some(asked);
        let answer = &dispatches[index];
        self.touch(Key::Address(answer.recipient.clone()));
        let recent = self.recent_answers(&answer.recipient)?;
        let too_many = recent.count >= self.settings.config.letters.answers_per_hour as usize;
        let repeated = match recent.last.as_ref().filter(|last| last.asked == Some(asked)) {
            Some(last) => self.says_the_same(&last.answer, answer)?,
            None => false,
        };
        if too_many || repeated {
            let letter = answer.answers.map(tracing::field::display);
            tracing::warn!(letter, kind = %answer.kind, too_many, repeated, "answer suppressed");
            dispatches.remove(index);
        } else {
            self.count_answer(&dispatches[index])?;
        }
        Ok(())
    }

    /// Whether an answer is the first to its reader in the last hour. If so, counts it.
    pub fn is_first_answer(&mut self, answer: &NewDispatch) -> Decided<bool> {
        self.touch(Key::Address(answer.recipient.clone()));
        let is_first = self.recent_answers(&answer.recipient)?.count == 0;
        if is_first {
            self.count_answer(answer)?;
        }
        Ok(is_first)
    }

    fn recent_answers(&self, reader: &str) -> Decided<&RecentAnswers> {
        match self.draft.answers.get(reader) {
            Some(counted) => Ok(counted),
            None => self.context.answers_to(reader),
        }
    }

    fn count_answer(&mut self, answer: &NewDispatch) -> Decided<()> {
        let mut recent = self.recent_answers(&answer.recipient)?.clone();
        recent.count += 1;
        let text = AnswerText::Unsaved(answer.bytes.clone());
        recent.last = Some(LastAnswer { asked: answer.asked, answer: text });
        self.draft.answers.insert(answer.recipient.clone(), recent);
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

/// Returns a digest of what a person wrote.
pub fn digest_of_lines(lines: &[Line]) -> Digest {
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    Digest::of(texts.join("\n").as_bytes())
}

/// Returns the words of an answer without times, ledger lines and codes, which differ between answers that say the
/// same.
fn gist(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("It is due"));
    let words =
        lines.flat_map(str::split_whitespace).filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}
