//! Reads a letter for a ruling on it.

use std::collections::BTreeMap;
use std::slice;

use crate::dialect::{SubjectTag, own_subjects};
use crate::game::any::GameKind;
use crate::game::{Line, Seat};
use crate::ledger::{LetterCause, PlaceInMatch, Question, TokenOf, without_mark};
use crate::letter::{Digest, Letter, NewText, banner_lines};
use crate::referee::letter::doubtful;
use crate::referee::letter::unreadable::advice;
use crate::referee::matter::SeatLetter;
use crate::referee::play::game_match::{FiledOrders, Match};
use crate::request::wish::{self, WordAnswer, is_bare_verb, word_answer};
use crate::request::{
    self, Beside, Command, Doubt, DoubtKind, Grammar as _, NumberedCommand, Request, Writer, lines_of,
    part_for,
};

/// A letter does not contain the part that its cause names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it does not hold the part of it that was ruled on")]
pub struct NoSuchPart;

/// Reads a letter, or the part of it that its cause names. `written` is the text that its sender has just
/// written ([`Letter::new_text`]).
///
/// # Errors
/// [`NoSuchPart`] if the lines about this match are not those whose digest the cause holds.
pub fn prepare(
    before: &Match,
    cause: LetterCause,
    letter: &Letter,
    written: NewText,
) -> Result<SeatLetter, NoSuchPart> {
    let unread = written.unreadable.map(|what| advice(what).to_owned());
    let in_quote = Line::numbered(&written.in_quote);
    let introduction = written.introduction;
    let signature = if cause.part.is_none() { written.signature.clone() } else { Vec::new() };
    let lines = lines_of(written);
    let lines = match cause.part {
        None => lines,
        Some(pinned) => {
            let part = part_for(&lines, &before.id, cause.token == TokenOf::Own);
            Some(part).filter(|part| part_digest(part) == pinned).ok_or(NoSuchPart)?
        }
    };
    let (mut request, attachments) = read_with_attachment(letter, &lines, &cause, before.game);
    let answers = answered_places(letter, before);
    let has_offer = !before.offered[cause.seat].is_empty();
    let asks_whether_meant = asks_whether_meant(before, cause.seat, &answers);
    follow_word_answer(&mut request, cause.question, has_offer, asks_whether_meant);
    doubt_subject(&mut request, letter, before.game);
    doubt_words(&mut request, before, cause.seat);
    doubt_changes(&mut request, before, cause.seat);
    say_corrections(&mut request, before, cause.seat);
    if let (Some(no), Some(last)) = (introduction, lines.last()) {
        request.doubt_age(no + 1..=last.no);
    }
    // The digest of a part does not cover the quote.
    if cause.part.is_none() {
        doubt_quote(&mut request, &in_quote, before, cause.seat);
    }
    let (beside, elsewhere) = beside(before, &cause, letter, &request, &signature);
    let (cause, mut request) = (LetterCause { beside, ..cause }, request.hold_back(beside));
    let below = lines.last().map_or(0, |last| last.no) + 1;
    request.remarks.extend((below..).zip(elsewhere).map(|(no, text)| Line { no, text: text.to_owned() }));
    Ok(SeatLetter {
        message_id: letter.message_id.clone(),
        thread_turn: thread_turn(letter, &before.id),
        answers,
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

/// Reads a letter. If its text holds no order and nothing else to follow, its attached text is read below it,
/// but not below a part, because nothing shows which part it belongs to. Also returns the names of the
/// attached files that were not read.
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

/// Maximum bytes of a letter whose words are searched for orders: more than the words that may give orders take.
const MAX_IN_WORDS: usize = 4_000;

/// Adds the doubt about a letter whose own words give orders that are legal now, if it has no line that reads as one.
fn doubt_words(request: &mut Request, before: &Match, seat: Seat) {
    let lines: Vec<&str> = request.lines().iter().map(|line| line.text.as_str()).collect();
    if lines.iter().map(|line| line.len() + 1).sum::<usize>() > MAX_IN_WORDS {
        return;
    }
    let game = before.game;
    let is_open = |doubt: &Doubt| {
        doubt.found_orders.is_empty()
            && matches!(doubt.kind, DoubtKind::Inside | DoubtKind::Misspelt | DoubtKind::Squares)
    };
    let are_open = request.doubts.iter().all(is_open);
    let is_unread = request.commands.is_empty()
        && request.faults.is_empty()
        && request.yes.is_none()
        && !request.check
        && !request.ended
        && !request.orders.iter().any(|order| game.is_order(&order.text))
        // Short forms of orders are read, too.
        && (request.orders.is_empty() || before.seal(seat, &request.orders).is_err())
        && request.doubts.iter().all(|doubt| is_open(doubt) || is_said(doubt));
    if !is_unread {
        return;
    }
    let filed = before.filed[seat].as_ref().map(|filed| filed.filing.lines().to_vec()).unwrap_or_default();
    // "Forget ship 1 to B2" offers nothing but that ship 1 stays.
    let takes_back = lines.iter().any(|line| request::takes_back(line));
    let meant = if takes_back || !are_open { Vec::new() } else { wish::orders_meant(&lines, game) };
    let changed = |found| (DoubtKind::Changes, found);
    let candidates = [
        wish::correction_meant(&lines, game, &filed).map(changed),
        Some((DoubtKind::InWords, meant)),
        wish::stay_meant(&lines, game, &filed).map(changed),
    ];
    for (kind, found) in candidates.into_iter().flatten() {
        let doubt = Doubt { line: 0, kind: kind.clone(), found_orders: found.clone() };
        let meant = doubtful::possible_orders(before, seat, request, &doubt);
        if is_legal(before, seat, &meant) {
            request.doubt_words(kind, found);
            return;
        }
    }
}

/// Adds the doubts about lines beside orders that change one of them.
fn doubt_changes(request: &mut Request, before: &Match, seat: Seat) {
    let game = before.game;
    let may_change = |doubt: &Doubt| is_said(doubt) || doubt.kind == DoubtKind::Postponed;
    let is_plain = request.faults.is_empty() && request.doubts.iter().all(may_change);
    let count = request.doubts.len() + request.remarks.len();
    if !is_plain || request.orders.is_empty() || count > MAX_CHANGES {
        return;
    }
    let said = request.doubts.iter().filter_map(|doubt| Some((doubt.line, request.written(doubt.line)?)));
    let remarks = request.remarks.iter().map(|remark| (remark.no, remark.text.as_str()));
    let is_doubted = |no: usize| request.doubts.iter().any(|doubt| doubt.line == no);
    let names_a_number = |(no, line): &(usize, &str)| is_doubted(*no) || wish::names_a_number(line);
    let lines: BTreeMap<usize, &str> = said.chain(remarks).filter(names_a_number).collect();
    if lines.is_empty() {
        return;
    }
    let replaced = game.replaced(&request.orders);
    let counted = request.orders.iter().filter(|order| !replaced.contains(order));
    let orders = counted.map(|order| game.canonical(&order.text)).collect::<Option<Vec<_>>>();
    let Some(mut orders) = orders.map(|orders| orders.concat()) else { return };
    let mut changes = Vec::new();
    for (no, line) in lines {
        match wish::change_meant(line, game, &orders) {
            Some(changed) if is_legal(before, seat, &changed) => {
                orders = changed;
                changes.push(no);
            }
            _ if is_doubted(no) => return,
            _ => {}
        }
    }
    request.remarks.retain(|remark| !changes.contains(&remark.no));
    let change = |line| Doubt { line, kind: DoubtKind::Changes, found_orders: orders.clone() };
    request.doubts = changes.into_iter().map(change).collect();
}

/// Turns the doubts about lines that correct orders into remarks, if the seat is not due: what they correct was played.
fn say_corrections(request: &mut Request, before: &Match, seat: Seat) {
    let is_due = before.due().is_none_or(|due| due.seats.contains(&seat));
    let is_correction =
        |doubt: &Doubt| is_said(doubt) && request.written(doubt.line).is_some_and(wish::corrects);
    if is_due || !request.orders.is_empty() || !request.doubts.iter().all(is_correction) {
        return;
    }
    let lines = request
        .doubts
        .iter()
        .filter_map(|doubt| Some(Line { no: doubt.line, text: request.written(doubt.line)?.to_owned() }));
    let lines: Vec<Line> = lines.collect();
    request.doubts.clear();
    request.remarks.extend(lines);
    request.remarks.sort_by_key(|remark| remark.no);
}

/// Whether a doubt is about a line of words that hold an order.
fn is_said(doubt: &Doubt) -> bool {
    matches!(doubt.kind, DoubtKind::Inside | DoubtKind::Denied | DoubtKind::Squares)
}

/// Whether there are orders, and these are legal now.
fn is_legal(before: &Match, seat: Seat, orders: &[String]) -> bool {
    let lines: Vec<Line> = orders.iter().map(|text| Line { no: 0, text: text.clone() }).collect();
    !lines.is_empty() && doubtful::legal(before, seat, &lines).is_some()
}

/// Maximum lines of words that are searched for changes of orders.
const MAX_CHANGES: usize = 40;

/// Adds the doubt about a letter without orders whose subject is orders.
fn doubt_subject(request: &mut Request, letter: &Letter, game: GameKind) {
    if !request.is_empty() || request.yes.is_some() {
        return;
    }
    let pieces: Vec<&str> = letter.subject.split([',', ';']).collect();
    let read = Request::read(&Line::numbered(&pieces), game);
    // `G7 please`
    let is_order = |doubt: &Doubt| doubt.kind == DoubtKind::Inside && !doubt.found_orders.is_empty();
    if !read.faults.is_empty() || !read.remarks.is_empty() || !read.doubts.iter().all(is_order) {
        return;
    }
    let orders = read.orders.into_iter().map(|order| order.text);
    let held: Vec<String> =
        orders.chain(read.doubts.into_iter().flat_map(|doubt| doubt.found_orders)).collect();
    if held.is_empty() {
        return;
    }
    request.doubt(&letter.subject, DoubtKind::InSubject, held);
}

/// Adds the doubts about orders in the quote of our letter, if they are legal now, together or each of them. A player who
/// writes over our form where it stands means them, but a program may have changed a line of the quote as well. Beside
/// orders of the letter itself they are only named, as remarks.
fn doubt_quote(request: &mut Request, in_quote: &[Line], before: &Match, seat: Seat) {
    if request.yes.is_some() || request.passes_texts_on() {
        return;
    }
    let is_legal = |orders: &[Line]| doubtful::legal(before, seat, orders).is_some();
    let mut orders = Request::read(in_quote, before.game).orders;
    orders.retain(|order| request.orders.iter().all(|written| written.text != order.text));
    if orders.is_empty() {
        return;
    }
    if !is_legal(&orders) {
        orders.retain(|order| is_legal(slice::from_ref(order)));
    }
    let is_beside_orders = !request.orders.is_empty();
    for Line { text, .. } in orders {
        if is_beside_orders {
            let no = request.lines().last().map_or(0, |last| last.no) + 1;
            request.remarks.push(Line { no, text });
        } else {
            request.doubt(&text, DoubtKind::InQuote, vec![text.clone()]);
        }
    }
}

/// Whether a letter answers a receipt that asks if orders are meant, or says that they wait.
fn asks_whether_meant(before: &Match, seat: Seat, answers: &[u64]) -> bool {
    let waits = |held: &FiledOrders| held.firm_at.is_some() || held.asked;
    before.filed[seat].as_ref().is_some_and(waits)
        && before.offered[seat].iter().any(|offer| answers.contains(&offer.seq))
}

/// Lets a letter that says nothing but yes count as the command or the `YES` that our question asks for, and one that
/// only says no or stop as `WITHDRAW`, if our receipt asked if orders are meant.
fn follow_word_answer(
    request: &mut Request,
    question: Option<Question>,
    has_offer: bool,
    asks_whether_meant: bool,
) {
    // The code of a challenge is not needed, because the thread shows what is accepted or declined.
    let is_bare = || ["ACCEPT", "DECLINE"].iter().any(|verb| is_bare_verb(request.lines(), verb));
    if request.faults.len() == 1 && is_bare() {
        request.faults.clear();
    }
    let is_wordless = !request.is_empty() || request.yes.is_some() || request.ended;
    if is_wordless {
        return;
    }
    // A server's banner stays among the words, but is no part of the answer.
    let texts: Vec<&str> = request.lines().iter().map(|line| line.text.as_str()).collect();
    let own = &request.lines()[banner_lines(&texts)..];
    // "I confirm" is also an answer to the question whose letter it was.
    let agrees = matches!(word_answer(own), Some(WordAnswer::Yes | WordAnswer::WasMe));
    let refuses = asks_whether_meant && wish::refuses(own);
    if !agrees && !refuses && (question.is_some() || !has_offer || !wish::agrees_with_reproach(own)) {
        return;
    }
    let Some(line) = own.iter().find(|line| !line.text.trim().is_empty()).map(|line| line.no) else {
        return;
    };
    let command = match question {
        _ if refuses => Command::Withdraw,
        Some(Question::Extension) => Command::Agree,
        Some(Question::Withdrawal) => Command::Withdraw,
        // A draw ends the match, so it needs its own line.
        Some(Question::Draw) => return,
        None => {
            request.yes = Some(line);
            request.take_words_as_answer();
            return;
        }
    };
    request.commands.push(NumberedCommand { line, command });
    request.take_words_as_answer();
}

/// Returns what a letter says beside its orders and commands, and the words of its subject or its signature, if these
/// say more than its lines do.
fn beside<'l>(
    before: &Match,
    cause: &LetterCause,
    letter: &'l Letter,
    request: &Request,
    signature: &'l [String],
) -> (Beside, Vec<&'l str>) {
    let players = Seat::BOTH.map(|seat| before.players[seat].as_str());
    let names: Vec<&str> = players.iter().copied().chain(letter.from_name.as_deref()).collect();
    let is_footer = |line: &str| before.is_footer(cause.seat, line);
    let writer = Writer { names: &names, is_footer: &is_footer };
    let weigh = |lines: Vec<&'l str>| {
        let read = Request::read(&Line::numbered(&lines), before.game);
        let is_new =
            |asked: &NumberedCommand| request.commands.iter().all(|own| own.command != asked.command);
        let commands = if read.commands.iter().any(is_new) { Beside::Sign } else { Beside::Nothing };
        (read.beside(writer).max(commands), lines)
    };
    let said = (request.beside(writer), Vec::new());
    // The subject belongs to the part that answers the letter's thread.
    let subjects = own_subjects(&letter.subject, &players).filter(|_| cause.token == TokenOf::Own);
    let of_subjects = subjects.map(|subject| weigh(vec![subject]));
    // A signature is no part of the letter, but its words may take something back: `Sent from my cat`.
    let of_signature = Some(weigh(signature.iter().map(String::as_str).collect()));
    let of_signature = of_signature.filter(|(beside, _)| *beside == Beside::Sign);
    of_subjects.chain(of_signature).fold(said, |most, other| if other.0 > most.0 { other } else { most })
}

/// Returns the first match that the subject or a line names instead of this one.
fn other_match(letter: &Letter, request: &Request, match_id: &str) -> Option<String> {
    let tag = SubjectTag::find(&letter.subject);
    let in_subject = tag.iter().map(|tag| &tag.match_name);
    let named: Vec<&String> = match request.sections.is_empty() {
        true => in_subject.chain(&request.named_matches).collect(),
        false => request.sections.iter().collect(),
    };
    named.into_iter().find(|name| !name.eq_ignore_ascii_case(match_id)).cloned()
}

/// Returns the turn that the subject names for this match, or else the turn of the letter that it answers.
fn thread_turn(letter: &Letter, match_id: &str) -> Option<u32> {
    let tag = SubjectTag::find(&letter.subject);
    let tag = tag.filter(|tag| tag.match_name.eq_ignore_ascii_case(match_id));
    tag.and_then(|tag| tag.turn)
        .or_else(|| letter.answered_ids().find_map(|id| turn_of_message_id(id, match_id)))
}

/// Returns the length of the ledger after each ruling whose letter this one answers.
fn answered_places(letter: &Letter, before: &Match) -> Vec<u64> {
    let key = before.first_key();
    let places = letter.answered_ids().filter_map(|id| PlaceInMatch::read(id, &before.id, key));
    places.map(|place| place.seq).collect()
}

/// Returns the turn at the end of the Message-ID of a letter that we sent about this match.
fn turn_of_message_id(message_id: &str, match_id: &str) -> Option<u32> {
    let (local, _) = message_id.rsplit_once('@')?;
    match without_mark(local).split('.').collect::<Vec<_>>()[..] {
        [_, id, _, turn] | [_, id, _, _, turn] if id.eq_ignore_ascii_case(match_id) => turn.parse().ok(),
        _ => None,
    }
}
