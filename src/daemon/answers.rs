//! Answers are limited, so that no two machines write to each other for ever: so many an hour for each address, and never
//! the same answer twice running to the same text.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use anyhow::Context;
use chrono::TimeDelta;

use super::Office;
use crate::game::Line;
use crate::letter::Digest;
use crate::report::sent::plain_text;
use crate::store::{AnswerRow, NewDispatch};

/// The answers of the last hour, those of this transaction among them, by their reader.
#[derive(Default)]
pub(super) struct Answers {
    by_reader: Mutex<BTreeMap<String, Lately>>,
    /// Had while an answer is weighed, and counted: others are made at the same time.
    weighing: tokio::sync::Mutex<()>,
}

#[derive(Clone, Default)]
struct Lately {
    count: usize,
    last: Option<Last>,
}

/// The last answer, and what was asked.
#[derive(Clone)]
struct Last {
    asked: Option<Digest>,
    said: Said,
}

#[derive(Clone)]
enum Said {
    /// It is kept under this Message-ID.
    Kept(String),
    /// It waits for the same commit.
    Now(Vec<u8>),
}

impl Answers {
    fn by_reader(&self) -> MutexGuard<'_, BTreeMap<String, Lately>> {
        self.by_reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, readers: &[String], rows: Vec<AnswerRow>) {
        let mut by_reader = self.by_reader();
        for reader in readers {
            by_reader.insert(reader.clone(), Lately::default());
        }
        for row in rows {
            let lately = by_reader.entry(row.recipient).or_default();
            lately.count += 1;
            lately.last = Some(Last { asked: row.asked, said: Said::Kept(row.message_id) });
        }
    }

    fn add(&self, answer: &NewDispatch) {
        let mut by_reader = self.by_reader();
        let lately = by_reader.entry(answer.recipient.clone()).or_default();
        lately.count += 1;
        lately.last = Some(Last { asked: answer.asked, said: Said::Now(answer.bytes.clone()) });
    }
}

impl Office {
    /// Looks up what these were answered lately.
    pub(super) async fn look_up_answers(&self, readers: &[String], answers: &Answers) -> anyhow::Result<()> {
        let since = self.now() - TimeDelta::hours(1);
        let rows = self.store.answers_to(readers, since).await.context("answers")?;
        answers.keep(readers, rows);
        Ok(())
    }

    /// Takes out answers beyond the limit for their reader, and one that says the same as the last one to the same
    /// text.
    pub(super) async fn hold_back(
        &self,
        dispatches: &mut Vec<NewDispatch>,
        asked: Digest,
        answers: &Answers,
    ) -> anyhow::Result<()> {
        let Some(place) = dispatches.iter().position(|dispatch| dispatch.answers.is_some()) else {
            return Ok(());
        };
        let answer = &mut dispatches[place];
        answer.asked = Some(asked);
        let _alone = answers.weighing.lock().await;
        let lately = self.lately(&answer.recipient, answers).await?;
        let too_many = lately.count >= self.config.letters.answers_per_hour as usize;
        let again = match lately.last.filter(|last| last.asked == Some(asked)) {
            Some(Last { said: Said::Now(bytes), .. }) => gist(&bytes) == gist(&answer.bytes),
            Some(Last { said: Said::Kept(message_id), .. }) => {
                let kept = self.store.dispatches_by_message_id(&[message_id]).await?;
                kept.iter().any(|(_, bytes)| gist(bytes) == gist(&answer.bytes))
            }
            None => false,
        };
        if too_many || again {
            let letter = answer.answers.map(tracing::field::display);
            tracing::warn!(letter, kind = %answer.kind, too_many, again, "an answer is held back");
            dispatches.remove(place);
        } else {
            answers.add(answer);
        }
        Ok(())
    }

    /// Whether nothing was answered to its reader lately; then this is counted.
    pub(super) async fn is_first_answer(
        &self,
        answer: &NewDispatch,
        answers: &Answers,
    ) -> anyhow::Result<bool> {
        let _alone = answers.weighing.lock().await;
        let first = self.lately(&answer.recipient, answers).await?.count == 0;
        if first {
            answers.add(answer);
        }
        Ok(first)
    }

    async fn lately(&self, reader: &String, answers: &Answers) -> anyhow::Result<Lately> {
        let known = answers.by_reader().contains_key(reader);
        if !known {
            self.look_up_answers(std::slice::from_ref(reader), answers).await?;
        }
        Ok(answers.by_reader().get(reader).cloned().unwrap_or_default())
    }
}

/// A digest of what a person wrote.
pub(super) fn asked(lines: &[Line]) -> Digest {
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    Digest::of(texts.join("\n").as_bytes())
}

/// What an answer says, without what changes by itself: times, ledger lines, codes.
fn gist(bytes: &[u8]) -> String {
    let text = plain_text(bytes);
    let lines = text.lines().filter(|line| !line.starts_with("It is due"));
    let words =
        lines.flat_map(str::split_whitespace).filter(|word| !word.contains(|c: char| c.is_ascii_digit()));
    words.collect::<Vec<_>>().join(" ")
}
