//! Unsealing: while a match runs, the terminal shows what the rules hide only to a GM who plays in none of
//! the matches concerned, and only after their ledgers have recorded the request.

use std::collections::BTreeSet;

use anyhow::bail;

use super::withheld::{self, read_letter};
use crate::daemon::{Office, commit};
use crate::desk::frame::desk::Desk;
use crate::desk::gm::unseal::{self, Unseal};
use crate::game::Line;
use crate::letter::tokens_in_header;
use crate::referee::Stage;
use crate::request::matches_named_in;
use crate::store::LetterRow;

/// Allows a GM to see `what` of these running matches, and records that in their ledgers.
///
/// # Errors
/// Returns an error if no GM asks, if the GM who asks plays in one of them, or if the request cannot be
/// recorded. In that case nothing may be shown, and nothing is recorded.
pub async fn unseal(
    office: &Office,
    running: &[String],
    asked: Option<&Unseal>,
    what: &str,
) -> anyhow::Result<()> {
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
    let decide = move |desk: &mut Desk<'_>| {
        Ok(unseal::unseal(desk, &asked, &what, &ids)?.map_err(anyhow::Error::msg)?)
    };
    commit::decide_and_commit(office, decide).await
}

/// Returns the running matches whose secrets a letter may reveal: those that it names anywhere or whose
/// tokens it has, or else all running matches of its sender.
///
/// # Errors
/// Returns an error if the database does not answer.
pub async fn matches_sealing(office: &Office, letter: &LetterRow) -> anyhow::Result<Vec<String>> {
    let raw = office.store.letter(letter.digest).await?.unwrap_or_default();
    // Search the raw bytes: quoted text and a letter returned by a server can reveal secrets, too.
    let text = String::from_utf8_lossy(&raw);
    let lines: Vec<&str> = text.lines().chain([letter.subject.as_str()]).collect();
    let mut ids: BTreeSet<String> = matches_named_in(&Line::numbered(&lines)).into_iter().collect();
    ids.extend(letter.seat.iter().map(|(id, _)| id.clone()));
    match read_letter(&raw, &office.club.own) {
        Some(read) => ids.extend(
            withheld::matches_named(office, &read, &withheld::new_lines(office, &read).await?).await?,
        ),
        None => {
            let tokens = tokens_in_header(&raw, &office.club.own);
            let tokens: Vec<String> = tokens.iter().map(ToString::to_string).collect();
            ids.extend(office.store.seats_by_token(&tokens).await?.into_iter().map(|row| row.match_id));
        }
    }
    let ids = Vec::from_iter(ids);
    if office.store.snapshots(&ids).await?.is_empty() {
        return running_matches_of_sender(office, &letter.sender).await;
    }
    withheld::running_among(office, BTreeSet::from_iter(ids), "").await
}

/// Returns the running matches of the player with this address.
async fn running_matches_of_sender(office: &Office, address: &str) -> anyhow::Result<Vec<String>> {
    let Some(player) = office.store.player_by_address(address).await? else { return Ok(Vec::new()) };
    let matches = office.store.matches_of(player.id).await?;
    let running = matches.into_iter().filter(|(_, overview)| overview.stage != Stage::Over);
    Ok(running.map(|(_, overview)| overview.id).collect())
}
