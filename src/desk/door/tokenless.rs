//! Letters about a match from a player's address, but without a token. Anybody can put that address on a
//! letter, so nothing is done. The answer goes to the address, holds the seat's form, and bears the token
//! that the letter lacked.

use std::sync::Arc;

use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, LoadedMatch};
use crate::desk::outbox::mail::{self, PlainEnvelope};
use crate::desk::outbox::ruling_mail;
use crate::game::{Line, Seat};
use crate::letter::Letter;
use crate::referee::{Answer, Content, Dispatch, DispatchKind, Passing, Reader, Stage};
use crate::report::envelope::AnsweredLetter;
use crate::request::matches_named_in;
use crate::store::NewDispatch;

/// Words the answer with the form of the seat that a letter without a token is about.
pub fn form_without_token(
    desk: &mut Desk<'_>,
    letter: &Letter,
    loaded: &LoadedMatch,
    seat: Seat,
    why: String,
    passed_on: Option<Passing>,
) -> Decided<NewDispatch> {
    let row = &loaded.seats[seat];
    let answer = Answer { to: Some(letter.digest), unread: Some(why), passed_on, ..Answer::default() };
    let dispatch = Dispatch::new(Reader::Seat(seat), Content::Answer(Box::new(answer)));
    let game_match = Arc::new(loaded.game_match.clone());
    let page = ruling_mail::word(desk, &game_match, &dispatch, &row.token, false)?;
    let unique = format!("f.{}", &letter.digest.to_string()[..24]);
    let to = PlainEnvelope {
        name: &row.player.name,
        address: letter.from.as_str(),
        unique: &unique,
        kind: DispatchKind::Answer,
    };
    let dispatch = mail::assemble(desk, page, &row.token, &to, Some(&AnsweredLetter::new(letter)))?;
    Ok(NewDispatch { answers: Some(letter.digest), ..dispatch })
}

/// Returns the only running match of the player that the letter names or, if it names none, the only one that
/// waits for the player, with the player's seat in it.
pub fn seat_meant(
    desk: &mut Desk<'_>,
    asker: &Asker,
    letter: &Letter,
    lines: &[Line],
) -> Decided<Option<(LoadedMatch, Seat)>> {
    let Some(player_id) = asker.player_id else { return Ok(None) };
    let mut named = matches_named_in(lines);
    named.extend(letter.subject_tag.as_ref().map(|tag| tag.match_name.clone()));
    let mut meant = Vec::new();
    for (seat, game_match) in desk.rows.matches_of(player_id)? {
        let is_meant = match &named[..] {
            [] => game_match.awaited.contains(seat),
            names => names.iter().any(|name| name.eq_ignore_ascii_case(&game_match.id)),
        };
        if is_meant && game_match.stage != Stage::Over {
            meant.push((game_match.id.clone(), *seat));
        }
    }
    // Of several nobody knows which is meant, and a wrong form invites orders for the wrong match.
    let [(match_id, seat)] = &meant[..] else { return Ok(None) };
    let loaded = desk.game_match(match_id)?.cloned();
    Ok(loaded.map(|loaded| (loaded, *seat)))
}
