//! A ruling: the changes, records and letters that it makes.

use chrono::{DateTime, TimeDelta, Utc};

use super::dispatch::{Content, Dispatch, Reader};
use super::game_match::{FiledOrders, Match, Stage, WaitEnd};
use super::wording_news;
use crate::game::any::Filing;
use crate::game::{BySeat, Due, Line, Seat};
use crate::ledger::{self, Allowance, Cause, ChainedEntry, Entry, EntryCause, Fact, Head, PauseReason};
use crate::referee::answer::Answer;
use crate::referee::rejection::Rejection;
use crate::request::Beside;

/// A decision that the shell has yet to store.
#[derive(Clone, Debug)]
pub struct Ruling {
    /// The reason why an act was rejected.
    pub rejection: Option<Rejection>,
    /// The match after the ruling.
    pub after: Match,
    pub entries: Vec<ChainedEntry>,
    pub dispatches: Vec<Dispatch>,
    /// The answer to the letter, if it is suppressed. The letter's commands that concern no match are still
    /// carried out.
    pub unsent: Option<Box<Answer>>,
}

impl Ruling {
    /// Returns the answer to the letter, sent or not. There is none if its player does not want this receipt.
    pub fn answer_mut(&mut self) -> Option<&mut Answer> {
        let mut sent = self.dispatches.iter_mut().filter_map(|dispatch| dispatch.content.answer_mut());
        sent.next().or(self.unsent.as_deref_mut())
    }
}

/// A ruling in progress: the match, ledger entries and dispatches decided so far.
pub struct Draft {
    pub game_match: Match,
    pub cause: Cause,
    pub at: DateTime<Utc>,
    /// The beginning of waits and phases that this ruling begins: earlier than `at` for a letter that is read again after a
    /// backup was restored.
    pub began: DateTime<Utc>,
    /// The opponent's remaining room for notices about a letter's acts.
    pub opponent: Allowance,
    /// The same for the GM.
    pub gm: Allowance,
    /// Whether the opponent is notified of absences by a separate letter, which announces all absences of one
    /// letter.
    pub tells_absences_later: bool,
    entries: Vec<ChainedEntry>,
    dispatches: Vec<Dispatch>,
    unsent: Option<Box<Answer>>,
}

impl Draft {
    pub fn new(game_match: Match, cause: Cause, at: DateTime<Utc>) -> Self {
        let at = ledger::truncate_to_millis(at);
        let came = cause.letter().filter(|letter| letter.came_earlier().is_none());
        let began = came.map_or(at, |letter| letter.received.min(at));
        let (opponent, gm) = cause.letter().map(|letter| (letter.opponent, letter.gm)).unwrap_or_default();
        Draft {
            game_match,
            cause,
            at,
            began,
            opponent,
            gm,
            tells_absences_later: false,
            entries: Vec::new(),
            dispatches: Vec::new(),
            unsent: None,
        }
    }

    /// Withdraws the answer at `place`, for a player who wants none.
    pub fn drop_answer(&mut self, place: usize) {
        self.dispatches.remove(place);
    }

    /// Withdraws the answer at `place`, which must not be sent.
    pub fn suppress_answer(&mut self, place: usize) {
        if let Content::Answer(answer) = self.dispatches.remove(place).content {
            self.unsent = Some(answer);
        }
    }

    pub fn ruling(mut self) -> Ruling {
        if !self.entries.is_empty() && self.cause.letter().is_none() {
            self.game_match.past.note_ruling(None, self.at);
        }
        // A letter that waits may never be sent.
        for dispatch in self.dispatches.iter().filter(|dispatch| !dispatch.waits_for_house) {
            if let Reader::Seat(seat) = dispatch.to {
                wording_news::tell(&mut self.game_match, seat);
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

    /// Returns the end of a wait of this length that begins now.
    pub fn wait_end(&self, wait: TimeDelta) -> WaitEnd {
        WaitEnd { at: self.at + wait, by_arrival: self.began + wait }
    }

    /// Returns when a filing of the letter will be firm. `None`: at once.
    pub fn firm_at(&self, seat: Seat, beside: Beside) -> Option<WaitEnd> {
        let game_match = &self.game_match;
        let deadline = game_match.deadline.map(|deadline| deadline - game_match.lag());
        let at = game_match.firm_at(seat, beside, self.at, game_match.deadline);
        let by_arrival = game_match.firm_at(seat, beside, self.began, deadline);
        // A letter that is decided again after a restore may have come before a deadline that is long past.
        at.or(by_arrival)?;
        Some(WaitEnd { at: at.unwrap_or(self.at), by_arrival: by_arrival.unwrap_or(self.began) })
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
        self.game_match.note_delivered();
        let seq = self.game_match.head.seq + 1;
        let chained = ChainedEntry::from(Entry {
            match_id: self.game_match.id.clone(),
            seq,
            at: self.at,
            cause,
            fact,
            salt: self.game_match.key.salt(seq),
            prev: self.game_match.head.hash,
            pins: std::mem::take(&mut self.game_match.pins),
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
        self.dispatches.push(Dispatch::new(to, content));
    }

    pub fn dispatch_to_both(&mut self, content: Content) {
        for seat in Seat::BOTH {
            self.dispatch(Reader::Seat(seat), content.clone());
        }
    }

    /// Reserves the answer's place ahead of the dispatches that the letter causes. Returns the place.
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

    /// Makes the answer to a letter of the seat wait for the house: the report, or the receipt if there is
    /// none. Returns its place and its content.
    pub(super) fn hold_for_house(&mut self, seat: Seat) -> Option<(usize, Content)> {
        let place = |is_it: fn(&Content) -> bool| {
            let is_own = |dispatch: &Dispatch| dispatch.to == Reader::Seat(seat) && is_it(&dispatch.content);
            self.dispatches.iter().position(is_own)
        };
        let report = place(|content| matches!(content, Content::Report { .. }));
        let index = report.or_else(|| place(|content| matches!(content, Content::Answer(_))))?;
        let dispatch = &mut self.dispatches[index];
        dispatch.waits_for_house = true;
        Some((index, dispatch.content.clone()))
    }

    /// Suspends the deadlines of the match.
    pub fn pause(&mut self, reason: PauseReason) {
        self.game_match.stage = Stage::Paused;
        self.game_match.paused_at = Some(self.at);
        self.record(Fact::MatchPaused { reason });
    }

    /// Seals orders that did not come in a letter from the seat's player.
    ///
    /// # Errors
    /// [`Rejection`] if nothing is due from the seat, or if the orders cannot stand.
    pub fn seal(&mut self, seat: Seat, orders: &[Line]) -> Result<(), Rejection> {
        let due = self.game_match.due().filter(|due| due.seats.contains(&seat));
        due.ok_or(Rejection::NotDue { seat })?;
        let filing = self.game_match.seal(seat, orders).map_err(|faults| Rejection::Faulty { faults })?;
        self.file(seat, filing, None);
        Ok(())
    }

    /// Files orders of a seat that is due, which are firm from `firm_at` on; `None`: at once.
    pub fn file(&mut self, seat: Seat, filing: Filing, firm_at: Option<WaitEnd>) {
        let Some(Due { phase, turn, .. }) = self.game_match.due() else { return };
        let orders = filing.lines();
        let sealed = ledger::seal_digest(&self.next_salt(), &orders);
        let firm = firm_at.map(|end| end.at);
        self.record(Fact::OrdersSealed { seat, phase, turn, orders, wait: false, firm_at: firm, sealed });
        self.game_match.filed[seat] = Some(FiledOrders { firm_at, ..FiledOrders::new(filing, self.at) });
    }
}
