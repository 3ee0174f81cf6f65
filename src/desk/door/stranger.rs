//! Answers letters from people who hold no seat, or who left out their seat's token. Changes no running
//! match.

use std::slice;

use super::{in_words, tokenless};
use crate::desk::events::in_words as events;
use crate::desk::frame::asker::{Asker, Evidence};
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, or_lacking};
use crate::desk::frame::standing;
use crate::desk::gm::restored;
use crate::desk::matches::applicants;
use crate::desk::outbox::answers::{self, AnswerBudget};
use crate::desk::outbox::budgets::{self, Origin};
use crate::desk::outbox::gms::{self, GmTopic};
use crate::desk::outbox::mail;
use crate::desk::people::commands::{self, CommandOutcome};
use crate::desk::people::questions;
use crate::game::any::GameKind;
use crate::game::{Fault, Line};
use crate::letter::Letter;
use crate::referee::{
    self, Passing, Questions, Reply, Words, digest_of_request, is_order_of_any_game, may_tell_of_play,
    note_of_text,
};
use crate::report::ClubLetter;
use crate::report::envelope::AnsweredLetter;
use crate::request::{Command, Request, Writer, lines_of};
use crate::store::{LetterStatus, WaitingLetter};

/// The answer to a command for a match that comes without the match's token.
const NO_TOKEN: &str = "For a match I need its reply token, because anybody can write a new letter in your name. Nothing was filed: please answer a letter of mine about that match.";

/// The same, if the letter has a reply token, but no seat has it.
const UNKNOWN_TOKEN: &str = "For a match I need its reply token. I do not know the one in your letter: a newer one took its place, or its match is gone. Nothing was filed: please answer my last letter about that match, or write to the GM with a line TELL GM.";

/// Maximum characters of a line in a note.
const MAX_LINE: usize = 100;

/// Maximum lines of a letter without a token that are passed on.
const MAX_REMARKS: usize = 1000;

/// The words for a person, such as the GM, in a letter without a token.
struct WordsOfStranger {
    to_gm: Option<Words>,
    /// Lines that read as orders of some game. They are never passed on, because the GM may be the opponent.
    order_lines: usize,
}

impl WordsOfStranger {
    /// Reads the words of a letter. A player's words may reveal something about a match.
    fn of(request: &Request, is_player: bool) -> WordsOfStranger {
        let mut prose = request.clone();
        // Drop the rest: no more lines can be passed on, and every game tries to read each line.
        prose.remarks.truncate(MAX_REMARKS);
        let remarks = prose.remarks.len();
        prose.remarks = without_orders(&prose.remarks, is_player);
        let mut order_lines = remarks - prose.remarks.len();
        let mut words = Words::of(&prose);
        let mut texts: Vec<String> = Vec::new();
        for asked in request.commands.iter().filter(|_| !request.check) {
            if let Command::TellGm(text) = &asked.command {
                let lines = Line::numbered(&referee::cut(text).lines().collect::<Vec<_>>());
                let kept = without_orders(&lines, is_player);
                order_lines += lines.len() - kept.len();
                texts.push(kept.into_iter().map(|line| line.text).collect::<Vec<_>>().join("\n"));
            }
        }
        if !texts.is_empty() {
            texts.extend(words.map(|words| words.text));
            words = Some(Words { passing: Passing::AtOnce, text: texts.join("\n\n") });
        }
        if let Some(words) = words.as_mut().filter(|_| order_lines > 0) {
            let lines = if order_lines == 1 { "line" } else { "lines" };
            words.text += &format!("\n({order_lines} order {lines})");
        }
        WordsOfStranger { to_gm: words, order_lines }
    }

    /// Returns the note for the list of letters: the words that went to the GM, or that the letter changed
    /// nothing.
    fn note(&self) -> String {
        match &self.to_gm {
            Some(Words { text, .. }) => note_of_text(text),
            None => "answered without touching a match".to_owned(),
        }
    }
}

/// The replies to a letter without a token, and the commands that wait for the answer to our question.
#[derive(Default)]
struct StrangerReplies {
    replies: Vec<Reply>,
    /// The commands that wait, each with its line as written.
    waiting: Vec<(&'static str, String)>,
    /// Whether one of the commands is about a match, and so needs its token.
    lacks_token: bool,
}

/// A letter without a token, as it was read.
struct ReadWords {
    request: Request,
    /// The lines that answer our question, if the letter answers it with other words.
    asked_again: Vec<String>,
    /// The line that stops challenges, for a player who declined one with words against mail.
    never: Option<String>,
}

/// Reads a letter without a token. An answer in words to one of our questions counts as its command.
fn read_words(desk: &Desk<'_>, asker: &Asker, letter: &Letter, lines: &[Line]) -> Decided<ReadWords> {
    let request = Request::read(lines, |_: &str| false);
    let beside = request.beside(Writer { names: &[&asker.name], ..Writer::STRANGER });
    let request = request.hold_back(beside);
    let mut read = ReadWords { request, asked_again: Vec::new(), never: None };
    let Some(question) = in_words::question_of(desk, asker, letter)? else { return Ok(read) };
    if let Some(answered) = question.answered(asker, &read.request, lines) {
        let declines = answered.commands.iter().any(|asked| matches!(asked.command, Command::Decline(_)));
        if declines && in_words::wants_no_mail(lines) {
            read.never = question.stops();
        }
        read.request = answered;
    } else if read.request.commands.is_empty() {
        read.asked_again = question.lines(lines);
    }
    Ok(read)
}

/// Answers somebody who holds no seat: the manual, the games, the rules, offers.
pub fn answer_stranger(
    desk: &mut Desk<'_>,
    waiting: &WaitingLetter,
    letter: &Letter,
    proven: bool,
) -> Decided<()> {
    let lines = lines_of(letter.new_text(None));
    let evidence = if proven { Evidence::Address } else { Evidence::Unsigned };
    let asker = commands::asker(desk, letter, evidence)?;
    let ReadWords { request, asked_again, never } = read_words(desk, &asker, letter, &lines)?;
    let may_be_dropped = request.is_empty() && !lines.is_empty() && waiting.accepted_by.is_none();
    if may_be_dropped && asked_again.is_empty() && is_like_a_machine(desk, &asker, letter, &lines)? {
        desk.decided(letter.digest, LetterStatus::Automatic, note_on_machine(&lines));
        return Ok(());
    }
    let text = digest_of_request(&request);
    let words = WordsOfStranger::of(&request, asker.player_id.is_some());
    let StrangerReplies { mut replies, waiting: commands, lacks_token } =
        replies_to_stranger(desk, &asker, &request)?;
    if request.is_empty() && asked_again.is_empty() {
        replies.extend(event_replies(desk, &asker, letter, &lines)?);
    }
    let lost = restored::why_unknown(desk, letter, asker.zone)?;
    let lacks_token = lacks_token || words.order_lines > 0 || lost.is_some();
    let why = reasons(&request, lacks_token, why_no_seat(desk, letter, lost)?);
    if (lacks_token || asker.player_id.is_some() && asked_again.is_empty() && request.commands.is_empty())
        && replies.is_empty()
        && commands.is_empty()
        && answer_with_form(desk, letter, &asker, &lines, &request, &words)?
    {
        return Ok(());
    }
    let waits = commands.iter().map(|(command, _)| Reply::Waits { command }).collect::<Vec<_>>();
    let lines = commands.into_iter().map(|(_, line)| line).collect::<Vec<_>>();
    // An answer to one question lets us ask the next.
    let is_answer = replies.iter().any(|reply| matches!(reply, Reply::Confirmed { .. }));
    let asks = is_answer || !lines.is_empty();
    let question = if asks { questions::ask_sender(desk, &asker, lines)? } else { None };
    let is_asked_again = question.is_none() && !waits.is_empty();
    if is_asked_again && replies.is_empty() && why.is_empty() && words.to_gm.is_none() {
        // Otherwise somebody could forge many letters and make us write to the address more than once a day.
        let note = "waits for the answer to our question to its sender".to_owned();
        desk.decided(letter.digest, LetterStatus::Answered, note);
        return Ok(());
    }
    if is_asked_again {
        replies.extend(waits);
    }
    let is_known = asker.player_id.is_some();
    if is_known && replies.is_empty() && asked_again.is_empty() {
        let matches = commands::matches_of(desk, asker.player_id, asker.zone)?;
        replies.push(Reply::Matches { matches });
    }
    let left_out = budgets::left_out(desk, &asker.from)?;
    replies.extend((left_out > 0).then_some(Reply::LeftOut { count: left_out }));
    let asked = question.as_ref().map(|question| question.code.clone());
    let passed_on = pass_strangers_words(desk, letter, &words)?;
    let plain = ClubLetter::Stranger {
        wishes_no_mail: !is_known && in_words::wants_no_mail(&request.remarks),
        wants_to_play: in_words::wants_to_play(&request),
        replies,
        remarks: request.remarks,
        why,
        question,
        commands_left_out: request.left_out.commands,
        passed_on,
        asked_again: asked_again.into_iter().chain(never).collect(),
        is_known,
    };
    // Derive it from the letter, so that an answer keeps its Message-ID when the letter is decided again.
    let unique = format!("a.{}", &letter.digest.to_string()[..24]);
    let answer = mail::plain_answer(desk, &plain, &letter.from, &unique, &AnsweredLetter::new(letter))?;
    let is_sent = answers::send_answer(desk, answer, text, AnswerBudget::Address)?;
    if let Some(code) = asked.filter(|_| !is_sent) {
        questions::withdraw_question(desk, &asker, code);
    }
    desk.decided(letter.digest, LetterStatus::Answered, words.note());
    Ok(())
}

/// Sends the form for their seat to a player who wrote about a match but left out its token. Returns whether
/// it was clear which match was meant.
fn answer_with_form(
    desk: &mut Desk<'_>,
    letter: &Letter,
    asker: &Asker,
    lines: &[Line],
    request: &Request,
    words: &WordsOfStranger,
) -> Decided<bool> {
    let Some((loaded, seat)) = tokenless::seat_meant(desk, asker, letter, lines)? else { return Ok(false) };
    let passed_on = pass_strangers_words(desk, letter, words)?;
    let note = words.note();
    let lacks_token = words.order_lines > 0 || !request.commands.is_empty();
    let why = reasons(request, lacks_token, why_no_seat(desk, letter, None)?);
    let words = tokenless::WordsWithoutToken { why, passed_on, remarks: request.remarks.clone() };
    let answer = tokenless::form_without_token(desk, letter, &loaded, seat, words)?;
    answers::send_answer(desk, answer, digest_of_request(request), AnswerBudget::Address)?;
    desk.decided(letter.digest, LetterStatus::Answered, note);
    Ok(true)
}

/// Returns the events that a player's letter is about.
fn event_replies(desk: &Desk<'_>, asker: &Asker, letter: &Letter, lines: &[Line]) -> Decided<Vec<Reply>> {
    match asker.player_id {
        Some(_) => events::about_events(desk, asker, lines, &desk.answered_text(letter)),
        None => Ok(Vec::new()),
    }
}

/// Whether a letter is from somebody unknown and shows no sign of a person. The GM's digest lists such
/// letters, and the GM can accept them.
fn is_like_a_machine(desk: &Desk<'_>, asker: &Asker, letter: &Letter, lines: &[Line]) -> Decided<bool> {
    let reads_us = standing::standing(desk, &asker.from)?.proven_at.is_some();
    let is_known = reads_us || asker.player_id.is_some() || desk.club.is_gm(&letter.from);
    // Machines give no orders. A person who does so without a token is told that one is needed.
    let has_orders = || lines.iter().take(MAX_REMARKS).any(|line| is_order_of_any_game(&line.text));
    let texts: Vec<&str> = lines.iter().map(|line| line.text.as_str()).collect();
    let answers_us = letter.quotable_text(&desk.rows.loaded.texts).is_some();
    Ok(!is_known && !answers_us && !letter.shows_a_person(&texts, &desk.club.own) && !has_orders())
}

/// Sends words that name the GM to the GM at once, if there is room today. The digest lists all of them.
/// Returns the sentence about it for the answer.
fn pass_strangers_words(
    desk: &mut Desk<'_>,
    letter: &Letter,
    words: &WordsOfStranger,
) -> Decided<Option<Passing>> {
    let Some(Words { passing, text }) = words.to_gm.as_ref().filter(|_| !desk.club.is_gm(&letter.from))
    else {
        return Ok(None);
    };
    if *passing == Passing::InDigest {
        return Ok(Some(Passing::InDigest));
    }
    let plain = ClubLetter::words(letter.from.as_str(), text);
    let unique = format!("w.{}", &letter.digest.to_string()[..24]);
    let player = desk.stored_player(letter.from.as_str())?;
    let about = player.as_ref().map_or(GmTopic::Club, GmTopic::WordsOf);
    let mut is_sent = false;
    for dispatch in gms::gm_letters(desk, &plain, &unique, about)? {
        is_sent |= budgets::send_for_others(desk, dispatch, Origin::Other)?;
    }
    Ok(Some(if is_sent { Passing::AtOnce } else { Passing::InDigest }))
}

/// Replies to the commands of a letter without a token, and sets aside those that wait for the answer to our
/// question to its sender.
fn replies_to_stranger(desk: &mut Desk<'_>, asker: &Asker, request: &Request) -> Decided<StrangerReplies> {
    let mut found = StrangerReplies::default();
    let mut questions = Questions::default();
    for asked in &request.commands {
        if questions.is_repeated(&asked.command) {
            continue;
        }
        let (command, changes) = (asked.command.name(), asked.command.changes_something());
        // Another part of the answer deals with all words for the GM.
        if matches!(asked.command, Command::TellGm(_)) && !request.check {
            continue;
        }
        if changes && request.check {
            found.replies.push(Reply::CheckedOnly { command });
            continue;
        }
        match or_lacking(commands::carry_out(desk, asker, &asked.command))? {
            Some(CommandOutcome::Replied(reply)) => {
                let line = request.written(asked.line).unwrap_or_default();
                or_lacking(applicants::note_if_refused(desk, asker, &reply, line))?;
                found.replies.push(*reply);
            }
            Some(CommandOutcome::Waits) => {
                let line = request.written(asked.line).unwrap_or_default().to_owned();
                found.waiting.push((command, line));
            }
            Some(CommandOutcome::NeedsSeat) => found.lacks_token = true,
            None => {}
        }
    }
    desk.rows.check()?;
    Ok(found)
}

/// Maximum words of a greeting.
const MAX_GREETING: usize = 4;

/// Returns the reason why a stranger's letter is taken for a machine's, and its first line.
fn note_on_machine(lines: &[Line]) -> String {
    let reason = "from a stranger, and nothing in it speaks for a person";
    let lines = lines.iter().map(|line| line.text.trim());
    let mut lines = lines.filter(|line| line.chars().any(char::is_alphanumeric)).peekable();
    // A greeting says little.
    let first = lines.peek().copied();
    let line = lines.find(|line| line.split_whitespace().nth(MAX_GREETING).is_some()).or(first);
    match line.filter(|line| !is_order_of_any_game(line)) {
        Some(line) => format!("{reason}; it begins: {}", line.chars().take(MAX_LINE).collect::<String>()),
        None => reason.to_owned(),
    }
}

/// Returns the lines that no game reads as an order. If a player wrote them, also drops those that may reveal
/// a position.
fn without_orders(lines: &[Line], is_player: bool) -> Vec<Line> {
    // Read them one by one: a command or an END among them must not hide others.
    let is_read_as_order = |line: &Line| {
        GameKind::ALL.iter().any(|game| {
            let read = Request::read(slice::from_ref(line), *game);
            !read.orders.is_empty() || !read.doubts.is_empty()
        })
    };
    let tells = if is_player { may_tell_of_play } else { is_order_of_any_game };
    lines.iter().filter(|line| !tells(&line.text) && !is_read_as_order(line)).cloned().collect()
}

/// Returns why a letter about a match belongs to no seat, with what to do. `lost` says so of a match that the club has
/// lost.
fn why_no_seat(desk: &Desk<'_>, letter: &Letter, lost: Option<String>) -> Decided<String> {
    if let Some(lost) = lost {
        return Ok(lost);
    }
    for token in &letter.tokens {
        if desk.rows.seat_by_token(token.as_str())?.is_some() {
            return Ok(NO_TOKEN.to_owned());
        }
    }
    Ok(if letter.tokens.is_empty() { NO_TOKEN } else { UNKNOWN_TOKEN }.to_owned())
}

/// Returns sentences that say what a letter lacked.
fn reasons(request: &Request, lacks_token: bool, why_no_seat: String) -> String {
    let mut why: Vec<String> = request.faults.iter().map(fault_as_sentences).collect();
    if request.left_out.faults > 0 {
        why.push(format!("{} more lines cannot stand either.", request.left_out.faults));
    }
    why.extend(lacks_token.then_some(why_no_seat));
    why.join(" ")
}

/// Returns one or more sentences about a fault in a letter that belongs to no match.
fn fault_as_sentences(fault: &Fault) -> String {
    let example = fault.example.as_deref().and_then(|example| example.lines().next());
    let example = example.map(|example| format!(" For example: {example}")).unwrap_or_default();
    match fault.line {
        Some(line) => format!("Line {line}: {}{example}", fault.reason),
        None => format!("{}{example}", fault.reason),
    }
}
