//! Questions to senders: anybody can put somebody else's address on a letter. So a command that changes
//! something for a person, or makes the referee write to others, waits until its sender has answered a
//! question. The answer carries out the lines that the question showed and no others.
//!
//! Each address gets one question a day, until it answers. Lines that come meanwhile get a question of their
//! own, which goes out with the answer to the first one, or a day later.

use std::collections::BTreeMap;

use chrono::TimeDelta;

use super::player_settings;
use crate::desk::events::entering;
use crate::desk::frame::asker::Asker;
use crate::desk::frame::codes::{draw_short_code, in_code_letters};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::Decided;
use crate::desk::frame::standing;
use crate::desk::matches::{meeting, membership, offers};
use crate::game::Line;
use crate::referee::{HouseMatch, Offer, OfferRejection, Reply};
use crate::report::AskedSender;
use crate::request::{Command, Party, Request};
use crate::store::BudgetQuestion;

/// Days for which commands wait for the answer.
const QUESTION_DAYS: i64 = 14;

/// Maximum commands in one question.
const MAX_WAITING: usize = 10;

/// Interval between two questions to an address that has not answered the first.
const QUESTION_INTERVAL: TimeDelta = TimeDelta::days(1);

/// Lets these commands wait for the sender's answer. Returns the question if one is due, or `None` if the
/// address was asked less than a day ago and has not answered.
pub fn ask_sender(desk: &mut Desk<'_>, asker: &Asker, lines: Vec<String>) -> Decided<Option<AskedSender>> {
    let now = desk.at();
    let open = open_questions(desk, &asker.from)?;
    let is_asked_today =
        open.iter().filter_map(|open| open.asked_at).any(|asked| asked + QUESTION_INTERVAL > now);
    let (unasked, asked): (Vec<_>, Vec<_>) = open.into_iter().partition(|open| open.asked_at.is_none());
    let mut next = match unasked.into_iter().next() {
        Some(next) => next,
        None => BudgetQuestion {
            // The code is long enough that nobody can guess it while it is valid.
            code: draw_short_code::<8>(&mut desk.random("code of a question")),
            lines: Vec::new(),
            asked_at: None,
            lapses_at: now,
        },
    };
    let is_shown = |line: &String| asked.iter().any(|open| open.lines.contains(line));
    for line in lines.iter().filter(|line| !is_shown(line)) {
        if next.lines.len() < MAX_WAITING && !next.lines.contains(line) {
            next.lines.push(line.clone());
        }
    }
    if is_asked_today {
        if !next.lines.is_empty() {
            save(desk, asker, next);
        }
        return Ok(None);
    }
    // If every line stands in an earlier letter, that question is asked again.
    let again = || asked.iter().find(|open| lines.iter().any(|line| open.lines.contains(line)));
    let question = if next.lines.is_empty() { again().cloned() } else { Some(next) };
    Ok(question.map(|question| {
        let question = save(desk, asker, BudgetQuestion { asked_at: Some(now), ..question });
        AskedSender {
            code: question.code,
            commands: question.lines,
            lapses: desk.local_time_in(asker.zone, question.lapses_at),
        }
    }))
}

/// Saves a question, which waits for the answer from now on.
fn save(desk: &mut Desk<'_>, asker: &Asker, question: BudgetQuestion) -> BudgetQuestion {
    let question = BudgetQuestion { lapses_at: desk.at() + TimeDelta::days(QUESTION_DAYS), ..question };
    let key = (asker.from.clone(), question.code.clone());
    desk.draft.changes.restraints.questions.insert(key, Some(question.clone()));
    question
}

/// Takes back a question whose letter got no slot, because nobody could answer it.
pub fn withdraw_question(desk: &mut Desk<'_>, asker: &Asker, code: String) {
    desk.draft.changes.restraints.questions.remove(&(asker.from.clone(), code));
}

/// Whether this is the code of a question to the asker.
pub fn is_open(desk: &Desk<'_>, asker: &Asker, written: &str) -> Decided<bool> {
    let code = in_code_letters(written);
    let open = open_questions(desk, &asker.from)?;
    Ok(open.iter().any(|question| question.code == code && question.asked_at.is_some()))
}

/// Returns the commands that the question with this code showed, and notes that somebody reads our letters at
/// the address.
pub fn answered_request(desk: &mut Desk<'_>, asker: &Asker, code: &str) -> Decided<Option<Request>> {
    let mut open = open_questions(desk, &asker.from)?.into_iter();
    let question = open.find(|question| question.code == code && question.asked_at.is_some());
    let Some(question) = question else { return Ok(None) };
    standing::note_known(desk, asker)?;
    desk.draft.changes.restraints.questions.insert((asker.from.clone(), question.code), None);
    let lines = (1..).zip(&question.lines).map(|(no, text)| Line { no, text: text.clone() });
    Ok(Some(Request::read(&lines.collect::<Vec<_>>(), |_: &str| false)))
}

/// Returns the rejection of a command that could not be carried out even after the sender's answer, if that
/// is already known.
pub fn rejection_at_once(desk: &Desk<'_>, asker: &Asker, command: &Command) -> Decided<Option<Reply>> {
    if let Some(why) = membership::rejection_of_newcomer(desk, asker, command) {
        return Ok(Some(Reply::NoOffer { command: command.name(), why }));
    }
    let rejection = match command {
        Command::Enter(event) => return Ok(entering::may_enter(desk, asker, event)?.err()),
        Command::LeaveEvent { event, confirmed } => {
            return Ok(entering::may_leave(desk, asker, event, *confirmed)?.err());
        }
        Command::Settings(settings) => {
            let is_refused = asker.player_id.is_none() && !player_settings::is_about_address(settings);
            return Ok(is_refused.then_some(Reply::SettingsForPlayers));
        }
        Command::ChallengeNamed { .. } | Command::Block { .. } if !meeting::reads_names(desk, asker)? => {
            Some(OfferRejection::NamesForPlayers)
        }
        Command::Challenge { opponent: Party::Player(opponent), .. }
            if opponent.base() == desk.club.config.club.address || asker.is(opponent.as_str()) =>
        {
            Some(OfferRejection::Yourself)
        }
        Command::Challenge { opponent: Party::House(level), game, options, days } => {
            HouseMatch::read(game, level.as_deref(), options, *days).err()
        }
        Command::Challenge { opponent: Party::Player(_), game, options, days }
        | Command::ChallengeNamed { game, options, days, .. }
        | Command::Open { game, options, days } => Offer::read(game, options, *days).err(),
        other => offers::code_rejection(desk, asker, other)?,
    };
    let command = command.name();
    Ok(rejection.map(|why| Reply::NoOffer { command, why }))
}

/// Returns the open questions to an address as this transaction leaves them so far.
fn open_questions(desk: &Desk<'_>, address: &str) -> Decided<Vec<BudgetQuestion>> {
    let stored = &desk.rows.sender(address)?.questions;
    let mut latest: BTreeMap<&str, Option<&BudgetQuestion>> = BTreeMap::new();
    // The changes of this letter come first.
    for ((to, code), question) in desk.restraints().flat_map(|changed| &changed.questions) {
        if to == address {
            latest.entry(code).or_insert(question.as_ref());
        }
    }
    for question in stored {
        latest.entry(&question.code).or_insert(Some(question));
    }
    let open = latest.into_values().flatten().filter(|question| question.lapses_at > desk.at());
    Ok(open.cloned().collect())
}
