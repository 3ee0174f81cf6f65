//! Letters that leave a doubt about the lines or the match that they mean. Nothing is filed, and the answer
//! asks.
//!
//! Each correction that the answer shows is legal now, and is never another kind of order than the line seems
//! to mean.

use std::borrow::Cow;

use crate::dialect::is_square;
use crate::game::any::GameKind;
use crate::game::condition::Conditions;
use crate::game::{Fault, Line, Seat};
use crate::letter::split_words;
use crate::referee::answer::{Proposal, ProposalKind};
use crate::referee::matter::SeatLetter;
use crate::referee::play::game_match::Match;
use crate::referee::play::kept::OfferedOrders;
use crate::request::{self, CAPTURE_ALL, Doubt, DoubtKind, Request, wish};

/// Returns the letter with the orders that its `YES` accepts: the orders offered in the letter that it
/// answers. If it answers no offer, the answer repeats the last one. Without any offer, `YES` is a remark.
pub(super) fn follow_yes<'a>(
    letter: &'a SeatLetter,
    game_match: &Match,
) -> (Cow<'a, SeatLetter>, Option<Proposal>) {
    let request = &letter.request;
    let is_alone = request.orders.is_empty() && request.faults.is_empty() && request.doubts.is_empty();
    let offers = &game_match.offered[letter.cause.seat];
    let Some(no) = request.yes else {
        // "Yes, exactly that, sorry for my fat fingers" may say more than yes.
        let is_meant = |offer: &&OfferedOrders| {
            is_alone
                && request.commands.is_empty()
                && letter.answers.contains(&offer.seq)
                && wish::stance(&request.remarks, None) == wish::Stance::Yes
        };
        let offered = offers.iter().find(is_meant).map(|offer| offered_again(offer, ProposalKind::Whole));
        return (Cow::Borrowed(letter), offered);
    };
    let accepted = offers.iter().find(|offer| letter.answers.contains(&offer.seq)).filter(|_| is_alone);
    if accepted.is_none()
        && let Some(last) = offers.last().filter(|_| is_alone)
    {
        return (Cow::Borrowed(letter), Some(offered_again(last, ProposalKind::Again)));
    }
    let mut letter = letter.clone();
    match accepted {
        Some(OfferedOrders { orders, wait, .. }) => {
            letter.request.orders = orders.iter().map(|text| Line { no, text: text.clone() }).collect();
            letter.request.wait |= wait;
        }
        None => {
            let text = request.written(no).unwrap_or("YES").to_owned();
            letter.request.remarks.push(Line { no, text });
        }
    }
    (Cow::Owned(letter), None)
}

fn offered_again(OfferedOrders { orders, wait, .. }: &OfferedOrders, kind: ProposalKind) -> Proposal {
    Proposal { orders: orders.clone(), wait: *wait, kind }
}

/// Returns the orders in the form in which orders are filed, if they are legal now: orders of a seat that is
/// due, or conditional ones.
pub(super) fn legal(game_match: &Match, seat: Seat, lines: &[Line]) -> Option<Vec<String>> {
    let due = game_match.due()?;
    if due.seats.contains(&seat) {
        return Some(game_match.seal(seat, lines).ok()?.lines().to_vec());
    }
    let is_conditional = Conditions::are_in(game_match.game, lines);
    is_conditional
        .then(|| Conditions::read(game_match.game, lines).ok())?
        .map(|conditions| conditions.lines())
}

/// Returns the orders that a doubtful line means, in the form in which orders are filed. They may be illegal.
pub(super) fn possible_orders(
    game_match: &Match,
    seat: Seat,
    request: &Request,
    doubt: &Doubt,
) -> Vec<String> {
    let written = request.written(doubt.line).unwrap_or_default();
    let between = |squares: &String| {
        let (from, to) = squares.split_once('-')?;
        let order = game_match.state.between(seat, &from.to_ascii_uppercase(), &to.to_ascii_uppercase())?;
        let is_meant = doubt.kind != DoubtKind::Squares || names_same_number(written, &order);
        is_meant.then(|| vec![order])
    };
    let captures = |order: &String| (order == CAPTURE_ALL).then(|| game_match.state.captures(seat));
    let held = doubt
        .found_orders
        .iter()
        .map(|order| game_match.game.canonical(order).or_else(|| between(order)).or_else(|| captures(order)));
    held.collect::<Option<Vec<_>>>().unwrap_or_default().into_iter().flatten().collect()
}

/// Whether a doubtful line may change one of these orders: it takes something back, or names a number or a square of
/// theirs.
pub(super) fn may_change(request: &Request, orders: &[Line], game: GameKind) -> bool {
    let ordered: Vec<String> = orders.iter().flat_map(|order| words_with_numbers(&order.text)).collect();
    // With one order a turn, any other square may be meant instead.
    let is_about = |word: &String| ordered.contains(word) || game != GameKind::QuadrantZ && is_square(word);
    let doubts = request.doubts.iter().filter(|doubt| !is_order(&doubt.kind));
    doubts
        .filter_map(|doubt| request.written(doubt.line))
        .any(|line| request::takes_back(line) || words_with_numbers(line).iter().any(is_about))
}

/// Whether a line has no number, or the order's number.
fn names_same_number(written: &str, order: &str) -> bool {
    let is_number = |word: &&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let mut numbers = split_words(written).filter(is_number).peekable();
    numbers.peek().is_none() || numbers.eq(split_words(order).filter(is_number))
}

/// Returns the faults and doubts that keep a letter's orders from being filed, in the order of its lines.
pub(super) fn faults_of(game_match: &Match, seat: Seat, request: &Request) -> Vec<Fault> {
    let doubts = request.doubts.iter().map(|doubt| fault_of(game_match, seat, request, doubt));
    let mut faults: Vec<Fault> = request.faults.iter().cloned().chain(doubts).collect();
    faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
    faults.extend(fault_of_all(game_match, seat, request, &faults));
    faults
}

/// Explains why lines that could each stand alone cannot stand together.
fn fault_of_all(game_match: &Match, seat: Seat, request: &Request, faults: &[Fault]) -> Option<Fault> {
    let can_each = faults.len() > 1 && faults.iter().all(|fault| fault.doubtful && fault.corrected);
    let lines = all_meant(game_match, seat, request, &request.orders).filter(|_| can_each)?;
    if legal(game_match, seat, &lines).is_some() {
        return None;
    }
    let reason = reason_against(game_match, seat, &lines)?;
    Some(Fault::whole(format!("Not all of them can stand together. {reason}")))
}

/// Returns the first reason why orders of a seat that is due cannot stand.
fn reason_against(game_match: &Match, seat: Seat, lines: &[Line]) -> Option<String> {
    if !game_match.due()?.seats.contains(&seat) {
        return None;
    }
    let faults = game_match.seal(seat, lines).err()?;
    faults.into_iter().next().map(|fault| fault.reason)
}

/// Returns all lines that a letter may mean: its orders, and the orders that its other doubtful lines mean.
/// `None` if the meaning of one of these is unknown, or if one has an order among other words and the letter
/// has orders of its own.
pub(super) fn all_meant(
    game_match: &Match,
    seat: Seat,
    request: &Request,
    written: &[Line],
) -> Option<Vec<Line>> {
    let is_change = |doubt: &&Doubt| doubt.kind == DoubtKind::Changes;
    let changed = request.doubts.iter().find(is_change).map(|doubt| {
        let meant = possible_orders(game_match, seat, request, doubt);
        meant.into_iter().map(|text| Line { no: doubt.line, text }).collect()
    });
    let mut lines: Vec<Line> = changed.unwrap_or_else(|| written.to_vec());
    for doubt in request.doubts.iter().filter(|doubt| !is_change(doubt)) {
        let is_beside = matches!(doubt.kind, DoubtKind::Inside | DoubtKind::Denied | DoubtKind::Example)
            && !written.is_empty();
        // What may be old is not offered together with what is new.
        let is_below_new = doubt.kind == DoubtKind::MayBeOld && !are_doubted(request, written);
        if is_beside || is_below_new {
            return None;
        }
        if !is_order(&doubt.kind) {
            let meant = possible_orders(game_match, seat, request, doubt);
            if meant.is_empty() {
                return None;
            }
            lines.extend(meant.into_iter().map(|text| Line { no: doubt.line, text }));
        }
    }
    lines.sort_by_key(|line| line.no);
    Some(lines)
}

/// Whether a doubt stands on each of these lines.
fn are_doubted(request: &Request, lines: &[Line]) -> bool {
    lines.iter().all(|line| request.doubts.iter().any(|doubt| doubt.line == line.no))
}

/// Explains a doubt, with the correction that would stand, or a similar order.
fn fault_of(game_match: &Match, seat: Seat, request: &Request, doubt: &Doubt) -> Fault {
    let written = request.written(doubt.line).unwrap_or_default();
    let question = match doubt.kind {
        DoubtKind::Inside | DoubtKind::InWords | DoubtKind::Squares if written.trim_end().ends_with('?') => {
            "This is a question, so I have not taken it for an order.".to_owned()
        }
        _ => question(doubt),
    };
    let fault = Fault::doubt(doubt.line, &question);
    if is_order(&doubt.kind) || doubt.kind == DoubtKind::Example {
        return fault;
    }
    let meant = possible_orders(game_match, seat, request, doubt);
    let lines: Vec<Line> = meant.iter().map(|text| Line { no: doubt.line, text: text.clone() }).collect();
    if !lines.is_empty() && legal(game_match, seat, &lines).is_some() {
        return fault.with_correction(meant.join("\n"));
    }
    let why = reason_against(game_match, seat, &lines).filter(|_| !lines.is_empty());
    let advice = if request.orders.is_empty() { ADVICE_ALONE } else { ADVICE };
    let fault = Fault::doubt(doubt.line, format!("{question} {}", why.as_deref().unwrap_or(advice)));
    let example = game_match.state.example(seat, meant.first().map_or(written, String::as_str));
    // A long line may be about something else, and the piece for a square is not known.
    let is_known = !meant.is_empty()
        || matches!(doubt.kind, DoubtKind::Misspelt | DoubtKind::Bullet(_))
        || written.split_whitespace().count() <= SHORT;
    match example.filter(|example| {
        is_known
            && (doubt.kind != DoubtKind::Inside || !meant.is_empty() || !names_same_square(written, example))
    }) {
        Some(example) => fault.with_example(example),
        None => fault,
    }
}

/// Maximum words of a line that says nothing but its order.
const SHORT: usize = 4;

/// Advice about a doubtful line whose meaning is unknown.
const ADVICE: &str =
    "If you mean an order, please write it in full on a line of its own; if not, put a # before the line.";

/// The same in a letter without orders.
const ADVICE_ALONE: &str = "If you mean an order, please write it in full on a line of its own.";

/// Whether two texts have a word with a number in common, such as a square.
fn names_same_square(written: &str, example: &str) -> bool {
    let written = words_with_numbers(written);
    words_with_numbers(example).iter().any(|word| written.contains(word))
}

fn words_with_numbers(text: &str) -> Vec<String> {
    let words = split_words(text).filter(|word| word.contains(|c: char| c.is_ascii_digit()));
    words.map(str::to_ascii_uppercase).collect()
}

/// Whether the doubtful line is an order itself, or puts orders near it in doubt.
pub(super) fn is_order(kind: &DoubtKind) -> bool {
    match kind {
        DoubtKind::Asked
        | DoubtKind::InQuestion
        | DoubtKind::BelowName
        | DoubtKind::InSentence
        | DoubtKind::MayBeOld
        | DoubtKind::Postponed => true,
        DoubtKind::Bullet(_)
        | DoubtKind::Example
        | DoubtKind::Inside
        | DoubtKind::Denied
        | DoubtKind::Squares
        | DoubtKind::InWords
        | DoubtKind::Changes
        | DoubtKind::InSubject
        | DoubtKind::InQuote
        | DoubtKind::BelowEnd
        | DoubtKind::Misspelt => false,
    }
}

/// Asks the author of a doubtful line what it means.
fn question(doubt: &Doubt) -> String {
    let question = match &doubt.kind {
        DoubtKind::Asked => "There is a question mark at this order, so I have not taken it for one.",
        DoubtKind::InQuestion => "This order stands inside a question, so I have not taken it for one.",
        DoubtKind::BelowName => "This stands below a name, so I cannot tell whether it is an order.",
        DoubtKind::InSentence => "This stands in a sentence, so I cannot tell whether it is an order.",
        DoubtKind::Postponed => "I take this to mean that your orders are not to be filed, or not yet.",
        DoubtKind::Example => {
            let bare = doubt.found_orders.first().map(String::as_str).unwrap_or_default();
            return format!(
                "This looks like an example of mine, with its bar in front, and I do not take examples for \
                 orders. Without the bar it would be {bare}; send it like that if you mean it."
            );
        }
        DoubtKind::Bullet(_) => {
            "I cannot tell whether what stands in front is a part of the order or only counts your lines."
        }
        DoubtKind::Denied => {
            "This line has an order and a word such as \"if\" or \"not\", which I cannot follow."
        }
        DoubtKind::Inside if doubt.found_orders.len() > 1 => {
            "This line seems to hold several orders, and each needs a line of its own. Your mail program may have \
             taken out the line breaks."
        }
        DoubtKind::Inside => "This line is not an order, but it seems to hold one.",
        DoubtKind::Squares => "This line is not an order, but it seems to mean one.",
        DoubtKind::InWords => "This is not the exact form of an order, so I ask first.",
        DoubtKind::Changes => "This seems to change your orders, so I ask first.",
        DoubtKind::InSubject => "This is the subject of your letter, where I do not read orders.",
        DoubtKind::InQuote => {
            "You seem to have changed this line in the quote of my letter, where I do not read orders."
        }
        DoubtKind::MayBeOld => {
            "This stands below what may be the heading of an older letter, so I cannot tell whether you mean it now."
        }
        DoubtKind::BelowEnd => "This stands below the line END, where I stop reading.",
        DoubtKind::Misspelt => "I do not know this order.",
    };
    question.to_owned()
}

/// Returns the fault of a letter that names a match other than its own.
pub(super) fn match_fault(letter: &SeatLetter, game_match: &Match) -> Option<Fault> {
    let other = letter.other_match.as_ref()?;
    let id = &game_match.id;
    let reason = format!(
        "Your letter answers one about {id} but names {other}, and I cannot tell which match you mean. For {id}, write its name as shown below; for {other}, answer a letter of mine about that match."
    );
    Some(Fault::whole(reason).with_example(format!("MATCH {id}")))
}
