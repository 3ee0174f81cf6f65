//! Answers letters from people who hold no seat, and letters that cannot be read. Touches no running match.

use super::answers::{AnswerBudget, digest_of_request};
use super::asker::Asker;
use super::decision::Decision;
use super::one_letter::lines_of;
use super::questions::waits_for_answer;
use super::undecided::{Decided, Wanted, collect_needs};
use crate::game::Fault;
use crate::letter::Letter;
use crate::referee::{self, Questions, Reply};
use crate::report::ClubLetter;
use crate::report::envelope::AnsweredLetter;
use crate::request::Request;
use crate::store::{LetterStatus, WaitingLetter};

/// The answer to somebody who gives a command for a match without its token.
const NO_TOKEN: &str = "For a match I need its reply token: please answer a letter of mine about that match.";

impl Decision<'_> {
    /// Answers somebody who holds no seat: the manual, the games, the rules, offers.
    pub fn answer_stranger(&mut self, waiting: &WaitingLetter, letter: &Letter, proven: bool) -> Decided<()> {
        let request = Request::read(&lines_of(letter), |_: &str| false);
        let text = digest_of_request(&request);
        let asker = self.asker(letter, proven)?;
        let StrangerReplies { replies, waiting: commands, lacks_token } =
            self.replies_to_stranger(&asker, &request)?;
        let why = reasons(&request, lacks_token);
        let waits = commands.iter().map(|(command, _)| Reply::Waits { command }).collect::<Vec<_>>();
        let lines = commands.into_iter().map(|(_, line)| line).collect::<Vec<_>>();
        let question = if lines.is_empty() { None } else { self.ask_sender(&asker, lines)? };
        let is_asked_again = question.is_none() && !waits.is_empty();
        if is_asked_again && replies.is_empty() && why.is_empty() {
            // Whoever forges many letters must not make us write to the address more than once a day.
            let note = "waits for the answer to our question to its sender".to_owned();
            self.decided(waiting, LetterStatus::Answered, note);
            return Ok(());
        }
        let mut replies = replies;
        if is_asked_again {
            replies.extend(waits);
        }
        let left_out = self.left_out(&asker.from)?;
        replies.extend((left_out > 0).then_some(Reply::LeftOut { count: left_out }));
        let is_asked = question.is_some();
        let plain = ClubLetter::Stranger {
            replies,
            remarks: request.remarks,
            why,
            question,
            commands_left_out: request.left_out.commands,
        };
        let answered = AnsweredLetter::new(letter);
        let mut dispatches =
            vec![self.plain_answer(&plain, &letter.from, waiting.digest, Some(&answered))?];
        self.limit_answers(&mut dispatches, text, AnswerBudget::Address)?;
        if is_asked && dispatches.is_empty() {
            self.withdraw_question(&asker);
        }
        self.draft.settlement.dispatches.extend(dispatches);
        self.decided(waiting, LetterStatus::Answered, "answered without touching a match".to_owned());
        Ok(())
    }

    /// Replies to the commands of a letter without a token, and sets those aside that wait until its sender is known.
    fn replies_to_stranger(&mut self, asker: &Asker, request: &Request) -> Decided<StrangerReplies> {
        let mut missing = Wanted::default();
        let mut found = StrangerReplies::default();
        let mut questions = Questions::default();
        for asked in &request.commands {
            if questions.is_repeated(&asked.command) {
                continue;
            }
            let changing = referee::changing_command(&asked.command);
            if let Some(command) = changing.filter(|_| request.check) {
                found.replies.push(Reply::CheckedOnly { command });
                continue;
            }
            if let Some(command) = changing.filter(|_| waits_for_answer(asker, &asked.command)) {
                let rejected = collect_needs(self.rejection_at_once(asker, &asked.command), &mut missing)?;
                match rejected.flatten() {
                    Some(rejected) => found.replies.push(rejected),
                    None => {
                        let line = request.written(asked.line).unwrap_or_default().to_owned();
                        found.waiting.push((command, line));
                    }
                }
                continue;
            }
            let reply = collect_needs(self.reply_to_everybody(asker, &asked.command), &mut missing)?;
            let reply = reply.flatten();
            found.lacks_token |= reply.is_none();
            found.replies.extend(reply);
        }
        if missing == Wanted::default() { Ok(found) } else { Err(missing.into()) }
    }
}

/// The replies to a letter without a token, and the commands that wait until its sender is known.
#[derive(Default)]
struct StrangerReplies {
    replies: Vec<Reply>,
    /// Each with its line, as written.
    waiting: Vec<(&'static str, String)>,
    /// Whether one of the commands needs a match, and so its token.
    lacks_token: bool,
}

/// Says what a letter lacked, in sentences.
fn reasons(request: &Request, lacks_token: bool) -> String {
    let mut why: Vec<String> = request.faults.iter().map(fault_as_sentences).collect();
    if request.left_out.faults > 0 {
        why.push(format!("{} more lines cannot stand either.", request.left_out.faults));
    }
    if lacks_token {
        why.push(NO_TOKEN.to_owned());
    }
    why.join(" ")
}

/// Words a fault in a letter that belongs to no match, as one or more sentences.
fn fault_as_sentences(fault: &Fault) -> String {
    let example = fault.example.as_deref().and_then(|example| example.lines().next());
    let example = example.map(|example| format!(" For example: {example}")).unwrap_or_default();
    match fault.line {
        Some(line) => format!("Line {line}: {}{example}", fault.reason),
        None => format!("{}{example}", fault.reason),
    }
}
