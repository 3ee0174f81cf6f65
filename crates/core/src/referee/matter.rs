//! The matter of a ruling: its cause, with the letter as it was read.

use std::slice;

use super::words::{Passing, Words};
use crate::game::any::GameKind;
use crate::ledger::{Cause, LetterCause, TokenOf};
use crate::request::{Command, Proof, Request};

/// The subject of a ruling: a cause, whose letter has been read by [`prepare`](super::prepare). The other
/// causes are complete as they are.
pub type Matter<'a> = Cause<&'a SeatLetter>;

impl Matter<'_> {
    /// Returns the cause in the form in which a ruling's first entry records it.
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

/// A letter that is known to come from a seat, as it was read.
#[derive(Clone, Debug)]
pub struct SeatLetter {
    pub cause: LetterCause,
    pub request: Request,
    /// Its Message-ID, for the thread of a report that answers it later.
    pub message_id: Option<String>,
    /// The turn named in its subject, or by the letter it answers.
    pub thread_turn: Option<u32>,
    /// The lengths of the ledger after the rulings whose letters it answers.
    pub answers: Vec<u64>,
    /// Another match that its subject or a line names, unless a line `MATCH` names its own.
    pub other_match: Option<String>,
    /// The names of attached files, which are not read.
    pub attachments: Vec<String>,
    /// The reason why the letter's text could not be read, in one or two sentences to the player.
    pub unread: Option<String>,
}

impl SeatLetter {
    /// Returns a letter of nothing but these requests, outside any thread.
    pub fn new(cause: LetterCause, request: Request) -> SeatLetter {
        SeatLetter {
            cause,
            request,
            message_id: None,
            thread_turn: None,
            answers: Vec::new(),
            other_match: None,
            attachments: Vec::new(),
            unread: None,
        }
    }

    /// Returns the name of a command that is not carried out, because it needs the token of this match.
    pub(super) fn lacks_token_for(&self, command: &Command) -> Option<&'static str> {
        let is_good = self.cause.token == TokenOf::Own || command.proof() != Proof::MatchToken;
        (!is_good).then(|| command.name())
    }

    /// Whether the letter has orders to file, and neither a line nor its thread names their turn.
    pub(super) fn lacks_turn(&self) -> bool {
        let request = &self.request;
        !request.orders.is_empty() && !request.check && request.turn.is_none() && self.thread_turn.is_none()
    }

    /// Whether the letter may cause notices to the opponent, and whether to the GM. If not, their room does
    /// not matter, and letters that need no room are decided independently of each other.
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
        let read = |games: &[GameKind]| Request::read_with_texts(lines, game, games);
        let whole = read(&[]);
        let holds = |games: &[GameKind]| read(games) != whole;
        if !holds(other_games) {
            return;
        }
        // The ledger names no more of the player's games than it must.
        self.cause.withheld_for =
            other_games.iter().copied().filter(|other| holds(slice::from_ref(other))).collect();
        self.request = read(&self.cause.withheld_for).hold_back(self.cause.beside);
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

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::*;
    use crate::game::{Line, Seat};
    use crate::letter::Digest;

    #[test]
    fn a_greeting_beside_orders_needs_nobodys_room() {
        let tells = |token: TokenOf, lines: &[&str]| {
            let cause = LetterCause::new(Digest::of(b""), Seat::First, DateTime::UNIX_EPOCH);
            let request = Request::read(&Line::numbered(lines), GameKind::Quad);
            SeatLetter::new(LetterCause { token, ..cause }, request).tells()
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
