//! The GM's digest: what waits for a decision, and what went wrong since the last one.

use chrono::{DateTime, NaiveDate, TimeDelta, Utc};

use super::context::RulingContext;
use super::decision::Decision;
use super::settings::Settings;
use super::undecided::Decided;
use crate::referee::{Stage, Words};
use crate::report::{ClubLetter, FailedSend, GmDigest, LetterSummary, RefusalCount};
use crate::request::Request;
use crate::store::{LetterRow, Settlement};

/// Words the day's digest, unless there is no news or it was made before.
pub fn daily(
    settings: &Settings,
    context: &RulingContext,
    since: DateTime<Utc>,
    today: NaiveDate,
) -> Decided<Option<Settlement>> {
    let mut decision = Decision::new(settings, context);
    let Some(digest) = decision.digest(Some(since))? else { return Ok(None) };
    let dispatch = decision.gm_dispatch(&ClubLetter::Digest { digest }, &format!("d.{today}"), None)?;
    if context.dispatch(&dispatch.message_id)?.is_some() {
        return Ok(None);
    }
    decision.draft.settlement.dispatches.push(dispatch);
    Ok(Some(decision.draft.settlement))
}

/// How the note on a letter begins that holds words for the GM; the words follow.
pub const WORDS_NOTE: &str = "words: ";

/// Maximum characters of the words in a note.
const MAX_WORDS_NOTE: usize = 500;

/// Returns the note on a letter of a seat: its words for the GM, on one line, or nothing.
pub fn note_of_words(request: &Request) -> String {
    match Words::of(request) {
        Some(words) => {
            let text = words.text.lines().collect::<Vec<_>>().join(" / ");
            WORDS_NOTE.chars().chain(text.chars().take(MAX_WORDS_NOTE)).collect()
        }
        None => String::new(),
    }
}

impl Decision<'_> {
    /// Returns the news since then, by default of the last day, or `None` if there is none.
    pub fn digest(&self, since: Option<DateTime<Utc>>) -> Decided<Option<GmDigest>> {
        let since = since.unwrap_or(self.at() - TimeDelta::days(1));
        let rows = self.context.digest_rows(since)?;
        let mut told = GmDigest { since: self.settings.local_time(since), ..GmDigest::default() };
        for summary in self.summaries()? {
            told.running += usize::from(summary.stage == Stage::Running);
            if summary.is_protested {
                told.protests.push(summary.line);
            } else if summary.asks_gm && summary.stage == Stage::Running {
                told.overdue.push(summary.line);
            } else if summary.is_late {
                told.late.push(summary.line);
            } else if summary.is_unread && summary.stage != Stage::Over {
                told.unread.push(summary.line);
            }
        }
        for (id, count) in &rows.refused {
            told.refused.push(RefusalCount { id: id.clone(), count: *count });
        }
        for row in rows.given_up.iter().cloned() {
            told.failed.push(FailedSend { recipient: row.recipient, kind: row.kind, error: row.error });
        }
        told.set_aside = self.letters_told(&rows.set_aside);
        told.ignored = self.letters_told(&rows.ignored);
        told.words = self.letters_told(&rows.words);
        for letter in &mut told.words {
            letter.note = letter.note.trim_start_matches(WORDS_NOTE).to_owned();
        }
        told.automatic = self.letters_told(&rows.automatic);
        told.letters_waiting = rows.letters_waiting;
        told.left_out = rows.left_out;
        Ok(Some(told).filter(GmDigest::has_news))
    }

    fn letters_told(&self, rows: &[LetterRow]) -> Vec<LetterSummary> {
        let told = rows.iter().map(|row| LetterSummary {
            digest: row.digest.to_string()[..12].to_owned(),
            at: self.settings.local_time(row.received_at),
            sender: row.sender.clone(),
            note: row.note.clone(),
        });
        told.collect()
    }
}
