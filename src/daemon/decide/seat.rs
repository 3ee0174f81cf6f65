//! Rules on letters from seats, and answers them.

use anyhow::Context as _;

use super::answers::digest_of_lines;
use super::asker::Asker;
use super::decision::{Decision, Key};
use super::rows::Readers;
use super::undecided::{Decided, Wanted, collect_needs};
use crate::letter::Letter;
use crate::referee::{Answer, Cause, Content, DispatchKind, PastReport, Reply, Ruling, SeatLetter};
use crate::report::envelope::AnsweredLetter;
use crate::report::sent::{ReportSelection, select_reports};
use crate::request::Request;
use crate::store::{LetterDecision, LetterStatus, TokenRow, WaitingLetter};

impl Decision<'_> {
    /// Rules on a seat's letter.
    pub fn rule_on_seat_letter(
        &mut self,
        waiting: &WaitingLetter,
        letter: &Letter,
        row: &TokenRow,
    ) -> Decided<()> {
        self.touch(Key::Match(row.match_id.clone()));
        let loaded = self.game_match(&row.match_id)?.context("the token's match is missing")?.clone();
        let quotable = letter.quotable_text(&self.context.texts);
        let written = letter.new_text(quotable.as_deref());
        let mut seat_letter = SeatLetter::of(letter, row.seat, written, &loaded.game_match);
        let mut ruling = self.rule(&loaded.game_match, &Cause::Letter(&seat_letter));
        self.complete_answers(&mut ruling, row, &seat_letter.request)?;
        let answered = AnsweredLetter::new(letter);
        let readers = Readers { answered: Some(&answered), ..Readers::seats(&loaded.seats) };
        let mut rows = self.rows(&mut ruling, &readers)?;
        let worded = rows.dispatches.len();
        self.limit_answers(&mut rows.dispatches, digest_of_lines(seat_letter.request.lines()))?;
        if rows.dispatches.len() < worded {
            // Rule again: the ledger notes that there is no answer, and the other letters name the ledger's head.
            seat_letter.answer_suppressed = true;
            ruling = self.rule(&loaded.game_match, &Cause::Letter(&seat_letter));
            rows = self.rows(&mut ruling, &readers)?;
        }
        tracing::info!(
            match_id = row.match_id,
            seat = %row.seat,
            letter = %waiting.digest,
            entries = rows.entries.len(),
            dispatches = rows.dispatches.len(),
            "ruled on a letter"
        );
        self.keep_ruling(loaded, ruling, rows);
        self.draft.settlement.decided.push(LetterDecision {
            digest: waiting.digest,
            status: LetterStatus::Ruled,
            note: String::new(),
            seat: Some((row.match_id.clone(), row.seat)),
        });
        Ok(())
    }

    /// Completes the answers of a ruling with what the referee does not know: reports as they were sent, and replies to
    /// the commands that need no seat.
    fn complete_answers(&mut self, ruling: &mut Ruling, row: &TokenRow, request: &Request) -> Decided<()> {
        let mut missing = Wanted::default();
        for dispatch in &mut ruling.dispatches {
            let Content::Answer(answer) = &mut dispatch.content else { continue };
            let asker = Asker::player(&row.player, answer.to.context("an answer to no letter")?);
            self.complete_answer(answer, &asker, row, request, &mut missing)?;
        }
        if missing == Wanted::default() { Ok(()) } else { Err(missing.into()) }
    }

    fn complete_answer(
        &mut self,
        answer: &mut Answer,
        asker: &Asker,
        row: &TokenRow,
        request: &Request,
        missing: &mut Wanted,
    ) -> anyhow::Result<()> {
        for (reply, asked) in answer.replies.iter_mut().zip(&request.commands) {
            let wanted = match reply {
                Reply::CheckedOnly { .. } => continue,
                Reply::Report { turn } => Some(ReportSelection::of(*turn)),
                Reply::History => Some(ReportSelection::All),
                _ => None,
            };
            match wanted {
                Some(wanted) => {
                    let reports = collect_needs(self.reports_of(row, wanted), missing)?;
                    answer.reports = reports.unwrap_or_default();
                }
                None => {
                    let found = collect_needs(self.reply_to_everybody(asker, &asked.command), missing)?;
                    if let Some(found) = found.flatten() {
                        *reply = found;
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns the selected reports of a seat, including those that this transaction adds.
    fn reports_of(&self, row: &TokenRow, wanted: ReportSelection) -> Decided<Vec<PastReport>> {
        let stored = self.context.reports(&row.match_id)?;
        let stored = stored.iter().filter(|(about, _)| about.seat == Some(row.seat));
        let stored = stored.map(|(_, bytes)| bytes.as_slice());
        let unsaved = self.draft.settlement.dispatches.iter();
        let unsaved = unsaved
            .filter(|new| new.kind == DispatchKind::Report && new.match_id.as_ref() == Some(&row.match_id))
            .filter(|new| new.seat == Some(row.seat))
            .map(|new| new.bytes.as_slice());
        Ok(select_reports(stored.chain(unsaved), wanted))
    }
}
