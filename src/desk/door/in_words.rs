//! Answers in words to our questions outside a match: a challenge, and a notice about a letter in a player's
//! name. The thread shows which question is meant.

use crate::desk::frame::asker::Asker;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::matches::offers;
use crate::game::Line;
use crate::game::any::GameKind;
use crate::ledger::without_mark;
use crate::letter::Letter;
use crate::request::wish::{
    Stance, Topic, WordAnswer, asks_or_agrees, is_bare_no, is_bare_verb, read_remarks, stance, word_answer,
};
use crate::request::{Beside, Command, NumberedCommand, Request, Writer};
use crate::store::UnprovenStage;

/// An open question to the sender, which the letter answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OpenQuestion {
    /// The code of a challenge, and its game.
    Challenge(String, GameKind),
    /// The code of a notice about a letter in the player's name.
    Unproven(String),
}

impl OpenQuestion {
    /// Returns the lines that answer the question: those that a letter in words seems to mean, or all.
    pub fn lines(&self, written: &[Line]) -> Vec<String> {
        match self {
            OpenQuestion::Challenge(code, game) => {
                let [accept, decline, never, rules] = [
                    format!("ACCEPT {code}"),
                    format!("DECLINE {code}"),
                    format!("NEVER {code}"),
                    format!("RULES {game}"),
                ];
                match stance(written, None) {
                    Stance::No => vec![decline, never],
                    Stance::Yes => vec![accept, rules],
                    Stance::Open => vec![accept, decline, never, rules],
                }
            }
            OpenQuestion::Unproven(code) => vec![format!("CONFIRM {code}"), format!("DENY {code}")],
        }
    }

    /// Returns the line that stops all questions of this kind.
    pub fn stops(&self) -> Option<String> {
        match self {
            OpenQuestion::Challenge(code, _) => Some(format!("NEVER {code}")),
            OpenQuestion::Unproven(_) => None,
        }
    }

    /// Returns the request of a letter whose whole text answers the question in words, or by a bare verb.
    pub fn answered(&self, asker: &Asker, request: &Request, lines: &[Line]) -> Option<Request> {
        if !request.commands.is_empty() || !request.orders.is_empty() {
            return None;
        }
        let answer = word_answer(lines);
        let is = |verb: &str| is_bare_verb(lines, verb);
        let command = match self {
            OpenQuestion::Challenge(code, _) => match answer {
                Some(WordAnswer::Yes) => Command::Accept(code.clone()),
                _ if is("ACCEPT") => Command::Accept(code.clone()),
                Some(WordAnswer::No) => Command::Decline(code.clone()),
                _ if is_bare_no(lines) => Command::Decline(code.clone()),
                _ if is("DECLINE") => Command::Decline(code.clone()),
                _ if is("NEVER") => Command::Never(Some(code.clone())),
                _ if wants_no_mail(lines) && asker.player_id.is_none() => Command::Never(Some(code.clone())),
                // The player may mean only this challenge, so decline it, and the answer quotes the line that
                // stops all challenges.
                _ if wants_no_mail(lines) => Command::Decline(code.clone()),
                Some(WordAnswer::WasMe) | None => return None,
            },
            OpenQuestion::Unproven(code) => match answer {
                Some(WordAnswer::WasMe) => Command::Confirm { code: code.clone(), always: false },
                _ if is("CONFIRM") => Command::Confirm { code: code.clone(), always: false },
                _ => return None,
            },
        };
        let line = lines.first().map_or(1, |line| line.no);
        let mut answered = Request::default();
        answered.commands.push(NumberedCommand { line, command });
        Some(answered)
    }
}

/// Whether a letter asks for no more mail, and neither asks a question nor says yes.
pub fn wants_no_mail(lines: &[Line]) -> bool {
    let today = chrono::NaiveDate::default();
    matches!(read_remarks(lines, "", false, today).topic, Some(Topic::LessMail | Topic::Leave))
        && !asks_or_agrees(lines)
}

/// Whether a letter asks to play or about the games, or only greets.
pub fn wants_to_play(request: &Request) -> bool {
    let today = chrono::NaiveDate::default();
    let asks = |topic| matches!(topic, Topic::Join | Topic::Rules | Topic::Opponent | Topic::Setup);
    let spoken = read_remarks(&request.remarks, "", false, today);
    request.beside(Writer::STRANGER) == Beside::Nothing
        || spoken.topic.into_iter().chain(spoken.also).any(asks)
}

/// Returns the open question that a letter answers, if there is one.
pub fn question_of(desk: &Desk<'_>, asker: &Asker, letter: &Letter) -> Decided<Option<OpenQuestion>> {
    for id in letter.answered_ids() {
        let local = without_mark(id.split('@').next().unwrap_or_default());
        // The Message-IDs of a challenge and of a notice contain their codes, which nobody else was told.
        if let Some(code) = local.strip_prefix("c.") {
            let code = code.to_ascii_uppercase();
            let open = offers::open_offer(desk, &code)?;
            if let Some(row) = open.filter(|row| row.invited.as_deref().is_some_and(|to| asker.is(to))) {
                return Ok(Some(OpenQuestion::Challenge(code, row.game)));
            }
        }
        if let (Some(notice), Some(player)) = (local.strip_prefix("u."), asker.player_id) {
            let code = notice.split('.').next().unwrap_or_default();
            let mut known = desk.rows.unproven_of(player)?.iter();
            let found =
                known.find(|row| row.code.eq_ignore_ascii_case(code) && row.stage == UnprovenStage::Open);
            if let Some(row) = found {
                return Ok(Some(OpenQuestion::Unproven(row.code.clone())));
            }
        }
    }
    Ok(None)
}
