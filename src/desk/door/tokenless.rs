//! Letters about a match from a player's address, but without a token. Anybody can put that address on a
//! letter, so nothing in it is carried out. The answer goes to that address, with the seat's form and the
//! token that the letter lacked.

use std::sync::Arc;

use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedMatch};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::desk::outbox::ruling_mail;
use crate::dialect::SubjectTag;
use crate::game::{Line, Seat};
use crate::letter::Letter;
use crate::referee::{Answer, Content, Dispatch, DispatchKind, Passing, Reader, Stage, wishes_of};
use crate::report::envelope::AnsweredLetter;
use crate::request::matches_named_in;
use crate::store::NewDispatch;

/// The words of a letter without a token, and the parts of its answer about them.
pub struct WordsWithoutToken {
    /// Sentences that say what the letter lacked.
    pub why: String,
    pub passed_on: Option<Passing>,
    pub remarks: Vec<Line>,
}

/// Writes the answer to a letter without a token, with the form of the seat that the letter is about.
pub fn form_without_token(
    desk: &Desk<'_>,
    letter: &Letter,
    loaded: &LoadedMatch,
    seat: Seat,
    words: WordsWithoutToken,
) -> Decided<NewDispatch> {
    let row = &loaded.seats[seat];
    let WordsWithoutToken { why, passed_on, remarks } = words;
    let unread = Some(why).filter(|why| !why.is_empty());
    let wishes = match &unread {
        None => wishes_of(&loaded.game_match, seat, &remarks, desk.at()),
        Some(_) => Vec::new(),
    };
    let answer = Answer { to: Some(letter.digest), unread, passed_on, remarks, wishes, ..Answer::default() };
    let dispatch = Dispatch::new(Reader::Seat(seat), Content::Answer(Box::new(answer)));
    let game_match = Arc::new(loaded.game_match.clone());
    let page = ruling_mail::word(desk, &game_match, &dispatch, &row.token, &[], false)?;
    let unique = format!("f.{}", &letter.digest.to_string()[..24]);
    let to = PlainEnvelope {
        name: &row.player.name,
        address: letter.from.as_str(),
        unique: &unique,
        kind: DispatchKind::Answer,
    };
    mail::assemble(desk, page, &row.token, &to, Some(&AnsweredLetter::new(letter)))
}

/// Returns the match that a letter is about, with the player's seat: the only running one that it names or,
/// if it names none, the only one that waits for the player, or else the player's only one.
pub fn seat_meant(
    desk: &Desk<'_>,
    asker: &Asker,
    letter: &Letter,
    lines: &[Line],
) -> Decided<Option<(LoadedMatch, Seat)>> {
    let Some(player_id) = asker.player_id else { return Ok(None) };
    let mut named = matches_named_in(lines);
    named.extend(SubjectTag::find(&letter.subject).map(|tag| tag.match_name));
    let is_named = |id: &str| named.is_empty() || named.iter().any(|name| name.eq_ignore_ascii_case(id));
    let running: Vec<_> = desk
        .rows
        .matches_of(player_id)?
        .iter()
        .filter(|(_, game_match)| game_match.stage != Stage::Over && is_named(&game_match.id))
        .collect();
    let awaited: Vec<_> =
        running.iter().copied().filter(|(seat, game_match)| game_match.awaited.contains(seat)).collect();
    let meant = if named.is_empty() && !awaited.is_empty() { awaited } else { running };
    // With several matches it is unclear which one is meant, and the wrong form invites orders for the wrong
    // match.
    let [(seat, game_match)] = meant[..] else { return Ok(None) };
    let loaded = desk.game_match(&game_match.id)?.cloned();
    Ok(loaded.map(|loaded| (loaded, *seat)))
}
