//! A match from its opening to its end: its stored data, and the values derived from them alone.

use std::collections::BTreeMap;

use chrono::{DateTime, NaiveDate, NaiveDateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::kept::{
    Bounces, ClockMove, GmMessage, OfferedOrders, RefusedLetter, SentLate, Unsealing, Untold, Vanished,
    WordingNews,
};
use super::past::Past;
use crate::game::any::{AnyState, Filing, GameKind, Memories};
use crate::game::condition::Conditions;
use crate::game::named_enum;
use crate::game::{BySeat, Due, Fault, Line, OrderLines, Outcome, Phase, Reason, Seat};
use crate::ledger::{
    Act, Delivery, Head, Lot, MailIdentity, PlayerSettings, SealKey, instant_in, is_default,
};
use crate::letter::Digest;
use crate::referee::matter::Matter;
use crate::referee::schedule::{Absence, Terms};
use crate::request::Beside;
use crate::zone::Zone;

named_enum! {
    /// The stage of a match.
    pub enum Stage {
        Running = "running",
        /// Deadlines are suspended. Orders are still sealed, and adjudicated when the match resumes.
        Paused = "paused",
        Over = "over",
    }
}

/// The end of a wait for second thoughts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WaitEnd {
    /// As players read it, counted from the ruling.
    pub at: DateTime<Utc>,
    /// Counted from the arrival of the letter. It is earlier if the letter was read again after a backup was restored.
    pub by_arrival: DateTime<Utc>,
}

/// Orders that a seat has filed for the open phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FiledOrders<F = Filing> {
    pub filing: F,
    pub at: DateTime<Utc>,
    /// `WAIT`: do not adjudicate before the deadline.
    pub wait: bool,
    /// The time from which the filing is firm. Until then its player can take it back, and for the other side it
    /// is not there. `None`: it is firm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub firm_at: Option<WaitEnd>,
    /// Whether its player answered the receipt with other words, and so was asked.
    #[serde(default, skip_serializing_if = "is_default")]
    pub asked: bool,
    /// Digests of the letter's lines that are neither orders nor commands nor courtesies.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_lines: Vec<Digest>,
}

impl<F> FiledOrders<F> {
    /// Returns a filing that is firm.
    pub fn new(filing: F, at: DateTime<Utc>) -> FiledOrders<F> {
        FiledOrders { filing, at, wait: false, firm_at: None, asked: false, other_lines: Vec::new() }
    }
}

/// Marks the form in which a snapshot holds a filing. Only a match of such filings derives its `Deserialize`: that of
/// [`Match`] itself is written out, because its filings are checked against its state.
pub trait StoredFiling {}

impl StoredFiling for OrderLines {}

/// A match: all that the referee needs to rule on it. In its JSON snapshot, `F` is the lines of a filing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(bound(deserialize = "F: StoredFiling + Deserialize<'de>"))]
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
    /// The terms from the next phase on, if a GM has changed them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_terms: Option<Terms>,
    /// The players' choices for their letters.
    pub settings: BySeat<PlayerSettings>,
    pub stage: Stage,
    /// Whether a GM has voided the result.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub annulled: bool,
    pub paused_at: Option<DateTime<Utc>>,
    pub state: AnyState,
    /// The seats' memories, in a game that hides something: `None` until something was adjudicated.
    pub memories: Option<Memories>,
    pub filed: BySeat<Option<FiledOrders<F>>>,
    /// The turns that a player has not read yet, because the house moves next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub untold: Option<Untold>,
    /// Conditional orders that wait for the opponent's next move.
    pub conditions: BySeat<Option<Conditions>>,
    /// The time from which they are firm, as for filings.
    #[serde(default, skip_serializing_if = "is_default")]
    pub conditions_firm_at: BySeat<Option<WaitEnd>>,
    /// Lines that stood in the seat's letters beside orders that were played, each with the number of letters.
    #[serde(default, skip_serializing_if = "is_default")]
    pub footers: BySeat<BTreeMap<Digest, u32>>,
    /// Number of the open phase, from 1. Causes name it, so that a late one does nothing.
    pub phase_no: u32,
    pub opened_at: DateTime<Utc>,
    /// Deadline of the open phase. `None` while no player owes orders.
    pub deadline: Option<DateTime<Utc>>,
    /// Seconds by which it is later than if the letter that opened the phase had been ruled on when it came: that letter
    /// was read again after a backup was restored.
    #[serde(default, skip_serializing_if = "is_default")]
    pub lag_seconds: i64,
    /// The deadline as players read it, in the zone of the terms. If clocks there turn out to change otherwise, it is the
    /// deadline that moves.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub local_deadline: Option<NaiveDateTime>,
    /// Time at which complete filings are adjudicated, if they wait for the settle time or the deadline.
    pub settle_at: Option<WaitEnd>,
    /// Number of this deadline's reminders that are past, sent or not.
    pub reminders_sent: usize,
    /// Whether the GM was asked to decide. Deadlines are not enforced until the GM does.
    pub asked_gm: bool,
    /// Whether mail to the seat bounces.
    pub bouncing: BySeat<bool>,
    pub bounces: BySeat<Bounces>,
    /// The extension of the deadline because letters that opened the phase were sent late.
    pub sent_late: Option<SentLate>,
    /// The moves of the open phase's deadline, which are undone if the clock turns out to have been ahead.
    #[serde(default)]
    pub clock_moves: Vec<ClockMove>,
    /// Whether an automatic absence note came from the seat, and no letter since.
    pub away: BySeat<bool>,
    /// Whether a letter from the seat mentioned illness or death, and the seat has filed nothing since.
    #[serde(default)]
    pub in_trouble: BySeat<bool>,
    /// The seat that protested, until the GM resumes the match.
    pub protest: Option<Seat>,
    /// The words of that protest, for the GM who decides.
    #[serde(default, skip_serializing_if = "is_default")]
    pub protest_words: String,
    pub vanished: Option<Vanished>,
    /// Consecutive missed turns.
    pub missed: BySeat<u32>,
    /// The turns in which each seat took days of its bank, a turn for each day.
    #[serde(default, skip_serializing_if = "is_default")]
    pub bank_days: BySeat<Vec<u32>>,
    /// Whether the open phase was recorded as missed by a seat, which may still file while the other takes
    /// days of its bank.
    #[serde(default, skip_serializing_if = "is_default")]
    pub missed_phase: BySeat<bool>,
    /// Orders for the open phase that a seat can file with `YES`, oldest first.
    pub offered: BySeat<Vec<OfferedOrders>>,
    /// The last letter of a seat for the open phase, if it was refused.
    pub refused: BySeat<Option<RefusedLetter>>,
    pub draw_offer: Option<Seat>,
    /// The seat that asked for more time, and for how many days.
    pub extension: Option<(Seat, u32)>,
    pub absences: BySeat<Vec<Absence>>,
    /// Phase, turn and time of every adjudication in force.
    pub adjudicated: Vec<(Phase, u32, DateTime<Utc>)>,
    pub mail_identity: MailIdentity,
    /// Whether the sides know that the club has changed the wording of their letters.
    pub wording_news: BySeat<WordingNews>,
    /// The club's own templates that a seat last knew of, while others are in force.
    pub templates_told: BySeat<BTreeMap<String, Digest>>,
    pub head: Head,
    pub key: SealKey,
    /// The secrets before it, oldest first: reopening a match whose end was reported gives it a new secret.
    pub earlier_keys: Vec<SealKey>,
    /// The source of the first secret, if it was not drawn at random.
    pub lot: Option<Lot>,
    /// Texts of GMs to the sides.
    pub gm_messages: Vec<GmMessage>,
    /// Hidden facts that GMs were shown.
    pub unsealed: Vec<Unsealing>,
    pub past: Past,
    /// Pins of the letters of the last ruling, for the next entry. Filled in by the shell, which words them.
    pub pins: Vec<Digest>,
    /// Our letters delivered since the last ruling, for the next entry. Filled in when the match is loaded.
    #[serde(skip)]
    pub delivered: Vec<Delivery>,
}

impl Match {
    /// Returns the phase that is due and the seats that owe orders, or `None` once the match is over.
    pub fn due(&self) -> Option<Due> {
        self.state.due()
    }

    /// Returns the turn that was open at a time since the match began. `None` if it was over by then.
    pub fn turn_open_at(&self, at: DateTime<Utc>) -> Option<u32> {
        let adjudicated = self.adjudicated.iter().find(|(_, _, adjudicated)| *adjudicated > at);
        adjudicated.map(|(_, turn, _)| *turn).or_else(|| self.due().map(|due| due.turn))
    }

    /// Like [`Match::due`], but only from players: there are no deadlines for the house.
    pub fn due_from_players(&self) -> Option<Due> {
        let mut due = self.due()?;
        due.seats.retain(|seat| self.house[*seat].is_none());
        Some(due).filter(|due| !due.seats.is_empty())
    }

    /// Returns the result, once the match is over.
    pub fn outcome(&self) -> Option<Outcome> {
        match self.annulled {
            true => Some(Outcome { winner: None, reason: Reason::Annulled }),
            false => self.state.outcome(),
        }
    }

    /// Whether `seat` owes orders for the open phase.
    pub fn awaits(&self, seat: Seat) -> bool {
        self.filed[seat].is_none() && self.due().is_some_and(|due| due.seats.contains(&seat))
    }

    /// Whether `seat` owes orders, or the answer whether its filing is meant.
    pub fn owes_word(&self, seat: Seat) -> bool {
        self.awaits(seat) || self.filed[seat].as_ref().is_some_and(|held| held.asked)
    }

    /// Whether the other side is to read that `seat` owes orders: a filing that is not firm is not there for it.
    pub fn seems_awaited(&self, seat: Seat) -> bool {
        self.awaits(seat) || self.filed[seat].as_ref().is_some_and(|held| held.firm_at.is_some())
    }

    /// Returns the seats that owe orders, as `reader` may know; `None` stands for somebody without a seat.
    pub fn awaited_for(&self, reader: Option<Seat>) -> Vec<Seat> {
        let owes =
            |seat: &Seat| if Some(*seat) == reader { self.awaits(*seat) } else { self.seems_awaited(*seat) };
        Seat::BOTH.into_iter().filter(owes).collect()
    }

    /// Returns the seats that owe orders, `first` first.
    pub fn awaited(&self) -> Vec<Seat> {
        Seat::BOTH.into_iter().filter(|seat| self.awaits(*seat)).collect()
    }

    /// Returns the seats that owe orders and for which the rules assume none.
    pub fn must_move(&self) -> Vec<Seat> {
        let mut late = self.awaited();
        late.retain(|seat| self.state.missed(*seat).is_none());
        late
    }

    /// Whether the open phase can be adjudicated without further orders.
    pub fn can_adjudicate(&self) -> bool {
        self.must_move().is_empty()
    }

    /// Releases the letter that waits for the house, because a seat has another holder.
    pub fn release_held_letter(&mut self) {
        self.untold = self.untold.take().and_then(Untold::after_letter);
    }

    /// Forgets the contents of the letter that waited for the house, if it was delivered.
    pub(super) fn note_delivered(&mut self) {
        let pin = self.untold.as_ref().and_then(|untold| untold.letter.as_ref()?.pin);
        if self.delivered.iter().any(|delivery| Some(delivery.letter) == pin) {
            self.release_held_letter();
        }
    }

    /// Returns the match as it is stored.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a match is plain values")
    }

    /// Returns when the local time that players read as the deadline is by the zone data in force, or the end of the time
    /// in which the opponent of a player who has vanished can choose; `None` if there is neither.
    pub fn deadline_by_local_time(&self) -> Option<DateTime<Utc>> {
        let (deadline, local) = match self.vanished {
            Some(vanished) if !vanished.agreed => (vanished.until, vanished.local_until?),
            _ => self.deadline.zip(self.local_deadline)?,
        };
        // Do not convert it back for nothing: a local time that comes twice when clocks are set back is ambiguous.
        let reads = deadline.with_timezone(&self.terms.zone).naive_local();
        if reads == local { Some(deadline) } else { instant_in(self.terms.zone, local) }
    }

    /// Returns the days that the terms give to the open phase.
    pub(super) fn phase_days(&self) -> u32 {
        let is_setup = self.due().is_some_and(|due| due.phase == Phase::Setup);
        if is_setup { self.terms.setup_days } else { self.terms.days }
    }

    /// Parses and checks the orders of `seat`. Expands short forms first, and replaces a ready setup by its
    /// lines (rulings `Z-READY` and `P-READY`).
    ///
    /// # Errors
    /// Returns every fault if the orders cannot stand; see
    /// [`AnyState::seal`](crate::game::any::AnyState::seal).
    pub fn seal(&self, seat: Seat, orders: &[Line]) -> Result<Filing, Vec<Fault>> {
        let is_setup = self.due().is_some_and(|due| due.phase == Phase::Setup);
        let ready = is_setup.then(|| self.state.ready_setup(seat, orders, self.key.setup_dice(seat)));
        let (lines, mut faults) = self.state.write_out(seat, ready.flatten().as_deref().unwrap_or(orders));
        match self.state.seal(seat, &lines) {
            Ok(filing) if faults.is_empty() => Ok(filing),
            Ok(_) => Err(faults),
            Err(others) => {
                faults.extend(others);
                faults.sort_by_key(|fault| fault.line.unwrap_or(usize::MAX));
                Err(faults)
            }
        }
    }

    /// Returns the secret that the match began with.
    pub fn first_key(&self) -> &SealKey {
        self.earlier_keys.first().unwrap_or(&self.key)
    }

    /// Returns the secret, present or earlier, that an entry pins.
    pub fn key_pinned_by(&self, pin: Digest) -> Option<SealKey> {
        self.keys().find(|key| key.pin() == pin).cloned()
    }

    /// Returns the secrets of the match, oldest first.
    pub fn keys(&self) -> impl Iterator<Item = &SealKey> {
        self.earlier_keys.iter().chain([&self.key])
    }

    /// Adds the news of the present state, which is about to change, to the seats' memories.
    pub(super) fn remember_news(&mut self) {
        if self.game.keeps_memory() {
            self.memories.get_or_insert_with(|| Memories::empty(self.game)).remember(&self.state);
        }
    }

    /// Returns the time zone of the times that a seat's player reads.
    pub fn zone_of(&self, seat: Seat) -> Zone {
        self.settings[seat].zone.unwrap_or(self.terms.zone)
    }

    /// Returns the day on which this time falls for a seat's player.
    pub(in crate::referee) fn day_of(&self, seat: Seat, at: DateTime<Utc>) -> NaiveDate {
        at.with_timezone(&self.zone_of(seat)).date_naive()
    }

    /// Whether a deadline that passes has consequences. It has none while somebody was asked to decide.
    pub fn enforces_deadline(&self) -> bool {
        !self.asked_gm && self.vanished.is_none()
    }

    /// Whether it ended so long ago that its tokens are valid for questions only.
    pub fn ended_long_ago(&self, at: DateTime<Utc>) -> bool {
        self.stage == Stage::Over && self.past.ended_long_ago(at)
    }

    /// Returns the clock as a cause in the open phase.
    pub fn by_clock(&self) -> Matter<'static> {
        Matter::Clock { phase: self.phase_no }
    }

    /// Returns an act of the program as a cause in the open phase.
    pub fn by_program(&self, act: Act) -> Matter<'static> {
        Matter::Program { phase: self.phase_no, act }
    }

    /// Returns an act of the GM with this name as a cause in the open phase.
    pub fn by_gm(&self, name: &str, act: Act) -> Matter<'static> {
        Matter::Gm { name: name.to_owned(), phase: self.phase_no, act }
    }
}

/// Maximum time that a filing beside a sign waits, and the time before the deadline at which it is firm.
const LONGEST: TimeDelta = TimeDelta::hours(24);
const BEFORE_DEADLINE: TimeDelta = TimeDelta::hours(2);

/// Number of played letters in which a line stands before it counts as a footer.
const FOOTER_LETTERS: u32 = 2;

/// Maximum lines of all letters of a seat that are counted.
const MAX_FOOTERS: usize = 50;

/// The time until filings are firm.
impl Match {
    /// Returns when a filing of a letter will be firm that is ruled on at `at`, before this deadline. `None`: at once.
    pub(super) fn firm_at(
        &self,
        seat: Seat,
        beside: Beside,
        at: DateTime<Utc>,
        deadline: Option<DateTime<Utc>>,
    ) -> Option<DateTime<Utc>> {
        let wait = self.terms.settle_words();
        if beside == Beside::Nothing || wait.is_zero() || self.settings[seat].firm_at_once {
            return None;
        }
        let soonest = at + wait;
        let latest = deadline.map(|deadline| deadline + self.terms.grace());
        let wanted = match (beside, deadline) {
            (Beside::Sign, Some(deadline)) => soonest.max((at + LONGEST).min(deadline - BEFORE_DEADLINE)),
            (Beside::Sign, None) => soonest.max(at + LONGEST),
            (Beside::Words | Beside::Nothing, _) => soonest,
        };
        Some(latest.map_or(wanted, |latest| wanted.min(latest))).filter(|firm_at| *firm_at > at)
    }

    /// Returns when the next filing becomes firm.
    pub(in crate::referee) fn next_firm(&self) -> Option<DateTime<Utc>> {
        self.filings().filter_map(|held| held.firm_at).map(|end| end.at).min()
    }

    /// Whether all filings are firm.
    pub(in crate::referee) fn is_firm(&self) -> bool {
        self.filings().all(|held| held.firm_at.is_none())
    }

    /// Whether a filing waits for the deadline.
    pub(super) fn waits(&self) -> bool {
        self.filings().any(|held| held.wait)
    }

    /// Returns when filings that wait are adjudicated: at the deadline, or at the end of grace if a player was asked
    /// whether theirs is meant.
    pub(super) fn wait_ends(&self) -> Option<WaitEnd> {
        let is_asked = self.filings().any(|held| held.asked);
        let end =
            self.deadline.map(|deadline| if is_asked { deadline + self.terms.grace() } else { deadline });
        end.map(|at| WaitEnd { at, by_arrival: at - self.lag() })
    }

    /// Returns the time by which the deadline is later than if letters had been ruled on when they came.
    pub fn lag(&self) -> TimeDelta {
        TimeDelta::seconds(self.lag_seconds)
    }

    fn filings(&self) -> impl Iterator<Item = &FiledOrders> {
        Seat::BOTH.into_iter().filter_map(|seat| self.filed[seat].as_ref())
    }

    /// Whether a line stood in several letters of the seat that were played.
    pub(in crate::referee) fn is_footer(&self, seat: Seat, line: &str) -> bool {
        let letters = self.footers[seat].get(&Digest::of(line.trim().as_bytes()));
        letters.is_some_and(|letters| *letters >= FOOTER_LETTERS)
    }

    /// Counts the lines of the filings that are played now.
    pub(super) fn count_footers(&mut self) {
        for seat in Seat::BOTH {
            let lines = self.filed[seat].iter().flat_map(|held| &held.other_lines);
            let footers = &mut self.footers[seat];
            for line in lines {
                if footers.len() < MAX_FOOTERS || footers.contains_key(line) {
                    *footers.entry(*line).or_default() += 1;
                }
            }
        }
    }

    /// Delays filings that were not firm at `since`, when the time stopped that runs again from now on.
    pub(in crate::referee) fn delay_firm(&mut self, since: DateTime<Utc>, now: DateTime<Utc>) {
        for seat in Seat::BOTH {
            if let Some(held) = &mut self.filed[seat] {
                let stood = now - since.max(held.at);
                let later = |end: WaitEnd| WaitEnd { at: end.at + stood, by_arrival: end.by_arrival + stood };
                held.firm_at = held.firm_at.map(later);
            }
        }
    }
}
