//! Letters about several matches. They are shown whole only once all these matches are over. Until then a
//! dossier or an account contains only the part that was ruled on in its own match, if there was one.
//!
//! Unsealing: while a match runs, the terminal shows what the rules hide only to a GM who plays in none of
//! the matches concerned, and only after their ledgers have recorded the request.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::bail;

use crate::audit::account::{MatchArchive, WithheldLetter};
use crate::daemon::{Office, commit};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::stored::snapshot;
use crate::desk::gm::unseal::{self, Unseal};
use crate::dialect::SubjectTag;
use crate::game::Line;
use crate::ledger::{Cause, Entry, LetterCause, TokenOf};
use crate::letter::{Digest, Letter, Limits, OwnIdentity, tokens_in_header};
use crate::referee::{Match, Stage, part_digest, part_text};
use crate::report::sent::plain_text;
use crate::request::{lines_of, matches_named_in, part_for};
use crate::store::LetterRow;

/// Removes the letters that must not be shown whole yet, and returns the parts that may be shown.
pub async fn withhold(
    office: &Office,
    game_match: &Match,
    entries: &[Entry],
    letters: &mut BTreeMap<Digest, Vec<u8>>,
) -> anyhow::Result<BTreeMap<Digest, WithheldLetter>> {
    let mut withheld = BTreeMap::new();
    for (digest, recorded) in named_letters(entries) {
        let Some(raw) = letters.get(&digest) else { continue };
        if let Some(part) = withheld_letter(office, game_match, digest, raw, recorded).await? {
            letters.remove(&digest);
            withheld.insert(digest, part);
        }
    }
    Ok(withheld)
}

/// Replaces each letter with the part of its text that concerns this match, as it was when it was ruled on.
pub async fn keep_parts_only(office: &Office, archive: &mut MatchArchive) -> anyhow::Result<()> {
    let named = named_letters(&archive.entries);
    let causes: BTreeSet<Digest> = ruled_letters(&archive.entries).map(|cause| cause.letter).collect();
    let own = archive.game_match.mail_identity.own_identity();
    for (digest, raw) in std::mem::take(&mut archive.letters) {
        let recorded = named.get(&digest).copied().flatten();
        // A letter that only proves something, such as an absence, may be about another match.
        let own = own.as_ref().filter(|_| causes.contains(&digest));
        let letter = own.and_then(|own| read_letter(&raw, own));
        let part = match &letter {
            Some(letter) => {
                let lines = new_lines(office, letter).await?;
                recorded.map_or_else(
                    || Some(part_text(&lines)),
                    |cause| text_of_part(&lines, &archive.game_match.id, cause),
                )
            }
            None => None,
        };
        let seat = recorded.map(|cause| cause.seat);
        archive.withheld.insert(digest, WithheldLetter { seat, part, until: Vec::new() });
    }
    Ok(())
}

/// Returns the new text of a letter, as it was when it was ruled on.
pub(super) async fn new_lines(office: &Office, letter: &Letter) -> anyhow::Result<Vec<Line>> {
    let thread: Vec<String> = letter.thread().cloned().collect();
    let sent = office.store.texts_by_message_id(&thread).await?;
    let sent = sent.into_iter().map(|(id, bytes)| (id, plain_text(&bytes))).collect();
    Ok(lines_of(letter.new_text(letter.quotable_text(&sent).as_deref())))
}

/// Returns the matches that a letter names or whose tokens it has.
pub(super) async fn matches_named(
    office: &Office,
    letter: &Letter,
    lines: &[Line],
) -> anyhow::Result<BTreeSet<String>> {
    let mut ids: BTreeSet<String> = matches_named_in(lines).into_iter().collect();
    ids.extend(SubjectTag::find(&letter.subject).map(|tag| tag.match_name));
    let tokens: Vec<String> = letter.tokens.iter().map(ToString::to_string).collect();
    ids.extend(office.store.seats_by_token(&tokens).await?.into_iter().map(|row| row.match_id));
    Ok(ids)
}

/// Returns the matches among these that are not over, except this one.
pub(super) async fn running_among(
    office: &Office,
    mut ids: BTreeSet<String>,
    match_id: &str,
) -> anyhow::Result<Vec<String>> {
    ids.remove(match_id);
    let mut running = Vec::new();
    for row in office.store.snapshots(&Vec::from_iter(ids)).await? {
        if snapshot(&row.id, &row.snapshot)?.stage != Stage::Over {
            running.push(row.id);
        }
    }
    Ok(running)
}

/// Returns the causes of the rulings on letters.
pub(super) fn ruled_letters(entries: &[Entry]) -> impl Iterator<Item = &LetterCause> {
    entries.iter().filter_map(Entry::own_cause).filter_map(Cause::letter)
}

pub(super) fn read_letter(raw: &[u8], own: &OwnIdentity) -> Option<Letter> {
    // An accepted letter stays readable if the limit is lowered.
    Letter::read(raw, own, &Limits { max_bytes: usize::MAX, ..Limits::default() }).ok()
}

/// Returns the part of a letter that is shown until other matches are over, or `None` if it may be shown
/// whole.
async fn withheld_letter(
    office: &Office,
    game_match: &Match,
    digest: Digest,
    raw: &[u8],
    recorded: Option<&LetterCause>,
) -> anyhow::Result<Option<WithheldLetter>> {
    let own = game_match.mail_identity.own_identity();
    let (lines, until) = match own.and_then(|own| read_letter(raw, &own)) {
        Some(letter) => {
            let lines = new_lines(office, &letter).await?;
            let mut ids = matches_named(office, &letter, &lines).await?;
            // Add the match of its own token, too: if the token was renewed since, it no longer identifies
            // the match.
            let row = office.store.letters(None, None, &digest.to_string(), 1).await?.pop();
            ids.extend(row.and_then(|row| row.seat).map(|(match_id, _)| match_id));
            let until = running_among(office, ids, &game_match.id).await?;
            (lines, until)
        }
        // Nothing shows which matches the letter is about, so it may be about any match of these players.
        None => (Vec::new(), running_matches_of_players(office, &game_match.id).await?),
    };
    if until.is_empty() {
        return Ok(None);
    }
    let part = recorded.and_then(|cause| text_of_part(&lines, &game_match.id, cause));
    Ok(Some(WithheldLetter { seat: recorded.map(|cause| cause.seat), part, until }))
}

/// Returns the other matches of this match's players that are not over.
async fn running_matches_of_players(office: &Office, match_id: &str) -> anyhow::Result<Vec<String>> {
    let mut ids = BTreeSet::new();
    for row in office.store.seats_of(&[match_id.to_owned()]).await? {
        let matches = office.store.matches_of(row.player.id).await?;
        ids.extend(matches.into_iter().map(|(_, overview)| overview.id));
    }
    running_among(office, ids, match_id).await
}

/// Returns the letters that a ledger names, each with its cause if only a part of it was ruled on.
fn named_letters(entries: &[Entry]) -> BTreeMap<Digest, Option<&LetterCause>> {
    let letters = entries.iter().flat_map(Entry::letters);
    let mut named: BTreeMap<Digest, Option<&LetterCause>> = letters.map(|letter| (letter, None)).collect();
    let in_part = ruled_letters(entries).filter(|cause| cause.part.is_some());
    named.extend(in_part.map(|cause| (cause.letter, Some(cause))));
    named
}

/// Returns the text of the part of a letter that was ruled on, or `None` if its lines have no such part:
/// another version of this program may have read other lines, and the ledger pins the lines that were ruled
/// on.
fn text_of_part(lines: &[Line], match_id: &str, cause: &LetterCause) -> Option<String> {
    let part = part_for(lines, match_id, cause.token == TokenOf::Own);
    (cause.part == Some(part_digest(&part))).then(|| part_text(&part))
}

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
        let ids = running.join(", ");
        let are = if running.len() == 1 { "is" } else { "are" };
        bail!(
            "{ids} {are} not over, and this would show what the rules hide; --unseal REASON --gm NAME shows it, and both \
             players read that with the result"
        );
    };
    let asked = asked.clone();
    let what = what.to_owned();
    let ids = running.to_vec();
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
        Some(read) => ids.extend(matches_named(office, &read, &new_lines(office, &read).await?).await?),
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
    running_among(office, BTreeSet::from_iter(ids), "").await
}

/// Returns the running matches of the player with this address.
async fn running_matches_of_sender(office: &Office, address: &str) -> anyhow::Result<Vec<String>> {
    let Some(player) = office.store.player_by_address(address).await? else { return Ok(Vec::new()) };
    let matches = office.store.matches_of(player.id).await?;
    let running = matches.into_iter().filter(|(_, overview)| overview.stage != Stage::Over);
    Ok(running.map(|(_, overview)| overview.id).collect())
}
