//! A letter from the GM: each instruction is carried out, and one answer confirms them all.

use chrono::{DateTime, Utc};

use super::{in_words, instructions};
use crate::config::GmIndex;
use crate::desk::frame::asker::Evidence;
use crate::desk::frame::desk::Desk;
use crate::desk::frame::rows::{Decided, or_lacking};
use crate::desk::outbox::answers::{self, AnswerBudget, digest_of_lines};
use crate::desk::outbox::gms;
use crate::desk::people::commands::{self, CommandOutcome};
use crate::dialect::SubjectTag;
use crate::game::Line;
use crate::letter::Letter;
use crate::referee::{self, Instruction, InstructionFault, InstructionLine, Questions, Reply};
use crate::report::envelope::AnsweredLetter;
use crate::report::{ClubLetter, GmItem, GmResult};
use crate::request::{Command, Request, lines_of};
use crate::store::LetterStatus;

const NO_GM_TOKEN: &str = "Nothing was done: your letter came without the GM's reply token. Please answer this \
    letter, with the same lines.";

const NEW_LETTER: &str = "This came as a new letter, which anybody can write in your name. What you want done, please \
    write in an answer to this letter or to another one of mine to you.";

/// A letter from the GM, as it was read.
pub struct GmLetter {
    lines: Vec<Line>,
    instructed: Vec<InstructionLine>,
    /// The other lines.
    request: Request,
    /// The time of its arrival, if it is carried out later than that.
    written_at: Option<DateTime<Utc>>,
}

impl GmLetter {
    pub fn read(letter: &Letter, written_at: Option<DateTime<Utc>>) -> GmLetter {
        let lines = lines_of(letter.new_text(None));
        let (instructed, others) = referee::instructions(&lines);
        GmLetter { lines, instructed, request: Request::read(&others, |_: &str| false), written_at }
    }

    /// Returns the beginning of each valid instruction, up to its verb: the rest may be free text.
    pub fn beginnings(&self) -> Vec<String> {
        let valid = self.instructed.iter().filter(|line| line.parsed.is_ok());
        valid.map(|instructed| beginning(&instructed.line.text)).collect()
    }

    /// Whether it holds nothing but words.
    pub fn is_only_words(&self) -> bool {
        self.instructed.is_empty() && self.request.is_empty() && !self.request.remarks.is_empty()
    }

    /// Whether it asks for more than answers, which go to the GM no matter who wrote.
    pub fn changes_something(&self) -> bool {
        let mut instructions = self.instructed.iter().filter_map(|line| line.parsed.as_ref().ok());
        let mut commands = self.request.commands.iter().map(|asked| &asked.command);
        !self.request.check && (instructions.any(Instruction::changes_something) || commands.any(needs_proof))
    }
}

/// Whether a command changes something on the word of its sender alone. A command with a code does not count:
/// the code proves that its sender reads our letters.
fn needs_proof(command: &Command) -> bool {
    command.changes_something() && !matches!(command, Command::Confirm { .. } | Command::Deny(_))
}

fn beginning(line: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let words: Vec<String> = line
        .split(|c| !is_plain(c))
        .filter(|word| !word.is_empty())
        .take(4)
        .map(str::to_ascii_uppercase)
        .collect();
    let length = match words.get(1).map(String::as_str) {
        Some("MATCH") => 4,
        Some("PLAYER") => 3,
        Some(_) | None => 2,
    };
    words.into_iter().take(length).collect::<Vec<_>>().join(" ")
}

/// Carries out the instructions in a letter from the GM. Without the GM's token, changes nothing and asks for
/// a reply that carries it.
pub fn follow_gm_letter(
    desk: &mut Desk<'_>,
    letter: &Letter,
    gm: GmIndex,
    has_token: bool,
    read: GmLetter,
) -> Decided<()> {
    desk.acting = gm;
    let GmLetter { lines, instructed, request, written_at } = read;
    let instructed_nothing = instructed.is_empty();
    let items = match has_token {
        true => follow(desk, instructed, request.check, written_at)?,
        false => Vec::new(),
    };
    let replies = gm_replies(desk, letter, has_token, &request)?;
    desk.rows.check()?;
    let thread = SubjectTag::find(&letter.subject).map(|tag| tag.match_name);
    let meant = if items.is_empty() { in_words::meant(desk, &request, thread)? } else { None };
    let meant = meant.filter(|_| has_token || instructed_nothing);
    let why = match (has_token, &meant) {
        (true, _) => "",
        (false, None) => NO_GM_TOKEN,
        (false, Some(_)) => NEW_LETTER,
    };
    let why = why.to_owned();
    let plain = ClubLetter::GmAnswer {
        check: request.check,
        items,
        replies,
        remarks: request.remarks,
        why,
        commands_left_out: request.left_out.commands,
        meant,
    };
    let unique = format!("g.{}", &letter.digest.to_string()[..24]);
    let answered = AnsweredLetter::new(letter);
    // Use the registered address: a letter that the GM confirmed may come from any address.
    let registered = gms::gm(desk, gm);
    let to = if registered.has_address(letter.from.as_str()) { &letter.from } else { &registered.address };
    let answered = Some((&answered, to.as_str()));
    let answer = gms::gm_dispatch(desk, gm, &plain, &unique, answered)?;
    // Without the token, the letter may be forged, and must not use up the GM's budget.
    let budget = if has_token { AnswerBudget::Gm } else { AnswerBudget::Address };
    answers::send_answer(desk, answer, digest_of_lines(&lines), budget)?;
    desk.decided(letter.digest, LetterStatus::Answered, "a letter of the GM".to_owned());
    Ok(())
}

fn follow(
    desk: &mut Desk<'_>,
    instructed: Vec<InstructionLine>,
    check: bool,
    written_at: Option<DateTime<Utc>>,
) -> anyhow::Result<Vec<GmItem>> {
    let mut items = Vec::new();
    for InstructionLine { line, parsed } in instructed {
        let done = match parsed {
            Err(InstructionFault { reason, example }) => {
                Some(GmResult::NotRead { says: reason, example: example.to_owned() })
            }
            // Continue if rows are missing, so that one round loads them for all instructions.
            Ok(instruction) => or_lacking(match written_at {
                Some(at) => instructions::instruct_late(desk, instruction, check, at),
                None => instructions::instruct_unless_playing(desk, &instruction, check),
            })?,
        };
        items.extend(done.map(|done| GmItem { asked: line.text, done }));
    }
    Ok(items)
}

/// Replies to commands that need no seat, which the GM may give too.
fn gm_replies(
    desk: &mut Desk<'_>,
    letter: &Letter,
    has_token: bool,
    request: &Request,
) -> anyhow::Result<Vec<Reply>> {
    let mut replies = Vec::new();
    // The GM's token shows that the sender reads the GM's letters. Without it there is nobody to ask: the
    // answer says that the token is missing.
    let evidence = if has_token { Evidence::Answer } else { Evidence::Unsigned };
    let Some(asker) = or_lacking(commands::asker(desk, letter, evidence))? else {
        return Ok(replies);
    };
    let mut questions = Questions::default();
    for asked in request.commands.iter().filter(|_| !request.check) {
        if questions.is_repeated(&asked.command) {
            continue;
        }
        let outcome = or_lacking(commands::carry_out(desk, &asker, &asked.command))?;
        replies.extend(outcome.and_then(CommandOutcome::reply));
    }
    Ok(replies)
}
