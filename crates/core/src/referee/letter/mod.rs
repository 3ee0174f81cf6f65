//! Rulings on a seat's letter: first its orders, all or none, then its commands, one by one.

use crate::game::{Line, Seat};
use crate::ledger::{Fact, Permission, Receipts, TokenOf};
use crate::referee::answer::{Answer, Orders, Proposal, ProposalKind};
use crate::referee::matter::SeatLetter;
use crate::referee::play::adjudication;
use crate::referee::play::game_match::Stage;
use crate::referee::play::kept::DelayedReceipt;
use crate::referee::play::ruling::Draft;
use crate::referee::play::{firm, untold};
use crate::referee::reply::Reply;
use crate::referee::words::{self, Passing, Words};
use crate::request::wish::is_chat;

pub mod commands;
mod conditions;
mod doubtful;
mod faults;
mod filing;
pub mod prepare;
mod proposal;
pub mod refusal;
pub mod together;
pub mod unreadable;
pub mod wishes;

/// Rules on a letter. Its answer goes out before the reports and notices that it causes.
pub fn apply_letter(draft: &mut Draft, letter: &SeatLetter) {
    let written = letter;
    let (letter, again) = doubtful::follow_yes(letter, &draft.game_match);
    let letter = &*letter;
    let (request, cause, seat) = (&letter.request, &letter.cause, letter.cause.seat);
    let mut answer = answer_to(letter);
    draft.game_match.away[seat] = false;
    if cause.shows_token {
        draft.record(Fact::TokenRenewed { seat });
    }
    // Every letter leaves an entry, even one that asks for nothing or arrives after the end: the ledger cites
    // all letters.
    let asks = !request.commands.is_empty() || request.orders.is_empty() || draft.game_match.due().is_none();
    let place = draft.reserve_answer(seat);
    if request.orders.is_empty() {
        answer.faults = doubtful::faults_of(&draft.game_match, seat, request);
        answer.offered = again.or_else(|| proposal::offer_without_orders(draft, letter, &answer.faults));
        if !request.sections.is_empty() {
            answer.faults.extend(doubtful::match_fault(letter, &draft.game_match));
        }
    } else {
        answer.replaced = draft.game_match.game.replaced(&request.orders);
        (answer.orders, answer.offered) = filing::seal_orders(draft, letter, &answer.replaced);
    }
    let is_refused = answer.is_refusal() && cause.came_earlier().is_none();
    answer.deferred = firm::wait_for_word(draft, letter, is_refused);
    answer.replies = commands::follow(draft, letter);
    if let Some((reply, conditions)) = conditions::doubt(draft, letter, is_refused) {
        answer.replies.push(reply);
        answer.offered.get_or_insert(conditions);
    }
    let left_out = (cause.left_out > 0).then_some(Reply::LeftOut { count: cause.left_out });
    answer.replies.extend(left_out);
    let words = pass_words_on(letter, &mut answer);
    note_wishes(draft, letter, &mut answer);
    drop_corrected_examples(&mut answer);
    if asks {
        let asked =
            request.commands.iter().filter_map(|asked| request.written(asked.line)).map(first_word).collect();
        draft.record(Fact::LetterAnswered { seat, asked });
    }
    answer.quoted = faults::quoted_lines(request, answer.all_faults());
    refusal::note(draft, letter, &answer);
    let sealed = matches!(answer.orders, Orders::Sealed { .. });
    let offers_draw = answer.replies.contains(&Reply::DrawOffered);
    // Long replies in front of a report could cut it off, and REPORT and HISTORY repeat only reports that are
    // short enough.
    let merges = !answer.replies.iter().any(Reply::may_be_long);
    // A new token must reach its player, whatever else was sent.
    let is_held = cause.answer == Permission::Suppressed && !cause.shows_token;
    let is_unwanted = is_unwanted(draft, seat, &answer);
    let offered = answer.offered.clone().or_else(|| offer_to_play(draft, seat, &answer));
    let receipt = DelayedReceipt::of(&answer, letter);
    draft.put_answer(place, answer);
    if is_unwanted {
        draft.drop_answer(place);
    }
    let mut is_merged = false;
    if sealed {
        adjudication::adjudicate_if_complete(draft);
        is_merged = !is_unwanted && merges && draft.merge_answer_into_report(place, seat);
        // Adjudication clears offers, but this one came with the orders: it stands until the next
        // adjudication.
        if offers_draw && draft.game_match.stage != Stage::Over {
            draft.game_match.draw_offer = Some(seat);
        }
    }
    if is_held && !is_unwanted && !is_merged {
        draft.suppress_answer(place);
    }
    if let Some(receipt) = receipt {
        untold::delay_receipt(draft, seat, Some(receipt).filter(|_| !is_unwanted));
    }
    if let Some(Words { passing: Passing::AtOnce, text }) = words {
        commands::tell_gm(draft, seat, &text);
    }
    proposal::keep_offer(draft, seat, offered);
    draft.game_match.past.note_ruling(Some(written), draft.at);
}

/// Offers to make orders firm that are not, or that wait because of their player's words.
fn offer_to_play(draft: &Draft, seat: Seat, answer: &Answer) -> Option<Proposal> {
    let orders = match &answer.orders {
        Orders::Sealed { filing, firm_at: Some(_), .. } => filing.lines().to_vec(),
        Orders::Conditions { lines, firm_at: Some(_), .. } => lines.to_vec(),
        _ if answer.deferred => draft.game_match.filed[seat].as_ref()?.filing.lines().to_vec(),
        _ => return None,
    };
    Some(Proposal { orders, wait: false, kind: ProposalKind::Whole })
}

/// Begins the answer with the parts that follow from the letter alone.
fn answer_to(letter: &SeatLetter) -> Answer {
    let SeatLetter { request, cause, .. } = letter;
    // A remark that postpones the orders has an effect.
    let is_doubtful = |line: &Line| request.doubts.iter().any(|doubt| doubt.line == line.no);
    Answer {
        to: Some(cause.letter),
        remarks: request.remarks.iter().filter(|line| !is_doubtful(line)).cloned().collect(),
        elsewhere_orders: request.elsewhere.clone(),
        unread: letter.unread.clone(),
        token_renewed: cause.shows_token,
        accepted_since: cause.accepted_by.as_ref().map(|_| cause.received),
        attachments: letter.attachments.clone(),
        left_out: request.left_out,
        ..Answer::default()
    }
}

/// Notes the letter's wishes in the answer, and in the match whether the letter mentions trouble.
fn note_wishes(draft: &mut Draft, letter: &SeatLetter, answer: &mut Answer) {
    answer.wishes = wishes::wishes(draft, letter);
    if answer.wishes.iter().any(|wishes| wishes.care.is_some()) {
        draft.game_match.in_trouble[letter.cause.seat] = true;
    }
    let remarks = &letter.request.remarks;
    let is_setup = draft.game_match.due().is_some_and(|due| due.turn == 0);
    answer.is_only_chat = !is_setup && !remarks.is_empty() && is_chat(remarks);
}

/// Drops the examples of commands that were held back, where the letter's words ask for the same with other values:
/// "ABSENT … / sorry, I mean until the 14th".
fn drop_corrected_examples(answer: &mut Answer) {
    let offered: Vec<String> =
        answer.wishes.iter().flat_map(|wish| &wish.acts).flatten().map(|line| first_word(line)).collect();
    for fault in answer.faults.iter_mut().filter(|fault| fault.doubtful) {
        if fault.example.take_if(|example| offered.contains(&first_word(example))).is_some() {
            fault.reason = CORRECTED.to_owned();
        }
    }
}

/// Why a command is not carried out beside words that ask for the same with other values.
const CORRECTED: &str = "Your words ask for something else, so I have not carried this line out.";

/// Whether an answer is a receipt that the seat's player does not want.
fn is_unwanted(draft: &Draft, seat: Seat, answer: &Answer) -> bool {
    answer.is_plain_receipt() && draft.game_match.settings[seat].receipts == Receipts::Faults
}

/// Returns the words of a letter that go to the GM, and notes in the answer when they do.
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

/// Returns the first word of a command. The ledger records which command was sent, but not the private text
/// after it.
fn first_word(line: &str) -> String {
    line.split_whitespace().next().unwrap_or_default().to_ascii_uppercase()
}
