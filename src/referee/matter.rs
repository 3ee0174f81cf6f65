//! The matter of a ruling: its cause, with the letter as it was read.

use std::slice;

use crate::game::Line;
use crate::game::any::GameKind;
use crate::ledger::{Act, Cause, LetterCause, TokenOf};
use crate::letter::{Digest, Letter, NewText};
use crate::request::{Command, Request, part_for};

use super::{Match, Passing, Words};

/// The subject of a ruling: a cause, whose letter has been read by [`prepare`]. The other causes are complete as they are.
pub type Matter<'a> = Cause<&'a SeatLetter>;

impl Matter<'_> {
    /// The cause as its first entry holds it.
    pub fn cause(&self) -> Cause {
        match self {
            Cause::Letter(letter) => Cause::Letter(Box::new(letter.cause.clone())),
            Cause::Clock { phase } => Cause::Clock { phase: *phase },
            Cause::Gm { name, phase, act } => {
                Cause::Gm { name: name.clone(), phase: *phase, act: act.clone() }
            }
            Cause::House { phase, play } => Cause::House { phase: *phase, play: play.clone() },
            Cause::Program { phase, act } => Cause::Program { phase: *phase, act: act.clone() },
        }
    }
}

impl Match {
    /// Returns the cause by which the clock decides now.
    pub fn by_clock(&self) -> Matter<'static> {
        Matter::Clock { phase: self.phase_no }
    }

    /// Returns an act of the program as a cause in the open phase.
    pub fn by_program(&self, act: Act) -> Matter<'static> {
        Matter::Program { phase: self.phase_no, act }
    }

    /// Returns an act of the GM with this name as a cause in the open phase.
    pub fn by_gm(&self, name: &str, act: Act) -> Matter<'static> {
        Matter::Gm { name: name.to_owned(), phase: self.phase_no, act }
    }
}

/// A letter that is known to come from a seat, as it was read.
#[derive(Clone, Debug)]
pub struct SeatLetter {
    pub cause: LetterCause,
    pub request: Request,
    /// The turn named in its subject, or by the letter it answers.
    pub thread_turn: Option<u32>,
    /// Another match that its subject or a line names, unless a line `MATCH` names its own.
    pub other_match: Option<String>,
    /// The names of attached files, which are not read.
    pub attachments: Vec<String>,
    /// Why the letter's text could not be read, in one or two sentences to the player.
    pub unread: Option<String>,
}

/// A letter does not hold the part that its cause names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it does not hold the part of it that was ruled on")]
pub struct NoSuchPart;

/// Reads a letter, or the part of it that its cause names. `written` is what its sender wrote now ([`Letter::new_text`]).
///
/// # Errors
/// [`NoSuchPart`] if the lines about this match are not those whose digest the cause holds.
pub fn prepare(
    before: &Match,
    cause: LetterCause,
    letter: &Letter,
    written: NewText,
) -> Result<SeatLetter, NoSuchPart> {
    let (lines, unread) = match written {
        NewText::Lines(lines) => (lines, None),
        NewText::Blank => (Vec::new(), None),
        NewText::Unreadable(what) => (Vec::new(), Some(what.advice().to_owned())),
    };
    let lines = match cause.part {
        None => lines,
        Some(pinned) => {
            let part = part_for(&lines, &before.id, cause.token == TokenOf::Own);
            Some(part).filter(|part| part_digest(part) == pinned).ok_or(NoSuchPart)?
        }
    };
    let (request, attachments) = read_with_attachment(letter, &lines, &cause, before.game);
    Ok(SeatLetter {
        thread_turn: thread_turn(letter, &before.id),
        other_match: other_match(letter, &request, &before.id),
        cause,
        request,
        attachments,
        unread,
    })
}

/// Returns the text of a part, whose digest the cause of its ruling holds.
pub fn part_text(lines: &[Line]) -> String {
    lines.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect()
}

/// Returns the SHA-256 of a part's text.
pub fn part_digest(lines: &[Line]) -> Digest {
    Digest::of(part_text(lines).as_bytes())
}

impl SeatLetter {
    /// Whether the letter has orders to file, and neither a line nor its thread names their turn.
    pub(super) fn lacks_turn(&self) -> bool {
        let request = &self.request;
        !request.orders.is_empty() && !request.check && request.turn.is_none() && self.thread_turn.is_none()
    }

    /// Whether it may tell the opponent something, and the GM. Where it may not, nobody's room matters, and letters whose
    /// readers need no room are decided independently of each other.
    pub fn tells(&self) -> (bool, bool) {
        let tells =
            |kind: fn(&Command) -> bool| self.request.commands.iter().any(|asked| kind(&asked.command));
        // A `YES` that accepts nothing is a remark.
        let has_words = match (Words::of(&self.request), self.cause.token) {
            (words, TokenOf::Own) => words.is_some_and(|words| words.passing == Passing::AtOnce),
            (words, TokenOf::Other) => words.is_some() || self.request.yes.is_some(),
        };
        (tells(tells_opponent), has_words || tells(tells_gm))
    }

    /// Withholds the texts of the letter if one of them holds an order of its player's `other_games`.
    pub fn withhold_texts(&mut self, game: GameKind, other_games: &[GameKind]) {
        let lines = self.request.lines();
        let holds = |games: &[GameKind]| Request::read_with_texts(lines, game, games) != self.request;
        if !holds(other_games) {
            return;
        }
        // The ledger names no more of the player's games than it must.
        self.cause.withheld_for =
            other_games.iter().copied().filter(|other| holds(slice::from_ref(other))).collect();
        self.request = Request::read_with_texts(lines, game, &self.cause.withheld_for);
    }
}

fn tells_opponent(command: &Command) -> bool {
    matches!(
        command,
        Command::Tell(_)
            | Command::Draw
            | Command::Extend { .. }
            | Command::Agree
            | Command::Absent { .. }
            | Command::Protest(_)
    )
}

fn tells_gm(command: &Command) -> bool {
    matches!(command, Command::TellGm(_) | Command::Substitute | Command::Protest(_))
}

/// Reads a letter. If its text holds no order and nothing else to follow, its attached text is read below it, but not
/// below a part, because nothing tells which part it belongs to. Also returns the names of the attached files that were
/// not read.
fn read_with_attachment(
    letter: &Letter,
    lines: &[Line],
    cause: &LetterCause,
    game: GameKind,
) -> (Request, Vec<String>) {
    let read = |lines: &[Line]| Request::read_with_texts(lines, game, &cause.withheld_for);
    let request = read(lines);
    let mut unread = letter.attachments().to_vec();
    let Some((name, attached)) = letter.attached_text() else { return (request, unread) };
    if cause.part.is_none() && request.is_empty() && !request.ended && request.yes.is_none() {
        let last = lines.last().map_or(0, |line| line.no);
        let attached = attached.iter().map(|line| Line { no: last + line.no, text: line.text.clone() });
        let both: Vec<Line> = lines.iter().cloned().chain(attached).collect();
        let read = read(&both);
        if !read.orders.is_empty() || !read.doubts.is_empty() || !read.faults.is_empty() {
            return (read, unread);
        }
    }
    let is_read = lines.iter().map(|line| &line.text).eq(attached.iter().map(|line| &line.text));
    if !is_read && !attached.is_empty() {
        unread.push(name.to_owned());
    }
    (request, unread)
}

/// Returns the first match that the subject or a line names instead of this one.
fn other_match(letter: &Letter, request: &Request, match_id: &str) -> Option<String> {
    let in_subject = letter.subject_tag.iter().map(|tag| &tag.match_name);
    let named: Vec<&String> = match request.sections.is_empty() {
        true => in_subject.chain(&request.named_matches).collect(),
        false => request.sections.iter().collect(),
    };
    named.into_iter().find(|name| !name.eq_ignore_ascii_case(match_id)).cloned()
}

/// Returns the turn that the subject names for this match, or else that of the letter it answers.
fn thread_turn(letter: &Letter, match_id: &str) -> Option<u32> {
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

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::game::Seat;

    #[test]
    fn a_greeting_beside_orders_needs_nobodys_room() {
        let tells = |token: TokenOf, lines: &[&str]| {
            let cause = LetterCause::new(Digest::of(b""), Seat::First, DateTime::UNIX_EPOCH);
            let letter = SeatLetter {
                cause: LetterCause { token, ..cause },
                request: Request::read(&Line::numbered(lines), GameKind::Quad),
                thread_turn: None,
                other_match: None,
                attachments: Vec::new(),
                unread: None,
            };
            letter.tells()
        };
        assert_eq!(tells(TokenOf::Own, &["MARBLE E5", "Good luck!"]), (false, false));
        assert_eq!(tells(TokenOf::Own, &["Thanks!"]), (false, false), "the digest brings these words");
        assert_eq!(tells(TokenOf::Other, &["Thanks!"]), (false, true));
        assert_eq!(tells(TokenOf::Own, &["Dear GM, please look."]), (false, true));
        assert_eq!(tells(TokenOf::Own, &["TELL Well played.", "END"]), (true, false));
        assert_eq!(tells(TokenOf::Own, &["PROTEST That was wrong.", "END"]), (true, true));
        assert_eq!(tells(TokenOf::Own, &["SUBSTITUTE"]), (false, true));
    }
}
