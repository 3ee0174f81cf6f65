//! The commands of a letter about its match, carried out one by one.

use chrono::{DateTime, NaiveDate};

use super::filing;
use super::together::{self, CommandTreatment, Questions};
use crate::game::Seat;
use crate::game::record::Ending;
use crate::ledger::{Allowance, Fact, PauseReason};
use crate::referee::matter::SeatLetter;
use crate::referee::play::dispatch::{Content, Notice, Reader};
use crate::referee::play::game_match::Stage;
use crate::referee::play::ruling::Draft;
use crate::referee::play::{adjudication, deadline, substitute};
use crate::referee::rejection::Rejection;
use crate::referee::reply::Reply;
use crate::referee::schedule::{Absence, Press};
use crate::referee::{house, words};
use crate::request::Command;
use crate::zone::Zone;

/// Longest extension that the players can agree on at a time, in days.
pub(super) const EXTENSION_DAYS_AT_MOST: u32 = 30;

/// Carries out the commands of a letter, and returns a reply to each.
pub fn follow(draft: &mut Draft, letter: &SeatLetter) -> Vec<Reply> {
    let request = &letter.request;
    if draft.game_match.ended_long_ago(draft.at) {
        return answer_questions(draft, letter, |_| Reply::MatchOver);
    }
    if letter.other_match.is_some() {
        return answer_questions(draft, letter, |command| Reply::WhichMatch { command });
    }
    if request.check {
        return answer_questions(draft, letter, |command| Reply::CheckedOnly { command });
    }
    draft.tells_absences_later = together::repeats_acts(request);
    let mut questions = Questions::default();
    let mut replies = Vec::with_capacity(request.commands.len());
    for taken in together::taken_together(request) {
        replies.push(match &taken {
            CommandTreatment::AsWritten(command) if questions.is_repeated(command) => Reply::Repeated,
            CommandTreatment::AsWritten(command) => follow_if_allowed(draft, letter, command),
            CommandTreatment::Joined(command) => follow_if_allowed(draft, letter, command),
            CommandTreatment::WithAnother => Reply::TakenTogether,
        });
    }
    if draft.tells_absences_later {
        tell_absences(draft, letter.cause.seat, &replies);
    }
    replies
}

/// Answers the questions in a letter without carrying out any command. `unfollowed` is the reply to any other
/// command, by its name.
fn answer_questions(
    draft: &mut Draft,
    letter: &SeatLetter,
    unfollowed: impl Fn(&'static str) -> Reply,
) -> Vec<Reply> {
    let mut questions = Questions::default();
    let commands = letter.request.commands.iter().map(|asked| &asked.command);
    commands
        .map(|command| match command {
            _ if command.changes_something() => unfollowed(command.name()),
            _ if questions.is_repeated(command) => Reply::Repeated,
            _ => follow_command(draft, letter, command),
        })
        .collect()
}

/// Notifies the opponent of all absences that a letter announced.
fn tell_absences(draft: &mut Draft, seat: Seat, replies: &[Reply]) {
    let noted = replies.iter().filter_map(|reply| match reply {
        Reply::AbsenceNoted { from, to, .. } => Some(Absence { from: *from, to: *to, zone: None }),
        _ => None,
    });
    let absences: Vec<Absence> = noted.collect();
    let also = Vec::new();
    let notice = match absences[..] {
        [] => return,
        [Absence { from, to, .. }] => Notice::Absent { seat, from, to, also },
        _ => Notice::Absences { seat, absences, also },
    };
    notify(draft, Reader::Seat(seat.other()), notice);
}

/// Notifies somebody of an act of this letter, if they have room for it.
fn notify(draft: &mut Draft, to: Reader, notice: Notice) {
    let room = match to {
        Reader::Seat(_) | Reader::Former(_) => &mut draft.opponent,
        Reader::Gm => &mut draft.gm,
    };
    if room.spend() {
        draft.dispatch(to, Content::Notice(notice));
    }
}

/// Carries out a command, if the letter's token allows it.
fn follow_if_allowed(draft: &mut Draft, letter: &SeatLetter, command: &Command) -> Reply {
    match letter.lacks_token_for(command) {
        Some(command) => Reply::NeedsOwnToken { command },
        None => follow_command(draft, letter, command),
    }
}

/// Carries out a command and returns the answer.
fn follow_command(draft: &mut Draft, letter: &SeatLetter, command: &Command) -> Reply {
    let seat = letter.cause.seat;
    let today = draft.game_match.day_of(seat, draft.at);
    let over = draft.game_match.stage == Stage::Over;
    match command {
        Command::Status => Reply::Status,
        Command::Report(turn) => Reply::Report { turn: *turn },
        Command::History => Reply::History,
        Command::Hint => house::hint(draft, letter),
        Command::Help(topic) => Reply::Help { topic: topic.clone() },
        Command::Games => Reply::Games { seats: Vec::new() },
        Command::Rules(game) => Reply::rules(game.as_deref()),
        Command::Matches => Reply::Matches { matches: Vec::new() },
        Command::Tell(text) => tell(draft, seat, text),
        Command::Absent { from, to } if over => {
            Reply::AbsenceElsewhere { from: from.unwrap_or(today), to: *to }
        }
        Command::Resign { .. }
        | Command::Draw
        | Command::Extend { .. }
        | Command::Agree
        | Command::Claim
        | Command::Substitute
            if over =>
        {
            Reply::MatchOver
        }
        Command::Resign { confirmed: false } => Reply::ResignUnconfirmed,
        Command::Resign { confirmed: true } if letter.cause.holds_resignation => Reply::ResignationHeld,
        Command::Resign { confirmed: true } => {
            adjudication::close(draft, Ending::Resign(seat));
            Reply::Resigned
        }
        Command::Draw => draw(draft, seat),
        Command::Extend { days } => extend(draft, seat, *days),
        Command::Agree => agree(draft, seat),
        Command::Claim => substitute::claim(draft, seat),
        Command::Absent { from, to } => {
            let zone = draft.game_match.settings[seat].zone;
            absent(draft, seat, Absence { from: from.unwrap_or(today), to: *to, zone })
        }
        Command::Substitute => {
            if !draft.gm.has_place() {
                return Reply::RequestHeldBack;
            }
            draft.record(Fact::SubstituteAsked { seat });
            notify(draft, Reader::Gm, Notice::SubstituteAsked { by: seat });
            Reply::SubstituteAsked
        }
        Command::Protest(text) => protest(draft, letter, text),
        Command::Withdraw => filing::withdraw(draft, seat),
        Command::TellGm(text) => {
            if !draft.gm.has_place() {
                return Reply::RequestHeldBack;
            }
            tell_gm(draft, seat, text);
            Reply::PassedToGm
        }
        elsewhere => Reply::NotHere { command: elsewhere.name().to_owned() },
    }
}

/// Passes a player's words on to the GM, without orders of the match's game.
pub fn tell_gm(draft: &mut Draft, seat: Seat, text: &str) {
    let text = words::cut(&words::without_order_lines(text, draft.game_match.game));
    let in_trouble = draft.game_match.in_trouble[seat];
    notify(draft, Reader::Gm, Notice::Words { by: seat, text, in_trouble, also: Vec::new() });
}

fn tell(draft: &mut Draft, seat: Seat, text: &str) -> Reply {
    if draft.game_match.house[seat.other()].is_some() {
        return Reply::HouseReadsNothing;
    }
    match draft.game_match.terms.press {
        Press::None => Reply::NoPress,
        Press::Signed if draft.opponent == Allowance::Unreachable => Reply::MessageUndeliverable,
        Press::Signed if !draft.opponent.has_place() => Reply::MessageHeldBack,
        Press::Signed => {
            draft.record(Fact::MessagePassed { from: seat });
            let message = Notice::Message { by: seat, text: words::cut(text) };
            notify(draft, Reader::Seat(seat.other()), message);
            Reply::MessagePassed
        }
    }
}

fn draw(draft: &mut Draft, seat: Seat) -> Reply {
    if draft.game_match.house[seat.other()].is_some() {
        return Reply::HousePlaysOn;
    }
    if draft.game_match.draw_offer == Some(seat.other()) {
        adjudication::close(draft, Ending::Draw);
        return Reply::DrawAgreed;
    }
    if draft.game_match.draw_offer.replace(seat).is_none() {
        draft.record(Fact::DrawOffered { seat });
        notify(draft, Reader::Seat(seat.other()), Notice::DrawOffered { by: seat });
    }
    Reply::DrawOffered
}

fn extend(draft: &mut Draft, seat: Seat, days: u32) -> Reply {
    if substitute::has_vanished(&draft.game_match, seat) {
        return Reply::ExtensionOfVanished;
    }
    if days == 0 || days > EXTENSION_DAYS_AT_MOST {
        return Reply::ExtensionTooLong { most: EXTENSION_DAYS_AT_MOST };
    }
    if draft.game_match.house[seat.other()].is_some() {
        return house::extend(draft, seat, days);
    }
    if draft.game_match.extension.replace((seat, days)) != Some((seat, days)) {
        draft.record(Fact::ExtensionAsked { seat, days });
        let request = Notice::ExtensionAsked { by: seat, days };
        notify(draft, Reader::Seat(seat.other()), request);
    }
    Reply::ExtensionAsked { days }
}

fn agree(draft: &mut Draft, seat: Seat) -> Reply {
    if substitute::vanished_from(&draft.game_match, seat).is_some() {
        return substitute::agree(draft, seat);
    }
    match draft.game_match.extension {
        Some((by, days)) if by != seat => {
            deadline::extend(draft, days);
            notify(draft, Reader::Seat(by), Notice::Extended { days });
            Reply::ExtensionAgreed
        }
        Some(_) | None => substitute::agree(draft, seat),
    }
}

/// Notes an absence that was announced in another match of the seat's player. Notifies nobody.
pub fn note_absence(draft: &mut Draft, seat: Seat, from: NaiveDate, to: NaiveDate) -> Result<(), Rejection> {
    let zone = draft.game_match.settings[seat].zone;
    let before = draft.game_match.absences[seat].len();
    draft.tells_absences_later = true;
    if let Reply::AbsenceRefused { left, .. } = absent(draft, seat, Absence { from, to, zone }) {
        return Err(Rejection::TooManyDays { left });
    }
    if draft.game_match.absences[seat].len() == before { Err(Rejection::Already) } else { Ok(()) }
}

fn absent(draft: &mut Draft, seat: Seat, absence: Absence) -> Reply {
    let Absence { from, to, .. } = absence;
    let most = i64::from(draft.game_match.terms.absence_days);
    let taken = Absence::total_days(&draft.game_match.absences[seat]);
    let today = draft.game_match.day_of(seat, draft.at);
    let refused = Reply::AbsenceRefused { from, to, left: (most - taken).max(0) };
    if !(1..=most).contains(&absence.days()) || to < today {
        return refused;
    }
    let mut absences = draft.game_match.absences[seat].clone();
    absences.push(absence);
    let total = Absence::total_days(&absences);
    if total > most {
        return refused;
    }
    let (begins, ends) = absence.instants(draft.game_match.terms.zone);
    let worded = |at: DateTime<Zone>| at.format("%a %-d %b %Y, %H:%M %Z").to_string();
    let noted = Reply::AbsenceNoted { from, to, begins: worded(begins), ends: worded(ends) };
    // The absence adds no day to those already announced.
    if total == taken {
        return noted;
    }
    draft.game_match.absences[seat] = absences;
    draft.record(Fact::AbsenceNoted { seat, from, to });
    // The deadline may now fall into the absence.
    if let (Some(due), Some(deadline), None) =
        (draft.game_match.due(), draft.game_match.deadline, draft.game_match.vanished)
    {
        let moved =
            draft.game_match.terms.extended(deadline, 0, &deadline::absences_of(&draft.game_match, &due));
        if moved != deadline {
            deadline::move_deadline(&mut draft.game_match, moved, draft.at);
            draft.record(Fact::DeadlineExtended { days: 0, deadline: moved });
        }
    }
    // Several absences in one letter are announced together.
    if !draft.tells_absences_later {
        notify(draft, Reader::Seat(seat.other()), Notice::Absent { seat, from, to, also: Vec::new() });
    }
    noted
}

fn protest(draft: &mut Draft, letter: &SeatLetter, text: &str) -> Reply {
    let seat = letter.cause.seat;
    if draft.game_match.past.is_protest_spent(seat) {
        draft.record(Fact::Protested { seat, passed_on: true });
        tell_gm(draft, seat, text);
        return Reply::ProtestPassedOn;
    }
    draft.record(Fact::Protested { seat, passed_on: false });
    draft.game_match.protest = Some(seat);
    let text = words::cut(&words::without_order_lines(text, draft.game_match.game));
    draft.game_match.protest_words.clone_from(&text);
    let text = Some(text);
    let turn = letter.request.turn.or(letter.thread_turn);
    let last = draft.game_match.adjudicated.last().map(|(_, turn, _)| *turn);
    let own = draft.game_match.past.last_turn_of(seat);
    notify(draft, Reader::Gm, Notice::Protested { by: seat, text, turn, last, own });
    let to_opponent = Notice::Protested { by: seat, text: None, turn: None, last: None, own: None };
    notify(draft, Reader::Seat(seat.other()), to_opponent);
    if draft.game_match.stage == Stage::Running {
        draft.pause(PauseReason::Protest);
    }
    Reply::Protested
}
