//! Own time: how long each seat of a match owed a filing while none of its filings stood, as the ledger shows.
//!
//! Bank days, grace and absences count. A filing with WAIT stands only from the deadline on, and one beside other words only
//! once it is firm. Pauses by a GM,
//! outages, the settle time and the delay of letters that were sent late count for nobody; the time of a
//! protest counts for the player who protested, unless the GM corrected a turn because of it. Phases that a
//! correction voids do not count.
//!
//! The end of a match, as its event counts it.

use chrono::{DateTime, TimeDelta, Utc};

use crate::club::reliability::deadline_by;
use crate::game::{BySeat, Reason, Seat};
use crate::ledger::book::BookOutcome;
use crate::ledger::{Act, Cause, Entry, Fact, PauseReason};
use crate::letter::Digest;

/// Two own times that differ by no more than this count as equal.
pub const EQUAL: TimeDelta = TimeDelta::hours(1);

type Span = (DateTime<Utc>, DateTime<Utc>);

/// Returns the own time of both seats up to `at`.
pub fn own_time(entries: &[Entry], at: DateTime<Utc>) -> BySeat<TimeDelta> {
    let mut walk = Walk::default();
    for entry in entries.iter().take_while(|entry| entry.at <= at) {
        walk.take(entry);
    }
    walk.finish(at)
}

/// Returns the seat that used more time; `None` if both used about as much.
pub fn slower(own: &BySeat<TimeDelta>) -> Option<Seat> {
    let difference = own.first - own.second;
    if difference.abs() <= EQUAL {
        None
    } else {
        Some(if difference > TimeDelta::zero() { Seat::First } else { Seat::Second })
    }
}

/// The times of one phase.
#[derive(Default)]
struct PhaseTimes {
    owed: Vec<(Seat, Span)>,
    protested: Vec<(Seat, Span)>,
}

/// The ledger so far.
#[derive(Default)]
struct Walk {
    last: DateTime<Utc>,
    /// The phases that were not voided, and the open one.
    phases: Vec<PhaseTimes>,
    open: PhaseTimes,
    owing: BySeat<bool>,
    /// Each seat's filing, if any: whether it waits for the deadline.
    filed: BySeat<Option<bool>>,
    deadline: Option<DateTime<Utc>>,
    /// The beginning of a pause, and the seat that protested, if the pause is due to a protest.
    paused: Option<(DateTime<Utc>, Option<Seat>)>,
    protester: Option<Seat>,
    void: Vec<Span>,
    is_over: bool,
}

impl Walk {
    fn take(&mut self, entry: &Entry) {
        self.advance(entry.at);
        self.note_absent_referee(entry);
        self.deadline = deadline_by(&entry.fact).flatten().or(self.deadline);
        match &entry.fact {
            Fact::DeadlineSet { seats, .. } => {
                self.owing = BySeat::from_fn(|seat| seats.contains(&seat));
            }
            Fact::OrdersSealed { seat, wait, firm_at, .. } => {
                self.filed[*seat] = Some(*wait).filter(|_| firm_at.is_none());
            }
            Fact::OrdersFirm { seat, .. } => self.filed[*seat] = Some(false),
            Fact::OrdersDeferred { seat, .. } => self.filed[*seat] = Some(true),
            Fact::OrdersWithdrawn { seat, .. } | Fact::PlayerReplaced { seat, .. } => {
                self.filed[*seat] = None
            }
            Fact::TurnAdjudicated { .. } => {
                self.end_pause(entry.at, true);
                self.phases.push(std::mem::take(&mut self.open));
                self.begin_phase();
            }
            Fact::CorrectionMade { keeps, .. } => {
                self.end_pause(entry.at, false);
                self.phases.truncate(*keeps);
                self.open = PhaseTimes::default();
                self.is_over = false;
                self.begin_phase();
            }
            Fact::Protested { seat, passed_on: false } => self.protester = Some(*seat),
            Fact::MatchPaused { reason } => {
                let protester = self.protester.filter(|_| *reason == PauseReason::Protest);
                self.paused = Some((entry.at, protester));
            }
            Fact::MatchResumed { .. } => self.end_pause(entry.at, true),
            Fact::MatchEnded { .. } => {
                self.end_pause(entry.at, true);
                self.is_over = true;
            }
            _ => {}
        }
    }

    fn begin_phase(&mut self) {
        self.owing = BySeat::default();
        self.filed = BySeat::default();
    }

    /// Counts the time since the last entry.
    fn advance(&mut self, at: DateTime<Utc>) {
        for seat in Seat::BOTH.into_iter().filter(|seat| self.owing[*seat] && !self.is_over) {
            let until = match (self.filed[seat], self.deadline) {
                (None, _) => at,
                (Some(true), Some(deadline)) => at.min(deadline),
                (Some(_), _) => continue,
            };
            if until > self.last {
                self.open.owed.push((seat, (self.last, until)));
            }
        }
        self.last = self.last.max(at);
    }

    /// Notes the time in which the referee was down, or had not yet sent its letter.
    fn note_absent_referee(&mut self, entry: &Entry) {
        let since = match entry.own_cause().and_then(|cause| cause.act()) {
            Some(Act::Slide { since }) => *since,
            Some(Act::SentLate { written, .. }) => *written,
            _ => return,
        };
        self.void.push((since, entry.at));
    }

    /// Ends a pause. `counts`: the protest was not upheld.
    fn end_pause(&mut self, at: DateTime<Utc>, counts: bool) {
        let Some((since, protester)) = self.paused.take() else { return };
        self.void.push((since, at));
        if let Some(seat) = protester.filter(|_| counts) {
            self.open.protested.push((seat, (since, at)));
        }
        self.protester = None;
    }

    fn finish(mut self, at: DateTime<Utc>) -> BySeat<TimeDelta> {
        self.advance(at);
        self.end_pause(at, true);
        let mut void = std::mem::take(&mut self.void);
        void.sort_unstable();
        let mut own = BySeat::new(TimeDelta::zero(), TimeDelta::zero());
        for phase in self.phases.iter().chain([&self.open]) {
            for (seat, span) in &phase.owed {
                own[*seat] += without(*span, &void);
            }
            for (seat, (from, to)) in &phase.protested {
                own[*seat] += *to - *from;
            }
        }
        own
    }
}

/// Returns the length of a span, without its overlaps with the `void` spans, which are sorted.
fn without((from, to): Span, void: &[Span]) -> TimeDelta {
    let mut left = to - from;
    let mut counted = from;
    for (begun, ended) in void {
        let begun = (*begun).max(counted);
        let ended = (*ended).min(to);
        if ended > begun {
            left -= ended - begun;
            counted = ended;
        }
    }
    left
}

/// Formats an own time: `31 d 4 h`.
pub fn format_own_time(time: TimeDelta) -> String {
    format!("{} d {} h", time.num_days(), time.num_hours() % 24)
}

/// An end of a match: how it ended, and the entry that records it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchEnd {
    /// The hash of that entry.
    pub end: Digest,
    pub outcome: BookOutcome,
    /// The seat that missed too many turns. A forfeit declared by a GM does not count.
    pub vanished: Option<Seat>,
    /// Seconds of each seat's own time.
    pub own: BySeat<i64>,
}

/// Returns the last end in these entries of a match, from its first one on. A match that was corrected or reopened
/// may end several times.
pub fn last_end(entries: &[Entry]) -> Option<MatchEnd> {
    let last = entries.iter().rev().find(|entry| is_end(&entry.fact))?;
    let own = own_time(entries, last.at);
    let closed = entries.iter().rev().find(|entry| matches!(entry.fact, Fact::MatchClosed { .. }));
    // A side whose match a GM forfeits has not necessarily missed turns.
    let by_gm = closed.is_some_and(|entry| matches!(entry.own_cause(), Some(Cause::Gm { .. })));
    let (outcome, vanished) = match &last.fact {
        Fact::MatchEnded { outcome } => {
            let is_missed = outcome.reason == Reason::Forfeited && !by_gm;
            (BookOutcome::of(outcome), outcome.winner.filter(|_| is_missed).map(Seat::other))
        }
        _ => (BookOutcome::None, None),
    };
    Some(MatchEnd {
        end: last.hash(),
        outcome,
        vanished,
        own: BySeat::from_fn(|seat| own[seat].num_seconds()),
    })
}

/// Whether a fact ends a match.
pub fn is_end(fact: &Fact) -> bool {
    matches!(fact, Fact::MatchEnded { .. } | Fact::MatchAnnulled { .. })
}
