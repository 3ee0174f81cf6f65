//! Rulings on a seat's letter: first its orders, all or none, then its commands, one by one.

use serde::Serialize;

use super::confirmation::superseded;
use super::earlier::repeat_fault;
use super::house;
use super::life::{Draft, FiledOrders, Stage};
use super::schedule::{Absence, Press};
use super::together::{NoticeLimits, Taken, repeats_acts, taken_together};
use super::{
    Answer, Confirmation, Content, MatchSummary, Notice, OfferRejection, OfferSummary, OpenSeat, Orders,
    Reader, SeatLetter,
};
use crate::game::any::{Filing, GameKind};
use crate::game::record::Ending;
use crate::game::{Due, Fault, Line, Seat};
use crate::ledger::{self, Fact};
use crate::request::{Command, Request};

/// Longest extension that the players can agree on at a time, in days.
const EXTENSION_DAYS_AT_MOST: u32 = 30;

/// The answer to one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "what", rename_all = "snake_case")]
pub enum Reply {
    Status,
    /// An earlier report: the one on `turn`, or the last one if no turn is given.
    Report {
        turn: Option<u32>,
    },
    History,
    Help {
        topic: Option<String>,
    },
    /// The shell fills in the open seats.
    Games {
        seats: Vec<OpenSeat>,
    },
    Rules {
        game: Option<String>,
    },
    /// The shell fills in the sender's matches.
    Matches {
        matches: Vec<MatchSummary>,
    },
    /// Without the code, which goes to the challenged person alone.
    Challenged {
        to: String,
        offer: OfferSummary,
        lapses: String,
    },
    Opened {
        code: String,
        offer: OfferSummary,
        lapses: String,
    },
    /// ACCEPT or JOIN has opened a match.
    Joined {
        match_id: String,
    },
    Declined,
    /// The commands that waited for the sender's answer, and their replies.
    Confirmed {
        replies: Vec<Reply>,
    },
    /// No question to the sender has this code.
    NoQuestion {
        code: String,
    },
    /// The command waits for the answer to a question that was sent earlier.
    Waits {
        command: &'static str,
    },
    /// Whether the sender can be challenged from now on.
    Challenges {
        on: bool,
    },
    /// NEVER without the code of an invitation, in a letter without a token.
    NeverWithoutCode,
    /// So many answers to the sender were left out before this one. The shell fills in the number.
    LeftOut {
        count: u32,
    },
    /// CONFIRM: these letters from `address` are followed now, and with `added` all later ones too.
    LettersConfirmed {
        address: String,
        letters: usize,
        added: bool,
        /// ALWAYS was asked for, but the address is another player's.
        taken: bool,
    },
    /// DENY: the letters are discarded, and the seats in these matches have new reply tokens.
    LettersDenied {
        matches: Vec<String>,
    },
    /// CONFIRM or DENY names no letter that waits for the sender's word.
    NothingToConfirm {
        code: String,
    },
    /// CHALLENGE, OPEN, ACCEPT, DECLINE or JOIN had no effect.
    NoOffer {
        command: &'static str,
        why: OfferRejection,
    },
    /// The letter says `CHECK`, so this command changed nothing.
    CheckedOnly {
        command: &'static str,
    },
    /// The message was passed on. Templates know it by its old name.
    #[serde(rename = "told")]
    MessagePassed,
    NoPress,
    /// The message was not passed on: the opponent has had too many letters from the sender today.
    MessageHeldBack,
    /// The GM was not asked: the GM has had too many letters from the sender today.
    RequestHeldBack,
    /// The command was carried out together with another of its kind.
    TakenTogether,
    Resigned,
    /// `RESIGN` without `CONFIRM`.
    ResignUnconfirmed,
    DrawOffered,
    DrawAgreed,
    ExtensionAsked {
        days: u32,
    },
    ExtensionTooLong {
        most: u32,
    },
    ExtensionAgreed,
    NothingToAgree,
    /// There is no deadline to move, because the house is to move.
    NoDeadline,
    /// The house does not read messages.
    HouseReadsNothing,
    /// The house never agrees to a draw.
    HousePlaysOn,
    AbsenceNoted {
        from: chrono::NaiveDate,
        to: chrono::NaiveDate,
    },
    /// `left` days of absence remain in the match.
    AbsenceRefused {
        from: chrono::NaiveDate,
        to: chrono::NaiveDate,
        left: i64,
    },
    SubstituteAsked,
    Protested,
    /// The match is over, so the command has no effect.
    MatchOver,
    /// The command belongs in a letter without a match, or in the GM's letters.
    NotHere {
        command: String,
    },
}

impl Reply {
    /// Answers RULES: names the game by its key, or as written if there is no such game.
    pub fn rules(game: Option<&str>) -> Reply {
        let game = game.map(|name| match GameKind::parse(name) {
            Some(kind) => kind.key().to_owned(),
            None => name.to_owned(),
        });
        Reply::Rules { game }
    }
}

/// Rules on a letter. Its answer goes out before the reports and notices that it causes.
pub(super) fn rule(draft: &mut Draft, letter: &SeatLetter) {
    let request = &letter.request;
    let mut answer = Answer {
        to: Some(letter.digest),
        remarks: request.remarks.clone(),
        unread: letter.unread.clone(),
        token_renewed: letter.shows_token,
        ..Answer::default()
    };
    draft.game_match.away[letter.seat] = false;
    if let Some(Confirmation { by, arrived }) = letter.confirmation {
        draft.record(Fact::LetterConfirmed { seat: letter.seat, by, arrived });
    }
    if letter.shows_token {
        draft.record(Fact::TokenRenewed { seat: letter.seat });
    }
    // Every letter leaves an entry, even one that asks nothing or arrives after the end: the ledger cites all letters.
    let asks = !request.commands.is_empty() || request.orders.is_empty() || draft.game_match.due().is_none();
    let place = draft.reserve_answer(letter.seat);
    if request.orders.is_empty() {
        answer.faults = request.faults.clone();
    } else {
        answer.replaced = draft.game_match.game.replaced(&request.orders);
        answer.orders = seal_orders(draft, letter, &answer.replaced);
    }
    answer.replies = follow_commands(draft, letter);
    if letter.limits.tells_left_out {
        draft.record(Fact::LeftOutTold { seat: letter.seat });
        answer.replies.push(Reply::LeftOut { count: 0 });
    }
    if asks {
        let asked =
            request.commands.iter().filter_map(|asked| request.written(asked.line)).map(first_word).collect();
        draft.record(Fact::LetterAnswered { seat: letter.seat, asked });
    }
    answer.quoted = answer
        .all_faults()
        .filter_map(|fault| fault.line)
        .filter_map(|no| quoted_line(request, no))
        .collect();
    let sealed = matches!(answer.orders, Orders::Sealed { .. });
    let offers_draw = answer.replies.contains(&Reply::DrawOffered);
    draft.put_answer(place, answer);
    if letter.answer_suppressed {
        draft.withhold_answer(place);
        draft.record(Fact::AnswerHeldBack { seat: letter.seat });
    }
    if sealed {
        draft.adjudicate_if_complete();
        // Adjudication clears offers, but this one came with the orders: it stands until the next adjudication.
        if offers_draw && draft.game_match.stage != Stage::Over {
            draft.game_match.draw_offer = Some(letter.seat);
        }
    }
}

/// Answers the questions in a letter, and carries out nothing.
fn answer_questions(draft: &mut Draft, letter: &SeatLetter) -> Vec<Reply> {
    let commands = letter.request.commands.iter().map(|asked| &asked.command);
    commands
        .map(|command| match changing_command(command) {
            Some(_) => Reply::MatchOver,
            None => follow_command(draft, letter.seat, command),
        })
        .collect()
}

/// Carries out the commands of a letter, and returns a reply to each.
fn follow_commands(draft: &mut Draft, letter: &SeatLetter) -> Vec<Reply> {
    let SeatLetter { seat, request, limits, .. } = letter;
    if letter.questions_only {
        return answer_questions(draft, letter);
    }
    let together = limits.together && !request.check && repeats_acts(request);
    draft.limits = NoticeLimits { together, ..*limits };
    if together {
        draft.record(Fact::ActsTakenTogether { seat: *seat });
    }
    if limits.spares_opponent {
        draft.record(Fact::OpponentSpared { seat: *seat });
    }
    if limits.spares_gm {
        draft.record(Fact::GmSpared { seat: *seat });
    }
    let mut replies = Vec::with_capacity(request.commands.len());
    if together {
        for taken in taken_together(request) {
            replies.push(match &taken {
                Taken::AsWritten(command) => follow_command(draft, *seat, command),
                Taken::Joined(command) => follow_command(draft, *seat, command),
                Taken::WithAnother => Reply::TakenTogether,
            });
        }
        tell_absences(draft, *seat, &replies);
        return replies;
    }
    for asked in &request.commands {
        replies.push(match changing_command(&asked.command) {
            Some(command) if request.check => Reply::CheckedOnly { command },
            Some(_) | None => follow_command(draft, *seat, &asked.command),
        });
    }
    replies
}

/// Tells the opponent of all absences that a letter announced.
fn tell_absences(draft: &mut Draft, seat: Seat, replies: &[Reply]) {
    let mut absences = Vec::new();
    for reply in replies {
        if let Reply::AbsenceNoted { from, to } = reply {
            absences.push(Absence { from: *from, to: *to });
        }
    }
    match absences[..] {
        [] => {}
        [Absence { from, to }] => {
            notify(draft, Reader::Seat(seat.other()), Notice::Absent { seat, from, to })
        }
        _ => notify(draft, Reader::Seat(seat.other()), Notice::Absences { seat, absences }),
    }
}

/// Tells somebody of an act of this letter, unless they have been told too much already.
fn notify(draft: &mut Draft, to: Reader, notice: Notice) {
    let is_spared = match to {
        Reader::Seat(_) | Reader::Former(_) => draft.limits.spares_opponent,
        Reader::Gm => draft.limits.spares_gm,
    };
    if !is_spared {
        draft.dispatch(to, Content::Notice(notice));
    }
}

/// Returns the first word of a command. The ledger keeps which command was sent, not the private text after it.
fn first_word(line: &str) -> String {
    line.split_whitespace().next().unwrap_or_default().to_ascii_uppercase()
}

/// Seals the orders of a letter, all or none. `replaced` holds the lines that a later line overrides.
fn seal_orders(draft: &mut Draft, letter: &SeatLetter, replaced: &[Line]) -> Orders {
    let (seat, request) = (letter.seat, &letter.request);
    let Some(due) = draft.game_match.due() else {
        let fault = Fault::whole("The match is over; no orders are taken any more.");
        return Orders::Refused { faults: vec![fault], check: request.check };
    };
    let (phase, turn) = (due.phase, due.turn);
    let orders = request.orders.iter().map(|line| line.text.clone()).collect();
    match check_orders(draft, letter, &due, replaced) {
        Err(faults) if request.check => {
            draft.record(Fact::OrdersChecked { seat, phase, turn, orders, faults: faults.clone() });
            Orders::Refused { faults, check: true }
        }
        Err(faults) => {
            draft.record(Fact::OrdersRefused { seat, phase, turn, orders, faults: faults.clone() });
            Orders::Refused { faults, check: false }
        }
        Ok(filing) if request.check => {
            draft.record(Fact::OrdersChecked { seat, phase, turn, orders, faults: Vec::new() });
            Orders::Checked { filing }
        }
        Ok(filing) => {
            let wait = request.wait;
            let orders = filing.lines();
            let sealed = ledger::seal_digest(&draft.next_salt(), &orders);
            draft.record(Fact::OrdersSealed { seat, phase, turn, orders, wait, sealed });
            let filed = FiledOrders { filing: filing.clone(), at: draft.at, wait };
            let replaced = draft.game_match.held[seat].replace(filed).is_some();
            draft.game_match.missed[seat] = 0;
            Orders::Sealed { filing, sealed, wait, replaced }
        }
    }
}

/// Checks a letter's orders. Reports only the first of these: faults found by the parser, a wrong turn or seat, faults
/// of the filing against what the seat can see.
fn check_orders(
    draft: &Draft,
    letter: &SeatLetter,
    due: &Due,
    replaced: &[Line],
) -> Result<Filing, Vec<Fault>> {
    let (seat, request) = (letter.seat, &letter.request);
    if !request.faults.is_empty() {
        return Err(request.faults.clone());
    }
    if let Some(fault) = turn_fault(draft, due, request.turn.or(letter.thread_turn)) {
        return Err(vec![fault]);
    }
    if !due.seats.contains(&seat) {
        return Err(vec![Fault::whole(not_due(draft, due))]);
    }
    if let Some(fault) = letter.confirmation.and_then(|found| superseded(draft, seat, due, &found)) {
        return Err(vec![fault]);
    }
    let state = &draft.game_match.state;
    let sealed = state.seal(seat, &without_replaced(&request.orders, replaced));
    let filing = sealed.or_else(|faults| match state.missed(seat) {
        Some(assumed) if only_holds(&request.orders) => Ok(assumed),
        Some(_) | None => Err(faults),
    })?;
    match repeat_fault(&letter.earlier, due, &filing.lines()).filter(|_| letter.lacks_turn()) {
        Some(fault) => Err(vec![fault]),
        None => Ok(filing),
    }
}

/// Whether `HOLD` is the only order. In a game without that order, it stands for the filing that the rules assume.
fn only_holds(lines: &[Line]) -> bool {
    matches!(lines, [only] if only.text.eq_ignore_ascii_case("hold"))
}

fn without_replaced(lines: &[Line], replaced: &[Line]) -> Vec<Line> {
    lines.iter().filter(|line| !replaced.contains(line)).cloned().collect()
}

/// Refuses orders for a turn other than the open one. `named` is the turn that the letter names, or the letter it
/// answers.
fn turn_fault(draft: &Draft, due: &Due, named: Option<u32>) -> Option<Fault> {
    let named = named.filter(|named| *named != due.turn)?;
    let open = match due.turn {
        0 => "the setup is open".to_owned(),
        turn => format!("turn {turn} is open"),
    };
    let decided = draft.game_match.adjudicated.iter().rev().find(|(_, turn, _)| *turn == named);
    Some(Fault::whole(match decided {
        Some((_, _, at)) => {
            let local = at.with_timezone(&draft.game_match.terms.zone);
            let what = if named == 0 { "The setup".to_owned() } else { format!("Turn {named}") };
            format!("{what} was adjudicated on {}; {open}.", local.format("%a %-d %b at %H:%M %Z"))
        }
        None => format!("These orders are for turn {named}; {open}."),
    }))
}

fn not_due(draft: &Draft, due: &Due) -> String {
    let names: Vec<&str> = due.seats.iter().map(|seat| draft.game_match.players[*seat].as_str()).collect();
    format!("It is not your move: {} is to move.", names.join(" and "))
}

/// Returns the name of a command that changes something, which `CHECK` suppresses; `None` for other commands.
pub fn changing_command(command: &Command) -> Option<&'static str> {
    match command {
        Command::Tell(_) => Some("TELL"),
        Command::Resign { .. } => Some("RESIGN"),
        Command::Draw => Some("DRAW"),
        Command::Extend { .. } => Some("EXTEND"),
        Command::Agree => Some("AGREE"),
        Command::Absent { .. } => Some("ABSENT"),
        Command::Substitute => Some("SUBSTITUTE"),
        Command::Protest(_) => Some("PROTEST"),
        Command::Challenge { .. } => Some("CHALLENGE"),
        Command::Accept(_) => Some("ACCEPT"),
        Command::Decline(_) => Some("DECLINE"),
        Command::Open { .. } => Some("OPEN"),
        Command::Join(_) => Some("JOIN"),
        Command::Confirm { .. } => Some("CONFIRM"),
        Command::Deny(_) => Some("DENY"),
        Command::Never(_) => Some("NEVER"),
        Command::Settings(_) => Some("SETTINGS"),
        Command::Status
        | Command::Report(_)
        | Command::History
        | Command::Help(_)
        | Command::Games
        | Command::Rules(_)
        | Command::Matches
        | Command::Gm(_) => None,
    }
}

/// Carries out a command and returns the answer.
fn follow_command(draft: &mut Draft, seat: Seat, command: &Command) -> Reply {
    let over = draft.game_match.stage == Stage::Over;
    match command {
        Command::Status => Reply::Status,
        Command::Report(turn) => Reply::Report { turn: *turn },
        Command::History => Reply::History,
        Command::Help(topic) => Reply::Help { topic: topic.clone() },
        Command::Games => Reply::Games { seats: Vec::new() },
        Command::Rules(game) => Reply::rules(game.as_deref()),
        Command::Matches => Reply::Matches { matches: Vec::new() },
        Command::Tell(text) => tell(draft, seat, text),
        Command::Resign { .. }
        | Command::Draw
        | Command::Extend { .. }
        | Command::Agree
        | Command::Absent { .. }
        | Command::Substitute
            if over =>
        {
            Reply::MatchOver
        }
        Command::Resign { confirmed: false } => Reply::ResignUnconfirmed,
        Command::Resign { confirmed: true } => {
            draft.close(Ending::Resign(seat));
            Reply::Resigned
        }
        Command::Draw => draw(draft, seat),
        Command::Extend { days } => extend(draft, seat, *days),
        Command::Agree => agree(draft, seat),
        Command::Absent { from, to } => absent(draft, seat, Absence { from: *from, to: *to }),
        Command::Substitute => {
            if draft.limits.spares_gm {
                return Reply::RequestHeldBack;
            }
            draft.record(Fact::SubstituteAsked { seat });
            notify(draft, Reader::Gm, Notice::SubstituteAsked { by: seat });
            Reply::SubstituteAsked
        }
        Command::Protest(text) => protest(draft, seat, text),
        Command::Challenge { .. } => Reply::NotHere { command: "CHALLENGE".to_owned() },
        Command::Accept(_) => Reply::NotHere { command: "ACCEPT".to_owned() },
        Command::Decline(_) => Reply::NotHere { command: "DECLINE".to_owned() },
        Command::Open { .. } => Reply::NotHere { command: "OPEN".to_owned() },
        Command::Join(_) => Reply::NotHere { command: "JOIN".to_owned() },
        Command::Confirm { .. } => Reply::NotHere { command: "CONFIRM".to_owned() },
        Command::Deny(_) => Reply::NotHere { command: "DENY".to_owned() },
        Command::Never(_) => Reply::NotHere { command: "NEVER".to_owned() },
        Command::Settings(_) => Reply::NotHere { command: "SETTINGS".to_owned() },
        Command::Gm(_) => Reply::NotHere { command: "GM".to_owned() },
    }
}

fn tell(draft: &mut Draft, seat: Seat, text: &str) -> Reply {
    if draft.game_match.house[seat.other()].is_some() {
        return Reply::HouseReadsNothing;
    }
    match draft.game_match.terms.press {
        Press::None => Reply::NoPress,
        Press::Signed if draft.limits.spares_opponent => Reply::MessageHeldBack,
        Press::Signed => {
            draft.record(Fact::MessagePassed { from: seat });
            let message = Notice::Message { by: seat, text: text.to_owned() };
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
    match draft.game_match.extension {
        Some((by, days)) if by != seat => {
            draft.extend(days);
            notify(draft, Reader::Seat(by), Notice::Extended { days });
            Reply::ExtensionAgreed
        }
        Some(_) | None => Reply::NothingToAgree,
    }
}

fn absent(draft: &mut Draft, seat: Seat, absence: Absence) -> Reply {
    let Absence { from, to } = absence;
    let most = i64::from(draft.game_match.terms.absence_days);
    let taken = Absence::total_days(&draft.game_match.absences[seat]);
    let today = draft.at.with_timezone(&draft.game_match.terms.zone).date_naive();
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
    // The absence adds no day to those already announced.
    if total == taken {
        return Reply::AbsenceNoted { from, to };
    }
    draft.game_match.absences[seat] = absences;
    draft.record(Fact::AbsenceNoted { seat, from, to });
    // The deadline may now fall into the absence.
    if let (Some(due), Some(deadline)) = (draft.game_match.due(), draft.game_match.deadline) {
        let moved = draft.game_match.terms.extended(deadline, 0, &draft.absences_of(&due));
        if moved != deadline {
            draft.move_deadline(moved);
            draft.record(Fact::DeadlineExtended { days: 0, deadline: moved });
        }
    }
    // Several absences of one letter are told together.
    if !draft.limits.together {
        notify(draft, Reader::Seat(seat.other()), Notice::Absent { seat, from, to });
    }
    Reply::AbsenceNoted { from, to }
}

fn protest(draft: &mut Draft, seat: Seat, text: &str) -> Reply {
    draft.record(Fact::Protested { seat });
    draft.game_match.protest = Some(seat);
    let text = Some(text.to_owned());
    notify(draft, Reader::Gm, Notice::Protested { by: seat, text });
    notify(draft, Reader::Seat(seat.other()), Notice::Protested { by: seat, text: None });
    if draft.game_match.stage == Stage::Running {
        draft.pause("a protest is before the GM");
    }
    Reply::Protested
}

/// Returns line `no` of the letter as written, to quote in a fault.
fn quoted_line(request: &Request, no: usize) -> Option<Line> {
    request.written(no).map(|text| Line { no, text: text.to_owned() })
}
