//! Rulings on a seat's letter: first its orders, all or none, then its commands, one by one.

use chrono::{DateTime, NaiveDate};
use chrono_tz::Tz;

use super::doubtful;
use super::faults::quoted_lines;
use super::filing;
use super::house;
use super::life::Draft;
use super::questions::Questions;
use super::refusal;
use super::schedule::{Absence, Press};
use super::stage::Stage;
use super::substitute;
use super::together::{Taken, repeats_acts, taken_together};
use super::words::{self, games_in, without_order_lines};
use super::{Answer, Content, Notice, Orders, Passing, Reader, Rejection, Reply, SeatLetter, Words};
use crate::game::Seat;
use crate::game::any::GameKind;
use crate::game::record::Ending;
use crate::ledger::{Fact, PauseReason, Permission, Receipts, Room, TokenOf};
use crate::request::Command;

/// Longest extension that the players can agree on at a time, in days.
const EXTENSION_DAYS_AT_MOST: u32 = 30;

/// Rules on a letter. Its answer goes out before the reports and notices that it causes.
pub(super) fn rule(draft: &mut Draft, letter: &SeatLetter) {
    let written = letter;
    let letter = &*doubtful::with_offered_orders(letter, &draft.game_match);
    let (request, cause, seat) = (&letter.request, &letter.cause, letter.cause.seat);
    let mut answer = Answer {
        to: Some(cause.letter),
        remarks: request.remarks.clone(),
        unread: letter.unread.clone(),
        token_renewed: cause.shows_token,
        accepted_since: cause.accepted_by.as_ref().map(|_| cause.received),
        attachments: letter.attachments.clone(),
        left_out: request.left_out,
        ..Answer::default()
    };
    draft.game_match.away[seat] = false;
    if cause.shows_token {
        draft.record(Fact::TokenRenewed { seat });
    }
    // Every letter leaves an entry, even one that asks nothing or arrives after the end: the ledger cites all letters.
    let asks = !request.commands.is_empty() || request.orders.is_empty() || draft.game_match.due().is_none();
    let place = draft.reserve_answer(seat);
    if request.orders.is_empty() {
        answer.faults = request.all_faults();
        if !request.sections.is_empty() {
            answer.faults.extend(doubtful::match_fault(letter, &draft.game_match));
        }
    } else {
        answer.replaced = draft.game_match.game.replaced(&request.orders);
        draft.game_match.offered[seat] = None;
        (answer.orders, answer.offered) = filing::seal_orders(draft, letter, &answer.replaced);
    }
    answer.replies = follow_commands(draft, letter);
    if cause.left_out > 0 {
        answer.replies.push(Reply::LeftOut { count: cause.left_out });
    }
    let words = pass_words_on(letter, &mut answer);
    if asks {
        let asked =
            request.commands.iter().filter_map(|asked| request.written(asked.line)).map(first_word).collect();
        draft.record(Fact::LetterAnswered { seat, asked });
    }
    answer.quoted = quoted_lines(request, answer.all_faults());
    refusal::note(draft, letter, &answer);
    let sealed = matches!(answer.orders, Orders::Sealed { .. });
    let offers_draw = answer.replies.contains(&Reply::DrawOffered);
    // Pages in front of a report could cut it, and REPORT and HISTORY repeat only what is short enough.
    let merges = !answer.replies.iter().any(Reply::may_be_long);
    // A new token must reach its player, whatever else was sent.
    let is_held = cause.answer == Permission::Held && !cause.shows_token;
    let is_unwanted = is_unwanted(draft, seat, &answer);
    draft.put_answer(place, answer);
    if is_unwanted {
        draft.drop_answer(place);
    }
    let mut is_merged = false;
    if sealed {
        draft.adjudicate_if_complete();
        is_merged = !is_unwanted && merges && draft.merge_answer_into_report(place, seat);
        // Adjudication clears offers, but this one came with the orders: it stands until the next adjudication.
        if offers_draw && draft.game_match.stage != Stage::Over {
            draft.game_match.draw_offer = Some(seat);
        }
    }
    if is_held && !is_unwanted && !is_merged {
        draft.hold_answer(place);
    }
    if let Some(Words { passing: Passing::AtOnce, text }) = words {
        tell_gm(draft, seat, &text, &games_in(request, draft.game_match.game));
    }
    draft.game_match.past.note_ruling(Some(written), draft.at);
}

/// Whether an answer is a receipt that the seat's player does not want.
fn is_unwanted(draft: &Draft, seat: Seat, answer: &Answer) -> bool {
    answer.is_plain_receipt() && draft.game_match.settings[seat].receipts == Receipts::Faults
}

/// Returns the words of a letter that go to the GM, and notes in the answer what becomes of them.
fn pass_words_on(letter: &SeatLetter, answer: &mut Answer) -> Option<Words> {
    let request = &letter.request;
    let mut words = Words::of(request);
    if let Some(words) = words.as_mut().filter(|_| letter.cause.token == TokenOf::Other) {
        // The digest lists a letter only under the match that it answers.
        words.passing = Passing::AtOnce;
    }
    answer.passed_on = words.as_ref().map(|words| words.passing);
    answer.cuts_text = words::cuts_a_text(request, words.is_some());
    let reaches_gm = words.is_some() || answer.replies.contains(&Reply::PassedToGm);
    answer.gm_is_opponent = reaches_gm && letter.cause.gm_plays;
    words
}

/// Answers the questions in a letter, and carries out nothing.
fn answer_questions(draft: &mut Draft, letter: &SeatLetter) -> Vec<Reply> {
    let mut questions = Questions::default();
    let commands = letter.request.commands.iter().map(|asked| &asked.command);
    commands
        .map(|command| match command {
            _ if command.changes_something() => Reply::MatchOver,
            _ if questions.is_repeated(command) => Reply::Repeated,
            _ => follow_command(draft, letter, command),
        })
        .collect()
}

/// Carries out the commands of a letter, and returns a reply to each.
fn follow_commands(draft: &mut Draft, letter: &SeatLetter) -> Vec<Reply> {
    let (seat, request) = (letter.cause.seat, &letter.request);
    if draft.game_match.ended_long_ago(draft.at) {
        return answer_questions(draft, letter);
    }
    let is_followed = !request.check && letter.other_match.is_none();
    let together = is_followed && repeats_acts(request);
    draft.tells_absences_later = together;
    let mut replies = Vec::with_capacity(request.commands.len());
    let mut questions = Questions::default();
    if together {
        for taken in taken_together(request) {
            replies.push(match &taken {
                Taken::AsWritten(command) if questions.is_repeated(command) => Reply::Repeated,
                Taken::AsWritten(command) => follow_if_allowed(draft, letter, command),
                Taken::Joined(command) => follow_if_allowed(draft, letter, command),
                Taken::WithAnother => Reply::TakenTogether,
            });
        }
        tell_absences(draft, seat, &replies);
        return replies;
    }
    for asked in &request.commands {
        let (command, changes) = (asked.command.name(), asked.command.changes_something());
        replies.push(match changes {
            true if letter.other_match.is_some() => Reply::WhichMatch { command },
            true if request.check => Reply::CheckedOnly { command },
            false if questions.is_repeated(&asked.command) => Reply::Repeated,
            true | false => follow_if_allowed(draft, letter, &asked.command),
        });
    }
    replies
}

/// Tells the opponent of all absences that a letter announced.
fn tell_absences(draft: &mut Draft, seat: Seat, replies: &[Reply]) {
    let mut absences = Vec::new();
    for reply in replies {
        if let Reply::AbsenceNoted { from, to, .. } = reply {
            absences.push(Absence { from: *from, to: *to, zone: None });
        }
    }
    match absences[..] {
        [] => {}
        [Absence { from, to, .. }] => {
            notify(draft, Reader::Seat(seat.other()), Notice::Absent { seat, from, to, also: Vec::new() })
        }
        _ => notify(draft, Reader::Seat(seat.other()), Notice::Absences { seat, absences, also: Vec::new() }),
    }
}

/// Tells somebody of an act of this letter, if they have room for it.
fn notify(draft: &mut Draft, to: Reader, notice: Notice) {
    let room = match to {
        Reader::Seat(_) | Reader::Former(_) => &mut draft.opponent,
        Reader::Gm => &mut draft.gm,
    };
    if room.spend() {
        draft.dispatch(to, Content::Notice(notice));
    }
}

/// Returns the first word of a command. The ledger keeps which command was sent, not the private text after it.
fn first_word(line: &str) -> String {
    line.split_whitespace().next().unwrap_or_default().to_ascii_uppercase()
}

/// Carries out a command, unless the letter's token is not good for it.
fn follow_if_allowed(draft: &mut Draft, letter: &SeatLetter, command: &Command) -> Reply {
    match letter.lacks_token_for(command) {
        Some(command) => Reply::NeedsOwnToken { command },
        None => follow_command(draft, letter, command),
    }
}

/// Carries out a command and returns the answer.
fn follow_command(draft: &mut Draft, letter: &SeatLetter, command: &Command) -> Reply {
    let seat = letter.cause.seat;
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
        Command::Absent { from, to } if over => Reply::AbsenceElsewhere { from: *from, to: *to },
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
            draft.close(Ending::Resign(seat));
            Reply::Resigned
        }
        Command::Draw => draw(draft, seat),
        Command::Extend { days } => extend(draft, seat, *days),
        Command::Agree => agree(draft, seat),
        Command::Claim => substitute::claim(draft, seat),
        Command::Absent { from, to } => {
            let zone = draft.game_match.settings[seat].zone;
            absent(draft, seat, Absence { from: *from, to: *to, zone })
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
            tell_gm(draft, seat, text, &[draft.game_match.game]);
            Reply::PassedToGm
        }
        elsewhere => Reply::NotHere { command: elsewhere.name().to_owned() },
    }
}

/// Tells the GM something in a player's words, without orders of these games.
fn tell_gm(draft: &mut Draft, seat: Seat, text: &str, games: &[GameKind]) {
    let text = words::cut(&without_order_lines(text, games));
    notify(draft, Reader::Gm, Notice::Words { by: seat, text });
}

fn tell(draft: &mut Draft, seat: Seat, text: &str) -> Reply {
    if draft.game_match.house[seat.other()].is_some() {
        return Reply::HouseReadsNothing;
    }
    match draft.game_match.terms.press {
        Press::None => Reply::NoPress,
        Press::Signed if draft.opponent == Room::Unreachable => Reply::MessageUndeliverable,
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
        draft.close(Ending::Draw);
        return Reply::DrawAgreed;
    }
    if draft.game_match.draw_offer.replace(seat).is_none() {
        draft.record(Fact::DrawOffered { seat });
        notify(draft, Reader::Seat(seat.other()), Notice::DrawOffered { by: seat });
    }
    Reply::DrawOffered
}

fn extend(draft: &mut Draft, seat: Seat, days: u32) -> Reply {
    if draft.game_match.has_vanished(seat) {
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
    if draft.game_match.vanished_from(seat).is_some() {
        return substitute::agree(draft, seat);
    }
    match draft.game_match.extension {
        Some((by, days)) if by != seat => {
            draft.extend(days);
            notify(draft, Reader::Seat(by), Notice::Extended { days });
            Reply::ExtensionAgreed
        }
        Some(_) | None => substitute::agree(draft, seat),
    }
}

/// Notes an absence that was announced in another match of the seat's player. Nobody is told here.
pub(super) fn note_absence(
    draft: &mut Draft,
    seat: Seat,
    from: NaiveDate,
    to: NaiveDate,
) -> Result<(), Rejection> {
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
    let today = draft.at.with_timezone(&draft.game_match.zone_of(seat)).date_naive();
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
    let worded = |at: DateTime<Tz>| at.format("%a %-d %b %Y, %H:%M %Z").to_string();
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
        let moved = draft.game_match.terms.extended(deadline, 0, &draft.absences_of(&due));
        if moved != deadline {
            draft.move_deadline(moved);
            draft.record(Fact::DeadlineExtended { days: 0, deadline: moved });
        }
    }
    // Several absences of one letter are told together.
    if !draft.tells_absences_later {
        notify(draft, Reader::Seat(seat.other()), Notice::Absent { seat, from, to, also: Vec::new() });
    }
    noted
}

fn protest(draft: &mut Draft, letter: &SeatLetter, text: &str) -> Reply {
    let seat = letter.cause.seat;
    if draft.game_match.past.is_protest_spent(seat) {
        draft.record(Fact::Protested { seat, passed_on: true });
        let games = [draft.game_match.game];
        tell_gm(draft, seat, text, &games);
        return Reply::ProtestPassedOn;
    }
    draft.record(Fact::Protested { seat, passed_on: false });
    draft.game_match.protest = Some(seat);
    let text = Some(words::cut(&without_order_lines(text, &[draft.game_match.game])));
    let turn = letter.request.turn.or(letter.thread_turn);
    let last = draft.game_match.adjudicated.last().map(|(_, turn, _)| *turn);
    notify(draft, Reader::Gm, Notice::Protested { by: seat, text, turn, last });
    let to_opponent = Notice::Protested { by: seat, text: None, turn: None, last: None };
    notify(draft, Reader::Seat(seat.other()), to_opponent);
    if draft.game_match.stage == Stage::Running {
        draft.pause(PauseReason::Protest);
    }
    Reply::Protested
}
