//! Letters about several matches: each match is ruled on with its own part of the letter.

use std::slice;

use serde::Serialize;

use super::{Answer, Match, Orders, SeatLetter};
use crate::game::any::GameKind;
use crate::game::{Line, Seat};
use crate::letter::{Digest, Letter, NewText};
use crate::request::{Command, Request, part_for};

/// The part of a letter that is about one match.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LetterPart {
    /// The SHA-256 of its lines, each followed by a line feed.
    pub digest: Digest,
    /// The letter has no token of this match; its token is that of another match of the same player.
    pub by_other_token: bool,
}

/// What became of a part of a letter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PartOutcome {
    Sealed,
    NotFiled,
    Checked,
    /// It had no orders.
    Answered,
}

/// Another part of the letter that is answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct OtherPart {
    pub match_id: String,
    pub outcome: PartOutcome,
}

impl LetterPart {
    /// Returns the lines of a letter that are about one match.
    pub fn lines(written: &[Line], match_id: &str, by_other_token: bool) -> Vec<Line> {
        part_for(written, match_id, !by_other_token)
    }

    pub fn of(lines: &[Line], by_other_token: bool) -> LetterPart {
        LetterPart { digest: Digest::of(LetterPart::text(lines).as_bytes()), by_other_token }
    }

    /// Returns the text whose digest the ledger names.
    pub fn text(lines: &[Line]) -> String {
        lines.iter().flat_map(|line| [line.text.as_str(), "\n"]).collect()
    }
}

/// Reads a letter. If its text holds no order and nothing else to follow, its attached text is read below it, but not
/// below a part, because nothing tells which part it belongs to. Also returns the names of the attached files that were
/// not read.
pub(super) fn read_with_attachment(
    letter: &Letter,
    lines: &[Line],
    is_part: bool,
    game: GameKind,
) -> (Request, Vec<String>) {
    let request = Request::read(lines, game);
    let mut unread = letter.attachments().to_vec();
    let Some((name, attached)) = letter.attached_text() else { return (request, unread) };
    if !is_part && request.is_empty() && !request.ended && request.yes.is_none() {
        let last = lines.last().map_or(0, |line| line.no);
        let attached = attached.iter().map(|line| Line { no: last + line.no, text: line.text.clone() });
        let both: Vec<Line> = lines.iter().cloned().chain(attached).collect();
        let read = Request::read(&both, game);
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

impl Answer {
    /// Returns what became of the letter, in a word.
    pub fn outcome(&self) -> PartOutcome {
        match &self.orders {
            Orders::Refused { .. } => PartOutcome::NotFiled,
            Orders::None | Orders::Sealed { .. } | Orders::Checked { .. } | Orders::Conditions { .. }
                if self.unread.is_some() || !self.faults.is_empty() =>
            {
                PartOutcome::NotFiled
            }
            Orders::Sealed { .. } | Orders::Conditions { sealed: Some(_), .. } => PartOutcome::Sealed,
            Orders::Checked { .. } | Orders::Conditions { sealed: None, .. } => PartOutcome::Checked,
            Orders::None => PartOutcome::Answered,
        }
    }
}

impl SeatLetter {
    /// Reads the part of a letter that is about one match.
    pub fn of_part(
        letter: &Letter,
        seat: Seat,
        lines: Vec<Line>,
        by_other_token: bool,
        game_match: &Match,
    ) -> SeatLetter {
        let part = LetterPart::of(&lines, by_other_token);
        SeatLetter::read(letter, seat, NewText::Lines(lines), Some(part), game_match)
    }

    /// Reads the letter again if it has a text that is passed on, which must hold no order of its player's other games
    /// either.
    pub fn check_texts(&mut self, game: GameKind, other_games: &[GameKind]) {
        let request = Request::read_with_texts(self.request.lines(), game, other_games);
        if request == self.request {
            return;
        }
        let counts = |other: &GameKind| {
            let with = Request::read_with_texts(self.request.lines(), game, slice::from_ref(other));
            with != Request::read_with_texts(self.request.lines(), game, &[])
        };
        // The ledger names no more of the player's games than it must.
        self.texts_withheld = Some(other_games.iter().copied().filter(counts).collect());
        self.request = request;
    }

    /// Returns the name of a command that is not carried out, because it needs the token of this match.
    pub(super) fn lacks_token_for(&self, command: &Command) -> Option<&'static str> {
        match command {
            _ if !self.part.is_some_and(|part| part.by_other_token) => None,
            Command::Tell(_) => Some("TELL"),
            Command::Resign { .. } => Some("RESIGN"),
            Command::Draw => Some("DRAW"),
            Command::Extend { .. } => Some("EXTEND"),
            Command::Agree => Some("AGREE"),
            Command::Claim => Some("CLAIM"),
            Command::Substitute => Some("SUBSTITUTE"),
            Command::Protest(_) => Some("PROTEST"),
            Command::Status
            | Command::Report(_)
            | Command::History
            | Command::Hint
            | Command::Absent { .. }
            | Command::Withdraw
            | Command::TellGm(_)
            | Command::Help(_)
            | Command::Games
            | Command::Rules(_)
            | Command::Matches
            | Command::Challenge { .. }
            | Command::Accept(_)
            | Command::Decline(_)
            | Command::Open { .. }
            | Command::Join(_)
            | Command::Confirm { .. }
            | Command::Deny(_)
            | Command::Never(_)
            | Command::Settings(_)
            | Command::Address { .. }
            | Command::Leave { .. }
            | Command::Gm(_) => None,
        }
    }
}
