//! A match from its opening to its end: its stored data, and the steps that all causes share.

use std::collections::BTreeMap;

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::kept::{Bounces, GmMessage, OfferedOrders, RefusedLetter, SentLate, Unsealing, Vanished};
use super::past::Past;
use super::schedule::{Absence, Terms};
use super::stage::Stage;
use super::wording_news::WordingNews;
use super::{Adjudication, Answer, Content, Dispatch, Notice, Reader, Ruling};
use crate::game::any::{AnyState, Filing, GameKind, Memories};
use crate::game::condition::Conditions;
use crate::game::record::Ending;
use crate::game::{BySeat, Due, Phase, Seat};
use crate::ledger::{
    self, Cause, ChainedEntry, Delivery, Entry, EntryCause, Fact, Head, Lot, MailIdentity, PauseReason,
    PlayerSettings, Room, SealKey,
};
use crate::letter::Digest;

/// Orders that a seat has filed for the open phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FiledOrders<F = Filing> {
    pub filing: F,
    pub at: DateTime<Utc>,
    /// `WAIT`: do not adjudicate before the deadline.
    pub wait: bool,
}

/// A match: everything the referee needs to rule on it. Stored as a JSON snapshot, in which `F` is the lines of a filing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Match<F = Filing> {
    /// Such as `QZ-7K3M`.
    pub id: String,
    pub game: GameKind,
    /// Version of the game's rules, fixed when the match opens.
    pub rules: u32,
    /// The format of its ledger, fixed when the match opens.
    pub format: u32,
    pub players: BySeat<String>,
    /// The level at which the house plays the seat, or `None` if a player holds it.
    pub house: BySeat<Option<String>>,
    pub terms: Terms,
    /// The players' choices for their letters.
    pub settings: BySeat<PlayerSettings>,
    pub stage: Stage,
    pub paused_at: Option<DateTime<Utc>>,
    pub state: AnyState,
    /// The seats' memories, in a game that hides something: `None` until something was adjudicated.
    pub memories: Option<Memories>,
    pub held: BySeat<Option<FiledOrders<F>>>,
    /// Conditional orders that wait for the opponent's next move.
    pub conditions: BySeat<Option<Conditions>>,
    /// Number of the open phase, from 1. Causes name it, so that a late one does nothing.
    pub phase_no: u32,
    pub opened_at: DateTime<Utc>,
    /// Deadline of the open phase. `None` while no player owes orders.
    pub deadline: Option<DateTime<Utc>>,
    /// Time at which complete filings are adjudicated, if they wait for the settle time or the deadline.
    pub settle_at: Option<DateTime<Utc>>,
    /// Number of this deadline's reminders that are past, sent or not.
    pub reminders_sent: usize,
    /// The GM was asked to decide. Deadlines are not enforced until the GM does.
    pub asked_gm: bool,
    /// Mail to the seat bounces.
    pub bouncing: BySeat<bool>,
    pub bounces: BySeat<Bounces>,
    /// The deadline was moved because letters that opened a phase were sent late.
    pub sent_late: Option<SentLate>,
    /// An automatic absence note came from the seat, and no letter since.
    pub away: BySeat<bool>,
    /// The seat that protested, until the GM resumes the match.
    pub protest: Option<Seat>,
    pub vanished: Option<Vanished>,
    /// Consecutive missed turns.
    pub missed: BySeat<u32>,
    /// Orders that a seat files by `YES`.
    pub offered: BySeat<Option<OfferedOrders>>,
    /// The last letter of a seat for the open phase, if it was refused.
    pub refused: BySeat<Option<RefusedLetter>>,
    pub draw_offer: Option<Seat>,
    /// The seat that asked for more time, and for how many days.
    pub extension: Option<(Seat, u32)>,
    pub absences: BySeat<Vec<Absence>>,
    /// Phase, turn and time of every standing adjudication.
    pub adjudicated: Vec<(Phase, u32, DateTime<Utc>)>,
    pub desk: MailIdentity,
    /// Whether the sides know that the club words their letters differently.
    pub wording_news: BySeat<WordingNews>,
    /// The club's own templates that a seat was told of last, while others are in force.
    pub templates_told: BySeat<BTreeMap<String, Digest>>,
    pub head: Head,
    pub key: SealKey,
    /// The secrets before it, oldest first: reopening a match whose end was told gives it a new one.
    pub earlier_keys: Vec<SealKey>,
    /// The source of the first secret, if it was not drawn at random.
    pub lot: Option<Lot>,
    /// Texts of GMs to the sides.
    pub gm_messages: Vec<GmMessage>,
    /// Hidden facts that GMs were shown.
    pub unsealed: Vec<Unsealing>,
    pub past: Past,
    /// Pins of the letters that the last ruling produced, for the next entry to name. The shell, which words them,
    /// fills this in.
    pub told: Vec<Digest>,
    /// Our letters delivered since the last ruling, for the next entry to list. Filled in when the match is loaded.
    #[serde(skip)]
    pub delivered: Vec<Delivery>,
}

impl Match {
    /// Returns what is due and from which seats, or `None` once the match is over.
    pub fn due(&self) -> Option<Due> {
        self.state.due()
    }

    /// Like [`Match::due`], but only from players: there are no deadlines for the house.
    pub(super) fn due_from_players(&self) -> Option<Due> {
        let mut due = self.due()?;
        due.seats.retain(|seat| self.house[*seat].is_none());
        Some(due).filter(|due| !due.seats.is_empty())
    }

    /// Whether `seat` owes orders for the open phase.
    pub fn awaits(&self, seat: Seat) -> bool {
        self.held[seat].is_none() && self.due().is_some_and(|due| due.seats.contains(&seat))
    }

    /// Returns the seats that owe orders, `first` first.
    pub fn awaited(&self) -> Vec<Seat> {
        Seat::BOTH.into_iter().filter(|seat| self.awaits(*seat)).collect()
    }

    /// Returns the match as it is stored.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a match is plain values")
    }

    /// Returns the days that the terms give to the open phase.
    pub(super) fn phase_days(&self) -> u32 {
        let is_setup = self.due().is_some_and(|due| due.phase == Phase::Setup);
        if is_setup { self.terms.setup_days } else { self.terms.days }
    }
}

/// A ruling in progress: the match, ledger entries and dispatches decided so far.
pub(super) struct Draft {
    pub game_match: Match,
    pub cause: Cause,
    pub at: DateTime<Utc>,
    /// The room that the opponent still has for notices of what a letter does.
    pub opponent: Room,
    /// The same of the GM.
    pub gm: Room,
    /// Whether the opponent is told of absences by another letter: several of one letter are told together.
    pub tells_absences_later: bool,
    entries: Vec<ChainedEntry>,
    dispatches: Vec<Dispatch>,
    unsent: Option<Box<Answer>>,
}

impl Draft {
    pub fn new(game_match: Match, cause: Cause, at: DateTime<Utc>) -> Self {
        let (opponent, gm) = cause.letter().map(|letter| (letter.opponent, letter.gm)).unwrap_or_default();
        Draft {
            game_match,
            cause,
            at: ledger::truncate_to_millis(at),
            opponent,
            gm,
            tells_absences_later: false,
            entries: Vec::new(),
            dispatches: Vec::new(),
            unsent: None,
        }
    }

    /// Withdraws the answer at `place`, which nobody wants.
    pub fn drop_answer(&mut self, place: usize) {
        self.dispatches.remove(place);
    }

    /// Withdraws the answer at `place`, which must not be sent.
    pub fn hold_answer(&mut self, place: usize) {
        if let Content::Answer(answer) = self.dispatches.remove(place).content {
            self.unsent = Some(answer);
        }
    }

    pub fn ruling(mut self) -> Ruling {
        if !self.entries.is_empty() && self.cause.letter().is_none() {
            self.game_match.past.note_ruling(None, self.at);
        }
        for dispatch in &self.dispatches {
            if let Reader::Seat(seat) = dispatch.to {
                self.game_match.tell_wording(seat);
            }
        }
        Ruling {
            rejection: None,
            after: self.game_match,
            entries: self.entries,
            dispatches: self.dispatches,
            unsent: self.unsent,
        }
    }

    /// Returns the salt of the next entry.
    pub fn next_salt(&self) -> String {
        self.game_match.key.salt(self.game_match.head.seq + 1)
    }

    /// Appends a fact to the ledger.
    pub fn record(&mut self, fact: Fact) {
        self.game_match.past.note(&fact, self.at);
        let cause = match self.entries.first() {
            Some(first) => EntryCause::Of(first.entry.seq),
            None => {
                let news = &mut self.game_match.wording_news;
                *news = BySeat::from_fn(|seat| news[seat].after_ruling());
                EntryCause::Cause(self.cause.clone())
            }
        };
        let seq = self.game_match.head.seq + 1;
        let chained = ChainedEntry::from(Entry {
            match_id: self.game_match.id.clone(),
            seq,
            at: self.at,
            cause,
            fact,
            salt: self.game_match.key.salt(seq),
            prev: self.game_match.head.hash,
            told: std::mem::take(&mut self.game_match.told),
            delivered: std::mem::take(&mut self.game_match.delivered),
        });
        self.game_match.head = Head { seq, hash: chained.hash };
        self.entries.push(chained);
    }

    /// Adds a dispatch, unless the house holds the seat.
    pub fn dispatch(&mut self, to: Reader, content: Content) {
        if matches!(to, Reader::Seat(seat) if self.game_match.house[seat].is_some()) {
            return;
        }
        self.dispatches.push(Dispatch { to, content });
    }

    pub fn dispatch_to_both(&mut self, content: Content) {
        for seat in Seat::BOTH {
            self.dispatch(Reader::Seat(seat), content.clone());
        }
    }

    /// Reserves the answer's place ahead of the dispatches that the letter causes, so that it is sent first. Returns
    /// the place.
    pub fn reserve_answer(&mut self, seat: Seat) -> usize {
        self.dispatch(Reader::Seat(seat), Content::Answer(Box::default()));
        self.dispatches.len() - 1
    }

    pub fn put_answer(&mut self, place: usize, answer: Answer) {
        self.dispatches[place].content = Content::Answer(Box::new(answer));
    }

    /// Moves the answer at `place` into the report to the same seat. Returns whether there is one.
    pub fn merge_answer_into_report(&mut self, place: usize, seat: Seat) -> bool {
        let report = self.dispatches.iter().position(|dispatch| {
            dispatch.to == Reader::Seat(seat) && matches!(dispatch.content, Content::Report { .. })
        });
        let Some(report) = report else { return false };
        let Content::Answer(answer) =
            std::mem::replace(&mut self.dispatches[place].content, Content::Reminder)
        else {
            return false;
        };
        if let Content::Report { receipt, .. } = &mut self.dispatches[report].content {
            *receipt = Some(answer);
        }
        self.dispatches.remove(place);
        true
    }

    /// Suspends the deadlines of the match.
    pub fn pause(&mut self, reason: PauseReason) {
        self.game_match.stage = Stage::Paused;
        self.game_match.paused_at = Some(self.at);
        self.record(Fact::MatchPaused { reason });
    }

    /// Moves the deadline by whole days, counted from now if it has passed. Returns the new one, or `None` if there is
    /// no deadline to move.
    pub fn extend(&mut self, days: u32) -> Option<DateTime<Utc>> {
        let (due, deadline) = self.game_match.due().zip(self.game_match.deadline)?;
        let absences = self.absences_of(&due);
        let deadline = if deadline > self.at {
            self.game_match.terms.extended(deadline, days, &absences)
        } else {
            self.game_match.terms.deadline(self.at, days, &absences)
        };
        self.move_deadline(deadline);
        self.game_match.asked_gm = false;
        self.game_match.vanished = None;
        self.game_match.extension = None;
        self.record(Fact::DeadlineExtended { days, deadline });
        Some(deadline)
    }

    /// Starts the phase that has just opened: clears requests and offers, and sets the deadline.
    pub fn open_phase(&mut self) {
        self.game_match.settle_at = None;
        self.game_match.asked_gm = false;
        self.game_match.draw_offer = None;
        self.game_match.extension = None;
        self.game_match.offered = BySeat::default();
        self.game_match.refused = BySeat::default();
        let days = self.game_match.phase_days();
        self.set_deadline(days);
    }

    /// Sets a deadline `days` from now, or none if no player owes orders.
    pub fn set_deadline(&mut self, days: u32) {
        self.game_match.vanished = None;
        let Some(due) = self.game_match.due_from_players() else {
            self.game_match.deadline = None;
            return;
        };
        let deadline = self.game_match.terms.deadline(self.at, days, &self.absences_of(&due));
        // Resuming a paused match adds the time since `paused_at`, none of which has counted for this new deadline.
        self.game_match.paused_at = self.game_match.paused_at.map(|_| self.at);
        self.move_deadline(deadline);
        self.record(Fact::DeadlineSet { phase: due.phase, turn: due.turn, seats: due.seats, deadline });
    }

    /// Counts the reminders that would be in the past as sent.
    pub fn skip_past_reminders(&mut self) {
        self.game_match.skip_past_reminders(self.at);
    }

    /// Changes the deadline; see [`Match::move_deadline`].
    pub fn move_deadline(&mut self, deadline: DateTime<Utc>) {
        self.game_match.move_deadline(deadline, self.at);
    }

    /// Returns the absences of the seats that `due` names.
    pub fn absences_of(&self, due: &Due) -> Vec<Absence> {
        due.seats.iter().flat_map(|seat| self.game_match.absences[*seat].iter().copied()).collect()
    }

    /// Adjudicates if all filings are in: at the deadline if a seat asked to wait, else after the settle time, which
    /// may be zero. Does nothing while the match is paused.
    pub fn adjudicate_if_complete(&mut self) {
        self.game_match.settle_at = None;
        let Some(due) = self.game_match.due().filter(|_| self.game_match.stage == Stage::Running) else {
            return;
        };
        let held: Vec<_> = due.seats.iter().filter_map(|seat| self.game_match.held[*seat].as_ref()).collect();
        if held.len() < due.seats.len() {
            return;
        }
        if held.iter().any(|held| held.wait) {
            self.game_match.settle_at = self.game_match.deadline.map(|deadline| deadline.max(self.at));
        } else if self.game_match.terms.settle_time() > TimeDelta::zero() {
            self.game_match.settle_at = Some(self.at + self.game_match.terms.settle_time());
        } else {
            self.adjudicate(Vec::new());
        }
    }

    /// Adjudicates the open phase and reports it to both sides. `missed` lists the seats whose filings the rules
    /// assumed.
    pub fn adjudicate(&mut self, missed: Vec<Seat>) {
        self.adjudicate_and_report(missed, None);
    }

    /// Adjudicates the open phase after a correction, whose reason the reports give.
    pub fn adjudicate_corrected(&mut self, reason: String) {
        self.adjudicate_and_report(Vec::new(), Some(reason));
    }

    fn adjudicate_and_report(&mut self, missed: Vec<Seat>, correction: Option<String>) {
        let filed = Box::new(self.game_match.held.clone());
        let (mut steps, mut conditions) = (Vec::new(), Vec::new());
        // The game passes for a side that has no legal move, and conditional orders answer a move at once, so adjudicate
        // until a side owes orders or the match ends.
        while let Some(due) = self.game_match.due() {
            if !steps.is_empty() && due.seats.iter().any(|seat| self.game_match.awaits(*seat)) {
                break;
            }
            steps.extend(self.adjudicate_once());
            conditions.extend(self.follow_conditions(&due.seats));
        }
        self.open_phase();
        self.end_if_over();
        let receipt = None;
        self.dispatch_to_both(Content::Report { steps, missed, correction, filed, conditions, receipt });
    }

    /// Adjudicates the first phase if the side to move has no move, which some arrays of Quantum cause.
    pub(super) fn pass_where_nothing_is_due(&mut self) {
        if self.game_match.due().is_some_and(|due| due.seats.is_empty()) {
            self.adjudicate(Vec::new());
        }
    }

    /// Adjudicates the open phase once.
    fn adjudicate_once(&mut self) -> Option<Adjudication> {
        let due = self.game_match.due()?;
        let filings = std::mem::take(&mut self.game_match.held).map(|held| held.map(|held| held.filing));
        let before = self.game_match.state.clone();
        self.game_match.remember_news();
        self.game_match.state.adjudicate(&filings);
        self.record(Fact::TurnAdjudicated {
            phase: due.phase,
            turn: due.turn,
            filings: filings.as_ref().map(|filing| filing.as_ref().map(Filing::lines)),
            state: Digest::of(ledger::canonical(&self.game_match.state).as_bytes()),
        });
        self.game_match.phase_no += 1;
        self.game_match.adjudicated.push((due.phase, due.turn, self.at));
        let state = self.game_match.state.clone();
        Some(Adjudication { phase: due.phase, turn: due.turn, before, filings, state })
    }

    /// Ends the match from outside the rules, such as by resignation. Both sides get a report with everything revealed.
    pub fn close(&mut self, ending: Ending) {
        let Some(due) = self.game_match.due() else { return };
        self.game_match.held = BySeat::default();
        let before = self.game_match.state.clone();
        self.game_match.remember_news();
        self.game_match.state.close(ending.outcome());
        self.record(Fact::MatchClosed { ending });
        let conditions = self.follow_conditions(&due.seats);
        self.game_match.phase_no += 1;
        self.open_phase();
        self.end_if_over();
        let (filings, state) = (BySeat::default(), self.game_match.state.clone());
        let step = Adjudication { phase: due.phase, turn: due.turn, before, filings, state };
        self.dispatch_to_both(Content::Report {
            steps: vec![step],
            missed: Vec::new(),
            correction: None,
            filed: Box::default(),
            conditions,
            receipt: None,
        });
    }

    fn end_if_over(&mut self) {
        if let Some(outcome) = self.game_match.state.outcome() {
            self.game_match.stage = Stage::Over;
            self.record(Fact::MatchEnded { outcome: outcome.clone() });
            self.dispatch(Reader::Gm, Content::Notice(Notice::Over { outcome }));
        }
    }
}
