//! Answers letters from people who hold no seat, and letters that cannot be read. Touches no running match.

use super::answers::digest_of_lines;
use super::decision::Decision;
use super::one_letter::lines_of;
use super::undecided::{Decided, Wanted, collect_needs};
use crate::game::Fault;
use crate::letter::{Letter, UnreadableLetter};
use crate::referee::{self, Reply};
use crate::report::ClubLetter;
use crate::report::envelope::AnsweredLetter;
use crate::request::Request;
use crate::store::{LetterStatus, WaitingLetter};

/// The answer to somebody who gives a command for a match without its token.
const NO_TOKEN: &str = "For a match I need its reply token: please answer a letter of mine about that match.";

impl Decision<'_> {
    /// Answers somebody who holds no seat: the manual, the games, the rules, offers.
    pub fn answer_stranger(&mut self, waiting: &WaitingLetter, letter: &Letter, proven: bool) -> Decided<()> {
        let request = Request::read(&lines_of(letter), |_| false);
        let text = digest_of_lines(request.lines());
        let asker = self.asker(letter, proven)?;
        let mut missing = Wanted::default();
        let mut replies = Vec::new();
        for asked in &request.commands {
            if let Some(command) = referee::changing_command(&asked.command).filter(|_| request.check) {
                replies.push(Reply::CheckedOnly { command });
                continue;
            }
            let reply = collect_needs(self.reply_to_everybody(&asker, &asked.command), &mut missing)?;
            replies.extend(reply.flatten());
        }
        if missing != Wanted::default() {
            return Err(missing.into());
        }
        let mut why: Vec<String> = request.faults.iter().map(fault_as_sentences).collect();
        if request.commands.len() > replies.len() {
            why.push(NO_TOKEN.to_owned());
        }
        let plain = ClubLetter::Stranger { replies, remarks: request.remarks, why: why.join(" ") };
        let answered = AnsweredLetter::new(letter);
        let mut dispatches =
            vec![self.plain_answer(&plain, &letter.from, waiting.digest, Some(&answered))?];
        self.limit_answers(&mut dispatches, text)?;
        self.draft.settlement.dispatches.extend(dispatches);
        self.decided(waiting, LetterStatus::Answered, "answered without touching a match".to_owned());
        Ok(())
    }

    /// Answers a letter beyond the limits, or without exactly one sender, in one short letter, if at all.
    pub fn answer_unreadable(&mut self, waiting: &WaitingLetter, why: &UnreadableLetter) -> Decided<()> {
        let note = why.reason.to_string();
        if let Some(address) = &why.answerable {
            let plain = ClubLetter::Stranger { replies: Vec::new(), remarks: Vec::new(), why: note.clone() };
            let answer = self.plain_answer(&plain, address, waiting.digest, None)?;
            // One short answer is enough, whatever else comes from that address.
            if self.is_first_answer(&answer)? {
                self.draft.settlement.dispatches.push(answer);
            }
        }
        self.decided(waiting, LetterStatus::Ignored, note);
        Ok(())
    }
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
