//! Unsealing: while a match runs, the terminal shows what the rules hide only to a GM who plays in none of the matches
//! concerned, and only after their ledgers have recorded it.

use std::collections::BTreeSet;

use anyhow::bail;

use super::Office;
use super::withheld::read_letter;
use crate::desk::frame::desk::Desk;
use crate::desk::gm::unseal::{Unseal, unseal};
use crate::game::Line;
use crate::letter::Letter;
use crate::request::matches_named_in;
use crate::store::LetterRow;

impl Office {
    /// Allows a GM to see `what` of these running matches, and records that in their ledgers.
    ///
    /// # Errors
    /// Returns an error if nobody asks, if the GM who asks plays in one of them, or if it cannot be recorded. Nothing
    /// may be shown then, and nothing is recorded.
    pub async fn unseal(&self, running: &[String], asked: Option<&Unseal>, what: &str) -> anyhow::Result<()> {
        if running.is_empty() {
            return Ok(());
        }
        let Some(asked) = asked else {
            let (ids, are) = (running.join(", "), if running.len() == 1 { "is" } else { "are" });
            bail!(
                "{ids} {are} not over, and this would show what the rules hide; --unseal REASON --gm NAME shows it, and both \
                 players read that with the result"
            );
        };
        let (asked, what, ids) = (asked.clone(), what.to_owned(), running.to_vec());
        let decide =
            move |desk: &mut Desk<'_>| Ok(unseal(desk, &asked, &what, &ids)?.map_err(anyhow::Error::msg)?);
        self.decide_and_commit(decide).await
    }

    /// Returns the running matches whose secrets a letter may reveal: those that it names anywhere or has a token of, or
    /// else all running matches of its sender.
    ///
    /// # Errors
    /// Returns an error if the database does not answer.
    pub async fn matches_sealing(&self, letter: &LetterRow) -> anyhow::Result<Vec<String>> {
        let raw = self.store.letter(letter.digest).await?.unwrap_or_default();
        // Also what the letter quotes, or a server sends back.
        let text = String::from_utf8_lossy(&raw);
        let lines: Vec<&str> = text.lines().chain([letter.subject.as_str()]).collect();
        let mut ids: BTreeSet<String> = matches_named_in(&Line::numbered(&lines)).into_iter().collect();
        ids.extend(letter.seat.iter().map(|(id, _)| id.clone()));
        match read_letter(&raw, &self.club.own) {
            Some(read) => ids.extend(self.matches_named(&read, &self.new_lines(&read).await?).await?),
            None => {
                let tokens = Letter::tokens_in_header(&raw, &self.club.own);
                let tokens: Vec<String> = tokens.iter().map(ToString::to_string).collect();
                ids.extend(self.store.seats_by_token(&tokens).await?.into_iter().map(|row| row.match_id));
            }
        }
        let ids = Vec::from_iter(ids);
        if self.store.snapshots(&ids).await?.is_empty() {
            return self.running_matches_of_sender(&letter.sender).await;
        }
        self.running_among(BTreeSet::from_iter(ids), "").await
    }

    /// Returns the running matches of the player with this address.
    pub async fn running_matches_of_sender(&self, address: &str) -> anyhow::Result<Vec<String>> {
        let Some(player) = self.store.player_by_address(address).await? else { return Ok(Vec::new()) };
        let matches = self.store.matches_of(player.id).await?;
        self.running_among(matches.into_iter().map(|(_, overview)| overview.id).collect(), "").await
    }
}
