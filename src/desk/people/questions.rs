//! Questions to senders: anybody can put somebody else's address on a letter. So a command that makes the
//! referee write to others, or that lists something in public, waits until a sender without proof has
//! answered a question. Each address gets one question a day, about all its waiting commands.

use chrono::TimeDelta;

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
use crate::store::{Invitation, Question};

/// Days for which commands wait for the answer.
const QUESTION_DAYS: i64 = 14;

/// Maximum commands that wait for the answer from one address.
const MAX_WAITING: usize = 10;

/// Interval at which a question is asked again.
const QUESTION_INTERVAL: TimeDelta = TimeDelta::days(1);

/// Lets these commands wait for the sender's answer. Returns the question if it is due, or `None` if it was
/// asked less than a day ago.
pub fn ask_sender(desk: &mut Desk<'_>, asker: &Asker, lines: Vec<String>) -> Decided<Option<AskedSender>> {
    let address = asker.from.as_str();
    let open = open_question(desk, address)?;
    let is_due = open.as_ref().is_none_or(|open| open.asked_at + QUESTION_INTERVAL <= desk.at());
    let now = desk.at();
    let mut question = match open {
        Some(open) => open,
        None => Question {
            // The code is long enough that nobody can guess it while it is valid.
            code: draw_short_code::<8>(&mut desk.random()),
            lines: Vec::new(),
            asked_at: now,
            lapses_at: now,
        },
    };
    for line in lines {
        if question.lines.len() < MAX_WAITING && !question.lines.contains(&line) {
            question.lines.push(line);
        }
    }
    if is_due {
        question.asked_at = now;
        question.lapses_at = now + TimeDelta::days(QUESTION_DAYS);
    }
    let asked = is_due.then(|| AskedSender {
        code: question.code.clone(),
        commands: question.lines.clone(),
        lapses: desk.local_time_in(asker.zone, question.lapses_at),
    });
    desk.draft.changes.restraints.questions.insert(address.to_owned(), Some(question));
    Ok(asked)
}

/// Takes back a question whose letter got no slot, because nobody could answer it.
pub fn withdraw_question(desk: &mut Desk<'_>, asker: &Asker) {
    desk.draft.changes.restraints.questions.remove(&asker.from);
}

/// Returns the commands that waited for this code, and marks the address as known.
pub fn answered(desk: &mut Desk<'_>, asker: &Asker, code: &str) -> Decided<Option<Request>> {
    let question = open_question(desk, &asker.from)?.filter(|question| question.code == code);
    let Some(question) = question else { return Ok(None) };
    standing::note_known(desk, asker)?;
    desk.draft.changes.restraints.questions.insert(asker.from.clone(), None);
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
        Command::ChallengeNamed { .. } if !meeting::reads_names(desk, asker)? => {
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
        Command::Join(code) => {
            let code = in_code_letters(code);
            let is_open_seat = |row: &Invitation| row.invited.is_none();
            match offers::open_offer(desk, &code)?.filter(is_open_seat) {
                Some(_) => None,
                None => Some(offers::no_such_code(desk, code, is_open_seat)?),
            }
        }
        // Only SETTINGS and ENTER are left; neither can be rejected yet.
        other => {
            debug_assert!(matches!(other, Command::Settings(_) | Command::Enter(_)));
            None
        }
    };
    let command = command.name();
    Ok(rejection.map(|why| Reply::NoOffer { command, why }))
}

/// Whether a command waits until its sender is known: it would make the referee write to others, open a
/// match, list a seat, or lift what the owner of the address has asked for.
pub fn waits_for_answer(asker: &Asker, command: &Command) -> bool {
    // If a required signature is missing, the command is refused anyway.
    let is_doubtful = asker.proven && !asker.is_known;
    match command {
        Command::Challenge { .. }
        | Command::ChallengeNamed { .. }
        | Command::Open { .. }
        | Command::Join(_)
        | Command::Enter(_) => is_doubtful,
        // Only the setting `challenges` works without a token.
        Command::Settings(settings) => {
            is_doubtful && matches!(&settings[..], [(name, _)] if name == "challenges")
        }
        // The code of an invitation went to the invited address alone, and that of a question to the address
        // asked. ADDRESS and LEAVE ask a registered address first, no matter who wrote. The other commands
        // only ask, or need a seat and so a token.
        _ => false,
    }
}

/// Returns the open question to an address as this transaction leaves it so far.
fn open_question(desk: &Desk<'_>, address: &str) -> Decided<Option<Question>> {
    let asked = desk.restraints().find_map(|changed| changed.questions.get(address));
    let question = match asked {
        Some(question) => question.clone(),
        None => desk.rows.sender(address)?.question.clone(),
    };
    Ok(question.filter(|question| question.lapses_at > desk.at()))
}
