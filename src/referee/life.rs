//! A match from its opening to its end: what is remembered of it, and the steps that every cause shares.

use chrono::{DateTime, TimeDelta, Utc};
use serde::{Deserialize, Serialize};

use super::gm::act_json;
use super::schedule::{Absence, Terms};
use super::{Adjudication, Answer, Cause, Content, Dispatch, Notice, Reader, Ruling};
use crate::game::any::{AnyState, Choices, Filing, GameKind};
use crate::game::record::Ending;
use crate::game::{BySeat, Due, Phase, Seat};
use crate::ledger::{self, ChainedEntry, Entry, Fact, Head, MailIdentity, SealKey, Source};
use crate::letter::Digest;

/// Where a match stands in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    Running,
    /// Deadlines stand still; orders are taken all the same, and adjudicated when the match goes on.
    Paused,
    Over,
}

impl Stage {
    const ALL: [Stage; 3] = [Stage::Running, Stage::Paused, Stage::Over];

    pub fn parse(name: &str) -> Option<Stage> {
        Stage::ALL.into_iter().find(|stage| stage.as_str() == name)
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Stage::Running => "running",
            Stage::Paused => "paused",
            Stage::Over => "over",
        }
    }
}

/// Orders that a seat has filed for the phase that is open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FiledOrders {
    pub filing: Filing,
    pub at: DateTime<Utc>,
    /// `WAIT`: not to be adjudicated before the deadline.
    pub wait: bool,
}

/// All that the referee remembers of a match.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Match {
    /// `QZ-7K3M`.
    pub id: String,
    pub game: GameKind,
    /// The version of the game's rules that it is played by, from its opening to its end.
    pub rules: u32,
    pub players: BySeat<String>,
    /// The level at which the house plays the seat; `None`: a player holds it.
    #[serde(default, skip_serializing_if = "ledger::no_house")]
    pub house: BySeat<Option<String>>,
    pub terms: Terms,
    pub stage: Stage,
    pub paused_at: Option<DateTime<Utc>>,
    pub state: AnyState,
    pub held: BySeat<Option<FiledOrders>>,
    /// Counts the phases, from 1: it names the one that is open.
    pub phase_no: u32,
    pub opened_at: DateTime<Utc>,
    /// When the phase that is open is due; `None` while nothing is due.
    pub deadline: Option<DateTime<Utc>>,
    /// When the filings of both are adjudicated, once they are complete.
    pub settle_at: Option<DateTime<Utc>>,
    /// How many of the schedule's reminders are behind us.
    pub reminders_sent: usize,
    /// The GM was asked what is to be done, and deadlines are not enforced until he has answered.
    pub asked_gm: bool,
    /// Our letters to that seat come back.
    pub bouncing: BySeat<bool>,
    /// An absence note came from there, and nothing since.
    #[serde(default)]
    pub away: BySeat<bool>,
    /// Who has put the match before the GM, until he lets it go on.
    #[serde(default)]
    pub protest: Option<Seat>,
    /// Turns missed in a row.
    pub missed: BySeat<u32>,
    pub draw_offer: Option<Seat>,
    pub extension: Option<(Seat, u32)>,
    pub absences: BySeat<Vec<Absence>>,
    /// Turn and time of every adjudication.
    pub adjudicated: Vec<(Phase, u32, DateTime<Utc>)>,
    pub desk: MailIdentity,
    pub head: Head,
    pub key: SealKey,
    /// The SHA-256 of the letters that the last ruling brought, for the entry that comes next. The shell, which
    /// words them, notes them.
    #[serde(default)]
    pub told: Vec<Digest>,
}

impl Match {
    /// What is due, and from whom; `None` once the match is over.
    pub fn due(&self) -> Option<Due> {
        self.state.due()
    }

    /// What is due from players: the house waits for no deadline, and none for it.
    pub(super) fn due_from_players(&self) -> Option<Due> {
        let mut due = self.due()?;
        due.seats.retain(|seat| self.house[*seat].is_none());
        Some(due).filter(|due| !due.seats.is_empty())
    }

    /// Whether something is due from `seat` that it has not filed.
    pub fn awaits(&self, seat: Seat) -> bool {
        self.held[seat].is_none() && self.due().is_some_and(|due| due.seats.contains(&seat))
    }

    /// The seats that are awaited, `first` first.
    pub fn awaited(&self) -> Vec<Seat> {
        Seat::BOTH.into_iter().filter(|seat| self.awaits(*seat)).collect()
    }

    /// When the clock has something to decide next.
    pub fn wake_at(&self) -> Option<DateTime<Utc>> {
        if self.stage != Stage::Running {
            return None;
        }
        if self.house_due().is_some() {
            return Some(self.adjudicated.last().map_or(self.opened_at, |(_, _, at)| *at));
        }
        let deadline = self.deadline.filter(|_| !self.asked_gm);
        let reminder = deadline.and_then(|due| self.terms.reminders(due).get(self.reminders_sent).copied());
        let reminder = reminder.filter(|_| !self.awaited().is_empty());
        [self.settle_at, reminder, deadline.map(|due| due + self.terms.grace())].into_iter().flatten().min()
    }

    /// Days for the phase that is open.
    pub(super) fn phase_days(&self) -> u32 {
        match self.due().map(|due| due.phase) {
            Some(Phase::Setup) => self.terms.setup_days,
            _ => self.terms.days,
        }
    }
}

/// What a match is opened with.
#[derive(Clone, Debug)]
pub struct Opening {
    pub id: String,
    pub game: GameKind,
    pub choices: Choices,
    /// Of a seat that the house holds, [`HouseLevel::player_name`](crate::game::HouseLevel::player_name).
    pub players: BySeat<String>,
    /// The level at which the house plays the seat.
    pub house: BySeat<Option<String>>,
    pub terms: Terms,
    pub desk: MailIdentity,
    /// Random: the secret that all salts of the match come from.
    pub key: SealKey,
}

/// Opens a match: both sides are told, and the first phase waits for orders.
pub fn open(opening: Opening, source: Source, at: DateTime<Utc>) -> Ruling {
    let state = opening.game.start(&opening.choices);
    let rules = opening.game.rules();
    open_with(state, rules, opening, source, at)
}

/// The same as it was done under a version of the rules.
///
/// # Errors
/// The version is not known, as a sentence.
pub fn open_under(rules: u32, opening: Opening, source: Source, at: DateTime<Utc>) -> Result<Ruling, String> {
    let state = opening.game.start_under(rules, &opening.choices)?;
    Ok(open_with(state, rules, opening, source, at))
}

fn open_with(state: AnyState, rules: u32, opening: Opening, source: Source, at: DateTime<Utc>) -> Ruling {
    let at = ledger::truncate_to_millis(at);
    let blank = Match {
        id: opening.id,
        game: opening.game,
        rules,
        players: opening.players,
        house: opening.house,
        terms: opening.terms,
        stage: Stage::Running,
        paused_at: None,
        state,
        held: BySeat::default(),
        phase_no: 1,
        opened_at: at,
        deadline: None,
        settle_at: None,
        reminders_sent: 0,
        asked_gm: false,
        bouncing: BySeat::default(),
        away: BySeat::default(),
        protest: None,
        missed: BySeat::default(),
        draw_offer: None,
        extension: None,
        absences: BySeat::default(),
        adjudicated: Vec::new(),
        desk: opening.desk,
        head: Head::default(),
        key: opening.key,
        told: Vec::new(),
    };
    let mut draft = Draft { game_match: blank, source, at, entries: Vec::new(), dispatches: Vec::new() };
    draft.record(Fact::MatchOpened {
        game: draft.game_match.game,
        options: opening.choices,
        players: draft.game_match.players.clone(),
        house: draft.game_match.house.clone(),
        terms: serde_json::to_value(&draft.game_match.terms).expect("terms are plain values"),
        desk: draft.game_match.desk.clone(),
        key: draft.game_match.key.pin(),
    });
    draft.open_phase();
    for seat in Seat::BOTH {
        draft.dispatch(Reader::Seat(seat), Content::Invitation);
    }
    draft.pass_where_nothing_is_due();
    draft.ruling()
}

/// A ruling being made: the match as far as it is decided, the entries and letters so far.
pub(super) struct Draft {
    pub game_match: Match,
    source: Source,
    pub at: DateTime<Utc>,
    entries: Vec<ChainedEntry>,
    dispatches: Vec<Dispatch>,
}

impl Draft {
    pub fn new(game_match: Match, cause: &Cause<'_>, at: DateTime<Utc>) -> Self {
        let source = match cause {
            Cause::Letter(letter) => Source::Letter(letter.digest),
            Cause::Clock { .. } => Source::Clock,
            Cause::Gm { name, act, .. } => Source::Gm { name: (*name).to_owned(), act: Some(act_json(act)) },
            Cause::House { act, .. } => Source::House { act: act_json(act) },
        };
        Draft {
            game_match,
            source,
            at: ledger::truncate_to_millis(at),
            entries: Vec::new(),
            dispatches: Vec::new(),
        }
    }

    /// Takes back the answer that is at `place`.
    pub fn withhold_answer(&mut self, place: usize) {
        self.dispatches.remove(place);
    }

    pub fn ruling(self) -> Ruling {
        Ruling { rejection: None, after: self.game_match, entries: self.entries, dispatches: self.dispatches }
    }

    /// The salt of the entry that will be written next.
    pub fn next_salt(&self) -> String {
        self.game_match.key.salt(self.game_match.head.seq + 1)
    }

    /// Appends to the ledger.
    pub fn record(&mut self, fact: Fact) {
        let seq = self.game_match.head.seq + 1;
        let chained = ChainedEntry::from(Entry {
            match_id: self.game_match.id.clone(),
            seq,
            at: self.at,
            cause: self.source.clone(),
            rules: self.game_match.rules,
            fact,
            salt: self.game_match.key.salt(seq),
            prev: self.game_match.head.hash,
            told: std::mem::take(&mut self.game_match.told),
        });
        self.game_match.head = Head { seq, hash: chained.hash };
        self.entries.push(chained);
    }

    /// Nobody reads what is written to the house: it gets no letters.
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

    /// Holds a place for the answer to a letter, before the letters that its effects bring.
    pub fn reserve_answer(&mut self, seat: Seat) -> usize {
        self.dispatch(Reader::Seat(seat), Content::Answer(Box::default()));
        self.dispatches.len() - 1
    }

    pub fn put_answer(&mut self, place: usize, answer: Answer) {
        self.dispatches[place].content = Content::Answer(Box::new(answer));
    }

    /// Stops the clock of the match.
    pub fn pause(&mut self, reason: &str) {
        self.game_match.stage = Stage::Paused;
        self.game_match.paused_at = Some(self.at);
        self.record(Fact::MatchPaused { reason: reason.to_owned() });
    }

    /// Moves the deadline by whole days; one that has passed, from now on. `None`: no deadline runs, and nothing is
    /// changed.
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
        self.game_match.extension = None;
        self.record(Fact::DeadlineExtended { days, deadline });
        Some(deadline)
    }

    /// Sets the clock for the phase that has just opened.
    pub fn open_phase(&mut self) {
        self.game_match.settle_at = None;
        self.game_match.asked_gm = false;
        self.game_match.draw_offer = None;
        self.game_match.extension = None;
        let days = self.game_match.phase_days();
        self.set_deadline(days);
    }

    /// A deadline `days` from now; the reminders before it that are past already are left out.
    pub fn set_deadline(&mut self, days: u32) {
        let Some(due) = self.game_match.due_from_players() else {
            self.game_match.deadline = None;
            return;
        };
        let deadline = self.game_match.terms.deadline(self.at, days, &self.absences_of(&due));
        // Of a match that stands still, no time of this deadline has passed before it was set.
        self.game_match.paused_at = self.game_match.paused_at.map(|_| self.at);
        self.move_deadline(deadline);
        self.record(Fact::DeadlineSet { phase: due.phase, turn: due.turn, seats: due.seats, deadline });
    }

    pub fn move_deadline(&mut self, deadline: DateTime<Utc>) {
        let reminders = self.game_match.terms.reminders(deadline);
        self.game_match.reminders_sent = reminders.iter().filter(|moment| **moment <= self.at).count();
        self.game_match.deadline = Some(deadline);
        let waits =
            Seat::BOTH.iter().any(|seat| self.game_match.held[*seat].as_ref().is_some_and(|held| held.wait));
        if waits && self.game_match.settle_at.is_some() {
            self.game_match.settle_at = self.game_match.deadline;
        }
    }

    /// The absences of the seats from which something is due.
    pub fn absences_of(&self, due: &Due) -> Vec<Absence> {
        due.seats.iter().flat_map(|seat| self.game_match.absences[*seat].iter().copied()).collect()
    }

    /// Adjudicates now, or after the settle time, if all that is due is filed; at the deadline, if a seat waits. In
    /// a match that stands still nothing is adjudicated until it goes on.
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

    /// Decides the open phase on the filings held, and the referee's passes that follow; both are told. `missed`
    /// are the seats for which the rules took something as filed.
    pub fn adjudicate(&mut self, missed: Vec<Seat>) {
        self.adjudicate_for(missed, None);
    }

    /// The same after a correction, with its reason.
    pub fn adjudicate_for(&mut self, missed: Vec<Seat>, correction: Option<String>) {
        let mut steps: Vec<Adjudication> = self.adjudicate_once().into_iter().collect();
        while self.game_match.due().is_some_and(|due| due.seats.is_empty()) {
            steps.extend(self.adjudicate_once());
        }
        self.open_phase();
        self.end_if_over();
        self.dispatch_to_both(Content::Report { steps, missed, correction });
    }

    /// The referee's passes with which a match may begin.
    fn pass_where_nothing_is_due(&mut self) {
        if self.game_match.due().is_some_and(|due| due.seats.is_empty()) {
            self.adjudicate(Vec::new());
        }
    }

    /// One adjudication.
    fn adjudicate_once(&mut self) -> Option<Adjudication> {
        let due = self.game_match.due()?;
        let filings = std::mem::take(&mut self.game_match.held).map(|held| held.map(|held| held.filing));
        self.game_match.state.adjudicate(&filings).expect("held filings were sealed for this state");
        self.record(Fact::TurnAdjudicated {
            phase: due.phase,
            turn: due.turn,
            filings,
            state: Digest::of(ledger::canonical(&self.game_match.state).as_bytes()),
        });
        self.game_match.phase_no += 1;
        self.game_match.adjudicated.push((due.phase, due.turn, self.at));
        Some(Adjudication { phase: due.phase, turn: due.turn, state: self.game_match.state.clone() })
    }

    /// Ends the match from outside the rules; both are told, with everything opened.
    pub fn close(&mut self, ending: Ending) {
        let Some(due) = self.game_match.due() else { return };
        self.game_match.held = BySeat::default();
        self.game_match.state.close(ending.outcome());
        self.record(Fact::MatchClosed { ending });
        self.game_match.phase_no += 1;
        self.open_phase();
        self.end_if_over();
        let step = Adjudication { phase: due.phase, turn: due.turn, state: self.game_match.state.clone() };
        self.dispatch_to_both(Content::Report { steps: vec![step], missed: Vec::new(), correction: None });
    }

    fn end_if_over(&mut self) {
        if let Some(outcome) = self.game_match.state.outcome() {
            self.game_match.stage = Stage::Over;
            self.record(Fact::MatchEnded { outcome: outcome.clone() });
            self.dispatch(Reader::Gm, Content::Notice(Notice::Over { outcome }));
        }
    }
}
