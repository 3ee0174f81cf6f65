//! Letters about a match from a player's address, but without a token. Anybody can put that address on a letter, so nothing
//! is done. The answer goes to the address, holds the seat's form, and bears the token that the letter lacked.

use std::sync::Arc;

use super::asker::Asker;
use super::decision::{Decision, Key};
use super::mail::PlainEnvelope;
use super::undecided::Decided;
use crate::game::{Line, Seat};
use crate::letter::Letter;
use crate::referee::{Answer, Content, Dispatch, DispatchKind, Passing, Reader, Stage};
use crate::report::envelope::AnsweredLetter;
use crate::request::matches_named_in;
use crate::store::NewDispatch;

impl Decision<'_> {
    /// Words the answer with the form of the seat that a letter without a token is about. `None` if that is unclear.
    pub fn form_without_token(
        &mut self,
        asker: &Asker,
        letter: &Letter,
        lines: &[Line],
        why: String,
        passed_on: Option<Passing>,
    ) -> Decided<Option<NewDispatch>> {
        let Some((match_id, seat)) = self.seat_meant(asker, letter, lines)? else { return Ok(None) };
        self.touch(Key::Match(match_id.clone()));
        let Some(loaded) = self.game_match(&match_id)?.cloned() else { return Ok(None) };
        let row = &loaded.seats[seat];
        let answer = Answer { to: Some(letter.digest), unread: Some(why), passed_on, ..Answer::default() };
        let dispatch = Dispatch { to: Reader::Seat(seat), content: Content::Answer(Box::new(answer)) };
        let game_match = Arc::new(loaded.game_match.clone());
        let page = self.word(&game_match, &dispatch, &row.token)?;
        let unique = format!("f.{}", &letter.digest.to_string()[..24]);
        let to = PlainEnvelope {
            name: &row.player.name,
            address: letter.from.as_str(),
            unique: &unique,
            kind: DispatchKind::Answer,
        };
        let dispatch = self.assemble(page, &row.token, &to, Some(&AnsweredLetter::new(letter)))?;
        Ok(Some(NewDispatch { answers: Some(letter.digest), ..dispatch }))
    }

    /// Returns the player's seat in the only running match that the letter names or, if it names none, in the only one that
    /// waits for the player.
    fn seat_meant(&self, asker: &Asker, letter: &Letter, lines: &[Line]) -> Decided<Option<(String, Seat)>> {
        let Some(player_id) = asker.player_id else { return Ok(None) };
        let mut named = matches_named_in(lines);
        named.extend(letter.subject_tag.as_ref().map(|tag| tag.match_name.clone()));
        let mut meant = Vec::new();
        for (seat, game_match) in self.context.matches_of(player_id)? {
            let is_meant = match &named[..] {
                [] => game_match.awaited.contains(seat),
                names => names.iter().any(|name| name.eq_ignore_ascii_case(&game_match.id)),
            };
            if is_meant && game_match.stage != Stage::Over {
                meant.push((game_match.id.clone(), *seat));
            }
        }
        Ok(meant.pop().filter(|_| meant.is_empty()))
    }
}
