//! Which match and which turn a letter is about, by its subject, its lines and the letter that it answers.

use crate::letter::Letter;
use crate::request::Request;

/// Returns the first match that the subject or a line names instead of this one.
pub(super) fn other_match(letter: &Letter, request: &Request, match_id: &str) -> Option<String> {
    let in_subject = letter.subject_tag.iter().map(|tag| &tag.match_name);
    let named: Vec<&String> = match request.sections.is_empty() {
        true => in_subject.chain(&request.named_matches).collect(),
        false => request.sections.iter().collect(),
    };
    named.into_iter().find(|name| !name.eq_ignore_ascii_case(match_id)).cloned()
}

/// Returns the turn that the subject names for this match, or else that of the letter it answers.
pub(super) fn thread_turn(letter: &Letter, match_id: &str) -> Option<u32> {
    let tag = letter.subject_tag.as_ref().filter(|tag| tag.match_name.eq_ignore_ascii_case(match_id));
    tag.and_then(|tag| tag.turn)
        .or_else(|| letter.answered_ids().find_map(|id| turn_of_message_id(id, match_id)))
}

/// Returns the turn at the end of the Message-ID of a letter that we sent about this match.
fn turn_of_message_id(message_id: &str, match_id: &str) -> Option<u32> {
    let (local, _) = message_id.rsplit_once('@')?;
    match local.split('.').collect::<Vec<_>>()[..] {
        [_, id, _, turn] | [_, id, _, _, turn] if id.eq_ignore_ascii_case(match_id) => turn.parse().ok(),
        _ => None,
    }
}
