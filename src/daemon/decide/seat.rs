//! Rules on letters from seats, and answers them.

use anyhow::Context as _;

use super::absences::SpreadAbsences;
use super::answers::{AnswerBudget, digest_of_request};
use super::asker::Asker;
use super::budgets::{Origin, seat_subject};
use super::context::LoadedMatch;
use super::decision::{Decision, Key};
use super::rows::Readers;
use super::stored::seat_row;
use super::undecided::{Decided, Wanted, collect_needs};
use crate::game::{BySeat, Seat};
use crate::house;
use crate::ledger::{self, Entry, Fact};
use crate::letter::Letter;
use crate::referee::{
    self, Answer, Cause, Content, Dispatch, DispatchKind, EarlierOrders, Hint, Match, Notice, OtherPart,
    PartOutcome, PastReports, QUESTIONS_ONLY_AFTER, Reader, Reply, Ruling, SeatLetter, Stage,
};
use crate::report::envelope::AnsweredLetter;
use crate::report::sent::{repeated_reports, repeats_reports};
use crate::request::{Command, NumberedCommand, Request};
use crate::store::{NewDispatch, TokenRow, WaitingLetter};

/// What became of one part.
pub struct PartRuling {
    pub outcome: PartOutcome,
    /// The note on the letter: words for the GM's digest. Those of another match go to the GM at once, because the digest
    /// lists the letter under one match, and a GM may play in the other.
    pub note: String,
    /// It asked for a hint and got it.
    pub has_hint: bool,
}

/// What became of a letter in its player's other matches.
#[derive(Default)]
pub struct Elsewhere {
    pub parts: Vec<OtherPart>,
    pub absences: SpreadAbsences,
    /// One of them has asked for a hint and got it.
    pub has_hint: bool,
}

impl Decision<'_> {
    /// Rules on a seat's letter, or on the part of it that is about this match. The answer names `elsewhere`,
    /// what became of the letter in its player's other matches.
    pub fn rule_on_part(
        &mut self,
        waiting: &WaitingLetter,
        letter: &Letter,
        row: &TokenRow,
        mut seat_letter: SeatLetter,
        elsewhere: Elsewhere,
    ) -> Decided<PartRuling> {
        let mut loaded = self.game_match(&row.match_id)?.context("the token's match is missing")?.clone();
        seat_letter.shows_token = is_shown_to_others(letter, row);
        let mut hold = None;
        if seat_letter.shows_token {
            // Before anything is worded: the answer carries the new token.
            loaded.seats[row.seat].token = self.random().token().to_string();
            self.save_seat(&loaded.seats[row.seat]);
            hold = Some(self.hold(&loaded, row.seat, None));
        }
        seat_letter.questions_only = self.is_long_over(row, &seat_letter.request)?;
        seat_letter.limits.holds_resignation = self.holds_resignation(row, letter, &seat_letter.request)?;
        seat_letter.limits.gm_is_opponent = self.is_gm_opponent(&loaded.seats, row.seat);
        seat_letter.limits.tells_left_out = self.left_out(&seat_subject(&row.match_id, row.seat))? > 0;
        seat_letter.limits.passes_protest_on = self.is_protest_spent(row, &seat_letter.request)?;
        // In its first phase a match has no earlier orders, and its ledger need not be loaded.
        if seat_letter.lacks_turn() && loaded.game_match.phase_no > 1 {
            seat_letter.earlier = self.earlier_orders(row)?;
        }
        seat_letter.hint = self.hint(row, &seat_letter.request, &loaded.game_match, &elsewhere)?;
        let mut ruling = self.rule_with(&loaded.game_match, hold.as_slice(), &Cause::Letter(&seat_letter));
        if self.spare_readers(&ruling, &loaded, row, &mut seat_letter)? {
            ruling = self.rule_with(&loaded.game_match, hold.as_slice(), &Cause::Letter(&seat_letter));
        }
        let saved_players = self.draft.settlement.players.len();
        self.complete_answers(&mut ruling, row, letter, &seat_letter.request, &elsewhere.parts)?;
        let opponent = &loaded.seats[row.seat.other()].player;
        if opponent.addresses.is_empty() {
            answers_in(&mut ruling.dispatches).for_each(tell_unreachable);
        }
        let opponent = opponent.id;
        elsewhere.absences.complete(&mut ruling, opponent);
        let outcome = outcome_of(&ruling);
        let answered = AnsweredLetter::new(letter);
        let readers = Readers { answered: Some(&answered), ..Readers::seats(&loaded.seats) };
        let mut rows = self.rows(&mut ruling, &readers)?;
        let worded = rows.dispatches.len();
        // The answer with a new token always goes out: without it the player could not write again.
        if !seat_letter.shows_token {
            let asked = digest_of_request(&seat_letter.request);
            self.limit_answers(&mut rows.dispatches, asked, AnswerBudget::Seat)?;
        }
        if rows.dispatches.len() < worded {
            // Rule again: the ledger notes that there is no answer, and the other letters name the ledger's head.
            seat_letter.answer_suppressed = true;
            ruling = self.rule_with(&loaded.game_match, hold.as_slice(), &Cause::Letter(&seat_letter));
            elsewhere.absences.complete(&mut ruling, opponent);
            rows = self.rows(&mut ruling, &readers)?;
        }
        let told = tells_of_absence(&ruling).then_some(opponent);
        self.delay_notices(&ruling, &mut rows.dispatches, row)?;
        rows.delay_copies();
        tracing::info!(
            match_id = row.match_id,
            seat = %row.seat,
            letter = %waiting.digest,
            entries = rows.entries.len(),
            dispatches = rows.dispatches.len(),
            "ruled on a letter"
        );
        let game = loaded.game_match.game;
        let for_house = ruling.after.seat_for_house();
        self.keep_ruling(loaded, ruling, rows);
        if let Some(seat) = for_house {
            self.seat_house(&row.match_id, seat)?;
        }
        self.tell_absences(row, &elsewhere.absences, waiting.digest, told)?;
        self.carry_out_settings(row.player.id, saved_players)?;
        Ok(PartRuling::of(&seat_letter, outcome, game))
    }

    /// Whether all GMs hold seats in a match, and one of them that of the opponent.
    fn is_gm_opponent(&self, seats: &BySeat<TokenRow>, seat: Seat) -> bool {
        let opponent = &seats[seat.other()].player;
        let mut gms = self.settings.config.club.gm.addresses();
        self.all_gms_play(seats) && gms.any(|gm| opponent.addresses.iter().any(|own| own == gm.as_str()))
    }

    /// Saves a seat whose token has changed.
    pub fn save_seat(&mut self, row: &TokenRow) {
        let seats = &mut self.draft.settlement.seats;
        seats.retain(|saved| (&saved.match_id, saved.seat) != (&row.match_id, row.seat));
        seats.push(seat_row(row));
    }

    /// Whether a match ended so long ago that the commands in a letter that change something have no effect.
    pub fn is_long_over(&self, row: &TokenRow, request: &Request) -> Decided<bool> {
        let changes =
            request.commands.iter().any(|asked| referee::changing_command(&asked.command).is_some());
        let loaded = self.game_match(&row.match_id)?.context("the token's match is missing")?;
        Ok(changes && self.ended_long_ago(&loaded.game_match)?)
    }

    /// Whether a match ended so long ago that its tokens are good for questions only.
    pub fn ended_long_ago(&self, game_match: &Match) -> Decided<bool> {
        if game_match.stage != Stage::Over {
            return Ok(false);
        }
        let mut entries = self.context.entries(&game_match.id)?.iter().rev();
        let ended = entries.find(|entry| matches!(entry.fact, Fact::MatchEnded { .. }));
        Ok(ended.is_some_and(|ended| self.at() - ended.at > QUESTIONS_ONLY_AFTER))
    }

    /// Whether a letter resigns, but from an address that was added so lately that its owner may be somebody else.
    fn holds_resignation(&self, row: &TokenRow, letter: &Letter, request: &Request) -> Decided<bool> {
        let resigns = |asked: &NumberedCommand| asked.command == Command::Resign { confirmed: true };
        if request.check || !request.commands.iter().any(resigns) {
            return Ok(false);
        }
        Ok(self.new_until(row.player.id, letter.from.as_str())?.is_some())
    }

    /// Whether a letter protests, but no protest of this seat stops the match now.
    fn is_protest_spent(&self, row: &TokenRow, request: &Request) -> Decided<bool> {
        let protests = |asked: &NumberedCommand| matches!(asked.command, Command::Protest(_));
        if request.check || !request.commands.iter().any(protests) {
            return Ok(false);
        }
        Ok(referee::is_only_passed_on(&self.facts_of(&row.match_id)?, row.seat))
    }

    /// Asks the house what it would do in the sender's place, if the letter asks for that and may. The house thinks for up to
    /// a tenth of a second, so it does so once for a letter, and once for a phase.
    fn hint(
        &self,
        row: &TokenRow,
        request: &Request,
        game_match: &Match,
        elsewhere: &Elsewhere,
    ) -> Decided<Option<Hint>> {
        let asks = request.commands.iter().any(|asked| asked.command == Command::Hint);
        if !asks || elsewhere.has_hint || !game_match.gives_hints(row.seat) {
            return Ok(None);
        }
        let entries = self.entries_of(&row.match_id)?;
        if let Some(given) = hint_of_phase(&entries, row.seat, house::version(game_match.game)) {
            return Ok(Some(given));
        }
        Ok(ledger::seen(&entries, row.seat).and_then(|seen| game_match.hint(&seen)))
    }

    /// Returns the facts of a match, including those that this transaction adds.
    fn facts_of(&self, match_id: &str) -> Decided<Vec<Fact>> {
        Ok(self.entries_of(match_id)?.into_iter().map(|entry| entry.fact).collect())
    }

    /// Returns the entries of a match, including those that this transaction adds.
    fn entries_of(&self, match_id: &str) -> Decided<Vec<Entry>> {
        let mut entries: Vec<Entry> = self.context.entries(match_id)?.to_vec();
        for unsaved in self.draft.settlement.entries.iter().filter(|entry| entry.chain == match_id) {
            entries.push(serde_json::from_str(&unsaved.json)?);
        }
        Ok(entries)
    }

    /// Returns the orders that a seat sent so far.
    fn earlier_orders(&self, row: &TokenRow) -> Decided<Vec<EarlierOrders>> {
        let facts = self.facts_of(&row.match_id)?;
        let earlier = facts.iter().filter_map(EarlierOrders::of);
        Ok(earlier.filter(|(seat, _)| *seat == row.seat).map(|(_, orders)| orders).collect())
    }

    /// Completes the answers of a ruling with what the referee does not know: reports as they were sent, and replies to
    /// the commands that need no seat.
    fn complete_answers(
        &mut self,
        ruling: &mut Ruling,
        row: &TokenRow,
        letter: &Letter,
        request: &Request,
        others: &[OtherPart],
    ) -> Decided<()> {
        let mut missing = Wanted::default();
        for answer in answers_in(&mut ruling.dispatches) {
            answer.others = others.to_vec();
            let asker = Asker::player(&row.player, letter);
            if answer.replies.iter().any(repeats_reports) {
                let reports = self.reports_of(row, &answer.replies, &ruling.after);
                answer.reports = collect_needs(reports, &mut missing)?.unwrap_or_default();
            }
            self.complete_answer(answer, &asker, request, &mut missing)?;
            if let Some(Reply::LeftOut { count }) = answer.replies.last_mut() {
                *count = self.left_out(&seat_subject(&row.match_id, row.seat))?;
            }
        }
        if missing == Wanted::default() { Ok(()) } else { Err(missing.into()) }
    }

    /// Notes in the letter which readers have had too many letters that its player caused, and returns whether there
    /// are any.
    fn spare_readers(
        &mut self,
        ruling: &Ruling,
        loaded: &LoadedMatch,
        row: &TokenRow,
        letter: &mut SeatLetter,
    ) -> Decided<bool> {
        let mut missing = Wanted::default();
        let (mut to_opponent, mut to_gm) = (0, 0);
        for dispatch in ruling.dispatches.iter().filter(|dispatch| is_act_told(dispatch)) {
            if let Reader::Seat(seat) | Reader::Former(seat) = dispatch.to
                && loaded.seats[seat].player.addresses.is_empty()
            {
                letter.limits.spares_opponent = true;
                continue;
            }
            let (reader, before, spared) = match dispatch.to {
                Reader::Seat(seat) | Reader::Former(seat) => {
                    let reader = loaded.seats[seat].player.addresses.first().cloned().unwrap_or_default();
                    (reader, &mut to_opponent, &mut letter.limits.spares_opponent)
                }
                Reader::Gm => {
                    let game_match = &loaded.game_match;
                    let gms = self.readers_of(game_match.game, &game_match.id, &loaded.seats);
                    let gm = self.gm(gms.first().copied().unwrap_or_default());
                    let reader = gm.address.as_str().to_owned();
                    (reader, &mut to_gm, &mut letter.limits.spares_gm)
                }
            };
            self.touch(Key::Address(reader.clone()));
            let slot = self.slot_for_others(&reader, Origin::Opponent(row.player.id), *before);
            *spared |= collect_needs(slot, &mut missing)?.is_some_and(|slot| slot.is_none());
            *before += 1;
        }
        if missing != Wanted::default() {
            return Err(missing.into());
        }
        Ok(letter.limits.spares_opponent || letter.limits.spares_gm)
    }

    /// Counts the notices of a ruling for their readers, and delays those beyond the day's budget.
    fn delay_notices(
        &mut self,
        ruling: &Ruling,
        dispatches: &mut [NewDispatch],
        row: &TokenRow,
    ) -> Decided<()> {
        let origin = Origin::Opponent(row.player.id);
        let told = ruling.dispatches.iter().zip(dispatches).filter(|(dispatch, _)| is_act_told(dispatch));
        for (_, dispatch) in told {
            if let Some(slot) = self.slot_for_others(&dispatch.recipient, origin, 0)? {
                slot.apply(dispatch);
                let recipient = dispatch.recipient.clone();
                self.count_for_others(&recipient, origin, slot);
            }
        }
        Ok(())
    }

    fn complete_answer(
        &mut self,
        answer: &mut Answer,
        asker: &Asker,
        request: &Request,
        missing: &mut Wanted,
    ) -> anyhow::Result<()> {
        for (reply, asked) in answer.replies.iter_mut().zip(&request.commands) {
            match reply {
                Reply::CheckedOnly { .. } | Reply::MatchOver | Reply::Repeated => continue,
                // It changes this match, which this letter is about to change.
                Reply::NotHere { .. } if matches!(asked.command, Command::Deny(_)) => continue,
                _ => {}
            }
            let found = collect_needs(self.reply_to_everybody(asker, &asked.command), missing)?;
            if let Some(found) = found.flatten() {
                *reply = found;
            }
        }
        Ok(())
    }

    /// Returns the reports of a seat that each reply repeats, including those that this transaction adds.
    fn reports_of(&self, row: &TokenRow, replies: &[Reply], game_match: &Match) -> Decided<Vec<PastReports>> {
        let stored = self.context.reports(&row.match_id)?;
        let stored = stored.iter().filter(|(about, _)| about.seat == Some(row.seat));
        let stored = stored.map(|(_, bytes)| bytes.as_slice());
        let unsaved = self.draft.settlement.dispatches.iter();
        let unsaved = unsaved
            .filter(|new| new.kind == DispatchKind::Report && new.match_id.as_ref() == Some(&row.match_id))
            .filter(|new| new.seat == Some(row.seat))
            .map(|new| new.bytes.as_slice());
        Ok(repeated_reports(replies, stored.chain(unsaved), game_match))
    }
}

/// Returns what became of the letter that caused a ruling, as its answer says.
fn outcome_of(ruling: &Ruling) -> PartOutcome {
    let mut answers = ruling.dispatches.iter().filter_map(|dispatch| dispatch.content.answer());
    // Only a plain receipt is left out, for a player who wants none.
    answers.next().map_or(PartOutcome::Sealed, Answer::outcome)
}

/// Whether others than the player and the referee got this letter, and can read the seat's token in it.
pub fn is_shown_to_others(letter: &Letter, row: &TokenRow) -> bool {
    let has_token = letter.tokens.iter().any(|token| token.as_str() == row.token);
    let is_players = |address: &str| row.player.addresses.iter().any(|own| own == address);
    has_token && letter.other_recipients.iter().any(|other| !is_players(other.as_str()))
}

/// Whether the opponent reads of an absence in this match.
fn tells_of_absence(ruling: &Ruling) -> bool {
    let is_told = |dispatch: &Dispatch| {
        matches!(dispatch.content, Content::Notice(Notice::Absent { .. } | Notice::Absences { .. }))
    };
    ruling.dispatches.iter().any(is_told)
}

fn answers_in(dispatches: &mut [Dispatch]) -> impl Iterator<Item = &mut Answer> {
    dispatches.iter_mut().filter_map(|dispatch| dispatch.content.answer_mut())
}

/// Says of a message that it was held back because the opponent has no address.
fn tell_unreachable(answer: &mut Answer) {
    for reply in &mut answer.replies {
        if *reply == Reply::MessageHeldBack {
            *reply = Reply::MessageUndeliverable;
        }
    }
}

/// Whether a letter tells somebody of an act of the letter that is ruled on, other than a result.
fn is_act_told(dispatch: &Dispatch) -> bool {
    match &dispatch.content {
        Content::Notice(Notice::Over { .. }) => false,
        Content::Notice(_) => true,
        Content::Invitation
        | Content::Answer(_)
        | Content::Report { .. }
        | Content::Succession
        | Content::Reminder
        | Content::Missed { .. } => false,
    }
}

/// Returns the hint that a seat got in the open phase from this version of the house.
fn hint_of_phase(entries: &[Entry], seat: Seat, version: u32) -> Option<Hint> {
    let is_of_phase =
        |entry: &&Entry| !matches!(entry.fact, Fact::TurnAdjudicated { .. } | Fact::CorrectionMade { .. });
    entries.iter().rev().take_while(is_of_phase).find_map(|entry| match &entry.fact {
        Fact::HintGiven { seat: to, version: by, orders } if (*to, *by) == (seat, version) => {
            Some(Hint { version, orders: orders.clone() })
        }
        _ => None,
    })
}
