//! One letter: whose it is, what becomes of it, and how it is answered.

use std::panic::{AssertUnwindSafe, catch_unwind};

use anyhow::Context;

use super::Office;
use super::answers::asked;
use super::anybody::Asker;
use super::settle::{Known, Read};
use crate::game::{Fault, Line};
use crate::letter::{Address, Letter, NewText, UnreadableLetter};
use crate::post::dkim::DkimVerdict;
use crate::referee::{self, Cause, Content, DispatchKind, PastReport, Reply, Ruling, SeatLetter};
use crate::report::envelope::AnsweredLetter;
use crate::report::sent::ReportSelection;
use crate::report::{self, ClubLetter};
use crate::request::Request;
use crate::store::{LetterDecision, LetterStatus, NewDispatch, Settlement, TokenRow, WaitingLetter};

/// What somebody lacks who asks for something in a match.
const NO_TOKEN: &str = "For a match I need its reply token: please answer a letter of mine about that match.";

/// What is noted of a letter that is not signed as it must be.
const UNPROVEN: &str = "not proven to be its sender's (DKIM)";

impl Office {
    /// Decides what becomes of one letter, and puts it on the settlement.
    pub(super) async fn settle_one(
        &self,
        waiting: &WaitingLetter,
        read: Option<&Read>,
        context: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let decide =
            |status, note: String| LetterDecision { digest: waiting.digest, status, note, seat: None };
        let letter = match read.context("reading the letter failed")? {
            Ok(letter) => letter,
            Err(unreadable) => {
                if let Some(automatic) = &unreadable.automatic {
                    self.note_automatic(automatic, context, settlement).await?;
                }
                let decided = self.unreadable(waiting, unreadable, context, settlement).await?;
                settlement.decided.push(decided);
                return Ok(());
            }
        };
        if let Some(automatic) = &letter.automatic {
            self.note_automatic(automatic, context, settlement).await?;
            settlement.decided.push(decide(LetterStatus::Automatic, automatic.to_string()));
            return Ok(());
        }
        let recognised = self.recognised(letter, context);
        let proven = match &recognised {
            Recognised::Stranger { note } if !note.is_empty() => true,
            _ => match self.verdict(waiting, &context.shared.proofs, settlement) {
                DkimVerdict::Passed => true,
                DkimVerdict::NotPassed => false,
                DkimVerdict::TryLater => return Ok(()),
            },
        };
        match recognised {
            Recognised::Seat(row) if !proven => {
                self.note_unproven(&row, settlement).await?;
                settlement.decided.push(decide(LetterStatus::Ignored, UNPROVEN.to_owned()));
                Ok(())
            }
            Recognised::Gm { .. } if !proven => {
                settlement.decided.push(decide(LetterStatus::Ignored, UNPROVEN.to_owned()));
                Ok(())
            }
            Recognised::Seat(row) => self.settle_seat(waiting, letter, &row, context, settlement).await,
            Recognised::Gm { token } => self.settle_gm(waiting, letter, token, context, settlement).await,
            Recognised::Stranger { note } if !note.is_empty() => {
                settlement.decided.push(decide(LetterStatus::Ignored, note.to_owned()));
                Ok(())
            }
            Recognised::Stranger { .. } => {
                let decided = self.settle_stranger(waiting, letter, proven, context, settlement).await?;
                settlement.decided.push(decided);
                Ok(())
            }
        }
    }

    /// Rules on a seat's letter.
    async fn settle_seat(
        &self,
        waiting: &WaitingLetter,
        letter: &Letter,
        row: &TokenRow,
        context: &mut Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        let answered = letter.quotable_text(&context.shared.answered);
        let working = context.matches.get_mut(&row.match_id).context("the token's match is missing")?;
        let at = self.now();
        let mut request =
            SeatLetter::of(letter, row.seat, letter.new_text(answered.as_deref()), &working.game_match);
        let ruled =
            catch_unwind(AssertUnwindSafe(|| self.rule(&working.game_match, &Cause::Letter(&request), at)));
        let mut ruling = ruled.map_err(|_| anyhow::anyhow!("ruling on the letter failed"))?;
        self.fill_in(&mut ruling, row, &request.request, settlement).await?;
        let answers = AnsweredLetter::new(letter);
        let (mut entries, mut dispatches) =
            self.rows(&mut ruling, &working.seats, None, Some(&answers), &settlement.entries, at).await?;
        let written = dispatches.len();
        let text = asked(request.request.lines());
        self.hold_back(&mut dispatches, text, &context.shared.answers).await?;
        if dispatches.len() < written {
            // The ledger tells of it, and the heads in the other letters follow.
            request.answer_suppressed = true;
            ruling = self.rule(&working.game_match, &Cause::Letter(&request), at);
            (entries, dispatches) =
                self.rows(&mut ruling, &working.seats, None, Some(&answers), &settlement.entries, at).await?;
        }
        tracing::info!(
            match_id = row.match_id,
            seat = %row.seat,
            letter = %waiting.digest,
            entries = entries.len(),
            dispatches = dispatches.len(),
            "ruled on a letter"
        );
        working.game_match = ruling.after;
        working.changed = true;
        settlement.entries.extend(entries);
        settlement.dispatches.extend(dispatches);
        settlement.decided.push(LetterDecision {
            digest: waiting.digest,
            status: LetterStatus::Ruled,
            note: String::new(),
            seat: Some((row.match_id.clone(), row.seat)),
        });
        Ok(())
    }

    /// Completes an answer: reports as they were sent, and the replies to what anybody may ask.
    async fn fill_in(
        &self,
        ruling: &mut Ruling,
        row: &TokenRow,
        request: &Request,
        settlement: &mut Settlement,
    ) -> anyhow::Result<()> {
        for dispatch in &mut ruling.dispatches {
            let Content::Answer(answer) = &mut dispatch.content else { continue };
            let asker = Asker::player(&row.player, answer.to.context("an answer to no letter")?);
            for (reply, asked) in answer.replies.iter_mut().zip(&request.commands) {
                match reply {
                    Reply::Report { turn } => {
                        let wanted = ReportSelection::of(*turn);
                        answer.reports = self.reports_again(row, &settlement.dispatches, wanted).await?;
                    }
                    Reply::History => {
                        answer.reports =
                            self.reports_again(row, &settlement.dispatches, ReportSelection::All).await?;
                    }
                    Reply::CheckedOnly { .. } => {}
                    _ => {
                        if let Some(found) = self.for_anybody(&asker, &asked.command, settlement).await? {
                            *reply = found;
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// The reports of a seat as they were sent.
    async fn reports_again(
        &self,
        row: &TokenRow,
        unsaved: &[NewDispatch],
        wanted: ReportSelection,
    ) -> anyhow::Result<Vec<PastReport>> {
        let saved = self.store.dispatches_of(&row.match_id).await?;
        let saved = saved
            .iter()
            .filter(|(about, _)| about.kind == DispatchKind::Report && about.seat == Some(row.seat))
            .map(|(_, bytes)| bytes.as_slice());
        let unsaved = unsaved
            .iter()
            .filter(|new| new.kind == DispatchKind::Report && new.match_id.as_ref() == Some(&row.match_id))
            .filter(|new| new.seat == Some(row.seat))
            .map(|new| new.bytes.as_slice());
        Ok(report::sent::select_reports(saved.chain(unsaved), wanted))
    }

    /// Answers somebody who holds no seat: the manual, the games, the rules; nothing that touches a match.
    async fn settle_stranger(
        &self,
        waiting: &WaitingLetter,
        letter: &Letter,
        proven: bool,
        context: &Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<LetterDecision> {
        let request = Request::read(&lines_now(letter), |_| false);
        let text = asked(request.lines());
        let asker = self.asker(letter, proven).await?;
        let mut replies = Vec::new();
        for asked in &request.commands {
            match referee::changing_command(&asked.command).filter(|_| request.check) {
                Some(command) => replies.push(Reply::CheckedOnly { command }),
                None => replies.extend(self.for_anybody(&asker, &asked.command, settlement).await?),
            }
        }
        let mut why: Vec<String> = request.faults.iter().map(fault_told).collect();
        if request.commands.len() > replies.len() {
            why.push(NO_TOKEN.to_owned());
        }
        let plain = ClubLetter::Stranger { replies, remarks: request.remarks, why: why.join(" ") };
        let page = report::word_club_letter(&self.templates, &self.stationery.club(), &plain, "")?;
        let mut dispatches =
            vec![self.answer_to(waiting, &letter.from, page, Some(&AnsweredLetter::new(letter)))?];
        self.hold_back(&mut dispatches, text, &context.shared.answers).await?;
        settlement.dispatches.extend(dispatches);
        let note = "answered without touching a match".to_owned();
        Ok(LetterDecision { digest: waiting.digest, status: LetterStatus::Answered, note, seat: None })
    }

    /// A letter beyond the limits, or without one sender: one short answer where one may go out, or none.
    async fn unreadable(
        &self,
        waiting: &WaitingLetter,
        why: &UnreadableLetter,
        context: &Known,
        settlement: &mut Settlement,
    ) -> anyhow::Result<LetterDecision> {
        let note = why.reason.to_string();
        if let Some(address) = &why.answerable {
            let plain = ClubLetter::Stranger { replies: Vec::new(), remarks: Vec::new(), why: note.clone() };
            let page = report::word_club_letter(&self.templates, &self.stationery.club(), &plain, "")?;
            // One short answer is enough, whatever else comes from there.
            let answer = self.answer_to(waiting, address, page, None)?;
            if self.is_first_answer(&answer, &context.shared.answers).await? {
                settlement.dispatches.push(answer);
            }
        }
        Ok(LetterDecision { digest: waiting.digest, status: LetterStatus::Ignored, note, seat: None })
    }

    fn answer_to(
        &self,
        waiting: &WaitingLetter,
        to: &Address,
        page: report::WordedLetter,
        answered: Option<&AnsweredLetter>,
    ) -> anyhow::Result<NewDispatch> {
        let unique = format!("a.{}", &waiting.digest.to_string()[..24]);
        let message_id = self.stationery.message_id("", &unique);
        let bytes = self.plain_mail(page, "", ("", to.as_str()), &message_id, answered)?;
        Ok(NewDispatch {
            message_id,
            recipient: to.as_str().to_owned(),
            bytes,
            kind: DispatchKind::Answer,
            match_id: None,
            seat: None,
            answers: Some(waiting.digest),
            asked: None,
        })
    }

    /// Whose letter it is: a token of a seat must come back, and the sender be that seat's player; or the GM.
    pub(super) fn recognised(&self, letter: &Letter, context: &Known) -> Recognised {
        let (mut note, gm) = ("", self.is_gm(&letter.from));
        for token in &letter.tokens {
            match context.shared.tokens.get(token.as_str()) {
                Some(row) if row.player.addresses.iter().any(|address| address == letter.from.as_str()) => {
                    return Recognised::Seat(row.clone());
                }
                Some(_) => note = "a reply token, but not from that player's address",
                None if token.as_str() == context.shared.gm_token && gm => {
                    return Recognised::Gm { token: true };
                }
                None if token.as_str() == context.shared.gm_token => {
                    note = "the GM's reply token, but not his address"
                }
                None => {}
            }
        }
        if note.is_empty() && gm && !referee::instructions(&lines_now(letter)).0.is_empty() {
            return Recognised::Gm { token: false };
        }
        Recognised::Stranger { note }
    }
}

pub(super) enum Recognised {
    Seat(TokenRow),
    /// The GM's address, and whether his token came back.
    Gm {
        token: bool,
    },
    /// With a note, the letter tried to act for a seat that is not its sender's: it gets no answer.
    Stranger {
        note: &'static str,
    },
}

/// What the person wrote now, as lines.
pub(super) fn lines_now(letter: &Letter) -> Vec<Line> {
    match letter.new_text(None) {
        NewText::Lines(lines) => lines,
        NewText::Blank | NewText::Unreadable(_) => Vec::new(),
    }
}

/// A fault of a letter that belongs to no match, as one or more sentences.
fn fault_told(fault: &Fault) -> String {
    let example = fault.example.as_deref().and_then(|example| example.lines().next());
    let example = example.map(|example| format!(" For example: {example}")).unwrap_or_default();
    match fault.line {
        Some(line) => format!("Line {line}: {}{example}", fault.reason),
        None => format!("{}{example}", fault.reason),
    }
}
