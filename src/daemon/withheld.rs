//! Letters about several matches, which are shown whole only when all these matches are over: until then a dossier and an
//! account hold the part for their own match.

use std::collections::{BTreeMap, BTreeSet};

use super::Office;
use super::decide::stored::snapshot;
use crate::audit::account::WithheldLetter;
use crate::game::Line;
use crate::ledger::{Entry, Fact, Source};
use crate::letter::{Digest, Letter, Limits, NewText, OwnIdentity};
use crate::referee::{LetterPart, Match, Stage};
use crate::report::sent::plain_text;
use crate::request::matches_with_parts;

impl Office {
    /// Removes the letters that must not be shown whole yet, and returns the parts of them that may be.
    pub async fn withhold(
        &self,
        game_match: &Match,
        entries: &[Entry],
        letters: &mut BTreeMap<Digest, Vec<u8>>,
    ) -> anyhow::Result<BTreeMap<Digest, WithheldLetter>> {
        let mut withheld = BTreeMap::new();
        for entry in entries {
            let (Source::Letter(digest), Fact::LetterPartRead { seat, by_other_token, .. }) =
                (&entry.cause, &entry.fact)
            else {
                continue;
            };
            let read = letters.get(digest).zip(game_match.desk.own_identity());
            let Some(letter) = read.and_then(|(raw, own)| read_letter(raw, &own)) else { continue };
            let lines = self.new_lines(&letter).await?;
            // The match of its token: the token itself may have been renewed since.
            let row = self.store.letters(None, None, &digest.to_string(), 1).await?.pop();
            let first = row.and_then(|row| row.seat).map(|(match_id, _)| match_id);
            let until = self.running_matches(&letter, first, &lines, &game_match.id).await?;
            if until.is_empty() {
                continue;
            }
            let part = LetterPart::text(&LetterPart::lines(&lines, &game_match.id, *by_other_token));
            letters.remove(digest);
            withheld.insert(*digest, WithheldLetter { seat: *seat, part, until });
        }
        Ok(withheld)
    }

    /// Returns the new text of a letter, as it was when it was ruled on.
    async fn new_lines(&self, letter: &Letter) -> anyhow::Result<Vec<Line>> {
        let thread: Vec<String> = letter.thread().cloned().collect();
        let sent = self.store.texts_by_message_id(&thread).await?;
        let sent = sent.into_iter().map(|(id, bytes)| (id, plain_text(&bytes))).collect();
        Ok(match letter.new_text(letter.quotable_text(&sent).as_deref()) {
            NewText::Lines(lines) => lines,
            NewText::Blank | NewText::Unreadable(_) => Vec::new(),
        })
    }

    /// Returns the other matches that a letter has a part for or a token of, and that are not over. `first` is the match
    /// that it was settled for.
    async fn running_matches(
        &self,
        letter: &Letter,
        first: Option<String>,
        lines: &[Line],
        match_id: &str,
    ) -> anyhow::Result<Vec<String>> {
        let mut ids: BTreeSet<String> = matches_with_parts(lines).into_iter().collect();
        let tokens: Vec<String> = letter.tokens.iter().map(ToString::to_string).collect();
        let seats = self.store.seats_by_token(&tokens).await?;
        ids.extend(seats.into_iter().map(|row| row.match_id).chain(first));
        ids.remove(match_id);
        let mut running = Vec::new();
        for row in self.store.matches(&Vec::from_iter(ids)).await? {
            if snapshot(&row)?.stage != Stage::Over {
                running.push(row.id);
            }
        }
        Ok(running)
    }
}

fn read_letter(raw: &[u8], own: &OwnIdentity) -> Option<Letter> {
    // An accepted letter stays readable if the limit is lowered.
    Letter::read(raw, own, &Limits { max_bytes: usize::MAX, ..Limits::default() }).ok()
}
